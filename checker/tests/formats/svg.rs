//! Pictures, read by an XML parser: what is drawn is what the trace says.

use crate::{TRACES, converted, hostile};
use barcheck_counterexamples::{Format, Timeline, Trace, trace::Event};
use roxmltree::{Document, Node};
use std::collections::BTreeSet;

const SVG: &str = "http://www.w3.org/2000/svg";

fn has_class(node: Node<'_, '_>, class: &str) -> bool {
    node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class))
}

fn count(document: &Document<'_>, class: &str) -> usize {
    document.descendants().filter(|node| has_class(*node, class)).count()
}

/// Well formed, alone, described.
fn stands_alone(name: &str, text: &str) {
    let document = Document::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let root = document.root_element();
    assert!(root.has_tag_name((SVG, "svg")));
    assert_eq!(root.attribute("role"), Some("img"));
    let ids = root.attribute("aria-labelledby").expect("it says what describes it");
    for id in ids.split(' ') {
        let found = document.descendants().filter(|node| node.attribute("id") == Some(id)).count();
        assert_eq!(found, 1, "{name}: {id}");
    }
    for node in document.descendants().filter(Node::is_element) {
        let known = ["svg", "title", "desc", "style", "rect", "text", "path", "g"];
        assert!(known.contains(&node.tag_name().name()), "{name}: {node:?}");
        for attribute in node.attributes() {
            assert!(
                !attribute.name().starts_with("on") && !attribute.name().ends_with("href"),
                "{name}: {attribute:?}"
            );
            let reaches_out = attribute.value().contains("url(") && attribute.name() != "class";
            assert!(!reaches_out, "{name}: {attribute:?}");
        }
    }
    let style =
        document.descendants().find(|node| node.has_tag_name((SVG, "style"))).and_then(|node| node.text());
    assert!(style.is_some_and(|style| !style.contains("@import") && !style.contains("url(")));
}

/// Whether the whole trace is drawn.
fn is_whole(text: &str) -> bool {
    !text.contains("left out") && !text.contains("have no column")
}

#[test]
fn a_picture_is_well_formed_and_stands_alone() {
    for (name, trace) in TRACES.iter() {
        stands_alone(name, &converted(trace, Format::Svg));
    }
}

#[test]
fn names_in_a_picture_are_text_whatever_they_are() {
    for (name, trace) in hostile() {
        let text = converted(&trace, Format::Svg);
        stands_alone(&name, &text);
        assert!(text.len() < 400_000, "{name}: {} bytes", text.len());
    }
}

/// Arrivals in generations of barriers with a number, each agent once in each.
fn bands(trace: &Trace) -> usize {
    let timeline = Timeline::of(trace);
    let objects: BTreeSet<u32> = timeline.objects().map(|(barrier, _)| barrier).collect();
    let mut bands = 0;
    let mut arrived: std::collections::BTreeMap<u32, BTreeSet<u32>> = std::collections::BTreeMap::new();
    for step in &trace.steps {
        for event in &step.events {
            match event {
                Event::Arrived { barrier } if objects.contains(barrier) => {}
                Event::Arrived { barrier } if arrived.entry(*barrier).or_default().insert(step.agent) => {
                    bands += 1;
                }
                Event::Completed { barrier, .. } => {
                    arrived.remove(barrier);
                }
                _ => {}
            }
        }
    }
    bands
}

#[test]
fn there_is_a_sign_for_each_step_a_band_for_each_arrival_and_an_arrow_for_each_release() {
    let mut whole = 0;
    for (name, trace) in TRACES.iter() {
        let text = converted(trace, Format::Svg);
        let document = Document::parse(&text).expect("it is XML");
        assert_eq!(count(&document, "outcome"), 1, "{name}");
        assert_eq!(count(&document, "cycle"), usize::from(trace.outcome.cycle_from.is_some()), "{name}");
        if !is_whole(&text) {
            continue;
        }
        whole += 1;
        let of = |test: fn(&Event) -> Option<&Vec<u32>>| -> usize {
            let told = trace.steps.iter().flat_map(|step| step.events.iter().map(move |event| (step, event)));
            told.filter_map(|(step, event)| {
                let others = |a: &&u32| step.choice.lands || **a != step.agent;
                Some(test(event)?.iter().filter(others).count())
            })
            .sum()
        };
        let released = of(|event| match event {
            Event::Released { agents, .. } => Some(agents),
            _ => None,
        });
        let notified = of(|event| match event {
            Event::Notified { agents, .. } => Some(agents),
            _ => None,
        });
        assert_eq!(count(&document, "generation"), bands(trace), "{name}");
        let timeline = Timeline::of(trace);
        let phases: usize = timeline.objects().map(|(_, phases)| phases.len()).sum();
        assert_eq!(count(&document, "phase"), phases, "{name}");
        assert_eq!(count(&document, "flight"), timeline.flights().len(), "{name}");
        let lost = timeline.flights().iter().filter(|flight| flight.landed.is_none()).count();
        assert_eq!(count(&document, "lost"), lost, "{name}");
        let sides = timeline.figure().map_or(0, |figure| figure.sides.len());
        assert_eq!(count(&document, "side"), sides, "{name}");
        assert_eq!((count(&document, "release"), count(&document, "notice")), (released, notified), "{name}");
        let concerned: BTreeSet<u32> =
            trace.outcome.agents.iter().copied().chain([trace.outcome.agent]).collect();
        // Those in the legend are signs, too.
        let in_rows = document.descendants().filter(|node| has_class(*node, "sign"));
        let in_rows =
            in_rows.filter(|node| !node.ancestors().any(|above| has_class(above, "legend"))).count();
        let pictured = in_rows - concerned.len();
        assert!(pictured >= trace.steps.len(), "{name}: {pictured} signs");
        assert!(pictured <= trace.steps.len() + released, "{name}: {pictured} signs");
    }
    assert!(whole > 100, "{whole}");
}

#[test]
fn a_long_trace_is_shortened_in_the_middle_and_says_so() {
    let (_, trace) = TRACES.iter().max_by_key(|(_, trace)| trace.steps.len()).expect("there are some");
    let mut long = trace.clone();
    let steps = trace.steps.iter().cycle().take(4_000).cloned();
    long.steps = steps
        .enumerate()
        .map(|(index, step)| barcheck_counterexamples::trace::Step { index, ..step })
        .collect();
    let text = converted(&long, Format::Svg);
    stands_alone("long", &text);
    assert!(text.contains("steps left out"), "{text}");
    assert!(text.len() < 100_000, "{} bytes", text.len());
}
