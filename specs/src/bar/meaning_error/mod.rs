//! Errors of lowering: what is well formed and yet means nothing.

mod text;

use barcheck_model::program::{NoResult, Target};

use crate::bar::ast::IndexWord;
use crate::common::span::Span;

/// Why a well-formed `.bar` file is no protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum MeaningError {
    /// Two global declarations of one name.
    DuplicateName { name: String, span: Span, first: Span },
    /// A name that nobody declares.
    UnknownName { name: String, kind: NameKind, suggestion: Option<String>, target: Target, span: Span },
    /// A name like those of registers that is none.
    UnknownRegister { name: String, known: &'static str, span: Span },
    /// A name used before its declaration.
    DeclaredLater { name: String, span: Span, declared: Span },
    /// An agent's index in a constant.
    NotConstant { word: IndexWord, span: Span },
    /// A constant expression without a value.
    ConstantFails { reason: NoResult, span: Span },
    /// No size of the group.
    NoSize { target: Target, span: Span },
    /// A scope of subgroups, whose size is not declared.
    NoSubgroupSize { span: Span },
    /// A second size.
    DuplicateSize { word: String, span: Span, first: Span },
    /// A size outside what the target allows.
    SizeRange { word: &'static str, unit: &'static str, value: i64, most: i64, span: Span },
    /// A number of elements outside `1..=most`.
    ArrayLength { name: String, value: i64, most: i64, span: Span },
    /// More locations than [`limits::LOCATIONS`].
    TooManyLocations { total: i64, span: Span },
    /// A range of agents that holds none.
    NoAgents { from: i64, to: i64, span: Span },
    /// Agents that the group does not have.
    AgentsOutside { noun: &'static str, agent: i64, count: i64, span: Span, size: Span },
    /// An agent in two blocks.
    AgentsOverlap { agent: String, span: Span, first: Span },
    /// Agents in no block, of one CTA or alike in all.
    AgentsMissing { unit: &'static str, missing: Vec<(i64, i64)>, cta: Option<usize>, span: Span },
    /// The index of another target's agents.
    OtherTargetsIndex { word: IndexWord, target: Target, span: Span },
    /// A loop's variable or a constant on the left of `=`.
    NotAssignable { name: String, what: &'static str, span: Span, declared: Option<Span> },
    /// A location used as a number.
    LocationAsValue { name: String, span: Span, declared: Span },
    /// An mbarrier object used as a number.
    ObjectAsValue { name: String, span: Span, declared: Span },
    /// An mbarrier object with a number of arrivals that none can expect.
    ObjectCount { name: String, value: i64, span: Span },
    /// More mbarrier objects than [`limits::OBJECTS`].
    TooManyObjects { total: i64, span: Span },
    /// A register's name declared for something else.
    RegisterName { name: String, span: Span },
    /// `break` or `continue` outside a loop.
    OutsideLoop { word: &'static str, span: Span },
    /// An array without an index, or a scalar with one.
    Indexing { name: String, length: Option<u32>, span: Span, declared: Span },
    /// Too many or too few operands.
    OperandCount { mnemonic: String, takes: &'static [&'static str], found: usize, span: Span },
    /// An operand of the wrong kind.
    Operand { expected: String, span: Span, help: Option<String> },
    /// A word that a list does not have.
    UnknownWord { what: &'static str, word: String, known: String, meant: Option<&'static str>, span: Span },
    /// A rule that there is none of.
    UnknownRule { name: String, suggestion: Option<String>, span: Span },
    /// A rule that cannot be allowed, and why.
    NotAllowed { name: &'static str, why: NotAllowed, span: Span },
    /// A rule that is allowed without a reason.
    NoReason { span: Span },
    /// A block's name where a number is wanted.
    BlockAsValue { name: String, span: Span, declared: Span },
    /// Too many or too few arguments of a block.
    Arguments { name: String, takes: usize, found: usize, span: Span, declared: Span },
    /// A block that is used inside itself.
    UsesItself { name: String, span: Span, declared: Span },
    /// Uses of blocks inside one another, deeper than [`limits::NESTING`] allows.
    UsesTooDeep { span: Span },
    /// More statements than [`limits::EXPANDED`].
    TooMuchExpanded { span: Span },
    /// A range that all agents draw from that is empty or too large.
    UniformRange { size: i128, most: i128, span: Span },
    /// One name for shared numbers of different ranges, or for numbers and decisions.
    SequenceDiffers { name: String, span: Span, first: Span },
    /// A wait that sees what its own CTA has published alone, on an object on which others arrive.
    ScopeOfWait { name: String, span: Span },
    /// Something given twice that may be given once.
    Twice { what: String, span: Span, first: Span },
}

/// What a name was looked up as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NameKind {
    /// A number.
    Value,
    /// What an assignment changes.
    Assigned,
    /// A memory location.
    Location,
    /// An mbarrier object.
    Object,
    /// A handle, which an instruction yields.
    Handle { from: &'static str },
}

/// Why a rule cannot be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum NotAllowed {
    /// The target has no such rule.
    OtherTarget(Target),
    /// A violation ends its path, and nothing is known of what follows.
    EndsPath,
}

impl MeaningError {
    /// Where it is.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::DuplicateName { span, .. }
            | Self::UnknownName { span, .. }
            | Self::UnknownRegister { span, .. }
            | Self::DeclaredLater { span, .. }
            | Self::NotConstant { span, .. }
            | Self::ConstantFails { span, .. }
            | Self::NoSize { span, .. }
            | Self::NoSubgroupSize { span }
            | Self::DuplicateSize { span, .. }
            | Self::SizeRange { span, .. }
            | Self::ArrayLength { span, .. }
            | Self::TooManyLocations { span, .. }
            | Self::NoAgents { span, .. }
            | Self::AgentsOutside { span, .. }
            | Self::AgentsOverlap { span, .. }
            | Self::AgentsMissing { span, .. }
            | Self::OtherTargetsIndex { span, .. }
            | Self::NotAssignable { span, .. }
            | Self::LocationAsValue { span, .. }
            | Self::ObjectAsValue { span, .. }
            | Self::ObjectCount { span, .. }
            | Self::TooManyObjects { span, .. }
            | Self::RegisterName { span, .. }
            | Self::OutsideLoop { span, .. }
            | Self::Indexing { span, .. }
            | Self::OperandCount { span, .. }
            | Self::Operand { span, .. }
            | Self::UnknownWord { span, .. }
            | Self::UnknownRule { span, .. }
            | Self::NotAllowed { span, .. }
            | Self::BlockAsValue { span, .. }
            | Self::Arguments { span, .. }
            | Self::UsesItself { span, .. }
            | Self::UsesTooDeep { span }
            | Self::TooMuchExpanded { span }
            | Self::UniformRange { span, .. }
            | Self::SequenceDiffers { span, .. }
            | Self::NoReason { span }
            | Self::ScopeOfWait { span, .. }
            | Self::Twice { span, .. } => *span,
        }
    }
}
