//! What the first line and `why` name: waits that were passed too early, phases that were skipped, the branch
//! at which some left, who waits for registers; and the mends that fit the case.

use crate::support::{Folder, run, says, verify};

#[test]
fn those_who_came_twice_in_a_phase_are_named_with_the_wait_that_let_them_pass() {
    // Warp 1 waits for the first phase of `full` again, and so arrives for warp 2, which comes later.
    let text = "target ptx;\ncta 96;\nmbarrier full count 1, empty count 2;\n\
                warp 0 { if lane == 0 { mbarrier.arrive full; } mbarrier.wait.parity empty, 0; }\n\
                warp 1 { for i in 0..2 {\n  mbarrier.wait.parity full, 0;\n  \
                if lane == 0 { mbarrier.arrive empty; } } bar.arrive 1, 64; }\n\
                warp 2 { bar.sync 1, 64; mbarrier.wait.parity full, 0;\n  if lane == 0 { mbarrier.arrive empty; } }\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &[
            "error[unobserved-phase]: warp 2 executes `mbarrier.arrive empty` before anybody has seen the phase before \
             complete on empty; warp 1 passed its wait on full too early",
            "the parity is that of phase 0, which it had seen complete before, and no other had been complete since",
            "- warp 1 passed here too early, on full",
        ],
        &[],
    );
}

#[test]
fn a_wait_for_a_phase_behind_one_that_was_never_waited_for_is_the_headline() {
    let text = "target ptx;\ncta 128;\nmbarrier full[2] count 4;\nwarps 0..4 as all {\n  \
                if lane == 0 { mbarrier.arrive full[0]; }\n  for i in 0..5 {\n    \
                if i + 1 < 5 && lane == 0 { mbarrier.arrive full[(i + 1) % 2]; }\n    \
                mbarrier.wait.parity full[i % 2], i & 1;\n    bar.sync 0;\n  }\n}\n";
    let run = verify(text, &[]).expect(1);
    let headline = "error[deadlock]: warps 0-3 came to wait for phase 1 of full[1] and never waited for phase 0, which \
                    is complete; they wait on full[1] (0 of 4 arrivals made)";
    says(&run, &[headline, "or the parity is not the one of the round"], &["arrivals made); missing"]);
}

#[test]
fn where_both_sides_wait_for_a_first_phase_nobody_goes_first() {
    let text = "target ptx;\ncta 64;\nmbarrier full count 1, empty count 1;\n\
                warp 0 { for i in 0..2 { mbarrier.wait.parity empty, i & 1; if lane == 0 { mbarrier.arrive full; } } }\n\
                warp 1 { for i in 0..2 { mbarrier.wait.parity full, i & 1; if lane == 0 { mbarrier.arrive empty; } } }\n";
    let run = verify(text, &[]).expect(1);
    says(&run, &["they wait for each other, and nobody goes first", "waits with parity 1 first"], &[]);
}

/// Four invocations that decide by themselves whether to go on.
fn leaving(exits: &str) -> String {
    format!(
        "target split_barrier;\nworkgroup 4;\ninvocations 0..4 {{\n  for t in 0..3 {{\n    {exits}\n    \
         OpControlBarrier Workgroup, Workgroup, AcquireRelease|WorkgroupMemory;\n  }}\n}}\n"
    )
}

#[test]
fn the_decision_by_which_some_left_a_loop_is_shown() {
    let run = verify(leaving("if ? { break; }"), &[]).expect(1);
    says(&run, &["found `?` true and exited", "found `?` true here"], &["came to the workgroup barrier a"]);
}

#[test]
fn without_a_decision_who_came_once_more_is_told_as_before() {
    let run = verify(leaving("if t == 1 && invocation > 0 { break; }"), &[]).expect(1);
    says(&run, &["invocation 0 came to the workgroup barrier a 2nd time"], &["found `"]);
}

#[test]
fn who_gets_no_registers_comes_before_those_who_wait_for_it() {
    let text = "target ptx;\nmaxnreg 168;\ncta 384;\nwarps 0..4 as load { bar.sync 1, 128; setmaxnreg.dec 40; }\n\
                warps 4..12 as math { setmaxnreg.inc 240; bar.sync 2, 256; }\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &[
            "error[deadlock]: warp 11 gets no registers, and warps 4-10 wait for it; it waits on the register pool (72 \
             registers wanted, 8 free)",
            "All 12 warps together want 8 x 240 + 4 x 40 = 2080 registers for each of their threads, and there are \
             2016 (12 x 168).",
        ],
        &[],
    );
    // With room for all of them there is nothing to wait for.
    verify(text.replace("240", "232"), &[]).expect(0);
}

#[test]
fn bytes_that_are_announced_behind_the_arrival_come_too_late() {
    let text = "target ptx;\ncta 64;\nshared b;\nmbarrier full count 1;\n\
                warp 0 { if lane == 0 { mbarrier.arrive full; mbarrier.expect_tx full, 64; cp.async.bulk b, 64, full; } }\n\
                warp 1 { mbarrier.wait.parity full, 0; read b; }\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &[
            "the phase was complete (step 1) before the bytes of this copy were announced",
            "Announce them before the arrival, or with it",
        ],
        &["it has to see that phase"],
    );
}

