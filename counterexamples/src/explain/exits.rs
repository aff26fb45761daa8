//! Agents that exited while others wait: where they left their code, and how often they had come.

use std::collections::BTreeMap;

use super::blocks::Blocks;
use super::case::{Case, verb};
use super::place::{Did, Place, Remark};
use crate::trace::Location;

/// Steps of an agent that are looked at, the last ones.
const MOST: usize = 10_000;

/// That some exited, after so many arrivals on a barrier each.
pub(super) fn exit(case: &Case<'_>, who: &[u32], on: &str, before: usize) -> (String, Place) {
    let exit = who.first().and_then(|agent| case.exit(*agent)).map(|step| step.location);
    let left = left_at(case, who);
    let location = left.or(exit).unwrap_or_default();
    let names = case.agents(who);
    let exited = match left {
        Some(left) => format!("left {} loop{} and exited", verb(who, "its", "their"), case.at(left)),
        None => format!("exited{}", case.at(location)),
    };
    let each = if who.len() > 1 { " each" } else { "" };
    let says = match before {
        0 => format!("{names} {exited} without arriving on {on}"),
        1 => format!("{names} {exited} after 1 arrival on {on}{each}"),
        _ => format!("{names} {exited} after {before} arrivals on {on}{each}"),
    };
    let did = if left.is_some() { Did::LeftItsLoop } else { Did::Exited };
    let agent = who.first().copied().unwrap_or_default();
    (says, Place { agent, location, remark: Remark::Did(who.to_vec(), did) })
}

/// Where all of these agents left a loop in its midst, after which they exited.
fn left_at(case: &Case<'_>, who: &[u32]) -> Option<Location> {
    if case.trace.protocol.format != "bar" {
        return None;
    }
    let blocks = Blocks::of(&case.trace.protocol.source);
    let mut left = who.iter().map(|agent| {
        let exit = case.exit(*agent)?.index;
        let own = case.trace.steps.iter().filter(|step| step.agent == *agent && step.index < exit);
        let places: Vec<Location> = own.map(|step| step.location).collect();
        // Of the loops that it has gone through, the last one first.
        let mut seen = Vec::new();
        (0..places.len()).rev().take(MOST).find_map(|at| {
            let around = blocks.innermost_loop(&places[at..=at])?;
            if seen.contains(around) {
                return None;
            }
            seen.push(*around);
            blocks.left_at(places[at], &places[..at], came_less_often(case, *agent, places[at]))
        })
    });
    let first = left.next()??;
    left.all(|other| other == Some(first)).then_some(first)
}

/// Whether somebody who runs the same code has made a step more often.
fn came_less_often(case: &Case<'_>, agent: u32, place: Location) -> bool {
    let code = |agent: u32| case.trace.agents.get(agent as usize).map(|of| (&of.role, of.line));
    let mut times: BTreeMap<u32, usize> = BTreeMap::new();
    for step in case.trace.steps.iter().filter(|step| step.location == place) {
        *times.entry(step.agent).or_default() += 1;
    }
    let own = times.get(&agent).copied().unwrap_or_default();
    times.iter().any(|(other, times)| *times > own && code(*other) == code(agent))
}
