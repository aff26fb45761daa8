//! Values that meet behind branches, as selections by what decides there: `x = c ? 1 : 0; … if (x)` asks for
//! `c`, and so does another agent that keeps its answer elsewhere.
//!
//! A selection stands for a meeting only where all ways from its immediate dominator to it are without loops,
//! and where the meeting dominates the node that asks and is in no loop that the node has left: then it was
//! passed in this iteration of all loops around, and its conditions are those of this iteration. (Gated
//! single assignment: Tu and Padua, Efficient Building and Placing of Gating Functions, 1995.)

use std::collections::{HashMap, HashSet};

use super::code::{Comparison, Operation, Register, Type};
use super::dominators::dominates;
use super::evaluate::{Evaluation, OUTSIDE, Way};
use super::flow::Flow;
use super::lanes::Lanes;
use super::terms::{is_invariant, is_truth};
use super::value::{Term, ValueId, Values};

/// Steps that may be taken for one condition.
const STEPS: usize = 20_000;
/// Branches on the way that are looked at.
const PASSED: usize = 12;
/// Meetings inside one another.
const DEPTH: u32 = 8;
const BIT: Type = Type { bits: 1, signed: false };
const LONG: Type = Type { bits: 64, signed: false };

/// Puts selections in the place of meetings.
pub(super) struct Joins<'j> {
    pub(super) values: &'j mut Values,
    pub(super) evaluation: &'j Evaluation,
    pub(super) flow: &'j Flow,
    left: usize,
    /// Meetings that are being looked at.
    open: HashSet<(usize, Register)>,
}

/// The values that come to a meeting, and what comes there from nodes on the way.
struct Meeting<'m> {
    block: usize,
    incoming: &'m [(usize, ValueId)],
    /// For each node what comes from it, if anything does; `None` while it is being looked at.
    known: HashMap<usize, Option<Option<ValueId>>>,
    depth: u32,
}

/// Conditions of which it is known whether they hold.
#[derive(Clone, Default)]
struct Facts {
    known: HashMap<ValueId, ValueId>,
    /// Conditions that do not hold both.
    not_both: Vec<[ValueId; 2]>,
}

impl<'j> Joins<'j> {
    pub(super) fn of(values: &'j mut Values, evaluation: &'j Evaluation, flow: &'j Flow) -> Self {
        Self { values, evaluation, flow, left: STEPS, open: HashSet::new() }
    }

    /// A condition as a node sees it, with selections; `None` if nothing is gained.
    pub(super) fn condition(&mut self, node: usize, condition: ValueId) -> Option<ValueId> {
        let mut selected = self.term(node, condition, DEPTH)?;
        let mut facts = Facts::default();
        let passed = self.passed(node);
        // From the beginning on: what was known there makes what comes behind plainer.
        for (from, condition, holds) in passed.into_iter().rev() {
            let condition = self.term(from, condition, DEPTH)?;
            let condition = self.plain(condition, &facts)?;
            if is_invariant(self.values, condition) {
                self.learn(condition, holds, &mut facts, DEPTH);
            }
        }
        selected = self.plain(selected, &facts)?;
        (selected != condition).then_some(selected)
    }

    /// The branches on every way to a node that go one way there: the node, the condition, and whether it
    /// holds.
    fn passed(&self, node: usize) -> Vec<(usize, ValueId, bool)> {
        let above = std::iter::successors(Some(node), |node| self.flow.dominator[*node]);
        let only =
            |from: usize, to: usize| self.flow.before.get(to).is_some_and(|before| before[..] == [from]);
        let branch = |(below, from): (usize, usize)| match self.evaluation.then[from]? {
            Way::Branch(condition, taken, other) if taken != other && only(from, below) => {
                Some((from, condition, below == taken))
            }
            _ => None,
        };
        let pairs = above.clone().zip(above.skip(1));
        pairs.filter_map(branch).take(PASSED).collect()
    }

    fn plain(&mut self, condition: ValueId, facts: &Facts) -> Option<ValueId> {
        let condition = self.under(condition, facts)?;
        let condition = self.conditional(condition);
        self.under(condition, facts)
    }

