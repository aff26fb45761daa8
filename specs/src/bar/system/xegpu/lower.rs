//! What XeGPU's instructions lower to: named barriers, their handles, `mfence`.

use barcheck_model::program::{Fence, LocalId, LocalKind, Op, Spaces, XegpuOp};

use super::{INIT, MNEMONICS, Operation};
use crate::bar::ast::{Attribute, Instruction, Operand, OperandKind};
use crate::bar::lower::RoleLowerer;
use crate::bar::meaning_error::{MeaningError, NameKind};
use crate::common::span::Span;
use crate::common::suggest::closest;

impl<'a> RoleLowerer<'_, 'a> {
    /// The operation of an instruction, which a hint does not have.
    pub(in crate::bar::system) fn xegpu(&mut self, instruction: &'a Instruction) -> Option<Option<Op>> {
        let operands = instruction.operands.as_slice();
        let op = match MNEMONICS.operation(instruction.opcode) {
            Operation::Alloc => match operands {
                [count] => Op::from(XegpuOp::Alloc { count: self.number(count)? }),
                _ => return self.wrong_count(instruction, &["n"]),
            },
            Operation::Init => self.init(instruction)?,
            Operation::Arrive => match operands {
                [handle] => Op::from(XegpuOp::Arrive(self.handle(handle)?)),
                _ => return self.wrong_count(instruction, &["%h"]),
            },
            Operation::Wait => match operands {
                [handle] => Op::from(XegpuOp::Wait(self.handle(handle)?)),
                _ => return self.wrong_count(instruction, &["%h"]),
            },
            Operation::Fence => match operands {
                [] => Op::Fence(Fence::Publishes(Spaces { shared: true, global: true })),
                [operand] => match &operand.kind {
                    OperandKind::Attributes(attributes) => {
                        Op::Fence(Fence::Publishes(self.fence(attributes)?))
                    }
                    _ => return self.wrong_operand(operand, "attributes in braces", None),
                },
                _ => return self.wrong_count(instruction, &["{…}"]),
            },
            // clause: xegpu.compile-hint
            Operation::Hint => return Some(None),
        };
        Some(Some(op))
    }

    fn init(&mut self, instruction: &'a Instruction) -> Option<Op> {
        let [id, participants] = instruction.operands.as_slice() else {
            return self.wrong_count(instruction, &["id, n"]);
        };
        let (id, participants) = (self.number(id), self.number(participants));
        let Some(handle) = &instruction.result else {
            let expected = "a handle for the result".to_owned();
            let help = Some("write `%h = xegpu.init_nbarrier …;`".to_owned());
            self.report(&MeaningError::Operand { expected, span: instruction.span, help });
            return None;
        };
        let handle = self.slot(&handle.text, LocalKind::Handle);
        let (id, participants) = (id?, participants?);
        Some(Op::from(XegpuOp::Init { handle, id, participants }))
    }

    fn handle(&mut self, operand: &Operand) -> Option<LocalId> {
        let OperandKind::Handle(name) = &operand.kind else {
            let help = "handles come from `%h = xegpu.init_nbarrier id, n;`";
            return self.wrong_operand(operand, "a handle", Some(help));
        };
        if let Some(local) = self.slots.get(&*name.text) {
            return Some(*local);
        }
        let suggestion = self.context.suggest(&name.text, || {
            let mut handles: Vec<&str> = self.slots.keys().copied().collect();
            handles.sort_unstable();
            handles
        });
        let (name, span, kind) = (name.text.to_string(), name.span, NameKind::Handle { from: INIT });
        self.report(&MeaningError::UnknownName { name, kind, suggestion, target: self.context.target, span });
        None
    }

    /// What a fence covers. Without `memory_kind` it is both.
    fn fence(&mut self, attributes: &[Attribute]) -> Option<Spaces> {
        const NAMES: [&str; 3] = ["memory_kind", "fence_op", "fence_scope"];
        let mut seen: [Option<Span>; 3] = [None; 3];
        let mut spaces = Some(Spaces { shared: true, global: true });
        for Attribute { name, value } in attributes {
            let position = NAMES.iter().position(|known| known.eq_ignore_ascii_case(&name.text));
            let Some(position) = position else {
                spaces = self.unknown("attribute of a fence", &name.text, &NAMES, name.span);
                continue;
            };
            if let Some(first) = seen[position].replace(name.span) {
                let what = format!("`{}`", NAMES[position]);
                self.report(&MeaningError::Twice { what, span: name.span, first });
                spaces = None;
            }
            let known: &[&str] = match position {
                // clause: xegpu.memory-kind
                0 => &["slm", "ugm"],
                // clause: xegpu.fence-op
                1 => &["none"],
                // clause: xegpu.fence-scope
                _ => &["local", "tile", "global"],
            };
            match known.iter().find(|known| known.eq_ignore_ascii_case(&value.text)) {
                Some(&"slm") => spaces = spaces.map(|s| Spaces { global: false, ..s }),
                Some(&"ugm") => spaces = spaces.map(|s| Spaces { shared: false, ..s }),
                Some(_) => {}
                None => {
                    let what = ["memory kind", "fence operation", "fence scope"][position];
                    spaces = self.unknown(what, &value.text, known, value.span);
                }
            }
        }
        spaces
    }

    fn unknown<T>(
        &mut self,
        what: &'static str,
        word: &str,
        known: &[&'static str],
        span: Span,
    ) -> Option<T> {
        let meant = closest(word, known.iter().copied());
        let known: Vec<String> = known.iter().map(|known| format!("`{known}`")).collect();
        let (word, known) = (word.to_owned(), known.join(", "));
        self.report(&MeaningError::UnknownWord { what, word, known, meant, span });
        None
    }
}
