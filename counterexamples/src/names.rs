//! How agents, barriers and numbers are called.

use barcheck_model::program::{ReductionOp, Target};

use crate::trace::Trace;

/// Numbers in order, each once.
pub(crate) fn distinct<N: Ord>(numbers: impl IntoIterator<Item = N>) -> Vec<N> {
    let mut distinct: Vec<N> = numbers.into_iter().collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}

/// What an agent of the trace is called.
pub(crate) fn noun(trace: &Trace) -> &'static str {
    let target = Target::ALL.into_iter().find(|t| t.name() == trace.protocol.target);
    target.map_or("agent", Target::agent_noun)
}

/// A reduction's class.
pub(crate) fn reduction(op: ReductionOp) -> &'static str {
    match op {
        ReductionOp::Popc => "red.popc",
        ReductionOp::And => "red.and",
        ReductionOp::Or => "red.or",
    }
}

/// Whether an operation, as a trace calls it, is a reduction.
pub(crate) fn is_reduction(operation: &str) -> bool {
    [ReductionOp::Popc, ReductionOp::And, ReductionOp::Or].into_iter().any(|op| reduction(op) == operation)
}

/// A bit mask of lanes.
pub(crate) fn lanes(mask: u32) -> String {
    format!("0x{mask:08x}")
}

/// Runs of lanes named one by one at most.
const MOST_RUNS: usize = 6;

/// Lanes as people read them: `lane 12`, `lanes 0-7 and 12`, `16 lanes (0, 2, 4, …, 30)`.
pub(crate) fn lanes_in_words(mask: u32) -> String {
    let lanes: Vec<u32> = (0..32).filter(|lane| mask >> lane & 1 == 1).collect();
    let starts = mask & !(mask << 1);
    match lanes.as_slice() {
        [first, second, third, .., last] if starts.count_ones() as usize > MOST_RUNS => {
            format!("{} lanes ({first}, {second}, {third}, ..., {last})", lanes.len())
        }
        _ => agents("lane", &lanes),
    }
}

/// The same of a bit mask as a trace holds it; what is none is left as it is.
pub(crate) fn lanes_of(mask: &str) -> String {
    lanes_from(mask).map_or_else(|| format!("lanes {mask}"), lanes_in_words)
}

/// Whether a bit mask, as a trace holds it, is that of one lane.
pub(crate) fn is_one_lane(mask: &str) -> bool {
    lanes_from(mask).is_some_and(|lanes| lanes.count_ones() == 1)
}

fn lanes_from(mask: &str) -> Option<u32> {
    mask.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok())
}

/// How the file of a trace is shown: `-` is standard input.
pub(crate) fn file(trace: &Trace) -> &str {
    if trace.protocol.file == "-" { "<stdin>" } else { &trace.protocol.file }
}

/// File, target, sizes and definitions, in a line.
pub(crate) fn facts(trace: &Trace) -> String {
    let agents = trace.agents.len();
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let defines: Vec<String> =
        trace.protocol.defines.iter().map(|(name, v)| format!(", {name} = {v}")).collect();
    format!(
        "{}: {}, {agents} {}{}{}; {} step{}",
        file(trace),
        trace.protocol.target,
        noun(trace),
        plural(agents),
        defines.concat(),
        trace.length(),
        plural(trace.length()),
    )
}

/// A barrier's short name.
pub(crate) fn short(trace: &Trace, barrier: u32) -> String {
    let named = trace.barriers.iter().find(|b| b.barrier == barrier);
    named.map_or_else(|| format!("b{barrier}"), |b| b.short.clone())
}

/// Numbers in order as a reader takes them in: `1`, `1 and 3`, `0-3`, `0-3, 6 and 9`. Ranges include both
/// ends.
pub(crate) fn numbers<N: Into<u64> + Copy>(sorted: &[N]) -> String {
    list(&runs(sorted))
}

/// The same, run by run: `0-3`, `6`, `9`. Two numbers are no run.
pub(crate) fn runs<N: Into<u64> + Copy>(sorted: &[N]) -> Vec<String> {
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
    parts
}

/// Agents by the letter of what they are called, with a letter for each run: `w0, w2-5`.
pub(crate) fn agents_by_letter(noun: &str, sorted: &[u32]) -> String {
    let runs: Vec<String> = runs(sorted).iter().map(|run| format!("{}{run}", letter(noun))).collect();
    if runs.is_empty() { "nobody".to_owned() } else { runs.join(", ") }
}

/// The letter that stands for an agent.
pub(crate) fn letter(noun: &str) -> char {
    noun.chars().next().unwrap_or('a')
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
#[must_use]
pub fn agents(noun: &str, sorted: &[u32]) -> String {
    let plural = if sorted.len() == 1 { "" } else { "s" };
    format!("{noun}{plural} {}", numbers(sorted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_named_by_their_runs() {
        for (mask, expected) in [
            (0x0000_10ff, "lanes 0-7 and 12"),
            (0x8000_0000, "lane 31"),
            (0xffff_ffff, "lanes 0-31"),
            (0x5555_5555, "16 lanes (0, 2, 4, ..., 30)"),
        ] {
            assert_eq!(lanes_in_words(mask), expected);
            assert_eq!(lanes_of(&lanes(mask)), expected);
        }
        assert_eq!(lanes_of("all"), "lanes all");
    }

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
