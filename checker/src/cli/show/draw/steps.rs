//! The step and what it changes; the list of steps.

use super::panes::paragraph;
use crate::cli::show::state::{Panel, Viewer};
use crate::cli::show::text::{Page, cut, fit};
use crate::cli::show::theme::{Ink, Sign};
use barcheck_counterexamples::Kind;
use barcheck_counterexamples::trace::{Doing, Event, Fragment, Status, Step};
use ratatui::Frame;
use ratatui::layout::Rect;

/// What happened at a step; what weighs most comes first, since lines may be cut.
pub(super) fn told(viewer: &Viewer<'_>, time: usize) -> String {
    let Some(step) = viewer.timeline.step(time) else { return String::new() };
    let mut words: Vec<(u8, String)> =
        step.events.iter().map(weight).zip(viewer.timeline.words(time)).collect();
    words.sort_by_key(|(weight, _)| *weight);
    words.into_iter().map(|(_, words)| words).collect::<Vec<_>>().join(", ")
}

fn weight(event: &Event) -> u8 {
    match event {
        Event::Violated { .. } | Event::Failed { .. } | Event::Cut { .. } => 0,
        Event::Completed { .. } => 1,
        Event::Released { .. } | Event::Notified { .. } => 2,
        _ => 3,
    }
}

/// The step as lines.
pub(super) fn page(viewer: &Viewer<'_>, page: &mut Page) -> Option<usize> {
    match viewer.step() {
        None => page.text(Ink::Plain, " ", "The beginning: no step has been made."),
        Some(step) => this_step(viewer, page, step),
    }
    agent_card(viewer, page);
    None
}

fn this_step(viewer: &Viewer<'_>, page: &mut Page, step: &Step) {
    let (timeline, theme) = (&viewer.timeline, viewer.theme);
    let (sign, ink) = theme.sign(Sign::Act(timeline.act(step)));
    let lanes =
        step.lanes.as_ref().map(|lanes| format!(" ({})", timeline.lanes_in_words(lanes))).unwrap_or_default();
    let said = format!("{}{lanes}: {}", timeline.agent_name(step.agent), step.resolved);
    page.put(ink, Ink::Heading, &format!("{sign} "), &said);
    if step.resolved != step.instruction {
        page.put(Ink::Faint, Ink::Plain, "  written ", &step.instruction);
    }
    for (event, words) in step.events.iter().zip(timeline.words(viewer.time)) {
        let ink = match event {
            Event::Violated { .. } | Event::Failed { .. } | Event::Cut { .. } => Ink::Bad,
            Event::Completed { .. } | Event::Released { .. } | Event::Notified { .. } => Ink::Goes,
            Event::Blocked { .. } | Event::Parked { .. } => Ink::Blocked,
            _ => Ink::Plain,
        };
        page.text(ink, "  - ", &words);
    }
    let changes = timeline.changes(viewer.time);
    if changes.is_empty() {
        page.text(Ink::Faint, "  ", "Nothing changes.");
    } else {
        page.heading("Changed");
    }
    let arrow = theme.glyph("→", "->");
    for change in changes {
        let mark = format!("{} ", theme.glyph("◆", "*"));
        page.text(Ink::Plain, &mark, &format!("{}: {} {arrow} {}", change.what, change.before, change.after));
    }
}

/// The agent that is looked at.
fn agent_card(viewer: &Viewer<'_>, page: &mut Page) {
    let timeline = &viewer.timeline;
    let Some(agent) = viewer.subject() else { return };
    let (Some(state), Some(about)) =
        (timeline.agent(agent, viewer.time), timeline.trace().agents.get(agent as usize))
    else {
        return;
    };
    let follows = if viewer.agent.is_none() { " (follows the step)" } else { " (selected)" };
    page.heading(&format!("{}{follows}", about.name));
    if let Some(role) = &about.role {
        page.fact("role", role);
    }
    page.fact("doing", &timeline.doing(state));
    if state.status != Status::Exited && !state.instruction.is_empty() {
        let what = if state.status == Status::Blocked { "stands at" } else { "next" };
        page.fact(what, &timeline.next(state));
    }
    if !state.notified.is_empty() {
        let names: Vec<String> = state.notified.iter().map(|b| timeline.barrier_name(*b)).collect();
        page.fact("notified of", &names.join(", "));
    }
    if state.fragments.len() > 1 {
        for fragment in &state.fragments {
            page.fact(&timeline.lanes_in_words(&fragment.lanes), &doing(viewer, fragment));
        }
    }
    for (name, value) in timeline.locals(state) {
        page.fact(&name, &value);
    }
}

fn doing(viewer: &Viewer<'_>, fragment: &Fragment) -> String {
    let doing = match fragment.doing {
        Doing::Running => "running",
        Doing::Blocked => "blocked",
        Doing::Parked => "waiting for the other lanes",
        Doing::Joining => "waiting to join",
        Doing::Spinning => "running for ever",
    };
    let at =
        fragment.barrier.map(|b| format!(" at {}", viewer.timeline.barrier_short(b))).unwrap_or_default();
    format!("{doing}{at}, line {}", fragment.location.line)
}

/// The list of the steps that pass the filter.
pub(super) fn draw_list(frame: &mut Frame<'_>, viewer: &mut Viewer<'_>, area: Rect) {
    let here = viewer.times.partition_point(|time| *time < viewer.time);
    let count = viewer.times.len();
    let scroll = viewer.scroll(Panel::Steps);
    scroll.settle(count, usize::from(area.height), Some(here));
    let top = scroll.top;
    let mut page = Page::new(area.width, viewer.theme);
    if count == 0 {
        let said = if viewer.filter.restricts() {
            "No step matches; Esc drops the filter."
        } else {
            "No step is made: it is so from the beginning."
        };
        page.text(Ink::Faint, " ", said);
    }
    for time in viewer.times.iter().skip(top).take(usize::from(area.height)) {
        listed(viewer, &mut page, *time);
    }
    paragraph(frame, area, page.lines);
}

fn listed(viewer: &Viewer<'_>, page: &mut Page, time: usize) {
    let (timeline, theme) = (&viewer.timeline, viewer.theme);
    let Some(step) = timeline.step(time) else { return };
    let number = timeline.last().to_string().len();
    let current = time == viewer.time;
    let (sign, ink) = theme.sign(Sign::Act(timeline.act(step)));
    let who = timeline.agents_in_short(&[step.agent]);
    let last = u32::try_from(timeline.trace().agents.len()).unwrap_or(u32::MAX);
    let columns = timeline.agents_in_short(&[last]).len();
    let instruction = if page.width() < 50 { 20 } else { 26 };
    page.line(&[
        (Ink::Plain, if current { theme.glyph("▸", ">") } else { " " }),
        (if current { Ink::Chosen } else { Ink::Faint }, &format!("{time:>number$}")),
        (Ink::Plain, " "),
        (ink, sign),
        (Ink::Plain, &format!(" {} ", fit(&who, columns, theme))),
        (Ink::Plain, &fit(&step.resolved, instruction, theme)),
        (
            if step.is(Kind::Violations) { Ink::Bad } else { Ink::Faint },
            &format!(" {}", cut(&told(viewer, time), 200, theme)),
        ),
    ]);
}
