//! How a narrative looks.

/// How a narrative is to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// With colours, as ANSI sequences.
    pub colour: bool,
    /// Columns of the terminal; fewer than 40 are taken for 40.
    pub width: usize,
    /// With signs beyond ASCII.
    pub unicode: bool,
    /// Begins with what the trace shows, for where that does not stand above it already.
    pub headline: bool,
    /// Every step, however many there are, and every agent by itself.
    pub all: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self { colour: false, width: 100, unicode: true, headline: true, all: false }
    }
}
