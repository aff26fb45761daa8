//! Readers for barrier protocols, the clause catalogue and the library of protocols.
//!
//! [`bar`] reads and formats the protocol language `.bar`; every reader turns text into a
//! [`barcheck_model::program::Program`] or into [`Diagnostic`]s, and never panics, whatever the text.
//! [`clauses`] is the catalogue of what the encoded specifications say.

pub mod bar;
pub mod clauses;
mod common;

pub use common::diagnostic::{self, Diagnostic, Label, Severity};
pub use common::limits;
pub use common::render::render;
pub use common::span::{self, LineIndex, Span};
