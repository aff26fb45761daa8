//! Local computation: what happens together with the step before it. Lanes separate where a
//! condition or a barrier's operands differ between them, and join again behind it.

use super::expr::{Scene, assign, eval, eval_lanes};
use super::protocol::*;
use super::state::*;
use super::{bcu, split};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

/// What a fragment is about to do.
pub enum Point<'p> {
    /// Leave the program.
    End,
    EndOfList,
    LoopTest(&'p Stmt),
    Join,
    At(&'p Stmt),
}

pub fn point<'p>(code: &Code<'p>, fragment: &Fragment) -> Point<'p> {
    match fragment.stack.last() {
        None => Point::End,
        Some(Frame::List { list, next }) => match code.list(*list).get(*next) {
            Some(stmt) => Point::At(stmt),
            None => Point::EndOfList,
        },
        Some(Frame::One(stmt)) => Point::At(code.stmt(*stmt)),
        Some(Frame::Loop { stmt, .. }) => Point::LoopTest(code.stmt(*stmt)),
        Some(Frame::Join { .. }) => Point::Join,
    }
}

/// Goes behind the statement that the fragment is at.
pub fn advance(fragment: &mut Fragment) {
    match fragment.stack.last_mut() {
        Some(Frame::List { next, .. }) => *next += 1,
        Some(Frame::One(_)) => {
            fragment.stack.pop();
        }
        other => unreachable!("not at a statement: {other:?}"),
    }
}

/// Enters an arm of the branch that the fragment is at.
pub fn enter_arm(fragment: &mut Fragment, stmt: &Stmt, arm: usize) {
    advance(fragment);
    push_list(fragment, List::Arm(stmt.id, arm));
}

fn push_list(fragment: &mut Fragment, list: List) {
    fragment.stack.push(Frame::List { list, next: 0 });
}

/// A loop whose test came out: another round, or out of it.
pub fn after_test(code: &Code<'_>, agent: &mut Agent, fragment: &mut Fragment, stay: bool) {
    let Some(Frame::Loop { stmt, .. }) = fragment.stack.last() else {
        unreachable!("only at a loop test");
    };
    let stmt = *stmt;
    if stay {
        push_list(fragment, List::Arm(stmt, 0));
    } else {
        leave_loop(code, agent, fragment);
    }
}

fn leave_loop(code: &Code<'_>, agent: &mut Agent, fragment: &mut Fragment) {
    let Some(Frame::Loop { stmt, entered }) = fragment.stack.pop() else {
        unreachable!("only a loop is left");
    };
    if let Kind::For { var, .. } = &code.stmt(stmt).kind {
        fragment.unset(&Slot::Var(var.clone()));
        fragment.unset(&Slot::End(stmt));
    }
    split::loop_left(agent, stmt);
    fragment.stack.push(Frame::Join { stmt, entered });
}

/// Leaves a list; its own locals end with it.
fn pop(code: &Code<'_>, fragment: &mut Fragment) {
    if let Some(Frame::List { list, .. }) = fragment.stack.pop() {
        for stmt in code.list(list) {
            if let Kind::Let(name, _) = &stmt.kind {
                fragment.unset(&Slot::Var(name.clone()));
            }
        }
    }
}

/// Goes to the test of the innermost loop, one iteration on.
fn next_iteration(code: &Code<'_>, agent: &mut Agent, fragment: &mut Fragment) {
    let Some(Frame::Loop { stmt, .. }) = fragment.stack.last() else {
        unreachable!("inside a loop");
    };
    let stmt = *stmt;
    if let Kind::For { var, .. } = &code.stmt(stmt).kind {
        let slot = Slot::Var(var.clone());
        let lanes: Vec<_> = fragment.lanes.keys().copied().collect();
        for lane in lanes {
            if let Some(Value::Int(n)) = fragment.lanes[&lane].get(&slot).cloned() {
                fragment.set(lane, slot.clone(), Value::Int(n + 1));
            }
        }
    }
    split::loop_repeated(agent, stmt);
}

fn unwind_to_loop(code: &Code<'_>, fragment: &mut Fragment) {
    while !matches!(fragment.stack.last(), Some(Frame::Loop { .. })) {
        assert!(!fragment.stack.is_empty(), "outside of any loop");
        pop(code, fragment);
    }
}

