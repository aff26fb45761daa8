//! Searches that outgrow memory, and searches that are ended and go on: the outcome is that of one that was
//! left alone.

mod heads;
mod naive;
mod outcomes;

use barcheck::{
    Budgets, Control, Inconclusive, Levels, Note, Outcome, Progress, Quiet, Reduction, Settings, Verdict,
    check,
};
use barcheck_model::machine::Options;
use barcheck_model::program::Program;
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::bar::{LoadOptions, load};
use heads::{files, head};
use naive::generate::generate;
use outcomes::{program, shown};
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

const PAIRS: &str = include_str!("../../specs/protocols/ptx/independent_pairs.bar");

/// Pairs that go round for ever; warp 8 waits for somebody who never comes.
const STUCK: &str = "
target ptx;
param K = 7;
param LOST = 0;
cta 288;
warps 0..8 { let n = 0; loop { bar.sync warp / 2, 64; n = (n + 1) % K; } }
warp 8 { if (LOST) { bar.sync 9, 64; } }
";

/// Ends the search at the n-th look, and keeps the notes.
struct Ending {
    looks_left: Cell<u64>,
    notes: RefCell<Vec<String>>,
}

impl Ending {
    fn after(looks: u64) -> Self {
        Self { looks_left: Cell::new(looks), notes: RefCell::default() }
    }
}

impl Control for Ending {
    fn goes_on(&self, _: Progress) -> bool {
        self.looks_left.set(self.looks_left.get().saturating_sub(1));
        self.looks_left.get() > 0
    }

    fn notes(&self, note: Note<'_>) {
        self.notes.borrow_mut().push(format!("{note:?}"));
    }
}

fn with_memory(program: &Arc<Program>, mebibytes: u64, settings: &Settings) -> (Outcome, Vec<String>) {
    let budgets = Budgets { max_memory: Some(mebibytes << 20), ..Budgets::default() };
    let control = Ending::after(u64::MAX);
    let settings = Settings { budgets, spill: Some(std::env::temp_dir()), ..settings.clone() };
    let outcome = check(Arc::clone(program), Options::default(), &settings, &control);
    (outcome, control.notes.into_inner())
}

#[test]
fn a_search_that_outgrows_memory_goes_on_with_old_states_on_disk() {
    let none = Settings { all: true, reduction: Reduction::None, ..Settings::default() };
    for (name, text, defines, mebibytes, verdict) in [
        ("pairs", PAIRS, &[("W", 8), ("K", 12)][..], 24, Verdict::Verified),
        ("rounds", STUCK, &[("LOST", 0)], 16, Verdict::Verified),
        ("stuck", STUCK, &[("LOST", 1)], 16, Verdict::Violated),
    ] {
        let program = program(text, defines);
        let alone = check(Arc::clone(&program), Options::default(), &none, &Quiet);
        let (outcome, notes) = with_memory(&program, mebibytes, &none);
        assert_eq!(alone.verdict, verdict, "{name}");
        assert_eq!(shown(&outcome), shown(&alone), "{name}");
        assert!(
            notes.iter().any(|note| note.starts_with("MovesToDisk")),
            "{name}: {notes:?} {:?}",
            outcome.statistics
        );
        assert!(outcome.statistics.peak_memory_bytes <= mebibytes << 20, "{name}: {:?}", outcome.statistics);
    }
}

/// Runs a search again and again, each time a few looks longer, until it is complete. Says how often it went
/// on.
fn resumed(program: &Arc<Program>, settings: &Settings) -> (Outcome, usize) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let settings = Settings { checkpoint: Some(folder.path().to_owned()), ..settings.clone() };
    let mut times = 0;
    for looks in 2.. {
        let control = Ending::after(looks);
        let outcome = check(Arc::clone(program), Options::default(), &settings, &control);
        let (was_ended, notes) = (control.looks_left.get() == 0, control.notes.into_inner());
        times += notes.iter().filter(|note| note.starts_with("Resumes")).count();
        let odd =
            notes.iter().find(|note| note.starts_with("CannotResume") || note.starts_with("NoCheckpoint"));
        // A run may be over before the model has been asked all that it was asked before.
        assert!(odd.is_none_or(|note| note.contains("time is up")), "{odd:?}");
        if !was_ended {
            let left = std::fs::read_dir(folder.path()).expect("a folder").count();
            assert_eq!(
                left, 0,
                "checkpoints of a search that is complete: {:?} {:?}",
                outcome.verdict, outcome.statistics
            );
            return (outcome, times);
        }
    }
    unreachable!("some number of looks is enough")
}

