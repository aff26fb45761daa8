//! A model checker for GPU barrier protocols.
//!
//! [`check`] decides a protocol: it explores every interleaving of its agents and says whether some
//! path violates a rule.

pub mod barriers;
mod engine;
pub mod export;
pub mod gate;
mod settings;
mod verdict;

pub use engine::check;
pub use settings::{Budgets, Control, Levels, Note, Progress, Quiet, Reduction, Settings};
pub use verdict::{Engine, Found, Inconclusive, Method, Outcome, ReachedFault, Statistics, Verdict};
