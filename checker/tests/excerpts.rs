//! Paths that are too long to be written down whole: their excerpts say what the whole says.

use barcheck::{Found, Quiet, Settings, check};
use barcheck_counterexamples::trace::Outcome;
use barcheck_counterexamples::{
    Limits, SourceInfo, Style, Trace, What, Why, build, counterexample_within, narrative,
};
use barcheck_model::machine::Options;
use barcheck_model::program::Program;
use barcheck_model::rule::Rule;
use barcheck_specs::bar::{LoadOptions, load};
use std::cell::Cell;
use std::sync::Arc;

/// The consumers make one round less.
const SHORT_RING: &str = "target ptx; param I = 700; cta 128;
    warp 0 as producer { for i in 0..I { if i >= 4 { bar.sync 2 * (i % 4) + 1, 128; } \
    bar.arrive 2 * (i % 4), 128; } }
    warps 1..4 as consumer { for i in 0..I - 1 { bar.sync 2 * (i % 4), 128; \
    if i + 4 < I - 1 { bar.arrive 2 * (i % 4) + 1, 128; } } }";
/// What is left on barrier 1 came early, and what follows is long.
const LEFT_OVER_EARLY: &str = "target ptx; cta 96;
    warps 0..3 { for i in 0..300 { bar.sync 0; } if warp == 0 { bar.arrive 1, 64; } \
    for i in 0..900 { bar.sync 2, 96; } }";
/// Agents are missing that came long ago, and one that exited long ago.
const GONE_EARLY: &str = "target ptx; cta 128;
    warps 0..3 { for i in 0..400 { bar.sync 1, 96; } bar.sync 2, 128; for i in 0..600 { bar.sync 1, 96; } \
    if warp > 0 { bar.sync 2, 128; } }
    warp 3 { bar.sync 2, 128; }";
/// One of many consumers leaves out its last rounds.
const OF_TWO_SIZES: &str = "target ptx; cta 256; mbarrier full[4] count 64, empty[4] count 192;
    warps 0..2 { for t in 0..120 { mbarrier.wait.parity empty[t % 4], ((t / 4) + 1) % 2; \
    mbarrier.arrive full[t % 4]; } }
    warps 2..8 { for t in 0..120 { if t < 115 || warp > 2 { mbarrier.wait.parity full[t % 4], (t / 4) % 2; \
    mbarrier.arrive empty[t % 4]; } } }";
/// A long way to a cycle.
const LONG_STEM: &str = "target ptx; cta 96; shared a[1];
    warps 0..2 { for i in 0..900 { bar.sync 1, 64; } if warp == 0 { bar.sync 2, 96; } \
    else { loop { atomic a[0]; } } }
    warp 2 { }";
/// The accesses are far from one another.
const FAR_APART: &str = "target ptx; cta 96; shared a[1];
    warp 0 { write a[0]; bar.sync 3, 64; }
    warps 1..3 { for i in 0..1500 { bar.sync 1, 64; } if warp == 1 { bar.sync 3, 64; } else { write a[0]; } }";

fn program(text: &str) -> Arc<Program> {
    Arc::new(load(text.as_bytes(), &LoadOptions::default()).expect("a valid protocol").program)
}

fn found(program: &Arc<Program>) -> Vec<Found> {
    let settings = Settings::default();
    check(Arc::clone(program), Options::default(), &settings, &Quiet).findings
}

/// Whether words go back over steps that an excerpt leaves out.
const WITH_SKETCHES: u64 = u64::MAX;
const WITHOUT_SKETCHES: u64 = 0;

fn whole_and_excerpt(program: &Arc<Program>, found: &Found, bytes: u64) -> (Trace, Trace) {
    let (options, source) = (Options::default(), SourceInfo::default());
    let what = What::Finding(&found.finding, found.level);
    let whole = build(Arc::clone(program), options, &source, &found.path, what).expect("it holds");
    let limits = Limits { steps: 0, bytes, ..Limits::NONE };
    let excerpt = counterexample_within(program, options, &source, &found.path, what, &limits);
    let excerpt = excerpt.expect("it holds");
    let left_out = excerpt.left_out.expect("it is long");
    assert_eq!(left_out.why, Why::Length(0));
    assert_eq!((left_out.of, left_out.of - left_out.steps), (whole.steps.len(), excerpt.trace.steps.len()));
    (whole, excerpt.trace)
}

fn without_words(trace: &Trace) -> Outcome {
    let (headline, message, explanation) = Default::default();
    Outcome {
        headline,
        message,
        explanation,
        related: Vec::new(),
        blamed: Vec::new(),
        ..trace.outcome.clone()
    }
}

/// A narrative from its second line to what it concludes.
fn before_why(narrative: &str) -> String {
    let rows =
        narrative.lines().skip_while(|line| !line.starts_with("step")).take_while(|line| *line != "why");
    rows.collect::<Vec<_>>().join("\n")
}

