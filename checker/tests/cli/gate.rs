//! `barcheck gate`: protocols on executable barriers.

use crate::support::{DEADLOCK, Folder, GOOD, Run, run};

/// One way of the choice deadlocks, the other does not.
const CHOICE: &str = "target ptx;\ncta 64;\nwarp 0 { if ? { bar.sync 1, 64; } }\nwarp 1 { }\n";
/// The read may come before the write.
const RACE: &str = "target ptx;\ncta 64;\nshared x;\nwarp 0 { write x; bar.sync 1, 64; }\n\
                    warp 1 { read x; bar.sync 1, 64; }\n";
/// Never ends, and never goes wrong.
const ENDLESS: &str = "target ptx; cta 64; warps 0..2 { loop { bar.sync 1, 64; } }\n";
/// Five warps meet.
const FIVE: &str = "target ptx; cta 160; warps 0..5 { bar.sync 1, 160; }\n";

fn gate(source: &str, options: &[&str]) -> Run {
    let folder = Folder::new();
    let file = folder.add("protocol.bar", source);
    let mut arguments = vec!["gate"];
    arguments.extend(options);
    arguments.push(&file);
    run(&arguments)
}

#[test]
fn loom_runs_every_schedule_of_a_small_protocol_and_says_so() {
    gate(GOOD, &[]).expect(0).prints("passed ").prints("loom ran every schedule (");
}

/// Each warp leaves when all agree, so that no schedule is the longest.
const AGREE: &str = "target bcu; cta 64;
warps 0..2 { loop { BAR.RED.OR 0x1, 0x40, ?; B2R.RESULT RZ, P0; if P0 { break; } } }
";

#[test]
fn what_loom_cannot_run_is_run_by_shuttle_unless_loom_is_asked_for() {
    let sample = gate(AGREE, &["--executions", "20"]).expect(0).prints("shuttle ran 20 schedules");
    sample.prints("this is no proof; loom cannot run it: agent ");
    gate(AGREE, &["--with", "loom"]).expect(3).prints("loom cannot run it: agent ");
}

#[test]
fn a_bounded_exploration_is_called_bounded_and_no_proof() {
    gate(GOOD, &["--preemptions", "1"])
        .expect(0)
        .prints("at most 1 preemption")
        .prints("bounded, not a proof");
    gate(GOOD, &["--with", "shuttle", "--executions", "40"])
        .expect(0)
        .prints("shuttle ran 40 schedules chosen at random; this is no proof");
    gate(GOOD, &["--with", "std", "--executions", "10"]).expect(0).prints("std ran 10 schedules");
}

#[test]
fn a_deadlock_is_found_by_every_runner_and_told_like_any_other() {
    for with in ["loom", "shuttle", "std"] {
        let folder = Folder::new();
        let (file, trace) = (folder.add("protocol.bar", DEADLOCK), folder.text("hang.json"));
        // The operating system may be slow to show it.
        let run = run(&[
            "gate",
            "--with",
            with,
            "--trace",
            &trace,
            "--timeout",
            "60",
            "--executions",
            "100000",
            &file,
        ]);
        run.expect(1).prints("`deadlock`").prints("warp 0 waits at").prints("in the end").prints("why");
        crate::support::run(&["replay", &trace]).expect(0).prints("confirmed");
    }
}

#[test]
fn what_a_runner_finds_is_shown_in_a_page_as_verify_shows_it() {
    let folder = Folder::new();
    let (ring, race) = (folder.add("ring.bar", DEADLOCK), folder.add("race.bar", RACE));
    let (page, trace) = (folder.text("ring.html"), folder.text("ring.json"));
    let one = run(&["gate", &ring, "--html", &page, "--trace", &trace]).expect(1);
    one.prints("trace written to").prints("page written to");
    let written = std::fs::read_to_string(&page).expect("the page is there");
    assert_eq!(run(&["view", &trace, "-o", "-"]).expect(0).out, written);
    run(&["gate", &ring, &race, "--html", &folder.text("pages")]).expect(1);
    assert!(folder.at("pages/ring-deadlock.html").is_file());
    assert!(folder.at("pages/race-data-race.html").is_file());
    run(&["gate", &ring, "--html", &folder.text("ring.bar/page.html")]).expect(1).says("cannot write");
}

