//! `barcheck rules` and `barcheck clauses`: what is checked, and what it rests on.

use super::args::{Format, TableArgs};
use super::output::{Colours, Palette, Status, print};
use super::report::json_line;
use super::table::table;
use barcheck::Lint;
use barcheck_model::program::Target;
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::clauses::{self, Clause, ClauseKind};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::io;

#[derive(Serialize)]
struct JsonRule<'a> {
    rule: &'static str,
    meaning: &'a str,
    /// By target, for those that the rule holds for.
    targets: BTreeMap<&'static str, JsonHold<'a>>,
}

#[derive(Serialize)]
struct JsonHold<'a> {
    level: &'static str,
    ends: bool,
    clause: Option<&'a str>,
}

/// Lists the rules.
pub(crate) fn rules(args: &TableArgs, colours: Colours) -> io::Result<Status> {
    let listed: Vec<_> = Rule::ALL
        .iter()
        .map(|rule| (*rule, targets_of(*rule, args.target)))
        .filter(|(_, targets)| !targets.is_empty())
        .collect();
    let text = match args.format {
        Format::Json => {
            let lints = Lint::ALL.into_iter().map(|lint| json_lint(lint, args.target));
            let rules = listed.iter().map(|(rule, targets)| json_rule(*rule, targets));
            json_line(&rules.chain(lints).collect::<Vec<_>>())
        }
        Format::Human => rule_table(&listed, colours.out),
    };
    print(&text)?;
    Ok(Status::Success)
}

fn targets_of(rule: Rule, only: Option<Target>) -> Vec<Target> {
    let wanted = |target: &Target| only.is_none_or(|only| only == *target);
    Target::ALL.into_iter().filter(wanted).filter(|target| rule.holds_for(*target)).collect()
}

fn json_rule(rule: Rule, targets: &[Target]) -> JsonRule<'static> {
    let known = clauses::catalogue().rule(rule.name());
    let hold = |target: &Target| {
        let hold = JsonHold {
            level: rule.default_level(*target).name(),
            ends: rule.ends_path(*target),
            clause: known.and_then(|rule| rule.clauses.get(target)).map(String::as_str),
        };
        (target.name(), hold)
    };
    JsonRule {
        rule: rule.name(),
        meaning: known.map_or("", |rule| rule.meaning.as_str()),
        targets: targets.iter().map(hold).collect(),
    }
}

/// A lint, which holds for every target, ends no path and rests on no clause.
fn json_lint(lint: Lint, only: Option<Target>) -> JsonRule<'static> {
    let targets = Target::ALL.into_iter().filter(|target| only.is_none_or(|only| only == *target));
    let hold = |target: Target| {
        (target.name(), JsonHold { level: lint.default_level().name(), ends: false, clause: None })
    };
    JsonRule { rule: lint.name(), meaning: lint.meaning(), targets: targets.map(hold).collect() }
}

fn rule_table(listed: &[(Rule, Vec<Target>)], palette: Palette) -> String {
    let mut rows = vec![["rule", "level", "ends", "targets", "meaning"].map(str::to_owned)];
    for (rule, targets) in listed {
        let meaning = clauses::catalogue().rule(rule.name()).map_or("", |rule| rule.meaning.as_str());
        rows.push([
            rule.name().to_owned(),
            by_target(targets, |target| rule.default_level(target).name()),
            by_target(targets, |target| if rule.ends_path(target) { "yes" } else { "no" }),
            names(targets),
            first_sentence(meaning).to_owned(),
        ]);
    }
    for lint in Lint::ALL {
        let (name, level) = (lint.name(), lint.default_level().name());
        rows.push([name, level, "no", "all", first_sentence(lint.meaning())].map(str::to_owned));
    }
    let mut text = table(&rows, palette, |column, cell| match (column, cell) {
        (0, _) => palette.strong(cell),
        (1, _) if cell.starts_with(Level::Error.name()) => palette.bad(cell),
        (1, _) if cell.starts_with(Level::Warning.name()) => palette.unsure(cell),
        _ => cell.to_owned(),
    });
    text.push_str(
        "\nends: a violation ends its path. pedantic: off unless --strict or --warn asks for it.\n",
    );
    let lints: Vec<_> = Lint::ALL.iter().map(|lint| lint.name()).collect();
    let _ = writeln!(text, "about the text, for which no run is needed: {}.", lints.join(", "));
    text.push_str("`barcheck explain RULE` says more of a rule.\n");
    text
}

