//! `-D` with several values: every combination is decided.

use crate::support::{Folder, GOOD, LARGE, Run, run, verify};
use serde_json::json;

/// Two warps meet `LOADS` and `TILES` times: verified if these are the same.
const TILES: &str = "target ptx;\ncta 64;\nparam LOADS = 3;\nparam TILES = 3;\n\
                     warp 0 { for i in 0..LOADS { bar.sync 1, 64; } }\n\
                     warp 1 { for i in 0..TILES { bar.sync 1, 64; } }\n";
/// Its size depends on a value, and with 0 it has none.
const SIZE: &str = "target ptx; param N = 1; cta 32 * N; warps 0..N { bar.sync 1, 32 * N; }\n";

/// The lines of the table at the end.
fn table(run: &Run) -> Vec<Vec<&str>> {
    let lines = run.out.lines().skip_while(|line| !line.contains("  verdict"));
    let lines = lines.take_while(|line| !line.is_empty());
    lines.map(|line| line.split_whitespace().take(3).collect()).collect()
}

#[test]
fn every_combination_has_a_verdict_and_a_row() {
    let run = verify(TILES, &["-D", "LOADS=2..3", "-D", "TILES=2,3"]).expect(1);
    let rows = [
        ["LOADS", "TILES", "verdict"],
        ["2", "2", "verified"],
        ["2", "3", "violated"],
        ["3", "2", "violated"],
        ["3", "3", "verified"],
    ];
    assert_eq!(table(&run), rows);
    let run = run.prints("(ptx) with LOADS=2, TILES=3: ").prints("error[deadlock]");
    assert!(run.out.ends_with("\n4 combinations: 2 verified, 2 violated\n"), "{}", run.out);
}

#[test]
fn what_was_found_for_an_earlier_combination_is_told_once() {
    let run = verify(TILES, &["-D", "TILES=0..2"]).expect(1);
    // At 0 and at 1, warp 0 waits in the same line.
    assert_eq!(run.out.matches("error[deadlock]").count(), 1, "{}", run.out);
    assert_eq!(run.out.matches("\n  as before: deadlock: ").count(), 2, "{}", run.out);
    let whole = verify(TILES, &["--unfold", "-D", "TILES=0..2"]).expect(1);
    assert_eq!(whole.out.matches("error[deadlock]").count(), 3, "{}", whole.out);
    // Another place is another finding.
    let other = verify(TILES, &["-D", "TILES=2,4"]).expect(1);
    assert_eq!(other.out.matches("error[deadlock]").count(), 2, "{}", other.out);
}

#[test]
fn one_value_is_no_range() {
    let one = verify(TILES, &["-D", "TILES=3..3"]).expect(0);
    assert!(!one.out.contains("with TILES") && !one.out.contains("combination"), "{}", one.out);
    // The last definition of a name counts, as ever.
    verify(TILES, &["-D", "TILES=1..9", "-D", "TILES=3"]).expect(0);
}

#[test]
fn the_status_is_that_of_the_worst() {
    verify(TILES, &["-D", "TILES=3..4"]).expect(1);
    verify(TILES, &["-D", "TILES=3,3"]).expect(0);
    let none = verify(SIZE, &["-D", "N=0..2"]).expect(2).says("with N=0 because of");
    none.prints("3 combinations: 2 verified, 1 with errors");
    let large = LARGE.replace("0..1000", "0..N").replace("cta", "param N = 1; cta");
    let few = ["--max-states", "1000", "-D", "N=0,1000"];
    verify(large, &few).expect(3).prints("2 combinations: 1 verified, 1 inconclusive");
}

