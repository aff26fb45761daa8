//! A second judge of kernels: an emulator runs them, and slips of them, with random inputs and in random
//! schedules. A kernel that is verified never hangs there and never misuses a barrier, and what its warps do
//! at barriers is a run of the protocol that was extracted. The same is asked of random kernels. No run of a
//! kernel that is verified has a data race on accesses to shared memory that are followed.
//!
//! `BARCHECK_RUNS=N` sets the runs of each kernel, `BARCHECK_MUTANTS=N` the slips of each,
//! `BARCHECK_RANDOM=N` the random kernels, `BARCHECK_SEED=N` the first seed. `BARCHECK_KERNELS=FOLDER` has
//! the kernels of a folder judged instead of ours; `BARCHECK_THREADS=N` is their size where they do not say.
//! What is violated and does not fail here is listed for inspection.

use barcheck::{Budgets, Decision, LoadOptions, Options, Settings, Source, Verdict, decide};
use barcheck_emulator::{
    Chance, Followed, Kernel, Launch, Mutant, Outcome, Race, Run, follow, kernels, memory_mutant, mutant,
    random_kernel, random_kernel_of_stages, random_kernel_of_warps, random_kernel_with_shared_memory, run,
};
use barcheck_model::program::Program;
use barcheck_model::rule::Level;
use barcheck_specs::{entries, load};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Steps of a run.
const FUEL: usize = 40_000;
/// States of a protocol that are explored.
const STATES: u64 = 30_000;
/// How long one is judged. What takes longer has its verdict, and is tried with values that might violate
/// it: only what is verified is judged here.
const LONGEST: Duration = Duration::from_secs(4);
/// Events of a run that are looked for in the protocol, and runs of a kernel that are.
const EVENTS: usize = 400;
const LOOKED_FOR: usize = 20;
/// Runs that do not come to an end before no more are made.
const HOPELESS: usize = 5;
/// Runs that are made besides where a race was not met.
const FURTHER: u64 = 30;
/// Rules about accesses to memory.
const RACES: [&str; 2] = ["data-race", "missing-fence"];
/// Rules about what may happen in another order, or is true of no single run.
const UNSEEN: [&str; 4] = ["arrival-race", "data-race", "missing-fence", "stuck-agent"];

fn variable(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

/// A kernel of a module, by its place among the entries.
#[derive(Clone, Copy)]
struct Case<'a> {
    file: &'a str,
    text: &'a str,
    index: usize,
    kernel: &'a Kernel,
    size: [u32; 3],
    what: &'a str,
}

impl Case<'_> {
    fn options(&self) -> LoadOptions {
        let mut defines = BTreeMap::from([("entry.index".to_owned(), self.index as i64)]);
        if self.kernel.required.is_none() {
            for (name, length) in ["cta.x", "cta.y", "cta.z"].iter().zip(self.size) {
                defines.insert((*name).to_owned(), length.into());
            }
        }
        LoadOptions { defines }
    }

    fn source(&self) -> Source<'_> {
        Source::new(self.file, self.text.as_bytes())
    }

    fn decide(&self) -> Decision {
        let budgets = Budgets { max_states: Some(STATES), timeout: Some(LONGEST), ..Budgets::default() };
        let settings = Settings { budgets, ..Settings::default() };
        decide(&self.source(), &Options { load: self.options(), settings, ..Options::default() })
    }

    /// The protocol that was extracted, if one was.
    fn program(&self) -> Option<Arc<Program>> {
        Some(Arc::new(load(&self.source(), &self.options()).ok()?.program))
    }

    fn title(&self) -> String {
        let Case { file, kernel, size, what, .. } = self;
        format!("{file}, {} {size:?} ({what})", kernel.name)
    }
}

/// What a verdict says of races on shared memory.
enum Said {
    /// Nothing that runs can be held against.
    Nothing,
    /// There are none, but for accesses on these lines.
    None { but: BTreeSet<u32> },
    /// There is one, whatever the data is: the lines, and what happens.
    Some(String),
}

