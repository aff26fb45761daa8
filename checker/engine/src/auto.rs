//! Which engine decides, and what follows from its answer: `--reduction auto`.

use super::answer::{Answer, Undecided};
use super::{Job, report, rush, schedule, stubborn};
use crate::settings::{Budgets, Reduction};
use crate::verdict::{Engine, Found, Inconclusive, Method, Outcome, Statistics, Verdict};
use barcheck_model::machine::Machine;
use barcheck_model::program::{AgentId, Pc};
use barcheck_model::rule::Level;

/// States that a search may find at most to replace what one schedule has found by something shorter to read.
const MOST_TO_SHORTEN: u64 = 50_000;

/// Why a run that ends early says enough.
const BY_ONE_RUN: &str = "one run is enough to show a violation";

impl Job<'_> {
    /// Makes one run; `may_go_on` with other engines where that is not enough.
    pub(super) fn schedule(&self, machine: Machine, may_go_on: bool) -> Outcome {
        let (machine, answer) = schedule::answer(machine, self.settings, self.control, self.started);
        let all = "the protocol leaves nothing open: every run is a permutation of one";
        let method = |why: &str| {
            let why = why.to_owned();
            Method { engine: Engine::Schedule, reduction: Reduction::Schedule, why }
        };
        let why = match answer {
            Answer::Undecided(why) => why,
            answer => return self.answered(answer, method(all), method(BY_ONE_RUN), may_go_on),
        };
        let place = |agent, pc| in_line(&machine, agent, pc);
        let because = format!("one schedule is not enough: {}", why.describe(&place));
        if !may_go_on {
            return self.undecided(method(&because));
        }
        match why {
            Undecided::Choice(..) | Undecided::Lanes(..) => {
                self.stubborn(Machine::new(self.program.clone(), self.options), Some(because))
            }
            why => self.search_after(because, &why),
        }
    }

    /// Makes one run for each way that choices may go; a search follows if that is not enough and there is a `because`.
    pub(super) fn stubborn(&self, mut machine: Machine, because: Option<String>) -> Outcome {
        self.merge_alike(&mut machine);
        let method = |why: &str| {
            let why = because.as_ref().map_or(why.to_owned(), |because| format!("{because}; {why}"));
            Method { engine: Engine::Search, reduction: Reduction::Stubborn, why }
        };
        // There may be many ways to choose. Where some are wrong, it is most often not only a few.
        let mut found = None;
        let mut by_chance = || {
            let because = because.as_ref().filter(|_| !self.settings.all);
            found = because.and_then(|because| self.by_chance(because, AgentId(0)));
            found.is_some()
        };
        let (machine, answer) =
            stubborn::answer(machine, self.settings, self.control, self.started, &mut by_chance);
        if let Some(found) = found {
            return self.shortened(found);
        }
        match answer {
            Answer::Undecided(why) => {
                let place = |agent, pc| in_line(&machine, agent, pc);
                let why_not = why.describe(&place);
                match because {
                    None => {
                        self.undecided(method(&format!("one run for each choice is not enough: {why_not}")))
                    }
                    Some(_) => {
                        let because = method(&format!("nor is one for each choice: {why_not}")).why;
                        self.search_after(because, &why)
                    }
                }
            }
            answer => {
                let all = "one run for each choice is enough, whatever the timing";
                self.answered(answer, method(all), method(BY_ONE_RUN), because.is_some())
            }
        }
    }

    /// Searches, since few runs are not enough. Where that takes long, runs by chance are tried before: most often something is broken.
    fn search_after(&self, because: String, why: &Undecided) -> Outcome {
        let budgets = self.settings.budgets;
        let most = MOST_TO_SHORTEN.min(budgets.max_states.unwrap_or(u64::MAX));
        let short = Budgets { max_states: Some(most), ..budgets };
        if self.settings.all || budgets.max_states == Some(most) {
            return self.search(Reduction::Symmetry, budgets, because);
        }
        let found = self.search(Reduction::Symmetry, short, because.clone());
        if !matches!(found.inconclusive, Some(Inconclusive::States(..))) && found.verdict != Verdict::Error {
            return found;
        }
        match self.by_chance(&because, why.agent()) {
            None => self.search(Reduction::Symmetry, budgets, because),
            Some(found) => found,
        }
    }

    /// What runs by chance show, if they show an error; in the first of them an agent hurries.
    fn by_chance(&self, because: &str, hurries: AgentId) -> Option<Outcome> {
        let mut machine = Machine::new(self.program.clone(), self.options);
        let found = rush::rush(&mut machine, self.settings, self.control, self.started, hurries)?;
        let mut all = report::along(&mut machine, self.settings, &found.path);
        let steps = found.path.steps.len() as u64;
        all.push(found);
        all.retain(|f| f.level >= Level::Warning);
        report::sort(&machine, &mut all);
        let why = format!("{because}; {BY_ONE_RUN}");
        let method = Method { engine: Engine::Schedule, reduction: Reduction::Schedule, why };
        let statistics = Statistics {
            states: steps + 1,
            transitions: steps,
            depth: steps,
            seconds: self.started.elapsed().as_secs_f64(),
            ..Statistics::default()
        };
        Some(self.outcome(all, None, statistics, method))
    }

    /// What has been decided: `all` says why that is everything, `some` why it is a violation. A search may find shorter paths and the rest.
    fn answered(&self, answer: Answer, all: Method, some: Method, may_search: bool) -> Outcome {
        match answer {
            Answer::Decided(found, lowered, statistics) => {
                let outcome = self.outcome(found, lowered, statistics, all);
                if may_search && outcome.verdict == Verdict::Violated {
                    self.shortened(outcome)
                } else {
                    outcome
                }
            }
            Answer::Violated(found, _) if !has_error(&found) => {
                let why = "no path shows what a run has violated".to_owned();
                if may_search {
                    self.search(Reduction::Symmetry, self.settings.budgets, why)
                } else {
                    self.undecided(Method { why, ..some })
                }
            }
            Answer::Violated(found, statistics) => {
                let outcome = self.outcome(found, None, statistics, some);
                match (may_search, self.settings.all) {
                    (_, true) => self.completed(outcome),
                    (true, false) => self.shortened(outcome),
                    (false, false) => outcome,
                }
            }
            Answer::GaveUp(reason, statistics) => self.outcome(Vec::new(), Some(reason), statistics, all),
            Answer::Undecided(_) => self.undecided(all),
        }
    }

    /// The engine that was asked for does not know.
    fn undecided(&self, method: Method) -> Outcome {
        let reason = Some(Inconclusive::Undecided(method.why.clone()));
        self.outcome(Vec::new(), reason, Statistics::default(), method)
    }

    /// A short search, to find what has been found with shorter paths.
    fn shortened(&self, outcome: Outcome) -> Outcome {
        let most = self.settings.budgets.max_states.unwrap_or(u64::MAX).min(MOST_TO_SHORTEN);
        let budgets = Budgets { max_states: Some(most), ..self.settings.budgets };
        let found = self.search(Reduction::Symmetry, budgets, "a search finds the shortest path".to_owned());
        if found.verdict == Verdict::Violated && (!self.settings.all || found.statistics.complete) {
            return found;
        }
        let seconds = self.started.elapsed().as_secs_f64();
        Outcome { statistics: Statistics { seconds, ..outcome.statistics }, ..outcome }
    }

    /// All that is violated, where one run has shown some of it.
    fn completed(&self, outcome: Outcome) -> Outcome {
        let why = "one run has shown a violation, and a search finds all";
        let mut found = self.search(Reduction::Symmetry, self.settings.budgets, why.to_owned());
        // A path shows the violation, whatever a search says.
        if !found.statistics.complete || found.verdict != Verdict::Violated {
            found.findings.extend(outcome.findings);
            report::sort(&Machine::new(self.program.clone(), self.options), &mut found.findings);
            found.verdict = Verdict::Violated;
            found.statistics.complete = false;
            found.fault = None;
            found.uncovered = found.inconclusive.take().or(found.uncovered);
        }
        found
    }

    fn outcome(
        &self,
        findings: Vec<Found>,
        inconclusive: Option<Inconclusive>,
        statistics: Statistics,
        method: Method,
    ) -> Outcome {
        // Nothing is verified that has not been covered.
        let open = || Inconclusive::Undecided(method.why.clone());
        let inconclusive = inconclusive.or_else(|| (!statistics.complete).then(open));
        let verdict = if has_error(&findings) {
            Verdict::Violated
        } else if inconclusive.is_some() {
            Verdict::Inconclusive
        } else {
            Verdict::Verified
        };
        let uncovered = inconclusive.clone().filter(|_| verdict == Verdict::Violated && self.settings.all);
        let inconclusive = inconclusive.filter(|_| verdict == Verdict::Inconclusive);
        let statistics = Statistics { complete: statistics.complete && inconclusive.is_none(), ..statistics };
        Outcome { verdict, findings, fault: None, inconclusive, uncovered, statistics, method }
    }
}

