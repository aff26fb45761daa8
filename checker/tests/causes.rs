//! The first line of a hang names who is to blame, and what it did instead.

use barcheck::{Decision, Options, Source, decide};
use barcheck_counterexamples::{Format, convert};

fn decided(text: &str) -> Decision {
    decide(&Source::new("k.bar", text.as_bytes()), &Options::default())
}

/// The message of the only finding, without places.
fn headline(text: &str) -> String {
    let decision = decided(text);
    assert!(decision.defects.is_empty(), "{:?}", decision.defects);
    let [found] = &decision.findings[..] else { panic!("{:?}", decision.findings) };
    found.trace.outcome.headline.clone()
}

const RING: &str = "target ptx; param ROUNDS = 8; cta 256;
warps 0..4 as producer {
    for i in 0..ROUNDS {
        if i >= 2 { bar.sync 3 + i % 2, 256; }
        bar.arrive 1 + i % 2, 256;
    }
}
warps 4..8 as consumer {
    for i in 0..ROUNDS {
        bar.sync 1 + i % 2, 256;
        if i + 2 < ROUNDS {
            if warp != 6 || i != 3 { bar.arrive 3 + i % 2, 256; }
        }
    }
}
";

#[test]
fn a_consumer_that_forgets_one_arrive_is_named_before_those_who_wait() {
    assert_eq!(
        headline(RING),
        "deadlock: warp 6 went on to barrier 1 without its 2nd arrival on barrier 4; warps 0-3 wait on barrier 4 \
         (224 of 256 threads arrived)"
    );
    let decision = decided(RING);
    let first = &decision.findings[0].trace.outcome.related[0];
    assert_eq!((first.agent, first.line), (6, 10), "its place comes first");
    assert_eq!(first.role, "warp 6 went on here, without arriving on barrier 4");
}

#[test]
fn a_warp_that_leaves_its_loop_early_is_named_and_so_are_its_siblings() {
    let text = "target ptx; cta 1024;
warps 0..32 {
    let last = 8;
    if warp == 17 { last = 7; }
    for t in 0..last { bar.sync 8, 1024; }
    bar.sync 9, 1024;
}
";
    assert_eq!(
        headline(text),
        "deadlock: warp 17 went on to barrier 9 without its 8th arrival on barrier 8; warps 0-16 and 18-31 \
         wait on barrier 8 (992 of 1024 threads arrived)"
    );
    let decision = decided(text);
    let why = &decision.findings[0].trace.outcome.explanation;
    let siblings =
        "Warps 0-16 and 18-31, which run the same code as warp 17, arrived on barrier 8 for the 8th time";
    assert!(why.contains(siblings), "{why}");
}

#[test]
fn whoever_exits_early_is_named_with_how_often_it_came() {
    let text = "target ptx; cta 128;
warps 0..4 {
    let rounds = 3;
    if warp == 2 { rounds = 2; }
    for i in 0..rounds { bar.sync 1, 128; }
}
";
    assert_eq!(
        headline(text),
        "deadlock: warp 2 exited after 2 arrivals on barrier 1; warps 0, 1 and 3 wait on barrier 1 (96 of 128 \
         threads arrived)"
    );
    let producer = "target ptx; cta 64;
warp 0 { for i in 0..2 { bar.arrive 1, 64; bar.sync 2, 64; } }
warp 1 { for i in 0..3 { bar.sync 1, 64; bar.arrive 2, 64; } }
";
    assert_eq!(
        headline(producer),
        "deadlock: warp 0 exited after 2 arrivals on barrier 1; warp 1 waits on barrier 1 (32 of 64 threads \
         arrived)"
    );
}

#[test]
fn one_that_comes_once_more_than_all_its_siblings_is_named() {
    let text = "target ptx; cta 128;
warps 0..4 {
    let rounds = 2;
    if warp == 3 { rounds = 3; }
    for i in 0..rounds { bar.sync 1, 128; }
}
";
    assert_eq!(
        headline(text),
        "deadlock: warp 3 came to barrier 1 a 3rd time; it waits on barrier 1 (32 of 128 threads arrived)"
    );
}

/// The headline of a protocol of the library.
fn headline_of(file: &str) -> String {
    let path = format!("{}/../specs/protocols/{file}", env!("CARGO_MANIFEST_DIR"));
    headline(&std::fs::read_to_string(path).expect("a protocol of the library"))
}

