//! What steps do to memory, laid out for [`super::Swift`]; see [`crate::packed::locations`].
//!
//! A generation completed is found by what its agents have to do with the barrier, four bits for each; where
//! that does not do, or somebody has exited by the way, the tables are left to say what it does to memory.

use crate::packed::layout::{Bits, Field, Layout, Packed};
use crate::packed::locations::{Cause, NO_ACT, NOBODY_EXITED};
use crate::packed::numbering::{UNKNOWN, to_u32};
use crate::packed::transformers::{Transformers, bits, held};
use crate::successors::steps::{Effect, Step};
use crate::successors::tables::Tables;
use rustc_hash::FxHashMap;

/// Local effects with a number beyond are left to the tables.
const LOCAL_EFFECTS: usize = 4;
/// Bits that tell apart what agents have to do with a barrier.
const POSTURE: usize = 4;
/// [`Memory::postures`] of a slot that is not known yet.
const NO_POSTURE: u8 = u8::MAX;

/// A generation completed: the memory step, who has exited, the key of the operation class, and what all
/// others have to do with the barrier.
type Completion = (u32, u32, u32, u128);

/// Memory in a state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Held {
    /// The location classes that hold anything.
    location_classes: u64,
    /// Who has exited, as in [`crate::packed::locations`].
    exits: u32,
}

/// What a step is to memory.
#[derive(Clone, Copy, Debug)]
struct ToMemory {
    /// Memory notices it if it holds anything.
    acts: bool,
    /// It is an access.
    accesses: bool,
    /// The memory steps of its first local effects.
    memory_steps: [u32; LOCAL_EFFECTS],
}

/// What steps do to memory, as far as known.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// The bits of all location classes.
    bits: Bits,
    location_classes: Vec<Field>,
    /// As the steps in [`super::Swift`].
    steps: Vec<ToMemory>,
    /// The numbers of sets of agents that have exited.
    exits: FxHashMap<u64, u32>,
    transformers: Transformers,
    completions: FxHashMap<Completion, u32>,
    /// What agents may have to do with barriers, as numbers; the first of them is nothing.
    kinds: Vec<u32>,
    /// By release, class and slot, a number among these.
    postures: Vec<Vec<Vec<u8>>>,
}

impl Memory {
    /// Nothing is known yet.
    pub(super) fn new(layout: &Layout) -> Self {
        let (bits, location_classes) = (layout.memory.clone(), layout.location_classes.clone());
        Self {
            bits,
            transformers: Transformers::new(location_classes.len()),
            location_classes,
            kinds: vec![0],
            ..Self::default()
        }
    }

    /// Whether nothing is ever accessed.
    #[inline(always)]
    pub(super) fn is_none(&self) -> bool {
        self.location_classes.is_empty()
    }

    /// Whether memory holds anything.
    #[inline(always)]
    pub(super) fn is_held<const W: usize>(&self, words: &Packed<W>) -> bool {
        self.bits.are_set(words)
    }

    /// Memory in a state, given the agents that have exited, if these are known.
    #[inline]
    pub(super) fn held<const W: usize>(
        &self,
        words: &Packed<W>,
        exited: impl Iterator<Item = usize>,
    ) -> Option<Held> {
        Some(Held { location_classes: held(&self.location_classes, words), exits: self.exits(exited)? })
    }

    fn exits(&self, exited: impl Iterator<Item = usize>) -> Option<u32> {
        match set(exited)? {
            0 => Some(NOBODY_EXITED),
            set => self.exits.get(&set).copied(),
        }
    }

    /// Changes memory as a step does, if that is known. Where it completes a generation, the key of its
    /// operation class and what all others have to do with the barrier have to be said. If only abstract
    /// values of location classes are not known, the number of the transformer is noted.
    #[inline]
    pub(super) fn carry<const W: usize>(
        &self,
        held: Held,
        (step, local_effect): (u32, u32),
        completion: Option<(u32, u128)>,
        next: &mut Packed<W>,
        missing: &mut Option<u32>,
    ) -> Option<()> {
        let step = &self.steps[step as usize];
        if !step.concerns(held) {
            return Some(());
        }
        let memory_step = *step.memory_steps.get(local_effect as usize)?;
        let transformer = match completion {
            None => self.transformers.of_step(memory_step, held.exits)?,
            Some((key, others)) => *self.completions.get(&(memory_step, held.exits, key, others))?,
        };
        let known = self.transformers.apply(&self.location_classes, held.location_classes, transformer, next);
        if known.is_none() {
            *missing = Some(transformer);
        }
        known
    }

    /// What an agent of a class in a slot has to do with the barrier of a release, as the bits in its place,
    /// if that is known.
    #[inline]
    pub(super) fn posture(&self, release: u32, class: u32, slot: u32, place: usize) -> Option<u128> {
        let classes = self.postures.get(release as usize)?.get(class as usize)?;
        let posture = *classes.get(slot as usize).filter(|posture| **posture != NO_POSTURE)?;
        // An agent that has nothing to do with it may have any place.
        if posture > 0 && place >= u128::BITS as usize / POSTURE {
            return None;
        }
        Some(u128::from(posture).checked_shl(to_u32(place * POSTURE)).unwrap_or(0))
    }

