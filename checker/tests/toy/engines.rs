//! The engines under judgement, asked by the front door.

use super::naive::Outcome;
use barcheck::{Budgets, Decision, Levels, Options, Reduction, Settings, Source, Verdict, decide};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// States after which an engine gives up: many more than the judge looks at.
const MOST_STATES: u64 = 200_000;

/// States from which on threads share the work: few, so that they do in most protocols.
const FEW_STATES: u32 = 4;

/// A way to ask.
#[derive(Clone, Copy)]
pub(crate) struct Engine {
    pub(crate) name: &'static str,
    reduction: Reduction,
    threads: usize,
    /// Whether it has to come to a verdict, and to find all that there is.
    searches: bool,
}

const fn engine(name: &'static str, reduction: Reduction, threads: usize, searches: bool) -> Engine {
    Engine { name, reduction, threads, searches }
}

pub(crate) const ENGINES: [Engine; 6] = [
    engine("none", Reduction::None, 1, true),
    engine("none with two threads", Reduction::None, 2, true),
    engine("symmetry", Reduction::Symmetry, 1, true),
    engine("auto", Reduction::Auto, 1, true),
    engine("schedule", Reduction::Schedule, 1, false),
    engine("stubborn", Reduction::Stubborn, 1, false),
];

/// What an engine says of a protocol that has been judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said {
    TheSame,
    Nothing,
    SomethingElse(String),
}

impl Engine {
    pub(crate) fn says(self, text: &str, judged: &Outcome) -> Said {
        let decision = self.decides(text);
        let undecided = decision.verdict == Verdict::Inconclusive && decision.defects.is_empty();
        if undecided && !self.searches {
            return Said::Nothing;
        }
        let verdict = if judged.is_violated() { Verdict::Violated } else { Verdict::Verified };
        let rules: BTreeSet<&str> = decision.findings.iter().map(|found| found.rule.name()).collect();
        // One run shows one violation and may stop there; what it knows must be so.
        let is_covered = self.searches || decision.statistics.complete;
        let agrees = if is_covered { rules == judged.rules } else { rules.is_subset(&judged.rules) };
        if agrees && decision.verdict == verdict && decision.defects.is_empty() {
            return Said::TheSame;
        }
        let Decision { verdict, reason, diagnostics, defects, .. } = decision;
        Said::SomethingElse(format!(
            "judge: {:?}\n{}: {verdict:?} {rules:?}, {reason:?} {diagnostics:?} {defects:?}",
            judged.rules, self.name
        ))
    }

    fn decides(self, text: &str) -> Decision {
        let settings = Settings {
            all: true,
            reduction: self.reduction,
            levels: Levels { strict: true, ..Levels::default() },
            budgets: Budgets { max_states: Some(MOST_STATES), ..Budgets::default() },
            threads: NonZeroUsize::new(self.threads),
            many_states: (self.threads > 1).then_some(FEW_STATES),
            ..Settings::default()
        };
        decide(&Source::new("toy.bar", text.as_bytes()), &Options { settings, ..Options::default() })
    }
}
