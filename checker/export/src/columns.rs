//! Numbers that every exported model is made of.

use barcheck_model::barrier::BarrierId;
use barcheck_model::program::AccessKind;
use barcheck_model::rule::Rule;
use std::collections::{BTreeMap, BTreeSet};

/// What a barrier is to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Sort {
    /// It gathers generation after generation.
    Generations,
    /// An object that completes phase after phase, for which waits may come later.
    Object,
    /// The barrier of the cluster.
    Cluster,
}

/// The barriers in use, numbered without gaps: those of generations, then objects, then that of the cluster.
pub(super) struct Barriers(Vec<(Sort, BarrierId)>);

impl Barriers {
    pub(super) fn of(ids: BTreeSet<(Sort, BarrierId)>) -> Self {
        Self(ids.into_iter().collect())
    }

    pub(super) fn number(&self, id: BarrierId) -> usize {
        let at = self.0.iter().position(|(_, known)| *known == id).unwrap_or_default();
        at + self.len() - self.of_sort(Sort::Generations).count()
    }

    /// Those of generations, at least 1: Promela has no empty arrays.
    pub(super) fn len(&self) -> usize {
        self.of_sort(Sort::Generations).count().max(1)
    }

    /// Those of a sort, in the order of their numbers.
    pub(super) fn of_sort(&self, sort: Sort) -> impl Iterator<Item = BarrierId> + '_ {
        self.0.iter().filter(move |(known, _)| *known == sort).map(|(_, id)| *id)
    }

    /// All of them, with their numbers.
    pub(super) fn numbers(&self) -> impl Iterator<Item = (usize, BarrierId)> + '_ {
        self.0.iter().map(|(_, id)| (self.number(*id), *id))
    }
}

/// Columns of equal length, by name.
#[derive(Default)]
pub(super) struct Columns(BTreeMap<&'static str, Vec<usize>>);

impl Columns {
    pub(super) fn push(&mut self, name: &'static str, value: usize) {
        self.0.entry(name).or_default().push(value);
    }

    pub(super) fn longest(&self) -> usize {
        self.0.values().map(Vec::len).max().unwrap_or_default()
    }

    /// Takes out the columns that hold one value throughout: their names, and the values.
    pub(super) fn take_constant(&mut self) -> Vec<(&'static str, usize)> {
        let constant = |values: &Vec<usize>| values.windows(2).all(|pair| pair[0] == pair[1]);
        let found: Vec<_> =
            self.0.iter().filter(|(_, v)| constant(v)).map(|(name, v)| (*name, v[0])).collect();
        found.iter().for_each(|(name, _)| drop(self.0.remove(name)));
        found
    }

    /// A column that nothing has been pushed to gets a 0: some languages have no empty arrays.
    pub(super) fn fill_empty(&mut self, name: &'static str) {
        self.0.entry(name).or_insert_with(|| vec![0]);
    }

    /// The values pushed to a column so far.
    pub(super) fn length(&self, name: &'static str) -> usize {
        self.0.get(name).map_or(0, Vec::len)
    }

    /// Every column, by name.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, &[usize])> {
        self.0.iter().map(|(name, values)| (*name, values.as_slice()))
    }
}

/// A rule's name as programs can spell it.
pub(super) fn identifier(rule: Rule) -> String {
    rule.name().replace('-', "_")
}

/// The number of a kind of access.
pub(super) fn kind_number(kind: AccessKind) -> usize {
    match kind {
        AccessKind::Read => 0,
        AccessKind::Write => 1,
        AccessKind::Atomic => 2,
        AccessKind::Copy | AccessKind::Sent => 3,
        AccessKind::Store => 4,
        AccessKind::Fill => 5,
        AccessKind::Reduction => 6,
        AccessKind::Source => 7,
        AccessKind::Initialisation => 8,
        AccessKind::Use => 9,
    }
}
