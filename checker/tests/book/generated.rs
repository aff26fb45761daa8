//! Parts of pages that follow from the program: compared, or written anew with `BLESS=1`.

use super::{CHAPTERS, root};
use barcheck_model::program::Target;
use barcheck_model::rule::Rule;
use barcheck_specs::Lint;
use barcheck_specs::clauses::catalogue;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What holds for most targets, and the exceptions: `error (bcu: warning)`.
fn level(rule: Rule, targets: &[Target]) -> String {
    let name = |target: &Target| rule.default_level(*target).name();
    let count = |level: &str| targets.iter().filter(|target| name(target) == level).count();
    let mut most = targets.first().map(name).expect("a rule holds for some target");
    for target in targets {
        if count(name(target)) > count(most) {
            most = name(target);
        }
    }
    let others: Vec<_> = targets.iter().filter(|target| name(target) != most).collect();
    let others: Vec<_> = others.iter().map(|target| format!("{}: {}", target.name(), name(target))).collect();
    if others.is_empty() { most.to_owned() } else { format!("{most} ({})", others.join(", ")) }
}

/// The table of the rules, by their names.
fn rules() -> String {
    let mut table = "| rule | level | systems | meaning |\n|---|---|---|---|\n".to_owned();
    let by_name: BTreeMap<&str, Rule> = Rule::ALL.iter().map(|rule| (rule.name(), *rule)).collect();
    for (name, rule) in by_name {
        let targets: Vec<_> = Target::ALL.into_iter().filter(|target| rule.holds_for(*target)).collect();
        let names: Vec<_> = targets.iter().map(|target| target.name()).collect();
        let systems = if names.len() == Target::ALL.len() { "all".to_owned() } else { names.join(", ") };
        let meaning = &catalogue().rule(name).expect("a rule of the catalogue").meaning;
        let first = meaning.split_once(". ").map_or(meaning.as_str(), |(first, _)| first);
        let first = first.trim_end_matches('.');
        let _ = writeln!(table, "| `{name}` | {} | {systems} | {first}. |", level(rule, &targets));
    }
    table
}

/// The table of the lints, by their names.
fn lints() -> String {
    let mut table = "| lint | level | meaning |\n|---|---|---|\n".to_owned();
    for lint in Lint::ALL {
        let _ =
            writeln!(table, "| `{}` | {} | {} |", lint.name(), lint.default_level().name(), lint.meaning());
    }
    table
}

/// How many protocols the library holds for a target.
fn protocols(target: Target) -> usize {
    let folder = root().join("specs/protocols").join(target.name());
    let files = std::fs::read_dir(folder).expect("the library is there").flatten();
    files.filter(|file| file.path().extension().is_some_and(|extension| extension == "bar")).count()
}

/// A text with what stands between two marks replaced.
fn with(text: &str, begin: &str, end: &str, inside: &str) -> String {
    let (before, rest) = text.split_once(begin).unwrap_or_else(|| panic!("no `{begin}`"));
    let (_, after) = rest.split_once(end).unwrap_or_else(|| panic!("no `{end}` after `{begin}`"));
    format!("{before}{begin}{inside}{end}{after}")
}

/// What makes of a page the one that it should be.
type Renewal<'r> = &'r dyn Fn(&str) -> String;

/// The pages, as they are and as they should be.
fn pages() -> Vec<(String, String, String)> {
    let sizes: Vec<_> = Target::ALL.into_iter().map(|target| (target.name(), protocols(target))).collect();
    let all: usize = sizes.iter().map(|(_, size)| size).sum();
    let library =
        |text: &str| with(text, "specs/protocols/README.md) holds ", " protocols", &all.to_string());
    let rows: String = sizes.iter().map(|(name, size)| format!("| [{name}]({name}) | {size} |\n")).collect();
    let wanted: [(String, Renewal<'_>); 4] = [
        ("README.md".to_owned(), &library),
        (format!("{CHAPTERS}/language.md"), &library),
        (format!("{CHAPTERS}/rules.md"), &|text| {
            let text = with(text, "<!-- rules: begin -->\n", "<!-- rules: end -->", &rules());
            with(&text, "<!-- lints: begin -->\n", "<!-- lints: end -->", &lints())
        }),
        ("specs/protocols/README.md".to_owned(), &|text| {
            with(text, "| target | files |\n|---|---|\n", "\n## Where to begin", &rows)
        }),
    ];
    let renewed = |(path, renew): (String, Renewal<'_>)| {
        let text = std::fs::read_to_string(root().join(&path)).expect("a page");
        let new = renew(&text);
        (path, text, new)
    };
    wanted.into_iter().map(renewed).collect()
}

#[test]
fn what_follows_from_the_program_is_what_it_says_today() {
    let bless = std::env::var_os("BLESS").is_some();
    for (path, text, wanted) in pages() {
        if bless && text != wanted {
            std::fs::write(root().join(&path), &wanted).expect("it can be written");
            continue;
        }
        let differs = text.lines().zip(wanted.lines()).find(|(line, wanted)| line != wanted);
        let how = "`BLESS=1 cargo test -p barcheck --test book` writes it anew";
        assert!(text == wanted, "{path}: {differs:?}: {how}");
    }
}
