//! Which operations an agent can ever execute, as far as its own place in the group decides.

use barcheck_model::program::{AgentId, BinaryOp, Condition, Expr, Op, Pc, Program};

use super::expressions::evaluate;

/// The operations that an agent may come to: a condition that only asks who it is goes one way.
pub(super) fn executable(program: &Program, agent: AgentId) -> Vec<(Pc, &Op)> {
    let code = program.code(agent);
    let mut found = vec![false; code.ops.len()];
    let mut next = vec![Pc(0)];
    while let Some(at) = next.pop() {
        let Some(op) = code.ops.get(at.index()) else { continue };
        if std::mem::replace(&mut found[at.index()], true) {
            continue;
        }
        let end = |construct: &barcheck_model::program::ConstructId| code.constructs[construct.index()].end;
        let goes_on = Pc(at.0 + 1);
        match op {
            Op::Branch { condition, otherwise, .. } => {
                next.extend(ways(program, agent, condition, goes_on, *otherwise));
            }
            Op::Test { construct, condition } => {
                next.extend(ways(program, agent, condition, goes_on, end(construct)));
            }
            Op::Jump(to) | Op::Back(_, to) | Op::Continue(_, to) => next.push(*to),
            Op::Break(construct) => next.push(end(construct)),
            Op::Exit => {}
            _ => next.push(goes_on),
        }
    }
    let all = code.ops.iter().enumerate().zip(found).filter(|(_, found)| *found);
    all.map(|((at, op), _)| (Pc(at as u32), op)).collect()
}

/// Where a condition may lead.
fn ways(program: &Program, agent: AgentId, condition: &Condition, holds: Pc, fails: Pc) -> Vec<Pc> {
    let value = match condition {
        Condition::Value(value) => fixed(program, agent, value),
        Condition::Private | Condition::Uniform(_) => None,
    };
    match value {
        Some(0) => vec![fails],
        Some(_) => vec![holds],
        None => vec![holds, fails],
    }
}

/// The value of an expression that asks of nothing but who the agent is.
fn fixed(program: &Program, agent: AgentId, expr: &Expr) -> Option<i64> {
    let leaf = |leaf: &Expr| match leaf {
        Expr::Agent => Some(i64::from(program.index_in_cta(agent))),
        Expr::Cta => Some(i64::from(program.cta_of(agent))),
        _ => None,
    };
    let of = |expr: &Expr| fixed(program, agent, expr);
    // One side may decide where the other is not known.
    match expr {
        Expr::Binary(BinaryOp::LogicalAnd, a, b) => match (of(a), of(b)) {
            (Some(0), _) | (_, Some(0)) => Some(0),
            (Some(_), Some(_)) => Some(1),
            _ => None,
        },
        Expr::Binary(BinaryOp::LogicalOr, a, b) => match (of(a), of(b)) {
            (Some(0), Some(0)) => Some(0),
            (Some(n), _) | (_, Some(n)) if n != 0 => Some(1),
            _ => None,
        },
        _ => evaluate(expr, &leaf),
    }
}
