//! `barrier{.cta}` and `bar{.cta}` of PTX.

use super::expr::{eval_lanes, eval_same};
use super::fences;
use super::local::{Point, advance, point};
use super::memory::{Parcel, learn, left_behind};
use super::protocol::*;
use super::state::Barriers as AllBarriers;
use super::state::*;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Doing {
    Arrive,
    Sync,
    Red(RedOp),
}

/// What a fragment asks of a barrier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Request {
    pub id: i64,
    pub count: i64,
    pub explicit: bool,
    pub doing: Doing,
    /// The reduction of the fragment's own predicates.
    pub tally: Option<i64>,
}

/// A barrier whose generation has begun.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Active {
    expected: i64,
    all: bool,
    class: Option<RedOp>,
    arrived: BTreeSet<AgentId>,
    arrivals: i64,
    waiting: BTreeSet<AgentId>,
    tally: Option<i64>,
    parcel: Parcel,
}

/// The active barriers by CTA and id; all others are idle.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Barriers {
    pub active: BTreeMap<(usize, i64), Active>,
}

impl Barriers {
    pub fn parcels(&mut self) -> impl Iterator<Item = &mut Parcel> {
        self.active.values_mut().map(|barrier| &mut barrier.parcel)
    }

    pub fn holds_arrivals(&self) -> bool {
        !self.active.is_empty()
    }
}

fn barriers<'a>(world: &'a mut World<'_>) -> &'a mut BTreeMap<(usize, i64), Active> {
    match &mut world.state.barriers {
        AllBarriers::Ptx(b) => &mut b.active,
        _ => unreachable!("a ptx protocol has ptx barriers"),
    }
}

/// The reduction of some lanes' predicates.
pub fn tally(op: RedOp, lanes: i64, trues: i64) -> i64 {
    match op {
        RedOp::Popc => trues,
        RedOp::And => i64::from(trues == lanes),
        RedOp::Or => i64::from(trues > 0),
    }
}

/// The reduction of two parts.
pub fn combine(op: RedOp, a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(match op {
            RedOp::Popc => a + b,
            RedOp::And => a.min(b),
            RedOp::Or => a.max(b),
        }),
        (one, None) | (None, one) => one,
    }
}

/// The reduction of a fragment's predicate operand.
pub fn tally_of(
    code: &Code<'_>,
    own: AgentId,
    fragment: &Fragment,
    op: RedOp,
    pred: &Pred,
    choice: Choice,
) -> Flow<i64> {
    let lanes = fragment.lanes.len() as i64;
    let trues = match (pred, choice) {
        (Pred::Any, Choice::Trues(n)) => n,
        (Pred::Any, _) => lanes,
        (Pred::Expr { negated, expr }, _) => eval_lanes(code, own, fragment, expr)?
            .iter()
            .filter(|(_, value)| (*value != 0) != *negated)
            .count() as i64,
    };
    Ok(tally(op, lanes, trues))
}

/// The CTA's threads, rounded up to whole warps.
fn everyone(protocol: &Protocol) -> i64 {
    32 * protocol.per_cta() as i64
}

/// Evaluates and checks a barrier instruction's operands.
fn request(
    code: &Code<'_>,
    own: AgentId,
    fragment: &Fragment,
    instr: &Instr,
    choice: Choice,
) -> Flow<Request> {
    let (id, count, doing, tally) = match instr {
        Instr::Sync { id, count, .. } => (id, count, Doing::Sync, None),
        Instr::Arrive { id, count, .. } => (id, count, Doing::Arrive, None),
        Instr::Red { op, id, count, pred, .. } => {
            let tally = tally_of(code, own, fragment, *op, pred, choice)?;
            (id, count, Doing::Red(*op), Some(tally))
        }
        other => unreachable!("not a barrier instruction of ptx: {other:?}"),
    };
    let id = eval_same(code, own, fragment, id)?;
    let count = match count {
        Some(count) => Some(eval_same(code, own, fragment, count)?),
        None => None,
    };
    if !(0..16).contains(&id) {
        return Err(Halt::Rule("barrier-id-range"));
    }
    if doing == Doing::Arrive && count.unwrap_or(0) == 0 {
        return Err(Halt::Rule("arrive-needs-count"));
    }
    let most = everyone(code.protocol);
    if count.is_some_and(|n| n <= 0 || n % 32 != 0 || n > most) {
        return Err(Halt::Rule("count-range"));
    }
    Ok(Request { id, count: count.unwrap_or(most), explicit: count.is_some(), doing, tally })
}

