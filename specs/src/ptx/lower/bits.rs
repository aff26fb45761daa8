//! Instructions that take bits apart and join them, as shifts and the like (PTX ISA, 9.7.1 and 9.7.8).

use crate::kernel::code::{Argument, Comparison, Function, Operation, Type};
use crate::ptx::syntax::Operand;

use super::functions::WORD;
use super::state::{Current, Lowerer};

impl<'m> Lowerer<'m> {
    /// An instruction on bits that is followed; `None` for others.
    pub(super) fn bitwise(&mut self, current: &Current<'m>) -> Option<()> {
        let ty = current.ty().filter(|ty| ty.bits >= 32)?;
        match *current.parts.first()? {
            "brev" => {
                let of = self.source(current, 1)?;
                self.becomes(current, (Operation::ReverseBits, ty), &[of])
            }
            "bfind" => self.highest_bit(current, ty),
            "bfi" => self.inserted(current, ty),
            "shf" => self.funnelled(current),
            "lop3" => self.by_table(current),
            _ => None,
        }
    }

    fn source(&mut self, current: &Current<'m>, at: usize) -> Option<Argument> {
        match current.operands().get(at)? {
            operand @ (Operand::Register(..) | Operand::Number(_) | Operand::Name(_)) => {
                Some(self.argument(current, operand))
            }
            _ => None,
        }
    }

    fn of(
        &mut self,
        current: &Current<'m>,
        (operation, ty): (Operation, Type),
        from: &[Argument],
    ) -> Argument {
        self.intermediate(current, Function::Integer(operation, ty), from)
    }

    fn becomes(
        &mut self,
        current: &Current<'m>,
        (operation, ty): (Operation, Type),
        from: &[Argument],
    ) -> Option<()> {
        let to = self.destination(current)?;
        self.compute(current, to, Function::Integer(operation, ty), from);
        Some(())
    }

    /// `bfind d, a`: the highest bit that is not the sign, from 0, or how far it is to be shifted to be the
    /// highest of all; all ones if there is none.
    fn highest_bit(&mut self, current: &Current<'m>, ty: Type) -> Option<()> {
        let plain = Type { signed: false, ..ty };
        let mut of = self.source(current, 1)?;
        if ty.signed {
            // Of what is negative the bits count that are 0.
            let sign = self.of(
                current,
                (Operation::ShiftRight, ty),
                &[of, Argument::Number(u64::from(ty.bits) - 1)],
            );
            of = self.of(current, (Operation::Xor, plain), &[of, sign]);
        }
        let zeros = self.of(current, (Operation::LeadingZeros, plain), &[of]);
        let last = Argument::Number(u64::from(ty.bits) - 1);
        if !current.has("shiftamt") {
            return self.becomes(current, (Operation::Subtract, WORD), &[last, zeros]);
        }
        let is_none = Operation::Compare(Comparison::Equal);
        let is_none = self.of(current, (is_none, plain), &[of, Argument::Number(0)]);
        self.becomes(current, (Operation::Select, WORD), &[Argument::Number(0xffff_ffff), zeros, is_none])
    }

    /// `bfi f, a, b, c, d`: b with the lowest d bits of a from bit c on.
    fn inserted(&mut self, current: &Current<'m>, ty: Type) -> Option<()> {
        let [a, b] = [self.source(current, 1)?, self.source(current, 2)?];
        let [from, count] = [self.source(current, 3)?, self.source(current, 4)?];
        let byte = Argument::Number(255);
        let from = self.of(current, (Operation::And, WORD), &[from, byte]);
        let count = self.of(current, (Operation::And, WORD), &[count, byte]);
        let end = self.of(current, (Operation::ShiftLeft, ty), &[Argument::Number(1), count]);
        let low = self.of(current, (Operation::Subtract, ty), &[end, Argument::Number(1)]);
        let mask = self.of(current, (Operation::ShiftLeft, ty), &[low, from]);
        let shifted = self.of(current, (Operation::ShiftLeft, ty), &[a, from]);
        let inside = self.of(current, (Operation::And, ty), &[shifted, mask]);
        let others = self.of(current, (Operation::Not, ty), &[mask]);
        let outside = self.of(current, (Operation::And, ty), &[b, others]);
        self.becomes(current, (Operation::Or, ty), &[inside, outside])
    }

    /// `shf.l d, a, b, c` and `shf.r`: the upper or the lower half of the 64 bits `b:a`, shifted.
    fn funnelled(&mut self, current: &Current<'m>) -> Option<()> {
        let [low, high, by] = [1, 2, 3].map(|at| self.source(current, at));
        let (low, high, by) = (low?, high?, by?);
        let (limit, most) = if current.has("wrap") { (Operation::And, 31) } else { (Operation::Minimum, 32) };
        let by = self.of(current, (limit, WORD), &[by, Argument::Number(most)]);
        let rest = self.of(current, (Operation::Subtract, WORD), &[Argument::Number(32), by]);
        let (up, down) = if current.has("l") { (by, rest) } else { (rest, by) };
        let high = self.of(current, (Operation::ShiftLeft, WORD), &[high, up]);
        let low = self.of(current, (Operation::ShiftRight, WORD), &[low, down]);
        self.becomes(current, (Operation::Or, WORD), &[high, low])
    }

    /// `lop3 d, a, b, c, table`: each bit is that bit of the table which the three bits together say.
    fn by_table(&mut self, current: &Current<'m>) -> Option<()> {
        if current.has("BoolOp") || current.parts.len() > 2 {
            return None;
        }
        let [a, b, c] = [1, 2, 3].map(|at| self.source(current, at));
        let Operand::Number(table) = *current.operands().get(4)? else { return None };
        let sources = [a?, b?, c?];
        let turned = sources.map(|source| self.of(current, (Operation::Not, WORD), &[source]));
        let mut all = Argument::Number(0);
        for row in (0..8).filter(|row| table >> row & 1 == 1) {
            let [a, b, c] =
                [0, 1, 2].map(|at| if row >> (2 - at) & 1 == 1 { sources[at] } else { turned[at] });
            let both = self.of(current, (Operation::And, WORD), &[a, b]);
            let these = self.of(current, (Operation::And, WORD), &[both, c]);
            all = self.of(current, (Operation::Or, WORD), &[all, these]);
        }
        self.becomes(current, (Operation::Or, WORD), &[all, Argument::Number(0)])
    }
}
