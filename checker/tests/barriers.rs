//! The executable barriers: every rule at its edge, and blocking under many interleavings or all of them.

#[path = "barriers/bcu.rs"]
mod bcu;
#[path = "barriers/cluster.rs"]
mod cluster;
#[path = "barriers/journal.rs"]
mod journal;
#[path = "barriers/mbarrier.rs"]
mod mbarrier;
#[path = "barriers/nbarrier.rs"]
mod nbarrier;
#[path = "barriers/ptx.rs"]
mod ptx;
#[path = "barriers/registers.rs"]
mod registers;
#[path = "barriers/runtimes.rs"]
mod runtimes;
#[path = "barriers/split.rs"]
mod split;
#[path = "barriers/xegpu.rs"]
mod xegpu;
