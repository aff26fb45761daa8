//! `verify --expect`: files are held to their heads.

use crate::support::{DEADLOCK, Folder, GOOD, LARGE, Run, WARNING, run};
use serde_json::json;
use std::path::Path;

/// A protocol with a head.
fn headed(expect: &str, rules: &str, source: &str) -> String {
    format!("// expect: {expect}\n// rules: {rules}\n{source}")
}

fn held(source: &str) -> Run {
    let folder = Folder::new();
    let file = folder.add("p.bar", source);
    run(&["verify", "--expect", &file])
}

#[test]
fn the_library_is_as_its_heads_say() {
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/protocols/nbarrier");
    let library = library.to_str().expect("a path in UTF-8");
    let run = run(&["verify", "--expect", library]).expect(0).prints("as expected");
    let last = run.out.lines().last().expect("a line");
    assert!(last.contains(" files: ") && last.ends_with(" as expected"), "{last}");
    assert!(!run.out.contains("error["), "{}", run.out);
}

#[test]
fn a_broken_protocol_that_is_broken_as_its_head_says_passes_and_is_not_explained() {
    let run = held(&headed("violated", "deadlock", DEADLOCK)).expect(0);
    assert!(run.out.starts_with("as expected ") && run.out.contains("(ptx), violated by deadlock: "));
    assert_eq!(run.out.lines().count(), 1, "{}", run.out);
}

#[test]
fn what_differs_is_told_with_what_was_expected_and_what_was_found() {
    let mended = held(&headed("violated", "deadlock", GOOD)).expect(1);
    mended.prints("differs ").prints(": expected violated by deadlock, found verified\n");
    let broken = held(&headed("verified", "none", DEADLOCK)).expect(1);
    broken.prints(": expected verified, found violated by deadlock\n").prints("error[deadlock]");
    let otherwise = held(&headed("violated", "data-race", DEADLOCK)).expect(1);
    otherwise.prints("expected violated by data-race, found violated by deadlock");
    let also = held(&headed("violated", "deadlock, data-race", DEADLOCK)).expect(1);
    also.prints("expected violated by data-race, deadlock, found violated by deadlock");
}

#[test]
fn warnings_are_expected_too() {
    held(&headed("verified", "nobody-waits", WARNING)).expect(0).prints("verified with nobody-waits");
    held(&headed("verified", "none", WARNING)).expect(1).prints("found verified with nobody-waits");
}

#[test]
fn pedantic_rules_count_only_where_a_head_names_them() {
    let source = "target ptx; cta 64; warps 0..2 { bar.sync 0, 64; }\n";
    held(&headed("verified", "none", source)).expect(0);
    held(&headed("verified", "reserved-barrier", source)).expect(0);
    held(&headed("verified", "reserved-barrier", GOOD)).expect(1).prints("found verified\n");
    let denied = format!("// options: --deny reserved-barrier\n{source}");
    held(&headed("violated", "reserved-barrier", &denied)).expect(0);
    held(&headed("verified", "none", &denied)).expect(1).prints("found violated by reserved-barrier");
}

#[test]
fn the_options_of_a_head_count_for_its_file_alone() {
    let folder = Folder::new();
    let source = "target ptx; cta 64; param N = 0; warp 0 { assert N == 5; }\nwarp 1 { }\n";
    let set = headed("verified", "none", &format!("// options: -D N=5\n{source}"));
    let (set, unset) =
        (folder.add("a.bar", set), folder.add("b.bar", headed("violated", "assertion", source)));
    run(&["verify", "--expect", &set, &unset]).expect(0).prints("2 files: 2 as expected");
    // What is set for all counts more.
    run(&["verify", "--expect", "-DN=5", &set, &unset]).expect(1).prints("1 as expected, 1 differs");
    let exit = "target ptx; cta 64; warp 0 { bar.sync 1, 64; } warp 1 { exit; }\n";
    held(&headed("violated", "deadlock", exit)).expect(0);
    held(&headed("verified", "none", &format!("// options: --exited-threads release\n{exit}"))).expect(0);
    let unknown = headed("verified", "none", &format!("// options: -D M=1\n{source}"));
    held(&unknown).expect(1).prints("no `param M`").says(":3:");
}

