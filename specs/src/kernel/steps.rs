//! Steps on mbarrier objects as statements.

use super::code::ObjectKind;
use super::residual::Residual;
use super::structure::Stop;
use super::tree::{Condition, Decided, Statement, Statements};
use super::value::ValueId;
use crate::common::span::Span;

impl Residual<'_> {
    pub(super) fn object_step(
        &mut self,
        node: usize,
        at: usize,
        kind: ObjectKind,
        statements: &mut Statements,
    ) -> Result<(), Stop> {
        let span = self.code.instructions[at].span;
        let Some((_, amount)) = self.evaluation.barriers.get(&at).copied() else { return Ok(()) };
        let each = self.evaluation.objects.get(&at).map(|object| object.each.clone()).unwrap_or_default();
        if each.is_empty() {
            let object = self.object(node, at, span)?;
            statements.push(self.object_statement(node, (object, amount), span, kind)?);
        }
        for (lanes, name, index) in each {
            let object = index.map_or_else(|| name.clone(), |index| format!("{name}[{index}]"));
            let then = vec![self.object_statement(node, (object, amount), span, kind)?];
            let text = match lanes.count_ones() {
                1 => format!("lane == {}", lanes.trailing_zeros()),
                _ => format!("({lanes} >> lane) & 1"),
            };
            let decided = Decided { is_private: true, ..Decided::default() };
            let condition = Condition::Value { text, compares: None, decided };
            statements.push(Statement::If { condition, then, otherwise: Vec::new(), span });
        }
        Ok(())
    }

    fn object_statement(
        &mut self,
        node: usize,
        (object, amount): (String, Option<ValueId>),
        span: Span,
        kind: ObjectKind,
    ) -> Result<Statement, Stop> {
        let announces = matches!(kind, ObjectKind::ExpectTx | ObjectKind::ArriveExpectTx { .. });
        let amount = match amount.map(|amount| self.object_amount(node, amount, span, kind)).transpose() {
            // It may come out which copies fill it.
            Err(_) if announces => None,
            amount => amount?,
        };
        let number = amount.as_ref().and_then(|amount| amount.parse::<i64>().ok());
        let arrives = match kind {
            ObjectKind::ArriveExpectTx { relaxed } => Some(relaxed),
            _ => None,
        };
        Ok(match (kind, number) {
            _ if announces && (number.is_some() || amount.is_none()) => {
                Statement::Announce { object, bytes: number, arrives, span }
            }
            (ObjectKind::Copy, _) if amount.is_none() || number.is_some() => {
                Statement::Copy { object, bytes: number, span }
            }
            // Its operands stand in another order.
            (ObjectKind::Copy, _) => {
                let amount = amount.unwrap_or_default();
                Statement::Barrier { text: format!("cp.async.bulk _, {amount}, {object}"), span }
            }
            _ => {
                let amount = amount.map(|amount| format!(", {amount}")).unwrap_or_default();
                Statement::Barrier { text: format!("{} {object}{amount}", word(kind)), span }
            }
        })
    }

    /// The object as programs write it.
    fn object(&mut self, node: usize, at: usize, span: Span) -> Result<String, Stop> {
        let Some(object) = self.evaluation.objects.get(&at).cloned() else { return Ok(String::new()) };
        let Some((index, size, number)) = object.index else { return Ok(object.name) };
        let text = self.operand(node, index, span, "mbarrier object")?;
        let text = if size == 1 { text } else { format!("({text}) / {size}") };
        let index = match (text.as_str(), number) {
            ("0", number) => number.to_string(),
            (text, 0) => text.to_owned(),
            (text, number) if is_word(text) => format!("{text} + {number}"),
            (text, number) => format!("({text}) + {number}"),
        };
        Ok(format!("{}[{index}]", object.name))
    }

    fn object_amount(
        &mut self,
        node: usize,
        amount: ValueId,
        span: Span,
        kind: ObjectKind,
    ) -> Result<String, Stop> {
        let what = match kind {
            ObjectKind::Wait => "parity",
            ObjectKind::Init | ObjectKind::Arrive { .. } | ObjectKind::ArriveDrop { .. } => "count",
            _ => "number of bytes",
        };
        self.operand(node, amount, span, what)
    }
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The instruction of the protocol language.
fn word(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Init => "mbarrier.init",
        ObjectKind::Inval => "mbarrier.inval",
        ObjectKind::Arrive { relaxed: false } => "mbarrier.arrive",
        ObjectKind::Arrive { relaxed: true } => "mbarrier.arrive.relaxed",
        ObjectKind::ArriveDrop { relaxed: false } => "mbarrier.arrive_drop",
        ObjectKind::ArriveDrop { relaxed: true } => "mbarrier.arrive_drop.relaxed",
        ObjectKind::ArriveExpectTx { relaxed: false } => "mbarrier.arrive.expect_tx",
        ObjectKind::ArriveExpectTx { relaxed: true } => "mbarrier.arrive.expect_tx.relaxed",
        ObjectKind::ExpectTx => "mbarrier.expect_tx",
        ObjectKind::CompleteTx => "mbarrier.complete_tx",
        ObjectKind::Wait => "mbarrier.wait.parity",
        ObjectKind::Copy => "cp.async.bulk",
        ObjectKind::Commit => "tcgen05.commit",
        ObjectKind::CopiesArrive => "cp.async.mbarrier.arrive.noinc",
    }
}
