//! Modules of compiled kernels, whatever their notation: the protocol of one entry is extracted and read as
//! `.bar`.
//!
//! A notation parses a module and lays out the code of an entry; everything else is here and in the stages
//! behind, which know none of them. What a kernel is launched with is given by definitions: `cta.x`, `cta.y`,
//! `cta.z`, `cluster.x` and so on, `entry.index`, `param.0` or `param.name`. None of them is a name of the
//! protocol language.

mod choice;
mod entry;
mod launch;
pub mod naming;
mod notation;
mod parsed;
mod protocol;
mod remarks;
mod text;

pub use entry::Entry;
pub(crate) use entry::{Kind, Param};
pub(crate) use launch::{Clusters, Extent, Launch, Sizes};
pub(crate) use notation::Notation;
pub(crate) use parsed::{Kernel, Module};
pub(crate) use text::{Unreadable, text_of_module};
