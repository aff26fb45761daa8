//! How agents, barriers and numbers are called.

use barcheck_model::program::{Program, ReductionOp, Target};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::trace::Trace;

/// Numbers in order, each once.
pub(crate) fn distinct<N: Ord>(numbers: impl IntoIterator<Item = N>) -> Vec<N> {
    let mut distinct: Vec<N> = numbers.into_iter().collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}

/// What agents are called, and how many there are in each CTA of a cluster.
#[derive(Clone, Copy, Debug)]
pub struct Noun {
    noun: &'static str,
    of_each: Option<u32>,
}

impl Noun {
    /// The word for one of them.
    pub(crate) fn word(self) -> &'static str {
        self.noun
    }

    /// The CTA of an agent, where there are several.
    pub(crate) fn cta_of(self, agent: u32) -> Option<u32> {
        self.of_each.map(|of_each| agent / of_each)
    }

    /// For agents of a program.
    #[must_use]
    pub fn of(program: &Program) -> Self {
        let of_each = (program.ctas > 1).then(|| program.agents_per_cta());
        Self { noun: program.target.agent_noun(), of_each }
    }

    /// Agents by their CTAs: those CTAs, and which of their agents. One group without a CTA where there is no
    /// cluster.
    fn groups(self, sorted: &[u32]) -> Vec<(Vec<u32>, Vec<u32>)> {
        let Some(of_each) = self.of_each else { return vec![(Vec::new(), sorted.to_vec())] };
        let mut groups: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
        for agents in sorted.chunk_by(|a, b| a / of_each == b / of_each) {
            let cta = agents[0] / of_each;
            let within: Vec<u32> = agents.iter().map(|agent| agent % of_each).collect();
            match groups.iter_mut().find(|(_, known)| *known == within) {
                Some((ctas, _)) => ctas.push(cta),
                None => groups.push((vec![cta], within)),
            }
        }
        groups
    }
}

impl From<&'static str> for Noun {
    fn from(noun: &'static str) -> Self {
        Self { noun, of_each: None }
    }
}

impl std::fmt::Display for Noun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.noun)
    }
}

