//! Decisions by which agents passed by an arrival that others wait for.

use std::collections::{BTreeMap, BTreeSet};

use super::blocks::{Block, Blocks, key};
use super::case::{Case, arrives, sentence};
use super::culprit::Blame;
use super::place::{Did, Place, Remark};
use crate::names;
use crate::objects::is_object;
use crate::trace::{AgentState, BarrierState, Event, Location, Status, Step};

/// Words of an instruction that arrives.
const ARRIVES: [&str; 6] = ["arrive", "sync", "signal", "ARV", "BAR.", "Barrier"];

/// Steps of an agent that are looked at since its last arrival, at most.
const MOST: usize = 10_000;

/// The first time since its last arrival on a barrier that an agent passed by one.
#[derive(Clone)]
pub(super) struct Skip<'t> {
    /// The decision by which it did; `None` where the protocol left it none.
    decision: Option<(&'t Step, bool)>,
    /// The arrival, as it is written.
    arrival: String,
    /// Where it stands; `None` where nobody has come to it.
    there: Option<Location>,
    /// What the agent's locals were that the arrival depends on: `i = 3`.
    locals: String,
}

impl Skip<'_> {
    /// ``passed by `bar.arrive 3, 64` at ring.bar:11 (i = 3)``, or
    /// ``found `?` false at ring.bar:11, passing by `bar.arrive 3, 64` ``.
    fn says(&self, case: &Case<'_>) -> String {
        match self.decision {
            Some((step, holds)) => {
                let (condition, at) = (condition(step), case.at(step.location));
                format!("found `{condition}` {holds}{at}, passing by `{}`", self.arrival)
            }
            None => {
                let at = self.there.map(|there| case.at(there)).unwrap_or_default();
                format!("passed by `{}`{at}{}", self.arrival, self.in_brackets())
            }
        }
    }

    fn in_brackets(&self) -> String {
        if self.locals.is_empty() { String::new() } else { format!(" ({})", self.locals) }
    }

    fn place(&self, who: &[u32]) -> Place {
        let agent = who.first().copied().unwrap_or_default();
        let (location, did) = match self.decision {
            Some((step, true)) => (step.location, Did::Accepted(condition(step).to_owned())),
            Some((step, false)) => (step.location, Did::Declined(condition(step).to_owned())),
            None => (self.there.unwrap_or_default(), Did::PassedBy(self.in_brackets())),
        };
        Place { agent, location, remark: Remark::Did(who.to_vec(), did) }
    }

    fn is_like(&self, other: &Self) -> bool {
        let decision = |skip: &Self| skip.decision.map(|(step, holds)| (step.location, holds));
        (decision(self), self.there, &self.arrival) == (decision(other), other.there, &other.arrival)
    }
}

/// What agents run, by its role and the line where it begins.
type Code<'t> = (Option<&'t String>, u32);

/// What agents decided and where they arrived, and the text around it.
struct Skips<'c, 't> {
    case: &'c Case<'t>,
    blocks: Blocks<'t>,
    /// The steps of each agent.
    own: BTreeMap<u32, Vec<&'t Step>>,
    /// Where arrivals on a barrier are made, by whom.
    arrivals: BTreeMap<u32, BTreeMap<(Code<'t>, Location), &'t Step>>,
}

impl<'c, 't> Skips<'c, 't> {
    /// `None` where it is not known what stands behind a decision.
    fn of(case: &'c Case<'t>) -> Option<Self> {
        if case.trace.protocol.format != "bar" || case.trace.is_excerpt() {
            return None;
        }
        let blocks = Blocks::of(&case.trace.protocol.source);
        let mut skips = Self { case, blocks, own: BTreeMap::new(), arrivals: BTreeMap::new() };
        for step in case.trace.steps.iter().filter(|step| !step.choice.lands) {
            skips.own.entry(step.agent).or_default().push(step);
            for event in &step.events {
                if let Event::Arrived { barrier } = event {
                    let there = (skips.code(step.agent)?, step.location);
                    skips.arrivals.entry(*barrier).or_default().entry(there).or_insert(step);
                }
            }
        }
        Some(skips)
    }

    fn code(&self, agent: u32) -> Option<Code<'t>> {
        self.case.trace.agents.get(agent as usize).map(|agent| (agent.role.as_ref(), agent.line))
    }

