//! A toy barrier system, which exists for tests alone: what is left by an operation stays pending and lands
//! later, as a step of its own. A naive explorer judges random protocols, and the engines must say the same.
//!
//! `BARCHECK_RANDOM=N` sets the number of seeds, `BARCHECK_SEED=N` the first one, `BARCHECK_STATES=N` how
//! many states the naive explorer looks at before it gives up on one, and `BARCHECK_SHOW=N` shows so many
//! protocols with what they come to.

mod by_hand;
mod damage;
mod engines;
mod generate;
mod naive;
mod protocol;
mod shrink;
mod traces;

use engines::{ENGINES, Said};
use generate::generate;
use naive::{Outcome, RULES, explore};
use protocol::Protocol;
use shrink::shrink;
use std::collections::BTreeMap;

fn cap() -> usize {
    number("BARCHECK_STATES", 2_500) as usize
}

fn number(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => default,
    }
}

/// What some engine says differently of a protocol, if anything; counts those that say the same.
fn difference(
    protocol: &Protocol,
    judged: &Outcome,
    same: &mut BTreeMap<&'static str, u64>,
) -> Option<String> {
    let text = protocol.text();
    for engine in ENGINES {
        match engine.says(&text, judged) {
            Said::TheSame => *same.entry(engine.name).or_default() += 1,
            Said::Nothing => {}
            Said::SomethingElse(what) => return Some(what),
        }
    }
    None
}

/// The same for a protocol that nobody has judged yet.
fn differs(protocol: &Protocol) -> Option<String> {
    let judged = explore(protocol, cap())?;
    difference(protocol, &judged, &mut BTreeMap::new())
}

#[derive(Default)]
struct Statistics {
    rules: BTreeMap<&'static str, u64>,
    judged: u64,
    clean: u64,
    states: usize,
}

impl Statistics {
    fn add(&mut self, outcome: &Outcome) {
        for rule in &outcome.rules {
            *self.rules.entry(rule).or_default() += 1;
        }
        self.judged += 1;
        self.clean += u64::from(outcome.rules.is_empty());
        self.states += outcome.states;
    }

    fn print(&self) {
        println!("{} judged, {} violate nothing, {} states", self.judged, self.clean, self.states);
        for (rule, times) in &self.rules {
            println!("{rule:24}{times:>6}");
        }
    }
}

#[test]
fn engines_and_naive_explorer_agree_on_protocols_whose_operations_land_later() {
    let count = number("BARCHECK_RANDOM", 3_000);
    let first = number("BARCHECK_SEED", 0);
    let (mut statistics, mut same) = (Statistics::default(), BTreeMap::new());
    for seed in first..first + count {
        let protocol = generate(seed);
        let Some(judged) = explore(&protocol, cap()) else { continue };
        statistics.add(&judged);
        if let Some(what) = difference(&protocol, &judged, &mut same) {
            let smallest = shrink(&protocol, |p| differs(p).is_some());
            let what = differs(&smallest).unwrap_or(what);
            panic!("seed {seed}\n{what}\n{}", smallest.text());
        }
    }
    statistics.print();
    println!("decided: {same:?}");
    assert!(statistics.judged * 10 >= count * 9, "the naive explorer must come to the end of most");
    let decided = |engine: &str| same.get(engine).copied().unwrap_or_default();
    // Landings are no reason by themselves to leave a protocol to a search.
    assert!(decided("schedule") * 10 >= statistics.judged * 4, "one schedule decides many");
    assert!(decided("stubborn") * 10 >= statistics.judged * 7, "stubborn sets decide most");
}

#[test]
fn many_random_protocols_violate_nothing_and_every_rule_occurs_in_a_few_hundred() {
    for first in [0, 1_000, 2_000] {
        let mut statistics = Statistics::default();
        for seed in first..first + 400 {
            if let Some(outcome) = explore(&generate(seed), cap()) {
                statistics.add(&outcome);
            }
        }
        assert!(statistics.clean * 10 >= statistics.judged * 3);
        assert_eq!(statistics.rules.keys().copied().collect::<Vec<_>>(), RULES);
    }
}

#[test]
fn a_seed_gives_one_protocol() {
    for seed in 0..200 {
        assert_eq!(generate(seed), generate(seed));
    }
}

#[test]
fn a_shrunk_protocol_still_shows_what_it_was_shrunk_for() {
    for rule in ["data-race", "too-many-participants", "deadlock"] {
        let shows = |p: &Protocol| explore(p, cap()).is_some_and(|it| it.rules.contains(rule));
        let found = (0..500).map(generate).find(shows).expect("some protocol does");
        let smallest = shrink(&found, shows);
        assert!(shows(&smallest) && smallest.well_formed());
        let sizes = smallest.roles.iter().map(|role| role.threads.len() * role.body.len());
        assert!(sizes.sum::<usize>() <= 3, "{}", smallest.text());
    }
}

/// Shows a range of protocols with their outcomes, for whoever wants to read some of them.
#[test]
fn shown_on_demand() {
    let first = number("BARCHECK_SEED", 0);
    for seed in first..first + number("BARCHECK_SHOW", 0) {
        let protocol = generate(seed);
        println!("// seed {seed}: {:?}\n{}", explore(&protocol, cap()), protocol.text());
    }
}
