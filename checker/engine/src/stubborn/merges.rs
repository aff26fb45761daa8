//! Merges of invisible choices: choices that decide nothing yet, or nothing but which locations an agent
//! accesses.
//!
//! # Paths that meet
//!
//! Take 32 warps that execute `if ? { write a[warp]; } bar.sync 0;`. Whichever path a warp takes, it comes
//! to the same configuration, before the same barrier. Followed one by one, the paths make 2^32 states:
//! each set of warps that have written is one. So all paths are taken at once. The agent makes every access
//! of every path, and goes on from where they meet.
//!
//! What is found is the same. Generations do not depend on accesses.
//!
//! * *Nothing is missed.* Let a run of the protocol show a conflict, and let each agent make *more*
//!   accesses than in that run. An access may then replace an earlier one of its own agent. Whoever learns
//!   of the later one learns of the earlier one too, since the agent holds both from then on. So if the
//!   later access conflicts with nothing that follows it unordered, the earlier one does not either.
//! * *Nothing is made up.* What is found lies between an access of one agent and an earlier one of another.
//!   A run in which each of the two takes the path with its access makes both. That run is the path shown.
//!   What no path shows is not believed.
//!
//! A path may go through a loop, as in `while ? { write a[warp]; }`, if the loop can be left: nobody else
//! sees how often an access is made. Who goes through it for ever matters to `stuck-agent` alone, see
//! below. Paths that depend on `uniform ?`, which others follow, are not merged.
//!
//! # Choices made late
//!
//! After `let c = any 0..2; bar.sync 0; if c == 1 { write a[warp]; }` the two paths do not meet at the
//! barrier: a local differs. After `if ? { write a[warp]; bar.sync 0; } else { bar.sync 0; }` the place
//! differs. But nobody else can tell the configurations apart: they have the same moves. (A split barrier's
//! instances have places; these are part of the move.) They are merged into one that stands for all of them
//! ([`Machine::merge_configs`]) until their moves differ. Only then does the agent decide, and only among
//! those that are alike. So no state carries a choice past barriers where it does not matter.
//!
//! This is the law by which internal choice distributes over a common beginning, `a -> (P |~| Q) = (a -> P)
//! |~| (a -> Q)` (Hoare, *Communicating Sequential Processes*, section 3.2). An agent that decides late has
//! the same runs, finite and infinite, as one that decides early, and can refuse the same steps after each
//! of them. So deadlocks and whatever a step or a state violates are found. Which member of a merged
//! configuration the agent has been is found out when a path is shown: see [`super::paths`].
//!
//! `stuck-agent` speaks of *all* continuations of a state, and those of a merged state include what only
//! some members can do. Let A be blocked for good in a state s, and let a run go on for ever from there.
//! Make the same run with late choices.
//!
//! * If A stays blocked in all continuations of some state of it, A is found.
//! * Otherwise each continuation that unblocks A takes a decision that contradicts those already made in s.
//!   Take the other decision each time, until none is left that unblocks A. From there a run goes on for
//!   ever, and A is found; or all end, and so in a deadlock, since A does not exit. Where a run goes on for
//!   ever in a local loop alone, take one that leaves it.
//!
//! So something is found. Whether it is the same is left to an exploration without merged configurations:
//! where an agent is stuck, or where there are a deadlock and a cycle. That one also tells in which places
//! something is violated, if some were merged.
//!
//! Where it would break: if another agent could see a local, or if what an agent may still do were read off
//! its configuration. `uniform ?` does the latter, as decisions are forgotten that nobody will consult. So
//! a merged configuration that has yet to decide shows the positions of all its members.

use super::region::{FEW_AND_MORE, LocalPath, MOST_CONFIGS, May, Region};
use barcheck_model::machine::{ConfigId, Machine};
use barcheck_model::program::{AccessKind, AgentId, LocationId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// All paths from a choice to where they meet.
#[derive(Debug)]
pub(super) struct Merge {
    pub(super) to: ConfigId,
    /// Every access of every path, once.
    pub(super) accesses: Vec<May>,
    region: Arc<Region>,
    /// Where paths end: there, or in one of the configurations for which that stands.
    ends: Vec<ConfigId>,
}

impl Merge {
    fn new(region: &Arc<Region>, to: ConfigId, ends: Vec<ConfigId>) -> Self {
        Self { to, accesses: region.accesses(&ends), region: Arc::clone(region), ends }
    }

    /// Ways from a configuration to each that it can come to: with as few accesses as can be, and with as
    /// few as can be that include a `wanted` one.
    pub(super) fn local_paths(
        &self,
        from: ConfigId,
        wanted: Option<(LocationId, AccessKind)>,
    ) -> Vec<LocalPath> {
        self.region.local_paths(from, &self.ends, wanted)
    }
}

/// What an agent decides instead of taking one path: nothing if there is but one merge, and otherwise which
/// of them it makes.
pub(super) type Fork = Arc<[Merge]>;

/// The merges known so far, by automaton and configuration.
#[derive(Debug, Default)]
pub(super) struct Merges {
    /// Choices are made late, and local loops are paths like others.
    pub(super) decides_late: bool,
    /// Some merge has a path with a cycle.
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

/// All paths to where nothing is left open, as one merge for those whose ends are alike; `None` if that
/// merges nothing.
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
