//! mbarrier objects in words.

use barcheck_model::barrier::mbarrier::{self, Action, Barrier, What};
use barcheck_model::barrier::{BarrierAction, BarrierId};
use barcheck_model::program::{ArrayId, Awaited, Expr, MbarrierKind, MbarrierOp, Means, Program};

use super::expressions::{Lanes, mnemonic};
use super::figures::{Gathering, Naming, count, plain};
use super::system::{Counts, Names};
use crate::names::object_in_short;
use crate::trace::{Count, Operands};

/// How many arrivals there are, if an instruction is on an object.
pub(super) fn counts(instruction: &str) -> Option<Counts> {
    instruction.starts_with("mbarrier.").then(|| {
        let says = "The number of arrivals is from 1 to 1048575, which is 2^20 - 1.".to_owned();
        Counts::by("ptx.mbarrier-count-range", "arrivals", says)
    })
}

/// An object's names, as the protocol has it.
pub(super) fn names(program: &Program, id: BarrierId) -> Option<Names> {
    let name = mbarrier::object_name(program, id)?;
    Some(Names { short: object_in_short(&name), name })
}

/// An instruction with its operands' values.
pub(super) fn instruction(program: &Program, op: &MbarrierOp, lanes: &dyn Lanes, written: &str) -> String {
    let objects = &program.objects[op.objects.index()];
    let object = match &op.index {
        Some(index) => format!("{}[{}]", objects.name, lanes.show(index)),
        None => objects.name.clone(),
    };
    let object = match &op.cta {
        Some(cta) => format!("{object} @ cta {}", lanes.show(cta)),
        None => object,
    };
    let shown = |canonical: &str, rest: &[String]| {
        let rest: String = rest.iter().map(|operand| format!(", {operand}")).collect();
        format!("{} {object}{rest}", mnemonic(written, canonical))
    };
    match &op.kind {
        MbarrierKind::Init(count) => shown("mbarrier.init", &[lanes.show(count)]),
        MbarrierKind::Inval => shown("mbarrier.inval", &[]),
        MbarrierKind::Arrive { count, bytes, .. } => {
            let operands: Vec<_> = count.iter().chain(bytes).map(|operand| lanes.show(operand)).collect();
            shown("mbarrier.arrive", &operands)
        }
        MbarrierKind::ExpectTx(bytes) => shown("mbarrier.expect_tx", &[lanes.show(bytes)]),
        MbarrierKind::CompleteTx(bytes) => shown("mbarrier.complete_tx", &[lanes.show(bytes)]),
        MbarrierKind::Wait { phase, .. } => shown(&of_phase("wait", phase), &[awaited(phase, lanes)]),
        MbarrierKind::Test { phase, gives_up, .. } => {
            let name = if *gives_up { "try_wait" } else { "test_wait" };
            shown(&of_phase(name, phase), &[awaited(phase, lanes)])
        }
        MbarrierKind::Commit => shown("tcgen05.commit", &[]),
        MbarrierKind::FillsArrive { counted } => {
            let name = "cp.async.mbarrier.arrive";
            shown(if *counted { name } else { "cp.async.mbarrier.arrive.noinc" }, &[])
        }
        MbarrierKind::Copy { bytes, to, by } => {
            let place = |array: &ArrayId, index: &Option<Expr>| {
                let name = &program.arrays[array.index()].name;
                index.as_ref().map_or(name.clone(), |index| format!("{name}[{}]", lanes.show(index)))
            };
            let to = to.as_ref().map_or("_".to_owned(), |(array, index)| place(array, index));
            let (canonical, from) = match by {
                Means::Bulk => ("cp.async.bulk", String::new()),
                Means::Store => ("st.async", String::new()),
                Means::Reduction => ("red.async", String::new()),
                Means::Across(array, index) => {
                    ("cp.async.bulk.shared::cluster.shared::cta", format!("{}, ", place(array, index)))
                }
            };
            let mnemonic = mnemonic(written, canonical);
            format!("{mnemonic} {to}, {from}{}, {object}", lanes.show(bytes))
        }
    }
}

