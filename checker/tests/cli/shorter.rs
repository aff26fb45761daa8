//! Of a long counterexample it is said with how few rounds the same shows, or that it may be longer than it
//! need be.

use crate::support::{Folder, run, verify};
use serde_json::Value;

/// A ring whose warp 17 leaves its loop a tile early: nobody is released before all the rounds.
const LEAVES_EARLY: &str = "target ptx;
cta 1024;
param STAGES = 4;
param ROUNDS = 8;
warps 0..4 as load {
    for i in 0..ROUNDS * STAGES {
        if i >= STAGES { bar.sync 1 + i % STAGES, 1024; }
        bar.arrive 5 + i % STAGES, 1024;
    }
}
warps 4..32 as math {
    for i in 0..ROUNDS * STAGES - (warp == 17) {
        bar.sync 5 + i % STAGES, 1024;
        if i + STAGES < ROUNDS * STAGES { bar.arrive 1 + i % STAGES, 1024; }
    }
}
";

/// A ring of which one warp may leave at any tile, with more states than a search for the shortest path
/// makes.
const MAY_LEAVE: &str = "target ptx;
cta 512;
const STAGES = 4;
const TILES = 32;
warps 0..4 as load {
    for i in 0..TILES {
        if i >= STAGES { bar.sync 1 + i % STAGES, 512; }
        bar.arrive 5 + i % STAGES, 512;
    }
}
warps 4..16 as math {
    for i in 0..TILES {
        bar.sync 5 + i % STAGES, 512;
        if warp == 9 { if ? { break; } }
        if i + STAGES < TILES { bar.arrive 1 + i % STAGES, 512; }
    }
}
";

/// A ring of which a stage may be left out, by all alike. Whoever leaves out all stages at first meets nobody
/// in the second round; whoever does so last has come a long way.
const LEAVES_OUT: &str = "target ptx;
cta 256;
const ROUNDS = 14;
const STAGES = 7;
shared s[STAGES];
warps 0..2 as producer { for i in 0..ROUNDS {
    if uniform skip ? {} else {
        if i >= STAGES { bar.sync 1 + i % STAGES + STAGES, 256; }
        if warp == 0 { write s[i % STAGES]; }
        bar.arrive 1 + i % STAGES, 256;
    }
} }
warps 2..8 as consumer { for i in 0..ROUNDS {
    if uniform skip ? {} else {
        bar.sync 1 + i % STAGES, 256;
        read s[i % STAGES];
        if i + STAGES < ROUNDS { bar.arrive 1 + i % STAGES + STAGES, 256; }
    }
} }
";

fn error(report: &Value) -> &Value {
    let findings = report["findings"].as_array().expect("findings");
    findings.iter().find(|finding| finding["level"] == "error").expect("an error")
}

fn steps(finding: &Value) -> u64 {
    finding["trace"]["steps"].as_array().map_or(0, Vec::len) as u64
}

#[test]
fn fewer_rounds_that_show_the_same_are_named_and_do() {
    let folder = Folder::new();
    let file = folder.add("ring.bar", LEAVES_EARLY);
    let report = &run(&["verify", "--format", "json", &file]).expect(1).json()[0];
    let long = error(report);
    assert!(steps(long) > 1_000 && long["shortest"] == true, "every run is a permutation of one");
    let smaller = &long["smaller"];
    let define = format!("{}={}", smaller["param"].as_str().expect("a name"), smaller["value"]);
    run(&["verify", &file]).expect(1).prints("` shows the same in ");

    let report = &run(&["verify", "--format", "json", "-D", &define, &file]).expect(1).json()[0];
    let short = error(report);
    assert_eq!((&short["rule"], &short["location"]), (&long["rule"], &long["location"]));
    assert_eq!(smaller["steps"].as_u64(), Some(steps(short)));
    // How far it comes down depends on the time that is left for it.
    assert!(steps(short) * 2 < steps(long), "{} of {}", steps(short), steps(long));
}

#[test]
fn a_path_that_need_not_be_the_shortest_says_so() {
    let run = verify(MAY_LEAVE, &["--reduction", "stubborn"]).expect(1);
    run.prints("error[deadlock]").prints("note: a shorter schedule may show the same");
    let report = &verify(MAY_LEAVE, &["--reduction", "stubborn", "--format", "json"]).expect(1).json()[0];
    assert_eq!(error(report)["shortest"], false);
}

#[test]
fn nothing_is_said_of_a_path_that_is_short_or_the_shortest() {
    let crossed = "target ptx; cta 64; param N = 3;
        warp 0 { for i in 0..N { bar.sync 1, 64; } } warp 1 { for i in 0..N - 1 { bar.sync 1, 64; } }";
    let run = verify(crossed, &[]).expect(1);
    assert!(!run.out.contains("shows the same") && !run.out.contains("may show"), "{}", run.out);
    let report = &verify(crossed, &["--format", "json"]).expect(1).json()[0];
    assert!(error(report)["shortest"] == true && error(report)["smaller"].is_null());
}

#[test]
fn what_choosing_otherwise_at_once_shows_takes_no_detour() {
    let report = &verify(LEAVES_OUT, &["--reduction", "stubborn", "--format", "json"]).expect(1).json()[0];
    let found = error(report);
    assert_eq!(found["rule"], "deadlock");
    // Eight decisions of each of eight warps, and where each of them waits.
    assert_eq!(steps(found), 72, "{}", found["headline"]);
}
