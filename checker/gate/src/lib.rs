//! The gate: protocols run on executable barriers, one thread for each agent, under explorers that other
//! people wrote.
//!
//! [`decide`](barcheck_decide::decide) explores the model. Here the same protocol runs on the barriers of
//! [`crate::barriers`], which were written from the specifications and share nothing with the model but the
//! names of rules: a second opinion.
//!
//! * [`With::Loom`] runs every schedule, or every one with a bounded number of preemptions, of at most
//!   [`MOST_UNDER_LOOM`] agents, and sees data races by itself.
//! * [`With::Shuttle`] runs many schedules chosen at random, of any number of agents; it proves nothing, and
//!   what it finds it finds again from its seed or its schedule.
//! * [`With::Std`] runs the threads of the operating system, as they come.
//!
//! Whatever violation they find is written down as the steps that led there, followed in the model, and
//! becomes a [`Trace`](barcheck_counterexamples::Trace) like any other. Where the model contradicts an
//! explorer, that is reported as a defect of this program.
//!
//! What the explorers cannot see: the locks inside a barrier order more than its specification promises, so
//! that `missing-fence` does not show, and `arrival-race` shows only by its consequences. Parts of a warp
//! that go on side by side are no threads: such protocols do not fit. Neither do endless loops, except at
//! random and up to a number of steps.

mod agent;
pub mod barriers;
mod child;
mod choices;
mod effort;
mod explore;
mod harness;
mod memory;
mod operands;
mod plan;
mod protocol;
mod record;
mod systems;
mod verdict;

pub use child::is_child;
pub use effort::{Effort, Extent, MOST_UNDER_LOOM, With};
pub use explore::explore_here;
pub use harness::{Cta, Gate, Here};
pub use protocol::{Protocol, Unread};
pub use verdict::{Gated, Violation, explore};
