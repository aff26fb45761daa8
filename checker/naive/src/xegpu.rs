//! The named barriers of the XeGPU dialect.

use super::expr::{Scene, eval_same, lookup};
use super::local::advance;
use super::memory;
use super::nbarrier::{self, Role, Signal};
use super::protocol::*;
use super::state::Barriers as AllBarriers;
use super::state::*;
use std::collections::BTreeSet;

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Barriers {
    pub named: nbarrier::Barriers,
    /// How many barriers the first subgroup to allocate asked for.
    allocated: Option<i64>,
    /// The subgroups that have executed an allocation.
    allocators: BTreeSet<AgentId>,
}

fn barriers<'a>(world: &'a mut World<'_>) -> &'a mut Barriers {
    match &mut world.state.barriers {
        AllBarriers::Xegpu(b) => b,
        _ => unreachable!("an xegpu protocol has xegpu barriers"),
    }
}

fn handle_of(own: AgentId, fragment: &Fragment, handle: &Name) -> Flow<(i64, i64)> {
    let (&lane, locals) = fragment.lanes.iter().next().expect("one lane");
    let scene = Scene { target: Target::Xegpu, own, rank: 0, lane, locals };
    match lookup(scene, handle)? {
        Value::Handle(id, threads) => Ok((id, threads)),
        _ => Err(Halt::EvalError("not a handle".into())),
    }
}

/// The signal that an arrive on a handle is.
pub fn signal(own: AgentId, fragment: &Fragment, handle: &Name) -> Flow<Signal> {
    let (id, threads) = handle_of(own, fragment, handle)?;
    Ok(Signal { id, role: Role { produces: true, consumes: true }, wanted: (threads, threads) })
}

pub fn execute(world: &mut World<'_>, who: Who, instr: &Instr) -> Flow<()> {
    match instr {
        Instr::Alloc(count) => alloc(world, who, count),
        Instr::Init { handle, id, threads } => init(world, who, handle, id, threads),
        Instr::HandleArrive(handle) => {
            let signal = signal(who.agent, world.see(who), handle)?;
            nbarrier::arrive(world, who, signal)
        }
        Instr::HandleWait(handle) => {
            let (id, _) = handle_of(who.agent, world.see(who), handle)?;
            nbarrier::wait(world, who, id)
        }
        Instr::Mfence(space) => {
            memory::fence(world, who.agent, *space);
            advance(world.fragment(who));
            Ok(())
        }
        other => unreachable!("not an instruction of xegpu: {other:?}"),
    }
}

fn alloc(world: &mut World<'_>, who: Who, count: &Expr) -> Flow<()> {
    let count = eval_same(world.code, who.agent, world.see(who), count)?;
    if !(1..=32).contains(&count) {
        return Err(Halt::Rule("barrier-id-range"));
    }
    let barriers = barriers(world);
    if *barriers.allocated.get_or_insert(count) != count {
        return Err(Halt::Rule("count-mismatch"));
    }
    barriers.allocators.insert(who.agent);
    advance(world.fragment(who));
    Ok(())
}

fn init(world: &mut World<'_>, who: Who, handle: &Name, id: &Expr, threads: &Expr) -> Flow<()> {
    let (code, own) = (world.code, who.agent);
    let id = eval_same(code, own, world.see(who), id)?;
    let threads = eval_same(code, own, world.see(who), threads)?;
    if !(0..32).contains(&id) {
        return Err(Halt::Rule("barrier-id-range"));
    }
    let barriers = barriers(world);
    let usable = match barriers.allocated {
        Some(count) if barriers.allocators.contains(&own) => count,
        _ => 0,
    };
    if id >= usable {
        return Err(Halt::Rule("barrier-not-allocated"));
    }
    if !(1..=code.protocol.size).contains(&threads) {
        return Err(Halt::Rule("count-range"));
    }
    let fragment = world.fragment(who);
    fragment.set_all(&Slot::Var(handle.clone()), &Value::Handle(id, threads));
    advance(fragment);
    Ok(())
}