/// What holds for most targets, and the exceptions: `error (bcu: warning)`.
fn by_target(targets: &[Target], of: impl Fn(Target) -> &'static str) -> String {
    let count = |value: &str| targets.iter().filter(|t| of(**t) == value).count();
    // The first of equals wins, so that the text does not depend on chance.
    let mut most = targets.first().map_or("", |t| of(*t));
    for target in targets {
        if count(of(*target)) > count(most) {
            most = of(*target);
        }
    }
    let others: Vec<_> = targets
        .iter()
        .filter(|t| of(**t) != most)
        .map(|target| format!("{target}: {}", of(*target)))
        .collect();
    if others.is_empty() { most.to_owned() } else { format!("{most} ({})", others.join(", ")) }
}

fn names(targets: &[Target]) -> String {
    if targets.len() == Target::ALL.len() {
        return "all".to_owned();
    }
    targets.iter().map(|t| t.name()).collect::<Vec<_>>().join(", ")
}

/// What stands before the first full stop between sentences, with it.
pub(crate) fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

#[derive(Serialize)]
struct JsonClause<'a> {
    id: &'a str,
    target: Option<&'static str>,
    targets: Vec<&'static str>,
    document: &'a str,
    section: &'a str,
    says: &'a str,
    kind: &'static str,
    rules: &'a [String],
    reason: Option<&'a str>,
}

/// Lists the clauses.
pub(crate) fn clauses(args: &TableArgs, colours: Colours) -> io::Result<Status> {
    let wanted = |clause: &&Clause| args.target.is_none_or(|only| clause.targets.contains(&only));
    let listed: Vec<_> = clauses::catalogue().clauses().iter().filter(wanted).collect();
    let text = match args.format {
        Format::Json => json_line(&listed.iter().map(|clause| json_clause(clause)).collect::<Vec<_>>()),
        Format::Human => clause_table(&listed, colours.out),
    };
    print(&text)?;
    Ok(Status::Success)
}

fn json_clause(clause: &Clause) -> JsonClause<'_> {
    JsonClause {
        id: &clause.id,
        target: clause.target.map(Target::name),
        targets: clause.targets.iter().map(|target| target.name()).collect(),
        document: &clause.document,
        section: &clause.section,
        says: &clause.says,
        kind: clause.kind.name(),
        rules: &clause.rules,
        reason: clause.reason.as_deref(),
    }
}

fn clause_table(listed: &[&Clause], palette: Palette) -> String {
    let mut rows = vec![["clause", "kind", "document", "section", "rules"].map(str::to_owned)];
    for clause in listed {
        rows.push([
            clause.id.clone(),
            clause.kind.name().to_owned(),
            clause.document.clone(),
            clause.section.clone(),
            clause.rules.join(", "),
        ]);
    }
    let mut text = table(&rows, palette, |column, cell| match (column, cell) {
        (0, _) => palette.strong(cell),
        (1, "out-of-scope") => palette.faint(cell),
        _ => cell.to_owned(),
    });
    let mut parts = Vec::new();
    for kind in [ClauseKind::Transition, ClauseKind::Check, ClauseKind::Definition, ClauseKind::OutOfScope] {
        let number = listed.iter().filter(|clause| clause.kind == kind).count();
        parts.push(format!("{number} {}", kind.name()));
    }
    let _ = writeln!(text, "\n{} clauses: {}", listed.len(), parts.join(", "));
    let excluded: Vec<_> = listed.iter().filter_map(|c| Some((c, c.reason.as_deref()?))).collect();
    if !excluded.is_empty() {
        let _ = writeln!(text, "\n{}", palette.strong("Out of scope, and why:"));
    }
    for (clause, reason) in excluded {
        let _ = writeln!(text, "  {}: {reason}", clause.id);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_are_named() {
        let level = |rule: Rule| by_target(&targets_of(rule, None), |t| rule.default_level(t).name());
        assert_eq!(level(Rule::Deadlock), "error");
        assert_eq!(level(Rule::RepeatedArrival), "error (bcu: warning)");
        assert_eq!(level(Rule::MissingWait), "warning (split_barrier: error)");
    }

    #[test]
    fn the_catalogue_agrees_with_the_model() {
        assert_eq!(clauses::catalogue().rules().len(), Rule::ALL.len());
        for rule in Rule::ALL {
            let known = clauses::catalogue().rule(rule.name()).expect("every rule is in the catalogue");
            for target in Target::ALL {
                assert_eq!(known.holds_for(target), rule.holds_for(target), "{rule} {target}");
                if known.holds_for(target) {
                    assert_eq!(
                        known.level_for(target).name(),
                        rule.default_level(target).name(),
                        "{rule} {target}"
                    );
                    assert_eq!(known.ends_for(target), rule.ends_path(target), "{rule} {target}");
                }
            }
        }
    }
}
