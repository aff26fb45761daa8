//! What an exploration has found, and where.

use super::explore::{At, Exploration};
use super::node::{Made, NodeId, Violation};
use super::pools;
use crate::verdict::answer::{Ending, Undecided, unfollowed};
use barcheck_model::machine::{End, Finding};
use barcheck_model::program::{AgentId, Pc};
use barcheck_model::rule::{Level, Rule};

impl Exploration<'_> {
    /// Judges a state in which nobody makes a step.
    pub(super) fn judge(&mut self, at: &At, node: NodeId) -> Result<(), Ending> {
        let mut is_error = false;
        for finding in self.machine.judge(&at.state) {
            is_error |= self.record(finding, node, None);
        }
        // In another order somebody else may wait.
        if let Some((agent, pc)) = pools::waiting(&self.machine, &at.state) {
            return Err(Ending::Undecided(Undecided::InFlight(agent, pc)));
        }
        if is_error && !self.settings.all { Err(Ending::Violated) } else { Ok(()) }
    }

    /// What a step has found.
    pub(super) fn note(&mut self, node: NodeId, agent: AgentId, pc: Pc) -> Result<(), Ending> {
        let mut is_error = false;
        for finding in std::mem::take(&mut self.log.noted) {
            if finding.rule == Rule::DataRace {
                self.races.meet(agent, pc);
            }
            is_error |= self.record(finding, node, Some((self.made[0], self.made.len())));
        }
        if is_error && !self.settings.all && !self.repeats { Err(Ending::Violated) } else { Ok(()) }
    }

    /// The path ends at a step.
    pub(super) fn end(&mut self, end: End, node: NodeId) -> Ending {
        match end {
            End::Violation(finding) => {
                let (agent, pc) = (finding.agent, finding.pc);
                self.record(finding, node, Some((self.made[0], self.made.len())));
                Ending::Undecided(Undecided::CutShort(agent, pc))
            }
            End::Fault { agent, fault, .. } => {
                self.faulty = Some((node, self.made[0], self.made.len()));
                unfollowed(agent, &fault)
            }
            End::Cut { agent, at, .. } => Ending::Undecided(Undecided::Unfollowed(agent, at)),
        }
    }

    /// Keeps a finding, if it is the first of its kind; whether it is an error.
    pub(super) fn record(&mut self, finding: Finding, node: NodeId, made: Option<(Made, usize)>) -> bool {
        let is_error = self.level(finding.rule) == Level::Error;
        if !self.repeats {
            let place = self.machine.place(finding.agent, finding.pc);
            let key = (finding.rule, place, finding.barrier);
            self.violations.entry(key).or_insert(Violation { finding, node, made });
        }
        is_error
    }
}
