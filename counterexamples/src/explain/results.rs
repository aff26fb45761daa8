//! Results and states of the BCU, and assertions.

use barcheck_model::rule::Rule;

use super::case::{Case, sentence};
use super::place::{Completed, Did, Remark};
use super::words::Words;
use crate::trace::{Event, Step};

pub(super) fn result(case: &Case<'_>, rule: Rule) -> Words {
    match rule {
        Rule::UndefinedResult => undefined(case),
        Rule::ResultOverwritten => overwritten(case),
        _ => clobbered(case),
    }
}

fn took_part(step: &Step, agent: u32) -> bool {
    let result = step.events.iter().any(|e| matches!(e, Event::Completed { result: Some(_), .. }));
    result
        && step.events.iter().any(|e| matches!(e, Event::Released { agents, .. } if agents.contains(&agent)))
}

fn undefined(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at) = (case.agent(outcome.agent), case.at(outcome.location));
    let red = case.back(case.before_last(), |s| took_part(s, outcome.agent));
    let message = match red {
        None => {
            format!("{who} fetches a result by `{}`{at}, but has completed no reduction", outcome.instruction)
        }
        Some(_) => format!(
            "{who} keeps an output of `{}`{at} that its last reduction left undefined",
            outcome.instruction
        ),
    };
    let mut words = Words { message, ..Words::default() };
    if let Some(step) = red {
        words.sentences.push(format!(
            "{}'s last reduction completed at {} by `{}`{}.",
            sentence(&who),
            Case::step_name(step),
            step.resolved,
            case.at(step.location)
        ));
        words.related.push(Case::here(step, Remark::Completed(Completed::LastReduction)));
    }
    words.sentences.push(
        "POPC defines the register, AND and OR define the predicate; before any completed reduction neither \
         is defined."
            .to_owned(),
    );
    words
}

fn overwritten(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at) = (case.agent(outcome.agent), case.at(outcome.location));
    let message = format!("a reduction completes for {who}{at}, which never fetched the result before");
    let mut words = Words { message, ..Words::default() };
    if let Some(step) = case.back(case.before_last(), |s| took_part(s, outcome.agent)) {
        words.sentences.push(format!(
            "The result before came at {} by `{}`{}.",
            Case::step_name(step),
            step.resolved,
            case.at(step.location)
        ));
        words.related.push(Case::here(step, Remark::Completed(Completed::LostResult)));
    }
    words
        .sentences
        .push("Each warp has one result register: fetch it by B2R.RESULT before the next RED.".to_owned());
    words
}

fn clobbered(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at, on) = (case.agent(outcome.agent), case.at(outcome.location), case.the_barrier());
    let barrier = outcome.barrier.unwrap_or_default();
    let message = format!(
        "{who} writes {on} by `{}`{at} while it is in use ({})",
        outcome.instruction,
        case.arrived_of(barrier)
    );
    let mut words = Words { message, ..Words::default() };
    if let Some(state) = case.state(barrier) {
        words.sentences.push(format!(
            "In use: {} arrived, {} waiting.",
            case.agents(&state.arrived),
            if state.waiting.is_empty() { "nobody".to_owned() } else { case.agents(&state.waiting) }
        ));
    }
    for step in case.gathered(barrier, case.before_last()) {
        words.related.push(Case::did(step, Did::Arrived));
    }
    words.sentences.push(
        "R2B.BAR may only write an idle barrier, or the state that it has already: arrivals would be lost."
            .to_owned(),
    );
    words
}

pub(super) fn assertion(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at) = (case.agent(outcome.agent), case.at(outcome.location));
    let message = format!("`{}` fails for {who}{at}", outcome.instruction);
    let mut sentences =
        vec![format!("{} executes `{}`{at}, and it does not hold.", sentence(&who), outcome.instruction)];
    sentences.extend(case.locals_of(outcome.agent));
    let decisions: Vec<String> = case
        .trace
        .steps
        .iter()
        .filter(|s| s.agent == outcome.agent && s.events.iter().any(|e| matches!(e, Event::Decided { .. })))
        .map(|s| format!("`{}`", s.resolved))
        .collect();
    if !decisions.is_empty() {
        let last = decisions.len().saturating_sub(6);
        sentences.push(format!("It decided before: {}.", decisions[last..].join(", ")));
    }
    Words { message, sentences, related: Vec::new(), ..Words::default() }
}
