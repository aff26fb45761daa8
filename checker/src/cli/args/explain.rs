//! What the user can type to have rules explained and listed.

use super::levels::target_parser;
use barcheck::Check;
use barcheck_model::program::Target;
use barcheck_specs::closest;
use barcheck_specs::kinds::KINDS;
use clap::{Args, ValueEnum};

/// `barcheck explain`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  barcheck explain mixed-red         a rule, as `barcheck rules` lists them\n  barcheck explain agents-missing    what `error[agents-missing]` means"
)]
pub(crate) struct ExplainArgs {
    /// A rule or lint, as `barcheck rules` lists it, or what stands in brackets behind `error`
    #[arg(value_name = "NAME", value_parser = explained)]
    pub(crate) name: String,
}

/// `barcheck rules` and `barcheck clauses`.
#[derive(Debug, Args)]
pub(crate) struct TableArgs {
    /// Only what concerns one target
    #[arg(long, value_name = "TARGET", value_parser = target_parser())]
    pub(crate) target: Option<Target>,
    /// A table for people, or one JSON array
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    pub(crate) format: Format,
}

/// What goes to standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for people
    Human,
    /// JSON for scripts
    Json,
}

/// The name of what can be explained: by itself, as it stands in a report, `error[deadlock]`, or with `_` for
/// `-`.
fn explained(text: &str) -> Result<String, String> {
    let name = text.trim().to_ascii_lowercase().replace('_', "-");
    let inside = name.split_once('[').and_then(|(_, rest)| rest.strip_suffix(']').or(Some(rest)));
    let name = inside.unwrap_or(&name);
    let known = || Check::all().map(Check::name).chain(KINDS.iter().map(|kind| kind.name));
    if known().any(|one| one == name) {
        return Ok(name.to_owned());
    }
    let meant = match name {
        "hang" | "stuck" | "lockup" => Some("deadlock"),
        "race" => Some("data-race"),
        _ => closest(name, known()),
    };
    let meant = meant.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
    Err(format!("{meant}`barcheck rules` lists the rules"))
}
