//! An answer to where a protocol can be, for people and for programs.

use crate::cli::names;
use crate::cli::narrative;
use crate::cli::output::{Look, Palette, bytes, counted};
use barcheck::whereabouts::{Answer, Hang, Shown, Whereabouts};
use barcheck_counterexamples::trace::{AgentState, Awaits, BarrierState, Status, WHERE_FORMAT};
use barcheck_counterexamples::{Situation, Trace, agents, harmless, noun};
use serde::Serialize;
use std::fmt::Write;

/// Text for people.
pub(super) fn human(name: &str, found: &Whereabouts, look: Look) -> String {
    let palette = look.palette;
    let kernel = found.kernel.as_ref().map(|kernel| names::kernel(kernel, found.entry));
    let kernel = kernel.map(|kernel| format!(", kernel {kernel}")).unwrap_or_default();
    let word = found.answer.name();
    let word = match found.answer {
        Answer::Hangs => palette.bad(word),
        Answer::Reachable | Answer::Inconclusive => palette.unsure(word),
        Answer::Unreachable => palette.good(word),
    };
    let verdict = harmless(&verdict(found));
    let mut text = format!("{word} {name}{kernel}: {verdict}, {}\n", effort(found));
    if let Some(shown) = &found.shown {
        places(&mut text, found, shown);
    } else {
        for (who, place) in together(found.wanted.iter().map(|w| (w.agent, said_of(&w.place)))) {
            let _ = writeln!(text, "  {} {}", agents(found.noun, &who), harmless(&place));
        }
        nearest(&mut text, found, palette);
    }
    if let Some(shown) = found.shown.as_ref().or(found.passing.as_ref()) {
        text.push('\n');
        text.push_str(&narrative::narrative(&shown.trace, look));
        if let Some(left_out) = &shown.left_out {
            let _ = writeln!(text, "  {}", palette.faint(left_out));
        }
    }
    // What was assumed is read after the answer.
    if !found.remarks.is_empty() {
        text.push('\n');
    }
    for (places, remark) in alike(&found.remarks) {
        let at = if places.is_empty() { String::new() } else { format!(" ({places})") };
        let _ = writeln!(text, "  {} {}{at}", palette.faint("note:"), harmless(&remark));
    }
    text
}

/// Remarks that say the same of several lines, once, with the lines.
fn alike(remarks: &[String]) -> Vec<(String, String)> {
    let mut groups: Vec<(&str, Vec<&str>)> = Vec::new();
    for remark in remarks {
        let at = remark.rsplit_once(" (line ").and_then(|(says, at)| Some((says, at.strip_suffix(')')?)));
        let (says, line) = at.map_or((remark.as_str(), None), |(says, line)| (says, Some(line)));
        match groups.iter_mut().find(|(known, _)| *known == says) {
            Some((_, lines)) => lines.extend(line),
            None => groups.push((says, line.into_iter().collect())),
        }
    }
    let of = |lines: &[&str]| match lines {
        [] => String::new(),
        [line] => format!("line {line}"),
        lines if lines.len() <= 8 => format!("lines {}", lines.join(", ")),
        lines => format!("lines {} and {} more", lines[..7].join(", "), lines.len() - 7),
    };
    groups.into_iter().map(|(says, lines)| (of(&lines), says.to_owned())).collect()
}

/// The answer, in a sentence without a full stop.
fn verdict(found: &Whereabouts) -> String {
    let why = || found.reason.as_ref().map(|reason| reason.line()).unwrap_or_default();
    let steps = found.shown.as_ref().map_or(0, |shown| shown.trace.length() as u64);
    let steps = match steps {
        0 => "it is so from the beginning".to_owned(),
        steps => format!("a run gets there in {}", counted(steps, "step")),
    };
    match (found.answer, found.hang) {
        (Answer::Hangs, _) => format!("{steps}, and nobody can ever go on"),
        (Answer::Reachable, Hang::Excluded) => {
            format!("{steps}; it never hangs there: somebody can always go on")
        }
        (Answer::Reachable, Hang::Never) => {
            format!("{steps}; it never hangs there, nor anywhere else")
        }
        (Answer::Reachable, Hang::Undecided) => {
            format!("{steps}; whether it can hang there is not known: {}", why())
        }
        (Answer::Reachable, _) => steps,
        (Answer::Unreachable, Hang::Never) if found.passing.is_none() && found.nearest.is_empty() => {
            "no run hangs there, nor anywhere else".to_owned()
        }
        (Answer::Unreachable, _) if found.passing.is_some() => {
            "no run hangs there; one gets there, and somebody can always go on".to_owned()
        }
        (Answer::Unreachable, _) if asks_for_hang(found) => "no run hangs there".to_owned(),
        (Answer::Unreachable, _) => "no run gets there".to_owned(),
        (Answer::Inconclusive, _) if found.passing.is_some() => {
            format!("a run gets there; whether it can hang there is not known: {}", why())
        }
        (Answer::Inconclusive, _) => format!("no run that gets there was found: {}", why()),
    }
}

