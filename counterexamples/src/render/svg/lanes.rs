//! The lanes themselves.

use crate::names::{agents_in_short, noun, short};
use crate::objects::is_object;
use crate::render::escape;
use crate::render::text::{Sign, sign};
use crate::timeline::{Access, Generation, conflict, generations};
use crate::trace::{Event, Status, Step};

use super::layout::{LINE, Layout, MARGIN, Placed};
use super::objects;
use super::strokes::{BAD, HUES, INK, WAIT, line};
use super::xml::{Xml, px};

pub(super) fn draw(layout: &Layout<'_>, bottom: f64, xml: &mut Xml) {
    heads(layout, xml);
    objects::heads(layout, xml);
    for (index, placed) in layout.rows.iter().enumerate() {
        if index % 2 == 1 {
            stripe(layout, placed, xml);
        }
    }
    bands(layout, xml);
    objects::bands(layout, xml);
    for agent in &layout.columns {
        life(layout, *agent, bottom, xml);
    }
    objects::arrows(layout, xml);
    for placed in &layout.rows {
        row(layout, placed, xml);
    }
    gap(layout, xml);
    cycle(layout, xml);
    race(layout, xml);
}

/// A line between two accesses that nothing orders.
fn race(layout: &Layout<'_>, xml: &mut Xml) {
    let Some(conflict) = conflict(layout.trace) else { return };
    let place = |access: &Access<'_>| {
        let row = layout.rows.get(layout.row_of(access.step?.checked_sub(1)?)?)?;
        Some((layout.x(access.agent)?, row.y()))
    };
    let (Some((x, y)), Some((to_x, to_y))) = (place(&conflict.earlier), place(&conflict.later)) else {
        return;
    };
    let path = format!("M{} {}L{} {}", px(x), px(y), px(to_x), px(to_y));
    xml.open("g", &[("class", &"race")], Some(&format!("{}: {}", conflict.location, conflict.missing)));
    line(xml, "joined", &path, BAD, 2.0, Some("6 3"));
    xml.close("g");
}

/// Names of agents, and of the roles above them.
fn heads(layout: &Layout<'_>, xml: &mut Xml) {
    let y = layout.top - 10.0;
    let mut begun = 0;
    for (at, agent) in layout.columns.iter().enumerate() {
        let role = |agent: u32| layout.trace.agents.get(agent as usize).and_then(|a| a.role.as_deref());
        let half = layout.spacing / 2.0;
        let Some(x) = layout.x(*agent) else { continue };
        let name = match layout.spacing < 30.0 {
            true => agent.to_string(),
            false => agents_in_short(noun(layout.trace), &[*agent]),
        };
        let is_blamed = layout.trace.outcome.blamed.contains(agent);
        xml.write(if is_blamed { "head bad" } else { "head" }, x, y, &name);
        let ends = layout.columns.get(at + 1).is_none_or(|next| role(*next) != role(*agent));
        if !ends {
            continue;
        }
        let from = layout.columns.get(begun).and_then(|first| layout.x(*first)).unwrap_or(x);
        begun = at + 1;
        let Some(role) = role(*agent) else { continue };
        let (from, to) = (from - half + 3.0, x + half - 3.0);
        let bracket = format!("M{} {}v-4H{}v4", px(from), px(y - 14.0), px(to));
        line(xml, "bracket", &bracket, "#545f6b", 1.0, None);
        // Neighbours must not run into each other.
        let room = ((to - from) / super::layout::LETTER).max(2.0) as usize;
        let name = escape::line(role, room);
        xml.write("role faint", f64::midpoint(from, to), y - 22.0, &name);
    }
    let y = layout.top - 10.0;
    xml.write("number", layout.left - 46.0, y, "step");
    xml.write("number", layout.left - 8.0, y, "line");
}

fn stripe(layout: &Layout<'_>, placed: &Placed<'_>, xml: &mut Xml) {
    let width = px(layout.width - 2.0 * MARGIN);
    let (x, y, height) = (px(MARGIN), px(placed.top), px(placed.height));
    xml.empty("rect", &[("x", &x), ("y", &y), ("width", &width), ("height", &height), ("fill", &"#f4f6f9")]);
}

/// A generation of the barrier with this number among those of the picture, in a column: from an arrival to
/// its completion. One that is not complete has a broken outline.
pub(super) fn band(
    xml: &mut Xml,
    class: &str,
    number: usize,
    (x, from, to): (f64, f64, f64),
    complete: bool,
    says: &str,
) {
    let dashes = if complete { "none" } else { "4 3" };
    // Of different widths, so that each of several in one lane can be seen.
    let (hue, half) = (HUES[number % HUES.len()], [10.5, 9.0, 7.5][number % 3]);
    xml.open(
        "rect",
        &[
            ("class", &class),
            ("x", &px(x - half)),
            ("y", &px(from)),
            ("width", &px(2.0 * half)),
            ("height", &px((to - from).max(4.0))),
            ("rx", &"6"),
            ("fill", &hue),
            ("fill-opacity", &"0.14"),
            ("stroke", &hue),
            ("stroke-width", &"1.2"),
            ("stroke-dasharray", &dashes),
        ],
        Some(says),
    );
    xml.close("rect");
}

