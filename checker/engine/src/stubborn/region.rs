//! What an agent can come to from a choice by choices and accesses of its own.

use barcheck_model::agent::{Action, Choices, Outcome};
use barcheck_model::machine::{ConfigId, Machine};
use barcheck_model::program::{AccessKind, AgentId, LocationId, Pc};
use petgraph::algo::is_cyclic_directed;
use petgraph::graph::DiGraph;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// Configurations looked at for one choice: first a few, since paths most often meet soon, and more if they
/// do not.
pub(super) const FEW_AND_MORE: [usize; 3] = [16, 64, MOST_CONFIGS];
/// Where these do not suffice, to see whether paths meet takes longer than to follow them.
pub(super) const MOST_CONFIGS: usize = 256;

/// An access that is made on some path.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct May {
    pub(super) kind: AccessKind,
    pub(super) locations: Vec<LocationId>,
    pub(super) pc: Pc,
}

/// A step from one configuration to another.
#[derive(Debug)]
struct Edge {
    /// Of the only move.
    pick: u32,
    access: Option<May>,
    to: ConfigId,
}

impl Edge {
    fn is(&self, wanted: Option<(LocationId, AccessKind)>) -> bool {
        let access = self.access.as_ref().zip(wanted);
        access.is_some_and(|(a, (location, kind))| a.kind == kind && a.locations.contains(&location))
    }
}

/// One path from a configuration to another.
#[derive(Clone, Debug)]
pub(super) struct LocalPath {
    /// The picks.
    pub(super) picks: Vec<u32>,
    pub(super) accesses: usize,
    /// The number of steps up to the access wanted, that step included, if it is made.
    pub(super) upto: Option<usize>,
    pub(super) to: ConfigId,
}

/// Configurations, and the steps between them.
#[derive(Debug)]
pub(super) struct Region {
    starts: Vec<ConfigId>,
    /// Configurations from which it goes on by another action have no edges; those that have not been looked
    /// at, or that may lead to where local computation fails, are not there.
    edges: FxHashMap<ConfigId, Vec<Edge>>,
    /// The configurations, the nearest first.
    order: Vec<ConfigId>,
}

impl Region {
    /// What lies around, as far as so many configurations go; `None` if nothing is left open in it.
    pub(super) fn around(
        machine: &mut Machine,
        agent: AgentId,
        starts: &[ConfigId],
        most: usize,
    ) -> Option<Self> {
        let mut region =
            Self { starts: starts.to_vec(), edges: FxHashMap::default(), order: starts.to_vec() };
        let mut known: FxHashSet<ConfigId> = starts.iter().copied().collect();
        let mut next = 0;
        while let Some(config) = region.order.get(next).copied().filter(|_| next < most) {
            next += 1;
            if let Some(edges) = edges(machine, agent, config) {
                region.order.extend(edges.iter().map(|edge| edge.to).filter(|to| known.insert(*to)));
                region.edges.insert(config, edges);
            }
        }
        let is_open = starts.len() > 1 || region.out_of(starts[0]).len() > 1;
        is_open.then_some(region)
    }

    /// Whether all of it has been looked at.
    pub(super) fn is_complete(&self) -> bool {
        self.edges.len() == self.order.len()
    }

    fn out_of(&self, config: ConfigId) -> &[Edge] {
        self.edges.get(&config).map_or(&[], Vec::as_slice)
    }

    /// These configurations, and no steps.
    pub(super) fn of(configs: &[ConfigId]) -> Self {
        let edges = configs.iter().map(|config| (*config, Vec::new())).collect();
        Self { starts: configs.to_vec(), edges, order: configs.to_vec() }
    }

    pub(super) fn has_several_starts(&self) -> bool {
        self.starts.len() > 1
    }

    /// Whether some path has a cycle.
    pub(super) fn has_cycle(&self) -> bool {
        let (mut graph, mut nodes) = (DiGraph::<(), ()>::new(), FxHashMap::default());
        let mut node = |graph: &mut DiGraph<(), ()>, config: ConfigId| {
            *nodes.entry(config).or_insert_with(|| graph.add_node(()))
        };
        for (from, edges) in &self.edges {
            let from = node(&mut graph, *from);
            for edge in edges {
                let to = node(&mut graph, edge.to);
                graph.add_edge(from, to, ());
            }
        }
        is_cyclic_directed(&graph)
    }

    /// A configuration to which all paths come.
    pub(super) fn meeting(&self) -> Option<ConfigId> {
        let is_start = |config: ConfigId| self.starts.iter().all(|start| *start == config);
        self.order.iter().copied().find(|config| !is_start(*config) && self.comes_to(&[*config]))
    }

    /// The configurations in which nothing is left open, if all paths come to one of them.
    pub(super) fn last(&self) -> Option<Vec<ConfigId>> {
        let is_last = |config: &ConfigId| self.out_of(*config).is_empty();
        let mut last: Vec<ConfigId> = self.order.iter().copied().filter(is_last).collect();
        last.sort_unstable();
        (self.is_complete() && self.comes_to(&last)).then_some(last)
    }