#[test]
fn what_nothing_can_complete_any_more_comes_before_those_who_wait_for_it() {
    let bytes = headline_of("ptx/mbarrier_missing_bytes_broken.bar");
    assert!(
        bytes.starts_with(
            "deadlock: 2048 of 4096 bytes are missing on full[0], and nothing is in flight; warps 1 and 2 wait"
        ),
        "{bytes}"
    );
    assert_eq!(
        headline_of("ptx/fragments_at_two_barriers.bar"),
        "deadlock: lanes of warp 0 are apart: lanes 0-15 wait on barrier 1 and lanes 16-31 wait on barrier 2"
    );
    let past = headline_of("bcu/state_restored_full.bar");
    assert!(
        past.starts_with("deadlock: barrier 0 is past its count, 64 > 32 threads; warp 0 waits"),
        "{past}"
    );
    assert_eq!(
        headline_of("ptx/setmaxnreg_too_many_broken.bar"),
        "deadlock: warp 3 waits on the register pool (112 registers wanted, 96 free)"
    );
}

#[test]
fn whoever_left_is_told_from_those_who_have_arrived_in_the_phase() {
    assert_eq!(
        headline_of("ptx/mbarrier_torn_decision_broken.bar"),
        "deadlock: warp 0 found `?` false and exited without arriving on done; warp 1 waits on done (1 of 2 arrivals \
         made)"
    );
}

/// Two that wait for each other have parted from nobody: neither is to blame more than the other.
#[test]
fn of_two_in_a_circle_nobody_is_blamed() {
    let text = "target ptx; cta 64;
warps 0..2 {
    if warp == 0 { bar.sync 1, 64; bar.sync 2, 64; } else { bar.sync 2, 64; bar.sync 1, 64; }
}
";
    assert_eq!(
        headline(text),
        "deadlock: warp 0 waits on barrier 1 (32 of 64 threads arrived); warp 1 waits on barrier 2 (32 of 64 \
         threads arrived): they wait for each other"
    );
}

/// Half of a block on one barrier and half on another is how such blocks are written.
#[test]
fn halves_of_a_block_are_not_blamed_for_being_on_barriers_of_their_own() {
    let text = "target ptx; cta 160;
warps 0..4 { bar.sync 1 + warp / 2, 96; }
warp 4 { bar.sync 1, 96; }
";
    assert_eq!(
        headline(text),
        "deadlock: warps 2 and 3 wait on barrier 2 (64 of 96 threads arrived); no warp is left that could arrive: \
         64 < 96 threads"
    );
}

#[test]
fn what_is_out_of_range_is_told_with_what_is_right() {
    let of = |statement: &str| headline(&format!("target ptx; cta 64; warps 0..2 {{ {statement} }}"));
    assert_eq!(
        of("bar.sync 64, 1;"),
        "barrier-id-range: warp 0 executes barrier id 64 in `bar.sync 64, 1`: there are 16 barriers, 0 to 15; \
         its operands look swapped"
    );
    assert_eq!(
        of("bar.sync 1, 2;"),
        "count-range: warp 0 executes count 2 in `bar.sync 1, 2`: a count is a positive multiple of 32, and at \
         most the 64 threads of the CTA in whole warps; 2 warps are 64 threads"
    );
}

/// Who has no statement on a barrier is not missed there; the sum says why the rest cannot be enough.
#[test]
fn where_too_few_can_ever_arrive_the_sum_is_told() {
    let text = "target ptx; cta 256;
warps 0..2 { bar.sync 1, 256; }
warps 2..4 { for i in 0..2 { bar.sync 2 + i % 2, 64; } bar.sync 1, 256; }
warps 4..6 { bar.sync 4, 128; bar.sync 1, 256; }
warps 6..8 { bar.sync 5, 64; }
";
    let decision = decided(text);
    let trace = &decision.findings[0].trace;
    assert_eq!(
        trace.outcome.headline,
        "deadlock: warps 0 and 1 wait on barrier 1 (128 of 256 threads arrived); only 6 of 8 warps can ever \
         arrive: 128 + 64 < 256 threads; missing: warps 4 and 5, which wait on barrier 4"
    );
    let missing = |barrier: u32| trace.last_situation().barriers[&barrier].missing.clone();
    assert_eq!(missing(1), [4, 5], "warps 6 and 7 never use it");
    assert!(missing(4).is_empty(), "what others compute cannot be 4");
    assert!(trace.outcome.explanation.contains("2 are left that could: the count cannot be reached"));
}

#[test]
fn whoever_leaves_others_stuck_while_some_run_on_is_named() {
    let text = "target ptx; cta 160; global x;
warps 0..4 as worker {
    if warp != 1 && warp != 3 { bar.arrive 1, 128; }
    bar.sync 3, 128;
    if warp == 3 { bar.sync 1, 128; }
}
warp 4 as poller { loop { atomic x; } }
";
    assert_eq!(
        headline(text),
        "stuck-agent: warp 1 went on to barrier 3 without its 1st arrival on barrier 1; warp 3 waits on barrier 1 \
         (96 of 128 threads arrived) for ever, while warp 4 goes on in a cycle"
    );
}

