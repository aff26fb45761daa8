//! Readers for barrier protocols, the clause catalogue and the library of protocols.
//!
//! [`bar`] reads and formats the protocol language `.bar`; every reader turns text into a
//! [`barcheck_model::program::Program`] or into [`Diagnostic`]s, and never panics, whatever the text.
//! [`clauses`] is the catalogue of what the encoded specifications say.

pub mod bar;
#[cfg(feature = "clauses")]
pub mod clauses;
pub mod diagnostic;
pub mod limits;
mod render;
pub mod span;
mod suggest;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use render::render;
pub use span::{LineIndex, Span};
