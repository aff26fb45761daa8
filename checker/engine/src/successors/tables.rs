//! The components of states, numbered, and what has been learnt about steps.
//!
//! A packed state is a tuple of numbers: for each agent its configuration together with its seats at barriers
//! (a *slot*), for each barrier its state, for each location class its abstract value (see
//! [`crate::packed::locations`]), and one number for the residual (uniform decisions, allocation, what
//! is pending). What a
//! step does to these numbers is asked of the model once and remembered where it depends on nothing else; see
//! [`crate::successors::expand`].

use crate::packed::layout::{BarrierField, Layout, Packed, Sizes};
use crate::packed::locations::LocationClasses;
use crate::packed::numbering::{BarrierStates, Numbered, UNKNOWN, field_of, to_u32};
use crate::packed::permutations::Permutations;
use crate::packed::residual::{Residual, ResidualOf};
use crate::successors::steps::{EXIT, Key, OWN, Steps};
use barcheck_model::agent::{Action, Choices};
use barcheck_model::barrier::{BarrierId, Dependence};
use barcheck_model::machine::{AgentState, AnyBarrier, Machine, State};
use barcheck_model::program::AgentId;
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// A move of an agent in a slot.
#[derive(Clone, Debug)]
pub(crate) struct SlotMove {
    pub(crate) picks: Picks,
    /// The step with pick 0 in [`Steps`]; the others follow. [`UNKNOWN`] where nothing is remembered.
    pub(crate) first_step: u32,
}

/// The picks of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Picks {
    /// 0 up to this number, exclusive.
    Below(u64),
    /// As the sequence of uniform decisions has it.
    Sequence,
}

/// An agent's configuration and its seats.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) state: AgentState,
    pub(crate) blocked: bool,
    /// What it acquires once it is released, see [`LocationClasses::number_acquired`].
    pub(crate) acquires: u32,
    pub(crate) moves: Vec<SlotMove>,
    /// The groups in which the agent stands at an arrival, see [`crate::successors::races`].
    pub(crate) standing: Vec<u32>,
}

/// What has to be known of every agent's slot in every state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// The slot's steps in [`Steps`], if it is not `slow`.
    pub(crate) first_step: u32,
    pub(crate) steps: u32,
    /// The groups in which the agent stands at an arrival, or [`crate::successors::races::NOBODY`].
    pub(crate) standing: [u32; 2],
    pub(crate) exited: bool,
    /// Some step accesses memory.
    pub(crate) accesses: bool,
    /// Some step's effect depends on more than is remembered, or the agent stands in more than two groups.
    pub(crate) slow: bool,
}

/// The completion of a generation, with what it does to every agent but the one that completes it.
#[derive(Debug)]
pub(crate) struct Release {
    pub(crate) barrier: BarrierId,
    result: Option<u32>,
    pub(crate) field: usize,
    /// The slot afterwards, by class and slot; [`UNKNOWN`] until it is learnt.
    pub(crate) after: Vec<Vec<u32>>,
}

/// The slots of one class of agents.
#[derive(Debug, Default)]
pub(crate) struct Class {
    pub(crate) slots: Vec<Slot>,
    /// For each slot.
    pub(crate) rows: Vec<Row>,
    numbers: FxHashMap<AgentState, u32>,
}

/// Everything numbered.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) machine: Machine,
    /// For each agent, its class.
    pub(crate) class_of: Vec<usize>,
    pub(crate) classes: Vec<Class>,
    pub(crate) barriers: Vec<BarrierStates>,
    /// Some state of some barrier depends on exits.
    pub(crate) some_depend_on_exits: bool,
    pub(crate) residuals: Numbered<Residual>,
    residual_bytes: usize,
    pub(crate) location_classes: LocationClasses,
    pub(crate) permutations: Permutations,
    /// For each residual, see [`Residual::is_quiet`].
    pub(crate) quiet: Vec<bool>,
    pub(crate) releases: Vec<Release>,
    /// For each barrier, by field, the agents that may have a seat at it, with their classes. What becomes of
    /// a barrier concerns nobody else.
    pub(crate) seated: Vec<Vec<(u32, u32)>>,
    pub(crate) steps: Steps,
    pub(crate) races: crate::successors::races::Groups,
}

impl Tables {
    pub(crate) fn new(machine: Machine, learnt_bytes: Option<usize>) -> Self {
        let class_of: Vec<usize> = machine.agents().map(|a| machine.class(a)).collect();
        let count = class_of.iter().max().map_or(0, |c| c + 1);
        Self {
            class_of,
            classes: (0..count).map(|_| Class::default()).collect(),
            barriers: Vec::new(),
            some_depend_on_exits: false,
            residuals: Numbered::default(),
            residual_bytes: 0,
            location_classes: LocationClasses::new(machine.layout(), machine.program().clone(), learnt_bytes),
            permutations: Permutations::default(),
            quiet: Vec::new(),
            releases: Vec::new(),
            seated: Vec::new(),
            steps: Steps::default(),
            races: crate::successors::races::Groups::default(),
            machine,
        }
    }

