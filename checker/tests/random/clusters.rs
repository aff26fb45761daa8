//! Random protocols of clusters, of tokens and of questions to mbarrier objects: the engines and the naive
//! explorer must say the same of each of them.
//!
//! `BARCHECK_RANDOM=N` sets the number of seeds, `BARCHECK_SEED=N` the first one,
//! `BARCHECK_STATES=N` how many states the naive explorer looks at before it gives up on one, and
//! `BARCHECK_SHOW=N` shows so many protocols with what they come to.

use crate::number;

use crate::engine::engine;
use barcheck_model::machine::ExitedThreads;
use barcheck_naive::explore::{ASKS_FOR_EVER, Outcome, Verdict, explore};
use barcheck_naive::generate_asks::generate_asks;
use barcheck_naive::generate_cluster::generate_cluster;
use barcheck_naive::protocol::*;
use barcheck_naive::shrink::shrink;
use std::collections::BTreeMap;

fn cap() -> usize {
    number("BARCHECK_STATES", 600) as usize
}

/// What the engines say differently of a protocol, if anything.
fn difference(protocol: &Protocol, naive: &Outcome) -> Option<String> {
    if naive.gave_up {
        return None;
    }
    let (verdict, rules) = engine(&protocol.text(), ExitedThreads::Hold)?;
    let same = if naive.not_modelled.is_empty() {
        // Of a loop that asks the engines may not see that it ends, or is told yes.
        let not_followed = verdict != Verdict::Verified && asks_in_a_loop(protocol);
        verdict == naive.verdict && rules == naive.rules || not_followed && rules.is_subset(&naive.rules)
    } else {
        // What is not followed to its end is never called verified.
        // A loop that asks in vain is a wait for some.
        let hang = |rule: &String| rule == "deadlock" || rule == "stuck-agent" || naive.rules.contains(rule);
        !naive.not_modelled.contains(ASKS_FOR_EVER)
            || naive.not_modelled.len() > 1
            || verdict != Verdict::Verified && rules.iter().all(hang)
    };
    (!same).then(|| {
        format!(
            "naive explorer: {:?} {:?} {:?}\nengine: {verdict:?} {rules:?}",
            naive.verdict, naive.rules, naive.not_modelled
        )
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

/// What protocols are made of.
const FEATURES: &[&str] = &[
    "mbarrier.test_wait.parity",
    "mbarrier.try_wait.parity",
    "while !",
    "let over",
    "let t = mbarrier.arrive",
    "mbarrier.wait ",
    "@ cta",
    ".release.cta",
    "barrier.cluster.wait",
    ".arrive.relaxed",
    "cp.async.bulk.multicast",
    "tcgen05.commit.multicast",
    "cluster_ctarank",
    "bar.sync",
    "uniform",
    "loop {",
    "?",
    "red.async",
    "st.async",
    "cp.async.bulk.shared::cluster.shared::cta",
    "fence.mbarrier_init.release.cluster",
    "mbarrier.wait.parity.relaxed",
    "fence.acquire",
];

/// How often something came of the protocols of some seeds.
#[derive(Default)]
struct Tally {
    count: u64,
    compared: u64,
    verified: u64,
    states: usize,
    /// How many of the verified ones have something in their text.
    features: BTreeMap<&'static str, u64>,
    not_modelled: BTreeMap<String, u64>,
    rules: BTreeMap<String, u64>,
}

impl Tally {
    /// Enough is compared and verified, and these rules and parts come up, if there are seeds enough.
    fn assert_wide(&self, rules: &[&str], features: &[&str]) {
        let Tally { count, compared, verified, .. } = *self;
        assert!(compared * 10 >= count * 6 && verified * 5 >= count, "{compared}, {verified} of {count}");
        if count >= 1_000 {
            let rule = |rule: &str| self.rules.get(rule).is_some_and(|n| n * 300 >= count);
            let missing: Vec<_> = rules.iter().filter(|name| !rule(name)).collect();
            assert!(missing.is_empty(), "{missing:?}");
            let feature = |part: &str| self.features.get(part).is_some_and(|n| n * 200 >= verified);
            let missing: Vec<_> = features.iter().filter(|part| !feature(part)).collect();
            assert!(missing.is_empty(), "{missing:?}");
        }
    }
}

fn compare_all(generate: impl Fn(u64) -> Protocol, default: u64) -> Tally {
    let count = number("BARCHECK_RANDOM", default);
    let first = number("BARCHECK_SEED", 0);
    let mut tally = Tally { count, ..Tally::default() };
    for seed in first..first + count {
        let protocol = generate(seed);
        let outcome = explore(&protocol, cap());
        if outcome.gave_up {
            continue;
        }
        for what in &outcome.not_modelled {
            *tally.not_modelled.entry(what.clone()).or_default() += 1;
        }
        if outcome.not_modelled.is_empty() {
            tally.compared += 1;
            if outcome.verdict == Verdict::Verified {
                tally.verified += 1;
                let text = protocol.text();
                for feature in FEATURES.iter().filter(|feature| text.contains(**feature)) {
                    *tally.features.entry(feature).or_default() += 1;
                }
            }
            tally.states += outcome.states;
            for rule in &outcome.rules {
                *tally.rules.entry(rule.clone()).or_default() += 1;
            }
        }
        if difference(&protocol, &outcome).is_some() {
            let smallest = shrink(&protocol, |p| difference(p, &explore(p, cap())).is_some());
            let what = difference(&smallest, &explore(&smallest, cap())).expect("it still differs");
            let report = format!("seed {seed}\n{what}\n{}", smallest.text());
            assert!(std::env::var("BARCHECK_ON").is_ok(), "{report}");
            println!("{report}");
        }
    }
    let Tally { compared, verified, states, not_modelled, rules, features, .. } = &tally;
    println!("among the verified ones: {features:?}");
    println!(
        "{count}: {compared} compared, {verified} verified, {states} states\n{not_modelled:?}\n{rules:?}"
    );
    tally
}

#[test]
fn engines_and_naive_explorer_agree_on_questions_and_tokens() {
    let rules = [
        "dangling-arrival",
        "data-race",
        "deadlock",
        "in-flight-at-exit",
        "mbarrier-not-live",
        "missing-fence",
        "over-arrival",
        "over-delivery",
        "stale-completion",
        "stale-token",
        "unobserved-phase",
    ];
    let features = &FEATURES[..6];
    compare_all(generate_asks, 1_000).assert_wide(&rules, features);
}

#[test]
fn engines_and_naive_explorer_agree_on_clusters() {
    let rules = [
        "dangling-arrival",
        "data-race",
        "deadlock",
        "in-flight-at-exit",
        "missing-fence",
        "over-arrival",
        "partial-warp",
        "remote-after-exit",
        "repeated-arrival",
        "stale-completion",
        "stuck-agent",
        "unobserved-phase",
        "wait-without-arrive",
    ];
    let features = &FEATURES[6..];
    compare_all(generate_cluster, 1_000).assert_wide(&rules, features);
}

/// Shows a range of protocols with their outcomes, for whoever wants to read some of them.
#[test]
fn shown_on_demand() {
    let count = number("BARCHECK_SHOW", 0);
    let first = number("BARCHECK_SEED", 0);
    for seed in first..first + count {
        for protocol in [generate_asks(seed), generate_cluster(seed)] {
            let outcome = explore(&protocol, cap());
            println!(
                "// seed {seed}: {:?} {:?}, {} states, gave up: {}, not modelled: {:?}",
                outcome.verdict, outcome.rules, outcome.states, outcome.gave_up, outcome.not_modelled
            );
            println!("{}", protocol.text());
        }
    }
}
