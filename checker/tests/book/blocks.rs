//! Fenced blocks: each says what it is, and each kind is held to something.

use super::sandbox::{Sandbox, barcheck};
use super::{Page, pages, root};
use serde_json::Value;
use std::collections::BTreeSet;

/// Blocks that the viewer's own tests and those of the workflow compare, with the page that they stand on.
const HELD_ELSEWHERE: [(&str, &str); 3] = [
    ("text,screen", "checker/book/src/counterexamples.md"),
    ("yaml", "checker/book/src/ci.md"),
    ("text,diagram", "checker/book/src/map.md"),
];

#[test]
fn every_block_says_what_it_is() {
    for page in pages() {
        for block in &page.blocks {
            let held = ["sh", "bar", "bar,violated", "cuda", "rust", "json,shape"]
                .contains(&block.kind.as_str())
                || block.kind == "text" && block.follows
                || HELD_ELSEWHERE.contains(&(&block.kind, &page.path));
            assert!(held, "{}:{}: nothing holds a block of the kind `{}`", page.path, block.line, block.kind);
        }
    }
}

#[test]
fn every_protocol_gets_the_verdict_that_its_block_names() {
    let mut seen = 0;
    for page in pages() {
        for block in page.blocks.iter().filter(|block| block.kind.starts_with("bar")) {
            let output = barcheck(&["verify", "-"], &block.text);
            let wanted = if block.kind == "bar" { 0 } else { 1 };
            let printed = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(wanted), "{}:{}: {printed}", page.path, block.line);
            seen += 1;
        }
    }
    assert!(seen >= 7, "{seen}");
}

/// The syncs and arrivals of a text, in order: the words that stand behind `bar_` or `bar.`.
fn barriers(text: &str, prefix: &str) -> Vec<String> {
    let words = text.split(prefix).skip(1).map(|rest| rest.split(|c: char| !c.is_alphabetic()).next());
    words.flatten().filter(|word| ["sync", "arrive"].contains(word)).map(str::to_owned).collect()
}

#[test]
fn a_kernel_has_the_barriers_of_the_protocol_that_follows_it() {
    let mut seen = 0;
    for page in pages() {
        let mut kernels = page.blocks.iter().enumerate().filter(|(_, block)| block.kind == "cuda");
        for (at, kernel) in &mut kernels {
            let protocol = page.blocks[at..].iter().find(|block| block.kind.starts_with("bar"));
            let protocol = protocol.unwrap_or_else(|| panic!("{}:{}: no protocol", page.path, kernel.line));
            let found = barriers(&kernel.text, "bar_");
            assert!(!found.is_empty(), "{}:{}", page.path, kernel.line);
            assert_eq!(found, barriers(&protocol.text, "bar."), "{}:{}", page.path, kernel.line);
            seen += 1;
        }
    }
    assert!(seen >= 1);
}

/// The commands of a block, one for each line that has one, up to a pipe: what reads them need not be
/// installed.
fn commands(text: &str) -> impl Iterator<Item = String> {
    let line = |line: &str| {
        let line = line.replace("cargo run --release -- ", "barcheck ");
        let line = line.split(" | ").next().unwrap_or_default().trim().to_owned();
        line.starts_with("barcheck ").then_some(line)
    };
    text.lines().filter_map(line).collect::<Vec<_>>().into_iter()
}

/// What the search took is not the same each time.
fn without_measures(text: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let stays = |part: &&str| !part.ends_with(" s") && !part.ends_with("iB");
    let first: Vec<&str> = first.split(", ").filter(stays).collect();
    format!("{}\n{rest}", first.join(", "))
}

/// Runs the blocks of a page in order, in one folder.
#[cfg(unix)]
fn run(page: &Page) -> usize {
    let sandbox = Sandbox::new();
    let (mut last, mut count) = (String::new(), 0);
    for block in &page.blocks {
        let place = format!("{}:{}", page.path, block.line);
        if block.kind == "text" {
            assert_eq!(without_measures(&last), without_measures(&block.text), "{place}");
        }
        let lines = if block.kind == "sh" { block.text.as_str() } else { "" };
        for line in commands(lines) {
            let output = sandbox.shell(&line);
            let complaints = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{place}: {line}: {complaints}");
            assert!(!complaints.contains("panicked") && !complaints.contains("internal"), "{complaints}");
            last = String::from_utf8(output.stdout).expect("the output is UTF-8");
            count += 1;
        }
    }
    count
}

#[cfg(unix)]
#[test]
fn every_command_does_what_the_page_shows() {
    let count: usize = pages().iter().map(run).sum();
    assert!(count >= 25, "{count} commands");
}

/// The examples in the documentation of the crate that others depend on; they are compiled and run with it.
fn examples() -> String {
    let text = std::fs::read_to_string(root().join("checker/src/lib.rs")).expect("a crate");
    let lines = text.lines().filter_map(|line| line.strip_prefix("//!"));
    lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
}

#[test]
fn rust_code_stands_in_the_example_crate_or_in_the_documentation() {
    let folder = root().join("checker/examples/attention/tests");
    let files = std::fs::read_dir(folder).expect("the crate has tests").flatten();
    let mut compiled: Vec<String> =
        files.map(|file| std::fs::read_to_string(file.path()).expect("a readable file")).collect();
    compiled.push(examples());
    for page in pages() {
        for block in page.blocks.iter().filter(|block| block.kind == "rust") {
            let there = compiled.iter().any(|text| text.contains(&block.text));
            assert!(there, "{}:{}: no file holds this", page.path, block.line);
        }
    }
}

/// The names that objects of the report have.
fn names(value: &Value) -> impl Iterator<Item = String> {
    value["properties"].as_object().expect("an object").keys().cloned()
}

#[test]
fn the_report_has_the_shape_that_is_shown() {
    let schema: Value =
        serde_json::from_str(barcheck_counterexamples::REPORT_SCHEMA).expect("a schema is JSON");
    let parts = ["finding", "allowed", "coverage", "statistics", "expectation"];
    let parts = parts.map(|part| &schema["$defs"][part]);
    let parts = std::iter::once(&schema).chain(parts);
    let mut wanted: BTreeSet<String> = parts.flat_map(names).collect();
    let verdicts = schema["properties"]["verdict"]["enum"].as_array().expect("a list");
    wanted.extend(verdicts.iter().filter_map(Value::as_str).map(str::to_owned));
    // The schema lets it pass without naming it.
    wanted.insert("odds_of_omission".to_owned());
    wanted.extend(schema["properties"]["format"]["const"].as_str().map(str::to_owned));
    let pages = pages();
    let shapes: Vec<_> =
        pages.iter().flat_map(|page| &page.blocks).filter(|block| block.kind == "json,shape").collect();
    let [shape] = shapes.as_slice() else { panic!("{} shapes", shapes.len()) };
    let shown: BTreeSet<String> = shape.text.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(shown, wanted);
}
