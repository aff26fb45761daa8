//! One schedule: cost of a step, by the length of the run. It should not depend on it.
//!
//! `cargo bench --bench schedule` runs every case; arguments select cases by a part of their name.

use barcheck::{Engine, Quiet, Settings, Statistics, check};
use barcheck_model::machine::Options;
use barcheck_specs::bar::{LoadOptions, load};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

const RING: &str = include_str!("../../specs/protocols/ptx/ring_bare.bar");
const RING_WITH_MEMORY: &str = include_str!("../../specs/protocols/ptx/ring.bar");

/// Every case is repeated for so long, at least; the fastest run counts.
const LEAST_TIME: Duration = Duration::from_millis(500);

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|w| name.contains(w.as_str()));
    let cases = [
        ("without memory", RING, vec![160, 1_600, 16_000, 160_000]),
        ("with memory", RING_WITH_MEMORY, vec![16, 160, 1_600, 16_000]),
    ];
    for (name, source, all_rounds) in cases {
        for rounds in all_rounds {
            let name = format!("RING(16,16,4,{rounds}) {name}");
            if is_wanted(&name) {
                run(&name, source, rounds);
            }
        }
    }
}

fn run(name: &str, source: &str, rounds: i64) {
    let defines = [("P", 16), ("C", 16), ("S", 4), ("I", rounds)];
    let defines: BTreeMap<String, i64> = defines.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
    let loaded = load(source.as_bytes(), &LoadOptions { defines });
    let program = Arc::new(loaded.expect("the library's protocols are valid").program);
    let mut best: Option<Statistics> = None;
    // Short runs are made often: the machine takes a while to come to its speed.
    let started = Instant::now();
    let mut runs = 0;
    while runs < 3 || started.elapsed() < LEAST_TIME {
        runs += 1;
        let outcome = check(program.clone(), Options::default(), &Settings::default(), &Quiet);
        assert_eq!(outcome.method.engine, Engine::Schedule);
        if best.is_none_or(|b| outcome.statistics.seconds < b.seconds) {
            best = Some(outcome.statistics);
        }
    }
    let Some(s) = best else { return };
    println!(
        "{name:36} {:>11} steps {:>8.3} s {:>6.0} ns/step {:>7.1} MiB",
        s.transitions,
        s.seconds,
        s.seconds * 1e9 / s.transitions as f64,
        s.peak_memory_bytes as f64 / f64::from(1 << 20)
    );
}
