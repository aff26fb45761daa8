//! Barriers and their operands.

use barcheck_model::program::ReductionOp;

use super::code::{Action, SynchronisationKind};
use super::lanes::Lanes;
use super::residual::{Expression, Residual};
use super::structure::Stop;
use super::traits::any;
use super::tree::{Statement, Statements};
use super::value::{Term, ValueId};
use crate::common::span::Span;

impl Residual<'_> {
    /// An operand as an expression. Where a variable began with something unknown, what it has gained since
    /// may be all that matters: `(i - begin) & 1`.
    pub(super) fn operand_written(&mut self, node: usize, value: ValueId) -> Option<Expression> {
        if self.knowledge.at(self.values, node, value).is_exact {
            return self.expression(node, value);
        }
        let normal = self.knowledge.operand(value)?;
        let unknown = |term: &Term| match term {
            Term::Known(_) | Term::Sum { .. } | Term::Apply { .. } => false,
            Term::Gained { step, .. } => self.values.as_known(*step).and_then(Lanes::all).is_none(),
            _ => true,
        };
        if any(self.values, normal, unknown) {
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
            help: Some("give the parameters that it is computed from by --param"),
        })
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
        let Some((id, count)) = self.evaluation.barriers.get(&at).copied() else { return Ok(()) };
        let id = self.operand(node, id, span, "number")?;
        let count = match count {
            Some(count) => format!(", {}", self.operand(node, count, span, "thread count")?),
            None => String::new(),
        };
        let word = if barrier.aligned { "bar" } else { "barrier" };
        let text = match barrier.kind {
            SynchronisationKind::Sync => format!("{word}.sync {id}{count}"),
            SynchronisationKind::Arrive => format!("{word}.arrive {id}{count}"),
            SynchronisationKind::Reduce(op) => {
                let op = match op {
                    ReductionOp::Popc => "popc.u32",
                    ReductionOp::And => "and.pred",
                    ReductionOp::Or => "or.pred",
                };
                format!("{word}.red.{op} _, {id}{count}, ?")
            }
        };
        statements.push(Statement::Barrier { text, span });
        Ok(())
    }
}
