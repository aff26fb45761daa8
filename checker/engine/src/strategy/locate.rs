//! Looking for a state in which agents are at certain places.
//!
//! What is looked for is a property of single states, so every state has to be seen: no order of steps may be
//! left out, however independent they are, since the state in between is what is asked for. Two reductions
//! lose none of these states. Agents with one automaton are interchangeable where the goal asks the same
//! of them, or nothing: a permutation of them maps states that meet the goal to states that meet it. And
//! where a protocol is verified there is no deadlock to be found, by whichever engine that was proved. Where
//! that proof finds a deadlock instead, and agents are there as they are wanted, nothing has to be searched.

use super::in_time;
use crate::paths::replay;
use crate::search::drive;
use crate::search::lookout::is_there;
use crate::settings::Settings;
use crate::verdict::answer::Question;
use crate::verdict::goal::{Located, Seek, Sighting, Wanted};
use crate::verdict::{Inconclusive, Outcome, Statistics, Verdict};
use barcheck_model::program::Program;
use barcheck_model::rule::{Level, Rule};
use std::time::Instant;

/// Looks for a state in which every agent of a goal is where it is wanted, breadth first. No rule that ends
/// paths may be lowered, and all violations are wanted.
pub(crate) fn locate(question: &Question<'_>, goal: &[Wanted], seek: Seek) -> Located {
    let quick = (seek != Seek::State).then(|| quickly(question));
    if let Some(seen) = quick.as_ref().and_then(|outcome| seen_there(question, goal, outcome)) {
        let statistics = quick.map(|outcome| outcome.statistics).unwrap_or_default();
        let statistics = Statistics { complete: false, ..statistics };
        return Located { deadlocks: vec![seen], statistics, ..none(question.started) };
    }
    let proved = quick.is_some_and(|outcome| outcome.verdict == Verdict::Verified);
    let seek = match seek {
        Seek::Deadlock if proved => {
            return Located { has_no_deadlock: true, ..none(question.started) };
        }
        Seek::Either if proved => Seek::State,
        seek => seek,
    };
    let (outcome, sighted) = drive::look_out(question, goal, seek);
    let (states, deadlocks) = sighted;
    let Outcome { findings, inconclusive, statistics, verdict, .. } = outcome;
    let target = question.program.target;
    let mut ended = findings;
    ended.retain(|found| found.finding.rule.ends_path(target) && found.finding.rule != Rule::Deadlock);
    let is_whole = |sightings: &[Sighting]| sightings.iter().any(|seen| seen.met.len() == goal.len());
    let is_found = is_whole(if seek == Seek::State { &states } else { &deadlocks });
    let complete = is_found || statistics.complete && inconclusive.is_none();
    let unfinished = || Inconclusive::Undecided("the search did not get to its end".to_owned());
    Located {
        states,
        deadlocks,
        has_no_deadlock: proved,
        ended,
        faulty: verdict == Verdict::Error,
        inconclusive: if complete { None } else { inconclusive.or_else(|| Some(unfinished())) },
        statistics,
    }
}

/// Settings under which a search sees every state: nothing ends it but a budget, and no rule that ends paths
/// is lowered.
pub(crate) fn whole(settings: &Settings, program: &Program) -> Settings {
    let mut settings = Settings { all: true, compact: false, checkpoint: None, ..settings.clone() };
    let changes = &mut settings.levels.changes;
    changes.clear();
    changes
        .extend(Rule::ALL.iter().filter(|rule| rule.ends_path(program.target)).map(|r| (*r, Level::Error)));
    settings
}

/// What a quick proof comes to that there is no deadlock. It takes a part of the time that there is.
fn quickly(question: &Question<'_>) -> Outcome {
    let mut settings = Settings { all: false, ..question.settings.clone() };
    let timeout = settings.budgets.timeout;
    settings.budgets.timeout = timeout.map(|limit| limit / 4);
    settings.budgets.max_states = Some(settings.budgets.max_states.map_or(QUICK, |most| most.min(QUICK)));
    let quick = question.with(&settings, question.options);
    in_time(&quick)
}

/// A deadlock that was found in which all agents are where they are wanted.
fn seen_there(question: &Question<'_>, goal: &[Wanted], outcome: &Outcome) -> Option<Sighting> {
    let mut machine = question.machine();
    let deadlocks = outcome.findings.iter().filter(|found| found.finding.rule == Rule::Deadlock);
    for found in deadlocks.filter(|found| found.path.steps.len() <= replay::MOST_CONFIRMED) {
        let Some(last) = replay::walk(&mut machine, &found.path).last else { continue };
        let is_met = |wanted: &Wanted| {
            let config = last.agents[wanted.agent.index()].config;
            is_there(wanted, machine.automata()[machine.class(wanted.agent)].config(config))
        };
        if goal.iter().all(is_met) {
            let (met, deadlock) = ((0..goal.len()).collect(), Some(found.finding.clone()));
            return Some(Sighting { met, deadlock, path: found.path.clone() });
        }
    }
    None
}

/// States of the proof that there is no deadlock, at most: a search for the state itself finds out as well.
const QUICK: u64 = 200_000;

fn none(started: Instant) -> Located {
    let seconds = started.elapsed().as_secs_f64();
    Located {
        states: Vec::new(),
        deadlocks: Vec::new(),
        has_no_deadlock: false,
        ended: Vec::new(),
        inconclusive: None,
        faulty: false,
        statistics: Statistics { seconds, complete: true, ..Statistics::default() },
    }
}
