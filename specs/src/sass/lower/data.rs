//! Where operands come from: registers, numbers, constant memory.

use std::collections::BTreeSet;

use crate::kernel::code::{Argument, Function, Memory, Operation};
use crate::sass::chips;
use crate::sass::operand::{Kind, Operand, Register, Sign};
use crate::sass::syntax;

use super::state::{BIT, Current, Lowerer};

/// What the word of constant memory at an offset is called in protocols: a parameter, a part of one, or as
/// the listing calls it.
pub(in crate::sass) fn shown_param(function: &syntax::Function<'_>, bank: u32, offset: i64) -> String {
    match whole_param(function, bank, offset) {
        Some((position, 0)) => format!("param_{position}"),
        Some((position, rest)) => format!("param_{position}+{rest}"),
        None => format!("c[{bank:#x}][{offset:#x}]"),
    }
}

/// Where parameters begin.
fn first_param(function: &syntax::Function<'_>) -> Option<u32> {
    function.about.first_param.or_else(|| chips::first_param(function.chip?))
}

/// The parameter that holds a place in constant memory, and how far from its beginning.
fn whole_param(function: &syntax::Function<'_>, bank: u32, offset: i64) -> Option<(u32, i64)> {
    let inside = offset - i64::from(first_param(function).filter(|_| bank == 0)?);
    let holds = |(at, size): &(u32, u32)| (i64::from(*at)..i64::from(at + size)).contains(&inside);
    let found = function.about.params.iter().find(|(_, place)| holds(place));
    found.map(|(position, (at, _))| (*position, inside - i64::from(*at)))
}

/// The words of constant memory that a function's instructions name.
pub(in crate::sass) fn constants_of(function: &syntax::Function<'_>) -> BTreeSet<(u32, i64)> {
    let mut found = BTreeSet::new();
    for statement in &function.statements {
        for text in statement.operands.iter().filter(|text| text.contains("c[") || text.contains("c [")) {
            if let Kind::Constant(bank, None, offset) = Operand::of(text).kind {
                // Loads may be of two words.
                found.extend([(bank, offset), (bank, offset + 4)]);
            }
        }
    }
    found.extend(function.constants.values().map(|(bank, offset)| (*bank, i64::from(*offset))));
    found
}

impl<'m> Lowerer<'m> {
    /// A word of constant memory.
    pub(super) fn constant(&mut self, bank: u32, offset: i64) -> Argument {
        let function = &self.listing.functions[self.entry];
        let size = function.chip.and_then(chips::size_of_group).filter(|_| bank == 0);
        let direction = size.and_then(|places| places.iter().position(|place| *place == offset));
        if let Some(direction) = direction {
            return Argument::Number(u64::from(self.launch.size[direction]));
        }
        if let Some(of_cluster) = self.cluster_constant(offset, false).filter(|_| bank == 0) {
            return Argument::Number(u64::from(of_cluster));
        }
        let shown = shown_param(function, bank, offset);
        let whole = whole_param(function, bank, offset);
        let plain = self.launch.param(None, &shown);
        let given = plain.or_else(|| {
            let (position, rest) = whole?;
            let value = self.launch.param(Some((position as usize, "")), "")?;
            value.checked_shr(u32::try_from(rest * 8).ok()?)
        });
        match given {
            Some(value) => Argument::Number(value as u64 & 0xffff_ffff),
            None => {
                // Of what is longer than a word this is only the lower half.
                let is_word = |(position, rest): &(u32, i64)| {
                    *rest == 0
                        && whole_param(function, bank, offset + 4).is_none_or(|(next, _)| next != *position)
                };
                let word = whole.filter(is_word).map(|(position, _)| (position as usize, ""));
                let said = self.launch.said(word, &shown);
                let name = self.name(&shown);
                self.code.same(name, said, 32)
            }
        }
    }

    /// What an operand without a sign holds, in 32 bits or as a predicate; the register or constant so many
    /// words behind it. `None` for what is none of them.
    pub(super) fn raw(
        &mut self,
        current: &Current<'m>,
        operand: &Operand<'m>,
        behind: u32,
    ) -> Option<Argument> {
        match operand.kind {
            Kind::Register(register, "" | "64" | "U32" | "32" | "F32") => {
                Some(self.register(current, register, behind))
            }
            Kind::Number(number) if behind == 0 => Some(Argument::Number(number & 0xffff_ffff)),
            Kind::Number(number) => Some(Argument::Number(number >> 32)),
            Kind::Constant(bank, None, offset) => Some(self.constant(bank, offset + i64::from(4 * behind))),
            Kind::Constant(bank, Some(register), offset) => {
                Some(self.indexed(current, (bank, register), offset + i64::from(4 * behind), "b32"))
            }
            _ => None,
        }
    }

    /// A value loaded from constant memory at an address that is computed.
    pub(super) fn indexed(
        &mut self,
        current: &Current<'m>,
        (bank, register): (u32, Register),
        offset: i64,
        ty: &str,
    ) -> Argument {
        if register.number.is_none() && ty == "b32" {
            return self.constant(bank, offset);
        }
        if bank == 0
            && ty == "b32"
            && self.is_counted_from_size(current.at, register)
            && let Some(of_cluster) = self.cluster_constant(offset, true)
        {
            self.is_about_clusters(current);
            return Argument::Number(u64::from(of_cluster));
        }
        let base = self.register(current, register, 0);
        let address =
            self.word(current, Operation::Add, &[base, Argument::Number(offset as u64 & 0xffff_ffff)]);
        let name = Argument::Same(self.name(&format!("c[{bank:#x}].{ty}")));
        self.intermediate(current, Function::Load(Memory::Constant), &[address, name])
    }

    /// The value of an operand as an integer of 32 bits, its sign taken into account.
    pub(super) fn integer(&mut self, current: &Current<'m>, operand: &Operand<'m>) -> Option<Argument> {
        if operand.sign.absolute
            || matches!(operand.kind, Kind::Register(register, _) if register.file.is_predicate())
        {
            return None;
        }
        if matches!(operand.kind, Kind::Register(_, suffix) if !suffix.is_empty()) {
            return None;
        }
        let mut value = self.raw(current, operand, 0)?;
        if operand.sign.inverted {
            value = self.word(current, Operation::Not, &[value]);
        }
        if operand.sign.negated {
            value = self.word(current, Operation::Negate, &[value]);
        }
        Some(value)
    }

    /// The value of an operand as a predicate.
    pub(super) fn predicate(&mut self, current: &Current<'m>, operand: &Operand<'m>) -> Option<Argument> {
        let Kind::Register(register, "") = operand.kind else { return None };
        let sign = Sign { negated: operand.sign.negated, ..Sign::default() };
        if !register.file.is_predicate() || operand.sign != sign {
            return None;
        }
        let value = self.register(current, register, 0);
        if !sign.negated {
            return Some(value);
        }
        Some(match value {
            Argument::Number(number) => Argument::Number(1 - number.min(1)),
            value => self.intermediate(current, Function::Integer(Operation::LogicalNot, BIT), &[value]),
        })
    }
}