/// The mnemonic of a wait.
fn of_phase(name: &str, phase: &Awaited) -> String {
    match phase {
        Awaited::Parity(_) => format!("mbarrier.{name}.parity"),
        Awaited::Token(_) => format!("mbarrier.{name}"),
    }
}

/// What names the phase that is waited for.
fn awaited(phase: &Awaited, lanes: &dyn Lanes) -> String {
    match phase {
        Awaited::Parity(parity) => lanes.show(parity),
        Awaited::Token(token) => lanes.local_name(*token).to_owned(),
    }
}

/// The operands of an instruction; of a delivery that it begins likewise.
pub(super) fn operands(action: &BarrierAction) -> Option<Operands> {
    let BarrierAction::Mbarrier(Action { object, what }) = action else { return None };
    let (operation, counts): (&str, Vec<Count>) = match *what {
        What::Init(expected) => ("init", vec![count("arrivals", 0, expected)]),
        What::Inval => ("inval", Vec::new()),
        What::Arrive { count: arrivals, .. } => ("arrive", vec![count("arrivals", arrivals, arrivals)]),
        What::CountBytes(_) => ("count", Vec::new()),
        What::Wait(..) => ("wait", Vec::new()),
        What::Ask(..) => ("ask", Vec::new()),
        What::Copy(..) => ("copy", Vec::new()),
        What::Commit(_) => ("commit", Vec::new()),
        What::FillsArrive { .. } => ("arrive when copied", Vec::new()),
    };
    Some(plain(operation, mbarrier::id(*object), counts))
}

/// What the present phase has gathered, if it has begun or somebody waits for it.
pub(super) fn gathering(barrier: &Barrier) -> Option<Gathering> {
    let Barrier::Live(live) = barrier else { return None };
    let idle = live.pending == live.expected && live.bytes == 0 && live.announced == 0 && !live.waited;
    if idle {
        return None;
    }
    // Arrivals dropped count for the phases after this one.
    let expected = live.expected.max(live.pending);
    let mut counts = vec![count("arrivals", expected - live.pending, expected)];
    let delivered = i64::from(live.announced) - i64::from(live.bytes);
    if live.announced > 0 || delivered > 0 {
        counts.push(count("bytes", u32::try_from(delivered).unwrap_or(0), live.announced));
    }
    let class = if live.odd { "odd phase" } else { "even phase" };
    Some(Gathering { all: false, class: class.to_owned(), counts })
}

/// Whether an instruction may arrive on an object, now or when something lands.
pub(super) fn may_use(op: &MbarrierOp, naming: &Naming<'_>) -> bool {
    let arrives = match op.kind {
        MbarrierKind::Arrive { .. } | MbarrierKind::Commit | MbarrierKind::FillsArrive { .. } => true,
        // Bytes are no arrivals.
        MbarrierKind::Copy { .. }
        | MbarrierKind::CompleteTx(_)
        | MbarrierKind::Init(_)
        | MbarrierKind::Inval
        | MbarrierKind::ExpectTx(_)
        | MbarrierKind::Wait { .. }
        | MbarrierKind::Test { .. } => false,
    };
    let objects = &naming.program.objects[op.objects.index()];
    let Some(home) = naming.program.home(naming.id) else { return false };
    let number = mbarrier::number(home.barrier).and_then(|number| number.checked_sub(objects.first));
    let is_there = match &op.cta {
        None => home.cta == naming.program.cta_of(naming.agent),
        Some(cta) => naming.may_be(cta, i64::from(home.cta)),
    };
    arrives
        && is_there
        && number.is_some_and(|number| {
            number < objects.length.unwrap_or(1)
                && op.index.as_ref().is_none_or(|index| naming.may_be(index, i64::from(number)))
        })
}
