//! Random protocols of warps that copy into shared memory by `cp.async`: rings of stages, stages that are
//! copied out again, stages handed on by mbarrier objects, lanes that copy each by itself, and instructions
//! strewn over protocols of other generators. Some have a mistake, and then little is damaged.

use super::build::*;
use super::build_mbarrier::*;
use super::damage_stores::damaged;
use super::generate::{Rng, generate_for};
use super::generate_asks::generate_asks;
use super::generate_cluster::generate_cluster;
use super::generate_mbarrier::{Bodies, Maker, generate_mbarrier};
use super::generate_stores::{is_shared, store};
use super::protocol::*;
use super::wellformed::well_formed;
use AccessKind::{Atomic, Read, Write};

/// The protocol of a seed.
pub fn generate_fills(seed: u64) -> Protocol {
    let mut maker = Maker::new(Rng::new(seed ^ 0x0066_696c_6c73), &[1, 2, 2, 2, 2, 3]);
    let mut protocol = maker.filled();
    if protocol.size % 32 == 0 && maker.rng.chance(5) {
        protocol.size -= 20;
    }
    if maker.rng.chance(8) {
        let ctas = protocol.cluster;
        maker.relaxed(ctas, protocol.blocks.iter_mut().map(|block| &mut block.body));
    }
    if maker.rng.chance(10) {
        maker.reworded(&mut protocol.blocks.iter_mut().map(|block| &mut block.body).collect::<Vec<_>>());
    }
    let damages = *maker.rng.pick(&[0, 0, 0, 1, 1, 1, 2]);
    for _ in 0..damages {
        protocol = damaged(&mut maker, &protocol);
    }
    protocol.number();
    assert!(well_formed(&protocol), "seed {seed}:\n{}", protocol.text());
    protocol
}

pub fn fill(fill: Fill) -> Stmt {
    instr(Instr::Fill(fill))
}

/// The lanes of a warp that copy.
#[derive(Clone, Copy)]
pub enum Lanes {
    All,
    First(i32),
    Odd,
}

impl Lanes {
    /// How many they are of a whole warp.
    pub fn count(self) -> i32 {
        match self {
            Lanes::All => 32,
            Lanes::First(n) => n,
            Lanes::Odd => 16,
        }
    }

    /// What these lanes do.
    pub fn only(self, does: Vec<Stmt>) -> Vec<Stmt> {
        match self {
            Lanes::All => does,
            Lanes::First(1) => vec![one_lane(does)],
            Lanes::First(n) => vec![if_(lt(lane(), n), does, vec![])],
            Lanes::Odd => vec![if_(lane() % 2, does, vec![])],
        }
    }
}

/// How copies are issued, and waited for.
#[derive(Clone, Copy)]
struct Way {
    lanes: Lanes,
    /// How many groups go on.
    but: i32,
    commits: bool,
    waits: bool,
    /// The wait is for copies in no group, too.
    for_all: bool,
    /// The whole warp makes groups and waits.
    widely: bool,
}

/// The parts of a ring in which warps read what some of them have brought.
#[derive(Clone, Copy)]
struct Ring {
    way: Way,
    stages: i32,
    loaders: i32,
    buf: usize,
    /// The next stage is filled before the wait for the present one, and a second barrier follows.
    early: bool,
    /// The wait stands behind the barrier.
    late: bool,
    /// Which of the barriers there are.
    meets: [bool; 2],
    /// How the stage is used, and whose part of it: that of a warp, the own one, or the next one's.
    uses: (AccessKind, usize),
}

impl Ring {
    /// A warp's part of a stage.
    fn place(&self, stage: Option<Expr>, warp: Expr) -> Option<Expr> {
        match (stage, self.loaders) {
            (stage, 1) => stage,
            (None, _) => Some(warp),
            (Some(stage), loaders) => Some(stage * loaders + warp),
        }
    }

    fn load(&self, maker: &mut Maker, stage: Option<Expr>) -> Vec<Stmt> {
        let place = self.place(stage, own());
        maker.load(self.way, self.buf, place)
    }
}

