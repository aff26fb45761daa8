//! A block: its names, its statements, its code.

use std::collections::{HashMap, HashSet};

use barcheck_model::program::{ConstructId, Expr, LocalId, LocalKind, NoResult, Op, Pc, Role};

use super::code::{Builder, Source};
use super::context::{Context, GlobalKind};
use super::expressions::{Resolve, lower_expr};
use super::lints::Declared;
use super::scopes::{Binding, Scopes};
use crate::bar::ast::{self, IndexWord, Name};
use crate::bar::meaning_error::{MeaningError, NameKind};
use crate::bar::notation::Register;
use crate::common::span::Span;

/// Lowers a block. After an error, which was reported, its code is incomplete.
pub(super) fn lower<'a>(context: &mut Context<'a>, role: &'a ast::Role) -> Role {
    let place = context.lines.place(role.head);
    context.fences.begin_block();
    let mut lowerer = RoleLowerer {
        context,
        builder: Builder::default(),
        scopes: Scopes::default(),
        loops: Vec::new(),
        slots: HashMap::new(),
        result: None,
        several: Vec::new(),
        lets: Vec::new(),
        read: HashSet::new(),
        assigning: None,
        depth: 0,
        seen: HashSet::new(),
        uses: Vec::new(),
    };
    lowerer.collect_handles(&role.block);
    lowerer.block(&role.block);
    let close = lowerer.source(role.block.close);
    lowerer.builder.emit(Op::Exit, &close);
    let unread = lowerer.lets.iter().filter(|(local, _)| !lowerer.read.contains(local));
    for (_, name) in unread {
        lowerer.context.lints.unused(*name, Declared::Variable);
    }
    let mut code = lowerer.builder.code;
    code.empty = role.block.statements.is_empty();
    Role { name: role.name.as_ref().map(|name| name.text.to_string()), code, place }
}

pub(in crate::bar) struct RoleLowerer<'c, 'a> {
    pub(in crate::bar) context: &'c mut Context<'a>,
    pub(super) builder: Builder,
    pub(in crate::bar) scopes: Scopes<'a>,
    /// The open loops, the innermost last.
    pub(super) loops: Vec<Loop>,
    /// Registers and handles, which belong to the whole block, by name.
    pub(in crate::bar) slots: HashMap<&'a str, LocalId>,
    /// The local that gets what the instruction at hand yields.
    pub(in crate::bar) result: Option<LocalId>,
    /// What the instruction at hand stands for besides, each under a condition.
    pub(in crate::bar) several: Vec<(Expr, Op)>,
    /// The variables declared with `let`.
    pub(super) lets: Vec<(LocalId, (&'a str, Span))>,
    /// Variables whose value is used for something else than to count themselves.
    pub(in crate::bar) read: HashSet<LocalId>,
    /// The variable that the value now read is for.
    pub(super) assigning: Option<LocalId>,
    /// Shared blocks whose handles are known.
    pub(super) seen: HashSet<&'a str>,
    /// Statements around the one at hand.
    pub(super) depth: u32,
    /// The uses of shared blocks inside one another, the innermost last.
    pub(super) uses: Vec<Use<'a>>,
}

/// A use of a shared block that is being lowered.
pub(in crate::bar) struct Use<'a> {
    /// The block's name.
    pub(super) block: &'a str,
    /// Parameters that stand for a location or an object, with its name.
    pub(super) stands_for: HashMap<&'a str, &'a str>,
}

/// An open loop.
pub(super) struct Loop {
    pub(super) construct: ConstructId,
    /// Its `continue`s, whose target is known when its body ends.
    pub(super) continues: Vec<Pc>,
}

impl<'a> RoleLowerer<'_, 'a> {
    pub(in crate::bar) fn report(&mut self, error: &MeaningError) {
        self.context.report(error);
    }

    /// Place and text of `span`.
    pub(super) fn source(&self, span: Span) -> Source {
        let place = self.context.lines.place(span);
        Source { place, text: folded(span.text(self.context.source)) }
    }

    /// An expression that agents evaluate; errors are reported.
    pub(super) fn expr(&mut self, expr: &'a ast::Expr) -> Option<Expr> {
        lower_expr(self, expr)
    }

    /// Declares a variable in the innermost scope.
    pub(super) fn declare(&mut self, name: &'a Name, loop_variable: bool) -> Option<LocalId> {
        let text = &*name.text;
        let span = name.span;
        if self.context.notation.register(text).is_some() {
            self.report(&MeaningError::RegisterName { name: text.to_owned(), span });
            return None;
        }
        if text == "_" {
            let expected = "a name other than `_`".to_owned();
            let help = Some("`_` is the result that nobody keeps, of `bar.red` alone".to_owned());
            self.report(&MeaningError::Operand { expected, span, help });
            return None;
        }
        let local = self.builder.local(text, LocalKind::Integer);
        self.scopes.declare(text, Binding { local, declared: span, loop_variable });
        Some(local)
    }

