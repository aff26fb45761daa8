//! Instructions on mbarrier objects, executed by the lanes of a warp.

use crate::common::*;
use barcheck_model::agent::{Choices, Value};
use barcheck_model::barrier::mbarrier::Barrier;
use barcheck_model::program::Target::Ptx;
use barcheck_model::program::*;

/// A warp by itself, with an object that expects so many arrivals (0), another one that does (1), and an
/// array of two that are not initialised (2).
fn warp(expected: u32, body: Vec<S>) -> Run {
    let group = Group::new(Ptx, 32).array(Space::Shared, Some(4)).one(body);
    let live = (None, Some(expected));
    Run::new(with_objects(group.build(), &[live, live, (Some(2), None)]))
}

/// Warps that share an object that expects so many arrivals.
fn warps(expected: u32, bodies: &[Vec<S>]) -> Run {
    let agents = u32::try_from(bodies.len()).expect("few");
    let mut group = Group::new(Ptx, agents * 32);
    for body in bodies {
        group = group.one(body.clone());
    }
    Run::new(with_objects(group.build(), &[(None, Some(expected))]))
}

fn nop() -> S {
    fence(NEITHER)
}

/// What one of the first lanes does alone.
fn one_lane(body: Vec<S>) -> S {
    iff(lanes_below(1), body)
}

// clause: ptx.mbarrier-every-lane, ptx.mbarrier-arrive, ptx.mbarrier-arrive-expect, ptx.mbarrier-arrive-drop
// clause: ptx.mbarrier-expect-tx, ptx.mbarrier-complete-tx, ptx.mbarrier-init-once, ptx.mbarrier-live
#[test]
fn every_instruction_by_one_lane_and_by_a_warp() {
    let rows = [
        (0, ARRIVE, "even 95/96 arrivals, 0 bytes", "even 64/96 arrivals, 0 bytes"),
        (
            0,
            arrive_with(Some(n(3)), None, false),
            "even 93/96 arrivals, 0 bytes",
            "odd 96/96 arrivals, 0 bytes",
        ),
        (
            0,
            arrive_with(None, Some(n(8)), false),
            "even 95/96 arrivals, 8 bytes",
            "even 64/96 arrivals, 256 bytes",
        ),
        (0, arrive_with(None, None, true), "even 95/95 arrivals, 0 bytes", "even 64/64 arrivals, 0 bytes"),
        (
            0,
            arrive_with(Some(n(2)), None, true),
            "even 94/94 arrivals, 0 bytes",
            "even 32/32 arrivals, 0 bytes",
        ),
        (0, MbarrierKind::ExpectTx(n(8)), "even 96/96 arrivals, 8 bytes", "even 96/96 arrivals, 256 bytes"),
        (
            0,
            MbarrierKind::CompleteTx(n(8)),
            "even 96/96 arrivals, -8 bytes",
            "even 96/96 arrivals, -256 bytes",
        ),
        (0, MbarrierKind::Init(n(7)), "END mbarrier-live", "END mbarrier-live"),
        (2, MbarrierKind::Init(n(7)), "even 7/7 arrivals, 0 bytes", "END mbarrier-live"),
        (0, MbarrierKind::Inval, "dead", "END mbarrier-not-live"),
        (2, MbarrierKind::Inval, "END mbarrier-not-live", "END mbarrier-not-live"),
        (2, ARRIVE, "END mbarrier-not-live", "END mbarrier-not-live"),
    ];
    for (objects, kind, by_one, by_all) in rows {
        for (lanes, expected) in [(1, by_one), (32, by_all)] {
            let mut run = warp(96, vec![iff(lanes_below(lanes), vec![on(objects, kind.clone())]), nop()]);
            let log = run.play("0");
            let found = if log.starts_with("END") { log } else { object_name(&run, objects) };
            assert_eq!(found, expected, "{kind:?} by {lanes}");
        }
    }
}

