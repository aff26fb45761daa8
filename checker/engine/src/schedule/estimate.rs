//! How much of a run is made, about: for whoever waits for its end.
//!
//! Loops that count up to a bound say how often they will be gone through. An agent has made so much of its
//! way as it has come past of its code, each loop times its iterations, and the run so much as the agent that
//! is behind all others. A loop of another kind may go on for ever, and nothing is said then. Branches count
//! as if both ways were taken, a `break` as if it were not, and a loop within another as if it were as long
//! each time as it is now: this is an estimate, on which nothing rests.

use barcheck_model::agent::{Config, Fragment, Value};
use barcheck_model::machine::{Machine, State};
use barcheck_model::program::{AgentId, BinaryOp, Code, Condition, ConstructId, Expr, LocalId, Op, Program};
use std::ops::Range;

/// Operations of all agents together, beyond which nothing is estimated: to go through them would take longer
/// than the run.
const MOST_OPS: usize = 1 << 14;
/// A loop's counter and bound are set so few operations before it at most, and the counter counts so few
/// before its end.
const NEAR: usize = 3;

/// How much of a run is made, in percent, if that can be said: of the agents that have not exited, what the
/// one that is behind has made.
pub(super) fn percent<K>(machine: &Machine, state: &State<K>) -> Option<u8> {
    let program = machine.program();
    let ops: usize = machine.agents().map(|agent| program.code(agent).ops.len()).sum();
    if ops > MOST_OPS {
        return None;
    }
    let mut least = 1.0_f64;
    for agent in machine.agents() {
        if let Some(way) = Way::of(agent, program, machine.config(state, agent)) {
            // Loops within loops may be too many to count.
            let (made, all) = way.through(0..way.code.ops.len()).filter(|(_, all)| all.is_finite())?;
            least = least.min(made / all.max(1.0));
        }
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 100")]
    let percent = (least * 100.0) as u8;
    Some(percent)
}

/// An agent's way through its code.
struct Way<'w> {
    agent: AgentId,
    program: &'w Program,
    code: &'w Code,
    /// Where it is.
    fragment: &'w Fragment,
}

impl<'w> Way<'w> {
    /// `None` if it has exited. Of separated lanes those that are behind count.
    fn of(agent: AgentId, program: &'w Program, config: &'w Config) -> Option<Self> {
        let fragment = config.fragments.iter().min_by_key(|fragment| fragment.pc)?;
        Some(Self { agent, program, code: program.code(agent), fragment })
    }

    /// The steps that it has made, and all of them, in some operations, the first of which it comes to once.
    fn through(&self, ops: Range<usize>) -> Option<(f64, f64)> {
        let (at, mut pc) = (self.fragment.pc.index(), ops.start);
        let (mut made, mut all) = (0.0, 0.0);
        while pc < ops.end {
            let op = &self.code.ops[pc];
            if let Op::Enter(construct) = op {
                let end = self.code.constructs[construct.index()].end.index();
                let (gone, times) = self.iterations(*construct, pc)?;
                let (within, each) = self.through(pc + 1..end)?;
                all += times * each;
                if at > end {
                    made += times * each;
                } else if at > pc {
                    made += gone * each + within;
                }
                pc = end;
            } else if is_step(op) {
                all += 1.0;
                made += f64::from(u8::from(at > pc));
            }
            pc += 1;
        }
        Some((made, all))
    }

    /// How often it has gone through a loop that begins at a position, and how often it will have in the end;
    /// before and behind the loop the first means nothing.
    fn iterations(&self, construct: ConstructId, begin: usize) -> Option<(f64, f64)> {
        let Op::Test { condition: Condition::Value(test), .. } = self.code.ops.get(begin + 1)? else {
            return None;
        };
        let Expr::Binary(BinaryOp::Lt, counter, bound) = test else { return None };
        let Expr::Local(counter) = **counter else { return None };
        let end = self.code.constructs[construct.index()].end.index();
        let Expr::Binary(BinaryOp::Add, added_to, step) = self.set_before(end, counter)? else { return None };
        let from = self.number(self.set_before(begin, counter)?)?;
        let to = match **bound {
            Expr::Local(local) => self.local(local).or_else(|| self.number(self.set_before(begin, local)?)),
            _ => self.number(bound),
        }?;
        let step = self.number(step).filter(|step| *step > 0.0 && **added_to == Expr::Local(counter))?;
        let gone = self.local(counter).map_or(0.0, |now| (now - from) / step);
        Some((gone.max(0.0), ((to - from) / step).ceil().max(0.0)))
    }

    /// What a local is set to shortly before a position.
    fn set_before(&self, pc: usize, local: LocalId) -> Option<&'w Expr> {
        let near = &self.code.ops[pc.saturating_sub(NEAR)..pc];
        near.iter().rev().find_map(|op| match op {
            Op::Set(set, value) if *set == local => Some(value),
            _ => None,
        })
    }

    /// What an expression comes to now, if that is a number.
    fn number(&self, expr: &Expr) -> Option<f64> {
        self.evaluate(expr).map(to_float)
    }

    fn local(&self, local: LocalId) -> Option<f64> {
        self.evaluate(&Expr::Local(local)).map(to_float)
    }

    fn evaluate(&self, expr: &Expr) -> Option<i64> {
        let lane = self.fragment.lanes.trailing_zeros();
        match expr {
            Expr::Int(number) => Some(*number),
            Expr::Local(local) => match self.fragment.locals[local.index()].get(lane) {
                Value::Int(number) => Some(*number),
                _ => None,
            },
            Expr::Agent => Some(i64::from(self.program.index_in_cta(self.agent))),
            Expr::Cta => Some(i64::from(self.program.cta_of(self.agent))),
            Expr::Lane => Some(i64::from(lane)),
            Expr::Elect => Some(1),
            Expr::Unary(op, inner) => op.apply(self.evaluate(inner)?).ok(),
            Expr::Binary(op, left, right) => op.apply(self.evaluate(left)?, self.evaluate(right)?).ok(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn to_float(number: i64) -> f64 {
    number as f64
}

/// Whether other agents may see an operation.
fn is_step(op: &Op) -> bool {
    !matches!(
        op,
        Op::Set(..)
            | Op::Branch { .. }
            | Op::Jump(_)
            | Op::Enter(_)
            | Op::Test { .. }
            | Op::Back(..)
            | Op::Break(_)
            | Op::Continue(..)
            | Op::End(_)
            | Op::Assert(_)
    )
}