    /// How all these agents passed by an arrival on a barrier.
    fn by(&self, agents: &[u32], barrier: u32) -> Option<Skip<'t>> {
        let mut all = agents.iter().map(|agent| self.one(*agent, barrier));
        let mut first = all.next()??;
        for skip in all {
            let skip = skip.filter(|skip| skip.is_like(&first))?;
            if skip.locals != first.locals {
                first.locals.clear();
            }
        }
        Some(first)
    }

    fn one(&self, agent: u32, barrier: u32) -> Option<Skip<'t>> {
        let own = self.own.get(&agent)?;
        let last = own.iter().rposition(|step| arrives(step, barrier));
        let own = &own[last.unwrap_or(0)..];
        // Whoever blocks stays where it is.
        let end = self.case.end.agents.get(&agent).and_then(|end| end.location);
        let end = end.filter(|end| own.last().is_some_and(|last| last.location != *end));
        for (index, step) in own.iter().enumerate().take(MOST) {
            let decided = decided(step).and_then(|holds| self.passed_by(step, holds, barrier));
            if decided.is_some() {
                return decided;
            }
            let next = own.get(index + 1);
            let to = next.map(|next| next.location).or(end)?;
            if next.is_some_and(|next| are_apart(step, next)) {
                return None;
            }
            if is_issued(step) && to == step.location {
                // A copy to several CTAs is one instruction in several steps.
                continue;
            }
            let mut places = self.places(agent, barrier);
            let missed = places.find(|made| self.goes_past(made.location, step.location, to));
            if let Some(made) = missed {
                let there = Some(made.location);
                let arrival = made.instruction.clone();
                return Some(Skip { decision: None, arrival, there, locals: self.locals(step, made) });
            }
        }
        None
    }

    /// The arrivals on a barrier that are made in the code of an agent, one of each place.
    fn places(&self, agent: u32, barrier: u32) -> impl Iterator<Item = &'t Step> {
        let code = self.code(agent);
        let all = self.arrivals.get(&barrier).into_iter().flatten();
        all.filter(move |((of, _), _)| Some(*of) == code).map(|(_, step)| *step)
    }

    /// Those who are missed on a barrier, or run the same code as others that have come to it, and wait
    /// elsewhere.
    fn could_have_come(&self, state: &BarrierState) -> Vec<u32> {
        let blocked = self.case.end.with(Status::Blocked).into_iter();
        let is_missed = |agent: &u32| match state.missing.as_slice() {
            [] => !state.arrived.contains(agent) && self.places(*agent, state.barrier).next().is_some(),
            missing => missing.contains(agent),
        };
        blocked.filter(is_missed).collect()
    }

    /// That a decision passed by an arrival on a barrier.
    fn passed_by(&self, step: &'t Step, holds: bool, barrier: u32) -> Option<Skip<'t>> {
        let passed = self.blocks.passed_by(step.location, holds)?;
        let made = self.places(step.agent, barrier).find(|made| passed.contains(made.location));
        let made = made.map(|made| (made.instruction.clone(), Some(made.location)));
        let alone = || lone_arrival(passed.text, self.case, barrier).map(|arrival| (arrival, None));
        let (arrival, there) = made.or_else(alone)?;
        Some(Skip { decision: Some((step, holds)), arrival, there, locals: String::new() })
    }

    /// Whether an agent that goes from one place to another goes past a third: structured code runs as it is
    /// read, but for loops.
    fn goes_past(&self, there: Location, from: Location, to: Location) -> bool {
        // What is used from a block of its own is not read in order.
        let outermost = |place: Location| self.blocks.around(place).next();
        // Its closing brace, where its agents exit, is in none.
        let is_elsewhere = outermost(to).is_some_and(|to| Some(to) != outermost(from));
        if is_elsewhere || outermost(from) != outermost(there) {
            return false;
        }
        let (is_before, is_behind) = (key(from) < key(there), key(there) < key(to));
        if key(from) < key(to) {
            return is_before && is_behind;
        }
        let around = self.blocks.innermost_loop(&[from, to]);
        around.is_some_and(|around| around.contains(there)) && (is_before || is_behind)
    }

    /// What the locals of an agent were that an arrival and the conditions around it name, as it went past
    /// the arrival with or after a step.
    fn locals(&self, step: &Step, made: &Step) -> String {
        // Before the step they are those of the round in which it was made.
        let count = step.index + usize::from(key(step.location) >= key(made.location));
        let before = self.case.trace.steps.partition_point(|step| step.index < count);
        let changes = self.case.trace.steps[..before].iter().rev().map(|step| &step.changes);
        let agents = changes.flat_map(|changes| &changes.agents);
        let Some(AgentState { fragments, .. }) = agents.into_iter().find(|state| state.agent == step.agent)
        else {
            return String::new();
        };
        let [fragment] = fragments.as_slice() else { return String::new() };
        let around: Vec<&Block<'_>> = self.blocks.around(made.location).collect();
        let inside = around.iter().rposition(|block| block.is_loop()).map_or(0, |innermost| innermost + 1);
        let heads = around[inside..].iter().map(|block| block.head);
        let text = heads.chain([made.instruction.as_str()]).collect::<Vec<_>>().join(" ");
        let words: BTreeSet<&str> =
            text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')).collect();
        let known = fragment.locals.iter().filter(|(name, _)| words.contains(name.as_str()));
        known.map(|(name, value)| format!("{name} = {value}")).take(4).collect::<Vec<_>>().join(", ")
    }

    /// Whether an agent made the arrival that it passed by at some time, or decided otherwise.
    fn goes_both_ways(&self, agent: u32, barrier: u32, skip: &Skip<'_>) -> bool {
        let otherwise = |step: &&Step| match skip.decision {
            Some((last, held)) => {
                step.location == last.location && decided(step).is_some_and(|holds| holds != held)
            }
            None => arrives(step, barrier),
        };
        self.own.get(&agent).is_some_and(|own| own.iter().any(otherwise))
    }
}

