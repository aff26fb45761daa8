//! Warps that diverge: fragments, joins, parking, and arrivals by the whole warp.

use crate::common::*;
use barcheck_model::agent::{Choices, Join, LaneValues, Value};
use barcheck_model::program::Target::{Bcu, Ptx};
use barcheck_model::program::*;

fn warp(body: Vec<S>) -> Run {
    Run::new(Group::new(Ptx, 32).one(body).build())
}

/// The lanes of each fragment, and whether it waits at a join.
fn fragments(run: &Run) -> Vec<(u32, bool)> {
    run.config(0).fragments.iter().map(|f| (f.lanes, f.join.is_some())).collect()
}

fn nop() -> S {
    fence(NEITHER)
}

#[test]
fn lanes_that_disagree_separate_and_join_at_the_end_of_the_branch() {
    // clause: barcheck.fragments
    let mut run = warp(vec![if_else(lanes_below(8), vec![nop()], vec![nop(), nop()]), nop()]);
    assert_eq!(fragments(&run), [(0xff, false), (!0xff, false)]);
    assert_eq!(run.config(0).splits.len(), 1);
    run.play("0.0");
    assert_eq!(fragments(&run), [(0xff, true), (!0xff, false)]);
    assert_eq!(run.moves(0), 1, "one waits at the join, which is no blocking");
    assert!(!run.config(0).is_blocked());
    run.play("0 0");
    assert_eq!(fragments(&run), [(u32::MAX, false)]);
    assert!(run.config(0).splits.is_empty());
    assert_eq!(run.log("0 0"), ["fence", "exit"]);
}

#[test]
fn lanes_that_agree_stay_together() {
    for bound in [0, 32] {
        let run = warp(vec![if_else(lanes_below(bound), vec![nop()], vec![nop()]), nop()]);
        assert_eq!(fragments(&run), [(u32::MAX, false)]);
    }
}

#[test]
fn joined_lanes_keep_their_own_locals() {
    // clause: barcheck.fragments
    let arms = if_else(lanes_below(8), vec![set(0, n(5)), nop()], vec![set(0, Expr::Lane), nop()]);
    let mut run = warp(vec![set(1, n(1)), arms, nop(), assert(add(v(0), v(1)))]);
    run.play("0.0 0");
    assert_eq!(fragments(&run), [(u32::MAX, false)]);
    assert_eq!((run.lane_value(0, 0, 7), run.lane_value(0, 0, 8)), (Value::Int(5), Value::Int(8)));
    assert_eq!(run.lane_value(0, 0, 31), Value::Int(31));
    assert_eq!(run.lane_value(0, 1, 31), Value::Int(1));
}

#[test]
fn lanes_that_hold_the_same_are_not_told_apart() {
    let same = |run: &Run| matches!(run.config(0).fragments[0].locals[0], LaneValues::Same(Value::Int(5)));
    let mut run =
        warp(vec![if_else(lanes_below(8), vec![set(0, n(5)), nop()], vec![set(0, n(5))]), assert(v(0))]);
    run.play("0");
    assert!(same(&run));
    assert!(same(&warp(vec![set(0, add(n(5), bin(BinaryOp::Mul, Expr::Lane, n(0)))), assert(v(0))])));
    let part = vec![set(0, by_lane(8, 5, 1)), iff(lanes_below(8), vec![assert(v(0))])];
    assert!(same(&warp(part)), "the fragment's lanes agree");
}

#[test]
fn nested_branches_join_from_the_inside() {
    let inner = if_else(lanes_below(4), vec![nop()], vec![nop()]);
    let mut run = warp(vec![iff(lanes_below(8), vec![inner, nop()]), nop()]);
    assert_eq!(fragments(&run), [(0xf, false), (0xf0, false), (!0xff, true)]);
    run.play("0.1");
    assert_eq!(fragments(&run), [(0xf, false), (0xf0, true), (!0xff, true)]);
    run.play("0");
    assert_eq!(fragments(&run), [(0xff, false), (!0xff, true)]);
    run.play("0");
    assert_eq!(fragments(&run), [(u32::MAX, false)]);
}

