//! Putting steps in another order, so that the steps of each agent stand together, and those that several
//! agents make alike.

use std::ops::Range;

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{Actor, Choice, State};
use barcheck_model::program::{Pc, RoleId};

use super::walker::{Step, Walker};

/// Two runs are put together over no more steps of others than this.
const FARTHEST: usize = 512;
/// Places in between where two runs can meet that are tried.
const MOST_PLACES: usize = 8;

/// How often another agent goes on than the one before.
pub(super) fn switches(steps: &[Choice]) -> usize {
    steps.windows(2).filter(|pair| pair[0].actor != pair[1].actor).count()
}

/// Puts runs together, of steps of one agent or of one instruction, wherever it makes no difference: where
/// the other order leads to the same state, notes the same findings on the way, and leaves the same agent the
/// last to arrive at the barrier `watched`. Equal states have equal futures, so what follows need not be run
/// again.
///
/// Agents that execute one instruction one after the other make one row of a narrative. Each change leaves
/// fewer rows or fewer changes from one agent to another, and not more of the others.
pub(super) fn gather(
    walker: &mut Walker<'_>,
    from: &State,
    steps: &mut [Choice],
    watched: Option<BarrierId>,
) {
    let Some(made) = made(walker, from, steps) else { return };
    let mut order = Order { walker, steps: made, watched, alike: Alike::Agent };
    while [Alike::Agent, Alike::Instruction].into_iter().any(|alike| {
        order.alike = alike;
        order.sweep(from)
    }) {}
    for (step, made) in steps.iter_mut().zip(order.steps) {
        *step = made.choice;
    }
}

/// A step, and the instruction that it executes, or that has left pending what lands: the same in whatever
/// order steps that commute are made.
#[derive(Clone, Copy, PartialEq)]
struct Made {
    choice: Choice,
    instruction: (RoleId, bool, Option<Pc>),
}

fn made(walker: &mut Walker<'_>, from: &State, steps: &[Choice]) -> Option<Vec<Made>> {
    let mut state = from.clone();
    let mut all = Vec::with_capacity(steps.len());
    for choice in steps {
        let role = *walker.machine.program().agents.get(choice.agent().index())?;
        let pc = match choice.actor {
            Actor::Agent(agent) => {
                walker.machine.moves(&state, agent).get(choice.index as usize).map(|made| made.pc)
            }
            Actor::Pending(agent) => state.pending_of(agent).get(choice.index as usize).map(|left| left.pc),
        };
        all.push(Made { choice: *choice, instruction: (role, choice.is_landing(), pc) });
        let Step::On { state: next, .. } = walker.step(&state, *choice)? else { return None };
        state = next;
    }
    Some(all)
}

/// What the steps of a run have in common.
#[derive(Clone, Copy)]
enum Alike {
    Agent,
    Instruction,
}

impl Alike {
    fn holds(self, one: &Made, other: &Made) -> bool {
        match self {
            Self::Agent => one.choice.actor == other.choice.actor,
            Self::Instruction => one.instruction == other.instruction,
        }
    }

    /// The number of runs.
    fn runs<'m>(self, steps: impl Iterator<Item = &'m Made>) -> usize {
        let mut last: Option<&Made> = None;
        steps.filter(|made| last.replace(made).is_none_or(|last| !self.holds(last, made))).count()
    }
}

struct Order<'w, 'g> {
    walker: &'w mut Walker<'g>,
    steps: Vec<Made>,
    watched: Option<BarrierId>,
    /// What is put together at present.
    alike: Alike,
}

impl Order<'_, '_> {
    /// Goes through the steps once. Whether anything has changed.
    fn sweep(&mut self, from: &State) -> bool {
        let mut changed = false;
        let mut state = from.clone();
        let mut start = 0;
        while start < self.steps.len() {
            let mut end = self.end_of_run(start);
            let Some(mut after) = self.after(&state, start..end) else { break };
            while let Some(longer) = self.pull_up(&after, start..end) {
                changed = true;
                let Some(next) = self.after(&after, end..longer) else { return changed };
                (after, end) = (next, longer);
            }
            if self.push_down(&state, start..end) {
                changed = true;
                continue;
            }
            (state, start) = (after, end);
        }
        changed
    }

