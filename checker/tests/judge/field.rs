//! Defects reported against real kernels, broken and fixed.

use crate::shows;
use barcheck_naive::build::*;
use barcheck_naive::protocol::*;
use std::ops::Range;

fn ptx(warps: i64, blocks: Vec<(Range<usize>, Vec<Stmt>)>) -> Protocol {
    protocol(Target::Ptx, 32 * warps, blocks)
}

#[test]
fn a_group_that_runs_ahead_steals_a_phase() {
    let groups =
        |math: Stmt, io: Stmt| ptx(3, vec![(0..2, vec![loop_(vec![math])]), (2..3, vec![loop_(vec![io])])]);
    let p = groups(arrive(1, 96), sync(1, 96));
    shows(&p, &["arrival-race", "repeated-arrival"]);
}

#[test]
fn a_group_may_run_one_tile_ahead_on_alternate_barriers() {
    let math = for_("i", 0, 2, vec![arrive((v("i") % 2) * 4 + 1, 96)]);
    let io = for_("i", 0, 2, vec![sync((v("i") % 2) * 4 + 1, 96)]);
    shows(&ptx(3, vec![(0..2, vec![math]), (2..3, vec![io])]), &[]);
}

#[test]
fn two_groups_that_share_an_id_hang_in_some_schedules() {
    // The first group meets twice; a warp that meets strangers twice leaves its partner alone.
    let groups = |id: Expr| {
        let again = if_(lt(own(), 2), vec![sync(id.clone(), 64)], vec![]);
        ptx(4, vec![(0..4, vec![sync(id, 64), again])])
    };
    shows(&groups(Expr::Int(1)), &["arrival-race", "deadlock"]);
    shows(&groups(own() / 2 + 1), &[]);
}

#[test]
fn two_groups_that_reduce_on_the_same_pair_of_ids() {
    let p = ptx(4, vec![(0..4, vec![sync(1, 64), sync(2, 64)])]);
    shows(&p, &["arrival-race"]);
}

#[test]
fn ids_beyond_fifteen() {
    let p = ptx(2, vec![(0..1, vec![sync(1, 64)]), (1..2, vec![arrive(17, 64)])]);
    shows(&p, &["barrier-id-range"]);
}

#[test]
fn a_barrier_of_a_partition_of_lanes_must_not_be_aligned() {
    let half = |s: Stmt| ptx(1, vec![(0..1, vec![if_(lt(lane(), 16), vec![s], vec![])])]);
    shows(&half(sync(1, 32)), &["partial-warp"]);
}

#[test]
fn a_barrier_cloned_into_both_arms_of_a_branch() {
    let arms = |s: Stmt| {
        let branch = if_(lt(lane(), 16), vec![s.clone()], vec![s]);
        ptx(1, vec![(0..1, vec![branch])])
    };
    shows(&arms(sync(14, 32)), &["partial-warp"]);
    shows(&arms(barrier_sync(14, 32)), &[]);
}

#[test]
fn a_barrier_that_workers_never_reach() {
    let workers = |body| ptx(3, vec![(0..2, vec![sync_all(0)]), (2..3, body)]);
    shows(&workers(vec![loop_(vec![])]), &["stuck-agent"]);
    shows(&workers(vec![sync_all(0), loop_(vec![])]), &[]);
    shows(&workers(vec![sync(1, 64)]), &["deadlock"]);
}

#[test]
fn a_barrier_in_a_loop_with_a_trip_count_of_each_thread() {
    let body = |rounds: Expr| vec![for_("i", 0, rounds, vec![sync_all(0)])];
    let p = |rounds| ptx(2, vec![(0..2, body(rounds))]);
    shows(&p(lane() % 2 + 1), &["partial-warp"]);
    // Different warps may leave: those that are gone are not waited for.
    shows(&p(own() + 1), &[]);
}

#[test]
fn a_count_that_is_no_multiple_of_a_warp() {
    shows(&ptx(2, vec![(0..2, vec![sync(1, 48)])]), &["count-range"]);
}

#[test]
fn different_barrier_statements_are_fine_for_warps_and_not_for_lanes() {
    let arms = |c: Expr| ptx(2, vec![(0..2, vec![if_(c, vec![sync_all(0)], vec![sync_all(0)])])]);
    shows(&arms(eq(own(), 0)), &[]);
    shows(&arms(lt(lane(), 16)), &["partial-warp"]);
}

#[test]
fn roles_execute_equally_many_barriers() {
    let whole = || control_barrier(Scope::Workgroup, order(None));
    let p = |rounds: i32| {
        let arms = for_("i", 0, eq(own(), 0) + rounds, vec![whole()]);
        protocol(Target::Split, 2, vec![(0..2, vec![arms])])
    };
    shows(&p(1), &["deadlock"]);
    let alike = for_("i", 0, 2, vec![whole()]);
    shows(&protocol(Target::Split, 2, vec![(0..2, vec![alike])]), &[]);
}

#[test]
fn an_early_return_is_legal_on_one_machine_and_hangs_on_another() {
    let leave = || if_(eq(own(), 0), vec![exit()], vec![]);
    shows(&ptx(2, vec![(0..2, vec![leave(), sync_all(0)])]), &[]);
    let body = vec![leave(), signal_all(0, 2), wait(0)];
    shows(&protocol(Target::Nbarrier, 2, vec![(0..2, body)]), &["deadlock"]);
}

// Correct code that looks wrong.

#[test]
fn one_group_arrives_and_the_other_syncs_with_the_same_count() {
    let p = ptx(4, vec![(0..2, vec![arrive(1, 128)]), (2..4, vec![sync(1, 128)])]);
    shows(&p, &[]);
}

#[test]
fn waiters_and_arrivers_count_together() {
    let p = ptx(3, vec![(0..2, vec![sync(1, 96)]), (2..3, vec![arrive(1, 96)])]);
    shows(&p, &[]);
}

#[test]
fn ping_pong_of_two_groups() {
    let rounds = |body| vec![for_("i", 0, 2, body)];
    let p = ptx(
        2,
        vec![
            (0..1, rounds(vec![sync(1, 64), arrive(2, 64)])),
            (1..2, rounds(vec![arrive(1, 64), sync(2, 64)])),
        ],
    );
    shows(&p, &[]);
}

#[test]
fn a_group_with_a_count_of_its_own_while_others_run_on() {
    let p = ptx(3, vec![(0..2, vec![loop_(vec![sync(1, 64)])]), (2..3, vec![loop_(vec![assert_(1)])])]);
    shows(&p, &[]);
}
