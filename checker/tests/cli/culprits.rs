//! What is said of phases of mbarrier objects that never come: who, or which count, is to blame.

use crate::support::{Folder, run, verify, words};

/// A loader and `consumers`, with `count` arrivals expected on `empty`.
fn ring(count: u32, consumers: &str) -> String {
    format!(
        "target ptx;\ncta 96;\nmbarrier full count 1, empty count {count};\n\
         warp 0 as load {{\n  for i in 0..3 {{\n    mbarrier.wait.parity empty, i & 1 ^ 1;\n    \
         if lane == 0 {{ mbarrier.arrive full; }}\n  }}\n}}\n{consumers}"
    )
}

/// Waits for `full`, and what comes then.
fn consumer(who: &str, role: &str, then: &str) -> String {
    format!(
        "{who} as {role} {{\n  for i in 0..3 {{\n    mbarrier.wait.parity full, i & 1;\n    {then}\n  }}\n}}\n"
    )
}

const RELEASE: &str = "if lane == 0 { mbarrier.arrive empty; }";

#[test]
fn a_count_above_all_arrivals_of_a_round_is_to_blame_with_its_place() {
    let text = ring(3, &consumer("warps 1..3", "math", RELEASE));
    let run = verify(&text, &[]).expect(1);
    let told = words(&run.out);
    assert!(
        told.contains(
            "error[deadlock]: only warps 1 and 2 arrive on empty, once each in a round, and its count is 3;"
        ),
        "{}",
        run.out
    );
    assert!(told.contains("- empty is given the count 3 here"), "{}", run.out);
    assert!(told.contains("1 more is needed, and nobody is left who arrives before this phase completes"));
    assert!(told.contains("2/3 arrivals; arrived: warps 1 and 2; waiting: warp 0"), "{}", run.out);
    assert!(!told.contains("arrived on empty before"), "{}", run.out);
}

#[test]
fn a_count_that_an_instruction_gives_is_told_at_that_instruction() {
    let text = "target ptx;\ncta 64;\nmbarrier x;\nwarp 0 {\n  if lane == 0 { mbarrier.init x, 2; }\n  bar.sync 0;\n  \
                mbarrier.wait.parity x, 0;\n}\nwarp 1 {\n  bar.sync 0;\n  if lane == 0 { mbarrier.arrive x; }\n}\n";
    let run = verify(text, &[]).expect(1);
    assert!(run.out.contains("x is given the count 2 here"), "{}", run.out);
    assert!(words(&run.out).contains("only warp 1 arrives on x, once in a round, and its count is 2"));
}

#[test]
fn who_waits_as_those_do_that_arrive_and_never_arrives_is_to_blame() {
    let consumers = consumer("warp 1", "good", RELEASE) + &consumer("warp 2", "forgets", "");
    let run = verify(ring(2, &consumers), &[]).expect(1);
    let told = words(&run.out);
    let headline =
        "error[deadlock]: warp 2 waits for full as warp 1 does, and never arrives on empty; warp 0 waits";
    assert!(told.contains(headline), "{}", run.out);
    assert!(told.contains("Either warp 2 should arrive on empty too, or its count, 2"), "{}", run.out);
    // Its place is the first.
    assert!(run.out.contains("^ warp 2 waits here and never arrives on empty"), "{}", run.out);
}

#[test]
fn who_comes_back_to_wait_without_giving_the_stage_back_is_to_blame() {
    let last = consumer("warp 1", "math", "if lane == 0 && i == 1 { mbarrier.arrive empty; }");
    let last = last + "warp 2 { }\n";
    let run = verify(ring(1, &last), &[]).expect(1);
    let told = words(&run.out);
    assert!(
        told.contains("warp 1 waited for full and came back to wait for it without arriving on empty"),
        "{}",
        run.out
    );
}

#[test]
fn who_exits_instead_of_giving_a_stage_back_stands_in_the_headline() {
    let leaves = "if i == 1 { exit; } ".to_owned() + RELEASE;
    let consumers = consumer("warp 1", "good", RELEASE) + &consumer("warp 2", "leaves", &leaves);
    let run = verify(ring(2, &consumers), &[]).expect(1);
    assert!(
        words(&run.out)
            .contains("error[deadlock]: warp 2 exited after 1 arrival on empty; warp 0 waits on empty"),
        "{}",
        run.out
    );
}

/// Two CTAs; the second says to the first that it is done, and the first waits.
fn pair(count: u32, worker: &str) -> String {
    format!(
        "target ptx;\ncluster 2;\ncta 32;\nmbarrier done;\n\
         block meet() {{ barrier.cluster.arrive; barrier.cluster.wait; }}\n\
         warp 0 of cta 0 as reducer {{\n  if lane == 0 {{ mbarrier.init done, {count}; fence.mbarrier_init; }}\n  meet();\n  \
         mbarrier.wait.parity done, 0;\n  meet();\n}}\n\
         warp 0 of cta 1 as worker {{\n  if lane == 0 {{ mbarrier.init done, {count}; fence.mbarrier_init; }}\n  meet();\n  \
         {worker}\n  meet();\n}}\n"
    )
}

