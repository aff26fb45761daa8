//! Fences of `ptx` that are not between proxies, and what a relaxed arrival publishes behind them.

use super::initialised;
use super::local::advance;
use super::memory::Parcel;
use super::state::{AgentId, Who, World};

/// A fence: how it is written, and how far it reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    pub word: Word,
    pub extent: Extent,
}

/// The ways to write a fence. The first three do the same here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// It has no `.cluster`.
    Membar,
    AcqRel,
    Sc,
    Acquire,
    Release,
    /// `fence.mbarrier_init`, which is for initialisations alone.
    Init,
}

/// The scope of a fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Cta,
    Cluster,
    Gpu,
    Sys,
}

impl Fence {
    pub const INIT: Fence = Fence::new(Word::Init, Extent::Cluster);

    /// All that can be written and are for all accesses.
    pub const ALL: [Fence; 19] = [
        Fence::new(Word::Membar, Extent::Cta),
        Fence::new(Word::Membar, Extent::Gpu),
        Fence::new(Word::Membar, Extent::Sys),
        Fence::new(Word::AcqRel, Extent::Cta),
        Fence::new(Word::AcqRel, Extent::Cluster),
        Fence::new(Word::AcqRel, Extent::Gpu),
        Fence::new(Word::AcqRel, Extent::Sys),
        Fence::new(Word::Sc, Extent::Cta),
        Fence::new(Word::Sc, Extent::Cluster),
        Fence::new(Word::Sc, Extent::Gpu),
        Fence::new(Word::Sc, Extent::Sys),
        Fence::new(Word::Acquire, Extent::Cta),
        Fence::new(Word::Acquire, Extent::Cluster),
        Fence::new(Word::Acquire, Extent::Gpu),
        Fence::new(Word::Acquire, Extent::Sys),
        Fence::new(Word::Release, Extent::Cta),
        Fence::new(Word::Release, Extent::Cluster),
        Fence::new(Word::Release, Extent::Gpu),
        Fence::new(Word::Release, Extent::Sys),
    ];

    pub const fn new(word: Word, extent: Extent) -> Self {
        Fence { word, extent }
    }

    /// Whether others than those of the own CTA go by it.
    pub fn is_wide(self) -> bool {
        self.extent != Extent::Cta
    }

    /// Whether relaxed waits before it count.
    pub fn acquires(self) -> bool {
        !matches!(self.word, Word::Release | Word::Init)
    }

    /// Whether relaxed arrivals behind it publish what is known.
    pub fn releases(self) -> bool {
        !matches!(self.word, Word::Acquire | Word::Init)
    }

    pub fn text(self) -> String {
        let word = match self.word {
            Word::Membar => "membar",
            Word::AcqRel => "fence.acq_rel",
            Word::Sc => "fence.sc",
            Word::Acquire => "fence.acquire",
            Word::Release => "fence.release",
            Word::Init => "fence.mbarrier_init.release",
        };
        let extent = match (self.extent, self.word) {
            (Extent::Cta, _) => "cta",
            (Extent::Cluster, _) => "cluster",
            (Extent::Gpu, Word::Membar) => "gl",
            (Extent::Gpu, _) => "gpu",
            (Extent::Sys, _) => "sys",
        };
        format!("{word}.{extent}")
    }
}

/// What relaxed waits have brought is known in memory from here on, as far as the fence reaches. Then what
/// the agent knows in memory, and what it knows to be fenced between the proxies, is what its relaxed
/// arrivals publish. What it learns later has to wait for the next fence.
pub fn execute(world: &mut World<'_>, who: Who, fence: Fence) {
    let protocol = world.protocol();
    let it = &mut world.state.memory.agents[who.agent];
    if fence.acquires() {
        let near = std::mem::take(&mut it.heard_near);
        it.known.add(&near);
        if fence.is_wide() {
            let far = std::mem::take(&mut it.heard_far);
            it.known.add(&far);
        }
    }
    let mut knows = it.known.clone();
    knows.time.clear();
    if fence.word == Word::Init {
        knows.fenced.clear();
        knows.memory.retain(|access| initialised::is_of_object(protocol, access.location));
    }
    if fence.releases() || fence.word == Word::Init {
        it.near.add(&knows);
        if fence.is_wide() {
            it.far.add(&knows);
        }
    }
    advance(world.fragment(who));
}

/// What an arrival brings along. A relaxed one brings in memory what was known at fences, and where it tells
/// agents of other CTAs, at those that reach them.
pub fn released(world: &World<'_>, agent: AgentId, relaxed: bool, beyond: bool) -> Parcel {
    let it = &world.state.memory.agents[agent];
    if !relaxed {
        return it.known.clone();
    }
    let fenced = if beyond { &it.far } else { &it.near };
    Parcel { time: it.known.time.clone(), ..fenced.clone() }
}
