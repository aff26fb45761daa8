//! What the locals of an agent may hold where it executes an operation, without running anything.
//!
//! A forward analysis: for each operation the values that each local may have there, few of them one by one
//! and more as an interval. Conditions on one local, or on who the agent is, are heeded.

use std::collections::{BTreeSet, VecDeque};

use barcheck_model::program::{
    AgentId, BarrierInstruction, BinaryOp, Condition, Expr, LocalId, MbarrierKind, Op, Pc, Program, PtxKind,
    Target,
};

use super::expressions::{evaluate, range};

/// Values told apart, at most.
const MOST_VALUES: usize = 16;
/// Ways of putting the values of several locals together, at most.
const MOST_COMBINED: usize = 1 << 12;
/// Operations looked at for one agent, times its locals, at most.
const MOST_WORK: usize = 1 << 21;
/// After so many changes of what is known at one place, what still changes there is an interval.
const PATIENCE: u32 = 2 * MOST_VALUES as u32;

/// What a local may hold.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Values {
    Few(BTreeSet<i64>),
    /// Both ends are in it.
    Between(i64, i64),
}

const ANY: Values = Values::Between(i64::MIN, i64::MAX);

impl Values {
    fn ends(&self) -> Option<(i64, i64)> {
        match self {
            Self::Few(values) => Some((*values.first()?, *values.last()?)),
            Self::Between(least, most) => Some((*least, *most)),
        }
    }

    fn has(&self, value: i64) -> bool {
        match self {
            Self::Few(values) => values.contains(&value),
            Self::Between(least, most) => (*least..=*most).contains(&value),
        }
    }

    /// Takes in other values; whether there was anything new. Where there is no `patience`, an end that
    /// moves is none.
    fn take(&mut self, other: &Self, patience: bool) -> bool {
        let Some((low, high)) = other.ends() else { return false };
        let joined = match (&*self, other) {
            (Self::Few(own), Self::Few(others)) => {
                let all: BTreeSet<i64> = own.union(others).copied().collect();
                if all.len() <= MOST_VALUES && patience || all.len() == own.len() {
                    Self::Few(all)
                } else {
                    self.wide(low, high)
                }
            }
            _ => self.wide(low, high),
        };
        let is_new = *self != joined;
        *self = joined;
        is_new
    }

    fn wide(&self, low: i64, high: i64) -> Self {
        let Some((least, most)) = self.ends() else { return Self::Between(low, high) };
        let least = if low < least { i64::MIN } else { least };
        Self::Between(least, if high > most { i64::MAX } else { most })
    }

    /// Those for which a condition may come out so.
    fn that(self, mut may: impl FnMut(i64) -> bool, within: (i64, i64)) -> Self {
        match self {
            Self::Few(values) => Self::Few(values.into_iter().filter(|value| may(*value)).collect()),
            Self::Between(least, most) => {
                let (least, most) = (least.max(within.0), most.min(within.1));
                if least > most { Self::Few(BTreeSet::new()) } else { Self::Between(least, most) }
            }
        }
    }
}

/// What all locals may hold at a place.
type Known = Vec<Values>;

/// What the locals of an agent may hold at each operation of its code.
pub(crate) struct Held {
    /// `None` where the agent never comes.
    at: Vec<Option<Known>>,
}

/// The agent of which something is asked, and its code.
struct Asked<'p> {
    program: &'p Program,
    agent: AgentId,
}

impl Held {
    /// `None` where the code is too much, or is not of a system whose operands are followed.
    pub(crate) fn of(program: &Program, agent: AgentId) -> Option<Self> {
        if program.target != Target::Ptx {
            return None;
        }
        let code = program.code(agent);
        let asked = Asked { program, agent };
        let mut at: Vec<Option<Known>> = vec![None; code.ops.len()];
        let mut changes = vec![0_u32; code.ops.len()];
        *at.first_mut()? = Some(vec![Values::Few(BTreeSet::new()); code.locals.len()]);
        let mut open = VecDeque::from([Pc(0)]);
        let mut work = 0;
        while let Some(pc) = open.pop_front() {
            work += 1 + code.locals.len();
            if work > MOST_WORK {
                return None;
            }
            let Some(known) = at.get(pc.index()).cloned().flatten() else { continue };
            for (next, known) in asked.after(pc, known) {
                let Some(there) = at.get_mut(next.index()) else { continue };
                let is_new = match there {
                    Some(there) => {
                        let patience = changes[next.index()] < PATIENCE;
                        let pairs = there.iter_mut().zip(&known);
                        pairs.fold(false, |is_new, (own, other)| own.take(other, patience) || is_new)
                    }
                    None => {
                        *there = Some(known);
                        true
                    }
                };
                if is_new {
                    changes[next.index()] += 1;
                    if !open.contains(&next) {
                        open.push_back(next);
                    }
                }
            }
        }
        Some(Self { at })
    }

    /// Whether an expression may have a value where an operation is executed; `None` where nothing is known.
    pub(super) fn may_be(
        &self,
        (program, agent, at): (&Program, AgentId, Pc),
        expr: &Expr,
        wanted: i64,
    ) -> Option<bool> {
        let known = self.at.get(at.index())?.as_ref()?;
        Some(Asked { program, agent }.values(expr, known).has(wanted))
    }

