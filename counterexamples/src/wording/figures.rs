//! Figures that all systems share: operands, counters, and what a generation has gathered.

use barcheck_model::barrier::BarrierId;
use barcheck_model::program::{AgentId, Expr, Pc, Program};

use super::expressions::{evaluate, range};
use super::held::Held;
use crate::trace::{Count, Operands};

/// The generation that gathers at a barrier.
pub(crate) struct Gathering {
    /// It waits for every live agent.
    pub(crate) all: bool,
    /// `plain`, or the class of its reduction.
    pub(crate) class: String,
    pub(crate) counts: Vec<Count>,
}

impl Gathering {
    /// One that is no reduction.
    pub(super) fn plain(counts: Vec<Count>) -> Self {
        Self { all: false, class: "plain".to_owned(), counts }
    }
}

/// The agents of the group, as a barrier counts them.
#[derive(Clone, Copy)]
pub(crate) struct Present {
    /// Agents that share the barrier.
    pub(super) members: u32,
    /// Agents that have not exited.
    pub(super) live: u32,
    /// Agents that have exited without having arrived in the generation that gathers.
    pub(super) gone: u32,
}

/// A barrier and one that may name it.
pub(crate) struct Naming<'p> {
    pub(super) program: &'p Program,
    pub(super) agent: AgentId,
    pub(super) id: BarrierId,
    /// The operation that may name it, and what is known there.
    pub(super) at: Option<(Pc, &'p Held)>,
}

impl Naming<'_> {
    /// Whether an id may be this barrier's, as far as can be told without running anything.
    pub(super) fn names(&self, id: &Expr) -> bool {
        self.program.home(self.id).is_some_and(|home| {
            home.cta == self.program.cta_of(self.agent) && self.may_be(id, i64::from(home.barrier.0))
        })
    }

    /// Whether a number may be this one, as far as can be told without running anything.
    pub(super) fn may_be(&self, number: &Expr, wanted: i64) -> bool {
        let leaf = |leaf: &Expr| match leaf {
            Expr::Agent => Some(i64::from(self.program.index_in_cta(self.agent))),
            Expr::Cta => Some(i64::from(self.program.cta_of(self.agent))),
            _ => None,
        };
        if let Some(n) = evaluate(number, &leaf) {
            return n == wanted;
        }
        let held = self.at.and_then(|(at, held)| held.may_be((self.program, self.agent, at), number, wanted));
        let lanes = |leaf: &Expr| matches!(leaf, Expr::Lane).then_some((0, 31));
        held.unwrap_or_else(|| {
            range(number, &leaf, &lanes).is_none_or(|(least, most)| (least..=most).contains(&wanted))
        })
    }
}

/// Operands, none of which stands for every live agent.
pub(super) fn plain(operation: &str, barrier: BarrierId, counts: Vec<Count>) -> Operands {
    Operands { operation: operation.to_owned(), barrier: barrier.0, counts, all: false }
}

/// A counter's figures.
pub(super) fn count(of: &str, arrived: u32, expected: u32) -> Count {
    Count { of: of.to_owned(), arrived, expected }
}
