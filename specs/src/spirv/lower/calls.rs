//! Functions: all that is called is inlined.

use crate::kernel::code::{Action, Argument, Function};
use crate::spirv::declarations::Type;
use crate::spirv::opcodes::op;
use crate::spirv::syntax::{Instruction, Operand};

use super::state::{Frame, Lowerer, Value};

/// The most functions inside one another, and the most instructions and registers that inlining may come to.
const DEPTH: usize = 64;
const INSTRUCTIONS: usize = 1_000_000;
const REGISTERS: usize = 2_000_000;

/// The function that an instruction calls.
pub(super) fn callee(instruction: &Instruction) -> Option<u32> {
    instruction.id(0).filter(|_| instruction.is(op::FUNCTION_CALL))
}

impl Lowerer<'_> {
    /// Lays out the entry. What it is given is the same for all invocations.
    pub(super) fn entry(&mut self, function: usize) {
        self.frames.push(Frame::default());
        self.prologue();
        self.initialise();
        let params = self.declarations.functions[function].params.clone();
        let mut values = Vec::new();
        for (position, param) in params.iter().enumerate() {
            let name = self.called(*param);
            let ty = self.declarations.value_type(*param);
            let is_number = matches!(ty, Some(Type::Integer(_)));
            let given = if is_number { self.launch.param(Some((position, &name)), &name) } else { None };
            let count = self.declarations.type_of.get(param).and_then(|ty| self.declarations.leaves(*ty));
            let bits = if let Some(Type::Integer(ty)) = ty { ty.bits } else { 0 };
            let leaves = match (given, count.unwrap_or(1)) {
                (Some(given), _) => vec![Argument::Number(given as u64)],
                (None, 1) => vec![self.at_least(Some((position, &name)), &name, bits)],
                (None, count) => (0..count).map(|at| self.same(&format!("{name}+{at}"))).collect(),
            };
            values.push(Value::Leaves(leaves));
        }
        self.frames.clear();
        self.inline(function, values, Vec::new());
    }

    /// Constants that are computed of others.
    fn prologue(&mut self) {
        let listing = self.listing;
        for instruction in &listing.instructions {
            if !instruction.is(op::SPEC_CONSTANT_OP) {
                continue;
            }
            let leaves = self.reserve(instruction.result, instruction.ty);
            self.globals.insert(instruction.result, Value::Leaves(leaves.clone()));
            self.frame().values.insert(instruction.result, Value::Leaves(leaves));
            let number = match instruction.operands.first() {
                Some(Operand::Number(number)) => u16::try_from(*number).ok(),
                Some(Operand::Word(word)) => crate::spirv::opcodes::by_name(word).map(|row| row.number),
                _ => None,
            };
            let operands = instruction.operands.get(1..).unwrap_or_default().to_vec();
            let computed = Instruction { opcode: number, operands, ..instruction.clone() };
            match computed.effect() {
                crate::spirv::opcodes::Effect::Pure => self.arithmetic(&computed),
                _ => {
                    let name = self.called(instruction.result);
                    let same = self.same(&name);
                    let to = self.result(instruction.result);
                    self.copy_all(&to, &vec![same; to.len()], instruction.span);
                }
            }
        }
    }

    fn inline(&mut self, function: usize, params: Vec<Value>, result: Vec<Argument>) {
        let declared = &self.declarations.functions[function];
        let values = declared.params.iter().copied().zip(params).collect();
        let call = self.calls;
        self.calls += 1;
        self.frames.push(Frame { function, call, values, result, ..Frame::default() });
        self.reserve_results(declared.body.clone());
        for at in declared.body.clone() {
            self.instruction(at);
        }
        let end = self.code.instructions.len();
        let Some(frame) = self.frames.pop() else { return };
        let last = self.listing.instructions[declared.body.clone()].last();
        if self.frames.is_empty() {
            let span = last.map_or(declared.span, |last| last.span);
            self.emit(span, Action::Exit);
        }
        for (at, to) in frame.jumps {
            match frame.labels.get(&to) {
                Some(start) => self.code.instructions[at].action = Action::Jump(*start),
                None => {
                    let span = self.code.instructions[at].span;
                    self.undefined(to, span);
                }
            }
        }
        for at in frame.returns {
            self.code.instructions[at].action = Action::Jump(end);
        }
    }

    pub(super) fn call(&mut self, instruction: &Instruction) {
        let span = instruction.span;
        let found = callee(instruction).and_then(|id| Some((id, *self.declarations.numbers.get(&id)?)));
        let Some((id, function)) = found else {
            let id = callee(instruction).unwrap_or(0);
            return self.undefined(id, span);
        };
        let declared = &self.declarations.functions[function];
        if declared.body.is_empty() {
            let name = self.called(id);
            return self.beyond(span, format!("a call of `{name}`, whose code is not here"));
        }
        if self.frames.iter().any(|frame| frame.function == function) {
            return self.beyond(span, "a recursive call");
        }
        let length = self.code.instructions.len() + declared.body.len();
        if self.frames.len() >= DEPTH || length > INSTRUCTIONS || self.code.registers.len() > REGISTERS {
            return self.beyond(span, "a call too deep inside other calls");
        }
        if instruction.operands.len() != declared.params.len() + 1 {
            return self.beyond(span, "a call with other parameters than the function has");
        }
        let mut params = Vec::new();
        for id in instruction.ids(1) {
            params.push(self.value(id, span));
        }
        let result = self.result(instruction.result);
        self.inline(function, params, result);
    }

    /// `OpExtInst`: none of the sets that are known has anything that synchronises.
    pub(super) fn extended(&mut self, instruction: &Instruction) {
        let span = instruction.span;
        let set = instruction.id(0).and_then(|id| self.declarations.sets.get(&id)).map_or("", String::as_str);
        if set.starts_with("NonSemantic") || set.contains("DebugInfo") {
            return self.opaque(instruction.result, Function::Unknown, span);
        }
        let is_known = matches!(set, "OpenCL.std" | "GLSL.std.450") || set.starts_with("SPV_AMD_");
        if !is_known {
            return self.beyond(span, format!("an instruction of the set `{set}`"));
        }
        if self.extended_arithmetic(instruction, set).is_some() {
            return;
        }
        // Some write through pointers, or print.
        for id in instruction.ids(2) {
            if let Some(pointer) = self.pointer(id, span) {
                self.changes(Some(&pointer), span);
            }
        }
        self.opaque(instruction.result, Function::Unknown, span);
    }
}
