//! The successors of a state.
//!
//! Most steps depend on very little: on the agent's own slot, on the barrier it touches, and sometimes on
//! how many agents have exited. What the model says of such a step is remembered by just that, and the
//! next time the numbers are changed without asking again, also where another slot does the same (see
//! [`crate::successors::steps`]). The argument:
//!
//! * Local moves change the agent's own configuration only ([`barcheck_model::agent`] sees nothing else),
//!   unless uniform decisions are involved; then the state is not *quiet* and the model is asked.
//! * Nobody's way depends on what memory holds: all that it decides is whether an access is in conflict with
//!   an earlier one. What steps do to memory is remembered by itself (see [`crate::packed::locations`]);
//!   where there is a conflict the model is asked.
//! * An arrival or wait is decided by the barrier's state, the agent's seat (in its slot), its operands (in
//!   its move) and, where the barrier waits for every live agent, the number of agents exited: these are the
//!   arguments of the barrier's transition function. So two slots with the same instruction, operands and
//!   seat do the same to the barrier. What that comes to for the agent, its *local effect*, is its seat
//!   afterwards, whether it blocks, and the generation that it completes: with these its slot afterwards is
//!   decided by its slot before and the move. A rule noted by the way belongs to the local effect, so that
//!   each slot shows it for itself.
//! * A completion changes each other agent's slot by itself: its seat is vacated, and if it waited it is
//!   released with the reduction's result. That is remembered by slot and release; who has no seat stays as
//!   it is.
//! * An exit touches only barriers that wait for every live agent; if one does, the model is asked.
//!
//! What ends a path is never remembered: the model is asked each time.

use crate::packed::batch::Batch;
use crate::packed::layout::{BarrierField, Layout, Packed};
use crate::packed::locations::NOBODY_EXITED;
use crate::packed::numbering::{UNKNOWN, to_u32};
use crate::packed::transformers::held;
use crate::successors::races::NOBODY;
use crate::successors::steps::{ALONE, Effect, Key, LocalEffect, Step};
use crate::successors::tables::{Numbers, Picks, Tables};
use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{AnyBarrier, Choice, End, Event, Finding, Progressed, State, StepOutcome};
use barcheck_model::program::AgentId;
use barcheck_model::rule::Rule;

/// A state taken apart.
#[derive(Default)]
pub(crate) struct Opened {
    pub(crate) slots: Vec<u32>,
    pub(crate) residual: u32,
    quiet: bool,
    exited: u32,
    depends_on_exits: bool,
    /// A bit for each location class that holds anything.
    pub(crate) held: u64,
    /// Who has exited, see [`crate::packed::locations::LocationClasses::exits`]; [`UNKNOWN`] if that has no
    /// number yet, or does not matter.
    pub(crate) exits: u32,
    /// No agent has a move.
    pub(crate) is_last: bool,
    /// Steps may be taken from the tables.
    is_swift: bool,
    /// The agents that have steps, with the first and the number of these, as many as `ready_count` says;
    /// complete only if `is_swift`.
    ready: Vec<Ready>,
    ready_count: usize,
    /// How many agents stand in each group, see [`crate::successors::races`]; complete only if `is_swift`.
    standing: Vec<u32>,
    /// The state itself, once the model has been asked.
    state: Option<State>,
}

/// An agent that has steps, and where they are in [`crate::successors::steps::Steps`].
#[derive(Clone, Copy, Debug, Default)]
struct Ready {
    agent: u32,
    first_step: u32,
    steps: u32,
}

