//! What `gate` says of a kernel of which threads find a violation that may be none: what `verify` comes to.

use super::args::GateArgs;
use super::memory;
use super::names;
use barcheck::gate::Gated;
use barcheck::{Budgets, Decision, LoadOptions, Options, Settings, Source, Verdict, decide};
use barcheck_model::machine;
use std::collections::BTreeMap;
use std::time::Duration;

/// How long the model decides it where nobody says.
const WITHIN: Duration = Duration::from_secs(20);

/// Values of parameters by their names, with which a kernel is run.
pub(crate) type Given = BTreeMap<String, i64>;

/// What the model comes to, by itself, for the same text under the same options.
pub(crate) fn decided(name: &str, bytes: &[u8], load: &LoadOptions, args: &GateArgs) -> Decision {
    let budgets = Budgets {
        max_states: None,
        max_memory: Some(memory::default_budget()),
        timeout: Some(args.timeout.unwrap_or(WITHIN)),
    };
    let settings = Settings { budgets, ..Settings::default() };
    let readings = machine::Options { exited_threads: args.exited_threads };
    let options = Options { settings, readings, load: load.clone(), ..Options::default() };
    decide(&Source::new(name, bytes), &options)
}

/// The same options with values for parameters.
pub(crate) fn with(load: &LoadOptions, given: &Given) -> LoadOptions {
    let mut load = load.clone();
    load.defines.extend(given.iter().map(|(name, value)| (format!("param.{name}"), *value)));
    load
}

/// Says what the model comes to where threads have shown nothing for certain.
pub(crate) fn tell(gated: &mut Gated, decision: &Decision) {
    let Some(doubt) = &mut gated.doubt else { return };
    let said = match decision.verdict {
        Verdict::Violated => {
            let rule = decision.findings.first().map_or("", |found| found.rule.name());
            let with = match decision.given.is_empty() {
                true => String::new(),
                false => format!(" with {}", in_words(&decision.given)),
            };
            format!("is violated by `{rule}`{with}, which it shows")
        }
        Verdict::Verified => "is verified".to_owned(),
        Verdict::Inconclusive => match &decision.reason {
            Some(reason) => format!("is inconclusive too: {}", reason.what),
            None => "is inconclusive too".to_owned(),
        },
        _ => return,
    };
    let doubt_alone = doubt.strip_suffix("`barcheck verify` says more").unwrap_or(doubt);
    *doubt = format!("{doubt_alone}by `barcheck verify` it {said}");
}

/// `param_2 = 3, param_3 = 1`.
pub(crate) fn in_words(given: &Given) -> String {
    let given = given.iter().map(|(name, value)| format!("{} = {value}", names::plain(name)));
    given.collect::<Vec<_>>().join(", ")
}
