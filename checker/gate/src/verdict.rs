//! What an exploration comes to, in the terms of the model.

use super::child::{self, Answer, Cause, Request};
use super::effort::{Effort, Extent, With};
use super::protocol::Protocol;
use barcheck_counterexamples::Trace;
use barcheck_decide::{Quiet, Unconfirmed};
use barcheck_model::machine::ExitedThreads;
use barcheck_model::rule::{Level, Rule};
use std::collections::BTreeSet;
use std::process::Command;
use std::time::Instant;

/// What an exploration of a protocol's threads came to.
#[derive(Clone, Debug)]
pub struct Gated {
    /// Who ran them.
    pub with: With,
    /// How often they were run.
    pub executions: u64,
    /// Executions in which an agent was stopped after many steps, because it might go on for ever.
    pub cut: u64,
    /// Combinations of the protocol's choices that were explored to the end or begun, at the last bound.
    pub combinations: u64,
    /// How far the exploration came before it ended; `None` if it was no further than a part of the first
    /// bound or sample.
    pub extent: Option<Extent>,
    /// The violation that ended it, or, where all are collected, the first of them.
    pub violation: Option<Violation>,
    /// Every rule that a barrier or the explorer has seen violated, whatever its level.
    pub rules: BTreeSet<Rule>,
    /// Threads cannot run the protocol: why.
    pub unfit: Option<String>,
    /// The explorer itself gave up: its words. Nothing is known then.
    pub gave_up: Option<String>,
    /// What was found in a kernel need not be so: what, and why.
    pub doubt: Option<String>,
    /// Another explorer was tried before, and this is what became of it.
    pub instead: Option<String>,
}

impl Gated {
    /// Nothing is found yet.
    fn of(with: With, answer: &Answer) -> Self {
        Self {
            with,
            executions: answer.executions,
            cut: answer.cut,
            combinations: answer.combinations,
            extent: answer.extent,
            violation: None,
            rules: BTreeSet::new(),
            unfit: None,
            gave_up: None,
            doubt: None,
            instead: None,
        }
    }

    /// An execution has ended with a violation: if the file allows it, what follows is not known.
    fn ended_with(&mut self, protocol: &Protocol, rule: Rule) -> Rule {
        if protocol.level_of(rule) == Level::Allow {
            self.gave_up = Some(format!("`{rule}` ends an execution, and the file allows it"));
            self.extent = None;
        }
        rule
    }

    /// Something was explored, and it can be said how much: every schedule, those up to a bound, or some.
    #[must_use]
    pub fn has_explored(&self) -> bool {
        let explored =
            matches!(self.extent, Some(Extent::Everything | Extent::Preemptions(_) | Extent::Sample(1..)));
        explored && self.unfit.is_none() && self.gave_up.is_none() && self.doubt.is_none()
    }

    /// How far the exploration came, and what that proves, in a sentence.
    #[must_use]
    pub fn extent_in_words(&self) -> String {
        let instead = self.instead.as_ref().map(|instead| format!("; {instead}"));
        self.own_extent_in_words() + &instead.unwrap_or_default()
    }

    fn own_extent_in_words(&self) -> String {
        let with = self.with.name();
        let executions = self.executions;
        if let Some(why) = &self.unfit {
            return format!("{with} cannot run it: {why}");
        }
        if let Some(words) = &self.gave_up {
            return format!("{with} gave up: {words}");
        }
        if let Some(what) = &self.doubt {
            return format!("{with} {what}");
        }
        match self.extent {
            Some(Extent::Everything) => format!("{with} ran every schedule ({executions} executions)"),
            Some(Extent::Preemptions(most)) => {
                let times = if most == 1 { "1 preemption".to_owned() } else { format!("{most} preemptions") };
                format!(
                    "{with} ran every schedule with at most {times} ({executions} executions); this is bounded, not a proof"
                )
            }
            Some(Extent::Sample(0)) => format!("{with} did not come to the end of one execution"),
            Some(Extent::Sample(n)) => {
                let cut = match self.cut {
                    0 => String::new(),
                    cut => format!(", {cut} of them not to the end"),
                };
                format!("{with} ran {n} schedules chosen at random{cut}; this is no proof")
            }
            Some(Extent::Unfinished) | None => {
                format!(
                    "{with} did not get through the schedules with one preemption ({executions} executions)"
                )
            }
        }
    }
}

