//! What steps do to memory besides, remembered; see [`crate::packed::locations`].

use crate::packed::layout::{Layout, Packed};
use crate::packed::locations::{Cause, Completion, MemoryStep, NO_ACT, posture};
use crate::packed::numbering::{UNKNOWN, to_u32};
use crate::packed::transformers::held;
use crate::successors::expand::{Opened, Successor};
use crate::successors::steps::{Effect, Step};
use crate::successors::tables::Tables;
use barcheck_model::machine::{Advanced, Choice, Log, State};
use barcheck_model::memory::Flow;

impl Tables {
    /// Whether a step may do something to memory, given the location classes that hold anything.
    #[inline(always)]
    pub(crate) fn concerns_memory(&self, held: u64, step: &Step) -> bool {
        step.act != NO_ACT && (held != 0 || self.location_classes.is_access(step.act))
    }

    /// What a step is to memory, as far as its agent and its barrier decide that.
    pub(crate) fn memory_step(
        &self,
        (actor, slot): (usize, u32),
        step: &Step,
        local_effect: u32,
    ) -> MemoryStep {
        let exits = self.has_exited(actor, slot);
        MemoryStep { actor: to_u32(actor), act: step.act, operation: step.operation, local_effect, exits }
    }

    /// On what it depends what a step does to memory, given the state before it, with the number of those who
    /// have exited, and the state after it; `None` if some of it has no number yet.
    pub(crate) fn cause<const W: usize>(
        &self,
        layout: &Layout,
        (words, exits): (&Packed<W>, u32),
        acts: (usize, u32),
        step: &Step,
        (effect, key): (&Effect, u32),
        next: &Packed<W>,
    ) -> Option<Cause> {
        let before = Some(exits).filter(|exits| *exits != UNKNOWN)?;
        let memory_step =
            self.location_classes.memory_step(self.memory_step(acts, step, effect.local_effect))?;
        if effect.release == UNKNOWN {
            return Some(Cause::MemoryStep(memory_step, before));
        }
        let after = self.location_classes.exits(self.exited(layout, next))?;
        let others = self.postures(layout, words, acts.0, effect.release).collect();
        Some(Cause::Completion(Completion { memory_step, exits: [before, after], key, others }))
    }

    /// The agents that have exited.
    pub(crate) fn exited<const W: usize>(
        &self,
        layout: &Layout,
        words: &Packed<W>,
    ) -> impl Iterator<Item = usize> {
        let slots = layout.agents.iter().enumerate().map(|(agent, field)| (agent, field.get(words)));
        slots.filter(|(agent, slot)| self.has_exited(*agent, *slot)).map(|(agent, _)| agent)
    }

    pub(crate) fn has_exited(&self, agent: usize, slot: u32) -> bool {
        self.classes[self.class_of[agent]].rows[slot as usize].exited
    }

    /// What all but the one that acts have to do with the barrier whose generation is completed.
    fn postures<const W: usize>(
        &self,
        layout: &Layout,
        words: &Packed<W>,
        actor: usize,
        release: u32,
    ) -> impl Iterator<Item = u32> {
        let seated = &self.seated[self.releases[release as usize].field];
        let others = seated.iter().filter(move |(agent, _)| *agent as usize != actor);
        others.map(move |(agent, class)| {
            self.posture(release, *class as usize, layout.agents[*agent as usize].get(words))
        })
    }

    /// What an agent in a slot has to do with the barrier of a release.
    pub(crate) fn posture(&self, release: u32, class: usize, slot: u32) -> u32 {
        let slot = &self.classes[class].slots[slot as usize];
        posture(slot.state.seat(self.releases[release as usize].barrier), slot.acquires)
    }

    /// The state after a step, if what it does is remembered. What it does to memory besides is learnt,
    /// unless an access is in conflict with an earlier one.
    pub(crate) fn remembered<const W: usize>(
        &mut self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &mut Opened,
        choice: Choice,
        (number, key): (u32, u32),
    ) -> Option<Successor<W>> {
        let agent = choice.agent().index();
        let step = *self.steps.get(number);
        let (effect, slot) = self.steps.effect(&step, key).map(|(effect, slot)| (*effect, slot))?;
        let mut next = self.applied(layout, words, opened, (agent, slot), &step, &effect)?;
        if !self.concerns_memory(opened.held, &step) {
            return Some(Successor::State(next));
        }
        if !self.location_classes.is_full() {
            let exited: [Vec<_>; 2] = [words, &next].map(|words| self.exited(layout, words).collect());
            opened.exits = exited.map(|exited| self.location_classes.number_exits(exited.into_iter()))[0];
            self.location_classes.number_memory_step(self.memory_step(
                (agent, slot),
                &step,
                effect.local_effect,
            ));
        }
        let before = (words, opened.exits);
        let cause = self.cause(layout, before, (agent, slot), &step, (&effect, key), &next)?;
        let transformer = match self.location_classes.find(&cause) {
            Some(transformer) => transformer,
            None if self.location_classes.is_full() => return None,
            None => {
                let somebody_exits = self.exited(layout, &next).ne(self.exited(layout, words));
                let transformer = self.transformer(layout, words, opened, choice)?;
                self.location_classes.learn(cause, transformer, somebody_exits)
            }
        };
        if !self.learn_transformer(layout, words, transformer)? {
            return Some(Successor::TooWide);
        }
        self.location_classes.known.apply(&layout.location_classes, opened.held, transformer, &mut next)?;
        Some(Successor::State(next))
    }

    /// Learns what a transformer does to the location classes of a state, and says whether the layout has
    /// room for what comes of it: if not, states have to be laid out anew before anything else is done.
    /// `None` if an access is in conflict with an earlier one.
    pub(crate) fn learn_transformer<const W: usize>(
        &mut self,
        layout: &Layout,
        words: &Packed<W>,
        transformer: u32,
    ) -> Option<bool> {
        let before = (held(&layout.location_classes, words), words);
        self.location_classes.learn_transformer(layout, before, transformer);
        self.location_classes.fit(layout, before, transformer)
    }

    /// What a step does to memory.
    fn transformer<const W: usize>(
        &mut self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &mut Opened,
        choice: Choice,
    ) -> Option<Flow> {
        let State { agents, barriers, sequences, allocated, pending, .. } =
            opened.state(self, layout, words).clone();
        let mut state = State { agents, barriers, memory: Flow::default(), sequences, allocated, pending };
        let advanced = self.machine.advance(&mut state, choice, &mut Log::default());
        (advanced == Advanced::Progress).then_some(state.memory)
    }
}
