//! A protocol seen from some locations: accesses to others are left out, and what served them alone.
//!
//! Accesses carry no values. Nobody can tell by its own steps whether another access was made, and what is
//! known of one location does not depend on the others. So for what concerns some locations, the
//! accesses to all others are invisible operations; agents that access none of them run shorter code, in
//! which nothing tells them apart. [`Slice`] keeps positions: an operation that is left out goes on to the
//! next one, so that places and dynamic instances are what they were.

use crate::agent::facts::Facts;
use crate::agent::{Action, Move};
use crate::program::{AgentId, Code, Expr, Fence, LocalId, LocationId, Op, Pc, Program, RoleId};
use std::collections::BTreeSet;

/// What of a protocol concerns some locations.
#[derive(Debug)]
pub struct Slice {
    /// In order.
    pub(super) watched: Vec<LocationId>,
    /// By agent.
    does: Vec<Does>,
    /// By role, and by what agents do.
    parts: Vec<[Part; 3]>,
}

/// What an agent does in a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Does {
    /// It accesses some of the locations.
    Access,
    /// It accesses none.
    Synchronise,
    /// Nothing: it has exited from the start.
    Nothing,
}

/// Code with some operations left out, and the facts about it.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) code: Code,
    pub(super) facts: Facts,
}

impl Slice {
    /// What concerns some locations. They are accessed by no other agents and from no other positions than
    /// those `touched`, and no local computation of the protocol fails in any run: what is left out is not
    /// evaluated.
    #[must_use]
    pub fn new(program: &Program, watched: &[LocationId], touched: &[(AgentId, Pc)]) -> Self {
        let mut watched = watched.to_vec();
        watched.sort_unstable();
        let mut does = vec![Does::Synchronise; program.agents.len()];
        let mut positions: BTreeSet<(RoleId, Pc)> = BTreeSet::new();
        for (agent, pc) in touched {
            does[agent.index()] = Does::Access;
            positions.insert((program.agents[agent.index()], *pc));
        }
        let orders = program.releases_by_fences() || program.acquires_by_fences();
        let nothing = watched.is_empty();
        let facts = Facts::of(program);
        let roles = program.roles.iter().zip(facts).enumerate();
        let parts = roles.map(|(role, (known, facts))| {
            let role = RoleId::from_index(role);
            let loud = |pc: Pc, op: &Op| match op {
                Op::Access(..) => !positions.contains(&(role, pc)),
                Op::Fence(Fence::Publishes(_)) => false,
                Op::Fence(Fence::Orders { .. } | Fence::ReleasesInitialised) => nothing || !orders,
                Op::Fence(Fence::Nothing) => true,
                _ => nothing && op.only_orders_memory(),
            };
            let quiet = |_: Pc, op: &Op| match op {
                // Such a fence publishes what its own agent has accessed.
                Op::Access(..) | Op::Fence(Fence::Publishes(_) | Fence::Nothing) => true,
                Op::Fence(Fence::Orders { .. } | Fence::ReleasesInitialised) => nothing || !orders,
                _ => nothing && op.only_orders_memory(),
            };
            let code = &known.code;
            [Part::of(code, &facts, &loud), Part::of(code, &facts, &quiet), Part::empty(code, &facts)]
        });
        Self { watched, does, parts: parts.collect() }
    }

    /// The same without some agents: they have exited from the start.
    #[must_use]
    pub fn without(mut self, agents: impl IntoIterator<Item = AgentId>) -> Self {
        agents.into_iter().for_each(|agent| self.does[agent.index()] = Does::Nothing);
        self
    }

    /// What an agent runs.
    #[inline]
    pub(super) fn part(&self, role: RoleId, agent: AgentId) -> &Part {
        &self.parts[role.index()][self.does(agent) as usize]
    }

    pub(super) fn does(&self, agent: AgentId) -> Does {
        self.does[agent.index()]
    }

    /// Whether an agent is there.
    #[must_use]
    pub fn has(&self, agent: AgentId) -> bool {
        self.does(agent) != Does::Nothing
    }

    /// Whether a move of an agent of the whole protocol is left out here.
    #[must_use]
    pub fn leaves_out(&self, program: &Program, agent: AgentId, made: &Move) -> bool {
        if !self.has(agent) {
            return false;
        }
        let role = program.agents[agent.index()];
        let [whole, part] =
            [program.code(agent), &self.part(role, agent).code].map(|code| &code.ops[made.pc.index()]);
        let is_unwatched = |at: &LocationId| self.watched.binary_search(at).is_err();
        match &made.action {
            Action::Access(_, locations) => whole != part || locations.iter().all(is_unwatched),
            Action::Fence(_) | Action::Proxy(_) | Action::MemoryBarrier(..) => whole != part,
            _ => false,
        }
    }
}

impl Part {
    /// No code at all.
    fn empty(code: &Code, facts: &Facts) -> Self {
        let ops = vec![Op::Exit];
        let code = Code { ops, empty: true, ..code.clone() };
        Self { facts: facts.of_part(&code), code }
    }

    /// The code without the operations that `leaves_out` names, and without what served them alone.
    fn of(code: &Code, facts: &Facts, leaves_out: &dyn Fn(Pc, &Op) -> bool) -> Self {
        let mut code = code.clone();
        for at in (0..code.ops.len()).map(Pc::from_index) {
            if leaves_out(at, &code.ops[at.index()]) {
                code.ops[at.index()] = Op::Jump(Pc(at.0 + 1));
            }
        }
        let needed = needed(&code);
        leave_out_sets(&mut code, &|_, local| needed[local.index()]);
        loop {
            let facts = facts.of_part(&code);
            if !leave_out_sets(&mut code, &|at, local| facts.is_live(Pc(at.0 + 1), local)) {
                return Self { code, facts };
            }
        }
    }
}

/// Leaves out assignments of locals that do not matter; whether there was one.
fn leave_out_sets(code: &mut Code, matters: &dyn Fn(Pc, LocalId) -> bool) -> bool {
    let mut some = false;
    for at in (0..code.ops.len()).map(Pc::from_index) {
        if let Op::Set(local, _) = &code.ops[at.index()]
            && !matters(at, *local)
        {
            code.ops[at.index()] = Op::Jump(Pc(at.0 + 1));
            some = true;
        }
    }
    some
}

/// For every local, whether anything else than an assignment reads it, or one of a local for which that is
/// so.
fn needed(code: &Code) -> Vec<bool> {
    let mut needed = vec![false; code.locals.len()];
    let mark = |needed: &mut Vec<bool>, expr: &Expr| {
        let mut new = false;
        expr.leaves(&mut |leaf| {
            if let Expr::Local(local) = leaf {
                new |= !std::mem::replace(&mut needed[local.index()], true);
            }
        });
        new
    };
    for op in code.ops.iter().filter(|op| !matches!(op, Op::Set(..))) {
        for expr in op.expressions() {
            mark(&mut needed, expr);
        }
        op.handle().into_iter().for_each(|local| needed[local.index()] = true);
    }
    let mut changed = true;
    while changed {
        changed = false;
        for op in &code.ops {
            if let Op::Set(local, value) = op
                && needed[local.index()]
            {
                changed |= mark(&mut needed, value);
            }
        }
    }
    needed
}
