//! Loops that do nothing but ask whether a phase is complete: each is one wait that blocks.
//!
//! From the question on the code is followed with the answer no. If every path comes back to the question
//! and leaves nothing behind that is read elsewhere, the answer is taken to be yes, after a wait. The same
//! where it comes to another question for the same phase, which is asked again and again until its answer
//! leads to where the first one would have led. Other questions are left to [`peeks`](super::peeks).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::arithmetic::apply;
use super::code::{Action, Argument, Code, Function, Guard, ObjectKind, ObjectStep, Operation, Register};
use super::tokens;

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
    let phase = |at: &usize| Some((*at, Phase::of(code, prepared(code, &targets, *at), *at)?));
    let phases: BTreeMap<usize, Phase> = questions.iter().filter_map(phase).collect();
    for at in questions {
        let start = prepared(code, &targets, at);
        let round = Round::of(code, &phases, start, at);
        let waits = round.is_some_and(|round| round.leaves_nothing(&readers));
        let Action::Test { address, parity, .. } = &code.instructions[at].action else { continue };
        // Where the guard does not hold in a later round, nobody asks any more and nothing ends the loop.
        if !waits || code.instructions[at].guard.is_some() {
            continue;
        }
        let (kind, amount) = (ObjectKind::Wait, Some(*parity).filter(|_| !code.states.contains_key(&at)));
        let step = ObjectStep { kind, address: *address, amount, mask: None, to: None };
        code.instructions[at].action = Action::Object(step);
        if let Action::Compute { function, arguments, .. } = &mut code.instructions[at + 1].action {
            let bit = super::code::Type { bits: 1, signed: false };
            *function = Function::Integer(Operation::Convert(bit), bit);
            *arguments = vec![Argument::Number(1)];
        }
    }
    tokens::resolve(code);
    super::answers::refuse(code);
}

/// The first of the instructions that are executed whenever the question is asked, right before it.
fn prepared(code: &Code, targets: &BTreeSet<usize>, question: usize) -> usize {
    let mut start = question;
    while start > 0 && !targets.contains(&start) {
        let before = &code.instructions[start - 1];
        if before.guard.is_some() || !before.action.is_idle() {
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
            Action::Object(step) => step.operands().for_each(add),
            Action::Test { address, parity, .. } => [*address, *parity].into_iter().for_each(add),
            Action::Access(access) => access.operands().for_each(add),
            Action::Store { .. } | Action::Jump(_) | Action::Exit | Action::Abort => {}
            Action::Uses(_) | Action::Beyond(_) | Action::Together(_) | Action::Nothing => {}
        }
    }
    readers
}

/// What a question asks for: the object and the phase, as computed from registers right before it.
#[derive(Clone, Debug, PartialEq)]
struct Phase {
    said: [Said; 2],
    is_by_state: bool,
    /// What the registers hold that are written right before the question.
    known: HashMap<Register, Said>,
}

/// A value, by how it is computed.
#[derive(Clone, Debug, PartialEq)]
enum Said {
    Argument(Argument),
    Of(Function, Vec<Self>),
}

/// Values that it takes to compute another one, at most.
const MOST: usize = 32;

impl Phase {
    /// Of the question at a place, which is asked whenever control comes to another before it.
    fn of(code: &Code, start: usize, question: usize) -> Option<Self> {
        let mut known: HashMap<Register, Said> = HashMap::new();
        for instruction in &code.instructions[start..question] {
            let Action::Compute { to, function, arguments } = &instruction.action else { continue };
            let arguments = arguments.iter().map(|argument| value(&known, *argument)).collect();
            let said = Said::of(*function, arguments);
            let is_followed = matches!(function, Function::Integer(..)) && said.size() <= MOST;
            known.insert(*to, if is_followed { said } else { Said::Argument(Argument::Register(*to)) });
        }
        let Action::Test { address, parity, .. } = code.instructions[question].action else { return None };
        let said = [address, parity].map(|argument| value(&known, argument));
        Some(Self { said, is_by_state: code.states.contains_key(&question), known })
    }

