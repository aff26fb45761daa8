//! What is to be decided, and what is asked of it.

use barcheck_engine::Settings;
use barcheck_model::machine;
use barcheck_specs::bar::LoadOptions;

/// What is to be decided.
#[derive(Clone, Copy, Debug)]
pub struct Source<'s> {
    /// What it is called: a path, or `-` for standard input. Nothing is read from there.
    pub name: &'s str,
    /// What it holds.
    pub bytes: &'s [u8],
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Of the engines: levels, budgets, reductions.
    pub settings: Settings,
    /// Of the model: readings of a specification that the user chooses.
    pub readings: machine::Options,
    /// Of the reader: values for the protocol's params.
    pub load: LoadOptions,
}
