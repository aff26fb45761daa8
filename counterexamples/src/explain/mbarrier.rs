//! Rules about mbarrier objects.

use std::collections::BTreeMap;

use barcheck_model::rule::Rule;

use super::case::{Case, completes, has_phases, sentence, verb};
use super::given;
use super::hopeless;
use super::in_use;
use super::laps;
use super::place::{Did, Place, Remark};
use super::words::Words;
use crate::names;
use crate::objects::phases;
use crate::trace::{BarrierState, Detail, Event, Location, Step};

/// What is said of an object that is in use where the trace does not show for what.
const UNKNOWN_USE: &str = "somebody waits on it, or something is in flight to it";

/// What an instruction, or a landing, did to an object that it must not do.
pub(super) fn misuse(case: &Case<'_>, rule: Rule) -> Words {
    let outcome = &case.outcome;
    let (who, at, on) = (case.agent(outcome.agent), case.at(outcome.location), case.the_barrier());
    let landing = case.last().filter(|step| step.choice.lands || step.events.iter().any(is_landing));
    let instruction = landing.map_or_else(|| case.resolved_here(), |step| step.instruction.clone());
    let state = outcome.barrier.and_then(|barrier| case.state(barrier));
    let count = |of: &str| state.and_then(|state| state.counts.iter().find(|count| count.of == of));
    let made = count("arrivals")
        .map(|count| format!("{} of {} arrivals have been made on {on}", count.arrived, count.expected));
    let each = case.last().filter(|_| landing.is_none()).map(|step| lanes_of(case, step));
    let each = each.filter(|lanes| *lanes > 1).map(|lanes| format!("each of its {lanes} lanes makes one"));
    let arrived: Vec<String> = each.into_iter().chain(made).collect();
    let arrived = if arrived.is_empty() { String::new() } else { format!(" ({})", arrived.join("; ")) };
    let does = if landing.is_some() {
        format!("what {who} began by `{instruction}`{at} lands on {on}")
    } else {
        format!("{who} executes `{instruction}`{at}")
    };
    let all = match case.trace.protocol.ctas {
        1 => "everybody has exited",
        _ => "every warp of the CTA has exited",
    };
    // An object that one lane finds in use is refused without a number.
    let lanes = match outcome.detail {
        Some(Detail::Operand { value }) => value,
        _ => 1,
    };
    let given = outcome.barrier.and_then(|barrier| given::to(case, barrier));
    let given = given.and_then(|place| match place.remark {
        Remark::Count { count, .. } => Some(format!("{count}{}", case.at(place.location))),
        _ => None,
    });
    let used = outcome.barrier.filter(|_| rule == Rule::MbarrierLive).and_then(|on| in_use::of(case, on));
    let told = Told {
        who: &who,
        does: &does,
        on: &on,
        at: &at,
        arrived: &arrived,
        instruction: &instruction,
        all,
        lanes,
        given,
        is_kernel: case.trace.protocol.format != "bar",
        in_use: used.as_ref().map_or(UNKNOWN_USE, |used| &used.what),
        once_more: case.last().filter(|_| landing.is_none()).and_then(|last| once_more(case, last)),
    };
    let is_stale = rule == Rule::StaleToken;
    let number = token_is_a_number(case).filter(|_| is_stale).map(|name| of_number(&does, &name));
    let other = token_of_another(case).filter(|_| is_stale);
    let of_other = || other.as_ref().map(|(name, on, step)| of_another(case, &does, (name, *on, step)));
    let (message, why) = number.or_else(of_other).unwrap_or_else(|| told.of(rule));
    let mut words = Words { message, ..Words::default() };
    words.related.extend(other.map(|(_, on, step)| arrival(step, &case.barrier(on))));
    words.sentences.push(format!("{}.", sentence(&does)));
    // When something lands its agent has gone on, and so may have its locals.
    words.sentences.extend(case.locals_of(outcome.agent).filter(|_| landing.is_none()));
    words.sentences.extend(used.as_ref().and_then(|used| used.how.clone()));
    words.sentences.push(why);
    words.related.extend(used.and_then(|used| used.place));
    words.sentences.extend(landing.filter(|_| rule == Rule::StaleCompletion).and_then(|_| sum(case)));
    let earlier = outcome.barrier.map(|barrier| case.gathered(barrier, case.before_last()));
    words.related.extend(earlier.unwrap_or_default().into_iter().map(|step| arrival(step, &on)));
    words
}

