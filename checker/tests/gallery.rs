//! The gallery holds the counterexample of every broken protocol of the library, as it is found today.
//!
//! `BLESS=1 cargo test -p barcheck --test gallery` writes it anew.

mod heads;

use barcheck::{Inconclusive, Levels, Quiet, Settings, check};
use barcheck_counterexamples::{SourceInfo, TRACE_SCHEMA, Trace, What, counterexample, replay};
use barcheck_model::rule::Level;
use barcheck_specs::bar::{LoadOptions, load};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};

/// More bytes than this are no gallery to keep beside the code.
const LARGEST: usize = 3_000_000;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn gallery() -> PathBuf {
    root().join("counterexamples/gallery")
}

/// The counterexample of a protocol, or the way to where it cannot be followed; `None` if there is neither.
fn shown(file: &Path) -> Option<Trace> {
    let text = fs::read_to_string(file).expect("a readable file");
    let head = heads::head(&text);
    let program = heads::protocol(&text, &head);
    let levels = Levels { changes: head.changes.clone(), strict: false, ..Levels::default() };
    let outcome =
        check(Arc::clone(&program), head.readings, &Settings { levels, ..Settings::default() }, &Quiet);
    let error = outcome.findings.iter().find(|found| found.level == Level::Error);
    let (path, what) = match (error, &outcome.fault, &outcome.inconclusive) {
        (Some(found), ..) => (&found.path, What::Finding(&found.finding, found.level)),
        (_, Some(reached), _) => (&reached.path, What::Fault(reached.agent, &reached.fault)),
        (.., Some(Inconclusive::Cut { agent, at, reason, path })) => (path, What::Cut(*agent, *at, reason)),
        _ => return None,
    };
    let folder = file.parent().and_then(Path::file_name).expect("a folder").to_string_lossy();
    let name = file.file_name().expect("a name").to_string_lossy();
    let source = SourceInfo {
        file: format!("specs/protocols/{folder}/{name}"),
        format: "bar".to_owned(),
        text,
        defines: head.defines,
    };
    let trace = counterexample(&program, head.readings, &source, path, what);
    Some(trace.unwrap_or_else(|departure| panic!("{}: {departure}", file.display())))
}

/// What the gallery is to hold: texts by their paths in it.
fn wanted() -> BTreeMap<PathBuf, String> {
    let mut texts = BTreeMap::new();
    let mut rows: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in heads::files() {
        let Some(trace) = shown(&file) else { continue };
        let target = trace.protocol.target.clone();
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        rows.entry(target.clone()).or_default().push(row(&target, &name, &trace));
        let json = trace.to_json_pretty().expect("traces can be written");
        texts.insert(PathBuf::from(target).join(format!("{name}.json")), format!("{json}\n"));
    }
    texts.insert(PathBuf::from("README.md"), index(&rows));
    texts
}

/// `| rule | protocol | what happens | steps |`
fn row(target: &str, name: &str, trace: &Trace) -> String {
    let outcome = &trace.outcome;
    let rule = outcome.rule.as_ref().map_or_else(|| "none".to_owned(), |rule| format!("`{rule}`"));
    let prefix = outcome.rule.as_ref().map_or_else(String::new, |rule| format!("{rule}: "));
    let headline = outcome.headline.strip_prefix(&prefix).unwrap_or(&outcome.headline).replace('|', "\\|");
    let cycle = if outcome.cycle_from.is_some() { ", then for ever" } else { "" };
    let (protocol, steps) = (format!("../../{}", trace.protocol.file), trace.steps.len());
    format!("| {rule} | [{name}]({protocol}) | {headline} | [{steps}{cycle}]({target}/{name}.json) |")
}

