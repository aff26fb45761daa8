//! A model checker for GPU barrier protocols.
//!
//! [`check`] decides a protocol: it explores every interleaving of its agents and says whether some
//! path violates a rule.
//!
//! This crate is the front door: what it does lives in crates of its own, of which a feature each brings one in.
//! Without default features it is the engines alone; `gate` adds [`gate!`] and the executable [`barriers`], `export` the
//! models for other model checkers, and `cli`, on by default, the command line `barcheck`.

#[cfg(feature = "export")]
pub use barcheck_export as export;
#[cfg(feature = "gate")]
pub use barcheck_gate::{self as gate, barriers, gate};

pub use barcheck_engine::{
    Budgets, Control, Engine, Found, Inconclusive, Levels, Method, Note, Outcome, Progress, Quiet,
    ReachedFault, Reduction, Settings, Statistics, Verdict, check,
};