/// Of 32 warps the picture has no room for all; who is to blame has a place in each, and is marked there.
#[test]
fn whoever_is_to_blame_is_marked_in_every_picture() {
    let decision = decided(include_str!("hangs/a_tile_early.bar"));
    let trace = &decision.findings[0].trace;
    assert_eq!(trace.outcome.blamed, [17]);
    let picture = |format| convert(trace, format, None).expect("it can be drawn");
    let dot = picture(Format::Dot);
    let node = dot.lines().find(|line| line.contains("to blame")).expect("a node");
    assert!(node.contains("warp 17") && node.contains("color=red"), "{node}");
    let mermaid = picture(Format::Mermaid);
    let named = mermaid.lines().find(|line| line.contains("to blame")).expect("a participant");
    assert!(named.contains("warp 17"), "{named}");
    let svg = picture(Format::Svg);
    let marked: Vec<&str> = svg.split("class=\"head bad\"").skip(1).collect();
    assert_eq!(marked.len(), 1, "one name is marked");
    let name = marked[0].split(['>', '<']).nth(1).expect("a text");
    assert!(["w17", "17"].contains(&name), "{name}");
}

/// The two accesses of a race are joined by a line, wherever a counterexample is drawn.
#[test]
fn two_accesses_that_nothing_orders_are_joined_in_every_picture() {
    let decision = decided(
        "target ptx; cta 96; shared s;\nwarp 0 { write s; }\nwarps 1..3 { bar.sync 1, 64; read s; }\n",
    );
    let trace = &decision.findings[0].trace;
    assert_eq!(trace.outcome.rule.as_deref(), Some("data-race"));
    let picture = |format| convert(trace, format, None).expect("it can be drawn");
    let svg = picture(Format::Svg);
    assert!(svg.contains("<g class=\"race\"><title>s: no barrier orders the two</title>"), "{svg}");
    let dot = picture(Format::Dot);
    let edge = dot.lines().find(|line| line.contains("->") && line.contains("write and read of s"));
    assert!(edge.is_some_and(|edge| edge.contains("no barrier orders the two")), "{dot}");
    let mermaid = picture(Format::Mermaid);
    assert!(mermaid.contains("A0->>A2: write and read of s: no barrier orders the two"), "{mermaid}");
}

/// The whole explanations of the findings of a rule.
fn explained(text: &str, rule: &str) -> String {
    let mut options = Options::default();
    options.settings.all = true;
    let decision = decide(&Source::new("k.bar", text.as_bytes()), &options);
    let found = decision.findings.iter().filter(|found| found.rule.name() == rule);
    let all: Vec<&str> = found.map(|found| found.trace.outcome.explanation.as_str()).collect();
    assert!(!all.is_empty(), "{:?}", decision.findings);
    all.join(" ").replace('\n', " ")
}

/// A ring of two stages, whose producer waits from this round on.
fn ring_that_waits_from(round: &str) -> String {
    format!(
        "target ptx; cta 64; const S = 2; shared s[2]; mbarrier full[2] count 1, empty[2] count 1;
warp 0 {{
    for i in 0..4 {{
        if i {round} {{ mbarrier.wait.parity empty[i % S], (i / S - 1) & 1; }}
        if lane == 0 {{
            mbarrier.arrive.expect_tx full[i % S], 64;
            cp.async.bulk s[i % S], 64, full[i % S];
        }}
    }}
}}
warp 1 {{
    for i in 0..4 {{
        mbarrier.wait.parity full[i % S], (i / S) & 1;
        read s[i % S];
        if lane == 0 {{ mbarrier.arrive empty[i % S]; }}
    }}
}}
"
    )
}

#[test]
fn whoever_arrives_again_before_the_phase_is_over_is_told_to_wait() {
    let decision = decided(&ring_that_waits_from(">= S"));
    assert!(decision.findings.is_empty(), "{:?}", decision.findings);
    let told = explained(&ring_that_waits_from("> S"), "over-arrival");
    assert!(told.contains("that phase is not over: nothing makes it wait"), "{told}");
    assert!(!told.contains("Every lane"), "one lane arrives: {told}");
    let all = ring_that_waits_from("> S")
        .replace("if lane == 0 {\n            mbarrier", "if lane < 2 {\n            mbarrier");
    assert!(explained(&all, "over-arrival").contains("Every lane"), "two lanes arrive");
}

