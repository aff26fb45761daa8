//! Putting steps in another order, so that the steps of each agent stand together.

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{Choice, State};

use super::walk::Walker;

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
pub(super) fn gather(
    walker: &mut Walker,
    from: &State,
    steps: &mut [Choice],
    watched: Option<BarrierId>,
) -> bool {
    let mut changed = false;
    while sweep(walker, from, steps, watched) {
        changed = true;
    }
    changed
}

fn sweep(walker: &mut Walker, from: &State, steps: &mut [Choice], watched: Option<BarrierId>) -> bool {
    let mut changed = false;
    let mut state = from.clone();
    let mut start = 0;
    while start < steps.len() {
        let mut run = first_run(&steps[start..]);
        let Some(mut after) = after(walker, &state, &steps[start..start + run]) else { break };
        while let Some(length) = pulled_up(walker, &after, &mut steps[start..], run, watched) {
            changed = true;
            let Some(next) = self::after(walker, &after, &steps[start + run..start + run + length]) else {
                return changed;
            };
            after = next;
            run += length;
        }
        if pushed_down(walker, &state, &mut steps[start..], run, watched) {
            changed = true;
            continue;
        }
        state = after;
        start += run;
    }
    changed
}

fn after(walker: &mut Walker, from: &State, steps: &[Choice]) -> Option<State> {
    walker.passage(from, steps, None).map(|passage| passage.state)
}

/// The length of the run with which steps begin.
fn first_run(steps: &[Choice]) -> usize {
    steps.iter().take_while(|choice| choice.agent == steps[0].agent).count()
}

/// What stands between the first run and the next of that agent, and the next run: their lengths.
fn next_run(steps: &[Choice], run: usize) -> Option<(usize, usize)> {
    let agent = steps.first()?.agent;
    let rest = &steps[run..];
    let others = rest.iter().take(FARTHEST + 1).position(|choice| choice.agent == agent)?;
    let next = first_run(&rest[others..]);
    (next <= FARTHEST).then_some((others, next))
}

/// Puts the next run right behind the first, whose end is the state `after`. Returns its length.
fn pulled_up(
    walker: &mut Walker,
    after: &State,
    steps: &mut [Choice],
    run: usize,
    watched: Option<BarrierId>,
) -> Option<usize> {
    let (others, next) = next_run(steps, run)?;
    let part = &mut steps[run..run + others + next];
    let expected = walker.passage(after, &*part, watched)?;
    let (between, moved) = part.split_at(others);
    let order = [moved, between].concat();
    (walker.passage(after, &order, watched)? == expected).then(|| {
        part.copy_from_slice(&order);
        next
    })
}

/// Puts the first run further back, and the next to it: behind all steps between them, else somewhere among those.
fn pushed_down(
    walker: &mut Walker,
    from: &State,
    steps: &mut [Choice],
    run: usize,
    watched: Option<BarrierId>,
) -> bool {
    let Some((others, next)) = next_run(steps, run).filter(|_| run <= FARTHEST) else { return false };
    let part = &mut steps[..run + others + next];
    let Some(expected) = walker.passage(from, &*part, watched) else { return false };
    let (first, rest) = part.split_at(run);
    let (between, moved) = rest.split_at(others);
    // No run of another agent is cut in two.
    let inner = (1..others).filter(|at| between[at - 1].agent != between[*at].agent);
    let order = std::iter::once(others).chain(inner.take(MOST_PLACES)).find_map(|place| {
        let order = [&between[..place], first, moved, &between[place..]].concat();
        (walker.passage(from, &order, watched)? == expected).then_some(order)
    });
    order.inspect(|order| part.copy_from_slice(order)).is_some()
}
