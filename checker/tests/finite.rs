//! Protocols whose states never ended, or were very many, though the answer is simple.

mod decisions;

use barcheck::{Budgets, Inconclusive, Outcome, Quiet, Reduction, Settings, Verdict, check};
use barcheck_model::machine::{ExitedThreads, Options};
use decisions::{program, walk_all};

fn decide(text: &str, settings: &Settings, options: Options) -> Outcome {
    check(program(text), options, settings, &Quiet)
}

/// Decides with few states and steps, or not at all.
fn soon(text: &str, settings: Settings, options: Options) -> Outcome {
    let budgets = Budgets { max_states: Some(2_000), ..Budgets::default() };
    decide(text, &Settings { budgets, ..settings }, options)
}

fn outcome(text: &str) -> (Verdict, Vec<&'static str>) {
    let outcome = soon(text, Settings::default(), Options::default());
    walk_all(text, &outcome);
    (outcome.verdict, outcome.findings.iter().map(|found| found.finding.rule.name()).collect())
}

const VERIFIED: (Verdict, Vec<&str>) = (Verdict::Verified, Vec::new());

fn split(body: &str) -> String {
    let both = "OpControlBarrier Workgroup, Workgroup, None;";
    format!(
        "target split_barrier; {}",
        body.replace("BARRIER", both).replace("SUB", "OpControlBarrier Subgroup, Subgroup, None;")
    )
}

#[test]
fn a_barrier_that_all_skip_alike_in_a_loop_without_end_needs_no_count() {
    let skips = split("workgroup 2; invocations 0..2 { loop { if uniform ? { BARRIER } } }");
    assert_eq!(outcome(&skips), VERIFIED);
    let rounds = split("workgroup 2; invocations 0..2 { for t in 0..200 { if uniform a ? { BARRIER } } }");
    assert_eq!(outcome(&rounds), VERIFIED);
    // What one does by itself beside the barrier changes nothing.
    let reads = "workgroup 4; shared m; invocations 0..4 { loop { if invocation == 0 { read m; } if uniform ? { BARRIER } } }";
    assert_eq!(outcome(&split(reads)), VERIFIED);
}

#[test]
fn a_barrier_that_one_skips_by_itself_is_met_from_another_iteration() {
    let private = split("workgroup 2; invocations 0..2 { loop { if ? { BARRIER } } }");
    assert_eq!(outcome(&private), (Verdict::Violated, vec!["nonuniform-barrier"]));
    // The decision is the same for all, and is asked for in some iterations of one of them only.
    let asked = "workgroup 2; invocations 0..2 { for t in 0..3 { if t > invocation { if uniform a ? { BARRIER } } } }";
    assert_eq!(outcome(&split(asked)).0, Verdict::Violated);
    // A break that depends on the invocation, before a barrier in the same loop.
    let breaks = "workgroup 2; invocations 0..2 { for i in 0..2 { for j in 0..2 { if invocation == i { break; } BARRIER } } }";
    assert_eq!(outcome(&split(breaks)), (Verdict::Violated, vec!["nonuniform-barrier"]));
    // Assigned where a condition depends on the invocation.
    let assigned = "workgroup 2; invocations 0..2 { let n = 1; if invocation == 0 { n = 2; } for i in 0..n { BARRIER } }";
    assert_eq!(outcome(&split(assigned)), (Verdict::Violated, vec!["deadlock"]));
}

#[test]
fn an_iteration_that_the_others_can_no_longer_meet_needs_no_number() {
    let waits = "workgroup 2; shared m; invocations 0..2 { loop { if invocation == 0 { BARRIER } else { read m; } } }";
    assert_eq!(outcome(&split(waits)), (Verdict::Violated, vec!["stuck-agent"]));
    let beside =
        "workgroup 4; subgroup_size 2; invocations 0..4 { loop { SUB if invocation < 2 { BARRIER } } }";
    assert_eq!(outcome(&split(beside)), (Verdict::Violated, vec!["stuck-agent"]));
    // It can still be met as long as it has not been passed.
    let late = "workgroup 2; shared m; invocations 0..2 { for i in 0..4 { read m; if i == 3 { BARRIER } } }";
    assert_eq!(outcome(&split(late)), VERIFIED);
    let passed = "workgroup 2; shared m; invocations 0..2 { for i in 0..6 { read m; if i == 3 + 2 * invocation { BARRIER } } }";
    assert_eq!(outcome(&split(passed)), (Verdict::Violated, vec!["nonuniform-barrier"]));
}

