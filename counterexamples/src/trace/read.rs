//! Reading a trace from JSON, and refusing what is none.

use std::fmt;

use barcheck_model::program::Target;
use barcheck_model::rule::{Level, Rule};
use serde::Deserialize;

use crate::trace::{Detail, Event, FORMAT, OutcomeKind, State, Trace};

/// The format of answers to where a protocol can be, as `barcheck where --format json` gives them.
pub const WHERE_FORMAT: &str = "barcheck-where/1";

/// Steps that a trace may have.
pub const MOST_STEPS: usize = 1_000_000;
/// Agents that a trace may have.
pub const MOST_AGENTS: usize = 65_536;

/// Barriers that a trace may have: no group has half as many.
const MOST_BARRIERS: usize = 4_096;

/// Why a text is no trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// What is wrong.
    pub message: String,
    /// The line, from 1, where it can be told.
    pub line: Option<usize>,
    /// The column, from 1, where it can be told.
    pub column: Option<usize>,
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(line), Some(column)) = (self.line, self.column) {
            write!(f, "line {line}, column {column}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for TraceError {}

impl TraceError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), line: None, column: None }
    }

    pub(crate) fn from_json(error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        // The place stands in fields of its own.
        let place = format!(" at line {line} column {column}");
        let message = message.strip_suffix(&place).unwrap_or(&message).to_owned();
        let known = line > 0;
        Self { message, line: known.then_some(line), column: known.then_some(column) }
    }
}

/// What is looked at first, so that a trace of another version is called that.
#[derive(Deserialize)]
struct Head {
    format: Option<serde_json::Value>,
}

/// The answer to where a protocol can be, which holds a trace if there is one.
#[derive(Deserialize)]
struct Answer {
    trace: Option<Trace>,
}

impl Trace {
    /// Reads a trace, or the one in an answer of [`WHERE_FORMAT`].
    ///
    /// # Errors
    /// The text is no JSON, no trace, of another version, too large, or its parts do not fit together.
    pub fn from_json(text: &str) -> Result<Self, TraceError> {
        let head: Head = serde_json::from_str(text).map_err(|e| TraceError::from_json(&e))?;
        if head.format.as_ref().and_then(serde_json::Value::as_str) == Some(WHERE_FORMAT) {
            let answer: Answer = serde_json::from_str(text).map_err(|e| TraceError::from_json(&e))?;
            let none = || TraceError::new("the answer holds no trace: no run leads there");
            let trace = answer.trace.ok_or_else(none)?;
            trace.check().map_err(TraceError::new)?;
            return Ok(trace);
        }
        match head.format.as_ref().map(serde_json::Value::as_str) {
            Some(Some(FORMAT)) => {}
            Some(Some(other)) => {
                let message = format!("the format is `{}`; only `{FORMAT}` can be read", cut(other));
                return Err(TraceError::new(message));
            }
            _ => return Err(TraceError::new(format!("no trace: the field `format` is not `{FORMAT}`"))),
        }
        let trace: Self = serde_json::from_str(text).map_err(|e| TraceError::from_json(&e))?;
        trace.check().map_err(TraceError::new)?;
        Ok(trace)
    }

    /// The trace as JSON, without line breaks.
    ///
    /// # Errors
    /// None in practice: every field can be written.
    pub fn to_json(&self) -> Result<String, TraceError> {
        serde_json::to_string(self).map_err(|e| TraceError::from_json(&e))
    }

    /// The trace as JSON, for people to read.
    ///
    /// # Errors
    /// None in practice: every field can be written.
    pub fn to_json_pretty(&self) -> Result<String, TraceError> {
        serde_json::to_string_pretty(self).map_err(|e| TraceError::from_json(&e))
    }

    /// The parts fit together.
    fn check(&self) -> Result<(), String> {
        if self.steps.len() > MOST_STEPS {
            return Err(format!("{} steps are more than {MOST_STEPS}", self.steps.len()));
        }
        if self.agents.len() > MOST_AGENTS {
            return Err(format!("{} agents are more than {MOST_AGENTS}", self.agents.len()));
        }
        if self.barriers.len() > MOST_BARRIERS {
            return Err(format!("{} barriers are more than {MOST_BARRIERS}", self.barriers.len()));
        }
        let target = &self.protocol.target;
        if Target::from_name(target).is_none() {
            return Err(format!("protocol.target: there is no target `{}`", cut(target)));
        }
        for (position, agent) in self.agents.iter().enumerate() {
            if agent.index as usize != position {
                return Err(format!("agents[{position}].index: is {} and must be {position}", agent.index));
            }
        }
        self.check_state("initial", &self.initial)?;
        let known = self.initial.agents.iter().map(|a| a.agent as usize);
        if !known.eq(0..self.agents.len()) {
            return Err("initial.agents: must list every agent once, in order".to_owned());
        }
        self.check_steps()?;
        self.check_outcome()
    }

