//! Choices that decide nothing but which locations an agent accesses.
//!
//! `if ? { write a[warp]; }` leaves the agent where it would have come anyway. If every way from a choice comes to one configuration by accesses and further choices alone,
//! all ways are gone at once: the agent makes all accesses of all of them. Otherwise every set of agents that have chosen to access something would be a state of its own,
//! 2^32 of them for 32 warps.
//!
//! What is found is the same. Generations do not depend on accesses. Let each agent make *more* accesses than in some run of the protocol: an access that replaces an earlier one is ordered after it, or
//! something is found; whoever learns of the later one, in time or in memory, learns of the earlier one by the same way, since from the moment of the later access on its agent holds both. So
//! if the later access conflicts with nothing that comes after it unordered, neither does the earlier one: what that run violates is found here too. Conversely, if something is found, then between an access of one agent and
//! an earlier one of another: both are made if each of the two goes the way on which its access is, and nothing that replaces the earlier one there is missing here. That run is the path shown.
//!
//! Ways with a loop are not gone at once: one could go round for ever, which `stuck-agent` asks about. Nor are those that depend on `uniform ?`, which others follow.

use super::ties::Ties;
use barcheck_model::agent::{Action, Choices};
use barcheck_model::machine::{Advanced, Choice, ConfigId, Log, Machine, State};
use barcheck_model::program::{AccessKind, AgentId, LocationId, Pc};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Configurations looked at, at most, for one choice.
const MOST_CONFIGS: usize = 256;
/// Ways, at most, from a choice to where they meet.
const MOST_WAYS: usize = 64;

/// An access that is made on some way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct May {
    pub(super) kind: AccessKind,
    pub(super) locations: Vec<LocationId>,
    pub(super) pc: Pc,
}

/// One way: the steps, each with the access that it is, if it is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Way {
    /// Move and pick.
    pub(super) steps: Vec<(u32, u32, Option<May>)>,
}

impl Way {
    /// The accesses on the way.
    pub(super) fn accesses(&self) -> impl Iterator<Item = &May> {
        self.steps.iter().filter_map(|(.., access)| access.as_ref())
    }
}

/// All ways from a choice to where they meet.
#[derive(Debug)]
pub(super) struct Detour {
    pub(super) to: ConfigId,
    /// The one with the fewest accesses first.
    pub(super) ways: Vec<Way>,
    /// Every access of every way, once.
    pub(super) accesses: Vec<May>,
}

impl Detour {
    /// A way on which there is an access of a kind to a location, if there is one, and how many of its steps are to be made: all, or those
    /// up to the access if it is the `last`.
    pub(super) fn way(&self, wanted: Option<(LocationId, AccessKind)>, last: bool) -> (&Way, usize) {
        let is_it = |(.., access): &(u32, u32, Option<May>)| {
            let Some((location, kind)) = wanted else { return false };
            access.as_ref().is_some_and(|a| a.kind == kind && a.locations.contains(&location))
        };
        let found = self.ways.iter().find_map(|way| Some((way, way.steps.iter().position(is_it)? + 1)));
        match found {
            Some((way, upto)) if last => (way, upto),
            Some((way, _)) => (way, way.steps.len()),
            None => (&self.ways[0], self.ways[0].steps.len()),
        }
    }
}

/// A step from one configuration of the region behind a choice to another.
struct Edge {
    step: (u32, u32, Option<May>),
    to: ConfigId,
}

/// The detours known so far, by automaton and configuration.
#[derive(Debug, Default)]
pub(super) struct Detours {
    known: FxHashMap<(usize, ConfigId), Option<Arc<Detour>>>,
}

impl Detours {
    /// The detour that an agent is about to make, if its next step is the beginning of one.
    pub(super) fn at(
        &mut self,
        machine: &mut Machine,
        state: &State<Ties>,
        agent: AgentId,
    ) -> Option<Arc<Detour>> {
        let from = state.agents[agent.index()].config;
        let key = (machine.class(agent), from);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = find(machine, state, agent, from).map(Arc::new);
        self.known.insert(key, found.clone());
        found
    }

    /// One that is known.
    pub(super) fn known(&self, machine: &Machine, agent: AgentId, from: ConfigId) -> Option<Arc<Detour>> {
        self.known.get(&(machine.class(agent), from)).cloned().flatten()
    }
}

