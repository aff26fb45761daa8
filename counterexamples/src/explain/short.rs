//! Phases that lack arrivals which nobody is left to make: all who arrive on the object have arrived.
//!
//! Either somebody was forgotten who waits as those do that have come, or the arrivals went to another
//! object, or the count is too high.

use super::case::{Case, arrives, has_phases, verb};
use super::culprit::Blame;
use super::given;
use super::place::{Did, Place, Remark};
use crate::names;
use crate::objects::is_object;
use crate::trace::{Awaits, BarrierState, Event, Location, Status, Step};

/// Who is to blame that a phase lacks arrivals, or what; `None` where some who have not come still could.
pub(super) fn of(case: &Case<'_>, state: &BarrierState) -> Option<Blame> {
    if !has_phases(state) || case.needed(state) == 0 {
        return None;
    }
    let lacks = Lacks { case, state };
    if !state.missing.is_empty() {
        return lacks.left_out().or_else(|| lacks.came_back());
    }
    let rest = || lacks.forgotten().or_else(|| lacks.too_many());
    lacks.astray().or_else(|| if lacks.waits_for_itself() { rest() } else { None })
}

/// A phase that nothing can complete, whatever anybody left out: nobody arrives on the object at all, or all
/// who do have, and its count is too high.
pub(super) fn unmet(case: &Case<'_>, state: &BarrierState) -> Option<Blame> {
    if !has_phases(state) || case.needed(state) == 0 || !state.missing.is_empty() {
        return None;
    }
    let lacks = Lacks { case, state };
    let too_many = || if lacks.waits_for_itself() { lacks.too_many() } else { None };
    let forgotten = || if lacks.waits_for_itself() { lacks.forgotten() } else { None };
    lacks
        .astray()
        .or_else(|| lacks.left_out())
        .or_else(|| lacks.nobody())
        .or_else(forgotten)
        .or_else(too_many)
}

/// A barrier that counts threads and to which none comes but those who wait there: nobody else names it.
pub(super) fn alone(case: &Case<'_>, state: &BarrierState) -> Option<Blame> {
    let [count] = state.counts.as_slice() else { return None };
    let is_meant = count.of == "threads" && !state.all && state.missing.is_empty() && state.generation == 0;
    let has_come = |step: &Step| arrives(step, state.barrier) && !state.arrived.contains(&step.agent);
    let waits = state.arrived.iter().all(|agent| state.waiting.contains(agent));
    if !is_meant || !waits || case.needed(state) == 0 || case.trace.steps.iter().any(has_come) {
        return None;
    }
    let on = case.barrier(state.barrier);
    let says = format!(
        "nobody but {} comes to {on}, and its count is {} {}",
        case.agents(&state.arrived),
        count.expected,
        count.of
    );
    let end = case.end.agents.get(state.waiting.first()?)?;
    let remark = Remark::Did(state.waiting.clone(), Did::Waits(on));
    let places = vec![Place { agent: end.agent, location: end.location?, remark }];
    Some(Blame { agents: Vec::new(), says, barrier: state.barrier, others: String::new(), places })
}

/// Those who are missed. Who waits for a phase and never arrived on the object is not: its operand may be
/// this object, as far as is known, and in the run it never was.
pub(super) fn missed(case: &Case<'_>, state: &BarrierState) -> Vec<u32> {
    let never = |agent: &u32| {
        has_phases(state)
            && state.waiting.contains(agent)
            && case.arrival(*agent, state.barrier, usize::MAX).is_none()
    };
    let some: Vec<u32> = state.missing.iter().copied().filter(|agent| !never(agent)).collect();
    if some.is_empty() { state.missing.clone() } else { some }
}

/// Who has arrived in a phase, and where.
pub(super) fn arrived(case: &Case<'_>, state: &BarrierState) -> Option<String> {
    if state.arrived.is_empty() {
        return None;
    }
    // Of an excerpt it is not known when.
    if case.trace.is_excerpt() {
        return Some(format!("Arrived: {}.", case.agents(&state.arrived)));
    }
    let came = came(case, state);
    let told = came.iter().take(4).map(|(agents, location, latest)| {
        format!("{} (step {}{})", case.agents(agents), latest + 1, case.at(*location))
    });
    let told: Vec<String> = told.collect();
    let more = if came.len() > told.len() { " and others" } else { "" };
    Some(format!("Arrived: {}{more}.", told.join("; ")))
}

