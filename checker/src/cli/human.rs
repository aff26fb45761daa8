//! The report for people, in the manner of cargo and rustc.

use super::accesses::followed;
use super::assumed::{is_note, notes};
use super::because;
use super::coverage;
use super::decided::{Decided, Known};
use super::expect;
use super::names;
use super::notices::not_found;
use super::origin;
use super::output::{Look, Palette, bytes, counted, error_line, grouped};
use super::rendered::{rendered, shown};
use super::written::Written;
use barcheck::{
    Allowed, Decision, Engine, Finding, Method, Reason, Reduction, Smaller, Statistics, Trouble, Verdict,
};
use barcheck_counterexamples::{PlaceLabel, Trace, agents, harmless, noun};
use barcheck_model::program::Place;
use barcheck_model::rule::Level;
use barcheck_specs::{Diagnostic, Extracted, LineIndex, Lint};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Ways through unknown data that are listed.
const WAYS: usize = 6;

/// Of a counterexample with more steps it is said that a shorter one may show the same.
const LONG: usize = 40;

/// What goes to standard error before the report: what is wrong with the text, or that there is none.
pub(crate) fn on_standard_error(decided: &Decided, palette: Palette) -> String {
    if decided.is_as_expected() {
        return String::new();
    }
    let name = shown(&decided.name);
    if is_unreadable(decided) {
        let message = decided.reason.as_ref().map(Reason::line).unwrap_or_default();
        return error_line(palette, format_args!("cannot read {name}: {message}"));
    }
    let complaints: Vec<Diagnostic> =
        decided.diagnostics.iter().filter(|said| !is_note(said)).cloned().collect();
    let mut text = barcheck_specs::render(&complaints, &name, &decided.text, palette.colour());
    if is_malformed(decided) {
        let errors = complaints.len() as u64;
        let title = decided.title();
        let because = format!("could not read {title} because of {}", counted(errors, "error"));
        text.push_str(&error_line(palette, because));
    }
    text
}

/// What goes to standard output: verdict, findings and counterexamples.
pub(crate) fn on_standard_output(decided: &Decided, written: &[Written], quiet: bool, look: Look) -> String {
    let palette = look.palette;
    let report = &decided.decision;
    if decided.is_as_expected() {
        let mut text = if quiet { String::new() } else { as_expected(decided, palette) };
        text.push_str(&coverage_table(decided, palette));
        text.push_str(&places(written, palette));
        return text;
    }
    let mut text = difference(decided, palette);
    let silent = quiet && report.verdict == Verdict::Verified && is_spotless(decided);
    if is_unreadable(decided) || is_malformed(decided) || silent {
        return text;
    }
    text.push_str(&headline(decided, quiet, palette));
    if let Some(extracted) = report.extracted.as_ref().filter(|_| !quiet) {
        text.push_str(&looked_at(extracted));
    }
    if let Some(reason) = decided.reason.as_ref().or(decided.uncovered.as_ref()) {
        text.push_str(&because::because(decided, reason, palette));
    }
    if let Some(path) = &decided.path_to_stop {
        text.push_str(&narrative(path, look));
    }
    let lines = LineIndex::new(&decided.text);
    text.push_str(&what_is_known(decided, palette));
    for (number, (found, known)) in decided.judged_findings().enumerate() {
        if known {
            continue;
        }
        text.push('\n');
        let is_error = |(found, _): &(&Finding, bool)| found.level == Level::Error;
        let is_first = decided.judged_findings().position(|judged| is_error(&judged)) == Some(number);
        let bounded = decided.bounded.as_deref().filter(|_| is_first);
        text.push_str(&finding((report, bounded), found, &lines, palette));
        // Findings on one path share its narrative.
        let mut earlier = decided.judged_findings().take(number).filter(|(_, known)| !known);
        let told = earlier.any(|(earlier, _)| earlier.trace.steps == found.trace.steps);
        if found.level == Level::Error && !told {
            text.push_str(&narrative(&found.trace, look));
        }
    }
    for (remark, _) in decided.judged_remarks().filter(|(_, known)| !known) {
        text.push('\n');
        text.push_str(&rendered(report, &remark.diagnostic, palette));
    }
    for allowed in &report.allowed {
        text.push_str(&allowed_line(report, allowed, palette));
    }
    text.push_str(&coverage_table(decided, palette));
    text.push_str(&places(written, palette));
    text
}

