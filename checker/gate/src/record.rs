//! What happened in an execution, in the order in which it took effect.

use barcheck_model::program::AgentId;
use barcheck_model::rule::Rule;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Why an execution was ended before all agents had exited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The last step violates a rule that ends paths.
    Violation(Rule),
    /// The protocol cannot be run, or not be followed further, on threads; says why.
    Unfit(String),
    /// The agents' own evaluation and the barriers contradict each other, which is a defect of this program.
    Contradiction(String),
}

/// A step of an execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    /// The agent.
    pub(super) agent: u32,
    /// What it has picked; of a landing, which of the operations that the agent has left in flight it is, in
    /// the order in which it left them.
    pub(super) pick: u32,
    /// Something that the agent has left in flight lands.
    pub(super) lands: bool,
}

/// Records executions, one after the other.
#[derive(Debug)]
pub(super) struct Record {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    steps: Vec<Step>,
    ending: Option<Ending>,
    /// What each agent has picked for the step that it is about to make.
    picks: Vec<u32>,
    executions: u64,
    /// Executions that were not followed to their end.
    cut: u64,
    is_cut: bool,
    /// Rules that this execution has noted first, and are still to be put down with all its steps.
    new: BTreeSet<Rule>,
    /// For each rule noted, the steps of the first execution that did.
    noted: BTreeMap<Rule, Vec<Step>>,
    /// Violations do not end the exploration: they are put down like notes.
    collects: bool,
    /// Agents that neither wait nor have ended, and what is in flight.
    running: usize,
    /// An agent does not make its next step, because it would violate a rule.
    held_back: bool,
}

impl Inner {
    fn push(&mut self, agent: AgentId) {
        if self.ending.is_none() {
            let pick = std::mem::take(&mut self.picks[agent.index()]);
            self.steps.push(Step { agent: agent.0, pick, lands: false });
        }
    }

    fn push_landing(&mut self, agent: AgentId, number: u32) {
        if self.ending.is_none() {
            self.steps.push(Step { agent: agent.0, pick: number, lands: true });
        }
    }

    /// The last step violates a rule.
    fn violate(&mut self, rule: Rule) {
        if self.collects {
            self.noted.entry(rule).or_insert_with(|| self.steps.clone());
            self.steps.pop();
            self.held_back = true;
        } else {
            self.ending = Some(Ending::Violation(rule));
        }
    }
}

impl Record {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A record of nothing. One that `collects` violations goes on after each, to find others.
    pub(super) fn new(collects: bool) -> Self {
        Self { inner: Mutex::new(Inner { collects, ..Inner::default() }) }
    }

    /// Begins an execution.
    pub(super) fn begin(&self, agents: usize) {
        let mut inner = self.inner();
        inner.steps.clear();
        inner.new.clear();
        inner.ending = None;
        inner.picks.clear();
        inner.picks.resize(agents, 0);
        inner.executions += 1;
        inner.running = agents;
        inner.held_back = false;
        inner.is_cut = false;
    }

    /// The agent has decided what its next step picks.
    pub(super) fn picked(&self, agent: AgentId, pick: u32) {
        self.inner().picks[agent.index()] = pick;
    }

    /// The agent's step takes effect. Nothing counts after the end.
    pub(super) fn step(&self, agent: AgentId) {
        self.inner().push(agent);
    }

    /// The agent's step violates a rule, and changes nothing. That ends the execution, unless violations are
    /// collected: the others then go on as if the agent had not come to make its step, for as long as they do
    /// without it.
    pub(super) fn violation(&self, agent: AgentId, rule: Rule) {
        let inner = &mut *self.inner();
        if inner.ending.is_some() {
            return;
        }
        inner.push(agent);
        inner.violate(rule);
    }

    /// What an agent has left in flight, the `number`-th of its operations, lands.
    pub(super) fn landing(&self, agent: AgentId, number: u32) {
        self.inner().push_landing(agent, number);
    }

    /// The same, and that violates a rule.
    pub(super) fn landing_violates(&self, agent: AgentId, number: u32, rule: Rule) {
        let mut inner = self.inner();
        if inner.ending.is_none() {
            inner.push_landing(agent, number);
            inner.violate(rule);
        }
    }

    /// One more agent waits, or has ended. The answer says whether those who wait have to be let go, because
    /// only an agent that is held back could go on: that is no deadlock.
    pub(super) fn rests(&self) -> bool {
        let mut inner = self.inner();
        inner.running = inner.running.saturating_sub(1);
        inner.running == 0 && inner.held_back
    }

    /// An agent, or something in flight, is kept from its step.
    pub(super) fn is_held_back(&self) -> bool {
        self.inner().held_back
    }

    /// Something is in flight, which will land: it counts as an agent until it has.
    pub(super) fn leaves(&self) {
        self.inner().running += 1;
    }

    /// So many agents need not wait any longer.
    pub(super) fn released(&self, agents: usize) {
        self.inner().running += agents;
    }

    /// The execution ends here; the first reason counts.
    pub(super) fn end(&self, ending: Ending) {
        self.inner().ending.get_or_insert(ending);
    }

    /// Something was found that does not end the execution.
    pub(super) fn note(&self, rule: Rule) {
        let mut inner = self.inner();
        if inner.ending.is_none() && !inner.noted.contains_key(&rule) {
            inner.new.insert(rule);
        }
    }

    /// The execution is over: what it was first to note is put down with its steps. Unless violations are
    /// collected, one of `errors` is a violation.
    pub(super) fn finish(&self, errors: impl Fn(Rule) -> bool) {
        let inner = &mut *self.inner();
        let new = std::mem::take(&mut inner.new);
        if !inner.collects && inner.ending.is_none() {
            inner.ending = new.iter().copied().find(|rule| errors(*rule)).map(Ending::Violation);
        }
        for rule in new {
            inner.noted.entry(rule).or_insert_with(|| inner.steps.clone());
        }
    }

    /// Why the execution has ended early.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.inner().ending.clone()
    }

    /// The steps of this execution.
    pub(super) fn steps(&self) -> Vec<Step> {
        self.inner().steps.clone()
    }

    /// The execution is not followed to its end.
    pub(super) fn cut(&self) {
        let mut inner = self.inner();
        if !inner.is_cut {
            inner.is_cut = true;
            inner.cut += 1;
        }
    }

    /// How many executions were not followed to their end.
    pub(super) fn executions_cut(&self) -> u64 {
        self.inner().cut
    }

    /// How many executions there were.
    pub(super) fn executions(&self) -> u64 {
        self.inner().executions
    }

    /// The rules noted in any execution.
    pub(super) fn noted(&self) -> BTreeSet<Rule> {
        self.inner().noted.keys().copied().collect()
    }

    /// The steps up to where a rule was first noted.
    pub(super) fn steps_to(&self, rule: Rule) -> Option<Vec<Step>> {
        self.inner().noted.get(&rule).cloned()
    }
}
