//! What a run keeps of each barrier besides its state, to tell whether another order would go elsewhere.
//!
//! # Barriers with phases
//!
//! Of an mbarrier a wait may see any phase, and an arrival may complete one early, so more has to be known
//! than that arrivals of one generation come after those of the one before. Let C(k) be the completion of
//! phase k and S(k) what the run did in it: arrivals, announcements of bytes, issues and landings. Checked
//! is:
//!
//! 1. Whatever belongs to S(k) has all of S(k-1) in its past: it never comes before C(k-1).
//! 2. Once all arrivals of a phase are made, every announcement of bytes in it is in the past of one of them,
//!    and every landing brings something. So no part of S(k) completes the phase, whether or not S(k) does:
//!    it lacks an arrival, or has all arrivals, with them all announcements, and lacks a landing, whose bytes
//!    are still awaited. C(k) comes after all of S(k), and whatever belongs to S(k) never comes after C(k).
//!    (That bytes stay within their range in every order is up to the barrier:
//!    [`AnyBarrier::depends_on_order`](barcheck_model::machine::AnyBarrier::depends_on_order).)
//! 3. A wait that passes, seeing C(k), has S(k-1) in its past, and one that blocks until C(k) likewise: it
//!    never comes before C(k-1). And it is in the past of something in S(k+1): it never comes after C(k+1).
//!    In between it passes after C(k) and blocks before.
//! 4. An arrival in phase k+1 has a wait in its past that sees C(k): it is observed in every order.
//! 5. An arrival that must not complete phase k is in the past of something else in S(k): so C(k) always
//!    comes after it. Where it and another arrival are unordered, either may be the last.
//! 6. Whoever begins or ends the barrier's life has everything in its past, and is in the past of whatever
//!    follows.
//!
//! # Pools
//!
//! Of what some give and others take, everything given comes in every order if no giving has a taking in
//! its past: giving waits for nobody. If in the run all takings have found enough, they do in every order:
//! however much has been taken before, no more than in the run is taken in all. So what remains is the
//! same, nobody waits for ever, and who has taken first does not matter to anybody.

use super::clocks::Clocks;
use super::plane::{Moment, Moments};
use barcheck_model::barrier::{BarrierAction, Part};
use barcheck_model::program::AgentId;

/// What is to be known of a barrier besides its state.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// The arrivals in the generation that is gathering: of each agent the latest.
    pub(super) gathering: Moments,
    /// The arrivals in the latest generation that is complete, and the step that completed it.
    pub(super) completed: Moments,
    /// Waits for the gathering generation: they block. In another order they might come after its completion.
    pub(super) early_waits: Vec<Moment>,
    /// Waits for the latest generation that is complete (`nbarrier`, `xegpu`).
    pub(super) waits: Vec<Moment>,
    pub(super) phases: Phases,
}

/// The same for barriers with phases.
#[derive(Clone, Debug, Default)]
pub(super) struct Phases {
    /// A phase has completed since the beginning of the barrier's life.
    some_complete: bool,
    /// What belongs to the phase before the latest complete one.
    before: Moments,
    /// The first wait of each agent that has seen the latest complete phase.
    observers: Vec<Moment>,
    /// The last of each agent, or its arrival that must not complete the present phase, that is in the past
    /// of nothing else in that phase.
    unsettled: Vec<Moment>,
    /// Waits that block.
    early: Vec<Moment>,
    /// Announcements that are in the past of no arrival yet.
    announced: Vec<Moment>,
}

/// What an agent knows before it comes to a wait.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    /// It may pass.
    pub(super) passes: bool,
    /// It may block.
    pub(super) blocks: bool,
    /// It is an arrival that must not complete the phase.
    pub(super) must_not_complete: bool,
}

impl Before {
    /// Of what nothing has been done to yet.
    pub(super) const FIRST: Self = Self { passes: true, blocks: true, must_not_complete: false };

    /// The same for an instruction.
    pub(super) fn of(self, action: &BarrierAction) -> Self {
        Self { must_not_complete: action.must_not_complete(), ..self }
    }
}

