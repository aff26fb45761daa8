//! Random protocols in which lanes arrive on mbarrier objects when what they have copied by `cp.async` is
//! over: rings, lanes of a warp that arrive apart, and instructions that have nothing to do with each other.

use super::build::*;
use super::build_mbarrier::*;
use super::generate_fills::{Lanes, fill};
use super::generate_mbarrier::{Bodies, Maker, Turn};
use super::protocol::*;
use AccessKind::{Atomic, Read, Write};

/// How a ring is filled.
#[derive(Clone, Copy)]
struct Ring {
    full: usize,
    empty: usize,
    buf: usize,
    /// What is written beside by who fills it, if anything.
    beside: Option<usize>,
    lanes: Lanes,
    /// The arrivals are among those that the phase counts anyway.
    counted: bool,
    mistake: usize,
}

impl Maker {
    pub fn arriving(&mut self) -> Bodies {
        match self.rng.below(10) {
            0..6 => self.arriving_ring(),
            6..8 => self.arriving_apart(),
            _ => self.arriving_loose(),
        }
    }

    fn some_lanes(&mut self) -> Lanes {
        let few = Lanes::First(self.rng.range(2, 4));
        *self.rng.pick(&[Lanes::All, Lanes::All, Lanes::First(1), Lanes::First(1), few, Lanes::Odd])
    }

    /// One warp fills stages, and another one reads them, or it does so itself.
    fn arriving_ring(&mut self) -> Bodies {
        self.warps = self.warps.clamp(1, 2);
        let stages = *self.rng.pick(&[1, 1, 1, 2]);
        let len = (stages > 1).then_some(i64::from(stages));
        let (lanes, counted) = (self.some_lanes(), self.rng.chance(60));
        let right = if counted { lanes.count() } else { 1 };
        let count = *self.rng.pick(&[right, right, right, right, right, right, right, right, right + 1]);
        let (full, empty) = (self.objects("full", len, count), self.objects("empty", len, 1));
        let buf = self.array("buf", len);
        let beside = if self.rng.chance(25) { Some(self.array("y", None)) } else { None };
        let ring = Ring { full, empty, buf, beside, lanes, counted, mistake: self.rng.below(16) };
        let uses = *self.rng.pick(&[Read, Read, Read, Write, Atomic]);
        let take = |maker: &mut Self, turn: &Turn| {
            let wait = turn.on(full).wait(turn.parity.clone());
            let mut does = vec![wait, access(uses, buf, turn.stage.clone())];
            does.extend(beside.map(|array| access(Read, array, None)));
            does.extend(maker.arrivals(&turn.on(empty), 1));
            does
        };
        if self.warps == 1 {
            return vec![
                self.framed(stages, |maker, turn| [maker.bring(ring, turn), take(maker, turn)].concat()),
            ];
        }
        let looks = self.rng.below(6);
        let brings = self.framed(stages, |maker, turn| {
            let mut does = maker.bring(ring, turn);
            // Who has begun the copies has to wait as others have.
            if looks < 2 {
                does.push(turn.on(full).wait(turn.parity.clone()));
            }
            if looks < 3 {
                does.push(access(Read, buf, turn.stage.clone()));
            }
            does
        });
        vec![brings, self.framed(stages, take)]
    }

    fn bring(&mut self, ring: Ring, turn: &Turn) -> Vec<Stmt> {
        let on = turn.on(ring.full);
        let (lanes, counted) = (ring.lanes, ring.counted);
        let begins = self.begins(ring.buf, turn.stage.clone());
        let arrives = on.fill_arrive(counted, self.rng.chance(30));
        let mut does = vec![turn.on(ring.empty).wait(turn.parity.clone() ^ 1)];
        does.extend(ring.beside.map(|array| access(Write, array, None)));
        does.extend(match ring.mistake {
            0 => lanes.only(vec![arrives, begins]),
            1 => [lanes.only(vec![begins]), vec![one_lane(vec![arrives])]].concat(),
            2 => lanes.only(vec![begins.clone(), arrives, begins]),
            3 => lanes.only(vec![begins, fill(Fill::Commit), arrives]),
            4 => lanes.only(vec![begins, fill(Fill::WaitAll), arrives]),
            5 => lanes.only(vec![begins, arrives, fill(Fill::WaitAll)]),
            6 => [lanes.only(vec![begins]), vec![arrives]].concat(),
            _ => [lanes.only(vec![begins]), lanes.only(vec![arrives])].concat(),
        });
        // The phase counts one arrival that is not among those of copies.
        if !counted {
            let at = if ring.mistake == 7 { 1 } else { does.len() };
            does.insert(at, one_lane(vec![on.arrive()]));
        }
        does
    }

