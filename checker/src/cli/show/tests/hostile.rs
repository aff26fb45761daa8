//! Text that would rather be obeyed than shown, and sizes that nobody has thought of.

use super::*;
use ratatui::style::Modifier;
use unicode_width::UnicodeWidthStr;

const EVIL: &str = "\u{1b}[2J\u{1b}]0;pwned\u{7}\u{9b}31m\r\n\u{8}\u{202e}live\u{2066}\u{200b}\u{301}\u{301}\u{301}漢字👩\u{200d}👩\u{fe0f}🇩🇪 ";

/// A trace all of whose texts are hostile.
fn hostile() -> Trace {
    let mut trace = library("ptx/wavelet_one_short_broken.bar");
    let long = EVIL.repeat(200);
    trace.protocol.file.clone_from(&long);
    trace.protocol.source = format!(
        "{long}\n{}{}",
        "\u{1b}[31m漢".repeat(10_000),
        trace.protocol.source.replace("bar.sync", EVIL)
    );
    for agent in &mut trace.agents {
        agent.name.clone_from(&long);
        agent.role = Some(format!("{long}{}", agent.index));
    }
    for barrier in &mut trace.barriers {
        barrier.name.clone_from(&long);
        barrier.short.clone_from(&long);
    }
    for step in &mut trace.steps {
        step.instruction.clone_from(&long);
        step.resolved.clone_from(&long);
    }
    for state in &mut trace.initial.agents {
        state.instruction.clone_from(&long);
        for fragment in &mut state.fragments {
            fragment.locals.insert(long.clone(), long.clone());
        }
    }
    let outcome = &mut trace.outcome;
    outcome.headline.clone_from(&long);
    outcome.explanation = format!("{long}\n{long}");
    for related in &mut outcome.related {
        related.role.clone_from(&long);
    }
    trace
}

/// Presses that show every panel, the help, the menu, a prompt and a message.
fn tour() -> Vec<Vec<KeyCode>> {
    let letter = |c: char| vec![KeyCode::Char(c)];
    let mut tour: Vec<Vec<KeyCode>> = "123456zz".chars().map(letter).collect();
    tour.extend([vec![KeyCode::Home], vec![KeyCode::Right], vec![KeyCode::Down], letter('f'), letter('F')]);
    tour.extend([
        vec![KeyCode::Down],
        vec![KeyCode::Enter],
        letter('a'),
        letter('b'),
        letter('b'),
        letter('b'),
    ]);
    tour.extend([
        letter('?'),
        letter('?'),
        letter('/'),
        EVIL.chars().map(KeyCode::Char).collect(),
        vec![KeyCode::Esc],
    ]);
    tour.extend([letter('\u{1b}'), letter('\u{202e}')]);
    tour
}

#[test]
fn hostile_text_is_shown_and_not_obeyed() {
    let trace = hostile();
    let mut viewer = viewer(&trace);
    for (width, height) in [(80, 24), (160, 50), (50, 20)] {
        for keys in tour() {
            press(&mut viewer, &keys);
            let mut terminal =
                Terminal::new(TestBackend::new(width, height)).expect("memory can be drawn on");
            terminal.draw(|frame| draw(frame, &mut viewer)).expect("memory can be drawn on");
            for cell in terminal.backend().buffer().content() {
                let symbol = cell.symbol();
                let harmful = symbol.chars().any(|c| c.is_control() || barcheck_counterexamples::misleads(c));
                assert!(!harmful && symbol.width() <= 2, "{symbol:?} after {keys:?}");
                // One base character and no pile of marks on it.
                assert!(symbol.chars().count() <= 2, "{symbol:?}");
                assert!(!cell.modifier.contains(Modifier::HIDDEN));
            }
        }
    }
    assert!(screen(&mut viewer, 160, 50).contains("<U+001B>[2J"), "it is named");
}

#[test]
fn no_size_and_no_key_is_too_odd() {
    let trace = library("nbarrier/lost_notification.bar");
    let mut viewer = viewer(&trace);
    for width in [1, 2, 23, 24, 25, 39, 40, 41, 63, 71, 72, 119, 120, 300] {
        for height in [1, 2, 5, 6, 7, 8, 12, 15, 16, 23, 30, 60, 200] {
            for keys in tour() {
                press(&mut viewer, &keys);
                screen(&mut viewer, width, height);
            }
        }
    }
    assert!(screen(&mut viewer, 80, 24).contains("lost-notification"));
}

#[test]
fn a_trace_without_steps_is_shown() {
    let mut trace = library("ptx/deadlock_crossed_order.bar");
    trace.steps.clear();
    let mut viewer = viewer(&trace);
    for keys in tour() {
        press(&mut viewer, &keys);
        screen(&mut viewer, 80, 24);
    }
    press(&mut viewer, &[KeyCode::Esc, KeyCode::Esc, KeyCode::Esc]);
    assert!(screen(&mut viewer, 80, 24).contains("no step has been made"));
}
