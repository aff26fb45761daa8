//! Watches over a search: shows how far it is, and ends it when the user asks.

use super::output::{bytes, complain, grouped};
use super::writing;
use barcheck::{Control, Note, Patience, Progress};
use barcheck_counterexamples::harmless;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::RefCell;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on Ctrl-C, or being asked to end in another way, ends the search and lets its report come; the
/// second Ctrl-C kills.
pub(crate) fn listen() {
    // Without a handler Ctrl-C kills at once, which is no worse than what the user asked for.
    let _ = signals::heed();
}

/// The user asks to end. One who `insists` and has asked before gets that at once, with this status.
fn ask_to_end(insists: bool, status: i32) {
    if INTERRUPTED.swap(true, Ordering::SeqCst) && insists {
        writing::discard_all();
        std::process::exit(status);
    }
}

#[cfg(unix)]
mod signals {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use std::io;
    use std::time::{Duration, Instant};

    /// Who asks a process to end may ask twice at once: it alone, and then its whole group.
    const AT_ONCE: Duration = Duration::from_secs(1);

    pub(super) fn heed() -> io::Result<()> {
        let mut wanted = vec![SIGINT, SIGTERM];
        // Under `nohup` the search goes on without a terminal.
        wanted.extend((!is_ignored(SIGHUP)).then_some(SIGHUP));
        let mut signals = Signals::new(wanted)?;
        std::thread::spawn(move || {
            let mut first = None;
            for signal in signals.forever() {
                let first = *first.get_or_insert_with(Instant::now);
                let insists = match signal {
                    SIGINT => true,
                    SIGTERM => first.elapsed() > AT_ONCE,
                    // A terminal that is gone is gone once, however often that is said.
                    _ => false,
                };
                super::ask_to_end(insists, 128 + signal);
            }
        });
        Ok(())
    }

    /// Whether whoever has started this process wants it to ignore a signal, where the system says so.
    fn is_ignored(signal: i32) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        mask >> (signal - 1) & 1 == 1
    }
}

#[cfg(not(unix))]
mod signals {
    /// The status of a process that Ctrl-C has killed, as shells have it.
    const KILLED: i32 = 130;

    pub(super) fn heed() -> Result<(), ctrlc::Error> {
        ctrlc::set_handler(|| super::ask_to_end(true, KILLED))
    }
}

/// Whether the user has asked to end.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Searches that end within this time show nothing.
const PATIENCE: Duration = Duration::from_millis(500);
/// Time between two looks.
const REDRAW: Duration = Duration::from_millis(100);

/// Watches over the search for one file.
pub(crate) struct Watch {
    name: String,
    visible: bool,
    /// What happens is said, on a terminal or not.
    says: bool,
    start: Instant,
    view: RefCell<View>,
}

struct View {
    bar: Option<ProgressBar>,
    next: Instant,
}

impl Watch {
    /// A watch that shows progress if standard error is a terminal and `visible`, and says what happens if
    /// `visible`.
    pub(crate) fn new(name: &str, visible: bool) -> Self {
        let start = Instant::now();
        let says = visible;
        let visible = visible && std::io::stderr().is_terminal();
        let view = RefCell::new(View { bar: None, next: start + PATIENCE });
        Self { name: name.to_owned(), visible, says, start, view }
    }

    fn show(&self, progress: Progress) {
        let Ok(mut view) = self.view.try_borrow_mut() else { return };
        let now = Instant::now();
        if now < view.next {
            return;
        }
        view.next = now + REDRAW;
        let elapsed = now.duration_since(self.start);
        let bar = view.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
                bar.set_style(style);
            }
            bar
        });
        bar.set_message(describe(&self.name, progress, elapsed));
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(bar) = self.view.get_mut().bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Control for Watch {
    fn goes_on(&self, progress: Progress) -> bool {
        if self.visible {
            self.show(progress);
        }
        !interrupted()
    }

    fn patience(&self) -> Patience {
        Patience::new(interrupted)
    }

    fn began(&self) -> Option<Instant> {
        Some(self.start)
    }

    fn notes(&self, note: Note<'_>) {
        if !self.says {
            return;
        }
        let line = format!("{}: {}\n", self.name, in_words(note));
        match self.view.try_borrow().ok().and_then(|view| view.bar.clone()) {
            Some(bar) => bar.println(line.trim_end()),
            None => complain(&line),
        }
    }
}

fn in_words(note: Note<'_>) -> String {
    let words = match note {
        Note::MovesToDisk(folder) => {
            format!("memory is used up (see --max-memory): old states go to {}", folder.display())
        }
        Note::Resumes(states) => format!("goes on from its checkpoint, with {} states", grouped(states)),
        Note::CannotResume(why) => format!("its checkpoint cannot be used, the search begins anew: {why}"),
        Note::NoCheckpoint(why) => format!("no more checkpoints: {why}"),
    };
    // Folders may be named in all of them.
    harmless(&words)
}

/// The name, without its folders, comes last: a narrow terminal cuts off what comes last.
fn describe(name: &str, progress: Progress, elapsed: Duration) -> String {
    let rate = |count: u64| {
        let rate = u128::from(count) * 1000 / elapsed.as_millis().max(1);
        grouped(u64::try_from(rate).unwrap_or(u64::MAX))
    };
    let (memory, seconds) = (bytes(progress.memory_bytes), elapsed.as_secs());
    let so_far = match progress.percent {
        Some(percent) => {
            let steps = progress.transitions;
            format!("{percent} % of one schedule, {} steps, {}/s", grouped(steps), rate(steps))
        }
        None => format!(
            "{} states, {}/s, depth {}, frontier {}",
            grouped(progress.states),
            rate(progress.states),
            grouped(progress.depth),
            grouped(progress.frontier),
        ),
    };
    let file = Path::new(name).file_name().map_or(name.into(), |file| file.to_string_lossy());
    format!("{so_far}, {memory}, {seconds} s: {file}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_in_words() {
        let search = Progress {
            states: 2_000_000,
            depth: 17,
            frontier: 1234,
            memory_bytes: 64 << 20,
            ..Progress::default()
        };
        assert_eq!(
            describe("a/folder/ring.bar", search, Duration::from_secs(4)),
            "2,000,000 states, 500,000/s, depth 17, frontier 1,234, 64.0 MiB, 4 s: ring.bar"
        );
        let schedule = Progress { transitions: 4_000_000, percent: Some(40), ..search };
        assert_eq!(
            describe("-", schedule, Duration::from_secs(4)),
            "40 % of one schedule, 4,000,000 steps, 1,000,000/s, 64.0 MiB, 4 s: -"
        );
    }
}
