//! What follows from what engines say.

use super::*;
use crate::settings::{Quiet, Settings};
use crate::verdict::Found;
use barcheck_model::machine::{Detail, Finding, Options, Path};
use barcheck_model::rule::Rule;
use std::sync::Arc;
use std::time::Instant;

/// What becomes of an answer about a protocol in which nothing is violated.
fn about_a_correct_protocol<T>(all: bool, ask: impl FnOnce(&Question<'_>) -> T) -> T {
    let text = b"target ptx; cta 64; warps 0..2 { bar.sync 0; }";
    let loaded = barcheck_specs::bar::load(text, &barcheck_specs::LoadOptions::default());
    let program = Arc::new(loaded.expect("a valid protocol").program);
    let settings = Settings { all, ..Settings::default() };
    let (options, started) = (Options::default(), Instant::now());
    let patience = barcheck_model::Patience::default();
    let slice = None;
    ask(&Question { program, options, settings: &settings, control: &Quiet, started, patience, slice })
}

fn found(level: Level) -> Found {
    let finding = Finding {
        rule: Rule::Deadlock,
        agent: AgentId(0),
        pc: Pc(0),
        agents: Default::default(),
        barrier: None,
        detail: Detail::None,
    };
    Found { finding, level, path: Path { steps: Vec::new(), cycle_from: None } }
}

fn method(why: &str) -> Method {
    Method { engine: Engine::Schedule, reduction: Reduction::Schedule, whole: true, why: why.to_owned() }
}

/// An engine that has always the same to say.
struct Parrot(Vec<Found>);

impl Decider for Parrot {
    fn may_decide(&self, _: &Declined) -> bool {
        true
    }

    fn decide(&self, question: &Question<'_>, _: Option<&Declined>) -> Said {
        let answer = Answer::Violated(self.0.clone(), Statistics::default());
        said(question, &question.machine(), answer, &|_| method("some"))
    }
}

#[test]
fn a_violation_that_nothing_shows_is_left_to_a_search_or_to_the_user() {
    for findings in [Vec::new(), vec![found(Level::Warning)]] {
        about_a_correct_protocol(false, |question| {
            let engine = Parrot(findings);
            let outcome = alone(question, &engine);
            assert_eq!(outcome.verdict, Verdict::Inconclusive);
            assert!(matches!(outcome.inconclusive, Some(Inconclusive::Undecided(_))));
            let Said::WhyNot(declined) = engine.decide(question, None) else { panic!("nothing shows it") };
            assert!(!EachOutcome.may_decide(&declined));
            let outcome = search_after(question, &declined);
            assert_eq!((outcome.verdict, outcome.method.engine), (Verdict::Verified, Engine::Search));
            assert!(outcome.statistics.complete && outcome.findings.is_empty());
        });
    }
}

#[test]
fn what_has_not_been_covered_is_not_verified() {
    let statistics = Statistics::default();
    let outcome = about_a_correct_protocol(false, |question| {
        outcome(question, Vec::new(), None, statistics, method("one run"))
    });
    assert_eq!(outcome.verdict, Verdict::Inconclusive);
    assert_eq!(outcome.inconclusive, Some(Inconclusive::Undecided("one run".to_owned())));
}

#[test]
fn what_one_run_has_shown_stays_violated_whatever_a_search_says() {
    about_a_correct_protocol(true, |question| {
        let engine = Parrot(vec![found(Level::Error)]);
        let Said::Yes(shown) = engine.decide(question, None) else { panic!("it is shown") };
        for outcome in [alone(question, &engine), refined(question, *shown)] {
            assert_eq!((outcome.verdict, outcome.findings.len()), (Verdict::Violated, 1));
            assert!(outcome.inconclusive.is_none() && !outcome.statistics.complete);
        }
    });
}
