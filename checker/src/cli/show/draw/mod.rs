//! Draws the viewer. What is drawn depends on the viewer and the size alone; the viewer learns how far things
//! scroll.

mod axis;
mod barriers;
mod canvas;
mod compiled;
mod graph;
mod lanes;
mod objects;
mod overlay;
mod panes;
mod source;
mod steps;
mod why;

use super::state::{Panel, Viewer};
use super::text::{Page, cut};
use super::theme::{Ink, Sign};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// Below this there is no room for anything.
const LEAST: (u16, u16) = (24, 6);

/// Draws everything.
pub(super) fn draw(frame: &mut Frame<'_>, viewer: &mut Viewer<'_>) {
    let area = frame.area();
    if area.width < LEAST.0 || area.height < LEAST.1 {
        let said = format!("needs {}x{} cells; q quits", LEAST.0, LEAST.1);
        frame.render_widget(Line::from(said), Rect { height: area.height.min(1), ..area });
        return;
    }
    let head = head(viewer, area);
    let rows = Layout::vertical([
        Constraint::Length(u16::try_from(head.len()).unwrap_or(1)),
        Constraint::Min(0),
        Constraint::Length(1),
        Constraint::Length(1),
    ]);
    let [top, body, now, bottom] = rows.areas(area);
    panes::paragraph(frame, top, head);
    draw_body(frame, viewer, body);
    frame.render_widget(now_line(viewer, now.width), now);
    frame.render_widget(overlay::status(viewer, bottom.width), bottom);
    overlay::draw(frame, viewer, area);
}

