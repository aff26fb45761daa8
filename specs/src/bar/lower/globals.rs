//! Declarations outside the blocks: sizes, constants and memory.

use std::collections::BTreeMap;

use barcheck_model::barrier::{mbarrier, registers};
use barcheck_model::program::{
    Array, ArrayId, Expr, LocationId, NoResult, Objects, ObjectsId, Space, WARP_SIZE,
};

use super::context::{Context, Global, GlobalKind, Globals};
use super::expressions::{Resolve, lower_expr};
use crate::bar::ast::{self, IndexWord, Item, Name};
use crate::bar::meaning_error::{MeaningError, NameKind};
use crate::bar::notation::Notation;
use crate::bar::words;
use crate::common::limits;
use crate::common::span::Span;

/// The size of the group, checked.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub(super) size: u32,
    pub(super) subgroup_size: u32,
    /// CTAs of the cluster.
    pub(super) ctas: u32,
    /// Registers of each thread in the beginning.
    pub(super) registers: u32,
    /// Where the size is declared.
    pub(super) span: Span,
    /// Where the CTAs are declared, or else the size.
    pub(super) cluster: Span,
}

/// Resolves names where only constants may stand.
struct Constants<'c, 'a> {
    context: &'c mut Context<'a>,
    /// Depth of operands that the operators before them leave unevaluated.
    skipped: u32,
}

impl<'e> Resolve<'e> for Constants<'_, '_> {
    fn name(&mut self, name: &'e str, span: Span) -> Option<Expr> {
        self.context.constant_name(name, span).map(Expr::Int)
    }

    fn index(&mut self, word: IndexWord, span: Span) -> Option<Expr> {
        self.context.report(&MeaningError::NotConstant { word, span });
        None
    }

    fn fails(&mut self, reason: NoResult, span: Span) -> bool {
        if self.skipped == 0 {
            self.context.report(&MeaningError::ConstantFails { reason, span });
        }
        self.skipped == 0
    }

    fn skip(&mut self, enter: bool) {
        if enter {
            self.skipped += 1;
        } else {
            self.skipped -= 1;
        }
    }
}

impl<'a> Context<'a> {
    /// The value of a constant expression; errors are reported.
    pub(super) fn constant(&mut self, expr: &ast::Expr) -> Option<i64> {
        let mut constants = Constants { context: self, skipped: 0 };
        match lower_expr(&mut constants, expr)? {
            Expr::Int(value) => Some(value),
            // All leaves are numbers and every operator has a result or was reported.
            _ => None,
        }
    }

    fn constant_name(&mut self, name: &str, span: Span) -> Option<i64> {
        match self.globals.names.get(name).copied() {
            Some(global) => self.global_value(name, global, span),
            None => {
                let suggestion = self.suggest(name, || {
                    let names = self.globals.names.iter();
                    let constants = names.filter(|(_, g)| matches!(g.kind, GlobalKind::Constant(_)));
                    let mut names: Vec<&str> = constants.map(|(name, _)| *name).collect();
                    names.sort_unstable();
                    names
                });
                let (name, kind) = (name.to_owned(), NameKind::Value);
                self.report(&MeaningError::UnknownName { name, kind, suggestion, target: self.target, span });
                None
            }
        }
    }

    /// The value of a global name used at `span`.
    pub(super) fn global_value(&mut self, name: &str, global: Global, span: Span) -> Option<i64> {
        self.globals.uses(name);
        let (name, declared) = (name.to_owned(), global.declared);
        match global.kind {
            GlobalKind::Constant(value) if declared.start < span.start => value,
            GlobalKind::Constant(_) => {
                self.report(&MeaningError::DeclaredLater { name, span, declared });
                None
            }
            GlobalKind::Block(_) => {
                self.report(&MeaningError::BlockAsValue { name, span, declared });
                None
            }
            GlobalKind::Objects(_) => {
                self.report(&MeaningError::ObjectAsValue { name, span, declared });
                None
            }
            GlobalKind::Memory(_) => {
                self.report(&MeaningError::LocationAsValue { name, span, declared });
                None
            }
        }
    }