// clause: ptx.mbarrier-every-lane, ptx.bulk-copy-completes, ptx.commit-arrives
#[test]
fn copies_and_commits_of_all_lanes_land_together() {
    let copy = MbarrierKind::Copy { bytes: n(8), to: None, by: Means::Bulk };
    for (kind, lanes, bytes, arrivals) in [
        (copy.clone(), 1, -8, 96),
        (copy, 32, -256, 96),
        (MbarrierKind::Commit, 1, 0, 95),
        (MbarrierKind::Commit, 32, 0, 64),
    ] {
        let mut run = warp(96, vec![iff(lanes_below(lanes), vec![on(0, kind.clone())]), nop()]);
        assert!(run.play("0").starts_with("issued"));
        assert_eq!(object_name(&run, 0), "even 96/96 arrivals, 0 bytes", "nothing has landed yet");
        run.land(0);
        assert_eq!(object_name(&run, 0), format!("even {arrivals}/96 arrivals, {bytes} bytes"), "{kind:?}");
    }
}

// clause: ptx.mbarrier-count-range, ptx.mbarrier-tx-range, ptx.mbarrier-pending-range, ptx.mbarrier-parity
#[test]
fn operands_are_checked_for_each_lane_and_for_all_of_them() {
    let most = (1 << 20) - 1;
    let outcome = |lanes, kind| warp(96, vec![iff(lanes_below(lanes), vec![on(0, kind)]), nop()]).play("0");
    for count in [0, most + 1] {
        let kinds = [arrive_with(Some(n(count)), None, false), MbarrierKind::Init(n(count))];
        for kind in kinds {
            assert_eq!(outcome(1, kind), "END count-range");
        }
    }
    // The lanes together arrive as often as each of them would, one after the other.
    assert_eq!(outcome(32, arrive_with(Some(n(most)), None, false)), "END over-arrival");
    assert_eq!(outcome(32, arrive_with(Some(n(4)), None, false)), "END over-arrival");
    // Of bytes it is their sum that is in range: each lane's share is a 32nd of it.
    let share = most / 32;
    for kind in [MbarrierKind::ExpectTx, MbarrierKind::CompleteTx] {
        assert_eq!(outcome(32, kind(n(share + 1))), "END tx-range");
        assert_eq!(outcome(1, kind(n(-1))), "END tx-range");
        assert_eq!(outcome(1, kind(n(share + 1))), "count b16");
        assert_eq!(outcome(32, kind(n(share))), "count b16");
    }
    for parity in [-1, 2] {
        let wait = MbarrierKind::Wait { phase: Awaited::Parity(n(parity)), relaxed: false };
        assert_eq!(outcome(32, wait), "END parity-range");
    }
}

#[test]
fn an_array_has_an_object_for_each_index_and_none_beyond() {
    // clause: barcheck.evaluation-error
    let init = |index: Expr| vec![one_lane(vec![on_one(2, Some(index), None, MbarrierKind::Init(n(5)))])];
    for (index, number) in [(0, 2), (1, 3)] {
        let mut run = warp(96, init(n(index)));
        assert_eq!(run.play("0"), format!("begin b{}", 16 + number));
        assert_eq!(object_name(&run, number), "even 5/5 arrivals, 0 bytes");
        assert_eq!(object_in(&run, 5 - number), Barrier::Dead);
    }
    for index in [-1, 2] {
        let outcome = warp(96, init(n(index))).play("0");
        assert_eq!(outcome, format!("FAULT IndexOutside {{ index: {index}, length: 2 }}"));
    }
}

// clause: ptx.mbarrier-every-lane, barcheck.fragments
#[test]
fn lanes_with_other_operands_execute_apart_and_those_that_agree_together() {
    let apart = |kind: MbarrierKind| warp(96, vec![on(0, kind), nop()]).moves(0);
    for (kind, moves) in [
        (arrive_with(Some(by_lane(8, 1, 1)), None, false), 2),
        (arrive_with(None, Some(by_lane(8, 8, 8)), false), 2),
        (MbarrierKind::ExpectTx(by_lane(8, 8, 8)), 2),
        (MbarrierKind::ExpectTx(by_lane(8, 8, 0)), 1),
        (MbarrierKind::CompleteTx(Expr::Lane), 32),
        (MbarrierKind::Copy { bytes: by_lane(8, 8, 8), to: None, by: Means::Bulk }, 2),
        (
            MbarrierKind::Copy {
                bytes: n(8),
                to: Some((ArrayId(0), Some(by_lane(8, 0, 1)))),
                by: Means::Bulk,
            },
            2,
        ),
    ] {
        assert_eq!(apart(kind.clone()), moves, "{kind:?}");
    }
    let mut run = warp(96, vec![on(0, arrive_with(Some(by_lane(8, 1, 1)), None, false)), nop()]);
    assert_eq!(run.log("0.0 0.0 0"), ["arrive b16", "arrive b16", "fence"]);
    assert_eq!(object_name(&run, 0), "even 40/96 arrivals, 0 bytes", "8 lanes once, 24 twice");
}

