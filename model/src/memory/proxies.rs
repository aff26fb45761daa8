//! The asynchronous proxy: copies that read or write, and which writes are fenced for them.
//!
//! A copy out of a location, or into it, takes another path than the one that agents write by. So of each
//! generic write to a location that copies may read or write it is kept, besides who knows of it, who knows
//! of a fence between the proxies that somebody who knew of the write has executed since. That travels as all
//! knowledge does. What everybody knows as fenced is forgotten, and nothing is kept of locations that no copy
//! reads or writes. Of generic reads nothing is asked: no copy can change what has been read.

use super::layout::Layout;
use super::{About, Access, Conflict, Memory};
use crate::program::{AccessKind, AgentId, LocationId, Program, Window};
use crate::rule::Rule;

impl Memory {
    /// Adds the generic writes that an agent knows of, and does not know as fenced, where it begins copies of
    /// the asynchronous proxy out of, or into, these locations.
    // clause: ptx.proxies
    pub(super) fn unfenced(
        &self,
        layout: Layout,
        agent: AgentId,
        locations: &[LocationId],
        found: &mut Vec<Conflict>,
    ) {
        let fences = self.accesses.iter().filter(|a| a.about == About::Fenced);
        let of_these = fences.filter(|a| locations.contains(&a.location));
        for fenced in of_these.filter(|a| !a.known.has(layout.memory(agent))) {
            // What it does not know of at all is found anyway.
            if self.is_known(layout, fenced, agent) {
                found.push((Rule::MissingFence, fenced.location, fenced.agent, fenced.kind));
            }
        }
    }

    /// An agent executes a fence between the proxies.
    pub(super) fn fenced(&mut self, layout: Layout, program: &Program, agent: AgentId, window: Window) {
        let fences = (0..self.accesses.len()).filter(|at| {
            let access = &self.accesses[*at];
            access.about == About::Fenced
                && program.covers(window, agent, access.location)
                && self.is_known(layout, access, agent)
        });
        for at in fences.collect::<Vec<_>>() {
            self.accesses[at].known.add(layout.memory(agent));
        }
    }

    /// The copies of a kind that an agent has begun out of, or into, these locations have finished, and the
    /// agent knows it.
    // clause: ptx.bulk-wait-group, ptx.cp-async-wait-group
    pub(super) fn has_finished(
        &mut self,
        layout: Layout,
        agent: AgentId,
        kind: AccessKind,
        locations: &[LocationId],
    ) {
        let copies = self.accesses.iter_mut().filter(|a| {
            let Access { about, agent: by, kind: of, .. } = **a;
            (about, by, of) == (About::Made, agent, kind)
        });
        for copy in copies.filter(|a| locations.contains(&a.location)) {
            copy.known.add(layout.time(agent));
            copy.known.add(layout.memory(agent));
        }
    }

    /// Whether an agent knows of the write about whose fences something is kept. A write that is remembered
    /// no more is one that everybody knows.
    fn is_known(&self, layout: Layout, fenced: &Access, agent: AgentId) -> bool {
        let is_it = |a: &&Access| {
            let Access { location, kind, agent, .. } = **a;
            a.about == About::Made && (location, kind, agent) == (fenced.location, fenced.kind, fenced.agent)
        };
        let made = self.accesses.iter().find(is_it);
        made.is_none_or(|made| {
            made.agent == agent && !made.kind.is_of_copy()
                || made.known.has(layout.time(agent)) && made.known.has(layout.memory(agent))
        })
    }
}
