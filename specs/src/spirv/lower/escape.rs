//! Variables whose address is handed on: what they hold is not followed.

use std::collections::{HashMap, HashSet};

use crate::spirv::declarations::Declarations;
use crate::spirv::opcodes::{Effect, op};
use crate::spirv::syntax::{Instruction, Listing};

use super::calls::callee;

/// Pointers that lead into the same variables, as sets of ids.
#[derive(Default)]
struct Classes {
    parents: HashMap<u32, u32>,
}

impl Classes {
    fn find(&mut self, id: u32) -> u32 {
        let mut root = id;
        while let Some(parent) = self.parents.get(&root) {
            root = *parent;
        }
        let mut at = id;
        while at != root {
            let next = self.parents.insert(at, root).unwrap_or(root);
            at = next;
        }
        root
    }

    fn join(&mut self, one: u32, other: u32) {
        let (one, other) = (self.find(one), self.find(other));
        if one != other {
            self.parents.insert(one, other);
        }
    }
}

/// The ids of variables whose address is stored, chosen among others, or handed to what is not followed.
pub(super) fn escaped(listing: &Listing, declarations: &Declarations) -> HashSet<u32> {
    let mut classes = Classes::default();
    let mut handed_on: Vec<u32> = Vec::new();
    for function in &declarations.functions {
        for instruction in &listing.instructions[function.body.clone()] {
            follow(instruction, declarations, &mut classes, &mut handed_on);
        }
    }
    let handed_on: HashSet<u32> = handed_on.into_iter().map(|id| classes.find(id)).collect();
    let variables = listing.instructions.iter().filter(|instruction| instruction.is(op::VARIABLE));
    variables
        .map(|variable| variable.result)
        .filter(|variable| handed_on.contains(&classes.find(*variable)))
        .collect()
}

fn follow(
    instruction: &Instruction,
    declarations: &Declarations,
    classes: &mut Classes,
    handed_on: &mut Vec<u32>,
) {
    let Some(number) = instruction.opcode else { return handed_on.extend(instruction.used()) };
    match number {
        op::ACCESS_CHAIN
        | op::IN_BOUNDS_ACCESS_CHAIN
        | op::PTR_ACCESS_CHAIN
        | op::IN_BOUNDS_PTR_ACCESS_CHAIN
        | op::COPY_OBJECT
        | op::COPY_LOGICAL
        | op::BITCAST
        | op::PTR_CAST_TO_GENERIC
        | op::GENERIC_CAST_TO_PTR => {
            if let Some(base) = instruction.id(0) {
                classes.join(instruction.result, base);
            }
        }
        op::LOAD | op::COPY_MEMORY | op::COPY_MEMORY_SIZED | op::LIFETIME_START | op::LIFETIME_STOP => {}
        op::STORE => handed_on.extend(instruction.id(1)),
        op::FUNCTION_CALL => {
            let callee = callee(instruction).and_then(|callee| declarations.function(callee));
            for (at, argument) in instruction.ids(1).enumerate() {
                match callee.and_then(|callee| callee.params.get(at)) {
                    Some(param) => classes.join(*param, argument),
                    None => handed_on.push(argument),
                }
            }
        }
        _ if instruction.effect() == Effect::Declares => {}
        _ => handed_on.extend(instruction.used()),
    }
}
