//! Registers that begin with a known number by way of another: `mov r10, r12` where r12 holds 0.
//!
//! Compilers let one register with a 0 stand for all that begin with it. What is done with that register
//! elsewhere says nothing of the others then, and need not be followed for them.

use std::collections::{BTreeSet, HashMap};

use super::code::{Action, Argument, Code, Function, Operation, Register};

/// Puts known numbers in the place of registers that are copied, as far as they were set just before.
pub(super) fn forward(code: &mut Code) {
    let target = |action: &Action| match action {
        Action::Jump(to) => Some(*to),
        _ => None,
    };
    let targets: BTreeSet<usize> = code.instructions.iter().filter_map(|one| target(&one.action)).collect();
    let mut known: HashMap<Register, u64> = HashMap::new();
    for (at, instruction) in code.instructions.iter_mut().enumerate() {
        if targets.contains(&at) {
            known.clear();
        }
        let Action::Compute { to, function, arguments } = &mut instruction.action else { continue };
        let copied = match (&*function, arguments.as_mut_slice()) {
            (Function::Integer(Operation::Convert(from), ty), [of]) if from == ty => {
                if let Argument::Register(register) = *of
                    && let Some(number) = known.get(&register)
                {
                    *of = Argument::Number(*number);
                }
                match *of {
                    Argument::Number(number) => Some(number).filter(|number| *number < 1 << 31),
                    _ => None,
                }
            }
            _ => None,
        };
        match copied.filter(|_| instruction.guard.is_none()) {
            Some(number) => known.insert(*to, number),
            None => known.remove(to),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::common::span::Span;
    use crate::kernel::code::{Instruction, Type};

    const WORD: Type = Type { bits: 32, signed: false };

    fn copy(to: Register, of: Argument) -> Instruction {
        let function = Function::Integer(Operation::Convert(WORD), WORD);
        let action = Action::Compute { to, function, arguments: vec![of] };
        Instruction { guard: None, action, span: Span::default() }
    }

    fn copied(code: &Code, at: usize) -> Argument {
        match &code.instructions[at].action {
            Action::Compute { arguments, .. } => arguments[0],
            _ => Argument::Number(u64::MAX),
        }
    }

    #[test]
    fn a_copy_of_what_was_set_before_is_that_number_unless_control_comes_from_elsewhere() {
        let jump = Instruction { guard: None, action: Action::Jump(3), span: Span::default() };
        let from = Argument::Register(1);
        let instructions =
            vec![copy(1, Argument::Number(0)), copy(2, from), copy(1, from), copy(3, from), jump];
        let mut code = Code { instructions, ..Code::default() };
        forward(&mut code);
        assert_eq!([1, 2, 3].map(|at| copied(&code, at)), [Argument::Number(0), Argument::Number(0), from]);
    }
}
