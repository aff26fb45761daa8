//! Pages for the browser: of counterexamples, of what was proved, and of all files of a run.

mod counterexample;
mod index;
mod proof;
mod sheet;
mod sources;

pub(crate) use counterexample::{notes, page};
pub(crate) use index::{Row, index, is_ours};
pub(crate) use proof::proof;
