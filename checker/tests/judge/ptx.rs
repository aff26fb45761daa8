//! Rules of `ptx`.

use crate::{CAP, comes_to, shows};
use barcheck_naive::build::*;
use barcheck_naive::explore::{Verdict, explore_with};
use barcheck_naive::protocol::*;
use barcheck_naive::state::ExitedThreads;

fn two(first: Vec<Stmt>, second: Vec<Stmt>) -> Protocol {
    protocol(Target::Ptx, 64, vec![(0..1, first), (1..2, second)])
}

fn both(body: Vec<Stmt>) -> Protocol {
    protocol(Target::Ptx, 64, vec![(0..2, body)])
}

#[test]
fn a_missing_partner_deadlocks() {
    shows(&two(vec![sync(1, 64)], vec![]), &["deadlock"]);
    shows(&both(vec![sync(1, 64)]), &[]);
}

#[test]
fn exited_warps_do_not_hold_a_barrier_without_count() {
    shows(&two(vec![sync_all(1)], vec![]), &[]);
    shows(&two(vec![sync_all(1)], vec![maybe(vec![exit()], vec![]), sync_all(1)]), &[]);
    // The same number given explicitly is fixed.
    shows(&two(vec![sync(1, 64)], vec![maybe(vec![exit()], vec![]), sync_all(1)]), &["deadlock"]);
}

#[test]
fn exited_warps_release_where_the_newer_wording_is_asked_for() {
    let p = two(vec![sync(1, 64)], vec![]);
    let outcome = explore_with(&p, CAP, ExitedThreads::Release);
    // Nobody exits after the arrival, but the arrival itself sees everybody gone.
    assert_eq!(outcome.verdict, Verdict::Verified, "{outcome:?}");
    let late = two(vec![sync(1, 64)], vec![assert_(1)]);
    let outcome = explore_with(&late, CAP, ExitedThreads::Release);
    assert_eq!(outcome.verdict, Verdict::Verified, "{outcome:?}");
    let arrivals = two(vec![arrive(1, 64)], vec![]);
    let outcome = explore_with(&arrivals, CAP, ExitedThreads::Release);
    assert!(outcome.rules.contains("dangling-arrival"), "{outcome:?}");
}

#[test]
fn a_loop_elsewhere_does_not_hide_a_hang() {
    shows(&two(vec![sync(1, 64)], vec![loop_(vec![])]), &["stuck-agent"]);
    let other = loop_(vec![sync(2, 32)]);
    shows(&two(vec![sync(1, 64)], vec![other]), &["stuck-agent"]);
    let helper = loop_(vec![sync(1, 64)]);
    shows(&two(vec![loop_(vec![sync(1, 64)])], vec![helper]), &[]);
}

#[test]
fn counts_must_agree_while_a_barrier_is_active() {
    let p = protocol(Target::Ptx, 96, vec![(0..1, vec![sync(1, 64)]), (1..2, vec![sync(1, 96)])]);
    shows(&p, &["count-mismatch"]);
    shows(&two(vec![sync_all(1)], vec![sync(1, 64)]), &[]);
}

#[test]
fn counts_are_whole_warps_of_the_cta() {
    for count in [0, 48, -32, 96] {
        shows(&both(vec![sync(1, count)]), &["count-range"]);
    }
    let partial = protocol(Target::Ptx, 40, vec![(0..2, vec![sync(1, 64)])]);
    shows(&partial, &[]);
}

#[test]
fn arrive_needs_a_count() {
    let without = instr(Instr::Arrive { id: 1.into(), count: None, aligned: true });
    shows(&both(vec![without]), &["arrive-needs-count"]);
    shows(&both(vec![arrive(1, 0)]), &["arrive-needs-count"]);
    shows(&two(vec![arrive(1, 64)], vec![sync(1, 64)]), &[]);
}

#[test]
fn barriers_are_sixteen() {
    shows(&both(vec![sync(16, 64)]), &["barrier-id-range"]);
    shows(&both(vec![sync(-1, 64)]), &["barrier-id-range"]);
    shows(&both(vec![sync(15, 64)]), &[]);
}

#[test]
fn an_id_out_of_range_is_told_before_a_bad_count() {
    shows(&both(vec![sync(16, 48)]), &["barrier-id-range"]);
}

#[test]
fn a_second_arrival_in_one_generation_is_an_error() {
    let twice = vec![arrive(1, 64), arrive(1, 64)];
    shows(&two(twice, vec![]), &["repeated-arrival"]);
    let reset = vec![arrive(1, 64), sync(2, 64), arrive(1, 64)];
    let other = vec![sync(1, 64), sync(2, 64), sync(1, 64)];
    shows(&two(reset, other), &[]);
}

#[test]
fn a_reduction_keeps_to_itself_while_active() {
    let add = || red(RedOp::Popc, None, 1, 64, pred(1));
    shows(&two(vec![add()], vec![sync(1, 64)]), &["mixed-red"]);
    // One generation after the other is allowed.
    shows(&both(vec![add(), sync(1, 64)]), &[]);
}

#[test]
fn reductions_agree_on_their_operator() {
    let with = |op| vec![red(op, None, 1, 64, pred(1))];
    shows(&two(with(RedOp::And), with(RedOp::Or)), &["mixed-red-op"]);
    shows(&two(with(RedOp::Or), with(RedOp::Or)), &[]);
}

#[test]
fn a_reduction_counts_lanes() {
    let body = |total: i32| {
        vec![
            let_("d", 0),
            red(RedOp::Popc, Some("d"), 1, 64, pred(lt(lane(), own() + 1))),
            assert_(eq(v("d"), total)),
        ]
    };
    shows(&both(body(3)), &[]);
    shows(&both(body(2)), &["assertion"]);
}

#[test]
fn any_number_of_lanes_may_vote() {
    let body = |bound: i32| {
        vec![let_("d", 0), red(RedOp::Popc, Some("d"), 1, 64, Pred::Any), assert_(lt(v("d"), bound))]
    };
    shows(&both(body(65)), &[]);
    shows(&both(body(64)), &["assertion"]);
}

#[test]
fn barrier_zero_with_a_count_is_worth_a_word() {
    shows(&both(vec![sync(0, 64)]), &["reserved-barrier"]);
    shows(&both(vec![sync_all(0)]), &[]);
}

#[test]
fn arrivals_that_are_left_over() {
    shows(&two(vec![arrive(1, 64)], vec![]), &["dangling-arrival"]);
}

#[test]
fn an_assertion_fails_in_any_lane() {
    shows(&both(vec![assert_(lt(lane(), 31))]), &["assertion"]);
    shows(&both(vec![assert_(lt(lane(), 32))]), &[]);
}

#[test]
fn an_expression_without_value_is_an_error() {
    comes_to(&both(vec![let_("a", Expr::Int(1) / 0)]), Verdict::Error);
    comes_to(&both(vec![sync(Expr::Int(1) / 0, 64)]), Verdict::Error);
    let empty = stmt(Kind::Let("a".into(), Rhs::Any(1.into(), 1.into())));
    comes_to(&both(vec![empty]), Verdict::Error);
    comes_to(&both(vec![let_("a", Expr::Int(1) / 1)]), Verdict::Verified);
}

#[test]
fn any_value_of_a_range_is_tried() {
    let choose = stmt(Kind::Let("a".into(), Rhs::Any(1.into(), 3.into())));
    shows(&both(vec![choose.clone(), sync(v("a"), 32)]), &["arrival-race"]);
    shows(&both(vec![choose, sync(v("a"), 64)]), &["deadlock"]);
}
