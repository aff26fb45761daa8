//! BCU groups, step by step.

use crate::common::*;
use barcheck_model::agent::Value;
use barcheck_model::barrier::bcu::{Live, Opaque, ResultCopy};
use barcheck_model::machine::{AnyBarrier, Detail, End, StepOutcome};
use barcheck_model::program::Target::Bcu;
use barcheck_model::program::*;
use barcheck_model::rule::Rule;

fn b2r_bar(id: i64) -> S {
    bcu(BcuOp::ReadBarrier { dest: Some(LocalId(4)), id: n(id) })
}

fn r2b_bar(id: i64) -> S {
    bcu(BcuOp::WriteBarrier { id: n(id), source: v(4) })
}

fn b2r_warp(id: Option<i64>) -> S {
    bcu(BcuOp::ReadWarp { dest: Some(LocalId(5)), id: id.map(n) })
}

fn r2b_warp(id: Option<i64>) -> S {
    bcu(BcuOp::WriteWarp { id: id.map(n), source: v(5) })
}

fn alone(body: Vec<S>) -> Program {
    Group::new(Bcu, 32).one(body).build()
}

fn popc() -> S {
    bred(ReductionOp::Popc, 1, 32, truth(lanes_below(5)))
}

#[test]
fn arv_goes_on_and_sync_blocks_until_equality() {
    // clause: bcu.arv-continues
    // clause: bcu.sync-arrives
    // clause: bcu.completion-wakes
    let mut run = Run::new(Group::new(Bcu, 96).many(2, vec![bsync(1, 96)]).one(vec![barv(1, 96)]).build());
    assert_eq!(run.log("0 2"), ["arrive b1, block", "arrive b1"]);
    assert_eq!(run.play("1"), "arrive b1, block, complete b1, free 0, free 1");
}

#[test]
fn an_omitted_count_is_every_live_warp() {
    // clause: bcu.sync-count-zero
    // clause: bcu.exited-warps
    let omitted = bcu(BcuOp::Sync { id: register(n(1)), count: None });
    let program = Group::new(Bcu, 96).many(2, vec![omitted]).one(vec![fence(SHARED)]).build();
    let mut run = Run::new(program.clone());
    assert_eq!(run.log("0 1 2 2")[3], "exit, complete b1, free 0, free 1");
    assert_eq!(last(program, "2 2 0 1"), "arrive b1, block, complete b1, free 0, free 1");
}

#[test]
fn an_exit_completes_no_barrier_with_a_count() {
    // clause: bcu.sync-blocks
    let mut run = Run::new(Group::new(Bcu, 64).one(vec![bsync(1, 64)]).one(vec![fence(SHARED)]).build());
    assert_eq!(run.play("0 1 1"), "exit");
    assert_eq!(run.judgement(), "! deadlock 0");
}

#[test]
fn a_second_arrival_is_noted_and_counts() {
    // clause: bcu.count-per-instruction
    let twice = vec![barv(1, 96), barv(1, 96)];
    let mut run = Run::new(Group::new(Bcu, 64).one(twice).one(vec![bsync(1, 96)]).build());
    assert_eq!(run.log("0 0"), ["arrive b1", "arrive b1 ! repeated-arrival 0"]);
    assert_eq!(run.play("1"), "arrive b1, block, complete b1, free 1");
}

#[test]
fn the_two_fragments_of_a_warp_count_twice_and_one_blocks_both() {
    // clause: bcu.warp-blocks-whole
    // clause: barcheck.bcu-fragment-arrivals
    // clause: bcu.count-per-instruction
    let halves = vec![if_else(lanes_below(16), vec![bsync(1, 64)], vec![bsync(1, 64)])];
    let mut run = Run::new(alone(halves));
    assert_eq!(run.moves(0), 2);
    assert_eq!(run.play("0.1"), "arrive b1, block");
    assert_eq!((run.moves(0), run.judgement().as_str()), (0, "! deadlock 0"));
    let halves = || if_else(lanes_below(16), vec![barv(1, 64)], vec![barv(1, 64)]);
    let mut run = Run::new(alone(vec![halves()]));
    let second = "arrive b1, complete b1 ! repeated-arrival 0 ! nobody-waits 0";
    assert_eq!(run.log("0.0 0.0"), ["arrive b1", second]);
}