/// Who can execute what, if that is asked for.
fn coverage_table(decided: &Decided, palette: Palette) -> String {
    let coverage = decided.coverage.as_ref();
    coverage.map(|coverage| coverage::table(coverage, palette)).unwrap_or_default()
}

/// What goes to standard output of a combination of values for which nothing is found that was not found,
/// and told, for an earlier one.
pub(crate) fn once_more(decided: &Decided, written: &[Written], quiet: bool, look: Look) -> String {
    let palette = look.palette;
    let mut text = difference(decided, palette);
    text.push_str(&headline(decided, quiet, palette));
    for remark in &decided.remarks {
        let _ = writeln!(text, "  as before: {}: {}", remark.lint.name(), remark.diagnostic.message);
    }
    for found in &decided.findings {
        let _ = writeln!(text, "  as before: {}", found.trace.outcome.headline);
    }
    text.push_str(&places(written, palette));
    text
}

/// Where counterexamples are.
fn places(written: &[Written], palette: Palette) -> String {
    let line = |file: &Written| format!("  {} {}\n", palette.faint(file.said()), names::shown(&file.path));
    written.iter().map(line).collect()
}

/// `as expected ring.bar (ptx), violated by deadlock: 12 states, …`.
fn as_expected(decided: &Decided, palette: Palette) -> String {
    let target = about(decided);
    let came_to = expect::words(decided.verdict.name(), &expect::rules(decided));
    let figures = match decided.target {
        Some(_) => format!(": {}", palette.faint(statistics(&decided.statistics, &decided.method))),
        None => String::new(),
    };
    let more = match decided.uncovered {
        Some(_) => format!(", {}", palette.unsure("though not all was searched")),
        None => String::new(),
    };
    let head = palette.good("as expected");
    format!("{head} {}{target}, {came_to}{more}{figures}\n", shown(&decided.name))
}

/// `differs ring.bar: expected verified, found violated by deadlock`.
fn difference(decided: &Decided, palette: Palette) -> String {
    let Some(difference) = decided.difference() else { return String::new() };
    format!("{} {}: {difference}\n", palette.bad("differs"), decided.title())
}

/// All there is to say of a file, as it stands in a file of its own.
pub(crate) fn whole(decided: &Decided) -> String {
    let look = Look::file();
    let complaint = on_standard_error(decided, look.palette);
    let behind = notes(decided, false, look.palette);
    format!("{complaint}{}{behind}", on_standard_output(decided, &[], false, look))
}

/// Whether nothing at all was found.
fn is_spotless(decided: &Decided) -> bool {
    let missing = decided.known.iter().any(|known| !known.missing.is_empty());
    !missing && decided.findings.is_empty() && decided.remarks.is_empty() && decided.coverage.is_none()
}

fn is_unreadable(decided: &Decision) -> bool {
    decided.trouble() == Some(Trouble::Unreadable)
}

fn is_malformed(decided: &Decision) -> bool {
    decided.trouble() == Some(Trouble::Malformed)
}

/// `verified ring.bar (ptx): 1,234 states, …`.
fn headline(decided: &Decided, quiet: bool, palette: Palette) -> String {
    let report = &decided.decision;
    let target = about(decided);
    let head = format!("{} {}{target}", verdict(report.verdict, palette), shown(&report.name));
    let found = decided.judged_findings().map(|(found, known)| (found.level, known));
    let levels = found.chain(decided.judged_remarks().map(|(remark, known)| (remark.level, known)));
    let warnings = levels.filter(|judged| *judged == (Level::Warning, false)).count() as u64;
    let mut but = match (report.verdict, warnings) {
        (_, 0) | (Verdict::Violated, _) => String::new(),
        (_, n) => format!(", {}", palette.unsure(counted(n, "warning"))),
    };
    match decided.known.as_ref().map_or(0, Known::count) as u64 {
        0 => {}
        n if decided.has_nothing_new() => {
            let _ =
                write!(but, ", {}", palette.unsure(format!("nothing new ({})", counted(n, "known finding"))));
        }
        n => {
            let _ = write!(but, ", {}", counted(n, "known finding"));
        }
    }
    if let Some(odds) = report.statistics.odds_of_omission.filter(|_| report.verdict == Verdict::Verified) {
        but.push_str(", ");
        but.push_str(&palette.unsure(from_hashes(odds)));
    }
    if quiet || report.target.is_none() {
        return format!("{head}{but}\n");
    }
    format!("{head}{but}: {}\n", palette.faint(statistics(&report.statistics, &report.method)))
}

