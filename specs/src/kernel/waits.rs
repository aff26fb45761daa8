//! Loops that do nothing but ask whether a phase is complete: each is one wait that blocks.
//!
//! From the question on the code is followed with the answer no. If every path comes back to the question and
//! leaves nothing behind that is read elsewhere, the answer is taken to be yes, after a wait. Other questions
//! are left to [`peeks`](super::peeks).

use std::collections::{BTreeSet, HashMap};

use super::arithmetic::apply;
use super::code::{Action, Argument, Code, Function, Guard, ObjectKind, ObjectStep, Operation, Register};

/// Steps that are followed from one question.
const STEPS: usize = 2_000;

/// Resolves the questions of the code that are waits: these become steps.
pub(super) fn resolve(code: &mut Code) {
    let questions: Vec<usize> = (0..code.instructions.len())
        .filter(|at| matches!(code.instructions[*at].action, Action::Test { .. }))
        .collect();
    if questions.is_empty() {
        return;
    }
    let readers = readers_of(code);
    let jumps = code.instructions.iter().filter_map(|instruction| match instruction.action {
        Action::Jump(to) => Some(to),
        _ => None,
    });
    let targets: BTreeSet<usize> = jumps.collect();
    for at in questions {
        let start = prepared(code, &targets, at);
        let waits = Round::of(code, start, at).is_some_and(|round| round.leaves_nothing(&readers));
        let Action::Test { address, parity, .. } = &code.instructions[at].action else { continue };
        // Where the guard does not hold in a later round, nobody asks any more and nothing ends the loop.
        if !waits || code.instructions[at].guard.is_some() {
            continue;
        }
        let (kind, amount) = (ObjectKind::Wait, Some(*parity));
        let step = ObjectStep { kind, address: *address, amount, mask: None };
        code.instructions[at].action = Action::Object(step);
        if let Action::Compute { function, arguments, .. } = &mut code.instructions[at + 1].action {
            let bit = super::code::Type { bits: 1, signed: false };
            *function = Function::Integer(Operation::Convert(bit), bit);
            *arguments = vec![Argument::Number(1)];
        }
    }
}

/// The first of the instructions that are executed whenever the question is asked, right before it.
fn prepared(code: &Code, targets: &BTreeSet<usize>, question: usize) -> usize {
    let mut start = question;
    while start > 0 && !targets.contains(&start) {
        let before = &code.instructions[start - 1];
        if before.guard.is_some() || !matches!(before.action, Action::Compute { .. } | Action::Nothing) {
            break;
        }
        start -= 1;
    }
    start
}

/// The instructions that read each register.
fn readers_of(code: &Code) -> HashMap<Register, Vec<usize>> {
    let mut readers: HashMap<Register, Vec<usize>> = HashMap::new();
    for (at, instruction) in code.instructions.iter().enumerate() {
        let mut add = |argument: Argument| {
            if let Argument::Register(register) = argument {
                readers.entry(register).or_default().push(at);
            }
        };
        if let Some(guard) = instruction.guard {
            add(Argument::Register(guard.register));
        }
        match &instruction.action {
            Action::Compute { arguments, .. } => arguments.iter().copied().for_each(add),
            Action::Synchronise(barrier) => barrier.operands.iter().for_each(|(operand, _)| add(*operand)),
            Action::Object(step) => {
                std::iter::once(step.address).chain(step.amount).chain(step.mask).for_each(add);
            }
            Action::Test { address, parity, .. } => [*address, *parity].into_iter().for_each(add),
            Action::Store { .. } | Action::Jump(_) | Action::Exit | Action::Abort => {}
            Action::Beyond(_) | Action::Nothing => {}
        }
    }
    readers
}

/// Where a path is, and what it knows.
#[derive(Clone)]
struct Path {
    at: usize,
    known: HashMap<Register, u64>,
    /// The answer has decided something.
    decided: bool,
    written: BTreeSet<Register>,
}

/// What happens between an answer no and the next question.
#[derive(Default)]
struct Round {
    /// Where what the question needs is computed anew, and the question.
    start: usize,
    question: usize,
    visited: BTreeSet<usize>,
    /// Registers that are written after the answer has decided something, or under a guard that it decides.
    only_if_not: BTreeSet<Register>,
    written: BTreeSet<Register>,
    /// Registers that are read before they are written.
    carried: BTreeSet<Register>,
}

