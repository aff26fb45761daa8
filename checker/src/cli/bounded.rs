//! What comes of a protocol whose loops go on as long as all agree, if they make few rounds: a bound often
//! decides what is open without one, or shows it in fewer steps.

use super::output::counted;
use barcheck::{Budgets, Decision, Options, Source, Verdict, decide};
use barcheck_model::rule::Level;
use std::collections::BTreeSet;
use std::time::Duration;

/// Rounds that are tried.
const ROUNDS: [u32; 2] = [1, 2];

/// What a trial may take. It ends by its states, so that it comes to the same everywhere.
const MOST_STATES: u64 = 20_000;
const WITHIN: Duration = Duration::from_secs(5);

/// Of a counterexample with more steps it is tried whether fewer rounds show the same.
const LONG: usize = 40;

/// What a loop begins with.
const WHILE: &str = "while uniform ";

/// That a bound decides a protocol which is not decided, or shows its first error in fewer steps; nothing if
/// it has no such loop, or a bound does neither.
pub(crate) fn note(decision: &Decision, options: &Options) -> Option<String> {
    let is_open = decision.verdict == Verdict::Inconclusive && decision.target.is_some();
    let error = decision.findings.iter().find(|found| found.level == Level::Error);
    let long =
        error.filter(|found| found.smaller.is_none() && !found.is_shortest && found.trace.steps.len() > LONG);
    if decision.extracted.is_some() || !is_open && long.is_none() || options.settings.checkpoint.is_some() {
        return None;
    }
    let loops = loops(&decision.text);
    let (line, first) = loops.first()?.clone();
    let trial = |rounds: u32| {
        let mut options = options.clone();
        let left = match options.settings.budgets.timeout {
            Some(limit) => limit.checked_sub(Duration::from_secs_f64(decision.statistics.seconds))?,
            None => WITHIN,
        };
        let most = options.settings.budgets.max_states.unwrap_or(MOST_STATES).min(MOST_STATES);
        let timeout = Some(left.min(WITHIN));
        let max_memory = options.settings.budgets.max_memory;
        options.settings.budgets = Budgets { max_states: Some(most), max_memory, timeout };
        let text = bounded(&decision.text, rounds);
        Some(decide(&Source::new(&decision.name, text.as_bytes()), &options))
    };
    let more = if loops.len() > 1 { ", and so for each like it," } else { "" };
    let instead =
        |rounds: u32| format!("with `for round in 0..{rounds}` in place of `{first}` (line {line}){more} ");
    if let Some(error) = long {
        return ROUNDS.into_iter().find_map(|rounds| {
            let found = trial(rounds)?;
            let same = found.findings.iter().find(|other| {
                (other.rule, other.level) == (error.rule, error.level)
                    && other.trace.steps.len() < error.trace.steps.len()
            })?;
            let steps = counted(same.trace.steps.len() as u64, "step");
            Some(format!("{}`{}` shows in {steps}", instead(rounds), error.rule.name()))
        });
    }
    let rounds = *ROUNDS.last()?;
    let found = trial(rounds)?;
    match found.verdict {
        Verdict::Verified => {
            Some(format!("{}it is verified, which says nothing of more rounds", instead(rounds)))
        }
        Verdict::Violated => {
            let rule = found.findings.iter().find(|found| found.level == Level::Error)?.rule;
            Some(format!("{}it is violated by `{}`", instead(rounds), rule.name()))
        }
        _ => None,
    }
}

/// The loops that go on as long as all agree, each with its line; none if a decision of theirs is made
/// elsewhere too, so that a bound would change what is decided there.
fn loops(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut of_loops, mut all) = (0, 0);
    let mut names = BTreeSet::new();
    for (row, line) in text.lines().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        for (at, _) in code.match_indices(WHILE) {
            let Some(end) = code[at..].find('?') else { continue };
            let name = code[at + WHILE.len()..at + end].trim();
            names.insert(name.to_owned());
            found.push((row + 1, code[at..=at + end].to_owned()));
        }
    }
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or("");
        for (at, _) in code.match_indices("uniform ") {
            let rest = code[at + "uniform ".len()..].trim_start();
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            if names.contains(&name) {
                all += 1;
                of_loops += usize::from(code[..at].ends_with("while "));
            }
        }
    }
    if of_loops == all { found } else { Vec::new() }
}

/// The text with so many rounds of each such loop.
fn bounded(text: &str, rounds: u32) -> String {
    let mut whole = String::new();
    for line in text.split_inclusive('\n') {
        let code = line.split("//").next().unwrap_or("");
        let mut from = 0;
        while let Some(at) = code[from..].find(WHILE).map(|at| from + at) {
            let Some(end) = code[at..].find('?').map(|end| at + end + 1) else { break };
            whole.push_str(&line[from..at]);
            whole.push_str(&format!("for _round in 0..{rounds}"));
            from = end;
        }
        whole.push_str(&line[from..]);
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_get_a_bound_and_comments_are_left() {
        let text = "while uniform more ? { } while uniform ? {}\n// while uniform more ? {\n";
        let lines = [(1, "while uniform more ?".to_owned()), (1, "while uniform ?".to_owned())];
        assert_eq!(loops(text), lines);
        let bound = "for _round in 0..2 { } for _round in 0..2 {}\n// while uniform more ? {\n";
        assert_eq!(bounded(text, 2), bound);
    }

    #[test]
    fn a_decision_that_is_made_elsewhere_too_gets_no_bound() {
        assert_eq!(loops("while uniform n ? { }\nif uniform n ? { }\n"), []);
    }
}
