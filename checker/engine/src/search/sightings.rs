//! Looks at every state that is explored, and makes out paths to what was looked for.

use super::Search;
use super::lookout::{Lookout, Nearest, deadlock, is_there};
use super::position::Pause;
use crate::packed::layout::Packed;
use crate::paths::replay::walk;
use crate::verdict::goal::{Seek, Sighting, Wanted};
use crate::visited::Store;
use barcheck_model::machine::Path;

impl Search<'_> {
    /// Looks at the state that is explored next.
    pub(crate) fn look_out<const W: usize>(&mut self, words: &Packed<W>) -> Option<Pause> {
        let mut lookout = self.lookout.take()?;
        let pause = self.looked_out(words, &mut lookout);
        self.lookout = Some(lookout);
        pause
    }

    fn looked_out<const W: usize>(&mut self, words: &Packed<W>, lookout: &mut Lookout<'_>) -> Option<Pause> {
        self.tables.open(&self.layout, words, &mut lookout.opened);
        let met = lookout.met(&self.tables);
        let here = self.at.next;
        lookout.states.see(met, here);
        let mut is_found = lookout.seek == Seek::State && lookout.states.most == lookout.all();
        if lookout.seek != Seek::State && lookout.opened.is_last {
            let state = lookout.opened.state(&self.tables, &self.layout, words).clone();
            if deadlock(&self.tables.machine.judge(&state)).is_some() {
                lookout.deadlocks.see(met, here);
                is_found |= lookout.deadlocks.most == lookout.all();
            }
        }
        is_found.then_some(Pause::Stopped)
    }

    /// Makes out the paths to what has been seen.
    pub(crate) fn make_out<const W: usize>(&mut self, store: &Store<W>) {
        let Some(mut lookout) = self.lookout.take() else { return };
        if store.misread().is_none() {
            let states = self.sightings(store, &lookout.states, lookout.goal);
            let deadlocks = self.sightings(store, &lookout.deadlocks, lookout.goal);
            lookout.sighted = (states, deadlocks);
        }
        self.lookout = Some(lookout);
    }

    fn sightings<const W: usize>(
        &mut self,
        store: &Store<W>,
        nearest: &Nearest,
        goal: &[Wanted],
    ) -> Vec<Sighting> {
        let mut sightings: Vec<Sighting> = Vec::new();
        for (_, state) in nearest.kept.iter().filter(|_| nearest.most > 0 || goal.is_empty()) {
            let (steps, _) = self.path_to(store, *state);
            let path = Path { steps, cycle_from: None };
            let sighting = self.sighting(path, goal);
            sightings.extend(sighting.filter(|new| sightings.iter().all(|other| other.met != new.met)));
        }
        sightings
    }

    /// What a path of real agents leads to: sorted states do not say which agents are where.
    fn sighting(&mut self, path: Path, goal: &[Wanted]) -> Option<Sighting> {
        let machine = &mut self.tables.machine;
        let state = walk(machine, &path).last?;
        let is_met = |wanted: &Wanted| is_there(wanted, machine.config(&state, wanted.agent));
        let met = goal.iter().enumerate().filter(|(_, wanted)| is_met(wanted)).map(|(position, _)| position);
        let (met, found) = (met.collect(), machine.judge(&state));
        Some(Sighting { met, deadlock: deadlock(&found).cloned(), path })
    }
}
