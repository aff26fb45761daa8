//! Questions about one trace, and their answers.

use std::collections::HashSet;
use std::sync::Arc;

use barcheck_counterexamples::trace::Step;
use barcheck_counterexamples::{Standing, Walk};
use barcheck_model::machine::{Choice, Options};
use barcheck_model::program::AgentId;
use barcheck_specs::{Format, LoadOptions, Source, load};

use crate::answer;
use crate::question::{Opening, Question, Run};

/// Ways to go that are listed of one agent.
const MOST_WAYS: usize = 64;
/// Steps of one's own, at most.
const MOST_OWN: usize = 20_000;

/// What could have happened instead of one trace.
pub struct Session {
    /// The trace's own steps.
    steps: Vec<Choice>,
    /// The run that was asked about last.
    walk: Walk,
}

impl Session {
    /// Opens a trace, given by its fields.
    ///
    /// # Errors
    /// A message: a field is missing or makes no sense, or the protocol cannot be read.
    pub fn open(fields: &str) -> Result<Self, String> {
        let Opening { source, exited_threads, told, steps } = Opening::read(fields)?;
        let unreadable = |why: &dyn std::fmt::Display| format!("the protocol cannot be read: {why}");
        let format = Some(Format::named(&source.format).map_err(|unknown| unreadable(&unknown))?);
        let written = Source { name: &source.file, bytes: source.text.as_bytes(), format };
        let loaded = load(&written, &LoadOptions { defines: source.defines.clone() })
            .map_err(|error| unreadable(&error))?;
        let options = Options { exited_threads };
        Ok(Self { steps, walk: Walk::new(Arc::new(loaded.program), options, source, told) })
    }

    /// Answers a question with JSON: an object whose field `error` says what is wrong, if anything.
    pub fn ask(&mut self, question: &str) -> String {
        self.answer(question).unwrap_or_else(|message| answer::error(&message))
    }

    fn answer(&mut self, question: &str) -> Result<String, String> {
        match Question::read(question)? {
            Question::Run(run) => {
                self.walk_along(&self.way(&run)?)?;
                answer::run(&self.walk, run.at, None)
            }
            Question::After(steps, run) => {
                let way = self.way(&run)?;
                let way = way.get(..steps).ok_or_else(|| format!("the run has no {steps} steps"))?;
                self.walk_along(way)?;
                answer::choices(&self.walk.next(MOST_WAYS), self.walk.standing())
            }
            Question::On(agent, most, run) => {
                self.walk_along(&self.way(&run)?)?;
                let stopped = self.go_on(agent, most)?;
                answer::run(&self.walk, run.at, Some(&stopped))
            }
        }
    }

    /// The steps of a run.
    fn way(&self, run: &Run) -> Result<Vec<Choice>, String> {
        let begins = self.steps.get(..run.at).ok_or_else(|| format!("the trace has no {} steps", run.at))?;
        if run.own.len() > MOST_OWN {
            return Err(format!("a run of one's own has {MOST_OWN} steps at most"));
        }
        Ok([begins, &run.own].concat())
    }

    /// Makes these steps; those that were made last are not made again.
    fn walk_along(&mut self, way: &[Choice]) -> Result<(), String> {
        let same = |(made, wanted): &(&Step, &Choice)| made.again() == **wanted;
        let common = self.walk.steps().iter().zip(way).take_while(same).count();
        self.walk.take_back(common).map_err(|departure| departure.to_string())?;
        for choice in &way[self.walk.steps().len()..] {
            self.walk.step(*choice).map_err(|departure| departure.to_string())?;
        }
        Ok(())
    }

    /// Lets the run go on by itself, and says why it went no further.
    fn go_on(&mut self, agent: Option<AgentId>, most: usize) -> Result<String, String> {
        let mut known = HashSet::from([self.walk.state().clone()]);
        let mut decided = 0_usize;
        let begun = self.walk.steps().len();
        let found = self.walk.found().len();
        let why = loop {
            if self.walk.found().len() > found {
                break "something was found".to_owned();
            }
            match self.walk.standing() {
                Standing::Open => {}
                Standing::Finished => break "every agent has exited".to_owned(),
                Standing::Over => break "it ended".to_owned(),
            }
            let made = self.walk.steps().len() - begun;
            if made > 0 && !known.insert(self.walk.state().clone()) {
                break format!("this state was reached before{}", self.blocked_for_ever());
            }
            if made >= most.min(MOST_OWN) {
                break format!("{made} steps were made");
            }
            let Some(choice) = self.whose_turn(agent) else { break "it has no step".to_owned() };
            decided += usize::from(self.walk.decides(choice));
            self.walk.step(choice).map_err(|departure| departure.to_string())?;
        };
        let choices = match decided {
            0 => String::new(),
            1 => "; one choice was made, the first in its list".to_owned(),
            n => format!("; {n} choices were made, each the first in its list"),
        };
        Ok(format!("{why}{choices}"))
    }

    /// What there is to say of a run that can go on for ever.
    fn blocked_for_ever(&self) -> String {
        let blocked = self.walk.blocked();
        match blocked.is_empty() {
            true => ": it can go on like this for ever".to_owned(),
            false => format!(
                "; it can go on like this for ever while {blocked} cannot: a stuck-agent, if nothing else can happen"
            ),
        }
    }

    /// The next step of one agent, or of whoever comes after the one that made the last.
    fn whose_turn(&mut self, agent: Option<AgentId>) -> Option<Choice> {
        let group = self.walk.agents().count();
        if let Some(agent) = agent {
            return self.walk.agents().find(|a| *a == agent).and_then(|agent| self.walk.first(agent));
        }
        let after = self.walk.steps().last().map_or(0, |step| step.agent as usize + 1);
        (0..group).find_map(|turn| self.walk.first(AgentId::from_index((after + turn) % group)))
    }
}
