//! What a trace has said so far of the barriers that occurred in it.

use std::collections::BTreeMap;
use std::sync::Arc;

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::Event;
use barcheck_model::program::{AgentId, Program};

use crate::build::snapshot::{self, Locals, Past};
use crate::trace::BarrierState;
use crate::wording;

/// What a trace has said so far.
#[derive(Clone, Default)]
pub(super) struct Said {
    pub(super) barriers: BTreeMap<BarrierId, OfBarrier>,
    pub(super) steps: usize,
    /// What is known of locals, for who may arrive where.
    pub(super) locals: Locals,
    /// Steps have been passed over: nothing that was said of the state need hold.
    pub(super) stale: bool,
}

/// What a trace has said of a barrier that occurred.
#[derive(Clone, Default)]
pub(super) struct OfBarrier {
    pub(super) generation: u32,
    /// Who has arrived since the latest generation was completed, in order.
    came: Vec<u32>,
    /// Whose code may arrive on it, once that was asked.
    users: Option<Arc<[u32]>>,
    pub(super) shown: Option<BarrierState>,
}

impl Said {
    /// The same where the state that follows is not looked at: what is issued names its barrier.
    pub(super) fn passes(&mut self, agent: AgentId, event: &Event) {
        if let Event::Issued(left) = event {
            self.barriers.entry(left.operation.barrier()).or_default();
        }
        self.hears(agent, event);
    }

    /// Takes in what an agent has done.
    pub(super) fn hears(&mut self, agent: AgentId, event: &Event) {
        match event {
            Event::Completed(id, _) => {
                let said = self.barriers.entry(*id).or_default();
                said.generation = said.generation.saturating_add(1);
                said.came.clear();
            }
            Event::Begun(id) => self.barriers.entry(*id).or_default().came.clear(),
            Event::Arrived(id) => self.barriers.entry(*id).or_default().comes(agent),
            Event::Landed(left) => {
                let said = self.barriers.entry(left.operation.barrier()).or_default();
                if wording::lands_as_arrival(&left.operation) {
                    said.comes(left.agent);
                }
            }
            _ => {}
        }
    }
}

impl OfBarrier {
    fn comes(&mut self, agent: AgentId) {
        if let Err(at) = self.came.binary_search(&agent.0) {
            self.came.insert(at, agent.0);
        }
    }

    /// What the state itself does not tell.
    pub(super) fn past(&mut self, program: &Program, id: BarrierId, locals: &mut Locals) -> Past<'_> {
        let users = self.users.get_or_insert_with(|| snapshot::users(program, id, locals).into());
        Past { generation: self.generation, came: &self.came, users }
    }
}
