//! What a page is told.

use barcheck_counterexamples::{Found, Next, Standing, Walk, run_view};
use serde::Serialize;

/// What could be done.
#[derive(Serialize)]
struct Choices<'w> {
    choices: Vec<Way<'w>>,
    /// Agents with more ways to go than are listed.
    capped: &'w [u32],
    stands: &'static str,
}

/// A step that could be made.
#[derive(Serialize)]
struct Way<'w> {
    agent: u32,
    /// Which of its moves.
    #[serde(rename = "move")]
    index: u32,
    pick: u32,
    /// Something lands that the agent has left pending.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    lands: bool,
    /// What that is, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    landing: Option<&'w str>,
    resolved: &'w str,
    line: u32,
    lanes: Option<&'w str>,
    barrier: Option<u32>,
    words: &'w [String],
    violates: Vec<&'static str>,
    spins: bool,
}

/// The answer to what could be done.
pub(crate) fn choices(next: &Next, stands: Standing) -> Result<String, String> {
    let ways = next.possible.iter().map(|possible| Way {
        agent: possible.step.agent,
        index: possible.step.choice.index,
        pick: possible.step.choice.pick,
        lands: possible.step.choice.lands,
        landing: possible.landing.as_deref(),
        resolved: &possible.step.resolved,
        line: possible.step.location.line,
        lanes: possible.step.lanes.as_deref(),
        barrier: possible.step.operands.as_ref().map(|operands| operands.barrier),
        words: &possible.words,
        violates: possible.violates.iter().map(|rule| rule.name()).collect(),
        spins: possible.spins,
    });
    json(&Choices { choices: ways.collect(), capped: &next.capped, stands: standing(stands) })
}

/// Something that a run has shown.
#[derive(Serialize)]
struct Shown<'w> {
    /// After so many steps.
    step: usize,
    kind: &'w barcheck_counterexamples::trace::OutcomeKind,
    rule: Option<&'w str>,
    level: Option<&'w str>,
    headline: &'w str,
}

/// The answer about a run, which ends with all that the page shows of it. `stopped` says why it went no
/// further by itself.
pub(crate) fn run(walk: &Walk, at: usize, stopped: Option<&str>) -> Result<String, String> {
    let numbers = |step: &barcheck_counterexamples::trace::Step| {
        let mut numbers = vec![step.agent, step.choice.index, step.choice.pick];
        numbers.extend(step.choice.lands.then_some(1));
        numbers
    };
    let own: Vec<Vec<u32>> = walk.steps().iter().skip(at).map(numbers).collect();
    let shown = |found: &'_ Found| -> Result<String, String> {
        let outcome = &found.outcome;
        json(&Shown {
            step: found.step,
            kind: &outcome.kind,
            rule: outcome.rule.as_deref(),
            level: outcome.level.as_deref(),
            headline: &outcome.headline,
        })
    };
    let found: Vec<String> = walk.found().iter().map(shown).collect::<Result<_, _>>()?;
    let (trace, shows) = walk.trace();
    let view = run_view(&trace, shows).map_err(unwritable)?;
    Ok(format!(
        r#"{{"at":{at},"own":{},"stands":{},"stopped":{},"found":[{}],"view":{view}}}"#,
        json(&own)?,
        json(&standing(walk.standing()))?,
        json(&stopped)?,
        found.join(","),
    ))
}

/// What is wrong with a question.
pub(crate) fn error(message: &str) -> String {
    #[derive(Serialize)]
    struct Wrong<'m> {
        error: &'m str,
    }
    json(&Wrong { error: message }).unwrap_or_else(|_| r#"{"error":"unknown"}"#.to_owned())
}

fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Open => "open",
        Standing::Finished => "finished",
        Standing::Over => "over",
    }
}

fn json<T: Serialize>(value: &T) -> Result<String, String> {
    serde_json::to_string(value).map_err(unwritable)
}

/// Everything can be written; the words for why it could not would be a part of every page.
fn unwritable(_: serde_json::Error) -> String {
    "the answer cannot be written".to_owned()
}
