//! Random protocols in which warps, or lanes of a warp, copy out of shared memory each by itself.

use super::build::*;
use super::build_mbarrier::*;
use super::generate_mbarrier::{Bodies, Maker};
use super::generate_stores::store;
use super::protocol::*;
use AccessKind::{Read, Write};

impl Maker {
    /// Every warp copies out what it has written itself, and all run the same code.
    pub fn alike(&mut self) -> Bodies {
        let several = self.warps > 1;
        let buf = self.array("buf", several.then_some(self.warps as i64));
        let index = several.then(own);
        let (fences, _) = self.fences();
        let chooses = self.rng.chance(30);
        let shares = self.rng.chance(30);
        let all = 32 * self.warps as i32;
        let but = i64::from(self.rng.chance(20));
        let reads = self.reads(buf, index.clone());
        let mut body = self.framed(1, |maker, _| {
            let mut does = vec![access(Write, buf, index.clone())];
            does.extend(fences.clone());
            if shares {
                does.push(sync(1, all));
                does.push(access(Read, buf, several.then_some(0.into())));
                does.push(sync(1, all));
            }
            let send = one_lane(vec![reads.clone(), store(Store::Commit), maker.over(but)]);
            does.push(if chooses { maybe(vec![send.clone()], vec![send]) } else { send });
            does
        });
        if but > 0 && self.rng.chance(80) {
            body.push(one_lane(vec![self.over(0)]));
        }
        vec![body; self.warps]
    }

    /// Lanes copy different things, and some do not wait for their own groups.
    pub fn lanes_apart(&mut self) -> Bodies {
        self.warps = self.warps.min(2);
        let buf = self.array("buf", Some(2));
        let (fences, _) = self.fences();
        let index = match self.rng.below(3) {
            0 => lane() % 2,
            1 => Expr::Int(self.rng.range(0, 2).into()),
            _ => v("n"),
        };
        let chosen = stmt(Kind::Let("n".into(), Rhs::Any(0.into(), 2.into())));
        let mut body = self.framed(1, |maker, _| {
            let mut does = vec![chosen.clone()];
            if maker.rng.chance(80) {
                does.push(access(Write, buf, Some(index.clone())));
                does.extend(fences.clone());
            }
            let reads = maker.reads(buf, Some(index.clone()));
            does.extend([reads, store(Store::Commit), maker.over(0)].map(|it| maker.for_some(it)));
            does
        });
        if self.rng.chance(50) {
            body.push(store(Store::Commit));
            body.push(self.over(0));
        }
        let other = (0..self.rng.range(0, 3)).map(|_| self.some_store()).collect();
        if self.warps > 1 { vec![body, other] } else { vec![body] }
    }

    /// For lanes that are the same more often than not.
    pub fn for_some(&mut self, it: Stmt) -> Stmt {
        match self.rng.below(6) {
            0 => it,
            1 => if_(lt(lane(), 2), vec![it], vec![]),
            2 => if_(eq(lane(), 1), vec![it], vec![]),
            _ => one_lane(vec![it]),
        }
    }
}
