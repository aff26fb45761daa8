//! Machine registers are used again and again for different things: each such use gets a register of its own.
//!
//! A web is what writes of a register and reads of it have to do with one another: a read belongs to the web
//! of each write that reaches it (Muchnick 1997, 16.3). What one web holds says nothing of another, so that
//! neither what barriers depend on nor what addresses are counted from takes both for one.

use std::collections::HashMap;

use crate::kernel::access::Bytes;
use crate::kernel::code::{Action, Argument, Code, Instruction, Register};

/// More places, a register at the beginning of a block each, than that are not looked at.
const PLACES: usize = 10_000_000;

/// A basic block.
struct Block {
    first: usize,
    end: usize,
    next: Vec<usize>,
}

/// Gives each web of the registers that are given a register of its own.
pub(super) fn separate(code: &mut Code, cells: &[Register]) {
    let blocks = blocks(code);
    if blocks.len().saturating_mul(cells.len()) > PLACES {
        return;
    }
    let positions: HashMap<Register, usize> =
        cells.iter().enumerate().map(|(at, cell)| (*cell, at)).collect();
    let position = |register: Register| positions.get(&register).copied();
    let live = live(code, &blocks, &position, cells.len());
    // A node for each register at the beginning of a block, and one for each write.
    let mut nodes = Nodes((0..blocks.len() * cells.len()).collect());
    let mut written: HashMap<usize, usize> = HashMap::new();
    let mut read: HashMap<(usize, Register), usize> = HashMap::new();
    for (number, block) in blocks.iter().enumerate() {
        let mut current: Vec<usize> = (0..cells.len()).map(|cell| number * cells.len() + cell).collect();
        for at in block.first..block.end {
            let instruction = &code.instructions[at];
            reads(instruction, &mut |register| {
                if let Some(cell) = position(register) {
                    read.insert((at, register), current[cell]);
                }
            });
            let Some(cell) = writes(instruction).and_then(&position) else { continue };
            let node = nodes.0.len();
            nodes.0.push(node);
            written.insert(at, node);
            if instruction.guard.is_some() {
                // Other lanes keep what they had.
                nodes.join(node, current[cell]);
            }
            current[cell] = node;
        }
        for next in &block.next {
            for cell in (0..cells.len()).filter(|cell| live[*next].contains(*cell)) {
                nodes.join(current[cell], next * cells.len() + cell);
            }
        }
    }
    let mut names = Names { of: HashMap::new(), counts: HashMap::new() };
    for at in 0..code.instructions.len() {
        let to = writes(&code.instructions[at]).filter(|to| position(*to).is_some());
        let to = to.map(|to| names.name(code, to, nodes.root(written[&at])));
        let mut instruction = code.instructions[at].clone();
        renamed(&mut instruction, &mut |register| match read.get(&(at, register)) {
            Some(node) => names.name(code, register, nodes.root(*node)),
            None => register,
        });
        if let (Some(new), Action::Compute { to, .. }) = (to, &mut instruction.action) {
            *to = new;
        }
        code.instructions[at] = instruction;
    }
}

/// Sets of nodes, each of which points to another of its set, or is what the set is called.
struct Nodes(Vec<usize>);

impl Nodes {
    fn root(&mut self, mut node: usize) -> usize {
        while self.0[node] != node {
            self.0[node] = self.0[self.0[node]];
            node = self.0[node];
        }
        node
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.root(one), self.root(other));
        self.0[one] = other;
    }
}

/// The registers of webs.
struct Names {
    of: HashMap<(Register, usize), Register>,
    counts: HashMap<Register, usize>,
}

impl Names {
    /// The register of a web: the first one keeps that of the machine.
    fn name(&mut self, code: &mut Code, register: Register, web: usize) -> Register {
        if let Some(known) = self.of.get(&(register, web)) {
            return *known;
        }
        let count = self.counts.entry(register).or_default();
        *count += 1;
        let own = match *count {
            1 => register,
            count => {
                let name = format!("{}w{count}", code.registers[register as usize]);
                let bits = code.bits[register as usize];
                let own = code.register(&name);
                code.bits[own as usize] = bits;
                own
            }
        };
        self.of.insert((register, web), own);
        own
    }
}

