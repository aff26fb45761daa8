//! Operands that are out of range, and participants that disagree.

use barcheck_model::rule::Rule;

use super::case::{Case, announced, arrived_of, sentence, verb};
use super::place::{Did, Remark};
use super::words::Words;
use crate::names;
use crate::trace::{Detail, Step};
use crate::wording::{Counts, Wording};

pub(super) fn mismatch(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at) = (case.agent(outcome.agent), case.at(outcome.location));
    let Some((barrier, last)) = outcome.barrier.zip(case.last()) else {
        return allocation(case);
    };
    let on = case.barrier(barrier);
    let gathered = case.gathered(barrier, case.before_last());
    let here = announced(last);
    let Some(first) = gathered.first() else {
        let message = format!("{who} announces {here} on {on}{at}, and others another count");
        return Words { message, ..Words::default() };
    };
    let there = announced(first);
    let message = format!(
        "{who} announces {here} on {on}{at}, but {} announced {there}{}",
        case.agent(first.agent),
        case.at(first.location)
    );
    let mut sentences = vec![
        format!(
            "{} opened the generation that is gathering on {on} with {there} (`{}`{}, {}).",
            sentence(&case.agent(first.agent)),
            first.resolved,
            case.at(first.location),
            Case::step_name(first)
        ),
        format!("{} comes to the same generation with {here} (`{}`{}).", sentence(&who), last.resolved, at),
    ];
    sentences.extend(case.state(barrier).map(|s| {
        format!("{} had arrived so far: {}.", sentence(&arrived_of(&s.counts)), case.agents(&s.arrived))
    }));
    sentences.push(
        "All who take part in one generation must give the same count; otherwise what happens is undefined. \
         If the two are meant to be apart, they need different barriers."
            .to_owned(),
    );
    let related = vec![Case::did(first, Did::Announced(there))];
    Words { message, sentences, related, ..Words::default() }
}

/// Two numbers of allocated barriers.
fn allocation(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at) = (case.agent(outcome.agent), case.at(outcome.location));
    let is_allocation = |s: &Step| case.wording().is_some_and(|wording| wording.allocates(&s.resolved));
    let message =
        format!("{who} executes `{}`{at}, but the group has allocated another number", case.resolved_here());
    let mut words = Words { message, ..Words::default() };
    if let Some(first) = case.back(case.before_last(), is_allocation) {
        words.sentences.push(format!(
            "{} executed `{}`{} ({}).",
            sentence(&case.agent(first.agent)),
            first.resolved,
            case.at(first.location),
            Case::step_name(first)
        ));
        words.related.push(Case::here(first, executed(first)));
    }
    words.sentences.push("All subgroups must allocate the same number of barriers.".to_owned());
    words
}

