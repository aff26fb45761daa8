//! Choices that decide nothing yet, or nothing but which locations an agent accesses.
//!
//! `if ? { write a[warp]; }` leaves the agent where it would have come anyway. If every way from a choice
//! comes to one configuration by accesses and further choices alone, all ways are gone at once: the agent
//! makes all accesses of all of them. Otherwise every set of agents that have chosen to access something
//! would be a state of its own, 2^32 of them for 32 warps.
//!
//! What is found is the same. Generations do not depend on accesses. Let each agent make *more* accesses than
//! in some run of the protocol: an access that replaces an earlier one is ordered after it, or something is
//! found; whoever learns of the later one, in time or in memory, learns of the earlier one by the same way,
//! since from the moment of the later access on its agent holds both. So if the later access conflicts with
//! nothing that comes after it unordered, neither does the earlier one: what that run violates is found here
//! too. Conversely, if something is found, then between an access of one agent and an earlier one of another:
//! both are made if each of the two goes the way on which its access is, and nothing that replaces the
//! earlier one there is missing here. That run is the path shown, if there is one: what no path shows is not
//! believed.
//!
//! A way may go round a loop, as in `while ? { write a[warp]; }`, as long as it can be left: once is as good
//! as ever again, since nobody else sees how often an access is made. Who goes round for ever matters to
//! `stuck-agent` alone, see below. Ways that depend on `uniform ?`, which others follow, are not gone at
//! once.
//!
//! # Choices made late
//!
//! `let c = any 0..2; bar.sync 0; if c == 1 { write a[warp]; }` leaves the agent at the same barrier with one
//! local or another, and `if ? { write a[warp]; bar.sync 0; } else { bar.sync 0; }` in one place or another.
//! The ways do not come to one configuration, but to several of which nobody else can tell one from another:
//! the same moves, and nothing but locals and places that differ. (A split barrier's instances have places;
//! these are part of the move.) They are merged, into what stands for all of them
//! ([`Machine::merge_configs`]), until their moves differ. Only then the agent decides, and only among those
//! that are alike. So the number of decided choices is not carried through barriers where it does not matter.
//!
//! This is the law by which an internal choice distributes over what all its ways begin with,
//! `a -> (P |~| Q) = (a -> P) |~| (a -> Q)` (Hoare, *Communicating Sequential Processes*, section 3.2): an
//! agent that decides late has the same runs, finite and infinite, as one that decides early, and can refuse
//! the same steps after each of them. So deadlocks and whatever a step or a state on a run violates are
//! found, by the run of an agent's members that are left. Which of them that were, and so which way its
//! choices have gone, is found out when a path is shown: see [`super::paths`].
//!
//! `stuck-agent` speaks of *all* continuations of a state: those of a merged state include what only some of
//! its members can do. Let A be blocked in a state s for good, and let a run go on for ever from there. Make
//! the same run with late choices. If A stays blocked in all its continuations somewhere there, it is found.
//! Otherwise each continuation that unblocks A takes a decision that contradicts those already made in s;
//! take the one that does not, and go on so until none is left that unblocks A. From there a run goes on for
//! ever, and A is found; or all of them end, and so in a deadlock, since A does not exit. Where a run goes on
//! for ever in a local loop alone, take one that leaves it. So something is found. Whether it is the same is
//! left to an exploration without merged configurations, where an agent is stuck, or where there are a
//! deadlock and a cycle or such a loop. It also tells in which places something is violated, if some were
//! merged.
//!
//! Where it would break: if another agent could see a local, or if what an agent may still do were read off
//! its configuration. `uniform ?` does the latter, as decisions are forgotten that nobody will consult; so a
//! merged configuration that has yet to decide shows the positions of all its members.