/// How many bytes were copied to the object that a finding is about in its latest complete phase, where fewer
/// were announced.
fn sum(case: &Case<'_>) -> Option<String> {
    let barrier = case.outcome.barrier.filter(|_| !case.trace.is_excerpt())?;
    let complete = case.back(case.before_last(), |step| completes(step, barrier))?.index;
    let before = case.back(complete, |step| completes(step, barrier)).map_or(0, |step| step.index + 1);
    let phase = case.trace.steps.get(before..complete)?;
    let copied: u64 =
        phase.iter().flat_map(|step| &step.events).filter_map(|event| bytes(event, barrier)).sum();
    let states = phase.iter().flat_map(|step| &step.changes.barriers);
    let counts = states.filter(|state| state.barrier == barrier).flat_map(|state| &state.counts);
    let announced = counts.filter(|count| count.of == "bytes").map(|count| u64::from(count.expected)).max();
    let announced = announced.unwrap_or(0);
    let on = case.barrier(barrier);
    (copied > announced).then(|| {
        format!("For that phase of {on} {announced} bytes were announced, and copies of {copied} bytes were begun.")
    })
}

/// The bytes of a copy to an object.
fn bytes(event: &Event, on: u32) -> Option<u64> {
    match event {
        Event::Issued { barrier, bytes: Some(bytes), .. } if *barrier == on => Some(u64::from(*bytes)),
        _ => None,
    }
}

/// The local that a wait takes for a token, if it holds a number.
fn token_is_a_number(case: &Case<'_>) -> Option<String> {
    let name = case.outcome.instruction.rsplit_once(',')?.1.trim().to_owned();
    let fragments = &case.end.agents.get(&case.outcome.agent)?.fragments;
    let values = fragments.iter().filter_map(|fragment| fragment.locals.get(&name));
    values.into_iter().any(|value| value.parse::<i64>().is_ok()).then_some(name)
}

/// The token with which a wait is made, if it is that of an arrival on another object: its name, that object,
/// and the arrival.
fn token_of_another<'t>(case: &Case<'t>) -> Option<(String, u32, &'t Step)> {
    if case.trace.protocol.format != "bar" || case.trace.is_excerpt() {
        return None;
    }
    let (wait, name) = case.outcome.instruction.rsplit_once(',')?;
    let name = name.trim().to_owned();
    let gives = |step: &Step| {
        let (given, _) = step.instruction.split_once('=')?;
        let is_it = step.agent == case.outcome.agent && given.trim_start_matches("let ").trim() == name;
        is_it.then_some(())
    };
    let step = case.back(case.before_last(), |step| gives(step).is_some())?;
    let on = step.events.iter().find_map(|event| match event {
        Event::Arrived { barrier } => Some(*barrier),
        _ => None,
    })?;
    let waited = wait.rsplit(' ').next()?.split('[').next()?;
    let arrived = case.barrier(on);
    // Of an element of the same array it is told only by its index, which may be computed.
    (arrived.split(['[', ' ']).next()? != waited).then_some((name, on, step))
}

/// The words for a wait with the token of another object.
fn of_another(case: &Case<'_>, does: &str, (name, on, step): (&str, u32, &Step)) -> (String, String) {
    let on = case.barrier(on);
    (
        format!("{does}, and `{name}` is a token of {on}"),
        format!(
            "`{name}` came from `{}`{} ({}). A token names a phase of the object on which the arrival was made \
             that yielded it, and of no other.",
            step.instruction,
            case.at(step.location),
            Case::step_name(step)
        ),
    )
}