/// Arrivals of a phase by the place at which they were made, and when the latest of each place was.
fn came(case: &Case<'_>, state: &BarrierState) -> Vec<(Vec<u32>, Location, usize)> {
    let mut groups: Vec<(Vec<u32>, Location, usize)> = Vec::new();
    for step in case.gathered(state.barrier, usize::MAX) {
        match groups.iter_mut().find(|(_, at, _)| *at == step.location) {
            Some((agents, _, latest)) => {
                agents.push(step.agent);
                *latest = step.index;
            }
            None => groups.push((vec![step.agent], step.location, step.index)),
        }
    }
    for (agents, _, _) in &mut groups {
        *agents = names::distinct(std::mem::take(agents));
    }
    groups
}

/// What is said of a phase that nobody is left to complete.
pub(super) fn nobody_left(case: &Case<'_>, state: &BarrierState) -> Option<String> {
    let lacks = Lacks { case, state };
    let needed = case.needed(state);
    if needed == 0 || !state.missing.is_empty() || !lacks.waits_for_itself() {
        return None;
    }
    let (is, count) = (if needed == 1 { "is" } else { "are" }, lacks.count());
    let at = given::to(case, state.barrier).map(|place| case.at(place.location)).unwrap_or_default();
    let comes = match lacks.made() {
        0 => "nobody arrives on it".to_owned(),
        1 if lacks.is_once() => "1 arrival comes in a round".to_owned(),
        made if lacks.is_once() => format!("{made} arrivals come in a round"),
        made => format!("{made} {} have been made", plural(made)),
    };
    Some(format!(
        "{needed} more {is} needed, and nobody is left who arrives before this phase completes: the count is \
         {count}{at}, and {comes}."
    ))
}

fn plural(arrivals: u32) -> &'static str {
    if arrivals == 1 { "arrival" } else { "arrivals" }
}

struct Lacks<'c, 't> {
    case: &'c Case<'t>,
    state: &'c BarrierState,
}

impl Lacks<'_, '_> {
    fn of(&self, name: fn(&crate::trace::Count) -> u32) -> u32 {
        self.state.counts.iter().find(|count| count.of == "arrivals").map_or(0, name)
    }

    fn count(&self) -> u32 {
        self.of(|count| count.expected)
    }

    fn made(&self) -> u32 {
        self.of(|count| count.arrived)
    }

    fn on(&self) -> String {
        self.case.barrier(self.state.barrier)
    }

    /// Objects of the same name in other CTAs.
    fn namesakes(&self) -> Vec<u32> {
        let own = self.on();
        let Some((own, _)) = own.rsplit_once(" of cta ") else { return Vec::new() };
        let known = self.case.trace.barriers.iter().filter(|known| known.barrier != self.state.barrier);
        let alike =
            known.filter(|known| known.name.rsplit_once(" of cta ").is_some_and(|(name, _)| name == own));
        alike.map(|known| known.barrier).collect()
    }

    /// Whether anybody ever waited on an object.
    fn is_waited_on(&self, barrier: u32) -> bool {
        self.case.trace.steps.iter().any(|step| waits_on(step, barrier))
    }

    /// `ready of ctas 1-3`.
    fn called(&self, barriers: &[u32]) -> String {
        let names: Vec<String> = barriers.iter().map(|barrier| self.case.barrier(*barrier)).collect();
        let parts = || names.iter().map(|name| name.rsplit_once(" of cta "));
        let ctas: Option<Vec<u32>> = parts().map(|part| part?.1.parse().ok()).collect();
        match (names.as_slice(), ctas, parts().next().flatten()) {
            ([_, _, ..], Some(ctas), Some((name, _))) => {
                format!("{name} of ctas {}", names::numbers(&names::distinct(ctas)))
            }
            _ => names::list(&names),
        }
    }

