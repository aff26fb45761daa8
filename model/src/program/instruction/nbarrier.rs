//! vISA instructions.

use super::{BarrierOp, Expressions, ReductionOp, Scope, Written};
use crate::program::{Expr, LocalId};

/// vISA `NBARRIER` instructions.
// clause: nbarrier.mode
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NbarrierOp {
    /// `nbarrier.signal id, num_threads`.
    SignalAll {
        /// Barrier id.
        id: Expr,
        /// Producers and consumers alike.
        threads: Expr,
    },
    /// `nbarrier.signal id, type, num_producers, num_consumers`.
    Signal {
        /// Barrier id.
        id: Expr,
        /// 0 producer and consumer, 1 producer, 2 consumer.
        kind: Expr,
        /// Number of producers.
        producers: Expr,
        /// Number of consumers.
        consumers: Expr,
    },
    /// `nbarrier.wait id`.
    Wait {
        /// Barrier id.
        id: Expr,
    },
}

impl BarrierOp for NbarrierOp {
    fn expressions(&self) -> Expressions<'_> {
        match self {
            Self::Wait { id } => Expressions::from_slice(&[id]),
            Self::SignalAll { id, threads } => Expressions::from_slice(&[id, threads]),
            Self::Signal { id, kind, producers, consumers } => {
                Expressions::from_slice(&[id, kind, producers, consumers])
            }
        }
    }

    fn written(&self) -> Written {
        Written::new()
    }

    fn handle(&self) -> Option<LocalId> {
        None
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

    fn may_count_exits(&self) -> bool {
        false
    }

    fn reads_state(&self) -> bool {
        false
    }
}
