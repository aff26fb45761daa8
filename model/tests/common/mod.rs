//! Programs written concisely in Rust, runs of them step by step, and short words for what happens.

mod build;
mod flows;
mod objects;
mod run;
mod words;

pub(crate) use build::*;
pub(crate) use objects::*;
pub(crate) use run::*;
pub(crate) use words::*;
