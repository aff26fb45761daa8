//! What the threads of an execution share.

use super::choices::Choices;
use super::protocol::Protocol;
use super::record::Record;
use barcheck_model::Patience;
use barcheck_model::agent::facts::Facts;
use barcheck_model::machine::Options;
use barcheck_model::program::Program;
use std::sync::Arc;

/// What is run.
pub(super) struct Plan {
    pub(super) program: Arc<Program>,
    pub(super) options: Options,
    pub(super) facts: Vec<Facts>,
    /// Explorers are ended from outside.
    pub(super) patience: Patience,
    pub(super) record: Arc<Record>,
    pub(super) choices: Arc<dyn Choices>,
    pub(super) most_steps: u32,
    /// Whoever makes more steps than `most_steps` ends the exploration, and not only the execution.
    pub(super) must_end: bool,
}

impl Plan {
    pub(super) fn new(
        protocol: &Protocol,
        record: Arc<Record>,
        choices: Arc<dyn Choices>,
        most_steps: u32,
    ) -> Self {
        Self {
            program: Arc::clone(&protocol.program),
            options: protocol.options,
            facts: Facts::of(&protocol.program),
            patience: Patience::default(),
            record,
            choices,
            most_steps,
            must_end: false,
        }
    }

    /// An agent that makes too many steps ends the whole exploration.
    pub(super) fn all_must_end(mut self) -> Self {
        self.must_end = true;
        self
    }
}
