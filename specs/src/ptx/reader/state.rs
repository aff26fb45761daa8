//! A reader on its way through the text.

use std::collections::HashMap;

use crate::common::diagnostic::Sink;
use crate::ptx::error::PtxError;
use crate::ptx::syntax::Module;

use super::lexer::{Lexer, Token};

/// A module that is being read.
pub(super) struct Reader<'s, 'e> {
    pub(super) lexer: Lexer<'s>,
    pub(super) errors: &'e mut Sink,
    pub(super) module: Module,
    /// Of lines, each with the number of its file, those where the functions that hold them were inlined,
    /// from outside: functions are inlined into functions that are.
    pub(super) outermost: HashMap<(u32, u32), (u32, u32)>,
}

impl<'s> Reader<'s, '_> {
    pub(super) fn report(&mut self, error: &PtxError) {
        self.errors.push(error.span(), || error.diagnostic());
    }

    pub(super) fn text(&self, token: Token) -> &'s str {
        self.lexer.text(token)
    }
}
