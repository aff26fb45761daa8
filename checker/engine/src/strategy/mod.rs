//! Which engine decides a protocol, and what follows from its answer.
//!
//! With `--reduction auto` the engines are asked in this order. Each one decides, or has nothing to say, or
//! says why it cannot decide; the reasons are part of the report.
//!
//! 1. *One schedule* ([`crate::schedule`]). Its time is linear in the length of a run. Where the protocol
//!    leaves nothing open, every run is a permutation of that one, and all is decided.
//! 2. *One schedule for each outcome of choices* ([`crate::stubborn`]), if what is open is a choice, or the
//!    order of separated lanes. If something else is open, as which generation an arrival joins, it is open
//!    in each of these schedules as well, and the engine is not asked.
//!    Where these turn out to be many, or there are very many locations, *location by location*
//!    ([`slices`]): the same engines are asked about the protocol with one location at a time, and about
//!    parts of it that share nothing but memory.
//! 3. *A short search* ([`crate::search`]). It covers every interleaving, and protocols with few states need
//!    no more. Where it is not enough, location by location, as above.
//! 4. *Random scheduling* ([`crate::random`]). Where timing decides something and a search is not soon over,
//!    the protocol is most often broken, and some random run shows it: a violation, or else something that
//!    cannot be evaluated. Nothing follows where none does.
//! 5. *The search*, for as long as the budgets last.
//!
//! A violation that one run shows is a violation. A short search follows all the same: it has the shortest
//! path to it. Where all rules are wanted, the search follows that finds all.

mod by_location;
pub(crate) mod locate;
mod other;
mod outcome;
mod said;
mod slices;

use crate::paths::replay;
use crate::random::{self, Shown};
use crate::search::drive::search;
use crate::settings::{Budgets, ByLocation, Reduction};
use crate::verdict::answer::{Answer, Question, Undecided};
use crate::verdict::{Engine, Inconclusive, Method, Outcome, ReachedFault, Statistics, Verdict};
use crate::{schedule, stubborn};
use barcheck_model::agent::LaneValues;
use barcheck_model::machine::{End, Machine};
use barcheck_model::program::{AgentId, Pc};
use barcheck_model::rule::Level;
use by_location::by_location;
use other::{as_if_exits_held, without_pedantry};
use outcome::{asked_for, cut_by_time, has_error, is_partial, out_of_time, outcome, undecided, with_fault};
use said::{Declined, Said};
use slices::{has_many, may_be_sliced};

/// States that a search may find at most to replace what one schedule has found by something shorter to
/// read.
const MOST_TO_SHORTEN: u64 = 50_000;

/// The same, once for each agent: a state takes longer the more agents it has, and the verdict is known.
const MOST_BY_AGENTS: u64 = 800_000;

/// Why a run that ends early says enough.
const BY_ONE_RUN: &str = "one run is enough to show what goes wrong";

/// An engine.
trait Decider {
    /// Whether to ask it, after an engine that could not decide.
    fn may_decide(&self, before: &Declined) -> bool;

