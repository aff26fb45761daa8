//! The schedule: a lane for each agent, steps from left to right. Only what can be seen is drawn.

use super::canvas::{Canvas, label_columns, window};
use crate::cli::show::state::{Panel, Row, Viewer};
use crate::cli::show::text::{fit, object};
use crate::cli::show::theme::{Ink, Sign};
use barcheck_counterexamples::Act;
use barcheck_counterexamples::trace::{Event, Status};
use ratatui::Frame;
use ratatui::layout::Rect;

/// What the title says: the lanes that have no room.
pub(super) fn note(viewer: &Viewer<'_>) -> String {
    let scroll = viewer.scrolls[Panel::Schedule as usize];
    let below = scroll.lines.saturating_sub(scroll.top + scroll.room);
    let hidden = match (scroll.top, below) {
        (0, 0) => return String::new(),
        (0, below) => format!("{below} lanes below"),
        (above, 0) => format!("{above} lanes above"),
        (above, below) => format!("{above} lanes above, {below} below"),
    };
    format!(" {hidden}{} ", if viewer.has_roles() { "; f folds roles" } else { "" })
}

pub(super) fn draw(frame: &mut Frame<'_>, viewer: &mut Viewer<'_>, area: Rect) {
    let window = window(viewer, area);
    let mut canvas = Canvas { frame, viewer, window };
    canvas.lives();
    canvas.bands();
    canvas.objects();
    canvas.signs();
    canvas.present();
    canvas.axis();
    canvas.labels();
    canvas.legend();
}

impl Canvas<'_, '_, '_, '_> {
    /// What agents do between their steps: nothing is drawn of those that have exited.
    fn lives(&mut self) {
        for row in self.window.rows(self.viewer.rows.len()) {
            for time in self.window.from..=self.window.to {
                let (glyph, ink, fill) = match self.viewer.rows[row] {
                    Row::Agent { agent, .. } => self.life(agent, time),
                    Row::Folded(group) => (self.crowd(group, time), Ink::Blocked, true),
                    Row::Object { .. } => continue,
                };
                self.stretch(time, row, glyph, ink, fill && time < self.viewer.timeline.last());
            }
        }
    }

    /// An agent between two steps: how it looks, and whether up to the next.
    fn life(&self, agent: u32, time: usize) -> (&'static str, Ink, bool) {
        let theme = self.viewer.theme;
        match self.viewer.timeline.agent(agent, time).map(|state| state.status) {
            Some(Status::Blocked) => (theme.glyph("─", "-"), Ink::Blocked, true),
            Some(Status::Running) => (theme.glyph("·", "."), Ink::Faint, false),
            Some(Status::Failed) => (theme.glyph("✗", "!"), Ink::Bad, false),
            Some(Status::Exited) | None => (" ", Ink::Plain, false),
        }
    }

    /// How many of a folded role are blocked.
    fn crowd(&self, group: usize, time: usize) -> &'static str {
        const BARS: [&str; 9] = ["·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
        const DIGITS: [&str; 9] = [".", "1", "2", "3", "4", "5", "6", "7", "8"];
        let agents = &self.viewer.timeline.groups()[group].agents;
        let state = |agent: &&u32| self.viewer.timeline.agent(**agent, time);
        let blocked = agents.iter().filter(|a| state(a).is_some_and(|s| s.status == Status::Blocked)).count();
        let height = (blocked * 8).div_ceil(agents.len().max(1)).min(8);
        if self.viewer.theme.unicode { BARS[height] } else { DIGITS[height] }
    }

    /// Generations: from each arrival to the step that completes it, in the lanes that took part.
    fn bands(&mut self) {
        let theme = self.viewer.theme;
        let (from, to) = (self.window.from, self.window.to);
        let filter = self.viewer.filter.barrier;
        for (hue, barrier) in self.viewer.timeline.barriers().enumerate() {
            let has_lane = !self.viewer.timeline.phases(barrier).is_empty();
            if has_lane || filter.is_some_and(|only| only != barrier) {
                continue;
            }
            let ink = Ink::Barrier(hue);
            for generation in self.viewer.timeline.generations_within(barrier, from, to) {
                let end = generation.completed.unwrap_or(self.viewer.timeline.last());
                for (agent, arrival) in &generation.arrivals {
                    let Some(row) = self.viewer.row_of(*agent) else { continue };
                    if self.window.y(row).is_none() || matches!(self.viewer.rows[row], Row::Folded(_)) {
                        continue;
                    }
                    for time in (*arrival).max(from)..=end.min(to) {
                        let state = self.viewer.timeline.agent(*agent, time).map(|state| state.status);
                        let glyph = match state {
                            Some(Status::Blocked) => theme.glyph("═", "="),
                            _ => theme.glyph("╌", "~"),
                        };
                        self.stretch(time, row, glyph, ink, time < end);
                    }
                }
            }
        }
    }

