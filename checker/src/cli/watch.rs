//! Watches over a search: shows how far it is, and ends it when the user asks.

use super::output::{bytes, complain, grouped};
use super::writing;
use barcheck::{Control, Note, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::cell::RefCell;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The status of a process that Ctrl-C has killed, as shells have it.
const KILLED: i32 = 130;

/// From now on the first Ctrl-C ends the search and lets its report come; the second kills.
pub(crate) fn listen() {
    // Without the handler Ctrl-C kills at once, which is no worse than what the user asked for.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            writing::discard_all();
            std::process::exit(KILLED);
        }
    });
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
    match note {
        Note::MovesToDisk(folder) => {
            format!("memory is used up (see --max-memory): old states go to {}", folder.display())
        }
        Note::Resumes(states) => format!("goes on from its checkpoint, with {} states", grouped(states)),
        Note::CannotResume(why) => format!("its checkpoint cannot be used, the search begins anew: {why}"),
        Note::NoCheckpoint(why) => format!("no more checkpoints: {why}"),
    }
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
