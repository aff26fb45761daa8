//! A trace along its time.

mod common;

use barcheck_counterexamples::trace::{Event, Status};
use barcheck_counterexamples::{Act, Change, Kind, Timeline, Trace, conflict};
use barcheck_model::rule::Rule;

#[test]
fn states_are_those_that_the_steps_add_up_to() {
    for trace in
        [common::trace_of(&common::deadlock(), Rule::Deadlock), common::lasso_trace(&common::lasso())]
    {
        let timeline = Timeline::of(&trace);
        for time in 0..=timeline.last() {
            let situation = trace.situation(time);
            for agent in &trace.agents {
                assert_eq!(timeline.agent(agent.index, time), situation.agents.get(&agent.index));
            }
            for barrier in timeline.barriers() {
                assert_eq!(timeline.barrier(barrier, time), situation.barriers.get(&barrier));
            }
        }
    }
}

#[test]
fn generations_go_from_the_first_arrival_to_the_completion() {
    let trace = common::trace_of(&common::deadlock(), Rule::Deadlock);
    let timeline = Timeline::of(&trace);
    assert_eq!(timeline.barriers().collect::<Vec<_>>(), [1, 2]);
    let [open] = timeline.generations(1) else { panic!("one that is not complete") };
    assert_eq!((open.begins(), open.completed, open.arrivals.len()), (1, None, 3));
    let [complete] = timeline.generations(2) else { panic!("one that is complete") };
    assert_eq!((complete.begins(), complete.completed, complete.generation), (4, Some(4), 1));
    assert_eq!(timeline.generations_within(2, 0, 3), []);
    assert_eq!(timeline.generations_within(2, 4, 4).len(), 1);
    assert_eq!(timeline.generations_within(2, 5, 5), []);
    assert_eq!(timeline.generations_within(1, 5, 5).len(), 1, "it is not complete");
}

#[test]
fn steps_are_called_by_what_weighs_most_and_found_again() {
    let trace = common::trace_of(&common::deadlock(), Rule::Deadlock);
    let timeline = Timeline::of(&trace);
    let act = |time| timeline.act(timeline.step(time).expect("there is such a step"));
    // At step 4 a rule is violated that the trace is not about.
    assert!(trace.steps[3].events.iter().any(|event| matches!(event, Event::Violated { .. })));
    assert_eq!([1, 3, 4, 5].map(act), [Act::Blocks, Act::Blocks, Act::Completes, Act::Exits]);
    assert_eq!(timeline.violation(), 5, "a deadlock is in the state at the end");
    assert_eq!(timeline.seek(0, false, |_, step| step.is(Kind::Exits)), Some(5));
    assert_eq!(timeline.seek(5, true, |_, step| step.touches_barrier(1)), Some(3));
    assert_eq!(timeline.seek(3, false, |_, step| step.touches_agent(0)), None);
    assert_eq!(timeline.seek(usize::MAX - 1, false, |_, _| true), None);
}

#[test]
fn a_step_changes_what_differs_and_nothing_else() {
    let trace = common::trace_of(&common::deadlock(), Rule::Deadlock);
    let timeline = Timeline::of(&trace);
    assert_eq!(timeline.changes(0), []);
    let change = |what: &str, before: &str, after: &str| Change {
        what: what.to_owned(),
        before: before.to_owned(),
        after: after.to_owned(),
    };
    let changes = timeline.changes(1);
    assert!(changes.contains(&change("barrier 1", "idle", "32/128")), "{changes:?}");
    assert!(changes.contains(&change("barrier 1, class", "none", "plain")), "{changes:?}");
    assert!(
        changes.iter().any(|c| c.what == "warp 0" && c.after == "blocked on b1 at line 11"),
        "{changes:?}"
    );
    assert!(!changes.iter().any(|c| c.what.contains("warp 1") || c.before == c.after), "{changes:?}");
}

#[test]
fn those_that_wait_alike_wait_together_for_those_that_are_missing() {
    let trace = common::trace_of(&common::deadlock(), Rule::Deadlock);
    let timeline = Timeline::of(&trace);
    assert!(timeline.waiting(0).waiters.is_empty(), "nobody waits in the beginning");
    let waiting = timeline.waiting(timeline.last());
    let [together, gone] = waiting.waiters.as_slice() else { panic!("{waiting:?}") };
    assert_eq!((together.agents.as_slice(), together.status), ([0, 1, 2].as_slice(), Status::Blocked));
    assert_eq!((gone.agents.as_slice(), gone.status), ([3].as_slice(), Status::Exited));
    assert_eq!(waiting.edges, [(0, 1, false)]);
    assert!(conflict(&trace).is_none());
}

#[test]
fn objects_of_a_cluster_have_phases_and_short_names_that_begin_with_their_cta() {
    let text = include_str!("../gallery/ptx/cluster_multi_cta_count_broken.json");
    let trace = Trace::from_json(text).expect("a trace");
    let timeline = Timeline::of(&trace);
    let names: Vec<String> = timeline.objects().map(|(object, _)| timeline.barrier_short(object)).collect();
    assert_eq!(names, ["c0.full", "c0.empty", "c1.full"]);
}
