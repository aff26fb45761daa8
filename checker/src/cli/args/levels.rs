//! The levels of rules, and readings of a specification, as the user can type them.

use crate::cli::values::named;
use barcheck::Levels;
use barcheck_model::machine::ExitedThreads;
use barcheck_model::program::Target;
use barcheck_model::rule::{Level, Rule};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgMatches, Args};

/// The options that change the level of rules.
#[derive(Debug, Args)]
pub(crate) struct LevelArgs {
    /// Make a rule an error (may be repeated, RULEs may be joined by commas); `warnings` are all that would
    /// be warnings, `all` the pedantic ones too, except those that are named; `data-dependent` is what rests
    /// on unknown data of a kernel
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = denied_parser(), hide_possible_values = true)]
    deny: Vec<Denied>,
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

/// What is to be an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Denied {
    Rule(Rule),
    /// Violations that rest on data.
    DataDependent,
    /// All rules of this level and above.
    From(Level),
}

impl LevelArgs {
    /// Whether violations that rest on data are errors.
    pub(crate) fn denies_data_dependent(&self) -> bool {
        self.deny.contains(&Denied::DataDependent)
    }

    /// The levels in force, with the changes of [`level_changes`].
    pub(crate) fn levels(&self, changes: Vec<(Rule, Level)>) -> Levels {
        let from = |denied: &Denied| match denied {
            Denied::From(level) => Some(*level),
            Denied::Rule(_) | Denied::DataDependent => None,
        };
        Levels { changes, strict: self.strict, deny: self.deny.iter().filter_map(from).min() }
    }
}

/// The changes of levels in the order in which they stand on the command line, of which the last for a rule
/// counts.
pub(crate) fn level_changes(levels: &LevelArgs, verify: &ArgMatches) -> Vec<(Rule, Level)> {
    let rule = |denied: &Denied| match denied {
        Denied::Rule(rule) => Some(*rule),
        Denied::From(_) | Denied::DataDependent => None,
    };
    let named = |rules: &[Rule]| rules.iter().copied().map(Some).collect();
    let of = |name: &str, rules: Vec<Option<Rule>>, level: Level| {
        let indices = verify.indices_of(name).into_iter().flatten();
        indices.zip(rules).filter_map(move |(index, rule)| Some((index, rule?, level))).collect::<Vec<_>>()
    };
    let mut changes = of("deny", levels.deny.iter().map(rule).collect(), Level::Error);
    changes.extend(of("warn", named(&levels.warn), Level::Warning));
    changes.extend(of("allow", named(&levels.allow), Level::Allow));
    changes.sort_by_key(|(index, ..)| *index);
    changes.into_iter().map(|(_, rule, level)| (rule, level)).collect()
}

fn denied_parser() -> impl TypedValueParser<Value = Denied> {
    let rules = Rule::ALL.iter().map(|rule| rule.name());
    PossibleValuesParser::new(rules.chain(["warnings", "all", "data-dependent"]).map(PossibleValue::new))
        .try_map(|typed| match typed.as_str() {
            "warnings" => Ok(Denied::From(Level::Warning)),
            "all" => Ok(Denied::From(Level::Pedantic)),
            "data-dependent" => Ok(Denied::DataDependent),
            rule => Rule::from_name(rule).map(Denied::Rule).ok_or("unknown rule"),
        })
}

pub(crate) fn rule_parser() -> impl TypedValueParser<Value = Rule> {
    PossibleValuesParser::new(Rule::ALL.iter().map(|rule| PossibleValue::new(rule.name())))
        .try_map(|typed| Rule::from_name(&typed).ok_or("unknown rule"))
}

pub(crate) fn exited_threads_parser() -> impl TypedValueParser<Value = ExitedThreads> {
    named(&[(ExitedThreads::Hold, "hold"), (ExitedThreads::Release, "release")])
}

pub(crate) fn target_parser() -> impl TypedValueParser<Value = Target> {
    PossibleValuesParser::new(Target::ALL.iter().map(|target| PossibleValue::new(target.name())))
        .try_map(|typed| Target::ALL.into_iter().find(|t| t.name() == typed).ok_or("unknown target"))
}
