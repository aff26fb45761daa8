//! Figures and protocols with a known truth, judged by the naive explorer.

mod naive;

use naive::build::*;
use naive::explore::{Outcome, Verdict, explore};
use naive::protocol::*;

const CAP: usize = 200_000;

/// `RING(P, C, S, I)` without its memory accesses.
fn ring(producers: i32, consumers: i32, stages: i32, rounds: i32) -> Protocol {
    let warps = producers + consumers;
    let count = 32 * warps;
    let stage = || (v("i") % stages) * 2;
    let producer = for_(
        "i",
        0,
        rounds,
        vec![
            if_(ge(v("i"), stages), vec![sync(stage() + 1, count)], vec![]),
            arrive(stage(), count),
        ],
    );
    let consumer = for_(
        "i",
        0,
        rounds,
        vec![
            sync(stage(), count),
            if_(
                lt(v("i") + stages, rounds),
                vec![arrive(stage() + 1, count)],
                vec![],
            ),
        ],
    );
    let middle = producers as usize;
    protocol(
        Target::Ptx,
        count.into(),
        vec![
            (0..middle, vec![producer]),
            (middle..warps as usize, vec![consumer]),
        ],
    )
}

/// `INDEP(W, K)`.
fn indep(warps: i32, rounds: i32) -> Protocol {
    let body = vec![for_("i", 0, rounds, vec![sync(own() / 2, 64)])];
    protocol(
        Target::Ptx,
        (32 * warps).into(),
        vec![(0..warps as usize, body)],
    )
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
