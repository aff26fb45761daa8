//! How many bytes a copy of a tensor completes: PTX does not say so, since a map that the host has made does.
//!
//! Copies behind an announcement on the same object are taken to complete what is announced, in equal parts.
//! Where some of them are on one of two ways alone, the others are taken to complete it: the phase may then
//! come to its end before those have landed, and whatever happens with them happens without them too. Where
//! an announcement does not say how many bytes, it is as many as its copies complete. Where none of this can
//! be said the kernel is not followed.

use std::collections::{BTreeMap, BTreeSet};

use super::mentions::{all_assigned, words_of};
use super::structure::Stop;
use super::tree::{Assumption, Statement, Statements, ends};
use crate::common::span::Span;

/// An announcement, and the copies since.
#[derive(Clone, Debug)]
struct Open {
    object: String,
    span: Span,
    /// Its number, if it does not say how many bytes.
    number: Option<usize>,
    /// Bytes that no copy of known length has completed.
    left: i64,
    /// Copies of unknown length on one path, and all of them by their numbers.
    count: i64,
    sites: BTreeSet<usize>,
    /// Those of them that are on one of two ways alone.
    aside: BTreeSet<usize>,
}

/// Bytes of a copy, where nobody says how many.
const SHARE: i64 = 16;

#[derive(Default)]
struct Measurer {
    /// Copies of unknown length so far.
    next: usize,
    found: BTreeMap<usize, i64>,
    /// The same of announcements that do not say how many bytes.
    next_announced: usize,
    announced: BTreeMap<usize, i64>,
    assumes: BTreeSet<Assumption>,
}

/// Gives every copy its bytes; what is assumed with that is added to `assumes`.
pub(super) fn measure(statements: &mut Statements, assumes: &mut BTreeSet<Assumption>) -> Result<(), Stop> {
    let mut measurer = Measurer::default();
    let mut open = Vec::new();
    measurer.list(statements, &mut open)?;
    for one in open {
        measurer.close(&one)?;
    }
    assumes.extend(&measurer.assumes);
    let mut next = (0, 0);
    fill(statements, &mut next, &measurer);
    Ok(())
}

