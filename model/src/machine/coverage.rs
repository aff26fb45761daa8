//! What the agents of each role can come to, whatever the others do.
//!
//! It is read off their automata, in which every wait may end: more than what happens in any run. So what no
//! automaton comes to is never reached, while what one comes to need not be.

use super::{Automaton, Machine};
use crate::agent::{Action, Trail, counted};
use crate::barrier::BarrierId;
use crate::program::{AgentId, Code, Expr, Op, Pc, RoleId};
use std::collections::{BTreeMap, BTreeSet};

/// How much may be worked out.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Configurations, of all agents together.
    pub configs: usize,
    /// Bytes at a time.
    pub bytes: usize,
    /// Invisible operations, of all agents together.
    pub operations: u64,
}

/// Whether some agent comes to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// One can, as far as it depends on that agent alone.
    Reached,
    /// None does, though it might if a path that ends before went on: a rule is violated there, or something
    /// cannot be evaluated.
    BehindAnEnd,
    /// None does.
    Never,
}

/// What the agents of a role can come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coverage {
    /// Nothing is left out. Otherwise it was too much to be worked out.
    pub complete: bool,
    /// For each operation of the role's code.
    pub reach: Vec<Reach>,
    /// For each instruction on barriers, in the order of the code; those that nobody executes included.
    pub barriers: Vec<Executed>,
    /// For each loop that counts from one number up to another.
    pub rounds: Vec<Rounds>,
}

/// By whom an instruction on barriers can be executed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executed {
    /// The instruction.
    pub pc: Pc,
    /// The agents.
    pub agents: BTreeSet<AgentId>,
    /// The barriers on which it is executed; none for one that concerns none, or whose operands are refused.
    pub barriers: BTreeSet<BarrierId>,
}

/// How many rounds of a loop that counts are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// The test at its head.
    pub test: Pc,
    /// The most that any agent begins, each time that it comes to the loop.
    pub made: u64,
    /// As many as there are from the first number to the last.
    pub written: u64,
}

/// What is known of a role on the way.
struct Role {
    trail: Trail,
    complete: bool,
    /// Where a path may end.
    ends: BTreeSet<Pc>,
    executed: BTreeMap<Pc, Executed>,
}

impl Machine {
    /// What the agents of each role can come to, by role. Unless it is to be `whole`, a role is left as soon
    /// as its agents have come to everything: who executes what is then not complete. `goes_on` is asked for
    /// every configuration. The automata worked out so far are forgotten, and states lose their meaning.
    pub fn coverage(
        &mut self,
        bounds: Bounds,
        whole: bool,
        goes_on: &mut dyn FnMut() -> bool,
    ) -> Vec<Coverage> {
        let program = self.program.clone();
        let role = |code| Role {
            trail: Trail::new(code),
            complete: true,
            ends: BTreeSet::new(),
            executed: BTreeMap::new(),
        };
        let mut roles: Vec<Role> = program.roles.iter().map(|known| role(&known.code)).collect();
        let mut left = bounds;
        for class in 0..self.automata.len() {
            let agent = self.automata[class].representative();
            let id = program.agents[agent.index()];
            self.automata[class] = Automaton::new(agent);
            let role = &mut roles[id.index()];
            if (role.trail.is_complete() && !whole) || !role.complete {
                continue;
            }
            let before = role.trail.operations();
            let trail = &role.trail;
            let unfolded = self.unfold_along(class, left.configs, Some(trail), &mut |automaton| {
                let enough = trail.is_complete() && !whole;
                let spent = trail.operations() - before;
                !enough && spent <= left.operations && automaton.bytes() <= left.bytes && goes_on()
            });
            role.complete = unfolded.is_ok() || (trail.is_complete() && !whole);
            left.operations = left.operations.saturating_sub(role.trail.operations() - before);
            left.configs = left.configs.saturating_sub(self.automata[class].len());
            self.gather(class, id, role);
            self.automata[class] = Automaton::new(agent);
        }
        let coverage = |(role, known): (Role, &crate::program::Role)| role.coverage(&known.code);
        roles.into_iter().zip(&program.roles).map(coverage).collect()
    }

