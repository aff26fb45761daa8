//! A trace under examination: its end, and looking back along its steps.

use barcheck_model::program::{Target, WARP_SIZE};

use super::place::{Did, Place, Remark};
use super::words::MARK;
use crate::names;
use crate::trace::{
    BarrierState, Count, Doing, Event, Fragment, Location, Outcome, Situation, Status, Step, Trace,
};
use crate::wording::{self, Wording};

/// What an agent is doing in the end. Line 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whereabouts {
    Exited,
    Waits { line: u32, barrier: u32 },
    Blocked { line: u32 },
    Failed { line: u32 },
    Running { line: u32 },
}

pub(super) struct Case<'t> {
    pub(super) trace: &'t Trace,
    /// What is said of its steps.
    pub(super) outcome: &'t Outcome,
    pub(super) target: Option<Target>,
    /// The last state; that before the last step, if that step ends the path.
    pub(super) end: Situation,
}

impl<'t> Case<'t> {
    pub(super) fn of(trace: &'t Trace) -> Self {
        Self::about(trace, &trace.outcome)
    }

    /// The steps of a trace, and another outcome than the one that it has.
    pub(super) fn about(trace: &'t Trace, outcome: &'t Outcome) -> Self {
        let target = Target::from_name(&trace.protocol.target);
        Self { trace, outcome, target, end: trace.last_situation() }
    }

