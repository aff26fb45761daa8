//! The clause catalogue holds together with the code, the library of protocols and the table of rules.
//!
//! A citation is a comment that names clauses by id, separated by commas. In `src` it stands where the
//! clause is implemented; in a test, or in the head of a protocol of the library, it says that the clause is
//! put to the test there.

use barcheck_model::program::Target;
use barcheck_model::rule::Rule;
use barcheck_specs::clauses::{ClauseKind, catalogue};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What a citation begins with; taken apart so that this line is none.
const MARK: &str = concat!("// ", "clause:");

/// Where the model and the readers implement clauses.
const IMPLEMENTATIONS: [&str; 2] = ["model/src", "specs/src"];

/// Rules that no protocol of a target can violate. `too-many-participants` on `xegpu`: an arrival is a signal
/// of type 0 with equal numbers on both sides, so both sides fill up together, the generation completes with
/// the last arrival that it has room for, and the next one already belongs to another generation.
const BEYOND_REACH: [(Rule, Target); 1] = [(Rule::TooManyParticipants, Target::Xegpu)];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The Rust files and protocols in a folder of the repository, with their paths from its top level.
fn texts(folder: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from(folder)];
    while let Some(path) = open.pop() {
        let Ok(entries) = std::fs::read_dir(root().join(&path)) else { continue };
        for entry in entries.map(|entry| entry.expect("an entry of the folder")) {
            let inner = path.join(entry.file_name());
            if entry.path().is_dir() {
                open.push(inner);
            } else if inner.extension().is_some_and(|e| e == "rs" || e == "bar") {
                let text = std::fs::read_to_string(entry.path()).expect("a readable text");
                found.push((inner.to_string_lossy().into_owned(), text));
            }
        }
    }
    found.sort();
    found
}

/// The ids cited in a folder, each with the places where it is.
fn citations(folders: &[&str]) -> BTreeMap<String, Vec<String>> {
    let mut cited: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in folders.iter().flat_map(|folder| texts(folder)) {
        for (number, line) in text.lines().enumerate() {
            let Some((_, ids)) = line.split_once(MARK) else { continue };
            for id in ids.split(',') {
                let places = cited.entry(id.trim().to_owned()).or_default();
                places.push(format!("{path}:{}", number + 1));
            }
        }
    }
    cited
}

fn members() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("Cargo.toml")).expect("the workspace's manifest");
    let manifest: toml::Table = text.parse().expect("a valid manifest");
    let members = manifest["workspace"]["members"].as_array().expect("a list of members").iter();
    members.map(|member| member.as_str().expect("a path").to_owned()).collect()
}

/// The clauses in scope that are not among those cited.
fn uncited(cited: &BTreeMap<String, Vec<String>>) -> Vec<&'static str> {
    let in_scope = catalogue().clauses().iter().filter(|clause| clause.kind != ClauseKind::OutOfScope);
    in_scope.map(|clause| clause.id.as_str()).filter(|id| !cited.contains_key(*id)).collect()
}

#[test]
fn every_clause_in_scope_is_implemented_somewhere() {
    let missing = uncited(&citations(&IMPLEMENTATIONS));
    assert!(missing.is_empty(), "no line of {IMPLEMENTATIONS:?} cites {missing:#?}");
}

#[test]
fn every_clause_in_scope_is_tested_somewhere() {
    let tests: Vec<String> = members().iter().map(|member| format!("{member}/tests")).collect();
    let mut folders: Vec<&str> = tests.iter().map(String::as_str).collect();
    folders.push("specs/protocols");
    let missing = uncited(&citations(&folders));
    assert!(missing.is_empty(), "no test and no protocol of the library cites {missing:#?}");
}

