//! Which objects the instructions of an agent name, without running anything.

use barcheck_model::program::{AgentId, BarrierInstruction, MbarrierKind, Op, Pc, Program};

use super::figures::Naming;
use super::held::Held;

/// An instruction on mbarrier objects, and those that it may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The instruction.
    pub pc: Pc,
    /// The objects, in order, as the agent calls them: `mbar[5]`.
    pub objects: Vec<String>,
    /// It initialises them.
    pub initialises: bool,
}

/// The mbarrier objects that the instructions of an agent may name, in the order of its code. Where nothing
/// is known of an index these are all of the array.
#[must_use]
pub fn named_objects(program: &Program, agent: AgentId) -> Vec<Named> {
    let held = Held::of(program, agent);
    let all = (0..).map(Pc).zip(&program.code(agent).ops);
    let named = all.filter_map(|(pc, op)| {
        let Op::Barrier(BarrierInstruction::Mbarrier(op)) = op else { return None };
        let array = program.objects.get(op.objects.index())?;
        let initialises = matches!(op.kind, MbarrierKind::Init(_));
        let Some(index) = &op.index else {
            return Some(Named { pc, objects: vec![array.name.clone()], initialises });
        };
        let id = barcheck_model::barrier::mbarrier::id(array.first);
        let naming = Naming { program, agent, id, at: held.as_ref().map(|held| (pc, held)) };
        let may_be = |number: &u32| naming.may_be(index, i64::from(*number));
        let numbers = (0..array.length.unwrap_or(1)).filter(may_be);
        let objects = numbers.map(|number| format!("{}[{number}]", array.name)).collect();
        Some(Named { pc, objects, initialises })
    });
    named.collect()
}
