//! JUnit XML, read back, against what the schemas in use for Ant and Jenkins demand.

use crate::support::{DEADLOCK, FAULT, Folder, GOOD, LARGE, Run, WARNING, run, run_on, verify};
use roxmltree::{Document, Node};

fn parsed(run: &Run) -> Document<'_> {
    Document::parse(&run.out).unwrap_or_else(|error| panic!("{error}: {}", run.out))
}

fn children<'a, 'i>(node: Node<'a, 'i>) -> Vec<Node<'a, 'i>> {
    let text = node.children().filter(|child| child.is_text());
    let leaf = ["failure", "error", "system-out"].contains(&node.tag_name().name());
    assert!(leaf || text.into_iter().all(|text| text.text().is_none_or(|text| text.trim().is_empty())));
    node.children().filter(Node::is_element).collect()
}

/// An element has exactly these attributes.
#[track_caller]
fn has(node: Node<'_, '_>, name: &str, attributes: &[&str]) {
    assert_eq!(node.tag_name().name(), name);
    let mut found: Vec<_> = node.attributes().map(|attribute| attribute.name()).collect();
    found.sort_unstable();
    assert_eq!(found, attributes, "{name}");
}

fn number(node: Node<'_, '_>, name: &str) -> usize {
    node.attribute(name).and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("no number {name}"))
}

