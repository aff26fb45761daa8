//! Whether loom, on the executable barriers, says the same of a protocol as the exhaustive check of the
//! model.
//!
//! Loom sees rules that a barrier or an assertion reports, deadlocks and data races. It does not see
//! `arrival-race` (only what comes of one), `missing-fence` (its locks order more than the specification
//! does), some data races (for the same reason: if the one access must come first lest a rule end the path,
//! locks order the two) and `stuck-agent` (it explores only what ends). It ends at a deadlock or data race,
//! and goes on after everything else.

use barcheck::gate::{Effort, Extent, Gated, MOST_UNDER_LOOM, Protocol, With, explore};
use barcheck::{Budgets, Levels, Quiet, Settings, Verdict, check};
use barcheck_model::machine::{ExitedThreads, Options};
use barcheck_model::rule::{Level, Rule};
use barcheck_specs::bar::{self, LoadOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// What became of a comparison.
#[derive(Clone, Debug)]
pub(crate) enum Compared {
    /// There is nothing to compare: why.
    Unfit(String),
    /// Both say the same, as far as loom came.
    Agreed {
        /// Loom's run.
        gated: Box<Gated>,
        /// The exhaustive verdict.
        verdict: Verdict,
        /// Rules of level error that only the model sees.
        unseen: BTreeSet<Rule>,
    },
    /// They contradict each other: how.
    Differ(String),
}

/// Rules that threads need not show.
const UNSEEN: [Rule; 4] = [Rule::ArrivalRace, Rule::MissingFence, Rule::DataRace, Rule::StuckAgent];

/// Compares the two on a protocol, within so many seconds.
pub(crate) fn compare(file: &str, text: &str, effort: &Effort) -> Compared {
    let load = LoadOptions { defines: BTreeMap::new() };
    let Ok(loaded) = bar::load(text.as_bytes(), &load) else {
        return Compared::Unfit("malformed".to_owned());
    };
    let program = Arc::new(loaded.program);
    if program.agents.len() > MOST_UNDER_LOOM {
        return Compared::Unfit("too many agents".to_owned());
    }
    let options = Options { exited_threads: ExitedThreads::Hold };
    let settings = Settings {
        all: true,
        // Every rule is reported, so that loom can be held to it.
        levels: Levels { changes: Vec::new(), strict: true, ..Levels::default() },
        budgets: Budgets {
            max_states: Some(200_000),
            max_memory: None,
            timeout: Some(Duration::from_secs(20)),
        },
        ..Settings::default()
    };
    let outcome = check(Arc::clone(&program), options, &settings, &Quiet);
    if !matches!(outcome.verdict, Verdict::Verified | Verdict::Violated) || !outcome.statistics.complete {
        return Compared::Unfit(format!("the check says {}", outcome.verdict.name()));
    }
    let rules: BTreeSet<Rule> = outcome.findings.iter().map(|found| found.finding.rule).collect();
    let protocol = match Protocol::parse(file, text.as_bytes(), &BTreeMap::new(), options) {
        Ok(protocol) => protocol,
        Err(why) => return Compared::Unfit(why),
    };
    let gated = explore(&protocol, With::Loom, effort, Command::new(env!("CARGO_BIN_EXE_barcheck")));
    let gated = match gated {
        Ok(gated) => gated,
        Err(contradiction) => return Compared::Differ(contradiction),
    };
    if let Some(why) = gated.unfit.as_ref().or(gated.gave_up.as_ref()).cloned() {
        return Compared::Unfit(why);
    }
    let invented: Vec<_> = gated.rules.difference(&rules).map(|rule| rule.name()).collect();
    if !invented.is_empty() {
        return Compared::Differ(format!("loom sees {invented:?}, the exhaustive check does not"));
    }
    let terminal = gated.rules.contains(&Rule::Deadlock) || gated.rules.contains(&Rule::DataRace);
    let visible = rules.iter().filter(|rule| !UNSEEN.contains(rule));
    let missed: Vec<_> = visible.filter(|rule| !gated.rules.contains(rule)).map(|rule| rule.name()).collect();
    if gated.extent == Some(Extent::Everything) && !terminal && !missed.is_empty() {
        return Compared::Differ(format!("loom went through every schedule and does not see {missed:?}"));
    }
    let level = |rule: &Rule| rule.default_level(program.target);
    let unseen =
        rules.iter().copied().filter(|rule| UNSEEN.contains(rule) && level(rule) == Level::Error).collect();
    Compared::Agreed { gated: Box::new(gated), verdict: outcome.verdict, unseen }
}
