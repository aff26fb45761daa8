//! Readers for barrier protocols, the clause catalogue and the library of protocols.
//!
//! [`load`] reads a protocol in any of the [`Format`]s: each has a reader that turns bytes into a
//! [`barcheck_model::program::Program`] or into [`Diagnostic`]s, and never panics, whatever the bytes.
//! [`mod@bar`] reads and formats the protocol language `.bar`; from modules of compiled kernels, whose
//! [`entries`] are listed, protocols are extracted. [`mod@head`] reads what a file says of the verdict that
//! it should get. [`clauses`] is the catalogue of what the encoded specifications say, [`library`] holds the
//! protocols that come with it.
//!
//! ```
//! use barcheck_specs::{Format, LoadOptions, Source, load};
//!
//! let text = b"target ptx; cta 64; param N = 2; warps 0..2 { for i in 0..N { bar.sync 1, 64; } }";
//! let loaded = load(&Source::new("ring.bar", text), &LoadOptions::default()).expect("it is well formed");
//! assert_eq!(loaded.format, Format::Bar);
//! assert_eq!(loaded.program.agents.len(), 2);
//!
//! // What is wrong has a place, and is said in the manner of a compiler.
//! let typo = Source::new("typo.bar", b"target ptx; cta 64; warps 0..2 { bar.sink 1; }");
//! let error = load(&typo, &LoadOptions::default()).expect_err("there is no such instruction");
//! let place = error.diagnostics[0].place(&barcheck_specs::LineIndex::new(&error.text));
//! assert_eq!((place.line, place.column), (1, 34));
//! ```

pub mod bar;
#[cfg(feature = "clauses")]
pub mod clauses;
#[cfg_attr(not(feature = "kernels"), allow(dead_code, unused_imports, reason = "of kernels"))]
mod common;
pub mod head;
#[cfg_attr(not(feature = "kernels"), allow(dead_code, unused_imports, reason = "of kernels"))]
mod kernel;
pub mod kinds;
#[cfg(feature = "library")]
pub mod library;
#[cfg_attr(not(feature = "kernels"), allow(dead_code, unused_imports, reason = "of kernels"))]
mod load;
#[cfg_attr(not(feature = "kernels"), allow(dead_code, unused_imports, reason = "of kernels"))]
mod module;
#[cfg(feature = "kernels")]
mod ptx;
#[cfg(feature = "kernels")]
mod sass;
#[cfg(feature = "kernels")]
mod spirv;
#[cfg(feature = "kernels")]
mod visa;
#[cfg(feature = "kernels")]
mod xegpu;

pub use common::contents::{
    Accesses, Allow, Contents, Excluding, Extracted, Launched, LoadOptions, MEMORY, Origin, Params, SizeFrom,
    WITHOUT_MEMORY,
};
pub use common::definition::{self, definition};
pub use common::diagnostic::{self, Diagnostic, Label, Severity};
pub use common::limits;
pub use common::lint::{Check, Lint, Linted};
pub use common::render::render;
pub use common::span::{self, LineIndex, Span};
pub use common::suggest::closest;
pub use load::{
    Entry, Format, LoadError, Loaded, Source, UnknownFormat, barriers_in_code, entries, load, load_within,
    naming, params,
};
