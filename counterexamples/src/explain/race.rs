//! Data races, and accesses that are ordered in time but not in memory.

use barcheck_model::rule::Rule;

use super::case::{Case, arrives, completes, sentence};
use super::early;
use super::laps;
use super::place::Remark;
use super::proxy;
use super::words::Words;
use crate::objects::{Flight, flights};
use crate::trace::{COPY, Detail, Event, FILL, REDUCTION, SENT, SOURCE, STORE, Step, USE};
use crate::wording::{Parties, Unpublished, Wording};

/// The later access of a conflict is the last step; the earlier one is looked up.
pub(super) fn conflict(case: &Case<'_>, rule: Rule) -> Words {
    let (Some(last), Some(Detail::Conflict { location, earlier, earlier_access, access })) =
        (case.last(), &case.outcome.detail)
    else {
        return Words { message: "two accesses are not ordered".to_owned(), ..Words::default() };
    };
    let before = case.back(case.before_last(), |s| s.accesses(*earlier, earlier_access, location));
    let is_too_early = laps::is_too_early(case, rule);
    let unannounced = before.and_then(|before| announced_late(case, before, last));
    let unwaited = unannounced.clone().or_else(|| unwaited(case, last));
    let race = before.filter(|_| rule == Rule::DataRace && !is_too_early && unannounced.is_none());
    let early = race.and_then(|before| early::of(case, (before, earlier_access), (last, access)));
    let there = before.map(|s| case.at(s.location)).unwrap_or_default();
    let (later_by, earlier_by) = (case.agent(last.agent), case.agent(*earlier));
    let filled = race.and_then(|before| filled_early(case, before, last, location));
    let what_is_missing = match &early {
        Some(early) => early.says(case),
        None if filled.is_some() && access == "read" => {
            "it is filled again before what it held has been read".to_owned()
        }
        None if rule == Rule::DataRace && unannounced.is_some() => ANNOUNCED_LATE.to_owned(),
        None => what_is_missing(Some(rule.name()), [earlier_access, access]).to_owned(),
    };
    let message = format!(
        "{later_by}'s {access} of {location}{} conflicts with {earlier_by}'s {earlier_access}{there}: \
         {what_is_missing}",
        case.at(last.location)
    );
    let mut words = Words { message, ..Words::default() };
    if let Some(before) = before {
        words.sentences.push(format!(
            "{} {} {location}{} ({}); {later_by} {} it{} ({}).",
            sentence(&earlier_by),
            past(earlier_access),
            case.at(before.location),
            Case::step_name(before),
            past(access),
            case.at(last.location),
            Case::step_name(last),
        ));
        let landing = landing(case, before, last, location);
        let (access, location) = (earlier_access.clone(), location.clone());
        words.related.push(Case::here(before, Remark::Access { by: *earlier, access, location }));
        if let Some(early) = &early {
            words.sentences.push(early.explains(case));
            words.related.push(early.place(case));
            return words;
        }
        let is_own = is_waited_for(earlier_access) && *earlier == last.agent;
        if rule == Rule::DataRace && !is_too_early && !is_own {
            words
                .sentences
                .extend(unannounced.or(landing).or(unwaited.clone()).or_else(|| between(case, before, last)));
        }
    }
    if rule == Rule::DataRace && (is_too_early || unwaited.is_some()) {
        // The wait is to be mended: nothing else is missing.
        words.sentences.extend(before.and_then(|before| parts(case, before, last)));
    } else if rule == Rule::DataRace {
        words.sentences.push(unordered(filled, [&earlier_by, &later_by], [earlier_access, access]));
        words.sentences.extend(before.and_then(|before| parts(case, before, last)));
    } else if crosses(earlier_access, access)
        && !before.is_some_and(|before| is_unpublished(case, before, last))
    {
        words.sentences.extend(proxy::unfenced(&earlier_by, &later_by, (earlier_access, access)));
    } else {
        words.sentences.extend(unpublished(case, before, last, [&earlier_by, &later_by]));
    }
    words
}

