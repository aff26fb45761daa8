//! What is drawn of a trace beside its steps: phases, what is in flight, and what the rule is about.

use barcheck_counterexamples::{Copied, Format, Phase, Timeline, Trace, conflict, convert};

/// A trace of the gallery.
fn gallery(name: &str) -> Trace {
    let path = format!("{}/gallery/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    Trace::from_json(&text).expect("a trace")
}

fn picture(name: &str, format: Format) -> String {
    convert(&gallery(name), format, None).expect("it can be drawn")
}

#[track_caller]
fn shows(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn phases_follow_one_another_and_the_last_stays_open() {
    let trace = gallery("ptx/mbarrier_stage_freed_early_broken");
    let timeline = Timeline::of(&trace);
    let named = |name: &str| trace.barriers.iter().find(|b| b.name == name).expect("an object").barrier;
    let phase = |number, begins, stirs, ends| Phase { number, begins, stirs, ends, complete: ends.is_some() };
    assert_eq!(
        timeline.phases(named("full[0]")),
        [phase(0, 0, Some(2), Some(10)), phase(1, 10, Some(13), None)]
    );
    assert_eq!(
        timeline.phases(named("empty[0]")),
        [phase(0, 0, Some(7), Some(12)), phase(1, 12, None, None)]
    );
    assert_eq!(timeline.phases(named("empty[1]")), [phase(0, 0, None, None)], "it has only been asked for");
    let numbered = gallery("ptx/deadlock_crossed_order");
    assert_eq!(Timeline::of(&numbered).objects().count(), 0, "barriers with numbers have generations");
}

#[test]
fn a_life_that_ends_ends_its_phase() {
    let trace = gallery("ptx/mbarrier_lifetime_broken");
    let timeline = Timeline::of(&trace);
    let (_, phases) = timeline.objects().next().expect("an object");
    let ended = phases.iter().find(|phase| phase.ends.is_some() && !phase.complete).expect("one");
    let step = timeline.step(ended.ends.expect("a time")).expect("a step");
    assert!(step.resolved.starts_with("mbarrier.inval"), "{}", step.resolved);
}

#[test]
fn copies_are_in_flight_from_their_issue_to_their_landing() {
    let trace = gallery("ptx/mbarrier_missing_bytes_broken");
    let timeline = Timeline::of(&trace);
    let [first, second] = timeline.flights() else { panic!("two copies") };
    let times = |flight: &barcheck_counterexamples::Flight| (flight.issued, flight.landed, flight.bytes);
    assert_eq!(times(first), (Some(3), Some(10), Some(2048)));
    assert_eq!(times(second), (Some(6), Some(11), Some(2048)));
    assert_eq!((first.what.as_str(), first.writes.as_deref()), ("the copy of 2048 bytes", Some("buf[0]")));
    let lost = gallery("ptx/mbarrier_stage_freed_early_broken");
    let lost = Timeline::of(&lost).flights().iter().filter(|flight| flight.landed.is_none()).count();
    assert_eq!(lost, 2);
    let stale = gallery("ptx/mbarrier_stale_completion");
    assert!(Timeline::of(&stale).flights().iter().any(|flight| flight.fails), "it must not land there");
}

#[test]
fn a_trace_need_not_say_what_is_issued() {
    let mut trace = gallery("ptx/mbarrier_missing_bytes_broken");
    for event in trace.steps.iter_mut().flat_map(|step| &mut step.events) {
        if let barcheck_counterexamples::trace::Event::Issued { bytes, writes, .. } = event {
            (*bytes, *writes) = (None, None);
        }
    }
    let text = trace.to_json().expect("it can be written");
    let read = Trace::from_json(&text).expect("it can be read");
    assert_eq!(Timeline::of(&read).flights().len(), 2);
}

#[test]
fn a_race_with_a_copy_knows_both_accesses() {
    let trace = gallery("ptx/mbarrier_stage_freed_early_broken");
    let found = conflict(&trace).expect("two accesses");
    assert_eq!((found.earlier.access, found.earlier.step), ("copy", Some(14)));
    assert!(matches!(found.earlier.copy, Some(Copied { landed: None, .. })));
    shows(
        &trace.outcome.explanation,
        &["began a copy to buf[0]", "Warp 1 arrived on empty[0]", "let warp 1 arrive after its read"],
    );
    let early = gallery("ptx/mbarrier_try_wait_once_broken");
    assert!(conflict(&early).is_some_and(|found| found.earlier.step.is_some()));
    for name in ["ptx/mbarrier_stage_freed_early_broken", "ptx/data_race_no_barrier"] {
        shows(&picture(name, Format::Svg), &["class=\"race\""]);
        shows(&picture(name, Format::Mermaid), &["no barrier orders the two"]);
        shows(&picture(name, Format::Dot), &["no barrier orders the two", "color=red"]);
    }
}

#[test]
fn for_an_arrival_race_those_who_stand_and_the_room_are_drawn() {
    let trace = gallery("bcu/arrival_race");
    let figure = Timeline::of(&trace).figure().expect("a figure");
    let room = figure.room.expect("room");
    assert_eq!((room.arrived, room.room, room.standing), (0, 2, 3));
    assert_eq!(figure.sides.iter().flat_map(|side| &side.agents).count(), 3);
    shows(
        &picture("bcu/arrival_race", Format::Svg),
        &["3 could come next", "b1: room for 2", "class=\"slot\""],
    );
    shows(&picture("bcu/arrival_race", Format::Mermaid), &["A2-)B1: could come next", "room for 2, 3 could"]);
    shows(&picture("bcu/arrival_race", Format::Dot), &["3 could come", "could arrive, room for 2"]);
}

#[test]
fn instances_of_a_barrier_stand_side_by_side_with_what_differs() {
    let name = "split_barrier/same_barrier_in_different_iterations";
    let figure = Timeline::of(&gallery(name)).figure().expect("a figure");
    let differs: Vec<_> = figure.sides.iter().flat_map(|side| &side.locals).collect();
    let told: Vec<_> = differs.iter().map(|local| (local.value.as_str(), local.differs)).collect();
    assert_eq!(told, [("0", true), ("1", true)]);
    assert!(figure.sides.last().is_some_and(|side| side.fails));
    shows(&picture(name, Format::Svg), &["i = 0", "i = 1", "class=\"side\""]);
    shows(&picture(name, Format::Mermaid), &["i = 0", "i = 1"]);
    shows(&picture(name, Format::Dot), &["i = 0", "i = 1"]);
}

#[test]
fn uses_that_do_not_go_together_are_drawn_with_where_they_came_from() {
    let steps = |name: &str| -> Vec<usize> {
        let trace = gallery(name);
        let figure = Timeline::of(&trace).figure().expect("a figure");
        figure.sides.iter().filter_map(|side| side.step).collect()
    };
    assert_eq!(steps("bcu/red_on_a_used_id"), [2, 3]);
    assert_eq!(steps("bcu/state_moved_to_another_id"), [2, 3, 4], "saved, put onto another, used");
    assert_eq!(steps("bcu/state_clobbered"), [1, 2, 3]);
    let moved = gallery("bcu/state_moved_to_another_id");
    shows(&moved.outcome.explanation, &["Its state is that of barrier 1: warp 1 saved it"]);
    assert_eq!(
        Timeline::of(&gallery("ptx/deadlock_crossed_order")).figure(),
        None,
        "waits are drawn otherwise"
    );
}

#[test]
fn phases_and_flights_are_in_every_picture() {
    let name = "ptx/mbarrier_stage_freed_early_broken";
    shows(
        &picture(name, Format::Svg),
        &["full[0]: phase 0, parity 0, complete at step 10", "never lands", "4096 B"],
    );
    shows(
        &picture(name, Format::Mermaid),
        &["the copy of 4096 bytes has not landed", "Note over B16: 10. lands"],
    );
    let perfetto = picture(name, Format::Perfetto);
    shows(
        &perfetto,
        &["full[0] phase 0", "full[0] phase 1: not complete", "copy of 4096 bytes to buf[0] for full[0]"],
    );
}
