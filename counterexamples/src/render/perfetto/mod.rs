//! The trace event format of Chrome, for Perfetto: <https://ui.perfetto.dev>.
//!
//! Time is logical. Step n, from 0, takes the millisecond from n on; what it does to others happens in the
//! middle of it.

mod flights;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Value, json};

use crate::names;
use crate::objects::is_object;
use crate::render::error::{ConvertError, MOST_BYTES};
use crate::render::escape;
use crate::render::events;
use crate::render::spans::{Span, spans};
use crate::timeline::generations;
use crate::trace::{Event, Step, Trace};

/// Microseconds that a step takes.
const STEP: u64 = 1000;
/// Columns of names, at most.
const MOST_NAME: usize = 200;
/// Threads of barriers are numbered from here on, beyond those of agents.
const BARRIERS: u32 = 1_000_000;

/// One event. What is not there for its phase is left out.
#[derive(Default, Serialize)]
struct Entry {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cat: Option<&'static str>,
    ph: &'static str,
    pid: u32,
    tid: u32,
    ts: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
    /// The binding point of a flow's end: the slice around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    bp: Option<&'static str>,
    /// The scope of an instant.
    #[serde(skip_serializing_if = "Option::is_none")]
    s: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Value>,
}

pub(super) fn perfetto(trace: &Trace, warning: Option<&str>) -> Result<String, ConvertError> {
    let mut writer = Writer::of(trace);
    writer.names();
    for span in spans(trace) {
        writer.blocked(&span);
    }
    for step in &trace.steps {
        writer.step(step);
    }
    writer.generations();
    writer.phases();
    writer.flights();
    writer.outcome();
    let mut about = json!({
        "time": "logical: step n takes the n-th millisecond; how long anything took in reality is not known",
        "protocol": names::facts(trace),
        "headline": trace.outcome.headline,
        "explanation": trace.outcome.explanation,
    });
    if let Some(warning) = warning {
        about["warning"] = json!(warning);
    }
    let Writer { entries, failed, .. } = writer;
    match failed {
        Some(error) => Err(error),
        None => {
            Ok(format!("{{\"traceEvents\":[{entries}],\"displayTimeUnit\":\"ms\",\"otherData\":{about}}}\n"))
        }
    }
}

struct Writer<'t> {
    trace: &'t Trace,
    /// The events so far, as JSON with commas between them.
    entries: String,
    /// Why there are no more.
    failed: Option<ConvertError>,
    /// The roles in order of their first agents; their agents are the threads of one process.
    roles: Vec<Option<&'t str>>,
    /// The role of each agent, by position.
    role_of: Vec<usize>,
    /// What each barrier counts.
    counted: BTreeMap<u32, BTreeSet<String>>,
    flows: u64,
}

impl<'t> Writer<'t> {
    fn of(trace: &'t Trace) -> Self {
        let mut roles: Vec<Option<&str>> = Vec::new();
        let mut known = BTreeMap::new();
        let role_of = trace.agents.iter().map(|agent| {
            let role = agent.role.as_deref();
            *known.entry(role).or_insert_with(|| {
                roles.push(role);
                roles.len() - 1
            })
        });
        let role_of = role_of.collect();
        let mut counted: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
        for state in trace.steps.iter().flat_map(|step| &step.changes.barriers) {
            let counts = state.counts.iter().map(|count| count.of.clone());
            counted.entry(state.barrier).or_default().extend(counts);
        }
        Self { trace, entries: String::new(), failed: None, roles, role_of, counted, flows: 0 }
    }

    /// A barrier's short name.
    fn short(&self, barrier: u32) -> String {
        escape::line(&names::short(self.trace, barrier), 40)
    }

    fn process(&self, role: usize) -> u32 {
        u32::try_from(role + 1).unwrap_or(u32::MAX)
    }

    /// The process and thread of an agent.
    fn agent(&self, agent: u32) -> (u32, u32) {
        let role = self.role_of.get(agent as usize).copied().unwrap_or(0);
        (self.process(role), agent + 1)
    }

