//! What a subgroup knows of itself and its group.

use crate::kernel::code::{Argument, Function, Index, Operation as Op};
use crate::xegpu::syntax::Operation;

use super::state::{LONG, Lowerer, copy};

impl<'s> Lowerer<'_, 's> {
    /// Operations that say where this is; whether it was one.
    pub(super) fn index(&mut self, operation: &Operation<'s>) -> bool {
        let span = operation.span;
        let of = |letter: &str| ["x", "y", "z"].iter().position(|known| *known == letter);
        let generic = || {
            let dimension = operation.word(self.source, "dimension").map(str::to_owned);
            dimension.or_else(|| {
                // `dimension = #gpu<dim x>`
                let at = operation.find(self.source, "dim")?;
                Some(operation.text(self.source, at + 1).to_owned())
            })
        };
        let letter = if operation.is_generic {
            let at =
                operation.find(self.source, "dim").map(|at| operation.text(self.source, at + 1).to_owned());
            at.or_else(generic).unwrap_or_default()
        } else {
            operation.text(self.source, 0).to_owned()
        };
        let direction = of(&letter);
        let value = match (operation.name, direction) {
            ("gpu.subgroup_id", _) => self.subgroup(span),
            ("gpu.num_subgroups", _) => Argument::Number(u64::from(self.agents.count())),
            ("gpu.subgroup_size", _) => self.same("%subgroup_size"),
            ("gpu.thread_id", Some(direction)) => self.thread(direction, span),
            ("gpu.block_dim", Some(direction)) => Argument::Number(u64::from(self.launch.size[direction])),
            ("gpu.block_id" | "gpu.grid_dim", Some(_)) => {
                self.same(&format!("%{}_{letter}", &operation.name[4..]))
            }
            ("gpu.global_id", Some(direction)) => {
                let block = self.same(&format!("%block_id_{letter}"));
                let length = Argument::Number(u64::from(self.launch.size[direction]));
                let here = self.thread(direction, span);
                let first = self.intermediate(span, Function::Integer(Op::Multiply, LONG), &[block, length]);
                self.intermediate(span, Function::Integer(Op::Add, LONG), &[first, here])
            }
            _ => return false,
        };
        self.put(operation, copy(LONG), &[value]);
        true
    }

    /// The index of the thread in a direction, if a thread is a subgroup.
    fn thread(&mut self, direction: usize, span: crate::common::span::Span) -> Argument {
        if self.agents.threads > 1 {
            return self.unknown(span);
        }
        Argument::Index(Index::Thread(u8::try_from(direction).unwrap_or(2)))
    }

    /// The index of the subgroup in its group.
    fn subgroup(&mut self, span: crate::common::span::Span) -> Argument {
        let [x, y, _] = self.agents.size.map(u64::from);
        let mut sum = Argument::Index(Index::Thread(0));
        for (direction, before) in [(1, x), (2, x * y)] {
            let here = Argument::Index(Index::Thread(direction));
            let before = Argument::Number(before);
            let part = self.intermediate(span, Function::Integer(Op::Multiply, LONG), &[here, before]);
            sum = self.intermediate(span, Function::Integer(Op::Add, LONG), &[sum, part]);
        }
        sum
    }
}
