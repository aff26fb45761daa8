//! What agents have come to while their automata were worked out.

use crate::program::{BinaryOp, Code, Condition, Expr, Op, Pc};
use std::cell::Cell;

/// Which operations of a role some agent comes to, the invisible ones included, and how far its loops count.
#[derive(Debug)]
pub struct Trail {
    reached: Vec<Cell<bool>>,
    /// For the test of a loop that counts up to a number: the greatest number with which it went on.
    greatest: Vec<Cell<Option<i64>>>,
    missing: Cell<usize>,
    operations: Cell<u64>,
}

impl Trail {
    /// Nobody has come to any operation yet.
    #[must_use]
    pub fn new(code: &Code) -> Self {
        let count = code.ops.len();
        Self {
            reached: vec![Cell::new(false); count],
            greatest: vec![Cell::new(None); count],
            missing: Cell::new(count),
            operations: Cell::new(0),
        }
    }

    /// Whether somebody comes to an operation.
    #[must_use]
    pub fn is_reached(&self, pc: Pc) -> bool {
        self.reached[pc.index()].get()
    }

    /// The greatest value with which the test of a loop that counts up to a number went on.
    #[must_use]
    pub fn greatest(&self, pc: Pc) -> Option<i64> {
        self.greatest[pc.index()].get()
    }

    /// Whether somebody comes to every operation.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.missing.get() == 0
    }

    /// How many invisible operations were executed.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.operations.get()
    }

    /// An invisible operation is executed; if it is the test of a loop that counts, it goes on with numbers
    /// up to this one.
    pub(super) fn execute(&self, pc: Pc, greatest: Option<i64>) {
        self.operations.set(self.operations.get() + 1);
        self.reach(pc);
        let known = &self.greatest[pc.index()];
        known.set(known.get().max(greatest));
    }

    /// Somebody comes to an operation.
    pub(super) fn reach(&self, pc: Pc) {
        if !self.reached[pc.index()].replace(true) {
            self.missing.set(self.missing.get() - 1);
        }
    }
}

/// The local that the test of a loop counts, by position, and the number that it stays below.
pub(crate) fn counted(op: &Op) -> Option<(usize, i64)> {
    match op {
        Op::Test { condition: Condition::Value(Expr::Binary(BinaryOp::Lt, local, bound)), .. } => {
            match (&**local, &**bound) {
                (Expr::Local(local), Expr::Int(bound)) => Some((local.index(), *bound)),
                _ => None,
            }
        }
        _ => None,
    }
}
