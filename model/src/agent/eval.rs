//! Values and expressions, lane by lane where lanes differ.

use super::Context;
use crate::barrier::{Handle, Opaque};
use crate::program::{BinaryOp, Expr, LocalId, LocalKind, NoResult, Pc};

/// What a local holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// Nothing yet, or nothing that is still needed.
    Unset,
    /// A number.
    Int(i64),
    /// A state read by B2R: not a number.
    Opaque(Box<Opaque>),
    /// A named-barrier handle.
    Handle(Handle),
    /// The token of a phase of the mbarrier object with this number.
    Token(u32),
}

/// A local's value in every lane of a fragment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LaneValues {
    /// The same in all lanes.
    Same(Value),
    /// Lane by lane, 32 entries; lanes outside the fragment hold `Unset`.
    Each(Box<[Value]>),
}

impl LaneValues {
    /// The value in `lane`.
    #[must_use]
    pub fn get(&self, lane: u32) -> &Value {
        match self {
            Self::Same(value) => value,
            Self::Each(values) => &values[lane as usize],
        }
    }

    /// Bytes that it takes, about: a state that was read is a box of its own.
    pub(super) fn bytes(&self) -> usize {
        let boxed = |value: &Value| match value {
            Value::Opaque(_) => 2 * size_of::<Opaque>(),
            Value::Unset | Value::Int(_) | Value::Handle(_) | Value::Token(_) => 0,
        };
        let list = match self {
            Self::Same(_) => 0,
            Self::Each(values) => size_of_val(&values[..]),
        };
        size_of::<Self>() + list + self.values().map(boxed).sum::<usize>()
    }

    /// Every lane's value; one where they are the same.
    pub fn values(&self) -> impl Iterator<Item = &Value> {
        match self {
            Self::Same(value) => std::slice::from_ref(value).iter(),
            Self::Each(values) => values.iter(),
        }
    }

    /// From a value for each of `lanes`, in canonical form.
    #[must_use]
    pub fn collect(lanes: u32, mut of: impl FnMut(u32) -> Value) -> Self {
        let mut values = vec![Value::Unset; 32].into_boxed_slice();
        for lane in each_lane(lanes) {
            values[lane as usize] = of(lane);
        }
        let first = &values[lanes.trailing_zeros() as usize];
        if each_lane(lanes).all(|lane| values[lane as usize] == *first) {
            Self::Same(first.clone())
        } else {
            Self::Each(values)
        }
    }
}

/// The lanes of a mask, lowest first.
pub(super) fn each_lane(lanes: u32) -> Lanes {
    Lanes(lanes)
}

/// The lanes of a mask that are still to come.
pub(super) struct Lanes(u32);

impl Iterator for Lanes {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let lane = self.0.trailing_zeros();
        self.0 &= self.0.checked_sub(1)?;
        Some(lane)
    }
}

/// An evaluation that cannot succeed: it ends the path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fault {
    /// The operation.
    pub at: Pc,
    /// What went wrong.
    pub kind: FaultKind,
}

/// What can go wrong when an expression is evaluated.
// clause: barcheck.evaluation-error
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FaultKind {
    /// Division or remainder by zero.
    DivisionByZero,
    /// A result outside signed 64 bits, a shift outside 0..=63, or a number that a register cannot hold.
    Overflow,
    /// An index outside its array.
    IndexOutside {
        /// The index.
        index: i64,
        /// The array's length.
        length: u32,
    },
    /// A local read before it is set.
    Unset(LocalId),
    /// A state read by B2R, a handle or a token, used as a number.
    NotANumber(LocalId),
    /// `any` over an empty range.
    EmptyRange,
    /// Not an error of the protocol: local computation went on for too long to be followed. The path
    /// is cut and the verdict inconclusive. Names the local that kept changing, if any.
    Endless(Option<LocalId>),
}

impl From<NoResult> for FaultKind {
    fn from(reason: NoResult) -> Self {
        match reason {
            NoResult::DivisionByZero => Self::DivisionByZero,
            NoResult::Overflow | NoResult::ShiftRange => Self::Overflow,
        }
    }
}