    /// Decides the protocol, or says why it cannot. `before` is an engine that could not.
    fn decide(&self, question: &Question<'_>, before: Option<&Declined>) -> Said;
}

/// Decides a protocol. Where local computation was ended since time was up, that is the reason why there is
/// no verdict, and not how far it had come.
pub(crate) fn in_time(question: &Question<'_>) -> Outcome {
    if let Some(most) = question.settings.budgets.max_memory.filter(|most| least_bytes(question) > *most) {
        let why = Some(Inconclusive::Memory(most, Some("the locals of all agents".to_owned())));
        let method = Method { why: "nothing was searched".to_owned(), ..asked_for(Reduction::Auto) };
        return outcome(question, Vec::new(), why, Statistics::default(), method);
    }
    let mut outcome = decide(question);
    if question.patience.has_run_out() {
        for why in outcome.inconclusive.iter_mut().chain(&mut outcome.uncovered) {
            if matches!(why, Inconclusive::Cut { .. } | Inconclusive::Undecided(_)) {
                *why = out_of_time(question, why);
            }
        }
    }
    outcome
}

/// Bytes that the initial state takes at least: agents have locals.
fn least_bytes(question: &Question<'_>) -> u64 {
    let (program, machine) = (&question.program, question.machine());
    // Agents of one class share what is known of them.
    let mut locals = vec![0; machine.automata().len()];
    machine.agents().for_each(|agent| locals[machine.class(agent)] = program.code(agent).locals.len() as u64);
    locals.iter().sum::<u64>() * size_of::<LaneValues>() as u64
}

/// Decides a protocol by the engines that the settings ask for.
fn decide(question: &Question<'_>) -> Outcome {
    match question.settings.reduction {
        Reduction::None | Reduction::Symmetry => {
            let why = "asked for".to_owned();
            search(question, question.settings.reduction, question.settings.budgets, why)
        }
        Reduction::Schedule => alone(question, &OneSchedule),
        Reduction::Stubborn => alone(question, &EachOutcome),
        Reduction::Auto => in_order(question),
    }
}

/// What an engine says that was asked for by name.
fn alone(question: &Question<'_>, engine: &dyn Decider) -> Outcome {
    match engine.decide(question, None) {
        Said::Yes(outcome) if is_partial(&outcome) && question.settings.all => completed(question, *outcome),
        Said::Yes(outcome) => *outcome,
        Said::No => undecided(question, asked_for(question.settings.reduction)),
        Said::WhyNot(declined) => undecided(question, declined.method),
    }
}

/// Asks the engines in order; see the module for why in this one.
fn in_order(question: &Question<'_>) -> Outcome {
    let engines: [&dyn Decider; 3] = [&OneSchedule, &EachLocation, &EachOutcome];
    let mut before: Option<Declined> = None;
    for engine in engines {
        if before.as_ref().is_some_and(|declined| !engine.may_decide(declined)) {
            continue;
        }
        match engine.decide(question, before.as_ref()) {
            Said::Yes(outcome) => return refined(question, *outcome),
            Said::No => {}
            Said::WhyNot(declined) => before = Some(declined),
        }
    }
    match before {
        Some(declined) => search_after(question, &declined),
        None => undecided(question, asked_for(question.settings.reduction)),
    }
}

/// What is verified but for warnings that only a search finds, with those that a short search finds.
fn verified_but_for_warnings(question: &Question<'_>, short: &Outcome) -> Option<Outcome> {
    let settings = without_pedantry(question)?;
    let lenient = question.with(&settings, question.options);
    let engines: [&dyn Decider; 2] = [&OneSchedule, &EachOutcome];
    engines.into_iter().find_map(|engine| match engine.decide(&lenient, None) {
        Said::Yes(verified) if verified.verdict == Verdict::Verified => {
            let mut outcome = *verified;
            outcome.findings.extend(short.findings.clone());
            replay::sort(&question.machine(), &mut outcome.findings);
            outcome.method.why += "; warnings of `reuse-before-free` are those of a short search";
            Some(outcome)
        }
        _ => None,
    })
}

/// Searches, since few runs are not enough. Where that takes long, random scheduling is tried before the
/// end.
fn search_after(question: &Question<'_>, declined: &Declined) -> Outcome {
    let (budgets, because) = (question.settings.budgets, &declined.method.why);
    let whole = || search(question, Reduction::Symmetry, budgets, because.clone());
    let short = short_of(budgets);
    // Where nothing but a search can show what was found, or one is short anyway, there is no use in
    // another.
    let Some(reason) = &declined.reason else { return whole() };
    let apart = || by_location(question, because, &in_order).map(|outcome| refined(question, outcome));
    if question.settings.all {
        return search_all(question, because.clone());
    }
    if budgets == short {
        return whole();
    }
    let found = search(question, Reduction::Symmetry, short, because.clone());
    if !matches!(found.inconclusive, Some(Inconclusive::States(..))) && found.verdict != Verdict::Error {
        return found;
    }
    // A run has shown it, and what comes before it is not soon found. It may have been one of another model,
    // in which exits hold.
    let is_shown = |fault: &ReachedFault| {
        let walked = replay::walk(&mut question.machine(), &fault.path);
        matches!(walked.end, Some(End::Fault { .. }))
    };
    if let Some((fault, statistics)) = declined.fault.as_ref().filter(|(fault, _)| is_shown(fault)) {
        let method = Method { why: BY_ONE_RUN.to_owned(), ..declined.method.clone() };
        let nothing = outcome(question, Vec::new(), None, *statistics, method);
        return with_fault(nothing, fault.clone());
    }
    if let Some(outcome) = apart() {
        return outcome;
    }
    if let Some(verified) = verified_but_for_warnings(question, &found) {
        return verified;
    }
    match (RandomScheduling { first: reason.agent() }).decide(question, Some(declined)) {
        Said::Yes(found) => *found,
        Said::No | Said::WhyNot(_) => cut_by_time(question, found).unwrap_or_else(whole),
    }
}

/// All that is violated. Where a search takes long, location by location.
fn search_all(question: &Question<'_>, why: String) -> Outcome {
    let budgets = question.settings.budgets;
    let short = short_of(budgets);
    if may_be_sliced(question) && budgets != short {
        let found = search(question, Reduction::Symmetry, short, why.clone());
        if found.statistics.complete && question.settings.by_location != ByLocation::Always {
            return found;
        }
        if let Some(outcome) = by_location(question, &why, &in_order) {
            return outcome;
        }
        if let Some(outcome) = cut_by_time(question, found) {
            return outcome;
        }
    }
    search(question, Reduction::Symmetry, budgets, why)
}

/// One run, of which all others are permutations.
struct OneSchedule;

impl Decider for OneSchedule {
    fn may_decide(&self, _: &Declined) -> bool {
        true
    }

