//! What can be known of a role's code before it runs: which locals matter where, and which loops are counted.
//!
//! A local matters where it may still be read before it is set again. One that does not is forgotten,
//! so that configurations which cannot behave differently are equal.

use super::alike::all_go_alike;
use super::period::{Period, periods, settled_from};
use crate::program::{
    Code, Condition, ConstructId, ConstructKind, Expr, LocalId, Op, Pc, Program, Scope, SequenceId,
};
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
    /// For every loop, from where it may still be entered.
    enters: Vec<Positions>,
    /// See [`Self::told_apart`].
    told_apart: u32,
    /// See [`Self::kept`].
    periods: Vec<Option<Period>>,
}

/// Positions, as half-open ranges in order.
type Positions = Vec<(u32, u32)>;

impl Facts {
    /// Computes the facts about each role of a protocol.
    #[must_use]
    pub fn of(program: &Program) -> Vec<Self> {
        let mut facts: Vec<_> = program.roles.iter().map(|role| Self::of_code(&role.code)).collect();
        let told_apart =
            facts.iter().zip(&program.roles).map(|(facts, role)| facts.told_apart_in(&role.code));
        let told_apart = told_apart.max().unwrap_or(0);
        facts.iter_mut().for_each(|facts| facts.told_apart = told_apart);
        facts
    }

    fn of_code(code: &Code) -> Self {
        let innermost = innermost_constructs(code);
        let before = predecessors(code);
        let counted = counted_loops(code, &innermost);
        let counts = counted.iter().flatten().any(|counted| *counted);
        Self {
            live: live_locals(code, &before),
            counted,
            consults: consulted_sequences(code, &before),
            enters: if counts { entered_loops(code, &before) } else { Vec::new() },
            told_apart: u32::MAX,
            periods: periods(code),
            innermost,
        }
    }

    /// The facts about the same code with some operations left out: fewer locals matter, and less of them.
    #[must_use]
    pub(crate) fn of_part(&self, code: &Code) -> Self {
        Self { live: live_locals(code, &predecessors(code)), periods: periods(code), ..self.clone() }
    }

    /// What the code tells apart of what barriers give it: see [`Self::told_apart`].
    fn told_apart_in(&self, code: &Code) -> u32 {
        let ops = (1..).map(Pc).zip(&code.ops).filter(|(_, op)| matches!(op, Op::Barrier(_)));
        let given = ops.flat_map(|(next, op)| {
            let kept = op.written().into_iter().filter(move |local| self.is_live(next, *local));
            // What is not a reduction itself may hand on its result, or a part of it, in any form.
            kept.map(|local| op.reduction().and_then(|_| settled_from(code, local)).unwrap_or(u32::MAX))
        });
        given.max().unwrap_or(0)
    }

    /// From which count on nobody tells the results of reductions apart, nor what a barrier holds of them; 0
    /// if nobody ever reads one.
    ///
    /// Counts only grow: a warp that contributes so many true predicates, or more, makes one such count of
    /// the sum, whatever the others contribute. So open predicates need not be tried beyond that number.
    #[must_use]
    pub fn told_apart(&self) -> u32 {
        self.told_apart
    }

    /// The value that stands for all values of a local that cannot be told apart from this one.
    #[must_use]
    pub fn kept(&self, local: LocalId, value: i64) -> i64 {
        self.periods.get(local.index()).copied().flatten().map_or(value, |period| period.kept(value))
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

    /// Whether a loop may still be entered from `pc` on.
    #[must_use]
    pub fn may_enter(&self, pc: Pc, construct: ConstructId) -> bool {
        self.enters.get(construct.index()).is_some_and(|positions| holds(positions, pc))
    }

    /// Whether `pc` lies in a construct.
    #[must_use]
    pub fn is_inside(&self, code: &Code, pc: Pc, construct: ConstructId) -> bool {
        code.around(self.innermost[pc.index()]).any(|around| around == construct)
    }

    /// Whether the iterations of a loop are counted for barriers of `scope`.
    #[must_use]
    pub fn is_counted(&self, construct: ConstructId, scope: Scope) -> bool {
        scope_index(scope).is_some_and(|i| self.counted[construct.index()][i])
    }

    /// The counted loops around `pc`, outermost first.
    #[must_use]
    pub fn counted_around(&self, code: &Code, pc: Pc, scope: Scope) -> Vec<ConstructId> {
        let mut around: Vec<_> =
            code.around(self.innermost[pc.index()]).filter(|c| self.is_counted(*c, scope)).collect();
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
    let is_counted = |op: &Op| op.execution_scope().and_then(scope_index).is_some();
    if !code.ops.iter().any(is_counted) || all_go_alike(code, innermost) {
        return counted;
    }
    for (op, construct) in code.ops.iter().zip(innermost) {
        let Some(index) = op.execution_scope().and_then(scope_index) else { continue };
        for around in code.around(*construct) {
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

/// For every loop, the positions from which it may be entered.
fn entered_loops(code: &Code, before: &[SmallVec<[u32; 2]>]) -> Vec<Positions> {
    let mut entries = vec![Vec::new(); code.constructs.len()];
    for (at, op) in (0..).zip(&code.ops) {
        if let Op::Enter(construct) = op {
            entries[construct.index()].push(at);
        }
    }
    lead_to(entries, before, &|_, _| false)
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
        expr.leaves(&mut |leaf| {
            if let Expr::Local(local) = leaf {
                found(*local);
            }
        });
    }
}
