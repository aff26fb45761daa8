//! What a compiled kernel was compiled from, below the kernel itself.

use crate::cli::show::state::Viewer;
use crate::cli::show::text::{Page, cut};
use crate::cli::show::theme::Ink;
use barcheck_counterexamples::{CompiledFrom, SourceLine};
use ratatui::Frame;
use ratatui::layout::Rect;

/// Rows below which there is no room for two texts.
const LEAST: u16 = 8;

/// The part of the panel that is left for the kernel, once its source is drawn below it.
pub(super) fn above(frame: &mut Frame<'_>, viewer: &Viewer<'_>, area: Rect) -> Rect {
    let Some(from) = viewer.notes.compiled_from.as_ref().filter(|_| area.height >= LEAST) else {
        return area;
    };
    let below = area.height * 45 / 100;
    let kernel = Rect { height: area.height - below, ..area };
    draw(frame, viewer, from, Rect { y: kernel.bottom(), height: below, ..area });
    kernel
}

/// The places that are marked, what is to be seen first: an ink and a sign for each.
fn marks<'c>(viewer: &Viewer<'_>, from: &'c CompiledFrom) -> Vec<(&'c SourceLine, Ink, &'static str)> {
    let theme = viewer.theme;
    let executed = viewer.step().map(|step| step.location);
    let at = viewer.subject().and_then(|agent| viewer.timeline.agent(agent, viewer.time)?.location);
    let executed = (executed, Ink::Goes, theme.glyph("●", "*"));
    let at = (at, Ink::Heading, theme.glyph("▸", ">"));
    let wrong = (viewer.wrong_place(), Ink::Bad, theme.glyph("✗", "!"));
    let order = if viewer.agent.is_some() { [at, executed, wrong] } else { [executed, at, wrong] };
    let of = |(place, ink, sign): (Option<barcheck_counterexamples::trace::Location>, _, _)| {
        Some((from.of(place?.line)?, ink, sign))
    };
    order.into_iter().filter_map(of).collect()
}

fn draw(frame: &mut Frame<'_>, viewer: &Viewer<'_>, from: &CompiledFrom, area: Rect) {
    let theme = viewer.theme;
    let marks = marks(viewer, from);
    let Some(shown) = marks.first().map(|(line, ..)| *line).or(from.lines.first()) else { return };
    let Some(file) = from.files.get(shown.file) else { return };
    let short = file.name.rsplit(['/', '\\']).next().unwrap_or(&file.name);
    let inlined = shown.said.as_ref().map(|said| format!(", inlines {said}")).unwrap_or_default();
    let mut page = Page::new(area.width, theme);
    let title = format!(" compiled from {}:{}{inlined} ", cut(short, 40, theme), shown.at);
    page.line(&[(Ink::Faint, theme.glyph("╌╌", "--")), (Ink::Heading, &title)]);
    if file.lines.is_empty() {
        page.text(Ink::Faint, "  ", &format!("{} is not there, or is no source.", file.name));
    }
    let room = usize::from(area.height).saturating_sub(1);
    let before = file.lines.range(..shown.at).count().saturating_sub(room / 2);
    for (number, text) in file.lines.iter().skip(before).take(room) {
        let sign = |wanted: &str| {
            let mut here = marks
                .iter()
                .filter(|(line, _, sign)| (line.file, line.at) == (shown.file, *number) && *sign == wanted);
            here.next().map_or((Ink::Plain, " "), |(_, ink, sign)| (*ink, *sign))
        };
        let is_marked = marks.iter().any(|(line, ..)| (line.file, line.at) == (shown.file, *number));
        page.line(&[
            (Ink::Faint, &format!("{number:>5} ")),
            sign(theme.glyph("●", "*")),
            sign(theme.glyph("▸", ">")),
            sign(theme.glyph("✗", "!")),
            (if is_marked { Ink::Heading } else { Ink::Plain }, &text.replace('\t', "    ")),
        ]);
    }
    for (y, line) in (area.top()..area.bottom()).zip(page.lines) {
        frame.render_widget(line, Rect { y, height: 1, ..area });
    }
}
