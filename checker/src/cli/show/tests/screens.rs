//! What is drawn.

use super::*;
use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

/// The screen shows all of these.
#[track_caller]
fn shows(screen: &str, texts: &[&str]) {
    for text in texts {
        assert!(screen.contains(text), "no `{text}` in\n{screen}");
    }
}

#[test]
fn a_deadlock_shows_lanes_barriers_source_and_the_circle() {
    let trace = library("ptx/deadlock_crossed_order.bar");
    let narrow = screen(&mut viewer(&trace), 80, 24);
    shows(
        &narrow,
        &[
            "✗ deadlock (error)",
            "  warp 0 waits on barrier 1 (32 of 64 threads arrived); warp 1 waits on barrier",
            "  w0  blocked ·         ■═",
            "▸◆w1  blocked ·         ·         ■",
            "12 w0     ✗warp 0 { bar.sync 1, 64;",
            "13 w1   ●▸ warp 1 { bar.sync 2, 64;",
            "◆▌barrier 2  gathering  0 complete",
            "[█████·····] 32/64 threads, plain",
            "missing  warp 0",
            " step 2 of 2  ■ warp 1  bar.sync 2, 64  → arrives on b2, blocks on b2",
            "? keys  q quit",
        ],
    );
    let wide = screen(&mut viewer(&trace), 160, 50);
    shows(
        &wide,
        &[
            "warp 0 ═b1═▶ warp 1 (waits at b2)",
            "warp 1 ═b2═▶ warp 0 (waits at b1)",
            "closes a cycle",
            "◆ barrier 2: idle → 32/64",
            "The rule deadlock",
            "PTX ISA, barrier{.cta} (ptx.sync-waits)",
            "▸2 ■ w1 bar.sync 2, 64",
        ],
    );
}

#[test]
fn a_race_shows_the_two_accesses_and_what_is_missing() {
    let trace = library("ptx/data_race_no_barrier.bar");
    for (width, height) in [(80, 24), (160, 50)] {
        let screen = screen(&mut viewer(&trace), width, height);
        shows(
            &screen,
            &[
                "The two accesses",
                "warp 0",
                "│ warp 1",
                "1: write x",
                "│ 2: write x",
                "✗ Between the two: no barrier orders",
            ],
        );
        shows(&screen, &["writes x", "13 w0,1 ●▸✗warps 0..2 { write x; }"]);
    }
}

#[test]
fn a_run_without_end_shows_its_cycle() {
    let trace = library("split_barrier/stuck_behind_a_loop.bar");
    let cycle = trace.outcome.cycle_from.expect("it has a cycle");
    let mut viewer = viewer(&trace);
    shows(&screen(&mut viewer, 80, 24), &["✗ stuck-agent (error)", "↻", "for ever"]);
    press(&mut viewer, &[KeyCode::End, KeyCode::Right]);
    assert_eq!(viewer.time, cycle + 1, "after the end comes the cycle again");
}

#[test]
fn an_nbarrier_shows_producers_consumers_and_notifications() {
    let trace = library("nbarrier/lost_notification.bar");
    let mut viewer = viewer(&trace);
    let wide = screen(&mut viewer, 160, 50);
    shows(&wide, &["✗ lost-notification", "notified", "nbarrier.signal"]);
    press(&mut viewer, &[KeyCode::Home, KeyCode::Right]);
    shows(&screen(&mut viewer, 80, 24), &[" producers", " consumers", "step 1 of"]);
}

#[test]
fn a_split_barrier_is_called_by_its_scope() {
    let trace = library("split_barrier/trip_count_broken.bar");
    let narrow = screen(&mut viewer(&trace), 80, 24);
    shows(&narrow, &["the workgroup barrier", "1/2 invocations", "missing  invocation 0", "wg#1", "exited"]);
}

#[test]
fn roles_fold_into_a_profile_of_who_is_blocked() {
    let trace = library("ptx/ring_never_frees.bar");
    let mut viewer = viewer(&trace);
    let open = screen(&mut viewer, 100, 40);
    press(&mut viewer, &[KeyCode::Char('f')]);
    let folded = screen(&mut viewer, 100, 40);
    shows(&folded, &["folded"]);
    assert!(!open.contains("folded"));
    press(&mut viewer, &[KeyCode::Enter]);
    assert_eq!(viewer.folded.len() + 1, viewer.timeline.groups().len(), "one role is open again");
    press(&mut viewer, &[KeyCode::Char('f'), KeyCode::Char('f')]);
    assert_eq!(screen(&mut viewer, 100, 40), open);
}

