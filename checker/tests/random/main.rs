//! Random protocols of every kind, which the engines, the naive explorer and executable barriers must say the
//! same of. One program for all of them, since each has the naive explorer in it.

mod clusters;
mod mbarriers;
mod objects;
mod protocols;
mod shapes;
mod stores;
mod words;

#[path = "../agreement/mod.rs"]
mod agreement;
#[path = "../decisions/mod.rs"]
mod decisions;
#[path = "../engine/mod.rs"]
mod engine;
#[path = "../stepwise/mod.rs"]
mod stepwise;
#[path = "../two/mod.rs"]
mod two;
#[path = "../walks/mod.rs"]
mod walks;

/// A number from the environment.
fn number(variable: &str, default: u64) -> u64 {
    match std::env::var(variable) {
        Ok(text) => text.parse().expect("a number"),
        Err(_) => default,
    }
}
