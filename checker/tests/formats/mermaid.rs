//! Sequence diagrams: one statement a line, bars that begin and end, and no text that could be taken for a
//! statement. Mermaid itself reads them in the browser test.

use crate::{TRACES, converted, hostile};
use barcheck_counterexamples::{Format, Trace};
use std::collections::BTreeSet;

/// GitHub draws nothing longer.
const LONGEST: usize = 50_000;

/// Nothing in a text can end a statement, begin a comment or a directive, or be taken for an element.
#[track_caller]
fn is_text(name: &str, text: &str) {
    let plain = text.replace("<br/>", " ");
    let mut rest = plain.as_str();
    while let Some((before, after)) = rest.split_once('#') {
        let (code, behind) = after.split_once(';').unwrap_or_else(|| panic!("{name}: {text}"));
        assert!(code.bytes().all(|byte| byte.is_ascii_digit()) && !code.is_empty(), "{name}: {text}");
        assert!(!before.contains(';'), "{name}: {text}");
        rest = behind;
    }
    assert!(!rest.contains(';'), "{name}: {text}");
    assert!(!plain.contains(['<', '>', '%', '{', '}', '"', '`', '$', '&', '\\']), "{name}: {text}");
    assert!(!plain.split([' ', ':']).any(|word| word.eq_ignore_ascii_case("end")), "{name}: {text}");
}

fn holds(name: &str, trace: &Trace) -> String {
    let diagram = converted(trace, Format::Mermaid);
    assert!(diagram.len() < LONGEST, "{name}: {} bytes", diagram.len());
    let mut lines = diagram.lines();
    assert_eq!(lines.next(), Some("sequenceDiagram"));
    let (mut known, mut active, mut loops) = (BTreeSet::new(), BTreeSet::new(), 0);
    for line in lines.map(str::trim) {
        if let Some(declared) = line.strip_prefix("participant ") {
            let (id, text) = declared.split_once(" as ").expect("an alias");
            assert!(known.insert(id), "{name}: {id} twice");
            is_text(name, text);
        } else if let Some(id) = line.strip_prefix("activate ") {
            assert!(known.contains(id) && active.insert(id), "{name}: {line}");
        } else if let Some(id) = line.strip_prefix("deactivate ") {
            assert!(active.remove(id), "{name}: {line}");
        } else if line == "loop for ever" {
            loops += 1;
        } else if line == "end" {
            loops -= 1;
        } else {
            let (head, text) = line.split_once(": ").unwrap_or_else(|| panic!("{name}: {line}"));
            let ids: Vec<&str> = match head.strip_prefix("Note over ") {
                Some(ids) => ids.split(',').collect(),
                None => ["-->>", "->>", "-)", "--x"]
                    .iter()
                    .find_map(|arrow| head.split_once(arrow))
                    .map(|(from, to)| vec![from, to])
                    .unwrap_or_else(|| panic!("{name}: {line}")),
            };
            assert!(ids.iter().all(|id| known.contains(id)), "{name}: {line}");
            is_text(name, text);
        }
    }
    assert!(active.is_empty() && loops == 0, "{name}:\n{diagram}");
    diagram
}

#[test]
fn a_diagram_consists_of_statements_and_has_a_message_for_each_step_on_a_barrier() {
    for (name, trace) in TRACES.iter() {
        let diagram = holds(name, trace);
        assert_eq!(diagram.contains("loop for ever"), trace.outcome.cycle_from.is_some(), "{name}");
        if diagram.contains("left out") || trace.agents.len() > 10 {
            continue;
        }
        // Those that could come have yet to make a step.
        let messages = diagram.lines().filter(|line| !line.contains(": could come next: "));
        let messages = messages.filter(|line| line.contains("->>B") || line.contains("-)B")).count();
        let on_barriers = trace.steps.iter().filter(|step| step.operands.is_some()).count();
        assert_eq!(messages, on_barriers, "{name}:\n{diagram}");
    }
}

#[test]
fn no_name_can_add_a_statement_to_a_diagram() {
    for (name, trace) in hostile() {
        holds(&name, &trace);
    }
}

#[test]
fn a_diagram_stays_within_what_github_draws() {
    let (_, trace) = TRACES.iter().max_by_key(|(_, trace)| trace.agents.len()).expect("there are some");
    let mut long = crate::poisoned(trace, &"\u{202e}".repeat(500));
    let steps = long.steps.clone();
    let steps = steps.iter().cycle().take(3_000).cloned();
    long.steps = steps
        .enumerate()
        .map(|(index, step)| barcheck_counterexamples::trace::Step { index, ..step })
        .collect();
    assert!(holds("long", &long).contains("left out"));
}
