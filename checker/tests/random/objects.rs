//! Random protocols of mbarrier objects and clusters on threads: what loom finds on executable barriers,
//! which know nothing of the model, is what the engine finds, as far as threads can show it.
//!
//! `BARCHECK_GATED=N` sets how many of each kind are compared, `BARCHECK_SEED=N` the first seed.

use crate::agreement;
use crate::number;

use agreement::{Compared, compare};
use barcheck::Verdict;
use barcheck::gate::{Effort, Extent};
use barcheck_naive::generate_asks::generate_asks;
use barcheck_naive::generate_cluster::generate_cluster;
use barcheck_naive::generate_mbarrier::generate_mbarrier;
use barcheck_naive::protocol::Protocol;
use std::collections::{BTreeMap, BTreeSet};

/// Compares some protocols, and gives the rules that loom has found in them.
fn agree(kind: &str, generate: impl Fn(u64) -> Protocol) -> BTreeSet<&'static str> {
    let wanted = number("BARCHECK_GATED", 40);
    let effort = Effort { seconds: 0.5, all: true, ..Effort::default() };
    let (mut compared, mut complete, mut executions, mut seed) = (0, 0, 0, number("BARCHECK_SEED", 1));
    let (mut violated, mut only_in_the_model, mut rules) = (0, 0, BTreeSet::new());
    let mut unfit: BTreeMap<String, usize> = BTreeMap::new();
    while compared < wanted {
        let text = generate(seed).text();
        match compare("random.bar", &text, &effort) {
            Compared::Differ(how) => panic!("{kind}, seed {seed}: {how}\n{text}"),
            Compared::Unfit(why) => *unfit.entry(why).or_default() += 1,
            Compared::Agreed { gated, verdict, unseen } => {
                compared += 1;
                violated += u64::from(verdict == Verdict::Violated);
                only_in_the_model += u64::from(gated.violation.is_none() && !unseen.is_empty());
                complete += u64::from(gated.extent == Some(Extent::Everything));
                executions += gated.executions;
                rules.extend(gated.rules.iter().map(|rule| rule.name()));
            }
        }
        seed += 1;
    }
    println!("{kind}: {compared} compared ({violated} violated, {only_in_the_model} only for the model)");
    println!("{complete} under every schedule, {executions} executions");
    println!("rules: {rules:?}; seeds up to {seed}; not compared: {unfit:?}");
    rules
}

#[test]
fn loom_on_executable_objects_and_engine_agree() {
    assert!(agree("objects", generate_mbarrier).len() >= 3);
}

#[test]
fn loom_on_executable_objects_that_are_asked_and_engine_agree() {
    assert!(agree("questions", generate_asks).len() >= 2);
}

#[test]
fn loom_on_executable_clusters_and_engine_agree() {
    assert!(agree("clusters", generate_cluster).len() >= 2);
}
