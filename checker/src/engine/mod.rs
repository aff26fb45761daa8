//! The engine: exhaustive search over packed states.

mod answer;
mod checkpoint;
mod crew;
mod expand;
mod explore;
mod growth;
mod known;
mod layout;
mod memory;
mod numbering;
mod order;
mod paths;
mod pipeline;
mod races;
mod recent;
mod rehearsal;
mod report;
mod rest;
mod resume;
mod rush;
mod schedule;
mod search;
mod steps;
mod store;
mod stubborn;
mod stuck;
mod swift;
mod symmetry;
mod table;
mod tables;
mod team;

use crate::settings::{Budgets, Control, Note, Progress, Reduction, Settings};
use crate::verdict::{Engine, Found, Inconclusive, Method, Outcome, Statistics, Verdict};
use answer::{Answer, Undecided};
use barcheck_model::machine::{Machine, Options};
use barcheck_model::program::{AgentId, Pc, Program};
use barcheck_model::rule::Level;
use checkpoint::{Checkpoint, Saved};
use resume::Unusable;
use search::{Pause, Search, Shown};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use store::Store;
use symmetry::Symmetry;
use tables::Tables;

/// Configurations worked out, in all, to find agents that behave alike although their code mentions who they are.
const MOST_UNFOLDED: usize = 50_000;

/// States that a search may find at most to replace what one schedule has found by something shorter to read.
const MOST_TO_SHORTEN: u64 = 50_000;

/// Why a run that ends early says enough.
const BY_ONE_RUN: &str = "one run is enough to show a violation";

/// The widths, in words, for which states are specialised.
macro_rules! widths {
    ($words:expr, $call:ident $(, $arg:expr)*) => {
        match $words {
            0..=1 => $call::<1>($($arg),*),
            2 => $call::<2>($($arg),*),
            3 => $call::<3>($($arg),*),
            4 => $call::<4>($($arg),*),
            5..=6 => $call::<6>($($arg),*),
            7..=8 => $call::<8>($($arg),*),
            9..=16 => $call::<16>($($arg),*),
            17..=32 => $call::<32>($($arg),*),
            33..=64 => $call::<64>($($arg),*),
            65..=128 => $call::<128>($($arg),*),
            _ => $call::<1024>($($arg),*),
        }
    };
}

/// Decides a protocol.
///
/// Explores every interleaving, up to what `settings` say need not be searched and the budgets they set.
/// The result depends on the protocol, the options and the settings only, unless time runs out or
/// `control` ends the search.
#[must_use]
pub fn check(program: Arc<Program>, options: Options, settings: &Settings, control: &dyn Control) -> Outcome {
    let started = Instant::now();
    let machine = Machine::new(program.clone(), options);
    let job = Job { program, options, settings, control, started };
    match settings.reduction {
        Reduction::None | Reduction::Symmetry => {
            job.search(settings.reduction, settings.budgets, "asked for".to_owned())
        }
        Reduction::Schedule => job.schedule(machine, false),
        Reduction::Stubborn => job.stubborn(machine, None),
        Reduction::Auto => job.schedule(machine, true),
    }
}

/// A protocol to decide.
struct Job<'j> {
    program: Arc<Program>,
    options: Options,
    settings: &'j Settings,
    control: &'j dyn Control,
    started: Instant,
}

