//! Old states, on disk: memory is for those that are explored and met now.
//!
//! Breadth-first search meets most states again right after it has found them, by way of another
//! interleaving. The others are on disk twice: as they are, in the order of their discovery, and as pairs of
//! hash and index, in the order of the hashes. Of the pairs memory keeps 16 bits each, and where every few
//! dozens of them begin. A state that agrees with these 16 bits is looked for on disk: one in some thousand
//! new ones, and each that was found long ago. So the answer is exact.
//!
//! Both files have no name: they are gone with the process, however it ends. What cannot be read or written
//! is remembered, and the search ends as inconclusive: nothing that was read afterwards is used.

use super::disk;
use crate::packed::layout::{Packed, hash};
use crate::packed::numbering::to_u32;
use crate::visited::index::StateId;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes read at once, where states are read one after the other.
const BLOCK: usize = 1 << 14;

/// Bytes of a pair of hash and index.
const PAIR: usize = 12;

/// Pairs that share one entry of [`PairIndex::starts`], on average, as a power of two.
const SHARED: u32 = 5;

/// The new pairs are sorted in so many portions, as a power of two, to take little memory.
const PORTIONS: u32 = 4;

/// How much memory states may take, and a folder for those that have no room.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    pub(crate) folder: PathBuf,
    pub(crate) most_bytes: u64,
}

/// The states before some index, on disk.
#[derive(Debug)]
pub(super) struct Spill<const W: usize> {
    folder: PathBuf,
    len: usize,
    states: Mutex<States<W>>,
    index: PairIndex,
}

/// The states in the order of discovery, and those of one block of them in memory.
#[derive(Debug)]
struct States<const W: usize> {
    file: File,
    /// What was read last.
    bytes: Vec<u8>,
    block: Vec<Packed<W>>,
    first: usize,
    failed: Option<String>,
}

impl<const W: usize> Spill<W> {
    /// No states yet. The folder is where files are to be made.
    pub(super) fn new(folder: &Path) -> io::Result<Self> {
        let file = disk::unnamed_file(folder)?;
        let states = States { file, bytes: Vec::new(), block: Vec::new(), first: 0, failed: None };
        let index = PairIndex::empty(folder)?;
        Ok(Self { folder: folder.to_owned(), len: 0, states: Mutex::new(states), index })
    }

    /// Bytes of memory in use.
    pub(super) fn bytes(&self) -> u64 {
        (self.index.bytes() + 2 * BLOCK.max(size_of::<Packed<W>>())) as u64
    }

    /// Bytes of memory in use once so many further states are here.
    pub(super) fn bytes_with(&self, more: usize) -> u64 {
        Self::bytes_for(self.len + more)
    }

    /// Bytes of memory that so many states take, and those needed to sort the pairs of so many.
    pub(super) fn bytes_for(states: usize) -> u64 {
        let sorted = (states >> PORTIONS) * size_of::<(u64, StateId)>();
        (PairIndex::bytes_for(states) + sorted + 2 * BLOCK.max(size_of::<Packed<W>>())) as u64
    }

    fn states(&self) -> MutexGuard<'_, States<W>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why something could not be read or written, if so: then nothing that has been read counts.
    pub(super) fn failed(&self) -> Option<String> {
        self.states().failed.clone()
    }

    /// Whether something could not be read or written.
    pub(super) fn has_failed(&self) -> bool {
        self.states().failed.is_some()
    }

    /// A state, or any if it cannot be read. The next ones are read along.
    pub(super) fn get(&self, id: StateId) -> Packed<W> {
        self.read(id, (BLOCK / size_of::<Packed<W>>()).max(1))
    }

    /// A state, or any if it cannot be read. So many are read together, beginning at a multiple of that.
    fn read(&self, id: StateId, together: usize) -> Packed<W> {
        let mut states = self.states();
        if states.failed.is_some() {
            return [0; W];
        }
        match states.get(id as usize, self.len, together) {
            Ok(words) => words,
            Err(error) => {
                states.failed.get_or_insert_with(|| format!("states cannot be read back: {error}"));
                [0; W]
            }
        }
    }

    /// The index of a state, if it is here.
    pub(super) fn find(&self, words: &Packed<W>, hash: u64) -> Option<StateId> {
        self.index.find(hash, |id| self.read(id, 1) == *words).unwrap_or_else(|error| {
            self.states().failed.get_or_insert_with(|| format!("states cannot be looked up: {error}"));
            None
        })
    }

    /// Takes further states, which follow those that are here.
    pub(super) fn take<'s>(&mut self, taken: impl Iterator<Item = &'s Packed<W>> + Clone) -> io::Result<()> {
        let states = self.states.get_mut().unwrap_or_else(PoisonError::into_inner);
        states.append(taken.clone(), self.len)?;
        let (first, count) = (self.len, taken.clone().count());
        self.index.merge(&self.folder, first + count, |portion, into| {
            for (id, words) in (first..).zip(taken.clone()) {
                let hash = hash(words);
                if hash >> (64 - PORTIONS) == portion {
                    into.push((hash, to_u32(id)));
                }
            }
        })?;
        self.len += count;
        Ok(())
    }
}

