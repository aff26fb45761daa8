//! Confirming a trace on the model alone.
//!
//! A trace names its choices, so replay makes those steps and no others. One claim is about more than the run
//! itself: that an agent is stuck for ever while others go on. What it says of the states that can still be
//! reached is checked by [`stuck`], which explores them, up to a bound.

mod arrivals;
mod stuck;
mod survey;

use std::sync::Arc;

use barcheck_model::Patience;
use barcheck_model::machine::{ExitedThreads, Options, State};
use barcheck_model::program::{AgentId, Program};
use barcheck_model::rule::Rule;

use crate::build::record::{Departure, Reached, Recorder, ended_early};
use crate::build::{BETWEEN_LOOKS, agents, check_cycle, confirmed_by, ends, state_outcome};
use crate::explain;
use crate::trace::{self, BarrierState, Basis, Event, Outcome, OutcomeKind, Step, Trace};
pub use arrivals::last_arrivals;
pub use stuck::Stuck;
use stuck::{check_blocked, stays_blocked};
pub(crate) use survey::survey;

/// A trace does what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// Steps replayed, every one as written.
    pub steps: usize,
    /// The rule that is violated there, if the trace is about one.
    pub rule: Option<String>,
    /// For an agent that is stuck while others run for ever.
    pub stuck: Option<Stuck>,
    /// What the run shows, put into words anew: nothing that the trace says of it is taken over but the
    /// level.
    pub outcome: Outcome,
}

/// Replays a trace on the model of its protocol and confirms each step, each state and the outcome.
///
/// Words (headline, message, explanation, related places) are not compared, but [made
/// anew](Confirmation::outcome); show those. Levels are what the user wants them to be.
///
/// # Errors
/// Where the trace and the model depart.
pub fn replay(trace: &Trace, program: Arc<Program>) -> Result<Confirmation, Departure> {
    replay_within(trace, program, Patience::default())
}

/// The same as long as patience lasts.
///
/// # Errors
/// Where the trace and the model depart; or anything, once patience [has run out](Patience::has_run_out).
pub fn replay_within(
    trace: &Trace,
    program: Arc<Program>,
    patience: Patience,
) -> Result<Confirmation, Departure> {
    check_protocol(trace, &program)?;
    let exited_threads = match trace.protocol.exited_threads {
        trace::ExitedThreads::Hold => ExitedThreads::Hold,
        trace::ExitedThreads::Release => ExitedThreads::Release,
    };
    let mut recorder = Recorder::new(program, Options { exited_threads }, patience);
    same(None, "the initial state", &trace.initial, &recorder.whole())?;
    let stuck = (trace.outcome.rule.as_deref() == Some(Rule::StuckAgent.name()))
        .then_some(AgentId(trace.outcome.agent));
    let mut reached = Reached::State(Vec::new());
    let mut at_cycle = None;
    for (index, step) in trace.steps.iter().enumerate() {
        if index.is_multiple_of(BETWEEN_LOOKS) {
            if recorder.machine.patience().is_over() {
                return Err(Departure { step: Some(index), ..Departure::default() });
            }
            if at_cycle.is_none() {
                recorder.forget();
            }
        }
        if trace.outcome.cycle_from == Some(index) {
            at_cycle = Some(recorder.state.clone());
        }
        if matches!(reached, Reached::End(_)) {
            return Err(ended_early(index));
        }
        let (found, next) = recorder.step(step.again())?;
        same_step(index, step, &found)?;
        reached = next;
        if at_cycle.is_some()
            && let Some(agent) = stuck
        {
            check_blocked(&recorder.machine, &recorder.state, agent, Some(index))?;
        }
    }
    check_cycle(trace.outcome.cycle_from, at_cycle.as_ref(), &recorder)?;
    same(None, "the list of barriers", &trace.barriers, &barriers(trace, &recorder))?;
    let mut ends = ends(&mut recorder, &reached, at_cycle.is_some(), &trace.steps);
    ends.extend(standing(trace, &recorder, &reached));
    let mut wanted = trace.outcome.clone();
    if wanted.kind != OutcomeKind::Violation {
        // The message that names what went wrong is the last event's, and has been compared with it.
        wanted.headline = ends.last().map_or(String::new(), |end| end.headline.clone());
    }
    let found = confirmed_by(&wanted, &ends)?;
    same(None, "the basis of the outcome", &trace.outcome.basis, &found.basis)?;
    same(None, "the instruction of the outcome", &trace.outcome.instruction, &found.instruction)?;
    let cycle_from = trace.outcome.cycle_from.filter(|_| found.basis == Basis::Cycle);
    same(None, "where the cycle begins", &trace.outcome.cycle_from, &cycle_from)?;
    let lasting = match (stuck, at_cycle) {
        (Some(_), Some(state)) => lasting(trace, &mut recorder, &state)?,
        _ => None,
    };
    let outcome = Outcome {
        // Whoever made the trace has chosen the level.
        level: trace.outcome.level.clone(),
        agents: trace.outcome.agents.clone(),
        cycle_from,
        ..found.clone()
    };
    Ok(confirmation(trace, lasting, outcome))
}

/// Whoever is said to be stuck has to be, and who is named first is among them.
fn lasting(trace: &Trace, recorder: &mut Recorder, state: &State) -> Result<Option<Stuck>, Departure> {
    let is_among = trace.outcome.agents.contains(&trace.outcome.agent);
    same(None, "whether who is stuck is among the agents of the outcome", &is_among, &true)?;
    let mut lasting = None;
    for agent in &trace.outcome.agents {
        lasting = Some(stays_blocked(&mut recorder.machine, state.clone(), AgentId(*agent))?);
    }
    Ok(lasting)
}

