//! Cliffs: families of protocols over growing size, for what once grew out of all bounds.
//!
//! `cargo bench --bench cliffs` runs every family; arguments select families by a part of their name. It
//! prints time and states for each size, and the exponent of growth: 1 where twice the agents take twice as
//! long. A size that takes longer than the limit, 20 s or `BARCHECK_LIMIT`, ends its family.

use barcheck::{Budgets, ByLocation, Outcome, Quiet, Settings, Verdict, check};
use barcheck_model::machine::Options;
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::bar::{LoadOptions, load};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Protocols that differ in the size `N` alone.
struct Family {
    name: &'static str,
    text: &'static str,
    sizes: &'static [i64],
    /// All rules are wanted, and data races allowed.
    all: bool,
}

const FAMILIES: &[Family] = &[
    Family {
        name: "an index out of range, without a choice",
        text: "target ptx; cta 32 * (N + 1); shared stage[2], out[N];
            warp 0 { for i in 0..8 {
                if i >= 2 { bar.sync 2 + i % 2, 32 * (N + 1); }
                write stage[i % 2]; bar.arrive i % 2, 32 * (N + 1);
            } }
            warps 1..N + 1 { for i in 0..8 {
                bar.sync i % 2, 32 * (N + 1); read stage[i % 2]; write out[warp];
                if i < 6 { bar.arrive 2 + i % 2, 32 * (N + 1); }
            } }",
        sizes: &[4, 8, 16, 31],
        all: false,
    },
    Family {
        name: "fenced writes as each decides",
        text: "target nbarrier; thread_group N; shared cell[N];
            threads 0..N { for i in 0..4 {
                if ? { write cell[thread]; fence; }
                nbarrier.signal 0, N; nbarrier.wait 0;
                read cell[(thread + 1) % N];
                nbarrier.signal 0, N; nbarrier.wait 0;
            } }",
        sizes: &[4, 8, 16, 32],
        all: false,
    },
    Family {
        name: "private state and memory of one's own",
        text: "target ptx; cta 32 * N; shared cell[N];
            warps 0..N { let done = 0; for i in 0..4 {
                write cell[warp]; bar.sync 0, 32 * N;
                if done == 0 { read cell[(warp + 1) % N]; if ? { done = 1; } }
                if done == 0 { bar.sync 1, 32 * N; } else { bar.arrive 1, 32 * N; }
                bar.sync 0, 32 * N;
            } }",
        sizes: &[4, 8, 16, 32],
        all: false,
    },
    Family {
        name: "early exits as each decides",
        text: "target ptx; cta 32 * N; shared cell[N];
            warps 0..N { for i in 0..3 {
                if ? { exit; } write cell[warp]; bar.sync 0;
                if ? { read cell[(warp + 1) % N]; } bar.sync 0;
            } }",
        sizes: &[4, 8, 16, 32],
        all: false,
    },
    Family {
        name: "votes",
        text: "target ptx; cta 32 * N; shared cell[N];
            warps 0..N { let more = 1; let mine = 1; while more == 1 {
                if ? { mine = 0; } write cell[warp]; bar.red.or.pred more, 0, mine;
                read cell[(warp + 1) % N]; bar.sync 1, 32 * N;
            } }",
        sizes: &[4, 8, 16, 32],
        all: false,
    },
    Family {
        name: "races that are allowed",
        text: "target ptx; cta 32 * (N + 1); shared stage[4];
            warp 0 { for i in 0..8 {
                if i >= 4 { bar.sync 4 + i % 4, 32 * (N + 1); }
                write stage[i % 4]; bar.arrive i % 4, 32 * (N + 1);
            } }
            warps 1..N + 1 { for i in 0..8 {
                bar.sync i % 4, 32 * (N + 1);
                if i < 4 { bar.arrive 4 + i % 4, 32 * (N + 1); }
                if ? { read stage[i % 4]; }
            } }",
        sizes: &[4, 8, 16, 31],
        all: true,
    },
    Family {
        name: "timing that matters",
        text: "target ptx; cta 64 * N; shared stage[2];
            warps 0..N { for i in 0..2 { if i % N == warp { write stage[i % 2]; } bar.arrive 1, 64 * N; } }
            warps N..2 * N { for i in 0..2 { bar.sync 1, 64 * N; if ? { read stage[i % 2]; } } }",
        sizes: &[1, 2, 3, 4],
        all: true,
    },
    Family {
        name: "many locations",
        text: "target ptx; cta 512; shared tile[16 * N];
            warps 0..16 { for i in 0..3 {
                for j in 0..N { write tile[warp * N + j]; } bar.sync 0;
                if ? { for j in 0..N { read tile[(warp + 1) % 16 * N + j]; } } bar.sync 0;
            } }",
        sizes: &[64, 128, 256, 512],
        all: false,
    },
    Family {
        name: "parts that have nothing to do with one another",
        text: "target ptx; cta 64 * N;
            warps 0..N { let odd = 0; for i in 0..6 {
                if ? { odd = 1; } bar.sync 0, 32 * N;
                if odd == 1 { bar.sync 1, 32 * N; } else { bar.arrive 1, 32 * N; }
                bar.sync 2, 32 * N; if odd == 1 { odd = 0; }
            } }
            warps N..2 * N { let odd = 0; for i in 0..6 {
                if ? { odd = 1; } bar.sync 3, 32 * N;
                if odd == 1 { bar.sync 4, 32 * N; } else { bar.arrive 4, 32 * N; }
                bar.sync 5, 32 * N; if odd == 1 { odd = 0; }
            } }",
        sizes: &[2, 4, 8, 16],
        all: false,
    },
    Family {
        name: "many agents with locations of their own",
        text: "target split_barrier; workgroup N; shared cell[N];
            invocations 0..N { for i in 0..2 {
                write cell[invocation];
                OpControlBarrierArriveINTEL Workgroup, Workgroup, Release|WorkgroupMemory;
                OpControlBarrierWaitINTEL Workgroup, Workgroup, Acquire|WorkgroupMemory;
                if ? { read cell[(invocation + 1) % N]; }
                OpControlBarrier Workgroup, Workgroup, AcquireRelease|WorkgroupMemory;
            } }",
        sizes: &[128, 256, 512, 1024],
        all: false,
    },
    Family {
        name: "a reduction that nobody reads",
        text: "target ptx; cta 32 * N; warps 0..N { for i in 0..4 { bar.red.popc.u32 _, 0, ?; } }",
        sizes: &[4, 8, 16, 32],
        all: false,
    },
];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let is_wanted = |name: &str| wanted.is_empty() || wanted.iter().any(|w| name.contains(w.as_str()));
    let limit = std::env::var("BARCHECK_LIMIT").ok().and_then(|text| text.parse().ok());
    let limit = Duration::from_secs(limit.unwrap_or(20));
    for family in FAMILIES.iter().filter(|family| is_wanted(family.name)) {
        println!("{}", family.name);
        for (how, by_location) in [("as usual", ByLocation::Auto), ("all at once", ByLocation::Never)] {
            run(family, how, by_location, limit);
        }
    }
}

