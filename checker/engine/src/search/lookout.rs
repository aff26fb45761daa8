//! Which of the states that a search explores come near to a goal: see [`crate::locate()`].

use crate::successors::expand::Opened;
use crate::successors::tables::Tables;
use crate::verdict::goal::{Seek, Sighting, Wanted};
use crate::visited::StateId;
use barcheck_model::agent::Config;
use barcheck_model::machine::Finding;
use barcheck_model::rule::Rule;

/// Sets of agents that are kept, at most: those of them are shown that make the largest.
const MOST_KEPT: usize = 32;

/// Looks at every state that is explored.
pub(crate) struct Lookout<'g> {
    pub(crate) goal: &'g [Wanted],
    pub(crate) seek: Seek,
    /// For each agent that is wanted somewhere, by slot, whether it is there.
    there: Vec<Vec<Option<bool>>>,
    pub(crate) states: Nearest,
    pub(crate) deadlocks: Nearest,
    pub(crate) opened: Opened,
    pub(crate) sighted: (Vec<Sighting>, Vec<Sighting>),
}

/// The states with the most agents in place, each the first with these.
#[derive(Debug, Default)]
pub(crate) struct Nearest {
    pub(crate) most: u32,
    pub(crate) kept: Vec<(u128, StateId)>,
}

impl Nearest {
    pub(crate) fn see(&mut self, met: u128, state: StateId) {
        let count = met.count_ones();
        if count > self.most {
            *self = Self { most: count, kept: vec![(met, state)] };
        } else if count == self.most
            && self.kept.len() < MOST_KEPT
            && self.kept.iter().all(|(other, _)| *other != met)
        {
            self.kept.push((met, state));
        }
    }
}

impl<'g> Lookout<'g> {
    pub(crate) fn new(goal: &'g [Wanted], seek: Seek) -> Self {
        Self {
            goal,
            seek,
            there: vec![Vec::new(); goal.len()],
            states: Nearest::default(),
            deadlocks: Nearest::default(),
            opened: Opened::default(),
            sighted: Default::default(),
        }
    }

    /// Which agents a goal asks the same of: agents with the same number may be interchanged.
    pub(crate) fn asked_of(goal: &[Wanted], agents: usize) -> Vec<usize> {
        let mut asked = vec![0; agents];
        for (position, wanted) in goal.iter().enumerate() {
            let same = |other: &Wanted| (&other.at, other.exited) == (&wanted.at, wanted.exited);
            asked[wanted.agent.index()] = 1 + goal.iter().position(same).unwrap_or(position);
        }
        asked
    }

    pub(crate) fn all(&self) -> u32 {
        u32::try_from(self.goal.len()).unwrap_or(u32::MAX)
    }

    /// The agents that are where they are wanted, as bits.
    pub(crate) fn met(&mut self, tables: &Tables) -> u128 {
        let mut met = 0;
        for (position, (wanted, there)) in self.goal.iter().zip(&mut self.there).enumerate() {
            let agent = wanted.agent.index();
            let slot = self.opened.slots[agent];
            let at = slot as usize;
            if there.len() <= at {
                there.resize(at + 1, None);
            }
            let is_met = *there[at].get_or_insert_with(|| {
                let config = tables.slot(agent, slot).state.config;
                is_there(wanted, tables.machine.automata()[tables.machine.class(wanted.agent)].config(config))
            });
            met |= u128::from(is_met) << position;
        }
        met
    }
}

/// Whether an agent in this configuration is where it is wanted.
pub(crate) fn is_there(wanted: &Wanted, config: &Config) -> bool {
    if wanted.exited { config.has_exited() } else { config.positions().any(|pc| wanted.at.contains(&pc)) }
}

pub(crate) fn deadlock(found: &[Finding]) -> Option<&Finding> {
    found.iter().find(|finding| finding.rule == Rule::Deadlock)
}
