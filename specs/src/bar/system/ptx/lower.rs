//! What PTX's instructions lower to.

use barcheck_model::program::{BinaryOp, Expr as Number, Fence, Op, PtxKind, PtxOp, WarpOp};

use super::{MNEMONICS, Operation};
use crate::bar::ast::{Expr, ExprKind, Instruction, Operand, OperandKind};
use crate::bar::lower::RoleLowerer;

impl<'a> RoleLowerer<'_, 'a> {
    pub(in crate::bar::system) fn ptx(&mut self, instruction: &'a Instruction) -> Option<Option<Op>> {
        if let Operation::Mbarrier(operation) = MNEMONICS.operation(instruction.opcode) {
            return self.mbarrier(instruction, operation);
        }
        if let Operation::Elect = MNEMONICS.operation(instruction.opcode) {
            return self.elect(instruction).map(|()| None);
        }
        self.on_barrier(instruction).map(Some)
    }

    /// `elect.sync _|p, mask`: the lanes of the mask meet, and one of them gets 1.
    // clause: ptx.elect
    fn elect(&mut self, instruction: &'a Instruction) -> Option<()> {
        let [elected, mask] = instruction.operands.as_slice() else {
            return self.wrong_count(instruction, &["_|p, mask"]);
        };
        let predicate = match &elected.kind {
            OperandKind::Expr(Expr { kind: ExprKind::Binary(BinaryOp::Or, lane, predicate), .. }) => {
                match (&lane.kind, &predicate.kind) {
                    (ExprKind::Name(lane), ExprKind::Name(name)) if &**lane == "_" => {
                        Some((&**name, predicate.span))
                    }
                    _ => None,
                }
            }
            _ => None,
        };
        let Some((name, span)) = predicate else {
            let help = "which lane it is has no name here: `elect.sync _|p, 0xffffffff;`";
            return self.wrong_operand(elected, "`_|p`, with the local that gets the answer", Some(help));
        };
        let dest = self.result_named(name, span);
        let mask = self.number(mask)?;
        self.several.push((Number::Int(1), Op::from(WarpOp::Sync(mask))));
        if let Some(local) = dest? {
            self.several.push((Number::Int(1), Op::Set(local, Number::Elect)));
        }
        Some(())
    }

    fn on_barrier(&mut self, instruction: &'a Instruction) -> Option<Op> {
        let operands = instruction.operands.as_slice();
        // clause: ptx.syntax
        match MNEMONICS.operation(instruction.opcode) {
            Operation::Sync(aligned) => match operands {
                [id] => self.plain(PtxKind::Sync, aligned, id, None),
                [id, count] => self.plain(PtxKind::Sync, aligned, id, Some(count)),
                _ => self.wrong_count(instruction, &["a[, b]"]),
            },
            // A missing count is the business of the rule `arrive-needs-count`.
            Operation::Arrive(aligned) => match operands {
                [id] => self.plain(PtxKind::Arrive, aligned, id, None),
                [id, count] => self.plain(PtxKind::Arrive, aligned, id, Some(count)),
                _ => self.wrong_count(instruction, &["a, b"]),
            },
            Operation::Red(op, aligned) => {
                let (dest, id, count, predicate) = match operands {
                    [dest, id, predicate] => (dest, id, None, predicate),
                    [dest, id, count, predicate] => (dest, id, Some(count), predicate),
                    _ => return self.wrong_count(instruction, &["d, a[, b], [!]p"]),
                };
                let dest = self.destination(dest);
                let id = self.number(id);
                let count = count.map(|count| self.number(count));
                let predicate = self.predicate(predicate)?;
                let kind = PtxKind::Red { op, predicate, dest: dest? };
                let count = match count {
                    Some(count) => Some(count?),
                    None => None,
                };
                Some(Op::from(PtxOp { kind, aligned, id: id?, count }))
            }
            // clause: ptx.fence-release, ptx.fence-acquire
            Operation::Fence(fence) if operands.is_empty() => Some(Op::Fence(fence)),
            Operation::Fence(_) => self.wrong_count(instruction, &[]),
            Operation::WarpSync => match operands {
                [] => Some(Op::from(WarpOp::Sync(Number::Int(u32::MAX.into())))),
                [mask] => Some(Op::from(WarpOp::Sync(self.number(mask)?))),
                _ => self.wrong_count(instruction, &["[mask]"]),
            },
            Operation::Registers(takes) => match operands {
                [count] => Some(Op::from(WarpOp::Registers { takes, count: self.number(count)? })),
                _ => self.wrong_count(instruction, &["registers"]),
            },
            // clause: ptx.griddepcontrol
            Operation::Grid if operands.is_empty() => Some(Op::Fence(Fence::Nothing)),
            Operation::Grid => self.wrong_count(instruction, &[]),
            Operation::Proxy(operation) => self.proxy(instruction, operation),
            Operation::Cluster(operation) => self.cluster(instruction, operation),
            Operation::Mbarrier(_) | Operation::Elect => None,
        }
    }

    fn plain(
        &mut self,
        kind: PtxKind,
        aligned: bool,
        id: &'a Operand,
        count: Option<&'a Operand>,
    ) -> Option<Op> {
        let id = self.number(id);
        let count = match count {
            Some(count) => Some(self.number(count)?),
            None => None,
        };
        Some(Op::from(PtxOp { kind, aligned, id: id?, count }))
    }
}