    /// The process and thread of a barrier.
    fn barrier(&self, barrier: u32) -> (u32, u32) {
        (self.process(self.roles.len()), BARRIERS.saturating_add(barrier))
    }

    /// The process and thread of the run as a whole.
    fn run(&self) -> (u32, u32) {
        (self.process(self.roles.len() + 1), BARRIERS - 1)
    }

    fn push(&mut self, (pid, tid): (u32, u32), ph: &'static str, ts: u64, name: &str, entry: Entry) {
        let mut name = escape::line(name, MOST_NAME);
        if name.is_empty() {
            name.push_str("(unnamed)");
        }
        if self.entries.len() > MOST_BYTES {
            self.failed = Some(ConvertError::TooLarge);
        }
        if self.failed.is_some() {
            return;
        }
        match serde_json::to_string(&Entry { name, ph, pid, tid, ts, ..entry }) {
            Ok(written) => {
                let comma = if self.entries.is_empty() { "" } else { "," };
                self.entries.push_str(comma);
                self.entries.push_str(&written);
            }
            Err(error) => self.failed = Some(error.into()),
        }
    }

    fn slice(
        &mut self,
        track: (u32, u32),
        from: u64,
        until: u64,
        name: &str,
        cat: &'static str,
        args: Value,
    ) {
        let dur = Some(until.saturating_sub(from).max(1));
        self.push(
            track,
            "X",
            from,
            name,
            Entry { cat: Some(cat), dur, args: Some(args), ..Entry::default() },
        );
    }

    fn meta(&mut self, track: (u32, u32), what: &str, args: Value) {
        self.push(track, "M", 0, what, Entry { args: Some(args), ..Entry::default() });
    }

    /// What processes and threads are called, and in which order they stand.
    fn names(&mut self) {
        let noun = names::noun(self.trace);
        let roles = self.roles.iter().map(|role| role.map_or_else(|| format!("{noun}s"), str::to_owned));
        let mut processes: Vec<String> = roles.collect();
        processes.push("barriers".to_owned());
        processes.push("the run (time is logical: 1 ms for each step)".to_owned());
        for (at, name) in processes.iter().enumerate() {
            let track = (self.process(at), 0);
            self.meta(track, "process_name", json!({ "name": escape::line(name, MOST_NAME) }));
            self.meta(track, "process_sort_index", json!({ "sort_index": at }));
        }
        for agent in &self.trace.agents {
            let track = self.agent(agent.index);
            self.meta(track, "thread_name", json!({ "name": escape::line(&agent.name, MOST_NAME) }));
            self.meta(track, "thread_sort_index", json!({ "sort_index": agent.index }));
        }
        for barrier in &self.trace.barriers {
            let track = self.barrier(barrier.barrier);
            self.meta(track, "thread_name", json!({ "name": escape::line(&barrier.name, MOST_NAME) }));
            self.meta(track, "thread_sort_index", json!({ "sort_index": barrier.barrier }));
        }
        self.meta(self.run(), "thread_name", json!({ "name": "outcome" }));
    }

    fn step(&mut self, step: &Step) {
        let from = step.index as u64 * STEP;
        let middle = from + STEP / 2;
        let words: Vec<String> =
            step.events.iter().map(|event| events::in_words(self.trace, event)).collect();
        let args = json!({
            "step": step.index + 1,
            "line": step.location.line,
            "instruction": step.instruction,
            "happens": words.join(", "),
        });
        // What lands is nobody's step.
        let lands = step.events.iter().find_map(|event| match event {
            Event::Landed { barrier } => Some(self.barrier(*barrier)),
            _ => None,
        });
        let actor = lands.unwrap_or_else(|| self.agent(step.agent));
        self.slice(actor, from, from + STEP, &step.resolved, "step", args);
        for event in &step.events {
            let (what, barrier, agents) = match event {
                Event::Released { barrier, agents } => ("released", *barrier, agents),
                Event::Notified { barrier, agents } => ("notified", *barrier, agents),
                _ => continue,
            };
            for agent in agents.iter().filter(|agent| lands.is_some() || **agent != step.agent) {
                let track = self.agent(*agent);
                let name = format!("{what} by {}", self.short(barrier));
                self.slice(track, middle, from + STEP, &name, "barrier", json!({ "step": step.index + 1 }));
                self.flow(actor, from + STEP / 4, track, middle + STEP / 4, what);
            }
        }
        for barrier in &step.changes.barriers {
            let name = format!("{} arrived", self.short(barrier.barrier));
            let counts = barrier.counts.iter().map(|count| (count.of.clone(), json!(count.arrived)));
            // An idle barrier counts nothing, of whatever it counts otherwise.
            let nothing = self.counted.get(&barrier.barrier).into_iter().flatten();
            let nothing = nothing.map(|of| (of.clone(), json!(0)));
            let series: serde_json::Map<String, Value> = nothing.chain(counts).collect();
            if !series.is_empty() {
                let entry = Entry { args: Some(Value::Object(series)), ..Entry::default() };
                self.push(self.barrier(barrier.barrier), "C", middle, &name, entry);
            }
        }
    }