fn bands(layout: &Layout<'_>, xml: &mut Xml) {
    let number = |step: usize| step.saturating_sub(1);
    let (Some(first), Some(last)) = (layout.rows.first(), layout.rows.last()) else { return };
    for (position, (barrier, all)) in numbered(layout).into_iter().enumerate() {
        let name = escape::object(&short(layout.trace, barrier), 20);
        for generation in all {
            let (end, complete) = match generation.completed {
                Some(step) => (layout.row_of(number(step)), true),
                None => (Some(layout.rows.len() - 1), false),
            };
            let Some(end) = end else { continue };
            let says = if complete {
                format!("{name}: generation {}", generation.generation)
            } else {
                format!("{name}: a generation that is not complete")
            };
            let mut seen: Vec<u32> = Vec::new();
            for (agent, step) in &generation.arrivals {
                let (Some(x), Some(begin)) = (layout.x(*agent), layout.row_of(number(*step))) else {
                    continue;
                };
                if seen.contains(agent) || layout.leaves_out(number(*step), generation.completed.map(number))
                {
                    continue;
                }
                seen.push(*agent);
                let from = layout.rows.get(begin).unwrap_or(first).y() - 9.0;
                let last = layout.rows.get(end).unwrap_or(last);
                let to = if complete { last.y() + 9.0 } else { last.top + last.height + 4.0 };
                band(xml, "generation", position, (x, from, to), complete, &says);
            }
        }
    }
}

/// The generations of barriers whose bands are in the agents' columns.
pub(super) fn numbered(layout: &Layout<'_>) -> Vec<(u32, Vec<Generation>)> {
    let all = generations(layout.trace).into_iter();
    all.filter(|(barrier, _)| !is_object(layout.trace, *barrier)).collect()
}

/// An agent that is blocked.
pub(super) fn waits(xml: &mut Xml, x: f64, from: f64, to: f64) {
    line(xml, "blocked", &format!("M{} {}V{}", px(x), px(from), px(to)), WAIT, 4.0, None);
}

/// What an agent is doing between the rows.
fn life(layout: &Layout<'_>, agent: u32, bottom: f64, xml: &mut Xml) {
    let Some(x) = layout.x(agent) else { return };
    let initial = layout.trace.initial.agents.iter().find(|state| state.agent == agent);
    let mut status = initial.map_or(Status::Exited, |state| state.status);
    let mut from = layout.top - 4.0;
    let mut segment = |status: Status, from: f64, to: f64| match status {
        Status::Blocked => waits(xml, x, from, to),
        Status::Running | Status::Failed => {
            line(xml, "life", &format!("M{} {}V{}", px(x), px(from), px(to)), "#8a95a1", 1.0, None);
        }
        Status::Exited => {}
    };
    for placed in &layout.rows {
        let now = placed.after.status(agent);
        if now != status {
            segment(status, from, placed.y());
            (status, from) = (now, placed.y());
        }
    }
    segment(status, from, bottom);
}

fn row(layout: &Layout<'_>, placed: &Placed<'_>, xml: &mut Xml) {
    let y = placed.y();
    releases(layout, placed, xml);
    let text = y + 4.0;
    xml.write("number", layout.left - 46.0, text, &placed.row.numbers());
    let place = placed.row.steps.first().map_or(0, |step| step.location.line);
    if place > 0 {
        xml.write("number", layout.left - 8.0, text, &place.to_string());
    }
    xml.write("instruction", layout.instructions, text, &placed.instruction);
    let mut below = text;
    for (class, said) in [("bad", &placed.violated), ("remark", &placed.remarks)] {
        for told in said {
            xml.write(class, layout.remarks, below, told);
            below += LINE;
        }
    }
    let said = format!("step {}: {}", placed.row.numbers(), placed.instruction);
    if let Some(x) = placed.row.last_step().and_then(|step| landing(layout, step)) {
        mark(xml, Sign::Acts, x, y, &said);
    }
    for agent in &layout.columns {
        let Some(x) = layout.x(*agent) else { continue };
        // What lands is nobody's step.
        let lands = |step: &&Step| landing(layout, step).is_some() && step.agent == *agent;
        if placed.row.steps.iter().any(lands) {
            continue;
        }
        let sign = sign(&placed.row, &placed.after, *agent);
        if !matches!(sign, Sign::Waiting | Sign::Idle | Sign::Gone) {
            mark(xml, sign, x, y, &said);
        }
    }
}