/// Two warps meet over and over, and two others violate a rule meanwhile.
#[test]
fn what_has_nothing_to_do_with_the_violation_is_left_out_of_what_chance_has_found() {
    let source = "target ptx; cta 128;\nwarps 0..2 { for i in 0..40 { bar.sync 1, 64; } }\n\
                  warp 2 { for i in 0..3 { bar.sync 2, 64; } bar.sync 3, 64; }\n\
                  warp 3 { for i in 0..3 { bar.sync 2, 64; } bar.sync 3, 128; }\n";
    let run = gate(source, &["--with", "shuttle", "--format", "json"]).expect(1);
    let report = &run.json()[0];
    let steps = report["trace"]["steps"].as_array().expect("there are steps");
    assert_eq!((report["rule"].as_str(), steps.len()), (Some("count-mismatch"), 8));
}

#[test]
fn loom_sees_a_data_race_by_itself() {
    gate(RACE, &[]).expect(1).prints("loom finds `data-race`").prints("write x").prints("read x");
}

#[test]
fn every_combination_of_choices_is_explored_and_the_choice_is_in_the_trace() {
    gate(CHOICE, &[]).expect(1).prints("`deadlock`").prints("? = true");
    let both = CHOICE
        .replace("warp 1 { }", "warp 1 { bar.arrive 1, 64; }")
        .replace("} }", "} else { bar.arrive 1, 64; } }");
    gate(&both, &[]).expect(0).prints("with each of 2 combinations of its choices");
}

#[test]
fn a_schedule_of_shuttle_shows_the_same_again() {
    let first = gate(DEADLOCK, &["--with", "shuttle", "--format", "json"]).expect(1);
    let first = &first.json()[0];
    let schedule = first["schedule"].as_str().expect("shuttle prints a schedule");
    let again = gate(DEADLOCK, &["--with", "shuttle", "--format", "json", "--schedule", schedule]).expect(1);
    let again = &again.json()[0];
    assert_eq!(again["executions"], 1);
    assert_eq!(first["trace"]["steps"], again["trace"]["steps"]);
}

#[test]
fn the_same_seed_finds_the_same() {
    let found = |seed: &str| {
        let run = gate(DEADLOCK, &["--with", "shuttle", "--format", "json", "--seed", seed]).expect(1);
        (run.json()[0]["executions"].clone(), run.json()[0]["trace"]["steps"].clone())
    };
    assert_eq!(found("7"), found("7"));
}

#[test]
fn what_threads_cannot_run_is_inconclusive_and_says_why() {
    gate(FIVE, &["--with", "loom"]).expect(3).prints("5 agents are more than the 4 that loom runs");
    gate(FIVE, &[]).expect(0).prints("shuttle ran");
    gate(ENDLESS, &["--with", "loom"]).expect(3).prints("loom explores only what ends");
    gate(ENDLESS, &["--with", "shuttle", "--executions", "20"]).expect(0).prints("20 of them not to the end");
    let lanes =
        "target ptx; cta 64; warps 0..2 { if lane < 16 { barrier.sync 1; } else { barrier.sync 1; } }\n";
    gate(lanes, &[]).expect(3).prints("a warp is one thread here");
}

#[test]
fn an_exploration_that_gets_nowhere_in_its_time_is_inconclusive() {
    let large = "target ptx; cta 128; warps 0..4 { for i in 0..20 { bar.sync 1, 128; bar.sync 2, 128; } }\n";
    gate(large, &["--with", "loom", "--timeout", "0.2"]).expect(3).prints("did not get through");
}

#[test]
fn any_time_may_be_given() {
    gate(GOOD, &["--timeout", "99999999999999"]).expect(0).prints("every schedule");
}

#[test]
fn one_malformed_file_does_not_keep_the_others_from_being_run() {
    let folder = Folder::new();
    folder.add("a.bar", "target ptx; cta 64; warp 0 { bar.synk 1; } warp 1 { }\n");
    folder.add("b.bar", GOOD);
    let all = folder.text("");
    run(&["gate", &all]).expect(2).says("a.bar:1:").prints("b.bar (ptx): loom ran every schedule");
    run(&["gate", &folder.text("missing.bar")]).expect(2).says("cannot read");
}

