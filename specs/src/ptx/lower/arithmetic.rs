//! Instructions whose results follow from their operands alone.

use crate::kernel::code::{Argument, Comparison, Function, Operation, Register, Type};
use crate::ptx::syntax::Operand;

use super::functions::{BIT, WORD, copy};
use super::state::{Current, Lowerer};
use super::types;

/// Operations that have an instruction of their own, with as many arguments as they take.
fn simple(root: &str) -> Option<(Operation, usize)> {
    Some(match root {
        "add" => (Operation::Add, 2),
        "sub" => (Operation::Subtract, 2),
        "div" => (Operation::Divide, 2),
        "rem" => (Operation::Remainder, 2),
        "min" => (Operation::Minimum, 2),
        "max" => (Operation::Maximum, 2),
        "and" => (Operation::And, 2),
        "or" => (Operation::Or, 2),
        "xor" => (Operation::Xor, 2),
        "not" => (Operation::Not, 1),
        "neg" => (Operation::Negate, 1),
        "abs" => (Operation::Absolute, 1),
        "shl" => (Operation::ShiftLeft, 2),
        "shr" => (Operation::ShiftRight, 2),
        "selp" => (Operation::Select, 3),
        "bfe" => (Operation::ExtractBits, 3),
        "popc" => (Operation::CountOnes, 1),
        "clz" => (Operation::LeadingZeros, 1),
        _ => return None,
    })
}

/// The bit of an address in shared memory that is the lowest of the rank of its CTA.
const OF_PAIR: u32 = 1 << 24;

impl<'m> Lowerer<'m> {
    pub(super) fn arithmetic(&mut self, current: &Current<'m>) {
        if self.elsewhere(current).is_some() || self.answer(current).is_some() {
            return;
        }
        if self.integer(current).is_none() && self.bitwise(current).is_none() {
            self.pure(current);
        }
    }

    /// An instruction on integers that is followed; `None` for others.
    fn integer(&mut self, current: &Current<'m>) -> Option<()> {
        let root = *current.parts.first()?;
        let ty = current.ty()?;
        if current.is_real() && !matches!(root, "mov" | "selp") || current.has("sat") || current.has("cc") {
            return None;
        }
        if !current.parts.iter().skip(1).all(|part| is_followed(part)) {
            return None;
        }
        // An address with the bit cleared that tells the CTAs of a pair apart.
        let is_of_pair = |operand: &Operand| {
            let mask = match operand {
                Operand::Number(number) => *number as u32,
                _ => return false,
            };
            mask & OF_PAIR == 0 && mask | OF_PAIR | 7 == u32::MAX
        };
        if root == "and" && current.operands().iter().any(is_of_pair) {
            self.is_about_clusters(current);
        }
        match root {
            // Addresses of every kind are counted from the same symbols and parameters.
            "mov" | "cvta" => self.copy_value(current, ty),
            "selp" if self.choice(current, ty).is_some() => Some(()),
            "setp" | "set" => self.comparison(current, root == "setp"),
            "cvt" => {
                let from = types::integer(current.parts.iter().rev().find(is_type)?)?;
                let to = types::integer(current.parts.iter().find(is_type)?)?;
                self.conversion(current, from, to)
            }
            "mul" | "mul24" => self.product(current, ty),
            "mad" | "mad24" => self.sum_of_product(current, ty),
            "slct" => self.by_sign(current),
            "cnot" => {
                let bits = Function::Integer(Operation::Compare(Comparison::Equal), ty);
                let to = self.destination(current)?;
                let argument = self.argument(current, current.operands().get(1)?);
                self.compute(current, to, bits, &[argument, Argument::Number(0)]);
                Some(())
            }
            _ if ty.bits == 1 && root == "not" => self.simple(current, (Operation::LogicalNot, 1), ty),
            _ => self.simple(current, simple(root)?, ty),
        }
    }

    /// The register that is the first operand.
    pub(super) fn destination(&mut self, current: &Current<'m>) -> Option<Register> {
        match current.operands().first()? {
            Operand::Register(register, false) => Some(self.register(*register)),
            _ => None,
        }
    }

    /// `cvt`: into a register that is wider than the type, the sign goes on if the type has one (PTX ISA,
    /// 9.5.1, Operand Size Exceeding Instruction-Type Size).
    fn conversion(&mut self, current: &Current<'m>, from: Type, to: Type) -> Option<()> {
        let register = self.destination(current)?;
        let bits = self.code.bits.get(register as usize).copied().filter(|bits| *bits <= 64)?;
        if !to.signed || bits <= to.bits {
            return self.simple(current, (Operation::Convert(from), 1), to);
        }
        let argument = self.argument(current, current.operands().get(1)?);
        let narrow = self.intermediate(current, Function::Integer(Operation::Convert(from), to), &[argument]);
        let widened = Function::Integer(Operation::Convert(to), Type { bits, signed: true });
        self.compute(current, register, widened, &[narrow]);
        Some(())
    }

