//! Several threads that explore side by side.

pub(crate) mod crew;
pub(crate) mod queue;
pub(crate) mod team;
pub(crate) mod worker;
