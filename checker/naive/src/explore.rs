//! The search: every reachable state, every step, every finding.

use super::expand::expanded;
use super::graph::{can_reach, can_run_for_ever, reachable};
use super::protocol::*;
use super::rules::{Level, level};
use super::state::*;
use super::step::{initial, steps};
use super::{bcu, flight, nbarrier, ptx, stores};
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// What is not modelled about loops that ask.
pub const ASKS_FOR_EVER: &str = "a loop asks for ever";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Verified,
    Violated,
    Inconclusive,
    Error,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    pub verdict: Verdict,
    /// Every rule, of any level, that some path violates.
    pub rules: BTreeSet<String>,
    pub states: usize,
    pub transitions: usize,
    /// The search ended before it had seen everything, so `rules` may lack some.
    pub gave_up: bool,
    /// An evaluation error was reached.
    pub eval_error: bool,
    /// What the semantics does not model, where it cut a path.
    pub not_modelled: BTreeSet<String>,
}

/// Explores a protocol up to a number of states, with `--exited-threads hold`.
pub fn explore(protocol: &Protocol, max_states: usize) -> Outcome {
    explore_with(protocol, max_states, ExitedThreads::Hold)
}

/// Explores a protocol up to a number of states.
pub fn explore_with(protocol: &Protocol, max_states: usize, exited_threads: ExitedThreads) -> Outcome {
    let protocol = expanded(protocol);
    let code = Code::new(&protocol, exited_threads);
    let mut search = Search::new(&code, max_states);
    match initial(&code) {
        Ok(state) => {
            search.reach(state);
            search.run();
            if !search.gave_up {
                search.judge_graph();
            }
        }
        Err(halt) => search.end(halt),
    }
    search.outcome()
}

struct Search<'c, 'p> {
    code: &'c Code<'p>,
    max_states: usize,
    known: FxHashMap<Arc<State>, usize>,
    states: Vec<Arc<State>>,
    edges: Vec<Vec<usize>>,
    /// What was said in the steps along the edges.
    logs: Vec<Vec<Log>>,
    work: VecDeque<usize>,
    transitions: usize,
    rules: BTreeSet<&'static str>,
    gave_up: bool,
    eval_error: bool,
    not_modelled: BTreeSet<&'static str>,
}

impl<'c, 'p> Search<'c, 'p> {
    fn new(code: &'c Code<'p>, max_states: usize) -> Self {
        Search {
            code,
            max_states,
            known: FxHashMap::default(),
            states: Vec::new(),
            edges: Vec::new(),
            logs: Vec::new(),
            work: VecDeque::new(),
            transitions: 0,
            rules: BTreeSet::new(),
            gave_up: false,
            eval_error: false,
            not_modelled: BTreeSet::new(),
        }
    }

    /// The number of a state, which is judged when it is seen for the first time.
    fn reach(&mut self, state: State) -> usize {
        if let Some(&number) = self.known.get(&state) {
            return number;
        }
        let number = self.states.len();
        let state = Arc::new(state);
        self.known.insert(state.clone(), number);
        self.judge_state(&state);
        self.states.push(state);
        self.edges.push(Vec::new());
        self.logs.push(Vec::new());
        self.work.push_back(number);
        number
    }

    fn run(&mut self) {
        while let Some(number) = self.work.pop_front() {
            if self.states.len() > self.max_states {
                self.gave_up = true;
                return;
            }
            let state = self.states[number].clone();
            let steps = steps(self.code, &state);
            if steps.is_empty() && !state.everyone_exited() {
                self.rules.insert("deadlock");
            }
            self.transitions += steps.len();
            for step in steps {
                self.rules.extend(step.notes);
                match step.result {
                    Ok(next) => {
                        let next = self.reach(next);
                        self.edges[number].push(next);
                        self.logs[number].push(step.log);
                    }
                    Err(halt) => self.end(halt),
                }
            }
        }
    }

    fn end(&mut self, halt: Halt) {
        match halt {
            Halt::Rule(rule) => {
                self.rules.insert(rule);
            }
            Halt::EvalError(_) => self.eval_error = true,
            Halt::NotModelled(what) => {
                self.not_modelled.insert(what);
            }
            Halt::TooLong => self.gave_up = true,
        }
    }

