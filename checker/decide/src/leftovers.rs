//! Arrivals that one instruction leaves on several barriers: one finding is shown of them.
//!
//! A ring that is primed leaves some on each of its stages. All of them are found on one path, and to write
//! down the counterexample of each would take the time and the room of them all, for one that is kept.

use crate::case::Case;
use crate::decision::Finding;
use crate::purse::{Purse, Unshown};
use barcheck_counterexamples::last_arrivals;
use barcheck_engine::{Found, Levels};
use barcheck_model::rule::{Level, Rule};

/// Findings that are the same but for their barriers, that of the first agents first.
pub(crate) struct Alike<'f>(Vec<&'f Found>);

/// All findings, those together of which one is shown.
pub(crate) fn grouped<'f>(case: &Case, found: Vec<&'f Found>, purse: &Purse<'_>) -> Vec<Alike<'f>> {
    let is_left_over = |found: &&Found| found.finding.rule == Rule::DanglingArrival;
    let (left_over, others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_left_over);
    let on_paths = left_over.chunk_by(|one, two| one.path == two.path);
    let alike = on_paths.flat_map(|on_path| on_one_path(case, on_path, purse));
    apart(others).into_iter().chain(alike).collect()
}

/// All findings, each by itself.
pub(crate) fn apart(found: Vec<&Found>) -> Vec<Alike<'_>> {
    found.into_iter().map(|found| Alike(vec![found])).collect()
}

/// What is left over on one path, by the place of the last arrival.
fn on_one_path<'f>(case: &Case, found: &[&'f Found], purse: &Purse<'_>) -> Vec<Alike<'f>> {
    let path = found.first().filter(|_| found.len() > 1).map(|first| &first.path);
    let last = path
        .and_then(|path| purse.within(|limits| last_arrivals(&case.program, case.readings, path, limits)));
    let Some(last) = last else { return apart(found.to_vec()) };
    let place = |found: &Found| last.get(&found.finding.barrier?.0);
    let mut sorted = found.to_vec();
    sorted.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.finding.agents.cmp(&b.finding.agents)));
    let alike = sorted.chunk_by(|one, two| place(one).is_some() && place(one) == place(two));
    alike.map(|alike| Alike(alike.to_vec())).collect()
}

impl Alike<'_> {
    /// The gravest of them with its counterexample, and what the engine has said of it.
    pub(crate) fn shown(
        &self,
        case: &Case,
        levels: &Levels,
        purse: &Purse<'_>,
    ) -> Result<(Finding, &Found), Unshown> {
        let Self(alike) = self;
        let (first, others) = alike.split_first().ok_or(Unshown::Late)?;
        let finding = case.finding(first, levels, purse)?;
        if finding.level == Level::Error {
            return Ok((finding, first));
        }
        // What comes of one instruction may hold data in some rounds and none in others.
        let graver =
            others.iter().filter(|other| case.may_be_graver(other, &finding.trace)).find_map(|other| {
                let other = (case.finding(other, levels, purse).ok()?, *other);
                (other.0.level > finding.level).then_some(other)
            });
        Ok(graver.unwrap_or((finding, first)))
    }
}
