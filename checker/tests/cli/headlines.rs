//! What the first line and `why` say is true of the run that is shown, and is the cause.

use crate::support::{Folder, run, says, verify};

#[test]
fn who_leaves_an_arrival_out_is_compared_with_those_that_do_as_it_does() {
    // One warp arrives on `m` for all of the role: the others leave nothing out there.
    let text = "target ptx;\ncta 256;\nmbarrier m count 1;\nwarps 0..8 {\n  bar.sync 0;\n  \
                if warp > 4 { bar.arrive 1, 256; }\n  if warp == 0 && lane == 0 { mbarrier.arrive m; }\n  \
                mbarrier.wait.parity m, 0;\n  bar.sync 0;\n  bar.sync 1 + warp / 4, 256;\n  \
                bar.arrive 2 - warp / 4, 256;\n}\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &[
            "error[deadlock]: warp 4 went on to barrier 0 without its 1st arrival on barrier 1; warps 0-3 wait on \
             barrier 1",
            "Warps 5-7, which run the same code as warp 4, arrived on barrier 1 for the 1st time",
        ],
        &["arrival on m", "arrived on m for"],
    );
}

#[test]
fn a_count_that_cannot_be_met_comes_before_who_has_not_come_yet() {
    let text = "target ptx;\ncta 128;\nmbarrier q count 1, full count 1, empty count 128;\nwarps 0..4 {\n  let p = 0;\n  \
                bar.sync 0;\n  while uniform tile ? {\n    if warp == 0 && lane == 0 { mbarrier.arrive q; \
                mbarrier.arrive full; }\n    mbarrier.wait.parity q, p;\n    bar.sync 0;\n    \
                mbarrier.wait.parity full, p;\n    if lane == 0 { mbarrier.arrive empty; }\n    \
                if warp == 0 { mbarrier.wait.parity empty, p; }\n    bar.sync 0;\n    p = p ^ 1;\n  }\n}\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &[
            "error[deadlock]: all who arrive on empty have (warps 0-3), and its count is 128; warp 0 waits on empty",
        ],
        &["went on"],
    );
}

#[test]
fn an_object_on_which_nobody_arrives_is_the_headline() {
    let text = "target ptx;\ncta 64;\nmbarrier full count 1, empty count 2;\n\
                warp 0 { for i in 0..2 { if lane == 0 { mbarrier.arrive full; } mbarrier.wait.parity empty, i & 1; } }\n\
                warp 1 { for i in 0..2 { mbarrier.wait.parity full, i & 1; } }\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &[
            "error[deadlock]: nobody arrives on empty, whose count is 2; warp 0 waits on empty",
            "- empty is given the count 2 here",
        ],
        &[],
    );
}

/// Four objects in one array, the second half of them for stages that are free.
fn one_array(count: u32) -> String {
    format!(
        "target ptx;\ncta 96;\nmbarrier m[4];\nwarp 0 as load {{\n  if lane == 0 {{ mbarrier.init m[0], 1; \
         mbarrier.init m[1], 1; mbarrier.init m[2], 2; mbarrier.init m[3], {count}; }}\n  bar.sync 0;\n  \
         let s = 0; let p = 0;\n  while uniform more ? {{\n    mbarrier.wait.parity m[s + 2], p ^ 1;\n    \
         if lane == 0 {{ mbarrier.arrive m[s]; }}\n    advance s, p, 2;\n  }}\n}}\nwarps 1..3 as math {{\n  \
         bar.sync 0;\n  let s = 0; let p = 0;\n  while uniform more ? {{\n    mbarrier.wait.parity m[s], p;\n    \
         if lane == 0 {{ mbarrier.arrive m[s + 2]; }}\n    advance s, p, 2;\n  }}\n}}\n"
    )
}

#[test]
fn who_never_arrives_on_an_element_of_an_array_is_not_missed_there() {
    let run = verify(one_array(3), &[]).expect(1);
    says(
        &run,
        &[
            "error[deadlock]: only warps 1 and 2 arrive on m[3], once each in a round, and its count is 3; warp 0 \
             waits on m[3]",
            "Not arrived: warp 0, which waits at",
        ],
        &["which waits for it itself", "which wait for it themselves"],
    );
    verify(one_array(2), &[]).expect(0);
}

#[test]
fn an_id_that_is_computed_once_costs_no_cause() {
    let text = "target ptx;\ncta 288;\nmbarrier full count 1, empty count 8;\n\
                warp 0 { for i in 0..3 { mbarrier.wait.parity empty, i & 1 ^ 1; if lane == 0 { mbarrier.arrive full; } } }\n\
                warps 1..9 { let wg = (warp - 1) / 4; for i in 0..3 { mbarrier.wait.parity full, i & 1; \
                bar.sync 1 + wg, 128; if (warp - 1) % 4 == 0 && lane == 0 { mbarrier.arrive empty; } } }\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &["should arrive on empty too, or its count, 8", "is too high by 6"],
        &["which wait for it themselves", "came back"],
    );
}

#[test]
fn two_that_wait_for_each_other_come_before_who_waits_for_them() {
    let text = "target ptx;\ncta 96;\nmbarrier e count 1;\nwarp 0 { mbarrier.wait.parity e, 0; }\n\
                warp 1 { bar.sync 1, 64; bar.arrive 2, 64; if lane == 0 { mbarrier.arrive e; } }\n\
                warp 2 { bar.sync 2, 64; bar.arrive 1, 64; }\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &[
            "error[deadlock]: warp 1 and warp 2 each wait for an arrival of the other, and nobody goes first;",
            "one of them has to arrive before it waits",
            "^ warp 1 waits here on barrier 1",
        ],
        &[],
    );
}