/// What one step came to.
pub(crate) enum Successor<const W: usize> {
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
    /// Takes a state apart.
    #[inline]
    pub(crate) fn open<const W: usize>(&self, layout: &Layout, words: &Packed<W>, into: &mut Opened) {
        let count = layout.agents.len();
        into.slots.resize(count, 0);
        into.ready.resize(count, Ready::default());
        into.standing.resize(self.races.numbers(), 0);
        into.standing.fill(0);
        let residual = layout.residual.get(words);
        let (mut exited, mut slow, mut ready) = (0, !self.quiet[residual as usize], 0);
        let standing = &mut into.standing[..];
        let agents = into.slots.iter_mut().zip(&layout.agents).zip(&self.class_of);
        for (agent, ((number, field), class)) in (0..).zip(agents) {
            let slot = field.get(words);
            *number = slot;
            let row = &self.classes[*class].rows[slot as usize];
            exited += u32::from(row.exited);
            slow |= row.slow;
            let [one, other] = row.standing;
            if one != NOBODY {
                standing[one as usize] += 1;
            }
            if other != NOBODY {
                standing[other as usize] += 1;
            }
            into.ready[ready] = Ready { agent, first_step: row.first_step, steps: row.steps };
            ready += usize::from(row.steps > 0);
        }
        into.ready_count = ready;
        into.residual = residual;
        into.quiet = self.quiet[residual as usize];
        into.depends_on_exits = self.depends_on_exits(layout, words);
        into.state = None;
        into.exited = exited;
        into.is_swift = !slow;
        if !layout.location_classes.is_empty() {
            into.held = held(&layout.location_classes, words);
            into.exits = match exited {
                0 => NOBODY_EXITED,
                _ => self.location_classes.exits(self.exited(layout, words)).unwrap_or(UNKNOWN),
            };
        }
        into.is_last = ready == 0 && (!slow || self.has_no_moves(into));
    }

    fn has_no_moves(&self, opened: &Opened) -> bool {
        opened.slots.iter().enumerate().all(|(agent, slot)| self.slot(agent, *slot).moves.is_empty())
    }

    /// Whether a CTA may have exited and left something in flight, whatever the others still do: then
    /// [`barcheck_model::machine::Machine::judge`] has to look.
    pub(crate) fn may_leave_behind(&self, opened: &Opened) -> bool {
        self.machine.program().ctas > 1 && opened.exited > 0 && !opened.quiet
    }

    /// Whether more agents stand at arrivals on some barrier than it has room for: then
    /// [`barcheck_model::machine::Machine::judge`] has to look.
    pub(crate) fn exceeds<const W: usize>(
        &mut self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &mut Opened,
    ) -> bool {
        opened.standing.fill(0);
        for (class, slot) in self.class_of.iter().zip(&opened.slots) {
            for group in &self.classes[*class].slots[*slot as usize].standing {
                opened.standing[*group as usize] += 1;
            }
        }
        let groups = (0..).zip(&opened.standing).skip(1);
        groups
            .into_iter()
            .any(|(group, standing)| *standing > self.races.room(group, &self.barriers, layout, words))
    }

    /// Adds every successor of a state, if all that is needed to make them is remembered and no rule about
    /// states may be violated in it; otherwise nothing.
    #[inline]
    pub(crate) fn swift_successors<const W: usize>(
        &self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &Opened,
        batch: &mut Batch<W>,
    ) -> bool {
        if !opened.is_swift {
            return false;
        }
        let before = batch.len();
        for Ready { agent, first_step, steps } in &opened.ready[..opened.ready_count] {
            for step in self.steps.run(*first_step, *steps) {
                let Some(next) = self.swift_successor(layout, words, opened, *agent as usize, step) else {
                    batch.truncate(before);
                    return false;
                };
                batch.push(next);
            }
        }
        true
    }

    /// The state after a step, if all of it is remembered and the agent stands where there is room.
    #[inline(always)]
    fn swift_successor<const W: usize>(
        &self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &Opened,
        agent: usize,
        step: &Step,
    ) -> Option<Packed<W>> {
        let key = self.effect_key(layout, words, opened, step)?;
        let (effect, slot) = self.steps.effect(step, key)?;
        let exceeds = |i: usize| opened.standing[step.standing[i] as usize] > u32::from(effect.room[i]);
        if exceeds(0) || exceeds(1) {
            return None;
        }
        let mut next = self.applied(layout, words, opened, (agent, slot), step, effect)?;
        if self.concerns_memory(opened.held, step) {
            let before = (words, opened.exits);
            let cause = self.cause(layout, before, (agent, slot), step, (effect, key), &next)?;
            self.location_classes.known.apply(
                &layout.location_classes,
                opened.held,
                self.location_classes.find(&cause)?,
                &mut next,
            )?;
        }
        Some(next)
    }

    /// Whether an exit may complete some barrier.
    pub(crate) fn depends_on_exits<const W: usize>(&self, layout: &Layout, words: &Packed<W>) -> bool {
        if !self.some_depend_on_exits {
            return false;
        }
        let barriers = layout.barriers.iter().zip(&self.barriers);
        barriers.into_iter().any(|(field, barrier)| barrier.depends_on_exits[field.get(words) as usize])
    }

