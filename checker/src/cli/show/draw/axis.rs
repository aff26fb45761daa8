//! What stands above and below the lanes: the time, and what the signs mean.

use super::canvas::{Canvas, Window};
use crate::cli::show::text::{cut, object};
use crate::cli::show::theme::{Ink, Sign};
use barcheck_counterexamples::trace::Event;
use unicode_width::UnicodeWidthStr;

impl Canvas<'_, '_, '_, '_> {
    /// Numbers, completed generations, the violation, the cycle, and what matches.
    pub(super) fn axis(&mut self) {
        let Window { area, from, to, cell, .. } = self.window;
        let theme = self.viewer.theme;
        let (time, last) = (self.viewer.time, self.viewer.timeline.last());
        let every =
            [1, 2, 5, 10, 20, 50, 100].into_iter().find(|n| n * cell > last.to_string().len()).unwrap_or(200);
        let near = |tick: usize| tick.abs_diff(time) * cell <= last.to_string().len();
        for tick in (from..=to).filter(|tick| tick % every == 0 && !near(*tick)) {
            if let Some(x) = self.window.x(tick) {
                self.put(x, area.y, &tick.to_string(), Ink::Faint);
            }
        }
        if let Some(x) = self.window.x(time) {
            let number = if time == 0 { "start".to_owned() } else { time.to_string() };
            let width = u16::try_from(number.len()).unwrap_or(u16::MAX);
            self.put(x.min(area.right().saturating_sub(width)), area.y, &number, Ink::Chosen);
        }
        self.flags(area.y + 1);
        let mut y = area.y + 2;
        if let Some(cycle) = self.viewer.timeline.cycle() {
            self.lasso(cycle, y);
            y += 1;
        }
        if self.viewer.filter.restricts() {
            for time in from..=to {
                if let Some(x) =
                    self.window.x(time).filter(|_| self.viewer.times.binary_search(&time).is_ok())
                {
                    self.put(x, y, theme.glyph("▾", "v"), Ink::Heading);
                }
            }
        }
    }

    /// Completed generations by name, and where the violation is.
    fn flags(&mut self, y: u16) {
        let (from, to) = (self.window.from, self.window.to);
        let timeline = &self.viewer.timeline;
        let filter = self.viewer.filter.barrier;
        // Objects have lanes of their own.
        let numbered = timeline.barriers().filter(|b| timeline.phases(*b).is_empty());
        let shown = numbered.filter(|b| filter.is_none_or(|only| only == *b));
        let mut ends: Vec<(usize, u32, u32)> = shown
            .flat_map(|barrier| {
                let all = timeline.generations_within(barrier, from, to).iter();
                all.filter_map(move |g| Some((g.completed?, barrier, g.generation)))
            })
            .collect();
        ends.sort_unstable();
        let violation = self.window.x(timeline.violation());
        let mut free = 0;
        for (time, barrier, generation) in ends {
            let label =
                format!("{}#{generation}", object(&timeline.barrier_short(barrier), 8, self.viewer.theme));
            let width = u16::try_from(label.width()).unwrap_or(u16::MAX);
            let Some(x) = self.window.x(time).filter(|x| *x >= free) else { continue };
            if violation.is_some_and(|at| (x..=x.saturating_add(width)).contains(&at)) {
                continue;
            }
            free = x.saturating_add(width + 1);
            self.put(x, y, &label, Ink::Barrier(self.viewer.hue(barrier)));
        }
        if let Some(x) = violation {
            self.put(x, y, self.viewer.theme.glyph("✗", "!"), Ink::Bad);
        }
    }

    /// From here on, again and again.
    fn lasso(&mut self, cycle: usize, y: u16) {
        let theme = self.viewer.theme;
        let area = self.window.area;
        let left = area.x + u16::try_from(self.window.label).unwrap_or(0);
        let start = if cycle + 1 < self.window.from {
            left
        } else {
            self.window.x(cycle + 1).unwrap_or(area.right())
        };
        let end = self.window.x(self.viewer.timeline.last()).unwrap_or(area.right().saturating_sub(1));
        if start > end {
            return;
        }
        let width = usize::from(end - start) + 1;
        let said = cut(
            &format!("{} again and again from step {} ", theme.glyph("↻", "@"), cycle + 1),
            width.saturating_sub(2),
            theme,
        );
        let line = theme.glyph("─", "-").repeat(width.saturating_sub(said.width() + 2));
        let (open, close) = (theme.glyph("╰", "\\"), theme.glyph("╯", "/"));
        let text =
            if width < 3 { theme.glyph("↻", "@").to_owned() } else { format!("{open}{said}{line}{close}") };
        self.put(start, y, &text, Ink::Bad);
    }

    /// What the signs mean that can be seen, as far as there is room.
    pub(super) fn legend(&mut self) {
        let theme = self.viewer.theme;
        let steps = (self.window.from..=self.window.to).filter_map(|time| self.viewer.timeline.step(time));
        let mut used = Vec::new();
        for step in steps {
            used.push(Sign::Act(self.viewer.timeline.act(step)));
            used.extend(step.events.iter().filter_map(|event| match event {
                Event::Released { .. } => Some(Sign::Released),
                Event::Notified { .. } => Some(Sign::Notified),
                _ => None,
            }));
        }
        let Some(y) = self.window.area.bottom().checked_sub(1).filter(|y| *y > self.window.area.y) else {
            return;
        };
        let mut x = self.window.area.x + 1;
        let waits =
            [(theme.glyph("═", "="), "waits in a generation"), (theme.glyph("╌", "~"), "arrived, goes on")];
        let meanings = Sign::MEANINGS.into_iter().filter(|(sign, _)| used.contains(sign));
        // What is least known comes first.
        let signs: Vec<(&str, Ink, &str)> = super::objects::meanings(self.viewer)
            .into_iter()
            .chain(meanings.map(|(sign, meaning)| {
                let (glyph, ink) = theme.sign(sign);
                (glyph, ink, meaning)
            }))
            .chain(waits.map(|(glyph, meaning)| (glyph, Ink::Plain, meaning)))
            .collect();
        for (glyph, ink, meaning) in signs {
            let width = u16::try_from(meaning.width() + 4).unwrap_or(u16::MAX);
            if x.saturating_add(width) > self.window.area.right() {
                break;
            }
            self.put(x, y, glyph, ink);
            self.put(x + 2, y, meaning, Ink::Faint);
            x += width;
        }
    }
}
