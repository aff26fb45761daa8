//! What has been learnt of steps, in flat tables: the search looks here for every step of every state.
//!
//! What a step does to its barrier, and whether the agent goes on, is decided by the instruction with its
//! operands, by the agent's seat at the barrier and by the barrier's state: an *operation class* under a key.
//! Steps in other slots that are the same operation class need not be asked about again: in a loop over tiles
//! that is every round. What it comes to for the agent is one of a few *local effects*; where a local effect
//! leads is up to the agent's own slot, and is remembered with the step.

use crate::packed::layout::BarrierField;
use crate::packed::numbering::{UNKNOWN, to_u32};
use crate::packed::rows::put;
use barcheck_model::agent::BarrierAction;
use barcheck_model::barrier::{BarrierId, Seat};
use barcheck_model::rule::Rule;
use rustc_hash::FxHashMap;

/// On what a step's effect depends, besides the agent's own slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    /// The state of the step's barrier, if it has one.
    Barrier,
    /// That, and how many agents have exited.
    BarrierAndExits,
    /// It is an exit: on nothing, as long as no barrier waits for it.
    Exit,
}

/// The operation class of steps that concern nothing but the agent's own slot, and that of exits for which no
/// barrier waits.
pub(crate) const OWN: u32 = 0;
pub(crate) const EXIT: u32 = 1;
/// Their only local effect.
pub(crate) const ALONE: u32 = 0;
/// The number of the first of all other operation classes.
pub(crate) const OTHERS: u32 = 2;

/// Operation classes at one barrier from one seat among which the same one is looked for, at most.
const MOST_ALIKE: usize = 64;

/// An instruction on a barrier with its operands and pick, from a seat.
#[derive(Debug)]
struct Operation {
    action: BarrierAction,
    pick: u32,
    /// What it came to for the agent so far.
    local_effects: Vec<LocalEffect>,
    /// Where its effects are, by the state of the barrier (and the exits) on which they depend.
    first: u32,
    count: u32,
}

/// What an operation class comes to for the agent: all on which its slot afterwards depends, besides the slot
/// before and the move, and all on which it depends what the operation class is to memory (see
/// [`crate::packed::locations::MemoryStep`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LocalEffect {
    pub(crate) seat: Seat,
    pub(crate) blocks: bool,
    /// What it answers to whoever asks for a completion.
    pub(crate) answer: Option<bool>,
    /// Nobody has yet to wait for a generation completed: then what it carries is forgotten
    /// (`split_barrier`).
    pub(crate) last: bool,
    /// As in [`Effect::release`].
    pub(crate) release: u32,
    /// What is found at such a step about the agent alone: where the local effect of a step is known, it has
    /// been found there.
    pub(crate) noted: Vec<(Rule, Option<BarrierId>)>,
}

/// A step: a move of an agent in a slot, and a pick.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) key: Key,
    pub(crate) barrier: BarrierField,
    /// The groups in which the agent stands when it is about to make the step, or
    /// [`crate::successors::races::NOBODY`].
    pub(crate) standing: [u32; 2],
    /// Its operation class.
    pub(crate) operation: u32,
    /// What it does to memory, see [`crate::packed::locations`].
    pub(crate) act: u32,
    /// Where the slots are to which its local effects lead.
    first: u32,
    count: u32,
}

/// A remembered effect of an operation class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    /// The number of the local effect among those of the operation class; [`UNKNOWN`] as long as nothing is
    /// remembered.
    pub(crate) local_effect: u32,
    /// The state afterwards of the barrier on which the effect depends.
    pub(crate) barrier: u32,
    /// The generation completed: a number in [`crate::successors::tables::Tables::releases`], or [`UNKNOWN`]
    /// if none. Every other agent's slot changes as [`crate::successors::tables::Release::after`] says.
    pub(crate) release: u32,
    /// As many agents at most may stand in the step's groups before the barrier, in the state in which it is.
    pub(crate) room: [u16; 2],
}

impl Effect {
    /// Nothing is remembered.
    const NONE: Self = Self { local_effect: UNKNOWN, barrier: 0, release: UNKNOWN, room: [0; 2] };
    /// Of [`OWN`] and [`EXIT`].
    const ALONE: Self = Self { local_effect: ALONE, barrier: 0, release: UNKNOWN, room: [u16::MAX; 2] };
}

/// Every step of every slot.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    steps: Vec<Step>,
    slots: Vec<u32>,
    /// From number [`OTHERS`] on.
    operations: Vec<Operation>,
    /// Operation classes that may be the same.
    alike: FxHashMap<(BarrierId, Seat), Vec<u32>>,
    effects: Vec<Effect>,
}

