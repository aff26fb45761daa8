//! The latest accesses to a location, along one run.

use super::plane::{Moment, OPEN, Plane};
use barcheck_model::memory::Layout;
use barcheck_model::program::{AccessKind, AgentId};

/// The latest accesses to a location.
#[derive(Clone, Debug, Default)]
pub(super) struct Latest {
    pub(super) write: Option<Moment>,
    /// A `cp.async`.
    pub(super) fill: Option<Fill>,
    /// Accesses of what is, or was, in flight.
    pub(super) in_flight: Vec<InFlight>,
    reads: Vec<Moment>,
    atomics: Vec<Moment>,
    /// Copies out of the location: the waits for those that have read, and [`OPEN`].
    pub(super) stores: Vec<Moment>,
    /// Generic writes, each with a fence between the proxies by somebody who knew of it: the first one of
    /// each agent.
    pub(super) fences: Vec<(Moment, Moment)>,
    /// The write begins or ends the life of an object.
    initialises: bool,
}

/// A `cp.async`.
#[derive(Clone, Debug)]
pub(super) struct Fill {
    pub(super) begun: Moment,
    /// Whoever knows of one of these knows that it is complete: waits for it, and landings of arrivals that
    /// stand for it, one of each actor.
    pub(super) complete: Vec<Moment>,
}

/// An access of something in flight, by its landing; before it has a place, by its issue.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub(super) kind: AccessKind,
    pub(super) landing: Moment,
    /// Who began it.
    pub(super) agent: AgentId,
}

/// An access that is among the latest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Earlier<'l> {
    pub(super) kind: AccessKind,
    /// Who made, or began it.
    pub(super) agent: AgentId,
    /// Tells it apart from others of its agent and kind.
    pub(super) made: Moment,
    /// Whoever knows of one of these knows that it is over.
    pub(super) over: &'l [Moment],
}

impl<'l> Earlier<'l> {
    fn by_agent(kind: AccessKind, moment: &'l Moment) -> Self {
        Self { kind, agent: AgentId(moment.actor), made: *moment, over: std::slice::from_ref(moment) }
    }

    pub(super) fn is_known(&self, plane: &Plane, holder: usize) -> bool {
        self.over.iter().any(|moment| plane.knows(holder, *moment))
    }
}

impl Latest {
    /// By kind.
    pub(super) fn all(&self) -> impl Iterator<Item = Earlier<'_>> + '_ {
        let of = |kind| move |moment| Earlier::by_agent(kind, moment);
        let writes = self.write.iter().map(of(self.kind_of_write()));
        let fills = self.fill.iter().map(|Fill { begun, complete }| {
            let agent = AgentId(begun.actor);
            Earlier { kind: AccessKind::Fill, agent, made: *begun, over: complete }
        });
        let in_flight = self.in_flight.iter().map(|InFlight { kind, landing, agent }| {
            let over = std::slice::from_ref(landing);
            Earlier { kind: *kind, agent: *agent, made: *landing, over }
        });
        let reads = self.reads.iter().map(of(AccessKind::Read));
        let stores = self.stores.iter().map(of(AccessKind::Store));
        let atomics = self.atomics.iter().map(of(AccessKind::Atomic));
        writes.chain(fills).chain(in_flight).chain(reads).chain(atomics).chain(stores)
    }

    pub(super) fn kind_of_write(&self) -> AccessKind {
        if self.initialises { AccessKind::Initialisation } else { AccessKind::Write }
    }

    /// The generic writes that an agent knows of.
    pub(super) fn known_writes(
        &self,
        plane: &Plane,
        layout: Layout,
        agent: AgentId,
    ) -> Vec<(AccessKind, Moment)> {
        let is_known = |earlier: &Earlier<'_>| {
            let holders = [layout.time(agent), layout.memory(agent)];
            let is_own = earlier.agent == agent && earlier.kind != AccessKind::Fill;
            earlier.kind.is_generic_write()
                && (is_own || holders.iter().all(|holder| earlier.is_known(plane, *holder)))
        };
        self.all().filter(is_known).map(|earlier| (earlier.kind, earlier.made)).collect()
    }

    /// What is not among the latest any more once this access is made.
    pub(super) fn replace(&mut self, kind: AccessKind, now: Moment) {
        let agent = AgentId(now.actor);
        let in_flight = InFlight { kind, landing: now, agent };
        let of_kind = match kind {
            AccessKind::Write => return *self = Self { write: Some(now), ..Self::default() },
            AccessKind::Initialisation => {
                return *self = Self { write: Some(now), initialises: true, ..Self::default() };
            }
            AccessKind::Use => return,
            AccessKind::Fill => {
                let fill = Fill { begun: now, complete: Vec::new() };
                return *self = Self { fill: Some(fill), ..Self::default() };
            }
            // Who performs it is known once it has been issued.
            AccessKind::Copy | AccessKind::Sent => {
                return *self = Self { in_flight: vec![in_flight], ..Self::default() };
            }
            AccessKind::Reduction | AccessKind::Source => return self.in_flight.push(in_flight),
            AccessKind::Read => &mut self.reads,
            AccessKind::Atomic => {
                self.fences.retain(|(atomic, _)| atomic.actor != now.actor || Some(*atomic) == self.write);
                &mut self.atomics
            }
            AccessKind::Store => &mut self.stores,
        };
        // When it is made is not known before it has been waited for.
        let clock = if kind == AccessKind::Store { OPEN } else { now.clock };
        let now = Moment { clock, ..now };
        match of_kind.iter_mut().find(|m| m.actor == now.actor) {
            Some(earlier) => *earlier = now,
            None => of_kind.push(now),
        }
    }
}

/// Adds a step after which a copy is complete. Whoever knows of a later one of its actor knows of this one.
pub(super) fn complete(moments: &mut Vec<Moment>, now: Moment) {
    if !moments.iter().any(|moment| moment.actor == now.actor) {
        moments.push(now);
    }
}