    /// The register or handle `name`, which is added if it is new.
    pub(in crate::bar) fn slot(&mut self, name: &'a str, kind: LocalKind) -> LocalId {
        if let Some(local) = self.slots.get(name) {
            return *local;
        }
        let local = self.builder.local(name, kind);
        self.slots.insert(name, local);
        local
    }

    /// The variable that an assignment to `name` changes: a local or a register. What is assigned to a
    /// register that always has one value is lost.
    pub(in crate::bar) fn assigned(&mut self, name: &'a str, span: Span) -> Option<LocalId> {
        if let Some(register) = self.context.notation.register(name) {
            return Some(match register {
                Register::Variable(kind) => self.slot(name, kind),
                Register::Constant { sink, .. } => self.slot(sink, LocalKind::Integer),
            });
        }
        let owned = || name.to_owned();
        if let Some(binding) = self.scopes.find(name) {
            if !binding.loop_variable {
                return Some(binding.local);
            }
            let (what, declared) = ("the loop variable", Some(binding.declared));
            self.report(&MeaningError::NotAssignable { name: owned(), what, span, declared });
            return None;
        }
        if let Some(global) = self.context.globals.names.get(name) {
            let what = match global.kind {
                GlobalKind::Constant(_) => "the constant",
                GlobalKind::Memory(_) => "the location",
                GlobalKind::Objects(_) => "the object",
                GlobalKind::Block(_) => "the block",
            };
            let declared = Some(global.declared);
            self.report(&MeaningError::NotAssignable { name: owned(), what, span, declared });
            return None;
        }
        if self.unknown_register(name, span) {
            return None;
        }
        let suggestion = self.context.suggest(name, || self.scopes.names());
        let kind = NameKind::Assigned;
        self.report(&MeaningError::UnknownName {
            name: owned(),
            kind,
            suggestion,
            target: self.context.target,
            span,
        });
        None
    }

    /// The value of a name.
    pub(super) fn value_of(&mut self, name: &'a str, span: Span) -> Option<Expr> {
        if let Some(binding) = self.scopes.find(name) {
            if self.assigning != Some(binding.local) {
                self.read.insert(binding.local);
            }
            return Some(Expr::Local(binding.local));
        }
        if let Some(register) = self.context.notation.register(name) {
            return Some(match register {
                Register::Variable(kind) => Expr::Local(self.slot(name, kind)),
                Register::Constant { value, .. } => Expr::Int(value),
            });
        }
        let name = self.meant(name);
        if let Some(global) = self.context.globals.names.get(name).copied() {
            return self.context.global_value(name, global, span).map(Expr::Int);
        }
        if self.unknown_register(name, span) {
            return None;
        }
        let suggestion = self.context.suggest(name, || {
            let mut candidates = self.scopes.names();
            let mut globals: Vec<&str> = self.context.globals.names.keys().copied().collect();
            globals.sort_unstable();
            candidates.extend(globals);
            candidates.push(self.context.target.agent_noun());
            candidates
        });
        let (name, kind) = (name.to_owned(), NameKind::Value);
        self.report(&MeaningError::UnknownName { name, kind, suggestion, target: self.context.target, span });
        None
    }

    /// Reports an unknown name that looks like a register's; false for other names.
    fn unknown_register(&mut self, name: &str, span: Span) -> bool {
        let registers = self.context.notation.registers.as_ref();
        let Some(registers) = registers.filter(|registers| (registers.looks_like_one)(name)) else {
            return false;
        };
        let (name, known) = (name.to_owned(), registers.known);
        self.report(&MeaningError::UnknownRegister { name, known, span });
        true
    }
}

impl<'a> Resolve<'a> for RoleLowerer<'_, 'a> {
    fn name(&mut self, name: &'a str, span: Span) -> Option<Expr> {
        self.value_of(name, span)
    }

    fn index(&mut self, word: IndexWord, span: Span) -> Option<Expr> {
        let target = self.context.target;
        match word {
            IndexWord::LANE if target.has_lanes() => Some(Expr::Lane),
            IndexWord::ELECT if target.has_lanes() => Some(Expr::Elect),
            IndexWord::CTA if self.context.notation.cluster => Some(Expr::Cta),
            _ if word.text() == target.agent_noun() => Some(Expr::Agent),
            _ => {
                self.report(&MeaningError::OtherTargetsIndex { word, target, span });
                None
            }
        }
    }

    fn fails(&mut self, _reason: NoResult, _span: Span) -> bool {
        false
    }

    fn skip(&mut self, _enter: bool) {}
}

/// `text` without comments, and with every stretch of white space as one space.
fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if rest.starts_with("//") {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
        } else if rest.starts_with("/*") {
            rest = rest.find("*/").map_or("", |end| &rest[end + 2..]);
            push_space(&mut folded);
        } else {
            rest = &rest[first.len_utf8()..];
            if first.is_whitespace() {
                push_space(&mut folded);
            } else {
                folded.push(first);
            }
        }
    }
    folded.truncate(folded.trim_end().len());
    folded
}

fn push_space(text: &mut String) {
    if !text.ends_with(' ') && !text.is_empty() {
        text.push(' ');
    }
}
