//! A trace for the terminal: why it ended as it did, what happened step by step, and how everybody stands.

mod columns;
mod end;
mod paint;
mod rows;
mod spells;
mod style;
mod table;

use crate::names;
use crate::render::harmless::harmless;
use crate::trace::Trace;
pub(crate) use columns::chosen;
use paint::Ink;
pub(crate) use paint::{Sign, wrap};
pub(crate) use rows::{FIRST_ROWS, LAST_ROWS, Row, left_out, remarks, rows, sign, text_of};
pub use style::Style;
use table::Table;

/// A trace as text for the terminal: the cause first, for which it need not be scrolled.
#[must_use]
pub fn narrative(trace: &Trace, style: &Style) -> String {
    let style = Style { width: style.width.max(40), ..*style };
    let mut lines = Vec::new();
    if style.headline {
        for line in wrap(&harmless(&trace.outcome.headline), style.width) {
            lines.push(style.paint(Ink::Bad, &line));
        }
        lines.push(String::new());
    }
    end::why(trace, &style, &mut lines);
    facts(trace, &style, &mut lines);
    Table::of(trace, style).draw(&mut lines);
    end::draw(trace, &style, &mut lines);
    let mut text: String = lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
    text.push('\n');
    text
}

/// What was run, and who is who.
fn facts(trace: &Trace, style: &Style, lines: &mut Vec<String>) {
    for fact in [names::facts(trace), end::roles(trace)] {
        lines.extend(wrap(&harmless(&fact), style.width).iter().map(|line| style.paint(Ink::Faint, line)));
    }
    lines.push(String::new());
}
