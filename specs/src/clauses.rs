//! The clause catalogue: what the specifications say, clause by clause, and the rules that rest on them.
//!
//! The files under `specs/clauses` are part of the program text. Their form is checked by this module's tests.
//!
//! ```
//! use barcheck_model::program::Target;
//! use barcheck_specs::clauses::catalogue;
//!
//! let rule = catalogue().rule("mixed-red").expect("the rule exists");
//! let clause = catalogue().clause_of(rule, Target::Ptx).expect("it holds for ptx");
//! assert_eq!(clause.target, Some(Target::Ptx));
//! ```

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use barcheck_model::program::Target;
use serde::Deserialize;

/// The catalogue of this version of the program.
#[must_use]
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
        read(CLAUSE_FILES, RULES).expect("the embedded catalogue is well formed, as tests ensure")
    });
    &CATALOGUE
}

/// Clauses and rules, in the order of the files.
#[derive(Clone, Debug, Default)]
pub struct Catalogue {
    clauses: Vec<Clause>,
    rules: Vec<Rule>,
    /// Positions in `clauses`.
    by_id: HashMap<String, usize>,
    /// Positions in `rules`.
    by_name: HashMap<String, usize>,
}

/// A normative statement of a specification, in our own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clause {
    /// Its name, unique: `ptx.count-multiple`.
    pub id: String,
    /// The target that it specifies; `None` for those that are this project's own.
    pub target: Option<Target>,
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
    /// How to mend it.
    pub mend: String,
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
    pub fn clauses_of<'c>(
        &'c self,
        name: &'c str,
        target: Target,
    ) -> impl Iterator<Item = &'c Clause> {
        self.clauses.iter().filter(move |clause| {
            clause.target.is_none_or(|of| of == target) && clause.rules.iter().any(|r| r == name)
        })
    }

    /// The known rule that `name` was probably meant to be.
    #[must_use]
    pub fn closest_rule(&self, name: &str) -> Option<&str> {
        crate::suggest::closest(name, self.rules.iter().map(|rule| rule.name.as_str()))
    }
}

/// The clause files with the target that each is about.
const CLAUSE_FILES: &[(Option<Target>, &str)] = &[
    (Some(Target::Ptx), include_str!("../clauses/ptx.toml")),
    (Some(Target::Bcu), include_str!("../clauses/bcu.toml")),
    (
        Some(Target::Nbarrier),
        include_str!("../clauses/nbarrier.toml"),
    ),
    (
        Some(Target::SplitBarrier),
        include_str!("../clauses/split_barrier.toml"),
    ),
    (Some(Target::Xegpu), include_str!("../clauses/xegpu.toml")),
    (None, include_str!("../clauses/barcheck.toml")),
];

const RULES: &str = include_str!("../clauses/rules.toml");

