//! Calls: what may synchronise or end a thread, or write shared memory, is inlined, everything else only has
//! results.

use std::collections::HashMap;

use crate::common::span::Span;
use crate::kernel::code::{Action, Argument, Function, Memory, Register, Type, Written};
use crate::ptx::syntax::{Body, Instruction, Module, Operand, Param};

use super::addresses::of_params;
use super::functions::copy;
use super::opcodes::{self, Effect};
use super::selections::of_reals;
use super::state::{Current, Frame, Lowerer};

/// The most functions inside one another, and the most instructions that inlining may come to.
const DEPTH: usize = 64;
const INSTRUCTIONS: usize = 2_000_000;

/// What a function declares, and what a call gives or takes for it.
type Passed<'m> = (&'m [Param], &'m [Operand]);

/// Functions that come with the compiler and synchronise nothing.
const HARMLESS: [&str; 4] = ["vprintf", "malloc", "free", "__nv_printf"];
/// Those that end the grid.
const ENDING: [&str; 3] = ["__assertfail", "__assert_fail", "__cxa_pure_virtual"];

/// For each function of the module, whether its code may synchronise or end a thread, or calls what may.
pub(super) fn concerned(source: &str, module: &Module) -> Vec<bool> {
    let numbers: HashMap<&str, usize> = names(module);
    let mut concerned = vec![false; module.functions.len()];
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); module.functions.len()];
    let mut work = Vec::new();
    for (index, function) in module.functions.iter().enumerate() {
        let Some(body) = &function.body else { continue };
        for instruction in &body.instructions {
            let opcode = instruction.opcode.text(source);
            let matters = match opcodes::effect(opcode) {
                None | Some(Effect::Synchronises | Effect::Registers) => true,
                Some(Effect::Barrier) => {
                    !opcode.starts_with("bar.warp") && !opcode.starts_with("barrier.warp")
                }
                Some(Effect::Flow) if opcode.starts_with("call") => {
                    match callee(source, &instruction.operands).map(|name| numbers.get(name)) {
                        Some(Some(callee)) if module.functions[*callee].body.is_some() => {
                            callers[*callee].push(index);
                            false
                        }
                        _ => {
                            let name = callee(source, &instruction.operands).unwrap_or_default();
                            !HARMLESS.contains(&name) && !ENDING.contains(&name)
                        }
                    }
                }
                Some(Effect::Flow) => opcode.starts_with("exit"),
                Some(_) => false,
            };
            if matters && !concerned[index] {
                concerned[index] = true;
                work.push(index);
            }
        }
    }
    while let Some(callee) = work.pop() {
        for caller in std::mem::take(&mut callers[callee]) {
            if !concerned[caller] {
                concerned[caller] = true;
                work.push(caller);
            }
        }
    }
    concerned
}

/// For each function of the module, whether it has a barrier of the group or something like it, itself or in
/// what it calls; or what is not known and might be one.
pub(in crate::ptx) fn synchronises(source: &str, module: &Module) -> Vec<bool> {
    let names = names(module);
    let calls_unknown = |instruction: &Instruction| match callee(source, &instruction.operands) {
        Some(name) if HARMLESS.contains(&name) || ENDING.contains(&name) => false,
        Some(name) => names.get(name).is_none_or(|number| module.functions[*number].body.is_none()),
        None => true,
    };
    let is_own = |opcode: &str, instruction: &Instruction| match opcodes::effect(opcode) {
        None | Some(Effect::Synchronises | Effect::Registers) => true,
        Some(Effect::Barrier) => !opcode.starts_with("bar.warp"),
        Some(Effect::Flow) => opcode.starts_with("call") && calls_unknown(instruction),
        Some(_) => false,
    };
    reaching(source, module, is_own)
}

/// For each function of the module, whether it has an instruction of a kind, itself or in what it calls.
pub(super) fn reaching(
    source: &str,
    module: &Module,
    is_own: impl Fn(&str, &Instruction) -> bool,
) -> Vec<bool> {
    let numbers = names(module);
    let mut found: Vec<bool> = Vec::new();
    let mut calls: Vec<Vec<usize>> = Vec::new();
    for function in &module.functions {
        let instructions = function.body.iter().flat_map(|body| &body.instructions);
        let mut own = false;
        let mut called = Vec::new();
        for instruction in instructions {
            let opcode = instruction.opcode.text(source);
            own |= is_own(opcode, instruction);
            if opcode.starts_with("call") {
                called.extend(callee(source, &instruction.operands).and_then(|name| numbers.get(name)));
            }
        }
        found.push(own);
        calls.push(called);
    }
    loop {
        let more: Vec<usize> = (0..found.len())
            .filter(|f| !found[*f] && calls[*f].iter().any(|callee| found[*callee]))
            .collect();
        if more.is_empty() {
            return found;
        }
        more.into_iter().for_each(|function| found[function] = true);
    }
}

