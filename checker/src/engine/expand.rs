//! The successors of a state.
//!
//! Most steps depend on very little: on the agent's own slot, on the barrier it touches, and sometimes on
//! how many agents have exited. What the model says of such a step is remembered by just that, and the
//! next time the numbers are changed without asking again. The argument:
//!
//! * Local moves change the agent's own configuration only ([`barcheck_model::agent`] sees nothing else), unless
//!   memory or uniform decisions are involved; then the state is not *quiet* and the model is asked.
//! * An arrival or wait is decided by the barrier's state, the agent's seat (in its slot), its operands (in its
//!   move) and, where the barrier waits for every live agent, the number of agents exited: these are the
//!   arguments of the barrier's transition function.
//! * A completion changes each other agent's slot by itself: its seat is vacated, and if it waited it is
//!   released with the reduction's result. That is remembered by slot and release.
//! * An exit touches only barriers that wait for every live agent; if one does, the model is asked.
//!
//! What ends a path is never remembered: the model is asked each time.

use super::layout::{Layout, Packed};
use super::tables::{Dependence, Effect, Numbers, Picks, SlotMove, Tables, UNKNOWN};
use barcheck_model::machine::{Choice, End, Event, Finding, Progressed, State, StepOutcome};
use barcheck_model::program::AgentId;
use barcheck_model::rule::Rule;

/// A state taken apart.
pub(super) struct Opened {
    pub(super) slots: Vec<u32>,
    pub(super) rest: u32,
    quiet: bool,
    exited: u32,
    heeds_exits: bool,
    /// The state itself, once the model has been asked.
    state: Option<State>,
}

/// What one step came to.
pub(super) enum Successor<const W: usize> {
    /// Another state, packed.
    State(Packed<W>),
    /// Another state, for which the layout has no room.
    TooWide,
    /// The same state.
    Same,
    /// The path ends.
    End(End),
    /// There is no such step.
    None,
}

impl Tables {
    /// Takes a state apart. Returns whether a rule about states may be violated in it: then
    /// [`barcheck_model::machine::Machine::judge`] has to look.
    #[inline]
    pub(super) fn open<const W: usize>(
        &mut self,
        layout: &Layout,
        words: &Packed<W>,
        into: &mut Opened,
    ) -> bool {
        into.slots.resize(layout.agents.len(), 0);
        into.rest = layout.rest.get(words);
        into.quiet = self.quiet[into.rest as usize];
        into.heeds_exits = self.some_heed_exits && self.heeds_exits(layout, words);
        into.state = None;
        into.exited = 0;
        let mut moves = 0;
        let mut exceeds = false;
        self.races.begin();
        for ((number, field), class) in into.slots.iter_mut().zip(&layout.agents).zip(&self.class_of) {
            *number = field.get(words);
            let class = &self.classes[*class];
            let glance = class.glances[*number as usize];
            into.exited += u32::from(glance.exited);
            moves |= glance.moves;
            let [one, other] = glance.standing;
            if one != UNKNOWN {
                exceeds |= self.races.exceeds(one, &self.barriers, layout, words);
            }
            if other != UNKNOWN {
                exceeds |= self.races.exceeds(other, &self.barriers, layout, words);
            }
            if glance.more_standing {
                for group in &class.slots[*number as usize].more_standing {
                    exceeds |= self.races.exceeds(*group, &self.barriers, layout, words);
                }
            }
        }
        exceeds || moves == 0
    }

    /// Whether an exit may complete some barrier.
    fn heeds_exits<const W: usize>(&self, layout: &Layout, words: &Packed<W>) -> bool {
        let barriers = layout.barriers.iter().zip(&self.barriers);
        barriers.into_iter().any(|(field, barrier)| barrier.heeds_exits[field.get(words) as usize])
    }

    /// The picks that a move leaves open, as a half-open range.
    pub(super) fn picks<const W: usize>(
        &self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &mut Opened,
        agent: usize,
        index: usize,
    ) -> std::ops::Range<u64> {
        match self.slot(agent, opened.slots[agent]).moves[index].picks {
            Picks::Below(n) => 0..n,
            Picks::Sequence => {
                let state = opened.state.get_or_insert_with(|| self.state(layout, words));
                let agent = AgentId::from_index(agent);
                let made = &self.machine.moves(state, agent)[index];
                self.machine.picks(state, agent, made)
            }
        }
    }

    /// The effect of a move that leaves nothing open, if it is remembered.
    #[inline(always)]
    pub(super) fn known<const W: usize>(
        &self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &Opened,
        agent: usize,
        made: &SlotMove,
    ) -> Option<Packed<W>> {
        if made.picks != Picks::Below(1) {
            return None;
        }
        let key = self.effect_key(layout, words, opened, made, 0)?;
        self.remembered(layout, words, opened, agent, made, key)
    }

    /// Makes one step. Findings that do not end the path are passed to `note`.
    pub(super) fn successor<const W: usize>(
        &mut self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &mut Opened,
        choice: Choice,
        note: &mut dyn FnMut(Finding),
    ) -> Successor<W> {
        let agent = choice.agent.index();
        let made = &self.slot(agent, opened.slots[agent]).moves[choice.index as usize];
        let key = self.effect_key(layout, words, opened, made, choice.pick);
        if let Some(key) = key
            && let Some(next) = self.remembered(layout, words, opened, agent, made, key)
        {
            return Successor::State(next);
        }
        let state = opened.state.get_or_insert_with(|| self.state(layout, words));
        match self.machine.step(state, choice) {
            StepOutcome::Disabled => Successor::None,
            StepOutcome::NoEffect => Successor::Same,
            StepOutcome::Error(end) => Successor::End(*end),
            StepOutcome::Noted(progressed, findings) => {
                // A finding about the acting agent alone depends on what the effect depends on: seen once, it
                // need not be seen again.
                let own =
                    findings.iter().all(|f| f.agents == [choice.agent] && f.rule != Rule::ResultOverwritten);
                findings.into_iter().for_each(note);
                self.numbered(layout, words, opened, choice, key.filter(|_| own), &progressed)
            }
            StepOutcome::Progress(progressed) => {
                self.numbered(layout, words, opened, choice, key, &progressed)
            }
        }
    }

