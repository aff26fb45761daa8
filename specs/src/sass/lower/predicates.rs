//! Comparisons, and functions of predicates.

use crate::kernel::code::{Action, Argument, Comparison, Function, Operation, Type};
use crate::sass::operand::{Kind, Operand};

use super::arithmetic::{compares, copy};
use super::results::{Result, Results};
use super::state::{BIT, Current, Lowerer};

impl<'m> Lowerer<'m> {
    /// An instruction that writes so many predicates, its first operands.
    pub(super) fn predicates(&mut self, current: &Current<'m>, count: usize) {
        let written: Vec<Result> = current
            .operands
            .iter()
            .take(count)
            .filter_map(|operand| operand.plain().filter(|register| register.file.is_predicate()))
            .map(|register| Result { register, width: 1, in_part: false, carries: false })
            .collect();
        if written.len() < count {
            return self.beyond(current, &format!("what `{}` writes here", current.statement.opcode));
        }
        let results = Results { all: written, behind: count };
        let values = match current.root {
            "ISETP" | "UISETP" => self.comparison(current, &current.operands[count..]),
            "PLOP3" | "UPLOP3" => self.function_of_three(current, &current.operands[count..]),
            "PSETP" | "UPSETP" => self.combination(current, &current.operands[count..]),
            _ => None,
        };
        let Some(values) = values else { return self.pure(current, &results) };
        for (result, value) in results.all.into_iter().zip(values) {
            for cell in self.cells(result) {
                self.compute(current, cell, copy(BIT), &[value]);
            }
        }
        self.emit(current, Action::Nothing);
    }

    /// `ISETP.GE.U32.AND P0, P1, R0, R1, P2`: the comparison and P2, its contrary and P2.
    fn comparison(&mut self, current: &Current<'m>, sources: &[Operand<'m>]) -> Option<[Argument; 2]> {
        let [a, b, with] = sources else { return None };
        let mut comparison = None;
        let mut combine = None;
        let mut signed = true;
        for part in &current.parts {
            match *part {
                "EQ" => comparison = Some(Comparison::Equal),
                "NE" => comparison = Some(Comparison::NotEqual),
                "LT" => comparison = Some(Comparison::Less),
                "LE" => comparison = Some(Comparison::LessOrEqual),
                "GT" => comparison = Some(Comparison::Greater),
                "GE" => comparison = Some(Comparison::GreaterOrEqual),
                "U32" => signed = false,
                "S32" => {}
                part => combine = Some(operation(part)?),
            }
        }
        let (comparison, combine) = (comparison?, combine?);
        let (a, b) = (self.integer(current, a)?, self.integer(current, b)?);
        let with = self.predicate(current, with)?;
        let ty = Type { bits: 32, signed };
        Some([comparison, comparison.negated()].map(|comparison| {
            let value = self.intermediate(current, compares(comparison, ty), &[a, b]);
            self.combined(current, combine, value, with)
        }))
    }

    fn combined(&mut self, current: &Current<'m>, by: Operation, a: Argument, b: Argument) -> Argument {
        match (by, a, b) {
            (Operation::And, other, Argument::Number(1)) | (Operation::And, Argument::Number(1), other) => {
                other
            }
            (Operation::Or | Operation::Xor, other, Argument::Number(0)) => other,
            _ => self.intermediate(current, Function::Integer(by, BIT), &[a, b]),
        }
    }

    /// `PLOP3.LUT P0, P1, P2, P3, P4, 0x80, 0x0`: two functions of three predicates.
    fn function_of_three(&mut self, current: &Current<'m>, sources: &[Operand<'m>]) -> Option<[Argument; 2]> {
        let [a, b, c, first, second] = sources else { return None };
        let values = [self.predicate(current, a)?, self.predicate(current, b)?, self.predicate(current, c)?];
        let table = |operand: &Operand<'_>| match operand.kind {
            Kind::Number(table) => u8::try_from(table).ok(),
            _ => None,
        };
        let tables = [table(first)?, table(second)?];
        Some(tables.map(|table| self.by_table(current, table, values, BIT)))
    }

    /// `PSETP.AND.OR P0, P1, P2, P3, P4`: (P2 and P3) or P4; not (P2 and P3) or P4.
    fn combination(&mut self, current: &Current<'m>, sources: &[Operand<'m>]) -> Option<[Argument; 2]> {
        let ([a, b, with], [inner, outer]) = (sources, current.parts.as_slice()) else { return None };
        let (inner, outer) = (operation(inner)?, operation(outer)?);
        let (a, b) = (self.predicate(current, a)?, self.predicate(current, b)?);
        let with = self.predicate(current, with)?;
        let value = self.intermediate(current, Function::Integer(inner, BIT), &[a, b]);
        let contrary = self.intermediate(current, Function::Integer(Operation::LogicalNot, BIT), &[value]);
        Some([value, contrary].map(|value| self.combined(current, outer, value, with)))
    }
}

fn operation(part: &str) -> Option<Operation> {
    Some(match part {
        "AND" => Operation::And,
        "OR" => Operation::Or,
        "XOR" => Operation::Xor,
        _ => return None,
    })
}