/// `if (lane < stages) init(&full[lane], count)`, as kernels begin; and what is in range for each lane.
// clause: ptx.mbarrier-every-lane, ptx.mbarrier-init, ptx.mbarrier-inval, ptx.mbarrier-tx-range
#[test]
fn lanes_that_name_objects_of_their_own_do_not_meet() {
    let each = |kind| iff(lanes_below(2), vec![on_one(2, Some(Expr::Lane), None, kind)]);
    let mut run = warp(96, vec![each(MbarrierKind::Init(n(5))), each(MbarrierKind::Inval), nop()]);
    assert_eq!(run.log("0.0 0.0"), ["begin b18", "begin b19"]);
    assert_eq!([2, 3].map(|number| object_name(&run, number)), ["even 5/5 arrivals, 0 bytes"; 2]);
    assert_eq!(run.log("0.0 0.0"), ["begin b18", "begin b19"]);
    assert_eq!([2, 3].map(|number| object_name(&run, number)), ["dead"; 2]);
    let half = bin(BinaryOp::Shr, Expr::Lane, n(4));
    let most = MbarrierKind::ExpectTx(n(((1 << 20) - 1) / 16));
    let init = each(MbarrierKind::Init(n(5)));
    let mut run = warp(96, vec![init, on_one(2, Some(half), None, most), nop()]);
    assert_eq!(run.log("0.0 0.0 0.0 0.0")[2..], ["count b18", "count b19"]);
    // Those that name the same one do.
    let shared = bin(BinaryOp::Div, Expr::Lane, n(31));
    let mut run = warp(96, vec![on_one(2, Some(shared), None, MbarrierKind::Init(n(5))), nop()]);
    assert_eq!(run.log("0.1 0.0"), ["begin b19", "END mbarrier-live"]);
}

#[test]
fn what_one_lane_cannot_evaluate_fails_for_all() {
    // clause: barcheck.evaluation-error
    let zero_in_last = bin(BinaryOp::Div, n(1), bin(BinaryOp::Sub, Expr::Lane, n(31)));
    let body = vec![on_one(2, Some(bin(BinaryOp::Mul, n(0), zero_in_last)), None, ARRIVE)];
    assert_eq!(warp(96, body).play("0"), "FAULT DivisionByZero");
    // A token that some lanes have got.
    let some = iff(lanes_below(8), vec![on(0, arrive_for(8))]);
    let mut run = warp(96, vec![some, on(0, MbarrierKind::Wait { phase: token(8), relaxed: false })]);
    assert_eq!(run.log("0 0"), ["arrive b16", "FAULT Unset(LocalId(8))"]);
}

// clause: ptx.mbarrier-token, ptx.mbarrier-token-wait
#[test]
fn an_arrival_yields_a_token_of_its_object_and_one_without_yields_none() {
    let mut run =
        warp(96, vec![on(1, arrive_for(8)), on(1, MbarrierKind::Wait { phase: token(8), relaxed: false })]);
    assert_eq!(run.value(0, 8), Value::Unset);
    assert_eq!(run.log("0 0"), ["arrive b17", "block"]);
    assert_eq!(run.value(0, 8), Value::Token(1));
    let mut run =
        warp(96, vec![on(1, ARRIVE), on(1, MbarrierKind::Wait { phase: token(8), relaxed: false })]);
    assert_eq!(run.log("0 0"), ["arrive b17", "FAULT Unset(LocalId(8))"]);
}

// clause: ptx.mbarrier-token-wait
#[test]
fn a_token_is_waited_with_on_its_own_object_alone() {
    let both = |waits: S| vec![on(0, arrive_for(8)), on(1, arrive_for(9)), waits, assert(n(1))];
    let wait = |object, local| on(object, MbarrierKind::Wait { phase: token(local), relaxed: false });
    for (object, local, outcome) in
        [(0, 8, "block"), (1, 9, "block"), (0, 9, "END stale-token"), (1, 8, "END stale-token")]
    {
        assert_eq!(warp(96, both(wait(object, local))).play("0 0 0"), outcome, "{local} on {object}");
    }
    // A number is no token.
    let body =
        vec![set(0, n(0)), on(0, ARRIVE), on(0, MbarrierKind::Wait { phase: token(0), relaxed: false })];
    assert_eq!(warp(96, body).play("0 0"), "END stale-token");
}