fn fill(statements: &mut Statements, next: &mut (usize, usize), found: &Measurer) {
    statements.retain_mut(|statement| {
        match statement {
            Statement::Copy { bytes: bytes @ None, .. } => {
                *bytes = found.found.get(&next.0).copied();
                next.0 += 1;
                return *bytes != Some(0);
            }
            Statement::Announce { bytes: bytes @ None, .. } => {
                *bytes = found.announced.get(&next.1).copied();
                next.1 += 1;
            }
            Statement::If { then, otherwise, .. } => {
                fill(then, next, found);
                fill(otherwise, next, found);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => fill(body, next, found),
            _ => {}
        }
        true
    });
}

fn not_known(span: Span) -> Stop {
    let what = "how many bytes this copy completes is not known".to_owned();
    Stop { what, span, help: None }
}

impl Measurer {
    fn list(&mut self, statements: &[Statement], open: &mut Vec<Open>) -> Result<(), Stop> {
        for statement in statements {
            match statement {
                Statement::Announce { object, bytes, span, .. } => {
                    self.close_some(open, |one| one.object == *object)?;
                    let number = bytes.is_none().then_some(self.next_announced);
                    self.next_announced += usize::from(bytes.is_none());
                    let (object, left) = (object.clone(), bytes.unwrap_or_default());
                    let (sites, aside) = (BTreeSet::new(), BTreeSet::new());
                    open.push(Open { object, span: *span, number, left, count: 0, sites, aside });
                }
                Statement::Copy { object, bytes, span } => {
                    let found = open.iter_mut().find(|one| one.object == *object);
                    match (found, bytes) {
                        (Some(one), Some(bytes)) => one.left -= bytes,
                        (Some(one), None) => {
                            one.count += 1;
                            one.sites.insert(self.next);
                        }
                        (None, Some(_)) => {}
                        (None, None) => return Err(not_known(*span)),
                    }
                    self.next += usize::from(bytes.is_none());
                }
                Statement::Set { local, .. } => {
                    self.close_some(open, |one| words_of(&one.object).contains(local))?;
                }
                Statement::If { then, otherwise, span, .. } => self.branch((then, otherwise), *span, open)?,
                Statement::For { from, to, variable, body, .. } => {
                    let mut changed = all_assigned(body);
                    changed.insert(variable.clone());
                    self.repeated(body, &changed, Some(to - from), open)?;
                }
                Statement::Loop { body, .. } => self.repeated(body, &all_assigned(body), None, open)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn branch(
        &mut self,
        (then, otherwise): (&[Statement], &[Statement]),
        span: Span,
        open: &mut Vec<Open>,
    ) -> Result<(), Stop> {
        let before = open.len();
        let mut arms = Vec::new();
        for arm in [then, otherwise] {
            let mut inside = open.clone();
            self.list(arm, &mut inside)?;
            // What is announced in an arm is completed in it.
            let own: Vec<Open> =
                inside.iter().filter(|one| !open.iter().any(|o| o.span == one.span)).cloned().collect();
            for one in own {
                self.close(&one)?;
            }
            if !ends(arm) {
                arms.push(inside);
            } else if inside.iter().any(|one| open.iter().any(|o| o.span == one.span && o.count != one.count))
            {
                return Err(not_known(span));
            }
        }
        debug_assert!(open.len() == before);
        for one in open.iter_mut() {
            let mut after = arms.iter().map(|arm| arm.iter().find(|other| other.span == one.span));
            let Some(Some(first)) = after.next() else { continue };
            let second = after.next().flatten().unwrap_or(first);
            let sites = first.sites.iter().chain(&second.sites).copied();
            one.aside.extend(first.aside.iter().chain(&second.aside));
            if first.left != second.left {
                return Err(not_known(span));
            }
            if first.count == second.count {
                one.count = first.count;
            } else {
                one.aside.extend(sites.clone().filter(|site| !one.sites.contains(site)));
            }
            one.left = first.left;
            one.sites.extend(sites);
        }
        // An arm may have changed what an object's index is.
        let changed: BTreeSet<String> = [then, otherwise].into_iter().flat_map(all_assigned).collect();
        self.close_some(open, |one| !words_of(&one.object).is_disjoint(&changed))
    }

    fn repeated(
        &mut self,
        body: &[Statement],
        changed: &BTreeSet<String>,
        times: Option<i64>,
        open: &mut Vec<Open>,
    ) -> Result<(), Stop> {
        let is_fixed = |one: &Open| {
            times.is_some() && !changed.iter().any(|local| words_of(&one.object).contains(local))
        };
        let mut inside: Vec<Open> = open.iter().filter(|one| is_fixed(one)).cloned().collect();
        self.list(body, &mut inside)?;
        for one in &inside {
            match open.iter_mut().find(|other| other.span == one.span) {
                Some(outer) => {
                    let times = times.unwrap_or(0);
                    outer.count += (one.count - outer.count) * times;
                    outer.left += (one.left - outer.left) * times;
                    outer.sites.extend(&one.sites);
                    outer.aside.extend(&one.aside);
                }
                None => self.close(one)?,
            }
        }
        let is_assigned = |one: &Open| !words_of(&one.object).is_disjoint(changed);
        self.close_some(open, is_assigned)
    }

    fn close_some(&mut self, open: &mut Vec<Open>, which: impl Fn(&Open) -> bool) -> Result<(), Stop> {
        for one in open.iter().filter(|one| which(one)) {
            self.close(one)?;
        }
        open.retain(|one| !which(one));
        Ok(())
    }

    /// Shares out what is announced.
    fn close(&mut self, open: &Open) -> Result<(), Stop> {
        let left = match open.number {
            // Copies of known length complete what is less than nothing.
            Some(number) => {
                let bytes = SHARE * open.count - open.left;
                if bytes < 1 {
                    let what = "the number of bytes of this barrier is not known".to_owned();
                    let help = Some("give the parameters that it is computed from by --param");
                    return Err(Stop { what, span: open.span, help });
                }
                self.announced.insert(number, bytes);
                SHARE * open.count
            }
            None => open.left,
        };
        if open.count == 0 {
            return if open.aside.is_empty() { Ok(()) } else { Err(not_known(open.span)) };
        }
        let (share, rest) = (left / open.count, left % open.count);
        let plain = open.sites.difference(&open.aside);
        let is_plain = plain.clone().count() as i64 == open.count;
        if share < 1 || rest != 0 && !is_plain {
            return Err(not_known(open.span));
        }
        self.assumes.insert(Assumption::Bytes(open.span));
        for site in &open.aside {
            if *self.found.entry(*site).or_insert(0) != 0 {
                return Err(not_known(open.span));
            }
        }
        let last = plain.clone().last();
        for site in plain {
            let more = if Some(site) == last { rest } else { 0 };
            // A copy behind several announcements completes as much for each of them.
            if *self.found.entry(*site).or_insert(share + more) != share + more {
                return Err(not_known(open.span));
            }
        }
        Ok(())
    }
}
