//! A wait by parity that comes two phases late is named as what led to the violation.

use barcheck::{Decision, Options, Settings, Source, decide};
use barcheck_model::rule::Rule;

fn all() -> Options {
    Options { settings: Settings { all: true, ..Settings::default() }, ..Options::default() }
}

/// The explanation of the finding of a rule.
fn why(text: &str, rule: Rule) -> String {
    let Decision { defects, findings, .. } = decide(&Source::new("k.bar", text.as_bytes()), &all());
    assert!(defects.is_empty(), "{defects:?}");
    let found = findings.iter().find(|found| found.trace.outcome.rule.as_deref() == Some(rule.name()));
    found.expect("the rule is violated").trace.outcome.explanation.replace('\n', " ")
}

fn contains(why: &str, says: &str) {
    assert!(why.contains(says), "{why}");
}

/// Warp 1 is told of both phases, and warp 2 looks for the first only when both are complete.
const TWO_BEHIND: &str = "target ptx; cta 96;
mbarrier full count 1;
warp 0 {
    for i in 0..2 { if lane == 0 { mbarrier.arrive full; } mbarrier.wait.parity full, i & 1; }
    bar.arrive 1, 64;
}
warp 1 { }
warp 2 { bar.sync 1, 64; for i in 0..2 { mbarrier.wait.parity full, i & 1; } }
";

#[test]
fn a_reader_two_phases_behind_waits_for_ever() {
    let why = why(TWO_BEHIND, Rule::Deadlock);
    contains(
        &why,
        "Warp 2 waited for phase 0 of full at k.bar:8 (step 8), which had already been followed by two more: \
         the parity looked the same.",
    );
}

/// One that is one phase behind passes, and is told nothing.
#[test]
fn a_reader_one_phase_behind_is_not_late() {
    let text = TWO_BEHIND.replace("0..2 { if", "0..1 { if");
    let why = why(&text, Rule::Deadlock);
    assert!(!why.contains("followed by"), "{why}");
}

/// The scheduler, which looks at its own phases, laps the worker: a ring of one slot that nobody gives back.
#[test]
fn a_producer_that_laps_its_consumer_leaves_it_behind() {
    let text = "target ptx; cta 64;
mbarrier given count 1;
warp 0 { for i in 0..4 { if lane == 0 { mbarrier.arrive given; } mbarrier.wait.parity given, i & 1; } }
warp 1 { for i in 0..4 { mbarrier.wait.parity given, i & 1; } }
";
    let why = why(text, Rule::Deadlock);
    contains(&why, "had already been followed by");
    contains(&why, ": the parity looked the same.");
}

/// The consumer passes with the parity of a phase that it has missed, and reads what is written anew.
#[test]
fn a_race_behind_a_wait_that_passed_too_late_names_the_wait() {
    let text = "target ptx; cta 64; shared x;
mbarrier full count 1;
warp 0 {
    for i in 0..3 { write x; if lane == 0 { mbarrier.arrive full; } mbarrier.wait.parity full, i & 1; }
    bar.arrive 1, 64;
    write x;
}
warp 1 { bar.sync 1, 64; mbarrier.wait.parity full, 0; read x; }
";
    contains(
        &why(text, Rule::DataRace),
        "Warp 1 waited for phase 0 of full at k.bar:8 (step 12), which had already been followed by three \
         more: the parity looked the same.",
    );
}

/// The consumer, late for a phase, is told of a later one, and the producer takes it to be in time.
#[test]
fn a_phase_that_nobody_has_seen_names_who_was_late_before() {
    let text = "target ptx; cta 64;
mbarrier full count 1;
warp 0 {
    for i in 0..2 { if lane == 0 { mbarrier.arrive full; } mbarrier.wait.parity full, i & 1; }
    bar.arrive 1, 64;
    if lane == 0 { mbarrier.arrive full; }
    bar.sync 2, 64;
    if lane == 0 { mbarrier.arrive full; mbarrier.arrive full; }
}
warp 1 { bar.sync 1, 64; mbarrier.wait.parity full, 0; bar.arrive 2, 64; }
";
    contains(&why(text, Rule::UnobservedPhase), "Warp 1 waited for phase 0 of full");
}

/// Who waits again with the parity of a phase that it has seen asks for the one after the next.
#[test]
fn a_wait_for_a_phase_that_was_seen_before_is_late_too() {
    let text = "target ptx; cta 64;
mbarrier full count 1;
warp 0 {
    for i in 0..2 {
        if lane == 0 { mbarrier.arrive full; }
        mbarrier.wait.parity full, i & 1;
        if i == 0 { bar.sync 2, 64; }
    }
    bar.arrive 1, 64;
}
warp 1 { mbarrier.wait.parity full, 0; bar.sync 2, 64; bar.sync 1, 64; mbarrier.wait.parity full, 0; }
";
    contains(
        &why(text, Rule::Deadlock),
        "which it had seen complete and which had already been followed by two more: the parity looked the \
         same.",
    );
}

/// A token names one phase, however many have come and gone before the arrival.
#[test]
fn a_wait_by_token_is_never_late() {
    let text = "target ptx; cta 64;
mbarrier full count 1;
warp 0 {
    for i in 0..3 { if lane == 0 { mbarrier.arrive full; } mbarrier.wait.parity full, i & 1; }
    bar.arrive 1, 64;
}
warp 1 {
    bar.sync 1, 64;
    if lane == 0 { let t = mbarrier.arrive full; mbarrier.wait full, t; }
    bar.sync 2, 64;
}
";
    let why = why(text, Rule::Deadlock);
    assert!(!why.contains("followed by"), "{why}");
}

/// In a second life everything begins anew.
#[test]
fn phases_of_an_earlier_life_do_not_count() {
    let text = "target ptx; cta 64;
mbarrier full;
warp 0 {
    for life in 0..2 {
        if lane == 0 { mbarrier.init full, 1; }
        bar.sync 3, 64;
        for i in 0..3 { if lane == 0 { mbarrier.arrive full; } mbarrier.wait.parity full, i & 1; }
        bar.sync 3, 64;
        if life == 0 { if lane == 0 { mbarrier.inval full; } }
    }
}
warp 1 {
    for life in 0..2 { bar.sync 3, 64; bar.sync 3, 64; }
    mbarrier.wait.parity full, 0;
    mbarrier.wait.parity full, 1;
    mbarrier.wait.parity full, 1;
}
";
    let why = why(text, Rule::Deadlock);
    contains(&why, "Warp 1 waited for phase 0 of full at k.bar:14");
    contains(&why, "by three more");
    contains(&why, "for phase 3 of full, whose parity is 1");
}
