//! What a path has to go on showing.

use std::collections::BTreeMap;

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{Choice, End, Finding, State};
use barcheck_model::program::AgentId;
use barcheck_model::rule::Rule;

use super::walker::{Step, Walker};
use crate::build::What;

/// What a path shows.
pub(super) struct Goal<'a> {
    what: What<'a>,
    /// For what is judged where nobody moves any more: how it ends.
    ending: Option<Ending>,
    /// Barriers at which nobody waits may be otherwise in the end.
    only_agents: bool,
}

/// Where everybody stands in the end, and who arrived last at each barrier.
#[derive(PartialEq)]
struct Ending {
    standing: u64,
    last: BTreeMap<BarrierId, AgentId>,
}

/// A path in the making, from the initial state on.
pub(super) struct Attempt<'g> {
    goal: &'g Goal<'g>,
    state: State,
    made: Vec<Choice>,
    last: BTreeMap<BarrierId, AgentId>,
    shown: bool,
}

/// What became of a step.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// There is no such step.
    Impossible,
    /// It was made.
    Made,
    /// It was made, and shows the goal, or ends the path otherwise.
    Last,
}

impl<'a> Goal<'a> {
    /// What a path shows; `None` if that cannot be told.
    pub(super) fn of(walker: &mut Walker<'_>, steps: &[Choice], what: What<'a>) -> Option<Self> {
        Self::ending_in(walker, steps, what, false)
    }

    /// The same, where only that matters which makes a deadlock: where everybody stands, and who waits for
    /// what. `None` too for what is to end in the very same state.
    pub(super) fn of_agents(walker: &mut Walker<'_>, steps: &[Choice], what: What<'a>) -> Option<Self> {
        let goal = Self::ending_in(walker, steps, what, true)?;
        (!goal.is_final() || goal.rule() == Some(Rule::Deadlock)).then_some(goal)
    }

    fn ending_in(
        walker: &mut Walker<'_>,
        steps: &[Choice],
        what: What<'a>,
        only_agents: bool,
    ) -> Option<Self> {
        let mut goal = Goal { what, ending: None, only_agents };
        if goal.is_final() {
            let attempt = goal.follow(walker, steps)?;
            let ending = attempt.ending(walker);
            goal.ending = Some(ending);
        }
        Some(goal)
    }

    /// The steps up to where it shows.
    pub(super) fn reached(&self, walker: &mut Walker<'_>, steps: &[Choice]) -> Option<Vec<Choice>> {
        self.follow(walker, steps)?.end(walker)
    }

    fn follow(&self, walker: &mut Walker<'_>, steps: &[Choice]) -> Option<Attempt<'_>> {
        let mut attempt = Attempt::new(self, walker);
        for choice in steps {
            match attempt.step(walker, *choice) {
                Progress::Impossible => return None,
                Progress::Made => {}
                Progress::Last => break,
            }
        }
        Some(attempt)
    }

    fn rule(&self) -> Option<Rule> {
        match self.what {
            What::Finding(finding, _) => Some(finding.rule),
            What::Fault(..) | What::Cut(..) | What::State(_) => None,
        }
    }

    /// It shows only where nobody moves any more, or in that very state, so that nobody's steps can be left
    /// out.
    pub(super) fn is_final(&self) -> bool {
        matches!(self.rule(), Some(Rule::Deadlock | Rule::DanglingArrival))
            || matches!(self.what, What::State(_))
    }

    /// How many steps at the end are what shows it.
    pub(super) fn fixed_at_the_end(&self) -> usize {
        usize::from(!self.is_final() && self.rule() != Some(Rule::ArrivalRace))
    }

    /// The barrier at which the last to arrive must remain the last: its place is the one shown.
    pub(super) fn last_arrival(&self) -> Option<BarrierId> {
        match self.what {
            What::Finding(finding, _) if finding.rule == Rule::DanglingArrival => finding.barrier,
            _ => None,
        }
    }

    fn at_end(&self, end: &End) -> bool {
        match (self.what, end) {
            (What::Finding(finding, _), End::Violation(found)) => finding == found,
            (What::Finding(..), End::Fault { noted, .. } | End::Cut { noted, .. }) => self.noted(noted),
            (What::Fault(agent, fault), End::Fault { agent: who, fault: found, .. }) => {
                agent == *who && fault == found
            }
            (What::Cut(agent, pc, why), End::Cut { agent: who, at, reason, .. }) => {
                agent == *who && pc == *at && why == reason
            }
            _ => false,
        }
    }

    fn noted(&self, noted: &[Finding]) -> bool {
        matches!(self.what, What::Finding(finding, _) if noted.contains(finding))
    }

    fn in_state(&self, walker: &mut Walker<'_>, state: &State) -> bool {
        let What::Finding(finding, _) = self.what else { return matches!(self.what, What::State(_)) };
        walker.pay() && walker.machine.judge(state).contains(finding)
    }
}

impl<'g> Attempt<'g> {
    pub(super) fn new(goal: &'g Goal<'g>, walker: &mut Walker<'_>) -> Self {
        let state = walker.initial();
        let shown = goal.rule() == Some(Rule::ArrivalRace) && goal.in_state(walker, &state);
        Self { goal, state, made: Vec::new(), last: BTreeMap::new(), shown }
    }

    /// Where it has come to.
    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// Steps made so far.
    pub(super) fn length(&self) -> usize {
        self.made.len()
    }

    /// Makes a step.
    pub(super) fn step(&mut self, walker: &mut Walker<'_>, choice: Choice) -> Progress {
        if self.shown {
            return Progress::Last;
        }
        let Some(step) = walker.step(&self.state, choice) else { return Progress::Impossible };
        self.made.push(choice);
        match step {
            Step::End(end) => {
                self.shown = self.goal.at_end(&end);
                Progress::Last
            }
            Step::On { state, noted, arrived } => {
                self.last.extend(arrived.into_iter().map(|barrier| (barrier, choice.agent())));
                self.state = state;
                self.shown = self.goal.noted(&noted)
                    || self.goal.rule() == Some(Rule::ArrivalRace) && self.goal.in_state(walker, &self.state);
                if self.shown { Progress::Last } else { Progress::Made }
            }
        }
    }

    /// The steps made, if they show the goal.
    pub(super) fn end(mut self, walker: &mut Walker<'_>) -> Option<Vec<Choice>> {
        if self.goal.is_final() {
            self.shown = self.goal.in_state(walker, &self.state)
                && self.goal.ending.as_ref().is_none_or(|ending| *ending == self.ending(walker));
        }
        self.shown.then_some(self.made)
    }

    fn ending(&self, walker: &Walker<'_>) -> Ending {
        let watched = self.goal.last_arrival();
        let last = self.last.iter().filter(|(barrier, _)| Some(**barrier) == watched);
        let standing = match self.goal.only_agents {
            true => walker.standing_of_agents(&self.state),
            false => walker.standing(&self.state),
        };
        Ending { standing, last: last.map(|(b, a)| (*b, *a)).collect() }
    }
}
