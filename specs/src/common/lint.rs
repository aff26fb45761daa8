//! What can be said against a text without looking at a run of it.

use barcheck_model::rule::{Level, Rule};

use crate::common::diagnostic::Diagnostic;
use crate::common::span::Span;

/// A kind of finding about the text of a protocol. The semantics has [`Rule`]s; these are beside it: a text
/// that one of them is about has a meaning, though perhaps not the one intended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Lint {
    /// A number stands where an array has no element.
    IndexOutside,
    /// A number other than 0 and 1 stands where a predicate belongs.
    NumberAsPredicate,
    /// An instruction has two registers in a form of which its specification says two things.
    TwoRegisters,
    /// Blocks have decisions without a name that look like one and are apart.
    UniformApart,
    /// An object is initialised, and no fence tells other CTAs or the asynchronous proxy, which use it.
    UnfencedInit,
    /// No agent ever comes to a statement.
    Unreached,
    /// What is declared is used nowhere, or what is allowed does not happen.
    Unused,
}

impl Lint {
    /// All of them, in the order of their names.
    pub const ALL: [Self; 7] = [
        Self::IndexOutside,
        Self::NumberAsPredicate,
        Self::TwoRegisters,
        Self::UnfencedInit,
        Self::UniformApart,
        Self::Unreached,
        Self::Unused,
    ];

    /// The name that users type, as they type that of a rule.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::IndexOutside => "index-outside",
            Self::NumberAsPredicate => "number-as-predicate",
            Self::TwoRegisters => "two-registers",
            Self::UnfencedInit => "unfenced-init",
            Self::UniformApart => "uniform-apart",
            Self::Unreached => "unreached",
            Self::Unused => "unused",
        }
    }

    /// The lint of this name.
    ///
    /// ```
    /// use barcheck_specs::Lint;
    ///
    /// assert_eq!(Lint::from_name("unused"), Some(Lint::Unused));
    /// assert_eq!(Lint::from_name("deadlock"), None, "that is a rule");
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lint| lint.name() == name)
    }

    /// What it says against a text, in sentences.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::IndexOutside => "A number is written as the index of an array that has no such element.",
            Self::NumberAsPredicate => {
                "A number other than 0 and 1 is written as the predicate of a reduction, or as a side of `&&` or `||`."
            }
            Self::TwoRegisters => "A reduction has its id and its count in registers.",
            Self::UnfencedInit => {
                "An mbarrier object is initialised, other CTAs or asynchronous operations arrive on it, and no \
                 `fence.mbarrier_init` or `fence.proxy.async` follows the initialisation."
            }
            Self::UniformApart => {
                "Two blocks have a `uniform ?` without a name. Each is a decision of its own: the agents of \
                 one block decide alike, and yet otherwise than those of the other."
            }
            Self::Unreached => {
                "No agent ever comes to a statement, whatever the others do: a condition that never holds or \
                 always does, a loop of no round, or what follows a loop that never ends."
            }
            Self::Unused => {
                "A param, a location or a variable that nothing reads or accesses; or an `allow` for what does \
                 not happen."
            }
        }
    }

    /// Why it matters.
    #[must_use]
    pub fn why(self) -> &'static str {
        match self {
            Self::IndexOutside => "An agent that comes there ends the run with an evaluation error.",
            Self::NumberAsPredicate => {
                "Most often the predicate is missing, and what stands in its place is the thread count."
            }
            Self::TwoRegisters => {
                "An example of the reference has this form, its table of operands and its encodings have not: \
                 an assembler may refuse it."
            }
            Self::UnfencedInit => {
                "A barrier of the CTA or the cluster orders the initialisation for what the other threads do \
                 themselves. Copies, commits and other CTAs may still find the object as it was before."
            }
            Self::UniformApart => {
                "What looks like one decision of the whole group is two: one block may go on while the other \
                 ends, and a deadlock may be found that the kernel does not have."
            }
            Self::Unreached => {
                "A verdict says nothing about instructions that nobody executes: a barrier in them is neither \
                 right nor wrong. Most often a `param` is too small, or a condition is not what was meant."
            }
            Self::Unused => {
                "Setting such a param changes nothing, and memory that nobody accesses is not checked for \
                 races. An `allow` that is left over would hide the next defect of its rule."
            }
        }
    }

    /// What mends it.
    #[must_use]
    pub fn fix(self) -> &'static str {
        match self {
            Self::IndexOutside => "Write an index from 0 up to one less than the number of elements.",
            Self::NumberAsPredicate => "Write the predicate, or 0 or 1 for one that never or always holds.",
            Self::TwoRegisters => "Put both into one register: the count above the low 4 bits.",
            Self::UnfencedInit => {
                "After the initialisations write `fence.mbarrier_init.release.cluster;`, then let everybody meet. \
                 Protocols extracted from kernels have no fences: there, look at the kernel."
            }
            Self::UniformApart => {
                "If all of them decide the same, give both the same name: `uniform more ?`. If not, give them \
                 different ones, and nothing is said."
            }
            Self::Unreached => {
                "Raise the param, correct the condition, or remove the statement. `barcheck verify --coverage` \
                 lists who executes which barrier."
            }
            Self::Unused => {
                "Use it or remove it; a name that begins with `_` says that it is meant to be unused."
            }
        }
    }

    /// The level in force unless the user changes it.
    #[must_use]
    pub fn default_level(self) -> Level {
        match self {
            Self::UnfencedInit => Level::Pedantic,
            _ => Level::Warning,
        }
    }

    /// Words for a finding of this kind at `span`.
    #[must_use]
    pub fn says(self, message: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic::warning(self.name(), message, span)
    }
}

/// What was said against a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linted {
    /// Of which kind it is.
    pub lint: Lint,
    /// In words, with its place. Its code is the lint's name.
    pub diagnostic: Diagnostic,
    /// What it is about, as written: a name or a statement. It stays the same when lines are added elsewhere.
    pub subject: String,
}

/// What a level can be given to: a rule of the semantics, or a lint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Check {
    /// A rule of the semantics.
    Rule(Rule),
    /// A lint.
    Lint(Lint),
}

impl Check {
    /// All of them: the rules, then the lints.
    pub fn all() -> impl Iterator<Item = Self> {
        Rule::ALL.iter().copied().map(Self::Rule).chain(Lint::ALL.map(Self::Lint))
    }

    /// The name that users type.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rule(rule) => rule.name(),
            Self::Lint(lint) => lint.name(),
        }
    }

    /// What this is the name of.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::all().find(|check| check.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lints_are_listed_by_name_and_no_rule_has_one_of_them() {
        assert!(Lint::ALL.is_sorted_by_key(|lint| lint.name()));
        for lint in Lint::ALL {
            assert_eq!(Lint::from_name(lint.name()), Some(lint));
            assert_eq!(Rule::from_name(lint.name()), None);
            assert_eq!(Check::from_name(lint.name()), Some(Check::Lint(lint)));
        }
        assert_eq!(Check::from_name("deadlock"), Some(Check::Rule(Rule::Deadlock)));
    }
}