    fn decide(&self, question: &Question<'_>, _: Option<&Declined>) -> Said {
        as_if_exits_held(question, &|question| self.run(question))
    }
}

impl OneSchedule {
    fn run(&self, question: &Question<'_>) -> Said {
        let Question { settings, control, started, .. } = *question;
        let (machine, answer) = schedule::answer(question.machine(), settings, control, started);
        let covers = "the protocol leaves nothing open: every run is a permutation of one";
        let method =
            |why| Method { engine: Engine::Schedule, reduction: Reduction::Schedule, whole: true, why };
        said(question, &machine, answer, &|about| {
            method(match about {
                About::All => covers.to_owned(),
                About::OneRun => BY_ONE_RUN.to_owned(),
                About::NotEnough(why) => format!("one schedule is not enough: {why}"),
            })
        })
    }
}

/// A protocol without memory, and then with each location.
struct EachLocation;

impl Decider for EachLocation {
    /// At once where there are very many locations; else once it has turned out that it takes long
    /// otherwise.
    fn may_decide(&self, _: &Declined) -> bool {
        true
    }

    fn decide(&self, question: &Question<'_>, before: Option<&Declined>) -> Said {
        let is_asked = question.settings.by_location == ByLocation::Always || has_many(&question.program);
        if !is_asked {
            return Said::No;
        }
        let because = before.map_or("", |before| before.method.why.as_str());
        by_location(question, because, &in_order).map_or(Said::No, |outcome| Said::Yes(Box::new(outcome)))
    }
}

/// One run for each outcome of choices.
struct EachOutcome;

impl Decider for EachOutcome {
    /// Only where all that is open is a choice, or the order of separated lanes.
    fn may_decide(&self, before: &Declined) -> bool {
        matches!(before.reason, Some(Undecided::Choice(..) | Undecided::Lanes(..)))
    }

