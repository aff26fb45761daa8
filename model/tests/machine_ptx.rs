//! PTX groups, step by step.

use crate::common::*;
use barcheck_model::agent::{Choices, Fault, FaultKind, Value};
use barcheck_model::machine::{CutReason, Detail, End, ExitedThreads, Options, StepOutcome};
use barcheck_model::program::Target::Ptx;
use barcheck_model::program::*;

const RELEASE: Options = Options { exited_threads: ExitedThreads::Release };

#[test]
fn the_last_to_arrive_releases_everybody_in_its_own_step() {
    // clause: ptx.sync-waits
    // clause: ptx.signals-arrival
    // clause: ptx.complete-reinit
    let mut run = Run::new(Group::new(Ptx, 96).many(3, vec![sync(1, 0), sync(1, 0)]).build());
    assert_eq!(run.log("0 0 2"), ["arrive b1, block", "disabled", "arrive b1, block"]);
    assert_eq!(run.play("1"), "arrive b1, block, complete b1, free 0, free 1, free 2");
    assert!(run.state.barriers.is_empty() && run.state.agents.iter().all(|a| a.seats.is_empty()));
    // Immediately reusable.
    assert_eq!(run.play("1 0 2"), "arrive b1, block, complete b1, free 0, free 1, free 2");
}

#[test]
fn producer_and_consumer_hand_over_with_two_barriers() {
    // clause: ptx.producer-consumer
    // clause: ptx.arrive-no-wait
    // clause: ptx.count-agrees
    let producer = vec![arrive(1, 64), sync(2, 64)];
    let consumer = vec![sync(1, 64), arrive(2, 64)];
    let mut run = Run::new(Group::new(Ptx, 64).one(producer).one(consumer).build());
    assert_eq!(run.log("0 0"), ["arrive b1", "arrive b2, block"]);
    assert_eq!(run.log("1 1"), ["arrive b1, block, complete b1, free 1", "arrive b2, complete b2, free 0"]);
}

#[test]
fn arrivals_on_many_barriers_at_once_are_all_remembered() {
    // clause: ptx.producer-consumer
    let ahead = |again: i64| {
        let all = (1..=4).map(|id| arrive(id, 64)).chain([arrive(again, 64)]).collect();
        let taken = (1..=4).map(|id| sync(id, 64)).collect();
        Run::new(Group::new(Ptx, 64).one(all).one(taken).build())
    };
    let first = ["arrive b1", "arrive b2", "arrive b3", "arrive b4"];
    for again in 1..=4 {
        let mut run = ahead(again);
        assert_eq!(run.log("0 0 0 0"), first);
        assert_eq!(run.play("0"), "END repeated-arrival", "on barrier {again}");
    }
    // Near miss: nobody has arrived on this one.
    let mut run = ahead(5);
    assert_eq!(run.log("0 0 0 0 0"), [&first[..], &["arrive b5"]].concat());
    for id in 1..=4 {
        assert_eq!(run.play("1"), format!("arrive b{id}, block, complete b{id}, free 1"));
    }
    assert_eq!(run.state.agents[0].seats.len(), 1);
}

#[test]
fn an_exit_completes_what_waits_for_live_warps() {
    // clause: ptx.exited-threads
    // clause: ptx.count-default
    let program = || Group::new(Ptx, 96).many(2, vec![sync(1, 0)]).one(vec![fence(SHARED)]).build();
    let mut run = Run::new(program());
    assert_eq!(run.play("0 1"), "arrive b1, block");
    assert_eq!(run.log("2 2"), ["fence", "exit, complete b1, free 0, free 1"]);
    // The other way round the last arrival completes it.
    assert_eq!(last(program(), "2 2 0 1"), "arrive b1, block, complete b1, free 0, free 1");
}

#[test]
fn an_explicit_count_holds_or_is_released_by_exits() {
    // clause: barcheck.exited-switch
    // clause: ptx.exited-threads
    let program = || Group::new(Ptx, 96).many(2, vec![sync(1, 96)]).one(vec![fence(SHARED)]).build();
    let mut hold = Run::new(program());
    assert_eq!(hold.play("0 1 2 2"), "exit");
    assert_eq!(hold.judgement(), "! deadlock 0,1");
    let mut release = Run::with(program(), RELEASE);
    assert_eq!(release.play("0 1 2 2"), "exit, complete b1, free 0, free 1");
    let mut release = Run::with(program(), RELEASE);
    assert_eq!(release.play("2 2 0 1"), "arrive b1, block, complete b1, free 0, free 1");
    // One that has arrived and exited is not outside: the third is still awaited.
    let arrived =
        || Group::new(Ptx, 96).one(vec![sync(1, 96)]).one(vec![arrive(1, 96)]).one(vec![sync(2, 96)]);
    let mut release = Run::with(arrived().build(), RELEASE);
    assert_eq!(release.play("0 1 1"), "exit");
    assert_eq!(release.play("2"), "arrive b2, block");
    assert_eq!(release.judgement(), "! deadlock 0,2");
}

