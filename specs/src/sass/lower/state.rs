//! What is being laid out: the code so far, the regions on the way, and the instruction at hand.

use std::collections::HashMap;

use barcheck_model::program::Target;

use crate::common::span::Span;
use crate::kernel::code::{Action, Argument, Code, Function, Guard, Instruction, Operation, Type};
use crate::module::Launch;
use crate::sass::operand::{File, Kind, Operand, Register};
use crate::sass::syntax::{self, Listing, Statement};

/// A predicate.
pub(super) const BIT: Type = Type { bits: 1, signed: false };
/// A register.
pub(super) const WORD: Type = Type { bits: 32, signed: false };

/// Code that is being laid out: what is reached from one instruction of a function.
#[derive(Debug, Default)]
pub(super) struct Frame {
    /// The function, and the instruction at which it is entered.
    pub(super) entered: (usize, usize),
    /// Jumps to be set: the instruction of the code, and that of the function to which it leads.
    pub(super) jumps: Vec<(usize, usize)>,
    /// Where each instruction of the function begins in the code.
    pub(super) starts: HashMap<usize, usize>,
    /// Jumps back to whoever has called.
    pub(super) returns: Vec<usize>,
    /// Where `SYNC`, `BRK` and `CONT` lead.
    pub(super) pops: HashMap<usize, usize>,
}

/// A loop over lanes that is being laid out.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfLanes {
    /// The jump back.
    pub(super) end: usize,
    /// The two functions of predicates by which a lane gives it up.
    pub(super) ends: [usize; 2],
    /// Which lanes go through it, where it begins.
    pub(super) lanes: Guard,
    /// What holds for those that still have to, and for the one whose turn it is.
    pub(super) predicates: [Register; 2],
}

/// A copy, the register from which the address of its tensor map is counted, and bytes behind that.
pub(super) type Start = (Span, u32, i64);

pub(super) struct Lowerer<'m> {
    pub(super) listing: &'m Listing<'m>,
    pub(super) launch: &'m Launch,
    pub(super) target: Target,
    pub(super) entry: usize,
    pub(super) code: Code,
    /// The positions of names in the code.
    pub(super) names: HashMap<String, u32>,
    /// The registers of the code, by file and number; the carry flag has a number that no predicate has.
    pub(super) registers: HashMap<(File, u32), u32>,
    /// The regions that are being laid out, the innermost last.
    pub(super) frames: Vec<Frame>,
    /// The loop over lanes that is being laid out.
    pub(super) of_lanes: Option<OfLanes>,
    /// The words of the stack are registers.
    pub(super) has_words: bool,
    /// It is asked somewhere whether a phase is complete.
    pub(super) asks: bool,
    /// From what the addresses of tensor maps are computed.
    pub(super) maps: Vec<Start>,
    /// For what is called, the registers that say where it comes back to; `None` for a stack.
    pub(super) returns: HashMap<(usize, usize), Vec<Option<Register>>>,
    /// All threads of the CTA take part in each reduction.
    pub(super) reduces_all: bool,
}

/// An instruction that is being lowered.
#[derive(Clone)]
pub(super) struct Current<'m> {
    pub(super) at: usize,
    pub(super) statement: &'m Statement<'m>,
    pub(super) root: &'m str,
    /// The modifiers.
    pub(super) parts: Vec<&'m str>,
    pub(super) operands: Vec<Operand<'m>>,
    pub(super) guard: Option<Guard>,
}

impl Current<'_> {
    pub(super) fn has(&self, part: &str) -> bool {
        self.parts.contains(&part)
    }

    pub(super) fn span(&self) -> Span {
        self.statement.span
    }
}

/// The number of the carry flag among predicates.
const CARRY: u32 = 99;

impl<'m> Lowerer<'m> {
    pub(super) fn here(&self) -> usize {
        self.frames.last().map_or(self.entry, |frame| frame.entered.0)
    }

    pub(super) fn function(&self) -> &'m syntax::Function<'m> {
        &self.listing.functions[self.here()]
    }

    pub(super) fn emit(&mut self, current: &Current<'m>, action: Action) {
        let (guard, span) = (current.guard, current.span());
        self.code.instructions.push(Instruction { guard, action, span });
    }

    pub(super) fn beyond(&mut self, current: &Current<'m>, what: &str) {
        self.emit(current, Action::Beyond(what.to_owned()));
    }

    /// Writes a register under the guard of the instruction.
    pub(super) fn compute(
        &mut self,
        current: &Current<'m>,
        to: u32,
        function: Function,
        arguments: &[Argument],
    ) {
        let arguments = arguments.to_vec();
        self.emit(current, Action::Compute { to, function, arguments });
    }

    /// A value of its own, whatever the guard.
    pub(super) fn intermediate(
        &mut self,
        current: &Current<'m>,
        function: Function,
        arguments: &[Argument],
    ) -> Argument {
        let to = self.code.register("");
        let action = Action::Compute { to, function, arguments: arguments.to_vec() };
        self.code.instructions.push(Instruction { guard: None, action, span: current.span() });
        Argument::Register(to)
    }

    /// The same for an operation on registers of 32 bits.
    pub(super) fn word(
        &mut self,
        current: &Current<'m>,
        operation: Operation,
        arguments: &[Argument],
    ) -> Argument {
        self.intermediate(current, Function::Integer(operation, WORD), arguments)
    }

    pub(super) fn name(&mut self, name: &str) -> u32 {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let next = self.code.names.len() as u32;
        self.code.names.push(name.to_owned());
        self.names.insert(name.to_owned(), next);
        next
    }

    /// The register of the code for one of the machine.
    pub(super) fn cell(&mut self, file: File, number: u32) -> u32 {
        if let Some(known) = self.registers.get(&(file, number)) {
            return *known;
        }
        let name = if number == CARRY { "CC".to_owned() } else { format!("{}{number}", file.letters()) };
        let cell = self.code.register(&name);
        self.code.bits[cell as usize] = if file.is_predicate() { 1 } else { 32 };
        self.registers.insert((file, number), cell);
        cell
    }

    pub(super) fn carry(&mut self) -> u32 {
        self.cell(File::Predicate, CARRY)
    }

    /// What a register holds, or the one so many behind it.
    pub(super) fn register(&mut self, current: &Current<'m>, register: Register, behind: u32) -> Argument {
        let Some(number) = register.number else {
            return Argument::Number(u64::from(register.file.is_predicate()));
        };
        if register.file == File::General && self.function().shares_registers {
            return self.intermediate(current, Function::Unknown, &[]);
        }
        Argument::Register(self.cell(register.file, number + behind))
    }

    /// The register that a name stands for, where the listing gives names.
    pub(super) fn named(&self, name: &str) -> Option<Operand<'m>> {
        let name = name.strip_suffix(".reuse").unwrap_or(name);
        let number = self.function().registers.get(name).copied();
        let kind = match (number, self.function().constants.get(name)) {
            (Some(number), _) => Kind::Register(Register { file: File::General, number: Some(number) }, ""),
            (None, Some((bank, offset))) => Kind::Constant(*bank, None, i64::from(*offset)),
            (None, None) => return None,
        };
        Some(Operand { sign: crate::sass::operand::Sign::default(), kind })
    }
}
