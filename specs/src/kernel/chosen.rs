//! Bytes that are one of two numbers: `expect(object, k < full ? 1024 : 512)`.
//!
//! Such a step is written as what it means, a branch with a step on either side, so that what decides is
//! asked like any condition and what is copied can be held against it. The branch stands behind the code, and
//! leads back to where the step stood: no instruction moves.

use std::collections::BTreeSet;

use super::code::{Action, Argument, Code, Function, Guard, Instruction, ObjectKind, Operation, Register};

/// Splits the steps of which the bytes were chosen just before.
pub(super) fn split(code: &mut Code) {
    let targets: BTreeSet<usize> = code.instructions.iter().filter_map(|i| target(&i.action)).collect();
    for at in 0..code.instructions.len() {
        if let Some((guard, numbers)) = choice(code, &targets, at) {
            branch(code, at, guard, numbers);
        }
    }
}

fn target(action: &Action) -> Option<usize> {
    match action {
        Action::Jump(to) => Some(*to),
        _ => None,
    }
}

/// What decides about the bytes of a step, and the two numbers.
fn choice(code: &Code, targets: &BTreeSet<usize>, at: usize) -> Option<(Guard, [Argument; 2])> {
    let Action::Object(step) = &code.instructions[at].action else { return None };
    let counts_bytes = matches!(
        step.kind,
        ObjectKind::ArriveExpectTx { .. } | ObjectKind::ExpectTx | ObjectKind::CompleteTx | ObjectKind::Copy
    );
    let Some(Argument::Register(bytes)) = step.amount.filter(|_| counts_bytes) else { return None };
    let mut written: BTreeSet<Register> = BTreeSet::new();
    for before in (0..at).rev() {
        // Whoever jumps here has not chosen.
        if targets.contains(&(before + 1)) {
            return None;
        }
        let Instruction { guard, action, .. } = &code.instructions[before];
        match action {
            Action::Compute { to, function: Function::Integer(Operation::Select, _), arguments }
                if *to == bytes && guard.is_none() =>
            {
                let [a @ Argument::Number(_), b @ Argument::Number(_), Argument::Register(condition)] =
                    arguments[..]
                else {
                    return None;
                };
                let guard = Guard { register: condition, negated: false };
                return (!written.contains(&condition)).then_some((guard, [a, b]));
            }
            Action::Compute { to, .. } if *to == bytes => return None,
            Action::Compute { to, .. } => {
                written.insert(*to);
            }
            Action::Jump(_) | Action::Exit | Action::Abort if guard.is_none() => return None,
            _ => {}
        }
    }
    None
}

/// Puts a branch, and a step on either side, in the place of a step.
fn branch(code: &mut Code, at: usize, chosen: Guard, numbers: [Argument; 2]) {
    let first = code.instructions.len();
    let Instruction { guard, action, span } = code.instructions[at].clone();
    let jump = |guard: Option<Guard>, to: usize| Instruction { guard, action: Action::Jump(to), span };
    let step = |number: Argument| {
        let mut action = action.clone();
        if let Action::Object(step) = &mut action {
            step.amount = Some(number);
        }
        Instruction { guard: None, action, span }
    };
    let not = guard.map(|guard| Guard { negated: !guard.negated, ..guard });
    let mut all: Vec<Instruction> = not.map(|not| jump(Some(not), at + 1)).into_iter().collect();
    let taken = first + all.len() + 3;
    all.extend([jump(Some(chosen), taken), step(numbers[1]), jump(None, at + 1)]);
    all.extend([step(numbers[0]), jump(None, at + 1)]);
    let steps = [taken - 2, taken];
    code.instructions.extend(all);
    code.instructions[at] = jump(None, first);
    for of in [&mut code.once, &mut code.by_pairs] {
        if of.remove(&at) {
            of.extend(steps);
        }
    }
    if let Some(state) = code.states.remove(&at) {
        code.states.extend(steps.map(|step| (step, state)));
    }
}
