//! What an agent does by itself, as a graph.

use barcheck_model::agent::{Action, Choices, Config, Iterations, Move, Outcome};
use barcheck_model::barrier::{BarrierId, Part, mbarrier};
use barcheck_model::machine::{Label, Machine};
use barcheck_model::program::{
    AccessKind, AgentId, LocationId, Locations, Pc, Program, SequenceId, Transfer,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::hash::Hash;

/// Numbers for things, in the order in which they come.
pub(super) struct Numbers<T> {
    known: FxHashMap<T, u32>,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self { known: FxHashMap::default() }
    }
}

impl<T: Eq + Hash> Numbers<T> {
    pub(super) fn of(&mut self, thing: T) -> u32 {
        let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        *self.known.entry(thing).or_insert(next)
    }
}

/// A configuration.
enum Node {
    /// All that the agent can do is to access memory.
    Access { kind: AccessKind, locations: Locations, pc: Pc, to: u32 },
    /// What others can see of it, and where it leads by what.
    Other { label: u32, edges: Vec<(u32, u32)> },
}

/// The configurations that an agent can come to, whatever the others do, the first one first.
pub(super) struct Graph {
    nodes: Vec<Node>,
    /// What is the same in all configurations: the role, the lanes, and the subgroup if it matters.
    identity: [u32; 3],
    /// All that others can see of the agent is in the graph.
    is_whole: bool,
    /// Accesses of fragments that have separated.
    apart: Vec<(LocationId, AccessKind, Pc)>,
    /// Reads and writes of copies that the agent begins, and what it does to the lives of objects.
    copies: Vec<(LocationId, AccessKind, Pc)>,
    /// What the agent shares with others that do the same.
    shares: BTreeSet<Shared>,
}

/// Something by which agents have to do with one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shared {
    /// A barrier.
    Barrier(BarrierId),
    /// Decisions that they make alike.
    Sequence(SequenceId),
    /// How many barriers are allocated.
    Allocation,
}

/// Stands for an access that is followed, in a graph that is written down.
const ACCESS: u32 = u32::MAX;
/// Stands for a local loop without end.
const ENDLESS: u32 = u32::MAX - 1;

impl Graph {
    /// The graph of an agent whose automaton has been worked out; `None` if local computation fails in it, or
    /// it comes to something that is not modelled.
    pub(super) fn of(machine: &Machine, agent: AgentId, labels: &mut Numbers<String>) -> Option<Self> {
        let automaton = &machine.automata()[machine.class(agent)];
        let mut graph = Self::new(machine, agent);
        let all = automaton.labelled_edges();
        let mut edges = all.chunk_by(|a, b| a.0 == b.0).peekable();
        for id in automaton.configs() {
            let out = edges.next_if(|edges| edges[0].0 == id).unwrap_or_default();
            let (config, moves) = (automaton.config(id), automaton.moves(id));
            let fails = |made: &Move| matches!(made.action, Action::Fault(_) | Action::NotModelled(_));
            if config.fault.is_some() || moves.iter().any(fails) {
                return None;
            }
            if let ([made], [(_, _, to)]) = (moves, out)
                && let Action::Access(kind, locations) = &made.action
                && config.fragments.len() == 1
            {
                let (kind, locations, pc) = (*kind, locations.clone(), made.pc);
                graph.nodes.push(Node::Access { kind, locations, pc, to: to.0 });
                continue;
            }
            moves.iter().for_each(|made| graph.note(machine.program(), made));
            // What is read of a barrier's state stands for whatever is read.
            let reads = |label: &Label| matches!(label, Label::Made(_, _, Outcome::Read(_)));
            graph.is_whole &= !out.iter().any(|(_, label, _)| reads(label));
            graph.is_whole &= graph.apart.is_empty() && config.iterations == Iterations::default();
            let label = labels.of(format!("{:?} {moves:?}", without_locals(config)));
            let edges = out.iter().map(|(_, by, to)| (labels.of(format!("{by:?}")), to.0)).collect();
            graph.nodes.push(Node::Other { label, edges });
        }
        Some(graph)
    }

    /// No configuration is known yet.
    fn new(machine: &Machine, agent: AgentId) -> Self {
        let program = machine.program();
        let subgroup = if program.mentions_subgroups() { machine.subgroup(agent) } else { 0 };
        let role = program.agents[agent.index()].index();
        let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
        Self {
            nodes: Vec::new(),
            identity: [number(role), program.lanes(agent), number(subgroup)],
            is_whole: true,
            apart: Vec::new(),
            copies: Vec::new(),
            shares: BTreeSet::new(),
        }
    }

