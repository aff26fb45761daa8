//! What lands, in traces and pictures, and where a run is made by hand.

use barcheck::{Decision, Options, Settings, Source, decide};
use barcheck_counterexamples::{Format, SourceInfo, Standing, Trace, Walk, convert, replay};
use barcheck_model::machine::{self, Choice};
use barcheck_model::program::{AgentId, Program};
use barcheck_specs::{LoadOptions, load};
use std::sync::Arc;

const RACE: &str = "target toy;
thread_group 2;
shared x;
threads 0..2 { toy.sync 0, 2; write x; }
";

fn source(text: &str) -> Source<'_> {
    Source::new("toy.bar", text.as_bytes())
}

fn program(text: &str) -> Arc<Program> {
    Arc::new(load(&source(text), &LoadOptions::default()).expect("a protocol").program)
}

fn decided(text: &str) -> Decision {
    let settings = Settings { all: true, ..Settings::default() };
    decide(&source(text), &Options { settings, ..Options::default() })
}

fn only_trace(text: &str, rule: &str) -> Trace {
    let decision = decided(text);
    assert!(decision.defects.is_empty(), "{:?}", decision.defects);
    let mut found: Vec<_> = decision.findings.into_iter().filter(|it| it.rule.name() == rule).collect();
    assert_eq!(found.len(), 1, "{rule}");
    found.remove(0).trace
}

#[test]
fn a_trace_says_what_is_left_pending_and_where_it_lands() {
    let trace = only_trace(RACE, "data-race");
    let landing = trace.steps.iter().find(|step| step.choice.lands).expect("a landing");
    assert_eq!(landing.instruction, "toy.sync 0, 2");
    let text = serde_json::to_value(&trace).expect("a trace is JSON");
    let kinds: Vec<&str> = text["steps"][landing.index]["events"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|e| e["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["landed", "completed", "released"]);
    let issued = &text["steps"][landing.index - 1];
    assert!(issued["events"].as_array().expect("events").iter().any(|event| event["kind"] == "issued"));
    let pending = &issued["changes"]["agents"][0]["pending"];
    assert_eq!((&pending[0]["barrier"], pending.as_array().map(Vec::len)), (&0.into(), Some(1)));
    assert!(issued["choice"].get("lands").is_none(), "an agent's step does not speak of landings");
}

#[test]
fn a_trace_with_landings_is_read_again_and_replayed_and_another_order_is_not() {
    let mut trace = only_trace(RACE, "data-race");
    let text = serde_json::to_string(&trace).expect("a trace is JSON");
    assert_eq!(Trace::from_json(&text).expect("it can be read"), trace);
    let program = program(RACE);
    replay(&trace, program.clone()).expect("it is so");
    let landing = trace.steps.iter().position(|step| step.choice.lands).expect("a landing");
    trace.steps[landing].choice.index = 1;
    let departure = replay(&trace, program).expect_err("nothing else is pending").to_string();
    assert!(departure.contains("a landing, found 1 operations of thread"), "{departure}");
}

#[test]
fn every_picture_shows_a_landing() {
    let trace = only_trace(RACE, "data-race");
    for format in [Format::Text, Format::Svg, Format::Mermaid, Format::Perfetto, Format::Itf] {
        let picture = convert(&trace, format, None).expect("it can be converted");
        let says = ["landed", "lands on", "lands: "].into_iter().any(|word| picture.contains(word));
        assert!(says, "{}:\n{picture}", format.name());
    }
    // Who waits for whom in the end.
    assert!(convert(&trace, Format::Dot, None).is_ok());
}

#[test]
fn whoever_makes_a_run_by_hand_says_when_something_lands() {
    let text = "target toy; thread_group 1; thread 0 { toy.arrive 0, 1; }";
    let program = program(text);
    let mut walk = Walk::new(program, machine::Options::default(), SourceInfo::default(), None);
    let thread = AgentId(0);
    walk.step(Choice::of(thread, 0, 0)).expect("it arrives");
    let next = walk.next(8);
    let lands: Vec<bool> = next.possible.iter().map(|possible| possible.step.choice.lands).collect();
    assert_eq!(lands, [false, true], "the thread can exit, or the delivery land");
    walk.step(Choice::of(thread, 0, 0)).expect("it exits");
    assert_eq!(walk.standing(), Standing::Open, "something is pending yet");
    let landing = walk.first(thread).expect("the delivery");
    assert_eq!(landing, Choice::landing(thread, 0));
    assert!(!walk.decides(landing));
    walk.step(landing).expect("it lands");
    assert_eq!(walk.standing(), Standing::Finished);
    assert!(walk.step(landing).is_err(), "it lands once");
    walk.take_back(2).expect("the landing is taken back");
    assert_eq!(walk.first(thread), Some(landing));
}

/// There is no model of it in another language, and no executable barrier: that is said.
#[test]
fn what_nobody_has_written_for_a_system_is_refused_by_name() {
    let program = program(RACE);
    let levels = barcheck::Levels::default();
    for language in [barcheck_export::Language::Promela, barcheck_export::Language::Tla] {
        let refused = barcheck_export::export(
            program.clone(),
            machine::Options::default(),
            &levels,
            ("toy", "toy"),
            language,
            &barcheck::Patience::default(),
        );
        assert_eq!(
            refused.expect_err("no model").to_string(),
            "there are no exported models of toy barriers yet"
        );
    }
}
