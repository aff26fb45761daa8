//! Memory as cells whose accesses the explorer tracks, so that it sees data races by itself.

use crate::barriers::{Cell, Runtime};
use barcheck_model::program::{AccessKind, LocationId};

/// The locations of a protocol.
pub(super) struct Memory<R: Runtime> {
    locations: Vec<R::Cell>,
}

impl<R: Runtime> Memory<R> {
    /// So many locations.
    pub(super) fn new(locations: usize) -> Self {
        Self { locations: (0..locations).map(|_| R::Cell::new()).collect() }
    }

    /// Accesses locations.
    pub(super) fn access(&self, kind: AccessKind, locations: &[LocationId]) {
        for cell in locations.iter().filter_map(|location| self.locations.get(location.index())) {
            match kind {
                AccessKind::Read => cell.read(),
                AccessKind::Write | AccessKind::Copy => cell.write(),
                AccessKind::Atomic => cell.atomic(),
            }
        }
    }
}
