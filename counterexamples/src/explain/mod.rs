//! What a trace shows, in words.
//!
//! Everything is said from the trace itself: what the run did, looked up by going back along its steps.

mod blame;
mod blocked;
mod blocks;
mod case;
mod circle;
mod clauses;
mod counts;
mod culprit;
mod early;
mod exits;
mod forks;
mod given;
mod hopeless;
mod in_use;
pub(crate) mod labels;
mod laps;
mod mbarrier;
mod pairing;
mod place;
mod pool;
mod proxy;
mod race;
mod results;
mod rounds;
mod short;
mod skipped;
mod standing;
mod unheard;
mod waited;
mod waiters;
mod words;

use barcheck_model::rule::Rule;

use crate::names;
use crate::trace::{Outcome, OutcomeKind, Trace};
use case::{Case, sentence};
use place::Place;
pub(crate) use race::what_is_missing;
pub use unheard::{announces_unread_data, leaves_unread_data};
use words::{MARK, Words};

/// An outcome of a trace's steps, in words; those that the trace has do not matter.
pub(crate) fn worded(trace: &Trace, mut outcome: Outcome) -> Outcome {
    let words = words(&Case::about(trace, &outcome));
    let noun = names::noun(trace);
    let without_places: String = words.message.split(MARK).step_by(2).collect();
    let kind = match outcome.kind {
        OutcomeKind::Violation => outcome.rule.clone().unwrap_or_default(),
        OutcomeKind::Fault => "evaluation error".to_owned(),
        OutcomeKind::Cut => "not modelled".to_owned(),
        OutcomeKind::State => "reached".to_owned(),
    };
    outcome.headline = format!("{kind}: {without_places}");
    outcome.message = words.message.chars().filter(|c| *c != MARK).collect();
    outcome.explanation = words.sentences.join("\n").chars().filter(|c| *c != MARK).collect();
    outcome.blamed.clone_from(&words.blamed);
    let place = (outcome.location.line, outcome.location.column);
    let mut related = Vec::new();
    for said in words.related.iter().map(|place| place.related(noun)) {
        let elsewhere = (said.line, said.column) != place || said.agent != outcome.agent;
        if said.line > 0 && elsewhere && !related.contains(&said) {
            related.push(said);
        }
    }
    outcome.related = related;
    outcome
}

/// Puts the words into a trace's outcome.
pub(crate) fn fill(trace: &mut Trace) {
    trace.outcome = worded(trace, trace.outcome.clone());
}

/// The clause that a trace's finding rests on, where what it is about has one of its own: a count of
/// registers is bounded elsewhere than one of threads, and mbarriers, the barrier of the cluster and copies
/// have clauses of their own. `None` where it is the first clause of the rule.
#[must_use]
pub fn clause(trace: &Trace) -> Option<&'static str> {
    clauses::of(&Case::of(trace))
}

/// The places that the explanation of a trace names, as facts.
pub(crate) fn places(trace: &Trace) -> Vec<Place> {
    words(&Case::of(trace)).related
}

fn words(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    if outcome.kind == OutcomeKind::State {
        return standing::standing(case);
    }
    let Some(rule) = outcome.rule.as_deref().and_then(Rule::from_name) else {
        return unfollowed(case);
    };
    let mut words = words_of(case, rule);
    laps::tell(case, rule, &mut words);
    if let Some((cause, sentence, count)) = rounds::split(case, rule) {
        words.message.push_str(&format!("; {cause}"));
        words.sentences.push(sentence);
        words.related.extend(count);
    }
    if rule == Rule::InFlightAtExit {
        waited::tell(case, &mut words);
    }
    words.fold();
    words
}

/// The words for a violation of a rule.
fn words_of(case: &Case<'_>, rule: Rule) -> Words {
    match rule {
        Rule::Deadlock => blocked::deadlock(case),
        Rule::StuckAgent => blocked::stuck_agent(case),
        Rule::DataRace | Rule::MissingFence => race::conflict(case, rule),
        Rule::CountMismatch => counts::mismatch(case),
        Rule::CountRange
        | Rule::ArriveNeedsCount
        | Rule::BarrierIdRange
        | Rule::BarrierNotAllocated
        | Rule::TypeRange
        | Rule::RegisterTruncated => counts::operand(case, rule),
        Rule::TooManyParticipants => counts::too_many(case),
        Rule::MixedRed | Rule::MixedRedOp => counts::mixed(case, rule),
        Rule::ReservedBarrier => counts::reserved(case),
        Rule::RepeatedArrival => pairing::repeated(case),
        Rule::ArrivalRace => pairing::arrival_race(case),
        Rule::WaitWithoutArrive | Rule::ProducerWaits => pairing::unpaired_wait(case, rule),
        Rule::MissingWait => pairing::missing_wait(case),
        Rule::LostNotification => pairing::lost_notification(case),
        Rule::ReuseBeforeFree => pairing::reuse(case),
        Rule::NonuniformBarrier => pairing::nonuniform(case),
        Rule::PartialWarp => pairing::partial_warp(case),
        Rule::NobodyWaits => pairing::nobody_waits(case),
        Rule::DanglingArrival => pairing::dangling(case),
        Rule::UndefinedResult | Rule::ResultOverwritten | Rule::StateClobbered => results::result(case, rule),
        Rule::Assertion => results::assertion(case),
        Rule::InFlightAtExit if case.outcome.barrier.is_none() => proxy::at_exit(case),
        Rule::InFlightAtExit
        | Rule::CommitAtExit
        | Rule::MbarrierLive
        | Rule::MbarrierNotLive
        | Rule::NoComplete
        | Rule::OverArrival
        | Rule::OverDelivery
        | Rule::ParityRange
        | Rule::RemoteAfterExit
        | Rule::StaleCompletion
        | Rule::StaleToken
        | Rule::TxRange
        | Rule::UnobservedPhase => mbarrier::misuse(case, rule),
    }
}

/// A run that ends where the protocol, or the model, gives no next state.
fn unfollowed(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let what = &outcome.headline;
    let who = case.agent(outcome.agent);
    let message = format!("{who}{}: {what}", case.at(outcome.location));
    let (who, at) = (sentence(&who), case.at(outcome.location));
    // What goes wrong between instructions, in a loop say, is none that the protocol writes.
    let does = match case.resolved_here().as_str() {
        "" => "computes".to_owned(),
        instruction => format!("executes `{instruction}`"),
    };
    let mut sentences = vec![format!("{who} {does}{at}: {what}.")];
    sentences.extend(case.locals_of(outcome.agent));
    sentences.push(if outcome.kind == OutcomeKind::Fault {
        "The path ends here: the protocol does not say what comes next.".to_owned()
    } else {
        "The path ends here: nothing is claimed about what comes next.".to_owned()
    });
    Words { message, sentences, related: Vec::new(), ..Words::default() }
}
