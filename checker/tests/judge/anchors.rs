//! Figures and protocols with a known truth, judged by the naive explorer.

use crate::{CAP, shows};
use barcheck_naive::build::*;
use barcheck_naive::explore::{Outcome, Verdict, explore};
use barcheck_naive::protocol::*;

/// `RING(P, C, S, I)` without its memory accesses.
fn ring(producers: i32, consumers: i32, stages: i32, rounds: i32) -> Protocol {
    let warps = producers + consumers;
    let count = 32 * warps;
    let stage = || (v("i") % stages) * 2;
    let producer = for_(
        "i",
        0,
        rounds,
        vec![if_(ge(v("i"), stages), vec![sync(stage() + 1, count)], vec![]), arrive(stage(), count)],
    );
    let consumer = for_(
        "i",
        0,
        rounds,
        vec![
            sync(stage(), count),
            if_(lt(v("i") + stages, rounds), vec![arrive(stage() + 1, count)], vec![]),
        ],
    );
    let middle = producers as usize;
    protocol(
        Target::Ptx,
        count.into(),
        vec![(0..middle, vec![producer]), (middle..warps as usize, vec![consumer])],
    )
}

/// `INDEP(W, K)`.
fn indep(warps: i32, rounds: i32) -> Protocol {
    let body = vec![for_("i", 0, rounds, vec![sync(own() / 2, 64)])];
    protocol(Target::Ptx, (32 * warps).into(), vec![(0..warps as usize, body)])
}

fn figures(outcome: &Outcome) -> (usize, usize) {
    // Barrier 0 with a count is pedantic and no news here.
    assert_eq!(outcome.verdict, Verdict::Verified, "{outcome:?}");
    (outcome.states, outcome.transitions)
}

#[test]
fn ring_1_1_2_4_has_36_states() {
    assert_eq!(figures(&explore(&ring(1, 1, 2, 4), CAP)), (36, 56));
}

#[test]
fn ring_2_2_2_4_has_344_states() {
    assert_eq!(figures(&explore(&ring(2, 2, 2, 4), CAP)), (344, 920));
}

#[test]
fn ring_2_2_4_8_has_1280_states() {
    assert_eq!(figures(&explore(&ring(2, 2, 4, 8), CAP)), (1280, 3664));
}

#[test]
fn ring_3_3_2_4_has_2808_states() {
    assert_eq!(figures(&explore(&ring(3, 3, 2, 4), CAP)), (2808, 10872));
}

#[test]
fn indep_has_the_product_of_its_pairs() {
    assert_eq!(explore(&indep(2, 3), CAP).states, 13);
    assert_eq!(explore(&indep(4, 3), CAP).states, 13 * 13);
    assert_eq!(explore(&indep(4, 10), CAP).states, 34 * 34);
}

// What a published verifier of named barriers gets wrong.

fn all(warps: i64, body: Vec<Stmt>) -> Protocol {
    protocol(Target::Ptx, 32 * warps, vec![(0..warps as usize, body)])
}

#[test]
fn writes_without_a_barrier_race() {
    shows(&all(2, vec![write(0)]).with_shared(), &["data-race"]);
}

#[test]
fn writes_after_the_last_barrier_race() {
    let body = vec![sync(1, 64), write(0)];
    shows(&all(2, body).with_shared(), &["data-race"]);
}

#[test]
fn groups_that_meet_on_barriers_of_their_own_are_not_ordered() {
    let p = protocol(
        Target::Ptx,
        128,
        vec![
            (0..1, vec![write(0), sync(1, 64)]),
            (1..2, vec![sync(1, 64)]),
            (2..4, vec![sync(2, 64), read(0)]),
        ],
    );
    shows(&p.with_shared(), &["data-race"]);
}

#[test]
fn a_schedule_that_steals_an_arrival_deadlocks() {
    let p = protocol(
        Target::Ptx,
        96,
        vec![
            (0..1, vec![sync(1, 64)]),
            (1..2, vec![sync(1, 64), sync(1, 64)]),
            (2..3, vec![sync(2, 32), sync(1, 64)]),
        ],
    );
    shows(&p, &["arrival-race", "deadlock"]);
}

#[test]
fn trip_counts_that_agents_choose_alike_are_safe_and_others_are_not() {
    let alike = while_(Cond::Uniform(Some("TILE".into())), vec![sync(1, 64)]);
    shows(&all(2, vec![alike]), &[]);
    let alone = while_(Cond::Choice, vec![sync(1, 64)]);
    shows(&all(2, vec![alone]), &["deadlock"]);
}

#[test]
fn a_warp_of_its_own_meets_on_its_own() {
    shows(&all(2, vec![sync(own() + 1, 32)]), &[]);
}

// Its own negative examples.

#[test]
fn arrivals_that_nobody_waits_for() {
    shows(&all(2, vec![arrive(1, 64)]), &["nobody-waits"]);
}

#[test]
fn crossed_arrivals_deadlock() {
    let p = protocol(
        Target::Ptx,
        64,
        vec![(0..1, vec![sync(2, 64), arrive(1, 64)]), (1..2, vec![sync(1, 64), arrive(2, 64)])],
    );
    shows(&p, &["deadlock"]);
}

#[test]
fn different_counts_do_not_match() {
    let p = protocol(Target::Ptx, 128, vec![(0..1, vec![sync(1, 96)]), (1..4, vec![sync(1, 128)])]);
    shows(&p, &["count-mismatch"]);
}

#[test]
fn three_warps_on_a_barrier_for_two() {
    let p = protocol(
        Target::Ptx,
        96,
        vec![(0..1, vec![sync(1, 64)]), (1..2, vec![arrive(1, 64)]), (2..3, vec![sync(1, 64)])],
    );
    shows(&p, &["arrival-race", "dangling-arrival", "deadlock"]);
}