    /// Every access of every path that ends in one of some configurations, once.
    pub(super) fn accesses(&self, ends: &[ConfigId]) -> Vec<May> {
        // Where not all has been looked at, rather too many than too few.
        let before = self.before(ends).unwrap_or_else(|| self.order.iter().copied().collect());
        let leading = self.leading_to(ends, before);
        let mut accesses: Vec<May> = Vec::new();
        for edge in self.order.iter().filter(|config| leading.contains(config)).flat_map(|c| self.out_of(*c))
        {
            if let Some(access) = &edge.access
                && (ends.contains(&edge.to) || leading.contains(&edge.to))
                && !accesses.contains(access)
            {
                accesses.push(access.clone());
            }
        }
        accesses
    }

    /// Whether the agent comes to one of some configurations whatever it chooses, but for cycling for ever,
    /// which it can leave at any time.
    fn comes_to(&self, ends: &[ConfigId]) -> bool {
        let before = self.before(ends).map(|before| (before.len(), before));
        before.is_some_and(|(count, before)| self.leading_to(ends, before).len() == count)
    }

    /// Those passed before one of some configurations, on any path; `None` if one of them has not been looked
    /// at.
    fn before(&self, ends: &[ConfigId]) -> Option<FxHashSet<ConfigId>> {
        let (mut open, mut before) = (self.starts.clone(), FxHashSet::default());
        while let Some(config) = open.pop() {
            if !ends.contains(&config) && before.insert(config) {
                open.extend(self.edges.get(&config)?.iter().map(|edge| edge.to));
            }
        }
        Some(before)
    }

    /// Of those passed before, the ones from which some path leads to one of the configurations.
    fn leading_to(&self, ends: &[ConfigId], mut others: FxHashSet<ConfigId>) -> FxHashSet<ConfigId> {
        let (mut leading, mut count) = (FxHashSet::default(), usize::MAX);
        while leading.len() != count {
            count = leading.len();
            for config in self.order.iter().rev() {
                let leads = |edge: &Edge| ends.contains(&edge.to) || leading.contains(&edge.to);
                if others.contains(config) && self.out_of(*config).iter().any(leads) {
                    others.remove(config);
                    leading.insert(*config);
                }
            }
        }
        leading
    }

    /// Paths from a configuration to each of some ends that it can come to: one with as few accesses as can
    /// be, and one with as few as can be that include one that is wanted.
    pub(super) fn local_paths(
        &self,
        from: ConfigId,
        ends: &[ConfigId],
        wanted: Option<(LocationId, AccessKind)>,
    ) -> Vec<LocalPath> {
        if !self.starts.contains(&from) {
            return Vec::new();
        }
        // By configuration and whether the access has been made: the accesses so far, and the step that came
        // last, as the place before and its number there.
        type Place = (ConfigId, bool);
        let mut best: FxHashMap<Place, (usize, Option<(Place, usize)>)> = FxHashMap::default();
        best.insert((from, false), (0, None));
        // Those with fewer accesses stand in front.
        let mut open: VecDeque<(Place, usize)> = [((from, false), 0)].into();
        while let Some((place, accesses)) = open.pop_front() {
            if ends.contains(&place.0) || best[&place].0 < accesses {
                continue;
            }
            for (number, edge) in self.out_of(place.0).iter().enumerate() {
                let next = (edge.to, place.1 || edge.is(wanted));
                let count = accesses + usize::from(edge.access.is_some());
                if best.get(&next).is_none_or(|(known, _)| count < *known) {
                    best.insert(next, (count, Some((place, number))));
                    if edge.access.is_some() {
                        open.push_back((next, count));
                    } else {
                        open.push_front((next, count));
                    }
                }
            }
        }
        let local_path = |end: Place| {
            let (accesses, mut last) = *best.get(&end)?;
            let (mut picks, mut upto) = (Vec::new(), None);
            while let Some((place, number)) = last {
                let edge = &self.out_of(place.0)[number];
                picks.push(edge.pick);
                if edge.is(wanted) {
                    upto = Some(picks.len());
                }
                last = best[&place].1;
            }
            picks.reverse();
            // Counted from behind so far.
            let upto = upto.map(|behind| picks.len() + 1 - behind);
            Some(LocalPath { picks, accesses, upto, to: end.0 })
        };
        ends.iter().flat_map(|end| [(*end, true), (*end, false)]).filter_map(local_path).collect()
    }
}

/// The steps out of a configuration, if its only move is a choice or an access; `None` if some path leads to
/// where local computation fails.
fn edges(machine: &mut Machine, agent: AgentId, config: ConfigId) -> Option<Vec<Edge>> {
    let [made] = machine.moves_in(agent, config) else { return Some(Vec::new()) };
    let (access, picks) = match (&made.action, made.choices) {
        (Action::Access(kind, locations), Choices::One) => {
            (Some(May { kind: *kind, locations: locations.to_vec(), pc: made.pc }), 1)
        }
        (Action::Decide, Choices::Open(picks)) => (None, picks),
        (Action::Assert(true), Choices::One) => (None, 1),
        _ => return Some(Vec::new()),
    };
    if picks > MOST_CONFIGS as u64 {
        return None;
    }
    let mut edges = Vec::new();
    for pick in 0..u32::try_from(picks).ok()? {
        let to = machine.config_after(agent, config, 0, pick, Outcome::Pass);
        if machine.has_failed(agent, to) {
            return None;
        }
        edges.push(Edge { pick, access: access.clone(), to });
    }
    Some(edges)
}
