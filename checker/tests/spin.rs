//! A second opinion: SPIN, on the models that `barcheck export` writes, comes to barcheck's verdicts,
//! violates rules that barcheck finds violated, and counts the same states where everything is covered.
//!
//! Of the library every `BARCHECK_SPIN_EVERY=N`-th protocol is compared, by default every third, and all on
//! which somebody is stuck for ever; and `BARCHECK_SPIN=N` random protocols, by default a few.
//! `BARCHECK_SEED=N` sets the first seed, `BARCHECK_FILES=TEXT` asks for the files of the library with the
//! text in their names.

mod heads;
mod opinion;
mod two;

use barcheck::export::{Language, export};
use barcheck::{Budgets, Inconclusive, Levels, Outcome, Quiet, Reduction, Settings, Verdict, check};
use barcheck_model::Patience;
use barcheck_model::machine::Options;
use barcheck_model::program::{Program, Target};
use barcheck_model::rule::{Level, Rule};
use barcheck_naive::generate::{generate, generate_for};
use barcheck_naive::generate_asks::generate_asks;
use barcheck_naive::generate_cluster::generate_cluster;
use barcheck_naive::generate_mbarrier::generate_mbarrier;
use barcheck_naive::protocol::{self, Protocol};
use barcheck_specs::bar::{LoadOptions, load};
use heads::{files, head, protocol};
use opinion::{Said, has_spin, spin, spin_finds_stuck_agent};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use two::in_two_threads;

/// States of a protocol that SPIN is asked about, at most.
const MOST_STATES: u64 = 300_000;
/// The same of a random one with mbarrier objects or of a cluster, which often has many.
const MOST_RANDOM: u64 = 5_000;

/// Which of the files of the library are compared, usually. A file and its broken twin stand side by side, so
/// that an odd number takes as many of the one as of the other kind.
const USUALLY_EVERY: u64 = 3;