impl Job<'_> {
    /// Searches.
    fn search(&self, reduction: Reduction, budgets: Budgets, why: String) -> Outcome {
        // A search that is not the last word is short: it needs no help.
        let is_last = budgets == self.settings.budgets;
        let settings = Settings {
            reduction,
            budgets,
            compact: self.settings.compact && is_last,
            checkpoint: self.settings.checkpoint.clone().filter(|_| is_last),
            ..self.settings.clone()
        };
        let outcome = match settings.checkpoint.as_ref().map(|folder| folder.join(self.identity(reduction))) {
            Some(folder) => self.search_on(&settings, folder),
            None => begin(&mut self.begun(&settings), &settings),
        };
        Outcome { method: Method { engine: Engine::Search, reduction, why }, ..outcome }
    }

    /// A search that has not found anything yet.
    fn begun<'s>(&'s self, settings: &'s Settings) -> Search<'s> {
        let mut machine = Machine::new(self.program.clone(), self.options);
        if settings.reduction == Reduction::Symmetry {
            self.merge_alike(&mut machine);
        }
        let tables = Tables::new(machine);
        let symmetry = match settings.reduction {
            Reduction::Symmetry => Symmetry::of(&tables),
            _ => Symmetry::none(&tables),
        };
        Search::new(tables, symmetry, settings, self.control, self.started)
    }

    /// Searches from where the checkpoint in a folder says, if there is one, and makes others there.
    fn search_on(&self, settings: &Settings, folder: PathBuf) -> Outcome {
        let resumed = match Checkpoint::load(folder.clone()) {
            Err(why) => Err(Unusable::Unfit(why)),
            Ok(None) => Ok(None),
            Ok(Some(saved)) => {
                let mut search = self.begun(settings);
                search.checkpoint = Some(Checkpoint::new(folder.clone()));
                widths!(saved.width(), resume, &mut search, saved, settings).map(Some)
            }
        };
        let mut search = self.begun(settings);
        match resumed {
            Ok(Some(outcome)) => return outcome,
            // What is there is not touched: this search is over before it has begun.
            Err(Unusable::Unread) => return begin(&mut search, settings),
            Err(Unusable::Unfit(why)) => self.control.notes(Note::CannotResume(&why)),
            Ok(None) => {}
        }
        search.checkpoint = Some(Checkpoint::new(folder));
        begin(&mut search, settings)
    }

    /// A name for what is searched: another protocol, or another question about it, has another.
    fn identity(&self, reduction: Reduction) -> String {
        let mut hasher = DefaultHasher::new();
        let Settings { all, levels, .. } = self.settings;
        let what = (&self.program, self.options, all, levels, reduction, env!("CARGO_PKG_VERSION"));
        format!("{what:?}").hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// Finds out which agents behave alike.
    fn merge_alike(&self, machine: &mut Machine) {
        let timeout = self.settings.budgets.timeout;
        let in_time = || timeout.is_none_or(|limit| self.started.elapsed() < limit);
        let most = MOST_UNFOLDED / machine.automata().len().max(1);
        machine.merge_alike(most, &mut || in_time() && self.control.goes_on(Progress::default()));
    }

    /// Makes one run; `may_go_on` with other engines where that is not enough.
    fn schedule(&self, machine: Machine, may_go_on: bool) -> Outcome {
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
    fn stubborn(&self, mut machine: Machine, because: Option<String>) -> Outcome {
        self.merge_alike(&mut machine);
        let (machine, answer) = stubborn::answer(machine, self.settings, self.control, self.started);
        let method = |why: &str| {
            let why = because.as_ref().map_or(why.to_owned(), |because| format!("{because}; {why}"));
            Method { engine: Engine::Search, reduction: Reduction::Stubborn, why }
        };
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
        let mut machine = Machine::new(self.program.clone(), self.options);
        match rush::rush(&mut machine, self.settings, self.control, self.started, why.agent()) {
            None => self.search(Reduction::Symmetry, budgets, because),
            Some(found) => {
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
                self.outcome(all, None, statistics, method)
            }
        }
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
                    (false, _) => outcome,
                    (true, false) => self.shortened(outcome),
                    (true, true) => self.completed(outcome),
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
        let enough = found.verdict == Verdict::Violated && (!self.settings.all || found.statistics.complete);
        if enough { found } else { outcome }
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
            (found.fault, found.inconclusive) = (None, None);
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
        let inconclusive = inconclusive.filter(|_| verdict == Verdict::Inconclusive);
        let statistics = Statistics { complete: statistics.complete && inconclusive.is_none(), ..statistics };
        Outcome { verdict, findings, fault: None, inconclusive, statistics, method }
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

fn begin(search: &mut Search<'_>, settings: &Settings) -> Outcome {
    if settings.compact {
        search.start::<1>();
        return widths!(search.layout.words, compact, search, settings);
    }
    // The initial numbers fit one word whatever they are: each component has only one so far.
    let mut store = Store::<1>::new();
    if let Some(words) = search.start::<1>() {
        store.insert(words, 0);
    }
    drive(search, store, settings)
}

/// Searches without keeping the states that have been explored.
fn compact<const W: usize>(search: &mut Search<'_>, settings: &Settings) -> Outcome {
    let mut store = Store::<W>::compact(Vec::new());
    search.restart(&mut store);
    let pause = search.run(&mut store);
    if pause == Pause::Widen {
        // The hashes are those of states as they were packed.
        drop(store);
        search.lay_out(search.tables.sizes());
        return widths!(search.layout.words, compact, search, settings);
    }
    search.leave_out_silent();
    let ends = search.ends_of_paths();
    if !ends.is_empty() {
        // Paths need states that have been forgotten: the same search finds them again.
        let wanted = ends.iter().flat_map(|end| store.line(*end)).collect();
        store = Store::compact(wanted);
        let shown = search.shown();
        search.retraces = Some(search.next);
        search.restart(&mut store);
        search.run(&mut store);
        if search.inconclusive == Some(Inconclusive::Interrupted) {
            // Not all of the states are there.
            let interrupted = search.inconclusive.take();
            search.show(Shown::default());
            search.inconclusive = interrupted;
        } else {
            search.show(shown);
        }
    }
    report::outcome(search, &store, settings, pause == Pause::Complete)
}

/// Goes on from a checkpoint; an error says why that cannot be.
fn resume<const W: usize>(
    search: &mut Search<'_>,
    saved: Saved,
    settings: &Settings,
) -> Result<Outcome, Unusable> {
    let store = search.restore::<W>(saved)?;
    search.control.notes(Note::Resumes(store.len() as u64));
    Ok(drive(search, store, settings))
}

/// Searches, repacking whenever the layout has become too narrow.
fn drive<const W: usize>(search: &mut Search<'_>, mut store: Store<W>, settings: &Settings) -> Outcome {
    loop {
        match search.run(&mut store) {
            Pause::Widen => {
                let numbers = search.tables.sizes();
                let wider = numbers.layout();
                // All states will be there twice for a moment.
                search.room().iter().for_each(|room| store.make_way(room));
                if wider.words > W {
                    return widths!(
                        wider.words,
                        repack_and_drive,
                        search,
                        Box::new(store),
                        settings,
                        numbers
                    );
                }
                store = repack(search, &store, &wider);
                search.lay_out(numbers);
            }
            pause => {
                if pause == Pause::Complete || search.stopped_at.is_some() {
                    search.checkpoint.iter().for_each(Checkpoint::remove);
                }
                return report::outcome(search, &store, settings, pause == Pause::Complete);
            }
        }
    }
}

fn repack_and_drive<const V: usize>(
    search: &mut Search<'_>,
    store: Box<dyn Repackable>,
    settings: &Settings,
    numbers: layout::Sizes,
) -> Outcome {
    let wide = {
        let wider = numbers.layout();
        let states = store.numbers(&search.layout).map(|(numbers, parent)| {
            let mut words = [0; V];
            write(&wider, &numbers, &mut words);
            (words, parent)
        });
        Store::<V>::filled(states, search.room().as_ref())
    };
    let wide = wide.misread_like(store.misread());
    // The narrow states are not needed any more, and may be many.
    drop(store);
    search.lay_out(numbers);
    drive(search, wide, settings)
}

/// A store whose width does not matter.
trait Repackable {
    /// As [`Store::misread`].
    fn misread(&self) -> Option<String>;

    /// Every state's numbers, field by field, with the parent that [`Store::states`] gives.
    fn numbers<'s>(
        &'s self,
        layout: &'s layout::Layout,
    ) -> Box<dyn Iterator<Item = (Vec<u32>, store::StateId)> + 's>;
}

impl<const W: usize> Repackable for Store<W> {
    fn misread(&self) -> Option<String> {
        Store::misread(self)
    }

    fn numbers<'s>(
        &'s self,
        layout: &'s layout::Layout,
    ) -> Box<dyn Iterator<Item = (Vec<u32>, store::StateId)> + 's> {
        Box::new(self.states().map(move |(words, parent)| (read(layout, &words), parent)))
    }
}

