//! What a run of a kernel rests on that need not be so: data that is not known, and decisions that may
//! exclude one another.

use crate::decision::Related;
use barcheck_counterexamples::Trace;
use barcheck_counterexamples::trace::Step;
use barcheck_model::program::Program;
use barcheck_specs::Extracted;
use std::collections::{BTreeMap, BTreeSet};

/// The branches that a run takes although nobody knows whether the data is so: lines of the kernel, with the
/// agents that take them.
#[must_use]
pub fn private(extracted: &Extracted, trace: &Trace) -> BTreeSet<(u32, u32)> {
    let is_private = |line: u32, column: u32| {
        extracted.private.iter().any(|place| (place.line, place.column) == (line, column))
    };
    let steps = trace.steps.iter();
    let taken = steps.filter(|step| is_private(step.location.line, step.location.column));
    taken.map(|step| (step.location.line, step.agent)).collect()
}

/// The decision that all agents share which a step makes, by the name that it has in the protocol.
pub(crate) fn decision(step: &Step) -> Option<&str> {
    let name = step.resolved.strip_prefix("uniform ")?;
    Some(name.split_once(" ? = ")?.0)
}

/// The named decisions of the whole group that a run makes, each with its outcome, once, in order.
#[must_use]
pub fn decisions(trace: &Trace) -> Vec<(String, bool)> {
    let mut made: Vec<(String, bool)> = Vec::new();
    for step in &trace.steps {
        let decision = decision(step).map(|name| (name.to_owned(), step.choice.pick != 0));
        made.extend(decision.filter(|decision| !made.contains(decision)));
    }
    made
}

/// The outcomes of decisions of the whole group with which a run comes about, in the order in which they are
/// asked: of those that are made again and again the last, and how often it was yes before.
pub(crate) fn outcomes(extracted: &Extracted, trace: &Trace) -> Vec<Related> {
    let mut made: Vec<(&str, Related)> = Vec::new();
    let mut yes: BTreeMap<(&str, u32), usize> = BTreeMap::new();
    for step in &trace.steps {
        let Some((name, words)) = decision(step).and_then(|name| extracted.words.get_key_value(name)) else {
            continue;
        };
        let (agent, line, column) = (step.agent, step.location.line, step.location.column);
        let holds = step.choice.pick != 0;
        let so_far = yes.entry((name.as_str(), agent)).or_default();
        let role = match *so_far {
            1 if !holds => format!("finds `{words}` true once, then false"),
            2.. if !holds => format!("finds `{words}` true {so_far} times, then false"),
            _ => format!("finds `{words}` {holds}"),
        };
        *so_far += usize::from(holds);
        let outcome = Related { agent, line, column, role };
        match made.iter_mut().find(|(known, _)| known == name) {
            // Whoever asks for an answer gets the same, and the last to ask may not have come so far.
            Some((_, known)) if known.role == outcome.role || known.role.ends_with("then false") => {}
            Some((_, known)) => *known = outcome,
            None => made.push((name.as_str(), outcome)),
        }
    }
    made.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Why a run may be none, in a sentence without a full stop; nothing if it is one for certain.
#[must_use]
pub fn doubt(program: &Program, extracted: &Extracted, trace: &Trace) -> Option<String> {
    if let Some((line, agent)) = private(extracted, trace).first() {
        let who = program.agent_name(barcheck_model::program::AgentId(*agent));
        return Some(format!("it rests on data that is not known, which decides for {who} at line {line}"));
    }
    let made = decisions(trace);
    let excluding = extracted.excluding(made.iter().map(|(name, _)| name.as_str()));
    Some(format!("it comes along with outcomes of {}", excluding.first()?.shown()))
}
