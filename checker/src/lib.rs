//! A model checker for GPU barrier protocols.
