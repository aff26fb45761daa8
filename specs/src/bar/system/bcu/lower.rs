//! What the BCU's instructions lower to.

use barcheck_model::program::{BcuOp, BcuOperand, BcuRedOperands, Expr, LocalId, Op, Predicate, ReductionOp};

use super::registers::{Register, register};
use super::{MNEMONICS, Operation};
use crate::bar::ast::{Instruction, Operand};
use crate::bar::lower::{RoleLowerer, name_of};
use crate::common::lint::Lint;

impl<'a> RoleLowerer<'_, 'a> {
    pub(in crate::bar::system) fn bcu(&mut self, instruction: &'a Instruction) -> Option<Op> {
        let op = match MNEMONICS.operation(instruction.opcode) {
            Operation::Sync => self.bcu_sync(instruction),
            Operation::Arv => match instruction.operands.as_slice() {
                [id, count] => {
                    let (id, count) = (self.bcu_operand(id), self.bcu_operand(count));
                    Some(BcuOp::Arv { id: id?, count: count? })
                }
                _ => self.wrong_count(instruction, &["id, cnt"]),
            },
            Operation::Red(op) => self.bcu_red(instruction, op),
            Operation::B2rResult => self.bcu_result(instruction, true),
            Operation::BarResult => self.bcu_result(instruction, false),
            Operation::B2r => match instruction.operands.as_slice() {
                [dest, id] => {
                    let (dest, id) = (self.general_dest(dest), self.immediate(id));
                    Some(BcuOp::ReadBarrier { dest: dest?, id: id? })
                }
                _ => self.wrong_count(instruction, &["Rd, id"]),
            },
            Operation::B2rWarp => match instruction.operands.as_slice() {
                [dest] => Some(BcuOp::ReadWarp { dest: self.general_dest(dest)?, id: None }),
                [dest, id] => {
                    let (dest, id) = (self.general_dest(dest), self.immediate(id));
                    Some(BcuOp::ReadWarp { dest: dest?, id: Some(id?) })
                }
                _ => self.wrong_count(instruction, &["Rd[, id]"]),
            },
            Operation::R2b => match instruction.operands.as_slice() {
                [id, source] => {
                    let (id, source) = (self.immediate(id), self.general_source(source));
                    Some(BcuOp::WriteBarrier { id: id?, source: source? })
                }
                _ => self.wrong_count(instruction, &["id, Ra"]),
            },
            Operation::R2bWarp => match instruction.operands.as_slice() {
                [source] => Some(BcuOp::WriteWarp { id: None, source: self.general_source(source)? }),
                [id, source] => {
                    let (id, source) = (self.immediate(id), self.general_source(source));
                    Some(BcuOp::WriteWarp { id: Some(id?), source: source? })
                }
                _ => self.wrong_count(instruction, &["[id,] Ra"]),
            },
        };
        op.map(Op::from)
    }

    fn bcu_sync(&mut self, instruction: &'a Instruction) -> Option<BcuOp> {
        match instruction.operands.as_slice() {
            [id] => Some(BcuOp::Sync { id: self.bcu_operand(id)?, count: None }),
            [id, count] => {
                let (id, count) = (self.bcu_operand(id), self.bcu_operand(count));
                Some(BcuOp::Sync { id: id?, count: Some(count?) })
            }
            _ => self.wrong_count(instruction, &["id[, cnt]"]),
        }
    }

    fn bcu_red(&mut self, instruction: &'a Instruction, op: ReductionOp) -> Option<BcuOp> {
        let (operands, predicate) = match instruction.operands.as_slice() {
            // One register alone holds both id and count.
            // clause: bcu.red-packed
            [id, predicate] if self.is_general(id) => {
                (self.general_source(id).map(BcuRedOperands::Packed), predicate)
            }
            [id, predicate] => (self.bcu_operand(id).map(|id| BcuRedOperands::Separate(id, None)), predicate),
            // clause: bcu.red-operand-forms
            [id, count, predicate] => {
                if self.is_general(id) && self.is_general(count) {
                    // The reference contradicts itself here, so the reader is told.
                    let message = "a reduction with its id and its count in registers";
                    let diagnostic = Lint::TwoRegisters
                        .says(message, id.span.to(count.span))
                        .note(
                            "an example of the reference has it, its table of operands and its encodings \
                             have not",
                        )
                        .help(
                            "one register may hold both: `BAR.RED.op Rb, [!]p;`, the count above the low \
                             4 bits",
                        );
                    let subject = instruction.span.text(self.context.source);
                    self.context.lints.push(Lint::TwoRegisters, subject, diagnostic);
                }
                let (id, count) = (self.bcu_operand(id), self.bcu_operand(count));
                let both = id.zip(count);
                (both.map(|(id, count)| BcuRedOperands::Separate(id, Some(count))), predicate)
            }
            _ => return self.wrong_count(instruction, &["id[, cnt], [!]p", "Rb, [!]p"]),
        };
        let predicate = self.bcu_predicate(predicate);
        Some(BcuOp::Red { op, operands: operands?, predicate: predicate? })
    }

    fn bcu_predicate(&mut self, operand: &'a Operand) -> Option<Predicate> {
        if self.is_general(operand) {
            let name = name_of(operand).unwrap_or_default();
            let help = format!("as a condition: `{name} != 0`");
            return self.wrong_operand(operand, "a predicate", Some(&help));
        }
        self.predicate(operand)
    }

    /// A `short` one may leave out the predicate.
    fn bcu_result(&mut self, instruction: &'a Instruction, short: bool) -> Option<BcuOp> {
        match instruction.operands.as_slice() {
            [dest] if short => Some(BcuOp::Result { register: self.general_dest(dest)?, predicate: None }),
            [dest, predicate] => {
                let register = self.general_dest(dest);
                let predicate = match name_of(predicate).and_then(register_of) {
                    Some((name, Register::Predicate)) => self.assigned(name, predicate.span).map(Some),
                    // clause: bcu.result-discarded
                    Some((_, Register::True)) => Some(None),
                    _ => self.wrong_operand(predicate, "a predicate, `P0` to `P6` or `PT`", None),
                };
                Some(BcuOp::Result { register: register?, predicate: predicate? })
            }
            _ if short => self.wrong_count(instruction, &["Rd[, Pu]"]),
            _ => self.wrong_count(instruction, &["Rd, Pu"]),
        }
    }

    /// Whether `operand` is a bare general register or `RZ`.
    fn is_general(&self, operand: &Operand) -> bool {
        let found = name_of(operand).filter(|name| self.scopes.find(name).is_none());
        let register = found.and_then(register);
        matches!(register, Some(Register::General | Register::Zero))
    }

    /// An id or count: a bare register takes the register form, anything else is an immediate.
    // clause: bcu.operand-forms
    fn bcu_operand(&mut self, operand: &'a Operand) -> Option<BcuOperand> {
        let predicate = name_of(operand).and_then(register);
        if matches!(predicate, Some(Register::Predicate | Register::True)) {
            let expected = "a register `R0` to `R254`, `RZ` or an immediate";
            return self.wrong_operand(operand, expected, None);
        }
        let register = self.is_general(operand);
        Some(BcuOperand { value: self.number(operand)?, register })
    }

    /// A barrier id that must be an immediate.
    // clause: bcu.b2r-id-ignored, bcu.r2b-id-ignored
    fn immediate(&mut self, operand: &'a Operand) -> Option<Expr> {
        if name_of(operand).and_then(register).is_some() {
            return self.wrong_operand(operand, "an immediate barrier id", None);
        }
        self.number(operand)
    }

    /// A register that is read.
    fn general_source(&mut self, operand: &'a Operand) -> Option<Expr> {
        if self.is_general(operand) {
            return self.number(operand);
        }
        self.wrong_operand(operand, "a register, `R0` to `R254` or `RZ`", None)
    }

    /// A register that is written, `None` for `RZ`.
    fn general_dest(&mut self, operand: &'a Operand) -> Option<Option<LocalId>> {
        match name_of(operand).and_then(register_of) {
            Some((name, Register::General)) => self.assigned(name, operand.span).map(Some),
            // clause: bcu.result-discarded
            Some((_, Register::Zero)) => Some(None),
            _ => self.wrong_operand(operand, "a register, `R0` to `R254` or `RZ`", None),
        }
    }
}

/// `name` and the register that it is.
fn register_of(name: &str) -> Option<(&str, Register)> {
    register(name).map(|register| (name, register))
}
