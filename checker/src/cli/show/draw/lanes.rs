//! The schedule: a lane for each agent, steps from left to right. Only what can be seen is drawn.

use crate::cli::show::filter::Filter;
use crate::cli::show::state::{Panel, Row, Viewer, ZOOMS};
use crate::cli::show::text::{cut, fit};
use crate::cli::show::theme::{Ink, Sign};
use barcheck_counterexamples::trace::{Event, Status};
use ratatui::Frame;
use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr;

/// Columns of a role's name, at most.
const MOST_ROLE: usize = 10;

/// Rows above the lanes.
pub(super) fn axis_rows(viewer: &Viewer<'_>) -> usize {
    2 + usize::from(viewer.timeline.cycle().is_some()) + usize::from(viewer.filter.restricts())
}

/// What the title says: the lanes that have no room.
pub(super) fn note(viewer: &Viewer<'_>) -> String {
    let scroll = viewer.scrolls[Panel::Schedule as usize];
    let below = scroll.lines.saturating_sub(scroll.top + scroll.room);
    match (scroll.top, below) {
        (0, 0) => String::new(),
        (above, below) => format!(" {above} lanes above, {below} below "),
    }
}

/// What is seen of the schedule.
struct Window {
    area: Rect,
    /// Columns of labels.
    label: usize,
    /// Columns of a step.
    cell: usize,
    /// Times, both ends included.
    from: usize,
    to: usize,
    /// The first row, and the rows above the lanes.
    top: usize,
    axis: usize,
}

impl Window {
    fn x(&self, time: usize) -> Option<u16> {
        let column = self.label + time.checked_sub(self.from)? * self.cell;
        let column = u16::try_from(column).ok().filter(|column| *column < self.area.width)?;
        Some(self.area.x + column)
    }

    fn y(&self, row: usize) -> Option<u16> {
        let line = self.axis + row.checked_sub(self.top)?;
        let line = u16::try_from(line)
            .ok()
            .filter(|line| line + 1 < self.area.height.max(1) || *line < self.area.height)?;
        (line < self.lanes_end()).then_some(self.area.y + line)
    }

    /// The line of the legend.
    fn lanes_end(&self) -> u16 {
        self.area.height.saturating_sub(1)
    }

    /// The rows seen.
    fn rows(&self, count: usize) -> std::ops::Range<usize> {
        let room = usize::from(self.lanes_end()).saturating_sub(self.axis);
        self.top.min(count)..(self.top + room).min(count)
    }
}

pub(super) fn draw(frame: &mut Frame<'_>, viewer: &mut Viewer<'_>, area: Rect) {
    let window = window(viewer, area);
    let mut canvas = Canvas { frame, viewer, window };
    canvas.lives();
    canvas.bands();
    canvas.signs();
    canvas.present();
    canvas.axis();
    canvas.labels();
    canvas.legend();
}

/// Columns of labels: marks, role, agent, status.
fn label_columns(viewer: &Viewer<'_>, width: u16) -> [usize; 3] {
    let roles = viewer.timeline.groups().iter().filter_map(|group| group.role);
    let role = roles.map(|role| cut(role, MOST_ROLE, viewer.theme).width() + 1).max().unwrap_or(0);
    let last = u32::try_from(viewer.timeline.trace().agents.len().saturating_sub(1)).unwrap_or(0);
    let agent = viewer.timeline.agents_in_short(&[last]).width().max(3) + 1;
    match width {
        0..40 => [0, agent, 0],
        40..64 => [role, agent, 0],
        _ => [role, agent, 8],
    }
}

