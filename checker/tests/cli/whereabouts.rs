//! `barcheck where`: states that are looked for.

use crate::support::{DEADLOCK, Folder, LARGE, run, run_on};
use serde_json::Value;

/// A loader one tile short, and a third warp that meets nobody.
const SHORT: &str = "\
target ptx;
cta 96;
warp 0 as load {
    for i in 0..2 {
        bar.sync 1, 64;
    }
}
warp 1 as math {
    for i in 0..3 {
        bar.sync 1, 64;
    }
}
warp 2 {
    bar.sync 2, 32;
}
";

/// Two warps meet twice, and a third one meets nobody.
const TWO: &str = "\
target ptx;
cta 96;
warp 0 {
 bar.sync 1, 64;
 bar.sync 2, 64;
}
warp 1 {
 bar.sync 1, 64;
 bar.sync 2, 64;
}
warp 2 {
 bar.sync 3, 32;
}
";

/// A kernel whose second warp skips a barrier: lines 12 and 15 come from lines 7 and 9 of the source.
const KERNEL: &str = "\
.version 8.0
.target sm_90
.file 1 \"/src/deep/k.cu\"
.visible .entry k(.param .u32 n)
.reqntid 64
{
\t.reg .pred %p<3>;
\t.reg .b32 %r<3>;
\tmov.u32 %r1, %tid.x;
\tsetp.gt.u32 %p1, %r1, 31;
\t.loc 1 7 3
\tbar.sync 1, 64;
\t@%p1 bra $L;
\t.loc 1 9 3
\tbar.sync 2, 64;
$L:
\tret;
}
";

fn folder(name: &str, text: &str) -> (Folder, String) {
    let folder = Folder::new();
    let path = folder.add(name, text);
    (folder, path)
}

#[test]
fn a_hang_is_shown_with_what_each_waits_for() {
    let (_folder, path) = folder("short.bar", SHORT);
    let found = run(&["where", &path, "--at", "math=10", "0=exit"]).expect(0);
    let first = found.out.lines().next().expect("there is a line");
    assert!(first.starts_with("hangs ") && first.contains("nobody can ever go on"), "{first}");
    let found = found.prints("warp 0: exited");
    let found = found
        .prints("warp 1: line 10, bar.sync 1, 64: waiting for barrier 1, generation 3: 32 of 64 threads");
    found.prints("missing: warp 0").prints("step  line").prints("in the end");
    run(&["where", &path, "--hang", "--at", "1=10"]).expect(0).prints("hangs");
}

#[test]
fn a_state_that_is_passed_is_told_from_a_hang() {
    let (_folder, path) = folder("short.bar", SHORT);
    let found = run(&["where", &path, "--at", "0=5", "1=10"]).expect(0);
    let found = found.prints("reachable").prints("it is so from the beginning; it never hangs there");
    found.prints("where they are");
    let found = run(&["where", &path, "--hang", "--at", "0=5", "1=10"]).expect(1);
    let found = found.prints("no run hangs there; one gets there, and somebody can always go on");
    found.prints("at most 1 of 2 can hang there together").prints("without warp 0");
    let state = run(&["where", &path, "--state", "--at", "0=exit", "2=14"]).expect(0);
    state.prints("a run gets there in 5 steps, ");
}

#[test]
fn what_cannot_be_names_who_does_not_fit() {
    let (_folder, path) = folder("ring.bar", TWO);
    // Warp 0 is behind barrier 2, and warp 1 before barrier 1.
    let found = run(&["where", &path, "--at", "0=exit", "1=8", "2=12"]).expect(1);
    let found = found.prints("no run gets there").prints("all searched");
    let found = found.prints("at most 2 of 3 can be there together").prints("without warp 0");
    found.prints("without warp 1");
    // A verified protocol hangs nowhere, and that takes no search for the state.
    run(&["where", &path, "--hang", "--at", "0=4"]).expect(1).prints("no run hangs there, nor anywhere else");
}

#[test]
fn the_answer_as_json_is_a_run_that_replays_and_can_be_looked_at() {
    let (folder, path) = folder("short.bar", SHORT);
    for at in [["1=10", "0=exit"], ["1=10", "0=5"]] {
        let found = run(&["where", &path, "--format", "json", "--at", at[0], at[1]]).expect(0);
        let answer: Value = serde_json::from_str(&found.out).expect("it is JSON");
        assert_eq!(answer["format"], "barcheck-where/1");
        assert_eq!(answer["at"][0]["agent"], 1);
        let file = folder.add("answer.json", &found.out);
        run(&["replay", &file]).expect(0).prints("confirmed");
        run(&["show", &file]).expect(0).prints("in the end");
        run(&["view", "-o", "-", &file]).expect(0).prints("<!doctype html>");
    }
    let name = |name: &str| folder.at(name).display().to_string();
    let (trace, page) = (name("run.json"), name("run.html"));
    run(&["where", &path, "--at", "1=10", "--trace", &trace, "--html", &page]).expect(0);
    run(&["replay", &trace]).expect(0);
    assert!(std::fs::read_to_string(&page).expect("it is written").contains("short.bar"));
    let none = run(&["where", &path, "--format", "json", "--at", "1=exit"]).expect(1);
    let answer: Value = serde_json::from_str(&none.out).expect("it is JSON");
    assert_eq!(answer["answer"], "unreachable");
    let file = folder.add("none.json", &none.out);
    run(&["replay", &file]).expect(2).says("holds no trace");
}

