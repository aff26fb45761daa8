//! What is seen of the schedule, and how to draw on it.

use crate::cli::show::state::{Panel, Viewer, ZOOMS};
use crate::cli::show::text::cut;
use crate::cli::show::theme::Ink;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use unicode_width::UnicodeWidthStr;

/// Columns of a role's name, at most.
const MOST_ROLE: usize = 10;

/// Columns of an object's name, at most.
const MOST_OBJECT: usize = 12;

/// Rows above the lanes.
pub(super) fn axis_rows(viewer: &Viewer<'_>) -> usize {
    2 + usize::from(viewer.timeline.cycle().is_some()) + usize::from(viewer.filter.restricts())
}

/// What is seen of the schedule.
pub(super) struct Window {
    pub(super) area: Rect,
    /// Columns of labels.
    pub(super) label: usize,
    /// Columns of a step.
    pub(super) cell: usize,
    /// Times, both ends included.
    pub(super) from: usize,
    pub(super) to: usize,
    /// The first row, and the rows above the lanes.
    pub(super) top: usize,
    pub(super) axis: usize,
}

impl Window {
    pub(super) fn x(&self, time: usize) -> Option<u16> {
        let column = self.label + time.checked_sub(self.from)? * self.cell;
        let column = u16::try_from(column).ok().filter(|column| *column < self.area.width)?;
        Some(self.area.x + column)
    }

    pub(super) fn y(&self, row: usize) -> Option<u16> {
        let line = self.axis + row.checked_sub(self.top)?;
        let line = u16::try_from(line).ok().filter(|line| *line < self.lanes_end())?;
        Some(self.area.y + line)
    }

    /// The line of the legend.
    pub(super) fn lanes_end(&self) -> u16 {
        self.area.height.saturating_sub(1)
    }

    /// The rows seen.
    pub(super) fn rows(&self, count: usize) -> std::ops::Range<usize> {
        let room = usize::from(self.lanes_end()).saturating_sub(self.axis);
        self.top.min(count)..(self.top + room).min(count)
    }
}

/// Columns of labels: marks, role, agent, status.
pub(super) fn label_columns(viewer: &Viewer<'_>, width: u16) -> [usize; 3] {
    let roles = viewer.timeline.groups().iter().filter_map(|group| group.role);
    let role = roles.map(|role| cut(role, MOST_ROLE, viewer.theme).width() + 1).max().unwrap_or(0);
    let last = u32::try_from(viewer.timeline.trace().agents.len().saturating_sub(1)).unwrap_or(0);
    let agent = viewer.timeline.agents_in_short(&[last]).width().max(3) + 1;
    // Objects have longer names than agents, and more to say.
    let objects = viewer.timeline.objects().map(|(barrier, _)| viewer.timeline.barrier_short(barrier));
    let object = objects.map(|name| name.width().min(MOST_OBJECT) + 1).max().unwrap_or(0);
    let agent = if width < 40 { agent } else { agent.max(object.saturating_sub(role)) };
    match width {
        0..40 => [0, agent, 0],
        40..64 => [role, agent, 0],
        _ => [role, agent, 8],
    }
}

/// What can be seen: the present, and the agent that is looked at.
pub(super) fn window(viewer: &mut Viewer<'_>, area: Rect) -> Window {
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

/// The schedule while it is drawn.
pub(super) struct Canvas<'f, 'b, 'v, 't> {
    pub(super) frame: &'f mut Frame<'b>,
    pub(super) viewer: &'v Viewer<'t>,
    pub(super) window: Window,
}

impl Canvas<'_, '_, '_, '_> {
    pub(super) fn put(&mut self, x: u16, y: u16, text: &str, ink: Ink) {
        let right = self.window.area.right();
        if x < right {
            // Nothing is left of what stood there before.
            let style = Style::reset().patch(self.viewer.theme.style(ink));
            self.frame.buffer_mut().set_stringn(x, y, text, usize::from(right - x), style);
        }
    }

    /// The columns of a time from its sign on; those behind the sign only with `fill`.
    pub(super) fn stretch(&mut self, time: usize, row: usize, glyph: &str, ink: Ink, fill: bool) {
        let (Some(x), Some(y)) = (self.window.x(time), self.window.y(row)) else { return };
        let width = if fill { self.window.cell } else { 1 };
        self.put(x, y, &glyph.repeat(width), ink);
    }
}
