//! Operations on integers.

use crate::common::span::Span;
use crate::kernel::code::{Argument, Comparison, Function, Operation as Op, Type};
use crate::xegpu::syntax::{Operation, integer};

use super::state::{BIT, LONG, Lowerer, copy};

/// The type of a name: `index` has 64 bits.
pub(super) fn ty(name: &str) -> Option<Type> {
    let bits = match name {
        "index" | "i64" | "ui64" | "si64" => 64,
        "i32" | "ui32" | "si32" => 32,
        "i16" | "ui16" | "si16" => 16,
        "i8" | "ui8" | "si8" => 8,
        "i1" => 1,
        _ => return None,
    };
    Some(Type { bits, signed: bits > 1 })
}

/// Operations that are one: which, and whether their operands have a sign.
fn simple(name: &str) -> Option<(Op, bool)> {
    Some(match name {
        "arith.addi" | "index.add" | "spirv.IAdd" | "llvm.add" => (Op::Add, true),
        "arith.subi" | "index.sub" | "spirv.ISub" | "llvm.sub" => (Op::Subtract, true),
        "arith.muli" | "index.mul" | "spirv.IMul" | "llvm.mul" => (Op::Multiply, true),
        "arith.divsi" | "index.divs" | "spirv.SDiv" | "llvm.sdiv" => (Op::Divide, true),
        "arith.divui" | "index.divu" | "spirv.UDiv" | "llvm.udiv" => (Op::Divide, false),
        "arith.remsi" | "index.rems" | "spirv.SRem" | "llvm.srem" => (Op::Remainder, true),
        "arith.remui" | "index.remu" | "spirv.UMod" | "llvm.urem" => (Op::Remainder, false),
        "arith.andi" | "index.and" | "spirv.BitwiseAnd" | "llvm.and" => (Op::And, true),
        "arith.ori" | "index.or" | "spirv.BitwiseOr" | "llvm.or" => (Op::Or, true),
        "arith.xori" | "index.xor" | "spirv.BitwiseXor" | "llvm.xor" => (Op::Xor, true),
        "arith.shli" | "index.shl" | "spirv.ShiftLeftLogical" | "llvm.shl" => (Op::ShiftLeft, true),
        "arith.shrsi" | "index.shrs" | "spirv.ShiftRightArithmetic" | "llvm.ashr" => (Op::ShiftRight, true),
        "arith.shrui" | "index.shru" | "spirv.ShiftRightLogical" | "llvm.lshr" => (Op::ShiftRight, false),
        "arith.minsi" | "index.mins" => (Op::Minimum, true),
        "arith.minui" | "index.minu" => (Op::Minimum, false),
        "arith.maxsi" | "index.maxs" => (Op::Maximum, true),
        "arith.maxui" | "index.maxu" => (Op::Maximum, false),
        _ => return None,
    })
}

/// A comparison by its word or its number.
fn comparison(word: &str) -> Option<(Comparison, bool)> {
    use Comparison::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    Some(match word {
        "eq" | "0" => (Equal, true),
        "ne" | "1" => (NotEqual, true),
        "slt" | "2" => (Less, true),
        "sle" | "3" => (LessOrEqual, true),
        "sgt" | "4" => (Greater, true),
        "sge" | "5" => (GreaterOrEqual, true),
        "ult" | "6" => (Less, false),
        "ule" | "7" => (LessOrEqual, false),
        "ugt" | "8" => (Greater, false),
        "uge" | "9" => (GreaterOrEqual, false),
        _ => return None,
    })
}

