//! Random protocols of few instructions on mbarrier objects that have nothing to do with each other.

use super::build::*;
use super::build_mbarrier::*;
use super::generate_mbarrier::{Bodies, Maker};
use super::protocol::AccessKind::{Read, Write};
use super::protocol::Stmt;

impl Maker {
    /// So little that few rules are violated, and that timing decides what waits see: announcements and
    /// copies, some of nothing, apart from the arrivals, and waits for the phase before the first. Sometimes
    /// a decision stands before it that decides nothing, so that other engines are asked.
    pub fn loose(&mut self) -> Bodies {
        self.warps = self.rng.range(2, 5) as usize;
        let len = self.rng.range(1, 3);
        for name in ["a", "b"].iter().take(len as usize) {
            let count = self.rng.range(1, 3);
            self.objects(name, None, count);
        }
        self.array("x", None);
        let mut bodies: Bodies = (0..self.warps)
            .map(|_| {
                let n = self.rng.range(1, 4);
                (0..n).map(|_| self.loose_stmt()).collect()
            })
            .collect();
        if self.rng.chance(50) {
            bodies[0].insert(0, maybe(vec![], vec![]));
        }
        bodies
    }

    fn loose_stmt(&mut self) -> Stmt {
        let on = Object(self.rng.below(self.objects.len()), None);
        let bytes = *self.rng.pick(&[0, 8, 8, 16]);
        match self.rng.below(14) {
            0..3 => on.wait(1),
            3..5 => on.wait(0),
            5..8 => one_lane(vec![on.arrive()]),
            8 => one_lane(vec![on.expect(bytes)]),
            9 => one_lane(vec![on.complete(bytes)]),
            10 => one_lane(vec![on.arrive_expect(bytes)]),
            11 => one_lane(vec![on.copy_nowhere(bytes)]),
            12 => one_lane(vec![on.commit()]),
            _ => access(*self.rng.pick(&[Read, Write]), 0, None),
        }
    }
}
