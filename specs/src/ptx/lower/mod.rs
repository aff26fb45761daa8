//! From the syntax tree of a module to the code of one entry, as the extraction of protocols reads it.

mod arithmetic;
mod calls;
mod data;
mod flow;
mod opcodes;
mod types;

use std::collections::HashMap;

use crate::common::span::Span;
use crate::kernel::code::{Action, Argument, Code, Function, Guard, Instruction, Register, Type};

use super::launch::Launch;
use super::syntax::{self, Body, Module, Operand};
use opcodes::Effect;
use types::Special;

pub(super) use calls::synchronises;

/// The code of the entry at `entry` in the module, with what it calls as far as that may synchronise.
pub(super) fn lower(source: &str, module: &Module, entry: usize, launch: &Launch) -> Code {
    let mut lowerer = Lowerer {
        source,
        module,
        launch,
        code: Code::default(),
        names: HashMap::new(),
        cells: HashMap::new(),
        concerned: calls::concerned(source, module),
        frames: Vec::new(),
        frame_count: 0,
    };
    if let Some(function) = module.functions.get(entry)
        && let Some(body) = &function.body
    {
        lowerer.inline(entry, body, HashMap::new());
    }
    lowerer.code
}

/// A function whose code is being laid out.
struct Frame<'m> {
    number: u32,
    /// Its position in the module.
    function: usize,
    body: &'m Body,
    /// The first of its registers in the code.
    registers: Register,
    /// Parameters by name: those of whoever calls it.
    aliases: HashMap<&'m str, (u32, &'m str)>,
    /// Jumps to be set: the instruction of the code, and the instruction of the body that it leads to.
    jumps: Vec<(usize, u32)>,
    /// Where each instruction of the body begins in the code.
    starts: Vec<usize>,
    /// Jumps to the end of the function.
    returns: Vec<usize>,
}

struct Lowerer<'m> {
    source: &'m str,
    module: &'m Module,
    launch: &'m Launch,
    code: Code,
    /// The positions of names in the code.
    names: HashMap<String, u32>,
    /// Registers for what is passed to and from functions: frame, name, offset.
    cells: HashMap<(u32, &'m str, i64), Register>,
    /// Which functions of the module have to be inlined.
    concerned: Vec<bool>,
    /// The functions that are being laid out, the innermost last.
    frames: Vec<Frame<'m>>,
    frame_count: u32,
}

/// An instruction that is being lowered.
struct Current<'m> {
    instruction: &'m syntax::Instruction,
    /// The whole opcode, and its parts.
    opcode: &'m str,
    parts: Vec<&'m str>,
    guard: Option<Guard>,
}