    fn step(&mut self) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        Some(())
    }

    /// A term as a node sees it.
    fn term(&mut self, node: usize, value: ValueId, depth: u32) -> Option<ValueId> {
        self.step()?;
        if let Term::Meet { block, register } = *self.values.term(value) {
            let Some(depth) = depth.checked_sub(1) else { return Some(value) };
            let joined =
                if self.flow.is_header(block) { None } else { self.join(node, (block, register), depth) };
            let joined = joined.or_else(|| self.agreed((block, register), value, depth));
            return Some(joined.unwrap_or(value));
        }
        let inside = self.values.inside(value);
        let mut parts = Vec::with_capacity(inside.len());
        for part in &inside {
            parts.push(self.term(node, *part, depth)?);
        }
        if parts == inside {
            return Some(value);
        }
        self.with(value, &parts)
    }

    /// A meeting as a selection, if it is one.
    fn join(&mut self, node: usize, (block, register): (usize, Register), depth: u32) -> Option<ValueId> {
        let incoming = self.evaluation.meets.get(&(block, register))?;
        let top = self.flow.dominator[block]?;
        let is_current = dominates(&self.flow.dominator, block, node)
            && self.flow.innermost[block].is_none_or(|inner| self.flow.contains(Some(inner), node));
        let is_plain = self.flow.innermost[top] == self.flow.innermost[block]
            && incoming.iter().all(|(from, _)| *from != OUTSIDE);
        if !is_current || !is_plain {
            return None;
        }
        let mut meeting = Meeting { block, incoming, known: HashMap::new(), depth };
        self.from(top, &mut meeting)?
    }

    /// What comes to a meeting over all ways if something holds that does not change, or not: a loop keeps
    /// what it began with. Elsewhere it stays what it is.
    fn agreed(&mut self, meet: (usize, Register), value: ValueId, depth: u32) -> Option<ValueId> {
        let incoming = self.evaluation.meets.get(&meet)?;
        if incoming.iter().any(|(from, _)| *from == OUTSIDE) || !self.open.insert(meet) {
            return None;
        }
        let come = incoming.iter().map(|(from, value)| self.term(*from, *value, depth));
        let come: Option<Vec<ValueId>> = come.collect();
        self.open.remove(&meet);
        let come = come?;
        let condition = come.iter().find_map(|one| Some(self.selection(*one)?.2))?;
        if !is_invariant(self.values, condition) {
            return None;
        }
        for holds in [true, false] {
            let mut agreed = None;
            let mut same = true;
            for one in &come {
                let one = self.assuming(*one, condition, holds)?;
                same &= one == value || *agreed.get_or_insert(one) == one;
            }
            if let Some(agreed) = agreed.filter(|agreed| same && is_invariant(self.values, *agreed)) {
                let (a, b) = if holds { (agreed, value) } else { (value, agreed) };
                return Some(self.select(a, b, condition));
            }
        }
        None
    }

    /// What comes from a node to a meeting, if anything does; `None` if that is not known.
    fn from(&mut self, node: usize, meeting: &mut Meeting<'_>) -> Option<Option<ValueId>> {
        if let Some(known) = meeting.known.get(&node) {
            return *known;
        }
        self.step()?;
        meeting.known.insert(node, None);
        let result = match self.evaluation.then[node]? {
            Way::To(to) => self.over((node, to), meeting)?,
            Way::Branch(condition, taken, other) => {
                match (self.over((node, taken), meeting)?, self.over((node, other), meeting)?) {
                    (Some(a), Some(b)) if a == b => Some(a),
                    (Some(a), Some(b)) => {
                        let condition = self.term(node, condition, meeting.depth)?;
                        let condition = self.conditional(condition);
                        let a = self.assuming(a, condition, true)?;
                        let b = self.assuming(b, condition, false)?;
                        Some(self.select(a, b, condition))
                    }
                    // Who takes the other way does not come here in this iteration.
                    (one, None) | (None, one) => one,
                }
            }
        };
        meeting.known.insert(node, Some(result));
        Some(result)
    }

    /// What comes over an edge.
    fn over(&mut self, (from, to): (usize, usize), meeting: &mut Meeting<'_>) -> Option<Option<ValueId>> {
        if to == meeting.block {
            let value = meeting.incoming.iter().find(|(node, _)| *node == from)?.1;
            return Some(Some(self.term(from, value, meeting.depth)?));
        }
        let (flow, inner) = (self.flow, self.flow.innermost[meeting.block]);
        if to >= flow.innermost.len() || !flow.contains(inner, to) {
            return Some(None);
        }
        if flow.innermost[to] != inner {
            return None;
        }
        if flow.is_header(to) { Some(None) } else { self.from(to, meeting) }
    }

    /// A term where a condition is known to hold, or not to.
    fn assuming(&mut self, value: ValueId, condition: ValueId, holds: bool) -> Option<ValueId> {
        let mut facts = Facts::default();
        self.learn(condition, holds, &mut facts, DEPTH);
        self.under(value, &facts)
    }

    /// What follows from a condition.
    fn learn(&mut self, condition: ValueId, holds: bool, facts: &mut Facts, left: u32) {
        let Some(left) = left.checked_sub(1) else { return };
        let outcome = self.values.number(u64::from(holds));
        // What is not 0 is 1 only where it cannot be anything else.
        if (!holds || is_truth(self.values, condition))
            && facts.known.insert(condition, outcome) == Some(outcome)
        {
            return;
        }
        let opposite = self.values.truth(condition, false);
        if let Some(opposite) = opposite {
            let outcome = self.values.number(u64::from(!holds));
            facts.known.insert(opposite, outcome);
        }
        if let Term::Apply { operation, terms, .. } = self.values.term(condition).clone() {
            match (operation, terms.as_slice()) {
                // Of numbers with more bits than one they say something else.
                (Operation::And | Operation::Or, _) if !self.are_truths(&terms) => [(); 2],
                (Operation::And, [a, b]) if holds => [a, b].map(|it| self.learn(*it, true, facts, left)),
                (Operation::Or, [a, b]) if !holds => [a, b].map(|it| self.learn(*it, false, facts, left)),
                (Operation::And, [a, b]) => {
                    facts.not_both.push([*a, *b]);
                    [(); 2]
                }
                (Operation::Or, [a, b]) => {
                    let opposites = [a, b].map(|it| self.values.truth(*it, false));
                    if let [Some(a), Some(b)] = opposites {
                        facts.not_both.push([a, b]);
                    }
                    [(); 2]
                }
                (Operation::LogicalNot, [a]) => {
                    self.learn(*a, !holds, facts, left);
                    [(); 2]
                }
                _ => [(); 2],
            };
        }
        let is_true = |values: &Values, facts: &Facts, value| {
            facts
                .known
                .get(&value)
                .is_some_and(|known| values.as_known(*known).is_some_and(|it| !it.is_zero()))
        };
        for [a, b] in facts.not_both.clone() {
            for (one, other) in [(a, b), (b, a)] {
                if is_true(self.values, facts, one) {
                    self.learn(other, false, facts, left);
                }
            }
        }
    }

    /// A term where something is known.
    fn under(&mut self, value: ValueId, facts: &Facts) -> Option<ValueId> {
        if let Some(known) = facts.known.get(&value) {
            return Some(*known);
        }
        self.step()?;
        let (operation, inside) = match self.values.term(value) {
            Term::Apply { operation, terms, .. } => (Some(*operation), terms.clone()),
            _ => (None, self.values.inside(value)),
        };
        let more = |joins: &mut Self, condition: ValueId, holds: bool, value: ValueId| {
            let mut facts = facts.clone();
            joins.learn(condition, holds, &mut facts, DEPTH);
            joins.under(value, &facts)
        };
        let parts = match (operation, inside.as_slice()) {
            (Some(Operation::Select), [a, b, condition]) => {
                let condition = self.under(*condition, facts)?;
                match self.values.as_known(condition).and_then(Lanes::all) {
                    Some(0) => return self.under(*b, facts),
                    Some(_) => return self.under(*a, facts),
                    None => {}
                }
                vec![more(self, condition, true, *a)?, more(self, condition, false, *b)?, condition]
            }
            (Some(operation @ (Operation::And | Operation::Or)), [a, b]) if self.are_truths(&inside) => {
                let a = self.under(*a, facts)?;
                vec![a, more(self, a, operation == Operation::And, *b)?]
            }
            _ => inside.iter().map(|part| self.under(*part, facts)).collect::<Option<_>>()?,
        };
        if parts == inside { Some(value) } else { self.with(value, &parts) }
    }

    fn are_truths(&self, terms: &[ValueId]) -> bool {
        terms.iter().all(|term| self.values.width(*term) <= 1)
    }

    /// A term with others inside: what is asked of a selection is asked of both its values.
    fn with(&mut self, value: ValueId, parts: &[ValueId]) -> Option<ValueId> {
        self.step()?;
        let is_number = |part: &ValueId| matches!(self.values.term(*part), Term::Known(_));
        let is_same = |part: &ValueId| matches!(self.values.term(*part), Term::Known(_) | Term::Same(_));
        let mut others = parts.iter().filter(|part| self.selection(**part).is_none());
        let goes_in = match self.values.term(value) {
            // Comparisons of real numbers are of no use but as truths.
            Term::Pure { .. } => others.all(is_same),
            Term::Apply { operation: Operation::Select, .. } => {
                let [a, b, condition] = parts[..] else { return None };
                return Some(self.select(a, b, condition));
            }
            Term::Apply {
                operation:
                    Operation::Compare(_) | Operation::And | Operation::Convert(_) | Operation::LogicalNot,
                ..
            } => others.all(is_number) && parts.iter().any(|part| self.has_number(*part, DEPTH)),
            _ => false,
        };
        let mut selections = parts.iter().enumerate().filter(|(_, part)| self.selection(**part).is_some());
        let position = selections.next().filter(|_| goes_in && selections.next().is_none());
        match position.map(|(position, _)| position) {
            Some(position) => {
                let (a, b, condition) = self.selection(parts[position])?;
                let [mut of_a, mut of_b] = [parts.to_vec(), parts.to_vec()];
                (of_a[position], of_b[position]) = (a, b);
                let (a, b) = (self.with(value, &of_a)?, self.with(value, &of_b)?);
                Some(self.select(a, b, condition))
            }
            None => self.values.with(value, parts),
        }
    }

    fn selection(&self, value: ValueId) -> Option<(ValueId, ValueId, ValueId)> {
        match self.values.term(value) {
            Term::Apply { operation: Operation::Select, terms, .. } => match terms[..] {
                [a, b, condition] => Some((a, b, condition)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether a selection may be a known number.
    fn has_number(&self, value: ValueId, left: u32) -> bool {
        let is_one = |one| self.values.as_known(one).is_some() || left > 0 && self.has_number(one, left - 1);
        self.selection(value).is_some_and(|(a, b, _)| is_one(a) || is_one(b))
    }

    fn select(&mut self, a: ValueId, b: ValueId, condition: ValueId) -> ValueId {
        self.values.apply(Operation::Select, LONG, &[a, b, condition])
    }

    /// A condition without selections of truths.
    fn conditional(&mut self, value: ValueId) -> ValueId {
        let Term::Apply { operation, ty, terms } = self.values.term(value).clone() else { return value };
        match operation {
            Operation::Select => {
                let [a, b, condition] = [terms[0], terms[1], terms[2]].map(|term| self.conditional(term));
                self.choice(a, b, condition).unwrap_or_else(|| self.select(a, b, condition))
            }
            Operation::And | Operation::Or | Operation::LogicalNot if self.are_truths(&terms) => {
                let parts: Vec<ValueId> = terms.into_iter().map(|term| self.conditional(term)).collect();
                self.values.apply(operation, ty, &parts)
            }
            // Whether a truth is none.
            Operation::Compare(comparison @ (Comparison::Equal | Comparison::NotEqual))
                if self.values.as_known(terms[1]).is_some_and(Lanes::is_zero)
                    && is_truth(self.values, terms[0]) =>
            {
                let of = self.conditional(terms[0]);
                if comparison == Comparison::NotEqual { of } else { self.opposite(of).unwrap_or(value) }
            }
            _ => value,
        }
    }

    /// The opposite of a condition.
    fn opposite(&mut self, condition: ValueId) -> Option<ValueId> {
        match self.selection(condition) {
            Some((a, b, by)) => {
                let (a, b) = (self.opposite(a)?, self.opposite(b)?);
                Some(self.select(a, b, by))
            }
            None => self.values.truth(condition, false),
        }
    }

    /// A selection of truths as a condition.
    fn choice(&mut self, a: ValueId, b: ValueId, condition: ValueId) -> Option<ValueId> {
        if [a, b].iter().any(|value| self.values.width(*value) > 1) {
            return None;
        }
        let number = |values: &Values, value| values.as_known(value).and_then(Lanes::all);
        let (of_a, of_b) = (number(self.values, a), number(self.values, b));
        let opposite = self.opposite(condition)?;
        let condition = self.values.truth(condition, true)?;
        let joined = |values: &mut Values, operation, one, other| values.apply(operation, BIT, &[one, other]);
        Some(match (of_a, of_b) {
            (Some(1), Some(0)) => condition,
            (Some(0), Some(1)) => opposite,
            (Some(1), _) => joined(self.values, Operation::Or, condition, b),
            (Some(0), _) => joined(self.values, Operation::And, opposite, b),
            (_, Some(0)) => joined(self.values, Operation::And, condition, a),
            (_, Some(1)) => joined(self.values, Operation::Or, opposite, a),
            _ => return None,
        })
    }
}
