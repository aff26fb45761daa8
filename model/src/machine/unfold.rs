//! Agents that turn out to behave alike although their code mentions who they are.
//!
//! An agent's future is a function of its configuration and of its index. If the configurations that it can
//! come to, whatever the others do, are the same as another agent's, and so is what follows from
//! each of them, then the two share an automaton: the index made no difference.

use super::{Automaton, ConfigId, Label, Machine};
use crate::agent::{Action, Choices, Config, Context, Move, Outcome, Trail};
use crate::barrier::{Blocking, Opaque};
use crate::program::{AgentId, Op, ReductionOp, WARP_SIZE};
use std::collections::BTreeSet;

/// Decisions among more alternatives than this are not unfolded.
const MOST_PICKS: u64 = 256;
/// A configuration with more edges than this counts as several.
const MANY_EDGES: u32 = 64;

/// Why an automaton could not be worked out by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotUnfolded {
    /// It has more configurations than asked for.
    TooLarge,
    /// A decision has too many alternatives.
    ManyChoices,
    /// It was told to end.
    Stopped,
}

impl Machine {
    /// Lets agents of one role share an automaton if theirs are equal. Automata of more than `most`
    /// configurations are not compared, nor any more once `goes_on` says no; it is asked as in
    /// [`Self::unfolded`].
    pub fn merge_alike(&mut self, most: usize, goes_on: &mut dyn FnMut() -> bool) {
        let mut distinct: Vec<usize> = Vec::new();
        for class in 0..self.automata.len() {
            let agent = self.automata[class].representative();
            // Agents of different CTAs are told apart by where they live, if by nothing else.
            let kin = |automaton: &Automaton| {
                let agent = automaton.representative();
                (self.program.agents[agent.index()], self.program.cta_of(agent))
            };
            let own = kin(&self.automata[class]);
            let has_kin = self
                .automata
                .iter()
                .enumerate()
                .any(|(other, automaton)| other != class && kin(automaton) == own);
            // The search reads states, and never comes to the configurations that stand for all of them.
            let reads = self.program.code(agent).ops.iter().any(Op::reads_state);
            if !has_kin || reads || self.unfold(class, most, goes_on).is_err() {
                continue;
            }
            let alike = distinct.iter().copied().find(|other| {
                let agent = self.automata[*other].representative();
                (self.program.agents[agent.index()], self.program.cta_of(agent)) == own
                    && self.automata[*other].is_alike(&self.automata[class])
            });
            match alike {
                Some(alike) => {
                    let (from, to) = (class, u32::try_from(alike).unwrap_or(u32::MAX));
                    for class in self.class.iter_mut().filter(|c| **c as usize == from) {
                        *class = to;
                    }
                    self.automata[from] = Automaton::new(agent);
                }
                None => distinct.push(class),
            }
        }
    }

    /// Works out the whole automaton of an agent, whatever the others do: the steps of its own, and
    /// releases. A barrier's state that it reads is [`Opaque::Unknown`]: it can do nothing with one but put
    /// it back.
    ///
    /// # Errors
    /// It has more than `most` configurations, it cannot be listed, or `goes_on` says no; it is asked for
    /// every configuration, and for every 64 edges of one.
    pub fn unfolded(
        &mut self,
        agent: AgentId,
        most: usize,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<&Automaton, NotUnfolded> {
        let class = self.class(agent);
        self.unfold(class, most, goes_on)?;
        Ok(&self.automata[class])
    }

    fn unfold(
        &mut self,
        class: usize,
        most: usize,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), NotUnfolded> {
        self.unfold_along(class, most, None, &mut |_| goes_on())
    }

    /// The same, noting on the way what the agent comes to. `goes_on` is told of the automaton so far.
    pub(super) fn unfold_along(
        &mut self,
        class: usize,
        most: usize,
        trail: Option<&Trail>,
        goes_on: &mut dyn FnMut(&Automaton) -> bool,
    ) -> Result<(), NotUnfolded> {
        let agent = self.automata[class].representative();
        let warps = u32::try_from(self.program.agents.len()).unwrap_or(u32::MAX);
        let (context, automaton) = self.parts(agent);
        let context = Context { trail, ..context };
        automaton.intern(context, crate::agent::initial(context));
        let mut next = 0;
        while next < automaton.len() {
            if automaton.len() > most {
                return Err(NotUnfolded::TooLarge);
            }
            if !goes_on(automaton) {
                return Err(NotUnfolded::Stopped);
            }
            let id = ConfigId(u32::try_from(next).unwrap_or(u32::MAX));
            next += 1;
            let mut edges = 0_u32;
            for result in results(context, automaton.config(id), warps) {
                automaton.follow(context, id, Label::Released(result));
                edges += 1;
                if edges.is_multiple_of(MANY_EDGES) && !goes_on(automaton) {
                    return Err(NotUnfolded::Stopped);
                }
            }
            for index in 0..automaton.moves(id).len() {
                let made = &automaton.moves(id)[index];
                let outcomes = outcomes(context, automaton.config(id), made);
                let picks = picks(made).ok_or(NotUnfolded::ManyChoices)?;
                let index = u32::try_from(index).unwrap_or(u32::MAX);
                for pick in 0..picks {
                    for outcome in &outcomes {
                        automaton.follow(context, id, Label::Made(index, pick, *outcome));
                    }
                    edges += 1;
                    if edges.is_multiple_of(MANY_EDGES) && !goes_on(automaton) {
                        return Err(NotUnfolded::Stopped);
                    }
                }
            }
        }
        Ok(())
    }

    /// The agents that share an automaton with `agent`, itself included.
    pub fn alike(&self, agent: AgentId) -> impl Iterator<Item = AgentId> + '_ {
        self.agents().filter(move |other| self.class(*other) == self.class(agent))
    }
}

