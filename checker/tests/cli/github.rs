//! Annotations of GitHub Actions, read back as a runner reads them.

use crate::support::{
    DEADLOCK, FAULT, Folder, GOOD, LARGE, Run, WARNING, command, finish, run, run_on, verify,
};
use std::collections::BTreeMap;

/// A command as a runner understands it.
#[derive(Debug)]
struct Annotation {
    level: String,
    properties: BTreeMap<String, String>,
    message: String,
}

fn unescaped(text: &str) -> String {
    text.replace("%0D", "\r").replace("%0A", "\n").replace("%3A", ":").replace("%2C", ",").replace("%25", "%")
}

/// The annotations printed, and the line for people.
#[track_caller]
fn annotations(run: &Run) -> (Vec<Annotation>, String) {
    let mut lines: Vec<_> = run.out.split_terminator('\n').collect();
    let last = lines.pop().expect("there is a line").to_owned();
    assert!(!last.starts_with("::") && last.contains("file"), "{last}");
    let annotation = |line: &str| {
        let (head, message) = line.strip_prefix("::").and_then(|rest| rest.split_once("::")).expect(line);
        let (level, properties) = head.split_once(' ').expect(line);
        let property = |pair: &str| {
            let (name, value) = pair.split_once('=').expect(line);
            (name.to_owned(), unescaped(value))
        };
        let properties = properties.split(',').map(property).collect();
        Annotation { level: level.to_owned(), properties, message: unescaped(message) }
    };
    (lines.into_iter().map(annotation).collect(), last)
}

fn only(run: &Run) -> Annotation {
    let (mut all, _) = annotations(run);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn a_violation_is_an_error_at_its_place() {
    let found = only(&verify(DEADLOCK, &["--format", "github"]).expect(1));
    assert_eq!(found.level, "error");
    let names: Vec<_> = found.properties.keys().map(String::as_str).collect();
    assert_eq!(names, ["col", "file", "line", "title"]);
    assert_eq!((found.properties["line"].as_str(), found.properties["col"].as_str()), ("3", "10"));
    assert_eq!(found.properties["title"], "deadlock");
    assert!(found.message.contains("waits") && found.message.contains("barcheck explain deadlock"));
}

#[test]
fn levels_have_the_names_that_runners_know() {
    let found = only(&verify(WARNING, &["--format", "github"]).expect(0));
    assert_eq!((found.level.as_str(), found.properties["title"].as_str()), ("warning", "nobody-waits"));
    let found = only(&verify(WARNING, &["--format", "github", "--deny", "nobody-waits"]).expect(1));
    assert_eq!(found.level, "error");
}

#[test]
fn what_has_no_verdict_is_an_error() {
    let kind = |run: Run| {
        let found = only(&run);
        assert_eq!(found.level, "error");
        (found.properties["title"].clone(), found.properties.contains_key("line"))
    };
    let github = ["--format", "github"];
    assert_eq!(kind(verify("target ptx", &github).expect(2)), ("malformed".to_owned(), true));
    assert_eq!(kind(verify(FAULT, &github).expect(2)), ("evaluation-error".to_owned(), true));
    let few = ["--format", "github", "--max-states", "100"];
    assert_eq!(kind(verify(LARGE, &few).expect(3)), ("inconclusive".to_owned(), false));
    let missing = run(&["verify", "--format", "github", "missing.bar"]).expect(2);
    assert_eq!(kind(missing), ("unreadable".to_owned(), false));
}

#[test]
fn the_last_line_is_for_people_and_nothing_else_is_printed_of_what_is_fine() {
    let run = verify(GOOD, &["--format", "github"]).expect(0);
    assert_eq!(run.out, "1 file: 1 verified\n");
    assert_eq!(verify(GOOD, &["--format", "github", "--quiet"]).expect(0).out, "");
    let (_, last) =
        annotations(&run_on(&["verify", "--format", "github", "-"], DEADLOCK.as_bytes()).expect(1));
    assert_eq!(last, "1 file: 1 violated");
}

#[test]
fn files_are_named_from_the_working_folder_however_they_are_given() {
    let folder = Folder::new();
    std::fs::create_dir(folder.at("sub")).expect("a folder can be made");
    let full = folder.add("sub/bad.bar", DEADLOCK);
    for given in ["sub/bad.bar", "./sub/bad.bar", "sub/../sub/bad.bar", ".", &full] {
        let run =
            finish(command(&["verify", "--format", "github", given]).current_dir(folder.path())).expect(1);
        assert_eq!(only(&run).properties["file"], "sub/bad.bar", "{given}");
    }
}

#[cfg(unix)]
#[test]
fn hostile_names_and_texts_command_nothing() {
    let folder = crate::support::hostile_folder();
    let run = finish(command(&["verify", "--format", "github", "."]).current_dir(folder.path())).expect(1);
    let (all, last) = annotations(&run);
    assert_eq!(last, "12 files: 3 verified, 3 violated, 6 with errors");
    let named = |wanted: &str| all.iter().filter(|found| found.properties["file"] == wanted).count();
    for name in crate::support::hostile_names() {
        // A terminal that shows the log obeys nothing.
        let shown =
            name.to_string_lossy().replace(|c: char| c.is_control() && !"\r\n".contains(c), "\u{fffd}");
        assert!(named(&shown) > 0, "{name:?}: {}", run.out);
    }
    for found in &all {
        assert!(["error", "warning"].contains(&found.level.as_str()), "{found:?}");
        let names =
            found.properties.keys().all(|name| ["file", "line", "col", "title"].contains(&name.as_str()));
        assert!(names, "{found:?}");
    }
}
