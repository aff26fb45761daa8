//! Memory, in cells.
//!
//! What is remembered of the accesses to one location has nothing to do with what is remembered of those to others: each step
//! treats every access by itself. So memory as a whole has no number. Each location is a *cell* (neighbours share one where there
//! are many), what is remembered of the accesses to it is its *content*, each cell's contents are numbered, and a state has a
//! field for each cell: contents are few where memories are many.
//!
//! What a step does to memory, whatever memory holds, is a [`Flow`]. The model writes it down once for all that it depends on:
//!
//! * who acts, and the instruction with its operands (an *act*; on a barrier it is the deed with its turn, see
//!   [`crate::successors::steps`]), and whether the agent exits: its *course*;
//! * who has exited before: they are heeded by nobody, and some generations take in what they knew;
//! * where it completes a generation, what the others have to do with the barrier (their seats), what those who wait acquire,
//!   and the state of the barrier, which says whether exits are taken in.
//!
//! From then on a cell's content after the step is looked up by its content before and the flow. Where an access is in conflict
//! with an earlier one nothing is kept, and the model is asked each time.
//!
//! What is remembered of accesses that everybody knows of is forgotten at every step. That changes nothing in a state that a
//! step has led to, as long as nobody exits and nobody learns anything: such a flow does nothing.

use crate::packed::layout::{Layout, Packed};
use crate::packed::numbering::{Numbered, to_u32};
use crate::packed::transformers::{Flows, NO_FLOW, bits};
use barcheck_model::agent::Action;
use barcheck_model::barrier::Seat;
use barcheck_model::memory::{self, Flow, Memory};
use barcheck_model::program::{AccessKind, AgentId, LocationId, Op, Program, Scope, Semantics, Spaces};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Cells are numbered by the bits of a word.
const MOST_CELLS: usize = 64;

/// No more is learnt of flows once that takes so many bytes, unless another number is given: then the model is asked.
const MOST_BYTES: usize = 1 << 26;

/// The act of a step that memory does not notice.
pub(crate) const NO_ACT: u32 = 0;
/// The act of an exit.
const EXITS: u32 = 1;
/// The act of an instruction on a barrier.
pub(crate) const AT_BARRIER: u32 = 2;
/// The number of the first of all other acts.
const OTHERS: u32 = 3;

/// [`Cells::exits`] of nobody.
pub(crate) const NOBODY_EXITED: u32 = 0;

/// An instruction on memory alone.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Act {
    Access(AccessKind, Vec<LocationId>),
    Fence(Spaces),
    MemoryBarrier(Scope, Semantics),
}

/// What an agent's step is to memory, as far as its agent and its barrier decide that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Course {
    pub(crate) actor: u32,
    pub(crate) act: u32,
    pub(crate) deed: u32,
    pub(crate) turn: u32,
    /// The agent has exited after it.
    pub(crate) exits: bool,
}

/// A generation completed, as far as memory is concerned.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Completion {
    /// The number of the course.
    pub(crate) course: u32,
    /// Who has exited before and after the step: numbers of [`Cells::exits`].
    pub(crate) exits: [u32; 2],
    /// The key of the deed.
    pub(crate) key: u32,
    /// What all others have to do with the barrier, see [`posture`].
    pub(crate) others: Vec<u32>,
}

/// On what it depends what a step does to memory.
#[derive(Clone, Debug)]
pub(crate) enum Cause {
    /// On the number of its course, and on who has exited before.
    Course(u32, u32),
    Completion(Completion),
}

/// The cells, their contents, and what flows do to them.
#[derive(Debug)]
pub(crate) struct Cells {
    holders: memory::Layout,
    program: Arc<Program>,
    /// Where each cell begins, and where the last one ends.
    bounds: Vec<LocationId>,
    /// Number 0 is empty.
    contents: Vec<Numbered<Memory>>,
    acts: Numbered<Act>,
    /// Sets of agents that have exited, as bits. Number 0 is empty.
    exits: Numbered<Vec<u64>>,
    /// What waits acquire. Number 0 is nothing.
    acquired: Numbered<Option<(Scope, Semantics)>>,
    courses: Numbered<Course>,
    completions: FxHashMap<Completion, u32>,
    flows: Numbered<Flow>,
    pub(crate) known: Flows,
    /// For each cell and content, the order of agents by what the content says of each; empty where that was not asked for.
    ranks: Vec<Vec<Box<[u32]>>>,
    bytes: usize,
    /// What flows and completions take of them, and how much of that is enough.
    flow_bytes: usize,
    most_bytes: usize,
}

