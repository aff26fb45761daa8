//! The page of a protocol that is verified: what was proved, of what, and how it runs.

use super::sheet::{badge, sheet};
use crate::cli::deadline::Deadline;
use crate::cli::decided::Decided;
use crate::cli::human;
use crate::cli::input::display_name;
use crate::cli::output::{bytes, counted, grouped};
use crate::cli::rules::first_sentence;
use barcheck_counterexamples::trace::Event;
use barcheck_counterexamples::{SourceInfo, Standing, Walk, html_text, run_picture};
use barcheck_model::machine::Choice;
use barcheck_model::program::{AgentId, Target};
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::{LoadOptions, Source, clauses, load_within};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;

/// Steps of the schedule that is shown, at most.
const MOST_STEPS: usize = 200;
/// How long it may take to make it.
const MOST_TIME: Duration = Duration::from_secs(2);
/// Agents of a schedule that is shown, at most: each has a column.
const MOST_AGENTS: usize = 32;

/// What was proved of a protocol that is verified; nothing if it is not.
pub(crate) fn proof(decided: &Decided) -> Option<String> {
    let target = decided.target.filter(|_| decided.verdict == barcheck::Verdict::Verified)?;
    let name = display_name(&decided.path);
    let mut body = format!(
        "<header class=\"top\">{}<h1>{}</h1><span class=\"faint\">{target}</span></header>\n",
        badge("verified", "verified"),
        html_text(&decided.title())
    );
    body.push_str(&proved(decided));
    section(&mut body, "Search", &figures(decided));
    section(&mut body, "Protocol", &source(&decided.text));
    match schedule(decided, target, &name) {
        Ok((title, picture)) => {
            section(&mut body, title, &format!("<div class=\"body picture\">{picture}</div>"));
        }
        Err(why) => {
            section(&mut body, "Schedule", &format!("<div class=\"body\">{}</div>", html_text(&why)));
        }
    }
    section(&mut body, "Rules", &rules(decided, target));
    Some(sheet(&format!("verified: {}", decided.title()), &body))
}

fn section(body: &mut String, title: &str, contents: &str) {
    let _ = write!(body, "<section><h2>{}</h2>\n{contents}\n</section>\n", html_text(title));
}

/// What the verdict says, and what it does not.
fn proved(decided: &Decided) -> String {
    let mut text = "<p>No schedule of this protocol violates a rule that is an error. That holds for the \
                    sizes and values below, and for the protocol as it is described, not for a kernel that \
                    does something else.</p>\n"
        .to_owned();
    let warnings = decided.findings.len() as u64;
    if warnings > 0 {
        let _ = writeln!(text, "<p>{}, see below.</p>", badge("warning", &counted(warnings, "warning")));
    }
    if let Some(odds) = decided.statistics.odds_of_omission {
        let _ = writeln!(text, "<p>{}.</p>", html_text(&human::from_hashes(odds)));
    }
    text
}

/// Every rule of the target, with the level in force and what came of it.
fn rules(decided: &Decided, target: Target) -> String {
    let mut text =
        "<table>\n<tr><th>rule</th><th>level</th><th></th><th>a violation is</th></tr>\n".to_owned();
    let level = |rule: Rule| decided.options.settings.levels.of(rule, target);
    let mut rules: Vec<Rule> = Rule::ALL.iter().copied().filter(|rule| rule.holds_for(target)).collect();
    // By level, the gravest first; within one, by name.
    rules.sort_by_key(|rule| std::cmp::Reverse(level(*rule)));
    for rule in rules {
        let found = decided.findings.iter().find(|found| found.rule == rule);
        let came = match (level(rule), found) {
            (_, Some(found)) => format!("{}: {}", found.level.name(), found.trace.outcome.headline),
            (Level::Error, None) => "never violated".to_owned(),
            (Level::Warning, None) => "not found".to_owned(),
            (Level::Pedantic | Level::Allow, None) => "not reported".to_owned(),
        };
        let meaning = clauses::catalogue().rule(rule.name()).map_or("", |known| known.meaning.as_str());
        let _ = writeln!(
            text,
            "<tr><td class=\"name\"><code>{rule}</code></td><td class=\"name\">{}</td><td class=\"came\">{}</td><td>{}</td></tr>",
            level(rule).name(),
            html_text(&came),
            html_text(first_sentence(meaning)),
        );
    }
    text.push_str("</table>");
    text
}