fn blocks(code: &Code) -> Vec<Block> {
    let count = code.instructions.len();
    let mut leads = vec![false; count + 1];
    leads[0] = true;
    for (at, instruction) in code.instructions.iter().enumerate() {
        if let Action::Jump(to) = instruction.action {
            leads[to.min(count)] = true;
        }
        leads[at + 1] |= matches!(instruction.action, Action::Jump(_) | Action::Exit | Action::Abort);
    }
    let firsts: Vec<usize> = (0..count).filter(|at| leads[*at]).collect();
    let mut number = vec![firsts.len(); count + 1];
    firsts.iter().enumerate().for_each(|(block, first)| number[*first] = block);
    let ends = firsts.iter().skip(1).copied().chain([count]);
    let block = |(first, end): (&usize, usize)| {
        let last = &code.instructions[end - 1];
        let (to, goes_on) = match last.action {
            Action::Jump(to) => (Some(number[to.min(count)]), last.guard.is_some()),
            Action::Exit | Action::Abort => (None, last.guard.is_some()),
            _ => (None, true),
        };
        let next = to.into_iter().chain(goes_on.then_some(number[end]));
        Block { first: *first, end, next: next.filter(|next| *next < firsts.len()).collect() }
    };
    firsts.iter().zip(ends).map(block).collect()
}

/// A set of registers.
#[derive(Clone, PartialEq)]
struct Set(Vec<u64>);

impl Set {
    fn of(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    fn contains(&self, at: usize) -> bool {
        self.0[at / 64] >> (at % 64) & 1 == 1
    }

    fn insert(&mut self, at: usize) {
        self.0[at / 64] |= 1 << (at % 64);
    }
}

/// The registers that are read after the beginning of each block before they are written.
fn live(
    code: &Code,
    blocks: &[Block],
    position: &impl Fn(Register) -> Option<usize>,
    count: usize,
) -> Vec<Set> {
    let (mut asked, mut set) = (Vec::new(), Vec::new());
    for block in blocks {
        let (mut own, mut given) = (Set::of(count), Set::of(count));
        for instruction in &code.instructions[block.first..block.end] {
            reads(instruction, &mut |register| {
                if let Some(cell) = position(register).filter(|cell| !given.contains(*cell)) {
                    own.insert(cell);
                }
            });
            if let Some(cell) = writes(instruction).filter(|_| instruction.guard.is_none()).and_then(position)
            {
                given.insert(cell);
            }
        }
        asked.push(own);
        set.push(given);
    }
    let mut live = asked;
    loop {
        let mut changed = false;
        for (number, block) in blocks.iter().enumerate().rev() {
            let mut own = live[number].clone();
            for next in &block.next {
                for (word, (of_next, given)) in own.0.iter_mut().zip(live[*next].0.iter().zip(&set[number].0))
                {
                    *word |= of_next & !given;
                }
            }
            changed |= own != live[number];
            live[number] = own;
        }
        if !changed {
            return live;
        }
    }
}

fn writes(instruction: &Instruction) -> Option<Register> {
    match instruction.action {
        Action::Compute { to, .. } => Some(to),
        _ => None,
    }
}

fn reads(instruction: &Instruction, with: &mut impl FnMut(Register)) {
    let mut copy = instruction.clone();
    renamed(&mut copy, &mut |register| {
        with(register);
        register
    });
}

/// Gives the registers that an instruction reads other names.
fn renamed(instruction: &mut Instruction, name: &mut impl FnMut(Register) -> Register) {
    if let Some(guard) = &mut instruction.guard {
        guard.register = name(guard.register);
    }
    let mut each = |argument: &mut Argument| {
        if let Argument::Register(register) = argument {
            *register = name(*register);
        }
    };
    match &mut instruction.action {
        Action::Compute { arguments, .. } | Action::Uses(arguments) => arguments.iter_mut().for_each(each),
        Action::Synchronise(barrier) => barrier.operands.iter_mut().for_each(|(operand, _)| each(operand)),
        Action::Object(step) => {
            each(&mut step.address);
            let to = step.to.as_mut().and_then(|to| to.address.as_mut());
            step.amount.iter_mut().chain(&mut step.mask).chain(to).for_each(each);
        }
        Action::Test { address, parity, .. } => {
            each(address);
            each(parity);
        }
        Action::Store { address: Some((address, _)), .. } => each(address),
        Action::Access(access) => {
            access
                .address
                .iter_mut()
                .chain(access.value.iter_mut().map(|(value, _)| value))
                .for_each(&mut each);
            if let Bytes::Said(bytes) = &mut access.bytes {
                each(bytes);
            }
        }
        Action::Store { .. }
        | Action::Jump(_)
        | Action::Exit
        | Action::Abort
        | Action::Beyond(_)
        | Action::Together(_)
        | Action::Nothing => {}
    }
}
