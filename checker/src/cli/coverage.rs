//! Who can execute what, as a table for people.

use super::output::{Palette, counted, grouped};
use barcheck::{BarrierCoverage, LoopCoverage, RoleCoverage};
use std::fmt::Write;

/// What stands above the table: it tells of less than a run, and of more.
const HEADING: &str = "what agents can execute, whatever the others do";

/// The coverage of all roles.
pub(crate) fn table(coverage: &[RoleCoverage], palette: Palette) -> String {
    let mut rows = vec![["line", "can be executed by", "on", "instruction"].map(str::to_owned)];
    let mut unknown = Vec::new();
    let mut loops = Vec::new();
    for role in coverage {
        rows.extend(role.barriers.iter().map(|barrier| row(role, barrier)));
        loops.extend(role.loops.iter().filter(|l| role.complete && l.made < l.written).map(short_loop));
        if !role.complete {
            unknown.push(format!("  line {}: {}", role.place.line, called(role, &role.who)));
        }
    }
    let mut text = format!("\n{}: {HEADING}\n", palette.strong("coverage"));
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    for (number, [line, who, on, what]) in rows.iter().enumerate() {
        let space = |column: usize, cell: &str| " ".repeat(widths[column] - cell.chars().count());
        let row = format!("  {}{line}  {who}{}  {on}{}  {what}", space(0, line), space(1, who), space(2, on));
        let row = if number == 0 { palette.faint(row) } else { row };
        text.push_str(&row);
        text.push('\n');
    }
    for (title, lines) in [
        ("loops that make fewer rounds than are written:", loops),
        ("too much to be worked out: of these nothing follows from what is not listed", unknown),
    ] {
        if !lines.is_empty() {
            let _ = writeln!(text, "{title}\n{}", lines.join("\n"));
        }
    }
    text
}

fn row(role: &RoleCoverage, barrier: &BarrierCoverage) -> [String; 4] {
    let BarrierCoverage { place, instruction, agents, who, barriers } = barrier;
    let who = if agents.is_empty() {
        if role.complete { "nobody".to_owned() } else { "not known".to_owned() }
    } else {
        called(role, who)
    };
    let on: Vec<&str> = barriers.iter().map(|barrier| barrier.short.as_str()).collect();
    let on = if on.is_empty() { "-".to_owned() } else { on.join(" ") };
    [place.line.to_string(), who, on, instruction.clone()]
}

/// `producer (warp 0)`.
fn called(role: &RoleCoverage, who: &str) -> String {
    role.role.as_ref().map_or_else(|| who.to_owned(), |name| format!("{name} ({who})"))
}

fn short_loop(short: &LoopCoverage) -> String {
    let LoopCoverage { place, head, made, written } = short;
    let written = counted(*written, "round");
    format!("  line {}: {} of {written} at most  {head}", place.line, grouped(*made))
}