fn names(module: &Module) -> HashMap<&str, usize> {
    let mut names = HashMap::new();
    for (index, function) in module.functions.iter().enumerate() {
        // A definition counts more than declarations of the same name.
        if function.body.is_some() || !names.contains_key(function.name.as_str()) {
            names.insert(function.name.as_str(), index);
        }
    }
    names
}

/// The name of the function that is called directly.
fn callee<'s>(source: &'s str, operands: &[Operand]) -> Option<&'s str> {
    operands.iter().take(2).find_map(|operand| match operand {
        Operand::Name(span) => Some(span.text(source)),
        _ => None,
    })
}

impl<'m> Lowerer<'m> {
    /// Lays out the code of a function.
    pub(super) fn inline(
        &mut self,
        function: usize,
        body: &'m Body,
        aliases: HashMap<&'m str, (u32, &'m str)>,
    ) {
        let registers = self.code.registers.len() as Register;
        self.code.registers.extend(body.registers.iter().cloned());
        self.code.bits.extend(&body.bits);
        self.give_halves(body, registers);
        let number = self.frame_count;
        let entry = self.module.functions.get(function).filter(|_| self.frames.is_empty());
        let addresses = entry.map(|entry| of_params(self.source, entry, body)).unwrap_or_default();
        self.frame_count += 1;
        self.frames.push(Frame {
            number,
            function,
            body,
            registers,
            aliases,
            addresses,
            of_reals: of_reals(self.source, body),
            jumps: Vec::new(),
            starts: Vec::with_capacity(body.instructions.len() + 1),
            returns: Vec::new(),
        });
        for instruction in &body.instructions {
            let here = self.code.instructions.len();
            self.frame().starts.push(here);
            self.instruction(instruction);
        }
        let end = self.code.instructions.len();
        let Some(mut frame) = self.frames.pop() else { return };
        frame.starts.push(end);
        if self.frames.is_empty() {
            let span = body.close;
            let action = Action::Exit;
            self.code.instructions.push(crate::kernel::code::Instruction { guard: None, action, span });
        }
        for (at, to) in frame.jumps {
            self.code.instructions[at].action = Action::Jump(frame.starts[to as usize]);
        }
        for at in frame.returns {
            self.code.instructions[at].action = Action::Jump(end);
        }
    }

    pub(super) fn call(&mut self, current: &Current<'m>) {
        let operands = current.operands();
        let (returns, name, arguments) = match operands {
            [Operand::Group(returns), Operand::Name(name), Operand::Group(arguments), ..] => {
                (returns.as_slice(), name, arguments.as_slice())
            }
            [Operand::Group(returns), Operand::Name(name)] => (returns.as_slice(), name, &[][..]),
            [Operand::Name(name), Operand::Group(arguments), ..] => (&[][..], name, arguments.as_slice()),
            [Operand::Name(name)] => (&[][..], name, &[][..]),
            _ => return self.beyond(current, "a call of a function that is known only when it runs"),
        };
        let name = self.text(*name);
        if ENDING.contains(&name) {
            return self.emit(current, Action::Abort);
        }
        let found = names(self.module).get(name).copied();
        let function = found.map(|index| (index, &self.module.functions[index]));
        match function.and_then(|(index, function)| Some((index, function, function.body.as_ref()?))) {
            Some((index, ..)) if !self.concerned[index] && !self.sharing[index] => {
                self.pass(current, index, (arguments, returns));
            }
            Some((index, function, body)) => {
                let (formal, given) = (&function.params[..], &function.returns[..]);
                let (formal, given) = ((formal, arguments), (given, returns));
                match self.why_not_inlined(current, (index, body), formal, given) {
                    None => self.enter(current, (index, body), formal, given),
                    Some(why) if self.concerned[index] => self.beyond(current, why),
                    Some(_) => self.pass(current, index, (arguments, returns)),
                }
            }
            None if HARMLESS.contains(&name) => self.results(current, returns),
            None => self.beyond(current, &format!("a call of `{name}`, whose code is not here")),
        }
    }

    /// A call of a function that is not inlined: what it writes may be anywhere.
    fn pass(
        &mut self,
        current: &Current<'m>,
        index: usize,
        (given, returns): (&'m [Operand], &'m [Operand]),
    ) {
        if self.asks {
            let mut read = Vec::new();
            for operand in given {
                match operand {
                    Operand::Name(span) => read.extend(self.cells_of(*span)),
                    operand => self.registers_of(operand, &mut read),
                }
            }
            let read = read.into_iter().map(Argument::Register).collect();
            self.emit(current, Action::Uses(read));
        }
        let writes = [(self.writing[index], Memory::Global), (self.sharing[index], Memory::Shared)];
        for (_, memory) in writes.into_iter().filter(|(writes, _)| *writes) {
            self.emit(current, Action::Store { address: None, memory, written: Written::Data });
        }
        self.accesses_somewhere(current);
        self.results(current, returns);
    }

    /// Why a function cannot be inlined, if it cannot.
    fn why_not_inlined(
        &self,
        current: &Current<'m>,
        (index, body): (usize, &'m Body),
        (formal, actual): Passed<'m>,
        (given, returns): Passed<'m>,
    ) -> Option<&'static str> {
        let length = self.code.instructions.len() + body.instructions.len();
        if self.frames.iter().any(|frame| frame.function == index) {
            Some("a recursive call")
        } else if self.frames.len() >= DEPTH || length > INSTRUCTIONS {
            Some("a call too deep inside other calls")
        } else if current.guard.is_some() {
            Some("a call under a guard")
        } else if formal.len() != actual.len() || given.len() != returns.len() {
            Some("a call with other parameters than the function has")
        } else if formal.iter().chain(given).any(|param| param.register.is_some()) {
            Some("a call that passes registers")
        } else {
            None
        }
    }

    /// A function that was not inlined: its results are unknown.
    fn results(&mut self, current: &Current<'m>, returns: &'m [Operand]) {
        for operand in returns {
            match operand {
                Operand::Name(span) => {
                    let (frame, name) = self.passed(self.text(*span));
                    self.cell(frame, name, 0);
                    for cell in self.cells_of(*span) {
                        self.compute(current, cell, Function::Unknown, &[]);
                    }
                }
                Operand::Register(register, _) => {
                    let to = self.register(*register);
                    self.compute(current, to, Function::Unknown, &[]);
                }
                _ => {}
            }
        }
    }

    /// The registers that hold parts of what is passed by a name.
    fn cells_of(&mut self, name: Span) -> Vec<Register> {
        let (frame, name) = self.passed(self.text(name));
        let is_part = |(of, known, _): &(u32, &str, i64)| (*of, *known) == (frame, name);
        self.cells.iter().filter(|(cell, _)| is_part(cell)).map(|(_, cell)| *cell).collect()
    }

    fn enter(
        &mut self,
        current: &Current<'m>,
        (index, body): (usize, &'m Body),
        (formal, actual): Passed<'m>,
        (given, returns): Passed<'m>,
    ) {
        let long = Type { bits: 64, signed: false };
        let frame = self.frame_count;
        let mut aliases = HashMap::new();
        for (param, operand) in formal.iter().zip(actual).chain(given.iter().zip(returns)) {
            if let Operand::Name(span) = operand {
                let passed = self.passed(self.text(*span));
                aliases.insert(param.name.as_str(), passed);
            }
        }
        for (param, operand) in formal.iter().zip(actual) {
            if !matches!(operand, Operand::Name(_)) {
                let value = self.argument(current, operand);
                let cell = self.cell(frame, param.name.as_str(), 0);
                self.compute(current, cell, copy(long), &[value]);
            }
        }
        self.inline(index, body, aliases);
        for (param, operand) in given.iter().zip(returns) {
            if let Operand::Register(register, _) = operand {
                let to = self.register(*register);
                let cell = self.cell(frame, param.name.as_str(), 0);
                self.compute(current, to, copy(long), &[Argument::Register(cell)]);
            }
        }
    }

    /// Whose parameter a name stands for in the innermost function.
    pub(super) fn passed(&self, name: &'m str) -> (u32, &'m str) {
        match self.frames.last() {
            Some(frame) => frame.aliases.get(name).copied().unwrap_or((frame.number, name)),
            None => (0, name),
        }
    }

    /// The register for what is passed in a parameter at an offset.
    pub(super) fn cell(&mut self, frame: u32, name: &'m str, offset: i64) -> Register {
        if let Some(cell) = self.cells.get(&(frame, name, offset)) {
            return *cell;
        }
        let cell = self.code.register(name);
        self.cells.insert((frame, name, offset), cell);
        cell
    }
}