#[test]
fn a_red_of_fragments_blocks_the_warp_whole() {
    // clause: bcu.red-warp-blocks-whole
    // clause: bcu.red-counts-instruction
    // clause: bcu.red-arrives
    let red = |bound| bred(ReductionOp::Popc, 1, 64, truth(lanes_below(bound)));
    let halves = vec![if_else(lanes_below(16), vec![red(3)], vec![red(20)])];
    let mut run = Run::new(Group::new(Bcu, 64).one(halves).one(vec![red(32)]).build());
    assert_eq!(run.play("0.1"), "arrive b1, block");
    assert_eq!(run.moves(0), 0);
    assert_eq!(run.play("1"), "arrive b1, block, complete b1 =36, free 0, free 1");
    assert_eq!(run.moves(0), 1, "the other fragment goes on to its own");
}

#[test]
fn lanes_that_differ_in_kept_bits_separate_and_in_dropped_bits_do_not() {
    // clause: bcu.operand-low-bits
    // clause: bcu.red-sixteen-barriers
    // clause: bcu.red-count-field
    let id = |step| {
        vec![set(4, by_lane(16, 1, step)), bcu(BcuOp::Arv { id: register(v(4)), count: immediate(32) })]
    };
    let run = Run::new(alone(id(1)));
    assert_eq!(run.moves(0), 2);
    let mut run = Run::new(alone(id(16)));
    assert_eq!(run.moves(0), 1);
    assert_eq!(run.play("0"), "arrive b1, complete b1 ! register-truncated 0 ! nobody-waits 0");
    let operands = BcuRedOperands::Separate(register(n(17)), Some(register(n(4096 + 32))));
    let red = bcu(BcuOp::Red { op: ReductionOp::Or, operands, predicate: truth(n(1)) });
    assert_eq!(
        last(alone(vec![red]), "0"),
        "arrive b1, block, complete b1 =1, free 0 ! register-truncated 0"
    );
}

#[test]
fn packed_operands_name_barrier_and_count() {
    // clause: bcu.red-packed
    let red = |value| {
        let operands = BcuRedOperands::Packed(n(value));
        bcu(BcuOp::Red { op: ReductionOp::And, operands, predicate: truth(n(1)) })
    };
    assert_eq!(last(alone(vec![red(0x205)]), "0"), "arrive b5, block, complete b5 =1, free 0");
    let dropped = "arrive b5, block, complete b5 =1, free 0 ! register-truncated 0";
    assert_eq!(last(alone(vec![red(0x1_0205)]), "0"), dropped);
    assert_eq!(last(alone(vec![red(0x215)]), "0"), "END count-range");
    // An omitted count of the other form is 0.
    let operands = BcuRedOperands::Separate(immediate(5), None);
    let omitted = bcu(BcuOp::Red { op: ReductionOp::Or, operands, predicate: truth(n(0)) });
    assert_eq!(last(alone(vec![omitted]), "0"), "arrive b5, block, complete b5 =0, free 0");
}

#[test]
fn operands_are_refused_with_the_offending_value() {
    // clause: bcu.sixteen-barriers
    // clause: bcu.count-field
    // clause: bcu.arv-count-positive
    let refused = |statement: S| {
        let StepOutcome::Error(end) = Run::new(alone(vec![statement])).choose(0, 0, 0) else {
            panic!("the path should end");
        };
        let End::Violation(found) = *end else { panic!("a rule should be violated") };
        (found.rule, found.detail)
    };
    assert_eq!(refused(bsync(16, 33)), (Rule::BarrierIdRange, Detail::Operand(16)));
    assert_eq!(refused(bsync(1, 33)), (Rule::CountRange, Detail::Operand(33)));
    assert_eq!(refused(barv(1, 0)), (Rule::CountRange, Detail::Operand(0)));
    assert_eq!(refused(b2r_bar(16)), (Rule::BarrierIdRange, Detail::Operand(16)));
    assert_eq!(refused(b2r_warp(Some(17))), (Rule::BarrierIdRange, Detail::Operand(17)));
}

