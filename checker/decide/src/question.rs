//! What is asked of a protocol.

use barcheck_engine::Settings;
use barcheck_model::machine;
use barcheck_model::rule::Level;
use barcheck_specs::{Lint, LoadOptions};

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Of the engines: levels, budgets, reductions.
    pub settings: Settings,
    /// Of the model: readings of a specification that the user chooses.
    pub readings: machine::Options,
    /// Of the reader: values for the protocol's params, and what a kernel is launched with.
    pub load: LoadOptions,
    /// How grave lints are: changes, the last one for a lint counts. What denies all rules of a level denies
    /// lints as well.
    pub lints: Vec<(Lint, Level)>,
    /// To say who can execute what, as far as that can be worked out.
    pub coverage: bool,
    /// A violation that rests on unknown data of a kernel is an error, instead of a warning.
    pub deny_data_dependent: bool,
    /// A kernel is verified only where all its accesses to shared memory are followed.
    pub require_memory: bool,
}

impl Options {
    /// The level of a lint that is in force.
    #[must_use]
    pub fn level_of(&self, lint: Lint) -> Level {
        let change = self.lints.iter().rev().find(|(named, _)| *named == lint);
        change.map_or_else(|| self.settings.levels.raised(lint.default_level()), |(_, level)| *level)
    }
}
