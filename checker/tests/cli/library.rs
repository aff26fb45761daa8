//! Protocols that come with the program: starting points, and the library.

use crate::support::{Folder, command, finish, run, run_on};
use barcheck_specs::bar::format;
use barcheck_specs::library::{protocols, templates};

#[test]
fn every_starting_point_is_verified_formatted_and_as_its_head_says() {
    let folder = Folder::new();
    let mut count = 0;
    for template in templates() {
        let (kind, target) = template.parts();
        let path = folder.text(&format!("{kind}-{target}.bar"));
        run(&["new", kind, "--target", target, "-o", &path]).expect(0).prints("barcheck verify ");
        assert_eq!(std::fs::read_to_string(&path).expect("it is written"), template.text);
        assert_eq!(format(template.text.as_bytes()).as_deref(), Ok(template.text), "{}", template.name);
        assert!(template.text.contains("\nparam "), "{}", template.name);
        count += 1;
    }
    assert!(count >= 15);
    let run = run(&["verify", "--expect", &folder.text("")]).expect(0);
    assert!(run.out.contains(&format!("{count} files: {count} as expected")), "{}", run.out);
}

#[test]
fn starting_points_hold_for_other_sizes() {
    for (kind, sizes) in [
        ("ring", &["STAGES=1..3", "ROUNDS=4..6", "CONSUMERS=1..2"][..]),
        ("tma", &["STAGES=1..3", "ROUNDS=4..6", "CONSUMERS=1..2"]),
        ("pingpong", &["ROUNDS=1..4"]),
        ("splitk", &["SLICES=1,3", "TILES=1..3"]),
        ("tiles", &["TILES=1..4"]),
    ] {
        for template in templates().filter(|template| template.parts().0 == kind) {
            // With one slice there is nothing to add up.
            let mut arguments = vec!["verify", "--deny", "warnings", "--allow", "unreached", "-"];
            arguments.extend(sizes.iter().flat_map(|size| ["-D", size]));
            run_on(&arguments, template.text.as_bytes()).expect(0);
        }
    }
}

/// Whether a line of a starting point is a step that has nothing to do with memory.
fn is_barrier(line: &str) -> bool {
    const OTHER: [&str; 10] = [
        "target",
        "param",
        "const",
        "shared",
        "let",
        "write",
        "read",
        "cta",
        "mbarrier full",
        "mbarrier empty",
    ];
    let declares = |line: &str| line.starts_with("thread_group") || line.starts_with("workgroup");
    let is_other = OTHER.iter().any(|other| line.starts_with(other)) || declares(line);
    line.starts_with(char::is_alphabetic)
        && line.split("//").next().unwrap_or("").trim_end().ends_with(';')
        && !is_other
}

#[test]
fn a_starting_point_without_one_of_its_barriers_is_not_verified() {
    let mut count = 0;
    for template in templates() {
        let lines: Vec<&str> = template.text.lines().collect();
        let barriers = (0..lines.len()).filter(|at| is_barrier(lines[*at].trim()));
        for at in barriers {
            let without: Vec<&str> = [&lines[..at], &lines[at + 1..]].concat();
            let run = run_on(&["verify", "-"], without.join("\n").as_bytes());
            // A wait that never blocks is missed by a lint alone.
            let is_verified = run.out.starts_with("verified") && !run.out.contains("warning");
            assert!(!is_verified, "{} without {}: {}", template.name, lines[at].trim(), run.out);
            count += 1;
        }
    }
    assert!(count >= 60, "{count}");
}

#[test]
fn what_is_there_already_is_not_overwritten() {
    let folder = Folder::new();
    let new = |more: &[&str]| finish(command(&[&["new", "ring"], more].concat()).current_dir(folder.path()));
    new(&[]).expect(0).prints("protocol written to ring.bar");
    folder.add("ring.bar", "mine");
    new(&[]).expect(2).says("ring.bar is there already");
    new(&["-o", "ring.bar"]).expect(2).says("not overwritten");
    assert_eq!(std::fs::read_to_string(folder.at("ring.bar")).expect("it is there"), "mine");
    new(&["-o", "no/such/ring.bar"]).expect(2).says("cannot write");
    let printed = new(&["-o", "-"]).expect(0);
    run_on(&["verify", "-"], printed.out.as_bytes()).expect(0);
}

#[test]
fn a_kind_that_a_target_does_not_have_is_refused_with_those_that_have_it() {
    run(&["new", "ring", "--target", "split_barrier"]).expect(2).says("it is there for ptx, nbarrier, xegpu");
    run(&["new", "rings"]).expect(2).says("'ring'");
    run(&["new"]).expect(2).says("KIND");
}

#[test]
fn the_library_is_listed_with_what_each_comes_to() {
    let all = run(&["examples"]).expect(0);
    assert_eq!(all.out.lines().filter(|line| line.contains('/')).count(), protocols().count());
    let line = all.out.lines().find(|line| line.starts_with("ptx/deadlock_crossed_order ")).expect("a line");
    assert!(line.contains("  violated by deadlock  "), "{line}");
    let some = run(&["examples", "--target", "xegpu", "--rule", "lost-notification"]).expect(0);
    some.prints("xegpu/lost_notification").prints("\n1 example; ");
    run(&["examples", "--rule", "deadlok"]).expect(2).says("'deadlock'");
}

#[test]
fn an_example_is_printed_under_each_of_its_names() {
    let text = protocols().find(|protocol| protocol.name == "ptx/ring").expect("it is there").text;
    for name in ["ptx/ring", "ring", "ptx/ring.bar", "specs/protocols/ptx/ring.bar"] {
        assert_eq!(run(&["examples", name]).expect(0).out, text, "{name}");
    }
    run(&["examples", "early_return"]).expect(2).says("several").says("`nbarrier/early_return`");
    run(&["examples", "ptx/rings_of_buffers"]).expect(2).says("no example `ptx/rings_of_buffers`");
    run(&["examples", "zzz"]).expect(2).says("`barcheck examples` lists them");
}
