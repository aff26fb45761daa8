//! The successors of most states, by additions.
//!
//! What [`crate::successors::steps`] remembers is laid out here once more, for each agent by itself and for
//! the layout in use: the local effect of a step adds a number to the word with the agent's field, and its
//! operation class one to the word with the barrier's field. That is the same as setting both fields, since
//! each number is the difference between two values that the field holds: nothing is carried out of it.
//!
//! How many agents stand at arrivals is counted for all groups (see [`crate::successors::races`]) in one
//! word: each group has a field, wide enough for twice as many agents as there are, with one bit more, its
//! guard. An operation class carries the room of its groups in the same form, with all guards set, and the
//! most that a field holds for every other group. Subtracting the counts clears the guard of just those
//! groups in which more stand than there is room for; no field borrows from the next.
//!
//! What a step does to memory, where memory holds anything or is accessed, is looked up for each location
//! class: see [`memory`].
//!
//! This is a cache of what the tables say and adds nothing to it. It is filled from states that the tables
//! have been asked about; whatever is missing, or does not fit a field, leads back to the tables. It holds
//! for one layout, and needs nothing else, so that threads may have copies.
//!
//! What the tables say of a slot, of a state of a barrier or of a residual never changes. Who may have a seat
//! at a barrier is known before the slot with that seat has a number; a slot is not known here unless it has
//! been taken over, and all seats are taken over before it. So no agent is left out when a generation is
//! completed.

mod learn;
mod on_memory;

use crate::packed::batch::Batch;
use crate::packed::layout::{Field, Layout, Packed, bits};
use crate::packed::numbering::UNKNOWN;
use crate::successors::tables::Tables;
use on_memory::{Held, Memory};

/// No more is taken over once it takes so many bytes: it would leave the caches, for which it is made.
const MOST_BYTES: usize = 1 << 25;

/// [`Change::release`] of a step that completes no generation.
const NONE: u32 = u32::MAX;
/// [`Change::release`] of an exit: it completes none unless some barrier depends on exits.
const EXIT: u32 = u32::MAX - 1;
/// [`Row::count`] of a slot about which nothing is known here.
const NO_ROW: u32 = 1 << 24;

/// Most operation classes have no more local effects: whoever arrives waits, or completes the generation.
const LOCAL_EFFECTS: usize = 2;
/// Local effects with a number beyond are left to the tables.
const MOST_LOCAL_EFFECTS: u32 = 32;

/// An agent's field, and a row for each of its slots, as far as known.
#[derive(Clone, Debug)]
struct Agent {
    field: Field,
    rows: Vec<Row>,
}

/// What every state's successors need to know of an agent in a slot.
#[derive(Clone, Copy, Debug)]
struct Row {
    /// 1 in the field of each group in which the agent stands.
    standing: u64,
    /// Its steps.
    first: u32,
    /// How many; [`NO_ROW`] if the row is not filled.
    count: u32,
    /// 1 if the agent has exited.
    exited: u32,
    /// Some step accesses memory.
    accesses: bool,
}

/// A step of an agent in a slot: a line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct SwiftStep {
    barrier: Field,
    /// What its operation class does is kept under the state of its barrier times this, plus, if all bits of
    /// `exits` are set, the agents exited; else none is.
    times: u32,
    exits: u32,
    /// Where that is.
    first: u32,
    count: u32,
    agent: u32,
    /// A bit for each local effect that is known.
    known: u32,
    /// What the first local effects do to the agent's field.
    local_effects: [Add; LOCAL_EFFECTS],
}

/// What need not be looked at often of a step.
#[derive(Clone, Copy, Debug)]
struct Origin {
    operation: u32,
    /// Where its further local effects are.
    local_effects: u32,
}

/// What is added to a state. Where states have more than two words, to the word with the field concerned, and
/// the other number means nothing; else to the first word and to the second.
type Add = [u64; 2];