impl Steps {
    /// The number of the step that is added next.
    pub(crate) fn next(&self) -> u32 {
        to_u32(self.steps.len())
    }

    /// Adds the steps of a move, one for each pick, each with its operation class, and with their act, and
    /// returns the number of the first.
    pub(crate) fn add(
        &mut self,
        (key, barrier): (Key, BarrierField),
        standing: [u32; 2],
        (operations, act): (Vec<u32>, u32),
    ) -> u32 {
        let number = self.next();
        self.steps.extend(operations.into_iter().map(|operation| Step {
            key,
            barrier,
            standing,
            operation,
            act,
            first: 0,
            count: 0,
        }));
        number
    }

    /// The operation class of an action with a pick, from a seat.
    pub(crate) fn operation(&mut self, action: &BarrierAction, pick: u32, seat: Seat) -> u32 {
        let alike = self.alike.entry((action.barrier(), seat)).or_default();
        let operations = &self.operations;
        let is_it = |number: &&u32| {
            let operation = &operations[(**number - OTHERS) as usize];
            operation.pick == pick && operation.action == *action
        };
        if let Some(known) = alike.iter().find(is_it) {
            return *known;
        }
        let number = OTHERS + to_u32(self.operations.len());
        self.operations.push(Operation {
            action: action.clone(),
            pick,
            local_effects: Vec::new(),
            first: 0,
            count: 0,
        });
        // One that is not found again is asked about again.
        if alike.len() < MOST_ALIKE {
            alike.push(number);
        }
        number
    }

    #[inline]
    pub(crate) fn get(&self, step: u32) -> &Step {
        &self.steps[step as usize]
    }

    /// Steps in a row.
    #[inline]
    pub(crate) fn run(&self, first: u32, count: u32) -> &[Step] {
        &self.steps[first as usize..(first + count) as usize]
    }

    /// What is remembered of a step under a key, and the agent's slot afterwards.
    #[inline]
    pub(crate) fn effect(&self, step: &Step, key: u32) -> Option<(&Effect, u32)> {
        let effect = self.effect_of(step.operation, key)?;
        Some((effect, self.slot(step, effect.local_effect)?))
    }

    /// What is remembered of an operation class under a key.
    #[inline]
    fn effect_of(&self, operation: u32, key: u32) -> Option<&Effect> {
        let Some(number) = operation.checked_sub(OTHERS) else { return Some(&Effect::ALONE) };
        let operation = &self.operations[number as usize];
        if key >= operation.count {
            return None;
        }
        self.effects.get((operation.first + key) as usize).filter(|effect| effect.local_effect != UNKNOWN)
    }

    /// Where a local effect of a step leads.
    #[inline]
    pub(crate) fn slot(&self, step: &Step, local_effect: u32) -> Option<u32> {
        if local_effect >= step.count {
            return None;
        }
        self.slots.get((step.first + local_effect) as usize).copied().filter(|slot| *slot != UNKNOWN)
    }

    /// How many local effects of a step there are, known or not.
    pub(crate) fn local_effects(step: &Step) -> u32 {
        step.count
    }

    /// The number of a local effect of an operation class, which is made if it is new.
    pub(crate) fn local_effect(&mut self, operation: u32, local_effect: LocalEffect) -> u32 {
        let Some(number) = operation.checked_sub(OTHERS) else { return ALONE };
        let local_effects = &mut self.operations[number as usize].local_effects;
        let known = local_effects.iter().position(|known| *known == local_effect);
        to_u32(known.unwrap_or_else(|| {
            local_effects.push(local_effect);
            local_effects.len() - 1
        }))
    }

    /// Remembers the effect of a step under a key, and the agent's slot afterwards.
    pub(crate) fn remember(&mut self, step: u32, key: u32, effect: Effect, slot: u32) {
        let step = &mut self.steps[step as usize];
        put(&mut self.slots, (&mut step.first, &mut step.count), effect.local_effect, slot, UNKNOWN);
        let operation = step.operation;
        // What an operation class does under a key is the same in every slot.
        let known = self.effect_of(operation, key).copied();
        debug_assert!(known.is_none_or(|known| known == effect), "{known:?}, {effect:?}");
        if let Some(number) = operation.checked_sub(OTHERS) {
            let operation = &mut self.operations[number as usize];
            put(&mut self.effects, (&mut operation.first, &mut operation.count), key, effect, Effect::NONE);
        }
    }