fn aligned(instr: &Instr) -> bool {
    match instr {
        Instr::Sync { aligned, .. } | Instr::Arrive { aligned, .. } | Instr::Red { aligned, .. } => *aligned,
        other => unreachable!("not a barrier instruction of ptx: {other:?}"),
    }
}

pub fn execute(world: &mut World<'_>, who: Who, instr: &Instr, choice: Choice) -> Flow<()> {
    if let Instr::PtxFence(fence) = instr {
        fences::execute(world, who, *fence);
        return Ok(());
    }
    let request = request(world.code, who.agent, world.see(who), instr, choice)?;
    if aligned(instr) && world.see(who).lane_set() != world.lanes_of(who.agent) {
        return Err(Halt::Rule("partial-warp"));
    }
    if request.id == 0 && request.explicit {
        world.note("reserved-barrier");
    }
    world.fragment(who).status = Status::Parked(request);
    arrive_if_gathered(world, who.agent)
}

/// What the warp as a whole asks once all its lanes are parked alike.
fn gathered<'a>(requests: impl Iterator<Item = Option<&'a Request>>) -> Option<Request> {
    let mut whole: Option<Request> = None;
    for request in requests {
        let request = request?;
        match &mut whole {
            None => whole = Some(request.clone()),
            Some(w) => {
                if (w.id, w.count, w.doing) != (request.id, request.count, request.doing) {
                    return None;
                }
                w.explicit |= request.explicit;
                if let Doing::Red(op) = w.doing {
                    w.tally = combine(op, w.tally, request.tally);
                }
            }
        }
    }
    whole
}

fn parked(fragment: &Fragment) -> Option<&Request> {
    match &fragment.status {
        Status::Parked(request) => Some(request),
        _ => None,
    }
}

fn arrive_if_gathered(world: &mut World<'_>, warp: AgentId) -> Flow<()> {
    let fragments = &world.state.agents[warp].fragments;
    match gathered(fragments.iter().map(parked)) {
        Some(request) => arrive(world, warp, &request),
        None => Ok(()),
    }
}

fn check_against(active: &Active, (warp, repeats): (AgentId, bool), request: &Request) -> Flow<()> {
    let class = match request.doing {
        Doing::Red(op) => Some(op),
        Doing::Arrive | Doing::Sync => None,
    };
    match (active.class, class) {
        (Some(_), None) | (None, Some(_)) => return Err(Halt::Rule("mixed-red")),
        (Some(a), Some(b)) if a != b => return Err(Halt::Rule("mixed-red-op")),
        _ => {}
    }
    if active.expected != request.count {
        return Err(Halt::Rule("count-mismatch"));
    }
    if active.arrived.contains(&warp) && !(repeats && request.explicit) {
        return Err(Halt::Rule("repeated-arrival"));
    }
    Ok(())
}

fn arrive(world: &mut World<'_>, warp: AgentId, request: &Request) -> Flow<()> {
    let class = match request.doing {
        Doing::Red(op) => Some(op),
        Doing::Arrive | Doing::Sync => None,
    };
    let knows = world.state.memory.agents[warp].known.clone();
    let key = (world.protocol().cta_of(warp), request.id);
    let repeats = world.protocol().repeats;
    let active = barriers(world).entry(key).or_insert(Active {
        expected: request.count,
        all: true,
        class,
        arrived: BTreeSet::new(),
        arrivals: 0,
        waiting: BTreeSet::new(),
        tally: None,
        parcel: Parcel::default(),
    });
    check_against(active, (warp, repeats), request)?;
    active.all &= !request.explicit;
    active.arrived.insert(warp);
    active.arrivals += 1;
    active.parcel.add(&knows);
    if let Some(op) = class {
        active.tally = combine(op, active.tally, request.tally);
    }
    let waits = request.doing != Doing::Arrive;
    if waits {
        active.waiting.insert(warp);
    }
    for fragment in &mut world.agent(warp).fragments {
        if waits {
            fragment.status = Status::Waiting;
        } else {
            fragment.status = Status::Running;
            advance(fragment);
        }
    }
    complete_if_due(world, key);
    Ok(())
}

/// The warps of a CTA.
fn warps_of(world: &World<'_>, cta: usize) -> Range<AgentId> {
    let per_cta = world.protocol().per_cta();
    cta * per_cta..(cta + 1) * per_cta
}

