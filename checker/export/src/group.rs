//! A protocol as every exported model has it: agents that move between numbered nodes, operands evaluated.

use super::columns::{Barriers, Sort};
use super::node::{Kind, Node, Step};
use super::says;
use super::systems::{self, Sizes, System};
use super::unfolded::{self, Unfolded};
use barcheck_engine::Levels;
use barcheck_model::Patience;
use barcheck_model::machine::{ExitedThreads, Machine, NotUnfolded, Options};
use barcheck_model::program::{
    AgentId, ArrayId, BarrierInstruction, MbarrierKind, Means, Op, Program, ProxyOp, Target,
};
use barcheck_model::rule::{Level, Rule};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// Operations in flight at a time for which a model has room, at most.
const MOST_IN_FLIGHT: usize = 24;

/// Nodes that a model may have.
const MOST_NODES: usize = 20_000;

/// Why a protocol has no exported model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExportError {
    /// The automaton of some agents cannot be worked out by itself: the agents, for people, and why.
    NotUnfolded(String, NotUnfolded),
    /// There are no models of this target's barriers.
    NoModel(Target),
    /// There are no models of pools of registers.
    Registers,
    /// There are no models of warps whose every arrival counts.
    Repeated,
    /// There are no models of copies out of memory: the line and the text of one.
    Stores(u32, String),
    /// There are no models of an instruction: its line and its text.
    Words(u32, String),
    /// There are no models of fences between agents' own writes and copies into the same memory: the line and
    /// the text of such a copy.
    Proxies(u32, String),
    /// There are no models of who knows in memory that an object is initialised: the line and the text of an
    /// initialisation.
    Lives(u32, String),
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
                NotUnfolded::ManyChoices => write!(f, "{agents}: a choice has too many alternatives to list"),
            },
            Self::NoModel(target) => write!(f, "there are no exported models of {target} barriers yet"),
            Self::Registers => f.write_str("there are no exported models of `setmaxnreg` yet"),
            Self::Repeated => f.write_str("there are no exported models of `repeated_arrivals count` yet"),
            Self::Stores(line, text) => {
                write!(
                    f,
                    "line {line}: there are no exported models of copies out of shared memory, `{text}`"
                )
            }
            Self::Words(line, text) => write!(f, "line {line}: there are no exported models of `{text}`"),
            Self::Proxies(line, text) => write!(
                f,
                "line {line}: there are no exported models of copies into memory that agents write themselves, \
                 `{text}`, which a fence between the proxies has to order"
            ),
            Self::Lives(line, text) => write!(
                f,
                "line {line}: there are no exported models of who knows of an initialisation beside what is \
                 relaxed, `{text}`"
            ),
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
    pub(super) system: &'static System,
    levels: Levels,
    /// The nodes, those of all kinds of agents together: first the ones with steps, most alternatives first;
    /// then those that wait, by barrier; then those where all lanes wait for one another; the one of all who
    /// have exited; those where local computation has failed.
    pub(super) nodes: Vec<Node>,
    /// For each agent its first node.
    pub(super) starts: Vec<usize>,
}

/// The first operation of a kind, if there is one: its line and its text.
fn first(program: &Program, is_it: impl Fn(&Op) -> bool) -> Option<(u32, String)> {
    program.roles.iter().find_map(|role| {
        let at = role.code.ops.iter().position(&is_it)?;
        let text = role.code.texts.get(at).cloned().unwrap_or_default();
        Some((role.code.places.get(at).map_or(0, |place| place.line), text))
    })
}

/// Why there is no model of what a program has, if it has any such thing.
fn beyond(program: &Program) -> Option<ExportError> {
    let error = |make: fn(u32, String) -> ExportError| move |(line, text)| make(line, text);
    let on_object = |op: &Op, is_it: &dyn Fn(&MbarrierKind) -> bool| match op {
        Op::Barrier(BarrierInstruction::Mbarrier(op)) => is_it(&op.kind),
        _ => false,
    };
    let is_store = |op: &Op| matches!(op, Op::Proxy(ProxyOp::Begin(..)));
    let is_beyond = |kind: &MbarrierKind| match kind {
        MbarrierKind::FillsArrive { .. } => true,
        MbarrierKind::Copy { by, .. } => matches!(by, Means::Across(..) | Means::Reduction),
        MbarrierKind::Wait { relaxed, .. } | MbarrierKind::Test { relaxed, .. } => *relaxed,
        _ => false,
    };
    let ops = || program.roles.iter().flat_map(|role| &role.code.ops);
    let writes = |array: ArrayId| {
        let writes = |op: &Op| match op {
            Op::Access(kind, at, ..) => kind.is_generic_write() && *at == array,
            _ => false,
        };
        ops().any(writes)
    };
    let lands_on_writes = |kind: &MbarrierKind| match kind {
        MbarrierKind::Copy { to: Some((array, _)), by: Means::Bulk, .. } => writes(*array),
        _ => false,
    };
    let is_life = |op: &Op| on_object(op, &|kind| matches!(kind, MbarrierKind::Init(_)));
    first(program, is_store)
        .map(error(ExportError::Stores))
        .or_else(|| first(program, |op| on_object(op, &is_beyond)).map(error(ExportError::Words)))
        .or_else(|| first(program, |op| on_object(op, &lands_on_writes)).map(error(ExportError::Proxies)))
        .or_else(|| {
            let has_lives = program.objects.iter().any(|objects| objects.lives.is_some());
            first(program, is_life).filter(|_| has_lives).map(error(ExportError::Lives))
        })
}