/// The words for a wait with the token of no arrival.
fn of_number(does: &str, name: &str) -> (String, String) {
    (
        format!("{does}, and `{name}` is no token of an arrival: it holds a number"),
        "With a parity, do you mean `mbarrier.wait.parity`? A token is what an arrival yields: `let t = \
         mbarrier.arrive full[0];`."
            .to_owned(),
    )
}

/// How many lanes make a step.
fn lanes_of(case: &Case<'_>, step: &Step) -> u32 {
    let before = case.trace.steps.iter().filter(|s| s.agent == step.agent && s.index < step.index);
    let exited = before.flat_map(|s| &s.events).filter_map(|event| match event {
        Event::LanesExited { lanes } => names::lanes_from(lanes),
        _ => None,
    });
    let gone = exited.fold(0, |gone: u32, mask| gone | mask).count_ones();
    let all = || case.trace.agents.get(step.agent as usize).map(|agent| agent.lanes.saturating_sub(gone));
    match step.lanes.as_deref().and_then(names::lanes_from) {
        Some(mask) => mask.count_ones(),
        None => all().unwrap_or(1),
    }
}

/// That an object of which one lane arrives has had its arrivals: the same agent was there before, or others
/// were.
fn once_more(case: &Case<'_>, last: &Step) -> Option<String> {
    let barrier = case.outcome.barrier.filter(|_| !case.trace.is_excerpt() && lanes_of(case, last) == 1)?;
    let (who, on) = (case.agent(last.agent), case.barrier(barrier));
    let before = case.gathered(barrier, case.before_last());
    if let Some(own) = before.iter().rev().find(|step| step.agent == last.agent) {
        return Some(format!(
            "{} arrived on {on} before{} ({}), and that phase is not over: nothing makes it wait, before it \
             arrives again, until the others have seen that phase and given back what it was about.",
            sentence(&who),
            case.at(own.location),
            Case::step_name(own),
        ));
    }
    let others = names::distinct(before.iter().map(|step| step.agent));
    let given = given::to(case, barrier).map(|place| case.at(place.location)).unwrap_or_default();
    (!others.is_empty()).then(|| {
        format!(
            "The arrivals of this phase were made by {} already: either the count of {on}{given} is to be that of \
             all who arrive in a phase, or {who} is not one of them.",
            case.agents(&others)
        )
    })
}

fn is_landing(event: &Event) -> bool {
    matches!(event, Event::Landed { .. })
}

fn arrival(step: &Step, on: &str) -> Place {
    Case::did(step, Did::ArrivedOn(on.to_owned()))
}

/// Agents that wait for a phase at one place.
pub(super) struct Waiting<'w> {
    pub(super) who: &'w [u32],
    pub(super) at: Location,
    pub(super) instruction: &'w str,
}

/// Which phase is waited for, what it lacks, and why it never comes, as far as that is to be seen.
pub(super) fn waits(case: &Case<'_>, state: &BarrierState, waiting: &Waiting<'_>, words: &mut Words) {
    let (on, phase) = (case.barrier(state.barrier), present_phase(case, state));
    let who = case.agents(waiting.who);
    words.sentences.push(format!(
        "{} {}{} (`{}`) for phase {phase} of {on}, whose parity is {}: {}.",
        sentence(&who),
        verb(waiting.who, "waits", "wait"),
        case.at(waiting.at),
        waiting.instruction,
        phase & 1,
        case.so_far(state.barrier),
    ));
    if hopeless::bytes_short(case, state).is_some() {
        words.sentences.push(format!(
            "All its arrivals have been made, and nothing is in flight: the copies on {on} have brought \
             fewer bytes than were announced."
        ));
    }
    if let Some((says, step)) =
        hopeless::bytes_short(case, state).and(hopeless::copies_elsewhere(case, state))
    {
        words.sentences.push(format!("{}.", sentence(&says)));
        let remark = Remark::Executed { instruction: step.instruction.clone(), by: step.agent };
        words.related.push(Case::here(step, remark));
    }
    words.sentences.extend(laps::lasting(case, waiting.who, state.barrier));
}