fn find(machine: &mut Machine, state: &State<Ties>, agent: AgentId, from: ConfigId) -> Option<Detour> {
    let region = region(machine, state, agent, from)?;
    let order = in_order(&region, from)?;
    let to = order.iter().copied().find(|config| *config != from && meets(&region, from, *config))?;
    let mut ways = Vec::new();
    go(&region, from, to, &mut Way::default(), &mut ways)?;
    ways.sort_by_key(|way| way.accesses().count());
    let mut accesses: Vec<May> = Vec::new();
    for access in ways.iter().flat_map(Way::accesses) {
        if !accesses.contains(access) {
            accesses.push(access.clone());
        }
    }
    Some(Detour { to, ways, accesses })
}

type Region = FxHashMap<ConfigId, Vec<Edge>>;

/// What the agent can come to by choices of its own and accesses alone. Configurations from which it goes on in some other way have no edges.
fn region(machine: &mut Machine, state: &State<Ties>, agent: AgentId, from: ConfigId) -> Option<Region> {
    let mut region = Region::default();
    let mut open = vec![from];
    while let Some(config) = open.pop() {
        if region.contains_key(&config) {
            continue;
        }
        if region.len() >= MOST_CONFIGS {
            return None;
        }
        let edges = edges(machine, state, agent, config)?;
        open.extend(edges.iter().map(|edge| edge.to));
        region.insert(config, edges);
    }
    // Something is left open at the beginning.
    (region[&from].len() > 1).then_some(region)
}

fn edges(machine: &mut Machine, state: &State<Ties>, agent: AgentId, config: ConfigId) -> Option<Vec<Edge>> {
    let mut here = State { memory: Ties::default(), ..state.clone() };
    here.agents[agent.index()].config = config;
    let [made] = machine.moves(&here, agent) else { return Some(Vec::new()) };
    let access = match (&made.action, made.choices) {
        (Action::Access(kind, locations), Choices::One) => {
            Some(May { kind: *kind, locations: locations.clone(), pc: made.pc })
        }
        (Action::Decide, Choices::Open(_)) | (Action::Assert(true), Choices::One) => None,
        _ => return Some(Vec::new()),
    };
    let picks = machine.picks(&here, agent, made);
    if picks.end - picks.start > MOST_WAYS as u64 {
        return None;
    }
    let mut edges = Vec::new();
    for pick in picks {
        let pick = u32::try_from(pick).ok()?;
        let mut after = here.clone();
        let choice = Choice { agent, index: 0, pick };
        if machine.advance(&mut after, choice, &mut Log::default()) != Advanced::Progress {
            return None;
        }
        let to = after.agents[agent.index()].config;
        edges.push(Edge { step: (0, pick, access.clone()), to });
    }
    Some(edges)
}

/// The configurations, each before those that it leads to; `None` if some way goes round.
fn in_order(region: &Region, from: ConfigId) -> Option<Vec<ConfigId>> {
    let mut incoming: FxHashMap<ConfigId, usize> = FxHashMap::default();
    for edge in region.values().flatten() {
        *incoming.entry(edge.to).or_default() += 1;
    }
    if incoming.contains_key(&from) {
        return None;
    }
    let (mut order, mut open) = (Vec::new(), vec![from]);
    while let Some(config) = open.pop() {
        order.push(config);
        for edge in &region[&config] {
            let left = incoming.get_mut(&edge.to)?;
            *left -= 1;
            if *left == 0 {
                open.push(edge.to);
            }
        }
    }
    (order.len() == region.len()).then_some(order)
}

/// Whether every way passes a configuration.
fn meets(region: &Region, from: ConfigId, at: ConfigId) -> bool {
    let (mut open, mut seen) = (vec![from], FxHashSet::default());
    while let Some(config) = open.pop() {
        if config == at || !seen.insert(config) {
            continue;
        }
        if region[&config].is_empty() {
            return false;
        }
        open.extend(region[&config].iter().map(|edge| edge.to));
    }
    true
}

/// Adds every way; `None` if they are too many.
fn go(region: &Region, from: ConfigId, to: ConfigId, way: &mut Way, ways: &mut Vec<Way>) -> Option<()> {
    if from == to {
        ways.push(way.clone());
        return (ways.len() <= MOST_WAYS).then_some(());
    }
    for edge in &region[&from] {
        way.steps.push(edge.step.clone());
        go(region, edge.to, to, way, ways)?;
        way.steps.pop();
    }
    Some(())
}