impl Cells {
    /// Nothing is remembered yet. There are no cells where no access is made. Of flows no more is learnt than has room in some
    /// bytes.
    pub(crate) fn new(holders: memory::Layout, program: Arc<Program>, most_bytes: Option<usize>) -> Self {
        let has_accesses =
            program.roles.iter().flat_map(|role| &role.code.ops).any(|op| matches!(op, Op::Access(..)));
        let locations = if has_accesses { program.locations() } else { 0 };
        let count = locations.min(MOST_CELLS);
        let bounds = (0..=count).map(|cell| LocationId(to_u32(locations * cell / count.max(1)))).collect();
        let mut contents: Vec<Numbered<Memory>> = Vec::new();
        contents.resize_with(count, Numbered::default);
        contents.iter_mut().for_each(|contents| {
            contents.number(&Memory::default(), Memory::clone);
        });
        let mut cells = Self {
            holders,
            program,
            bounds,
            contents,
            acts: Numbered::default(),
            exits: Numbered::default(),
            acquired: Numbered::default(),
            courses: Numbered::default(),
            completions: FxHashMap::default(),
            flows: Numbered::default(),
            known: Flows::new(count),
            ranks: vec![Vec::new(); count],
            bytes: 0,
            flow_bytes: 0,
            most_bytes: most_bytes.unwrap_or(MOST_BYTES),
        };
        cells.acquired.number(&None, Option::clone);
        cells.exits.number(&cells.nobody(), Vec::clone);
        cells.flow(Flow::default());
        cells
    }

