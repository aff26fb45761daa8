//! The naive explorer itself, judged: figures and protocols with a known truth, and for every rule
//! and target a protocol that violates it and one that nearly does.

#[path = "../engine/mod.rs"]
mod engine;

mod anchors;
mod bcu;
mod choices;
mod cluster;
mod divergence;
mod field;
mod fills;
mod flight;
mod mbarrier;
mod memory;
mod named;
mod ptx;
mod split;
mod stores;
mod warps;

use barcheck_naive::explore::{Verdict, explore};
use barcheck_naive::protocol::Protocol;
use barcheck_naive::rules::{Level, level};

/// More states than any protocol here has.
const CAP: usize = 200_000;

/// Checks that exactly these rules are violated, and nothing else happens.
#[track_caller]
fn shows(protocol: &Protocol, rules: &[&str]) {
    let outcome = explore(protocol, CAP);
    let found: Vec<&str> = outcome.rules.iter().map(String::as_str).collect();
    assert_eq!(found, rules, "\n{}", protocol.text());
    let violated = rules.iter().any(|r| level(r, protocol.target) == Level::Error);
    let expected = if violated { Verdict::Violated } else { Verdict::Verified };
    assert_eq!(outcome.verdict, expected, "{outcome:?}\n{}", protocol.text());
}

/// Checks that the protocol ends in neither a violation nor a proof.
#[track_caller]
fn comes_to(protocol: &Protocol, verdict: Verdict) {
    let outcome = explore(protocol, CAP);
    assert_eq!(outcome.verdict, verdict, "{outcome:?}\n{}", protocol.text());
    assert!(outcome.rules.is_empty(), "{outcome:?}");
}