    fn decide(&self, question: &Question<'_>, before: Option<&Declined>) -> Said {
        as_if_exits_held(question, &|question| self.runs(question, before))
    }
}

impl EachOutcome {
    fn runs(&self, question: &Question<'_>, before: Option<&Declined>) -> Said {
        // There may be many outcomes of choices. Then it may be that few of them concern one location. And
        // where some are wrong, it is most often not only a few: once there have been very many, random
        // scheduling is tried.
        let mut found = None;
        let mut is_known = |asked: usize| {
            let Some(before) = before else { return false };
            let said = match asked {
                0 if has_many(&question.program) => Said::No,
                0 => by_location(question, &before.method.why, &in_order)
                    .map_or(Said::No, |outcome| Said::Yes(Box::new(outcome))),
                _ if question.settings.all => Said::No,
                _ => RandomScheduling { first: AgentId(0) }.decide(question, Some(before)),
            };
            if let Said::Yes(outcome) = said {
                found = Some(outcome);
            }
            found.is_some()
        };
        let Question { settings, control, started, .. } = *question;
        let machine = question.machine_of_classes();
        let (machine, answer) = stubborn::answer(machine, settings, control, started, &mut is_known);
        if let Some(found) = found {
            return Said::Yes(found);
        }
        let after = |why: String| match before {
            Some(before) => format!("{}; {why}", before.method.why),
            None => why,
        };
        let not_enough = match before {
            Some(_) => "nor is one for each choice",
            None => "one run for each choice is not enough",
        };
        let method =
            |why| Method { engine: Engine::Stubborn, reduction: Reduction::Stubborn, whole: true, why };
        let said = said(question, &machine, answer, &|about| {
            method(after(match about {
                About::All => "one run for each choice is enough, whatever the timing".to_owned(),
                About::OneRun => BY_ONE_RUN.to_owned(),
                About::NotEnough(why) => format!("{not_enough}: {why}"),
            }))
        });
        stubborn::free_beside(machine.bytes() as u64, machine);
        said
    }
}

/// Random runs, in the first of which an agent comes first.
struct RandomScheduling {
    first: AgentId,
}

impl Decider for RandomScheduling {
    fn may_decide(&self, _: &Declined) -> bool {
        true
    }

