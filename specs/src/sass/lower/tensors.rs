//! Which tensor map a copy reads: its address, as a place in constant memory and bytes behind it.
//!
//! Compilers compute the address right before the copy, in general registers, uniform ones, or both, under
//! the guard of the copy or what that was voted from. These steps are followed by the text of the listing;
//! what they start from is looked up in the code, where registers that are used for several things are told
//! apart.

use std::collections::HashMap;

use crate::kernel::code::{Action, Argument, Code, Function, Operation, Register};
use crate::sass::opcodes::{self, Effect};
use crate::sass::operand::{self, File, Kind, Operand};
use crate::sass::syntax::Statement;

use super::arithmetic::copy;
use super::results::results;
use super::state::{Current, Lowerer, Start, WORD};

/// Steps from one register to another that are followed.
const STEPS: usize = 16;

impl<'m> Lowerer<'m> {
    /// Notes from what the address of a copy's tensor map is computed.
    pub(super) fn reads_map(&mut self, current: &Current<'m>) {
        let Some(Kind::Address(text)) = current.operands.get(1).map(|operand| &operand.kind) else { return };
        let Some(register) = operand::register(text) else { return };
        let Some((register, offset)) = self.start(current, register) else { return };
        let value = self.register(current, register, 0);
        if let Argument::Register(start) = self.intermediate(current, copy(WORD), &[value]) {
            self.maps.push((current.span(), start, offset));
        }
    }

    /// The register that a sum of it and numbers starts from, as it is where the copy stands.
    fn start(&self, current: &Current<'m>, register: operand::Register) -> Option<(operand::Register, i64)> {
        let (mut register, mut offset, mut at) = (register, 0_i64, current.at);
        for _ in 0..STEPS {
            let Some(writer) = self.writer(at, register)? else {
                // Nothing on the way here has written it since.
                let is_same = at == current.at || self.writer(current.at, register) == Some(None);
                return is_same.then_some((register, offset));
            };
            let statement = &self.function().statements[writer];
            if !self.goes_along(current, writer, statement.guard) {
                return None;
            }
            let Some((from, more)) = moved(statement) else {
                // It starts here, and nothing writes it before the copy.
                let is_last = self.writer(current.at, register) == Some(Some(writer));
                return is_last.then_some((register, offset));
            };
            (register, at) = (from, writer);
            offset = offset.wrapping_add(more);
        }
        None
    }

    /// The nearest statement before one that writes a register, as far as control comes from there alone.
    fn writer(&self, at: usize, register: operand::Register) -> Option<Option<usize>> {
        let number = register.number?;
        for (distance, statement) in self.before(at).enumerate() {
            let effect = opcodes::effect(statement.opcode);
            let is_quiet = matches!(
                effect,
                Some(Effect::Reads | Effect::Stores | Effect::Barrier | Effect::Synchronises)
            );
            if is_quiet || statement.opcode.starts_with("WARPSYNC") {
                // What some of them return stands first.
                let first = statement.operands.first().and_then(|text| Operand::of(text).target());
                if first == Some(register) {
                    return Some(Some(at - 1 - distance));
                }
                continue;
            }
            if effect == Some(Effect::Flow) {
                return Some(None);
            }
            let here = self.current(at - 1 - distance, statement);
            let is_it = |result: &super::results::Result| {
                let first = result.register.number.filter(|_| result.register.file == register.file);
                first.is_some_and(|first| (first..first + result.width).contains(&number))
            };
            let first = |operand: &Operand<'_>| operand.target() == Some(register);
            match results(&here) {
                Some(results) if results.all.iter().any(is_it) => return Some(Some(at - 1 - distance)),
                None if here.operands.iter().take(3).any(first) => return Some(Some(at - 1 - distance)),
                _ => {}
            }
        }
        Some(None)
    }