#[test]
fn reports_name_the_combination() {
    let options = |format| ["--format", format, "-D", "TILES=2..3"];
    let json = verify(TILES, &options("json")).expect(1).json();
    assert_eq!(json.len(), 2);
    assert_eq!((&json[0]["parameters"], &json[0]["verdict"]), (&json!({"TILES": 2}), &json!("violated")));
    assert_eq!(json[0]["findings"][0]["trace"]["protocol"]["defines"], json!({"TILES": 2}));
    assert_eq!((&json[1]["parameters"], &json[1]["verdict"]), (&json!({"TILES": 3}), &json!("verified")));
    let usual = verify(TILES, &["--format", "json", "-D", "TILES=3"]).expect(0).json();
    assert_eq!(usual[0].get("parameters"), None);
    verify(TILES, &options("junit")).expect(1).prints("protocol.bar with TILES=2\"");
    verify(TILES, &options("github")).expect(1).prints("::with TILES=2: ");
    verify(TILES, &options("sarif")).expect(1).prints("\"with TILES=2: ");
}

#[test]
fn counterexamples_of_combinations_have_files_of_their_own() {
    let folder = Folder::new();
    let (file, traces) = (folder.add("t.bar", TILES), folder.text("traces"));
    run(&["verify", "-D", "TILES=1..3", "--trace", &traces, &file]).expect(1);
    let mut names: Vec<_> = std::fs::read_dir(&traces)
        .expect("the folder is made")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    names.sort();
    assert_eq!(names, ["t-TILES=1-deadlock.json", "t-TILES=2-deadlock.json"]);
    let traces: Vec<_> = names.iter().map(|name| format!("{traces}/{name}")).collect();
    run(&["replay", &traces[0], &traces[1]]).expect(0);
}

#[test]
fn files_are_decided_for_the_params_that_they_have() {
    let folder = Folder::new();
    let (tiles, good) = (folder.add("tiles.bar", TILES), folder.add("good.bar", GOOD));
    let both = run(&["verify", "-D", "TILES=3..4", &tiles, &good]).expect(1);
    assert!(both.out.ends_with("3 combinations: 2 verified, 1 violated\n"), "{}", both.out);
    run(&["verify", "-D", "TILES=3..4", "-D", "M=1..2", &tiles, &good])
        .expect(2)
        .says("no FILE has a `param M`");
    let broken = folder.add("broken.bar", "target ptx; param TILES = 1; warp 0 {");
    let once = run(&["verify", "-D", "TILES=3..4", &broken]).expect(2);
    assert_eq!(once.err.matches("could not read").count(), 1, "{}", once.err);
}

#[test]
fn a_protocol_from_standard_input_is_read_once() {
    let run = crate::support::run_on(&["verify", "-D", "TILES=2..4", "-"], TILES.as_bytes()).expect(1);
    assert_eq!(table(&run).len(), 4);
}

#[test]
fn heads_hold_for_every_combination() {
    let headed = |expect: &str, rules: &str| format!("// expect: {expect}\n// rules: {rules}\n{TILES}");
    let expect = ["--expect", "-D", "TILES=1..2"];
    verify(headed("violated", "deadlock"), &expect).expect(0).prints("2 combinations: 2 as expected");
    let differs = verify(headed("verified", "none"), &["--expect", "-D", "TILES=2..3"]).expect(1);
    differs
        .prints("with TILES=2: expected verified, found violated by deadlock")
        .prints("1 as expected, 1 differs");
}

#[test]
fn too_many_combinations_and_what_is_no_range_are_refused_at_once() {
    verify(TILES, &["-D", "TILES=0..1000"]).expect(2).says("more than 1,000 values");
    let product = ["-D", "TILES=1..40", "-D", "LOADS=1..40"];
    verify(TILES, &product).expect(2).says("40 × 40 are more than 1,000 combinations");
    verify(TILES, &["-D", "TILES=8..2"]).expect(2).says("`8..2` is empty");
    verify(TILES, &["-D", "TILES=2.."]).expect(2).says("has no end");
}

#[test]
fn commands_that_take_one_protocol_refuse_several_values() {
    let folder = Folder::new();
    let file = folder.add("t.bar", TILES);
    for command in [&["graph"][..], &["export", "--to", "promela"], &["gate"]] {
        let arguments = [command, &["-D", "TILES=2..8", &file]].concat();
        run(&arguments).expect(2).says("`2..8` are several values").says("`barcheck verify`");
    }
}
