//! What every system says about itself.

use crate::export::columns::Columns;
use crate::export::node::{Node, Step};
use barcheck_model::barrier::Contribution;
use barcheck_model::program::{ReductionOp, Scope};

/// What the exported models of a system have of their own.
pub(in crate::export) struct System {
    /// What its barriers do, in Promela.
    pub(in crate::export) promela: &'static str,
    /// What they do to the knowledge of accesses, in Promela.
    pub(in crate::export) promela_memory: &'static str,
    /// What its barriers do, in TLA+.
    pub(in crate::export) tla: &'static str,
    /// The columns of a node where an agent waits.
    pub(in crate::export) wait_columns: &'static [&'static str],
    /// Fills them.
    pub(in crate::export) fill_wait: fn(&Node, &mut Columns),
    /// Fills the columns of a step's row.
    pub(in crate::export) fill_step: fn(&Step, &mut Columns),
    /// How many can hold knowledge of accesses.
    pub(in crate::export) holders: fn(Sizes) -> usize,
    /// Numbers and names that its Promela text refers to.
    pub(in crate::export) sizes: fn(Sizes) -> String,
}

/// How large a group is.
#[derive(Clone, Copy)]
pub(in crate::export) struct Sizes {
    pub(in crate::export) agents: usize,
    pub(in crate::export) barriers: usize,
    pub(in crate::export) subgroup_size: usize,
    /// Exits release barriers with a count of their own.
    pub(in crate::export) exits_release: bool,
}

impl Sizes {
    /// The number of subgroups.
    pub(super) fn subgroups(self) -> usize {
        self.agents.div_ceil(self.subgroup_size)
    }
}

/// What an instruction is called, and what the models do at it.
#[derive(Clone, Copy)]
pub(in crate::export) struct Spelling {
    /// The name of the act.
    pub(in crate::export) name: &'static str,
    /// The macro of Promela that makes it.
    pub(in crate::export) promela: &'static str,
    /// The operator of TLA+ that makes it.
    pub(in crate::export) tla: &'static str,
    /// The agent first takes the place where it blocks, and a completion takes it on from there.
    pub(in crate::export) goes_where_it_blocks: bool,
}

/// The number of a reduction's operator, 0 for none.
pub(super) fn operator(op: Option<ReductionOp>) -> usize {
    match op {
        None => 0,
        Some(ReductionOp::Popc) => 1,
        Some(ReductionOp::And) => 2,
        Some(ReductionOp::Or) => 3,
    }
}

/// The columns of a contribution.
pub(super) fn predicates(predicates: Contribution, columns: &mut Columns) {
    columns.push("step_truths", predicates.truths as usize);
    columns.push("step_lanes", predicates.lanes as usize);
}

/// Whom a memory scope contains besides the agent: nobody, its subgroup, the workgroup.
pub(super) fn reach(memory: Scope) -> usize {
    match memory {
        Scope::Invocation => 0,
        Scope::Subgroup => 1,
        Scope::Workgroup | Scope::Device => 2,
    }
}