#[test]
fn lanes_leave_a_loop_one_after_another_and_join_behind_it() {
    // clause: barcheck.fragments
    let rounds = bin(BinaryOp::Shr, Expr::Lane, n(3));
    let mut run = warp(vec![set(1, rounds), S::For(0, n(0), v(1), vec![nop()]), nop()]);
    assert_eq!(fragments(&run), [(0xff, true), (!0xff, false)]);
    run.play("0");
    assert_eq!(fragments(&run), [(0xff, true), (0xff00, true), (0xffff_0000, false)]);
    run.play("0");
    assert_eq!(fragments(&run).len(), 4);
    run.play("0");
    assert_eq!(fragments(&run), [(u32::MAX, false)]);
}

#[test]
fn a_break_or_continue_by_some_lanes_is_not_awaited_inside() {
    // clause: barcheck.fragments
    let leaves = |how: S| {
        let inner = iff(lanes_below(8), vec![iff(lanes_below(4), vec![how]), nop()]);
        vec![S::For(0, n(0), n(2), vec![inner, nop()]), nop()]
    };
    let mut run = warp(leaves(S::Break));
    assert_eq!(fragments(&run), [(0xf, true), (0xf0, false), (!0xff, true)]);
    run.play("0");
    assert_eq!(fragments(&run), [(0xf, true), (!0xf, false)], "the rest of the branch has joined");
    run.play("0");
    assert_eq!(fragments(&run), [(0xf, true), (0xf0, false), (!0xff, true)], "the second iteration");
    run.play("0 0");
    assert_eq!(fragments(&run), [(u32::MAX, false)], "behind the loop");
    let mut run = warp(leaves(S::Continue));
    assert_eq!(
        fragments(&run),
        [(0xf, true), (0xf0, false), (!0xff, true)],
        "twice ahead, at the loop's end"
    );
    run.play("0 0 0 0");
    assert_eq!(fragments(&run), [(u32::MAX, false)]);
}

#[test]
fn lanes_that_go_on_in_a_loop_are_apart_until_its_end() {
    let body = vec![iff(lanes_below(4), vec![S::Continue]), nop()];
    let mut run = warp(vec![S::For(0, n(0), n(2), [body, vec![nop()]].concat()), nop()]);
    assert_eq!(fragments(&run), [(0xf, true), (!0xf, false)]);
    assert_eq!(run.log("0 0 0 0").len(), 4);
    assert_eq!(fragments(&run), [(u32::MAX, false)]);
}

#[test]
fn a_break_by_all_lanes_of_a_branch_leaves_the_others_in_the_loop() {
    let body = vec![if_else(lanes_below(4), vec![S::Break], vec![nop()]), nop()];
    let mut run = warp(vec![S::For(0, n(0), n(2), body), set(1, n(1)), nop(), assert(v(1))]);
    assert_eq!(fragments(&run), [(0xf, true), (!0xf, false)]);
    run.play("0 0 0 0");
    assert_eq!(fragments(&run), [(u32::MAX, false)]);
}

#[test]
fn lanes_that_leave_a_loop_are_awaited_around_it() {
    // clause: barcheck.fragments
    for how in [S::Break, S::Continue] {
        let inner = S::For(0, n(0), n(1), vec![iff(lanes_below(4), vec![how]), nop()]);
        let mut run = warp(vec![iff(lanes_below(8), vec![inner, nop()]), nop()]);
        assert_eq!(fragments(&run), [(0xf, true), (0xf0, false), (!0xff, true)]);
        run.play("0");
        assert_eq!(fragments(&run), [(0xff, false), (!0xff, true)], "behind the loop, inside the branch");
        run.play("0");
        assert_eq!(fragments(&run), [(u32::MAX, false)]);
    }
}

#[test]
fn an_inner_break_leaves_only_the_inner_loop() {
    let inner = S::For(1, n(0), n(2), vec![iff(lanes_below(4), vec![S::Break]), nop()]);
    let mut run = warp(vec![S::For(0, n(0), n(2), vec![inner, nop()]), nop()]);
    assert_eq!(fragments(&run), [(0xf, true), (!0xf, false)]);
    run.play("0 0");
    assert_eq!(fragments(&run), [(u32::MAX, false)], "joined behind the inner loop, inside the outer");
    run.play("0");
    assert_eq!(fragments(&run), [(0xf, true), (!0xf, false)]);
}

