//! What the plain search remembers of a step, and takes to hold in other slots, is what the model would say
//! there.

mod stepwise;

use barcheck::{Outcome, Quiet, Reduction, Settings, check};
use barcheck_model::machine::Options;
use barcheck_model::rule::Rule;
use barcheck_specs::bar::{LoadOptions, load};
use std::collections::BTreeSet;
use std::sync::Arc;
use stepwise::reach;

fn search(source: &str, defines: &[(&str, i64)]) -> Outcome {
    search_with(source, defines, plain())
}

fn plain() -> Settings {
    Settings { reduction: Reduction::None, ..Settings::default() }
}

fn search_with(source: &str, defines: &[(&str, i64)], settings: Settings) -> Outcome {
    let defines = defines.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let loaded = load(source.as_bytes(), &LoadOptions { defines }).expect("a valid protocol");
    let settings = Settings { all: true, ..settings };
    let outcome = check(Arc::new(loaded.program), Options::default(), &settings, &Quiet);
    assert!(outcome.statistics.complete);
    outcome
}

/// Two warps reduce, with a contribution that is chosen; two others go round on their own.
const RESULTS: &str = "
target ptx;
param REDUCES = 1;
param PAIR = 1;
cta 128;
warp 0 {
    if REDUCES {
        let v = any 0..41;
        let n = 0;
        bar.red.popc.u32 n, 1, 64, lane < v;
        bar.sync 2, 64;
        if v < 32 { assert n == 32 + v; } else { assert n == 64; }
    }
}
warp 1 {
    if REDUCES {
        let w = any 0..3;
        let n = 0;
        bar.red.popc.u32 n, 1, 64, 1;
        bar.sync 2, 64;
        assert n >= 32 && n <= 64 && w < 3;
    }
}
warps 2..4 { if PAIR { for i in 0..4 { bar.sync 3, 64; } } }
";

#[test]
fn an_arrival_that_may_complete_a_generation_with_many_results_leads_to_each_of_them() {
    let count = |reduces, pair| {
        let statistics = search(RESULTS, &[("REDUCES", reduces), ("PAIR", pair)]).statistics;
        (statistics.states, statistics.transitions)
    };
    // Two warps that have nothing to do exit, each for itself.
    let alone = |(states, transitions)| (states / 4, (transitions - states) / 4);
    let (both, reducing, pair) = (count(1, 1), alone(count(1, 0)), alone(count(0, 1)));
    // Each of 41 numbers of lanes, before and after the other warp arrives, and each of 33 results.
    assert!(reducing.0 > 2 * 41 + 33);
    assert_eq!(both.0, reducing.0 * pair.0);
    assert_eq!(both.1, reducing.1 * pair.0 + pair.1 * reducing.0);
}

/// The second warp's arrivals do the same in two places; whether anybody waits when they complete a
/// generation is up to the first.
const PLACES: &str = "
target ptx;
cta 64;
warp 0 { if ? { bar.sync 1, 64; } else { bar.arrive 1, 64; } }
warp 1 {
    if ? {
        bar.arrive 1, 64;
    } else {
        bar.arrive 1, 64;
    }
}
";

#[test]
fn what_is_found_at_a_step_is_found_in_every_place_where_the_same_is_done() {
    let swapped = PLACES
        .replace("bar.sync 1, 64; } else { bar.arrive 1, 64;", "bar.arrive 1, 64; } else { bar.sync 1, 64;");
    for source in [PLACES, &swapped] {
        let found = search(source, &[]).findings;
        assert!(found.iter().all(|found| found.finding.rule == Rule::NobodyWaits), "{found:#?}");
        assert_eq!(found.len(), 3, "{found:#?}");
    }
}

/// The search has the states and steps that the model has, one by one.
fn assert_as_the_model(source: &str, defines: &[(&str, i64)]) {
    assert_as_the_model_with(source, defines, plain());
}

