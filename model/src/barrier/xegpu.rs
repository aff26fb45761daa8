//! The XeGPU dialect: `alloc_nbarrier`, `init_nbarrier`, `nbarrier_arrive`, `nbarrier_wait`.
//!
//! Source: RFC for the XeGPU dialect. Arrivals and waits are those of [`super::nbarrier`], to which
//! the dialect is lowered: an arrival is a signal of type 0 with both counts equal.

use super::facts::{Facts, System};
use super::nbarrier::{self, Announcement, Kind, Nbarrier};
use super::{BarrierId, Seat};
use crate::rule::Rule;

/// What `init_nbarrier` yields: the barrier and the number of participants.
// clause: xegpu.handle, xegpu.participants
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle {
    /// The barrier.
    pub id: BarrierId,
    /// Participants announced.
    pub participants: u32,
}

impl Handle {
    /// The signal that an arrival on this handle is.
    #[must_use]
    // clause: xegpu.arrive, barcheck.xegpu-lowering
    pub fn arrival(self) -> Announcement {
        Announcement {
            id: self.id,
            kind: Kind::Both,
            producers: self.participants,
            consumers: self.participants,
        }
    }
}

/// `alloc_nbarrier n`: `group` is what some subgroup has allocated before.
///
/// # Errors
/// `barrier-id-range` for a number of barriers outside 1..=32, `count-mismatch` for another than before.
pub fn alloc(count: i64, group: Option<u32>) -> Result<u32, Rule> {
    // clause: xegpu.alloc, barcheck.xegpu-id-range
    let count = u32::try_from(count)
        .ok()
        .filter(|n| (1..=nbarrier::BARRIERS).contains(&i64::from(*n)))
        .ok_or(Rule::BarrierIdRange)?;
    // clause: barcheck.alloc-agrees
    if group.is_some_and(|before| before != count) {
        return Err(Rule::CountMismatch);
    }
    Ok(count)
}

/// `init_nbarrier id, participants` by a subgroup that has `allocated` barriers, in a group of `group`
/// subgroups.
///
/// # Errors
/// `barrier-id-range`, `barrier-not-allocated`, `count-range`, in this order.
pub fn init(id: i64, participants: i64, allocated: Option<u32>, group: u32) -> Result<Handle, Rule> {
    // clause: barcheck.xegpu-id-range
    let id = nbarrier::check_id(id)?;
    // clause: xegpu.alloc
    if allocated.is_none_or(|n| id.0 >= n) {
        return Err(Rule::BarrierNotAllocated);
    }
    // clause: xegpu.participants
    let participants = nbarrier::check_count(participants, group)?;
    // clause: xegpu.init
    Ok(Handle { id, participants })
}

/// XeGPU named barriers: in all that concerns barriers they are those of vISA.
// clause: barcheck.xegpu-lowering
#[derive(Clone, Copy, Debug)]
pub struct Xegpu;

impl System for Xegpu {
    const FACTS: Facts = Facts {
        name: "xegpu",
        agent_noun: "subgroup",
        has_lanes: false,
        rules: &[
            Rule::CountMismatch,
            Rule::CountRange,
            Rule::BarrierIdRange,
            Rule::ArrivalRace,
            Rule::DanglingArrival,
            Rule::TooManyParticipants,
            Rule::LostNotification,
            Rule::ReuseBeforeFree,
            Rule::BarrierNotAllocated,
            Rule::WaitWithoutArrive,
            Rule::MissingWait,
        ],
        levels: &[],
        ..Nbarrier::FACTS
    };

    #[inline]
    fn complete(seat: Seat) -> Result<Seat, Rule> {
        Nbarrier::complete(seat)
    }

    fn owes_wait(seat: Seat) -> bool {
        Nbarrier::owes_wait(seat)
    }
}
