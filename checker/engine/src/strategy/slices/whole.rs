//! From paths of a slice to paths of the whole protocol.

use crate::paths::replay::violation_shown;
use crate::verdict::Found;
use barcheck_model::machine::{Advanced, Choice, Log, Machine, Path, Slice, State};
use barcheck_model::program::AgentId;

/// Steps left out that an agent makes one after the other, at most.
const MOST_IN_A_ROW: usize = 1 << 14;
/// Steps of those outside the slice, at most.
const MOST_TO_FINISH: usize = 1 << 16;
/// A cycle of the slice is repeated so often until the whole is back where it was.
const MOST_ROUNDS: usize = 8;

/// What a slice has found, shown by a path of the whole protocol: each agent makes the steps that are left
/// out right before its next step. `None` if that path does not show it.
pub(crate) fn found_in_whole(machine: &mut Machine, slice: &Slice, found: &Found) -> Option<Found> {
    if found.path.cycle_from.is_some() {
        let path = with_cycle(machine, slice, &found.path)?;
        return Some(Found { path, ..found.clone() });
    }
    let mut walk = Walk::new(machine, slice);
    for choice in &found.path.steps {
        walk.make(*choice)?;
    }
    let path = Path { steps: walk.steps.clone(), cycle_from: None };
    if let Some(finding) = violation_shown(walk.machine, &path, true, &found.finding) {
        return (finding.rule == found.finding.rule).then_some(Found { finding, path, level: found.level });
    }
    for agent in walk.agents() {
        walk.make_left_out(agent)?;
    }
    // The others may have to come to their ends.
    for finish in [false, true] {
        if finish {
            walk.finish_others()?;
        }
        let path = Path { steps: walk.steps.clone(), cycle_from: None };
        if let Some(finding) = violation_shown(walk.machine, &path, false, &found.finding) {
            return Some(Found { finding, path, level: found.level });
        }
    }
    None
}

/// The path with the cycle in which it ends.
fn with_cycle(machine: &mut Machine, slice: &Slice, path: &Path) -> Option<Path> {
    let from = path.cycle_from?;
    let mut walk = Walk::new(machine, slice);
    for choice in &path.steps[..from] {
        walk.make(*choice)?;
    }
    let mut begins: Vec<(State, usize)> = Vec::new();
    for _ in 0..MOST_ROUNDS {
        if let Some((_, begin)) = begins.iter().find(|(begin, _)| *begin == walk.state) {
            return Some(Path { cycle_from: Some(*begin), steps: walk.steps });
        }
        begins.push((walk.state.clone(), walk.steps.len()));
        for choice in &path.steps[from..] {
            walk.make(*choice)?;
        }
    }
    None
}

/// A path of the whole protocol in the making.
struct Walk<'w> {
    machine: &'w mut Machine,
    slice: &'w Slice,
    state: State,
    steps: Vec<Choice>,
    log: Log,
    ended: bool,
}

impl<'w> Walk<'w> {
    fn new(machine: &'w mut Machine, slice: &'w Slice) -> Self {
        let state = machine.initial();
        Self { machine, slice, state, steps: Vec::new(), log: Log::default(), ended: false }
    }

    /// Makes a step of the slice, after those left out.
    fn make(&mut self, choice: Choice) -> Option<()> {
        if !choice.is_landing() {
            self.make_left_out(choice.agent())?;
        }
        self.advance(choice)
    }

    fn agents(&self) -> impl Iterator<Item = AgentId> + use<> {
        (0..self.state.agents.len()).map(AgentId::from_index)
    }

    /// Those that are not in the slice go on until none of them has a step.
    fn finish_others(&mut self) -> Option<()> {
        let others: Vec<AgentId> = self.agents().filter(|agent| !self.slice.has(*agent)).collect();
        for _ in 0..MOST_TO_FINISH {
            let next = others.iter().find_map(|agent| {
                let made = self.machine.moves(&self.state, *agent).first()?;
                let picks = self.machine.picks(&self.state, *agent, made);
                Some(Choice::of(*agent, 0, u32::try_from(picks.start).ok()?))
            });
            match next {
                Some(choice) => self.advance(choice)?,
                None => return Some(()),
            }
        }
        None
    }

    /// Makes the steps of an agent that are left out, as far as it stands at any.
    fn make_left_out(&mut self, agent: AgentId) -> Option<()> {
        for _ in 0..MOST_IN_A_ROW {
            match self.machine.left_out(self.slice, &self.state, agent) {
                Some(index) => self.advance(Choice::of(agent, index, 0))?,
                None => return Some(()),
            }
        }
        None
    }

    fn advance(&mut self, choice: Choice) -> Option<()> {
        if self.ended {
            return None;
        }
        self.log.events.clear();
        self.log.noted.clear();
        self.steps.push(choice);
        match self.machine.advance(&mut self.state, choice, &mut self.log) {
            Advanced::Progress => Some(()),
            Advanced::Error(_) => {
                self.ended = true;
                Some(())
            }
            // A local loop here is one of steps left out there.
            Advanced::NoEffect | Advanced::Disabled => None,
        }
    }
}
