//! Speed and size of the plain search: states/s, transitions/s and bytes/state.
//!
//! `cargo bench --bench plain` runs every case; arguments select cases by a part of their name.
//! `--threads=N` searches with N threads instead of one.

use barcheck::{Quiet, Reduction, Settings, check};
use barcheck_model::machine::Options;
use barcheck_specs::bar::{LoadOptions, load};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

const RING: &str = include_str!("../../specs/protocols/ptx/ring_bare.bar");
const BUFFERS: &str = include_str!("../../specs/protocols/ptx/ring.bar");
const PAIRS: &str = include_str!("../../specs/protocols/ptx/independent_pairs.bar");

/// Every case is repeated for so long, at least; the fastest search counts.
const LEAST_TIME: Duration = Duration::from_millis(500);

fn run(name: &str, source: &str, defines: &[(&str, i64)], reduction: Reduction, threads: NonZeroUsize) {
    let defines: BTreeMap<String, i64> = defines.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect();
    let loaded = load(source.as_bytes(), &LoadOptions { defines });
    let program = Arc::new(loaded.expect("the library's protocols are valid").program);
    let settings = Settings { all: true, reduction, threads: Some(threads), ..Settings::default() };
    let mut best: Option<barcheck::Statistics> = None;
    // Short searches are made often: the machine takes a while to come to its speed.
    let started = Instant::now();
    let mut runs = 0;
    while runs < 3 || started.elapsed() < LEAST_TIME {
        runs += 1;
        let outcome = check(program.clone(), Options::default(), &settings, &Quiet);
        let faster = best.is_none_or(|b| outcome.statistics.seconds < b.seconds);
        if faster {
            best = Some(outcome.statistics);
        }
    }
    let Some(s) = best else { return };
    let (states, transitions) = (s.states as f64, s.transitions as f64);
    println!(
        "{name:25} {:>11} states {:>11} transitions {:>8.3} s {:>7.2} M states/s {:>7.2} M transitions/s {:>5.1} bytes/state",
        s.states,
        s.transitions,
        s.seconds,
        states / s.seconds / 1e6,
        transitions / s.seconds / 1e6,
        s.peak_memory_bytes as f64 / states
    );
}

/// Name, protocol, parameters and reduction.
type Case = (&'static str, &'static str, Vec<(&'static str, i64)>, Reduction);

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let threads = std::env::args().find_map(|a| a.strip_prefix("--threads=")?.parse().ok());
    let threads = threads.unwrap_or(NonZeroUsize::MIN);
    let ring = |p, c, s, i| [("P", p), ("C", c), ("S", s), ("I", i)];
    let worked = |p, c, s, i| [&ring(p, c, s, i)[..], &[("WORK", 1)]].concat();
    let cases: [Case; 10] = [
        ("RING(4,4,4,16) none", RING, ring(4, 4, 4, 16).to_vec(), Reduction::None),
        ("RING(4,4,4,32) none", RING, ring(4, 4, 4, 32).to_vec(), Reduction::None),
        ("RING(4,4,4,16) work none", RING, worked(4, 4, 4, 16), Reduction::None),
        ("RING(4,4,4,32) work none", RING, worked(4, 4, 4, 32), Reduction::None),
        ("INDEP(8,18) none", PAIRS, vec![("W", 8), ("K", 18)], Reduction::None),
        ("buffers(3,3,4,4) none", BUFFERS, ring(3, 3, 4, 4).to_vec(), Reduction::None),
        ("buffers(4,4,2,3) none", BUFFERS, ring(4, 4, 2, 3).to_vec(), Reduction::None),
        ("RING(4,4,4,16) symmetry", RING, ring(4, 4, 4, 16).to_vec(), Reduction::Symmetry),
        ("buffers(4,4,2,3) symmetry", BUFFERS, ring(4, 4, 2, 3).to_vec(), Reduction::Symmetry),
        ("INDEP(8,18) symmetry", PAIRS, vec![("W", 8), ("K", 18)], Reduction::Symmetry),
    ];
    for (name, source, defines, reduction) in cases {
        if wanted.is_empty() || wanted.iter().any(|w| name.contains(w.as_str())) {
            run(name, source, &defines, reduction, threads);
        }
    }
}
