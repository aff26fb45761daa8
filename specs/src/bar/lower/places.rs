//! Names of memory and of mbarrier objects, with an index where they are arrays.

use barcheck_model::program::{ArrayId, BinaryOp, Expr, ObjectsId, Space};

use super::context::{Global, GlobalKind};
use super::role::RoleLowerer;
use crate::bar::ast::{self, ExprKind, Operand, OperandKind};
use crate::bar::meaning_error::{MeaningError, NameKind};
use crate::common::lint::Lint;
use crate::common::span::Span;
use crate::common::suggest::closest;

/// A name as it is used, with an index or without.
#[derive(Clone, Copy)]
pub(super) struct Used<'a> {
    pub(super) name: &'a str,
    pub(super) span: Span,
    pub(super) index: Option<&'a ast::Expr>,
}

impl<'a> RoleLowerer<'_, 'a> {
    /// The memory location that an operand names.
    pub(in crate::bar) fn place(&mut self, operand: &'a Operand) -> Option<(ArrayId, Option<Expr>)> {
        match used(operand) {
            Some(used) => self.location(used),
            None => self.wrong_operand(operand, "a location, `buf[0]`, or `_`", None),
        }
    }

    /// Where an array lives.
    pub(in crate::bar) fn space_of(&self, array: ArrayId) -> Space {
        self.context.globals.arrays[array.index()].space
    }

    /// The mbarrier object that an operand names.
    pub(in crate::bar) fn object(&mut self, operand: &'a Operand) -> Option<(ObjectsId, Option<Expr>)> {
        let Some(used) = used(operand) else {
            let is_offset = matches!(&operand.kind, OperandKind::Expr(expr)
                if matches!(expr.kind, ExprKind::Binary(BinaryOp::Add, ..)));
            let help = if is_offset {
                "objects are numbered, and have no addresses: `full[1]` for `[full+8]`"
            } else {
                "declare it before the blocks: `mbarrier full[4] count 1;`"
            };
            return self.wrong_operand(operand, "an mbarrier object, `full[0]`", Some(help));
        };
        let kind = NameKind::Object;
        let found = self.declared(used, kind, |kind| match kind {
            GlobalKind::Objects(id) => Some(id),
            _ => None,
        });
        let lowered = used.index.map(|index| self.expr(index));
        let (id, declared) = found?;
        let length = self.context.globals.objects[id.index()].length;
        let index = self.index(used, lowered, (length, declared))?;
        Some((id, index))
    }

    /// The memory location that a name is.
    pub(super) fn location(&mut self, used: Used<'a>) -> Option<(ArrayId, Option<Expr>)> {
        let lowered = used.index.map(|index| self.expr(index));
        let found = self.declared(used, NameKind::Location, |kind| match kind {
            GlobalKind::Memory(id) => Some(id),
            _ => None,
        });
        let (id, declared) = found?;
        let length = self.context.globals.arrays[id.index()].length;
        let index = self.index(used, lowered, (length, declared))?;
        Some((id, index))
    }

    /// The index, if there is one exactly where there has to be; a constant outside is warned of.
    fn index(
        &mut self,
        Used { name, span, index }: Used<'a>,
        lowered: Option<Option<Expr>>,
        (length, declared): (Option<u32>, Span),
    ) -> Option<Option<Expr>> {
        if length.is_some() != index.is_some() {
            self.report(&MeaningError::Indexing { name: name.to_owned(), length, span, declared });
            return None;
        }
        let lowered = match lowered {
            Some(lowered) => Some(lowered?),
            None => None,
        };
        if let (Some(Expr::Int(value)), Some(length), Some(index)) = (&lowered, length, index)
            && !(0..i64::from(length)).contains(value)
        {
            let message = format!("index {value} is outside `{name}`");
            let diagnostic = Lint::IndexOutside
                .says(message, index.span)
                .also(declared, format!("{length} elements, 0 to {}", length - 1));
            let subject = format!("{name}[{value}]");
            self.context.lints.push(Lint::IndexOutside, &subject, diagnostic);
        }
        Some(lowered)
    }

    /// What a name was declared as, if that is what it is `wanted` as, and where.
    fn declared<T>(
        &mut self,
        used: Used<'a>,
        kind: NameKind,
        wanted: impl Fn(GlobalKind) -> Option<T>,
    ) -> Option<(T, Span)> {
        let used = Used { name: self.meant(used.name), ..used };
        let (text, span) = (used.name.to_owned(), used.span);
        let global = self.context.globals.names.get(used.name).copied();
        if let Some(Global { kind, declared, .. }) = global
            && let Some(id) = wanted(kind)
        {
            self.context.globals.uses(used.name);
            if declared.start > span.start {
                self.report(&MeaningError::DeclaredLater { name: text, span, declared });
                return None;
            }
            return Some((id, declared));
        }
        let globals = &self.context.globals;
        let names = globals.names.iter().filter(|(_, global)| wanted(global.kind).is_some());
        let mut names: Vec<&str> = names.map(|(name, _)| *name).collect();
        names.sort_unstable();
        let suggestion = closest(used.name, names).map(str::to_owned);
        let target = self.context.target;
        self.report(&MeaningError::UnknownName { name: text, kind, suggestion, target, span });
        None
    }
}

/// The name that an operand is, with its index.
fn used(operand: &Operand) -> Option<Used<'_>> {
    match &operand.kind {
        OperandKind::Element(name, index) => {
            Some(Used { name: &name.text, span: name.span, index: Some(index) })
        }
        OperandKind::Expr(ast::Expr { kind: ExprKind::Name(name), span }) => {
            Some(Used { name, span: *span, index: None })
        }
        _ => None,
    }
}
