//! Instructions that compute.

use crate::kernel::code::{Argument, Comparison, Function, Operation, Type};
use crate::visa::operand::Operand;
use crate::visa::syntax::Kind;

use super::state::{BIT, CARRIES, Cell, Current, Lowerer};

impl<'m> Lowerer<'m> {
    pub(super) fn computes(&mut self, current: &Current<'m>) {
        let value = self.result(current);
        self.write(current, value);
        // The second result of a sum with a carry is written too.
        if CARRIES.contains(&current.root.as_str()) {
            self.touches(current);
        }
    }

    /// The value of an instruction on integers that is followed, and how it is written.
    fn result(&mut self, current: &Current<'m>) -> Option<(Argument, Function)> {
        let statement = current.statement;
        if statement.lanes != 1 {
            return None;
        }
        let (first, sources) = statement.operands.split_first()?;
        let (from, same_sign) = self.type_of(sources)?;
        let (root, parts) = (current.root.as_str(), current.parts.as_slice());
        if root == "cmp" {
            let comparison = parts.first().and_then(|part| comparison(part)).filter(|_| parts.len() == 1)?;
            let is_any = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
            let is_predicate = match Operand::of(first) {
                Operand::Name(name) => {
                    self.function.variables.get(name).is_some_and(|variable| variable.kind == Kind::Predicate)
                }
                _ => false,
            };
            let [a, b] = sources else { return None };
            if !(is_predicate && (same_sign || is_any)) {
                return None;
            }
            let arguments = [self.value(current, a, from)?, self.value(current, b, from)?];
            let function = Function::Integer(Operation::Compare(comparison), from);
            let value = self.intermediate(current, function, &arguments);
            return Some((value, Function::Integer(Operation::Convert(BIT), BIT)));
        }
        if !parts.is_empty() {
            return None;
        }
        let to = match Operand::of(first) {
            Operand::Region { name, column, .. } => self.place(name, column)?.1,
            _ => return None,
        };
        let value = self.integer(current, sources, (from, same_sign))?;
        Some((value, Function::Integer(Operation::Convert(from), to)))
    }

    fn integer(
        &mut self,
        current: &Current<'m>,
        sources: &[&'m str],
        (ty, same_sign): (Type, bool),
    ) -> Option<Argument> {
        let root = current.root.as_str();
        let mut values = Vec::new();
        for source in sources {
            values.push(self.value(current, source, ty)?);
        }
        let mut apply = |operation, ty, arguments: &[Argument]| {
            Some(self.intermediate(current, Function::Integer(operation, ty), arguments))
        };
        let unsigned = Type { signed: false, ..ty };
        let signed = Type { signed: true, ..ty };
        match (root, values.as_slice()) {
            ("mov", [value]) => Some(*value),
            ("add", [_, _]) => apply(Operation::Add, ty, &values),
            ("mul", [_, _]) => apply(Operation::Multiply, ty, &values),
            ("mad" | "add3", [a, b, c]) => {
                let operation = if root == "mad" { Operation::Multiply } else { Operation::Add };
                let first = apply(operation, ty, &[*a, *b])?;
                apply(Operation::Add, ty, &[first, *c])
            }
            ("and", [_, _]) => apply(Operation::And, ty, &values),
            ("or", [_, _]) => apply(Operation::Or, ty, &values),
            ("xor", [_, _]) => apply(Operation::Xor, ty, &values),
            ("not", [_]) => apply(Operation::Not, ty, &values),
            // How far a shift may go, the width of its type says.
            ("shl" | "shr" | "asr", [_, Argument::Number(by)]) if *by < u64::from(ty.bits) => match root {
                "shl" => apply(Operation::ShiftLeft, ty, &values),
                "shr" if !ty.signed => apply(Operation::ShiftRight, unsigned, &values),
                "asr" if ty.signed => apply(Operation::ShiftRight, signed, &values),
                _ => None,
            },
            ("div", [_, _]) if same_sign => apply(Operation::Divide, ty, &values),
            ("mod", [_, _]) if same_sign => apply(Operation::Remainder, ty, &values),
            ("sel", [a, b]) => {
                let guard = current.statement.guard?;
                let (negated, name) = guard.strip_prefix('!').map_or((false, guard), |name| (true, name));
                let name = name.split('.').next().unwrap_or_default();
                let (name, _) = self.function.variables.get_key_value(name)?;
                let condition = Argument::Register(self.cell(name, Cell { from: 0, bytes: 1 }));
                let (a, b) = if negated { (*b, *a) } else { (*a, *b) };
                Some(self.intermediate(current, Function::Integer(Operation::Select, ty), &[a, b, condition]))
            }
            _ => None,
        }
    }

    /// The type in which operands are computed, and whether they agree in their signs.
    fn type_of(&self, sources: &[&str]) -> Option<(Type, bool)> {
        let mut bits = 32;
        let (mut signs, mut plain) = (Vec::new(), Vec::new());
        for source in sources {
            match Operand::of(source) {
                // It is the same with a sign and without.
                Operand::Number(number, signed) if number < 1 << 31 => plain.push(signed),
                Operand::Number(_, signed) => signs.push(signed),
                Operand::Region { name, row: 0, column, .. } => {
                    let (_, ty) = self.place(name, column)?;
                    bits = bits.max(ty.bits);
                    signs.push(ty.signed);
                }
                _ => return None,
            }
        }
        let signed = *signs.first().or(plain.first())?;
        Some((Type { bits, signed }, signs.iter().all(|other| *other == signed)))
    }
}

fn comparison(part: &str) -> Option<Comparison> {
    Some(match part {
        "eq" => Comparison::Equal,
        "ne" => Comparison::NotEqual,
        "lt" => Comparison::Less,
        "le" => Comparison::LessOrEqual,
        "gt" => Comparison::Greater,
        "ge" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}