/// What the trace shows: the rule and the headline; more of it where there is room.
fn head(viewer: &Viewer<'_>, area: Rect) -> Vec<Line<'static>> {
    let theme = viewer.theme;
    let outcome = &viewer.timeline.trace().outcome;
    let mut page = Page::new(area.width, theme);
    let tall = area.height >= 16;
    // Before anything is believed.
    if let Some(reason) = &viewer.notes.departure {
        let said = format!("Departs from the model, what is shown may not be so: {reason}");
        page.text(Ink::Bad, "! ", &said);
        page.lines.truncate(if tall { 2 } else { 1 });
    }
    let (rule, said) = outcome.headline.split_once(": ").unwrap_or(("", &outcome.headline));
    let facts = viewer.timeline.facts();
    // Of a long path the file's name is what matters.
    let room = usize::from(area.width).saturating_sub(rule.width() + 16);
    let facts = if facts.width() > room { facts.rsplit('/').next().unwrap_or_default() } else { &facts };
    let level = outcome.level.as_deref().unwrap_or("outcome");
    page.line(&[
        (Ink::Bad, theme.glyph("✗ ", "! ")),
        (Ink::Bad, rule),
        (Ink::Faint, &format!(" ({level})  ")),
        (Ink::Plain, facts),
    ]);
    if tall {
        let most = page.lines.len() + if area.height >= 30 { 3 } else { 2 };
        page.text(Ink::Heading, "  ", said);
        page.lines.truncate(most);
    }
    page.lines
}

/// The step in a line.
fn now_line(viewer: &Viewer<'_>, width: u16) -> Line<'static> {
    let theme = viewer.theme;
    let timeline = &viewer.timeline;
    let last = timeline.last();
    let mut page = Page::new(width, theme);
    let Some(step) = viewer.step() else {
        page.line(&[(Ink::Heading, " start"), (Ink::Plain, &format!(" of {last}  no step has been made"))]);
        return page.lines.remove(0);
    };
    let (sign, ink) = theme.sign(Sign::Act(timeline.act(step)));
    page.line(&[
        (Ink::Heading, &format!(" step {}", viewer.time)),
        (Ink::Plain, &format!(" of {last}  ")),
        (ink, sign),
        (Ink::Heading, &format!(" {}  ", cut(timeline.agent_name(step.agent), 24, theme))),
        (Ink::Plain, &cut(&step.resolved, usize::from(width / 2), theme)),
        (Ink::Faint, theme.glyph("  → ", "  -> ")),
        (Ink::Plain, &steps::told(viewer, viewer.time)),
    ]);
    page.lines.remove(0)
}

/// Panels that share a place.
type Slot = (Rect, Vec<Panel>);

fn draw_body(frame: &mut Frame<'_>, viewer: &mut Viewer<'_>, body: Rect) {
    for (area, panels) in slots(viewer, body) {
        let first = viewer.front.iter().find(|panel| panels.contains(panel)).copied();
        let Some(shown) = first.filter(|_| area.height > 1 && area.width > 1) else { continue };
        let area = beside(frame, viewer, area, body);
        let inner = Rect { y: area.y + 1, height: area.height - 1, ..area };
        match shown {
            Panel::Schedule => lanes::draw(frame, viewer, inner),
            Panel::Source => source::draw(frame, viewer, inner),
            Panel::Step => panes::draw(frame, viewer, inner, shown, steps::page),
            Panel::Steps => steps::draw_list(frame, viewer, inner),
            Panel::Barriers => panes::draw(frame, viewer, inner, shown, barriers::page),
            Panel::Why => panes::draw(frame, viewer, inner, shown, why::page),
        }
        title(frame, viewer, area, &panels, shown);
    }
}

/// Who is where: the schedule on top, what else there is below it as far as there is room.
fn slots(viewer: &Viewer<'_>, body: Rect) -> Vec<Slot> {
    use Panel::{Barriers, Schedule, Source, Step, Steps, Why};
    if viewer.alone {
        return vec![(body, vec![viewer.focus])];
    }
    if body.height < 9 {
        return vec![(body, Panel::ALL.to_vec())];
    }
    let wanted = 2 + canvas::axis_rows(viewer) + viewer.rows.len();
    let most = usize::from(body.height) * 45 / 100;
    let height = u16::try_from(wanted.min(most.max(6))).unwrap_or(6);
    let [top, below] = Layout::vertical([Constraint::Length(height), Constraint::Min(0)]).areas(body);
    let mut slots = vec![(top, vec![Schedule])];
    let halves =
        |area| Layout::vertical([Constraint::Percentage(55), Constraint::Percentage(45)]).areas::<2>(area);
    if body.width >= 120 {
        let columns = [Constraint::Percentage(38), Constraint::Percentage(30), Constraint::Percentage(32)];
        let [left, middle, right] = Layout::horizontal(columns).areas(below);
        if below.height >= 20 {
            let [source, steps] = halves(left);
            let [step, barriers] = halves(middle);
            slots.extend([
                (source, vec![Source]),
                (steps, vec![Steps]),
                (step, vec![Step]),
                (barriers, vec![Barriers]),
            ]);
        } else {
            slots.extend([(left, vec![Source, Steps]), (middle, vec![Barriers, Step])]);
        }
        slots.push((right, vec![Why]));
    } else if body.width >= 72 {
        let [left, right] =
            Layout::horizontal([Constraint::Percentage(52), Constraint::Percentage(48)]).areas(below);
        slots.extend([(left, vec![Source, Step, Steps]), (right, vec![Barriers, Why])]);
    } else {
        slots.push((below, vec![Source, Step, Steps, Barriers, Why]));
    }
    slots
}

/// A line between a panel and what stands to its left.
fn beside(frame: &mut Frame<'_>, viewer: &Viewer<'_>, area: Rect, body: Rect) -> Rect {
    if area.x == body.x {
        return area;
    }
    for y in area.top()..area.bottom() {
        let bar =
            if y == area.top() { viewer.theme.glyph("┬", "+") } else { viewer.theme.glyph("│", "|") };
        frame.buffer_mut().set_string(area.x, y, bar, viewer.theme.style(Ink::Faint));
    }
    Rect { x: area.x + 1, width: area.width - 1, ..area }
}

/// The title line of a panel: the panels that share its place by number, the one shown in brackets.
fn title(frame: &mut Frame<'_>, viewer: &Viewer<'_>, area: Rect, panels: &[Panel], shown: Panel) {
    let theme = viewer.theme;
    let dash = theme.glyph("─", "-");
    let mut spans = vec![Span::styled(dash, theme.style(Ink::Faint))];
    for panel in panels {
        let name = format!("{} {}", panel.number(), panel.title());
        let focused = *panel == shown && *panel == viewer.focus;
        let ink = if focused {
            Ink::Chosen
        } else if *panel == shown {
            Ink::Heading
        } else {
            Ink::Faint
        };
        let name =
            if *panel == shown && panels.len() > 1 { format!("[{name}]") } else { format!(" {name} ") };
        spans.push(Span::styled(name, theme.style(ink)));
    }
    let used: usize = spans.iter().map(|span| span.content.width()).sum();
    let rest = usize::from(area.width).saturating_sub(used);
    let note = cut(&note(viewer, shown), rest.saturating_sub(2), theme);
    let line = rest.saturating_sub(note.width() + 1);
    spans.push(Span::styled(dash.repeat(line), theme.style(Ink::Faint)));
    spans.push(Span::styled(note, theme.style(Ink::Faint)));
    spans.push(Span::styled(dash, theme.style(Ink::Faint)));
    frame.render_widget(Line::from(spans), Rect { height: 1, ..area });
}

/// What a title says at its right end.
fn note(viewer: &Viewer<'_>, shown: Panel) -> String {
    let scroll = viewer.scrolls[shown as usize];
    let hidden = scroll.lines.saturating_sub(scroll.top + scroll.room);
    match shown {
        Panel::Schedule => lanes::note(viewer),
        Panel::Steps if viewer.filter.restricts() => format!(" {} match ", viewer.times.len()),
        Panel::Steps | Panel::Source => String::new(),
        _ if hidden > 0 => format!(" {hidden} more {} ", viewer.theme.glyph("↓", "below")),
        _ => String::new(),
    }
}
