//! The terminal: taken over, and given back in whatever way the program ends.

use super::draw::draw;
use super::keys::Next;
use super::state::Viewer;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use ratatui::crossterm::execute;
use ratatui::crossterm::style::force_color_output;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use std::io::{self, Stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two steps of a short and of a long run that is played.
const SLOWLY: Duration = Duration::from_millis(600);
const QUICKLY: Duration = Duration::from_millis(150);
/// Steps of a long run.
const LONG: usize = 200;

/// Whether the terminal is taken over.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal while it is taken over; dropping it gives it back.
struct Taken;

impl Taken {
    fn take() -> io::Result<Self> {
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let taken = Self;
        execute!(io::stdout(), EnterAlternateScreen, Hide)?;
        Ok(taken)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        give_back();
    }
}

/// Gives the terminal back, if it is taken over. What fails here has nobody to be told to.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        let _ = execute!(io::stdout(), Show, LeaveAlternateScreen);
        let _ = disable_raw_mode();
    }
}

/// Shows a viewer until the user quits. The error is that of a terminal that cannot be used.
pub(super) fn show(viewer: &mut Viewer<'_>) -> io::Result<()> {
    let panicked = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        give_back();
        panicked(info);
    }));
    signals::heed()?;
    let mut taken = Some(Taken::take()?);
    // Whether there are colours has been decided by now.
    force_color_output(viewer.theme.colour);
    let mut terminal = empty()?;
    let shown = go_on(viewer, &mut terminal, &mut taken);
    drop(taken);
    shown
}

/// An empty screen: all of it will be drawn.
fn empty() -> io::Result<Terminal<CrosstermBackend<Stdout>>> {
    execute!(io::stdout(), Clear(ClearType::All))?;
    Terminal::new(CrosstermBackend::new(io::stdout()))
}

fn go_on(
    viewer: &mut Viewer<'_>,
    terminal: &mut Terminal<CrosstermBackend<Stdout>>,
    taken: &mut Option<Taken>,
) -> io::Result<()> {
    let pace = if viewer.timeline.last() > LONG { QUICKLY } else { SLOWLY };
    let mut due = Instant::now();
    loop {
        terminal.draw(|frame| draw(frame, viewer))?;
        if viewer.playing && !event::poll(due.saturating_duration_since(Instant::now()))? {
            viewer.tick();
            due = Instant::now() + pace;
            continue;
        }
        let played = viewer.playing;
        // Keys that have piled up are all taken in before the next drawing.
        loop {
            match heed(viewer, &event::read()?) {
                Next::Draw => {}
                Next::Redraw => *terminal = empty()?,
                Next::Quit => return Ok(()),
                Next::Suspend => {
                    *taken = None;
                    signals::suspend()?;
                    *taken = Some(Taken::take()?);
                    *terminal = empty()?;
                }
            }
            if !event::poll(Duration::ZERO)? {
                break;
            }
        }
        if viewer.playing && !played {
            due = Instant::now() + pace;
        }
    }
}

fn heed(viewer: &mut Viewer<'_>, event: &Event) -> Next {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => viewer.key(*key),
        _ => Next::Draw,
    }
}

#[cfg(unix)]
mod signals {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level;
    use std::io;

    /// From now on signals that end the program give the terminal back first.
    pub(super) fn heed() -> io::Result<()> {
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
        std::thread::spawn(move || {
            for signal in signals.forever() {
                super::give_back();
                // Whoever waits for the program sees by what it ended.
                let _ = low_level::emulate_default_handler(signal);
            }
        });
        Ok(())
    }

    /// Stops the program until the shell continues it.
    pub(super) fn suspend() -> io::Result<()> {
        low_level::raise(SIGTSTP)
    }
}

#[cfg(not(unix))]
mod signals {
    use std::io;

    /// Nothing of that kind.
    pub(super) fn heed() -> io::Result<()> {
        Ok(())
    }

    /// There is no shell to go back to.
    pub(super) fn suspend() -> io::Result<()> {
        Ok(())
    }
}