    fn decide(&self, question: &Question<'_>, before: Option<&Declined>) -> Said {
        let Question { settings, control, started, .. } = *question;
        let mut machine = question.machine();
        let found = random::find(&mut machine, settings, control, started, self.first);
        let Some(shown) = found else { return Said::No };
        let mut all = replay::along(&mut machine, settings, shown.path());
        let steps = shown.path().steps.len() as u64;
        if let Shown::Violation(found) = &shown {
            all.push(found.clone());
        }
        all.retain(|f| f.level >= Level::Warning);
        replay::sort(&machine, &mut all);
        let because = before.map_or(String::new(), |before| format!("{}; ", before.method.why));
        let why = format!("{because}{BY_ONE_RUN}");
        let method = Method { engine: Engine::Schedule, reduction: Reduction::Schedule, whole: true, why };
        let statistics = Statistics {
            states: steps + 1,
            transitions: steps,
            depth: steps,
            seconds: started.elapsed().as_secs_f64(),
            ..Statistics::default()
        };
        let outcome = outcome(question, all, None, statistics, method);
        Said::Yes(Box::new(match shown {
            Shown::Violation(_) => outcome,
            Shown::Fault(fault) => with_fault(outcome, fault),
        }))
    }
}

/// Of what an engine that makes few runs says in words.
enum About {
    /// Why its answer is about all runs.
    All,
    /// Why one run is an answer.
    OneRun,
    /// Why its runs are none.
    NotEnough(String),
}

/// What an engine that makes few runs says; `method` puts the reason into words.
fn said(
    question: &Question<'_>,
    machine: &Machine,
    answer: Answer,
    method: &dyn Fn(About) -> Method,
) -> Said {
    let outcome = match answer {
        Answer::Decided(found, lowered, statistics) => {
            outcome(question, found, lowered, statistics, method(About::All))
        }
        Answer::Faulty(fault, _, _, statistics) if !statistics.complete => {
            let reason = Undecided::Unfollowed(fault.agent, fault.fault.at);
            let why = reason.describe(&|agent, pc| in_line(machine, agent, pc));
            let (method, fault) = (method(About::NotEnough(why)), Some((fault, statistics)));
            return Said::WhyNot(Declined { method, reason: Some(reason), fault });
        }
        Answer::Faulty(fault, found, lowered, statistics) => {
            let outcome = outcome(question, found, lowered, statistics, method(About::All));
            with_fault(outcome, fault)
        }
        Answer::Violated(found, _) if !has_error(&found) => {
            let why = "no path shows what a run has violated".to_owned();
            let method = Method { why, ..method(About::OneRun) };
            return Said::WhyNot(Declined { method, reason: None, fault: None });
        }
        Answer::Violated(found, statistics) => {
            outcome(question, found, None, statistics, method(About::OneRun))
        }
        Answer::GaveUp(reason, statistics) => {
            outcome(question, Vec::new(), Some(reason), statistics, method(About::All))
        }
        Answer::Undecided(reason) => {
            let why = reason.describe(&|agent, pc| in_line(machine, agent, pc));
            let method = method(About::NotEnough(why));
            return Said::WhyNot(Declined { method, reason: Some(reason), fault: None });
        }
    };
    Said::Yes(Box::new(outcome))
}

/// What a search makes of the outcome of few runs: shorter paths, and all rules violated where they are
/// wanted.
fn refined(question: &Question<'_>, outcome: Outcome) -> Outcome {
    if outcome.verdict == Verdict::Error {
        // With a shorter path to it, if that is soon found.
        let found = for_the_shortest(question);
        if found.statistics.complete { found } else { outcome }
    } else if outcome.verdict != Verdict::Violated {
        outcome
    } else if is_partial(&outcome) && question.settings.all {
        completed(question, outcome)
    } else if !outcome.method.whole && outcome.method.engine != Engine::Search {
        // A slice, which has fewer states, was searched as far as the whole would be.
        outcome
    } else {
        shortened(question, outcome)
    }
}

/// A short search for what is known to be there.
fn for_the_shortest(question: &Question<'_>) -> Outcome {
    let agents = question.program.agents.len().max(1) as u64;
    let short = short_of(question.settings.budgets);
    let most = short.max_states.map(|most| most.min(MOST_BY_AGENTS / agents).max(1));
    let why = "a search finds the shortest path".to_owned();
    search(question, Reduction::Symmetry, Budgets { max_states: most, ..short }, why)
}

/// Budgets for a search that is not the last word.
fn short_of(budgets: Budgets) -> Budgets {
    let most = MOST_TO_SHORTEN.min(budgets.max_states.unwrap_or(u64::MAX));
    Budgets { max_states: Some(most), ..budgets }
}

/// A short search, to find what has been found with shorter paths.
fn shortened(question: &Question<'_>, outcome: Outcome) -> Outcome {
    let found = for_the_shortest(question);
    if found.verdict == Verdict::Violated && (!question.settings.all || found.statistics.complete) {
        return found;
    }
    let seconds = question.started.elapsed().as_secs_f64();
    Outcome { statistics: Statistics { seconds, ..outcome.statistics }, ..outcome }
}

/// All that is violated, where one run has shown some of it.
fn completed(question: &Question<'_>, outcome: Outcome) -> Outcome {
    let why = "one run has shown a violation, and a search finds all".to_owned();
    let mut found = search_all(question, why);
    // A path shows the violation, whatever a search says.
    if !found.statistics.complete || found.verdict != Verdict::Violated {
        found.findings.extend(outcome.findings);
        replay::sort(&question.machine(), &mut found.findings);
        found.verdict = Verdict::Violated;
        found.statistics.complete = false;
        found.fault = None;
        found.uncovered = found.inconclusive.take().or(found.uncovered);
    }
    found
}

/// An instruction's place, for people.
fn in_line(machine: &Machine, agent: AgentId, pc: Pc) -> String {
    format!("({}, line {})", machine.program().agent_name(agent), machine.place(agent, pc).line)
}

#[cfg(test)]
mod tests;
