//! Decisions that every agent takes alike: the k-th of a sequence is made once.

use super::protocol::*;
use super::state::*;
use std::collections::BTreeMap;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sequence {
    Named(Name),
    At(StmtId),
}

/// Decisions that somebody has consumed and somebody else still can.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Uniform {
    made: BTreeMap<Sequence, Vec<bool>>,
    /// How many of the decisions kept in `made` an agent has consumed.
    taken: BTreeMap<(Sequence, AgentId), usize>,
}

/// The sequence that a statement takes its decisions from.
pub fn sequence(stmt: &Stmt) -> Option<Sequence> {
    match &stmt.kind {
        Kind::While(Cond::Uniform(name), _) | Kind::If(Cond::Uniform(name), _, _) => Some(match name {
            Some(name) => Sequence::Named(name.clone()),
            None => Sequence::At(stmt.id),
        }),
        _ => None,
    }
}

impl Uniform {
    /// The agent's next decision, if somebody has made it already.
    pub fn next(&self, sequence: &Sequence, agent: AgentId) -> Option<bool> {
        let made = self.made.get(sequence)?;
        let taken = self.taken.get(&(sequence.clone(), agent)).unwrap_or(&0);
        made.get(*taken).copied()
    }
}

/// Consumes the agent's next decision, which is this one.
pub fn take(world: &mut World<'_>, sequence: &Sequence, agent: AgentId, decision: bool) {
    let uniform = &mut world.state.uniform;
    let made = uniform.made.entry(sequence.clone()).or_default();
    let taken = uniform.taken.entry((sequence.clone(), agent)).or_insert(0);
    if *taken == made.len() {
        made.push(decision);
    }
    *taken += 1;
}

/// Drops the decisions that nobody can consume any more.
pub fn forget_consumed(world: &mut World<'_>) {
    if world.state.uniform.made.is_empty() {
        return;
    }
    let mut uniform = std::mem::take(&mut world.state.uniform);
    let agents = world.state.agents.len();
    let mut kept = Uniform::default();
    for (sequence, mut made) in std::mem::take(&mut uniform.made) {
        let consumers: Vec<AgentId> =
            (0..agents).filter(|&a| can_consume(world.code, &world.state.agents[a], &sequence)).collect();
        let taken = |a: AgentId| *uniform.taken.get(&(sequence.clone(), a)).unwrap_or(&0);
        let Some(least) = consumers.iter().map(|&a| taken(a)).min() else {
            continue;
        };
        for &a in &consumers {
            if taken(a) > least {
                kept.taken.insert((sequence.clone(), a), taken(a) - least);
            }
        }
        made.drain(..least);
        if !made.is_empty() {
            kept.made.insert(sequence, made);
        }
    }
    world.state.uniform = kept;
}

/// Whether a decision of the sequence lies ahead of an agent, as far as the text can tell.
fn can_consume(code: &Code<'_>, agent: &Agent, wanted: &Sequence) -> bool {
    let here = |stmt: &Stmt| stmt.any(&|s| sequence(s).as_ref() == Some(wanted));
    agent.fragments.iter().any(|fragment| {
        fragment.stack.iter().any(|frame| match frame {
            Frame::List { list, next } => code.list(*list)[*next..].iter().any(here),
            Frame::One(stmt) | Frame::Loop { stmt, .. } => here(code.stmt(*stmt)),
            Frame::Join { .. } => false,
        })
    })
}
