//! What a module declares: types, constants, names, functions, entries.

use std::collections::{HashMap, HashSet};

use crate::common::span::Span;
use crate::kernel::code::Type as Integer;

use super::opcodes::op;
use super::syntax::{Instruction, Listing, Operand};
use super::words::{Builtin, MODELS, class, decoration, mode};

/// A type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Integer(Integer),
    /// A floating-point number, of so many bits.
    Real,
    /// So many of a type.
    Several(u32, u64),
    Struct(Vec<u32>),
    /// To a type, in a storage class.
    Pointer(u32, u32),
    Other,
}

/// A constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Constant {
    Number(u64),
    /// A number that may be set when the module is specialised: its default.
    Specialised(u64),
    Composite(Vec<u32>),
    /// All bits are 0.
    Null,
}

/// A function.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) id: u32,
    pub(super) params: Vec<u32>,
    /// The instructions of its body, by their positions; empty where it is only declared.
    pub(super) body: std::ops::Range<usize>,
    pub(super) span: Span,
}

/// What is launched.
#[derive(Clone, Debug)]
pub(super) struct EntryPoint {
    pub(super) name: String,
    pub(super) function: u32,
    pub(super) span: Span,
}

/// A size that an execution mode gives: numbers, or the ids of constants.
#[derive(Clone, Debug)]
pub(super) struct Size {
    pub(super) numbers: [u64; 3],
    pub(super) are_ids: bool,
    pub(super) span: Span,
}

/// What is said of an entry.
#[derive(Clone, Debug, Default)]
pub(super) struct Modes {
    pub(super) size: Option<Size>,
    pub(super) most: Option<Size>,
    pub(super) subgroup: Option<u64>,
}

/// What a module declares.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    pub(super) types: HashMap<u32, Type>,
    /// The type of each value.
    pub(super) type_of: HashMap<u32, u32>,
    pub(super) constants: HashMap<u32, Constant>,
    /// Where constants that may be specialised stand.
    pub(super) specialised: HashMap<u32, Span>,
    pub(super) names: HashMap<u32, String>,
    /// How many have each name.
    named: HashMap<String, u32>,
    pub(super) strings: HashMap<u32, String>,
    /// Sets of further instructions.
    pub(super) sets: HashMap<u32, String>,
    pub(super) builtins: HashMap<u32, Builtin>,
    pub(super) spec_ids: HashMap<u32, u64>,
    /// Structures that are buffers which the kernel may write.
    pub(super) buffers: HashSet<u32>,
    /// Variables that others may write at any time.
    pub(super) watched: HashSet<u32>,
    pub(super) functions: Vec<Function>,
    /// A function without an end.
    pub(super) open: Option<Span>,
    pub(super) numbers: HashMap<u32, usize>,
    pub(super) entries: Vec<EntryPoint>,
    pub(super) modes: HashMap<u32, Modes>,
    /// The constant that is the size of the workgroup, which counts more than execution modes.
    pub(super) size: Option<u32>,
    /// Variables outside of functions.
    pub(super) variables: Vec<usize>,
    /// What defines each id, by the position of the instruction.
    pub(super) definitions: HashMap<u32, usize>,
}

/// Types inside one another, at most.
const DEPTH: u32 = 16;

impl Declarations {
    pub(super) fn of(listing: &Listing) -> Self {
        let mut declarations = Self::default();
        let mut open: Option<Function> = None;
        for (at, instruction) in listing.instructions.iter().enumerate() {
            if instruction.result > 0 {
                declarations.definitions.insert(instruction.result, at);
                if instruction.ty > 0 {
                    declarations.type_of.insert(instruction.result, instruction.ty);
                }
            }
            match instruction.opcode {
                Some(op::FUNCTION) => {
                    let body = at + 1..at + 1;
                    let span = instruction.span;
                    open = Some(Function { id: instruction.result, params: Vec::new(), body, span });
                }
                Some(op::FUNCTION_PARAMETER) => {
                    if let Some(function) = &mut open {
                        function.params.push(instruction.result);
                        function.body = at + 1..at + 1;
                    }
                }
                Some(op::FUNCTION_END) => declarations.close(open.take(), at, listing),
                _ if open.is_some() => {}
                Some(op::VARIABLE) => declarations.variables.push(at),
                _ => declarations.declare(instruction),
            }
        }
        declarations.open = open.map(|function| function.span);
        declarations
    }

    fn close(&mut self, function: Option<Function>, end: usize, listing: &Listing) {
        let Some(mut function) = function else { return };
        let body = &listing.instructions[function.body.start..end];
        let has_code = body.iter().any(|instruction| instruction.is(op::LABEL));
        function.body.end = if has_code { end } else { function.body.start };
        self.numbers.insert(function.id, self.functions.len());
        self.functions.push(function);
    }

