//! Registers that hold the address of a parameter, so that what is loaded there is known for what it is.
//!
//! Compilers take the address of a large parameter once (`mov.b64 %rd1, param_0`) and load parts of it from
//! there on. A register counts if nothing else is ever written to it.

use std::collections::HashMap;

use crate::ptx::syntax::{Base, Body, Function, Instruction, Operand};

/// A parameter, and how many bytes behind its beginning.
pub(super) type Part<'m> = (&'m str, i64);

/// Sums are followed through as many registers.
const LONGEST: usize = 8;

/// The registers of an entry that hold addresses of its parameters.
pub(super) fn of_params<'m>(source: &'m str, entry: &Function, body: &'m Body) -> HashMap<u32, Part<'m>> {
    let mut found = HashMap::new();
    if !body.instructions.iter().any(|it| loads_by_register(source, it)) {
        return found;
    }
    let mut writes = vec![0_u32; body.registers.len()];
    for instruction in &body.instructions {
        written(instruction, &mut |register| writes[register as usize] += 1);
    }
    let is_address =
        |operand: &&Operand| matches!(operand, Operand::Register(to, _) if writes[*to as usize] == 1);
    let sums = body.instructions.iter().filter(|it| it.operands.first().as_ref().is_some_and(is_address));
    let sums: Vec<&Instruction> = sums.filter(|it| is_sum(source, it)).collect();
    for _ in 0..LONGEST {
        let before = found.len();
        for instruction in &sums {
            if let [Operand::Register(to, _), operands @ ..] = instruction.operands.as_slice()
                && let Some(part) = sum(source, entry, &found, operands)
            {
                found.insert(*to, part);
            }
        }
        if found.len() == before {
            break;
        }
    }
    found
}

fn loads_by_register(source: &str, instruction: &Instruction) -> bool {
    let by_register = |operand: &Operand| matches!(operand, Operand::Address(Base::Register(_), _));
    instruction.operands.iter().any(by_register) && instruction.opcode.text(source).starts_with("ld.param")
}

/// Whether an instruction may compute an address of 64 bits from another by adding a number.
fn is_sum(source: &str, instruction: &Instruction) -> bool {
    let opcode = instruction.opcode.text(source);
    matches!(opcode, "mov.b64" | "mov.u64" | "mov.s64" | "add.s64" | "add.u64")
}

fn sum<'m>(
    source: &'m str,
    entry: &Function,
    found: &HashMap<u32, Part<'m>>,
    operands: &[Operand],
) -> Option<Part<'m>> {
    let known = |register: &u32| found.get(register).copied();
    match operands {
        [Operand::Name(name)] => {
            let name = name.text(source);
            entry.params.iter().any(|param| param.name == name).then_some((name, 0))
        }
        [Operand::Register(from, false)] => known(from),
        [Operand::Register(from, false), Operand::Number(more)]
        | [Operand::Number(more), Operand::Register(from, false)] => {
            let (name, offset) = known(from)?;
            Some((name, offset.wrapping_add(*more as i64)))
        }
        _ => None,
    }
}

/// The registers that an instruction writes, and perhaps some that it does not.
fn written(instruction: &Instruction, with: &mut impl FnMut(u32)) {
    let is_address = |operand: &Operand| matches!(operand, Operand::Address(..) | Operand::Other);
    let operands = &instruction.operands;
    let count = operands.iter().position(is_address).unwrap_or(1).max(1).min(operands.len());
    operands[..count].iter().for_each(|operand| registers(operand, with));
}

fn registers(operand: &Operand, with: &mut impl FnMut(u32)) {
    match operand {
        Operand::Register(register, _) => with(*register),
        Operand::Pair(one, other) => [one, other].into_iter().flatten().for_each(|it| with(*it)),
        // Groups are no deeper than the reader lets them be.
        Operand::Group(operands) => operands.iter().for_each(|operand| registers(operand, with)),
        _ => {}
    }
}
