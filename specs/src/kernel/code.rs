//! The code of a kernel as a list of instructions on registers, with calls inlined: what readers of compiled
//! notations hand over. Everything behind it knows none of them.

use std::collections::{BTreeMap, BTreeSet};

use super::access::Access;
pub(crate) use super::argument::{Argument, Comparison, Index, Register};
use crate::common::span::Span;

/// Registers from here on are what is left of another, which is this much before: how far
/// an address is from the symbol that it is counted from, where it meets others.
pub(super) const REST: Register = 1 << 31;

/// Added to a register, this is what it has counted since it began with an unknown number.
pub(super) const SINCE: Register = 1 << 29;

/// Added to a register of 64 bits, this is its lower half.
pub(super) const HALF: Register = 7 << 26;

/// The register that code knows.
pub(super) fn own(register: Register) -> Register {
    register & !(REST | SINCE)
}

/// The code of a kernel.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub(crate) instructions: Vec<Instruction>,
    /// The names of registers, for names of variables.
    pub(crate) registers: Vec<String>,
    /// The bits of registers, where they are known to be less than 64.
    pub(crate) bits: Vec<u8>,
    /// The names of things that are the same for the whole group: [`Argument::Same`] is a position here.
    pub(crate) names: Vec<String>,
    /// Those of them that are addresses where memory begins.
    pub(crate) symbols: BTreeSet<u32>,
    /// The bytes that begin at some of these.
    pub(crate) lengths: BTreeMap<u32, u64>,
    /// The function, among the names, of what an address in the memory of another group of the cluster has
    /// more than that of one's own: its argument is the rank of that group.
    pub(crate) elsewhere: Option<u32>,
    /// The memory of a group may be written by others of its cluster.
    pub(crate) is_written_from_elsewhere: bool,
    /// Accesses to memory of the group are among the instructions.
    pub(crate) follows_memory: bool,
    /// Instructions, by position, at which the lanes of a warp come together: none goes on before all have
    /// come.
    pub(crate) meetings: BTreeSet<usize>,
    /// Steps on objects, by position, that a warp does once, whichever of its lanes come there.
    pub(crate) once: BTreeSet<usize>,
    /// Copies to several groups, by position, that complete on one of each pair of groups: on that of which
    /// the rank is even or odd as the rank of its object's group is.
    pub(crate) by_pairs: BTreeSet<usize>,
    /// What warps do together with their warpgroup, by position, where it is followed.
    pub(crate) collective: BTreeMap<usize, Collective>,
    /// The register that gets the state of an arrival, or with which a phase is asked for, by position of the
    /// arrival or question.
    pub(crate) states: BTreeMap<usize, Register>,
    /// Arrivals whose state somebody waits with, and those waits, by position: a number for all that hand one
    /// on to the other.
    pub(super) tokens: BTreeMap<usize, u32>,
    /// The tensor map that a copy reads, by the place of the copy: a position in [`Code::names`]. Copies
    /// that may read different ones there, from time to time, have none.
    pub(crate) maps: BTreeMap<Span, u32>,
    /// Those of them that have more than 32 bits.
    pub(crate) wide: BTreeSet<u32>,
    /// What is said of those that are parameters of so many bits.
    pub(crate) said: BTreeMap<u32, (Said, u8)>,
    /// Loads from shared memory that find what threads have stored there, by position.
    pub(super) stored: BTreeSet<usize>,
    /// Loads that find what was stored before, by position.
    pub(super) forwarded: BTreeMap<usize, Forwarded>,
    /// What the reader takes for true, and where.
    pub(crate) assumed: Vec<(String, Span)>,
    /// Registers in which threads may see what others do meanwhile: results of atomic operations and of
    /// strong loads.
    pub(crate) seen: BTreeSet<Register>,
}

impl Code {
    /// A register of its own.
    pub(crate) fn register(&mut self, name: &str) -> Register {
        self.registers.push(name.to_owned());
        self.bits.resize(self.registers.len(), 64);
        self.registers.len() as Register - 1
    }

    /// Where it ends, if it does.
    pub(crate) fn end(&self) -> Option<Span> {
        let is_end = |instruction: &Instruction| matches!(instruction.action, Action::Exit);
        let last = self.instructions.iter().rposition(is_end)?;
        // Nobody comes to the end of a text behind the last instruction that ends it.
        let before = last.checked_sub(1).map(|before| &self.instructions[before]);
        let before = before.filter(|before| is_end(before) && before.guard.is_none());
        Some(before.unwrap_or(&self.instructions[last]).span)
    }

