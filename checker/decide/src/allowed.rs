//! What a file says is not to be reported of it.

use crate::decision::{Allowed, Finding};
use crate::question::Options;
use crate::remark::{Remark, remarks};
use barcheck_engine::{Levels, Settings};
use barcheck_model::program::Target;
use barcheck_model::rule::Level;
use barcheck_specs::{Allow, Check, LineIndex, Lint, Linted};

/// The levels of rules with what a file allows, as far as nobody names a level for them.
#[must_use]
pub fn levels(levels: &Levels, allows: &[Allow]) -> Levels {
    with_level(levels, allows, Level::Allow)
}

fn with_level(levels: &Levels, allows: &[Allow], level: Level) -> Levels {
    let rules = allows.iter().filter_map(|allow| match allow.check {
        Check::Rule(rule) => Some((rule, level)),
        Check::Lint(_) => None,
    });
    // The last one for a rule counts: what the user names.
    Levels { changes: rules.chain(levels.changes.iter().copied()).collect(), ..levels.clone() }
}

/// What a file allows of what is asked: what the user names a level for is not among it, nor what would not
/// be reported anyway.
pub(crate) struct Allows {
    allowed: Vec<Allowed>,
    spans: Vec<Allow>,
}

impl Allows {
    pub(crate) fn of(allows: Vec<Allow>, target: Target, lines: &LineIndex<'_>, options: &Options) -> Self {
        let in_force = |allow: &Allow| match allow.check {
            Check::Rule(rule) => {
                let levels = &options.settings.levels;
                let named = levels.changes.iter().any(|(named, _)| *named == rule);
                !named && levels.of(rule, target) >= Level::Warning
            }
            Check::Lint(lint) => {
                let named = options.lints.iter().any(|(named, _)| *named == lint);
                !named && options.level_of(lint) >= Level::Warning
            }
        };
        let spans: Vec<Allow> = allows.into_iter().filter(in_force).collect();
        let allowed = spans.iter().map(|allow| Allowed {
            check: allow.check,
            reason: allow.reason.clone(),
            place: lines.place(allow.span),
            findings: Vec::new(),
            remarks: Vec::new(),
        });
        Self { allowed: allowed.collect(), spans }
    }

    /// What an engine is asked: it has to find what is allowed, and may not fail for it.
    pub(crate) fn settings(&self, settings: &Settings) -> Settings {
        let levels = with_level(&settings.levels, &self.spans, Level::Warning);
        Settings { levels, ..settings.clone() }
    }

    /// Takes out of the findings what is allowed.
    pub(crate) fn take_findings(&mut self, findings: Vec<Finding>) -> Vec<Finding> {
        let mut left = Vec::new();
        for finding in findings {
            match self.of_check(Check::Rule(finding.rule)) {
                Some(allowed) => allowed.findings.push(finding),
                None => left.push(finding),
            }
        }
        left
    }

    /// The same of remarks.
    pub(crate) fn take_remarks(&mut self, remarks: Vec<Remark>) -> Vec<Remark> {
        let mut left = Vec::new();
        for remark in remarks {
            match self.of_check(Check::Lint(remark.lint)) {
                Some(allowed) => allowed.remarks.push(remark),
                None => left.push(remark),
            }
        }
        left
    }

    fn of_check(&mut self, check: Check) -> Option<&mut Allowed> {
        self.allowed.iter_mut().find(|allowed| allowed.check == check)
    }

    /// What allows nothing, which is known where all was searched: remarks, as far as they are not allowed.
    /// An `allow` of what is unused does not allow itself. Of `unreached` it is known only if what all agents
    /// can come to is.
    pub(crate) fn idle(
        &mut self,
        (file, target): (&str, Target),
        lines: &LineIndex<'_>,
        options: &Options,
        all_reach_known: bool,
    ) -> Vec<Remark> {
        let itself = Check::Lint(Lint::Unused);
        let mut left = Vec::new();
        for last in [false, true] {
            for (number, allow) in self.spans.clone().iter().enumerate() {
                let is_known = all_reach_known || allow.check != Check::Lint(Lint::Unreached);
                let is_idle = self.allowed[number].count() == 0 && is_known;
                if !is_idle || (allow.check == itself) != last {
                    continue;
                }
                let remarks = remarks(vec![unused(allow)], (file, target), lines, options);
                left.extend(if last { remarks } else { self.take_remarks(remarks) });
            }
        }
        left
    }

    pub(crate) fn into_allowed(self) -> Vec<Allowed> {
        self.allowed
    }
}

fn unused(allow: &Allow) -> Linted {
    let name = allow.check.name();
    let message = match allow.check {
        Check::Rule(_) => format!("nothing violates `{name}`, which is allowed here"),
        Check::Lint(_) => format!("there is no finding of `{name}`, which is allowed here"),
    };
    let diagnostic = Lint::Unused.says(message, allow.span).help("remove it: it would hide the next one");
    Linted { lint: Lint::Unused, diagnostic, subject: format!("allow {name}") }
}
