//! Chrome's trace events: against a schema, and against what a schema cannot say.

use crate::{TRACES, converted, hostile};
use barcheck_counterexamples::trace::{Event, Step};
use barcheck_counterexamples::{Format, Trace};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let schema =
        serde_json::from_str(include_str!("../schema/trace-event.json")).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is one")
});

type Track = (u64, u64);

fn number(event: &Value, key: &str) -> u64 {
    event[key].as_u64().unwrap_or_else(|| panic!("{key} in {event}"))
}

fn track(event: &Value) -> Track {
    (number(event, "pid"), number(event, "tid"))
}

/// What follows the schema, by phase.
fn events(name: &str, trace: &Trace) -> BTreeMap<String, Vec<Value>> {
    let file: Value = serde_json::from_str(&converted(trace, Format::Perfetto)).expect("it is JSON");
    let errors: Vec<_> = SCHEMA.iter_errors(&file).map(|e| format!("{}: {e}", e.instance_path())).collect();
    assert!(errors.is_empty(), "{name}: {errors:#?}");
    assert!(file["otherData"]["time"].as_str().is_some_and(|told| told.starts_with("logical")));
    let mut events: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in file["traceEvents"].as_array().expect("a list") {
        events.entry(event["ph"].as_str().expect("text").to_owned()).or_default().push(event.clone());
    }
    events
}

fn holds(name: &str, trace: &Trace) {
    let events = events(name, trace);
    let of = |phase: &str| events.get(phase).map_or(&[][..], Vec::as_slice);
    // Every track has a name, and slices on one are within each other or apart.
    let named: BTreeSet<Track> = of("M").iter().filter(|e| e["name"] == "thread_name").map(track).collect();
    let mut slices: BTreeMap<Track, Vec<(u64, u64)>> = BTreeMap::new();
    for slice in of("X") {
        assert!(named.contains(&track(slice)), "{name}: {slice}");
        let from = number(slice, "ts");
        slices.entry(track(slice)).or_default().push((from, from + number(slice, "dur")));
    }
    for all in slices.values_mut() {
        all.sort_by_key(|(from, to)| (*from, std::cmp::Reverse(*to)));
        let mut open: Vec<u64> = Vec::new();
        for (from, to) in all {
            open.retain(|end| end > from);
            assert!(open.iter().all(|end| *to <= *end), "{name}: slices overlap");
            open.push(*to);
        }
    }
    // Every flow has both ends, each within a slice.
    let begun = |e: &&Value| e["cat"] == "flight";
    let key = |e: &Value| (e["cat"].as_str().expect("text").to_owned(), number(e, "id"));
    let flows = |phase: &str| of(phase).iter().map(|e| (key(e), e.clone())).collect::<BTreeMap<_, _>>();
    let (starts, ends) = (flows("s"), flows("f"));
    assert!(ends.keys().all(|id| starts.contains_key(id)));
    assert_eq!((starts.len(), ends.len()), (of("s").len(), of("f").len()));
    // What never lands has no end.
    let issued = trace.steps.iter().flat_map(|step| &step.events);
    let issued = issued.filter(|event| matches!(event, Event::Issued { .. })).count();
    let landed = trace.steps.iter().filter(|step| step.choice.lands).count();
    assert_eq!(of("s").iter().filter(begun).count(), issued, "{name}");
    assert_eq!(of("f").iter().filter(begun).count(), landed, "{name}");
    assert_eq!((of("b").len(), of("e").len()), (issued, landed), "{name}");
    for (id, end) in &ends {
        let start = &starts[id];
        assert!(number(start, "ts") < number(end, "ts") && track(start) != track(end));
        assert_eq!((&start["cat"], &start["name"]), (&end["cat"], &end["name"]));
        for event in [start, end] {
            let at = number(event, "ts");
            let within = slices[&track(event)].iter().any(|(from, to)| *from <= at && at < *to);
            assert!(within, "{name}: {event} binds to no slice");
        }
    }
    let steps = of("X").iter().filter(|slice| slice["cat"] == "step").count();
    assert_eq!(steps, trace.steps.len());
    let told: usize =
        trace.steps.iter().map(|step| step.events.iter().map(|e| others(step, e)).sum::<usize>()).sum();
    assert_eq!(starts.len() - issued, told, "{name}");
    let changes = || trace.steps.iter().flat_map(|step| &step.changes.barriers);
    let counts: BTreeSet<u32> =
        changes().filter(|state| !state.counts.is_empty()).map(|b| b.barrier).collect();
    let counted = changes().filter(|state| counts.contains(&state.barrier)).count();
    assert_eq!(of("C").len(), counted, "{name}");
    assert_eq!(of("i").len(), 1);
    let complete =
        trace.steps.iter().flat_map(|step| &step.events).filter(|e| matches!(e, Event::Completed { .. }));
    let bands = of("X").iter().filter(|slice| slice["cat"] == "generation" || slice["cat"] == "phase");
    let bands = bands.filter(|slice| slice["args"]["complete"] == true);
    assert_eq!(bands.count(), complete.count(), "{name}");
}

/// Whom else an event lets go on; what lands is nobody's step.
fn others(step: &Step, event: &Event) -> usize {
    match event {
        Event::Released { agents, .. } | Event::Notified { agents, .. } => {
            agents.iter().filter(|agent| step.choice.lands || **agent != step.agent).count()
        }
        _ => 0,
    }
}

#[test]
fn trace_events_follow_their_schema_and_bind_as_they_should() {
    for (name, trace) in TRACES.iter() {
        holds(name, trace);
    }
}

#[test]
fn whoever_is_blocked_has_a_slice_until_released_or_to_the_end() {
    for (name, trace) in TRACES.iter() {
        let events = events(name, trace);
        let slices = events.get("X").map_or(&[][..], Vec::as_slice);
        let blocked = slices.iter().filter(|slice| slice["cat"] == "blocked");
        let to_the_end = blocked.filter(|slice| slice["args"]["released"] == false).count();
        let end = trace.last_situation();
        assert_eq!(to_the_end, end.with(barcheck_counterexamples::trace::Status::Blocked).len(), "{name}");
    }
}

#[test]
fn hostile_names_break_no_trace_event() {
    for (name, trace) in hostile() {
        holds(&name, &trace);
    }
}
