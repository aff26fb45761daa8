//! Narratives, whole.

mod common;

use barcheck_counterexamples::{Style, labels, narrative};
use barcheck_model::rule::Rule;

const ASCII: Style = Style { colour: false, width: 90, unicode: false, headline: true, all: false };

fn check(found: &str, expected: &str) {
    assert!(found == expected, "found:\n{found}\nexpected:\n{expected}");
}

#[test]
fn a_deadlock() {
    let trace = common::trace_of(&common::deadlock(), Rule::Deadlock);
    check(
        &narrative(&trace, &ASCII),
        "deadlock: warp 3 exited without arriving on barrier 1; warps 0-2 wait on barrier 1 (96 of
128 threads arrived)

why
  Warp 3 exited at ring.bar:22 without arriving on barrier 1.
  No warp can take another step: 1 of 4 exited, the others wait.
  Warps 0-2 wait at ring.bar:11 (`bar.sync 1, 128`) on barrier 1: 96 of 128 threads have
    arrived (warps 0-2).
  Not arrived: warp 3, which exited without arriving.
  An exit does not count as an arrival on a barrier with an explicit count.

examples/ring.bar: ptx, 4 warps, ROUNDS = 4; 5 steps
worker: warps 0-2; absent: warp 3

step  line w0-2 w3  instruction       after it
 1-3    11   #   .  bar.sync 1, 128   b1 96/128
   4    21   |   *  bar.arrive 2, 32  nobody-waits  b2 complete #1
   5    22   |   x  exit
     * goes on   # blocks   | blocked   x exits

in the end
  warps 0-2  blocked  line 11  bar.sync 1, 128: waits for b1 (96/128)
  warp 3     exited

barriers in use
  b1  96/128 threads; arrived: warps 0-2; waiting: warps 0-2; missing: warp 3; no
      generation complete so far
",
    );
}

#[test]
fn a_lasso() {
    let trace = common::lasso_trace(&common::lasso());
    check(
        &narrative(&trace, &ASCII),
        "stuck-agent: warp 0 waits on barrier 1 (32 of 64 threads arrived) for ever, while warp 1
goes on in a cycle; no warp is left that could arrive: 32 < 64 threads

why
  Warp 1 repeats the same step over and over; nothing that can still happen releases
    warp 0.
  Warp 0 waits at ring.bar:11 (`bar.sync 1, 64`) on barrier 1: 32 of 64 threads have
    arrived (warp 0).
  1 more warp would have to arrive, but none is left that could: the count cannot be
    reached.
  The group never stops, so a time-out or a watchdog sees activity: the hang hides
    behind the loop.

examples/ring.bar: ptx, 2 warps, ROUNDS = 4; 3 steps
waiting: warp 0; looping: warp 1

step  line w0 w1  instruction     after it
   1    11  #  .  bar.sync 1, 64  b1 32/64
   2    22  |  *  atomic x
-- from here on, again and again ---------------------------------------
   3    22  |  *  atomic x
-- back to step 3 ------------------------------------------------------
     * goes on   # blocks   | blocked

in the end
  warp 0  blocked      line 11  bar.sync 1, 64: waits for b1 (32/64)
  warp 1  could go on  line 22  atomic x

barriers in use
  b1  32/64 threads; arrived: warp 0; waiting: warp 0; nobody is left that could arrive;
      no generation complete so far
",
    );
}

#[test]
fn the_middle_of_a_long_run_is_left_out() {
    use barcheck_model::program::{AccessKind, Target};
    let mut busy = common::block("busy");
    for _ in 0..60 {
        busy = busy.access(AccessKind::Write, "write x");
    }
    let program = common::protocol(
        Target::Ptx,
        vec![(1, busy.sync(1, 64)), (1, common::block("absent").arrive(2, 32))],
    );
    let trace = common::trace_of(&program, Rule::Deadlock);
    let short = narrative(&trace, &ASCII);
    assert!(short.contains("steps left out"), "{short}");
    let whole = narrative(&trace, &Style { all: true, ..ASCII });
    assert!(!whole.contains("steps left out") && whole.lines().count() > short.lines().count());
}

#[test]
fn agents_that_are_alike_share_a_column_and_unfolded_those_concerned_have_one() {
    use barcheck_model::program::Target;
    let program = common::protocol(
        Target::Ptx,
        vec![(31, common::block("worker").sync(1, 1024)), (1, common::block("absent"))],
    );
    // The search would visit every subset of the workers.
    let step = |agent| barcheck_model::machine::Choice::of(barcheck_model::program::AgentId(agent), 0, 0);
    let path = barcheck_model::machine::Path { steps: (0..31).map(step).collect(), cycle_from: None };
    let trace = common::trace_along(&program, &path, Rule::Deadlock);
    let folded = narrative(&trace, &ASCII);
    let row = "step  line w0-30 w31  instruction       after it
1-31    11   #        bar.sync 1, 1024  b1 992/1024
";
    assert!(folded.contains(row), "{folded}");
    let narrow = narrative(&trace, &Style { all: true, ..ASCII });
    assert!(narrow.contains("have no column"), "{narrow}");
    assert!(narrow.lines().all(|l| l.len() <= 90), "{narrow}");
    assert!(narrow.contains("1-31"), "{narrow}");
    let told = "warp 31 exited without arriving on barrier 1; warps 0-30 wait on barrier 1 (992 of 1024 threads arrived)";
    assert_eq!(trace.outcome.message, told);
}

#[test]
fn without_its_headline_a_narrative_begins_with_the_cause() {
    let trace = common::trace_of(&common::deadlock(), Rule::Deadlock);
    let bare = narrative(&trace, &Style { headline: false, ..ASCII });
    assert!(bare.starts_with("why\n  Warp 3 exited at ring.bar:22"), "{bare}");
}

#[test]
fn arrivals_left_over_at_one_place_share_a_label_and_a_sentence() {
    use barcheck_model::program::Target;
    let program = common::protocol(
        Target::Ptx,
        vec![(3, common::block("early").arrive(1, 128)), (1, common::block("absent"))],
    );
    let trace = common::trace_of(&program, Rule::DanglingArrival);
    let labels: Vec<String> = labels(&trace).into_iter().map(|label| label.text).collect();
    assert_eq!(labels, ["warps 0-2 arrived here"]);
    let explanation = &trace.outcome.explanation;
    assert!(explanation.starts_with("Warps 0-2 arrived at ring.bar:"), "{explanation}");
    assert_eq!(explanation.matches(" arrived at ").count(), 1, "{explanation}");
}

#[test]
fn of_three_barriers_that_are_waited_on_one_is_left_to_count() {
    use barcheck_model::program::Target;
    let waiter = |id| (1, common::block("waiter").sync(id, 96));
    let trace = common::trace_of(
        &common::protocol(Target::Ptx, vec![waiter(1), waiter(2), waiter(3)]),
        Rule::Deadlock,
    );
    let message = &trace.outcome.message;
    assert!(message.ends_with("others wait on 1 more barrier"), "{message}");
}
