//! Memory, abstracted by location classes.
//!
//! What is remembered of the accesses to one location has nothing to do with what is remembered of those to
//! others: each step treats every access by itself. So memory as a whole has no number. Each location is a
//! *location class* (neighbours share one where there are many), what is remembered of the accesses to it is
//! its *abstract value*, the abstract values of each class are numbered, and a state has a field for each
//! location class: abstract values are few where memories are many.
//!
//! What a step does to memory, whatever memory holds, is a transformer of these values, a [`Flow`]. The model
//! writes it down once for all that it depends on:
//!
//! * who acts, and the instruction with its operands (an *act*; on a barrier it is the operation class with
//!   its local effect, see [`crate::successors::steps`]), and whether the agent exits: its *memory step*;
//! * who has exited before: nobody depends on them, and some generations take in what they knew;
//! * where it completes a generation, what the others have to do with the barrier (their seats), what those
//!   who wait acquire, and the state of the barrier, which says whether exits are taken in.
//!
//! From then on an abstract value of a location class after the step is looked up by its abstract value
//! before and the transformer. Where an access is in conflict with an earlier one nothing is kept, and the
//! model is asked each time.
//!
//! What is remembered of accesses that everybody knows of is forgotten at every step. That changes nothing in
//! a state that a step has led to, as long as nobody exits and nobody learns anything: such a transformer
//! does nothing.

use crate::packed::layout::{Layout, Packed};
use crate::packed::numbering::{Numbered, to_u32};
use crate::packed::transformers::{IDENTITY, Transformers, bits};
use barcheck_model::agent::{Action, ProxyAction};
use barcheck_model::barrier::Seat;
use barcheck_model::memory::{self, Flow, Memory};
use barcheck_model::program::{AccessKind, AgentId, Fence, LocationId, Program, Scope, Semantics};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Location classes are numbered by the bits of a word.
const MOST_CLASSES: usize = 64;

/// No more is learnt of transformers once that takes so many bytes, unless another number is given: then the
/// model is asked.
const MOST_BYTES: usize = 1 << 26;

/// The act of a step that memory does not notice.
pub(crate) const NO_ACT: u32 = 0;
/// The act of an exit.
const EXITS: u32 = 1;
/// The act of an instruction on a barrier.
pub(crate) const AT_BARRIER: u32 = 2;
/// The number of the first of all other acts.
const OTHERS: u32 = 3;

/// [`LocationClasses::exits`] of nobody.
pub(crate) const NOBODY_EXITED: u32 = 0;

/// An instruction on memory alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Act {
    Access(AccessKind, Vec<LocationId>),
    Fence(Fence),
    Proxy(ProxyAction),
    MemoryBarrier(Scope, Semantics),
}

/// What an agent's step is to memory, as far as its agent and its barrier decide that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct MemoryStep {
    pub(crate) actor: u32,
    pub(crate) act: u32,
    pub(crate) operation: u32,
    pub(crate) local_effect: u32,
    /// The agent has exited after it.
    pub(crate) exits: bool,
}

/// A generation completed, as far as memory is concerned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Completion {
    /// The number of the memory step.
    pub(crate) memory_step: u32,
    /// Who has exited before and after the step: numbers of [`LocationClasses::exits`].
    pub(crate) exits: [u32; 2],
    /// The key of the operation class.
    pub(crate) key: u32,
    /// What all others have to do with the barrier, see [`posture`].
    pub(crate) others: Vec<u32>,
}

/// On what it depends what a step does to memory.
#[derive(Clone, Debug)]
pub(crate) enum Cause {
    /// On the number of its memory step, and on who has exited before.
    MemoryStep(u32, u32),
    Completion(Completion),
}

