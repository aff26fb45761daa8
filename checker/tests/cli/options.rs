//! Options and exit statuses.

use crate::support::{DEADLOCK, FAULT, Folder, GOOD, LARGE, WARNING, run, verify};

#[test]
fn exit_statuses() {
    verify(GOOD, &[]).expect(0).prints("verified");
    verify(DEADLOCK, &[]).expect(1).prints("violated").prints("error[deadlock]");
    verify(FAULT, &[]).expect(2).prints("error");
    verify(LARGE, &["--max-states", "1000"]).expect(3).prints("inconclusive");
    let folder = Folder::new();
    let (good, large) = (folder.add("good.bar", GOOD), folder.add("large.bar", LARGE));
    let (fault, deadlock) = (folder.add("fault.bar", FAULT), folder.add("deadlock.bar", DEADLOCK));
    let few = ["verify", "--max-states", "1000"];
    let with = |files: &[&String]| {
        let mut arguments = few.to_vec();
        arguments.extend(files.iter().map(|file| file.as_str()));
        run(&arguments)
    };
    with(&[&good, &large]).expect(3);
    with(&[&large, &fault]).expect(2);
    with(&[&fault, &deadlock, &large]).expect(1);
}

#[test]
fn usage_errors() {
    run(&[]).expect(2);
    run(&["verify"]).expect(2).says("FILE");
    run(&["frobnicate"]).expect(2).says("frobnicate");
    for options in [
        &["--threads", "0"][..],
        &["--threads", "many"],
        &["--max-states", "0"],
        &["--max-states", "-1"],
        &["--max-memory", "1T"],
        &["--max-memory", "0"],
        &["--timeout", "0"],
        &["--timeout", "-1"],
        &["--timeout", "soon"],
        &["--reduction", "magic"],
        &["--exited-threads", "maybe"],
        &["--format", "xml"],
        &["--color", "pink"],
        &["-D", "N"],
        &["-D", "N=x"],
        &["-D", "N=99999999999999999999"],
        &["--nonsense"],
    ] {
        verify(GOOD, options).expect(2).says("error:");
    }
}

#[test]
fn an_unknown_rule_gets_a_suggestion() {
    for option in ["--deny", "--warn", "--allow"] {
        verify(GOOD, &[option, "deadlok"]).expect(2).says("'deadlok'").says("'deadlock'");
        verify(GOOD, &[option, "deadlock,data-rase"]).expect(2).says("'data-race'");
    }
    run(&["explain", "arival-race"]).expect(2).says("`arrival-race`");
    run(&["explain", "agents-mising"]).expect(2).says("`agents-missing`");
}

#[test]
fn definitions_set_params() {
    let source = "target ptx; cta 64; param N = 0; warps 0..2 { assert N == 0 - 16; bar.sync 1, 64; }\n";
    verify(source, &[]).expect(1).prints("error[assertion]");
    verify(source, &["-D", "N=-16"]).expect(0);
    verify(source, &["-DN=-0x10"]).expect(0);
    verify(source, &["-DN=5", "-DN=-16"]).expect(0);
    verify(source, &["-D", "M=1"]).expect(2).says("no `param M`").says("`N`");
    verify(GOOD, &["-D", "N=1"]).expect(2).says("there are no params");
}

#[test]
fn a_definition_is_known_if_some_file_has_it() {
    let folder = Folder::new();
    let with = folder.add("with.bar", "target ptx; cta 32; param N = 1; warp 0 { assert N; }");
    let without = folder.add("without.bar", GOOD);
    run(&["verify", "-DN=2", &without, &with]).expect(0);
    run(&["verify", "-DN=2", &without]).expect(2);
    run(&["verify", "-DN=2", "-DM=2", &without, &with]).expect(2).says("no FILE has a `param M`");
}

