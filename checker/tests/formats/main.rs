//! What `barcheck convert` and `barcheck graph` make, read by others: for every counterexample of the
//! library, and where every name in it is hostile.

mod dot;
mod graphs;
mod itf;
mod mermaid;
mod perfetto;
mod svg;

use barcheck::{Budgets, Levels, Quiet, Settings, check};
use barcheck_counterexamples::{Format, SourceInfo, Trace, What, build, convert};
use barcheck_model::machine::Options;
use barcheck_model::program::{Program, Target};
use barcheck_specs::bar::{LoadOptions, load};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

/// Every protocol of the library: its name, and the protocol.
static PROTOCOLS: LazyLock<Vec<(String, Arc<Program>)>> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../specs/protocols");
    let folders = std::fs::read_dir(&root).expect("the library").flatten().map(|folder| folder.path());
    let files =
        folders.filter(|path| path.is_dir()).flat_map(|path| std::fs::read_dir(path).expect("a folder"));
    let mut files: Vec<PathBuf> = files.flatten().map(|file| file.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "bar"));
    files.sort();
    let read = |path: &PathBuf| {
        let name = path.strip_prefix(&root).expect("it is below").display().to_string();
        let text = std::fs::read(path).expect("it can be read");
        (name, Arc::new(load(&text, &LoadOptions::default()).expect("it is well formed").program))
    };
    files.iter().map(read).collect()
});

/// A counterexample for each finding in each protocol of the library that is small enough.
static TRACES: LazyLock<Vec<(String, Trace)>> = LazyLock::new(|| {
    let settings = Settings {
        all: true,
        levels: Levels { strict: true, ..Levels::default() },
        budgets: Budgets { max_states: Some(20_000), ..Budgets::default() },
        ..Settings::default()
    };
    let mut traces = Vec::new();
    for (name, program) in PROTOCOLS.iter() {
        let outcome = check(program.clone(), Options::default(), &settings, &Quiet);
        for (number, found) in outcome.findings.iter().enumerate() {
            let source = SourceInfo {
                file: name.clone(),
                format: "bar".to_owned(),
                text: "// it is not looked at\n".to_owned(),
                defines: Default::default(),
            };
            let what = What::Finding(&found.finding, found.level);
            let trace = build(program.clone(), Options::default(), &source, &found.path, what);
            let name = format!("{name} {} {number}", found.finding.rule);
            traces.push((name, trace.expect("the path leads there")));
        }
    }
    traces
});

/// What means something to JSON, XML, HTML, Graphviz, Mermaid or a terminal, what moves other text, and great
/// length.
static EVIL: LazyLock<[String; 6]> = LazyLock::new(|| {
    [
        "</text></svg><script>bad()</script><!-- ]]> &amp; &#0; \" ' `".to_owned(),
        "\\N \\\" \\\\ \"]; x -> y [label=\"".to_owned(),
        "end; #35; style a:#b; %%{init: {}}%% participant X\nloop for ever\r\nend".to_owned(),
        "\u{202e}GNP\u{2066}\u{2028}\u{2029}\u{0}\u{1b}[31m\u{7}\u{fffe}\u{ffff}\u{feff}".to_owned(),
        format!("{}\n{}", "w".repeat(10_000), "word ".repeat(2_000)),
        String::new(),
    ]
});

/// Some of the traces, with each of the hostile texts wherever a trace holds text.
fn hostile() -> impl Iterator<Item = (String, Trace)> {
    let some = TRACES.iter().step_by(17);
    some.flat_map(|(name, trace)| {
        EVIL.iter().map(move |evil| (format!("{name}: {evil:.20}"), poisoned(trace, evil)))
    })
}

fn poisoned(trace: &Trace, evil: &str) -> Trace {
    fn poison(value: &mut Value, key: &str, evil: &str) {
        const FREE: [&str; 12] = [
            "file",
            "name",
            "short",
            "role",
            "instruction",
            "resolved",
            "headline",
            "message",
            "explanation",
            "of",
            "class",
            "lanes",
        ];
        match value {
            Value::String(text) if FREE.contains(&key) => evil.clone_into(text),
            Value::Array(all) => all.iter_mut().for_each(|value| poison(value, key, evil)),
            Value::Object(fields) => fields.iter_mut().for_each(|(key, value)| poison(value, key, evil)),
            _ => {}
        }
    }
    let mut value = serde_json::to_value(trace).expect("it is JSON");
    poison(&mut value, "", evil);
    serde_json::from_value(value).expect("it is still a trace")
}

fn converted(trace: &Trace, format: Format) -> String {
    let text = convert(trace, format, None).expect("it can be converted");
    assert!(text.ends_with('\n'));
    // Nothing that turns text round, and no control character, gets into what people look at.
    let bad = |c: char| {
        c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    assert!(matches!(format, Format::Itf | Format::Perfetto) || !text.contains(bad), "{text}");
    text
}

#[test]
fn the_library_holds_counterexamples_of_every_target() {
    assert!(TRACES.len() > 150, "{}", TRACES.len());
    let targets: BTreeSet<&str> = TRACES.iter().map(|(_, trace)| trace.protocol.target.as_str()).collect();
    assert_eq!(targets, Target::ALL.iter().map(|target| target.name()).collect());
    assert!(TRACES.iter().any(|(_, trace)| trace.outcome.cycle_from.is_some()));
}

#[test]
fn text_is_the_story() {
    for (name, trace) in TRACES.iter() {
        let narrative = barcheck_counterexamples::narrative(trace, &Default::default());
        assert_eq!(converted(trace, Format::Text), narrative, "{name}");
    }
}

#[test]
fn every_format_says_where_a_trace_departs_from_the_model() {
    let (_, trace) = &TRACES[0];
    for format in [Format::Text, Format::Svg, Format::Mermaid, Format::Dot, Format::Perfetto, Format::Itf] {
        let honest = converted(trace, format);
        let told = convert(trace, format, Some("step 3 differs")).expect("it can be converted");
        assert!(told.contains("departs from") && told.contains("step 3"), "{told}");
        assert!(!honest.contains("departs from"));
    }
}
