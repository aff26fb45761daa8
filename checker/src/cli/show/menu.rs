//! The filters: by agent, by barrier, by kind.

use super::filter::{Filter, Who, role_name};
use barcheck_counterexamples::{Kind, Timeline};

/// The menu's columns and what they offer.
pub(super) const COLUMNS: [&str; 3] = ["Agent", "Barrier", "What"];

/// Where the cursor is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Menu {
    /// The column, by position in [`COLUMNS`].
    pub(super) column: usize,
}

/// Something to choose; the first of each column restricts nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Who(Option<Who>),
    Barrier(Option<u32>),
    Kind(Option<Kind>),
}

impl Choice {
    /// Puts it into a filter.
    pub(super) fn choose(self, filter: &mut Filter) {
        match self {
            Self::Who(who) => filter.who = who,
            Self::Barrier(barrier) => filter.barrier = barrier,
            Self::Kind(kind) => filter.kind = kind,
        }
    }

    /// Whether a filter has it.
    pub(super) fn is_in(self, filter: &Filter) -> bool {
        match self {
            Self::Who(who) => filter.who == who,
            Self::Barrier(barrier) => filter.barrier == barrier,
            Self::Kind(kind) => filter.kind == kind,
        }
    }

    pub(super) fn name(self, timeline: &Timeline<'_>) -> String {
        match self {
            Self::Who(None) | Self::Barrier(None) => "any".to_owned(),
            Self::Kind(None) => "anything".to_owned(),
            Self::Who(Some(Who::Agent(agent))) => timeline.agent_name(agent).to_owned(),
            Self::Who(Some(Who::Role(role))) => role_name(timeline, role),
            Self::Barrier(Some(barrier)) => timeline.barrier_name(barrier),
            Self::Kind(Some(kind)) => kind.name().to_owned(),
        }
    }
}

/// What a column offers: of kinds those that occur.
pub(super) fn choices(timeline: &Timeline<'_>, column: usize) -> Vec<Choice> {
    match column {
        0 => {
            let mut all = vec![Choice::Who(None)];
            for (role, group) in timeline.groups().iter().enumerate() {
                if group.role.is_some() {
                    all.push(Choice::Who(Some(Who::Role(role))));
                }
                all.extend(group.agents.iter().map(|agent| Choice::Who(Some(Who::Agent(*agent)))));
            }
            all
        }
        1 => std::iter::once(None).chain(timeline.barriers().map(Some)).map(Choice::Barrier).collect(),
        _ => {
            let steps = &timeline.trace().steps;
            let occurs = |kind: &Kind| steps.iter().any(|step| step.is(*kind));
            let kinds = Kind::ALL.into_iter().filter(occurs).map(Some);
            std::iter::once(None).chain(kinds).map(Choice::Kind).collect()
        }
    }
}
