//! Decisions at which agents that run the same code went different ways.

use super::case::Case;
use super::culprit::Blame;
use super::place::{Did, Place, Remark};
use crate::trace::{Event, Location, Status, Step};

/// The last decision of agents that left, which one that stayed made otherwise.
pub(super) struct Fork {
    condition: String,
    holds: bool,
    location: Location,
}

impl Fork {
    /// `found `?` true at ring.bar:11`.
    pub(super) fn says(&self, case: &Case<'_>) -> String {
        format!("found `{}` {}{}", self.condition, self.holds, case.at(self.location))
    }

    pub(super) fn place(&self, who: &[u32]) -> Place {
        let condition = self.condition.clone();
        let did = if self.holds { Did::Accepted(condition) } else { Did::Declined(condition) };
        let agent = who.first().copied().unwrap_or_default();
        Place { agent, location: self.location, remark: Remark::Did(who.to_vec(), did) }
    }
}

/// What those who exited are to blame for, with the decision by which they went another way than others that
/// run the same code.
pub(super) fn with(case: &Case<'_>, mut blame: Blame) -> Blame {
    let Some(first) = blame.agents.first() else { return blame };
    let code = |agent: u32| case.trace.agents.get(agent as usize).map(|agent| (&agent.role, agent.line));
    let stayed = case.end.with(Status::Blocked).into_iter().find(|agent| code(*agent) == code(*first));
    let have_left = blame.agents.iter().all(|agent| case.end.status(*agent) == Status::Exited);
    let fork = stayed.filter(|_| have_left).and_then(|stayed| of(case, &blame.agents, stayed));
    let Some(fork) = fork else { return blame };
    let who = case.agents(&blame.agents);
    // Where it left a loop the decision says as well.
    let rest = blame.says.strip_prefix(&who).and_then(|rest| Some(&rest[rest.find(" exited")?..]));
    if let Some(rest) = rest {
        blame.says = format!("{who} {} and{rest}", fork.says(case));
        blame.places.insert(0, fork.place(&blame.agents));
    }
    blame
}

/// Where some agents, all of them, went another way than one that stayed, by the last decision that they
/// made: before it all had decided alike.
pub(super) fn of(case: &Case<'_>, left: &[u32], stayed: u32) -> Option<Fork> {
    if case.trace.protocol.format != "bar" || case.trace.is_excerpt() {
        return None;
    }
    let other = decisions(case, stayed);
    let parting = |agent: u32| {
        let own = decisions(case, agent);
        let ((last, value), rest) = own.split_last()?;
        let (there, otherwise) = other.get(rest.len())?;
        let alike =
            rest.iter().zip(&other).all(|(one, two)| (one.0.location, one.1) == (two.0.location, two.1));
        (alike && last.location == there.location && value != otherwise).then_some((*last, *value))
    };
    let partings: Option<Vec<(&Step, bool)>> = left.iter().map(|agent| parting(*agent)).collect();
    let partings = partings?;
    let (step, holds) = *partings.first()?;
    let is_one = partings.iter().all(|(other, value)| (other.location, *value) == (step.location, holds));
    is_one.then(|| Fork { condition: condition(step).to_owned(), holds, location: step.location })
}

/// The decisions of an agent as a whole between two ways, in order.
fn decisions<'t>(case: &Case<'t>, agent: u32) -> Vec<(&'t Step, bool)> {
    let value = |step: &Step| {
        step.events.iter().find_map(|event| match event {
            Event::Decided { value: 0 } => Some(false),
            Event::Decided { value: 1 } => Some(true),
            _ => None,
        })
    };
    let branches = |step: &&Step| {
        step.agent == agent && ["if ", "while "].iter().any(|word| step.instruction.starts_with(word))
    };
    case.trace.steps.iter().filter(branches).filter_map(|step| Some((step, value(step)?))).collect()
}

fn condition(step: &Step) -> &str {
    step.instruction.trim_start_matches("if ").trim_start_matches("while ").trim()
}
