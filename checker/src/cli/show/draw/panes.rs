//! Panels that are lines of text.

use crate::cli::show::state::{Panel, Viewer};
use crate::cli::show::text::Page;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// Draws lines, as many as there is room for.
pub(super) fn paragraph(frame: &mut Frame<'_>, area: Rect, lines: impl IntoIterator<Item = Line<'static>>) {
    for (line, y) in lines.into_iter().zip(area.top()..area.bottom()) {
        frame.render_widget(line, Rect { y, height: 1, ..area });
    }
}

/// Draws a panel from its lines and the line that is to be seen.
pub(super) fn draw(
    frame: &mut Frame<'_>,
    viewer: &mut Viewer<'_>,
    area: Rect,
    panel: Panel,
    lines: impl Fn(&Viewer<'_>, &mut Page) -> Option<usize>,
) {
    let mut page = Page::new(area.width, viewer.theme);
    let wanted = lines(viewer, &mut page);
    let scroll = viewer.scroll(panel);
    scroll.settle(page.lines.len(), usize::from(area.height), wanted);
    let top = scroll.top;
    paragraph(frame, area, page.lines.into_iter().skip(top));
}
