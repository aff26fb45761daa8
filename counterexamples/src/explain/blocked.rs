//! Deadlocks, and agents that wait for ever while others run.

use super::blame;
use super::case::{Case, Whereabouts, arrives, has_phases, is_pool, lanes_here, sentence, verb};
use super::circle;
use super::culprit::Blame;
use super::hopeless;
use super::laps;
use super::mbarrier;
use super::place::{Did, Place, Remark};
use super::pool;
use super::short;
use super::waiters::{Waiters, waiters};
use super::words::Words;
use crate::names;
use crate::objects::is_object;
use crate::trace::{Awaits, BarrierState, Status, Step};

/// Sentences about barriers, at most.
const MOST_GROUPS: usize = 8;

/// Where an exit is no arrival, of an object, and what is to be done by those who arrived before.
const EXIT_AT_OBJECT: &str = "An exit does not count as an arrival on an mbarrier object";
const OF_LEAVING: &str = ": who leaves for good arrives by `mbarrier.arrive_drop`, which lowers its count";

pub(super) fn deadlock(case: &Case<'_>) -> Words {
    let groups = waiters(case);
    let Some(first) = groups.first() else {
        return Words { message: "no agent has a step".to_owned(), ..Words::default() };
    };
    let barriers = names::distinct(groups.iter().filter(is_for_agents).map(|g| g.barrier));
    if let Some(blame) = blame::of(case, &barriers) {
        return blamed(case, &groups, &blame);
    }
    let skipped = || laps::skipped(case, &barriers);
    let hopeless = groups.iter().find_map(|group| hopeless_of(case, group));
    if let Some(blame) = pool::of(case, &groups).or_else(|| if hopeless.is_none() { skipped() } else { None })
    {
        return blamed(case, &groups, &blame);
    }
    let barriers = names::distinct(groups.iter().map(|g| g.barrier));
    let message = match hopeless {
        Some((group, why)) if group.awaits == Awaits::Lanes => why + &elsewhere(barriers.len(), 1),
        Some((group, why)) => format!("{why}; {}{}", waits(case, group), elsewhere(barriers.len(), 1)),
        None => all_wait(case, &groups, first, barriers.len()),
    };
    let mut words = Words { message, sentences: vec![standstill(case)], ..Words::default() };
    describe_all(case, &groups, &mut words);
    words
}

/// Those for whom what they await never comes, and why.
fn hopeless_of<'g>(case: &Case<'_>, group: &'g Waiters) -> Option<(&'g Waiters, String)> {
    Some((group, hopeless::why(case, &group.agents, (group.barrier, group.awaits))?))
}

/// Who waits where, and who is missing if that does not say it.
fn all_wait(case: &Case<'_>, groups: &[Waiters], first: &Waiters, barriers: usize) -> String {
    let message = waits(case, first);
    if let Some(other) = groups.get(1).filter(|other| other.barrier != first.barrier) {
        let message = format!("{message}; {}{}", waits(case, other), elsewhere(barriers, 2));
        let circle = match circle::of(case, groups).map(|circle| circle.len()) {
            Some(2) if barriers == 2 && mbarrier::nothing_has_begun(case) => {
                ": they wait for each other, and nobody goes first"
            }
            Some(2) if barriers == 2 => ": they wait for each other",
            Some(_) if barriers > 2 => ", in a circle",
            _ => "",
        };
        return message + circle;
    }
    missing_clause(case, first).map_or(message.clone(), |missing| format!("{message}; {missing}"))
        + &elsewhere(barriers, 2)
}

/// That others wait on more barriers than are named, if they do.
fn elsewhere(barriers: usize, named: usize) -> String {
    match barriers.saturating_sub(named) {
        0 => String::new(),
        1 => "; others wait on 1 more barrier".to_owned(),
        more => format!("; others wait on {more} more barriers"),
    }
}

fn is_for_agents(group: &&Waiters) -> bool {
    group.awaits == Awaits::Agents
}

