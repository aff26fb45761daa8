//! Branches on what is known of lanes together with what the whole group decides, `tid == 0 && i < n`, or
//! with what is not known of each lane: `tid == 0 && flag[tid]`. Of those for which the first part says all,
//! nothing is asked.

use std::collections::BTreeSet;

use super::code::Operation;
use super::lanes::Lanes;
use super::residual::{Expression, Residual};
use super::terms::is_truth;
use super::traits::Spread;
use super::tree::{Amount, Condition, Decided, Decision, Statement, Statements};
use super::value::{Term, ValueId};

/// Conditions inside one another that are taken apart.
const DEPTH: u32 = 8;
/// Decisions that one may be made of.
const PARTS: usize = 10;

impl Residual<'_> {
    /// The condition of a node's branch, with the decisions of the group in variables that are set before.
    pub(super) fn mixed(&mut self, node: usize, before: &mut Statements) -> Option<Expression> {
        let (original, normal) = (self.original(node)?, self.knowledge.condition(node)?);
        let is_private = self.knowledge.at(self.values, node, normal).spread != Spread::Group;
        let mut written = Expression {
            text: String::new(),
            used: BTreeSet::new(),
            rounds: BTreeSet::new(),
            decided: Decided { is_private, ..Decided::default() },
        };
        let from = before.len();
        self.asks_lanes = self.is_partly_exact(node, original, normal);
        match self.part(node, (original, normal), (&mut written, before), DEPTH) {
            Some(text) => {
                written.text = text;
                Some(written)
            }
            _ => {
                before.truncate(from);
                None
            }
        }
    }

    /// Whether a condition is made of some that can be computed and others that the group decides: `i < 4 &&
    /// i < n`.
    pub(super) fn is_partly_exact(&self, node: usize, original: ValueId, normal: ValueId) -> bool {
        let (Term::Apply { operation, terms, .. }, Term::Apply { operation: same, terms: normals, .. }) =
            (self.values.term(original), self.values.term(normal))
        else {
            return false;
        };
        let joins = matches!(operation, Operation::And | Operation::Or | Operation::LogicalNot);
        if !joins || operation != same || terms.iter().any(|term| !is_truth(self.values, *term)) {
            return false;
        }
        let is_exact = |term: &ValueId| match self.values.as_known(*term) {
            // What is known and the same for all lanes says nothing.
            Some(known) => known.all().is_none(),
            None => self.knowledge.at(self.values, node, *term).is_exact,
        };
        let mut pairs = terms.iter().zip(normals);
        terms.iter().any(is_exact) && terms.len() > 1
            || pairs.any(|(term, normal)| self.is_partly_exact(node, *term, *normal))
    }

    /// A decision that is made of several: what it is of them. Those that are made anew each time are asked
    /// for before.
    pub(super) fn parts(
        &mut self,
        node: usize,
        normal: ValueId,
        before: &mut Statements,
    ) -> Option<(String, Decided)> {
        let selected = self.knowledge.selected(node, normal);
        if let Some(known) = self.values.as_known(selected).and_then(Lanes::all) {
            // What was decided on the way here says it.
            return Some((u64::from(known != 0).to_string(), Decided::default()));
        }
        if self.asks(node, selected) {
            return None;
        }
        let (mut decided, from) = (Decided::default(), before.len());
        let text = self.joined(node, selected, (&mut decided, before), DEPTH);
        let count = decided.decisions.len() + before.len() - from;
        if text.is_none() || !(2..=PARTS).contains(&count) {
            before.truncate(from);
            return None;
        }
        Some((text?, decided))
    }

    fn joined(
        &mut self,
        node: usize,
        value: ValueId,
        (decided, before): (&mut Decided, &mut Statements),
        left: u32,
    ) -> Option<String> {
        let left = left.checked_sub(1)?;
        if let Term::Apply { operation, terms, .. } = self.values.term(value).clone()
            && matches!(operation, Operation::And | Operation::Or | Operation::LogicalNot | Operation::Select)
            && terms.iter().all(|term| is_truth(self.values, *term))
        {
            let mut parts = Vec::new();
            for term in terms {
                parts.push(self.joined(node, term, (&mut *decided, &mut *before), left)?);
            }
            return match (operation, parts.as_slice()) {
                (Operation::LogicalNot, [a]) => Some(format!("!({a})")),
                (Operation::And, [a, b]) => Some(format!("(({a}) && ({b}))")),
                (Operation::Or, [a, b]) => Some(format!("(({a}) || ({b}))")),
                (_, [a, b, c]) => Some(format!("((({c}) && ({a})) || (!({c}) && ({b})))")),
                _ => None,
            };
        }
        let traits = self.knowledge.at(self.values, node, value);
        if traits.spread != Spread::Group {
            return None;
        }
        let (mut decision, negated) = self.decision(node, value, value);
        let name = if traits.varies {
            self.asked_before(node, decision, before)
        } else {
            let name = self.name(&decision.key);
            decision.name = Some(name.clone());
            if !decided.decisions.contains(&decision) {
                decided.decisions.push(decision);
            }
            name
        };
        Some(if negated { format!("!{name}") } else { name })
    }

    /// Asks for a decision before a branch: the variable that holds its outcome.
    fn asked_before(&mut self, node: usize, decision: Decision, before: &mut Statements) -> String {
        let span = self.branch(node);
        let local = format!("is_{}", self.name(&decision.key));
        let set = |number: i64| {
            let value = Amount { text: number.to_string(), number: Some(number), step: None };
            vec![Statement::Set { local: local.clone(), value, span }]
        };
        let condition = Condition::Uniform { decision, negated: false };
        let asked = Statement::If { condition, then: set(1), otherwise: set(0), span };
        if !before.contains(&asked) {
            before.push(asked);
        }
        local
    }

    /// Asks for what is not known of a lane, or of a warp, before a branch: the variable that holds the
    /// outcome.
    fn of_lanes(
        &mut self,
        node: usize,
        (original, normal): (ValueId, ValueId),
        before: &mut Statements,
    ) -> String {
        let span = self.branch(node);
        let (decision, negated) = self.decision(node, normal, original);
        self.unknown.extend(self.keys(node).about(normal));
        let local = format!("own_{}", self.name(&decision.key));
        let set = |number: i64| {
            let value = Amount { text: number.to_string(), number: Some(number), step: None };
            vec![Statement::Set { local: local.clone(), value, span }]
        };
        let of_lane = self.knowledge.at(self.values, node, normal).spread == Spread::Lane;
        let condition =
            if of_lane && self.live > 1 && !self.is_all { Condition::OfLane } else { Condition::OfWarp };
        let asked = Statement::If { condition, then: set(1), otherwise: set(0), span };
        if !before.contains(&asked) {
            before.push(asked);
        }
        if negated { format!("!{local}") } else { local }
    }

    fn part(
        &mut self,
        node: usize,
        (original, normal): (ValueId, ValueId),
        (written, before): (&mut Expression, &mut Statements),
        left: u32,
    ) -> Option<String> {
        let left = left.checked_sub(1)?;
        if let Some(part) = self.expression(node, original) {
            written.used.extend(part.used);
            written.rounds.extend(part.rounds);
            written.decided.decisions.extend(part.decided.decisions);
            return Some(format!("({})", part.text));
        }
        let is_of_group = self.knowledge.at(self.values, node, normal).spread == Spread::Group;
        if is_of_group && !self.is_partly_exact(node, original, normal) {
            if let Some((text, decided)) = self.parts(node, normal, before) {
                written.decided.decisions.extend(decided.decisions);
                return Some(text);
            }
            let (decision, negated) = self.decision(node, normal, original);
            let local = self.asked_before(node, decision, before);
            return Some(if negated { format!("!{local}") } else { local });
        }
        let taken_apart = match (self.values.term(original).clone(), self.values.term(normal).clone()) {
            (Term::Apply { operation, terms, .. }, Term::Apply { operation: same, terms: normals, .. })
                if operation == same && terms.iter().all(|term| self.values.width(*term) <= 1) =>
            {
                Some((operation, terms, normals))
            }
            _ => None,
        };
        let Some((operation, terms, normals)) = taken_apart else {
            return self.asks_lanes.then(|| self.of_lanes(node, (original, normal), before));
        };
        let mut texts = Vec::new();
        for pair in terms.into_iter().zip(normals) {
            texts.push(self.part(node, pair, (&mut *written, &mut *before), left)?);
        }
        match (operation, texts.as_slice()) {
            (Operation::LogicalNot, [a]) => Some(format!("!{a}")),
            (Operation::And, [a, b]) => Some(format!("({a} && {b})")),
            (Operation::Or, [a, b]) => Some(format!("({a} || {b})")),
            _ => None,
        }
    }
}
