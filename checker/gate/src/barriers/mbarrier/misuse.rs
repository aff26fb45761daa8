//! What mbarrier objects must not be used for.

use crate::barriers::observer::Violation;
use barcheck_model::rule::Rule;
use std::fmt;

/// What the instructions must not be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// A number of arrivals that no object can expect: they are 1 to 2^20 - 1.
    CountRange {
        /// The number given.
        given: i64,
    },
    /// Bytes that no object can count: 2^20 - 1 at most, also together.
    BytesRange {
        /// The bytes given, of all lanes.
        given: i64,
        /// The bytes that the phase waits for.
        awaited: i64,
    },
    /// A parity is 0 or 1.
    ParityRange {
        /// The parity given.
        given: i64,
    },
    /// The object is not initialised, or not any more.
    NotLive,
    /// An object that is in use is initialised, or one is by several lanes.
    InitialisedTwice,
    /// Somebody waits on an object that is invalidated, or something is in flight to it.
    Awaited,
    /// More arrivals than the phase waits for.
    OverArrival {
        /// Those that it waits for.
        pending: u32,
        /// Those made.
        given: u32,
    },
    /// An arrival with `.noComplete` that completes the phase.
    NoComplete,
    /// The phases that follow would expect no arrival.
    DropsAll,
    /// An arrival in a phase before any wait has seen the one before complete.
    UnobservedPhase,
    /// A phase that has all its arrivals and more bytes than were announced.
    OverDelivery {
        /// The bytes too many.
        surplus: i64,
    },
    /// A landing in another phase than the one in which the operation was begun, or in another life of the
    /// object.
    StaleCompletion,
    /// A token of neither the present phase nor the one before it, or of another object.
    StaleToken,
    /// The other CTA has exited.
    RemoteAfterExit {
        /// Its rank.
        cta: usize,
    },
    /// An object of another CTA is initialised, invalidated or waited for, which has no meaning.
    NotLocal {
        /// The rank of that CTA.
        cta: usize,
    },
}

impl Violation for Misuse {
    fn rule(&self) -> Option<Rule> {
        Some(match self {
            Self::CountRange { .. } => Rule::CountRange,
            Self::BytesRange { .. } => Rule::TxRange,
            Self::ParityRange { .. } => Rule::ParityRange,
            Self::NotLive => Rule::MbarrierNotLive,
            Self::InitialisedTwice | Self::Awaited => Rule::MbarrierLive,
            Self::OverArrival { .. } | Self::DropsAll => Rule::OverArrival,
            Self::NoComplete => Rule::NoComplete,
            Self::UnobservedPhase => Rule::UnobservedPhase,
            Self::OverDelivery { .. } => Rule::OverDelivery,
            Self::StaleCompletion => Rule::StaleCompletion,
            Self::StaleToken => Rule::StaleToken,
            Self::RemoteAfterExit { .. } => Rule::RemoteAfterExit,
            Self::NotLocal { .. } => return None,
        })
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CountRange { given } => write!(f, "{given} arrivals of 1 to 1048575"),
            Self::BytesRange { given, awaited } => {
                write!(
                    f,
                    "{given} bytes, where the phase waits for {awaited}: 1048575 at most can be counted"
                )
            }
            Self::ParityRange { given } => write!(f, "parity {given} of 0 and 1"),
            Self::NotLive => f.write_str("the object is not initialised"),
            Self::InitialisedTwice => f.write_str("the object is initialised while it is in use"),
            Self::Awaited => f.write_str(
                "the object is invalidated while somebody waits on it, or something is in flight to it",
            ),
            Self::OverArrival { pending, given } => {
                write!(f, "{given} arrivals in a phase that waits for {pending}")
            }
            Self::NoComplete => f.write_str("an arrival with .noComplete completes the phase"),
            Self::DropsAll => f.write_str("the phases that follow would expect no arrival"),
            Self::UnobservedPhase => {
                f.write_str("an arrival before any wait has seen the phase before complete")
            }
            Self::OverDelivery { surplus } => {
                write!(f, "the phase has all its arrivals and {surplus} bytes too many")
            }
            Self::StaleCompletion => f.write_str("a landing in another phase than it was begun in"),
            Self::StaleToken => {
                f.write_str("a token of neither the present phase of the object nor the one before")
            }
            Self::RemoteAfterExit { cta } => write!(f, "CTA {cta} has exited"),
            Self::NotLocal { cta } => write!(f, "the object belongs to CTA {cta}"),
        }
    }
}

impl std::error::Error for Misuse {}
