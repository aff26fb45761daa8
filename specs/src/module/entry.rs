//! Entries of a module: what is launched.

use crate::common::span::Span;

/// Registers that say which CTA of the grid it is, or which cluster, and how many there are.
const GRID: [&str; 4] = ["%ctaid", "%nctaid", "%clusterid", "%nclusterid"];

/// An entry of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Its position among the entries of the module.
    pub index: usize,
    /// It has barriers of its group or the like, or shares memory with it, itself or in what it calls.
    pub synchronises: bool,
    /// Its parameters, and behind them what is given like them.
    pub(crate) params: Vec<Param>,
    /// Where it is named.
    pub(crate) span: Span,
}

/// A parameter of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Param {
    /// Its name in the module.
    pub(crate) name: String,
    /// What it is called in protocols and reports.
    pub(crate) short: String,
    /// What kind of value it is.
    pub(crate) kind: Kind,
}

/// Kinds of values that parameters have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It may be an integer.
    #[default]
    Integer,
    /// It is said to be an address: no number that means something.
    Address,
    /// A floating-point number, with which nothing is computed.
    Real,
}

impl Param {
    /// One that may be a number, and what it is called in protocols and reports.
    pub(crate) fn new(name: String, short: String) -> Self {
        Self { name, short, kind: Kind::Integer }
    }

    /// What a launch says of the grid in three directions, which is given like parameters.
    pub(crate) fn of_grid() -> impl Iterator<Item = Self> {
        let in_direction = |register: &'static str| ['x', 'y', 'z'].map(|d| format!("{register}.{d}"));
        GRID.into_iter().flat_map(in_direction).map(|name| Self::new(name.clone(), name))
    }

    /// A place in memory has none, `c[0x0][0x160]`, nor has a register.
    fn has_position(&self) -> bool {
        !self.name.contains(['[', '%'])
    }
}

impl Entry {
    /// The names of its parameters.
    pub fn param_names(&self) -> impl Iterator<Item = &str> {
        self.params.iter().map(|param| param.name.as_str())
    }

    /// Whether it has a parameter of this name or at this position from 0, or a part of one, as reports call
    /// it: `param_2`, `param_0+16`.
    #[must_use]
    pub fn has_param(&self, given: &str) -> bool {
        self.names_param(given) || self.is_called(given)
    }

    /// Whether it is the name of a parameter or its position.
    fn names_param(&self, given: &str) -> bool {
        self.named(given).is_some()
    }

    fn named(&self, given: &str) -> Option<&Param> {
        let is_it = |(at, param): &(usize, &Param)| {
            param.name == given || param.has_position() && at.to_string() == given
        };
        Some(self.params.iter().enumerate().find(is_it)?.1)
    }

    /// Whether a parameter that is called so, in the module or in protocols, is a floating-point number.
    pub(super) fn is_real(&self, given: &str) -> bool {
        self.named(given).or_else(|| self.called(given)).is_some_and(|param| param.kind == Kind::Real)
    }

    /// Whether a parameter, or a part of one, is called so in protocols.
    fn is_called(&self, shown: &str) -> bool {
        self.called(shown).is_some()
    }

    /// Whether what is called so in protocols is a parameter, or a part of one, that may be a number.
    pub(crate) fn may_be_number(&self, shown: &str) -> bool {
        self.called(shown).is_some_and(|param| param.kind == Kind::Integer)
    }

    fn called(&self, shown: &str) -> Option<&Param> {
        let name = shown.split_once('+').map_or(shown, |(name, _)| name);
        self.params.iter().find(|param| param.short == name)
    }
}
