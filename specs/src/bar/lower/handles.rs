//! Handles: variables of a whole block, whose declaration is that an instruction's result is assigned to
//! them.

use barcheck_model::program::LocalKind;

use super::role::RoleLowerer;
use crate::bar::ast::{Block, Else, Statement, StatementKind};

impl<'a> RoleLowerer<'_, 'a> {
    /// Makes a variable of every handle that the block assigns anywhere.
    pub(super) fn collect_handles(&mut self, block: &'a Block) {
        for statement in &block.statements {
            self.collect_in(statement);
        }
    }

    fn collect_in(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Instruction(_, instruction) => {
                if let Some(handle) = &instruction.result {
                    self.slot(&handle.text, LocalKind::Handle);
                }
            }
            StatementKind::For { body, .. } | StatementKind::Loop(body) | StatementKind::While(_, body) => {
                self.collect_handles(body);
            }
            StatementKind::If { then, otherwise, .. } => {
                self.collect_handles(then);
                match otherwise {
                    Some(Else::Block(block)) => self.collect_handles(block),
                    Some(Else::If(nested)) => self.collect_in(nested),
                    None => {}
                }
            }
            StatementKind::Use(name, _) => {
                if let Some(block) = self.context.globals.block(&name.text)
                    && self.seen.insert(&*block.name.text)
                {
                    self.collect_handles(&block.block);
                }
            }
            _ => {}
        }
    }
}
