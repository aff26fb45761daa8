//! What an invocation knows of itself and its group.

use crate::common::span::Span;
use crate::kernel::code::{Argument, Function, Index, Operation};
use crate::spirv::words::Builtin;

use super::state::Lowerer;
use super::values::LONG;

impl Lowerer<'_> {
    /// A number of a builtin: one of three directions, or the only one.
    pub(super) fn builtin(&mut self, builtin: Builtin, at: usize, span: Span) -> Argument {
        let direction = u8::try_from(at.min(2)).unwrap_or(2);
        let letter = ["x", "y", "z"][at.min(2)];
        let length = u64::from(self.launch.size[at.min(2)]);
        let of = |operation| Function::Integer(operation, LONG);
        let count = u64::from(self.launch.count());
        match builtin {
            Builtin::WorkgroupSize => Argument::Number(length),
            Builtin::WorkgroupId => self.same(&format!("%WorkgroupId.{letter}")),
            Builtin::LocalInvocationId => Argument::Index(Index::Thread(direction)),
            Builtin::GlobalInvocationId => {
                let group = self.same(&format!("%WorkgroupId.{letter}"));
                let offset = self.same(&format!("%GlobalOffset.{letter}"));
                let first =
                    self.intermediate(span, of(Operation::Multiply), &[group, Argument::Number(length)]);
                let here = Argument::Index(Index::Thread(direction));
                let inside = self.intermediate(span, of(Operation::Add), &[first, here]);
                self.intermediate(span, of(Operation::Add), &[inside, offset])
            }
            Builtin::LocalInvocationIndex => self.index(span),
            Builtin::SubgroupSize => match self.subgroup {
                Some(size) if count.is_multiple_of(size) => Argument::Number(size),
                _ => self.unknown(span),
            },
            Builtin::NumSubgroups => match self.subgroup {
                Some(size) => Argument::Number(count.div_ceil(size)),
                None => self.same("%NumSubgroups"),
            },
            Builtin::SubgroupId | Builtin::SubgroupLocalInvocationId => match self.subgroup {
                Some(size) => {
                    let operation =
                        if builtin == Builtin::SubgroupId { Operation::Divide } else { Operation::Remainder };
                    let index = self.index(span);
                    self.intermediate(span, of(operation), &[index, Argument::Number(size)])
                }
                None => self.unknown(span),
            },
            Builtin::Same(name) => self.same(&format!("%{name}.{letter}")),
            Builtin::Other => self.unknown(span),
        }
    }

    /// The position of the invocation in its group.
    fn index(&mut self, span: Span) -> Argument {
        let [x, y, _] = self.launch.size.map(u64::from);
        let of = |operation| Function::Integer(operation, LONG);
        let mut sum = Argument::Index(Index::Thread(0));
        for (direction, before) in [(1, x), (2, x * y)] {
            let here = Argument::Index(Index::Thread(direction));
            let part = self.intermediate(span, of(Operation::Multiply), &[here, Argument::Number(before)]);
            sum = self.intermediate(span, of(Operation::Add), &[sum, part]);
        }
        sum
    }
}