#[test]
fn lanes_that_exit_are_awaited_nowhere() {
    // clause: ptx.exited-threads
    let mut run = warp(vec![if_else(lanes_below(8), vec![exit()], vec![nop()]), nop(), nop()]);
    assert_eq!(run.play("0.1"), "fence");
    assert_eq!(fragments(&run), [(0xff, false), (!0xff, true)]);
    assert_eq!(run.play("0"), "lanes 0xff exit");
    assert_eq!(fragments(&run), [(!0xff, false)]);
    assert!(run.config(0).splits.is_empty());
    assert_eq!(run.config(0).live_lanes(), !0xff);
    assert_eq!(run.log("0 0 0"), ["fence", "fence", "exit"]);
}

#[test]
fn one_that_stays_behind_alone_waits_for_nobody() {
    // clause: ptx.exited-threads
    let mut run = warp(vec![if_else(lanes_below(8), vec![exit()], vec![nop()]), nop()]);
    assert_eq!(run.play("0.0"), "lanes 0xff exit");
    assert!(run.config(0).splits.is_empty(), "still inside, with nobody else to come to its end");
    assert_eq!(run.log("0 0 0"), ["fence", "fence", "exit"]);
}

#[test]
fn lanes_an_iteration_ahead_join_among_themselves() {
    // clause: barcheck.fragments
    let ahead = bin(BinaryOp::LogicalAnd, lanes_below(16), eq(v(0), n(0)));
    let arms = if_else(lt(bin(BinaryOp::Rem, Expr::Lane, n(16)), n(8)), vec![nop()], vec![nop()]);
    let mut run = warp(vec![S::For(0, n(0), n(2), vec![iff(ahead, vec![S::Continue]), arms, nop()])]);
    assert_eq!(fragments(&run), [(0xff, false), (0xff00, false), (0xff_0000, false), (0xff00_0000, false)]);
    // One of either iteration has come to the end of the same branch.
    run.play("0.0 0.1");
    assert_eq!(fragments(&run), [(0xff, true), (0xff00, false), (0xff_0000, true), (0xff00_0000, false)]);
    run.play("0.0");
    assert_eq!(fragments(&run), [(0xffff, false), (0xff_0000, true), (0xff00_0000, false)]);
    run.play("0.1");
    assert_eq!(fragments(&run), [(0xffff, false), (0xffff_0000, false)]);
}

#[test]
fn a_warp_waits_for_its_lanes_and_arrives_once() {
    // clause: ptx.warp-arrival
    // clause: barcheck.fragments
    let arms = || vec![if_else(lanes_below(8), vec![sync(1, 64)], vec![nop(), sync(1, 64)]), nop()];
    let mut run = Run::new(Group::new(Ptx, 64).one(arms()).one(vec![sync(1, 64)]).build());
    assert_eq!(run.play("0.0"), "park b1");
    assert!(run.config(0).is_blocked());
    assert_eq!(run.moves(0), 1, "the other fragment");
    assert_eq!(run.log("0 0"), ["fence", "arrive b1, block"]);
    assert_eq!(run.moves(0), 0);
    // The warp blocks as one: nobody is parked by itself.
    assert!(run.config(0).fragments.iter().all(|f| f.parked.is_none()));
    assert_eq!(run.config(0).waiting.map(|w| w.lanes), Some(u32::MAX));
    assert_eq!(run.play("1"), "arrive b1, block, complete b1, free 0, free 1");
    assert_eq!(fragments(&run), [(u32::MAX, false)], "each goes on from its own, and they join");
    assert_eq!(run.log("0 0"), ["fence", "exit"]);
}

#[test]
fn an_arrive_of_parked_fragments_goes_on() {
    // clause: ptx.arrive-no-wait
    let arms = vec![if_else(lanes_below(8), vec![arrive(1, 64), nop()], vec![arrive(1, 64)]), nop()];
    let mut run = Run::new(Group::new(Ptx, 64).one(arms).one(vec![]).build());
    assert_eq!(run.log("0.0 0.0"), ["park b1", "arrive b1"]);
    assert_eq!(fragments(&run), [(0xff, false), (!0xff, true)]);
    assert!(!run.config(0).is_blocked(), "nobody is parked any more");
    assert_eq!(run.log("0 0"), ["fence", "fence"]);
}

