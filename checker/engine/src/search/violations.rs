//! What a search has found, and where.

use super::position::Pause;
use crate::settings::Settings;
use crate::verdict::Inconclusive;
use crate::visited::StateId;
use barcheck_model::machine::{Choice, End, Finding, Machine, Path};
use barcheck_model::program::Place;
use barcheck_model::rule::{Level, Rule};
use std::collections::BTreeMap;

/// Where a violation was found: in a state, or at a step from it.
#[derive(Clone, Debug)]
pub(crate) struct Violation {
    pub(crate) finding: Finding,
    pub(crate) state: StateId,
    pub(crate) step: Option<Choice>,
}

/// One finding is kept for each rule and place; barriers that hold arrivals in the end have no place.
pub(crate) type Key = (Rule, Place, u32);

/// A state, or a step from it.
pub(crate) type At = (StateId, Option<Choice>);

/// What a search has found so far.
#[derive(Debug, Default)]
pub(crate) struct Violations {
    pub(crate) found: BTreeMap<Key, Violation>,
    /// Where the first evaluation error was reached.
    pub(crate) fault: Option<At>,
    /// Where the model first could not follow a path, if that is why the search is inconclusive.
    pub(crate) cut: Option<At>,
    /// Why not everything was covered.
    pub(crate) inconclusive: Option<Inconclusive>,
    /// The first finding at level error, unless all are wanted.
    pub(crate) stopped_at: Option<Key>,
}

impl Violations {
    /// Keeps a finding, if it is the first of its rule and place.
    pub(crate) fn record(
        &mut self,
        (machine, settings): (&Machine, &Settings),
        finding: Finding,
        (state, step): At,
    ) -> Option<Pause> {
        let program = machine.program();
        let rule = finding.rule;
        let level = settings.levels.of(rule, program.target);
        if level < Level::Error && rule.ends_path(program.target) {
            self.inconclusive.get_or_insert(Inconclusive::Lowered(rule));
        }
        let barrier = if rule == Rule::DanglingArrival { finding.barrier.map_or(0, |b| b.0) } else { 0 };
        let key = (rule, machine.place(finding.agent, finding.pc), barrier);
        self.found.entry(key).or_insert(Violation { finding, state, step });
        if level == Level::Error && !settings.all {
            self.stopped_at.get_or_insert(key);
            return Some(Pause::Stopped);
        }
        None
    }

    /// A path ends.
    pub(crate) fn end(&mut self, about: (&Machine, &Settings), end: End, here: At) -> Option<Pause> {
        let mut pause = None;
        match end {
            End::Violation(finding) => pause = self.record(about, finding, here),
            End::Fault { noted, .. } => {
                for finding in noted {
                    pause = pause.or(self.record(about, finding, here));
                }
                self.fault.get_or_insert(here);
            }
            End::Cut { agent, at, reason, noted } => {
                for finding in noted {
                    pause = pause.or(self.record(about, finding, here));
                }
                if self.inconclusive.is_none() {
                    // Its path is made out in the end.
                    let path = Path::default();
                    self.inconclusive = Some(Inconclusive::Cut { agent, at, reason, path });
                    self.cut = Some(here);
                }
            }
        }
        pause
    }

    /// Leaves out what nobody wants to see.
    pub(crate) fn leave_out_silent(&mut self, machine: &Machine, settings: &Settings) {
        let (levels, target) = (&settings.levels, machine.program().target);
        self.found.retain(|(rule, ..), _| levels.of(*rule, target) >= Level::Warning);
    }

    /// The states at which something was found.
    pub(crate) fn ends_of_paths(&self) -> Vec<StateId> {
        let ends = [&self.fault, &self.cut].into_iter().flatten().map(|(state, _)| *state);
        self.found.values().map(|violation| violation.state).chain(ends).collect()
    }
}
