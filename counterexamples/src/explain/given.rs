//! Where an object is given its count.

use super::case::Case;
use super::place::{Place, Remark};
use crate::trace::{Event, Location};

/// The place where an object was given the count that it has: its `mbarrier.init`, or its declaration. `None`
/// where the trace has neither.
pub(super) fn to(case: &Case<'_>, barrier: u32) -> Option<Place> {
    let on = case.barrier(barrier);
    let shown = count(case, barrier);
    let remark = |count: u32| Remark::Count { on: on.clone(), count };
    let begins = |event: &Event| matches!(event, Event::Begun { barrier: begun } if *begun == barrier);
    let init = case.back(usize::MAX, |step| step.events.iter().any(begins));
    if let Some(step) = init {
        return Some(Case::here(step, remark(shown?)));
    }
    let protocol = &case.trace.protocol;
    if protocol.format != "bar" {
        return None;
    }
    let (location, written) = declared(&protocol.source, on.split(['[', ' ']).next()?)?;
    Some(Place { agent: case.outcome.agent, location, remark: remark(shown.or(written)?) })
}

/// The count of an object, as far as a phase has shown it: between two phases nothing is counted.
fn count(case: &Case<'_>, barrier: u32) -> Option<u32> {
    let shown = case.trace.steps.iter().rev().flat_map(|step| &step.changes.barriers);
    let states = case.state(barrier).into_iter().chain(shown.filter(|state| state.barrier == barrier));
    let mut counts = states.flat_map(|state| &state.counts);
    counts.find(|count| count.of == "arrivals").map(|count| count.expected)
}

/// The place of the count with which a text declares an object, and the count, if it is a number.
fn declared(source: &str, name: &str) -> Option<(Location, Option<u32>)> {
    for (row, line) in source.lines().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        let mut statements = code.match_indices("mbarrier ");
        let Some((from, _)) = statements.next() else { continue };
        for object in code[from + "mbarrier ".len()..].split(';').next().unwrap_or("").split(',') {
            let called: String =
                object.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let Some(at) = object.find("count ").filter(|_| called == name) else { continue };
            let start = object.as_ptr() as usize - line.as_ptr() as usize + at;
            let text = object[at..].trim_end();
            let location = Location {
                line: u32::try_from(row + 1).ok()?,
                column: u32::try_from(line[..start].chars().count() + 1).ok()?,
                length: u32::try_from(text.chars().count()).ok()?,
            };
            return Some((location, text["count ".len()..].trim().parse().ok()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_found_where_its_own_object_is_declared() {
        let source =
            "target ptx; // mbarrier full count 9;\ncta 64;\n  mbarrier full[2] count 1, empty[2] count N;";
        let found = |name| declared(source, name).map(|(at, n)| (at.line, at.column, at.length, n));
        assert_eq!(found("full"), Some((3, 20, 7, Some(1))));
        assert_eq!(found("empty"), Some((3, 38, 7, None)));
        assert_eq!(found("em"), None);
    }
}
