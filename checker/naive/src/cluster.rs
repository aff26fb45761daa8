//! The barrier of a cluster: `barrier.cluster.arrive` and `barrier.cluster.wait` of PTX.

use super::fences;
use super::local::advance;
use super::memory::{Parcel, learn, left_behind};
use super::protocol::Instr;
use super::state::{AgentId, Flow, Halt, Status, Who, World};

/// Where an agent stands with the barrier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
enum Standing {
    /// It owes an arrival.
    #[default]
    Out,
    /// It has arrived at what is not complete yet.
    Arrived,
    /// What it arrived at is complete; it has yet to wait, and learns this when it does.
    Passed(Parcel),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    agents: Vec<Standing>,
    /// What has been released by those that have arrived.
    gathered: Parcel,
}

impl State {
    pub fn new(agents: usize) -> Self {
        State { agents: vec![Standing::Out; agents], gathered: Parcel::default() }
    }

    pub fn parcels(&mut self) -> Vec<&mut Parcel> {
        let passed = self.agents.iter_mut().filter_map(|standing| match standing {
            Standing::Passed(parcel) => Some(parcel),
            Standing::Out | Standing::Arrived => None,
        });
        passed.chain([&mut self.gathered]).collect()
    }
}

pub fn execute(world: &mut World<'_>, who: Who, instr: &Instr) -> Flow<()> {
    let (Instr::ClusterArrive { aligned, .. } | Instr::ClusterWait { aligned }) = instr else {
        unreachable!("not an instruction on the barrier of the cluster: {instr:?}");
    };
    if world.see(who).lane_set() != world.lanes_of(who.agent) {
        return Err(if *aligned {
            Halt::Rule("partial-warp")
        } else {
            Halt::NotModelled("lanes come to the barrier of the cluster apart")
        });
    }
    match instr {
        Instr::ClusterArrive { relaxed, .. } => arrive(world, who, *relaxed),
        _ => wait(world, who),
    }
}

fn arrive(world: &mut World<'_>, who: Who, relaxed: bool) -> Flow<()> {
    let parcel = fences::released(world, who.agent, relaxed, world.protocol().cluster > 1);
    let cluster = &mut world.state.cluster;
    if cluster.agents[who.agent] != Standing::Out {
        return Err(Halt::Rule("repeated-arrival"));
    }
    cluster.agents[who.agent] = Standing::Arrived;
    cluster.gathered.add(&parcel);
    advance(world.fragment(who));
    complete_if_due(world);
    Ok(())
}

fn wait(world: &mut World<'_>, who: Who) -> Flow<()> {
    match world.state.cluster.agents[who.agent].clone() {
        Standing::Out => return Err(Halt::Rule("wait-without-arrive")),
        Standing::Arrived => world.fragment(who).status = Status::AtCluster,
        Standing::Passed(parcel) => {
            world.state.cluster.agents[who.agent] = Standing::Out;
            learn(world, who.agent, &parcel);
            advance(world.fragment(who));
        }
    }
    Ok(())
}

fn complete_if_due(world: &mut World<'_>) {
    let everyone = 0..world.state.agents.len();
    let arrived = |a: AgentId| world.state.cluster.agents[a] == Standing::Arrived;
    let begun = everyone.clone().any(arrived);
    if !begun || !everyone.clone().all(|a| arrived(a) || world.state.agents[a].exited()) {
        return;
    }
    let mut parcel = std::mem::take(&mut world.state.cluster.gathered);
    parcel.time.extend(left_behind(world, everyone.clone()));
    for agent in everyone {
        let waiting = (0..world.state.agents[agent].fragments.len())
            .find(|f| world.state.agents[agent].fragments[*f].status == Status::AtCluster);
        world.state.cluster.agents[agent] = match waiting {
            Some(fragment) => {
                let fragment = world.fragment(Who { agent, fragment });
                fragment.status = Status::Running;
                advance(fragment);
                learn(world, agent, &parcel);
                Standing::Out
            }
            None if world.state.agents[agent].exited() => Standing::Out,
            None => Standing::Passed(parcel.clone()),
        };
    }
}

/// An agent may have left: the others no longer wait for it.
pub fn after_exit(world: &mut World<'_>, agent: AgentId) {
    if world.state.agents[agent].exited() {
        if matches!(world.state.cluster.agents[agent], Standing::Passed(_)) {
            world.state.cluster.agents[agent] = Standing::Out;
        }
        complete_if_due(world);
    }
}