/// What agents of the trace are called.
pub fn noun(trace: &Trace) -> Noun {
    let target = Target::from_name(&trace.protocol.target);
    let agents = u32::try_from(trace.agents.len()).unwrap_or(u32::MAX);
    let of_each = (trace.protocol.ctas > 1).then(|| (agents / trace.protocol.ctas).max(1));
    Noun { noun: target.map_or("agent", Target::agent_noun), of_each }
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

/// A bit mask as a trace holds it; `None` for what is none.
pub(crate) fn lanes_from(mask: &str) -> Option<u32> {
    mask.strip_prefix("0x").and_then(|digits| u32::from_str_radix(digits, 16).ok())
}

/// How the file of a trace is shown: `-` is standard input.
pub(crate) fn file(trace: &Trace) -> &str {
    if trace.protocol.file == "-" { "<stdin>" } else { &trace.protocol.file }
}

/// Whether memory is looked at is seen from the steps.
const OF_MEMORY: &str = "memory.";

/// The definitions that are shown to people.
fn shown(trace: &Trace) -> impl Iterator<Item = (&String, &i64)> {
    trace.protocol.defines.iter().filter(|(name, _)| !name.starts_with(OF_MEMORY))
}

/// File, target, sizes and definitions, in a line.
pub(crate) fn facts(trace: &Trace) -> String {
    let agents = trace.agents.len();
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let defines: Vec<String> = shown(trace).map(|(name, v)| format!(", {name} = {v}")).collect();
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

/// The short name of an object that a protocol names. What is cut off at its end must not look like its
/// namesake in another CTA.
pub(crate) fn object_in_short(name: &str) -> String {
    match name.rsplit_once(" of cta ") {
        Some((object, cta)) => format!("c{cta}.{object}"),
        None => name.to_owned(),
    }
}

/// A name for so many columns: of an element of an array the index is kept, in which it differs from its
/// neighbours. What remains too wide is left to be cut at its end.
#[must_use]
pub fn narrow(name: &str, columns: usize, dots: &str) -> String {
    let index = name.rfind('[').filter(|_| name.ends_with(']')).map(|at| name.split_at(at));
    let room = index.and_then(|(_, index)| columns.checked_sub(index.width() + dots.width() + 1));
    let (Some((array, index)), Some(room)) = (index.filter(|_| name.width() > columns), room) else {
        return name.to_owned();
    };
    let mut used = 0;
    let fits = |c: &char| {
        used += c.width().unwrap_or(0).max(1);
        used <= room + 1
    };
    array.chars().take_while(fits).chain(dots.chars()).chain(index.chars()).collect()
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

/// Agents by the letter of what they are called, with a letter for each run: `w0, w2-5`; in a cluster `c0w1`.
pub(crate) fn agents_by_letter(noun: Noun, sorted: &[u32]) -> String {
    let letter = letter(noun);
    let mut all: Vec<String> = Vec::new();
    for (ctas, within) in noun.groups(sorted) {
        let cta = if ctas.is_empty() { String::new() } else { format!("c{}", runs(&ctas).join(",")) };
        all.extend(runs(&within).iter().map(|run| format!("{cta}{letter}{run}")));
    }
    if all.is_empty() { "nobody".to_owned() } else { all.join(", ") }
}

/// The same in a column's width: `w0-3,6`.
pub(crate) fn agents_in_short(noun: Noun, sorted: &[u32]) -> String {
    match noun.of_each {
        None => format!("{}{}", letter(noun), runs(sorted).join(",")),
        Some(_) => agents_by_letter(noun, sorted).replace(", ", ","),
    }
}

/// The letter that stands for an agent.
pub(crate) fn letter(noun: Noun) -> char {
    noun.noun.chars().next().unwrap_or('a')
}

/// `a`, `a and b`, `a, b and c`.
pub(crate) fn list(parts: &[String]) -> String {
    match parts {
        [] => "none".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Agents by number: `warp 2`, `warps 0-3`; in a cluster `cta 1 warp 2`, `warps 0-3 of ctas 0 and 1`.
#[must_use]
pub fn agents(noun: impl Into<Noun>, sorted: &[u32]) -> String {
    let noun = noun.into();
    let named = |word: &str, sorted: &[u32]| {
        let plural = if sorted.len() == 1 { "" } else { "s" };
        format!("{word}{plural} {}", numbers(sorted))
    };
    if sorted.is_empty() {
        return named(noun.noun, sorted);
    }
    let groups = noun.groups(sorted).into_iter().map(|(ctas, within)| match ctas.as_slice() {
        [] => named(noun.noun, &within),
        [_] => format!("{} {}", named("cta", &ctas), named(noun.noun, &within)),
        several => format!("{} of {}", named(noun.noun, &within), named("cta", several)),
    });
    list(&groups.collect::<Vec<_>>())
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
    fn objects_of_different_ctas_and_places_are_not_cut_alike() {
        let objects =
            ["c0.full_of_tiles[0]", "c0.full_of_tiles[1]", "c1.full_of_tiles[0]", "c1.full_of_tiles[12]"];
        for columns in [8, 9, 12, 14] {
            let narrow: Vec<String> = objects.iter().map(|name| narrow(name, columns, "…")).collect();
            assert!(narrow.iter().all(|name| name.width() <= columns), "{columns}: {narrow:?}");
            assert_eq!(distinct(narrow.clone()).len(), objects.len(), "{columns}: {narrow:?}");
        }
        assert_eq!(narrow("c0.full_of_tiles[0]", 12, "…"), "c0.full_…[0]");
        assert_eq!(narrow("full[0]", 8, "…"), "full[0]");
        assert_eq!(narrow("no_index_at_all", 8, "…"), "no_index_at_all");
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
        let noun = Noun { noun: "warp", of_each: Some(4) };
        assert_eq!(agents(noun, &[7]), "cta 1 warp 3");
        assert_eq!(agents(noun, &[0, 1, 4, 5, 9]), "warps 0 and 1 of ctas 0 and 1 and cta 2 warp 1");
        assert_eq!(agents_by_letter(noun, &[0, 1, 4, 5, 9]), "c0,1w0, c0,1w1, c2w1");
    }
}
