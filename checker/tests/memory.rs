//! Searches that outgrow memory, and searches that are ended and go on: the outcome is that of one that was
//! left alone.

mod heads;
mod outcomes;

use barcheck::{
    Budgets, Control, Inconclusive, Levels, Note, Outcome, Progress, Quiet, Reduction, Settings, Verdict,
    check,
};
use barcheck_model::machine::Options;
use barcheck_model::program::Program;
use barcheck_model::rule::{Level, Rule};
use barcheck_naive::generate::generate;
use barcheck_specs::bar::{LoadOptions, load};
use heads::{files, head};
use outcomes::{program, shown};
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

const PAIRS: &str = include_str!("../../specs/protocols/ptx/independent_pairs.bar");

const RING: &str = include_str!("../../specs/protocols/ptx/ring.bar");

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
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Settings { checkpoint: Some(folder.path().to_owned()), ..settings.clone() };
    let mut times = 0;
    for looks in 2.. {
        let control = Ending::after(looks);
        let outcome = check(Arc::clone(program), Options::default(), &settings, &control);
        let (was_ended, notes) = (control.looks_left.get() == 0, control.notes.into_inner());
        times += notes.iter().filter(|note| note.starts_with("Resumes")).count();
        let odd =
            notes.iter().find(|note| note.starts_with("CannotResume") || note.starts_with("NoCheckpoint"));
        // A run may be over before the model is asked all that it was, and the first before it is known who
        // is alike.
        let may_be_odd = settings.reduction == Reduction::Symmetry && times == 0;
        assert!(odd.is_none_or(|note| note.contains("time is up") || may_be_odd), "{odd:?}");
        if !was_ended {
            let left = std::fs::read_dir(folder.path()).expect("a folder").count();
            assert_eq!(left, 0, "checkpoints of a search that is complete: {:?}", outcome.statistics);
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
        let levels = Levels { changes: head.changes, strict: true, ..Levels::default() };
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
        // One that is given up, after violations or before, may be gone on with: it keeps its checkpoint.
        let was_given_up = alone.inconclusive.is_some() || settings.all && !alone.statistics.complete;
        if !(3_000..30_000).contains(&alone.statistics.states) || was_given_up {
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

/// Ends the comparison of agents, at its first question, and the search at its third look.
struct EndingEarly(Ending);

impl Control for EndingEarly {
    fn goes_on(&self, progress: Progress) -> bool {
        progress.states > 0 && self.0.goes_on(progress)
    }
}

#[test]
fn a_checkpoint_of_a_search_that_does_not_know_who_is_alike_is_not_used_by_one_that_does() {
    let stuck = program(STUCK, &[("K", 7), ("LOST", 1)]);
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let plain = Settings { all: true, reduction: Reduction::Symmetry, ..Settings::default() };
    let alone = check(Arc::clone(&stuck), Options::default(), &plain, &Quiet);
    let settings = Settings { checkpoint: Some(folder.path().to_owned()), ..plain };
    let early = EndingEarly(Ending::after(3));
    let ended = check(Arc::clone(&stuck), Options::default(), &settings, &early);
    assert_eq!(ended.inconclusive, Some(Inconclusive::Interrupted));
    assert!(!records(folder.path()).is_empty());
    let control = Ending::after(u64::MAX);
    let outcome = check(Arc::clone(&stuck), Options::default(), &settings, &control);
    assert_eq!(shown(&outcome), shown(&alone));
    let notes = control.notes.into_inner();
    assert!(notes.iter().any(|note| note.starts_with("CannotResume")), "{notes:?}");
}

/// The files below the one folder in a folder of checkpoints, with what is in them.
fn checkpoint_in(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let searches = std::fs::read_dir(folder).expect("a folder").flatten();
    let files = searches.flat_map(|search| std::fs::read_dir(search.path()).expect("a folder").flatten());
    let read = |file: std::fs::DirEntry| (file.path(), std::fs::read(file.path()).expect("a file"));
    let mut files: Vec<_> = files.map(read).collect();
    files.sort();
    files
}

/// A search with what it says when nothing disturbs it, and a checkpoint of it.
struct Kept {
    name: &'static str,
    program: Arc<Program>,
    settings: Settings,
    _folder: tempfile::TempDir,
    alone: Outcome,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Kept {
    fn new(name: &'static str, text: &str, defines: &[(&str, i64)], reduction: Reduction) -> Self {
        let program = program(text, defines);
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let plain = Settings { all: true, reduction, ..Settings::default() };
        let alone = check(Arc::clone(&program), Options::default(), &plain, &Quiet);
        let settings = Settings { checkpoint: Some(folder.path().to_owned()), ..plain };
        let ended = check(Arc::clone(&program), Options::default(), &settings, &Ending::after(2));
        assert_eq!(ended.inconclusive, Some(Inconclusive::Interrupted), "{name}: {:?}", alone.statistics);
        let files = checkpoint_in(folder.path());
        assert!(files.len() > 4, "{name}: {files:?}");
        Self { name, program, settings, _folder: folder, alone, files }
    }

    /// Goes on from a checkpoint that holds these files, and says whether it was used.
    fn goes_on_from(&self, files: &[(PathBuf, Vec<u8>)], what: &str) -> bool {
        let _ = std::fs::remove_dir_all(self.files[0].0.parent().expect("a folder"));
        std::fs::create_dir_all(self.files[0].0.parent().expect("a folder")).expect("a folder");
        files.iter().for_each(|(path, bytes)| std::fs::write(path, bytes).expect("a file"));
        let control = Ending::after(u64::MAX);
        let outcome = check(Arc::clone(&self.program), Options::default(), &self.settings, &control);
        assert_eq!(shown(&outcome), shown(&self.alone), "{}: {what}", self.name);
        let notes = control.notes.into_inner();
        let used = notes.iter().any(|note| note.starts_with("Resumes"));
        let refused = notes.iter().any(|note| note.starts_with("CannotResume"));
        assert!(used != refused, "{}: {what}: {notes:?}", self.name);
        used
    }
}

/// Three searches: one verified, one violated at its end, one with memory.
fn kept() -> [Kept; 3] {
    [
        Kept::new("pairs", PAIRS, &[("W", 6), ("K", 4)], Reduction::None),
        Kept::new("stuck", STUCK, &[("K", 2), ("LOST", 1)], Reduction::None),
        Kept::new("ring", RING, &[("P", 3), ("C", 2), ("S", 2), ("I", 3)], Reduction::None),
    ]
}

/// BARCHECK_FLIPS=10000 cargo test -p barcheck --test memory flipped
#[test]
fn a_checkpoint_with_one_bit_flipped_is_never_used() {
    let flips = std::env::var("BARCHECK_FLIPS").ok().and_then(|flips| flips.parse().ok()).unwrap_or(300);
    let kept = kept();
    for search in &kept {
        assert!(search.goes_on_from(&search.files, "nothing is changed"), "{}", search.name);
    }
    let mut random = 2_463_534_242_u64;
    let mut below = |most: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).expect("31 bits") % most
    };
    for number in 0..flips {
        let search = &kept[number % kept.len()];
        let mut files = search.files.clone();
        // Every other one in the record, which is small and says what the others mean.
        let is_record = |(path, _): &(PathBuf, Vec<u8>)| path.ends_with("record.json");
        let record = files.iter().position(is_record).expect("a record");
        let file = if number % 2 == 0 { record } else { below(files.len()) };
        let (path, bytes) = &mut files[file];
        if bytes.is_empty() {
            continue;
        }
        let (at, bit) = (below(bytes.len()), below(8));
        bytes[at] ^= 1 << bit;
        let what = format!("bit {bit} of byte {at} of {}", path.display());
        assert!(!search.goes_on_from(&files, &what), "{}: {what}", search.name);
    }
}

#[test]
fn a_checkpoint_whose_figures_were_edited_is_never_used() {
    for search in &kept() {
        let record = search.files.iter().position(|(path, _)| path.ends_with("record.json"));
        let record = record.expect("a record");
        let text = String::from_utf8(search.files[record].1.clone()).expect("text");
        let json: serde_json::Value = serde_json::from_str(&text).expect("a record is JSON");
        for figure in ["next", "level_end", "transitions", "depth"] {
            let value = json["record"]["reached"]["at"][figure].as_u64().expect("a figure");
            for other in [value + 1, value - 1, 0, u64::from(u32::MAX)] {
                let (from, to) = (format!("\"{figure}\":{value}"), format!("\"{figure}\":{other}"));
                let mut files = search.files.clone();
                files[record].1 = text.replace(&from, &to).into_bytes();
                assert_ne!(files[record].1, search.files[record].1, "{from}");
                assert!(!search.goes_on_from(&files, &to), "{}: {to}", search.name);
            }
        }
    }
}

#[test]
fn a_checkpoint_of_another_protocol_or_with_files_missing_or_cut_is_never_used() {
    let kept = kept();
    for (one, other) in [(0, 1), (1, 2), (2, 0), (1, 0)] {
        let (one, other) = (&kept[one], &kept[other]);
        let here = one.files[0].0.parent().expect("a folder");
        let moved = |(path, bytes): &(PathBuf, Vec<u8>)| {
            (here.join(path.file_name().expect("a name")), bytes.clone())
        };
        let files: Vec<_> = other.files.iter().map(moved).collect();
        assert!(!one.goes_on_from(&files, "another protocol's"), "{}", one.name);
        // The record is this search's, and all other files are another's.
        let mixed = one.files.iter().filter(|(path, _)| path.ends_with("record.json")).cloned();
        let others = files.iter().filter(|(path, _)| !path.ends_with("record.json")).cloned();
        let mixed: Vec<_> = mixed.chain(others).collect();
        assert!(!one.goes_on_from(&mixed, "mixed"), "{}", one.name);
    }
    for search in &kept {
        for file in 0..search.files.len() {
            let (path, bytes) = &search.files[file];
            if bytes.is_empty() || path.ends_with("record.json") {
                continue;
            }
            let what = path.display().to_string();
            let mut files = search.files.clone();
            files[file].1.pop();
            assert!(!search.goes_on_from(&files, &what), "{}: {what}", search.name);
            files.remove(file);
            assert!(!search.goes_on_from(&files, &what), "{}: {what}", search.name);
        }
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
