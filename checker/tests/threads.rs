//! The number of threads changes nothing but the time: outcomes, traces and counts are the same.

mod heads;
mod outcomes;

use barcheck::{Budgets, Levels, Outcome, Quiet, Reduction, Settings, Verdict, check};
use barcheck_model::machine::Options;
use barcheck_model::program::Program;
use barcheck_naive::generate::generate;
use barcheck_specs::bar::{LoadOptions, load};
use heads::{files, head};
use outcomes::{program, shown};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

const PAIRS: &str = include_str!("../../specs/protocols/ptx/independent_pairs.bar");
const RING: &str = include_str!("../../specs/protocols/ptx/ring_bare.bar");

/// Decides with one thread, and with several from small levels on: says the same.
fn outcome_of_any_number(
    name: &str,
    program: &Arc<Program>,
    options: Options,
    settings: &Settings,
) -> Outcome {
    let with = |threads: usize, many_states| {
        let settings = Settings { threads: NonZeroUsize::new(threads), many_states, ..settings.clone() };
        check(Arc::clone(program), options, &settings, &Quiet)
    };
    let alone = with(1, None);
    for threads in [2, 3, 5] {
        let together = with(threads, Some(2));
        assert_eq!(shown(&together), shown(&alone), "{name}, {threads} threads, {settings:?}");
    }
    alone
}

#[test]
fn every_protocol_of_the_library_has_one_outcome_whatever_the_number_of_threads() {
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let head = head(&text);
        let loaded = load(text.as_bytes(), &LoadOptions { defines: head.defines }).expect("a valid protocol");
        let program = Arc::new(loaded.program);
        let levels = Levels { changes: head.changes, strict: true, ..Levels::default() };
        for (all, reduction) in
            [(true, Reduction::None), (false, Reduction::None), (true, Reduction::Symmetry)]
        {
            let budgets = Budgets { max_states: Some(6_000), ..Budgets::default() };
            let settings =
                Settings { all, levels: levels.clone(), reduction, budgets, ..Settings::default() };
            outcome_of_any_number(&path.display().to_string(), &program, head.readings, &settings);
        }
    }
}

#[test]
fn random_protocols_have_one_outcome_whatever_the_number_of_threads() {
    let count = std::env::var("BARCHECK_RANDOM").map_or(1_000, |text| text.parse().expect("a number"));
    let first: u64 = std::env::var("BARCHECK_SEED").map_or(0, |text| text.parse().expect("a number"));
    let mut verdicts = BTreeMap::new();
    for seed in first..first + count {
        let text = generate(seed).text();
        let program = program(&text, &[]);
        let budgets =
            Budgets { max_states: Some(if seed % 3 == 0 { 100 } else { 2_500 }), ..Budgets::default() };
        let reduction = if seed % 2 == 0 { Reduction::None } else { Reduction::Symmetry };
        let settings = Settings { all: seed % 5 > 1, reduction, budgets, ..Settings::default() };
        let name = format!("seed {seed}\n{text}");
        let outcome = outcome_of_any_number(&name, &program, Options::default(), &settings);
        *verdicts.entry(outcome.verdict.name()).or_insert(0_u64) += 1;
    }
    println!("{verdicts:?}");
    assert!(verdicts.len() > 2, "{verdicts:?}");
}

#[test]
fn large_searches_end_alike_with_any_number_of_threads_within_budgets_and_beyond() {
    let pairs = program(PAIRS, &[("W", 8), ("K", 9)]);
    let ring = program(RING, &[("P", 4), ("C", 4), ("S", 4), ("I", 16)]);
    // The barriers of the ring expect one warp too few: arrivals race.
    let racing = program(
        &RING.replace("* (P + C);\ncta ALL", "* (P + C - 1);\ncta ALL + 32"),
        &[("P", 4), ("C", 4), ("S", 4)],
    );
    let memory = |bytes| Budgets { max_memory: Some(bytes), ..Budgets::default() };
    let states = |n| Budgets { max_states: Some(n), ..Budgets::default() };
    let none = Settings { all: true, reduction: Reduction::None, ..Settings::default() };
    for (name, program, budgets, verdict) in [
        ("pairs", &pairs, Budgets::default(), Verdict::Verified),
        ("pairs", &pairs, states(777_777), Verdict::Inconclusive),
        ("pairs", &pairs, memory(16 << 20), Verdict::Inconclusive),
        ("ring", &ring, Budgets::default(), Verdict::Verified),
        ("ring", &ring, states(200_000), Verdict::Inconclusive),
        ("racing ring", &racing, states(100_000), Verdict::Violated),
    ] {
        let settings = Settings { budgets, ..none.clone() };
        let outcome = outcome_of_any_number(name, program, Options::default(), &settings);
        assert_eq!(outcome.verdict, verdict, "{name}");
    }
}

#[test]
fn more_threads_than_can_be_had_search_all_the_same() {
    let pairs = program(PAIRS, &[("W", 6), ("K", 4)]);
    let with = |threads: usize, many_states| {
        let threads = NonZeroUsize::new(threads);
        let reduction = Reduction::None;
        check(
            pairs.clone(),
            Options::default(),
            &Settings { all: true, reduction, threads, many_states, ..Settings::default() },
            &Quiet,
        )
    };
    assert_eq!(shown(&with(1_000_000, Some(64))), shown(&with(1, None)));
}
