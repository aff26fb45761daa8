//! States and transitions that the plain search must count exactly: a step is what the semantics says, an
//! exit is one, and local computation is none.

use barcheck::{Quiet, Reduction, Settings, Statistics, Verdict, check};
use barcheck_model::machine::Options;
use barcheck_specs::bar::{LoadOptions, load};
use std::num::NonZeroUsize;
use std::sync::Arc;

const RING: &str = include_str!("../../specs/protocols/ptx/ring_bare.bar");
const PAIRS: &str = include_str!("../../specs/protocols/ptx/independent_pairs.bar");

fn count(source: &str, defines: &[(&str, i64)], reduction: Reduction) -> Statistics {
    count_with(source, defines, Settings { reduction, ..Settings::default() })
}

fn count_with(source: &str, defines: &[(&str, i64)], settings: Settings) -> Statistics {
    let defines = defines.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let loaded = load(source.as_bytes(), &LoadOptions { defines }).expect("a valid protocol");
    let settings = Settings { all: true, ..settings };
    let outcome = check(Arc::new(loaded.program), Options::default(), &settings, &Quiet);
    assert_eq!(outcome.verdict, Verdict::Verified);
    assert!(outcome.statistics.complete);
    outcome.statistics
}

#[test]
fn rings_have_exactly_the_states_and_transitions_that_are_known() {
    let known = [
        ([1, 1, 2, 4], 36, 56),
        ([2, 2, 2, 4], 344, 920),
        ([2, 2, 4, 8], 1_280, 3_664),
        ([3, 3, 2, 4], 2_808, 10_872),
        ([1, 7, 2, 4], 17_088, 90_048),
        ([4, 4, 2, 4], 22_496, 115_648),
    ];
    for ([p, c, s, i], states, transitions) in known {
        let found = count(RING, &[("P", p), ("C", c), ("S", s), ("I", i)], Reduction::None);
        assert_eq!((found.states, found.transitions), (states, transitions), "RING({p},{c},{s},{i})");
    }
}

#[test]
fn a_step_of_work_in_each_round_multiplies_states() {
    let found = count(RING, &[("P", 4), ("C", 4), ("S", 2), ("I", 4), ("WORK", 1)], Reduction::None);
    assert_eq!((found.states, found.transitions), (186_241, 1_084_616));
}

#[test]
fn independent_pairs_multiply() {
    for (warps, rounds) in [(2, 5), (4, 7), (6, 4), (8, 10)] {
        let found = count(PAIRS, &[("W", warps), ("K", rounds)], Reduction::None);
        let expected = (3 * rounds as u64 + 4).pow(warps as u32 / 2);
        assert_eq!(found.states, expected, "INDEP({warps},{rounds})");
    }
}

/// So many states that the table grows with the help of both.
#[test]
fn two_threads_count_over_a_million_states_as_one_does() {
    let threads = NonZeroUsize::new(2);
    let settings = Settings { reduction: Reduction::None, threads, ..Settings::default() };
    let (pairs, ring) = ([("W", 8), ("K", 10)], [("P", 4), ("C", 4), ("S", 2), ("I", 16), ("WORK", 1)]);
    for (source, defines) in [(PAIRS, &pairs[..]), (RING, &ring[..])] {
        let (one, two) =
            (count(source, defines, Reduction::None), count_with(source, defines, settings.clone()));
        assert!(one.states > 1_000_000);
        assert_eq!((one.states, one.transitions, one.depth), (two.states, two.transitions, two.depth));
    }
}

#[test]
fn symmetry_searches_fewer_states_and_says_the_same() {
    let all = count(RING, &[("P", 4), ("C", 4), ("S", 2), ("I", 4)], Reduction::None);
    let some = count(RING, &[("P", 4), ("C", 4), ("S", 2), ("I", 4)], Reduction::Symmetry);
    assert!(some.states * 10 < all.states, "{} of {}", some.states, all.states);
    assert_eq!(some.depth, all.depth);
    // Each warp mentions its own index, and still the two warps of a pair turn out to be alike.
    let all = count(PAIRS, &[("W", 4), ("K", 4)], Reduction::None);
    let some = count(PAIRS, &[("W", 4), ("K", 4)], Reduction::Symmetry);
    assert!(some.states < all.states);
}
