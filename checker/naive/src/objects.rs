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
    /// What a wait or a question for a phase gains when it passes.
    pub gains: Gains,
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
    Copy(Expr, Option<Place>),
    Commit,
    /// `st.async` or `red.async` of so many bytes.
    Send(Sent, Expr, Place),
    /// A copy of so many bytes from shared memory of the own CTA.
    Between {
        bytes: Expr,
        to: Place,
        from: Place,
        /// Whether it is said how it completes.
        spelled: bool,
    },
    /// `cp.async.mbarrier.arrive`.
    FillArrive {
        /// With `.noinc`.
        counted: bool,
        spelled: bool,
    },
    /// A copy to each CTA of a mask.
    Multicast(Expr, Option<Place>, i64),
    CommitAll(i64),
    /// `clusterlaunchcontrol.try_cancel`: 16 bytes to a location, here or in every CTA.
    Cancel {
        to: Place,
        everywhere: bool,
    },
}

/// A location as it is written: an array, and an index into it.
pub type Place = (usize, Option<Expr>);

/// What is sent to a location without being a bulk copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// `st.async`.
    Value,
    /// `red.async`.
    Reduction,
}

/// What who passes a wait knows in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Gains {
    /// What the phase carries.
    #[default]
    All,
    /// What it carries from the next fence on: `.relaxed`, with a scope or without one.
    AtFence(Option<Reach>),
}

/// How far an arrival releases, or a wait acquires.
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

impl Act {
    /// Whether it waits for a phase, or asks for one.
    pub fn is_for_a_phase(&self) -> bool {
        matches!(self, Act::Wait(_) | Act::WaitToken(_) | Act::AskUntil(..) | Act::Ask { .. })
    }
}

impl Mbarrier {
    /// All operands that have a value.
    pub fn operands(&self) -> Vec<&Expr> {
        let mut all: Vec<&Expr> = self.index.iter().chain(&self.cta).collect();
        match &self.act {
            Act::Inval
            | Act::Commit
            | Act::CommitAll(_)
            | Act::FillArrive { .. }
            | Act::WaitToken(_)
            | Act::AskUntil(_, Phase::Token(_))
            | Act::Ask { of: Phase::Token(_), .. } => {}
            Act::AskUntil(_, Phase::Parity(n)) | Act::Ask { of: Phase::Parity(n), .. } => all.push(n),
            Act::Cancel { to: (_, index), .. } => all.extend(index),
            Act::Send(_, bytes, (_, index)) => {
                all.push(bytes);
                all.extend(index);
            }
            Act::Between { bytes, to: (_, to), from: (_, from), .. } => {
                all.push(bytes);
                all.extend(to.iter().chain(from));
            }
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
