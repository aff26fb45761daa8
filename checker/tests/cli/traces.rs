//! Counterexamples: written where `--trace` says, and replayed.

use crate::support::{DEADLOCK, Folder, GOOD, WARNING, run, run_on};

const TWO_RULES: &str = "target ptx; cta 64; shared a;\nwarps 0..2 { write a; bar.arrive 1, 64; }\n";

fn names(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder is there");
    let mut names: Vec<_> = entries
        .map(|entry| entry.expect("it can be read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn one_counterexample_goes_into_a_file() {
    let folder = Folder::new();
    let (file, trace) = (folder.add("ring.bar", DEADLOCK), folder.text("out.json"));
    run(&["verify", &file, "--trace", &trace]).expect(1).prints("out.json");
    run(&["replay", &trace]).expect(0).prints("confirmed");
    let json = run(&["replay", "--format", "json", &trace]).expect(0).json();
    assert_eq!(json[0]["outcome"], "confirmed");
    assert_eq!(json[0]["rule"], "deadlock");
    let text = std::fs::read(&trace).expect("it is there");
    run_on(&["replay", "-"], &text).expect(0).prints("confirmed <stdin>");
}

#[test]
fn several_counterexamples_go_into_a_folder() {
    let folder = Folder::new();
    let (ring, good) = (folder.add("ring.bar", DEADLOCK), folder.add("good.bar", GOOD));
    let (both, warning) = (folder.add("both.bar", TWO_RULES), folder.add("warning.bar", WARNING));
    let traces = folder.text("traces/of/today");
    run(&["verify", "--all", "--trace", &traces, &ring, &good, &both, &warning]).expect(1);
    let written = names(&folder.at("traces/of/today"));
    assert!(written.contains(&"ring-deadlock.json".to_owned()), "{written:?}");
    assert!(written.contains(&"both-data-race.json".to_owned()), "{written:?}");
    assert!(written.contains(&"both-nobody-waits.json".to_owned()), "{written:?}");
    assert!(written.contains(&"warning-nobody-waits.json".to_owned()), "{written:?}");
    for name in written {
        run(&["replay", &format!("{traces}/{name}")]).expect(0).prints("confirmed");
    }
}

#[test]
fn files_of_one_name_do_not_overwrite_each_other() {
    let folder = Folder::new();
    for name in ["a", "b"] {
        std::fs::create_dir(folder.at(name)).expect("a folder can be made");
    }
    let (a, b) = (folder.add("a/ring.bar", DEADLOCK), folder.add("b/ring.bar", DEADLOCK));
    run(&["verify", "--trace", &folder.text("traces"), &a, &b]).expect(1);
    assert_eq!(names(&folder.at("traces")), ["ring-deadlock-2.json", "ring-deadlock.json"]);
}

#[test]
fn a_trace_that_cannot_be_written_is_trouble() {
    let folder = Folder::new();
    let (good, ring) = (folder.add("good.bar", GOOD), folder.add("warning.bar", WARNING));
    let nowhere = folder.text("good.bar/traces");
    run(&["verify", "--trace", &nowhere, &good, &ring]).expect(2).says("cannot write");
}

#[test]
fn a_trace_carries_definitions_and_readings() {
    let folder = Folder::new();
    let source =
        "target ptx; cta 64; param N = 1;\nwarp 0 { bar.sync N, 64; assert N == 1; }\nwarp 1 { exit; }\n";
    let (file, trace) = (folder.add("params.bar", source), folder.text("out.json"));
    let options = ["--exited-threads", "release", "-D", "N=3", "--trace", &trace];
    let mut arguments = vec!["verify", &file];
    arguments.extend(options);
    run(&arguments).expect(1).prints("error[assertion]");
    run(&["replay", &trace]).expect(0);
}

#[test]
fn a_trace_whose_protocol_is_in_an_unknown_format_is_refused() {
    let folder = Folder::new();
    let (file, trace) = (folder.add("ring.bar", DEADLOCK), folder.text("out.json"));
    run(&["verify", &file, "--trace", &trace]).expect(1);
    let text = std::fs::read_to_string(&trace).expect("it is there");
    let other = folder.add("other.json", text.replace("\"format\":\"bar\"", "\"format\":\"elf\""));
    let known: Vec<String> = barcheck_specs::Format::ALL.map(|format| format!("`{}`", format.name())).into();
    let why = "the protocol that it carries cannot be read: format `elf` is unknown; the formats are: ";
    let why = &format!("{why}{}", known.join(", "));
    run(&["replay", &other]).expect(2).says("cannot replay").says(why);
    let json = run(&["replay", "--format", "json", &other]).expect(2).json();
    assert_eq!((&json[0]["outcome"], json[0]["reason"].as_str()), (&"unreadable".into(), Some(why.as_str())));
    run(&["show", &other]).expect(2).says(why);
    run(&["view", &other]).expect(2).says(why);
    run(&["convert", "--to", "text", &other]).expect(2).says(why);
    run(&["view", "--anyway", &other]).expect(0);
    let page = std::fs::read_to_string(folder.at("other.html")).expect("a page");
    assert!(page.contains("format `elf` is unknown"), "the page says why what it shows may not be so");
}

#[test]
fn traces_that_lie_or_are_none() {
    let folder = Folder::new();
    let (file, trace) = (folder.add("ring.bar", DEADLOCK), folder.text("out.json"));
    run(&["verify", &file, "--trace", &trace]).expect(1);
    let text = std::fs::read_to_string(&trace).expect("it is there");
    let lie = folder
        .add("lie.json", text.replace("bar.sync 2, 64; bar.sync 1, 64;", "bar.sync 1, 64; bar.sync 2, 64;"));
    run(&["replay", &lie]).expect(1).prints("departs");
    let json = run(&["replay", "--format", "json", &lie]).expect(1).json();
    assert_eq!(json[0]["outcome"], "departs");
    assert!(json[0]["reason"].is_string());
    let version = folder.add("version.json", text.replace("barcheck-trace/1", "barcheck-trace/9"));
    run(&["replay", &version]).expect(2).says("barcheck-trace/9");
    let broken = folder.add("broken.json", &text[..text.len() / 2]);
    run(&["replay", &broken]).expect(2).says("broken.json");
    let source = folder.add("source.json", text.replace("target ptx;", "target;"));
    run(&["replay", &source]).expect(2).says("cannot be read");
    for (name, contents) in [("empty.json", &b""[..]), ("list.json", b"[]"), ("binary.json", b"\xff\xfe")] {
        let path = folder.add(name, contents);
        run(&["replay", &path]).expect(2).says(name);
    }
    run(&["replay", "/missing.json"]).expect(2).says("No such file or directory");
    run(&["replay", &lie, &broken, &trace]).expect(1).prints("confirmed");
    run(&["replay", &broken, &trace]).expect(2).prints("confirmed");
}

#[test]
fn deep_json_is_refused() {
    let folder = Folder::new();
    let deep = folder.add("deep.json", format!("{{\"format\":{}", "[".repeat(1_000_000)));
    run(&["replay", &deep]).expect(2);
}
