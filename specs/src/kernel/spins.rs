//! Loops without a barrier that ask for the same again and again: nothing says that what they wait for comes.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use super::code::{Action, Argument, Code, Function, Register};
use super::graph::{Graph, Next};
use crate::common::span::Span;

/// Instructions of a loop that is looked at: who asks again and again does little else.
const LONGEST: usize = 1000;

/// Blocks that are gone through, each as often as there are loops around it.
const MOST_BLOCKS: usize = 1_000_000;

/// Where such loops without a barrier are left: the places of the branches.
pub(super) fn spins(code: &Code, graph: &Graph) -> Vec<Span> {
    let all: BTreeSet<usize> = (0..graph.blocks.len()).filter(|block| graph.reached[*block]).collect();
    let (mut found, mut work) = (BTreeSet::new(), vec![all]);
    let mut left = MOST_BLOCKS;
    while let Some(blocks) = work.pop() {
        let Some(rest) = left.checked_sub(blocks.len()) else { break };
        left = rest;
        for part in parts(graph, &blocks) {
            let is_loop = part.len() > 1 || part.iter().any(|block| follows(graph, *block, *block));
            if !is_loop {
                continue;
            }
            let is_short = instructions(graph, &part).nth(LONGEST).is_none();
            if is_short && !has_barrier(code, graph, &part) {
                found.extend(exits(code, graph, &part));
            }
            // There may be loops inside.
            let header = part.first().copied();
            work.push(part.into_iter().filter(|block| Some(*block) != header).collect());
        }
    }
    found.into_iter().collect()
}

fn follows(graph: &Graph, block: usize, next: usize) -> bool {
    graph.blocks[block].then.blocks().any(|to| to == next)
}

/// The strongly connected parts of some blocks.
fn parts(graph: &Graph, blocks: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
    let mut within = DiGraph::<usize, ()>::new();
    let nodes: BTreeMap<usize, _> = blocks.iter().map(|block| (*block, within.add_node(*block))).collect();
    for (block, node) in &nodes {
        let next = graph.blocks[*block].then.blocks().filter_map(|to| nodes.get(&to));
        next.for_each(|to| _ = within.add_edge(*node, *to, ()));
    }
    let names = |part: Vec<_>| part.into_iter().map(|node| within[node]).collect();
    kosaraju_scc(&within).into_iter().map(names).collect()
}

fn instructions<'p>(graph: &'p Graph, part: &'p BTreeSet<usize>) -> impl Iterator<Item = usize> + 'p {
    part.iter().flat_map(|block| graph.blocks[*block].first..graph.blocks[*block].end)
}

fn has_barrier(code: &Code, graph: &Graph, part: &BTreeSet<usize>) -> bool {
    instructions(graph, part).any(|at| code.instructions[at].action.is_about_barriers())
}

/// The branches by which a loop is left that depend on what it loads, each time from the same address, or on
/// what is not followed: a value that others may change at any time.
fn exits(code: &Code, graph: &Graph, part: &BTreeSet<usize>) -> Vec<Span> {
    let computed: Vec<(Register, Function, &[Argument])> = instructions(graph, part)
        .filter_map(|at| match &code.instructions[at].action {
            Action::Compute { to, function, arguments } => Some((*to, *function, &arguments[..])),
            _ => None,
        })
        .collect();
    let fixed = fixed(&computed);
    let is_asked = |(_, function, arguments): &&(Register, Function, &[Argument])| match function {
        Function::Load(_) => arguments.first().is_some_and(|address| stays(&computed, &fixed, *address)),
        Function::Unknown => arguments.is_empty(),
        _ => false,
    };
    let mut asked: BTreeSet<Register> = computed.iter().filter(is_asked).map(|(to, ..)| *to).collect();
    loop {
        let depends =
            |argument: &Argument| matches!(argument, Argument::Register(one) if asked.contains(one));
        let more = computed.iter().filter(|(_, _, arguments)| arguments.iter().any(depends));
        let more: Vec<Register> = more.map(|(to, ..)| *to).filter(|to| !asked.contains(to)).collect();
        if more.is_empty() {
            break;
        }
        asked.extend(more);
    }
    let leaves = |block: &usize| match graph.blocks[*block].then {
        Next::Branch { guard, taken, other, span, .. } => {
            let is_left = !part.contains(&taken) || !part.contains(&other);
            (is_left && asked.contains(&guard.register)).then_some(span)
        }
        _ => None,
    };
    part.iter().filter_map(leaves).collect()
}

/// The registers that a loop writes and that hold the same each time.
fn fixed(computed: &[(Register, Function, &[Argument])]) -> BTreeSet<Register> {
    let mut fixed = BTreeSet::new();
    loop {
        let is_plain = |function: &Function| matches!(function, Function::Integer(..) | Function::Pure(_));
        let more: Vec<Register> = computed
            .iter()
            .filter(|(to, function, arguments)| {
                let is_one = computed.iter().filter(|(other, ..)| other == to).count() == 1;
                let stay = arguments.iter().all(|argument| stays(computed, &fixed, *argument));
                is_plain(function) && is_one && stay && !fixed.contains(to)
            })
            .map(|(to, ..)| *to)
            .collect();
        if more.is_empty() {
            return fixed;
        }
        fixed.extend(more);
    }
}

fn stays(
    computed: &[(Register, Function, &[Argument])],
    fixed: &BTreeSet<Register>,
    argument: Argument,
) -> bool {
    match argument {
        Argument::Register(one) => fixed.contains(&one) || computed.iter().all(|(to, ..)| *to != one),
        _ => true,
    }
}
