//! What an agent could do next, operands evaluated.

use super::Context;
use super::config::{Config, Fragment};
use super::eval::{Eval, FaultKind, Value};
use super::operands::{self, Bad};
use super::settle::exit_lanes;
use crate::barrier::split::{Instance, Workgroup};
use crate::barrier::{
    BarrierAction, BarrierId, NotModelled, Parked, Standing, bcu, nbarrier, ptx, split, xegpu,
};
use crate::program::{
    AccessKind, BcuOp, Condition, LocalId, Locations, NbarrierOp, Op, Pc, PtxKind, PtxOp, Scope, Semantics,
    SequenceId, Spaces, SplitKind, SplitOp, XegpuOp,
};
use crate::rule::Rule;
use smallvec::SmallVec;

/// One thing that an agent could do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The fragment that does it, by position in [`Config::fragments`].
    pub fragment: usize,
    /// Its lanes, as a bit mask.
    pub lanes: u32,
    /// The operation.
    pub pc: Pc,
    /// What it is.
    pub action: Action,
    /// In how many ways it can go.
    pub choices: Choices,
}

/// In how many ways a move can go, for a reason that lies in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choices {
    /// One.
    One,
    /// The agent picks one of this many, 0 first.
    Open(u64),
    /// 0 or 1, as the next decision of a sequence that all agents share.
    Uniform(SequenceId),
}

/// What a move is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// A step of a local loop without end.
    Spin,
    /// A decision: which way a condition goes, or which value a local gets.
    Decide,
    /// The fragment's lanes exit; if that leaves all others of the warp parked alike, they arrive (`ptx`).
    Exit(Option<BarrierAction>),
    /// An assertion and whether it holds.
    Assert(bool),
    /// A memory access; several locations where lanes have different indices.
    Access(AccessKind, Locations),
    /// A fence for locations of these spaces.
    Fence(Spaces),
    /// `OpMemoryBarrier`.
    MemoryBarrier(Scope, Semantics),
    /// A fragment parks at a non-aligned barrier, until the warp's other lanes come (`ptx`).
    Park(Parked, u32),
    /// An instruction on a barrier.
    Barrier(BarrierAction),
    /// `alloc_nbarrier` of this many.
    Alloc(i64),
    /// `init_nbarrier`.
    Init(LocalId, xegpu::Handle),
    /// `B2R.RESULT`, and the result, if anything keeps it.
    Fetch(Option<u32>),
    /// `B2R.WARP`.
    SaveCopy(bcu::ResultCopy),
    /// `R2B.WARP`.
    RestoreCopy(bcu::ResultCopy),
    /// The operands violate a rule that ends the path; the offending value.
    Refuse(Rule, i64),
    /// The model does not cover what the operands ask for.
    NotModelled(NotModelled),
    /// The operands cannot be evaluated.
    Fault(FaultKind),
}

impl Action {
    /// The barrier that the action is about.
    #[must_use]
    #[inline]
    pub fn barrier(&self) -> Option<BarrierId> {
        match self {
            Self::Barrier(action) | Self::Exit(Some(action)) => Some(action.barrier()),
            Self::Park(parked, _) => Some(parked.what.id),
            _ => None,
        }
    }

    /// The instruction on a barrier that the action is.
    #[must_use]
    #[inline]
    pub fn on_barrier(&self) -> Option<&BarrierAction> {
        match self {
            Self::Barrier(action) | Self::Exit(Some(action)) => Some(action),
            Self::Spin
            | Self::Decide
            | Self::Exit(None)
            | Self::Assert(_)
            | Self::Access(..)
            | Self::Fence(_)
            | Self::MemoryBarrier(..)
            | Self::Park(..)
            | Self::Alloc(_)
            | Self::Init(..)
            | Self::Fetch(_)
            | Self::SaveCopy(_)
            | Self::RestoreCopy(_)
            | Self::Refuse(..)
            | Self::NotModelled(_)
            | Self::Fault(_) => None,
        }
    }

    /// The arrival with counts that a move with this action would be, if it would be one.
    #[must_use]
    #[inline]
    pub fn standing(&self) -> Option<Standing> {
        self.on_barrier()?.standing()
    }
}

/// The moves of a configuration: most often one.
pub type Moves = SmallVec<[Move; 1]>;

