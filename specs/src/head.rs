//! The head of a file: comments in which the author of a protocol says what it should come to.
//!
//! ```text
//! // expect: violated
//! // rules: deadlock
//! // options: -D STAGES=3 --deny nobody-waits
//! ```
//!
//! A head stands before the first line that is neither blank nor a `//` comment. Its other lines are for
//! people. `rules` are those that are violated at warning level or above when all are reported and pedantic
//! ones are warnings, or `none`; `options` need not be there.

use std::collections::{BTreeMap, BTreeSet};

use barcheck_model::machine::{ExitedThreads, Options};
use barcheck_model::rule::{Level, Rule};

use crate::common::definition::definition;
use crate::common::diagnostic::Diagnostic;
use crate::common::span::{Span, offset};
use crate::common::suggest::closest;

/// What a head says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The verdict.
    pub expect: Expect,
    /// The rules that are violated.
    pub rules: BTreeSet<Rule>,
    /// What is set of the protocol's `param`s.
    pub defines: BTreeMap<String, i64>,
    /// Readings of the specification.
    pub readings: Options,
    /// Levels that are changed; the last one for a rule counts.
    pub changes: Vec<(Rule, Level)>,
}

/// A verdict that can be expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Nothing is violated at error level.
    Verified,
    /// Something is.
    Violated,
    /// A path cannot be followed, or a budget does not suffice.
    Inconclusive,
    /// The text has no meaning, or an evaluation fails.
    Error,
}

impl Expect {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Verified, Self::Violated, Self::Inconclusive, Self::Error];

    /// Its name, as reports have it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Violated => "violated",
            Self::Inconclusive => "inconclusive",
            Self::Error => "error",
        }
    }
}

/// The name of what is wrong with a head, as diagnostics have it.
pub const WRONG_HEAD: &str = "head";

/// What a line of a head begins with.
const KEYS: [&str; 3] = ["expect", "rules", "options"];

/// How the two lines that a head must have are written.
const FORM: &str = "`// expect: verified` (or violated, inconclusive, error) and `// rules: none` (or their \
                    names, joined by commas)";

/// A line of a head: its key, and what stands behind the colon.
#[derive(Clone, Copy)]
struct Line<'t> {
    key: &'t str,
    value: &'t str,
    /// Where the value begins, in bytes of the text.
    at: usize,
}

impl<'t> Line<'t> {
    /// The key and the value of a comment that has them, which begins at a byte of the text.
    fn of(line: &'t str, start: usize) -> Option<Self> {
        let comment = plain(line).strip_prefix("//")?;
        let (key, value) = comment.trim_start_matches('/').split_once(':')?;
        // Both are parts of `line`.
        let at = start + (value.trim_start().as_ptr() as usize - line.as_ptr() as usize);
        Some(Self { key: key.trim(), value: value.trim(), at })
    }

    fn span(self) -> Span {
        Span::new(offset(self.at), offset(self.at + self.value.len()))
    }

    fn span_of(self, word: &str) -> Span {
        let start = self.at + (word.as_ptr() as usize - self.value.as_ptr() as usize);
        Span::new(offset(start), offset(start + word.len()))
    }

    fn wrong(self, message: String) -> Diagnostic {
        Diagnostic::error(WRONG_HEAD, message, self.span())
    }
}

/// The head of a text, if it has one.
///
/// ```
/// use barcheck_specs::head::{Expect, head};
///
/// let text = "// Meets once\n//\n// expect: verified\n// rules: none\ntarget ptx; cta 32; warp 0 { }";
/// let head = head(text).expect("it is well formed").expect("it is there");
/// assert_eq!((head.expect, head.rules.len()), (Expect::Verified, 0));
/// assert_eq!(barcheck_specs::head::head("target ptx; cta 32; warp 0 { }"), Ok(None));
/// ```
///
/// # Errors
/// What it says cannot be, or is not understood.
pub fn head(text: &str) -> Result<Option<Head>, Box<Diagnostic>> {
    let mut found: BTreeMap<&str, Line<'_>> = BTreeMap::new();
    let mut similar: BTreeMap<&str, Line<'_>> = BTreeMap::new();
    for line in comments(text) {
        match KEYS.into_iter().find(|key| *key == line.key) {
            Some(key) => {
                if let Some(earlier) = found.insert(key, line) {
                    let wrong = line.wrong(format!("`{key}:` is said twice"));
                    return Err(wrong.also(earlier.span(), "here, too").into());
                }
            }
            None => {
                if let Some(meant) = closest(line.key, KEYS) {
                    similar.entry(meant).or_insert(line);
                }
            }
        }
    }
    // What begins like an option is meant as one.
    if let (None, Some(line)) = (found.get("options"), similar.get("options"))
        && line.value.starts_with('-')
    {
        return Err(line.wrong(format!("`{}:` is not `options:`", line.key)).into());
    }
    let (expect, rules) = match (found.get("expect"), found.get("rules")) {
        (Some(expect), Some(rules)) => (expect, rules),
        (None, None) => return Ok(None),
        (Some(there), None) => return Err(half(*there, "rules", similar.get("rules")).into()),
        (None, Some(there)) => return Err(half(*there, "expect", similar.get("expect")).into()),
    };
    let mut head = Head {
        expect: verdict(*expect)?,
        rules: rules_of(*rules)?,
        defines: BTreeMap::new(),
        readings: Options::default(),
        changes: Vec::new(),
    };
    if head.expect == Expect::Violated && head.rules.is_empty() {
        return Err(rules.wrong("what is violated violates a rule: name it".to_owned()).into());
    }
    if let Some(options) = found.get("options") {
        set(&mut head, *options)?;
    }
    Ok(Some(head))
}