impl<'m> Current<'m> {
    fn operands(&self) -> &'m [Operand] {
        &self.instruction.operands
    }

    fn has(&self, part: &str) -> bool {
        self.parts.contains(&part)
    }

    /// The last type among the modifiers.
    fn ty(&self) -> Option<Type> {
        self.parts.iter().rev().find_map(|part| types::integer(part))
    }

    /// Whether a modifier is a floating-point type.
    fn is_real(&self) -> bool {
        self.parts.iter().skip(1).any(|part| {
            let rest = part.strip_prefix("bf").or_else(|| part.strip_prefix('f'));
            part.starts_with("tf32")
                || rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    }
}

impl<'m> Lowerer<'m> {
    fn frame(&mut self) -> &mut Frame<'m> {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn text(&self, span: Span) -> &'m str {
        span.text(self.source)
    }

    /// Adds an instruction of its own guard and place.
    fn emit(&mut self, current: &Current<'m>, action: Action) {
        let (guard, span) = (current.guard, current.instruction.span);
        self.code.instructions.push(Instruction { guard, action, span });
    }

    /// Adds an instruction that is executed by all, since it writes a register of this reader's own.
    fn emit_always(&mut self, current: &Current<'m>, action: Action) {
        let span = current.instruction.span;
        self.code.instructions.push(Instruction { guard: None, action, span });
    }

    fn compute(&mut self, current: &Current<'m>, to: Register, function: Function, arguments: &[Argument]) {
        let arguments = arguments.to_vec();
        self.emit(current, Action::Compute { to, function, arguments });
    }

    /// The value of a function, in a register of this reader's own.
    fn intermediate(
        &mut self,
        current: &Current<'m>,
        function: Function,
        arguments: &[Argument],
    ) -> Argument {
        let to = self.code.register("t");
        let arguments = arguments.to_vec();
        self.emit_always(current, Action::Compute { to, function, arguments });
        Argument::Register(to)
    }

    /// The position of a name that stands for something that is the same for all.
    fn name(&mut self, name: &str) -> u32 {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let position = self.code.names.len() as u32;
        self.code.names.push(name.to_owned());
        self.names.insert(name.to_owned(), position);
        position
    }

    fn register(&mut self, register: u32) -> Register {
        self.frame().registers + register
    }

    /// What an operand is worth. `None` if that is unknown.
    fn argument(&mut self, current: &Current<'m>, operand: &Operand) -> Argument {
        match operand {
            Operand::Register(register, false) => Argument::Register(self.register(*register)),
            Operand::Register(register, true) => {
                let argument = Argument::Register(self.register(*register));
                self.intermediate(current, arithmetic::logical_not(), &[argument])
            }
            Operand::Number(number) => Argument::Number(*number),
            Operand::Name(span) => self.named(current, self.text(*span)),
            _ => self.intermediate(current, Function::Unknown, &[]),
        }
    }

    /// What a name is worth: a special register, a symbol, a floating-point number.
    fn named(&mut self, current: &Current<'m>, name: &str) -> Argument {
        if name == "WARP_SZ" {
            return Argument::Number(32);
        }
        if !name.starts_with('%') {
            return Argument::Same(self.name(name));
        }
        match types::special(name, self.launch.size) {
            Special::Is(argument) => argument,
            Special::Same => Argument::Same(self.name(name)),
            Special::OfWarp => self.intermediate(current, Function::OfWarp, &[]),
            Special::Unknown => self.intermediate(current, Function::Unknown, &[]),
        }
    }

    /// The code of an instruction.
    fn instruction(&mut self, instruction: &'m syntax::Instruction) {
        let opcode = self.text(instruction.opcode);
        let parts: Vec<&str> = opcode.split('.').collect();
        let guard = instruction.guard.map(|(register, negated)| {
            let register = self.register(register);
            Guard { register, negated }
        });
        let current = Current { instruction, opcode, parts, guard };
        match opcodes::effect(opcode) {
            None => self.emit(&current, Action::Beyond(format!("`{opcode}`, which is not known"))),
            Some(Effect::Synchronises) => self.emit(&current, Action::Beyond(format!("`{opcode}`"))),
            Some(Effect::Barrier) => self.barrier(&current),
            Some(Effect::Flow) => self.flow(&current),
            Some(Effect::Pure) => self.arithmetic(&current),
            Some(Effect::Loads) => self.load(&current),
            Some(Effect::Lanes) => self.lanes(&current),
            Some(Effect::OfWarp) => self.opaque(&current, Function::OfWarp),
            Some(Effect::Unknown) => self.opaque(&current, Function::Unknown),
            Some(Effect::Reads) => self.store(&current),
        }
    }

    /// Every register that the instruction writes gets an unknown value.
    fn opaque(&mut self, current: &Current<'m>, function: Function) {
        for register in self.written(current) {
            self.compute(current, register, function, &[]);
        }
    }

    /// The registers that the instruction writes: those before an address, or in its first operand.
    fn written(&mut self, current: &Current<'m>) -> Vec<Register> {
        let operands = current.operands();
        let is_address = |operand: &Operand| matches!(operand, Operand::Address(..) | Operand::Other);
        let count = operands.iter().position(is_address).unwrap_or(operands.len().min(1));
        let mut written = Vec::new();
        for operand in &operands[..count] {
            self.registers_of(operand, &mut written);
        }
        written
    }

    fn registers_of(&mut self, operand: &Operand, found: &mut Vec<Register>) {
        match operand {
            Operand::Register(register, _) => found.push(self.register(*register)),
            Operand::Pair(one, other) => {
                for register in [one, other].into_iter().flatten() {
                    found.push(self.register(*register));
                }
            }
            // Groups are no deeper than the reader lets them be.
            Operand::Group(operands) => {
                for operand in operands {
                    self.registers_of(operand, found);
                }
            }
            _ => {}
        }
    }
}