fn has_error(found: &[Found]) -> bool {
    found.iter().any(|f| f.level == Level::Error)
}

/// An instruction's place, for people.
fn in_line(machine: &Machine, agent: AgentId, pc: Pc) -> String {
    let noun = machine.program().target.agent_noun();
    format!("({noun} {}, line {})", agent.0, machine.place(agent, pc).line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Quiet, Settings};
    use barcheck_model::machine::{Detail, Finding, Options, Path};
    use barcheck_model::rule::Rule;
    use std::sync::Arc;
    use std::time::Instant;

    /// What becomes of an answer about a protocol in which nothing is violated.
    fn about_a_correct_protocol<T>(all: bool, ask: impl FnOnce(&Job<'_>) -> T) -> T {
        let text = b"target ptx; cta 64; warps 0..2 { bar.sync 0; }";
        let loaded = barcheck_specs::bar::load(text, &barcheck_specs::LoadOptions::default());
        let program = Arc::new(loaded.expect("a valid protocol").program);
        let settings = Settings { all, ..Settings::default() };
        let (options, started) = (Options::default(), Instant::now());
        ask(&Job { program, options, settings: &settings, control: &Quiet, started })
    }

    fn found(level: Level) -> Found {
        let finding = Finding {
            rule: Rule::Deadlock,
            agent: AgentId(0),
            pc: Pc(0),
            agents: Default::default(),
            barrier: None,
            detail: Detail::None,
        };
        Found { finding, level, path: Path { steps: Vec::new(), cycle_from: None } }
    }

    fn method(why: &str) -> Method {
        Method { engine: Engine::Schedule, reduction: Reduction::Schedule, why: why.to_owned() }
    }

    fn answered(findings: Vec<Found>, may_search: bool) -> Outcome {
        let answer = Answer::Violated(findings, Statistics::default());
        about_a_correct_protocol(false, |job| job.answered(answer, method("all"), method("some"), may_search))
    }

    #[test]
    fn a_violation_that_nothing_shows_is_left_to_a_search_or_to_the_user() {
        for findings in [Vec::new(), vec![found(Level::Warning)]] {
            let outcome = answered(findings.clone(), false);
            assert_eq!(outcome.verdict, Verdict::Inconclusive);
            assert!(matches!(outcome.inconclusive, Some(Inconclusive::Undecided(_))));
            let outcome = answered(findings, true);
            assert_eq!((outcome.verdict, outcome.method.engine), (Verdict::Verified, Engine::Search));
            assert!(outcome.statistics.complete && outcome.findings.is_empty());
        }
    }

    #[test]
    fn what_has_not_been_covered_is_not_verified() {
        let statistics = Statistics::default();
        let outcome = about_a_correct_protocol(false, |job| {
            job.outcome(Vec::new(), None, statistics, method("one run"))
        });
        assert_eq!(outcome.verdict, Verdict::Inconclusive);
        assert_eq!(outcome.inconclusive, Some(Inconclusive::Undecided("one run".to_owned())));
    }

    #[test]
    fn what_one_run_has_shown_stays_violated_whatever_a_search_says() {
        let outcome = about_a_correct_protocol(true, |job| {
            let answer = Answer::Violated(vec![found(Level::Error)], Statistics::default());
            job.answered(answer, method("all"), method("some"), true)
        });
        assert_eq!((outcome.verdict, outcome.findings.len()), (Verdict::Violated, 1));
        assert!(outcome.inconclusive.is_none() && !outcome.statistics.complete);
    }
}
