//! README and book: what they show is what the program does, and where they point there is something.

mod blocks;
mod commands;
mod generated;
mod links;
mod map;
mod markdown;
mod sandbox;

use markdown::Page;
use std::path::{Path, PathBuf};

/// The most bytes of the README.
const README_BYTES: usize = 8_192;

/// The top level of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository is there")
}

/// The folder of the book's chapters, from the top level.
const CHAPTERS: &str = "checker/book/src";

/// Pages outside the book that are held to the same.
const BESIDE: [&str; 4] = [
    "README.md",
    "checker/examples/attention/README.md",
    "counterexamples/gallery/README.md",
    "specs/protocols/README.md",
];

/// The chapters of the book, in the order of their names, without its summary.
fn chapters() -> Vec<String> {
    let folder = std::fs::read_dir(root().join(CHAPTERS)).expect("the book is there");
    let names = folder.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.filter(|name| name != "SUMMARY.md").collect();
    names.sort();
    assert!(names.iter().all(|name| name.ends_with(".md")), "{names:?}");
    assert!(names.len() > 20, "{names:?}");
    names
}

/// Every page: the README, the book, and those beside it.
fn pages() -> Vec<Page> {
    let mut paths: Vec<String> = BESIDE.map(str::to_owned).to_vec();
    paths.push(format!("{CHAPTERS}/SUMMARY.md"));
    paths.extend(chapters().iter().map(|name| format!("{CHAPTERS}/{name}")));
    paths.into_iter().map(|path| Page::read(&root(), path)).collect()
}

#[test]
fn the_readme_is_short() {
    let bytes = std::fs::read(root().join("README.md")).expect("a README").len();
    assert!(bytes <= README_BYTES, "{bytes} bytes");
}

#[test]
fn the_book_has_the_layout_of_mdbook() {
    let text = std::fs::read_to_string(root().join("checker/book/book.toml")).expect("a configuration");
    let configuration: toml::Table = text.parse().expect("it is TOML");
    assert_eq!(configuration["book"]["src"].as_str(), Some("src"));
    assert_eq!(configuration["book"]["title"].as_str(), Some("barcheck"));
}

#[test]
fn the_summary_lists_every_chapter_once() {
    let summary = Page::read(&root(), format!("{CHAPTERS}/SUMMARY.md"));
    let mut listed: Vec<String> = summary.links.iter().map(|link| link.target.clone()).collect();
    listed.sort();
    assert_eq!(listed, chapters());
}