#[test]
fn red_and_sync_never_share_an_id_on_a_path() {
    // clause: bcu.red-own-id
    let red = || bred(ReductionOp::Or, 1, 32, truth(n(1)));
    assert_eq!(last(alone(vec![bsync(1, 32), red()]), "0 0"), "END mixed-red");
    assert_eq!(last(alone(vec![red(), result(None, Some(6)), barv(1, 32)]), "0 0 0"), "END mixed-red");
    assert_eq!(last(alone(vec![bsync(2, 32), red()]), "0 0"), "arrive b1, block, complete b1 =1, free 0");
    // Also where an exit has completed the generation.
    let waits = vec![bsync(1, 0), red()];
    let exits = Group::new(Bcu, 64).one(waits).one(vec![fence(SHARED)]).build();
    assert_eq!(last(exits, "0 1 1 0"), "END mixed-red");
    // Another operator in another generation is no mixture.
    let and = bred(ReductionOp::And, 1, 32, truth(n(1)));
    let outcome = last(alone(vec![red(), result(None, None), and]), "0 0 0");
    assert_eq!(outcome, "arrive b1, block, complete b1 =1, free 0");
}

#[test]
fn counts_that_differ_are_a_mismatch_also_0_and_the_size() {
    // clause: bcu.count-agrees
    // clause: barcheck.bcu-counts-are-numbers
    let two = |a, b| last(Group::new(Bcu, 64).one(vec![a]).one(vec![b]).build(), "0 1");
    assert_eq!(two(bsync(1, 0), bsync(1, 64)), "END count-mismatch");
    assert_eq!(two(barv(1, 64), bsync(1, 96)), "END count-mismatch");
    let or = |count| bred(ReductionOp::Or, 1, count, truth(n(1)));
    assert_eq!(two(or(64), or(0)), "END count-mismatch");
    assert_eq!(two(or(64), bred(ReductionOp::And, 1, 64, truth(n(1)))), "END mixed-red-op");
    // Compared after truncation.
    let high = bcu(BcuOp::Sync { id: register(n(17)), count: Some(register(n(4096 + 64))) });
    let outcome = "arrive b1, block, complete b1, free 0, free 1 ! register-truncated 1";
    assert_eq!(two(bsync(1, 64), high), outcome);
}

#[test]
fn a_guard_that_is_false_skips_the_instruction() {
    // clause: bcu.predicate-guard
    let guarded = |value| vec![set(6, n(value)), iff(not(v(6)), vec![bsync(1, 32)]), fence(SHARED)];
    assert_eq!(last(alone(guarded(1)), "0"), "fence");
    assert_eq!(last(alone(guarded(0)), "0"), "arrive b1, block, complete b1, free 0");
}

#[test]
fn a_result_is_fetched_from_the_warps_copy() {
    // clause: bcu.b2r-result
    // clause: bcu.red-copy
    // clause: bcu.red-predicate
    let mut run = Run::new(alone(vec![popc(), result(Some(4), None), assert(v(4))]));
    assert_eq!(run.play("0"), "arrive b1, block, complete b1 =5, free 0");
    let copy = ResultCopy { op: ReductionOp::Popc, result: 5 };
    assert_eq!(run.config(0).copy, Some((copy, false)));
    assert_eq!(run.play("0"), "move");
    assert_eq!((run.value(0, 4), run.config(0).copy), (Value::Int(5), Some((copy, true))));
    let or = bred(ReductionOp::Or, 1, 32, untruth(n(1)));
    let mut run = Run::new(alone(vec![or, result(None, Some(6)), assert(v(6))]));
    assert_eq!(run.log("0 0 0"), ["arrive b1, block, complete b1 =0, free 0", "move", "END assertion"]);
}

#[test]
fn results_that_are_not_defined_end_the_path() {
    // clause: bcu.b2r-result-undefined
    // clause: bcu.b2r-result-kind
    // clause: barcheck.undefined-ends
    // clause: bcu.b2r-warp-undefined
    assert_eq!(last(alone(vec![result(Some(4), None)]), "0"), "END undefined-result");
    assert_eq!(last(alone(vec![result(None, None)]), "0"), "move");
    assert_eq!(last(alone(vec![popc(), result(None, Some(6))]), "0 0"), "END undefined-result");
    assert_eq!(last(alone(vec![b2r_warp(None)]), "0"), "END undefined-result");
    // A sync is no reduction.
    assert_eq!(last(alone(vec![bsync(1, 32), b2r_warp(None)]), "0 0"), "END undefined-result");
}

