//! Arrivals and waits that do not fit together.

use barcheck_model::rule::Rule;

use super::case::{Case, arrived_of, completes, lanes_here, sentence, verb};
use super::place::{Completed, Did, Place, Remark};
use super::unheard;
use super::words::Words;
use crate::names;
use crate::trace::{AgentState, Detail, Event, Step};
use crate::wording::Wording;

pub(super) fn repeated(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at, on) = (case.agent(outcome.agent), case.at(outcome.location), case.the_barrier());
    let barrier = outcome.barrier.unwrap_or_default();
    let before = case.arrival(outcome.agent, barrier, case.before_last());
    let there = before.map(|s| case.at(s.location)).unwrap_or_default();
    let is_cluster = case.resolved_here().starts_with("barrier.cluster");
    let waits_between = is_cluster || case.wording().is_some_and(Wording::waits_between_arrivals);
    let (message, rule) = if waits_between {
        (
            format!("{who} arrives on {on}{at} again without having waited since its arrival{there}"),
            "Arrive and wait alternate: after an arrive, the same agent has to wait before it arrives again.",
        )
    } else {
        (
            format!(
                "{who} arrives on {on}{at} again in the generation in which it arrived{there} ({} so far)",
                case.arrived_of(barrier)
            ),
            "An agent counts once in a generation: a second arrival before the others came would stand in \
             for one of them.",
        )
    };
    let mut words = Words { message, ..Words::default() };
    if let Some(before) = before {
        words.sentences.push(format!(
            "{} arrived{there} (`{}`, {}), and comes again by `{}`{at}.",
            sentence(&who),
            before.resolved,
            Case::step_name(before),
            case.resolved_here()
        ));
        words.related.push(Case::did(before, Did::ArrivedFirst));
    }
    words.sentences.push(rule.to_owned());
    if let Some(state) = case.state(barrier).filter(|s| s.active && !waits_between) {
        words.sentences.push(format!(
            "The generation has {}; still to come: {}.",
            arrived_of(&state.counts),
            if state.missing.is_empty() {
                "nobody that could".to_owned()
            } else {
                case.agents(&state.missing)
            }
        ));
    }
    if !is_cluster && case.target.is_some_and(|target| target.facts().repeats_may_count) {
        words.sentences.push(
            "GPUs count both arrivals where there is a count: if that is meant, `repeated_arrivals count;` at the \
             beginning of a protocol, or `--repeated-arrivals count` for a kernel, goes on so."
                .to_owned(),
        );
    }
    words
}

pub(super) fn arrival_race(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let on = case.the_barrier();
    let (standing, room) = match outcome.detail {
        Some(Detail::Room { standing, room }) => (standing, room),
        _ => (0, 0),
    };
    let who = case.agents(&outcome.agents);
    let unit = |n: u32| if n == 1 { "arrival" } else { "arrivals" };
    let (stand, at) = (verb(&outcome.agents, "stands", "stand"), case.at(outcome.location));
    let state = outcome.barrier.and_then(|b| case.state(b)).filter(|s| s.active);
    // Whoever has arrived is at the next arrival before the others have come.
    let again = state.is_some_and(|state| outcome.agents.iter().all(|agent| state.arrived.contains(agent)));
    let message = if again {
        format!(
            "{who} {stand} at the next arrival on {on}{at} while the generation with the last one is not \
             complete: timing decides whether it joins the next generation or comes twice in this one"
        )
    } else {
        let arrivals = if standing as usize > outcome.agents.len() {
            format!(", in groups of lanes, at {standing} arrivals")
        } else {
            " at an arrival".to_owned()
        };
        format!(
            "{who} {stand}{arrivals} on {on}{at}, which has room for {room}: timing decides who joins which \
             generation"
        )
    };
    let mut words = Words { message, ..Words::default() };
    words.sentences.push(format!(
        "{standing} {} could come next on {on}, and its generation has room for {room} {}.",
        unit(standing),
        unit(room)
    ));
    who_stands(case, &mut words);
    words.sentences.push(match state {
        Some(state) => format!("It has {} ({}).", arrived_of(&state.counts), case.agents(&state.arrived)),
        None => "It is idle: nobody has come yet.".to_owned(),
    });
    words.sentences.push(if again {
        format!(
            "Nothing makes {who} wait for the others before arriving again. Let them say that they are \
             done, on a second barrier, say, and {who} wait for that."
        )
    } else {
        "Whoever comes too late opens the next generation, so the same code pairs up differently from run to \
         run. Order them by another barrier, or give them barriers of their own."
            .to_owned()
    });
    // Where lanes come by themselves, how many agents the count leaves out is not said by the arrivals.
    let left_out = standing.saturating_sub(room);
    let arrived = state.map(|state| &state.arrived[..]).unwrap_or_default();
    let is_first = outcome.agents.iter().all(|agent| !arrived.contains(agent));
    if is_first && left_out > 0 && room > 0 && standing as usize == outcome.agents.len() {
        let all = standing as usize + arrived.len();
        words.sentences.push(format!(
            "If all {all} are meant to meet in one generation, its count is too low: it leaves {left_out} of them \
             out."
        ));
    }
    words
}