#[test]
fn a_file_without_a_head_fails_and_says_what_to_write() {
    held(GOOD)
        .expect(1)
        .prints("no head says what is expected")
        .prints("`// expect: verified`")
        .prints("`// rules: none`");
    held(DEADLOCK).expect(1).prints("`// expect: violated`").prints("`// rules: deadlock`");
    let late = format!("{GOOD}// expect: verified\n// rules: none\n");
    held(&late).expect(1).prints("line 2 is no head");
}

#[test]
fn a_head_that_cannot_be_read_fails_at_its_place() {
    let wrong = held(&headed("violated", "dedlock", DEADLOCK)).expect(1);
    wrong
        .prints("its head cannot be read: line 2: `dedlock` is not a rule")
        .says(":2:11")
        .says("`deadlock`?");
    let half = format!("// expect: verified\n{GOOD}");
    held(&half).expect(1).prints("not `rules:`").says("// rules: none");
}

#[test]
fn texts_without_meaning_can_be_expected_and_files_that_cannot_be_read_cannot() {
    let malformed = held(&headed("error", "none", "target ptx;\n")).expect(0);
    assert_eq!(malformed.err, "");
    held(&headed("verified", "none", "target ptx;\n")).expect(1).prints("found error: ").says("error");
    run(&["verify", "--expect", "/missing.bar"]).expect(1).prints("differs /missing.bar: error: ");
}

#[test]
fn a_search_that_was_cut_short_is_no_verified() {
    let folder = Folder::new();
    let file = folder.add("p.bar", headed("verified", "none", LARGE));
    let few = run(&["verify", "--expect", "--max-states", "1000", &file]).expect(1);
    few.prints("expected verified, found inconclusive: ");
}

#[test]
fn every_format_says_the_same() {
    let folder = Folder::new();
    folder.add("a_met.bar", headed("violated", "deadlock", DEADLOCK));
    folder.add("b_mended.bar", headed("violated", "deadlock", GOOD));
    folder.add("c_none.bar", GOOD);
    let of = |format: &str| run(&["verify", "--expect", "--format", format, &folder.text("")]).expect(1);
    let json = of("json").json();
    let expectation = |index: usize| json[index]["expectation"].clone();
    assert_eq!(expectation(0), json!({"met": true, "expected": "violated", "rules": ["deadlock"]}));
    assert_eq!(json[0]["verdict"], "violated");
    let difference = "expected violated by deadlock, found verified";
    let differs = json!({
        "met": false, "expected": "violated", "rules": ["deadlock"], "difference": difference
    });
    assert_eq!(expectation(1), differs);
    assert_eq!((&expectation(2)["met"], &expectation(2)["expected"]), (&json!(false), &json!(null)));
    let junit = of("junit");
    assert!(junit.out.contains("tests=\"3\" skipped=\"0\" errors=\"0\" failures=\"2\""), "{}", junit.out);
    assert!(junit.out.contains("type=\"unexpected\"") && junit.out.contains(difference), "{}", junit.out);
    let github = of("github");
    assert_eq!(github.out.lines().filter(|line| line.starts_with("::error")).count(), 2, "{}", github.out);
    assert!(github.out.contains("title=unexpected::") && !github.out.contains("a_met"), "{}", github.out);
    assert!(github.out.ends_with("3 files: 1 as expected, 2 differ\n"), "{}", github.out);
    let sarif = &of("sarif").json()[0]["runs"][0];
    assert_eq!(sarif["results"], json!([]));
    assert_eq!(sarif["invocations"][0]["executionSuccessful"], false);
    let told = &sarif["invocations"][0]["toolExecutionNotifications"];
    assert_eq!(told.as_array().map(Vec::len), Some(2), "{told}");
}

#[test]
fn levels_stand_in_heads_and_not_on_the_command_line() {
    for option in [&["--deny", "deadlock"][..], &["--strict"], &["--exited-threads", "release"]] {
        let arguments = [&["verify", "--expect"], option, &["x.bar"]].concat();
        run(&arguments).expect(2).says("cannot be used with");
    }
}
