//! Whether a counterexample may be longer than it need be, and with what it would be shorter.
//!
//! A search has a shortest schedule to what it finds. An engine that makes few runs has that of a run, from
//! which is cut what can be spared. Where such a schedule is long, or where the protocol cannot come to the
//! violation in few steps, fewer rounds often show the same: smaller values of the protocol's params are
//! tried, one param at a time.

use crate::decision::{Finding, Smaller};
use crate::question::Options;
use barcheck_engine::{Control, Engine, Outcome, Progress};
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::bar::ast::{ExprKind, Item};
use barcheck_specs::bar::parse;
use std::time::{Duration, Instant};

/// A counterexample of so many steps is short enough.
const SHORT: usize = 40;
/// Params that are given smaller values, at most.
const MOST_PARAMS: usize = 4;
/// How long values are tried.
const WITHIN: Duration = Duration::from_millis(600);
/// States of one of the searches.
const MOST_STATES: u64 = 20_000;
/// Below this the values are tried one by one, from there on each is twice the one before.
const ONE_BY_ONE: i64 = 4;

/// Whether no schedule to an error is shorter than its path: then nothing need be said of it. What a search
/// finds first it finds in as few steps as can be; and where every run is a permutation of one, all that end
/// in a deadlock have the same steps.
pub(crate) fn is_shortest(outcome: &Outcome, finding: &Finding) -> bool {
    let statistics = &outcome.statistics;
    match outcome.method.engine {
        // A cycle has a beginning and a round, of which each by itself is the shortest.
        Engine::Search => outcome.method.whole && finding.rule != Rule::StuckAgent,
        Engine::Schedule => statistics.complete && finding.rule == Rule::Deadlock,
        Engine::Stubborn => false,
    }
}

/// Where fewer rounds are looked for.
pub(crate) struct Look<'a> {
    /// The protocol, as `.bar`.
    pub(crate) text: &'a str,
    /// What was asked of it.
    pub(crate) options: &'a Options,
    /// When, and by whom.
    pub(crate) within: (Instant, &'a dyn Control),
    /// What is found of it when something else is asked.
    pub(crate) again: &'a dyn Fn(&Options) -> Vec<Finding>,
}

impl Look<'_> {
    /// Fewer rounds in which an error shows as well, if it takes many steps.
    pub(crate) fn smaller(&self, error: &Finding) -> Option<Smaller> {
        if steps(error) <= SHORT {
            return None;
        }
        let begun = Instant::now();
        let tried = values(self.text, self.options).into_iter().take(MOST_PARAMS);
        let found = tried.filter_map(|(param, value)| self.smallest(&param, value, error, begun));
        found.min_by_key(|smaller| smaller.steps)
    }

    /// The smallest value of a param with which an error shows in fewer steps.
    fn smallest(&self, param: &str, value: i64, error: &Finding, begun: Instant) -> Option<Smaller> {
        below(value).find_map(|tried| {
            let steps = steps(&self.with(param, tried, error, begun)?);
            (steps < self::steps(error)).then(|| Smaller { param: param.to_owned(), value: tried, steps })
        })
    }

    /// The same error with a value of a param, if it is found soon.
    fn with(&self, param: &str, value: i64, error: &Finding, begun: Instant) -> Option<Finding> {
        let (started, control) = self.within;
        let left = WITHIN.checked_sub(begun.elapsed())?;
        let in_time = self.options.settings.budgets.timeout.is_none_or(|limit| started.elapsed() < limit);
        if !in_time || !control.goes_on(Progress::default()) {
            return None;
        }
        let mut options = self.options.clone();
        options.load.defines.insert(param.to_owned(), value);
        options.settings.checkpoint = None;
        options.settings.all = false;
        options.coverage = false;
        let budgets = &mut options.settings.budgets;
        budgets.timeout = Some(started.elapsed() + left / 4);
        budgets.max_states = Some(budgets.max_states.unwrap_or(u64::MAX).min(MOST_STATES));
        let is_same = |found: &Finding| {
            (found.rule, found.level) == (error.rule, Level::Error) && found.place == error.place
        };
        (self.again)(&options).into_iter().find(is_same)
    }
}

fn steps(finding: &Finding) -> usize {
    // Of an excerpt the last step tells how many there are.
    finding.trace.steps.last().map_or(0, |step| step.index + 1)
}

/// The params whose values are numbers, with the values in force.
fn values(text: &str, options: &Options) -> Vec<(String, i64)> {
    let param = |item: &Item| match item {
        Item::Constant { param: true, name, value } => {
            let name = name.text.to_string();
            let given = options.load.defines.get(&name).copied();
            let written = match value.kind {
                ExprKind::Int(value) => Some(value),
                _ => None,
            };
            Some((name, given.or(written)?))
        }
        _ => None,
    };
    parse(text).0.items.iter().filter_map(param).collect()
}

/// Smaller values than one, from the smallest on.
fn below(value: i64) -> impl Iterator<Item = i64> {
    let doubled = |last: &i64| Some(if *last < ONE_BY_ONE { last + 1 } else { last.checked_mul(2)? });
    std::iter::successors(Some(1), doubled).take_while(move |tried| *tried < value)
}
