//! Cutting out cycles: parts of a path after which everybody stands where everybody stood.

use std::collections::HashMap;

use barcheck_model::machine::Choice;

use super::goal::Goal;
use super::walker::{Step, Walker};

/// How many ends are tried for a part that begins somewhere.
const MOST_ENDS: usize = 8;

/// Cuts out cycles as long as the goal still shows. Counters of loops differ after a cycle, so it takes a run
/// to tell.
pub(super) fn cut(walker: &mut Walker<'_>, goal: &Goal<'_>, steps: &mut Vec<Choice>) {
    // The other half is for putting steps in order.
    let reserve = walker.left() / 2;
    let mut from = 0;
    let mut places = Places::along(walker, steps);
    while from < places.at.len() && walker.left() > reserve {
        match shorter(walker, goal, steps, &places, from) {
            Some(shorter) => {
                *steps = shorter;
                places = Places::along(walker, steps);
            }
            None => from += 1,
        }
    }
}

/// Where everybody stands before each step of a path and after the last, and when everybody stands there.
#[derive(Default)]
struct Places {
    at: Vec<u64>,
    times: HashMap<u64, Vec<usize>>,
}

impl Places {
    fn along(walker: &mut Walker<'_>, steps: &[Choice]) -> Self {
        let mut places = Self::default();
        let mut state = walker.initial();
        places.add(walker.standing(&state));
        for choice in steps {
            let Some(Step::On { state: next, .. }) = walker.step(&state, *choice) else { break };
            state = next;
            places.add(walker.standing(&state));
        }
        places
    }

    fn add(&mut self, place: u64) {
        self.times.entry(place).or_default().push(self.at.len());
        self.at.push(place);
    }

    /// When everybody is back at the place where everybody is at a time.
    fn again(&self, time: usize) -> &[usize] {
        let times = self.times.get(&self.at[time]).map_or(&[][..], Vec::as_slice);
        &times[times.partition_point(|other| *other <= time)..]
    }
}

/// The path without a cycle that begins at `from`: the longest, else one of the shortest.
fn shorter(
    walker: &mut Walker<'_>,
    goal: &Goal<'_>,
    steps: &[Choice],
    places: &Places,
    from: usize,
) -> Option<Vec<Choice>> {
    let (farthest, nearer) = places.again(from).split_last()?;
    std::iter::once(farthest).chain(nearer.iter().take(MOST_ENDS - 1)).find_map(|to| {
        let rest = [&steps[..from], &steps[*to..]].concat();
        goal.reached(walker, &rest)
    })
}
