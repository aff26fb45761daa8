//! What agents of one kind do by themselves, worked out as it is needed.
//!
//! An agent's locals depend on nobody else, except through the outcomes of its moves. So each
//! configuration is worked out once, and so is what each move makes of it: from then on it is a number.

use crate::agent::{self, Config, Context, Move, Moves, Outcome};
use crate::program::AgentId;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::hash::BuildHasher as _;
use std::sync::Arc;

/// A configuration of an [`Automaton`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConfigId(pub u32);

/// What leads from one configuration to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    /// A move, by position in [`Automaton::moves`]; the choice made; how it went.
    Made(u32, u32, Outcome),
    /// A release, with a reduction's result.
    Released(Option<u32>),
}

#[derive(Debug)]
pub(super) struct Entry {
    config: Arc<Config>,
    moves: Moves,
    /// Where it leads, as far as that is known, by label: most often to one other.
    edges: SmallVec<[(Label, ConfigId); 1]>,
    exited: bool,
    failed: bool,
    /// Another configuration with the same hash.
    before: Option<ConfigId>,
}

impl Entry {
    #[inline]
    fn edge(&self, label: Label) -> Result<ConfigId, usize> {
        self.edges.binary_search_by_key(&label, |(label, _)| *label).map(|at| self.edges[at].1)
    }

    /// Bytes that it takes outside the table of entries, about.
    fn bytes(&self) -> usize {
        // An operand may have a list of its own, and every allocation has a head.
        self.config.bytes() + self.moves.len() * (size_of::<Move>() + 64) + 64
    }

    /// Nothing is known yet of where it leads.
    pub(super) fn new(config: Arc<Config>, moves: Moves) -> Self {
        let (exited, failed) = (config.has_exited(), config.fault.is_some());
        Self { config, moves, edges: SmallVec::new(), exited, failed, before: None }
    }
}

/// The configurations of an automaton that stand for several others.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) by_members: FxHashMap<Arc<[ConfigId]>, ConfigId>,
    pub(super) members: FxHashMap<ConfigId, Arc<[ConfigId]>>,
    /// The members of some differ in places, and are alike.
    pub(super) places: bool,
    /// Known once something has been merged: whoever never merges, as the page in the browser, does not carry
    /// the code.
    pub(super) lead: Option<Lead>,
}

