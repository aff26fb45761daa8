//! mbarrier objects and what is done with them, as parts of a protocol.

use super::protocol::{Expr, Name};

/// mbarrier objects of `ptx` under one name.
#[derive(Clone, Debug, PartialEq)]
pub struct Objects {
    pub name: String,
    /// A length, or none for a single object.
    pub len: Option<i64>,
    /// The count with which they are initialised before the first step, if they are.
    pub count: Option<i64>,
}

/// An instruction on an mbarrier object.
#[derive(Clone, Debug, PartialEq)]
pub struct Mbarrier {
    pub objects: usize,
    pub index: Option<Expr>,
    /// The CTA whose object it is, if not the own one.
    pub cta: Option<Expr>,
    pub act: Act,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    Init(Expr),
    Inval,
    Arrive {
        count: Option<Expr>,
        /// With `expect_tx`.
        bytes: Option<Expr>,
        drops: bool,
        /// With `.noComplete`.
        no_complete: bool,
        relaxed: bool,
        scope: Option<Reach>,
    },
    ExpectTx(Expr),
    CompleteTx(Expr),
    /// A wait with a parity.
    Wait(Expr),
    WaitToken(Name),
    /// A loop that does nothing but ask for one phase, which is a wait.
    AskUntil(Asking, Phase),
    /// What says whether a phase is complete; the answer may be no although it is.
    Ask {
        may_miss: bool,
        of: Phase,
    },
    /// A copy of so many bytes, to a location of an array or to none.
    Copy(Expr, Option<(usize, Option<Expr>)>),
    Commit,
    /// A copy to each CTA of a mask.
    Multicast(Expr, Option<(usize, Option<Expr>)>, i64),
    CommitAll(i64),
    /// `clusterlaunchcontrol.try_cancel`: 16 bytes to a location, here or in every CTA.
    Cancel {
        to: (usize, Option<Expr>),
        everywhere: bool,
    },
}

/// How far an arrival releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    Cta,
    Cluster,
}

/// What a wait or a question is about.
#[derive(Clone, Debug, PartialEq)]
pub enum Phase {
    Parity(Expr),
    Token(Name),
}

/// The ways to write a loop that asks until the answer is yes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asking {
    /// The condition of a `while` asks.
    While,
    /// A `loop` with an `if` that asks.
    If,
    /// A `loop` that keeps the answer.
    Kept,
    /// A `while` over a local that is declared before it.
    Flag,
}

impl Mbarrier {
    /// All operands that have a value.
    pub fn operands(&self) -> Vec<&Expr> {
        let mut all: Vec<&Expr> = self.index.iter().chain(&self.cta).collect();
        match &self.act {
            Act::Inval
            | Act::Commit
            | Act::CommitAll(_)
            | Act::WaitToken(_)
            | Act::AskUntil(_, Phase::Token(_))
            | Act::Ask { of: Phase::Token(_), .. } => {}
            Act::AskUntil(_, Phase::Parity(n)) | Act::Ask { of: Phase::Parity(n), .. } => all.push(n),
            Act::Cancel { to: (_, index), .. } => all.extend(index),
            Act::Init(n) | Act::ExpectTx(n) | Act::CompleteTx(n) | Act::Wait(n) => all.push(n),
            Act::Arrive { count, bytes, .. } => all.extend(count.iter().chain(bytes)),
            Act::Copy(bytes, to) | Act::Multicast(bytes, to, _) => {
                all.push(bytes);
                all.extend(to.iter().filter_map(|(_, index)| index.as_ref()));
            }
        }
        all
    }
}
