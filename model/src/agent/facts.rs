//! What can be known of a role's code before it runs: which locals matter where, and which loops are counted.
//!
//! A local matters where it may still be read before it is set again. One that does not is forgotten,
//! so that configurations which cannot behave differently are equal.

use super::alike::all_go_alike;
use super::period::periods;
use crate::program::{
    Code, Condition, ConstructId, ConstructKind, Expr, LocalId, Op, Pc, Program, Scope, SequenceId,
};

/// Facts about a role's code.
#[derive(Clone, Debug)]
pub struct Facts {
    /// For every position, which locals matter.
    live_in: Vec<Vec<bool>>,
    /// For every position, the innermost construct around it.
    innermost: Vec<Option<ConstructId>>,
    /// For every construct, whether its iterations are counted for the workgroup's and for the
    /// subgroup's split barriers: it is a loop around a barrier instruction of that scope.
    counted: Vec<[bool; 2]>,
    /// For every position, the sequences of uniform decisions that may still be consulted from there.
    consults: Vec<Vec<SequenceId>>,
    /// For every position, the loops that may still be entered from there.
    enters: Vec<Vec<ConstructId>>,
    /// See [`Self::results_matter`].
    results_matter: bool,
    /// See [`Self::period`].
    periods: Vec<Option<i64>>,
}

impl Facts {
    /// Computes the facts about each role of a protocol.
    #[must_use]
    pub fn of(program: &Program) -> Vec<Self> {
        let mut facts: Vec<_> = program.roles.iter().map(|role| Self::of_code(&role.code)).collect();
        let results_matter = facts.iter().zip(&program.roles).any(|(facts, role)| facts.keeps(&role.code));
        facts.iter_mut().for_each(|facts| facts.results_matter = results_matter);
        facts
    }

    fn of_code(code: &Code) -> Self {
        let innermost = innermost_constructs(code);
        Self {
            live_in: live_locals(code),
            counted: counted_loops(code, &innermost),
            consults: ahead(code, consulted),
            enters: ahead(code, entered),
            results_matter: true,
            periods: periods(code),
            innermost,
        }
    }

    /// Whether some instruction on barriers sets a local that may still be read.
    fn keeps(&self, code: &Code) -> bool {
        let ops = (1..).map(Pc).zip(&code.ops).filter(|(_, op)| matches!(op, Op::Barrier(_)));
        let mut kept = ops.flat_map(|(next, op)| op.written().into_iter().map(move |local| (next, local)));
        kept.any(|(next, local)| self.is_live(next, local))
    }

    /// Whether anybody may ever read the result of a reduction, or what a barrier holds of it: if not, it
    /// does not matter what open predicates are.
    #[must_use]
    pub fn results_matter(&self) -> bool {
        self.results_matter
    }

    /// The number modulo which a local is kept, if only its remainder matters.
    #[must_use]
    pub fn period(&self, local: LocalId) -> Option<i64> {
        self.periods.get(local.index()).copied().flatten()
    }

    /// Whether `local` may still be read from `pc` on.
    #[must_use]
    pub fn is_live(&self, pc: Pc, local: LocalId) -> bool {
        self.live_in.get(pc.index()).is_some_and(|live| live[local.index()])
    }

    /// Whether a sequence of uniform decisions may still be consulted from `pc` on.
    #[must_use]
    pub fn may_consult(&self, pc: Pc, sequence: SequenceId) -> bool {
        self.consults.get(pc.index()).is_some_and(|all| all.contains(&sequence))
    }

    /// Whether a loop may still be entered from `pc` on.
    #[must_use]
    pub fn may_enter(&self, pc: Pc, construct: ConstructId) -> bool {
        self.enters.get(pc.index()).is_some_and(|all| all.contains(&construct))
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
    if all_go_alike(code, innermost) {
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

/// The least fixed point of the backward data-flow equations.
fn live_locals(code: &Code) -> Vec<Vec<bool>> {
    let mut live_in = vec![vec![false; code.locals.len()]; code.ops.len()];
    let mut changed = !code.locals.is_empty();
    while changed {
        changed = false;
        for at in (0..code.ops.len()).rev() {
            let mut live = vec![false; code.locals.len()];
            for next in successors(code, Pc::from_index(at)) {
                for (to, from) in live.iter_mut().zip(&live_in[next.index()]) {
                    *to |= from;
                }
            }
            for local in code.ops[at].written() {
                live[local.index()] = false;
            }
            read(&code.ops[at], &mut |local| live[local.index()] = true);
            if live_in[at] != live {
                live_in[at] = live;
                changed = true;
            }
        }
    }
    live_in
}

/// The least fixed point of what may still be found at each position and those after it.
fn ahead<T: Copy + Ord>(code: &Code, found: impl Fn(&Op) -> Option<T>) -> Vec<Vec<T>> {
    let mut ahead: Vec<Vec<T>> = vec![Vec::new(); code.ops.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..code.ops.len()).rev() {
            let mut all = Vec::from_iter(found(&code.ops[at]));
            for next in successors(code, Pc::from_index(at)) {
                all.extend(&ahead[next.index()]);
            }
            all.sort_unstable();
            all.dedup();
            changed |= all != ahead[at];
            ahead[at] = all;
        }
    }
    ahead
}

fn consulted(op: &Op) -> Option<SequenceId> {
    match op {
        Op::Branch { condition: Condition::Uniform(sequence), .. }
        | Op::Test { condition: Condition::Uniform(sequence), .. } => Some(*sequence),
        _ => None,
    }
}

fn entered(op: &Op) -> Option<ConstructId> {
    match op {
        Op::Enter(construct) => Some(*construct),
        _ => None,
    }
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