impl Maker {
    /// A protocol without damage.
    pub fn filled(&mut self) -> Protocol {
        match self.rng.below(25) {
            20.. => self.made(Maker::arriving),
            0..7 => self.made(Maker::filled_ring),
            7..11 => self.made(Maker::passed_on),
            11..13 => self.made(Maker::announced),
            13..15 => self.made(Maker::fills_apart),
            15..18 => self.strewn_fills(),
            _ => self.made(Maker::loose_fills),
        }
    }

    pub fn begins(&mut self, array: usize, index: Option<Expr>) -> Stmt {
        let all = [Written::Short, Written::CacheAll, Written::CacheGlobal, Written::Sized];
        let written = *self.rng.pick(&all);
        fill(Fill::Begin { array, index, written })
    }

    fn way(&mut self, but: i32) -> Way {
        let lanes = match self.rng.below(8) {
            0..3 => Lanes::All,
            3..6 => Lanes::First(1),
            6 => Lanes::First(self.rng.range(2, 5)),
            _ => Lanes::Odd,
        };
        let but = match self.rng.below(12) {
            0 => but + 1,
            1 => (but - 1).max(0),
            _ => but,
        };
        let for_all = self.rng.chance(15);
        Way {
            lanes,
            but,
            commits: !self.rng.chance(6),
            waits: !self.rng.chance(5),
            for_all,
            widely: self.rng.chance(15),
        }
    }

    /// A copy, as a group of its own.
    fn load(&mut self, way: Way, buf: usize, place: Option<Expr>) -> Vec<Stmt> {
        let begins = self.begins(buf, place);
        let commit = if way.commits { vec![fill(Fill::Commit)] } else { vec![] };
        if way.widely {
            [way.lanes.only(vec![begins]), commit].concat()
        } else {
            way.lanes.only([vec![begins], commit].concat())
        }
    }

    fn loaded(&mut self, way: Way) -> Vec<Stmt> {
        let over = if way.for_all { Fill::WaitAll } else { Fill::Wait(way.but.into()) };
        match (way.waits, way.widely) {
            (false, _) => vec![],
            (true, true) => vec![fill(over)],
            (true, false) => way.lanes.only(vec![fill(over)]),
        }
    }

    /// Some warps load stages ahead, and all read what they have brought.
    fn filled_ring(&mut self) -> Bodies {
        let stages = *self.rng.pick(&[1, 1, 2, 2, 3]);
        if stages > 1 {
            self.warps = self.warps.min(2);
        }
        let loaders = if self.rng.chance(50) { self.warps as i32 } else { 1 };
        let parts = stages * loaders;
        let buf = self.array("buf", (parts > 1).then_some(parts.into()));
        let early = stages == 1 || self.rng.chance(50);
        let way = self.way(if early { stages - 1 } else { stages - 2 });
        let kind = *self.rng.pick(&[Read, Read, Read, Read, Write, Atomic]);
        let ring = Ring {
            way,
            stages,
            loaders,
            buf,
            early,
            late: self.rng.chance(7),
            meets: [!self.rng.chance(7), !self.rng.chance(7)],
            uses: (kind, self.rng.below(3)),
        };
        (0..self.warps).map(|warp| self.of_ring(ring, (warp as i32) < loaders)).collect()
    }

    fn of_ring(&mut self, ring: Ring, loads: bool) -> Vec<Stmt> {
        let Ring { stages, loaders, buf, early, late, meets, .. } = ring;
        let all = 32 * self.warps as i32;
        let mut body = Vec::new();
        for stage in 0..stages - 1 {
            if loads {
                body.extend(ring.load(self, Some(stage.into())));
            }
        }
        body.extend(self.framed(stages, |maker, turn| {
            let next = turn.stage.clone().map(|stage| (stage + (stages - 1)) % stages);
            let (load, loaded) = match loads {
                true => (ring.load(maker, next), maker.loaded(ring.way)),
                false => (vec![], vec![]),
            };
            let whose = match ring.uses.1 {
                0 => Expr::from(0),
                1 => own() % loaders,
                _ => (own() + 1) % loaders,
            };
            let meet = |n: usize| if meets[n] { vec![sync(1 + n as i32, all)] } else { vec![] };
            let uses = vec![access(ring.uses.0, buf, ring.place(turn.stage.clone(), whose))];
            let (before, after) = if late { (vec![], loaded) } else { (loaded, vec![]) };
            if early {
                [load, before, meet(0), after, uses, meet(1)].concat()
            } else {
                [before, meet(0), after, load, uses].concat()
            }
        }));
        body
    }

