//! What people read on standard output.

use crate::support::{DEADLOCK, Folder, command, finish, run, run_on, verify};

#[test]
fn the_headline_of_a_finding_is_told_once() {
    let run = verify(DEADLOCK, &[]).expect(1);
    assert_eq!(
        run.out.matches("warp 0 waits on barrier 1 (32 of 64 threads arrived)").count(),
        1,
        "{}",
        run.out
    );
    let run = run_on(&["verify", "-"], DEADLOCK.as_bytes()).expect(1).prints("<stdin>: ptx, 2 warps");
    assert!(!run.out.contains("at -:"), "{}", run.out);
}

/// Sizes and seconds aside, which stand in the first line.
#[test]
fn the_readme_shows_its_first_counterexample_as_it_is_printed() {
    let readme = include_str!("../../../README.md");
    let shown = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
    let file = "specs/protocols/ptx/wavelet_one_short_broken.bar";
    let mut command = command(&["verify", file]);
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).env("LC_ALL", "C.UTF-8");
    let printed = finish(&mut command).expect(1).out;
    let behind_the_first_line = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned());
    assert_eq!(behind_the_first_line(&printed), behind_the_first_line(shown));
}

#[test]
fn lanes_of_a_partial_warp_are_named_by_their_runs() {
    let source = "target ptx; cta 32; warp 0 { if lane < 8 || lane == 12 { bar.sync 0; } }";
    let run = verify(source, &[])
        .expect(1)
        .prints("only lanes 0-7 and 12 of warp 0")
        .prints("lanes 8-11 and 13-31 are here");
    assert!(!run.out.contains("0x0000"), "{}", run.out);
}

#[test]
fn arrivals_left_over_at_one_place_have_one_label() {
    let source = "target ptx; cta 256; warps 0..5 { bar.arrive 1, 256; } warps 5..8 { }";
    verify(source, &[]).expect(0).prints(" warps 0-4 arrived here").prints("(warps 0-4)");
}

#[test]
fn lanes_that_go_round_without_an_instruction_are_in_an_endless_loop_in_the_end() {
    let source = "target ptx; cta 64; warp 0 { bar.sync 1, 64; }\n\
                  warp 1 { if lane < 4 { loop { } } else { bar.sync 2, 64; } }";
    verify(source, &[]).expect(1).prints("an endless loop; lanes 0-3 at line 2, lanes 4-31 at line 2");
}

#[test]
fn an_exit_that_completes_a_generation_is_called_an_exit() {
    let source = "target bcu;\ncta 96;\nwarps 0..2 { BAR.SYNC 0x0; }\n\
                  warp 2 { B2R.BAR R4, 0x0; BAR.SYNC 0x0; BAR.SYNC 0x2, 0x20; R2B.BAR 0x0, R4; }\n";
    let run = verify(source, &["--all"]).expect(0).prints("'s exit completes a generation");
    assert!(!run.out.contains("arrival completes"), "{}", run.out);
}

#[test]
fn who_never_came_is_named_with_the_place_where_others_of_its_code_did() {
    let guarded = "target ptx; cta 96; warps 0..3 { if warp != 2 { bar.sync 1, 96; } bar.sync 2, 96; }";
    let told = "Warp 2 has not arrived on barrier 1 at all; warps 0 and 1, which run the same code, did";
    verify(guarded, &[]).expect(1).prints(told);
    // Who came in an earlier generation is not among them.
    let before = "target ptx; cta 64; warps 0..2 { for i in 0..2 + warp { bar.sync 1, 64; } }";
    let run = verify(before, &[]).expect(1).prints("in an earlier generation");
    assert!(!run.out.contains("at all"), "{}", run.out);
}

#[test]
fn who_comes_round_before_the_others_have_come_is_told_to_wait_for_them() {
    let source = "target nbarrier; thread_group 4;
        thread 0 { for t in 0..3 { nbarrier.signal 1, 1, 1, 3; } }
        threads 1..4 { for t in 0..3 { nbarrier.signal 1, 2, 1, 3; nbarrier.wait 1; } }";
    let run = verify(source, &[]).expect(1).prints("thread 0 stands at the next arrival on barrier 1");
    let run = run.prints("Nothing makes thread 0 wait for the others");
    assert!(!run.out.contains("barriers of their own"), "{}", run.out);
    let others = "target ptx; cta 96; warps 0..3 { bar.sync 1, 64; }";
    verify(others, &[]).expect(1).prints("at an arrival on barrier 1").prints("barriers of their own");
}

#[test]
fn arrivals_of_one_warp_in_groups_of_lanes_are_counted_in_the_headline() {
    let source = "target bcu; cta 64; warps 0..2 { if lane < 16 { BAR.SYNC 0x1, 0x40; } else { BAR.SYNC 0x1, 0x40; } }";
    verify(source, &[])
        .expect(1)
        .prints("warps 0 and 1 stand, in groups of lanes, at 4 arrivals on barrier 1");
}

#[test]
fn a_barrier_at_which_nobody_is_left_to_arrive_says_so() {
    let source = "target ptx; cta 96; warp 0 { bar.sync 1, 64; } warp 1 { bar.sync 2, 64; bar.sync 1, 64; } warp 2 { }";
    verify(source, &[]).expect(1).prints("missing: warp 1");
    let source = "target nbarrier; thread_group 1; thread 0 { nbarrier.signal 2, 2, 1, 1; nbarrier.wait 2; }";
    let run = verify(source, &[]).expect(1);
    let words: Vec<&str> = run.out.split_whitespace().collect();
    assert!(words.join(" ").contains("waiting: thread 0; nobody is left that could arrive"), "{}", run.out);
}

#[test]
fn what_an_exit_does_not_publish_is_to_be_published_by_an_arrival() {
    let source = "target ptx; cta 64; shared s; warp 0 { bar.sync 0; read s; } warp 1 { write s; }";
    let run = verify(source, &[]).expect(1).prints("let warp 1 arrive itself, after its access");
    assert!(!run.out.contains("fence before"), "{}", run.out);
}

#[test]
fn who_hands_over_a_kernel_as_a_protocol_is_told_what_it_looks_like() {
    let kernel = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() { bar.sync 0; ret; }\n";
    let folder = Folder::new();
    run(&["verify", &folder.add("kernel.bar", kernel)]).expect(2).says("this looks like PTX");
    run_on(&["verify", "--cta", "64", "-"], kernel.as_bytes()).expect(0).prints("kernel k");
}
