//! Location by location: what is decided so, what it says, and what is left to others.

mod decisions;

use barcheck::{Budgets, ByLocation, Levels, Outcome, Quiet, Reduction, Settings, Verdict, check};
use barcheck_model::machine::Options;
use barcheck_model::rule::{Level, Rule};
use decisions::{program, walk_all};

fn decide(text: &str, settings: &Settings) -> Outcome {
    check(program(text), Options::default(), settings, &Quiet)
}

fn rules(outcome: &Outcome) -> Vec<&'static str> {
    let mut rules: Vec<_> = outcome.findings.iter().map(|f| f.finding.rule.name()).collect();
    rules.dedup();
    rules
}

/// All rules, decided location by location; the plain search says the same.
#[track_caller]
fn agree(text: &str) -> Outcome {
    let settings = |reduction, by_location| Settings {
        all: true,
        reduction,
        by_location,
        levels: Levels { strict: true, ..Levels::default() },
        ..Settings::default()
    };
    let apart = decide(text, &settings(Reduction::Auto, ByLocation::Always));
    let plain = decide(text, &settings(Reduction::None, ByLocation::Auto));
    assert!(plain.statistics.complete);
    assert_eq!((apart.verdict, rules(&apart)), (plain.verdict, rules(&plain)), "{}", apart.method.why);
    walk_all(text, &apart);
    apart
}

#[track_caller]
fn is_apart(outcome: &Outcome, how: &str) {
    assert!(outcome.method.why.contains(how), "{}", outcome.method.why);
}

/// Each warp decides what it writes, and for good how it meets the others.
const OWN: &str = "target ptx; param N = 3; cta 32 * N; shared cell[N];
    warps 0..N { let done = 0; for i in 0..2 {
        write cell[warp]; bar.sync 0, 32 * N;
        if done == 0 { read cell[(warp + 1) % N]; if ? { done = 1; } }
        if done == 0 { bar.sync 1, 32 * N; } else { bar.arrive 1, 32 * N; }
        bar.sync 2, 32 * N;
    } }";

#[test]
fn locations_that_are_alike_are_asked_once() {
    let outcome = agree(OWN);
    assert_eq!(outcome.verdict, Verdict::Verified);
    is_apart(&outcome, "with 1 of 3 locations");
    // By another name, and with one agent that is different.
    let named = OWN.replace("let done = 0;", "let done = 0; let next = (warp + 1) % N;");
    let named = named.replace("read cell[(warp + 1) % N]", "read cell[next]");
    is_apart(&agree(&named), "with 1 of 3 locations");
    let uneven = OWN.replace("write cell[warp]", "if warp == 1 { read cell[1]; } write cell[warp]");
    is_apart(&agree(&uneven), "with 2 of 3 locations");
}

#[test]
fn many_agents_with_memory_of_their_own_are_decided_at_once() {
    let text = OWN.replace("N = 3", "N = 32").replace("0..2 {", "0..4 {");
    let outcome = decide(&text, &Settings::default());
    assert_eq!(outcome.verdict, Verdict::Verified);
    is_apart(&outcome, "with 1 of 32 locations");
    assert!(outcome.statistics.states < 10_000, "{}", outcome.statistics.states);
    // Without the last barrier whoever is ahead writes while another reads.
    let broken = text.replace("bar.sync 2, 32 * N;", "");
    let outcome = decide(&broken, &Settings::default());
    assert_eq!((outcome.verdict, rules(&outcome)[0]), (Verdict::Violated, "data-race"));
    walk_all(&broken, &outcome);
}

#[test]
fn what_is_violated_in_a_slice_is_shown_on_the_whole() {
    let early = OWN.replace("bar.sync 2, 32 * N;", "");
    assert!(rules(&agree(&early)).contains(&"data-race"));
    let hang = OWN.replace("bar.arrive 1, 32 * N;", "exit;");
    assert!(rules(&agree(&hang)).contains(&"deadlock"));
    let stuck = OWN.replace("bar.arrive 1, 32 * N;", "loop { write cell[warp]; }");
    assert!(rules(&agree(&stuck)).contains(&"stuck-agent"));
}

