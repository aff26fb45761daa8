//! The library of protocols is a test: each file's head says what is expected of it.

use barcheck::{Levels, Quiet, Reduction, Settings, Verdict, check};
use barcheck_model::machine::{ExitedThreads, Options};
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::bar::{LoadOptions, load};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the head of a file says.
struct Head {
    expect: String,
    rules: BTreeSet<String>,
    defines: BTreeMap<String, i64>,
    options: Options,
    changes: Vec<(Rule, Level)>,
}

fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let lines = text.lines().take_while(|line| line.starts_with("//"));
    lines.filter_map(|line| line.trim_start_matches('/').trim().strip_prefix(name)).map(str::trim).next()
}

fn head(text: &str) -> Head {
    let rules = field(text, "rules:").expect("a head names the rules");
    let rules = rules.split(',').map(str::trim).filter(|r| *r != "none" && !r.is_empty());
    let mut head = Head {
        expect: field(text, "expect:").expect("a head names the verdict").to_owned(),
        rules: rules.map(str::to_owned).collect(),
        defines: BTreeMap::new(),
        options: Options::default(),
        changes: Vec::new(),
    };
    let mut words = field(text, "options:").unwrap_or_default().split_whitespace();
    while let Some(word) = words.next() {
        let value = words.next().expect("every option has a value");
        let rule = || Rule::from_name(value).expect("a rule");
        match word {
            "-D" => {
                let (name, number) = value.split_once('=').expect("NAME=VALUE");
                head.defines.insert(name.to_owned(), number.parse().expect("a number"));
            }
            "--exited-threads" if value == "release" => head.options.exited_threads = ExitedThreads::Release,
            "--deny" => head.changes.push((rule(), Level::Error)),
            "--warn" => head.changes.push((rule(), Level::Warning)),
            "--allow" => head.changes.push((rule(), Level::Allow)),
            other => panic!("option {other} is not understood"),
        }
    }
    head
}

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/protocols");
    let mut files = Vec::new();
    for folder in std::fs::read_dir(root).expect("the library").flatten() {
        if folder.path().is_dir() {
            files.extend(std::fs::read_dir(folder.path()).expect("a folder").flatten().map(|f| f.path()));
        }
    }
    files.retain(|f| f.extension().is_some_and(|e| e == "bar"));
    files.sort();
    files
}

/// Decides a file as its head asks, in all-violations mode, and compares. `None` if it agrees.
fn disagreement(path: &Path, reduction: Reduction) -> Option<String> {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let head = head(&text);
    let loaded = match load(text.as_bytes(), &LoadOptions { defines: head.defines }) {
        Ok(loaded) => loaded,
        Err(diagnostics) => return Some(format!("{}: {:?}", path.display(), diagnostics.first())),
    };
    let mut settings = Settings { all: true, reduction, ..Settings::default() };
    settings.levels = Levels { changes: head.changes.clone(), strict: true };
    let outcome = check(Arc::new(loaded.program), head.options, &settings, &Quiet);
    let rules: BTreeSet<String> = outcome.findings.iter().map(|f| f.finding.rule.name().to_owned()).collect();
    let verdict = outcome.verdict.name();
    (verdict != head.expect || rules != head.rules).then(|| {
        format!(
            "{}: expected {} {:?}, found {verdict} {rules:?} ({:?}, {} states)",
            path.display(),
            head.expect,
            head.rules,
            outcome.inconclusive,
            outcome.statistics.states
        )
    })
}

fn disagreements(reduction: Reduction, skip: &[&str]) -> Vec<String> {
    let wanted = |f: &PathBuf| !skip.iter().any(|s| f.ends_with(s));
    files().into_iter().filter(wanted).filter_map(|f| disagreement(&f, reduction)).collect()
}

#[test]
fn every_protocol_of_the_library_gets_the_verdict_and_the_rules_that_its_head_expects() {
    for reduction in [Reduction::Symmetry, Reduction::Auto] {
        let wrong = disagreements(reduction, &[]);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
    assert!(files().len() >= 90);
}

#[test]
fn the_plain_search_agrees_on_every_protocol_that_it_can_cover() {
    let too_large = ["ptx/ping_pong_32_warps.bar", "ptx/endless_rendezvous_32_warps.bar"];
    let wrong = disagreements(Reduction::None, &too_large);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_error_that_stops_the_search_is_one_that_all_violations_mode_reports_too() {
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        let head = head(&text);
        let loaded = load(text.as_bytes(), &LoadOptions { defines: head.defines });
        let program = Arc::new(loaded.expect("a valid file").program);
        let levels = Levels { changes: head.changes, strict: false };
        let settings = Settings { levels, ..Settings::default() };
        let outcome = check(program, head.options, &settings, &Quiet);
        let errors: Vec<_> = outcome.findings.iter().filter(|f| f.level == Level::Error).collect();
        assert_eq!(outcome.verdict.name(), head.expect, "{}", path.display());
        assert_eq!(outcome.verdict == Verdict::Violated, !errors.is_empty(), "{}", path.display());
        assert!(errors.iter().all(|f| head.rules.contains(f.finding.rule.name())), "{}", path.display());
    }
}
