//! Old states go to disk where there is no room for them in memory.

use super::Store;
use super::chunks::Chunks;
use super::index::{Growth, HashIndex};
use super::spill::{Room, Spill};
use crate::packed::layout::{Packed, hash};
use std::io;
use std::path::Path;

impl<const W: usize> Store<W> {
    /// Moves old states to disk, into a folder, so that `more` further states take no more than half of some
    /// bytes of memory, or as near to that as can be. Nothing is moved if even the fewest in memory would
    /// take all of them.
    fn spill_old(&mut self, folder: &Path, more: usize, most_bytes: u64) -> io::Result<()> {
        let (full, chunk) = (self.states.removable(), Chunks::<W>::CHUNK);
        let bytes = |kept: usize| {
            let moved = (full - kept) * chunk;
            let spill = match &self.spill {
                Some(spill) => spill.bytes_with(moved),
                None => Spill::<W>::bytes_for(moved),
            };
            let states = ((kept + 2) * chunk + more) * size_of::<Packed<W>>();
            let index = HashIndex::bytes_to_make(Growth::Sparing, (kept + 1) * chunk + more);
            states as u64 + self.bytes_beside() + spill + index
        };
        if full == 0 || bytes(0) > most_bytes {
            return Ok(());
        }
        let kept = (0..full).rev().find(|kept| bytes(*kept) <= most_bytes / 2).unwrap_or(0);
        self.spill_chunks(folder, full - kept)
    }

    /// Moves the first chunks of those in memory to disk.
    fn spill_chunks(&mut self, folder: &Path, count: usize) -> io::Result<()> {
        let mut spill = match self.spill.take() {
            Some(spill) => spill,
            None => Box::new(Spill::new(folder)?),
        };
        // It is made anew, and memory is short.
        self.index = HashIndex::new();
        let taken = spill.take(self.states.first(count));
        if taken.is_ok() {
            self.remove_first(count);
        }
        self.index = HashIndex::of(self.here(), || self.states.iter().map(hash));
        self.spill = (self.base > 0).then_some(spill);
        taken
    }

    /// Moves old states to disk if `more` further ones have no room in memory.
    pub(crate) fn keep_within(&mut self, room: &Room, more: usize) {
        if self.compact.is_some() || self.bytes_with(more) <= room.most_bytes {
            return;
        }
        let moved = self.spill_old(&room.folder, more, room.most_bytes);
        self.remember_failure(moved);
    }

    /// Moves what it can to disk if there is no room in memory for all states once more.
    pub(crate) fn spill_all(&mut self, room: &Room) {
        let full = self.states.removable();
        if full > 0 && 2 * self.bytes() > room.most_bytes {
            let moved = self.spill_chunks(&room.folder, full);
            self.remember_failure(moved);
        }
    }

    fn remember_failure(&mut self, moved: io::Result<()>) {
        if let Err(error) = moved {
            self.failed.get_or_insert_with(|| format!("states cannot be moved to disk: {error}"));
        }
    }
}
