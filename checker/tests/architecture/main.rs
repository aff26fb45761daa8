//! The architecture, as far as a machine can see to it: who depends on whom, what the model does without,
//! how long files and functions are, and what lies at the top level.

mod graph;
mod source;
mod systems;

use graph::{Modules, cycles};
use source::{JUDGES, Mention, manifest, members, root, sources};
use std::collections::BTreeSet;

/// The most lines of a file.
const FILE_LINES: usize = 500;
/// The most lines of a function, from its signature to its closing brace.
const FUNCTION_LINES: usize = 70;

/// Uses that close a circle and may stay for now: the member, the module that uses, the one used, and what of
/// it.
const BACKWARD: [(&str, &str, &str, &str); 0] = [];

/// The most rooms of the engine, its root included, and the most arrows between them.
const ROOMS: usize = 14;
const ARROWS: usize = 37;

/// What the model does without: it has no input and no output, no clock and no threads.
const BEYOND_THE_MODEL: [&str; 7] = ["fs", "io", "time", "thread", "net", "process", "env"];

/// What lies at the top level, besides files that begin with a dot.
const TOP_LEVEL: [&str; 8] =
    ["Cargo.lock", "Cargo.toml", "LICENSE", "README.md", "checker", "counterexamples", "model", "specs"];

/// The members that a member is built with, by their folders. Tests may use more.
fn dependencies(member: &str) -> BTreeSet<String> {
    let mine = manifest(&format!("{member}/Cargo.toml"));
    let platforms = mine.get("target").and_then(toml::Value::as_table);
    let tables = std::iter::once(&mine)
        .chain(platforms.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table));
    let lists = tables.flat_map(|table| ["dependencies", "build-dependencies"].map(|list| table.get(list)));
    let names: BTreeSet<&String> =
        lists.flatten().filter_map(toml::Value::as_table).flat_map(toml::Table::keys).collect();
    let package = |member: &String| manifest(&format!("{member}/Cargo.toml"))["package"]["name"].clone();
    let is_used =
        |member: &String| package(member).as_str().is_some_and(|name| names.contains(&name.to_owned()));
    members().into_iter().filter(is_used).collect()
}