/// Where all wait for first phases, how one of the waits may begin: which of them is not to be seen.
pub(super) fn first(case: &Case<'_>) -> Option<String> {
    let waited = case.end.barriers.values().filter(|state| !state.waiting.is_empty());
    let names: Vec<String> = waited.map(|state| case.barrier(state.barrier)).collect();
    nothing_has_begun(case).then(|| {
        format!(
            "Of a fresh object the phase before the first, whose parity is 1, counts as complete: of the waits on {}, \
             the one for a stage that is free in the beginning waits with parity 1 first, and the one for a stage that \
             has been filled with parity 0.",
            names::list(&names)
        )
    })
}

/// The number of the present phase, in the present life of the object.
fn present_phase(case: &Case<'_>, state: &BarrierState) -> u32 {
    // Where steps are left out, so may be the beginning of its life.
    let phases = if case.trace.is_excerpt() { BTreeMap::new() } else { phases(case.trace) };
    let present = phases.get(&state.barrier).and_then(|phases| phases.last());
    present.filter(|phase| phase.ends.is_none()).map_or(state.generation, |phase| phase.number)
}

/// Whether all that wait for phases do so for first ones, of several objects, for which nobody has arrived.
pub(super) fn nothing_has_begun(case: &Case<'_>) -> bool {
    let is_waited_on = |state: &&BarrierState| !state.waiting.is_empty() && has_phases(state);
    let waited = || case.end.barriers.values().filter(is_waited_on);
    let is_untouched = |state: &BarrierState| {
        let arrivals = state.counts.iter().filter(|count| count.of == "arrivals");
        state.generation == 0 && arrivals.map(|count| count.arrived).sum::<u32>() == 0
    };
    waited().count() > 1 && waited().all(is_untouched)
}

/// What is told of a misuse: who, what it does, with how many lanes, on what, where, and what has come so
/// far.
struct Told<'t> {
    who: &'t str,
    does: &'t str,
    on: &'t str,
    at: &'t str,
    arrived: &'t str,
    instruction: &'t str,
    all: &'t str,
    lanes: i64,
    /// The count of the object, and where it is given.
    given: Option<String>,
    is_kernel: bool,
    /// What the object is in use for.
    in_use: &'t str,
    /// Who has arrived before, where one lane arrives once more.
    once_more: Option<String>,
}

