//! Every barrier: who has arrived, who waits, who is missing, and its generations.

use crate::cli::show::state::Viewer;
use crate::cli::show::text::Page;
use crate::cli::show::theme::Ink;
use barcheck_counterexamples::trace::Count;

/// Barriers shown; with more, those in use come first.
const MOST: usize = 40;
/// Generations listed of the barrier that is selected.
const MOST_GENERATIONS: usize = 12;
/// Columns of a gauge.
const GAUGE: u32 = 10;

/// The barriers as lines; returns that of the barrier that is selected or has changed.
pub(super) fn page(viewer: &Viewer<'_>, page: &mut Page) -> Option<usize> {
    let timeline = &viewer.timeline;
    let changed: Vec<u32> =
        viewer.step().map(|s| s.changes.barriers.iter().map(|b| b.barrier).collect()).unwrap_or_default();
    let mut shown: Vec<u32> =
        timeline.barriers().filter(|b| viewer.filter.barrier.is_none_or(|only| only == *b)).collect();
    let count = shown.len();
    if count > 6 {
        let active = |barrier: u32| timeline.barrier(barrier, viewer.time).is_some_and(|state| state.active);
        let weight =
            |barrier: u32| (viewer.barrier == Some(barrier), changed.contains(&barrier), active(barrier));
        shown.sort_by_key(|barrier| (std::cmp::Reverse(weight(*barrier)), *barrier));
        shown.truncate(MOST);
    }
    if shown.is_empty() {
        page.text(Ink::Faint, " ", "No barrier occurs.");
    }
    let mut wanted = None;
    for barrier in &shown {
        let is_changed = changed.contains(barrier);
        if viewer.barrier == Some(*barrier) || (wanted.is_none() && is_changed && viewer.barrier.is_none()) {
            wanted = Some(page.lines.len());
        }
        card(viewer, page, *barrier, is_changed);
    }
    if count > shown.len() {
        page.text(Ink::Faint, " ", &format!("{} of {count} barriers, those in use first", shown.len()));
    }
    wanted
}

fn card(viewer: &Viewer<'_>, page: &mut Page, barrier: u32, changed: bool) {
    let (timeline, theme) = (&viewer.timeline, viewer.theme);
    let selected = viewer.barrier == Some(barrier);
    let state = timeline.barrier(barrier, viewer.time);
    let doing = match state {
        Some(state) if state.active => "gathering",
        Some(state) if !state.notified.is_empty() => "to be waited for",
        _ => "idle",
    };
    let generation = state.map_or(0, |state| state.generation);
    page.line(&[
        (Ink::Plain, if selected { theme.glyph("▸", ">") } else { " " }),
        (Ink::Plain, if changed { theme.glyph("◆", "*") } else { " " }),
        (Ink::Barrier(viewer.hue(barrier)), theme.glyph("▌", "|")),
        (if selected { Ink::Chosen } else { Ink::Heading }, &timeline.barrier_name(barrier)),
        (Ink::Plain, &format!("  {doing}")),
        (Ink::Faint, &format!("  {generation} complete")),
    ]);
    if let Some(state) = state {
        let class = state.class.as_deref().map(|class| format!(", {class}")).unwrap_or_default();
        let about = format!("{}{class}", if state.all { " (every live one)" } else { "" });
        for count in &state.counts {
            gauge(viewer, page, count, &about);
        }
        let who = [
            (Ink::Plain, "arrived", &state.arrived),
            (Ink::Blocked, "waiting", &state.waiting),
            (Ink::Bad, "missing", &state.missing),
            (Ink::Goes, "notified", &state.notified),
        ];
        for (ink, what, agents) in who.into_iter().filter(|(_, _, agents)| !agents.is_empty()) {
            let sign = format!("    {what:<9}");
            page.put(Ink::Faint, ink, &sign, &timeline.agents_in_words(agents));
        }
    }
    let flights = timeline.flights().iter();
    for flight in flights.filter(|f| f.barrier == barrier && super::objects::flies(f, viewer.time)).take(4) {
        let to = flight.writes.as_ref().map(|location| format!(" to {location}")).unwrap_or_default();
        let since = flight.issued.map(|time| format!(" since step {time}")).unwrap_or_default();
        let who = timeline.agent_name(flight.agent);
        page.put(Ink::Faint, Ink::Plain, "    in flight ", &format!("{}{to} by {who}{since}", flight.what));
    }
    if selected {
        generations(viewer, page, barrier);
    }
}

fn gauge(viewer: &Viewer<'_>, page: &mut Page, count: &Count, about: &str) {
    let theme = viewer.theme;
    let part =
        u64::from(count.arrived.min(count.expected)) * u64::from(GAUGE) / u64::from(count.expected.max(1));
    let part = usize::try_from(part).unwrap_or(0);
    let empty = GAUGE as usize - part.min(GAUGE as usize);
    let bar = format!("[{}{}]", theme.glyph("█", "#").repeat(part), theme.glyph("·", ".").repeat(empty));
    page.line(&[
        (Ink::Plain, "    "),
        (Ink::Plain, &bar),
        (Ink::Heading, &format!(" {}/{}", count.arrived, count.expected)),
        (Ink::Plain, &format!(" {}{about}", count.of)),
    ]);
}

/// The generations around the present.
fn generations(viewer: &Viewer<'_>, page: &mut Page, barrier: u32) {
    let timeline = &viewer.timeline;
    let all = timeline.generations(barrier);
    let here = all.partition_point(|g| g.completed.is_some_and(|time| time < viewer.time));
    let from = here.saturating_sub(MOST_GENERATIONS / 2).min(all.len().saturating_sub(MOST_GENERATIONS));
    for generation in all.iter().skip(from).take(MOST_GENERATIONS) {
        let mut who: Vec<u32> = generation.arrivals.iter().map(|(agent, _)| *agent).collect();
        who.sort_unstable();
        who.dedup();
        let who = if who.is_empty() { "nobody".to_owned() } else { timeline.agents_in_words(&who) };
        let result = generation.result.map(|result| format!(", result {result}")).unwrap_or_default();
        let (label, steps) = match generation.completed {
            Some(end) if end > generation.begins() => {
                (format!("#{}", generation.generation), format!("steps {}-{end}", generation.begins()))
            }
            Some(end) => (format!("#{}", generation.generation), format!("step {end}")),
            None => ("not complete".to_owned(), format!("since step {}", generation.begins())),
        };
        page.put(Ink::Heading, Ink::Faint, &format!("    {label} "), &format!("{steps}: {who}{result}"));
    }
}
