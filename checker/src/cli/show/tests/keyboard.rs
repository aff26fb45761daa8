//! What keys do.

use super::*;
use crate::cli::show::filter::{Filter, Who};
use crate::cli::show::keys::{KEYS, Next};
use crate::cli::show::state::{Overlay, Panel};
use barcheck_counterexamples::Kind;
use ratatui::crossterm::event::KeyCode::{
    Backspace, Char, Down, End, Enter, Esc, Home, Left, PageDown, PageUp, Right, Tab, Up,
};

/// Six steps: both warps arrive twice on barrier 1, then one exits, and the other arrives alone.
fn wavelet() -> Trace {
    library("ptx/wavelet_one_short_broken.bar")
}

fn control(viewer: &mut Viewer<'_>, letter: char) -> Next {
    viewer.key(KeyEvent::new(Char(letter), KeyModifiers::CONTROL))
}

#[test]
fn time_is_walked_in_steps_tens_and_at_once() {
    let trace = wavelet();
    let mut viewer = viewer(&trace);
    let mut at = |keys: &[KeyCode]| {
        press(&mut viewer, keys);
        viewer.time
    };
    assert_eq!(at(&[]), 6, "it begins at the violation");
    assert_eq!(at(&[Left]), 5);
    assert_eq!(at(&[Char('h'), Char('l')]), 5);
    assert_eq!(at(&[Home, Left]), 0);
    assert_eq!(at(&[Right]), 1);
    assert_eq!(at(&[PageDown]), 6);
    assert_eq!(at(&[Right]), 6, "there is no step behind the last");
    assert_eq!(at(&[PageUp]), 0);
    assert_eq!(at(&[End]), 6);
    assert_eq!(at(&[Home, Char('v')]), 6);
}

#[test]
fn the_next_event_of_an_agent_and_on_a_barrier_is_found() {
    let trace = wavelet();
    let mut viewer = viewer(&trace);
    press(&mut viewer, &[Home, Right, Char('a')]);
    assert_eq!((viewer.agent, viewer.time), (Some(1), 2), "step 2 releases the agent of step 1");
    press(&mut viewer, &[End, Char('A')]);
    assert_eq!(viewer.time, 5, "warp 1 blocks there");
    press(&mut viewer, &[Char('a')]);
    assert_eq!((viewer.time, viewer.said.as_str()), (5, "No later step of warp 1"));
    press(&mut viewer, &[Char('B')]);
    assert_eq!((viewer.barrier, viewer.time), (Some(1), 4));
    press(&mut viewer, &[Char('b'), Char('b')]);
    assert_eq!((viewer.time, viewer.said.as_str()), (5, "No later event on barrier 1"));
    press(&mut viewer, &[Char('c')]);
    assert!(viewer.said.contains("no cycle"));
}

#[test]
fn agents_and_barriers_are_selected_and_let_go() {
    let trace = library("ptx/deadlock_crossed_order.bar");
    let mut viewer = viewer(&trace);
    press(&mut viewer, &[Up]);
    assert_eq!(viewer.agent, Some(0), "above the agent of the last step");
    press(&mut viewer, &[Up, Char('j'), Down]);
    assert_eq!(viewer.agent, Some(1));
    press(&mut viewer, &[Char('f'), Enter]);
    assert_eq!((viewer.said.as_str(), viewer.rows.len()), ("No agent has a role", 2));
    press(&mut viewer, &[Char('k'), Char(']')]);
    assert_eq!((viewer.agent, viewer.barrier), (Some(0), Some(1)));
    press(&mut viewer, &[Char(']'), Char(']'), Char('[')]);
    assert_eq!(viewer.barrier, Some(2), "they go round");
    press(&mut viewer, &[Esc]);
    assert_eq!((viewer.agent, viewer.barrier), (None, None));
}

#[test]
fn a_number_is_typed_and_a_wrong_one_is_refused() {
    let trace = wavelet();
    let mut viewer = viewer(&trace);
    press(&mut viewer, &[Char('g'), Char('x'), Char('4'), Char('2'), Backspace, Enter]);
    assert_eq!(viewer.time, 4);
    press(&mut viewer, &[Char('g'), Char('7'), Enter]);
    assert_eq!((viewer.time, viewer.said.as_str()), (4, "There is no step 7, the last is 6"));
    press(&mut viewer, &[Char('g'), Char('1'), Esc]);
    assert_eq!(viewer.time, 4);
}

#[test]
fn words_are_found_forwards_and_backwards() {
    let trace = wavelet();
    let mut viewer = viewer(&trace);
    press(&mut viewer, &[Home, Char('/')]);
    press(&mut viewer, &"COMPLETE".chars().map(Char).collect::<Vec<_>>());
    assert_eq!(viewer.times, [2, 4]);
    assert!(screen(&mut viewer, 80, 24).contains("find: COMPLETE"));
    press(&mut viewer, &[Enter]);
    assert_eq!(viewer.time, 2);
    press(&mut viewer, &[Char('n'), Char('n')]);
    assert_eq!((viewer.time, viewer.said.as_str()), (4, "No later step matches"));
    press(&mut viewer, &[Char('N'), Char('N')]);
    assert_eq!((viewer.time, viewer.said.as_str()), (2, "No earlier step matches"));
    assert!(screen(&mut viewer, 80, 24).contains('▾'), "matches are marked");
    press(&mut viewer, &[Char('4')]);
    let listed = screen(&mut viewer, 80, 24);
    assert!(listed.contains("2 match") && !listed.contains(" 3 ■"), "{listed}");
    press(&mut viewer, &[Down]);
    assert_eq!(viewer.time, 4, "in the list, down is the next one listed");
    press(&mut viewer, &[Up, Esc, Esc]);
    assert_eq!((viewer.focus, viewer.filter.restricts()), (Panel::Schedule, false));
}