    /// The lanes of a warp arrive one part after the other, on one object or on two.
    fn arriving_apart(&mut self) -> Bodies {
        self.warps = self.warps.clamp(1, 2);
        let is_one = self.rng.chance(60);
        let first = self.rng.range(1, 4);
        let counts = if is_one { [32, 1] } else { [first, 32 - first] };
        let (a, b) = (object(self.objects("a", None, counts[0])), object(self.objects("b", None, counts[1])));
        let second = if is_one { &a } else { &b };
        let len = *self.rng.pick(&[None, None, Some(2)]);
        let buf = self.array("buf", len);
        let place = len.map(|_| lane() % 2);
        let begins = self.begins(buf, place.clone());
        let again = self.begins(buf, place.clone());
        let arrive = |maker: &mut Self, on: &Object| on.fill_arrive(true, maker.rng.chance(20));
        let (one, other) = (arrive(self, &a), arrive(self, second));
        let mut does = vec![begins];
        does.push(match self.rng.below(8) {
            0 => if_(lt(lane(), first), vec![one], vec![again, other]),
            1 => if_(lt(lane(), first), vec![one], vec![]),
            2 => if_(lt(lane(), first), vec![one, other.clone()], vec![other]),
            _ => if_(lt(lane(), first), vec![one], vec![other]),
        });
        let mut waits = vec![a.wait(0)];
        if !is_one && self.rng.chance(70) {
            waits.push(b.wait(0));
        }
        let uses = access(*self.rng.pick(&[Read, Read, Write]), buf, place);
        waits.push(uses);
        if self.warps == 2 {
            if self.rng.chance(30) {
                does.extend(waits.clone());
            }
            return vec![does, waits];
        }
        vec![[does, waits].concat()]
    }

    /// Few instructions that have nothing to do with each other.
    fn arriving_loose(&mut self) -> Bodies {
        self.warps = self.warps.clamp(1, 2);
        for name in ["a", "b"].iter().take(self.rng.range(1, 3) as usize) {
            let count = *self.rng.pick(&[1, 1, 2]);
            self.objects(name, None, count);
        }
        self.array("x", None);
        self.array("y", None);
        let mut bodies = Bodies::new();
        for _ in 0..self.warps {
            let mut body = Vec::new();
            for _ in 0..self.rng.range(2, 7) {
                let stmt = self.some_arriving();
                body.push(stmt);
            }
            bodies.push(body);
        }
        bodies
    }

    /// A statement for any place, where there are objects.
    pub fn some_arriving(&mut self) -> Stmt {
        let (array, index) = self.some_place();
        let number = self.rng.below(self.objects.len());
        let at = self.objects[number].len.map(|len| Expr::Int(self.rng.below(len as usize) as i64));
        let on = Object(number, at);
        let arrives = on.fill_arrive(self.rng.chance(60), self.rng.chance(20));
        match self.rng.below(16) {
            0..3 => one_lane(vec![arrives]),
            3..5 => one_lane(vec![self.begins(array, index)]),
            5..8 => one_lane(vec![self.begins(array, index), arrives]),
            8 => if_(lt(lane(), 2), vec![self.begins(array, index), arrives], vec![]),
            9..12 => on.wait(self.rng.range(0, 2)),
            12 => one_lane(vec![on.arrive()]),
            13 => self.some_fill(),
            _ => access(*self.rng.pick(&[Read, Write, Atomic]), array, index),
        }
    }
}