#[test]
fn an_excerpt_tells_what_the_whole_tells() {
    for text in [SHORT_RING, LEFT_OVER_EARLY, GONE_EARLY, LONG_STEM, OF_TWO_SIZES] {
        let program = program(text);
        let all = found(&program);
        assert!(!all.is_empty(), "{text}");
        for found in &all {
            let (whole, excerpt) = whole_and_excerpt(&program, found, WITH_SKETCHES);
            if matches!(found.finding.rule, Rule::Deadlock | Rule::StuckAgent) {
                assert_eq!(excerpt.outcome, whole.outcome, "{text}");
            }
            let briefly = whole_and_excerpt(&program, found, WITHOUT_SKETCHES).1;
            // How often agents have come, and with it who is to blame, only the whole tells.
            assert_eq!(without_words(&briefly), without_words(&whole), "{text}");
            for sentence in briefly.outcome.explanation.lines().map(|line| line.trim_end_matches('.')) {
                let mut of_whole = whole.outcome.explanation.lines();
                assert!(of_whole.any(|of_whole| of_whole.starts_with(sentence)), "{sentence}");
            }
            assert_eq!((&briefly.steps, &briefly.barriers), (&excerpt.steps, &excerpt.barriers), "{text}");
            assert_eq!(without_words(&excerpt), without_words(&whole), "{text}");
            for sentence in excerpt.outcome.explanation.lines() {
                assert!(whole.outcome.explanation.lines().any(|of_whole| of_whole == sentence), "{sentence}");
            }
            assert_eq!(excerpt.length(), whole.steps.len());
            assert_eq!((&excerpt.barriers, &excerpt.initial), (&whole.barriers, &whole.initial));
            assert_eq!(excerpt.last_situation(), whole.last_situation(), "{text}");
            let style = Style { width: 100, ..Style::default() };
            assert_eq!(before_why(&narrative(&excerpt, &style)), before_why(&narrative(&whole, &style)));
            for step in &excerpt.steps {
                let same = &whole.steps[step.index];
                assert_eq!((&step.resolved, &step.events), (&same.resolved, &same.events));
                assert_eq!(excerpt.steps.iter().filter(|other| other.index == step.index).count(), 1);
            }
        }
    }
}

#[test]
fn who_left_out_the_last_rounds_of_a_long_ring_is_named() {
    let program = program(OF_TWO_SIZES);
    let (_, excerpt) = whole_and_excerpt(&program, &found(&program)[0], WITH_SKETCHES);
    assert!(excerpt.is_excerpt());
    let message = &excerpt.outcome.message;
    assert!(message.starts_with("warp 2 exited at :3 after 28 arrivals on empty[3]"), "{message}");
}

#[test]
fn an_excerpt_claims_nothing_of_steps_that_it_has_not() {
    let program = program(FAR_APART);
    let all = found(&program);
    let race = all.iter().find(|found| found.finding.rule.name() == "data-race").expect("a race");
    let (whole, excerpt) = whole_and_excerpt(&program, race, WITH_SKETCHES);
    assert_eq!(excerpt.outcome.message, whole.outcome.message);
    assert!(excerpt.outcome.explanation.lines().all(|line| whole.outcome.explanation.contains(line)));
    let claims = |trace: &Trace| trace.outcome.explanation.contains("in between");
    assert!(claims(&whole) && !claims(&excerpt), "{}", excerpt.outcome.explanation);
}

#[test]
fn an_excerpt_is_no_trace_that_could_be_read() {
    let program = program(SHORT_RING);
    let (whole, excerpt) = whole_and_excerpt(&program, &found(&program)[0], WITH_SKETCHES);
    assert!(excerpt.is_excerpt() && !whole.is_excerpt());
    let json = excerpt.to_json().expect("it can be written");
    assert!(Trace::from_json(&json).is_err());
}

#[test]
fn memory_and_time_make_an_excerpt_of_what_would_be_whole() {
    let program = program(SHORT_RING);
    let found = &found(&program)[0];
    let what = What::Finding(&found.finding, found.level);
    let within = |limits: &Limits<'_>| {
        let source = SourceInfo::default();
        counterexample_within(&program, Options::default(), &source, &found.path, what, limits)
            .expect("it holds")
            .left_out
            .map(|left_out| left_out.why)
    };
    assert_eq!(within(&Limits::NONE), None);
    assert_eq!(within(&Limits { bytes: 100_000, ..Limits::NONE }), Some(Why::Memory));
    assert_eq!(within(&Limits { goes_on: &|| false, ..Limits::NONE }), Some(Why::Time));
    let asked = Cell::new(0);
    let later = || asked.replace(asked.get() + 1) < 2;
    assert_eq!(within(&Limits { goes_on: &later, ..Limits::NONE }), Some(Why::Time));
}
