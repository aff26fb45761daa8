//! mbarrier objects beside the agents: a column for each, with a band for each phase, and arrows of what is
//! in flight for them.

use crate::objects::{Flight, Phase, flights, phases};
use crate::render::escape;

use super::layout::{Layout, Placed};
use super::strokes::{BAD, HUES, line};
use super::xml::{Xml, px};

/// Half the width of a band.
const HALF: f64 = 9.0;
/// How far apart those are that are in flight for one object at a time.
const APART: f64 = 3.0;

/// The columns' heads.
pub(super) fn heads(layout: &Layout<'_>, xml: &mut Xml) {
    let y = layout.top - 10.0;
    for (at, (barrier, name)) in layout.objects.iter().enumerate() {
        let Some(x) = layout.object_x(*barrier) else { continue };
        let style = format!("fill: {}", HUES[at % HUES.len()]);
        let place: [(&str, &dyn std::fmt::Display); 4] =
            [("class", &"head"), ("x", &px(x)), ("y", &px(y)), ("style", &style)];
        xml.text("text", &place, name);
    }
}

/// A band for each phase: an outline from its beginning on, filled from the first thing that happens in it.
pub(super) fn bands(layout: &Layout<'_>, xml: &mut Xml) {
    for (barrier, all) in phases(layout.trace) {
        let (Some(x), Some(at)) = (layout.object_x(barrier), layout.object_at(barrier)) else { continue };
        let name = escape::object(&crate::names::short(layout.trace, barrier), 20);
        for phase in all {
            if layout
                .leaves_out(phase.begins.saturating_sub(1), phase.ends.map(|time| time.saturating_sub(1)))
            {
                continue;
            }
            band(layout, (x, at), &name, &phase, xml);
        }
    }
}

fn band(layout: &Layout<'_>, (x, at): (f64, usize), name: &str, phase: &Phase, xml: &mut Xml) {
    let after = |time: usize| match time.checked_sub(1) {
        None => layout.top - 4.0,
        Some(step) => row(layout, step).map_or(layout.bottom, |placed| placed.y() + HALF),
    };
    let (from, to) = (after(phase.begins), phase.ends.map_or(layout.bottom + 2.0, after));
    let end = match (phase.complete, phase.ends) {
        (true, Some(time)) => format!("complete at step {time}"),
        (_, Some(time)) => format!("ended at step {time}"),
        (_, None) => "not complete".to_owned(),
    };
    let says = format!("{name}: phase {}, parity {}, {end}", phase.number, phase.number & 1);
    let hue = HUES[at % HUES.len()];
    let dashes = if phase.complete { "none" } else { "4 3" };
    let mut rect = |class: &str, from: f64, opacity: &str| {
        xml.open(
            "rect",
            &[
                ("class", &class),
                ("x", &px(x - HALF)),
                ("y", &px(from)),
                ("width", &px(2.0 * HALF)),
                ("height", &px((to - from).max(3.0))),
                ("rx", &"4"),
                ("fill", &hue),
                ("fill-opacity", &opacity),
                ("stroke", &hue),
                ("stroke-dasharray", &dashes),
            ],
            Some(&says),
        );
        xml.close("rect");
    };
    rect("phase", from, "0");
    if let Some(time) = phase.stirs {
        let from = time.checked_sub(1).and_then(|step| row(layout, step)).map_or(from, |p| p.y() - HALF);
        rect("stirred", from, "0.16");
    }
    if to - from > 16.0 {
        xml.write("phase-number", x, from + 12.0, &phase.number.to_string());
    }
}

fn row<'l, 't>(layout: &'l Layout<'t>, step: usize) -> Option<&'l Placed<'t>> {
    layout.rows.get(layout.row_of(step)?)
}

/// Arrows from where something is begun to where it lands; what never lands has no end.
pub(super) fn arrows(layout: &Layout<'_>, xml: &mut Xml) {
    let all = flights(layout.trace);
    for (number, flight) in all.iter().enumerate() {
        let before = all[..number].iter().filter(|other| together(other, flight)).count();
        arrow(layout, flight, before, xml);
    }
}