#[test]
fn an_unfetched_result_is_overwritten_by_the_next_reduction() {
    // clause: bcu.red-overwrites
    let red = |id| bred(ReductionOp::Popc, id, 64, truth(n(1)));
    let fetching = vec![red(1), result(Some(4), None), red(2)];
    let mut run = Run::new(Group::new(Bcu, 64).one(vec![red(1), red(2)]).one(fetching).build());
    run.log("0 1 1 0");
    let StepOutcome::Noted(_, noted) = run.choose(1, 0, 0) else { panic!("something is found") };
    assert_eq!(findings(&noted), " ! result-overwritten 0");
    let found = &noted[0];
    assert_eq!((found.agent, found.pc, found.barrier.map(|b| b.0)), (AgentId(0), Pc(1), Some(2)));
    // Saving the copy is a fetch too; a sync in between overwrites nothing.
    let twice = |between| last(alone(vec![popc(), between, popc()]), "0 0 0");
    assert_eq!(twice(b2r_warp(None)), "arrive b1, block, complete b1 =5, free 0");
    assert_eq!(twice(result(None, None)), "arrive b1, block, complete b1 =5, free 0");
    assert_eq!(twice(bsync(2, 32)), "arrive b1, block, complete b1 =5, free 0 ! result-overwritten 0");
    assert_eq!(last(alone(vec![popc(), bsync(2, 32)]), "0 0"), "arrive b2, block, complete b2, free 0");
}

#[test]
fn a_copy_is_saved_and_put_back_with_ids_checked_and_ignored() {
    // clause: bcu.b2r-warp
    // clause: bcu.r2b-warp
    // clause: bcu.b2r-id-ignored
    // clause: bcu.r2b-id-ignored
    let or = bred(ReductionOp::Or, 2, 32, truth(n(0)));
    let body = vec![
        popc(),
        b2r_warp(Some(9)),
        or,
        result(None, Some(6)),
        r2b_warp(Some(15)),
        result(Some(4), None),
        assert(v(4)),
    ];
    let mut run = Run::new(alone(body));
    assert_eq!(run.log("0 0 0 0 0 0")[4..], ["move", "move"]);
    assert_eq!(run.value(0, 4), Value::Int(5));
    assert_eq!(
        last(alone(vec![popc(), b2r_warp(None), r2b_warp(Some(16))]), "0 0 0"),
        "END barrier-id-range"
    );
    assert_eq!(last(alone(vec![popc(), b2r_warp(Some(-1))]), "0 0"), "END barrier-id-range");
    // What is put back has been fetched: the next reduction overwrites nothing of value.
    let again = vec![popc(), b2r_warp(None), popc(), r2b_warp(None), popc()];
    assert_eq!(last(alone(again), "0 0 0 0 0"), "arrive b1, block, complete b1 =5, free 0");
}

#[test]
fn a_barriers_state_is_read_as_it_is_and_put_back_onto_an_equal_one() {
    // clause: bcu.b2r-bar
    // clause: bcu.r2b-bar
    // clause: barcheck.state-equal
    let mut run =
        Run::new(Group::new(Bcu, 64).one(vec![barv(1, 64), b2r_bar(1), r2b_bar(1)]).one(vec![]).build());
    assert_eq!(run.log("0 0"), ["arrive b1", "move"]);
    let live = Live { red: None, count: 64, arrivals: 1, predicates: 0 };
    assert_eq!(run.value(0, 4), Value::Opaque(Box::new(Opaque::Barrier(Some(live)))));
    assert_eq!(run.play("0"), "move");
    let put_back = run.state.barrier(barcheck_model::barrier::BarrierId(1));
    assert!(matches!(put_back, Some(AnyBarrier::Bcu(barrier)) if barrier.live == Some(live)));
}

#[test]
fn a_restore_onto_a_barrier_in_use_clobbers_it_and_onto_an_idle_one_does_not() {
    // clause: bcu.r2b-context-only
    let restore = vec![b2r_bar(1), r2b_bar(1)];
    let program = || Group::new(Bcu, 64).one(restore.clone()).one(vec![bsync(1, 64)]).build();
    assert_eq!(last(program(), "0 0"), "move");
    assert_eq!(last(program(), "0 1 0"), "END state-clobbered");
    assert_eq!(last(program(), "1 0 0"), "move");
    // A state with an arrival, restored to another, idle barrier, stays there for others to complete.
    let moved = vec![barv(1, 64), b2r_bar(1), r2b_bar(2)];
    let mut run = Run::new(Group::new(Bcu, 64).one(moved).one(vec![bsync(2, 64)]).build());
    assert_eq!(run.play("0 0 0 1"), "arrive b2, block, complete b2, free 1");
}

