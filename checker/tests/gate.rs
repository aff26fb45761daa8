//! The library of protocols on executable barriers, under loom: the same verdicts as the exhaustive check.

mod agreement;

use agreement::{Compared, compare};
use barcheck::Verdict;
use barcheck::gate::{Effort, Extent};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

/// `BARCHECK_GATE_SECONDS` sets how long loom may take for each; the table of the README is what it prints.
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
    for (target, row) in &rows {
        let Row { compared, everything, bounded, violated, unseen, executions, unfit } = row;
        println!(
            "{target}: {compared} compared, {violated} violated, {unseen} only for the model; every schedule {everything}, \
             bounded {bounded:?}; {executions} executions; not run: {unfit:?}"
        );
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(rows.values().map(|row| row.compared).sum::<usize>() >= 60);
}
