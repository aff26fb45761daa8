//! A second judge of kernels: an emulator runs them, and slips of them, with random inputs and in random
//! schedules. A kernel that is verified never hangs there and never misuses a barrier.
//!
//! `BARCHECK_RUNS=N` sets the runs of each kernel, `BARCHECK_MUTANTS=N` the slips of each, `BARCHECK_SEED=N` the
//! first seed. `BARCHECK_KERNELS=FOLDER` has the kernels of a folder judged instead; `BARCHECK_THREADS=N` is
//! their size where they do not say. What is violated and does not fail here is listed.

mod emulator;

use barcheck::{Decision, LoadOptions, Options, Source, Verdict, decide};
use barcheck_model::program::Program;
use barcheck_specs::{entries, load};
use emulator::{Chance, Followed, Kernel, Launch, Outcome, follow, kernels, mutant, run};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Steps of a run.
const FUEL: usize = 40_000;

/// Rules about what may happen in another order, or is true of no single run.
const UNSEEN: [&str; 4] = ["arrival-race", "data-race", "missing-fence", "stuck-agent"];

fn variable(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}

/// What many runs of a kernel came to.
#[derive(Default)]
struct Runs {
    ends: BTreeMap<&'static str, usize>,
    /// The first seeds with their failures, by kind.
    failures: BTreeMap<String, (u64, String)>,
    beyond: Option<String>,
    /// Runs that were looked for in the protocol, those that are runs of it, the first that is none.
    looked_for: usize,
    followed: usize,
    missing: Option<(u64, String)>,
}

/// Events of a run that are looked for in the protocol.
const EVENTS: usize = 400;
/// Runs of a kernel that are looked for in the protocol.
const LOOKED_FOR: usize = 20;

fn runs(
    kernel: &Kernel,
    size: [u32; 3],
    seeds: std::ops::Range<u64>,
    program: Option<&Arc<Program>>,
) -> Runs {
    let mut runs = Runs::default();
    let mut fuel_lost = 0;
    for seed in seeds {
        let (outcome, events) = run(kernel, &Launch { size, seed, fuel: FUEL });
        let has_objects = kernel.code.iter().any(|instruction| instruction.text.contains("mbarrier"));
        if let Some(program) = program.filter(|_| !has_objects).filter(|_| runs.looked_for < LOOKED_FOR) {
            runs.looked_for += 1;
            match follow(program, &events[..events.len().min(EVENTS)]) {
                Followed::Yes => runs.followed += 1,
                Followed::GivenUp => {}
                Followed::No(index, what) => {
                    let before: Vec<_> = events[..index].iter().rev().take(6).collect();
                    let story = format!("event {index}, {what}, behind {before:?}");
                    runs.missing.get_or_insert((seed, story));
                }
            }
        }
        let name = match outcome {
            Outcome::Finished => "finished",
            Outcome::Trapped => "trapped",
            Outcome::OutOfFuel => "out of fuel",
            Outcome::Apart(_) => "apart",
            Outcome::Hang(story) => {
                runs.failures.entry("hang".to_owned()).or_insert((seed, story));
                "hang"
            }
            Outcome::Misuse(rule, story) => {
                runs.failures.entry(rule).or_insert((seed, story));
                "misuse"
            }
            Outcome::Beyond(what) => {
                runs.beyond = Some(what);
                "beyond"
            }
        };
        *runs.ends.entry(name).or_default() += 1;
        fuel_lost += usize::from(name == "out of fuel");
        let count = runs.ends.values().sum::<usize>();
        // What never ends within the fuel, or is not emulated, would cost most of the time.
        if fuel_lost >= 20 && fuel_lost == count
            || runs.ends.get("beyond").is_some_and(|n| *n >= 5 && *n == count)
        {
            break;
        }
    }
    runs
}

/// A kernel of a module, by its place among the entries.
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
        decide(&self.source(), &Options { load: self.options(), ..Options::default() })
    }

    /// The protocol that was extracted, if one was.
    fn program(&self) -> Option<Arc<Program>> {
        Some(Arc::new(load(&self.source(), &self.options()).ok()?.program))
    }
}

#[derive(Default)]
struct Tally {
    judged: usize,
    runs: usize,
    failing: usize,
    verdicts: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
    listed: Vec<String>,
    beyond: BTreeMap<String, usize>,
    never: usize,
    looked_for: usize,
    followed: usize,
}