    /// Whether another question, to which it comes with so many registers written, is for the same phase.
    fn is(&self, other: &Self, written: &BTreeSet<Register>) -> bool {
        let same = |(own, said): (&Said, &Said)| said.from(&self.known, written).as_ref() == Some(own);
        self.is_by_state == other.is_by_state && self.said.iter().zip(&other.said).all(same)
    }
}

fn value(known: &HashMap<Register, Said>, argument: Argument) -> Said {
    let computed = match argument {
        Argument::Register(register) => known.get(&register).cloned(),
        _ => None,
    };
    computed.unwrap_or(Said::Argument(argument))
}

impl Said {
    /// What a function makes of values. Copies, and sums with nothing, are what they are copies of.
    fn of(function: Function, mut arguments: Vec<Self>) -> Self {
        const NOTHING: Said = Said::Argument(Argument::Number(0));
        match (function, arguments.as_slice()) {
            (Function::Integer(Operation::Convert(from), to), [_]) if from == to => arguments.remove(0),
            (Function::Integer(Operation::Add, _), [_, NOTHING]) => arguments.remove(0),
            (Function::Integer(Operation::Add, _), [NOTHING, _]) => arguments.remove(1),
            _ => Self::Of(function, arguments),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Argument(_) => 1,
            Self::Of(_, arguments) => 1 + arguments.iter().map(Self::size).sum::<usize>(),
        }
    }

    /// The same, from what was known before; `None` where a register has been written since.
    fn from(&self, known: &HashMap<Register, Self>, written: &BTreeSet<Register>) -> Option<Self> {
        match self {
            Self::Argument(Argument::Register(register)) if written.contains(register) => None,
            Self::Argument(argument) => Some(value(known, *argument)),
            Self::Of(function, arguments) => {
                let arguments = arguments.iter().map(|argument| argument.from(known, written));
                Some(Self::of(*function, arguments.collect::<Option<_>>()?))
            }
        }
    }
}

/// Where a path is, and what it knows.
#[derive(Clone)]
struct Path {
    at: usize,
    /// Another question for the same phase was answered with yes.
    is_told: bool,
    known: HashMap<Register, u64>,
    /// The answer has decided something.
    decided: bool,
    written: BTreeSet<Register>,
}

/// What happens between an answer no and the next question.
struct Round<'p> {
    phases: &'p BTreeMap<usize, Phase>,
    /// Where what the question needs is computed anew, and the question.
    start: usize,
    question: usize,
    visited: BTreeSet<usize>,
    /// Registers that are written after the answer has decided something, or under a guard that it decides.
    only_if_not: BTreeSet<Register>,
    written: BTreeSet<Register>,
    /// Registers that are read before they are written.
    carried: BTreeSet<Register>,
    /// Other questions for the same phase.
    others: BTreeSet<usize>,
    /// Where the answer yes leads, instruction by instruction.
    if_yes: Vec<usize>,
}

impl<'p> Round<'p> {
    fn beginning(phases: &'p BTreeMap<usize, Phase>, start: usize, question: usize) -> Self {
        Self {
            start,
            question,
            phases,
            visited: BTreeSet::new(),
            only_if_not: BTreeSet::new(),
            written: BTreeSet::new(),
            carried: BTreeSet::new(),
            others: BTreeSet::new(),
            if_yes: Vec::new(),
        }
    }

