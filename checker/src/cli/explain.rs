//! `barcheck explain`: one rule or lint, from its meaning to its remedy.

use super::args::ExplainArgs;
use super::examples;
use super::output::{Colours, Palette, Status, print};
use barcheck::{Check, Lint};
use barcheck_model::program::Target;
use barcheck_model::rule::Rule;
use barcheck_specs::clauses;
use barcheck_specs::kinds::{Kind, kind};
use std::fmt::Write;
use std::io;

/// The width of running text.
const WIDTH: usize = 100;

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs, colours: Colours) -> io::Result<Status> {
    let check = Check::from_name(&args.name).map(|check| match check {
        Check::Rule(rule) => text(rule, colours.out),
        Check::Lint(lint) => lint_text(lint, colours.out),
    });
    let kind = || kind(&args.name).map(|kind| of_kind(kind, colours.out));
    // The command line takes no other names.
    print(&check.or_else(kind).unwrap_or_default())?;
    Ok(Status::Success)
}

/// A kind of diagnostics as text for people.
fn of_kind(kind: Kind, palette: Palette) -> String {
    format!(
        "{}\n\n{}\n{}\n{}",
        palette.strong(kind.name),
        wrapped(kind.meaning, ""),
        palette.strong("How to fix it"),
        wrapped(kind.fix, "")
    )
}

/// A rule as text for people.
pub(crate) fn text(rule: Rule, palette: Palette) -> String {
    let mut text = format!("{}\n\n", palette.strong(rule.name()));
    let Some(known) = clauses::catalogue().rule(rule.name()) else { return text };
    text.push_str(&wrapped(&known.meaning, ""));
    let mut section = |title: &str, body: String| {
        let _ = write!(text, "\n{}\n{body}", palette.strong(title));
    };
    section("Why it hurts", wrapped(&known.why, ""));
    section("How to fix it", wrapped(&known.fix, ""));
    section("What it rests on", foundations(rule, known, palette));
    if let Some(source) = examples::source(&known.example) {
        let mut body = format!("  {}\n\n", palette.faint(format_args!("specs/protocols/{}", known.example)));
        for line in source.lines() {
            let _ = writeln!(body, "{}", format!("  {line}").trim_end());
        }
        section("Example", body);
    }
    let _ = write!(
        text,
        "\nChange its level with `barcheck verify --deny {rule}`, `--warn {rule}` or `--allow {rule}`.\n"
    );
    if Target::ALL.into_iter().any(|target| rule.holds_for(target) && !rule.ends_path(target)) {
        let _ = writeln!(text, "Where it is meant, the file may say so: `allow {rule} \"the reason\";`.");
    }
    text
}

/// A lint as text for people.
pub(crate) fn lint_text(lint: Lint, palette: Palette) -> String {
    let mut text = format!("{}\n\n{}", palette.strong(lint.name()), wrapped(lint.meaning(), ""));
    for (title, body) in [("Why it matters", lint.why()), ("How to fix it", lint.fix())] {
        let _ = write!(text, "\n{}\n{}", palette.strong(title), wrapped(body, ""));
    }
    let (name, level) = (lint.name(), lint.default_level().name());
    let _ = write!(
        text,
        "\nA finding about the text, for which no run is needed: {level}.\n\
         Change its level with `barcheck verify --deny {name}`, `--warn {name}` or `--allow {name}`.\n\
         Where it is meant, the file may say so: `allow {name} \"the reason\";`.\n"
    );
    text
}

/// A lint as Markdown.
pub(crate) fn lint_markdown(lint: Lint) -> String {
    let (meaning, why, fix) = (lint.meaning(), lint.why(), lint.fix());
    format!("{meaning}\n\n**Why it matters.** {why}\n\n**How to fix it.** {fix}\n")
}

/// A rule as Markdown.
pub(crate) fn markdown(rule: Rule) -> String {
    let Some(known) = clauses::catalogue().rule(rule.name()) else { return String::new() };
    let mut text = format!(
        "{}\n\n**Why it hurts.** {}\n\n**How to fix it.** {}\n\n**What it rests on**\n\n",
        known.meaning, known.why, known.fix
    );
    for target in Target::ALL.into_iter().filter(|target| rule.holds_for(*target)) {
        let level = rule.default_level(target).name();
        let clause = clauses::catalogue().clause_of(known, target);
        let clause =
            clause.map(|clause| format!(": {}, {} (`{}`)", clause.document, clause.section, clause.id));
        let _ = writeln!(text, "- {target}, {level}{}", clause.unwrap_or_default());
    }
    if let Some(source) = examples::source(&known.example) {
        let _ = write!(text, "\n**Example**\n\n```\n{}\n```\n", source.trim_end());
    }
    text
}

/// For each target: the level, and the clause with document and section.
fn foundations(rule: Rule, known: &clauses::Rule, palette: Palette) -> String {
    let mut text = String::new();
    for target in Target::ALL.into_iter().filter(|target| rule.holds_for(*target)) {
        let ends = if rule.ends_path(target) { ", ends its path" } else { "" };
        let level = rule.default_level(target).name();
        let _ = writeln!(text, "  {}: {level}{ends}", palette.strong(target));
        let first = clauses::catalogue().clause_of(known, target);
        let others = clauses::catalogue()
            .clauses_of(rule.name(), target)
            .filter(|clause| first.is_none_or(|first| first.id != clause.id));
        for clause in first.into_iter().chain(others) {
            let _ = writeln!(text, "    {}, {} ({})", clause.document, clause.section, clause.id);
            text.push_str(&wrapped(&clause.says, "      "));
        }
    }
    text
}

/// Text broken into lines, each with the indentation.
fn wrapped(text: &str, indentation: &str) -> String {
    let mut lines = String::new();
    let mut line = indentation.to_owned();
    for word in text.split_whitespace() {
        let begun = line.len() > indentation.len();
        if begun && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push_str(&line);
            lines.push('\n');
            indentation.clone_into(&mut line);
        } else if begun {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push_str(&line);
    lines.push('\n');
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::args::ColorWhen;

    #[test]
    fn every_rule_is_explained_with_an_example() {
        for rule in Rule::ALL {
            let text = text(*rule, Palette::new(ColorWhen::Never, false));
            for part in ["Why it hurts", "How to fix it", "What it rests on", "Example", "target "] {
                assert!(text.contains(part), "{rule}: {part}");
            }
        }
    }

    #[test]
    fn text_is_wrapped_between_words() {
        let text = wrapped(&"word ".repeat(50), "  ");
        assert!(text.lines().all(|line| line.starts_with("  word") && line.len() <= WIDTH));
        assert_eq!(text.split_whitespace().count(), 50);
    }
}
