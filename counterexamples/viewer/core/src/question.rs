//! What a page asks. It is plain text, since a reader of JSON would make every page larger by a tenth.

use std::collections::BTreeMap;

use barcheck_counterexamples::SourceInfo;
use barcheck_model::machine::{Choice, ExitedThreads};
use barcheck_model::program::AgentId;
use barcheck_model::rule::{Level, Rule};

/// Of a trace, what it takes to run it again: eight fields, each but the last ended by a NUL.
pub(crate) struct Opening {
    /// The fields `file`, `format`, and, in the end, `source`; `defines` as `N=4,M=-1`.
    pub(crate) source: SourceInfo,
    /// The field `exited_threads`: `hold` or `release`.
    pub(crate) exited_threads: ExitedThreads,
    /// The rule that the trace violates, and its level there; the fields are empty if there is none.
    pub(crate) told: Option<(Rule, Level)>,
    /// The trace's steps: see [`steps`].
    pub(crate) steps: Vec<Choice>,
}

impl Opening {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let fields: Vec<&str> = text.splitn(8, '\0').collect();
        let [file, format, defines, exited_threads, rule, level, steps, source] = fields[..] else {
            return Err(format!("a trace is given by 8 fields, not {}", fields.len()));
        };
        let mut known = BTreeMap::new();
        known.extend(list(defines, define)?);
        let levels = [Level::Allow, Level::Pedantic, Level::Warning, Level::Error];
        Ok(Self {
            source: SourceInfo {
                file: file.to_owned(),
                format: format.to_owned(),
                text: source.to_owned(),
                defines: known,
            },
            exited_threads: match exited_threads {
                "hold" => ExitedThreads::Hold,
                "release" => ExitedThreads::Release,
                _ => return Err("exited threads either hold or release".to_owned()),
            },
            told: Rule::from_name(rule).zip(levels.into_iter().find(|known| known.name() == level)),
            steps: self::steps(steps)?,
        })
    }
}

fn define(text: &str) -> Option<(String, i64)> {
    let (name, value) = text.split_once('=')?;
    Some((name.to_owned(), value.parse().ok()?))
}

/// A question about a run.
pub(crate) enum Question {
    /// `run 12:3.0.0,1.0.0`: what it is like.
    Run(Run),
    /// `after 13 12:3.0.0,1.0.0`: what could be done after so many steps of it.
    After(usize, Run),
    /// `on all 500 12:`, `on 3 500 12:`: let it run on, everybody in turns or one agent alone, so many steps
    /// at most.
    On(Option<AgentId>, usize, Run),
}

/// `12:3.0.0,1.0.0`: a run that follows the trace for some steps and then goes its own way.
pub(crate) struct Run {
    pub(crate) at: usize,
    pub(crate) own: Vec<Choice>,
}

impl Question {
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.splitn(4, ' ').collect();
        match words[..] {
            ["run", way] => Ok(Self::Run(run(way)?)),
            ["after", steps, way] => Ok(Self::After(number(steps)?, run(way)?)),
            ["on", "all", most, way] => Ok(Self::On(None, number(most)?, run(way)?)),
            ["on", agent, most, way] => Ok(Self::On(Some(AgentId(number(agent)?)), number(most)?, run(way)?)),
            _ => Err("a question begins with `run`, `after` or `on`".to_owned()),
        }
    }
}

fn run(text: &str) -> Result<Run, String> {
    let (at, own) = text.split_once(':').ok_or("a run has a `:` where it leaves the trace")?;
    Ok(Run { at: number(at)?, own: steps(own)? })
}

/// Steps, each as agent, move and pick, and a 1 where something lands that the agent has left pending:
/// `3.0.0,1.0.2,3.0.0.1`.
fn steps(text: &str) -> Result<Vec<Choice>, String> {
    list(text, |step| {
        let mut parts = step.split('.').map(|part| part.parse().ok());
        let mut part = || parts.next().flatten();
        let (agent, index, pick) = (AgentId(part()?), part()?, part()?);
        let choice = match parts.next() {
            None => Choice::of(agent, index, pick),
            Some(Some(1)) => Choice::landing(agent, index),
            Some(_) => return None,
        };
        parts.next().is_none().then_some(choice)
    })
}

/// Parts between commas; nothing is no part.
fn list<T>(text: &str, part: impl Fn(&str) -> Option<T>) -> Result<Vec<T>, String> {
    let parts = text.split(',').filter(|_| !text.is_empty());
    parts.map(|text| part(text).ok_or_else(|| format!("`{}` cannot be read", cut(text)))).collect()
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("`{}` is no number", cut(text)))
}

/// The beginning of a text.
fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}
