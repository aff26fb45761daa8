//! From a protocol that was read to what is found in it: searched, each counterexample built and replayed.

use crate::allowed::Allows;
use crate::case::Case;
use crate::coverage::RoleCoverage;
use crate::decision::{Allowed, Decision, Finding};
use crate::purse::{Purse, Unshown};
use crate::question::Options;
use crate::reason::Reason;
use crate::remark::Remark;
use crate::trials::Trials;
use crate::tried::Tried;
use crate::{concrete, coverage, data, doubt, leftovers, reason, remark, shorter, unreached};
use barcheck_counterexamples::{SourceInfo, Trace};
use barcheck_engine::{Budgets, Control, Found, Inconclusive, Levels, Outcome, Progress, Settings, Verdict};
use barcheck_model::Patience;
use barcheck_model::machine::{self, Coverage};
use barcheck_model::program::{Place, Program};
use barcheck_model::rule::Level;
use barcheck_specs::{Diagnostic, Extracted, Format, LineIndex, Linted, Loaded, Source, load_within};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long values are tried.
const SETTLED_WITHIN: Duration = Duration::from_secs(12);

/// Decides a kernel with values for its parameters where it is in doubt whether it has a violation. The first
/// that has one for certain is what it comes to; if none has, what it has is a warning.
pub(crate) fn settle(
    source: &Source<'_>,
    mut judged: Judged,
    options: &Options,
    (started, control): (Instant, &dyn Control),
) -> Judged {
    let Some(kernel) = judged.kernel().filter(|kernel| kernel.is_doubtful(&judged.findings)) else {
        return judged;
    };
    let begun = Instant::now();
    let mut so_far = Tried::default();
    let mut trials = Trials::of(&kernel, &judged.findings);
    while let Some(values) = trials.next() {
        let Some(left) = SETTLED_WITHIN.checked_sub(begun.elapsed()) else { break };
        let in_time = options.settings.budgets.timeout.is_none_or(|limit| started.elapsed() < limit);
        if !in_time || !control.goes_on(Progress::default()) {
            break;
        }
        let mut tried = options.clone();
        tried.load.defines.extend(values.clone());
        tried.settings.checkpoint = None;
        tried.settings.budgets.timeout = Some(started.elapsed() + left.min(SETTLED_WITHIN / 4));
        let patience = barcheck_engine::patience(tried.settings.budgets, started, control);
        let Ok(loaded) = load_within(source, &tried.load, &patience) else { continue };
        let mut concrete = judge(source.name, loaded, &tried, (started, control, &patience));
        let Some(kernel) = concrete.kernel() else { continue };
        so_far.count += 1;
        if concrete.outcome.verdict == Verdict::Verified && concrete.defects.is_empty() {
            so_far.verified.push(concrete::named(&values));
        }
        if kernel.has_sure(&concrete.findings) {
            concrete.settled.given = concrete::named(&values);
            return concrete;
        }
        trials.go_on(&kernel, &concrete.findings, &values);
    }
    judged.settled.tried = so_far;
    let mut findings = std::mem::take(&mut judged.findings);
    if let Some(kernel) = judged.kernel() {
        judged.settled.unseen = kernel.mark(&mut findings);
    }
    judged.findings = findings;
    if !options.deny_data_dependent {
        data::lower(&mut judged.findings);
    }
    judged
}

/// Of the first error of a protocol, whether it shows in fewer rounds, if they are many.
pub(crate) fn look_for_fewer_rounds(
    source: &Source<'_>,
    judged: &mut Judged,
    options: &Options,
    within: (Instant, &dyn Control),
) {
    let Judged { case, findings, .. } = judged;
    let error = findings.iter_mut().find(|found| found.level == Level::Error);
    let Some(error) = error.filter(|_| case.source.format == Format::Bar.name()) else { return };
    let (started, control) = within;
    let again = |options: &Options| {
        let patience = barcheck_engine::patience(options.settings.budgets, started, control);
        let loaded = load_within(source, &options.load, &patience).ok();
        let judged = loaded.map(|it| judge(source.name, it, options, (started, control, &patience)));
        judged.map_or_else(Vec::new, |judged| judged.findings)
    };
    let look = shorter::Look { text: &case.source.text, options, within, again: &again };
    error.smaller = look.smaller(error);
}

