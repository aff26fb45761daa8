//! A state in words: how its components are numbered, and how the numbers are packed.

pub(crate) mod batch;
pub(crate) mod freed;
pub(crate) mod layout;
pub(crate) mod locations;
pub(crate) mod numbering;
pub(crate) mod permutations;
pub(crate) mod residual;
pub(crate) mod rows;
pub(crate) mod transformers;
