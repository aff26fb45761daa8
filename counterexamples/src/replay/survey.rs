//! Confirming a path that is too long to be written down whole.

use std::sync::Arc;

use barcheck_model::Patience;
use barcheck_model::machine::{Options, Path};
use barcheck_model::program::Program;
use barcheck_model::rule::Rule;

use super::stuck::{check_blocked, stays_blocked};
use crate::build::excerpt::Kept;
use crate::build::record::{Departure, Reached, Recorder};
use crate::build::{BETWEEN_LOOKS, What, check_cycle, ends, shown};

/// Makes all steps of a path on the model, confirms that it leads to `what`, and learns what is to be kept of
/// it. It takes the time of the steps alone, and the room of one state.
///
/// # Errors
/// Where the path departs from the model, or does not lead to `what`.
pub(crate) fn survey(
    (program, options, patience): (Arc<Program>, Options, Patience),
    path: &Path,
    what: What<'_>,
    kept: &mut Kept,
) -> Result<(), Departure> {
    let stuck = match what {
        What::Finding(finding, _) if finding.rule == Rule::StuckAgent => Some(finding.agent),
        _ => None,
    };
    let mut recorder = Recorder::new(program, options, patience);
    let mut reached = Reached::State(Vec::new());
    let mut at_cycle = None;
    for (index, choice) in path.steps.iter().enumerate() {
        if index.is_multiple_of(BETWEEN_LOOKS) && at_cycle.is_none() {
            recorder.forget();
        }
        if path.cycle_from == Some(index) {
            at_cycle = Some(recorder.state.clone());
        }
        if index + 1 == path.steps.len() {
            (_, reached) = recorder.step(*choice)?;
        } else {
            kept.follow(index, *choice, recorder.pass(*choice)?);
        }
        if let (true, Some(agent)) = (at_cycle.is_some(), stuck) {
            check_blocked(&recorder.machine, &recorder.state, agent, Some(index))?;
        }
    }
    check_cycle(path.cycle_from, at_cycle.as_ref(), &recorder)?;
    let ends = ends(&mut recorder, &reached, path.cycle_from.is_some(), &[]);
    shown(&recorder, what, path.cycle_from, &[], (&reached, &ends))?;
    if let (Some(agent), Some(state)) = (stuck, at_cycle) {
        stays_blocked(&mut recorder.machine, state, agent)?;
    }
    Ok(())
}
