//! Counterexamples as pages.

use super::sources;
use barcheck_counterexamples::{self as counterexamples, ClauseNote, Notes, RuleNote, Trace};
use barcheck_model::program::Target;
use barcheck_model::rule::Rule;
use barcheck_specs::clauses;
use std::collections::BTreeMap;

/// A trace as a page; `departure` says where it does not do what it says. The error is a message.
pub(crate) fn page(trace: &Trace, departure: Option<String>) -> Result<String, String> {
    counterexamples::page(trace, &notes(trace, departure)).map_err(|error| error.to_string())
}

/// What there is to know beside a trace.
pub(crate) fn notes(trace: &Trace, departure: Option<String>) -> Notes {
    let rule = trace.outcome.rule.as_deref().and_then(|rule| note(rule, trace));
    let compiled_from = sources::compiled_from(trace);
    Notes { rule, departure, compiled_from, meanings: meanings(&trace.protocol.target) }
}

/// What a violation of each rule of a target is.
fn meanings(target: &str) -> BTreeMap<String, String> {
    let Some(target) = Target::from_name(target) else { return BTreeMap::new() };
    let known = |rule: &&Rule| rule.holds_for(target);
    let meaning =
        |rule: &Rule| Some((rule.name().to_owned(), clauses::catalogue().rule(rule.name())?.meaning.clone()));
    Rule::ALL.iter().filter(known).filter_map(meaning).collect()
}

/// What there is to know of the rule that a trace violates.
fn note(rule: &str, trace: &Trace) -> Option<RuleNote> {
    let catalogue = clauses::catalogue();
    let known = catalogue.rule(rule)?;
    let target = Target::from_name(&trace.protocol.target)?;
    let own = counterexamples::clause(trace).and_then(|id| catalogue.clause(id));
    let first = own.or_else(|| catalogue.clause_of(known, target));
    let others = catalogue.clauses_of(rule, target).filter(|c| first.is_none_or(|first| first.id != c.id));
    let clause = |clause: &clauses::Clause| ClauseNote {
        id: clause.id.clone(),
        document: clause.document.clone(),
        section: clause.section.clone(),
        says: clause.says.clone(),
    };
    Some(RuleNote {
        meaning: known.meaning.clone(),
        why: known.why.clone(),
        fix: known.fix.clone(),
        clauses: first.into_iter().chain(others).map(clause).collect(),
    })
}