/// Runs one family, and prints a line for each size.
fn run(family: &Family, how: &str, by_location: ByLocation, limit: Duration) {
    let mut before: Option<(i64, f64)> = None;
    for size in family.sizes {
        let started = Instant::now();
        let outcome = decide(family, *size, by_location, limit);
        let seconds = started.elapsed().as_secs_f64();
        let growth = before.map_or_else(String::new, |(smaller, less)| {
            let exponent = (seconds / less).ln() / (*size as f64 / smaller as f64).ln();
            format!("  exponent {exponent:.1}")
        });
        println!(
            "  {how:12} N = {size:<5} {:12} {seconds:>8.3} s {:>10} states {:>11} transitions{growth}",
            outcome.verdict.name(),
            outcome.statistics.states,
            outcome.statistics.transitions,
        );
        if outcome.verdict == Verdict::Inconclusive {
            break;
        }
        before = Some((*size, seconds));
    }
}

fn decide(family: &Family, size: i64, by_location: ByLocation, limit: Duration) -> Outcome {
    let text = family.text.replacen("; ", "; param N = 1; ", 1);
    let defines = BTreeMap::from([("N".to_owned(), size)]);
    let loaded = load(text.as_bytes(), &LoadOptions { defines });
    let program = Arc::new(loaded.expect("the protocols of the families are valid").program);
    let mut settings = Settings {
        all: family.all,
        by_location,
        budgets: Budgets { timeout: Some(limit), max_memory: Some(4 << 30), max_states: None },
        ..Settings::default()
    };
    if family.all {
        settings.levels.changes.push((Rule::DataRace, Level::Allow));
    }
    check(program, Options::default(), &settings, &Quiet)
}
