//! What the page of a counterexample asks the model: what else could happen, and what comes of it.
//!
//! A [`Session`] is about one trace. It is asked in JSON and answers in JSON, never panics, and says in `error` what
//! is wrong with a question. The page holds this crate compiled to WebAssembly; `counterexamples/viewer/core/build`
//! makes it, and a test of this crate says when that has to be done again.

#[cfg(target_arch = "wasm32")]
mod abi;
mod answer;
mod question;
mod session;

pub use session::Session;
