//! The exploration: breadth first, in every state the steps of one agent.

use super::happens_before::{self, HappensBefore};
use super::merges::Merges;
use super::node::{Found, Made, Next, Node, NodeId, Violation};
use super::phases::{self, OnPhases};
use super::pools;
use super::proviso::{Cycles, Hold, Proviso};
use super::states::{Components, Key};
use crate::independence::{self, Races};
use crate::packed::numbering::to_u32;
use crate::settings::{Control, Settings};
use crate::verdict::Inconclusive;
use crate::verdict::answer::{Ending, Undecided, between_looks, unfollowed};
use barcheck_model::agent::{Action, BarrierAction, Move};
use barcheck_model::machine::{Advanced, Choice, ConfigId, Detail, Finding, Log, Machine, State};
use barcheck_model::memory::Knowledge;
use barcheck_model::program::{AgentId, Pc, Place};
use barcheck_model::rule::{Level, Rule};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Instant;

/// Steps without a choice between two states kept, at most.
const MOST_BETWEEN: usize = 1 << 12;
/// Transitions between two looks at the budgets.
const BETWEEN_LOOKS: u64 = 64;
/// Steps between two looks at them.
const STEPS_BETWEEN_LOOKS: u64 = 1024;
/// Steps before somebody else is asked, who takes no more for an answer.
const MANY: [u64; 2] = [1 << 14, 100_000];

/// A state between those kept.
#[derive(Clone, Debug)]
pub(super) struct At {
    pub(super) state: State<HappensBefore>,
    pub(super) proviso: Proviso,
}

/// Who is asked whether there is nothing left to find out, and how often that has been.
pub(super) struct Asks<'k> {
    pub(super) is_known: &'k mut dyn FnMut(usize) -> bool,
    pub(super) asked: usize,
}

impl Asks<'_> {
    /// Whether there is nothing left to find out: then the exploration ends.
    fn ask(&mut self) -> Result<(), Ending> {
        self.asked += 1;
        if (self.is_known)(self.asked - 1) { Err(Ending::GaveUp(Inconclusive::Interrupted)) } else { Ok(()) }
    }
}

/// An exploration, as far as it has come.
pub(super) struct Exploration<'a> {
    pub(super) machine: Machine,
    pub(super) settings: &'a Settings,
    pub(super) control: &'a dyn Control,
    pub(super) started: Instant,
    pub(super) components: Components,
    /// By automaton.
    pub(super) cycles: Vec<Cycles>,
    pub(super) nodes: Vec<Node>,
    pub(super) numbers: FxHashMap<Key, NodeId>,
    pub(super) violations: BTreeMap<Found, Violation>,
    /// After this, what is found besides may depend on the order.
    hides: Option<(AgentId, Pc)>,
    pub(super) races: Races,
    pub(super) transitions: u64,
    pub(super) depth: u64,
    pub(super) peak_bytes: u64,
    /// Bytes of the graph of the states kept, once it is made.
    pub(super) graph_bytes: u64,
    /// What has been made since the last state kept.
    pub(super) made: Vec<Made>,
    /// Steps are made again: what they show is known.
    pub(super) repeats: bool,
    follows_waits: bool,
    /// `None` if all paths are to be followed one by one.
    pub(super) merges: Option<Merges>,
    /// The configurations before a step.
    pub(super) before: Vec<ConfigId>,
    pub(super) log: Log,
    pub(super) looks: u64,
    pub(super) between_looks: u64,
    /// Decisions that somebody had yet to make when that was looked at last.
    pub(super) decisions_looked_at: usize,
    /// In how many states somebody with a choice stood at a place.
    pub(super) opened: FxHashMap<Place, u64>,
    /// A state from which an evaluation error is reached by so many steps, of which this is the first.
    pub(super) faulty: Option<(NodeId, Made, usize)>,
}

