//! A protocol as every exported model has it: agents that move between numbered nodes, operands evaluated.

use super::says;
use super::unfolded::{self, Unfolded};
use crate::Levels;
use barcheck_model::agent::SplitAction;
use barcheck_model::barrier::{BarrierId, bcu, nbarrier, ptx};
use barcheck_model::machine::{Machine, NotUnfolded, Options};
use barcheck_model::program::{
    AccessKind, AgentId, LocationId, Program, Scope, Semantics, SequenceId, Spaces,
};
use barcheck_model::rule::{Level, Rule};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// Nodes that a model may have.
const MOST_NODES: usize = 20_000;

/// Why a protocol has no exported model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportError {
    /// The automaton of some agents cannot be worked out by itself: the agents, for people, and why.
    NotUnfolded(String, NotUnfolded),
    /// The language has no room for so much: what, how many there are, and how many there may be.
    TooMany(&'static str, usize, usize),
}

impl fmt::Display for ExportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotUnfolded(agents, why) => match why {
                NotUnfolded::TooLarge | NotUnfolded::Stopped => write!(
                    f,
                    "the automaton of {agents} does not stay within {MOST_NODES} states: long loops and results of \
                     reductions make many, a counter in an endless loop makes infinitely many"
                ),
                NotUnfolded::ReadsState => write!(
                    f,
                    "{agents}: an agent reads or writes a barrier's state, an opaque value that exported models do not have"
                ),
                NotUnfolded::ManyChoices => write!(f, "{agents}: a choice has too many alternatives to list"),
            },
            Self::TooMany(what, there, most) => {
                write!(f, "the protocol has {there} {what}, the language has room for {most}")
            }
        }
    }
}

impl std::error::Error for ExportError {}

/// A protocol, unfolded.
pub(super) struct Group {
    pub(super) program: Arc<Program>,
    pub(super) options: Options,
    levels: Levels,
    /// The nodes, those of all kinds of agents together: first the ones with steps, most alternatives first; then those
    /// that wait, by barrier; then those where all lanes wait for one another; the one of all who have exited; those where
    /// local computation has failed.
    pub(super) nodes: Vec<Node>,
    /// For each agent its first node.
    pub(super) starts: Vec<usize>,
}

/// A position of an agent, with everything that is its own.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    /// What the agent can do: the alternatives of all its fragments.
    pub(super) steps: Vec<Step>,
    /// Agents that can be here, for people.
    pub(super) agents: Vec<AgentId>,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The agent has steps.
    Goes {
        /// Some fragment waits for the warp's other lanes at a barrier.
        blocked: bool,
    },
    /// The agent blocks until the barrier's generation completes.
    Waits {
        barrier: BarrierId,
        /// `split_barrier`: what the wait acquires.
        acquires: Option<(Scope, Semantics)>,
        /// `bcu`: the warp has not fetched the result of its last reduction.
        unfetched: bool,
        /// Where a release leads, by a reduction's result.
        releases: Vec<(Option<u32>, usize)>,
    },
    /// All lanes wait for one another, for ever.
    Parked,
    /// The agent has exited.
    Exited,
    /// An operand or condition has no value.
    Failed,
    /// Local computation cannot be followed.
    Endless,
}

impl Kind {
    /// The place in the order of nodes.
    pub(super) fn rank(&self) -> (u8, u32) {
        match self {
            Self::Goes { .. } => (0, 0),
            Self::Waits { barrier, .. } => (1, barrier.0),
            Self::Parked => (2, 0),
            Self::Exited => (3, 0),
            Self::Failed => (4, 0),
            Self::Endless => (5, 0),
        }
    }
}

/// One alternative of what an agent can do next.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The fragment whose step it is: the alternatives of one fragment exclude one another.
    pub(super) fragment: usize,
    /// The instruction, for people.
    pub(super) says: String,
    pub(super) act: Act,
    /// The node after it, if the agent goes on.
    pub(super) next: usize,
    /// The node after it, if the agent blocks.
    pub(super) blocks: Option<usize>,
}

/// What a step does to what agents share.
#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Nothing.
    Go,
    /// The whole agent exits.
    Exit,
    /// The next decision of a sequence that all agents share.
    Decide(SequenceId, bool),
    Access(AccessKind, Vec<LocationId>),
    Fence(Spaces),
    /// `OpMemoryBarrier`.
    MemoryBarrier(Scope, Semantics),
    Ptx(ptx::Announcement, ptx::Contribution),
    Bcu(bcu::Announcement, ptx::Contribution),
    Signal(nbarrier::Announcement),
    Wait(BarrierId),
    /// A split-barrier instruction, and its dynamic instance.
    Split(SplitAction, usize),
    /// `alloc_nbarrier`.
    Alloc(i64),
    /// The operands violate a rule that ends the path.
    Refuse(Rule),
    /// An operand has no value.
    Fault,
    /// `R2B.BAR`: the value comes from a barrier's state, or from nowhere.
    WriteState,
    /// The specification leaves open what happens.
    NotModelled,
}