    /// How many numbers have been given out.
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes {
            agents: self.class_of.iter().map(|c| self.classes[*c].slots.len()).collect(),
            barriers: self.barriers.iter().map(|b| b.states.len()).collect(),
            location_classes: self.location_classes.sizes(),
            residuals: self.residuals.len(),
        }
    }

    /// How many numbers have been given out, in all, those of location classes and residuals aside.
    pub(crate) fn numbers(&self) -> usize {
        let slots: usize = self.classes.iter().map(|class| class.slots.len()).sum();
        let barriers: usize = self.barriers.iter().map(|barrier| barrier.states.len()).sum();
        slots + barriers
    }

    pub(crate) fn slot(&self, agent: usize, slot: u32) -> &Slot {
        &self.classes[self.class_of[agent]].slots[slot as usize]
    }

    /// Numbers a state's components.
    pub(crate) fn number(&mut self, state: &State) -> Numbers {
        self.number_all(None, state)
    }

    /// Numbers the components of a state that differs little from one whose numbers are known.
    pub(crate) fn number_after(&mut self, before: (&State, &Numbers), state: &State) -> Numbers {
        self.number_all(Some(before), state)
    }

    fn number_all(&mut self, before: Option<(&State, &Numbers)>, state: &State) -> Numbers {
        let mut numbers = Numbers { agents: Vec::with_capacity(state.agents.len()), ..Numbers::default() };
        for (agent, agent_state) in state.agents.iter().enumerate() {
            let same = before.filter(|(before, _)| before.agents[agent] == *agent_state);
            let number = match same {
                Some((_, numbers)) => numbers.agents[agent],
                None => self.number_slot(agent, agent_state),
            };
            numbers.agents.push(number);
        }
        numbers.barriers = before.map(|(_, numbers)| numbers.barriers.clone()).unwrap_or_default();
        let mut others = before.map_or(&[][..], |(before, _)| &before.barriers).iter().peekable();
        for (id, barrier) in &state.barriers {
            while let Some((gone, _)) = others.next_if(|(other, _)| other < id) {
                numbers.barriers[self.field_of(*gone)] = 0;
            }
            if others.next_if(|(other, _)| other == id).is_none_or(|(_, other)| other != barrier) {
                let (field, number) = self.number_barrier(*id, barrier);
                numbers.barriers.resize(self.barriers.len(), 0);
                numbers.barriers[field] = number;
            }
        }
        for (gone, _) in others {
            numbers.barriers[self.field_of(*gone)] = 0;
        }
        numbers.barriers.resize(self.barriers.len(), 0);
        let same = before.filter(|(before, _)| before.memory == state.memory);
        numbers.location_classes = match same {
            Some((_, numbers)) => numbers.location_classes.clone(),
            None => self.location_classes.numbers(&state.memory),
        };
        let unchanged = before.filter(|(before, _)| ResidualOf::of(before) == ResidualOf::of(state));
        numbers.residual = match unchanged {
            Some((_, numbers)) => numbers.residual,
            None => self.number_residual(&ResidualOf::of(state), ResidualOf::to_residual),
        };
        numbers
    }

    fn number_slot(&mut self, agent: usize, state: &AgentState) -> u32 {
        let class = self.class_of[agent];
        if let Some(number) = self.classes[class].numbers.get(state) {
            return *number;
        }
        let (slot, row) = self.make_slot(agent, state);
        self.seat(class, state);
        let class = &mut self.classes[class];
        let number = to_u32(class.slots.len());
        class.slots.push(slot);
        class.rows.push(row);
        class.numbers.insert(state.clone(), number);
        number
    }

    fn make_slot(&mut self, agent: usize, state: &AgentState) -> (Slot, Row) {
        let agent = AgentId::from_index(agent);
        let automaton = &self.machine.automata()[self.machine.class(agent)];
        let config = automaton.config(state.config);
        let (exited, blocked) = (config.has_exited(), config.is_blocked());
        let acquires =
            self.location_classes.number_acquired(config.waiting.and_then(|waiting| waiting.acquires));
        let made: Vec<_> =
            automaton.moves(state.config).iter().map(|m| (m.action.clone(), m.choices)).collect();
        let mut standing = Vec::new();
        let mut moves = Vec::new();
        let first_step = self.steps.next();
        for (action, choices) in &made {
            let picks = match choices {
                Choices::One => Picks::Below(1),
                Choices::Open(n) => Picks::Below(*n),
                Choices::Uniform(_) => Picks::Sequence,
            };
            let depends = self.dependence(action, picks).filter(|_| !self.is_elsewhere(agent, action));
            let before = standing.len();
            self.races.stand(action, |id| field_of(&mut self.barriers, id), &mut standing);
            let groups = two(&standing[before..]);
            let first_step =
                depends.map_or(UNKNOWN, |depends| self.add_steps(depends, groups, state, (action, picks)));
            moves.push(SlotMove { picks, first_step });
        }
        let slow = standing.len() > 2 || moves.iter().any(|m| m.first_step == UNKNOWN);
        let steps = self.steps.next() - first_step;
        let accesses =
            self.steps.run(first_step, steps).iter().any(|step| self.location_classes.is_access(step.act));
        let row = Row { first_step, steps, standing: two(&standing), exited, accesses, slow };
        (Slot { state: state.clone(), blocked, acquires, moves, standing }, row)
    }

    /// Adds the steps of a move, and returns the number of the first.
    fn add_steps(
        &mut self,
        depends: (Key, BarrierField),
        groups: [u32; 2],
        state: &AgentState,
        (action, picks): (&Action, Picks),
    ) -> u32 {
        let count = match picks {
            Picks::Below(n) => to_u32(n as usize),
            Picks::Sequence => 0,
        };
        let operation = |pick| match action {
            Action::Barrier(action) => self.steps.operation(action, pick, state.seat(action.barrier())),
            Action::Exit(_) => EXIT,
            _ => OWN,
        };
        let operations: Vec<u32> = (0..count).map(operation).collect();
        let act = self.location_classes.number_act(action);
        self.steps.add(depends, groups, (operations, act))
    }

    /// Whether it matters to a move who has exited in which CTA.
    fn is_elsewhere(&self, agent: AgentId, action: &Action) -> bool {
        let program = self.machine.program();
        if program.ctas <= 1 {
            return false;
        }
        let own = program.cta_of(agent);
        match action {
            Action::Access(_, locations) => {
                locations.iter().any(|location| program.home_of(*location).is_some_and(|cta| cta != own))
            }
            action => action.on_barrier().is_some_and(|action| {
                let depends = action.dependence(self.machine.exits_release());
                depends == Dependence::BarrierAndExits || !program.shares(agent, action.barrier())
            }),
        }
    }

    /// On what a move's effect depends, besides the agent's own slot; `None` if on more than is remembered.
    fn dependence(&mut self, action: &Action, picks: Picks) -> Option<(Key, BarrierField)> {
        let few = matches!(picks, Picks::Below(n) if n <= 256);
        let one = picks == Picks::Below(1);
        let (key, id) = match action {
            Action::Decide | Action::Park(..) if few => return Some((Key::Barrier, BarrierField::NONE)),
            _ if !one => return None,
            Action::Assert(true)
            | Action::Access(..)
            | Action::Fence(_)
            | Action::Proxy(_)
            | Action::MemoryBarrier(..)
            | Action::Init(..)
            | Action::Fetch(_)
            | Action::SaveCopy(_)
            | Action::RestoreCopy(_) => return Some((Key::Barrier, BarrierField::NONE)),
            // What the others of the CTA have left matters.
            Action::Exit(None) if self.machine.layout().has_stores() => return None,
            Action::Exit(None) => return Some((Key::Exit, BarrierField::NONE)),
            Action::Barrier(action) => {
                let key = match action.dependence(self.machine.exits_release()) {
                    Dependence::Barrier => Key::Barrier,
                    Dependence::BarrierAndExits => Key::BarrierAndExits,
                    Dependence::More => return None,
                };
                (key, action.barrier())
            }
            Action::Spin
            | Action::Decide
            | Action::Park(..)
            | Action::Exit(Some(_))
            | Action::Assert(false)
            | Action::Alloc(_)
            | Action::Refuse(..)
            | Action::NotModelled(_)
            | Action::Fault(_) => return None,
        };
        Some((key, BarrierField::of(self.field_of(id))))
    }

    /// What the completion of a generation does to an agent of a class in a slot that does not complete it,
    /// if that is known.
    #[inline]
    pub(crate) fn after(&self, release: &Release, class: usize, slot: u32) -> Option<u32> {
        let known = release.after[class].get(slot as usize).copied().filter(|after| *after != UNKNOWN);
        // Who has nothing to do with the barrier stays as it is.
        known.or_else(|| {
            let seat = self.classes[class].slots[slot as usize].state.seat(release.barrier);
            seat.is_vacant().then_some(slot)
        })
    }

    pub(crate) fn field_of(&mut self, id: BarrierId) -> usize {
        field_of(&mut self.barriers, id)
    }

    /// The field of a barrier, and the number of its state.
    fn number_barrier(&mut self, id: BarrierId, state: &AnyBarrier) -> (usize, u32) {
        let field = self.field_of(id);
        let barrier = &mut self.barriers[field];
        if let Some(number) = barrier.numbers.get(state) {
            return (field, *number);
        }
        let depends_on_exits = state.depends_on_exits(self.machine.exits_release());
        let number = to_u32(barrier.states.len());
        barrier.states.push(Some(state.clone()));
        barrier.depends_on_exits.push(depends_on_exits);
        self.some_depend_on_exits |= depends_on_exits;
        barrier.numbers.insert(state.clone(), number);
        (field, number)
    }

    /// The number of a residual, which is made if it is new.
    pub(crate) fn number_residual<Q: Hash + PartialEq<Residual>>(
        &mut self,
        residual: &Q,
        make: impl FnOnce(&Q) -> Residual,
    ) -> u32 {
        let number = self.residuals.number(residual, make);
        if self.quiet.len() < self.residuals.len() {
            let residual = self.residuals.get(number);
            self.quiet.push(residual.is_quiet());
            // Its hash, and where it is found by that.
            self.residual_bytes += residual.bytes() + 3 * size_of::<u64>();
        }
        number
    }

    pub(crate) fn number_release(&mut self, (barrier, result): (BarrierId, Option<u32>)) -> u32 {
        let known = self.releases.iter().position(|r| (r.barrier, r.result) == (barrier, result));
        let at = known.unwrap_or_else(|| {
            let (field, after) = (self.field_of(barrier), vec![Vec::new(); self.classes.len()]);
            self.releases.push(Release { barrier, result, field, after });
            self.seated.resize(self.seated.len().max(field + 1), Vec::new());
            self.releases.len() - 1
        });
        to_u32(at)
    }

    /// Notes that agents of a class may have a seat at the barriers at which one in this state has.
    fn seat(&mut self, class: usize, state: &AgentState) {
        for (barrier, _) in &state.seats {
            let field = self.field_of(*barrier);
            self.seated.resize(self.seated.len().max(field + 1), Vec::new());
            if self.seated[field].iter().all(|(_, seated)| *seated as usize != class) {
                let members = (0..).zip(&self.class_of).filter(|(_, c)| **c == class);
                self.seated[field].extend(members.map(|(agent, class)| (agent, to_u32(*class))));
            }
        }
    }

    /// The state that numbers stand for.
    pub(crate) fn state<const W: usize>(&self, layout: &Layout, words: &Packed<W>) -> State {
        let agents = layout.agents.iter().enumerate();
        let residual = self.residuals.get(layout.residual.get(words));
        let barriers = self.barriers.iter().zip(&layout.barriers);
        let mut barriers: Vec<_> = barriers
            .filter_map(|(b, field)| Some((b.id, b.states[field.get(words) as usize].clone()?)))
            .collect();
        barriers.sort_unstable_by_key(|(id, _)| *id);
        State {
            agents: agents.map(|(agent, field)| self.slot(agent, field.get(words)).state.clone()).collect(),
            barriers,
            memory: self.location_classes.memory(layout, words),
            sequences: residual.sequences.clone(),
            allocated: residual.allocated,
            pending: residual.pending.clone(),
        }
    }

    /// A rough number of bytes that the tables take.
    pub(crate) fn bytes(&self) -> u64 {
        let slots: usize = self.classes.iter().map(|c| c.slots.len()).sum();
        let barriers: usize = self.barriers.iter().map(|b| b.states.len()).sum();
        // Orders of magnitude measured on the library's protocols, rounded up.
        let components = slots * 400 + self.machine.bytes() + barriers * 200;
        let memory = self.residual_bytes + self.location_classes.bytes() + self.permutations.bytes();
        (self.steps.bytes() + components + memory) as u64
    }
}

/// The first two groups, filled up with the one of those that stand nowhere.
fn two(groups: &[u32]) -> [u32; 2] {
    [0, 1].map(|i| groups.get(i).copied().unwrap_or(crate::successors::races::NOBODY))
}

/// A state's components, as numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) agents: Vec<u32>,
    pub(crate) barriers: Vec<u32>,
    pub(crate) location_classes: Vec<u32>,
    pub(crate) residual: u32,
}

impl Numbers {
    /// Packs, if the layout has room for every number.
    pub(crate) fn pack<const W: usize>(&self, layout: &Layout) -> Option<Packed<W>> {
        if layout.barriers.len() < self.barriers.len() {
            return None;
        }
        let mut words = [0; W];
        let fields = layout.agents.iter().zip(&self.agents);
        let fields = fields.chain(layout.barriers.iter().zip(&self.barriers));
        let fields = fields
            .chain(layout.location_classes.iter().zip(&self.location_classes))
            .chain([(&layout.residual, &self.residual)]);
        for (field, number) in fields {
            field.set(&mut words, *number);
            if field.get(&words) != *number {
                return None;
            }
        }
        Some(words)
    }
}
