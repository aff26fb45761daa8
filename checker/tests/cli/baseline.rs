//! Findings that are known.

use crate::support::{DEADLOCK, FAULT, Folder, GOOD, LARGE, Run, WARNING, run, run_on};
use serde_json::{Value, json};

/// A data race, and a deadlock behind it.
const TWO: &str =
    "target ptx;\ncta 64;\nshared a;\nwarps 0..2 { write a; if warp == 0 { bar.sync 2, 64; } }\n";

/// A folder with a baseline of what is found in these files.
fn known(files: &[(&str, &str)]) -> (Folder, String) {
    let folder = Folder::new();
    for (name, text) in files {
        folder.add(name, text);
    }
    let baseline = folder.text("known.txt");
    run(&["verify", "--write-baseline", &baseline, &folder.text("")]).expect(0).says("written to");
    (folder, baseline)
}

fn against(baseline: &str, file: &str) -> Run {
    run(&["verify", "--baseline", baseline, file])
}

fn lines(baseline: &str) -> Vec<String> {
    let text = std::fs::read_to_string(baseline).expect("the baseline is there");
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn what_is_known_does_not_fail_and_is_told() {
    let (folder, baseline) = known(&[("hang.bar", DEADLOCK), ("good.bar", GOOD)]);
    let run = against(&baseline, &folder.text("")).expect(0);
    let run = run.prints("violated").prints("nothing new (1 known finding)").prints("known `deadlock`");
    assert!(!run.out.contains("error[deadlock]"), "{}", run.out);
    run.prints("2 files: 1 verified, 1 with known findings alone");
}

#[test]
fn what_is_new_fails_beside_what_is_known() {
    let (folder, baseline) = known(&[("hang.bar", DEADLOCK)]);
    let new = folder.add("other.bar", DEADLOCK);
    against(&baseline, &new).expect(1).prints("error[deadlock]");
    let race = "target ptx;\ncta 64;\nshared a;\nwarp 0 { write a; bar.sync 1, 64; bar.sync 2, 64; }\n\
                warp 1 { write a; bar.sync 2, 64; bar.sync 1, 64; }\n";
    let file = folder.add("hang.bar", race);
    let run = against(&baseline, &file).expect(1).prints("error[data-race]").prints("known `deadlock`");
    assert!(!run.out.contains("error[deadlock]"), "{}", run.out);
}

#[test]
fn a_known_finding_does_not_hide_a_new_one() {
    let (folder, baseline) = known(&[("two.bar", TWO)]);
    assert_eq!(lines(&baseline).len(), 2, "all that is violated is written");
    for left in lines(&baseline) {
        std::fs::write(&baseline, format!("{left}\n")).expect("it can be written");
        against(&baseline, &folder.text("two.bar")).expect(1).prints("1 known finding");
    }
}

#[test]
fn a_line_stands_for_one_finding_of_its_fingerprint() {
    let once = "target ptx;\ncta 64;\nshared a;\nwarps 0..2 { write a; bar.sync 1, 64; }\n";
    let (folder, baseline) = known(&[("race.bar", once)]);
    against(&baseline, &folder.text("race.bar")).expect(0);
    let twice = once.replace("bar.sync 1, 64;", "bar.sync 1, 64;\n write a;");
    let file = folder.add("race.bar", &twice);
    against(&baseline, &file).expect(1).prints("known `data-race`").prints("error[data-race]");
}

#[test]
fn files_of_one_name_are_told_apart_by_where_they_lie() {
    let folder = Folder::new();
    for name in ["a", "b"] {
        std::fs::create_dir(folder.path().join(name)).expect("a folder can be made");
    }
    let (one, other) = (folder.add("a/hang.bar", DEADLOCK), folder.add("b/hang.bar", DEADLOCK));
    let baseline = folder.text("ci/known.txt");
    run(&["verify", "--write-baseline", &baseline, &one]).expect(0);
    assert!(lines(&baseline)[0].contains(" deadlock ../a/hang.bar # "), "{:?}", lines(&baseline));
    against(&baseline, &one).expect(0);
    against(&baseline, &other).expect(1);
}

#[test]
fn lines_that_move_keep_a_finding_known() {
    let (folder, baseline) = known(&[("hang.bar", DEADLOCK)]);
    let file = folder.add("hang.bar", format!("// A new first line.\n\n{DEADLOCK}"));
    against(&baseline, &file).expect(0);
}

#[test]
fn what_does_not_occur_any_more_is_said() {
    let (folder, baseline) = known(&[("hang.bar", DEADLOCK)]);
    let file = folder.add("hang.bar", GOOD);
    let run =
        against(&baseline, &file).expect(0).prints("gone: `deadlock`").prints("does not occur any more");
    assert!(run.out.contains("known.txt:3"), "{}", run.out);
    crate::support::run(&["verify", "-q", "--baseline", &baseline, &file]).expect(0).prints("gone");
    let arguments = ["verify", "--format", "json", "--baseline", &baseline, &file];
    let report = &crate::support::run(&arguments).expect(0).json()[0];
    crate::report::valid(report);
    assert_eq!((&report["gone"][0]["rule"], &report["gone"][0]["line"]), (&"deadlock".into(), &3.into()));
    let arguments = ["verify", "--format", "github", "--baseline", &baseline, &file];
    crate::support::run(&arguments).expect(0).prints("::notice").prints("does not occur any more");
    // A file that is violated may hide it.
    let file = folder.add("hang.bar", TWO);
    against(&baseline, &file).expect(1).prints("was not found");
    std::fs::remove_file(&file).expect("it can be removed");
    let good = folder.add("good.bar", GOOD);
    against(&baseline, &good).expect(0).says("hang.bar is not there").says("known.txt:3");
}

#[test]
fn what_was_not_searched_is_neither_known_nor_gone() {
    let folder = Folder::new();
    let file = folder.add("race.bar", LARGE.replace("write a[warp];", "write a[0];"));
    let baseline = folder.text("known.txt");
    let few = ["verify", "--max-states", "1000"];
    let with = |options: &[&str]| run(&[&few[..], options, &[file.as_str()]].concat());
    with(&["--write-baseline", &baseline]).expect(3);
    assert!(lines(&baseline).iter().any(|line| line.contains("data-race")), "{:?}", lines(&baseline));
    let more = format!("{}\n0123456789abcdef deadlock race.bar\n", lines(&baseline).join("\n"));
    std::fs::write(&baseline, more).expect("it can be written");
    let run = with(&["--baseline", &baseline]).expect(3).prints("more rules may be violated than are shown");
    assert!(!run.out.contains("gone"), "{}", run.out);
    let sarif = with(&["--baseline", &baseline, "--format", "sarif"]).json();
    assert_eq!(sarif[0]["runs"][0]["invocations"][0]["executionSuccessful"], false);
}

#[test]
fn errors_and_unread_files_keep_their_status() {
    let (folder, baseline) = known(&[("hang.bar", DEADLOCK)]);
    let fault = folder.add("fault.bar", FAULT);
    against(&baseline, &fault).expect(2);
    against(&baseline, &folder.text("missing.bar")).expect(2);
}

#[test]
fn warnings_and_lints_may_be_known() {
    let lint = "target ptx; cta 64; param N = 1; warps 0..2 { bar.sync 1, 64; }\n";
    let (folder, baseline) = known(&[("warning.bar", WARNING), ("lint.bar", lint)]);
    assert_eq!(lines(&baseline).len(), 2);
    let files = [folder.text("warning.bar"), folder.text("lint.bar")];
    for file in &files {
        run(&["verify", "--deny", "warnings", file]).expect(1);
        run(&["verify", "--deny", "warnings", "--baseline", &baseline, file]).expect(0).prints("nothing new");
        let run = against(&baseline, file).expect(0).prints("verified").prints("1 known finding");
        assert!(!run.out.contains("warning["), "{}", run.out);
    }
}

#[test]
fn every_format_tells_what_is_known_from_what_is_new() {
    let (folder, baseline) = known(&[("two.bar", TWO)]);
    let only = lines(&baseline).into_iter().find(|line| line.contains("data-race")).expect("it is found");
    let file = folder.text("two.bar");
    let format = |format: &str| run(&["verify", "--format", format, "--baseline", &baseline, &file]);
    let cases = format("junit").expect(0);
    assert!(!cases.out.contains("<failure"), "{}", cases.out);
    cases.prints("system-out").prints("known `data-race`");
    std::fs::write(&baseline, format!("{only}\n")).expect("it can be written");
    let report = &format("json").expect(1).json()[0];
    crate::report::valid(report);
    let known: Vec<(&Value, &Value)> =
        report["findings"].as_array().expect("a list").iter().map(|f| (&f["rule"], &f["known"])).collect();
    assert_eq!(known, [(&json!("data-race"), &json!(true)), (&json!("deadlock"), &json!(false))]);
    let results = &crate::sarif::log(&format("sarif").expect(1))["results"];
    let states: Vec<_> = results.as_array().expect("a list").iter().map(|r| &r["baselineState"]).collect();
    assert_eq!(states, ["unchanged", "new"]);
    format("github").expect(1).prints("::notice").prints("::known: ").prints("::error");
    format("junit").expect(1).prints("type=\"deadlock\"");
    let plain = run(&["verify", "--format", "json", &file]).expect(1).json();
    assert_eq!(plain[0]["findings"][0].get("known"), None);
}

#[test]
fn a_malformed_baseline_is_an_error_with_file_and_line() {
    let (folder, baseline) = known(&[("hang.bar", DEADLOCK)]);
    let file = folder.text("hang.bar");
    let entry = lines(&baseline).remove(0);
    for (line, said) in [
        ("nonsense", "found 1 words"),
        ("0123 deadlock hang.bar", "16 hexadecimal digits"),
        ("0123456789abcdef deadlok hang.bar", "there is no rule `deadlok`"),
        ("0123456789abcdef deadlock hang.bar and more", "found 5 words"),
    ] {
        std::fs::write(&baseline, format!("# known\n{entry}\n{line}\n")).expect("it can be written");
        let run = against(&baseline, &file).expect(2).says(said).says("known.txt:3: ");
        assert_eq!(run.out, "", "nothing is decided");
    }
    std::fs::write(&baseline, b"# known\n\xff\xfe\n").expect("it can be written");
    against(&baseline, &file).expect(2).says("known.txt:2: ").says("UTF-8");
    against(&folder.text("missing.txt"), &file).expect(2).says("cannot read");
    std::fs::write(&baseline, "\n# nothing is known\n").expect("it can be written");
    against(&baseline, &file).expect(1);
}

#[test]
fn a_baseline_overwrites_nothing_and_is_not_read_and_written_at_once() {
    let folder = Folder::new();
    let (file, baseline) = (folder.add("hang.bar", DEADLOCK), folder.text("known.txt"));
    run(&["verify", "--write-baseline", &file, &file]).expect(2).says("would overwrite the protocol");
    let report = format!("json={baseline}");
    run(&["verify", "--write-baseline", &baseline, "--report", &report, &file])
        .expect(2)
        .says("written twice");
    run(&["verify", "--write-baseline", &baseline, "--baseline", &baseline, &file]).expect(2);
    assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), Some(DEADLOCK));
    run(&["verify", "--write-baseline", &folder.text("hang.bar/known.txt"), &file])
        .expect(2)
        .says("cannot write");
}

#[test]
fn standard_input_has_a_baseline_too() {
    let folder = Folder::new();
    let baseline = folder.text("known.txt");
    run_on(&["verify", "--write-baseline", &baseline, "-"], DEADLOCK.as_bytes()).expect(0);
    run_on(&["verify", "--baseline", &baseline, "-"], DEADLOCK.as_bytes()).expect(0);
    let file = folder.add("<stdin>", DEADLOCK);
    against(&baseline, &file).expect(1);
}

#[test]
fn a_baseline_is_of_one_combination_of_values_and_not_of_what_heads_expect() {
    let (folder, baseline) = known(&[("hang.bar", DEADLOCK)]);
    let ring = folder.add("ring.bar", "target ptx;\ncta 64;\nparam N = 1;\nwarps 0..2 { bar.sync N; }\n");
    let several = ["-D", "N=1..2", ring.as_str()];
    for option in ["--baseline", "--write-baseline"] {
        run(&[&["verify", option, &baseline], &several[..]].concat())
            .expect(2)
            .says("one combination of values");
        run(&["verify", option, &baseline, "--expect", &ring]).expect(2).says("cannot be used with");
    }
    run(&["verify", "--baseline", &baseline, "-D", "N=2", &ring]).expect(0);
}
