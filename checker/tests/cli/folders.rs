//! FILE arguments that are folders.

use crate::support::{DEADLOCK, Folder, GOOD, Run, run};
use std::fs;

impl Folder {
    /// Adds a file, and the folders that it is in.
    fn deep(&self, name: &str, contents: &str) {
        fs::create_dir_all(self.at(name).parent().expect("it is below")).expect("a folder can be made");
        self.add(name, contents);
    }

    /// What `verify` reports of this folder.
    fn verified(&self) -> Run {
        run(&["verify", "--format", "json", &self.text("")])
    }
}

/// The files reported, from the folder.
fn reported(folder: &Folder, run: &Run) -> Vec<String> {
    let name = |line: serde_json::Value| {
        let file = line["file"].as_str().expect("a text").to_owned();
        file.strip_prefix(&folder.text("")).map_or(file.clone(), str::to_owned)
    };
    run.json().into_iter().map(name).collect()
}

#[test]
fn all_protocols_below_a_folder_are_decided_in_the_order_of_their_paths() {
    let folder = Folder::new();
    for name in ["b.bar", "a/z.bar", "a/b/c.bar", "a.bar", "named.bar/inside.bar"] {
        folder.deep(name, GOOD);
    }
    for other in ["notes.txt", "bar", "a/x.barn", "a/.hidden.bar", ".git/refs/heads/x.bar"] {
        folder.deep(other, "nonsense");
    }
    let run = folder.verified().expect(0);
    assert_eq!(reported(&folder, &run), ["a/b/c.bar", "a/z.bar", "a.bar", "b.bar", "named.bar/inside.bar"]);
}

#[test]
fn folders_and_files_are_decided_in_the_order_given() {
    let folder = Folder::new();
    folder.deep("z/a.bar", GOOD);
    folder.deep("a/b.bar", DEADLOCK);
    let single = folder.add("m.bar", GOOD);
    let run = run(&["verify", "--format", "json", &folder.text("z"), &single, &folder.text("a")]).expect(1);
    assert_eq!(reported(&folder, &run), ["z/a.bar", "m.bar", "a/b.bar"]);
}

#[test]
fn a_folder_without_protocols_is_an_error_and_the_others_are_decided() {
    let folder = Folder::new();
    folder.deep("empty/deeper/notes.txt", "");
    let good = folder.add("good.bar", GOOD);
    let empty = folder.text("empty");
    run(&["verify", &empty]).expect(2).says("cannot read").says("or `.bar` file in it or below");
    run(&["verify", &empty, &good]).expect(2).prints("verified").prints("2 files: 1 verified, 1 with errors");
}

#[test]
fn a_folder_of_one_file_has_a_summary_only_if_it_holds_more() {
    let folder = Folder::new();
    folder.add("a.bar", GOOD);
    let one = run(&["verify", &folder.text("")]).expect(0);
    assert!(!one.out.contains("1 file"), "{}", one.out);
    for number in 0..300 {
        folder.add(&format!("{number}.bar"), GOOD);
    }
    run(&["verify", &folder.text("")]).expect(0).prints("\n301 files: 301 verified\n");
}

#[test]
fn definitions_concern_all_files_of_a_folder() {
    let folder = Folder::new();
    folder.add("with.bar", "target ptx; cta 32; param N = 1; warp 0 { assert N; }");
    folder.add("without.bar", GOOD);
    run(&["verify", "-DN=2", &folder.text("")]).expect(0);
    run(&["verify", "-DN=0", &folder.text("")]).expect(1);
    run(&["verify", "-DM=0", &folder.text("")]).expect(2).says("no FILE has a `param M`");
}

#[test]
fn a_folder_makes_the_trace_path_a_folder() {
    let folder = Folder::new();
    folder.deep("in/bad.bar", DEADLOCK);
    run(&["verify", "--trace", &folder.text("out"), &folder.text("in")]).expect(1);
    assert!(folder.at("out/bad-deadlock.json").is_file());
}

#[cfg(unix)]
mod links {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_in_circles_end_and_a_folder_goes_by_its_own_name() {
        let folder = Folder::new();
        folder.deep("z/real.bar", GOOD);
        folder.deep("z/deep/real.bar", GOOD);
        let link =
            |from: &str, to: &str| symlink(folder.at(from), folder.at(to)).expect("a link can be made");
        link("z", "a");
        link("", "z/up");
        link("z/deep", "z/deep/self");
        link("z/real.bar", "b.bar");
        let run = folder.verified().expect(0);
        assert_eq!(reported(&folder, &run), ["b.bar", "z/deep/real.bar", "z/real.bar"]);
    }

    #[test]
    fn a_linked_folder_elsewhere_is_searched() {
        let (folder, elsewhere) = (Folder::new(), Folder::new());
        elsewhere.deep("x/bad.bar", DEADLOCK);
        folder.add("good.bar", GOOD);
        symlink(elsewhere.path(), folder.at("link")).expect("a link can be made");
        let run = folder.verified().expect(1);
        assert_eq!(reported(&folder, &run), ["good.bar", "link/x/bad.bar"]);
    }

    #[test]
    fn protocols_that_cannot_be_read_are_errors_and_not_left_out() {
        let folder = Folder::new();
        folder.add("good.bar", GOOD);
        symlink("nowhere", folder.at("broken.bar")).expect("a link can be made");
        symlink("loop.bar", folder.at("loop.bar")).expect("a link can be made");
        symlink("nowhere", folder.at("no_protocol")).expect("a link can be made");
        let pipe = std::process::Command::new("mkfifo").arg(folder.at("pipe.bar")).status();
        assert!(pipe.expect("there is `mkfifo`").success());
        let run = folder.verified().expect(2);
        assert_eq!(reported(&folder, &run), ["broken.bar", "good.bar", "loop.bar", "pipe.bar"]);
        let verdicts: Vec<_> = run.json().into_iter().map(|line| line["verdict"].clone()).collect();
        assert_eq!(verdicts, ["error", "verified", "error", "error"]);
        assert_eq!(run.json()[3]["reason"], "it is neither a file nor a folder");
    }

    #[test]
    fn a_folder_that_must_not_be_read_is_an_error_and_the_others_are_decided() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new();
        folder.deep("closed/hidden.bar", GOOD);
        folder.add("good.bar", GOOD);
        let allow = |mode| {
            let permissions = fs::Permissions::from_mode(mode);
            fs::set_permissions(folder.at("closed"), permissions).expect("they can be changed");
        };
        allow(0o000);
        if fs::read_dir(folder.at("closed")).is_ok() {
            println!("skipped: this user may read everything");
        } else {
            let run = folder.verified().expect(2);
            assert_eq!(reported(&folder, &run), ["closed", "good.bar"]);
        }
        allow(0o700);
    }
}