    /// Notes what the agents of a class, whose automaton has been worked out, execute.
    fn gather(&self, class: usize, id: RoleId, role: &mut Role) {
        let automaton = &self.automata[class];
        let agents: Vec<AgentId> = self.alike(automaton.representative()).collect();
        let code = &self.program.roles[id.index()].code;
        for config in automaton.configs() {
            role.ends.extend(automaton.config(config).fault.as_ref().map(|fault| fault.at));
            for made in automaton.moves(config) {
                let ends = matches!(
                    made.action,
                    Action::Refuse(..) | Action::Fault(_) | Action::NotModelled(_) | Action::Assert(false)
                );
                role.ends.extend(ends.then_some(made.pc));
                if matches!(code.ops[made.pc.index()], Op::Barrier(_)) {
                    let executed = role.executed.entry(made.pc).or_default();
                    executed.agents.extend(&agents);
                    executed.barriers.extend(made.action.barrier());
                }
            }
        }
    }
}

impl Role {
    fn coverage(self, code: &Code) -> Coverage {
        let Self { trail, complete, ends, mut executed } = self;
        let mut reach: Vec<Reach> = (0..code.ops.len())
            .map(|pc| if trail.is_reached(Pc::from_index(pc)) { Reach::Reached } else { Reach::Never })
            .collect();
        let mut open: Vec<Pc> = ends.into_iter().flat_map(|end| code.follow(end)).collect();
        let mut seen = BTreeSet::new();
        while let Some(pc) = open.pop() {
            if seen.insert(pc) {
                open.extend(code.follow(pc));
                let reach = &mut reach[pc.index()];
                *reach = if *reach == Reach::Never { Reach::BehindAnEnd } else { *reach };
            }
        }
        let barrier = |(pc, op): (usize, &Op)| {
            let pc = Pc::from_index(pc);
            let executed = matches!(op, Op::Barrier(_)).then(|| executed.remove(&pc).unwrap_or_default());
            executed.map(|executed| Executed { pc, ..executed })
        };
        let barriers = code.ops.iter().enumerate().filter_map(barrier).collect();
        let rounds = (0..code.ops.len()).filter_map(|pc| rounds(code, Pc::from_index(pc), &trail)).collect();
        Coverage { complete, reach, barriers, rounds }
    }
}

/// The rounds of the loop whose test is this operation, if it is one and counts between numbers.
fn rounds(code: &Code, test: Pc, trail: &Trail) -> Option<Rounds> {
    let (local, end) = counted(&code.ops[test.index()])?;
    // Where a loop is entered stands between its first value and its test.
    let first = match code.ops.get(test.index().checked_sub(2)?)? {
        Op::Set(set, Expr::Int(first)) if set.index() == local => *first,
        _ => return None,
    };
    let made = trail.greatest(test).filter(|_| trail.is_reached(test)).map_or(0, |last| {
        last.checked_sub(first).and_then(|steps| u64::try_from(steps).ok()).map_or(0, |steps| steps + 1)
    });
    let written = if end > first { end.abs_diff(first) } else { 0 };
    Some(Rounds { test, made, written })
}

impl Code {
    /// The operations that may follow one, if it is executed.
    fn follow(&self, pc: Pc) -> Vec<Pc> {
        let next = Pc(pc.0 + 1);
        let end = |construct: &crate::program::ConstructId| self.constructs[construct.index()].end;
        let mut follow = match &self.ops[pc.index()] {
            Op::Exit => Vec::new(),
            Op::Branch { otherwise, .. } => vec![next, *otherwise],
            Op::Test { construct, .. } => vec![next, end(construct)],
            Op::Jump(to) | Op::Back(_, to) | Op::Continue(_, to) => vec![*to],
            Op::Break(construct) => vec![end(construct)],
            _ => vec![next],
        };
        follow.retain(|pc| pc.index() < self.ops.len());
        follow
    }
}
