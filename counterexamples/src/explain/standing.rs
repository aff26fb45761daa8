//! Where agents are that were looked for, and what each of them waits for.

use super::blocked::{describe, waits};
use super::case::{Case, sentence, verb};
use super::waiters::waiters;
use super::words::Words;
use crate::trace::{Location, Status};

/// Agents that could go on from the same place.
struct Ready<'t> {
    location: Location,
    instruction: &'t str,
    agents: Vec<u32>,
}

pub(super) fn standing(case: &Case<'_>) -> Words {
    let wanted = &case.outcome.agents;
    let mut words = Words::default();
    let mut said = Vec::new();
    for mut group in waiters(case) {
        group.agents.retain(|agent| wanted.contains(agent));
        if !group.agents.is_empty() {
            said.push(waits(case, &group));
            describe(case, &group, &mut words);
        }
    }
    for ready in ready(case) {
        let (who, at) = (case.agents(&ready.agents), case.at(ready.location));
        let stands = verb(&ready.agents, "stands", "stand");
        let does = match ready.instruction {
            "" => String::new(),
            "}" => " (the end of its block)".to_owned(),
            instruction => format!(" (`{instruction}`)"),
        };
        said.push(format!("{who} {stands}{at}"));
        words.sentences.push(format!("{} {stands}{at}{does} and can go on.", sentence(&who)));
    }
    let exited: Vec<u32> =
        wanted.iter().copied().filter(|agent| case.end.status(*agent) == Status::Exited).collect();
    if !exited.is_empty() {
        let (who, has) = (case.agents(&exited), verb(&exited, "has", "have"));
        said.push(format!("{who} {has} exited"));
        words.sentences.push(format!("{} {has} exited.", sentence(&who)));
    }
    words.message = said.join("; ");
    words
}

fn ready<'t>(case: &'t Case<'_>) -> Vec<Ready<'t>> {
    let wanted = &case.outcome.agents;
    let mut groups: Vec<Ready<'t>> = Vec::new();
    let there = case.end.agents.values().filter(|state| wanted.contains(&state.agent));
    for state in there.filter(|state| state.status == Status::Running) {
        let location = state.location.unwrap_or_default();
        match groups.iter_mut().find(|group| group.location == location) {
            Some(group) => group.agents.push(state.agent),
            None => {
                groups.push(Ready { location, instruction: &state.instruction, agents: vec![state.agent] });
            }
        }
    }
    groups
}