#[test]
fn an_exit_that_leaves_the_others_parked_is_their_arrival() {
    // clause: ptx.warp-arrival
    let arms = || vec![if_else(lanes_below(8), vec![nop(), exit()], vec![sync(1, 64)]), nop()];
    let mut run = Run::new(Group::new(Ptx, 64).one(arms()).one(vec![sync(1, 64)]).build());
    assert_eq!(run.log("0.1 0 0"), ["park b1", "fence", "lanes 0xff exit, arrive b1, block"]);
    assert_eq!(fragments(&run), [(!0xff, false)]);
    assert_eq!(run.machine.stands_at(&run.state, AgentId(0)), run.config(0).fragments[0].pc);
    assert_eq!(run.config(0).waiting.map(|w| (w.lanes, w.at)), Some((!0xff, run.config(0).fragments[0].pc)));
    assert_eq!(run.play("1"), "arrive b1, block, complete b1, free 0, free 1");
    assert_eq!(run.log("0 0"), ["fence", "exit"]);
    let arms = vec![if_else(lanes_below(8), vec![nop(), exit()], vec![arrive(1, 64)]), nop()];
    let mut run = Run::new(Group::new(Ptx, 64).one(arms).one(vec![]).build());
    assert_eq!(run.log("0.1 0 0"), ["park b1", "fence", "lanes 0xff exit, arrive b1"]);
    assert_eq!(run.log("0 0"), ["fence", "exit"]);
}

#[test]
fn an_exit_that_leaves_others_unparked_or_parked_apart_is_none() {
    let arms = |others: S| {
        let third = if_else(lanes_below(16), vec![sync(1, 64)], vec![others]);
        vec![if_else(lanes_below(8), vec![exit()], vec![third])]
    };
    let mut run = Run::new(Group::new(Ptx, 64).one(arms(sync(2, 64))).one(vec![]).build());
    assert_eq!(run.log("0.1 0.1 0"), ["park b1", "park b2", "lanes 0xff exit"]);
    assert_eq!(run.judgement(), "! deadlock 0");
    let mut run = Run::new(Group::new(Ptx, 64).one(arms(nop())).one(vec![]).build());
    assert_eq!(run.log("0.1 0.0"), ["park b1", "lanes 0xff exit"]);
}

#[test]
fn fragments_at_different_barriers_counts_or_operations_wait_for_ever() {
    // clause: ptx.warp-arrival
    let apart = |a: S, b: S| {
        let mut run = Run::new(
            Group::new(Ptx, 64).one(vec![if_else(lanes_below(8), vec![a], vec![b])]).one(vec![]).build(),
        );
        let log = run.log("0.0 0.0");
        assert!(log.iter().all(|line| line.starts_with("park")), "{log:?}");
        assert_eq!(run.judgement(), "! deadlock 0");
    };
    apart(sync(1, 64), sync(2, 64));
    apart(sync(1, 64), sync(1, 32));
    apart(sync(1, 64), arrive(1, 64));
    apart(red(ReductionOp::And, 1, 64, OPEN), red(ReductionOp::Or, 1, 64, OPEN));
    apart(red(ReductionOp::And, 1, 64, OPEN), sync(1, 64));
    // A missing count is the whole CTA's: the same count, no longer for live warps only.
    let same = vec![if_else(lanes_below(8), vec![sync(1, 0)], vec![sync(1, 64)])];
    let mut run = Run::new(Group::new(Ptx, 64).one(same.clone()).one(vec![]).build());
    assert_eq!(run.log("0.0 0.0"), ["park b1", "arrive b1, block"]);
    assert_eq!(run.judgement(), "! deadlock 0");
    let mut run = Run::new(Group::new(Ptx, 64).one(same).one(vec![]).build());
    assert_eq!(run.log("0.1 0.0"), ["park b1", "arrive b1, block"]);
    assert_eq!(run.judgement(), "! deadlock 0");
}

