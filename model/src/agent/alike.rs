//! Whether all agents of a role come to the same barriers in the same iterations, whatever is decided.
//!
//! Then the n-th arrival of each is in the same dynamic instance as that of all the others, and a generation
//! gathers n-th arrivals only: no iteration needs to be counted to tell instances apart (`split_barrier`).

use crate::program::{Code, Condition, ConstructId, Expr, LocalId, Op};

/// Times that the code is gone through before agents are taken to differ.
const MOST_ROUNDS: usize = 64;

/// What may differ between agents of a role.
#[derive(Clone, PartialEq, Eq)]
struct Differing {
    locals: Vec<bool>,
    /// Constructs whose condition may differ, and those around which something leaves that is in one.
    constructs: Vec<bool>,
}

/// Whether agents that execute `code` come to the same barriers in the same iterations.
///
/// What differs is what an agent decides by itself, its index, and what is computed from these or assigned
/// where such a condition leads. A construct whose condition differs must hold nothing that steers others or
/// that others count on: no barrier, no exit and no decision that all make alike. What leaves a construct
/// from inside one that differs makes it one that differs.
// clause: barcheck.same-instance
pub(super) fn all_go_alike(code: &Code, innermost: &[Option<ConstructId>]) -> bool {
    let mut differing =
        Differing { locals: vec![false; code.locals.len()], constructs: vec![false; code.constructs.len()] };
    // Each time round what differs spreads backwards through one more assignment: few take many.
    for round in 0.. {
        if round == MOST_ROUNDS {
            return false;
        }
        let before = differing.clone();
        for (op, construct) in code.ops.iter().zip(innermost) {
            let in_one = code.around(*construct).any(|c| differing.constructs[c.index()]);
            differing.spread(op, in_one);
        }
        if differing == before {
            break;
        }
    }
    let mut ops = code.ops.iter().zip(innermost);
    ops.all(|(op, construct)| {
        !steers(op) || code.around(*construct).all(|c| !differing.constructs[c.index()])
    })
}

impl Differing {
    /// What differs because of an operation, `in_one` where it is in a construct that does.
    fn spread(&mut self, op: &Op, in_one: bool) {
        match op {
            Op::Set(local, value) => self.locals[local.index()] |= in_one || self.is_in(value),
            Op::Branch { construct, condition, .. } | Op::Test { construct, condition } => {
                self.constructs[construct.index()] |= match condition {
                    Condition::Value(value) => self.is_in(value),
                    Condition::Private => true,
                    Condition::Uniform(_) => false,
                };
            }
            Op::Break(construct) | Op::Continue(construct, _) => self.constructs[construct.index()] |= in_one,
            // A value that is chosen, or that an instruction yields.
            _ => op.written().iter().for_each(|local: &LocalId| self.locals[local.index()] = true),
        }
    }

    fn is_in(&self, expr: &Expr) -> bool {
        let mut differs = false;
        expr.leaves(&mut |leaf| {
            differs |= match leaf {
                Expr::Agent | Expr::Cta | Expr::Lane | Expr::Elect => true,
                Expr::Local(local) => self.locals[local.index()],
                _ => false,
            };
        });
        differs
    }
}

/// Others count on it that all execute it alike.
fn steers(op: &Op) -> bool {
    let decides_alike = matches!(
        op,
        Op::Branch { condition: Condition::Uniform(_), .. }
            | Op::Test { condition: Condition::Uniform(_), .. }
    );
    decides_alike || matches!(op, Op::Exit) || op.execution_scope().is_some()
}