/// The part of a fragment that consists of some of its lanes.
fn part(fragment: &Fragment, lanes: &BTreeSet<Lane>) -> Fragment {
    let mut part = fragment.clone();
    part.lanes.retain(|lane, _| lanes.contains(lane));
    part
}

/// The lanes for which a condition holds, and the others.
fn sides(code: &Code<'_>, own: AgentId, fragment: &Fragment, expr: &Expr) -> Flow<[BTreeSet<Lane>; 2]> {
    let mut sides = [BTreeSet::new(), BTreeSet::new()];
    for (lane, value) in eval_lanes(code, own, fragment, expr)? {
        sides[usize::from(value == 0)].insert(lane);
    }
    Ok(sides)
}

/// What became of a fragment by one piece of local computation.
enum Local {
    /// Nothing: it stands at a step, or waits.
    Still(Fragment),
    Moved(Vec<Fragment>),
}

fn branch(
    code: &Code<'_>,
    own: AgentId,
    fragment: &Fragment,
    stmt: &Stmt,
    cond: &Expr,
) -> Flow<Vec<Fragment>> {
    let sides = sides(code, own, fragment, cond)?;
    let separated = sides.iter().all(|s| !s.is_empty());
    let mut result = Vec::new();
    for (arm, lanes) in sides.iter().enumerate() {
        if lanes.is_empty() {
            continue;
        }
        let mut side = part(fragment, lanes);
        advance(&mut side);
        if separated {
            side.stack.push(Frame::Join { stmt: stmt.id, entered: fragment.lane_set() });
        }
        push_list(&mut side, List::Arm(stmt.id, arm));
        result.push(side);
    }
    Ok(result)
}

fn test(
    code: &Code<'_>,
    own: AgentId,
    agent: &mut Agent,
    fragment: &Fragment,
    cond: &Expr,
) -> Flow<Vec<Fragment>> {
    let sides = sides(code, own, fragment, cond)?;
    let mut result = Vec::new();
    for (side, lanes) in sides.iter().enumerate() {
        if !lanes.is_empty() {
            let mut inside = part(fragment, lanes);
            after_test(code, agent, &mut inside, side == 0);
            result.push(inside);
        }
    }
    Ok(result)
}

fn enter_loop(
    code: &Code<'_>,
    own: AgentId,
    agent: &mut Agent,
    mut fragment: Fragment,
    stmt: &Stmt,
) -> Flow<Fragment> {
    if let Kind::For { var, from, to, .. } = &stmt.kind {
        let starts = eval_lanes(code, own, &fragment, from)?;
        let ends = eval_lanes(code, own, &fragment, to)?;
        for ((lane, start), (_, end)) in starts.into_iter().zip(ends) {
            fragment.set(lane, Slot::Var(var.clone()), Value::Int(start));
            fragment.set(lane, Slot::End(stmt.id), Value::Int(end));
        }
    }
    advance(&mut fragment);
    let entered = fragment.lane_set();
    fragment.stack.push(Frame::Loop { stmt: stmt.id, entered });
    split::loop_entered(code, agent, stmt);
    Ok(fragment)
}

/// The operands by which the lanes of a fragment may have to execute an instruction separately.
fn operands(scene: Scene<'_>, stmt: &Stmt) -> Flow<Vec<i64>> {
    let all = |exprs: &[&Expr]| exprs.iter().map(|e| eval(scene, e)).collect();
    match &stmt.kind {
        Kind::Let(_, Rhs::Any(a, b)) | Kind::Assign(_, Rhs::Any(a, b)) => all(&[a, b]),
        Kind::Instr(
            Instr::Sync { id, count, .. } | Instr::Arrive { id, count, .. } | Instr::Red { id, count, .. },
        ) => match count {
            Some(count) => all(&[id, count]),
            None => all(&[id]),
        },
        Kind::Instr(Instr::Own(Own::Sync(mask))) => all(&[mask]),
        Kind::Instr(Instr::Mbarrier(on))
        | Kind::If(Cond::Ask { on, .. }, _, _)
        | Kind::Let(_, Rhs::On(on))
        | Kind::Assign(_, Rhs::On(on)) => all(&on.operands()),
        Kind::Instr(instr) if scene.target == Target::Bcu => bcu::operands(scene, instr),
        _ => Ok(vec![]),
    }
}