impl<const W: usize> States<W> {
    fn append<'s>(&mut self, states: impl Iterator<Item = &'s Packed<W>>, at: usize) -> io::Result<()> {
        self.file.seek(SeekFrom::Start((at * size_of::<Packed<W>>()) as u64))?;
        let mut into = BufWriter::with_capacity(1 << 20, &self.file);
        for word in states.flatten() {
            into.write_all(&word.to_le_bytes())?;
        }
        // The block in memory may have ended where these begin.
        self.block.clear();
        into.flush()
    }

    fn get(&mut self, at: usize, len: usize, together: usize) -> io::Result<Packed<W>> {
        if let Some(words) = at.checked_sub(self.first).and_then(|at| self.block.get(at)) {
            return Ok(*words);
        }
        let first = at / together * together;
        let count = together.min(len - first);
        self.bytes.resize(count * size_of::<Packed<W>>(), 0);
        self.file.seek(SeekFrom::Start((first * size_of::<Packed<W>>()) as u64))?;
        self.file.read_exact(&mut self.bytes)?;
        let mut words = self.bytes.chunks_exact(8).map(|word| u64::from_le_bytes(le(word)));
        let mut states = (0..count).map(|_| [(); W].map(|()| words.next().unwrap_or(0)));
        if together == 1 {
            return Ok(states.next().unwrap_or([0; W]));
        }
        self.first = first;
        self.block.clear();
        self.block.extend(states);
        Ok(self.block[at - first])
    }
}

/// Which indices go with a hash: pairs in the order of the hashes, on disk.
#[derive(Debug)]
struct PairIndex {
    pairs: Mutex<File>,
    /// For the high bits of hashes, the number of the first pair that has them; one more at the end.
    starts: Vec<u32>,
    /// Low bits of each pair's hash.
    marks: Vec<u16>,
}

impl PairIndex {
    fn empty(folder: &Path) -> io::Result<Self> {
        let pairs = Mutex::new(disk::unnamed_file(folder)?);
        Ok(Self { pairs, starts: vec![0; 2], marks: Vec::new() })
    }

    /// High bits of a hash that tell where its pair may be, among so many.
    fn bits(pairs: usize) -> u32 {
        (usize::BITS - pairs.leading_zeros()).saturating_sub(SHARED)
    }

    fn bytes_for(pairs: usize) -> usize {
        pairs * size_of::<u16>() + (size_of::<u32>() << Self::bits(pairs))
    }

    fn bytes(&self) -> usize {
        self.marks.capacity() * size_of::<u16>() + self.starts.capacity() * size_of::<u32>()
    }

    /// The bits that memory keeps of a hash.
    fn mark(hash: u64) -> u16 {
        #[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
        let mark = hash as u16;
        mark
    }

    fn find(&self, hash: u64, is_it: impl Fn(StateId) -> bool) -> io::Result<Option<StateId>> {
        let bits = Self::bits(self.marks.len());
        let bucket = hash.checked_shr(64 - bits).unwrap_or(0) as usize;
        let (first, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        for (at, mark) in (first..end).zip(&self.marks[first..end]) {
            if *mark == Self::mark(hash) {
                let (other, id) = self.pair(at)?;
                if other == hash && is_it(id) {
                    return Ok(Some(id));
                }
            }
        }
        Ok(None)
    }

    fn pair(&self, at: usize) -> io::Result<(u64, StateId)> {
        let mut bytes = [0; PAIR];
        let mut pairs = self.pairs.lock().unwrap_or_else(PoisonError::into_inner);
        pairs.seek(SeekFrom::Start((at * PAIR) as u64))?;
        pairs.read_exact(&mut bytes)?;
        Ok(parse(&bytes))
    }

    /// Adds pairs, so that there are `len`. `portion` gives those that have certain high bits.
    fn merge(
        &mut self,
        folder: &Path,
        len: usize,
        mut portion: impl FnMut(u64, &mut Vec<(u64, StateId)>),
    ) -> io::Result<()> {
        let old_len = self.marks.len();
        // All of these are made anew: they need not be there twice.
        (self.marks, self.starts) = (Vec::new(), Vec::new());
        let mut marks = Vec::with_capacity(len);
        let bits = Self::bits(len);
        let mut starts = vec![0; (1 << bits) + 1];
        let old = self.pairs.get_mut().unwrap_or_else(PoisonError::into_inner);
        old.seek(SeekFrom::Start(0))?;
        let mut old = Pairs { from: BufReader::with_capacity(1 << 20, &*old), left: old_len, next: None };
        let merged = disk::unnamed_file(folder)?;
        let mut into = BufWriter::with_capacity(1 << 20, &merged);
        let mut put = |(hash, id): (u64, StateId)| {
            starts[hash.checked_shr(64 - bits).unwrap_or(0) as usize + 1] += 1;
            marks.push(Self::mark(hash));
            into.write_all(&hash.to_le_bytes())?;
            into.write_all(&id.to_le_bytes())
        };
        let mut new = Vec::new();
        for number in 0..1 << PORTIONS {
            new.clear();
            portion(number, &mut new);
            new.sort_unstable();
            for pair in &new {
                while let Some(before) = old.next_before(*pair)? {
                    put(before)?;
                }
                put(*pair)?;
            }
        }
        while let Some(before) = old.next_before((u64::MAX, StateId::MAX))? {
            put(before)?;
        }
        into.flush()?;
        drop(into);
        let mut sum = 0;
        starts.iter_mut().for_each(|start| {
            sum += *start;
            *start = sum;
        });
        *self = Self { pairs: Mutex::new(merged), starts, marks };
        Ok(())
    }
}

/// Pairs, read one after the other.
struct Pairs<R> {
    from: R,
    left: usize,
    next: Option<(u64, StateId)>,
}

impl<R: Read> Pairs<R> {
    /// The next pair, if it comes before another.
    fn next_before(&mut self, other: (u64, StateId)) -> io::Result<Option<(u64, StateId)>> {
        if self.next.is_none() && self.left > 0 {
            let mut bytes = [0; PAIR];
            self.from.read_exact(&mut bytes)?;
            self.left -= 1;
            self.next = Some(parse(&bytes));
        }
        Ok(self.next.take_if(|pair| *pair < other))
    }
}

fn parse(bytes: &[u8; PAIR]) -> (u64, StateId) {
    (u64::from_le_bytes(le(&bytes[..8])), StateId::from_le_bytes(le(&bytes[8..])))
}

/// So many bytes as an array.
fn le<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(bytes);
    array
}

