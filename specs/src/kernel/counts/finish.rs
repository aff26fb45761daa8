//! When all that is asked of a number is known: before something is computed of it, if nothing else is asked
//! then. Of numbers that never change it is decided before all.

use std::collections::{BTreeMap, BTreeSet};

use super::Formula;
use super::numbered::{own, positions};
use super::rewrite::{Place, Plan};
use crate::kernel::tree::{Condition, Counting, Decision, Statement, Statements};

impl Plan<'_> {
    /// The families of numbers that are needed before all that is asked of them is known, in a role whose
    /// decisions have not been replaced.
    pub(super) fn early(&self, role: &[Statement]) -> BTreeSet<usize> {
        let mut order = Order { plan: self, at: 0, computed: BTreeMap::new(), early: BTreeSet::new() };
        order.list(role);
        order.early
    }

    /// The place of a number among what is counted.
    fn place(&self, position: usize) -> Option<Place> {
        let number = self.numbers.all.get(position)?;
        Some(self.families.place(&number.one, self.families.computed(number)?))
    }

    /// Where it is decided which numbers those are that never change.
    pub(super) fn choose(&self, role: &mut Statements) {
        let mut chosen = BTreeSet::new();
        let uses = self.uses.iter().filter(|(place, _)| {
            self.families.all[place.family].residue.is_some_and(|residue| residue.is_once)
                && chosen.insert(place.family)
        });
        let choices =
            uses.map(|(place, of)| Statement::Count(Box::new(self.counted(*place, of, Counting::Choose))));
        let choices: Statements = choices.collect();
        role.splice(0..0, choices);
    }

    /// Asks for all that is left of a number before something is computed of it.
    pub(super) fn finish(&self, statements: &mut Statements) {
        let mut at = 0;
        let mut finished = BTreeSet::new();
        while at < statements.len() {
            let places = own(&statements[at]).into_iter().filter_map(|position| self.place(position));
            for place in places.collect::<BTreeSet<Place>>() {
                let residue = self.families.all[place.family].residue;
                let is_known = residue.is_some_and(|residue| residue.is_early || residue.is_once);
                if is_known || !finished.insert(place) {
                    continue;
                }
                if let Some(of) = self.uses.get(&place) {
                    let counted = self.counted(place, of, Counting::Finish);
                    statements.insert(at, Statement::Count(Box::new(counted)));
                    at += 1;
                }
            }
            match &mut statements[at] {
                Statement::If { then, otherwise, .. } => {
                    self.finish(then);
                    self.finish(otherwise);
                }
                Statement::Loop { body, .. } | Statement::For { body, .. } => {
                    self.finish(body);
                    finished.clear();
                }
                _ => {}
            }
            at += 1;
        }
    }
}

/// The order in which numbers are asked about and computed with.
struct Order<'o, 'f> {
    plan: &'o Plan<'f>,
    at: usize,
    /// Where each was first computed with.
    computed: BTreeMap<Place, usize>,
    early: BTreeSet<usize>,
}

impl Order<'_, '_> {
    fn list(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.at += 1;
            if let Statement::If { condition, .. } = statement {
                match condition {
                    Condition::Uniform { decision, .. } => self.decision(decision),
                    Condition::Value { decided, .. } => {
                        decided.decisions.iter().for_each(|decision| self.decision(decision));
                    }
                    Condition::OfWarp | Condition::OfLane => {}
                }
            }
            self.computed(own(statement));
            match statement {
                Statement::If { then, otherwise, .. } => {
                    self.list(then);
                    self.list(otherwise);
                }
                Statement::Loop { body, header, .. } => {
                    self.list(body);
                    // What comes round asks again, but for numbers that begin anew there.
                    self.asked(|(place, rounds)| place.scope != Some(*header) && rounds.contains_key(header));
                }
                Statement::For { body, .. } => self.list(body),
                _ => {}
            }
        }
    }

    fn decision(&mut self, decision: &Decision) {
        if let Some(text) = self.plan.numbers.computes(decision) {
            return self.computed(positions(text));
        }
        let thresholds = decision.formula.iter().flat_map(Formula::thresholds);
        for threshold in thresholds.filter(|threshold| threshold.grows()) {
            if let Some(member) = self.plan.families.member(threshold) {
                let own = self.plan.families.place(threshold, member.family);
                self.asked(|(place, _)| **place == own);
            }
        }
    }

    fn computed(&mut self, positions: BTreeSet<usize>) {
        for place in positions.into_iter().filter_map(|position| self.plan.place(position)) {
            self.computed.entry(place).or_insert(self.at);
        }
    }

    /// What is asked of these was not known where they were computed with before.
    fn asked(&mut self, which: impl Fn(&(&Place, &BTreeMap<usize, i64>)) -> bool) {
        let uses = self.plan.uses.iter().map(|(place, of)| (place, &of.rounds));
        let early = uses.filter(which).filter(|(place, _)| self.computed.contains_key(place));
        self.early.extend(early.map(|(place, _)| place.family).collect::<Vec<_>>());
    }
}
