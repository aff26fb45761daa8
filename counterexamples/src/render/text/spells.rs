//! Steps taken together where agents are, and those left out that repeat what is shown.

use std::collections::BTreeSet;

use super::columns::Column;
use super::rows::{FIRST_ROWS, LAST_ROWS, Row, alike};
use crate::trace::{Event, Location, Status, Step, Trace};

/// Instructions that several agents execute one after the other, each all of them, at most.
const LONGEST: usize = 4;
/// Rows shown before the last, of a run that does not end with somebody waiting.
const FEW_ROWS: usize = 8;

/// Takes together consecutive steps of agents that do the same, each of them several steps perhaps, and what
/// the last of them completes.
pub(super) fn spells<'t>(trace: &'t Trace, columns: &[Column]) -> Vec<Row<'t>> {
    let mut rows = Vec::new();
    let mut at = 0;
    while at < trace.steps.len() {
        let rest = &trace.steps[at..];
        let (length, parts) = (1..=LONGEST)
            .map(|parts| (spell(trace, columns, rest, parts), parts))
            .max_by_key(|(length, parts)| (*length, LONGEST - parts))
            .unwrap_or((1, 1));
        rows.push(Row { steps: rest[..length].iter().collect(), parts });
        at += length;
    }
    rows
}

/// How many steps follow in which agents execute so many instructions each, the same ones.
fn spell(trace: &Trace, columns: &[Column], rest: &[Step], parts: usize) -> usize {
    let mut seen = BTreeSet::new();
    let mut taken = 0;
    let column = |agent: u32| columns.iter().position(|column| column.agents.contains(&agent));
    while let (Some(pattern), Some(next)) = (rest.get(..parts), rest.get(taken..taken + parts)) {
        let who = next[0].agent;
        let follows = taken == 0
            || rest[taken - 1].index + 1 == next[0].index
                && (parts == 1 || column(who) == column(pattern[0].agent));
        let one =
            next.windows(2).all(|pair| pair[0].agent == pair[1].agent && pair[0].index + 1 == pair[1].index);
        let cycle = trace.outcome.cycle_from;
        let begins_cycle = next.iter().skip(usize::from(taken == 0)).any(|step| cycle == Some(step.index));
        if !follows || !one || begins_cycle || !seen.insert(who) {
            break;
        }
        let fits = |(first, step): (&Step, &Step)| alike(first, step);
        if pattern.iter().zip(next).all(fits) {
            taken += parts;
        } else if taken > 0 && closes(pattern, next) {
            return taken + parts;
        } else {
            break;
        }
    }
    if taken > parts || parts == 1 { taken.max(1) } else { 0 }
}

/// The same steps once more, of which the last completes a generation.
fn closes(pattern: &[Step], next: &[Step]) -> bool {
    let (Some((last, before)), Some((closer, others))) = (pattern.split_last(), next.split_last()) else {
        return false;
    };
    let completes = closer.events.iter().any(|event| matches!(event, Event::Completed { .. }));
    let quiet = closer.events.iter().all(|event| {
        matches!(
            event,
            Event::Arrived { .. } | Event::Blocked { .. } | Event::Completed { .. } | Event::Released { .. }
        )
    });
    let arrives = |step: &Step| step.events.iter().any(|event| matches!(event, Event::Arrived { .. }));
    completes
        && quiet
        && arrives(last)
        && (last.location, &last.resolved, &last.lanes) == (closer.location, &closer.resolved, &closer.lanes)
        && before.iter().zip(others).all(|(first, step)| alike(first, step))
}

/// The rows that are shown, by position: what comes first of its kind, and what leads to the end.
pub(super) fn shown(trace: &Trace, rows: &[Row<'_>], columns: &[Column]) -> BTreeSet<usize> {
    let tail = rows.len().saturating_sub(tail(trace, rows).min(LAST_ROWS));
    let mut known: BTreeSet<(Vec<usize>, Location)> = BTreeSet::new();
    let mut shown: BTreeSet<usize> = (tail..rows.len()).collect();
    for (position, row) in rows.iter().enumerate().take(tail) {
        let is_here = |column: &Column| row.steps.iter().any(|step| column.agents.contains(&step.agent));
        let who = columns.iter().enumerate().filter(|(_, column)| is_here(column)).map(|(at, _)| at);
        let is_new = known.len() < FIRST_ROWS
            && row.steps.first().is_some_and(|step| known.insert((who.collect(), step.location)));
        let starts_cycle = trace.outcome.cycle_from.is_some_and(|from| row.first() == from);
        if is_new || starts_cycle {
            shown.insert(position);
        }
    }
    shown.extend(related(trace, rows));
    // To leave out a single row saves nothing.
    let alone = |at: &usize| {
        !shown.contains(at) && shown.contains(&(at + 1)) && (*at == 0 || shown.contains(&(at - 1)))
    };
    let alone: Vec<usize> = (0..rows.len()).filter(alone).collect();
    shown.extend(alone);
    shown
}

/// How many rows at the end lead to it: from the first arrival on that is still on a barrier on which
/// somebody waits.
fn tail(trace: &Trace, rows: &[Row<'_>]) -> usize {
    let end = trace.last_situation();
    let waits =
        end.agents.values().filter(|state| state.status == Status::Blocked).filter_map(|state| state.waits);
    let mut awaited: BTreeSet<u32> = waits.map(|waits| waits.barrier).collect();
    let mut tail = 0;
    for (count, row) in rows.iter().rev().enumerate() {
        for event in row.steps.iter().rev().flat_map(|step| step.events.iter().rev()) {
            match event {
                Event::Completed { barrier, .. } => {
                    awaited.remove(barrier);
                }
                Event::Arrived { barrier } if awaited.contains(barrier) => tail = count + 1,
                _ => {}
            }
        }
        if awaited.is_empty() {
            break;
        }
    }
    tail.max(FEW_ROWS)
}

/// The rows of the last steps at the places that the outcome names.
fn related(trace: &Trace, rows: &[Row<'_>]) -> Vec<usize> {
    let named = trace.outcome.related.iter().filter_map(|related| {
        let is_there = |step: &&Step| {
            (step.agent, step.location.line, step.location.column)
                == (related.agent, related.line, related.column)
        };
        rows.iter().rposition(|row| row.steps.iter().any(&is_there))
    });
    named.collect()
}
