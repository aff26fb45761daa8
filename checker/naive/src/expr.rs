//! Values of expressions, lane by lane.

use super::protocol::*;
use super::state::*;

fn error<T>(what: &str) -> Flow<T> {
    Err(Halt::EvalError(what.into()))
}

/// What an expression can refer to.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    pub target: Target,
    /// The agent's index in its CTA, and the rank of that.
    pub own: AgentId,
    pub rank: usize,
    pub lane: Lane,
    pub locals: &'a Locals,
}

impl<'a> Scene<'a> {
    /// What a lane of an agent sees.
    pub fn of(code: &Code<'_>, agent: AgentId, lane: Lane, locals: &'a Locals) -> Self {
        let per_cta = code.protocol.per_cta();
        let (own, rank) = (agent % per_cta, agent / per_cta);
        Scene { target: code.protocol.target, own, rank, lane, locals }
    }
}

/// Whether a name is a register of `bcu`.
pub fn is_register(name: &str) -> bool {
    matches!(name, "RZ" | "PT")
        || (name.starts_with(['R', 'P']) && name.len() > 1 && name[1..].bytes().all(|b| b.is_ascii_digit()))
}

/// The value kept under a name.
pub fn lookup(scene: Scene<'_>, name: &Name) -> Flow<Value> {
    if scene.target == Target::Bcu && **name == *"RZ" {
        return Ok(Value::Int(0));
    }
    if scene.target == Target::Bcu && **name == *"PT" {
        return Ok(Value::Int(1));
    }
    match scene.locals.get(&Slot::Var(name.clone())) {
        Some(value) => Ok(value.clone()),
        None => error("read before it is set"),
    }
}

pub fn eval(scene: Scene<'_>, expr: &Expr) -> Flow<i64> {
    match expr {
        Expr::Int(n) => Ok(*n),
        Expr::Var(name) => match lookup(scene, name)? {
            Value::Int(n) => Ok(n),
            _ => error("an opaque value is no number"),
        },
        Expr::Own => Ok(scene.own as i64),
        Expr::Rank => Ok(scene.rank as i64),
        Expr::Lane => Ok(i64::from(scene.lane)),
        Expr::Neg(e) => match eval(scene, e)?.checked_neg() {
            Some(n) => Ok(n),
            None => error("overflow"),
        },
        Expr::Not(e) => Ok(i64::from(eval(scene, e)? == 0)),
        Expr::Bin(Op::And, a, b) => Ok(i64::from(eval(scene, a)? != 0 && eval(scene, b)? != 0)),
        Expr::Bin(Op::Or, a, b) => Ok(i64::from(eval(scene, a)? != 0 || eval(scene, b)? != 0)),
        Expr::Bin(op, a, b) => binary(*op, eval(scene, a)?, eval(scene, b)?),
    }
}

fn binary(op: Op, a: i64, b: i64) -> Flow<i64> {
    let shift = u32::try_from(b).ok();
    let value = match op {
        Op::Mul => a.checked_mul(b),
        Op::Div => a.checked_div(b),
        Op::Rem => a.checked_rem(b),
        Op::Add => a.checked_add(b),
        Op::Sub => a.checked_sub(b),
        Op::Shl => shift.and_then(|s| a.checked_shl(s)),
        Op::Shr => shift.and_then(|s| a.checked_shr(s)),
        Op::BitAnd => Some(a & b),
        Op::BitXor => Some(a ^ b),
        Op::BitOr => Some(a | b),
        Op::Eq => Some(i64::from(a == b)),
        Op::Ne => Some(i64::from(a != b)),
        Op::Lt => Some(i64::from(a < b)),
        Op::Le => Some(i64::from(a <= b)),
        Op::Gt => Some(i64::from(a > b)),
        Op::Ge => Some(i64::from(a >= b)),
        Op::And | Op::Or => unreachable!("evaluated without their right side where they can"),
    };
    match value {
        Some(n) => Ok(n),
        None => error("division by zero or overflow"),
    }
}

/// Gives a name a new value in one lane, as far as the name can hold it.
pub fn assign(target: Target, fragment: &mut Fragment, lane: Lane, name: &Name, value: Value) -> Flow<()> {
    if target == Target::Bcu && is_register(name) {
        if matches!(&**name, "RZ" | "PT") {
            return Ok(());
        }
        if let Value::Int(n) = value {
            let most = if name.starts_with('P') { 1 } else { i64::from(u32::MAX) };
            if !(0..=most).contains(&n) {
                return error("a register cannot hold this");
            }
        }
    }
    fragment.set(lane, Slot::Var(name.clone()), value);
    Ok(())
}

/// An expression's value for every lane of a fragment.
pub fn eval_lanes(code: &Code<'_>, own: AgentId, fragment: &Fragment, expr: &Expr) -> Flow<Vec<(Lane, i64)>> {
    let mut values = Vec::new();
    for (&lane, locals) in &fragment.lanes {
        let scene = Scene::of(code, own, lane, locals);
        values.push((lane, eval(scene, expr)?));
    }
    Ok(values)
}

/// An operand's value where the lanes agree on it; all lanes are evaluated.
pub fn eval_same(code: &Code<'_>, own: AgentId, fragment: &Fragment, expr: &Expr) -> Flow<i64> {
    let values = eval_lanes(code, own, fragment, expr)?;
    let first = values[0].1;
    assert!(values.iter().all(|v| v.1 == first), "lanes were separated");
    Ok(first)
}
