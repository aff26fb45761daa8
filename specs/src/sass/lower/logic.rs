//! Functions of bits that are given by a table: `LOP3.LUT`, `PLOP3.LUT`.

use crate::kernel::code::{Argument, Function, Operation, Type};
use crate::sass::operand::{Kind, Operand};

use super::arithmetic::copy;
use super::results::Results;
use super::state::{BIT, Current, Lowerer, WORD};

impl<'m> Lowerer<'m> {
    /// The result of `LOP3.LUT` or `LOP.AND`.
    pub(super) fn logic(&mut self, current: &Current<'m>, sources: &[Operand<'m>]) -> Option<Argument> {
        if current.root == "LOP3" || current.root == "ULOP3" {
            let (table, values) = self.table(current, sources)?;
            return Some(self.by_table(current, table, values, WORD));
        }
        let [a, b] = sources else { return None };
        let (a, b) = (self.integer(current, a)?, self.integer(current, b)?);
        let operation = match *current.parts.first()? {
            "AND" => Operation::And,
            "OR" => Operation::Or,
            "XOR" => Operation::Xor,
            "PASS_B" => return Some(b),
            _ => return None,
        };
        (current.parts.len() == 1).then(|| self.word(current, operation, &[a, b]))
    }

    /// The table and the three values. Behind them may stand a predicate that concerns another result.
    fn table(&mut self, current: &Current<'m>, sources: &[Operand<'m>]) -> Option<(u8, [Argument; 3])> {
        let [a, b, c, Operand { kind: Kind::Number(table), .. }, ..] = sources else { return None };
        let values = [self.integer(current, a)?, self.integer(current, b)?, self.integer(current, c)?];
        Some((u8::try_from(*table).ok()?, values))
    }

    /// `LOP3.LUT P0, RZ, R1, 0x1, RZ, 0xc0, !PT`: whether any bit is set.
    pub(super) fn tests_bits(&mut self, current: &Current<'m>, results: &Results) -> Option<()> {
        let sources = &current.operands[results.behind..];
        let ([test, result], true) = (results.all.as_slice(), current.root.ends_with("LOP3")) else {
            return None;
        };
        let adds_nothing = self.predicate(current, sources.get(4)?)? == Argument::Number(0);
        if !adds_nothing || current.parts != ["LUT"] {
            return None;
        }
        let (table, values) = self.table(current, sources)?;
        let value = self.by_table(current, table, values, WORD);
        let truth = self.truth(current, value);
        for (result, value, ty) in [(*result, value, WORD), (*test, truth, BIT)] {
            for cell in self.cells(result) {
                self.compute(current, cell, copy(ty), &[value]);
            }
        }
        Some(())
    }

    /// The function of three values that a table gives: bit 4a + 2b + c of it is the result.
    pub(super) fn by_table(
        &mut self,
        current: &Current<'m>,
        table: u8,
        [a, b, c]: [Argument; 3],
        ty: Type,
    ) -> Argument {
        let of = |c: u8| {
            let bit = |ab: u8| table >> (2 * ab + c) & 1;
            bit(0) | bit(1) << 1 | bit(2) << 2 | bit(3) << 3
        };
        let (without, with) = (of(0), of(1));
        let mut two = |table: u8| self.of_two(current, table, [a, b], ty);
        if without == with || c == Argument::Number(0) {
            return two(without);
        }
        let (low, high) = (two(without), two(with));
        // Where c turns over a bit of a or b: `a ^ (b & c)`.
        if [0b1100, 0b1010].contains(&(without ^ with)) && [0b1100, 0b1010].contains(&without) {
            let turned = self.of_two(current, without ^ with, [a, b], ty);
            let turned = self.bits(current, Operation::And, &[turned, c], ty);
            return self.bits(current, Operation::Xor, &[low, turned], ty);
        }
        let all = Argument::Number(if ty.bits == 1 { 1 } else { 0xffff_ffff });
        match (without, with) {
            (0, _) => self.bits(current, Operation::And, &[high, c], ty),
            (_, 0b1111) => self.bits(current, Operation::Or, &[low, c], ty),
            _ if without == !with & 0b1111 => self.bits(current, Operation::Xor, &[low, c], ty),
            _ => {
                let high = self.bits(current, Operation::And, &[high, c], ty);
                let other = self.bits(current, Operation::Xor, &[c, all], ty);
                let low = self.bits(current, Operation::And, &[low, other], ty);
                self.bits(current, Operation::Or, &[low, high], ty)
            }
        }
    }

    /// The function of two values: bit 2a + b of a table is the result.
    fn of_two(&mut self, current: &Current<'m>, table: u8, [a, b]: [Argument; 2], ty: Type) -> Argument {
        let all = Argument::Number(if ty.bits == 1 { 1 } else { 0xffff_ffff });
        let mut bits = |operation, arguments: &[Argument]| self.bits(current, operation, arguments, ty);
        match table & 0b1111 {
            0b0000 => Argument::Number(0),
            0b1111 => all,
            0b1100 => a,
            0b1010 => b,
            0b0011 => bits(Operation::Xor, &[a, all]),
            0b0101 => bits(Operation::Xor, &[b, all]),
            0b1000 => bits(Operation::And, &[a, b]),
            0b1110 => bits(Operation::Or, &[a, b]),
            0b0110 => bits(Operation::Xor, &[a, b]),
            0b0111 | 0b0001 | 0b1001 => {
                let operation = match table & 0b1111 {
                    0b0111 => Operation::And,
                    0b0001 => Operation::Or,
                    _ => Operation::Xor,
                };
                let value = bits(operation, &[a, b]);
                bits(Operation::Xor, &[value, all])
            }
            0b0100 | 0b1101 => {
                let other = bits(Operation::Xor, &[b, all]);
                let operation = if table & 0b1111 == 0b0100 { Operation::And } else { Operation::Or };
                bits(operation, &[a, other])
            }
            _ => {
                let other = bits(Operation::Xor, &[a, all]);
                let operation = if table & 0b1111 == 0b0010 { Operation::And } else { Operation::Or };
                bits(operation, &[other, b])
            }
        }
    }

    fn bits(
        &mut self,
        current: &Current<'m>,
        operation: Operation,
        arguments: &[Argument],
        ty: Type,
    ) -> Argument {
        let ones = if ty.bits == 1 { 1 } else { 0xffff_ffff };
        let folded = match (operation, arguments) {
            (Operation::And, [Argument::Number(0), _] | [_, Argument::Number(0)]) => {
                Some(Argument::Number(0))
            }
            (Operation::And, [Argument::Number(all), other] | [other, Argument::Number(all)])
                if *all == ones =>
            {
                Some(*other)
            }
            (Operation::Or | Operation::Xor, [Argument::Number(0), other] | [other, Argument::Number(0)]) => {
                Some(*other)
            }
            (Operation::Or, [Argument::Number(all), _] | [_, Argument::Number(all)]) if *all == ones => {
                Some(Argument::Number(ones))
            }
            (Operation::Xor, [Argument::Number(a), Argument::Number(b)]) => Some(Argument::Number(a ^ b)),
            (Operation::Xor, [value, Argument::Number(1)]) if ty.bits == 1 => {
                return self.intermediate(current, Function::Integer(Operation::LogicalNot, BIT), &[*value]);
            }
            _ => None,
        };
        folded.unwrap_or_else(|| self.intermediate(current, Function::Integer(operation, ty), arguments))
    }
}
