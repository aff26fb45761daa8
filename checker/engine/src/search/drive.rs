//! How a search goes from its first state to its outcome, with states as wide as they have to be.

use super::checkpoint::{Checkpoint, Saved};
use super::lookout::Lookout;
use super::position::Pause;
use super::resume::Unusable;
use super::violations::Violations;
use super::{Search, report};
use crate::packed::layout::{Layout, Packed, Sizes};
use crate::settings::{Budgets, Note, Reduction, Settings};
use crate::successors::canonical::Symmetry;
use crate::successors::tables::Tables;
use crate::verdict::answer::Question;
use crate::verdict::goal::{Seek, Sighting, Wanted};
use crate::verdict::{Engine, Inconclusive, Method, Outcome};
use crate::visited::{StateId, Store, disk};
use std::num::NonZeroUsize;
use std::path::Path;

/// Transitions that a search which is not the last word may make, times the square of the agents: with each
/// of them there is more to know of each other.
const MOST_FOR_ALL_PAIRS: u64 = 1_600_000_000;

/// The digits of a search's name that are in the name of its folder.
const FOLDER_DIGITS: usize = 16;

/// The widths, in words, for which states are specialised. Each takes its time to build; most protocols need
/// four words or fewer, and wider states lose no more than a multiple of what they need.
macro_rules! widths {
    ($words:expr, $call:ident $(, $arg:expr)*) => {
        match $words {
            0..=1 => $call::<1>($($arg),*),
            2 => $call::<2>($($arg),*),
            3 => $call::<3>($($arg),*),
            4 => $call::<4>($($arg),*),
            5..=8 => $call::<8>($($arg),*),
            9..=16 => $call::<16>($($arg),*),
            17..=32 => $call::<32>($($arg),*),
            33..=128 => $call::<128>($($arg),*),
            _ => $call::<1024>($($arg),*),
        }
    };
}

/// Searches.
pub(crate) fn search(
    question: &Question<'_>,
    reduction: Reduction,
    budgets: Budgets,
    why: String,
) -> Outcome {
    // A search that is not the last word is short: it needs no help.
    let is_last = budgets == question.settings.budgets;
    let settings = Settings {
        reduction,
        budgets,
        compact: question.settings.compact && is_last,
        checkpoint: question.settings.checkpoint.clone().filter(|_| is_last),
        threads: if is_last { question.settings.threads } else { Some(NonZeroUsize::MIN) },
        ..question.settings.clone()
    };
    let outcome = match &settings.checkpoint {
        Some(folder) => search_on(question, &settings, folder),
        None => {
            let mut search = begun(question, &settings);
            let pairs = (question.program.agents.len() as u64).pow(2).max(1);
            search.limit.most = (!is_last).then_some(MOST_FOR_ALL_PAIRS / pairs);
            begin(&mut search, &settings)
        }
    };
    Outcome { method: Method { engine: Engine::Search, reduction, whole: true, why }, ..outcome }
}

/// Searches for states. Returns what the search came to, and what it has seen: of all states, and of
/// deadlocks.
pub(crate) fn look_out(
    question: &Question<'_>,
    goal: &[Wanted],
    seek: Seek,
) -> (Outcome, (Vec<Sighting>, Vec<Sighting>)) {
    let settings = Settings {
        reduction: Reduction::Symmetry,
        threads: Some(NonZeroUsize::MIN),
        ..question.settings.clone()
    };
    let mut search = begun(question, &settings);
    let asked = Lookout::asked_of(goal, question.program.agents.len());
    search.symmetry = Symmetry::within(&search.tables, &asked);
    search.lookout = Some(Lookout::new(goal, seek));
    let outcome = begin(&mut search, &settings);
    (outcome, search.lookout.map(|lookout| lookout.sighted).unwrap_or_default())
}

/// A search that has not found anything yet.
fn begun<'s>(question: &'s Question<'_>, settings: &'s Settings) -> Search<'s> {
    let machine = match settings.reduction {
        Reduction::Symmetry => question.machine_of_classes(),
        _ => question.machine(),
    };
    let tables = Tables::new(machine, settings.learnt_bytes);
    let symmetry = match settings.reduction {
        Reduction::Symmetry => Symmetry::of(&tables),
        _ => Symmetry::none(&tables),
    };
    Search::new(tables, symmetry, settings, question.control, question.started)
}