impl Group {
    /// Unfolds every agent.
    pub(super) fn unfold(
        program: Arc<Program>,
        options: Options,
        levels: &Levels,
    ) -> Result<Self, ExportError> {
        let mut machine = Machine::new(Arc::clone(&program), options);
        let mut left = MOST_NODES;
        machine.merge_alike(MOST_NODES, &mut || {
            left = left.saturating_sub(1);
            left > 0
        });
        let mut members: BTreeMap<usize, Vec<AgentId>> = BTreeMap::new();
        for agent in machine.agents() {
            members.entry(machine.class(agent)).or_default().push(agent);
        }
        let mut there = 0;
        for agents in members.values() {
            let noun = program.target.agent_noun();
            let whose = || format!("{noun} {}", says::agents(agents));
            let automaton = machine.unfolded(agents[0], MOST_NODES, &mut || true);
            there += automaton.map_err(|why| ExportError::NotUnfolded(whose(), why))?.len();
        }
        if there > MOST_NODES {
            return Err(ExportError::TooMany("positions of agents", there, MOST_NODES));
        }
        let Unfolded { nodes, starts } = unfolded::nodes(&machine, &members);
        let writes = |node: &&Node| node.steps.iter().any(|step| matches!(step.act, Act::WriteState));
        if let Some(node) = nodes.iter().find(writes) {
            let whose = format!("{} {}", program.target.agent_noun(), says::agents(&node.agents));
            return Err(ExportError::NotUnfolded(whose, NotUnfolded::ReadsState));
        }
        Ok(Self { program, options, levels: levels.clone(), nodes, starts })
    }

    /// Whether a rule holds for the protocol's target and is an error.
    pub(super) fn is_error(&self, rule: Rule) -> bool {
        rule.holds_for(self.program.target) && self.levels.of(rule, self.program.target) == Level::Error
    }

    /// Every step of every node.
    pub(super) fn steps(&self) -> impl Iterator<Item = &Step> {
        self.nodes.iter().flat_map(|node| &node.steps)
    }

    /// Some agent accesses memory.
    pub(super) fn has_memory(&self) -> bool {
        self.steps().any(|step| matches!(step.act, Act::Access(..)))
    }

    /// The barriers that agents use, in order.
    pub(super) fn barriers(&self) -> BTreeSet<BarrierId> {
        self.steps().filter_map(|step| step.act.barrier()).collect()
    }

    /// Where an agent in a node can be next, of its own or by a release.
    pub(super) fn successors(node: &Node) -> impl Iterator<Item = usize> + '_ {
        let released = match &node.kind {
            Kind::Waits { releases, .. } => releases.as_slice(),
            _ => &[],
        };
        let steps = node.steps.iter().filter(|step| !step.act.ends());
        let stepped = steps.flat_map(|step| std::iter::once(step.next).chain(step.blocks));
        stepped.chain(released.iter().map(|(_, to)| *to))
    }

    /// For each node, whether it is, or leads to, one that satisfies a condition.
    pub(super) fn leads_to(&self, is: impl Fn(&Node) -> bool) -> Vec<bool> {
        let mut leads: Vec<bool> = self.nodes.iter().map(is).collect();
        let mut before = vec![Vec::new(); self.nodes.len()];
        for (from, node) in self.nodes.iter().enumerate() {
            Self::successors(node).for_each(|to| before[to].push(from));
        }
        let mut left: Vec<usize> = (0..leads.len()).filter(|node| leads[*node]).collect();
        while let Some(node) = left.pop() {
            for from in &before[node] {
                if !std::mem::replace(&mut leads[*from], true) {
                    left.push(*from);
                }
            }
        }
        leads
    }

    /// Some agent can go round in its automaton: only then can anything run for ever.
    pub(super) fn has_cycle(&self) -> bool {
        let mut graph = petgraph::graph::DiGraph::<(), ()>::new();
        let nodes: Vec<_> = self.nodes.iter().map(|_| graph.add_node(())).collect();
        for (from, node) in self.nodes.iter().enumerate() {
            for to in Self::successors(node) {
                graph.add_edge(nodes[from], nodes[to], ());
            }
        }
        petgraph::algo::is_cyclic_directed(&graph)
    }

    /// What an exported model does not assert though it is an error.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.is_error(Rule::StuckAgent) && self.has_cycle() {
            notes.push(
                "stuck-agent is not asserted: that no continuation unblocks an agent while some continuation runs for \
                 ever speaks of the graph of all paths, not of one path"
                    .to_owned(),
            );
        }
        notes
    }
}

impl Act {
    /// It leads nowhere.
    fn ends(&self) -> bool {
        matches!(self, Self::Refuse(_) | Self::Fault | Self::NotModelled | Self::WriteState)
    }

    /// The barrier of a barrier instruction.
    pub(super) fn barrier(&self) -> Option<BarrierId> {
        match self {
            Self::Ptx(what, _) => Some(what.id),
            Self::Bcu(what, _) => Some(what.id),
            Self::Signal(what) => Some(what.id),
            Self::Wait(id) => Some(*id),
            Self::Split(split, _) => Some(split.barrier),
            _ => None,
        }
    }
}
