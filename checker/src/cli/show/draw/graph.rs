//! Who waits for whom, and the two accesses of a race, drawn with letters.

use crate::cli::show::state::Viewer;
use crate::cli::show::text::{Page, cut, fit};
use crate::cli::show::theme::Ink;
use barcheck_counterexamples::trace::{Awaits, Event, Status};
use barcheck_counterexamples::{Access, Conflict, Waiter};

/// Edges drawn, at most.
const MOST_EDGES: usize = 60;
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
