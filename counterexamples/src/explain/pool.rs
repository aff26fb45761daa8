//! Agents that wait for registers while all others wait for them.

use super::case::{Case, is_pool, verb};
use super::culprit::Blame;
use super::place::{Did, Place, Remark};
use super::waiters::Waiters;
use crate::names;
use crate::trace::{Awaits, Event, Status, Step};
use std::collections::BTreeMap;

/// The instruction by which an agent changes how many registers it has.
const CHANGES: &str = "setmaxnreg";

/// That the pool is to blame: whoever waits elsewhere waits for those alone who wait for registers.
pub(super) fn of(case: &Case<'_>, groups: &[Waiters]) -> Option<Blame> {
    let pool = groups.iter().find(|group| case.state(group.barrier).is_some_and(is_pool))?;
    // Who waits and would give some is a part of a circle.
    let gives = |agent: &u32| case.end.status(*agent) != Status::Exited;
    if case.state(pool.barrier)?.missing.iter().any(gives) {
        return None;
    }
    let others: Vec<&Waiters> = groups.iter().filter(|group| group.barrier != pool.barrier).collect();
    let waits_for_them = |group: &&Waiters| {
        let missing = case.state(group.barrier).map(|state| &state.missing[..]).unwrap_or_default();
        let is_theirs = !missing.is_empty() && missing.iter().all(|agent| pool.agents.contains(agent));
        group.awaits == Awaits::Agents && is_theirs
    };
    if others.is_empty() || !others.iter().all(waits_for_them) {
        return None;
    }
    let (who, on) = (case.agents(&pool.agents), case.barrier(pool.barrier));
    let of_others = names::distinct(others.iter().flat_map(|group| group.agents.iter().copied()));
    let (gets, waits) = (verb(&pool.agents, "gets", "get"), verb(&of_others, "waits", "wait"));
    let says = format!(
        "{who} {gets} no registers{}, and {} {waits} for {}",
        case.at(pool.location),
        case.agents(&of_others),
        verb(&pool.agents, "it", "them"),
    );
    let first = *pool.agents.first()?;
    let remark = Remark::Did(pool.agents.clone(), Did::Waits(on));
    let places = vec![Place { agent: first, location: pool.location, remark }];
    let sum = sum(case, pool.barrier, &pool.agents).unwrap_or_default();
    Some(Blame { agents: pool.agents.clone(), says, barrier: pool.barrier, others: sum, places })
}

/// What all want together, and what there is: `8 x 240 + 4 x 40`.
fn sum(case: &Case<'_>, pool: u32, waiting: &[u32]) -> Option<String> {
    if case.trace.is_excerpt() || case.trace.protocol.ctas != 1 {
        return None;
    }
    let count = case.state(pool)?.counts.iter().find(|count| count.of == "registers")?;
    let (free, lacks) = (u64::from(count.arrived), u64::from(count.expected));
    let mut has: BTreeMap<u32, u64> = BTreeMap::new();
    let mut wants: BTreeMap<u32, u64> = BTreeMap::new();
    for step in case.trace.steps.iter().filter(|step| concerns(step, pool)) {
        let to = registers(step)?;
        wants.insert(step.agent, to);
        if !step.events.iter().any(|event| matches!(event, Event::Blocked { .. })) {
            has.insert(step.agent, to);
        }
    }
    // Of who waits it is known what it lacks; all began with the same.
    let least =
        waiting.iter().filter_map(|agent| Some((*agent, *wants.get(agent)?))).min_by_key(|(_, to)| *to)?;
    let begins = least.1.checked_sub(lacks).filter(|_| !has.contains_key(&least.0))?;
    let all = || case.trace.agents.iter().map(|agent| agent.index);
    let there_is = free + all().map(|agent| has.get(&agent).copied().unwrap_or(begins)).sum::<u64>();
    let mut groups: BTreeMap<u64, u64> = BTreeMap::new();
    for agent in all() {
        *groups.entry(wants.get(&agent).copied().unwrap_or(begins)).or_default() += 1;
    }
    let wanted: u64 = groups.iter().map(|(each, many)| each * many).sum();
    let terms: Vec<String> = groups.iter().rev().map(|(each, many)| format!("{many} x {each}")).collect();
    let many = case.trace.agents.len();
    (wanted > there_is).then(|| {
        format!(
            "All {many} {}s together want {} = {wanted} registers for each of their threads, and there are \
             {there_is} ({many} x {begins}).",
            case.noun(),
            terms.join(" + ")
        )
    })
}

fn concerns(step: &Step, pool: u32) -> bool {
    step.instruction.contains(CHANGES)
        && step.events.iter().any(|event| match event {
            Event::Counted { barrier } | Event::Passed { barrier } | Event::Blocked { barrier } => {
                *barrier == pool
            }
            _ => false,
        })
}

/// The number of registers that an instruction names.
fn registers(step: &Step) -> Option<u64> {
    let text = step.resolved.trim_end_matches(';');
    text.rsplit(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty())?.parse().ok()
}
