//! Registers that hold the address of a parameter, so that what is loaded there is known for what it is, or
//! an address that a parameter is, so that tensor maps are told apart.
//!
//! Compilers take the address of a large parameter once (`mov.b64 %rd1, param_0`) and load parts of it from
//! there on. A register counts if nothing else is ever written to it.

use std::collections::HashMap;

use crate::common::span::Span;
use crate::ptx::syntax::{Base, Body, Function, Instruction, Module, Operand};

/// A parameter, and how many bytes behind its beginning.
pub(super) type Part<'m> = (&'m str, i64);

/// An address that is the same while the kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fixed<'m> {
    /// Of a parameter.
    Param(Part<'m>),
    /// What stands in a parameter, and how many bytes behind that.
    Loaded(Part<'m>, i64),
}

impl<'m> Fixed<'m> {
    pub(super) fn param(&self) -> Option<Part<'m>> {
        match self {
            Self::Param(part) => Some(*part),
            Self::Loaded(..) => None,
        }
    }

    fn further(self, more: i64) -> Self {
        match self {
            Self::Param((name, offset)) => Self::Param((name, offset.wrapping_add(more))),
            Self::Loaded(part, offset) => Self::Loaded(part, offset.wrapping_add(more)),
        }
    }
}

/// Sums are followed through as many registers.
const LONGEST: usize = 8;

/// The registers of an entry that hold such addresses.
pub(super) fn of_params<'m>(source: &'m str, entry: &Function, body: &'m Body) -> HashMap<u32, Fixed<'m>> {
    let mut found = HashMap::new();
    if !body.instructions.iter().any(|it| asks(source, it)) {
        return found;
    }
    let mut writes = vec![0_u32; body.registers.len()];
    for instruction in &body.instructions {
        written(instruction, &mut |register| writes[register as usize] += 1);
    }
    let is_address =
        |operand: &&Operand| matches!(operand, Operand::Register(to, _) if writes[*to as usize] == 1);
    let steps = body.instructions.iter().filter(|it| it.operands.first().as_ref().is_some_and(is_address));
    let steps: Vec<&Instruction> = steps.filter(|it| may_fix(source, it)).collect();
    for _ in 0..LONGEST {
        let before = found.len();
        for instruction in &steps {
            if let [Operand::Register(to, _), operands @ ..] = instruction.operands.as_slice()
                && let Some(fixed) = fixed(source, entry, &found, operands)
            {
                found.insert(*to, fixed);
            }
        }
        if found.len() == before {
            break;
        }
    }
    found
}

/// Whether the code of an entry, or of what it may call, says how large the boxes of tensor maps are.
pub(super) fn changes_boxes(source: &str, module: &Module, entry: usize) -> bool {
    let functions = module.functions.iter().enumerate();
    let comes = functions.filter(|(at, function)| *at == entry || !function.is_entry);
    let bodies = comes.filter_map(|(_, function)| function.body.as_ref());
    bodies.flat_map(|body| &body.instructions).any(|instruction| {
        let mut parts = instruction.opcode.text(source).split('.');
        // What a box is apart from them: where the tensor lies, and how large that is.
        let is_harmless = |part: &str| ["global_address", "global_dim", "global_stride"].contains(&part);
        parts.next() == Some("tensormap") && parts.next() == Some("replace") && !parts.any(is_harmless)
    })
}

/// Whether an instruction may ask for such an address.
fn asks(source: &str, instruction: &Instruction) -> bool {
    let is_asked = |operand: &Operand| {
        matches!(operand, Operand::Within(Base::Register(_), _) | Operand::Address(Base::Register(_), _))
    };
    let opcode = instruction.opcode.text(source);
    let asks = opcode.starts_with("ld.param") || opcode.starts_with("cp.async.bulk.tensor");
    asks && instruction.operands.iter().any(is_asked)
}

/// Whether an instruction may compute an address from another by adding a number, or load it.
fn may_fix(source: &str, instruction: &Instruction) -> bool {
    let mut parts = instruction.opcode.text(source).split('.');
    let ty = parts.clone().next_back().unwrap_or_default();
    let is_long = matches!(ty, "b64" | "u64" | "s64");
    match (parts.next(), parts.next()) {
        // Addresses in windows of 32 bits are made wider.
        (Some("mov"), _) => is_long || matches!(ty, "b32" | "u32"),
        (Some("cvt"), Some("u64")) => ty == "u32",
        (Some("add" | "cvta"), _) => is_long,
        (Some("ld"), Some("param")) => is_long && parts.count() == 1,
        _ => false,
    }
}

fn fixed<'m>(
    source: &'m str,
    entry: &Function,
    found: &HashMap<u32, Fixed<'m>>,
    operands: &[Operand],
) -> Option<Fixed<'m>> {
    let known = |register: &u32| found.get(register).copied();
    let param = |name: &Span| {
        let name = name.text(source);
        entry.params.iter().any(|param| param.name == name).then_some(name)
    };
    match operands {
        [Operand::Name(name)] => Some(Fixed::Param((param(name)?, 0))),
        [Operand::Register(from, false)] => known(from),
        [Operand::Address(Base::Name(name), at)] => Some(Fixed::Loaded((param(name)?, *at), 0)),
        [Operand::Address(Base::Register(from), at)] => {
            Some(Fixed::Loaded(known(from)?.further(*at).param()?, 0))
        }
        [Operand::Register(from, false), Operand::Number(more)]
        | [Operand::Number(more), Operand::Register(from, false)] => Some(known(from)?.further(*more as i64)),
        _ => None,
    }
}

/// The registers that an instruction writes, and perhaps some that it does not.
fn written(instruction: &Instruction, with: &mut impl FnMut(u32)) {
    let is_address =
        |operand: &Operand| matches!(operand, Operand::Address(..) | Operand::Within(..) | Operand::Other);
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
