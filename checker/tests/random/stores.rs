//! Random protocols of copies out of shared memory, and of copies into it by `cp.async`: the engines and the
//! naive explorer must say the same of each of them.
//!
//! `BARCHECK_RANDOM=N` sets the number of seeds, `BARCHECK_SEED=N` the first one,
//! `BARCHECK_STATES=N` how many states the naive explorer looks at before it gives up on one,
//! `BARCHECK_SHOW=N` shows so many protocols with what they come to, and `BARCHECK_ON` goes on after a
//! difference.

use crate::number;
use crate::two;

use crate::engine::engine;
use barcheck_model::machine::ExitedThreads;
use barcheck_naive::explore::{Outcome, Verdict, explore};
use barcheck_naive::generate_fills::generate_fills;
use barcheck_naive::generate_stores::generate_stores;
use barcheck_naive::protocol::*;
use barcheck_naive::shrink::shrink;
use std::collections::BTreeMap;

fn cap() -> usize {
    number("BARCHECK_STATES", 600) as usize
}

/// What the engines say differently of a protocol, if anything.
fn difference(protocol: &Protocol, naive: &Outcome) -> Option<String> {
    if naive.gave_up || !naive.not_modelled.is_empty() {
        return None;
    }
    let (verdict, rules) = engine(&protocol.text(), ExitedThreads::Hold)?;
    // Of a loop that asks the engines may not see that it ends, or is told yes.
    let not_followed = verdict != Verdict::Verified && rules.is_subset(&naive.rules);
    let same = verdict == naive.verdict && rules == naive.rules || not_followed && asks_in_a_loop(protocol);
    (!same).then(|| {
        format!("naive explorer: {:?} {:?}\nengine: {verdict:?} {rules:?}", naive.verdict, naive.rules)
    })
}

/// Whether somebody asks in a loop that may go on for ever.
fn asks_in_a_loop(protocol: &Protocol) -> bool {
    let asks = |stmt: &Stmt| match &stmt.kind {
        Kind::If(cond, ..) | Kind::While(cond, _) => matches!(cond, Cond::Ask { .. }),
        Kind::Let(_, Rhs::On(on)) | Kind::Assign(_, Rhs::On(on)) => matches!(on.act, Act::Ask { .. }),
        _ => false,
    };
    let loops = |stmt: &Stmt| matches!(stmt.kind, Kind::Loop(_) | Kind::While(..)) && stmt.any(&asks);
    protocol.blocks.iter().any(|block| block.body.iter().any(|stmt| stmt.any(&loops)))
}

/// What the protocols are made of.
const FEATURES: &[&str] = &[
    "cp.async.bulk.global buf",
    "cp.async.bulk.global.shared::cta.bulk_group",
    "cp.async.bulk.tensor.global",
    "cp.reduce.async.bulk.global",
    "cp.async.bulk.commit_group",
    "cp.async.bulk.wait_group.read 0",
    "cp.async.bulk.wait_group.read 1",
    "fence.proxy.async;",
    "fence.proxy.async.shared::cta",
    "fence.proxy.async.shared::cluster",
    "clusterlaunchcontrol.try_cancel",
    "barrier.cluster.wait",
    "mbarrier.wait.parity",
    "bar.sync",
    "atomic",
    "@ cta",
    "loop {",
];

const RULES: &[&str] = &["data-race", "deadlock", "in-flight-at-exit", "missing-fence", "unobserved-phase"];

/// What the protocols of `cp.async` are made of.
const FILLS: &[&str] = &[
    "cp.async buf",
    "cp.async.ca.shared.global buf",
    "cp.async.cg.shared.global buf",
    ", 16;",
    "cp.async.commit_group",
    "cp.async.wait_group 0",
    "cp.async.wait_group 1",
    "cp.async.wait_group 2",
    "cp.async.wait_all",
    "cp.async.bulk.global",
    "cp.async.bulk.wait_group.read 1",
    "fence.proxy.async;",
    "mbarrier.wait.parity",
    "bar.sync",
    "atomic",
    "lane < ",
    "lane % 2",
    "loop {",
    "cp.async.mbarrier.arrive full",
    "cp.async.mbarrier.arrive.noinc full",
    "cp.async.mbarrier.arrive.noinc.shared::cta.b64 [full",
    "mbarrier.wait.parity.relaxed",
];

#[test]
fn engines_and_naive_explorer_agree_on_copies_out_of_shared_memory() {
    compare(generate_stores, FEATURES);
}

#[test]
fn engines_and_naive_explorer_agree_on_copies_by_cp_async() {
    compare(generate_fills, FILLS);
}

fn compare(generate: fn(u64) -> Protocol, expected: &[&'static str]) {
    let count = number("BARCHECK_RANDOM", 1_500);
    let first = number("BARCHECK_SEED", 0);
    let (mut compared, mut verified, mut states, mut differ) = (0, 0, 0, 0);
    let (mut rules, mut features) = (BTreeMap::<String, u64>::new(), BTreeMap::<&str, u64>::new());
    let judged = |seed| {
        let protocol = generate(seed);
        let outcome = explore(&protocol, cap());
        let differs = difference(&protocol, &outcome).is_some();
        (seed, protocol, outcome, differs)
    };
    for (seed, protocol, outcome, differs) in two::of_seeds(first..first + count, judged) {
        if outcome.gave_up || !outcome.not_modelled.is_empty() {
            continue;
        }
        compared += 1;
        states += outcome.states;
        if outcome.verdict == Verdict::Verified {
            verified += 1;
            let text = protocol.text();
            for feature in expected.iter().filter(|feature| text.contains(**feature)) {
                *features.entry(feature).or_default() += 1;
            }
        }
        for rule in &outcome.rules {
            *rules.entry(rule.clone()).or_default() += 1;
        }
        if differs {
            differ += 1;
            let smallest = shrink(&protocol, |p| difference(p, &explore(p, cap())).is_some());
            let what = difference(&smallest, &explore(&smallest, cap())).expect("it still differs");
            let report = format!("seed {seed}\n{what}\n{}", smallest.text());
            assert!(std::env::var("BARCHECK_ON").is_ok(), "{report}");
            println!("{report}");
        }
    }
    println!("{count}: {compared} compared, {verified} verified, {states} states, {differ} differ");
    println!("among the verified ones: {features:?}\n{rules:?}");
    assert!(compared * 10 >= count * 7 && verified * 5 >= count, "{compared}, {verified} of {count}");
    if count >= 1_000 {
        let missing: Vec<_> = RULES.iter().filter(|rule| !rules.contains_key(**rule)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        let missing: Vec<_> = expected.iter().filter(|part| !features.contains_key(**part)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}

#[test]
fn a_seed_gives_one_protocol_of_copies() {
    for seed in 0..200 {
        assert_eq!(generate_stores(seed).text(), generate_stores(seed).text());
        assert_eq!(generate_fills(seed).text(), generate_fills(seed).text());
    }
}

/// Shows a range of protocols with their outcomes, for whoever wants to read some of them.
#[test]
fn shown_on_demand() {
    let count = number("BARCHECK_SHOW", 0);
    let first = number("BARCHECK_SEED", 0);
    for seed in first..first + count {
        for protocol in [generate_stores(seed), generate_fills(seed)] {
            let outcome = explore(&protocol, cap());
            println!(
                "// seed {seed}: {:?} {:?}, {} states, gave up: {}, not modelled: {:?}",
                outcome.verdict, outcome.rules, outcome.states, outcome.gave_up, outcome.not_modelled
            );
            println!("{}", protocol.text());
        }
    }
}
