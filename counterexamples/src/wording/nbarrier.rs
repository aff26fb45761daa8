//! vISA's named barriers in words.

use barcheck_model::barrier::BarrierId;
use barcheck_model::barrier::nbarrier::{self, Action, Kind};
use barcheck_model::barrier::{AnyBarrier, BarrierAction};
use barcheck_model::program::{BarrierInstruction, NbarrierOp, Program};

use super::expressions::Lanes;
use super::figures::{Gathering, Naming, Present, count, plain};
use super::system::{Counts, IDS_OF_32, Parties, Unpublished, Wording, participants};
use crate::trace::{Count, Operands};

pub(super) struct Nbarrier;

impl Wording for Nbarrier {
    fn before_a_wait(&self) -> Option<&'static str> {
        Some(
            "Whoever waits has signalled as a consumer before: `nbarrier.signal` with type 2, or 0 for both.",
        )
    }

    fn ids(&self) -> Option<&'static str> {
        Some(IDS_OF_32)
    }

    fn counts(&self, instruction: &str, group_size: u32) -> Option<Counts> {
        Some(counts(instruction, group_size))
    }

    fn unpublished(&self, parties: Parties<'_>) -> Unpublished {
        let Parties { earlier, .. } = parties;
        Unpublished {
            why: "a signal and a wait promise nothing about memory".to_owned(),
            fix: format!(
                "put a `fence` (of the location's storage) by {earlier} after its access and before its \
                 signal"
            ),
        }
    }

    fn instruction(&self, op: &BarrierInstruction, lanes: &dyn Lanes, written: &str, _: u32) -> String {
        let BarrierInstruction::Nbarrier(op) = op else { return written.to_owned() };
        instruction(op, lanes)
    }

    fn operands(&self, action: &BarrierAction) -> Option<Operands> {
        let BarrierAction::Nbarrier(action) = action else { return None };
        Some(operands(action))
    }

    fn may_use(&self, op: &BarrierInstruction, naming: &Naming<'_>) -> bool {
        matches!(op, BarrierInstruction::Nbarrier(op) if may_use(op, naming))
    }

    fn gathering(&self, _: &Program, _: BarrierId, barrier: &AnyBarrier, _: Present) -> Option<Gathering> {
        let AnyBarrier::Nbarrier(barrier) = barrier else { return None };
        Some(Gathering::plain(gathered(barrier.gathering.as_ref()?)))
    }
}

/// What a signal counts. Producers are looked at first.
fn counts(instruction: &str, group_size: u32) -> Counts {
    let operands = instruction.split_once(' ').map_or("", |(_, operands)| operands);
    let numbers: Vec<_> = operands.split(", ").map(|number| number.parse::<u32>().ok()).collect();
    let [_, _, producers, _] = numbers[..] else {
        return Counts::usual(participants("A count", group_size), false);
    };
    if producers.is_some_and(|producers| (1..=group_size).contains(&producers)) {
        let says = participants("The number of consumers", group_size);
        return Counts::by("nbarrier.consumers-range", "consumers", says);
    }
    let says = participants("The number of producers", group_size);
    Counts::by("nbarrier.producers-range", "producers", says)
}

/// An instruction with its operands' values.
fn instruction(op: &NbarrierOp, lanes: &dyn Lanes) -> String {
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
fn operands(action: &Action) -> Operands {
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
fn gathered(now: &nbarrier::Gathering) -> Vec<Count> {
    vec![count("producers", now.produced, now.producers), count("consumers", now.consumed, now.consumers)]
}

/// Whether an instruction may arrive on a barrier.
fn may_use(op: &NbarrierOp, naming: &Naming<'_>) -> bool {
    match op {
        NbarrierOp::SignalAll { id, .. } | NbarrierOp::Signal { id, .. } => naming.names(id),
        NbarrierOp::Wait { .. } => false,
    }
}