/// The members but for examples, which are as they would be in a project of somebody's own, and for judges.
fn houses() -> impl Iterator<Item = String> {
    let is_judge = |member: &String| JUDGES.contains(&member.as_str());
    members().into_iter().filter(move |member| !member.starts_with("checker/examples/") && !is_judge(member))
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn members_depend_on_one_another_in_one_direction() {
    let (core, prefetch) = ("counterexamples/viewer/core", "checker/prefetch");
    let (engine, export, gate) = ("checker/engine", "checker/export", "checker/gate");
    let decide = "checker/decide";
    let all =
        set(&["model", "specs", "counterexamples", core, "checker", decide, engine, export, gate, prefetch]);
    assert_eq!(houses().collect::<BTreeSet<_>>(), all);
    assert_eq!(dependencies("model"), set(&[]));
    assert_eq!(dependencies("specs"), set(&["model"]));
    assert_eq!(dependencies("counterexamples"), set(&["model"]));
    // The page holds it compiled: nobody depends on it.
    assert_eq!(dependencies(core), set(&["model", "specs", "counterexamples"]));
    assert_eq!(dependencies(prefetch), set(&[]));
    // Engines and exporters know nothing of notations and traces.
    assert_eq!(dependencies(engine), set(&["model", prefetch]));
    assert_eq!(dependencies(export), set(&["model", engine]));
    let read_and_written = ["model", "specs", "counterexamples"];
    assert_eq!(dependencies(decide), set(&[&read_and_written[..], &[engine]].concat()));
    assert_eq!(dependencies(gate), set(&[&read_and_written[..], &[decide]].concat()));
    let below = set(&[&read_and_written[..], &[decide, engine, export, gate]].concat());
    assert_eq!(dependencies("checker"), below);
    // The judges share nothing with what they judge but what is asked of the model.
    assert_eq!(dependencies("checker/naive"), set(&[]));
    assert_eq!(dependencies("checker/emulator"), set(&["model"]));
}

#[test]
fn unsafe_code_is_forbidden_but_in_the_members_that_exist_for_it() {
    let forbids = |manifest: &toml::Table| {
        manifest.get("rust").and_then(|lints| lints.get("unsafe_code")?.as_str()) == Some("forbid")
    };
    let root = manifest("Cargo.toml");
    assert!(root["workspace"]["lints"].as_table().is_some_and(forbids));
    let may = |member: &String| {
        let mine = manifest(&format!("{member}/Cargo.toml"));
        let lints = mine.get("lints").and_then(toml::Value::as_table).cloned().unwrap_or_default();
        !forbids(&lints) && lints.get("workspace").and_then(toml::Value::as_bool) != Some(true)
    };
    let may: BTreeSet<String> = houses().filter(may).collect();
    assert_eq!(may, set(&["checker/prefetch", "counterexamples/viewer/core"]));
}

#[test]
fn the_model_has_no_input_no_output_no_clock_and_no_thread() {
    for source in sources().iter().filter(|s| s.member() == "model" && s.is_product()) {
        for Mention { segments, .. } in &source.paths {
            let [first, second, ..] = segments.as_slice() else { continue };
            let beyond = first == "std" && BEYOND_THE_MODEL.contains(&second.as_str());
            assert!(!beyond, "{} uses {}", source.path, segments.join("::"));
        }
        for name in ["print", "println", "eprint", "eprintln", "dbg"] {
            assert!(!source.macros.iter().any(|called| called == name), "{} calls {name}!", source.path);
        }
    }
}

#[test]
fn files_are_short() {
    for source in sources() {
        assert!(source.lines <= FILE_LINES, "{} has {} lines", source.path, source.lines);
    }
}

#[test]
fn lines_are_short() {
    let wide: Vec<_> =
        sources().iter().flat_map(|s| s.wide.iter().map(move |line| (&s.path, line))).collect();
    assert!(wide.is_empty(), "{wide:#?}");
}

/// A module with modules inside is a folder with a `mod.rs`.
#[test]
fn module_files_are_of_one_style() {
    let paths: BTreeSet<&str> = sources().iter().map(|source| source.path.as_str()).collect();
    for path in sources().iter().filter(|source| source.is_product()).map(|source| &source.path) {
        let folder = format!("{}/", path.trim_end_matches(".rs"));
        let inside = paths.range(folder.as_str()..).next().filter(|next| next.starts_with(&folder));
        assert!(inside.is_none(), "{path} stands beside its folder");
    }
}

#[test]
fn functions_are_short() {
    let products = sources().iter().filter(|source| source.is_product());
    let functions =
        products.flat_map(|s| s.functions.iter().map(move |(name, lines)| (&s.path, name, lines)));
    assert!(functions.clone().count() > 500, "functions are not recognised");
    let long: Vec<_> = functions.filter(|(_, _, lines)| **lines > FUNCTION_LINES).collect();
    assert!(long.is_empty(), "{long:#?}");
}

#[test]
fn modules_do_not_use_one_another_in_circles() {
    let mut wrong = Vec::new();
    for member in members() {
        let modules = Modules::of(&member);
        let mut edges = modules.edges();
        let circles = cycles(&edges);
        for (_, from, to, _) in BACKWARD.iter().filter(|(of, ..)| *of == member) {
            let closes =
                edges.remove(&(*from, *to)) && circles.iter().any(|c| c.contains(from) && c.contains(to));
            if !closes {
                wrong.push(format!("{member}: {from} to {to} closes no circle: take it off the list"));
            }
        }
        for circle in cycles(&edges) {
            let inside = |(from, to): &&(&str, &str)| circle.contains(from) && circle.contains(to);
            let uses = edges.iter().filter(inside).map(|(from, to)| format!("\n    {from} uses {to}"));
            wrong.push(format!("{member}: a circle{}", uses.collect::<String>()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The engine is read room by room: what one room needs of another goes one way.
#[test]
fn the_rooms_of_the_engine_do_not_use_one_another_in_circles() {
    let modules = Modules::of("checker/engine");
    fn room(module: &str) -> &str {
        module.split("::").next().unwrap_or_default()
    }
    let edges = modules.edges().into_iter().map(|(from, to)| (room(from), room(to)));
    let edges: BTreeSet<_> = edges.filter(|(from, to)| from != to).collect();
    let rooms: BTreeSet<_> = edges.iter().flat_map(|(from, to)| [*from, *to]).collect();
    assert!(rooms.len() <= ROOMS && edges.len() <= ARROWS, "{} rooms, {edges:#?}", rooms.len());
    assert!(cycles(&edges).is_empty(), "{:#?}", cycles(&edges));
}

/// The graph sees uses of every form, or the absence of circles would mean nothing.
#[test]
fn uses_are_recognised() {
    let edge = |member: &str, from: &str, to: &str| Modules::of(member).edges().contains(&(from, to));
    assert!(edge("model", "barrier::ptx", "barrier"), "`use super::`");
    assert!(edge("model", "machine", "machine::automaton"), "`pub use` of what the file itself needs");
    assert!(!edge("model", "machine", "machine::step"), "`pub use` alone");
    assert!(edge("model", "machine::step", "agent::action"), "through a `pub use`");
    assert!(edge("model", "agent::moves", "agent::eval"), "a path where it is needed");
    assert!(!edge("model", "rule", "rule"), "itself");
}

#[test]
fn the_top_level_is_tidy() {
    let listed = std::process::Command::new("git").arg("ls-files").current_dir(root()).output();
    let Some(listed) = listed.ok().filter(|output| output.status.success()) else {
        println!("skipped: git does not list the files here");
        return;
    };
    let files = String::from_utf8(listed.stdout).expect("names in UTF-8");
    for file in files.lines() {
        let top = file.split('/').next().unwrap_or_default();
        assert!(top.starts_with('.') || TOP_LEVEL.contains(&top), "{file}");
    }
}

#[test]
fn nothing_is_left_to_do() {
    for source in sources() {
        for name in ["todo", "unimplemented"] {
            assert!(!source.macros.iter().any(|called| called == name), "{} calls {name}!", source.path);
        }
        let ignored = source.attributes.iter().find(|a| a.split([' ', '=']).next() == Some("ignore"));
        assert!(ignored.is_none(), "{} has a test that is not run: {ignored:?}", source.path);
    }
}
