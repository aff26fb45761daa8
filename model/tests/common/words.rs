//! Short words for states and outcomes.

use barcheck_model::barrier::{Completion, Effect, Progress, Refusal, Seat};
use barcheck_model::machine::{CutReason, End, Event, Finding, StepOutcome};
use barcheck_model::program::ReductionOp;
use barcheck_model::rule::Rule;

pub(crate) fn op_name(op: ReductionOp) -> &'static str {
    match op {
        ReductionOp::Popc => "popc",
        ReductionOp::And => "and",
        ReductionOp::Or => "or",
    }
}

/// A seat: `arrived`, `waiting`, `consumer`, `notified`, `produced last`, each by a letter.
pub(crate) fn seat_name(seat: Seat) -> String {
    let letters = [
        (seat.arrived, 'a'),
        (seat.waiting, 'w'),
        (seat.consumer, 'c'),
        (seat.notified, 'n'),
        (seat.produced_last, 'p'),
    ];
    let found: String = letters.iter().filter(|(is, _)| *is).map(|(_, letter)| *letter).collect();
    if found.is_empty() { "-".to_owned() } else { found }
}

pub(crate) fn completion_name(completion: Completion) -> String {
    let mut words = "COMPLETE".to_owned();
    if let Some(result) = completion.result {
        words += &format!(" ={result}");
    }
    if completion.takes_in_exited {
        words += " takes-in-exited";
    }
    if completion.nobody_waits {
        words += " nobody-waits";
    }
    words
}

pub(crate) fn refusal_name(refusal: Refusal) -> String {
    match refusal {
        Refusal::Violation(rule) => rule.name().to_owned(),
        Refusal::NotModelled(what) => format!("not modelled: {what:?}"),
    }
}

/// What an instruction does, in one line.
pub(crate) fn effect_name<B, R: Into<Refusal>>(
    outcome: Result<Effect<B>, R>,
    barrier: impl Fn(&B) -> String,
) -> String {
    let effect = match outcome {
        Err(refusal) => return refusal_name(refusal.into()),
        Ok(effect) => effect,
    };
    let progress = if effect.progress == Progress::Block { "blocks" } else { "goes on" };
    let mut line = format!("{progress}, {}, seat {}", barrier(&effect.barrier), seat_name(effect.seat));
    if let Some(completion) = effect.completed {
        line += &format!(", {}", completion_name(completion));
    }
    for note in effect.notes {
        line += &format!(", note {note}");
    }
    line
}

/// The events of a step, what it found, and how a path ended, in one line.
pub(crate) fn outcome_name(outcome: &StepOutcome) -> String {
    match outcome {
        StepOutcome::Disabled => "disabled".to_owned(),
        StepOutcome::NoEffect => "no effect".to_owned(),
        StepOutcome::Progress(progressed) => events(&progressed.events),
        StepOutcome::Noted(progressed, noted) => {
            format!("{}{}", events(&progressed.events), findings(noted))
        }
        StepOutcome::Error(end) => end_name(end),
    }
}

fn end_name(end: &End) -> String {
    match end {
        End::Violation(finding) => format!("END {}", finding.rule),
        End::Fault { fault, noted, .. } => format!("FAULT {:?}{}", fault.kind, findings(noted)),
        End::Cut { reason, noted, .. } => {
            let reason = match reason {
                CutReason::NotModelled(what) => format!("{what:?}"),
                CutReason::Endless(local) => format!("endless {local:?}"),
            };
            format!("CUT {reason}{}", findings(noted))
        }
    }
}

/// ` ! rule agents` for each finding.
pub(crate) fn findings(noted: &[Finding]) -> String {
    noted.iter().map(finding_name).collect()
}

fn finding_name(finding: &Finding) -> String {
    let agents: Vec<_> = finding.agents.iter().map(|a| a.0.to_string()).collect();
    format!(" ! {} {}", finding.rule, agents.join(","))
}

pub(crate) fn rule_names(rules: &[Rule]) -> String {
    let names: Vec<_> = rules.iter().map(|r| r.name()).collect();
    names.join(" ")
}

fn events(events: &[Event]) -> String {
    let words: Vec<String> = events
        .iter()
        .map(|event| match event {
            Event::Issued(pending) => format!("issued {pending:?}"),
            Event::Landed(pending) => format!("landed {pending:?}"),
            Event::Parked(b) => format!("park b{}", b.0),
            Event::Arrived(b) => format!("arrive b{}", b.0),
            Event::Blocked(_) => "block".to_owned(),
            Event::Asked(b, complete) => format!("ask b{} ={complete}", b.0),
            Event::Passed(b) => format!("pass b{}", b.0),
            Event::Completed(b, None) => format!("complete b{}", b.0),
            Event::Completed(b, Some(result)) => format!("complete b{} ={result}", b.0),
            Event::Released(agent, _) => format!("free {}", agent.0),
            Event::Notified(agent, _) => format!("notify {}", agent.0),
            Event::LanesExited(lanes) => format!("lanes {lanes:#x} exit"),
            Event::Exited => "exit".to_owned(),
            Event::Accessed(locations) => {
                let at: Vec<_> = locations.iter().map(|l| l.0.to_string()).collect();
                format!("access {}", at.join(" "))
            }
            Event::Decided(pick) => format!("decide {pick}"),
            Event::Counted(b) => format!("count b{}", b.0),
            Event::Begun(b) => format!("begin b{}", b.0),
            Event::StateMoved => "move".to_owned(),
            Event::Fenced => "fence".to_owned(),
        })
        .collect();
    words.join(", ")
}

/// Events by what they lead to, in the order in which each outcome first comes up.
#[derive(Default)]
pub(crate) struct ByOutcome(Vec<(String, Vec<String>)>);

impl ByOutcome {
    pub(crate) fn add(&mut self, event: impl Into<String>, outcome: String) {
        match self.0.iter_mut().find(|(known, _)| *known == outcome) {
            Some((_, events)) => events.push(event.into()),
            None => self.0.push((outcome, vec![event.into()])),
        }
    }

    /// A state and, indented, each outcome with the events that lead to it.
    pub(crate) fn under(&self, state: &str) -> String {
        let mut text = format!("{state}\n");
        for (outcome, events) in &self.0 {
            text += &format!("  {}: {outcome}\n", events.join(", "));
        }
        text
    }
}
