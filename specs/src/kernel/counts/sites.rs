//! The decisions of a role, and where they stand.

use std::collections::BTreeSet;

use crate::common::span::Span;
use crate::kernel::tree::{Condition, Decision, Statement, Statements};

/// All decisions that may be asked for.
pub(super) fn collect<'s>(statements: &'s [Statement], found: &mut impl FnMut(&'s Decision)) {
    for statement in statements {
        match statement {
            Statement::If { condition, then, otherwise, .. } => {
                match condition {
                    Condition::Uniform { decision, .. } => found(decision),
                    Condition::Value { decided, .. } => decided.decisions.iter().for_each(&mut *found),
                    Condition::OfWarp | Condition::OfLane => {}
                }
                collect(then, found);
                collect(otherwise, found);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => collect(body, found),
            _ => {}
        }
    }
}

/// Changes all decisions that may be asked for.
pub(super) fn change(statements: &mut Statements, with: &mut impl FnMut(&mut Decision)) {
    for statement in statements {
        match statement {
            Statement::If { condition, then, otherwise, .. } => {
                match condition {
                    Condition::Uniform { decision, .. } => with(decision),
                    Condition::Value { decided, .. } => decided.decisions.iter_mut().for_each(&mut *with),
                    Condition::OfWarp | Condition::OfLane => {}
                }
                change(then, with);
                change(otherwise, with);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => change(body, with),
            _ => {}
        }
    }
}

/// Forgets the places of loops, so that programs that are alike are equal.
pub(super) fn forget(statements: &mut Statements) {
    for statement in statements {
        match statement {
            Statement::If { then, otherwise, .. } => {
                forget(then);
                forget(otherwise);
            }
            Statement::Loop { body, header, .. } => {
                *header = 0;
                forget(body);
            }
            Statement::For { body, .. } => forget(body),
            _ => {}
        }
    }
}

/// A decision as it stands in a role.
pub(super) struct Site<'s> {
    pub(super) decision: &'s Decision,
    /// Where in the text.
    pub(super) span: Span,
    /// It is all that is asked.
    pub(super) is_branch: bool,
    /// The headers of loops around, and of loops that may have been gone through before.
    pub(super) around: Vec<usize>,
    pub(super) before: BTreeSet<usize>,
}

/// Collects the decisions of a role with the loops around them and before them.
pub(super) fn walk<'s>(
    statements: &'s [Statement],
    around: &mut Vec<usize>,
    before: &mut BTreeSet<usize>,
    sites: &mut Vec<Site<'s>>,
) {
    for statement in statements {
        match statement {
            Statement::If { condition, then, otherwise, span } => {
                let (around_here, before_here) = (around.clone(), before.clone());
                let mut site = |decision, is_branch| {
                    let (around, before) = (around_here.clone(), before_here.clone());
                    sites.push(Site { decision, span: *span, is_branch, around, before });
                };
                match condition {
                    Condition::Uniform { decision, .. } => site(decision, true),
                    Condition::Value { decided, .. } => decided.decisions.iter().for_each(|d| site(d, false)),
                    Condition::OfWarp | Condition::OfLane => {}
                }
                let mut other = before.clone();
                walk(then, around, before, sites);
                walk(otherwise, around, &mut other, sites);
                before.extend(other);
            }
            Statement::Loop { body, header, .. } => {
                around.push(*header);
                walk(body, around, before, sites);
                around.pop();
                before.insert(*header);
            }
            Statement::For { body, .. } => walk(body, around, before, sites),
            _ => {}
        }
    }
}