/// A protocol that was searched.
pub(crate) struct Judged {
    case: Case,
    remarks: Vec<Remark>,
    allowed: Vec<Allowed>,
    coverage: Option<Vec<RoleCoverage>>,
    warnings: Vec<Diagnostic>,
    pub(crate) extracted: Option<Extracted>,
    pub(crate) outcome: Outcome,
    pub(crate) findings: Vec<Finding>,
    path_to_stop: Option<Trace>,
    defects: Vec<String>,
    settled: Settled,
}

/// What values say of a kernel of which it is in doubt whether it has a violation.
#[derive(Default)]
struct Settled {
    /// Nobody knows of a run in which what was found comes about.
    unseen: bool,
    /// Values of parameters with which it was decided, beyond those that were asked for.
    given: BTreeMap<String, i64>,
    /// Values with which it was not.
    tried: Tried,
}

/// What is found where a role ends stands at the end of the kernel.
fn at_end(findings: &mut [Finding], extracted: Option<&Extracted>) {
    let end = extracted.and_then(|extracted| extracted.end).unwrap_or_default();
    findings.iter_mut().filter(|found| found.place.line == 0).for_each(|found| found.place = end);
}

pub(crate) fn judge(
    name: &str,
    loaded: Loaded,
    options: &Options,
    (started, control, patience): (Instant, &dyn Control, &Patience),
) -> Judged {
    let defines = loaded.used_defines(&options.load);
    let program = Arc::new(loaded.program);
    let worked_out = coverage::worked_out(&program, options, patience);
    let lines = LineIndex::new(&loaded.text);
    // What a compiler left of a kernel nobody has written.
    let linted = match &loaded.extracted {
        Some(_) => Vec::new(),
        None => linted(loaded.lints, &program, &worked_out, (&lines, &loaded.switches)),
    };
    let mut allows = Allows::of(loaded.allows, program.target, &lines, options);
    let about = (name, program.target);
    let mut remarks = allows.take_remarks(remark::remarks(linted, about, &lines, options));
    let settings = allows.settings(&options.settings);
    // With other values for its params it may do what it allows.
    let as_written = defines.is_empty() && options.readings == machine::Options::default();
    let source = SourceInfo {
        file: name.to_owned(),
        format: loaded.format.name().to_owned(),
        defines,
        text: loaded.text.clone(),
    };
    let coverage = options.coverage.then(|| coverage::told(&program, &worked_out));
    let case = Case { program, readings: options.readings, source };
    let mut outcome = checked(&case.program, options.readings, &settings, control);
    let purse = Purse::of(options.settings.budgets, started, &outcome, control);
    let mut shown = Shown::of(loaded.extracted.as_ref());
    shown.add(&case, &outcome, (&settings.levels, &purse), |found| found.level >= Level::Warning);
    if let Some(extracted) = loaded.extracted.as_ref().filter(|extracted| !extracted.private.is_empty()) {
        tell_apart(&case, extracted, (options, control, patience), &purse, &mut shown);
    }
    let Shown { mut findings, mut defects, late, .. } = shown;
    at_end(&mut findings, loaded.extracted.as_ref());
    findings.sort_by(|a, b| {
        let key = |f: &Finding| (f.rule, f.place.line, f.place.column, Reverse(f.level));
        key(a).cmp(&key(b)).then_with(|| a.agents.cmp(&b.agents))
    });
    // One for each rule and place: arrivals left over on several barriers may come from one instruction.
    findings.dedup_by_key(|f| (f.rule, f.place.line, f.place.column));
    let findings = allows.take_findings(findings);
    raise(&mut outcome, &findings);
    let path_to_stop = path_to_stop(&case, &outcome, &purse, &mut defects);
    if late {
        purse.end_early(&mut outcome, findings.iter().any(|found: &Finding| found.level == Level::Error));
    }
    purse.settle(&mut outcome.statistics);
    if as_written && outcome.verdict == Verdict::Verified && defects.is_empty() {
        let all_reach_known = worked_out.iter().all(|coverage| coverage.complete);
        remarks.extend(allows.idle(about, &lines, options, all_reach_known));
        remarks.sort_by_key(|remark| (remark.lint, remark.place.line, remark.place.column));
    }
    Judged {
        case,
        warnings: loaded.warnings,
        extracted: loaded.extracted,
        remarks,
        allowed: allows.into_allowed(),
        coverage,
        outcome,
        findings,
        path_to_stop,
        defects,
        settled: Settled::default(),
    }
}

