//! What SPIR-V's instructions lower to: split control barriers, their scopes and semantics.

use barcheck_model::program::{BinaryOp, Op, Scope, Semantics, SplitKind, SplitOp};

use super::MNEMONICS;
use crate::bar::ast::{Expr, ExprKind, Instruction, Operand};
use crate::bar::lower::{RoleLowerer, expr_of};
use crate::bar::meaning_error::MeaningError;
use crate::common::span::Span;
use crate::common::suggest::closest;

// clause: split_barrier.execution-scope, split_barrier.memory-scope
const SCOPES: [(&str, Scope); 4] = [
    ("Device", Scope::Device),
    ("Workgroup", Scope::Workgroup),
    ("Subgroup", Scope::Subgroup),
    ("Invocation", Scope::Invocation),
];

/// What a word of the semantics adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    /// `None`, which stands alone.
    None,
    /// An order: acquire, release. There is at most one.
    Order(bool, bool),
    /// A storage class: `shared` or `global` locations, or neither.
    Class(bool, bool),
}

const SEMANTICS: [(&str, Word); 11] = [
    // clause: split_barrier.semantics-none
    ("None", Word::None),
    ("Acquire", Word::Order(true, false)),
    ("Release", Word::Order(false, true)),
    ("AcquireRelease", Word::Order(true, true)),
    ("SequentiallyConsistent", Word::Order(true, true)),
    // clause: split_barrier.storage-classes
    ("UniformMemory", Word::Class(false, false)),
    ("SubgroupMemory", Word::Class(false, false)),
    ("WorkgroupMemory", Word::Class(true, false)),
    ("CrossWorkgroupMemory", Word::Class(false, true)),
    ("AtomicCounterMemory", Word::Class(false, false)),
    ("ImageMemory", Word::Class(false, false)),
];

/// The word that an expression is, an index word included: `Subgroup` is one.
fn word(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Index(index) => Some(index.text()),
        _ => None,
    }
}

fn find<T: Copy>(table: &[(&'static str, T)], word: &str) -> Option<T> {
    table.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, value)| *value)
}

impl<'a> RoleLowerer<'_, 'a> {
    pub(in crate::bar::system) fn split(&mut self, instruction: &'a Instruction) -> Option<Op> {
        let kind = MNEMONICS.operation(instruction.opcode);
        let (execution, memory, semantics) = match instruction.operands.as_slice() {
            [memory, semantics] if kind == SplitKind::MemoryBarrier => {
                // It executes in no scope; the model does not look at this one.
                (Some(Scope::Invocation), self.scope(memory), self.semantics(semantics))
            }
            [execution, memory, semantics] if kind != SplitKind::MemoryBarrier => {
                (self.scope(execution), self.scope(memory), self.semantics(semantics))
            }
            _ if kind == SplitKind::MemoryBarrier => {
                return self.wrong_count(instruction, &["Memory, Semantics"]);
            }
            _ => return self.wrong_count(instruction, &["Execution, Memory, Semantics"]),
        };
        let (execution, memory, semantics) = (execution?, memory?, semantics?);
        Some(Op::from(SplitOp { kind, execution, memory, semantics }))
    }

    fn scope(&mut self, operand: &Operand) -> Option<Scope> {
        let Some(text) = expr_of(operand).and_then(word) else {
            let help = "scopes are written by name: `Workgroup`";
            return self.wrong_operand(operand, "a scope", Some(help));
        };
        let found =
            find(&SCOPES, text).or_else(|| self.unknown_word("scope", text, &SCOPES, operand.span))?;
        // Who is in one subgroup is nothing to be taken for granted: it says who waits for whom.
        if found == Scope::Subgroup && !self.context.has_subgroup_size() {
            self.report(&MeaningError::NoSubgroupSize { span: operand.span });
            return None;
        }
        Some(found)
    }

    fn unknown_word<T, U>(
        &mut self,
        what: &'static str,
        word: &str,
        table: &[(&'static str, U)],
        span: Span,
    ) -> Option<T> {
        let known: Vec<String> = table.iter().map(|(known, _)| format!("`{known}`")).collect();
        let meant = closest(word, table.iter().map(|(known, _)| *known));
        let (word, known) = (word.to_owned(), known.join(", "));
        self.report(&MeaningError::UnknownWord { what, word, known, meant, span });
        None
    }

    /// `None`, or words joined by `|`.
    fn semantics(&mut self, operand: &Operand) -> Option<Semantics> {
        let Some(expr) = expr_of(operand) else {
            return self.wrong_operand(operand, "memory semantics", None);
        };
        let mut parts = Vec::new();
        flatten(expr, &mut parts);
        let mut semantics = Semantics::default();
        let mut order: Option<Span> = None;
        let alone = parts.len() == 1;
        for part in parts {
            let Some(text) = word(part) else {
                let help = "names joined by `|`: `AcquireRelease|WorkgroupMemory`, or `None`";
                return self.wrong_operand(operand, "memory semantics", Some(help));
            };
            let Some(found) = find(&SEMANTICS, text) else {
                return self.unknown_word("memory semantics", text, &SEMANTICS, part.span);
            };
            match found {
                Word::None if alone => {}
                Word::None => {
                    let help = Some("`None` stands alone".to_owned());
                    let expected = "memory semantics other than `None`".to_owned();
                    self.report(&MeaningError::Operand { expected, span: part.span, help });
                    return None;
                }
                Word::Order(acquire, release) => {
                    if let Some(first) = order.replace(part.span) {
                        let what = "a memory order".to_owned();
                        self.report(&MeaningError::Twice { what, span: part.span, first });
                        return None;
                    }
                    (semantics.acquire, semantics.release) = (acquire, release);
                }
                Word::Class(shared, global) => {
                    semantics.classes.shared |= shared;
                    semantics.classes.global |= global;
                }
            }
        }
        Some(semantics)
    }
}

/// The operands of a chain of `|`, in order.
fn flatten<'e>(expr: &'e Expr, parts: &mut Vec<&'e Expr>) {
    if let ExprKind::Binary(BinaryOp::Or, left, right) = &expr.kind {
        flatten(left, parts);
        flatten(right, parts);
    } else {
        parts.push(expr);
    }
}
