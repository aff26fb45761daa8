//! What a notation makes of a module.

use crate::common::contents::Origin;
use crate::common::diagnostic::Diagnostic;
use crate::common::span::LineIndex;
use crate::kernel::Group;
use crate::kernel::code::Code;

use super::entry::Entry;
use super::launch::{Launch, Sizes};

/// A module, or what is wrong with it.
pub(crate) type Parsed<'s> = Result<Box<dyn Module + 's>, Vec<Diagnostic>>;

/// A module that has been parsed.
pub(crate) trait Module {
    /// What spans refer to.
    fn source(&self) -> &str;
    /// Its entries; the position of each is its index.
    fn entries(&self) -> Vec<Entry>;
    /// What the module says of the sizes with which an entry may be launched.
    fn sizes(&self, entry: usize) -> Sizes;
    /// The code of an entry under a launch.
    ///
    /// # Errors
    /// What is wrong with the launch or the text, with a place.
    fn lower(&self, entry: usize, launch: &Launch) -> Result<Kernel, Vec<Diagnostic>>;
    /// Which lines of the source the instructions of an entry come from.
    fn origins(&self, entry: usize, lines: &LineIndex<'_>) -> Vec<Origin>;
}

/// The code of an entry, and the group that executes it.
pub(crate) struct Kernel {
    pub(crate) code: Code,
    pub(crate) group: Group,
}
