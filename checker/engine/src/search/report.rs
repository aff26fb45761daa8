//! From what a search has seen to its outcome.

use crate::search::stuck;
use crate::search::trace_back::real;
use crate::search::{Search, Sighting};
use crate::settings::Settings;
use crate::verdict::{Engine, Found, Inconclusive, Method, Outcome, ReachedFault, Statistics, Verdict};
use crate::visited::{Store, odds_of_omission};
use barcheck_model::machine::{End, Finding, Machine, Path, State, StepOutcome};
use barcheck_model::rule::{Level, Rule};

/// Paths up to this length are made once more to see what they show.
pub(crate) const MOST_CONFIRMED: usize = 200_000;

/// What a search that has come to its end reports.
pub(crate) fn outcome<const W: usize>(
    search: &mut Search<'_>,
    store: &Store<W>,
    settings: &Settings,
    complete: bool,
) -> Outcome {
    search.leave_out_silent();
    // There is an initial state, and every state could be looked up, or not all have been covered.
    let complete = complete && store.len() > 0 && store.failed().is_none();
    let mut found = findings(search, store, settings, complete);
    found.retain(|f| f.level >= Level::Warning);
    sort(&search.tables.machine, &mut found);
    let mut fault = search.fault.take().and_then(|(state, step)| {
        let path = path(search, store, state, step);
        match walk(&mut search.tables.machine, &path).end? {
            End::Fault { agent, fault, .. } => Some(ReachedFault { agent, fault, path }),
            _ => None,
        }
    });
    if let Some((state, step)) = search.cut.take() {
        // In terms of real agents, as with every finding.
        let path = path(search, store, state, step);
        if let Some(End::Cut { agent, at, reason, .. }) = walk(&mut search.tables.machine, &path).end {
            search.inconclusive = Some(Inconclusive::Cut { agent, at, reason, path });
        }
    }
    if let Some(error) = store.failed() {
        if store.misread().is_some() {
            found.clear();
            fault = None;
        }
        search.inconclusive = Some(Inconclusive::Disk(error));
    }
    let covered = complete && search.stopped_at.is_none() && search.inconclusive.is_none();
    let violated = found.iter().any(|f| f.level == Level::Error);
    let verdict = if violated {
        Verdict::Violated
    } else if fault.is_some() {
        Verdict::Error
    } else if search.inconclusive.is_some() || !complete {
        Verdict::Inconclusive
    } else {
        Verdict::Verified
    };
    let why = search.inconclusive.take();
    Outcome {
        verdict,
        findings: found,
        fault: fault.filter(|_| verdict == Verdict::Error),
        inconclusive: why.clone().filter(|_| verdict == Verdict::Inconclusive),
        uncovered: why.filter(|_| verdict == Verdict::Violated && settings.all),
        statistics: Statistics {
            states: store.len() as u64,
            transitions: search.transitions,
            depth: search.depth,
            seconds: search.seconds(),
            peak_memory_bytes: search.peak_bytes.max(store.bytes() + search.tables.bytes()),
            complete: covered,
            odds_of_omission: store.is_compact().then(|| odds_of_omission::<W>(store.len() as u64)),
        },
        method: Method { engine: Engine::Search, reduction: settings.reduction, why: String::new() },
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
    if let Some(key) = search.stopped_at {
        let sighting = search.sightings.remove(&key);
        found.extend(sighting.map(|sighting| locate(search, store, settings, sighting)));
        if let Some(path) = found.first().map(|f: &Found| f.path.clone()) {
            found.extend(along(&mut search.tables.machine, settings, &path));
        }
    } else {
        for sighting in std::mem::take(&mut search.sightings).into_values() {
            found.push(locate(search, store, settings, sighting));
        }
        if complete && store.is_compact() && stuck::may_run_for_ever(search) {
            search.inconclusive.get_or_insert(Inconclusive::Forgotten);
        } else if complete && !store.is_compact() {
            found.extend(stuck::find(search, store).into_iter().map(|(finding, path)| Found {
                level: levels.of(finding.rule, target),
                finding,
                path,
            }));
        }
    }
    found
}

/// Sorts findings by rule and place, and keeps one for each.
pub(crate) fn sort(machine: &Machine, found: &mut Vec<Found>) {
    found.sort_by_key(|f| (f.finding.rule, machine.place(f.finding.agent, f.finding.pc), f.finding.barrier));
    found.dedup_by_key(|f| (f.finding.rule, machine.place(f.finding.agent, f.finding.pc), f.finding.barrier));
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

/// A sighting with its path, in terms of real agents: the path is made once more, and what it shows is taken.
fn locate<const W: usize>(
    search: &mut Search<'_>,
    store: &Store<W>,
    settings: &Settings,
    sighting: Sighting,
) -> Found {
    let at_step = sighting.step.is_some();
    let path = path(search, store, sighting.state, sighting.step);
    let level = settings.levels.of(sighting.finding.rule, search.tables.machine.program().target);
    let found = shown(&mut search.tables.machine, &path, at_step, &sighting.finding);
    let finding = found.unwrap_or(sighting.finding);
    Found { finding, level, path }
}

/// What a path of real agents shows at its last step, or in the state it leads to, where agents with other names have shown this.
pub(crate) fn shown(machine: &mut Machine, path: &Path, at_step: bool, seen: &Finding) -> Option<Finding> {
    let (rule, barrier, place) = (seen.rule, seen.barrier, machine.place(seen.agent, seen.pc));
    let Walk { shown, last, .. } = walk(machine, path);
    let candidates = if at_step {
        shown.into_iter().filter(|(step, _)| *step + 1 == path.steps.len()).map(|(_, f)| f).collect()
    } else {
        last.map(|state| machine.judge(&state)).unwrap_or_default()
    };
    let same = |f: &&Finding| f.rule == rule && machine.place(f.agent, f.pc) == place && f.barrier == barrier;
    let same_rule = |f: &&Finding| f.rule == rule;
    let exact = candidates.iter().find(same).or_else(|| candidates.iter().find(same_rule));
    exact.cloned()
}

/// What making the steps of a path again shows.
pub(crate) struct Walk {
    /// What each step finds, with its number.
    pub(crate) shown: Vec<(usize, Finding)>,
    /// The last state, if the path does not end before.
    last: Option<State>,
    /// How the path ends, if it does.
    end: Option<End>,
}

/// Makes the steps of a path again.
pub(crate) fn walk(machine: &mut Machine, path: &Path) -> Walk {
    let mut state = machine.initial();
    let mut shown = Vec::new();
    if let Some((agent, fault)) = machine.fault(&state).map(|(agent, fault)| (agent, fault.clone())) {
        let end = machine.end_of_fault(agent, &fault, Vec::new());
        return Walk { shown, last: None, end: Some(end) };
    }
    for (number, choice) in path.steps.iter().enumerate() {
        match machine.step(&state, *choice) {
            StepOutcome::Disabled => return Walk { shown, last: None, end: None },
            StepOutcome::NoEffect => {}
            StepOutcome::Progress(progressed) => state = progressed.state,
            StepOutcome::Noted(progressed, findings) => {
                shown.extend(findings.into_iter().map(|f| (number, f)));
                state = progressed.state;
            }
            StepOutcome::Error(end) => {
                let findings = match &*end {
                    End::Violation(finding) => vec![finding.clone()],
                    End::Fault { noted, .. } | End::Cut { noted, .. } => noted.clone(),
                };
                shown.extend(findings.into_iter().map(|f| (number, f)));
                return Walk { shown, last: None, end: Some(*end) };
            }
        }
    }
    Walk { shown, last: Some(state), end: None }
}

/// The other findings on the path of an error.
pub(crate) fn along(machine: &mut Machine, settings: &Settings, path: &Path) -> Vec<Found> {
    let target = machine.program().target;
    let Walk { shown, last, .. } = walk(machine, path);
    let at_end = last.map(|state| machine.judge(&state)).unwrap_or_default();
    let steps = shown.into_iter().map(|(number, finding)| (number + 1, finding));
    let end = at_end.into_iter().map(|finding| (path.steps.len(), finding));
    steps
        .chain(end)
        .map(|(length, finding)| Found {
            level: settings.levels.of(finding.rule, target),
            path: Path { steps: path.steps[..length].to_vec(), cycle_from: None },
            finding,
        })
        .filter(|f| f.level < Level::Error && f.finding.rule != Rule::Deadlock)
        .collect()
}

/// Without `--all`, one error is reported, the one with the shortest path, and what else its path shows.
pub(crate) fn first_error_alone(machine: &mut Machine, settings: &Settings, found: &mut Vec<Found>) {
    let errors = found.iter().filter(|f| f.level == Level::Error);
    let Some(error) = errors.min_by_key(|f| f.path.steps.len()).cloned() else { return };
    found.clear();
    if error.path.steps.len() <= MOST_CONFIRMED {
        found.extend(along(machine, settings, &error.path));
        found.retain(|f| f.level >= Level::Warning);
    }
    found.push(error);
}