impl Said {
    /// Copies in bulk move no bytes in the emulator: no run meets their races.
    fn by(decision: &Decision, text: &str) -> Self {
        let is_in_bulk =
            |line: u32| text.lines().nth(line as usize - 1).is_some_and(|line| line.contains(".bulk"));
        let memory = decision.extracted.as_ref().and_then(|extracted| extracted.memory.as_ref());
        let is_race = |rule: &str| RACES.contains(&rule);
        match (decision.verdict, memory.filter(|memory| memory.undecided.is_none())) {
            (Verdict::Verified, Some(memory)) => {
                Self::None { but: memory.others.iter().map(|place| place.line).collect() }
            }
            (Verdict::Violated, _) if decision.given.is_empty() => {
                let mut errors = decision.findings.iter().filter(|found| found.level == Level::Error);
                let found = errors.find(|found| is_race(found.rule.name()) && found.data.is_empty());
                found.map_or(Self::Nothing, |found| {
                    let lines: Vec<u32> = found.related.iter().map(|related| related.line).collect();
                    if is_in_bulk(found.place.line) || lines.iter().any(|line| is_in_bulk(*line)) {
                        return Self::Nothing;
                    }
                    Self::Some(format!("{}, {lines:?}: {}", found.place.line, found.message))
                })
            }
            _ => Self::Nothing,
        }
    }
}

/// What many runs of a kernel came to.
#[derive(Default)]
struct Runs {
    ends: BTreeMap<&'static str, usize>,
    /// The first seed of each failure, and what happened.
    failures: BTreeMap<String, (u64, String)>,
    /// An instruction that is not emulated.
    beyond: Option<String>,
    /// Runs that were looked for in the protocol, and those that were found there.
    looked_for: usize,
    followed: usize,
    /// The first that is no run of the protocol.
    missing: Option<(u64, String)>,
    /// Data races, by their lines, with the first seed of each.
    races: BTreeMap<(usize, usize), (u64, Race)>,
}

impl Runs {
    fn of(case: &Case<'_>, seeds: Range<u64>, races: bool) -> Self {
        let mut runs = Self::default();
        let program = case.program();
        for seed in seeds {
            let launch = Launch { size: case.size, seed, fuel: FUEL, races };
            let Run { outcome, events, races: met, .. } = run(case.kernel, &launch);
            runs.met(seed, met.unwrap_or_default());
            let events = &events[..events.len().min(EVENTS)];
            if let Some(program) = program.as_ref().filter(|_| runs.looked_for < LOOKED_FOR) {
                runs.looked_for += 1;
                match follow(program, events) {
                    Followed::Yes => runs.followed += 1,
                    Followed::GivenUp => {}
                    Followed::No(index, what) => {
                        let before: Vec<_> = events[..index].iter().rev().take(6).collect();
                        runs.missing.get_or_insert((seed, format!("{what}, behind {before:?}")));
                    }
                }
            }
            let name = runs.ended(outcome, seed);
            let of_this = runs.ends.entry(name).or_default();
            *of_this += 1;
            // What does not end, or is not emulated, would cost most of the time.
            let of_this = *of_this;
            let is_hopeless = name == "out of fuel" || name == "not emulated";
            if is_hopeless && of_this >= HOPELESS && of_this == runs.ends.values().sum::<usize>() {
                break;
            }
        }
        runs
    }

    fn met(&mut self, seed: u64, races: Vec<Race>) {
        for race in races {
            self.races.entry((race.earlier.line, race.later.line)).or_insert((seed, race));
        }
    }

    /// Hardly a run is one of the kernel.
    fn races_are_hopeless(&self) -> bool {
        self.ends.keys().all(|end| *end == "not emulated")
    }

    fn ended(&mut self, outcome: Outcome, seed: u64) -> &'static str {
        match outcome {
            Outcome::Finished => "finished",
            Outcome::Trapped => "trapped",
            Outcome::OutOfFuel => "out of fuel",
            Outcome::Apart(_) => "apart",
            Outcome::Hang(story) => {
                self.failures.entry("hang".to_owned()).or_insert((seed, story));
                "hang"
            }
            Outcome::Misuse(rule, story) => {
                self.failures.entry(rule).or_insert((seed, story));
                "misuse"
            }
            Outcome::Beyond(what) => {
                self.beyond = Some(what);
                "not emulated"
            }
        }
    }
}

