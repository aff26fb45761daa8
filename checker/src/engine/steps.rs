//! What has been learnt of steps, in flat tables: the search looks here for every step of every state.

use super::layout::BarrierField;
use super::numbering::{UNKNOWN, to_u32};

/// On what a step's effect depends, besides the agent's own slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// The state of the step's barrier, if it has one.
    Barrier,
    /// That, and how many agents have exited.
    BarrierAndExits,
    /// It is an exit: on nothing, as long as no barrier waits for it.
    Exit,
}

/// A step: a move of an agent in a slot, and a pick.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) key: Key,
    pub(super) barrier: BarrierField,
    /// The groups in which the agent stands when it is about to make the step, or [`super::races::NOBODY`].
    pub(super) standing: [u32; 2],
    /// Where its effects are, by the state of the barrier (and the exits) on which they depend.
    first: u32,
    count: u32,
}

/// A remembered effect of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    /// The agent's slot afterwards; [`UNKNOWN`] as long as nothing is remembered.
    pub(super) slot: u32,
    /// The state afterwards of the barrier on which the effect depends.
    pub(super) barrier: u32,
    /// The generation completed: a number in [`super::tables::Tables::releases`], or [`UNKNOWN`] if none. Every other
    /// agent's slot changes as [`super::tables::Release::after`] says.
    pub(super) release: u32,
    /// As many agents at most may stand in the step's groups before the barrier, in the state in which it is.
    pub(super) room: [u16; 2],
}

impl Effect {
    /// Nothing is remembered.
    const NONE: Self = Self { slot: UNKNOWN, barrier: 0, release: UNKNOWN, room: [0; 2] };
}

/// Every step of every slot.
#[derive(Debug, Default)]
pub(super) struct Steps {
    steps: Vec<Step>,
    effects: Vec<Effect>,
}

impl Steps {
    /// The number of the step that is added next.
    pub(super) fn next(&self) -> u32 {
        to_u32(self.steps.len())
    }

    /// Adds the steps of a move, one for each pick, and returns the number of the first.
    pub(super) fn add(&mut self, (key, barrier): (Key, BarrierField), standing: [u32; 2], picks: u32) -> u32 {
        let number = self.next();
        let step = Step { key, barrier, standing, first: 0, count: 0 };
        self.steps.resize(self.steps.len() + picks as usize, step);
        number
    }

    #[inline]
    pub(super) fn get(&self, step: u32) -> &Step {
        &self.steps[step as usize]
    }

    /// Steps in a row.
    #[inline]
    pub(super) fn run(&self, first: u32, count: u32) -> &[Step] {
        &self.steps[first as usize..(first + count) as usize]
    }

    /// What is remembered of a step under a key.
    #[inline]
    pub(super) fn effect(&self, step: &Step, key: u32) -> Option<&Effect> {
        if key >= step.count {
            return None;
        }
        self.effects.get((step.first + key) as usize).filter(|effect| effect.slot != UNKNOWN)
    }

    /// Remembers the effect of a step under a key.
    pub(super) fn remember(&mut self, step: u32, key: u32, effect: Effect) {
        let step = &mut self.steps[step as usize];
        if key >= step.count {
            // The effects move to the end; doubling keeps the places left behind fewer than those in use.
            let old = step.first as usize..(step.first + step.count) as usize;
            let count = (key + 1).next_power_of_two();
            let first = self.effects.len();
            self.effects.extend_from_within(old);
            self.effects.resize(first + count as usize, Effect::NONE);
            (step.first, step.count) = (to_u32(first), count);
        }
        self.effects[(step.first + key) as usize] = effect;
    }

    /// Forgets all effects: what the model says besides will be said again.
    pub(super) fn forget_effects(&mut self) {
        self.effects.clear();
        self.steps.iter_mut().for_each(|step| (step.first, step.count) = (0, 0));
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.steps.capacity() * size_of::<Step>() + self.effects.capacity() * size_of::<Effect>()
    }
}
