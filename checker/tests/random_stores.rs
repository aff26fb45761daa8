//! Random protocols of copies out of shared memory: the engines and the naive explorer must say the same of
//! each of them.
//!
//! `BARCHECK_RANDOM=N` sets the number of seeds, `BARCHECK_SEED=N` the first one,
//! `BARCHECK_STATES=N` how many states the naive explorer looks at before it gives up on one, and
//! `BARCHECK_SHOW=N` shows so many protocols with what they come to.

mod naive;
mod two;

use naive::explore::explore;
use naive::generate_stores::generate_stores;

fn number(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => default,
    }
}

fn cap() -> usize {
    number("BARCHECK_STATES", 600) as usize
}

#[test]
fn a_seed_gives_one_protocol_of_copies() {
    for seed in 0..200 {
        assert_eq!(generate_stores(seed).text(), generate_stores(seed).text());
    }
}

/// Shows a range of protocols with their outcomes, for whoever wants to read some of them.
#[test]
fn shown_on_demand() {
    let count = number("BARCHECK_SHOW", 0);
    let first = number("BARCHECK_SEED", 0);
    for seed in first..first + count {
        let protocol = generate_stores(seed);
        let outcome = explore(&protocol, cap());
        println!(
            "// seed {seed}: {:?} {:?}, {} states, gave up: {}, not modelled: {:?}",
            outcome.verdict, outcome.rules, outcome.states, outcome.gave_up, outcome.not_modelled
        );
        println!("{}", protocol.text());
    }
}