/// What the engines say. Where all that is violated is asked for and takes too long, the last third of the
/// time is for one violation, which is better than none.
fn checked(
    program: &Arc<Program>,
    readings: machine::Options,
    settings: &Settings,
    control: &dyn Control,
) -> Outcome {
    let ask = |settings: &Settings| barcheck_engine::check(Arc::clone(program), readings, settings, control);
    let Some(timeout) = settings.budgets.timeout.filter(|_| settings.all) else { return ask(settings) };
    let last = timeout / 3;
    let within = |timeout| Budgets { timeout: Some(timeout), ..settings.budgets };
    let mut all = ask(&Settings { budgets: within(timeout - last), ..settings.clone() });
    for why in all.inconclusive.iter_mut().chain(&mut all.uncovered) {
        if let Inconclusive::Time(limit, _) = why {
            *limit = timeout;
        }
    }
    if !matches!(all.inconclusive, Some(Inconclusive::Time(..))) {
        return all;
    }
    // Time counts from when whoever asks began, if he says so.
    let left = if control.began().is_some() { timeout } else { last };
    let one = Settings { all: false, checkpoint: None, budgets: within(left), ..settings.clone() };
    let one = ask(&one);
    if one.verdict != Verdict::Violated {
        return all;
    }
    let mut statistics = one.statistics;
    statistics.seconds += all.statistics.seconds;
    statistics.complete = false;
    Outcome { uncovered: all.inconclusive, statistics, ..one }
}

/// A finding that is graver than its rule violates a protocol that violates no rule.
fn raise(outcome: &mut Outcome, findings: &[Finding]) {
    let is_passed = matches!(outcome.verdict, Verdict::Verified | Verdict::Inconclusive);
    if is_passed && findings.iter().any(|found| found.level == Level::Error && found.data.is_empty()) {
        outcome.verdict = Verdict::Violated;
        outcome.uncovered = outcome.inconclusive.take().or(outcome.uncovered.take());
    }
}

/// The way to where the search has stopped. It explains the verdict, which holds without it.
fn path_to_stop(
    case: &Case,
    outcome: &Outcome,
    purse: &Purse<'_>,
    defects: &mut Vec<String>,
) -> Option<Trace> {
    case.path_to_stop(outcome, purse).unwrap_or_else(|unshown| {
        if let Unshown::Defect(defect) = unshown {
            defects.push(defect);
        }
        None
    })
}

