//! What ids stand for: numbers, one register each.

use crate::common::span::Span;
use crate::kernel::code::{Argument, Function, Operation, Type as Integer};
use crate::spirv::declarations::{Constant, Type};
use crate::spirv::opcodes::op;

use super::state::{Lowerer, Pointer, Root, Value};

/// All bits of the widest register that is followed.
pub(super) const LONG: Integer = Integer { bits: 64, signed: false };
/// A truth value.
pub(super) const BIT: Integer = Integer { bits: 1, signed: false };

/// The same bits, cut to the width of a type.
pub(super) fn copy(ty: Integer) -> Function {
    Function::Integer(Operation::Convert(ty), ty)
}

impl Lowerer<'_> {
    /// Registers for what an instruction results in, which nothing has written yet.
    pub(super) fn reserve(&mut self, id: u32, ty: u32) -> Vec<Argument> {
        /// Beyond so many registers values are not taken apart.
        const MOST: usize = 1_000_000;
        let is_long = self.code.registers.len() > MOST;
        let count = if is_long { 1 } else { self.declarations.leaves(ty).unwrap_or(1) };
        let name = self.called(id);
        (0..count).map(|_| Argument::Register(self.code.register(&name))).collect()
    }

    /// The registers of a result of the innermost function.
    pub(super) fn result(&mut self, id: u32) -> Vec<Argument> {
        match self.frame().values.get(&id) {
            Some(Value::Leaves(leaves)) => leaves.clone(),
            _ => Vec::new(),
        }
    }

    /// What an id stands for.
    pub(super) fn value(&mut self, id: u32, span: Span) -> Value {
        if let Some(value) = self.frame().values.get(&id) {
            return value.clone();
        }
        if let Some(value) = self.globals.get(&id) {
            return value.clone();
        }
        if self.declarations.size == Some(id) && self.declarations.constants.contains_key(&id) {
            let size = self.launch.size.map(|length| Argument::Number(u64::from(length)));
            return Value::Leaves(size.to_vec());
        }
        if let Some(leaves) = self.constant(id, 0) {
            return Value::Leaves(leaves);
        }
        match self.declarations.definitions.get(&id) {
            Some(at) if self.listing.instructions[*at].is(op::VARIABLE) => self.global(*at),
            Some(_) => {
                let count = self.declarations.type_of.get(&id).and_then(|ty| self.declarations.leaves(*ty));
                Value::Leaves((0..count.unwrap_or(1)).map(|_| self.unknown(span)).collect())
            }
            None => {
                self.undefined(id, span);
                Value::Leaves(vec![self.unknown(span)])
            }
        }
    }

    /// The numbers of a constant, if it is one.
    fn constant(&mut self, id: u32, depth: u32) -> Option<Vec<Argument>> {
        /// Composites inside one another, at most.
        const DEPTH: u32 = 16;
        Some(match self.declarations.constants.get(&id)? {
            Constant::Number(number) => vec![Argument::Number(*number)],
            Constant::Specialised(_) => vec![self.specialised(id)],
            Constant::Null => {
                let ty = self.declarations.type_of.get(&id).copied().unwrap_or(0);
                vec![Argument::Number(0); self.declarations.leaves(ty).unwrap_or(1)]
            }
            Constant::Composite(parts) => {
                let ty = self.declarations.type_of.get(&id).copied().unwrap_or(0);
                let count = self.declarations.leaves(ty)?;
                if depth > DEPTH || parts.len() > count {
                    return None;
                }
                let mut leaves = Vec::new();
                for part in parts {
                    let known = self.constant(*part, depth + 1);
                    // Numbers that are no integers have a name.
                    let other = || vec![self.same(&format!("constant {}", self.listing.id_name(*part)))];
                    leaves.extend(known.unwrap_or_else(other));
                    if leaves.len() > count {
                        return None;
                    }
                }
                (leaves.len() == count).then_some(leaves)?
            }
        })
    }

    /// A constant that is set when the module is specialised: as it is given or launched, else something
    /// unknown that is the same for all.
    fn specialised(&mut self, id: u32) -> Argument {
        let name = self.called(id);
        let given = self.launch.param(None, &name).map(|given| given as u64);
        match given.or_else(|| self.launched.get(&id).copied()) {
            Some(given) => Argument::Number(given),
            None => {
                let ty = self.declarations.type_of.get(&id).and_then(|ty| self.integer_type(*ty));
                self.at_least(None, &name, ty.map_or(0, |ty| ty.bits))
            }
        }
    }

    /// Something that is given like a parameter: at least so much as is said of it.
    pub(super) fn at_least(&mut self, whole: Option<(usize, &str)>, name: &str, bits: u8) -> Argument {
        let said = self.launch.said(whole, name).filter(|_| bits >= 32);
        let name = self.name(name);
        self.code.same(name, said, bits)
    }

    /// The numbers that an id stands for; of a pointer, its address.
    pub(super) fn leaves(&mut self, id: u32, span: Span) -> Vec<Argument> {
        match self.value(id, span) {
            Value::Leaves(leaves) => leaves,
            Value::Pointer(pointer) => vec![self.address(&pointer, span)],
        }
    }

    /// The single number that an id stands for.
    pub(super) fn leaf(&mut self, id: Option<u32>, span: Span) -> Argument {
        let leaves = id.map(|id| self.leaves(id, span)).unwrap_or_default();
        match leaves.as_slice() {
            [leaf] => *leaf,
            _ => self.unknown(span),
        }
    }

    /// The address that a pointer is, as a number.
    pub(super) fn address(&mut self, pointer: &Pointer, span: Span) -> Argument {
        match pointer.root {
            Root::Memory(_, address) => address,
            Root::Local(_) | Root::Builtin(_) | Root::Anywhere => self.unknown(span),
        }
    }

    /// The type of a value, if it is an integer or made of equal ones.
    pub(super) fn integer(&self, id: Option<u32>) -> Option<Integer> {
        self.integer_type(*self.declarations.type_of.get(&id?)?)
    }

    /// The integer that a type is, or those that it is made of.
    pub(super) fn integer_type(&self, ty: u32) -> Option<Integer> {
        match self.declarations.types.get(&ty)? {
            Type::Integer(ty) => Some(*ty),
            Type::Several(of, _) => match self.declarations.types.get(of)? {
                Type::Integer(ty) => Some(*ty),
                _ => None,
            },
            _ => None,
        }
    }

    /// Every number of a result is unknown.
    pub(super) fn opaque(&mut self, id: u32, function: Function, span: Span) {
        for to in self.result(id) {
            self.compute(span, to, function, &[]);
        }
    }

    /// Numbers one by one into registers.
    pub(super) fn copy_all(&mut self, to: &[Argument], from: &[Argument], span: Span) {
        for (at, to) in to.iter().enumerate() {
            match from.get(at) {
                Some(from) if from == to => {}
                Some(from) => self.compute(span, *to, copy(LONG), &[*from]),
                None => self.compute(span, *to, Function::Unknown, &[]),
            }
        }
    }
}