#[test]
fn predicates_of_a_reduction_whose_result_nobody_reads_are_not_told_apart() {
    for text in [
        "target ptx; cta 1024; warps 0..32 { bar.red.popc.u32 _, 0, ?; }",
        "target ptx; cta 1024; warps 0..32 { let d = 0; loop { bar.red.popc.u32 d, 0, ?; } }",
        "target bcu; cta 256; warps 0..8 { loop { BAR.RED.POPC 1, 256, ?; B2R.RESULT R4, PT; } }",
    ] {
        assert_eq!(outcome(text), VERIFIED, "{text}");
    }
    for text in [
        "target ptx; cta 64; warps 0..2 { let d = 0; bar.red.popc.u32 d, 0, ?; assert d != 40; }",
        // Somebody else reads it.
        "target ptx; cta 64; warp 0 { bar.red.popc.u32 _, 0, ?; } warp 1 { let d = 0; bar.red.popc.u32 d, 0, ?; assert d != 40; }",
        "target bcu; cta 64; warps 0..2 { BAR.RED.POPC 1, 64, ?; B2R.RESULT R4, PT; if R4 == 40 { assert 0; } }",
    ] {
        assert_eq!(outcome(text), (Verdict::Violated, vec!["assertion"]), "{text}");
    }
}

#[test]
fn a_counter_of_which_only_the_remainder_matters_is_kept_so() {
    let verified = |body: &str| {
        let text = format!("target ptx; cta 64; warps 0..2 {{ let i = 0; loop {{ {body} }} }}");
        assert_eq!(outcome(&text), VERIFIED, "{text}");
    };
    verified("bar.sync i % 2; i = i + 1;");
    verified("bar.sync i % 4 + 4 * ((i / 4) & 1); i = 1 + i;");
    verified("let phase = (i + 3) / 6 % 2; bar.sync phase + 2 * (i & 3); i = i + 3;");
    // Bits of what is shifted and added to; what is copied; from some value on.
    verified("bar.sync ((i * 8 + 0x80000000 & 0xffffffff) - 0x80000000 & 24) / 8; i = i + 1;");
    verified("bar.sync (((i + 1) & 0xffffffff) >> 1) & 3; i = i + 1;");
    // Of a multiple of 1,024 bit 10 is the lowest of the other factor.
    verified("bar.sync (i * 1024 & 1024) / 1024 + 2 * ((i * -2048 - 1 & 2048) / 2048); i = i + 1;");
    verified("let j = i + 4; bar.sync j % 3; i = j;");
    verified("if i >= 2 { bar.sync 3 + (i & 1); } bar.sync 1 + (i & 1); i = i + 1;");
    verified("if i + 3 != 9 { bar.sync i % 5; } i = i + 1;");
    // Bits of a quotient, as compilers write `((i / 3) & 1) ^ 1`.
    verified("bar.sync i % 3 + 3 * ((i / 3 ^ -1) & 1); i = i + 1;");
    verified("bar.sync (i / 3 + i) & 3; i = i + 1;");
    // Less than the counter, from where that is not negative.
    verified("let j = i + 1; bar.sync (j - 1) % 3 + 3 * (((j - 1) / 3) & 1); i = i + 4;");
    verified("if i >= 2 { bar.sync (i - 2) % 3; } i = i + 1;");
    verified("bar.sync ((i / 2 + 3) - 3) % 4; i = i + 1;");
    // The next bit of the quotient is another.
    let text = "target ptx; cta 64; warps 0..2 { let i = 0; loop { bar.sync 0; if ((i / 3 ^ -1) & 4) == 0 && warp == 0 { bar.sync 1; } i = i + 1; } }";
    assert_eq!(outcome(text), (Verdict::Violated, vec!["deadlock"]));
    // A remainder is negative below that, and no barrier has such a number.
    let text = "target ptx; cta 64; warps 0..2 { let i = 3; loop { bar.sync (i - 4) % 3; i = i + 1; } }";
    assert_eq!(outcome(text).0, Verdict::Violated, "{text}");
    let text = "target ptx; cta 64; warps 0..2 { let i = 0; loop { bar.sync 0; if (i - 2) % 3 == -2 && warp == 0 { bar.sync 1; } i = i + 1; } }";
    assert_eq!(outcome(text), (Verdict::Violated, vec!["deadlock"]));
    // Of a multiple of 1,024 the next bit is another.
    let text = "target ptx; cta 64; warps 0..2 { let i = 0; loop { bar.sync 0; if (i * 1024 & 2048) == 2048 && warp == 0 { bar.sync 1; } i = i + 1; } }";
    assert_eq!(outcome(text), (Verdict::Violated, vec!["deadlock"]));
    // It matters elsewhere as well.
    let text =
        "target ptx; cta 64; warps 0..2 { let i = 0; loop { bar.sync i % 2; i = i + 1; assert i < 100; } }";
    assert_eq!(outcome(text), (Verdict::Violated, vec!["assertion"]));
    let text = "target ptx; cta 64; warps 0..2 { let i = 0; loop { if i >= 2 { bar.sync i & 1; } i = i + 1; assert i != 50; } }";
    assert_eq!(outcome(text), (Verdict::Violated, vec!["assertion"]));
    let text = "target ptx; cta 64; warps 0..2 { let i = 0; loop { let j = i + 1; bar.sync i & 1; i = j; if warp == 0 && j == 41 { bar.sync 5; } } }";
    assert_eq!(outcome(text), (Verdict::Violated, vec!["deadlock"]));
    let text = "target ptx; cta 64; warps 0..2 { let i = 0; loop { bar.sync i % 3; i = i + 1; if warp == 0 && i % 7 == 6 { i = i + 1; } } }";
    assert_eq!(outcome(text), (Verdict::Violated, vec!["deadlock"]));
}