/// An expression's value in every lane of a fragment.
pub(super) enum Numbers {
    Same(i64),
    Each(Vec<(u32, i64)>),
}

impl Numbers {
    pub(super) fn get(&self, lane: u32) -> i64 {
        match self {
            Self::Same(n) => *n,
            Self::Each(all) => all.iter().find(|(l, _)| *l == lane).map_or(0, |(_, n)| *n),
        }
    }
}

pub(super) struct Eval<'a> {
    pub(super) context: Context<'a>,
    pub(super) locals: &'a [LaneValues],
    pub(super) lanes: u32,
}

impl Eval<'_> {
    /// The value in all lanes.
    pub(super) fn numbers(&self, expr: &Expr) -> Result<Numbers, FaultKind> {
        let first = self.lanes.trailing_zeros();
        if !self.varies(expr) {
            return self.number(expr, first).map(Numbers::Same);
        }
        let mut all = Vec::new();
        for lane in each_lane(self.lanes) {
            all.push((lane, self.number(expr, lane)?));
        }
        Ok(Numbers::Each(all))
    }

    /// The value for the fragment as a whole: that of its first lane, once all lanes have evaluated it.
    pub(super) fn first(&self, expr: &Expr) -> Result<i64, FaultKind> {
        Ok(self.numbers(expr)?.get(self.lanes.trailing_zeros()))
    }

    /// A local's value as a whole: that of the first lane.
    pub(super) fn local(&self, local: LocalId) -> &Value {
        self.locals[local.index()].get(self.lanes.trailing_zeros())
    }

    /// Whether lanes may have different values.
    pub(super) fn varies(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Int(_) | Expr::Agent | Expr::Cta => false,
            Expr::Lane => true,
            Expr::Elect => self.lanes.count_ones() > 1,
            Expr::Local(local) => matches!(self.locals[local.index()], LaneValues::Each(_)),
            Expr::Unary(_, a) => self.varies(a),
            Expr::Binary(_, a, b) => self.varies(a) || self.varies(b),
        }
    }

    pub(super) fn number(&self, expr: &Expr, lane: u32) -> Result<i64, FaultKind> {
        match expr {
            Expr::Int(n) => Ok(*n),
            Expr::Agent => Ok(i64::from(self.context.program.index_in_cta(self.context.agent))),
            Expr::Cta => Ok(i64::from(self.context.cta())),
            Expr::Lane => Ok(i64::from(lane)),
            // clause: ptx.elect
            Expr::Elect => Ok(i64::from(lane == self.lanes.trailing_zeros())),
            Expr::Local(local) => match self.locals[local.index()].get(lane) {
                Value::Int(n) => Ok(*n),
                Value::Unset => Err(FaultKind::Unset(*local)),
                Value::Opaque(_) | Value::Handle(_) | Value::Token(_) => Err(FaultKind::NotANumber(*local)),
            },
            Expr::Unary(op, a) => Ok(op.apply(self.number(a, lane)?)?),
            Expr::Binary(BinaryOp::LogicalAnd, a, b) => {
                Ok(i64::from(self.number(a, lane)? != 0 && self.number(b, lane)? != 0))
            }
            Expr::Binary(BinaryOp::LogicalOr, a, b) => {
                Ok(i64::from(self.number(a, lane)? != 0 || self.number(b, lane)? != 0))
            }
            Expr::Binary(op, a, b) => Ok(op.apply(self.number(a, lane)?, self.number(b, lane)?)?),
        }
    }
}

/// Whether a local of this kind can hold a number: registers hold unsigned 32 bits, predicates 0 or 1.
pub(super) fn fits(kind: LocalKind, n: i64) -> Result<i64, FaultKind> {
    let fits = match kind {
        LocalKind::Integer | LocalKind::Handle => true,
        LocalKind::Register => u32::try_from(n).is_ok(),
        LocalKind::Predicate => n == 0 || n == 1,
    };
    if fits { Ok(n) } else { Err(FaultKind::Overflow) }
}
