//! How much memory a trace takes.

use std::mem::size_of;

use crate::trace::{AgentState, BarrierState, Event, State, Step};

/// What a block of memory takes beside what is in it, about.
const BLOCK: usize = 16;
/// What the first node of a map of texts takes.
const NODE: usize = 560;

fn block(bytes: usize) -> usize {
    if bytes == 0 { 0 } else { bytes + BLOCK }
}

fn list<T>(items: &[T]) -> usize {
    block(size_of_val(items))
}

impl Step {
    /// Bytes of memory, about.
    pub(crate) fn bytes(&self) -> u64 {
        let texts = block(self.instruction.len()) + block(self.resolved.len());
        let operands = self.operands.as_ref().map_or(0, |operands| {
            block(operands.operation.len()) + list(&operands.counts) + operands.counts.len() * 2 * BLOCK
        });
        let agents = |event: &Event| match event {
            Event::Released { agents, .. } | Event::Notified { agents, .. } => list(agents),
            _ => 0,
        };
        let events = list(&self.events) + self.events.iter().map(agents).sum::<usize>();
        (size_of::<Self>() + texts + operands + events) as u64 + self.changes.bytes()
    }
}

impl State {
    fn bytes(&self) -> u64 {
        let agents = self.agents.iter().map(AgentState::bytes).sum::<usize>();
        let barriers = self.barriers.iter().map(BarrierState::bytes).sum::<usize>();
        (list(&self.agents) + agents + list(&self.barriers) + barriers) as u64
    }
}

impl AgentState {
    fn bytes(&self) -> usize {
        let fragments = self.fragments.iter().map(|fragment| {
            let locals = fragment.locals.values().map(|value| value.len() + 3 * BLOCK).sum::<usize>();
            block(fragment.lanes.len()) + if locals == 0 { 0 } else { NODE + locals }
        });
        block(self.instruction.len())
            + list(&self.notified)
            + list(&self.pending)
            + list(&self.fragments)
            + fragments.sum::<usize>()
    }
}

impl BarrierState {
    fn bytes(&self) -> usize {
        let agents = [&self.arrived, &self.waiting, &self.missing, &self.notified];
        let counts = list(&self.counts) + self.counts.len() * 2 * BLOCK;
        agents.into_iter().map(|agents| list(agents)).sum::<usize>() + counts + 2 * BLOCK
    }
}
