//! The syntax tree of a `.bar` file, every node with its bytes in the text.

use barcheck_model::program::{AccessKind, BinaryOp, Space, Target, UnaryOp};

use super::opcode::Opcode;
use crate::common::span::Span;

/// A file.
#[derive(Debug, Default)]
pub struct File {
    /// The target, unless it was missing or unknown; then nothing else was read.
    pub target: Option<Target>,
    /// The bytes of `target` and its name.
    pub target_span: Span,
    /// Declarations and blocks in the order of the text.
    pub items: Vec<Item>,
}

/// A name with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The name; a handle's begins with `%`.
    pub text: Box<str>,
    /// Its bytes.
    pub span: Span,
}

/// A declaration, or a block with its agents.
#[derive(Debug)]
pub enum Item {
    /// `cta 128;`
    Size {
        /// The keyword.
        keyword: Span,
        /// How many.
        value: Expr,
    },
    /// `cluster 2;`
    Cluster {
        /// The keyword.
        keyword: Span,
        /// How many CTAs.
        value: Expr,
    },
    /// `maxnreg 128;`
    Registers {
        /// The keyword.
        keyword: Span,
        /// How many.
        value: Expr,
    },
    /// `repeated_arrivals count;`
    RepeatedArrivals {
        /// All of it.
        span: Span,
    },
    /// `subgroup_size 16;`
    SubgroupSize {
        /// The keyword.
        keyword: Span,
        /// How many.
        value: Expr,
    },
    /// `const N = 2;` or `param N = 2;`
    Constant {
        /// Declared with `param`: the command line may override it.
        param: bool,
        /// The name.
        name: Name,
        /// The value.
        value: Expr,
    },
    /// `shared a, b[4];` or `global …;`
    Memory {
        /// Which memory.
        space: Space,
        /// Each name, with the number of elements of an array.
        arrays: Vec<(Name, Option<Expr>)>,
    },
    /// `mbarrier full[4] count 1, done;`
    Objects(Vec<Object>),
    /// `block fill(stage, parity) { … }`
    Block(SharedBlock),
    /// `allow arrival-race "both ends are idempotent";`
    Allow(Allow),
    /// `warps 0..4 as producer { … }`
    Role(Role),
}

/// What declares an mbarrier object, or an array of them.
#[derive(Debug)]
pub struct Object {
    /// The name.
    pub name: Name,
    /// The number of elements of an array.
    pub length: Option<Expr>,
    /// The arrivals that it expects, if it is initialised before the first step.
    pub count: Option<Expr>,
}

/// What is not to be reported of the file.
#[derive(Debug)]
pub struct Allow {
    /// The rule or lint.
    pub name: Name,
    /// Why, without its quotes.
    pub reason: Name,
    /// Its bytes without the semicolon.
    pub span: Span,
}

/// A block of statements and the agents that run it.
#[derive(Debug)]
pub struct Role {
    /// The first agent.
    pub first: Expr,
    /// One past the last agent; the first alone where there is none.
    pub end: Option<Expr>,
    /// The CTAs after `of`, as the agents before it; all where there are none.
    pub ctas: Option<(Expr, Option<Expr>)>,
    /// The name after `as`.
    pub name: Option<Name>,
    /// What stands before the block.
    pub head: Span,
    /// What the agents run.
    pub block: Block,
}

/// Statements that roles share, with names for what differs.
#[derive(Debug)]
pub struct SharedBlock {
    /// Its name.
    pub name: Name,
    /// What each use gives: numbers, locations or objects.
    pub parameters: Vec<Name>,
    /// What stands in the place of each use.
    pub block: Block,
}

/// Statements between braces.
#[derive(Debug)]
pub struct Block {
    /// The statements.
    pub statements: Vec<Statement>,
    /// The closing brace.
    pub close: Span,
}

/// A statement.
#[derive(Debug)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Its bytes without the semicolon; of a statement with blocks, its head.
    pub span: Span,
}

/// The kinds of statements.
#[derive(Debug)]
pub enum StatementKind {
    /// An instruction of the target, perhaps guarded.
    Instruction(Option<Guard>, Instruction),
    /// `for i in 0..4 { … }`
    For {
        /// The loop's variable.
        variable: Name,
        /// Its first value.
        from: Expr,
        /// One past its last value.
        to: Expr,
        /// The body.
        body: Block,
    },
    /// `loop { … }`
    Loop(Block),
    /// `while x { … }`
    While(Condition, Block),
    /// `if x { … } else { … }`
    If {
        /// What is decided.
        condition: Condition,
        /// The statements if it is true.
        then: Block,
        /// What follows `else`.
        otherwise: Option<Else>,
    },
    /// `let x = 1;`
    Let(Name, Value),
    /// `x = 1;`
    Assign(Name, Value),
    /// `fill(i % 4, 0);`: the statements of a shared block.
    Use(Name, Vec<Expr>),
    /// `advance stage, parity, 4;`
    Advance {
        /// Counts from 0 to one below the number of stages, again and again.
        stage: Name,
        /// Changes whenever the stage begins anew.
        parity: Name,
        /// The number of stages.
        stages: Expr,
    },
    /// `read buf[0];`
    Access {
        /// What is done.
        kind: AccessKind,
        /// The array or scalar.
        array: Name,
        /// The element.
        index: Option<Expr>,
        /// The CTA, if it is not the agent's own.
        cta: Option<Expr>,
    },
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `exit;`
    Exit,
    /// `assert x;`
    Assert(Expr),
}

