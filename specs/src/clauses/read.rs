//! Reads the files of the catalogue and checks that they fit together.

use std::collections::BTreeMap;

use barcheck_model::program::Target;
use serde::Deserialize;

use super::content::{Catalogue, Clause, ClauseKind, Level, Rule};

/// Why a catalogue cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CatalogueError {
    /// A file is not of the form expected.
    Malformed(String),
    /// Two clauses or two rules of one name.
    Duplicate(String),
    /// A rule or a clause speaks of a target that there is none of.
    UnknownTarget { of: String, target: String },
    /// A clause of a specification says which targets it holds for.
    OtherTargets(String),
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
    /// Of our own clauses: the targets that it holds for, if not for all.
    targets: Option<Vec<String>>,
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
    fix: String,
    example: String,
}

pub(super) fn read(files: &[(Option<Target>, &str)], rules: &str) -> Result<Catalogue, CatalogueError> {
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
        if let Some(rule) = clause.rules.iter().find(|rule| catalogue.rule(rule).is_none()) {
            let (clause, rule) = (clause.id.clone(), rule.clone());
            return Err(CatalogueError::UnknownRule { clause, rule });
        }
    }
    Ok(catalogue)
}

fn parse<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, CatalogueError> {
    toml::from_str(text).map_err(|error| CatalogueError::Malformed(error.to_string()))
}

/// The target called `name`, of which the clause or rule called `of` speaks.
fn known(name: &str, of: &str) -> Result<Target, CatalogueError> {
    Target::from_name(name)
        .ok_or_else(|| CatalogueError::UnknownTarget { of: of.to_owned(), target: name.to_owned() })
}

impl Catalogue {
    fn add_clause(&mut self, raw: RawClause, target: Option<Target>) -> Result<(), CatalogueError> {
        if (raw.kind == ClauseKind::OutOfScope) != raw.reason.is_some() {
            return Err(CatalogueError::Reason(raw.id));
        }
        if self.by_id.insert(raw.id.clone(), self.clauses.len()).is_some() {
            return Err(CatalogueError::Duplicate(raw.id));
        }
        let RawClause { id, document, section, says, kind, rules, targets, reason } = raw;
        let targets = match (target, targets) {
            (None, None) => Target::ALL.to_vec(),
            (None, Some(names)) => names.iter().map(|name| known(name, &id)).collect::<Result<_, _>>()?,
            (Some(only), None) => vec![only],
            (Some(_), Some(_)) => return Err(CatalogueError::OtherTargets(id)),
        };
        self.clauses.push(Clause { id, target, targets, document, section, says, kind, rules, reason });
        Ok(())
    }

    fn add_rule(&mut self, raw: RawRule) -> Result<(), CatalogueError> {
        let target = |name: &String| known(name, &raw.name);
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
        let ends_except = raw.ends_except.iter().map(target).collect::<Result<Vec<_>, _>>()?;
        if self.by_name.insert(raw.name.clone(), self.rules.len()).is_some() {
            return Err(CatalogueError::Duplicate(raw.name));
        }
        let RawRule { name, level, ends, meaning, why, fix, example, .. } = raw;
        self.rules.push(Rule { name, level, levels, ends, ends_except, clauses, meaning, why, fix, example });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clauses::{RULES, catalogue, clause_files};

    const CLAUSE: &str = "[[clause]]\nid = 'a'\ndocument = 'd'\nsection = 's'\nsays = 'x'\n";
    const RULE: &str = "[[rule]]\nname = 'r'\nlevel = 'error'\nends = true\nmeaning = ''\nwhy = ''\nfix = ''\
        \nexample = ''\n";

    #[track_caller]
    fn check(clauses: &str, rules: &str, expected: Option<CatalogueError>) {
        assert_eq!(read(&[(None, clauses)], rules).err(), expected);
    }

    #[test]
    fn the_embedded_catalogue_is_well_formed() {
        let catalogue = read(&clause_files(), RULES).expect("well formed");
        assert!(!catalogue.rules().is_empty());
        for (target, file) in clause_files() {
            let name = target.map_or("barcheck", Target::name);
            let own = catalogue.clauses().iter().filter(|clause| clause.target == target);
            assert!(own.clone().all(|clause| clause.id.starts_with(&format!("{name}."))));
            assert_eq!(own.count(), file.matches("[[clause]]").count());
        }
    }

    #[test]
    fn every_example_is_a_protocol() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("protocols");
        for rule in catalogue().rules() {
            assert!(folder.join(&rule.example).is_file(), "{}: {}", rule.name, rule.example);
        }
    }