#[test]
fn an_exit_of_who_never_names_the_barrier_of_all_is_named() {
    let text = "target ptx;\ncta 128;\nwarps 0..3 as some { bar.sync 0; bar.sync 1, 128; }\n\
                warp 3 as gone { bar.sync 0; }\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &[
            "error[deadlock]: warp 3 exited without arriving on barrier 1; warps 0-2 wait on barrier 1",
            "The count of barrier 1, 128 threads, is that of all 4 warps.",
            "^ warp 3 exited here",
        ],
        &[],
    );
}

#[test]
fn a_wait_for_the_copy_that_passed_early_is_told_first_whatever_was_waited_for_since() {
    let text = "target ptx;\ncta 64;\nshared b;\nmbarrier q count 1, k count 1, empty count 1;\n\
                warp 0 { for i in 0..2 { mbarrier.wait.parity empty, i & 1 ^ 1; if lane == 0 { mbarrier.arrive k; \
                mbarrier.arrive.expect_tx q, 64; cp.async.bulk b, 64, q; } } }\n\
                warp 1 { for i in 0..2 { mbarrier.wait.parity q, 0; mbarrier.wait.parity k, i & 1; read b; \
                if lane == 0 { mbarrier.arrive empty; } } }\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &["why Warp 1 passed its wait on q at", "too early: the parity is that of phase 0"],
        &["Nothing makes", "arrived on no barrier"],
    );
}

#[test]
fn a_read_behind_a_fresh_object_tells_the_wait_that_passed() {
    let text = "target ptx;\ncta 64;\nshared d, r;\nmbarrier dfull count 1, rfull count 1;\n\
                warp 0 { for i in 0..2 { write d; if lane == 0 { mbarrier.arrive dfull; } \
                mbarrier.wait.parity rfull, i & 1 ^ 1; read r; } }\n\
                warp 1 { for i in 0..2 { mbarrier.wait.parity dfull, i & 1; read d; write r; \
                if lane == 0 { mbarrier.arrive rfull; } } }\n";
    let run = verify(text, &["--all"]).expect(1);
    says(&run, &["why Warp 0 passed its wait on rfull at", "too early: no phase of it was complete"], &[]);
}

#[test]
fn of_a_wait_that_was_left_out_no_intention_is_invented() {
    let text = "target ptx;\ncta 64;\nmbarrier full count 1;\n\
                warp 0 { if lane == 0 { mbarrier.arrive full; } bar.sync 0; }\n\
                warp 1 { bar.sync 0; mbarrier.wait.parity full, 1; mbarrier.wait.parity full, 0; \
                mbarrier.wait.parity full, 1; }\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &["with parity 1, that of phase 1, and had not waited before for phase 0 of full"],
        &["the phase before the first"],
    );
}

#[test]
fn who_arrived_and_has_not_waited_since_is_named_in_a_race() {
    let text = "target split_barrier;\nworkgroup 4;\nshared cell[8];\ninvocations 0..4 {\n  write cell[invocation];\n  \
                OpControlBarrier Workgroup, Workgroup, AcquireRelease|WorkgroupMemory;\n  for t in 0..2 {\n    \
                read cell[t % 2 * 4 + (invocation + 3) % 4];\n    read cell[t % 2 * 4 + (invocation + 1) % 4];\n    \
                write cell[(t + 1) % 2 * 4 + invocation];\n    \
                OpControlBarrierArriveINTEL Workgroup, Workgroup, Release|WorkgroupMemory;\n    \
                if invocation != 3 { OpControlBarrierWaitINTEL Workgroup, Workgroup, Acquire|WorkgroupMemory; }\n  }\n}\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &["Invocation 3 arrived on the workgroup barrier at", "has not waited for it since"],
        &["arrives after its access"],
    );
}

#[test]
fn of_what_lands_later_no_locals_of_now_are_shown() {
    let text = "target ptx;\ncta 64;\nshared b[2];\nmbarrier full[2] count 1;\n\
                warp 0 { for s in 0..2 { if lane == 0 { cp.async.bulk b[s], 64, full[s]; mbarrier.arrive full[s]; } } }\n\
                warp 1 { for s in 0..2 { mbarrier.wait.parity full[s], 0; read b[s]; } }\n";
    let run = verify(text, &[]).expect(1);
    says(
        &run,
        &[
            "error[stale-completion]",
            "lands on full[0]",
            "For that phase of full[0] 0 bytes were announced, and copies of 64 bytes were begun.",
        ],
        &["Its locals there"],
    );
}

#[test]
fn notes_of_an_answer_to_where_stand_behind_it() {
    let folder = Folder::new();
    let kernel = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() .maxntid 64, 1, 1\n{\n\tbar.sync 0;\n\
                  \tret;\n}\n";
    let path = folder.add("k.ptx", kernel);
    let run = run(&["where", &path, "--at", "0=6"]).expect(0);
    let at = |part: &str| run.out.find(part);
    let (answer, note) = (at("k.ptx: ptx, 2 warps"), at("note: taken to be launched"));
    assert!(answer.is_some() && answer < note, "{}", run.out);
}
