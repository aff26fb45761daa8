//! What can be known of a role's code before it runs: which locals matter where, and which loops are counted.
//!
//! A local matters where it may still be read before it is set again. One that does not is forgotten,
//! so that configurations which cannot behave differently are equal.

use crate::program::{Code, Condition, ConstructId, ConstructKind, Expr, LocalId, Op, Pc, Scope, SequenceId};
use smallvec::SmallVec;

/// Positions that are gone through for a role's locals, and for its sequences, before the others are taken to
/// matter everywhere: that is never wrong, and keeps the time linear in the length of the code.
const MOST_VISITS: usize = 1 << 24;

/// Facts about a role's code.
#[derive(Clone, Debug)]
pub struct Facts {
    /// For every local, where it matters.
    live: Vec<Positions>,
    /// For every position, the innermost construct around it.
    innermost: Vec<Option<ConstructId>>,
    /// For every construct, whether its iterations are counted for the workgroup's and for the
    /// subgroup's split barriers: it is a loop around a barrier instruction of that scope.
    counted: Vec<[bool; 2]>,
    /// For every sequence of uniform decisions, from where it may still be consulted.
    consults: Vec<Positions>,
}

/// Positions, as half-open ranges in order.
type Positions = Vec<(u32, u32)>;

impl Facts {
    /// Computes the facts.
    #[must_use]
    pub fn of(code: &Code) -> Self {
        let innermost = innermost_constructs(code);
        let before = predecessors(code);
        Self {
            live: live_locals(code, &before),
            counted: counted_loops(code, &innermost),
            consults: consulted_sequences(code, &before),
            innermost,
        }
    }

    /// Whether `local` may still be read from `pc` on.
    #[must_use]
    pub fn is_live(&self, pc: Pc, local: LocalId) -> bool {
        self.live.get(local.index()).is_some_and(|positions| holds(positions, pc))
    }

    /// Whether a sequence of uniform decisions may still be consulted from `pc` on.
    #[must_use]
    pub fn may_consult(&self, pc: Pc, sequence: SequenceId) -> bool {
        self.consults.get(sequence.index()).is_some_and(|positions| holds(positions, pc))
    }

    /// Whether the iterations of a loop are counted for barriers of `scope`.
    #[must_use]
    pub fn is_counted(&self, construct: ConstructId, scope: Scope) -> bool {
        scope_index(scope).is_some_and(|i| self.counted[construct.index()][i])
    }

    /// The counted loops around `pc`, outermost first.
    #[must_use]
    pub fn counted_around(&self, code: &Code, pc: Pc, scope: Scope) -> Vec<ConstructId> {
        let mut around: Vec<_> = constructs_around(code, self.innermost[pc.index()])
            .filter(|c| self.is_counted(*c, scope))
            .collect();
        around.reverse();
        around
    }
}

/// The position of a scope in tables kept for the workgroup and the subgroup.
fn scope_index(scope: Scope) -> Option<usize> {
    match scope {
        Scope::Workgroup => Some(0),
        Scope::Subgroup => Some(1),
        Scope::Invocation | Scope::Device => None,
    }
}

/// A construct and those around it, innermost first.
pub(super) fn constructs_around(
    code: &Code,
    innermost: Option<ConstructId>,
) -> impl Iterator<Item = ConstructId> + '_ {
    std::iter::successors(innermost, |c| code.constructs[c.index()].parent)
}

fn innermost_constructs(code: &Code) -> Vec<Option<ConstructId>> {
    let mut current = None;
    let mut innermost = Vec::with_capacity(code.ops.len());
    for op in &code.ops {
        match op {
            Op::Branch { construct, .. } | Op::Enter(construct) => current = Some(*construct),
            Op::End(construct) => current = code.constructs[construct.index()].parent,
            _ => {}
        }
        innermost.push(current);
    }
    innermost
}

fn counted_loops(code: &Code, innermost: &[Option<ConstructId>]) -> Vec<[bool; 2]> {
    let mut counted = vec![[false; 2]; code.constructs.len()];
    for (op, construct) in code.ops.iter().zip(innermost) {
        let Some(index) = op.execution_scope().and_then(scope_index) else { continue };
        for around in constructs_around(code, *construct) {
            counted[around.index()][index] |= code.constructs[around.index()].kind == ConstructKind::Loop;
        }
    }
    counted
}

