//! What the readers of all notations share: what they take and give, places in a text, diagnostics, how these
//! are shown, and limits.

pub(crate) mod contents;
pub mod definition;
pub mod diagnostic;
pub mod limits;
pub(crate) mod lint;
pub(crate) mod render;
pub mod span;
pub(crate) mod suggest;
