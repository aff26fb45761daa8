//! Violations of kernels that rest on decisions about the same thing.
//!
//! The reader of a kernel makes a decision of each comparison with something unknown: `n < 4` and
//! `n & 3 == 0` are two decisions, and no run has every combination of their outcomes. So a violation along
//! with several decisions about one parameter may be none. It is one if the kernel has it with some value of
//! that parameter. The same goes for what rests on private data: a value may show that it does not.

use crate::decision::{Finding, Related};
use crate::doubt::decision;
use barcheck_model::rule::Level;
use barcheck_specs::Extracted;
use std::collections::{BTreeMap, BTreeSet};

/// What the names of definitions of parameters begin with.
const PARAM: &str = "param.";

/// Values that a parameter is given, one after the other: small ones, those around the sizes of warps and
/// CTAs, and one beyond.
const VALUES: [i64; 22] =
    [1, 2, 3, 4, 5, 0, 6, 7, 8, 9, 16, 17, 31, 33, 64, 100, 128, 129, 200, 256, 257, 1000];

/// Values that two or three parameters are given in every combination.
const FEW: [i64; 5] = [1, 2, 3, 5, 0];

/// Parameters that are given values, at most.
const MOST: usize = 3;

/// Parameters of which one is 0 and the others are 1, at most.
const MANY: usize = 16;

/// A kernel of which something was found.
pub(crate) struct Kernel<'k> {
    pub(crate) extracted: &'k Extracted,
}

impl<'k> Kernel<'k> {
    /// Whether a violation comes along with several decisions about one thing.
    fn is_correlated(&self, finding: &Finding) -> bool {
        self.extracted.excluding(finding.trace.steps.iter().filter_map(decision)).is_some()
    }

    /// Whether a violation is one for certain: there is such a run.
    fn is_sure(&self, finding: &Finding) -> bool {
        finding.level == Level::Error && finding.data.is_empty() && !self.is_correlated(finding)
    }

    /// Whether one of these is a violation for certain.
    pub(crate) fn has_sure(&self, findings: &[Finding]) -> bool {
        findings.iter().any(|found| self.is_sure(found))
    }

    /// Whether all errors among these may be none, and values could tell.
    pub(crate) fn is_doubtful(&self, findings: &[Finding]) -> bool {
        let doubtful =
            |found: &Finding| !found.data.is_empty() || found.level == Level::Error && !self.is_sure(found);
        findings.iter().any(doubtful) && !self.has_sure(findings)
    }

    /// Notes what the violations rest on that may be none: on outcomes that nobody has seen together. Whether
    /// there are such.
    pub(crate) fn mark(&self, findings: &mut [Finding]) -> bool {
        let mut unseen = false;
        for finding in findings.iter_mut().filter(|finding| finding.level == Level::Error) {
            if !finding.data.is_empty() || !self.is_correlated(finding) {
                continue;
            }
            let mut told = BTreeSet::new();
            let made = finding.trace.steps.iter().filter_map(|step| {
                let name = decision(step)?;
                let outcome = step.choice.pick != 0;
                let (agent, line, column) = (step.agent, step.location.line, step.location.column);
                let role = format!("finds `{name}` {outcome}");
                // Whoever asks for an answer gets the same.
                told.insert(role.clone()).then_some(Related { agent, line, column, role })
            });
            finding.data = made.collect();
            unseen = true;
        }
        unseen
    }
}

/// Values for parameters, to be tried one after the other: each as definitions by name.
pub(crate) fn assignments(extracted: &Extracted) -> Vec<BTreeMap<String, i64>> {
    let names: Vec<String> = extracted.parameters.iter().map(|name| format!("{PARAM}{name}")).collect();
    if names.is_empty() {
        return Vec::new();
    }
    // Where they are many, one of them may be 0 where the others are not.
    let many = &names[..names.len().min(MANY)];
    let one_is_0 = many.iter().filter(|_| names.len() > MOST).map(|zero| {
        let value = |name: &String| (name.clone(), i64::from(name != zero));
        many.iter().map(value).collect::<BTreeMap<String, i64>>()
    });
    let one_is_0: Vec<BTreeMap<String, i64>> = one_is_0.collect();
    let names = &names[..names.len().min(MOST)];
    let alike = VALUES.iter().map(|value| names.iter().map(|name| (name.clone(), *value)).collect());
    let mut all = one_is_0;
    all.extend(alike.collect::<Vec<BTreeMap<String, i64>>>());
    let mut mixed: Vec<BTreeMap<String, i64>> = vec![BTreeMap::new()];
    for name in names {
        let longer = mixed.iter().flat_map(|so_far| {
            FEW.iter().map(move |value| {
                let mut longer = so_far.clone();
                longer.insert(name.clone(), *value);
                longer
            })
        });
        mixed = longer.collect();
    }
    all.extend(mixed);
    let mut seen = BTreeSet::new();
    let is_more = |(name, value): (&String, &i64)| {
        let least = name.strip_prefix(PARAM).and_then(|name| extracted.least.get(name));
        least.is_none_or(|least| value >= least)
    };
    all.retain(|values| values.iter().all(is_more) && seen.insert(values.clone()));
    all
}

/// Values of parameters by the names that they have in the protocol.
pub(crate) fn named(values: &BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    let named = values.iter().filter_map(|(name, value)| Some((name.strip_prefix(PARAM)?, *value)));
    named.map(|(name, value)| (name.to_owned(), value)).collect()
}