fn window(viewer: &mut Viewer<'_>, area: Rect) -> Window {
    let axis = axis_rows(viewer);
    let room = usize::from(area.height.saturating_sub(1)).saturating_sub(axis);
    let wanted = viewer.subject().and_then(|agent| viewer.row_of(agent));
    let rows = viewer.rows.len();
    let scroll = viewer.scroll(Panel::Schedule);
    // The row itself is enough; no line need follow it.
    if let Some(row) = wanted.filter(|row| scroll.reveal && (*row < scroll.top || *row >= scroll.top + room))
    {
        scroll.top = row.saturating_sub(room / 2);
    }
    scroll.settle(rows, room, None);
    let top = scroll.top;
    let label = 2 + label_columns(viewer, area.width).iter().sum::<usize>();
    let room = usize::from(area.width).saturating_sub(label);
    let last = viewer.timeline.last();
    let fits = || ZOOMS.iter().rposition(|cell| (last + 1) * cell <= room).unwrap_or(0).max(1);
    let cell = ZOOMS[*viewer.zoom.get_or_insert_with(fits)];
    let cells = (room / cell).max(1);
    if viewer.time < viewer.left + usize::from(viewer.left > 0) || viewer.time + 2 > viewer.left + cells {
        viewer.left = viewer.time.saturating_sub(cells / 2);
    }
    viewer.left = viewer.left.min((last + 2).saturating_sub(cells));
    let from = viewer.left;
    Window { area, label, cell, from, to: (from + cells).min(last), top, axis }
}

struct Canvas<'f, 'b, 'v, 't> {
    frame: &'f mut Frame<'b>,
    viewer: &'v Viewer<'t>,
    window: Window,
}

impl Canvas<'_, '_, '_, '_> {
    fn put(&mut self, x: u16, y: u16, text: &str, ink: Ink) {
        let right = self.window.area.right();
        if x < right {
            let style = self.viewer.theme.style(ink);
            self.frame.buffer_mut().set_stringn(x, y, text, usize::from(right - x), style);
        }
    }

    /// The columns of a time from its sign on; those behind the sign only with `fill`.
    fn stretch(&mut self, time: usize, row: usize, glyph: &str, ink: Ink, fill: bool) {
        let (Some(x), Some(y)) = (self.window.x(time), self.window.y(row)) else { return };
        let width = if fill { self.window.cell } else { 1 };
        self.put(x, y, &glyph.repeat(width), ink);
    }

    /// What agents do between their steps: nothing is drawn of those that have exited.
    fn lives(&mut self) {
        for row in self.window.rows(self.viewer.rows.len()) {
            for time in self.window.from..=self.window.to {
                let (glyph, ink, fill) = match self.viewer.rows[row] {
                    Row::Agent { agent, .. } => self.life(agent, time),
                    Row::Folded(group) => (self.crowd(group, time), Ink::Blocked, true),
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
        let barriers: Vec<u32> =
            self.viewer.timeline.barriers().filter(|b| filter.is_none_or(|only| only == *b)).collect();
        for barrier in barriers {
            let ink = Ink::Barrier(self.viewer.hue(barrier));
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
            self.sign(Sign::Act(step.act()), step.agent, time, matches);
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

    /// Numbers, completed generations, the violation, the cycle, and what matches.
    fn axis(&mut self) {
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
            self.put(x, area.y, &number, Ink::Chosen);
        }
        self.flags(area.y + 1);
        let mut y = area.y + 2;
        if let Some(cycle) = self.viewer.timeline.cycle() {
            self.lasso(cycle, y);
            y += 1;
        }
        if self.viewer.filter != Filter::default() {
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
        let shown = timeline.barriers().filter(|b| filter.is_none_or(|only| only == *b));
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
                format!("{}#{generation}", cut(&timeline.barrier_short(barrier), 8, self.viewer.theme));
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

    /// What the signs mean that can be seen, as far as there is room.
    fn legend(&mut self) {
        let theme = self.viewer.theme;
        let steps = (self.window.from..=self.window.to).filter_map(|time| self.viewer.timeline.step(time));
        let mut used = Vec::new();
        for step in steps {
            used.push(Sign::Act(step.act()));
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
        let signs: Vec<(&str, Ink, &str)> = meanings
            .map(|(sign, meaning)| {
                let (glyph, ink) = theme.sign(sign);
                (glyph, ink, meaning)
            })
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

fn status_word(status: Option<Status>) -> &'static str {
    match status {
        Some(Status::Blocked) => "blocked",
        Some(Status::Exited) => "exited",
        Some(Status::Failed) => "failed",
        Some(Status::Running) | None => "",
    }
}
