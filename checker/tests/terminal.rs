//! `barcheck show` on a pseudo-terminal: it starts, steps, quits, and gives the terminal back in whatever way
//! it ends.

#![cfg(unix)]

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const DEADLOCK: &str = "target ptx;\ncta 64;\nwarp 0 { bar.sync 1, 64; bar.sync 2, 64; }\n\
                        warp 1 { bar.sync 2, 64; bar.sync 1, 64; }\n";
/// Slow machines take their time.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with the counterexample `hang.json`.
fn hang() -> TempDir {
    let folder = TempDir::new().expect("a folder can be made");
    std::fs::write(folder.path().join("hang.bar"), DEADLOCK).expect("a file can be written");
    let made = Command::new(env!("CARGO_BIN_EXE_barcheck"))
        .args(["verify", "--quiet", "--trace", "hang.json", "hang.bar"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .status();
    assert_eq!(made.expect("the binary starts").code(), Some(1));
    folder
}

/// A program on a terminal of 80 columns and 24 lines.
struct Session {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keyboard: Box<dyn Write + Send>,
    screen: Arc<Mutex<vt100::Parser>>,
    /// How the terminal was set before.
    before: String,
}

impl Session {
    /// Runs a shell's command in a folder. The shell stays, so that the terminal does.
    fn start(folder: &Path, script: &str) -> Self {
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("there are pseudo-terminals");
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", script]);
        command.cwd(folder);
        command.env("TERM", "xterm-256color");
        command.env("LC_ALL", "C.UTF-8");
        command.env("BARCHECK", env!("CARGO_BIN_EXE_barcheck"));
        command.env_remove("NO_COLOR");
        let before = settings(&*pair.master);
        let child = pair.slave.spawn_command(command).expect("there is a shell");
        let screen = Arc::new(Mutex::new(vt100::Parser::new(24, 80, 0)));
        let mut reader = pair.master.try_clone_reader().expect("the terminal can be read");
        let seen = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                seen.lock().expect("nobody panics").process(&bytes[..count]);
            }
        });
        let keyboard = pair.master.take_writer().expect("there is a keyboard");
        Self { master: pair.master, child, keyboard, screen, before }
    }

    fn shown(&self) -> String {
        self.screen.lock().expect("nobody panics").screen().contents()
    }

    /// Waits until something holds of what is shown.
    #[track_caller]
    fn wait(&self, what: &str, test: impl Fn(&vt100::Screen) -> bool) {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if test(self.screen.lock().expect("nobody panics").screen()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("no {what} in\n{}", self.shown());
    }

    #[track_caller]
    fn sees(&self, text: &str) {
        self.wait(text, |screen| screen.contents().contains(text));
    }

    fn types(&mut self, keys: &str) {
        self.keyboard
            .write_all(keys.as_bytes())
            .and_then(|()| self.keyboard.flush())
            .expect("it can be typed on");
    }

    /// The viewer is there and in command of the terminal.
    #[track_caller]
    fn opens(&self) {
        self.sees("q quit");
        self.wait("alternate screen without cursor", |screen| {
            screen.alternate_screen() && screen.hide_cursor()
        });
        assert_ne!(settings(&*self.master), self.before, "keys are read one by one");
    }

    /// The shell has the terminal back as it was.
    #[track_caller]
    fn expect_restored(mut self, said: &str) {
        self.sees(said);
        self.wait("normal screen", |screen| !screen.alternate_screen() && !screen.hide_cursor());
        assert_eq!(settings(&*self.master), self.before);
        self.types("\n");
        assert!(self.child.wait().expect("the shell ends").success());
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Of a test that has failed; otherwise it has ended.
        let _ = self.child.kill();
    }
}

/// How a terminal is set.
fn settings(master: &dyn MasterPty) -> String {
    let settings = master.get_termios().expect("it is a terminal");
    format!("{:?} {:?} {:?}", settings.local_flags, settings.input_flags, settings.output_flags)
}

/// What the shell does after the viewer: says its status, and waits for a line.
const THEN: &str = "; echo status $?; read line";