#[test]
fn a_search_that_is_ended_again_and_again_comes_to_the_same_outcome() {
    let none = Settings { all: true, reduction: Reduction::None, ..Settings::default() };
    let pairs = program(PAIRS, &[("W", 6), ("K", 12)]);
    let stuck = program(STUCK, &[("K", 3), ("LOST", 1)]);
    for (name, program) in [("pairs", &pairs), ("stuck", &stuck)] {
        let alone = check(Arc::clone(program), Options::default(), &none, &Quiet);
        let (outcome, times) = resumed(program, &none);
        assert_eq!(shown(&outcome), shown(&alone), "{name}");
        assert!(times > 3, "{name}: {times}");
    }
}

/// Settings that differ from one protocol to the next.
fn settings_for(number: usize, levels: &Levels, most: u64) -> Settings {
    let budgets = Budgets { max_states: Some(most), ..Budgets::default() };
    let reduction = if number.is_multiple_of(3) { Reduction::Symmetry } else { Reduction::None };
    let all = !number.is_multiple_of(4);
    Settings { all, levels: levels.clone(), reduction, budgets, ..Settings::default() }
}

/// The library, and random protocols with these seeds: names, programs and levels.
fn library_and_random_ones(seeds: u64) -> Vec<(String, Arc<Program>, Levels)> {
    let mut all = Vec::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let head = head(&text);
        let loaded = load(text.as_bytes(), &LoadOptions { defines: head.defines }).expect("a valid protocol");
        let levels = Levels { changes: head.changes, strict: true };
        all.push((path.display().to_string(), Arc::new(loaded.program), levels));
    }
    for seed in 0..seeds {
        let text = generate(seed).text();
        all.push((format!("seed {seed}\n{text}"), program(&text, &[]), Levels::default()));
    }
    all
}

#[test]
fn protocols_of_the_library_and_random_ones_go_on_from_their_checkpoints() {
    let mut times = 0;
    for (number, (name, program, levels)) in library_and_random_ones(300).iter().enumerate() {
        let settings = settings_for(number, levels, 30_000);
        let alone = check(Arc::clone(program), Options::default(), &settings, &Quiet);
        if !(3_000..30_000).contains(&alone.statistics.states) || alone.inconclusive.is_some() {
            continue;
        }
        let (outcome, went_on) = resumed(program, &settings);
        assert_eq!(shown(&outcome), shown(&alone), "{name}");
        times += went_on;
    }
    println!("{times} times");
    assert!(times > 20, "{times}");
}