    /// Whether what is done under a guard is done where a later copy is: there is none, it is that of the
    /// copy, or what the guard of the copy was voted from.
    fn goes_along(&self, current: &Current<'m>, at: usize, guard: Option<&str>) -> bool {
        let Some(guard) = guard else { return true };
        let Some(of_copy) = current.statement.guard else { return false };
        let writes =
            |statement: &Statement<'_>, name: &str| statement.operands.iter().take(2).any(|to| *to == name);
        let between = &self.function().statements[at..current.at];
        if guard == of_copy {
            return !between.iter().any(|statement| writes(statement, guard.trim_start_matches('!')));
        }
        // `VOTEU.ANY UP0, P1`, somewhere near.
        let vote = self.before(current.at).enumerate().find(|(_, statement)| writes(statement, of_copy));
        let Some((distance, vote)) = vote else { return false };
        let voted = current.at - 1 - distance;
        let between = &self.function().statements[at.min(voted)..at.max(voted)];
        vote.opcode == "VOTEU.ANY"
            && vote.operands.as_slice() == [of_copy, guard]
            && !between.iter().skip(usize::from(at < voted)).any(|statement| writes(statement, guard))
    }
}

/// What a register was moved from, and the number that was added.
fn moved(statement: &Statement<'_>) -> Option<(operand::Register, i64)> {
    let root = statement.opcode.split('.').next().unwrap_or_default();
    let operands: Vec<Operand<'_>> = statement.operands.iter().map(|text| Operand::of(text)).collect();
    let is_wide = statement.opcode.contains(".X") || statement.opcode.contains(".64");
    let sources: Vec<&Operand<'_>> = operands.iter().skip(1).filter(|o| !o.is_plain_predicate()).collect();
    let sums = ["IADD3", "UIADD3", "VIADD", "UVIADD", "MOV", "UMOV", "R2UR"].contains(&root);
    let moves = ["IMAD.MOV.U32", "IMAD.U32", "IMAD.MOV"].contains(&statement.opcode);
    if is_wide || !(sums || moves) {
        return None;
    }
    let sources = if moves { sources.get(2..)? } else { sources.as_slice() };
    let (mut from, mut more) = (None, 0_i64);
    for source in sources {
        match (source.plain(), &source.kind) {
            (Some(register), _) if register.file.is_predicate() => return None,
            (Some(register), _) if register.number.is_none() => {}
            (Some(register), _) if from.is_none() => from = Some(register),
            (None, Kind::Number(number)) => more = more.wrapping_add(i64::try_from(*number).ok()?),
            _ => return None,
        }
    }
    from.filter(|register| matches!(register.file, File::General | File::Uniform)).map(|from| (from, more))
}

/// Gives copies their maps: those whose addresses start from one place in constant memory.
pub(super) fn name_maps(code: &mut Code, starts: &[Start]) {
    let mut writes: HashMap<Register, Vec<usize>> = HashMap::new();
    for (at, instruction) in code.instructions.iter().enumerate() {
        if let Action::Compute { to, .. } = instruction.action {
            writes.entry(to).or_default().push(at);
        }
    }
    let mut known: HashMap<(u32, i64), u32> = HashMap::new();
    for (span, start, offset) in starts {
        let Some((name, more)) = origin(code, &writes, *start) else { continue };
        let place = (name, more.wrapping_add(*offset) & i64::from(u32::MAX));
        let map = *known.entry(place).or_insert_with(|| {
            code.names.push(format!("map at {} + {}", code.names[place.0 as usize], place.1));
            code.names.len() as u32 - 1
        });
        code.maps.insert(*span, map);
    }
}

/// The name that a register is a sum of, and the number that is added to it.
fn origin(code: &Code, writes: &HashMap<Register, Vec<usize>>, start: Register) -> Option<(u32, i64)> {
    let (mut register, mut offset) = (start, 0_i64);
    for _ in 0..STEPS {
        let [one] = writes.get(&register)?.as_slice() else { return None };
        let instruction = &code.instructions[*one];
        let Action::Compute { function: Function::Integer(operation, _), arguments, .. } =
            &instruction.action
        else {
            return None;
        };
        if instruction.guard.is_some() {
            return None;
        }
        let (from, more) = match (operation, arguments.as_slice()) {
            (Operation::Convert(_), [from]) => (*from, 0),
            (Operation::Add, [from, Argument::Number(more)] | [Argument::Number(more), from]) => {
                (*from, *more)
            }
            _ => return None,
        };
        offset = offset.wrapping_add(more as i64);
        match from {
            Argument::Same(name) => return Some((name, offset)),
            Argument::Register(from) => register = from,
            _ => return None,
        }
    }
    None
}