#[test]
fn who_of_another_cta_exits_without_its_arrival_is_named() {
    let run = verify(
        pair(1, "if uniform early ? { exit; }\n  if lane == 0 { mbarrier.arrive done @ cta 0; }"),
        &[],
    )
    .expect(1);
    let told = words(&run.out);
    assert!(
        told.contains("cta 1 warp 0 exited without arriving on done of cta 0; cta 0 warp 0 waits"),
        "{}",
        run.out
    );
    assert!(told.contains("Not arrived: cta 1 warp 0, which exited without arriving."), "{}", run.out);
}

#[test]
fn arrivals_that_went_to_the_same_object_of_another_cta_are_told() {
    let run = verify(pair(1, "if lane == 0 { mbarrier.arrive done; }"), &[]).expect(1);
    let told =
        "nobody arrives on done of cta 0: cta 1 warp 0 arrived on done of cta 1, on which nobody waits";
    assert!(words(&run.out).contains(told), "{}", run.out);
}

#[test]
fn a_count_above_the_arrivals_of_all_ctas_is_told_with_those_that_came() {
    let run = verify(pair(2, "if lane == 0 { mbarrier.arrive done @ cta 0; }"), &[]).expect(1);
    let told = words(&run.out);
    assert!(
        told.contains("arrive on done of cta 0") || told.contains("arrives on done of cta 0"),
        "{}",
        run.out
    );
    assert!(told.contains("and its count is 2"), "{}", run.out);
    assert!(told.contains("Arrived: cta 1 warp 0 (step"), "{}", run.out);
}

#[test]
fn a_cta_that_is_left_out_of_the_arrivals_of_a_loop_is_named() {
    let text = "target ptx;\ncluster 3;\ncta 32;\nmbarrier free count 1;\n\
                warp 0 of cta 0 { for r in 1..2 { if lane == 0 { mbarrier.arrive free @ cta r; } } \
                barrier.cluster.arrive; barrier.cluster.wait; }\n\
                warp 0 of ctas 1..3 { mbarrier.wait.parity free, 0; barrier.cluster.arrive; barrier.cluster.wait; }\n";
    let run = verify(text, &[]).expect(1);
    let told = words(&run.out);
    assert!(told.contains("cta 0 warp 0 arrived on free of cta 1 and not on free of cta 2"), "{}", run.out);
}

#[test]
fn barriers_of_one_cta_are_not_missed_from_the_agents_of_another() {
    // Every warp meets at barrier 1 of its own CTA, and one of them waits for what never comes.
    let text = "target ptx;\ncluster 2;\ncta 64;\nmbarrier go count 1;\n\
                warps 0..2 of ctas 0..2 { bar.sync 1, 64; if cluster_ctarank == 1 && warp == 0 { mbarrier.wait.parity go, 0; }\n\
                bar.sync 2, 64; barrier.cluster.arrive; barrier.cluster.wait; }\n";
    let run = verify(text, &[]).expect(1);
    assert!(!run.out.contains("without its 1st arrival on barrier 1 of cta 0"), "{}", run.out);
    assert!(!words(&run.out).contains("cta 1 warp 0 went on to"), "{}", run.out);
}

#[test]
fn a_reader_whose_wait_a_fresh_object_lets_pass_is_told_which_wait_it_was() {
    let text = "target ptx;\ncta 64;\nshared a;\nmbarrier full count 1;\n\
                warp 0 { if lane == 0 { mbarrier.arrive.expect_tx full, 64; cp.async.bulk a, 64, full; }\n\
                mbarrier.wait.parity full, 0; }\nwarp 1 {\n  mbarrier.wait.parity full, 1;\n  read a;\n  \
                mbarrier.wait.parity full, 0;\n}\n";
    let run = verify(text, &[]).expect(1).prints("error[data-race]");
    let told = words(&run.out);
    assert!(told.contains("Warp 1 passed its wait on full"), "{}", run.out);
    assert!(told.contains("too early: no phase of it was complete"), "{}", run.out);
    assert!(told.contains("warp 1 passed here too early, on full"), "{}", run.out);
}