/// What follows `else`.
#[derive(Debug)]
pub enum Else {
    /// A block.
    Block(Block),
    /// Another `if`.
    If(Box<Statement>),
}

/// `@p` or `@!p` before an instruction.
#[derive(Debug)]
pub struct Guard {
    /// Written with `!`.
    pub negated: bool,
    /// The name.
    pub name: Name,
    /// From `@` to the name.
    pub span: Span,
}

/// An instruction.
#[derive(Debug)]
pub struct Instruction {
    /// Which one.
    pub opcode: Opcode,
    /// The bytes of its mnemonic.
    pub mnemonic: Span,
    /// The handle that it is assigned to (`%h = …`).
    pub result: Option<Name>,
    /// Its operands.
    pub operands: Vec<Operand>,
    /// Its bytes, a guard left out.
    pub span: Span,
}

/// An operand.
#[derive(Debug)]
pub struct Operand {
    /// What it is.
    pub kind: OperandKind,
    /// The CTA in which it is, after `@ cta`.
    pub cta: Option<Expr>,
    /// Its bytes.
    pub span: Span,
}

/// The kinds of operands.
#[derive(Debug)]
pub enum OperandKind {
    /// An expression; a bare name is a variable, a register or a word that the instruction knows.
    Expr(Expr),
    /// `?` or `!?`
    Choice {
        /// Written with `!`.
        negated: bool,
    },
    /// `buf[i % 4]`
    Element(Name, Expr),
    /// `%h`
    Handle(Name),
    /// `{memory_kind = "slm"}`
    Attributes(Vec<Attribute>),
}

/// An attribute in braces.
#[derive(Debug)]
pub struct Attribute {
    /// Its name.
    pub name: Name,
    /// Its value without quotes.
    pub value: Name,
}

/// What an `if` or `while` asks.
#[derive(Debug)]
pub enum Condition {
    /// An expression.
    Value(Expr),
    /// `?`
    Private,
    /// `uniform ?` or `uniform name ?`
    Uniform {
        /// What its decisions share with others of the same name.
        name: Option<Name>,
        /// Where it stands.
        span: Span,
    },
    /// `!mbarrier.try_wait.parity full[0], 0`
    Answer {
        /// Written with `!`.
        negated: bool,
        /// The instruction that yields the answer.
        instruction: Box<Instruction>,
    },
}

/// What is assigned.
#[derive(Debug)]
pub enum Value {
    /// An expression.
    Expr(Expr),
    /// `any a..b`
    Any(Expr, Expr),
    /// `uniform any a..b` or `uniform name any a..b`
    Uniform {
        /// What its numbers share with others of the same name.
        name: Option<Name>,
        /// The first number.
        from: Expr,
        /// One past the last number.
        to: Expr,
        /// Where it stands.
        span: Span,
    },
    /// `mbarrier.arrive full[0]`: what an instruction yields.
    Result(Box<Instruction>),
}

/// An expression.
#[derive(Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its bytes.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Debug)]
pub enum ExprKind {
    /// A number, `true` or `false`.
    Int(i64),
    /// A name.
    Name(Box<str>),
    /// `warp`, `lane` and the like.
    Index(IndexWord),
    /// An expression in parentheses.
    Parenthesized(Box<Expr>),
    /// An operator before its operand.
    Unary(UnaryOp, Box<Expr>),
    /// An operator between its operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
}

/// A word for an agent's own index: what agents of some target are called, `lane`, or `cluster_ctarank`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IndexWord(&'static str);

impl IndexWord {
    /// `lane`
    pub const LANE: Self = Self("lane");

    /// `cluster_ctarank`
    pub const CTA: Self = Self("cluster_ctarank");

    /// The index of an agent of this target.
    #[must_use]
    pub fn of(target: Target) -> Self {
        Self(target.agent_noun())
    }

    /// `elect`
    pub const ELECT: Self = Self("elect");

    /// The word.
    #[must_use]
    pub fn text(self) -> &'static str {
        self.0
    }
}