fn assert_as_the_model_with(source: &str, defines: &[(&str, i64)], settings: Settings) {
    let statistics = search_with(source, defines, settings).statistics;
    let defines = defines.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let loaded = load(source.as_bytes(), &LoadOptions { defines }).expect("a valid protocol");
    let reached = reach(Arc::new(loaded.program), Options::default(), 50_000).expect("not so many states");
    assert_eq!((statistics.states, statistics.transitions), (reached.states, reached.transitions));
    let conflicts = BTreeSet::from([Rule::DataRace, Rule::MissingFence]);
    assert_eq!(reached.rules.intersection(&conflicts).next(), None);
}

/// What is known by everybody who has not exited is forgotten: by the exit of a warp, not by that of its
/// lanes.
#[test]
fn a_warp_has_exited_for_memory_once_all_of_its_lanes_have() {
    assert_as_the_model(
        "
        target ptx;
        cta 64;
        shared x;
        warp 0 { write x; }
        warp 1 { if lane < 16 { exit; } }
        ",
        &[],
    );
}

/// Contents turn up for which the states found so far have no room.
#[test]
fn states_are_laid_out_anew_when_more_comes_to_be_known_of_a_location() {
    let ring = include_str!("../../specs/protocols/ptx/ring.bar");
    assert_as_the_model(ring, &[("P", 3), ("C", 3), ("S", 2), ("I", 2)]);
}

/// Steps of which nothing is remembered any more are the model's.
#[test]
fn states_are_the_same_however_little_is_learnt_of_accesses() {
    let ring = include_str!("../../specs/protocols/ptx/ring.bar");
    let rings = [[("P", 2), ("C", 2), ("S", 2), ("I", 4)], [("P", 1), ("C", 3), ("S", 2), ("I", 3)]];
    for defines in rings {
        let most = search(ring, &defines).statistics.peak_memory_bytes;
        for learnt_bytes in [0, 1 << 12, 1 << 15] {
            let settings = Settings { learnt_bytes: Some(learnt_bytes), ..plain() };
            assert_as_the_model_with(ring, &defines, settings.clone());
            let some = search_with(ring, &defines, settings).statistics.peak_memory_bytes;
            assert!(learnt_bytes > 0 || some < most, "{some} of {most}: something was learnt");
        }
    }
}

/// Sets of so many agents do not fit a word.
#[test]
fn what_more_than_64_agents_do_to_memory_is_followed() {
    let source = "
        target nbarrier;
        thread_group 70;
        shared x;
        param WAITS = 1;
        threads 0..1 { write x; fence; nbarrier.signal 1, 2; nbarrier.wait 1; }
        threads 1..2 {
            if WAITS { nbarrier.signal 1, 2; nbarrier.wait 1; read x; }
            else { read x; nbarrier.signal 1, 2; nbarrier.wait 1; }
        }
        threads 2..70 { }
        ";
    let found = |waits, reduction, learnt_bytes| {
        let settings = Settings { reduction, learnt_bytes, ..Settings::default() };
        let outcome = search_with(source, &[("WAITS", waits)], settings);
        let rules: BTreeSet<Rule> = outcome.findings.iter().map(|found| found.finding.rule).collect();
        (rules, outcome.statistics.states, outcome.statistics.transitions)
    };
    for waits in [1, 0] {
        let all = found(waits, Reduction::Symmetry, None);
        assert_eq!(all, found(waits, Reduction::Symmetry, Some(0)));
        assert_eq!(all.0, found(waits, Reduction::Schedule, None).0);
        assert_eq!(all.0.contains(&Rule::DataRace), waits == 0);
    }
}

/// There are not as many fields for memory as that.
#[test]
fn locations_that_share_a_field_are_kept_apart() {
    assert_as_the_model(
        "
        target ptx;
        cta 128;
        shared a[300];
        warps 0..4 {
            write a[warp * 3];
            write a[warp * 3 + 1];
            bar.sync 0, 128;
            read a[(warp + 1) % 4 * 3];
            write a[(warp + 3) % 4 * 3 + 1];
            atomic a[299];
        }
        ",
        &[],
    );
}