/// Starts a long search that keeps checkpoints in a folder.
fn long_search(checkpoints: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_barcheck"));
    let ring = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/protocols/ptx/ring.bar");
    let sizes = ["-D", "P=4", "-D", "C=4", "-D", "S=2", "-D", "I=4"];
    command.args(["verify", "--all", "--reduction", "none", "--format", "json"]).args(sizes).arg(ring);
    command.arg("--checkpoint").arg(checkpoints).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// The report, time and memory aside.
fn report(output: &[u8]) -> serde_json::Value {
    let mut report: serde_json::Value = serde_json::from_slice(output).expect("a report");
    let statistics = report["statistics"].as_object_mut().expect("statistics");
    assert!(statistics.remove("seconds").is_some() && statistics.remove("peak_memory_bytes").is_some());
    report
}

/// What the records of all searches in a folder say.
fn records(checkpoints: &Path) -> Vec<String> {
    let folders = std::fs::read_dir(checkpoints).into_iter().flatten().flatten();
    folders.filter_map(|folder| std::fs::read_to_string(folder.path().join("record.json")).ok()).collect()
}

#[test]
fn a_search_that_is_killed_ten_times_comes_to_the_same_report() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let (undisturbed, killed) = (folder.path().join("undisturbed"), folder.path().join("killed"));
    let alone = long_search(&undisturbed).output().expect("a process");
    let mut random = 12_345_u64;
    let (mut kills, mut went_on) = (0, 0);
    while kills < 10 {
        let before = records(&killed);
        let mut process = long_search(&killed).spawn().expect("a process");
        while records(&killed) == before && process.try_wait().expect("a process").is_none() {
            sleep(Duration::from_millis(5));
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        sleep(Duration::from_millis(random >> 56));
        process.kill().expect("a process");
        let ended = process.wait().expect("a process");
        kills += usize::from(ended.code().is_none());
        went_on += usize::from(!before.is_empty());
    }
    assert!(went_on > 4, "{went_on}");
    let outcome = long_search(&killed).output().expect("a process");
    assert_eq!(report(&outcome.stdout), report(&alone.stdout));
    assert!(records(&killed).is_empty());
}

#[test]
fn a_checkpoint_survives_a_run_that_is_ended_before_it_has_been_read() {
    let none = Settings { all: true, reduction: Reduction::None, ..Settings::default() };
    let pairs = program(PAIRS, &[("W", 6), ("K", 8)]);
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let settings = Settings { checkpoint: Some(folder.path().to_owned()), ..none };
    let run = |looks| {
        let control = Ending::after(looks);
        let outcome = check(Arc::clone(&pairs), Options::default(), &settings, &control);
        (outcome.inconclusive, control.notes.into_inner())
    };
    assert_eq!(run(12), (Some(Inconclusive::Interrupted), Vec::new()));
    let before = records(folder.path());
    assert_eq!(run(1), (Some(Inconclusive::Interrupted), Vec::new()));
    assert_eq!(records(folder.path()), before);
    let (inconclusive, notes) = run(u64::MAX);
    assert_eq!(inconclusive, None);
    assert!(notes[0].starts_with("Resumes"), "{notes:?}");
}

#[test]
fn a_damaged_checkpoint_is_not_used() {
    let none = Settings { all: true, reduction: Reduction::None, ..Settings::default() };
    let pairs = program(PAIRS, &[("W", 6), ("K", 8)]);
    let alone = check(Arc::clone(&pairs), Options::default(), &none, &Quiet);
    for name in ["states-", "parents-", "asked-", "rests-", "record"] {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let settings = Settings { checkpoint: Some(folder.path().to_owned()), ..none.clone() };
        let ended = check(Arc::clone(&pairs), Options::default(), &settings, &Ending::after(8));
        assert_eq!(ended.inconclusive, Some(Inconclusive::Interrupted), "{name}");
        let of_search =
            std::fs::read_dir(folder.path()).expect("a folder").next().expect("one").expect("one");
        let file = std::fs::read_dir(of_search.path()).expect("a folder").flatten();
        let file = file
            .map(|file| file.path())
            .find(|path| path.file_name().is_some_and(|found| found.to_string_lossy().starts_with(name)));
        let file = file.unwrap_or_else(|| panic!("{name}"));
        let mut bytes = std::fs::read(&file).expect("a file");
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        std::fs::write(&file, bytes).expect("a file");
        let control = Ending::after(u64::MAX);
        let outcome = check(Arc::clone(&pairs), Options::default(), &settings, &control);
        assert_eq!(shown(&outcome), shown(&alone), "{name}");
        let notes = control.notes.into_inner();
        assert!(notes.iter().any(|note| note.starts_with("CannotResume")), "{name}: {notes:?}");
    }
}

#[test]
fn hashes_of_states_say_what_the_states_say() {
    let (mut compared, mut forgotten, mut violated) = (0, 0, 0);
    for (number, (name, program, levels)) in library_and_random_ones(700).iter().enumerate() {
        let settings = settings_for(number, levels, 10_000);
        let decide = |compact| {
            let settings = Settings { compact, ..settings.clone() };
            check(Arc::clone(program), Options::default(), &settings, &Quiet)
        };
        let (mut exact, compact) = (decide(false), decide(true));
        assert!(compact.statistics.odds_of_omission.is_some_and(|odds| odds < 1e-9), "{name}");
        assert_eq!(exact.statistics.odds_of_omission, None);
        if compact.inconclusive == Some(Inconclusive::Forgotten) {
            let stuck = |rule| rule == Rule::StuckAgent;
            assert!(
                exact.findings.iter().all(|found| found.level < Level::Error || stuck(found.finding.rule))
            );
            forgotten += 1;
            continue;
        }
        // That nothing more is to be found is not known where states would be needed to tell.
        if exact.findings.iter().any(|found| found.finding.rule == Rule::StuckAgent) {
            exact.findings.retain(|found| found.finding.rule != Rule::StuckAgent);
        }
        exact.statistics.complete = compact.statistics.complete;
        if compact.uncovered == Some(Inconclusive::Forgotten) {
            exact.uncovered = compact.uncovered.clone();
        }
        assert_eq!(shown(&compact), shown(&exact), "{name}");
        compared += 1;
        violated += u32::from(compact.verdict == Verdict::Violated);
    }
    println!("{compared} compared, {violated} violated, {forgotten} inconclusive since states are forgotten");
    assert!(compared > 500 && violated > 100 && forgotten > 5);
}

#[test]
fn paths_of_a_large_search_are_found_again_although_its_states_are_forgotten() {
    // A race late in the search, and numbers that outgrow their fields by the way.
    let racing = PAIRS
        .replace("warps 0..W", "warp W { bar.sync 15, 64; }\nwarps 0..W")
        .replace("cta 32 * W", "cta 32 * W + 32");
    let program = program(&racing, &[("W", 6), ("K", 14)]);
    for all in [false, true] {
        let exact = Settings { all, reduction: Reduction::None, ..Settings::default() };
        let compact = Settings { compact: true, ..exact.clone() };
        let exact = check(Arc::clone(&program), Options::default(), &exact, &Quiet);
        let compact = check(Arc::clone(&program), Options::default(), &compact, &Quiet);
        assert_eq!((exact.verdict, exact.statistics.states > 70_000), (Verdict::Violated, true));
        assert_eq!(shown(&compact), shown(&exact));
        let bytes = compact.statistics.peak_memory_bytes;
        assert!((9..40).contains(&(bytes / compact.statistics.states)), "{bytes}");
    }
}
