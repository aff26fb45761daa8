//! Several threads that explore side by side.

pub(crate) mod block;
pub(crate) mod queue;
pub(crate) mod worker;
