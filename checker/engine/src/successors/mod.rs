//! The successors of a packed state: learnt from the model, then looked up, at last added.

pub(crate) mod canonical;
pub(crate) mod expand;
mod on_memory;
mod races;
pub(crate) mod rehearsal;
mod steps;
pub(crate) mod swift;
pub(crate) mod tables;
