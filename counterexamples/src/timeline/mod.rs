//! A trace along its time: what is so after any number of steps, and where to look next. Whoever shows a
//! trace step by step asks here.
//!
//! Time counts steps: 0 is the beginning, and after step 7 it is 7.

mod act;
mod changes;
mod conflict;
mod figure;
mod generations;
mod history;
mod waits;

pub use act::{Act, Kind};
pub use changes::Change;
pub use conflict::{Access, Conflict, Copied, conflict};
pub use figure::{Figure, Local, Room, Side};
pub use generations::Generation;
pub(crate) use generations::generations;
pub use history::{Group, Timeline};
pub use waits::{Waiter, Waiting};