// clause: ptx.mbarrier-token-wait, ptx.mbarrier-inval, ptx.mbarrier-init
#[test]
fn a_token_does_not_outlive_its_object() {
    let anew = [MbarrierKind::Inval, MbarrierKind::Init(n(96))].map(|kind| one_lane(vec![on(0, kind)]));
    let wait = on(0, MbarrierKind::Wait { phase: token(8), relaxed: false });
    let body = [vec![on(0, arrive_for(8))], anew.to_vec(), vec![wait]].concat();
    assert_eq!(warp(96, body).log("0 0 0 0"), ["arrive b16", "begin b16", "begin b16", "END stale-token"]);
}

/// Lanes that have got tokens of different objects wait apart.
// clause: ptx.mbarrier-token-wait, barcheck.fragments
#[test]
fn lanes_whose_tokens_differ_wait_apart() {
    let arms = if_else(lanes_below(8), vec![on(0, arrive_for(8))], vec![on(1, arrive_for(8))]);
    let waits = on_one(0, None, None, test(token(8), false, 0));
    let mut run = warp(32, vec![arms, waits, assert(add(v(0), n(1)))]);
    assert_eq!(run.log("0.0 0.0"), ["arrive b16", "arrive b17"]);
    assert_eq!(run.moves(0), 2);
    assert_eq!(run.log("0.0 0.0"), ["ask b16 =false", "END stale-token"]);
}

// clause: ptx.mbarrier-token
#[test]
fn all_tokens_of_an_object_that_a_warp_holds_name_one_phase() {
    // A warp arrives and waits, and arrives once more: with what it holds of the first phase.
    let wait = || on(0, MbarrierKind::Wait { phase: parity(0), relaxed: false });
    let held = |local| on(0, test(token(local), false, 0));
    let play = |first: S, second: S, last: Vec<S>| {
        let mut run = warp(32, [vec![first, wait(), second], last, vec![nop()]].concat());
        run.play("0 0 0")
    };
    let several = "CUT SeveralTokens";
    assert_eq!(play(on(0, arrive_for(8)), on(0, arrive_for(9)), vec![held(8), held(9)]), several);
    // The first is not needed any more, or is replaced, or is of another object.
    let goes_on = "arrive b16, complete b16";
    assert_eq!(play(on(0, arrive_for(8)), on(0, arrive_for(9)), vec![held(9)]), goes_on);
    assert_eq!(play(on(0, arrive_for(8)), on(0, arrive_for(8)), vec![held(8)]), goes_on);
    assert_eq!(play(on(0, arrive_for(8)), on(0, ARRIVE), vec![held(8)]), goes_on);
    let mut run = warp(
        32,
        vec![
            on(0, ARRIVE),
            wait(),
            on(1, arrive_for(8)),
            on(0, arrive_for(9)),
            on(1, test(token(8), false, 0)),
            held(9),
            nop(),
        ],
    );
    assert_eq!(run.play("0 0 0 0"), goes_on);
}

// clause: ptx.mbarrier-token
#[test]
fn tokens_of_one_phase_may_be_many_in_several_locals_or_lanes() {
    let held = |local| on(0, test(token(local), false, 0));
    let twice = vec![on(0, arrive_for(8)), on(0, arrive_for(9)), held(8), held(9), nop()];
    assert_eq!(warp(96, twice).log("0 0"), ["arrive b16"; 2]);
    // Other lanes hold one of an earlier phase in the same local.
    let arms = |between: Vec<S>| {
        let late = [between, vec![on(0, arrive_for(8))]].concat();
        vec![if_else(lanes_below(16), vec![on(0, arrive_for(8))], late), held(8), nop()]
    };
    let mut run = warp(96, arms(vec![]));
    assert_eq!(run.log("0.0 0.0 0"), ["arrive b16", "arrive b16", "ask b16 =false"]);
    let more = vec![on(0, MbarrierKind::Wait { phase: parity(0), relaxed: false })];
    let mut run = warp(16, arms(more));
    assert_eq!(run.log("0.0 0.0 0.0"), ["arrive b16, complete b16", "pass b16", "CUT SeveralTokens"]);
}

