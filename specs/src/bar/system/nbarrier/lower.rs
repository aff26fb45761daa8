//! What vISA's instructions lower to.

use barcheck_model::program::{Fence, NbarrierOp, Op};

use super::{MNEMONICS, Operation};
use crate::bar::ast::Instruction;
use crate::bar::lower::RoleLowerer;

impl<'a> RoleLowerer<'_, 'a> {
    pub(in crate::bar::system) fn nbarrier(&mut self, instruction: &'a Instruction) -> Option<Op> {
        let operands = instruction.operands.as_slice();
        // clause: nbarrier.text-syntax
        match MNEMONICS.operation(instruction.opcode) {
            Operation::Signal => match operands {
                [id, threads] => {
                    let (id, threads) = (self.number(id), self.number(threads));
                    Some(Op::from(NbarrierOp::SignalAll { id: id?, threads: threads? }))
                }
                [id, kind, producers, consumers] => {
                    let (id, kind) = (self.number(id), self.number(kind));
                    let (producers, consumers) = (self.number(producers), self.number(consumers));
                    Some(Op::from(NbarrierOp::Signal {
                        id: id?,
                        kind: kind?,
                        producers: producers?,
                        consumers: consumers?,
                    }))
                }
                _ => self
                    .wrong_count(instruction, &["id, num_threads", "id, type, num_producers, num_consumers"]),
            },
            Operation::Wait => match operands {
                [id] => Some(Op::from(NbarrierOp::Wait { id: self.number(id)? })),
                _ => self.wrong_count(instruction, &["id"]),
            },
            Operation::Fence(spaces) if operands.is_empty() => Some(Op::Fence(Fence::Publishes(spaces))),
            Operation::Fence(_) => self.wrong_count(instruction, &[]),
        }
    }
}