impl Told<'_> {
    /// What the count of an object has to be.
    fn of_count(&self) -> String {
        let count = self.given.as_ref().map(|given| format!(", and here it is {given}")).unwrap_or_default();
        if self.instruction.contains(".noinc") {
            return format!(
                "With `.noinc` the arrival of each lane counts, once its copies are done: the count is that of all \
                 lanes that execute it in a phase, 32 for each whole warp{count}."
            );
        }
        let (one, ends) = match self.is_kernel {
            false => (" as by `if lane == 0 { … }`", ""),
            true => (" by a branch on the lane or `elect.sync`", count.as_str()),
        };
        format!(
            "Every lane that executes an arrival makes one: by a whole warp it is 32. Where one thread is to \
             arrive, let one lane execute it,{one}; where every lane is, the count is that of all of them: it is \
             that of all arrivals in a phase{ends}."
        )
    }

    /// The same of what is under way when everybody has exited.
    fn at_exit(&self, rule: Rule) -> (String, String) {
        let Self { who, on, at, instruction, all, .. } = self;
        if rule == Rule::CommitAtExit {
            return (
                format!(
                    "{all}, and the arrival that {who} left by `{instruction}`{at} has not been made on {on}"
                ),
                "The arrival comes when the work is done that was begun before it: some warp should wait for \
                 it, or for a later one of the same thread."
                    .to_owned(),
            );
        }
        (
            format!("{all}, and what {who} began by `{instruction}`{at} has not landed on {on}"),
            "Shared memory is gone once the CTA has exited: some warp has to wait for the phase in which the \
             operation lands."
                .to_owned(),
        )
    }

    /// The same of an object that is in use.
    fn of_live(&self) -> (String, String) {
        let Self { who, on, at, instruction, lanes, in_use, .. } = self;
        if instruction.starts_with("mbarrier.inval") {
            return (
                format!("{who} invalidates {on}{at} while {in_use}"),
                "Whoever waits on an object must have passed before it is invalidated, and what copies and \
                 commits bring to it must have come: that a later commit has come says nothing of an earlier one."
                    .to_owned(),
            );
        }
        if *lanes > 1 {
            return (
                format!("{lanes} lanes of {who} execute `{instruction}`{at}: the object is in use after the first"),
                "An object is initialised once, by one lane: write `if lane == 0 { … }`, or declare it with a \
                 `count`."
                    .to_owned(),
            );
        }
        (
            format!("{who} initialises {on}{at}, which is in use already"),
            "An object is initialised once, by one lane, and may be initialised again after \
             `mbarrier.inval`."
                .to_owned(),
        )
    }

    /// The message, and why it is so.
    fn of(&self, rule: Rule) -> (String, String) {
        let Self { who, does, on, at, arrived, .. } = self;
        match rule {
            Rule::MbarrierLive => self.of_live(),
            Rule::MbarrierNotLive => (
                format!("{who} uses {on}{at}, which is not initialised"),
                format!("Nothing makes {who} wait until {on} is initialised, or it never is."),
            ),
            Rule::OverArrival => {
                let why = self.once_more.clone().unwrap_or_else(|| self.of_count());
                (format!("{does}: more arrivals than the phase waits for{arrived}"), why)
            }
            Rule::NoComplete => (
                format!("{does}, and completes the phase of {on}{arrived}"),
                "Some other arrival, or a landing, has to come after one that is made with `.noComplete`: in \
                 every order, and not only when the others are late."
                    .to_owned(),
            ),
            Rule::OverDelivery => (
                format!("{does}: more bytes have come on {on} than the phase expects"),
                "The bytes that `expect_tx` announces have to be those of all copies of the phase together; \
                 with more, the phase never completes."
                    .to_owned(),
            ),
            Rule::StaleCompletion => (
                format!("{does} in a phase later than the one that it was begun in"),
                format!(
                    "The phase of {on} was complete without it: nothing announced its bytes, or its arrival \
                     was not counted."
                ),
            ),
            Rule::RemoteAfterExit => (
                format!("{does}, and the CTA at which it is aimed has exited"),
                "Shared memory is gone once its CTA has exited: nobody made that CTA wait for what its peers \
                 still do to it, as a barrier of the cluster before the end does."
                    .to_owned(),
            ),
            Rule::StaleToken => (
                format!("{does} for a phase that is neither the present one of {on} nor the one before"),
                "A token names the phase in which the arrival was made that yielded it, and of one object; \
                 whoever waits with it may be one phase late, and no more."
                    .to_owned(),
            ),
            Rule::TxRange => (
                format!("{does}: {on} cannot count so many bytes"),
                "The bytes that a phase waits for are at most 1048575, in either direction.".to_owned(),
            ),
            Rule::UnobservedPhase => (
                format!("{does} before anybody has seen the phase before complete on {on}"),
                "Between two phases some wait has to see the first of them complete: without one the arrival \
                 may fall into either."
                    .to_owned(),
            ),
            Rule::InFlightAtExit | Rule::CommitAtExit => self.at_exit(rule),
            _ => (format!("{does}: a parity is 0 or 1"), "The parity of a phase is 0 or 1.".to_owned()),
        }
    }
}