    /// Whether the agent may come to an operation.
    pub(super) fn comes_to(&self, at: Pc) -> bool {
        self.at.get(at.index()).is_some_and(Option::is_some)
    }
}

impl Asked<'_> {
    fn leaf(&self, leaf: &Expr) -> Option<i64> {
        match leaf {
            Expr::Agent => Some(i64::from(self.program.index_in_cta(self.agent))),
            Expr::Cta => Some(i64::from(self.program.cta_of(self.agent))),
            _ => None,
        }
    }

    /// Where an operation leads, and what is known there.
    fn after(&self, pc: Pc, mut known: Known) -> Vec<(Pc, Known)> {
        let code = self.program.code(self.agent);
        let end = |construct: &barcheck_model::program::ConstructId| code.constructs[construct.index()].end;
        let goes_on = Pc(pc.0 + 1);
        let mut set = |local: LocalId, values: Values| {
            if let Some(held) = known.get_mut(local.index()) {
                *held = values;
            }
        };
        match &code.ops[pc.index()] {
            Op::Set(local, value) => {
                let values = self.values(value, &known);
                known[local.index()] = values;
            }
            Op::Any(local, from, to) => {
                let ends = (self.values(from, &known).ends(), self.values(to, &known).ends());
                known[local.index()] = match ends {
                    (Some((from, _)), Some((_, to))) if from < to => Values::Between(from, to - 1),
                    _ => ANY,
                };
            }
            Op::Branch { condition, otherwise, .. } => {
                return self.ways(condition, &known, (goes_on, *otherwise));
            }
            Op::Test { construct, condition } => {
                return self.ways(condition, &known, (goes_on, end(construct)));
            }
            Op::Jump(to) | Op::Back(_, to) | Op::Continue(_, to) => return vec![(*to, known)],
            Op::Break(construct) => return vec![(end(construct), known)],
            Op::Exit => return Vec::new(),
            Op::Barrier(BarrierInstruction::Mbarrier(op)) => match &op.kind {
                MbarrierKind::Arrive { token: Some(kept), .. } => set(*kept, ANY),
                MbarrierKind::Test { dest: Some(kept), .. } => set(*kept, few([0, 1])),
                _ => {}
            },
            Op::Barrier(BarrierInstruction::Ptx(op)) => {
                if let PtxKind::Red { dest: Some(kept), .. } = &op.kind {
                    set(*kept, ANY);
                }
            }
            _ => {}
        }
        vec![(goes_on, known)]
    }

    fn ways(&self, condition: &Condition, known: &Known, (holds, fails): (Pc, Pc)) -> Vec<(Pc, Known)> {
        let Condition::Value(value) = condition else {
            return vec![(holds, known.clone()), (fails, known.clone())];
        };
        let ways = [(holds, true), (fails, false)];
        ways.into_iter().filter_map(|(to, is)| Some((to, self.given(value, is, known.clone())?))).collect()
    }

    /// What is known once a condition has come out so; `None` where it cannot.
    fn given(&self, condition: &Expr, is: bool, known: Known) -> Option<Known> {
        match (condition, is) {
            (Expr::Binary(BinaryOp::LogicalAnd, a, b), true) => {
                return self.given(a, true, known).and_then(|known| self.given(b, true, known));
            }
            (Expr::Binary(BinaryOp::LogicalOr, a, b), false) => {
                return self.given(a, false, known).and_then(|known| self.given(b, false, known));
            }
            (Expr::Unary(barcheck_model::program::UnaryOp::Not, a), _) => return self.given(a, !is, known),
            _ => {}
        }
        let outcome = self.values(condition, &known);
        let may = if is { outcome.ends().is_some_and(|ends| ends != (0, 0)) } else { outcome.has(0) };
        if !may {
            return None;
        }
        let mut leaves = Vec::new();
        leaves_of(condition, &mut leaves);
        leaves.retain(|leaf| matches!(leaf, Expr::Local(_)));
        let [Expr::Local(local)] = leaves.as_slice() else { return Some(known) };
        let mut known = known;
        let held = known[local.index()].clone();
        let mut alone = known.clone();
        let may = |value: i64| {
            alone[local.index()] = few([value]);
            let outcome = self.values(condition, &alone);
            if is { outcome.ends() != Some((0, 0)) } else { outcome.has(0) }
        };
        let within = self.within(condition, is, *local);
        let held = held.that(may, within);
        known[local.index()] = held;
        Some(known)
    }

    /// The interval of a local that is compared with a number.
    fn within(&self, condition: &Expr, is: bool, local: LocalId) -> (i64, i64) {
        let all = (i64::MIN, i64::MAX);
        let Expr::Binary(op, a, b) = condition else { return all };
        let number = |expr: &Expr| evaluate(expr, &|leaf| self.leaf(leaf));
        let (op, to) = match (&**a, number(b), number(a), &**b) {
            (Expr::Local(of), Some(to), _, _) if *of == local => (*op, to),
            (_, _, Some(to), Expr::Local(of)) if *of == local => (turned(*op), to),
            _ => return all,
        };
        match (op, is) {
            (BinaryOp::Lt, true) | (BinaryOp::Ge, false) => (i64::MIN, to.saturating_sub(1)),
            (BinaryOp::Le, true) | (BinaryOp::Gt, false) => (i64::MIN, to),
            (BinaryOp::Gt, true) | (BinaryOp::Le, false) => (to.saturating_add(1), i64::MAX),
            (BinaryOp::Ge, true) | (BinaryOp::Lt, false) => (to, i64::MAX),
            (BinaryOp::Eq, true) | (BinaryOp::Ne, false) => (to, to),
            _ => all,
        }
    }

    /// The values that an expression may have.
    fn values(&self, expr: &Expr, known: &Known) -> Values {
        let mut leaves = Vec::new();
        leaves_of(expr, &mut leaves);
        let held = |leaf: &Expr| match leaf {
            Expr::Local(local) => known.get(local.index()).cloned().unwrap_or(ANY),
            Expr::Lane => few(0..32),
            _ => few([0, 1]),
        };
        let sets: Vec<Values> = leaves.iter().map(|leaf| held(leaf)).collect();
        let combined = sets.iter().try_fold(1_usize, |all, set| match set {
            Values::Few(values) => all.checked_mul(values.len()).filter(|all| *all <= MOST_COMBINED),
            Values::Between(..) => None,
        });
        if combined.is_none() {
            return self.interval(expr, known);
        }
        let mut found = BTreeSet::new();
        let mut chosen = vec![0; leaves.len()];
        self.combine(expr, (&leaves, &sets), &mut chosen, 0, &mut found);
        let all = Values::Few(found);
        match all {
            Values::Few(ref values) if values.len() > MOST_VALUES => {
                all.ends().map_or(ANY, |(least, most)| Values::Between(least, most))
            }
            all => all,
        }
    }

    /// All values of an expression with each choice of its leaves' values from the one on.
    fn combine(
        &self,
        expr: &Expr,
        (leaves, sets): (&[&Expr], &[Values]),
        chosen: &mut Vec<i64>,
        from: usize,
        found: &mut BTreeSet<i64>,
    ) {
        let Some(Values::Few(values)) = sets.get(from) else {
            let leaf = |leaf: &Expr| {
                let known = leaves.iter().position(|other| *other == leaf);
                known.map(|at| chosen[at]).or_else(|| self.leaf(leaf))
            };
            // What has no value ends the run.
            found.extend(evaluate(expr, &leaf));
            return;
        };
        for value in values {
            chosen[from] = *value;
            self.combine(expr, (leaves, sets), chosen, from + 1, found);
        }
    }

    fn interval(&self, expr: &Expr, known: &Known) -> Values {
        let ends = |leaf: &Expr| match leaf {
            Expr::Local(local) => known.get(local.index()).and_then(Values::ends),
            Expr::Lane => Some((0, 31)),
            Expr::Elect => Some((0, 1)),
            _ => None,
        };
        match range(expr, &|leaf| self.leaf(leaf), &ends) {
            Some((least, most)) if most.checked_sub(least).is_some_and(|wide| wide < MOST_VALUES as i64) => {
                few(least..=most)
            }
            Some((least, most)) => Values::Between(least, most),
            None => ANY,
        }
    }
}

