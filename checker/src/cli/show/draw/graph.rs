//! Who waits for whom, and the two accesses of a race, drawn with letters.

use crate::cli::show::state::Viewer;
use crate::cli::show::text::{Page, cut, fit};
use crate::cli::show::theme::Ink;
use barcheck_counterexamples::trace::{Awaits, Event, Status};
use barcheck_counterexamples::{Access, Conflict, Figure, Side, Waiter};

/// Edges drawn, at most.
const MOST_EDGES: usize = 60;
/// Places of arrivals drawn, and locals told, at most.
const MOST_SLOTS: usize = 24;
const MOST_LOCALS: usize = 4;
/// Steps shown between the two accesses, at most.
const MOST_BETWEEN: usize = 8;

/// Who waits for whom at the present.
pub(super) fn waits(viewer: &Viewer<'_>, page: &mut Page) {
    let (timeline, theme) = (&viewer.timeline, viewer.theme);
    let waiting = timeline.waiting(viewer.time);
    let when = if viewer.time == timeline.last() {
        "in the end".to_owned()
    } else {
        format!("after step {}", viewer.time)
    };
    page.heading(&format!("Who waits for whom {when}"));
    if waiting.edges.is_empty() {
        let said = if waiting.waiters.is_empty() {
            "Nobody waits."
        } else {
            "Those that wait miss nobody in particular."
        };
        page.text(Ink::Plain, "  ", said);
        return;
    }
    for (from, to, circular) in waiting.edges.iter().take(MOST_EDGES) {
        let (from, to) = (&waiting.waiters[*from], &waiting.waiters[*to]);
        let Some(waits) = from.waits else { continue };
        let dash = match (circular, theme.unicode) {
            (true, true) => "═",
            (false, true) => "─",
            (true, false) => "=",
            (false, false) => "-",
        };
        let barrier = timeline.barrier_short(waits.barrier);
        let arrow = format!(" {dash}{barrier}{dash}{} ", theme.glyph("▶", ">"));
        let whom = match waits.awaits {
            Awaits::Lanes => "the rest of its own lanes".to_owned(),
            Awaits::Agents => format!("{} ({})", timeline.agents_in_words(&to.agents), standing(viewer, to)),
        };
        let said = format!("{}{arrow}{whom}", timeline.agents_in_words(&from.agents));
        page.text(if *circular { Ink::Bad } else { Ink::Plain }, "  ", &said);
    }
    if waiting.edges.len() > MOST_EDGES {
        page.text(Ink::Faint, "  ", &format!("and {} more", waiting.edges.len() - MOST_EDGES));
    }
    if waiting.edges.iter().any(|(.., circular)| *circular) {
        let said = format!("{} closes a cycle: each of these waits for the next.", theme.glyph("═", "="));
        page.text(Ink::Faint, "  ", &said);
    }
}

/// What a waiter says of itself.
fn standing(viewer: &Viewer<'_>, waiter: &Waiter) -> String {
    if let Some(waits) = waiter.waits {
        return format!("waits at {}", viewer.timeline.barrier_short(waits.barrier));
    }
    let status = match waiter.status {
        Status::Running => "running",
        Status::Blocked => "blocked",
        Status::Exited => return "exited".to_owned(),
        Status::Failed => "failed",
    };
    waiter.line.map_or_else(|| status.to_owned(), |line| format!("{status}, line {line}"))
}

/// The lanes of the two agents from one access to the other, with the barrier steps and fences in between.
pub(super) fn conflict(viewer: &Viewer<'_>, page: &mut Page, conflict: &Conflict<'_>) {
    let (timeline, theme) = (&viewer.timeline, viewer.theme);
    let Conflict { location, earlier, later, missing } = conflict;
    let half = (page.width().saturating_sub(3)) / 2;
    let bar = theme.glyph("│", "|");
    let place = |access: &Access<'_>| {
        format!(
            "{}: {} {location}",
            access.step.map_or_else(|| "?".to_owned(), |s| s.to_string()),
            access.access
        )
    };
    page.line(&[
        (Ink::Heading, &fit(timeline.agent_name(earlier.agent), half, theme)),
        (Ink::Faint, &format!(" {bar} ")),
        (Ink::Heading, &cut(timeline.agent_name(later.agent), half, theme)),
    ]);
    let mut row = |agent: u32, ink: Ink, text: &str| {
        let (left, right) = if agent == earlier.agent { (text, "") } else { ("", text) };
        page.line(&[
            (if left.is_empty() { Ink::Plain } else { ink }, &fit(left, half, theme)),
            (Ink::Faint, &format!(" {bar} ")),
            (if right.is_empty() { Ink::Plain } else { ink }, &cut(right, half, theme)),
        ]);
    };
    row(earlier.agent, Ink::Bad, &place(earlier));
    let end = later.step.unwrap_or(timeline.last());
    let own = |agent: u32| agent == earlier.agent || agent == later.agent;
    let between: Vec<usize> = (earlier.step.unwrap_or(end) + 1..end)
        .filter(|time| {
            timeline.step(*time).is_some_and(|step| {
                own(step.agent)
                    && (step.barriers().next().is_some() || step.events.contains(&Event::Fenced {}))
            })
        })
        .collect();
    let hidden = between.len().saturating_sub(MOST_BETWEEN);
    for (position, time) in between.iter().enumerate() {
        if hidden > 0 && (MOST_BETWEEN / 2..between.len() - MOST_BETWEEN / 2).contains(&position) {
            continue;
        }
        let Some(step) = timeline.step(*time) else { continue };
        row(step.agent, Ink::Plain, &format!("{time}: {}", super::steps::told(viewer, *time)));
    }
    row(later.agent, Ink::Bad, &place(later));
    if hidden > 0 {
        page.text(Ink::Faint, "  ", &format!("{hidden} steps in between are left out."));
    }
    page.text(Ink::Bad, &format!("{} ", theme.glyph("✗", "!")), &format!("Between the two: {missing}."));
}

