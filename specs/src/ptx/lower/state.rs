//! What is being laid out: the code so far, and the functions on the way.

use std::collections::{HashMap, HashSet};

use crate::common::span::Span;
use crate::kernel::code::{
    Action, Argument, Code, Function, Guard, Index, Instruction, Operation, Register, Type,
};
use crate::module::Launch;
use crate::ptx::syntax::{self, Body, Module, Operand};

use super::addresses::Fixed;
use super::functions::{WORD, logical_not};
use super::types::{self, Special};

/// A function whose code is being laid out.
pub(super) struct Frame<'m> {
    pub(super) number: u32,
    /// Its position in the module.
    pub(super) function: usize,
    pub(super) body: &'m Body,
    /// The first of its registers in the code.
    pub(super) registers: Register,
    /// Parameters by name: those of whoever calls it.
    pub(super) aliases: HashMap<&'m str, (u32, &'m str)>,
    /// Registers that hold addresses that the entry's parameters say.
    pub(super) addresses: HashMap<u32, Fixed<'m>>,
    /// Predicates that come of comparisons of real numbers.
    pub(super) of_reals: HashSet<u32>,
    /// Jumps to be set: the instruction of the code, and the instruction of the body that it leads to.
    pub(super) jumps: Vec<(usize, u32)>,
    /// Where each instruction of the body begins in the code.
    pub(super) starts: Vec<usize>,
    /// Jumps to the end of the function.
    pub(super) returns: Vec<usize>,
}

pub(super) struct Lowerer<'m> {
    pub(super) source: &'m str,
    pub(super) module: &'m Module,
    pub(super) launch: &'m Launch,
    pub(super) code: Code,
    /// The positions of names in the code.
    pub(super) names: HashMap<String, u32>,
    /// Registers for what is passed to and from functions: frame, name, offset.
    pub(super) cells: HashMap<(u32, &'m str, i64), Register>,
    /// Which functions of the module have to be inlined.
    pub(super) concerned: Vec<bool>,
    /// Which functions of the module write memory.
    pub(super) writing: Vec<bool>,
    /// Which of them may write shared memory: they are inlined as well, if that can be.
    pub(super) sharing: Vec<bool>,
    /// The functions that are being laid out, the innermost last.
    pub(super) frames: Vec<Frame<'m>>,
    pub(super) frame_count: u32,
    /// The halves of registers that are packed: the lower and the upper.
    pub(super) halves: HashMap<Register, [Register; 2]>,
    /// Copies that a thread issues arrive at objects when they have landed.
    pub(super) copies_arrive: bool,
    /// Memory is followed, and threads wait for copies out of memory of the group.
    pub(super) copies_out: bool,
    /// Memory is followed, and copies complete on objects.
    pub(super) lands: bool,
    /// What fences release may travel with later arrivals.
    pub(super) releases: bool,
    /// Instructions that name lanes of a warp by a register, by position.
    pub(super) masks: Vec<(usize, Register)>,
    /// It is asked somewhere whether a phase is complete.
    pub(super) asks: bool,
    /// Something is loaded from memory that threads may write.
    pub(super) loads: bool,
}

/// An instruction that is being lowered.
pub(super) struct Current<'m> {
    pub(super) instruction: &'m syntax::Instruction,
    /// The whole opcode, and its parts.
    pub(super) opcode: &'m str,
    pub(super) parts: Vec<&'m str>,
    pub(super) guard: Option<Guard>,
}

impl<'m> Current<'m> {
    pub(super) fn operands(&self) -> &'m [Operand] {
        &self.instruction.operands
    }

    pub(super) fn has(&self, part: &str) -> bool {
        self.parts.contains(&part)
    }

    /// The last type among the modifiers.
    pub(super) fn ty(&self) -> Option<Type> {
        self.parts.iter().rev().find_map(|part| types::integer(part))
    }

    /// Whether a modifier is a floating-point type.
    pub(super) fn is_real(&self) -> bool {
        self.parts.iter().skip(1).any(|part| types::is_real(part))
    }
}

impl<'m> Lowerer<'m> {
    pub(super) fn frame(&mut self) -> &mut Frame<'m> {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn text(&self, span: Span) -> &'m str {
        span.text(self.source)
    }

    /// Adds an instruction of its own guard and place.
    pub(super) fn emit(&mut self, current: &Current<'m>, action: Action) {
        let (guard, span) = (current.guard, current.instruction.span);
        self.code.instructions.push(Instruction { guard, action, span });
    }

    /// Adds an instruction that is executed by all, since it writes a register of this reader's own.
    pub(super) fn emit_always(&mut self, current: &Current<'m>, action: Action) {
        let span = current.instruction.span;
        self.code.instructions.push(Instruction { guard: None, action, span });
    }