/// Places told one by one at most.
const MOST_PLACES: usize = 8;

/// Where the agents of the outcome stand, those together that stand at one place.
fn who_stands(case: &Case<'_>, words: &mut Words) {
    let mut groups: Vec<(&AgentState, Vec<u32>)> = Vec::new();
    for agent in &case.outcome.agents {
        let Some(state) = case.end.agents.get(agent) else { continue };
        match groups.iter_mut().find(|(s, _)| s.location == state.location) {
            Some((_, agents)) => agents.push(*agent),
            None => groups.push((state, vec![*agent])),
        }
    }
    for (state, agents) in groups.iter().take(MOST_PLACES) {
        let (who, location) = (case.agents(agents), state.location.unwrap_or_default());
        let stand = verb(agents, "stands", "stand");
        words.sentences.push(format!(
            "{} {stand}{} (`{}`).",
            sentence(&who),
            case.at(location),
            state.instruction
        ));
        let remark = Remark::Did(agents.clone(), Did::MayArrive);
        words.related.push(Place { agent: state.agent, location, remark });
    }
    if groups.len() > MOST_PLACES {
        words.sentences.push(format!("Others stand at {} more places.", groups.len() - MOST_PLACES));
    }
}

pub(super) fn unpaired_wait(case: &Case<'_>, rule: Rule) -> Words {
    let outcome = &case.outcome;
    let (who, at, on) = (case.agent(outcome.agent), case.at(outcome.location), case.the_barrier());
    let barrier = outcome.barrier.unwrap_or_default();
    let before = case.arrival(outcome.agent, barrier, case.before_last());
    let message = if rule == Rule::ProducerWaits {
        format!("{who} waits on {on}{at}, but its latest arrival there was as a producer only")
    } else {
        format!("{who} waits on {on}{at} without an arrival of its own outstanding")
    };
    let mut words = Words { message, ..Words::default() };
    match before {
        Some(step) => {
            words.sentences.push(format!(
                "{} arrived on {on} last{} (`{}`, {}).",
                sentence(&who),
                case.at(step.location),
                step.resolved,
                Case::step_name(step)
            ));
            words.related.push(Case::did(step, Did::ArrivedLast));
            let passed = case
                .back(case.before_last(), |s| s.index > step.index && ends_wait(s, outcome.agent, barrier));
            words.sentences.extend(passed.map(|s| {
                format!(
                    "That arrival has been waited for already ({}{}).",
                    Case::step_name(s),
                    case.at(s.location)
                )
            }));
        }
        None => words.sentences.push(format!("{} has not arrived on {on} at all.", sentence(&who))),
    }
    words.sentences.push(
        if rule == Rule::ProducerWaits {
            "Only consumers (types 0 and 2) are notified; a producer has nothing to wait for."
        } else {
            "A wait belongs to an arrival of the same agent before it; this one would wait for nothing or \
             for ever."
        }
        .to_owned(),
    );
    let before = case.wording().and_then(|wording| wording.before_a_wait());
    words.sentences.extend(before.filter(|_| rule == Rule::WaitWithoutArrive).map(str::to_owned));
    words
}

/// The step ends a wait of the agent on the barrier.
fn ends_wait(step: &Step, agent: u32, barrier: u32) -> bool {
    step.events.iter().any(|e| match e {
        Event::Passed { barrier: b } => step.agent == agent && *b == barrier,
        Event::Released { barrier: b, agents } => *b == barrier && agents.contains(&agent),
        _ => false,
    })
}

pub(super) fn missing_wait(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at, on) = (case.agent(outcome.agent), case.at(outcome.location), case.the_barrier());
    let arrival = case.arrival(outcome.agent, outcome.barrier.unwrap_or_default(), case.before_last());
    let there = arrival.map(|s| case.at(s.location)).unwrap_or_default();
    let message = format!("{who} exits{at} without having waited for its arrival on {on}{there}");
    let mut words = Words { message, ..Words::default() };
    if let Some(step) = arrival {
        words.sentences.push(format!(
            "{} arrived on {on}{there} (`{}`, {}) and exits without a wait.",
            sentence(&who),
            step.resolved,
            Case::step_name(step)
        ));
        words.related.push(Case::did(step, Did::ArrivedAndNeverWaited));
    }
    words.sentences.push(
        "Every arrival that entitles to a wait needs one, on every way out; otherwise the barrier is never \
         free again."
            .to_owned(),
    );
    words
}

