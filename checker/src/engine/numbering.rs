//! The states of each barrier in use, numbered as they occur.

use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::AnyBarrier;
use rustc_hash::FxHashMap;

/// No number.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The states of one barrier.
#[derive(Debug)]
pub(super) struct BarrierStates {
    pub(super) id: BarrierId,
    /// `None` is the initial state, and number 0.
    pub(super) states: Vec<Option<AnyBarrier>>,
    /// For each state, whether an exit may complete it.
    pub(super) heeds_exits: Vec<bool>,
    pub(super) numbers: FxHashMap<AnyBarrier, u32>,
}

/// The field of a barrier, which gets one when it is first asked for.
pub(super) fn field_of(barriers: &mut Vec<BarrierStates>, id: BarrierId) -> usize {
    barriers.iter().position(|b| b.id == id).unwrap_or_else(|| {
        barriers.push(BarrierStates {
            id,
            states: vec![None],
            heeds_exits: vec![false],
            numbers: FxHashMap::default(),
        });
        barriers.len() - 1
    })
}

/// A count as a number; tables stay far below 2^32 entries.
pub(super) fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