    pub(super) fn compute(
        &mut self,
        current: &Current<'m>,
        to: Register,
        function: Function,
        arguments: &[Argument],
    ) {
        let arguments = arguments.to_vec();
        self.emit(current, Action::Compute { to, function, arguments });
        self.halve(current, to);
    }

    /// The value of a function, in a register of this reader's own.
    pub(super) fn intermediate(
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
    pub(super) fn name(&mut self, name: &str) -> u32 {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let position = self.code.names.len() as u32;
        self.code.names.push(name.to_owned());
        self.names.insert(name.to_owned(), position);
        position
    }

    pub(super) fn register(&mut self, register: u32) -> Register {
        self.frame().registers + register
    }

    /// What an operand is worth. `None` if that is unknown.
    pub(super) fn argument(&mut self, current: &Current<'m>, operand: &Operand) -> Argument {
        match operand {
            Operand::Register(register, false) => Argument::Register(self.register(*register)),
            Operand::Register(register, true) => {
                let argument = Argument::Register(self.register(*register));
                self.intermediate(current, logical_not(), &[argument])
            }
            Operand::Number(number) => Argument::Number(*number),
            Operand::Name(span) => self.named(current, self.text(*span)),
            _ => self.intermediate(current, Function::Unknown, &[]),
        }
    }

    /// What a name is worth: a special register, a symbol, a floating-point number.
    pub(super) fn named(&mut self, current: &Current<'m>, name: &str) -> Argument {
        if name == "WARP_SZ" {
            return Argument::Number(32);
        }
        if !name.starts_with('%') {
            // All arrays whose size the launch gives begin at one address (CUDA C++ Programming Guide,
            // `__shared__`).
            let dynamic = &self.module.dynamic;
            let first = dynamic.first().filter(|_| dynamic.iter().any(|one| one == name));
            let symbol = self.name(first.map_or(name, String::as_str));
            self.code.symbols.insert(symbol);
            let length = self.module.lengths.get(name).copied().flatten();
            self.code.lengths.extend(length.map(|bytes| (symbol, bytes)));
            return Argument::Same(symbol);
        }
        if name.starts_with("%cluster_") {
            self.is_about_clusters(current);
        }
        let is_across = ["%tid.y", "%tid.z", "%ntid.y", "%ntid.z"].contains(&name);
        if is_across && self.launch.is_flat() {
            let message = "all threads lie along x, though this asks where they are along y or z: say it by --cta X,Y,Z";
            self.code.assumed.push((message.to_owned(), current.instruction.span));
        }
        match types::special(name, self.launch.size, self.launch.cluster) {
            Special::Is(argument) => argument,
            Special::Same => self.of_grid(name),
            Special::OfWarp => self.intermediate(current, Function::OfWarp, &[]),
            Special::Unknown => self.intermediate(current, Function::Unknown, &[]),
            // Clusters follow one another along each direction.
            Special::InCluster(direction) => {
                let cluster = self.of_grid(&name.replace("ctaid", "clusterid"));
                let count = Argument::Number(u64::from(self.launch.cluster[usize::from(direction)]));
                let times = Function::Integer(Operation::Multiply, WORD);
                let first = self.intermediate(current, times, &[cluster, count]);
                let add = Function::Integer(Operation::Add, WORD);
                self.intermediate(current, add, &[first, Argument::Index(Index::Group(direction))])
            }
            // A grid has no parts of clusters.
            Special::OfClusters(direction) => {
                let clusters = self.of_grid(&name.replace("ctaid", "clusterid"));
                let count = Argument::Number(u64::from(self.launch.cluster[usize::from(direction)]));
                let times = Function::Integer(Operation::Multiply, WORD);
                self.intermediate(current, times, &[clusters, count])
            }
        }
    }

    /// A register that is the same for the whole group: known if the launch says so.
    fn of_grid(&mut self, name: &str) -> Argument {
        self.launch.of_grid(name).map_or_else(|| Argument::Same(self.name(name)), Argument::Number)
    }

    /// Every register that the instruction writes gets an unknown value.
    pub(super) fn opaque(&mut self, current: &Current<'m>, function: Function) {
        for register in self.written(current) {
            self.compute(current, register, function, &[]);
        }
    }

    /// The registers that the instruction writes: those before an address, or in its first operand.
    pub(super) fn written(&mut self, current: &Current<'m>) -> Vec<Register> {
        let operands = current.operands();
        let is_address = |operand: &Operand| {
            matches!(operand, Operand::Address(..) | Operand::Within(..) | Operand::Other)
        };
        let count = operands.iter().position(is_address).unwrap_or(operands.len().min(1));
        let mut written = Vec::new();
        for operand in &operands[..count] {
            self.registers_of(operand, &mut written);
        }
        written
    }

    pub(super) fn registers_of(&mut self, operand: &Operand, found: &mut Vec<Register>) {
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