/// The location classes, their abstract values, and what transformers do to them.
#[derive(Debug)]
pub(crate) struct LocationClasses {
    holders: memory::Layout,
    program: Arc<Program>,
    /// Where each location class begins, and where the last one ends.
    bounds: Vec<LocationId>,
    /// Number 0 is empty.
    values: Vec<Numbered<Memory>>,
    acts: Numbered<Act>,
    /// Sets of agents that have exited, as bits. Number 0 is empty.
    exits: Numbered<Vec<u64>>,
    /// What waits acquire. Number 0 is nothing.
    acquired: Numbered<Option<(Scope, Semantics)>>,
    memory_steps: Numbered<MemoryStep>,
    completions: FxHashMap<Completion, u32>,
    transformers: Numbered<Flow>,
    pub(crate) known: Transformers,
    /// For each location class and abstract value, the order of agents by what the abstract value says of
    /// each; empty where that was not asked for.
    ranks: Vec<Vec<Box<[u32]>>>,
    bytes: usize,
    /// What transformers and completions take of them, and how much of that is enough.
    transformer_bytes: usize,
    most_bytes: usize,
}

impl LocationClasses {
    /// Nothing is remembered yet. There are no location classes where no access is made. Of transformers no
    /// more is learnt than has room in some bytes.
    pub(crate) fn new(holders: memory::Layout, program: Arc<Program>, most_bytes: Option<usize>) -> Self {
        let locations = if program.has_accesses() { program.locations() } else { 0 };
        let count = locations.min(MOST_CLASSES);
        let bounds = (0..=count)
            .map(|location_class| LocationId(to_u32(locations * location_class / count.max(1))))
            .collect();
        let mut values: Vec<Numbered<Memory>> = Vec::new();
        values.resize_with(count, Numbered::default);
        values.iter_mut().for_each(|values| {
            values.number(&Memory::default(), Memory::clone);
        });
        let mut location_classes = Self {
            holders,
            program,
            bounds,
            values,
            acts: Numbered::default(),
            exits: Numbered::default(),
            acquired: Numbered::default(),
            memory_steps: Numbered::default(),
            completions: FxHashMap::default(),
            transformers: Numbered::default(),
            known: Transformers::new(count),
            ranks: vec![Vec::new(); count],
            bytes: 0,
            transformer_bytes: 0,
            most_bytes: most_bytes.unwrap_or(MOST_BYTES),
        };
        location_classes.acquired.number(&None, Option::clone);
        location_classes.exits.number(&location_classes.nobody(), Vec::clone);
        location_classes.transformer(Flow::default());
        location_classes
    }