#[test]
fn fragments_add_up_in_a_reduction_and_each_gets_the_result() {
    // clause: ptx.red-result
    // clause: ptx.red-popc
    let arms = |op: ReductionOp, low: i64| {
        let first = red(op, 1, 32, truth(lanes_below(low)));
        let second = S::Op(match red(op, 1, 32, truth(lanes_below(32))) {
            S::Op(Op::Barrier(BarrierInstruction::Ptx(PtxOp {
                kind: PtxKind::Red { op, predicate, .. },
                aligned,
                id,
                count,
            }))) => Op::from(PtxOp {
                kind: PtxKind::Red { op, predicate, dest: Some(LocalId(1)) },
                aligned,
                id,
                count,
            }),
            _ => unreachable!("a reduction"),
        });
        let sides = if_else(lanes_below(8), vec![set(1, n(70)), first], vec![set(0, n(80)), second]);
        let mut run = warp(vec![sides, nop(), assert(add(v(0), v(1)))]);
        run.play("0.0 0.0");
        [(0, 0), (1, 0), (0, 31), (1, 31)].map(|(local, lane)| match run.lane_value(0, local, lane) {
            Value::Int(value) => value,
            other => panic!("{other:?}"),
        })
    };
    assert_eq!(arms(ReductionOp::Popc, 3), [27, 70, 80, 27]);
    assert_eq!(arms(ReductionOp::And, 3), [0, 70, 80, 0]);
    assert_eq!(arms(ReductionOp::And, 8), [1, 70, 80, 1]);
    assert_eq!(arms(ReductionOp::Or, 0), [1, 70, 80, 1]);
}

#[test]
fn a_parked_fragments_open_predicates_are_picked_when_it_parks() {
    let open = |op| {
        vec![
            if_else(lanes_below(8), vec![red(op, 1, 32, OPEN)], vec![red(op, 1, 32, OPEN)]),
            nop(),
            assert(v(0)),
        ]
    };
    let mut run = warp(open(ReductionOp::Popc));
    let choices = run.machine.moves(&run.state, AgentId(0)).iter().map(|m| m.choices).collect::<Vec<_>>();
    assert_eq!(choices, [Choices::Open(9), Choices::Open(25)]);
    assert_eq!(run.log("0.0.5 0.0.11"), ["park b1", "arrive b1, block, complete b1 =16, free 0"]);
    assert_eq!(run.value(0, 0), Value::Int(16));
    for (picks, all, some) in
        [("0.0.1 0.0.1", 1, 1), ("0.0.1 0.0.0", 0, 1), ("0.0.0 0.0.1", 0, 1), ("0.0.0 0.0.0", 0, 0)]
    {
        for (op, result) in [(ReductionOp::And, all), (ReductionOp::Or, some)] {
            let mut run = warp(open(op));
            run.play(picks);
            assert_eq!(run.value(0, 0), Value::Int(result), "{op:?} {picks}");
        }
    }
}

#[test]
fn an_aligned_barrier_needs_every_live_lane_of_the_warp() {
    // clause: ptx.aligned
    // clause: ptx.bar-is-aligned
    // clause: barcheck.aligned-per-warp
    let branch = |condition| {
        Group::new(Ptx, 64)
            .one(vec![iff(condition, vec![bar_sync(1, 64)])])
            .one(vec![bar_sync(1, 64)])
            .build()
    };
    assert_eq!(last(branch(lanes_below(8)), "0"), "END partial-warp");
    assert_eq!(last(branch(lanes_below(32)), "0 1"), "arrive b1, block, complete b1, free 0, free 1");
    // Two fragments at the same instruction are not all either; another warp may do something else.
    let arms = vec![if_else(lanes_below(8), vec![bar_sync(1, 64)], vec![bar_sync(1, 64)])];
    assert_eq!(last(Group::new(Ptx, 64).one(arms).one(vec![]).build(), "0"), "END partial-warp");
    let exited = vec![iff(lanes_below(8), vec![exit()]), bar_sync(1, 64)];
    let mut run = Run::new(Group::new(Ptx, 64).one(exited).one(vec![sync(1, 64)]).build());
    assert_eq!(run.log("0.0 0"), ["lanes 0xff exit", "arrive b1, block"]);
    assert_eq!(last(Group::new(Ptx, 40).many(2, vec![bar_sync(1, 64)]).build(), "1"), "arrive b1, block");
    // Operands are checked first.
    let bad = vec![iff(lanes_below(8), vec![bar_sync(16, 64)])];
    assert_eq!(last(Group::new(Ptx, 32).one(bad).build(), "0"), "END barrier-id-range");
    let bad = vec![iff(lanes_below(8), vec![bar_sync(1, 48)])];
    assert_eq!(last(Group::new(Ptx, 32).one(bad).build(), "0"), "END count-range");
}