/// What the agent could do next; nothing if it has exited or is blocked.
#[must_use]
pub fn moves(context: Context<'_>, config: &Config) -> Moves {
    // clause: bcu.warp-blocks-whole, bcu.red-warp-blocks-whole, barcheck.bcu-fragment-arrivals
    if config.waiting.is_some() || config.fault.is_some() {
        return Moves::new();
    }
    let mut found = Moves::new();
    for (index, fragment) in config.fragments.iter().enumerate() {
        if fragment.join.is_some() || fragment.parked.is_some() {
            continue;
        }
        let (action, choices) = if fragment.spins {
            (Action::Spin, Choices::One)
        } else {
            action(context, config, index).unwrap_or_else(|bad| {
                let action = match bad {
                    Bad::Fault(kind) => Action::Fault(kind),
                    Bad::Rule(rule, value) => Action::Refuse(rule, value),
                };
                (action, Choices::One)
            })
        };
        found.push(Move { fragment: index, lanes: fragment.lanes, pc: fragment.pc, action, choices });
    }
    found
}

fn action(context: Context<'_>, config: &Config, index: usize) -> Result<(Action, Choices), Bad> {
    let fragment = &config.fragments[index];
    let eval = Eval { context, locals: &fragment.locals, lanes: fragment.lanes };
    let op = &context.code.ops[fragment.pc.index()];
    let action = match op {
        Op::Branch { condition, .. } | Op::Test { condition, .. } => {
            let choices = match condition {
                Condition::Uniform(sequence) => Choices::Uniform(*sequence),
                Condition::Private | Condition::Value(_) => Choices::Open(2),
            };
            return Ok((Action::Decide, choices));
        }
        Op::Any(_, low, high) => {
            let (low, high) = (eval.first(low)?, eval.first(high)?);
            if low >= high {
                return Err(FaultKind::EmptyRange.into());
            }
            return Ok((Action::Decide, Choices::Open(high.abs_diff(low))));
        }
        Op::Exit => exit(config, index),
        Op::Assert(condition) => {
            // clause: barcheck.assertion
            let numbers = eval.numbers(condition)?;
            Action::Assert(super::eval::each_lane(fragment.lanes).all(|lane| numbers.get(lane) != 0))
        }
        Op::Access(kind, array, index) => {
            let array = &context.program.arrays[array.index()];
            Action::Access(*kind, operands::locations(&eval, array, index.as_ref())?)
        }
        Op::Fence(spaces) => Action::Fence(*spaces),
        Op::Ptx(op) => return ptx_action(&eval, config, fragment, op),
        Op::Bcu(op) => return bcu_action(&eval, config, op),
        Op::Nbarrier(op) => nbarrier_action(&eval, op)?,
        Op::Split(op) => split_action(context, config, fragment.pc, op),
        Op::Xegpu(op) => xegpu_action(&eval, config, op)?,
        // Invisible operations are never where a settled fragment stands.
        _ => Action::Spin,
    };
    Ok((action, Choices::One))
}

/// The fragment exits; where that leaves the rest of the warp parked alike, the warp arrives.
// clause: ptx.warp-arrival
fn exit(config: &Config, index: usize) -> Action {
    let mut rest = config.clone();
    exit_lanes(&mut rest, index);
    let arrival = all_parked(&rest.fragments, None);
    Action::Exit(arrival.map(|(what, contribution)| ptx::Action { what, contribution, open: 0 }.into()))
}

/// The warp's arrival, if all its fragments, and the one about to park, are parked alike.
// clause: ptx.warp-arrival, barcheck.fragments
fn all_parked(
    fragments: &[Fragment],
    parking: Option<(usize, Parked)>,
) -> Option<(ptx::Announcement, ptx::Contribution)> {
    let mut whole: Option<(ptx::Announcement, ptx::Contribution)> = None;
    for (index, fragment) in fragments.iter().enumerate() {
        let parked = match parking {
            Some((parking, parked)) if parking == index => parked,
            _ => fragment.parked?,
        };
        whole = Some(match whole {
            None => (parked.what, parked.contribution),
            Some((what, sum)) => {
                let alike = ptx::Announcement { all: what.all, ..parked.what } == what;
                if !alike {
                    return None;
                }
                let lanes = sum.lanes + parked.contribution.lanes;
                let truths = sum.truths + parked.contribution.truths;
                let what = ptx::Announcement { all: what.all && parked.what.all, ..what };
                (what, ptx::Contribution { lanes, truths })
            }
        });
    }
    whole
}

