//! Where arrivals were made last, without writing a path down.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{Choice, Event, Options, Path};
use barcheck_model::program::{Pc, Program};

use crate::build::BETWEEN_LOOKS;
use crate::build::limits::Limits;
use crate::build::record::Recorder;
use crate::build::snapshot;
use crate::trace::Location;

/// By barrier, the place of the last arrival on a path. `None` where the path departs from the model or there
/// is no time left: then whoever asks has to do without.
#[must_use]
pub fn last_arrivals(
    program: &Arc<Program>,
    options: Options,
    path: &Path,
    limits: &Limits<'_>,
) -> Option<BTreeMap<u32, Location>> {
    let mut recorder = Recorder::new(Arc::clone(program), options, limits.patience());
    let mut last = HashMap::new();
    for (index, choice) in path.steps.iter().enumerate() {
        if index.is_multiple_of(BETWEEN_LOOKS) {
            recorder.forget();
            if !(limits.goes_on)() {
                return None;
            }
        }
        let at = operation(&recorder, *choice)?;
        for event in recorder.pass(*choice).ok()? {
            if let Event::Arrived(barrier) = event {
                last.insert(*barrier, (choice.agent(), at));
            }
        }
    }
    let place = |(agent, at)| snapshot::location(recorder.machine.place(agent, at));
    Some(last.into_iter().map(|(BarrierId(barrier), arrival)| (barrier, place(arrival))).collect())
}

/// The operation whose step a choice is.
fn operation(recorder: &Recorder, choice: Choice) -> Option<Pc> {
    recorder.program().agents.get(choice.agent().index())?;
    let (agent, index) = (choice.agent(), choice.index as usize);
    if choice.is_landing() {
        return Some(recorder.state.pending_of(agent).get(index)?.pc);
    }
    Some(recorder.machine.moves(&recorder.state, agent).get(index)?.pc)
}