    fn check_agent(&self, place: &str, agent: u32) -> Result<(), String> {
        if (agent as usize) < self.agents.len() {
            return Ok(());
        }
        Err(format!("{place}: there is no agent {agent}, only {}", self.agents.len()))
    }

    fn check_agents(&self, place: &str, agents: &[u32]) -> Result<(), String> {
        agents.iter().try_for_each(|agent| self.check_agent(place, *agent))
    }

    fn check_state(&self, place: &str, state: &State) -> Result<(), String> {
        for agent in &state.agents {
            self.check_agent(&format!("{place}.agents"), agent.agent)?;
        }
        for barrier in &state.barriers {
            for agents in [&barrier.arrived, &barrier.waiting, &barrier.missing, &barrier.notified] {
                self.check_agents(&format!("{place}.barriers"), agents)?;
            }
        }
        Ok(())
    }

    fn check_steps(&self) -> Result<(), String> {
        for (position, step) in self.steps.iter().enumerate() {
            let place = format!("steps[{position}]");
            if step.index != position {
                return Err(format!("{place}.index: is {} and must be {position}", step.index));
            }
            self.check_agent(&format!("{place}.agent"), step.agent)?;
            for event in &step.events {
                if let Event::Released { agents, .. }
                | Event::Notified { agents, .. }
                | Event::Violated { agents, .. } = event
                {
                    self.check_agents(&format!("{place}.events"), agents)?;
                }
                if let Event::Violated { rule, .. } = event {
                    check_rule(&format!("{place}.events"), rule)?;
                }
            }
            self.check_state(&format!("{place}.changes"), &step.changes)?;
        }
        Ok(())
    }

    fn check_outcome(&self) -> Result<(), String> {
        let outcome = &self.outcome;
        self.check_agent("outcome.agent", outcome.agent)?;
        self.check_agents("outcome.agents", &outcome.agents)?;
        for related in &outcome.related {
            self.check_agent("outcome.related", related.agent)?;
        }
        if let Some(Detail::Conflict { earlier, .. }) = &outcome.detail {
            self.check_agent("outcome.detail.earlier", *earlier)?;
        }
        match (outcome.kind, &outcome.rule) {
            (OutcomeKind::Violation, None) => return Err("outcome.rule: a violation has a rule".to_owned()),
            (OutcomeKind::Violation, Some(rule)) => check_rule("outcome.rule", rule)?,
            (_, Some(_)) => return Err("outcome.rule: only a violation has a rule".to_owned()),
            (_, None) => {}
        }
        let levels = [Level::Allow, Level::Pedantic, Level::Warning, Level::Error];
        if let Some(level) = &outcome.level
            && !levels.iter().any(|l| l.name() == level)
        {
            return Err(format!("outcome.level: there is no level `{}`", cut(level)));
        }
        let from = outcome.cycle_from;
        if let Some(from) = from.filter(|from| *from >= self.steps.len()) {
            return Err(format!("outcome.cycle_from: there is no step {from}, only {}", self.steps.len()));
        }
        if outcome.rule.as_deref() == Some(Rule::StuckAgent.name()) && from.is_none() {
            return Err("outcome.cycle_from: `stuck-agent` is shown by a cycle".to_owned());
        }
        Ok(())
    }
}

fn check_rule(place: &str, rule: &str) -> Result<(), String> {
    match Rule::from_name(rule) {
        Some(_) => Ok(()),
        None => Err(format!("{place}: there is no rule `{}`", cut(rule))),
    }
}

/// The beginning of a text from a file.
fn cut(text: &str) -> String {
    const MOST: usize = 40;
    let printable = |c: char| if c.is_control() { '?' } else { c };
    let start: String = text.chars().take(MOST).map(printable).collect();
    if text.chars().nth(MOST).is_some() { start + "..." } else { start }
}