#[test]
fn a_restored_state_that_is_full_waits_for_an_arrival_and_then_overshoots() {
    // clause: barcheck.restore-completes-nothing
    let saver = vec![b2r_bar(0), bsync(0, 0), r2b_bar(0), bsync(0, 0)];
    let program = || Group::new(Bcu, 64).one(saver.clone()).one(vec![bsync(0, 0)]).build();
    // Warp 1 has exited: one of one has arrived after the restore, and the generation is not complete.
    let mut run = Run::new(program());
    assert_eq!(run.play("1 0 0 1 0"), "move");
    assert_eq!(run.play("0"), "arrive b0, block");
    assert_eq!(run.judgement(), "! deadlock 0");
    // It has not: there is room for one more.
    let mut run = Run::new(program());
    assert_eq!(run.play("1 0 0 0 0"), "arrive b0, block, complete b0, free 0");
}

#[test]
fn an_exit_that_completes_a_restored_generation_names_its_barrier() {
    // clause: barcheck.nobody-waits
    let saver = vec![b2r_bar(1), bsync(1, 0), r2b_bar(1), bsync(2, 64)];
    let other = vec![bsync(1, 0), bsync(2, 64)];
    let mut run = Run::new(Group::new(Bcu, 64).one(saver).one(other).build());
    assert_eq!(run.play("1 0 0 0 0 1"), "arrive b2, block, complete b2, free 0, free 1");
    let StepOutcome::Noted(_, noted) = run.choose(1, 0, 0) else { panic!("something is found") };
    assert_eq!(findings(&noted), " ! nobody-waits 1");
    assert_eq!(noted[0].barrier.map(|b| b.0), Some(1), "the exit itself is at no barrier");
}

#[test]
fn a_forged_state_is_not_modelled_and_an_opaque_one_is_no_number() {
    // clause: barcheck.not-modelled
    // clause: barcheck.evaluation-error
    let forged = || vec![set(4, n(7)), set(5, n(7))];
    let with = |more: Vec<S>| [forged(), more].concat();
    assert_eq!(last(alone(with(vec![r2b_bar(1)])), "0"), "CUT ForgedState");
    assert_eq!(last(alone(with(vec![r2b_warp(None)])), "0"), "CUT ForgedState");
    assert_eq!(last(alone(with(vec![r2b_bar(16)])), "0"), "END barrier-id-range");
    assert_eq!(last(alone(vec![r2b_bar(1)]), "0"), "FAULT Unset(LocalId(4))");
    assert_eq!(last(alone(vec![b2r_bar(1), assert(v(4))]), "0 0"), "FAULT NotANumber(LocalId(4))");
    // A barrier's state is no warp's copy.
    let other = bcu(BcuOp::WriteWarp { id: None, source: v(4) });
    assert_eq!(last(alone(vec![b2r_bar(1), other]), "0 0"), "CUT ForgedState");
    let computed = bcu(BcuOp::WriteBarrier { id: n(1), source: n(3) });
    assert_eq!(last(alone(vec![computed]), "0"), "CUT ForgedState");
}

#[test]
fn lanes_that_hold_different_states_forge_one() {
    let read = |id| bcu(BcuOp::ReadBarrier { dest: Some(LocalId(4)), id: n(id) });
    let mixed = vec![barv(1, 64), if_else(lanes_below(3), vec![read(1)], vec![read(2)]), r2b_bar(3)];
    let mut run = Run::new(Group::new(Bcu, 64).one(mixed).one(vec![]).build());
    assert_eq!(run.play("0 0 0 0"), "CUT ForgedState");
    let half = vec![iff(lanes_below(3), vec![read(1)]), r2b_bar(3)];
    assert_eq!(last(alone(half), "0 0"), "FAULT Unset(LocalId(4))");
}

#[test]
fn states_that_nobody_keeps_are_read_all_the_same() {
    let unkept =
        [bcu(BcuOp::ReadBarrier { dest: None, id: n(1) }), bcu(BcuOp::ReadWarp { dest: None, id: None })];
    let body = [vec![set(4, n(9)), popc()], unkept.to_vec(), vec![popc(), assert(v(4))]].concat();
    let mut run = Run::new(alone(body));
    let red = "arrive b1, block, complete b1 =5, free 0";
    assert_eq!(run.log("0 0 0 0"), [red, "move", "move", red]);
    assert_eq!(run.value(0, 4), Value::Int(9));
}
