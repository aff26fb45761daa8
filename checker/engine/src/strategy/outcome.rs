//! What follows from what engines have found.

use crate::settings::Reduction;
use crate::verdict::answer::Question;
use crate::verdict::{Engine, Found, Inconclusive, Method, Outcome, ReachedFault, Statistics, Verdict};
use barcheck_model::rule::Level;

/// The engine that was asked for does not know.
pub(super) fn undecided(question: &Question<'_>, method: Method) -> Outcome {
    let reason = Some(Inconclusive::Undecided(method.why.clone()));
    outcome(question, Vec::new(), reason, Statistics::default(), method)
}

/// The method of an engine that was asked for and has found nothing.
pub(super) fn asked_for(reduction: Reduction) -> Method {
    Method { engine: Engine::Schedule, reduction, whole: true, why: "nothing was found".to_owned() }
}

pub(super) fn outcome(
    question: &Question<'_>,
    findings: Vec<Found>,
    inconclusive: Option<Inconclusive>,
    statistics: Statistics,
    method: Method,
) -> Outcome {
    // Nothing is verified that has not been covered.
    let open = || Inconclusive::Undecided(method.why.clone());
    let inconclusive = inconclusive.or_else(|| (!statistics.complete).then(open));
    let verdict = if has_error(&findings) {
        Verdict::Violated
    } else if inconclusive.is_some() {
        Verdict::Inconclusive
    } else {
        Verdict::Verified
    };
    let uncovered = inconclusive.clone().filter(|_| verdict == Verdict::Violated && question.settings.all);
    let inconclusive = inconclusive.filter(|_| verdict == Verdict::Inconclusive);
    let statistics = Statistics { complete: statistics.complete && inconclusive.is_none(), ..statistics };
    Outcome { verdict, findings, fault: None, inconclusive, uncovered, statistics, method }
}

/// The same where an evaluation error is reached besides: a violation comes before it, and it before whatever
/// was left open.
pub(super) fn with_fault(outcome: Outcome, fault: ReachedFault) -> Outcome {
    if outcome.verdict == Verdict::Violated {
        return outcome;
    }
    Outcome { verdict: Verdict::Error, fault: Some(fault), inconclusive: None, ..outcome }
}

pub(super) fn has_error(found: &[Found]) -> bool {
    found.iter().any(|f| f.level == Level::Error)
}

/// Whether an outcome is a violation that some run has shown, and other rules may be violated as well.
pub(super) fn is_partial(outcome: &Outcome) -> bool {
    outcome.verdict == Verdict::Violated && !outcome.statistics.complete
}

/// Why local computation was ended.
pub(super) fn out_of_time(question: &Question<'_>, why: &Inconclusive) -> Inconclusive {
    let budgets = question.settings.budgets;
    let Some(limit) = budgets.timeout.filter(|limit| question.started.elapsed() >= *limit) else {
        return Inconclusive::Interrupted;
    };
    let where_to = match why {
        Inconclusive::Cut { agent, at, .. } => {
            let place = question.program.code(*agent).places.get(at.index()).copied().unwrap_or_default();
            let who = question.program.agent_name(*agent);
            Some(format!("the local computation of {who} in line {}", place.line))
        }
        _ => None,
    };
    Inconclusive::Time(limit, where_to)
}

/// What a short search has found and how far it has come, if no time is left for a longer one.
pub(super) fn cut_by_time(question: &Question<'_>, mut found: Outcome) -> Option<Outcome> {
    let limit = question.settings.budgets.timeout;
    let elapsed = question.started.elapsed();
    let limit = limit.filter(|limit| elapsed >= *limit)?;
    for why in found.inconclusive.iter_mut().chain(&mut found.uncovered) {
        if let Inconclusive::States(_, what) = why {
            *why = Inconclusive::Time(limit, what.take());
        }
    }
    found.statistics.seconds = elapsed.as_secs_f64();
    Some(found)
}
