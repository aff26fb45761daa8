//! `USETMAXREG`: registers that warps give to the pool of their CTA and take from it.
//!
//! No specification says what it does. Compilers make it of `setmaxnreg`: a `.DEALLOC`, or a `.TRY_ALLOC`
//! that is tried again until its answer is yes.

use crate::kernel::code::{Argument, Function, Operation};
use crate::kernel::registers;
use crate::sass::operand::Kind;

use super::routes::{Route, route};
use super::state::{BIT, Current, Lowerer};

/// Instructions between a trial and the jump back to it.
const NEAR: usize = 4;

impl<'m> Lowerer<'m> {
    pub(super) fn registers(&mut self, current: &Current<'m>) {
        if self.registers_step(current).is_none() {
            self.beyond(current, &format!("`{}`, as it is written here", current.statement.opcode));
        }
    }

    fn registers_step(&mut self, current: &Current<'m>) -> Option<()> {
        let count = |kind: &Kind<'_>| match kind {
            Kind::Number(number) => Some(Argument::Number(*number)),
            _ => None,
        };
        match (current.parts.as_slice(), current.operands.as_slice()) {
            (["DEALLOC", "CTAPOOL"], [number]) => {
                self.emit(current, registers::step(false, count(&number.kind)?));
            }
            (["TRY_ALLOC", "CTAPOOL"], [answer, number]) => {
                let register = answer.plain().filter(|register| register.file.is_predicate())?;
                self.is_tried_again(current).then_some(())?;
                self.emit(current, registers::step(true, count(&number.kind)?));
                let to = self.cell(register.file, register.number?);
                let copy = Function::Integer(Operation::Convert(BIT), BIT);
                self.compute(current, to, copy, &[Argument::Number(1)]);
            }
            _ => return None,
        }
        Some(())
    }

    /// Whether a jump behind the trial leads back to it: if the answer is no, or it all goes on for ever.
    fn is_tried_again(&self, current: &Current<'m>) -> bool {
        let statements = &self.function().statements;
        let leads_back = |at: usize| match route(self.listing, self.here(), at) {
            Route::Jump(to) if to <= current.at => statements[to..current.at]
                .iter()
                .all(|between| ["NOP", "WARPSYNC.ALL"].contains(&between.opcode)),
            _ => false,
        };
        let last = statements.len().min(current.at + 1 + NEAR);
        (current.at + 1..last).any(leads_back)
    }
}
