//! In which order warps and their lanes go on: by chance.

use super::chance::Chance;
use super::cta::{Cta, Event, Launch, Outcome};
use super::kernel::Kernel;
use super::races::Race;

/// Which warp is next.
enum Schedule {
    Fair,
    /// The first of these that can go on; now and then two of them change places.
    Priorities(Vec<usize>),
}

impl Schedule {
    fn new(warps: usize, chance: &mut Chance) -> Self {
        if chance.once_in(2) {
            return Self::Fair;
        }
        let mut order: Vec<usize> = (0..warps).collect();
        (1..warps).for_each(|at| order.swap(at, chance.below(at + 1)));
        Self::Priorities(order)
    }

    /// One of the warps that can go on.
    fn choose(&mut self, able: u64, chance: &mut Chance) -> Option<usize> {
        match self {
            Self::Fair => {
                let chosen = chance.below(able.count_ones() as usize);
                (0..64).filter(|warp| able >> warp & 1 == 1).nth(chosen)
            }
            Self::Priorities(order) => {
                let count = order.len();
                if chance.once_in(16) {
                    order.swap(chance.below(count), chance.below(count));
                }
                order.iter().copied().find(|warp| able >> warp & 1 == 1)
            }
        }
    }

    /// Who spins must not keep the others from what it waits for.
    fn went(&mut self, warp: usize, chance: &mut Chance) {
        if let Self::Priorities(order) = self
            && chance.once_in(4)
        {
            order.retain(|other| *other != warp);
            order.push(warp);
        }
    }
}

/// How a run ended, and what was seen on the way.
pub struct Run {
    pub outcome: Outcome,
    /// What its warps did at barriers.
    pub events: Vec<Event>,
    /// The data races that were met, if they were looked for and the lanes of each warp stayed together.
    pub races: Option<Vec<Race>>,
    /// Somebody has asked memory what others have done, as atomic operations and strong loads do.
    pub asks: bool,
}

/// Runs a kernel once.
pub fn run(kernel: &Kernel, launch: &Launch) -> Run {
    let mut cta = Cta::new(kernel, launch);
    let mut fuel = launch.fuel;
    let mut schedule = Schedule::new(cta.warps.len(), &mut cta.chance);
    // Lanes of a warp stay together, or go as they like.
    let is_wild = cta.chance.once_in(4);
    // Lanes of one warp that wait for nobody of it are not what races are about.
    cta.races = cta.races.take().filter(|_| !is_wild);
    let quantum = [4, 64, 1024][cta.chance.below(3)];
    while cta.ended.is_none() {
        let able = |warp: usize| u64::from(cta.warps[warp].ready != 0) << warp;
        let able = (0..cta.warps.len()).map(able).sum();
        let Some(warp) = schedule.choose(able, &mut cta.chance) else {
            if !cta.land(true) && !cta.give_up_asking() {
                cta.ended = Some(cta.nobody_goes_on());
            }
            continue;
        };
        for _ in 0..=cta.chance.below(quantum) {
            let ready = cta.warps[warp].ready;
            if ready == 0 || cta.ended.is_some() {
                break;
            }
            fuel = fuel.saturating_sub(1);
            if fuel == 0 {
                cta.ended = Some(Outcome::OutOfFuel);
            }
            let group = cta.group(warp, ready, is_wild);
            cta.step(warp, group);
        }
        if cta.chance.once_in(2) {
            cta.land(false);
        }
        schedule.went(warp, &mut cta.chance);
    }
    let outcome = cta.ended.take().unwrap_or(Outcome::OutOfFuel);
    let asks = cta.races.as_ref().is_some_and(|races| races.asks);
    Run { outcome, events: cta.events, races: cta.races.map(|races| races.found), asks }
}
