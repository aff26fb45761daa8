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

/// And those of what a launch says of the grid.
const GRID: &str = "param.%";

/// Values that a parameter is given, one after the other: small ones, those around the sizes of warps and
/// CTAs, and some beyond: 600 is five times 128, rounded up, and three times 256.
const VALUES: [i64; 24] =
    [1, 2, 3, 4, 5, 0, 6, 7, 8, 9, 16, 17, 31, 33, 64, 100, 128, 129, 200, 256, 257, 600, 1000, 1300];

/// Values that two or three parameters are given in every combination.
const FEW: [i64; 5] = [1, 2, 3, 5, 0];

/// Values that one parameter is given alone, and parameters of which each is.
const ALONE: [i64; 3] = [0, 256, 1];
const MOST_ALONE: usize = 4;

/// Values that are tried before those.
const FIRST: usize = 6;

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
        !self.excluding(finding).is_empty()
    }

    /// What decisions that come along with a violation are about, where they may exclude one another.
    fn excluding(&self, finding: &Finding) -> BTreeSet<String> {
        let made: Vec<&str> = finding.trace.steps.iter().filter_map(decision).collect();
        self.extracted.excluding(made).into_iter().map(|excluding| excluding.about.to_owned()).collect()
    }

    /// The parameters that the first error in doubt is in doubt about; all of them, if that is private data,
    /// or none.
    pub(crate) fn in_question(&self, findings: &[Finding]) -> BTreeSet<String> {
        let mut errors =
            findings.iter().filter(|found| found.level == Level::Error || !found.data.is_empty());
        let excluding =
            errors.find_map(|found| Some(self.excluding(found)).filter(|about| !about.is_empty()));
        let Some(excluding) = excluding else { return self.extracted.parameters.clone() };
        let parameters = &self.extracted.parameters;
        let mut names: BTreeSet<String> =
            parameters.iter().filter(|name| excluding.contains(*name)).cloned().collect();
        // Where in the grid it is means little without the size of the grid.
        let sizes = names.iter().filter_map(|name| Some(format!("%n{}", name.strip_prefix('%')?)));
        let sizes: Vec<String> = sizes.filter(|size| parameters.contains(size)).collect();
        names.extend(sizes);
        // Where it is about words of memory, these are told apart by numbers.
        if names.is_empty() { parameters.clone() } else { names }
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

/// Values for parameters, to be tried one after the other, along with some that are given: each as
/// definitions by name.
pub(crate) fn assignments(
    extracted: &Extracted,
    given: &BTreeMap<String, i64>,
    names: &BTreeSet<String>,
) -> Vec<BTreeMap<String, i64>> {
    let (places, names): (Vec<String>, Vec<String>) =
        names.iter().map(|name| format!("{PARAM}{name}")).partition(|name| is_place(name));
    // Parameters come before the size of the grid, which says less.
    let (sizes, mut names): (Vec<String>, Vec<String>) =
        names.into_iter().partition(|name| name.starts_with(GRID));
    names.extend(sizes);
    names.truncate(MANY);
    if names.is_empty() && places.is_empty() {
        return Vec::new();
    }
    let with = |values: &mut dyn Iterator<Item = (String, i64)>| {
        let mut all = given.clone();
        all.extend(places.iter().map(|place| (place.clone(), 0)));
        all.extend(values);
        all
    };
    // Where they are many, one of them may be 0 where the others are not.
    let zeros = names.iter().filter(|_| names.len() > MOST);
    let value = |zero: &String, name: &String| (name.clone(), i64::from(name != zero));
    let mut all: Vec<BTreeMap<String, i64>> =
        zeros.map(|zero| with(&mut names.iter().map(|name| value(zero, name)))).collect();
    let same = |value: &i64| with(&mut names.iter().map(|name| (name.clone(), *value)));
    all.extend(VALUES[..FIRST].iter().map(same));
    // What the others are need not matter, or it is in question then.
    let several = names.iter().filter(|_| names.len() > 1);
    let alone = several.take(MOST_ALONE).flat_map(|name| ALONE.iter().map(move |value| (name, *value)));
    all.extend(alone.map(|(name, value)| with(&mut std::iter::once((name.clone(), value)))));
    all.extend(VALUES[FIRST..].iter().map(same));
    let mut mixed: Vec<BTreeMap<String, i64>> = vec![with(&mut names.iter().map(|name| (name.clone(), 1)))];
    for name in places.iter().chain(&names).take(MOST) {
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
    let of = |name: &String| name.strip_prefix(PARAM).and_then(|name| extracted.multiples.get(name));
    for (name, value) in all.iter_mut().flatten().filter(|(name, _)| !given.contains_key(*name)) {
        *value = value.saturating_mul(of(name).copied().unwrap_or(1));
    }
    let mut seen = BTreeSet::new();
    let is_more = |(name, value): (&String, &i64)| {
        let least = name.strip_prefix(PARAM).and_then(|name| extracted.least.get(name));
        least.is_none_or(|least| value >= least)
    };
    all.retain(|values| values.iter().all(is_more) && seen.insert(values.clone()));
    all
}

/// Whether a definition says where in the grid something is: there is a first place in each.
fn is_place(name: &str) -> bool {
    name.strip_prefix(GRID).is_some_and(|register| !register.starts_with('n'))
}

/// Values of parameters by the names that they have in the protocol.
pub(crate) fn named(values: &BTreeMap<String, i64>) -> BTreeMap<String, i64> {
    let named = values.iter().filter_map(|(name, value)| Some((name.strip_prefix(PARAM)?, *value)));
    named.map(|(name, value)| (name.to_owned(), value)).collect()
}
