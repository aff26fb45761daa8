//! Fences of `ptx` that are not between proxies, and what a relaxed arrival publishes behind them.

use super::local::advance;
use super::memory::Parcel;
use super::state::{AgentId, Who, World};

/// A fence: how it is written, and how far it reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fence {
    pub word: Word,
    pub extent: Extent,
}

/// The ways to write a fence. They do the same here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// It has no `.cluster`.
    Membar,
    AcqRel,
    Sc,
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
    /// All that can be written.
    pub const ALL: [Fence; 11] = [
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
    ];

    pub const fn new(word: Word, extent: Extent) -> Self {
        Fence { word, extent }
    }

    /// Whether others than those of the own CTA go by it.
    pub fn is_wide(self) -> bool {
        self.extent != Extent::Cta
    }

    pub fn text(self) -> String {
        let word = match self.word {
            Word::Membar => "membar",
            Word::AcqRel => "fence.acq_rel",
            Word::Sc => "fence.sc",
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

/// What the agent knows in memory now, and what it knows to be fenced between the proxies, is what its
/// relaxed arrivals publish from here on. What it learns later has to wait for the next fence.
pub fn execute(world: &mut World<'_>, who: Who, fence: Fence) {
    let it = &mut world.state.memory.agents[who.agent];
    let mut knows = it.known.clone();
    knows.time.clear();
    it.near.add(&knows);
    if fence.is_wide() {
        it.far.add(&knows);
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