    /// Forgets all effects: what the model says besides will be said again.
    pub(crate) fn forget_effects(&mut self) {
        self.effects.clear();
        self.slots.clear();
        self.steps.iter_mut().for_each(|step| (step.first, step.count) = (0, 0));
        self.operations.iter_mut().for_each(|operation| (operation.first, operation.count) = (0, 0));
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        // An operation class is found again by a list of numbers, and has a local effect or two.
        self.steps.capacity() * size_of::<Step>()
            + self.slots.capacity() * size_of::<u32>()
            + self.operations.capacity()
                * (size_of::<Operation>() + 2 * size_of::<LocalEffect>() + 2 * size_of::<u32>())
            + self.effects.capacity() * size_of::<Effect>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::locations::{AT_BARRIER, NO_ACT};
    use barcheck_model::barrier::{Token, bcu, nbarrier};

    const SEAT: Seat = Seat {
        arrived: true,
        waiting: false,
        consumer: false,
        notified: false,
        produced_last: false,
        token: Token::None,
    };

    fn local_effect(seat: Seat, noted: &[Rule]) -> LocalEffect {
        let noted = noted.iter().map(|rule| (*rule, None)).collect();
        LocalEffect { seat, blocks: false, answer: None, last: false, release: UNKNOWN, noted }
    }

    #[test]
    fn what_one_slot_has_met_another_one_knows_once_its_turn_is_known() {
        let mut steps = Steps::default();
        let wait = BarrierAction::from(nbarrier::Action::Wait(BarrierId(1)));
        let operation = steps.operation(&wait, 0, Seat::default());
        assert_eq!(operation, steps.operation(&wait, 0, Seat::default()));
        let field = (Key::Barrier, BarrierField::of(0));
        let [one, other] = [0, 0].map(|_| steps.add(field, [0; 2], (vec![operation], AT_BARRIER)));
        let local_effects = [
            local_effect(SEAT, &[]),
            local_effect(SEAT, &[Rule::ReservedBarrier]),
            local_effect(Seat::default(), &[]),
        ]
        .map(|local_effect| steps.local_effect(operation, local_effect));
        assert_eq!(local_effects, [0, 1, 2]);
        assert_eq!(steps.local_effect(operation, local_effect(SEAT, &[])), 0);
        let effect = |local_effect, barrier| Effect { local_effect, barrier, release: UNKNOWN, room: [0; 2] };
        steps.remember(one, 5, effect(0, 7), 20);
        steps.remember(one, 6, effect(1, 8), 21);
        let known = |steps: &Steps, step, key| {
            steps.effect(steps.get(step), key).map(|(effect, slot)| (effect.barrier, slot))
        };
        assert_eq!([5, 6].map(|key| known(&steps, one, key)), [Some((7, 20)), Some((8, 21))]);
        // What is found at the other step has not been found there yet, and where it leads is not known.
        assert_eq!([5, 6].map(|key| known(&steps, other, key)), [None; 2]);
        steps.remember(other, 9, effect(0, 3), 30);
        assert_eq!([5, 6, 9].map(|key| known(&steps, other, key)), [Some((7, 30)), None, Some((3, 30))]);
        assert_eq!(known(&steps, one, 9), Some((3, 20)));
        steps.forget_effects();
        assert_eq!([known(&steps, one, 5), known(&steps, other, 9)], [None; 2]);
    }

    #[test]
    fn an_instruction_is_another_deed_with_another_operand_or_from_another_seat() {
        let mut steps = Steps::default();
        let wait = |id| BarrierAction::from(nbarrier::Action::Wait(BarrierId(id)));
        let operations = [
            steps.operation(&wait(1), 0, Seat::default()),
            steps.operation(&wait(1), 0, SEAT),
            steps.operation(&wait(1), 1, SEAT),
            steps.operation(&wait(2), 0, SEAT),
            steps.operation(&bcu::Action::ReadState(BarrierId(2)).into(), 0, SEAT),
        ];
        assert_eq!(operations, [2, 3, 4, 5, 6]);
    }

    #[test]
    fn steps_that_concern_the_agent_alone_differ_in_where_they_lead() {
        let mut steps = Steps::default();
        let own = (Key::Barrier, BarrierField::NONE);
        let first = steps.add(own, [0; 2], (vec![OWN, OWN], NO_ACT));
        steps.remember(first + 1, 0, Effect::ALONE, 4);
        assert_eq!(steps.effect(steps.get(first), 0), None);
        assert_eq!(steps.effect(steps.get(first + 1), 0), Some((&Effect::ALONE, 4)));
    }
}
