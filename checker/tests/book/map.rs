//! The map: every row leads to a file in which the word to look for stands.

use super::{CHAPTERS, Page, root};

/// Questions that a newcomer must find answered at the top.
const FIRST: [&str; 5] = [
    "Where is PTX's mixing of `bar.red` decided?",
    "Where does the visited set live?",
    "Where is the page made?",
    "What do I do to add a system?",
    "Where is a notation recognised?",
];

/// The question, the path, and the word of each row.
fn rows(text: &str) -> Vec<(String, String, String)> {
    let mut rows = Vec::new();
    for line in text.lines().filter(|line| line.starts_with("| ") && line.contains("](")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [question, file, word] = cells.as_slice() else { panic!("{line}") };
        let path = file.trim_start_matches('[').split("](").next().expect("a link");
        rows.push(((*question).to_owned(), path.to_owned(), word.trim_matches('`').to_owned()));
    }
    rows
}

#[test]
fn every_row_leads_to_a_file_that_holds_its_word() {
    let map = Page::read(&root(), format!("{CHAPTERS}/map.md"));
    let rows = rows(&map.text);
    assert!(rows.len() > 50, "{} rows", rows.len());
    for (question, path, word) in &rows {
        let text = std::fs::read_to_string(root().join(path))
            .unwrap_or_else(|error| panic!("{question} {path}: {error}"));
        assert!(text.contains(word.as_str()), "{question} {path} does not hold `{word}`");
        let linked = map.links.iter().filter(|link| link.text == *path);
        let wanted = root().join(path).canonicalize().expect("it exists");
        for link in linked {
            let there = root().join(CHAPTERS).join(&link.target).canonicalize().ok();
            assert_eq!(there.as_ref(), Some(&wanted), "{question}");
        }
    }
}

#[test]
fn the_map_begins_with_what_newcomers_ask() {
    let map = Page::read(&root(), format!("{CHAPTERS}/map.md"));
    let questions: Vec<String> = rows(&map.text).into_iter().map(|(question, ..)| question).collect();
    assert_eq!(questions[..FIRST.len()], FIRST);
}
