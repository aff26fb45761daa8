//! The most memory that the process takes against `--max-memory`, over searches of all kinds.

mod two;

use barcheck::{Budgets, Quiet, Reduction, Settings, check};
use barcheck_model::machine::Options;
use barcheck_specs::bar::{LoadOptions, load};
use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

/// The budget, in MiB. From 64 on it is one for the whole process.
const BUDGET: u64 = 64;

/// Many states of several words.
const WIDE: &str = "target ptx;
cta 1024;
warps 0..32 {
    let n = 0;
    let m = 0;
    loop { bar.sync warp / 2, 64; n = (n + 1) % 6; m = (m * 3 + n) % 17; }
}
";

/// Each warp has many configurations, which a few states lead to.
const ANY: &str = "target ptx;
cta 96;
shared x;
warps 0..3 {
    let a = any 0..4000;
    let b = any 0..4000;
    bar.sync 1, 96;
    if a == b { atomic x; }
    bar.sync 1, 96;
    assert a < 4000;
}
";

const MBARRIERS: &str = "target ptx;
cta 256;
mbarrier b[4] count 2;
shared x[4];
warps 0..8 {
    let n = 0;
    loop {
        if warp % 2 == 0 { write x[warp / 2]; }
        if lane == 0 { mbarrier.arrive b[warp / 2]; }
        mbarrier.wait.parity b[warp / 2], n & 1;
        if warp % 2 == 1 { read x[warp / 2]; }
        if lane == 0 { mbarrier.arrive b[warp / 2]; }
        mbarrier.wait.parity b[warp / 2], 1 - (n & 1);
        n = (n + 2) % 18;
    }
}
";

const CLUSTER: &str = "target ptx;
cluster 4;
cta 64;
shared x[2];
mbarrier full[2] count 4;
warps 0..2 {
    for i in 0..8 {
        write x[warp];
        if lane == 0 { for c in 0..4 { mbarrier.arrive.release.cluster full[warp] @ cta c; } }
        mbarrier.wait.parity full[warp], i & 1;
        read x[warp] @ cta (cluster_ctarank + 1) % 4;
        barrier.cluster.arrive;
        barrier.cluster.wait;
    }
}
";

const STORES: &str = "target ptx;
cta 160;
shared buf[5];
warps 0..5 {
    let s = 0;
    loop {
        write buf[warp];
        fence.proxy.async;
        if lane == 0 {
            cp.async.bulk.global buf[warp];
            cp.async.bulk.commit_group;
            cp.async.bulk.wait_group.read 0;
        }
        s = (s + 1) % 13;
    }
}
";

/// Who knows of which of many barriers is different after each outcome.
const OUTCOMES: &str = "target ptx;
cta 384;
mbarrier full[30] count 32;
mbarrier empty[30] count 352;
shared x[30];
warp 0 {
    let s = 0;
    let odd = 1;
    while uniform more ? {
        if uniform loads ? {
            mbarrier.wait.parity empty[s], odd;
            write x[s];
            mbarrier.arrive full[s];
            s = s + 1;
            if s == 30 { s = 0; odd = 1 - odd; }
        }
    }
}
warps 1..12 {
    let s = 0;
    let odd = 0;
    while uniform more ? {
        if uniform loads ? {
            mbarrier.wait.parity full[s], odd;
            read x[s];
            mbarrier.arrive empty[s];
            s = s + 1;
            if s == 30 { s = 0; odd = 1 - odd; }
        }
        if uniform pauses ? { bar.sync 1, 352; }
    }
}
";

/// Configurations of many locals each.
fn many_locals() -> String {
    let mut text = "target ptx;\ncta 64;\nwarps 0..2 {\n".to_owned();
    for local in 0..600 {
        writeln!(text, "    let v{local} = any 0..2;").expect("it is text");
    }
    text + "    bar.sync 1, 64;\n    assert v0 < 2;\n}\n"
}