#[test]
fn a_release_by_exit_needs_somebody_who_waits() {
    // clause: barcheck.exited-switch
    let program = Group::new(Ptx, 64).one(vec![arrive(1, 64)]).one(vec![fence(SHARED)]).build();
    let mut run = Run::with(program, RELEASE);
    assert_eq!(run.log("0 0 1 1"), ["arrive b1", "exit", "fence", "exit"]);
    assert_eq!(run.judgement(), "! dangling-arrival 0");
}

#[test]
fn arrivals_only_complete_for_nobody() {
    // clause: barcheck.nobody-waits
    let mut run = Run::new(Group::new(Ptx, 64).many(2, vec![arrive(1, 64)]).build());
    assert_eq!(run.log("0 1"), ["arrive b1", "arrive b1, complete b1 ! nobody-waits 1"]);
}

#[test]
fn barrier_0_with_a_count_is_noted_where_it_arrives_and_where_it_parks() {
    // clause: barcheck.reserved-barrier
    let mut run = Run::new(Group::new(Ptx, 64).one(vec![sync(0, 64)]).one(vec![sync(0, 0)]).build());
    assert_eq!(run.log("0")[0], "arrive b0, block ! reserved-barrier 0");
    assert_eq!(run.log("1")[0], "arrive b0, block, complete b0, free 0, free 1");
    let halves = vec![if_else(lanes_below(8), vec![sync(0, 32)], vec![sync(0, 32)])];
    let mut run = Run::new(Group::new(Ptx, 32).one(halves).build());
    let StepOutcome::Noted(_, noted) = run.choose(0, 0, 0) else { panic!("something is found") };
    assert_eq!(findings(&noted), " ! reserved-barrier 0");
    assert_eq!(noted[0].barrier.map(|b| b.0), Some(0), "parking is at a barrier, too");
}

