//! Kernels of which it is in doubt whether they have a violation, with values for what is in question.

use crate::concrete::{self, Kernel};
use crate::question::Options;
use crate::{Judged, data, judge};
use barcheck_engine::{Control, Progress};
use barcheck_specs::{Source, load_within};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How long values are tried.
const SETTLED_WITHIN: Duration = Duration::from_secs(12);

/// How often more is given a value, since what was given leaves something in question.
const DEEPEST: usize = 4;

/// Values for what is in question then, at most.
const MOST_BELOW: usize = 10;

/// Decides a kernel with values for its parameters where it is in doubt whether it has a violation. The first
/// that has one for certain is what it comes to; if none has, what it has is a warning.
///
/// What a violation is in doubt about is given values first. What is in question then is given values too.
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
    let first = kernel.in_question(&judged.findings);
    let mut open = vec![concrete::assignments(kernel.extracted, &BTreeMap::new(), &first).into_iter()];
    let mut seen = BTreeSet::new();
    while let Some(last) = open.last_mut() {
        let Some(values) = last.next() else {
            open.pop();
            continue;
        };
        let Some(left) = SETTLED_WITHIN.checked_sub(begun.elapsed()) else { break };
        let in_time = options.settings.budgets.timeout.is_none_or(|limit| started.elapsed() < limit);
        if !in_time || !control.goes_on(Progress::default()) {
            break;
        }
        if !seen.insert(values.clone()) {
            continue;
        }
        let mut tried = options.clone();
        tried.load.defines.extend(values.clone());
        tried.settings.checkpoint = None;
        tried.settings.budgets.timeout = Some(started.elapsed() + left.min(SETTLED_WITHIN / 4));
        let patience = barcheck_engine::patience(tried.settings.budgets, started, control);
        let Ok(loaded) = load_within(source, &tried.load, &patience) else { continue };
        let mut concrete = judge(source.name, loaded, &tried, (started, control, &patience));
        let Some(with_values) = concrete.kernel() else { continue };
        if with_values.has_sure(&concrete.findings) {
            concrete.given = concrete::named(&values);
            return concrete;
        }
        if open.len() < DEEPEST && with_values.is_doubtful(&concrete.findings) {
            let more = remaining(&with_values, &concrete, &values);
            let below = concrete::assignments(with_values.extracted, &values, &more);
            open.push(below.into_iter().take(MOST_BELOW).collect::<Vec<_>>().into_iter());
        }
    }
    let mut findings = std::mem::take(&mut judged.findings);
    if let Some(kernel) = judged.kernel() {
        judged.unseen = kernel.mark(&mut findings);
    }
    judged.findings = findings;
    if !options.deny_data_dependent {
        data::lower(&mut judged.findings);
    }
    judged
}

/// What is in question though these values are given.
fn remaining(kernel: &Kernel<'_>, judged: &Judged, values: &BTreeMap<String, i64>) -> BTreeSet<String> {
    let given = concrete::named(values);
    let mut more = kernel.in_question(&judged.findings);
    more.retain(|name| !given.contains_key(name));
    more
}