/// How much was searched, and how.
fn figures(decided: &Decided) -> String {
    let statistics = &decided.statistics;
    let defines: Vec<_> =
        decided.options.load.defines.iter().map(|(name, value)| format!("-D {name}={value}")).collect();
    let rows = [
        ("values set", if defines.is_empty() { "none".to_owned() } else { defines.join(" ") }),
        ("states", grouped(statistics.states)),
        ("transitions", grouped(statistics.transitions)),
        ("depth", grouped(statistics.depth)),
        ("time", format!("{:.2} s", statistics.seconds)),
        ("memory", bytes(statistics.peak_memory_bytes)),
        ("engine", decided.method.engine.name().to_owned()),
        ("reduction", decided.method.reduction.name().to_owned()),
        ("why", decided.method.why.clone()),
    ];
    let row = |(name, value): &(&str, String)| {
        format!("<tr><td class=\"name faint\">{name}</td><td>{}</td></tr>\n", html_text(value))
    };
    format!("<table>\n{}</table>", rows.iter().map(row).collect::<String>())
}

/// The text with numbers of lines.
fn source(text: &str) -> String {
    let width = text.lines().count().to_string().len();
    let mut lines = String::new();
    for (number, line) in (1..).zip(text.lines()) {
        let _ = writeln!(lines, "<span class=\"number\">{number:>width$}</span>  {}", html_text(line));
    }
    format!("<div class=\"body\"><pre>{lines}</pre></div>")
}

/// One schedule, in which agents take turns: what it is, and a picture. The error says why there is none.
fn schedule(decided: &Decided, target: Target, name: &str) -> Result<(&'static str, String), String> {
    let deadline = Deadline::new(Some(MOST_TIME));
    let patience = deadline.patience();
    let late = || format!("None is shown: none was made within {} s.", MOST_TIME.as_secs());
    let defines = decided.options.load.defines.clone();
    let source = Source::new(&decided.name, decided.text.as_bytes());
    let loaded = load_within(&source, &LoadOptions { defines }, patience).map_err(|_| late())?;
    if loaded.program.agents.len() > MOST_AGENTS {
        return Err(format!("None is shown: there are more than {MOST_AGENTS} agents."));
    }
    let info = SourceInfo {
        file: name.to_owned(),
        format: loaded.format.name().to_owned(),
        defines: loaded.used_defines(&decided.options.load),
        text: loaded.text,
    };
    let program = Arc::new(loaded.program);
    let mut walk = Walk::within(program, decided.options.readings, info, None, patience.clone());
    while walk.steps().len() < MOST_STEPS && !patience.is_over() {
        let Some(choice) = next(&mut walk) else { break };
        if walk.step(choice).is_err() {
            break;
        }
    }
    let standing = walk.standing();
    if patience.is_over() {
        return Err(late());
    }
    let steps = counted(walk.steps().len() as u64, "step");
    let (title, headline) = match standing {
        Standing::Finished => ("One complete schedule", format!("One of many schedules, in {steps}")),
        Standing::Open => {
            ("The beginning of a schedule", format!("The first {steps} of one of many schedules"))
        }
        // It would not be verified.
        Standing::Over => return Err("None is shown: the one that was made has no end.".to_owned()),
    };
    let (mut trace, _) = walk.trace();
    trace.outcome.headline = headline;
    // A pedantic rule that nobody has asked for is not reported elsewhere either.
    let level =
        |rule: &str| Rule::from_name(rule).map(|rule| decided.options.settings.levels.of(rule, target));
    let is_told = |event: &Event| match event {
        Event::Violated { rule, .. } => level(rule).is_some_and(|level| level >= Level::Warning),
        _ => true,
    };
    trace.steps.iter_mut().for_each(|step| step.events.retain(is_told));
    Ok((title, run_picture(&trace)))
}

/// The step of whoever is next: agents take turns.
fn next(walk: &mut Walk) -> Option<Choice> {
    let group = walk.agents().count();
    let after = walk.steps().last().map_or(0, |step| step.agent as usize + 1);
    (0..group).find_map(|turn| walk.first(AgentId::from_index((after + turn) % group)))
}
