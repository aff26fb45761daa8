//! What the user can type for models in other languages.

use super::levels::{LevelArgs, exited_threads_parser};
use super::time::TimeArgs;
use crate::cli::values::{self, Define, named};
use barcheck::export::Language;
use barcheck_model::machine::ExitedThreads;
use clap::Args;
use clap::builder::TypedValueParser;
use std::path::PathBuf;

/// `barcheck export`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArgs {
    /// The protocol (`.bar`); `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The language
    #[arg(long, value_name = "LANGUAGE", value_parser = language_parser())]
    pub(crate) to: Language,
    /// Set a `param` of the protocol; VALUE is decimal or 0x hexadecimal, may be negative
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = values::define)]
    pub(crate) define: Vec<Define>,
    /// PTX barriers with a thread count when warps exit: wait for the count, or release those who wait once
    /// every other warp has exited
    #[arg(long, value_name = "READING", default_value = "hold", value_parser = exited_threads_parser())]
    pub(crate) exited_threads: ExitedThreads,
    /// Write it to PATH instead of standard output; TLC's configuration goes beside it, to a file with the
    /// ending .cfg
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
    #[command(flatten, next_help_heading = "Levels of rules: errors are asserted")]
    pub(crate) levels: LevelArgs,
}

const EXPORT_EXAMPLES: &str = "\
Languages:
  promela   for SPIN
  tla       for TLC, the model checker of TLA+

Examples:
  barcheck export --to promela ring.bar -o ring.pml
  spin -a ring.pml && cc -O2 -w -DSAFETY -DNOREDUCE -o pan pan.c && ./pan -m1000000
  barcheck export --to tla ring.bar -o ring.tla
  java -Xss64m -cp tla2tools.jar tlc2.TLC ring.tla

The model's first lines say how to run it and what it asserts. What an agent does by itself is unfolded;
what barriers and memory do is written anew in the other language, and shares nothing with what `verify` searches.

Exit status: 0 it is exported, 2 the FILE cannot be read or exported, or PATH not be written, 3 time was up.";

fn language_parser() -> impl TypedValueParser<Value = Language> {
    named(&[(Language::Promela, "promela"), (Language::Tla, "tla")])
}
