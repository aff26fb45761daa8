//! Names in braces: registers and labels are known where they are declared, and in the braces inside.

use std::collections::{HashMap, HashSet};

use crate::common::span::Span;
use crate::ptx::error::PtxError;

/// The open braces of a function, and what has been declared in them.
#[derive(Debug, Default)]
pub(super) struct Scopes<'s> {
    /// The names of all registers, by their numbers, and how many bits each has.
    registers: Vec<(&'s str, u8)>,
    /// Numbers of indexed registers, which have no name of their own in the text.
    indexed: HashMap<(u32, &'s str), u32>,
    /// The open scopes, the innermost last.
    open: Vec<Scope<'s>>,
    /// All scopes ever opened: the one around each.
    around: Vec<u32>,
    /// Positions of labels, by scope and name.
    labels: HashMap<(u32, &'s str), u32>,
    /// Labels that stand twice in one pair of braces.
    twice: HashSet<(u32, &'s str)>,
    /// Uses of labels: the scope, the name, where.
    uses: Vec<(u32, &'s str, Span)>,
}

#[derive(Debug, Default)]
struct Scope<'s> {
    number: u32,
    names: HashMap<&'s str, u32>,
    /// `%r<40>` declares `%r0` to `%r39`: the prefix, how many, and their bits.
    ranges: HashMap<&'s str, (u32, u8)>,
}

impl<'s> Scopes<'s> {
    pub(super) fn enter(&mut self) {
        let number = self.around.len() as u32;
        self.around.push(self.open.last().map_or(number, |scope| scope.number));
        self.open.push(Scope { number, ..Scope::default() });
    }

    pub(super) fn leave(&mut self) {
        self.open.pop();
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    fn innermost(&mut self) -> &mut Scope<'s> {
        if self.open.is_empty() {
            self.enter();
        }
        let last = self.open.len() - 1;
        &mut self.open[last]
    }

    /// Declares a register of so many bits.
    pub(super) fn declare(&mut self, name: &'s str, bits: u8) -> u32 {
        let register = self.registers.len() as u32;
        self.registers.push((name, bits));
        self.innermost().names.insert(name, register);
        register
    }

    /// Declares the registers `prefix0` to `prefix(count - 1)`.
    pub(super) fn declare_range(&mut self, prefix: &'s str, count: u32, bits: u8) {
        self.innermost().ranges.insert(prefix, (count, bits));
    }

    /// The register that a name stands for, if it is one.
    pub(super) fn register(&mut self, name: &'s str) -> Option<u32> {
        let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits = &name[prefix.len()..];
        let index: Option<u32> =
            if digits.starts_with('0') && digits.len() > 1 { None } else { digits.parse().ok() };
        for scope in self.open.iter().rev() {
            if let Some(register) = scope.names.get(name) {
                return Some(*register);
            }
            let (count, bits) = scope.ranges.get(prefix).copied().unwrap_or((0, 0));
            if index.is_some_and(|index| index < count) {
                let next = self.registers.len() as u32;
                let register = *self.indexed.entry((scope.number, name)).or_insert(next);
                if register == next {
                    self.registers.push((name, bits));
                }
                return Some(register);
            }
        }
        None
    }

    pub(super) fn label(&mut self, name: &'s str, position: u32) {
        let scope = self.innermost().number;
        if self.labels.insert((scope, name), position).is_some() {
            self.twice.insert((scope, name));
        }
    }

    /// A use of a label: its number. Where it leads is known once the function has been read.
    pub(super) fn use_label(&mut self, name: &'s str, span: Span) -> u32 {
        let scope = self.innermost().number;
        self.uses.push((scope, name, span));
        self.uses.len() as u32 - 1
    }

    /// Where labels lead, by their numbers, and what is wrong with uses that lead nowhere, or to two places.
    pub(super) fn resolve(&self) -> (Vec<u32>, Vec<PtxError>) {
        let mut wrong = Vec::new();
        let named = |name: &str| name.chars().take(80).collect::<String>();
        let mut positions = Vec::with_capacity(self.uses.len());
        for (scope, name, span) in &self.uses {
            let mut scope = *scope;
            let found = loop {
                if let Some(position) = self.labels.get(&(scope, *name)) {
                    if self.twice.contains(&(scope, *name)) {
                        wrong.push(PtxError::LabelTwice(named(name), *span));
                    }
                    break Some(*position);
                }
                let around = self.around[scope as usize];
                if around == scope {
                    break None;
                }
                scope = around;
            };
            if found.is_none() {
                wrong.push(PtxError::NoLabel(named(name), *span));
            }
            positions.push(found.unwrap_or(0));
        }
        (positions, wrong)
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.registers.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    pub(super) fn bits(&self) -> Vec<u8> {
        self.registers.iter().map(|(_, bits)| *bits).collect()
    }
}