/// Whether the nearest states are those in which nobody can go on.
fn asks_for_hang(found: &Whereabouts) -> bool {
    found.nearest.first().is_some_and(|nearest| nearest.hangs) && found.hang != Hang::NotAsked
}

fn effort(found: &Whereabouts) -> String {
    let statistics = &found.statistics;
    if found.hang == Hang::Never && statistics.states == 0 {
        return format!("as is proved, {:.2} s", statistics.seconds);
    }
    let all = if found.answer == Answer::Unreachable { ", all searched" } else { "" };
    let (states, memory) = (counted(statistics.states, "state"), bytes(statistics.peak_memory_bytes));
    format!("{states}{all}, {:.2} s, {memory}", statistics.seconds)
}

/// Where everybody who was named is, and what for.
fn places(text: &mut String, found: &Whereabouts, shown: &Shown) {
    let end = shown.trace.last_situation();
    let said = shown.met.iter().filter_map(|position| {
        let wanted = &found.wanted[*position];
        let state = end.agents.get(&wanted.agent)?;
        Some((wanted.agent, standing(&shown.trace, &end, state, &wanted.place)))
    });
    for (who, said) in together(said) {
        let _ = writeln!(text, "  {}: {}", agents(noun(&shown.trace), &who), harmless(&said));
    }
}

/// Agents of which the same is said.
fn together(said: impl Iterator<Item = (u32, String)>) -> Vec<(Vec<u32>, String)> {
    let mut groups: Vec<(Vec<u32>, String)> = Vec::new();
    for (agent, said) in said {
        match groups.iter_mut().find(|(_, other)| *other == said) {
            Some((agents, _)) => agents.push(agent),
            None => groups.push((vec![agent], said)),
        }
    }
    groups.iter_mut().for_each(|(agents, _)| agents.sort_unstable());
    groups
}

/// `line 14, bar.sync 1, 64: waiting for barrier 1, generation 3: 32 of 64 threads have arrived`.
fn standing(trace: &Trace, end: &Situation, state: &AgentState, place: &str) -> String {
    let instruction = match state.instruction.as_str() {
        "" => String::new(),
        "}" => ", the end of its block".to_owned(),
        written => format!(", {written}"),
    };
    match (state.status, state.waits) {
        (Status::Exited, _) => "exited".to_owned(),
        (Status::Blocked, Some(waits)) => {
            let name = trace.barriers.iter().find(|barrier| barrier.barrier == waits.barrier);
            let name = name.map_or_else(|| format!("barrier {}", waits.barrier), |b| b.name.clone());
            let what = match (waits.awaits, end.barriers.get(&waits.barrier)) {
                (Awaits::Lanes, _) => ", for the other lanes of its warp".to_owned(),
                (Awaits::Agents, Some(barrier)) => counts(trace, barrier),
                (Awaits::Agents, None) => String::new(),
            };
            format!("{place}{instruction}: waiting for {name}{what}")
        }
        (Status::Blocked, None) => format!("{place}{instruction}: waiting"),
        (Status::Failed, _) => format!("{place}{instruction}: its computation has failed"),
        (Status::Running, _) => format!("{place}{instruction}: could go on"),
    }
}

fn counts(trace: &Trace, barrier: &BarrierState) -> String {
    let noun = noun(trace);
    let who = |sorted: &[u32]| agents(noun, sorted);
    let mut said = format!(", generation {}", barrier.generation + 1);
    let counts: Vec<String> = barrier
        .counts
        .iter()
        .map(|count| format!("{} of {} {}", count.arrived, count.expected, count.of))
        .collect();
    if !counts.is_empty() {
        let _ = write!(said, ": {} have arrived", counts.join(", "));
    }
    match barrier.missing.as_slice() {
        [] if barrier.active => said.push_str("; nobody is left that could arrive"),
        [] => {}
        missing => {
            let _ = write!(said, "; missing: {}", who(missing));
        }
    }
    said
}