#[test]
fn a_register_that_counts_beyond_its_bits_is_an_error_whatever_its_remainder_is() {
    let rounds = |rounds: u32| {
        format!(
            "target bcu; cta 64; warps 0..2 {{ R1 = 0; \
             for t in 0..{rounds} {{ R1 = R1 + 0x10000000; if R1 % 3 == 7 {{ BAR.SYNC 1, 64; }} }} }}"
        )
    };
    assert_eq!(outcome(&rounds(15)), VERIFIED);
    assert_eq!(outcome(&rounds(16)).0, Verdict::Error);
    let small = rounds(70_000).replace("0x10000000", "0xffff");
    assert_eq!(soon(&small, Settings::default(), Options::default()).verdict, Verdict::Error);
}

#[test]
fn an_evaluation_error_that_rests_on_choices_is_shown_by_a_random_run() {
    let verdict = |decides: &str| {
        let text = format!(
            "target ptx; cta 32 * 16; shared t[16]; warps 0..16 {{ for i in 0..4 {{ let x = any 0..3; write t[warp]; \
             bar.sync 0; {decides} {{ read t[(warp + 1) % 16]; }} bar.sync 0; }} }}"
        );
        let budgets = Budgets { max_states: Some(2_000_000), ..Budgets::default() };
        decide(&text, &Settings { budgets, ..Settings::default() }, Options::default()).verdict
    };
    // What decides nothing but a read is worked out by itself, and fails.
    assert_eq!(verdict("let y = 12 / (x + i); if y > 3"), Verdict::Error);
    assert_eq!(verdict("if 12 % (x + i) > 3"), Verdict::Error);
    assert_eq!(verdict("let y = 12 / (x + i + 1); if y > 3"), Verdict::Verified);
}

#[test]
fn a_state_that_is_read_in_vain_is_nothing_that_timing_could_change() {
    let text = "target bcu; cta 64; warps 0..2 { loop { if uniform ? { BAR.SYNC 0; } B2R.BAR R3, 0; } }";
    assert_eq!(outcome(text), VERIFIED);
}

#[test]
fn exits_that_never_release_anybody_leave_the_reductions_in_place() {
    let release = Options { exited_threads: ExitedThreads::Release };
    let loops =
        "target ptx; cta 128; warps 0..4 { while uniform ? { bar.sync 1 + warp / 2, 64; } bar.sync 0; }";
    let outcome = soon(loops, Settings::default(), release);
    assert_eq!(outcome.verdict, Verdict::Verified);
    // One that does.
    let leaves = "target ptx; cta 64; warp 0 { bar.sync 1, 64; } warp 1 { if ? { bar.sync 1, 64; } }";
    assert_eq!(soon(leaves, Settings::default(), release).verdict, Verdict::Verified);
    assert_eq!(soon(leaves, Settings::default(), Options::default()).verdict, Verdict::Violated);
}

#[test]
fn a_rule_raised_to_a_warning_leaves_a_verified_protocol_verified() {
    let text = "target nbarrier; thread_group 4; threads 0..4 { loop { if uniform ? { nbarrier.signal 1, 4; nbarrier.wait 1; } } }";
    let mut settings = Settings::default();
    assert_eq!(soon(text, settings.clone(), Options::default()).findings, []);
    settings.levels.strict = true;
    let outcome = decide(text, &settings, Options::default());
    assert_eq!(outcome.verdict, Verdict::Verified);
    assert_eq!(outcome.findings.len(), 1, "{:?}", outcome.findings);
    walk_all(text, &outcome);
}

#[test]
fn decisions_made_at_different_rates_end_the_search_early_and_are_named() {
    let text = "target ptx; cta 64;
        warp 0 { loop { if uniform n ? { bar.sync 0; } if uniform n ? { bar.sync 0; } } }
        warp 1 { loop { if uniform n ? { bar.sync 0; } } }";
    let named = |settings: Settings| {
        let outcome = decide(text, &settings, Options::default());
        let Some(Inconclusive::Endless(why)) = outcome.inconclusive else {
            panic!("{:?}", outcome.inconclusive)
        };
        assert!(why.contains("the decisions of `uniform n ?` that warp"), "{why}");
        outcome.statistics.states
    };
    // Who follows what others have decided keeps in step.
    assert_eq!(outcome(text), VERIFIED);
    let plain = Settings { reduction: Reduction::None, ..Settings::default() };
    assert!(named(plain) < 1_000_000);
}
