//! The control-flow graph: basic blocks, and how control goes on from each.

use crate::common::span::Span;

use super::code::{Action, Code, Guard};
use super::dominators;

/// A basic block.
#[derive(Clone, Debug)]
pub(super) struct Block {
    /// Its instructions, jumps left out.
    pub(super) first: usize,
    pub(super) end: usize,
    pub(super) then: Next,
}

/// How control goes on from a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    Block(usize),
    Branch {
        guard: Guard,
        taken: usize,
        other: usize,
        span: Span,
        /// It is a guard on a single instruction: whatever follows, lanes meet behind that.
        meets: bool,
    },
    Exit,
    Abort,
}

impl Next {
    /// The blocks that may follow.
    pub(super) fn blocks(self) -> impl Iterator<Item = usize> {
        let (one, other) = match self {
            Self::Block(to) => (Some(to), None),
            Self::Branch { taken, other, .. } => (Some(taken), Some(other)),
            Self::Exit | Self::Abort => (None, None),
        };
        one.into_iter().chain(other)
    }
}

/// A control-flow graph. The entry is block 0; the number of blocks stands for the end of the kernel.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) blocks: Vec<Block>,
    /// Whether a block is reached from the entry.
    pub(super) reached: Vec<bool>,
    /// The immediate post-dominator of each block that is reached.
    pub(super) after: Vec<Option<usize>>,
    /// Blocks from which the end is never reached.
    pub(super) endless: Vec<bool>,
    /// Where the grid would end with an error: taken not to happen.
    pub(super) aborts: Vec<Span>,
}

impl Graph {
    pub(super) fn of(code: &Code) -> Self {
        let mut blocks = blocks(code);
        let aborts = without_aborts(code, &mut blocks);
        let reached = reached(&blocks);
        let (after, endless) = post_dominators(&blocks, &reached);
        Self { blocks, reached, after, endless, aborts }
    }

    /// The end of the kernel, as a block.
    pub(super) fn end(&self) -> usize {
        self.blocks.len()
    }

    /// For each block, the branches that decide whether it is reached (Ferrante, Ottenstein and Warren 1987).
    pub(super) fn control_dependences(&self) -> Vec<Vec<usize>> {
        let mut depends = vec![Vec::new(); self.blocks.len()];
        for (from, block) in self.blocks.iter().enumerate().filter(|(from, _)| self.reached[*from]) {
            if !matches!(block.then, Next::Branch { .. }) {
                continue;
            }
            for to in block.then.blocks() {
                let mut runner = to;
                while runner != self.end() && Some(runner) != self.after[from] {
                    if depends[runner].last() != Some(&from) {
                        depends[runner].push(from);
                    }
                    match self.after[runner] {
                        Some(next) => runner = next,
                        None => break,
                    }
                }
            }
        }
        depends
    }
}

/// Whether a guard on the instruction makes a branch of it.
fn is_isolated(action: &Action) -> bool {
    matches!(
        action,
        Action::Synchronise(_)
            | Action::Object(_)
            | Action::Exit
            | Action::Abort
            | Action::Beyond(_)
            | Action::Together(_)
    )
}

fn blocks(code: &Code) -> Vec<Block> {
    let count = code.instructions.len();
    let mut leads = vec![false; count + 1];
    leads[0] = true;
    for (at, instruction) in code.instructions.iter().enumerate() {
        match instruction.action {
            Action::Jump(to) => {
                leads[to.min(count)] = true;
                leads[at + 1] = true;
            }
            Action::Exit | Action::Abort => leads[at + 1] = true,
            _ => {}
        }
        if instruction.guard.is_some() && is_isolated(&instruction.action) {
            (leads[at], leads[at + 1]) = (true, true);
        }
    }
    // A guarded instruction that is isolated has two blocks: one that decides, one that executes it.
    let mut number = vec![0; count + 1];
    let mut next = 0;
    for at in 0..count {
        number[at] = next;
        if leads[at] {
            let instruction = &code.instructions[at];
            next += 1 + usize::from(instruction.guard.is_some() && is_isolated(&instruction.action));
        }
    }
    number[count] = next;
    let mut blocks = Vec::with_capacity(next + 1);
    let mut at = 0;
    while at < count {
        let first = at;
        at += 1;
        while at < count && !leads[at] {
            at += 1;
        }
        push_blocks(code, (first, at), &number, &mut blocks);
    }
    // What would be executed behind the last instruction ends there.
    blocks.push(Block { first: count, end: count, then: Next::Exit });
    blocks
}

