//! A model checker for GPU barrier protocols.
//!
//! [`decide`] takes the text of a protocol to a verdict, with a counterexample for each violation that was
//! replayed on the model alone:
//!
//! ```
//! use barcheck::{Options, Source, Verdict, decide};
//!
//! let text = b"target ptx; cta 64; warps 0..2 { bar.sync 1, 64; }";
//! let decision = decide(&Source::new("meet.bar", text), &Options::default());
//! assert_eq!(decision.verdict, Verdict::Verified);
//! assert!(decision.findings.is_empty());
//! ```
//!
//! [`check`] is the part of that in which the engines search: it takes a program and gives paths, which
//! nobody has replayed.
//!
//! This crate is the front door: what it does lives in crates of its own. Without default features it is
//! [`decide`] and the engines; the feature `gate` adds [`gate!`] and the executable [`barriers`], `export`
//! the models for other model checkers, and `cli`, on by default, the command line `barcheck`.

#[cfg(feature = "export")]
pub use barcheck_export as export;
#[cfg(feature = "gate")]
pub use barcheck_gate::{self as gate, barriers, gate};

pub use barcheck_decide::{
    About, Allow, Allowed, BarrierCoverage, Cause, Check, Clause, Decision, Finding, Format, Lint,
    LoadOptions, LoopCoverage, Options, Patience, Reason, Related, Remark, Replayed, RoleCoverage, Smaller,
    Source, Tried, Trouble, decide, decide_under, levels, numbers, replay, replay_within, whereabouts,
};
pub use barcheck_engine::{
    Budgets, ByLocation, Control, Engine, Found, Inconclusive, Levels, Method, Note, Outcome, Progress,
    Quiet, ReachedFault, Reduction, Seek, Settings, Statistics, Verdict, check,
};
