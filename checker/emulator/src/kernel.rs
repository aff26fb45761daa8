//! A kernel as the emulator runs it: one list of instructions, calls worked in.

use super::opcode::Op;

/// An entry of a module.
pub struct Kernel {
    pub name: String,
    /// `.reqntid`
    pub required: Option<[u32; 3]>,
    /// `.maxntid`
    pub most: Option<[u32; 3]>,
    pub code: Vec<Instruction>,
    pub registers: usize,
    /// `.maxnreg`, and `.minnctapersm`.
    pub compiled_for: (Option<u64>, Option<u64>),
    /// The bytes of each parameter: where they begin, and how many.
    pub params: Vec<(u64, u64)>,
}

pub struct Instruction {
    /// The line in the module, from 1.
    pub line: usize,
    pub text: String,
    /// A register, and whether it is negated.
    pub guard: Option<(usize, bool)>,
    pub op: Op,
    pub operands: Vec<Operand>,
    /// Where it leads, if it branches.
    pub targets: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register, perhaps negated as a predicate is.
    Register(usize, bool),
    Number(u64),
    Special(Special),
    /// `[base + offset]`
    Address(Option<usize>, u64),
    Group(Vec<Operand>),
    /// `a|b`
    Pair(Option<usize>, Option<usize>),
    Sink,
    /// Anything else, a label among it.
    Other(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    Tid(usize),
    Ntid(usize),
    Ctaid(usize),
    Nctaid(usize),
    Lane,
    Warp,
    Warps,
    LanesBelow {
        with: bool,
    },
    LanesAbove {
        with: bool,
    },
    LaneMask,
    Clock,
    /// Zero where the group is a cluster of its own.
    ClusterRank,
    One,
    /// The same for the whole group.
    Chosen(u64),
}

/// Windows of the address space. What lies in none is global.
pub const SHARED: u64 = 0x2_0000_0000_0000;
pub const LOCAL: u64 = 0x3_0000_0000_0000;
pub const WINDOW: u64 = 1 << 32;
/// Where the global variables of a module begin.
pub const GLOBAL: u64 = 0x7_0000_0000_0000;
/// Where parameters of calls begin in local memory. Those of the entry begin at 0.
pub const CALLS: u64 = 1 << 24;
