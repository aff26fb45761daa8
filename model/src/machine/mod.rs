//! The group: all agents, all barriers and memory, as one labelled transition system.
//!
//! A [`Machine`] holds a protocol and what has been worked out about its agents so far; a [`State`] is one
//! state of the whole group. [`Machine::step`] makes one step, [`Machine::judge`] applies the rules that are
//! about states.

mod automaton;
mod choice;
mod coverage;
mod iterations;
mod judge;
mod merged;
mod outcome;
mod slice;
mod state;
mod step;
mod unfold;

pub use crate::barrier::{Announced, AnyBarrier, Standing, room};
pub use automaton::{Automaton, ConfigId, Label};
pub use choice::{Actor, Choice, Path};
pub use coverage::{Bounds, Coverage, Executed, Reach, Rounds};
pub use outcome::{Advanced, End, Event, Log, Progressed, StepOutcome};
pub use slice::Slice;
pub use state::{AgentState, Pending, Sequence, State};
pub use unfold::NotUnfolded;

use crate::agent::{self, Choices, Context, Fault, Move, facts::Facts};
use crate::barrier::{BarrierId, NotModelled, mbarrier};
use crate::memory::{Layout, Memory};
use crate::patience::Patience;
use crate::program::{AccessKind, AgentId, Code, Expr, LocationId, Op, Pc, Place, Program, RoleId, Scope};
use crate::rule::Rule;
use rustc_hash::FxHashMap;
use slice::Does;
use smallvec::SmallVec;
use std::sync::Arc;

/// Readings of a specification that the user chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// What exited warps mean for PTX barriers with an explicit count.
    pub exited_threads: ExitedThreads,
}

/// What exited warps mean for PTX barriers with an explicit count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ExitedThreads {
    /// Operand b fixes the number: exits release nothing.
    #[default]
    Hold,
    /// PTX 9.1: somebody who waits is released once every warp that has not arrived has exited.
    Release,
}

/// A violation found at a step or in a state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// The agent whose step it is, or whose place is shown.
    pub agent: AgentId,
    /// Where that agent stands.
    pub pc: Pc,
    /// Everybody concerned, the agent included, in order.
    pub agents: Vec<AgentId>,
    /// The barrier, where there is one.
    pub barrier: Option<BarrierId>,
    /// What the explanation needs to know.
    pub detail: Detail,
}

/// What the explanation of a finding needs to know besides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing.
    None,
    /// An operand's value.
    Operand(i64),
    /// The earlier access with which an access conflicts.
    Conflict {
        /// The location.
        location: LocationId,
        /// Who accessed it before.
        earlier: AgentId,
        /// How.
        earlier_kind: AccessKind,
        /// How it is accessed now.
        kind: AccessKind,
    },
    /// Arrivals at a barrier: how many stand there, and for how many there is room.
    Room {
        /// Agents that stand at an arrival.
        standing: u32,
        /// Room left in the generation.
        room: u32,
    },
}

/// A protocol and what has been worked out about its agents so far.
#[derive(Debug)]
pub struct Machine {
    program: Arc<Program>,
    options: Options,
    facts: Vec<Facts>,
    layout: Layout,
    automata: Vec<Automaton>,
    /// The automaton of each agent.
    class: Vec<u32>,
    patience: Patience,
    /// What of the protocol is followed, where that is not all of it.
    slice: Option<Arc<Slice>>,
}

impl Machine {
    /// A machine for a protocol.
    #[must_use]
    pub fn new(program: Arc<Program>, options: Options) -> Self {
        Self::within(program, options, Patience::default())
    }

    /// The same with local computation that ends as [`CutReason::Endless`] once patience is over.
    #[must_use]
    pub fn within(program: Arc<Program>, options: Options, patience: Patience) -> Self {
        Self::sliced(program, options, patience, None)
    }

    /// The same for what of the protocol a slice holds.
    #[must_use]
    pub fn sliced(
        program: Arc<Program>,
        options: Options,
        patience: Patience,
        slice: Option<Arc<Slice>>,
    ) -> Self {
        let facts = Facts::of(&program);
        let layout = Layout::of(&program);
        let (class, automata) = (Vec::new(), Vec::new());
        let mut machine = Self { class, automata, facts, layout, options, program, patience, slice };
        let mut told_apart = FxHashMap::default();
        let mut classes = FxHashMap::default();
        for agent in machine.agents() {
            let key = machine.kin(agent, &mut told_apart);
            let class = *classes.entry(key).or_insert(machine.automata.len());
            if class == machine.automata.len() {
                machine.automata.push(Automaton::new(agent));
            }
            machine.class.push(u32::try_from(class).unwrap_or(u32::MAX));
        }
        machine
    }

    /// A machine for the same, in which nothing has been worked out.
    #[must_use]
    pub fn again(&self) -> Self {
        let (program, slice) = (Arc::clone(&self.program), self.slice.clone());
        Self::sliced(program, self.options, self.patience.clone(), slice)
    }

