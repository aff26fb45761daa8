//! From what the exploration has found to what it says about the protocol.

use super::explore::Exploration;
use super::node::Violation;
use super::paths::path_to;
use super::stuck;
use crate::paths::replay;
use crate::settings::Settings;
use crate::verdict::answer::{Answer, Ending};
use crate::verdict::{Found, Inconclusive, ReachedFault, Statistics};
use barcheck_model::machine::{Detail, End, Path};
use barcheck_model::rule::Level;

/// What the exploration says about the protocol; `None` if it has found something that no path made of it
/// shows.
pub(super) fn answer(exploration: &mut Exploration<'_>, ending: Ending) -> Option<Answer> {
    let complete = matches!(ending, Ending::Complete);
    let statistics = |exploration: &Exploration<'_>| Statistics {
        states: exploration.nodes.len() as u64,
        transitions: exploration.transitions,
        depth: exploration.depth,
        seconds: exploration.started.elapsed().as_secs_f64(),
        peak_memory_bytes: exploration.peak_bytes,
        complete,
        ..Statistics::default()
    };
    Some(match ending {
        Ending::Undecided(why) => match fault(exploration) {
            Some(reached) => Answer::Faulty(reached, Vec::new(), None, statistics(exploration)),
            None => Answer::Undecided(why),
        },
        Ending::GaveUp(reason) => Answer::GaveUp(reason, statistics(exploration)),
        Ending::Violated => {
            let found = all(exploration)?;
            Answer::Violated(found, statistics(exploration))
        }
        Ending::Complete if exploration.hides() => return None,
        Ending::Complete => {
            let stuck = match stuck::find(exploration) {
                Ok(stuck) => stuck?,
                // An error found before is an error, however this ends.
                Err(_) if exploration.has_error() => {
                    let found = all(exploration)?;
                    let statistics = Statistics { complete: false, ..statistics(exploration) };
                    return Some(Answer::Violated(found, statistics));
                }
                Err(reason) => return Some(Answer::GaveUp(reason, statistics(exploration))),
            };
            let lowered = lowered(exploration);
            let mut found = all(exploration)?;
            found.extend(stuck);
            found.retain(|f| f.level >= Level::Warning);
            replay::sort(&exploration.machine, &mut found);
            Answer::Decided(found, lowered, statistics(exploration))
        }
    })
}

/// The evaluation error that has ended the exploration, if it has and a path shows it.
fn fault(exploration: &mut Exploration<'_>) -> Option<ReachedFault> {
    let (node, first, count) = exploration.faulty?;
    exploration.repeats = true;
    let (mut made, who, mut at) = path_to(exploration, node);
    // How it ends is known.
    drop(exploration.go_on(&mut at, node, first, &mut |_, _| {}));
    made.extend(exploration.made.iter().take(count).map(|made| made.real(&who)));
    let start = exploration.initial();
    let path = Path { steps: exploration.steps(start, &made, None)?, cycle_from: None };
    match replay::walk(&mut exploration.machine, &path).end? {
        End::Fault { agent, fault, .. } => Some(ReachedFault { agent, fault, path }),
        End::Violation(_) | End::Cut { .. } => None,
    }
}

/// A rule that ends paths, lowered below error: it has cut none, since only states in which nobody makes a
/// step violate it.
fn lowered(exploration: &Exploration<'_>) -> Option<Inconclusive> {
    let target = exploration.machine.program().target;
    let rules = exploration.violations.values().map(|s| s.finding.rule);
    let mut ends = rules.filter(|rule| rule.ends_path(target) && exploration.level(*rule) < Level::Error);
    ends.next().map(Inconclusive::Lowered)
}

/// Everything found that is to be reported, each with its path.
fn all(exploration: &mut Exploration<'_>) -> Option<Vec<Found>> {
    let violations: Vec<Violation> = std::mem::take(&mut exploration.violations).into_values().collect();
    let wanted = |s: &Violation| exploration.level(s.finding.rule) >= Level::Warning;
    let violations: Vec<Violation> = violations.into_iter().filter(wanted).collect();
    exploration.repeats = true;
    let located = violations.into_iter().map(|s| locate(exploration, s));
    let mut found: Vec<Found> = located.collect::<Option<_>>()?;
    let settings: &Settings = exploration.settings;
    if !settings.all {
        replay::first_error_alone(&mut exploration.machine, settings, &mut found);
    }
    replay::sort(&exploration.machine, &mut found);
    Some(found)
}

/// A violation with its path, in terms of real agents: the path is made once more, and what it shows is
/// taken.
fn locate(exploration: &mut Exploration<'_>, violation: Violation) -> Option<Found> {
    let (mut made, who, at) = path_to(exploration, violation.node);
    if let Some((first, count)) = violation.made {
        let mut at = at;
        // How it ends is known.
        drop(exploration.go_on(&mut at, violation.node, first, &mut |_, _| {}));
        made.extend(exploration.made[..count].iter().map(|made| made.real(&who)));
    }
    let mut seen = violation.finding;
    seen.agent = who[seen.agent.index()];
    if let Detail::Conflict { earlier, .. } = &mut seen.detail {
        *earlier = who[earlier.index()];
    }
    let start = exploration.initial();
    let path = Path { steps: exploration.steps(start, &made, Some(&seen))?, cycle_from: None };
    let at_step = violation.made.is_some();
    let finding = replay::violation_shown(&mut exploration.machine, &path, at_step, &seen)?;
    Some(Found { level: exploration.level(finding.rule), finding, path })
}
