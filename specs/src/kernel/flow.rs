//! The flow of control of one warp: the nodes that it may reach, their loops, and where branches join.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::dominators::{dominates, immediate, reverse_postorder};
use super::evaluate::{Evaluation, OUTSIDE};
use super::value::ValueId;

/// A natural loop.
#[derive(Clone, Debug)]
pub(super) struct Loop {
    pub(super) header: usize,
    /// The loop directly around it.
    pub(super) around: Option<usize>,
    /// Its nodes, those of loops inside among them, in no order.
    pub(super) nodes: Vec<usize>,
}

/// Where ways to one end part: from any other node all go on through one of these before, or only one leads
/// there.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// The first one, from where all ways begin.
    pub(super) first: usize,
    /// Each with the one that follows, in the order of the ways that go on from it.
    pub(super) next: BTreeMap<usize, Vec<usize>>,
}

/// What follows a turn where the end does.
pub(super) const THERE: usize = usize::MAX;
/// And where the way leads elsewhere.
pub(super) const AWAY: usize = usize::MAX - 1;

/// The flow of control of one warp.
#[derive(Debug)]
pub(super) struct Flow {
    /// For each node, those that follow; ends are left out.
    pub(super) after: Vec<Vec<usize>>,
    pub(super) before: Vec<Vec<usize>>,
    /// The nodes that are reached, each behind those that lead to it but for loops.
    pub(super) order: Vec<usize>,
    pub(super) dominator: Vec<Option<usize>>,
    /// Loops, each behind those around it.
    pub(super) loops: Vec<Loop>,
    /// The innermost loop of each node.
    pub(super) innermost: Vec<Option<usize>>,
    /// Loops in an order in which those inside of one follow it: the place of each, and that behind the last
    /// one inside.
    inside: Vec<(usize, usize)>,
    /// For each node where the ways to it part: on the way there, and on those back to it.
    turns: Vec<OnceCell<[Turns; 2]>>,
    /// The same of the ways through each loop.
    rounds: Vec<OnceCell<Turns>>,
}

impl Flow {
    /// The flow of control; the node at which a loop is entered otherwise than through its header, where one
    /// is.
    pub(super) fn of(evaluation: &Evaluation) -> Result<Self, usize> {
        let count = evaluation.then.len();
        let follows = |node: usize| {
            let nodes = evaluation.then[node].into_iter().flat_map(|way| way.nodes());
            let mut nodes: Vec<usize> = nodes.filter(|to| *to < count).collect();
            nodes.dedup();
            nodes
        };
        let after: Vec<Vec<usize>> = (0..count).map(follows).collect();
        let order = reverse_postorder(0, &after);
        let mut before = vec![Vec::new(); count];
        let mut position = vec![usize::MAX; count];
        for (index, node) in order.iter().enumerate() {
            position[*node] = index;
            after[*node].iter().for_each(|to| before[*to].push(*node));
        }
        let dominator = immediate(0, &after);
        let mut loops: Vec<Loop> = Vec::new();
        let mut innermost = vec![None; count];
        for header in &order {
            let backs: Vec<usize> =
                before[*header].iter().copied().filter(|from| position[*from] >= position[*header]).collect();
            if backs.is_empty() {
                continue;
            }
            if let Some(from) = backs.iter().find(|from| !dominates(&dominator, *header, **from)) {
                return Err(*from);
            }
            let nodes = body(*header, backs, &before);
            let number = loops.len();
            loops.push(Loop { header: *header, around: innermost[*header], nodes });
            for node in &loops[number].nodes {
                innermost[*node] = Some(number);
            }
        }
        let (turns, rounds) = (vec![OnceCell::new(); count], vec![OnceCell::new(); loops.len()]);
        let inside = nested(&loops);
        Ok(Self { after, before, order, dominator, loops, innermost, inside, turns, rounds })
    }

    /// Whether a loop, or none for the whole kernel, contains a node.
    pub(super) fn contains(&self, outer: Option<usize>, node: usize) -> bool {
        let (Some(outer), Some(inner)) = (outer, self.innermost[node]) else { return outer.is_none() };
        let (first, behind) = self.inside[outer];
        (first..behind).contains(&self.inside[inner].0)
    }

    /// The loops around a node, the innermost first.
    pub(super) fn around(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        std::iter::successors(self.innermost[node], |inner| self.loops[*inner].around)
    }

    /// Whether a node is the header of a loop.
    pub(super) fn is_header(&self, node: usize) -> bool {
        self.innermost[node].is_some_and(|inner| self.loops[inner].header == node)
    }

