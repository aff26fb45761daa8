//! What the user can type for commands that do not search.

use crate::cli::values;
use clap::Args;
use std::time::Duration;

/// When to give up.
#[derive(Debug, Args)]
pub(crate) struct TimeArgs {
    /// Give up on each file after this time; fractions are allowed
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    pub(crate) timeout: Option<Duration>,
}