#[derive(Default)]
struct Tally {
    judged: usize,
    ends: BTreeMap<&'static str, usize>,
    failing: usize,
    verdicts: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
    listed: usize,
    beyond: BTreeMap<String, usize>,
    looked_for: usize,
    followed: usize,
    /// What is said of races, how often, and how often a race was met that is said to be.
    races: BTreeMap<&'static str, usize>,
    /// Something was said of races of the latest.
    says_of_races: bool,
}

impl Tally {
    /// Has a kernel judged by both; false where it is not emulated.
    fn judge(&mut self, case: &Case<'_>, seeds: Range<u64>) -> bool {
        // One CTA is emulated, and no more.
        if case.program().is_some_and(|program| program.ctas > 1) {
            return false;
        }
        let decision = case.decide();
        let said = Said::by(&decision, case.text);
        let found = Runs::of(case, seeds.clone(), !matches!(said, Said::Nothing));
        self.says_of_races = !matches!(said, Said::Nothing);
        self.judge_races(case, &said, &found, seeds);
        self.judged += 1;
        for (end, count) in &found.ends {
            *self.ends.entry(end).or_default() += count;
        }
        *self.verdicts.entry(decision.verdict.name()).or_default() += 1;
        self.looked_for += found.looked_for;
        self.followed += found.followed;
        self.failing += usize::from(!found.failures.is_empty());
        if let Some(what) = &found.beyond {
            let what = what.split(": ").nth(1).unwrap_or_default();
            let opcode = what.split(' ').find(|word| !word.starts_with('@')).unwrap_or_default();
            *self.beyond.entry(opcode.to_owned()).or_default() += 1;
        }
        if let Some((seed, story)) = &found.missing {
            let story = format!("{}: seed {seed} is no run of its protocol: {story}", case.title());
            // Where the protocol hangs before, it says more than is true.
            if decision.verdict == Verdict::Verified {
                self.is_wrong(story);
            } else {
                self.listed += 1;
                println!("inspect: {}, {story}", decision.verdict.name());
            }
        }
        let is_data = decision.findings.iter().any(|finding| !finding.data.is_empty());
        let rules: Vec<_> = decision.findings.iter().map(|found| found.rule.name()).collect();
        let is_seen = rules.iter().any(|rule| !UNSEEN.contains(rule));
        match decision.verdict {
            Verdict::Verified => {
                for (rule, (seed, story)) in &found.failures {
                    let title = case.title();
                    self.is_wrong(format!("{title}: verified, and seed {seed}: {rule}\n  {story}"));
                }
            }
            Verdict::Violated if found.failures.is_empty() && is_seen && !is_data => {
                self.listed += 1;
                println!("inspect: {}: {rules:?}, and {:?}", case.title(), found.ends);
            }
            _ => {}
        }
        found.ends.keys().any(|end| *end != "not emulated")
    }

    /// Holds what is said of races against those that runs have met.
    fn judge_races(&mut self, case: &Case<'_>, said: &Said, found: &Runs, seeds: Range<u64>) {
        match said {
            Said::Nothing => {}
            Said::None { but } => {
                let kind = if but.is_empty() { "free" } else { "free but for some" };
                *self.races.entry(kind).or_default() += 1;
                let is_followed = |line: &usize| !but.contains(&(*line as u32));
                for ((first, second), (seed, race)) in &found.races {
                    if is_followed(first) && is_followed(second) {
                        self.is_wrong(format!("{}: verified, and seed {seed}: {race:?}", case.title()));
                    }
                }
            }
            Said::Some(story) => {
                *self.races.entry("racy").or_default() += 1;
                let mut met = !found.races.is_empty();
                if !met && !found.races_are_hopeless() {
                    met = !Runs::of(case, seeds.end..seeds.end + FURTHER, true).races.is_empty();
                }
                if met {
                    *self.races.entry("racy, and met").or_default() += 1;
                } else {
                    self.listed += 1;
                    let ends = &found.ends;
                    println!("inspect: {}: {ends:?}, and no run has the race {story}", case.title());
                }
            }
        }
    }