#[test]
fn a_token_of_another_object_is_named_with_the_arrival_that_gave_it() {
    let text = "target ptx;\ncta 64;\nmbarrier a count 64, b count 64;\nwarps 0..2 {\n  let t = mbarrier.arrive a;\n  \
                let u = mbarrier.arrive b;\n  mbarrier.wait a, u;\n  mbarrier.wait b, u;\n}\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &["and `u` is a token of b", "`u` came from `let u = mbarrier.arrive b`", "warp 0 arrived on b here"],
        &["neither the present one"],
    );
}

#[test]
fn a_count_that_arrivals_of_all_lanes_exceed_is_told_as_fits_the_instruction() {
    let copies = "target ptx;\ncta 64;\nshared s[2];\nmbarrier full count 2;\nwarps 0..2 {\n  write s[warp];\n  \
                  cp.async.mbarrier.arrive.noinc full;\n  mbarrier.wait.parity full, 0;\n}\n";
    let given = verify(copies, &[]).expect(1);
    says(&given, &["32 for each whole warp, and here it is 2 at"], &["if lane == 0"]);
    let kernel = ".version 8.0\n.target sm_90\n.visible .entry k() .reqntid 64\n{\n\t.reg .pred %p<3>;\n\t.reg .b32 %r<3>;\n\t\
                  .reg .b64 %rd<3>;\n\t.shared .align 8 .b64 mbar;\n\tmov.u32 %r1, %tid.x;\n\tsetp.ne.u32 %p1, %r1, 0;\n\t\
                  @%p1 bra $L;\n\tmbarrier.init.shared.b64 [mbar], 2;\n$L:\n\tbar.sync 0;\n\t\
                  mbarrier.arrive.shared.b64 %rd1, [mbar];\n\tret;\n}\n";
    let folder = Folder::new();
    let run = run(&["verify", &folder.add("k.ptx", kernel)]).expect(1);
    says(&run, &["error[over-arrival]", "by a branch on the lane or `elect.sync`"], &["if lane == 0"]);
}

#[test]
fn a_count_that_leaves_some_of_a_generation_out_is_a_mend_of_an_arrival_race() {
    let text = "target ptx;\ncta 128;\nwarps 0..4 { for i in 0..3 { bar.arrive 1, 96; bar.sync 2, 128; } }\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &[
            "error[arrival-race]",
            "If all 4 are meant to meet in one generation, its count is too low: it leaves 1 of them out.",
        ],
        &[],
    );
}

#[test]
fn places_far_apart_are_shown_with_their_file() {
    let filler = "// nothing\n".repeat(700);
    let text = format!(
        "target ptx;\ncta 64;\nwarp 0 {{ bar.sync 1, 64; bar.sync 2, 64; }}\n{filler}warp 1 {{ bar.sync 2, 64; bar.sync 1, 64; }}\n"
    );
    let run = verify(text, &[]).expect(1);
    let lines: Vec<&str> = run.out.lines().map(str::trim).collect();
    assert!(lines.iter().any(|line| line.starts_with("::: ") && line.contains(":704:")), "{}", run.out);
    assert!(!lines.contains(&":::"), "{}", run.out);
    assert!(run.out.contains("warp 1 { bar.sync 2, 64; bar.sync 1, 64; }"), "{}", run.out);
}

#[test]
fn that_a_bound_of_its_loops_decides_an_open_protocol_is_said() {
    // Each consults one of the sequences ahead of the other.
    let text = "target ptx;\ncta 64;\nwarp 0 { while uniform n ? { while uniform m ? { } } }\n\
                warp 1 { while uniform m ? { while uniform n ? { } } }\n";
    let open = verify(text, &["--max-states", "1000"]).expect(3);
    let said = "help: with `for round in 0..2` in place of `while uniform n ?` (line 3), and so for each like it, it is \
                verified, which says nothing of more rounds";
    says(&open, &["inconclusive", said], &[]);
    // A decision that is made elsewhere too would be another one with a bound.
    let shared = text.replace("{ } } }\nwarp 1", "{ } if uniform n ? { } } }\nwarp 1");
    says(&verify(shared, &["--max-states", "1000"]).expect(3), &["inconclusive"], &["for round in"]);
}

#[test]
fn fewer_rounds_that_show_a_violation_are_said_with_their_steps() {
    let text = "target ptx;\ncta 288;\nconst S = 4;\nmbarrier full[S] count 1, empty[S] count 8;\n\
                warp 0 as load { let s = 0; let p = 0; while uniform tile ? { for k in 0..3 { \
                mbarrier.wait.parity empty[s], p ^ 1; if lane == 0 { mbarrier.arrive full[s]; } advance s, p, S; } } }\n\
                warps 1..9 as math { let s = 0; let p = 0; while uniform tile ? { for k in 0..3 { \
                mbarrier.wait.parity full[s], p; bar.sync 1 + (warp - 1) / 4, 128; \
                if (warp - 1) % 4 == 0 && lane == 0 { mbarrier.arrive empty[s]; } advance s, p, S; } } }\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &[
            "with `for round in 0..2` in place of `while uniform tile ?` (line 5), and so for each like it, `deadlock` shows in",
        ],
        &[],
    );
}
