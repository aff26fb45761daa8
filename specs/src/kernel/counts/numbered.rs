//! Unknown numbers of which something is computed, in programs.

use std::collections::BTreeSet;

use super::asked::with_word_replaced;
use super::families::{Computing, Families};
use crate::kernel::mentions::words_of;
use crate::kernel::numbers::{Number, placeholder, position};
use crate::kernel::tree::{Condition, Decision, Statement};

/// The numbers of all roles, in the order of their names.
pub(super) struct Numbers {
    pub(super) all: Vec<Number>,
}

impl Numbers {
    /// The numbers, with what is asked of them by decisions that can be computed of those that are needed
    /// anyway.
    pub(super) fn of(decisions: &[&Decision], numbers: &[Number], growing: &Families) -> Self {
        let mut all = Self { all: numbers.to_vec() };
        for number in &mut all.all {
            growing.settle(&mut number.one);
            growing.settle(&mut number.two);
        }
        let remainders = decisions.iter().filter_map(|decision| decision.computed.as_ref());
        for computed in remainders.filter(|computed| computed.period > 1) {
            // Where each step of a number is one of what it is made of, what is left says the same: but in
            // each iteration of a loop around for itself.
            let positions = positions(&computed.text);
            let says = |number: &Number| number.is_coarse() || number.is_counted_again();
            if positions.iter().all(|position| all.all.get(*position).is_some_and(says)) {
                positions.iter().for_each(|position| all.all[*position].is_needed = true);
            }
        }
        for decision in decisions {
            let Some(computed) = decision.computed.as_ref().filter(|_| all.computes(decision).is_some())
            else {
                continue;
            };
            for position in positions(&computed.text) {
                all.all[position].widen(computed.exact, computed.period);
            }
        }
        all
    }

    /// Those of which something has to be computed.
    pub(super) fn needed(&self) -> Vec<&Number> {
        self.all.iter().filter(|number| number.is_needed).collect()
    }

    /// A decision as an expression, if it is computed of numbers that are needed.
    pub(super) fn computes<'d>(&self, decision: &'d Decision) -> Option<&'d str> {
        let text = &decision.computed.as_ref()?.text;
        let is_needed = |position: &usize| self.all.get(*position).is_some_and(|number| number.is_needed);
        positions(text).iter().all(is_needed).then_some(text.as_str())
    }
}

impl Families {
    /// Of numbers that never change and are counted in each iteration of a loop the first answers are chosen
    /// once, before all: a number is not 0 in one iteration and 1 in the next.
    pub(super) fn choose_once(&mut self) {
        for family in &mut self.all {
            let known = family.known().min(family.fixed);
            if family.residue.is_none() && family.repeats && family.is_invariant && family.fixed > known {
                family.residue = Some(Computing {
                    exact: family.fixed,
                    period: 1,
                    first: 0,
                    least: known,
                    multiple: 1,
                    is_early: false,
                    is_once: true,
                });
            }
        }
    }
}

/// The numbers in an expression.
pub(super) fn positions(text: &str) -> BTreeSet<usize> {
    words_of(text).iter().filter_map(|word| position(word)).collect()
}

/// The numbers in all that is computed in statements, but for decisions.
pub(super) fn named(statements: &[Statement]) -> BTreeSet<usize> {
    crate::kernel::mentions::reads(statements).iter().filter_map(|word| position(word)).collect()
}

/// The numbers that a statement computes with, those inside it left out.
pub(super) fn own(statement: &Statement) -> BTreeSet<usize> {
    match statement {
        Statement::Barrier { text, .. } | Statement::Announce { object: text, .. } => positions(text),
        Statement::Copy { object, mask, .. } => {
            let of_mask = mask.iter().flat_map(|mask| positions(mask));
            positions(object).into_iter().chain(of_mask).collect()
        }
        Statement::Set { value, .. } => positions(&value.text),
        Statement::If { condition: Condition::Value { text, .. }, .. } => positions(text),
        _ => BTreeSet::new(),
    }
}

/// Gives numbers the names that they have where they are counted.
pub(super) fn name(statements: &mut [Statement], names: &dyn Fn(usize) -> Option<String>) {
    let in_text = |text: &mut String| {
        for position in positions(text) {
            if let Some(name) = names(position) {
                *text = with_word_replaced(text, &placeholder(position), &name);
            }
        }
    };
    for statement in statements {
        match statement {
            Statement::Barrier { text, .. } | Statement::Announce { object: text, .. } => in_text(text),
            Statement::Copy { object, mask, .. } => {
                in_text(object);
                mask.iter_mut().for_each(in_text);
            }
            Statement::Set { value, .. } => in_text(&mut value.text),
            Statement::If { condition, then, otherwise, .. } => {
                if let Condition::Value { text, .. } = condition {
                    in_text(text);
                }
                name(then, names);
                name(otherwise, names);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => name(body, names),
            Statement::Access(access) => in_text(&mut access.text),
            Statement::Count(_) | Statement::Break | Statement::Continue | Statement::Exit { .. } => {}
        }
    }
}
