//! Budgets hold in every phase: while a text is read, while agents compute by themselves, while what was
//! found is confirmed.

#![cfg(unix)]

use crate::support::{Folder, command, run, verify};
use std::fmt::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Lanes that differ count up for ever: each operation is one for every lane.
const ENDLESS: &str =
    "target ptx; cta 64;\nwarp 0 { let x = lane; loop { x = x + 1; } }\nwarp 1 { bar.sync 0; }\n";

/// A warp with so many locals, which are read again after a barrier if they are to matter.
fn locals(count: usize, read: bool) -> String {
    let mut text = "target ptx; cta 64;\nwarp 0 {\n".to_owned();
    for i in 0..count {
        let _ = writeln!(text, "let v{i} = {i};");
    }
    text.push_str("bar.sync 0;\n");
    for i in 0..if read { count } else { 0 } {
        let _ = writeln!(text, "assert v{i} == {i};");
    }
    text + "}\nwarp 1 { bar.sync 0; }\n"
}

/// Time and memory, in KiB, that a run of the binary takes which ends with a status.
#[track_caller]
fn cost(arguments: &[&str], status: i32) -> (Duration, u64) {
    let mut command = command(arguments);
    let began = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the binary starts");
    let place = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let ended = loop {
        if let Some(ended) = child.try_wait().expect("it ends") {
            break ended;
        }
        let text = std::fs::read_to_string(&place).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(peak);
        std::thread::sleep(Duration::from_millis(1));
    };
    assert_eq!(ended.code(), Some(status), "{arguments:?}");
    (began.elapsed(), peak)
}

#[test]
fn a_hundred_thousand_locals_take_little_time_and_memory() {
    let folder = Folder::new();
    let file = folder.add("lets.bar", locals(100_000, false));
    let (time, peak) = cost(&["verify", "--timeout", "5", "--max-memory", "500M", &file], 0);
    assert!(time < Duration::from_secs(5), "{time:?}");
    assert!(peak < 150 << 10, "{peak} KiB");
}

#[test]
fn configurations_of_many_locals_stay_within_the_memory() {
    let folder = Folder::new();
    let file = folder.add("used.bar", locals(20_000, true));
    for reduction in ["stubborn", "symmetry", "none"] {
        let given = ["--reduction", reduction, "--timeout", "60", "--max-memory", "100M"];
        let (_, peak) = cost(&[&["verify", &file][..], &given].concat(), 3);
        assert!(peak < 150 << 10, "{reduction}: {peak} KiB");
    }
}

#[test]
fn a_text_that_has_no_room_is_not_read() {
    let folder = Folder::new();
    let file = folder.add("long.bar", locals(200_000, false));
    let run = run(&["verify", "--max-memory", "20M", &file]).expect(3);
    run.prints("inconclusive").prints("to read it takes about").prints("raise --max-memory");
}

#[test]
fn time_ends_local_computation_in_every_command() {
    let folder = Folder::new();
    let file = folder.add("endless.bar", ENDLESS);
    let commands: [&[&str]; 8] = [
        &["verify"],
        &["verify", "--all"],
        &["verify", "--reduction", "schedule"],
        &["verify", "--reduction", "none", "--threads", "2"],
        &["graph"],
        &["export", "--to", "promela"],
        &["export", "--to", "tla"],
        &["gate"],
    ];
    for command in commands {
        let began = Instant::now();
        let run = run(&[command, &["--timeout", "0.5", &file]].concat()).expect(3);
        assert!(began.elapsed() < Duration::from_secs(5), "{command:?}: {:?}", began.elapsed());
        if command.contains(&"schedule") {
            run.prints("gave up after 0.5 s\n");
        } else if command[0] == "verify" {
            run.prints("gave up after 0.5 s; what grew: the local computation of warp 0 in line 2");
        } else if command[0] != "gate" {
            run.says("gave up after 0.5 s, while it was evaluated; raise --timeout");
        }
    }
}

#[test]
fn to_say_what_grew_takes_no_time_when_time_is_up() {
    let mut text = "target ptx; cta 32; warp 0 {\n".to_owned();
    (0..64).for_each(|local| text += &format!("let x{local} = any 0..2;\n"));
    (0..64).for_each(|local| text += &format!("if x{local} == 1 {{ bar.sync 0; }}\n"));
    text += "}\n";
    let seconds = || {
        let report = &verify(&text, &["--timeout", "1", "--format", "json"]).expect(3).json()[0];
        let reason = report["reason"].as_str().expect("a text");
        assert!(reason.contains("what grew: the configurations of warp 0"), "{reason}");
        report["statistics"]["seconds"].as_f64().expect("a number")
    };
    // Of three, since the machine may be busy.
    let took = (0..3).map(|_| seconds()).fold(f64::INFINITY, f64::min);
    assert!(took < 1.7, "{took}");
}

#[test]
fn time_ends_the_replay_of_a_trace_of_long_local_computation() {
    let folder = Folder::new();
    let text = "target ptx; cta 64;\nwarp 0 { let x = lane; while x < 20000 { x = x + 1; } bar.sync 0; }\n\
                warp 1 { bar.sync 1; }\n";
    let (file, trace) = (folder.add("long.bar", text), folder.text("trace.json"));
    run(&["verify", "--trace", &trace, &file]).expect(1);
    run(&["replay", &trace]).expect(0);
    let page = folder.text("page.html");
    let commands: [&[&str]; 4] = [
        &["replay", &trace],
        &["show", "--plain", &trace],
        &["view", "-o", &page, &trace],
        &["convert", "--to", "svg", &trace],
    ];
    for command in commands {
        run(&[command, &["--timeout", "0.001"]].concat())
            .expect(3)
            .says("gave up after 0.001 s, while it was");
    }
    assert!(!folder.at("page.html").exists());
    let late = run(&["replay", "--format", "json", "--timeout", "0.001", &trace]).expect(3);
    assert_eq!(late.json()[0]["outcome"], "inconclusive");
}

#[test]
fn a_violation_that_cannot_be_confirmed_in_time_is_no_verdict() {
    let folder = Folder::new();
    let count = |to: u32| format!("{{ let x = lane; while x < {to} {{ x = x + 1; }} bar.sync 0; }}");
    let text = format!("target ptx; cta 64;\nwarp 0 {}\nwarp 1 {{ bar.sync 1; }}\n", count(3_000_000));
    let file = folder.add("long.bar", &text);
    let began = Instant::now();
    let run = run(&["verify", "--format", "json", "--timeout", "0.3", &file]).expect(3);
    assert!(began.elapsed() < Duration::from_secs(6), "{:?}", began.elapsed());
    let report = &run.json()[0];
    assert_eq!(
        (&report["verdict"], report["findings"].as_array().map(Vec::len)),
        (&"inconclusive".into(), Some(0))
    );
}

#[test]
fn an_interruption_ends_local_computation() {
    let folder = Folder::new();
    let file = folder.add("endless.bar", ENDLESS);
    for more in [&[][..], &["--reduction", "none"]] {
        let mut command = command(&[&["verify", &file], more].concat());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary starts");
        std::thread::sleep(Duration::from_millis(500));
        let began = Instant::now();
        let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(sent.expect("there is `kill`").success());
        let output = child.wait_with_output().expect("it ends");
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("interrupted"), "{output:?}");
    }
}