    /// Follows all paths; `None` if one of them does not come back or does more than to compute.
    fn of(code: &Code, phases: &'p BTreeMap<usize, Phase>, start: usize, question: usize) -> Option<Self> {
        let Action::Compute { to, .. } = code.instructions.get(question + 1)?.action else { return None };
        let mut round = Self::beginning(phases, start, question);
        round.if_yes = round.if_yes(code, to);
        let known = HashMap::from([(to, 0)]);
        let written = BTreeSet::from([to]);
        let mut work = vec![Path { at: question + 2, is_told: false, known, decided: false, written }];
        let mut steps = 0;
        while let Some(mut path) = work.pop() {
            while path.at != question {
                if path.is_told && round.comes_together(code, path.at) {
                    break;
                }
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
            Action::Nothing | Action::Uses(_) => {}
            Action::Access(access) if !access.touch.writes() => {
                if let Some(Argument::Register(register)) = access.address {
                    self.reads(register, path);
                }
            }
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
            Action::Test { .. } if self.is_the_same(code, path) => return self.asks_again(code, path, work),
            Action::Synchronise(_)
            | Action::Object(_)
            | Action::Test { .. }
            | Action::Store { .. }
            | Action::Access(_)
            | Action::Exit
            | Action::Beyond(_)
            | Action::Together(_) => return None,
        }
        path.at += 1;
        Some(true)
    }

    /// Whether the answer yes of the first question leads to a place; what it computes on the way matters as
    /// well.
    fn comes_together(&mut self, code: &Code, place: usize) -> bool {
        let Some(passed_by) = self.if_yes.iter().position(|at| *at == place) else { return false };
        for at in self.if_yes[..passed_by].iter().copied() {
            self.visited.insert(at);
            if let Action::Compute { to, .. } = code.instructions[at].action {
                self.written.insert(to);
            }
        }
        true
    }

    /// Whether a path has come to another question for the phase that the first one asks for.
    fn is_the_same(&self, code: &Code, path: &Path) -> bool {
        let [Some(here), Some(first)] = [path.at, self.question].map(|at| self.phases.get(&at)) else {
            return false;
        };
        first.is(here, &path.written) && code.instructions[path.at].guard.is_none() && !path.is_told
    }

    /// The question is asked until the answer is yes; whether the path goes on.
    fn asks_again(&mut self, code: &Code, path: &mut Path, work: &mut Vec<Path>) -> Option<bool> {
        if !self.others.insert(path.at) {
            return Some(false);
        }
        let Action::Compute { to, .. } = code.instructions.get(path.at + 1)?.action else { return None };
        path.decided = true;
        path.written.insert(to);
        // What the first answer was must not matter either: it is taken to be yes.
        let first = code.instructions.get(self.question + 1).map(|instruction| &instruction.action);
        let Some(Action::Compute { to: first, .. }) = first else { return None };
        self.written.extend([to, *first]);
        self.visited.insert(path.at + 1);
        path.at += 2;
        // What holds here when it is asked first need not hold later.
        path.known.clear();
        let mut told = Path { is_told: true, ..path.clone() };
        told.known.insert(to, 1);
        path.known.insert(to, 0);
        work.push(told);
        Some(true)
    }

    /// The instructions that follow the question, if the answer is yes, as far as they do nothing but compute
    /// and it is known where they lead.
    fn if_yes(&self, code: &Code, answer: Register) -> Vec<usize> {
        let mut round = Self::beginning(self.phases, self.start, self.question);
        let mut path = Path {
            at: self.question + 2,
            is_told: true,
            known: HashMap::from([(answer, 1)]),
            decided: false,
            written: BTreeSet::new(),
        };
        let (mut found, mut work) = (Vec::new(), Vec::new());
        while found.len() < STEPS && path.at != self.question && !found.contains(&path.at) {
            found.push(path.at);
            if round.step(code, &mut path, &mut work) != Some(true) || !work.is_empty() {
                break;
            }
        }
        found
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
        let is_within = |register: &Register| readers.get(register).into_iter().flatten().all(is_inside);
        if !self.others.is_empty() {
            // What the two ways to the same place compute is compared nowhere.
            return self.written.iter().all(is_within);
        }
        let carried = self.carried.intersection(&self.written);
        carried.chain(&self.only_if_not).all(is_within)
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
