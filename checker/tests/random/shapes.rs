//! Random protocols of the shape that kernels have: all engines must say the same of small ones, location by
//! location too, and large ones must not explode.
//!
//! `BARCHECK_RANDOM=N` sets the number of seeds, `BARCHECK_SEED=N` the first one, `BARCHECK_LARGE=N` the
//! number of large protocols, `BARCHECK_SECONDS=N` how long each of them may take.

use crate::decisions;
use crate::number;

use crate::engine::engine;
use barcheck::{Budgets, ByLocation, Levels, Quiet, Reduction, Settings, Verdict, check};
use barcheck_model::machine::{ExitedThreads, Options};
use barcheck_model::rule::Level;
use barcheck_naive::explore::explore;
use barcheck_naive::generate_kernel::generate_kernel;
use barcheck_naive::protocol::Protocol;
use barcheck_naive::shrink::shrink;
use decisions::{program, walk_all};
use std::time::{Duration, Instant};

/// States after which the naive explorer gives up.
const MOST_STATES: usize = 1_000;

/// What the engines say differently of a protocol than the naive explorer; whether that comes to the end.
fn difference(protocol: &Protocol) -> Result<bool, String> {
    let naive = explore(protocol, MOST_STATES);
    if naive.gave_up {
        return Ok(false);
    }
    let Some((verdict, rules)) = engine(&protocol.text(), ExitedThreads::Hold) else { return Ok(false) };
    if verdict != naive.verdict || rules != naive.rules {
        let known = (naive.verdict, naive.rules);
        return Err(format!("naive explorer: {known:?}\nengine: {verdict:?} {rules:?}"));
    }
    Ok(true)
}

#[test]
fn engines_agree_on_small_protocols_of_the_shape_of_kernels() {
    let (count, first) = (number("BARCHECK_RANDOM", 600), number("BARCHECK_SEED", 0));
    let mut compared = 0;
    for seed in first..first + count {
        let protocol = generate_kernel(seed, 2 + (seed / 5 % 3) as i32, 2);
        match difference(&protocol) {
            Ok(is_naive) => compared += u64::from(is_naive),
            Err(_) => {
                let smallest = shrink(&protocol, |p| difference(p).is_err());
                let what = difference(&smallest).expect_err("it still differs");
                panic!("seed {seed}\n{what}\n{}", smallest.text());
            }
        }
    }
    println!("{compared} of {count} compared with the naive explorer");
    assert!(compared * 4 >= count);
}

/// Without `--all`, and what is shown can be walked.
#[test]
fn a_violation_found_location_by_location_is_one_of_the_whole() {
    let (count, first) = (number("BARCHECK_RANDOM", 600), number("BARCHECK_SEED", 0));
    let (mut violated, mut conflicts) = (0, 0);
    for seed in first..first + count {
        let text = generate_kernel(seed, 2 + (seed / 5 % 4) as i32, 3).text();
        let decide = |reduction, by_location| {
            let budgets = Budgets { max_states: Some(100_000), ..Budgets::default() };
            let levels = Levels { strict: seed % 2 == 0, ..Levels::default() };
            let settings = Settings { reduction, by_location, budgets, levels, ..Settings::default() };
            check(program(&text), Options::default(), &settings, &Quiet)
        };
        let plain = decide(Reduction::None, ByLocation::Never);
        let apart = decide(Reduction::Auto, ByLocation::Always);
        walk_all(&text, &apart);
        let errors = apart.findings.iter().filter(|found| found.level == Level::Error);
        let is_conflict = |rule: &str| matches!(rule, "data-race" | "missing-fence");
        conflicts += errors.filter(|found| is_conflict(found.finding.rule.name())).count();
        if plain.verdict != Verdict::Inconclusive {
            assert_eq!(apart.verdict, plain.verdict, "seed {seed}\n{text}");
        }
        violated += u64::from(apart.verdict == Verdict::Violated);
    }
    println!("{violated} of {count} violated, {conflicts} conflicts of accesses");
    assert!(violated * 10 >= count && violated * 10 <= 9 * count && conflicts > 20);
}

#[test]
fn large_protocols_of_the_shape_of_kernels_do_not_explode() {
    let (count, first) = (number("BARCHECK_LARGE", 100), number("BARCHECK_SEED", 0));
    let limit = Duration::from_secs(number("BARCHECK_SECONDS", 20));
    let (mut slowest, mut open) = ((Duration::ZERO, 0), Vec::new());
    for seed in first..first + count {
        let text = generate_kernel(seed, 16, 6).text();
        let budgets = Budgets { timeout: Some(limit), ..Budgets::default() };
        let settings = Settings { budgets, ..Settings::default() };
        let started = Instant::now();
        let outcome = check(program(&text), Options::default(), &settings, &Quiet);
        slowest = slowest.max((started.elapsed(), seed));
        if outcome.verdict == Verdict::Inconclusive {
            println!("seed {seed}: {:?}\n{text}", outcome.inconclusive);
            open.push(seed);
        }
        if started.elapsed() > limit / 4 {
            println!("seed {seed}: {:?}, {}", started.elapsed(), outcome.method.why);
        }
    }
    println!("the slowest: {slowest:?}; without a verdict: {open:?}");
    assert!(open.is_empty());
}
