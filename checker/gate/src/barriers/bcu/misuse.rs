//! What the instructions must not be used for.

use crate::barriers::observer::Violation;
use crate::barriers::reduction::RedOp;
use barcheck_model::rule::Rule;
use std::fmt;

/// What the instructions must not be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// There is no such barrier: they are 0 to 15.
    BarrierIdRange {
        /// The id given.
        id: i64,
    },
    /// The count is not a multiple of 32 from 0 to 4095, or an ARV's is 0.
    CountRange {
        /// The count as the hardware reads it, in threads.
        given: i64,
    },
    /// A RED on the id of a SYNC or an ARV, or the other way round, whenever that was.
    MixedRed {
        /// The barrier.
        barrier: u32,
        /// Whether the instruction is the RED.
        red: bool,
    },
    /// Two reductions with different operators meet on one active barrier.
    MixedRedOp {
        /// The barrier.
        barrier: u32,
        /// The operator of those who are there.
        active: RedOp,
        /// The operator given.
        given: RedOp,
    },
    /// The active barrier was announced with another count.
    CountMismatch {
        /// The barrier.
        barrier: u32,
        /// The count of those who are there, in threads; 0 stands for all live warps.
        announced: u32,
        /// The count given, likewise.
        given: u32,
    },
    /// Nothing has defined what is to be read.
    UndefinedResult,
    /// A barrier in use is written with another state than it has.
    StateClobbered {
        /// The barrier.
        barrier: u32,
    },
}

impl Violation for Misuse {
    fn rule(&self) -> Option<Rule> {
        Some(match self {
            Self::BarrierIdRange { .. } => Rule::BarrierIdRange,
            Self::CountRange { .. } => Rule::CountRange,
            Self::MixedRed { .. } => Rule::MixedRed,
            Self::MixedRedOp { .. } => Rule::MixedRedOp,
            Self::CountMismatch { .. } => Rule::CountMismatch,
            Self::UndefinedResult => Rule::UndefinedResult,
            Self::StateClobbered { .. } => Rule::StateClobbered,
        })
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BarrierIdRange { id } => write!(f, "barrier {id} of 0 to 15"),
            Self::CountRange { given } => write!(f, "count {given} is not one that the instruction can have"),
            Self::MixedRed { barrier, red: true } => {
                write!(f, "a RED on barrier {barrier}, where a SYNC or an ARV has been")
            }
            Self::MixedRed { barrier, red: false } => {
                write!(f, "a SYNC or an ARV on barrier {barrier}, where a RED has been")
            }
            Self::MixedRedOp { barrier, active, given } => {
                write!(f, "reduction {given:?} on barrier {barrier}, which is active with {active:?}")
            }
            Self::CountMismatch { barrier, announced, given } => {
                write!(f, "count {given} at barrier {barrier}, which was announced with {announced}")
            }
            Self::UndefinedResult => f.write_str("no reduction has defined what is read"),
            Self::StateClobbered { barrier } => {
                write!(f, "barrier {barrier} is in use and would get another state")
            }
        }
    }
}

impl std::error::Error for Misuse {}
