//! What has been learnt of steps, in flat tables: the search looks here for every step of every state.
//!
//! What a step does to its barrier, and whether the agent goes on, is decided by the instruction with its operands, by the agent's
//! seat at the barrier and by the barrier's state: a *deed* under a key. Steps in other slots that are the same deed need not be
//! asked about again: in a loop over tiles that is every round. What it comes to for the agent is one of a few *turns*; where a
//! turn leads is up to the agent's own slot, and is remembered with the step.

use super::layout::BarrierField;
use super::numbering::{UNKNOWN, to_u32};
use barcheck_model::agent::BarrierAction;
use barcheck_model::barrier::{BarrierId, Seat};
use barcheck_model::rule::Rule;
use rustc_hash::FxHashMap;

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

/// The deed of steps that concern nothing but the agent's own slot, and that of exits for which no barrier waits.
pub(super) const OWN: u32 = 0;
pub(super) const EXIT: u32 = 1;
/// Their only turn.
pub(super) const ALONE: u32 = 0;
/// The number of the first of all other deeds.
pub(super) const OTHERS: u32 = 2;

/// Deeds at one barrier from one seat among which the same one is looked for, at most.
const MOST_ALIKE: usize = 64;

/// An instruction on a barrier with its operands and pick, from a seat.
#[derive(Debug)]
struct Deed {
    action: BarrierAction,
    pick: u32,
    /// What it came to for the agent so far.
    turns: Vec<Turn>,
    /// Where its effects are, by the state of the barrier (and the exits) on which they depend.
    first: u32,
    count: u32,
}

/// What a deed comes to for the agent: all on which its slot afterwards depends, besides the slot before and the move, and all on which it
/// depends what the deed is to memory (see [`super::cells::Course`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) seat: Seat,
    pub(super) blocks: bool,
    /// Nobody has yet to wait for a generation completed: then what it carries is forgotten (`split_barrier`).
    pub(super) last: bool,
    /// As in [`Effect::release`].
    pub(super) release: u32,
    /// What is found at such a step about the agent alone: where the turn of a step is known, it has been found there.
    pub(super) noted: Vec<(Rule, Option<BarrierId>)>,
}

/// A step: a move of an agent in a slot, and a pick.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) key: Key,
    pub(super) barrier: BarrierField,
    /// The groups in which the agent stands when it is about to make the step, or [`super::races::NOBODY`].
    pub(super) standing: [u32; 2],
    /// Its deed.
    pub(super) deed: u32,
    /// What it does to memory, see [`super::cells`].
    pub(super) act: u32,
    /// Where the slots are to which its turns lead.
    first: u32,
    count: u32,
}

/// A remembered effect of a deed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effect {
    /// The number of the turn among those of the deed; [`UNKNOWN`] as long as nothing is remembered.
    pub(super) turn: u32,
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
    const NONE: Self = Self { turn: UNKNOWN, barrier: 0, release: UNKNOWN, room: [0; 2] };
    /// Of [`OWN`] and [`EXIT`].
    const ALONE: Self = Self { turn: ALONE, barrier: 0, release: UNKNOWN, room: [u16::MAX; 2] };
}

/// Every step of every slot.
#[derive(Debug, Default)]
pub(super) struct Steps {
    steps: Vec<Step>,
    slots: Vec<u32>,
    /// From number [`OTHERS`] on.
    deeds: Vec<Deed>,
    /// Deeds that may be the same.
    alike: FxHashMap<(BarrierId, Seat), Vec<u32>>,
    effects: Vec<Effect>,
}

impl Steps {
    /// The number of the step that is added next.
    pub(super) fn next(&self) -> u32 {
        to_u32(self.steps.len())
    }

    /// Adds the steps of a move, one for each pick, each with its deed, and with their act, and returns the number of the first.
    pub(super) fn add(
        &mut self,
        (key, barrier): (Key, BarrierField),
        standing: [u32; 2],
        (deeds, act): (Vec<u32>, u32),
    ) -> u32 {
        let number = self.next();
        self.steps.extend(deeds.into_iter().map(|deed| Step {
            key,
            barrier,
            standing,
            deed,
            act,
            first: 0,
            count: 0,
        }));
        number
    }

