//! From a path that a search found to a trace.

use std::collections::BTreeMap;
use std::sync::Arc;

use barcheck_model::Patience;
use barcheck_model::agent::Fault;
use barcheck_model::machine::{self, CutReason, End, ExitedThreads, Finding, Options, Path};
use barcheck_model::program::{AgentId, Pc, Program};
use barcheck_model::rule::{Level, Rule};

pub(crate) mod counterexample;
pub(crate) mod excerpt;
pub(crate) mod limits;
pub(crate) mod record;
mod said;
pub(crate) mod snapshot;
pub(crate) mod unfollowed;

use crate::build::excerpt::{Kept, MOST_SKETCHED, asks_who_came};
use crate::build::limits::{Limits, Why};
use crate::build::record::{Departure, Reached, Recorder, ended_early};
use crate::build::unfollowed::{cut_message, fault_message};
use crate::explain;
use crate::trace::{
    self, Agent, Basis, Detail, Event, FORMAT, Outcome, OutcomeKind, Protocol, State, Step, Trace,
};
use crate::wording::access_name;

/// Where a protocol was read from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceInfo {
    /// The file's name, as the user gave it.
    pub file: String,
    /// The notation: `bar`.
    pub format: String,
    /// The whole text.
    pub text: String,
    /// Values given to parameters from outside.
    pub defines: BTreeMap<String, i64>,
}

