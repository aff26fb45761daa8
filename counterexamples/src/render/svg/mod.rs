//! The lanes as a picture that stands alone, for papers and issues: time runs downwards, each agent has a
//! column.
//!
//! The picture has a background of its own, so that it can be read on whatever it is put. It has no script
//! and asks for nothing, and what matters is told by shapes as well as by colours.

mod figure;
mod lanes;
mod layout;
mod objects;
mod strokes;
mod xml;

use crate::render::escape;
use crate::render::text::{Sign, sign};
use crate::timeline::Timeline;
use crate::trace::{Status, Trace};
use lanes::mark;
use layout::{LINE, Layout, MARGIN};
use xml::{Xml, px};

/// Barriers that the legend names.
const MOST_BARRIERS: usize = 16;
/// Letters of the descriptions for those who do not see the picture.
const MOST_DESCRIPTION: usize = 4000;

const STYLE: &str = "<style>\
text { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1b2129; white-space: \
pre } .headline { font-size: 14px; font-weight: bold } .faint { fill: #545f6b } .bad { fill: #a1121a; \
font-weight: bold } .strong { font-weight: bold } .against { text-anchor: middle } .head { font-weight: bold; text-anchor: middle } .phase-number { text-anchor: middle } .bytes { \
font-size: 10px; text-anchor: end; stroke: #fff; stroke-width: 3px; paint-order: stroke } .role { text-anchor: middle } .number { \
text-anchor: end; fill: #545f6b }</style>\n";

/// A trace as a picture; `shows` says whether its outcome is one.
pub(super) fn svg(trace: &Trace, warning: Option<&str>, shows: bool) -> String {
    let layout = Layout::of(trace, warning);
    let mut xml = Xml::default();
    // The end of the lanes, the outcome below them, the legend below that.
    let outcome = layout.bottom + 8.0;
    let about = Timeline::of(trace).figure().filter(|_| shows);
    let beneath = if shows { outcome + 34.0 } else { outcome + 8.0 };
    let legend = beneath + figure::height(about.as_ref());
    let height = legend + legend_height(&layout, shows);
    xml.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("width", &px(layout.width)),
            ("height", &px(height)),
            ("viewBox", &format!("0 0 {} {}", px(layout.width), px(height))),
            ("role", &"img"),
            ("aria-labelledby", &"barcheck-title barcheck-description"),
        ],
        None,
    );
    xml.text("title", &[("id", &"barcheck-title")], &escape::line(&trace.outcome.headline, 600));
    let told: Vec<String> = trace.outcome.explanation.lines().map(|line| escape::line(line, 600)).collect();
    let told = format!("{}{}", warning.map(|said| format!("{said} ")).unwrap_or_default(), told.join(" "));
    xml.text("desc", &[("id", &"barcheck-description")], &escape::line(&told, MOST_DESCRIPTION));
    xml.raw(STYLE);
    let whole: [(&str, &dyn std::fmt::Display); 4] =
        [("width", &px(layout.width)), ("height", &px(height)), ("fill", &"#fff"), ("class", &"paper")];
    xml.empty("rect", &whole);
    title(&layout, &mut xml);
    lanes::draw(&layout, outcome, &mut xml);
    if shows {
        draw_outcome(&layout, outcome, &mut xml);
    }
    if let Some(about) = &about {
        figure::draw(&layout, about, beneath - 4.0, &mut xml);
    }
    draw_legend(&layout, legend, shows, &mut xml);
    xml.close("svg");
    xml.finish()
}

fn title(layout: &Layout<'_>, xml: &mut Xml) {
    let mut y = MARGIN + 14.0;
    for line in &layout.headline {
        xml.write("headline", MARGIN, y, line);
        y += 19.0;
    }
    for line in &layout.facts {
        xml.write("faint", MARGIN, y, line);
        y += LINE;
    }
}

