//! The library of protocols and the starting points for one's own, as part of whatever uses this.
//!
//! ```
//! use barcheck_specs::library;
//!
//! let ring = library::protocols().find(|protocol| protocol.name == "ptx/ring").expect("it is there");
//! assert_eq!(ring.title(), "A ring of buffers between producers and consumers");
//! assert!(library::templates().any(|template| template.name == "ring/nbarrier"));
//! ```

include!(concat!(env!("OUT_DIR"), "/library.rs"));

/// A protocol that comes with this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Protocol {
    /// Of one in the library `TARGET/NAME`, of a starting point `KIND/TARGET`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

impl Protocol {
    /// What it shows, in a line: its first comment.
    #[must_use]
    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches('/').trim()
    }

    /// What stands before the `/` of its name, and what behind.
    #[must_use]
    pub fn parts(&self) -> (&'static str, &'static str) {
        self.name.split_once('/').unwrap_or((self.name, ""))
    }
}

/// The library, in the order of the names.
pub fn protocols() -> impl Iterator<Item = Protocol> {
    PROTOCOLS.iter().map(|(name, text)| Protocol { name, text })
}

/// The starting points, in the order of the names.
pub fn templates() -> impl Iterator<Item = Protocol> {
    TEMPLATES.iter().map(|(name, text)| Protocol { name, text })
}
