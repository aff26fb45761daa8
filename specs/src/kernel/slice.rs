//! The part of a kernel that concerns its barriers: a backward slice from their operands and from the
//! branches that decide whether they are reached (Weiser 1981, with control dependences).
//!
//! Loops without a barrier in them are taken to end.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::common::span::Span;

use super::code::{Action, Argument, Code, Guard, Register, Written};
use super::graph::{Graph, Next};

/// The end of the kernel, as a node.
pub(super) const END: usize = usize::MAX;
/// A loop without a barrier and without an end, as a node.
pub(super) const FOREVER: usize = usize::MAX - 1;

/// A node: what is left of a block.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The instructions of the slice, by position.
    pub(super) instructions: Vec<usize>,
    pub(super) then: Then,
}

/// How control goes on: to nodes, [`END`] or [`FOREVER`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Then {
    To(usize),
    Branch { guard: Guard, taken: usize, other: usize, span: Span, meets: bool },
}

impl Then {
    pub(super) fn nodes(self) -> impl Iterator<Item = usize> {
        let (one, other) = match self {
            Self::To(to) => (to, None),
            Self::Branch { taken, other, .. } => (taken, Some(other)),
        };
        std::iter::once(one).chain(other)
    }
}

/// A slice. Node 0 is the entry.
#[derive(Debug)]
pub(super) struct Slice {
    pub(super) nodes: Vec<Node>,
    /// The registers that matter, and the position of each in the state of a warp.
    pub(super) registers: BTreeMap<Register, usize>,
    /// Instructions that are reached, and how many of them are in the slice.
    pub(super) instructions: usize,
    pub(super) kept: usize,
}

/// The most control dependences that are looked at.
const DEPENDENCES: usize = 4_000_000;

/// What is being collected.
struct Slicer<'c> {
    code: &'c Code,
    graph: &'c Graph,
    depends: Vec<Vec<usize>>,
    /// Where each register is written, by block and position.
    written: HashMap<Register, Vec<(usize, usize)>>,
    instructions: Vec<bool>,
    branches: Vec<bool>,
    controlled: Vec<bool>,
    registers: BTreeMap<Register, usize>,
    work: Vec<Work>,
}

enum Work {
    Register(Register),
    Block(usize),
}

/// The slice of a kernel; `None` if its loops and branches are too many to be followed.
/// Some stores are kept, with what they store.
pub(super) fn slice(code: &Code, graph: &Graph, stores: &BTreeSet<usize>) -> Option<Slice> {
    let depends = graph.control_dependences();
    if depends.iter().map(Vec::len).sum::<usize>() > DEPENDENCES {
        return None;
    }
    let mut slicer = Slicer {
        code,
        graph,
        depends,
        written: HashMap::new(),
        instructions: vec![false; code.instructions.len()],
        branches: vec![false; graph.blocks.len()],
        controlled: vec![false; graph.blocks.len()],
        registers: BTreeMap::new(),
        work: Vec::new(),
    };
    let reached = slicer.begin(stores);
    slicer.close();
    Some(slicer.nodes(reached))
}

