//! What the user can type for protocols that come with the program.

use super::levels::{rule_parser, target_parser};
use barcheck_model::program::Target;
use barcheck_model::rule::Rule;
use barcheck_specs::library;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// `barcheck new`.
#[derive(Debug, Args)]
#[command(after_help = NEW_EXAMPLES)]
pub(crate) struct NewArgs {
    /// What the kernel resembles
    #[arg(value_name = "KIND", value_parser = kind_parser(), hide_possible_values = true)]
    pub(crate) kind: String,
    /// For which target [default: the first that has this KIND]
    #[arg(long, value_name = "TARGET", value_parser = target_parser())]
    pub(crate) target: Option<Target>,
    /// Write it to PATH instead of KIND.bar; `-` is standard output. What is there already is never
    /// overwritten
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

const NEW_EXAMPLES: &str = "\
Kinds:
  tiles      a loop over tiles in shared memory: all load, meet, use, meet
  ring       producers fill a ring of stages, consumers empty it
  tma        a ring of stages that copies fill, with mbarrier objects
  pingpong   two groups take turns
  splitk     partial sums, added up by one

Examples:
  barcheck new ring                            writes ring.bar
  barcheck new splitk --target xegpu -o gemm.bar
  barcheck new tiles -o - | barcheck verify -

What is written is verified as it stands, with its sizes as `param`s.

Exit status: 0 it is written, 2 there is no such KIND for the TARGET, PATH is there already or cannot be written.";

/// `barcheck examples`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES_EXAMPLES)]
pub(crate) struct ExamplesArgs {
    /// The protocol to print, as the list names it; without, they are listed
    #[arg(value_name = "NAME", conflicts_with_all = ["target", "rule"])]
    pub(crate) name: Option<String>,
    /// List only those for one target
    #[arg(long, value_name = "TARGET", value_parser = target_parser())]
    pub(crate) target: Option<Target>,
    /// List only those that violate a rule
    #[arg(long, value_name = "RULE", value_parser = rule_parser(), hide_possible_values = true)]
    pub(crate) rule: Option<Rule>,
}

const EXAMPLES_EXAMPLES: &str = "\
Examples:
  barcheck examples                            all, with what each comes to
  barcheck examples --rule arrival-race        those that violate a rule
  barcheck examples ptx/ring > ring.bar        one of them

Exit status: 0 it is listed or printed, 2 there is no such NAME.";

/// The kinds that there are, whatever the target.
fn kind_parser() -> PossibleValuesParser {
    let kinds: BTreeSet<&str> = library::templates().map(|template| template.parts().0).collect();
    PossibleValuesParser::new(kinds.into_iter().map(PossibleValue::new))
}