/// Why a catalogue cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
enum CatalogueError {
    /// A file is not of the form expected.
    Malformed(String),
    /// Two clauses or two rules of one name.
    Duplicate(String),
    /// A rule speaks of a target that there is none of.
    UnknownTarget { rule: String, target: String },
    /// A rule names a clause that there is none of.
    UnknownClause { rule: String, clause: String },
    /// A clause names a rule that there is none of.
    UnknownRule { clause: String, rule: String },
    /// A clause is out of scope without a reason, or gives one without being so.
    Reason(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClauseFile {
    clause: Vec<RawClause>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawClause {
    id: String,
    document: String,
    section: String,
    says: String,
    kind: ClauseKind,
    #[serde(default)]
    rules: Vec<String>,
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    rule: Vec<RawRule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawRule {
    name: String,
    level: Level,
    ends: bool,
    #[serde(default)]
    levels: BTreeMap<String, Level>,
    #[serde(default)]
    ends_except: Vec<String>,
    clauses: BTreeMap<String, String>,
    meaning: String,
    why: String,
    mend: String,
    example: String,
}

fn read(files: &[(Option<Target>, &str)], rules: &str) -> Result<Catalogue, CatalogueError> {
    let mut catalogue = Catalogue::default();
    for (target, text) in files {
        let file: ClauseFile = parse(text)?;
        for clause in file.clause {
            catalogue.add_clause(clause, *target)?;
        }
    }
    let file: RuleFile = parse(rules)?;
    for rule in file.rule {
        catalogue.add_rule(rule)?;
    }
    for clause in &catalogue.clauses {
        if let Some(rule) = clause
            .rules
            .iter()
            .find(|rule| catalogue.rule(rule).is_none())
        {
            let (clause, rule) = (clause.id.clone(), rule.clone());
            return Err(CatalogueError::UnknownRule { clause, rule });
        }
    }
    Ok(catalogue)
}

fn parse<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, CatalogueError> {
    toml::from_str(text).map_err(|error| CatalogueError::Malformed(error.to_string()))
}

impl Catalogue {
    fn add_clause(&mut self, raw: RawClause, target: Option<Target>) -> Result<(), CatalogueError> {
        if (raw.kind == ClauseKind::OutOfScope) != raw.reason.is_some() {
            return Err(CatalogueError::Reason(raw.id));
        }
        if self
            .by_id
            .insert(raw.id.clone(), self.clauses.len())
            .is_some()
        {
            return Err(CatalogueError::Duplicate(raw.id));
        }
        let RawClause {
            id,
            document,
            section,
            says,
            kind,
            rules,
            reason,
        } = raw;
        self.clauses.push(Clause {
            id,
            target,
            document,
            section,
            says,
            kind,
            rules,
            reason,
        });
        Ok(())
    }

    fn add_rule(&mut self, raw: RawRule) -> Result<(), CatalogueError> {
        let target = |name: &String| {
            let known = Target::ALL.into_iter().find(|target| target.name() == name);
            known.ok_or_else(|| CatalogueError::UnknownTarget {
                rule: raw.name.clone(),
                target: name.clone(),
            })
        };
        let mut clauses = BTreeMap::new();
        for (name, clause) in &raw.clauses {
            if self.clause(clause).is_none() {
                let (rule, clause) = (raw.name.clone(), clause.clone());
                return Err(CatalogueError::UnknownClause { rule, clause });
            }
            clauses.insert(target(name)?, clause.clone());
        }
        let mut levels = BTreeMap::new();
        for (name, level) in &raw.levels {
            levels.insert(target(name)?, *level);
        }
        let ends_except = raw
            .ends_except
            .iter()
            .map(target)
            .collect::<Result<Vec<_>, _>>()?;
        if self
            .by_name
            .insert(raw.name.clone(), self.rules.len())
            .is_some()
        {
            return Err(CatalogueError::Duplicate(raw.name));
        }
        let RawRule {
            name,
            level,
            ends,
            meaning,
            why,
            mend,
            example,
            ..
        } = raw;
        self.rules.push(Rule {
            name,
            level,
            levels,
            ends,
            ends_except,
            clauses,
            meaning,
            why,
            mend,
            example,
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAUSE: &str = "[[clause]]\nid = 'a'\ndocument = 'd'\nsection = 's'\nsays = 'x'\n";
    const RULE: &str = "[[rule]]\nname = 'r'\nlevel = 'error'\nends = true\nmeaning = ''\nwhy = ''\nmend = ''\nexample = ''\n";

    #[track_caller]
    fn check(clauses: &str, rules: &str, expected: Option<CatalogueError>) {
        assert_eq!(read(&[(None, clauses)], rules).err(), expected);
    }

    #[test]
    fn the_embedded_catalogue_is_well_formed() {
        let catalogue = read(CLAUSE_FILES, RULES).expect("well formed");
        assert!(!catalogue.rules().is_empty());
        for (target, file) in CLAUSE_FILES {
            let name = target.map_or("barcheck", Target::name);
            let own = catalogue
                .clauses()
                .iter()
                .filter(|clause| clause.target == *target);
            assert!(
                own.clone()
                    .all(|clause| clause.id.starts_with(&format!("{name}.")))
            );
            assert_eq!(own.count(), file.matches("[[clause]]").count());
        }
    }

    #[test]
    fn every_example_is_a_protocol() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("protocols");
        for rule in catalogue().rules() {
            assert!(
                folder.join(&rule.example).is_file(),
                "{}: {}",
                rule.name,
                rule.example
            );
        }
    }

    #[test]
    fn levels_and_ends_depend_on_the_target() {
        let rule = catalogue()
            .rule("repeated-arrival")
            .expect("the rule exists");
        assert_eq!(rule.level_for(Target::Ptx), Level::Error);
        assert_eq!(rule.level_for(Target::Bcu), Level::Warning);
        assert!(rule.ends_for(Target::Ptx) && !rule.ends_for(Target::Bcu));
        let rule = catalogue().rule("partial-warp").expect("the rule exists");
        assert!(rule.holds_for(Target::Ptx) && !rule.holds_for(Target::Bcu));
        assert!(catalogue().clause_of(rule, Target::Bcu).is_none());
        assert_eq!(
            catalogue().closest_rule("partial-wrap"),
            Some("partial-warp")
        );
    }

    #[test]
    fn what_does_not_fit_together_is_an_error() {
        let clause = format!("{CLAUSE}kind = 'check'\n");
        let rule = format!("{RULE}clauses = {{ ptx = 'a' }}\n");
        check(&clause, &rule, None);
        check(
            &format!("{clause}{clause}"),
            &rule,
            Some(CatalogueError::Duplicate("a".into())),
        );
        check(
            &clause,
            &format!("{rule}{rule}"),
            Some(CatalogueError::Duplicate("r".into())),
        );
        let unexplained = format!("{CLAUSE}kind = 'out-of-scope'\n");
        check(
            &unexplained,
            &rule,
            Some(CatalogueError::Reason("a".into())),
        );
        let stray = format!("{clause}rules = ['q']\n");
        let unknown = CatalogueError::UnknownRule {
            clause: "a".into(),
            rule: "q".into(),
        };
        check(&stray, &rule, Some(unknown));
        let unknown = CatalogueError::UnknownClause {
            rule: "r".into(),
            clause: "b".into(),
        };
        check(
            &clause,
            &format!("{RULE}clauses = {{ ptx = 'b' }}\n"),
            Some(unknown),
        );
        let unknown = CatalogueError::UnknownTarget {
            rule: "r".into(),
            target: "q".into(),
        };
        check(
            &clause,
            &format!("{RULE}clauses = {{ q = 'a' }}\n"),
            Some(unknown),
        );
    }
}