    /// Notes what `item` declares.
    pub(super) fn declare(&mut self, item: &'a Item, defines: &BTreeMap<String, i64>) {
        match item {
            Item::Size { keyword, value } => self.once(*keyword, value, |globals| &mut globals.size),
            Item::SubgroupSize { keyword, value } => {
                self.once(*keyword, value, |globals| &mut globals.subgroup_size);
            }
            Item::Cluster { keyword, value } => self.once(*keyword, value, |globals| &mut globals.cluster),
            Item::Registers { keyword, value } => {
                self.once(*keyword, value, |globals| &mut globals.registers);
            }
            Item::RepeatedArrivals { span } => match self.globals.repeats_count {
                Some(first) => {
                    let word = words::REPEATED.to_owned();
                    self.report(&MeaningError::DuplicateSize { word, span: *span, first });
                }
                None => self.globals.repeats_count = Some(*span),
            },
            Item::Constant { param, name, value } => {
                let mut value = self.constant(value);
                if *param {
                    self.globals.params.insert(name.text.to_string());
                    value = defines.get(&*name.text).copied().or(value);
                }
                self.declare_name(name, GlobalKind::Constant(value));
            }
            Item::Memory { space, arrays } => {
                for (name, length) in arrays {
                    self.declare_array(*space, name, length.as_ref());
                }
            }
            Item::Objects(objects) => objects.iter().for_each(|object| self.declare_objects(object)),
            Item::Allow(allow) => self.allow(allow),
            Item::Block(shared) => {
                let id = self.globals.blocks.len();
                self.globals.blocks.push(shared);
                self.declare_name(&shared.name, GlobalKind::Block(id));
            }
            Item::Role(_) => {}
        }
    }

    fn declare_name(&mut self, name: &'a Name, kind: GlobalKind) {
        let (text, span) = (name.text.to_string(), name.span);
        if self.notation.register(&name.text).is_some() {
            self.report(&MeaningError::RegisterName { name: text, span });
            return;
        }
        if let Some(first) = self.globals.names.get(&*name.text) {
            let first = first.declared;
            self.report(&MeaningError::DuplicateName { name: text, span, first });
            return;
        }
        self.globals.names.insert(&name.text, Global { kind, declared: span, used: false });
    }

    fn declare_array(&mut self, space: Space, name: &'a Name, length: Option<&ast::Expr>) {
        let checked = length.map(|length| self.length(name, length, limits::LOCATIONS));
        let before = self.globals.locations;
        self.globals.locations += i64::from(checked.unwrap_or(1));
        let total = self.globals.locations;
        if total > limits::LOCATIONS {
            if before <= limits::LOCATIONS {
                self.report(&MeaningError::TooManyLocations { total, span: name.span });
            }
            return;
        }
        let id = ArrayId::from_index(self.globals.arrays.len());
        let first = LocationId(u32::try_from(before).unwrap_or(u32::MAX));
        let text = name.text.to_string();
        self.globals.arrays.push(Array { name: text, space, first, length: checked });
        self.declare_name(name, GlobalKind::Memory(id));
    }

    /// The number of elements of an array. After an error the array still exists, so that its uses are not
    /// reported as well.
    fn length(&mut self, name: &Name, length: &ast::Expr, most: i64) -> u32 {
        let value = self.constant(length);
        let known = value.filter(|value| (1..=most).contains(value));
        if let (Some(value), None) = (value, known) {
            let (name, span) = (name.text.to_string(), length.span);
            self.report(&MeaningError::ArrayLength { name, value, most, span });
        }
        known.and_then(|length| u32::try_from(length).ok()).unwrap_or(1)
    }

