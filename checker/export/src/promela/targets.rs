//! What differs from target to target: the text of the semantics, and the sizes that it refers to.

use crate::columns::Barriers;
use crate::group::Group;
use barcheck_model::machine::ExitedThreads;
use barcheck_model::program::Target;
use std::fmt::Write as _;

/// What barriers of a target do.
pub(super) fn semantics(target: Target) -> &'static str {
    match target {
        Target::Ptx => include_str!("ptx.pml"),
        Target::Bcu => include_str!("bcu.pml"),
        Target::Nbarrier | Target::Xegpu => include_str!("named.pml"),
        Target::SplitBarrier => include_str!("split.pml"),
    }
}

/// What they do to the knowledge of accesses.
pub(super) fn memory(target: Target) -> &'static str {
    match target {
        Target::Ptx => include_str!("ptx_memory.pml"),
        Target::Bcu => include_str!("bcu_memory.pml"),
        Target::Nbarrier | Target::Xegpu => include_str!("named_memory.pml"),
        Target::SplitBarrier => include_str!("split_memory.pml"),
    }
}

/// How many can hold knowledge of accesses.
pub(super) fn holders(group: &Group, barriers: &Barriers) -> usize {
    let (agents, barriers) = (group.starts.len(), barriers.len());
    match group.program.target {
        Target::Ptx => agents + barriers,
        Target::Bcu => agents + barriers + agents,
        Target::Nbarrier | Target::Xegpu => agents + barriers + barriers * agents,
        Target::SplitBarrier => agents * 5 + barriers * 4 * subgroups(group),
    }
}

fn subgroups(group: &Group) -> usize {
    group.starts.len().div_ceil((group.program.subgroup_size as usize).max(1))
}

/// Numbers and names that the target's text refers to.
pub(super) fn sizes(group: &Group, out: &mut String) {
    let _ = match group.program.target {
        Target::Ptx => {
            let releases = u8::from(group.options.exited_threads == ExitedThreads::Release);
            writeln!(out, "#define EXITS_RELEASE {releases}")
        }
        Target::SplitBarrier => {
            let (number, size) = (subgroups(group), group.program.subgroup_size.max(1));
            writeln!(out, "#define SUBGROUPS {number}\n#define SUBGROUP_SIZE {size}")
        }
        // Every signal of XeGPU is a producer's and a consumer's.
        Target::Xegpu => writeln!(out, "#define end_producer_waits end_wait_without_arrive"),
        Target::Bcu | Target::Nbarrier => Ok(()),
    };
}
