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
//! Anything that the model finds, and anything that ends a path, is never remembered: it is asked each time.

use super::layout::{Layout, Packed};
use super::tables::{Dependence, Effect, Numbers, Picks, Tables};
use barcheck_model::machine::{Choice, End, Event, Finding, Progressed, State, StepOutcome};
use barcheck_model::program::AgentId;

/// A state taken apart.
pub(super) struct Opened {
    pub(super) slots: Vec<u32>,
    pub(super) barriers: Vec<u32>,
    pub(super) rest: u32,
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

/// Work space for [`Tables::successors`].
#[derive(Default)]
pub(super) struct Scratch {
    release: Vec<(usize, u32)>,
}

impl Tables {
    /// Takes a state apart.
    pub(super) fn open<const W: usize>(&self, layout: &Layout, words: &Packed<W>, into: &mut Opened) {
        into.slots.clear();
        into.slots.extend(layout.agents.iter().map(|f| f.get(words)));
        into.barriers.clear();
        into.barriers.extend(layout.barriers.iter().map(|f| f.get(words)));
        into.barriers.resize(self.barriers.len(), 0);
        into.rest = layout.rest.get(words);
        into.exited = 0;
        for (agent, slot) in into.slots.iter().enumerate() {
            into.exited += u32::from(self.slot(agent, *slot).exited);
        }
        let barriers = into.barriers.iter().zip(&self.barriers);
        into.heeds_exits = barriers.into_iter().any(|(state, b)| b.heeds_exits[*state as usize]);
        into.state = None;
    }

