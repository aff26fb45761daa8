//! Random protocols: the engine and the naive explorer must say the same of each of them.
//!
//! `BARCHECK_RANDOM=N` sets the number of seeds, `BARCHECK_SEED=N` the first one,
//! `BARCHECK_STATES=N` how many states the naive explorer looks at before it gives up on one, and
//! `BARCHECK_SHOW=N` shows so many protocols with what they come to.

use crate::agreement;
use crate::number;
use crate::stepwise;
use crate::two;
use crate::walks;

use crate::engine::engine;
use agreement::{Compared, compare};
use barcheck::gate::{Effort, Extent};
use barcheck::{Budgets, Inconclusive, Levels, Quiet, Reduction, Settings, check};
use barcheck_model::machine::{ExitedThreads, Options};
use barcheck_model::rule::Rule;
use barcheck_naive::explore::{Outcome, Verdict, explore, explore_with};
use barcheck_naive::generate::{generate, generate_for};
use barcheck_naive::generate_mbarrier::generate_mbarrier;
use barcheck_naive::generate_rounds::generate_rounds;
use barcheck_naive::protocol::{Protocol, Target};
use barcheck_naive::rules::RULES;
use barcheck_naive::shrink::shrink;
use barcheck_naive::state;
use barcheck_specs::bar::{LoadOptions, load};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use stepwise::{Reached, reach};

fn cap() -> usize {
    number("BARCHECK_STATES", 2_500) as usize
}

/// What the engine says differently of a protocol, if anything.
fn difference(protocol: &Protocol, naive: &Outcome) -> Option<String> {
    if naive.gave_up {
        return None;
    }
    let (verdict, rules) = engine(&protocol.text(), ExitedThreads::Hold)?;
    let same = verdict == naive.verdict && rules == naive.rules;
    (!same).then(|| {
        format!("naive explorer: {:?} {:?}\nengine: {verdict:?} {rules:?}", naive.verdict, naive.rules)
    })
}

/// The same for the reading in which exited warps release those that wait, which only PTX has.
fn difference_with_release(protocol: &Protocol) -> Option<String> {
    let naive = explore_with(protocol, cap(), state::ExitedThreads::Release);
    if protocol.target != Target::Ptx || naive.gave_up {
        return None;
    }
    let (verdict, rules) = engine(&protocol.text(), ExitedThreads::Release)?;
    let same = verdict == naive.verdict && rules == naive.rules;
    (!same).then(|| {
        format!("naive explorer: {:?} {:?}\nengine: {verdict:?} {rules:?}", naive.verdict, naive.rules)
    })
}

#[derive(Default)]
struct Statistics {
    rules: BTreeMap<(String, Target), usize>,
    verdicts: BTreeMap<(&'static str, Target), usize>,
    states: usize,
    gave_up: usize,
}

impl Statistics {
    fn add(&mut self, target: Target, outcome: &Outcome) {
        for rule in &outcome.rules {
            *self.rules.entry((rule.clone(), target)).or_default() += 1;
        }
        let verdict = match outcome.verdict {
            Verdict::Verified => "verified",
            Verdict::Violated => "violated",
            Verdict::Inconclusive => "inconclusive",
            Verdict::Error => "error",
        };
        *self.verdicts.entry((verdict, target)).or_default() += 1;
        self.states += outcome.states;
        self.gave_up += usize::from(outcome.gave_up);
    }

    fn line(&self, name: &str, count: impl Fn(Target) -> Option<usize>) {
        print!("{name:24}");
        for target in Target::ALL {
            match count(target) {
                Some(n) => print!("{n:>14}"),
                None => print!("{:>14}", "-"),
            }
        }
        println!();
    }

    fn print(&self) {
        print!("{:24}", "");
        for target in Target::ALL {
            print!("{:>14}", target.name());
        }
        println!();
        for (rule, targets) in RULES {
            self.line(rule, |target| {
                let key = (rule.to_string(), target);
                let count = self.rules.get(&key).copied().unwrap_or(0);
                targets.contains(&target).then_some(count)
            });
        }
        for verdict in ["verified", "violated", "inconclusive", "error"] {
            self.line(verdict, |target| Some(self.verdicts.get(&(verdict, target)).copied().unwrap_or(0)));
        }
        println!("states {}, given up {}", self.states, self.gave_up);
    }