fn holds(positions: &Positions, pc: Pc) -> bool {
    let after = positions.partition_point(|(first, _)| *first <= pc.0);
    after > 0 && pc.0 < positions[after - 1].1
}

/// The positions from which each position can come next.
fn predecessors(code: &Code) -> Vec<SmallVec<[u32; 2]>> {
    let mut before = vec![SmallVec::new(); code.ops.len()];
    for at in (0..code.ops.len()).map(Pc::from_index) {
        for next in successors(code, at) {
            before[next.index()].push(at.0);
        }
    }
    before
}

/// For every local, the positions from which it may be read before it is set again.
fn live_locals(code: &Code, before: &[SmallVec<[u32; 2]>]) -> Vec<Positions> {
    let mut readers = vec![Vec::new(); code.locals.len()];
    for (at, op) in (0..).zip(&code.ops) {
        read(op, &mut |local| readers[local.index()].push(at));
    }
    let sets = |at: u32, local: usize| {
        code.ops[at as usize].written().into_iter().any(|written: LocalId| written.index() == local)
    };
    lead_to(readers, before, &sets)
}

/// For every sequence of uniform decisions, the positions from which it may be consulted.
fn consulted_sequences(code: &Code, before: &[SmallVec<[u32; 2]>]) -> Vec<Positions> {
    let mut consulting: Vec<Vec<u32>> = Vec::new();
    for (at, op) in (0..).zip(&code.ops) {
        if let Op::Branch { condition: Condition::Uniform(sequence), .. }
        | Op::Test { condition: Condition::Uniform(sequence), .. } = op
        {
            consulting.resize(consulting.len().max(sequence.index() + 1), Vec::new());
            consulting[sequence.index()].push(at);
        }
    }
    lead_to(consulting, before, &|_, _| false)
}

/// For every list of positions, those from which some of the list can be reached without passing one at which
/// `ends` holds.
fn lead_to(
    lists: Vec<Vec<u32>>,
    before: &[SmallVec<[u32; 2]>],
    ends: &dyn Fn(u32, usize) -> bool,
) -> Vec<Positions> {
    let mut visits = 0;
    // For each position, the last list of which it was found to be.
    let mut found = vec![usize::MAX; before.len()];
    let each = lists.into_iter().enumerate();
    each.map(|(list, mut all)| {
        all.retain(|at| std::mem::replace(&mut found[*at as usize], list) != list);
        let mut next = 0;
        while next < all.len() {
            visits += 1;
            if visits > MOST_VISITS {
                return vec![(0, u32::MAX)];
            }
            let sources = before[all[next] as usize].iter();
            let new = sources.filter(|at| found[**at as usize] != list && !ends(**at, list));
            let new: SmallVec<[u32; 2]> = new.copied().collect();
            new.iter().for_each(|at| found[*at as usize] = list);
            all.extend(new);
            next += 1;
        }
        ranges(all)
    })
    .collect()
}

fn ranges(mut all: Vec<u32>) -> Positions {
    all.sort_unstable();
    let mut ranges = Positions::new();
    for at in all {
        match ranges.last_mut() {
            Some((_, end)) if *end == at => *end += 1,
            _ => ranges.push((at, at + 1)),
        }
    }
    ranges
}

fn successors(code: &Code, at: Pc) -> Vec<Pc> {
    let next = Pc(at.0 + 1);
    match &code.ops[at.index()] {
        Op::Branch { otherwise, .. } => vec![next, *otherwise],
        Op::Test { construct, .. } => vec![next, code.constructs[construct.index()].end],
        Op::Jump(to) | Op::Back(_, to) | Op::Continue(_, to) => vec![*to],
        Op::Break(construct) => vec![code.constructs[construct.index()].end],
        Op::Exit => Vec::new(),
        // Code ends with an exit, so there is a next operation.
        _ => vec![next],
    }
}

fn read(op: &Op, found: &mut dyn FnMut(LocalId)) {
    op.handle().into_iter().for_each(&mut *found);
    for expr in op.expressions() {
        locals_of(expr, found);
    }
}

/// Calls `found` for every local in an expression.
fn locals_of(expr: &Expr, found: &mut dyn FnMut(LocalId)) {
    match expr {
        Expr::Local(local) => found(*local),
        Expr::Unary(_, a) => locals_of(a, found),
        Expr::Binary(_, a, b) => {
            locals_of(a, found);
            locals_of(b, found);
        }
        Expr::Int(_) | Expr::Agent | Expr::Lane => {}
    }
}