/// What the run shows, in a line below it, and how each agent is left.
fn draw_outcome(layout: &Layout<'_>, top: f64, xml: &mut Xml) {
    let trace = layout.trace;
    let end = trace.last_situation();
    let (left, width) = (px(MARGIN), px(layout.width - 2.0 * MARGIN));
    xml.empty(
        "rect",
        &[
            ("class", &"outcome"),
            ("x", &left),
            ("y", &px(top)),
            ("width", &width),
            ("height", &"24"),
            ("rx", &"4"),
            ("fill", &"#fdecec"),
            ("stroke", &"#a1121a"),
            ("stroke-width", &"1.2"),
        ],
    );
    xml.write("number", layout.left - 8.0, top + 16.0, "in the end");
    for agent in &layout.columns {
        let Some(x) = layout.x(*agent) else { continue };
        let concerned = trace.outcome.agents.contains(agent) || trace.outcome.agent == *agent;
        match end.status(*agent) {
            _ if concerned => mark(xml, Sign::Fails, x, top + 12.0, "concerned"),
            Status::Blocked => lanes::waits(xml, x, top, top + 20.0),
            _ => {}
        }
    }
    let rule = trace.outcome.rule.clone().unwrap_or_else(|| trace.outcome.headline.clone());
    let cycle = trace.outcome.cycle_from.map(|from| format!(": from step {} on, for ever", from + 1));
    let room = ((layout.width - MARGIN - layout.instructions) / layout::LETTER) as usize;
    let text = escape::line(&format!("{rule}{}", cycle.unwrap_or_default()), room);
    xml.write("bad", layout.instructions, top + 16.0, &text);
}

/// What a sign means, as far as it occurs.
fn meanings(layout: &Layout<'_>, shows: bool) -> Vec<(Sign, &'static str)> {
    let all = [
        (Sign::Acts, "goes on"),
        (Sign::Blocks, "blocks"),
        (Sign::Released, "released"),
        (Sign::Exits, "exits"),
        (Sign::Fails, "concerned"),
    ];
    let shown = |wanted: Sign| {
        let rows = layout.rows.iter();
        rows.flat_map(|placed| layout.columns.iter().map(|agent| sign(&placed.row, &placed.after, *agent)))
            .any(|sign| sign == wanted)
    };
    all.into_iter().filter(|(sign, _)| (shows && *sign == Sign::Fails) || shown(*sign)).collect()
}

/// The barriers that have bands.
fn banded(layout: &Layout<'_>) -> Vec<u32> {
    lanes::numbered(layout).into_iter().map(|(barrier, _)| barrier).take(MOST_BARRIERS).collect()
}

fn legend_height(layout: &Layout<'_>, shows: bool) -> f64 {
    let entries = meanings(layout, shows).len() + 1 + banded(layout).len() + objects::legend(layout).len();
    let each = 110.0;
    let across = ((layout.width - 2.0 * MARGIN) / each).floor().max(1.0);
    (entries as f64 / across).ceil() * 20.0 + MARGIN
}

fn draw_legend(layout: &Layout<'_>, top: f64, shows: bool, xml: &mut Xml) {
    let each = 110.0;
    let across = ((layout.width - 2.0 * MARGIN) / each).floor().max(1.0) as usize;
    let mut place = (0..).map(|number: usize| {
        (MARGIN + (number % across) as f64 * each + 8.0, top + (number / across) as f64 * 20.0 + 8.0)
    });
    xml.open("g", &[("class", &"legend")], None);
    let mut next = || place.next().unwrap_or_default();
    for (sign, meaning) in meanings(layout, shows) {
        let (x, y) = next();
        mark(xml, sign, x, y, meaning);
        xml.write("faint", x + 14.0, y + 4.0, meaning);
    }
    let (x, y) = next();
    lanes::waits(xml, x, y - 8.0, y + 8.0);
    xml.write("faint", x + 14.0, y + 4.0, "blocked");
    for entry in objects::legend(layout) {
        let (x, y) = next();
        objects::sample(entry, (x, y), xml);
        xml.write("faint", x + 14.0, y + 4.0, entry.meaning());
    }
    for (position, barrier) in banded(layout).into_iter().enumerate() {
        let (x, y) = next();
        lanes::band(xml, "sample", position, (x, y - 8.0, y + 8.0), true, "a generation");
        let name = escape::object(&crate::names::short(layout.trace, barrier), 10);
        xml.write("faint", x + 14.0, y + 4.0, &name);
    }
    xml.close("g");
}