    fn declare(&mut self, instruction: &Instruction) {
        let result = instruction.result;
        match instruction.opcode {
            Some(op::NAME | op::STRING | op::EXT_INST_IMPORT | op::ENTRY_POINT) => self.name(instruction),
            Some(op::DECORATE | op::MEMBER_DECORATE) => self.decorate(instruction),
            Some(op::EXECUTION_MODE | op::EXECUTION_MODE_ID) => self.mode(instruction),
            Some(op::CONSTANT_TRUE | op::SPEC_CONSTANT_TRUE) => self.constant(instruction, Some(1)),
            Some(op::CONSTANT_FALSE | op::SPEC_CONSTANT_FALSE) => self.constant(instruction, Some(0)),
            Some(op::CONSTANT | op::SPEC_CONSTANT) => self.constant(instruction, instruction.number(0)),
            Some(op::CONSTANT_NULL) => {
                self.constants.insert(result, Constant::Null);
            }
            Some(op::CONSTANT_COMPOSITE | op::SPEC_CONSTANT_COMPOSITE) => {
                self.constants.insert(result, Constant::Composite(instruction.ids(0).collect()));
            }
            _ => {
                if let Some(ty) = self.type_declared(instruction) {
                    self.types.insert(result, ty);
                }
            }
        }
    }

    fn type_declared(&self, instruction: &Instruction) -> Option<Type> {
        Some(match instruction.opcode? {
            op::TYPE_BOOL => Type::Integer(Integer { bits: 1, signed: false }),
            op::TYPE_INT => {
                let signed = instruction.number(1) == Some(1);
                match instruction.number(0)? {
                    bits @ (8 | 16 | 32 | 64) => Type::Integer(Integer { bits: bits as u8, signed }),
                    _ => Type::Other,
                }
            }
            op::TYPE_FLOAT => Type::Real,
            op::TYPE_VECTOR | op::TYPE_MATRIX => Type::Several(instruction.id(0)?, instruction.number(1)?),
            op::TYPE_ARRAY => match self.constants.get(&instruction.id(1)?) {
                Some(Constant::Number(length)) => Type::Several(instruction.id(0)?, *length),
                // How long it is may change when the module is specialised.
                _ => Type::Several(instruction.id(0)?, u64::MAX),
            },
            op::TYPE_RUNTIME_ARRAY => Type::Several(instruction.id(0)?, u64::MAX),
            op::TYPE_STRUCT => Type::Struct(instruction.ids(0).collect()),
            op::TYPE_POINTER => {
                let class = instruction.enumerant(0, &class::WORDS).unwrap_or(u32::MAX);
                Type::Pointer(instruction.id(1)?, class)
            }
            op::TYPE_VOID | op::TYPE_FUNCTION => return None,
            _ => Type::Other,
        })
    }

    fn name(&mut self, instruction: &Instruction) {
        match instruction.opcode {
            Some(op::NAME) => {
                if let (Some(id), Some(name)) = (instruction.id(0), instruction.text(1)) {
                    let name = name.replace('%', "_");
                    *self.named.entry(name.chars().take(60).collect()).or_default() += 1;
                    self.names.insert(id, name);
                }
            }
            Some(op::STRING) => {
                let text = instruction.text(0).unwrap_or_default();
                self.strings.insert(instruction.result, text.to_owned());
            }
            Some(op::EXT_INST_IMPORT) => {
                let text = instruction.text(0).unwrap_or_default();
                self.sets.insert(instruction.result, text.to_owned());
            }
            _ => {
                let model = instruction.enumerant(0, &MODELS);
                let is_launched = MODELS.iter().any(|(_, known)| Some(*known) == model);
                if let (true, Some(function), Some(name)) =
                    (is_launched, instruction.id(1), instruction.text(2))
                {
                    self.entries.push(EntryPoint { name: name.to_owned(), function, span: instruction.span });
                }
            }
        }
    }

    fn constant(&mut self, instruction: &Instruction, number: Option<u64>) {
        let result = instruction.result;
        let bits = match self.types.get(&instruction.ty) {
            Some(Type::Integer(ty)) => ty.bits,
            // What is no integer is no number that counts.
            _ => return,
        };
        let Some(number) = number else { return };
        let number = if bits < 64 { number & ((1 << bits) - 1) } else { number };
        let is_fixed =
            matches!(instruction.opcode, Some(op::CONSTANT | op::CONSTANT_TRUE | op::CONSTANT_FALSE));
        if is_fixed {
            self.constants.insert(result, Constant::Number(number));
        } else {
            self.constants.insert(result, Constant::Specialised(number));
            self.specialised.insert(result, instruction.span);
        }
    }

