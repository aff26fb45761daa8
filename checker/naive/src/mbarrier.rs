//! mbarrier objects of `ptx`.

use super::expr::eval_same;
use super::fences;
use super::flight::{self, Copying, Pending};
use super::initialised;
use super::local::{Point, advance, point};
use super::memory::{Parcel, learn};
use super::protocol::*;
use super::state::{AgentId, Choice, Flow, Halt, Slot, Status, Value, Who, World};
use std::collections::BTreeSet;

/// The number of an object among those of all names.
pub type ObjectId = usize;

/// The most arrivals and the most bytes that an object counts.
const MOST: i64 = (1 << 20) - 1;

/// An object that has been initialised.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Life {
    expected: i64,
    pending: i64,
    tx: i64,
    /// The parity of the present phase.
    parity: bool,
    /// Whether a wait has seen that the phase before the present one is complete; before the first phase
    /// there is nothing to be seen.
    observed: bool,
    /// What has been released in the present phase.
    gathered: Parcel,
    /// What was released in the phases before it.
    completed: Parcel,
}

impl Life {
    fn new(count: i64) -> Self {
        Life {
            expected: count,
            pending: count,
            tx: 0,
            parity: false,
            observed: true,
            gathered: Parcel::default(),
            completed: Parcel::default(),
        }
    }

    pub fn parity(&self) -> bool {
        self.parity
    }

    /// The present phase waits for more arrivals.
    pub fn expect_more(&mut self, arrivals: i64) -> Flow<()> {
        self.pending += arrivals;
        if self.pending > MOST { Err(Halt::Rule("count-range")) } else { Ok(()) }
    }

    pub fn gathers(&mut self, parcel: &Parcel) {
        self.gathered.add(parcel);
    }