    /// Agents with the same key behave alike: same role, same part of its code, same lanes, and nothing in
    /// that code that tells them apart.
    fn kin(&self, agent: AgentId, told_apart: &mut FxHashMap<(RoleId, Option<Does>), TellsApart>) -> Kin {
        let role = self.program.agents[agent.index()];
        let does = self.slice.as_ref().map(|slice| slice.does(agent));
        let by = told_apart.entry((role, does)).or_insert_with(|| TellsApart::by(self.runs(agent).0));
        let told_apart = match by {
            TellsApart::Agents => Some(agent.0),
            TellsApart::Subgroups => Some(u32::try_from(self.subgroup(agent)).unwrap_or(u32::MAX)),
            TellsApart::Nobody => None,
        };
        // Each CTA has barriers and memory of its own.
        (role, does, self.program.cta_of(agent), self.program.lanes(agent), told_apart)
    }

    /// The code that an agent runs here, and the facts about it.
    fn runs(&self, agent: AgentId) -> (&Code, &Facts) {
        let role = self.program.agents[agent.index()];
        match &self.slice {
            Some(slice) => {
                let part = slice.part(role, agent);
                (&part.code, &part.facts)
            }
            None => (&self.program.roles[role.index()].code, &self.facts[role.index()]),
        }
    }

    /// How long local computation is followed.
    #[must_use]
    pub fn patience(&self) -> &Patience {
        &self.patience
    }

