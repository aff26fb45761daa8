//! Memory as cells whose accesses the explorer tracks, so that it sees data races by itself.

use crate::barriers::{Cell, Runtime};
use barcheck_model::program::{AccessKind, LocationId};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The locations of a protocol.
pub(super) struct Memory<R: Runtime> {
    locations: Vec<Location<R>>,
}

struct Location<R: Runtime> {
    cell: R::Cell,
    /// Copies that have yet to write it. None of the runtime's numbers, since it orders nothing.
    awaited: AtomicUsize,
}

impl<R: Runtime> Memory<R> {
    /// So many locations.
    pub(super) fn new(locations: usize) -> Self {
        let location = |_| Location { cell: R::Cell::new(), awaited: AtomicUsize::new(0) };
        Self { locations: (0..locations).map(location).collect() }
    }

    /// Accesses locations. The answer says whether a copy is on its way to one of them, which nobody can have
    /// waited for: that is a data race, whether or not the explorer sees it.
    pub(super) fn access(&self, kind: AccessKind, locations: &[LocationId]) -> bool {
        let mut races = false;
        for Location { cell, awaited } in locations.iter().filter_map(|at| self.locations.get(at.index())) {
            match kind {
                AccessKind::Read | AccessKind::Store | AccessKind::Source | AccessKind::Use => cell.read(),
                AccessKind::Write | AccessKind::Copy | AccessKind::Sent | AccessKind::Fill => cell.write(),
                AccessKind::Initialisation => cell.write(),
                AccessKind::Atomic | AccessKind::Reduction => cell.atomic(),
            }
            races |= awaited.load(Ordering::SeqCst) > 0;
        }
        races
    }

    /// A copy to a location is on its way from now on. The answer says whether another one is, too.
    pub(super) fn copy_begins(&self, location: LocationId) -> bool {
        let location = self.locations.get(location.index());
        location.is_some_and(|location| location.awaited.fetch_add(1, Ordering::SeqCst) > 0)
    }

    /// A copy to a location writes it.
    pub(super) fn copy_lands(&self, location: LocationId) {
        if let Some(Location { cell, awaited }) = self.locations.get(location.index()) {
            cell.write();
            awaited.fetch_sub(1, Ordering::SeqCst);
        }
    }
}