/// What a path leads to.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// A violation, with its level in force.
    Finding(&'a Finding, Level),
    /// An evaluation error.
    Fault(AgentId, &'a Fault),
    /// Something that the model does not cover.
    Cut(AgentId, Pc, &'a CutReason),
    /// A state in which these agents are where they were looked for.
    State(&'a [AgentId]),
}

/// Steps between two looks at what a trace costs.
pub(crate) const BETWEEN_LOOKS: usize = 256;

/// How much of a path is written down.
pub(crate) enum Extent<'e> {
    /// All of it, within limits.
    Whole(&'e Limits<'e>),
    /// Some of it.
    Excerpt(&'e Kept, &'e Limits<'e>),
}

/// What became of a path.
pub(crate) enum Recorded {
    /// A trace, and the memory that it takes.
    Trace(Box<Trace>, u64),
    /// None, since it is beyond a limit.
    Over(Why),
}

/// Runs a path on the model and writes it down as a trace.
///
/// # Errors
/// The path cannot be made, or does not lead to `what`.
pub fn build(
    program: Arc<Program>,
    options: Options,
    source: &SourceInfo,
    path: &Path,
    what: What<'_>,
) -> Result<Trace, Departure> {
    match recorded(program, options, source, path, what, &Extent::Whole(&Limits::NONE))? {
        Recorded::Trace(trace, _) => Ok(*trace),
        // Nothing is beyond limits that there are not.
        Recorded::Over(_) => Err(Departure::default()),
    }
}

/// The same, as far as it is to be written down.
pub(crate) fn recorded(
    program: Arc<Program>,
    options: Options,
    source: &SourceInfo,
    path: &Path,
    what: What<'_>,
    extent: &Extent<'_>,
) -> Result<Recorded, Departure> {
    let mut recorder = Recorder::new(program, options, extent.patience());
    let initial = recorder.whole();
    let mut bytes = 0;
    let mut is_sketched = matches!(what, What::Finding(finding, _) if asks_who_came(finding.rule));
    let mut sketched = 0;
    let mut steps = Vec::with_capacity(extent.most(path.steps.len(), is_sketched));
    let mut reached = Reached::State(Vec::new());
    let mut at_cycle = None;
    for (index, choice) in path.steps.iter().enumerate() {
        if index.is_multiple_of(BETWEEN_LOOKS) {
            if let Some(why) = extent.over(index, path.steps.len(), bytes) {
                return Ok(Recorded::Over(why));
            }
            if at_cycle.is_none() {
                recorder.forget();
            }
            if is_sketched && !extent.affords(sketched) {
                is_sketched = false;
                steps.retain(|step: &Step| extent.holds(step.index));
            }
        }
        if path.cycle_from == Some(index) {
            at_cycle = Some(recorder.state.clone());
        }
        if matches!(reached, Reached::End(_)) {
            return Err(ended_early(index));
        }
        if index + 1 < path.steps.len() && !extent.holds(index) {
            if is_sketched {
                let step = recorder.sketch(*choice)?;
                sketched += step.bytes();
                steps.push(step);
            } else {
                recorder.pass(*choice)?;
            }
            continue;
        }
        let (mut step, next) = recorder.step(*choice)?;
        // There may be many steps, and most lists have one element.
        step.events.shrink_to_fit();
        step.changes.agents.shrink_to_fit();
        step.changes.barriers.shrink_to_fit();
        bytes += step.bytes();
        steps.push(step);
        reached = next;
    }
    check_cycle(path.cycle_from, at_cycle.as_ref(), &recorder)?;
    let ends = ends(&mut recorder, &reached, path.cycle_from.is_some(), &steps);
    let outcome = shown(&recorder, what, path.cycle_from, &steps, (&reached, &ends))?;
    let mut trace = assemble(&recorder, source, initial, steps, outcome);
    explain::fill(&mut trace);
    let last = path.steps.len().saturating_sub(1);
    trace.steps.retain(|step| step.index == last || extent.holds(step.index));
    trace.steps.shrink_to_fit();
    Ok(Recorded::Trace(Box::new(trace), bytes))
}

impl Extent<'_> {
    fn holds(&self, index: usize) -> bool {
        match self {
            Self::Whole(_) => true,
            Self::Excerpt(kept, _) => kept.holds(index),
        }
    }

    /// Whether what is left out may be sketched, if that takes so many bytes until now.
    fn affords(&self, bytes: u64) -> bool {
        match self {
            Self::Whole(_) => true,
            Self::Excerpt(_, limits) => bytes < limits.bytes.min(MOST_SKETCHED) && (limits.goes_on)(),
        }
    }

    /// How many steps of so many are written down, at most, as far as can be told.
    fn most(&self, of: usize, is_sketched: bool) -> usize {
        match self {
            Self::Whole(_) => of,
            Self::Excerpt(..) if is_sketched => of.min(MOST_SKETCHED as usize / size_of::<Step>()),
            Self::Excerpt(..) => 0,
        }
    }

    fn patience(&self) -> Patience {
        match self {
            Self::Whole(limits) | Self::Excerpt(_, limits) => limits.patience(),
        }
    }

    /// Which limit is exceeded after some steps, or will be, if the others are like them.
    fn over(&self, made: usize, of: usize, bytes: u64) -> Option<Why> {
        let Self::Whole(limits) = self else { return None };
        let expected = u128::from(bytes) * of as u128 / made.max(1) as u128;
        if expected > u128::from(limits.bytes) {
            return Some(Why::Memory);
        }
        (!(limits.goes_on)()).then_some(Why::Time)
    }
}

/// The outcome that is wanted, if a run shows it; `ends` is all that it shows.
pub(crate) fn shown(
    recorder: &Recorder,
    what: What<'_>,
    cycle_from: Option<usize>,
    steps: &[Step],
    (reached, ends): (&Reached, &[Outcome]),
) -> Result<Outcome, Departure> {
    let wanted = match what {
        What::Finding(finding, level) => outcome_of(recorder, finding, level, Basis::Step, cycle_from, steps),
        What::Fault(agent, fault) => fault_outcome(recorder, agent, fault),
        What::Cut(agent, at, reason) => cut_outcome(recorder, agent, at, reason),
        What::State(_) if matches!(reached, Reached::End(_)) => return Err(ended_early(steps.len())),
        What::State(agents) => return Ok(state_outcome(recorder, agents)),
    };
    confirm(wanted, ends)
}

/// A trace without words, from its parts.
pub(crate) fn assemble(
    recorder: &Recorder,
    source: &SourceInfo,
    initial: State,
    steps: Vec<Step>,
    outcome: Outcome,
) -> Trace {
    let mut barriers = recorder.barriers();
    if let Some(barrier) = outcome.barrier
        && !barriers.iter().any(|b| b.barrier == barrier)
    {
        let id = barcheck_model::barrier::BarrierId(barrier);
        barriers.push(crate::wording::barrier(recorder.program(), id));
        barriers.sort_by_key(|b| b.barrier);
    }
    Trace {
        format: FORMAT.to_owned(),
        protocol: protocol(recorder.program(), recorder.machine.options(), source),
        agents: agents(recorder.program()),
        barriers,
        initial,
        steps,
        outcome,
    }
}

/// The state at the end is the one at the beginning of the cycle.
pub(crate) fn check_cycle(
    from: Option<usize>,
    at: Option<&machine::State>,
    recorder: &Recorder,
) -> Result<(), Departure> {
    let Some(from) = from else { return Ok(()) };
    let found = match at {
        None => "no step there: a cycle has one at least",
        Some(state) if *state == recorder.state => return Ok(()),
        Some(_) => "another state",
    };
    Err(Departure {
        step: None,
        what: "the end of the cycle".to_owned(),
        expected: format!("the state before step {from}"),
        found: found.to_owned(),
    })
}

/// Everything that could be said of the end of a run, without words.
pub(crate) fn ends(recorder: &mut Recorder, reached: &Reached, cycle: bool, steps: &[Step]) -> Vec<Outcome> {
    // Levels do not decide what is violated; they are put in from outside.
    let level = Level::Error;
    let mut ends = Vec::new();
    let of = |recorder: &Recorder, f: &Finding, basis| outcome_of(recorder, f, level, basis, None, steps);
    match reached {
        Reached::End(end) => match &**end {
            End::Violation(finding) => ends.push(of(recorder, finding, Basis::Step)),
            End::Fault { agent, fault, noted } => {
                ends.extend(noted.iter().map(|f| of(recorder, f, Basis::Step)));
                ends.push(fault_outcome(recorder, *agent, fault));
            }
            End::Cut { agent, at, reason, noted } => {
                ends.extend(noted.iter().map(|f| of(recorder, f, Basis::Step)));
                ends.push(cut_outcome(recorder, *agent, *at, reason));
            }
        },
        Reached::State(noted) => {
            ends.extend(noted.iter().map(|f| of(recorder, f, Basis::Step)));
            if let Some((agent, fault)) = recorder.machine.fault(&recorder.state) {
                // Only an initial state is reached with a fault in it.
                let fault = fault.clone();
                match recorder.machine.end_of_fault(agent, &fault, Vec::new()) {
                    End::Cut { agent, at, reason, .. } => {
                        ends.push(cut_outcome(recorder, agent, at, &reason));
                    }
                    _ => ends.push(fault_outcome(recorder, agent, &fault)),
                }
            } else {
                let judged = recorder.machine.judge(&recorder.state);
                ends.extend(judged.iter().map(|f| of(recorder, f, Basis::State)));
            }
            if cycle {
                ends.extend(stuck(recorder, steps));
            }
        }
    }
    ends
}

/// The agents that block in the state at the end, as outcomes of `stuck-agent`. Whether they do so for ever
/// is not decided here.
fn stuck(recorder: &Recorder, steps: &[Step]) -> Vec<Outcome> {
    let blocked = recorder
        .machine
        .agents()
        .filter(|agent| recorder.machine.config(&recorder.state, *agent).is_blocked());
    blocked
        .map(|agent| {
            let config = recorder.machine.config(&recorder.state, agent);
            let parked = || config.fragments.iter().find_map(|f| f.parked).map(|p| p.what.id);
            let finding = Finding {
                rule: Rule::StuckAgent,
                agent,
                pc: recorder.machine.stands_at(&recorder.state, agent),
                agents: [agent].into_iter().collect(),
                barrier: config.waiting.map(|w| w.barrier).or_else(parked),
                detail: machine::Detail::None,
            };
            outcome_of(recorder, &finding, Level::Error, Basis::Cycle, None, steps)
        })
        .collect()
}

/// Finds what is wanted among what can be said of the end.
pub(crate) fn confirm(wanted: Outcome, ends: &[Outcome]) -> Result<Outcome, Departure> {
    let basis = confirmed_by(&wanted, ends)?.basis;
    Ok(Outcome { basis, ..wanted })
}

/// The same as the run shows it.
pub(crate) fn confirmed_by<'e>(wanted: &Outcome, ends: &'e [Outcome]) -> Result<&'e Outcome, Departure> {
    let same = |found: &&Outcome| {
        let stuck = wanted.rule.as_deref() == Some(Rule::StuckAgent.name());
        // Several agents may be stuck together; each of them is confirmed by itself.
        let agents = stuck || found.agents == wanted.agents;
        agents
            && (found.kind, &found.rule, found.agent, found.barrier, found.location, &found.detail)
                == (wanted.kind, &wanted.rule, wanted.agent, wanted.barrier, wanted.location, &wanted.detail)
            && (wanted.kind == OutcomeKind::Violation || found.headline == wanted.headline)
    };
    if let Some(found) = ends.iter().find(same) {
        return Ok(found);
    }
    let found: Vec<String> = ends.iter().map(in_short).collect();
    Err(Departure {
        step: None,
        what: "what the run shows".to_owned(),
        expected: in_short(wanted),
        found: if found.is_empty() { "nothing".to_owned() } else { found.join("; ") },
    })
}

