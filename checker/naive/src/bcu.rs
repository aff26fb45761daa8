//! `BAR.SYNC`, `BAR.ARV`, `BAR.RED`, `B2R` and `R2B` of the BCU.

use super::expr::{Scene, assign, eval, eval_lanes, is_register, lookup};
use super::local::{Point, advance, point};
use super::memory::{Access, Parcel, learn, left_behind};
use super::protocol::*;
use super::ptx::{combine, tally_of};
use super::state::Barriers as AllBarriers;
use super::state::*;
use std::collections::{BTreeMap, BTreeSet};

/// What `B2R.BAR` reads of an active barrier.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BarState {
    count: i64,
    class: Option<RedOp>,
    /// Arrivals so far, in threads.
    number: i64,
    tally: Option<i64>,
}

/// A warp's copy of the last reduction it took part in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WarpCopy {
    result: i64,
    op: RedOp,
    fetched: bool,
    state: BarState,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Active {
    state: BarState,
    participants: BTreeSet<AgentId>,
    waiting: BTreeSet<AgentId>,
    parcel: Parcel,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Barriers {
    active: BTreeMap<i64, Active>,
    /// Ids used so far on this path: true by RED, false by SYNC or ARV.
    used_by_red: BTreeMap<i64, bool>,
    copies: BTreeMap<AgentId, WarpCopy>,
}

impl Barriers {
    pub fn forget(&mut self, access: &Access) {
        for barrier in self.active.values_mut() {
            barrier.parcel.forget(access);
        }
    }

    pub fn holds_arrivals(&self) -> bool {
        !self.active.is_empty()
    }
}

fn barriers<'a>(world: &'a mut World<'_>) -> &'a mut Barriers {
    match &mut world.state.barriers {
        AllBarriers::Bcu(b) => b,
        _ => unreachable!("a bcu protocol has bcu barriers"),
    }
}

/// An operand as the hardware takes it, and whether it dropped bits of it.
#[derive(Clone, Copy)]
struct Operand {
    value: i64,
    truncated: bool,
}

fn operand(scene: Scene<'_>, expr: &Expr, bits: u32) -> Flow<Operand> {
    let value = eval(scene, expr)?;
    let register = matches!(expr, Expr::Var(name) if is_register(name));
    let kept = value & ((1 << bits) - 1);
    Ok(Operand { value: if register { kept } else { value }, truncated: register && kept != value })
}

const ID_BITS: u32 = 4;
const COUNT_BITS: u32 = 12;

/// Id and count of a barrier instruction, as one lane sees them.
fn id_and_count(scene: Scene<'_>, instr: &Instr) -> Flow<(Operand, Operand)> {
    let none = Operand { value: 0, truncated: false };
    match instr {
        Instr::BarSync { id, count } | Instr::BarRed { id, count, .. } => {
            let id = operand(scene, id, ID_BITS)?;
            let count = match count {
                Some(count) => operand(scene, count, COUNT_BITS)?,
                None => none,
            };
            Ok((id, count))
        }
        Instr::BarArv { id, count } => Ok((operand(scene, id, ID_BITS)?, operand(scene, count, COUNT_BITS)?)),
        Instr::BarRedPacked { packed, .. } => {
            let value = eval(scene, &Expr::Var(packed.clone()))?;
            let id = Operand { value: value & 0xf, truncated: value >> 16 != 0 };
            let count = Operand { value: (value >> 4) & 0xfff, truncated: false };
            Ok((id, count))
        }
        other => unreachable!("no arrival: {other:?}"),
    }
}

/// The operands by which lanes execute an instruction separately.
pub fn operands(scene: Scene<'_>, instr: &Instr) -> Flow<Vec<i64>> {
    match instr {
        Instr::BarSync { .. } | Instr::BarArv { .. } | Instr::BarRed { .. } | Instr::BarRedPacked { .. } => {
            let (id, count) = id_and_count(scene, instr)?;
            Ok(vec![id.value, count.value])
        }
        Instr::B2rBar { id, .. } | Instr::R2bBar { id, .. } => Ok(vec![eval(scene, id)?]),
        Instr::B2rWarp { id: Some(id), .. } | Instr::R2bWarp { id: Some(id), .. } => {
            Ok(vec![eval(scene, id)?])
        }
        _ => Ok(vec![]),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Arv,
    Sync,
    Red(RedOp),
}

struct Request {
    id: i64,
    count: i64,
    doing: Doing,
    tally: Option<i64>,
    truncated: bool,
}

fn scenes<'a>(own: AgentId, fragment: &'a Fragment) -> impl Iterator<Item = Scene<'a>> + use<'a> {
    fragment.lanes.iter().map(move |(&lane, locals)| Scene {
        target: Target::Bcu,
        own,
        rank: 0,
        lane,
        locals,
    })
}

fn request(
    code: &Code<'_>,
    own: AgentId,
    fragment: &Fragment,
    instr: &Instr,
    choice: Choice,
) -> Flow<Request> {
    let mut truncated = false;
    let mut agreed = None;
    for scene in scenes(own, fragment) {
        let (id, count) = id_and_count(scene, instr)?;
        truncated |= id.truncated || count.truncated;
        agreed = Some((id.value, count.value));
    }
    let (id, count) = agreed.expect("a fragment has lanes");
    let (doing, tally) = match instr {
        Instr::BarSync { .. } => (Doing::Sync, None),
        Instr::BarArv { .. } => (Doing::Arv, None),
        Instr::BarRed { op, pred, .. } | Instr::BarRedPacked { op, pred, .. } => {
            let tally = tally_of(code, own, fragment, *op, pred, choice)?;
            (Doing::Red(*op), Some(tally))
        }
        other => unreachable!("no arrival: {other:?}"),
    };
    if !(0..16).contains(&id) {
        return Err(Halt::Rule("barrier-id-range"));
    }
    if !(0..=4095).contains(&count) || count % 32 != 0 || (doing == Doing::Arv && count == 0) {
        return Err(Halt::Rule("count-range"));
    }
    Ok(Request { id, count, doing, tally, truncated })
}

pub fn execute(world: &mut World<'_>, who: Who, instr: &Instr, choice: Choice) -> Flow<()> {
    match instr {
        Instr::B2rResult { rd, pu } => b2r_result(world, who, rd, pu.as_ref()),
        Instr::B2rBar { rd, id } => b2r_bar(world, who, rd, id),
        Instr::B2rWarp { rd, id } => b2r_warp(world, who, rd, id.as_ref()),
        Instr::R2bBar { id, ra } => r2b_bar(world, who, id, ra),
        Instr::R2bWarp { id, ra } => r2b_warp(world, who, id.as_ref(), ra),
        _ => arrive(world, who, instr, choice),
    }
}

fn class(doing: Doing) -> Option<RedOp> {
    match doing {
        Doing::Red(op) => Some(op),
        Doing::Arv | Doing::Sync => None,
    }
}

fn check_against(barriers: &Barriers, request: &Request) -> Flow<()> {
    let class = class(request.doing);
    let active = barriers.active.get(&request.id);
    let used = barriers.used_by_red.get(&request.id);
    let mixed_before = used.is_some_and(|&red| red != class.is_some());
    let mixed_now = active.is_some_and(|a| a.state.class.is_some() != class.is_some());
    if mixed_before || mixed_now {
        return Err(Halt::Rule("mixed-red"));
    }
    let Some(active) = active else {
        return Ok(());
    };
    if active.state.class != class {
        return Err(Halt::Rule("mixed-red-op"));
    }
    if active.state.count != request.count {
        return Err(Halt::Rule("count-mismatch"));
    }
    Ok(())
}

fn arrive(world: &mut World<'_>, who: Who, instr: &Instr, choice: Choice) -> Flow<()> {
    let warp = who.agent;
    let request = request(world.code, warp, world.see(who), instr, choice)?;
    check_against(barriers(world), &request)?;
    if request.truncated {
        world.note("register-truncated");
    }
    let class = class(request.doing);
    let knowledge = world.state.memory.agents[warp].clone();
    let mut knows = knowledge.known;
    if request.doing == Doing::Arv {
        // ARV is no memory barrier: it carries what an earlier one has published.
        knows.memory = knowledge.published;
    }
    let barriers = barriers(world);
    barriers.used_by_red.insert(request.id, class.is_some());
    let active = barriers.active.entry(request.id).or_insert(Active {
        state: BarState { count: request.count, class, number: 0, tally: None },
        participants: BTreeSet::new(),
        waiting: BTreeSet::new(),
        parcel: Parcel::default(),
    });
    let repeated = !active.participants.insert(warp);
    active.state.number += 32;
    active.parcel.add(&knows);
    if let Some(op) = class {
        active.state.tally = combine(op, active.state.tally, request.tally);
    }
    if request.doing != Doing::Arv {
        active.waiting.insert(warp);
    }
    if repeated {
        world.note("repeated-arrival");
    }
    if request.doing == Doing::Arv {
        advance(world.fragment(who));
    } else {
        world.fragment(who).status = Status::Waiting;
    }
    complete_if_due(world, request.id);
    Ok(())
}

fn complete_if_due(world: &mut World<'_>, id: i64) {
    let Some(active) = barriers(world).active.get(&id).cloned() else {
        return;
    };
    let agents = &world.state.agents;
    let exited = agents.iter().filter(|a| a.exited()).count() as i64;
    let due = match active.state.count {
        0 => active.state.number + 32 * exited == 32 * agents.len() as i64,
        count => active.state.number == count,
    };
    if !due {
        return;
    }
    barriers(world).active.remove(&id);
    if active.waiting.is_empty() {
        world.note("nobody-waits");
    }
    let mut parcel = active.parcel;
    if active.state.count == 0 {
        parcel.time.extend(left_behind(world, 0..world.state.agents.len()));
    }
    for &warp in &active.waiting {
        if let Some(op) = active.state.class {
            hand_out(world, warp, op, &active.state);
        }
        learn(world, warp, &parcel);
        let knowledge = &mut world.state.memory.agents[warp];
        knowledge.published = knowledge.known.memory.clone();
        for fragment in &mut world.agent(warp).fragments {
            if fragment.status == Status::Waiting {
                fragment.status = Status::Running;
                advance(fragment);
            }
        }
    }
}

/// Gives a warp its copy of a completed reduction.
fn hand_out(world: &mut World<'_>, warp: AgentId, op: RedOp, state: &BarState) {
    let copy = WarpCopy {
        result: state.tally.expect("a reduction has a result"),
        op,
        fetched: false,
        state: state.clone(),
    };
    let previous = barriers(world).copies.insert(warp, copy);
    if previous.is_some_and(|p| !p.fetched) {
        world.note("result-overwritten");
    }
}

pub fn after_exit(world: &mut World<'_>, warp: AgentId) {
    if world.state.agents[warp].exited() {
        barriers(world).copies.remove(&warp);
        let ids: Vec<i64> = barriers(world).active.keys().copied().collect();
        for id in ids {
            if barriers(world).active.get(&id).is_some_and(|a| a.state.count == 0) {
                complete_if_due(world, id);
            }
        }
    }
}

fn write_all(world: &mut World<'_>, who: Who, name: &Name, value: &Value) -> Flow<()> {
    let fragment = world.fragment(who);
    for lane in fragment.lane_set() {
        assign(Target::Bcu, fragment, lane, name, value.clone())?;
    }
    Ok(())
}

fn b2r_result(world: &mut World<'_>, who: Who, rd: &Name, pu: Option<&Name>) -> Flow<()> {
    let keeps_number = **rd != *"RZ";
    let pu = pu.filter(|pu| ***pu != *"PT");
    let copy = barriers(world).copies.get_mut(&who.agent);
    let Some(copy) = copy else {
        if keeps_number || pu.is_some() {
            return Err(Halt::Rule("undefined-result"));
        }
        advance(world.fragment(who));
        return Ok(());
    };
    let counted = copy.op == RedOp::Popc;
    if (keeps_number && !counted) || (pu.is_some() && counted) {
        return Err(Halt::Rule("undefined-result"));
    }
    copy.fetched = true;
    let value = Value::Int(copy.result);
    if keeps_number {
        write_all(world, who, rd, &value)?;
    }
    if let Some(pu) = pu {
        write_all(world, who, pu, &value)?;
    }
    advance(world.fragment(who));
    Ok(())
}

/// An immediate id, checked.
fn immediate(world: &World<'_>, who: Who, id: Option<&Expr>) -> Flow<i64> {
    let Some(id) = id else {
        return Ok(0);
    };
    let values = eval_lanes(world.code, who.agent, world.see(who), id)?;
    let id = values[0].1;
    if (0..16).contains(&id) { Ok(id) } else { Err(Halt::Rule("barrier-id-range")) }
}

fn b2r_bar(world: &mut World<'_>, who: Who, rd: &Name, id: &Expr) -> Flow<()> {
    let id = immediate(world, who, Some(id))?;
    let state = barriers(world).active.get(&id).map(|a| a.state.clone());
    write_all(world, who, rd, &Value::BarState(state))?;
    advance(world.fragment(who));
    Ok(())
}

fn b2r_warp(world: &mut World<'_>, who: Who, rd: &Name, id: Option<&Expr>) -> Flow<()> {
    immediate(world, who, id)?;
    let Some(copy) = barriers(world).copies.get_mut(&who.agent) else {
        return Err(Halt::Rule("undefined-result"));
    };
    copy.fetched = true;
    let value = Value::WarpState(copy.clone());
    write_all(world, who, rd, &value)?;
    advance(world.fragment(who));
    Ok(())
}

/// The one value that all lanes of the fragment have in a register.
fn same_value(world: &World<'_>, who: Who, name: &Name) -> Flow<Value> {
    let mut values = Vec::new();
    for scene in scenes(who.agent, world.see(who)) {
        values.push(lookup(scene, name)?);
    }
    if values.iter().any(|v| *v != values[0]) {
        return Err(Halt::NotModelled("lanes put back different states"));
    }
    Ok(values.swap_remove(0))
}

fn r2b_bar(world: &mut World<'_>, who: Who, id: &Expr, ra: &Name) -> Flow<()> {
    let value = same_value(world, who, ra)?;
    let id = immediate(world, who, Some(id))?;
    let Value::BarState(new) = value else {
        return Err(Halt::NotModelled("a barrier's state made up by the program"));
    };
    let now = barriers(world).active.get(&id).map(|a| a.state.clone());
    if now != new {
        if now.is_some() {
            return Err(Halt::Rule("state-clobbered"));
        }
        if let Some(state) = new {
            let active = Active {
                state,
                participants: BTreeSet::new(),
                waiting: BTreeSet::new(),
                parcel: Parcel::default(),
            };
            barriers(world).active.insert(id, active);
        }
    }
    advance(world.fragment(who));
    Ok(())
}

fn r2b_warp(world: &mut World<'_>, who: Who, id: Option<&Expr>, ra: &Name) -> Flow<()> {
    let value = same_value(world, who, ra)?;
    immediate(world, who, id)?;
    let Value::WarpState(copy) = value else {
        return Err(Halt::NotModelled("a reduction's result made up by the program"));
    };
    barriers(world).copies.insert(who.agent, copy);
    advance(world.fragment(who));
    Ok(())
}

/// Whether more fragments stand at an arrival than a generation has room for.
pub fn arrival_race(world: &World<'_>) -> bool {
    let AllBarriers::Bcu(barriers) = &world.state.barriers else {
        unreachable!("a bcu protocol has bcu barriers");
    };
    let mut standing: BTreeMap<(i64, i64), i64> = BTreeMap::new();
    for (warp, agent) in world.state.agents.iter().enumerate() {
        if agent.waits() {
            continue;
        }
        for fragment in &agent.fragments {
            if fragment.status != Status::Running {
                continue;
            }
            if let Point::At(stmt) = point(world.code, fragment)
                && let Kind::Instr(
                    instr @ (Instr::BarSync { .. }
                    | Instr::BarArv { .. }
                    | Instr::BarRed { .. }
                    | Instr::BarRedPacked { .. }),
                ) = &stmt.kind
                && let Ok(request) = request(world.code, warp, fragment, instr, Choice::None)
            {
                *standing.entry((request.id, request.count)).or_default() += 1;
            }
        }
    }
    standing.iter().any(|(&(id, count), &fragments)| {
        let room = match barriers.active.get(&id) {
            Some(active) if active.state.count != count => return false,
            _ if count == 0 => return false,
            Some(active) => (active.state.count - active.state.number) / 32,
            None => count / 32,
        };
        fragments > room
    })
}
