//! The plain search: breadth first over every reachable state.
//!
//! States are explored in the order of their discovery, so that the first violation found has a path of
//! minimal length. Most successors come from the tables ([`Tables::swift_successors`]); where these do not
//! suffice, the model is asked, state by state. Successors are collected and handed to the visited set
//! together, see [`Store::insert_all`].

mod budget;
mod checkpoint;
pub(crate) mod drive;
mod expansion;
mod explore;
pub(crate) mod lookout;
mod looks;
mod pipeline;
mod position;
mod report;
mod resume;
mod sightings;
mod stuck;
mod trace_back;
mod violations;

use crate::packed::layout::{Layout, Packed, Sizes};
use crate::settings::{Control, Settings};
use crate::successors::canonical::Symmetry;
use crate::successors::swift::Swift;
use crate::successors::tables::Tables;
use crate::verdict::answer::between_looks;
use crate::visited::{StateId, Store};
use budget::{Clock, Limit, Usage};
use checkpoint::Saving;
use lookout::Lookout;
use position::Position;
use std::time::Instant;
use violations::Violations;

/// The state of a search, its visited set aside.
pub(crate) struct Search<'a> {
    pub(crate) tables: Tables,
    pub(crate) layout: Layout,
    /// The numbers that there were when states were laid out.
    pub(crate) laid_out: Sizes,
    /// For that layout.
    pub(crate) swift: Swift,
    pub(crate) symmetry: Symmetry,
    pub(crate) settings: &'a Settings,
    pub(crate) clock: Clock<'a>,
    pub(crate) usage: Usage,
    pub(crate) limit: Limit,
    pub(crate) at: Position,
    pub(crate) violations: Violations,
    pub(crate) saving: Saving,
    /// A few random runs have been made, see [`crate::successors::rehearsal`].
    pub(crate) has_rehearsed: bool,
    /// States, and decisions that somebody had yet to make, when it was looked for whether there is an end.
    pub(crate) looked_for_end_at: (u64, u64),
    /// How often something may have been learnt of steps.
    pub(crate) times_learnt: u64,
    /// What a search has found is found once more, up to this state, and budgets are not looked at.
    pub(crate) retraces: Option<StateId>,
    /// What every state is compared with, if a state is looked for.
    pub(crate) lookout: Option<Lookout<'a>>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(
        tables: Tables,
        symmetry: Symmetry,
        settings: &'a Settings,
        control: &'a dyn Control,
        started: Instant,
    ) -> Self {
        let is_often_due = between_looks(&tables.machine, 2) < 2;
        Self {
            tables,
            layout: Layout::default(),
            laid_out: Sizes::default(),
            swift: Swift::default(),
            symmetry,
            settings,
            clock: Clock::new(control, started, is_often_due),
            usage: Usage::default(),
            limit: Limit::default(),
            at: Position::default(),
            violations: Violations::default(),
            saving: Saving::default(),
            has_rehearsed: false,
            looked_for_end_at: (0, 0),
            times_learnt: 0,
            retraces: None,
            lookout: None,
        }
    }

    /// From now on states are packed so that the numbers that there were have room.
    pub(crate) fn lay_out(&mut self, numbers: Sizes) {
        self.layout = numbers.layout();
        self.swift = Swift::new(&self.layout);
        self.laid_out = numbers;
    }

    /// Begins anew with the numbers that have been given out. Everything is shown again: what is remembered
    /// of steps does not say what they showed.
    pub(crate) fn restart<const W: usize>(&mut self, store: &mut Store<W>) {
        self.at = Position::default();
        self.violations = Violations::default();
        self.swift = Swift::new(&self.layout);
        self.tables.steps.forget_effects();
        let initial = self.tables.machine.initial();
        let words = self.tables.number(&initial).pack(&self.layout);
        let words = words.and_then(|w| self.symmetry.canonical(&mut self.tables, &self.layout, w, None));
        words.into_iter().for_each(|words| {
            store.insert(words, 0);
        });
    }

    /// Packs the initial state.
    pub(crate) fn start<const W: usize>(&mut self) -> Option<Packed<W>> {
        let initial = self.tables.machine.initial();
        let numbers = self.tables.number(&initial);
        self.lay_out(self.tables.sizes());
        if self.layout.words > W {
            return None;
        }
        let words = numbers.pack(&self.layout)?;
        self.symmetry.canonical(&mut self.tables, &self.layout, words, None)
    }
}