fn in_short(outcome: &Outcome) -> String {
    let what = outcome.rule.as_deref().unwrap_or(outcome.headline.as_str());
    let barrier = outcome.barrier.map(|b| format!(", barrier {b}")).unwrap_or_default();
    let detail = match &outcome.detail {
        None => String::new(),
        Some(Detail::Operand { value }) => format!(", operand {value}"),
        Some(Detail::Room { standing, room }) => format!(", {standing} at an arrival with room for {room}"),
        Some(Detail::Conflict { location, earlier, earlier_access, access }) => {
            format!(", {access} of {location} after a {earlier_access} by agent {earlier}")
        }
    };
    let agents: Vec<String> = outcome.agents.iter().map(u32::to_string).collect();
    format!(
        "{what} at {}:{}, agents {}{barrier}{detail}",
        outcome.location.line,
        outcome.location.column,
        agents.join(" ")
    )
}

/// A finding as an outcome, without words.
fn outcome_of(
    recorder: &Recorder,
    finding: &Finding,
    level: Level,
    basis: Basis,
    cycle_from: Option<usize>,
    steps: &[Step],
) -> Outcome {
    let mut outcome = Outcome {
        rule: Some(finding.rule.name().to_owned()),
        level: Some(level.name().to_owned()),
        basis,
        agents: finding.agents.iter().map(|a| a.0).collect(),
        barrier: finding.barrier.map(|id| id.0),
        detail: detail(recorder.program(), &finding.detail),
        cycle_from,
        ..bare(recorder, OutcomeKind::Violation, finding.agent, finding.pc)
    };
    // Nobody stands at a barrier that is left with arrivals: the place is that of the last of them.
    if finding.rule == Rule::DanglingArrival
        && let Some(step) = steps.iter().rev().find(|s| arrives(s, outcome.barrier))
    {
        outcome.agent = step.agent;
        outcome.location = step.location;
        outcome.instruction.clone_from(&step.instruction);
    }
    outcome
}