#[test]
fn usage_errors_of_the_gate_say_what_is_wanted() {
    gate(GOOD, &["--schedule", "91"]).expect(2).says("--with shuttle");
    gate(GOOD, &["--with", "shuttle", "--schedule", "no schedule"]).expect(2).says("no schedule of shuttle");
    gate(GOOD, &["--with", "gloom"]).expect(2).says("loom");
}

#[test]
fn all_rules_that_barriers_report_are_collected_on_demand() {
    let source = "target ptx;\ncta 64;\nwarp 0 { bar.sync 16, 64; }\nwarp 1 { bar.arrive 2; }\n";
    let rules = |options: &[&str]| {
        let run = gate(source, &[options, &["--format", "json"]].concat()).expect(1);
        run.json()[0]["rules"].as_array().expect("a list").len()
    };
    assert_eq!((rules(&[]), rules(&["--all"])), (1, 2));
}

#[test]
fn the_ctas_of_a_cluster_run_side_by_side_each_with_barriers_of_its_own() {
    let text = "target ptx; cluster 2; cta 32;\nwarp 0 { bar.sync 0; barrier.cluster.arrive; WAIT }\n";
    gate(&text.replace("WAIT", "barrier.cluster.wait;"), &[]).expect(0).prints("every schedule");
    let alone = gate(&text.replace("WAIT", "if cluster_ctarank == 1 { barrier.cluster.arrive; }"), &[]);
    alone.expect(1).prints("`repeated-arrival`").prints("cta 1 warp 0");
}

/// A copy of more bytes than announced: its landing is one too much.
const COPY: &str = "target ptx; cta 32;\nshared x;\nmbarrier full count 1;\n\
                    warp 0 { if lane == 0 { mbarrier.arrive.expect_tx full, 8; cp.async.bulk x, 16, full; } \
                    mbarrier.wait.parity full, 0; }\n";

#[test]
fn what_is_in_flight_lands_at_any_time_and_is_replayed_as_a_landing() {
    for with in ["loom", "shuttle", "std"] {
        let folder = Folder::new();
        let (file, trace) = (folder.add("copy.bar", COPY), folder.text("copy.json"));
        let options = ["gate", "--with", with, "--trace", &trace, &file];
        run(&options).expect(1).prints("over-delivery").prints("in the end");
        crate::support::run(&["replay", &trace]).expect(0).prints("confirmed");
    }
    let announced = COPY.replace("full, 8", "full, 16");
    gate(&announced, &[]).expect(0).prints("every schedule");
    let read = announced.replace("mbarrier.wait", "read x; mbarrier.wait");
    for with in ["loom", "shuttle"] {
        gate(&read, &["--with", with]).expect(1).prints("`data-race`").prints("read x");
    }
}

/// The copy is begun in a phase of the first life, or two phases before the last, and may land in the last.
#[test]
fn a_landing_that_is_late_by_more_than_a_phase_is_told_as_one_that_is_late() {
    let life = "target ptx; cta 32;\nmbarrier a count 1;\nwarp 0 { if lane == 0 { cp.async.bulk _, 8, a; \
                mbarrier.inval a; mbarrier.init a, 1; } }\n";
    let phases = "target ptx; cta 32;\nmbarrier a count 1;\nwarp 0 { if lane == 0 { cp.async.bulk _, 8, a; \
                  for i in 0..2 { mbarrier.arrive a; mbarrier.wait.parity a, i; } } }\n";
    for text in [life, phases] {
        for seed in ["1", "2", "3", "4", "5", "6"] {
            gate(text, &["--with", "shuttle", "--seed", seed]).expect(1).prints("a");
        }
        gate(text, &["--all"]).expect(1).prints("a");
    }
}

#[test]
fn pools_of_registers_run_on_threads() {
    let text = "target ptx; cta 128; maxnreg 128;\nwarps 0..2 { setmaxnreg.dec 120; }\n\
                warps 2..4 { setmaxnreg.inc 136; }\n";
    gate(text, &["--preemptions", "1"]).expect(0).prints("passed ");
    for with in ["loom", "shuttle"] {
        gate(&text.replace("136", "144"), &["--with", with]).expect(1).prints("`deadlock`");
    }
}