    /// What a warp has loaded is copied out, by itself or by another one.
    fn passed_on(&mut self) -> Bodies {
        self.warps = self.warps.min(2);
        let stages = *self.rng.pick(&[1, 1, 2]);
        let buf = self.array("buf", (stages > 1).then_some(stages.into()));
        let sender = self.rng.below(self.warps);
        let way = self.way(0);
        let fences = self.fences();
        let changes = *self.rng.pick(&[None, None, Some(Write), Some(Atomic), Some(Read)]);
        let (mistake, lag) = (self.rng.below(10), i64::from(stages - 1));
        let all = 32 * self.warps as i32;
        let meet = |warps| if warps > 1 { vec![sync(1, all)] } else { vec![] };
        let bodies = (0..self.warps).map(|warp| {
            let mut body = self.framed(stages, |maker, turn| {
                let mut does = Vec::new();
                if warp == sender {
                    does.push(one_lane(vec![maker.over(lag)]));
                }
                does.extend(meet(maker.warps));
                if warp == 0 {
                    does.extend(maker.load(way, buf, turn.stage.clone()));
                    match mistake {
                        // A fence before the wait, and the wait for the other kind of groups.
                        0 => does.extend([fences.0.clone(), maker.loaded(way)].concat()),
                        1 => does.extend([vec![maker.over(0)], fences.0.clone()].concat()),
                        _ => {
                            does.extend(maker.loaded(way));
                            does.extend(changes.map(|kind| access(kind, buf, turn.stage.clone())));
                            does.extend(fences.0.clone());
                        }
                    }
                }
                does.extend(meet(maker.warps));
                if warp == sender {
                    does.extend(fences.1.clone());
                    let reads = maker.reads(buf, turn.stage.clone());
                    does.push(one_lane(vec![reads, store(Store::Commit)]));
                }
                does
            });
            if warp == sender && self.rng.chance(90) {
                body.push(one_lane(vec![self.over(0)]));
            }
            body
        });
        bodies.collect()
    }

    /// A warp arrives on an object when it has waited for what it has loaded, and another one reads.
    fn announced(&mut self) -> Bodies {
        self.warps = 2;
        let stages = *self.rng.pick(&[1, 1, 2]);
        let len = (stages > 1).then_some(i64::from(stages));
        let way = self.way(0);
        let many = if self.rng.chance(20) { 2 } else { 1 };
        let (full, empty) = (self.objects("full", len, many), self.objects("empty", len, 1));
        let buf = self.array("buf", len);
        let (late, relaxed) = (self.rng.chance(7), self.rng.chance(10));
        let uses = *self.rng.pick(&[Read, Read, Write, Atomic]);
        let brings = self.framed(stages, |maker, turn| {
            let on = turn.on(full);
            let mut does = vec![turn.on(empty).wait(turn.parity.clone() ^ 1)];
            does.extend(maker.load(way, buf, turn.stage.clone()));
            let arrivals =
                if relaxed { vec![one_lane(vec![on.arrive_relaxed()])] } else { maker.arrivals(&on, many) };
            let loaded = maker.loaded(way);
            let (first, second) = if late { (arrivals, loaded) } else { (loaded, arrivals) };
            does.extend([first, second].concat());
            does
        });
        let takes = self.framed(stages, |maker, turn| {
            let wait = turn.on(full).wait(turn.parity.clone());
            let mut does = vec![wait, access(uses, buf, turn.stage.clone())];
            does.extend(maker.arrivals(&turn.on(empty), 1));
            does
        });
        vec![brings, takes]
    }

