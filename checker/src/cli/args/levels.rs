//! The levels of rules, and readings of a specification, as the user can type them.

use crate::cli::values::named;
use barcheck_model::machine::ExitedThreads;
use barcheck_model::rule::{Level, Rule};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgMatches, Args};

/// The options that change the level of rules.
#[derive(Debug, Args)]
pub(crate) struct LevelArgs {
    /// Make a rule an error (may be repeated, RULEs may be joined by commas)
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rule_parser(), hide_possible_values = true)]
    deny: Vec<Rule>,
    /// Make a rule a warning
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rule_parser(), hide_possible_values = true)]
    warn: Vec<Rule>,
    /// Do not report a rule; of several options for one rule the last counts
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rule_parser(), hide_possible_values = true)]
    allow: Vec<Rule>,
    /// Make the pedantic rules warnings, except those named above
    #[arg(long)]
    pub(crate) strict: bool,
}

/// The changes of levels in the order in which they stand on the command line, of which the last for a rule
/// counts.
pub(crate) fn level_changes(levels: &LevelArgs, verify: &ArgMatches) -> Vec<(Rule, Level)> {
    let of = |name: &str, rules: &[Rule], level: Level| {
        let indices = verify.indices_of(name).into_iter().flatten();
        indices.zip(rules.to_vec()).map(move |(index, rule)| (index, rule, level)).collect::<Vec<_>>()
    };
    let mut changes = of("deny", &levels.deny, Level::Error);
    changes.extend(of("warn", &levels.warn, Level::Warning));
    changes.extend(of("allow", &levels.allow, Level::Allow));
    changes.sort_by_key(|(index, ..)| *index);
    changes.into_iter().map(|(_, rule, level)| (rule, level)).collect()
}

pub(crate) fn rule_parser() -> impl TypedValueParser<Value = Rule> {
    PossibleValuesParser::new(Rule::ALL.iter().map(|rule| PossibleValue::new(rule.name())))
        .try_map(|typed| Rule::from_name(&typed).ok_or("unknown rule"))
}

pub(crate) fn exited_threads_parser() -> impl TypedValueParser<Value = ExitedThreads> {
    named(&[(ExitedThreads::Hold, "hold"), (ExitedThreads::Release, "release")])
}
