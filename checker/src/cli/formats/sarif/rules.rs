//! The rules and the kinds of notifications, as SARIF describes them.

use super::log::{Configuration, Kind, Message, Rule, RuleProperties};
use crate::cli::notices::{REMARK, UNEXPECTED};
use crate::cli::output::Look;
use crate::cli::{explain, rules};
use barcheck::{Lint, Trouble};
use barcheck_model::program::Target;
use barcheck_model::rule::{self, Level};
use barcheck_specs::clauses;

/// All rules, then all lints.
pub(super) fn rules() -> Vec<Rule> {
    let lints = Lint::ALL.into_iter().map(describe_lint);
    rule::Rule::ALL.iter().map(|rule| describe(*rule)).chain(lints).collect()
}

/// The index of a lint.
pub(super) fn index_of_lint(lint: Lint) -> usize {
    rule::Rule::ALL.len() + Lint::ALL.iter().position(|known| *known == lint).unwrap_or_default()
}

/// The index of a rule.
pub(super) fn index(rule: rule::Rule) -> usize {
    rule::Rule::ALL.iter().position(|known| *known == rule).unwrap_or_default()
}

fn describe(rule: rule::Rule) -> Rule {
    let meaning = clauses::catalogue().rule(rule.name()).map_or("", |known| known.meaning.as_str());
    let targets = || Target::ALL.into_iter().filter(|target| rule.holds_for(*target));
    let gravest = targets().map(|target| rule.default_level(target)).max().unwrap_or(Level::Allow);
    let help =
        Message { text: explain::text(rule, Look::file().palette), markdown: Some(explain::markdown(rule)) };
    Rule {
        id: rule.name(),
        short_description: rules::first_sentence(meaning).into(),
        full_description: meaning.into(),
        help,
        // A pedantic rule is silent unless asked for, and a warning then.
        default_configuration: Configuration {
            enabled: gravest > Level::Pedantic,
            level: level(gravest.max(Level::Warning)),
        },
        properties: RuleProperties {
            tags: targets().map(Target::name).collect(),
            precision: "very-high",
            severity: match gravest {
                Level::Error => "error",
                Level::Warning => "warning",
                Level::Pedantic | Level::Allow => "recommendation",
            },
        },
    }
}

fn describe_lint(lint: Lint) -> Rule {
    let text = explain::lint_text(lint, Look::file().palette);
    Rule {
        id: lint.name(),
        short_description: rules::first_sentence(lint.meaning()).into(),
        full_description: lint.meaning().into(),
        help: Message { text, markdown: Some(explain::lint_markdown(lint)) },
        default_configuration: Configuration { enabled: true, level: level(lint.default_level()) },
        properties: RuleProperties {
            tags: Target::ALL.into_iter().map(Target::name).collect(),
            precision: "very-high",
            severity: "warning",
        },
    }
}

/// A level by the name that SARIF has for it.
pub(super) fn level(level: Level) -> &'static str {
    match level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Pedantic | Level::Allow => "note",
    }
}

/// The kinds of notifications.
pub(super) fn notifications() -> Vec<Kind> {
    let troubles = Trouble::ALL.map(|trouble| (trouble.name(), trouble.meaning()));
    let remark = (REMARK, "Something about the text that keeps nothing from being decided.");
    let unexpected = (UNEXPECTED, "The file does not come to what its head says.");
    let kind = |(id, meaning): (&'static str, &str)| Kind { id, short_description: meaning.into() };
    troubles.into_iter().chain([remark, unexpected]).map(kind).collect()
}