impl History {
    /// Whether an instruction might do something else in another order; of a wait that is known once it has
    /// passed or blocked.
    pub(super) fn is_open(&self, clocks: &Clocks, agent: AgentId, part: Part) -> bool {
        let knows = |moment: &Moment| clocks.knows(agent, *moment);
        let Phases { observers, unsettled, early, announced, before, some_complete } = &self.phases;
        match part {
            Part::Begins => {
                let waits = observers.iter().chain(unsettled).chain(early).chain(announced);
                !(clocks.knows_all(agent, &self.gathering)
                    && clocks.knows_all(agent, &self.completed)
                    && clocks.knows_all(agent, before)
                    && waits.into_iter().all(knows))
            }
            Part::Arrives => {
                let is_observed = !some_complete || observers.iter().any(knows);
                !(clocks.knows_all(agent, &self.completed) && is_observed)
            }
            Part::Counts => !clocks.knows_all(agent, &self.completed),
            Part::Asks => true,
            // Where some give and others take: see below.
            Part::Gives => self.waits.iter().any(|taken| clocks.knows(agent, *taken)),
            Part::Observes | Part::Waits | Part::MovesState | Part::Takes => false,
        }
    }

    /// What the agent knows before a wait.
    pub(super) fn before_wait(&self, clocks: &Clocks, agent: AgentId) -> Before {
        Before {
            passes: clocks.knows_all(agent, &self.phases.before),
            blocks: clocks.knows_all(agent, &self.completed),
            ..Before::FIRST
        }
    }

    /// Something in the present phase, an arrival or not, by an agent.
    pub(super) fn belongs(&mut self, clocks: &Clocks, agent: AgentId, now: Moment, arrives: bool) {
        self.gathering.add(now);
        self.phases.unsettled.retain(|wait| !clocks.knows(agent, *wait));
        if arrives {
            self.phases.announced.retain(|other| !clocks.knows(agent, *other));
        }
    }

    /// An arrival that must not complete the phase: something else in it has to come after it.
    pub(super) fn follow(&mut self, now: Moment) {
        replace(&mut self.phases.unsettled, now);
    }

    /// Bytes are announced.
    pub(super) fn announce(&mut self, now: Moment) {
        replace(&mut self.phases.announced, now);
    }

    /// Whether some announcement is in the past of no arrival.
    pub(super) fn has_open_announcements(&self) -> bool {
        !self.phases.announced.is_empty()
    }

    /// A wait passes.
    pub(super) fn observe(&mut self, now: Moment) {
        if !self.phases.observers.iter().any(|other| other.actor == now.actor) {
            self.phases.observers.push(now);
        }
        replace(&mut self.phases.unsettled, now);
    }

    /// A wait blocks.
    pub(super) fn block(&mut self, now: Moment) {
        self.phases.early.push(now);
    }

    /// A phase is complete; `false` if it might have been so at another step.
    pub(super) fn complete_phase(&mut self) -> bool {
        let Phases { unsettled, announced, early, before, .. } = &mut self.phases;
        let is_settled = unsettled.is_empty() && announced.is_empty();
        std::mem::swap(before, &mut self.completed);
        std::mem::swap(&mut self.completed, &mut self.gathering);
        self.gathering.clear();
        let early = std::mem::take(early);
        self.phases.observers.clone_from(&early);
        self.phases.unsettled = early;
        self.phases.some_complete = true;
        is_settled
    }

    /// An agent exits at a barrier that waits for every live agent: its waits are over before the next phase
    /// completes, for which its exit is needed.
    pub(super) fn exit(&mut self, clocks: &Clocks, agent: AgentId) {
        self.phases.unsettled.retain(|wait| wait.actor != agent.0 || !clocks.knows(agent, *wait));
    }

    /// The barrier's life begins or ends.
    pub(super) fn begin(&mut self, now: Moment) {
        *self = Self::default();
        self.completed.add(now);
        self.phases.before.add(now);
    }

    /// The steps that must still be known of, each with the number of its kind.
    pub(super) fn marks(&self) -> impl Iterator<Item = (u64, Moment)> + '_ {
        let Phases { before, observers, unsettled, early, announced, .. } = &self.phases;
        let sets = [(1, &self.completed), (2, &self.gathering), (5, before)];
        let lists = [
            (3, &self.waits),
            (4, &self.early_waits),
            (6, observers),
            (7, unsettled),
            (8, early),
            (9, announced),
        ];
        let sets = sets.into_iter().flat_map(|(kind, moments)| moments.iter().map(move |m| (kind, m)));
        sets.chain(lists.into_iter().flat_map(|(kind, list)| list.iter().map(move |m| (kind, *m))))
    }
}

/// Adds a step in place of an earlier one of its actor.
fn replace(list: &mut Vec<Moment>, now: Moment) {
    match list.iter_mut().find(|other| other.actor == now.actor) {
        Some(earlier) => *earlier = now,
        None => list.push(now),
    }
}