fn few(values: impl IntoIterator<Item = i64>) -> Values {
    Values::Few(values.into_iter().collect())
}

/// The operator with its sides changed: `3 < x` is `x > 3`.
fn turned(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}

/// What is in an expression that differs from time to time or from lane to lane, each once.
fn leaves_of<'e>(expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    match expr {
        Expr::Local(_) | Expr::Lane | Expr::Elect => {
            if !found.contains(&expr) {
                found.push(expr);
            }
        }
        Expr::Unary(_, a) => leaves_of(a, found),
        Expr::Binary(_, a, b) => {
            leaves_of(a, found);
            leaves_of(b, found);
        }
        Expr::Int(_) | Expr::Agent | Expr::Cta => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_grows_without_end_keeps_its_least_value() {
        let mut held = few(0..60);
        assert!(held.take(&few(1..70), true));
        assert_eq!(held, Values::Between(0, i64::MAX));
        assert!(!held.take(&few([5]), true), "nothing new");
        assert!(held.take(&few([-1]), true));
        assert_eq!(held, ANY);
    }

    #[test]
    fn values_are_few_until_there_is_no_patience() {
        let mut held = few([0]);
        assert!(held.take(&few([1]), true));
        assert_eq!(held, few([0, 1]));
        assert!(!held.take(&few([1]), false));
        assert!(held.take(&few([2]), false));
        assert_eq!(held, Values::Between(0, i64::MAX));
    }

    #[test]
    fn an_interval_is_cut_by_what_is_compared_with_it() {
        let held = Values::Between(0, i64::MAX);
        assert_eq!(held.clone().that(|_| true, (i64::MIN, 7)), Values::Between(0, 7));
        assert_eq!(held.that(|_| true, (i64::MIN, -1)), few([]));
    }
}
