//! Checkpoints: what a search has found is kept in a folder, and a search that was killed goes on from there.
//!
//! States and their parents only ever grow by what is appended, so a checkpoint appends what is new and then
//! replaces a small file, the record, which says how much of the others counts. Whenever the process ends,
//! the record fits what it speaks of.
//!
//! What numbers in states stand for is written down for what is neither an agent nor a barrier: for memory
//! above all. As for agents and barriers, the tables (see [`crate::successors::tables`]) come about by what
//! the model has been asked in which order, so it is enough to know at which states it was asked something
//! that gave out a new number or showed something new. Those are few, and are asked again in that order. The
//! states in between were explored as well, but left no trace in the tables.
//!
//! What is in the folder might be damaged, or be another search's. The record carries a digest of itself and
//! of what is searched, by which version of the program; and it has the sums of all other files. Nothing of a
//! record is used before its digest has been compared, and no search goes on before all sums have been. Then
//! the sizes of the tables are compared, and successors of some states are made and must all be there. If
//! something does not fit, the search begins anew.

use super::position::Position;
use crate::packed::layout::Sizes;
use crate::packed::locations::LocationClasses;
use crate::packed::numbering::{Numbered, to_u32};
use crate::packed::residual::Residual;
use crate::visited::disk;
use crate::visited::{FAMILY, Room, StateId, Store};
use barcheck_model::memory::Memory;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Time between two checkpoints, at least.
const INTERVAL: Duration = Duration::from_millis(500);

/// Checkpoints take no more than one part in so many of the time.
const SHARE: u32 = 10;

/// Why a checkpoint cannot be used whose files are not what was written.
const DAMAGED: &str = "files are damaged";

/// Why a checkpoint cannot be used whose digest is another.
const UNSIGNED: &str = "its record is damaged, or was made by another version or of another protocol";

const RECORD: &str = "record.json";

/// What the files hold, and how. Whoever changes that changes this: older checkpoints are not used then.
const FORMAT: &str = "barcheck checkpoint 3";

/// In the list of states at which the tables grew: they grew by a rehearsal.
pub(crate) const REHEARSAL: StateId = StateId::MAX;

/// A file that only grows: how many words of it count, and their sums.
///
/// Each step of a sum is a bijection of the sum so far, and of the word: another word in one place always
/// gives another sum. What would cancel out in one of the two does not in the other. A digest would take
/// longer than writing the states does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Extent {
    words: u64,
    sums: [u64; 2],
}

impl Extent {
    fn add(&mut self, word: u64) {
        let [one, other] = self.sums;
        self.words += 1;
        self.sums = [
            (one.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            other.rotate_left(29).wrapping_add(word).wrapping_mul(0xd6e8_feb8_6659_fd93),
        ];
    }
}

/// The files that only grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    States,
    Parents,
    Asked,
    Rests,
    LocationClasses,
}

impl Part {
    const ALL: [Self; 5] = [Self::States, Self::Parents, Self::Asked, Self::Rests, Self::LocationClasses];
}

/// How far a search has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reached {
    /// The numbers that there were when states were laid out.
    pub(crate) laid_out: Sizes,
    /// The numbers that there are.
    pub(crate) sizes: Sizes,
    pub(crate) at: Position,
    pub(crate) peak_bytes: u64,
    pub(crate) has_rehearsed: bool,
}

/// How a search is kept, if that was asked for.
#[derive(Debug, Default)]
pub(crate) struct Saving {
    /// Where to write down from time to time how far the search has come.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// If there is a checkpoint, the states at which the model was asked something that left a trace, in
    /// order.
    pub(crate) asked: Vec<StateId>,
}

/// The small file: what of the others counts, and how far the search has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    /// The other files have this number in their names. Another layout begins others.
    number: u32,
    /// Words of a state.
    width: usize,
    states: Extent,
    parents: Extent,
    asked: Extent,
    /// Each begins with its number of bytes; words are filled up.
    residuals: Extent,
    /// The abstract values, likewise, each with the number of its location class.
    location_classes: Extent,
    reached: Reached,
}

