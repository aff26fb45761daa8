//! What the catalogue holds.

use std::collections::{BTreeMap, HashMap};

use barcheck_model::program::Target;
use serde::Deserialize;

/// Clauses and rules, in the order of the files.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    pub(super) clauses: Vec<Clause>,
    pub(super) rules: Vec<Rule>,
    /// Positions in `clauses`.
    pub(super) by_id: HashMap<String, usize>,
    /// Positions in `rules`.
    pub(super) by_name: HashMap<String, usize>,
}

/// A normative statement of a specification, in our own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Its name, unique: `ptx.count-multiple`.
    pub id: String,
    /// The target that it specifies; `None` for those that are this project's own.
    pub target: Option<Target>,
    /// The targets that it holds for: the one that it specifies; of this project's own, any number.
    pub targets: Vec<Target>,
    /// The document that it stands in.
    pub document: String,
    /// The section of the document.
    pub section: String,
    /// What it says.
    pub says: String,
    /// What the model makes of it.
    pub kind: ClauseKind,
    /// The rules that rest on it.
    pub rules: Vec<String>,
    /// Why it is out of scope; given for exactly those that are.
    pub reason: Option<String>,
}

/// What the model makes of a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClauseKind {
    /// A transition of the model.
    Transition,
    /// A condition that the model checks.
    Check,
    /// A term that other clauses use.
    Definition,
    /// Nothing, for a reason.
    OutOfScope,
}

impl ClauseKind {
    /// The name, as the files spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Transition => "transition",
            Self::Check => "check",
            Self::Definition => "definition",
            Self::OutOfScope => "out-of-scope",
        }
    }
}

/// How a finding is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Off unless asked for.
    Pedantic,
    /// Reported.
    Warning,
    /// Fails the run.
    Error,
}

impl Level {
    /// The name, as the files spell it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Pedantic => "pedantic",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A rule that a protocol may violate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What the user types: `mixed-red`.
    pub name: String,
    /// The level where [`Self::levels`] has no other.
    pub level: Level,
    /// Targets with a level of their own.
    pub levels: BTreeMap<Target, Level>,
    /// A violation ends its path, but for the targets in [`Self::ends_except`].
    pub ends: bool,
    /// Targets in which a violation does not end its path.
    pub ends_except: Vec<Target>,
    /// For each target that the rule holds for, the id of the clause that a finding rests on first.
    pub clauses: BTreeMap<Target, String>,
    /// What a violation is.
    pub meaning: String,
    /// Why it hurts.
    pub why: String,
    /// How to fix it.
    pub fix: String,
    /// A protocol that violates it, a path relative to `specs/protocols`.
    pub example: String,
}

impl Rule {
    /// Whether the rule holds for `target`.
    #[must_use]
    pub fn holds_for(&self, target: Target) -> bool {
        self.clauses.contains_key(&target)
    }

    /// The level for `target`, before the command line changes it.
    #[must_use]
    pub fn level_for(&self, target: Target) -> Level {
        self.levels.get(&target).copied().unwrap_or(self.level)
    }

    /// Whether a violation ends its path in `target`.
    #[must_use]
    pub fn ends_for(&self, target: Target) -> bool {
        self.ends && !self.ends_except.contains(&target)
    }
}

impl Catalogue {
    /// All clauses, one specification after the other.
    #[must_use]
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses
    }

    /// All rules.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The clause called `id`.
    #[must_use]
    pub fn clause(&self, id: &str) -> Option<&Clause> {
        self.by_id.get(id).map(|index| &self.clauses[*index])
    }

    /// The rule called `name`.
    #[must_use]
    pub fn rule(&self, name: &str) -> Option<&Rule> {
        self.by_name.get(name).map(|index| &self.rules[*index])
    }

    /// The clause that findings of `rule` rest on first in `target`; `None` if the rule does not hold there.
    #[must_use]
    pub fn clause_of(&self, rule: &Rule, target: Target) -> Option<&Clause> {
        self.clause(rule.clauses.get(&target)?)
    }

    /// The clauses that support the rule called `name` in `target`, those that are our own included.
    pub fn clauses_of<'c>(&'c self, name: &'c str, target: Target) -> impl Iterator<Item = &'c Clause> {
        self.clauses
            .iter()
            .filter(move |clause| clause.targets.contains(&target) && clause.rules.iter().any(|r| r == name))
    }

    /// The known rule that `name` was probably meant to be.
    #[must_use]
    pub fn closest_rule(&self, name: &str) -> Option<&str> {
        crate::common::suggest::closest(name, self.rules.iter().map(|rule| rule.name.as_str()))
    }
}