    /// Adds a step.
    pub(super) fn add_step(&mut self, tables: &Tables, step: &Step) {
        if self.is_none() {
            return;
        }
        let (acts, accesses) = (step.act != NO_ACT, tables.location_classes.is_access(step.act));
        self.steps.push(ToMemory { acts, accesses, memory_steps: [UNKNOWN; LOCAL_EFFECTS] });
    }

    /// Takes over what the tables know of who has exited; memory in the state, if that is all known.
    pub(super) fn learn_held<const W: usize>(
        &mut self,
        tables: &Tables,
        layout: &Layout,
        words: &Packed<W>,
    ) -> Option<Held> {
        let set = set(tables.exited(layout, words))?;
        let exits = tables.location_classes.exits(tables.exited(layout, words))?;
        self.exits.insert(set, exits);
        Some(Held { location_classes: held(&self.location_classes, words), exits })
    }

    /// Takes over what the tables know of a step's transformer, given the state after it, and what the others
    /// have to do with the barrier where it completes a generation.
    pub(super) fn learn<const W: usize>(
        &mut self,
        (tables, layout): (&Tables, &Layout),
        (words, next): (&Packed<W>, &Packed<W>),
        held: Held,
        number: u32,
        (acts, known): ((usize, u32), &Step),
        (effect, key, others): (&Effect, u32, Option<u128>),
    ) {
        if !self.steps[number as usize].concerns(held) {
            return;
        }
        let found = tables.cause(layout, (words, held.exits), acts, known, (effect, key), next);
        let Some((cause, transformer)) = found
            .and_then(|cause| tables.location_classes.find(&cause).map(|transformer| (cause, transformer)))
        else {
            return;
        };
        let memory_step = match cause {
            Cause::MemoryStep(memory_step, exits) => {
                self.transformers.learn_step(memory_step, exits, transformer);
                memory_step
            }
            Cause::Completion(completion) => {
                // Who has exited after it is not looked at here.
                let Some(others) = others.filter(|_| completion.exits[0] == completion.exits[1]) else {
                    return;
                };
                self.completions.insert((completion.memory_step, held.exits, key, others), transformer);
                completion.memory_step
            }
        };
        if let Some(known) = self.steps[number as usize].memory_steps.get_mut(effect.local_effect as usize) {
            *known = memory_step;
        }
        self.learn_transformer(tables, words, transformer);
    }

    /// Takes over what the tables know of what a transformer does to the location classes of a state.
    pub(super) fn learn_transformer<const W: usize>(
        &mut self,
        tables: &Tables,
        words: &Packed<W>,
        transformer: u32,
    ) {
        let known = &tables.location_classes.known;
        self.transformers.learn_accesses(transformer, known.accesses(transformer));
        for location_class in bits(held(&self.location_classes, words) | known.accesses(transformer)) {
            let value = self.location_classes[location_class].get(words);
            let after = known.after(transformer, location_class, value);
            if let Some(after) =
                after.filter(|after| self.location_classes[location_class].has_room_for(*after))
            {
                self.transformers.learn_after(transformer, location_class, value, after);
            }
        }
    }

    /// Takes over what an agent in a slot has to do with the barrier of a release, unless it has exited after
    /// that.
    pub(super) fn learn_posture(
        &mut self,
        tables: &Tables,
        release: u32,
        class: usize,
        (slot, after): (u32, u32),
    ) {
        if self.is_none() {
            return;
        }
        let rows = &tables.classes[class].rows;
        if rows.get(after as usize).is_none_or(|row| row.exited) && slot != after {
            return;
        }
        let posture = tables.posture(release, class, slot);
        let kind = self.kinds.iter().position(|kind| *kind == posture).unwrap_or_else(|| {
            self.kinds.push(posture);
            self.kinds.len() - 1
        });
        let Some(kind) = u8::try_from(kind).ok().filter(|kind| *kind < 1 << POSTURE) else { return };
        let (release, slot) = (release as usize, slot as usize);
        self.postures.resize_with(self.postures.len().max(release + 1), Vec::new);
        let classes = &mut self.postures[release];
        classes.resize_with(classes.len().max(class + 1), Vec::new);
        let slots = &mut classes[class];
        slots.resize(slots.len().max(slot + 1), NO_POSTURE);
        slots[slot] = kind;
    }

    /// Bytes in use, roughly.
    pub(super) fn bytes(&self) -> usize {
        let slots = self.postures.iter().flatten().map(Vec::capacity).sum::<usize>();
        self.steps.capacity() * size_of::<ToMemory>()
            + self.exits.capacity() * size_of::<(u64, u32)>()
            + self.transformers.bytes()
            + self.completions.capacity() * size_of::<(Completion, u32)>()
            + slots
    }
}

impl ToMemory {
    #[inline(always)]
    fn concerns(&self, held: Held) -> bool {
        self.acts && (held.location_classes != 0 || self.accesses)
    }
}

/// A set of agents as bits; `None` if they are too many.
fn set(mut agents: impl Iterator<Item = usize>) -> Option<u64> {
    agents.try_fold(0, |set, agent| (agent < 64).then_some(set | 1 << (agent % 64)))
}