/// A folder for the checkpoints of one search.
#[derive(Debug)]
pub(crate) struct Checkpoint {
    folder: PathBuf,
    /// What is searched: see [`Checkpoint::new`].
    identity: String,
    /// What is there.
    record: Option<Record>,
    due: Instant,
    has_stopped: bool,
}

impl Checkpoint {
    /// Checkpoints go into this folder, which is made when it is needed. The identity tells what is searched,
    /// and by which version of the program, from everything else: no checkpoint of another is used.
    pub(crate) fn new(folder: PathBuf, identity: String) -> Self {
        Self { folder, identity, record: None, due: Instant::now() + INTERVAL, has_stopped: false }
    }

    fn path(&self, part: Part, number: u32) -> PathBuf {
        let name = match part {
            Part::States => "states",
            Part::Parents => "parents",
            Part::Asked => "asked",
            Part::Rests => "rests",
            Part::LocationClasses => "cells",
        };
        self.folder.join(format!("{name}-{number}"))
    }

    /// Whether it is time for a checkpoint.
    pub(crate) fn is_due(&self) -> bool {
        Instant::now() >= self.due
    }

    /// From now on nothing is written: what is there remains.
    pub(crate) fn stop(&mut self) {
        self.has_stopped = true;
    }

    /// Nobody will go on from here.
    pub(crate) fn remove(&self) {
        // What is left over is in nobody's way.
        let _ = fs::remove_dir_all(&self.folder);
    }

    /// Writes down how far a search has come: the states found, what numbers of residuals and of abstract
    /// values stand for, and the states at which the model was asked something that left a trace.
    pub(crate) fn save<const W: usize>(
        &mut self,
        reached: Reached,
        store: &Store<W>,
        (residuals, location_classes, asked): (&Numbered<Residual>, &LocationClasses, &[StateId]),
    ) -> io::Result<()> {
        if self.has_stopped {
            return Ok(());
        }
        disk::is_there()?;
        let began = Instant::now();
        fs::create_dir_all(&self.folder)?;
        let goes_on = |record: &&Record| record.width == W && record.reached.laid_out == reached.laid_out;
        let before = self.record.as_ref().filter(goes_on);
        let number = self.record.as_ref().map_or(0, |record| record.number + u32::from(before.is_none()));
        let sizes = before.map(|before| &before.reached.sizes);
        let first_residual = sizes.map_or(0, |sizes| sizes.residuals);
        let first_values = sizes.map_or_else(
            || vec![0; reached.sizes.location_classes.len()],
            |sizes| sizes.location_classes.clone(),
        );
        let mut record = Record {
            number,
            width: W,
            states: before.map(|before| before.states).unwrap_or_default(),
            parents: before.map(|before| before.parents).unwrap_or_default(),
            asked: before.map(|before| before.asked).unwrap_or_default(),
            residuals: before.map(|before| before.residuals).unwrap_or_default(),
            location_classes: before.map(|before| before.location_classes).unwrap_or_default(),
            reached,
        };
        let first = usize::try_from(record.states.words).unwrap_or(usize::MAX) / W;
        let states = (first..store.len()).flat_map(|id| store.get(to_u32(id)));
        append(&self.path(Part::States, number), &mut record.states, states)?;
        let parents = remaining(store.first_parents(), record.parents);
        append(&self.path(Part::Parents, number), &mut record.parents, parents)?;
        let asked = remaining(asked, record.asked);
        append(&self.path(Part::Asked, number), &mut record.asked, asked)?;
        let residuals: io::Result<Vec<_>> = residuals.from(first_residual).map(in_words).collect();
        append(&self.path(Part::Rests, number), &mut record.residuals, residuals?.into_iter().flatten())?;
        let values = (0..).zip(&first_values).flat_map(|(location_class, first)| {
            location_classes
                .values(location_class, *first)
                .map(move |value| in_words(&(location_class, value)))
        });
        let values: io::Result<Vec<_>> = values.collect();
        append(
            &self.path(Part::LocationClasses, number),
            &mut record.location_classes,
            values?.into_iter().flatten(),
        )?;
        // A file is replaced as a whole or not at all.
        let new = self.folder.join("record.new");
        fs::write(&new, signed(&disk::to_text(&record)?, &self.identity))?;
        fs::rename(new, self.folder.join(RECORD))?;
        let old = self.record.replace(record).map(|old| old.number).filter(|old| *old != number);
        for part in Part::ALL {
            // What is left over is in nobody's way.
            let _ = old.map(|old| fs::remove_file(self.path(part, old)));
        }
        self.due = Instant::now() + INTERVAL.max(began.elapsed() * SHARE);
        Ok(())
    }