/// Whether a barrier completes now, and whether as one that waits for every live agent.
fn due(world: &World<'_>, cta: usize, active: &Active) -> Option<bool> {
    let agents = &world.state.agents;
    let everyone_else_exited =
        warps_of(world, cta).all(|w| active.arrived.contains(&w) || agents[w].exited());
    if active.all {
        return everyone_else_exited.then_some(true);
    }
    if 32 * active.arrivals == active.expected {
        return Some(false);
    }
    let release = world.code.exited_threads == ExitedThreads::Release;
    (release && !world.protocol().repeats && !active.waiting.is_empty() && everyone_else_exited)
        .then_some(true)
}

fn complete_if_due(world: &mut World<'_>, key: (usize, i64)) {
    let Some(active) = barriers(world).get(&key).cloned() else {
        return;
    };
    let Some(for_every_live_agent) = due(world, key.0, &active) else {
        return;
    };
    barriers(world).remove(&key);
    if active.waiting.is_empty() {
        world.note("nobody-waits");
    }
    let mut parcel = active.parcel;
    if for_every_live_agent {
        parcel.time.extend(left_behind(world, warps_of(world, key.0)));
    }
    for &warp in &active.waiting {
        learn(world, warp, &parcel);
        release(world, warp, active.tally);
    }
}

fn release(world: &mut World<'_>, warp: AgentId, result: Option<i64>) {
    let code = world.code;
    for fragment in &mut world.agent(warp).fragments {
        if let Point::At(stmt) = point(code, fragment)
            && let Kind::Instr(Instr::Red { dest: Some(dest), .. }) = &stmt.kind
        {
            let value = Value::Int(result.expect("a reduction has a result"));
            fragment.set_all(&Slot::Var(dest.clone()), &value);
        }
        fragment.status = Status::Running;
        advance(fragment);
    }
}

/// The fragment has left: the rest of its warp may now be gathered, or the warp be gone.
pub fn after_exit(world: &mut World<'_>, warp: AgentId) -> Flow<()> {
    arrive_if_gathered(world, warp)?;
    if world.state.agents[warp].exited() {
        let cta = world.protocol().cta_of(warp);
        let keys: Vec<_> = barriers(world).keys().filter(|(c, _)| *c == cta).copied().collect();
        for key in keys {
            complete_if_due(world, key);
        }
    }
    Ok(())
}

/// The arrival that a warp's next step makes, if it makes one.
fn standing(world: &World<'_>, warp: AgentId) -> Option<Request> {
    let code = world.code;
    let fragments = &world.state.agents[warp].fragments;
    (0..fragments.len()).find_map(|f| {
        let fragment = &fragments[f];
        if fragment.status != Status::Running {
            return None;
        }
        let others = fragments.iter().enumerate().filter(|(g, _)| *g != f);
        match point(code, fragment) {
            Point::End => gathered(others.map(|(_, g)| parked(g))),
            Point::At(stmt) => match &stmt.kind {
                Kind::Exit => gathered(others.map(|(_, g)| parked(g))),
                Kind::Instr(instr @ (Instr::Sync { .. } | Instr::Arrive { .. } | Instr::Red { .. })) => {
                    let own = request(code, warp, fragment, instr, Choice::None).ok()?;
                    if aligned(instr) && fragments.len() > 1 {
                        return None;
                    }
                    let rest = others.map(|(_, g)| parked(g));
                    gathered(std::iter::once(Some(&own)).chain(rest))
                }
                _ => None,
            },
            _ => None,
        }
    })
}

/// Whether more warps stand at an arrival than a generation has room for.
pub fn arrival_race(world: &World<'_>) -> bool {
    let AllBarriers::Ptx(barriers) = &world.state.barriers else {
        unreachable!("a ptx protocol has ptx barriers");
    };
    let mut wanted: BTreeMap<((usize, i64), i64), Vec<Request>> = BTreeMap::new();
    for warp in 0..world.state.agents.len() {
        if let Some(request) = standing(world, warp) {
            let key = ((world.protocol().cta_of(warp), request.id), request.count);
            wanted.entry(key).or_default().push(request);
        }
    }
    wanted.iter().any(|((barrier, count), requests)| {
        let room = match barriers.active.get(barrier) {
            Some(active) if active.expected != *count || active.all => return false,
            Some(active) => active.expected / 32 - active.arrivals,
            None if requests.iter().all(|r| !r.explicit) => return false,
            None => count / 32,
        };
        requests.len() as i64 > room
    })
}