/// Searches from where the checkpoint in a folder says, if there is one, and makes others there.
fn search_on(question: &Question<'_>, settings: &Settings, folder: &Path) -> Outcome {
    let identity = identity(question, settings.reduction);
    let folder = folder.join(&identity[..FOLDER_DIGITS]);
    let mut search = begun(question, settings);
    let resumed = match Checkpoint::load(folder.clone(), with_classes(&identity, &search)) {
        Err(why) => Err(Unusable::Unfit(why)),
        Ok(None) => Ok(None),
        Ok(Some(saved)) => {
            let of_search = with_classes(&identity, &search);
            search.saving.checkpoint = Some(Checkpoint::new(folder.clone(), of_search));
            widths!(saved.width(), resume, &mut search, saved, settings).map(Some)
        }
    };
    let mut search = begun(question, settings);
    match resumed {
        Ok(Some(outcome)) => return outcome,
        // What is there is not touched: this search is over before it has begun.
        Err(Unusable::Unread) => return begin(&mut search, settings),
        Err(Unusable::Unfit(why)) => question.control.notes(Note::CannotResume(&why)),
        Ok(None) => {}
    }
    let identity = with_classes(&identity, &search);
    search.saving.checkpoint = Some(Checkpoint::new(folder, identity));
    begin(&mut search, settings)
}

/// The same with who is alike: a search that is interrupted while that is found out knows fewer who are, and
/// its states are sorted in another way.
fn with_classes(identity: &str, search: &Search<'_>) -> String {
    disk::digest(&[identity.as_bytes(), format!("{:?}", search.tables.class_of).as_bytes()])
}

/// A name for what is searched, in hexadecimal digits: another protocol, another question about it, or
/// another version of the program has another.
fn identity(question: &Question<'_>, reduction: Reduction) -> String {
    let Settings { all, levels, .. } = question.settings;
    let what = (&question.program, question.options, all, levels, reduction, env!("CARGO_PKG_VERSION"));
    disk::digest(&[format!("{what:?}").as_bytes()])
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
    search.violations.leave_out_silent(&search.tables.machine, settings);
    let ends = search.violations.ends_of_paths();
    if !ends.is_empty() {
        // Paths need states that have been forgotten: the same search finds them again.
        let wanted = ends.iter().flat_map(|end| store.line(*end)).collect();
        store = Store::compact(wanted);
        let found = (std::mem::take(&mut search.violations), search.at);
        search.retraces = Some(search.at.next);
        search.restart(&mut store);
        search.run(&mut store);
        if search.violations.inconclusive == Some(Inconclusive::Interrupted) {
            // Not all of the states are there.
            search.violations =
                Violations { inconclusive: Some(Inconclusive::Interrupted), ..Violations::default() };
            (search.at.transitions, search.at.depth) = (0, 0);
        } else {
            (search.violations, search.at) = found;
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
    search.clock.control.notes(Note::Resumes(store.len() as u64));
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
                search.room().iter().for_each(|room| store.spill_all(room));
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
                if pause == Pause::Complete || search.violations.stopped_at.is_some() {
                    search.saving.checkpoint.iter().for_each(Checkpoint::remove);
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
    numbers: Sizes,
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
    fn numbers<'s>(&'s self, layout: &'s Layout) -> Box<dyn Iterator<Item = (Vec<u32>, StateId)> + 's>;
}

impl<const W: usize> Repackable for Store<W> {
    fn misread(&self) -> Option<String> {
        Store::misread(self)
    }

    fn numbers<'s>(&'s self, layout: &'s Layout) -> Box<dyn Iterator<Item = (Vec<u32>, StateId)> + 's> {
        Box::new(self.states().map(move |(words, parent)| (read(layout, &words), parent)))
    }
}

fn read<const W: usize>(layout: &Layout, words: &Packed<W>) -> Vec<u32> {
    layout.fields().map(|field| field.get(words)).collect()
}

/// Fields that the numbers do not reach (barriers that were unknown) stay 0.
fn write<const W: usize>(layout: &Layout, numbers: &[u32], words: &mut Packed<W>) {
    layout.fields().zip(numbers).for_each(|(field, number)| field.set(words, *number));
}

fn repack<const W: usize>(search: &Search<'_>, store: &Store<W>, wider: &Layout) -> Store<W> {
    let fields: Vec<_> = search.layout.fields().zip(wider.fields()).collect();
    let states = store.states().map(|(words, parent)| {
        let mut next = [0; W];
        fields.iter().for_each(|(from, to)| to.set(&mut next, from.get(&words)));
        (next, parent)
    });
    Store::filled(states, search.room().as_ref()).misread_like(store.misread())
}