/// What became of a comparison.
enum Compared {
    /// Verdict, rule and, where there is one to compare, number of states agree.
    Agreed(&'static str),
    /// It was not made, and why.
    Left(&'static str),
    Differ(String),
}

/// Every error of a protocol, found without reductions; `None` if there are too many states.
fn own(program: &Arc<Program>, options: Options, levels: &Levels, most: u64) -> Option<Outcome> {
    let budgets = Budgets { max_states: Some(most), ..Budgets::default() };
    let settings = Settings {
        all: true,
        reduction: Reduction::None,
        levels: levels.clone(),
        budgets,
        ..Settings::default()
    };
    let outcome = check(Arc::clone(program), options, &settings, &Quiet);
    // A violation found before the budget was over is not all there is.
    let cut = matches!(outcome.inconclusive, Some(Inconclusive::States(..)));
    (!cut && outcome.statistics.states <= most).then_some(outcome)
}

fn compare(program: &Arc<Program>, options: Options, levels: &Levels, most: u64) -> Compared {
    let Some(outcome) = own(program, options, levels, most) else { return Compared::Left("too many states") };
    let exported = match export(
        Arc::clone(program),
        options,
        levels,
        ("protocol.bar", "protocol"),
        Language::Promela,
        &Patience::default(),
    ) {
        Ok(exported) => exported,
        Err(_) => return Compared::Left("cannot be exported"),
    };
    let errors = outcome.findings.iter().filter(|found| found.level == Level::Error);
    let mut rules: BTreeSet<Rule> = errors.map(|found| found.finding.rule).collect();
    let is_stuck = rules.remove(&Rule::StuckAgent);
    let said = spin(&exported.text, outcome.statistics.states);
    let agrees = match (&said, outcome.verdict) {
        (Said::Violated(rule), Verdict::Violated) => rules.iter().any(|found| found.name() == rule),
        (Said::Verified(states), Verdict::Verified) => {
            // Warps of `bcu` that have exited with different results in their copies are one for SPIN, and so
            // is what is in flight from different instructions. What is remembered of uniform decisions is
            // not compared.
            let (theirs, own) = (*states, outcome.statistics.states);
            let fewer = (program.target == Target::Bcu || !program.objects.is_empty()) && theirs <= own;
            theirs == own || fewer || !program.sequences.is_empty()
        }
        (Said::Cut(_), Verdict::Error | Verdict::Inconclusive) => true,
        // What is left of the errors is looked for by a run of its own.
        (Said::Verified(_) | Said::Cut(_), Verdict::Violated) => rules.is_empty() && is_stuck,
        _ => false,
    };
    let verdict = outcome.verdict.name();
    let states = outcome.statistics.states;
    if !agrees {
        return Compared::Differ(format!("SPIN: {said:?}; barcheck: {verdict} {rules:?}, {states} states"));
    }
    if !exported.text.contains("STUCK_AGENT") {
        assert!(!is_stuck, "nothing runs for ever");
        return Compared::Agreed(verdict);
    }
    match spin_finds_stuck_agent(&exported.text, states) {
        Ok(found) if found == is_stuck => {
            Compared::Agreed(if found { "violated, with stuck-agent" } else { verdict })
        }
        // The continuation that is followed may end where another goes on for ever: in another violation.
        Ok(false) if !rules.is_empty() => Compared::Agreed(verdict),
        // The agent might be released by other choices, or before another violation.
        Ok(true) if !exported.notes.is_empty() => Compared::Left("stuck-agent on one continuation of many"),
        Ok(true) if !rules.is_empty() => Compared::Agreed(verdict),
        other => Compared::Differ(format!(
            "SPIN, of stuck-agent: {other:?}; barcheck: {verdict} {rules:?}, stuck: {is_stuck}, {states} states"
        )),
    }
}

/// Compares what is listed and returns how often each thing came of it.
fn compare_all<T: Sync>(
    all: &[T],
    compared: impl Fn(&T) -> (String, Compared) + Sync,
) -> BTreeMap<&'static str, usize> {
    let results = in_two_threads(all, compared);
    let mut counts = BTreeMap::new();
    let mut differ = Vec::new();
    for (name, result) in results {
        match result {
            Compared::Agreed(what) | Compared::Left(what) => *counts.entry(what).or_default() += 1,
            Compared::Differ(how) => differ.push(format!("{name}\n{how}")),
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    counts
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// The files of the library that are compared: those with a text in their names, else a share of them.
fn asked_for(text: Option<&str>) -> Vec<PathBuf> {
    let every = number("BARCHECK_SPIN_EVERY").unwrap_or(USUALLY_EVERY) as usize;
    let is_asked = |index: usize, path: &PathBuf| match text {
        Some(text) => path.to_string_lossy().contains(text),
        None => index.is_multiple_of(every) || is_about_being_stuck(path),
    };
    let files = files().into_iter().enumerate();
    files.filter(|(index, path)| is_asked(*index, path)).map(|(_, path)| path).collect()
}

/// What is looked for by a run of its own is rare, so none of it is left out.
fn is_about_being_stuck(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).expect("a readable file");
    head(&text).rules.contains(&Rule::StuckAgent)
}

#[test]
fn spin_and_barcheck_agree_on_the_library() {
    if !has_spin() {
        println!("SKIPPED: spin and a C compiler are not both installed");
        return;
    }
    let asked = std::env::var("BARCHECK_FILES").ok();
    let files = asked_for(asked.as_deref());
    let counts = compare_all(&files, |path| {
        let text = std::fs::read_to_string(path).expect("a readable file");
        let head = head(&text);
        let levels = Levels { changes: head.changes.clone(), strict: false, ..Levels::default() };
        (path.display().to_string(), compare(&protocol(&text, &head), head.readings, &levels, MOST_STATES))
    });
    println!("{} protocols of the library: {counts:?}", files.len());
    if asked.is_some() {
        return;
    }
    assert!(counts["violated, with stuck-agent"] >= Target::ALL.len());
    assert!(counts["verified"] * 3 > files.len() && counts["violated"] * 5 > files.len());
}

#[test]
fn spin_and_barcheck_agree_on_random_protocols() {
    if !has_spin() {
        println!("SKIPPED: spin and a C compiler are not both installed");
        return;
    }
    let counts = compare_random(40, generate, |_| true);
    assert!(counts["verified"] > 0 && counts["violated"] > 0);
}

#[test]
fn spin_and_barcheck_agree_on_random_protocols_that_save_and_restore_barriers() {
    if !has_spin() {
        println!("SKIPPED: spin and a C compiler are not both installed");
        return;
    }
    let restores = |text: &str| text.contains("R2B.BAR");
    let counts = compare_random(20, |seed| generate_for(protocol::Target::Bcu, seed), restores);
    assert!(counts["verified"] > 0 && counts["violated"] > 0);
}

#[test]
fn spin_and_barcheck_agree_on_random_protocols_of_mbarrier_objects() {
    if !has_spin() {
        println!("SKIPPED: spin and a C compiler are not both installed");
        return;
    }
    let counts = compare_random(30, generate_mbarrier, |_| true);
    assert!(counts["verified"] > 0 && counts["violated"] > 0);
}

#[test]
fn spin_and_barcheck_agree_on_random_protocols_of_tokens_and_questions() {
    if !has_spin() {
        println!("SKIPPED: spin and a C compiler are not both installed");
        return;
    }
    let counts = compare_random(20, generate_asks, |_| true);
    assert!(counts["verified"] > 0 && counts["violated"] > 0);
}

#[test]
fn spin_and_barcheck_agree_on_random_protocols_of_clusters() {
    if !has_spin() {
        println!("SKIPPED: spin and a C compiler are not both installed");
        return;
    }
    let counts = compare_random(20, generate_cluster, |_| true);
    assert!(counts["verified"] > 0 && counts["violated"] > 0);
}

#[test]
fn spin_takes_a_split_barrier_on_which_nobody_ever_waits() {
    if !has_spin() {
        println!("SKIPPED: spin and a C compiler are not both installed");
        return;
    }
    let text = "target split_barrier; workgroup 2; shared word;\n\
                invocations 0..2 {\n\
                if invocation == 0 { write word; }\n\
                OpControlBarrierArriveINTEL Workgroup, Workgroup, Release|WorkgroupMemory;\n\
                }";
    let loaded = load(text.as_bytes(), &LoadOptions::default()).expect("a valid protocol");
    let compared = compare(&Arc::new(loaded.program), Options::default(), &Levels::default(), MOST_STATES);
    assert!(matches!(compared, Compared::Agreed("violated")), "missing-wait");
}

/// Compares random protocols, the first ones whose text is asked for.
fn compare_random(
    usual: u64,
    of: impl Fn(u64) -> Protocol,
    asked: impl Fn(&str) -> bool,
) -> BTreeMap<&'static str, usize> {
    let first = number("BARCHECK_SEED").unwrap_or(0);
    let texts = (first..).map(|seed| (seed, of(seed).text())).filter(|(_, text)| asked(text));
    let all: Vec<(u64, String)> = texts.take(number("BARCHECK_SPIN").unwrap_or(usual) as usize).collect();
    let counts = compare_all(&all, |(seed, text)| {
        let loaded = load(text.as_bytes(), &LoadOptions::default()).expect("a random protocol is valid");
        let plain = loaded.program.objects.is_empty() && loaded.program.ctas == 1;
        let most = if plain { MOST_STATES } else { MOST_RANDOM };
        let compared = compare(&Arc::new(loaded.program), Options::default(), &Levels::default(), most);
        (format!("seed {seed}\n{text}"), compared)
    });
    println!("{} random protocols: {counts:?}", all.len());
    counts
}
