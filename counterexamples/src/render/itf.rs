//! The Informal Trace Format (Apalache, ADR 015): every state whole, in values that name their kind.
//!
//! State 0 is the initial one, state n the one after n steps. A loop leads from the last state to the one
//! after the first step of the cycle, which is the state that making this step again leads to.

use serde_json::{Map, Value, json};

use super::error::{ConvertError, MOST_BYTES};
use crate::names;
use crate::render::events;
use crate::trace::{AgentState, Awaits, BarrierState, Count, Event, Situation, Status, Step, Trace};

/// Where there is no agent, barrier, generation or line.
const NONE: i64 = -1;

const VARIABLES: [&str; 6] = ["step", "actor", "instruction", "events", "agents", "barriers"];

pub(super) fn itf(trace: &Trace, warning: Option<&str>) -> Result<String, ConvertError> {
    let mut head =
        Map::from_iter([("#meta".to_owned(), meta(trace, warning)), ("vars".to_owned(), json!(VARIABLES))]);
    if let Some(from) = trace.outcome.cycle_from {
        head.insert("loop".to_owned(), json!(from + 1));
    }
    // States are written one by one: all of them together may be much longer than the trace.
    let mut whole = serde_json::to_string(&head)?;
    whole.pop();
    whole.push_str(",\"states\":[");
    let mut situation = trace.situation(0);
    whole.push_str(&state(trace, None, &situation).to_string());
    for step in &trace.steps {
        situation.apply(&step.changes);
        whole.push(',');
        whole.push_str(&state(trace, Some(step), &situation).to_string());
        if whole.len() > MOST_BYTES {
            return Err(ConvertError::TooLarge);
        }
    }
    Ok(whole + "]}\n")
}

fn meta(trace: &Trace, warning: Option<&str>) -> Value {
    let mut meta = json!({
        "format": "ITF",
        "format-description": "https://apalache-mc.org/docs/adr/015adr-trace.html",
        "source": names::file(trace),
        "description": trace.outcome.headline,
        "status": trace.outcome.kind,
        "target": trace.protocol.target,
        "reading": "State 0 is the initial one; `actor` has executed `instruction` to get to a state. -1 is \
         none, and generations are counted from the beginning, round a loop too.",
    });
    // Readers expect no value but text here.
    if let Some(rule) = &trace.outcome.rule {
        meta["rule"] = json!(rule);
    }
    if let Some(warning) = warning {
        meta["warning"] = json!(warning);
    }
    meta
}

fn state(trace: &Trace, step: Option<&Step>, now: &Situation) -> Value {
    let events = step.map_or(&[][..], |step| &step.events);
    let agents = now.agents.values().map(|agent| json!([int(agent.agent), self::agent(agent)]));
    let idle = |barrier: u32| BarrierState {
        barrier,
        generation: 0,
        active: false,
        all: false,
        class: None,
        counts: Vec::new(),
        arrived: Vec::new(),
        waiting: Vec::new(),
        missing: Vec::new(),
        notified: Vec::new(),
    };
    // Those that are still as they were in the beginning are there too: the domain is the same in every
    // state.
    let mut barriers = now.barriers.clone();
    for known in &trace.barriers {
        barriers.entry(known.barrier).or_insert_with(|| idle(known.barrier));
    }
    let barriers = barriers.values().map(|state| json!([int(state.barrier), barrier(state)]));
    let index = step.map_or(0, |step| step.index + 1);
    json!({
        "#meta": { "index": index },
        "step": int(index as u64),
        "actor": step.map_or(int(NONE), |step| int(step.agent)),
        "instruction": step.map_or("", |step| step.resolved.as_str()),
        "events": events.iter().map(|happened| event(trace, happened)).collect::<Vec<_>>(),
        "agents": { "#map": agents.collect::<Vec<_>>() },
        "barriers": { "#map": barriers.collect::<Vec<_>>() },
    })
}

fn agent(state: &AgentState) -> Value {
    let place = state.location.unwrap_or_default();
    let awaits = state.waits.map_or("", |waits| match waits.awaits {
        Awaits::Agents => "agents",
        Awaits::Lanes => "lanes",
    });
    json!({
        "status": match state.status {
            Status::Running => "running",
            Status::Blocked => "blocked",
            Status::Exited => "exited",
            Status::Failed => "failed",
        },
        "line": int(place.line),
        "column": int(place.column),
        "instruction": state.instruction,
        "waits": state.waits.map_or(int(NONE), |waits| int(waits.barrier)),
        "awaits": awaits,
        "notified": set(&state.notified),
    })
}

fn barrier(state: &BarrierState) -> Value {
    let count = |count: &Count| {
        let (arrived, expected) = (int(count.arrived), int(count.expected));
        json!({ "of": count.of, "arrived": arrived, "expected": expected })
    };
    json!({
        "generation": int(state.generation),
        "active": state.active,
        "all": state.all,
        "class": state.class.as_deref().unwrap_or(""),
        "counts": state.counts.iter().map(count).collect::<Vec<_>>(),
        "arrived": set(&state.arrived),
        "waiting": set(&state.waiting),
        "missing": set(&state.missing),
        "notified": set(&state.notified),
    })
}

/// All events have the same fields, as elements of one sequence should.
fn event(trace: &Trace, event: &Event) -> Value {
    let (kind, barrier, generation, agents): (_, _, _, &[u32]) = match event {
        Event::Parked { barrier } => ("parked", Some(*barrier), None, &[]),
        Event::Arrived { barrier } => ("arrived", Some(*barrier), None, &[]),
        Event::Blocked { barrier } => ("blocked", Some(*barrier), None, &[]),
        Event::Passed { barrier } => ("passed", Some(*barrier), None, &[]),
        Event::Completed { barrier, generation, .. } => ("completed", Some(*barrier), Some(*generation), &[]),
        Event::Released { barrier, agents } => ("released", Some(*barrier), None, agents),
        Event::Notified { barrier, agents } => ("notified", Some(*barrier), None, agents),
        Event::Asked { barrier, .. } => ("asked", Some(*barrier), None, &[]),
        Event::Counted { barrier } => ("counted", Some(*barrier), None, &[]),
        Event::Begun { barrier } => ("begun", Some(*barrier), None, &[]),
        Event::Issued { barrier, .. } => ("issued", Some(*barrier), None, &[]),
        Event::Landed { barrier } => ("landed", Some(*barrier), None, &[]),
        Event::LanesExited { .. } => ("lanes_exited", None, None, &[]),
        Event::Exited {} => ("exited", None, None, &[]),
        Event::Accessed { .. } => ("accessed", None, None, &[]),
        Event::Decided { .. } => ("decided", None, None, &[]),
        Event::Fenced {} => ("fenced", None, None, &[]),
        Event::StateMoved {} => ("state_moved", None, None, &[]),
        Event::Spun {} => ("spun", None, None, &[]),
        Event::Violated { barrier, agents, .. } => ("violated", *barrier, None, agents),
        Event::Failed { .. } => ("failed", None, None, &[]),
        Event::Cut { .. } => ("cut", None, None, &[]),
    };
    json!({
        "kind": kind,
        "barrier": barrier.map_or(int(NONE), int),
        "generation": generation.map_or(int(NONE), int),
        "agents": set(agents),
        "words": events::in_words(trace, event),
    })
}

fn int(number: impl std::fmt::Display) -> Value {
    json!({ "#bigint": number.to_string() })
}

fn set(numbers: &[u32]) -> Value {
    json!({ "#set": numbers.iter().map(int).collect::<Vec<_>>() })
}
