//! Notations, as the list of formats has them.

use barcheck_model::Patience;
use barcheck_model::program::Place;

use crate::common::contents::{Contents, LoadOptions};
use crate::common::diagnostic::Diagnostic;

use super::entry::Entry;
use super::parsed::Parsed;
use super::protocol;

/// A notation of compiled kernels: what the list of formats has of it.
pub(crate) struct Notation {
    /// Its name, as traces have it.
    pub(crate) name: &'static str,
    /// The endings of its files, without the dot.
    pub(crate) extensions: &'static [&'static str],
    /// Whether bytes that nobody has named so are in this notation.
    pub(crate) takes: fn(&[u8]) -> bool,
    /// What people read of these bytes: what spans refer to.
    pub(crate) text: fn(&[u8]) -> String,
    /// Parses a module.
    pub(crate) read: for<'s> fn(&'s [u8]) -> Parsed<'s>,
}

impl Notation {
    /// The entries of a module.
    ///
    /// # Errors
    /// The bytes are no module in this notation.
    pub(crate) fn entries(&self, bytes: &[u8]) -> Result<Vec<Entry>, Vec<Diagnostic>> {
        Ok((self.read)(bytes)?.entries())
    }

    /// What concerns barriers in the code of an entry.
    ///
    /// # Errors
    /// The bytes are no module in this notation, or there is something wrong with the launch.
    pub(crate) fn barriers(
        &self,
        bytes: &[u8],
        options: &LoadOptions,
    ) -> Result<Vec<(Place, String)>, Vec<Diagnostic>> {
        protocol::barriers((self.read)(bytes)?.as_ref(), options)
    }

    /// Reads the protocol of an entry: the one that the definitions name, or the only one with barriers.
    pub(crate) fn load_within(
        &self,
        bytes: &[u8],
        options: &LoadOptions,
        patience: &Patience,
    ) -> Result<Contents, Vec<Diagnostic>> {
        let module = (self.read)(bytes)?;
        protocol::load(module.as_ref(), options, patience)
    }
}
