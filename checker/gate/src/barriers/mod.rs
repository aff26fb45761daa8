//! The barriers of the five systems as objects that threads really block on.
//!
//! They are written from the specifications, apart from the transition systems of `barcheck_model`, and are a
//! second opinion on those: run under loom or shuttle, a protocol must do here what the model says it does.
//! They serve as well whoever emulates a GPU in Rust and wants misuse told instead of a hang.
//!
//! ```
//! use barcheck_gate::barriers::{Runtime, Std, ptx};
//!
//! let cta = ptx::Cta::<Std>::new(64);
//! let other = cta.clone();
//! let producer = Std::spawn(move || other.warp(0).arrive(1, Some(64)));
//! cta.warp(1).sync(1, Some(64)).expect("two warps, 64 threads");
//! Std::join(producer).expect("no panic").expect("no misuse");
//! ```
//!
//! An agent (a warp, a hardware thread, an invocation, a subgroup) is one thread here and executes one
//! instruction after the other: warps do not diverge.

pub mod bcu;
pub mod cluster;
mod group;
pub mod mbarrier;
pub mod nbarrier;
mod observer;
pub mod ptx;
mod reduction;
pub mod registers;
mod runtime;
pub mod split;
pub mod xegpu;

pub use observer::{Effect, Event, Observer, Stop, Violation};
pub use runtime::{Atomic, Cell, Loom, Runtime, Shuttle, Std};