#[test]
fn operands_are_refused_at_the_step_with_the_offending_value() {
    // clause: ptx.sixteen-barriers
    // clause: ptx.count-multiple
    let refused = |statement: S| {
        let mut run = Run::new(Group::new(Ptx, 64).many(2, vec![statement]).build());
        match run.choose(0, 0, 0) {
            StepOutcome::Error(end) => match *end {
                End::Violation(found) => (found.rule.name(), found.detail, found.barrier),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(sync(16, 48)), ("barrier-id-range", Detail::Operand(16), None));
    assert_eq!(refused(sync(1, 48)), ("count-range", Detail::Operand(48), None));
    assert_eq!(refused(sync(1, 96)), ("count-range", Detail::Operand(96), None));
    assert_eq!(refused(arrive(1, 0)), ("arrive-needs-count", Detail::Operand(0), None));
    assert_eq!(refused(arrive_of(n(1), None)), ("arrive-needs-count", Detail::Operand(0), None));
}

fn reducing(op: ReductionOp, predicate: Predicate) -> Group {
    Group::new(Ptx, 64).many(2, vec![red(op, 1, 0, predicate), assert(eq(v(0), v(0)))])
}

#[test]
fn a_reduction_writes_its_result_in_every_waiting_warp() {
    // clause: ptx.red-result
    // clause: ptx.red-combine
    // clause: ptx.red-popc
    let mut run = Run::new(reducing(ReductionOp::Popc, truth(lanes_below(5))).build());
    assert_eq!(run.play("0 1"), "arrive b1, block, complete b1 =10, free 0, free 1");
    assert_eq!((run.value(0, 0), run.value(1, 0)), (Value::Int(10), Value::Int(10)));
    // clause: ptx.red-negation
    let mut run = Run::new(reducing(ReductionOp::Popc, untruth(lanes_below(5))).build());
    assert_eq!(run.play("0 1"), "arrive b1, block, complete b1 =54, free 0, free 1");
    // clause: ptx.red-and-or
    for (op, below, result) in [
        (ReductionOp::And, 31, 0),
        (ReductionOp::And, 32, 1),
        (ReductionOp::Or, 0, 0),
        (ReductionOp::Or, 1, 1),
    ] {
        let mut run = Run::new(reducing(op, truth(lanes_below(below))).build());
        run.play("0 1");
        assert_eq!(run.value(0, 0), Value::Int(result), "{op:?} {below}");
    }
}

#[test]
fn a_result_that_nobody_keeps_changes_no_local() {
    let body = vec![set(0, n(7)), red_unkept(ReductionOp::Popc, 1, 0, truth(n(1))), assert(v(0))];
    let mut run = Run::new(Group::new(Ptx, 32).one(body).build());
    assert_eq!(run.play("0"), "arrive b1, block, complete b1 =32, free 0");
    assert_eq!(run.value(0, 0), Value::Int(7));
}

#[test]
fn open_predicates_are_any_number_of_the_lanes() {
    let choices = |op| {
        let run = Run::new(reducing(op, OPEN).build());
        run.machine.moves(&run.state, AgentId(0))[0].choices
    };
    assert_eq!(choices(ReductionOp::Popc), Choices::Open(33));
    assert_eq!((choices(ReductionOp::And), choices(ReductionOp::Or)), (Choices::Open(2), Choices::Open(2)));
    // A predicate that is given leaves nothing open, and one that is not evaluated neither.
    for op in [ReductionOp::Popc, ReductionOp::And] {
        let run = Run::new(reducing(op, truth(lanes_below(5))).build());
        assert_eq!(run.machine.moves(&run.state, AgentId(0))[0].choices, Choices::One);
    }
    assert_eq!(last(Group::new(Ptx, 64).many(2, vec![sync(1, 64)]).build(), "0.0.1"), "disabled");
    let result = |op, picks: &str| {
        let mut run = Run::new(reducing(op, OPEN).build());
        run.play(picks);
        run.value(0, 0)
    };
    assert_eq!(result(ReductionOp::Popc, "0.0.7 1.0.32"), Value::Int(39));
    assert_eq!(result(ReductionOp::Popc, "0.0.0 1.0.0"), Value::Int(0));
    assert_eq!(result(ReductionOp::And, "0.0.1 1.0.1"), Value::Int(1));
    assert_eq!(result(ReductionOp::And, "0.0.1 1.0.0"), Value::Int(0));
    assert_eq!(result(ReductionOp::Or, "0.0.1 1.0.0"), Value::Int(1));
    assert_eq!(result(ReductionOp::Or, "0.0.0 1.0.0"), Value::Int(0));
}

#[test]
fn a_partial_warp_counts_32_threads_but_only_its_lanes_reduce() {
    // clause: ptx.red-popc
    let mut run = Run::new(
        Group::new(Ptx, 40).many(2, vec![red(ReductionOp::Popc, 1, 64, truth(n(1))), assert(v(0))]).build(),
    );
    assert_eq!(run.play("0 1"), "arrive b1, block, complete b1 =40, free 0, free 1");
}

#[test]
fn red_meets_neither_sync_nor_another_operator_while_active() {
    // clause: ptx.red-not-mixed
    // clause: barcheck.mixed-red-op
    let red_of = |op| vec![red(op, 1, 64, truth(n(1)))];
    let two = |a, b| last(Group::new(Ptx, 64).one(a).one(b).build(), "0 1");
    assert_eq!(two(red_of(ReductionOp::And), vec![sync(1, 64)]), "END mixed-red");
    assert_eq!(two(vec![arrive(1, 64)], red_of(ReductionOp::And)), "END mixed-red");
    assert_eq!(two(red_of(ReductionOp::And), red_of(ReductionOp::Or)), "END mixed-red-op");
    // In different generations they may follow one another.
    let both =
        vec![red(ReductionOp::And, 1, 64, truth(n(1))), sync(1, 64), red(ReductionOp::Or, 1, 64, OPEN)];
    let mut run = Run::new(Group::new(Ptx, 64).many(2, both).build());
    assert_eq!(run.play("0 1 1 0 1 0"), "arrive b1, block, complete b1 =0, free 0, free 1");
}

#[test]
fn evaluation_errors_end_their_path_after_what_the_step_found() {
    // clause: barcheck.evaluation-error
    let divide = bin(BinaryOp::Div, n(1), n(0));
    assert_eq!(
        last(Group::new(Ptx, 32).one(vec![sync_of(divide.clone(), None)]).build(), "0"),
        "FAULT DivisionByZero"
    );
    // An error in local computation belongs to the step before it.
    let mut run =
        Run::new(Group::new(Ptx, 32).one(vec![arrive(1, 32), set(0, divide), assert(v(0))]).build());
    assert_eq!(run.play("0"), "FAULT DivisionByZero ! nobody-waits 0");
    let program = Group::new(Ptx, 32).one(vec![set(0, n(i64::MAX)), set(0, add(v(0), n(1)))]).build();
    let run = Run::new(program);
    assert_eq!(run.machine.fault(&run.state).map(|(agent, _)| agent), Some(AgentId(0)));
    assert_eq!(run.moves(0), 0);
}

#[test]
fn computation_that_cannot_be_followed_cuts_the_path_and_names_what_changes() {
    // clause: barcheck.verdict
    // clause: barcheck.not-modelled
    let run = Run::new(Group::new(Ptx, 32).one(vec![sync(1, 0)]).build());
    let end = |kind| {
        let fault = Fault { at: Pc(0), kind };
        run.machine.end_of_fault(AgentId(0), &fault, Vec::new())
    };
    let cut = |local: Option<&str>| {
        let reason = CutReason::Endless(local.map(str::to_owned));
        End::Cut { agent: AgentId(0), at: Pc(0), reason, noted: Vec::new() }
    };
    assert_eq!(end(FaultKind::Endless(Some(LocalId(4)))), cut(Some("R4")));
    assert_eq!(end(FaultKind::Endless(None)), cut(None));
    assert!(matches!(end(FaultKind::Overflow), End::Fault { .. }));
}