/// The lines before the first that is neither blank nor a comment, as far as they have a key.
fn comments(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(move |line| {
        let begin = start;
        start += line.len();
        (line, begin)
    });
    let is_head = |(line, _): &(&str, usize)| plain(line).is_empty() || plain(line).starts_with("//");
    lines.take_while(is_head).filter_map(|(line, begin)| Line::of(line, begin))
}

/// A line without what is not seen of it: white space, and the mark that some editors begin a file with.
fn plain(line: &str) -> &str {
    line.trim_start_matches('\u{feff}').trim()
}

/// Where a text that has no head has a line of one nevertheless: the number of that line, from 1. It stands
/// too late to be one.
#[must_use]
pub fn misplaced(text: &str) -> Option<usize> {
    let is_one = |line: &str| Line::of(line, 0).is_some_and(|line| line.key == "expect");
    text.lines().position(is_one).map(|index| index + 1)
}

/// A head that says only half.
fn half(there: Line<'_>, missing: &str, similar: Option<&Line<'_>>) -> Diagnostic {
    let wrong = there.wrong(format!("the head says `{}:` and not `{missing}:`", there.key));
    let wrong = match similar {
        Some(line) => wrong.also(line.span(), format!("`{}:` is not `{missing}:`", line.key)),
        None => wrong,
    };
    wrong.help(format!("a head has both: {FORM}"))
}

fn verdict(line: Line<'_>) -> Result<Expect, Box<Diagnostic>> {
    let names = Expect::ALL.map(Expect::name);
    let found = Expect::ALL.into_iter().find(|expect| expect.name() == line.value);
    found.ok_or_else(|| {
        let said = match line.value {
            "" => "the verdict is missing".to_owned(),
            value => format!("`{value}` is not a verdict"),
        };
        let wrong = line.wrong(format!("{said}; there are {}", names.join(", ")));
        let meant = closest(line.value, names).map(|meant| format!("did you mean `{meant}`?"));
        wrong.help_if(meant).into()
    })
}

fn rules_of(line: Line<'_>) -> Result<BTreeSet<Rule>, Box<Diagnostic>> {
    if line.value == "none" {
        return Ok(BTreeSet::new());
    }
    line.value.split(',').map(|name| rule(line, name.trim())).collect()
}

fn rule(line: Line<'_>, name: &str) -> Result<Rule, Box<Diagnostic>> {
    if let Some(rule) = Rule::from_name(name) {
        return Ok(rule);
    }
    let wrong = match name {
        "" => line.wrong("the name of a rule is missing, or `none`".to_owned()),
        _ => Diagnostic::error(WRONG_HEAD, format!("`{name}` is not a rule"), line.span_of(name)),
    };
    let meant = closest(name, Rule::ALL.iter().map(|rule| rule.name()));
    let meant = meant
        .map_or_else(|| "`barcheck rules` lists them".to_owned(), |meant| format!("did you mean `{meant}`?"));
    Err(wrong.help(meant).into())
}