    /// Reads the record, if there is one.
    pub(crate) fn load(folder: PathBuf, identity: String) -> Result<Option<Saved>, String> {
        let text = match fs::read(folder.join(RECORD)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| error.to_string())?,
        };
        let record = of_signed(&text, &identity).ok_or(UNSIGNED)?;
        let record: Record = disk::from_text(record).map_err(|error| error.to_string())?;
        if record.reached.laid_out.layout().words > record.width {
            return Err(DAMAGED.to_owned());
        }
        Ok(Some(Saved { checkpoint: Self::new(folder, identity), record }))
    }
}

/// What comes before the digest of a record, between the two, and after the record.
const AROUND: [&[u8]; 3] = [b"{\"digest\":\"", b"\",\"record\":", b"}\n"];

/// A record with the digest of itself and of what is searched.
fn signed(record: &[u8], identity: &str) -> Vec<u8> {
    let digest = disk::digest(&[FORMAT.as_bytes(), identity.as_bytes(), record]);
    let [before, between, after] = AROUND;
    [before, digest.as_bytes(), between, record, after].concat()
}

/// The record in a text that [`signed`] has made for the same search. Any other byte, and it is none.
fn of_signed<'t>(text: &'t [u8], identity: &str) -> Option<&'t [u8]> {
    let [before, between, after] = AROUND;
    let from = before.len() + disk::DIGEST_BYTES + between.len();
    let record = text.get(from..text.len().checked_sub(after.len())?)?;
    (signed(record, identity) == text).then_some(record)
}

/// The indices that are not in a file yet.
fn remaining(ids: &[StateId], there: Extent) -> impl Iterator<Item = u64> {
    let first = usize::try_from(there.words).unwrap_or(usize::MAX).min(ids.len());
    ids[first..].iter().map(|id| u64::from(*id))
}

/// A thing: its number of bytes, then these.
fn in_words(thing: &impl Serialize) -> io::Result<Vec<u64>> {
    let bytes = disk::to_bytes(thing)?;
    let mut words = vec![bytes.len() as u64];
    words.extend(bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    }));
    Ok(words)
}

/// The next thing, if it is there and sound.
fn next_thing<T: DeserializeOwned>(words: &mut impl Iterator<Item = u64>) -> Option<T> {
    let length = usize::try_from(words.next()?).ok()?;
    let count = length.div_ceil(8);
    let bytes: Vec<u8> = words.take(count).flat_map(u64::to_le_bytes).collect();
    disk::from_bytes(bytes.get(..length)?).ok()
}

/// Appends words to what counts of a file.
fn append(path: &Path, extent: &mut Extent, words: impl Iterator<Item = u64>) -> io::Result<()> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    // What follows was written by a process that has been killed.
    file.set_len(8 * extent.words)?;
    let mut into = BufWriter::with_capacity(1 << 18, file);
    into.seek(SeekFrom::End(0))?;
    for word in words {
        extent.add(word);
        into.write_all(&word.to_le_bytes())?;
    }
    into.flush()
}

/// Words read one after the other; none after an error.
struct Words {
    from: BufReader<File>,
    /// So many have not been read.
    left: u64,
    read: Extent,
}

impl Words {
    fn open(path: &Path, extent: Extent) -> Result<Self, String> {
        let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let from = BufReader::with_capacity(1 << 18, file);
        Ok(Self { from, left: extent.words, read: Extent::default() })
    }

