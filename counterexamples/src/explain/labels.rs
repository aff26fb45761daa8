//! The places that matter beside the first, one label for each.

use std::collections::BTreeMap;

use serde::Serialize;

use super::place::{Did, Place, Remark};
use crate::names;
use crate::trace::Trace;

/// A place and what happened there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaceLabel {
    /// The line, counted from 1.
    pub line: u32,
    /// The column, in characters, counted from 1.
    pub column: u32,
    /// What happened there.
    pub text: String,
}

/// What a label says.
#[derive(PartialEq)]
enum Says<'t> {
    /// What one agent did, or several of which each did so by itself.
    Did(&'t Did),
    /// Anything else, in the trace's words.
    Told(&'t str),
}

/// The related places of a trace's outcome. Of agents that did the same at one place, one label speaks for
/// all: `warps 0-2 arrived here`.
///
/// What was done there is known where the trace says what its steps explain; a place for which it has other
/// words is shown in those.
#[must_use]
pub fn labels(trace: &Trace) -> Vec<PlaceLabel> {
    let noun = names::noun(trace);
    let places = super::places(trace);
    let known: BTreeMap<_, _> = places
        .iter()
        .map(|place| {
            let said = place.related(noun);
            ((said.agent, said.line, said.column, said.role), &place.remark)
        })
        .collect();
    let mut groups: Vec<((u32, u32), Says<'_>, Vec<u32>)> = Vec::new();
    for related in &trace.outcome.related {
        let key = (related.agent, related.line, related.column, related.role.clone());
        let (says, agent) = match known.get(&key) {
            Some(Remark::Did(agents, did)) if *agents == [related.agent] => {
                (Says::Did(did), Some(related.agent))
            }
            _ => (Says::Told(&related.role), None),
        };
        let place = (related.line, related.column);
        match groups.iter_mut().find(|(known, said, _)| (*known, said) == (place, &says)) {
            Some((_, _, agents)) => agents.extend(agent),
            None => groups.push((place, says, agent.into_iter().collect())),
        }
    }
    // The outcome's own place has no label of its own: where others did the same there, it is one of them.
    let outcome = &trace.outcome;
    for ((line, column), says, agents) in &mut groups {
        let own = (outcome.agent, *line, *column);
        let is_own = |place: &Place| {
            let said = place.related(noun);
            let did = matches!(&place.remark, Remark::Did(_, did) if *says == Says::Did(did));
            did && (said.agent, said.line, said.column) == own
        };
        if !agents.is_empty() && !agents.contains(&outcome.agent) && places.iter().any(is_own) {
            agents.push(outcome.agent);
        }
    }
    let label = |((line, column), says, agents): ((u32, u32), Says<'_>, Vec<u32>)| {
        let text = match says {
            Says::Did(did) => Remark::Did(names::distinct(agents), did.clone()).in_words(noun),
            Says::Told(text) => text.to_owned(),
        };
        PlaceLabel { line, column, text }
    };
    groups.into_iter().map(label).collect()
}
