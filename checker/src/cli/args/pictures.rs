//! What the user can type for counterexamples in other formats, and for graphs.

use super::time::TimeArgs;
use crate::cli::values::{self, Define, named};
use barcheck_counterexamples::{Format, GraphView};
use clap::Args;
use clap::builder::TypedValueParser;
use std::path::PathBuf;

/// `barcheck convert`.
#[derive(Debug, Args)]
#[command(after_help = CONVERT_EXAMPLES)]
pub(crate) struct ConvertArgs {
    /// A counterexample, as written by `barcheck verify --trace`; `-` reads standard input
    #[arg(value_name = "TRACE")]
    pub(crate) trace: PathBuf,
    /// What to make of it
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    pub(crate) to: Format,
    /// Write it to PATH instead of standard output
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Convert a TRACE that departs from the model, too; what is made of it says so
    #[arg(long)]
    pub(crate) anyway: bool,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
}

const CONVERT_EXAMPLES: &str = "\
Formats:
  text      the narrative as `barcheck verify` prints it
  svg       a picture of the lanes, for papers and issues
  mermaid   a sequence diagram that GitHub and GitLab draw in a comment
  dot       who waits for whom in the end, for Graphviz
  perfetto  a trace for https://ui.perfetto.dev and chrome://tracing; time is logical
  itf       Apalache's Informal Trace Format (ADR 015), for tools around TLA+ and Quint

Examples:
  barcheck convert hang.json --to svg -o hang.svg
  barcheck convert hang.json --to dot | dot -Tpdf -o hang.pdf
  barcheck convert hang.json --to perfetto -o hang.perfetto.json
  generate-trace | barcheck convert - --to mermaid

Exit status, the first that applies: 1 the TRACE departs from the model, 2 it cannot be read or converted, or PATH cannot
be written, 3 time was up, 0 it is converted.";

/// `barcheck graph`.
#[derive(Debug, Args)]
#[command(after_help = GRAPH_EXAMPLES)]
pub(crate) struct GraphArgs {
    /// The protocol (`.bar`); `-` reads standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// What to draw: who arrives and waits on which barrier, who waits for whom to arrive, or what each kind
    /// of agent can do, step by step
    #[arg(long, value_name = "VIEW", default_value = "usage", value_parser = view_parser())]
    pub(crate) what: GraphView,
    /// Set a `param` of the protocol; VALUE is decimal or 0x hexadecimal, may be negative
    #[arg(short = 'D', value_name = "NAME=VALUE", value_parser = values::define)]
    pub(crate) define: Vec<Define>,
    /// Give up when an agent by itself can be in more than N states [default: 1000 for automata, otherwise
    /// 20000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_states: Option<u64>,
    /// Write it to PATH instead of standard output
    #[arg(long, short, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) time: TimeArgs,
}

const GRAPH_EXAMPLES: &str = "\
Examples:
  barcheck graph ring.bar | dot -Tsvg -o ring.svg
  barcheck graph --what waits ring.bar -o ring.dot
  barcheck graph --what automata -D ROUNDS=2 ring.bar | dot -Tpdf -o ring.pdf

The graph is in DOT, the language of Graphviz. Agents that behave alike are drawn once. `barcheck convert TRACE --to dot`
draws who waits for whom at the end of a counterexample.

Exit status: 0 it is drawn, 2 the FILE cannot be read or PATH not be written, 3 the states of an agent are too
many or cannot be listed, or time was up.";

fn format_parser() -> impl TypedValueParser<Value = Format> {
    named(&[
        (Format::Text, "text"),
        (Format::Svg, "svg"),
        (Format::Mermaid, "mermaid"),
        (Format::Dot, "dot"),
        (Format::Perfetto, "perfetto"),
        (Format::Itf, "itf"),
    ])
}

fn view_parser() -> impl TypedValueParser<Value = GraphView> {
    named(&[(GraphView::Usage, "usage"), (GraphView::Waits, "waits"), (GraphView::Automata, "automata")])
}