/// The words where it is known who is to blame.
fn blamed(case: &Case<'_>, groups: &[Waiters], blame: &Blame) -> Words {
    let there = groups.iter().find(|group| group.barrier == blame.barrier);
    let waiting = match there.or(groups.first()) {
        Some(group) if group.barrier == blame.barrier => format!(
            "{} {} on {} ({})",
            if group.agents == blame.agents {
                verb(&group.agents, "it", "they").to_owned()
            } else {
                case.agents(&group.agents)
            },
            verb(&group.agents, "waits", "wait"),
            case.barrier(group.barrier),
            case.so_far(group.barrier)
        ),
        Some(group) => waits(case, group),
        None => standstill(case),
    };
    let mut sentences = vec![format!("{}.", sentence(&blame.says)), blame.others.clone(), standstill(case)];
    sentences.retain(|sentence| !sentence.is_empty());
    let message = format!("{}; {waiting}", blame.says);
    let mut words = Words { message, sentences, related: blame.places.clone(), blamed: blame.agents.clone() };
    describe_all(case, groups, &mut words);
    // Of what an agent did at one place, the blame comes first and says most.
    let mut told = Vec::new();
    words.related.retain(|place| {
        let key = (place.agent, place.location);
        let is_new = !told.contains(&key);
        told.push(key);
        is_new
    });
    words
}

/// That nobody can take a step, in a sentence.
fn standstill(case: &Case<'_>) -> String {
    let exited = case.end.with(Status::Exited).len();
    let all = case.trace.agents.len();
    let standing = match exited {
        0 => format!("no {} can take another step", case.noun()),
        _ => format!("no {} can take another step: {exited} of {all} exited, the others wait", case.noun()),
    };
    format!("{}.", sentence(&standing))
}

/// The sentences and places about all who wait.
fn describe_all(case: &Case<'_>, groups: &[Waiters], words: &mut Words) {
    for group in groups.iter().take(MOST_GROUPS) {
        describe(case, group, words);
    }
    if groups.len() > MOST_GROUPS {
        words.sentences.push(format!("{} more groups wait elsewhere.", groups.len() - MOST_GROUPS));
    }
    words.sentences.extend(circle::in_words(case, groups));
    words.sentences.extend(mbarrier::first(case));
}

pub(super) fn stuck_agent(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let groups = waiters(case);
    let Some(group) = groups.first() else {
        return Words { message: "an agent waits for ever".to_owned(), ..Words::default() };
    };
    let from = outcome.cycle_from.unwrap_or(0);
    let cycle = &case.trace.steps[case.trace.steps.partition_point(|step| step.index < from)..];
    let length = case.trace.length().saturating_sub(from);
    let movers = names::distinct(cycle.iter().map(|s| s.agent));
    let of_agents = |on: u32| blame::of(case, &[on]).or_else(|| laps::skipped(case, &[on]));
    let blame = if is_for_agents(&group) { of_agents(group.barrier) } else { None };
    let missing = || missing_clause(case, group).map(|m| format!("; {m}")).unwrap_or_default();
    let hang = format!(
        "{} for ever, while {} {} on in a cycle",
        waits(case, group),
        case.agents(&movers),
        verb(&movers, "goes", "go"),
    );
    let message = match &blame {
        Some(blame) => format!("{}; {hang}", blame.says),
        None => format!("{hang}{}", missing()),
    };
    let steps = if length == 1 { "step".to_owned() } else { format!("{length} steps") };
    let mut words = Words {
        message,
        sentences: vec![format!(
            "{} {} the same {steps} over and over; nothing that can still happen releases {}.",
            sentence(&case.agents(&movers)),
            verb(&movers, "repeats", "repeat"),
            case.agent(outcome.agent)
        )],
        ..Words::default()
    };
    if let Some(blame) = blame {
        let told = [format!("{}.", sentence(&blame.says)), blame.others];
        words.sentences.splice(0..0, told.into_iter().filter(|sentence| !sentence.is_empty()));
        words.related = blame.places;
        words.blamed = blame.agents;
    }
    describe(case, group, &mut words);
    words.sentences.push(
        "The group never stops, so a time-out or a watchdog sees activity: the hang hides behind the loop."
            .to_owned(),
    );
    words.related.extend(cycle.iter().take(4).map(|step| Case::did(step, Did::RunsForEver)));
    words
}