/// Separates lanes whose operands differ. An operand without a value is left to the step.
fn separate(code: &Code<'_>, own: AgentId, fragment: Fragment, stmt: &Stmt) -> Local {
    let mut groups: BTreeMap<Vec<i64>, BTreeSet<Lane>> = BTreeMap::new();
    for (&lane, locals) in &fragment.lanes {
        let scene = Scene::of(code, own, lane, locals);
        match operands(scene, stmt) {
            Ok(key) => groups.entry(key).or_default().insert(lane),
            Err(_) => return Local::Still(fragment),
        };
    }
    if groups.len() == 1 {
        return Local::Still(fragment);
    }
    let mut parts = Vec::new();
    for lanes in groups.values() {
        let mut group = part(&fragment, lanes);
        advance(&mut group);
        group.stack.push(Frame::Join { stmt: stmt.id, entered: fragment.lane_set() });
        group.stack.push(Frame::One(stmt.id));
        parts.push(group);
    }
    Local::Moved(parts)
}

fn one<T>(item: T) -> Vec<T> {
    vec![item]
}

/// One piece of local computation of one fragment.
fn compute(code: &Code<'_>, own: AgentId, agent: &mut Agent, mut f: Fragment) -> Flow<Local> {
    if f.status != Status::Running {
        return Ok(Local::Still(f));
    }
    let moved = match point(code, &f) {
        Point::End | Point::Join => return Ok(Local::Still(f)),
        Point::EndOfList => {
            pop(code, &mut f);
            if matches!(f.stack.last(), Some(Frame::Loop { .. })) {
                next_iteration(code, agent, &mut f);
            }
            one(f)
        }
        Point::LoopTest(stmt) => match &stmt.kind {
            Kind::Loop(_) => {
                after_test(code, agent, &mut f, true);
                one(f)
            }
            Kind::While(Cond::Expr(cond), _) => test(code, own, agent, &f, cond)?,
            Kind::For { var, .. } => {
                let counts = counting(&f, var, stmt.id);
                split_test(code, agent, &f, &counts)
            }
            _ => return Ok(Local::Still(f)),
        },
        Point::At(stmt) => return statement(code, own, agent, f, stmt),
    };
    Ok(Local::Moved(moved))
}

/// The lanes whose counted loop goes on.
fn counting(fragment: &Fragment, var: &Name, stmt: StmtId) -> BTreeSet<Lane> {
    let number = |locals: &Locals, slot: &Slot| match locals.get(slot) {
        Some(Value::Int(n)) => *n,
        other => unreachable!("a loop's counter is a number: {other:?}"),
    };
    let slot = Slot::Var(var.clone());
    fragment
        .lanes
        .iter()
        .filter(|(_, l)| number(l, &slot) < number(l, &Slot::End(stmt)))
        .map(|(&lane, _)| lane)
        .collect()
}

fn split_test(
    code: &Code<'_>,
    agent: &mut Agent,
    fragment: &Fragment,
    stay: &BTreeSet<Lane>,
) -> Vec<Fragment> {
    let leave: BTreeSet<Lane> = fragment.lane_set().difference(stay).copied().collect();
    let mut result = Vec::new();
    for (lanes, stays) in [(stay, true), (&leave, false)] {
        if !lanes.is_empty() {
            let mut inside = part(fragment, lanes);
            after_test(code, agent, &mut inside, stays);
            result.push(inside);
        }
    }
    result
}

fn statement(code: &Code<'_>, own: AgentId, agent: &mut Agent, mut f: Fragment, stmt: &Stmt) -> Flow<Local> {
    let moved = match &stmt.kind {
        Kind::For { .. } | Kind::Loop(_) | Kind::While(..) => one(enter_loop(code, own, agent, f, stmt)?),
        Kind::If(Cond::Expr(cond), _, _) => branch(code, own, &f, stmt, cond)?,
        Kind::Guard { negated, name, .. } => {
            let mut cond = Expr::Var(name.clone());
            if *negated {
                cond = Expr::Not(Box::new(cond));
            }
            branch(code, own, &f, stmt, &cond)?
        }
        Kind::Let(name, Rhs::Expr(expr)) | Kind::Assign(name, Rhs::Expr(expr)) => {
            for (lane, value) in eval_lanes(code, own, &f, expr)? {
                assign(code.protocol.target, &mut f, lane, name, Value::Int(value))?;
            }
            advance(&mut f);
            one(f)
        }
        Kind::Break => {
            unwind_to_loop(code, &mut f);
            leave_loop(code, agent, &mut f);
            one(f)
        }
        Kind::Continue => {
            unwind_to_loop(code, &mut f);
            next_iteration(code, agent, &mut f);
            one(f)
        }
        Kind::Instr(Instr::CompileHint) => {
            advance(&mut f);
            one(f)
        }
        Kind::Let(..) | Kind::Assign(..) | Kind::If(Cond::Ask { .. }, _, _) | Kind::Instr(_) => {
            return Ok(separate(code, own, f, stmt));
        }
        Kind::If(..) | Kind::Access { .. } | Kind::Exit | Kind::Assert(_) => {
            return Ok(Local::Still(f));
        }
    };
    Ok(Local::Moved(moved))
}

