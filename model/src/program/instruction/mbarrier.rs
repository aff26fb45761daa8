//! PTX instructions on mbarrier objects, and the asynchronous operations that arrive on them.

use super::{BarrierOp, Expressions, ReductionOp, Scope, Written};
use crate::program::{ArrayId, Expr, LocalId, ObjectsId};

/// An instruction on an mbarrier object. Every lane that executes it does so once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MbarrierOp {
    /// What it does.
    pub kind: MbarrierKind,
    /// The object, or the array of objects.
    pub objects: ObjectsId,
    /// Which one of the array.
    pub index: Option<Expr>,
    /// The CTA whose object it is; `None` for the agent's own.
    pub cta: Option<Expr>,
}

/// What an instruction does to an mbarrier object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MbarrierKind {
    /// `mbarrier.init`, with the number of arrivals expected in each phase.
    Init(Expr),
    /// `mbarrier.inval`.
    Inval,
    /// `mbarrier.arrive`, `arrive.expect_tx`, `arrive_drop`.
    Arrive {
        /// Arrivals of each lane, 1 if left out.
        count: Option<Expr>,
        /// Bytes that the phase waits for besides.
        bytes: Option<Expr>,
        /// So many fewer are expected from the next phase on.
        drops: bool,
        /// `.noComplete`: it must not complete the phase.
        no_complete: bool,
        /// `.relaxed`: orders in time, not in memory.
        relaxed: bool,
        /// `.release.cta`: orders within the agent's own CTA alone.
        within_cta: bool,
        /// The local that gets the token of the phase.
        token: Option<LocalId>,
    },
    /// `mbarrier.expect_tx`, in bytes.
    ExpectTx(Expr),
    /// `mbarrier.complete_tx`, in bytes.
    CompleteTx(Expr),
    /// A blocking wait: `mbarrier.try_wait` in a loop.
    Wait {
        /// The phase.
        phase: Awaited,
        /// `.relaxed`: orders in time, and in memory once a fence comes behind it.
        relaxed: bool,
    },
    /// `mbarrier.test_wait`, or a single `mbarrier.try_wait`: whether the phase is complete.
    Test {
        /// The phase.
        phase: Awaited,
        /// It may come out false though the phase is complete (`try_wait`).
        gives_up: bool,
        /// `.relaxed`, as with a wait.
        relaxed: bool,
        /// The local that gets the answer.
        dest: Option<LocalId>,
    },
    /// `cp.async.bulk` and its relatives: a copy that completes so many bytes when it lands.
    Copy {
        /// Bytes of each lane.
        bytes: Expr,
        /// The location that it writes.
        to: Option<(ArrayId, Option<Expr>)>,
        /// How it writes.
        by: Means,
    },
    /// `tcgen05.commit` and its relatives: one arrival, when what the agent began before is done.
    Commit,
    /// `cp.async.mbarrier.arrive`: one arrival, when the `cp.async` that the lane began before are complete.
    FillsArrive {
        /// The phase expects so many arrivals more; with `.noinc` it does not.
        counted: bool,
    },
}

/// How a copy writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Means {
    /// `cp.async.bulk` from global memory, and its relatives.
    Bulk,
    /// The same from shared memory of the agent's own CTA: this location.
    Across(ArrayId, Option<Expr>),
    /// `st.async`.
    Store,
    /// `red.async`.
    Reduction,
}

/// The phase for which a wait waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// That of a parity.
    Parity(Expr),
    /// That whose token a local holds.
    Token(LocalId),
}

impl Awaited {
    fn parity(&self) -> Option<&Expr> {
        match self {
            Self::Parity(parity) => Some(parity),
            Self::Token(_) => None,
        }
    }

    fn token(&self) -> Option<LocalId> {
        match self {
            Self::Parity(_) => None,
            Self::Token(token) => Some(*token),
        }
    }
}

impl BarrierOp for MbarrierOp {
    fn expressions(&self) -> Expressions<'_> {
        let mut found: Expressions<'_> = self.index.iter().chain(&self.cta).collect();
        match &self.kind {
            MbarrierKind::Init(e) | MbarrierKind::ExpectTx(e) | MbarrierKind::CompleteTx(e) => found.push(e),
            MbarrierKind::Wait { phase, .. } | MbarrierKind::Test { phase, .. } => {
                found.extend(phase.parity());
            }
            MbarrierKind::Arrive { count, bytes, .. } => found.extend(count.iter().chain(bytes)),
            MbarrierKind::Copy { bytes, to, by } => {
                found.push(bytes);
                found.extend(to.iter().flat_map(|(_, index)| index));
                if let Means::Across(_, Some(index)) = by {
                    found.push(index);
                }
            }
            MbarrierKind::Inval | MbarrierKind::Commit | MbarrierKind::FillsArrive { .. } => {}
        }
        found
    }

    fn written(&self) -> Written {
        match &self.kind {
            MbarrierKind::Arrive { token: kept, .. } | MbarrierKind::Test { dest: kept, .. } => {
                kept.iter().copied().collect()
            }
            _ => Written::new(),
        }
    }

    fn handle(&self) -> Option<LocalId> {
        match &self.kind {
            MbarrierKind::Wait { phase, .. } | MbarrierKind::Test { phase, .. } => phase.token(),
            _ => None,
        }
    }

    fn reduction(&self) -> Option<ReductionOp> {
        None
    }

    fn execution_scope(&self) -> Option<Scope> {
        None
    }

    fn is_of_all_lanes(&self) -> bool {
        false
    }

    fn reads_state(&self) -> bool {
        false
    }

    fn accesses(&self) -> bool {
        matches!(
            self.kind,
            MbarrierKind::Copy { to: Some(_), .. } | MbarrierKind::Copy { by: Means::Across(..), .. }
        )
    }

    fn may_count_exits(&self) -> bool {
        false
    }

    /// A copy follows what its agent has done, and publishes its own write alone; so do arrivals of copies.
    fn is_relaxed(&self) -> bool {
        let is_remote = self.cta.is_some();
        match self.kind {
            MbarrierKind::Arrive { relaxed, within_cta, .. } => relaxed || within_cta && is_remote,
            MbarrierKind::Copy { .. } | MbarrierKind::FillsArrive { .. } => true,
            MbarrierKind::Wait { relaxed, .. } | MbarrierKind::Test { relaxed, .. } => relaxed,
            _ => false,
        }
    }

    fn is_relaxed_wait(&self) -> bool {
        match self.kind {
            MbarrierKind::Wait { relaxed, .. } | MbarrierKind::Test { relaxed, .. } => relaxed,
            _ => false,
        }
    }

    fn initialises(&self) -> bool {
        matches!(self.kind, MbarrierKind::Init(_))
    }

    fn is_remote(&self) -> bool {
        self.cta.is_some()
    }

    fn leaves_pending(&self) -> bool {
        let kind = &self.kind;
        matches!(kind, MbarrierKind::Copy { .. } | MbarrierKind::Commit | MbarrierKind::FillsArrive { .. })
    }
}