    fn declare_objects(&mut self, ast::Object { name, length, count }: &'a ast::Object) {
        let length = length.as_ref().map(|length| self.length(name, length, limits::OBJECTS));
        let count = count.as_ref().and_then(|count| {
            let value = self.constant(count)?;
            let checked = mbarrier::check_count(value).ok();
            if checked.is_none() {
                let (name, span) = (name.text.to_string(), count.span);
                self.report(&MeaningError::ObjectCount { name, value, span });
            }
            checked
        });
        let last = self.globals.objects.last();
        let first = last.map_or(0, |last| last.first + last.length.unwrap_or(1));
        let total = i64::from(first) + i64::from(length.unwrap_or(1));
        if total > limits::OBJECTS {
            self.report(&MeaningError::TooManyObjects { total, span: name.span });
            return;
        }
        let id = ObjectsId::from_index(self.globals.objects.len());
        let text = name.text.to_string();
        self.globals.objects.push(Objects { name: text, first, length, count, lives: None });
        self.declare_name(name, GlobalKind::Objects(id));
    }

    /// Notes a number that is said once, by a keyword.
    fn once(
        &mut self,
        keyword: Span,
        value: &'a ast::Expr,
        slot: impl for<'g> Fn(&'g mut Globals<'a>) -> &'g mut Option<(Option<i64>, Span)>,
    ) {
        let span = keyword.to(value.span);
        let value = self.constant(value);
        let first = slot(&mut self.globals).as_ref().map(|(_, first)| *first);
        match first {
            Some(first) => {
                let word = keyword.text(self.source).to_owned();
                self.report(&MeaningError::DuplicateSize { word, span, first });
            }
            None => *slot(&mut self.globals) = Some((value, span)),
        }
    }

    /// The size of the group, or `None` after an error. `target_span` is where the target is named.
    pub(super) fn group(&mut self, target_span: Span) -> Option<Group> {
        let Some((value, span)) = self.globals.size else {
            self.report(&MeaningError::NoSize { target: self.target, span: target_span });
            return None;
        };
        let Notation { size: word, unit, largest, subgroups, .. } = self.notation;
        let size = self.in_range(word, unit, (value?, span), *largest)?;
        let subgroup_size = match self.globals.subgroup_size {
            None if *subgroups => size,
            None => 1,
            Some((value, span)) => self.in_range("subgroup_size", unit, (value?, span), i64::from(size))?,
        };
        let ctas = match self.globals.cluster {
            None => 1,
            Some((value, span)) => self.in_range("cluster", "CTAs", (value?, span), limits::CLUSTER_CTAS)?,
        };
        self.in_all_ctas(i64::from(ctas))?;
        let registers = match self.globals.registers {
            None if self.notation.cluster => most_registers(size),
            None => 0,
            Some((value, span)) => {
                let most = i64::from(most_registers(size));
                self.in_range("maxnreg", "registers", (value?, span), most)?
            }
        };
        let cluster = self.globals.cluster.map_or(span, |(_, span)| span);
        Some(Group { size, subgroup_size, ctas, registers, span, cluster })
    }

    /// Checks that there are not too many locations and objects in all CTAs together; those of one CTA have
    /// been checked.
    fn in_all_ctas(&mut self, ctas: i64) -> Option<()> {
        let Some((_, span)) = self.globals.cluster else { return Some(()) };
        let locations = self.globals.locations;
        if locations <= limits::LOCATIONS && locations * ctas > limits::LOCATIONS {
            self.report(&MeaningError::TooManyLocations { total: locations * ctas, span });
            return None;
        }
        let objects = self.globals.objects.last().map_or(0, |last| last.first + last.length.unwrap_or(1));
        let total = i64::from(objects) * ctas;
        if total > limits::OBJECTS {
            self.report(&MeaningError::TooManyObjects { total, span });
            return None;
        }
        Some(())
    }

    fn in_range(
        &mut self,
        word: &'static str,
        unit: &'static str,
        (value, span): (i64, Span),
        most: i64,
    ) -> Option<u32> {
        if value < 1 || value > most {
            self.report(&MeaningError::SizeRange { word, unit, value, most, span });
            return None;
        }
        u32::try_from(value).ok()
    }
}

/// Registers of each thread, at most, if as many threads as that share the register file: in steps of 8.
// clause: ptx.registers-file
fn most_registers(threads: u32) -> u32 {
    let warps = threads.div_ceil(WARP_SIZE).max(1);
    (registers::FILE / warps / 8 * 8).min(256)
}
