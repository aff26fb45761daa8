//! Which instruction is laid out by whom.

use std::collections::{HashMap, HashSet};

use crate::kernel::answers;
use crate::kernel::code::{Action, Argument, Collective, Function, Guard, Operation, Register};
use crate::ptx::syntax::{self, Operand};

use super::opcodes::{self, Effect};
use super::state::{Current, Lowerer};
use super::stores;

impl<'m> Lowerer<'m> {
    /// The code of an instruction.
    pub(super) fn instruction(&mut self, instruction: &'m syntax::Instruction) {
        let opcode = self.text(instruction.opcode);
        let parts: Vec<&str> = opcode.split('.').collect();
        let guard = instruction.guard.map(|(register, negated)| {
            let register = self.register(register);
            Guard { register, negated }
        });
        let current = Current { instruction, opcode, parts, guard };
        self.meeting(&current);
        self.collective(&current);
        self.reaches_across(&current);
        self.access(&current);
        let begin = self.code.instructions.len();
        self.lay_out(&current);
        self.uses(&current, begin);
    }

    fn lay_out(&mut self, current: &Current<'m>) {
        match opcodes::effect(current.opcode) {
            None => self.emit(current, Action::Beyond(format!("`{}`, which is not known", current.opcode))),
            Some(Effect::Synchronises) => self.object(current),
            Some(Effect::Barrier) => self.barrier(current),
            Some(Effect::Registers) => self.registers(current),
            Some(Effect::Flow) => self.flow(current),
            Some(Effect::Pure) => self.arithmetic(current),
            Some(Effect::Loads) => self.load(current),
            Some(Effect::Lanes) => self.lanes(current),
            Some(Effect::OfWarp) => self.opaque(current, Function::OfWarp),
            Some(Effect::Unknown) => {
                // It waits until there is as much (PTX ISA, tcgen05.alloc).
                if current.parts.starts_with(&["tcgen05", "alloc"]) {
                    let what = "as much tensor memory as is asked for here is free, or becomes so";
                    self.code.assumed.push((what.to_owned(), current.instruction.span));
                }
                if stores::writes(current.opcode) {
                    self.changes(current);
                }
                self.opaque(current, Function::Unknown);
            }
            Some(Effect::Reads) => self.store(current),
        }
    }

    /// Notes the registers that an instruction reads and what it does with these is not followed, where
    /// answers to questions about phases may be among them.
    fn uses(&mut self, current: &Current<'m>, begin: usize) {
        if !self.asks {
            return;
        }
        let stores = opcodes::effect(current.opcode) == Some(Effect::Reads);
        let mut read = Vec::new();
        // What others write comes first.
        let sources = current.operands().iter().skip(usize::from(!stores));
        sources.for_each(|operand| self.registers_of(operand, &mut read));
        // Nobody learns anything from what nobody reads.
        let is_idle = !opcodes::hands_on(current.opcode) || stores && !self.loads;
        let uses = answers::uses(read, (current.guard, stores), &self.code.instructions[begin..]);
        if let Some(uses) = uses.filter(|_| !is_idle) {
            self.emit_always(current, uses);
        }
    }

    /// Notes what a warp does together with its warpgroup. Waits that leave the latest group out are over as
    /// they begin: see the kernel's warpgroups.
    fn collective(&mut self, current: &Current<'m>) {
        let step = match (current.parts.as_slice(), current.operands()) {
            (["wgmma", "commit_group", ..], _) => Collective::Commit,
            (["wgmma", "wait_group", ..], [Operand::Number(0)]) => Collective::Wait,
            _ => return,
        };
        if self.launch.is_apart {
            return;
        }
        self.code.collective.insert(self.code.instructions.len(), step);
        self.emit(current, Action::Nothing);
    }

    /// Notes where all lanes of a warp execute an instruction together: those that are aligned, and those
    /// that name all lanes. Barriers of the CTA are told elsewhere.
    fn meeting(&mut self, current: &Current<'m>) {
        let all = Operand::Number(u64::MAX);
        let mask = match current.parts.as_slice() {
            ["bar" | "barrier", "warp", "sync", ..] | ["shfl" | "vote" | "redux" | "match", ..]
                if current.has("sync") =>
            {
                current.operands().last()
            }
            ["elect", "sync", ..] => current.operands().get(1),
            ["bar" | "barrier" | "shfl" | "vote" | "redux" | "match", ..] => return,
            _ if current.has("aligned") => Some(&all),
            _ => None,
        };
        let at = self.code.instructions.len();
        match mask.filter(|_| current.guard.is_none()) {
            Some(Operand::Number(mask)) if *mask as u32 == u32::MAX => {
                self.code.meetings.insert(at);
            }
            Some(Operand::Register(mask, false)) => {
                let mask = self.register(*mask);
                self.masks.push((at, mask));
            }
            _ => return,
        }
        self.emit(current, Action::Nothing);
    }

    /// Notes those of the instructions that name lanes by a register where that holds all lanes: it is
    /// written once, with that number.
    pub(super) fn meetings_by_register(&mut self) {
        let asked: HashSet<Register> = self.masks.iter().map(|(_, mask)| *mask).collect();
        let mut written: HashMap<Register, Option<u64>> = HashMap::new();
        for instruction in &self.code.instructions {
            let Action::Compute { to, function, arguments } = &instruction.action else { continue };
            if !asked.contains(to) {
                continue;
            }
            let number = match (function, arguments.as_slice(), instruction.guard) {
                (Function::Integer(Operation::Convert(_), _), [Argument::Number(number)], None) => {
                    Some(*number)
                }
                _ => None,
            };
            written.entry(*to).and_modify(|number| *number = None).or_insert(number);
        }
        let is_all =
            |mask: &Register| written.get(mask).copied().flatten().map(|mask| mask as u32) == Some(u32::MAX);
        let all = self.masks.iter().filter(|(_, mask)| is_all(mask)).map(|(at, _)| *at);
        self.code.meetings.extend(all);
    }
}
