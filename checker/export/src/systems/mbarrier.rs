//! mbarrier objects of PTX.

use super::step::Spelling;
use crate::columns::Columns;
use crate::node::{Act, Step};
use barcheck_model::barrier::mbarrier::{self, Action, Keeping, Phase, What};
use barcheck_model::barrier::{Arrival, BarrierAction, BarrierId};
use barcheck_model::program::Program;

/// What stands for a phase whose token an agent holds, in the place of a parity.
const OF_TOKEN: usize = 2;

/// The instruction on an object that a step is.
pub(super) fn on_object(act: &Act) -> Option<&Action> {
    match act {
        Act::Barrier(BarrierAction::Mbarrier(action), _) => Some(action),
        _ => None,
    }
}

/// Whether an instruction leaves something in flight.
pub(super) fn issues(action: &Action) -> bool {
    matches!(action.what, What::Copy(..) | What::Commit(_) | What::FillsArrive { .. })
}

/// What an instruction is called.
pub(super) fn spelling(action: &Action) -> Spelling {
    let (name, promela, tla) = match action.what {
        What::Init(_) => ("INIT", "init_object()", "InitObject(t, a, r)"),
        What::Inval => ("INVAL", "inval_object()", "InvalObject(t, a, r)"),
        What::Arrive { .. } => ("ARRIVE_ON_OBJECT", "arrive_on_object()", "ArriveOnObject(t, a, r)"),
        What::CountBytes(_) => ("COUNT_BYTES", "count_bytes()", "CountBytes(t, a, r)"),
        What::Wait(..) => ("WAIT_FOR_PHASE", "wait_for_phase()", "WaitForPhase(t, a, r)"),
        What::Ask(..) => ("ASK", "ask()", "Ask(t, a, r)"),
        What::Copy(..) | What::Commit(_) | What::FillsArrive { .. } => ("ISSUE", "issue()", "Issue(t, a, r)"),
    };
    Spelling { name, promela, tla, goes_where_it_blocks: false }
}

/// Arrivals that an instruction makes an object expect.
pub(super) fn expects(action: &Action) -> Option<usize> {
    if let What::Init(count) = action.what { Some(count as usize) } else { None }
}

/// Arrivals, now or at the landing, or those to be expected; and bytes, announced or delivered.
pub(super) fn counted(action: &Action) -> (usize, usize) {
    match action.what {
        What::Init(count) | What::Commit(count) | What::FillsArrive { lanes: count, .. } => {
            (count as usize, 0)
        }
        What::Arrive { count, bytes, .. } => (count as usize, bytes.unsigned_abs() as usize),
        What::CountBytes(bytes) => (0, bytes.unsigned_abs() as usize),
        What::Copy(bytes, _) => (0, bytes as usize),
        What::Inval | What::Wait(..) | What::Ask(..) => (0, 0),
    }
}

/// What travels with an arrival.
pub(super) fn arrival(act: &Act) -> Option<Arrival> {
    if let What::Arrive { how, .. } = on_object(act)?.what { Some(how) } else { None }
}

/// The columns that only objects need; the count is the target's.
pub(super) fn fill_step(step: &Step, columns: &mut Columns) {
    let what = on_object(&step.act).map(|action| action.what);
    let bytes = on_object(&step.act).map_or(0, |action| counted(action).1);
    let delivers = match what {
        Some(What::CountBytes(bytes)) => bytes < 0,
        Some(What::Copy(..)) => true,
        _ => false,
    };
    let phase = match what {
        Some(What::Wait(phase, _) | What::Ask(phase, ..)) => phase,
        _ => Phase::Parity(false),
    };
    columns.push("step_bytes", bytes);
    columns.push("step_delivers", usize::from(delivers));
    columns.push("step_drops", usize::from(matches!(what, Some(What::Arrive { dropped: 1.., .. }))));
    let no_complete = matches!(what, Some(What::Arrive { no_complete: true, .. }));
    columns.push("step_no_complete", usize::from(no_complete));
    columns.push("step_token", usize::from(keeps_token(&step.act)));
    columns.push(
        "step_phase",
        match phase {
            Phase::Parity(odd) => usize::from(odd),
            Phase::OfToken => OF_TOKEN,
        },
    );
    columns.push("step_denies", usize::from(matches!(what, Some(What::Ask(_, _, true)))));
    columns.push("step_answered", step.answered.unwrap_or_default());
}

/// The agent keeps a token of the phase beside others of the object.
pub(crate) fn keeps_one_more_token(action: &BarrierAction) -> bool {
    let BarrierAction::Mbarrier(action) = action else { return false };
    matches!(action.what, What::Arrive { kept: Keeping::OneMore, .. })
}

/// The agent keeps a token of the phase.
pub(super) fn keeps_token(act: &Act) -> bool {
    on_object(act)
        .is_some_and(|action| matches!(action.what, What::Arrive { kept, .. } if kept != Keeping::Nothing))
}

/// Arrivals that an object expects which is initialised before the first step.
pub(super) fn initial_count(program: &Program, object: BarrierId) -> Option<u32> {
    let number = mbarrier::number(program.home(object)?.barrier)?;
    let after = program.objects.partition_point(|objects| objects.first <= number);
    program.objects.get(after.checked_sub(1)?)?.count
}

/// How the protocol writes the object that a barrier is.
pub(super) fn name(program: &Program, id: BarrierId) -> Option<String> {
    mbarrier::object_name(program, id)
}
