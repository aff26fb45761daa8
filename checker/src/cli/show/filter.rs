//! Which steps are asked for.

use barcheck_counterexamples::{Kind, Timeline};

/// Whose steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// One agent's, and those that concern it.
    Agent(u32),
    /// Those of all agents of a role, by its position.
    Role(usize),
}

/// What a step has to be to be asked for; nothing restricts it in the beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Filter {
    /// Whose.
    pub(super) who: Option<Who>,
    /// On which barrier.
    pub(super) barrier: Option<u32>,
    /// Of which kind.
    pub(super) kind: Option<Kind>,
    /// With which words.
    pub(super) text: String,
}

impl Filter {
    /// Whether it restricts anything.
    pub(super) fn restricts(&self) -> bool {
        *self != Self::default()
    }

    /// The times of the steps that pass, in order.
    pub(super) fn times(&self, timeline: &Timeline<'_>) -> Vec<usize> {
        let words = self.text.to_lowercase();
        (1..=timeline.last()).filter(|time| self.passes(timeline, *time, &words)).collect()
    }

    fn passes(&self, timeline: &Timeline<'_>, time: usize, words: &str) -> bool {
        let Some(step) = timeline.step(time) else { return false };
        let who = match self.who {
            None => true,
            Some(Who::Agent(agent)) => step.touches_agent(agent),
            Some(Who::Role(role)) => timeline
                .groups()
                .get(role)
                .is_some_and(|group| group.agents.binary_search(&step.agent).is_ok()),
        };
        who && self.barrier.is_none_or(|barrier| step.touches_barrier(barrier))
            && self.kind.is_none_or(|kind| step.is(kind))
            && (words.is_empty() || told(timeline, time).to_lowercase().contains(words))
    }

    /// What it asks for, in words; empty if anything will do.
    pub(super) fn in_words(&self, timeline: &Timeline<'_>) -> String {
        let who = self.who.map(|who| match who {
            Who::Agent(agent) => timeline.agent_name(agent).to_owned(),
            Who::Role(role) => role_name(timeline, role),
        });
        let barrier = self.barrier.map(|barrier| timeline.barrier_name(barrier));
        let kind = self.kind.map(|kind| kind.name().to_owned());
        let text = (!self.text.is_empty()).then(|| format!("\"{}\"", self.text));
        [who, barrier, kind, text].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// `all of producer`.
pub(super) fn role_name(timeline: &Timeline<'_>, role: usize) -> String {
    let role = timeline.groups().get(role).and_then(|group| group.role);
    role.map_or_else(|| "all without a role".to_owned(), |role| format!("all of {role}"))
}

/// All that is said of a step.
fn told(timeline: &Timeline<'_>, time: usize) -> String {
    let Some(step) = timeline.step(time) else { return String::new() };
    let role = timeline.trace().agents.get(step.agent as usize).and_then(|agent| agent.role.as_deref());
    let mut parts = vec![
        timeline.agent_name(step.agent).to_owned(),
        role.unwrap_or_default().to_owned(),
        step.instruction.clone(),
        step.resolved.clone(),
    ];
    parts.extend(timeline.words(time));
    parts.join(" ")
}