/// The place where a fragment waits for others, if it does.
fn joining(fragment: &Fragment) -> Option<(usize, &Frame)> {
    match fragment.stack.last() {
        Some(frame @ Frame::Join { .. }) => Some((fragment.stack.len() - 1, frame)),
        _ => None,
    }
}

fn same_place(a: &Frame, b: &Frame) -> bool {
    match (a, b) {
        (
            Frame::Join { stmt: s, entered: e },
            Frame::Join { stmt: t, entered: f } | Frame::Loop { stmt: t, entered: f },
        ) => s == t && e == f,
        _ => false,
    }
}

/// Joins the fragments of one place where nobody is inside any more; true if there was one.
fn join_once(fragments: &mut Vec<Fragment>) -> bool {
    for f in 0..fragments.len() {
        let Some((depth, place)) = joining(&fragments[f]) else {
            continue;
        };
        let members: Vec<usize> = (0..fragments.len())
            .filter(|&g| {
                let frame = fragments[g].stack.get(depth);
                frame.is_some_and(|frame| same_place(place, frame))
            })
            .collect();
        let all_there = members.iter().all(|&g| joining(&fragments[g]).is_some_and(|(d, _)| d == depth));
        if !all_there {
            continue;
        }
        let mut joined = fragments[f].clone();
        joined.stack.pop();
        for &g in &members {
            let lanes = fragments[g].lanes.clone();
            joined.lanes.extend(lanes);
        }
        let mut index = 0;
        fragments.retain(|_| {
            index += 1;
            !members.contains(&(index - 1))
        });
        fragments.push(joined);
        return true;
    }
    false
}

const PATIENCE: usize = 60;
const LIMIT: usize = 5_000;

/// Performs the local computation of one agent until every fragment stands at a step or waits.
fn settle_agent(code: &Code<'_>, own: AgentId, agent: &mut Agent) -> Flow<()> {
    let mut seen = HashSet::new();
    for round in 0.. {
        let mut moving = BTreeSet::new();
        let mut fragments = Vec::new();
        let before = agent.fragments.clone();
        for f in std::mem::take(&mut agent.fragments) {
            let lanes = f.lane_set();
            match compute(code, own, agent, f)? {
                Local::Still(f) => fragments.push(f),
                Local::Moved(parts) => {
                    moving.extend(lanes);
                    fragments.extend(parts);
                }
            }
        }
        while join_once(&mut fragments) {
            moving.insert(Lane::MAX);
        }
        fragments.sort_by_key(|f| f.lanes.keys().next().copied());
        agent.fragments = fragments;
        if moving.is_empty() {
            return Ok(());
        }
        // Only a computation that goes on for long can be one that goes on for ever.
        if round > PATIENCE && !seen.insert(before.clone()) {
            agent.fragments = before;
            for f in &mut agent.fragments {
                if f.lanes.keys().any(|lane| moving.contains(lane)) {
                    f.status = Status::Spinning;
                }
            }
            return Ok(());
        }
        if round > LIMIT {
            return Err(Halt::TooLong);
        }
    }
    Ok(())
}

/// Performs all local computation that belongs to the step just taken: that of agents that are not as they
/// were before it, if there was anything before it.
pub fn settle(world: &mut World<'_>, before: Option<&State>) -> Flow<()> {
    let code = world.code;
    for own in 0..world.state.agents.len() {
        if before.is_some_and(|before| Arc::ptr_eq(&before.agents[own], &world.state.agents[own])) {
            continue;
        }
        let idle = world.state.agents[own]
            .fragments
            .iter()
            .all(|f| f.status != Status::Running || matches!(point(code, f), Point::End));
        if !idle {
            settle_agent(code, own, world.agent(own))?;
        }
    }
    Ok(())
}