#[test]
fn a_copy_that_comes_before_the_reader_of_the_last_one_is_done_is_the_one_to_wait() {
    let text = ring_that_waits_from("> S").replace(
        "arrive.expect_tx full[i % S], 64;",
        "expect_tx full[i % S], 64; mbarrier.arrive full[i % S];",
    );
    let told = explained(&text, "data-race");
    assert!(
        told.contains("comes to what that one brought: nothing makes warp 0 wait with the next copy"),
        "{told}"
    );
    let forgets = text.replace("> S", ">= S").replace("mbarrier.wait.parity full[i % S], (i / S) & 1;", "");
    let told = explained(&forgets, "data-race");
    assert!(told.contains("Nothing makes warp 1 wait until the copy has landed"), "{told}");
}

#[test]
fn a_copy_that_its_phase_did_not_wait_for_is_told_from_one_round_too_many() {
    let copy = |announces: &str| {
        format!(
            "target ptx; cta 64; mbarrier b count 1;
warp 0 {{ if lane == 0 {{ {announces} }} }}
warp 1 {{ mbarrier.wait.parity b, 0; }}
"
        )
    };
    let late = "mbarrier.arrive b; mbarrier.expect_tx b, 64; cp.async.bulk _, 64, b;";
    let told = explained(&copy(late), "in-flight-at-exit");
    assert!(told.contains("before the bytes of the copy were announced"), "{told}");
    let more = "mbarrier.arrive.expect_tx b, 64; cp.async.bulk _, 64, b; cp.async.bulk _, 32, b;";
    let told = explained(&copy(more), "in-flight-at-exit");
    assert!(told.contains("fewer bytes are announced for a phase than are copied for it"), "{told}");
    let twice = "mbarrier.arrive.expect_tx b, 64; cp.async.bulk _, 64, b; mbarrier.wait.parity b, 0;
mbarrier.arrive.expect_tx b, 64; cp.async.bulk _, 64, b;";
    let told = explained(&copy(twice), "in-flight-at-exit");
    assert!(told.contains("one round less than warp 0"), "{told}");
}

#[test]
fn an_exit_is_no_arrival_on_an_object_and_what_lowers_its_count_is_named() {
    let text = "target ptx; cta 64; mbarrier b count 2;
warp 0 { if lane == 0 { mbarrier.arrive b; } mbarrier.wait.parity b, 0;
    if lane == 0 { mbarrier.arrive b; } mbarrier.wait.parity b, 1; }
warp 1 { if lane == 0 { mbarrier.arrive b; } mbarrier.wait.parity b, 0; }
";
    assert!(explained(text, "deadlock").contains("arrives by `mbarrier.arrive_drop`"));
}

/// A pair of CTAs of which each gives its stage back to the other.
const PAIR: &str = "target ptx; cluster 2; cta 96; param T = 3;
shared a[2];
mbarrier full count 1, empty count 4;
warp 0 as load {
    let p = 1;
    barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
    for t in 0..T {
        mbarrier.wait.parity empty, p;
        if lane == 0 {
            mbarrier.arrive.expect_tx full, 64;
            cp.async.bulk.tensor.multicast::cluster a[cluster_ctarank], 32, full, 3;
        }
        p = p ^ 1;
    }
    barrier.cluster.arrive; barrier.cluster.wait;
}
warps 1..3 as math {
    let p = 0;
    barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
    for t in 0..T {
        mbarrier.wait.parity full, p;
        read a[0];
        read a[1];
        if lane == 0 { mbarrier.arrive.release.cluster empty @ cta cluster_ctarank ^ 1; }
        p = p ^ 1;
    }
    barrier.cluster.arrive; barrier.cluster.wait;
}
";

#[test]
fn who_copies_to_several_ctas_has_not_passed_by_its_own_arrival() {
    let headline = headline(PAIR);
    assert!(!headline.contains("passed by"), "{headline}");
    assert!(headline.contains("on empty of cta 0 (2 of 4 arrivals made)"), "{headline}");
}

/// Whoever is done gives the stage back in a block of its own.
const IN_A_BLOCK: &str = "target ptx; cta 64; param T = 4;
mbarrier full[2] count 1, empty[2] count 1, round count 1;
block meet(p) {
    mbarrier.wait.parity round, p;
}
warp 0 as load {
    let s = 0; let p = 1; let r = 0;
    for t in 0..T {
        mbarrier.wait.parity empty[s], p;
        if lane == 0 { mbarrier.arrive full[s]; mbarrier.arrive round; }
        advance s, p, 2;
    }
}
warp 1 as math {
    let s = 0; let p = 0; let r = 0;
    for t in 0..T {
        mbarrier.wait.parity full[s], p;
        advance s, p, 2;
        if lane == 0 { mbarrier.arrive empty[s]; }
        meet(r);
        r = r ^ 1;
    }
}
";

#[test]
fn what_stands_behind_the_use_of_a_block_has_not_been_passed_by() {
    let headline = headline(IN_A_BLOCK);
    assert!(!headline.contains("passed by"), "{headline}");
}