fn read<const W: usize>(layout: &layout::Layout, words: &layout::Packed<W>) -> Vec<u32> {
    let fields = [layout.rest].into_iter().chain(layout.agents.iter().copied());
    fields.chain(layout.barriers.iter().copied()).map(|f| f.get(words)).collect()
}

/// Fields that the numbers do not reach (barriers that were unknown) stay 0.
fn write<const W: usize>(layout: &layout::Layout, numbers: &[u32], words: &mut layout::Packed<W>) {
    let fields = [layout.rest].into_iter().chain(layout.agents.iter().copied());
    for (field, number) in fields.chain(layout.barriers.iter().copied()).zip(numbers) {
        field.set(words, *number);
    }
}

fn repack<const W: usize>(search: &Search<'_>, store: &Store<W>, wider: &layout::Layout) -> Store<W> {
    let all = |layout: &layout::Layout| -> Vec<layout::Field> {
        let agents = layout.agents.iter().copied();
        [layout.rest].into_iter().chain(agents).chain(layout.barriers.iter().copied()).collect()
    };
    let (from, to) = (all(&search.layout), all(wider));
    let states = store.states().map(|(words, parent)| {
        let mut next = [0; W];
        for (from, to) in from.iter().zip(&to) {
            to.set(&mut next, from.get(&words));
        }
        (next, parent)
    });
    Store::filled(states, search.room().as_ref()).misread_like(store.misread())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Quiet;
    use barcheck_model::machine::{Detail, Finding, Path};
    use barcheck_model::rule::Rule;

    /// What becomes of an answer about a protocol in which nothing is violated.
    fn about_a_correct_protocol<T>(all: bool, ask: impl FnOnce(&Job<'_>) -> T) -> T {
        let text = b"target ptx; cta 64; warps 0..2 { bar.sync 0; }";
        let loaded = barcheck_specs::bar::load(text, &barcheck_specs::bar::LoadOptions::default());
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
            agents: Vec::new(),
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
