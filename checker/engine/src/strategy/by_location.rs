//! A protocol decided location by location: see [`super::slices`].

use super::outcome::has_error;
use super::slices::whole::found_in_whole;
use super::slices::{Plan, whole_machine};
use crate::paths::replay;
use crate::settings::{Budgets, Settings};
use crate::verdict::answer::Question;
use crate::verdict::{Engine, Found, Method, Outcome, Statistics, Verdict};
use barcheck_model::rule::Level;

/// Decides a protocol location by location; `ask` decides a slice. `None` if it is not to be decided so, if
/// some slice has no verdict, or if no path of the whole shows what a slice violates.
pub(super) fn by_location(
    question: &Question<'_>,
    because: &str,
    ask: &dyn Fn(&Question<'_>) -> Outcome,
) -> Option<Outcome> {
    let plan = Plan::of(question)?;
    let mut machine = whole_machine(question);
    let (mut all, mut sum): (Vec<Found>, Statistics) = (Vec::new(), Statistics::default());
    let mut method: Option<Method> = None;
    for slice in &plan.slices {
        let settings = settings_of_part(question, sum.states)?;
        let part = Question { slice: Some(slice.clone()), ..question.with(&settings, question.options) };
        let outcome = ask(&part);
        let is_whole = outcome.statistics.complete;
        match outcome.verdict {
            Verdict::Verified => {}
            Verdict::Violated if is_whole || !settings.all => {}
            _ => return None,
        }
        let ends = |found: &Found| found.finding.rule.ends_path(question.program.target);
        if settings.all && plan.parts > 1 && outcome.findings.iter().any(ends) {
            // Whether the others run for ever meanwhile is not known.
            return None;
        }
        add(&mut sum, &outcome.statistics);
        for found in outcome.findings {
            all.push(found_in_whole(&mut machine, slice, &found)?);
        }
        // The engine that covers least by one run is the one to name.
        if method.as_ref().is_none_or(|known| rank(known) < rank(&outcome.method)) {
            method = Some(outcome.method);
        }
        if !settings.all && has_error(&all) {
            all.retain(|found| found.level >= Level::Warning);
            sum.complete = false;
            break;
        }
        sum.complete = true;
    }
    let method = method?;
    replay::sort(&machine, &mut all);
    let verdict = if has_error(&all) { Verdict::Violated } else { Verdict::Verified };
    let why = format!("{because}; {}: {}", plan.in_words(), method.why);
    sum.seconds = question.started.elapsed().as_secs_f64();
    let method = Method { whole: false, why, ..method };
    let (fault, inconclusive, uncovered) = (None, None, None);
    Some(Outcome { verdict, findings: all, fault, inconclusive, uncovered, statistics: sum, method })
}

/// The settings for a slice: what states are left of the budget.
fn settings_of_part(question: &Question<'_>, states: u64) -> Option<Settings> {
    let mut settings = question.settings.clone();
    let max_states = match settings.budgets.max_states {
        Some(most) => Some(most.checked_sub(states).filter(|left| *left > 0)?),
        None => None,
    };
    settings.budgets = Budgets { max_states, ..settings.budgets };
    Some(settings)
}

fn add(sum: &mut Statistics, part: &Statistics) {
    sum.states += part.states;
    sum.transitions += part.transitions;
    sum.depth = sum.depth.max(part.depth);
    sum.peak_memory_bytes = sum.peak_memory_bytes.max(part.peak_memory_bytes);
    sum.odds_of_omission = match (sum.odds_of_omission, part.odds_of_omission) {
        (Some(one), Some(other)) => Some((one + other).min(1.0)),
        (one, other) => one.or(other),
    };
}

/// How much an engine covers one by one.
fn rank(method: &Method) -> u8 {
    match method.engine {
        Engine::Schedule => 0,
        Engine::Stubborn => 1,
        Engine::Search => 2,
    }
}
