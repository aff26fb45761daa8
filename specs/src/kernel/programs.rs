//! The programs of all agents: what is known of each, what it becomes, and which are alike.

use std::collections::{BTreeSet, HashMap};

use barcheck_model::Patience;

use super::code::{Action, Code, Function, Instruction, Memory, ObjectKind, Written};
use super::evaluate::Evaluation;
use super::graph::Graph;
use super::group::{Agent, Group};
use super::lanes::WIDTH;
use super::objects::Objects;
use super::shared::{Failure, Shared};
use super::slice::{Slice, slice};
use super::structure::Stop;
use super::tellers::Tellers;
use super::touched;
use super::tree::{Assumption, Statements};
use super::warp::Warp;
use crate::common::span::Span;

/// The program of some agents.
pub(super) struct Program {
    pub(super) agents: Vec<Agent>,
    pub(super) statements: Statements,
}

/// The residual programs of all warps, those that are alike once, and the mbarrier objects that they name.
pub(super) fn programs(
    code: &Code,
    slice: &Slice,
    group: &Group,
    shared: &mut Shared,
    patience: &Patience,
) -> Result<(Vec<Program>, Objects), Failure> {
    let mut programs: Vec<Program> = Vec::new();
    let mut known: HashMap<Statements, usize> = HashMap::new();
    let (mut evaluations, objects) = prepared(code, slice, group, shared, patience)?;
    shared.numbers.clear();
    let is_access = |instruction: &Instruction| matches!(instruction.action, Action::Access(_));
    let has_accesses = code.instructions.iter().any(is_access);
    for evaluation in &mut evaluations {
        if patience.is_over() {
            return Err(Failure::Late);
        }
        shared.counts(evaluation);
    }
    let mut agents: Vec<_> = group.agents().zip(evaluations).collect();
    // Those who tell others ask what these do, which has to be known before.
    let tell: BTreeSet<Agent> = shared.tellings.keys().map(|(agent, _)| *agent).collect();
    agents.sort_by_key(|(agent, _)| tell.contains(agent));
    for (agent, mut evaluation) in agents {
        if patience.is_over() {
            return Err(Failure::Late);
        }
        let warp = group.warp(agent);
        objects.resolve(code, slice, &mut shared.values, (&mut evaluation, warp)).map_err(Failure::Stop)?;
        let mut statements = shared.warp(code, slice, (warp, evaluation), patience)?;
        if has_accesses {
            statements = super::flat::flat(statements);
        }
        let next = programs.len();
        let program = *known.entry(statements.clone()).or_insert(next);
        if program == next {
            programs.push(Program { agents: Vec::new(), statements });
        }
        programs[program].agents.push(agent);
    }
    Ok((programs, objects))
}

/// The first instruction that a warp may reach and that is not followed.
fn beyond(code: &Code, slice: &Slice, (warp, evaluation): (Warp, &Evaluation)) -> Option<Stop> {
    let all = u32::MAX >> (WIDTH - warp.live().clamp(1, WIDTH));
    let mut found: Vec<(Span, &String)> = Vec::new();
    for (number, node) in slice.nodes.iter().enumerate().filter(|(n, _)| evaluation.then[*n].is_some()) {
        let is_apart = evaluation.lanes[number] & all != all;
        found.extend(node.instructions.iter().filter_map(|at| match &code.instructions[*at].action {
            Action::Beyond(what) => Some((code.instructions[*at].span, what)),
            Action::Together(what) if is_apart => Some((code.instructions[*at].span, what)),
            _ => None,
        }));
    }
    let (span, what) = found.into_iter().min_by_key(|(span, _)| *span)?;
    Some(Stop { what: format!("not followed: {what}"), span, help: None })
}

