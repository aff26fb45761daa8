//! Whether anybody reads an answer that is known to be yes only because a loop elsewhere has asked again,
//! perhaps with an answer of its own.

use std::collections::BTreeSet;

use crate::sass::opcodes::{self, Effect};
use crate::sass::syntax::{Function, Statement};

use super::routes::meets_behind;

/// Statements looked at for one question.
const MOST: usize = 512;

/// Whether these predicates are written before they are read, on every way from a statement on.
pub(super) fn are_forgotten(function: &Function<'_>, from: usize, answers: &[&str]) -> bool {
    let mut open = vec![(from, answers.to_vec())];
    let mut seen = BTreeSet::new();
    while let Some((at, mut pending)) = open.pop() {
        if pending.is_empty() || !seen.insert((at, pending.clone())) {
            continue;
        }
        let Some(statement) = function.statements.get(at).filter(|_| seen.len() <= MOST) else {
            return false;
        };
        if pending.iter().any(|answer| reads(statement, answer)) {
            return false;
        }
        if statement.guard.is_none() {
            pending.retain(|answer| !writes(statement, answer));
        }
        match (statement.opcode, statement.operands.as_slice(), statement.guard) {
            ("EXIT", _, None) => continue,
            ("EXIT", ..) => {}
            ("BRA", [to], guard) => {
                let Some(to) = function.target(to) else { return false };
                open.push((to, pending.clone()));
                if guard.is_none() {
                    continue;
                }
            }
            // Of other jumps nothing is known.
            (opcode, ..) if opcodes::effect(opcode) == Some(Effect::Flow) && !stays(function, at) => {
                return false;
            }
            _ => {}
        }
        open.push((at + 1, pending));
    }
    true
}

/// Whether an instruction that concerns the flow of control goes on behind itself.
fn stays(function: &Function<'_>, at: usize) -> bool {
    match function.statements[at].opcode {
        "BSYNC" => meets_behind(function, at),
        opcode => opcode.starts_with("WARPSYNC"),
    }
}

/// How many of the first operands are predicates that a statement writes.
fn written(statement: &Statement<'_>) -> usize {
    match opcodes::effect(statement.opcode) {
        Some(Effect::Predicates) => 2,
        Some(Effect::Predicate) => 1,
        _ if statement.opcode.starts_with("SYNCS.PHASECHK") => 1,
        _ => 0,
    }
}

fn writes(statement: &Statement<'_>, answer: &str) -> bool {
    statement.operands.iter().take(written(statement)).any(|operand| *operand == answer)
}

fn reads(statement: &Statement<'_>, answer: &str) -> bool {
    let is_it = |text: &str| text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == answer);
    // What stores or loads predicates all at once names none of them.
    let is_of_all = ["P2R", "R2P"].iter().any(|opcode| statement.opcode.starts_with(opcode));
    is_of_all
        || statement.guard.is_some_and(is_it)
        || statement.operands.iter().skip(written(statement)).any(|operand| is_it(operand))
}
