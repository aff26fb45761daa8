//! `--report` and `--exit-zero`: who gets which report, and what becomes of the status.

use crate::support::{DEADLOCK, FAULT, Folder, GOOD, LARGE, command, run, run_on, verify};
use std::fs;
use std::path::Path;
use std::process::Stdio;

#[test]
fn people_read_the_log_while_machines_read_files() {
    let folder = Folder::new();
    let (good, bad) = (folder.add("good.bar", GOOD), folder.add("bad.bar", DEADLOCK));
    let to = |format: &str| format!("--report={format}={}", folder.text(&format!("made/for/it.{format}")));
    let formats = ["human", "json", "junit", "sarif", "github"];
    let mut arguments = vec!["verify".to_owned(), good, bad];
    arguments.extend(formats.map(to));
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let log = run(&arguments).expect(1).prints("violated").prints("2 files: 1 verified, 1 violated");
    let read =
        |format: &str| fs::read_to_string(folder.at(&format!("made/for/it.{format}"))).expect("it is there");
    assert!(read("human").contains("2 files: 1 verified, 1 violated"));
    for format in &formats[1..] {
        let same = run(&["verify", "--format", format, arguments[1], arguments[2]]).expect(1);
        // Times differ, in digits and in exponents.
        let steady = |text: &str| text.chars().filter(|c| c.is_alphabetic() && *c != 'e').collect::<String>();
        assert_eq!(steady(&same.out), steady(&read(format)), "{format}");
    }
    assert_eq!(log.err, "");
}

#[test]
fn what_people_read_in_a_file_includes_what_is_wrong_with_the_text() {
    let folder = Folder::new();
    let file = folder.add("broken.bar", "target ptx");
    run(&["verify", &file, "--report", &format!("human={}", folder.text("log"))]).expect(2);
    let text = fs::read_to_string(folder.at("log")).expect("it is there");
    assert!(text.contains("broken.bar:1:11") && text.contains("could not read"), "{text}");
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn a_report_that_cannot_be_written_is_known_before_the_search() {
    let folder = Folder::new();
    let good = folder.add("good.bar", GOOD);
    let inside_a_file = format!("json={}", folder.text("good.bar/x.json"));
    for report in [inside_a_file, format!("json={}", folder.text(""))] {
        let run = run(&["verify", &good, "--report", &report]).expect(2).says("cannot write");
        assert_eq!(run.out, "");
    }
}

#[test]
fn a_report_overwrites_neither_another_nor_a_protocol() {
    let folder = Folder::new();
    let good = folder.add("good.bar", GOOD);
    fs::create_dir(folder.at("sub")).expect("a folder can be made");
    let report = |format: &str, name: &str| format!("--report={format}={}", folder.text(name));
    for same in ["x", "./x", "sub/../x"] {
        run(&["verify", &good, &report("json", "x"), &report("sarif", same)]).expect(2).says("written twice");
    }
    run(&["verify", &good, &report("json", "x"), "--trace", &folder.text("x")])
        .expect(2)
        .says("written twice");
    run(&["verify", &folder.text(""), &report("json", "good.bar")]).expect(2).says("overwrite the protocol");
    assert_eq!(fs::read_to_string(&good).expect("it is there"), GOOD);
}

#[test]
fn a_malformed_report_option_says_what_is_wanted() {
    for (wrong, wanted) in
        [("sarif", "FORMAT=PATH"), ("xml=a", "junit"), ("junit=", "PATH"), ("junit=-", "--format junit")]
    {
        verify(GOOD, &["--report", wrong]).expect(2).says(wanted);
    }
}

#[test]
fn reports_in_files_are_complete_though_nobody_reads_the_log() {
    let folder = Folder::new();
    let (good, bad) = (folder.add("good.bar", GOOD), folder.add("bad.bar", DEADLOCK));
    let report = format!("--report=json={}", folder.text("report"));
    let mut child = command(&["verify", &good, &good, &bad, &report])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert_eq!(fs::read_to_string(folder.at("report")).expect("it is there").lines().count(), 3);
}

#[test]
fn a_full_disk_is_an_error_and_the_other_reports_are_written() {
    if !Path::new("/dev/full").exists() {
        println!("skipped: there is no full device");
        return;
    }
    let folder = Folder::new();
    let good = folder.add("good.bar", GOOD);
    let report = format!("--report=sarif={}", folder.text("report"));
    run(&["verify", &good, &good, "--report=json=/dev/full", &report, "--exit-zero"])
        .expect(2)
        .says("cannot write /dev/full")
        .prints("2 files: 2 verified");
    assert!(fs::read_to_string(folder.at("report")).is_ok_and(|text| text.starts_with('{')));
}

#[test]
fn exit_zero_hides_verdicts_and_nothing_else() {
    for (source, options) in
        [(GOOD, &[][..]), (DEADLOCK, &[]), (FAULT, &[]), (LARGE, &["--max-states", "100"]), ("target", &[])]
    {
        verify(source, &[options, &["--exit-zero"]].concat()).expect(0);
    }
    let folder = Folder::new();
    run(&["verify", "--exit-zero", &folder.text("missing.bar")]).expect(0).says("cannot read");
    run(&["verify", "--exit-zero", &folder.text("")]).expect(0).says("there is no `.ptx`, ");
    verify(GOOD, &["--exit-zero", "--frobnicate"]).expect(2);
    verify(GOOD, &["--exit-zero", "-DN=1"]).expect(2);
    verify(GOOD, &["--exit-zero", "--partition", "2/1"]).expect(2);
    run_on(&["verify", "--exit-zero", "-", "-"], b"").expect(2);
    verify(DEADLOCK, &["--exit-zero", "--trace", "/dev/null/x"]).expect(2).says("cannot write");
}