impl<'a> Exploration<'a> {
    pub(super) fn new(
        machine: Machine,
        settings: &'a Settings,
        control: &'a dyn Control,
        started: Instant,
        merges: Option<Merges>,
    ) -> Self {
        let (target, races) = (machine.program().target, Races::of(machine.program()));
        let follows_waits =
            target.facts().waits_free && settings.levels.of(Rule::ReuseBeforeFree, target) >= Level::Warning;
        let between_looks = between_looks(&machine, BETWEEN_LOOKS);
        Self {
            components: Components::new(&machine),
            cycles: machine.automata().iter().map(|_| Cycles::default()).collect(),
            machine,
            settings,
            control,
            started,
            nodes: Vec::new(),
            numbers: FxHashMap::default(),
            violations: BTreeMap::new(),
            hides: None,
            races,
            transitions: 0,
            depth: 0,
            peak_bytes: 0,
            graph_bytes: 0,
            made: Vec::new(),
            repeats: false,
            follows_waits,
            merges,
            before: Vec::new(),
            log: Log::default(),
            looks: 0,
            between_looks,
            decisions_looked_at: 0,
            opened: FxHashMap::default(),
            faulty: None,
        }
    }

    /// Explores until there is nothing left, or a reason to end. An error found before that is an error,
    /// however it ends.
    ///
    /// Once that has taken many steps, it asks whether there is nothing left to find out.
    pub(super) fn explore(&mut self, asks: &mut Asks<'_>) -> Ending {
        let ended = self.explore_all(asks).err();
        let hides = self.hides.or_else(|| self.races.hide(self.violations.keys().map(|(rule, ..)| *rule)));
        let ending = ended.unwrap_or(match hides {
            Some((agent, pc)) => Ending::Undecided(Undecided::CutShort(agent, pc)),
            None => Ending::Complete,
        });
        match ending {
            Ending::GaveUp(_) | Ending::Undecided(_) if self.has_error() => Ending::Violated,
            ending => ending,
        }
    }

    fn explore_all(&mut self, asks: &mut Asks<'_>) -> Result<(), Ending> {
        let initial = self.initial();
        if let Some((agent, fault)) = self.machine.fault(&initial.state) {
            return Err(unfollowed(agent, fault));
        }
        let (key, _) = self.components.key(&initial.state, &initial.proviso);
        let nobody = Made::Step(Choice::of(AgentId(0), 0, 0));
        self.keep(key, 0, nobody, 0);
        let mut next = 0;
        while next < self.nodes.len() {
            self.expand(to_u32(next))?;
            if let Some(endless) = self.endless(to_u32(next)) {
                while asks.asked < MANY.len() {
                    asks.ask()?;
                }
                return Err(Ending::GaveUp(endless));
            }
            next += 1;
            if MANY.get(asks.asked).is_some_and(|many| self.transitions >= *many) {
                asks.ask()?;
            }
        }
        self.peak_bytes = self.peak_bytes.max(self.bytes());
        Ok(())
    }

    pub(super) fn initial(&mut self) -> At {
        let state = self.machine.initial_with(HappensBefore::default());
        At { proviso: Proviso::new(state.agents.len()), state }
    }

    /// The number of a state, which is kept if it is new.
    fn keep(&mut self, key: Key, parent: NodeId, made: Made, depth: u64) {
        if !self.numbers.contains_key(&key) {
            self.numbers.insert(key.clone(), to_u32(self.nodes.len()));
            self.nodes.push(Node { key, parent, made, depth });
            self.depth = self.depth.max(depth);
        }
    }

    /// Makes the steps out of a state.
    fn expand(&mut self, node: NodeId) -> Result<(), Ending> {
        let (state, proviso) = self.components.state(&self.nodes[node as usize].key);
        let at = At { state, proviso };
        let outgoing = match self.next(&at) {
            None => return self.judge(&at, node),
            Some(Next::Forced(made)) => return self.leave(&at, node, made),
            Some(Next::Open(agent)) => {
                let pc = self.machine.stands_at(&at.state, agent);
                *self.opened.entry(self.machine.place(agent, pc)).or_default() += 1;
                self.outgoing_of(&at, agent)
            }
        };
        for one in outgoing {
            let Some(one) = one else {
                let what = Some("the values of an `any`".to_owned());
                return Err(Ending::GaveUp(Inconclusive::States(u64::from(u32::MAX), what)));
            };
            self.leave(&at, node, one)?;
        }
        Ok(())
    }

    /// Makes one of the transitions out of a state, and keeps the state where it ends.
    fn leave(&mut self, at: &At, node: NodeId, made: Made) -> Result<(), Ending> {
        self.look(node)?;
        let mut on = at.clone();
        self.go_on(&mut on, node, made, &mut |_, _| {})?;
        let (key, _) = self.components.key(&on.state, &on.proviso);
        let depth = self.nodes[node as usize].depth + self.made.len() as u64;
        self.keep(key, node, made, depth);
        Ok(())
    }

