//! Files are written whole or not at all, where they are meant to be, and as they were allowed to be.

#![cfg(unix)]

use crate::support::{DEADLOCK, Folder, GOOD, Run, command, finish, ring, run};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Stdio};

/// What stands in a file that is to be replaced.
const OLD: &str = "what was here before\n";

/// Runs the binary where no file may grow beyond one block, of 512 or 1024 bytes.
fn where_files_are_short(arguments: &[&str]) -> Run {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 1; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_barcheck")]).args(arguments);
    finish(shell.stdin(Stdio::null()))
}

/// The names in a folder, hidden ones included.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A protocol that is not formatted, and takes several blocks when it is.
fn long_protocol() -> String {
    let rounds: String = (0..200).map(|_| "bar.sync 1, 64;  ").collect();
    format!("target ptx; cta 64; warps 0..2 {{ {rounds} }}\n")
}

#[test]
fn a_file_that_does_not_fit_on_the_disk_leaves_the_old_one_whole() {
    let (folder, _) = ring();
    let protocol = folder.text("ring.bar");
    let trace = folder.text("ring.json");
    let old = folder.add("old", OLD);
    let report = |format: &str| format!("--report={format}={old}");
    let commands: [(&[&str], &str); 10] = [
        (&["verify", &protocol, "--trace", &old], "cannot write"),
        (&["verify", &protocol, "--html", &old], "cannot write"),
        (&["verify", &protocol, &report("json")], "cannot write"),
        (&["verify", &protocol, &report("sarif")], "cannot write"),
        (&["verify", &protocol, &report("junit")], "cannot write"),
        (&["gate", &protocol, "--trace", &old], "cannot write"),
        (&["view", &trace, "-o", &old], "cannot write"),
        (&["convert", "--to", "itf", &trace, "-o", &old], "cannot write"),
        (&["graph", &protocol, "-o", &old], "cannot write"),
        (&["export", "--to", "promela", &protocol, "-o", &old], "cannot write"),
    ];
    let before = names(folder.path());
    for (arguments, said) in commands {
        let run = where_files_are_short(arguments);
        assert!(matches!(run.status, Some(1 | 2)), "{arguments:?}: {run:?}");
        assert!(run.err.contains(said), "{arguments:?}: {run:?}");
        assert_eq!(fs::read_to_string(&old).expect("it is there"), OLD, "{arguments:?}");
        assert_eq!(names(folder.path()), before, "{arguments:?}");
    }
}

#[test]
fn a_protocol_that_cannot_be_formatted_for_want_of_room_is_not_lost() {
    let folder = Folder::new();
    let source = long_protocol();
    let file = folder.add("long.bar", &source);
    where_files_are_short(&["fmt", &file]).expect(2).says("cannot write");
    assert_eq!(fs::read_to_string(&file).expect("it is there"), source);
    assert_eq!(names(folder.path()), ["long.bar"]);
    run(&["fmt", &file]).expect(0);
    run(&["fmt", "--check", &file]).expect(0);
}

#[test]
fn a_file_that_is_replaced_keeps_its_permissions() {
    let folder = Folder::new();
    let file = folder.add("long.bar", long_protocol());
    for mode in [0o600, 0o640, 0o755] {
        fs::write(&file, long_protocol()).expect("a file can be written");
        fs::set_permissions(&file, Permissions::from_mode(mode)).expect("it may be changed");
        run(&["fmt", &file]).expect(0);
        assert_ne!(fs::read_to_string(&file).expect("it is there"), long_protocol());
        assert_eq!(fs::metadata(&file).expect("it is there").mode() & 0o777, mode);
    }
}

#[test]
fn links_stay_and_what_they_lead_to_is_replaced() {
    let folder = Folder::new();
    fs::create_dir(folder.at("far")).expect("a folder can be made");
    let protocol = folder.add("deadlock.bar", DEADLOCK);
    folder.add("far/real.json", OLD);
    symlink("far/real.json", folder.at("near.json")).expect("a link can be made");
    symlink("near.json", folder.at("nearer.json")).expect("a link can be made");
    symlink("far/yet-to-be.json", folder.at("dangling.json")).expect("a link can be made");
    for (link, real) in [("nearer.json", "far/real.json"), ("dangling.json", "far/yet-to-be.json")] {
        run(&["verify", &protocol, "--trace", &folder.text(link)]).expect(1);
        assert!(fs::symlink_metadata(folder.at(link)).expect("it is there").is_symlink(), "{link}");
        run(&["replay", &folder.text(real)]).expect(0);
    }
    symlink("round.json", folder.at("round.json")).expect("a link can be made");
    run(&["verify", &protocol, "--trace", &folder.text("round.json")]).expect(1).says("cannot write");
    let all = ["dangling.json", "deadlock.bar", "far", "near.json", "nearer.json", "round.json"];
    assert_eq!(names(folder.path()), all);
    assert_eq!(names(&folder.at("far")), ["real.json", "yet-to-be.json"]);
}

#[test]
fn what_is_no_regular_file_is_written_to_as_it_is() {
    let folder = Folder::new();
    let protocol = folder.add("deadlock.bar", DEADLOCK);
    let to_stdout = run(&["verify", "-q", &protocol, "--report=json=/dev/stdout"]).expect(1);
    to_stdout.prints("\"verdict\":\"violated\"");
    run(&["verify", &protocol, "--trace", "/dev/null"]).expect(1);
    assert!(!fs::metadata("/dev/null").expect("it is there").is_file());
    run(&["verify", &protocol, "--trace", "/dev/full"]).says("No space left");
    // Standard output is a file: its name leads there, and another file must not take its place.
    let out = fs::File::create(folder.at("out")).expect("a file can be made");
    let number = out.metadata().expect("it is there").ino();
    let mut verify = command(&["verify", "-q", &protocol, "--report=json=/dev/stdout"]);
    assert_eq!(verify.stdout(out).status().expect("the binary starts").code(), Some(1));
    assert_eq!(fs::metadata(folder.at("out")).expect("it is there").ino(), number);
    let pipe = folder.at("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("there is `mkfifo`").success());
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().expect("there is `cat`");
    run(&["verify", &protocol, "--trace", &folder.text("pipe")]).expect(1);
    let read = reader.wait_with_output().expect("it ends").stdout;
    assert!(String::from_utf8_lossy(&read).contains("barcheck-trace/1"));
    assert!(!fs::metadata(&pipe).expect("it is there").is_file());
    assert_eq!(names(folder.path()), ["deadlock.bar", "out", "pipe"]);
}

#[test]
fn a_report_takes_its_place_when_it_is_complete() {
    let folder = Folder::new();
    let (good, old) = (folder.add("good.bar", GOOD), folder.add("report.json", OLD));
    run(&["verify", &good, &format!("--report=json={old}")]).expect(0);
    assert!(fs::read_to_string(&old).expect("it is there").contains("verified"));
    assert_eq!(names(folder.path()), ["good.bar", "report.json"]);
}
