//! Branches on what is known of lanes together with what the whole group decides: `tid == 0 && i < n`.

use std::collections::BTreeSet;

use super::code::Operation;
use super::residual::{Expression, Residual};
use super::traits::Spread;
use super::tree::{Amount, Condition, Decided, Statement, Statements};
use super::value::{Term, ValueId};

/// Conditions inside one another that are taken apart.
const DEPTH: u32 = 8;

impl Residual<'_> {
    /// The condition of a node's branch, with the decisions of the group in variables that are set before.
    pub(super) fn mixed(&mut self, node: usize, before: &mut Statements) -> Option<Expression> {
        let (original, normal) = (self.original(node)?, self.knowledge.condition(node)?);
        let mut written = Expression {
            text: String::new(),
            used: BTreeSet::new(),
            rounds: BTreeSet::new(),
            decided: Decided { is_private: true, ..Decided::default() },
        };
        let from = before.len();
        match self.part(node, (original, normal), (&mut written, before), DEPTH) {
            Some(text) if before.len() > from => {
                written.text = text;
                Some(written)
            }
            _ => {
                before.truncate(from);
                None
            }
        }
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
        if self.knowledge.at(self.values, node, normal).spread == Spread::Group {
            let (decision, negated) = self.decision(node, normal, original);
            let span = self.branch(node);
            let local = format!("is_{}", self.name(&decision.key));
            let set = |number: i64| {
                let value = Amount { text: number.to_string(), number: Some(number), step: None };
                vec![Statement::Set { local: local.clone(), value, span }]
            };
            let condition = Condition::Uniform { decision, negated };
            before.push(Statement::If { condition, then: set(1), otherwise: set(0), span });
            return Some(local);
        }
        let (Term::Apply { operation, terms, .. }, Term::Apply { operation: same, terms: normals, .. }) =
            (self.values.term(original).clone(), self.values.term(normal).clone())
        else {
            return None;
        };
        if operation != same || terms.iter().any(|term| self.values.width(*term) > 1) {
            return None;
        }
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
