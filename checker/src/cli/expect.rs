//! `barcheck verify --expect`: whether protocols come to what their heads say.

use super::watch;
use barcheck::{Decision, Levels, Options, Trouble, Verdict};
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::head::{Expect, Head};
use std::collections::BTreeSet;

/// How what a protocol came to compares with what its head says.
#[derive(Clone, Debug)]
pub(crate) struct Expectation {
    /// The verdict and the rules of the head; nothing where there is no head that can be read.
    pub(crate) said: Option<(Expect, BTreeSet<Rule>)>,
    /// How the two differ, in a sentence without a full stop; nothing if they do not.
    pub(crate) difference: Option<String>,
}

impl Expectation {
    /// Of a protocol that was not decided, for this reason.
    pub(crate) fn missed(why: impl Into<String>) -> Self {
        Self { said: None, difference: Some(why.into()) }
    }

    /// Whether the protocol came to what was expected.
    pub(crate) fn is_met(&self) -> bool {
        self.difference.is_none()
    }
}

/// The options under which a protocol with this head is decided: everything that is violated counts, and the
/// head may name pedantic rules, too.
pub(crate) fn options(given: &Options, head: Option<&Head>) -> Options {
    let mut options = given.clone();
    options.settings.all = true;
    options.settings.levels = Levels { changes: Vec::new(), strict: true, deny: None };
    if let Some(head) = head {
        options.settings.levels.changes.clone_from(&head.changes);
        options.readings = head.readings;
        for (name, value) in &head.defines {
            options.load.defines.entry(name.clone()).or_insert(*value);
        }
    }
    options
}

/// Compares what a protocol came to under [`options`] with its head. Pedantic rules that the head does not
/// name are left out of what was found.
pub(crate) fn compare(decision: &mut Decision, head: Option<&Head>) -> Expectation {
    let named = |rule: Rule| {
        head.is_some_and(|head| {
            head.rules.contains(&rule) || head.changes.iter().any(|(changed, _)| *changed == rule)
        })
    };
    if let Some(target) = decision.target {
        decision
            .findings
            .retain(|found| found.rule.default_level(target) != Level::Pedantic || named(found.rule));
    }
    let found = rules(decision);
    let reason = decision.reason.as_ref().map(|reason| format!(": {}", reason.line())).unwrap_or_default();
    let came_to = format!("{}{reason}", words(decision.verdict.name(), &found));
    let Some(head) = head else { return Expectation::missed(without_head(decision, &came_to)) };
    let expected = words(head.expect.name(), &head.rules);
    // Who asks to end gets no answer, whatever was expected.
    let ended = decision.verdict == Verdict::Inconclusive && watch::interrupted();
    let as_said = !ended
        && is_a_verdict(decision)
        && decision.verdict.name() == head.expect.name()
        && found == head.rules;
    let difference = (!as_said).then(|| format!("expected {expected}, found {came_to}"));
    Expectation { said: Some((head.expect, head.rules.clone())), difference }
}

/// What a protocol came to, or should, in words.
pub(crate) fn words(verdict: &str, rules: &BTreeSet<Rule>) -> String {
    let names: Vec<_> = rules.iter().map(|rule| rule.name()).collect();
    let preposition = if verdict == Expect::Violated.name() { "by" } else { "with" };
    match names.as_slice() {
        [] => verdict.to_owned(),
        names => format!("{verdict} {preposition} {}", names.join(", ")),
    }
}

/// The rules found to be violated.
pub(crate) fn rules(decision: &Decision) -> BTreeSet<Rule> {
    decision.findings.iter().map(|found| found.rule).collect()
}

/// What there is to say of a protocol without a head: what to write.
fn without_head(decision: &Decision, came_to: &str) -> String {
    let why = match barcheck_specs::head::misplaced(&decision.text) {
        Some(line) => format!("line {line} is no head: a head stands before the first statement"),
        None => "no head says what is expected".to_owned(),
    };
    if !is_a_verdict(decision) {
        return format!("{why}; found {came_to}");
    }
    let names: Vec<_> = rules(decision).into_iter().map(Rule::name).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    let verdict = decision.verdict.name();
    format!(
        "{why}; found {came_to}. If that is what it should come to, begin the file with the lines \
         `// expect: {verdict}` and `// rules: {names}`"
    )
}

/// Whether what a protocol came to is about the protocol, and not about files or a defect.
fn is_a_verdict(decision: &Decision) -> bool {
    !matches!(decision.trouble(), Some(Trouble::Unreadable | Trouble::Internal))
}
