//! What the page of a counterexample asks the model: what else could happen, and what comes of it.
//!
//! A [`Session`] is about one trace. It is asked in plain text and answers in JSON, whatever the question;
//! the field `error` says what is wrong with one. The page holds this crate compiled to WebAssembly;
//! `counterexamples/viewer/core/build` makes it, and a test of this crate says when that has to be done
//! again.

#[cfg(target_arch = "wasm32")]
mod abi;
mod answer;
mod question;
mod session;

pub use session::Session;