#[test]
fn a_fence_is_followed_where_its_agent_accesses_something() {
    let text = "target nbarrier; thread_group 3; shared cell[3];
        threads 0..3 { for i in 0..2 {
            if ? { write cell[thread]; fence; }
            nbarrier.signal 0, 3; nbarrier.wait 0;
            read cell[(thread + 1) % 3];
            nbarrier.signal 0, 3; nbarrier.wait 0;
        } }";
    let outcome = agree(text);
    assert_eq!(rules(&outcome), ["reuse-before-free"]);
    is_apart(&outcome, "with 1 of 3 locations");
    assert!(rules(&agree(&text.replace(" fence;", ""))).contains(&"missing-fence"));
}

#[test]
fn memory_barriers_of_others_pass_on_what_was_accessed() {
    let text = "target split_barrier; workgroup 3; shared x, y;
        invocations 0..3 {
            if ? { write y; }
            if invocation == 0 { write x; }
            OpControlBarrier Workgroup, Workgroup, Release|WorkgroupMemory;
            OpMemoryBarrier Workgroup, AcquireRelease|WorkgroupMemory;
            OpControlBarrier Workgroup, Workgroup, AcquireRelease|WorkgroupMemory;
            if invocation == 2 { read x; }
        }";
    let outcome = agree(text);
    assert!(rules(&outcome).contains(&"data-race"));
    let relaxed = text.replace("if ? { write y; }", "if ? { read y; }").replace("OpMemoryBarrier", "// ");
    assert_eq!(rules(&agree(&relaxed.replace("AcquireRelease|", "Release|"))), ["missing-fence"]);
}

/// Two rings of one producer and two consumers each.
const RINGS: &str = "target ptx; cta 192; shared a, b;
    warp 0 { for i in 0..3 { if i > 0 { bar.sync 1, 96; } write a; bar.arrive 0, 96; } }
    warps 1..3 { for i in 0..3 { bar.sync 0, 96; if ? { read a; } if i < 2 { bar.arrive 1, 96; } } }
    warp 3 { for i in 0..2 { if i > 0 { bar.sync 3, 96; } write b; bar.arrive 2, 96; } }
    warps 4..6 { let d = 0; for i in 0..2 { bar.sync 2, 96; if ? { read b; d = 1; }
        if d == 1 { bar.sync 4, 64; } else { bar.arrive 4, 64; } if i < 1 { bar.arrive 3, 96; } } }";

#[test]
fn parts_that_share_nothing_are_decided_one_by_one() {
    let settings = Settings { by_location: ByLocation::Always, ..Settings::default() };
    let outcome = decide(RINGS, &settings);
    assert_eq!(outcome.verdict, Verdict::Verified);
    is_apart(&outcome, "in 2 parts");
    assert!(outcome.statistics.states < 100, "{}", outcome.statistics.states);
    let small = RINGS.replace("warps 1..3", "warp 1").replace("0, 96", "0, 64").replace("1, 96", "1, 64");
    let small = small.replace("0..3", "0..2");
    is_apart(&agree(&small.replace("warp 3 {", "warp 2 { } warp 3 {")), "parts");
}

#[test]
fn a_part_that_hangs_is_shown_with_the_others_at_their_ends() {
    let broken = RINGS.replace("if i < 2 { bar.arrive 1, 96; }", "");
    let settings = Settings { by_location: ByLocation::Always, ..Settings::default() };
    let outcome = decide(&broken, &settings);
    assert_eq!((outcome.verdict, rules(&outcome)[0]), (Verdict::Violated, "deadlock"));
    walk_all(&broken, &outcome);
    // While the others run for ever nobody is in a deadlock, and one is stuck.
    let small = "target ptx; cta 128;
        warp 0 { if ? { bar.sync 1, 64; } } warp 1 { if ? { bar.sync 1, 64; } }
        warps 2..4 { loop { bar.sync 2, 64; } }";
    assert_eq!(rules(&agree(small)), ["stuck-agent"]);
    assert!(rules(&agree(&small.replace("loop {", "if ? {"))).contains(&"deadlock"));
    // Nor does who waits for a step that ends the path wait for ever in its own part.
    let ended = "target nbarrier; thread_group 3; thread 0 { loop { } }
        threads 1..3 { nbarrier.signal 2, 2, 1, 1; nbarrier.wait 2; }";
    assert_eq!(rules(&agree(ended)), ["arrival-race", "stuck-agent", "too-many-participants"]);
}