fn index(rows: &BTreeMap<String, Vec<String>>) -> String {
    let mut text = "\
# The gallery

The counterexample of every protocol of the [library](../../specs/protocols/README.md) that is broken: what `barcheck verify`
finds first. To look at one, or to go through it on the model once more:

```sh
barcheck view counterexamples/gallery/ptx/ring_never_frees.json -o ring.html
barcheck replay counterexamples/gallery/ptx/ring_never_frees.json
```

The traces carry their protocols and follow the [schema](../schema/trace-1.schema.json), so they serve to try out whatever reads
traces. This page and they are written by `BLESS=1 cargo test -p barcheck --test gallery`; without `BLESS` the test holds
them to what is found.
"
    .to_owned();
    for (target, rows) in rows {
        let mut rows = rows.clone();
        rows.sort();
        let _ = write!(
            text,
            "\n## {target}\n\n| rule | protocol | what happens | steps |\n|---|---|---|---|\n{}\n",
            rows.join("\n")
        );
    }
    text
}

/// The files of the gallery, by their paths in it; written anew before, if that is asked for.
fn found() -> BTreeMap<PathBuf, String> {
    static BLESSED: Once = Once::new();
    BLESSED.call_once(|| {
        if std::env::var_os("BLESS").is_some() {
            bless(&wanted());
        }
    });
    files()
}

fn files() -> BTreeMap<PathBuf, String> {
    let mut texts = BTreeMap::new();
    let mut open = vec![PathBuf::new()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = fs::read_dir(gallery().join(&folder)) else { continue };
        for entry in entries.map(|entry| entry.expect("an entry")) {
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                open.push(path);
            } else {
                texts.insert(path, fs::read_to_string(entry.path()).expect("a readable text"));
            }
        }
    }
    texts
}

fn bless(wanted: &BTreeMap<PathBuf, String>) {
    for path in files().keys().filter(|path| !wanted.contains_key(*path)) {
        fs::remove_file(gallery().join(path)).expect("it can be removed");
    }
    for (path, text) in wanted {
        let path = gallery().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        fs::write(path, text).expect("it can be written");
    }
}

#[test]
fn the_gallery_is_what_is_found_today() {
    let (found, wanted) = (found(), wanted());
    let names: BTreeSet<_> = wanted.keys().chain(found.keys()).collect();
    let differ: Vec<_> = names
        .into_iter()
        .filter_map(|name| match (wanted.get(name), found.get(name)) {
            (Some(_), None) => Some(format!("{} is missing", name.display())),
            (None, Some(_)) => Some(format!("{} is of no broken protocol", name.display())),
            (wanted, found) if wanted != found => Some(format!("{} is stale", name.display())),
            _ => None,
        })
        .collect();
    assert!(
        differ.is_empty(),
        "{}\n`BLESS=1 cargo test -p barcheck --test gallery` writes it anew",
        differ.join("\n")
    );
}

#[test]
fn every_trace_of_the_gallery_follows_the_schema_replays_and_names_a_file_of_the_repository() {
    let traces: Vec<_> =
        found().into_iter().filter(|(path, _)| path.extension().is_some_and(|e| e == "json")).collect();
    assert!(traces.len() > 100, "{} traces", traces.len());
    let size: usize = traces.iter().map(|(_, text)| text.len()).sum();
    assert!(size <= LARGEST, "{size} bytes");
    let schema = serde_json::from_str(TRACE_SCHEMA).expect("a schema is JSON");
    let validator = jsonschema::draft202012::new(&schema).expect("the schema can be used");
    for (path, text) in traces {
        let value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(validator.is_valid(&value), "{} is not of the schema", path.display());
        let trace = Trace::from_json(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let source = fs::read_to_string(root().join(&trace.protocol.file)).expect("a file of the repository");
        assert_eq!(source, trace.protocol.source, "{}", path.display());
        let options = LoadOptions { defines: trace.protocol.defines.clone() };
        let program = load(source.as_bytes(), &options).expect("a valid protocol").program;
        replay(&trace, Arc::new(program))
            .unwrap_or_else(|departure| panic!("{}: {departure}", path.display()));
    }
}
