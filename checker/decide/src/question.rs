//! What is asked of a protocol.

use barcheck_engine::Settings;
use barcheck_model::machine;
use barcheck_specs::LoadOptions;

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Of the engines: levels, budgets, reductions.
    pub settings: Settings,
    /// Of the model: readings of a specification that the user chooses.
    pub readings: machine::Options,
    /// Of the reader: values for the protocol's params, and what a kernel is launched with.
    pub load: LoadOptions,
    /// A violation that rests on unknown data of a kernel is an error, instead of a warning.
    pub deny_data_dependent: bool,
}
