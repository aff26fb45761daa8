//! The executable barriers: every rule at its edge, and blocking under every interleaving.

#[path = "barriers/ptx.rs"]
mod ptx;
