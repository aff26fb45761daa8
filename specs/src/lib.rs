//! Readers for barrier protocols, the clause catalogue and the library of protocols.
//!
//! [`load`] reads a protocol in any of the [`Format`]s: each has a reader that turns bytes into a
//! [`barcheck_model::program::Program`] or into [`Diagnostic`]s, and never panics, whatever the bytes.
//! [`mod@bar`] reads and formats the protocol language `.bar`, the only format so far.
//! [`clauses`] is the catalogue of what the encoded specifications say.

pub mod bar;
#[cfg(feature = "clauses")]
pub mod clauses;
mod common;
mod load;

pub use common::contents::{Contents, LoadOptions, Params};
pub use common::diagnostic::{self, Diagnostic, Label, Severity};
pub use common::limits;
pub use common::render::render;
pub use common::span::{self, LineIndex, Span};
pub use load::{Format, LoadError, Loaded, Source, UnknownFormat, load};