    #[test]
    fn levels_and_ends_depend_on_the_target() {
        let rule = catalogue().rule("repeated-arrival").expect("the rule exists");
        assert_eq!(rule.level_for(Target::Ptx), Level::Error);
        assert_eq!(rule.level_for(Target::Bcu), Level::Warning);
        assert!(rule.ends_for(Target::Ptx) && !rule.ends_for(Target::Bcu));
        let rule = catalogue().rule("partial-warp").expect("the rule exists");
        assert!(rule.holds_for(Target::Ptx) && !rule.holds_for(Target::Bcu));
        assert!(catalogue().clause_of(rule, Target::Bcu).is_none());
        assert_eq!(catalogue().closest_rule("partial-wrap"), Some("partial-warp"));
    }

    #[test]
    fn what_does_not_fit_together_is_an_error() {
        let clause = format!("{CLAUSE}kind = 'check'\n");
        let rule = format!("{RULE}clauses = {{ ptx = 'a' }}\n");
        check(&clause, &rule, None);
        check(&format!("{clause}{clause}"), &rule, Some(CatalogueError::Duplicate("a".into())));
        check(&clause, &format!("{rule}{rule}"), Some(CatalogueError::Duplicate("r".into())));
        let unexplained = format!("{CLAUSE}kind = 'out-of-scope'\n");
        check(&unexplained, &rule, Some(CatalogueError::Reason("a".into())));
        let stray = format!("{clause}rules = ['q']\n");
        let unknown = CatalogueError::UnknownRule { clause: "a".into(), rule: "q".into() };
        check(&stray, &rule, Some(unknown));
        let unknown = CatalogueError::UnknownClause { rule: "r".into(), clause: "b".into() };
        check(&clause, &format!("{RULE}clauses = {{ ptx = 'b' }}\n"), Some(unknown));
        let unknown = |of: &str| CatalogueError::UnknownTarget { of: of.into(), target: "q".into() };
        check(&clause, &format!("{RULE}clauses = {{ q = 'a' }}\n"), Some(unknown("r")));
        check(&format!("{clause}targets = ['q']\n"), &rule, Some(unknown("a")));
        let specified = format!("{clause}targets = ['ptx']\n");
        check(&specified, &rule, None);
        let twice = read(&[(Some(Target::Ptx), &specified)], &rule).err();
        assert_eq!(twice, Some(CatalogueError::OtherTargets("a".into())));
    }

    #[test]
    fn a_rule_rests_in_a_target_on_the_clauses_that_hold_there() {
        let rests = |rule: &'static str, target| -> Vec<_> {
            catalogue().clauses_of(rule, target).map(|clause| clause.id.as_str()).collect()
        };
        assert_eq!(
            rests("count-range", Target::Nbarrier),
            ["nbarrier.producers-range", "nbarrier.consumers-range"]
        );
        assert!(rests("count-range", Target::Ptx).contains(&"barcheck.count-zero"));
        for clause in catalogue().clauses().iter().filter(|clause| !clause.rules.is_empty()) {
            for target in &clause.targets {
                let mut rules = clause.rules.iter().filter_map(|name| catalogue().rule(name));
                assert!(rules.any(|rule| rule.holds_for(*target)), "{}: {target}", clause.id);
            }
        }
    }
}
