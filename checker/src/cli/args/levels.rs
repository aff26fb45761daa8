//! The levels of rules, and readings of a specification, as the user can type them.

use crate::cli::values::named;
use barcheck::{Check, Levels, Lint};
use barcheck_model::machine::ExitedThreads;
use barcheck_model::program::Target;
use barcheck_model::rule::{Level, Rule};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgMatches, Args};

/// The options that change the level of rules and lints.
#[derive(Debug, Args)]
pub(crate) struct LevelArgs {
    /// Make a rule or lint an error (may be repeated, RULEs may be joined by commas); `warnings` are all that
    /// would be warnings, `all` the pedantic ones too, except those that are named; `data-dependent` is what
    /// rests on unknown data of a kernel
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = denied_parser(), hide_possible_values = true)]
    deny: Vec<Denied>,
    /// Make a rule or lint a warning
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = check_parser(), hide_possible_values = true)]
    warn: Vec<Check>,
    /// Do not report a rule or lint; of several options for one the last counts
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = check_parser(), hide_possible_values = true)]
    allow: Vec<Check>,
    /// Make the pedantic rules warnings, except those named above
    #[arg(long)]
    pub(crate) strict: bool,
}

/// What is to be an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Denied {
    Check(Check),
    /// Violations that rest on data.
    DataDependent,
    /// All rules of this level and above.
    From(Level),
}

/// The changes of levels in the order in which they stand on the command line, of which the last for a rule
/// or lint counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// Of rules.
    pub(crate) rules: Vec<(Rule, Level)>,
    /// Of lints.
    pub(crate) lints: Vec<(Lint, Level)>,
}

impl LevelArgs {
    /// Whether violations that rest on data are errors.
    pub(crate) fn denies_data_dependent(&self) -> bool {
        self.deny.contains(&Denied::DataDependent)
    }

    /// The levels of rules in force, with changes of [`level_changes`].
    pub(crate) fn levels(&self, changes: Vec<(Rule, Level)>) -> Levels {
        let from = |denied: &Denied| match denied {
            Denied::From(level) => Some(*level),
            Denied::Check(_) | Denied::DataDependent => None,
        };
        Levels { changes, strict: self.strict, deny: self.deny.iter().filter_map(from).min() }
    }
}

/// The changes of levels that the command line asks for.
pub(crate) fn level_changes(levels: &LevelArgs, verify: &ArgMatches) -> Changes {
    let check = |denied: &Denied| match denied {
        Denied::Check(check) => Some(*check),
        Denied::From(_) | Denied::DataDependent => None,
    };
    let named = |checks: &[Check]| checks.iter().copied().map(Some).collect();
    let of = |name: &str, checks: Vec<Option<Check>>, level: Level| {
        let indices = verify.indices_of(name).into_iter().flatten();
        indices.zip(checks).filter_map(move |(index, check)| Some((index, check?, level))).collect::<Vec<_>>()
    };
    let mut all = of("deny", levels.deny.iter().map(check).collect(), Level::Error);
    all.extend(of("warn", named(&levels.warn), Level::Warning));
    all.extend(of("allow", named(&levels.allow), Level::Allow));
    all.sort_by_key(|(index, ..)| *index);
    let mut changes = Changes::default();
    for (_, check, level) in all {
        match check {
            Check::Rule(rule) => changes.rules.push((rule, level)),
            Check::Lint(lint) => changes.lints.push((lint, level)),
        }
    }
    changes
}

fn denied_parser() -> impl TypedValueParser<Value = Denied> {
    let checks = Check::all().map(Check::name);
    PossibleValuesParser::new(checks.chain(["warnings", "all", "data-dependent"]).map(PossibleValue::new))
        .try_map(|typed| match typed.as_str() {
            "warnings" => Ok(Denied::From(Level::Warning)),
            "all" => Ok(Denied::From(Level::Pedantic)),
            "data-dependent" => Ok(Denied::DataDependent),
            check => Check::from_name(check).map(Denied::Check).ok_or("unknown rule"),
        })
}

pub(crate) fn check_parser() -> impl TypedValueParser<Value = Check> {
    PossibleValuesParser::new(Check::all().map(|check| PossibleValue::new(check.name())))
        .try_map(|typed| Check::from_name(&typed).ok_or("unknown rule"))
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
        .try_map(|typed| Target::from_name(&typed).ok_or("unknown target"))
}