/// What an operation class does to its barrier under a key.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// For the barrier's field.
    add: Add,
    /// The room of its groups, see the module; 0, with no guard set, if nothing is known.
    room: u64,
    /// The generation completed, in [`Tables::releases`].
    release: u32,
    /// What it comes to for the agent.
    local_effect: u32,
}

/// Where the changes of an operation class are, by key, and the steps that are this operation class.
#[derive(Clone, Debug, Default)]
struct Operation {
    first: u32,
    count: u32,
    steps: Vec<u32>,
}

/// The completion of a generation, see [`crate::successors::tables::Release`].
#[derive(Clone, Debug, Default)]
struct Released {
    field: usize,
    after: Vec<Vec<u32>>,
}

/// What is needed for a state.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// Room for its steps, so that it need not be found for each anew.
    ready: Vec<u32>,
    /// A transformer (see [`crate::packed::locations`]) of which it is not known what it does to the abstract
    /// values of the state's location classes.
    missing: Option<u32>,
}

impl Scratch {
    /// The transformer that was missing at the state, if nothing else was.
    pub(crate) fn missing(&mut self) -> Option<u32> {
        self.missing.take()
    }
}

/// What is known of the steps of each agent, for one layout.
#[derive(Clone, Debug, Default)]
pub(crate) struct Swift {
    agents: Vec<Agent>,
    steps: Vec<SwiftStep>,
    /// For each step.
    origins: Vec<Origin>,
    /// What the further local effects of steps do.
    local_effects: Vec<Add>,
    /// As in [`crate::successors::steps`].
    operations: Vec<Operation>,
    changes: Vec<Change>,
    /// The width of a group's field, the guard included.
    width: u32,
    /// The guards of all fields.
    guards: u64,
    residual: Field,
    memory: Memory,
    /// As in [`Tables`], as far as known.
    quiet: Vec<bool>,
    /// For each barrier, whether its states depend on exits, as far as known.
    depends_on_exits: Vec<(Field, Vec<bool>)>,
    /// As in [`Tables`].
    seated: Vec<Vec<(u32, u32)>>,
    /// As in [`Tables`], as far as known, and how many slots they speak of.
    releases: Vec<Released>,
    afters: usize,
}

impl Swift {
    /// Knows nothing yet.
    pub(crate) fn new(layout: &Layout) -> Self {
        let agents = layout.agents.iter().map(|field| Agent { field: *field, rows: Vec::new() });
        // Every agent may stand in two groups, which may be the same.
        let width = bits(2 * layout.agents.len() + 1) + 1;
        let guards = (1..=64 / width).fold(0, |guards, field| guards | 1 << (field * width - 1));
        let depends_on_exits = layout.barriers.iter().map(|field| (*field, Vec::new())).collect();
        let (agents, residual, memory) = (agents.collect(), layout.residual, Memory::new(layout));
        Self { agents, width, guards, residual, memory, depends_on_exits, ..Self::default() }
    }

    /// Adds every successor of a state, if all that is needed to make them is known and no rule about states
    /// may be violated in it; otherwise nothing.
    #[inline(always)]
    pub(crate) fn successors<const W: usize>(
        &self,
        words: &Packed<W>,
        scratch: &mut Scratch,
        batch: &mut Batch<W>,
    ) -> Option<()> {
        if self.memory.is_none() {
            self.successors_with::<W, false>(words, scratch, batch)
        } else {
            self.successors_with::<W, true>(words, scratch, batch)
        }
    }