    /// The transitions out of a state that has been explored.
    pub(super) fn outgoing(&mut self, at: &At) -> Vec<Made> {
        match self.next(at) {
            None => Vec::new(),
            Some(Next::Forced(made)) => vec![made],
            // That they could be numbered has been seen.
            Some(Next::Open(agent)) => self.outgoing_of(at, agent).flatten().collect(),
        }
    }

    /// The transitions of an agent: each move with each pick, or each of several merges; `None` for a pick
    /// without a number.
    fn outgoing_of(&self, at: &At, agent: AgentId) -> impl Iterator<Item = Option<Made>> + use<> {
        let from = at.state.agents[agent.index()].config;
        let fork = self.merges.as_ref().and_then(|merges| merges.known(&self.machine, agent, from));
        let numbers = fork.as_ref().map_or(0, |fork| to_u32(fork.len()));
        let merges = (0..numbers).map(move |number| Some(Made::Merge(agent, from, number)));
        let steps = match fork {
            Some(_) => Vec::new(),
            None => self.steps_of(at, agent),
        };
        let steps = steps.into_iter().flat_map(|(choice, picks)| {
            picks.map(move |pick| Some(Made::Step(Choice { pick: u32::try_from(pick).ok()?, ..choice })))
        });
        merges.chain(steps)
    }

    /// The moves of an agent, with the picks of each.
    fn steps_of(&self, at: &At, agent: AgentId) -> Vec<(Choice, Range<u64>)> {
        let moves = (0..).zip(self.machine.moves(&at.state, agent));
        moves
            .filter(|(_, made)| made.action != Action::Spin)
            .map(|(index, made)| (Choice::of(agent, index, 0), self.machine.picks(&at.state, agent, made)))
            .collect()
    }

    /// Makes a step, and those after it as long as each is the only one. `watch` sees every state on its
    /// path.
    pub(super) fn go_on(
        &mut self,
        at: &mut At,
        node: NodeId,
        made: Made,
        watch: &mut dyn FnMut(&Machine, &At),
    ) -> Result<(), Ending> {
        self.made.clear();
        let mut next = made;
        loop {
            self.made.push(next);
            match next {
                Made::Step(choice) => self.step(at, node, choice)?,
                Made::Merge(agent, from, number) => self.take_merge(at, node, (agent, from, number))?,
            }
            watch(&self.machine, at);
            if self.between_looks < BETWEEN_LOOKS && !self.repeats {
                self.look(node)?;
            }
            // Of many agents a state may be thousands of steps away, each of which takes its time.
            if self.transitions.is_multiple_of(STEPS_BETWEEN_LOOKS) && !self.repeats {
                self.look_on(self.nodes.len() as u64 - u64::from(node)).map_err(Ending::GaveUp)?;
            }
            if self.renews(at) || self.made.len() >= MOST_BETWEEN {
                return Ok(());
            }
            match self.next(at) {
                Some(Next::Forced(forced)) => next = forced,
                _ => return Ok(()),
            }
        }
    }

    fn step(&mut self, at: &mut At, node: NodeId, choice: Choice) -> Result<(), Ending> {
        if choice.is_landing() {
            return self.advance(at, node, choice, (None, None));
        }
        let agent = choice.agent();
        if at.proviso.hold(agent.index()) == Hold::Held {
            at.proviso.set(agent.index(), Hold::Follows);
        }
        let moves = self.machine.moves(&at.state, agent);
        let made = &moves[choice.index as usize];
        let pc = made.pc;
        let blocks_lanes = |made: &Move| made.action.on_barrier().is_some_and(BarrierAction::is_by_fragment);
        if moves.len() > 1 && moves.iter().any(blocks_lanes) {
            return Err(Ending::Undecided(Undecided::Lanes(agent, pc)));
        }
        let on = phases::before(&self.machine, &mut at.state, agent, made).map_err(Ending::Undecided)?;
        if on.is_some() || pools::before(&self.machine, &at.state, agent, made).map_err(Ending::Undecided)? {
            return self.advance(at, node, choice, (Some(pc), on));
        }
        if let Some(barrier) = independence::arrival(&at.state, agent, made).map_err(Ending::Undecided)?
            && !is_alone(made)
        {
            let layout = self.machine.layout();
            if !at.state.memory.knows_complete(layout, agent, barrier) {
                return Err(Ending::Undecided(Undecided::Unordered(agent, pc)));
            }
            if self.follows_waits && !at.state.memory.knows_waits(layout, agent, barrier) {
                self.hides.get_or_insert((agent, pc));
            }
            at.state.memory.gather(layout, barrier);
        }
        self.advance(at, node, choice, (Some(pc), None))
    }