impl Slicer<'_> {
    /// Collects who writes what, and begins with the barriers. The number of instructions reached.
    fn begin(&mut self, stores: &BTreeSet<usize>) -> usize {
        let mut reached = 0;
        for (number, block) in self.graph.blocks.iter().enumerate().filter(|(n, _)| self.graph.reached[*n]) {
            let is_access = |at: &usize| {
                matches!(self.code.instructions[*at].action, Action::Access(_) | Action::Uses(_))
            };
            reached += (block.first..block.end).filter(|at| !is_access(at)).count();
            for at in block.first..block.end {
                match &self.code.instructions[at].action {
                    Action::Compute { to, .. } => self.written.entry(*to).or_default().push((number, at)),
                    Action::Synchronise(barrier) => {
                        self.instructions[at] = true;
                        self.work.push(Work::Block(number));
                        let operands = barrier.operands.iter().map(|(operand, _)| *operand);
                        let registers = operands.filter_map(register_of);
                        self.work.extend(registers.map(Work::Register));
                    }
                    Action::Object(step) => {
                        self.instructions[at] = true;
                        self.work.push(Work::Block(number));
                        let registers = step.operands().filter_map(register_of);
                        self.work.extend(registers.map(Work::Register));
                    }
                    Action::Test { address, parity, .. } => {
                        self.instructions[at] = true;
                        self.work.push(Work::Block(number));
                        let registers = [*address, *parity].into_iter().filter_map(register_of);
                        self.work.extend(registers.map(Work::Register));
                    }
                    Action::Store { address: Some((address, _)), written, .. } if stores.contains(&at) => {
                        self.instructions[at] = true;
                        self.work.push(Work::Block(number));
                        let values = match written {
                            Written::Values(values) => values.as_slice(),
                            Written::Data | Written::Exchange => &[],
                        };
                        let operands = values.iter().map(|(value, _)| *value).chain([*address]);
                        let registers = operands.filter_map(register_of);
                        self.work.extend(registers.map(Work::Register));
                        let guard = self.code.instructions[at].guard;
                        self.work.extend(guard.map(|guard| Work::Register(guard.register)));
                    }
                    Action::Access(access) => {
                        self.instructions[at] = true;
                        self.work.push(Work::Block(number));
                        let registers = access.operands().filter_map(register_of);
                        self.work.extend(registers.map(Work::Register));
                        let guard = self.code.instructions[at].guard;
                        self.work.extend(guard.map(|guard| Work::Register(guard.register)));
                    }
                    Action::Beyond(_) | Action::Together(_) => {
                        self.instructions[at] = true;
                        self.work.push(Work::Block(number));
                    }
                    _ => {}
                }
            }
        }
        reached
    }

    fn close(&mut self) {
        while let Some(work) = self.work.pop() {
            match work {
                Work::Register(register) => self.register(register),
                Work::Block(block) => self.block(block),
            }
        }
    }

    fn register(&mut self, register: Register) {
        let next = self.registers.len();
        if *self.registers.entry(register).or_insert(next) != next {
            return;
        }
        for (block, at) in self.written.remove(&register).unwrap_or_default() {
            self.instructions[at] = true;
            self.work.push(Work::Block(block));
            let instruction = &self.code.instructions[at];
            if let Action::Compute { arguments, .. } = &instruction.action {
                let registers = arguments.iter().copied().filter_map(register_of);
                self.work.extend(registers.map(Work::Register));
            }
            if let Some(guard) = instruction.guard {
                self.work.push(Work::Register(guard.register));
            }
        }
    }

    /// Whatever decides whether a block is reached matters.
    fn block(&mut self, block: usize) {
        if std::mem::replace(&mut self.controlled[block], true) {
            return;
        }
        for branch in std::mem::take(&mut self.depends[block]) {
            if let Next::Branch { guard, .. } = self.graph.blocks[branch].then
                && !std::mem::replace(&mut self.branches[branch], true)
            {
                self.work.push(Work::Register(guard.register));
                self.work.push(Work::Block(branch));
            }
        }
    }

    /// Where the arms of branches meet although no barrier follows: something is stored or decided there
    /// before the kernel ends, so that those who come there at once do not leave.
    fn goes_on(&self, has: &impl Fn(usize) -> bool) -> BTreeSet<usize> {
        let graph = self.graph;
        let acts = |block: &usize| {
            let range = graph.blocks[*block].first..graph.blocks[*block].end;
            let is_store = |at: usize| matches!(self.code.instructions[at].action, Action::Store { .. });
            range.into_iter().any(is_store) || matches!(graph.blocks[*block].then, Next::Branch { .. })
        };
        let branches = (0..graph.blocks.len()).filter(|block| graph.reached[*block] && self.branches[*block]);
        let meetings: BTreeSet<usize> = branches.filter_map(|branch| graph.after[branch]).collect();
        let mut found = BTreeSet::new();
        for meeting in meetings {
            let next = |block: &usize| graph.after[*block].filter(|after| *after != graph.end());
            let path = || std::iter::successors(Some(meeting).filter(|m| *m != graph.end()), next);
            if path().any(|block| acts(&block)) && !path().any(has) {
                found.insert(meeting);
            }
        }
        found
    }

    /// Blocks of which something is left, and what follows each.
    fn nodes(self, instructions: usize) -> Slice {
        let graph = self.graph;
        let has = |block: usize| {
            let range = graph.blocks[block].first..graph.blocks[block].end;
            self.branches[block] || self.instructions[range].contains(&true)
        };
        let goes_on = self.goes_on(&has);
        let kept: Vec<usize> = (0..graph.blocks.len())
            .filter(|block| graph.reached[*block] && (*block == 0 || has(*block) || goes_on.contains(block)))
            .collect();
        let mut number = vec![None; graph.blocks.len() + 1];
        for (position, block) in kept.iter().enumerate() {
            number[*block] = Some(position);
        }
        let mut leads = Leads { graph, number };
        let mut nodes = Vec::with_capacity(kept.len());
        for block in &kept {
            let range = graph.blocks[*block].first..graph.blocks[*block].end;
            let then = match graph.blocks[*block].then {
                Next::Branch { guard, taken, other, span, meets } if self.branches[*block] => {
                    let (taken, other) = (leads.to(taken), leads.to(other));
                    Then::Branch { guard, taken, other, span, meets }
                }
                _ => Then::To(leads.behind(*block)),
            };
            nodes.push(Node { instructions: range.filter(|at| self.instructions[*at]).collect(), then });
        }
        let kept = self.instructions.iter().filter(|kept| **kept).count();
        Slice { nodes, registers: self.registers, instructions, kept }
    }
}

fn register_of(argument: Argument) -> Option<Register> {
    match argument {
        Argument::Register(register) => Some(register),
        _ => None,
    }
}

/// Finds the node that is reached from a block.
struct Leads<'g> {
    graph: &'g Graph,
    /// The node of each block, once it is known.
    number: Vec<Option<usize>>,
}

impl Leads<'_> {
    /// The node that is reached from a block, the block itself left out.
    fn behind(&mut self, block: usize) -> usize {
        let end = self.graph.end();
        let next = match self.graph.blocks[block].then {
            Next::Block(next) => next,
            // Nothing that matters depends on the branch: its arms meet.
            Next::Branch { .. } => self.graph.after[block].unwrap_or(end),
            Next::Exit | Next::Abort => end,
        };
        if next == end && self.graph.endless[block] { FOREVER } else { self.to(next) }
    }

    /// The node that is reached from a block.
    fn to(&mut self, block: usize) -> usize {
        let mut path = Vec::new();
        let mut at = block;
        let end = self.graph.end();
        let node = loop {
            if at == end {
                break END;
            }
            if let Some(node) = self.number[at] {
                break node;
            }
            path.push(at);
            // Whoever comes here again on the way is in a loop that does nothing.
            self.number[at] = Some(FOREVER);
            at = match self.graph.blocks[at].then {
                Next::Block(next) => next,
                Next::Branch { .. } => self.graph.after[at].unwrap_or(end),
                Next::Exit | Next::Abort => end,
            };
            if at == end && path.last().is_some_and(|last| self.graph.endless[*last]) {
                break FOREVER;
            }
        };
        for at in path {
            self.number[at] = Some(node);
        }
        node
    }
}