/// Whether the lanes of two steps have nothing to do with each other: they come to places in no order.
fn are_apart(one: &Step, two: &Step) -> bool {
    let lanes = |step: &Step| step.lanes.as_deref().map_or(Some(u32::MAX), names::lanes_from);
    lanes(one).zip(lanes(two)).is_none_or(|(one, two)| one & two == 0)
}

fn is_issued(step: &Step) -> bool {
    step.events.iter().any(|event| matches!(event, Event::Issued { .. }))
}

/// What a blame is for, with how it came about that an arrival was left out.
pub(super) fn with(case: &Case<'_>, blame: &mut Blame) -> bool {
    let Some(skip) = Skips::of(case).and_then(|skips| skips.by(&blame.agents, blame.barrier)) else {
        return false;
    };
    let who = case.agents(&blame.agents);
    let place = skip.place(&blame.agents);
    if skip.decision.is_some() {
        let Some(rest) = blame.says.strip_prefix(&who) else { return false };
        blame.says = format!("{who} {}, and{rest}", skip.says(case));
    }
    // That others arrived there is said in words.
    blame.places.retain(|other| other.location != place.location);
    blame.places.insert(1.min(blame.places.len()), place);
    skip.decision.is_some()
}

/// Agents that are missed on a barrier and passed by their arrival on it, though in other rounds they did
/// not, or all who are missed are needed.
pub(super) fn blame(case: &Case<'_>, barriers: &[u32]) -> Option<Blame> {
    let skips = Skips::of(case)?;
    for state in barriers.iter().filter_map(|barrier| case.state(*barrier)) {
        let could = skips.could_have_come(state);
        let are_needed = case.needed(state) as usize >= could.len();
        let all = could.into_iter().filter_map(|agent| Some((agent, skips.one(agent, state.barrier)?)));
        let is_meant =
            |(agent, skip): &(u32, Skip<'_>)| are_needed || skips.goes_both_ways(*agent, state.barrier, skip);
        let all: Vec<(u32, Skip<'_>)> = all.filter(is_meant).collect();
        let Some((_, first)) = all.first() else { continue };
        let alike = all.iter().filter(|(_, skip)| skip.is_like(first));
        let who: Vec<u32> = alike.map(|(agent, _)| *agent).collect();
        return skips.by(&who, state.barrier).map(|skip| on(case, state, &who, &skip));
    }
    None
}

fn on(case: &Case<'_>, state: &BarrierState, who: &[u32], skip: &Skip<'_>) -> Blame {
    let (names, on) = (case.agents(who), case.barrier(state.barrier));
    let made = |agent: &u32| {
        let own = case.trace.steps.iter().filter(|step| step.agent == *agent);
        own.filter(|step| arrives(step, state.barrier)).count()
    };
    let each = if who.len() > 1 { " each" } else { "" };
    let after = match names::distinct(who.iter().map(made)).as_slice() {
        [0] => format!(", before any arrival on {on}"),
        [1] => format!(", after 1 arrival on {on}{each}"),
        [made] => format!(", after {made} arrivals on {on}{each}"),
        _ => String::new(),
    };
    let others = format!(
        "Either {names} should have arrived there, or {} should not wait on {on} once more.",
        case.agents(&state.waiting)
    );
    Blame {
        agents: who.to_vec(),
        says: format!("{names} {}{after}", skip.says(case)),
        barrier: state.barrier,
        others: sentence(&others),
        places: vec![skip.place(who)],
    }
}

/// The way that a decision between two went.
fn decided(step: &Step) -> Option<bool> {
    step.events.iter().find_map(|event| match event {
        Event::Decided { value: 0 } => Some(false),
        Event::Decided { value: 1 } => Some(true),
        _ => None,
    })
}

fn condition(step: &Step) -> &str {
    step.instruction.trim_start_matches("if ").trim()
}

/// The arrival that stands alone in a block where nobody has come yet, if it may be on the barrier.
fn lone_arrival(text: &str, case: &Case<'_>, barrier: u32) -> Option<String> {
    let instruction = text.trim().trim_end_matches(';').trim();
    let is_alone = !instruction.contains(['{', ';']);
    let arrives = ARRIVES.iter().any(|word| instruction.contains(word)) && !instruction.contains("wait");
    let operands = instruction.split_once(' ').map_or("", |(_, operands)| operands);
    let operand = operands.split(',').next().unwrap_or_default().trim();
    let may_be = match operand.parse::<u32>() {
        Ok(number) => number == barrier && !is_object(case.trace, barrier),
        Err(_) => !is_object(case.trace, barrier) || base(operand) == base(&case.barrier(barrier)),
    };
    (is_alone && arrives && may_be).then(|| instruction.to_owned())
}

/// The name of an object, or of the array that it is in.
fn base(name: &str) -> &str {
    name.split(['[', ' ']).next().unwrap_or_default()
}
