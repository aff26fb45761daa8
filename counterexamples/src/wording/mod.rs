//! Instructions, operands and barriers in words. What a system says in its own way stands in its file; this
//! file is the one list of them.

mod bcu;
mod expressions;
mod figures;
mod nbarrier;
mod ptx;
mod reader;
mod split;
mod system;
mod values;
mod xegpu;

use barcheck_model::agent::Action;
use barcheck_model::barrier::bcu::Opaque;
use barcheck_model::barrier::xegpu::Handle;
use barcheck_model::barrier::{AnyBarrier, BarrierAction, BarrierId};
use barcheck_model::machine::{Machine, State};
use barcheck_model::program::{AgentId, Op, Program, Target};

use crate::trace::{Barrier, Operands};
use expressions::Lanes;
pub(crate) use figures::Gathering;
use figures::{Naming, Present};
pub(crate) use reader::{Reader, access_name};
pub(crate) use system::{Parties, Wording};
pub(crate) use values::show_local;

/// The words of a system.
pub(crate) fn of(target: Target) -> &'static dyn Wording {
    match target {
        Target::Ptx => &ptx::Ptx,
        Target::Bcu => &bcu::Bcu,
        Target::Nbarrier => &nbarrier::Nbarrier,
        Target::SplitBarrier => &split::Split,
        Target::Xegpu => &xegpu::Xegpu,
    }
}

/// A barrier's names.
pub(crate) fn barrier(program: &Program, id: BarrierId) -> Barrier {
    let names = of(program.target).barrier(program, id);
    Barrier { barrier: id.0, name: names.name, short: names.short }
}

/// An instruction on a barrier with its operands' values; `None` for any other.
fn instruction(op: &Op, lanes: &dyn Lanes, written: &str, pick: u32) -> Option<String> {
    match op {
        Op::Ptx(op) => Some(ptx::instruction(op, lanes, written, pick)),
        Op::Bcu(op) => Some(bcu::instruction(op, lanes, written, pick)),
        Op::Nbarrier(op) => Some(nbarrier::instruction(op, lanes)),
        // It has no operands that need values.
        Op::Split(_) => Some(written.to_owned()),
        Op::Xegpu(op) => Some(xegpu::instruction(op, lanes)),
        Op::Set(..)
        | Op::Any(..)
        | Op::Branch { .. }
        | Op::Jump(_)
        | Op::Enter(_)
        | Op::Test { .. }
        | Op::Back(..)
        | Op::Break(_)
        | Op::Continue(..)
        | Op::End(_)
        | Op::Exit
        | Op::Assert(_)
        | Op::Access(..)
        | Op::Fence(_) => None,
    }
}

/// Whether an instruction may arrive on a barrier, as far as can be told without running it.
fn may_use(op: &Op, naming: &Naming<'_>) -> bool {
    match op {
        Op::Ptx(op) => ptx::may_use(op, naming),
        Op::Bcu(op) => bcu::may_use(op, naming),
        Op::Nbarrier(op) => nbarrier::may_use(op, naming),
        Op::Split(op) => split::may_use(op, naming),
        Op::Xegpu(op) => xegpu::may_use(op, naming),
        Op::Set(..)
        | Op::Any(..)
        | Op::Branch { .. }
        | Op::Jump(_)
        | Op::Enter(_)
        | Op::Test { .. }
        | Op::Back(..)
        | Op::Break(_)
        | Op::Continue(..)
        | Op::End(_)
        | Op::Exit
        | Op::Assert(_)
        | Op::Access(..)
        | Op::Fence(_) => false,
    }
}

/// Whether an agent's code may arrive on a barrier.
pub(crate) fn agent_may_use(program: &Program, agent: AgentId, id: BarrierId) -> bool {
    let naming = Naming { program, agent, id };
    program.code(agent).ops.iter().any(|op| may_use(op, &naming))
}

/// Whether the agent belongs to those that share the barrier.
pub(crate) fn is_member(program: &Program, agent: AgentId, id: BarrierId) -> bool {
    match program.target {
        Target::SplitBarrier => split::is_member(program, agent, id),
        // Their barriers belong to the whole group.
        Target::Ptx | Target::Bcu | Target::Nbarrier | Target::Xegpu => true,
    }
}

/// The barrier operands of a move whose operands are in range.
pub(crate) fn operands(program: &Program, action: &Action) -> Option<Operands> {
    match action {
        Action::Exit(Some(action)) | Action::Barrier(action) => Some(on_barrier(program.target, action)),
        Action::Park(parked, _) => Some(ptx::announced(&parked.what)),
        Action::Exit(None)
        | Action::Spin
        | Action::Decide
        | Action::Assert(_)
        | Action::Access(..)
        | Action::Fence(_)
        | Action::MemoryBarrier(..)
        | Action::Alloc(_)
        | Action::Init(..)
        | Action::Fetch(_)
        | Action::SaveCopy(_)
        | Action::RestoreCopy(_)
        | Action::Refuse(..)
        | Action::NotModelled(_)
        | Action::Fault(_) => None,
    }
}

fn on_barrier(target: Target, action: &BarrierAction) -> Operands {
    match action {
        BarrierAction::Ptx(action) => ptx::operands(action),
        BarrierAction::Bcu(action) => bcu::operands(action),
        BarrierAction::Nbarrier(action) => match target {
            Target::Xegpu => xegpu::operands(action),
            Target::Nbarrier | Target::Ptx | Target::Bcu | Target::SplitBarrier => nbarrier::operands(action),
        },
        BarrierAction::Split(action) => split::operands(action),
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
    let exited = || machine.agents().filter(|agent| machine.config(state, *agent).has_exited());
    let present = || Present {
        live: number(program.agents.len().saturating_sub(exited().count())),
        gone: number(exited().filter(|agent| !arrived.contains(&agent.0)).count()),
    };
    match state.barrier(id)? {
        AnyBarrier::Ptx(barrier) => ptx::gathering(barrier, present()),
        AnyBarrier::Bcu(barrier) => bcu::gathering(barrier, present()),
        AnyBarrier::Nbarrier(barrier) => {
            let now = barrier.gathering.as_ref()?;
            Some(Gathering::plain(match program.target {
                Target::Xegpu => xegpu::gathered(now),
                Target::Nbarrier | Target::Ptx | Target::Bcu | Target::SplitBarrier => {
                    nbarrier::gathered(now)
                }
            }))
        }
        AnyBarrier::Split(barrier) => split::gathering(program, id, barrier),
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
