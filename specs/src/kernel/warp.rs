//! What a launch fixes for one warp.

use super::code::{Comparison, Index};
use super::lanes::{Lanes, WIDTH};

/// The members of a group run one program, in which they are told apart by their index: their statements are
/// the same. It is laid out as that of one warp, whose lanes they are.
pub(crate) const ALL: u32 = u32::MAX;

/// A warp of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Warp {
    /// Its position in the group.
    pub(super) number: u32,
    /// The threads of the group in three directions.
    pub(super) size: [u32; 3],
    /// The threads of a whole warp: [`WIDTH`] at most, or [`ALL`].
    pub(super) lanes: u32,
    /// The rank of the group in its cluster.
    pub(super) rank: u32,
    /// The groups of the cluster in three directions.
    pub(super) cluster: [u32; 3],
}

impl Warp {
    /// The threads of the whole group.
    pub(super) fn threads(size: [u32; 3]) -> u32 {
        size.iter().fold(1, |product, length| product.saturating_mul(*length))
    }

    /// The lanes that have a thread.
    pub(super) fn live(&self) -> usize {
        let before = self.number * self.lanes;
        Self::threads(self.size).saturating_sub(before).min(self.lanes) as usize
    }

    /// Its lanes are agents of their own.
    pub(super) fn is_all(&self) -> bool {
        self.lanes == ALL
    }

    /// What is known of each lane's thread.
    pub(super) fn index(&self, index: Index) -> Lanes {
        let [x, y, _] = self.size.map(|length| u64::from(length.max(1)));
        let thread = |lane: usize| u64::from(self.number) * u64::from(self.lanes) + lane as u64;
        let mask = |comparison: Comparison, lane: usize| {
            let holds = |other: usize| match comparison {
                Comparison::Equal => other == lane,
                Comparison::NotEqual => other != lane,
                Comparison::Less => other < lane,
                Comparison::LessOrEqual => other <= lane,
                Comparison::Greater => other > lane,
                Comparison::GreaterOrEqual => other >= lane,
            };
            (0..WIDTH).filter(|other| holds(*other)).fold(0, |bits, other| bits | 1 << other)
        };
        Lanes::each(self.live(), |lane| match index {
            Index::Thread(0) => thread(lane) % x,
            Index::Thread(1) => thread(lane) / x % y,
            Index::Thread(_) => thread(lane) / x / y,
            Index::Lane => lane as u64,
            Index::Mask(comparison) => mask(comparison, lane),
            Index::Rank => u64::from(self.rank),
            Index::Group(direction) => {
                let [x, y, _] = self.cluster.map(|length| length.max(1));
                u64::from(match direction {
                    0 => self.rank % x,
                    1 => self.rank / x % y,
                    _ => self.rank / x / y,
                })
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALONE: Warp = Warp { number: 0, size: [32, 1, 1], lanes: 32, rank: 0, cluster: [1, 1, 1] };

    #[test]
    fn a_group_has_a_place_in_its_cluster() {
        let warp = Warp { rank: 5, cluster: [2, 2, 2], ..ALONE };
        let place = [0, 1, 2].map(|direction| warp.index(Index::Group(direction)));
        assert_eq!(place, [Lanes::All(1), Lanes::All(0), Lanes::All(1)]);
        assert_eq!(warp.index(Index::Rank), Lanes::All(5));
    }

    #[test]
    fn threads_are_numbered_along_x_first() {
        let warp = Warp { number: 1, size: [8, 4, 3], lanes: 32, ..ALONE };
        assert_eq!(warp.index(Index::Thread(2)), Lanes::All(1));
        assert_eq!((warp.index(Index::Thread(1)).get(9), warp.index(Index::Thread(0)).get(9)), (1, 1));
        assert_eq!(warp.live(), 32);
    }

    #[test]
    fn lanes_without_a_thread_do_not_count() {
        let warp = Warp { number: 1, size: [33, 1, 1], lanes: 32, ..ALONE };
        assert_eq!((warp.live(), warp.index(Index::Thread(0))), (1, Lanes::All(32)));
    }

    #[test]
    fn an_agent_may_be_a_single_thread() {
        let warp = Warp { number: 9, size: [8, 4, 1], lanes: 1, ..ALONE };
        assert_eq!((warp.live(), warp.index(Index::Lane)), (1, Lanes::All(0)));
        assert_eq!(warp.index(Index::Thread(0)), Lanes::All(1));
        assert_eq!(warp.index(Index::Thread(1)), Lanes::All(1));
    }

    #[test]
    fn masks_name_the_lanes_that_come_before() {
        let warp = Warp { number: 0, size: [32, 1, 1], lanes: 32, ..ALONE };
        assert_eq!(warp.index(Index::Mask(Comparison::Less)).get(3), 0b111);
    }
}
