//! What instructions leave pending on mbarrier objects: copies, commits, and the arrivals of `cp.async`. It
//! lands at any later time.

use super::fills;
use super::mbarrier::*;
use super::memory::{self, Access, Location, Parcel};
use super::protocol::*;
use super::state::{AgentId, Flow, Halt, Who, World};
use super::stores;

/// What happens when it lands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Landing {
    /// Bytes have come, with what they have written and, in time, what their warp knew when it left them.
    Bytes(i64, Parcel),
    /// Arrivals, with what their warp knew when it left them.
    Arrivals(i64, Parcel),
}

/// Something that has yet to land.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pending {
    pub object: ObjectId,
    /// The parity of the object's phase when it was left.
    parity: bool,
    pub agent: AgentId,
    /// It reads the memory of its agent's CTA.
    reads: bool,
    landing: Landing,
}

impl Pending {
    pub fn parcel(&mut self) -> &mut Parcel {
        match &mut self.landing {
            Landing::Bytes(_, parcel) | Landing::Arrivals(_, parcel) => parcel,
        }
    }
}

/// A copy, or what is like one.
pub struct Copying<'a> {
    pub bytes: &'a Expr,
    pub to: Option<&'a Place>,
    pub from: Option<&'a Place>,
    pub kind: AccessKind,
    /// It is of the proxy of bulk copies.
    pub is_bulk: bool,
}

impl<'a> Copying<'a> {
    /// What an instruction begins that lands as bytes, if it does.
    pub fn of(act: &'a Act) -> Option<Self> {
        let (kind, from, is_bulk) = (AccessKind::Copy, None, true);
        Some(match act {
            Act::Copy(bytes, to) => Copying { bytes, to: to.as_ref(), from, kind, is_bulk },
            Act::Send(sent, bytes, to) => {
                let kind = match sent {
                    Sent::Value => AccessKind::Copy,
                    Sent::Reduction => AccessKind::Reduction,
                };
                Copying { bytes, to: Some(to), from, kind, is_bulk: false }
            }
            Act::Between { bytes, to, from, .. } => {
                Copying { bytes, to: Some(to), from: Some(from), kind, is_bulk }
            }
            _ => return None,
        })
    }
}

/// Whether something is on its way to a CTA that one of its own agents has sent, or reads its memory.
pub fn left_in_flight(world: &World<'_>, cta: usize, commits: bool) -> bool {
    let own = |p: &Pending| {
        let sent = world.protocol().cta_of(p.agent) == cta;
        sent && (p.reads || cta_of(world, p.object) == cta)
    };
    let kind = |p: &&Pending| matches!(p.landing, Landing::Arrivals(..)) == commits;
    world.state.objects.pending.iter().filter(kind).any(own)
}

fn place(world: &World<'_>, who: Who, place: &Place, cta: usize) -> Flow<Location> {
    let there = &world.protocol().arrays[place.0];
    let index = element(world, who, place.1.as_ref(), there.len)?;
    let cta = if there.space == Space::Global { 0 } else { cta };
    Ok(Location { cta, array: place.0, index })
}

/// A copy begins. It reads its source and writes its destination at some time from now on.
pub fn copy(world: &mut World<'_>, who: Who, object: ObjectId, copying: &Copying<'_>) -> Flow<()> {
    let agent = who.agent;
    let lanes = world.see(who).lanes.len() as i64;
    let bytes = lanes * number_in(world, who, copying.bytes, 0, "tx-range")?;
    let (here, there) = (world.protocol().cta_of(agent), cta_of(world, object));
    let to = copying.to.map(|to| place(world, who, to, there)).transpose()?;
    let from = copying.from.map(|from| place(world, who, from, here)).transpose()?;
    let parity = life(world, object)?.parity();
    let mut accesses = Vec::new();
    for (location, kind) in [(from, AccessKind::Source), (to, copying.kind)] {
        if let Some(location) = location {
            if copying.is_bulk {
                stores::check_proxies(world, agent, location);
            }
            accesses.push(memory::access_one(world, agent, kind, location));
        }
    }
    // The write may have put an end to what was remembered of the read.
    accesses.retain(|access| world.state.memory.latest.contains(access));
    // Whatever came before the issue comes before the landing.
    let mut time = world.state.memory.agents[agent].known.time.clone();
    time.extend(&accesses);
    let parcel = Parcel { time, memory: accesses.into_iter().collect(), ..Parcel::default() };
    let landing = Landing::Bytes(bytes, parcel);
    world.state.objects.leave(Pending { object, parity, agent, reads: from.is_some(), landing });
    Ok(())
}

/// Each lane of a fragment arrives once what it did before is over.
pub fn commit(world: &mut World<'_>, who: Who, object: ObjectId) -> Flow<()> {
    let parity = life(world, object)?.parity();
    let parcel = world.state.memory.agents[who.agent].known.clone();
    let landing = Landing::Arrivals(world.see(who).lanes.len() as i64, parcel);
    world.state.objects.leave(Pending { object, parity, agent: who.agent, reads: false, landing });
    Ok(())
}

/// Each lane of a fragment arrives once the copies by `cp.async` that it has begun are over. The phase waits
/// for these arrivals besides those that it counts anyway, unless they are counted among them.
pub fn fill_arrive(world: &mut World<'_>, who: Who, object: ObjectId, counted: bool) -> Flow<()> {
    let lanes = world.see(who).lanes.len() as i64;
    let life = life(world, object)?;
    if !counted {
        life.expect_more(lanes)?;
    }
    let parity = life.parity();
    let covered: Vec<Access> = fills::cover(world, who, object).into_iter().collect();
    let mut parcel = world.state.memory.agents[who.agent].known.clone();
    // The arrival says that copies are over, and nothing of what threads have written.
    if world.code.overview.fills {
        parcel.only_in_time();
    }
    parcel.time.extend(&covered);
    parcel.memory.extend(&covered);
    let landing = Landing::Arrivals(lanes, parcel);
    world.state.objects.leave(Pending { object, parity, agent: who.agent, reads: false, landing });
    Ok(())
}

/// Something pending lands.
pub fn land(world: &mut World<'_>, pending: usize) -> Flow<()> {
    let Pending { object, parity, agent, landing, .. } = world.state.objects.pending.remove(pending);
    reached(world, agent, cta_of(world, object) as i64)?;
    let life = life(world, object).map_err(|_| Halt::Rule("stale-completion"))?;
    if life.parity() != parity {
        return Err(Halt::Rule("stale-completion"));
    }
    match landing {
        Landing::Bytes(bytes, parcel) => {
            life.gathers(&parcel);
            life.count_bytes(-bytes)?;
            complete_if_due(world, object)
        }
        Landing::Arrivals(arrivals, parcel) => {
            arrive(world, object, Arrival { arrivals, bytes: 0, drops: false, may_be_last: true }, &parcel)
        }
    }
}