    fn is_wrong(&mut self, what: String) {
        println!("wrong: {what}");
        self.wrong.push(what);
    }

    /// Both verdicts are met often enough, and nearly all races that there are said to be.
    fn says_enough_of_races(&self) {
        let count = |what: &str| self.races.get(what).copied().unwrap_or(0);
        let (free, racy, met) = (count("free"), count("racy"), count("racy, and met"));
        assert!(free * 10 >= self.judged, "hardly a kernel is verified");
        assert!(racy * 20 >= self.judged, "hardly a kernel has a race");
        assert!(met * 4 >= racy * 3, "{met} of {racy} races are met");
    }

    fn report(&self, name: &str) {
        let Self {
            judged, ends, failing, verdicts, beyond, looked_for, followed, listed, wrong, races, ..
        } = self;
        println!("{judged} {name}: {verdicts:?}; {failing} fail, {ends:?}");
        println!("{followed} of {looked_for} runs are found in the protocol; {listed} to inspect");
        println!("data races: {races:?}");
        println!("{} wrong; not emulated: {beyond:?}", wrong.len());
    }
}

fn files() -> Vec<PathBuf> {
    let mine = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let folder = std::env::var_os("BARCHECK_KERNELS").map_or(mine, PathBuf::from);
    let all = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    // Nobody keeps what is assumed of one of them.
    let is_kept = |path: &PathBuf| !path.ends_with("all_is_assumed.ptx");
    let is_kernel = |path: &PathBuf| path.extension().is_some_and(|end| end == "ptx") && is_kept(path);
    let mut files: Vec<PathBuf> = all.filter(is_kernel).collect();
    files.sort();
    files
}

