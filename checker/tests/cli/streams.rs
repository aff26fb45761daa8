//! Colours, closed pipes, interruptions.

use crate::support::{DEADLOCK, Folder, GOOD, LARGE, command, finish, verify};
use std::io::Read;
use std::process::Stdio;
use std::time::Duration;

const ESCAPE: char = '\u{1b}';

#[test]
fn colours_only_where_wanted() {
    assert!(!verify(DEADLOCK, &[]).expect(1).out.contains(ESCAPE));
    assert!(!verify(DEADLOCK, &["--color", "never"]).expect(1).out.contains(ESCAPE));
    assert!(verify(DEADLOCK, &["--color", "always"]).expect(1).out.contains(ESCAPE));
    assert!(!verify(DEADLOCK, &["--color", "always", "--format", "json"]).expect(1).out.contains(ESCAPE));
    let folder = Folder::new();
    let file = folder.add("good.bar", GOOD);
    let run = finish(command(&["verify", &file]).env("NO_COLOR", "1")).expect(0);
    assert!(!run.out.contains(ESCAPE));
}

/// Nobody reads standard output, yet nothing panics and nothing is said.
#[track_caller]
fn closed_pipe(arguments: &[&str], status: i32) {
    // Closed before anything can be written.
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut child =
        command(arguments).stdout(writer).stderr(Stdio::piped()).spawn().expect("the binary starts");
    let mut err = String::new();
    child.stderr.take().expect("it is piped").read_to_string(&mut err).expect("it is UTF-8");
    assert_eq!(err, "");
    assert_eq!(child.wait().expect("it ends").code(), Some(status));
}

#[test]
fn closed_pipes() {
    let folder = Folder::new();
    let good = folder.add("good.bar", GOOD);
    let bad = folder.add("deadlock.bar", DEADLOCK);
    closed_pipe(&["verify", &good], 0);
    closed_pipe(&["verify", &good, "--format", "json"], 0);
    closed_pipe(&["verify", &bad], 1);
    // The second file is not decided: that must not look like "verified".
    closed_pipe(&["verify", &good, &bad], 3);
    closed_pipe(&["rules"], 0);
    closed_pipe(&["clauses"], 0);
    closed_pipe(&["explain", "deadlock"], 0);
    closed_pipe(&["completions", "bash"], 0);
    closed_pipe(&["--help"], 0);
}

#[cfg(unix)]
#[test]
fn an_interruption_gives_a_partial_report() {
    let folder = Folder::new();
    let (large, good) = (folder.add("large.bar", LARGE), folder.add("good.bar", GOOD));
    let sarif = format!("--report=sarif={}", folder.text("report.sarif"));
    let child = command(&["verify", "--format", "json", "--timeout", "120", &sarif, &large, &good])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    std::thread::sleep(Duration::from_millis(500));
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.expect("there is `kill`").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8(output.stdout).expect("it is UTF-8");
    let reports: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect();
    assert_eq!(reports.len(), 2);
    for report in reports {
        assert_eq!(report["verdict"], "inconclusive");
        assert!(report["reason"].as_str().expect("a text").starts_with("interrupted"));
    }
    let log = std::fs::read_to_string(folder.at("report.sarif")).expect("it is there");
    let log: serde_json::Value = serde_json::from_str(&log).expect("it is JSON");
    let invocation = &log["runs"][0]["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    assert_eq!(invocation["toolExecutionNotifications"].as_array().map(Vec::len), Some(2));
}