/// The column in which something lands at a step.
fn landing(layout: &Layout<'_>, step: &Step) -> Option<f64> {
    let lands = step.events.iter().find_map(|event| match event {
        Event::Landed { barrier } => Some(*barrier),
        _ => None,
    });
    layout.object_x(lands?)
}

/// Arrows from who completes a generation to whom that releases; broken for those whom it notifies.
fn releases(layout: &Layout<'_>, placed: &Placed<'_>, xml: &mut Xml) {
    let Some(step) = placed.row.last_step() else { return };
    let landing = landing(layout, step);
    let Some(from) = landing.or_else(|| layout.x(step.agent)) else { return };
    for event in &step.events {
        let (class, agents, dashes) = match event {
            Event::Released { agents, .. } => ("release", agents, None),
            Event::Notified { agents, .. } => ("notice", agents, Some("3 3")),
            _ => continue,
        };
        let others = agents.iter().filter(|agent| landing.is_some() || **agent != step.agent);
        for to in others.filter_map(|agent| layout.x(*agent)) {
            let tip = if to > from { to - 8.0 } else { to + 8.0 };
            let back = if to > from { -5.0 } else { 5.0 };
            let y = px(placed.y());
            line(xml, class, &format!("M{} {y}H{}", px(from), px(tip)), INK, 1.1, dashes);
            let head = format!("M{} {y}m{back} -3.5l{} 3.5l{back} 3.5", px(tip), px(-back));
            line(xml, "tip", &head, INK, 1.1, None);
        }
    }
}

/// The sign of what an agent does.
pub(super) fn mark(xml: &mut Xml, sign: Sign, x: f64, y: f64, says: &str) {
    let (class, path, fill, stroke) = match sign {
        Sign::Blocks => ("sign blocks", "M-5.5-5.5h11v11h-11z", WAIT, "#fff"),
        Sign::Released => ("sign released", "M-6-4.5h12l-6 10z", "#fff", INK),
        Sign::Exits => ("sign exits", "M-5-5l10 10M5-5l-10 10", "none", INK),
        Sign::Fails => ("sign fails", "M0-7L7.5 6h-15z M0-2.5v4.5", "#fff", BAD),
        Sign::Acts | Sign::Waiting | Sign::Idle | Sign::Gone => {
            ("sign acts", "M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0z", INK, "#fff")
        }
    };
    let place = format!("translate({} {})", px(x), px(y));
    xml.open("g", &[("class", &class), ("transform", &place)], Some(says));
    let width = if matches!(sign, Sign::Exits | Sign::Fails) { "2" } else { "1.2" };
    xml.empty("path", &[("d", &path), ("fill", &fill), ("stroke", &stroke), ("stroke-width", &width)]);
    xml.close("g");
}

/// Where steps are left out.
fn gap(layout: &Layout<'_>, xml: &mut Xml) {
    let Some((behind, steps)) = layout.gap else { return };
    let Some(before) = layout.rows.get(behind) else { return };
    let y = before.top + before.height;
    let (x, width) = (px(MARGIN), px(layout.width - 2.0 * MARGIN));
    xml.empty(
        "rect",
        &[("x", &x), ("y", &px(y + 3.0)), ("width", &width), ("height", &"20"), ("fill", &"#fff")],
    );
    for edge in [y + 3.0, y + 23.0] {
        let path = format!("M{} {}H{}", px(MARGIN), px(edge), px(layout.width - MARGIN));
        line(xml, "gap", &path, "#8a95a1", 1.0, Some("2 4"));
    }
    let plural = if steps == 1 { "" } else { "s" };
    xml.write("faint", layout.instructions, y + 17.0, &format!("\u{22ee} {steps} step{plural} left out"));
}

/// The bracket around a cycle.
fn cycle(layout: &Layout<'_>, xml: &mut Xml) {
    let Some(from) = layout.trace.outcome.cycle_from else { return };
    let (Some(first), Some(last)) =
        (layout.row_of(from).and_then(|at| layout.rows.get(at)), layout.rows.last())
    else {
        return;
    };
    let (top, bottom) = (first.y(), last.y().max(first.y() + 6.0));
    let (x, edge) = (MARGIN + 8.0, MARGIN + 24.0);
    let path = format!(
        "M{edge} {b}H{}q-6 0-6-6V{}q0-6 6-6H{edge}m-6-4l6 4l-6 4",
        x + 6.0,
        px((top + 6.0).min(bottom - 6.0)),
        b = px(bottom)
    );
    xml.open("g", &[("class", &"cycle")], Some(&format!("from step {} on, again and again", from + 1)));
    line(xml, "loop", &path, BAD, 1.6, None);
    xml.close("g");
}
