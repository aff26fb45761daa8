//! Names inside a block: the innermost declaration counts.

use std::collections::HashMap;

use barcheck_model::program::LocalId;

use crate::common::span::Span;

/// A local variable that is in scope.
#[derive(Clone, Copy, Debug)]
pub(in crate::bar) struct Binding {
    pub(super) local: LocalId,
    pub(super) declared: Span,
    /// Belongs to a `for`, which alone changes it.
    pub(super) loop_variable: bool,
}

/// The variables in scope. Finding, adding and dropping one takes constant time.
#[derive(Debug, Default)]
pub(in crate::bar) struct Scopes<'a> {
    /// The declarations of each name, the innermost last.
    bindings: HashMap<&'a str, Vec<Binding>>,
    /// The names that each open scope declared.
    open: Vec<Vec<&'a str>>,
}

impl<'a> Scopes<'a> {
    pub(super) fn enter(&mut self) {
        self.open.push(Vec::new());
    }

    pub(super) fn leave(&mut self) {
        for name in self.open.pop().into_iter().flatten() {
            if let Some(bindings) = self.bindings.get_mut(name) {
                bindings.pop();
            }
        }
    }

    pub(super) fn declare(&mut self, name: &'a str, binding: Binding) {
        self.bindings.entry(name).or_default().push(binding);
        if let Some(scope) = self.open.last_mut() {
            scope.push(name);
        }
    }

    pub(in crate::bar) fn find(&self, name: &str) -> Option<Binding> {
        self.bindings.get(name)?.last().copied()
    }

    /// The local that a name is, if it is one.
    pub(in crate::bar) fn local(&self, name: &str) -> Option<LocalId> {
        self.find(name).map(|binding| binding.local)
    }

    /// The names in scope, in alphabetical order.
    pub(super) fn names(&self) -> Vec<&'a str> {
        let in_scope = self.bindings.iter().filter(|(_, bindings)| !bindings.is_empty());
        let mut names: Vec<&str> = in_scope.map(|(name, _)| *name).collect();
        names.sort_unstable();
        names
    }
}
