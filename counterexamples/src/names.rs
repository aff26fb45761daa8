//! How agents, barriers and numbers are called.

use barcheck_model::barrier::BarrierId;
use barcheck_model::barrier::split::Workgroup;
use barcheck_model::program::{Program, ReductionOp, Scope, Target};

use crate::trace::{Barrier, Trace};

/// What an agent of the trace is called.
pub(crate) fn noun(trace: &Trace) -> &'static str {
    let target = Target::ALL.into_iter().find(|t| t.name() == trace.protocol.target);
    target.map_or("agent", Target::agent_noun)
}

/// A barrier's names.
pub(crate) fn barrier(program: &Program, id: BarrierId) -> Barrier {
    let (name, short) = if program.target == Target::SplitBarrier {
        let group = Workgroup { invocations: program.threads, subgroup_size: program.subgroup_size.max(1) };
        match group.scope_of(id) {
            Scope::Subgroup => (format!("subgroup {}'s barrier", id.0 - 1), format!("sg{}", id.0 - 1)),
            Scope::Invocation => {
                let own = id.0.saturating_sub(1 + group.subgroups());
                (format!("invocation {own}'s own barrier"), format!("inv{own}"))
            }
            Scope::Workgroup | Scope::Device => ("the workgroup barrier".to_owned(), "wg".to_owned()),
        }
    } else {
        (format!("barrier {}", id.0), format!("b{}", id.0))
    };
    Barrier { barrier: id.0, name, short }
}

/// A reduction's class.
pub(crate) fn reduction(op: ReductionOp) -> &'static str {
    match op {
        ReductionOp::Popc => "red.popc",
        ReductionOp::And => "red.and",
        ReductionOp::Or => "red.or",
    }
}

/// A bit mask of lanes.
pub(crate) fn lanes(mask: u32) -> String {
    format!("0x{mask:08x}")
}

/// Numbers in order as a reader takes them in: `1`, `1 and 3`, `0-3`, `0-3, 6 and 9`. Ranges include both ends.
pub(crate) fn numbers<N: Into<u64> + Copy>(sorted: &[N]) -> String {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in sorted {
        let number: u64 = (*number).into();
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => runs.push((number, number)),
        }
    }
    let mut parts = Vec::new();
    for (first, last) in runs {
        if first == last {
            parts.push(first.to_string());
        } else if last - first == 1 {
            parts.push(first.to_string());
            parts.push(last.to_string());
        } else {
            parts.push(format!("{first}-{last}"));
        }
    }
    list(&parts)
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(parts: &[String]) -> String {
    match parts {
        [] => "none".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Agents by number: `warp 2`, `warps 0-3`.
pub(crate) fn agents(noun: &str, sorted: &[u32]) -> String {
    let plural = if sorted.len() == 1 { "" } else { "s" };
    format!("{noun}{plural} {}", numbers(sorted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_as_people_read_them() {
        let cases: [(&[u32], &str); 6] = [
            (&[], "none"),
            (&[2], "2"),
            (&[2, 3], "2 and 3"),
            (&[0, 1, 2, 3], "0-3"),
            (&[0, 1, 2, 6, 9], "0-2, 6 and 9"),
            (&[0, 1, 4], "0, 1 and 4"),
        ];
        for (given, expected) in cases {
            assert_eq!(numbers(given), expected);
        }
        assert_eq!(agents("warp", &[0, 1, 2]), "warps 0-2");
        assert_eq!(agents("warp", &[3]), "warp 3");
    }
}