/// `warps 0-2 wait at ring.bar:12 on barrier 1 (96 of 128 threads arrived)`.
pub(super) fn waits(case: &Case<'_>, group: &Waiters) -> String {
    let who = case.agents(&group.agents);
    let verb = verb(&group.agents, "waits", "wait");
    let (at, on) = (case.at(group.location), case.barrier(group.barrier));
    match group.awaits {
        Awaits::Agents => format!("{who} {verb}{at} on {on} ({})", case.so_far(group.barrier)),
        Awaits::Lanes => format!("{who} {verb}{at} on {on} for the other lanes of the same warp"),
    }
}

fn missing_clause(case: &Case<'_>, group: &Waiters) -> Option<String> {
    if group.awaits == Awaits::Lanes {
        return None;
    }
    let state = case.state(group.barrier).filter(|state| !is_pool(state))?;
    // Whoever has arrived in a phase may do so again.
    if has_phases(state) && state.missing.is_empty() && !state.arrived.is_empty() {
        return None;
    }
    let sum = short_by(case, state).filter(|_| !has_phases(state));
    let sum = sum.map(|sum| format!(": {sum}")).unwrap_or_default();
    if state.missing.is_empty() {
        return Some(format!("no {} is left that could arrive{sum}", case.noun()));
    }
    let which = missing_in_words(case, state);
    let needed = case.needed(state) as usize;
    Some(if !sum.is_empty() {
        let ever = state.arrived.len() + state.missing.len();
        let all = state.arrived.len() + needed;
        format!("only {ever} of {all} {}s can ever arrive{sum}; missing: {which}", case.noun())
    } else if needed < state.missing.len() {
        format!(
            "{needed} more {} needed, of those that could arrive: {which}",
            if needed == 1 { "is" } else { "are" }
        )
    } else {
        format!("missing: {which}")
    })
}

/// `64 + 64 < 256 threads`, where those who have arrived and those who could are too few.
fn short_by(case: &Case<'_>, state: &BarrierState) -> Option<String> {
    let [count] = state.counts.as_slice() else { return None };
    // Who has arrived and runs on may come again where such an arrival counts too.
    if state.arrived.iter().any(|agent| case.end.status(*agent) == Status::Running) {
        return None;
    }
    let could = u32::try_from(state.missing.len()).ok()?.checked_mul(case.unit())?;
    let is_short = !state.all && count.arrived.checked_add(could)? < count.expected;
    let more = if could == 0 { String::new() } else { format!(" + {could}") };
    is_short.then(|| format!("{}{more} < {} {}", count.arrived, count.expected, count.of))
}

/// What an agent does that has not arrived.
#[derive(PartialEq)]
enum Instead {
    /// It waits at this very barrier for its own lanes.
    WaitsForLanes,
    /// It waits for this very barrier, on which its arrival would count.
    WaitsItself,
    Else(Whereabouts),
}

