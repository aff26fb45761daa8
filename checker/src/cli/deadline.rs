//! How long a command may take that does not search: `--timeout`.

use barcheck::Patience;
use std::time::{Duration, Instant};

/// When to give up on a file.
pub(crate) struct Deadline {
    limit: Option<Duration>,
    end: Option<Instant>,
    patience: Patience,
}

impl Deadline {
    /// From now on.
    pub(crate) fn new(limit: Option<Duration>) -> Self {
        let end = limit.and_then(|limit| Instant::now().checked_add(limit));
        Self { limit, end, patience: Patience::new(move || end.is_some_and(|end| Instant::now() >= end)) }
    }

    /// What the user gives.
    pub(crate) fn limit(&self) -> Option<Duration> {
        self.limit
    }

    /// For what takes long.
    pub(crate) fn patience(&self) -> &Patience {
        &self.patience
    }

    /// For what may be left out where it takes longer than a while.
    pub(crate) fn patience_of(&self, a_while: Duration) -> Patience {
        let left = self.end.map(|end| end.saturating_duration_since(Instant::now()));
        let end = Instant::now().checked_add(left.map_or(a_while, |left| left.min(a_while)));
        Patience::new(move || end.is_some_and(|end| Instant::now() >= end))
    }

    /// What is said of something that was being done to a file when time was up.
    pub(crate) fn said(&self, done: &str) -> String {
        let seconds = self.limit.unwrap_or_default().as_secs_f64();
        format!("gave up after {seconds} s, while it was {done}; raise --timeout")
    }

    /// The same, if time is up.
    pub(crate) fn check(&self, done: &str) -> Result<(), String> {
        if self.patience.is_over() { Err(self.said(done)) } else { Ok(()) }
    }
}
