//! What never ends by itself: processes that are asked to end, and pipes to which nobody writes.

#![cfg(unix)]

use crate::support::{Folder, GOOD, LARGE, command, ring, run};
use serde_json::Value;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A pipe to which nobody writes.
fn silent_pipe(folder: &Folder) -> String {
    let made = Command::new("mkfifo").arg(folder.at("silent.bar")).status();
    assert!(made.expect("there is `mkfifo`").success());
    folder.text("silent.bar")
}

fn start(arguments: &[&str]) -> Child {
    command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts")
}

fn send(signal: &str, child: &Child) {
    let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
    assert!(sent.expect("there is `kill`").success());
}

/// The reports of a process, which has ended as inconclusive.
#[track_caller]
fn reports(output: &Output, what: &str) -> Vec<Value> {
    assert_eq!(output.status.code(), Some(3), "{what}: {output:?}");
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}

#[track_caller]
fn is_interrupted(reports: &[Value], what: &str) {
    for report in reports {
        assert_eq!(report["verdict"], "inconclusive", "{what}");
        assert!(report["reason"].as_str().expect("a text").starts_with("interrupted"), "{what}");
    }
}

/// Whether these tests, and what they start, are to survive their terminal.
fn is_under_nohup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.is_some_and(|mask| mask.ends_with(['1', '3', '5', '7', '9', 'b', 'd', 'f']))
}

#[test]
fn whoever_is_asked_to_end_gives_a_partial_report() {
    for signals in [&["TERM"][..], &["HUP"], &["INT"], &["TERM", "TERM"], &["HUP", "HUP", "TERM"]] {
        if signals == ["HUP"] && is_under_nohup() {
            continue;
        }
        let what = format!("{signals:?}");
        let folder = Folder::new();
        let (large, good) = (folder.add("large.bar", LARGE), folder.add("good.bar", GOOD));
        let junit = format!("--report=junit={}", folder.text("report.xml"));
        let child = start(&["verify", "--format", "json", "--timeout", "120", &junit, &large, &good]);
        std::thread::sleep(Duration::from_millis(500));
        signals.iter().for_each(|signal| send(signal, &child));
        let reports = reports(&child.wait_with_output().expect("it ends"), &what);
        assert_eq!(reports.len(), 2, "{what}");
        is_interrupted(&reports, &what);
        let report = std::fs::read_to_string(folder.at("report.xml")).expect("it is there");
        assert!(report.contains("errors=\"2\""), "{what}: {report}");
    }
}

#[test]
fn a_search_under_nohup_survives_its_terminal() {
    let folder = Folder::new();
    let large = folder.add("large.bar", LARGE);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_barcheck")]);
    shell.args(["verify", "--format", "json", "--timeout", "2", &large]).stdin(Stdio::null());
    let child = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
    std::thread::sleep(Duration::from_millis(500));
    send("HUP", &child);
    let reports = reports(&child.wait_with_output().expect("it ends"), "HUP");
    assert!(reports[0]["reason"].as_str().expect("a text").starts_with("gave up after 2 s"), "{reports:?}");
}

#[test]
fn the_timeout_ends_the_reading_of_a_pipe_to_which_nobody_writes() {
    let folder = Folder::new();
    let (pipe, good) = (silent_pipe(&folder), folder.add("good.bar", GOOD));
    for more in [&[][..], &["-D", "N=1"]] {
        let began = Instant::now();
        let mut arguments = vec!["verify", "--format", "json", "--timeout", "0.3", &pipe, &good];
        arguments.extend(more);
        let run = run(&arguments).expect(3);
        assert!(began.elapsed() < Duration::from_secs(20), "{more:?}");
        let reports = run.json();
        assert_eq!(reports[0]["verdict"], "inconclusive");
        let reason = reports[0]["reason"].as_str().expect("a text");
        assert!(reason.starts_with("gave up after 0.3 s, before all of its text had come"), "{reason}");
        assert_eq!(reports[1]["verdict"], "verified");
    }
}

#[test]
fn the_timeout_ends_whatever_is_made_of_a_pipe_to_which_nobody_writes() {
    let folder = Folder::new();
    let (pipe, good) = (silent_pipe(&folder), folder.add("good.bar", GOOD));
    for command in [
        &["fmt"][..],
        &["fmt", "--check"],
        &["graph"],
        &["gate"],
        &["export", "--to", "tla"],
        &["where", "--at", "0=1"],
        &["extract"],
        &["doctor"],
    ] {
        let began = Instant::now();
        run(&[command, &["--timeout", "0.3", &pipe]].concat()).expect(3);
        assert!(began.elapsed() < Duration::from_secs(20), "{command:?}");
    }
    run(&["fmt", "--timeout", "20", &good]).expect(0);
}

#[test]
fn the_timeout_ends_the_reading_of_a_standard_input_that_stays_open() {
    let mut verify = command(&["verify", "--timeout", "0.3", "-"]);
    let mut child = verify.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().expect("the binary starts");
    let open = child.stdin.take();
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
    drop(open);
}

#[test]
fn the_first_interruption_ends_the_reading_of_a_pipe_to_which_nobody_writes() {
    let folder = Folder::new();
    let (pipe, good) = (silent_pipe(&folder), folder.add("good.bar", GOOD));
    for more in [&[][..], &["-D", "N=1"]] {
        for signal in ["INT", "TERM"] {
            let mut arguments = vec!["verify", "--format", "json", &pipe, &good];
            arguments.extend(more);
            let child = start(&arguments);
            std::thread::sleep(Duration::from_millis(500));
            send(signal, &child);
            let reports = reports(&child.wait_with_output().expect("it ends"), signal);
            assert_eq!(reports.len(), 2);
            is_interrupted(&reports, signal);
        }
    }
}

#[test]
fn what_is_written_to_a_pipe_late_is_read() {
    let folder = Folder::new();
    let pipe = silent_pipe(&folder);
    let child = start(&["verify", &pipe, "--timeout", "60"]);
    std::thread::sleep(Duration::from_millis(200));
    std::fs::write(&pipe, GOOD).expect("somebody reads");
    assert_eq!(child.wait_with_output().expect("it ends").status.code(), Some(0));
}

#[test]
fn a_trace_that_is_too_long_is_not_read() {
    let (folder, _) = ring();
    let file = std::fs::File::create(folder.at("long.json")).expect("a file can be made");
    file.set_len((64 << 20) + 1).expect("it has holes");
    let long = folder.text("long.json");
    let said = "too long: a trace has at most 67,108,864 bytes";
    run(&["replay", &long]).expect(2).says(said);
    run(&["view", &long]).expect(2).says(said);
    run(&["convert", "--to", "itf", &long]).expect(2).says(said);
}