    fn simple(
        &mut self,
        current: &Current<'m>,
        (operation, count): (Operation, usize),
        ty: Type,
    ) -> Option<()> {
        let to = self.destination(current)?;
        let operands = current.operands().get(1..=count)?;
        let mut arguments = Vec::new();
        for operand in operands {
            arguments.push(self.argument(current, operand));
        }
        self.compute(current, to, Function::Integer(operation, ty), &arguments);
        Some(())
    }

    /// `mov`, with vectors on one side.
    fn copy_value(&mut self, current: &Current<'m>, ty: Type) -> Option<()> {
        let [to, from] = current.operands() else { return None };
        match (to, from) {
            (Operand::Group(parts), from) if !matches!(from, Operand::Group(_)) => {
                if let Some(halves) = self.halves(from).filter(|_| ty.bits == 64 && parts.len() == 2) {
                    for (half, to) in halves.into_iter().zip(parts) {
                        let Operand::Register(register, _) = to else { continue };
                        let to = self.register(*register);
                        self.compute(current, to, copy(WORD), &[half]);
                    }
                    return Some(());
                }
                let whole = self.argument(current, from);
                let bits = ty.bits / u8::try_from(parts.len()).ok()?.max(1);
                let part = Type { bits, signed: false };
                for (index, to) in (0_u64..).zip(parts) {
                    let Operand::Register(register, _) = to else { continue };
                    let to = self.register(*register);
                    let by = Argument::Number(index * u64::from(bits));
                    let shift = Function::Integer(Operation::ShiftRight, Type { signed: false, ..ty });
                    let shifted = self.intermediate(current, shift, &[whole, by]);
                    self.compute(current, to, copy(part), &[shifted]);
                }
                Some(())
            }
            (Operand::Register(register, _), Operand::Group(parts)) => {
                let to = self.register(*register);
                let bits = ty.bits / u8::try_from(parts.len()).ok()?.max(1);
                let mut whole = Argument::Number(0);
                let mut pieces = Vec::new();
                for (index, part) in (0_u64..).zip(parts) {
                    let part = self.argument(current, part);
                    pieces.push(part);
                    let cut = self.intermediate(current, copy(Type { bits, signed: false }), &[part]);
                    let by = Argument::Number(index * u64::from(bits));
                    let shift = Function::Integer(Operation::ShiftLeft, ty);
                    let shifted = self.intermediate(current, shift, &[cut, by]);
                    whole =
                        self.intermediate(current, Function::Integer(Operation::Or, ty), &[whole, shifted]);
                }
                self.compute(current, to, copy(ty), &[whole]);
                if let (64, &[low, high]) = (ty.bits, pieces.as_slice()) {
                    self.set_halves(current, to, [low, high]);
                }
                Some(())
            }
            (Operand::Register(register, _), from) if ty.bits == 64 => {
                let halves = self.halves(from);
                let to = self.register(*register);
                self.simple(current, (Operation::Convert(ty), 1), ty)?;
                if let Some(halves) = halves {
                    self.set_halves(current, to, halves);
                }
                Some(())
            }
            _ => self.simple(current, (Operation::Convert(ty), 1), ty),
        }
    }

    /// `setp.lt.and.s32 p|q, a, b, c` or `set.lt.u32.s32 d, a, b`.
    fn comparison(&mut self, current: &Current<'m>, is_predicate: bool) -> Option<()> {
        let from = types::integer(current.parts.iter().rev().find(is_type)?)?;
        let compare = types::comparison(current.parts.get(1)?)?;
        let operands = current.operands();
        let (one, other) = match operands.first()? {
            Operand::Register(register, false) => (Some(*register), None),
            Operand::Pair(one, other) => (*one, *other),
            _ => return None,
        };
        let (a, b) = (self.argument(current, operands.get(1)?), self.argument(current, operands.get(2)?));
        let third = operands.get(3).map(|third| self.argument(current, third));
        let combine = match *current.parts.get(2)? {
            "and" => Some(Operation::And),
            "or" => Some(Operation::Or),
            "xor" => Some(Operation::Xor),
            _ => None,
        };
        let mut values = Vec::new();
        for (register, compare) in [(one, compare), (other, compare.negated())] {
            let Some(register) = register else { continue };
            let mut value = self.intermediate(current, compares(compare, from), &[a, b]);
            if let (Some(combine), Some(third)) = (combine, third) {
                value = self.intermediate(current, Function::Integer(combine, BIT), &[value, third]);
            }
            values.push((self.register(register), value));
        }
        let function = if is_predicate { copy(BIT) } else { negates() };
        for (to, value) in values {
            self.compute(current, to, function, &[value]);
        }
        Some(())
    }