#[test]
fn levels() {
    verify(WARNING, &[]).expect(0).prints("warning[nobody-waits]");
    verify(WARNING, &["--deny", "nobody-waits"]).expect(1).prints("error[nobody-waits]");
    let allowed = verify(WARNING, &["--allow", "nobody-waits"]).expect(0);
    assert!(!allowed.out.contains("nobody-waits"));
    verify(WARNING, &["--deny", "nobody-waits", "--allow", "deadlock,nobody-waits"]).expect(0);
    verify(WARNING, &["--allow", "nobody-waits", "--deny", "nobody-waits"]).expect(1);
    verify(WARNING, &["--allow=nobody-waits", "--deny=nobody-waits", "--warn=nobody-waits"])
        .expect(0)
        .prints("warning[nobody-waits]");
    verify(DEADLOCK, &["--allow", "deadlock"]).expect(3).prints("lowered below error");
}

#[test]
fn warnings_are_errors_where_all_are_denied_that_are_not_named() {
    verify(WARNING, &["--deny", "warnings"]).expect(1).prints("error[nobody-waits]");
    verify(WARNING, &["--deny", "warnings", "--warn", "nobody-waits"])
        .expect(0)
        .prints("warning[nobody-waits]");
    verify(WARNING, &["--allow", "nobody-waits", "--deny", "warnings"]).expect(0);
    let pedantic = "target ptx; cta 64; warps 0..2 { bar.sync 0, 64; }\n";
    let usual = verify(pedantic, &["--deny", "warnings"]).expect(0);
    assert!(!usual.out.contains("reserved-barrier"));
    verify(pedantic, &["--deny", "warnings", "--strict"]).expect(1).prints("error[reserved-barrier]");
    verify(pedantic, &["--deny", "all"]).expect(1).prints("error[reserved-barrier]");
    verify(pedantic, &["--deny", "all", "--allow", "reserved-barrier"]).expect(0);
}

#[test]
fn strict_raises_pedantic_rules_that_are_not_named() {
    let source = "target ptx; cta 64; warps 0..2 { bar.sync 0, 64; }\n";
    let usual = verify(source, &[]).expect(0);
    assert!(!usual.out.contains("reserved-barrier"));
    verify(source, &["--strict"]).expect(0).prints("warning[reserved-barrier]");
    let named = verify(source, &["--allow", "reserved-barrier", "--strict"]).expect(0);
    assert!(!named.out.contains("reserved-barrier"));
    verify(source, &["--deny", "reserved-barrier", "--strict"]).expect(1);
}

#[test]
fn the_reading_of_exited_threads() {
    let source = "target ptx; cta 64; warp 0 { bar.sync 1, 64; } warp 1 { exit; }\n";
    verify(source, &[]).expect(1).prints("deadlock");
    verify(source, &["--exited-threads", "hold"]).expect(1);
    verify(source, &["--exited-threads", "release"]).expect(0);
}

#[test]
fn budgets_name_what_to_do() {
    verify(LARGE, &["--max-states", "1000"]).expect(3).prints("1,000 states").prints("--max-states");
    verify(LARGE, &["--max-memory", "1M"]).expect(3).prints("1.0 MiB").prints("--max-memory");
    verify(LARGE, &["--timeout", "0.2"]).expect(3).prints("0.2 s").prints("--timeout");
}

/// 1.3 million states.
const PAIRS: &str = "target ptx; cta 256; warps 0..8 { for i in 0..10 { bar.sync 1 + warp / 2, 64; } }\n";

#[test]
fn what_memory_has_no_room_for_goes_to_disk_unless_that_is_not_wanted() {
    let small = ["--reduction", "none", "--max-memory", "18M"];
    let verify = |more: &[&str]| verify(PAIRS, &[&small[..], more].concat());
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().display().to_string();
    verify(&["--spill", &path]).expect(0).says("memory is used up").says(&path);
    assert_eq!(std::fs::read_dir(&path).expect("a folder").count(), 0);
    assert_eq!(verify(&["--quiet"]).expect(0).err, "");
    verify(&["--no-spill"]).expect(3).prints("18.0 MiB of memory").prints("--compact");
    verify(&["--spill", &format!("{path}/no/such")])
        .expect(3)
        .prints("cannot be moved to disk")
        .prints("--spill");
    verify(&["--spill", &path, "--no-spill"]).expect(2);
}

