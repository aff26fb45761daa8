//! Loops one behind the other that all count up to one number, as the phases of a persistent kernel do: each
//! is a pass, and counts the number by itself.
//!
//! The first answers, which are asked for where the number begins, are those of all passes. Those that follow
//! are about a number of its own for each pass, which may be the same number: that allows more than happens,
//! and nothing less, and what comes along with it is in doubt. Each pass has its variables and its answers,
//! which begin where the number does, as if there were no other; a way past a loop misses nothing.
//!
//! Which loops of several roles have the same answers is a matter of precision alone: those with as many
//! barriers before them that all these roles have; or else those with the same objects in them; or else the
//! first of each, the second, and so on.

use std::collections::{BTreeMap, BTreeSet};

use super::families::Families;
use super::rewrite::{Place, Plan};
use super::sites::{Site, change, collect, walk};
use super::{Formula, Threshold};
use crate::common::contents::BOUNDED;
use crate::kernel::mentions::words_of;
use crate::kernel::tree::{Statement, Statements};

/// By the headers of the loops of one role that count a number, how many others of them stand before.
type Levels = BTreeMap<usize, usize>;
/// A number, and the header of the loop with whose iterations it changes.
type Scoped = (usize, Option<usize>);

impl Families {
    /// Says of what is asked in loops in which pass it is.
    pub(super) fn note_passes(&self, roles: &mut [Statements]) {
        let mut levels: Vec<BTreeMap<usize, Levels>> = roles.iter().map(|role| self.levels(role)).collect();
        // The low bits of what is left of a number are those of one number.
        for role in roles.iter() {
            collect(role, &mut |decision| {
                for low in decision.formula.iter().flat_map(Formula::remainders) {
                    if let Some(member) = self.member(&low.first) {
                        levels.iter_mut().for_each(|levels| drop(levels.remove(&member.family)));
                    }
                }
            });
        }
        let mut passes = vec![BTreeMap::<usize, BTreeMap<usize, usize>>::new(); roles.len()];
        for family in 0..self.all.len() {
            let counts = |role: usize| Some((role, levels[role].get(&family)?));
            let of_roles: Vec<(usize, &Levels)> = (0..roles.len()).filter_map(counts).collect();
            if of_roles.iter().any(|(_, levels)| levels.values().any(|level| *level > 0)) {
                let with: Vec<_> = of_roles.iter().map(|(role, levels)| (&roles[*role], *levels)).collect();
                for ((role, _), own) in of_roles.iter().zip(aligned(&with)) {
                    passes[*role].insert(family, own);
                }
            }
        }
        for (role, passes) in roles.iter_mut().zip(&passes) {
            change(role, &mut |decision| {
                decision.formula.iter_mut().for_each(|formula| {
                    formula.each(&mut |threshold| {
                        let family = self.member(threshold).map(|member| member.family);
                        let own = family.and_then(|family| passes.get(&family));
                        let pass = own.and_then(|own| headers(threshold).find_map(|header| own.get(&header)));
                        threshold.pass = pass.copied().unwrap_or(0);
                    });
                });
            });
        }
    }

    /// Passes over a number share its first answers, and that there are as many of the others is not said.
    pub(super) fn settle_passes(&mut self) {
        for family in &mut self.all {
            // A number of which something is computed while it is counted is one number.
            family.has_passes &= family.residue.is_none_or(|residue| residue.is_once);
            if family.has_passes {
                family.fixed = family.fixed.max(1);
                family.is_bounded = true;
                family.about.insert(format!("{BOUNDED}{}", family.key));
            }
        }
    }

    /// What a threshold of a family counts.
    pub(super) fn place(&self, threshold: &Threshold, family: usize) -> Place {
        let pass = if self.all[family].has_passes { threshold.pass } else { 0 };
        Place { family, scope: threshold.scope, pass }
    }

    /// By numbers, the loops of a role that count them. One that goes on from another is of its pass; one
    /// that takes nothing off is none.
    fn levels(&self, role: &[Statement]) -> BTreeMap<usize, Levels> {
        let mut sites = Vec::new();
        walk(role, &mut Vec::new(), &mut BTreeSet::new(), &mut sites);
        let looked = Plan::looked(self, &sites);
        let mut found: BTreeMap<Scoped, Levels> = BTreeMap::new();
        for site in &sites {
            for (place, headers) in self.growing(site) {
                if headers.is_disjoint(&looked) {
                    let levels = found.entry(place).or_default();
                    let same = headers.iter().filter_map(|header| levels.get(header)).max().copied();
                    let is_over = |header: &usize| site.before.contains(header) && !headers.contains(header);
                    let before = levels.iter().filter(|(header, _)| is_over(header));
                    let next = before.map(|(_, level)| level + 1).max().unwrap_or(0);
                    let level = same.unwrap_or(next);
                    levels.extend(headers.into_iter().map(|header| (header, level)));
                }
            }
        }
        let mut levels: BTreeMap<usize, Levels> = BTreeMap::new();
        for ((family, _), own) in found {
            levels.entry(family).or_default().extend(own);
        }
        levels
    }

