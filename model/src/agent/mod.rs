//! One agent by itself: its fragments, its locals, and what it would do next.
//!
//! A [`Config`] is everything about an agent that no other agent can see. [`moves`] lists what it
//! could do next, with all operands evaluated; [`follow`] says what becomes of it when a move has been
//! made with a certain [`Outcome`]. Whether a move is possible, and with which outcome, is decided
//! by [`crate::machine`], which knows the barriers.

mod action;
mod alike;
mod bcu;
mod cluster;
mod config;
mod context;
mod eval;
mod execute;
pub mod facts;
mod follow;
mod mbarrier;
mod moves;
mod nbarrier;
mod operands;
mod outcome;
mod period;
mod proxy;
mod ptx;
mod settle;
mod split;
mod stores;
mod systems;
#[cfg(feature = "toy")]
mod toy;
mod trail;
mod warp;
mod xegpu;

pub use crate::barrier::{BarrierAction, Parked};
pub use action::{Action, Choices, Move, Moves};
pub use config::{Config, Fragment, Iterations, Join, SplitLanes, Waiting};
pub use context::Context;
pub use eval::{Fault, FaultKind, LaneValues, Value};
pub use follow::{follow, release};
pub use moves::moves;
pub use outcome::Outcome;
pub(crate) use proxy::entrusted;
pub use stores::{OpenStore, ProxyAction, Transferred};
pub use trail::Trail;
pub(crate) use trail::counted;

/// The agent's configuration before its first step, or, for an empty program, after its last.
#[must_use]
pub fn initial(context: Context<'_>) -> Config {
    let lanes = context.program.lanes(context.agent);
    let mask = u32::MAX >> (32 - lanes);
    let mut config = Config::new(mask, context.code);
    if context.code.empty {
        config.fragments.clear();
        return config;
    }
    settle::settle(context, &mut config);
    config
}
