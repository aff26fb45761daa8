//! Instructions whose results follow from their operands alone.

use crate::kernel::code::{Argument, Comparison, Function, Operation, Type as Integer};
use crate::spirv::opcodes::op;
use crate::spirv::syntax::{Instruction, Operand};

use super::state::Lowerer;
use super::values::{BIT, LONG, copy};

/// Operations on integers that have an instruction of their own: the operation, and whether its operands
/// have a sign, if the instruction says so.
fn simple(name: &str) -> Option<(Operation, Option<bool>)> {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let compare = |comparison, signed| Some((Operation::Compare(comparison), signed));
    Some(match name {
        "IAdd" => (Operation::Add, None),
        "ISub" => (Operation::Subtract, None),
        "IMul" => (Operation::Multiply, None),
        "UDiv" => (Operation::Divide, Some(false)),
        "SDiv" => (Operation::Divide, Some(true)),
        "UMod" => (Operation::Remainder, Some(false)),
        "SRem" => (Operation::Remainder, Some(true)),
        "SNegate" => (Operation::Negate, Some(true)),
        "Not" => (Operation::Not, None),
        "BitwiseAnd" | "LogicalAnd" => (Operation::And, None),
        "BitwiseOr" | "LogicalOr" => (Operation::Or, None),
        "BitwiseXor" => (Operation::Xor, None),
        "LogicalNot" => (Operation::LogicalNot, None),
        "ShiftLeftLogical" => (Operation::ShiftLeft, None),
        "ShiftRightLogical" => (Operation::ShiftRight, Some(false)),
        "ShiftRightArithmetic" => (Operation::ShiftRight, Some(true)),
        "BitFieldUExtract" => (Operation::ExtractBits, Some(false)),
        "BitReverse" => (Operation::ReverseBits, Some(false)),
        "BitCount" => (Operation::CountOnes, Some(false)),
        "IEqual" | "LogicalEqual" => return compare(Equal, None),
        "INotEqual" | "LogicalNotEqual" => return compare(NotEqual, None),
        "UGreaterThan" => return compare(Greater, Some(false)),
        "SGreaterThan" => return compare(Greater, Some(true)),
        "UGreaterThanEqual" => return compare(GreaterOrEqual, Some(false)),
        "SGreaterThanEqual" => return compare(GreaterOrEqual, Some(true)),
        "ULessThan" => return compare(Less, Some(false)),
        "SLessThan" => return compare(Less, Some(true)),
        "ULessThanEqual" => return compare(LessOrEqual, Some(false)),
        "SLessThanEqual" => return compare(LessOrEqual, Some(true)),
        _ => return None,
    })
}