#[test]
fn a_verdict_from_hashes_says_so() {
    let verify =
        |source, more: &[&str]| verify(source, &[&["--reduction", "none", "--compact"], more].concat());
    verify(PAIRS, &[]).expect(0).prints("by hashes of states (each has its own: none can have been missed)");
    let report = verify(PAIRS, &["--format", "json"]).expect(0).prints("\"odds_of_omission\":0.0");
    assert!(report.out.contains("\"verdict\":\"verified\""));
    verify(DEADLOCK, &[]).expect(1).prints("deadlock");
    let endless = "target ptx; cta 64; warps 0..2 { loop { bar.sync 1, 64; } }\n";
    verify(endless, &[]).expect(3).prints("leave --compact out");
    verify(PAIRS, &["--checkpoint", "x"]).expect(2);
}

#[test]
fn why_rules_may_be_missing_is_said_where_all_are_wanted_and_something_is_found() {
    let missing = "more rules may be violated than are shown";
    let large = "target ptx; cta 256; warp 0 { bar.sync 1, 48; } \
                 warps 1..8 { let n = 0; loop { if ? { n = (n + 1) % 50; } else { bar.sync 2 + warp, 32; } } }";
    let few = ["--all", "--max-states", "3000", "--reduction", "none"];
    verify(large, &few).expect(1).prints(missing).prints("raise --max-states");
    // Parts that have nothing to do with each other are decided one by one, and each to its end.
    let parts = "target ptx; cta 128; warp 0 { bar.sync 1, 64; } warps 1..3 { loop { bar.sync 2, 64; } } \
                 warp 3 { bar.sync 3, 48; }";
    for more in [&["--all"][..], &["--compact"], &[]] {
        assert!(!verify(parts, more).expect(1).out.contains(missing));
    }
}

#[test]
fn a_counter_without_end_is_named_whichever_budget_runs_out() {
    let source = "target ptx; cta 32; warp 0 { let rounds = 0; loop { bar.sync rounds * rounds % 2; rounds = rounds + 1; } }\n";
    for budget in [["--max-states", "5000"], ["--max-memory", "4M"], ["--timeout", "0.5"]] {
        verify(source, &budget).expect(3).prints("what grew: the values of `rounds` in warp 0");
    }
}

#[test]
fn quiet_is_quiet_about_what_is_fine() {
    let run = verify(GOOD, &["--quiet"]).expect(0);
    assert_eq!((run.out.as_str(), run.err.as_str()), ("", ""));
    let run = verify(DEADLOCK, &["--quiet"]).expect(1).prints("violated");
    assert!(!run.out.contains("states"));
}

#[test]
fn threads_and_reductions_are_accepted() {
    run(&["verify", "--help"]).expect(0).prints("Search with N threads");
    let reductions = ["auto", "none", "schedule", "stubborn", "symmetry"].map(|name| ["--reduction", name]);
    for options in [["--threads", "1"], ["--threads", "8"]].iter().chain(&reductions) {
        verify(GOOD, options).expect(0);
        verify(DEADLOCK, options).expect(1);
    }
}

#[test]
fn a_protocol_where_a_command_or_a_trace_is_wanted_is_told_what_to_do_with_it() {
    let folder = Folder::new();
    let file = folder.add("good.bar", GOOD);
    run(&[&file]).expect(2).says("unrecognized subcommand").says(&format!("`barcheck verify {file}`"));
    run(&["my ring.bar"]).expect(2).says("`barcheck verify 'my ring.bar'`");
    run(&["hang.json"]).expect(2).says("`barcheck show hang.json`");
    run(&[&folder.text("")]).expect(2).says("`barcheck verify ");
    run(&["vrify"]).expect(2).says("verify");
    assert!(!run(&["vrify"]).expect(2).err.contains("to decide"));
    run(&["replay", &file]).expect(2).says("`barcheck verify --trace FILE`");
    let counts = "target ptx; cta 64; warps 0..2 { bar.sync 1, 2; }\n";
    verify(counts, &[]).expect(1).prints("2 warps are 64 threads");
    let counts = "target ptx; cta 64; warps 0..2 { bar.sync 1, 40; }\n";
    assert!(!verify(counts, &[]).expect(1).out.contains("warps are"));
}
