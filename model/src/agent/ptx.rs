//! PTX instructions as a warp executes them.

use super::action::{Action, Choices};
use super::config::{Config, Fragment};
use super::eval::{Eval, Value};
use super::execute::Execute;
use super::operands::{Bad, contribution, every_lane, group_by, predicate_choices};
use super::outcome::Outcome;
use crate::barrier::BarrierAction;
use crate::barrier::ptx::{self, Announcement, Contribution, Cta, Operation, Parked, check_operands};
use crate::program::{PtxKind, PtxOp};
use crate::rule::Rule;

impl Execute for PtxOp {
    fn action(&self, eval: &Eval<'_>, config: &Config, index: usize) -> Result<(Action, Choices), Bad> {
        let fragment = &config.fragments[index];
        let (red, predicate) = match &self.kind {
            PtxKind::Red { op, predicate, .. } => (Some(*op), Some(predicate)),
            PtxKind::Sync | PtxKind::Arrive => (None, None),
        };
        let (contribution, open) = contribution(eval, predicate)?;
        let vary = eval.varies(&self.id) || self.count.iter().any(|count| eval.varies(count));
        let what = every_lane(eval, vary, |at| lane(eval, self, at))?;
        let alone = fragment.lanes == config.live_lanes();
        // clause: ptx.aligned, barcheck.aligned-per-warp
        if self.aligned && !alone {
            return Err(Bad::Rule(Rule::PartialWarp, i64::from(fragment.lanes)));
        }
        let choices = predicate_choices(eval, red, open);
        let parked = Parked { what, contribution };
        // clause: ptx.warp-arrival, barcheck.fragments
        let action = match all_parked(&config.fragments, Some((index, parked))) {
            Some((what, contribution)) => Action::Barrier(ptx::Action { what, contribution, open }.into()),
            None => Action::Park(parked, open),
        };
        Ok((action, choices))
    }

    /// Those that name different barriers or counts.
    fn groups(&self, eval: &Eval<'_>) -> Vec<u32> {
        group_by(eval.lanes, |at| lane(eval, self, at))
    }

    fn perform(&self, _: &mut Config, _: usize, _: &Action, _: Outcome) {}

    fn arrived(&self, _: &mut Config, _: &BarrierAction) {}

    // clause: ptx.red-result
    fn take_result(&self, config: &mut Config, index: usize, result: u32) {
        match &self.kind {
            PtxKind::Red { dest: Some(dest), .. } => {
                config.fragments[index].set(*dest, Value::Int(i64::from(result)));
            }
            PtxKind::Red { dest: None, .. } | PtxKind::Sync | PtxKind::Arrive => {}
        }
    }
}

/// The operands of a PTX barrier in one lane.
fn lane(eval: &Eval<'_>, op: &PtxOp, at: u32) -> Result<Announcement, Bad> {
    let id = eval.number(&op.id, at)?;
    let count = op.count.as_ref().map(|c| eval.number(c, at)).transpose()?;
    let operation = match op.kind {
        PtxKind::Sync => Operation::Sync,
        PtxKind::Arrive => Operation::Arrive,
        PtxKind::Red { op, .. } => Operation::Red(op),
    };
    // Whether exits release anything plays no part in operand checks.
    let program = eval.context.program;
    let cta = Cta { warps: program.agents_per_cta(), exits_release: false, repeats_count: false };
    check_operands(cta, operation, id, count)
        .map(|what| Announcement { id: program.named_barrier(eval.context.cta(), what.id.0), ..what })
        .map_err(|rule| Bad::Rule(rule, if rule == Rule::BarrierIdRange { id } else { count.unwrap_or(0) }))
}

/// The warp's arrival, if all its fragments, and the one about to park, are parked alike.
// clause: ptx.warp-arrival, barcheck.fragments
fn all_parked(
    fragments: &[Fragment],
    parking: Option<(usize, Parked)>,
) -> Option<(Announcement, Contribution)> {
    let mut whole: Option<(Announcement, Contribution)> = None;
    for (index, fragment) in fragments.iter().enumerate() {
        let parked = match parking {
            Some((parking, parked)) if parking == index => parked,
            _ => fragment.parked?,
        };
        whole = Some(match whole {
            None => (parked.what, parked.contribution),
            Some((what, sum)) => {
                let alike = Announcement { all: what.all, ..parked.what } == what;
                if !alike {
                    return None;
                }
                let lanes = sum.lanes + parked.contribution.lanes;
                let truths = sum.truths + parked.contribution.truths;
                let what = Announcement { all: what.all && parked.what.all, ..what };
                (what, Contribution { lanes, truths })
            }
        });
    }
    whole
}

/// The warp's arrival, if all its fragments are parked alike.
pub(super) fn parked_arrival(fragments: &[Fragment]) -> Option<BarrierAction> {
    let (what, contribution) = all_parked(fragments, None)?;
    Some(ptx::Action { what, contribution, open: 0 }.into())
}
