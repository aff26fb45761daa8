//! ITF, read by the crate `itf`.

use crate::{TRACES, converted, hostile};
use barcheck_counterexamples::{ConvertError, Format, Trace, convert};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Deserialize)]
struct State {
    step: i64,
    actor: i64,
    instruction: String,
    events: Vec<Event>,
    agents: BTreeMap<i64, Agent>,
    barriers: BTreeMap<i64, Barrier>,
}

#[derive(Debug, Deserialize)]
struct Event {
    kind: String,
    barrier: i64,
    generation: i64,
    agents: BTreeSet<i64>,
    words: String,
}

#[derive(Debug, Deserialize)]
struct Agent {
    status: String,
    line: i64,
    column: i64,
    instruction: String,
    waits: i64,
    awaits: String,
    notified: BTreeSet<i64>,
}

#[derive(Debug, Deserialize)]
struct Barrier {
    generation: i64,
    active: bool,
    all: bool,
    class: String,
    counts: Vec<Count>,
    arrived: BTreeSet<i64>,
    waiting: BTreeSet<i64>,
    missing: BTreeSet<i64>,
    notified: BTreeSet<i64>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Count {
    of: String,
    arrived: i64,
    expected: i64,
}

fn set(numbers: &[u32]) -> BTreeSet<i64> {
    numbers.iter().map(|number| i64::from(*number)).collect()
}

/// What a reader gets is what the trace says, value by value.
fn agrees(name: &str, trace: &Trace) {
    let read: itf::Trace<State> =
        itf::trace_from_str(&converted(trace, Format::Itf)).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(read.meta.format.as_deref(), Some("ITF"));
    assert_eq!(read.meta.description.as_deref(), Some(trace.outcome.headline.as_str()));
    assert_eq!(read.vars, ["step", "actor", "instruction", "events", "agents", "barriers"]);
    assert_eq!(read.loop_index, trace.outcome.cycle_from.map(|from| from as u64 + 1), "{name}");
    assert_eq!(read.states.len(), trace.steps.len() + 1);
    for (index, state) in read.states.iter().enumerate() {
        assert_eq!(state.meta.index, Some(index as u64));
        let (state, expected) = (&state.value, trace.situation(index));
        assert_eq!(state.step, i64::try_from(index).expect("small"));
        if let Some(step) = index.checked_sub(1).map(|index| &trace.steps[index]) {
            assert_eq!(state.actor, i64::from(step.agent));
            assert_eq!(state.instruction, step.resolved);
            assert_eq!(state.events.len(), step.events.len());
            for (event, expected) in state.events.iter().zip(&step.events) {
                let json = serde_json::to_value(expected).expect("an event is JSON");
                assert_eq!(json["kind"], event.kind.as_str(), "{name}");
                assert_eq!(json["barrier"].as_i64().unwrap_or(-1), event.barrier);
                assert_eq!(json["generation"].as_i64().unwrap_or(-1), event.generation);
                let agents =
                    json["agents"].as_array().into_iter().flatten().filter_map(|agent| agent.as_i64());
                assert_eq!(agents.collect::<BTreeSet<_>>(), event.agents);
                assert!(!event.words.is_empty() || trace.outcome.headline.is_empty());
            }
        } else {
            assert_eq!((state.actor, state.instruction.as_str(), state.events.len()), (-1, "", 0));
        }
        assert_eq!(state.agents.len(), trace.agents.len());
        for (number, agent) in &expected.agents {
            let found = &state.agents[&i64::from(*number)];
            let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            assert_eq!(found.status, word(serde_json::to_value(agent.status).expect("a word")));
            let place = agent.location.unwrap_or_default();
            assert_eq!((found.line, found.column), (i64::from(place.line), i64::from(place.column)));
            assert_eq!(found.instruction, agent.instruction);
            assert_eq!(found.waits, agent.waits.map_or(-1, |waits| i64::from(waits.barrier)));
            let awaits = agent.waits.map(|waits| word(serde_json::to_value(waits.awaits).expect("a word")));
            assert_eq!(found.awaits, awaits.unwrap_or_default());
            assert_eq!(found.notified, set(&agent.notified));
        }
        let all: BTreeSet<i64> = trace.barriers.iter().map(|barrier| i64::from(barrier.barrier)).collect();
        assert_eq!(state.barriers.keys().copied().collect::<BTreeSet<_>>(), all, "{name}");
        for (number, found) in &state.barriers {
            let number = u32::try_from(*number).expect("small");
            let Some(barrier) = expected.barriers.get(&number) else {
                assert!(!found.active && found.generation == 0 && found.arrived.is_empty());
                continue;
            };
            assert_eq!(found.generation, i64::from(barrier.generation));
            assert_eq!((found.active, found.all), (barrier.active, barrier.all));
            assert_eq!(found.class, barrier.class.clone().unwrap_or_default());
            let counts = barrier.counts.iter().map(|count| Count {
                of: count.of.clone(),
                arrived: count.arrived.into(),
                expected: count.expected.into(),
            });
            assert_eq!(found.counts, counts.collect::<Vec<_>>());
            assert_eq!(
                [&found.arrived, &found.waiting, &found.missing, &found.notified],
                [&barrier.arrived, &barrier.waiting, &barrier.missing, &barrier.notified]
                    .map(|a| set(a))
                    .each_ref()
            );
        }
    }
}

#[test]
fn a_reader_of_itf_gets_every_value_of_every_state() {
    for (name, trace) in TRACES.iter() {
        agrees(name, trace);
    }
}

#[test]
fn hostile_names_come_through_itf_as_what_they_are() {
    for (name, trace) in hostile() {
        agrees(&name, &trace);
    }
}

#[test]
fn a_loop_leads_to_what_its_first_step_leads_to() {
    let (_, trace) =
        TRACES.iter().find(|(_, trace)| trace.outcome.cycle_from.is_some()).expect("there is one");
    let read: itf::Trace<State> = itf::trace_from_str(&converted(trace, Format::Itf)).expect("it is ITF");
    let first = usize::try_from(read.loop_index.expect("a loop")).expect("small");
    // The loop goes from the last state to its first one by the cycle's first step; agents are then where
    // they were.
    let before = &read.states[first - 1].value;
    let last = &read.states.last().expect("a state").value;
    let place =
        |state: &State| state.agents.values().map(|agent| (agent.line, agent.waits)).collect::<Vec<_>>();
    assert_eq!(place(before), place(last));
}

#[test]
fn a_trace_that_would_grow_beyond_measure_is_refused() {
    let with_steps = TRACES.iter().filter(|(_, trace)| !trace.steps.is_empty());
    let (_, trace) = with_steps.max_by_key(|(_, trace)| trace.agents.len()).expect("there is one");
    let mut long = trace.clone();
    // Each state takes more than a hundred bytes for each agent.
    let steps = (128 << 20) / 100 / trace.agents.len();
    let step = long.steps[0].clone();
    long.steps =
        (0..steps).map(|index| barcheck_counterexamples::trace::Step { index, ..step.clone() }).collect();
    let error = convert(&long, Format::Itf, None).expect_err("it is too large");
    assert_eq!(error, ConvertError::TooLarge);
    assert!(error.to_string().contains("too large"), "{error}");
}