/// What is to be done with each kernel that has barriers.
fn each(mut with: impl FnMut(&Case<'_>)) {
    for path in files() {
        let file = path.file_name().expect("a file").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a text");
        let found = entries(&Source::new(&file, text.as_bytes())).expect("a module");
        let read = kernels(&text);
        let names: Vec<_> = read.iter().map(|kernel| &kernel.name).collect();
        assert_eq!(found.iter().map(|entry| &entry.name).collect::<Vec<_>>(), names, "{file}");
        for (entry, kernel) in found.iter().zip(&read).filter(|(entry, _)| entry.synchronises) {
            let threads = u32::try_from(variable("BARCHECK_THREADS", 128)).expect("a size");
            let size = kernel.required.or(kernel.most).unwrap_or([threads, 1, 1]);
            with(&Case { file: &file, text: &text, index: entry.index, kernel, size, what: "as it is" });
        }
    }
}

/// Makes a slip.
type Make = fn(&str, &Kernel, &mut Chance) -> Option<Mutant>;

/// Every second kernel, so that the halves are looked at beside one another.
fn never_hangs(half: usize) {
    let (many, slips) = (variable("BARCHECK_RUNS", 40), variable("BARCHECK_MUTANTS", 2));
    let first = variable("BARCHECK_SEED", 1);
    let (mut tally, mut slipped, mut moved) = (Tally::default(), Tally::default(), Tally::default());
    let mut number = 0;
    each(|case| {
        number += 1;
        if number % 2 != half || !tally.judge(case, first..first + many) {
            return;
        }
        let says = tally.says_of_races;
        let mut chance = Chance(first ^ (case.index as u64) << 32);
        for slip in 0..slips + if says { slips / 2 } else { 0 } {
            let (make, of): (Make, _) =
                if slip < slips { (mutant, &mut slipped) } else { (memory_mutant, &mut moved) };
            let Some(mutant) = make(case.text, case.kernel, &mut chance) else { continue };
            let read = kernels(&mutant.text);
            let kernel = &read[case.index];
            let case = Case { text: &mutant.text, kernel, what: &mutant.what, ..*case };
            of.judge(&case, first..first + many / 4);
        }
    });
    tally.report("kernels");
    slipped.report("slips");
    moved.report("slips about shared memory");
    assert_eq!(tally.wrong.len() + slipped.wrong.len() + moved.wrong.len(), 0);
    assert!(tally.judged > 0 && slipped.failing * 10 >= slipped.judged, "hardly a slip fails");
}

#[test]
fn what_is_verified_never_hangs() {
    never_hangs(0);
}

#[test]
fn what_is_verified_among_the_others_never_hangs() {
    never_hangs(1);
}

#[test]
fn random_kernels_that_are_verified_never_hang() {
    let first = variable("BARCHECK_SEED", 1);
    let mut tally = Tally::default();
    for number in 0..variable("BARCHECK_RANDOM", 150) {
        let text = random_kernel(&mut Chance(first << 32 ^ number));
        let read = kernels(&text);
        let kernel = &read[0];
        let case = Case { file: "random.ptx", text: &text, index: 0, kernel, size: [96, 1, 1], what: "" };
        let before = tally.wrong.len() + tally.listed;
        tally.judge(&case, first..first + variable("BARCHECK_RUNS", 24));
        if tally.wrong.len() + tally.listed > before {
            println!("{text}");
        }
    }
    tally.report("random kernels");
    assert_eq!(tally.wrong.len(), 0);
}

/// Makes a kernel, and says how many threads it has.
type Write = fn(&mut Chance) -> (String, [u32; 3]);

fn races_if_it_is_said_to(write: Write, what: &'static str) -> Tally {
    let first = variable("BARCHECK_SEED", 1);
    let mut tally = Tally::default();
    for number in 0..variable("BARCHECK_RANDOM", 150) {
        let mut chance = Chance((first << 32 ^ number).wrapping_mul(0x9e37_79b9));
        let (text, size) = write(&mut chance);
        let read = kernels(&text);
        let case = Case { file: "random.ptx", text: &text, index: 0, kernel: &read[0], size, what };
        let before = tally.wrong.len() + tally.listed;
        tally.judge(&case, first..first + variable("BARCHECK_RUNS", 16));
        if tally.wrong.len() + tally.listed > before {
            println!("// number {number}\n{text}");
        }
    }
    tally.report(what);
    assert_eq!(tally.wrong.len(), 0);
    tally
}

#[test]
fn random_kernels_with_shared_memory_race_if_they_are_said_to() {
    let tally = races_if_it_is_said_to(random_kernel_with_shared_memory, "kernels with arrays");
    tally.says_enough_of_races();
}

#[test]
fn random_kernels_of_stages_race_if_they_are_said_to() {
    let tally = races_if_it_is_said_to(random_kernel_of_stages, "kernels of stages");
    tally.says_enough_of_races();
}

#[test]
fn random_kernels_of_warps_race_if_they_are_said_to() {
    let tally = races_if_it_is_said_to(random_kernel_of_warps, "kernels of warps");
    tally.says_enough_of_races();
}

/// That it is looked for in the protocol tells kernels apart.
#[test]
fn a_slip_is_no_run_of_the_kernel_before_it() {
    let (mut judged, mut other) = (0, 0);
    each(|case| {
        // Runs are of one CTA.
        let Some(program) = case.program().filter(|program| program.ctas == 1) else { return };
        let mut chance = Chance(7);
        for seed in 0..4 {
            let Some(mutant) = mutant(case.text, case.kernel, &mut chance) else { continue };
            let read = kernels(&mutant.text);
            let launch = Launch { size: case.size, seed, fuel: FUEL, races: false };
            let Run { outcome, events, .. } = run(&read[case.index], &launch);
            // What ends there is a run of either.
            if matches!(outcome, Outcome::Beyond(_)) {
                continue;
            }
            judged += 1;
            other += usize::from(matches!(follow(&program, &events), Followed::No(..)));
        }
    });
    assert!(other * 5 >= judged, "{other} of {judged}");
}
