//! Arrival races, counted on numbers: how many agents stand at an arrival on each barrier, against the
//! room that the barrier's state leaves. Only a suspicion is raised here; [`Machine::judge`] decides.
//!
//! [`Machine::judge`]: barcheck_model::machine::Machine::judge

use crate::packed::layout::{BarrierField, Layout, Packed};
use crate::packed::numbering::{BarrierStates, to_u32};
use barcheck_model::agent::Action;
use barcheck_model::barrier::BarrierId;
use barcheck_model::machine::{Announced, room};

/// Agents that stand at an arrival on one barrier with one announcement, on one side.
#[derive(Debug)]
struct Group {
    field: usize,
    announced: Announced,
    producers: bool,
    /// Room by state of the barrier, as far as it has been asked for; `u32::MAX` without limit.
    room: Vec<u32>,
}

impl Group {
    /// The room in a state of the barrier, and in those before it that have not been asked for.
    #[cold]
    fn learn_room(&mut self, barrier: &BarrierStates, state: usize) -> u32 {
        while self.room.len() <= state {
            let left = room(barrier.states[self.room.len()].as_ref(), self.announced);
            self.room.push(left.map_or(u32::MAX, |(p, c)| if self.producers { p } else { c }));
        }
        self.room[state]
    }
}

/// The group of those that stand at no arrival: a number that no group has.
pub(crate) const NOBODY: u32 = 0;

/// All groups that occur.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    groups: Vec<Group>,
}

impl Groups {
    /// One more than the highest number of a group.
    pub(crate) fn numbers(&self) -> usize {
        self.groups.len() + 1
    }

    /// Adds the groups in which an agent stands that could make this move next.
    pub(crate) fn stand(
        &mut self,
        action: &Action,
        field_of: impl FnOnce(BarrierId) -> usize,
        standing: &mut Vec<u32>,
    ) {
        let Some(at) = action.standing() else { return };
        let field = field_of(at.barrier);
        // Where sides are not told apart, the room is the same for both.
        let one_side = !at.announced.has_sides();
        for (takes, producers) in [(at.produces, true), (at.consumes && !one_side, false)] {
            if !takes {
                continue;
            }
            let is_it = |g: &Group| (g.field, g.announced, g.producers) == (field, at.announced, producers);
            let group = self.groups.iter().position(is_it).unwrap_or_else(|| {
                let room = Vec::new();
                self.groups.push(Group { field, announced: at.announced, producers, room });
                self.groups.len() - 1
            });
            standing.push(to_u32(group) + 1);
        }
    }

    /// How many agents may stand in a group at most while its barrier is in the state that it has here.
    pub(crate) fn room<const W: usize>(
        &mut self,
        group: u32,
        barriers: &[BarrierStates],
        layout: &Layout,
        words: &Packed<W>,
    ) -> u32 {
        if group == NOBODY {
            return u32::MAX;
        }
        let entry = &mut self.groups[group as usize - 1];
        let state = layout.barrier(BarrierField::of(entry.field), words) as usize;
        match entry.room.get(state) {
            Some(room) => *room,
            None => entry.learn_room(&barriers[entry.field], state),
        }
    }
}
