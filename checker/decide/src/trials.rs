//! Values with which a kernel is decided of which it is in doubt whether it has a violation.

use crate::concrete::{self, Kernel};
use crate::decision::Finding;
use std::collections::{BTreeMap, BTreeSet};
use std::vec::IntoIter;

/// How often more is given a value, since what was given leaves something in question.
const DEEPEST: usize = 4;

/// Values for what is in question then, at most.
const MOST_BELOW: usize = 10;

/// Values to be tried one after the other, as definitions by name: of what a violation is in doubt about
/// first, and of what is in question then.
pub(crate) struct Trials {
    open: Vec<IntoIter<BTreeMap<String, i64>>>,
    seen: BTreeSet<BTreeMap<String, i64>>,
}

impl Trials {
    /// For what these findings are in doubt about.
    pub(crate) fn of(kernel: &Kernel<'_>, findings: &[Finding]) -> Self {
        let names = kernel.in_question(findings);
        // Parameters say most; where in the grid it is may not matter then. What others are may matter to
        // what else there is to be found.
        let params = |names: &BTreeSet<String>| -> BTreeSet<String> {
            names.iter().filter(|name| !name.starts_with('%')).cloned().collect()
        };
        let all = [params(&names), params(&kernel.extracted.parameters), names];
        let of = |names| concrete::assignments(kernel.extracted, &BTreeMap::new(), names);
        let first: Vec<_> = all.iter().flat_map(of).collect();
        Self { open: vec![first.into_iter()], seen: BTreeSet::new() }
    }

    /// What these findings are in doubt about though values are given is given values next.
    pub(crate) fn go_on(
        &mut self,
        kernel: &Kernel<'_>,
        findings: &[Finding],
        values: &BTreeMap<String, i64>,
    ) {
        if self.open.len() >= DEEPEST || !kernel.is_doubtful(findings) {
            return;
        }
        let given = concrete::named(values);
        let mut names = kernel.in_question(findings);
        names.retain(|name| !given.contains_key(name));
        let mut below = concrete::assignments(kernel.extracted, values, &names);
        below.truncate(MOST_BELOW);
        self.open.push(below.into_iter());
    }
}

impl Iterator for Trials {
    type Item = BTreeMap<String, i64>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.open.last_mut()?.next() {
                Some(values) if self.seen.insert(values.clone()) => return Some(values),
                Some(_) => {}
                None => drop(self.open.pop()),
            }
        }
    }
}
