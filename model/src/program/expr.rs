//! Expressions over integer locals.

use super::LocalId;

/// An expression over signed 64-bit integers. Comparison and logic give 0 or 1; `&&` and `||` evaluate
/// their right side only where it matters; overflow, division by zero, a shift outside 0..=63 and a local
/// without a value are evaluation errors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A constant.
    Int(i64),
    /// A local's value.
    Local(LocalId),
    /// The index of the agent that evaluates, in its CTA.
    Agent,
    /// The rank of its CTA in the cluster.
    Cta,
    /// The lane that evaluates, 0..=31.
    Lane,
    /// Whether the lane that evaluates is the one that is elected among those that evaluate together.
    Elect,
    /// An operator with one operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator with two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

impl Expr {
    /// Calls `found` for the constants, locals and indices in it.
    pub(crate) fn leaves(&self, found: &mut dyn FnMut(&Self)) {
        match self {
            Self::Unary(_, a) => a.leaves(found),
            Self::Binary(_, a, b) => {
                a.leaves(found);
                b.leaves(found);
            }
            Self::Int(_) | Self::Local(_) | Self::Agent | Self::Cta | Self::Lane | Self::Elect => found(self),
        }
    }
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// Negation.
    Neg,
    /// Logical not: 1 for zero, 0 for anything else.
    Not,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the variants are the operators themselves")]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    LogicalAnd,
    LogicalOr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}
