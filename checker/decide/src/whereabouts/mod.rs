//! Whether a protocol can be in a state in which agents are at certain places, and by which schedule.
//!
//! The engine looks for such a state; here the places that people name become operations of the protocol, and
//! what is found becomes traces that were replayed.

mod answer;
mod place;
mod remarks;

use crate::confirm::{Unconfirmed, confirm};
use crate::purse::in_words;
use crate::question::Options;
use crate::reason::{self, Reason};
pub use answer::{Answer, Hang, Named, Shown, Unanswered, Whereabouts};
use barcheck_counterexamples::{Counterexample, Noun, SourceInfo, What};
use barcheck_engine::{Control, Located, Seek, Sighting, Wanted, locate};
use barcheck_model::program::{AgentId, Program};
use barcheck_model::rule::Level;
use barcheck_specs::{Loaded, Source, load_within};
pub use place::{At, Spot, Who};
use std::sync::Arc;
use std::time::Instant;

/// Looks for a state of a protocol in which agents are at certain places.
///
/// # Errors
/// The text has no meaning, or no instruction is at a place that is named.
pub fn find(
    source: &Source<'_>,
    at: &[At],
    seek: Seek,
    options: &Options,
    control: &dyn Control,
) -> Result<Whereabouts, Unanswered> {
    let started = control.began().unwrap_or_else(Instant::now);
    let patience = barcheck_engine::patience(options.settings.budgets, started, control);
    let loaded = load_within(source, &options.load, &patience).map_err(Unanswered::Unread)?;
    let (goal, wanted) = place::resolve(source.name, &loaded, at).map_err(Unanswered::Wrong)?;
    let origin = SourceInfo {
        file: source.name.to_owned(),
        format: loaded.format.name().to_owned(),
        defines: loaded.used_defines(&options.load),
        text: loaded.text.clone(),
    };
    let program = Arc::new(loaded.program.clone());
    let located = locate((Arc::clone(&program), options.readings), &goal, seek, &options.settings, control);
    let hunt = Hunt { program: &program, origin: &origin, options, goal: &goal };
    let found = Found::of(&hunt, &located)?;
    Ok(found.answer(&loaded, wanted, seek, &located))
}

/// What becomes of what a search has seen.
struct Hunt<'h> {
    program: &'h Arc<Program>,
    origin: &'h SourceInfo,
    options: &'h Options,
    goal: &'h [Wanted],
}

impl Hunt<'_> {
    fn shown(&self, sighting: &Sighting) -> Result<Shown, Unanswered> {
        let agents: Vec<AgentId> = sighting.met.iter().map(|position| self.goal[*position].agent).collect();
        let what = match &sighting.deadlock {
            Some(finding) => What::Finding(finding, Level::Error),
            None => What::State(&agents),
        };
        let (readings, budgets) = (self.options.readings, self.options.settings.budgets);
        let confirmed = confirm(self.program, readings, self.origin, (&sighting.path, what), budgets);
        let Counterexample { trace, left_out, .. } = confirmed.map_err(|why| match why {
            Unconfirmed::Departs(how) => Unanswered::Defect(how),
            Unconfirmed::Late => Unanswered::Defect("no time was left to confirm it".to_owned()),
        })?;
        let hangs = sighting.deadlock.is_some();
        Ok(Shown { met: sighting.met.clone(), hangs, trace, left_out: left_out.map(in_words) })
    }

    fn all(&self, sightings: &[Sighting]) -> Result<Vec<Shown>, Unanswered> {
        sightings.iter().take(MOST_SHOWN).map(|sighting| self.shown(sighting)).collect()
    }
}

/// Sets of agents that are shown, at most.
const MOST_SHOWN: usize = 8;

/// What was seen, with traces.
struct Found {
    states: Vec<Shown>,
    deadlocks: Vec<Shown>,
    all: usize,
}

impl Found {
    fn of(hunt: &Hunt<'_>, located: &Located) -> Result<Self, Unanswered> {
        let (states, deadlocks) = (hunt.all(&located.states)?, hunt.all(&located.deadlocks)?);
        Ok(Self { states, deadlocks, all: hunt.goal.len() })
    }

    fn whole(&self, shown: &[Shown]) -> Option<Shown> {
        shown.iter().find(|shown| shown.met.len() == self.all).cloned()
    }

    fn answer(self, loaded: &Loaded, wanted: Vec<Named>, seek: Seek, located: &Located) -> Whereabouts {
        let (state, deadlock) = (self.whole(&self.states), self.whole(&self.deadlocks));
        let is_complete = located.inconclusive.is_none() && !located.faulty;
        let hang = match (seek, &deadlock) {
            (Seek::State, _) => Hang::NotAsked,
            (_, Some(_)) => Hang::Found,
            _ if located.has_no_deadlock => Hang::Never,
            _ if is_complete => Hang::Excluded,
            _ => Hang::Undecided,
        };
        let (answer, shown) = match (seek, deadlock, &state) {
            (Seek::State | Seek::Either, None, Some(state)) if state.hangs => {
                (Answer::Hangs, Some(state.clone()))
            }
            (Seek::State | Seek::Either, None, Some(state)) => (Answer::Reachable, Some(state.clone())),
            (_, Some(deadlock), _) => (Answer::Hangs, Some(deadlock)),
            _ if is_complete => (Answer::Unreachable, None),
            _ => (Answer::Inconclusive, None),
        };
        let nearest = match (&shown, seek) {
            (Some(_), _) => Vec::new(),
            (None, Seek::Deadlock) => self.deadlocks,
            (None, Seek::State | Seek::Either) => self.states,
        };
        let passing = if shown.is_none() { state.filter(|state| !state.hangs) } else { None };
        let is_open =
            answer == Answer::Inconclusive || answer == Answer::Reachable && hang == Hang::Undecided;
        let why = located.inconclusive.as_ref().filter(|_| is_open);
        let mut reason = why.map(|why| reason::inconclusive(&loaded.program, why));
        if is_open && reason.is_none() {
            reason =
                Some(Reason::plain("a run ends at an evaluation error: see `barcheck verify`".to_owned()));
        }
        let remarks = remarks::remarks(loaded, answer, shown.as_ref().or(passing.as_ref()), &located.ended);
        Whereabouts {
            kernel: loaded.extracted.as_ref().map(|extracted| extracted.entry.clone()),
            entry: loaded.extracted.as_ref().map(|extracted| extracted.index),
            target: loaded.program.target,
            noun: Noun::of(&loaded.program),
            wanted,
            answer,
            hang,
            shown,
            nearest,
            passing,
            remarks,
            reason,
            statistics: located.statistics,
        }
    }
}
