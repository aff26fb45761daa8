//! What an instruction writes.

use crate::kernel::code::{Function, Operation};
use crate::sass::opcodes::{self, Effect};
use crate::sass::operand::{File, Kind, Register};

use super::state::{BIT, Current, Lowerer};

/// A result: the first register, and how many it takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Result {
    pub(super) register: Register,
    pub(super) width: u32,
    /// Only a part of the register is written.
    pub(super) in_part: bool,
    /// The carry flag is written too.
    pub(super) carries: bool,
}

/// The results, and the position of the first operand behind them.
pub(super) struct Results {
    pub(super) all: Vec<Result>,
    pub(super) behind: usize,
}

/// Registers of a file.
const LAST: u32 = 254;

fn result(current: &Current<'_>, at: usize) -> Option<Result> {
    let operand = current.operands.get(at)?;
    let register = operand.target()?;
    let suffix = match operand.kind {
        Kind::Register(_, suffix) => suffix,
        _ => "",
    };
    let width = if register.file.is_predicate() { 1 } else { opcodes::width(current.statement.opcode) };
    let in_part = !matches!(suffix, "" | "64" | "32" | "F32" | "CC");
    Some(Result { register, width, in_part, carries: suffix == "CC" })
}

/// The results of an instruction; `None` if what it writes is not known.
pub(super) fn results(current: &Current<'_>) -> Option<Results> {
    let effect = opcodes::effect(current.statement.opcode)?;
    let is_place = |kind: &Kind<'_>| matches!(kind, Kind::Address(_));
    let mut place = current.operands.iter().position(|operand| is_place(&operand.kind));
    if effect == Effect::Loads && place.is_none() {
        place = current.operands.iter().position(|operand| matches!(operand.kind, Kind::Constant(..)));
    }
    if let Some(place) = place.filter(|_| matches!(effect, Effect::Loads | Effect::Unknown)) {
        let all: Option<Vec<Result>> = (0..place).map(|at| result(current, at)).collect();
        return Some(Results { all: all?, behind: place });
    }
    let Some(first) = result(current, 0) else {
        // Of a register that is no register of a thread nobody asks.
        let nothing =
            effect == Effect::Unknown && !matches!(current.operands.first()?.kind, Kind::Register(..));
        let is_known = current.operands.first().is_some_and(|operand| match operand.kind {
            Kind::Other(name) => name.starts_with(['B', 'R']) && name.len() < 8,
            Kind::Number(_) => true,
            _ => false,
        });
        return (nothing && is_known).then(|| Results { all: Vec::new(), behind: 0 });
    };
    let mut all = vec![first];
    if first.register.file.is_predicate() {
        // A predicate first, and the result behind it.
        let second = result(current, 1).filter(|result| !result.register.file.is_predicate());
        all.extend(second);
    } else if opcodes::carries(current.root) {
        let is_predicate = |at: &usize| current.operands.get(*at).is_some_and(|o| o.is_plain_predicate());
        all.extend((1..).take_while(is_predicate).filter_map(|at| result(current, at)));
    } else if effect == Effect::Unknown && current.root.starts_with(['T', 'S']) {
        all.extend(result(current, 1));
    }
    let behind = all.len();
    Some(Results { all, behind })
}

impl<'m> Lowerer<'m> {
    /// Every register that the instruction writes gets a value that is not followed.
    pub(super) fn opaque(&mut self, current: &Current<'m>, function: Function) {
        match results(current) {
            Some(results) => self.write(current, &results.all, function),
            None => self.beyond(current, &format!("what `{}` writes here", current.statement.opcode)),
        }
    }

    /// Writes results that are not followed.
    pub(super) fn write(&mut self, current: &Current<'m>, results: &[Result], function: Function) {
        for result in results {
            // What a uniform register holds is the same for the lanes of the warp.
            let is_uniform = matches!(result.register.file, File::Uniform | File::UniformPredicate);
            let function = if is_uniform { Function::OfWarp } else { function };
            for cell in self.cells(*result) {
                self.compute(current, cell, function, &[]);
            }
        }
        if results.is_empty() {
            self.emit(current, crate::kernel::code::Action::Nothing);
        }
    }

    /// The registers of a result.
    pub(super) fn cells(&mut self, result: Result) -> Vec<u32> {
        let carry = result.carries.then(|| self.carry());
        let first = result.register.number.into_iter();
        // Those that an assembler chooses stand behind the others.
        let numbers = first.flat_map(|first| match first > LAST {
            true => first..first + result.width,
            false => first..(first + result.width).min(LAST + 1),
        });
        let mut cells: Vec<u32> = numbers.map(|number| self.cell(result.register.file, number)).collect();
        cells.extend(carry);
        cells
    }

    /// The accumulators of a matrix instruction, or a tile that is loaded.
    pub(super) fn tile(&mut self, current: &Current<'m>) {
        let Some(register) = current.operands.first().and_then(|operand| operand.target()) else {
            return self.beyond(current, &format!("what `{}` writes here", current.statement.opcode));
        };
        let width = opcodes::tile(current.statement.opcode);
        let result = Result { register, width, in_part: false, carries: false };
        self.write(current, &[result], Function::Unknown);
    }

    /// `R2P PR, R0, 0x7f`
    pub(super) fn all_predicates(&mut self, current: &Current<'m>) {
        let (file, function) = match current.root {
            "R2P" => (File::Predicate, Function::Unknown),
            _ => (File::UniformPredicate, Function::OfWarp),
        };
        for number in 0..7 {
            let cell = self.cell(file, number);
            self.compute(current, cell, function, &[]);
        }
        let carry = self.carry();
        self.compute(current, carry, function, &[]);
    }

    /// Whether a value is not 0, as a predicate.
    pub(super) fn truth(
        &mut self,
        current: &Current<'m>,
        value: crate::kernel::code::Argument,
    ) -> crate::kernel::code::Argument {
        use crate::kernel::code::{Argument, Comparison};
        let differs = Operation::Compare(Comparison::NotEqual);
        let ty = crate::kernel::code::Type { bits: 64, signed: false };
        let _ = BIT;
        self.intermediate(current, Function::Integer(differs, ty), &[value, Argument::Number(0)])
    }
}
