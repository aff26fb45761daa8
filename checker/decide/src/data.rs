//! Violations that rest on data: on branches of a kernel whose outcome is not known and need not be the same
//! for the whole group.
//!
//! The reader of the kernel makes a private choice of such a branch. A violation that is found along with
//! such choices is one for some outcome of them. It does not rest on the data if it is found whatever the
//! data is, as long as all threads see the same: once with all such choices false, once with all true. It
//! does all the same if a run with other data comes to a proper end: `tid == leader` holds for one lane.

use crate::decision::{Finding, Related};
use crate::{doubt, random_runs};
use barcheck_engine::{Control, Settings};
use barcheck_model::program::{Condition, Expr, Op, Place, Program};
use barcheck_model::rule::{Level, Rule};
use barcheck_model::{Patience, machine};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What is needed to decide a program in which the choices are taken away.
pub(crate) struct Asked<'a> {
    pub(crate) program: &'a Arc<Program>,
    /// The places of the branches.
    pub(crate) private: &'a [Place],
    /// Accesses whose addresses are not known.
    pub(crate) addresses: &'a [Place],
    pub(crate) readings: machine::Options,
    pub(crate) settings: &'a Settings,
    pub(crate) control: &'a dyn Control,
    pub(crate) patience: &'a Patience,
}

impl Asked<'_> {
    /// Says of each finding which outcomes it rests on. What is `certain` are the rules that are violated
    /// whatever the data is, as soon as some finding takes a choice.
    pub(crate) fn mark(&self, findings: &mut [Finding], certain: &mut Option<BTreeSet<Rule>>) {
        for finding in findings.iter_mut().filter(|finding| finding.level == Level::Error) {
            let taken = self.taken(finding);
            if taken.is_empty() {
                continue;
            }
            // Asked once for all of them: it takes two searches.
            let certain = certain.get_or_insert_with(|| self.whatever_the_data());
            let rule = finding.rule;
            if certain.contains(&rule)
                && random_runs::may_end_well(
                    self.program,
                    self.readings,
                    (rule, &finding.trace),
                    self.patience,
                )
            {
                certain.remove(&rule);
            }
            if !certain.contains(&finding.rule) {
                finding.data = taken;
            }
        }
    }

    /// The outcomes that a counterexample takes.
    fn taken(&self, finding: &Finding) -> Vec<Related> {
        let mut taken: Vec<Related> = Vec::new();
        for step in doubt::taken((self.private, self.addresses), &finding.trace) {
            let (line, column) = (step.location.line, step.location.column);
            let is_address = self.addresses.iter().any(|place| (place.line, place.column) == (line, column));
            let said = match step.choice.pick {
                _ if is_address => "comes to bytes that others access",
                0 => "takes one way here",
                1 => "takes another way here",
                _ => "takes yet another way here",
            };
            taken.push(Related { agent: step.agent, line, column, role: said.to_owned() });
        }
        taken
    }

    /// The rules that are violated with either outcome of all choices; where both violate other rules, these.
    fn whatever_the_data(&self) -> BTreeSet<Rule> {
        let settings = Settings { all: true, checkpoint: None, ..self.settings.clone() };
        let violated = |outcome: bool| -> BTreeSet<Rule> {
            let program = Arc::new(self.with(outcome));
            let found = barcheck_engine::check(program, self.readings, &settings, self.control);
            let errors = found.findings.iter().filter(|found| found.level == Level::Error);
            errors.map(|found| found.finding.rule).collect()
        };
        let rules = violated(false);
        let others = if rules.is_empty() { BTreeSet::new() } else { violated(true) };
        match (others.is_empty(), rules.is_disjoint(&others)) {
            (true, _) => others,
            (false, true) => &rules | &others,
            (false, false) => &rules & &others,
        }
    }

    /// The program with this outcome of all of the choices.
    fn with(&self, outcome: bool) -> Program {
        let mut program = (**self.program).clone();
        for role in &mut program.roles {
            for (op, place) in role.code.ops.iter_mut().zip(&role.code.places) {
                if !self.private.contains(place) {
                    continue;
                }
                match op {
                    Op::Branch { condition, .. } | Op::Test { condition, .. }
                        if *condition == Condition::Private =>
                    {
                        *condition = Condition::Value(Expr::Int(i64::from(outcome)));
                    }
                    Op::Any(local, _, Expr::Int(to)) => {
                        *op = Op::Set(*local, Expr::Int(if outcome { *to - 1 } else { 0 }));
                    }
                    _ => {}
                }
            }
        }
        program
    }
}

/// Makes warnings of what rests on data.
pub(crate) fn lower(findings: &mut [Finding]) {
    for finding in findings.iter_mut().filter(|finding| !finding.data.is_empty()) {
        finding.level = finding.level.min(Level::Warning);
    }
}
