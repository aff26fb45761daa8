//! Kernels with names that no screen holds: people are shown them in short, and programs whole.

use crate::support::{Folder, Run, run};
use std::time::{Duration, Instant};

/// Two instances of one template; the second hangs.
const MODULE: &str = include_str!("../hangs/long_names.ptx");
const SECOND: &str = "kernel tiles::device_kernel<…> (entry 1)";

fn folder(text: &str) -> (Folder, String) {
    let folder = Folder::new();
    let path = folder.add("kernel.ptx", text);
    (folder, path)
}

/// The names in the module.
fn names() -> Vec<&'static str> {
    let named = MODULE.lines().filter_map(|line| line.strip_prefix(".visible .entry "));
    named.filter_map(|rest| Some(rest.split_once('(')?.0)).collect()
}

/// No line that was printed has a long name in it.
#[track_caller]
fn in_short(run: Run) -> Run {
    for text in [&run.out, &run.err] {
        assert!(!text.contains("Pipeline"), "{run:?}");
    }
    run
}

#[test]
fn the_position_tells_kernels_apart_and_chooses_one() {
    let (_folder, path) = folder(MODULE);
    let both = in_short(run(&["verify", &path]).expect(1));
    both.prints("kernel tiles::device_kernel<…> (entry 0) (ptx)").prints(SECOND).prints("2 kernels");
    let first = in_short(run(&["verify", "--entry", "0", &path]).expect(0));
    assert!(first.prints("(entry 0)").out.lines().all(|line| !line.contains("(entry 1)")));
    let second = in_short(run(&["verify", "--entry", "1", &path]).expect(1)).prints(SECOND);
    assert!(!second.out.contains("(entry 0)"), "{second:?}");
    // A part of a name is what it was.
    run(&["verify", "--entry", "device_kernel", &path]).expect(1).prints("2 kernels");
    run(&["verify", "--entry", names()[1], &path]).expect(1).prints(SECOND);
}

#[test]
fn whoever_names_none_or_several_is_told_which_there_are_in_short() {
    let (_folder, path) = folder(MODULE);
    let all = "tiles::device_kernel<…> (entry 0), tiles::device_kernel<…> (entry 1)";
    for (entry, why) in
        [("2", "is called `2` or has this position, from 0"), ("ring", "has `ring` in its name")]
    {
        let none = in_short(run(&["verify", "--entry", entry, &path]).expect(2));
        none.says(why).says(&format!("there are: {all}"));
    }
    in_short(run(&["extract", &path]).expect(2)).says(&format!("choose one by --entry: {all}"));
    in_short(run(&["where", &path, "--at", "0=18"]).expect(2)).says(&format!("choose one by --entry: {all}"));
    let many: String = (0..11).map(|n| format!(".visible .entry k{n}()\n{{ bar.sync 0; ret; }}\n")).collect();
    let (_folder, path) = folder(&format!(".version 8.0\n.target sm_90\n{many}"));
    run(&["extract", "--cta", "64", &path]).expect(2).says("by --entry: k0, k1").says("k7 and 3 more");
}

#[test]
fn every_report_for_people_has_them_in_short() {
    let (_folder, path) = folder(MODULE);
    in_short(run(&["doctor", &path]).expect(0)).prints(SECOND);
    in_short(run(&["where", &path, "--entry", "1", "--at", "0=18"]).expect(0)).prints(SECOND);
    in_short(run(&["gate", "--entry", "1", &path]).expect(1)).prints(SECOND);
    let row = "tiles::device_kernel<…> (entry 1)";
    in_short(run(&["verify", "--format", "table", &path]).expect(1)).prints(row);
    in_short(run(&["verify", "--format", "markdown", &path]).expect(1)).prints(&format!("| `{row}` |"));
    in_short(run(&["verify", "--format", "github", &path]).expect(1)).prints(SECOND);
}

#[test]
fn programs_are_told_the_whole_name() {
    let (folder, path) = folder(MODULE);
    let rows = run(&["verify", "--format", "json", &path]).expect(1).json();
    let kernels: Vec<_> = rows.iter().map(|row| (row["kernel"].as_str(), row["entry"].as_u64())).collect();
    let [first, second] = names()[..] else { panic!("there are two") };
    assert_eq!(kernels, [(Some(first), Some(0)), (Some(second), Some(1))]);
    for format in ["sarif", "junit"] {
        run(&["verify", "--format", format, &path]).expect(1).prints(&format!("kernel {second}"));
    }
    let baseline = folder.text("known.txt");
    run(&["verify", "--write-baseline", &baseline, &path]).expect(0);
    let known = std::fs::read_to_string(&baseline).expect("it was written");
    assert!(known.contains(&format!("kernel.ptx:{second} ")), "{known}");
}

#[test]
fn no_name_takes_long_to_show() {
    let began = Instant::now();
    let longest = "4ring".repeat(200_000);
    // Each type names the one before it twice.
    let doubled: String = ('0'..='9').chain('A'..='Z').map(|n| format!("S_IS{n}_S{n}_E")).collect();
    let open = "_Z1fIX".repeat(1000);
    for name in [format!("_ZN{longest}E4scanEv"), format!("_Z4scanI1AIiiE{doubled}Evv"), open] {
        let (_folder, path) = folder(&MODULE.replace(names()[1], &name));
        let begin: String = name.chars().take(30).collect();
        run(&["verify", "--entry", "1", &path])
            .expect(1)
            .prints(&format!("kernel {begin}…"))
            .prints("(entry 1)")
            .prints("warp 1 exited here");
    }
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
}