/// Whether two are in flight for one object at a time.
fn together(other: &Flight, flight: &Flight) -> bool {
    other.barrier == flight.barrier && other.landed.is_none_or(|time| Some(time) > flight.issued)
}

fn arrow(layout: &Layout<'_>, flight: &Flight, before: usize, xml: &mut Xml) {
    let (Some(begun), Some(x)) = (flight.issued, layout.object_x(flight.barrier)) else { return };
    let (Some(from), Some(placed)) = (layout.x(flight.agent), row(layout, begun - 1)) else { return };
    if layout.leaves_out(begun - 1, flight.landed.map(|time| time - 1)) {
        return;
    }
    let landed = flight.landed.and_then(|time| row(layout, time - 1));
    let to = landed.map_or(layout.bottom - 2.0, Placed::y);
    let side = x - HALF - 5.0 - (before % 3) as f64 * APART;
    let (y, tip) = (placed.y() + 5.0, x - HALF + 2.0);
    let (path, head, class) = if landed.is_some() {
        (
            format!("M{} {}H{}V{}H{}", px(from), px(y), px(side), px(to), px(tip)),
            format!("M{} {}l-4 -3.5l0 7z", px(tip + 3.0), px(to)),
            "flight",
        )
    } else {
        (
            format!("M{} {}H{}V{}", px(from), px(y), px(side), px(to)),
            format!("M{} {}l3.5 5l3.5 -5", px(side - 3.5), px(to - 4.0)),
            "flight lost",
        )
    };
    let colour = match flight.fails {
        true => BAD,
        false => HUES[layout.object_at(flight.barrier).unwrap_or(0) % HUES.len()],
    };
    let end = flight.landed.map_or("never lands".to_owned(), |time| format!("lands at step {time}"));
    let says = format!("{}, begun at step {begun}: {end}", flight.what);
    xml.open("g", &[("class", &class)], Some(&says));
    line(xml, "path", &path, colour, 1.3, landed.is_none().then_some("5 3"));
    line(xml, "tip", &head, colour, 1.3, None);
    if let Some(bytes) = flight.bytes {
        xml.write("bytes", side - 2.0, y - 2.0, &format!("{bytes} B"));
    }
    xml.close("g");
}

/// What the legend says of objects.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Phase,
    InFlight,
    NeverLands,
}

impl Entry {
    pub(super) fn meaning(self) -> &'static str {
        match self {
            Self::Phase => "a phase",
            Self::InFlight => "in flight",
            Self::NeverLands => "never lands",
        }
    }
}

/// What of it occurs.
pub(super) fn legend(layout: &Layout<'_>) -> Vec<Entry> {
    if layout.objects.is_empty() {
        return Vec::new();
    }
    let all = flights(layout.trace);
    let mut legend = vec![Entry::Phase];
    legend.extend(all.iter().any(|flight| flight.landed.is_some()).then_some(Entry::InFlight));
    legend.extend(all.iter().any(|flight| flight.landed.is_none()).then_some(Entry::NeverLands));
    legend
}

/// How it looks.
pub(super) fn sample(entry: Entry, (x, y): (f64, f64), xml: &mut Xml) {
    let (hue, left, right) = (HUES[0], x - 8.0, x + 8.0);
    match entry {
        Entry::Phase => xml.empty(
            "rect",
            &[
                ("class", &"sample"),
                ("x", &px(x - 6.0)),
                ("y", &px(y - 8.0)),
                ("width", &"12"),
                ("height", &"16"),
                ("rx", &"4"),
                ("fill", &hue),
                ("fill-opacity", &"0.16"),
                ("stroke", &hue),
            ],
        ),
        Entry::InFlight => {
            line(xml, "sample", &format!("M{} {}H{}", px(left), px(y), px(right)), hue, 1.3, None);
            line(xml, "sample", &format!("M{} {}l-4 -3.5l0 7z", px(right), px(y)), hue, 1.3, None);
        }
        Entry::NeverLands => {
            line(xml, "sample", &format!("M{} {}H{}", px(left), px(y), px(right)), hue, 1.3, Some("5 3"));
            line(
                xml,
                "sample",
                &format!("M{} {}l5 3.5l-5 3.5", px(right - 5.0), px(y - 3.5)),
                hue,
                1.3,
                None,
            );
        }
    }
}