    /// The pairs of rule and target that never occurred, though they can.
    fn missing(&self) -> Vec<String> {
        let mut missing = Vec::new();
        for (rule, targets) in RULES {
            for &target in *targets {
                // Every arrival on a handle is a producer's and a consumer's, and both counts are
                // the same: the last one that has room completes the generation.
                if (*rule, target) == ("too-many-participants", Target::Xegpu) {
                    continue;
                }
                if !self.rules.contains_key(&(rule.to_string(), target)) {
                    missing.push(format!("{rule} {}", target.name()));
                }
            }
        }
        missing
    }
}

#[test]
fn engine_and_naive_explorer_agree() {
    let count = number("BARCHECK_RANDOM", 3_000);
    let first = number("BARCHECK_SEED", 0);
    let (mut statistics, mut compared) = (Statistics::default(), 0);
    let judged = |seed| {
        let protocol = generate(seed);
        let outcome = explore(&protocol, cap());
        let differs = difference(&protocol, &outcome).is_some();
        (seed, protocol, outcome, differs)
    };
    for (seed, protocol, outcome, differs) in two::of_seeds(first..first + count, judged) {
        statistics.add(protocol.target, &outcome);
        compared += u64::from(!outcome.gave_up);
        if differs {
            let smallest = shrink(&protocol, |p| difference(p, &explore(p, cap())).is_some());
            let what = difference(&smallest, &explore(&smallest, cap())).expect("it still differs");
            panic!("seed {seed}\n{what}\n{}", smallest.text());
        }
    }
    statistics.print();
    println!("{compared} compared");
    assert!(compared * 10 >= count * 8, "the naive explorer must come to the end of most");
    if count >= 3_000 {
        assert_eq!(statistics.missing(), Vec::<String>::new());
    }
}

/// The states and steps themselves: what is remembered wrongly of a step need not change a verdict.
#[test]
fn the_plain_search_makes_the_steps_of_the_model_and_no_others() {
    let count = number("BARCHECK_RANDOM", 2_000) / 10;
    let first = number("BARCHECK_SEED", 0);
    let (mut compared, mut states, mut with_memory) = (0, 0, 0);
    let protocols = |seed| [generate(seed), generate_rounds(seed), generate_mbarrier(seed)];
    for (seed, protocol) in (first..first + count).flat_map(|seed| protocols(seed).map(|p| (seed, p))) {
        let text = protocol.text();
        let loaded = load(text.as_bytes(), &LoadOptions::default()).expect("a random protocol is valid");
        let program = Arc::new(loaded.program);
        let Some(reached) = reach(Arc::clone(&program), Options::default(), cap()) else { continue };
        compared += 1;
        states += reached.states;
        with_memory += u32::from(!program.arrays.is_empty());
        for (threads, many_states) in [(1, None), (2, Some(4)), (4, Some(4))] {
            let settings = Settings {
                all: true,
                reduction: Reduction::None,
                levels: Levels { strict: true, ..Levels::default() },
                threads: NonZeroUsize::new(threads),
                many_states,
                ..Settings::default()
            };
            let outcome = check(Arc::clone(&program), Options::default(), &settings, &Quiet);
            let statistics = &outcome.statistics;
            // An agent is stuck in a cycle, not at a step or in a state.
            let rules = outcome.findings.iter().map(|found| found.finding.rule);
            let rules = rules.filter(|rule| *rule != Rule::StuckAgent).collect();
            let found = Reached { states: statistics.states, transitions: statistics.transitions, rules };
            assert_eq!(found, reached, "seed {seed}, {threads} threads\n{text}");
        }
    }
    println!("{compared} protocols, {with_memory} of them with memory, {states} states");
    assert!(with_memory > 0);
}

#[test]
fn engine_and_naive_explorer_agree_when_exited_threads_release() {
    let count = number("BARCHECK_RANDOM", 2_000) / 10;
    let first = number("BARCHECK_SEED", 0);
    for seed in first..first + count {
        let protocol = generate_for(Target::Ptx, seed);
        if let Some(what) = difference_with_release(&protocol) {
            let smallest = shrink(&protocol, |p| difference_with_release(p).is_some());
            panic!("seed {seed}\n{what}\n{}", smallest.text());
        }
    }
}

#[test]
fn engine_and_naive_explorer_agree_when_every_arrival_of_a_warp_counts() {
    let count = number("BARCHECK_RANDOM", 2_000) / 10;
    let first = number("BARCHECK_SEED", 0);
    let mut changed = 0;
    for seed in first..first + count {
        let plain = generate_for(Target::Ptx, seed);
        let counting = Protocol { repeats: true, ..plain.clone() };
        let naive = explore(&counting, cap());
        if let Some(what) = difference(&counting, &naive) {
            let smallest = shrink(&counting, |p| difference(p, &explore(p, cap())).is_some());
            panic!("seed {seed}\n{what}\n{}", smallest.text());
        }
        changed += u32::from(explore(&plain, cap()).rules != naive.rules);
    }
    println!("{changed} of {count} protocols come to something else when every arrival counts");
    assert!(changed > 0, "no protocol among these makes use of it");
}

/// The comparisons above would mean little if the engines that make few runs gave up on most protocols, or on
/// all that go round with choices.
#[test]
fn engines_that_make_few_runs_decide_many_random_protocols_with_choices_and_cycles() {
    let (mut by_one, mut by_choice, mut cyclic, mut by_search) = (0, 0, 0, 0);
    for seed in 0..1_000 {
        let text = generate(seed).text();
        let loaded = load(text.as_bytes(), &LoadOptions::default()).expect("a random protocol is valid");
        let settings = Settings {
            budgets: Budgets { max_states: Some(20_000), ..Budgets::default() },
            ..Settings::default()
        };
        let settings = |reduction| Settings { reduction, ..settings.clone() };
        let (program, options) = (Arc::new(loaded.program), Options::default());
        let undecided =
            |outcome: &barcheck::Outcome| matches!(outcome.inconclusive, Some(Inconclusive::Undecided(_)));
        let one = check(Arc::clone(&program), options, &settings(Reduction::Schedule), &Quiet);
        if !undecided(&one) {
            by_one += 1;
            continue;
        }
        let each = check(program, options, &settings(Reduction::Stubborn), &Quiet);
        if undecided(&each) {
            by_search += 1;
            continue;
        }
        by_choice += 1;
        cyclic += usize::from(text.contains("loop {") || text.contains("while "));
    }
    println!(
        "one schedule decides {by_one}, one for each choice {by_choice} more ({cyclic} with endless loops), a search {by_search}"
    );
    assert!(by_one >= 100 && by_choice >= 100 && cyclic >= 30);
}

/// As [`cap`], for protocols that go round for long: most of their graphs are small, and the others very
/// large.
fn rounds_cap() -> usize {
    number("BARCHECK_STATES", 500) as usize
}

/// What the engine that makes one run for each choice says, if one run is not enough and it decides.
fn decided_by_choice(protocol: &Protocol) -> Option<barcheck::Outcome> {
    let loaded = load(protocol.text().as_bytes(), &LoadOptions::default()).expect("a valid protocol");
    let (program, options) = (Arc::new(loaded.program), Options::default());
    let budgets = Budgets { max_states: Some(20_000), ..Budgets::default() };
    let decide = |reduction| {
        let settings = Settings { reduction, budgets, ..Settings::default() };
        check(Arc::clone(&program), options, &settings, &Quiet)
    };
    let decides = |outcome: &barcheck::Outcome| outcome.inconclusive.is_none();
    if decides(&decide(Reduction::Schedule)) {
        return None;
    }
    Some(decide(Reduction::Stubborn)).filter(decides)
}

#[test]
fn engines_and_naive_explorer_agree_on_protocols_that_are_mostly_right_and_go_round_with_choices() {
    let count = number("BARCHECK_RANDOM", 2_000);
    let first = number("BARCHECK_SEED", 0);
    let (mut compared, mut cyclic, mut by_choice, mut right) = (0, 0, 0, 0);
    let mut statistics = Statistics::default();
    let judged = |seed| {
        let protocol = generate_rounds(seed);
        let outcome = explore(&protocol, rounds_cap());
        let differs = !outcome.gave_up && difference(&protocol, &outcome).is_some();
        (seed, protocol, outcome, differs)
    };
    for (seed, protocol, outcome, differs) in two::of_seeds(first..first + count, judged) {
        statistics.add(protocol.target, &outcome);
        if outcome.gave_up {
            continue;
        }
        compared += 1;
        if differs {
            let smallest = shrink(&protocol, |p| difference(p, &explore(p, rounds_cap())).is_some());
            let what = difference(&smallest, &explore(&smallest, rounds_cap())).expect("it still differs");
            panic!("seed {seed}\n{what}\n{}", smallest.text());
        }
        let text = protocol.text();
        if !text.contains('?') || !(text.contains("loop {") || text.contains("while ")) {
            continue;
        }
        cyclic += 1;
        if let Some(decided) = decided_by_choice(&protocol) {
            by_choice += 1;
            right += u64::from(decided.verdict == barcheck::Verdict::Verified);
        }
    }
    statistics.print();
    println!(
        "{compared} compared, {cyclic} go round with choices; one run for each choice decides {by_choice} of these \
         and verifies {right}"
    );
    assert!(cyclic * 4 >= count && by_choice * 2 >= cyclic && right * 4 >= cyclic);
}

/// Loom runs the same protocols on barriers that know nothing of the model.
#[test]
fn loom_on_executable_barriers_and_engine_agree() {
    let wanted = number("BARCHECK_GATED", 60);
    let effort = Effort { seconds: 1.0, all: true, ..Effort::default() };
    let (mut compared, mut complete, mut executions, mut seed) = (0, 0, 0, number("BARCHECK_SEED", 1));
    let (mut violated, mut only_in_the_model) = (0, 0);
    let mut unfit: BTreeMap<String, usize> = BTreeMap::new();
    while compared < wanted {
        let protocol = generate(seed);
        match compare("random.bar", &protocol.text(), &effort) {
            Compared::Differ(how) => panic!("seed {seed}: {how}\n{}", protocol.text()),
            Compared::Unfit(why) => *unfit.entry(why).or_default() += 1,
            Compared::Agreed { gated, verdict, unseen } => {
                compared += 1;
                only_in_the_model += u64::from(gated.violation.is_none() && !unseen.is_empty());
                complete += u64::from(gated.extent == Some(Extent::Everything));
                executions += gated.executions;
                violated += u64::from(verdict == barcheck::Verdict::Violated);
            }
        }
        seed += 1;
    }
    println!(
        "{compared} protocols compared ({violated} violated, {only_in_the_model} only for the model), {complete} under every schedule"
    );
    println!("{executions} executions; seeds up to {seed}; not compared: {unfit:?}");
    assert!(complete * 10 > compared, "most explorations must come to an end");
}

/// What engine and chance find in them is shortened to what holds and shows the same.
#[test]
fn counterexamples_of_random_protocols_are_shortened_to_what_holds() {
    let count = number("BARCHECK_RANDOM", 2_000) / 5;
    let first = number("BARCHECK_SEED", 0);
    let levels = Levels { strict: true, ..Levels::default() };
    let budgets = Budgets { max_states: Some(cap() as u64), ..Budgets::default() };
    let settings = Settings { all: true, levels, budgets, ..Settings::default() };
    let (mut paths, mut long, mut short) = (0, 0, 0);
    for seed in first..first + count {
        let text = if seed % 2 == 0 { generate(seed).text() } else { generate_mbarrier(seed).text() };
        let loaded = load(text.as_bytes(), &LoadOptions::default()).expect("a random protocol is valid");
        let (program, options) = (Arc::new(loaded.program), Options::default());
        let found = check(Arc::clone(&program), options, &settings, &Quiet).findings;
        let found = found.into_iter().map(|found| (found.path, found.finding));
        let walked = (0..3).filter_map(|walk| walks::walk(&program, options, seed * 3 + walk));
        for (path, finding) in found.chain(walked) {
            let name = format!("seed {seed}, {}\n{text}", finding.rule);
            let shortened = walks::shortened(&name, &program, options, &path, &finding);
            (paths, long, short) = (paths + 1, long + path.steps.len(), short + shortened.steps.len());
        }
    }
    println!("{paths} paths: {long} steps become {short}");
    assert!(short < long);
}

#[test]
fn a_seed_gives_one_protocol() {
    for seed in 0..200 {
        assert_eq!(generate(seed).text(), generate(seed).text());
    }
}

#[test]
fn a_shrunk_protocol_still_shows_what_it_was_shrunk_for() {
    let races = |p: &Protocol| explore(p, cap()).rules.contains("data-race");
    let found = (0..500).map(generate).find(races).expect("some protocol races");
    let smallest = shrink(&found, races);
    assert!(races(&smallest));
    assert_eq!(smallest.agents(), 2, "{}", smallest.text());
    let statements: usize = smallest.blocks.iter().map(|b| b.body.len()).sum();
    assert!(statements <= 3, "{}", smallest.text());
}

/// Shows a range of protocols with their outcomes, for whoever wants to read some of them.
#[test]
fn shown_on_demand() {
    let count = number("BARCHECK_SHOW", 0);
    let first = number("BARCHECK_SEED", 0);
    for seed in first..first + count {
        let protocol = generate(seed);
        let outcome = explore(&protocol, cap());
        println!(
            "// seed {seed}: {:?} {:?}, {} states, gave up: {}, not modelled: {:?}",
            outcome.verdict, outcome.rules, outcome.states, outcome.gave_up, outcome.not_modelled
        );
        println!("{}", protocol.text());
    }
}
