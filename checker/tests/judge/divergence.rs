//! Lanes that go separate ways.

use crate::shows;
use barcheck_naive::build::*;
use barcheck_naive::protocol::*;

fn both(body: Vec<Stmt>) -> Protocol {
    protocol(Target::Ptx, 64, vec![(0..2, body)])
}

fn both_bcu(body: Vec<Stmt>) -> Protocol {
    protocol(Target::Bcu, 64, vec![(0..2, body)])
}

fn low() -> Expr {
    lt(lane(), 16)
}

#[test]
fn an_aligned_barrier_in_a_branch_of_lanes_is_an_error() {
    shows(&both(vec![if_(low(), vec![sync(1, 64)], vec![])]), &["partial-warp"]);
    shows(&both(vec![if_(lt(own(), 2), vec![sync(1, 64)], vec![])]), &[]);
}

#[test]
fn an_aligned_barrier_after_lanes_have_left_is_fine() {
    shows(&both(vec![if_(low(), vec![exit()], vec![]), sync(1, 64)]), &[]);
}

#[test]
fn an_aligned_barrier_before_the_other_lanes_have_left_is_an_error() {
    let body = vec![if_(low(), vec![assert_(1), exit()], vec![sync(1, 64)])];
    shows(&both(body), &["partial-warp"]);
}

#[test]
fn lanes_parked_alike_arrive_once() {
    let arms = if_(low(), vec![barrier_sync(1, 64)], vec![barrier_sync(1, 64)]);
    shows(&both(vec![arms]), &[]);
}

#[test]
fn lanes_parked_at_different_barriers_wait_for_each_other_for_ever() {
    let arms = if_(low(), vec![barrier_sync(1, 64)], vec![barrier_sync(2, 64)]);
    shows(&both(vec![arms]), &["deadlock"]);
    shows(&both(vec![barrier_sync(lane() % 2 + 1, 64)]), &["deadlock"]);
}

#[test]
fn lanes_with_different_ids_cannot_execute_an_aligned_barrier() {
    shows(&both(vec![sync(lane() % 2 + 1, 64)]), &["partial-warp"]);
    shows(&both(vec![sync(lane() / 32 + 1, 64)]), &[]);
}

#[test]
fn a_lane_that_waits_at_a_join_holds_its_warp_up() {
    let body = vec![if_(low(), vec![barrier_sync(1, 64)], vec![])];
    shows(&both(body), &["deadlock"]);
}

#[test]
fn an_exit_of_the_other_lanes_makes_the_parked_ones_arrive() {
    let body = vec![if_(low(), vec![barrier_sync(1, 64)], vec![exit()])];
    shows(&both(body), &[]);
}

#[test]
fn loops_with_a_trip_count_of_each_lane_join_at_their_end() {
    let rounds = for_("i", 0, lane() % 3, vec![assert_(lt(v("i"), lane() % 3))]);
    shows(&both(vec![rounds, sync(1, 64)]), &[]);
}

#[test]
fn lanes_that_broke_out_are_waited_for_at_the_end_of_the_loop() {
    let body = vec![
        loop_(vec![if_(low(), vec![stmt(Kind::Break)], vec![assert_(1), stmt(Kind::Break)])]),
        sync(1, 64),
    ];
    shows(&both(body), &[]);
}

#[test]
fn lanes_that_continue_run_on_by_themselves() {
    let body = vec![for_(
        "i",
        0,
        2,
        vec![if_(low(), vec![stmt(Kind::Continue)], vec![assert_(1)]), assert_(ge(lane(), 16))],
    )];
    shows(&both(body), &[]);
}

#[test]
fn reductions_of_parts_of_a_warp_make_one() {
    let part = || {
        instr(Instr::Red {
            op: RedOp::Popc,
            dest: Some("d".into()),
            id: 1.into(),
            count: Some(64.into()),
            pred: pred(1),
            aligned: false,
        })
    };
    let body = vec![let_("d", 0), if_(low(), vec![part()], vec![part()]), assert_(eq(v("d"), 64))];
    shows(&both(body), &[]);
}

#[test]
fn parts_of_a_warp_count_separately_on_bcu() {
    let arms = if_(low(), vec![bar_sync(1, 64)], vec![bar_sync(1, 64)]);
    // The first part of a warp blocks the other, so each warp arrives once and then once more.
    shows(&both_bcu(vec![arms]), &["arrival-race"]);
    let arrivals = if_(low(), vec![bar_arv(1, 64)], vec![bar_arv(1, 64)]);
    shows(&protocol(Target::Bcu, 32, vec![(0..1, vec![arrivals])]), &["nobody-waits", "repeated-arrival"]);
}

#[test]
fn a_blocked_part_blocks_the_whole_warp_on_bcu() {
    let body = vec![if_(low(), vec![bar_sync(1, 64)], vec![bar_arv(1, 64)])];
    shows(&protocol(Target::Bcu, 32, vec![(0..1, body)]), &["deadlock", "repeated-arrival"]);
}
