//! What an answer rests on.

use super::answer::{Answer, Shown};
use crate::doubt;
use barcheck_engine::Found;
use barcheck_model::program::AgentId;
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
    let taken = doubt::private(loaded.extracted.as_ref()?, &shown.trace);
    let name = |agent: u32| loaded.program.agent_name(AgentId(agent));
    let taken = taken.into_iter().take(MOST_LISTED);
    let taken: Vec<String> = taken.map(|(line, agent)| format!("{} at line {line}", name(agent))).collect();
    (!taken.is_empty()).then(|| {
        let who = taken.join(", ");
        format!("it rests on data that is not known, which decides for {who}: see whether it can be so")
    })
}

/// The decisions of the whole group that the run takes.
fn decisions(loaded: &Loaded, shown: &Shown) -> Option<String> {
    let extracted = loaded.extracted.as_ref()?;
    let made = doubt::decisions(&shown.trace);
    let mut said: Vec<String> =
        made.iter().take(MOST_LISTED).map(|(name, outcome)| format!("`{name}` is {outcome}")).collect();
    if made.len() > MOST_LISTED {
        said.push(format!("{} more", made.len() - MOST_LISTED));
    }
    let excluding = extracted.excluding(made.iter().map(|(name, _)| name.as_str()));
    let more = excluding.first().map(|doubtful| format!("; this comes along with {}", doubtful.shown()));
    (!said.is_empty())
        .then(|| format!("it takes these decisions: {}{}", said.join(", "), more.unwrap_or_default()))
}
