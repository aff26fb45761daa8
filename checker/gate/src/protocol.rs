//! A protocol to be gated, and the counterexamples that a schedule of it becomes.

use super::record::Step;
use barcheck_counterexamples::{SourceInfo, Trace, What};
use barcheck_decide::{Budgets, Patience, Unconfirmed, confirm, doubt};
use barcheck_model::machine::{Choice, End, Finding, Machine, Options, Path, Pending, State, StepOutcome};
use barcheck_model::program::{AgentId, Program, Target};
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::{Check, Extracted, LoadOptions, Source, load};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A protocol, and where it comes from.
#[derive(Clone, Debug)]
pub struct Protocol {
    pub(super) program: Arc<Program>,
    pub(super) options: Options,
    pub(super) source: SourceInfo,
    /// The rules that the file allows.
    pub(super) allowed: Vec<Rule>,
    /// Where it was extracted from a compiled kernel, how.
    extracted: Option<Extracted>,
}

/// Why there is no protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unread {
    /// The text is wrong: what is, for people, with file, line and column.
    Wrong(String),
    /// It is not followed: likewise.
    Beyond(String),
}

impl Unread {
    /// What it says.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Wrong(text) | Self::Beyond(text) => text,
        }
    }
}

impl Protocol {
    /// Reads a protocol out of what a file of that name holds, with values for its `param`s.
    ///
    /// # Errors
    /// What is wrong with the text, for people, with file, line and column.
    pub fn parse(
        file: &str,
        bytes: &[u8],
        defines: &BTreeMap<String, i64>,
        options: Options,
    ) -> Result<Self, String> {
        Self::read(file, bytes, defines, options).map_err(Unread::into_text)
    }

    /// The same; of a module of compiled kernels one has to be named by `entry.index` among the values.
    ///
    /// # Errors
    /// What is wrong with the text, or what of it threads cannot run.
    pub fn read(
        file: &str,
        bytes: &[u8],
        defines: &BTreeMap<String, i64>,
        options: Options,
    ) -> Result<Self, Unread> {
        let load_options = LoadOptions { defines: defines.clone() };
        let loaded = load(&Source::new(file, bytes), &load_options).map_err(|error| {
            let said = barcheck_specs::render(&error.diagnostics, file, &error.text, false);
            if error.not_followed().is_some() { Unread::Beyond(said) } else { Unread::Wrong(said) }
        })?;
        let source = SourceInfo {
            file: file.to_owned(),
            format: loaded.format.name().to_owned(),
            defines: loaded.used_defines(&load_options),
            text: loaded.text,
        };
        let allowed = loaded.allows.iter().filter_map(|allow| match allow.check {
            Check::Rule(rule) => Some(rule),
            Check::Lint(_) => None,
        });
        let allowed = allowed.collect();
        let extracted = loaded.extracted;
        Ok(Self { program: Arc::new(loaded.program), options, source, allowed, extracted })
    }

    /// The kernel that it was extracted from, if it was.
    #[must_use]
    pub fn kernel(&self) -> Option<&str> {
        self.extracted.as_ref().map(|extracted| extracted.entry.as_str())
    }

    /// The position of that kernel among those of its module, from 0.
    #[must_use]
    pub fn entry(&self) -> Option<usize> {
        self.extracted.as_ref().map(|extracted| extracted.index)
    }

    /// Why a run of a kernel may be none.
    pub(super) fn doubt(&self, trace: &Trace) -> Option<String> {
        doubt::doubt(&self.program, self.extracted.as_ref()?, trace)
    }

    /// The number of agents.
    #[must_use]
    pub fn agents(&self) -> usize {
        self.program.agents.len()
    }

    /// The level of a rule: the usual one, unless the file allows it.
    pub(super) fn level_of(&self, rule: Rule) -> Level {
        if self.allowed.contains(&rule) { Level::Allow } else { rule.default_level(self.program.target) }
    }

    /// The system whose barriers it uses.
    #[must_use]
    pub fn target(&self) -> Target {
        self.program.target
    }

    /// The counterexample that a path is, shortened and replayed on the model alone, within budgets.
    ///
    /// # Errors
    /// Where the model departs from it, or nobody knows in time.
    pub(super) fn trace(
        &self,
        path: &Path,
        (finding, level): (&Finding, Level),
        budgets: Budgets,
    ) -> Result<Trace, Unconfirmed> {
        let what = What::Finding(finding, level);
        confirm(&self.program, self.options, &self.source, (path, what), budgets).map(|whole| whole.trace)
    }

    /// Follows the steps of a schedule in the model, up to where it violates `rule`.
    ///
    /// # Errors
    /// The model contradicts the schedule: says where and how.
    pub(super) fn follow(
        &self,
        steps: &[Step],
        rule: Rule,
        patience: &Patience,
    ) -> Result<(Path, Finding), Unconfirmed> {
        match self.followed(steps, rule, patience) {
            _ if patience.has_run_out() => Err(Unconfirmed::Late),
            followed => followed.map_err(Unconfirmed::Departs),
        }
    }