    /// The same, with memory or without.
    #[inline(never)]
    fn successors_with<const W: usize, const MEMORY: bool>(
        &self,
        words: &Packed<W>,
        Scratch { ready, missing }: &mut Scratch,
        batch: &mut Batch<W>,
    ) -> Option<()> {
        if self.quiet.get(self.residual.get(words) as usize) != Some(&true) {
            return None;
        }
        if ready.len() < self.agents.len() {
            ready.resize(self.agents.len(), 0);
        }
        let (mut count, mut standing, mut exited) = (0, 0_u64, 0);
        let mut remembers = MEMORY && self.memory.is_held(words);
        for agent in &self.agents {
            let row = agent.rows.get(agent.field.get(words) as usize)?;
            standing = standing.wrapping_add(row.standing);
            exited += row.exited;
            remembers |= MEMORY && row.accesses;
            ready[count] = row.first;
            count += usize::from(row.count > 0);
            if row.count > 1 {
                count = self.further(row, ready, count)?;
            }
        }
        if count == 0 {
            return None;
        }
        let held =
            if MEMORY && remembers { Some(self.memory.held(words, self.exited(words))?) } else { None };
        for (next, at) in batch.room(count).iter_mut().zip(&ready[..count]) {
            let step = &self.steps[*at as usize];
            let change = self.change(step, step.barrier.get(words), exited)?;
            // Whether the change is known, and no more agents stand in the step's groups than there is room
            // for.
            if change.room.wrapping_sub(standing) & change.room & self.guards != self.guards {
                return None;
            }
            let local_effect = self.local_effect((step, *at), change.local_effect)?;
            *next = if change.release == NONE {
                self.changed(words, step, change, local_effect)
            } else {
                self.completed(words, step, change, local_effect)?
            };
            if MEMORY && let Some(held) = held {
                self.carry(words, (step, *at), (change, exited), held, (next, missing))?;
            }
        }
        batch.add(count);
        Some(())
    }

    /// The agents that have exited.
    fn exited<const W: usize>(&self, words: &Packed<W>) -> impl Iterator<Item = usize> {
        let agents = self.agents.iter().enumerate();
        let exited = |agent: &Agent| {
            agent.rows.get(agent.field.get(words) as usize).is_some_and(|row| row.exited == 1)
        };
        agents.filter(move |(_, agent)| exited(agent)).map(|(agent, _)| agent)
    }

    /// Changes memory in the state after a step, if what the step does to it is known.
    #[inline]
    fn carry<const W: usize>(
        &self,
        words: &Packed<W>,
        (step, at): (&SwiftStep, u32),
        (change, exited): (&Change, u32),
        held: Held,
        (next, missing): (&mut Packed<W>, &mut Option<u32>),
    ) -> Option<()> {
        let completion = if change.release >= EXIT {
            None
        } else {
            let key = Self::key(step, step.barrier.get(words), exited);
            Some((key, self.others(words, step.agent, change.release)?))
        };
        self.memory.carry(held, (at, change.local_effect), completion, next, missing)
    }

    /// Takes over what the tables know of what a transformer does to the location classes of a state, unless
    /// too much is known already.
    pub(crate) fn learn_transformer<const W: usize>(
        &mut self,
        tables: &Tables,
        words: &Packed<W>,
        transformer: u32,
    ) -> bool {
        let has_room = self.bytes() <= MOST_BYTES;
        if has_room {
            self.memory.learn_transformer(tables, words, transformer);
        }
        has_room
    }

    /// What all but the one that acts have to do with the barrier whose generation is completed.
    fn others<const W: usize>(&self, words: &Packed<W>, actor: u32, release: u32) -> Option<u128> {
        let field = self.releases.get(release as usize)?.field;
        let seated = self.seated.get(field)?.iter().enumerate();
        seated.filter(|(_, (agent, _))| *agent != actor).try_fold(0, |others, (place, (agent, class))| {
            let slot = self.agents[*agent as usize].field.get(words);
            Some(others | self.memory.posture(release, *class, slot, place)?)
        })
    }

    /// Notes the further steps of an agent that has several, if that is known; how many there are now.
    #[inline(never)]
    fn further(&self, row: &Row, ready: &mut Vec<u32>, mut count: usize) -> Option<usize> {
        if row.count == NO_ROW {
            return None;
        }
        // Each agent that comes later has room for its first one.
        ready.resize(ready.len().max(count + row.count as usize + self.agents.len()), 0);
        for step in row.first + 1..row.first + row.count {
            ready[count] = step;
            count += 1;
        }
        Some(count)
    }

