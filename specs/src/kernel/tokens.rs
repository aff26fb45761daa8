//! Waits for the phase of an arrival, by the state that the arrival yields.
//!
//! What hands a state on from arrivals to waits, by copies from register to register, is one variable of the
//! protocol, which each of these arrivals sets. That is so as long as whoever waits does it with the state of
//! the latest of them that it made: states that are kept side by side are not followed.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Action, Argument, Code, Function, Operation, Register};
use super::graph::Graph;

/// Finds out which states waits are made with. Questions by a state that are no waits are not followed, nor
/// are states that come from anything but arrivals.
pub(super) fn resolve(code: &mut Code) {
    let asks = |at: &usize| matches!(code.instructions[*at].action, Action::Test { .. });
    for at in code.states.keys().copied().filter(asks).collect::<Vec<_>>() {
        if let Action::Test { name, .. } = &code.instructions[at].action {
            code.instructions[at].action = Action::Beyond(format!("`{name}` whose answer is kept"));
        }
    }
    let waits: Vec<(usize, Register)> =
        code.states.iter().filter(|(at, _)| is_wait(code, **at)).map(|(at, state)| (*at, *state)).collect();
    if waits.is_empty() {
        return;
    }
    let graph = Graph::of(code);
    let mut families: Vec<BTreeSet<Register>> = Vec::new();
    for (_, state) in &waits {
        let mut family = family(code, *state);
        families.retain(|other| {
            let is_apart = other.is_disjoint(&family);
            if !is_apart {
                family.extend(other);
            }
            is_apart
        });
        families.push(family);
    }
    for (number, family) in (0..).zip(&families) {
        let own: Vec<usize> =
            waits.iter().filter(|(_, state)| family.contains(state)).map(|(at, _)| *at).collect();
        let problem = match stranger(code, family) {
            true => Some("a wait by a state that comes from no arrival"),
            false if !is_latest(code, &graph, family, &own) => {
                Some("waits by states that are kept side by side")
            }
            false => None,
        };
        if let Some(problem) = problem {
            for at in own {
                code.instructions[at].action = Action::Beyond(problem.to_owned());
            }
            continue;
        }
        let of_family = code.states.iter().filter(|(_, state)| family.contains(state));
        code.tokens.extend(of_family.map(|(at, _)| (*at, number)));
    }
}

fn is_wait(code: &Code, at: usize) -> bool {
    use super::code::ObjectKind::Wait;
    matches!(&code.instructions[at].action, Action::Object(step) if step.kind == Wait)
}

/// The register that an instruction copies to another.
fn copied(action: &Action) -> Option<(Register, Register)> {
    match action {
        Action::Compute { to, function: Function::Integer(Operation::Convert(from), ty), arguments } => {
            let [Argument::Register(register)] = arguments.as_slice() else { return None };
            (from == ty && ty.bits == 64).then_some((*to, *register))
        }
        _ => None,
    }
}

/// The registers whose states a register may hold.
fn family(code: &Code, state: Register) -> BTreeSet<Register> {
    let copies: Vec<(Register, Register)> =
        code.instructions.iter().filter_map(|instruction| copied(&instruction.action)).collect();
    let mut family = BTreeSet::from([state]);
    let mut work = vec![state];
    while let Some(state) = work.pop() {
        let from = copies.iter().filter(|(to, _)| *to == state).map(|(_, from)| *from);
        work.extend(from.filter(|from| family.insert(*from)));
    }
    family
}

/// Whether anything but an arrival or a copy writes one of these registers.
fn stranger(code: &Code, family: &BTreeSet<Register>) -> bool {
    let is_result = |at: usize, register: Register| {
        // The instruction behind an arrival writes what it yields.
        at > 0 && code.states.get(&(at - 1)) == Some(&register) && !is_wait(code, at - 1)
    };
    code.instructions.iter().enumerate().any(|(at, instruction)| match &instruction.action {
        Action::Compute { to, .. } if family.contains(to) => {
            let is_copy = copied(&instruction.action).is_some_and(|(_, from)| family.contains(&from));
            !is_copy && !is_result(at, *to)
        }
        _ => false,
    })
}

/// Whether each of these waits is made, by each lane, with the state of the latest arrival that it made of
/// those that set these registers, whichever way it came.
fn is_latest(code: &Code, graph: &Graph, family: &BTreeSet<Register>, waits: &[usize]) -> bool {
    // The registers that hold that state, where a block begins; in the beginning nobody has arrived.
    let mut before: BTreeMap<usize, BTreeSet<Register>> = BTreeMap::from([(0, family.clone())]);
    let mut work = vec![0];
    while let Some(number) = work.pop() {
        let (Some(block), Some(mut latest)) = (graph.blocks.get(number), before.get(&number).cloned()) else {
            continue;
        };
        (block.first..block.end).for_each(|at| pass(code, at, family, &mut latest));
        for next in block.then.blocks() {
            let known = before.get(&next);
            let met = known.map_or_else(|| latest.clone(), |known| known & &latest);
            if known != Some(&met) {
                before.insert(next, met);
                work.push(next);
            }
        }
    }
    graph.blocks.iter().enumerate().all(|(number, block)| {
        let Some(mut latest) = before.get(&number).cloned() else { return true };
        (block.first..block.end).all(|at| {
            let is_wrong =
                waits.contains(&at) && code.states.get(&at).is_some_and(|state| !latest.contains(state));
            pass(code, at, family, &mut latest);
            !is_wrong
        })
    })
}

/// Which registers hold the latest state behind an instruction.
fn pass(code: &Code, at: usize, family: &BTreeSet<Register>, latest: &mut BTreeSet<Register>) {
    let instruction = &code.instructions[at];
    let mut after = latest.clone();
    if let Some(state) = code.states.get(&at).filter(|state| family.contains(state) && !is_wait(code, at)) {
        after = BTreeSet::from([*state]);
    } else if let Some((to, from)) = copied(&instruction.action).filter(|(to, _)| family.contains(to)) {
        if latest.contains(&from) {
            after.insert(to);
        } else {
            after.remove(&to);
        }
    }
    // Where the guard does not hold, all is as it was.
    *latest = if instruction.guard.is_some() { &after & &*latest } else { after };
}
