//! The steps of a state: which there are, and what each of them leads to.

use super::expr::{assign, eval_lanes};
use super::local::{self, Point, advance, after_test, enter_arm, point};
use super::memory::{self, Location};
use super::protocol::*;
use super::state::*;
use super::uniform;
use super::{bcu, cluster, fills, flight, mbarrier, nbarrier, ptx, split, stores, warps, xegpu};
use std::collections::BTreeSet;

/// One step: who takes it, what it notes, and where it leads or why the path ends.
pub struct Step {
    pub agent: AgentId,
    pub notes: BTreeSet<&'static str>,
    pub log: Log,
    pub result: Flow<State>,
}

impl Step {
    fn plain(agent: AgentId, result: Flow<State>) -> Step {
        Step { agent, notes: BTreeSet::new(), log: Log::default(), result }
    }
}

/// All steps of a state; none if every agent is blocked, waits for its own lanes or has exited.
pub fn steps(code: &Code<'_>, state: &State) -> Vec<Step> {
    let mut steps = Vec::new();
    for (agent, it) in state.agents.iter().enumerate() {
        // A blocked fragment of a bcu warp blocks all of it.
        if code.protocol.target == Target::Bcu && it.waits() {
            continue;
        }
        for (fragment, f) in it.fragments.iter().enumerate() {
            let who = Who { agent, fragment };
            match f.status {
                Status::Parked(_)
                | Status::Waiting
                | Status::Awaiting(_)
                | Status::AtCluster
                | Status::Lacking(_) => {}
                Status::Spinning => {
                    steps.push(Step::plain(agent, Ok(state.clone())));
                }
                Status::Running => steps_of(code, state, who, &mut steps),
            }
        }
    }
    for (n, pending) in state.objects.pending.iter().enumerate() {
        // Equal ones are interchangeable.
        if n == 0 || state.objects.pending[n - 1] != *pending {
            let mut world = World::new(code, state.clone());
            let landed = flight::land(&mut world, n);
            steps.push(finished(state, world, pending.agent, landed));
        }
    }
    steps
}

/// A step whose instruction, or landing, has been executed.
fn finished(before: &State, mut world: World<'_>, agent: AgentId, mut result: Flow<()>) -> Step {
    let executed = result.is_ok();
    if executed {
        result = local::settle(&mut world, Some(before));
        memory::unite(&mut world.state);
        uniform::forget_consumed(&mut world);
    }
    // A step that violates an ending rule reports that rule and nothing else. One whose
    // instruction was executed has found what it found, whatever local computation follows.
    let notes = if executed { world.notes } else { BTreeSet::new() };
    Step { agent, notes, log: world.log, result: result.map(|()| world.state) }
}

fn steps_of(code: &Code<'_>, state: &State, who: Who, steps: &mut Vec<Step>) {
    if matches!(point(code, &state.agents[who.agent].fragments[who.fragment]), Point::Join) {
        return;
    }
    let choices = match choices(code, state, who) {
        Ok(choices) => choices,
        Err(halt) => {
            steps.push(Step::plain(who.agent, Err(halt)));
            return;
        }
    };
    for choice in choices {
        let mut world = World::new(code, state.clone());
        let result = take(&mut world, who, choice);
        steps.push(finished(state, world, who.agent, result));
    }
}

/// The state before the first step.
pub fn initial(code: &Code<'_>) -> Flow<State> {
    let protocol = code.protocol;
    let mut agents = Vec::new();
    for agent in 0..protocol.agents() {
        let block = protocol.block_of(agent);
        let mut fragments = Vec::new();
        if !protocol.blocks[block].body.is_empty() {
            let lanes = 0..protocol.lanes(agent);
            fragments.push(Fragment {
                lanes: lanes.map(|lane| (lane, Default::default())).collect(),
                stack: vec![Frame::List { list: List::Body(block), next: 0 }],
                status: Status::Running,
            });
        }
        agents.push(std::sync::Arc::new(Agent { fragments, iterations: Default::default() }));
    }
    let barriers = match protocol.target {
        Target::Ptx => Barriers::Ptx(Default::default()),
        Target::Bcu => Barriers::Bcu(Default::default()),
        Target::Nbarrier => Barriers::Nbarrier(Default::default()),
        Target::Split => Barriers::Split(Default::default()),
        Target::Xegpu => Barriers::Xegpu(Default::default()),
    };
    let memory = memory::Memory::new(agents.len());
    let cluster = cluster::State::new(agents.len());
    let objects = mbarrier::State::new(protocol);
    let registers = warps::Registers::new(protocol);
    let uniform = Default::default();
    let state = State { agents, barriers, objects, cluster, registers, uniform, memory };
    let mut world = World::new(code, state);
    local::settle(&mut world, None)?;
    Ok(world.state)
}

