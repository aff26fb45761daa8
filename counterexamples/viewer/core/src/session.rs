//! Questions about one trace, and their answers.

use std::collections::HashSet;
use std::sync::Arc;

use barcheck_counterexamples::trace::{ExitedThreads, FORMAT};
use barcheck_counterexamples::{SourceInfo, Standing, Walk};
use barcheck_model::machine::{self, Options};
use barcheck_model::program::{AgentId, Program};
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::bar::{self, LoadOptions};

use crate::answer;
use crate::question::{Given, On, Question, choice};

/// Ways to go that are listed of one agent.
const MOST_WAYS: usize = 64;
/// Steps of one's own, at most.
const MOST_OWN: usize = 20_000;

/// What could have happened instead of one trace.
pub struct Session {
    program: Arc<Program>,
    options: Options,
    source: SourceInfo,
    told: Option<(Rule, Level)>,
    /// The trace's own steps.
    steps: Vec<machine::Choice>,
    /// The run that was asked about last.
    walk: Walk,
}

impl Session {
    /// Opens a trace, given as JSON.
    ///
    /// # Errors
    /// A message: it is no trace, or its protocol cannot be read.
    pub fn open(trace: &str) -> Result<Self, String> {
        let given: Given = serde_json::from_str(trace).map_err(|error| format!("it is no trace: {error}"))?;
        if given.format != FORMAT {
            return Err(format!("it is no trace: the format is not {FORMAT}"));
        }
        let protocol = given.protocol;
        let load = LoadOptions { defines: protocol.defines.clone() };
        let loaded = bar::load(protocol.source.as_bytes(), &load).map_err(|diagnostics| {
            let first = diagnostics.first().map_or("malformed", |first| first.message.as_str());
            format!("the protocol cannot be read: {first}")
        })?;
        let exited_threads = match protocol.exited_threads {
            ExitedThreads::Hold => machine::ExitedThreads::Hold,
            ExitedThreads::Release => machine::ExitedThreads::Release,
        };
        let levels = [Level::Allow, Level::Pedantic, Level::Warning, Level::Error];
        let level = levels.into_iter().find(|level| given.outcome.level.as_deref() == Some(level.name()));
        let rule = given.outcome.rule.as_deref().and_then(Rule::from_name);
        let program = Arc::new(loaded.program);
        let options = Options { exited_threads };
        let source = SourceInfo {
            file: protocol.file,
            format: protocol.format,
            text: protocol.source,
            defines: protocol.defines,
        };
        let told = rule.zip(level);
        let walk = Walk::new(Arc::clone(&program), options, source.clone(), told);
        let step = |step: crate::question::GivenStep| {
            choice((step.agent, step.choice.index, step.choice.pick))
        };
        let steps = given.steps.into_iter().map(step).collect();
        Ok(Self { program, options, source, told, steps, walk })
    }

    /// Answers a question, which is JSON, with JSON: an object whose field `error` says what is wrong, if anything.
    pub fn ask(&mut self, question: &str) -> String {
        self.answer(question).unwrap_or_else(|message| answer::error(&message))
    }

    fn answer(&mut self, question: &str) -> Result<String, String> {
        let question: Question =
            serde_json::from_str(question).map_err(|error| format!("it is no question: {error}"))?;
        let way = self.way(&question)?;
        if let Some(after) = question.after {
            let way = way.get(..after).ok_or_else(|| format!("the run has no {after} steps"))?;
            self.walk_along(way)?;
            let next = self.walk.next(MOST_WAYS);
            return answer::choices(&next, self.walk.standing());
        }
        self.walk_along(&way)?;
        let stopped = question.on.map(|on| self.go_on(&on)).transpose()?;
        answer::run(&self.walk, question.at, stopped.as_deref())
    }

    /// The steps that a question is about.
    fn way(&self, question: &Question) -> Result<Vec<machine::Choice>, String> {
        let at = question.at;
        let begins = self.steps.get(..at).ok_or_else(|| format!("the trace has no {at} steps"))?;
        if question.own.len() > MOST_OWN {
            return Err(format!("a run of one's own has {MOST_OWN} steps at most"));
        }
        Ok(begins.iter().copied().chain(question.own.iter().copied().map(choice)).collect())
    }

    /// Makes these steps; those that were made last are not made again.
    fn walk_along(&mut self, way: &[machine::Choice]) -> Result<(), String> {
        let made = self.walk.steps().iter().map(|s| choice((s.agent, s.choice.index, s.choice.pick)));
        let common = made.zip(way).take_while(|(made, wanted)| made == *wanted).count();
        if common < self.walk.steps().len() {
            self.walk = Walk::new(Arc::clone(&self.program), self.options, self.source.clone(), self.told);
        }
        for choice in &way[self.walk.steps().len()..] {
            self.walk.step(*choice).map_err(|departure| departure.to_string())?;
        }
        Ok(())
    }

    /// Lets the run go on by itself, and says why it went no further.
    fn go_on(&mut self, on: &On) -> Result<String, String> {
        let mut known = HashSet::from([self.walk.state().clone()]);
        let mut decided = 0_usize;
        let begun = self.walk.steps().len();
        let found = self.walk.found().len();
        let why = loop {
            if self.walk.found().len() > found {
                break "something was found".to_owned();
            }
            if self.walk.steps().len() - begun >= on.most.min(MOST_OWN) {
                break format!("{} steps were made", self.walk.steps().len() - begun);
            }
            let Some(choice) = self.whose_turn(on.agent) else {
                break match (self.walk.standing(), on.agent) {
                    (Standing::Finished, _) => "every agent has exited".to_owned(),
                    (Standing::Open, Some(_)) => "it has no step".to_owned(),
                    _ => "no agent has a step".to_owned(),
                };
            };
            decided += usize::from(self.walk.decides(choice));
            self.walk.step(choice).map_err(|departure| departure.to_string())?;
            if !known.insert(self.walk.state().clone()) {
                break "this state was reached before: it can go on like this for ever".to_owned();
            }
        };
        let choices = match decided {
            0 => String::new(),
            1 => "; one choice was made, the first in its list".to_owned(),
            n => format!("; {n} choices were made, each the first in its list"),
        };
        Ok(format!("{why}{choices}"))
    }

    /// The next step of one agent, or of whoever comes after the one that made the last.
    fn whose_turn(&mut self, agent: Option<u32>) -> Option<machine::Choice> {
        let group = self.walk.agents().count();
        if let Some(agent) = agent {
            return self.walk.agents().find(|a| a.0 == agent).and_then(|agent| self.walk.first(agent));
        }
        let after = self.walk.steps().last().map_or(0, |step| step.agent as usize + 1);
        (0..group).find_map(|turn| self.walk.first(AgentId::from_index((after + turn) % group)))
    }
}