    /// `mul.lo`, `mul.wide`, `mul.hi`; `mul24` likewise, on numbers that are taken to fit.
    fn product(&mut self, current: &Current<'m>, ty: Type) -> Option<()> {
        let operation = multiplication(current)?;
        if current.parts[0] == "mul24" {
            let to = self.destination(current)?;
            let product = self.product_of_24_bits(current, ty)?;
            self.compute(current, to, copy(ty), &[product]);
            return Some(());
        }
        self.simple(current, (operation, 2), ty)
    }

    /// The low 32 bits of the product of the low 24 bits.
    fn product_of_24_bits(&mut self, current: &Current<'m>, ty: Type) -> Option<Argument> {
        let operands = current.operands();
        let mut factors = [Argument::Number(0); 2];
        for (factor, operand) in factors.iter_mut().zip(operands.get(1..3)?) {
            let argument = self.argument(current, operand);
            let by = Argument::Number(8);
            let left =
                self.intermediate(current, Function::Integer(Operation::ShiftLeft, ty), &[argument, by]);
            *factor = self.intermediate(current, Function::Integer(Operation::ShiftRight, ty), &[left, by]);
        }
        Some(self.intermediate(current, Function::Integer(Operation::Multiply, ty), &factors))
    }

    fn sum_of_product(&mut self, current: &Current<'m>, ty: Type) -> Option<()> {
        let to = self.destination(current)?;
        let operation = multiplication(current)?;
        let operands = current.operands();
        let product = if current.parts[0] == "mad24" {
            self.product_of_24_bits(current, ty)?
        } else {
            let a = self.argument(current, operands.get(1)?);
            let b = self.argument(current, operands.get(2)?);
            self.intermediate(current, Function::Integer(operation, ty), &[a, b])
        };
        let bits = if operation == Operation::MultiplyWide { ty.bits * 2 } else { ty.bits };
        let addend = self.argument(current, operands.get(3)?);
        let sum = Function::Integer(Operation::Add, Type { bits, ..ty });
        self.compute(current, to, sum, &[product, addend]);
        Some(())
    }

    /// `slct.u32.s32 d, a, b, c`: a where c is not negative, else b.
    fn by_sign(&mut self, current: &Current<'m>) -> Option<()> {
        let to = self.destination(current)?;
        let ty = types::integer(current.parts.get(1)?)?;
        let sign = types::integer(current.parts.get(2)?)?;
        let operands = current.operands();
        let a = self.argument(current, operands.get(1)?);
        let b = self.argument(current, operands.get(2)?);
        let c = self.argument(current, operands.get(3)?);
        let sign = Type { signed: true, ..sign };
        let test = compares(Comparison::GreaterOrEqual, sign);
        let condition = self.intermediate(current, test, &[c, Argument::Number(0)]);
        self.compute(current, to, Function::Integer(Operation::Select, ty), &[a, b, condition]);
        Some(())
    }

    /// An instruction that is not followed, but has equal results for equal operands.
    fn pure(&mut self, current: &Current<'m>) {
        let operands = current.operands();
        let to = match operands.first() {
            Some(Operand::Register(register, false)) => Some(self.register(*register)),
            _ => None,
        };
        let is_plain = |operand: &Operand| {
            matches!(operand, Operand::Register(..) | Operand::Number(_) | Operand::Name(_))
        };
        let Some(to) = to.filter(|_| operands[1..].iter().all(is_plain)) else {
            return self.opaque(current, Function::Unknown);
        };
        let name = self.name(current.opcode);
        let mut arguments = Vec::new();
        for operand in &operands[1..] {
            arguments.push(self.argument(current, operand));
        }
        self.compute(current, to, Function::Pure(name), &arguments);
    }
}

fn compares(comparison: Comparison, ty: Type) -> Function {
    Function::Integer(Operation::Compare(comparison), ty)
}

/// What `set` makes of a condition: all bits.
fn negates() -> Function {
    Function::Integer(Operation::Negate, Type { bits: 32, signed: true })
}

/// Which half of the product is meant, or all of it.
fn multiplication(current: &Current<'_>) -> Option<Operation> {
    match *current.parts.get(1)? {
        "lo" => Some(Operation::Multiply),
        "wide" => Some(Operation::MultiplyWide),
        "hi" if !current.parts[0].ends_with("24") => Some(Operation::MultiplyHigh),
        _ => None,
    }
}

/// Whether a modifier changes nothing but what is asked for here: types, parts of products, comparisons.
fn is_followed(part: &str) -> bool {
    types::integer(part).is_some()
        || types::comparison(part).is_some()
        || [
            "wide",
            "and",
            "or",
            "xor",
            "to",
            "shared",
            "shared::cta",
            "shared::cluster",
            "global",
            "local",
            "const",
            "param",
        ]
        .contains(&part)
        || types::bytes(part).is_some()
}

fn is_type(part: &&&str) -> bool {
    types::integer(part).is_some() || types::bytes(part).is_some()
}