/// What is said against the text.
fn linted(
    lints: Vec<Linted>,
    program: &Program,
    worked_out: &[Coverage],
    within: (&LineIndex<'_>, &BTreeSet<Place>),
) -> Vec<Linted> {
    lints.into_iter().chain(unreached::unreached(program, worked_out, within)).collect()
}

/// What becomes of what a search has found.
#[derive(Default)]
struct Shown {
    findings: Vec<Finding>,
    defects: Vec<String>,
    late: bool,
    /// Of what is the same but for its barrier, some may rest on unknown data and some not.
    rests_on_data: bool,
}

impl Shown {
    fn of(extracted: Option<&Extracted>) -> Self {
        let rests_on_data = extracted.is_some_and(|extracted| !extracted.private.is_empty());
        Self { rests_on_data, ..Self::default() }
    }

    fn add(
        &mut self,
        case: &Case,
        outcome: &Outcome,
        (levels, purse): (&Levels, &Purse<'_>),
        counts: impl Fn(&Found) -> bool,
    ) {
        let found = outcome.findings.iter().filter(|found| counts(found)).collect();
        let grouped = match self.rests_on_data {
            true => leftovers::apart(found),
            false => leftovers::grouped(case, found, purse),
        };
        for alike in grouped {
            match alike.shown(case, levels, purse) {
                Ok((finding, found)) => {
                    let is_shortest = found.level == Level::Error && shorter::is_shortest(outcome, &finding);
                    self.findings.push(Finding { is_shortest, ..finding });
                }
                Err(Unshown::Defect(defect)) => self.defects.push(defect),
                Err(Unshown::Late) => self.late = true,
            }
        }
    }
}

/// Tells what rests on data from what comes whatever the data is. Where the search ended at the former, the
/// latter is looked for: it must not be hidden.
fn tell_apart(
    case: &Case,
    extracted: &Extracted,
    (options, control, patience): (&Options, &dyn Control, &Patience),
    purse: &Purse<'_>,
    shown: &mut Shown,
) {
    let (program, readings, settings) = (&case.program, options.readings, &options.settings);
    let addresses = extracted.memory.as_ref().map_or(&[][..], |memory| &memory.others);
    let private = &extracted.private;
    let asked = data::Asked { program, private, addresses, readings, settings, control, patience };
    let mut certain = None;
    asked.mark(&mut shown.findings, &mut certain);
    let is_known = |finding: &Finding| finding.level == Level::Error && finding.data.is_empty();
    let rules = certain.clone().unwrap_or_default();
    if !rules.is_empty() && !settings.all && !shown.findings.iter().any(is_known) {
        let settings = Settings { all: true, checkpoint: None, ..settings.clone() };
        let outcome = barcheck_engine::check(Arc::clone(program), readings, &settings, control);
        let is_certain = |found: &Found| found.level == Level::Error && rules.contains(&found.finding.rule);
        shown.add(case, &outcome, (&settings.levels, purse), is_certain);
        asked.mark(&mut shown.findings, &mut certain);
    }
    if !options.deny_data_dependent {
        data::lower(&mut shown.findings);
    }
}

impl Judged {
    /// What was extracted, if it was.
    fn kernel(&self) -> Option<concrete::Kernel<'_>> {
        let extracted = self.extracted.as_ref()?;
        Some(concrete::Kernel { extracted })
    }

    pub(crate) fn into_decision(self, mut decision: Decision) -> Decision {
        let program = &self.case.program;
        let confirmed = self.findings.iter().any(|found| found.level == Level::Error);
        let mut findings = self.findings;
        if let Some(extracted) = &self.extracted {
            let errors = findings.iter_mut().filter(|found| found.level == Level::Error);
            errors.for_each(|found| found.outcomes = doubt::outcomes(extracted, &found.trace));
        }
        decision.target = Some(program.target);
        decision.verdict = self.outcome.verdict;
        decision.kernel = self.extracted.as_ref().map(|extracted| extracted.entry.clone());
        decision.entry = self.extracted.as_ref().map(|extracted| extracted.index);
        decision.extracted = self.extracted;
        decision.given = self.settled.given;
        decision.tried = self.settled.tried;
        decision.statistics = self.outcome.statistics;
        decision.method = self.outcome.method;
        decision.findings = findings;
        decision.diagnostics = self.warnings;
        decision.remarks = self.remarks;
        decision.allowed = self.allowed;
        decision.coverage = self.coverage;
        decision.path_to_stop = self.path_to_stop;
        if let Some(defect) = self.defects.first() {
            // A violation is one only with a counterexample that holds, and who has a defect verifies
            // nothing.
            if !(self.outcome.verdict == Verdict::Violated && confirmed) {
                decision.verdict = Verdict::Error;
            }
            let reason = Reason::plain(format!("internal error: {defect}"));
            decision.defects = self.defects;
            return decision.because(reason);
        }
        let rests =
            decision.findings.iter().find(|found| !found.data.is_empty() && found.level < Level::Error);
        if let Some(found) = rests.filter(|_| decision.verdict == Verdict::Violated && !confirmed) {
            let in_question = decision
                .extracted
                .as_ref()
                .filter(|_| self.settled.unseen)
                .map(|extracted| concrete::Kernel { extracted }.in_question(std::slice::from_ref(found)));
            let rule = found.rule.name();
            let unseen = in_question.map(|names| Reason::unseen(rule, &names, &decision.tried));
            let own = decision.extracted.iter().flat_map(|extracted| &extracted.own);
            let reason = unseen.unwrap_or_else(|| Reason::data_dependent(rule, own));
            decision.verdict = Verdict::Inconclusive;
            return decision.because(reason);
        }
        decision.uncovered = self.outcome.uncovered.as_ref().map(|why| reason::uncovered(program, why));
        decision.reason = match self.outcome.verdict {
            Verdict::Inconclusive => {
                self.outcome.inconclusive.as_ref().map(|why| reason::inconclusive(program, why))
            }
            Verdict::Error => self.outcome.fault.as_ref().map(|fault| reason::fault(program, fault)),
            Verdict::Verified | Verdict::Violated => None,
        };
        decision.excuse_a_kernel().heed_remarks()
    }
}
