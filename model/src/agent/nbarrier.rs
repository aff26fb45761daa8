//! vISA instructions as a thread executes them.

use super::action::Action;
use super::eval::Eval;
use super::operands::Bad;
use crate::barrier::nbarrier;
use crate::program::NbarrierOp;
use crate::rule::Rule;

pub(super) fn action(eval: &Eval<'_>, op: &NbarrierOp) -> Result<Action, Bad> {
    let group = eval.context.program.threads;
    let (id, kind, producers, consumers) = match op {
        // clause: nbarrier.wait-ignores-fields
        NbarrierOp::Wait { id } => {
            let id = eval.first(id)?;
            let id = nbarrier::check_id(id).map_err(|rule| Bad::Rule(rule, id))?;
            return Ok(Action::Barrier(nbarrier::Action::Wait(id).into()));
        }
        // clause: nbarrier.baseline-form
        NbarrierOp::SignalAll { id, threads } => {
            let threads = eval.first(threads)?;
            (eval.first(id)?, 0, threads, threads)
        }
        // clause: nbarrier.general-form
        NbarrierOp::Signal { id, kind, producers, consumers } => {
            (eval.first(id)?, eval.first(kind)?, eval.first(producers)?, eval.first(consumers)?)
        }
    };
    let what = nbarrier::check_signal(id, kind, producers, consumers, group).map_err(|rule| {
        let value = match rule {
            Rule::BarrierIdRange => id,
            Rule::TypeRange => kind,
            _ if nbarrier::check_count(producers, group).is_err() => producers,
            _ => consumers,
        };
        Bad::Rule(rule, value)
    })?;
    Ok(Action::Barrier(nbarrier::Action::Signal(what).into()))
}
