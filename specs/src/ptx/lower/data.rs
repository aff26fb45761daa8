//! Loads, stores and the exchange of values between lanes.

use crate::kernel::code::{Argument, Function, Memory, Operation, Register, Type};
use crate::ptx::params::shown_param;
use crate::ptx::syntax::{Base, Operand};

use super::addresses::Fixed;
use super::functions::{LONG, copy};
use super::state::{Current, Lowerer};
use super::types;

/// Where an instruction loads from or stores to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    Param,
    Memory(Memory),
    /// Local memory, which differs from thread to thread, or what may be any.
    Other,
}

pub(super) fn space(current: &Current<'_>) -> Space {
    let of = |part: &&str| match part.split("::").next().unwrap_or_default() {
        "param" => Some(Space::Param),
        "const" => Some(Space::Memory(Memory::Constant)),
        "shared" => Some(Space::Memory(Memory::Shared)),
        "global" => Some(Space::Memory(Memory::Global)),
        "local" => Some(Space::Other),
        _ => None,
    };
    // What is read by `ldu` or `.nc` is promised not to be written.
    let is_constant = current.has("nc") || current.parts.first() == Some(&"ldu");
    match current.parts.iter().skip(1).find_map(of) {
        Some(Space::Memory(Memory::Global)) if is_constant => Space::Memory(Memory::Constant),
        Some(space) => space,
        None => Space::Other,
    }
}

impl<'m> Lowerer<'m> {
    pub(super) fn load(&mut self, current: &Current<'m>) {
        let space = space(current);
        let address = current.operands().iter().find_map(|operand| match operand {
            Operand::Address(base, offset) => Some((*base, *offset)),
            _ => None,
        });
        let written = self.written(current);
        // Pairs of a value and a predicate do not come with addresses; a vector's sinks are counted.
        let plain = matches!(
            current.operands(),
            [Operand::Register(..) | Operand::Group(_), Operand::Address(..)]
                | [Operand::Register(..) | Operand::Group(_), Operand::Address(..), _]
        );
        let Some((base, offset)) = address.filter(|_| plain) else {
            return self.opaque(current, Function::Unknown);
        };
        let last = current.parts.last().copied().unwrap_or_default();
        let size = types::bytes(last);
        let sinks = matches!(&current.operands()[0], Operand::Group(parts) if parts.len() != written.len());
        let (Some(size), false) = (size, sinks) else { return self.opaque(current, Function::Unknown) };
        for (index, to) in (0_i64..).zip(written) {
            self.load_one(current, to, (space, base), offset.wrapping_add(index * size), last);
        }
    }

    fn load_one(
        &mut self,
        current: &Current<'m>,
        to: Register,
        (space, base): (Space, Base),
        offset: i64,
        ty: &'m str,
    ) {
        let part = match base {
            _ if space != Space::Param => None,
            Base::Name(span) => Some((self.text(span), offset)),
            Base::Register(register) => {
                let part = self.frame().addresses.get(&register).and_then(Fixed::param);
                part.map(|(name, from)| (name, from.wrapping_add(offset)))
            }
            Base::Number => None,
        };
        if let Some((name, offset)) = part {
            let value = self.param(name, offset, types::integer(ty).map_or(0, |ty| ty.bits));
            // What is not an integer is the same all the same.
            let function =
                types::integer(ty).map_or(Function::Integer(Operation::Convert(LONG), LONG), |ty| {
                    let bits = self.code.bits.get(to as usize).copied().filter(|bits| *bits <= 64);
                    // Into a register that is wider the sign goes on.
                    let bits = bits.filter(|bits| ty.signed && *bits > ty.bits).unwrap_or(ty.bits);
                    Function::Integer(Operation::Convert(ty), Type { bits, ..ty })
                });
            return self.compute(current, to, function, &[value]);
        }
        let memory = match space {
            Space::Param => Memory::Constant,
            Space::Memory(Memory::Shared) => Memory::Shared,
            // A value that others are told to look at may be written by them.
            Space::Memory(_) if is_watched(current) => {
                return self.compute(current, to, Function::Unknown, &[]);
            }
            Space::Memory(memory) => memory,
            Space::Other => return self.compute(current, to, Function::Unknown, &[]),
        };
        let address = self.address(current, base, offset);
        let name = Argument::Same(self.name(ty));
        self.compute(current, to, Function::Load(memory), &[address, name]);
    }

    /// What an address is counted from.
    pub(super) fn base(&mut self, current: &Current<'m>, base: Base) -> Argument {
        match base {
            Base::Register(register) => Argument::Register(self.register(register)),
            Base::Name(span) => self.named(current, self.text(span)),
            Base::Number => Argument::Number(0),
        }
    }

