//! The library of protocols on executable barriers: the same verdicts as the exhaustive check.

mod agreement;

use agreement::{Compared, compare};
use barcheck::Verdict;
use barcheck::gate::{Effort, Extent, MOST_UNDER_LOOM, Protocol, With, explore};
use barcheck_model::machine::{ExitedThreads, Options};
use barcheck_model::rule::Rule;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every protocol of the library, by target.
fn library() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/protocols");
    let mut found = Vec::new();
    for target in ["ptx", "bcu", "nbarrier", "split_barrier", "xegpu"] {
        let folder = std::fs::read_dir(root.join(target)).expect("the library is there");
        let mut files: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "bar"));
        files.sort();
        found.extend(files.into_iter().map(|file| (target.to_owned(), file)));
    }
    found
}

#[derive(Default)]
struct Row {
    compared: usize,
    everything: usize,
    bounded: BTreeMap<usize, usize>,
    violated: usize,
    unseen: usize,
    executions: u64,
    unfit: BTreeMap<String, usize>,
}

/// `BARCHECK_GATE_SECONDS` sets how long loom may take for each; the table in the book's chapter on the gate
/// is what it prints.
#[test]
fn the_library_gets_the_same_verdict_from_loom_and_the_exhaustive_check() {
    let seconds = std::env::var("BARCHECK_GATE_SECONDS").map_or(0.5, |text| text.parse().expect("seconds"));
    let effort = Effort { seconds, all: true, ..Effort::default() };
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let mut differences = Vec::new();
    for (target, file) in library() {
        let row = rows.entry(target).or_default();
        let text = std::fs::read_to_string(&file).expect("a protocol");
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match compare(&name, &text, &effort) {
            Compared::Differ(how) => differences.push(format!("{}: {how}", file.display())),
            Compared::Unfit(why) => *row.unfit.entry(why).or_default() += 1,
            Compared::Agreed { gated, verdict, unseen } => {
                row.compared += 1;
                row.executions += gated.executions;
                row.violated += usize::from(verdict == Verdict::Violated);
                row.unseen += usize::from(gated.violation.is_none() && !unseen.is_empty());
                match gated.extent {
                    _ if gated.violation.is_some() => {}
                    Some(Extent::Everything) => row.everything += 1,
                    Some(Extent::Preemptions(n)) => *row.bounded.entry(n).or_default() += 1,
                    _ => {}
                }
            }
        }
    }
    println!(
        "| system | compared | violated | only the model | not violated: every schedule | bounded (preemptions) | executions |"
    );
    println!("|---|---|---|---|---|---|---|");
    for (target, row) in &rows {
        let Row { compared, everything, bounded, violated, unseen, executions, .. } = row;
        let bounded: Vec<_> =
            bounded.iter().map(|(most, protocols)| format!("{protocols} ({most})")).collect();
        println!(
            "| `{target}` | {compared} | {violated} | {unseen} | {everything} | {} | {executions} |",
            bounded.join(", ")
        );
    }
    for (target, row) in &rows {
        println!("{target}, not compared: {:?}", row.unfit);
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(rows.values().map(|row| row.compared).sum::<usize>() >= 60);
}

/// Shuttle runs the protocols that are too large for loom, too; what it finds is followed in the model before
/// it counts.
#[test]
fn what_shuttle_and_ordinary_threads_find_in_the_library_is_what_its_heads_expect() {
    let mut found = 0;
    for (number, (target, file)) in library().into_iter().enumerate() {
        let text = std::fs::read_to_string(&file).expect("a protocol");
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let released = text.lines().any(|line| line == "// options: --exited-threads release");
        let options =
            Options { exited_threads: if released { ExitedThreads::Release } else { ExitedThreads::Hold } };
        let Ok(protocol) = Protocol::parse(&name, text.as_bytes(), &BTreeMap::new(), options) else {
            continue;
        };
        let expected = |rule: Rule| {
            let heads = text.lines().filter_map(|line| line.strip_prefix("// rules:"));
            heads.flat_map(|rules| rules.split([',', ' '])).any(|name| name == rule.name())
        };
        // Threads of the operating system hang for a while before they count as hanging: some protocols are
        // enough.
        let runners =
            if number % 6 == 0 { &[(With::Shuttle, 30), (With::Std, 3)][..] } else { &[(With::Shuttle, 30)] };
        for &(with, executions) in runners {
            let effort = Effort { seconds: 1.0, executions, ..Effort::default() };
            let command = Command::new(env!("CARGO_BIN_EXE_barcheck"));
            let gated = explore(&protocol, with, &effort, command)
                .unwrap_or_else(|how| panic!("{target}/{name}: {how}"));
            if let Some(violation) = gated.violation {
                found += 1;
                assert!(
                    expected(violation.rule),
                    "{target}/{name}: {} finds `{}`",
                    with.name(),
                    violation.rule
                );
            }
        }
    }
    println!("{found} violations found at random, all of them confirmed by the model and expected");
    assert!(found > 50);
}

/// Rules that threads do not show: their locks order more than the specifications do.
const BEYOND_THREADS: [&str; 10] = [
    "cluster_fence_too_near_broken",
    "cluster_local_scope_broken",
    "cluster_init_relaxed_broken",
    "cluster_relaxed_arrive_broken",
    "copy_over_written_broken",
    "mbarrier_init_relaxed_broken",
    "mbarrier_fence_too_early_broken",
    "mbarrier_relaxed_arrive",
    "mbarrier_relaxed_beside_barrier",
    "mbarrier_relaxed_wait_broken",
];
/// Races of warps that are too many for loom, which alone sees them.
const BEYOND_SHUTTLE: [&str; 1] = ["mbarrier_mailbox_freed_early_broken"];
/// What goes on for ever, and is left to shuttle, though loom has room for its agents.
const ENDLESS: [&str; 6] = [
    "mbarrier_counter_wraps",
    "mbarrier_counter_wraps_amid",
    "mbarrier_ring_forever",
    "mbarrier_token_forever",
    STUCK,
    "setmaxnreg_never_enough_fixed",
];
/// Somebody waits while others go on for ever: no run on threads, which is ended, shows that.
const STUCK: &str = "setmaxnreg_never_enough_broken";
/// A loop that asks two objects, lanes that go apart, and copies between CTAs: nobody follows them.
const NOT_FOLLOWED: [&str; 5] = [
    "mbarrier_ask_two",
    "mbarrier_init_by_lanes",
    "mbarrier_init_by_lanes_broken",
    "cluster_copy_across",
    "cluster_copy_across_broken",
];

/// Loom runs those of up to four warps, as far as a second goes; shuttle runs the others.
#[test]
fn protocols_of_mbarriers_and_clusters_do_on_threads_what_their_heads_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/protocols/ptx");
    let mut files: Vec<PathBuf> = std::fs::read_dir(root)
        .expect("the library is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let (mut whole, mut bounded, mut sampled, mut violated) = (0, Vec::new(), Vec::new(), 0);
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let ours =
            ["mbarrier_", "cluster_", "elected_", "setmaxnreg_"].iter().any(|start| name.starts_with(start));
        if !ours || file.extension().is_none_or(|extension| extension != "bar") {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a protocol");
        let head =
            |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).unwrap_or_default().trim();
        let (expected, rules) = (head("// expect:"), head("// rules:"));
        let protocol = Protocol::parse(&name, text.as_bytes(), &BTreeMap::new(), Options::default())
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        let small = protocol.agents() <= MOST_UNDER_LOOM && !ENDLESS.contains(&name.as_str());
        let (with, executions) = if small { (With::Loom, 0) } else { (With::Shuttle, 400) };
        let effort = Effort { seconds: if small { 1.0 } else { 10.0 }, executions, ..Effort::default() };
        let gated = explore(&protocol, with, &effort, Command::new(env!("CARGO_BIN_EXE_barcheck")))
            .unwrap_or_else(|how| panic!("{name}: {how}"));
        if NOT_FOLLOWED.contains(&name.as_str()) {
            assert!(gated.unfit.is_some(), "{name}: {}", gated.extent_in_words());
            continue;
        }
        assert_eq!((&gated.unfit, &gated.gave_up), (&None, &None), "{name}");
        let is_beyond = |what: &[&str]| what.contains(&name.as_str());
        let unseen = is_beyond(&BEYOND_THREADS) || is_beyond(&BEYOND_SHUTTLE) || is_beyond(&[STUCK]);
        match gated.violation {
            Some(violation) => {
                let said = rules.split(", ").any(|rule| rule == violation.rule.name());
                assert!(expected == "violated" && said && !unseen, "{name}: {}", violation.rule);
                violated += 1;
            }
            None => {
                assert!(expected == "verified" || unseen, "{name}: {}", gated.extent_in_words());
                match gated.extent {
                    Some(Extent::Everything) => whole += 1,
                    Some(Extent::Sample(n)) => {
                        assert!(n > 0, "{name}");
                        sampled.push(name);
                    }
                    _ => bounded.push(name),
                }
            }
        }
    }
    println!("{violated} violated; of the others {whole} under every schedule");
    println!("not all schedules of {bounded:?}; at random {sampled:?}");
    // How far loom comes in a second depends on the machine.
    assert!(violated >= 30 && whole >= 5);
}
