//! A module in vISA: its functions, their variables and instructions.

use std::collections::HashMap;

use crate::common::span::Span;

/// A module.
#[derive(Debug, Default)]
pub(super) struct Module<'s> {
    pub(super) functions: Vec<Function<'s>>,
}

/// A kernel, or a function.
#[derive(Debug, Default)]
pub(super) struct Function<'s> {
    pub(super) name: String,
    /// The bytes of its name.
    pub(super) span: Span,
    pub(super) is_entry: bool,
    pub(super) variables: HashMap<&'s str, Variable<'s>>,
    /// Its arguments, in the order of the text.
    pub(super) inputs: Vec<&'s str>,
    pub(super) statements: Vec<Statement<'s>>,
    /// Where labels lead: positions in `statements`.
    pub(super) labels: HashMap<&'s str, usize>,
    /// Which line of the source applies from a statement on: its position, the file, the line.
    pub(super) lines: Vec<(usize, &'s str, u32)>,
}

/// A variable that is declared.
#[derive(Clone, Debug)]
pub(super) struct Variable<'s> {
    pub(super) kind: Kind,
    /// The bytes of an element, and how many there are.
    pub(super) bytes: u32,
    pub(super) elements: u32,
    pub(super) signed: bool,
    pub(super) is_integer: bool,
    /// It is part of another, from a byte on.
    pub(super) alias: Option<(&'s str, u32)>,
    /// What a launch puts into it.
    pub(super) holds: Holds,
}

/// The kinds of variables that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    General,
    Predicate,
    /// An address, by which any general variable may be written, a surface, a sampler.
    Other,
}

/// What a variable holds in the beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    Nothing,
    /// An argument.
    Input,
    /// Where the thread is in its group, in three directions.
    LocalId,
    /// How many threads the group has, in three directions.
    LocalSize,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct Statement<'s> {
    pub(super) span: Span,
    /// What stands in parentheses before it.
    pub(super) guard: Option<&'s str>,
    /// The opcode with its modifiers.
    pub(super) opcode: &'s str,
    /// How many lanes it has.
    pub(super) lanes: u32,
    pub(super) operands: Vec<&'s str>,
}