/// What the rule is about: who could arrive and for how many there is room, or what does not go together.
pub(super) fn figure(viewer: &Viewer<'_>, page: &mut Page, figure: &Figure) {
    let theme = viewer.theme;
    page.heading(&figure.title);
    if let Some(room) = &figure.room {
        let slots = |glyph: &str, count: usize| glyph.repeat(count.min(MOST_SLOTS));
        let (free, standing) = (room.room as usize, room.standing as usize);
        let on = figure.barrier.map(|b| viewer.timeline.barrier_short(b)).unwrap_or_default();
        page.line(&[
            (Ink::Plain, &format!("  {on}  ")),
            (Ink::Goes, &slots(theme.glyph("■", "#"), room.arrived)),
            (Ink::Plain, &slots(theme.glyph("□", "_"), free)),
            (Ink::Plain, &format!("  {} arrived, room for {}", room.arrived, room.room)),
        ]);
        page.line(&[
            (Ink::Plain, &format!("  {}  ", " ".repeat(on.len()))),
            (Ink::Plain, &slots(theme.glyph("△", "^"), free.min(standing))),
            (Ink::Bad, &slots(theme.glyph("▲", "!"), standing.saturating_sub(free))),
            (Ink::Plain, &format!("  {} could come next", room.standing)),
        ]);
    }
    match figure.sides.as_slice() {
        [left, right] if page.width() >= 40 => beside(viewer, page, left, right),
        sides => sides.iter().for_each(|one| {
            let lines = lines_of(viewer, one);
            lines.iter().for_each(|(ink, line)| page.text(*ink, "  ", line));
        }),
    }
}

/// Two side by side.
fn beside(viewer: &Viewer<'_>, page: &mut Page, left: &Side, right: &Side) {
    let theme = viewer.theme;
    let half = (page.width().saturating_sub(3)) / 2;
    let (left, right) = (lines_of(viewer, left), lines_of(viewer, right));
    let line = |side: &[(Ink, String)], at: usize| {
        side.get(at).map_or((Ink::Plain, String::new()), |(ink, text)| (*ink, text.clone()))
    };
    for at in 0..left.len().max(right.len()) {
        let ((ink, text), (other_ink, other)) = (line(&left, at), line(&right, at));
        page.line(&[
            (ink, &fit(&text, half, theme)),
            (Ink::Faint, &format!(" {} ", theme.glyph("│", "|"))),
            (other_ink, &cut(&other, half, theme)),
        ]);
    }
}

/// One of the sides, line by line.
fn lines_of(viewer: &Viewer<'_>, side: &Side) -> Vec<(Ink, String)> {
    let who = viewer.timeline.agents_in_words(&side.agents);
    let step = side.step.map(|step| format!(", step {step}")).unwrap_or_default();
    let at = if side.line > 0 { format!(", line {}", side.line) } else { String::new() };
    let mut lines = vec![(Ink::Heading, format!("{who}{step}{at}")), (Ink::Plain, side.instruction.clone())];
    let mut locals: Vec<_> = side.locals.iter().collect();
    locals.sort_by_key(|local| !local.differs);
    lines.extend(locals.iter().take(MOST_LOCALS).map(|local| {
        let ink = if local.differs { Ink::Bad } else { Ink::Plain };
        (ink, format!("{} = {}", local.name, local.value))
    }));
    lines.push((if side.fails { Ink::Bad } else { Ink::Faint }, side.said.clone()));
    lines
}
