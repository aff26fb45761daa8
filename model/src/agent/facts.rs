//! What can be known of a role's code before it runs: which locals matter where, and which loops are counted.
//!
//! A local matters where it may still be read before it is set again. One that does not is forgotten,
//! so that configurations which cannot behave differently are equal.

use crate::program::{Code, Condition, ConstructId, ConstructKind, Expr, LocalId, Op, Pc, Scope, SequenceId};

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
}

impl Facts {
    /// Computes the facts.
    #[must_use]
    pub fn of(code: &Code) -> Self {
        let innermost = innermost_constructs(code);
        Self {
            live_in: live_locals(code),
            counted: counted_loops(code, &innermost),
            consults: consulted_sequences(code),
            innermost,
        }
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

/// The least fixed point of what each position's successors may consult.
fn consulted_sequences(code: &Code) -> Vec<Vec<SequenceId>> {
    let mut consults: Vec<Vec<SequenceId>> = vec![Vec::new(); code.ops.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for at in (0..code.ops.len()).rev() {
            let mut all: Vec<_> = match &code.ops[at] {
                Op::Branch { condition: Condition::Uniform(sequence), .. }
                | Op::Test { condition: Condition::Uniform(sequence), .. } => vec![*sequence],
                _ => Vec::new(),
            };
            for next in successors(code, Pc::from_index(at)) {
                all.extend(&consults[next.index()]);
            }
            all.sort_unstable();
            all.dedup();
            changed |= all != consults[at];
            consults[at] = all;
        }
    }
    consults
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
