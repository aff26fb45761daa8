//! Whether a counterexample may be longer than it need be, and with what it would be shorter.
//!
//! A search has a shortest schedule to what it finds. An engine that makes few runs has that of a run, from which
//! is cut what can be spared. Where such a schedule is long, or where the protocol cannot come to the violation in
//! few steps, fewer rounds often show the same: smaller values of the protocol's params are tried, one param at a
//! time.

use crate::decision::Finding;
use crate::question::Options;
use crate::{Case, Judged, judge};
use barcheck_engine::{Control, Engine, Outcome, Progress};
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::bar::ast::{ExprKind, Item};
use barcheck_specs::bar::parse;
use barcheck_specs::{Format, Source, load_within};
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

/// A value of a param, smaller than the one in force, with which the same rule is violated at the same place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Smaller {
    /// The param.
    pub param: String,
    /// Its value.
    pub value: i64,
    /// The steps of the counterexample with it.
    pub steps: usize,
}

/// Whether no schedule to an error is shorter than its path: then nothing need be said of it. What a search finds
/// first it finds in as few steps as can be; and where every run is a permutation of one, all that end in a
/// deadlock have the same steps.
pub(crate) fn is_shortest(outcome: &Outcome, finding: &Finding) -> bool {
    let statistics = &outcome.statistics;
    match outcome.method.engine {
        // A cycle has a beginning and a round, of which each by itself is the shortest.
        Engine::Search => outcome.method.whole && finding.rule != Rule::StuckAgent,
        Engine::Schedule => statistics.complete && finding.rule == Rule::Deadlock,
        Engine::Stubborn => false,
    }
}

/// Looks for fewer rounds in which the first error shows as well, if it takes many steps.
pub(crate) fn look(
    source: &Source<'_>,
    judged: &mut Judged,
    options: &Options,
    (started, control): (Instant, &dyn Control),
) {
    let error = judged.findings.iter_mut().find(|found| found.level == Level::Error);
    let Some(error) = error.filter(|error| steps(error) > SHORT) else { return };
    if judged.case.source.format != Format::Bar.name() {
        return;
    }
    let asked = Asked { source, options, started, control, begun: Instant::now() };
    let tried = values(&judged.case, options).into_iter().take(MOST_PARAMS);
    let found = tried.filter_map(|(param, value)| asked.smallest(&param, value, error));
    error.smaller = found.min_by_key(|smaller| smaller.steps);
}

fn steps(finding: &Finding) -> usize {
    // Of an excerpt the last step tells how many there are.
    finding.trace.steps.last().map_or(0, |step| step.index as usize + 1)
}

/// The params whose values are numbers, with the values in force.
fn values(case: &Case, options: &Options) -> Vec<(String, i64)> {
    let text = &case.source.text;
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

/// What smaller values are asked.
struct Asked<'a> {
    source: &'a Source<'a>,
    options: &'a Options,
    started: Instant,
    control: &'a dyn Control,
    begun: Instant,
}

impl Asked<'_> {
    /// The smallest value of a param with which an error shows in fewer steps.
    fn smallest(&self, param: &str, value: i64, error: &Finding) -> Option<Smaller> {
        below(value).find_map(|tried| {
            let same = self.with(param, tried, error)?;
            let steps = steps(&same);
            (steps < self::steps(error)).then(|| Smaller { param: param.to_owned(), value: tried, steps })
        })
    }

    /// The same error with a value of a param, if it is found soon.
    fn with(&self, param: &str, value: i64, error: &Finding) -> Option<Finding> {
        let left = WITHIN.checked_sub(self.begun.elapsed())?;
        let in_time =
            self.options.settings.budgets.timeout.is_none_or(|limit| self.started.elapsed() < limit);
        if !in_time || !self.control.goes_on(Progress::default()) {
            return None;
        }
        let mut options = self.options.clone();
        options.load.defines.insert(param.to_owned(), value);
        options.settings.checkpoint = None;
        options.settings.all = false;
        options.coverage = false;
        let budgets = &mut options.settings.budgets;
        budgets.timeout = Some(self.started.elapsed() + left / 4);
        budgets.max_states = Some(budgets.max_states.unwrap_or(u64::MAX).min(MOST_STATES));
        let patience = barcheck_engine::patience(*budgets, self.started, self.control);
        let loaded = load_within(self.source, &options.load, &patience).ok()?;
        let judged = judge(self.source.name, loaded, &options, (self.started, self.control, &patience));
        let is_same = |found: &Finding| {
            (found.rule, found.level) == (error.rule, Level::Error) && found.place == error.place
        };
        judged.findings.into_iter().find(is_same)
    }
}
