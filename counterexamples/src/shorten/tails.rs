//! Leaving out what agents do at their ends.

use std::collections::{BTreeMap, VecDeque};

use barcheck_model::machine::{Actor, Choice};

use super::goal::{Attempt, Goal, Progress};
use super::walker::Walker;

/// Finds for each agent the fewest of its steps with which the goal still shows, and leaves out the others.
///
/// Whoever would wait for a step that is left out goes no further, so that with one agent others drop out
/// too. How many steps of an agent are needed does not depend on the others where no timing decides who meets
/// whom, so each is looked at once.
pub(super) fn cut(walker: &mut Walker<'_>, goal: &Goal<'_>, steps: &mut Vec<Choice>) {
    if goal.is_final() {
        return;
    }
    let mut counts = BTreeMap::<Actor, usize>::new();
    for choice in steps.iter() {
        *counts.entry(choice.actor).or_default() += 1;
    }
    for (actor, own) in counts {
        let (mut low, mut high) = (0, own);
        // Most agents are needed either hardly at all or nearly to where they are.
        let mut kept = 0;
        while low < high {
            match attempt(walker, goal, steps, actor, kept) {
                Some(shorter) => {
                    *steps = shorter;
                    high = kept;
                }
                None => low = kept + 1,
            }
            kept = low + (high - low) / 2;
        }
    }
}

/// The path without the steps of one agent beyond the first `kept`, if it shows the goal. Each agent makes
/// its steps in the order in which it made them, when its turn comes and it can.
fn attempt(
    walker: &mut Walker<'_>,
    goal: &Goal<'_>,
    steps: &[Choice],
    actor: Actor,
    kept: usize,
) -> Option<Vec<Choice>> {
    let mut queues = BTreeMap::<Actor, VecDeque<Choice>>::new();
    for choice in steps {
        let queue = queues.entry(choice.actor).or_default();
        if choice.actor != actor || queue.len() < kept {
            queue.push_back(*choice);
        }
    }
    let mut attempt = Attempt::new(goal, walker);
    for turn in steps {
        let Some(queue) = queues.get_mut(&turn.actor) else { continue };
        let Some(choice) = queue.front() else { continue };
        match attempt.step(walker, *choice) {
            Progress::Impossible => {}
            Progress::Made => {
                queue.pop_front();
            }
            Progress::Last => break,
        }
    }
    attempt.end(walker).filter(|shorter| shorter.len() < steps.len())
}
