//! Answers to questions whether a phase is complete that go where they are not followed: to other lanes by a
//! shuffle or a vote, into memory, to a function that is not here. What goes by them then may wait for the
//! phase all the same. Waits and [`peeks`](super::peeks) know answers in registers alone.

use std::collections::BTreeSet;

use super::code::{Action, Argument, Code, Function, Guard, Instruction, Register};

/// Of the registers that an instruction reads, those of which the code that it became does not say what is
/// done with them: as an instruction of its own, if there are any, or if it stores something in any case.
pub(crate) fn uses(
    mut read: Vec<Register>,
    (guard, stores): (Option<Guard>, bool),
    code: &[Instruction],
) -> Option<Action> {
    if !code.iter().all(|instruction| matches!(instruction.action, Action::Compute { .. })) {
        read.extend(guard.map(|guard| guard.register));
    }
    for instruction in code {
        let known: Vec<Argument> = match &instruction.action {
            Action::Compute { arguments, .. } => arguments.clone(),
            Action::Synchronise(barrier) => barrier.operands.iter().map(|(operand, _)| *operand).collect(),
            Action::Object(step) => {
                let guard = guard.map(|guard| Argument::Register(guard.register));
                step.operands().chain(guard).collect()
            }
            Action::Nothing | Action::Store { .. } => Vec::new(),
            _ => return None,
        };
        read.retain(|register| !known.contains(&Argument::Register(*register)));
    }
    (stores || !read.is_empty()).then(|| Action::Uses(read.into_iter().map(Argument::Register).collect()))
}

/// Instructions behind a branch that are looked at.
const NEAR: usize = 64;

/// Does not follow the questions that are left and whose answers are handed on.
pub(super) fn refuse(code: &mut Code) {
    let is_question = |at: &usize| matches!(code.instructions[*at].action, Action::Test { .. });
    let questions: Vec<usize> = (0..code.instructions.len()).filter(is_question).collect();
    for at in questions {
        let Action::Test { name, .. } = &code.instructions[at].action else { continue };
        let name = name.clone();
        if is_handed_on(code, at) {
            let what = format!("`{name}`, whose answer is handed on otherwise than in registers");
            code.instructions[at].action = Action::Beyond(what);
        }
    }
}

/// Whether the answer to a question, or what is computed of it, comes to where it is not followed.
fn is_handed_on(code: &Code, question: usize) -> bool {
    let Some(Action::Compute { to, .. }) = code.instructions.get(question + 1).map(|next| &next.action)
    else {
        return false;
    };
    let mut known = BTreeSet::from([*to]);
    loop {
        let before = known.len();
        for (at, instruction) in code.instructions.iter().enumerate() {
            let is_known =
                |argument: &Argument| matches!(argument, Argument::Register(of) if known.contains(of));
            let is_guarded = instruction.guard.is_some_and(|guard| known.contains(&guard.register));
            match &instruction.action {
                Action::Compute { to, function, arguments } => {
                    let is_asked = arguments.iter().any(is_known);
                    if is_asked && !is_of_registers(*function) {
                        return true;
                    }
                    if is_asked || is_guarded {
                        known.insert(*to);
                    }
                }
                Action::Uses(arguments) if arguments.iter().any(is_known) => return true,
                Action::Jump(to) if is_guarded && skips_writes(code, at, *to) => return true,
                _ => {}
            }
        }
        if known.len() == before {
            return false;
        }
    }
}

/// Whether a function of registers is known by these.
fn is_of_registers(function: Function) -> bool {
    matches!(function, Function::Integer(..) | Function::Pure(_) | Function::Load(_) | Function::Forwarded)
}

/// Whether a branch decides about what is done with something elsewhere, and about nothing on barriers.
fn skips_writes(code: &Code, at: usize, to: usize) -> bool {
    let skipped = code.instructions.get(at + 1..to.min(code.instructions.len())).unwrap_or_default();
    let is_about = |instruction: &super::code::Instruction| instruction.action.is_about_barriers();
    skipped.len() <= NEAR
        && !skipped.iter().any(is_about)
        && skipped.iter().any(|instruction| matches!(instruction.action, Action::Uses(_)))
}