impl Group {
    /// Unfolds every agent.
    pub(super) fn unfold(
        program: Arc<Program>,
        options: Options,
        levels: &Levels,
        patience: &Patience,
    ) -> Result<Self, ExportError> {
        let system = systems::of(program.target).ok_or(ExportError::NoModel(program.target))?;
        if program.has_pools() {
            return Err(ExportError::Registers);
        }
        if program.repeats_count {
            return Err(ExportError::Repeated);
        }
        if let Some(error) = beyond(&program) {
            return Err(error);
        }
        let mut machine = Machine::within(Arc::clone(&program), options, patience.clone());
        let mut left = MOST_NODES;
        machine.merge_alike(MOST_NODES, &mut || {
            left = left.saturating_sub(1);
            left > 0 && !patience.is_over()
        });
        let mut members: BTreeMap<usize, Vec<AgentId>> = BTreeMap::new();
        for agent in machine.agents() {
            members.entry(machine.class(agent)).or_default().push(agent);
        }
        let mut there = 0;
        for agents in members.values() {
            let noun = program.target.agent_noun();
            let whose = || format!("{noun} {}", says::agents(agents));
            let automaton = machine.unfolded(agents[0], MOST_NODES, &mut || !patience.is_over());
            there += automaton.map_err(|why| ExportError::NotUnfolded(whose(), why))?.len();
        }
        if there > MOST_NODES {
            return Err(ExportError::TooMany("positions of agents", there, MOST_NODES));
        }
        let Unfolded { nodes, starts } = unfolded::nodes(&machine, &members);
        Ok(Self { program, options, system, levels: levels.clone(), nodes, starts })
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
        self.steps().any(|step| step.act.accesses().is_some())
    }

    /// How many numbers there are for states of barriers in registers: one for each register, and more where
    /// lanes read apart.
    pub(super) fn held_states(&self) -> usize {
        self.nodes.iter().flat_map(|node| &node.holds).max().map_or(0, |most| most + 1)
    }

    /// The barriers that agents use.
    pub(super) fn barriers(&self) -> Barriers {
        let of = |step: &Step| Some((systems::sort(&step.act), step.act.barrier()?));
        Barriers::of(self.steps().filter_map(of).collect())
    }

    /// How large the group is, with its barriers in use.
    pub(super) fn sizes(&self, barriers: &Barriers) -> Sizes {
        Sizes {
            agents: self.starts.len(),
            ctas: self.program.ctas.max(1) as usize,
            barriers: barriers.len(),
            phased: barriers.of_sort(Sort::Object).chain(barriers.of_sort(Sort::Cluster)).count(),
            slots: self.slots(),
            releases: self.program.releases_by_fences(),
            subgroup_size: self.program.subgroup_size.max(1) as usize,
            exits_release: self.options.exited_threads == ExitedThreads::Release,
        }
    }

    /// Operations that a model lets be in flight at a time: one for each position at which an agent begins
    /// one, and a few more where it comes back there.
    pub(super) fn slots(&self) -> usize {
        let begins = |number: &usize| self.nodes[*number].steps.iter().any(|step| systems::issues(&step.act));
        let beginning: Vec<usize> = (0..self.nodes.len()).filter(begins).collect();
        let once: usize = beginning.iter().map(|number| self.nodes[*number].agents.len()).sum();
        let round = self.on_cycles();
        let more = if beginning.iter().any(|number| round.contains(number)) { 4 } else { 0 };
        (once + more).min(MOST_IN_FLIGHT)
    }

    /// For each node, whether it is, or leads to, one that satisfies a condition.
    pub(super) fn leads_to(&self, is: impl Fn(&Node) -> bool) -> Vec<bool> {
        let mut leads: Vec<bool> = self.nodes.iter().map(is).collect();
        let mut before = vec![Vec::new(); self.nodes.len()];
        for (from, node) in self.nodes.iter().enumerate() {
            node.successors().for_each(|to| before[to].push(from));
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

    /// The nodes to which an agent can come back: if anything runs for ever, some agent is at one again and
    /// again.
    pub(super) fn on_cycles(&self) -> BTreeSet<usize> {
        let edges = self
            .nodes
            .iter()
            .enumerate()
            .flat_map(|(from, node)| node.successors().map(move |to| (from, to)));
        let index = |node: usize| u32::try_from(node).unwrap_or(u32::MAX);
        let graph =
            petgraph::graph::DiGraph::<(), ()>::from_edges(edges.map(|(from, to)| (index(from), index(to))));
        let components = petgraph::algo::tarjan_scc(&graph).into_iter();
        let round = components.filter(|nodes| nodes.len() > 1 || graph.contains_edge(nodes[0], nodes[0]));
        round.flatten().map(|node| node.index()).collect()
    }

    /// Whether a model has to judge `stuck-agent`: where nothing can run for ever, nobody is stuck behind it.
    pub(super) fn asserts_stuck_agent(&self) -> bool {
        self.is_error(Rule::StuckAgent) && !self.on_cycles().is_empty()
    }

    /// The nodes with steps where an agent is blocked all the same: some of its lanes wait for others at a
    /// barrier.
    pub(super) fn blocked_lanes(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes.len()).filter(|node| self.nodes[*node].kind == Kind::Goes { blocked: true })
    }
}