    /// The picks that a move leaves open, as a half-open range.
    pub(crate) fn picks<const W: usize>(
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
    pub(crate) fn successor<const W: usize>(
        &mut self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &mut Opened,
        choice: Choice,
        note: &mut dyn FnMut(Finding),
    ) -> Successor<W> {
        let mut key = None;
        if let Some(number) = self.number_of(opened, choice) {
            key = self.effect_key(layout, words, opened, self.steps.get(number));
            let next = key.and_then(|key| self.remembered(layout, words, opened, choice, (number, key)));
            if let Some(next) = next {
                return next;
            }
        }
        let state = opened.state.get_or_insert_with(|| self.state(layout, words));
        match self.machine.step(state, choice) {
            StepOutcome::Disabled => Successor::None,
            StepOutcome::NoEffect => Successor::Same,
            StepOutcome::Error(end) => Successor::End(*end),
            StepOutcome::Noted(progressed, findings) => {
                // A finding about the acting agent alone depends on what the effect depends on: seen once, it
                // need not be seen again.
                let own = findings
                    .iter()
                    .all(|f| f.agents[..] == [choice.agent()] && f.rule != Rule::ResultOverwritten);
                let noted = findings.iter().map(|finding| (finding.rule, finding.barrier)).collect();
                findings.into_iter().for_each(note);
                self.numbered(layout, words, opened, choice, (key.filter(|_| own), noted), &progressed)
            }
            StepOutcome::Progress(progressed) => {
                self.numbered(layout, words, opened, choice, (key, Vec::new()), &progressed)
            }
        }
    }

    /// The number of a step of which something may be remembered, in a quiet state.
    fn number_of(&self, opened: &Opened, choice: Choice) -> Option<u32> {
        if choice.is_landing() || !opened.quiet {
            return None;
        }
        let agent = choice.agent().index();
        let made = &self.slot(agent, opened.slots[agent]).moves[choice.index as usize];
        (made.first_step != UNKNOWN).then(|| made.first_step + choice.pick)
    }

    /// The landings that are possible in a state.
    pub(crate) fn landings<const W: usize>(
        &self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &mut Opened,
    ) -> Vec<Choice> {
        if opened.quiet { Vec::new() } else { opened.state(self, layout, words).landings().collect() }
    }

    /// Packs what the model has answered, and remembers it under the key, if there is one.
    fn numbered<const W: usize>(
        &mut self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &Opened,
        choice: Choice,
        (key, noted): (Option<u32>, Vec<(Rule, Option<BarrierId>)>),
        progressed: &Progressed,
    ) -> Successor<W> {
        let barriers = (0..layout.barriers.len()).map(|field| layout.barrier(BarrierField::of(field), words));
        let before = Numbers {
            agents: opened.slots.clone(),
            barriers: barriers.collect(),
            location_classes: layout.location_classes.iter().map(|field| field.get(words)).collect(),
            residual: opened.residual,
        };
        let numbers = match &opened.state {
            Some(state) => self.number_after((state, &before), &progressed.state),
            None => self.number(&progressed.state),
        };
        if let Some(key) = key {
            let agent = choice.agent();
            let made = &self.slot(agent.index(), opened.slots[agent.index()]).moves[choice.index as usize];
            let step = made.first_step + choice.pick;
            let room = self.steps.get(step).standing.map(|group| {
                let room = self.races.room(group, &self.barriers, layout, words);
                u16::try_from(room).unwrap_or(u16::MAX)
            });
            self.learn(&before, agent, (step, key, room), &numbers, (progressed, noted));
        }
        self.packed(layout, &numbers)
    }

    fn packed<const W: usize>(&self, layout: &Layout, numbers: &Numbers) -> Successor<W> {
        match numbers.pack(layout) {
            Some(words) => Successor::State(words),
            None => Successor::TooWide,
        }
    }

    /// Under which key a step's effect is remembered in a quiet state, if it depends on nothing else.
    #[inline(always)]
    fn effect_key<const W: usize>(
        &self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &Opened,
        step: &Step,
    ) -> Option<u32> {
        let state = layout.barrier(step.barrier, words);
        match step.key {
            Key::Barrier => Some(state),
            Key::BarrierAndExits => Some(state * (to_u32(opened.slots.len()) + 1) + opened.exited),
            Key::Exit => (!opened.depends_on_exits).then_some(state),
        }
    }

    /// The state after a step whose effect is remembered, if what a release does to every other agent is,
    /// too.
    #[inline(always)]
    pub(crate) fn applied<const W: usize>(
        &self,
        layout: &Layout,
        words: &Packed<W>,
        opened: &Opened,
        (actor, slot): (usize, u32),
        step: &Step,
        effect: &Effect,
    ) -> Option<Packed<W>> {
        let mut next = *words;
        if effect.release != UNKNOWN {
            self.release(layout, opened, actor, effect.release, &mut next)?;
        }
        layout.agents[actor].change(&mut next, opened.slots[actor], slot);
        layout.set_barrier(step.barrier, &mut next, effect.barrier);
        Some(next)
    }

    /// Changes the slots of all but the one that acts as a release does, if that is remembered.
    #[inline]
    fn release<const W: usize>(
        &self,
        layout: &Layout,
        opened: &Opened,
        actor: usize,
        release: u32,
        next: &mut Packed<W>,
    ) -> Option<()> {
        let release = &self.releases[release as usize];
        for (agent, class) in &self.seated[release.field] {
            let slot = opened.slots[*agent as usize];
            if *agent as usize == actor {
                continue;
            }
            let after = self.after(release, *class as usize, slot)?;
            layout.agents[*agent as usize].change(next, slot, after);
        }
        Some(())
    }

    /// Remembers what a step did, if it did nothing beyond what may be remembered.
    fn learn(
        &mut self,
        before: &Numbers,
        actor: AgentId,
        (step, key, room): (u32, u32, [u16; 2]),
        after: &Numbers,
        (progressed, noted): (&Progressed, Vec<(Rule, Option<BarrierId>)>),
    ) {
        let Step { barrier, operation, .. } = *self.steps.get(step);
        let own = barrier.field();
        // A barrier without a field was as it is in the beginning.
        let number = |field| before.barriers.get(field).copied().unwrap_or(0);
        let others_changed = (0..after.barriers.len())
            .any(|field| Some(field) != own && after.barriers[field] != number(field));
        let mut completed = progressed.events.iter().filter_map(|event| match event {
            Event::Completed(id, result) => Some((*id, *result)),
            _ => None,
        });
        let release = completed.next();
        if after.residual != before.residual
            || others_changed
            || progressed.is_about_others
            || completed.next().is_some()
        {
            return;
        }
        let release = release.map_or(UNKNOWN, |release| self.number_release(release));
        if release != UNKNOWN {
            self.learn_release(release, before, actor.index(), after);
        }
        let local_effect = match own {
            None => ALONE,
            Some(field) => {
                let id = self.barriers[field].id;
                let seat = progressed.state.agents[actor.index()].seat(id);
                let blocks = progressed.events.contains(&Event::Blocked(id));
                let last = !progressed.state.barrier(id).is_some_and(AnyBarrier::is_kept_for_waits);
                let answer = progressed.events.iter().find_map(|event| match event {
                    Event::Asked(_, answer) => Some(*answer),
                    _ => None,
                });
                let local_effect = LocalEffect { seat, blocks, answer, last, release, noted };
                self.steps.local_effect(operation, local_effect)
            }
        };
        let barrier = own.map_or(0, |field| after.barriers[field]);
        let effect = Effect { local_effect, barrier, release, room };
        self.steps.remember(step, key, effect, after.agents[actor.index()]);
    }

    /// Remembers what the completion of a generation did to all but the one that acted.
    fn learn_release(&mut self, release: u32, before: &Numbers, actor: usize, after: &Numbers) {
        let all = &mut self.releases[release as usize].after;
        for (agent, slot) in before.agents.iter().enumerate() {
            let all = &mut all[self.class_of[agent]];
            if all.len() <= *slot as usize {
                all.resize(*slot as usize + 1, UNKNOWN);
            }
            // What becomes of the one that acts is up to its local effect; others in its slot may not act.
            if agent != actor {
                all[*slot as usize] = after.agents[agent];
            }
        }
    }
}

impl Opened {
    /// The state itself.
    pub(crate) fn state<const W: usize>(
        &mut self,
        tables: &Tables,
        layout: &Layout,
        words: &Packed<W>,
    ) -> &State {
        self.state.get_or_insert_with(|| tables.state(layout, words))
    }
}