    /// Bytes that the automata worked out so far take, about.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.automata.iter().map(Automaton::bytes).sum()
    }

    /// The protocol.
    #[must_use]
    #[inline]
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// The readings in force.
    #[must_use]
    pub fn options(&self) -> Options {
        self.options
    }

    /// The numbering of who can know of an access.
    #[must_use]
    #[inline]
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// All agents.
    pub fn agents(&self) -> impl Iterator<Item = AgentId> + use<> {
        (0..self.program.agents.len()).map(AgentId::from_index)
    }

    /// The agents of a CTA.
    pub fn agents_of(&self, cta: u32) -> impl Iterator<Item = AgentId> + use<> {
        let of_each = self.program.agents_per_cta();
        (cta * of_each..(cta + 1) * of_each).map(AgentId)
    }

    /// The automaton of an agent: agents with the same number share it.
    #[must_use]
    #[inline]
    pub fn class(&self, agent: AgentId) -> usize {
        self.class[agent.index()] as usize
    }

    /// Whether accesses to a location are followed.
    fn follows(&self, location: LocationId) -> bool {
        self.slice.as_ref().is_none_or(|slice| slice.watched.binary_search(&location).is_ok())
    }

    /// A move that a slice leaves out and that an agent of the whole protocol can make, by position.
    #[must_use]
    pub fn left_out<K>(&self, slice: &Slice, state: &State<K>, agent: AgentId) -> Option<u32> {
        let mut moves = self.moves(state, agent).iter();
        let at = moves.position(|made| slice.leaves_out(&self.program, agent, made))?;
        u32::try_from(at).ok()
    }

    /// Forgets what has been worked out about the agents that share an automaton with this one. States lose
    /// their meaning.
    pub fn forget_automaton(&mut self, agent: AgentId) {
        let automaton = &mut self.automata[self.class[agent.index()] as usize];
        *automaton = Automaton::new(automaton.representative());
    }

    /// The automata worked out so far.
    #[must_use]
    #[inline]
    pub fn automata(&self) -> &[Automaton] {
        &self.automata
    }

    /// The initial state.
    pub fn initial(&mut self) -> State {
        self.initial_with(Memory::default())
    }

    /// The initial state, with nothing known yet, in which knowledge is kept in some other way.
    pub fn initial_with<K>(&mut self, memory: K) -> State<K> {
        let configs: Vec<_> = self
            .agents()
            .map(|agent| {
                let (context, automaton) = self.parts(agent);
                automaton.intern(context, agent::initial(context))
            })
            .collect();
        let agents =
            configs.into_iter().map(|config| AgentState { config, seats: SmallVec::new() }).collect();
        let mut state = State::new(agents, self.program.sequences.len(), self.program.agents.len(), memory);
        state.barriers = mbarrier::initialised(&self.program).collect();
        self.settle_sequences(&mut state);
        state
    }

    /// Forgets every configuration in which no agent is in this state. Other states lose their meaning.
    pub fn forget_configs<K>(&mut self, state: &mut State<K>) {
        for class in 0..self.automata.len() {
            let members: Vec<AgentId> = self.agents().filter(|agent| self.class(*agent) == class).collect();
            let Some(first) = members.first() else { continue };
            let keep: Vec<ConfigId> = members.iter().map(|a| state.agents[a.index()].config).collect();
            let (context, automaton) = self.parts(*first);
            let kept = automaton.forget(context, &keep);
            for (agent, config) in members.iter().zip(kept) {
                state.agents[agent.index()].config = config;
            }
        }
    }

    /// Where a label leads an agent from one of its configurations.
    #[inline]
    fn follow(&mut self, agent: AgentId, from: ConfigId, label: Label) -> ConfigId {
        self.automata[self.class(agent)].known(from, label).unwrap_or_else(|| {
            let (context, automaton) = self.parts(agent);
            automaton.follow(context, from, label)
        })
    }

    /// An agent's surroundings and its automaton.
    fn parts(&mut self, agent: AgentId) -> (Context<'_>, &mut Automaton) {
        let class = self.class[agent.index()] as usize;
        let automaton = &mut self.automata[class];
        let role = self.program.agents[agent.index()];
        let agent = automaton.representative();
        let (code, facts) = match &self.slice {
            Some(slice) => {
                let part = slice.part(role, agent);
                (&part.code, &part.facts)
            }
            None => (&self.program.roles[role.index()].code, &self.facts[role.index()]),
        };
        let watched = self.slice.as_ref().map(|slice| &slice.watched[..]);
        let (program, patience) = (&*self.program, &self.patience);
        let context = Context { program, code, facts, role, agent, patience, watched, trail: None };
        (context, automaton)
    }

    /// What an agent could do next in a state; whether it can be done is for [`Machine::step`] to say.
    #[must_use]
    #[inline]
    pub fn moves<K>(&self, state: &State<K>, agent: AgentId) -> &[Move] {
        self.automata[self.class(agent)].moves(state.agents[agent.index()].config)
    }

    /// A move of an agent in one of its configurations.
    #[inline]
    fn made(&self, agent: AgentId, from: ConfigId, index: u32) -> &Move {
        &self.automata[self.class(agent)].moves(from)[index as usize]
    }

    /// An agent's configuration in a state.
    #[must_use]
    #[inline]
    pub fn config<K>(&self, state: &State<K>, agent: AgentId) -> &agent::Config {
        self.automata[self.class(agent)].config(state.agents[agent.index()].config)
    }

    /// The choices that a move leaves open in a state, as a half-open range of picks.
    #[must_use]
    #[inline]
    pub fn picks<K>(&self, state: &State<K>, agent: AgentId, made: &Move) -> std::ops::Range<u64> {
        match made.choices {
            Choices::One => 0..1,
            Choices::Open(n) => 0..n,
            Choices::Uniform(sequence) => match state.sequences[sequence.index()].forced(agent) {
                Some(decision) => u64::from(decision)..u64::from(decision) + 1,
                None => 0..2,
            },
        }
    }

    /// The path ended because local computation failed, or could not be followed, in a state reached by a
    /// step.
    #[must_use]
    pub fn fault<'a, K>(&'a self, state: &State<K>) -> Option<(AgentId, &'a Fault)> {
        self.agents().find_map(|agent| self.config(state, agent).fault.as_ref().map(|fault| (agent, fault)))
    }

    /// The place of an operation in the text.
    #[must_use]
    pub fn place(&self, agent: AgentId, pc: Pc) -> Place {
        self.program.code(agent).places.get(pc.index()).copied().unwrap_or_default()
    }

    /// Where an agent stands: at the instruction where it blocks or, first, at one that it could execute.
    #[must_use]
    pub fn stands_at<K>(&self, state: &State<K>, agent: AgentId) -> Pc {
        let config = self.config(state, agent);
        let parked = || config.fragments.iter().find(|f| f.parked.is_some()).map(|f| f.pc);
        let waiting = config.waiting.map(|w| w.at);
        waiting.or_else(parked).or_else(|| config.fragments.first().map(|f| f.pc)).unwrap_or_default()
    }

    /// Exits may release barriers that have a count of their own: which generation they release is a matter
    /// of timing.
    #[must_use]
    #[inline]
    pub fn exits_release(&self) -> bool {
        self.options.exited_threads == ExitedThreads::Release && self.program.target.facts().exits_may_release
    }

    /// The subgroup of an agent, 0 where a target has none.
    #[must_use]
    pub fn subgroup(&self, agent: AgentId) -> usize {
        if self.program.target.facts().has_subgroups {
            agent.index() / (self.program.subgroup_size as usize).max(1)
        } else {
            0
        }
    }
}

/// What ended a path that is no violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CutReason {
    /// The model does not cover what happened.
    NotModelled(NotModelled),
    /// Local computation went on for too long to be followed; the local that kept changing, if any.
    Endless(Option<String>),
}

/// What agents have in common that behave alike: role, what of it they do in a slice, CTA, lanes, and who
/// they are if that matters.
type Kin = (RoleId, Option<Does>, u32, u32, Option<u32>);

/// Whom a role's code tells apart.
#[derive(Clone, Copy)]
enum TellsApart {
    Nobody,
    Subgroups,
    Agents,
}

impl TellsApart {
    fn by(code: &Code) -> Self {
        let scopes = || code.ops.iter().filter_map(Op::execution_scope);
        if code.ops.iter().any(mentions_agent) || scopes().any(|scope| scope == Scope::Invocation) {
            Self::Agents
        } else if scopes().any(|scope| scope == Scope::Subgroup) {
            Self::Subgroups
        } else {
            Self::Nobody
        }
    }
}

fn mentions_agent(op: &Op) -> bool {
    let mut mentioned = false;
    for expr in op.expressions() {
        expr.leaves(&mut |leaf| mentioned |= *leaf == Expr::Agent);
    }
    mentioned
}
