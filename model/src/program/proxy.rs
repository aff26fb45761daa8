//! Copies that their thread waits for, their groups, and the fence between the proxies (PTX).

use super::{AccessKind, ArrayId, Expr, Spaces};

/// Copies that their thread waits for, by what they do to memory of the agent's own CTA. Each kind has groups
/// of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Transfer {
    /// `cp.async.bulk.global.shared::cta.bulk_group` and its relatives: a copy reads a location, some time
    /// after it has begun.
    Store,
    /// `cp.async`: it writes a location, likewise.
    Fill,
}

impl Transfer {
    /// The access that it makes.
    #[must_use]
    pub fn access(self) -> AccessKind {
        match self {
            Self::Store => AccessKind::Store,
            Self::Fill => AccessKind::Fill,
        }
    }
}

/// An instruction about asynchronous copies that concerns no barrier. Every lane that executes it does so
/// once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxyOp {
    /// A copy begins.
    Begin(Transfer, ArrayId, Option<Expr>),
    /// `cp.async.bulk.commit_group`, `cp.async.commit_group`: the copies of the lane that are in no group yet
    /// become one.
    Commit(Transfer),
    /// `cp.async.bulk.wait_group[.read]`, `cp.async.wait_group`: until at most so many of the lane's newest
    /// groups have not finished; `cp.async.wait_all`: until nothing has, in a group or not.
    Wait(Transfer, Option<u32>),
    /// `fence.proxy.async`.
    Fence(Window),
}

impl ProxyOp {
    /// Every expression in it.
    pub(super) fn expression(&self) -> Option<&Expr> {
        match self {
            Self::Begin(_, _, index) => index.as_ref(),
            Self::Commit(_) | Self::Wait(..) | Self::Fence(_) => None,
        }
    }
}

/// The memory that a fence between the proxies is for.
// clause: ptx.proxy-syntax
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Window {
    /// All.
    All,
    /// What the agent's own CTA shares: `.shared::cta`.
    OwnCta,
    /// What the CTAs of the cluster share: `.shared::cluster`.
    Cluster,
    /// `.global`.
    Global,
}

impl Spaces {
    /// All of them.
    pub const ALL: Self = Self { shared: true, global: true };
}