/// The ways in which the fragment's next step can go.
fn choices(code: &Code<'_>, state: &State, who: Who) -> Flow<Vec<Choice>> {
    let fragment = &state.agents[who.agent].fragments[who.fragment];
    let stmt = match point(code, fragment) {
        Point::At(stmt) | Point::LoopTest(stmt) => stmt,
        _ => return Ok(vec![Choice::None]),
    };
    let both = vec![Choice::Bool(false), Choice::Bool(true)];
    match &stmt.kind {
        Kind::If(Cond::Ask { on, .. }, _, _)
        | Kind::While(Cond::Ask { on, .. }, _)
        | Kind::Let(_, Rhs::On(on))
        | Kind::Assign(_, Rhs::On(on)) => mbarrier::answers(&mut World::new(code, state.clone()), who, on),
        Kind::If(Cond::Choice, _, _) | Kind::While(Cond::Choice, _) => Ok(both),
        Kind::If(Cond::Uniform(_), _, _) | Kind::While(Cond::Uniform(_), _) => {
            let sequence = uniform::sequence(stmt).expect("it is one of a sequence");
            match state.uniform.next(&sequence, who.agent) {
                Some(made) => Ok(vec![Choice::Bool(made)]),
                None => Ok(both),
            }
        }
        Kind::Let(_, Rhs::Any(from, to)) | Kind::Assign(_, Rhs::Any(from, to)) => {
            let from = eval_lanes(code, who.agent, fragment, from)?[0].1;
            let to = eval_lanes(code, who.agent, fragment, to)?[0].1;
            if from >= to {
                return Err(Halt::EvalError("any of an empty range".into()));
            }
            Ok((from..to).map(Choice::Int).collect())
        }
        Kind::Instr(
            Instr::Red { op, pred: Pred::Any, .. }
            | Instr::BarRed { op, pred: Pred::Any, .. }
            | Instr::BarRedPacked { op, pred: Pred::Any, .. },
        ) => {
            let lanes = fragment.lanes.len() as i64;
            Ok(match op {
                RedOp::Popc => (0..=lanes).map(Choice::Trues).collect(),
                // Only none and all make a difference to a logical reduction.
                RedOp::And | RedOp::Or => vec![Choice::Trues(0), Choice::Trues(lanes)],
            })
        }
        _ => Ok(vec![Choice::None]),
    }
}

