//! Loads that find what was stored before, in the code.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Action, Code, Forwarded, Function, Instruction};
use super::forwards::{Chosen, Loads};
use super::value::Values;

/// Instructions beyond which code is not laid out several times.
const INSTRUCTIONS: usize = 2_000_000;

/// Puts what loads find in their places. They are looked for no more. A load that finds something else each
/// time gets copies of the code: the first for what comes before it, the second for what follows until it is
/// executed again, and so on; in the last it is executed as often as may be. Only one such load is put.
/// Whether there may be more: in copies less is open.
pub(super) fn put(code: &mut Code, values: &mut Values, chosen: Chosen, loads: &mut Loads) -> bool {
    let mut several = None;
    for (at, of) in chosen {
        let times = of.values().map(Vec::len).max().unwrap_or(0);
        if times == 1 {
            let first = of.into_iter().filter_map(|(agent, found)| Some((agent, *found.first()?)));
            find(code, loads, at, first.collect());
        } else if several.is_none() && code.instructions[at].guard.is_none() {
            several = Some((at, times, of));
        }
    }
    let Some((at, times, of)) = several else { return false };
    if code.instructions.len().saturating_mul(times + 1) > INSTRUCTIONS {
        return false;
    }
    let copies = Copies { at, count: times + 1, length: code.instructions.len() };
    let is_forgotten =
        matches!(code.instructions[at].action, Action::Compute { function: Function::Unknown, .. });
    if is_forgotten && let Some(load) = loads.get(&at) {
        code.instructions[at].action = load.clone();
    }
    copies.lay_out(code, values, loads);
    for copy in 0..copies.count {
        let found = |found: &Vec<u32>| found.get(copy).or(found.last()).copied();
        let of = of.iter().filter_map(|(agent, all)| Some((*agent, found(all)?)));
        let of = of.map(|(agent, found)| (agent, values.moved(found, &|at| copies.moved(0, at)))).collect();
        find(code, loads, copies.moved(copy, at), of);
        if let Some(forwarded) = code.forwarded.get_mut(&copies.moved(copy, at)) {
            forwarded.is_forgotten = is_forgotten;
        }
    }
    true
}

/// Puts what a load finds in its place.
fn find(code: &mut Code, loads: &mut Loads, at: usize, of: BTreeMap<(u32, u32), u32>) {
    let Some(Action::Compute { to, arguments, .. }) = loads.remove(&at) else { return };
    let instruction = &mut code.instructions[at];
    let is_forgotten = matches!(instruction.action, Action::Compute { function: Function::Unknown, .. });
    instruction.action = Action::Compute { to, function: Function::Forwarded, arguments };
    code.forwarded.insert(at, Forwarded { is_forgotten, of });
}

/// Copies of code for each time that an instruction is executed.
struct Copies {
    at: usize,
    count: usize,
    /// The instructions of the code.
    length: usize,
}

impl Copies {
    /// Where an instruction stands in a copy. Behind the one that counts there is a jump, at the end an
    /// exit.
    fn moved(&self, copy: usize, at: usize) -> usize {
        copy * (self.length + 2) + at.min(self.length) + usize::from(at > self.at)
    }

    fn lay_out(&self, code: &mut Code, values: &mut Values, loads: &mut Loads) {
        let old = std::mem::take(&mut code.instructions);
        let mut instructions = Vec::with_capacity(self.count * (self.length + 2));
        for copy in 0..self.count {
            for (at, instruction) in old.iter().enumerate() {
                let mut instruction = instruction.clone();
                if let Action::Jump(to) = &mut instruction.action {
                    *to = self.moved(copy, *to);
                }
                let span = instruction.span;
                instructions.push(instruction);
                if at == self.at {
                    let next = (copy + 1).min(self.count - 1);
                    let action = Action::Jump(self.moved(next, at + 1));
                    instructions.push(Instruction { guard: None, action, span });
                }
            }
            let span = old.last().map(|last| last.span).unwrap_or_default();
            instructions.push(Instruction { guard: None, action: Action::Exit, span });
        }
        code.instructions = instructions;
        let each = |all: &BTreeSet<usize>| {
            let copies = |at: &usize| (0..self.count).map(|copy| self.moved(copy, *at)).collect::<Vec<_>>();
            all.iter().flat_map(copies).collect()
        };
        (code.meetings, code.once) = (each(&code.meetings), each(&code.once));
        code.by_pairs = each(&code.by_pairs);
        let copies = |at: usize| (0..self.count).map(move |copy| self.moved(copy, at));
        let all = std::mem::take(loads).into_iter();
        *loads = all.flat_map(|(at, load)| copies(at).map(move |at| (at, load.clone()))).collect();
        let all = std::mem::take(&mut code.forwarded).into_iter();
        code.forwarded = all
            .flat_map(|(at, mut found)| {
                for value in found.of.values_mut() {
                    *value = values.moved(*value, &|at| self.moved(0, at));
                }
                copies(at).map(move |at| (at, found.clone())).collect::<Vec<_>>()
            })
            .collect();
    }
}
