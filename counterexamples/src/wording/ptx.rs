//! PTX in words.

use barcheck_model::barrier::{AnyBarrier, BarrierAction, BarrierId, ptx};
use barcheck_model::program::{AgentId, BarrierInstruction, Program, PtxKind, PtxOp, ReductionOp, WARP_SIZE};

use super::expressions::{Lanes, mnemonic};
use super::figures::{Gathering, Naming, Present, count, plain};
use super::system::{Counts, EXIT_OF_WARP, IDS_OF_16, Names, Parties, Unpublished, Wording};
use super::{cluster, mbarrier, registers};
use crate::names::reduction;
use crate::trace::Operands;

pub(super) struct Ptx;

impl Wording for Ptx {
    fn barrier(&self, program: &Program, id: BarrierId) -> Names {
        cluster::names(program, id)
            .or_else(|| registers::names(program, id))
            .or_else(|| mbarrier::names(program, id))
            .unwrap_or_else(|| Names::by_number_in(program, id))
    }

    fn ids(&self) -> Option<&'static str> {
        Some(IDS_OF_16)
    }

    fn counts(&self, instruction: &str, group_size: u32) -> Option<Counts> {
        let threads = format!(
            "A count is a positive multiple of 32, and at most the {} threads of the CTA in whole warps.",
            u64::from(group_size).div_ceil(32) * 32
        );
        let own = registers::counts(instruction).or_else(|| mbarrier::counts(instruction));
        Some(own.unwrap_or_else(|| Counts::usual(threads, true)))
    }

    fn mixed(&self) -> Option<&'static str> {
        Some("A reduction must not be mixed with sync or arrive on one active barrier.")
    }

    fn exit(&self) -> &'static str {
        EXIT_OF_WARP
    }

    fn unpublished(&self, parties: Parties<'_>) -> Unpublished {
        if !parties.arrives {
            return Unpublished::by_exit(parties);
        }
        let Parties { earlier, later, at, .. } = parties;
        Unpublished {
            why: format!(
                "{earlier} has arrived since{at}, but so that {later} does not see in memory what came before: an \
                 arrival that is `.relaxed` publishes only what a fence before it has come after, one that \
                 reaches {later}; an arrival whose scope ends at its own CTA publishes nothing to another"
            ),
            fix: format!(
                "let {earlier} arrive with `.release`, with `.cluster` for its scope where another CTA waits; \
                 `fence.acq_rel.cluster` before an arrival that is `.relaxed` does the same"
            ),
        }
    }

    fn instruction(&self, op: &BarrierInstruction, lanes: &dyn Lanes, written: &str, pick: u32) -> String {
        let BarrierInstruction::Ptx(op) = op else { return written.to_owned() };
        instruction(op, lanes, written, pick)
    }

    fn operands(&self, action: &BarrierAction) -> Option<Operands> {
        match action {
            BarrierAction::Ptx(action) => Some(operands(action)),
            BarrierAction::Cluster(action) => Some(cluster::operands(action)),
            BarrierAction::Registers(action) => Some(registers::operands(action)),
            action => mbarrier::operands(action),
        }
    }

    fn may_use(&self, op: &BarrierInstruction, naming: &Naming<'_>) -> bool {
        match op {
            BarrierInstruction::Ptx(op) => may_use(op, naming),
            BarrierInstruction::Mbarrier(op) => mbarrier::may_use(op, naming),
            BarrierInstruction::Cluster(op) => cluster::may_use(op, naming),
            BarrierInstruction::Warp(op) => registers::may_use(op, naming),
            _ => false,
        }
    }

    fn is_member(&self, program: &Program, agent: AgentId, id: BarrierId) -> bool {
        // Other CTAs of a cluster arrive on an object too.
        program.shares(agent, id) || mbarrier::names(program, id).is_some()
    }

    fn gathering(
        &self,
        _: &Program,
        _: BarrierId,
        barrier: &AnyBarrier,
        present: Present,
    ) -> Option<Gathering> {
        match barrier {
            AnyBarrier::Ptx(barrier) => gathering(barrier, present),
            AnyBarrier::Mbarrier(barrier) => mbarrier::gathering(barrier),
            AnyBarrier::Cluster(barrier) => cluster::gathering(*barrier, present),
            AnyBarrier::Registers(barrier) => registers::gathering(barrier),
            _ => None,
        }
    }
}

/// An instruction with its operands' values.
fn instruction(op: &PtxOp, lanes: &dyn Lanes, written: &str, pick: u32) -> String {
    let suffix = match &op.kind {
        PtxKind::Sync => "sync",
        PtxKind::Arrive => "arrive",
        PtxKind::Red { op, .. } => match op {
            ReductionOp::Popc => "red.popc.u32",
            ReductionOp::And => "red.and.pred",
            ReductionOp::Or => "red.or.pred",
        },
    };
    let prefix = if op.aligned { "bar" } else { "barrier" };
    let mut operands = Vec::new();
    if let PtxKind::Red { dest, .. } = &op.kind {
        operands.push(dest.map_or("_", |dest| lanes.local_name(dest)).to_owned());
    }
    operands.push(lanes.show(&op.id));
    operands.extend(op.count.as_ref().map(|count| lanes.show(count)));
    if let PtxKind::Red { op, predicate, .. } = &op.kind {
        operands.push(lanes.truths(*op, predicate, pick));
    }
    format!("{} {}", mnemonic(written, &format!("{prefix}.{suffix}")), operands.join(", "))
}

/// The operands of an instruction.
fn operands(action: &ptx::Action) -> Operands {
    announced(&action.what)
}

/// The operands of an arrival, made or to be made once all lanes have come.
pub(super) fn announced(what: &ptx::Announcement) -> Operands {
    let operation = match what.operation {
        ptx::Operation::Sync => "sync",
        ptx::Operation::Arrive => "arrive",
        ptx::Operation::Red(op) => reduction(op),
    };
    Operands { all: what.all, ..plain(operation, what.id, vec![count("threads", 32, what.expected)]) }
}

/// The generation that gathers at a barrier.
fn gathering(barrier: &ptx::Barrier, present: Present) -> Option<Gathering> {
    let ptx::Barrier::Active { expected, all, class, arrived, .. } = barrier else { return None };
    let gone = if *all { present.gone } else { 0 };
    let expected = expected.saturating_sub(gone.saturating_mul(WARP_SIZE));
    let class = match class {
        ptx::Class::Plain => "plain",
        ptx::Class::Red(op) => reduction(*op),
    };
    let counts = vec![count("threads", arrived.saturating_mul(WARP_SIZE), expected)];
    Some(Gathering { all: *all, class: class.to_owned(), counts })
}

/// Whether an instruction may name a barrier.
fn may_use(op: &PtxOp, naming: &Naming<'_>) -> bool {
    naming.names(&op.id)
}
