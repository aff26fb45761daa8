//! A hang is told with its cause first: whoever reads it in a terminal of 80 columns and 24 lines need not
//! scroll.

#![cfg(unix)]

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::io::Read;

const FORGOTTEN_ARRIVE: &str = "tests/hangs/forgotten_arrive.bar";
const A_TILE_EARLY: &str = "tests/hangs/a_tile_early.bar";
/// Two compiled kernels whose names are longer than such a terminal; the second hangs.
const LONG_NAMES: &str = "tests/hangs/long_names.ptx";
/// More than anything here prints.
const ROWS: u16 = 200;

/// What `barcheck verify` prints on a terminal of 80 columns, row by row.
fn verify(arguments: &[&str]) -> Vec<String> {
    let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
    let pair = native_pty_system().openpty(size).expect("there are pseudo-terminals");
    let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_barcheck"));
    command.arg("verify");
    command.args(arguments);
    command.cwd(env!("CARGO_MANIFEST_DIR"));
    command.env("TERM", "xterm-256color");
    command.env("LC_ALL", "C.UTF-8");
    let mut child = pair.slave.spawn_command(command).expect("the binary starts");
    drop(pair.slave);
    let mut screen = vt100::Parser::new(ROWS, 80, 0);
    let mut reader = pair.master.try_clone_reader().expect("the terminal can be read");
    let mut bytes = [0; 4096];
    while let Ok(count @ 1..) = reader.read(&mut bytes) {
        screen.process(&bytes[..count]);
    }
    assert_eq!(child.wait().expect("it ends").exit_code(), 1);
    screen.screen().rows(0, 80).map(|row| row.trim_end().to_owned()).collect()
}

/// What such a terminal of 24 lines shows first, as running text.
fn first_screen(rows: &[String]) -> String {
    rows[..24].join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The table of steps, from its head to its signs.
fn table(rows: &[String]) -> &[String] {
    let head = rows.iter().position(|row| row.trim_start().starts_with("step  line")).expect("a head");
    let length = rows[head..].iter().position(String::is_empty).expect("an end");
    &rows[head..head + length]
}

#[test]
fn who_forgot_an_arrive_and_where_stands_on_the_first_screen() {
    let printed = verify(&[FORGOTTEN_ARRIVE]);
    let screen = first_screen(&printed);
    for cause in [
        "error[deadlock]: warp 6 went on to barrier 1 without its 2nd arrival on barrier 4",
        "warp 6 went on here, without arriving on barrier 4",
        "why Warp 6 went on at forgotten_arrive.bar:",
    ] {
        assert!(screen.contains(cause), "no `{cause}` in:\n{screen}");
    }
}

#[test]
fn who_left_its_loop_early_stands_on_the_first_screen() {
    let printed = verify(&[A_TILE_EARLY]);
    let screen = first_screen(&printed);
    for cause in [
        "error[deadlock]: warp 17 went on to barrier 3 without its 8th arrival on barrier 1",
        "warp 17 went on here, without arriving on barrier 1",
        "which run the same code as warp 17, arrived on",
    ] {
        assert!(screen.contains(cause), "no `{cause}` in:\n{screen}");
    }
}

#[test]
fn no_name_of_a_kernel_pushes_the_cause_off_the_first_screen() {
    let printed = verify(&[LONG_NAMES]);
    let screen = first_screen(&printed);
    for cause in [
        "verified tests/hangs/long_names.ptx, kernel tiles::device_kernel<…> (entry 0)",
        "violated tests/hangs/long_names.ptx, kernel tiles::device_kernel<…> (entry 1)",
        "error[deadlock]: warp 1 exited without arriving on barrier 1",
        "@%p1 bra $DONE; | ^ warp 1 exited here",
        "bar.sync 1, 64; | -------------- others wait here",
    ] {
        assert!(screen.contains(cause), "no `{cause}` in:\n{screen}");
    }
}

#[test]
fn warps_that_are_alike_share_a_column_and_no_row_is_too_wide() {
    for (file, head, last) in [
        (FORGOTTEN_ARRIVE, "w0-3 w4,5,7 w6  instruction", "bar.sync 2, 256"),
        (A_TILE_EARLY, "w0-16,18-31 w17  instruction", "bar.sync 3, 1024"),
    ] {
        let printed = verify(&[file]);
        let table = table(&printed);
        assert!(table[0].contains(head), "{printed:#?}");
        assert!(table.len() <= 20, "{printed:#?}");
        let is_row = |row: &String| {
            let number = row.trim_start().chars().next();
            number.is_some_and(|first| first.is_ascii_digit() || first == '⋮')
        };
        let [_, rows @ .., _] = table else { panic!("{printed:#?}") };
        assert!(rows.iter().all(is_row), "no row takes two lines: {printed:#?}");
        assert!(rows.last().is_some_and(|row| row.contains(last)), "the step that ends it: {printed:#?}");
        assert!(rows.iter().any(|row| row.ends_with("steps left out")), "{printed:#?}");
    }
}

#[test]
fn unfolded_every_step_and_every_warp_is_shown() {
    let printed = verify(&["--unfold", FORGOTTEN_ARRIVE]);
    let table = table(&printed);
    assert!(table[0].contains("w0 w1 w2 w3 w4 w5 w6 w7"), "{printed:#?}");
    assert!(table.len() > 45 && !table.iter().any(|line| line.contains("left out")), "{printed:#?}");
}
