//! What accesses come to, and copies that their thread waits for.

use super::Making;
use crate::agent::{Outcome, ProxyAction};
use crate::barrier::{BarrierId, mbarrier};
use crate::machine::{Detail, Event, Finding, Pending};
use crate::memory::{Conflict, Knowledge};
use crate::program::{AccessKind, Locations, Transfer};
use crate::rule::Rule;

impl<K: Knowledge> Making<'_, K> {
    /// What an access conflicts with is noted.
    pub(super) fn note_conflicts(&mut self, kind: AccessKind, conflicts: Vec<Conflict>) {
        for (rule, location, earlier, earlier_kind) in conflicts {
            let mut finding = self.finding(rule);
            finding.agents = vec![earlier.min(self.agent), earlier.max(self.agent)];
            finding.detail = Detail::Conflict { location, earlier, earlier_kind, kind };
            self.log.noted.push(finding);
        }
    }

    /// An agent begins or ends the life of a barrier, or uses it: whoever uses it needs to know that it
    /// lives.
    // clause: ptx.mbarrier-init-order
    pub(super) fn live(&mut self, barrier: BarrierId, begins: bool) {
        let life = mbarrier::life(&self.machine.program, barrier).filter(|life| self.machine.follows(*life));
        let Some(life) = life else { return };
        let kind = if begins { AccessKind::Initialisation } else { AccessKind::Use };
        let conflicts = self.state.memory.access(self.machine.layout, self.agent, kind, &[life]);
        self.note_conflicts(kind, conflicts);
    }

    /// The instruction of the asynchronous proxy that the step is.
    pub(super) fn proxy(&mut self, action: &ProxyAction) {
        let (machine, agent) = (&*self.machine, self.agent);
        let memory = &mut self.state.memory;
        let event = match action {
            ProxyAction::Begin(transfer, _) => {
                let mut at: Locations = action.locations();
                at.retain(|at| machine.follows(*at));
                let kind = transfer.access();
                let conflicts = match at.is_empty() {
                    true => Vec::new(),
                    false => memory.access(machine.layout, agent, kind, &at),
                };
                self.note_conflicts(kind, conflicts);
                Some(Event::Accessed(action.locations()))
            }
            ProxyAction::Commit(_) => None,
            ProxyAction::Wait(transfer, _, finished) => {
                if !finished.is_empty() {
                    memory.finish(machine.layout, agent, *transfer, finished);
                }
                None
            }
            ProxyAction::Fence(window) => {
                memory.fence_proxies(machine.layout, &machine.program, agent, *window);
                Some(Event::Fenced)
            }
        };
        self.log.events.extend(event);
        self.go_on(Outcome::Pass);
    }

    /// The last agent of a CTA has exited: copies that may still be reading its memory are found.
    // clause: ptx.bulk-source-lifetime
    pub(super) fn leave_stores(&mut self) {
        if !self.machine.layout.has_stores() {
            return;
        }
        // Which copies the others have left depends on what they did.
        self.log.is_about_others = true;
        let cta = self.machine.program.cta_of(self.agent);
        if !self.machine.agents_of(cta).all(|agent| self.has_exited(agent)) {
            return;
        }
        for agent in self.machine.agents_of(cta) {
            let stores = &self.machine.config(self.state, agent).stores;
            let left = stores.iter().find(|store| store.transfer == Transfer::Store).map(|store| store.pc);
            let reads = |pending: &&Pending| pending.agent == agent && pending.operation.reads();
            let Some(pc) = left.or_else(|| self.state.pending.iter().find(reads).map(|p| p.pc)) else {
                continue;
            };
            let (rule, agents) = (Rule::InFlightAtExit, vec![agent]);
            let finding = Finding { rule, agent, pc, agents, barrier: None, detail: Detail::None };
            self.log.noted.push(finding);
        }
    }
}