/// `, kernel scan (ptx) with STAGES=2`: the kernel of a module, the target, and the values of params that
/// take several.
fn about(decided: &Decided) -> String {
    let kernel = decided.kernel_in_short().map(|kernel| format!(", kernel {kernel}"));
    let target = decided.target.map(|target| format!(" ({target})"));
    let with = decided.with().map(|with| format!(" {with}"));
    [kernel, target, with].into_iter().flatten().collect()
}

/// What of a kernel the verdict is about.
fn looked_at(extracted: &Extracted) -> String {
    let (kept, all) = (grouped(extracted.kept as u64), grouped(extracted.instructions as u64));
    let memory = extracted.memory.as_ref().map_or_else(|| "memory is not looked at".to_owned(), followed);
    format!("  {kept} of its {all} instructions concern barriers; {memory}\n")
}

/// What a verdict is worth that rests on hashes of states.
pub(crate) fn from_hashes(odds: f64) -> String {
    if odds == 0.0 {
        return "by hashes of states (each has its own: none can have been missed)".to_owned();
    }
    format!("by hashes of states (the odds that any was missed are {odds:.1e} at most)")
}

fn verdict(verdict: Verdict, palette: Palette) -> String {
    match verdict {
        Verdict::Verified => palette.good(verdict.name()),
        Verdict::Violated | Verdict::Error => palette.bad(verdict.name()),
        Verdict::Inconclusive => palette.unsure(verdict.name()),
    }
}

/// A verdict by its name, in its colour.
pub(crate) fn painted(name: &str, palette: Palette) -> String {
    let all = [Verdict::Verified, Verdict::Violated, Verdict::Inconclusive, Verdict::Error];
    all.into_iter()
        .find(|known| known.name() == name)
        .map_or_else(|| name.to_owned(), |v| verdict(v, palette))
}

/// What keeps a file from being verified, or is to be said of it nevertheless, in a line; empty if there is
/// nothing.
pub(crate) fn in_short(decided: &Decided) -> String {
    if let Some(difference) = decided.difference() {
        return difference.to_owned();
    }
    if let Some(reason) = &decided.reason {
        return reason.line();
    }
    let first = decided.findings.iter().max_by_key(|found| (found.level, std::cmp::Reverse(found.rule)));
    let more = decided.findings.len().saturating_sub(1);
    match first {
        None => String::new(),
        Some(found) if more == 0 => found.trace.outcome.headline.clone(),
        Some(found) => format!("{} (and {more} more)", found.trace.outcome.headline),
    }
}

fn statistics(statistics: &Statistics, method: &Method) -> String {
    let Statistics { states, transitions, depth, seconds, peak_memory_bytes, complete, .. } = *statistics;
    if method.engine == Engine::Schedule {
        // Of a violation the schedule shown has its own number of steps, said there.
        let schedule = match complete {
            true => format!("one schedule of {} stands for all", counted(transitions, "step")),
            false => "one schedule, not run to the end".to_owned(),
        };
        return format!("{schedule}, {seconds:.2} s, {}", bytes(peak_memory_bytes));
    }
    let each = if method.reduction == Reduction::Stubborn { "one run for each choice, " } else { "" };
    format!(
        "{each}{}, {}, depth {}, {seconds:.2} s, {}{}",
        counted(states, "state"),
        counted(transitions, "transition"),
        grouped(depth),
        bytes(peak_memory_bytes),
        if complete { "" } else { ", not searched to the end" },
    )
}

/// That the schedule makes decisions differently that look like one, if it does.
fn apart(report: &Decision, found: &Finding) -> Option<String> {
    report.remarks.iter().find(|remark| remark.lint == Lint::UniformApart)?;
    let steps = found.trace.steps.iter().filter(|step| step.instruction.contains("uniform ?"));
    let lines: BTreeSet<u32> = steps.map(|step| step.location.line).collect();
    let (last, others) = lines.iter().next_back().zip(Some(lines.len().checked_sub(1)?))?;
    let first: Vec<String> = lines.iter().take(others).map(u32::to_string).collect();
    (others > 0).then(|| {
        format!(
            "the decisions `uniform ?` in lines {} and {last} are different ones, since they have no name: \
             `uniform more ?` in all of them makes them one",
            first.join(", ")
        )
    })
}