/// Why what is known in time is not known in memory, and what would mend it.
fn unpublished(
    case: &Case<'_>,
    before: Option<&Step>,
    last: &Step,
    [earlier, later]: [&str; 2],
) -> Vec<String> {
    if let Some(waits) = before.and_then(|before| weak_wait(case, before, last)) {
        return waits;
    }
    let weak = before.and_then(|before| weak_arrival(case, before, last));
    let arrival = weak.or_else(|| before.and_then(|before| arrival_after(case, before, last)));
    let earlier = arrival.map_or_else(|| earlier.to_owned(), |step| case.agent(step.agent));
    let at = arrival.map(|step| case.at(step.location)).unwrap_or_default();
    let parties = Parties { earlier: &earlier, later, at: &at, arrives: arrival.is_some() };
    let unpublished = case.wording().map(|wording| wording.unpublished(parties));
    let sentences = |it: Unpublished| [format!("{}.", sentence(&it.why)), format!("To fix it, {}.", it.fix)];
    unpublished.into_iter().flat_map(sentences).collect()
}

/// That what makes the later access come second is a wait that acquires nothing, or an arrival of copies,
/// which releases nothing else.
fn weak_wait(case: &Case<'_>, before: &Step, last: &Step) -> Option<Vec<String>> {
    let steps = in_between(case, before, last)?;
    let waits = |step: &&Step| {
        let is_wait = step.instruction.contains("wait") && step.instruction.contains(".relaxed");
        step.agent == last.agent && is_wait
    };
    if let Some(wait) = steps.iter().rev().find(waits) {
        let who = sentence(&case.agent(last.agent));
        let at = case.at(wait.location);
        return Some(vec![
            format!("{who} waited by `{}`{at} ({}), which acquires nothing.", wait.instruction, Case::step_name(wait)),
            "To fix it, put a fence that acquires behind the wait, `fence.acquire.cta`, or `.cluster` where other \
             CTAs arrive on the object; or leave `.relaxed` out."
                .to_owned(),
        ]);
    }
    let arrives =
        |step: &&Step| step.agent == before.agent && step.instruction.starts_with("cp.async.mbarrier.arrive");
    let plain = |step: &Step| step.agent == before.agent && step.instruction.starts_with("mbarrier.arrive");
    let arrival = steps.iter().find(arrives).filter(|_| !steps.iter().any(plain))?;
    let (who, at) = (sentence(&case.agent(before.agent)), case.at(arrival.location));
    Some(vec![
        format!(
            "{who} arrived by `{}`{at} ({}), which releases what its copies have written, and nothing else.",
            arrival.instruction,
            Case::step_name(arrival)
        ),
        format!(
            "To fix it, let {} arrive by `mbarrier.arrive` too, after its access.",
            case.agent(before.agent)
        ),
    ])
}

/// Whether it is a copy for which its own thread waits.
fn is_waited_for(access: &str) -> bool {
    [STORE, FILL].contains(&access)
}

/// What is not so between two accesses that nothing orders, and what would mend it. Of a copy it may be that
/// it was begun too early.
fn unordered(
    early: Option<String>,
    [earlier_by, later_by]: [&str; 2],
    [earlier_access, access]: [&str; 2],
) -> String {
    if let Some(early) = early {
        return early;
    }
    match earlier_access {
        COPY => format!(
            "Nothing makes {later_by} wait until the copy has landed: it has to see that phase of the object \
             complete before its own access."
        ),
        SENT | REDUCTION | SOURCE => format!(
            "Nothing makes {later_by} wait until that has landed: it has to see that phase of the object complete, or \
             hear of it from one who has, before its own access."
        ),
        STORE => proxy::still_reads(earlier_by, later_by),
        FILL => proxy::still_writes(earlier_by, later_by),
        _ => format!(
            "Nothing makes one of them come first: in another run the {access} may come before the \
             {earlier_access}. Both have to be separated by a barrier: {earlier_by} arrives after its access, \
             {later_by} waits before its own."
        ),
    }
}