    /// Nobody arrives on the object; what should have come went to those of other CTAs.
    fn astray(&self) -> Option<Blame> {
        let (case, state) = (self.case, self.state);
        if self.made() > 0 || state.generation > 0 {
            return None;
        }
        let namesakes = self.namesakes().into_iter().filter(|other| !self.is_waited_on(*other));
        let elsewhere = |step: &&Step, others: &[u32]| others.iter().any(|other| arrives(step, *other));
        let others: Vec<u32> = namesakes.collect();
        let steps: Vec<&Step> = case.trace.steps.iter().filter(|step| elsewhere(step, &others)).collect();
        let step = *steps.last()?;
        let who = names::distinct(steps.iter().map(|step| step.agent));
        let hit: Vec<u32> =
            others.into_iter().filter(|other| steps.iter().any(|step| arrives(step, *other))).collect();
        let (on, hits) = (self.on(), self.called(&hit));
        let says = format!(
            "nobody arrives on {on}: {} arrived{} on {hits}, on which nobody waits",
            case.agents(&who),
            case.at(step.location)
        );
        let place = Remark::Did(who.clone(), Did::ArrivedOn(hits));
        let places = vec![Place { agent: who[0], location: step.location, remark: place }];
        let others =
            "An arrival on the object of another CTA names that CTA: `@ cta 0` in `.bar`, an address \
                      by `mapa` in a kernel."
                .to_owned();
        Some(Blame { agents: who, says, barrier: state.barrier, others, places })
    }

    /// Those who have arrived on the same object of other CTAs.
    fn senders(&self) -> Vec<u32> {
        let others = self.namesakes();
        let sent = |step: &&Step| others.iter().any(|other| arrives(step, *other));
        names::distinct(self.case.trace.steps.iter().filter(sent).map(|step| step.agent))
    }

    /// Somebody who could have come has arrived on the same object of other CTAs, and gone on.
    fn left_out(&self) -> Option<Blame> {
        let (case, state) = (self.case, self.state);
        let who = if state.missing.is_empty() { self.senders() } else { state.missing.clone() };
        if self.made() > 0 || state.generation > 0 || case.needed(state) as usize != who.len() {
            return None;
        }
        let first = *who.first()?;
        let hit: Vec<u32> = self
            .namesakes()
            .into_iter()
            .filter(|other| who.iter().all(|agent| case.arrival(*agent, *other, usize::MAX).is_some()))
            .collect();
        let step = case.arrival(first, *hit.last()?, usize::MAX)?;
        let there = case.end.agents.get(&first).and_then(|end| end.location);
        if there == Some(step.location) {
            return None;
        }
        // What somebody does to the object of its own CTA says nothing of those of others.
        if hit.iter().all(|other| case.is_of_own_cta(first, *other)) {
            return None;
        }
        let on = self.on();
        let is_left = |other: &u32| {
            !hit.contains(other) && case.state(*other).is_some_and(|state| !state.waiting.is_empty())
        };
        let left_out: Vec<u32> =
            std::iter::once(state.barrier).chain(self.namesakes().into_iter().filter(is_left)).collect();
        let says = format!(
            "{} arrived{} on {} and not on {}",
            case.agents(&who),
            case.at(step.location),
            self.called(&hit),
            self.called(&left_out)
        );
        let place = Remark::Did(who.clone(), Did::WentOn(on));
        let places = vec![Place { agent: first, location: step.location, remark: place }];
        Some(Blame { agents: who, says, barrier: state.barrier, others: String::new(), places })
    }

    /// All who are missing have waited for one object, and wait for it again without having arrived
    /// between: so does whoever they wait for, for them.
    fn came_back(&self) -> Option<Blame> {
        let (case, state) = (self.case, self.state);
        let who = state.missing.clone();
        let waits = |agent: &u32| case.end.agents.get(agent).and_then(|end| end.waits);
        let partner = waits(who.first()?).filter(|waits| waits.awaits == Awaits::Agents)?.barrier;
        let is_circle = case.state(partner)?.missing.iter().any(|agent| state.waiting.contains(agent));
        let is_alike = who.iter().all(|agent| waits(agent).is_some_and(|waits| waits.barrier == partner));
        let is_meant = is_circle && is_alike && is_object(case.trace, partner) && partner != state.barrier;
        if !is_meant || case.needed(state) as usize != who.len() {
            return None;
        }
        let before: Option<Vec<&Step>> = who.iter().map(|agent| self.wait_before(*agent, partner)).collect();
        let (before, on) = (before?, self.on());
        let (first, again) = (*before.first()?, case.end.agents.get(who.first()?)?.location?);
        let says = format!(
            "{} waited for {}{} and came back to wait for it without arriving on {on}",
            case.agents(&who),
            case.barrier(partner),
            case.at(first.location)
        );
        let remark = |did| Remark::Did(who.clone(), did);
        let mut places = vec![Place { agent: first.agent, location: again, remark: remark(Did::WentOn(on)) }];
        if first.location != again {
            let did = Did::Waits(case.barrier(partner));
            places.push(Place { agent: first.agent, location: first.location, remark: remark(did) });
        }
        Some(Blame { agents: who, says, barrier: state.barrier, others: String::new(), places })
    }