    /// Whether all has been read, as it was written.
    fn agrees(&self, extent: Extent) -> Result<(), String> {
        if self.read == extent { Ok(()) } else { Err(DAMAGED.to_owned()) }
    }
}

impl Iterator for Words {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let mut bytes = [0; 8];
        self.left = self.left.checked_sub(1)?;
        self.from.read_exact(&mut bytes).ok()?;
        let word = u64::from_le_bytes(bytes);
        self.read.add(word);
        Some(word)
    }
}

/// A checkpoint that has been found.
pub(crate) struct Saved {
    checkpoint: Checkpoint,
    record: Record,
}

impl Saved {
    /// Words of a state.
    pub(crate) fn width(&self) -> usize {
        self.record.width
    }

    /// How far the search had come.
    pub(crate) fn reached(&self) -> &Reached {
        &self.record.reached
    }

    /// What the numbers of residuals stand for.
    pub(crate) fn residuals(&self) -> Result<Vec<Residual>, String> {
        self.things(Part::Rests, self.record.residuals)
    }

    /// What the numbers of abstract values stand for, with the number of the location class.
    pub(crate) fn values(&self) -> Result<Vec<(usize, Memory)>, String> {
        let values: Vec<(usize, Memory)> =
            self.things(Part::LocationClasses, self.record.location_classes)?;
        let count = self.record.reached.sizes.location_classes.len();
        if values.iter().all(|(location_class, _)| *location_class < count) {
            Ok(values)
        } else {
            Err(DAMAGED.to_owned())
        }
    }

    fn things<T: DeserializeOwned>(&self, part: Part, extent: Extent) -> Result<Vec<T>, String> {
        let mut words = self.all(part, extent)?.into_iter();
        let things = std::iter::from_fn(|| next_thing(&mut words)).collect();
        if words.len() == 0 { Ok(things) } else { Err(DAMAGED.to_owned()) }
    }

    /// What counts of a file, if it is what was written.
    fn all(&self, part: Part, extent: Extent) -> Result<Vec<u64>, String> {
        let mut words = self.open(part, extent)?;
        let all = words.by_ref().collect();
        words.agrees(extent)?;
        Ok(all)
    }

    /// The states at which the model was asked something that left a trace.
    pub(crate) fn asked(&self) -> Result<Vec<StateId>, String> {
        let asked = self.all(Part::Asked, self.record.asked)?;
        asked.into_iter().map(|id| StateId::try_from(id).map_err(|_| DAMAGED.to_owned())).collect()
    }

    /// The states found.
    pub(crate) fn states<const W: usize>(&self, room: Option<&Room>) -> Result<Store<W>, String> {
        let Record { width, states: in_all, parents: all_parents, reached, .. } = &self.record;
        let layout = reached.laid_out.layout();
        let mut words = self.open(Part::States, *in_all)?;
        let mut parents = self.open(Part::Parents, *all_parents)?;
        let (mut parent, mut count, mut is_sound) = (0, 0_usize, *width == W);
        let states = std::iter::from_fn(|| {
            if count.is_multiple_of(FAMILY) {
                parent = u32::try_from(parents.next()?).ok()?;
            }
            count += 1;
            let mut state = [0; W];
            for word in &mut state {
                *word = words.next()?;
            }
            is_sound &= reached.sizes.hold(&layout, &state);
            is_sound.then_some((state, parent))
        });
        let store = Store::filled(states, room);
        words.agrees(*in_all)?;
        parents.agrees(*all_parents)?;
        match store.failed() {
            Some(error) => Err(error),
            None if (reached.at.next as usize) < store.len() => Ok(store),
            None => Err(DAMAGED.to_owned()),
        }
    }

    fn open(&self, part: Part, extent: Extent) -> Result<Words, String> {
        Words::open(&self.checkpoint.path(part, self.record.number), extent)
    }

    /// Further checkpoints add to this one.
    pub(crate) fn into_checkpoint(self) -> Checkpoint {
        Checkpoint { record: Some(self.record), ..self.checkpoint }
    }
}
