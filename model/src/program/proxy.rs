//! Copies out of memory, their groups, and the fence between the proxies (PTX).

use super::{ArrayId, Expr, Spaces};

/// An instruction of the asynchronous proxy that concerns no barrier. Every lane that executes it does so
/// once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxyOp {
    /// `cp.async.bulk.global.shared::cta.bulk_group` and its relatives: a copy reads a location of the
    /// agent's own CTA, some time after it has begun.
    Store(ArrayId, Option<Expr>),
    /// `cp.async.bulk.commit_group`: the copies of the lane that are in no group yet become one.
    Commit,
    /// `cp.async.bulk.wait_group[.read]`: until at most so many of the lane's newest groups have not
    /// finished.
    Wait(u32),
    /// `fence.proxy.async`.
    Fence(Window),
}

impl ProxyOp {
    /// Every expression in it.
    pub(super) fn expression(&self) -> Option<&Expr> {
        match self {
            Self::Store(_, index) => index.as_ref(),
            Self::Commit | Self::Wait(_) | Self::Fence(_) => None,
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