// clause: ptx.mbarrier-test-wait, ptx.mbarrier-parity-wait
#[test]
fn a_test_tells_whether_the_phase_is_complete_and_a_try_may_give_up() {
    let asked = |odd, gives_up| warp(96, vec![on(0, test(parity(odd), gives_up, 0)), assert(v(0))]);
    // On a fresh object the phase of parity 1 counts as complete.
    for (odd, gives_up, pick, outcome, dest) in [
        (0, false, 0, "ask b16 =false", Some(0)),
        (1, false, 0, "ask b16 =true, pass b16", Some(1)),
        (1, false, 1, "disabled", None),
        (0, true, 0, "ask b16 =false", Some(0)),
        (1, true, 0, "ask b16 =true, pass b16", Some(1)),
        (1, true, 1, "ask b16 =false", Some(0)),
    ] {
        let mut run = asked(odd, gives_up);
        let choices = if gives_up { Choices::Open(2) } else { Choices::One };
        assert_eq!(run.machine.moves(&run.state, AgentId(0))[0].choices, choices);
        assert_eq!(run.play(&format!("0.0.{pick}")), outcome, "{odd} {gives_up} {pick}");
        assert_eq!(run.value(0, 0), dest.map_or(Value::Unset, Value::Int), "{odd} {gives_up} {pick}");
    }
    // An answer that nobody keeps.
    let kind = MbarrierKind::Test { phase: parity(1), gives_up: false, relaxed: false, dest: None };
    assert_eq!(warp(96, vec![on(0, kind), nop()]).log("0 0"), ["ask b16 =true, pass b16", "fence"]);
}

/// `while !try_wait` is a wait, and its answer is true in the end.
// clause: ptx.mbarrier-try-wait, barcheck.asking-loop
#[test]
fn a_loop_that_asks_until_the_phase_is_complete_waits_and_ends_with_true() {
    let asks = |odd| {
        let again = while_do(eq(v(0), n(0)), vec![on(0, test(parity(odd), true, 0))]);
        vec![set(0, n(0)), again, assert(eq(v(0), n(1)))]
    };
    let mut run = warps(32, &[asks(1), vec![nop()]]);
    assert_eq!(run.log("0 0"), ["pass b16", ""], "the phase is complete");
    let mut run = warps(32, &[asks(0), vec![on(0, ARRIVE)]]);
    assert_eq!(run.log("0 1 0"), ["block", "arrive b16, complete b16, free 0", ""]);
    assert_eq!(run.play("0"), "exit");
}

/// A question whose answer decides alone whether the same phase is waited for.
// clause: ptx.mbarrier-try-wait, barcheck.asking-loop
#[test]
fn a_question_before_a_wait_for_the_same_phase_is_the_wait() {
    let asks = |odd| on(0, test(parity(odd), true, 0));
    let waits = |odd| on(0, MbarrierKind::Wait { phase: parity(odd), relaxed: false });
    let no = || eq(v(0), n(0));
    let again = || while_do(no(), vec![asks(0)]);
    for (then, found) in [
        (vec![iff(no(), vec![waits(0)]), nop()], "block"),
        (vec![again(), nop()], "block"),
        // The answer is asked for once more, or the phase is another one, or there is more to do.
        (vec![iff(no(), vec![waits(0)]), assert(v(0))], "ask b16 =false"),
        (vec![iff(no(), vec![waits(1)]), nop()], "ask b16 =false"),
        (vec![iff(no(), vec![nop(), waits(0)]), nop()], "ask b16 =false"),
        (vec![iff(no(), vec![waits(0)]), iff(no(), vec![nop()])], "ask b16 =false"),
    ] {
        let body = [vec![asks(0)], then].concat();
        assert_eq!(warps(32, &[body, vec![on(0, ARRIVE)]]).play("0"), found);
    }
    let body = vec![asks(0), iff(no(), vec![waits(0)]), nop()];
    let mut run = warps(32, &[body, vec![on(0, ARRIVE)]]);
    assert_eq!(run.log("0 1 0"), ["block", "arrive b16, complete b16, free 0", "fence"]);
}

