//! XeGPU's named barriers in words. In the model they are those of vISA, but all participants are counted
//! together.

use barcheck_model::barrier::{AnyBarrier, BarrierAction, BarrierId, nbarrier, xegpu};
use barcheck_model::program::{BarrierInstruction, Expr, Program, XegpuOp};

use super::expressions::Lanes;
use super::figures::{Gathering, Naming, Present, count, plain};
use super::system::{Counts, IDS_OF_32, Parties, Unpublished, Wording, participants};
use crate::trace::{Count, Operands};

/// The instruction by which all subgroups allocate barriers.
const ALLOCATE: &str = "xegpu.alloc_nbarrier";

pub(super) struct Xegpu;

impl Wording for Xegpu {
    fn ids(&self) -> Option<&'static str> {
        Some(IDS_OF_32)
    }

    fn counts(&self, _: &str, group_size: u32) -> Option<Counts> {
        Some(Counts::usual(participants("A count", group_size), false))
    }

    fn allocates(&self, instruction: &str) -> bool {
        instruction.split_whitespace().next() == Some(ALLOCATE)
    }

    fn unpublished(&self, parties: Parties<'_>) -> Unpublished {
        let Parties { earlier, .. } = parties;
        Unpublished {
            why: "`nbarrier_arrive` and `nbarrier_wait` promise nothing about memory".to_owned(),
            fix: format!(
                "put an `xegpu.mfence` (of the location's memory kind) by {earlier} after its access and \
                 before its arrive"
            ),
        }
    }

    fn instruction(&self, op: &BarrierInstruction, lanes: &dyn Lanes, written: &str, _: u32) -> String {
        let BarrierInstruction::Xegpu(op) = op else { return written.to_owned() };
        instruction(op, lanes)
    }

    fn operands(&self, action: &BarrierAction) -> Option<Operands> {
        let BarrierAction::Nbarrier(action) = action else { return None };
        Some(operands(action))
    }

    fn may_use(&self, op: &BarrierInstruction, naming: &Naming<'_>) -> bool {
        matches!(op, BarrierInstruction::Xegpu(op) if may_use(op, naming))
    }

    fn gathering(&self, _: &Program, _: BarrierId, barrier: &AnyBarrier, _: Present) -> Option<Gathering> {
        let AnyBarrier::Nbarrier(barrier) = barrier else { return None };
        Some(Gathering::plain(gathered(barrier.gathering.as_ref()?)))
    }
}

/// An instruction with its operands' values.
fn instruction(op: &XegpuOp, lanes: &dyn Lanes) -> String {
    let local = |local| lanes.show(&Expr::Local(local));
    match op {
        XegpuOp::Alloc { count } => format!("{ALLOCATE} {}", lanes.show(count)),
        XegpuOp::Init { handle, id, participants } => format!(
            "{} = xegpu.init_nbarrier {}, {}",
            lanes.local_name(*handle),
            lanes.show(id),
            lanes.show(participants)
        ),
        XegpuOp::Arrive(handle) => format!("xegpu.nbarrier_arrive {}", local(*handle)),
        XegpuOp::Wait(handle) => format!("xegpu.nbarrier_wait {}", local(*handle)),
    }
}

/// What a local holds that stands for a barrier.
pub(super) fn handle(handle: &xegpu::Handle) -> String {
    format!("(barrier {}, {} participants)", handle.id.0, handle.participants)
}

/// The operands of an instruction.
fn operands(action: &nbarrier::Action) -> Operands {
    match action {
        nbarrier::Action::Wait(id) => plain("wait", *id, Vec::new()),
        nbarrier::Action::Signal(what) => {
            plain("signal", what.id, vec![count("subgroups", 1, what.consumers)])
        }
    }
}

/// What a generation has gathered.
fn gathered(now: &nbarrier::Gathering) -> Vec<Count> {
    vec![count("subgroups", now.consumed, now.consumers)]
}

/// Whether an instruction may name a barrier: the one that makes a handle for it.
fn may_use(op: &XegpuOp, naming: &Naming<'_>) -> bool {
    match op {
        XegpuOp::Init { id, .. } => naming.names(id),
        XegpuOp::Alloc { .. } | XegpuOp::Arrive(_) | XegpuOp::Wait(_) => false,
    }
}
