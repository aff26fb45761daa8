//! Who is to blame for a wait without end: whoever parted from others that run the same code.
//!
//! Agents of one block do the same unless the protocol tells them apart. Where some of them have come to the
//! barrier on which others wait, and fewer have not, it is the latter that parted from the rest: their
//! arrivals are compared with those of one that has come, and the first that differs is where.

use super::case::{Case, sentence, verb};
use super::culprit::Blame;
use super::exits::exit;
use super::forks;
use super::laps;
use super::place::{Did, Place, Remark};
use super::rounds;
use super::short;
use super::skipped;
use crate::names;
use crate::trace::{Awaits, BarrierState, Event, Location, Status, Step};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// An arrival.
type Arrival<'t> = (u32, &'t Step);

/// The arrivals of each agent, in order.
struct Arrivals<'t>(BTreeMap<u32, Vec<Arrival<'t>>>);

/// Where agents parted from one that runs the same code.
#[derive(Clone, Copy, PartialEq)]
struct Parting<'t> {
    /// The arrival that the other made.
    left_out: Arrival<'t>,
    /// The barrier on which it was made.
    theirs: u32,
    /// How many arrivals both had made on that barrier before.
    before: usize,
    instead: Instead<'t>,
}

impl Parting<'_> {
    /// The barrier of the arrival, as the one calls it that made it.
    fn name(&self, case: &Case<'_>) -> String {
        case.own_name(self.left_out.1.agent, self.theirs)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Instead<'t> {
    /// They arrived elsewhere.
    Arrived(u32, &'t Step),
    /// They wait on another barrier, before the place of the arrival, and the others never came to that one.
    CameTo(u32, &'t Step),
    Exited,
}

/// Those who run the same code, as far as a barrier concerns them.
struct Siblings {
    missing: Vec<u32>,
    arrived: Vec<u32>,
}

/// Who is to blame that some barrier of these, on which others wait, is not completed; nobody if those who
/// have not come are not told from their siblings.
pub(super) fn of(case: &Case<'_>, barriers: &[u32]) -> Option<Blame> {
    // Of an excerpt it is not known how often anybody has come.
    if case.trace.is_excerpt() {
        return None;
    }
    let laps = laps::of(case);
    let late = laps::that_last(&laps, barriers);
    if let Some(blame) = laps::again(case, &late) {
        return Some(blame);
    }
    let overtaken = rounds::overtaken(case, &late);
    let parted = overtaken.or_else(|| parted_from(case, barriers)).map(|blame| with_decision(case, blame));
    parted.or_else(|| skipped::blame(case, barriers)).or_else(|| mutual(case, barriers))
}

/// What the blame is for, with the decision by which it came about.
fn with_decision(case: &Case<'_>, mut blame: Blame) -> Blame {
    if skipped::with(case, &mut blame) {
        return blame;
    }
    forks::with(case, blame)
}

fn parted_from(case: &Case<'_>, barriers: &[u32]) -> Option<Blame> {
    let arrivals = Arrivals::of(case);
    let states = || barriers.iter().filter_map(|barrier| case.state(*barrier));
    // What nobody can complete is waited for by all others in the end, whatever they left out before.
    let unmet = states().find_map(|state| short::unmet(case, state));
    let parted = || {
        states().find_map(|state| {
            let siblings = siblings(case, state);
            siblings.iter().find_map(|siblings| blamed(case, &arrivals, state.barrier, siblings))
        })
    };
    let early = || {
        let like_others = states().find_map(|state| left_early(case, &arrivals, state));
        like_others.or_else(|| states().find_map(|state| left_alone(case, &arrivals, state)))
    };
    let short = || states().find_map(|state| short::of(case, state));
    // Of one barrier alone the message says how many can come; of several it is open which is the cause.
    let is_short = |state: &&BarrierState| case.needed(state) as usize > state.missing.len();
    let is_one = barriers.len() > 1 && states().filter(is_short).count() == 1;
    let alone = || states().find_map(|state| short::alone(case, state)).filter(|_| is_one);
    let caused = unmet.or_else(parted).or_else(early).or_else(short);
    caused.or_else(alone)
}

/// All who could have arrived are needed, and have exited.
fn left_early(case: &Case<'_>, arrivals: &Arrivals<'_>, state: &BarrierState) -> Option<Blame> {
    let BarrierState { barrier, missing, .. } = state;
    let (first, exited) = (*missing.first()?, |agent: &u32| case.end.status(*agent) == Status::Exited);
    let before = arrivals.count(first, *barrier);
    let is_like = |agent: &u32| exited(agent) && arrivals.count(*agent, *barrier) == before;
    if case.needed(state) as usize != missing.len() || !missing.iter().all(is_like) {
        return None;
    }
    let (says, place) = exit(case, missing, &case.barrier(*barrier), before);
    // Where they had come before is said of each that is missed.
    Some(Blame {
        agents: missing.clone(),
        says,
        barrier: *barrier,
        others: String::new(),
        places: vec![place],
    })
}

/// Two barriers on which nobody has gone on yet: whoever is missed on one waits on the other, and the other
/// way round, so that nobody goes first.
fn mutual(case: &Case<'_>, barriers: &[u32]) -> Option<Blame> {
    let waits = |agent: &u32| case.end.agents.get(agent).and_then(|end| end.waits);
    let is_on = |agent: &u32, barrier: u32| {
        waits(agent).is_some_and(|waits| waits.awaits == Awaits::Agents && waits.barrier == barrier)
    };
    let fresh = |barrier: &&u32| {
        let state = case.state(**barrier);
        state.is_some_and(|state| {
            state.generation == 0
                && !state.missing.is_empty()
                && case.needed(state) as usize == state.missing.len()
        })
    };
    let waits_on = |state: &BarrierState, other: u32| state.missing.iter().all(|agent| is_on(agent, other));
    // Where nobody else waits, the message names both anyway.
    if barriers.len() < 3 {
        return None;
    }
    let fresh: Vec<u32> = barriers.iter().filter(fresh).copied().collect();
    let pairs = fresh.iter().flat_map(|one| fresh.iter().map(move |two| (*one, *two)));
    let (one, two) = pairs.filter(|(one, two)| one < two).find(|(one, two)| {
        let meets =
            |barrier: u32, other: u32| case.state(barrier).is_some_and(|state| waits_on(state, other));
        meets(*one, *two) && meets(*two, *one)
    })?;
    let (first, second) = (case.state(one)?.waiting.clone(), case.state(two)?.waiting.clone());
    let (a, b) = (case.agents(&first), case.agents(&second));
    let says = format!("{a} and {b} each wait for an arrival of the other, and nobody goes first");
    let others = format!(
        "On {} and {}: one of them has to arrive before it waits, or both have to come to the two in one order.",
        case.barrier(one),
        case.barrier(two)
    );
    let there = |agent: &u32| case.end.agents.get(agent).and_then(|end| end.location);
    let place = |who: &[u32], on: u32| {
        let agent = *who.first()?;
        let remark = Remark::Did(who.to_vec(), Did::Waits(case.barrier(on)));
        Some(Place { agent, location: there(&agent)?, remark })
    };
    let places = vec![place(&first, one)?, place(&second, two)?];
    let agents = names::distinct(first.into_iter().chain(second));
    Some(Blame { agents, says, barrier: one, others, places })
}

/// The count of a barrier is that of the whole group, and whoever has not come has exited: it may run code of
/// its own, which never names the barrier.
fn left_alone(case: &Case<'_>, arrivals: &Arrivals<'_>, state: &BarrierState) -> Option<Blame> {
    let [count] = state.counts.as_slice() else { return None };
    let protocol = &case.trace.protocol;
    let of_all = count.of == "threads" && protocol.ctas == 1 && count.expected >= protocol.group_size;
    let absent = case.trace.agents.iter().map(|agent| agent.index);
    let absent: Vec<u32> = absent.filter(|agent| !state.arrived.contains(agent)).collect();
    let has_left =
        |agent: &u32| case.end.status(*agent) == Status::Exited && arrivals.count(*agent, state.barrier) == 0;
    if !of_all
        || absent.is_empty()
        || case.needed(state) as usize != absent.len()
        || !absent.iter().all(has_left)
    {
        return None;
    }
    let on = case.barrier(state.barrier);
    let (says, place) = exit(case, &absent, &on, 0);
    let others = format!(
        "The count of {on}, {} threads, is that of all {} {}s.",
        count.expected,
        case.trace.agents.len(),
        case.noun()
    );
    Some(Blame { agents: absent, says, barrier: state.barrier, others, places: vec![place] })
}

impl<'t> Arrivals<'t> {
    fn of(case: &Case<'t>) -> Self {
        let mut all: BTreeMap<u32, Vec<Arrival<'t>>> = BTreeMap::new();
        for step in &case.trace.steps {
            for event in &step.events {
                if let Event::Arrived { barrier } = event {
                    all.entry(step.agent).or_default().push((*barrier, step));
                }
            }
        }
        Self(all)
    }

    fn made_by(&self, agent: u32) -> &[Arrival<'t>] {
        self.0.get(&agent).map_or(&[], Vec::as_slice)
    }

    /// How often an agent has arrived on a barrier.
    fn count(&self, agent: u32, barrier: u32) -> usize {
        self.made_by(agent).iter().filter(|(on, _)| *on == barrier).count()
    }

    /// Where an agent parted from another; `None` if it is only behind.
    ///
    /// What one of them does alone on barriers on which nobody waits is no parting: one of a role often
    /// arrives for all of it. What the other is said to have done more often, it has.
    fn parting(&self, case: &Case<'_>, agent: u32, other: u32) -> Option<Parting<'t>> {
        let alone = |one: u32, two: u32| {
            let on: BTreeSet<u32> = self.made_by(two).iter().map(|(on, _)| *on).collect();
            let known: BTreeSet<String> = on.into_iter().map(|on| case.own_name(two, on)).collect();
            move |on: u32| !is_awaited(case, on) && !known.contains(&case.own_name(one, on))
        };
        let (own_alone, others_alone) = (alone(agent, other), alone(other, agent));
        let all = |who: u32| self.made_by(who).iter().copied();
        let shared = (
            all(agent).filter(|(on, _)| !own_alone(*on)).collect(),
            all(other).filter(|(on, _)| !others_alone(*on)).collect(),
        );
        let awaited = |who: u32| all(who).filter(|(on, _)| is_awaited(case, *on)).collect();
        let told = self.first_parting(case, (agent, other), shared);
        told.or_else(|| self.first_parting(case, (agent, other), (awaited(agent), awaited(other))))
    }

    /// The same, of some of their arrivals.
    fn first_parting(
        &self,
        case: &Case<'_>,
        (agent, other): (u32, u32),
        (own, others): (Vec<Arrival<'t>>, Vec<Arrival<'t>>),
    ) -> Option<Parting<'t>> {
        // A barrier of one CTA is to its own agents what those of other CTAs are to theirs.
        let same = |one: u32, two: u32| one == two || case.own_name(agent, one) == case.own_name(other, two);
        let alike =
            |one: &Arrival<'_>, two: &Arrival<'_>| same(one.0, two.0) && one.1.location == two.1.location;
        let common = own.iter().zip(&others).take_while(|(one, two)| alike(one, two)).count();
        let (on, there) = *others.get(common)?;
        let left_out = (case.counterpart(agent, other, on)?, there);
        let instead = match own.get(common) {
            Some((barrier, step)) => Instead::Arrived(*barrier, step),
            None if case.end.status(agent) == Status::Exited => Instead::Exited,
            None => return None,
        };
        let before = own[..common].iter().filter(|(on, _)| *on == left_out.0).count();
        let is_so = is_awaited(case, left_out.0) && self.count(agent, left_out.0) <= before;
        let last = common.checked_sub(1).map_or(0, |last| own[last].1.index + 1);
        let is_past = |step: &Step| went_past(case, agent, last.max(step.index), there.location);
        let instead = match instead {
            Instead::Arrived(barrier, step) if !is_past(step) => {
                let end = case.end.agents.get(&agent).and_then(|end| end.waits);
                let waits = end.is_some_and(|waits| waits.barrier == barrier);
                let is_apart = waits && self.count(other, barrier) == 0;
                is_apart.then_some(Instead::CameTo(barrier, step))?
            }
            other => other,
        };
        is_so.then_some(Parting { left_out, theirs: on, before, instead })
    }

    /// Of those who have come, the one that does most of what an agent does.
    fn most_alike(&self, agent: u32, arrived: &[u32]) -> Option<u32> {
        let own = self.made_by(agent);
        let place = |(on, at): &Arrival<'_>| (*on, at.location);
        let likeness = |other: u32| {
            let places: HashSet<_> = self.made_by(other).iter().map(place).collect();
            own.iter().filter(|arrival| places.contains(&place(arrival))).count()
        };
        arrived.iter().copied().rev().max_by_key(|other| likeness(*other))
    }
}

/// Whether somebody waits on a barrier in the end.
fn is_awaited(case: &Case<'_>, barrier: u32) -> bool {
    let waits = case.end.agents.values().filter(|agent| agent.status == Status::Blocked);
    waits.filter_map(|agent| agent.waits).any(|waits| waits.barrier == barrier)
}

/// Whether an agent has gone past a place, or come round, from the step of an index on: else it may still
/// come to that place.
fn went_past(case: &Case<'_>, agent: u32, from: usize, there: Location) -> bool {
    let end = case.end.agents.get(&agent).and_then(|end| end.location);
    let own = case.trace.steps.iter().filter(|step| step.agent == agent && step.index >= from);
    let at = |location: Location| (location.line, location.column);
    let places: Vec<_> = own.map(|step| step.location).chain(end).map(at).collect();
    places.iter().any(|place| *place > at(there)) || places.windows(2).any(|pair| pair[1] < pair[0])
}

/// Those who could arrive on a barrier or have done so, by the code that they run.
fn siblings(case: &Case<'_>, state: &BarrierState) -> Vec<Siblings> {
    let code = |agent: &u32| case.trace.agents.get(*agent as usize).map(|a| (&a.role, a.line));
    let codes = names::distinct(state.missing.iter().filter_map(code));
    let of = |agents: &[u32], wanted| agents.iter().copied().filter(|a| code(a) == Some(wanted)).collect();
    let all = codes
        .into_iter()
        .map(|code| Siblings { missing: of(&state.missing, code), arrived: of(&state.arrived, code) });
    all.filter(|siblings| !siblings.arrived.is_empty()).collect()
}

fn blamed(case: &Case<'_>, arrivals: &Arrivals<'_>, barrier: u32, siblings: &Siblings) -> Option<Blame> {
    let Siblings { missing, arrived } = siblings;
    let first = *missing.first()?;
    if missing.len() > arrived.len() {
        return one_too_many(case, arrivals, barrier, siblings);
    }
    // Whoever is the first to be told apart is named, with all who parted in the same place.
    let parting = |agent: u32| arrivals.parting(case, agent, arrivals.most_alike(agent, arrived)?);
    let partings: Vec<_> = missing.iter().filter_map(|agent| Some((*agent, parting(*agent)?))).collect();
    let (_, parting) = *partings.iter().find(|(agent, _)| *agent == first).or(partings.first())?;
    let same = |other: &Parting<'_>| match (parting.instead, other.instead) {
        (Instead::Arrived(on, step), Instead::Arrived(other, at))
        | (Instead::CameTo(on, step), Instead::CameTo(other, at)) => {
            (on, step.location) == (other, at.location)
        }
        (one, two) => one == two,
    };
    // Whoever goes elsewhere may be meant to: only a few that part from many are to blame, and of those that
    // had never come before only very few.
    let (few, many) = (missing.len(), arrived.len());
    let is_meant = few >= many || parting.before == 0 && 2 * few > many;
    if is_meant && parting.instead != Instead::Exited {
        return None;
    }
    let alike = partings.iter().filter(|(_, other)| other.before == parting.before && same(other));
    let who: Vec<u32> = alike.map(|(agent, _)| *agent).collect();
    // Those are named with whom they are compared who have made that arrival in that place.
    let by_name = |agent: u32| {
        let own = arrivals.made_by(agent).iter();
        own.filter(move |(on, _)| case.own_name(agent, *on) == parting.name(case)).map(|(_, step)| step)
    };
    let has_made = |agent: &u32| {
        by_name(*agent).nth(parting.before).is_some_and(|step| step.location == parting.left_out.1.location)
    };
    let compared: Vec<u32> = arrived.iter().copied().filter(has_made).collect();
    Some(parted(case, &who, &compared, &parting))
}

/// They left an arrival out that their siblings made.
fn parted(case: &Case<'_>, who: &[u32], arrived: &[u32], parting: &Parting<'_>) -> Blame {
    let Parting { left_out: (barrier, there), before, instead, .. } = *parting;
    let (names, on) = (case.agents(who), case.barrier(barrier));
    let their = verb(who, "its", "their");
    let (says, place) = match instead {
        Instead::Arrived(elsewhere, step) => {
            let to =
                if elsewhere == barrier { "the next arrival".to_owned() } else { case.barrier(elsewhere) };
            let at = case.at(step.location);
            let says = format!(
                "{names} went on{at} to {to} without {their} {} arrival on {on}",
                ordinal(before + 1)
            );
            (says, theirs(who, step.location, Did::WentOn(on.clone())))
        }
        Instead::CameTo(elsewhere, step) => {
            let to = case.barrier(elsewhere);
            let by = if arrived.is_empty() { "others".to_owned() } else { case.agents(arrived) };
            let says = format!("{names} came{} to {to}, by which {by} passed", case.at(step.location));
            (says, theirs(who, step.location, Did::ArrivedOn(to)))
        }
        Instead::Exited => exit(case, who, &on, before),
    };
    let others = format!(
        "{}, which {} the same code as {names}, arrived on {on} for the {} time{} ({}).",
        sentence(&case.agents(arrived)),
        verb(arrived, "runs", "run"),
        ordinal(before + 1),
        case.at(there.location),
        Case::step_name(there),
    );
    let places = vec![place, Case::did(there, Did::ArrivedOn(on))];
    Blame { agents: who.to_vec(), says, barrier, others, places }
}

/// Fewer have come than have not, and those have all exited: who has come made an arrival that nobody else
/// makes.
fn one_too_many(
    case: &Case<'_>,
    arrivals: &Arrivals<'_>,
    barrier: u32,
    Siblings { missing, arrived }: &Siblings,
) -> Option<Blame> {
    let (other, first) = (*missing.first()?, *arrived.first()?);
    let (most, made) = (arrivals.count(other, barrier), arrivals.count(first, barrier));
    let is_like =
        |agent: &u32| case.end.status(*agent) == Status::Exited && arrivals.count(*agent, barrier) == most;
    if made <= most || !missing.iter().all(is_like) {
        return None;
    }
    let step = case.arrival(first, barrier, usize::MAX)?;
    let (names, on) = (case.agents(arrived), case.barrier(barrier));
    let at = case.at(step.location);
    let says = match most {
        0 => format!("only {names} came{at} to {on}"),
        _ => format!("{names} came{at} to {on} a {} time", ordinal(made)),
    };
    let exited = match most {
        0 => "without arriving".to_owned(),
        1 => "after 1 arrival".to_owned(),
        _ => format!("after {most} arrivals"),
    };
    if let Some(fork) = forks::of(case, missing, first) {
        let again = if most == 0 { String::new() } else { format!(" a {} time", ordinal(made)) };
        let says = format!(
            "{} {} and exited {exited} on {on}, and {names} came{at} to it{again}",
            case.agents(missing),
            fork.says(case)
        );
        let places = vec![fork.place(missing), theirs(arrived, step.location, Did::ArrivedOn(on))];
        return Some(Blame { agents: missing.clone(), says, barrier, others: String::new(), places });
    }
    let others = format!(
        "{}, which {} the same code, exited {exited} on {on}.",
        sentence(&case.agents(missing)),
        verb(missing, "runs", "run"),
    );
    let places = vec![theirs(arrived, step.location, Did::ArrivedOn(on))];
    Some(Blame { agents: arrived.clone(), says, barrier, others, places })
}

fn theirs(who: &[u32], location: Location, did: Did) -> Place {
    let agent = who.first().copied().unwrap_or_default();
    Place { agent, location, remark: Remark::Did(who.to_vec(), did) }
}

/// `1st`, `2nd`, `13th`.
fn ordinal(n: usize) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_end_as_they_are_read() {
        let read: Vec<String> = [1, 2, 3, 4, 11, 12, 13, 21, 102, 113].map(ordinal).to_vec();
        assert_eq!(read, ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "102nd", "113th"]);
    }
}