/// An operand by itself is wrong.
pub(super) fn operand(case: &Case<'_>, rule: Rule) -> Words {
    let outcome = &case.outcome;
    let value = match &outcome.detail {
        Some(Detail::Operand { value }) => Some(*value),
        _ => None,
    };
    let shown = value.map_or_else(String::new, |v| format!(" {v}"));
    let (who, at) = (case.agent(outcome.agent), case.at(outcome.location));
    let instruction = case.resolved_here();
    let wording = case.wording();
    let ids = wording.and_then(Wording::ids).map(str::to_owned);
    let counts = counted(case);
    let (what, demand) = match rule {
        Rule::BarrierIdRange if value.is_none() => {
            (format!("`{instruction}`, a number out of range"), ids)
        }
        Rule::BarrierIdRange => (format!("barrier id{shown} in `{instruction}`"), ids),
        Rule::CountRange => out_of_range(counts.as_ref(), &shown, &instruction),
        Rule::ArriveNeedsCount => (
            format!("`{instruction}` without a positive thread count"),
            Some(
                "An arrive does not wait, so the barrier must be told how many threads to expect.".to_owned(),
            ),
        ),
        Rule::BarrierNotAllocated => (
            format!("`{instruction}` on barrier{shown}, which is not allocated"),
            Some("This subgroup has to execute alloc_nbarrier first, with a number above the id.".to_owned()),
        ),
        Rule::TypeRange => (
            format!("type{shown} in `{instruction}`"),
            Some("The type is 0 (producer and consumer), 1 (producer) or 2 (consumer).".to_owned()),
        ),
        _ => (
            format!("`{instruction}` with a register whose upper bits the hardware drops"),
            Some(
                "Of an id register the low 4 bits count, of a count register the low 12; the rest is ignored \
                 silently."
                    .to_owned(),
            ),
        ),
    };
    // What is right is short enough to stand beside what is wrong.
    let right = demand
        .as_deref()
        .filter(|_| matches!(rule, Rule::BarrierIdRange | Rule::CountRange | Rule::TypeRange));
    let right = right.map_or_else(String::new, |demand| format!(": {}", clause(demand)));
    let swapped = if rule == Rule::BarrierIdRange { swapped(case, &instruction) } else { None };
    let of_threads = rule == Rule::CountRange && counts.is_some_and(|counts| counts.of_threads);
    let warps = value.filter(|_| of_threads).and_then(|value| in_warps(case, value));
    let hint = match (&swapped, warps) {
        (Some(_), _) => "; its operands look swapped".to_owned(),
        (None, Some(warps)) => format!("; {warps}"),
        (None, None) => String::new(),
    };
    let message = format!("{who} executes {what}{at}{right}{hint}");
    let mut sentence = format!("{} executes `{}`{at}", sentence(&who), outcome.instruction);
    if outcome.instruction != instruction {
        sentence.push_str(&format!(", which here is `{instruction}`"));
    }
    sentence.push('.');
    let mut sentences = vec![sentence];
    sentences.extend(case.locals_of(outcome.agent));
    sentences.extend(demand);
    sentences.extend(swapped);
    Words { message, sentences, related: Vec::new(), ..Words::default() }
}

/// A count that cannot be, and which can.
fn out_of_range(counts: Option<&Counts>, shown: &str, instruction: &str) -> (String, Option<String>) {
    let what = match counts.and_then(|counts| counts.of) {
        Some(of) => format!("`{instruction}` with{shown} {of}"),
        None => format!("count{shown} in `{instruction}`"),
    };
    (what, counts.map(|counts| counts.says.clone()))
}

/// What the instruction that the outcome is about counts, if it counts anything.
fn counted(case: &Case<'_>) -> Option<Counts> {
    case.wording()?.counts(&case.resolved_here(), case.trace.protocol.group_size)
}

/// The clause that a count out of range breaks, where it is not the first on which the rule rests.
pub(super) fn clause_of_count(case: &Case<'_>) -> Option<&'static str> {
    counted(case)?.clause
}

/// What a count would be if it had been meant in warps.
fn in_warps(case: &Case<'_>, value: i64) -> Option<String> {
    let threads = value.checked_mul(i64::from(case.unit()))?;
    let is_meant = case.unit() > 1 && value > 0 && threads <= i64::from(case.trace.protocol.group_size);
    is_meant.then(|| format!("{value} warps are {threads} threads"))
}

/// That an id and a count would be right the other way round.
fn swapped(case: &Case<'_>, instruction: &str) -> Option<String> {
    let (_, operands) = instruction.trim_end_matches(';').rsplit_once(' ').map(|(head, last)| {
        // `bar.sync 64, 1`: the operand before the last stands behind the last word of the head.
        (head, (head.rsplit([' ', '.']).next().unwrap_or_default(), last))
    })?;
    let number = |text: &str| text.trim_end_matches(',').parse::<u32>().ok();
    let (id, count) = (number(operands.0)?, number(operands.1)?);
    let is_count = id > 0 && id.is_multiple_of(case.unit()) && case.unit() > 1;
    (is_count && id <= case.trace.protocol.group_size.next_multiple_of(case.unit()) && count < 16)
        .then(|| format!("The operands look swapped: barrier {count} and {id} threads would be in range."))
}

/// A sentence as part of another.
fn clause(sentence: &str) -> String {
    let mut letters = sentence.trim_end_matches('.').chars();
    let first: String = letters.next().map(|c| c.to_lowercase().collect()).unwrap_or_default();
    first + letters.as_str()
}

pub(super) fn too_many(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at, on) = (case.agent(outcome.agent), case.at(outcome.location), case.the_barrier());
    let full = outcome.barrier.map(|b| case.arrived_of(b)).unwrap_or_default();
    let message = format!("{who} signals {on}{at}, but {full} have signalled already");
    let mut words = Words { message, ..Words::default() };
    words.sentences.push(format!("{} executes `{}`{at}.", sentence(&who), case.resolved_here()));
    words.sentences.push(format!(
        "In the generation that is gathering on {on}, {full} have signalled: one of the two numbers would be \
         exceeded."
    ));
    for step in outcome.barrier.map(|b| case.gathered(b, case.before_last())).unwrap_or_default() {
        words.related.push(Case::did(step, Did::Signalled));
    }
    words
}

