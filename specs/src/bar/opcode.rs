//! Instructions without their operands, and the mnemonics for them.

use barcheck_model::program::Target;

/// An instruction of one of the systems, without its operands: one of the mnemonics of its system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Opcode {
    target: Target,
    /// Where its system's [`Mnemonics`] have it.
    position: usize,
    form: Form,
}

impl Opcode {
    /// The system whose instruction it is.
    #[must_use]
    pub fn target(self) -> Target {
        self.target
    }

    /// How its operands are written.
    pub(crate) fn form(self) -> Form {
        self.form
    }
}

/// How the operands of an instruction are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Form {
    /// Expressions and the like, between commas.
    Plain,
    /// The same, and elements of arrays, perhaps in brackets.
    Places,
    /// The same as plain, and a handle may be assigned the result.
    YieldsHandle,
    /// Words may be joined by `|`.
    JoinedWords,
    /// An operand may be attributes in braces.
    Attributes,
    /// Anything in balanced braces, which is passed over.
    Hint,
}

/// A way to write an instruction.
#[derive(Clone, Debug)]
pub(crate) struct Mnemonic {
    pub(crate) opcode: Opcode,
    /// As the specification spells it.
    pub(crate) text: String,
    /// Another way for an instruction that people know by a shorter one.
    pub(crate) alias: bool,
}

/// The mnemonics of one system, each with the operation that it stands for.
#[derive(Debug)]
pub(crate) struct Mnemonics<O> {
    target: Target,
    all: Vec<Mnemonic>,
    /// Of each in turn.
    operations: Vec<O>,
}

impl<O: Copy> Mnemonics<O> {
    pub(crate) fn new(target: Target) -> Self {
        Self { target, all: Vec::new(), operations: Vec::new() }
    }

    /// Adds a mnemonic for an operation whose operands are plain.
    pub(crate) fn add(&mut self, operation: O, text: impl Into<String>) {
        self.add_of(Form::Plain, operation, text);
    }

    /// Adds a mnemonic for an operation whose operands have this form.
    pub(crate) fn add_of(&mut self, form: Form, operation: O, text: impl Into<String>) {
        let opcode = Opcode { target: self.target, position: self.all.len(), form };
        self.all.push(Mnemonic { opcode, text: text.into(), alias: false });
        self.operations.push(operation);
    }

    /// Notes that the mnemonic added last is an alias.
    pub(crate) fn mark_alias(&mut self) {
        if let Some(last) = self.all.last_mut() {
            last.alias = true;
        }
    }

    pub(crate) fn all(&self) -> &[Mnemonic] {
        &self.all
    }

    /// The operation of an instruction of this system.
    pub(crate) fn operation(&self, opcode: Opcode) -> O {
        debug_assert_eq!(opcode.target, self.target, "an instruction of another system");
        self.operations[opcode.position]
    }
}
