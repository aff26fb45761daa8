//! The syntax tree of a PTX module. Names are resolved to registers and places in the code as they are read,
//! since braces may declare them anew; opcodes stay text.

use std::collections::HashMap;

use crate::common::span::Span;
use crate::module::{Extent, Kind};

/// A module.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// Entries and functions in the order of the text.
    pub(super) functions: Vec<Function>,
    /// The names of `.file`s by their numbers.
    pub(super) files: HashMap<u32, String>,
    /// The names of arrays whose size the launch gives: `.extern .shared` without one.
    pub(super) dynamic: Vec<String>,
    /// The bytes of other variables in shared memory, by name; `None` where that is not known, or several
    /// have the name.
    pub(super) lengths: HashMap<String, Option<u64>>,
}

/// An entry or a function.
#[derive(Debug, Default)]
pub(super) struct Function {
    pub(super) name: String,
    /// The bytes of its name.
    pub(super) span: Span,
    /// It is started by a launch, not called.
    pub(super) is_entry: bool,
    pub(super) returns: Vec<Param>,
    pub(super) params: Vec<Param>,
    /// `.reqntid`
    pub(super) required: Option<Extent>,
    /// `.maxntid`
    pub(super) most: Option<Extent>,
    /// `.maxnreg`: the registers of a thread.
    pub(super) registers: Option<u32>,
    /// `.minnctapersm`: the CTAs that are to share the registers of a multiprocessor.
    pub(super) beside: Option<u32>,
    /// `.reqnctapercluster`
    pub(super) cluster: Option<Extent>,
    /// `.explicitcluster`
    pub(super) explicit_cluster: Option<Span>,
    /// `None` where it is only declared.
    pub(super) body: Option<Body>,
}

/// A parameter of an entry or function, or what a function returns.
#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) name: String,
    /// A register of the function, where it is one.
    pub(super) register: Option<u32>,
    /// What kind of value it is.
    pub(super) kind: Kind,
}

/// The code of a function.
#[derive(Debug, Default)]
pub(super) struct Body {
    pub(super) instructions: Vec<Instruction>,
    /// The names of the registers: what stands for a register in an operand is a position here.
    pub(super) registers: Vec<String>,
    /// The bits of each; those of a vector are not counted.
    pub(super) bits: Vec<u8>,
    /// Where labels lead: positions in `instructions`, by the number that an operand has.
    pub(super) labels: Vec<u32>,
    /// Tables of labels for `brx.idx`, by name.
    pub(super) tables: HashMap<String, Vec<u32>>,
    /// Which line of the source applies from an instruction on.
    pub(super) lines: Vec<LineMark>,
    /// The closing brace.
    pub(super) close: Span,
}

/// From an instruction on a line of the source applies.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineMark {
    /// The first instruction, by its position.
    pub(super) from: u32,
    /// The number of the file.
    pub(super) file: u32,
    /// The line, from 1.
    pub(super) line: u32,
    /// Where the function that holds it was inlined: the number of a file, and a line.
    pub(super) inlined_at: Option<(u32, u32)>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    /// The opcode with its modifiers.
    pub(super) opcode: Span,
    /// From the guard to the semicolon, the latter left out.
    pub(super) span: Span,
    /// `@%p` or `@!%p`: the register, and whether it is negated.
    pub(super) guard: Option<(u32, bool)>,
    pub(super) operands: Vec<Operand>,
}

/// An operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    /// A register, perhaps negated as a predicate is.
    Register(u32, bool),
    /// A number: its bits. Floating-point numbers are `Name`s.
    Number(u64),
    /// A symbol, a special register, a word that the instruction knows.
    Name(Span),
    /// A label of the function, by its number.
    Label(u32),
    /// `[base + offset]`
    Address(Base, i64),
    /// `{a, b}` or `(a, b)`
    Group(Vec<Operand>),
    /// `a|b`; no register for `_`.
    Pair(Option<u32>, Option<u32>),
    /// `_`
    Sink,
    /// `[base + offset, {a, b}]`: a tensor map and coordinates, and the like.
    Within(Base, i64),
    /// A symbol and an offset, or an element of a vector.
    Other,
}

/// What an address is counted from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    Register(u32),
    Name(Span),
    Number,
}
