//! Iterations that are counted so that dynamic instances can be told apart (`split_barrier`), brought down
//! again where that tells nothing else apart: so endless loops stay finite.
//!
//! A count is only ever compared with another one: an agent arrives, or waits, and its counts in the loops
//! around must be those of the agents that did so before it in the same generation. All members of a barrier
//! count from the generation that they completed together. Two facts follow.
//!
//! * As long as nobody has arrived in the generation that gathers, or waited for the one before, there is
//!   nothing to compare with but what the members of a role count themselves. If all that may still be in a
//!   loop are in one entry of it (their counts in the loops around it are equal), the same number can be
//!   taken off all of their counts: those that would have become equal still become equal, and no others. One
//!   that may yet enter the loop would begin at 0, so then nothing is taken off.
//! * Once somebody has arrived, whoever has not must arrive in the very same instance, or the path ends
//!   there. Loops that are not around its statement cannot lead there, and neither does a loop whose count
//!   has passed the one arrived with, since that grows until the loop is left, when the count of a loop
//!   around it grows; the loops within one that differs begin anew before it does not. So *passed* is one
//!   more than the count arrived with, and of what does not matter no more than 1 is kept.
//!
//! Both are done where a count comes to 2 or more: protocols that arrive in every iteration never get there,
//! and what their steps do is about the agent alone.

use super::{Machine, State};
use crate::agent::Config;
use crate::barrier::{Instance, Workgroup};
use crate::program::{AgentId, ConstructId, Scope};

/// Counts up to this one are left as they are.
const NEAR: u32 = 1;

impl Machine {
    /// Brings down what an agent counts, with what others count. Says whether there was anything to look at:
    /// then what becomes of the agent may depend on others.
    // clause: barcheck.same-instance
    pub(super) fn settle_iterations<K>(&mut self, state: &mut State<K>, agent: AgentId) -> bool {
        let mut looked = false;
        for scope in [Scope::Workgroup, Scope::Subgroup] {
            if self.config(state, agent).iterations.of(scope).iter().all(|count| *count <= NEAR) {
                continue;
            }
            looked = true;
            if self.is_merged(state, agent) {
                continue;
            }
            let Ok(barrier) = Workgroup::of(&self.program).barrier_of(scope, agent) else { continue };
            let seat = state.agents[agent.index()].seat(barrier);
            let instances = state.barrier(barrier).map_or([None, None], |barrier| barrier.instances());
            match instances {
                [None, None] => self.take_off(state, agent, scope),
                [Some(there), _] if !seat.arrived && !seat.notified => {
                    let there = there.clone();
                    self.cap(state, agent, scope, &there);
                }
                _ => {}
            }
        }
        looked
    }

    /// Takes the same number off what all agents of a role count in a loop.
    fn take_off<K>(&mut self, state: &mut State<K>, agent: AgentId, scope: Scope) {
        let alike = self.agents_of_role(state, agent, scope);
        if alike.iter().any(|other| self.is_merged(state, *other)) {
            return;
        }
        let loops = self.config(state, agent).iterations.of(scope).len();
        for construct in (0..loops).map(ConstructId::from_index) {
            let Some(least) = self.least(state, (agent, &alike), scope, construct) else { continue };
            for other in least.inside {
                self.recount(state, other, scope, |counts| counts[construct.index()] -= least.count - NEAR);
            }
        }
    }

    /// The least that is counted in a loop, if all that may still count in it are in the same entry, and it
    /// can be brought down.
    fn least<K>(
        &self,
        state: &State<K>,
        (agent, alike): (AgentId, &[AgentId]),
        scope: Scope,
        construct: ConstructId,
    ) -> Option<Least> {
        let role = self.program.agents[agent.index()];
        let (code, facts) = (&self.program.roles[role.index()].code, &self.facts[role.index()]);
        let around = facts.counted_around(code, code.constructs[construct.index()].end, scope);
        let entry = |config: &Config| -> Vec<u32> {
            around.iter().map(|outer| config.iterations.in_loop(scope, *outer)).collect()
        };
        let mine = entry(self.config(state, agent));
        let mut least = Least { count: u32::MAX, inside: Vec::new() };
        for other in alike {
            let config = self.config(state, *other);
            for fragment in &config.fragments {
                let inside = facts.is_inside(code, fragment.pc, construct);
                if !inside && facts.may_enter(fragment.pc, construct) || inside && entry(config) != mine {
                    return None;
                }
                if inside {
                    least.count = least.count.min(config.iterations.in_loop(scope, construct));
                    least.inside.push(*other);
                }
            }
        }
        (NEAR + 1..u32::MAX).contains(&least.count).then_some(least)
    }

    /// Keeps of an agent's counts what can still lead to an instance.
    fn cap<K>(&mut self, state: &mut State<K>, agent: AgentId, scope: Scope, there: &Instance) {
        let role = self.program.agents[agent.index()];
        let (code, facts) = (&self.program.roles[role.index()].code, &self.facts[role.index()]);
        let config = self.config(state, agent);
        let Some(pc) = config.fragments.first().map(|fragment| fragment.pc) else { return };
        let mut most = vec![NEAR; code.constructs.len()];
        if there.role == role {
            let around = facts.counted_around(code, there.statement, scope);
            for (construct, goal) in around.into_iter().zip(&there.iterations) {
                if !facts.is_inside(code, pc, construct) {
                    break;
                }
                let count = config.iterations.in_loop(scope, construct);
                most[construct.index()] = goal.saturating_add(1).max(NEAR);
                if count != *goal {
                    break;
                }
            }
        }
        self.recount(state, agent, scope, |counts| {
            counts.iter_mut().zip(&most).for_each(|(count, most)| *count = (*count).min(*most));
        });
    }

    /// Whether several configurations are still possible: then their counts are left as they are.
    fn is_merged<K>(&self, state: &State<K>, agent: AgentId) -> bool {
        self.automata[self.class(agent)].is_merged(state.agents[agent.index()].config)
    }

    /// Live agents of the same role that share a barrier.
    fn agents_of_role<K>(&self, state: &State<K>, agent: AgentId, scope: Scope) -> Vec<AgentId> {
        let roles = &self.program.agents;
        let shares = |other: &AgentId| {
            roles[other.index()] == roles[agent.index()]
                && (scope == Scope::Workgroup || self.subgroup(*other) == self.subgroup(agent))
        };
        self.agents().filter(shares).filter(|other| !self.config(state, *other).has_exited()).collect()
    }

    /// Changes what an agent counts.
    fn recount<K>(
        &mut self,
        state: &mut State<K>,
        agent: AgentId,
        scope: Scope,
        change: impl FnOnce(&mut Vec<u32>),
    ) {
        let config = &mut state.agents[agent.index()].config;
        let mut counted = self.automata[self.class(agent)].config(*config).clone();
        counted.iterations.change(scope, change);
        let (context, automaton) = self.parts(agent);
        *config = automaton.intern(context, counted);
    }
}

/// The least that agents count in a loop.
struct Least {
    count: u32,
    /// The agents.
    inside: Vec<AgentId>,
}