    /// The words of the trace's system; a trace that names none has no such words.
    pub(super) fn wording(&self) -> Option<&'static dyn Wording> {
        self.target.map(wording::of)
    }

    /// In how many of its counter's units an agent arrives.
    pub(super) fn unit(&self) -> u32 {
        if self.target.is_some_and(Target::has_lanes) { WARP_SIZE } else { 1 }
    }

    /// How many more have to arrive on a barrier, in agents.
    pub(super) fn needed(&self, state: &BarrierState) -> u32 {
        // Threads arrive by warps; whatever else is counted comes one by one, and bytes come by themselves.
        let agents = state.counts.iter().filter(|count| count.of != "bytes").map(|count| {
            let unit = if count.of == "threads" { self.unit() } else { 1 };
            count.expected.saturating_sub(count.arrived).div_ceil(unit)
        });
        agents.max().unwrap_or(0)
    }

    pub(super) fn noun(&self) -> &'static str {
        names::noun(self.trace).word()
    }

    pub(super) fn agent(&self, agent: u32) -> String {
        self.agents(&[agent])
    }

    pub(super) fn agents(&self, sorted: &[u32]) -> String {
        names::agents(names::noun(self.trace), sorted)
    }

    pub(super) fn barrier(&self, barrier: u32) -> String {
        let named = self.trace.barriers.iter().find(|b| b.barrier == barrier);
        named.map_or_else(|| format!("barrier {barrier}"), |b| b.name.clone())
    }

    /// A barrier's name as an agent would say it: of what belongs to its own CTA the CTA is left out.
    pub(super) fn own_name(&self, agent: u32, barrier: u32) -> String {
        let name = self.barrier(barrier);
        match (name.rsplit_once(" of cta "), names::noun(self.trace).cta_of(agent)) {
            (Some((own, cta)), Some(of)) if cta == of.to_string() => own.to_owned(),
            _ => name,
        }
    }

    /// The barrier that is to one agent what another one is to an agent of another CTA, perhaps; `None` where
    /// nothing happened on it.
    pub(super) fn counterpart(&self, agent: u32, other: u32, barrier: u32) -> Option<u32> {
        let name = self.own_name(other, barrier);
        let known = self.trace.barriers.iter().map(|known| known.barrier);
        let mut alike = known.filter(|known| *known == barrier || self.own_name(agent, *known) == name);
        if self.is_of_own_cta(other, barrier) {
            alike.find(|known| self.own_name(agent, *known) == name)
        } else {
            Some(barrier)
        }
    }

    /// Whether a barrier belongs to the CTA of an agent, where there are several.
    pub(super) fn is_of_own_cta(&self, agent: u32, barrier: u32) -> bool {
        self.own_name(agent, barrier) != self.barrier(barrier)
    }

    /// The barrier that the outcome is about.
    pub(super) fn the_barrier(&self) -> String {
        self.outcome.barrier.map_or_else(|| "a barrier".to_owned(), |b| self.barrier(b))
    }

    /// ` at ring.bar:12`, marked as a place; nothing where there is no text.
    pub(super) fn at(&self, location: Location) -> String {
        self.at_line(location.line)
    }

    fn at_line(&self, line: u32) -> String {
        if line == 0 {
            return String::new();
        }
        let file = names::file(self.trace);
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        let file: String = name.chars().filter(|c| !c.is_control()).collect();
        format!("{MARK} at {file}:{line}{MARK}")
    }

    /// `step 4` for the index of a step, as the narrative numbers them.
    pub(super) fn step_name(step: &Step) -> String {
        format!("step {}", step.index + 1)
    }

    /// The place of a step, and what is said of it.
    pub(super) fn here(step: &Step, remark: Remark) -> Place {
        Place { agent: step.agent, location: step.location, remark }
    }

    /// The place of a step, and what its agent did.
    pub(super) fn did(step: &Step, did: Did) -> Place {
        Self::here(step, Remark::Did(vec![step.agent], did))
    }

    pub(super) fn last(&self) -> Option<&'t Step> {
        self.trace.steps.last()
    }

    /// The instruction that the outcome is about, with operands if it is the last step's.
    pub(super) fn resolved_here(&self) -> String {
        let outcome = &self.outcome;
        match self.last() {
            Some(step) if step.agent == outcome.agent && step.location == outcome.location => {
                step.resolved.clone()
            }
            _ => outcome.instruction.clone(),
        }
    }

    /// The latest step before index `before` for which `test` holds.
    pub(super) fn back(&self, before: usize, test: impl Fn(&Step) -> bool) -> Option<&'t Step> {
        self.trace.steps.iter().take(before).rev().find(|s| test(s))
    }

    /// The steps before the last.
    pub(super) fn before_last(&self) -> usize {
        self.trace.steps.len().saturating_sub(1)
    }

    /// The step at which an agent arrived latest on a barrier, before index `before`.
    pub(super) fn arrival(&self, agent: u32, barrier: u32, before: usize) -> Option<&'t Step> {
        self.back(before, |s| s.agent == agent && arrives(s, barrier))
    }

    /// The arrivals in the generation that gathers at index `before`, oldest first.
    pub(super) fn gathered(&self, barrier: u32, before: usize) -> Vec<&'t Step> {
        let steps = self.trace.steps.iter().take(before).rev();
        let mut found: Vec<_> =
            steps.take_while(|s| !completes(s, barrier)).filter(|s| arrives(s, barrier)).collect();
        found.reverse();
        found
    }

    /// The step at which an agent exited.
    pub(super) fn exit(&self, agent: u32) -> Option<&'t Step> {
        self.back(usize::MAX, |s| s.agent == agent && s.events.contains(&Event::Exited {}))
    }

    pub(super) fn state(&self, barrier: u32) -> Option<&BarrierState> {
        self.end.barriers.get(&barrier)
    }

    /// `96 of 128 threads`, or both counters.
    pub(super) fn arrived_of(&self, barrier: u32) -> String {
        match self.state(barrier).filter(|b| b.active) {
            Some(state) => arrived_of(&state.counts),
            None => "nobody".to_owned(),
        }
    }

    /// The same with a verb: `64 of 128 threads arrived`, `1 of 1 arrivals made and 0 of 64 bytes landed`.
    pub(super) fn so_far(&self, barrier: u32) -> String {
        match self.state(barrier).filter(|state| has_phases(state)) {
            Some(state) => {
                let verbs = [" made", " landed"];
                let parts = state.counts.iter().zip(verbs);
                let part = |(c, verb): (&Count, &str)| match (c.of.as_str(), c.expected) {
                    ("bytes", 0) => format!("{} {}{verb}, of none announced", c.arrived, c.of),
                    _ => format!("{} of {} {}{verb}", c.arrived, c.expected, c.of),
                };
                let parts: Vec<String> = parts.map(part).collect();
                names::list(&parts)
            }
            None if self.state(barrier).is_some_and(is_pool) => self.pool(barrier),
            None => format!("{} arrived", self.arrived_of(barrier)),
        }
    }

    /// What a pool lacks: `112 registers wanted, 96 free`.
    fn pool(&self, barrier: u32) -> String {
        let counts = self.state(barrier).map(|state| &state.counts[..]).unwrap_or_default();
        let parts: Vec<String> =
            counts.iter().map(|c| format!("{} {} wanted, {} free", c.expected, c.of, c.arrived)).collect();
        names::list(&parts)
    }

    /// What an agent is doing in the end.
    pub(super) fn whereabouts(&self, agent: u32) -> Whereabouts {
        let Some(state) = self.end.agents.get(&agent) else {
            return Whereabouts::Exited;
        };
        let line = state.location.map_or(0, |location| location.line);
        match (state.status, state.waits) {
            (Status::Exited, _) => Whereabouts::Exited,
            (Status::Blocked, Some(waits)) => Whereabouts::Waits { line, barrier: waits.barrier },
            (Status::Blocked, None) => Whereabouts::Blocked { line },
            (Status::Failed, _) => Whereabouts::Failed { line },
            (Status::Running, _) => Whereabouts::Running { line },
        }
    }

    /// What one agent, or `several`, are doing: `exited`, `waits at ... on barrier 2`, `are running at ...`.
    pub(super) fn doing(&self, whereabouts: Whereabouts, several: bool) -> String {
        let is = if several { "are" } else { "is" };
        match whereabouts {
            Whereabouts::Exited => "exited".to_owned(),
            Whereabouts::Waits { line, barrier } => {
                let verb = if several { "wait" } else { "waits" };
                format!("{verb}{} on {}", self.at_line(line), self.barrier(barrier))
            }
            Whereabouts::Blocked { line } => format!("{is} blocked{}", self.at_line(line)),
            Whereabouts::Failed { line } => format!("cannot go on{}", self.at_line(line)),
            Whereabouts::Running { line } => format!("{is} running{}", self.at_line(line)),
        }
    }

    /// What the lanes of a fragment are doing, and where.
    pub(super) fn fragment(&self, fragment: &Fragment) -> String {
        let at = self.at(fragment.location);
        let (wait, are) = if names::is_one_lane(&fragment.lanes) { ("waits", "is") } else { ("wait", "are") };
        match (fragment.doing, fragment.barrier) {
            (Doing::Blocked | Doing::Parked, Some(barrier)) => {
                format!("{wait}{at} on {}", self.barrier(barrier))
            }
            (Doing::Joining, _) => format!("{wait}{at} for the others, at the end of a branch or loop"),
            (Doing::Spinning, _) => format!("{are} in an endless loop{at}"),
            _ => format!("{are}{at}"),
        }
    }

    /// The locals of an agent, as a sentence, where it has any.
    pub(super) fn locals_of(&self, agent: u32) -> Option<String> {
        let fragments = &self.end.agents.get(&agent)?.fragments;
        // Lanes that stand apart most often hold the same.
        let mut locals: Vec<String> = Vec::new();
        for (name, value) in fragments.iter().flat_map(|f| &f.locals) {
            let local = format!("{name} = {value}");
            if locals.len() < 8 && !locals.contains(&local) {
                locals.push(local);
            }
        }
        (!locals.is_empty()).then(|| format!("Its locals there: {}.", locals.join(", ")))
    }
}