#[test]
fn copies_out_of_shared_memory_are_not_for_threads() {
    let text = "target ptx; cta 32; shared x;\nwarp 0 { cp.async.bulk.global x; cp.async.bulk.commit_group; \
                cp.async.bulk.wait_group 0; }\n";
    gate(text, &["--with", "shuttle"]).expect(3).prints("threads have one path to memory");
}

/// Three kernels: in the second one warp never comes; in the third one lane of each arrives at an object in
/// shared memory, and all wait.
const KERNELS: &str = "\
.version 8.0
.target sm_90
.visible .entry meet() .reqntid 64
{
\tbar.sync 1, 64;
\tret;
}
.visible .entry alone() .reqntid 64
{
\t.reg .pred %p<3>;
\t.reg .b32 %r<3>;
\tmov.u32 %r1, %tid.x;
\tsetp.gt.u32 %p1, %r1, 31;
\t@%p1 bra $L;
\tbar.sync 1, 64;
$L:
\tret;
}
.visible .entry object() .reqntid 64
{
\t.reg .pred %p<3>;
\t.reg .b32 %r<3>;
\t.reg .b64 %rd<3>;
\t.shared .align 8 .b64 mbar;
\tmov.u32 %r1, %tid.x;
\tsetp.ne.u32 %p1, %r1, 0;
\t@%p1 bra $L;
\tmbarrier.init.shared.b64 [mbar], 2;
$L:
\tbar.sync 0;
\tand.b32 %r2, %r1, 31;
\tsetp.ne.u32 %p2, %r2, 0;
\t@%p2 bra $M;
\tmbarrier.arrive.shared.b64 %rd1, [mbar];
$M:
\tmbarrier.try_wait.parity.shared.b64 %p1, [mbar], 0;
\t@!%p1 bra $M;
\tret;
}
";

#[test]
fn kernels_run_on_threads_as_far_as_there_are_barriers_for_them() {
    let folder = Folder::new();
    let file = folder.add("kernels.ptx", KERNELS);
    let meet = run(&["gate", "--entry", "meet", &file]).expect(0);
    meet.prints("passed ").prints("kernel meet (ptx): loom ran every schedule");
    let alone = run(&["gate", "--entry", "alone", &file]).expect(1);
    alone.prints("kernel alone (ptx): loom finds `deadlock`");
    let object = run(&["gate", "--entry", "object", &file]).expect(0);
    object.prints("kernel object (ptx): loom ran every schedule");
    run(&["gate", &file]).expect(1).prints("kernel meet").prints("kernel alone").prints("kernel object");
    run(&["gate", "--entry", "none", &file]).expect(2).says("no kernel has `none` in its name");
    let json = run(&["gate", "--entry", "meet", "--format", "json", &file]).expect(0).json();
    assert_eq!(json[0]["kernel"], "meet");
}

#[test]
fn a_kernel_is_run_with_the_values_with_which_the_model_decides_it() {
    // How many lanes go by the first barrier is up to the parameter.
    let text = ".version 8.0\n.target sm_90\n.visible .entry k(.param .u32 n)\n.reqntid 64\n{\n.reg .pred %p<2>;\n.reg .b32 \
                %r<3>;\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra $L;\n\
                bar.sync 1, 64;\n$L:\nbar.sync 0;\nret;\n}\n";
    let folder = Folder::new();
    let file = folder.add("k.ptx", text);
    let verified = run(&["verify", &file]).expect(1).prints("it comes about with n = ");
    let with =
        verified.out.lines().find_map(|line| line.split_once("it comes about with ")).expect("a line").1;
    let gated = run(&["gate", &file]).expect(1);
    gated.prints("finds `partial-warp`").prints(&format!("it comes about with {with}"));
    let json = &run(&["gate", "--format", "json", &file]).expect(1).json()[0];
    assert_eq!((json["verdict"].as_str(), json["given"]["n"].is_i64()), (Some("violated"), true));
}

#[test]
fn what_a_kernel_shows_only_for_certain_data_is_no_violation() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kernels/data.ptx");
    let depends = run(&["gate", "--cta", "64", "--entry", "by_thread_and_sure", file]).expect(3);
    let depends = depends.prints("inconclusive ").prints("loom finds `deadlock`, which may be none");
    let depends = depends.prints("it rests on data that is not known");
    // The model knows of another run.
    depends.prints("by `barcheck verify` it is violated by `deadlock`, which it shows");
}