pub(super) fn lost_notification(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at, on) = (case.agent(outcome.agent), case.at(outcome.location), case.the_barrier());
    let barrier = outcome.barrier.unwrap_or_default();
    let state = case.state(barrier);
    let held: Vec<u32> = state.map(|s| s.notified.clone()).unwrap_or_default();
    // The acting agent arrives by this very step.
    let again = |agent: &u32| state.is_some_and(|s| s.arrived.contains(agent)) || *agent == outcome.agent;
    let losers: Vec<u32> = held.into_iter().filter(|a| again(a)).collect();
    let loser = if losers.is_empty() { "a consumer".to_owned() } else { case.agents(&losers) };
    let whom = if losers == [outcome.agent] { "itself".to_owned() } else { loser.clone() };
    let message = format!(
        "{who}'s signal{at} completes a generation of {on} for {whom}, which {} not yet waited for the one \
         before",
        verb(&losers, "has", "have")
    );
    let mut words = Words { message, ..Words::default() };
    if let Some(previous) = case.back(case.before_last(), |s| completes(s, barrier)) {
        words.sentences.push(format!(
            "The generation before was completed by {}{} ({}), and {loser} {} notified of it.",
            case.agent(previous.agent),
            case.at(previous.location),
            Case::step_name(previous),
            verb(&losers, "was", "were")
        ));
        words.related.push(Case::here(previous, Remark::Completed(Completed::GenerationBefore)));
    }
    for agent in &losers {
        words.sentences.push(format!(
            "{} {}.",
            sentence(&case.agent(*agent)),
            case.doing(case.whereabouts(*agent), false)
        ));
        if let Some(step) = case.arrival(*agent, barrier, case.trace.steps.len()) {
            words.related.push(Case::did(step, Did::ArrivedAgainBeforeWaiting));
        }
    }
    words.sentences.push(
        "A thread holds one notification per barrier: the second is lost, and the wait for it never ends. \
         Wait for each generation before arriving in the next."
            .to_owned(),
    );
    words
}

pub(super) fn reuse(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at, on) = (case.agent(outcome.agent), case.at(outcome.location), case.the_barrier());
    let before = case.trace.situation(case.before_last());
    let held =
        outcome.barrier.and_then(|b| before.barriers.get(&b)).map(|b| b.notified.clone()).unwrap_or_default();
    let others: Vec<u32> = held.iter().copied().filter(|a| *a != outcome.agent).collect();
    let whom = if others.is_empty() { "it".to_owned() } else { case.agents(&held) };
    let message = format!(
        "{who} signals {on}{at} while {whom} {} yet to wait for the generation before",
        verb(&held, "has", "have")
    );
    let sentences = vec![
        format!("{} executes `{}`{at}.", sentence(&who), case.resolved_here()),
        "The text calls a barrier free only once every wait is done. Signalling earlier works as long as it \
         is the same threads every time."
            .to_owned(),
    ];
    Words { message, sentences, related: Vec::new(), ..Words::default() }
}

pub(super) fn nonuniform(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at, on) = (case.agent(outcome.agent), case.at(outcome.location), case.the_barrier());
    let barrier = outcome.barrier.unwrap_or_default();
    let waits = case.last().and_then(|s| s.operands.as_ref()).is_some_and(|o| o.operation == "wait");
    let other = if waits {
        case.back(case.before_last(), |s| {
            s.events.iter().any(|event| match event {
                Event::Blocked { barrier: on } | Event::Passed { barrier: on } => *on == barrier,
                _ => false,
            })
        })
    } else {
        case.gathered(barrier, case.before_last()).first().copied()
    };
    let what = if waits { "waits" } else { "arrives" };
    let met = other.map_or_else(String::new, |s| {
        format!(", where {} came from `{}`{}", case.agent(s.agent), s.instruction, case.at(s.location))
    });
    let message = format!("{who} {what} on {on}{at} from another dynamic instance than the others{met}");
    let mut words = Words { message, ..Words::default() };
    if let Some(other) = other {
        let same = other.location == outcome.location;
        words.sentences.push(format!(
            "{} came by `{}`{} ({}), {who} by `{}`{at}{}.",
            sentence(&case.agent(other.agent)),
            other.instruction,
            case.at(other.location),
            Case::step_name(other),
            outcome.instruction,
            if same { ", in another iteration of the loops around it" } else { "" }
        ));
        words.related.push(Case::did(other, Did::IsAtThisOne));
    }
    words.sentences.push(
        "All invocations of the scope must execute the same instance of the barrier: the same statement, in \
         the same iteration of each loop. Code shared by all belongs in one block with an `if` inside."
            .to_owned(),
    );
    words
}

