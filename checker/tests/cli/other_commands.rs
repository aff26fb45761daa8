//! `fmt`, `explain`, `rules`, `clauses`, `completions`, help.

use crate::support::{Folder, run, run_on};

const UGLY: &str = "TARGET ptx;cta 64 ;warps 0..2{Bar.Sync 1,64;}";
const NEAT: &str = "target ptx;\ncta 64;\nwarps 0..2 { bar.sync 1, 64; }\n";

#[test]
fn formats_in_place() {
    let folder = Folder::new();
    let file = folder.add("ugly.bar", UGLY);
    run(&["fmt", "--check", &file]).expect(1).prints("ugly.bar");
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), UGLY);
    run(&["fmt", &file]).expect(0);
    assert_eq!(std::fs::read_to_string(&file).expect("it is there"), NEAT);
    run(&["fmt", "--check", &file]).expect(0);
}

#[test]
fn formats_standard_input() {
    assert_eq!(run_on(&["fmt", "-"], UGLY.as_bytes()).expect(0).out, NEAT);
    run_on(&["fmt", "--check", "-"], UGLY.as_bytes()).expect(1);
    run_on(&["fmt", "-"], b"target").expect(2).says("<stdin>:1:");
    run(&["fmt", "/missing.bar"]).expect(2).says("No such file or directory");
}

#[test]
fn a_malformed_file_is_left_alone() {
    let folder = Folder::new();
    let (broken, ugly) = (folder.add("broken.bar", "target ptx"), folder.add("ugly.bar", UGLY));
    run(&["fmt", &broken, &ugly]).expect(2).says("broken.bar:1:11");
    assert_eq!(std::fs::read_to_string(&broken).expect("it is there"), "target ptx");
    assert_eq!(std::fs::read_to_string(&ugly).expect("it is there"), NEAT);
}

#[test]
fn explains_the_names_of_errors_in_texts() {
    let run = run(&["explain", "agents-missing"]).expect(0);
    for part in ["agents-missing\n", "belong to no block", "How to fix it"] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    crate::support::run(&["explain", "uniform-apart"]).expect(0).prints("`uniform more ?`");
}

#[test]
fn explains_rules() {
    let run = run(&["explain", "mixed-red"]).expect(0);
    for part in ["How to fix it", "ptx.red-not-mixed", "PTX ISA, barrier{.cta}", "bar.red.", "target ptx;"] {
        assert!(run.out.contains(part), "{part}");
    }
}

#[test]
fn what_a_rule_rests_on_is_what_holds_for_the_target() {
    let run = run(&["explain", "count-range"]).expect(0);
    let (before, nbarrier) = run.out.split_once("  nbarrier: ").expect("the rule holds there");
    let (nbarrier, _) = nbarrier.split_once("  xegpu: ").expect("and there");
    assert!(before.contains("barcheck.count-zero"));
    assert!(nbarrier.contains("nbarrier.consumers-range") && !nbarrier.contains("barcheck.count-zero"));
}

#[test]
fn lists_rules_and_clauses() {
    run(&["rules"]).expect(0).prints("stuck-agent").prints("error (bcu: warning)");
    let split = run(&["rules", "--target", "split_barrier"]).expect(0).prints("nonuniform-barrier");
    assert!(!split.out.contains("arrival-race"));
    let json = run(&["rules", "--format", "json"]).expect(0).json();
    assert_eq!(json[0].as_array().map(Vec::len), Some(50));
    let ptx =
        run(&["clauses", "--target", "ptx"]).expect(0).prints("ptx.count-agrees").prints("count-mismatch");
    assert!(ptx.out.contains("barcheck.count-zero") && !ptx.out.contains("barcheck.bcu-publishes"));
    let json = run(&["clauses", "--format", "json"]).expect(0).json();
    assert!(json[0].as_array().expect("an array").len() > 100);
    run(&["rules", "--target", "cuda"]).expect(2).says("cuda");
}

#[test]
fn helps() {
    for command in [
        "verify",
        "replay",
        "convert",
        "graph",
        "export",
        "fmt",
        "explain",
        "rules",
        "clauses",
        "completions",
    ] {
        run(&[command, "--help"]).expect(0).prints("Usage: barcheck");
    }
    run(&["--help"]).expect(0).prints("Examples:");
    run(&["verify", "--help"]).expect(0).prints("Exit status").prints("--exited-threads");
    run(&["--version"]).expect(0).prints("barcheck 0.");
    for shell in ["bash", "zsh", "fish"] {
        run(&["completions", shell])
            .expect(0)
            .prints("arrival-race")
            .prints("perfetto")
            .prints("automata")
            .prints("promela");
    }
}