/// `warp 3, which exited without arriving`, grouped by what they do instead.
fn missing_in_words(case: &Case<'_>, state: &BarrierState) -> String {
    let mut groups: Vec<(Instead, Vec<u32>)> = Vec::new();
    for agent in &short::missed(case, state) {
        let end = case.end.agents.get(agent).filter(|end| end.status == Status::Blocked);
        let here = end.and_then(|end| end.waits).filter(|waits| waits.barrier == state.barrier);
        let instead = match here.map(|waits| waits.awaits) {
            Some(Awaits::Lanes) => Instead::WaitsForLanes,
            Some(Awaits::Agents) => Instead::WaitsItself,
            None => Instead::Else(case.whereabouts(*agent)),
        };
        match groups.iter_mut().find(|(known, _)| *known == instead) {
            Some((_, agents)) => agents.push(*agent),
            None => groups.push((instead, vec![*agent])),
        }
    }
    let doing = |instead: &Instead, several: bool| match instead {
        Instead::WaitsForLanes if several => "wait here for their own lanes".to_owned(),
        Instead::WaitsForLanes => "waits here for its own lanes".to_owned(),
        Instead::WaitsItself if several => "wait for it themselves".to_owned(),
        Instead::WaitsItself => "waits for it itself".to_owned(),
        Instead::Else(Whereabouts::Exited) => "exited without arriving".to_owned(),
        Instead::Else(whereabouts) => case.doing(*whereabouts, several),
    };
    let parts: Vec<String> = groups
        .iter()
        .map(|(instead, agents)| {
            format!("{}, which {}", case.agents(agents), doing(instead, agents.len() > 1))
        })
        .collect();
    match parts.as_slice() {
        [only] => only.clone(),
        _ => parts.join("; "),
    }
}

/// The sentences and places about one group of waiters.
pub(super) fn describe(case: &Case<'_>, group: &Waiters, words: &mut Words) {
    let who = case.agents(&group.agents);
    let on = case.barrier(group.barrier);
    let remark = Remark::Did(group.agents.clone(), Did::Waits(on.clone()));
    let place = |agent: &u32| Place { agent: *agent, location: group.location, remark };
    words.related.extend(group.agents.first().map(place));
    if group.awaits == Awaits::Lanes {
        lanes(case, group, words);
        return;
    }
    let Some(state) = case.state(group.barrier) else { return };
    if has_phases(state) {
        let waits =
            mbarrier::Waiting { who: &group.agents, at: group.location, instruction: &group.instruction };
        mbarrier::waits(case, state, &waits, words);
        if case.needed(state) > 0 {
            who_is_missing(case, group.barrier, state, words);
        }
        return;
    }
    if is_pool(state) {
        words.sentences.push(format!(
            "{} {}{} (`{}`) for registers of {on}: {} are free, and nobody gives more.",
            sentence(&who),
            verb(&group.agents, "waits", "wait"),
            case.at(group.location),
            group.instruction,
            case.arrived_of(group.barrier),
        ));
        return;
    }
    let arrived =
        if state.arrived.is_empty() { String::new() } else { format!(" ({})", case.agents(&state.arrived)) };
    words.sentences.push(format!(
        "{} {}{} (`{}`) on {on}: {} have arrived{arrived}.",
        sentence(&who),
        verb(&group.agents, "waits", "wait"),
        case.at(group.location),
        group.instruction,
        case.arrived_of(group.barrier),
    ));
    let needed = case.needed(state);
    if state.counts.iter().any(|c| c.arrived > c.expected) {
        words
            .sentences
            .push(format!("{} is past its count: only equality releases, so it never will.", sentence(&on)));
    } else if (state.missing.len() as u64) < u64::from(needed) {
        words.sentences.push(format!(
            "{needed} more {}{} would have to arrive, but {} {} left that could: the count cannot be \
             reached.",
            case.noun(),
            if needed == 1 { "" } else { "s" },
            if state.missing.is_empty() { "none".to_owned() } else { state.missing.len().to_string() },
            if state.missing.len() < 2 { "is" } else { "are" }
        ));
    }
    who_is_missing(case, group.barrier, state, words);
}

/// The sentences and places about those who have not arrived.
fn who_is_missing(case: &Case<'_>, barrier: u32, state: &BarrierState, words: &mut Words) {
    if has_phases(state) {
        words.sentences.extend(short::arrived(case, state));
        words.sentences.extend(short::nobody_left(case, state));
    }
    if !state.missing.is_empty() {
        words.sentences.push(format!("Not arrived: {}.", missing_in_words(case, state)));
    }
    let exited: Vec<u32> =
        state.missing.iter().copied().filter(|a| case.end.status(*a) == Status::Exited).collect();
    for agent in &exited {
        if let Some(step) = case.exit(*agent) {
            words.related.push(Case::did(step, Did::Exited));
        }
    }
    if !exited.is_empty() && is_object(case.trace, barrier) {
        let has_come = |step: &Step| exited.contains(&step.agent) && arrives(step, barrier);
        let drops = if case.trace.steps.iter().any(has_come) { OF_LEAVING } else { "" };
        words.sentences.push(format!("{EXIT_AT_OBJECT}{drops}."));
    } else if !exited.is_empty() {
        words.sentences.extend(case.wording().map(|wording| wording.exit().to_owned()));
    }
    never_arrived(case, barrier, state, words);
    words.sentences.extend(earlier(case, barrier, state));
}