    fn decorate(&mut self, instruction: &Instruction) {
        let of_member = usize::from(instruction.is(op::MEMBER_DECORATE));
        let Some(target) = instruction.id(0) else { return };
        match instruction.enumerant(1 + of_member, &decoration::WORDS) {
            Some(decoration::BUILT_IN) if of_member == 0 => {
                let builtin = match instruction.operands.get(2) {
                    Some(Operand::Word(word)) => Builtin::of_word(word),
                    Some(Operand::Number(number)) => Builtin::of_number(*number),
                    _ => Builtin::Other,
                };
                if builtin == Builtin::WorkgroupSize {
                    self.size = Some(target);
                }
                self.builtins.insert(target, builtin);
            }
            Some(decoration::SPEC_ID) => {
                self.spec_ids.extend(instruction.number(2).map(|number| (target, number)));
            }
            Some(decoration::BUFFER_BLOCK) => {
                self.buffers.insert(target);
            }
            Some(decoration::VOLATILE | decoration::COHERENT) => {
                self.watched.insert(target);
            }
            _ => {}
        }
    }

    fn mode(&mut self, instruction: &Instruction) {
        let Some(function) = instruction.id(0) else { return };
        let modes = self.modes.entry(function).or_default();
        let number = |at: usize| instruction.number(at).unwrap_or(1);
        let kind = instruction.enumerant(1, &mode::WORDS);
        let are_ids = instruction.is(op::EXECUTION_MODE_ID) || kind == Some(mode::LOCAL_SIZE_ID);
        let size =
            || Some(Size { numbers: [number(2), number(3), number(4)], are_ids, span: instruction.span });
        match kind {
            Some(mode::LOCAL_SIZE | mode::LOCAL_SIZE_ID) => modes.size = size(),
            Some(mode::MAX_WORKGROUP_SIZE) => modes.most = size(),
            Some(mode::SUBGROUP_SIZE) => modes.subgroup = instruction.number(2),
            _ => {}
        }
    }

    /// Whether a name is that of a single id.
    pub(super) fn is_named_once(&self, name: &str) -> bool {
        let cut: String = name.chars().take(60).collect();
        !cut.is_empty() && self.named.get(&cut) == Some(&1)
    }

    /// Whether no id has this name.
    pub(super) fn is_free(&self, name: &str) -> bool {
        !self.named.contains_key(name)
    }

    /// The function with this id.
    pub(super) fn function(&self, id: u32) -> Option<&Function> {
        self.numbers.get(&id).map(|number| &self.functions[*number])
    }

    /// The type of a value.
    pub(super) fn value_type(&self, id: u32) -> Option<&Type> {
        self.types.get(self.type_of.get(&id)?)
    }

    /// How many numbers a value of a type is made of; `None` if too many to be followed. A pointer is one.
    pub(super) fn leaves(&self, ty: u32) -> Option<usize> {
        self.leaves_within(ty, DEPTH)
    }

    fn leaves_within(&self, ty: u32, depth: u32) -> Option<usize> {
        /// The most numbers of one value that are told apart.
        const MOST: usize = 64;
        let depth = depth.checked_sub(1)?;
        let count = match self.types.get(&ty)? {
            Type::Several(of, count) => {
                let count = usize::try_from(*count).ok()?;
                self.leaves_within(*of, depth)?.checked_mul(count.max(1))?
            }
            Type::Struct(members) => {
                let mut sum = 0;
                for member in members {
                    sum += self.leaves_within(*member, depth)?;
                    if sum > MOST {
                        return None;
                    }
                }
                sum.max(1)
            }
            Type::Integer(_) | Type::Real | Type::Pointer(..) | Type::Other => 1,
        };
        (count <= MOST).then_some(count)
    }

    /// The type of a part of a type, and the first of its numbers.
    pub(super) fn part(&self, ty: u32, index: u64) -> Option<(u32, usize)> {
        match self.types.get(&ty)? {
            Type::Several(of, count) if index < *count => {
                Some((*of, self.leaves(*of)?.checked_mul(usize::try_from(index).ok()?)?))
            }
            Type::Struct(members) => {
                let index = usize::try_from(index).ok()?;
                let before: Option<usize> = members.get(..index)?.iter().map(|ty| self.leaves(*ty)).sum();
                Some((*members.get(index)?, before?))
            }
            _ => None,
        }
    }

    /// The type of any part of a type: of a structure that of a member.
    pub(super) fn part_type(&self, ty: u32, index: Option<u64>) -> Option<u32> {
        match self.types.get(&ty)? {
            Type::Several(of, _) => Some(*of),
            Type::Struct(members) => members.get(usize::try_from(index?).ok()?).copied(),
            _ => None,
        }
    }

    /// The number that a constant is, a default among them.
    pub(super) fn number(&self, id: u32) -> Option<u64> {
        match self.constants.get(&id)? {
            Constant::Number(number) | Constant::Specialised(number) => Some(*number),
            Constant::Null => Some(0),
            Constant::Composite(_) => None,
        }
    }
}