pub(super) fn mixed(case: &Case<'_>, rule: Rule) -> Words {
    let outcome = &case.outcome;
    let (who, at, on) = (case.agent(outcome.agent), case.at(outcome.location), case.the_barrier());
    let barrier = outcome.barrier.unwrap_or_default();
    let operation = |s: &Step| s.operands.as_ref().map(|o| o.operation.clone()).unwrap_or_default();
    let mine = case.last().map(operation).unwrap_or_default();
    let other = case.back(case.before_last(), |s| {
        let theirs = operation(s);
        let differs = if rule == Rule::MixedRedOp {
            theirs != mine
        } else {
            names::is_reduction(&theirs) != names::is_reduction(&mine)
        };
        differs && super::case::arrives(s, barrier)
    });
    let what =
        if rule == Rule::MixedRedOp { "another reduction" } else { "sync, arrive and reductions mixed" };
    let there = other.map_or_else(String::new, |s| {
        format!(", after `{}` by {}{}", s.resolved, case.agent(s.agent), case.at(s.location))
    });
    let message = format!("{who} executes `{}` on {on}{at}{there}: {what}", case.resolved_here());
    let mut words = Words { message, ..Words::default() };
    if let Some(other) = other {
        words.sentences.push(format!(
            "{} executed `{}`{} ({}).",
            sentence(&case.agent(other.agent)),
            other.resolved,
            case.at(other.location),
            Case::step_name(other)
        ));
        words.related.push(Case::here(other, executed(other)));
    }
    if other.is_none() {
        words.sentences.extend(moved(case, barrier));
    }
    let demand = if rule == Rule::MixedRedOp {
        Some("All who take part in one reduction must name the same operator.")
    } else {
        case.wording().and_then(Wording::mixed)
    };
    words.sentences.extend(demand.map(str::to_owned));
    words
}

/// Who has put the state of another barrier onto this one.
fn moved(case: &Case<'_>, barrier: u32) -> Option<String> {
    let is = |step: &Step, operation: &str| step.operands.as_ref().is_some_and(|o| o.operation == operation);
    let on = |step: &Step| step.operands.as_ref().map(|operands| operands.barrier);
    let put = case.back(case.before_last(), |s| is(s, "write-state") && on(s) == Some(barrier))?;
    let saved = case.back(put.index, |s| s.agent == put.agent && is(s, "read-state"))?;
    Some(format!(
        "Its state is that of {}: {} saved it{} ({}) and put it onto {}{} ({}).",
        case.barrier(on(saved)?),
        case.agent(put.agent),
        case.at(saved.location),
        Case::step_name(saved),
        case.barrier(barrier),
        case.at(put.location),
        Case::step_name(put)
    ))
}

fn executed(step: &Step) -> Remark {
    Remark::Executed { instruction: step.resolved.clone(), by: step.agent }
}

pub(super) fn reserved(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let message = format!(
        "{} {} barrier 0 with an explicit count{}",
        case.agents(&outcome.agents),
        verb(&outcome.agents, "uses", "use"),
        case.at(outcome.location)
    );
    let sentences = vec![
        format!("`{}`{} names barrier 0.", case.resolved_here(), case.at(outcome.location)),
        "CTA-wide synchronisation (`__syncthreads()`) uses barrier 0 by default; code that shares it works \
         only as long as nobody adds such a call."
            .to_owned(),
    ];
    Words { message, sentences, related: Vec::new(), ..Words::default() }
}
