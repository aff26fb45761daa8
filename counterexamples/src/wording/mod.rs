//! Instructions, operands and barriers in words. What a system says in its own way stands in its file; this
//! file is the one list of them.

mod bcu;
mod cluster;
mod expressions;
mod figures;
mod held;
mod mbarrier;
mod named;
mod nbarrier;
mod ptx;
mod reach;
mod reader;
mod registers;
mod split;
mod system;
mod values;
mod xegpu;

use std::sync::Arc;

use barcheck_model::agent::Action;
use barcheck_model::barrier::bcu::Opaque;
use barcheck_model::barrier::mbarrier::object_name;
use barcheck_model::barrier::xegpu::Handle;
use barcheck_model::barrier::{AnyOperation, BarrierId};
use barcheck_model::machine::{Machine, Pending, State};
use barcheck_model::program::{AgentId, BarrierInstruction, Op, Pc, Program, Target};

use crate::trace::{Barrier, Event, Operands};
use expressions::Lanes;
pub(crate) use figures::Gathering;
use figures::{Naming, Present};
pub(crate) use held::Held;
pub use named::{Named, named_objects};
pub(crate) use reader::{Reader, access_name};
use system::Plain;
pub(crate) use system::{Counts, Parties, Unpublished, Wording};
pub(crate) use values::show_local;

/// The words of a system.
pub(crate) fn of(target: Target) -> &'static dyn Wording {
    match target {
        Target::Ptx => &ptx::Ptx,
        Target::Bcu => &bcu::Bcu,
        Target::Nbarrier => &nbarrier::Nbarrier,
        Target::SplitBarrier => &split::Split,
        Target::Xegpu => &xegpu::Xegpu,
        #[allow(unreachable_patterns, reason = "each of the targets so far has words of its own")]
        _ => &Plain,
    }
}

/// A barrier's names.
#[must_use]
pub fn barrier(program: &Program, id: BarrierId) -> Barrier {
    let names = of(program.target).barrier(program, id);
    Barrier { barrier: id.0, name: names.name, short: names.short }
}

/// An instruction on a barrier with its operands' values; `None` for any other.
fn instruction(program: &Program, op: &Op, lanes: &dyn Lanes, written: &str, pick: u32) -> Option<String> {
    let Op::Barrier(op) = op else { return None };
    if let BarrierInstruction::Mbarrier(op) = op {
        return Some(mbarrier::instruction(program, op, lanes, written));
    }
    Some(of(program.target).instruction(op, lanes, written, pick))
}

/// Whether an agent's code may arrive on a barrier.
///
/// On an object few of a role often arrive for all of it, so that conditions on the agent's own index are
/// heeded there; elsewhere whom such a condition keeps away is one to look at.
pub(crate) fn agent_may_use(
    program: &Program,
    agent: AgentId,
    id: BarrierId,
    held: &dyn Fn() -> Option<Arc<Held>>,
) -> bool {
    let is_object = object_name(program, id).is_some();
    let may_use = |at: Pc, op: &Op| {
        let Op::Barrier(op) = op else { return false };
        let words = of(program.target);
        // What is known of locals is asked where it could matter.
        if !words.may_use(op, &Naming { program, agent, id, at: None }) {
            return false;
        }
        let Some(held) = held() else { return true };
        (!is_object || held.comes_to(at))
            && words.may_use(op, &Naming { program, agent, id, at: Some((at, &held)) })
    };
    if is_object {
        return reach::executable(program, agent).into_iter().any(|(at, op)| may_use(at, op));
    }
    (0..).zip(&program.code(agent).ops).any(|(at, op)| may_use(Pc(at), op))
}

/// Whether the agent belongs to those that share the barrier.
pub(crate) fn is_member(program: &Program, agent: AgentId, id: BarrierId) -> bool {
    of(program.target).is_member(program, agent, id)
}

/// The barrier operands of a move whose operands are in range.
pub(crate) fn operands(program: &Program, action: &Action) -> Option<Operands> {
    match action {
        Action::Park(parked, _) => Some(ptx::announced(&parked.what)),
        action => of(program.target).operands(action.on_barrier()?),
    }
}

/// The generation that gathers at a barrier, if any; `arrived` is who has arrived in it.
pub(crate) fn gathering(
    machine: &Machine,
    state: &State,
    id: BarrierId,
    arrived: &[u32],
) -> Option<Gathering> {
    let program = machine.program();
    let number = |agents: usize| u32::try_from(agents).unwrap_or(u32::MAX);
    let members = || machine.agents().filter(|agent| program.shares(*agent, id));
    let exited = || members().filter(|agent| machine.config(state, *agent).has_exited());
    let barrier = state.barrier(id)?;
    let present = Present {
        members: number(members().count()),
        live: number(members().count().saturating_sub(exited().count())),
        gone: number(exited().filter(|agent| !arrived.contains(&agent.0)).count()),
    };
    of(program.target).gathering(program, id, barrier, present)
}

/// What an agent leaves pending, as an event.
pub(crate) fn issued(program: &Program, operation: &AnyOperation) -> Event {
    Event::Issued {
        barrier: operation.barrier().0,
        bytes: operation.bytes(),
        writes: operation.written().map(|location| program.location_name(location)),
    }
}

/// Whether what lands is an arrival, and no bytes.
pub(crate) fn lands_as_arrival(operation: &AnyOperation) -> bool {
    operation.bytes().is_none()
}

/// The same by the instruction that began it, as it is written.
pub(crate) fn begins_an_arrival(instruction: &str) -> bool {
    instruction.contains("commit") || instruction.contains("arrive")
}

/// What it takes to let something pending land, in words: `land the copy of 2048 bytes to buf[0] on full[0]`.
pub(crate) fn land(program: &Program, pending: &Pending) -> String {
    let on = barrier(program, pending.operation.barrier()).name;
    let written = program.code(pending.agent).texts.get(pending.pc.index()).map_or("", String::as_str);
    let what = in_flight(written, pending.operation.bytes());
    let to = pending.operation.written().map(|location| format!(" to {}", program.location_name(location)));
    format!("land {what}{} on {on}", to.unwrap_or_default())
}

/// What is in flight, by the instruction that began it, as it is written.
pub(crate) fn in_flight(instruction: &str, bytes: Option<u32>) -> String {
    match bytes {
        Some(1) => "the copy of 1 byte".to_owned(),
        Some(bytes) => format!("the copy of {bytes} bytes"),
        None if instruction.contains("commit") => "the commit".to_owned(),
        None => "the arrival".to_owned(),
    }
}

/// What a register holds that is no number.
fn opaque_in_words(opaque: &Opaque) -> String {
    bcu::opaque(opaque)
}

/// What a local holds that stands for a barrier.
fn handle_in_words(handle: &Handle) -> String {
    xegpu::handle(handle)
}