impl Tally {
    /// Has a kernel judged by both; false where it is not emulated.
    fn judge(&mut self, case: &Case<'_>, seeds: std::ops::Range<u64>) -> bool {
        let decision = case.decide();
        let program = case.program();
        let found = runs(case.kernel, case.size, seeds, program.as_ref());
        self.looked_for += found.looked_for;
        self.followed += found.followed;
        self.judged += 1;
        if std::env::var_os("BARCHECK_SHOW").is_some() {
            println!(
                "{} {}: {}, {:?} {:?} {:?}",
                case.file,
                case.kernel.name,
                decision.verdict.name(),
                found.ends,
                found.failures,
                found.beyond
            );
        }
        self.runs += found.ends.values().sum::<usize>();
        *self.verdicts.entry(decision.verdict.name()).or_default() += 1;
        let title = format!("{}, {} {:?} ({})", case.file, case.kernel.name, case.size, case.what);
        if let Some(what) = &found.beyond {
            let what = what.split(": ").nth(1).unwrap_or_default();
            let word = what.split(' ').find(|word| !word.starts_with('@')).unwrap_or_default();
            *self.beyond.entry(word.to_owned()).or_default() += 1;
        }
        if let Some((seed, story)) = &found.missing {
            self.wrong.push(format!("{title}: seed {seed} is no run of its protocol: {story}"));
        }
        self.failing += usize::from(!found.failures.is_empty());
        self.never += usize::from(!found.ends.contains_key("finished") && found.failures.is_empty());
        let is_data = decision.findings.iter().any(|finding| !finding.data.is_empty());
        match decision.verdict {
            Verdict::Verified => {
                for (rule, (seed, story)) in &found.failures {
                    self.wrong.push(format!("{title}: verified, and seed {seed}: {rule}\n  {story}"));
                }
            }
            Verdict::Violated if found.failures.is_empty() && !is_data => {
                let rules: Vec<_> = decision.findings.iter().map(|found| found.rule.name()).collect();
                if rules.iter().all(|rule| UNSEEN.contains(rule)) {
                    return true;
                }
                self.listed.push(format!("{title}: {rules:?}, and {:?}", found.ends));
            }
            _ => {}
        }
        found.ends.keys().any(|end| *end != "beyond")
    }
}

fn files() -> Vec<PathBuf> {
    let mine = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/kernels");
    let folder = std::env::var_os("BARCHECK_KERNELS").map_or(mine, PathBuf::from);
    let all = std::fs::read_dir(folder).expect("a folder").flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        all.filter(|path| path.extension().is_some_and(|end| end == "ptx")).collect();
    files.sort();
    files
}

#[test]
fn what_is_verified_never_hangs() {
    let (many, slips) = (variable("BARCHECK_RUNS", 60), variable("BARCHECK_MUTANTS", 12));
    let first = variable("BARCHECK_SEED", 1);
    let mut tally = Tally::default();
    let mut slipped = Tally::default();
    for path in files() {
        let file = path.file_name().expect("a file").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a text");
        let found = entries(&Source::new(&file, text.as_bytes())).expect("a module");
        let read = kernels(&text);
        assert_eq!(
            found.iter().map(|entry| &entry.name).collect::<Vec<_>>(),
            read.iter().map(|kernel| &kernel.name).collect::<Vec<_>>()
        );
        for (entry, kernel) in found.iter().zip(&read).filter(|(entry, _)| entry.synchronises) {
            let threads = u32::try_from(variable("BARCHECK_THREADS", 128)).expect("a size");
            let size = kernel.required.or(kernel.most).unwrap_or([threads, 1, 1]);
            let case = Case { file: &file, text: &text, index: entry.index, kernel, size, what: "as it is" };
            if !tally.judge(&case, first..first + many) {
                continue;
            }
            let mut chance = Chance(first ^ (entry.index as u64) << 32);
            for _ in 0..slips {
                let Some(mutant) = mutant(&text, kernel, &mut chance) else { continue };
                let read = kernels(&mutant.text);
                let kernel = &read[entry.index];
                let case = Case { text: &mutant.text, kernel, what: &mutant.what, ..case };
                slipped.judge(&case, first..first + many / 4);
            }
        }
    }
    for (name, tally) in [("kernels", &tally), ("mutants", &slipped)] {
        let Tally { judged, runs, failing, verdicts, beyond, never, looked_for, followed, .. } = tally;
        println!("{judged} {name}, {runs} runs, {failing} fail, {never} never end, {verdicts:?}");
        println!("{followed} of {looked_for} runs are followed in the protocol");
        println!("not emulated: {beyond:?}");
        tally.listed.iter().for_each(|listed| println!("inspect: {listed}"));
    }
    let wrong: Vec<&String> = tally.wrong.iter().chain(&slipped.wrong).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(tally.judged >= 10 && tally.failing > 0 || std::env::var_os("BARCHECK_KERNELS").is_some());
}
