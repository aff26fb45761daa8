//! What is drawn of objects, of what the rule is about, and of what a kernel was compiled from.

use super::*;
use barcheck_counterexamples::{CompiledFrom, SourceFile, SourceLine};

/// The screen shows all of these.
#[track_caller]
fn shows(screen: &str, texts: &[&str]) {
    for text in texts {
        assert!(screen.contains(text), "no `{text}` in\n{screen}");
    }
}

#[test]
fn objects_have_lanes_with_phases_and_what_is_in_flight() {
    let trace = library("ptx/mbarrier_stage_freed_early_broken.bar");
    let wide = screen(&mut viewer(&trace), 160, 50);
    shows(&wide, &["full[0]", "empty[1]", "↘", "▷ never lands", "≈ in flight", "━ phase"]);
    shows(&wide, &["in flight the copy of 4096 bytes"]);
    let plain = Theme { colour: false, unicode: false };
    let mut viewer = Viewer::new(Timeline::of(&trace), pages::notes(&trace, None), plain);
    shows(&screen(&mut viewer, 100, 40), &["full[1]", "~ in flight"]);
    // The keys go through the agents alone.
    press(&mut viewer, &[KeyCode::Down; 9]);
    assert_eq!(viewer.agent, Some(2));
}

#[test]
fn what_a_rule_is_about_is_drawn() {
    let about = |name: &str| {
        let trace = library(name);
        screen(&mut viewer(&trace), 160, 50)
    };
    let room = about("bcu/arrival_race.bar");
    shows(&room, &["Who could arrive next", "□□  0 arrived, room for 2", "△△▲  3 could come next"]);
    let instances = about("split_barrier/same_barrier_in_different_iterations.bar");
    shows(&instances, &["The instances of the barrier that meet", "i = 0", "│ i = 1"]);
    let moved = about("bcu/state_moved_to_another_id.bar");
    shows(&moved, &["saves the state of b1", "puts the state onto b2", "violates mixed-red"]);
}

#[test]
fn below_a_kernel_stands_what_it_was_compiled_from() {
    let trace = library("ptx/deadlock_crossed_order.bar");
    let mut notes = pages::notes(&trace, None);
    let lines = [(7, "__global__ void k() {"), (8, "    sync();\u{1b}[2J"), (9, "}")];
    let lines = lines.into_iter().map(|(number, text)| (number, text.to_owned())).collect();
    notes.compiled_from = Some(CompiledFrom {
        files: vec![SourceFile { name: "/src/evil\u{202e}.cu".to_owned(), lines }],
        lines: vec![SourceLine { line: 13, file: 0, at: 8, said: Some("lib.cuh:3".to_owned()) }],
    });
    let theme = Theme { colour: true, unicode: true };
    let mut viewer = Viewer::new(Timeline::of(&trace), notes, theme);
    let wide = screen(&mut viewer, 160, 50);
    shows(&wide, &["compiled from evil", ":8, inlines lib.cuh:3", "    8 ●▸ ", "13 w1"]);
    assert!(!wide.contains('\u{1b}') && !wide.contains('\u{202e}'));
    screen(&mut viewer, 40, 8);
}
