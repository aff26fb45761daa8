//! The heads of the library's protocols: what each is expected to come to, and under which options.

#![allow(dead_code, reason = "each test file uses a part of it")]

use barcheck_model::machine::{ExitedThreads, Options};
use barcheck_model::program::Program;
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::bar::{LoadOptions, load};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the head of a file says.
pub(crate) struct Head {
    pub(crate) expect: String,
    pub(crate) rules: BTreeSet<String>,
    pub(crate) defines: BTreeMap<String, i64>,
    pub(crate) options: Options,
    pub(crate) changes: Vec<(Rule, Level)>,
}

fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let lines = text.lines().take_while(|line| line.starts_with("//"));
    lines.filter_map(|line| line.trim_start_matches('/').trim().strip_prefix(name)).map(str::trim).next()
}

pub(crate) fn head(text: &str) -> Head {
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

pub(crate) fn files() -> Vec<PathBuf> {
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

/// The protocol in a file, and its options.
pub(crate) fn protocol(text: &str, head: &Head) -> Arc<Program> {
    let loaded = load(text.as_bytes(), &LoadOptions { defines: head.defines.clone() });
    Arc::new(loaded.expect("a valid file").program)
}
