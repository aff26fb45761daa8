//! Loops one behind the other that all count up to one number, as the phases of a persistent kernel do: it is
//! counted anew behind each but the last.
//!
//! The answers for the second loop are those about another number then, which allows more than happens, and
//! nothing less: what comes along with them is in doubt, since not every outcome need come about. Only of a
//! number that never changes: roles that count it less often would miss which iteration another is about.
//!
//! Which loops of several roles have the same answers is a matter of precision alone: those with as many
//! barriers before them that all these roles have, or else the first of each, the second, and so on.

use std::collections::{BTreeMap, BTreeSet};

use super::Formula;
use super::families::{Families, Member};
use super::rewrite::{Place, Plan};
use super::sites::{Site, walk};
use super::written::in_pass;
use crate::common::contents::BOUNDED;
use crate::kernel::tree::{Counting, Statement, Statements};

/// The headers of the loops of one role that count a number, in their order.
type Loops = Vec<usize>;

impl Families {
    /// Notes behind which loops numbers are counted anew: those that a later one does not go on from.
    pub(super) fn note_again(&mut self, roles: &[Statements]) {
        let mut loops: BTreeMap<usize, Vec<(usize, Loops)>> = BTreeMap::new();
        for (role, statements) in roles.iter().enumerate() {
            for (family, own) in self.loops_of(statements) {
                loops.entry(family).or_default().push((role, own));
            }
        }
        for (number, roles_with) in loops {
            let of_roles: Vec<(&Statements, &Loops)> =
                roles_with.iter().map(|(role, own)| (&roles[*role], own)).collect();
            self.all[number].pass = passes(&of_roles);
        }
        for family in &mut self.all {
            if family.again.is_empty() {
                family.pass.clear();
            } else {
                family.is_bounded = true;
                family.about.insert(format!("{BOUNDED}{}", family.key));
            }
        }
    }

    /// By numbers, the loops of a role that count them, each from the beginning; those behind which they are
    /// counted anew are noted.
    fn loops_of(&mut self, role: &[Statement]) -> BTreeMap<usize, Loops> {
        let mut sites = Vec::new();
        walk(role, &mut Vec::new(), &mut BTreeSet::new(), &mut sites);
        let looked = Plan::looked(self, &sites);
        let mut counted: BTreeMap<Place, Vec<(&Site<'_>, BTreeSet<usize>)>> = BTreeMap::new();
        for site in &sites {
            for (place, headers) in self.growing(site) {
                if headers.is_disjoint(&looked) {
                    counted.entry(place).or_default().push((site, headers));
                }
            }
        }
        let mut loops = BTreeMap::new();
        for ((number, scope), growing) in counted {
            let family = &mut self.all[number];
            let changes = scope.is_some() && !family.is_invariant;
            // Where a loop goes on from another, or something is computed of the number, it is one number.
            if changes || family.residue.is_some() || growing.iter().any(|(_, headers)| headers.len() != 1) {
                continue;
            }
            let mut all = Loops::new();
            for (site, own) in &growing {
                let is_over = |header: &usize| site.before.contains(header) && !site.around.contains(header);
                family.again.extend(all.iter().filter(|header| !own.contains(header) && is_over(header)));
                let new: Loops = own.iter().filter(|header| !all.contains(header)).copied().collect();
                all.extend(new);
            }
            // In each iteration of a loop around the answers begin with the first loop once more.
            if scope.is_none() {
                loops.insert(number, all);
            }
        }
        loops
    }

    /// The numbers that a decision counts, with the headers of the loops that it does so in.
    fn growing<'a>(&'a self, site: &'a Site<'_>) -> impl Iterator<Item = (Place, BTreeSet<usize>)> + 'a {
        let thresholds = site.decision.formula.iter().flat_map(Formula::thresholds);
        thresholds.filter(|threshold| threshold.grows()).filter_map(|threshold| {
            let Member { family, .. } = self.member(threshold)?;
            let headers = threshold.side.rounds.iter().map(|(header, _)| *header).collect();
            Some(((family, threshold.scope), headers))
        })
    }
}