fn push_blocks(code: &Code, (first, end): (usize, usize), number: &[usize], blocks: &mut Vec<Block>) {
    let last = &code.instructions[end - 1];
    let next = number[end];
    if let Some(guard) = last.guard.filter(|_| is_isolated(&last.action)) {
        // Who exits under a guard meets nobody.
        let meets = !matches!(last.action, Action::Exit | Action::Abort);
        let branch = Next::Branch { guard, taken: blocks.len() + 1, other: next, span: last.span, meets };
        blocks.push(Block { first, end: first, then: branch });
    }
    let (end, then) = match (&last.action, last.guard) {
        (Action::Jump(to), None) => (end - 1, Next::Block(number[*to])),
        (Action::Jump(to), Some(guard)) if number[*to] != next => {
            (end - 1, Next::Branch { guard, taken: number[*to], other: next, span: last.span, meets: false })
        }
        (Action::Jump(_), Some(_)) => (end - 1, Next::Block(next)),
        (Action::Exit, _) => (end - 1, Next::Exit),
        (Action::Abort, _) => (end - 1, Next::Abort),
        _ => (end, Next::Block(next)),
    };
    blocks.push(Block { first, end, then });
}

/// Takes out the branches behind which the grid certainly ends with an error, before any barrier: where they
/// are taken there is nothing left to be decided.
fn without_aborts(code: &Code, blocks: &mut [Block]) -> Vec<Span> {
    let synchronises = |block: &Block| {
        let instructions = &code.instructions[block.first..block.end];
        let matters = |action: &Action| {
            matches!(
                action,
                Action::Synchronise(_) | Action::Object(_) | Action::Beyond(_) | Action::Together(_)
            )
        };
        instructions.iter().any(|instruction| matters(&instruction.action))
    };
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); blocks.len()];
    let mut work = Vec::new();
    let mut left: Vec<usize> = Vec::with_capacity(blocks.len());
    for (from, block) in blocks.iter().enumerate() {
        block.then.blocks().for_each(|to| before[to].push(from));
        left.push(block.then.blocks().count());
        if block.then == Next::Abort && !synchronises(block) {
            work.push(from);
        }
    }
    let mut doomed = vec![false; blocks.len()];
    let mut spans = Vec::new();
    while let Some(block) = work.pop() {
        doomed[block] = true;
        if blocks[block].then == Next::Abort {
            spans.push(code.instructions[blocks[block].end].span);
        }
        for from in std::mem::take(&mut before[block]) {
            left[from] -= 1;
            if left[from] == 0 && !synchronises(&blocks[from]) {
                work.push(from);
            }
        }
    }
    for (index, block) in blocks.iter_mut().enumerate().filter(|(index, _)| !doomed[*index]) {
        if let Next::Branch { taken, other, .. } = block.then {
            debug_assert!(index < doomed.len());
            match (doomed[taken], doomed[other]) {
                (true, false) => block.then = Next::Block(other),
                (false, true) => block.then = Next::Block(taken),
                _ => {}
            }
        }
    }
    spans.sort_unstable();
    spans
}

fn reached(blocks: &[Block]) -> Vec<bool> {
    let mut reached = vec![false; blocks.len()];
    let mut work = vec![0];
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut reached[block], true) {
            work.extend(blocks[block].then.blocks());
        }
    }
    reached
}

/// Immediate post-dominators, and the blocks from which the end is never reached. Those are given an edge to
/// the end, so that they have post-dominators too.
fn post_dominators(blocks: &[Block], reached: &[bool]) -> (Vec<Option<usize>>, Vec<bool>) {
    let end = blocks.len();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); end + 1];
    for (from, block) in blocks.iter().enumerate().filter(|(from, _)| reached[*from]) {
        block.then.blocks().for_each(|to| before[to].push(from));
        if matches!(block.then, Next::Exit | Next::Abort) {
            before[end].push(from);
        }
    }
    let mut ends = vec![false; end + 1];
    let mut spread = |from: usize, before: &[Vec<usize>]| {
        let mut work = vec![from];
        while let Some(block) = work.pop() {
            if !std::mem::replace(&mut ends[block], true) {
                work.extend(&before[block]);
            }
        }
        ends.clone()
    };
    let first = spread(end, &before);
    let mut known = first.clone();
    for block in (0..end).rev().filter(|block| reached[*block]) {
        if !known[block] {
            known = spread(block, &before);
            before[end].push(block);
        }
    }
    let endless = (0..end).map(|block| reached[block] && !first[block]).collect();
    (dominators::immediate(end, &before), endless)
}
