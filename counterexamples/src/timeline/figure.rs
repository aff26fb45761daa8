//! What a rule is about, as a picture has it: the steps that do not go together side by side, or who stands
//! where and for how many there is room.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::history::Timeline;
use crate::objects::is_object;
use crate::trace::{Basis, Detail, OutcomeKind, Step};

/// Steps beside the last one, at most.
const MOST_EARLIER: usize = 3;
/// Places where agents stand, at most.
const MOST_PLACES: usize = 8;

/// What there is to be drawn of an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Figure {
    /// What it shows, as a heading.
    pub title: String,
    /// The barrier that it is about.
    pub barrier: Option<u32>,
    /// The steps, the one that violates the rule last; or those who stand at a barrier.
    pub sides: Vec<Side>,
    /// For how many there is room, where the rule is about that.
    pub room: Option<Room>,
}

/// One of the things that do not go together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// Who does it, or stands there.
    pub agents: Vec<u32>,
    /// The step, counted from 1; `None` for those who have yet to make it.
    pub step: Option<usize>,
    /// The line, 0 where there is none.
    pub line: u32,
    /// The instruction, with its operands' values where they are known.
    pub instruction: String,
    /// What it does.
    pub said: String,
    /// The locals before it.
    pub locals: Vec<Local>,
    /// It is what violates the rule.
    pub fails: bool,
}

/// A local of one of the sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub value: String,
    /// Another side has another value.
    pub differs: bool,
}

/// Who could arrive on a barrier, and for how many there is room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Room {
    /// Agents that have arrived.
    pub arrived: usize,
    /// Arrivals for which there is room.
    pub room: u32,
    /// Arrivals that could come next.
    pub standing: u32,
}