/// A finding at its place in the text, as rustc shows an error.
fn finding(
    (report, bounded): (&Decision, Option<&str>),
    found: &Finding,
    lines: &LineIndex<'_>,
    palette: Palette,
) -> String {
    let rule = found.rule.name();
    let labels = barcheck_counterexamples::labels(&found.trace);
    let span_of =
        |label: &PlaceLabel| lines.span(Place { line: label.line, column: label.column, length: 0 });
    // Whoever is to blame stands in the first line that is named; who waits for it, in another.
    let blamed = labels.first().filter(|label| !found.trace.outcome.blamed.is_empty() && label.line > 0);
    let first = blamed.map_or_else(|| lines.span(found.place), span_of);
    // The places are shown, so the headline, which names none, is enough.
    let headline = &found.trace.outcome.headline;
    let title = headline.strip_prefix(rule).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(headline);
    let mut diagnostic = match found.level {
        Level::Error => Diagnostic::error(rule, title, first),
        _ => Diagnostic::warning(rule, title, first),
    };
    if let Some(label) = blamed {
        diagnostic.primary.message.clone_from(&label.text);
        // Whoever waits where those to blame do is named with them.
        if (label.line, label.column) != (found.place.line, found.place.column) {
            diagnostic = diagnostic.also(lines.span(found.place), "others wait here");
        }
    }
    let others = labels.iter().skip(usize::from(blamed.is_some())).filter(|label| label.line > 0);
    for label in others {
        diagnostic = diagnostic.also(span_of(label), label.text.as_str());
    }
    if let Some(clause) = &found.clause {
        diagnostic = diagnostic.note(format!("{}, {} ({})", clause.document, clause.section, clause.id));
    }
    if let Some(apart) = apart(report, found) {
        diagnostic = diagnostic.note(apart);
    }
    let origin = |line| report.extracted.as_ref()?.origin(line);
    let origin = origin(found.shown_at().line).or_else(|| origin(found.place.line));
    if let Some(origin) = origin {
        diagnostic = diagnostic.note(origin::compiled_from(origin));
    }
    if !found.data.is_empty() {
        diagnostic = diagnostic.note(on_data(found));
    }
    if !found.outcomes.is_empty() {
        diagnostic = diagnostic.note(with_outcomes(found));
    }
    if !report.given.is_empty() {
        diagnostic = diagnostic.note(format!("it comes about with {}", given(report)));
    }
    if let Some(left_out) = &found.left_out {
        diagnostic = diagnostic.note(left_out.clone());
    }
    if let Some(note) = bounded.map(str::to_owned).or_else(|| shorter(found)) {
        diagnostic = diagnostic.note(note);
    }
    if let Some(param) = is_0(report, found) {
        let say = format!("if it is never launched so, say `--param {param}=1..`");
        diagnostic = diagnostic.help(say);
    }
    diagnostic = diagnostic.help(format!("`barcheck explain {rule}` says more"));
    rendered(report, &diagnostic, palette)
}

/// A parameter that is 0 where a violation comes about: nobody may launch the kernel so.
fn is_0<'r>(report: &'r Decision, found: &Finding) -> Option<&'r str> {
    let is_more = |name: &str| report.extracted.iter().any(|it| it.least.get(name).is_some_and(|at| *at > 0));
    // There is a first CTA in each grid.
    let is_param = |name: &str| !name.starts_with('%') && !is_more(name);
    let tried = report
        .given
        .iter()
        .find(|(name, value)| **value == 0 && is_param(name))
        .map(|(name, _)| name.as_str());
    let says_0 = |name: &&String| {
        let outcomes =
            ["` false", " unsigned` false", " < 1` true", " <u 1` true", " == 0` true", " ==u 0` true"];
        let roles = outcomes.map(|outcome| format!("finds `{name}{outcome}"));
        let finds = |outcome: &str| {
            let role = format!("finds `number of {name}` {outcome}");
            found.outcomes.iter().any(|it| it.role == role)
        };
        // Of a number that is counted the first answer says whether it is more than 0.
        found.outcomes.iter().any(|it| roles.contains(&it.role)) || finds("false") && !finds("true")
    };
    let params = report.extracted.iter().flat_map(|extracted| &extracted.parameters);
    let mut params = params.filter(|name| is_param(name));
    tried.or_else(|| params.find(says_0).map(String::as_str))
}

