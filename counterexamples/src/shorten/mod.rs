//! Shorter paths that show the same.
//!
//! A search that visits states in no particular order, or a schedule that threads happened to take, leads to
//! a violation by way of much that has nothing to do with it. First a long path chooses otherwise where that
//! comes to the same sooner ([`choices`]). Then three things are done to it, again and again until none
//! changes it:
//!
//! * what agents do at their ends is left out as long as the violation still shows ([`tails`]);
//! * cycles are cut out, which lead back to where everybody stood ([`cycles`]);
//! * steps that commute are put in another order, so that the steps of each agent stand together ([`order`]).
//!
//! Nothing is known here of barriers: each attempt is run on the model, and counts only if it shows the same
//! finding, of the same agents at the same place. A path to a deadlock, or to the end of all agents, ends
//! where everybody stood before; one that runs for ever visits no state that it did not visit before, since
//! what is claimed of its agents is claimed of all continuations.

mod choices;
mod cycles;
mod goal;
mod lasso;
mod order;
mod tails;
mod walker;

use std::sync::Arc;

use barcheck_model::machine::{Choice, Options, Path};
use barcheck_model::program::Program;

use crate::build::What;
use crate::build::limits::Limits;
use goal::Goal;
use walker::Walker;

/// What all attempts on one path may cost: agents copied from a state to the next. That is some tenths of a
/// second, and for a group of four agents half a million steps of the model.
const BUDGET: usize = 2_000_000;

/// A path that shows the same as `path` does: never longer, and of the same length never with more changes
/// from one agent to another. The same arguments give the same path. One that does not show `what` comes back
/// as it is.
#[must_use]
pub fn shorten(program: Arc<Program>, options: Options, path: &Path, what: What<'_>) -> Path {
    shorten_within(program, options, path, what, &Limits::NONE)
}

/// The same as long as there is time left, which is asked now and then.
#[must_use]
pub fn shorten_within(
    program: Arc<Program>,
    options: Options,
    path: &Path,
    what: What<'_>,
    limits: &Limits<'_>,
) -> Path {
    // To follow such a path once would cost it all.
    if path.steps.len().saturating_mul(program.agents.len()) > BUDGET {
        return path.clone();
    }
    let mut walker = Walker::new(program, options, BUDGET, limits);
    let shorter = match path.cycle_from {
        Some(from) => lasso::shorten(&mut walker, &path.steps, from, what),
        None => straight(&mut walker, &path.steps, what),
    };
    shorter.filter(|shorter| weight(shorter) <= weight(path)).unwrap_or_else(|| path.clone())
}

/// What is to be small: the steps, then the changes from one agent to another.
fn weight(path: &Path) -> (usize, usize) {
    (path.steps.len(), order::switches(&path.steps))
}

fn straight(walker: &mut Walker<'_>, steps: &[Choice], what: What<'_>) -> Option<Path> {
    let mut steps = steps.to_vec();
    if let Some(goal) = Goal::of_agents(walker, &steps, what) {
        choices::otherwise(walker, &goal, &mut steps);
    }
    let goal = Goal::of(walker, &steps, what)?;
    let mut steps = goal.reached(walker, &steps)?;
    loop {
        let before = steps.clone();
        tails::cut(walker, &goal, &mut steps);
        cycles::cut(walker, &goal, &mut steps);
        let free = steps.len() - goal.fixed_at_the_end().min(steps.len());
        let initial = walker.initial();
        order::gather(walker, &initial, &mut steps[..free], goal.last_arrival());
        if steps == before {
            break;
        }
    }
    Some(Path { steps, cycle_from: None })
}