/// The lanes' predicates, and the lanes whose predicate is open.
fn contribution(
    eval: &Eval<'_>,
    predicate: Option<&crate::program::Predicate>,
) -> Result<(ptx::Contribution, u32), FaultKind> {
    let lanes = eval.lanes.count_ones();
    let Some(predicate) = predicate else {
        return Ok((ptx::Contribution::default(), 0));
    };
    Ok(match operands::truths(eval, predicate)? {
        Some(truths) => (ptx::Contribution { lanes, truths }, 0),
        None => (ptx::Contribution { lanes, truths: 0 }, lanes),
    })
}

/// In how many ways open predicates matter: their number for POPC, all or none of them otherwise.
fn predicate_choices(op: Option<crate::program::ReductionOp>, open: u32) -> Choices {
    match op {
        _ if open == 0 => Choices::One,
        Some(crate::program::ReductionOp::Popc) => Choices::Open(u64::from(open) + 1),
        _ => Choices::Open(2),
    }
}

/// The operands of a fragment whose lanes agree, evaluated in each of them; in one, unless the expressions may `vary`.
fn every_lane<T>(
    eval: &Eval<'_>,
    vary: bool,
    mut operands: impl FnMut(u32) -> Result<T, Bad>,
) -> Result<T, Bad> {
    let lanes = if vary { eval.lanes } else { 1 << eval.lanes.trailing_zeros() };
    let mut first = None;
    for lane in super::eval::each_lane(lanes) {
        let found = operands(lane);
        if let Err(Bad::Fault(_)) = found {
            return found;
        }
        first.get_or_insert(found);
    }
    first.unwrap_or(Err(Bad::Fault(FaultKind::EmptyRange)))
}

fn ptx_action(
    eval: &Eval<'_>,
    config: &Config,
    fragment: &Fragment,
    op: &PtxOp,
) -> Result<(Action, Choices), Bad> {
    let (red, predicate) = match &op.kind {
        PtxKind::Red { op, predicate, .. } => (Some(*op), Some(predicate)),
        PtxKind::Sync | PtxKind::Arrive => (None, None),
    };
    let (contribution, open) = contribution(eval, predicate)?;
    let vary = eval.varies(&op.id) || op.count.iter().any(|count| eval.varies(count));
    let what = every_lane(eval, vary, |lane| operands::ptx_lane(eval, op, lane))?;
    let alone = fragment.lanes == config.live_lanes();
    // clause: ptx.aligned, barcheck.aligned-per-warp
    if op.aligned && !alone {
        return Err(Bad::Rule(Rule::PartialWarp, i64::from(fragment.lanes)));
    }
    let choices = predicate_choices(red, open);
    let parked = Parked { what, contribution };
    let index = config.fragments.iter().position(|f| std::ptr::eq(f, fragment)).unwrap_or(0);
    // clause: ptx.warp-arrival, barcheck.fragments
    let action = match all_parked(&config.fragments, Some((index, parked))) {
        Some((what, contribution)) => Action::Barrier(ptx::Action { what, contribution, open }.into()),
        None => Action::Park(parked, open),
    };
    Ok((action, choices))
}

