//! From what a run has found to paths that show it.
//!
//! What a step shows, it shows after any set of the run's other steps that is closed under pasts and holds
//! the step's own past: so of the whole run only these steps are kept. The run is made once more to learn the
//! pasts.

use super::plane::Clock;
use super::run::{Run, Violation};
use crate::paths::lasso;
use crate::paths::replay::{self, MOST_CONFIRMED};
use crate::settings::Settings;
use crate::verdict::answer::{Answer, Ending, Undecided};
use crate::verdict::{Found, Inconclusive, ReachedFault, Statistics};
use barcheck_model::machine::{Choice, Detail, End, Machine, Path};
use barcheck_model::program::AgentId;
use barcheck_model::rule::{Level, Rule};
use std::time::Instant;

/// Steps of a run made once more, before configurations that it has left behind are forgotten.
const BETWEEN_LOOKS: usize = 4096;

/// What the run says about the protocol.
pub(super) fn answer(run: &mut Run, ending: Ending, settings: &Settings, started: Instant) -> Answer {
    let complete = matches!(ending, Ending::Complete);
    let statistics = |run: &Run| Statistics {
        states: run.path.len() as u64 + 1,
        transitions: run.path.len() as u64,
        depth: run.path.len() as u64,
        seconds: started.elapsed().as_secs_f64(),
        peak_memory_bytes: run.peak_bytes,
        complete,
        ..Statistics::default()
    };
    match ending {
        Ending::Undecided(why) => Answer::Undecided(why),
        Ending::GaveUp(reason) => Answer::GaveUp(reason, statistics(run)),
        Ending::Complete => {
            let lowered = lowered(run, settings);
            let reached = fault(run);
            if reached.is_none() && !run.faulty.is_empty() {
                let agent = run.faulty[0];
                let at = run.machine.stands_at(&run.state, agent);
                return Answer::Undecided(Undecided::Unfollowed(agent, at));
            }
            let found = all(run, true, settings);
            match reached {
                Some(reached) => Answer::Faulty(reached, found, lowered, statistics(run)),
                None => Answer::Decided(found, lowered, statistics(run)),
            }
        }
        Ending::Violated => {
            let found = all(run, false, settings);
            Answer::Violated(found, statistics(run))
        }
    }
}

/// The first error of evaluation, after no more than what has to come before it.
fn fault(run: &mut Run) -> Option<ReachedFault> {
    let agent = *run.faulty.first()?;
    let mut past = vec![0; run.state.memory.actors()];
    run.state.memory.add_past(agent, &mut past);
    let steps = within(run, run.path.len(), &past);
    let mut path = path_of(run, &steps);
    path.steps.push(Choice::of(agent, 0, 0));
    match replay::walk(&mut run.machine.again(), &path).end? {
        End::Fault { agent, fault, .. } => Some(ReachedFault { agent, fault, path }),
        _ => None,
    }
}

/// A rule that ends the path of the complete run, lowered below error.
fn lowered(run: &Run, settings: &Settings) -> Option<Inconclusive> {
    let target = run.machine.program().target;
    let judged = if run.cycle_from.is_none() { run.machine.judge(&run.state) } else { Vec::new() };
    let ends = |rule: &Rule| rule.ends_path(target) && settings.levels.of(*rule, target) < Level::Error;
    judged.into_iter().map(|f| f.rule).find(ends).map(Inconclusive::Lowered)
}

/// Everything found that is to be reported, each with its path. Only of a run that is `complete` the state at
/// the end is one.
fn all(run: &mut Run, complete: bool, settings: &Settings) -> Vec<Found> {
    let target = run.machine.program().target;
    let level = |rule| settings.levels.of(rule, target);
    let at_the_end = if run.cycle_from.is_some() {
        let names = blocked_throughout(run);
        lasso::findings(&run.machine, &run.state, &names)
    } else if complete {
        run.machine.judge(&run.state)
    } else {
        Vec::new()
    };
    let mut found = Vec::new();
    for finding in at_the_end.into_iter().filter(|f| level(f.rule) >= Level::Warning) {
        let path = Path { cycle_from: run.cycle_from, ..whole(run, run.path.len()) };
        found.push(Found { level: level(finding.rule), finding, path });
    }
    let mut violations: Vec<Violation> = std::mem::take(&mut run.violations).into_values().collect();
    violations.retain(|s| level(s.finding.rule) >= Level::Warning);
    violations.sort_by_key(|s| s.step);
    let pasts = pasts(run, &violations);
    for (violation, past) in violations.into_iter().zip(pasts) {
        let path = projected(run, violation.step, &past);
        let path =
            if shows(&mut run.machine, &path, &violation) { path } else { whole(run, violation.step + 1) };
        found.push(Found { level: level(violation.finding.rule), finding: violation.finding, path });
    }
    found.retain(|f| f.level >= Level::Warning);
    if !settings.all {
        replay::first_error_alone(&mut run.machine, settings, &mut found);
    }
    replay::sort(&run.machine, &mut found);
    found
}

