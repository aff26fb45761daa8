//! The memory of a compiled kernel: its barriers are decided first, and its accesses to shared memory in the
//! time that is left.

use crate::decision::{Decision, Finding};
use crate::judge::{Judged, judge, settle};
use crate::question::Options;
use crate::reason::Reason;
use barcheck_engine::{Control, Verdict};
use barcheck_model::rule::Rule;
use barcheck_specs::{Accesses, MEMORY, Source, WITHOUT_MEMORY, load_within};
use std::time::{Duration, Instant};

/// How long accesses are looked at where nobody says how long all may take.
const WITHIN: Duration = Duration::from_secs(20);

/// Bytes that the search for races may take: what needs more is seldom decided with more.
const MEMORY_BYTES: u64 = 1 << 30;

/// Decides a kernel whose barriers are in order once more, with its accesses to memory. Where these cannot
/// be followed, or take too long, what was said of its barriers stands, and it is said that they were not
/// decided.
pub(crate) fn look_at(
    source: &Source<'_>,
    mut judged: Judged,
    options: &Options,
    (started, control): (Instant, &dyn Control),
) -> Judged {
    let defines = &options.load.defines;
    let is_asked = !defines.contains_key(MEMORY) && !defines.contains_key(WITHOUT_MEMORY);
    if judged.extracted.is_none() || judged.outcome.verdict != Verdict::Verified || !is_asked {
        return judged;
    }
    let mut with_memory = options.clone();
    with_memory.load.defines.insert(MEMORY.to_owned(), 1);
    with_memory.settings.checkpoint = None;
    let gone = started.elapsed();
    let limit = options.settings.budgets.timeout.unwrap_or(gone + WITHIN);
    with_memory.settings.budgets.timeout = Some(limit);
    let most = options.settings.budgets.max_memory.map_or(MEMORY_BYTES, |most| most.min(MEMORY_BYTES));
    with_memory.settings.budgets.max_memory = Some(most);
    let undecided = |judged: &mut Judged, why: String| {
        let known = judged.extracted.as_mut();
        known.into_iter().for_each(|known| {
            known.memory = Some(Accesses { undecided: Some(why.clone()), ..Accesses::default() });
        });
    };
    let patience = barcheck_engine::patience(with_memory.settings.budgets, started, control);
    let loaded = match load_within(source, &with_memory.load, &patience) {
        Ok(loaded) => loaded,
        Err(error) => {
            let why = error.not_followed().map(|found| found.message.clone());
            undecided(&mut judged, why.unwrap_or_else(|| "they take too long to be followed".to_owned()));
            return judged;
        }
    };
    let of_group = loaded.extracted.as_ref().and_then(|extracted| extracted.memory.clone());
    if of_group.as_ref().is_none_or(|accesses| accesses.followed == 0) {
        // With them it is the same protocol.
        judged.extracted.iter_mut().for_each(|known| known.memory.clone_from(&of_group));
        return judged;
    }
    let within = (started, control);
    let figures = judged.extracted.as_ref().map(|extracted| (extracted.instructions, extracted.kept));
    let looked_at = judge(source.name, loaded, &with_memory, (started, control, &patience));
    if looked_at.outcome.verdict != Verdict::Verified && looked_at.findings.is_empty() {
        undecided(&mut judged, "the search for them comes to no end".to_owned());
        return judged;
    }
    // What is done at barriers is the same with accesses and without; copies out of memory are in flight with
    // them alone.
    let is_of_memory =
        |found: &Finding| matches!(found.rule, Rule::DataRace | Rule::MissingFence | Rule::InFlightAtExit);
    if !looked_at.findings.iter().all(is_of_memory) {
        undecided(&mut judged, "with them its barriers come out otherwise".to_owned());
        return judged;
    }
    let mut settled = settle(source, looked_at, &with_memory, within);
    // They are about barriers.
    if let (Some(extracted), Some(figures)) = (&mut settled.extracted, figures) {
        (extracted.instructions, extracted.kept) = figures;
    }
    settled
}

/// Where all accesses to memory are to be followed, and not all are, a kernel is not verified.
pub(crate) fn demand(mut decision: Decision, options: &Options) -> Decision {
    let Some(extracted) = &decision.extracted else { return decision };
    if !options.require_memory || decision.verdict != Verdict::Verified {
        return decision;
    }
    let (what, place) = match &extracted.memory {
        None => ("its accesses to shared memory are not looked at".to_owned(), None),
        Some(Accesses { undecided: Some(why), .. }) => (format!("data races are not decided: {why}"), None),
        Some(Accesses { followed, others, .. }) => match others.first() {
            None => return decision,
            Some(first) => {
                let (missing, all) = (others.len(), followed + others.len());
                (format!("{missing} of {all} accesses to shared memory are not followed"), Some(*first))
            }
        },
    };
    decision.verdict = Verdict::Inconclusive;
    decision.because(Reason::of_memory(what, place))
}