/// The results with which a configuration could be released; none if it does not block.
fn results(context: Context<'_>, config: &Config, warps: u32) -> Vec<Option<u32>> {
    let Some(waiting) = config.waiting else { return Vec::new() };
    let reduction = context.code.ops[waiting.at.index()].reduction();
    match reduction {
        None => vec![None],
        Some(ReductionOp::Popc) => (0..=most_counted(context, config, warps * WARP_SIZE)).map(Some).collect(),
        Some(ReductionOp::And | ReductionOp::Or) => vec![Some(0), Some(1)],
    }
}

/// The most true predicates that the generation can count for which a warp waits. A generation of more
/// threads than there are never completes, not even with arrivals of another one that are put back: whoever
/// arrives in a reduction waits for a completion with the same count, so that before the first one no warp
/// has arrived twice.
fn most_counted(context: Context<'_>, config: &Config, threads: u32) -> u32 {
    let arriving = Config { waiting: None, ..config.clone() };
    let counts = crate::agent::moves(context, &arriving);
    let counts = counts.iter().filter_map(|made| match &made.action {
        Action::Barrier(action) => action.most_counted(threads),
        _ => None,
    });
    counts.max().map_or(threads, |most| most.min(threads))
}

/// The outcomes that a move can have.
fn outcomes(context: Context<'_>, config: &Config, made: &Move) -> Vec<Outcome> {
    match &made.action {
        Action::Spin
        | Action::Refuse(..)
        | Action::NotModelled(_)
        | Action::Fault(_)
        | Action::Assert(false) => Vec::new(),
        Action::Exit(Some(action)) | Action::Barrier(action) => match action.blocking() {
            Blocking::Never => vec![Outcome::Pass],
            Blocking::Always => vec![Outcome::Block],
            Blocking::Sometimes => vec![Outcome::Pass, Outcome::Block],
            Blocking::Asks => vec![Outcome::Tested(false), Outcome::Tested(true)],
            Blocking::Reads => vec![Outcome::Read(Opaque::Unknown(unheld(context, config, made)))],
        },
        Action::Decide
        | Action::Exit(None)
        | Action::Assert(true)
        | Action::Access(..)
        | Action::Fence(_)
        | Action::Proxy(_)
        | Action::MemoryBarrier(..)
        | Action::Park(..)
        | Action::Alloc(_)
        | Action::Init(..)
        | Action::Fetch(_)
        | Action::SaveCopy(_)
        | Action::RestoreCopy(_) => vec![Outcome::Pass],
    }
}

/// The number of the state that a move reads, which tells the register and the first lane: in whatever
/// order lanes read, they hold the same in the end. Another one if a fragment that stays behind holds a
/// state by that number.
fn unheld(context: Context<'_>, config: &Config, made: &Move) -> u32 {
    let written = context.code.ops[made.pc.index()].written();
    let Some(dest) = written.first() else { return 0 };
    let others = (0..).zip(&config.fragments).filter(|(fragment, _)| *fragment != made.fragment);
    let held: BTreeSet<u32> = others.flat_map(|(_, fragment)| fragment.unknown_states()).collect();
    let registers = u32::try_from(context.code.locals.len()).unwrap_or(u32::MAX);
    let number = |lane: u32| dest.0.saturating_add(lane.saturating_mul(registers));
    let mut numbers = (made.lanes.trailing_zeros()..).step_by(WARP_SIZE as usize).map(number);
    numbers.find(|number| !held.contains(number)).unwrap_or(u32::MAX)
}

fn picks(made: &Move) -> Option<u32> {
    match made.choices {
        Choices::One => Some(1),
        Choices::Uniform(_) => Some(2),
        Choices::Open(n) => u32::try_from(n).ok().filter(|n| u64::from(*n) <= MOST_PICKS),
    }
}