use super::region::{FEW_AND_MORE, LocalPath, MOST_CONFIGS, May, Region};
use barcheck_model::machine::{ConfigId, Machine};
use barcheck_model::program::{AccessKind, AgentId, LocationId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// All ways from a choice to where they meet.
#[derive(Debug)]
pub(super) struct Merge {
    pub(super) to: ConfigId,
    /// Every access of every way, once.
    pub(super) accesses: Vec<May>,
    region: Arc<Region>,
    /// Where ways end: there, or in one of the configurations for which that stands.
    ends: Vec<ConfigId>,
}

impl Merge {
    fn new(region: &Arc<Region>, to: ConfigId, ends: Vec<ConfigId>) -> Self {
        Self { to, accesses: region.accesses(&ends), region: Arc::clone(region), ends }
    }

    /// Ways from a configuration to each that it can come to: with as few accesses as can be, and with as few
    /// as can be that include a `wanted` one.
    pub(super) fn local_paths(
        &self,
        from: ConfigId,
        wanted: Option<(LocationId, AccessKind)>,
    ) -> Vec<LocalPath> {
        self.region.local_paths(from, &self.ends, wanted)
    }
}

/// What an agent decides instead of going one way: nothing if there is but one merge, and otherwise which of
/// them it makes.
pub(super) type Fork = Arc<[Merge]>;

/// The merges known so far, by automaton and configuration.
#[derive(Debug, Default)]
pub(super) struct Merges {
    /// Choices are made late, and local loops are ways like others.
    pub(super) decides_late: bool,
    /// Some merge has a way that goes round.
    pub(super) has_cycle: bool,
    known: FxHashMap<(usize, ConfigId), Option<Fork>>,
}

impl Merges {
    /// None is known yet.
    pub(super) fn new(decides_late: bool) -> Self {
        Self { decides_late, ..Self::default() }
    }

    /// The merges that an agent can make where its next step is a decision.
    pub(super) fn at(&mut self, machine: &mut Machine, agent: AgentId, from: ConfigId) -> Option<Fork> {
        let key = (machine.class(agent), from);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = self.find(machine, agent, from);
        self.known.insert(key, found.clone());
        found
    }

    /// One that is known.
    pub(super) fn known(&self, machine: &Machine, agent: AgentId, from: ConfigId) -> Option<Fork> {
        self.known.get(&(machine.class(agent), from)).cloned().flatten()
    }

    fn find(&mut self, machine: &mut Machine, agent: AgentId, from: ConfigId) -> Option<Fork> {
        let members = machine.members(agent, from);
        // That computation has failed is seen where the machine makes the decision.
        if members.iter().any(|member| machine.has_failed(agent, *member)) {
            return None;
        }
        for most in FEW_AND_MORE {
            let region = Arc::new(Region::around(machine, agent, &members, most)?);
            if most == MOST_CONFIGS && !region.is_complete() {
                break;
            }
            let found = match region.meeting() {
                Some(to) => Some([Merge::new(&region, to, vec![to])].into()),
                None if self.decides_late => apart(machine, agent, &region),
                None => None,
            };
            if found.is_some() {
                let has_cycle = region.has_cycle();
                self.has_cycle |= has_cycle;
                return found.filter(|_| self.decides_late || !has_cycle);
            }
            if region.is_complete() {
                break;
            }
        }
        // As the merged configuration itself would decide.
        let stays = Arc::new(Region::of(&members));
        apart(machine, agent, &stays).filter(|merges| merges.len() > 1)
    }
}

/// All ways to where nothing is left open, as one merge for those whose ends are alike; `None` if that merges
/// nothing.
fn apart(machine: &mut Machine, agent: AgentId, region: &Arc<Region>) -> Option<Fork> {
    let ends = region.last()?;
    let (groups, count) = (machine.alike_configs(agent, &ends), ends.len());
    if groups.len() == count && !region.has_several_starts() {
        return None;
    }
    let merges = groups.into_iter().map(|group| {
        let to = machine.merge_configs(agent, group.clone());
        Merge::new(region, to, group)
    });
    Some(merges.collect())
}
