//! A listing: its functions, and their instructions as text.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::common::span::Span;
use crate::module::Extent;

use super::operand::number;

/// A listing.
#[derive(Debug, Default)]
pub(super) struct Listing<'s> {
    pub(super) functions: Vec<Function<'s>>,
    /// The functions by their names.
    pub(super) names: HashMap<String, usize>,
}

/// The code of a kernel, or of a function that kernels call.
#[derive(Debug, Default)]
pub(super) struct Function<'s> {
    pub(super) name: String,
    /// The bytes of its name.
    pub(super) span: Span,
    /// The listing says that it is launched.
    pub(super) is_entry: bool,
    /// The number of the chip for which it is: 90 for `sm_90a`.
    pub(super) chip: Option<u32>,
    pub(super) statements: Vec<Statement<'s>>,
    /// Where labels lead: positions in `statements`.
    pub(super) labels: HashMap<&'s str, usize>,
    /// The labels of instructions.
    pub(super) named: HashMap<usize, Vec<&'s str>>,
    /// Where addresses lead.
    pub(super) addresses: HashMap<u64, usize>,
    /// Names that stand for a place in constant memory: bank and offset.
    pub(super) constants: HashMap<String, (u32, u32)>,
    /// Names that stand for general registers.
    pub(super) registers: HashMap<String, u32>,
    /// Further names share registers with others in ways that are not followed.
    pub(super) shares_registers: bool,
    /// Which line of the source applies from a statement on: its position, the file, the line.
    pub(super) lines: Vec<(usize, &'s str, u32)>,
    /// Instructions to whose addresses others lead.
    pub(super) entered: HashSet<usize>,
    /// The registers of `BSSY`, and where it says that threads meet.
    pub(super) meetings: HashSet<(&'s str, usize)>,
    /// It takes from the stack on which older chips keep where threads meet.
    pub(super) has_stack: bool,
    pub(super) about: About,
    /// It has no name, and need not say where it ends.
    pub(super) is_bare: bool,
}

/// What a listing says about a kernel.
#[derive(Debug, Default)]
pub(super) struct About {
    pub(super) required: Option<Extent>,
    pub(super) most: Option<Extent>,
    /// The CTAs of a cluster.
    pub(super) cluster: Option<Extent>,
    /// It is launched with clusters: where it says so.
    pub(super) explicit_cluster: Option<Span>,
    /// Where parameters begin in bank 0.
    pub(super) first_param: Option<u32>,
    /// For each parameter, by its position, its offset to the first and its size, in bytes.
    pub(super) params: BTreeMap<u32, (u32, u32)>,
    /// The registers of each thread.
    pub(super) registers: Option<u32>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub(super) struct Statement<'s> {
    /// From the guard to the last operand.
    pub(super) span: Span,
    /// What stands behind `@`.
    pub(super) guard: Option<&'s str>,
    /// The opcode with its modifiers.
    pub(super) opcode: &'s str,
    /// The operands as text, without white space around them.
    pub(super) operands: Vec<&'s str>,
    pub(super) address: Option<u64>,
    /// What a disassembler remarks on it: the targets of a jump by a table.
    pub(super) remark: &'s str,
    /// Something is missing before it, or it is no instruction: what there is to say.
    pub(super) trouble: Option<&'static str>,
}

impl Function<'_> {
    /// The instruction at a label or an address.
    pub(super) fn target(&self, text: &str) -> Option<usize> {
        let text = text.trim().trim_start_matches("`(").trim_end_matches(')');
        let label = self.labels.get(text).copied();
        label.or_else(|| self.at(number(text)?)).filter(|at| *at <= self.statements.len())
    }

    /// The instruction at an address. Chips before sm_70 have words between that are no instructions.
    fn at(&self, address: u64) -> Option<usize> {
        let found = self.addresses.get(&address);
        let behind = || self.addresses.get(&(address + 8)).filter(|_| address.is_multiple_of(0x20));
        found.or_else(behind).copied()
    }
}