#[cfg(test)]
mod tests {
    use super::super::{Chunks, Room, Store};
    use super::*;

    const CHUNK: usize = Chunks::<2>::CHUNK;

    fn words(n: u64) -> Packed<2> {
        [n.wrapping_mul(0x9e37_79b9_7f4a_7c15), n % 3]
    }

    /// A store of so many chunks, of which all but one go to disk every few chunks.
    fn store(chunks: usize) -> Store<2> {
        let mut store = Store::<2>::new();
        let mut made = Vec::new();
        for n in 0..(chunks * CHUNK) as u64 + 1 {
            made.push(words(n));
            // Every other state comes again at once, some long after.
            made.extend((n % 2 == 0).then(|| words(n)));
            made.extend((n % 1000 == 0).then(|| words(n / 2)));
            if made.len() > 512 || n == (chunks * CHUNK) as u64 {
                store.insert_all(&made, to_u32(n as usize / 2));
                made.clear();
            }
            if n % (3 * CHUNK as u64) == 3 * CHUNK as u64 - 1 {
                let room = Room { folder: std::env::temp_dir(), most_bytes: store.bytes() };
                store.keep_within(&room, 1);
            }
        }
        assert_eq!(store.failed(), None);
        store
    }

    #[test]
    fn states_on_disk_are_found_again_and_never_twice() {
        let store = store(8);
        assert_eq!(store.len(), 8 * CHUNK + 1);
        assert!(store.states_spilled() >= 4 * CHUNK, "{}", store.states_spilled());
        for id in (0..store.len() as StateId).step_by(37) {
            assert_eq!(store.get(id), words(u64::from(id)));
            assert_eq!(store.find(&words(u64::from(id))), Some(id));
            assert_eq!(store.find(&[u64::from(id), 7]), None);
        }
        assert_eq!(store.failed(), None);
    }

    #[test]
    fn a_folder_that_is_not_there_is_reported_and_loses_nothing() {
        let mut store = Store::<1>::new();
        let made: Vec<_> = (0..3 * Chunks::<1>::CHUNK as u64).map(|n| [n]).collect();
        store.insert_all(&made, 0);
        let folder = std::env::temp_dir().join("barcheck/no/such/folder");
        let most_bytes = store.bytes() + (1 << 20);
        store.keep_within(&Room { folder, most_bytes }, 1);
        assert!(store.failed().is_some_and(|why| why.contains("moved to disk")));
        assert_eq!(store.misread(), None);
        assert_eq!((store.states_spilled(), store.find(&[77])), (0, Some(77)));
    }

    #[test]
    fn what_cannot_be_read_back_is_reported_of_every_copy() {
        let store = store(4);
        assert!(store.states_spilled() > 0);
        let spill = store.spill.as_ref().expect("states on disk");
        spill.states().file.set_len(8).expect("a shorter file");
        let copy = Store::filled(store.states(), None).misread_like(store.misread());
        assert!(store.misread().is_some_and(|why| why.contains("read back")));
        assert_eq!(copy.failed(), store.misread());
    }

    #[test]
    fn what_cannot_be_read_back_is_reported() {
        let mut spill = Spill::<1>::new(&std::env::temp_dir()).expect("a folder for temporary files");
        spill.take((0..10_000).map(|n| [n]).collect::<Vec<_>>().iter()).expect("room on disk");
        assert_eq!((spill.get(9_999), spill.failed()), ([9_999], None));
        spill.states().file.set_len(8).expect("a shorter file");
        spill.get(5_000);
        assert!(spill.failed().is_some_and(|why| why.contains("read back")));
    }
}