fn bcu_action(eval: &Eval<'_>, config: &Config, op: &BcuOp) -> Result<(Action, Choices), Bad> {
    let state_id = |id: i64| bcu::check_state_id(id).map_err(|rule| Bad::Rule(rule, id));
    // clause: bcu.b2r-id-ignored, bcu.r2b-id-ignored
    let ignored_id = |id: &Option<crate::program::Expr>| -> Result<(), Bad> {
        if let Some(id) = id {
            state_id(eval.first(id)?)?;
        }
        Ok(())
    };
    let action = match op {
        BcuOp::Sync { .. } | BcuOp::Arv { .. } | BcuOp::Red { .. } => {
            let (red, predicate) = match op {
                BcuOp::Red { op, predicate, .. } => (Some(*op), Some(predicate)),
                _ => (None, None),
            };
            let (contribution, open) = contribution(eval, predicate)?;
            let mut truncated = false;
            let mut exprs = Vec::new();
            super::facts::read_bcu(op, &mut exprs);
            let vary = exprs.into_iter().any(|expr| eval.varies(expr));
            let what = every_lane(eval, vary, |lane| {
                let what = operands::bcu_lane(eval, op, lane)?;
                truncated |= what.truncated;
                Ok(what)
            })?;
            let what = bcu::Announcement { truncated, ..what };
            let action = Action::Barrier(bcu::Action::Arrive { what, contribution, open }.into());
            return Ok((action, predicate_choices(red, open)));
        }
        BcuOp::Result { register, predicate } => {
            // clause: bcu.b2r-result
            let copy = config.copy.map(|(copy, _)| copy);
            let value =
                bcu::fetch(copy, register.is_some(), predicate.is_some()).map_err(|r| Bad::Rule(r, 0))?;
            Action::Fetch(value)
        }
        BcuOp::ReadBarrier { id, .. } => {
            Action::Barrier(bcu::Action::ReadState(state_id(eval.first(id)?)?).into())
        }
        BcuOp::ReadWarp { id, .. } => {
            ignored_id(id)?;
            // clause: bcu.b2r-warp-undefined
            let (copy, _) = config.copy.ok_or(Bad::Rule(Rule::UndefinedResult, 0))?;
            Action::SaveCopy(copy)
        }
        BcuOp::WriteBarrier { id, source } => {
            let (id, value) = (eval.first(id)?, operands::opaque(eval, source)?);
            Action::Barrier(bcu::Action::WriteState(state_id(id)?, value).into())
        }
        BcuOp::WriteWarp { id, source } => {
            let value = operands::opaque(eval, source)?;
            ignored_id(id)?;
            match value {
                Some(bcu::Opaque::Warp(copy)) => Action::RestoreCopy(copy),
                _ => Action::NotModelled(NotModelled::ForgedState),
            }
        }
    };
    Ok((action, Choices::One))
}

fn nbarrier_action(eval: &Eval<'_>, op: &NbarrierOp) -> Result<Action, Bad> {
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

fn split_action(context: Context<'_>, config: &Config, pc: Pc, op: &SplitOp) -> Action {
    if op.kind == SplitKind::MemoryBarrier {
        return Action::MemoryBarrier(op.memory, op.semantics);
    }
    let group = workgroup(context);
    let barrier = match group.barrier_of(op.execution, context.agent) {
        Ok(barrier) => barrier,
        // clause: split_barrier.device-scope
        Err(what) => return Action::NotModelled(what),
    };
    // clause: barcheck.same-instance
    let counts = match op.execution {
        Scope::Workgroup => &config.iterations.workgroup,
        _ => &config.iterations.subgroup,
    };
    let around = context.facts.counted_around(context.code, pc, op.execution);
    let iterations = around.iter().map(|c| counts.get(c.index()).copied().unwrap_or(0)).collect();
    let action = split::Action {
        kind: op.kind,
        barrier,
        scope: op.execution,
        members: group.members(barrier),
        instance: Instance { role: context.role, statement: pc, iterations },
        memory: op.memory,
        semantics: op.semantics,
    };
    Action::Barrier(action.into())
}

/// The workgroup of a `split_barrier` program.
pub(crate) fn workgroup(context: Context<'_>) -> Workgroup {
    Workgroup { invocations: context.program.threads, subgroup_size: context.program.subgroup_size }
}

fn xegpu_action(eval: &Eval<'_>, config: &Config, op: &XegpuOp) -> Result<Action, Bad> {
    let group = eval.context.program.threads;
    let handle = |local: LocalId| match eval.local(local) {
        Value::Handle(handle) => Ok(*handle),
        Value::Unset => Err(FaultKind::Unset(local)),
        Value::Int(_) | Value::Opaque(_) => Err(FaultKind::NotANumber(local)),
    };
    Ok(match op {
        XegpuOp::Alloc { count } => Action::Alloc(eval.first(count)?),
        XegpuOp::Init { handle, id, participants } => {
            let (id, participants) = (eval.first(id)?, eval.first(participants)?);
            let made = xegpu::init(id, participants, config.allocated, group)
                .map_err(|rule| Bad::Rule(rule, if rule == Rule::CountRange { participants } else { id }))?;
            Action::Init(*handle, made)
        }
        // clause: xegpu.arrive
        XegpuOp::Arrive(local) => Action::Barrier(nbarrier::Action::Signal(handle(*local)?.arrival()).into()),
        // clause: xegpu.wait
        XegpuOp::Wait(local) => Action::Barrier(nbarrier::Action::Wait(handle(*local)?.id).into()),
    })
}