    /// Makes a step that may come here; `pc` is its agent's place, unless something lands.
    fn advance(
        &mut self,
        at: &mut At,
        node: NodeId,
        choice: Choice,
        (pc, on): (Option<Pc>, Option<OnPhases>),
    ) -> Result<(), Ending> {
        let agent = choice.agent();
        let lands = choice.is_landing();
        let left = at.state.pending_of(agent).get(choice.index as usize).filter(|_| lands).copied();
        let pc = pc.or(left.map(|left| left.pc)).unwrap_or_default();
        if let Some(left) = left {
            let (program, barrier) = (self.machine.program(), left.operation.barrier());
            let rule = Rule::at_exit(left.operation.is_arrival());
            let is_asked = self.settings.levels.of(rule, program.target) >= Level::Warning;
            let may_be_late = is_asked || !program.shares(left.agent, barrier);
            phases::before_landing(&self.machine, &mut at.state, left.agent, (barrier, may_be_late));
        }
        self.before.clear();
        self.before.extend(at.state.agents.iter().map(|agent| agent.config));
        self.log.events.clear();
        self.log.noted.clear();
        match self.machine.advance(&mut at.state, choice, &mut self.log) {
            Advanced::Progress | Advanced::NoEffect => {}
            Advanced::Disabled => return Err(Ending::Undecided(Undecided::Unfollowed(agent, pc))),
            Advanced::Error(end) => return Err(self.end(*end, node)),
        }
        self.transitions += u64::from(!self.repeats);
        self.races.follow(&self.log.events, || {
            self.machine.agents().any(|agent| self.machine.config(&at.state, agent).has_exited())
        });
        happens_before::follow(&self.machine, &mut at.state, agent, &self.log.events, self.follows_waits);
        pools::follow(&self.machine, &mut at.state, agent, &self.log.events);
        phases::follow(&self.machine, &mut at.state, (agent, pc), &self.log.events, on)
            .map_err(Ending::Undecided)?;
        self.hold_back(at, agent);
        self.note(node, agent, pc)
    }

    /// An agent takes all paths of a merge at once.
    fn take_merge(
        &mut self,
        at: &mut At,
        node: NodeId,
        (agent, from, number): (AgentId, ConfigId, u32),
    ) -> Result<(), Ending> {
        let known = self.merges.as_ref().and_then(|merges| merges.known(&self.machine, agent, from));
        let Some(merge) = known.as_ref().and_then(|fork| fork.get(number as usize)) else { return Ok(()) };
        let layout = self.machine.layout();
        self.log.events.clear();
        self.log.noted.clear();
        for access in &merge.accesses {
            let program = self.machine.program();
            if program.ctas > 1 {
                let homes = access.locations.iter().filter_map(|at| program.home_of(*at));
                at.state.memory.concern(&self.machine, agent, homes);
            }
            let conflicts = at.state.memory.access(layout, agent, access.kind, &access.locations);
            for (rule, location, earlier, earlier_kind) in conflicts {
                self.log.noted.push(Finding {
                    rule,
                    agent,
                    pc: access.pc,
                    agents: [earlier.min(agent), earlier.max(agent)].into(),
                    barrier: None,
                    detail: Detail::Conflict { location, earlier, earlier_kind, kind: access.kind },
                });
            }
        }
        at.state.agents[agent.index()].config = merge.to;
        happens_before::settle(&self.machine, &mut at.state);
        self.transitions += if self.repeats { 0 } else { 1 + merge.accesses.len() as u64 };
        if self.closes(agent, from, merge.to) {
            at.proviso.set(agent.index(), Hold::Held);
        }
        self.note(node, agent, merge.accesses.first().map_or_else(Pc::default, |access| access.pc))
    }
}

/// Whether a move arrives at a barrier that the agent has to itself.
fn is_alone(made: &Move) -> bool {
    made.action.on_barrier().is_some_and(BarrierAction::is_alone)
}