/// Where a label leads from a configuration, if that is a merged one.
pub(super) type Lead = fn(&mut Automaton, Context<'_>, ConfigId, Label) -> Option<ConfigId>;

/// The configurations of agents of one kind, and the edges between them, as far as they are known.
#[derive(Debug)]
pub struct Automaton {
    representative: AgentId,
    entries: Vec<Entry>,
    /// By hash, the configuration found last; [`Entry::before`] leads to the others. Growing need not hash
    /// them again.
    numbers: FxHashMap<u64, ConfigId>,
    /// Of the configurations and their moves, and of lists of merged ones.
    pub(super) bytes: usize,
    pub(super) merged: Merged,
}

impl Automaton {
    /// Nothing is known yet; expressions are evaluated as `representative` would.
    pub(super) fn new(representative: AgentId) -> Self {
        let (entries, numbers, merged) = (Vec::new(), FxHashMap::default(), Merged::default());
        Self { representative, entries, numbers, bytes: 0, merged }
    }

    /// Forgets all configurations but these, which get other numbers. The room that they took is kept.
    pub(super) fn forget(&mut self, context: Context<'_>, keep: &[ConfigId]) -> Vec<ConfigId> {
        let kept: Vec<Config> = keep.iter().map(|id| self.config(*id).clone()).collect();
        self.entries.clear();
        self.numbers.clear();
        self.bytes = 0;
        self.merged = Merged::default();
        kept.into_iter().map(|config| self.intern(context, config)).collect()
    }

    pub(super) fn representative(&self) -> AgentId {
        self.representative
    }

    /// Number of configurations known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Bytes that all of this takes, about: hash tables double, and an edge is a few words.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let entry = size_of::<Entry>() + size_of::<(Label, ConfigId)>();
        let tables =
            self.entries.capacity() * entry + self.numbers.capacity() * 2 * size_of::<(u64, ConfigId)>();
        self.bytes + tables
    }

    /// Whether no configuration is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All configurations known.
    pub fn configs(&self) -> impl Iterator<Item = ConfigId> + use<> {
        (0..u32::try_from(self.entries.len()).unwrap_or(u32::MAX)).map(ConfigId)
    }

    /// A configuration.
    #[must_use]
    #[inline]
    pub fn config(&self, id: ConfigId) -> &Config {
        &self.entries[id.0 as usize].config
    }

    /// A configuration, to be kept.
    #[must_use]
    #[inline]
    pub fn shared_config(&self, id: ConfigId) -> &Arc<Config> {
        &self.entries[id.0 as usize].config
    }

    /// What an agent in a configuration could do next.
    #[must_use]
    #[inline]
    pub fn moves(&self, id: ConfigId) -> &[Move] {
        &self.entries[id.0 as usize].moves
    }

    /// Whether an agent in a configuration has exited.
    #[must_use]
    #[inline]
    pub fn has_exited(&self, id: ConfigId) -> bool {
        self.entries[id.0 as usize].exited
    }

    /// Whether local computation has failed in a configuration.
    #[inline]
    pub(super) fn has_failed(&self, id: ConfigId) -> bool {
        self.entries[id.0 as usize].failed
    }

    /// Every edge known so far: from, to.
    pub fn edges(&self) -> impl Iterator<Item = (ConfigId, ConfigId)> + '_ {
        let entries = (0..).map(ConfigId).zip(&self.entries);
        entries.flat_map(|(from, entry)| entry.edges.iter().map(move |(_, to)| (from, *to)))
    }

    /// The same with what leads from one to the other, in order.
    #[must_use]
    pub fn labelled_edges(&self) -> Vec<(ConfigId, Label, ConfigId)> {
        let entries = (0..).map(ConfigId).zip(&self.entries);
        entries
            .flat_map(|(from, entry)| entry.edges.iter().map(move |(label, to)| (from, *label, *to)))
            .collect()
    }

    /// Whether two automata that have been worked out in the same order are equal.
    pub(super) fn is_alike(&self, other: &Self) -> bool {
        let same =
            |(a, b): (&Entry, &Entry)| a.config == b.config && a.moves == b.moves && a.edges == b.edges;
        self.entries.len() == other.entries.len() && self.entries.iter().zip(&other.entries).all(same)
    }

    pub(super) fn intern(&mut self, context: Context<'_>, config: Config) -> ConfigId {
        let hash = FxBuildHasher.hash_one(&config);
        let mut same_hash =
            std::iter::successors(self.numbers.get(&hash).copied(), |id| self.entries[id.0 as usize].before);
        if let Some(id) = same_hash.find(|id| *self.config(*id) == config) {
            return id;
        }
        let moves = agent::moves(context, &config);
        let id = self.push(Entry::new(Arc::new(config), moves));
        self.entries[id.0 as usize].before = self.numbers.insert(hash, id);
        id
    }

    pub(super) fn push(&mut self, entry: Entry) -> ConfigId {
        let id = ConfigId(u32::try_from(self.entries.len()).unwrap_or(u32::MAX));
        self.bytes += entry.bytes();
        self.entries.push(entry);
        id
    }

    /// Where a label leads, if that is known already.
    #[inline]
    pub(super) fn known(&self, from: ConfigId, label: Label) -> Option<ConfigId> {
        self.entries[from.0 as usize].edge(label).ok()
    }

    /// The configuration to which a label leads: after a move, or after a blocked agent's release.
    pub(super) fn follow(&mut self, context: Context<'_>, from: ConfigId, label: Label) -> ConfigId {
        let at = match self.entries[from.0 as usize].edge(label) {
            Ok(to) => return to,
            Err(at) => at,
        };
        let to = match self.merged.lead.and_then(|lead| lead(self, context, from, label)) {
            Some(to) => to,
            None => {
                let Entry { config, moves, .. } = &self.entries[from.0 as usize];
                let next = match label {
                    Label::Made(index, pick, outcome) => {
                        agent::follow(context, config, &moves[index as usize], pick, outcome)
                    }
                    Label::Released(result) => agent::release(context, config, result),
                };
                self.intern(context, next)
            }
        };
        self.entries[from.0 as usize].edges.insert(at, (label, to));
        to
    }
}
