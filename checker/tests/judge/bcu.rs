//! Rules of `bcu`.

use crate::{comes_to, shows};
use barcheck_naive::build::*;
use barcheck_naive::explore::Verdict;
use barcheck_naive::protocol::*;

fn two(first: Vec<Stmt>, second: Vec<Stmt>) -> Protocol {
    protocol(Target::Bcu, 64, vec![(0..1, first), (1..2, second)])
}

fn both(body: Vec<Stmt>) -> Protocol {
    protocol(Target::Bcu, 64, vec![(0..2, body)])
}

fn popc() -> Stmt {
    bar_red(RedOp::Popc, 1, 64, pred(1))
}

#[test]
fn a_missing_partner_deadlocks() {
    shows(&two(vec![bar_sync(1, 64)], vec![]), &["deadlock"]);
    shows(&both(vec![bar_sync(1, 64)]), &[]);
}

#[test]
fn count_zero_waits_for_the_warps_that_live() {
    shows(&two(vec![bar_sync(1, 0)], vec![]), &[]);
    shows(&two(vec![bar_sync(1, 0)], vec![assert_(1)]), &[]);
    let partial = protocol(Target::Bcu, 40, vec![(0..2, vec![bar_sync(1, 0)])]);
    shows(&partial, &[]);
}

#[test]
fn zero_and_the_cta_size_are_different_counts() {
    shows(&two(vec![bar_sync(1, 0)], vec![bar_sync(1, 64)]), &["count-mismatch"]);
}

#[test]
fn an_overshot_count_hangs() {
    // A count beyond the CTA is no error of its own.
    shows(&both(vec![bar_sync(1, 96)]), &["deadlock"]);
}

#[test]
fn counts_are_multiples_of_32_in_12_bits() {
    for count in [-32, 48, 4096] {
        shows(&both(vec![bar_sync(1, count)]), &["count-range"]);
    }
    shows(&both(vec![bar_arv(1, 0)]), &["count-range"]);
}

#[test]
fn barriers_are_sixteen() {
    shows(&both(vec![bar_sync(16, 64)]), &["barrier-id-range"]);
    let ignored = instr(Instr::B2rWarp { rd: "R1".into(), id: Some(16.into()) });
    shows(&both(vec![ignored]), &["barrier-id-range"]);
    shows(&both(vec![bar_sync(15, 64)]), &[]);
}

#[test]
fn registers_are_truncated_and_then_checked() {
    let body = |id: i32, count: i32| vec![set("R4", id), set("R5", count), bar_sync(v("R4"), v("R5"))];
    shows(&both(body(1, 64)), &[]);
    shows(&both(body(0x11, 64)), &["register-truncated"]);
    shows(&both(body(1, 0x1040)), &["register-truncated"]);
    shows(&both(body(1, 0x1030)), &["count-range"]);
}

#[test]
fn a_packed_register_holds_id_and_count() {
    let packed = |value: i32| {
        let red = instr(Instr::BarRedPacked { op: RedOp::Or, packed: "R6".into(), pred: pred(1) });
        vec![set("R6", value), red]
    };
    shows(&both(packed(1 | (64 << 4))), &[]);
    shows(&both(packed(1 | (64 << 4) | (1 << 16))), &["register-truncated"]);
}

#[test]
fn a_register_that_was_never_set_is_an_error() {
    comes_to(&both(vec![bar_sync(v("R4"), 64)]), Verdict::Error);
    comes_to(&both(vec![bar_sync(v("RZ"), 64)]), Verdict::Verified);
}

#[test]
fn a_second_arrival_counts_twice() {
    let body = vec![bar_arv(1, 64), bar_arv(1, 64)];
    shows(&two(body, vec![]), &["nobody-waits", "repeated-arrival"]);
}

#[test]
fn more_warps_than_a_generation_has_room_for() {
    let p = protocol(Target::Bcu, 96, vec![(0..3, vec![bar_sync(1, 64)])]);
    shows(&p, &["arrival-race", "deadlock"]);
}

#[test]
fn ids_of_reductions_are_their_own_for_ever() {
    shows(&both(vec![popc(), bar_sync(1, 64)]), &["mixed-red"]);
    shows(&both(vec![bar_sync(1, 64), popc()]), &["mixed-red"]);
    shows(&both(vec![bar_sync(2, 64), popc()]), &[]);
}

#[test]
fn reductions_agree_on_their_operator() {
    let with = |op| vec![bar_red(op, 1, 64, pred(1))];
    shows(&two(with(RedOp::And), with(RedOp::Or)), &["mixed-red-op"]);
    let after = |first, second| {
        vec![bar_red(first, 1, 64, pred(1)), b2r_result("RZ", None), bar_red(second, 1, 64, pred(1))]
    };
    shows(&both(after(RedOp::And, RedOp::Or)), &[]);
}