#[test]
fn a_wait_with_the_parity_of_a_phase_that_was_seen_already_is_told() {
    let text = "target ptx;\ncta 64;\nmbarrier full count 1, empty count 1;\n\
                warp 0 { for i in 0..2 { if lane == 0 { mbarrier.arrive full; } mbarrier.wait.parity empty, i; } }\n\
                warp 1 { for i in 0..2 { mbarrier.wait.parity full, 0; if lane == 0 { mbarrier.arrive empty; } } }\n";
    let run = verify(text, &[]).expect(1);
    let told = words(&run.out);
    assert!(
        told.contains("too early: the parity is that of phase 0, which it had seen complete before"),
        "{}",
        run.out
    );
}

#[test]
fn a_decision_that_passed_by_an_arrival_stands_in_the_headline() {
    let text = "target ptx;\ncta 64;\nwarp 0 { if ? { bar.arrive 1, 64; } }\nwarp 1 { bar.sync 1, 64; }\n";
    let run = verify(text, &[]).expect(1);
    let told =
        "warp 0 found `?` false, passing by `bar.arrive 1, 64`, and exited without arriving on barrier 1";
    assert!(words(&run.out).contains(told), "{}", run.out);
    assert!(run.out.contains("warp 0 found `?` false here"), "{}", run.out);
}

#[test]
fn what_some_did_and_more_did_at_one_place_has_one_label() {
    let text = "target ptx;\ncta 128;\nwarps 0..3 {\n  if ? { exit; }\n  bar.sync 1, 128;\n}\nwarp 3 { bar.sync 1, 128; }\n";
    let run = verify(text, &[]).expect(1);
    assert_eq!(run.out.matches("exited here").count(), 1, "{}", run.out);
}

#[test]
fn arrivals_that_are_left_on_an_object_have_names() {
    let text =
        "target ptx;\ncta 64;\nmbarrier x count 3;\nwarps 0..2 { if lane == 0 { mbarrier.arrive x; } }\n";
    let run = verify(text, &["--all"]).expect(0).prints("dangling-arrival");
    assert!(words(&run.out).contains("2 of 3 arrivals (warps 0 and 1)"), "{}", run.out);
}

/// Threads leave at two places before a barrier.
const LEAVE: &str = "\
.version 8.0
.target sm_90
.address_size 64
.visible .entry leave() .maxntid 64
{
    .reg .pred %p<3>;
    .reg .b32 %r<2>;
    mov.u32 %r1, %tid.x;
    setp.eq.s32 %p1, %r1, 7;
    @%p1 bra EXIT;
    setp.eq.s32 %p2, %r1, 9;
    @%p2 bra EXIT;
    bar.sync 0;
EXIT:
    ret;
}
";

#[test]
fn notes_stand_behind_the_verdict_those_of_one_kind_together() {
    let folder = Folder::new();
    let path = folder.text("leave.ptx");
    std::fs::write(&path, LEAVE).expect("it can be written");
    let loud = run(&["verify", &path]).expect(0);
    assert_eq!(loud.err.lines().count(), 2, "{}", loud.err);
    assert!(loud.err.contains("2 places: lines 10, 12") && !loud.err.contains("-->"), "{}", loud.err);
    assert_eq!(run(&["verify", "-q", &path]).expect(0).err, "");
    // Whoever reads a report by machine has each at its place.
    let report = run(&["verify", "--format", "json", &path]).expect(0).json();
    assert_eq!(report[0]["notes"].as_array().map(Vec::len), Some(3));
    // In a file the verdict comes first, too.
    let text = folder.text("report.txt");
    run(&["verify", "--report", &format!("human={text}"), &path]).expect(0);
    let text = std::fs::read_to_string(text).expect("it is written");
    assert!(text.starts_with("verified ") && text.contains("2 places: lines 10, 12"), "{text}");
}

#[test]
fn a_number_where_a_token_is_wanted_hears_of_the_parity() {
    let with = |wait: &str| {
        format!(
            "target ptx; cta 64; mbarrier full count 1;\nwarp 0 {{ if lane == 0 {{ mbarrier.arrive full; }} }}\nwarp 1 {{ {wait} }}\n"
        )
    };
    verify(with("mbarrier.wait full, 0;"), &[]).expect(2).says("with a parity it is `mbarrier.wait.parity`");
    verify(with("let p = 0; mbarrier.wait full, p;"), &[])
        .expect(1)
        .prints("do you mean `mbarrier.wait.parity`?");
    verify(with("while (!mbarrier.try_wait.parity full, 0);"), &[])
        .expect(2)
        .says("an instruction is a statement of its own");
    let block = "target ptx; cta 32; mbarrier full[2] count 1;\nblock wait(x) { mbarrier.wait.parity x, 0; }\nwarp 0 { wait(full[1]); }\n";
    verify(block, &[]).expect(2).says("hand over its index as a number beside it");
}

#[test]
fn what_is_not_followed_is_explained_and_advised() {
    run(&["explain", "not-followed"]).expect(0).prints("barcheck doctor");
}
