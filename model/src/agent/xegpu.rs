//! XeGPU instructions as a subgroup executes them.

use super::action::{Action, Choices};
use super::config::Config;
use super::eval::{Eval, FaultKind, Value};
use super::execute::Execute;
use super::operands::Bad;
use super::outcome::Outcome;
use crate::barrier::{BarrierAction, nbarrier, xegpu};
use crate::program::{LocalId, XegpuOp};
use crate::rule::Rule;

impl Execute for XegpuOp {
    fn action(&self, eval: &Eval<'_>, config: &Config, _: usize) -> Result<(Action, Choices), Bad> {
        let group = eval.context.program.threads;
        let handle = |local: LocalId| match eval.local(local) {
            Value::Handle(handle) => Ok(*handle),
            Value::Unset => Err(FaultKind::Unset(local)),
            Value::Int(_) | Value::Opaque(_) | Value::Token(_) => Err(FaultKind::NotANumber(local)),
        };
        let action = match self {
            XegpuOp::Alloc { count } => Action::Alloc(eval.first(count)?),
            XegpuOp::Init { handle, id, participants } => {
                let (id, participants) = (eval.first(id)?, eval.first(participants)?);
                let made = xegpu::init(id, participants, config.allocated, group).map_err(|rule| {
                    Bad::Rule(rule, if rule == Rule::CountRange { participants } else { id })
                })?;
                Action::Init(*handle, made)
            }
            // clause: xegpu.arrive
            XegpuOp::Arrive(local) => {
                Action::Barrier(nbarrier::Action::Signal(handle(*local)?.arrival()).into())
            }
            // clause: xegpu.wait
            XegpuOp::Wait(local) => Action::Barrier(nbarrier::Action::Wait(handle(*local)?.id).into()),
        };
        Ok((action, Choices::One))
    }

    /// Its agents have one lane.
    fn groups(&self, eval: &Eval<'_>) -> Vec<u32> {
        vec![eval.lanes]
    }

    fn perform(&self, config: &mut Config, index: usize, action: &Action, _: Outcome) {
        match action {
            // clause: xegpu.alloc
            Action::Alloc(count) => config.allocated = u32::try_from(*count).ok(),
            // clause: xegpu.init
            Action::Init(local, handle) => config.fragments[index].set(*local, Value::Handle(*handle)),
            _ => {}
        }
    }

    fn arrived(&self, _: &mut Config, _: &BarrierAction) {}

    fn take_result(&self, _: &mut Config, _: usize, _: u32) {}
}
