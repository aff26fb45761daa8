//! Words about a protocol for the comments of an exported model.

use barcheck_model::program::AgentId;

/// Agents as ranges: `0..4, 7`.
pub(super) fn agents(agents: &[AgentId]) -> String {
    let numbers: Vec<usize> = agents.iter().map(|agent| agent.index()).collect();
    let ranges = ranges(&numbers).into_iter();
    let text =
        ranges.map(|(from, to)| if from == to { format!("{from}") } else { format!("{from}..{}", to + 1) });
    text.collect::<Vec<_>>().join(", ")
}

/// Ascending numbers as ranges, both ends included.
pub(super) fn ranges(numbers: &[usize]) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, to)) if *to + 1 == *number => *to = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    ranges
}

/// Text that cannot end or begin a comment, on one line.
pub(super) fn plain(text: &str) -> String {
    let visible = |c: char| if c.is_control() || c == '\\' { ' ' } else { c };
    text.chars().map(visible).collect::<String>().replace("*/", "* /").replace("/*", "/ *")
}
