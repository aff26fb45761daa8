//! Paths made once more by the model alone, and what they show.

use crate::settings::Settings;
use crate::verdict::Found;
use barcheck_model::machine::{Advanced, End, Finding, Log, Machine, Path, State};
use barcheck_model::rule::{Level, Rule};

/// Paths up to this length are made once more to see what they show.
pub(crate) const MOST_CONFIRMED: usize = 200_000;

/// Sorts findings by rule and place, and keeps one for each.
pub(crate) fn sort(machine: &Machine, found: &mut Vec<Found>) {
    found.sort_by_key(|f| (f.finding.rule, machine.place(f.finding.agent, f.finding.pc), f.finding.barrier));
    found.dedup_by_key(|f| (f.finding.rule, machine.place(f.finding.agent, f.finding.pc), f.finding.barrier));
}

/// What a path of real agents shows at its last step, or in the state it leads to, where agents with other
/// names have shown this.
pub(crate) fn violation_shown(
    machine: &mut Machine,
    path: &Path,
    at_step: bool,
    seen: &Finding,
) -> Option<Finding> {
    let (rule, barrier, place) = (seen.rule, seen.barrier, machine.place(seen.agent, seen.pc));
    let Walk { noted, last, .. } = walk(machine, path);
    let candidates = if at_step {
        noted.into_iter().filter(|(step, _)| *step + 1 == path.steps.len()).map(|(_, f)| f).collect()
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
    pub(crate) noted: Vec<(usize, Finding)>,
    /// The last state, if the path does not end before.
    pub(crate) last: Option<State>,
    /// How the path ends, if it does.
    pub(crate) end: Option<End>,
}

/// Makes the steps of a path again.
pub(crate) fn walk(machine: &mut Machine, path: &Path) -> Walk {
    let mut state = machine.initial();
    let mut noted = Vec::new();
    if let Some((agent, fault)) = machine.fault(&state).map(|(agent, fault)| (agent, fault.clone())) {
        let end = machine.end_of_fault(agent, &fault, Vec::new());
        return Walk { noted, last: None, end: Some(end) };
    }
    let mut log = Log::default();
    for (number, choice) in path.steps.iter().enumerate() {
        log.events.clear();
        match machine.advance(&mut state, *choice, &mut log) {
            Advanced::Disabled => return Walk { noted, last: None, end: None },
            Advanced::NoEffect => {}
            Advanced::Progress => noted.extend(log.noted.drain(..).map(|f| (number, f))),
            Advanced::Error(end) => {
                let findings = match &*end {
                    End::Violation(finding) => vec![finding.clone()],
                    End::Fault { noted, .. } | End::Cut { noted, .. } => noted.clone(),
                };
                noted.extend(findings.into_iter().map(|f| (number, f)));
                return Walk { noted, last: None, end: Some(*end) };
            }
        }
    }
    Walk { noted, last: Some(state), end: None }
}

/// The other findings on the path of an error.
pub(crate) fn along(machine: &mut Machine, settings: &Settings, path: &Path) -> Vec<Found> {
    let target = machine.program().target;
    let Walk { noted, last, .. } = walk(machine, path);
    let at_end = last.map(|state| machine.judge(&state)).unwrap_or_default();
    let steps = noted.into_iter().map(|(number, finding)| (number + 1, finding));
    let end = at_end.into_iter().map(|finding| (path.steps.len(), finding));
    // A loop may show the same thousands of times, and each has a path of its own.
    let mut seen = Vec::new();
    let mut first = |finding: &Finding| {
        let key = (finding.rule, machine.place(finding.agent, finding.pc), finding.barrier);
        let is_new = !seen.contains(&key);
        if is_new {
            seen.push(key);
        }
        is_new
    };
    let level = |rule| settings.levels.of(rule, target);
    steps
        .chain(end)
        .filter(|(_, finding)| level(finding.rule) < Level::Error && finding.rule != Rule::Deadlock)
        .filter(|(_, finding)| first(finding))
        .map(|(length, finding)| Found {
            level: level(finding.rule),
            path: Path { steps: path.steps[..length].to_vec(), cycle_from: None },
            finding,
        })
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