#[test]
fn lanes_with_other_operands_execute_apart_and_join_right_after() {
    // clause: barcheck.fragments
    let ids = arrive_of(by_lane(8, 1, 1), Some(n(32)));
    let mut run = warp(vec![ids, nop()]);
    assert_eq!(fragments(&run), [(0xff, false), (!0xff, false)]);
    assert_eq!(run.log("0.0 0.0"), ["park b1", "park b2"]);
    assert_eq!(run.judgement(), "! deadlock 0");
    let counts = sync_of(n(1), Some(by_lane(8, 32, 32)));
    let run = Run::new(Group::new(Ptx, 64).one(vec![counts]).one(vec![]).build());
    assert_eq!(run.moves(0), 2);
    let arv = bcu(BcuOp::Arv { id: register(by_lane(8, 1, 1)), count: immediate(64) });
    let mut run = Run::new(Group::new(Bcu, 32).one(vec![arv, nop(), nop()]).build());
    assert_eq!(run.log("0.0")[0], "arrive b1");
    assert_eq!(fragments(&run), [(0xff, true), (!0xff, false)]);
    assert!(matches!(run.config(0).fragments[0].join, Some(Join::After(Pc(0)))));
    assert_eq!(run.log("0")[0], "arrive b2");
    assert_eq!(fragments(&run), [(u32::MAX, false)]);
}

#[test]
fn lanes_with_other_bounds_decide_apart() {
    let mut run = warp(vec![any(0, by_lane(8, 0, 10), by_lane(8, 2, 10)), nop(), assert(v(0))]);
    assert_eq!(run.moves(0), 2);
    run.play("0.0.1 0.0.0");
    assert_eq!(fragments(&run), [(u32::MAX, false)]);
    assert_eq!((run.lane_value(0, 0, 0), run.lane_value(0, 0, 8)), (Value::Int(1), Value::Int(10)));
    let upper = warp(vec![any(0, n(0), by_lane(8, 2, 1)), nop()]);
    assert_eq!(upper.moves(0), 2);
}

#[test]
fn lanes_whose_state_ids_differ_execute_apart() {
    // clause: bcu.r2b-id-ignored
    let id = || by_lane(8, 1, 1);
    let popc = bred(ReductionOp::Popc, 5, 32, truth(n(1)));
    let saved = bcu(BcuOp::ReadWarp { dest: Some(LocalId(5)), id: None });
    for op in [
        BcuOp::ReadBarrier { dest: None, id: id() },
        BcuOp::WriteBarrier { id: id(), source: v(5) },
        BcuOp::ReadWarp { dest: None, id: Some(id()) },
        BcuOp::WriteWarp { id: Some(id()), source: v(5) },
    ] {
        let body = vec![popc.clone(), saved.clone(), bcu(op), nop()];
        let mut run = Run::new(Group::new(Bcu, 32).one(body).build());
        run.play("0 0");
        assert_eq!(run.moves(0), 2);
    }
}

#[test]
fn where_some_lane_cannot_evaluate_its_operands_the_step_fails_for_all() {
    // clause: barcheck.evaluation-error
    let zero_in = |lane: i64| bin(BinaryOp::Div, n(1), bin(BinaryOp::Sub, Expr::Lane, n(lane)));
    let mut run = warp(vec![sync_of(zero_in(31), None)]);
    assert_eq!(run.moves(0), 1);
    assert_eq!(run.play("0"), "FAULT DivisionByZero");
    let mut run = warp(vec![red_unkept(ReductionOp::Or, 1, 32, truth(zero_in(31)))]);
    assert_eq!(run.play("0"), "FAULT DivisionByZero");
    let arv = bcu(BcuOp::Arv { id: register(zero_in(31)), count: immediate(32) });
    assert_eq!(last(Group::new(Bcu, 32).one(vec![arv]).build(), "0"), "FAULT DivisionByZero");
    assert_eq!(warp(vec![if_else(zero_in(31), vec![nop()], vec![nop()])]).play("0"), "disabled");
    // The first lane that differs from a lane in range is refused by itself.
    let mut run = warp(vec![sync_of(by_lane(8, 1, 15), None)]);
    assert_eq!(run.log("0.1 0.0"), ["END barrier-id-range", "park b1"]);
}

