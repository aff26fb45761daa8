//! The clause catalogue: what the specifications say, clause by clause, and the rules that rest on them.
//!
//! The files under `specs/clauses` are part of the program text. Their form is checked by this module's
//! tests.
//!
//! ```
//! use barcheck_model::program::Target;
//! use barcheck_specs::clauses::catalogue;
//!
//! let rule = catalogue().rule("mixed-red").expect("the rule exists");
//! let clause = catalogue().clause_of(rule, Target::Ptx).expect("it holds for ptx");
//! assert_eq!(clause.target, Some(Target::Ptx));
//! ```

mod content;
mod read;

use std::sync::LazyLock;

use barcheck_model::program::Target;

use crate::bar::system;
pub use content::{Catalogue, Clause, ClauseKind, Level, Rule};
use read::read;

/// The catalogue of this version of the program.
#[must_use]
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
        read(&clause_files(), RULES).expect("the embedded catalogue is well formed, as tests ensure")
    });
    &CATALOGUE
}

/// The clause files with the target that each is about.
fn clause_files() -> Vec<(Option<Target>, &'static str)> {
    let specified = Target::ALL.into_iter().map(|target| (Some(target), system::clauses(target)));
    specified.chain([(None, include_str!("../../clauses/barcheck.toml"))]).collect()
}

const RULES: &str = include_str!("../../clauses/rules.toml");