fn said_of(place: &str) -> String {
    if place == "exited" { place.to_owned() } else { format!("at {place}") }
}

/// The largest sets of those named that can be there together.
fn nearest(text: &mut String, found: &Whereabouts, palette: Palette) {
    let all = found.wanted.len();
    let proved = if found.answer == Answer::Unreachable { "" } else { " so far" };
    let what = if asks_for_hang(found) { "hang there together" } else { "be there together" };
    let Some(first) = found.nearest.first() else {
        if found.passing.is_none() && found.hang != Hang::Never && found.statistics.states > 0 {
            let nobody = if found.hang == Hang::NotAsked {
                "none of them is ever there"
            } else {
                "none of them is there in any"
            };
            let _ = writeln!(text, "  {nobody}{proved}");
        }
        return;
    };
    let _ = writeln!(text, "\nat most {} of {all} can {what}{proved}:", first.met.len());
    for shown in &found.nearest {
        let end = shown.trace.last_situation();
        let left = (0..all).filter(|position| !shown.met.contains(position));
        let left: Vec<u32> = left.map(|position| found.wanted[position].agent).collect();
        let named = agents(noun(&shown.trace), &left);
        let steps = counted(shown.trace.length() as u64, "step");
        let hangs = if shown.hangs { ", and nobody can go on" } else { "" };
        let _ = writeln!(text, "  {} {named}: {steps}{hangs}", palette.strong("without"));
        let elsewhere = left.iter().filter_map(|agent| {
            let state = end.agents.get(agent)?;
            let line = state.location.map(|at| at.line).filter(|line| *line > 0);
            let place = line.map_or_else(|| "without a line".to_owned(), |line| format!("line {line}"));
            Some((*agent, standing(&shown.trace, &end, state, &place)))
        });
        for (who, said) in together(elsewhere) {
            let who = agents(noun(&shown.trace), &who);
            let _ = writeln!(text, "    {who} then: {}", harmless(&said));
        }
    }
}

#[derive(Serialize)]
pub(super) struct Json<'w> {
    format: &'static str,
    file: &'w str,
    kernel: Option<&'w str>,
    target: &'static str,
    answer: &'static str,
    hang: &'static str,
    message: String,
    at: Vec<JsonWanted<'w>>,
    reason: Option<String>,
    remarks: &'w [String],
    nearest: Vec<JsonNearest<'w>>,
    statistics: JsonStatistics,
    trace: Option<&'w Trace>,
}

#[derive(Serialize)]
struct JsonWanted<'w> {
    agent: u32,
    name: &'w str,
    place: &'w str,
}

#[derive(Serialize)]
struct JsonNearest<'w> {
    agents: Vec<u32>,
    without: Vec<u32>,
    hangs: bool,
    trace: &'w Trace,
}

#[derive(Serialize)]
struct JsonStatistics {
    states: u64,
    transitions: u64,
    depth: u64,
    seconds: f64,
    peak_memory_bytes: u64,
    complete: bool,
}

/// What `--format json` prints.
pub(super) fn json<'w>(file: &'w str, found: &'w Whereabouts) -> Json<'w> {
    let wanted = found.wanted.iter();
    let at =
        wanted.map(|wanted| JsonWanted { agent: wanted.agent, name: &wanted.name, place: &wanted.place });
    let numbers = |positions: &mut dyn Iterator<Item = usize>| {
        positions.map(|position| found.wanted[position].agent).collect::<Vec<u32>>()
    };
    let nearest = found.nearest.iter().map(|shown| JsonNearest {
        agents: numbers(&mut shown.met.iter().copied()),
        without: numbers(&mut (0..found.wanted.len()).filter(|position| !shown.met.contains(position))),
        hangs: shown.hangs,
        trace: &shown.trace,
    });
    let statistics = &found.statistics;
    Json {
        format: WHERE_FORMAT,
        file,
        kernel: found.kernel.as_deref(),
        target: found.target.name(),
        answer: found.answer.name(),
        hang: found.hang.name(),
        message: verdict(found),
        at: at.collect(),
        reason: found.reason.as_ref().map(|reason| reason.line()),
        remarks: &found.remarks,
        nearest: nearest.collect(),
        statistics: JsonStatistics {
            states: statistics.states,
            transitions: statistics.transitions,
            depth: statistics.depth,
            seconds: statistics.seconds,
            peak_memory_bytes: statistics.peak_memory_bytes,
            complete: statistics.complete,
        },
        trace: found.shown.as_ref().or(found.passing.as_ref()).map(|shown| &shown.trace),
    }
}
