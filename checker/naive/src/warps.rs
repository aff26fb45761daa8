//! What a warp of `ptx` does by itself: its lanes meet (`bar.warp.sync`), it gives registers to its CTA or
//! takes some (`setmaxnreg`), and it minds the grids before and behind it (`griddepcontrol`).

use super::expr::{eval_lanes, eval_same};
use super::local::advance;
use super::protocol::{Expr, Protocol};
use super::state::{Flow, Halt, Lane, Status, Who, World};
use std::collections::BTreeSet;

#[derive(Clone, Debug, PartialEq)]
pub enum Own {
    /// `bar.warp.sync`, with the mask of the lanes that meet.
    Sync(Expr),
    /// `setmaxnreg`, with the registers of each thread from then on.
    Registers { takes: bool, count: Expr },
    /// `griddepcontrol`: the other grid comes to its end by itself.
    Grid { launches: bool },
}

impl Own {
    /// As a protocol has it, where expressions are written by a function.
    pub fn text(&self, e: &dyn Fn(&Expr) -> String) -> String {
        match self {
            Own::Sync(mask) => format!("bar.warp.sync {}", e(mask)),
            Own::Registers { takes: true, count } => format!("setmaxnreg.inc {}", e(count)),
            Own::Registers { takes: false, count } => format!("setmaxnreg.dec {}", e(count)),
            Own::Grid { launches: true } => "griddepcontrol.launch_dependents".into(),
            Own::Grid { launches: false } => "griddepcontrol.wait".into(),
        }
    }
}

/// The registers of the group, counted for one lane of each warp.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Registers {
    /// Of each CTA those that nobody has.
    pools: Vec<i64>,
    /// Those of each agent.
    has: Vec<i64>,
}

/// The registers of a register file, and the most that a thread has.
const FILE: i64 = 65_536;
const MOST: i64 = 256;

impl Registers {
    /// Before the first step.
    pub fn new(protocol: &Protocol) -> Self {
        // As many as there are for all, in steps of eight.
        let threads = 32 * (protocol.per_cta() as i64).max(1);
        let share = (FILE / threads).min(MOST) / 8 * 8;
        let has = protocol.registers.unwrap_or(share);
        Registers { pools: vec![0; protocol.cluster], has: vec![has; protocol.agents()] }
    }
}

pub fn execute(world: &mut World<'_>, who: Who, own: &Own) -> Flow<()> {
    match own {
        Own::Sync(mask) => meet(world, who, mask)?,
        Own::Registers { takes, count } => return change(world, who, *takes, count),
        Own::Grid { .. } => {}
    }
    advance(world.fragment(who));
    Ok(())
}

/// The lanes of a mask meet. What they order among themselves is of no interest: they are one agent.
fn meet(world: &World<'_>, who: Who, mask: &Expr) -> Flow<()> {
    let mask = eval_same(world.code, who.agent, world.see(who), mask)?;
    let is_mask = (0..1_i64 << 32).contains(&mask);
    let is_named = |lane: &Lane| is_mask && mask >> lane & 1 == 1;
    let here = world.see(who).lane_set();
    if !here.iter().all(is_named) {
        return Err(Halt::Rule("partial-warp"));
    }
    let live: BTreeSet<Lane> = world.lanes_of(who.agent);
    if live.difference(&here).any(is_named) {
        return Err(Halt::NotModelled("lanes of a warp meet that have separated"));
    }
    Ok(())
}

/// A warp gives registers to its CTA, or takes some and waits until there are enough.
fn change(world: &mut World<'_>, who: Who, takes: bool, count: &Expr) -> Flow<()> {
    let wants = eval_lanes(world.code, who.agent, world.see(who), count)?[0].1;
    let has = world.state.registers.has[who.agent];
    let its_way = if takes { wants >= has } else { wants <= has };
    if !(24..=256).contains(&wants) || wants % 8 != 0 || !its_way {
        return Err(Halt::Rule("count-range"));
    }
    if world.see(who).lane_set() != world.lanes_of(who.agent) {
        return Err(Halt::Rule("partial-warp"));
    }
    let cta = world.protocol().cta_of(who.agent);
    let lacks = wants - has;
    if lacks > world.state.registers.pools[cta] {
        world.fragment(who).status = Status::Lacking(lacks);
        return Ok(());
    }
    world.state.registers.pools[cta] -= lacks;
    world.state.registers.has[who.agent] = wants;
    advance(world.fragment(who));
    try_again(world, cta);
    Ok(())
}

/// Whoever waits for no more than there is tries again.
fn try_again(world: &mut World<'_>, cta: usize) {
    let free = world.state.registers.pools[cta];
    for agent in 0..world.state.agents.len() {
        if world.protocol().cta_of(agent) != cta {
            continue;
        }
        for fragment in 0..world.state.agents[agent].fragments.len() {
            let who = Who { agent, fragment };
            if matches!(world.see(who).status, Status::Lacking(lacks) if lacks <= free) {
                world.fragment(who).status = Status::Running;
            }
        }
    }
}