    /// The nodes that decide which of the values that come to a node comes there. Where the same value comes
    /// over all ways none does; ways into a loop and back to its beginning are looked at apart.
    pub(super) fn deciding(&self, node: usize, incoming: &[(usize, ValueId)]) -> BTreeSet<usize> {
        self.turns(node, incoming).into_iter().flat_map(|(_, turns)| turns.next.keys().copied()).collect()
    }

    /// How it comes about which of the values comes to a node: on the ways there, and on those back to it if
    /// it is the header of a loop, which is said with them.
    pub(super) fn turns(&self, node: usize, incoming: &[(usize, ValueId)]) -> Vec<(bool, &Turns)> {
        let is_back = |from: usize| self.is_back(node, from);
        let mut found = Vec::new();
        for back in [false, true] {
            let sources = || incoming.iter().filter(|(from, _)| *from != OUTSIDE && is_back(*from) == back);
            let Some((_, first)) = sources().next() else { continue };
            if sources().any(|(_, value)| value != first) {
                let of = |back| {
                    let last = self.before[node].iter().filter(|from| self.is_back(node, **from) == back);
                    self.turns_to(last.copied(), if back { Some(node) } else { self.dominator[node] }, node)
                };
                let turns = self.turns[node].get_or_init(|| [of(false), of(true)]);
                found.push((back, &turns[usize::from(back)]));
            }
        }
        found
    }

    /// How it comes about that a loop goes on or is left.
    pub(super) fn rounds(&self, number: usize) -> &Turns {
        self.rounds[number].get_or_init(|| {
            let Loop { header, nodes, .. } = &self.loops[number];
            let ends = |to: &usize| to == header || !self.contains(Some(number), *to);
            let last = nodes.iter().copied().filter(|from| self.after[*from].iter().any(ends));
            self.turns_to(last, Some(*header), *header)
        })
    }

    fn is_back(&self, header: usize, from: usize) -> bool {
        self.is_header(header) && self.contains(self.innermost[header], from)
    }

    /// The nodes that decide over which of the ways back the beginning of a loop is come to.
    pub(super) fn deciding_back(&self, header: usize, incoming: &[(usize, ValueId)]) -> BTreeSet<usize> {
        let turns = self.turns(header, incoming).into_iter().filter(|(back, _)| *back);
        turns.flat_map(|(_, turns)| turns.next.keys().copied()).collect()
    }

    /// The turns on the ways from `first` over `last` to their end at `node` or elsewhere.
    fn turns_to(&self, last: impl Iterator<Item = usize>, first: Option<usize>, node: usize) -> Turns {
        // The ways backwards, from their end to where all of them begin.
        let mut place = BTreeMap::new();
        let (mut nodes, mut ways) = (vec![node], vec![Vec::new()]);
        let mut work: Vec<(usize, usize)> = last.map(|from| (0, from)).collect();
        while let Some((to, from)) = work.pop() {
            let at = *place.entry(from).or_insert_with(|| {
                nodes.push(from);
                ways.push(Vec::new());
                let before = self.before[from].iter().filter(|_| Some(from) != first);
                work.extend(before.map(|before| (nodes.len() - 1, *before)));
                nodes.len() - 1
            });
            ways[to].push(at);
        }
        let closest = immediate(0, &ways);
        let turn = |from: usize| {
            let mut at = *place.get(&from)?;
            while let Some(next) = closest[at].filter(|next| *next != 0) {
                at = next;
            }
            Some(nodes[at])
        };
        let next = |from: usize| {
            let after = self.after[from].iter();
            after.map(|to| if *to == node { THERE } else { turn(*to).unwrap_or(AWAY) }).collect()
        };
        let turns = (1..nodes.len()).filter(|at| closest[*at] == Some(0)).map(|at| nodes[at]);
        Turns { first: first.and_then(turn).unwrap_or(AWAY), next: turns.map(|at| (at, next(at))).collect() }
    }

    /// The loop directly inside `outer` that contains a node, if it is in one.
    pub(super) fn child(&self, outer: Option<usize>, node: usize) -> Option<usize> {
        self.around(node).take_while(|l| Some(*l) != outer).last()
    }
}

/// For each loop its place in an order in which those inside of one follow it, and the place behind these.
fn nested(loops: &[Loop]) -> Vec<(usize, usize)> {
    let mut sizes = vec![1; loops.len()];
    for (number, one) in loops.iter().enumerate().rev() {
        if let Some(around) = one.around {
            sizes[around] += sizes[number];
        }
    }
    let (mut next, mut outermost) = (vec![0; loops.len()], 0);
    let mut inside = Vec::with_capacity(loops.len());
    for (number, one) in loops.iter().enumerate() {
        let place = match one.around {
            Some(around) => &mut next[around],
            None => &mut outermost,
        };
        let first = *place;
        *place += sizes[number];
        next[number] = first + 1;
        inside.push((first, first + sizes[number]));
    }
    inside
}