/// Who is missed and has come before, those together whose latest arrival was at one place.
fn earlier(case: &Case<'_>, barrier: u32, state: &BarrierState) -> Vec<String> {
    let mut groups: Vec<(&Step, Vec<u32>)> = Vec::new();
    for agent in &state.missing {
        let Some(step) = case.arrival(*agent, barrier, usize::MAX) else { continue };
        match groups.iter_mut().find(|(known, _)| known.location == step.location) {
            Some((latest, agents)) => {
                agents.push(*agent);
                if step.index > latest.index {
                    *latest = step;
                }
            }
            None => groups.push((step, vec![*agent])),
        }
    }
    let told = groups.iter().take(4).map(|(step, agents)| {
        format!(
            "{} arrived on {} before, in an earlier {} ({}{}).",
            sentence(&case.agents(agents)),
            case.barrier(barrier),
            if has_phases(state) { "phase" } else { "generation" },
            Case::step_name(step),
            case.at(step.location)
        )
    });
    told.collect()
}

/// Agents that are missed and have not come at all, while others that run the same code have: something in
/// that code keeps them from the place where these arrive.
fn never_arrived(case: &Case<'_>, barrier: u32, state: &BarrierState, words: &mut Words) {
    let code = |agent: u32| case.trace.agents.get(agent as usize).map(|a| (&a.role, a.line));
    let on = case.barrier(barrier);
    let mut told = Vec::new();
    for agent in &state.missing {
        if told.contains(&code(*agent)) {
            continue;
        }
        told.push(code(*agent));
        let alike = |other: &&u32| code(**other) == code(*agent);
        let never = |other: &&u32| alike(other) && case.arrival(**other, barrier, usize::MAX).is_none();
        let absent: Vec<u32> = state.missing.iter().filter(never).copied().collect();
        let present: Vec<u32> = state.arrived.iter().filter(alike).copied().collect();
        let latest = |other: &u32| case.arrival(*other, barrier, usize::MAX);
        let steps: Vec<&Step> = present.iter().filter_map(latest).collect();
        let (Some(step), false) = (steps.first(), absent.is_empty()) else { continue };
        // Where they came by several places, which of them the absent should have come by is not known.
        let places = names::distinct(steps.iter().map(|step| step.location));
        let at = if places.len() == 1 { case.at(step.location) } else { String::new() };
        words.sentences.push(format!(
            "{} {} not arrived on {on} at all; {}, which {} the same code, did{at}.",
            sentence(&case.agents(&absent)),
            verb(&absent, "has", "have"),
            case.agents(&present),
            verb(&present, "runs", "run"),
        ));
        words.related.push(Case::did(step, Did::ArrivedOn(on.clone())));
    }
}

/// A warp whose lanes wait for one another.
fn lanes(case: &Case<'_>, group: &Waiters, words: &mut Words) {
    for agent in group.agents.iter().take(2) {
        let Some(state) = case.end.agents.get(agent) else { continue };
        let parts: Vec<String> = state
            .fragments
            .iter()
            .map(|f| format!("{} {}", names::lanes_of(&f.lanes), case.fragment(f)))
            .collect();
        words.sentences.push(format!(
            "Lanes of {} are at different places and wait for one another: {}. A warp arrives once all its \
             live lanes are at one barrier with the same operands.",
            case.agent(*agent),
            names::list(&parts)
        ));
        words.related.extend(state.fragments.iter().map(|fragment| lanes_here(*agent, fragment)));
    }
}
