//! Initialisations of mbarrier objects that a fence has to follow: those of objects on which other CTAs or
//! asynchronous operations arrive.

use barcheck_model::program::ObjectsId;
use std::collections::BTreeSet;

use crate::common::span::Span;

/// What has been initialised, and what no fence has followed.
// clause: ptx.mbarrier-init-fence
#[derive(Debug, Default)]
pub(in crate::bar) struct Fences {
    /// With the instruction.
    unfenced: Vec<(ObjectsId, Span)>,
    used_from_afar: BTreeSet<ObjectsId>,
    /// Of the initialisations, those of blocks before.
    of_others: usize,
}

impl Fences {
    /// A block of agents begins: its fences are for its own initialisations.
    pub(super) fn begin_block(&mut self) {
        self.of_others = self.unfenced.len();
    }

    /// An instruction initialises an object.
    pub(in crate::bar) fn initialise(&mut self, objects: ObjectsId, span: Span) {
        self.unfenced.push((objects, span));
    }

    /// A fence follows what the block has initialised.
    pub(in crate::bar) fn fence(&mut self) {
        self.unfenced.truncate(self.of_others);
    }

    /// Other CTAs or asynchronous operations arrive on an object.
    pub(in crate::bar) fn use_from_afar(&mut self, objects: ObjectsId) {
        self.used_from_afar.insert(objects);
    }

    /// The initialisations that no fence follows, though one has to.
    pub(super) fn missing(&self) -> impl Iterator<Item = (ObjectsId, Span)> {
        self.unfenced.iter().copied().filter(|(objects, _)| self.used_from_afar.contains(objects))
    }
}
