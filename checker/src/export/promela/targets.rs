//! What differs from target to target: columns of the tables, the text of the semantics, and the rules about states.

use super::sets::standing;
use super::tables::{Barriers, Columns};
use crate::export::group::{Act, ExportError, Group, Node, Step};
use barcheck_model::barrier::ptx;
use barcheck_model::machine::ExitedThreads;
use barcheck_model::program::{ReductionOp, Target, WARP_SIZE};
use barcheck_model::rule::Rule;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What barriers of a target do.
pub(super) fn semantics(target: Target) -> &'static str {
    match target {
        Target::Ptx => include_str!("ptx.pml"),
        _ => "",
    }
}

/// What they do to the knowledge of accesses.
pub(super) fn memory(target: Target) -> &'static str {
    match target {
        Target::Ptx => include_str!("ptx_memory.pml"),
        _ => "",
    }
}

/// How many can hold knowledge of accesses.
pub(super) fn holders(group: &Group, barriers: &Barriers) -> usize {
    group.starts.len() + barriers.len()
}

/// Numbers that the target's text refers to.
pub(super) fn sizes(group: &Group, barriers: &Barriers, out: &mut String) {
    let _ = barriers;
    let releases = u8::from(group.options.exited_threads == ExitedThreads::Release);
    let _ = writeln!(out, "#define EXITS_RELEASE {releases}");
}

/// The number of a reduction's operator, 0 for none.
fn operator(op: Option<ReductionOp>) -> usize {
    match op {
        None => 0,
        Some(ReductionOp::Popc) => 1,
        Some(ReductionOp::And) => 2,
        Some(ReductionOp::Or) => 3,
    }
}

/// The columns of a step's row.
pub(super) fn fill(group: &Group, barriers: &Barriers, step: &Step, columns: &mut Columns) {
    columns.push("step_bar", step.act.barrier().map_or(0, |id| barriers.number(id)));
    if group.program.target == Target::Ptx {
        fill_ptx(step, columns);
    }
}

fn fill_ptx(step: &Step, columns: &mut Columns) {
    let (what, predicates) = match &step.act {
        Act::Ptx(what, predicates) => (Some(*what), *predicates),
        _ => (None, ptx::Contribution::default()),
    };
    let reduction = what.and_then(|what| match what.operation {
        ptx::Operation::Red(op) => Some(op),
        ptx::Operation::Sync | ptx::Operation::Arrive => None,
    });
    let all = what.is_some_and(|what| what.all);
    columns.push("step_count", what.map_or(0, |what| (what.expected / WARP_SIZE) as usize));
    columns.push("step_for_all", usize::from(all));
    columns.push("step_reserved", usize::from(what.is_some_and(|what| what.id.0 == 0 && !what.all)));
    columns.push("step_operator", operator(reduction));
    columns.push("step_truths", predicates.truths as usize);
    columns.push("step_lanes", predicates.lanes as usize);
}

/// The rules about states, as alternatives of the process that judges them.
pub(super) fn judge(group: &Group, barriers: &Barriers, out: &mut String) {
    if group.is_error(Rule::ArrivalRace) {
        for ((bar, count), nodes) in arrivals(group, barriers) {
            let standing = standing(group, &nodes);
            let _ =
                writeln!(out, "\t:: d_step {{ RACE({bar}, {count}, {standing}) -> noted(arrival_race) }}");
        }
    }
    if group.is_error(Rule::DanglingArrival) {
        for bar in 0..barriers.ids().len() {
            let _ = writeln!(
                out,
                "\t:: d_step {{ !ended && ALL_EXITED && HOLDS_ARRIVALS({bar}) -> noted(dangling_arrival) }}"
            );
        }
    }
}

/// The nodes at which agents stand at an arrival, by barrier and announced count.
fn arrivals(group: &Group, barriers: &Barriers) -> BTreeMap<(usize, usize), Vec<usize>> {
    let mut found: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
    for (number, node) in group.nodes.iter().enumerate() {
        for key in announced(node, barriers) {
            let nodes = found.entry(key).or_default();
            if nodes.last() != Some(&number) {
                nodes.push(number);
            }
        }
    }
    found
}

fn announced(node: &Node, barriers: &Barriers) -> Vec<(usize, usize)> {
    let keys = node.steps.iter().filter_map(|step| match &step.act {
        Act::Ptx(what, _) => Some((barriers.number(what.id), (what.expected / WARP_SIZE) as usize)),
        _ => None,
    });
    keys.collect()
}

/// Whether the target can be said.
///
/// # Errors
/// There is no text for it.
pub(super) fn supported(target: Target) -> Result<(), ExportError> {
    if semantics(target).is_empty() { Err(ExportError::NoTarget(target)) } else { Ok(()) }
}
