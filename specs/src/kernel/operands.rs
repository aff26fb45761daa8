//! Barriers and their operands, and what variables are set to.

use super::code::{Action, Synchronisation};
use super::evaluate::Evaluation;
use super::expression::is_small;
use super::lanes::Lanes;
use super::residual::{Expression, Meet, Residual};
use super::structure::{Help, Sources, Stop};
use super::terms::any;
use super::tree::{Amount, Statement, Statements};
use super::value::{Term, ValueId};
use crate::common::span::Span;
use std::collections::BTreeSet;

/// Stands for what changes about an access among the operands of an instruction.
const INDEX: usize = usize::MAX;

impl Evaluation {
    /// The operands of barriers and of steps on objects, in the order of the code: of which instruction, the
    /// how manieth, and its value.
    pub(super) fn operands(&self) -> Vec<((usize, usize), ValueId)> {
        let steps = self.barriers.iter().flat_map(|(at, (address, amount))| {
            [Some(*address), *amount]
                .into_iter()
                .flatten()
                .enumerate()
                .map(move |(n, value)| ((*at, n), value))
        });
        let others = self
            .synchronisations
            .iter()
            .flat_map(|(at, values)| values.iter().enumerate().map(move |(n, value)| ((*at, n), *value)));
        let indices = self.indices.iter().map(|(at, index)| ((*at, INDEX), index.value));
        let mut operands: Vec<_> = steps.chain(others).chain(indices).collect();
        operands.sort_unstable();
        operands
    }

    /// Puts other values in the place of operands.
    pub(super) fn put(&mut self, operands: Vec<((usize, usize), ValueId)>) {
        for ((at, which), value) in operands {
            if which == INDEX {
                self.indices.get_mut(&at).into_iter().for_each(|index| index.value = value);
                continue;
            }
            let step = self.barriers.get_mut(&at).map(|(address, amount)| match which {
                0 => address,
                _ => amount.get_or_insert(value),
            });
            let other = self.synchronisations.get_mut(&at).and_then(|values| values.get_mut(which));
            if let Some(operand) = step.or(other) {
                *operand = value;
            }
        }
    }
}

impl Residual<'_> {
    /// An operand as an expression. Where a variable began with something unknown, what it has gained since
    /// may be all that matters: `(i - begin) & 1`.
    pub(super) fn operand_written(&mut self, node: usize, value: ValueId) -> Option<Expression> {
        let is_computed = self.knowledge.need(self.values, node, value).is_some();
        if is_computed || self.knowledge.at(self.values, node, value).is_exact {
            return self.expression(node, value);
        }
        let normal = self.knowledge.operand(value)?;
        let unknown = |term: &Term| match term {
            Term::Known(_) | Term::Sum { .. } | Term::Apply { .. } => false,
            Term::Gained { step, .. } => self.values.as_known(*step).and_then(Lanes::all).is_none(),
            _ => true,
        };
        let is_unknown = any(self.values, normal, unknown);
        if is_unknown && self.knowledge.need(self.values, node, normal).is_none() {
            return None;
        }
        self.expression(node, normal)
    }

    /// An operand of a barrier.
    pub(super) fn operand(
        &mut self,
        node: usize,
        value: ValueId,
        span: Span,
        what: &str,
    ) -> Result<String, Stop> {
        if let Some(number) = self.values.as_known(value).and_then(Lanes::all) {
            return Ok(number.to_string());
        }
        self.operand_written(node, value).map(|written| written.text).ok_or_else(|| Stop {
            what: format!("the {what} of this barrier is not known"),
            span,
            help: Some(Help::Say(self.sources(value))),
        })
    }

    /// What a value is computed from, on all ways.
    fn sources(&self, value: ValueId) -> Sources {
        let (mut sources, mut seen, mut work) = (Sources::default(), BTreeSet::new(), vec![value]);
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.values.term(value) {
                Term::Same(name) => sources.names.extend(self.code.names.get(*name as usize).cloned()),
                Term::Loaded { at, .. } => {
                    sources.loads.insert(self.code.instructions[*at].span);
                }
                Term::Meet { block, register } => {
                    let met = self.evaluation.meets.get(&(*block, *register));
                    work.extend(met.into_iter().flatten().map(|(_, value)| *value));
                }
                _ => work.extend(self.values.inside(value)),
            }
        }
        sources
    }

    pub(super) fn barrier(
        &mut self,
        node: usize,
        at: usize,
        statements: &mut Statements,
    ) -> Result<(), Stop> {
        let instruction = &self.code.instructions[at];
        let span = instruction.span;
        let barrier = match &instruction.action {
            Action::Synchronise(barrier) => barrier,
            Action::Object(step) => return self.object_step(node, at, step.kind, statements),
            Action::Beyond(what) => {
                return Err(Stop { what: format!("not followed: {what}"), span, help: None });
            }
            _ => return Ok(()),
        };
        let text = self.statement(node, at, barrier)?;
        statements.push(Statement::Barrier { text, span });
        Ok(())
    }

    /// A barrier as protocols of its target write it.
    fn statement(&mut self, node: usize, at: usize, barrier: &Synchronisation) -> Result<String, Stop> {
        let span = self.code.instructions[at].span;
        let values = self.evaluation.synchronisations.get(&at).cloned().unwrap_or_default();
        let mut parts = barrier.statement.split("{}");
        let mut text = parts.next().unwrap_or_default().to_owned();
        for ((value, (_, what)), part) in values.into_iter().zip(&barrier.operands).zip(parts) {
            text.push_str(&self.operand(node, value, span, what)?);
            text.push_str(part);
        }
        Ok(text)
    }

    /// What is assigned to a variable.
    pub(super) fn amount(&mut self, from: usize, meet: Meet, value: ValueId) -> Option<Amount> {
        let bits = self.width(meet);
        let written = self.expression_as(from, value, Some(bits))?;
        let number = match self.values.as_known(value).and_then(Lanes::all) {
            Some(number) if bits == 1 => Some(number as i64),
            Some(_) => written.text.parse().ok(),
            None => None,
        };
        let step = match self.values.term(value) {
            Term::Sum { bits, terms, known } if is_small(known, *bits) => match terms.as_slice() {
                [(term, Lanes::All(1))] => match self.values.term(*term) {
                    Term::Meet { block, register } if (*block, *register) == meet => {
                        known.all().map(|known| super::arithmetic::signed(known, *bits))
                    }
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        Some(Amount { text: written.text, number, step })
    }
}