    /// Whether a rule about states may be violated: [`barcheck_model::machine::Machine::judge`] has to look.
    pub(super) fn is_suspect(&mut self, opened: &Opened) -> bool {
        let mut has_step = false;
        let mut suspect = false;
        for (agent, slot) in opened.slots.iter().enumerate() {
            let slot = &self.classes[self.class_of[agent]].slots[*slot as usize];
            has_step |= !slot.moves.is_empty();
            for group in &slot.standing {
                let state_of = |field: usize| opened.barriers.get(field).copied().unwrap_or(0);
                suspect |= self.races.exceeds(*group, &self.barriers, state_of);
            }
        }
        for (agent, slot) in opened.slots.iter().enumerate() {
            let slot = &self.classes[self.class_of[agent]].slots[*slot as usize];
            for group in &slot.standing {
                self.races.reset(*group);
            }
        }
        suspect || !has_step
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

    /// Makes one step. Findings that do not end the path are passed to `note`.
    pub(super) fn successor<const W: usize>(
        &mut self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &mut Opened,
        scratch: &mut Scratch,
        choice: Choice,
        note: &mut dyn FnMut(Finding),
    ) -> Successor<W> {
        let key = self.effect_key(opened, choice);
        if let Some(key) = key
            && let Some(next) = self.remembered(layout, words, opened, scratch, choice, key)
        {
            return Successor::State(next);
        }
        let state = opened.state.get_or_insert_with(|| self.state(layout, words));
        match self.machine.step(state, choice) {
            StepOutcome::Disabled => Successor::None,
            StepOutcome::NoEffect => Successor::Same,
            StepOutcome::Error(end) => Successor::End(*end),
            StepOutcome::Noted(progressed, findings) => {
                findings.into_iter().for_each(note);
                let numbers = self.number(&progressed.state);
                self.packed(layout, &numbers)
            }
            StepOutcome::Progress(progressed) => {
                let numbers = self.number(&progressed.state);
                if let Some(key) = key {
                    self.learn(opened, choice, key, &numbers, &progressed);
                }
                self.packed(layout, &numbers)
            }
        }
    }

    fn packed<const W: usize>(&self, layout: &Layout, numbers: &Numbers) -> Successor<W> {
        match numbers.pack(layout) {
            Some(words) => Successor::State(words),
            None => Successor::TooWide,
        }
    }

    /// Under which key a step's effect is remembered, if it depends on nothing else.
    #[inline]
    fn effect_key(&self, opened: &Opened, choice: Choice) -> Option<usize> {
        if !self.quiet[opened.rest as usize] {
            return None;
        }
        let agent = choice.agent.index();
        let made = &self.slot(agent, opened.slots[agent]).moves[choice.index as usize];
        match made.depends {
            Dependence::Model => None,
            Dependence::Own => Some(choice.pick as usize),
            Dependence::Exit => (!opened.heeds_exits).then_some(0),
            Dependence::Barrier(field) => Some(opened.barriers.get(field).copied().unwrap_or(0) as usize),
            Dependence::BarrierAndExits(field) => {
                let state = opened.barriers.get(field).copied().unwrap_or(0) as usize;
                Some(state * (opened.slots.len() + 1) + opened.exited as usize)
            }
        }
    }

    /// The state after a step whose effect is remembered.
    #[inline]
    fn remembered<const W: usize>(
        &self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &Opened,
        scratch: &mut Scratch,
        choice: Choice,
        key: usize,
    ) -> Option<Packed<W>> {
        let actor = choice.agent.index();
        let made = &self.slot(actor, opened.slots[actor]).moves[choice.index as usize];
        let number = made.effects.get(key).copied().filter(|n| *n != 0)?;
        let effect = self.effects[number as usize - 1];
        let mut next = *words;
        if let Some(release) = effect.release {
            scratch.release.clear();
            for (agent, slot) in opened.slots.iter().enumerate() {
                if agent == actor {
                    continue;
                }
                let after = self.slot(agent, *slot).after.get(release as usize).copied().unwrap_or(0);
                if after == 0 {
                    return None;
                }
                if after - 1 != *slot {
                    scratch.release.push((agent, after - 1));
                }
            }
            for (agent, slot) in &scratch.release {
                layout.agents[*agent].set(&mut next, *slot);
            }
        }
        layout.agents[actor].set(&mut next, effect.slot);
        if let Some((field, state)) = effect.barrier {
            layout.barriers[field as usize].set(&mut next, state);
        }
        Some(next)
    }

    /// Remembers what a step did, if it did nothing beyond what may be remembered.
    fn learn(
        &mut self,
        opened: &Opened,
        choice: Choice,
        key: usize,
        after: &Numbers,
        progressed: &Progressed,
    ) {
        let actor = choice.agent.index();
        if after.rest != opened.rest {
            return;
        }
        let completed: Vec<_> = progressed
            .events
            .iter()
            .filter_map(|event| match event {
                Event::Completed(id, result) => Some((*id, *result)),
                _ => None,
            })
            .collect();
        if completed.len() > 1 {
            return;
        }
        let before = |field: usize| opened.barriers.get(field).copied().unwrap_or(0);
        let changed: Vec<_> =
            (0..after.barriers.len()).filter(|f| after.barriers[*f] != before(*f)).collect();
        if changed.len() > 1 {
            return;
        }
        let release = completed.first().map(|release| self.number_release(*release));
        if let Some(release) = release {
            for (agent, slot) in opened.slots.iter().enumerate().filter(|(agent, _)| *agent != actor) {
                let slot = &mut self.classes[self.class_of[agent]].slots[*slot as usize];
                remember(&mut slot.after, release as usize, after.agents[agent]);
            }
        }
        let barrier = changed.first().map(|field| (super::tables::to_u32(*field), after.barriers[*field]));
        let effect = self.number_effect(Effect { slot: after.agents[actor], barrier, release });
        let slot = opened.slots[actor];
        let made = &mut self.classes[self.class_of[actor]].slots[slot as usize].moves[choice.index as usize];
        remember(&mut made.effects, key, effect);
    }
}

/// Keeps a number under a key; 0 stands for "unknown", so one more than the number is kept.
fn remember(kept: &mut Vec<u32>, key: usize, number: u32) {
    if kept.len() <= key {
        kept.resize(key + 1, 0);
    }
    kept[key] = number + 1;
}

impl Opened {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), barriers: Vec::new(), rest: 0, exited: 0, heeds_exits: false, state: None }
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