    /// Lanes copy to different locations, and some do not wait for their own copies.
    fn fills_apart(&mut self) -> Bodies {
        self.warps = self.warps.min(2);
        let buf = self.array("buf", Some(2));
        let index = match self.rng.below(3) {
            0 => lane() % 2,
            1 => Expr::Int(self.rng.range(0, 2).into()),
            _ => v("n"),
        };
        let chosen = stmt(Kind::Let("n".into(), Rhs::Any(0.into(), 2.into())));
        let (way, right) = (self.way(0), self.rng.chance(60));
        let uses = *self.rng.pick(&[Read, Write, Atomic]);
        let body = self.framed(1, |maker, _| {
            let place = Some(index.clone());
            let mut does = vec![chosen.clone()];
            if right {
                does.extend([maker.load(way, buf, place.clone()), maker.loaded(way)].concat());
            } else {
                let all = [maker.begins(buf, place.clone()), fill(Fill::Commit), maker.waits(0)];
                does.extend(all.map(|it| maker.for_some(it)));
            }
            if maker.rng.chance(70) {
                does.push(access(uses, buf, place));
            }
            does
        });
        let other = (0..self.rng.range(0, 3)).map(|_| self.some_fill()).collect();
        if self.warps > 1 { vec![body, other] } else { vec![body] }
    }

    fn waits(&mut self, but: i64) -> Stmt {
        fill(if self.rng.chance(20) { Fill::WaitAll } else { Fill::Wait(but) })
    }

    /// A statement for any place.
    pub fn some_fill(&mut self) -> Stmt {
        let (array, index) = self.some_place();
        let begins = self.begins(array, index);
        let commit = fill(Fill::Commit);
        let but = *self.rng.pick(&[0, 0, 0, 1, 1, 2]);
        let waits = self.waits(but);
        match self.rng.below(16) {
            0..2 => self.for_lanes(vec![begins]),
            2 => begins,
            3..6 => self.for_lanes(vec![begins, commit]),
            6 => self.for_lanes(vec![commit]),
            7 => commit,
            8..10 => self.for_lanes(vec![waits]),
            10..12 => waits,
            12 => one_lane(vec![begins, commit, exit()]),
            _ => self.for_lanes(vec![begins, commit, waits]),
        }
    }

    /// One or two statements for any place.
    fn some_fills(&mut self) -> Vec<Stmt> {
        let mut some = vec![self.some_fill()];
        if self.rng.chance(50) {
            let waits = self.waits(0);
            some.push(waits);
        }
        if !self.objects.is_empty() && self.rng.chance(40) {
            let arrives = self.some_arriving();
            some.push(arrives);
        }
        some
    }

    /// A protocol of another generator with some instructions put in anywhere.
    fn strewn_fills(&mut self) -> Protocol {
        let seed = self.rng.number();
        let mut made = match self.rng.below(6) {
            0..2 => generate_for(Target::Ptx, seed),
            2..4 => generate_mbarrier(seed),
            4 => generate_asks(seed),
            _ => generate_cluster(seed),
        };
        if !made.arrays.iter().any(is_shared) {
            return self.made(Maker::loose_fills);
        }
        self.warps = made.per_cta();
        self.arrays = made.arrays.clone();
        self.objects = made.objects.clone();
        for _ in 0..self.rng.range(1, 4) {
            let block = self.rng.below(made.blocks.len());
            self.strew(&mut made.blocks[block].body, Maker::some_fills);
        }
        made
    }

    /// Few instructions that have nothing to do with each other.
    fn loose_fills(&mut self) -> Bodies {
        self.array("x", None);
        if self.rng.chance(30) {
            self.array("y", Some(2));
        }
        let all = 32 * self.warps as i32;
        let mut bodies = Bodies::new();
        for _ in 0..self.warps {
            let mut body = Vec::new();
            for _ in 0..self.rng.range(2, 7) {
                let (array, index) = self.some_place();
                let kind = *self.rng.pick(&[Write, Write, Read, Atomic]);
                body.push(match self.rng.below(20) {
                    0..9 => self.some_fill(),
                    9..11 => self.some_store(),
                    11..15 => access(kind, array, index),
                    15..19 => sync(1, all),
                    _ => maybe(vec![self.some_fill()], vec![]),
                });
            }
            if self.rng.chance(50) {
                body.push(store(Store::Commit));
                body.push(self.over(0));
            }
            bodies.push(body);
        }
        bodies
    }
}