#[test]
fn steps_are_filtered_by_agent_barrier_and_kind() {
    let trace = wavelet();
    let mut viewer = viewer(&trace);
    press(&mut viewer, &[Char('F'), Down]);
    assert_eq!(viewer.filter.who, Some(Who::Role(0)));
    assert_eq!(viewer.times, [2, 3, 6]);
    assert!(screen(&mut viewer, 80, 24).contains("all of load"));
    press(&mut viewer, &[Right, Down, Right, End, Enter]);
    assert_eq!(
        viewer.filter,
        Filter { who: Some(Who::Role(0)), barrier: Some(1), kind: Some(Kind::Exits), ..Filter::default() }
    );
    assert!(viewer.times.is_empty(), "an exit is on no barrier");
    press(&mut viewer, &[Char('F'), Tab, Home, Enter]);
    assert_eq!(viewer.times, [6]);
    let shown = screen(&mut viewer, 80, 24);
    assert!(shown.contains("1 of 6 steps match: all of load, exits"), "{shown}");
    press(&mut viewer, &[Esc]);
    assert_eq!(viewer.times.len(), 6);
}

#[test]
fn playing_ends_at_the_end_and_begins_again() {
    let trace = wavelet();
    let mut viewer = viewer(&trace);
    press(&mut viewer, &[Char(' ')]);
    assert_eq!((viewer.playing, viewer.time), (true, 0));
    for _ in 0..7 {
        viewer.tick();
    }
    assert_eq!((viewer.playing, viewer.time), (false, 6));
    press(&mut viewer, &[Left, Char(' '), Char(' ')]);
    assert_eq!((viewer.playing, viewer.time), (false, 5));
}

#[test]
fn panels_take_the_focus_scroll_and_stand_alone() {
    let trace = wavelet();
    let mut viewer = viewer(&trace);
    screen(&mut viewer, 80, 24);
    press(&mut viewer, &[Char('6')]);
    let top = screen(&mut viewer, 80, 24);
    press(&mut viewer, &[Down, PageDown]);
    let below = screen(&mut viewer, 80, 24);
    assert!(top.contains("[6 Why]") && top.contains(" more ↓") && top != below);
    assert_eq!(viewer.time, 6, "keys that scroll do not step");
    press(&mut viewer, &[Home]);
    assert_eq!(screen(&mut viewer, 80, 24), top);
    press(&mut viewer, &[End]);
    let scroll = viewer.scrolls[Panel::Why as usize];
    assert_eq!(scroll.top + scroll.room, scroll.lines);
    press(&mut viewer, &[Char('z')]);
    assert!(!screen(&mut viewer, 80, 24).contains("Schedule"));
    press(&mut viewer, &[Tab]);
    assert_eq!(viewer.focus, Panel::Schedule);
    press(&mut viewer, &[KeyCode::BackTab, Esc]);
    assert_eq!((viewer.focus, viewer.alone), (Panel::Schedule, false));
}

#[test]
fn the_schedule_is_zoomed_and_the_source_moved() {
    let trace = wavelet();
    let mut viewer = viewer(&trace);
    screen(&mut viewer, 80, 24);
    let before = viewer.zoom;
    press(&mut viewer, &[Char('-')]);
    assert!(viewer.zoom < before);
    press(&mut viewer, &[Char('+'), Char('=')]);
    assert!(viewer.zoom >= before);
    press(&mut viewer, &[Char('>')]);
    assert_eq!(viewer.shifted, Some(8));
    press(&mut viewer, &[Char('<'), Char('<')]);
    assert_eq!(viewer.shifted, Some(0));
}

#[test]
fn the_help_lists_every_key_and_scrolls() {
    let trace = wavelet();
    let mut viewer = viewer(&trace);
    press(&mut viewer, &[Char('?')]);
    let help = screen(&mut viewer, 100, 70);
    for (keys, meaning) in KEYS {
        assert!(help.contains(keys) && help.contains(meaning), "{keys}: {meaning}\n{help}");
    }
    let first = screen(&mut viewer, 80, 24);
    press(&mut viewer, &[Down]);
    assert_ne!(screen(&mut viewer, 80, 24), first);
    press(&mut viewer, &[PageDown; 30]);
    assert!(screen(&mut viewer, 80, 24).contains("what the outcome is about"));
    press(&mut viewer, &[Up, Char('?')]);
    assert!(matches!(viewer.overlay, Overlay::None));
}

#[test]
fn quitting_redrawing_and_suspending_are_asked_of_the_terminal() {
    let trace = wavelet();
    let mut viewer = viewer(&trace);
    assert_eq!(viewer.key(KeyEvent::new(Char('q'), KeyModifiers::NONE)), Next::Quit);
    assert_eq!(control(&mut viewer, 'c'), Next::Quit);
    assert_eq!(control(&mut viewer, 'l'), Next::Redraw);
    assert_eq!(control(&mut viewer, 'z'), Next::Suspend);
    press(&mut viewer, &[Char('/')]);
    assert_eq!(viewer.key(KeyEvent::new(Char('q'), KeyModifiers::NONE)), Next::Draw, "it is typed");
    assert_eq!(control(&mut viewer, 'c'), Next::Quit);
}

#[test]
fn a_key_without_meaning_says_so() {
    let trace = wavelet();
    let mut viewer = viewer(&trace);
    press(&mut viewer, &[Char('y')]);
    assert_eq!(viewer.said, "No key `y`; ? lists the keys");
}