impl<'s> Lowerer<'_, 's> {
    /// An operation that is followed; `None` for others.
    pub(super) fn arithmetic(&mut self, operation: &Operation<'s>) -> Option<()> {
        let (source, span) = (self.source, operation.span);
        let types = operation.types(source);
        let first = || types.iter().find_map(|name| ty(name));
        let last = || types.last().and_then(|name| ty(name));
        let is_index = operation.name.starts_with("index.");
        match operation.name {
            "arith.constant" | "spirv.Constant" | "index.constant" | "llvm.mlir.constant" => {
                self.constant(operation)
            }
            "affine.apply" => self.apply(operation),
            "arith.cmpi" | "index.cmp" | "llvm.icmp" => {
                let word = if operation.is_generic {
                    operation.word(source, "predicate").or_else(|| operation.word(source, "pred"))?
                } else {
                    operation.text(source, 0).trim_matches('"')
                };
                let word = word.split_once("::").map_or(word, |(_, word)| word);
                let (comparison, signed) = comparison(word)?;
                let of = if is_index { LONG } else { first()? };
                let of = Type { signed, ..of };
                let arguments = self.leaves(operation);
                self.put_two(operation, Function::Integer(Op::Compare(comparison), of), &arguments)
            }
            "arith.select" | "llvm.select" | "spirv.Select" => {
                let of = last()?;
                let [condition, a, b] = *self.leaves(operation).as_slice() else { return None };
                self.put(operation, Function::Integer(Op::Select, of), &[a, b, condition]);
                Some(())
            }
            "arith.index_cast" | "arith.extsi" | "arith.index_castui" | "arith.extui" | "arith.trunci"
            | "arith.bitcast" | "llvm.sext" | "llvm.zext" | "llvm.trunc" => {
                let (from, to) = (first()?, last()?);
                let signed = matches!(operation.name, "arith.index_cast" | "arith.extsi" | "llvm.sext");
                let [of] = *self.leaves(operation).as_slice() else { return None };
                let convert = Op::Convert(Type { signed, ..from });
                self.put(operation, Function::Integer(convert, to), &[of]);
                Some(())
            }
            "arith.ceildivui" | "arith.ceildivsi" | "arith.floordivsi" | "index.floordivs"
            | "index.ceildivs" => {
                let of = if is_index { LONG } else { first()? };
                let [a, b] = *self.leaves(operation).as_slice() else { return None };
                let is_unsigned = operation.name.ends_with("ui");
                let up = operation.name.contains("ceil");
                let quotient = self.quotient((a, b), Type { signed: !is_unsigned, ..of }, up, span);
                self.put(operation, copy(of), &[quotient]);
                Some(())
            }
            "arith.cmpf" => None,
            name => {
                let (simple, signed) = simple(name)?;
                let of = if is_index { LONG } else { first()? };
                let signed = signed && of.bits > 1;
                let arguments = self.leaves(operation);
                self.put_two(operation, Function::Integer(simple, Type { signed, ..of }), &arguments)
            }
        }
    }

    fn put_two(
        &mut self,
        operation: &Operation<'s>,
        function: Function,
        arguments: &[Argument],
    ) -> Option<()> {
        // Flags and the like are no operands.
        let two = arguments.get(..2).filter(|_| arguments.len() == 2)?;
        self.put(operation, function, two);
        Some(())
    }

    /// `arith.constant 4 : index`, `true`, `<{value = 4 : i8}>`; what is no integer is only equal to itself.
    fn constant(&mut self, operation: &Operation<'s>) -> Option<()> {
        let source = self.source;
        let word = if operation.is_generic || operation.attribute(source, "value").is_some() {
            operation.attribute(source, "value")?.first()?.span.text(source)
        } else if operation.name == "llvm.mlir.constant" {
            operation.text(source, 1)
        } else {
            operation.text(source, 0)
        };
        let number = match word {
            "true" => 1,
            "false" => 0,
            word => integer(word)?,
        };
        let of = match operation.types(source).last().map(|name| ty(name)) {
            Some(of) => of?,
            None if matches!(word, "true" | "false") => BIT,
            None if operation.name == "index.constant" => LONG,
            // `spirv.Constant 4 : i8` and the like have their type behind the number.
            None => return None,
        };
        self.put(operation, copy(of), &[Argument::Number(number as u64)]);
        Some(())
    }

    /// The quotient, rounded down or up.
    pub(super) fn quotient(
        &mut self,
        (a, b): (Argument, Argument),
        ty: Type,
        up: bool,
        span: Span,
    ) -> Argument {
        let of = |operation| Function::Integer(operation, ty);
        let compare = |comparison| Function::Integer(Op::Compare(comparison), ty);
        let zero = Argument::Number(0);
        let quotient = self.intermediate(span, of(Op::Divide), &[a, b]);
        let rest = self.intermediate(span, of(Op::Remainder), &[a, b]);
        let has_rest = self.intermediate(span, compare(Comparison::NotEqual), &[rest, zero]);
        let mut off = has_rest;
        if ty.signed {
            // Division cuts towards zero: the quotient is off where the result is negative, or positive.
            let negative = self.intermediate(span, compare(Comparison::Less), &[a, zero]);
            let other = self.intermediate(span, compare(Comparison::Less), &[b, zero]);
            let mut parts = self.intermediate(span, Function::Integer(Op::Xor, BIT), &[negative, other]);
            if up {
                parts = self.intermediate(span, Function::Integer(Op::LogicalNot, BIT), &[parts]);
            }
            off = self.intermediate(span, Function::Integer(Op::And, BIT), &[has_rest, parts]);
        } else if !up {
            return quotient;
        }
        let step = if up { Op::Add } else { Op::Subtract };
        let by = self.intermediate(span, of(Op::Select), &[Argument::Number(1), zero, off]);
        self.intermediate(span, of(step), &[quotient, by])
    }

    /// The remainder of a division that is rounded down.
    pub(super) fn modulo(&mut self, (a, b): (Argument, Argument), span: Span) -> Argument {
        let of = |operation| Function::Integer(operation, LONG);
        let quotient = self.quotient((a, b), LONG, false, span);
        let product = self.intermediate(span, of(Op::Multiply), &[quotient, b]);
        self.intermediate(span, of(Op::Subtract), &[a, product])
    }
}
