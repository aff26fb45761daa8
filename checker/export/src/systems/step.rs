//! What every system says about itself.

use crate::columns::Columns;
use crate::node::{Node, Step};
use barcheck_model::barrier::{BarrierAction, Contribution};
use barcheck_model::program::{ReductionOp, Scope};

/// What the exported models of a system have of their own.
pub(crate) struct System {
    /// What its barriers do, in Promela.
    pub(crate) promela: &'static str,
    /// What they do to the knowledge of accesses, in Promela.
    pub(crate) promela_memory: &'static str,
    /// What its barriers do, in TLA+.
    pub(crate) tla: &'static str,
    /// The columns of a node where an agent waits.
    pub(crate) wait_columns: &'static [&'static str],
    /// Fills them.
    pub(crate) fill_wait: fn(&Node, &mut Columns),
    /// What its instructions are called.
    pub(crate) spelling: fn(&BarrierAction) -> Spelling,
    /// Fills the columns of a step's row.
    pub(crate) fill_step: fn(&Step, &mut Columns),
    /// How many can hold knowledge of accesses.
    pub(crate) holders: fn(Sizes) -> usize,
    /// Numbers and names that its Promela text refers to.
    pub(crate) sizes: fn(Sizes) -> String,
}

/// How large a group is.
#[derive(Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) agents: usize,
    /// CTAs of equally many agents.
    pub(crate) ctas: usize,
    /// Barriers of generations.
    pub(crate) barriers: usize,
    /// Barriers of phases.
    pub(crate) phased: usize,
    /// Operations in flight for which there is room.
    pub(crate) slots: usize,
    /// What fences release may travel with later arrivals.
    pub(crate) releases: bool,
    pub(crate) subgroup_size: usize,
    /// Exits release barriers with a count of their own.
    pub(crate) exits_release: bool,
}

impl Sizes {
    /// The number of subgroups.
    pub(super) fn subgroups(self) -> usize {
        self.agents.div_ceil(self.subgroup_size)
    }
}

/// What an instruction is called, and what the models do at it.
#[derive(Clone, Copy)]
pub(crate) struct Spelling {
    /// The name of the act.
    pub(crate) name: &'static str,
    /// The macro of Promela that makes it.
    pub(crate) promela: &'static str,
    /// The operator of TLA+ that makes it.
    pub(crate) tla: &'static str,
    /// The agent first takes the place where it blocks, and a completion takes it on from there.
    pub(crate) goes_where_it_blocks: bool,
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
