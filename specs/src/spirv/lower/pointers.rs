//! Pointers: variables, and what leads into them.

use std::rc::Rc;

use crate::common::span::Span;
use crate::kernel::code::{Argument, Function, Memory};
use crate::spirv::declarations::Type;
use crate::spirv::opcodes::op;
use crate::spirv::syntax::Instruction;
use crate::spirv::words::class;

use super::state::{Lowerer, Pointer, Root, Value};

impl Lowerer<'_> {
    /// The type of what a pointer type leads to, and its storage class.
    fn pointee(&self, ty: u32) -> Option<(u32, u32)> {
        match self.declarations.types.get(&ty)? {
            Type::Pointer(of, class) => Some((*of, *class)),
            _ => None,
        }
    }

    fn is_watched(&self, id: u32) -> bool {
        self.declarations.watched.contains(&id)
    }

    /// Where a pointer of this type leads whose address is all that is known of it.
    fn root(&self, ty: u32, class: u32, address: Argument) -> Root {
        let is_buffer = self.declarations.buffers.contains(&ty);
        match class {
            class::WORKGROUP => Root::Memory(Memory::Shared, address),
            class::UNIFORM if !is_buffer => Root::Memory(Memory::Constant, address),
            class::UNIFORM_CONSTANT | class::PUSH_CONSTANT | class::INPUT => {
                Root::Memory(Memory::Constant, address)
            }
            class::UNIFORM
            | class::CROSS_WORKGROUP
            | class::STORAGE_BUFFER
            | class::PHYSICAL_STORAGE_BUFFER => Root::Memory(Memory::Global, address),
            _ => Root::Anywhere,
        }
    }

    /// Where an id leads.
    pub(super) fn pointer(&mut self, id: u32, span: Span) -> Option<Pointer> {
        match self.value(id, span) {
            Value::Pointer(pointer) => Some(pointer),
            Value::Leaves(leaves) => {
                let (ty, class) = self.pointee(*self.declarations.type_of.get(&id)?)?;
                let [address] = leaves.as_slice() else { return None };
                let root = self.root(ty, class, *address);
                let is_watched = self.is_watched(ty);
                Some(Pointer { root, ty, first: 0, is_exact: true, is_watched })
            }
        }
    }

    fn anywhere(&self, ty: u32) -> Pointer {
        Pointer { root: Root::Anywhere, ty, first: 0, is_exact: false, is_watched: false }
    }

    /// Registers for a variable of one invocation.
    fn local(&mut self, variable: &Instruction, ty: u32) -> Pointer {
        let is_followed = !self.escaped.contains(&variable.result);
        let Some(count) = self.declarations.leaves(ty).filter(|_| is_followed) else {
            return self.anywhere(ty);
        };
        let name = self.called(variable.result);
        let registers: Rc<[u32]> = (0..count).map(|_| self.code.register(&name)).collect();
        Pointer { root: Root::Local(registers), ty, first: 0, is_exact: true, is_watched: false }
    }

    /// A variable of the innermost function.
    pub(super) fn variable(&mut self, variable: &Instruction) {
        let Some((ty, _)) = self.pointee(variable.ty) else { return };
        let pointer = self.local(variable, ty);
        let to = registers(&pointer);
        self.frame().values.insert(variable.result, Value::Pointer(pointer));
        if let Some(initial) = variable.id(1) {
            let from = self.leaves(initial, variable.span);
            self.copy_all(&to, &from, variable.span);
        }
    }

    /// A variable outside of functions, when it is needed first.
    pub(super) fn global(&mut self, at: usize) -> Value {
        let variable = &self.listing.instructions[at];
        let Some((ty, class)) = self.pointee(variable.ty) else { return Value::Leaves(Vec::new()) };
        let id = variable.result;
        let pointer = match (self.declarations.builtins.get(&id), class) {
            (Some(builtin), _) => {
                let root = Root::Builtin(*builtin);
                Pointer { root, ty, first: 0, is_exact: true, is_watched: false }
            }
            (None, class::PRIVATE) => self.local(variable, ty),
            (None, _) => {
                let name = format!("{} of {}", self.called(id), self.listing.id_name(id));
                let address = self.same(&name);
                let is_watched = self.is_watched(id) || self.is_watched(ty);
                let root = self.root(ty, class, address);
                Pointer { root, ty, first: 0, is_exact: true, is_watched }
            }
        };
        self.globals.insert(id, Value::Pointer(pointer.clone()));
        Value::Pointer(pointer)
    }

    /// Variables of an invocation that have a value before the entry begins.
    pub(super) fn initialise(&mut self) {
        for at in &self.declarations.variables {
            let variable = &self.listing.instructions[*at];
            let Some(initial) = variable.id(1) else { continue };
            if let Value::Pointer(pointer) = self.global(*at) {
                let to = registers(&pointer);
                if !to.is_empty() {
                    let from = self.leaves(initial, variable.span);
                    self.copy_all(&to, &from, variable.span);
                }
            }
        }
    }

    /// A pointer into what another leads to, or the same with another type.
    pub(super) fn derived(&mut self, instruction: &Instruction) {
        let span = instruction.span;
        let (Some(base), Some((ty, class))) = (instruction.id(0), self.pointee(instruction.ty)) else {
            return;
        };
        let Some(mut pointer) = self.pointer(base, span) else {
            let pointer = self.anywhere(ty);
            self.frame().values.insert(instruction.result, Value::Pointer(pointer));
            return;
        };
        let number = instruction.opcode.unwrap_or(0);
        let first = match number {
            op::PTR_ACCESS_CHAIN | op::IN_BOUNDS_PTR_ACCESS_CHAIN => {
                // Elements beside the one that is pointed to.
                let element = instruction.id(1).and_then(|element| self.declarations.number(element));
                pointer.is_exact &= element == Some(0) || matches!(pointer.root, Root::Memory(..));
                2
            }
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN => 1,
            _ => {
                pointer.is_exact &= pointer.ty == ty || matches!(pointer.root, Root::Memory(..));
                instruction.operands.len()
            }
        };
        for index in instruction.ids(first) {
            self.step(&mut pointer, index);
        }
        if let Root::Memory(_, address) = pointer.root {
            let mut address = address;
            if first < instruction.operands.len() || first == 2 {
                let mut arguments = vec![address];
                for index in instruction.ids(1) {
                    arguments.push(self.leaf(Some(index), span));
                }
                let name = self.name("element");
                address = self.intermediate(span, Function::Pure(name), &arguments);
            }
            pointer.root = match self.root(ty, class, address) {
                // What is inside of a buffer is in it.
                Root::Memory(..) if number != op::BITCAST => match pointer.root {
                    Root::Memory(memory, _) => Root::Memory(memory, address),
                    other => other,
                },
                other => other,
            };
        }
        pointer.is_watched |= self.is_watched(ty);
        pointer.ty = ty;
        self.frame().values.insert(instruction.result, Value::Pointer(pointer));
    }

    /// One index further into what a pointer leads to.
    fn step(&self, pointer: &mut Pointer, index: u32) {
        pointer.is_watched |= self.is_watched(pointer.ty);
        let number = self.declarations.number(index);
        let part = number.and_then(|number| self.declarations.part(pointer.ty, number));
        match part {
            // What is set when the module is specialised need not be its default.
            Some((ty, offset)) if !self.declarations.specialised.contains_key(&index) => {
                pointer.ty = ty;
                pointer.first += offset;
            }
            _ => {
                pointer.is_exact &= matches!(pointer.root, Root::Memory(..));
                pointer.ty = self.declarations.part_type(pointer.ty, number).unwrap_or(0);
            }
        }
    }
}

/// The registers of a variable of one invocation.
pub(super) fn registers(pointer: &Pointer) -> Vec<Argument> {
    match &pointer.root {
        Root::Local(registers) => registers.iter().map(|register| Argument::Register(*register)).collect(),
        _ => Vec::new(),
    }
}