#[test]
fn what_may_fail_is_left_to_others() {
    let text = "target ptx; cta 64; shared cell[2];
        warps 0..2 { let x = any 0..3; write cell[warp]; bar.sync 0; if ? { read cell[x]; } }";
    let outcome = agree(text);
    assert_eq!(outcome.verdict, Verdict::Error);
    assert!(!outcome.method.why.contains("decided"), "{}", outcome.method.why);
}

#[test]
fn a_race_that_is_allowed_hides_nothing_where_exits_do_not_count() {
    let text = "target ptx; cta 96; shared stage[2];
        warp 0 { for i in 0..6 {
            if i >= 2 { bar.sync 2 + i % 2, 96; } write stage[i % 2]; bar.arrive i % 2, 96;
        } }
        warps 1..3 { for i in 0..6 {
            bar.sync i % 2, 96; if i < 4 { bar.arrive 2 + i % 2, 96; } read stage[i % 2];
        } }";
    let levels = Levels { changes: vec![(Rule::DataRace, Level::Allow)], ..Levels::default() };
    let outcome = decide(text, &Settings { levels, ..Settings::default() });
    assert_eq!((outcome.verdict, outcome.method.reduction), (Verdict::Verified, Reduction::Schedule));
    let outcome =
        decide(text, &Settings { all: true, reduction: Reduction::Schedule, ..Settings::default() });
    assert_eq!((rules(&outcome), outcome.statistics.complete), (vec!["data-race"], true));
}

#[test]
fn an_error_of_evaluation_is_reported_by_the_one_run_that_comes_to_it() {
    let text = "target ptx; param N = 32; cta 32 * N; shared out[N];
        warps 0..N { for i in 0..8 { bar.sync i % 4, 32 * N; write out[warp + 1]; } }";
    let budgets = Budgets { max_states: Some(1_000), ..Budgets::default() };
    let outcome = decide(text, &Settings { budgets, ..Settings::default() });
    let fault = outcome.fault.as_ref().expect("an error");
    assert_eq!((outcome.verdict, fault.agent.index()), (Verdict::Error, 31));
    // A violation that somebody else comes to is one.
    let violated = text.replace("write out", "if warp < 2 { write out[0]; } write out");
    let outcome = agree(&violated.replace("N = 32", "N = 3"));
    assert!(outcome.verdict == Verdict::Violated && rules(&outcome).contains(&"data-race"));
}

/// Two warps write a tile each time, and one lane of the first copies it out.
const TILES: &str = "target ptx; cta 64; shared stage[2];
    warps 0..2 { for i in 0..2 {
        if ? { write stage[warp]; FENCE }
        bar.sync 3, 64;
        if warp == 0 && lane == 0 {
            for w in 0..2 { cp.async.bulk.global stage[w]; }
            cp.async.bulk.commit_group; WAIT
        }
        bar.sync 1, 64;
    } }";

/// What a copy reads is followed if it is watched; its groups are steps in every slice.
#[test]
fn copies_out_of_shared_memory_are_seen_from_the_locations_that_they_read() {
    let of = |fence: &str, wait: &str| agree(&TILES.replace("FENCE", fence).replace("WAIT", wait));
    let (fence, wait) = ("fence.proxy.async;", "cp.async.bulk.wait_group.read 0;");
    let fixed = of(fence, wait);
    assert_eq!(fixed.verdict, Verdict::Verified);
    is_apart(&fixed, "with each of 2 locations");
    assert_eq!(rules(&of("", wait)), ["missing-fence"]);
    assert_eq!(rules(&of(fence, "")), ["data-race", "in-flight-at-exit"]);
    // Somebody who accesses nothing fences what others have written.
    let third =
        "warp 2 { for i in 0..2 { bar.sync 2, 96; fence.proxy.async; bar.sync 3, 96; bar.sync 1, 96; } }";
    let by_third = |text: &str| {
        let text = text.replace("cta 64", "cta 96").replace(", 64", ", 96");
        format!("{} {third}", text.replace("bar.sync 3", "bar.sync 2, 96; bar.sync 3"))
    };
    let fenced = by_third(&TILES.replace("FENCE", "").replace("WAIT", wait));
    assert_eq!(agree(&fenced).verdict, Verdict::Verified);
    assert_eq!(rules(&agree(&fenced.replace("fence.proxy.async;", ""))), ["missing-fence"]);
}