    /// Something that is the same for the whole group, and what is said of it.
    pub(crate) fn same(&mut self, name: u32, said: Option<Said>, bits: u8) -> Argument {
        if bits > 32 {
            self.wide.insert(name);
        }
        if let Some(said) = said {
            // What is read in two widths is two numbers: then nothing is said of either.
            let known = self.said.entry(name).or_insert((said, bits));
            known.1 = if known.1 == bits { bits } else { 0 };
        }
        Argument::Same(name)
    }
}

/// What is said of a number with a sign that is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Said {
    /// It is at least this.
    pub(crate) least: Option<i64>,
    /// It is a multiple of this, which is 1 or more.
    pub(crate) multiple: i64,
}

impl Said {
    /// How often it has at least what it is a multiple of.
    pub(crate) fn least_times(self) -> Option<i64> {
        let up =
            |least: i64| least.div_euclid(self.multiple) + i64::from(least.rem_euclid(self.multiple) > 0);
        self.least.map(up)
    }
}

/// An instruction and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Instruction {
    /// It is executed by the lanes for which this register is not 0, or is 0 if negated.
    pub(crate) guard: Option<Guard>,
    pub(crate) action: Action,
    /// Its place in the text of the kernel.
    pub(crate) span: Span,
}

/// A condition on a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Guard {
    pub(crate) register: Register,
    pub(crate) negated: bool,
}

/// What an instruction does.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Writes registers.
    Compute { to: Register, function: Function, arguments: Vec<Argument> },
    /// Goes on elsewhere.
    Jump(usize),
    /// The thread ends.
    Exit,
    /// The whole grid ends with an error.
    Abort,
    /// A barrier of the group.
    Synchronise(Synchronisation),
    /// A step on an mbarrier object.
    Object(ObjectStep),
    /// Whether the phase of a parity, or of a state in [`Code::states`], is complete on the object at an
    /// address. The instruction behind it writes the answer. Resolved before anything else is done with the
    /// code.
    Test { address: Argument, parity: Argument, name: String },
    /// Writes memory, at an address and an offset to it, or anywhere if they are not given.
    Store { address: Option<(Argument, i64)>, memory: Memory, written: Written },
    /// An access to memory of the group, where memory is followed.
    Access(Access),
    /// Reads registers. What becomes of them is not followed.
    Uses(Vec<Argument>),
    /// Synchronises, or may do so, in a way that is not followed: what it is.
    Beyond(String),
    /// The same, unless all threads of a warp may come there.
    Together(String),
    /// Concerns neither registers nor barriers.
    Nothing,
}

impl Action {
    /// Whether it concerns registers at most.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self, Self::Compute { .. } | Self::Uses(_) | Self::Nothing)
    }

    /// Whether it synchronises, or may do so in a way that is not followed.
    pub(crate) fn is_about_barriers(&self) -> bool {
        matches!(
            self,
            Self::Synchronise(_) | Self::Object(_) | Self::Test { .. } | Self::Beyond(_) | Self::Together(_)
        )
    }
}

/// What a store writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    /// Values behind one another, each with its bytes.
    Values(Vec<(Argument, u8)>),
    /// Something: a copy, an unknown function.
    Data,
    /// Something that depends on what was there.
    Exchange,
}

/// What a load finds.
#[derive(Clone, Debug, Default)]
pub(super) struct Forwarded {
    /// By the number of an agent and the rank of its group: terms, by their numbers.
    pub(super) of: BTreeMap<(u32, u32), u32>,
    /// Others find nothing that is promised.
    pub(super) is_forgotten: bool,
}

/// An instruction on a barrier of the group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Synchronisation {
    /// The statement that it is in protocols of its target, without the semicolon: `bar.sync {}, {}`. What
    /// stands for an operand is `{}`.
    pub(crate) statement: String,
    /// The operands in the order of the statement, each with what messages call it.
    pub(crate) operands: Vec<(Argument, &'static str)>,
    pub(crate) awaited: Awaited,
}

/// Whom those have waited for who go on from a barrier: what they did before it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Awaited {
    /// Nobody, or nobody knows. Of a barrier that is split this is right for both halves: what stands
    /// between them is behind the one and before the other.
    Nobody,
    /// All threads of the group.
    Group,
    /// So many threads.
    Threads(Argument),
}

