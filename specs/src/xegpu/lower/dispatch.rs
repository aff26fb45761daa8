//! Which operation is laid out by whom.

use std::collections::HashMap;

use crate::common::span::Span;
use crate::kernel::code::{Action, Argument, Function, Memory, Written};
use crate::xegpu::ops::{Effect, effect};
use crate::xegpu::syntax::{Operation, Region};

use super::state::{Blocks, Lowerer, Value};

/// The most instructions that a kernel may come to.
const INSTRUCTIONS: usize = 1_000_000;

impl<'s> Lowerer<'_, 's> {
    /// The blocks of a region, one behind the other.
    pub(super) fn region(&mut self, region: &Region<'s>) {
        self.scopes.push(HashMap::new());
        let mut blocks = Blocks::default();
        for (at, block) in region.iter().enumerate() {
            // The parameters of the first block are those of whoever has the region.
            if at > 0 {
                let params = block.params.iter().map(|param| self.reserve(param)).collect();
                blocks.params.insert(block.label.unwrap_or_default(), params);
            }
            for operation in &block.operations {
                self.reserve_results(operation);
            }
        }
        self.blocks.push(blocks);
        for block in region {
            let here = self.code.instructions.len();
            if let (Some(label), Some(blocks)) = (block.label, self.blocks.last_mut()) {
                blocks.labels.insert(label, here);
            }
            for operation in &block.operations {
                self.operation(operation);
            }
        }
        let blocks = self.blocks.pop().unwrap_or_default();
        for (at, label) in blocks.jumps {
            match blocks.labels.get(label) {
                Some(to) => self.code.instructions[at].action = Action::Jump(*to),
                None => {
                    let span = self.code.instructions[at].span;
                    self.value(label, span);
                }
            }
        }
        self.scopes.pop();
    }

    fn operation(&mut self, operation: &Operation<'s>) {
        let span = operation.span;
        if self.code.instructions.len() > INSTRUCTIONS {
            return self.beyond(span, "a kernel of more instructions than are followed");
        }
        if self.barrier(operation) || self.control(operation) || self.index(operation) {
            return;
        }
        if operation.regions.is_empty() {
            return self.plain(operation);
        }
        // What is inside is not followed.
        if self.tree.synchronises(operation) {
            return self.beyond(span, format!("`{}` around barriers", operation.name));
        }
        self.anything_written(span);
        self.opaque(operation);
    }

    /// An operation without regions.
    fn plain(&mut self, operation: &Operation<'s>) {
        let span = operation.span;
        if self.arithmetic(operation).is_some() {
            return;
        }
        match effect(operation.name) {
            Effect::Beyond => self.beyond(span, format!("`{}`, which is not known", operation.name)),
            Effect::Declares => {}
            Effect::Pure => self.pure(operation),
            Effect::Reads if operation.name == "memref.load" => self.load(operation),
            Effect::Reads => self.opaque(operation),
            Effect::Writes(at) => {
                match operation.values(self.source).get(at) {
                    Some(name) => {
                        let address = self.leaf(name, span);
                        let memory = Memory::Global;
                        self.emit(
                            span,
                            Action::Store { address: Some((address, 0)), memory, written: Written::Data },
                        );
                    }
                    None => self.anything_written(span),
                }
                self.opaque(operation);
            }
        }
    }

    pub(super) fn anything_written(&mut self, span: Span) {
        for memory in [Memory::Global, Memory::Shared] {
            self.emit(span, Action::Store { address: None, memory, written: Written::Data });
        }
    }

    /// What an operation is but for its operands, in words.
    fn spelling(&self, operation: &Operation<'s>) -> String {
        let mut text = operation.name.to_owned();
        for word in &operation.words {
            text.push(' ');
            let word = word.span.text(self.source);
            text.push_str(if word.starts_with('%') { "%" } else { word });
        }
        text
    }

    /// An operation that is not followed, but has equal results for equal operands.
    pub(super) fn pure(&mut self, operation: &Operation<'s>) {
        /// The most operands.
        const MOST: usize = 32;
        let arguments = self.leaves(operation);
        if arguments.len() > MOST {
            return self.opaque(operation);
        }
        let spelling = self.spelling(operation);
        for (at, to) in self.results(operation).into_iter().enumerate() {
            let name = self.name(&format!("%{spelling} {at}"));
            self.compute(operation.span, to, Function::Pure(name), &arguments);
        }
    }

    /// `memref.load %m[%i, %j]`: of memory that a group shares nothing is promised.
    fn load(&mut self, operation: &Operation<'s>) {
        let span = operation.span;
        let arguments = self.leaves(operation);
        let spelling = self.spelling(operation);
        let is_shared =
            spelling.contains(", 3 >") || spelling.contains("workgroup") || spelling.contains("slm");
        if is_shared || arguments.is_empty() {
            return self.opaque(operation);
        }
        let element = self.name("element");
        let address = self.intermediate(span, Function::Pure(element), &arguments);
        let ty: Argument = self.same(&format!("%{spelling}"));
        for to in self.results(operation) {
            self.compute(span, to, Function::Load(Memory::Global), &[address, ty]);
        }
    }

    /// The value that the single result of an operation gets.
    pub(super) fn put(&mut self, operation: &Operation<'s>, function: Function, arguments: &[Argument]) {
        let results = self.results(operation);
        if let [to] = results.as_slice() {
            self.compute(operation.span, *to, function, arguments);
        } else {
            self.opaque(operation);
        }
    }

    /// Names of values as what they stand for.
    pub(super) fn named(&mut self, names: &[&str], span: Span) -> Vec<Value> {
        names.iter().map(|name| self.value(name, span)).collect()
    }
}