    fn flow(&mut self, from: (u32, u32), start: u64, to: (u32, u32), end: u64, name: &str) {
        self.flows += 1;
        let entry = || Entry { cat: Some("barrier"), id: Some(self.flows), ..Entry::default() };
        let (begin, finish) = (entry(), Entry { bp: Some("e"), ..entry() });
        self.push(from, "s", start, name, begin);
        self.push(to, "f", end, name, finish);
    }

    fn blocked(&mut self, span: &Span) {
        let from = match span.from {
            (index, true) => (index as u64 + 1) * STEP,
            (index, false) => index as u64 * STEP + STEP / 2,
        };
        let until = match span.until {
            Some((index, true)) => index as u64 * STEP,
            Some((index, false)) => index as u64 * STEP + STEP / 2,
            None => (self.trace.steps.len() as u64 + 1) * STEP,
        };
        if until <= from {
            return;
        }
        let on = span.barrier.map(|b| format!(" on {}", self.short(b))).unwrap_or_default();
        let ever = if span.until.is_none() { " to the end" } else { "" };
        let args = json!({ "line": span.line, "released": span.until.is_some() });
        self.slice(self.agent(span.agent), from, until, &format!("blocked{on}{ever}"), "blocked", args);
    }

    fn generations(&mut self) {
        let numbered = |(barrier, _): &(u32, Vec<_>)| !is_object(self.trace, *barrier);
        for (barrier, all) in generations(self.trace).into_iter().filter(numbered).collect::<Vec<_>>() {
            let name = self.short(barrier);
            let mut free = 0;
            for generation in all {
                let first = generation.arrivals.first().map(|(_, step)| *step).or(generation.completed);
                let last = generation.completed.unwrap_or(self.trace.steps.len() + 1);
                let from = (first.unwrap_or(1) as u64 - 1).saturating_mul(STEP).max(free);
                let until = (last as u64 * STEP).max(from + 1);
                let told = match generation.completed {
                    Some(_) => format!("{name} #{}", generation.generation),
                    None => format!("{name}: not complete"),
                };
                let agents: Vec<u32> = generation.arrivals.iter().map(|(agent, _)| *agent).collect();
                let complete = generation.completed.is_some();
                let args = json!({ "arrived": agents, "complete": complete, "result": generation.result });
                self.slice(self.barrier(barrier), from, until, &told, "generation", args);
                free = until;
            }
        }
    }

    /// What the run shows, and its cycle.
    fn outcome(&mut self) {
        let end = self.trace.steps.len() as u64 * STEP;
        if let Some(from) = self.trace.outcome.cycle_from {
            let name = "from here on, again and again";
            self.slice(self.run(), from as u64 * STEP, end, name, "cycle", json!({ "step": from + 1 }));
        }
        let headline = self.trace.outcome.headline.clone();
        let args = json!({ "message": self.trace.outcome.message });
        let entry = Entry { s: Some("g"), args: Some(args), ..Entry::default() };
        self.push(self.run(), "i", end, &headline, entry);
    }
}
