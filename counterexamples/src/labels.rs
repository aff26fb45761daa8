//! The places that matter beside the first, one label for each.

use serde::Serialize;

use crate::names;
use crate::trace::{Related, Trace};

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

/// The related places of a trace's outcome. Of agents that did the same at one place, one label speaks for all:
/// `warps 0-2 arrived here`.
#[must_use]
pub fn labels(trace: &Trace) -> Vec<PlaceLabel> {
    let noun = names::noun(trace);
    let mut groups: Vec<(&Related, &str, Vec<u32>)> = Vec::new();
    for related in &trace.outcome.related {
        let did = did(noun, related);
        let same = groups.iter_mut().find(|(first, what, agents)| {
            (first.line, first.column, *what) == (related.line, related.column, did)
                && agents.is_empty() == (did == related.role)
        });
        match same {
            Some((_, _, agents)) if did != related.role => agents.push(related.agent),
            Some(_) => {}
            None => {
                let agents = if did == related.role { Vec::new() } else { vec![related.agent] };
                groups.push((related, did, agents));
            }
        }
    }
    let label = |(first, did, agents): (&Related, &str, Vec<u32>)| {
        let agents = names::distinct(agents);
        let text = match agents.as_slice() {
            [] | [_] => first.role.clone(),
            several => format!("{} {}", names::agents(noun, several), plural(did)),
        };
        PlaceLabel { line: first.line, column: first.column, text }
    };
    groups.into_iter().map(label).collect()
}

/// What the agent did, if the role begins with its name; else the whole role.
fn did<'r>(noun: &str, related: &'r Related) -> &'r str {
    let name = format!("{noun} {} ", related.agent);
    related.role.strip_prefix(name.as_str()).unwrap_or(&related.role)
}

/// What several did, from what one did.
fn plural(did: &str) -> String {
    let verbs = [("is ", "are "), ("runs ", "run "), ("waits ", "wait "), ("was ", "were ")];
    let found =
        verbs.iter().find_map(|(one, many)| did.strip_prefix(one).map(|rest| format!("{many}{rest}")));
    found.unwrap_or_else(|| did.to_owned()).replace("before it waited", "before they waited")
}