impl Plan<'_> {
    /// Counts numbers anew behind loops, in statements whose decisions have not been replaced.
    pub(super) fn begin_again(&self, statements: &mut Statements) {
        for (place, of) in &self.uses {
            let family = &self.families.all[place.0];
            for header in &family.again {
                if of.rounds.contains_key(header) {
                    let own = family.pass.get(header);
                    let later = of.rounds.keys().filter_map(|other| family.pass.get(other));
                    let next = later.filter(|pass| Some(*pass) > own).min();
                    // Answers of their own begin with the first of them.
                    let again = next.is_none();
                    let mut counted = self.counted(*place, of, Counting::Begin { again });
                    counted.key = in_pass(counted.key, next.or(own).copied());
                    let begin = Statement::Count(Box::new(counted));
                    self.begin_behind(statements, (*place, *header), &begin);
                }
            }
        }
    }

    fn begin_behind(&self, statements: &mut Statements, (place, header): (Place, usize), begin: &Statement) {
        let mut at = 0;
        while at < statements.len() {
            let is_behind = match &mut statements[at] {
                Statement::Loop { header: own, .. } if *own == header => true,
                Statement::Loop { body, .. } | Statement::For { body, .. } => {
                    self.begin_behind(body, (place, header), begin);
                    false
                }
                statement @ Statement::If { .. } => {
                    let counts = self.counts_in(statement, place);
                    if counts.len() > 1
                        && let Statement::If { then, otherwise, .. } = statement
                    {
                        self.begin_behind(then, (place, header), begin);
                        self.begin_behind(otherwise, (place, header), begin);
                    }
                    counts.len() == 1 && counts.contains(&header)
                }
                _ => false,
            };
            at += 1;
            if is_behind {
                statements.insert(at, begin.clone());
                at += 1;
            }
        }
    }

    /// The headers of the loops in a statement that count a number.
    fn counts_in(&self, statement: &Statement, place: Place) -> BTreeSet<usize> {
        let mut sites = Vec::new();
        let statement = std::slice::from_ref(statement);
        walk(statement, &mut Vec::new(), &mut BTreeSet::new(), &mut sites);
        let growing = sites.iter().flat_map(|site| self.families.growing(site));
        growing.filter(|(own, _)| *own == place).flat_map(|(_, headers)| headers).collect()
    }
}

/// Which loops of roles have the same answers: the pass of each, from 0.
fn passes(roles: &[(&Statements, &Loops)]) -> BTreeMap<usize, usize> {
    let mut common: Option<BTreeSet<&str>> = None;
    for (statements, _) in roles {
        let mut own = BTreeSet::new();
        barriers(statements, &mut own);
        common = Some(common.map_or_else(|| own.clone(), |common| &common & &own));
    }
    let common = common.unwrap_or_default();
    let before = |(statements, own): &(&Statements, &Loops)| -> Option<Vec<(usize, usize)>> {
        let before: Option<Vec<(usize, usize)>> =
            own.iter().map(|header| Some((*header, before(statements, *header, &common)?))).collect();
        before.filter(|before| before.is_sorted_by(|a, b| a.1 < b.1))
    };
    let by_barriers: Option<Vec<_>> = roles.iter().map(before).collect();
    let in_order = || roles.iter().flat_map(|(_, own)| own.iter().copied().zip(0..)).collect();
    let Some(by_barriers) = by_barriers else { return in_order() };
    let all: BTreeSet<usize> = by_barriers.iter().flatten().map(|(_, before)| *before).collect();
    let pass = |before: usize| all.range(..before).count();
    by_barriers.into_iter().flatten().map(|(header, before)| (header, pass(before))).collect()
}

/// The texts of the barriers in statements.
fn barriers<'s>(statements: &'s [Statement], found: &mut BTreeSet<&'s str>) {
    for statement in statements {
        match statement {
            Statement::Barrier { text, .. } => {
                found.insert(text);
            }
            Statement::If { then, otherwise, .. } => {
                barriers(then, found);
                barriers(otherwise, found);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => barriers(body, found),
            _ => {}
        }
    }
}

/// How many of these barriers stand before a loop, on the way to it.
fn before(statements: &[Statement], loop_at: usize, barriers: &BTreeSet<&str>) -> Option<usize> {
    let mut count = 0;
    for statement in statements {
        let inside = |list: &Statements| before(list, loop_at, barriers);
        let found = match statement {
            Statement::Barrier { text, .. } => {
                count += usize::from(barriers.contains(text.as_str()));
                None
            }
            Statement::Loop { header, .. } if *header == loop_at => Some(0),
            Statement::Loop { body, .. } | Statement::For { body, .. } => inside(body),
            Statement::If { then, otherwise, .. } => inside(then).or_else(|| inside(otherwise)),
            _ => None,
        };
        if let Some(found) = found {
            return Some(count + found);
        }
    }
    None
}