impl Round {
    /// Follows all paths; `None` if one of them does not come back or does more than to compute.
    fn of(code: &Code, start: usize, question: usize) -> Option<Self> {
        let Action::Compute { to, .. } = code.instructions.get(question + 1)?.action else { return None };
        let mut round = Self { start, question, ..Self::default() };
        let known = HashMap::from([(to, 0)]);
        let mut work = vec![Path { at: question + 2, known, decided: false, written: BTreeSet::from([to]) }];
        let mut steps = 0;
        while let Some(mut path) = work.pop() {
            while path.at != question {
                steps += 1;
                if steps > STEPS {
                    return None;
                }
                round.visited.insert(path.at);
                if !round.step(code, &mut path, &mut work)? {
                    break;
                }
            }
        }
        Some(round)
    }

    /// One instruction of a path; whether the path goes on.
    fn step(&mut self, code: &Code, path: &mut Path, work: &mut Vec<Path>) -> Option<bool> {
        let instruction = code.instructions.get(path.at)?;
        let holds = match instruction.guard {
            None => Some(true),
            Some(Guard { register, negated }) => {
                self.reads(register, path);
                path.known.get(&register).map(|value| (*value != 0) != negated)
            }
        };
        match &instruction.action {
            Action::Nothing => {}
            Action::Compute { to, function, arguments } => {
                for argument in arguments {
                    if let Argument::Register(register) = argument {
                        self.reads(*register, path);
                    }
                }
                if holds != Some(false) {
                    self.compute(path, *to, (*function, arguments), holds, instruction.guard.is_some());
                }
            }
            Action::Jump(to) => match holds {
                Some(jumps) => {
                    path.decided |= instruction.guard.is_some();
                    path.at = if jumps { *to } else { path.at + 1 };
                    return Some(true);
                }
                None => {
                    path.decided = true;
                    let mut other = path.clone();
                    other.at = *to;
                    work.push(other);
                }
            },
            // The grid ends with an error: nobody waits any more.
            Action::Abort if holds == Some(true) => return Some(false),
            Action::Abort => {}
            Action::Exit if holds == Some(false) => path.decided = true,
            Action::Synchronise(_)
            | Action::Object(_)
            | Action::Test { .. }
            | Action::Store { .. }
            | Action::Exit
            | Action::Beyond(_) => return None,
        }
        path.at += 1;
        Some(true)
    }

    fn reads(&mut self, register: Register, path: &Path) {
        if !path.written.contains(&register) {
            self.carried.insert(register);
        }
    }

    fn compute(
        &mut self,
        path: &mut Path,
        to: Register,
        (function, arguments): (Function, &[Argument]),
        holds: Option<bool>,
        is_guarded: bool,
    ) {
        let is_prepared = (self.start..self.question).contains(&path.at);
        if (path.decided || is_guarded) && !is_prepared {
            self.only_if_not.insert(to);
        }
        self.written.insert(to);
        path.written.insert(to);
        let of = |argument: &Argument| match argument {
            Argument::Register(register) => path.known.get(register).copied(),
            Argument::Number(number) => Some(*number),
            Argument::Index(_) | Argument::Same(_) => None,
        };
        let result = match function {
            Function::Integer(Operation::Select, ty) => select(ty, arguments, of),
            Function::Integer(operation, ty) => {
                let numbers: Option<Vec<u64>> = arguments.iter().map(of).collect();
                numbers.and_then(|numbers| apply(operation, ty, &numbers))
            }
            _ => None,
        };
        match result.filter(|_| holds == Some(true)) {
            Some(result) => path.known.insert(to, result),
            None => path.known.remove(&to),
        };
    }

    /// Whether what it computes does not matter elsewhere, and its end does not depend on how often it was
    /// gone through.
    fn leaves_nothing(&self, readers: &HashMap<Register, Vec<usize>>) -> bool {
        let is_inside = |at: &usize| {
            let is_prepared = (self.start..=self.question).contains(at);
            (self.visited.contains(at) || *at == self.question + 1) && !is_prepared
        };
        let carried = self.carried.intersection(&self.written);
        carried
            .chain(&self.only_if_not)
            .all(|register| readers.get(register).into_iter().flatten().all(is_inside))
    }
}

/// One of two numbers, of which only that one need be known.
fn select(
    ty: super::code::Type,
    arguments: &[Argument],
    of: impl Fn(&Argument) -> Option<u64>,
) -> Option<u64> {
    let [a, b, condition] = arguments else { return None };
    let number = of(if of(condition)? != 0 { a } else { b })?;
    Some(super::arithmetic::cut(number, ty.bits))
}
