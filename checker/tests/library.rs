//! The library of protocols is a test: each file's head says what is expected of it.

mod heads;

use barcheck::{Inconclusive, Levels, Quiet, Reduction, Settings, Verdict, check};
use barcheck_model::rule::Level;
use barcheck_specs::bar::{LoadOptions, load};
use heads::{files, head, names};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Decides a file as its head asks, in all-violations mode, and compares. `None` if it agrees.
fn disagreement(path: &Path, reduction: Reduction) -> Option<String> {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let head = head(&text);
    let loaded = match load(text.as_bytes(), &LoadOptions { defines: head.defines.clone() }) {
        Ok(loaded) => loaded,
        Err(diagnostics) => return Some(format!("{}: {:?}", path.display(), diagnostics.first())),
    };
    let mut settings = Settings { all: true, reduction, ..Settings::default() };
    settings.levels = Levels { changes: head.changes.clone(), strict: true, ..Levels::default() };
    let outcome = check(Arc::new(loaded.program), head.readings, &settings, &Quiet);
    let rules: BTreeSet<String> = outcome.findings.iter().map(|f| f.finding.rule.name().to_owned()).collect();
    let verdict = outcome.verdict.name();
    let (expect, expected) = (head.expect.name(), names(&head));
    (verdict != expect || rules != expected).then(|| {
        format!(
            "{}: expected {expect} {expected:?}, found {verdict} {rules:?} ({:?}, {} states)",
            path.display(),
            outcome.inconclusive,
            outcome.statistics.states
        )
    })
}

fn disagreements(reduction: Reduction, skip: &[&str]) -> Vec<String> {
    let wanted = |f: &PathBuf| !skip.iter().any(|s| f.ends_with(s));
    files().into_iter().filter(wanted).filter_map(|f| disagreement(&f, reduction)).collect()
}

#[test]
fn every_protocol_of_the_library_gets_the_verdict_and_the_rules_that_its_head_expects() {
    // Choices are the more the less agents are alike, and symmetry makes one run of none of them.
    let too_large = [
        "ptx/choices_of_32_warps.bar",
        "ptx/cluster_barrier_forever.bar",
        "ptx/cluster_many_copies_in_flight.bar",
        "ptx/cluster_multicast.bar",
        "ptx/cluster_multicast_tiles.bar",
        "ptx/cluster_multicast_wide.bar",
        "ptx/cluster_split_k.bar",
        "ptx/guard_decided_early.bar",
        "ptx/fast_and_slow_path.bar",
        "ptx/guarded_tiles.bar",
        "ptx/guarded_tiles_broken.bar",
        "ptx/mbarrier_pingpong_attention.bar",
        "ptx/mbarrier_ring_wide.bar",
        "ptx/mbarrier_tensor_core_gemm.bar",
        "ptx/mbarrier_tma_pipeline.bar",
        "ptx/ring_private_choices.bar",
        "ptx/ring_uniform_rounds.bar",
    ];
    for (reduction, skip) in [(Reduction::Symmetry, &too_large[..]), (Reduction::Auto, &[])] {
        let wrong = disagreements(reduction, skip);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
    assert!(files().len() >= 90);
}

/// They may not know, or not know all; what they know must be so.
#[test]
fn engines_that_make_few_runs_say_nothing_that_the_heads_do_not() {
    let mut decided = 0;
    for reduction in [Reduction::Schedule, Reduction::Stubborn] {
        for path in files() {
            let text = std::fs::read_to_string(&path).expect("a readable file");
            let head = head(&text);
            let loaded =
                load(text.as_bytes(), &LoadOptions { defines: head.defines.clone() }).expect("a valid file");
            let expected: BTreeSet<String> = names(&head);
            let levels = Levels { changes: head.changes.clone(), strict: true, ..Levels::default() };
            let settings = Settings { all: true, reduction, levels, ..Settings::default() };
            let outcome = check(Arc::new(loaded.program), head.readings, &settings, &Quiet);
            if matches!(outcome.inconclusive, Some(Inconclusive::Undecided(_))) {
                continue;
            }
            let rules: BTreeSet<String> =
                outcome.findings.iter().map(|f| f.finding.rule.name().to_owned()).collect();
            let same =
                if outcome.statistics.complete { rules == expected } else { rules.is_subset(&expected) };
            let verdict = outcome.verdict.name();
            assert!(
                same && verdict == head.expect.name(),
                "{reduction:?} {}: {verdict} {rules:?}",
                path.display()
            );
            decided += 1;
        }
    }
    assert!(decided >= 250, "{decided}");
}

#[test]
fn the_plain_search_agrees_on_every_protocol_that_it_can_cover() {
    let too_large = [
        "ptx/choices_of_32_warps.bar",
        "ptx/cluster_barrier_forever.bar",
        "ptx/cluster_many_copies_in_flight.bar",
        "ptx/cluster_multicast.bar",
        "ptx/cluster_multicast_tiles.bar",
        "ptx/cluster_multicast_wide.bar",
        "ptx/cluster_split_k.bar",
        "ptx/endless_rendezvous_32_warps.bar",
        "ptx/guard_decided_early.bar",
        "ptx/fast_and_slow_path.bar",
        "ptx/guarded_tiles.bar",
        "ptx/guarded_tiles_broken.bar",
        "ptx/mbarrier_pingpong_attention.bar",
        "ptx/mbarrier_ring_wide.bar",
        "ptx/mbarrier_tensor_core_gemm.bar",
        "ptx/mbarrier_tma_pipeline.bar",
        "ptx/ping_pong_32_warps.bar",
        "ptx/ring_private_choices.bar",
        "ptx/ring_uniform_rounds.bar",
    ];
    let wrong = disagreements(Reduction::None, &too_large);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_error_that_stops_the_search_is_one_that_all_violations_mode_reports_too() {
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let head = head(&text);
        let loaded = load(text.as_bytes(), &LoadOptions { defines: head.defines });
        let program = Arc::new(loaded.expect("a valid file").program);
        let levels = Levels { changes: head.changes, strict: false, ..Levels::default() };
        let settings = Settings { levels, ..Settings::default() };
        let outcome = check(program, head.readings, &settings, &Quiet);
        let errors: Vec<_> = outcome.findings.iter().filter(|f| f.level == Level::Error).collect();
        assert_eq!(outcome.verdict.name(), head.expect.name(), "{}", path.display());
        assert_eq!(outcome.verdict == Verdict::Violated, !errors.is_empty(), "{}", path.display());
        assert!(errors.iter().all(|f| head.rules.contains(&f.finding.rule)), "{}", path.display());
    }
}