/// That a long counterexample need not be that long, where it need not.
fn shorter(found: &Finding) -> Option<String> {
    if let Some(Smaller { param, value, steps }) = &found.smaller {
        let steps = counted(*steps as u64, "step");
        return Some(format!("`-D {param}={value}` shows the same in {steps}"));
    }
    let is_long = found.level == Level::Error && found.trace.steps.len() > LONG;
    (is_long && !found.is_shortest).then(|| "a shorter schedule may show the same".to_owned())
}

/// `param_2 = 3, param_3 = 1`.
fn given(report: &Decision) -> String {
    let given = report.given.iter().map(|(name, value)| format!("{} = {value}", names::plain(name)));
    given.collect::<Vec<_>>().join(", ")
}

/// With which outcomes of decisions of the whole group a violation comes about.
fn with_outcomes(found: &Finding) -> String {
    let outcomes = found.outcomes.iter().map(|it| {
        let said = it.role.strip_prefix("finds ").unwrap_or(&it.role);
        format!("{} (line {})", said.replace("` ", "` is "), it.line)
    });
    let mut outcomes: Vec<String> = outcomes.collect();
    let more = outcomes.len().saturating_sub(WAYS);
    outcomes.truncate(WAYS);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("it comes about where {}{more}", outcomes.join(", "))
}

/// What a violation rests on that is not known: who goes which way where.
fn on_data(found: &Finding) -> String {
    let mut together: Vec<(&str, u32, BTreeSet<u32>)> = Vec::new();
    for way in &found.data {
        match together.iter_mut().find(|(role, line, _)| (*role, *line) == (&*way.role, way.line)) {
            Some((.., who)) => drop(who.insert(way.agent)),
            None => together.push((&way.role, way.line, BTreeSet::from([way.agent]))),
        }
    }
    let called = noun(&found.trace);
    let mut ways: Vec<String> = Vec::new();
    for (role, line, who) in together {
        let who: Vec<u32> = who.into_iter().collect();
        let role = if who.len() > 1 { role.replacen("takes", "take", 1) } else { role.to_owned() };
        ways.push(format!("{} {role} (line {line})", agents(called, &who)));
    }
    let more = ways.len().saturating_sub(WAYS);
    ways.truncate(WAYS);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("it rests on data that is not known: {}{more}", ways.join(", "))
}

/// Which findings are known, in a line each, and which of those that are known were not found.
fn what_is_known(decided: &Decided, palette: Palette) -> String {
    let mut text = String::new();
    let mut line = |name: &str, place: Place, message: &str, fingerprint: &str| {
        let at = format!("{}:{}:{}", shown(&decided.name), place.line, place.column);
        let at = palette.faint(format_args!("{at} {fingerprint}"));
        let _ = writeln!(text, "  {} `{name}`: {message} {at}", palette.strong("known"));
    };
    for (found, _) in decided.judged_findings().filter(|(_, known)| *known) {
        line(found.rule.name(), found.place, &found.message, &found.fingerprint);
    }
    for (remark, _) in decided.judged_remarks().filter(|(_, known)| *known) {
        line(remark.lint.name(), remark.place, &remark.diagnostic.message, &remark.fingerprint);
    }
    for entry in decided.known.iter().flat_map(|known| &known.missing) {
        let _ = writeln!(text, "  {}: {}", palette.unsure("gone"), not_found(entry, decided));
    }
    text
}

/// What the file allows, and why.
fn allowed_line(report: &Decision, allowed: &Allowed, palette: Palette) -> String {
    let (rule, line) = (allowed.check.name(), allowed.place.line);
    let what = match allowed.count() {
        0 => "nothing".to_owned(),
        n => counted(n as u64, "finding"),
    };
    let place = palette.faint(format_args!("{}:{line}", shown(&report.name)));
    format!("  {} `{rule}`, {what}: {} {place}\n", palette.strong("allowed"), harmless(&allowed.reason))
}

fn narrative(trace: &Trace, look: Look) -> String {
    format!("\n{}", super::narrative::narrative(trace, look))
}