#[test]
fn without_colours_and_beyond_ascii_nothing_is_lost() {
    let trace = library("ptx/wavelet_one_short_broken.bar");
    let plain = Theme { colour: false, unicode: false };
    let mut viewer = Viewer::new(Timeline::of(&trace), pages::notes(&trace, None), plain);
    let mut terminal = Terminal::new(TestBackend::new(160, 50)).expect("memory can be drawn on");
    terminal.draw(|frame| draw(frame, &mut viewer)).expect("memory can be drawn on");
    let buffer = terminal.backend().buffer();
    assert!(buffer.content().iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    let text = terminal.backend().to_string();
    assert!(text.is_ascii(), "{text}");
    shows(
        &text,
        &["! deadlock", "warp 1 -b1-> warp 0 (exited)", "[#####.....] 32/64", "blocked", "- 1 Schedule -"],
    );
}

#[test]
fn the_step_says_what_it_has_changed() {
    let trace = library("ptx/wavelet_one_short_broken.bar");
    let mut viewer = viewer(&trace);
    press(&mut viewer, &[KeyCode::Home, KeyCode::Right, KeyCode::Right, KeyCode::Char('3')]);
    let narrow = screen(&mut viewer, 80, 30);
    shows(
        &narrow,
        &["[3 Step]", "- b1 complete #1", "◆ barrier 1: 32/64 → idle", "◆ barrier 1, generations: 0 → 1"],
    );
    shows(&narrow, &["b1#1", "step 2 of 6"]);
}

#[test]
fn signs_look_as_bright_as_what_they_cover_does_not() {
    let trace = library("ptx/wavelet_one_short_broken.bar");
    let mut viewer = viewer(&trace);
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("memory can be drawn on");
    terminal.draw(|frame| draw(frame, &mut viewer)).expect("memory can be drawn on");
    let lanes = &terminal.backend().buffer().content()[80 * 6..80 * 8];
    for cell in lanes.iter().filter(|cell| ["◆", "▶", "■", "×"].contains(&cell.symbol())) {
        assert!(!cell.modifier.contains(Modifier::DIM), "{cell:?}");
    }
    let faint = |cell: &&Cell| cell.symbol() == "·" && cell.modifier.contains(Modifier::DIM);
    assert!(lanes.iter().filter(faint).count() > 3);
}

#[test]
fn a_departure_is_the_first_thing_said() {
    let trace = library("ptx/deadlock_crossed_order.bar");
    let notes = pages::notes(&trace, Some("step 1: it is not so".to_owned()));
    let mut viewer = Viewer::new(Timeline::of(&trace), notes, Theme { colour: false, unicode: true });
    shows(&screen(&mut viewer, 100, 30), &["Departs from the model", "step 1: it is not so"]);
    shows(&screen(&mut viewer, 80, 12), &["! Departs from the model"]);
}

#[test]
fn a_screen_too_small_says_so() {
    let trace = library("ptx/deadlock_crossed_order.bar");
    assert!(screen(&mut viewer(&trace), 20, 5).contains("needs 24x6"));
}

#[test]
fn the_book_shows_the_screen_as_it_is() {
    let mut trace = library("ptx/wavelet_one_short_broken.bar");
    trace.protocol.file.insert_str(0, "specs/protocols/");
    let mut viewer = viewer(&trace);
    press(&mut viewer, &[KeyCode::Char('g'), KeyCode::Char('4'), KeyCode::Enter]);
    let drawn = screen(&mut viewer, 80, 24);
    let lines: Vec<&str> = drawn.lines().map(|line| line.trim_matches('"').trim_end()).collect();
    let chapter = include_str!("../../../../book/src/counterexamples.md");
    let shown = format!("```text,screen\n{}\n```", lines.join("\n"));
    assert!(chapter.contains(&shown), "{}", lines.join("\n"));
}