    fn judge_state(&mut self, state: &State) {
        let world = World::new(self.code, state.clone());
        let (race, held) = match &state.barriers {
            Barriers::Ptx(b) => (ptx::arrival_race(&world), b.holds_arrivals()),
            Barriers::Bcu(b) => (bcu::arrival_race(&world), b.holds_arrivals()),
            Barriers::Nbarrier(b) => (nbarrier::arrival_race(&world), b.holds_arrivals()),
            Barriers::Xegpu(b) => (nbarrier::arrival_race(&world), b.named.holds_arrivals()),
            Barriers::Split(_) => (false, false),
        };
        if race {
            self.rules.insert("arrival-race");
        }
        // What comes from others ends the path once it lands.
        let leaves = |commits| {
            let mut ctas = 0..self.code.protocol.cluster;
            ctas.any(|cta| flight::left_in_flight(&world, cta, commits) && world.cta_exited(cta))
        };
        let mut ctas = 0..self.code.protocol.cluster;
        let reads = ctas.any(|cta| stores::left_open(&world, cta) && world.cta_exited(cta));
        if leaves(false) || reads {
            self.rules.insert("in-flight-at-exit");
        }
        if leaves(true) {
            self.rules.insert("commit-at-exit");
        }
        if leaves(false) || leaves(true) {
            // What is under way may still complete a phase.
        } else if state.everyone_exited()
            && state.objects.pending.is_empty()
            && (held || state.objects.hold_arrivals())
        {
            self.rules.insert("dangling-arrival");
        }
    }

    fn judge_graph(&mut self) {
        let endless = can_run_for_ever(&self.edges);
        for agent in 0..self.code.protocol.agents() {
            let free: Vec<bool> = self.states.iter().map(|s| !s.agents[agent].blocked()).collect();
            let freed = can_reach(&self.edges, &free);
            if (0..self.states.len()).any(|s| !freed[s] && endless[s]) {
                self.rules.insert("stuck-agent");
            }
            if self.asks_for_ever(agent) {
                self.not_modelled.insert(ASKS_FOR_EVER);
            }
        }
    }

    /// Whether somebody can come to ask for ever when there is no hope any more that it is told yes, gets
    /// past a wait, or leaves.
    fn asks_for_ever(&self, agent: AgentId) -> bool {
        let without_success: Vec<Vec<usize>> = (0..self.states.len())
            .map(|s| {
                let along = self.edges[s].iter().zip(&self.logs[s]);
                along.filter(|(_, log)| !log.passed.contains(&agent)).map(|(to, _)| *to).collect()
            })
            .collect();
        let succeeds: Vec<bool> = (0..self.states.len())
            .map(|s| {
                let passes = self.logs[s].iter().any(|log| log.passed.contains(&agent));
                passes || self.states[s].agents[agent].exited()
            })
            .collect();
        let has_hope = can_reach(&self.edges, &succeeds);
        let denied = (0..self.states.len()).flat_map(|from| {
            let along = self.edges[from].iter().zip(&self.logs[from]);
            along.filter(|(_, log)| log.denied == Some(agent)).map(move |(to, _)| (from, *to))
        });
        denied.into_iter().any(|(from, to)| !has_hope[from] && reachable(&without_success, to)[from])
    }

    fn outcome(self) -> Outcome {
        let target = self.code.protocol.target;
        let violated = self.rules.iter().any(|rule| level(rule, target) == Level::Error);
        let verdict = if violated {
            Verdict::Violated
        } else if self.eval_error {
            Verdict::Error
        } else if self.gave_up || !self.not_modelled.is_empty() {
            Verdict::Inconclusive
        } else {
            Verdict::Verified
        };
        Outcome {
            verdict,
            rules: self.rules.iter().map(|r| r.to_string()).collect(),
            states: self.states.len(),
            transitions: self.transitions,
            gave_up: self.gave_up,
            eval_error: self.eval_error,
            not_modelled: self.not_modelled.iter().map(|r| r.to_string()).collect(),
        }
    }
}
