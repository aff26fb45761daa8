//! What an answer rests on.

use super::answer::{Answer, Shown};
use barcheck_counterexamples::trace::Event;
use barcheck_engine::Found;
use barcheck_specs::{LineIndex, Loaded};
use std::collections::BTreeSet;

/// Decisions that are listed.
const MOST_LISTED: usize = 8;

pub(super) fn remarks(
    loaded: &Loaded,
    answer: Answer,
    shown: Option<&Shown>,
    ended: &[Found],
) -> Vec<String> {
    let mut remarks = Vec::new();
    remarks.extend(shown.and_then(|shown| data(loaded, shown)));
    remarks.extend(shown.and_then(|shown| decisions(loaded, shown)));
    if answer != Answer::Hangs {
        remarks.extend(broken(loaded, ended));
    }
    if loaded.extracted.is_some() {
        let lines = LineIndex::new(&loaded.text);
        let said = loaded.warnings.iter().map(|remark| {
            let line = remark.place(&lines).line;
            format!("{} (line {line})", remark.message)
        });
        let mut seen = BTreeSet::new();
        remarks.extend(said.filter(|remark| seen.insert(remark.clone())));
    }
    remarks
}

/// Runs that break a rule end there.
fn broken(loaded: &Loaded, ended: &[Found]) -> Option<String> {
    let place = |found: &Found| {
        let places = &loaded.program.code(found.finding.agent).places;
        places.get(found.finding.pc.index()).map_or(0, |place| place.line)
    };
    let rules: BTreeSet<String> =
        ended.iter().map(|found| format!("`{}` at line {}", found.finding.rule, place(found))).collect();
    let rules: Vec<String> = rules.into_iter().take(MOST_LISTED).collect();
    (!rules.is_empty()).then(|| {
        format!("runs that violate {} end there: nothing is said of what would follow", rules.join(", "))
    })
}

/// The run takes branches of which nobody knows whether the data is so.
fn data(loaded: &Loaded, shown: &Shown) -> Option<String> {
    let extracted = loaded.extracted.as_ref()?;
    let is_private = |line: u32, column: u32| {
        extracted.private.iter().any(|place| (place.line, place.column) == (line, column))
    };
    let steps = shown.trace.steps.iter();
    let taken = steps.filter(|step| is_private(step.location.line, step.location.column));
    let taken: BTreeSet<(u32, u32)> = taken.map(|step| (step.location.line, step.agent)).collect();
    let name = |agent: u32| loaded.program.agent_name(barcheck_model::program::AgentId(agent));
    let taken: Vec<String> = taken
        .into_iter()
        .take(MOST_LISTED)
        .map(|(line, agent)| format!("{} at line {line}", name(agent)))
        .collect();
    (!taken.is_empty()).then(|| {
        format!(
            "it rests on data that is not known, which decides for {}: see whether it can be so",
            taken.join(", ")
        )
    })
}

/// The decisions of the whole group that the run takes.
fn decisions(loaded: &Loaded, shown: &Shown) -> Option<String> {
    loaded.extracted.as_ref()?;
    let mut taken: Vec<String> = Vec::new();
    for step in &shown.trace.steps {
        for event in &step.events {
            let Event::Decided { value } = event else { continue };
            if !step.instruction.contains("uniform") {
                continue;
            }
            let said = format!("`{}` is {}", step.instruction, if *value == 0 { "false" } else { "true" });
            if !taken.contains(&said) {
                taken.push(said);
            }
        }
    }
    let more = taken.len().saturating_sub(MOST_LISTED);
    taken.truncate(MOST_LISTED);
    if more > 0 {
        taken.push(format!("{more} more"));
    }
    (!taken.is_empty()).then(|| format!("it takes these decisions: {}", taken.join(", ")))
}