/// A search: its name, its protocol, and its options. A folder of checkpoints is called `DIR`.
type Search = (&'static str, &'static str, &'static str);

const SEARCHES: &[Search] = &[
    ("states of one word", "pairs", "--reduction none"),
    ("with two threads", "pairs", "--reduction none --threads 2"),
    ("nothing on disk", "pairs", "--reduction none --no-spill"),
    ("hashes", "pairs", "--reduction none --compact"),
    ("hashes by two threads", "pairs", "--reduction none --compact --threads 2"),
    ("checkpoints", "pairs", "--reduction none --checkpoint DIR"),
    ("wide states", "wide", "--reduction none"),
    ("wide states, nothing on disk", "wide", "--reduction none --no-spill --threads 2"),
    ("hashes of wide states", "wide", "--reduction none --compact"),
    ("wide states with symmetry", "wide", "--reduction symmetry"),
    ("accesses", "ring", "--reduction none"),
    ("accesses with symmetry, nothing on disk", "ring", "--reduction symmetry --no-spill --threads 2"),
    ("choices", "any", "--reduction none"),
    ("choices, two threads, nothing on disk", "any", "--reduction none --no-spill --threads 2"),
    ("choices with symmetry", "any", "--reduction symmetry"),
    ("one run for each choice", "any", "--reduction stubborn"),
    ("clusters", "cluster", "--reduction symmetry --threads 2"),
    ("mbarriers", "mbarriers", "--reduction none"),
    ("mbarriers by two threads", "mbarriers", "--reduction none --threads 2 --no-spill"),
    ("copies out of shared memory", "stores", "--reduction none"),
    ("many locals", "locals", "--reduction stubborn"),
    ("few states", "mbarriers", "--reduction auto"),
];

/// The most memory that a process that runs has taken so far, in KiB.
fn peak_of(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// The most memory that a search takes, in KiB, and what it says.
fn measure(folder: &Path, (_, protocol, options): &Search) -> (u64, String) {
    let checkpoints = folder.join(format!("checkpoints of {protocol}"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_barcheck"));
    command.args(["verify", "--all", "--timeout", "1", "--max-memory", &format!("{BUDGET}M")]);
    for option in options.split(' ') {
        match option {
            "DIR" => command.arg(&checkpoints),
            _ => command.arg(option),
        };
    }
    let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../specs/protocols/ptx/");
    match *protocol {
        "pairs" => command.args(["-D", "W=8", "-D", "K=32"]).arg(format!("{library}independent_pairs.bar")),
        "ring" => command.args(["-D", "P=5", "-D", "C=5", "-D", "I=6"]).arg(format!("{library}ring.bar")),
        _ => command.arg(folder.join(format!("{protocol}.bar"))),
    };
    run(command)
}

/// The most memory that a process takes, in KiB, and what it says. Its last moments, in which it tells, are
/// not seen.
fn run(mut command: Command) -> (u64, String) {
    let mut process =
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the process begins");
    let mut peak = 0;
    while process.try_wait().expect("a process").is_none() {
        peak = peak_of(process.id()).unwrap_or(0).max(peak);
        sleep(Duration::from_millis(2));
    }
    let output = process.wait_with_output().expect("what it says");
    (peak, String::from_utf8(output.stdout).expect("text"))
}

#[test]
fn the_process_stays_within_its_budget_of_memory() {
    if peak_of(std::process::id()).is_none() {
        println!("the memory of a process is not to be seen here");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let locals = many_locals();
    for (name, text) in [
        ("wide", WIDE),
        ("any", ANY),
        ("mbarriers", MBARRIERS),
        ("cluster", CLUSTER),
        ("stores", STORES),
        ("locals", &locals),
    ] {
        std::fs::write(folder.path().join(format!("{name}.bar")), text).expect("a file");
    }
    let measured = two::in_two_threads(SEARCHES, |search| measure(folder.path(), search));
    let mut wrong = Vec::new();
    for ((name, ..), (peak, says)) in SEARCHES.iter().zip(measured) {
        let percent = peak * 100 / (BUDGET << 10);
        println!("{percent:3} % {name}");
        assert!(says.contains("verified") || says.contains("inconclusive"), "{name}: {says}");
        // Who gives up for want of memory has used most of it.
        let gives_up = says.contains("of memory");
        if percent > 110 || gives_up && percent < 45 {
            wrong.push(format!("{name}: {percent} %"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn what_the_runs_for_each_outcome_take_is_counted() {
    let Some(before) = peak_of(std::process::id()) else {
        println!("the memory of a process is not to be seen here");
        return;
    };
    let loaded = load(OUTCOMES.as_bytes(), &LoadOptions::default()).expect("a valid protocol");
    let budgets = Budgets { timeout: Some(Duration::from_secs(2)), ..Budgets::default() };
    let settings = Settings { all: true, reduction: Reduction::Stubborn, budgets, ..Settings::default() };
    let outcome = check(Arc::new(loaded.program), Options::default(), &settings, &Quiet);
    let taken = (peak_of(std::process::id()).expect("as before") - before) << 10;
    let counted = outcome.statistics.peak_memory_bytes;
    println!("{counted} bytes are counted, and the process takes {taken} more than before");
    assert!(counted > 2 << 20, "too little to see anything: {counted} bytes");
    assert!(taken < 2 * counted && counted < 2 * taken, "{counted} of {taken} bytes");
}

/// The counterexample is long, and a story is told of it.
const LONG_STORY: &str = "target ptx;
cta 1024;
warps 0..4 { for i in 0..5000 {
    if i >= 2 { bar.sync 3 + i % 2, 1024; }
    bar.arrive 1 + i % 2, 1024;
} }
warps 4..32 { for i in 0..5000 {
    bar.sync 1 + i % 2, 1024;
    if i + 3 < 5000 { bar.arrive 3 + i % 2, 1024; }
} }
";

const LITTLE: &str = "target ptx; cta 64; warps 0..2 { bar.sync 0; }";

#[test]
fn what_the_process_takes_is_told() {
    if peak_of(std::process::id()).is_none() {
        println!("the memory of a process is not to be seen here");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    for (name, text) in [("story.bar", LONG_STORY), ("outcomes.bar", OUTCOMES), ("little.bar", LITTLE)] {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let verify = |names: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_barcheck"));
        command.args(["verify", "--timeout", "2", "--format", "json"]);
        command.args(names.iter().map(|name| folder.path().join(name)));
        let (peak, says) = run(command);
        let told = says.lines().map(|line| {
            let report: serde_json::Value = serde_json::from_str(line).expect("a report");
            report["statistics"]["peak_memory_bytes"].as_u64().expect("bytes") >> 10
        });
        (peak, told.collect::<Vec<u64>>())
    };
    for name in ["story.bar", "outcomes.bar"] {
        let (most, told) = verify(&[name]);
        println!("{name}: {told:?} KiB are told, and the process takes {most}");
        assert!(told[0] * 10 > most * 9 && told[0] * 9 < most * 10, "{name}: {told:?} of {most} KiB");
    }
    let (_, told) = verify(&["little.bar", "story.bar"]);
    println!("one after the other: {told:?} KiB");
    assert!(2 * told[0] < told[1], "each by itself: {told:?} KiB");
}
