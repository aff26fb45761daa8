//! A group of threads as it is launched, and its agents.

use barcheck_model::program::Target;

use super::warp::{ALL, Warp};

/// A group as it is launched, and how protocols of its target say so.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) target: Target,
    /// Its threads in three directions.
    pub(crate) size: [u32; 3],
    /// The threads of an agent, 32 at most, along the first direction first; or [`super::warp::ALL`], if the
    /// threads are agents and run one program.
    pub(crate) lanes: u32,
    /// The groups of a cluster in three directions.
    pub(crate) cluster: [u32; 3],
    /// The first lines of a protocol behind that of the target: the size of the group.
    pub(crate) header: Vec<String>,
}

impl Group {
    /// An agent of the cluster.
    pub(super) fn warp(&self, (number, rank): Agent) -> Warp {
        Warp { number, size: self.size, lanes: self.lanes, rank, cluster: self.cluster }
    }

    /// All agents of the cluster, those of one number together.
    pub(super) fn agents(&self) -> impl Iterator<Item = Agent> {
        let ranks = Warp::threads(self.cluster).max(1);
        (0..self.warps()).flat_map(move |number| (0..ranks).map(move |rank| (number, rank)))
    }

    /// Its threads are agents of one program.
    pub(super) fn is_one(&self) -> bool {
        self.lanes == ALL
    }

    /// The number of agents, or 1 for all of them.
    fn warps(&self) -> u32 {
        Warp::threads(self.size).div_ceil(self.lanes.max(1))
    }
}

/// An agent: its number in its group, and the rank of the group in the cluster.
pub(super) type Agent = (u32, u32);