/// Executes the fragment's next instruction.
fn take(world: &mut World<'_>, who: Who, choice: Choice) -> Flow<()> {
    let stmt = match point(world.code, world.see(who)) {
        Point::End => return exit(world, who),
        Point::At(stmt) | Point::LoopTest(stmt) => stmt,
        Point::EndOfList | Point::Join => unreachable!("no step here"),
    };
    match (&stmt.kind, choice) {
        (Kind::Exit, _) => exit(world, who),
        (
            Kind::If(Cond::Ask { negated, on }, ..) | Kind::While(Cond::Ask { negated, on }, _),
            Choice::Bool(answer),
        ) => {
            mbarrier::answered(world, who, on, answer)?;
            decide(world, who, stmt, &Cond::Choice, answer != *negated);
            Ok(())
        }
        (Kind::Let(name, Rhs::On(on)) | Kind::Assign(name, Rhs::On(on)), Choice::Bool(answer)) => {
            mbarrier::answered(world, who, on, answer)?;
            let fragment = world.fragment(who);
            fragment.set_all(&Slot::Var(name.clone()), &Value::Int(answer.into()));
            advance(fragment);
            Ok(())
        }
        (Kind::Let(name, Rhs::On(on)) | Kind::Assign(name, Rhs::On(on)), _) => {
            mbarrier::arrive_for_token(world, who, name, on)
        }
        (Kind::If(cond, ..) | Kind::While(cond, _), Choice::Bool(decision)) => {
            decide(world, who, stmt, cond, decision);
            Ok(())
        }
        (Kind::Let(name, _) | Kind::Assign(name, _), Choice::Int(n)) => {
            let target = world.protocol().target;
            let fragment = world.fragment(who);
            for lane in fragment.lane_set() {
                assign(target, fragment, lane, name, Value::Int(n))?;
            }
            advance(fragment);
            Ok(())
        }
        (Kind::Access { kind, array, index, cta }, _) => {
            access(world, who, *kind, *array, index.as_ref(), cta.as_ref())
        }
        (Kind::Assert(expr), _) => {
            let values = eval_lanes(world.code, who.agent, world.see(who), expr)?;
            if values.iter().any(|(_, value)| *value == 0) {
                return Err(Halt::Rule("assertion"));
            }
            advance(world.fragment(who));
            Ok(())
        }
        (Kind::Instr(Instr::Mbarrier(on)), _) => mbarrier::execute(world, who, on),
        (Kind::Instr(Instr::Store(store)), _) => stores::execute(world, who, store),
        (Kind::Instr(Instr::Own(own)), _) => warps::execute(world, who, own),
        (Kind::Instr(Instr::Fill(fill)), _) => fills::execute(world, who, fill),
        (Kind::Instr(instr @ (Instr::ClusterArrive { .. } | Instr::ClusterWait { .. })), _) => {
            cluster::execute(world, who, instr)
        }
        (Kind::Instr(instr), _) => match world.protocol().target {
            Target::Ptx => ptx::execute(world, who, instr, choice),
            Target::Bcu => bcu::execute(world, who, instr, choice),
            Target::Nbarrier => nbarrier::execute(world, who, instr),
            Target::Split => split::execute(world, who, stmt, instr),
            Target::Xegpu => xegpu::execute(world, who, instr),
        },
        (kind, choice) => unreachable!("{kind:?} is no step with {choice:?}"),
    }
}

fn decide(world: &mut World<'_>, who: Who, stmt: &Stmt, cond: &Cond, decision: bool) {
    if let Cond::Uniform(_) = cond {
        let sequence = uniform::sequence(stmt).expect("it is one of a sequence");
        uniform::take(world, &sequence, who.agent, decision);
    }
    let code = world.code;
    let mut fragment = world.see(who).clone();
    match &stmt.kind {
        Kind::If(..) => enter_arm(&mut fragment, stmt, usize::from(!decision)),
        _ => after_test(code, world.agent(who.agent), &mut fragment, decision),
    }
    *world.fragment(who) = fragment;
}

fn access(
    world: &mut World<'_>,
    who: Who,
    kind: AccessKind,
    array: usize,
    index: Option<&Expr>,
    cta: Option<&Expr>,
) -> Flow<()> {
    let mut locations = BTreeSet::new();
    let own = world.protocol().cta_of(who.agent) as i64;
    let values = |expr: Option<&Expr>, otherwise: i64| match expr {
        Some(expr) => eval_lanes(world.code, who.agent, world.see(who), expr),
        None => Ok(world.see(who).lanes.keys().map(|lane| (*lane, otherwise)).collect()),
    };
    let indices = values(index, 0)?;
    let ranks = values(cta, own)?;
    let Array { len, space, .. } = &world.protocol().arrays[array];
    for ((_, index), (_, rank)) in indices.into_iter().zip(ranks) {
        let cta = mbarrier::reached(world, who.agent, rank)?;
        if !(0..len.unwrap_or(1)).contains(&index) {
            return Err(Halt::EvalError("index outside its array".into()));
        }
        let cta = if *space == Space::Global { 0 } else { cta };
        locations.insert(Location { cta, array, index });
    }
    memory::access(world, who.agent, kind, &locations);
    advance(world.fragment(who));
    Ok(())
}

/// The fragment's lanes leave the program.
fn exit(world: &mut World<'_>, who: Who) -> Flow<()> {
    world.agent(who.agent).fragments.remove(who.fragment);
    match world.protocol().target {
        Target::Ptx => {
            ptx::after_exit(world, who.agent)?;
            cluster::after_exit(world, who.agent);
            Ok(())
        }
        Target::Bcu => {
            bcu::after_exit(world, who.agent);
            Ok(())
        }
        Target::Nbarrier | Target::Xegpu => {
            nbarrier::after_exit(world, who.agent);
            Ok(())
        }
        Target::Split => {
            split::after_exit(world, who.agent);
            Ok(())
        }
    }
}