    /// How many contents of each cell there are.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        self.contents.iter().map(Numbered::len).collect()
    }

    /// The contents of a cell from a number on.
    pub(crate) fn contents(&self, cell: usize, from: usize) -> impl Iterator<Item = &Memory> {
        self.contents[cell].from(from)
    }

    /// The number of a cell's content.
    pub(crate) fn number(&mut self, cell: usize, content: &Memory) -> u32 {
        let contents = &mut self.contents[cell];
        let before = contents.len();
        let number = contents.number(content, Memory::clone);
        if contents.len() > before {
            // Its hash, and where it is found by that.
            self.bytes += size_of::<Memory>() + content.bytes() + 3 * size_of::<u64>();
        }
        number
    }

    /// The numbers of all cells' contents.
    pub(crate) fn numbers(&mut self, memory: &Memory) -> Vec<u32> {
        if memory.is_empty() {
            return vec![0; self.contents.len()];
        }
        let count = self.contents.len();
        let number = |cell: usize| {
            let content = memory.within(self.bounds[cell], self.bounds[cell + 1]);
            self.number(cell, &content)
        };
        (0..count).map(number).collect()
    }

    /// Memory in a state.
    pub(crate) fn memory<const W: usize>(&self, layout: &Layout, words: &Packed<W>) -> Memory {
        let mut memory = Memory::default();
        if layout.remembers(words) {
            for (field, contents) in layout.cells.iter().zip(&self.contents) {
                memory.append(contents.get(field.get(words)));
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
            Action::Fence(spaces) => Act::Fence(*spaces),
            Action::MemoryBarrier(scope, semantics) => Act::MemoryBarrier(*scope, *semantics),
            _ => return NO_ACT,
        };
        OTHERS + self.acts.number(&act, Act::clone)
    }

    /// Whether an act is an access.
    #[inline]
    pub(crate) fn is_access(&self, act: u32) -> bool {
        act.checked_sub(OTHERS).is_some_and(|act| matches!(self.acts.get(act), Act::Access(..)))
    }

    /// The number of a course, if it has one.
    pub(crate) fn course(&self, course: Course) -> Option<u32> {
        self.courses.find(&course)
    }

    /// The number of a course.
    pub(crate) fn number_course(&mut self, course: Course) {
        self.courses.number(&course, Course::clone);
    }

    /// The flow by which a step changes memory, if that is known.
    #[inline]
    pub(crate) fn find(&self, cause: &Cause) -> Option<u32> {
        match cause {
            Cause::Course(course, exits) => self.known.of_course(*course, *exits),
            Cause::Completion(completion) => self.completions.get(completion).copied(),
        }
    }

    /// Remembers the flow of steps; whether somebody exits at them has to be said.
    pub(crate) fn learn(&mut self, cause: Cause, flow: Flow, somebody_exits: bool) -> u32 {
        // In every state what is settled has been forgotten: see the module.
        let flow = if flow.only_settles() && !somebody_exits { NO_FLOW } else { self.flow(flow) };
        match cause {
            Cause::Course(course, exits) => self.known.learn_course(course, exits, flow),
            Cause::Completion(completion) => {
                let others = completion.others.capacity() * size_of::<u32>();
                self.flow_bytes += size_of::<(Completion, u32)>() + others;
                self.completions.insert(completion, flow);
            }
        }
        flow
    }

    fn flow(&mut self, flow: Flow) -> u32 {
        let known = self.flows.len();
        let number = self.flows.number(&flow, Flow::clone);
        if known < self.flows.len() {
            let cells = flow.accessed().map(|location| self.cell_of(location));
            self.known.learn_accesses(number, cells.fold(0, |cells, cell| cells | 1 << cell));
            self.flow_bytes += size_of::<Flow>() + flow.bytes();
        }
        number
    }

    fn cell_of(&self, location: LocationId) -> usize {
        self.bounds.partition_point(|first| *first <= location) - 1
    }

    /// Whether the state after a flow has room for the cells' contents, if these are known.
    pub(crate) fn fit<const W: usize>(
        &self,
        layout: &Layout,
        (held, words): (u64, &Packed<W>),
        flow: u32,
    ) -> Option<bool> {
        let mut fits = true;
        for cell in bits(held | self.known.accesses(flow)) {
            let field = layout.cells[cell];
            fits &= field.has_room_for(self.known.after(flow, cell, field.get(words))?);
        }
        Some(fits)
    }

    /// Whether no more is learnt of flows.
    pub(crate) fn is_full(&self) -> bool {
        self.flow_bytes + self.known.bytes() > self.most_bytes
    }

    /// Learns what a flow does to the cells of a state, unless an access is in conflict with an earlier one.
    pub(crate) fn learn_flow<const W: usize>(
        &mut self,
        layout: &Layout,
        (held, words): (u64, &Packed<W>),
        flow: u32,
    ) {
        if self.is_full() {
            return;
        }
        let mut learnt = Vec::new();
        for cell in bits(held | self.known.accesses(flow)) {
            let (first, end) = (self.bounds[cell], self.bounds[cell + 1]);
            let before = layout.cells[cell].get(words);
            let mut content = self.contents[cell].get(before).clone();
            let surroundings = (self.holders, &*self.program);
            let among = |location| first <= location && location < end;
            if !self.flows.get(flow).apply(surroundings, &mut content, among) {
                return;
            }
            learnt.push((cell, before, content));
        }
        for (cell, before, content) in learnt {
            let after = self.number(cell, &content);
            self.known.learn_after(flow, cell, before, after);
        }
    }

    /// The number of a cell's content after agents have been renamed: agent `i` becomes `to[i]`.
    pub(crate) fn renamed(&mut self, cell: usize, content: u32, to: &[AgentId]) -> u32 {
        let renamed = self.contents[cell].get(content).renamed(self.holders, to);
        self.number(cell, &renamed)
    }

    /// Makes out the order of agents by what a cell's content says of each (see [`Memory::profile`]), so that [`Cells::ranks`] knows
    /// it.
    pub(crate) fn rank(&mut self, cell: usize, content: u32) {
        let (number, ranks) = (content as usize, &mut self.ranks[cell]);
        if ranks.get(number).is_some_and(|ranks| !ranks.is_empty()) {
            return;
        }
        ranks.resize(ranks.len().max(number + 1), Box::default());
        let (content, agents) = (self.contents[cell].get(content), 0..self.program.agents.len());
        let profiles: Vec<_> =
            agents.map(|agent| content.profile(self.holders, AgentId::from_index(agent))).collect();
        let mut sorted: Vec<_> = profiles.iter().collect();
        sorted.sort_unstable();
        sorted.dedup();
        // Those of whom it says the same have the same rank.
        let rank = |profile| to_u32(sorted.binary_search(&profile).unwrap_or(0));
        ranks[number] = profiles.iter().map(rank).collect();
        self.bytes += size_of::<Box<[u32]>>() + size_of_val(&*ranks[number]);
    }

    /// The order of agents by what a cell's content says of each, once it has been made out.
    pub(crate) fn ranks(&self, cell: usize, content: u32) -> &[u32] {
        &self.ranks[cell][content as usize]
    }

    /// Bytes in use, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let courses = self.courses.len() * 2 * size_of::<Course>();
        let exits = self.exits.len() * self.program.agents.len().div_ceil(64) * size_of::<u64>();
        self.bytes + self.flow_bytes + self.known.bytes() + courses + 6 * exits
    }
}

/// What an agent has to do with a barrier whose generation is completed, as a number: its seat, and what it acquires.
pub(crate) fn posture(seat: Seat, acquired: u32) -> u32 {
    let Seat { arrived, waiting, consumer, notified, produced_last } = seat;
    [arrived, waiting, consumer, notified, produced_last]
        .into_iter()
        .fold(acquired, |posture, bit| posture << 1 | u32::from(bit))
}