    /// An address with its offset.
    pub(super) fn address(&mut self, current: &Current<'m>, base: Base, offset: i64) -> Argument {
        let base = self.base(current, base);
        let sum = Function::Integer(Operation::Add, LONG);
        self.intermediate(current, sum, &[base, Argument::Number(offset as u64)])
    }

    /// A parameter of the entry or of a function that is being laid out.
    fn param(&mut self, name: &'m str, offset: i64, bits: u8) -> Argument {
        let (frame, name) = self.passed(name);
        let is_of_entry = frame == 0 && self.is_param_of_entry(name);
        if !is_of_entry {
            return Argument::Register(self.cell(frame, name, offset));
        }
        let entry = &self.module.functions[self.frames[0].function];
        let shown = shown_param(name, offset, &entry.name);
        let position = entry.params.iter().position(|param| param.name == name);
        let whole = position.filter(|_| offset == 0).map(|position| (position, name));
        match self.launch.param(whole, &shown) {
            Some(value) => Argument::Number(value as u64),
            None => {
                let said = self.launch.said(whole, &shown).filter(|_| bits >= 32);
                let name = self.name(&shown);
                self.code.same(name, said, bits)
            }
        }
    }

    fn is_param_of_entry(&self, name: &str) -> bool {
        let entry = self.frames.first().map(|frame| &self.module.functions[frame.function]);
        entry.is_some_and(|entry| entry.params.iter().any(|param| param.name == name))
    }

    /// A store writes no register, unless it passes a parameter.
    pub(super) fn store(&mut self, current: &Current<'m>) {
        let is_param = current.opcode.starts_with("st.param");
        let (true, [Operand::Address(Base::Name(span), offset), value]) = (is_param, current.operands())
        else {
            return self.changes(current);
        };
        let name = self.text(*span);
        let size = current.parts.last().and_then(|ty| types::bytes(ty)).unwrap_or(8);
        let values: &[Operand] = match value {
            Operand::Group(values) => values,
            value => std::slice::from_ref(value),
        };
        for (index, value) in (0_i64..).zip(values) {
            let value = self.argument(current, value);
            let (frame, name) = self.passed(name);
            let cell = self.cell(frame, name, offset.wrapping_add(index * size));
            self.compute(current, cell, copy(LONG), &[value]);
        }
    }

    pub(super) fn lanes(&mut self, current: &Current<'m>) {
        let done = match current.parts.as_slice() {
            ["elect", ..] => self.elect(current),
            ["shfl", "idx" | "sync", ..] if current.has("idx") => self.broadcast(current),
            ["vote", ..] if current.has("all") || current.has("any") => self.vote(current),
            ["vote", ..] => {
                self.opaque(current, Function::OfWarp);
                Some(())
            }
            _ => None,
        };
        if done.is_none() {
            self.opaque(current, Function::Unknown);
        }
    }

    fn elect(&mut self, current: &Current<'m>) -> Option<()> {
        let Operand::Pair(lane, leader) = current.operands().first()? else { return None };
        if let Some(lane) = lane {
            let to = self.register(*lane);
            self.compute(current, to, Function::OfWarp, &[]);
        }
        let mask = self.argument(current, current.operands().get(1)?);
        let to = self.register((*leader)?);
        self.compute(current, to, Function::Elect, &[mask]);
        Some(())
    }

    /// `shfl.sync.idx.b32 d|p, a, lane, 31, -1`: every lane gets the value of one.
    fn broadcast(&mut self, current: &Current<'m>) -> Option<()> {
        let operands = current.operands();
        let (to, found) = match operands.first()? {
            Operand::Register(to, false) => (*to, None),
            Operand::Pair(to, found) => ((*to)?, *found),
            _ => return None,
        };
        let value = self.argument(current, operands.get(1)?);
        let lane = self.argument(current, operands.get(2)?);
        let clamp = self.argument(current, operands.get(3)?);
        let to = self.register(to);
        self.compute(current, to, Function::Broadcast, &[value, lane, clamp]);
        if let Some(found) = found {
            let found = self.register(found);
            self.compute(current, found, Function::Unknown, &[]);
        }
        Some(())
    }

    fn vote(&mut self, current: &Current<'m>) -> Option<()> {
        let operands = current.operands();
        let Operand::Register(to, false) = operands.first()? else { return None };
        let value = self.argument(current, operands.get(1)?);
        let to = self.register(*to);
        self.compute(current, to, Function::Vote, &[value]);
        Some(())
    }
}

/// Whether a load is one of those by which threads wait for what others write.
fn is_watched(current: &Current<'_>) -> bool {
    ["volatile", "relaxed", "acquire", "mmio"].iter().any(|word| current.has(word))
}
