//! What the rule is about, below the lanes: what does not go together side by side, or who stands at a
//! barrier.

use crate::names;
use crate::render::escape;
use crate::timeline::{Figure, Room, Side};
use crate::trace::Trace;

use super::layout::{LETTER, LINE, Layout, MARGIN};
use super::strokes::BAD;
use super::xml::{Xml, px};

/// Between boxes.
const GAP: f64 = 26.0;
/// A place for an arrival.
const SLOT: f64 = 16.0;
/// Places drawn in a row, at most.
const MOST_SLOTS: usize = 24;

/// How high the picture of it is.
pub(super) fn height(figure: Option<&Figure>) -> f64 {
    let Some(figure) = figure else { return 0.0 };
    let room = if figure.room.is_some() { 2.0 * (SLOT + 6.0) } else { 0.0 };
    let boxes: f64 = rows(figure).iter().map(|row| box_height(row) + GAP / 2.0).sum();
    LINE + 14.0 + room + boxes
}

/// Two stand side by side, more below each other.
fn rows(figure: &Figure) -> Vec<&[Side]> {
    figure.sides.chunks(if figure.sides.len() == 2 { 2 } else { 1 }).collect()
}

fn box_height(row: &[Side]) -> f64 {
    let lines = row.iter().map(|side| if side.locals.is_empty() { 3 } else { 4 }).max().unwrap_or(0);
    f64::from(lines) * LINE + 12.0
}

pub(super) fn draw(layout: &Layout<'_>, figure: &Figure, top: f64, xml: &mut Xml) {
    xml.open("g", &[("class", &"figure")], None);
    xml.write("strong", MARGIN, top + LINE, &figure.title);
    let mut y = top + LINE + 10.0;
    if let Some(room) = &figure.room {
        let on = figure.barrier.map(|b| names::short(layout.trace, b)).unwrap_or_default();
        slots(room, &escape::object(&on, 20), y, xml);
        y += 2.0 * (SLOT + 6.0);
    }
    for row in rows(figure) {
        let count = row.len() as f64;
        let width = (layout.width - 2.0 * MARGIN - (count - 1.0) * GAP) / count;
        for (at, side) in row.iter().enumerate() {
            let x = MARGIN + at as f64 * (width + GAP);
            if at > 0 {
                xml.write("against", x - GAP / 2.0, y + box_height(row) / 2.0 + 5.0, "\u{2192}");
            }
            draw_side(layout.trace, side, (x, y, width, box_height(row)), xml);
        }
        y += box_height(row) + GAP / 2.0;
    }
    xml.close("g");
}

fn draw_side(trace: &Trace, side: &Side, (x, y, width, height): (f64, f64, f64, f64), xml: &mut Xml) {
    let (fill, stroke) = if side.fails { ("#fdecec", BAD) } else { ("#f4f6f9", "#8a95a1") };
    xml.empty(
        "rect",
        &[
            ("class", &"side"),
            ("x", &px(x)),
            ("y", &px(y)),
            ("width", &px(width)),
            ("height", &px(height)),
            ("rx", &"4"),
            ("fill", &fill),
            ("stroke", &stroke),
        ],
    );
    let room = ((width - 16.0) / LETTER).max(4.0) as usize;
    let mut line = 1.0;
    let mut write = |class: &str, text: &str| {
        xml.write(class, x + 8.0, y + line * LINE + 2.0, &escape::line(text, room));
        line += 1.0;
    };
    let step = side.step.map(|step| format!(", step {step}")).unwrap_or_default();
    let at = if side.line > 0 { format!(", line {}", side.line) } else { String::new() };
    write("strong", &format!("{}{step}{at}", names::agents(names::noun(trace), &side.agents)));
    write("instruction", &side.instruction);
    if !side.locals.is_empty() {
        let mut locals: Vec<_> = side.locals.iter().collect();
        locals.sort_by_key(|local| !local.differs);
        let differ = locals.iter().any(|local| local.differs);
        let told: Vec<String> =
            locals.iter().map(|local| format!("{} = {}", local.name, local.value)).collect();
        write(if differ { "bad" } else { "faint" }, &told.join(", "));
    }
    write(if side.fails { "bad" } else { "faint" }, &side.said);
}

/// Who has arrived, for how many there is room, and who could come.
fn slots(room: &Room, on: &str, top: f64, xml: &mut Xml) {
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let could = format!("{} could come next", room.standing);
    let (free, standing) = (count(room.room), count(room.standing));
    let arrived = if room.arrived > 0 { format!("{} arrived, ", room.arrived) } else { String::new() };
    let has = format!("{on}: {arrived}room for {}", room.room);
    let rows = [
        (has, room.arrived, free, "#fff", "#0072b2"),
        (could, free.min(standing), standing.saturating_sub(free), "#f0a0a0", BAD),
    ];
    let left = MARGIN + rows.iter().map(|row| row.0.len()).max().unwrap_or(0) as f64 * LETTER + 12.0;
    for (at, (said, full, open, rest, hue)) in rows.iter().enumerate() {
        let y = top + at as f64 * (SLOT + 6.0);
        xml.write("faint", MARGIN, y + 12.0, said);
        let kinds = std::iter::repeat_n("#c9d6e4", *full).chain(std::iter::repeat_n(*rest, *open));
        for (position, fill) in kinds.take(MOST_SLOTS).enumerate() {
            let x = left + position as f64 * (SLOT + 4.0);
            xml.empty(
                "rect",
                &[
                    ("class", &"slot"),
                    ("x", &px(x)),
                    ("y", &px(y)),
                    ("width", &px(SLOT)),
                    ("height", &px(SLOT)),
                    ("rx", &"3"),
                    ("fill", &fill),
                    ("stroke", hue),
                ],
            );
        }
    }
}
