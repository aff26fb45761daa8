//! Choices that decide nothing yet, or nothing but which locations an agent accesses.
//!
//! `if ? { write a[warp]; }` leaves the agent where it would have come anyway. If every way from a choice comes to one configuration by accesses and further choices alone,
//! all ways are gone at once: the agent makes all accesses of all of them. Otherwise every set of agents that have chosen to access something would be a state of its own,
//! 2^32 of them for 32 warps.
//!
//! What is found is the same. Generations do not depend on accesses. Let each agent make *more* accesses than in some run of the protocol: an access that replaces an earlier one is ordered after it, or
//! something is found; whoever learns of the later one, in time or in memory, learns of the earlier one by the same way, since from the moment of the later access on its agent holds both. So
//! if the later access conflicts with nothing that comes after it unordered, neither does the earlier one: what that run violates is found here too. Conversely, if something is found, then between an access of one agent and
//! an earlier one of another: both are made if each of the two goes the way on which its access is, and nothing that replaces the earlier one there is missing here. That run is the path shown, if there is one:
//! what no path shows is not believed.
//!
//! A way may go round a loop, as in `while ? { write a[warp]; }`, as long as it can be left: once is as good as ever again, since nobody else sees how often an access is made. Who
//! goes round for ever matters to `stuck-agent` alone, see below. Ways that depend on `uniform ?`, which others follow, are not gone at once.
//!
//! # Choices made late
//!
//! `let c = any 0..2; bar.sync 0; if c == 1 { write a[warp]; }` leaves the agent at the same barrier with one local or another, and `if ? { write a[warp]; bar.sync 0; } else { bar.sync 0; }` in
//! one place or another. The ways do not come to one configuration, but to several
//! of which nobody else can tell one from another: the same moves, and nothing but locals and places that differ. (A split barrier's instances have places; these are part of the move.) They are merged, into what stands for all of them
//! ([`Machine::merge_configs`]), until their moves differ. Only then the agent decides, and only among those that are alike. So the number of decided choices is not carried through barriers where it does not matter.
//!
//! This is the law by which an internal choice distributes over what all its ways begin with, `a -> (P |~| Q) = (a -> P) |~| (a -> Q)` (Hoare, *Communicating Sequential Processes*, section 3.2): an agent that decides late has the same
//! runs, finite and infinite, as one that decides early, and can refuse the same steps after each of them. So deadlocks and whatever a step or a state on a run violates are found, by
//! the run of an agent's members that are left. Which of them that were, and so which way its choices have gone, is found out when a path is shown: see [`super::paths`].
//!
//! `stuck-agent` speaks of *all* continuations of a state: those of a merged state include what only some of its members can do. Let A be blocked in a state s for good, and let a run go on for ever from there. Make the same run with
//! late choices. If A stays blocked in all its continuations somewhere there, it is found. Otherwise each continuation that unblocks A takes a decision that contradicts those
//! already made in s; take the one that does not, and go on so until none is left that unblocks A. From there a run goes on for ever, and A is found; or all of them end, and
//! so in a deadlock, since A does not exit. Where a run goes on for ever in a local loop alone, take one that leaves it. So something is found. Whether it is the same is left to an exploration without merged configurations, where an agent is stuck, or where there are a deadlock and
//! a cycle or such a loop. It also tells in which places something is violated, if some were merged.
//!
//! Where it would break: if another agent could see a local, or if what an agent may still do were read off its configuration. `uniform ?` does the latter, as decisions are forgotten that nobody will consult; so a merged
//! configuration that has yet to decide shows the positions of all its members.

use barcheck_model::agent::{Action, Choices, Outcome};
use barcheck_model::machine::{ConfigId, Machine};
use barcheck_model::program::{AccessKind, AgentId, LocationId, Pc};
use petgraph::algo::is_cyclic_directed;
use petgraph::graphmap::DiGraphMap;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Configurations looked at, at most, for one choice.
const MOST_CONFIGS: usize = 256;
/// Ways, at most, from a choice to where they meet, and steps made to find them.
const MOST_WAYS: usize = 64;
const MOST_WALKED: usize = 1 << 14;

/// An access that is made on some way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct May {
    pub(super) kind: AccessKind,
    pub(super) locations: Vec<LocationId>,
    pub(super) pc: Pc,
}

/// One way, from one configuration to another: the steps, each with the access that it is, if it is one.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) from: ConfigId,
    /// Move and pick.
    pub(super) steps: Vec<(u32, u32, Option<May>)>,
    pub(super) to: ConfigId,
}

impl Way {
    /// The accesses on the way.
    pub(super) fn accesses(&self) -> impl Iterator<Item = &May> {
        self.steps.iter().filter_map(|(.., access)| access.as_ref())
    }

