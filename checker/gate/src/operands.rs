//! Instructions with their operands as plain numbers: what an agent hands to an executable barrier.
//!
//! The model checks operands while it evaluates them. Here nothing is checked, because to refuse them is for
//! the barriers to do: they are the second opinion.

use barcheck_model::agent::{Config, Value};
use barcheck_model::program::{
    AgentId, BcuOp, BcuOperand, BcuRedOperands, BinaryOp, Expr, LocalId, NbarrierOp, Predicate, Program,
    ReductionOp,
};

/// The agent whose operands are evaluated, and those of its lanes that are together at its instruction.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    pub(super) program: &'a Program,
    pub(super) agent: AgentId,
    pub(super) config: &'a Config,
    /// The lanes' position among the agent's fragments.
    pub(super) fragment: usize,
}

/// A BCU operand: an immediate, or what a register holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operand {
    pub(super) value: i64,
    pub(super) register: bool,
}

impl Reader<'_> {
    /// The lanes that execute the instruction, as a bit mask.
    pub(super) fn mask(self) -> u32 {
        self.config.fragments.get(self.fragment).map_or(0, |fragment| fragment.lanes)
    }

    /// Some of the agent's live lanes are elsewhere.
    pub(super) fn is_apart(self) -> bool {
        self.mask() != self.config.live_lanes()
    }

    /// The lanes that execute the instruction.
    pub(super) fn lanes(self) -> impl Iterator<Item = u32> {
        let mask = self.mask();
        (0..32).filter(move |lane| mask >> lane & 1 == 1)
    }

    /// The value of an expression in one lane; `None` where there is none, which the agent's own evaluation
    /// has reported before anything comes here.
    pub(super) fn number(self, expr: &Expr, lane: u32) -> Option<i64> {
        match expr {
            Expr::Int(value) => Some(*value),
            Expr::Agent => Some(i64::from(self.program.index_in_cta(self.agent))),
            Expr::Cta => Some(i64::from(self.program.cta_of(self.agent))),
            Expr::Lane => Some(i64::from(lane)),
            Expr::Elect => Some(i64::from(lane == self.mask().trailing_zeros())),
            Expr::Local(local) => self.local(*local, lane),
            Expr::Unary(op, a) => op.apply(self.number(a, lane)?).ok(),
            Expr::Binary(BinaryOp::LogicalAnd, a, _) if self.number(a, lane)? == 0 => Some(0),
            Expr::Binary(BinaryOp::LogicalOr, a, _) if self.number(a, lane)? != 0 => Some(1),
            Expr::Binary(op, a, b) => op.apply(self.number(a, lane)?, self.number(b, lane)?).ok(),
        }
    }

    fn local(self, local: LocalId, lane: u32) -> Option<i64> {
        let fragment = self.config.fragments.get(self.fragment)?;
        match fragment.locals.get(local.index())?.get(lane) {
            Value::Int(value) => Some(*value),
            Value::Unset | Value::Opaque(_) | Value::Handle(_) | Value::Token(_) => None,
        }
    }

    /// Whether a local holds a token in every lane.
    pub(super) fn holds_token(self, local: LocalId) -> bool {
        let values = self.config.fragments.get(self.fragment).and_then(|f| f.locals.get(local.index()));
        values.is_some_and(|values| self.lanes().all(|lane| matches!(values.get(lane), Value::Token(_))))
    }

    /// The value of an expression on which all lanes agree.
    pub(super) fn shared(self, expr: &Expr) -> Option<i64> {
        self.number(expr, self.lanes().next()?)
    }

    /// A BCU operand on which all lanes agree.
    pub(super) fn operand(self, operand: &BcuOperand) -> Option<Operand> {
        Some(Operand { value: self.shared(&operand.value)?, register: operand.register })
    }

    /// The predicates of the lanes; `pick` decides those that are open.
    pub(super) fn predicates(self, op: ReductionOp, predicate: &Predicate, pick: u32) -> Option<Vec<bool>> {
        let Some(value) = &predicate.value else {
            let is_true = |position: u32| match op {
                ReductionOp::Popc => position < pick,
                ReductionOp::And | ReductionOp::Or => pick != 0,
            };
            let lanes = u32::try_from(self.lanes().count()).ok()?;
            return Some((0..lanes).map(is_true).collect());
        };
        self.lanes().map(|lane| Some((self.number(value, lane)? != 0) != predicate.negated)).collect()
    }
}

/// A vISA `NBARRIER` instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Nbarrier {
    Signal { id: i64, kind: i64, producers: i64, consumers: i64 },
    Wait { id: i64 },
}

impl Reader<'_> {
    pub(super) fn nbarrier(self, op: &NbarrierOp) -> Option<Nbarrier> {
        Some(match op {
            NbarrierOp::SignalAll { id, threads } => {
                let threads = self.shared(threads)?;
                Nbarrier::Signal { id: self.shared(id)?, kind: 0, producers: threads, consumers: threads }
            }
            NbarrierOp::Signal { id, kind, producers, consumers } => Nbarrier::Signal {
                id: self.shared(id)?,
                kind: self.shared(kind)?,
                producers: self.shared(producers)?,
                consumers: self.shared(consumers)?,
            },
            NbarrierOp::Wait { id } => Nbarrier::Wait { id: self.shared(id)? },
        })
    }

    /// Id and count of `BAR.SYNC`, `BAR.ARV` and `BAR.RED`; the count is `None` where it is omitted.
    pub(super) fn bcu(self, op: &BcuOp) -> Option<(Bar, Option<Operand>)> {
        Some(match op {
            BcuOp::Sync { id, count } => {
                let count = count.as_ref().map(|count| self.operand(count));
                (Bar::Separate(self.operand(id)?), transpose(count)?)
            }
            BcuOp::Arv { id, count } => (Bar::Separate(self.operand(id)?), Some(self.operand(count)?)),
            BcuOp::Red { operands: BcuRedOperands::Separate(id, count), .. } => {
                let count = count.as_ref().map(|count| self.operand(count));
                (Bar::Separate(self.operand(id)?), transpose(count)?)
            }
            BcuOp::Red { operands: BcuRedOperands::Packed(register), .. } => {
                (Bar::Packed(self.shared(register)?), None)
            }
            _ => return None,
        })
    }
}

/// Where a `BAR` instruction takes its id from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bar {
    /// An operand of its own.
    Separate(Operand),
    /// One register that holds id and count.
    Packed(i64),
}

/// An operand that may be omitted but not fail.
fn transpose(operand: Option<Option<Operand>>) -> Option<Option<Operand>> {
    match operand {
        None => Some(None),
        Some(found) => found.map(Some),
    }
}
