//! vISA: `NBARRIER` and `fence`.

use barcheck_model::program::{NbarrierOp, Op};

use super::role::RoleLowerer;
use crate::bar::ast::Instruction;
use crate::bar::opcode::Opcode;

impl<'a> RoleLowerer<'_, 'a> {
    pub(super) fn nbarrier(&mut self, instruction: &'a Instruction) -> Option<Op> {
        let operands = instruction.operands.as_slice();
        // clause: nbarrier.text-syntax
        match instruction.opcode {
            Opcode::NbarrierSignal => match operands {
                [id, threads] => {
                    let (id, threads) = (self.number(id), self.number(threads));
                    Some(Op::Nbarrier(NbarrierOp::SignalAll { id: id?, threads: threads? }))
                }
                [id, kind, producers, consumers] => {
                    let (id, kind) = (self.number(id), self.number(kind));
                    let (producers, consumers) = (self.number(producers), self.number(consumers));
                    Some(Op::Nbarrier(NbarrierOp::Signal {
                        id: id?,
                        kind: kind?,
                        producers: producers?,
                        consumers: consumers?,
                    }))
                }
                _ => self
                    .wrong_count(instruction, &["id, num_threads", "id, type, num_producers, num_consumers"]),
            },
            Opcode::NbarrierWait => match operands {
                [id] => Some(Op::Nbarrier(NbarrierOp::Wait { id: self.number(id)? })),
                _ => self.wrong_count(instruction, &["id"]),
            },
            Opcode::NbarrierFence(spaces) if operands.is_empty() => Some(Op::Fence(spaces)),
            _ => self.wrong_count(instruction, &[]),
        }
    }
}