    fn signs(&mut self) {
        for time in self.window.from.max(1)..=self.window.to {
            let Some(step) = self.viewer.timeline.step(time) else { continue };
            let matches = !self.viewer.filter.restricts() || self.viewer.times.binary_search(&time).is_ok();
            // In the lane of a folded role the step itself goes before what it does to others.
            for event in &step.events {
                let (sign, agents) = match event {
                    Event::Released { agents, .. } => (Sign::Released, agents),
                    Event::Notified { agents, .. } => (Sign::Notified, agents),
                    _ => continue,
                };
                for agent in agents {
                    self.sign(sign, *agent, time, matches);
                }
            }
            // What lands is nobody's step.
            if !step.choice.lands || self.viewer.timeline.act(step) == Act::Fails {
                self.sign(Sign::Act(self.viewer.timeline.act(step)), step.agent, time, matches);
            }
        }
    }

    fn sign(&mut self, sign: Sign, agent: u32, time: usize, matches: bool) {
        let (glyph, ink) = self.viewer.theme.sign(sign);
        if let Some(row) = self.viewer.row_of(agent) {
            self.stretch(time, row, glyph, if matches { ink } else { Ink::Faint }, false);
        }
    }

    /// The column of the present.
    fn present(&mut self) {
        let Some(x) = self.window.x(self.viewer.time) else { return };
        let style = self.viewer.theme.style(Ink::Chosen);
        for row in self.window.rows(self.viewer.rows.len()) {
            if let Some(y) = self.window.y(row) {
                self.frame.buffer_mut()[(x, y)].set_style(style);
            }
        }
    }

    fn labels(&mut self) {
        let viewer = self.viewer;
        let theme = viewer.theme;
        let [role_width, agent_width, status_width] = label_columns(viewer, self.window.area.width);
        let rows = self.window.rows(viewer.rows.len());
        let top = rows.start;
        let changed = viewer.step().map(|step| step.changes.agents.as_slice()).unwrap_or_default();
        for row in rows {
            let Some(y) = self.window.y(row) else { continue };
            let (group, agents, first) = match &viewer.rows[row] {
                Row::Agent { agent, group, first } => {
                    (*group, std::slice::from_ref(agent), *first || row == top)
                }
                Row::Folded(group) => (*group, viewer.timeline.groups()[*group].agents.as_slice(), true),
                Row::Object { barrier, .. } => {
                    self.object_label(y, *barrier);
                    continue;
                }
            };
            let subject = viewer.subject().is_some_and(|agent| agents.binary_search(&agent).is_ok());
            let has_changed = changed.iter().any(|state| agents.binary_search(&state.agent).is_ok());
            let role = viewer.timeline.groups()[group].role.unwrap_or("").to_owned();
            let folded = matches!(viewer.rows[row], Row::Folded(_));
            let (who, status) = if folded {
                (format!("{}{}", theme.glyph("×", "x"), agents.len()), "folded".to_owned())
            } else {
                let status = viewer.timeline.agent(agents[0], viewer.time).map(|state| state.status);
                (viewer.timeline.agents_in_short(agents), status_word(status).to_owned())
            };
            let mark = if subject { theme.glyph("▸", ">") } else { " " };
            let change = if has_changed { theme.glyph("◆", "*") } else { " " };
            let role = if first { role } else { String::new() };
            let text = format!(
                "{mark}{change}{}{}{}",
                fit(&role, role_width.saturating_sub(1), theme) + if role_width > 0 { " " } else { "" },
                fit(&who, agent_width, theme),
                fit(&status, status_width, theme),
            );
            let ink = match (subject, viewer.agent) {
                (true, Some(_)) => Ink::Chosen,
                (true, None) => Ink::Heading,
                (false, _) => Ink::Plain,
            };
            self.put(self.window.area.x, y, &text, ink);
        }
    }
}

impl Canvas<'_, '_, '_, '_> {
    fn object_label(&mut self, y: u16, barrier: u32) {
        let viewer = self.viewer;
        let theme = viewer.theme;
        let [role_width, agent_width, status_width] = label_columns(viewer, self.window.area.width);
        let changed = viewer
            .step()
            .is_some_and(|step| step.changes.barriers.iter().any(|state| state.barrier == barrier));
        let mark = if viewer.barrier == Some(barrier) { theme.glyph("▸", ">") } else { " " };
        let width = (role_width + agent_width).saturating_sub(1);
        let text = format!(
            "{mark}{}{} {}",
            if changed { theme.glyph("◆", "*") } else { " " },
            fit(&object(&viewer.timeline.barrier_short(barrier), width, theme), width, theme),
            fit(&super::objects::status(viewer, barrier), status_width, theme),
        );
        self.put(self.window.area.x, y, &text, Ink::Barrier(viewer.hue(barrier)));
    }
}

fn status_word(status: Option<Status>) -> &'static str {
    match status {
        Some(Status::Blocked) => "blocked",
        Some(Status::Exited) => "exited",
        Some(Status::Failed) => "failed",
        Some(Status::Running) | None => "",
    }
}