    pub fn count_bytes(&mut self, bytes: i64) -> Flow<()> {
        self.tx += bytes;
        if self.tx.abs() > MOST { Err(Halt::Rule("tx-range")) } else { Ok(()) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// None where an object is not live.
    objects: Vec<Option<Life>>,
    /// In order, so that equal ones stand together.
    pub pending: Vec<Pending>,
}

impl State {
    /// Before the first step.
    pub fn new(protocol: &Protocol) -> Self {
        let of_a_cta = protocol.objects.iter().flat_map(|objects| {
            let len = objects.len.unwrap_or(1);
            (0..len).map(|_| objects.count.map(Life::new))
        });
        let of_a_cta: Vec<_> = of_a_cta.collect();
        State { objects: vec![of_a_cta; protocol.cluster].concat(), pending: Vec::new() }
    }

    /// Whether the present phase of some object has begun.
    pub fn hold_arrivals(&self) -> bool {
        self.objects.iter().flatten().any(|life| life.pending != life.expected || life.tx != 0)
    }

    pub fn parcels(&mut self) -> Vec<&mut Parcel> {
        let lives = self.objects.iter_mut().flatten();
        let of_lives = lives.flat_map(|life| [&mut life.gathered, &mut life.completed]);
        of_lives.chain(self.pending.iter_mut().map(Pending::parcel)).collect()
    }

    /// Equal ones stand together.
    pub fn sort(&mut self) {
        self.pending.sort();
    }

    pub fn leave(&mut self, pending: Pending) {
        self.pending.push(pending);
        self.sort();
    }
}

pub fn life<'a>(world: &'a mut World<'_>, object: ObjectId) -> Flow<&'a mut Life> {
    world.state.objects.objects[object].as_mut().ok_or(Halt::Rule("mbarrier-not-live"))
}

/// The value of an operand, the same for all lanes of the fragment.
fn value(world: &World<'_>, who: Who, expr: &Expr) -> Flow<i64> {
    eval_same(world.code, who.agent, world.see(who), expr)
}

pub fn number_in(world: &World<'_>, who: Who, expr: &Expr, least: i64, rule: &'static str) -> Flow<i64> {
    let number = value(world, who, expr)?;
    if (least..=MOST).contains(&number) { Ok(number) } else { Err(Halt::Rule(rule)) }
}

pub fn element(world: &World<'_>, who: Who, index: Option<&Expr>, len: Option<i64>) -> Flow<i64> {
    let index = index.map_or(Ok(0), |index| value(world, who, index))?;
    if (0..len.unwrap_or(1)).contains(&index) {
        Ok(index)
    } else {
        Err(Halt::EvalError("index outside its array".into()))
    }
}

fn object(world: &World<'_>, who: Who, on: &Mbarrier) -> Flow<ObjectId> {
    let all = &world.protocol().objects;
    let before: i64 = all[..on.objects].iter().map(|objects| objects.len.unwrap_or(1)).sum();
    let index = element(world, who, on.index.as_ref(), all[on.objects].len)?;
    let cta = match &on.cta {
        Some(cta) => reached(world, who.agent, value(world, who, cta)?)?,
        None => world.protocol().cta_of(who.agent),
    };
    let of_a_cta: i64 = all.iter().map(|objects| objects.len.unwrap_or(1)).sum();
    Ok((cta as i64 * of_a_cta + before + index) as ObjectId)
}

/// The CTA of an object, the number of its name, and its index.
pub fn place_of(protocol: &Protocol, object: ObjectId) -> (usize, usize, i64) {
    let len = |objects: &Objects| objects.len.unwrap_or(1) as usize;
    let of_a_cta: usize = protocol.objects.iter().map(len).sum();
    let mut index = object % of_a_cta;
    for (name, objects) in protocol.objects.iter().enumerate() {
        if index < len(objects) {
            return (object / of_a_cta, name, index as i64);
        }
        index -= len(objects);
    }
    unreachable!("every object has a name")
}

/// The CTA of a rank, if it can be reached from an agent.
pub fn reached(world: &World<'_>, from: AgentId, rank: i64) -> Flow<usize> {
    if !(0..world.protocol().cluster as i64).contains(&rank) {
        return Err(Halt::EvalError("no such CTA".into()));
    }
    let cta = rank as usize;
    // Who reaches for its own CTA has not exited.
    if cta != world.protocol().cta_of(from) && world.cta_exited(cta) {
        return Err(Halt::Rule("remote-after-exit"));
    }
    Ok(cta)
}

/// The CTA to which an object belongs.
pub fn cta_of(world: &World<'_>, object: ObjectId) -> usize {
    object * world.protocol().cluster / world.state.objects.objects.len()
}

/// The lanes of a fragment execute an instruction on an object, each by itself and all in one step.
pub fn execute(world: &mut World<'_>, who: Who, on: &Mbarrier) -> Flow<()> {
    let object = object(world, who, on)?;
    let lanes = world.see(who).lanes.len() as i64;
    initialised::used(world, who.agent, object);
    match &on.act {
        Act::Init(count) => {
            let count = number_in(world, who, count, 1, "count-range")?;
            let place = &mut world.state.objects.objects[object];
            // The second lane finds what the first has made.
            if place.is_some() || lanes > 1 {
                return Err(Halt::Rule("mbarrier-live"));
            }
            *place = Some(Life::new(count));
            initialised::changed(world, who.agent, object);
        }
        Act::Inval => {
            invalidate(world, object, lanes)?;
            initialised::changed(world, who.agent, object);
        }
        Act::Arrive { .. } => arrive_by(world, who, object, &on.act)?,
        Act::ExpectTx(bytes) => {
            let bytes = number_in(world, who, bytes, 0, "tx-range")?;
            life(world, object)?.count_bytes(lanes * bytes)?;
            complete_if_due(world, object)?;
        }
        Act::CompleteTx(bytes) => {
            let bytes = number_in(world, who, bytes, 0, "tx-range")?;
            life(world, object)?.count_bytes(-lanes * bytes)?;
            complete_if_due(world, object)?;
        }
        Act::Wait(parity) => return wait(world, who, (object, on.gains), &Phase::Parity(parity.clone())),
        Act::WaitToken(token) => return wait(world, who, (object, on.gains), &Phase::Token(token.clone())),
        Act::AskUntil(_, of) => return wait(world, who, (object, on.gains), of),
        Act::Copy(..) | Act::Send(..) | Act::Between { .. } => {
            let copying = Copying::of(&on.act).expect("it is a copy");
            flight::copy(world, who, object, &copying)?;
        }
        Act::Commit => flight::commit(world, who, object)?,
        Act::FillArrive { counted, .. } => flight::fill_arrive(world, who, object, *counted)?,
        Act::Ask { .. } | Act::Multicast(..) | Act::CommitAll(_) | Act::Cancel { .. } => {
            unreachable!("no such step")
        }
    }
    advance(world.fragment(who));
    Ok(())
}

/// The lanes of a fragment arrive.
fn arrive_by(world: &mut World<'_>, who: Who, object: ObjectId, act: &Act) -> Flow<()> {
    let Act::Arrive { count, bytes, drops, no_complete, relaxed, scope } = act else {
        unreachable!("not an arrival: {act:?}");
    };
    let lanes = world.see(who).lanes.len() as i64;
    let number = |n: &Option<Expr>, otherwise, least, rule| match n {
        Some(n) => number_in(world, who, n, least, rule),
        None => Ok(otherwise),
    };
    let arrivals = lanes * number(count, 1, 1, "count-range")?;
    let bytes = lanes * number(bytes, 0, 0, "tx-range")?;
    let elsewhere = cta_of(world, object) != world.protocol().cta_of(who.agent);
    let mut parcel = fences::released(world, who.agent, *relaxed, elsewhere);
    // It tells nobody there, whatever fence stands before it.
    if elsewhere && *scope == Some(Reach::Cta) {
        parcel.only_in_time();
    }
    arrive(world, object, Arrival { arrivals, bytes, drops: *drops, may_be_last: !no_complete }, &parcel)
}

fn invalidate(world: &mut World<'_>, object: ObjectId, lanes: i64) -> Flow<()> {
    life(world, object)?;
    // The second lane finds nothing left, whether or not the first would have been wrong.
    if lanes > 1 {
        return Err(Halt::Rule("mbarrier-not-live"));
    }
    let flies = world.state.objects.pending.iter().any(|pending| pending.object == object);
    if !waiters(world, object).is_empty() || flies {
        return Err(Halt::Rule("mbarrier-live"));
    }
    world.state.objects.objects[object] = None;
    for _ in 0..2 {
        outdate_tokens(world, object);
    }
    Ok(())
}

pub struct Arrival {
    pub arrivals: i64,
    pub bytes: i64,
    pub drops: bool,
    /// It may be the last one of its phase.
    pub may_be_last: bool,
}

pub fn arrive(world: &mut World<'_>, object: ObjectId, arrival: Arrival, parcel: &Parcel) -> Flow<()> {
    let life = life(world, object)?;
    let Arrival { arrivals, bytes, drops, may_be_last } = arrival;
    if drops && life.expected <= arrivals {
        return Err(Halt::Rule("over-arrival"));
    }
    if !life.observed {
        return Err(Halt::Rule("unobserved-phase"));
    }
    if life.pending < arrivals {
        return Err(Halt::Rule("over-arrival"));
    }
    life.count_bytes(bytes)?;
    if drops {
        life.expected -= arrivals;
    }
    life.pending -= arrivals;
    life.gathered.add(parcel);
    if !may_be_last && life.pending == 0 && life.tx == 0 {
        return Err(Halt::Rule("no-complete"));
    }
    complete_if_due(world, object)
}

/// The fragments that wait on an object.
fn waiters(world: &World<'_>, object: ObjectId) -> Vec<Who> {
    let mut all = Vec::new();
    for (agent, it) in world.state.agents.iter().enumerate() {
        for (fragment, f) in it.fragments.iter().enumerate() {
            if f.status == Status::Awaiting(object) {
                all.push(Who { agent, fragment });
            }
        }
    }
    all
}

pub fn complete_if_due(world: &mut World<'_>, object: ObjectId) -> Flow<()> {
    let waiters = waiters(world, object);
    let life = life(world, object)?;
    if life.pending > 0 || life.tx > 0 {
        return Ok(());
    }
    if life.tx < 0 {
        return Err(Halt::Rule("over-delivery"));
    }
    life.parity = !life.parity;
    life.pending = life.expected;
    life.observed = !waiters.is_empty();
    let gathered = std::mem::take(&mut life.gathered);
    life.completed.add(&gathered);
    let completed = life.completed.clone();
    outdate_tokens(world, object);
    for who in waiters {
        world.log.passed.insert(who.agent);
        gain(world, who.agent, object, gains_at(world, who), &completed);
        let fragment = world.fragment(who);
        fragment.status = Status::Running;
        advance(fragment);
    }
    Ok(())
}

/// What the wait gains at which a fragment stands.
fn gains_at(world: &World<'_>, who: Who) -> Gains {
    match point(world.code, world.see(who)) {
        Point::At(stmt) => stmt.on().map_or(Gains::All, |on| on.gains),
        _ => unreachable!("it waits at a statement"),
    }
}

/// Who has seen that a phase is complete knows what it carries: in time at once, in memory perhaps from the
/// next fence on that reaches as far as those who arrive on the object.
fn gain(world: &mut World<'_>, agent: AgentId, object: ObjectId, gains: Gains, carried: &Parcel) {
    if gains == Gains::All {
        return learn(world, agent, carried);
    }
    let (_, name, _) = place_of(world.protocol(), object);
    let is_far = world.code.overview.reached[name];
    let it = &mut world.state.memory.agents[agent];
    it.known.time.extend(&carried.time);
    let heard = if is_far { &mut it.heard_far } else { &mut it.heard_near };
    heard.memory.extend(&carried.memory);
    heard.fenced.extend(&carried.fenced);
}

/// Whether a phase of an object is complete.
fn complete(world: &mut World<'_>, who: Who, object: ObjectId, phase: &Phase) -> Flow<bool> {
    match phase {
        Phase::Parity(parity) => {
            let asked = match value(world, who, parity)? {
                0 => false,
                1 => true,
                _ => return Err(Halt::Rule("parity-range")),
            };
            Ok(asked != life(world, object)?.parity)
        }
        Phase::Token(name) => {
            life(world, object)?;
            let slot = Slot::Var(name.clone());
            let mut ages = BTreeSet::new();
            for locals in world.see(who).lanes.values() {
                ages.insert(match locals.get(&slot) {
                    Some(Value::Token(of, age)) if *of == object => *age,
                    Some(Value::Token(..)) => 2,
                    _ => return Err(Halt::EvalError("no token".into())),
                });
            }
            match ages.into_iter().collect::<Vec<_>>()[..] {
                [0] => Ok(false),
                [1] => Ok(true),
                [2] => Err(Halt::Rule("stale-token")),
                _ => Err(Halt::NotModelled("lanes have different tokens")),
            }
        }
    }
}

/// An agent has seen that the phase before the present one is complete.
fn observe(world: &mut World<'_>, agent: AgentId, object: ObjectId, gains: Gains) -> Flow<()> {
    let life = life(world, object)?;
    life.observed = true;
    let completed = life.completed.clone();
    gain(world, agent, object, gains, &completed);
    world.log.passed.insert(agent);
    Ok(())
}

fn wait(world: &mut World<'_>, who: Who, (object, gains): (ObjectId, Gains), phase: &Phase) -> Flow<()> {
    let passes = complete(world, who, object, phase)?;
    let code = world.code;
    let others =
        world.state.agents[who.agent].fragments.iter().enumerate().filter(|(f, _)| *f != who.fragment);
    if others.into_iter().any(|(_, f)| !matches!(point(code, f), Point::Join)) {
        return Err(Halt::NotModelled("lanes wait while others of their warp could go on"));
    }
    if passes {
        observe(world, who.agent, object, gains)?;
        advance(world.fragment(who));
    } else {
        world.fragment(who).status = Status::Awaiting(object);
    }
    Ok(())
}

/// One more phase has been completed since the tokens of an object were taken.
fn outdate_tokens(world: &mut World<'_>, object: ObjectId) {
    for agent in 0..world.state.agents.len() {
        let holds = |v: &Value| matches!(v, Value::Token(of, age) if *of == object && *age < 2);
        let mut all = world.state.agents[agent].fragments.iter().flat_map(|f| f.lanes.values());
        if !all.any(|locals| locals.values().any(holds)) {
            continue;
        }
        for fragment in &mut world.agent(agent).fragments {
            for locals in fragment.lanes.values_mut() {
                for value in std::sync::Arc::make_mut(locals).values_mut() {
                    if let Value::Token(of, age) = value
                        && *of == object
                    {
                        *age = (*age + 1).min(2);
                    }
                }
            }
        }
    }
}

/// What can be answered to a question.
pub fn answers(world: &mut World<'_>, who: Who, on: &Mbarrier) -> Flow<Vec<Choice>> {
    let Act::Ask { may_miss, of } = &on.act else {
        return Ok(vec![Choice::None]);
    };
    let object = object(world, who, on)?;
    Ok(match (complete(world, who, object, of)?, may_miss) {
        (false, _) => vec![Choice::Bool(false)],
        (true, false) => vec![Choice::Bool(true)],
        (true, true) => vec![Choice::Bool(false), Choice::Bool(true)],
    })
}

/// A question is answered.
pub fn answered(world: &mut World<'_>, who: Who, on: &Mbarrier, answer: bool) -> Flow<()> {
    let object = object(world, who, on)?;
    initialised::used(world, who.agent, object);
    if answer {
        observe(world, who.agent, object, on.gains)
    } else {
        world.log.denied = Some(who.agent);
        Ok(())
    }
}

/// An arrival whose token is kept under a name.
pub fn arrive_for_token(world: &mut World<'_>, who: Who, name: &Name, on: &Mbarrier) -> Flow<()> {
    let object = object(world, who, on)?;
    let lanes = world.see(who).lane_set();
    let slot = Slot::Var(name.clone());
    // What is kept beside the new token, in another variable or by other lanes, has to be of the same phase.
    let replaced = |lane, s: &Slot| *s == slot && lanes.contains(lane);
    let mut others = world.state.agents[who.agent].fragments.iter().flat_map(|f| f.lanes.iter());
    let is_older = |v: &Value| matches!(v, Value::Token(of, age) if *of == object && *age > 0);
    if others.any(|(lane, l)| l.iter().any(|(s, v)| !replaced(lane, s) && is_older(v))) {
        return Err(Halt::NotModelled("tokens of several phases of one object"));
    }
    let before = life(world, object)?.parity;
    execute(world, who, on)?;
    let age = u8::from(life(world, object)?.parity != before);
    world.fragment(who).set_all(&slot, &Value::Token(object, age));
    Ok(())
}