/// That a copy fills a place again of which whoever made the later access had seen the phase before: it is
/// the copy that did not wait.
fn filled_early(case: &Case<'_>, before: &Step, last: &Step, location: &str) -> Option<String> {
    if let Some(refilled) = refilled_early(case, before, last, location) {
        return Some(refilled);
    }
    let on = before.events.iter().find_map(|event| match event {
        Event::Issued { barrier, bytes: Some(_), .. } => Some(*barrier),
        _ => None,
    })?;
    let fills = |step: &Step| {
        step.events.iter().any(|event| match event {
            Event::Issued { writes: Some(to), barrier, .. } => to == location && *barrier == on,
            _ => false,
        })
    };
    if case.trace.is_excerpt() {
        return None;
    }
    // It has waited since the copy before this one was begun, and comes there for the first time since.
    let first = case.back(before.index, fills)?;
    let seen = case.back(last.index, |step| step.agent == last.agent && passes(step, on))?;
    let again = case.trace.steps.get(seen.index + 1..last.index)?;
    let has_come = |step: &Step| step.agent == last.agent && step.location == last.location;
    if seen.index < first.index || again.iter().any(has_come) {
        return None;
    }
    let (who, by, name) = (case.agent(last.agent), case.agent(before.agent), case.barrier(on));
    Some(format!(
        "{} has seen the phase of {name} in which the copy before landed ({}), and comes to what that one brought: \
         nothing makes {by} wait with the next copy until {who} is done. {} has to give the place back by an \
         arrival after its access, and {by} to wait for that before it copies again.",
        sentence(&who),
        Case::step_name(seen),
        sentence(&who),
    ))
}

/// That a `cp.async` fills a place again of which whoever made the later access has met at a barrier those
/// who had waited for the one before: it is the next copy that did not wait.
pub(super) fn refilled_early(case: &Case<'_>, before: &Step, last: &Step, location: &str) -> Option<String> {
    let touches = |step: &Step, fills: bool| {
        step.events.iter().any(|event| match event {
            Event::Accessed { access, locations } => {
                (access == FILL) == fills && locations.iter().any(|l| l == location)
            }
            _ => false,
        })
    };
    if case.trace.is_excerpt() || before.agent == last.agent || !touches(before, true) {
        return None;
    }
    let first = case.back(before.index, |step| touches(step, true))?;
    let goes_on = |step: &Step| {
        step.events.iter().find_map(|event| match event {
            Event::Released { barrier, agents } if agents.contains(&last.agent) => Some(*barrier),
            Event::Passed { barrier } | Event::Completed { barrier, .. } if step.agent == last.agent => {
                Some(*barrier)
            }
            _ => None,
        })
    };
    let met = case.back(last.index, |step| goes_on(step).is_some())?;
    let on = case.barrier(goes_on(met)?);
    let between = case.trace.steps.get(first.index..met.index)?;
    let waits = |step: &Step| step.agent == first.agent && step.instruction.starts_with("cp.async.wait");
    let since = case.trace.steps.get(met.index + 1..last.index)?;
    let has_read = since.iter().any(|step| step.agent == last.agent && touches(step, false));
    if has_read || !between.iter().any(waits) {
        return None;
    }
    let (who, by) = (case.agent(last.agent), case.agent(before.agent));
    Some(format!(
        "{} comes to what the copy before brought ({}), and has waited for that on {on} ({}): nothing makes {by} \
         wait with the next copy until {who} is done. {} has to arrive on a barrier after its access, and {by} to \
         wait for that before it copies again.",
        sentence(&who),
        Case::step_name(first),
        Case::step_name(met),
        sentence(&who),
    ))
}

/// What may be meant where agents write one location by one statement: that each writes a part of it.
fn parts(case: &Case<'_>, before: &Step, last: &Step) -> Option<String> {
    let is_write = |step: &Step| {
        let mut accesses = step.events.iter().filter_map(|event| match event {
            Event::Accessed { access, .. } => Some(access),
            _ => None,
        });
        accesses.any(|access| access == "write")
    };
    let together = before.location == last.location && is_write(before) && is_write(last);
    let noun = case.noun();
    together.then(|| {
        format!(
            "If each {noun} writes a part of its own, a location stands for each part: an array with an \
             element for each, and the {noun}'s own number in the index."
        )
    })
}

/// Where the copy is, that the first of two accesses is.
fn landing(case: &Case<'_>, before: &Step, last: &Step, location: &str) -> Option<String> {
    let flights = flights(case.trace);
    let is_it = |flight: &&Flight| {
        flight.issued == Some(before.index + 1) && flight.writes.as_deref() == Some(location)
    };
    let flight = flights.iter().find(is_it)?;
    let (on, later_by) = (case.barrier(flight.barrier), case.agent(last.agent));
    Some(match flight.landed.filter(|time| *time <= last.index) {
        None => format!("The copy, which lands on {on}, had not landed."),
        Some(time) => {
            format!("The copy landed on {on} (step {time}), but {later_by} had not seen that phase complete.")
        }
    })
}

