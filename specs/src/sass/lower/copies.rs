//! Copies and commits that arrive at mbarrier objects, of the own CTA and of others.

use crate::kernel::code::{Action, Argument, ObjectKind, ObjectStep, Operation};
use crate::sass::operand::{self, File, Kind, Operand, Register};

use super::state::{Current, Lowerer};

impl<'m> Lowerer<'m> {
    pub(super) fn copy_or_commit(&mut self, current: &Current<'m>) -> Option<()> {
        let operands = current.operands.as_slice();
        // Two CTAs do it together.
        if current.has("2CTA") && self.launch.groups() == 1 {
            return None;
        }
        match (current.root, current.parts.as_slice()) {
            ("UTMALDG", ["1D" | "2D" | "3D" | "4D" | "5D", rest @ ..]) => {
                let is_known = |part: &&str| ["MULTICAST", "2CTA", "GATHER4", "IM2COL"].contains(part);
                rest.iter().all(is_known).then_some(())?;
                let object = self.behind(current, operands.first()?, File::Uniform)?;
                let mask = match current.has("MULTICAST") {
                    true => Some(self.high_half(current, operands.get(2)?)?),
                    false => None,
                };
                if !self.changes_maps() {
                    self.reads_map(current);
                }
                if mask.is_some() && current.has("2CTA") {
                    self.code.by_pairs.insert(self.code.instructions.len());
                }
                self.at_once(current, ObjectKind::Copy, object, None, mask)
            }
            // Into global memory, which no object counts.
            ("UBLKCP", ["G", "S"]) => {
                self.writes_anywhere(current);
                Some(())
            }
            // The low half of a register: in units of 16 bytes.
            ("UBLKCP", ["S", from @ ("G" | "S"), rest @ ..]) => {
                let [to, _, size, ..] = operands else { return None };
                let object = self.behind(current, to, File::Uniform)?;
                let mask = match rest {
                    [] => None,
                    ["MULTICAST"] => Some(self.high_half(current, size)?),
                    _ => return None,
                };
                let size = self.integer(current, size)?;
                let size = self.word(current, Operation::And, &[size, Argument::Number(0xffff)]);
                let bytes = self.word(current, Operation::ShiftLeft, &[size, Argument::Number(4)]);
                // What starts in shared memory goes to that of another CTA.
                self.code.is_written_from_elsewhere |= *from == "S" && self.launch.groups() > 1;
                self.at_once(current, ObjectKind::Copy, object, Some(bytes), mask)
            }
            ("UTCBAR", [] | ["2CTA"] | ["MULTICAST"] | ["2CTA", "MULTICAST"]) => {
                let [object, nothing, mask @ ..] = operands else { return None };
                let object = self.object_address(current, object)?;
                nothing.plain().filter(|register| register.number.is_none())?;
                let mask = match (current.has("MULTICAST"), mask) {
                    (true, [mask]) => {
                        self.is_about_clusters(current);
                        Some(self.integer(current, mask)?)
                    }
                    (false, []) => None,
                    _ => return None,
                };
                self.at_once(current, ObjectKind::Commit, object, None, mask)
            }
            ("STAS", width) => self.message(current, width),
            // The operation stands before the width.
            ("REDAS", [_, width @ ..]) => self.message(current, width),
            _ => None,
        }
    }

    /// Whether the kernel makes tensor maps that it uses itself: those need not stay what they are.
    fn changes_maps(&self) -> bool {
        let functions = self.listing.functions.iter().enumerate();
        let mut own = functions.filter(|(at, function)| *at == self.entry || !function.is_entry);
        own.any(|(_, function)| function.statements.iter().any(|s| s.opcode.starts_with("UTMACCTL.IV")))
    }

    /// `STAS [R8.64], R2`: bytes that are stored in the memory of another CTA, by each lane.
    fn message(&mut self, current: &Current<'m>, width: &[&str]) -> Option<()> {
        let bytes = match width {
            [] => 4,
            ["64"] => 8,
            ["128"] => 16,
            _ => return None,
        };
        let [to, _] = current.operands.as_slice() else { return None };
        let address = self.behind(current, to, File::General)?;
        self.code.is_written_from_elsewhere |= self.launch.groups() > 1;
        let (kind, amount) = (ObjectKind::Copy, Some(Argument::Number(bytes)));
        self.emit(current, Action::Object(ObjectStep { kind, address, amount, mask: None, to: None }));
        Some(())
    }

    /// The CTAs to which a copy goes: bits in the high half of a register.
    fn high_half(&mut self, current: &Current<'m>, operand: &Operand<'m>) -> Option<Argument> {
        operand.plain().filter(|register| register.file == File::Uniform)?;
        self.is_about_clusters(current);
        let value = self.integer(current, operand)?;
        Some(self.word(current, Operation::ShiftRight, &[value, Argument::Number(16)]))
    }

    /// The object of a copy: its address stands in the register behind that of where the copy goes.
    fn behind(&mut self, current: &Current<'m>, to: &Operand<'m>, file: File) -> Option<Argument> {
        let Kind::Address(text) = to.kind else { return None };
        let text = if file == File::General { text.strip_suffix(".64")? } else { text };
        let register: Register = operand::register(text)?;
        register.number.filter(|_| register.file == file)?;
        Some(self.register(current, register, 1))
    }
}