fn confirmation(trace: &Trace, stuck: Option<Stuck>, outcome: Outcome) -> Confirmation {
    let (steps, rule) = (trace.steps.len(), trace.outcome.rule.clone());
    Confirmation { steps, rule, stuck, outcome: explain::worded(trace, outcome) }
}

/// Where the agents of the outcome are, if that is what the trace shows: it has been compared, step by step.
fn standing(trace: &Trace, recorder: &Recorder, reached: &Reached) -> Option<Outcome> {
    let is_asked = trace.outcome.kind == OutcomeKind::State && matches!(reached, Reached::State(_));
    let agents: Vec<AgentId> = trace.outcome.agents.iter().map(|agent| AgentId(*agent)).collect();
    is_asked.then(|| state_outcome(recorder, &agents))
}

/// The trace is of this protocol.
fn check_protocol(trace: &Trace, program: &Program) -> Result<(), Departure> {
    same(None, "the target", &trace.protocol.target.as_str(), &program.target.name())?;
    same(None, "the size of the group", &trace.protocol.group_size, &program.threads)?;
    same(None, "the number of CTAs", &trace.protocol.ctas, &program.ctas)?;
    same(None, "the size of subgroups", &trace.protocol.subgroup_size, &program.subgroup_size)?;
    same(None, "the list of agents", &trace.agents, &agents(program))
}

/// The barriers that occurred, and the one that the outcome names.
fn barriers(trace: &Trace, recorder: &Recorder) -> Vec<trace::Barrier> {
    let mut barriers = recorder.barriers();
    if let Some(barrier) = trace.outcome.barrier
        && !barriers.iter().any(|b| b.barrier == barrier)
    {
        let id = barcheck_model::barrier::BarrierId(barrier);
        barriers.push(crate::wording::barrier(recorder.program(), id));
        barriers.sort_by_key(|b| b.barrier);
    }
    barriers
}

fn same_step(index: usize, expected: &Step, found: &Step) -> Result<(), Departure> {
    let at = Some(index);
    same(at, "the step's index", &expected.index, &found.index)?;
    same(at, "the instruction", &expected.instruction, &found.instruction)?;
    same(at, "the place of the instruction", &expected.location, &found.location)?;
    same(at, "the resolved instruction", &expected.resolved, &found.resolved)?;
    same(at, "the operands", &expected.operands, &found.operands)?;
    same(at, "the lanes", &expected.lanes, &found.lanes)?;
    same_list(at, "event", &known_issues(&expected.events, &found.events), &found.events)?;
    same_list(at, "changed agent", &expected.changes.agents, &found.changes.agents)?;
    let barriers = known_missing(&expected.changes.barriers, &found.changes.barriers);
    same_list(at, "changed barrier", &barriers, &found.changes.barriers)
}

/// The events as a trace says that they are found. It need not say what is issued.
fn known_issues(expected: &[Event], found: &[Event]) -> Vec<Event> {
    let mut events = expected.to_vec();
    for (event, now) in events.iter_mut().zip(found) {
        if let (Event::Issued { barrier, bytes: None, writes: None }, Event::Issued { barrier: same, .. }) =
            (&*event, now)
            && barrier == same
        {
            event.clone_from(now);
        }
    }
    events
}

/// The barriers as a trace says that they are found. Who is missing may be told more closely than the trace
/// does, since that can only be told as far as code is understood without running it.
fn known_missing(expected: &[BarrierState], found: &[BarrierState]) -> Vec<BarrierState> {
    let mut barriers = expected.to_vec();
    for (barrier, now) in barriers.iter_mut().zip(found) {
        if now.missing.iter().all(|agent| barrier.missing.contains(agent)) {
            barrier.missing.clone_from(&now.missing);
        }
    }
    barriers
}

/// Compares lists element by element, so that the departure names one element.
fn same_list<T>(step: Option<usize>, what: &str, expected: &[T], found: &[T]) -> Result<(), Departure>
where
    T: PartialEq + serde::Serialize,
{
    for (index, (a, b)) in expected.iter().zip(found).enumerate() {
        same(step, &format!("{what} {index}"), a, b)?;
    }
    same(step, &format!("the number of {what}s"), &expected.len(), &found.len())
}

fn same<T: PartialEq + serde::Serialize>(
    step: Option<usize>,
    what: &str,
    expected: &T,
    found: &T,
) -> Result<(), Departure> {
    if expected == found {
        return Ok(());
    }
    let (expected, found) = shortened(&json(expected), &json(found));
    Err(Departure { step, what: what.to_owned(), expected, found })
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// Two texts cut down to where they differ.
fn shortened(a: &str, b: &str) -> (String, String) {
    const MOST: usize = 160;
    const BEFORE: usize = 40;
    let common = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).count();
    let cut = |text: &str| {
        let length = text.chars().count();
        if length <= MOST {
            return text.to_owned();
        }
        let from = common.saturating_sub(BEFORE).min(length - MOST);
        let middle: String = text.chars().skip(from).take(MOST).collect();
        let before = if from > 0 { "..." } else { "" };
        let after = if from + MOST < length { "..." } else { "" };
        format!("{before}{middle}{after}")
    };
    (cut(a), cut(b))
}