/// The place where lanes of an agent stand.
pub(super) fn lanes_here(agent: u32, fragment: &Fragment) -> Place {
    Place { agent, location: fragment.location, remark: Remark::Lanes(fragment.lanes.clone()) }
}

/// The step is an arrival on a barrier.
pub(super) fn arrives(step: &Step, barrier: u32) -> bool {
    step.events.iter().any(|event| match event {
        Event::Arrived { barrier: on } => *on == barrier,
        Event::Landed { barrier: on } => *on == barrier && wording::begins_an_arrival(&step.instruction),
        _ => false,
    })
}

/// The step completes a generation of a barrier.
pub(super) fn completes(step: &Step, barrier: u32) -> bool {
    step.events.iter().any(|e| matches!(e, Event::Completed { barrier: b, .. } if *b == barrier))
}

/// Whether a barrier completes phase after phase, counting arrivals and bytes.
pub(super) fn has_phases(state: &BarrierState) -> bool {
    state.counts.first().is_some_and(|count| count.of == "arrivals")
}

/// Of a pool it is counted what is free in it.
pub(super) fn is_pool(state: &BarrierState) -> bool {
    state.counts.first().is_some_and(|count| count.of == "registers")
}

/// `96 of 128 threads`, `1 of 2 producers and 0 of 1 consumers`.
pub(super) fn arrived_of(counts: &[Count]) -> String {
    let parts: Vec<String> =
        counts.iter().map(|c| format!("{} of {} {}", c.arrived, c.expected, c.of)).collect();
    names::list(&parts)
}

/// `128 threads`, `2 producers and 1 consumers`.
pub(super) fn announced(step: &Step) -> String {
    let Some(operands) = &step.operands else {
        return format!("`{}`", step.resolved);
    };
    let parts: Vec<String> = operands.counts.iter().map(|c| format!("{} {}", c.expected, c.of)).collect();
    match (operands.all, operands.counts.first().is_some_and(|c| c.expected == 0)) {
        (true, true) => "every live warp (count 0)".to_owned(),
        (true, false) => format!("{} (count left out)", names::list(&parts)),
        _ => names::list(&parts),
    }
}

/// Makes the first letter a capital.
pub(super) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    first + letters.as_str()
}

/// The verb for one or many.
pub(super) fn verb<'a>(agents: &[u32], one: &'a str, many: &'a str) -> &'a str {
    if agents.len() == 1 { one } else { many }
}