#[test]
fn every_citation_names_a_clause() {
    let members = members();
    let folders: Vec<&str> = members.iter().map(String::as_str).collect();
    let cited = citations(&folders);
    assert!(cited.len() > 100, "citations are not recognised: {}", cited.len());
    let strays: Vec<_> = cited.iter().filter(|(id, _)| catalogue().clause(id).is_none()).collect();
    assert!(strays.is_empty(), "these are no clauses: {strays:#?}");
}

/// A clause out of scope needs no implementation; one that has it should not be called so.
#[test]
fn nothing_implements_a_clause_that_is_out_of_scope() {
    let cited = citations(&IMPLEMENTATIONS);
    let out_of_scope = |id: &String| catalogue().clause(id).is_some_and(|c| c.kind == ClauseKind::OutOfScope);
    let strays: Vec<_> = cited.iter().filter(|(id, _)| out_of_scope(id)).collect();
    assert!(strays.is_empty(), "out of scope, says the catalogue: {strays:#?}");
}

#[test]
fn rules_name_clauses_of_their_target_and_examples_that_show_them() {
    for rule in catalogue().rules() {
        for (target, id) in &rule.clauses {
            let clause = catalogue().clause(id).unwrap_or_else(|| panic!("{}: no clause {id}", rule.name));
            let fits = clause.target.is_none_or(|of| of == *target);
            assert!(fits, "{}: {id} says nothing about {target}", rule.name);
            assert_ne!(clause.kind, ClauseKind::OutOfScope, "{}: {id} is out of scope", rule.name);
        }
        let path = root().join("specs/protocols").join(&rule.example);
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert!(
            head_list(&text, "rules:").contains(rule.name.as_str()),
            "{} shows no {}",
            rule.example,
            rule.name
        );
    }
}

#[test]
fn the_table_of_rules_is_that_of_the_model() {
    let named: BTreeSet<&str> = catalogue().rules().iter().map(|rule| rule.name.as_str()).collect();
    let known: BTreeSet<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    assert_eq!(named, known);
    for rule in Rule::ALL {
        let described = catalogue().rule(rule.name()).expect("compared above");
        for target in Target::ALL {
            assert_eq!(described.holds_for(target), rule.holds_for(target), "{rule} for {target}");
            if rule.holds_for(target) {
                let (level, default) = (described.level_for(target), rule.default_level(target));
                assert_eq!(level.name(), default.name(), "level of {rule} for {target}");
                assert_eq!(described.ends_for(target), rule.ends_path(target), "{rule} ends for {target}");
            }
        }
    }
}

/// A list of names in the head of a protocol.
fn head_list<'t>(text: &'t str, field: &str) -> BTreeSet<&'t str> {
    let head = text.lines().take_while(|line| line.starts_with("//"));
    let list = head.filter_map(|line| line.trim_start_matches('/').trim().strip_prefix(field)).next();
    list.unwrap_or_default().split(',').map(str::trim).filter(|name| !name.is_empty()).collect()
}

#[test]
fn for_every_rule_and_target_a_protocol_of_the_library_violates_it() {
    let mut shown = BTreeSet::new();
    for (path, text) in texts("specs/protocols") {
        let target = Target::ALL.into_iter().find(|t| text.contains(&format!("\ntarget {t};")));
        let target = target.unwrap_or_else(|| panic!("{path} names no target"));
        for name in head_list(&text, "rules:").into_iter().filter(|name| *name != "none") {
            let rule = Rule::from_name(name).unwrap_or_else(|| panic!("{path}: no rule {name}"));
            assert!(rule.holds_for(target), "{path}: {rule} does not hold for {target}");
            shown.insert((rule, target));
        }
    }
    let pairs = Rule::ALL.iter().flat_map(|rule| Target::ALL.map(|target| (*rule, target)));
    for pair in pairs.filter(|(rule, target)| rule.holds_for(*target)) {
        let (rule, target) = pair;
        let expected = !BEYOND_REACH.contains(&pair);
        assert_eq!(shown.contains(&pair), expected, "{rule} for {target}");
    }
}
