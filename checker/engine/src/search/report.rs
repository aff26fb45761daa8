//! From what a search has seen to its outcome.

use super::Search;
use super::violations::Violation;
use crate::paths::real;
use crate::paths::replay::{along, sort, violation_shown, walk};
use crate::search::stuck;
use crate::settings::Settings;
use crate::verdict::{Engine, Found, Inconclusive, Method, Outcome, ReachedFault, Statistics, Verdict};
use crate::visited::{Store, odds_of_omission};
use barcheck_model::machine::{End, Path};
use barcheck_model::rule::Level;

/// What a search that has come to its end reports.
pub(crate) fn outcome<const W: usize>(
    search: &mut Search<'_>,
    store: &Store<W>,
    settings: &Settings,
    complete: bool,
) -> Outcome {
    search.make_out(store);
    search.violations.leave_out_silent(&search.tables.machine, settings);
    // There is an initial state, and every state could be looked up, or not all have been covered.
    let complete = complete && store.len() > 0 && store.failed().is_none();
    let mut found = findings(search, store, settings, complete);
    found.retain(|f| f.level >= Level::Warning);
    sort(&search.tables.machine, &mut found);
    let mut fault = search.violations.fault.take().and_then(|(state, step)| {
        let path = path(search, store, state, step);
        match walk(&mut search.tables.machine, &path).end? {
            End::Fault { agent, fault, .. } => Some(ReachedFault { agent, fault, path }),
            _ => None,
        }
    });
    if let Some((state, step)) = search.violations.cut.take() {
        // In terms of real agents, as with every finding.
        let path = path(search, store, state, step);
        if let Some(End::Cut { agent, at, reason, .. }) = walk(&mut search.tables.machine, &path).end {
            search.violations.inconclusive = Some(Inconclusive::Cut { agent, at, reason, path });
        }
    }
    if let Some(error) = store.failed() {
        if store.misread().is_some() {
            found.clear();
            fault = None;
        }
        search.violations.inconclusive = Some(Inconclusive::Disk(error));
    }
    let covered =
        complete && search.violations.stopped_at.is_none() && search.violations.inconclusive.is_none();
    let violated = found.iter().any(|f| f.level == Level::Error);
    let verdict = if violated {
        Verdict::Violated
    } else if fault.is_some() {
        Verdict::Error
    } else if search.violations.inconclusive.is_some() || !complete {
        Verdict::Inconclusive
    } else {
        Verdict::Verified
    };
    let why = search.violations.inconclusive.take();
    Outcome {
        verdict,
        findings: found,
        fault: fault.filter(|_| verdict == Verdict::Error),
        inconclusive: why.clone().filter(|_| verdict == Verdict::Inconclusive),
        uncovered: why.filter(|_| verdict == Verdict::Violated && settings.all),
        statistics: Statistics {
            states: store.len() as u64,
            transitions: search.at.transitions,
            depth: search.at.depth,
            seconds: search.seconds(),
            peak_memory_bytes: search.usage.peak.max(store.bytes() + search.tables.bytes()),
            complete: covered,
            odds_of_omission: store.is_compact().then(|| odds_of_omission::<W>(store.len() as u64)),
        },
        method: Method {
            engine: Engine::Search,
            reduction: settings.reduction,
            whole: true,
            why: String::new(),
        },
    }
}

/// What a search has found, with paths.
fn findings<const W: usize>(
    search: &mut Search<'_>,
    store: &Store<W>,
    settings: &Settings,
    complete: bool,
) -> Vec<Found> {
    let target = search.tables.machine.program().target;
    let levels = &settings.levels;
    let mut found = Vec::new();
    if let Some(key) = search.violations.stopped_at {
        let violation = search.violations.found.remove(&key);
        found.extend(violation.map(|violation| locate(search, store, settings, violation)));
        if let Some(path) = found.first().map(|f: &Found| f.path.clone()) {
            found.extend(along(&mut search.tables.machine, settings, &path));
        }
    } else {
        for violation in std::mem::take(&mut search.violations.found).into_values() {
            found.push(locate(search, store, settings, violation));
        }
        if complete && store.is_compact() && stuck::may_run_for_ever(search) {
            search.violations.inconclusive.get_or_insert(Inconclusive::Forgotten);
        } else if complete && !store.is_compact() && search.lookout.is_none() {
            found.extend(stuck::find(search, store).into_iter().map(|(finding, path)| Found {
                level: levels.of(finding.rule, target),
                finding,
                path,
            }));
        }
    }
    found
}

/// A path of real agents to a state, or to a step from it.
fn path<const W: usize>(
    search: &mut Search<'_>,
    store: &Store<W>,
    state: crate::visited::StateId,
    step: Option<barcheck_model::machine::Choice>,
) -> Path {
    let (mut steps, who) = search.path_to(store, state);
    steps.extend(step.map(|choice| real(choice, &who)));
    Path { steps, cycle_from: None }
}

/// A violation with its path, in terms of real agents: the path is made once more, and what it shows is
/// taken.
fn locate<const W: usize>(
    search: &mut Search<'_>,
    store: &Store<W>,
    settings: &Settings,
    violation: Violation,
) -> Found {
    let at_step = violation.step.is_some();
    let path = path(search, store, violation.state, violation.step);
    let level = settings.levels.of(violation.finding.rule, search.tables.machine.program().target);
    let found = violation_shown(&mut search.tables.machine, &path, at_step, &violation.finding);
    let finding = found.unwrap_or(violation.finding);
    Found { finding, level, path }
}
