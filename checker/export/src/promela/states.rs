//! `bcu`: the states of barriers that agents hold in registers.

use super::tables::{MOST_ROWS, declare};
use crate::columns::Columns;
use crate::group::{ExportError, Group};
use crate::node::{Kind, Node, Step};
use std::fmt::Write as _;

/// States that a set of them in a Promela integer has room for.
const MOST_STATES: usize = 31;

/// Whether SPIN takes so many states.
///
/// # Errors
/// Registers hold more states than a set has room for, or there are more positions of agents than SPIN takes.
pub(super) fn check(group: &Group) -> Result<(), ExportError> {
    let (states, places) = (group.held_states(), places(group).count());
    if states > MOST_STATES {
        return Err(ExportError::TooMany("states of barriers in registers", states, MOST_STATES));
    }
    if states > 0 && places > MOST_ROWS {
        return Err(ExportError::TooMany("positions of agents", places, MOST_ROWS));
    }
    Ok(())
}

/// The nodes whose agents go on, or wait.
fn places(group: &Group) -> impl Iterator<Item = &Node> {
    let stays = |node: &&Node| matches!(node.kind, Kind::Goes { .. } | Kind::Waits { .. });
    group.nodes.iter().take_while(stays)
}

/// The columns of a step that reads or writes a state.
pub(super) fn fill_step(step: &Step, columns: &mut Columns) {
    columns.push("step_state", step.act.states().next().unwrap_or_default());
    columns.push("step_states", mask(step.act.states()));
}

/// The text and the tables, if some agent holds a state.
pub(super) fn write(group: &Group, out: &mut String) {
    if group.held_states() == 0 {
        return;
    }
    let _ = writeln!(out, "\n#define STATES {}", group.held_states());
    let holds: Vec<usize> = places(group).map(|node| mask(node.holds.iter().copied())).collect();
    declare(out, "hidden ", "node_holds", &holds);
    out.push_str(include_str!("bcu_states.pml"));
}

/// What is done after every step, if some agent holds a state.
pub(super) fn after_a_step(group: &Group) -> &'static str {
    if group.held_states() > 0 { ";\n\tforget_states()" } else { "" }
}

/// A set of small numbers as bits.
fn mask(numbers: impl Iterator<Item = usize>) -> usize {
    numbers.fold(0, |mask, number| mask | 1 << number)
}
