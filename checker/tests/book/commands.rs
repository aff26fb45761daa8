//! Commands that the text mentions: they exist, with the options that are named.

use super::sandbox::help;
use super::{pages, root};
use std::collections::BTreeMap;

/// The help of every command, by its name.
fn commands() -> BTreeMap<String, String> {
    let text = help(None);
    let listed = text.split("Commands:").nth(1).expect("a list of commands");
    let rows = listed.lines().skip(1).take_while(|line| !line.is_empty());
    let names = rows.filter(|row| row.starts_with("  ") && !row.starts_with("   "));
    let names = names.filter_map(|row| row.split_whitespace().next()).filter(|name| *name != "help");
    names.map(|name| (name.to_owned(), help(Some(name)))).collect()
}

/// The long options of a command, from its help.
fn options(help: &str) -> Vec<String> {
    let is_one = |row: &&str| row.starts_with('-') || row.contains("[alias: --");
    let rows = help.lines().map(str::trim_start).filter(is_one);
    let words = rows.flat_map(str::split_whitespace).filter(|word| word.starts_with("--") && word.len() > 2);
    words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-').to_owned()).collect()
}

/// The words of a command, without what only says that they may be left out.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace().map(|word| word.trim_matches(|c| "[].".contains(c)))
}

/// A long option without its value.
fn option(word: &str) -> Option<&str> {
    let is_one = word.strip_prefix("--").is_some_and(|name| name.starts_with(char::is_alphabetic));
    is_one.then(|| word.split('=').next().unwrap_or(word))
}

#[test]
fn commands_and_options_that_are_mentioned_exist() {
    let commands = commands();
    assert!(commands.len() >= 13, "{:?}", commands.keys());
    let mut seen = 0;
    for page in pages() {
        let lines = page.blocks.iter().filter(|block| block.kind == "sh").flat_map(|b| b.text.lines());
        let lines = lines.filter_map(|line| line.split(['#', '|']).next()).map(str::trim);
        for text in page.spans.iter().map(String::as_str).chain(lines) {
            if let Some(name) = option(text).map(|text| words(text).next().unwrap_or(text)) {
                let known = commands.values().any(|help| options(help).iter().any(|option| option == name));
                assert!(known, "{}: no command has `{name}`", page.path);
                seen += 1;
            }
            let Some(line) = text.strip_prefix("barcheck ") else { continue };
            let mut words = words(line);
            let name = words.next().unwrap_or_default();
            if name.chars().all(char::is_uppercase) {
                continue;
            }
            let help = commands.get(name).unwrap_or_else(|| panic!("{}: no command `{text}`", page.path));
            let options = options(help);
            for word in words.filter_map(option).filter(|word| *word != "--help") {
                assert!(options.iter().any(|option| option == word), "{}: `{text}`: {word}", page.path);
            }
            seen += 1;
        }
    }
    assert!(seen > 60, "{seen}");
}

#[test]
fn the_chapter_on_options_names_every_command_and_every_option_of_verify() {
    let pages = pages();
    let chapter = pages.iter().find(|page| page.path.ends_with("/options.md")).expect("a chapter");
    let commands = commands();
    for name in commands.keys() {
        let command = format!("barcheck {name}");
        let named = |span: &String| span == &command || span.starts_with(&format!("{command} "));
        assert!(chapter.spans.iter().any(named), "{command}");
    }
    let verify = options(&commands["verify"]);
    assert!(verify.len() > 20, "{verify:?}");
    for name in verify.iter().filter(|name| *name != "--help") {
        let named = |span: &String| span.split([' ', '=']).next() == Some(name);
        assert!(chapter.spans.iter().any(named), "{name}");
    }
    let shown = chapter.text.split("## Exit status").next().expect("a table of options");
    for row in shown.lines().filter(|line| line.starts_with("| `-")) {
        let cell = row.split(" | ").next().unwrap_or_default();
        for name in cell.split('`').filter(|part| part.starts_with("--")) {
            let name = name.split([' ', '=']).next().unwrap_or_default();
            assert!(verify.iter().any(|option| option == name), "{name} is no option of verify");
        }
    }
}

/// The folder of each package of the workspace.
fn packages() -> BTreeMap<String, String> {
    let read = |path: &str| -> toml::Table {
        let text = std::fs::read_to_string(root().join(path)).expect("a manifest");
        text.parse().expect("a valid manifest")
    };
    let workspace = read("Cargo.toml");
    let members = workspace["workspace"]["members"].as_array().expect("a list").iter();
    let named = |member: &str| {
        let name =
            read(&format!("{member}/Cargo.toml"))["package"]["name"].as_str().expect("a name").to_owned();
        (name, member.to_owned())
    };
    members.map(|member| named(member.as_str().expect("a path"))).collect()
}

fn is_there(folder: &str, name: &str) -> bool {
    let paths = [format!("{folder}/{name}.rs"), format!("{folder}/{name}/main.rs")];
    paths.iter().any(|path| root().join(path).is_file())
}

#[test]
fn packages_tests_and_benches_that_are_mentioned_exist() {
    let packages = packages();
    let mut seen = 0;
    for page in pages() {
        let lines = page.blocks.iter().filter(|block| block.kind == "sh").flat_map(|b| b.text.lines());
        let texts = page.spans.iter().map(String::as_str).chain(lines);
        for text in texts.filter(|text| text.contains("cargo ")) {
            let words: Vec<&str> = text.split('#').next().unwrap_or_default().split_whitespace().collect();
            let values =
                |name: &'static str| words.windows(2).filter(move |pair| pair[0] == name).map(|pair| pair[1]);
            let mut folder = "checker";
            for package in values("-p") {
                folder =
                    packages.get(package).unwrap_or_else(|| panic!("{}: no package {package}", page.path));
                seen += 1;
            }
            for test in values("--test") {
                assert!(is_there(&format!("{folder}/tests"), test), "{}: {text}", page.path);
            }
            for bench in values("--bench") {
                assert!(is_there(&format!("{folder}/benches"), bench), "{}: {text}", page.path);
            }
            for folder in values("--path").chain(values("--fuzz-dir")) {
                assert!(root().join(folder).join("Cargo.toml").is_file(), "{}: {text}", page.path);
            }
        }
    }
    assert!(seen >= 10, "{seen}");
}

#[test]
fn variables_that_are_mentioned_are_read() {
    let mut sources = String::new();
    let mut open = vec![root().join("checker")];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("target") && !path.ends_with("book") {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                sources.push_str(&std::fs::read_to_string(path).expect("a readable file"));
            }
        }
    }
    for page in pages() {
        let parts = page.text.split(|c: char| !c.is_ascii_uppercase() && c != '_');
        for name in parts.filter(|part| part.starts_with("BARCHECK_")) {
            assert!(sources.contains(&format!("\"{name}\"")), "{}: nothing reads {name}", page.path);
        }
    }
}