/// A violation that an explorer found, confirmed by the model.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// The counterexample.
    pub trace: Trace,
    /// With which shuttle runs the schedule again.
    pub schedule: Option<String>,
}

/// Runs a protocol's threads, in a process that `command` starts: this program, in a way that calls
/// [`explore_here`](super::explore_here) at once where [`is_child`](super::is_child) says so.
///
/// # Errors
/// The process cannot be started or breaks off, or what it found contradicts the model: the first is the
/// machine's trouble, the second a defect of this program. Says which and how.
pub fn explore(protocol: &Protocol, with: With, effort: &Effort, command: Command) -> Result<Gated, String> {
    let request = Request {
        file: protocol.source.file.clone(),
        text: protocol.source.text.clone(),
        defines: protocol.source.defines.clone(),
        release_on_exit: protocol.options.exited_threads == ExitedThreads::Release,
        effort: effort.clone(),
        with,
    };
    let answer = child::ask(command, &request, effort.time())?;
    judge(protocol, &request, answer)
}

fn judge(protocol: &Protocol, request: &Request, answer: Answer) -> Result<Gated, String> {
    let with = request.with;
    let mut gated = Gated::of(with, &answer);
    let known = |name: &str| Rule::from_name(name).ok_or_else(|| format!("there is no rule `{name}`"));
    let mut seen = Vec::new();
    if let Some(end) = answer.end {
        let rule = match end.cause {
            Cause::Violation(rule) => known(&rule)?,
            Cause::Deadlock => Rule::Deadlock,
            Cause::Race => Rule::DataRace,
            Cause::Unfit(why) => {
                gated.unfit = Some(why);
                gated.extent = None;
                return Ok(gated);
            }
            Cause::Contradiction(what) => {
                return Err(format!("{} contradicts the model: {what}", with.name()));
            }
            Cause::Explorer(words) if request.effort.schedule.is_some() => {
                return Err(format!("this is no schedule of shuttle for this protocol: {words}"));
            }
            Cause::Explorer(words) => {
                gated.gave_up = Some(words);
                gated.extent = None;
                return Ok(gated);
            }
        };
        seen.push((gated.ended_with(protocol, rule), end.steps));
    }
    for noted in answer.noted {
        seen.push((known(&noted.rule)?, noted.steps));
    }
    let (budgets, began) = (request.effort.budgets(), Instant::now());
    let patience = barcheck_decide::patience(budgets, began, &Quiet);
    for (rule, steps) in seen {
        gated.rules.insert(rule);
        let level = protocol.level_of(rule);
        let confirmed = protocol.follow(&steps, rule, &patience).and_then(|(path, finding)| {
            let wanted = level == Level::Error && gated.violation.is_none();
            wanted.then(|| protocol.trace(&path, (&finding, level), budgets)).transpose()
        });
        match confirmed {
            Ok(Some(trace)) if let Some(why) = protocol.doubt(&trace) => {
                let said = format!("finds `{rule}`, which may be none: {why}; `barcheck verify` says more");
                gated.doubt = Some(said);
                gated.extent = None;
                return Ok(gated);
            }
            Ok(Some(trace)) => {
                gated.violation = Some(Violation { rule, trace, schedule: answer.schedule.clone() });
            }
            Ok(None) => {}
            Err(Unconfirmed::Late) => {
                gated.gave_up = Some(format!("time was up before the model had confirmed `{rule}`"));
                gated.extent = None;
                return Ok(gated);
            }
            Err(Unconfirmed::Departs(how)) => {
                return Err(format!("{} finds `{rule}` and the model contradicts it: {how}", with.name()));
            }
        }
    }
    Ok(gated)
}
