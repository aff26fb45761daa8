//! Choosing otherwise: a path that goes through many rounds before it chooses what leads to the violation is
//! shorter if it chooses so at once.
//!
//! No step of such a path remains what it was, so that nothing can be cut out of it. Instead each choice is
//! made the other way, one after the other, and all agents go on from there, in turns as before and with the
//! choices that they made before. What comes to the same violation sooner is kept.

use std::collections::HashMap;

use barcheck_model::agent::{Action, Choices};
use barcheck_model::machine::Choice;
use barcheck_model::program::{AgentId, Pc, SequenceId};

use super::goal::{Attempt, Goal, Progress};
use super::walker::{Step, Walker};

/// Paths below this length are read as they are.
const LONG: usize = 64;
/// Other ways of one choice that are tried.
const MOST_WAYS: usize = 3;

/// A choice: the n-th of a sequence that all share, or the n-th that an agent has at some operation.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Shared(SequenceId, usize),
    Own(AgentId, Pc, usize),
}

/// What has been chosen along a path so far.
#[derive(Default)]
struct Counter(HashMap<Key, usize>);

impl Counter {
    /// The choice that comes next.
    fn key(&self, agent: AgentId, pc: Pc, choices: Choices) -> Key {
        let key = |n| match choices {
            Choices::Uniform(sequence) => Key::Shared(sequence, n),
            Choices::One | Choices::Open(_) => Key::Own(agent, pc, n),
        };
        key(self.0.get(&key(0)).copied().unwrap_or_default())
    }

    /// It has been made.
    fn count(&mut self, key: Key) {
        let first = match key {
            Key::Shared(sequence, _) => Key::Shared(sequence, 0),
            Key::Own(agent, pc, _) => Key::Own(agent, pc, 0),
        };
        *self.0.entry(first).or_default() += 1;
    }
}

/// The choices of a path, in order: where, what was chosen, and in how many ways it could be.
struct Plan {
    made: Vec<(Key, u64, u64)>,
    /// Whose turn it is.
    turns: Vec<AgentId>,
}

/// Makes choices otherwise as long as that comes to the goal sooner.
pub(super) fn otherwise(walker: &mut Walker<'_>, goal: &Goal<'_>, steps: &mut Vec<Choice>) {
    if steps.len() < LONG || steps.iter().any(|step| step.is_landing()) {
        return;
    }
    let Some(mut plan) = Plan::along(walker, steps) else { return };
    // Most is left for what can be cut out.
    let reserve = walker.left() / 2;
    let mut number = 0;
    while number < plan.made.len() && walker.left() > reserve {
        let (key, chosen, ways) = plan.made[number];
        let mut others = (0..ways).filter(|way| *way != chosen).take(MOST_WAYS);
        let shorter = others.find_map(|way| plan.run(walker, goal, (key, way), steps.len()));
        if let Some(shorter) = shorter {
            let Some(other) = Plan::along(walker, &shorter) else { return };
            (*steps, plan) = (shorter, other);
        }
        number += 1;
    }
}

impl Plan {
    fn along(walker: &mut Walker<'_>, steps: &[Choice]) -> Option<Self> {
        let (mut state, mut counter) = (walker.initial(), Counter::default());
        let mut plan = Self { made: Vec::new(), turns: Vec::new() };
        for choice in steps {
            let agent = choice.agent();
            plan.turns.push(agent);
            let made = walker.machine.moves(&state, agent).get(choice.index as usize)?;
            let picks = walker.machine.picks(&state, agent, made);
            if picks.end - picks.start > 1 {
                let key = counter.key(agent, made.pc, made.choices);
                counter.count(key);
                plan.made.push((key, u64::from(choice.pick), picks.end));
            }
            match walker.step(&state, *choice)? {
                Step::On { state: next, .. } => state = next,
                Step::End(_) => break,
            }
        }
        Some(plan)
    }

    /// A run with one choice made otherwise, if it comes to the goal in fewer steps.
    fn run(
        &self,
        walker: &mut Walker<'_>,
        goal: &Goal<'_>,
        (otherwise, way): (Key, u64),
        fewer_than: usize,
    ) -> Option<Vec<Choice>> {
        let mut chosen: HashMap<Key, u64> = self.made.iter().map(|(key, pick, _)| (*key, *pick)).collect();
        chosen.insert(otherwise, way);
        let (mut attempt, mut counter) = (Attempt::new(goal, walker), Counter::default());
        let agents: Vec<AgentId> = walker.machine.agents().collect();
        let mut turns = self.turns.clone();
        let mut last = false;
        while !last && !turns.is_empty() {
            let before = attempt.length();
            for agent in turns {
                if attempt.length() >= fewer_than {
                    return None;
                }
                let Some((choice, key)) = next(walker, &attempt, agent, &chosen, &counter) else { continue };
                let progress = attempt.step(walker, choice);
                match progress {
                    Progress::Impossible => continue,
                    // Whatever changes nothing might be made again and again.
                    Progress::Made if walker.idles() => return None,
                    Progress::Made | Progress::Last => key.into_iter().for_each(|key| counter.count(key)),
                }
                if progress == Progress::Last {
                    last = true;
                    break;
                }
            }
            // When nobody has gone on, nobody can.
            turns = if attempt.length() > before { agents.clone() } else { Vec::new() };
        }
        attempt.end(walker).filter(|shorter| shorter.len() < fewer_than)
    }
}

/// The next step of an agent, and which choice it is.
fn next(
    walker: &Walker<'_>,
    attempt: &Attempt<'_>,
    agent: AgentId,
    chosen: &HashMap<Key, u64>,
    counter: &Counter,
) -> Option<(Choice, Option<Key>)> {
    let moves = walker.machine.moves(attempt.state(), agent);
    let (index, made) = moves.iter().enumerate().find(|(_, made)| made.action != Action::Spin)?;
    let picks = walker.machine.picks(attempt.state(), agent, made);
    let key = (picks.end - picks.start > 1).then(|| counter.key(agent, made.pc, made.choices));
    let before = key.and_then(|key| chosen.get(&key)).copied();
    let pick = before.filter(|pick| picks.contains(pick)).unwrap_or(picks.start);
    Some((Choice::of(agent, u32::try_from(index).ok()?, u32::try_from(pick).ok()?), key))
}