    /// Packs what the model has answered, and remembers it under the key, if there is one.
    fn numbered<const W: usize>(
        &mut self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &Opened,
        choice: Choice,
        key: Option<usize>,
        progressed: &Progressed,
    ) -> Successor<W> {
        let numbers = self.number(&progressed.state);
        if let Some(key) = key {
            let before: Vec<u32> =
                (0..numbers.barriers.len()).map(|field| layout.barrier(field, words)).collect();
            self.learn(opened, &before, choice, key, &numbers, progressed);
        }
        self.packed(layout, &numbers)
    }

    fn packed<const W: usize>(&self, layout: &Layout, numbers: &Numbers) -> Successor<W> {
        match numbers.pack(layout) {
            Some(words) => Successor::State(words),
            None => Successor::TooWide,
        }
    }

    /// Under which key a step's effect is remembered, if it depends on nothing else.
    #[inline(always)]
    fn effect_key<const W: usize>(
        &self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &Opened,
        made: &SlotMove,
        pick: u32,
    ) -> Option<usize> {
        if !opened.quiet {
            return None;
        }
        match made.depends {
            Dependence::Model => None,
            Dependence::Own => Some(pick as usize),
            Dependence::Exit => (!opened.heeds_exits).then_some(0),
            Dependence::Barrier(field) => Some(layout.barrier(field, words) as usize),
            Dependence::BarrierAndExits(field) => {
                let state = layout.barrier(field, words) as usize;
                Some(state * (opened.slots.len() + 1) + opened.exited as usize)
            }
        }
    }

    /// The state after a step whose effect is remembered.
    #[inline(always)]
    fn remembered<const W: usize>(
        &self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &Opened,
        actor: usize,
        made: &SlotMove,
        key: usize,
    ) -> Option<Packed<W>> {
        let effect = *made.effects.get(key)?;
        if effect.slot == UNKNOWN {
            return None;
        }
        let mut next = *words;
        if effect.release != UNKNOWN {
            for (agent, slot) in opened.slots.iter().enumerate() {
                let after = *self.slot(agent, *slot).after.get(effect.release as usize)?;
                if agent == actor || after == *slot {
                    continue;
                }
                if after == UNKNOWN {
                    return None;
                }
                layout.agents[agent].set(&mut next, after);
            }
        }
        layout.agents[actor].set(&mut next, effect.slot);
        if let Dependence::Barrier(field) | Dependence::BarrierAndExits(field) = made.depends {
            layout.barriers[field].set(&mut next, effect.barrier);
        }
        Some(next)
    }

    /// Remembers what a step did, if it did nothing beyond what may be remembered.
    fn learn(
        &mut self,
        opened: &Opened,
        before: &[u32],
        choice: Choice,
        key: usize,
        after: &Numbers,
        progressed: &Progressed,
    ) {
        let actor = choice.agent.index();
        let slot = opened.slots[actor];
        let depends = self.slot(actor, slot).moves[choice.index as usize].depends;
        let own = match depends {
            Dependence::Barrier(field) | Dependence::BarrierAndExits(field) => Some(field),
            _ => None,
        };
        let others_changed = (0..after.barriers.len())
            .any(|field| Some(field) != own && after.barriers[field] != before[field]);
        let mut completed = progressed.events.iter().filter_map(|event| match event {
            Event::Completed(id, result) => Some((*id, *result)),
            _ => None,
        });
        let release = completed.next();
        if after.rest != opened.rest || others_changed || completed.next().is_some() {
            return;
        }
        let release = release.map_or(UNKNOWN, |release| self.number_release(release));
        if release != UNKNOWN {
            for (agent, slot) in opened.slots.iter().enumerate() {
                let slot = &mut self.classes[self.class_of[agent]].slots[*slot as usize];
                // What becomes of the one that acts is part of the effect; others in its slot may not act.
                let is_known = slot.after.get(release as usize).is_some_and(|after| *after != UNKNOWN);
                let number = if agent != actor {
                    after.agents[agent]
                } else if is_known {
                    continue;
                } else {
                    UNKNOWN
                };
                remember(&mut slot.after, release as usize, number, UNKNOWN);
            }
        }
        let barrier = own.map_or(0, |field| after.barriers[field]);
        let effect = Effect { slot: after.agents[actor], barrier, release };
        let class = &mut self.classes[self.class_of[actor]];
        let made = &mut class.slots[slot as usize].moves[choice.index as usize];
        remember(&mut made.effects, key, effect, Effect::NONE);
    }
}

/// Keeps a value under a key.
fn remember<T: Copy>(kept: &mut Vec<T>, key: usize, value: T, nothing: T) {
    if kept.len() <= key {
        kept.resize(key + 1, nothing);
    }
    kept[key] = value;
}

impl Opened {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), rest: 0, quiet: false, exited: 0, heeds_exits: false, state: None }
    }

    /// The state itself.
    pub(super) fn state<const W: usize>(
        &mut self,
        tables: &Tables,
        layout: &Layout,
        words: &Packed<W>,
    ) -> &State {
        self.state.get_or_insert_with(|| tables.state(layout, words))
    }
}
