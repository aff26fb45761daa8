//! What lies over the panels: the last line, the help, the filters.

use super::panes::paragraph;
use crate::cli::show::keys::KEYS;
use crate::cli::show::menu::{self, Choice, Menu};
use crate::cli::show::state::{Asked, Overlay, Viewer};
use crate::cli::show::text::{Page, cut, fit};
use crate::cli::show::theme::{Ink, Sign};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::Clear;

/// The last line: a question, something said, or the keys that one needs first.
pub(super) fn status(viewer: &Viewer<'_>, width: u16) -> Line<'static> {
    let mut page = Page::new(width, viewer.theme);
    let cursor = viewer.theme.glyph("▏", "_");
    let restricts = viewer.filter.restricts();
    let found = format!("{} of {} steps match", viewer.times.len(), viewer.timeline.last());
    match &viewer.overlay {
        Overlay::Prompt(Asked::Words, typed) => page.line(&[
            (Ink::Heading, " find: "),
            (Ink::Plain, &tail(typed, usize::from(width) / 2)),
            (Ink::Plain, cursor),
            (Ink::Faint, &format!("  {found}; Enter goes there, Esc drops it")),
        ]),
        Overlay::Prompt(Asked::Number, typed) => page.line(&[
            (Ink::Heading, " step: "),
            (Ink::Plain, &tail(typed, usize::from(width) / 2)),
            (Ink::Plain, cursor),
            (Ink::Faint, &format!("  of {}; Enter goes there", viewer.timeline.last())),
        ]),
        _ if !viewer.said.is_empty() => page.line(&[(Ink::Heading, &format!(" {}", viewer.said))]),
        _ if viewer.playing => page.line(&[(Ink::Heading, " playing"), (Ink::Faint, "  Space pauses")]),
        _ if restricts => page.line(&[
            (Ink::Heading, &format!(" {found}")),
            (Ink::Plain, &format!(": {}", viewer.filter.in_words(&viewer.timeline))),
            (Ink::Faint, "  n N go there, Esc drops it"),
        ]),
        _ => {
            let arrows = viewer.theme.glyph("← →", "Left Right");
            let others = "v violation  a agent  b barrier  / find  Tab panel  ? keys  q quit";
            page.line(&[(Ink::Faint, &format!(" {arrows} step  {others}"))]);
        }
    }
    page.lines.remove(0)
}

/// The end of what is typed.
fn tail(typed: &str, most: usize) -> String {
    let count = typed.chars().count();
    typed.chars().skip(count.saturating_sub(most)).collect()
}

/// Draws the help or the menu, if one is asked for.
pub(super) fn draw(frame: &mut Frame<'_>, viewer: &mut Viewer<'_>, area: Rect) {
    match viewer.overlay {
        Overlay::Help(top) => viewer.overlay = Overlay::Help(help(frame, viewer, area, top)),
        Overlay::Menu(menu) => filters(frame, viewer, area, menu),
        Overlay::None | Overlay::Prompt(..) => {}
    }
}

/// An empty box in the middle, with a title in its first line; returns what is left.
fn window(frame: &mut Frame<'_>, viewer: &Viewer<'_>, area: Rect, size: (u16, u16), title: &str) -> Rect {
    let (width, height) = (size.0.min(area.width), size.1.min(area.height));
    let place =
        Rect { x: area.x + (area.width - width) / 2, y: area.y + (area.height - height) / 2, width, height };
    frame.render_widget(Clear, place);
    let mut page = Page::new(width, viewer.theme);
    page.line(&[(Ink::Chosen, &fit(title, usize::from(width), viewer.theme))]);
    paragraph(frame, place, page.lines);
    let inner = Rect { y: place.y + 1, height: place.height - 1, ..place };
    // The edges keep it apart from what it covers.
    let edge = viewer.theme.glyph("│", "|");
    for y in inner.top()..inner.bottom() {
        for x in [inner.left(), inner.right() - 1] {
            frame.buffer_mut().set_string(x, y, edge, viewer.theme.style(Ink::Faint));
        }
    }
    Rect { x: inner.x + 2, width: inner.width.saturating_sub(4), ..inner }
}

/// The keys and the signs, from a line on; returns from which, since there may be fewer.
fn help(frame: &mut Frame<'_>, viewer: &Viewer<'_>, area: Rect, top: usize) -> usize {
    let theme = viewer.theme;
    let width = area.width.min(90);
    let mut page = Page::new(width.saturating_sub(4), theme);
    for (keys, meaning) in KEYS {
        let sign = fit(keys, 19.max(keys.len()), theme);
        page.put(Ink::Heading, Ink::Plain, &format!("{sign}  "), meaning);
    }
    page.heading("Signs");
    for (sign, meaning) in Sign::MEANINGS {
        let (glyph, ink) = theme.sign(sign);
        page.put(ink, Ink::Plain, &format!("  {glyph}  "), meaning);
    }
    let signs = [
        (("═", "="), "blocked, and part of a generation that is not complete"),
        (("╌", "~"), "has arrived in such a generation, and goes on"),
        (("─", "-"), "blocked"),
        (("·", "."), "could make a step"),
        (("◆", "*"), "beside a name: the step has changed it"),
        (("▸", ">"), "beside a name: looked at"),
        (("▆", "6"), "how many of a folded role are blocked"),
    ];
    for ((unicode, ascii), meaning) in signs {
        page.put(Ink::Plain, Ink::Plain, &format!("  {}  ", theme.glyph(unicode, ascii)), meaning);
    }
    page.heading("In the source");
    page.text(Ink::Plain, "  ", &format!(
        "{} underlined: executed by the step.  {} reversed: where the agent stands.  {} bold: what the outcome is about.",
        theme.glyph("●", "*"), theme.glyph("▸", ">"), theme.glyph("✗", "!"),
    ));
    let height = u16::try_from(page.lines.len() + 1).unwrap_or(u16::MAX);
    let inner =
        window(frame, viewer, area, (width, height), " Keys: Up and Down scroll, any other key closes");
    let top = top.min(page.lines.len().saturating_sub(usize::from(inner.height)));
    paragraph(frame, inner, page.lines.into_iter().skip(top));
    top
}

fn filters(frame: &mut Frame<'_>, viewer: &Viewer<'_>, area: Rect, menu: Menu) {
    let columns: Vec<Vec<Choice>> =
        (0..menu::COLUMNS.len()).map(|column| menu::choices(&viewer.timeline, column)).collect();
    let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
    let height = u16::try_from(longest + 3).unwrap_or(u16::MAX).min(area.height.saturating_sub(2).max(4));
    let title = " Filter: arrow keys choose, Enter closes";
    let inner = window(frame, viewer, area, (area.width.min(76), height), title);
    let thirds = Layout::horizontal([Constraint::Ratio(1, 3); 3]).areas::<3>(inner);
    for (column, (place, choices)) in thirds.into_iter().zip(&columns).enumerate() {
        let chosen = choices.iter().position(|choice| choice.is_in(&viewer.filter)).unwrap_or(0);
        let room = usize::from(place.height).saturating_sub(1);
        let top = chosen.saturating_sub(room / 2).min(choices.len().saturating_sub(room));
        let mut page = Page::new(place.width, viewer.theme);
        page.line(&[(Ink::Heading, menu::COLUMNS[column])]);
        for (position, choice) in choices.iter().enumerate().skip(top).take(room) {
            let mark = if position == chosen { viewer.theme.glyph("▸ ", "> ") } else { "  " };
            let active = position == chosen && column == menu.column;
            let name =
                cut(&choice.name(&viewer.timeline), usize::from(place.width).saturating_sub(3), viewer.theme);
            page.line(&[(Ink::Plain, mark), (if active { Ink::Chosen } else { Ink::Plain }, &name)]);
        }
        paragraph(frame, place, page.lines);
    }
}