/// That whoever made the later access has arrived on a barrier and not waited since, where the two alternate.
fn unwaited(case: &Case<'_>, last: &Step) -> Option<String> {
    if !case.wording().is_some_and(Wording::waits_between_arrivals) {
        return None;
    }
    let is_arrival = |step: &Step| step.events.iter().any(|event| matches!(event, Event::Arrived { .. }));
    let arrival = case.back(case.before_last(), |step| step.agent == last.agent && is_arrival(step))?;
    let on = arrival.events.iter().find_map(|event| match event {
        Event::Arrived { barrier } => Some(*barrier),
        _ => None,
    })?;
    let since = case.trace.steps.iter().filter(|step| step.index >= arrival.index);
    let has_waited = since.into_iter().any(|step| step.agent == last.agent && passes(step, on));
    (!has_waited).then(|| {
        format!(
            "{} arrived on {}{} ({}) and has not waited for it since: its wait is missing, or stands behind the \
             access.",
            sentence(&case.agent(last.agent)),
            case.barrier(on),
            case.at(arrival.location),
            Case::step_name(arrival)
        )
    })
}

/// What is said where bytes are announced too late.
const ANNOUNCED_LATE: &str = "its bytes were announced when the phase was complete already";

/// That the phase which whoever made the later access saw complete was so before the bytes of the copy were
/// announced, by one who had arrived in it already.
fn announced_late(case: &Case<'_>, before: &Step, last: &Step) -> Option<String> {
    let on = before.events.iter().find_map(|event| match event {
        Event::Issued { barrier, bytes: Some(_), .. } => Some(*barrier),
        _ => None,
    })?;
    if case.trace.is_excerpt() {
        return None;
    }
    let complete = case.back(before.index, |step| completes(step, on))?.index;
    let steps = &case.trace.steps;
    let begins = case.back(complete, |step| completes(step, on)).map_or(0, |step| step.index + 1);
    let phase = steps.get(begins..=complete)?;
    let counts =
        |step: &Step| step.events.iter().any(|e| matches!(e, Event::Counted { barrier } if *barrier == on));
    let issues = |step: &Step| {
        step.events.iter().any(|e| matches!(e, Event::Issued { barrier, .. } if *barrier == on))
    };
    let has_arrived = phase.iter().any(|step| step.agent == before.agent && arrives(step, on));
    let is_of_copies = phase.iter().any(|step| counts(step) || issues(step));
    let late = steps.get(complete + 1..before.index)?;
    let late = late.iter().find(|step| step.agent == before.agent && counts(step) && !arrives(step, on))?;
    let passed = steps.get(complete..last.index)?;
    let passed = passed.iter().find(|step| step.agent == last.agent && passes(step, on))?;
    let (who, name) = (case.agent(last.agent), case.barrier(on));
    (has_arrived && !is_of_copies).then(|| {
        format!(
            "{} passed its wait on {name}{} ({}): the phase was complete ({}) before the bytes of this copy were \
             announced{} ({}). Announce them before the arrival, or with it: `mbarrier.arrive.expect_tx`.",
            sentence(&who),
            case.at(passed.location),
            Case::step_name(passed),
            Case::step_name(&steps[complete]),
            case.at(late.location),
            Case::step_name(late)
        )
    })
}

/// What there is not between two accesses, by the rule that they violate.
pub(crate) fn what_is_missing(rule: Option<&str>, [earlier, access]: [&str; 2]) -> &'static str {
    if rule == Some(Rule::DataRace.name()) && [STORE, SOURCE].contains(&earlier) {
        "nothing makes it wait until the copy has read"
    } else if rule == Some(Rule::DataRace.name()) && [FILL, SENT, REDUCTION].contains(&earlier) {
        "nothing makes it wait until the copy has landed"
    } else if rule == Some(Rule::DataRace.name()) {
        "no barrier orders the two"
    } else if access == USE {
        "it is known to be initialised in time, but not in memory"
    } else if crosses(earlier, access) {
        "no `fence.proxy.async` orders the two"
    } else {
        "barriers order the two in time, but not in memory"
    }
}

