//! Names of files are shown, and nothing obeys them: no terminal, and no log that takes lines for commands.

#![cfg(unix)]

use crate::support::{DEADLOCK, Folder, Run, command, finish, hostile_names, ring};
use std::ffi::{OsStr, OsString};
use std::fs;

/// Nothing that was printed is a command, but for those that the format consists of.
#[track_caller]
fn obeyed_by_nobody(run: &Run, what: &str) {
    for text in [&run.out, &run.err] {
        let odd = text.chars().find(|c| c.is_control() && *c != '\n' && *c != '\t' || *c == '\u{202e}');
        assert_eq!(odd, None, "{what}: {run:?}");
        let commands = text.lines().filter(|line| line.trim_start().starts_with("::error::"));
        assert_eq!(commands.count(), 0, "{what}: {run:?}");
    }
    assert!(!run.err.contains("panicked"), "{what}: {run:?}");
}

/// The names that mean something to somebody, but for one that turns the direction of text: logs on GitHub
/// show that, and names there have to be those of files.
fn names() -> Vec<OsString> {
    let more = ["::error::first.bar", "a ::error::second.bar"].map(OsString::from);
    let mut names: Vec<_> = hostile_names().into_iter().chain(more).collect();
    names.retain(|name| !name.to_string_lossy().contains('\u{202e}'));
    names
}

/// The name is given last.
#[track_caller]
fn run(folder: &Folder, arguments: &[&str], name: &OsStr) -> Run {
    let mut command = command(arguments);
    let run = finish(command.arg(name).current_dir(folder.path()));
    obeyed_by_nobody(&run, &format!("{arguments:?} {name:?}"));
    run
}

#[test]
fn names_of_protocols_command_nothing_whatever_is_said_of_them() {
    let folder = Folder::new();
    for name in &names() {
        fs::write(folder.path().join(name), DEADLOCK.replace('\n', "  ")).expect("a file can be written");
        run(&folder, &["verify"], name).expect(1);
        run(&folder, &["verify", "--format", "github"], name).expect(1);
        run(&folder, &["verify", "--format", "junit"], name).expect(1);
        run(&folder, &["verify", "--max-states", "1", "--reduction", "none"], name);
        run(&folder, &["verify", "--report=github=/dev/stdout"], name).expect(1);
        run(&folder, &["verify", "--trace", "traces/", "--all"], name).expect(1);
        run(&folder, &["fmt", "--check"], name).expect(1);
        run(&folder, &["graph"], name).expect(0);
        run(&folder, &["export", "--to", "promela"], name).expect(0);
        run(&folder, &["export", "--to", "tla"], name).expect(0);
        run(&folder, &["gate"], name).expect(1);
        fs::write(folder.path().join(name), "target ptx").expect("a file can be written");
        for arguments in [&["verify"][..], &["fmt"], &["graph"], &["export", "--to", "tla"], &["gate"]] {
            run(&folder, arguments, name).expect(2);
        }
        fs::remove_file(folder.path().join(name)).expect("it can be removed");
        let commands: [&[&str]; 10] = [
            &["verify"],
            &["verify", "--format", "github"],
            &["fmt"],
            &["graph"],
            &["export", "--to", "tla"],
            &["gate"],
            &["replay"],
            &["view"],
            &["convert", "--to", "itf"],
            &["show"],
        ];
        for arguments in commands {
            run(&folder, arguments, name).expect(2);
        }
    }
}

fn joined(before: &str, name: &OsStr) -> OsString {
    let mut whole = OsString::from(before);
    whole.push(name);
    whole
}

#[test]
fn names_of_files_that_are_written_command_nothing() {
    let (folder, _) = ring();
    for name in names() {
        let commands: [&[&str]; 6] = [
            &["verify", "ring.bar", "--trace"],
            &["verify", "ring.bar", "--html"],
            &["view", "ring.json", "-o"],
            &["convert", "--to", "itf", "ring.json", "-o"],
            &["graph", "ring.bar", "-o"],
            &["gate", "ring.bar", "--trace"],
        ];
        // Below a file there is no room for another.
        let nowhere = joined("ring.bar/", &name);
        for arguments in commands {
            run(&folder, arguments, &name);
            let run = run(&folder, arguments, &nowhere);
            assert!(run.err.contains("cannot write"), "{arguments:?}: {run:?}");
        }
        run(&folder, &["verify", "ring.bar"], &joined("--report=json=", &nowhere));
    }
}