/// The nodes from which a loop's header is reached without passing it.
fn body(header: usize, backs: Vec<usize>, before: &[Vec<usize>]) -> Vec<usize> {
    let mut inside = vec![false; before.len()];
    inside[header] = true;
    let mut nodes = vec![header];
    let mut work = backs;
    while let Some(node) = work.pop() {
        if !std::mem::replace(&mut inside[node], true) {
            nodes.push(node);
            work.extend(&before[node]);
        }
    }
    nodes
}

/// Where control goes from a node of a region: a node of the region, or out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Inside(usize),
    /// To the header of the region's loop, or to the end of the kernel.
    Round,
    Out,
}

/// A loop's body, or the whole kernel outside loops, without cycles: a loop inside is one node, its header.
#[derive(Debug)]
pub(super) struct Region {
    /// For each node of the region where it joins: the node that all paths pass, but for those that leave the
    /// region. `None` where they meet only at its end.
    pub(super) join: Vec<Option<usize>>,
}

impl Flow {
    /// Where an edge leads, seen from the region of `outer`.
    pub(super) fn target(&self, outer: Option<usize>, to: usize) -> Target {
        if to >= self.after.len() {
            // The end is the end of the kernel's own region alone.
            return if outer.is_none() { Target::Round } else { Target::Out };
        }
        if outer.is_some_and(|outer| self.loops[outer].header == to) {
            return Target::Round;
        }
        if !self.contains(outer, to) {
            return Target::Out;
        }
        Target::Inside(self.child(outer, to).map_or(to, |inner| self.loops[inner].header))
    }

    /// Where control goes from a node of a region, a loop inside left as a whole.
    fn targets(&self, evaluation: &Evaluation, outer: Option<usize>, node: usize) -> Vec<Target> {
        let of = |node: usize| evaluation.then[node].into_iter().flat_map(|way| way.nodes());
        match self.child(outer, node) {
            None => of(node).map(|to| self.target(outer, to)).collect(),
            Some(inner) => {
                let nodes = self.loops[inner].nodes.iter();
                let leaving = nodes.flat_map(|node| of(*node));
                leaving
                    .filter(|to| *to >= self.after.len() || !self.contains(Some(inner), *to))
                    .map(|to| self.target(outer, to))
                    .collect()
            }
        }
    }

    /// The region of a loop, or of the kernel.
    pub(super) fn region(&self, evaluation: &Evaluation, outer: Option<usize>) -> Region {
        let count = self.after.len();
        let is_member = |node: &&usize| match self.child(outer, **node) {
            None => self.contains(outer, **node),
            Some(inner) => self.loops[inner].header == **node,
        };
        // Post-dominators of a graph without cycles, from its end: depth 0 is the region's end.
        let mut join: Vec<Option<usize>> = vec![None; count];
        let mut depth = vec![0_usize; count];
        let mut dead = vec![false; count];
        let members: Vec<usize> = self.order.iter().filter(is_member).copied().collect();
        for node in members.iter().rev() {
            let targets = self.targets(evaluation, outer, *node);
            let inside = targets.iter().any(|t| matches!(t, Target::Inside(to) if !dead[*to]));
            let mut common: Option<Option<usize>> = None;
            for target in targets {
                let to = match target {
                    Target::Inside(to) if dead[to] => continue,
                    Target::Inside(to) => Some(to),
                    // Who leaves by the kernel's end joins nobody.
                    Target::Round if outer.is_none() && inside => continue,
                    Target::Round => None,
                    Target::Out => continue,
                };
                common = Some(match common {
                    None => to,
                    Some(so_far) => meet(&join, &depth, so_far, to),
                });
            }
            dead[*node] = common.is_none();
            join[*node] = common.flatten();
            depth[*node] = join[*node].map_or(0, |to| depth[to]) + 1;
        }
        Region { join }
    }
}

fn meet(
    join: &[Option<usize>],
    depth: &[usize],
    mut a: Option<usize>,
    mut b: Option<usize>,
) -> Option<usize> {
    while a != b {
        let (Some(one), Some(other)) = (a, b) else { return None };
        if depth[one] >= depth[other] {
            a = join[one];
        } else {
            b = join[other];
        }
    }
    a
}