    /// The deed of an action with a pick, from a seat.
    pub(super) fn deed(&mut self, action: &BarrierAction, pick: u32, seat: Seat) -> u32 {
        let alike = self.alike.entry((action.barrier(), seat)).or_default();
        let deeds = &self.deeds;
        let is_it = |number: &&u32| {
            let deed = &deeds[(**number - OTHERS) as usize];
            deed.pick == pick && deed.action == *action
        };
        if let Some(known) = alike.iter().find(is_it) {
            return *known;
        }
        let number = OTHERS + to_u32(self.deeds.len());
        self.deeds.push(Deed { action: action.clone(), pick, turns: Vec::new(), first: 0, count: 0 });
        // One that is not found again is asked about again.
        if alike.len() < MOST_ALIKE {
            alike.push(number);
        }
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

    /// What is remembered of a step under a key, and the agent's slot afterwards.
    #[inline]
    pub(super) fn effect(&self, step: &Step, key: u32) -> Option<(&Effect, u32)> {
        let effect = self.effect_of(step.deed, key)?;
        Some((effect, self.slot(step, effect.turn)?))
    }

    /// What is remembered of a deed under a key.
    #[inline]
    fn effect_of(&self, deed: u32, key: u32) -> Option<&Effect> {
        let Some(number) = deed.checked_sub(OTHERS) else { return Some(&Effect::ALONE) };
        let deed = &self.deeds[number as usize];
        if key >= deed.count {
            return None;
        }
        self.effects.get((deed.first + key) as usize).filter(|effect| effect.turn != UNKNOWN)
    }

    /// Where a turn of a step leads.
    #[inline]
    pub(super) fn slot(&self, step: &Step, turn: u32) -> Option<u32> {
        if turn >= step.count {
            return None;
        }
        self.slots.get((step.first + turn) as usize).copied().filter(|slot| *slot != UNKNOWN)
    }

    /// How many turns of a step there are, known or not.
    pub(super) fn turns(step: &Step) -> u32 {
        step.count
    }

    /// The number of a turn of a deed, which is made if it is new.
    pub(super) fn turn(&mut self, deed: u32, turn: Turn) -> u32 {
        let Some(number) = deed.checked_sub(OTHERS) else { return ALONE };
        let turns = &mut self.deeds[number as usize].turns;
        let known = turns.iter().position(|known| *known == turn);
        to_u32(known.unwrap_or_else(|| {
            turns.push(turn);
            turns.len() - 1
        }))
    }

    /// Remembers the effect of a step under a key, and the agent's slot afterwards.
    pub(super) fn remember(&mut self, step: u32, key: u32, effect: Effect, slot: u32) {
        let step = &mut self.steps[step as usize];
        put(&mut self.slots, (&mut step.first, &mut step.count), effect.turn, slot, UNKNOWN);
        let deed = step.deed;
        // What a deed does under a key is the same in every slot.
        let known = self.effect_of(deed, key).copied();
        debug_assert!(known.is_none_or(|known| known == effect), "{known:?}, {effect:?}");
        if let Some(number) = deed.checked_sub(OTHERS) {
            let deed = &mut self.deeds[number as usize];
            put(&mut self.effects, (&mut deed.first, &mut deed.count), key, effect, Effect::NONE);
        }
    }

    /// Forgets all effects: what the model says besides will be said again.
    pub(super) fn forget_effects(&mut self) {
        self.effects.clear();
        self.slots.clear();
        self.steps.iter_mut().for_each(|step| (step.first, step.count) = (0, 0));
        self.deeds.iter_mut().for_each(|deed| (deed.first, deed.count) = (0, 0));
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> usize {
        // A deed is found again by a list of numbers, and has a turn or two.
        self.steps.capacity() * size_of::<Step>()
            + self.slots.capacity() * size_of::<u32>()
            + self.deeds.capacity() * (size_of::<Deed>() + 2 * size_of::<Turn>() + 2 * size_of::<u32>())
            + self.effects.capacity() * size_of::<Effect>()
    }
}

/// Puts something into a row of things, which moves to the end of all rows if it is too short. Doubling keeps the places left
/// behind fewer than those in use.
pub(super) fn put<T: Copy>(
    all: &mut Vec<T>,
    (first, count): (&mut u32, &mut u32),
    at: u32,
    thing: T,
    none: T,
) {
    if at >= *count {
        let old = *first as usize..(*first + *count) as usize;
        let (moved, most) = (all.len(), (at + 1).next_power_of_two());
        all.extend_from_within(old);
        all.resize(moved + most as usize, none);
        (*first, *count) = (to_u32(moved), most);
    }
    all[(*first + at) as usize] = thing;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::{AT_BARRIER, NO_ACT};
    use barcheck_model::barrier::{bcu, nbarrier};

    const SEAT: Seat =
        Seat { arrived: true, waiting: false, consumer: false, notified: false, produced_last: false };

    fn turn(seat: Seat, noted: &[Rule]) -> Turn {
        let noted = noted.iter().map(|rule| (*rule, None)).collect();
        Turn { seat, blocks: false, last: false, release: UNKNOWN, noted }
    }

    #[test]
    fn what_one_slot_has_met_another_one_knows_once_its_turn_is_known() {
        let mut steps = Steps::default();
        let wait = BarrierAction::from(nbarrier::Action::Wait(BarrierId(1)));
        let deed = steps.deed(&wait, 0, Seat::default());
        assert_eq!(deed, steps.deed(&wait, 0, Seat::default()));
        let field = (Key::Barrier, BarrierField::of(0));
        let [one, other] = [0, 0].map(|_| steps.add(field, [0; 2], (vec![deed], AT_BARRIER)));
        let turns = [turn(SEAT, &[]), turn(SEAT, &[Rule::ReservedBarrier]), turn(Seat::default(), &[])]
            .map(|turn| steps.turn(deed, turn));
        assert_eq!(turns, [0, 1, 2]);
        assert_eq!(steps.turn(deed, turn(SEAT, &[])), 0);
        let effect = |turn, barrier| Effect { turn, barrier, release: UNKNOWN, room: [0; 2] };
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
        let deeds = [
            steps.deed(&wait(1), 0, Seat::default()),
            steps.deed(&wait(1), 0, SEAT),
            steps.deed(&wait(1), 1, SEAT),
            steps.deed(&wait(2), 0, SEAT),
            steps.deed(&bcu::Action::ReadState(BarrierId(2)).into(), 0, SEAT),
        ];
        assert_eq!(deeds, [2, 3, 4, 5, 6]);
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