/// The first steps of the run.
fn whole(run: &mut Run, steps: usize) -> Path {
    let all: Vec<usize> = (0..steps).collect();
    path_of(run, &all)
}

/// Some steps of the run. Where something lands among them, they are made once more: what else is pending
/// then need not be what was pending in the run.
fn path_of(run: &mut Run, steps: &[usize]) -> Path {
    let mut path = Path::default();
    if run.landed.is_empty() {
        path.steps.extend(steps.iter().map(|step| Choice::of(AgentId(u32::from(run.path[*step])), 0, 0)));
        return path;
    }
    let mut state = run.machine.initial();
    for step in steps {
        let choice = match run.landing_at(*step) {
            None => Choice::of(AgentId(u32::from(run.path[*step])), 0, 0),
            Some(pending) => {
                let left = state.pending_of(pending.agent);
                let index = left.iter().position(|other| *other == pending).unwrap_or_default();
                Choice::landing(pending.agent, u32::try_from(index).unwrap_or(u32::MAX))
            }
        };
        path.steps.push(choice);
        state = lasso::state_after(&mut run.machine, Some(state.clone()), &[choice]).unwrap_or(state);
    }
    path
}

/// A step of the run, after no more than the steps in its past.
fn projected(run: &mut Run, last: usize, past: &[Clock]) -> Path {
    let mut steps = within(run, last, past);
    steps.push(last);
    path_of(run, &steps)
}

/// The steps before one that lie in some past.
fn within(run: &Run, last: usize, past: &[Clock]) -> Vec<usize> {
    let mut made = vec![0; past.len()];
    let mut steps = Vec::new();
    for (step, actor) in run.path[..last].iter().enumerate() {
        let number = &mut made[usize::from(*actor)];
        *number += 1;
        if *number <= past[usize::from(*actor)] {
            steps.push(step);
        }
    }
    steps
}

/// What has to come before each of the steps, in the order of the run: the latest step of each actor.
fn pasts(run: &Run, violations: &[Violation]) -> Vec<Vec<Clock>> {
    let actors = run.state.memory.actors();
    let mut pasts = Vec::new();
    let Some(last) = violations.last() else { return pasts };
    again(run, last.step, |run, step, agent| {
        for violation in violations.iter().filter(|s| s.step == step) {
            let mut past = vec![0; actors];
            run.state.memory.add_past(agent, &mut past);
            let barrier = run.machine.moves(&run.state, agent).first().and_then(|made| made.action.barrier());
            if let Some(barrier) = barrier.or(violation.finding.barrier) {
                run.state.memory.add_arrivals(barrier, &mut past);
            }
            if let Detail::Conflict { earlier, .. } = violation.finding.detail {
                run.state.memory.add_past(earlier, &mut past);
            }
            pasts.push(past);
        }
    });
    pasts
}

/// Makes the run once more, up to a step and without it; `look` is called before every step, that one
/// included.
fn again(run: &Run, last: usize, mut look: impl FnMut(&mut Run, usize, AgentId)) {
    // A machine of its own: it forgets configurations that the end of the run still needs.
    let mut second = Run::new(run.machine.again());
    for (step, actor) in run.path[..=last].iter().enumerate() {
        let landing = run.landing_at(step);
        let agent = landing.map_or(AgentId(u32::from(*actor)), |pending| pending.agent);
        look(&mut second, step, agent);
        if step.is_multiple_of(BETWEEN_LOOKS) {
            second.forget_configs();
        }
        if step < last {
            second.repeat(agent, landing);
        }
    }
}

/// Whether the last step of a path finds what it should. Long paths are trusted.
fn shows(machine: &mut Machine, path: &Path, violation: &Violation) -> bool {
    if path.steps.len() > MOST_CONFIRMED {
        return true;
    }
    let walk = replay::walk(machine, path);
    let place = machine.place(violation.finding.agent, violation.finding.pc);
    walk.noted.iter().any(|(step, f)| {
        *step + 1 == path.steps.len() && *f == violation.finding && machine.place(f.agent, f.pc) == place
    })
}

/// Agents that are blocked in every state of the cycle.
fn blocked_throughout(run: &Run) -> Vec<AgentId> {
    let Some(from) = run.cycle_from else { return Vec::new() };
    let is_blocked = |run: &Run, agent: &AgentId| run.machine.config(&run.state, *agent).is_blocked();
    let mut names: Vec<AgentId> = run.machine.agents().filter(|agent| is_blocked(run, agent)).collect();
    if !names.is_empty() {
        again(run, run.path.len() - 1, |run, step, _| {
            if step >= from {
                names.retain(|agent| is_blocked(run, agent));
            }
        });
    }
    names
}
