//! What is particular to the protocols of one system, as far as the language goes.

use barcheck_model::program::{LocalKind, Target};

use super::opcode::Mnemonic;

/// How the protocols of one system are written. Each system has one, in its own folder.
pub(crate) struct Notation {
    /// The system.
    pub(crate) target: Target,
    /// The keyword for the size of the group.
    pub(crate) size: &'static str,
    /// What the size counts.
    pub(crate) unit: &'static str,
    /// The largest size.
    pub(crate) largest: i64,
    /// The keyword for several agents.
    pub(crate) agents: &'static str,
    /// The group has parts, whose size `subgroup_size` declares.
    pub(crate) subgroups: bool,
    /// The word for an agent's index may have another meaning, and keeps its capital letter.
    pub(crate) index_keeps_case: bool,
    /// Commas between operands of one word may be left out.
    pub(crate) commas_optional: bool,
    /// The instruction whose result is a handle, `%h`, if there are handles.
    pub(crate) handles_from: Option<&'static str>,
    /// The word that declares barriers with names of their own, if there are any.
    pub(crate) objects: Option<&'static str>,
    /// Several groups may run side by side, as many as `cluster` declares.
    pub(crate) cluster: bool,
    /// The registers, if instructions have them for operands.
    pub(crate) registers: Option<Registers>,
    /// The instructions, aliases included.
    pub(crate) mnemonics: fn() -> &'static [Mnemonic],
    /// An instruction, in lower case, without the qualifiers that change nothing here, if it may have some.
    pub(crate) unqualified: fn(&str) -> Option<String>,
}

impl Notation {
    /// The register that `name` is, if it is one.
    pub(crate) fn register(&self, name: &str) -> Option<Register> {
        (self.registers.as_ref()?.find)(name)
    }
}

/// The registers of a system. They need no declaration, and nothing else can have their names.
pub(crate) struct Registers {
    /// The register that a name is.
    pub(crate) find: fn(&str) -> Option<Register>,
    /// Whether a name looks like that of a register, even if there is none of that name.
    pub(crate) looks_like_one: fn(&str) -> bool,
    /// All of them, in words.
    pub(crate) known: &'static str,
}

/// A register, as lowering knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Register {
    /// Holds what was assigned last.
    Variable(LocalKind),
    /// Always has one value. What is assigned goes to a local that nobody can read.
    Constant {
        /// The value.
        value: i64,
        /// The name of that local.
        sink: &'static str,
    },
}
