//! The columns: agents, those that are alike in one.

use std::collections::{BTreeMap, BTreeSet};

use crate::names;
use crate::trace::{Location, Situation, Status, Trace};

/// What a column is headed by, at most.
const WIDEST: usize = 11;

/// Agents that share a column.
pub(super) struct Column {
    pub(super) agents: Vec<u32>,
    pub(super) title: String,
}

/// The code that an agent runs, and how it ends there: what it does, where, and on which barrier it waits.
type Kind<'t> = (Option<&'t str>, u32, Option<(Status, Option<Location>, Option<u32>)>);

/// A column for each agent, as far as there is room; `apart` are the columns between two titles.
pub(super) fn single(trace: &Trace, room: usize, apart: usize) -> Vec<Column> {
    let title = |agent: u32| names::agents_in_short(names::noun(trace), &[agent]);
    let last = u32::try_from(trace.agents.len().saturating_sub(1)).unwrap_or(u32::MAX);
    let width = title(last).len() + apart;
    let column = |agent: u32| Column { agents: vec![agent], title: title(agent) };
    chosen(trace, (room / width).max(2)).into_iter().map(column).collect()
}

/// A column for each role, but for those of it that end elsewhere or make other steps than the rest. `None`
/// if there is no room for as many.
pub(super) fn folded(trace: &Trace, end: &Situation, room: usize, apart: usize) -> Option<Vec<Column>> {
    let fits = |columns: &Vec<Column>| {
        columns.iter().map(|column| column.title.len() + apart).sum::<usize>() <= room
    };
    let ways = (!trace.is_excerpt()).then(|| ways(trace));
    let by_way = ways.map(|ways| columns(trace, end, |agent| ways[agent as usize].clone()));
    by_way.filter(fits).or_else(|| Some(columns(trace, end, |_| ())).filter(fits))
}

/// The instructions that each agent executes, in order.
fn ways(trace: &Trace) -> Vec<Vec<(Location, &str)>> {
    let mut ways = vec![Vec::new(); trace.agents.len()];
    for step in &trace.steps {
        if let Some(way) = ways.get_mut(step.agent as usize) {
            way.push((step.location, step.resolved.as_str()));
        }
    }
    ways
}

fn columns<K: Ord>(trace: &Trace, end: &Situation, more: impl Fn(u32) -> K) -> Vec<Column> {
    let mut known: BTreeMap<(Kind<'_>, K), usize> = BTreeMap::new();
    let mut groups: Vec<Vec<u32>> = Vec::new();
    for agent in &trace.agents {
        let state = end.agents.get(&agent.index);
        let ends = state.map(|state| (state.status, state.location, state.waits.map(|waits| waits.barrier)));
        let kind = (agent.role.as_deref(), agent.line, ends);
        let place = *known.entry((kind, more(agent.index))).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(agent.index);
    }
    groups.into_iter().map(|agents| Column { title: title(trace, &agents), agents }).collect()
}

/// `w0-3,7`, or `30 warps` where that would take too much room.
fn title(trace: &Trace, agents: &[u32]) -> String {
    let noun = names::noun(trace);
    let title = names::agents_in_short(noun, agents);
    if title.len() <= WIDEST { title } else { format!("{} {noun}s", agents.len()) }
}

/// The agents that get a column: all if there is room; else those concerned, then those that act last.
pub(crate) fn chosen(trace: &Trace, room: usize) -> Vec<u32> {
    let all: Vec<u32> = trace.agents.iter().map(|a| a.index).collect();
    if all.len() <= room {
        return all;
    }
    let outcome = &trace.outcome;
    let mut chosen = BTreeSet::new();
    let concerned = outcome.blamed.iter().copied().chain([outcome.agent]);
    let concerned =
        concerned.chain(outcome.related.iter().map(|r| r.agent)).chain(outcome.agents.iter().copied());
    let acting = trace.steps.iter().rev().map(|s| s.agent);
    for agent in concerned.chain(acting).chain(all) {
        if chosen.len() >= room {
            break;
        }
        chosen.insert(agent);
    }
    chosen.into_iter().collect()
}