/// Whether an access by a copy comes after one of another proxy.
pub(super) fn crosses(earlier: &str, access: &str) -> bool {
    [STORE, SOURCE].contains(&access) || access == COPY && ["write", "atomic", FILL].contains(&earlier)
}

fn past(access: &str) -> &'static str {
    match access {
        "read" => "read",
        "write" => "wrote",
        "copy" => "began a copy to",
        "store" => "began a store of",
        "fill" => "began a `cp.async` to",
        "sent write" => "sent a write to",
        "reduction" => "sent a reduction to",
        "source" => "began a copy out of",
        "initialisation" => "began or ended the life of",
        "use" => "used",
        _ => "atomically updated",
    }
}

/// The steps between two others. Nothing is known of them where some are left out.
fn in_between<'c>(case: &Case<'c>, before: &Step, last: &Step) -> Option<&'c [Step]> {
    let position = |step: &Step| case.trace.steps.partition_point(|other| other.index < step.index);
    let steps = case.trace.steps.get(position(before) + 1..position(last))?;
    (steps.len() + 1 == last.index - before.index).then_some(steps)
}

/// The arrival, between two steps, of whoever made the first.
fn arrival_after<'c>(case: &Case<'c>, before: &Step, last: &Step) -> Option<&'c Step> {
    let steps = in_between(case, before, last)?;
    let arrives = |step: &&Step| step.events.iter().any(|e| matches!(e, Event::Arrived { .. }));
    steps.iter().filter(|step| step.agent == before.agent).find(arrives)
}

/// Whether what came before an arrival after the first step is not seen in memory, fences or not.
fn is_unpublished(case: &Case<'_>, before: &Step, last: &Step) -> bool {
    weak_arrival(case, before, last).is_some_and(|arrival| arrival.agent == before.agent)
}

/// The arrival between two steps that tells in time what it may not tell in memory: if possible of whoever
/// made the first, else of one who hands on what it has learnt.
pub(super) fn weak_arrival<'c>(case: &Case<'c>, before: &Step, last: &Step) -> Option<&'c Step> {
    let is_weak = |step: &&Step| {
        let is_arrival = step.events.iter().any(|e| matches!(e, Event::Arrived { .. }));
        is_arrival && [".relaxed", ".release.cta"].iter().any(|how| step.instruction.contains(how))
    };
    let own = arrival_after(case, before, last).filter(is_weak);
    let others = || in_between(case, before, last)?.iter().find(is_weak);
    own.or_else(others).filter(|_| before.agent != last.agent)
}

/// What barriers came in between, and why they did not help.
fn between(case: &Case<'_>, before: &Step, last: &Step) -> Option<String> {
    let steps = in_between(case, before, last)?;
    let earlier_by = sentence(&case.agent(before.agent));
    let later_by = case.agent(last.agent);
    let Some(arrival) = arrival_after(case, before, last) else {
        return Some(format!("{earlier_by} arrived on no barrier in between."));
    };
    let barrier = arrival.events.iter().find_map(|e| match e {
        Event::Arrived { barrier } => Some(*barrier),
        _ => None,
    })?;
    let on = case.barrier(barrier);
    let rest = steps.get(arrival.index.saturating_sub(before.index + 1)..)?;
    let arrived = format!("{earlier_by} then arrived on {on}{}", case.at(arrival.location));
    if !rest.iter().any(|s| completes(s, barrier)) {
        return Some(format!("{arrived}, but that generation was not complete when {later_by} went on."));
    }
    let met = rest.iter().any(|s| s.agent == last.agent && (arrives(s, barrier) || passes(s, barrier)));
    Some(if met {
        format!("{arrived}, but {later_by} was not made to wait for it before its access.")
    } else {
        format!("{arrived}, but {later_by} took no part in that generation.")
    })
}

fn passes(step: &Step, barrier: u32) -> bool {
    step.events
        .iter()
        .any(|e| matches!(e, Event::Passed { barrier: b } | Event::Blocked { barrier: b } if *b == barrier))
}