    /// The numbers that a decision counts, with the headers of the loops that it does so in.
    fn growing<'a>(&'a self, site: &'a Site<'_>) -> impl Iterator<Item = (Scoped, BTreeSet<usize>)> + 'a {
        let thresholds = site.decision.formula.iter().flat_map(Formula::thresholds);
        thresholds.filter(|threshold| threshold.grows()).filter_map(|threshold| {
            let family = self.member(threshold)?.family;
            Some(((family, threshold.scope), headers(threshold).collect()))
        })
    }
}

fn headers(threshold: &Threshold) -> impl Iterator<Item = usize> {
    threshold.side.rounds.iter().map(|(header, _)| *header)
}

/// Which loops of roles have the same answers: for each role the passes of its loops, from 1.
fn aligned(roles: &[(&Statements, &Levels)]) -> Vec<BTreeMap<usize, usize>> {
    let in_order = || roles.iter().map(|(_, levels)| (0..depth(levels)).collect()).collect();
    let of_levels: Vec<Vec<usize>> =
        by_barriers(roles).or_else(|| by_objects(roles)).unwrap_or_else(in_order);
    let of = |((_, levels), passes): (&(&Statements, &Levels), Vec<usize>)| {
        levels.iter().map(|(header, level)| (*header, passes[*level] + 1)).collect()
    };
    roles.iter().zip(of_levels).map(of).collect()
}

/// How many levels there are.
fn depth(levels: &Levels) -> usize {
    levels.values().max().map_or(0, |last| last + 1)
}

/// By the barriers before loops that all roles have: for each role the passes of its levels.
fn by_barriers(roles: &[(&Statements, &Levels)]) -> Option<Vec<Vec<usize>>> {
    let mut common: Option<BTreeSet<&str>> = None;
    for (statements, _) in roles {
        let mut own = BTreeSet::new();
        barriers(statements, &mut own);
        common = Some(common.map_or_else(|| own.clone(), |common| &common & &own));
    }
    let common = common.unwrap_or_default();
    // The least of the barriers before the loops of a level: they have to be more with each.
    let of_role = |(statements, levels): &(&Statements, &Levels)| -> Option<Vec<usize>> {
        let mut least = vec![usize::MAX; depth(levels)];
        for (header, level) in *levels {
            least[*level] = least[*level].min(before(statements, *header, &common)?);
        }
        least.is_sorted_by(|a, b| a < b).then_some(least)
    };
    let before: Vec<Vec<usize>> = roles.iter().map(of_role).collect::<Option<_>>()?;
    let all: BTreeSet<usize> = before.iter().flatten().copied().collect();
    let pass = |least: &usize| all.range(..*least).count();
    Some(before.iter().map(|of_levels| of_levels.iter().map(pass).collect()).collect())
}

/// By the objects in loops, which those of the role with the most levels tell apart: for each role the passes
/// of its levels.
fn by_objects(roles: &[(&Statements, &Levels)]) -> Option<Vec<Vec<usize>>> {
    let words = |(statements, levels): &(&Statements, &Levels)| {
        let mut of_levels = vec![BTreeSet::new(); depth(levels)];
        in_loops(statements, levels, None, &mut of_levels);
        of_levels
    };
    let most = roles.iter().rev().max_by_key(|(_, levels)| depth(levels))?;
    let mut objects: Vec<BTreeSet<String>> = words(most);
    let all = objects.iter().skip(1).fold(objects.first()?.clone(), |all, own| &all & own);
    objects.iter_mut().for_each(|own| own.retain(|word| !all.contains(word)));
    let of_role = |role: &(&Statements, &Levels)| -> Option<Vec<usize>> {
        let pass = |own: &BTreeSet<String>| {
            let shared = |pass: &usize| objects[*pass].intersection(own).count();
            (0..objects.len()).rev().max_by_key(shared).filter(|pass| shared(pass) > 0)
        };
        let passes: Vec<usize> = words(role).iter().map(pass).collect::<Option<_>>()?;
        passes.is_sorted_by(|a, b| a < b).then_some(passes)
    };
    roles.iter().map(of_role).collect()
}

/// Adds the words of barriers in loops, by their levels.
fn in_loops(statements: &[Statement], levels: &Levels, level: Option<usize>, found: &mut [BTreeSet<String>]) {
    for statement in statements {
        match statement {
            Statement::Barrier { text, .. } | Statement::Announce { object: text, .. } => {
                if let Some(level) = level {
                    found[level].extend(words_of(text));
                }
            }
            Statement::If { then, otherwise, .. } => {
                in_loops(then, levels, level, found);
                in_loops(otherwise, levels, level, found);
            }
            Statement::Loop { body, header, .. } => {
                in_loops(body, levels, levels.get(header).copied().or(level), found);
            }
            Statement::For { body, .. } => in_loops(body, levels, level, found),
            _ => {}
        }
    }
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