    /// The number of steps up to the first access of a kind to a location, that step included.
    pub(super) fn upto(&self, (location, kind): (LocationId, AccessKind)) -> Option<usize> {
        let is_it = |(.., access): &(u32, u32, Option<May>)| {
            access.as_ref().is_some_and(|a| a.kind == kind && a.locations.contains(&location))
        };
        Some(self.steps.iter().position(is_it)? + 1)
    }
}

/// All ways from a choice to where they meet.
#[derive(Debug)]
pub(super) struct Detour {
    pub(super) to: ConfigId,
    pub(super) ways: Vec<Way>,
    /// Every access of every way, once.
    pub(super) accesses: Vec<May>,
}

impl Detour {
    fn new(to: ConfigId, ways: Vec<Way>) -> Self {
        let mut accesses: Vec<May> = Vec::new();
        for access in ways.iter().flat_map(Way::accesses) {
            if !accesses.contains(access) {
                accesses.push(access.clone());
            }
        }
        Self { to, ways, accesses }
    }
}

/// What an agent decides instead of going one way: nothing if there is but one detour, and otherwise which of them it makes.
pub(super) type Fork = Arc<[Detour]>;

/// The detours known so far, by automaton and configuration.
#[derive(Debug, Default)]
pub(super) struct Detours {
    /// Choices are made late, and local loops are ways like others.
    pub(super) merges: bool,
    /// Some detour has a way that goes round.
    pub(super) goes_round: bool,
    known: FxHashMap<(usize, ConfigId), Option<Fork>>,
}

impl Detours {
    /// None is known yet.
    pub(super) fn new(merges: bool) -> Self {
        Self { merges, ..Self::default() }
    }

    /// The detours that an agent can make where its next step is a decision.
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
        let region =
            Region::around(machine, agent, &members).filter(|region| self.merges || !region.goes_round());
        let goes_round = region.as_ref().is_some_and(Region::goes_round);
        let found = self.find_in(machine, agent, &members, region);
        self.goes_round |= goes_round && found.is_some();
        found
    }

    fn find_in(
        &self,
        machine: &mut Machine,
        agent: AgentId,
        members: &[ConfigId],
        region: Option<Region>,
    ) -> Option<Fork> {
        if let Some(detour) = region.as_ref().and_then(Region::meeting) {
            return Some([detour].into());
        }
        if !self.merges {
            return None;
        }
        let groups = region.and_then(|region| region.apart(machine, agent));
        // As the merged configuration itself would decide.
        groups.or_else(|| {
            let groups = machine.alike_configs(agent, members);
            let stay = |config: &ConfigId| Way { from: *config, steps: Vec::new(), to: *config };
            let detours = groups.into_iter().map(|group| {
                let ways = group.iter().map(stay).collect();
                Detour::new(machine.merge_configs(agent, group), ways)
            });
            Some(detours.collect::<Vec<_>>()).filter(|detours| detours.len() > 1).map(Fork::from)
        })
    }
}

/// A step from one configuration of the region behind a choice to another.
struct Edge {
    step: (u32, u32, Option<May>),
    to: ConfigId,
}

/// What an agent can come to by choices of its own and accesses alone.
struct Region {
    starts: Vec<ConfigId>,
    /// Configurations from which it goes on in some other way have no edges.
    edges: FxHashMap<ConfigId, Vec<Edge>>,
    /// The configurations, the nearest first.
    order: Vec<ConfigId>,
}

impl Region {
    /// The region; `None` if it is too large, or if nothing is left open in it.
    fn around(machine: &mut Machine, agent: AgentId, starts: &[ConfigId]) -> Option<Self> {
        let mut region =
            Self { starts: starts.to_vec(), edges: FxHashMap::default(), order: starts.to_vec() };
        let mut known: FxHashSet<ConfigId> = starts.iter().copied().collect();
        let mut next = 0;
        while let Some(config) = region.order.get(next).copied() {
            if next >= MOST_CONFIGS {
                return None;
            }
            next += 1;
            let edges = edges(machine, agent, config)?;
            region.order.extend(edges.iter().map(|edge| edge.to).filter(|to| known.insert(*to)));
            region.edges.insert(config, edges);
        }
        let is_open = starts.len() > 1 || region.edges[&starts[0]].len() > 1;
        is_open.then_some(region)
    }

    /// Whether some way goes round.
    fn goes_round(&self) -> bool {
        let edges = self.edges.iter().flat_map(|(from, edges)| edges.iter().map(|edge| (from.0, edge.to.0)));
        is_cyclic_directed(&DiGraphMap::<u32, ()>::from_edges(edges))
    }