    /// A move of a configuration that has others, or that is no access.
    fn note(&mut self, program: &Program, made: &Move) {
        self.shares.extend(shared(made));
        if let Some(action) = made.action.on_barrier() {
            self.copies.extend(action.begins().map(|(kind, at)| (at, kind, made.pc)));
            let kind = match action.part() {
                Part::Begins => AccessKind::Initialisation,
                _ => AccessKind::Use,
            };
            self.copies.extend(mbarrier::life(program, action.barrier()).map(|life| (life, kind, made.pc)));
        }
        if let Action::Proxy(action) = &made.action {
            let kind = action.transfer().map(Transfer::access);
            let accessed = action.locations().into_iter().filter_map(|at| Some((at, kind?, made.pc)));
            self.copies.extend(accessed);
        }
        if let Action::Access(kind, locations) = &made.action {
            self.apart.extend(locations.iter().map(|location| (*location, *kind, made.pc)));
        }
    }

    /// Every access: where, how, and by which operation.
    pub(super) fn accesses(&self) -> impl Iterator<Item = (LocationId, AccessKind, Pc)> + '_ {
        let together = self.nodes.iter().filter_map(|node| match node {
            Node::Access { kind, locations, pc, .. } => Some((kind, locations, pc)),
            Node::Other { .. } => None,
        });
        let together =
            together.flat_map(|(kind, locations, pc)| locations.iter().map(|at| (*at, *kind, *pc)));
        together.chain(self.apart.iter().chain(&self.copies).copied())
    }

    /// What the agent may share with others.
    pub(super) fn shares(&self) -> impl Iterator<Item = Shared> + '_ {
        self.shares.iter().copied()
    }

    /// The graph in which accesses to other locations are passed over, written down: equal for agents that
    /// nobody can tell apart, if their names for the location are exchanged. `None` if the graph does not
    /// hold all that others can see.
    pub(super) fn seen_from(&self, watched: LocationId) -> Option<Vec<u32>> {
        if !self.is_whole {
            return None;
        }
        let mut written = self.identity.to_vec();
        let mut numbers: FxHashMap<Option<u32>, u32> = FxHashMap::default();
        let mut order: Vec<Option<u32>> = Vec::new();
        let mut number = |order: &mut Vec<Option<u32>>, node: Option<u32>| {
            *numbers.entry(node).or_insert_with(|| {
                order.push(node);
                u32::try_from(order.len()).unwrap_or(u32::MAX)
            })
        };
        number(&mut order, self.passed_over(0, watched));
        let mut next = 0;
        while let Some(node) = order.get(next).copied() {
            next += 1;
            match node.map(|node| &self.nodes[node as usize]) {
                None => written.push(ENDLESS),
                Some(Node::Access { kind, pc, to, .. }) => {
                    let to = number(&mut order, self.passed_over(*to, watched));
                    written.extend([ACCESS, *kind as u32, pc.0, to]);
                }
                Some(Node::Other { label, edges }) => {
                    written.extend([*label, u32::try_from(edges.len()).unwrap_or(u32::MAX)]);
                    for (by, to) in edges {
                        let to = number(&mut order, self.passed_over(*to, watched));
                        written.extend([*by, to]);
                    }
                }
            }
        }
        Some(written)
    }

    /// The first node from one on, that included, that is no access to another location; `None` if there is
    /// no end of them.
    fn passed_over(&self, from: u32, watched: LocationId) -> Option<u32> {
        let mut at = from;
        for _ in 0..=self.nodes.len() {
            match &self.nodes[at as usize] {
                Node::Access { locations, to, .. } if !locations.contains(&watched) => at = *to,
                _ => return Some(at),
            }
        }
        None
    }
}

/// What a move is about that others may be about too.
fn shared(made: &Move) -> impl Iterator<Item = Shared> {
    let sequence = match made.choices {
        Choices::Uniform(sequence) => Some(Shared::Sequence(sequence)),
        Choices::One | Choices::Open(_) => None,
    };
    let allocates = matches!(made.action, Action::Alloc(_) | Action::Init(..));
    let barrier = made.action.barrier().map(Shared::Barrier);
    barrier.into_iter().chain(sequence).chain(allocates.then_some(Shared::Allocation))
}

/// What others can see of a configuration, its moves aside.
fn without_locals(config: &Config) -> Config {
    let mut config = config.clone();
    config.fragments.iter_mut().for_each(|fragment| fragment.locals.clear());
    config
}
