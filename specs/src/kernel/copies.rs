//! How many bytes a copy of a tensor completes: PTX does not say so, since a map that the host has made does.
//!
//! Copies behind an announcement on the same object are taken to complete what is announced, in equal parts.
//! Where that cannot be said the kernel is not followed.

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
    /// Bytes that no copy of known length has completed.
    left: i64,
    /// Copies of unknown length on one path, and all of them by their numbers.
    count: i64,
    sites: BTreeSet<usize>,
}

#[derive(Default)]
struct Measurer {
    /// Copies of unknown length so far.
    next: usize,
    found: BTreeMap<usize, i64>,
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
    assumes.extend(measurer.assumes);
    let mut next = 0;
    fill(statements, &mut next, &measurer.found);
    Ok(())
}

fn fill(statements: &mut Statements, next: &mut usize, found: &BTreeMap<usize, i64>) {
    for statement in statements {
        match statement {
            Statement::Copy { bytes: bytes @ None, .. } => {
                *bytes = found.get(next).copied();
                *next += 1;
            }
            Statement::If { then, otherwise, .. } => {
                fill(then, next, found);
                fill(otherwise, next, found);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => fill(body, next, found),
            _ => {}
        }
    }
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
                    let (object, left) = (object.clone(), *bytes);
                    open.push(Open { object, span: *span, left, count: 0, sites: BTreeSet::new() });
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
            if (first.count, first.left) != (second.count, second.left) {
                return Err(not_known(span));
            }
            (one.count, one.left) = (first.count, first.left);
            one.sites.extend(first.sites.iter().chain(&second.sites));
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
        if open.count == 0 {
            return Ok(());
        }
        let (share, rest) = (open.left / open.count, open.left % open.count);
        let is_plain = open.sites.len() as i64 == open.count;
        if share < 1 || rest != 0 && !is_plain {
            return Err(not_known(open.span));
        }
        self.assumes.insert(Assumption::Bytes(open.span));
        for site in &open.sites {
            let more = if Some(site) == open.sites.last() { rest } else { 0 };
            // A copy behind several announcements completes as much for each of them.
            if *self.found.entry(*site).or_insert(share + more) != share + more {
                return Err(not_known(open.span));
            }
        }
        Ok(())
    }
}
