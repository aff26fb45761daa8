//! What kind of thing a step is.

use serde::Serialize;

use super::history::Timeline;
use crate::trace::{Event, Step};

/// What becomes of the agent that makes a step, by what weighs most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// It violates the rule that the trace is about, or the path ends.
    Fails,
    /// It completes a generation.
    Completes,
    /// It exits, all of it or some of its lanes.
    Exits,
    /// It blocks.
    Blocks,
    /// It arrives and goes on, or something lands that it has left pending.
    Arrives,
    /// Its wait passes.
    Passes,
    /// It accesses memory.
    Accesses,
    /// It runs for ever.
    Spins,
    /// Anything else.
    Acts,
}

/// What steps can be asked for by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Arrivals, and landings of what was pending.
    Arrivals,
    /// Agents that block.
    Blocks,
    /// Releases and notifications.
    Releases,
    /// Waits that pass at once.
    Passes,
    /// Completed generations.
    Completions,
    /// Accesses to memory, and fences.
    Accesses,
    /// Decisions.
    Decisions,
    /// Exits.
    Exits,
    /// Violations and failures.
    Violations,
}

impl Kind {
    /// All of them, in the order in which they are offered.
    pub const ALL: [Self; 9] = [
        Self::Arrivals,
        Self::Blocks,
        Self::Releases,
        Self::Passes,
        Self::Completions,
        Self::Accesses,
        Self::Decisions,
        Self::Exits,
        Self::Violations,
    ];

    /// For people, in the plural.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Arrivals => "arrivals",
            Self::Blocks => "blocks",
            Self::Releases => "releases",
            Self::Passes => "passed waits",
            Self::Completions => "completions",
            Self::Accesses => "memory accesses",
            Self::Decisions => "decisions",
            Self::Exits => "exits",
            Self::Violations => "violations and failures",
        }
    }

    /// Whether an event is of this kind.
    fn includes(self, event: &Event) -> bool {
        match self {
            Self::Arrivals => matches!(event, Event::Arrived { .. } | Event::Landed { .. }),
            Self::Blocks => matches!(event, Event::Blocked { .. } | Event::Parked { .. }),
            Self::Releases => matches!(event, Event::Released { .. } | Event::Notified { .. }),
            Self::Passes => matches!(event, Event::Passed { .. }),
            Self::Completions => matches!(event, Event::Completed { .. }),
            Self::Accesses => matches!(event, Event::Accessed { .. } | Event::Fenced {}),
            Self::Decisions => matches!(event, Event::Decided { .. }),
            Self::Exits => matches!(event, Event::Exited {} | Event::LanesExited { .. }),
            Self::Violations => {
                matches!(event, Event::Violated { .. } | Event::Failed { .. } | Event::Cut { .. })
            }
        }
    }
}

impl Timeline<'_> {
    /// What becomes of the agent that makes a step.
    #[must_use]
    pub fn act(&self, step: &Step) -> Act {
        let about = self.trace().outcome.rule.as_ref();
        let has = |test: &dyn Fn(&Event) -> bool| step.events.iter().any(test);
        // Other rules may be violated on the way; they are told in words.
        if has(&|event| match event {
            Event::Violated { rule, .. } => Some(rule) == about,
            Event::Failed { .. } | Event::Cut { .. } => true,
            _ => false,
        }) {
            return Act::Fails;
        }
        let acts = [
            (Kind::Completions, Act::Completes),
            (Kind::Exits, Act::Exits),
            (Kind::Blocks, Act::Blocks),
            (Kind::Arrivals, Act::Arrives),
            (Kind::Passes, Act::Passes),
        ];
        if let Some((_, act)) = acts.into_iter().find(|(kind, _)| step.is(*kind)) {
            act
        } else if has(&|event| matches!(event, Event::Accessed { .. })) {
            Act::Accesses
        } else if has(&|event| matches!(event, Event::Spun {})) {
            Act::Spins
        } else {
            Act::Acts
        }
    }
}

impl Step {
    /// Whether something of this kind happens.
    #[must_use]
    pub fn is(&self, kind: Kind) -> bool {
        self.events.iter().any(|event| kind.includes(event))
    }

    /// Whether an agent makes the step, or is concerned.
    #[must_use]
    pub fn touches_agent(&self, agent: u32) -> bool {
        let concerns = |event: &Event| match event {
            Event::Released { agents, .. }
            | Event::Notified { agents, .. }
            | Event::Violated { agents, .. } => agents.contains(&agent),
            _ => false,
        };
        self.agent == agent || self.events.iter().any(concerns)
    }

    /// Whether something happens on a barrier.
    #[must_use]
    pub fn touches_barrier(&self, barrier: u32) -> bool {
        self.barriers().any(|touched| touched == barrier)
    }

    /// The barriers on which something happens, that of the operands first; some may be named twice.
    pub fn barriers(&self) -> impl Iterator<Item = u32> + '_ {
        let named = self.operands.as_ref().map(|operands| operands.barrier);
        named.into_iter().chain(self.events.iter().filter_map(|event| match event {
            Event::Parked { barrier }
            | Event::Arrived { barrier }
            | Event::Blocked { barrier }
            | Event::Passed { barrier }
            | Event::Completed { barrier, .. }
            | Event::Counted { barrier }
            | Event::Asked { barrier, .. }
            | Event::Begun { barrier }
            | Event::Issued { barrier, .. }
            | Event::Landed { barrier }
            | Event::Released { barrier, .. }
            | Event::Notified { barrier, .. } => Some(*barrier),
            Event::Violated { barrier, .. } => *barrier,
            _ => None,
        }))
    }
}
