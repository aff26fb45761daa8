//! `setmaxnreg`: registers that warps give to the pool of their CTA and take from it.
//!
//! Source: PTX ISA, section `setmaxnreg`.

use crate::kernel::code::Code;
use crate::kernel::registers::{self, Compiled};
use crate::module::Launch;
use crate::ptx::syntax::{Function, Operand};

use super::state::{Current, Lowerer};

impl<'m> Lowerer<'m> {
    /// `setmaxnreg.inc` and `.dec`.
    pub(super) fn registers(&mut self, current: &Current<'m>) {
        let takes = current.has("inc");
        match current.operands() {
            [count @ Operand::Number(_)] if takes || current.has("dec") => {
                let count = self.argument(current, count);
                self.emit(current, registers::step(takes, count));
            }
            _ => self.beyond(current, &format!("`{}`, as it is written here", current.opcode)),
        }
    }
}

/// The registers with which each thread begins, where the code gives or takes any.
pub(in crate::ptx) fn each(code: &mut Code, function: &Function, launch: &Launch) -> Option<u32> {
    let bound = function.required.or(function.most);
    let threads: u32 = bound.map_or(1, |extent| extent.size.iter().product());
    // Those of other CTAs on the multiprocessor are not there for this one.
    let beside = function.beside.unwrap_or(1).max(1);
    let compiled = Compiled {
        given: function.registers,
        threads: threads.max(launch.count()).saturating_mul(beside),
        // As ptxas 13.0 does it.
        would_say: match function.beside {
            Some(_) => ", which `.maxnreg` would say",
            None => ", by an option: without that, `.maxnreg` or `.minnctapersm` it would be left out",
        },
    };
    registers::each(code, compiled)
}