    /// The wait of an agent for an object before the one that goes on in the end, if it has not arrived
    /// since.
    fn wait_before(&self, agent: u32, partner: u32) -> Option<&Step> {
        let case = self.case;
        let is_wait = |step: &&Step| step.agent == agent && waits_on(step, partner);
        let last = case.back(usize::MAX, |step| is_wait(&step))?.index;
        let before = case.back(usize::MAX, |step| step.index < last && is_wait(&step))?;
        let arrival = case.arrival(agent, self.state.barrier, usize::MAX);
        arrival.is_none_or(|step| step.index < before.index).then_some(before)
    }

    /// Some wait as those do that have come, and never arrive: they run other code, or are exactly as many as
    /// are needed.
    fn forgotten(&self) -> Option<Blame> {
        let (case, state) = (self.case, self.state);
        let needed = case.needed(state) as usize;
        let code = |agent: u32| case.trace.agents.get(agent as usize).map(|agent| (&agent.role, agent.line));
        let is_like = |agent: &u32| state.arrived.iter().any(|other| code(*other) == code(*agent));
        let (who, on) = self.idle_beside()?;
        let (like, others): (Vec<u32>, Vec<u32>) = who.into_iter().partition(is_like);
        if !others.is_empty() && others.len() >= needed {
            return Some(self.never(&others, on));
        }
        (like.len() == needed).then(|| self.never(&like, on))
    }

    /// Those who wait in the end, have waited on an object on which all have that have come, and neither have
    /// come nor wait for this phase; and that object.
    fn idle_beside(&self) -> Option<(Vec<u32>, u32)> {
        let (case, state) = (self.case, self.state);
        let waited = |agent: u32| {
            let own = case.trace.steps.iter().filter(|step| step.agent == agent);
            let objects = own.filter_map(waited_for);
            names::distinct(objects.filter(|on| *on != state.barrier && is_object(case.trace, *on)))
        };
        let first = waited(*state.arrived.first()?);
        let of_all = |on: &u32| state.arrived.iter().all(|agent| waited(*agent).contains(on));
        let partners: Vec<u32> = first.into_iter().filter(of_all).collect();
        let is_idle = |agent: &u32| {
            let waits_for_it =
                case.trace.steps.iter().any(|s| s.agent == *agent && waits_on(s, state.barrier));
            !state.arrived.contains(agent) && !waits_for_it
        };
        let idle = case.end.with(Status::Blocked).into_iter().filter(is_idle);
        let mut who: Vec<(u32, u32)> = idle
            .filter_map(|agent| Some((agent, waited(agent).into_iter().find(|on| partners.contains(on))?)))
            .collect();
        let on = who.first()?.1;
        who.retain(|(_, partner)| *partner == on);
        Some((who.into_iter().map(|(agent, _)| agent).collect(), on))
    }

    fn never(&self, who: &[u32], partner: u32) -> Blame {
        let (case, state, on) = (self.case, self.state, self.on());
        let (names, came) = (case.agents(who), case.agents(&state.arrived));
        let says = format!(
            "{names} {} for {} as {came} {}, and never {} on {on}",
            verb(who, "waits", "wait"),
            case.barrier(partner),
            verb(&state.arrived, "does", "do"),
            verb(who, "arrives", "arrive")
        );
        let given = given::to(case, state.barrier);
        let at = given.as_ref().map(|place| case.at(place.location)).unwrap_or_default();
        let others = format!(
            "Either {names} should arrive on {on} too, or its count, {}{at}, is too high by {}.",
            self.count(),
            case.needed(state)
        );
        let there = case.end.agents.get(&who[0]).and_then(|end| end.location).unwrap_or_default();
        let remark = Remark::Did(who.to_vec(), Did::NeverArrives(on));
        let mut places = vec![Place { agent: who[0], location: there, remark }];
        places.extend(given);
        places.extend(self.arrivals());
        Blame { agents: who.to_vec(), says, barrier: state.barrier, others, places }
    }

    fn arrivals(&self) -> Vec<Place> {
        let on = self.on();
        let came = came(self.case, self.state).into_iter().take(4);
        let place = |(agents, location, _): (Vec<u32>, Location, usize)| Place {
            agent: agents.first().copied().unwrap_or_default(),
            location,
            remark: Remark::Did(agents, Did::ArrivedOn(on.clone())),
        };
        came.map(place).collect()
    }