    /// All ways as one detour, if there is a configuration that all of them come to.
    fn meeting(&self) -> Option<Detour> {
        let is_start = |config: ConfigId| self.starts.iter().all(|start| *start == config);
        let meets = |at: ConfigId| self.comes_to(&|config| config == at);
        let to = self.order.iter().copied().find(|config| !is_start(*config) && meets(*config))?;
        Some(Detour::new(to, self.ways(&|config| config == to)?))
    }

    /// Whether the agent comes to one of some configurations whatever it chooses, but for going round for ever, which it can leave at any time.
    fn comes_to(&self, is_end: &dyn Fn(ConfigId) -> bool) -> bool {
        let (mut open, mut trapped) = (self.starts.clone(), FxHashSet::default());
        while let Some(config) = open.pop() {
            if !is_end(config) && trapped.insert(config) {
                open.extend(self.edges[&config].iter().map(|edge| edge.to));
            }
        }
        let mut before = usize::MAX;
        while trapped.len() < before {
            before = trapped.len();
            for config in self.order.iter().rev() {
                if self.edges[config].iter().any(|edge| !trapped.contains(&edge.to)) {
                    trapped.remove(config);
                }
            }
        }
        trapped.is_empty()
    }

    /// All ways to their ends, as one detour for those whose ends are alike; `None` if they are too many, or if that merges nothing.
    fn apart(&self, machine: &mut Machine, agent: AgentId) -> Option<Fork> {
        let is_end = |config: ConfigId| self.edges[&config].is_empty();
        let ways = self.comes_to(&is_end).then(|| self.ways(&is_end))??;
        let mut ends: Vec<ConfigId> = ways.iter().map(|way| way.to).collect();
        ends.sort_unstable();
        ends.dedup();
        let groups = machine.alike_configs(agent, &ends);
        let is_merged = self.starts.len() > 1;
        if groups.len() == ends.len() && !is_merged {
            return None;
        }
        let detours = groups.into_iter().map(|group| {
            let ways = ways.iter().filter(|way| group.contains(&way.to)).cloned().collect();
            Detour::new(machine.merge_configs(agent, group), ways)
        });
        Some(detours.collect())
    }

    /// Ways from each start to each end that it can come to, and through each edge in between: none makes a step more than twice. `None` if they are too many.
    fn ways(&self, is_end: &dyn Fn(ConfigId) -> bool) -> Option<Vec<Way>> {
        let mut walk =
            Walk { region: self, is_end, made: FxHashMap::default(), left: MOST_WALKED, ways: Vec::new() };
        for start in &self.starts {
            walk.go(&mut Way { from: *start, steps: Vec::new(), to: *start })?;
        }
        Some(walk.ways)
    }
}

/// A walk along ways through a region.
struct Walk<'r> {
    region: &'r Region,
    is_end: &'r dyn Fn(ConfigId) -> bool,
    /// How often each step is made on the way, by configuration and pick.
    made: FxHashMap<(ConfigId, u32), u8>,
    /// So many steps may yet be made on all ways together.
    left: usize,
    ways: Vec<Way>,
}

impl Walk<'_> {
    /// Goes on from the end of a way.
    fn go(&mut self, way: &mut Way) -> Option<()> {
        if (self.is_end)(way.to) {
            self.ways.push(way.clone());
            return (self.ways.len() <= MOST_WAYS).then_some(());
        }
        let at = way.to;
        for edge in &self.region.edges[&at] {
            let key = (at, edge.step.1);
            if self.made.get(&key) == Some(&2) {
                continue;
            }
            self.left = self.left.checked_sub(1)?;
            *self.made.entry(key).or_default() += 1;
            way.steps.push(edge.step.clone());
            way.to = edge.to;
            self.go(way)?;
            way.steps.pop();
            self.made.entry(key).and_modify(|times| *times -= 1);
        }
        way.to = at;
        Some(())
    }
}

fn edges(machine: &mut Machine, agent: AgentId, config: ConfigId) -> Option<Vec<Edge>> {
    let [made] = machine.moves_in(agent, config) else { return Some(Vec::new()) };
    let (access, picks) = match (&made.action, made.choices) {
        (Action::Access(kind, locations), Choices::One) => {
            (Some(May { kind: *kind, locations: locations.clone(), pc: made.pc }), 1)
        }
        (Action::Decide, Choices::Open(picks)) => (None, picks),
        (Action::Assert(true), Choices::One) => (None, 1),
        _ => return Some(Vec::new()),
    };
    if picks > MOST_WAYS as u64 {
        return None;
    }
    let mut edges = Vec::new();
    for pick in 0..u32::try_from(picks).ok()? {
        let to = machine.config_after(agent, config, 0, pick, Outcome::Pass);
        if machine.has_failed(agent, to) {
            return None;
        }
        edges.push(Edge { step: (0, pick, access.clone()), to });
    }
    Some(edges)
}