impl Lowerer<'_> {
    pub(super) fn arithmetic(&mut self, instruction: &Instruction) {
        if self.followed(instruction).is_none() {
            self.pure(instruction);
        }
    }

    /// An instruction that is followed; `None` for others.
    fn followed(&mut self, instruction: &Instruction) -> Option<()> {
        let row = instruction.row()?;
        match row.number {
            op::COPY_OBJECT | op::COPY_LOGICAL => {
                let from = self.leaves(instruction.id(0)?, instruction.span);
                self.put(instruction, &from)
            }
            op::COMPOSITE_CONSTRUCT => {
                let mut from = Vec::new();
                for id in instruction.ids(0) {
                    from.extend(self.leaves(id, instruction.span));
                }
                self.put(instruction, &from)
            }
            op::COMPOSITE_EXTRACT => self.extract(instruction),
            op::COMPOSITE_INSERT => self.insert(instruction),
            op::VECTOR_SHUFFLE => self.shuffle(instruction),
            _ => match row.name {
                "UConvert" | "SConvert" => {
                    let from = self.integer(instruction.id(0))?;
                    let from = Integer { signed: row.name == "SConvert", ..from };
                    let to = self.integer_type(instruction.ty)?;
                    self.each(instruction, Function::Integer(Operation::Convert(from), to), 1)
                }
                "Bitcast" => {
                    let from = self.integer(instruction.id(0))?;
                    let to = self.integer_type(instruction.ty)?;
                    (from.bits == to.bits).then_some(())?;
                    self.each(instruction, copy(to), 1)
                }
                "Select" => self.select(instruction),
                "SMod" => self.floored(instruction),
                name => {
                    let (operation, signed) = simple(name)?;
                    let first = self.integer(instruction.id(0))?;
                    let ty = Integer { signed: signed.unwrap_or(first.signed), ..first };
                    let ty = if name.starts_with("Logical") { BIT } else { ty };
                    let count = instruction.operands.len();
                    self.each(instruction, Function::Integer(operation, ty), count)
                }
            },
        }
    }

    /// The result is made of these numbers.
    fn put(&mut self, instruction: &Instruction, from: &[Argument]) -> Option<()> {
        let to = self.result(instruction.result);
        (to.len() == from.len()).then_some(())?;
        self.copy_all(&to, from, instruction.span);
        Some(())
    }

    /// A function of operands, for each of their numbers.
    fn each(&mut self, instruction: &Instruction, function: Function, count: usize) -> Option<()> {
        let span = instruction.span;
        let to = self.result(instruction.result);
        let mut operands = Vec::new();
        for at in 0..count {
            operands.push(self.leaves(instruction.id(at)?, span));
        }
        for (at, to) in to.iter().enumerate() {
            let arguments: Option<Vec<Argument>> =
                operands.iter().map(|leaves| leaves.get(at).copied()).collect();
            match arguments {
                Some(arguments) => self.compute(span, *to, function, &arguments),
                None => self.compute(span, *to, Function::Unknown, &[]),
            }
        }
        Some(())
    }

    /// `OpSMod a, b`: what a division leaves, with the sign of the divisor.
    fn floored(&mut self, instruction: &Instruction) -> Option<()> {
        let span = instruction.span;
        let ty = Integer { signed: true, ..self.integer(instruction.id(0))? };
        let (a, b) = (self.leaves(instruction.id(0)?, span), self.leaves(instruction.id(1)?, span));
        let to = self.result(instruction.result);
        (to.len() == a.len() && to.len() == b.len()).then_some(())?;
        let nothing = Argument::Number(0);
        let is = |comparison| Function::Integer(Operation::Compare(comparison), ty);
        for (at, to) in to.into_iter().enumerate() {
            let mut of = |operation, from: &[Argument]| {
                self.intermediate(span, Function::Integer(operation, ty), from)
            };
            let rest = of(Operation::Remainder, &[a[at], b[at]]);
            let signs = of(Operation::Xor, &[rest, b[at]]);
            let more = of(Operation::Add, &[rest, b[at]]);
            let is_other = self.intermediate(span, is(Comparison::Less), &[signs, nothing]);
            let is_some = self.intermediate(span, is(Comparison::NotEqual), &[rest, nothing]);
            let adds = self.intermediate(span, Function::Integer(Operation::And, BIT), &[is_other, is_some]);
            self.compute(span, to, Function::Integer(Operation::Select, ty), &[more, rest, adds]);
        }
        Some(())
    }

    /// `OpSelect condition, a, b`, with one condition for all or one for each.
    fn select(&mut self, instruction: &Instruction) -> Option<()> {
        let span = instruction.span;
        let ty = self.integer_type(instruction.ty).unwrap_or(LONG);
        let conditions = self.leaves(instruction.id(0)?, span);
        let (a, b) = (self.leaves(instruction.id(1)?, span), self.leaves(instruction.id(2)?, span));
        let to = self.result(instruction.result);
        (to.len() == a.len() && to.len() == b.len()).then_some(())?;
        for (at, to) in to.into_iter().enumerate() {
            let condition = if conditions.len() == 1 { conditions[0] } else { *conditions.get(at)? };
            let select = Function::Integer(Operation::Select, ty);
            self.compute(span, to, select, &[a[at], b[at], condition]);
        }
        Some(())
    }

    /// Where a part of a composite begins, and of what type it is.
    fn place(&self, instruction: &Instruction, composite: u32, from: usize) -> Option<(u32, usize)> {
        let mut ty = *self.declarations.type_of.get(&composite)?;
        let mut first = 0;
        for at in from..instruction.operands.len() {
            let (part, offset) = self.declarations.part(ty, instruction.number(at)?)?;
            (ty, first) = (part, first + offset);
        }
        Some((ty, first))
    }

    fn extract(&mut self, instruction: &Instruction) -> Option<()> {
        let composite = instruction.id(0)?;
        let (_, first) = self.place(instruction, composite, 1)?;
        let leaves = self.leaves(composite, instruction.span);
        let count = self.result(instruction.result).len();
        let part = leaves.get(first..first.checked_add(count)?)?.to_vec();
        self.put(instruction, &part)
    }

    /// `OpCompositeInsert object, composite, indices`
    fn insert(&mut self, instruction: &Instruction) -> Option<()> {
        let composite = instruction.id(1)?;
        let (_, first) = self.place(instruction, composite, 2)?;
        let mut leaves = self.leaves(composite, instruction.span);
        let object = self.leaves(instruction.id(0)?, instruction.span);
        leaves.get_mut(first..first.checked_add(object.len())?)?.copy_from_slice(&object);
        self.put(instruction, &leaves)
    }

    fn shuffle(&mut self, instruction: &Instruction) -> Option<()> {
        let mut all = self.leaves(instruction.id(0)?, instruction.span);
        all.extend(self.leaves(instruction.id(1)?, instruction.span));
        let mut from = Vec::new();
        for at in 2..instruction.operands.len() {
            let index = usize::try_from(instruction.number(at)?).ok()?;
            from.push(match all.get(index) {
                Some(leaf) => *leaf,
                // A component that may be anything.
                None => self.unknown(instruction.span),
            });
        }
        self.put(instruction, &from)
    }

    /// An instruction that is not followed, but has equal results for equal operands.
    fn pure(&mut self, instruction: &Instruction) {
        /// The most numbers that a result may depend on.
        const MOST: usize = 64;
        let span = instruction.span;
        let Some(row) = instruction.row() else { return };
        let mut arguments = Vec::new();
        for at in 0..instruction.operands.len() {
            match (row.kind(at), &instruction.operands[at]) {
                (b'i', _) => {
                    if let Some(id) = instruction.id(at) {
                        arguments.extend(self.leaves(id, span));
                    }
                }
                (_, Operand::Number(number)) => arguments.push(Argument::Number(*number)),
                (_, Operand::Word(word) | Operand::Text(word)) => arguments.push(self.same(word)),
            }
        }
        if arguments.len() > MOST {
            return self.opaque(instruction.result, Function::Unknown, span);
        }
        for (at, to) in self.result(instruction.result).into_iter().enumerate() {
            let name = self.name(&format!("{} {at} of {}", row.name, self.listing.id_name(instruction.ty)));
            self.compute(span, to, Function::Pure(name), &arguments);
        }
    }

    /// Instructions of sets that are followed.
    pub(super) fn extended_arithmetic(&mut self, instruction: &Instruction, set: &str) -> Option<()> {
        const WORDS: [(&str, u32); 8] = [
            ("UMin", 38),
            ("SMin", 39),
            ("UMax", 41),
            ("SMax", 42),
            ("s_max", 156),
            ("u_max", 157),
            ("s_min", 158),
            ("u_min", 159),
        ];
        let (operation, signed) = match (set, instruction.enumerant(1, &WORDS)?) {
            ("GLSL.std.450", 38) | ("OpenCL.std", 159) => (Operation::Minimum, false),
            ("GLSL.std.450", 39) | ("OpenCL.std", 158) => (Operation::Minimum, true),
            ("GLSL.std.450", 41) | ("OpenCL.std", 157) => (Operation::Maximum, false),
            ("GLSL.std.450", 42) | ("OpenCL.std", 156) => (Operation::Maximum, true),
            _ => return None,
        };
        let ty = Integer { signed, ..self.integer_type(instruction.ty)? };
        let operands = instruction.operands.get(2..)?.to_vec();
        let plain = Instruction { operands, ..instruction.clone() };
        self.each(&plain, Function::Integer(operation, ty), 2)
    }
}
