//! mbarrier objects in the schedule: a lane for each, with its phases and what is in flight for it.

use super::canvas::Canvas;
use crate::cli::show::state::{Row, Viewer};
use crate::cli::show::theme::Ink;
use barcheck_counterexamples::{Flight, Phase};

impl Canvas<'_, '_, '_, '_> {
    /// The phases of the objects that can be seen, and what is in flight for them.
    pub(super) fn objects(&mut self) {
        for row in self.window.rows(self.viewer.rows.len()) {
            let Row::Object { barrier, .. } = self.viewer.rows[row] else { continue };
            if self.viewer.filter.barrier.is_some_and(|only| only != barrier) {
                continue;
            }
            self.phases(barrier, row);
            self.flights(barrier, row);
        }
    }

    /// Phases: faint until something happens in them, and a sign where one is complete.
    fn phases(&mut self, barrier: u32, row: usize) {
        let theme = self.viewer.theme;
        let ink = Ink::Barrier(self.viewer.hue(barrier));
        let (from, to, last) = (self.window.from, self.window.to, self.viewer.timeline.last());
        let phases = self.viewer.timeline.phases(barrier);
        let flights = self.viewer.timeline.flights();
        for Phase { begins, stirs, ends, complete, .. } in phases {
            let end = ends.unwrap_or(last);
            for time in (*begins).max(from)..=end.min(to) {
                let stirred = stirs.is_some_and(|stirs| stirs <= time);
                let flies = flights.iter().any(|flight| flight.barrier == barrier && flies(flight, time));
                let (glyph, ink) = match (stirred, flies) {
                    (true, true) => (theme.glyph("≈", "~"), ink),
                    (true, false) => (theme.glyph("━", "="), ink),
                    (false, _) => (theme.glyph("┈", "."), Ink::Faint),
                };
                self.stretch(time, row, glyph, ink, time < end);
            }
            if let Some(end) = ends {
                let sign = if *complete { theme.glyph("◆", "+") } else { theme.glyph("×", "x") };
                self.stretch(*end, row, sign, if *complete { Ink::Goes } else { Ink::Plain }, false);
            }
        }
    }

    /// Where things are begun and where they land; what never lands has a sign of its own at the end.
    fn flights(&mut self, barrier: u32, row: usize) {
        let theme = self.viewer.theme;
        let last = self.viewer.timeline.last();
        let flights = self.viewer.timeline.flights();
        for flight in flights.iter().filter(|flight| flight.barrier == barrier) {
            if let Some(time) = flight.issued {
                self.stretch(time, row, theme.glyph("↘", "\\"), Ink::Plain, false);
            }
            match flight.landed {
                None => self.stretch(last, row, theme.glyph("▷", ">"), Ink::Bad, false),
                Some(time) if flight.fails => {
                    self.stretch(time, row, theme.glyph("✗", "!"), Ink::Bad, false);
                }
                Some(time) => {
                    let completes =
                        self.viewer.timeline.phases(barrier).iter().any(|phase| phase.ends == Some(time));
                    if !completes {
                        self.stretch(time, row, theme.glyph("▼", "v"), Ink::Goes, false);
                    }
                }
            }
        }
    }
}

/// Whether something is in flight after so many steps.
pub(super) fn flies(flight: &Flight, time: usize) -> bool {
    flight.issued.is_none_or(|issued| issued <= time) && flight.landed.is_none_or(|landed| landed > time)
}

/// How an object stands: the parity of its phase, and its counts.
pub(super) fn status(viewer: &Viewer<'_>, barrier: u32) -> String {
    let state = viewer.timeline.barrier(barrier, viewer.time).filter(|state| state.active);
    let Some(state) = state else { return "idle".to_owned() };
    let few = |number: u32| match number {
        0..1024 => number.to_string(),
        _ if number.is_multiple_of(1024) => format!("{}K", number / 1024),
        _ => format!("{:.1}K", f64::from(number) / 1024.0),
    };
    let counts = state.counts.iter();
    counts
        .map(|count| format!("{}/{}", few(count.arrived), few(count.expected)))
        .collect::<Vec<_>>()
        .join("+")
}

/// What the signs of objects mean.
pub(super) fn meanings(viewer: &Viewer<'_>) -> Vec<(&'static str, Ink, &'static str)> {
    let theme = viewer.theme;
    let mut meanings = Vec::new();
    if viewer.timeline.objects().next().is_some() {
        meanings.push((theme.glyph("━", "="), Ink::Plain, "phase"));
    }
    let flights = viewer.timeline.flights();
    if !flights.is_empty() {
        meanings.push((theme.glyph("≈", "~"), Ink::Plain, "in flight"));
    }
    if flights.iter().any(|flight| flight.landed.is_some()) {
        meanings.push((theme.glyph("▼", "v"), Ink::Goes, "lands"));
    }
    if flights.iter().any(|flight| flight.landed.is_none()) {
        meanings.push((theme.glyph("▷", ">"), Ink::Bad, "never lands"));
    }
    meanings
}
