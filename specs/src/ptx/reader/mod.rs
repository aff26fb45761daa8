//! The text of a module becomes a syntax tree: linear in its length, without recursion.

mod constants;
mod items;
mod lexer;
mod number;
mod operands;
mod scopes;
mod state;
mod statements;

use std::collections::HashMap;

use crate::common::diagnostic::Sink;

use super::syntax::Module;
use lexer::Lexer;
use state::Reader;

/// Reads a module. What could be read is in it; it is complete if no error was added.
pub(super) fn read(source: &str, errors: &mut Sink) -> Module {
    let mut reader =
        Reader { lexer: Lexer::new(source), errors, module: Module::default(), outermost: HashMap::new() };
    if reader.begins() {
        while reader.item() {}
    }
    reader.module
}
