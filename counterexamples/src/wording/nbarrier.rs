//! vISA's named barriers in words.

use barcheck_model::barrier::BarrierId;
use barcheck_model::barrier::nbarrier::{Action, Gathering, Kind};
use barcheck_model::program::{NbarrierOp, Program};

use super::expressions::Lanes;
use super::figures::{Naming, count, plain};
use super::system::{EXIT, IDS_OF_32, Names, Parties, Unpublished, Wording, participants};
use crate::trace::{Count, Operands};

pub(super) struct Nbarrier;

impl Wording for Nbarrier {
    fn barrier(&self, _: &Program, id: BarrierId) -> Names {
        Names::by_number(id)
    }

    fn ids(&self) -> Option<&'static str> {
        Some(IDS_OF_32)
    }

    fn counts(&self, group_size: u32) -> Option<String> {
        Some(participants(group_size))
    }

    fn mixed(&self) -> Option<&'static str> {
        None
    }

    fn exit(&self) -> &'static str {
        EXIT
    }

    fn waits_between_arrivals(&self) -> bool {
        false
    }

    fn allocates(&self, _: &str) -> bool {
        false
    }

    fn unpublished(&self, parties: Parties<'_>) -> Unpublished {
        let Parties { earlier, .. } = parties;
        Unpublished {
            why: "a signal and a wait promise nothing about memory".to_owned(),
            mend: format!(
                "put a `fence` (of the location's storage) by {earlier} after its access and before its \
                 signal"
            ),
        }
    }
}

/// An instruction with its operands' values.
pub(super) fn instruction(op: &NbarrierOp, lanes: &dyn Lanes) -> String {
    match op {
        NbarrierOp::SignalAll { id, threads } => {
            format!("nbarrier.signal {}, {}", lanes.show(id), lanes.show(threads))
        }
        NbarrierOp::Signal { id, kind, producers, consumers } => format!(
            "nbarrier.signal {}, {}, {}, {}",
            lanes.show(id),
            lanes.show(kind),
            lanes.show(producers),
            lanes.show(consumers)
        ),
        NbarrierOp::Wait { id } => format!("nbarrier.wait {}", lanes.show(id)),
    }
}

/// The operands of an instruction.
pub(super) fn operands(action: &Action) -> Operands {
    match action {
        Action::Wait(id) => plain("wait", *id, Vec::new()),
        Action::Signal(what) => {
            let adds = |yes| u32::from(yes);
            let producers = count("producers", adds(what.kind != Kind::Consumer), what.producers);
            let consumers = count("consumers", adds(what.kind != Kind::Producer), what.consumers);
            plain("signal", what.id, vec![producers, consumers])
        }
    }
}

/// What a generation has gathered.
pub(super) fn gathered(now: &Gathering) -> Vec<Count> {
    vec![count("producers", now.produced, now.producers), count("consumers", now.consumed, now.consumers)]
}

/// Whether an instruction may arrive on a barrier.
pub(super) fn may_use(op: &NbarrierOp, naming: &Naming<'_>) -> bool {
    match op {
        NbarrierOp::SignalAll { id, .. } | NbarrierOp::Signal { id, .. } => naming.names(id),
        NbarrierOp::Wait { .. } => false,
    }
}
