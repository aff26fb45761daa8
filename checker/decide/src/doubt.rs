//! What a run of a kernel rests on that need not be so: data that is not known, and decisions that may
//! exclude one another.

use crate::decision::Related;
use barcheck_counterexamples::Trace;
use barcheck_counterexamples::trace::{Event, Step};
use barcheck_model::program::{Place, Program};
use barcheck_specs::Extracted;
use std::collections::{BTreeMap, BTreeSet};

/// The branches that a run takes although nobody knows whether the data is so: lines of the kernel, with the
/// agents that take them.
#[must_use]
pub fn private(extracted: &Extracted, trace: &Trace) -> BTreeSet<(u32, u32)> {
    let addresses = extracted.memory.as_ref().map_or(&[][..], |memory| &memory.others);
    let taken = taken((&extracted.private, addresses), trace);
    taken.into_iter().map(|step| (step.location.line, step.agent)).collect()
}

/// The steps of a run that make such a choice. That an access at an address that is not known comes to bytes
/// that others access matters only where it is one of the two that race.
pub(crate) fn taken<'t>((private, addresses): (&[Place], &[Place]), trace: &'t Trace) -> Vec<&'t Step> {
    let labels = barcheck_counterexamples::labels(trace);
    let is_access = |step: &Step| step.events.iter().any(|event| matches!(event, Event::Accessed { .. }));
    let last = trace.steps.last().map(|step| &step.location);
    let races = |line, column| {
        labels.iter().any(|label| (label.line, label.column) == (line, column))
            || last.is_some_and(|last| (last.line, last.column) == (line, column))
    };
    let is_among = |places: &[Place], line, column| {
        places.iter().any(|place| (place.line, place.column) == (line, column))
    };
    let matters = |step: &&Step| {
        let (line, column) = (step.location.line, step.location.column);
        // What is accessed behind a choice has its place.
        let is_address = is_among(addresses, line, column);
        !is_access(step)
            && is_among(private, line, column)
            && (!is_address || step.choice.pick != 0 && races(line, column))
    };
    trace.steps.iter().filter(matters).collect()
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
