//! Questions that are answered by asking another one.

use super::said::Said;
use crate::settings::{Levels, Settings};
use crate::verdict::Verdict;
use crate::verdict::answer::Question;
use barcheck_model::machine::{ExitedThreads, Options};
use barcheck_model::rule::{Level, Rule};

/// What an engine says of a protocol in which exits may release barriers that have a count of their own.
///
/// It is asked what happens if they do not. Take the first step of some path that such a release follows:
/// up to it nothing is different. All agents that have not arrived there have exited, and somebody waits;
/// without the release nobody is left whose arrival could complete the generation, so the one that waits does
/// so for ever. Whatever follows ends in `deadlock`, in `stuck-agent`, in another violation that ends the
/// path, or where the model cannot follow. Where a protocol is verified nothing of that happens, so no exit
/// ever releases anybody.
pub(super) fn as_if_exits_held(question: &Question<'_>, ask: &dyn Fn(&Question<'_>) -> Said) -> Said {
    let target = question.program.target;
    let shows = [Rule::Deadlock, Rule::StuckAgent];
    if !question.machine().exits_release()
        || shows.iter().any(|rule| question.settings.levels.of(*rule, target) != Level::Error)
    {
        return ask(question);
    }
    let options = Options { exited_threads: ExitedThreads::Hold };
    let held = question.with(question.settings, options);
    match ask(&held) {
        Said::Yes(mut outcome) if outcome.verdict == Verdict::Verified => {
            outcome.method.why += "; no exit releases anybody, since nobody would wait for ever without";
            Said::Yes(outcome)
        }
        Said::WhyNot(declined) => Said::WhyNot(declined),
        Said::Yes(_) | Said::No => ask(question),
    }
}

/// The same settings without a rule that few runs do not decide in every case, if it is but a warning.
///
/// Whether `reuse-before-free` is violated may depend on who comes first where nothing else does. It ends no
/// path and is no error then: what is verified without it is verified.
pub(super) fn without_pedantry(question: &Question<'_>) -> Option<Settings> {
    let (rule, target) = (Rule::ReuseBeforeFree, question.program.target);
    if question.settings.all || question.settings.levels.of(rule, target) != Level::Warning {
        return None;
    }
    let mut changes = question.settings.levels.changes.clone();
    changes.push((rule, Level::Pedantic));
    Some(Settings {
        levels: Levels { changes, ..question.settings.levels.clone() },
        ..question.settings.clone()
    })
}