    /// Nobody arrives on the object, and nobody has in the run.
    fn nobody(&self) -> Option<Blame> {
        let (case, state, on) = (self.case, self.state, self.on());
        let has_come = case.trace.steps.iter().any(|step| arrives(step, state.barrier));
        if self.made() > 0 || state.generation > 0 || has_come {
            return None;
        }
        let given = given::to(case, state.barrier);
        let at = given.as_ref().map(|place| case.at(place.location)).unwrap_or_default();
        let says = format!("nobody arrives on {on}, whose count is {}{at}", self.count());
        let places = given.into_iter().collect();
        Some(Blame { agents: Vec::new(), says, barrier: state.barrier, others: String::new(), places })
    }

    /// Everybody arrives who ever does.
    fn too_many(&self) -> Option<Blame> {
        let (case, state, on) = (self.case, self.state, self.on());
        // Where a phase was completed before, the count can be reached.
        if state.generation > 0 || state.arrived.is_empty() {
            return None;
        }
        let given = given::to(case, state.barrier);
        let at = given.as_ref().map(|place| case.at(place.location)).unwrap_or_default();
        let (count, made, who) = (self.count(), self.made(), case.agents(&state.arrived));
        let comes = verb(&state.arrived, "arrives", "arrive");
        let each = if state.arrived.len() > 1 { " each" } else { "" };
        let is_each_one = made as usize == state.arrived.len();
        let says = match (self.is_once(), is_each_one) {
            (true, true) => format!("only {who} {comes} on {on}, once{each} in a round"),
            (true, false) => format!("only {who} {comes} on {on}, with {made} in a round"),
            (false, _) => format!("all who arrive on {on} have ({who})"),
        };
        let says = format!("{says}, and its count is {count}{at}");
        let mut places: Vec<Place> = given.into_iter().collect();
        places.extend(self.arrivals());
        Some(Blame { agents: Vec::new(), says, barrier: state.barrier, others: String::new(), places })
    }

    /// Whoever has come cannot come again before the phase is complete: it has exited, or waits, by itself or
    /// by way of others, for those who wait for the phase.
    fn waits_for_itself(&self) -> bool {
        let (case, state) = (self.case, self.state);
        let mut held: Vec<u32> = state.waiting.clone();
        loop {
            let is_held = |agent: &u32| {
                let end = case.end.agents.get(agent).and_then(|end| end.waits);
                let on = end.filter(|waits| waits.awaits == Awaits::Agents).map(|waits| waits.barrier);
                let missing = on.and_then(|on| case.state(on)).map(|on| &on.missing);
                missing.is_some_and(|missing| {
                    !missing.is_empty() && missing.iter().all(|agent| held.contains(agent))
                })
            };
            let blocked = case.end.with(Status::Blocked);
            let more: Vec<u32> =
                blocked.into_iter().filter(|agent| !held.contains(agent) && is_held(agent)).collect();
            if more.is_empty() {
                break;
            }
            held.extend(more);
        }
        let has_exited = |agent: &u32| case.end.status(*agent) == Status::Exited;
        state.arrived.iter().all(|agent| held.contains(agent) || has_exited(agent))
    }

    /// Whoever has come has come round since to where it was before, or has exited: its next arrival would be
    /// that of another round.
    fn is_once(&self) -> bool {
        let (case, state) = (self.case, self.state);
        let gathered = case.gathered(state.barrier, usize::MAX);
        !state.arrived.is_empty()
            && state.arrived.iter().all(|agent| {
                let end = case.end.agents.get(agent);
                let Some(there) = end.and_then(|end| end.location) else { return true };
                let arrival = gathered.iter().find(|step| step.agent == *agent);
                let before = arrival.map_or(0, |step| step.index);
                let was = |step: &&Step| step.agent == *agent && step.location == there;
                case.trace.steps.iter().take_while(|step| step.index < before).any(|step| was(&step))
            })
    }
}

/// The object that a step waits for, or asks.
fn waited_for(step: &Step) -> Option<u32> {
    step.events.iter().find_map(|event| match event {
        Event::Passed { barrier } | Event::Blocked { barrier } | Event::Asked { barrier, .. } => {
            Some(*barrier)
        }
        _ => None,
    })
}

fn waits_on(step: &Step, barrier: u32) -> bool {
    waited_for(step) == Some(barrier)
}
