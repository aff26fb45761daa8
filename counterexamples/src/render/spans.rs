//! When which agent is blocked.

use crate::trace::{Status, Trace};

/// A step, by its position, and whether it is the agent's own.
pub(super) type Edge = (usize, bool);

/// An agent is blocked: from a step on, until another.
pub(super) struct Span {
    pub(super) agent: u32,
    /// What it waits for.
    pub(super) barrier: Option<u32>,
    /// Where it waits.
    pub(super) line: u32,
    /// The step that blocks it.
    pub(super) from: Edge,
    /// The step that lets it go on; `None` where it is blocked in the end.
    pub(super) until: Option<Edge>,
}

/// The spans of all agents, in the order in which they begin.
pub(super) fn spans(trace: &Trace) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    // The span of each agent that has no end yet.
    let mut open: Vec<Option<usize>> = vec![None; trace.agents.len()];
    for step in &trace.steps {
        for state in &step.changes.agents {
            let Some(open) = open.get_mut(state.agent as usize) else { continue };
            let blocked = state.status == Status::Blocked;
            let barrier = state.waits.map(|waits| waits.barrier);
            let edge = (step.index, step.agent == state.agent);
            if let Some(at) = *open {
                if blocked && spans[at].barrier == barrier {
                    continue;
                }
                spans[at].until = Some(edge);
                *open = None;
            }
            if blocked {
                *open = Some(spans.len());
                let line = state.location.unwrap_or_default().line;
                spans.push(Span { agent: state.agent, barrier, line, from: edge, until: None });
            }
        }
    }
    spans
}
