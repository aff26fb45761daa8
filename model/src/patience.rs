//! How long whoever asks is willing to wait.
//!
//! Local computation between two steps, and the reading of a text, are single calls that may take long. They
//! ask now and then whether to go on. This crate has no clock: whoever has one says what the answer is.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether there is still time. Clones share what they know.
///
/// ```
/// use barcheck_model::Patience;
///
/// let endless = Patience::default();
/// assert!(!endless.is_over() && !endless.has_run_out());
/// let none = Patience::new(|| true);
/// assert!(!none.has_run_out(), "nobody was told so far");
/// assert!(none.is_over() && none.clone().has_run_out());
/// ```
#[derive(Clone, Default)]
pub struct Patience(Option<Arc<Shared>>);

struct Shared {
    is_over: Box<dyn Fn() -> bool + Send + Sync>,
    ran_out: AtomicBool,
}

impl Patience {
    /// It is over once `is_over` says so. That is asked often, and has to be quick.
    #[must_use]
    pub fn new(is_over: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(Shared { is_over: Box::new(is_over), ran_out: AtomicBool::new(false) })))
    }

    /// Whether to end. Whoever is told so leaves something undone, and must not be asked again.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let Some(shared) = &self.0 else { return false };
        let over = shared.ran_out.load(Ordering::Relaxed) || (shared.is_over)();
        if over {
            shared.ran_out.store(true, Ordering::Relaxed);
        }
        over
    }

    /// Whether somebody was told to end: what followed may be incomplete.
    #[must_use]
    pub fn has_run_out(&self) -> bool {
        self.0.as_ref().is_some_and(|shared| shared.ran_out.load(Ordering::Relaxed))
    }
}

impl fmt::Debug for Patience {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Patience").field("has_run_out", &self.has_run_out()).finish()
    }
}