fn arrives(step: &Step, barrier: Option<u32>) -> bool {
    step.events.iter().any(|e| matches!(e, Event::Arrived { barrier: b } if Some(*b) == barrier))
}

pub(crate) fn bare(recorder: &Recorder, kind: OutcomeKind, agent: AgentId, pc: Pc) -> Outcome {
    Outcome {
        kind,
        rule: None,
        level: None,
        basis: Basis::Step,
        agent: agent.0,
        agents: vec![agent.0],
        barrier: None,
        location: snapshot::location(recorder.machine.place(agent, pc)),
        instruction: snapshot::written(recorder.program(), agent, pc),
        detail: None,
        cycle_from: None,
        headline: String::new(),
        message: String::new(),
        explanation: String::new(),
        related: Vec::new(),
        blamed: Vec::new(),
    }
}

fn fault_outcome(recorder: &Recorder, agent: AgentId, fault: &Fault) -> Outcome {
    let headline = fault_message(recorder.program(), agent, &fault.kind);
    Outcome { headline, ..bare(recorder, OutcomeKind::Fault, agent, fault.at) }
}

fn cut_outcome(recorder: &Recorder, agent: AgentId, at: Pc, reason: &CutReason) -> Outcome {
    Outcome { headline: cut_message(reason), ..bare(recorder, OutcomeKind::Cut, agent, at) }
}

/// Agents are where they are: what they do there is for the state to say.
pub(crate) fn state_outcome(recorder: &Recorder, agents: &[AgentId]) -> Outcome {
    let is_there = |agent: &&AgentId| !recorder.machine.config(&recorder.state, **agent).has_exited();
    let shown = agents.iter().find(is_there).or(agents.first()).copied().unwrap_or_default();
    let at = recorder.machine.stands_at(&recorder.state, shown);
    let agents = agents.iter().map(|agent| agent.0).collect();
    Outcome { basis: Basis::State, agents, ..bare(recorder, OutcomeKind::State, shown, at) }
}

fn detail(program: &Program, detail: &machine::Detail) -> Option<Detail> {
    match detail {
        machine::Detail::None => None,
        machine::Detail::Operand(value) => Some(Detail::Operand { value: *value }),
        machine::Detail::Conflict { location, earlier, earlier_kind, kind } => Some(Detail::Conflict {
            location: program.location_name(*location),
            earlier: earlier.0,
            earlier_access: access_name(*earlier_kind).to_owned(),
            access: access_name(*kind).to_owned(),
        }),
        machine::Detail::Room { standing, room } => Some(Detail::Room { standing: *standing, room: *room }),
    }
}

fn protocol(program: &Program, options: Options, source: &SourceInfo) -> Protocol {
    Protocol {
        file: source.file.clone(),
        format: source.format.clone(),
        target: program.target.name().to_owned(),
        source: source.text.clone(),
        defines: source.defines.clone(),
        exited_threads: match options.exited_threads {
            ExitedThreads::Hold => trace::ExitedThreads::Hold,
            ExitedThreads::Release => trace::ExitedThreads::Release,
        },
        group_size: program.threads,
        subgroup_size: program.subgroup_size,
        ctas: program.ctas,
    }
}

/// The agents of a program.
pub(crate) fn agents(program: &Program) -> Vec<Agent> {
    let agents = (0..program.agents.len()).map(AgentId::from_index);
    agents
        .map(|agent| {
            let role = program.roles.get(program.agents[agent.index()].index());
            Agent {
                index: agent.0,
                name: program.agent_name(agent),
                role: role.and_then(|r| r.name.clone()),
                lanes: program.lanes(agent),
                line: role.map_or(0, |r| r.place.line),
            }
        })
        .collect()
}
