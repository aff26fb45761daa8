//! Random protocols of mbarrier objects next to named barriers: the engines and the naive explorer must say
//! the same of each of them.
//!
//! `BARCHECK_RANDOM=N` sets the number of seeds, `BARCHECK_SEED=N` the first one,
//! `BARCHECK_STATES=N` how many states the naive explorer looks at before it gives up on one,
//! `BARCHECK_SHOW=N` shows so many protocols with what they come to, and `BARCHECK_ON` goes on after a
//! difference.

use crate::number;
use crate::two;

use crate::engine::engine;
use barcheck::{Budgets, Inconclusive, Quiet, Reduction, Settings, check};
use barcheck_model::machine::{ExitedThreads, Options};
use barcheck_naive::explore::{Outcome, Verdict, explore};
use barcheck_naive::generate_mbarrier::generate_mbarrier;
use barcheck_naive::protocol::Protocol;
use barcheck_naive::rules::MBARRIER_RULES;
use barcheck_naive::shrink::shrink;
use barcheck_specs::bar::{LoadOptions, load};
use std::collections::BTreeMap;
use std::sync::Arc;

fn cap() -> usize {
    number("BARCHECK_STATES", 300) as usize
}

/// What some of the protocols that are verified have in them.
const FEATURES: &[&str] = &[
    "cp.async.mbarrier.arrive full",
    "cp.async.mbarrier.arrive.noinc full",
    "red.async",
    "st.async",
    "cp.async.bulk.shared::cluster.shared::cta to",
    "fence.mbarrier_init.release.cluster",
    "fence.proxy.async",
    "mbarrier.wait.parity.relaxed",
    "fence.acquire",
    "fence.release",
];

/// What the engines say differently of a protocol, if anything.
fn difference(protocol: &Protocol, naive: &Outcome) -> Option<String> {
    if naive.gave_up || !naive.not_modelled.is_empty() {
        return None;
    }
    let (verdict, rules) = engine(&protocol.text(), ExitedThreads::Hold)?;
    let same = verdict == naive.verdict && rules == naive.rules;
    (!same).then(|| {
        format!("naive explorer: {:?} {:?}\nengine: {verdict:?} {rules:?}", naive.verdict, naive.rules)
    })
}

#[test]
fn engines_and_naive_explorer_agree_on_mbarrier_objects() {
    let count = number("BARCHECK_RANDOM", 3_000);
    let first = number("BARCHECK_SEED", 0);
    let (mut compared, mut verified, mut states, mut not_modelled) = (0, 0, 0, 0);
    let mut rules: BTreeMap<String, usize> = BTreeMap::new();
    let mut features: BTreeMap<&str, usize> = BTreeMap::new();
    let judged = |seed| {
        let protocol = generate_mbarrier(seed);
        let outcome = explore(&protocol, cap());
        let is_judged = outcome.not_modelled.is_empty() && !outcome.gave_up;
        let differs = is_judged && difference(&protocol, &outcome).is_some();
        (seed, protocol, outcome, differs)
    };
    for (seed, protocol, outcome, differs) in two::of_seeds(first..first + count, judged) {
        if !outcome.not_modelled.is_empty() {
            not_modelled += 1;
            continue;
        }
        if outcome.gave_up {
            continue;
        }
        compared += 1;
        if outcome.verdict == Verdict::Verified {
            verified += 1;
            let text = protocol.text();
            for feature in FEATURES.iter().filter(|feature| text.contains(**feature)) {
                *features.entry(feature).or_default() += 1;
            }
        }
        states += outcome.states;
        for rule in &outcome.rules {
            *rules.entry(rule.clone()).or_default() += 1;
        }
        if differs {
            let smallest = shrink(&protocol, |p| difference(p, &explore(p, cap())).is_some());
            let what = difference(&smallest, &explore(&smallest, cap())).expect("it still differs");
            let report = format!("seed {seed}\n{what}\n{}", smallest.text());
            assert!(std::env::var("BARCHECK_ON").is_ok(), "{report}");
            println!("{report}");
        }
    }
    println!(
        "{count}: {compared} compared, {verified} verified, {not_modelled} not modelled, {states} states"
    );
    println!("{rules:?}\namong the verified ones: {features:?}");
    assert!(compared * 10 >= count * 7 && verified * 10 >= count * 2);
    if count >= 3_000 {
        let missing: Vec<_> = MBARRIER_RULES.iter().filter(|rule| !rules.contains_key(**rule)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let missing: Vec<_> = FEATURES.iter().filter(|part| !features.contains_key(**part)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

/// The comparison would mean little if the engine that makes one run gave up on most protocols.
#[test]
fn one_schedule_decides_many_random_protocols_of_mbarrier_objects() {
    let (mut by_one, mut by_choice, mut by_search) = (0, 0, 0);
    for seed in 0..600 {
        let text = generate_mbarrier(seed).text();
        let loaded = load(text.as_bytes(), &LoadOptions::default()).expect("a random protocol is valid");
        let budgets = Budgets { max_states: Some(20_000), ..Budgets::default() };
        let (program, options) = (Arc::new(loaded.program), Options::default());
        let decides = |reduction| {
            let settings = Settings { reduction, budgets, ..Settings::default() };
            let outcome = check(Arc::clone(&program), options, &settings, &Quiet);
            !matches!(outcome.inconclusive, Some(Inconclusive::Undecided(_)))
        };
        if decides(Reduction::Schedule) {
            by_one += 1;
        } else if decides(Reduction::Stubborn) {
            by_choice += 1;
        } else {
            by_search += 1;
        }
    }
    println!("one schedule decides {by_one}, one for each choice {by_choice} more, a search {by_search}");
    assert!(by_one >= 100);
}

#[test]
fn a_seed_gives_one_protocol_of_mbarrier_objects() {
    for seed in 0..200 {
        assert_eq!(generate_mbarrier(seed).text(), generate_mbarrier(seed).text());
    }
}

/// Shows a range of protocols with their outcomes, for whoever wants to read some of them.
#[test]
fn shown_on_demand() {
    let count = number("BARCHECK_SHOW", 0);
    let first = number("BARCHECK_SEED", 0);
    for seed in first..first + count {
        let protocol = generate_mbarrier(seed);
        let outcome = explore(&protocol, cap());
        println!(
            "// seed {seed}: {:?} {:?}, {} states, gave up: {}, not modelled: {:?}",
            outcome.verdict, outcome.rules, outcome.states, outcome.gave_up, outcome.not_modelled
        );
        println!("{}", protocol.text());
    }
}