/// A step on an mbarrier object, by each lane that executes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ObjectStep {
    pub(crate) kind: ObjectKind,
    pub(crate) address: Argument,
    /// The count, the bytes or the parity. Of a copy, `None` if the code does not say how long it is; of a
    /// wait, if it is by a state.
    pub(crate) amount: Option<Argument>,
    /// The groups of the cluster to which it goes, as bits; `None` if it is one.
    pub(crate) mask: Option<Argument>,
    /// What a copy writes, where memory is followed.
    pub(crate) to: Option<Access>,
}

impl ObjectStep {
    /// All that it is made of.
    pub(super) fn operands(&self) -> impl Iterator<Item = Argument> {
        let to = self.to.as_ref().and_then(|to| to.address);
        std::iter::once(self.address).chain(self.amount).chain(self.mask).chain(to)
    }
}

/// What a warp does together with the others of its warpgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Collective {
    /// Makes a group of what has been issued since the last one.
    Commit,
    /// Waits until all groups are complete.
    Wait,
}

/// What is done with an mbarrier object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Init,
    Inval,
    Arrive {
        relaxed: bool,
    },
    ArriveDrop {
        relaxed: bool,
    },
    ArriveNoComplete,
    ArriveDropNoComplete,
    ArriveExpectTx {
        relaxed: bool,
    },
    ExpectTx,
    CompleteTx,
    /// Blocks until the phase of a parity is complete.
    Wait,
    /// A copy that completes bytes when it lands.
    Copy,
    /// An arrival when the tensor core has done what this thread began before.
    Commit,
    /// An arrival when the copies that this thread began before have landed.
    CopiesArrive,
}

/// What is computed of the arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    /// An operation on integers.
    Integer(Operation, Type),
    /// A function of its arguments that is not followed: the same for the same arguments. Which one, by its
    /// position in [`Code::names`].
    Pure(u32),
    /// A value loaded at the address that the argument is.
    Load(Memory),
    /// A value loaded that was stored before, at the address that the argument is.
    Forwarded,
    /// The value of another lane: the value, and the lane.
    Broadcast,
    /// Whether all lanes have it, or any: the value.
    Vote,
    /// Whether all lanes that come there have it: the value.
    All,
    /// Whether any of them has it: the value.
    Any,
    /// One lane of the warp.
    Elect,
    /// Unknown, and the same for all threads of the group that execute the instruction together.
    Shared,
    /// Unknown, and the same for the lanes of a warp.
    OfWarp,
    /// Unknown.
    Unknown,
}

/// Where a value is loaded from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Memory {
    /// Nobody writes it while the kernel runs.
    Constant,
    /// Global memory: somebody may write it.
    Global,
    /// Memory of the group, through which its threads tell one another.
    Shared,
}

/// The type of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Type {
    /// 1 (a predicate), 8, 16, 32 or 64.
    pub(crate) bits: u8,
    pub(crate) signed: bool,
}

/// Operations on integers. Results have the width of the type, but for those that say otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    /// Extends or cuts a value of this type.
    Convert(Type),
    Not,
    LogicalNot,
    Negate,
    Absolute,
    Add,
    Subtract,
    Multiply,
    /// Twice as wide as the type.
    MultiplyWide,
    MultiplyHigh,
    Divide,
    Remainder,
    Minimum,
    Maximum,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    /// The first argument if the third is not 0, else the second.
    Select,
    /// 0 or 1.
    Compare(Comparison),
    /// From the bit at the second argument on, as many bits as the third.
    ExtractBits,
    CountOnes,
    LeadingZeros,
    /// The lowest bit becomes the highest.
    ReverseBits,
}

/// How many bits a place in the grid has, or its size, by its name: a grid has less than 2^31 groups along x
/// and less than 2^16 along y and z (CUDA C++ Programming Guide, compute capabilities).
pub(super) fn bits_in_grid(name: &str) -> Option<u8> {
    let (of, direction) = name.strip_prefix('%')?.split_once('.')?;
    let is_of_grid = matches!(of, "ctaid" | "nctaid" | "clusterid" | "nclusterid");
    match direction {
        "x" if is_of_grid => Some(31),
        "y" | "z" if is_of_grid => Some(16),
        _ => None,
    }
}