    /// The state after a step that concerns no more than its agent and its barrier.
    #[inline(always)]
    fn changed<const W: usize>(
        &self,
        words: &Packed<W>,
        step: &SwiftStep,
        change: &Change,
        local_effect: &Add,
    ) -> Packed<W> {
        let mut next = *words;
        if W > 2 {
            self.agents[step.agent as usize].field.add(&mut next, local_effect[0]);
            step.barrier.add(&mut next, change.add[0]);
        } else {
            next[0] = next[0].wrapping_add(change.add[0]).wrapping_add(local_effect[0]);
            if W == 2 {
                next[W - 1] = next[W - 1].wrapping_add(change.add[1]).wrapping_add(local_effect[1]);
            }
        }
        next
    }

    /// Under which key a step's change is kept.
    #[inline(always)]
    fn key(step: &SwiftStep, barrier: u32, exited: u32) -> u32 {
        barrier * step.times + (exited & step.exits)
    }

    #[inline(always)]
    fn change(&self, step: &SwiftStep, barrier: u32, exited: u32) -> Option<&Change> {
        let key = Self::key(step, barrier, exited);
        if key >= step.count { None } else { self.changes.get((step.first + key) as usize) }
    }

    #[inline(always)]
    fn local_effect<'s>(&'s self, (step, at): (&'s SwiftStep, u32), local_effect: u32) -> Option<&'s Add> {
        if step.known >> (local_effect % MOST_LOCAL_EFFECTS) & 1 == 0 {
            return None;
        }
        step.local_effects.get(local_effect as usize).or_else(|| self.further_effect(at, local_effect))
    }

    #[inline(never)]
    fn further_effect(&self, step: u32, local_effect: u32) -> Option<&Add> {
        self.local_effects
            .get(self.origins[step as usize].local_effects as usize + local_effect as usize - LOCAL_EFFECTS)
    }

    /// The state after a step that completes a generation or may do so; `None` if what that does to the other
    /// agents is not all known.
    #[inline(never)]
    fn completed<const W: usize>(
        &self,
        words: &Packed<W>,
        step: &SwiftStep,
        change: &Change,
        local_effect: &Add,
    ) -> Option<Packed<W>> {
        let mut next = self.changed(words, step, change, local_effect);
        if change.release == EXIT {
            let may_depend = |(field, depends): &(Field, Vec<bool>)| {
                depends.get(field.get(words) as usize) != Some(&false)
            };
            return (!self.depends_on_exits.iter().any(may_depend)).then_some(next);
        }
        let release = self.releases.get(change.release as usize)?;
        for (agent, class) in self.seated.get(release.field)? {
            if *agent == step.agent {
                continue;
            }
            let field = self.agents[*agent as usize].field;
            let slot = field.get(words);
            let after = release.after.get(*class as usize)?.get(slot as usize).copied();
            field.change(&mut next, slot, after.filter(|after| *after != UNKNOWN)?);
        }
        Some(next)
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        let rows: usize = self.agents.iter().map(|agent| agent.rows.capacity()).sum();
        let depends: usize = self.depends_on_exits.iter().map(|(_, depends)| depends.capacity()).sum();
        rows * size_of::<Row>()
            + self.steps.capacity() * size_of::<SwiftStep>()
            + self.local_effects.capacity() * size_of::<Add>()
            + self.origins.capacity() * (size_of::<Origin>() + size_of::<u32>())
            + self.changes.capacity() * size_of::<Change>()
            + self.operations.capacity() * size_of::<Operation>()
            + self.afters * size_of::<u32>()
            + self.quiet.capacity()
            + self.memory.bytes()
            + depends
    }
}

impl Change {
    const UNKNOWN: Self = Self { add: [0; 2], room: 0, release: NONE, local_effect: 0 };
}
