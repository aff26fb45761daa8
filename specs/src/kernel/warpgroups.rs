//! What the four warps of a warpgroup do together: operations of tensor cores that they issue, and wait for,
//! as one.
//!
//! Source: PTX ISA, section `Asynchronous Warpgroup Level Matrix Instructions`: all threads of a warpgroup
//! perform an operation collectively. So it is not complete before each of the four warps has issued it, and
//! who has waited for a group knows that all of them have committed it. No sentence says so in as many words:
//! it is assumed, and said. Libraries rest on it where one warp gives back a stage for all four.
//!
//! Where the warps of each warpgroup do the same at barriers nothing depends on it, and it is left out. Else
//! a warpgroup gets an mbarrier object on which its threads arrive with each group that they commit, without
//! releasing anything in memory. A wait for all groups is one for the phase of the latest. A warp commits
//! its next group once the one before has been committed by all: so a wait that leaves the latest group out
//! is over as it begins. That is later than need be where barriers come between a commit and the wait for
//! the group before it.

use std::collections::BTreeSet;

use super::code::{Action, Awaited, Collective, Synchronisation};
use super::document::{Part, Role};
use super::tree::{Amount, Assumption, Statement, Statements};
use crate::common::span::Span;

/// The warps of a warpgroup, and their threads.
const WARPS: u32 = 4;
const THREADS: u32 = 128;

const COMMIT: &str = "wgmma.commit_group";
const WAIT: &str = "wgmma.wait_group 0";

/// The objects, one for each warpgroup, and the parity of the group that a warp commits next.
const OBJECTS: &str = "wgmma_groups";
const PARITY: &str = "wgmma_parity";

/// What stands for a step until programs are written.
pub(super) fn action(step: Collective) -> Action {
    let statement = match step {
        Collective::Commit => COMMIT,
        Collective::Wait => WAIT,
    };
    Action::Synchronise(Synchronisation {
        statement: statement.to_owned(),
        operands: Vec::new(),
        awaited: Awaited::Nobody,
    })
}

fn step_of(text: &str) -> Option<Collective> {
    match text {
        COMMIT => Some(Collective::Commit),
        WAIT => Some(Collective::Wait),
        _ => None,
    }
}

/// Whether warps of one warpgroup do different things, from the first of these steps on if there are any.
pub(super) fn part(roles: &[Role], programs: &[Statements], threads: u32) -> bool {
    let from_first: Vec<&[Statement]> = programs.iter().map(|program| from_first(program)).collect();
    let has_steps = from_first.iter().any(|rest| !rest.is_empty());
    let compared = |part: &Part| match has_steps {
        true => from_first[part.program],
        false => programs[part.program].as_slice(),
    };
    let differ = |one: &Role, other: &Role| {
        one.parts.len() != other.parts.len()
            || one
                .parts
                .iter()
                .zip(&other.parts)
                .any(|(one, other)| one.ranks != other.ranks || compared(one) != compared(other))
    };
    (0..threads / THREADS).any(|group| {
        let of_group = |role: &&Role| {
            role.warps.iter().any(|(from, to)| *from < (group + 1) * WARPS && group * WARPS < *to)
        };
        let mut of_group = roles.iter().filter(of_group);
        let first = of_group.next();
        first.is_some_and(|first| of_group.any(|other| differ(first, other)))
    })
}

/// A program from the first statement on in which there is such a step.
fn from_first(program: &[Statement]) -> &[Statement] {
    let has_step = |statement: &Statement| {
        let mut found = BTreeSet::new();
        places(std::slice::from_ref(statement), &mut found);
        !found.is_empty()
    };
    program.iter().position(has_step).map_or(&[], |first| &program[first..])
}

/// Where there are such steps.
fn places(statements: &[Statement], found: &mut BTreeSet<Span>) {
    for statement in statements {
        match statement {
            Statement::Barrier { text, span } if step_of(text).is_some() => drop(found.insert(*span)),
            Statement::If { then, otherwise, .. } => {
                places(then, found);
                places(otherwise, found);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => places(body, found),
            _ => {}
        }
    }
}

/// Puts waits and arrivals in the place of these steps. The declarations of the objects, if there are any.
pub(super) fn meet(
    programs: &mut [Statements],
    threads: u32,
    assumes: &mut BTreeSet<Assumption>,
) -> Option<String> {
    let mut found = BTreeSet::new();
    programs.iter().for_each(|program| places(program, &mut found));
    let first = found.first()?;
    assumes.insert(Assumption::Collective(*first));
    programs.iter_mut().for_each(replace);
    let groups = threads.div_ceil(THREADS);
    Some(format!("mbarrier {OBJECTS}[{groups}] count {THREADS};"))
}

fn replace(statements: &mut Statements) {
    let old = std::mem::take(statements);
    for mut statement in old {
        match &mut statement {
            Statement::Barrier { text, span } => {
                if let Some(step) = step_of(text) {
                    written(step, *span, statements);
                    continue;
                }
            }
            Statement::If { then, otherwise, .. } => {
                replace(then);
                replace(otherwise);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => replace(body),
            _ => {}
        }
        statements.push(statement);
    }
}

/// A step as a protocol writes it. The phase before the first is complete, as its parity says.
fn written(step: Collective, span: Span, statements: &mut Statements) {
    let object = format!("{OBJECTS}[warp / {WARPS}]");
    let barrier = |text: String| Statement::Barrier { text, span };
    statements.push(barrier(format!("mbarrier.wait.parity {object}, {PARITY} ^ 1")));
    if step == Collective::Commit {
        statements.push(barrier(format!("mbarrier.arrive.relaxed {object}")));
        let value = Amount { text: format!("{PARITY} ^ 1"), number: None, step: None };
        statements.push(Statement::Set { local: PARITY.to_owned(), value, span });
    }
}
