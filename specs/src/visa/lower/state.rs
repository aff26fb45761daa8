//! What is being laid out: the code so far, and the instruction at hand.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::kernel::code::{Action, Argument, Code, Function, Guard, Instruction, Operation, Type};
use crate::module::Launch;
use crate::visa::opcodes::{self, Effect};
use crate::visa::operand::Operand;
use crate::visa::syntax::{self, Kind, Statement};

/// Opcodes that write their second operand too.
pub(super) const CARRIES: [&str; 5] = ["addc", "subb", "pack_mask", "unpack_mask", "setp"];

/// A predicate.
pub(super) const BIT: Type = Type { bits: 1, signed: false };

/// Bytes of a variable that is no part of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) from: u32,
    pub(super) bytes: u32,
}

impl Cell {
    pub(super) fn meets(self, other: Self) -> bool {
        self.from < other.from.saturating_add(other.bytes)
            && other.from < self.from.saturating_add(self.bytes)
    }
}

/// Code that is being laid out: what is reached from one instruction.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) entered: usize,
    pub(super) jumps: Vec<(usize, usize)>,
    pub(super) starts: HashMap<usize, usize>,
    pub(super) returns: Vec<usize>,
}

pub(super) struct Lowerer<'m> {
    pub(super) function: &'m syntax::Function<'m>,
    pub(super) launch: &'m Launch,
    pub(super) code: Code,
    pub(super) names: HashMap<String, u32>,
    /// The parts of each variable that instructions name, and the registers for them.
    pub(super) cells: HashMap<&'m str, BTreeMap<Cell, u32>>,
    /// The variables that instructions may write; whether one may write any.
    pub(super) written: HashSet<&'m str>,
    pub(super) writes_any: bool,
    pub(super) frames: Vec<Frame>,
}

/// An instruction that is being lowered.
pub(super) struct Current<'m> {
    pub(super) at: usize,
    pub(super) statement: &'m Statement<'m>,
    /// The opcode in small letters, without modifiers; the modifiers.
    pub(super) root: String,
    pub(super) parts: Vec<String>,
    pub(super) guard: Option<Guard>,
}

impl<'m> Lowerer<'m> {
    pub(super) fn new(function: &'m syntax::Function<'m>, launch: &'m Launch) -> Self {
        let (code, names, cells) = (Code::default(), HashMap::new(), HashMap::new());
        let (written, writes_any, frames) = (HashSet::new(), false, Vec::new());
        let mut lowerer = Self { function, launch, code, names, cells, written, writes_any, frames };
        lowerer.collect();
        lowerer
    }

    pub(super) fn emit(&mut self, current: &Current<'m>, action: Action) {
        let (guard, span) = (current.guard, current.statement.span);
        self.code.instructions.push(Instruction { guard, action, span });
    }

    pub(super) fn beyond(&mut self, current: &Current<'m>, what: &str) {
        self.emit(current, Action::Beyond(what.to_owned()));
    }

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

    pub(super) fn intermediate(
        &mut self,
        current: &Current<'m>,
        function: Function,
        arguments: &[Argument],
    ) -> Argument {
        let to = self.code.register("");
        let action = Action::Compute { to, function, arguments: arguments.to_vec() };
        self.code.instructions.push(Instruction { guard: None, action, span: current.statement.span });
        Argument::Register(to)
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

    /// The code of an instruction.
    pub(super) fn statement(&mut self, at: usize, statement: &'m Statement<'m>) {
        let lower = statement.opcode.to_ascii_lowercase();
        let mut parts = lower.split('.').map(str::to_owned);
        let root = parts.next().unwrap_or_default();
        let mut current = Current { at, statement, root, parts: parts.collect(), guard: None };
        let selects = current.root == "sel";
        if let Some(guard) = statement.guard.filter(|_| !selects) {
            match self.guard(guard) {
                Some(guard) => current.guard = Some(guard),
                None => return self.beyond(&current, "a predicate that is not known"),
            }
        }
        let name = statement.opcode;
        match opcodes::effect(name) {
            None => self.beyond(&current, &format!("`{name}`, which is not known")),
            Some(Effect::Message) => self.message(&current),
            Some(Effect::Barrier) => self.barrier(&current),
            Some(Effect::Flow) => self.flow(&current),
            Some(Effect::Computes) => self.computes(&current),
            Some(Effect::Touches) => self.touches(&current),
            Some(Effect::Nothing) => self.emit(&current, Action::Nothing),
        }
    }

    /// `P1`, `!P1`, `P1.any`: a predicate of one lane. Of several its value is unknown, since whatever writes
    /// it is not followed.
    fn guard(&mut self, text: &str) -> Option<Guard> {
        let (negated, name) = match text.strip_prefix('!') {
            Some(name) => (true, name),
            None => (false, text),
        };
        let name = name.split('.').next().unwrap_or_default();
        self.function.variables.get(name).filter(|variable| variable.kind == Kind::Predicate)?;
        let name = self.function.variables.get_key_value(name).map(|(name, _)| *name)?;
        let register = self.cell(name, Cell { from: 0, bytes: 1 });
        Some(Guard { register, negated })
    }

    /// A number, or what a part of a variable holds, in so many bits.
    pub(super) fn value(&mut self, current: &Current<'m>, text: &'m str, ty: Type) -> Option<Argument> {
        let (value, from) = match Operand::of(text) {
            Operand::Number(number, _) => {
                let mask = if ty.bits >= 64 { u64::MAX } else { (1 << ty.bits) - 1 };
                return Some(Argument::Number(number & mask));
            }
            Operand::Region { name, row: 0, column, negated, .. } => {
                let (place, from) = self.place(name, column)?;
                let mut value = self.read(place)?;
                if negated {
                    let function = Function::Integer(Operation::Negate, from);
                    value = self.intermediate(current, function, &[value]);
                }
                (value, from)
            }
            _ => return None,
        };
        if from == ty && !matches!(value, Argument::Same(_)) {
            return Some(value);
        }
        Some(self.intermediate(current, Function::Integer(Operation::Convert(from), ty), &[value]))
    }
}