#[test]
fn it_starts_steps_and_quits() {
    let folder = hang();
    let mut session = Session::start(folder.path(), &format!("$BARCHECK show hang.json{THEN}"));
    session.opens();
    session.sees("step 2 of 2");
    session.types("\u{1b}[D");
    session.sees("step 1 of 2");
    session.types("\u{1b}[H");
    session.sees("no step has been made");
    session.types("\u{c}");
    session.types("?");
    session.sees("Keys: Up and Down scroll");
    session.types("qq");
    session.expect_restored("status 0");
}

#[test]
fn a_trace_from_standard_input_leaves_the_keys_to_the_terminal() {
    let folder = hang();
    let mut session = Session::start(folder.path(), &format!("cat hang.json | $BARCHECK show -{THEN}"));
    session.opens();
    session.types("h");
    session.sees("step 1 of 2");
    session.types("q");
    session.expect_restored("status 0");
}

#[test]
fn control_c_quits() {
    let folder = hang();
    let mut session = Session::start(folder.path(), &format!("$BARCHECK show hang.json{THEN}"));
    session.opens();
    session.types("\u{3}");
    session.expect_restored("status 0");
}

#[test]
fn signals_end_it_and_the_terminal_is_given_back() {
    let folder = hang();
    for (signal, status) in [("TERM", 143), ("INT", 130), ("QUIT", 131)] {
        let script = format!("sh -c 'echo $$ > pid; exec $BARCHECK show hang.json'{THEN}");
        let session = Session::start(folder.path(), &script);
        session.opens();
        let pid = std::fs::read_to_string(folder.path().join("pid")).expect("it has been written");
        let killed = Command::new("kill").args([&format!("-{signal}"), pid.trim()]).status();
        assert!(killed.expect("there is `kill`").success());
        session.expect_restored(&format!("status {status}"));
    }
}

#[test]
fn it_goes_to_the_background_and_comes_back() {
    let folder = hang();
    let script = format!("set -m; $BARCHECK show hang.json; echo stopped; read line; fg >/dev/null{THEN}");
    let mut session = Session::start(folder.path(), &script);
    session.opens();
    session.types("\u{1a}");
    session.wait("stopped", |screen| !screen.alternate_screen() && screen.contents().contains("stopped"));
    session.types("\n");
    session.wait("viewer", |screen| screen.alternate_screen() && screen.contents().contains("q quit"));
    session.types("h");
    session.sees("step 1 of 2");
    session.types("q");
    session.expect_restored("status 0");
}

#[test]
fn it_follows_the_size_of_the_terminal() {
    let folder = hang();
    let mut session = Session::start(folder.path(), &format!("$BARCHECK show hang.json{THEN}"));
    session.opens();
    session.screen.lock().expect("nobody panics").screen_mut().set_size(50, 160);
    let size = PtySize { rows: 50, cols: 160, pixel_width: 0, pixel_height: 0 };
    session.master.resize(size).expect("it can be resized");
    session.sees("The rule deadlock");
    session.types("q");
    session.expect_restored("status 0");
}

#[test]
fn colours_are_left_out_where_they_are_not_wanted() {
    let folder = hang();
    let coloured = |screen: &vt100::Screen| {
        let (rows, columns) = screen.size();
        let mut cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        cells.any(|(row, column)| {
            screen.cell(row, column).is_some_and(|cell| cell.fgcolor() != vt100::Color::Default)
        })
    };
    for (script, colours) in [
        ("$BARCHECK show hang.json", true),
        ("NO_COLOR=1 $BARCHECK show hang.json", false),
        ("$BARCHECK show --color never hang.json", false),
        ("NO_COLOR=1 $BARCHECK show --color always hang.json", true),
    ] {
        let mut session = Session::start(folder.path(), &format!("{script}{THEN}"));
        session.opens();
        session.sees("step 2 of 2");
        assert_eq!(coloured(session.screen.lock().expect("nobody panics").screen()), colours, "{script}");
        session.types("q");
        session.expect_restored("status 0");
    }
}

#[test]
fn on_a_terminal_plain_prints_the_story() {
    let folder = hang();
    let session =
        Session::start(folder.path(), &format!("$BARCHECK show --plain hang.json | tail -n 4{THEN}"));
    session.expect_restored("missing: warp 0");
    let session = Session::start(folder.path(), &format!("TERM=dumb $BARCHECK show hang.json{THEN}"));
    session.expect_restored("missing: warp 0");
}