#[test]
fn one_fragment_may_spin_while_the_others_go_on() {
    let mut run = warp(vec![if_else(lanes_below(8), vec![forever(vec![])], vec![nop(), sync(1, 32)])]);
    assert_eq!(run.log("0.0 0.1 0.1"), ["no effect", "fence", "park b1"]);
    assert_eq!(run.log("0.0"), ["no effect"]);
    assert!(run.config(0).is_blocked());
    assert_eq!(run.judgement(), "", "the warp has a step for ever");
}

#[test]
fn a_blocked_bcu_fragment_goes_on_alone_and_joins() {
    // clause: bcu.warp-blocks-whole
    let arms = vec![if_else(lanes_below(8), vec![bsync(1, 32), nop()], vec![nop()]), nop()];
    let mut run = Run::new(Group::new(Bcu, 32).one(arms).build());
    assert_eq!(run.log("0.0 0.0"), ["arrive b1, block, complete b1, free 0", "fence"]);
    assert_eq!(fragments(&run), [(0xff, true), (!0xff, false)]);
    run.play("0");
    assert_eq!(fragments(&run), [(u32::MAX, false)]);
    // The second fragment is the one that blocks and goes on.
    let arms = vec![if_else(lanes_below(8), vec![nop()], vec![bsync(1, 64), nop()]), nop()];
    let mut run = Run::new(Group::new(Bcu, 64).one(arms).one(vec![barv(1, 64)]).build());
    assert_eq!(run.log("0.1 0 1"), ["arrive b1, block", "disabled", "arrive b1, complete b1, free 0"]);
    assert_eq!(run.log("0.1 0 0"), ["fence", "fence", "fence"]);
    assert_eq!(fragments(&run), [(u32::MAX, false)]);
}

/// A count of 6 tells what one of 5 does not if somebody asks whether it is greater than 5; one of 7 tells no
/// more.
#[test]
fn counts_that_nobody_tells_apart_are_not_tried() {
    // clause: ptx.red-popc
    let counted = |uses: Vec<S>| [vec![red(ReductionOp::Popc, 1, 32, OPEN)], uses].concat();
    let choices = |program| {
        let run = Run::new(program);
        let agents: Vec<AgentId> = run.machine.agents().collect();
        agents.iter().map(|agent| run.machine.moves(&run.state, *agent)[0].choices).collect::<Vec<_>>()
    };
    let alone = |uses| choices(Group::new(Ptx, 32).one(counted(uses)).build());
    let asked = |op| assert(bin(op, v(0), n(5)));
    assert_eq!(alone(vec![assert(eq(v(0), n(0)))]), [Choices::Open(2)]);
    for op in [BinaryOp::Gt, BinaryOp::Eq, BinaryOp::Le, BinaryOp::Lt] {
        assert_eq!(alone(vec![asked(op)]), [Choices::Open(7)], "{op:?}");
    }
    assert_eq!(alone(vec![assert(bin(BinaryOp::Gt, n(40), v(0)))]), [Choices::Open(33)]);
    // What is computed of it tells them all apart.
    let remainder = assert(eq(bin(BinaryOp::Rem, v(0), n(4)), n(0)));
    let copied = vec![set(1, v(0)), assert(eq(v(1), n(0)))];
    for uses in [vec![remainder], copied, vec![sync_of(v(0), None)], vec![asked(BinaryOp::Gt), assert(v(0))]]
    {
        assert_eq!(alone(uses), [Choices::Open(33)]);
    }
    // Whoever asks, all contribute to what is counted.
    let (one, other) = (counted(vec![assert(eq(v(0), n(0)))]), counted(vec![asked(BinaryOp::Gt)]));
    assert_eq!(choices(Group::new(Ptx, 64).one(one).one(other).build()), [Choices::Open(7); 2]);
}