    fn followed(&self, steps: &[Step], rule: Rule, patience: &Patience) -> Result<(Path, Finding), String> {
        let followed = self.as_made(steps, rule, patience);
        match (followed, steps.split_last()) {
            (Err(how), Some((last, before))) if last.lands => {
                self.landing_earlier(before, *last, rule, patience).ok_or(how)
            }
            (followed, _) => followed,
        }
    }

    /// The same for a schedule that ends with a landing which violates a rule, where that is also so at an
    /// earlier moment. Phases and lives of an object that are long over are one to the model, as what lands
    /// in them could have landed when it first was too late.
    fn landing_earlier(
        &self,
        before: &[Step],
        landing: Step,
        rule: Rule,
        patience: &Patience,
    ) -> Option<(Path, Finding)> {
        let mut machine = Machine::within(Arc::clone(&self.program), self.options, patience.clone());
        let mut state = machine.initial();
        let (mut made, mut in_flight) = (Vec::new(), InFlight::default());
        for step in before {
            let choice = in_flight.choice(*step, &state)?;
            made.push(choice);
            let next = match machine.step(&state, choice) {
                StepOutcome::NoEffect => continue,
                StepOutcome::Progress(progressed) | StepOutcome::Noted(progressed, _) => progressed.state,
                StepOutcome::Disabled | StepOutcome::Error(_) => return None,
            };
            in_flight.left(*step, &state, &next);
            state = next;
            if let Some(lands) = in_flight.choice(landing, &state)
                && let StepOutcome::Error(end) = machine.step(&state, lands)
                && let End::Violation(finding) = *end
                && finding.rule == rule
            {
                made.push(lands);
                return Some((Path { steps: made, cycle_from: None }, finding));
            }
        }
        None
    }

    fn as_made(&self, steps: &[Step], rule: Rule, patience: &Patience) -> Result<(Path, Finding), String> {
        let mut machine = Machine::within(Arc::clone(&self.program), self.options, patience.clone());
        let mut state = machine.initial();
        let (mut made, mut in_flight) = (Vec::new(), InFlight::default());
        let path_of = |made: &[Choice]| Path { steps: made.to_vec(), cycle_from: None };
        let of_rule = |findings: Vec<Finding>| findings.into_iter().find(|finding| finding.rule == rule);
        for (n, step) in steps.iter().enumerate() {
            let who =
                format!("step {} (agent {}{})", n + 1, step.agent, if step.lands { ", landing" } else { "" });
            let choice =
                in_flight.choice(*step, &state).ok_or_else(|| format!("{who}: nothing is in flight"))?;
            made.push(choice);
            let (next, noted) = match machine.step(&state, choice) {
                StepOutcome::Disabled => return Err(format!("{who} cannot be made in the model")),
                StepOutcome::NoEffect => continue,
                StepOutcome::Progress(progressed) => (progressed.state, Vec::new()),
                StepOutcome::Noted(progressed, noted) => (progressed.state, noted),
                StepOutcome::Error(end) => {
                    let found = match *end {
                        End::Violation(finding) => vec![finding],
                        End::Fault { noted, .. } | End::Cut { noted, .. } => noted,
                    };
                    let rules: Vec<_> = found.iter().map(|finding| finding.rule.name()).collect();
                    return of_rule(found).map(|finding| (path_of(&made), finding)).ok_or_else(|| {
                        format!("{who} ends the path in the model otherwise ({})", rules.join(", "))
                    });
                }
            };
            in_flight.left(*step, &state, &next);
            state = next;
            // What ends no path is reported at the first step that shows it.
            if let Some(finding) = of_rule(noted).or_else(|| of_rule(machine.judge(&state))) {
                return Ok((path_of(&made), finding));
            }
        }
        let found = of_rule(machine.judge(&state)).map(|finding| (path_of(&made), finding));
        found.ok_or_else(|| format!("the model finds no `{rule}` in the {} steps", steps.len()))
    }
}

/// What each agent has left in flight in the model so far, in the order of its program.
#[derive(Default)]
struct InFlight {
    left: BTreeMap<AgentId, Vec<Pending>>,
}

impl InFlight {
    /// The step to be made in the model; `None` for a landing of what is not in flight there.
    fn choice(&self, step: Step, state: &State) -> Option<Choice> {
        let agent = AgentId(step.agent);
        if !step.lands {
            return Some(Choice::of(agent, 0, step.pick));
        }
        let operation = self.left.get(&agent)?.get(step.pick as usize)?;
        let index = state.pending_of(agent).iter().position(|pending| pending == operation)?;
        Some(Choice::landing(agent, u32::try_from(index).ok()?))
    }

    /// Takes note of what a step of an agent has left in flight, which is one operation at most.
    fn left(&mut self, step: Step, before: &State, after: &State) {
        let agent = AgentId(step.agent);
        let (before, after) = (before.pending_of(agent), after.pending_of(agent));
        if after.len() > before.len() {
            let differs = |at: &usize| before.get(*at) != Some(&after[*at]);
            let new = (0..after.len()).find(differs).map(|at| after[at]);
            self.left.entry(agent).or_default().extend(new);
        }
    }
}