/// What is known of all agents, as far as operands and conditions are concerned, and the mbarrier objects.
fn prepared(
    code: &Code,
    slice: &Slice,
    group: &Group,
    shared: &mut Shared,
    patience: &Patience,
) -> Result<(Vec<Evaluation>, Objects), Failure> {
    let mut evaluations = Vec::new();
    for agent in group.agents() {
        if patience.is_over() {
            return Err(Failure::Late);
        }
        evaluations.push(shared.evaluate(code, slice, group.warp(agent), patience)?);
    }
    let agents = group.agents().zip(&evaluations);
    let stops = agents.filter_map(|(agent, found)| beyond(code, slice, (group.warp(agent), found)));
    if let Some(stop) = stops.min_by_key(|stop| stop.span) {
        return Err(Failure::Stop(stop));
    }
    for evaluation in &mut evaluations {
        super::spread::over_rounds(code, slice, &mut shared.values, evaluation);
        super::offsets::of_accesses(&mut shared.values, evaluation);
        touched::take_apart(&mut shared.values, evaluation);
        super::implied::take(&mut shared.values, slice, evaluation);
        let unwrapped = super::implied::with_sign(&mut shared.values, slice, evaluation, patience);
        shared.assumes.extend(unwrapped.into_iter().map(Assumption::Unwrapped));
        super::begins::take(&mut shared.values, evaluation);
        super::abreast::take(&mut shared.values, evaluation);
        shared.assumes.extend(super::natural::take(code, &mut shared.values, evaluation));
        super::halves::take(&mut shared.values, evaluation);
        super::modulo::take(&mut shared.values, evaluation);
        super::low_bits::take(&mut shared.values, evaluation, shared.takes_multiples);
        super::offsets::take_out(&mut shared.values, evaluation);
        super::behind::take(&mut shared.values, evaluation);
        let unwrapped = super::lesser::take(&mut shared.values, slice, evaluation);
        shared.assumes.extend(unwrapped.into_iter().map(Assumption::Unwrapped));
    }
    let objects = Objects::of(code, slice, &shared.values, &evaluations).map_err(Failure::Stop)?;
    Ok((evaluations, objects))
}

/// Instructions between a store and the arrival by which others are told of it, at most.
const NEAR: usize = 64;

/// Looks for branches that tell others through shared memory what they go by themselves.
pub(super) fn look_for_tellings(
    code: &Code,
    (graph, matter): (&Graph, &Slice),
    group: &Group,
    shared: &mut Shared,
    patience: &Patience,
) -> Result<(), Failure> {
    let is_told = |at: &usize| {
        let action = &code.instructions[*at].action;
        matches!(action, Action::Compute { function: Function::Load(Memory::Shared), .. })
            && code.stored.contains(at)
    };
    let stores = stores_told(code);
    let tells = matter.nodes.iter().flat_map(|node| &node.instructions).any(is_told) && !stores.is_empty();
    if !tells || group.is_one() || Warp::threads(group.cluster) > 1 {
        return Ok(());
    }
    let Some(slice) = slice(code, graph, &stores) else { return Ok(()) };
    let mut aside = Shared::new(code, shared.values.clone());
    let (mut evaluations, objects) = match prepared(code, &slice, group, &mut aside, patience) {
        Ok(prepared) => prepared,
        Err(Failure::Late) => return Err(Failure::Late),
        Err(Failure::Stop(_)) => return Ok(()),
    };
    for (agent, evaluation) in group.agents().zip(&mut evaluations) {
        let of = (evaluation, group.warp(agent));
        if objects.resolve(code, &slice, &mut aside.values, of).is_err() {
            return Ok(());
        }
    }
    let agents = group.agents().zip(&evaluations).collect();
    shared.tellings = Tellers { code, slice: &slice, values: &mut aside.values, agents }.tellings();
    Ok(())
}

/// The stores of values to shared memory that an arrival follows soon.
fn stores_told(code: &Code) -> BTreeSet<usize> {
    let is_arrival = |instruction: &Instruction| match &instruction.action {
        Action::Object(step) => {
            matches!(step.kind, ObjectKind::Arrive { .. } | ObjectKind::ArriveNoComplete)
        }
        _ => false,
    };
    let all = code.instructions.iter().enumerate();
    let stores = all.filter(|(at, instruction)| match &instruction.action {
        Action::Store { address: Some(_), memory: Memory::Shared, written: Written::Values(_) } => {
            code.instructions[*at..].iter().take(NEAR).any(is_arrival)
        }
        _ => false,
    });
    stores.map(|(at, _)| at).collect()
}