    fn after(&mut self, from: &State, range: Range<usize>) -> Option<State> {
        let choices = self.steps[range].iter().map(|made| made.choice);
        self.walker.passage(from, choices, None).map(|passage| passage.state)
    }

    /// Where the run ends that begins at `start`.
    fn end_of_run(&self, start: usize) -> usize {
        let first = &self.steps[start];
        let other = self.steps[start..].iter().position(|made| !self.alike.holds(first, made));
        other.map_or(self.steps.len(), |other| start + other)
    }

    /// The next run that is like the one given.
    fn next_run(&self, run: &Range<usize>) -> Option<Range<usize>> {
        let first = &self.steps[run.start];
        let mut near = self.steps[run.end..].iter().take(FARTHEST + 1);
        let start = run.end + near.position(|made| self.alike.holds(first, made))?;
        let end = self.end_of_run(start);
        (end - start <= FARTHEST).then_some(start..end)
    }

    /// Puts the next run right behind a run that leads to the state `after`. Where the longer run ends.
    fn pull_up(&mut self, after: &State, run: Range<usize>) -> Option<usize> {
        let next = self.next_run(&run)?;
        let part = run.end..next.end;
        let order = [&self.steps[next.clone()], &self.steps[run.end..next.start]].concat();
        self.accept(after, part, order).then_some(run.end + next.len())
    }

    /// Puts a run that begins in the state `from` further back, and the next to it: behind all steps between
    /// them, else somewhere among those.
    fn push_down(&mut self, from: &State, run: Range<usize>) -> bool {
        let Some(next) = self.next_run(&run).filter(|_| run.len() <= FARTHEST) else { return false };
        // No other run is cut in two.
        let parts = |at: &usize| !self.alike.holds(&self.steps[at - 1], &self.steps[*at]);
        let inner = (run.end + 1..next.start).filter(parts);
        let places: Vec<usize> = std::iter::once(next.start).chain(inner.take(MOST_PLACES)).collect();
        places.into_iter().any(|place| {
            let parts = [run.end..place, run.clone(), next.clone(), place..next.start];
            let order = parts.map(|part| &self.steps[part]).concat();
            self.accept(from, run.start..next.end, order)
        })
    }

    /// Takes over another order of a part, if it is better and comes to the same from the state before that
    /// part.
    fn accept(&mut self, from: &State, part: Range<usize>, order: Vec<Made>) -> bool {
        if !self.is_better(&part, &order) || by_agent(&order) != by_agent(&self.steps[part.clone()]) {
            return false;
        }
        let mut leads_to = |steps: &[Made]| {
            let choices = steps.iter().map(|made| made.choice);
            self.walker.passage(from, choices, self.watched)
        };
        let expected = leads_to(&self.steps[part.clone()]);
        if expected.is_none() || leads_to(&order) != expected {
            return false;
        }
        self.steps[part].copy_from_slice(&order);
        true
    }

    /// There are fewer runs of one kind, and not more of the other, the steps around the part included.
    fn is_better(&self, part: &Range<usize>, order: &[Made]) -> bool {
        let before = &self.steps[part.start.saturating_sub(1)..part.start];
        let behind = &self.steps[part.end..self.steps.len().min(part.end + 1)];
        let runs = |part: &[Made], alike: Alike| alike.runs([before, part, behind].into_iter().flatten());
        let both = |part| [Alike::Agent, Alike::Instruction].map(|alike| runs(part, alike));
        let ([agents, rows], [agents_now, rows_now]) = (both(order), both(&self.steps[part.clone()]));
        agents <= agents_now && rows <= rows_now && (agents, rows) != (agents_now, rows_now)
    }
}

/// The steps of each actor by themselves: no agent makes its own in another order.
fn by_agent(steps: &[Made]) -> Vec<Made> {
    let mut steps = steps.to_vec();
    steps.sort_by_key(|made| made.choice.actor);
    steps
}