// clause: barcheck.not-modelled, ptx.mbarrier-try-wait
#[test]
fn lanes_wait_for_a_phase_while_the_others_wait_for_them() {
    let wait = || on(0, MbarrierKind::Wait { phase: parity(0), relaxed: false });
    let asks = || {
        let again = while_do(eq(v(0), n(0)), vec![on(0, test(parity(0), true, 0))]);
        vec![set(0, n(0)), again, assert(v(0))]
    };
    let refused = "CUT DivergentWait";
    for waits in [vec![wait()], asks()] {
        assert_eq!(warp(96, waits.clone()).play("0"), "block");
        // The others are at the end of the branch.
        assert_eq!(warp(96, vec![iff(lanes_below(8), waits.clone())]).play("0"), "block");
        assert_eq!(warp(96, vec![iff(not(lanes_below(8)), waits.clone())]).play("0"), "block");
        // They do something else.
        let arms = |a: Vec<S>, b: Vec<S>| vec![if_else(lanes_below(8), a, b), nop()];
        assert_eq!(warp(96, arms(waits.clone(), vec![nop()])).play("0.0"), refused);
        assert_eq!(warp(96, arms(vec![nop()], waits.clone())).play("0.1"), refused);
        assert_eq!(warp(96, arms(vec![nop()], waits.clone())).log("0.0 0"), ["fence", "block"]);
        // They are parked at a barrier.
        let mut run = warp(96, arms(vec![sync(1, 32)], waits));
        assert_eq!(run.log("0.0 0"), ["park b1", "block"]);
    }
    // Nobody waits who arrives, or asks once.
    for kind in [ARRIVE, test(parity(0), false, 0)] {
        let mut run = warp(96, vec![if_else(lanes_below(8), vec![on(0, kind)], vec![nop()]), nop()]);
        assert!(!run.play("0.0").starts_with("CUT"));
    }
}

/// Two CTAs of two warps: the first warp writes and arrives, and one of either CTA reads what it wrote once
/// it has waited.
// clause: ptx.mbarrier-scope, ptx.mbarrier-release, ptx.mbarrier-relaxed, barcheck.remote-default-scope
#[test]
fn an_arrival_publishes_as_far_as_its_scope_reaches() {
    for (relaxed, within_cta, cta, found) in [
        (false, false, 0, ""),
        (false, false, 1, ""),
        (false, true, 0, ""),
        (false, true, 1, " ! missing-fence 0,2"),
        (true, false, 0, " ! missing-fence 0,1"),
        (true, true, 1, " ! missing-fence 0,2"),
    ] {
        let kind = MbarrierKind::Arrive {
            count: None,
            bytes: None,
            drops: false,
            no_complete: false,
            relaxed,
            within_cta,
            token: None,
        };
        let reads = vec![on(0, MbarrierKind::Wait { phase: parity(0), relaxed: false }), read(0)];
        let group = Group::new(Ptx, 64)
            .scalar(Space::Global)
            .one(vec![write(0), on_one(0, None, Some(n(cta)), kind)])
            .many(3, reads);
        let mut run = Run::new(Program { ctas: 2, ..with_objects(group.build(), &[(None, Some(32))]) });
        let reader = cta + 1;
        let log = run.log(&format!("0 0 {reader} {reader}"));
        assert_eq!(log[2..], [format!("pass b{}", 16 + cta), format!("access 0{found}")], "{cta}");
    }
}

// clause: ptx.cta-scope, ptx.remote-lifetime
#[test]
fn a_remote_arrival_is_one_on_the_object_of_the_cta_that_it_names() {
    let run = |cta: Expr| {
        let body = vec![on_one(0, None, Some(cta), ARRIVE), sync(1, 0)];
        let group = Group::new(Ptx, 32).many(2, body);
        Run::new(Program { ctas: 2, ..with_objects(group.build(), &[(None, Some(64))]) })
    };
    let mut other = run(bin(BinaryOp::Sub, n(1), Expr::Cta));
    assert_eq!(other.log("0 1"), ["arrive b17", "arrive b16"]);
    assert_eq!(run(Expr::Lane).play("0.0"), "FAULT IndexOutside { index: 2, length: 2 }");
    for cta in [-1, 2] {
        let outcome = run(n(cta)).play("0");
        assert_eq!(outcome, format!("FAULT IndexOutside {{ index: {cta}, length: 2 }}"));
    }
    let mut apart = run(by_lane(8, 0, 1));
    assert_eq!(apart.log("0.0 0.0"), ["arrive b16", "arrive b17"]);
    assert_eq!(
        [0, 1].map(|number| object_name(&apart, number)),
        ["even 56/64 arrivals, 0 bytes", "even 40/64 arrivals, 0 bytes"]
    );
}