impl Timeline<'_> {
    /// What there is to be drawn of the outcome beside its schedule. Of a race see
    /// [`conflict`](super::conflict), of those that wait for each other [`Timeline::waiting`].
    #[must_use]
    pub fn figure(&self) -> Option<Figure> {
        let outcome = &self.trace().outcome;
        match (outcome.kind, outcome.basis, &outcome.detail) {
            (OutcomeKind::Violation, Basis::State, Some(Detail::Room { standing, room })) => {
                Some(self.standing(*standing, *room))
            }
            (OutcomeKind::Violation, _, Some(Detail::Conflict { .. })) => None,
            (OutcomeKind::Violation, Basis::Step, _) => self.confronted(),
            _ => None,
        }
    }

    /// Who stands at an arrival, those together that stand at one place.
    fn standing(&self, standing: u32, room: u32) -> Figure {
        let outcome = &self.trace().outcome;
        let mut sides: Vec<Side> = Vec::new();
        for agent in &outcome.agents {
            let Some(state) = self.agent(*agent, self.last()) else { continue };
            let line = state.location.map_or(0, |place| place.line);
            let alike = sides.iter_mut().find(|s| (s.line, &s.instruction) == (line, &state.instruction));
            match alike {
                Some(side) => side.agents.push(*agent),
                None => sides.push(Side {
                    agents: vec![*agent],
                    step: None,
                    line,
                    instruction: state.instruction.clone(),
                    said: "could come next".to_owned(),
                    locals: Vec::new(),
                    fails: true,
                }),
            }
        }
        sides.truncate(MOST_PLACES);
        let state = outcome.barrier.and_then(|barrier| self.barrier(barrier, self.last()));
        let arrived = state.filter(|state| state.active).map_or(0, |state| state.arrived.len());
        Figure {
            title: "Who could arrive next, and the room that there is".to_owned(),
            barrier: outcome.barrier,
            sides,
            room: Some(Room { arrived, room, standing }),
        }
    }

    /// The last step and those with which it does not go together.
    fn confronted(&self) -> Option<Figure> {
        let (last, before) = self.trace().steps.split_last()?;
        let mut earlier: BTreeSet<usize> = self.related(before).chain(self.moved(before)).collect();
        if let Some(barrier) = self.trace().outcome.barrier.filter(|b| is_object(self.trace(), *b)) {
            earlier.extend(self.in_phase(barrier, before));
        }
        if earlier.is_empty() {
            return None;
        }
        let kept = earlier.len().saturating_sub(MOST_EARLIER);
        let steps = earlier.into_iter().skip(kept).filter_map(|position| before.get(position));
        let mut sides: Vec<Side> = steps.map(|step| self.side(step, false)).collect();
        sides.push(self.side(last, true));
        mark_differences(&mut sides);
        let rule = self.trace().outcome.rule.as_deref().unwrap_or_default();
        let title = match rule {
            "nonuniform-barrier" => "The instances of the barrier that meet",
            "mixed-red" | "mixed-red-op" | "count-mismatch" => "What does not go together",
            _ => "What has led to it",
        };
        Some(Figure { title: title.to_owned(), barrier: self.trace().outcome.barrier, sides, room: None })
    }

    /// The latest steps at the places that matter beside the last, by position.
    fn related<'s>(&'s self, before: &'s [Step]) -> impl Iterator<Item = usize> + 's {
        self.trace().outcome.related.iter().filter_map(|place| {
            before.iter().rposition(|step| {
                let at = (step.location.line, step.location.column);
                step.agent == place.agent && at == (place.line, place.column)
            })
        })
    }

    /// Where the state of the barrier that it is about was saved, and put onto it.
    fn moved(&self, before: &[Step]) -> Vec<usize> {
        let is = |step: &Step, operation: &str, barrier: Option<u32>| {
            step.operands.as_ref().is_some_and(|operands| {
                operands.operation == operation && barrier.is_none_or(|wanted| wanted == operands.barrier)
            })
        };
        let about = self.trace().outcome.barrier;
        let last = self.trace().steps.last().filter(|last| is(last, "write-state", about));
        let put = before.iter().rposition(|step| about.is_some() && is(step, "write-state", about));
        let (upto, by) = match (last, put) {
            (Some(last), _) => (before.len(), last.agent),
            (None, Some(put)) => (put, before[put].agent),
            (None, None) => return Vec::new(),
        };
        let saved = before[..upto].iter().rposition(|s| s.agent == by && is(s, "read-state", None));
        saved.into_iter().chain(put.filter(|_| last.is_none())).collect()
    }

    /// What has happened in the phase of an object in which the last step is, and what began it.
    fn in_phase<'s>(&self, barrier: u32, before: &'s [Step]) -> impl Iterator<Item = usize> + 's {
        let phases = self.phases(barrier);
        let begins = phases.iter().rev().map(|phase| phase.begins).find(|begins| *begins <= before.len());
        let begins = begins.unwrap_or(usize::MAX);
        let here =
            move |(_, step): &(usize, &Step)| step.index + 1 >= begins && step.touches_barrier(barrier);
        before.iter().enumerate().filter(here).map(|(position, _)| position)
    }

    fn side(&self, step: &Step, fails: bool) -> Side {
        let time = step.index + 1;
        // Of an excerpt the step may be elsewhere.
        let state = self.agent(step.agent, time.saturating_sub(1).min(self.last()));
        let locals = state.map(|state| self.locals(state)).unwrap_or_default();
        let local = |(name, value)| Local { name, value, differs: false };
        let rule = || self.trace().outcome.rule.clone().unwrap_or_default();
        let operation = step.operands.as_ref().map(|o| (o.operation.as_str(), self.barrier_short(o.barrier)));
        let said = match operation {
            _ if fails => format!("violates {}", rule()),
            Some(("read-state", on)) => format!("saves the state of {on}"),
            Some(("write-state", on)) => format!("puts the state onto {on}"),
            _ => self.words(time).join(", "),
        };
        Side {
            agents: vec![step.agent],
            step: Some(time),
            line: step.location.line,
            instruction: step.resolved.clone(),
            said,
            locals: locals.into_iter().map(local).collect(),
            fails,
        }
    }
}

/// Marks the locals that are not the same everywhere.
fn mark_differences(sides: &mut [Side]) {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for local in sides.iter().flat_map(|side| &side.locals) {
        values.entry(local.name.clone()).or_default().insert(local.value.clone());
    }
    for local in sides.iter_mut().flat_map(|side| &mut side.locals) {
        local.differs = values.get(&local.name).is_some_and(|values| values.len() > 1);
    }
}