#[test]
fn a_run_to_a_state_that_was_changed_departs() {
    let (folder, path) = folder("short.bar", SHORT);
    let found = run(&["where", &path, "--format", "json", "--state", "--at", "0=exit"]).expect(0);
    let mut answer: Value = serde_json::from_str(&found.out).expect("it is JSON");
    let outcome = &mut answer["trace"]["outcome"];
    assert_eq!(outcome["kind"], "state");
    outcome["location"]["line"] = 10.into();
    let file = folder.add("changed.json", answer.to_string());
    run(&["replay", &file]).expect(1).prints("departs");
}

#[test]
fn kernels_are_asked_by_lines_of_ptx_and_of_the_source() {
    let (_folder, path) = folder("k.ptx", KERNEL);
    for at in ["0=15", "0=k.cu:9", "0=deep/k.cu:9", "0=k.ptx:15"] {
        let found = run(&["where", &path, "--at", at, "1=exit"]).expect(0);
        let found = found.prints("hangs").prints("kernel k: a run gets there in 4 steps");
        found.prints("warp 0: line 15 (k.cu:9), bar.sync 2, 64: waiting for barrier 2, generation 1");
    }
    run(&["where", &path, "--at", "1=15"]).expect(2).says("it can be at line 12 (k.cu:7)");
    run(&["where", &path, "--at", "0=other.cu:9"])
        .expect(2)
        .says("nothing that concerns other agents is at other.cu:9");
}

/// Lane 0 of each warp arrives at an object, and all wait for it in a loop.
const WAITS: &str = ".version 8.0\n.target sm_90\n.visible .entry k() .reqntid 64\n{\n\t.reg .pred %p<3>;\n\t.reg .b32 \
                     %r<3>;\n\t.reg .b64 %rd<3>;\n\t.shared .align 8 .b64 mbar;\n\tmov.u32 %r1, %tid.x;\n\t\
                     setp.ne.u32 %p1, %r1, 0;\n\t@%p1 bra $L;\n\tmbarrier.init.shared.b64 [mbar], 2;\n$L:\n\t\
                     bar.sync 0;\n$M:\n\tmbarrier.try_wait.parity.shared.b64 %p1, [mbar], 0;\n\t@%p1 bra $D;\n\t\
                     bra.uni $M;\n$D:\n\tbar.sync 0;\n\tret;\n}\n";

#[test]
fn a_line_in_the_loop_of_a_wait_is_taken_for_the_wait_and_said() {
    let (_folder, path) = folder("waits.ptx", WAITS);
    // The label, the wait, and both branches.
    for line in [15, 17, 18] {
        let found = run(&["where", &path, "--at", &format!("0..2={line}")]).expect(0);
        let found = found
            .says(&format!("note: line {line} is in the loop of the wait at line 16, `mbarrier.try_wait"));
        found.prints("hangs").prints("warps 0 and 1: line 16");
    }
    run(&["where", &path, "--at", "0=16"]).expect(0).prints("hangs");
}

#[test]
fn of_a_line_at_which_there_is_nothing_the_nearest_on_both_sides_are_said() {
    let (_folder, path) = folder("waits.ptx", WAITS);
    run(&["where", &path, "--at", "1=19"])
        .expect(2)
        .says("the nearest before it is line 16, `mbarrier.try_wait")
        .says("and behind it line 20, `bar.sync 0`");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let (folder, path) = folder("short.bar", SHORT);
    run(&["where", &path, "--at", "3=5"]).expect(2).says("there is no warp 3: they are numbered from 0 to 2");
    run(&["where", &path, "--at", "store=5"])
        .expect(2)
        .says("there is no role `store`; there are: load, math");
    run(&["where", &path, "--at", "0=5", "load=exit"]).expect(2).says("warp 0 is looked for in two places");
    run(&["where", &path, "--at", "0=6"]).expect(2).says("nothing that concerns other agents is at line 6");
    run(&["where", &path, "--at", "0"]).expect(2).says("expected AGENTS=PLACE");
    run(&["where", &path]).expect(2).says("--at");
    run(&["where", "--at", "0=1", "--", &folder.at("none.bar").display().to_string()])
        .expect(2)
        .says("cannot read");
    run(&["where", &folder.add("bad.bar", "target ptx; cta"), "--at", "0=1"]).expect(2);
    run_on(&["where", "-", "--at", "0=3"], DEADLOCK.as_bytes()).expect(0).prints("hangs <stdin>");
    run(&["where", &path, "-D", "N=3", "--at", "0=5"]).expect(2).says("N");
}

#[test]
fn budgets_end_the_search_without_an_answer() {
    let (_folder, path) = folder("large.bar", LARGE);
    let found =
        run(&["where", &path, "--max-states", "2000", "--state", "--at", "0=2", "1..32=exit"]).expect(3);
    found.prints("inconclusive").prints("gave up after 2,000 states").prints("so far");
    let found = run(&["where", &path, "--timeout", "0.3", "--hang", "--at", "0..32=2"]).expect(3);
    found.prints("inconclusive");
}