pub(super) fn partial_warp(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at) = (case.agent(outcome.agent), case.at(outcome.location));
    let mask = match outcome.detail {
        Some(Detail::Operand { value }) => u32::try_from(value).unwrap_or_default(),
        _ => 0,
    };
    let (lanes, shown) = (names::lanes(mask), names::lanes_in_words(mask));
    let verb = if mask.count_ones() == 1 { "executes" } else { "execute" };
    let message = format!("only {shown} of {who} {verb} the aligned `{}`{at}", case.resolved_here());
    let mut words = Words { message, ..Words::default() };
    let fragments = case.end.agents.get(&outcome.agent).map(|a| a.fragments.as_slice()).unwrap_or_default();
    for fragment in fragments.iter().filter(|f| f.lanes != lanes) {
        words.sentences.push(format!(
            "{} of the same warp {}.",
            sentence(&names::lanes_of(&fragment.lanes)),
            case.fragment(fragment)
        ));
        words.related.push(lanes_here(outcome.agent, fragment));
    }
    words.sentences.push(
        "`.aligned` barriers, and every `bar.*`, must be executed by all lanes of a warp that have not \
         exited. Move the barrier out of the divergent code, or use `barrier.sync` without `.aligned`."
            .to_owned(),
    );
    words
}

pub(super) fn nobody_waits(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let (who, at, on) = (case.agent(outcome.agent), case.at(outcome.location), case.the_barrier());
    let barrier = outcome.barrier.unwrap_or_default();
    // The exit of the last warp that a count of 0 waits for completes one, too.
    let exits = case.last().is_some_and(|step| step.events.contains(&Event::Exited {}));
    let act = if exits { "exit" } else { "arrival" };
    let message = format!("{who}'s {act}{at} completes a generation of {on} on which nobody waits");
    let mut words = Words { message, ..Words::default() };
    told(case, &case.gathered(barrier, case.before_last()), &mut words);
    words.sentences.push("Nobody is held back by it, so it synchronises nothing.".to_owned());
    words
}

/// Groups of arrivals told one by one at most.
const MOST_GROUPS: usize = 8;

/// Tells who arrived, those together who did so by one instruction with equal operands.
fn told(case: &Case<'_>, arrivals: &[&Step], words: &mut Words) {
    let mut groups: Vec<Vec<&Step>> = Vec::new();
    for step in arrivals {
        let alike = |group: &&mut Vec<&Step>| {
            group.first().is_some_and(|s| (s.location, &s.resolved) == (step.location, &step.resolved))
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(step),
            None => groups.push(vec![step]),
        }
    }
    for group in groups.iter().take(MOST_GROUPS) {
        let Some(first) = group.first() else { continue };
        let agents = names::distinct(group.iter().map(|step| step.agent));
        let steps = names::distinct(group.iter().map(|step| step.index as u64 + 1));
        words.sentences.push(format!(
            "{} arrived{} (`{}`, step{} {}).",
            sentence(&case.agents(&agents)),
            case.at(first.location),
            first.resolved,
            if steps.len() == 1 { "" } else { "s" },
            names::numbers(&steps)
        ));
        words.related.extend(agents.iter().map(|agent| {
            let remark = Remark::Did(vec![*agent], Did::Arrived);
            Place { agent: *agent, location: first.location, remark }
        }));
    }
}

pub(super) fn dangling(case: &Case<'_>) -> Words {
    let outcome = &case.outcome;
    let on = case.the_barrier();
    let barrier = outcome.barrier.unwrap_or_default();
    // Of an object the state does not say who has arrived on it.
    let came = case.state(barrier).map_or(&[][..], |state| &state.arrived);
    let who = case.agents(if outcome.agents.is_empty() { came } else { &outcome.agents });
    let left = format!(
        "every {} has exited and {on} still holds arrivals: {} ({who}{})",
        case.noun(),
        case.arrived_of(barrier),
        case.at(outcome.location)
    );
    let unheard = unheard::of(case);
    let message = match &unheard {
        Some(unheard) => unheard.headline(case, &left),
        None => left,
    };
    let mut words = Words { message, ..Words::default() };
    told(case, &case.gathered(barrier, usize::MAX), &mut words);
    match unheard {
        Some(unheard) => unheard.tell(case, &mut words),
        None => words.sentences.push(
            "Nobody came to complete the generation; a waiter was forgotten, or the arrival is superfluous."
                .to_owned(),
        ),
    }
    words
}
