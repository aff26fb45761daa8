//! GPU barrier specifications as labelled transition systems.
//!
//! This crate knows programs, agents, barriers and memory order. It knows nothing of text, files,
//! clocks, threads, JSON or search.

pub mod agent;
pub mod barrier;
pub mod machine;
pub mod memory;
pub mod program;
pub mod rule;