fn decimal(node: Node<'_, '_>) -> f64 {
    let time = node.attribute("time").expect("a time");
    assert!(time.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'), "{time}");
    time.parse().expect("a decimal")
}

/// The report has the structure that readers of JUnit expect, and its numbers are right. Returns the cases.
#[track_caller]
fn cases<'a, 'i>(document: &'a Document<'i>) -> Vec<Node<'a, 'i>> {
    let root = document.root_element();
    has(root, "testsuites", &["errors", "failures", "name", "tests", "time"]);
    let suites = children(root);
    assert_eq!(suites.len(), 1);
    has(suites[0], "testsuite", &["errors", "failures", "name", "skipped", "tests", "time"]);
    assert_eq!(number(suites[0], "skipped"), 0);
    let cases = children(suites[0]);
    let of = |kind: &str| {
        cases
            .iter()
            .filter(|case| children(**case).iter().any(|child| child.tag_name().name() == kind))
            .count()
    };
    for node in [root, suites[0]] {
        assert_eq!(number(node, "tests"), cases.len());
        assert_eq!(number(node, "failures"), of("failure"));
        assert_eq!(number(node, "errors"), of("error"));
        let sum: f64 = cases.iter().map(|case| decimal(*case)).sum();
        assert!((decimal(node) - sum).abs() <= 0.001 * (cases.len() + 1) as f64);
    }
    for case in &cases {
        has(*case, "testcase", &["classname", "name", "time"]);
        assert!(children(*case).len() <= 1);
        for child in children(*case) {
            match child.tag_name().name() {
                "system-out" => has(child, "system-out", &[]),
                name => has(child, name, &["message", "type"]),
            }
            assert!(child.text().is_some_and(|text| !text.is_empty()));
        }
    }
    cases
}

/// The only case's element, its type and its text.
#[track_caller]
fn outcome(run: &Run) -> Option<(String, String, String)> {
    let document = parsed(run);
    let cases = cases(&document);
    assert_eq!(cases.len(), 1);
    let child = children(cases[0]).into_iter().next()?;
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    Some((child.tag_name().name().to_owned(), text(child.attribute("type")), text(child.text())))
}

const JUNIT: [&str; 2] = ["--format", "junit"];

#[test]
fn only_what_is_verified_passes() {
    assert_eq!(outcome(&verify(GOOD, &JUNIT).expect(0)), None);
    let (element, kind, text) = outcome(&verify(DEADLOCK, &JUNIT).expect(1)).expect("it fails");
    assert_eq!((element.as_str(), kind.as_str()), ("failure", "deadlock"));
    assert!(text.contains("error[deadlock]") && text.contains("\nwhy\n"), "{text}");
    let limited = ["--format", "junit", "--max-states", "100"];
    for (run, wanted) in [
        (verify(LARGE, &limited).expect(3), "inconclusive"),
        (verify(FAULT, &JUNIT).expect(2), "evaluation-error"),
        (verify("target ptx", &JUNIT).expect(2), "malformed"),
        (run(&["verify", "--format", "junit", "/missing.bar"]).expect(2), "unreadable"),
    ] {
        let (element, kind, _) = outcome(&run).expect("it fails");
        assert_eq!((element.as_str(), kind.as_str()), ("error", wanted));
    }
}

#[test]
fn warnings_pass_and_are_told() {
    let (element, _, text) = outcome(&verify(WARNING, &JUNIT).expect(0)).expect("it says something");
    assert_eq!(element, "system-out");
    assert!(text.contains("warning[nobody-waits]"), "{text}");
}

#[test]
fn each_file_is_a_case_of_its_target() {
    let folder = Folder::new();
    let files = [folder.add("good.bar", GOOD), folder.add("bad.bar", DEADLOCK), folder.text("missing.bar")];
    let run = run(&["verify", "--format", "junit", &files[0], &files[1], &files[2]]).expect(1);
    let document = parsed(&run);
    let cases = cases(&document);
    let attribute = |name: &str| cases.iter().filter_map(|case| case.attribute(name)).collect::<Vec<_>>();
    assert_eq!(attribute("name"), files);
    assert_eq!(attribute("classname"), ["barcheck.ptx", "barcheck.ptx", "barcheck"]);
    let stdin = run_on(&["verify", "--format", "junit", "-"], GOOD.as_bytes()).expect(0);
    assert_eq!(self::cases(&parsed(&stdin))[0].attribute("name"), Some("<stdin>"));
}

#[test]
fn an_empty_part_is_a_report_without_cases() {
    let run = verify(GOOD, &["--format", "junit", "--partition", "2/2"]).expect(0);
    assert!(cases(&parsed(&run)).is_empty());
}

#[test]
fn the_count_of_further_errors_stands_behind_the_first() {
    let source = "target ptx; cta 64; shared a;\nwarps 0..2 { write a; bar.arrive 1, 64; }\n";
    let run = verify(source, &["--format", "junit", "--all", "--deny", "nobody-waits"]).expect(1);
    let document = parsed(&run);
    let failure = children(cases(&document)[0])[0];
    assert_eq!(failure.attribute("type"), Some("data-race"));
    assert!(failure.attribute("message").is_some_and(|message| message.ends_with("(and 1 more)")));
    assert!(failure.text().is_some_and(|text| text.contains("error[nobody-waits]")));
}

#[cfg(unix)]
#[test]
fn hostile_names_and_texts_stay_data() {
    let folder = crate::support::hostile_folder();
    let run = run(&["verify", "--format", "junit", &folder.text("")]).expect(1);
    let document = parsed(&run);
    let cases = cases(&document);
    assert_eq!(cases.len(), crate::support::hostile_names().len());
    let names: Vec<_> = cases.iter().filter_map(|case| case.attribute("name")).collect();
    let ends = |end: &str| names.iter().any(|name| name.ends_with(end));
    for end in ["/a<b>&\"'.bar", "/]]><!--.bar", "/&#0;&amp;.bar", "/not\u{fffd}\u{fffd}Unicode.bar"] {
        assert!(ends(end), "{end}: {names:?}");
    }
    assert!(ends("/<U+0001><U+0007><U+001B>[31m<U+007F>.bar") && ends("/<U+009B>31m.bar"), "{names:?}");
    let legal = |c: char| (!c.is_control() || c == '\n' || c == '\t') && c != '\u{fffe}' && c != '\u{ffff}';
    assert!(run.out.chars().all(legal));
}
