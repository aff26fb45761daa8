//! Putting steps in another order, so that the steps of each agent stand together.

use std::ops::Range;

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{Choice, State};
use barcheck_model::program::{Pc, RoleId};

use super::walk::{Step, Walker};

/// Two runs of one agent are put together over no more steps of others than this.
const FARTHEST: usize = 512;
/// Places in between where two runs can meet that are tried.
const MOST_PLACES: usize = 8;

/// How often another agent goes on than the one before.
pub(super) fn switches(steps: &[Choice]) -> usize {
    steps.windows(2).filter(|pair| pair[0].agent != pair[1].agent).count()
}

/// Puts runs of steps of one agent together wherever it makes no difference: where the other order leads to the same state,
/// notes the same findings on the way, and leaves the same agent the last to arrive at the barrier `watched`. Equal states have
/// equal futures, so what follows need not be run again. Each change leaves one run less.
///
/// Agents that execute one instruction one after the other make one row of a story: no such row is torn apart.
pub(super) fn gather(walker: &mut Walker, from: &State, steps: &mut [Choice], watched: Option<BarrierId>) {
    let Some(made) = made(walker, from, steps) else { return };
    let mut order = Order { walker, steps: made, watched };
    while order.sweep(from) {}
    for (step, made) in steps.iter_mut().zip(order.steps) {
        *step = made.choice;
    }
}

/// A step, and the instruction that it executes: the same in whatever order steps that commute are made.
#[derive(Clone, Copy)]
struct Made {
    choice: Choice,
    instruction: (RoleId, Option<Pc>),
}

fn made(walker: &mut Walker, from: &State, steps: &[Choice]) -> Option<Vec<Made>> {
    let mut state = from.clone();
    let mut all = Vec::with_capacity(steps.len());
    for choice in steps {
        let role = *walker.machine.program().agents.get(choice.agent.index())?;
        let made = walker.machine.moves(&state, choice.agent).get(choice.index as usize);
        all.push(Made { choice: *choice, instruction: (role, made.map(|made| made.pc)) });
        let Step::On { state: next, .. } = walker.step(&state, *choice)? else { return None };
        state = next;
    }
    Some(all)
}

/// The number of rows: stretches in which one instruction is executed.
fn rows<'m>(steps: impl IntoIterator<Item = &'m Made>) -> usize {
    let mut last = None;
    steps.into_iter().filter(|made| last.replace(made.instruction) != Some(made.instruction)).count()
}

struct Order<'w> {
    walker: &'w mut Walker,
    steps: Vec<Made>,
    watched: Option<BarrierId>,
}

impl Order<'_> {
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
        let agent = self.steps[start].choice.agent;
        let other = self.steps[start..].iter().position(|made| made.choice.agent != agent);
        other.map_or(self.steps.len(), |other| start + other)
    }

    /// The next run of the agent whose run is given.
    fn next_run(&self, run: &Range<usize>) -> Option<Range<usize>> {
        let agent = self.steps[run.start].choice.agent;
        let near = self.steps[run.end..].iter().take(FARTHEST + 1);
        let start = run.end + near.map(|made| made.choice.agent).position(|other| other == agent)?;
        let end = self.end_of_run(start);
        (end - start <= FARTHEST).then_some(start..end)
    }

    /// Puts the next run of an agent right behind a run that leads to the state `after`. Where the longer run ends.
    fn pull_up(&mut self, after: &State, run: Range<usize>) -> Option<usize> {
        let next = self.next_run(&run)?;
        let part = run.end..next.end;
        let order = [&self.steps[next.clone()], &self.steps[run.end..next.start]].concat();
        self.accept(after, part, order).then_some(run.end + next.len())
    }

    /// Puts a run that begins in the state `from` further back, and the next to it: behind all steps between them, else
    /// somewhere among those.
    fn push_down(&mut self, from: &State, run: Range<usize>) -> bool {
        let Some(next) = self.next_run(&run).filter(|_| run.len() <= FARTHEST) else { return false };
        let agent = |at: usize| self.steps[at].choice.agent;
        // No run of another agent is cut in two.
        let inner = (run.end + 1..next.start).filter(|at| agent(at - 1) != agent(*at));
        let places: Vec<usize> = std::iter::once(next.start).chain(inner.take(MOST_PLACES)).collect();
        places.into_iter().any(|place| {
            let parts = [run.end..place, run.clone(), next.clone(), place..next.start];
            let order = parts.map(|part| &self.steps[part]).concat();
            self.accept(from, run.start..next.end, order)
        })
    }

    /// Takes over another order of a part, if it comes to the same from the state before that part.
    fn accept(&mut self, from: &State, part: Range<usize>, order: Vec<Made>) -> bool {
        let before = &self.steps[part.start.saturating_sub(1)..part.start];
        let behind = &self.steps[part.end..self.steps.len().min(part.end + 1)];
        let around = |part| rows([before, part, behind].into_iter().flatten());
        if around(&order) > around(&self.steps[part.clone()]) {
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
}