    /// How many abstract values of each location class there are.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        self.values.iter().map(Numbered::len).collect()
    }

    /// The abstract values of a location class from a number on.
    pub(crate) fn values(&self, location_class: usize, from: usize) -> impl Iterator<Item = &Memory> {
        self.values[location_class].from(from)
    }

    /// The number of an abstract value of a location class.
    pub(crate) fn number(&mut self, location_class: usize, value: &Memory) -> u32 {
        let values = &mut self.values[location_class];
        let before = values.len();
        let number = values.number(value, Memory::clone);
        if values.len() > before {
            // Its hash, and where it is found by that.
            self.bytes += size_of::<Memory>() + value.bytes() + 3 * size_of::<u64>();
        }
        number
    }

    /// The numbers of all abstract values of location classes.
    pub(crate) fn numbers(&mut self, memory: &Memory) -> Vec<u32> {
        if memory.is_empty() {
            return vec![0; self.values.len()];
        }
        let count = self.values.len();
        let number = |location_class: usize| {
            let value = memory.within(self.bounds[location_class], self.bounds[location_class + 1]);
            self.number(location_class, &value)
        };
        (0..count).map(number).collect()
    }

    /// Memory in a state.
    pub(crate) fn memory<const W: usize>(&self, layout: &Layout, words: &Packed<W>) -> Memory {
        let mut memory = Memory::default();
        if layout.remembers(words) {
            for (field, values) in layout.location_classes.iter().zip(&self.values) {
                memory.append(values.get(field.get(words)));
            }
        }
        memory
    }

    /// Nobody has exited.
    fn nobody(&self) -> Vec<u64> {
        vec![0; self.program.agents.len().div_ceil(64)]
    }

    /// The number of a set of agents that have exited, if it has one.
    pub(crate) fn exits(&self, exited: impl Iterator<Item = usize>) -> Option<u32> {
        self.exits.find(&self.set(exited))
    }

    fn set(&self, exited: impl Iterator<Item = usize>) -> Vec<u64> {
        let mut set = self.nobody();
        exited.for_each(|agent| set[agent / 64] |= 1 << (agent % 64));
        set
    }

    /// The number of a set of agents that have exited.
    pub(crate) fn number_exits(&mut self, exited: impl Iterator<Item = usize>) -> u32 {
        let set = self.set(exited);
        self.exits.number(&set, Vec::clone)
    }

    /// The number of what a wait acquires.
    pub(crate) fn number_acquired(&mut self, acquires: Option<(Scope, Semantics)>) -> u32 {
        self.acquired.number(&acquires, Option::clone)
    }

    /// The number of the act of an action whose effects are remembered.
    pub(crate) fn number_act(&mut self, action: &Action) -> u32 {
        let act = match action {
            Action::Barrier(_) => return AT_BARRIER,
            Action::Exit(_) => return EXITS,
            Action::Access(kind, locations) => Act::Access(*kind, locations.to_vec()),
            Action::Fence(fence) => Act::Fence(*fence),
            Action::Proxy(ProxyAction::Commit(_)) => return NO_ACT,
            Action::Proxy(action) => Act::Proxy(action.clone()),
            Action::MemoryBarrier(scope, semantics) => Act::MemoryBarrier(*scope, *semantics),
            _ => return NO_ACT,
        };
        OTHERS + self.acts.number(&act, Act::clone)
    }

    /// Whether an act is an access.
    #[inline]
    pub(crate) fn is_access(&self, act: u32) -> bool {
        let is_access = |act| matches!(act, &Act::Access(..) | &Act::Proxy(ProxyAction::Begin(..)));
        act.checked_sub(OTHERS).is_some_and(|act| is_access(self.acts.get(act)))
    }

    /// The number of a memory step, if it has one.
    pub(crate) fn memory_step(&self, memory_step: MemoryStep) -> Option<u32> {
        self.memory_steps.find(&memory_step)
    }

    /// The number of a memory step.
    pub(crate) fn number_memory_step(&mut self, memory_step: MemoryStep) {
        self.memory_steps.number(&memory_step, MemoryStep::clone);
    }

    /// The transformer by which a step changes memory, if that is known.
    #[inline]
    pub(crate) fn find(&self, cause: &Cause) -> Option<u32> {
        match cause {
            Cause::MemoryStep(memory_step, exits) => self.known.of_step(*memory_step, *exits),
            Cause::Completion(completion) => self.completions.get(completion).copied(),
        }
    }

    /// Remembers the transformer of steps; whether somebody exits at them has to be said.
    pub(crate) fn learn(&mut self, cause: Cause, transformer: Flow, somebody_exits: bool) -> u32 {
        // In every state what is settled has been forgotten: see the module.
        let transformer = if transformer.only_settles() && !somebody_exits {
            IDENTITY
        } else {
            self.transformer(transformer)
        };
        match cause {
            Cause::MemoryStep(memory_step, exits) => self.known.learn_step(memory_step, exits, transformer),
            Cause::Completion(completion) => {
                let others = completion.others.capacity() * size_of::<u32>();
                self.transformer_bytes += size_of::<(Completion, u32)>() + others;
                self.completions.insert(completion, transformer);
            }
        }
        transformer
    }

    fn transformer(&mut self, transformer: Flow) -> u32 {
        let known = self.transformers.len();
        let number = self.transformers.number(&transformer, Flow::clone);
        if known < self.transformers.len() {
            let location_classes = transformer.accessed().map(|location| self.location_class_of(location));
            self.known.learn_accesses(
                number,
                location_classes
                    .fold(0, |location_classes, location_class| location_classes | 1 << location_class),
            );
            self.transformer_bytes += size_of::<Flow>() + transformer.bytes();
        }
        number
    }

    fn location_class_of(&self, location: LocationId) -> usize {
        self.bounds.partition_point(|first| *first <= location) - 1
    }

    /// Whether the state after a transformer has room for the abstract values of location classes, if these
    /// are known.
    pub(crate) fn fit<const W: usize>(
        &self,
        layout: &Layout,
        (held, words): (u64, &Packed<W>),
        transformer: u32,
    ) -> Option<bool> {
        let mut fits = true;
        for location_class in bits(held | self.known.accesses(transformer)) {
            let field = layout.location_classes[location_class];
            fits &= field.has_room_for(self.known.after(transformer, location_class, field.get(words))?);
        }
        Some(fits)
    }

    /// Whether no more is learnt of transformers.
    pub(crate) fn is_full(&self) -> bool {
        self.transformer_bytes + self.known.bytes() > self.most_bytes
    }

    /// Learns what a transformer does to the location classes of a state, unless an access is in conflict
    /// with an earlier one.
    pub(crate) fn learn_transformer<const W: usize>(
        &mut self,
        layout: &Layout,
        (held, words): (u64, &Packed<W>),
        transformer: u32,
    ) {
        if self.is_full() {
            return;
        }
        let mut learnt = Vec::new();
        for location_class in bits(held | self.known.accesses(transformer)) {
            let (first, end) = (self.bounds[location_class], self.bounds[location_class + 1]);
            let before = layout.location_classes[location_class].get(words);
            let mut value = self.values[location_class].get(before).clone();
            let surroundings = (self.holders, &*self.program);
            let among = |location| first <= location && location < end;
            if !self.transformers.get(transformer).apply(surroundings, &mut value, among) {
                return;
            }
            learnt.push((location_class, before, value));
        }
        for (location_class, before, value) in learnt {
            let after = self.number(location_class, &value);
            self.known.learn_after(transformer, location_class, before, after);
        }
    }

    /// The number of an abstract value of a location class after agents have been renamed: agent `i` becomes
    /// `to[i]`.
    pub(crate) fn renamed(&mut self, location_class: usize, value: u32, to: &[AgentId]) -> u32 {
        let renamed = self.values[location_class].get(value).renamed(self.holders, to);
        self.number(location_class, &renamed)
    }

    /// Makes out the order of agents by what an abstract value of a location class says of each (see
    /// [`Memory::profile`]), so that [`LocationClasses::ranks`] knows it.
    pub(crate) fn rank(&mut self, location_class: usize, value: u32) {
        let (number, ranks) = (value as usize, &mut self.ranks[location_class]);
        if ranks.get(number).is_some_and(|ranks| !ranks.is_empty()) {
            return;
        }
        ranks.resize(ranks.len().max(number + 1), Box::default());
        let (value, agents) = (self.values[location_class].get(value), 0..self.program.agents.len());
        let profiles: Vec<_> =
            agents.map(|agent| value.profile(self.holders, AgentId::from_index(agent))).collect();
        let mut sorted: Vec<_> = profiles.iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        // Those of whom it says the same have the same rank.
        let rank = |profile| to_u32(sorted.binary_search(&profile).unwrap_or(0));
        ranks[number] = profiles.iter().map(rank).collect();
        self.bytes += size_of::<Box<[u32]>>() + size_of_val(&*ranks[number]);
    }

    /// The order of agents by what an abstract value of a location class says of each, once it has been made
    /// out.
    pub(crate) fn ranks(&self, location_class: usize, value: u32) -> &[u32] {
        &self.ranks[location_class][value as usize]
    }

    /// Bytes in use, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let memory_steps = self.memory_steps.len() * 2 * size_of::<MemoryStep>();
        let exits = self.exits.len() * self.program.agents.len().div_ceil(64) * size_of::<u64>();
        self.bytes + self.transformer_bytes + self.known.bytes() + memory_steps + 6 * exits
    }
}

/// What an agent has to do with a barrier whose generation is completed, as a number: its seat, and what it
/// acquires.
pub(crate) fn posture(seat: Seat, acquired: u32) -> u32 {
    let Seat { arrived, waiting, consumer, notified, produced_last, token } = seat;
    [arrived, waiting, consumer, notified, produced_last]
        .into_iter()
        .fold(acquired << 2 | token as u32, |posture, bit| posture << 1 | u32::from(bit))
}
