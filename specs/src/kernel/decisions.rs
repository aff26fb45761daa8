//! Decisions that all agents share: what they are about, and what they rest on.

use std::collections::BTreeSet;

use super::alignment::zeros;
use super::code::Operation;
use super::counts::{Asker, Formula};
use super::free::is_free;
use super::keys::Keys;
use super::lanes::Lanes;
use super::mentions::words_of;
use super::numbers::{self, Need, Number};
use super::origins::{Agent, Place};
use super::residual::{Expression, Residual};
use super::structure::Emit;
use super::terms::{any, is_invariant};
use super::tree::{Asked, Assumption, Computed, Decision};
use super::value::{Term, ValueId};
use crate::common::contents::BOUNDED;

impl Residual<'_> {
    /// Terms in words, as a node sees them.
    pub(super) fn keys(&self, node: usize) -> Keys<'_> {
        let (values, evaluation, flow) = (self.values, self.evaluation, self.flow);
        let agent = Agent { values, evaluation, flow, collected: self.collected };
        Keys { code: self.code, agent, origins: self.origins, rank: self.rank, node, told: self.told }
    }

    /// What is decided, and whether the condition is its negation.
    pub(super) fn decision(&mut self, node: usize, normal: ValueId, value: ValueId) -> (Decision, bool) {
        let computed = self.computed(node, value).or_else(|| self.computed(node, normal));
        let is_unwrapped = self.knowledge.unwrapped.contains(&node) && normal != value;
        let selected = self.knowledge.selected(node, normal);
        let normal = if self.values.as_known(selected).is_some() { normal } else { selected };
        let keys = self.keys(node);
        let (key, negated) = keys.decided(normal);
        // What stands in no loop is computed once, however often it is asked.
        let varies =
            self.knowledge.at(self.values, node, normal).varies && self.flow.innermost[node].is_some();
        let mut assumes = self.loads(normal);
        if is_unwrapped || keys.widens_sums(normal) {
            assumes.insert(Assumption::Unwrapped(self.branch(node)));
        }
        if self.may_be_unwritten(&keys, normal) {
            assumes.insert(Assumption::Written(self.branch(node)));
        }
        let asker = Asker { slice: self.slice, keys, most: self.most };
        let (formula, apart) = (asker.formula(normal), asker.apart(normal));
        let counts = !self.is_of_numbers(node, normal)
            && !self.is_told(normal)
            && is_free((self.values, self.code), normal, varies);
        let is_bounded = !counts
            || asker.bounds_itself(normal)
            || varies && self.is_of_few(normal)
            || formula.as_ref().is_some_and(Formula::is_known_first);
        let keys = asker.keys;
        let turned = |formula: Option<Formula>| if negated { formula.map(Formula::not) } else { formula };
        let (formula, apart) = (turned(formula), turned(apart).map(Box::new));
        let mut about = keys.about(normal);
        if is_bounded {
            about.insert(format!("{BOUNDED}{key}"));
        }
        let computed = computed.map(|(written, need)| {
            let text = if negated { format!("!({})", written.text) } else { written.text };
            Computed { text, exact: need.exact, period: need.period }
        });
        let asked = self.made_in(normal).filter(|_| varies).map(|made| Asked { term: normal, node, made });
        let name = None;
        (Decision { key, name, varies, assumes, about, counts, formula, apart, computed, asked }, negated)
    }

    /// Whether a condition is about known numbers alone, and about how often the loops around have been gone
    /// through, of which a function is taken that is not computed: it has one outcome.
    fn is_of_numbers(&self, node: usize, condition: ValueId) -> bool {
        !any(self.values, condition, |term| match term {
            Term::Known(_) | Term::Sum { .. } | Term::Apply { .. } | Term::Pure { .. } => false,
            Term::Gained { header, .. } => !self.flow.contains(self.flow.innermost[*header], node),
            Term::Same(_)
            | Term::Loaded { .. }
            | Term::Given { .. }
            | Term::Meet { .. }
            | Term::Unknown { .. }
            | Term::Unset => true,
        })
    }

    /// Whether a condition is about a number that is the same in all rounds and has few values: of
    /// `i < (n & 3)` not every answer comes about in every round.
    fn is_of_few(&self, condition: ValueId) -> bool {
        const FEW: u64 = 64;
        let is_small = |value: &ValueId| {
            self.values.as_known(*value).and_then(Lanes::all).is_some_and(|number| number <= FEW)
        };
        let is_fixed = |terms: &[ValueId]| terms.iter().all(|term| is_invariant(self.values, *term));
        any(self.values, condition, |term| match term {
            Term::Apply { operation: Operation::And | Operation::Minimum, terms, .. } => {
                terms.iter().any(is_small) && is_fixed(terms)
            }
            Term::Apply { operation: Operation::Remainder, terms, .. } => {
                terms.last().is_some_and(is_small) && is_fixed(terms)
            }
            _ => false,
        })
    }

    /// Whether a condition asks for what threads have stored in shared memory. That follows from what they
    /// knew, so that not every outcome need come about.
    fn is_told(&self, condition: ValueId) -> bool {
        any(
            self.values,
            condition,
            |term| matches!(term, Term::Loaded { at, varies: true, .. } if self.code.stored.contains(at)),
        )
    }

    /// The nodes in which what a term is made of gets its values.
    fn made_in(&self, term: ValueId) -> Option<BTreeSet<usize>> {
        let made = std::cell::RefCell::new(BTreeSet::new());
        let is_open = any(self.values, term, |term| {
            let node = match term {
                Term::Meet { block, .. } => Some(*block),
                Term::Gained { header, .. } => Some(*header),
                Term::Loaded { at, .. } | Term::Given { at } => {
                    self.slice.nodes.iter().position(|node| node.instructions.contains(at))
                }
                Term::Unknown { .. } | Term::Unset => None,
                Term::Known(_)
                | Term::Same(_)
                | Term::Sum { .. }
                | Term::Apply { .. }
                | Term::Pure { .. } => {
                    return false;
                }
            };
            made.borrow_mut().extend(node);
            node.is_none()
        });
        (!is_open).then(|| made.into_inner())
    }

    /// Whether a condition asks for thresholds of unknown numbers and for nothing else.
    pub(super) fn asks(&self, node: usize, condition: ValueId) -> bool {
        let asker = Asker { slice: self.slice, keys: self.keys(node), most: self.most };
        asker.formula(condition).is_some()
    }

    /// What is decided, as it is computed of unknown numbers, and how much of them has to be known.
    pub(super) fn computed(&mut self, node: usize, value: ValueId) -> Option<(Expression, Need)> {
        let need = numbers::need(self.values, self.knowledge, node, value)?;
        let written = self.written(node, value, None, true)?;
        (written.rounds.is_empty() && !written.decided.is_private).then_some((written, need))
    }

    /// The position of an unknown number among all that are computed with.
    pub(super) fn number(&mut self, node: usize, value: ValueId) -> Option<usize> {
        let asker = Asker { slice: self.slice, keys: self.keys(node), most: self.most };
        let (one, two) = (asker.reaches(value, 1)?, asker.reaches(value, 2)?);
        let known = self.numbers.iter().position(|number| (&number.one, &number.two) == (&one, &two));
        Some(known.unwrap_or_else(|| {
            let span = self.span(node);
            let mut assumes = self.loads(value);
            assumes.extend([Assumption::Natural(span), Assumption::Unwrapped(span)]);
            let (exact, period, is_needed) = (0, 1, false);
            let zeros = zeros(self.values, &self.evaluation.meets, value).min(numbers::MULTIPLE);
            let multiple = 1 << zeros;
            self.numbers.push(Number { value, span, one, two, exact, period, is_needed, multiple, assumes });
            self.numbers.len() - 1
        }))
    }

    /// Notes how much of the numbers in an expression has to be known.
    pub(super) fn needs(&mut self, text: &str, need: &Need) {
        for position in words_of(text).iter().filter_map(|word| numbers::position(word)) {
            let Some(number) = self.numbers.get_mut(position) else { continue };
            number.is_needed = true;
            number.widen(need.exact, need.period);
        }
    }

    /// Whether there are ways to a term on which nothing was written to what is asked there.
    fn may_be_unwritten(&self, keys: &Keys<'_>, value: ValueId) -> bool {
        let Some(unset) = self.values.find(&Term::Unset) else { return false };
        let meets = std::cell::RefCell::new(Vec::new());
        any(self.values, value, |term| {
            if let Term::Meet { block, register } = term {
                meets.borrow_mut().push(Place::Meet(*block, *register));
            }
            *term == Term::Unset
        }) || meets.into_inner().into_iter().any(|meet| keys.agent.behind(keys.node, meet).contains(&unset))
    }

    /// What has to be assumed of the loads in a term.
    fn loads(&self, value: ValueId) -> BTreeSet<Assumption> {
        let found = std::cell::RefCell::new(BTreeSet::new());
        any(self.values, value, |term| {
            if let Term::Loaded { at, varies, .. } = term {
                let span = self.code.instructions[*at].span;
                let assumption = if *varies { Assumption::Told(span) } else { Assumption::Unwritten(span) };
                found.borrow_mut().insert(assumption);
            }
            false
        });
        found.into_inner()
    }
}