/// Takes the options of a head, which are those of `barcheck verify` that change what a protocol comes to.
fn set(head: &mut Head, line: Line<'_>) -> Result<(), Box<Diagnostic>> {
    let mut words = line.value.split_whitespace();
    while let Some(word) = words.next() {
        let at = |message: String| Box::new(Diagnostic::error(WRONG_HEAD, message, line.span_of(word)));
        let (name, joined) = match word.split_once('=') {
            Some((name, value)) if name.starts_with("--") => (name, Some(value)),
            _ if word.len() > 2 && word.starts_with("-D") => ("-D", word.get(2..)),
            _ => (word, None),
        };
        let level = match name {
            "-D" | "--exited-threads" => None,
            "--deny" => Some(Level::Error),
            "--warn" => Some(Level::Warning),
            "--allow" => Some(Level::Allow),
            _ => {
                let known = "-D NAME=VALUE, --deny RULE, --warn RULE, --allow RULE, --exited-threads READING";
                return Err(at(format!("a head has no option `{name}`"))
                    .help(format!("it may have {known}"))
                    .into());
            }
        };
        let value = joined.or_else(|| words.next()).ok_or_else(|| at(format!("`{name}` has no value")))?;
        match level {
            Some(level) => {
                for name in value.split(',') {
                    head.changes.push((rule(line, name)?, level));
                }
            }
            None if name == "-D" => {
                let (name, value) = definition(value).map_err(at)?;
                head.defines.insert(name, value);
            }
            None => {
                head.readings.exited_threads = match value {
                    "hold" => ExitedThreads::Hold,
                    "release" => ExitedThreads::Release,
                    _ => return Err(at(format!("`{value}` is no reading; there are hold and release"))),
                };
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> (String, String) {
        let wrong = head(text).expect_err("it is wrong");
        (wrong.message.clone(), wrong.primary.span.text(text).to_owned())
    }

    #[test]
    fn a_head_says_verdict_rules_and_options() {
        let text = "\n// A title: of two words\n\n///   expect:violated\n// rules: deadlock, data-race \n\
                    // options: -D N=0x10 -DM=-1 --deny nobody-waits,data-race --allow=deadlock \
                    --exited-threads release\r\ntarget ptx;\n";
        let head = head(text).expect("it is well formed").expect("it is there");
        assert_eq!(head.expect, Expect::Violated);
        assert_eq!(head.rules, BTreeSet::from([Rule::Deadlock, Rule::DataRace]));
        assert_eq!(head.defines, BTreeMap::from([("M".to_owned(), -1), ("N".to_owned(), 16)]));
        assert_eq!(head.readings.exited_threads, ExitedThreads::Release);
        let changes = [
            (Rule::NobodyWaits, Level::Error),
            (Rule::DataRace, Level::Error),
            (Rule::Deadlock, Level::Allow),
        ];
        assert_eq!(head.changes, changes);
    }

    #[test]
    fn what_stands_behind_the_first_statement_is_no_head() {
        let text = "target ptx;\n// expect: verified\n// rules: none\n";
        assert_eq!((head(text), misplaced(text)), (Ok(None), Some(2)));
        assert_eq!((head(""), misplaced("")), (Ok(None), None));
        assert_eq!(head("/* expect: verified */\n// rules: none"), Ok(None));
    }

    #[test]
    fn what_a_head_cannot_say_is_named_at_its_place() {
        let said = |lines: &str, message: &str, place: &str| {
            let (found, at) = wrong(lines);
            assert!(found.contains(message), "{found}");
            assert_eq!(at, place, "{found}");
        };
        said("// expect: fine\n// rules: none", "`fine` is not a verdict", "fine");
        said("// expect: violated\n// rules: none", "violates a rule", "none");
        said("// expect: verified\n// rules: dedlock, none", "`dedlock` is not a rule", "dedlock");
        said("// expect: verified\n// rules: none,", "`none` is not a rule", "none");
        said("// expect: verified", "not `rules:`", "verified");
        said("// rules: none\n// expects: verified", "not `expect:`", "none");
        said("// expect: verified\n// expect: error\n// rules: none", "said twice", "error");
        let options = |text: &str, message: &str, place: &str| {
            said(&format!("// expect: verified\n// rules: none\n{text}"), message, place);
        };
        options("// option: -D N=1", "`option:` is not `options:`", "-D N=1");
        options("// options: --max-states 5", "no option `--max-states`", "--max-states");
        options("// options: -D", "has no value", "-D");
        options("// options: -D N=1..3", "`1..3` is not an integer", "-D");
        options("// options: --deny warnings", "`warnings` is not a rule", "warnings");
        options("// options: --exited-threads maybe", "`maybe` is no reading", "--exited-threads");
    }

    #[test]
    fn a_byte_order_mark_and_an_empty_end_are_no_part_of_a_head() {
        let text = "\u{feff}// expect: verified\r\n// rules: none\r\n";
        assert!(head(text).is_ok_and(|head| head.is_some_and(|head| head.expect == Expect::Verified)));
        let (message, at) = wrong("// rules: none\n// expect:");
        assert!(message.starts_with("the verdict is missing") && at.is_empty(), "{message}");
        assert!(wrong("// rules:\n// expect: verified").0.contains("rule is missing"));
    }

    #[test]
    fn words_that_resemble_a_key_are_prose_where_the_key_is_there() {
        let text =
            "// except: for this\n// rule: of thumb\n// option: none\n// expect: verified\n// rules: none";
        assert!(head(text).is_ok_and(|head| head.is_some()));
    }
}