#[test]
fn a_result_needs_a_reduction() {
    shows(&both(vec![b2r_result("R7", None)]), &["undefined-result"]);
    shows(&both(vec![b2r_result("RZ", Some("PT"))]), &[]);
    let warp = instr(Instr::B2rWarp { rd: "R9".into(), id: None });
    shows(&both(vec![warp.clone()]), &["undefined-result"]);
    shows(&both(vec![popc(), warp]), &[]);
}

#[test]
fn a_result_is_in_the_register_or_in_the_predicate() {
    shows(&both(vec![popc(), b2r_result("R7", Some("PT")), assert_(eq(v("R7"), 64))]), &[]);
    shows(&both(vec![popc(), b2r_result("RZ", Some("P1"))]), &["undefined-result"]);
    let or = || bar_red(RedOp::Or, 1, 64, pred(eq(own(), 1)));
    shows(&both(vec![or(), b2r_result("RZ", Some("P1")), assert_(v("P1"))]), &[]);
    shows(&both(vec![or(), b2r_result("R7", Some("P1"))]), &["undefined-result"]);
}

#[test]
fn a_result_that_nobody_fetched_is_overwritten() {
    shows(&both(vec![popc(), popc()]), &["result-overwritten"]);
    shows(&both(vec![popc(), b2r_result("RZ", None), popc()]), &[]);
    let save = instr(Instr::B2rWarp { rd: "R9".into(), id: None });
    shows(&both(vec![popc(), save, popc()]), &[]);
}

#[test]
fn a_saved_result_can_be_put_back() {
    let save = instr(Instr::B2rWarp { rd: "R9".into(), id: None });
    let back = instr(Instr::R2bWarp { id: None, ra: "R9".into() });
    let or = bar_red(RedOp::Or, 2, 64, pred(0));
    let body = vec![
        popc(),
        save,
        or,
        b2r_result("RZ", None),
        back,
        b2r_result("R7", None),
        assert_(eq(v("R7"), 64)),
    ];
    shows(&both(body), &[]);
}

#[test]
fn a_barrier_that_holds_an_arrival_must_not_be_written() {
    let p = two(vec![b2r_bar("R8", 1), bar_arv(1, 64), r2b_bar(1, "R8")], vec![]);
    shows(&p, &["state-clobbered"]);
    let same = vec![bar_arv(1, 64), b2r_bar("R8", 1), r2b_bar(1, "R8")];
    shows(&two(same, vec![]), &["dangling-arrival"]);
}

#[test]
fn a_state_put_back_onto_an_idle_barrier_is_in_force() {
    let saver = vec![
        bar_arv(1, 64),
        b2r_bar("R8", 1),
        bar_sync(2, 64),
        bar_sync(3, 64),
        r2b_bar(1, "R8"),
        bar_sync(4, 64),
    ];
    let other = |last: Vec<Stmt>| {
        let mut body = vec![bar_sync(2, 64), bar_sync(1, 64), bar_sync(3, 64), bar_sync(4, 64)];
        body.extend(last);
        body
    };
    shows(&two(saver.clone(), other(vec![bar_sync(1, 64)])), &[]);
    shows(&two(saver, other(vec![])), &["dangling-arrival"]);
}

#[test]
fn a_made_up_state_is_not_modelled() {
    comes_to(&both(vec![set("R8", 5), r2b_bar(1, "R8")]), Verdict::Inconclusive);
}

#[test]
fn an_opaque_state_is_no_number() {
    comes_to(&both(vec![b2r_bar("R8", 1), set("R9", v("R8") + 1)]), Verdict::Error);
}

#[test]
fn arrivals_that_nobody_waits_for() {
    shows(&both(vec![bar_arv(1, 64)]), &["nobody-waits"]);
}

#[test]
fn a_loop_elsewhere_does_not_hide_a_hang() {
    shows(&two(vec![bar_sync(1, 64)], vec![loop_(vec![])]), &["stuck-agent"]);
}

#[test]
fn a_guard_is_a_condition() {
    let guarded =
        |negated| stmt(Kind::Guard { negated, name: "P0".into(), instr: Box::new(bar_sync(1, 32)) });
    let body = |negated| vec![set("P0", eq(own(), 0)), guarded(negated)];
    shows(&both(body(false)), &[]);
    shows(&two(body(false), body(true)), &["arrival-race"]);
}

#[test]
fn an_assertion_fails() {
    shows(&both(vec![popc(), b2r_result("R7", None), assert_(lt(v("R7"), 64))]), &["assertion"]);
}
