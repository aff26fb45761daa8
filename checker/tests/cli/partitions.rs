//! `--partition`.

use crate::support::{DEADLOCK, Folder, GOOD, run};
use std::collections::BTreeSet;

fn folder(files: usize) -> Folder {
    let folder = Folder::new();
    for number in 0..files {
        folder.add(&format!("{number}.bar"), GOOD);
    }
    folder
}

fn part(arguments: &[&str], part: &str) -> Vec<String> {
    let options = ["verify", "--format", "json", "--partition", part];
    let run = run(&[&options[..], arguments].concat()).expect(0);
    run.json().iter().map(|line| line["file"].as_str().expect("a text").to_owned()).collect()
}

#[test]
fn every_file_is_in_exactly_one_part_and_parts_are_of_a_size() {
    let folder = folder(10);
    let all = folder.text("");
    for of in [1, 3, 10] {
        let mut seen = BTreeSet::new();
        for number in 1..=of {
            let files = part(&[&all], &format!("{number}/{of}"));
            assert!(files.len().abs_diff(10 / of) <= 1, "{files:?}");
            for file in files {
                assert!(seen.insert(file.clone()), "{file} is in two parts");
            }
        }
        assert_eq!(seen.len(), 10);
    }
}

#[test]
fn the_order_in_which_a_shell_lists_files_does_not_matter() {
    let folder = folder(5);
    let mut files: Vec<_> = (0..5).map(|number| folder.text(&format!("{number}.bar"))).collect();
    let set = |files: &[String]| -> BTreeSet<String> {
        let files: Vec<_> = files.iter().map(String::as_str).collect();
        part(&files, "2/3").into_iter().collect()
    };
    let forward = set(&files);
    files.reverse();
    assert_eq!(forward, set(&files));
}

#[test]
fn an_empty_part_says_so_and_is_fine() {
    let folder = folder(2);
    let all = folder.text("");
    run(&["verify", "--partition", "3/3", &all])
        .expect(0)
        .prints("nothing to decide: part 3/3 of 2 files is empty\n");
    run(&["verify", "--partition", "3/3", "--format", "github", &all]).expect(0).prints("nothing to decide");
    run(&["verify", "--partition", "1/3", &all]).expect(0).prints("1 of 2 files (part 1/3): 1 verified");
    let quiet = run(&["verify", "--quiet", "--partition", "3/3", &all]).expect(0);
    assert_eq!(quiet.out, "");
}

#[test]
fn a_malformed_partition_says_what_is_wanted() {
    let folder = folder(1);
    for wrong in ["0/3", "4/3", "1/0", "1", "1/", "/3", "a/b", "-1/3", "1/3/3", ""] {
        run(&["verify", &format!("--partition={wrong}"), &folder.text("")])
            .expect(2)
            .says("i/n")
            .says("from 1 to n");
    }
}

#[test]
fn definitions_are_checked_against_the_files_of_all_parts() {
    let folder = Folder::new();
    folder.add("a.bar", GOOD);
    folder.add("b.bar", "target ptx; cta 32; param N = 1; warp 0 { assert N; }");
    run(&["verify", "-DN=0", "--partition", "1/2", &folder.text("")]).expect(0);
    run(&["verify", "-DN=0", "--partition", "2/2", &folder.text("")]).expect(1);
    run(&["verify", "-DM=0", "--partition", "1/2", &folder.text("")]).expect(2).says("param M");
}

#[test]
fn the_trace_path_is_a_folder_in_every_part() {
    let folder = Folder::new();
    let files = [folder.add("a.bar", DEADLOCK), folder.add("b.bar", DEADLOCK)];
    for part in ["1/2", "2/2"] {
        run(&["verify", "--partition", part, "--trace", &folder.text("out"), &files[0], &files[1]]).expect(1);
    }
    assert!(folder.at("out/a-deadlock.json").is_file() && folder.at("out/b-deadlock.json").is_file());
}
