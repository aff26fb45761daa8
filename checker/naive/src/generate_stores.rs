//! Random protocols of warps that copy out of shared memory: epilogues with one or two stages, rings whose
//! stages are filled by warps or by copies, stages that are changed in place, CTAs that fill each other's
//! memory, and instructions strewn over protocols of other generators. Then little is damaged.

use super::build::*;
use super::build_mbarrier::*;
use super::damage_stores::damaged;
use super::generate::Rng;
use super::generate_asks::generate_asks;
use super::generate_cluster::generate_cluster;
use super::generate_mbarrier::{Bodies, Maker, Turn, generate_mbarrier};
use super::protocol::*;
use super::stores::Window;
use super::wellformed::well_formed;
use AccessKind::{Atomic, Read, Write};

/// The protocol of a seed.
pub fn generate_stores(seed: u64) -> Protocol {
    let mut maker = Maker::new(Rng::new(seed ^ 0x7374_6f72_6573), &[1, 2, 2, 2, 2, 3]);
    let mut ctas = 1;
    let mut protocol = match maker.rng.below(31) {
        0..5 => maker.made(Maker::epilogue),
        5..9 => maker.made(Maker::handed),
        9..11 => maker.made(Maker::in_place),
        11..13 => maker.made(Maker::behind),
        13..16 => {
            ctas = 2;
            maker.warps = maker.warps.min(2);
            maker.made(Maker::clustered).with_ctas(2)
        }
        22..24 => maker.made(Maker::alike),
        24..27 => maker.made(Maker::lanes_apart),
        27..31 => {
            let made = maker.filled();
            ctas = made.cluster;
            made
        }
        16..20 => {
            let made = maker.strewn();
            ctas = made.cluster;
            made
        }
        _ => maker.made(Maker::loose_stores),
    };
    if maker.rng.chance(12) {
        maker.relaxed(ctas, protocol.blocks.iter_mut().map(|block| &mut block.body));
    }
    if maker.rng.chance(5) {
        protocol.size -= 20;
    }
    for block in &mut protocol.blocks {
        maker.cancels(&mut block.body, ctas);
    }
    let damages = *maker.rng.pick(&[0, 0, 0, 1, 1, 1, 2]);
    for _ in 0..damages {
        protocol = damaged(&mut maker, &protocol);
    }
    protocol.number();
    assert!(well_formed(&protocol), "seed {seed}:\n{}", protocol.text());
    protocol
}

pub fn store(store: Store) -> Stmt {
    instr(Instr::Store(store))
}

/// Copies out of memory read what is shared.
pub fn is_shared(array: &Array) -> bool {
    array.space == Space::Shared
}

impl Maker {
    pub fn made(&mut self, make: fn(&mut Maker) -> Bodies) -> Protocol {
        let bodies = make(self);
        self.assemble(bodies)
    }

    pub fn reads(&mut self, array: usize, index: Option<Expr>) -> Stmt {
        let all = [Spelling::Short, Spelling::Whole, Spelling::Tensor, Spelling::Reduction, Spelling::Sized];
        let spelling = *self.rng.pick(&all);
        store(Store::Read { array, index, spelling })
    }

    pub fn over(&mut self, but: i64) -> Stmt {
        store(Store::Wait { but, of_reading: self.rng.chance(70) })
    }

    /// Mostly a fence that is enough.
    pub fn fence(&mut self) -> Stmt {
        let windows = [
            None,
            None,
            None,
            Some(Window::Own),
            Some(Window::Own),
            Some(Window::Cluster),
            Some(Window::Global),
        ];
        store(Store::Fence(*self.rng.pick(&windows)))
    }

    /// Where the fence stands: with the writer, with who copies, with both, or nowhere.
    pub fn fences(&mut self) -> (Vec<Stmt>, Vec<Stmt>) {
        match self.rng.below(10) {
            0..6 => (vec![self.fence()], vec![]),
            6..8 => (vec![], vec![self.fence()]),
            8 => (vec![self.fence()], vec![self.fence()]),
            _ => (vec![], vec![]),
        }
    }

    /// A copy in a group of its own; so many groups may go on.
    pub fn send(&mut self, array: usize, turn: &Turn, but: Option<i64>) -> Stmt {
        let mut does = vec![self.reads(array, turn.stage.clone()), store(Store::Commit)];
        does.extend(but.map(|but| self.over(but)));
        self.for_lanes(does)
    }

    /// One lane, or seldom more.
    pub fn for_lanes(&mut self, does: Vec<Stmt>) -> Stmt {
        match self.rng.below(16) {
            0 => if_(lt(lane(), 2), does, vec![]),
            1 => if_(ge(lane(), 0), does, vec![]),
            2 => if_(eq(lane(), 31), does, vec![]),
            _ => one_lane(does),
        }
    }

    /// Some warps write what warp 0 copies, with a barrier before and after.
    fn epilogue(&mut self) -> Bodies {
        let stages = *self.rng.pick(&[1, 1, 2]);
        let len = (stages > 1).then_some(i64::from(stages));
        let buf = self.array("buf", len);
        let all = 32 * self.warps as i32;
        let writer = self.rng.below(self.warps);
        let kind = *self.rng.pick(&[Write, Write, Write, Atomic]);
        let everyone = kind == Atomic && self.rng.chance(70);
        let early = self.rng.chance(60);
        let fences = self.fences();
        let but = i64::from(stages - 1) + i64::from(self.rng.chance(10));
        (0..self.warps)
            .map(|warp| {
                let mut body = self.framed(stages, |maker, turn| {
                    let mut does = Vec::new();
                    if warp == 0 && early {
                        does.push(one_lane(vec![maker.over(but)]));
                    }
                    does.push(sync(1, all));
                    if warp == writer || everyone {
                        does.push(access(kind, buf, turn.stage.clone()));
                        does.extend(fences.0.clone());
                    }
                    does.push(sync(2, all));
                    if warp == 0 {
                        does.extend(fences.1.clone());
                        let but = (!early).then_some(but);
                        does.push(one_lane(
                            [
                                vec![maker.reads(buf, turn.stage.clone())],
                                vec![store(Store::Commit)],
                                but.map(|but| maker.over(but)).into_iter().collect(),
                            ]
                            .concat(),
                        ));
                    }
                    does
                });
                if warp == 0 && self.rng.chance(90) {
                    body.push(one_lane(vec![self.over(0)]));
                }
                body
            })
            .collect()
    }

    /// A ring whose stages are filled by warp 0 and copied out by the last one.
    fn handed(&mut self) -> Bodies {
        self.warps = 2;
        let stages = *self.rng.pick(&[1, 1, 2]);
        let len = (stages > 1).then_some(i64::from(stages));
        let (full, empty) = (self.objects("full", len, 1), self.objects("empty", len, 1));
        let buf = self.array("buf", len);
        let (writes, copies) = self.fences();
        let by_copy = self.rng.chance(30);
        let relaxed = self.rng.chance(10);
        let fill = self.framed(stages, |_, turn| {
            let on = turn.on(full);
            let mut does = vec![turn.on(empty).wait(turn.parity.clone() ^ 1)];
            if by_copy {
                let to = Some((buf, turn.stage.clone()));
                does.push(one_lane(vec![on.arrive_expect(16), on.act(Act::Copy(16.into(), to))]));
            } else {
                does.push(access(Write, buf, turn.stage.clone()));
                does.extend(writes.clone());
                does.push(one_lane(vec![if relaxed { on.arrive_relaxed() } else { on.arrive() }]));
            }
            does
        });
        let drain = self.framed(stages, |maker, turn| {
            let mut does = vec![turn.on(full).wait(turn.parity.clone())];
            if !by_copy {
                does.extend(copies.clone());
            }
            does.push(maker.send(buf, turn, Some(0)));
            does.extend(maker.arrivals(&turn.on(empty), 1));
            does
        });
        vec![fill, drain]
    }

    /// A copy comes in, warps change what it has written, and a copy takes it out.
    fn in_place(&mut self) -> Bodies {
        self.warps = 2;
        let full = self.objects("full", None, 1);
        let buf = self.array("buf", None);
        let all = 64;
        let changes = *self.rng.pick(&[Write, Write, Atomic, Read]);
        let fences = self.fences();
        let load = self.framed(1, |maker, turn| {
            let on = object(full);
            let mut does = vec![one_lane(vec![on.arrive_expect(16), on.copy(16, buf)])];
            does.push(on.wait(turn.parity.clone()));
            if changes == Atomic {
                does.extend([access(Atomic, buf, None)]);
                does.extend(fences.0.clone());
            }
            does.push(sync(1, all));
            does.extend(fences.1.clone());
            does.push(maker.send(buf, turn, Some(0)));
            does
        });
        let change = self.framed(1, |_, turn| {
            let mut does = vec![object(full).wait(turn.parity.clone()), access(changes, buf, None)];
            does.extend(fences.0.clone());
            does.push(sync(1, all));
            does
        });
        vec![load, change]
    }

    /// One warp writes, and waits only one round later for what it has copied: a group of its own, or
    /// several copies in one.
    fn behind(&mut self) -> Bodies {
        let lag = i64::from(self.rng.range(1, 3));
        let stages = (lag + i64::from(self.rng.chance(80))) as i32;
        let buf = self.array("buf", (stages > 1).then_some(stages.into()));
        self.array("x", None);
        let fences = self.fences();
        let empties = self.rng.chance(20);
        let bodies = (0..self.warps).map(|warp| {
            if warp > 0 {
                return vec![access(*self.rng.pick(&[Read, Write, Atomic]), 1, None)];
            }
            let mut body = self.framed(stages, |maker, turn| {
                let mut does = vec![access(Write, buf, turn.stage.clone())];
                does.extend(fences.0.clone());
                let mut sends = vec![maker.reads(buf, turn.stage.clone()), store(Store::Commit)];
                if empties {
                    sends.push(store(Store::Commit));
                }
                sends.push(maker.over(lag));
                does.push(one_lane(sends));
                does
            });
            if self.rng.chance(90) {
                body.push(one_lane(vec![self.over(0)]));
            }
            body
        });
        bodies.collect()
    }

    /// Each CTA copies out what its neighbour has written or sent.
    fn clustered(&mut self) -> Bodies {
        let x = self.array("x", None);
        let full = self.objects("full", None, 1);
        let fences = self.fences();
        let how = self.rng.below(4);
        let next = (Expr::Rank + 1) % 2;
        let meet = |maker: &mut Self| {
            let relaxed = maker.rng.chance(7);
            vec![instr(Instr::ClusterArrive { relaxed, aligned: false }), cluster_wait()]
        };
        (0..self.warps)
            .map(|warp| {
                self.framed(1, |maker, turn| {
                    let on = object(full);
                    let mut does = Vec::new();
                    if warp == 0 && how == 0 {
                        let send = on.act(Act::Multicast(16.into(), Some((x, None)), 3));
                        let first = if_(eq(Expr::Rank, 0), vec![send], vec![]);
                        does.push(one_lane(vec![on.arrive_expect(16), first]));
                        does.push(on.wait(turn.parity.clone()));
                    } else if warp == 0 && how == 1 {
                        does.push(access(Write, x, None));
                        does.extend(fences.0.clone());
                    } else if warp == 0 {
                        does.push(access_at(*maker.rng.pick(&[Write, Write, Atomic]), x, None, next.clone()));
                        does.extend(fences.0.clone());
                    }
                    does.extend(meet(maker));
                    if warp + 1 == maker.warps {
                        does.extend(fences.1.clone());
                        does.push(maker.send(x, turn, Some(0)));
                    }
                    does.extend(meet(maker));
                    does
                })
            })
            .collect()
    }

    /// A protocol of another generator with some instructions put in anywhere.
    fn strewn(&mut self) -> Protocol {
        let seed = self.rng.number();
        let mut made = match self.rng.below(5) {
            0..3 => generate_mbarrier(seed),
            3 => generate_asks(seed),
            _ => generate_cluster(seed),
        };
        self.warps = made.per_cta();
        self.arrays = made.arrays.clone();
        self.objects = made.objects.clone();
        if !self.arrays.iter().any(is_shared) {
            return made;
        }
        for _ in 0..self.rng.range(1, 5) {
            let block = self.rng.below(made.blocks.len());
            self.strew(&mut made.blocks[block].body, Maker::some_stores);
        }
        if self.rng.chance(70) {
            let over = self.over(0);
            let block = self.rng.below(made.blocks.len());
            made.blocks[block].body.push(over);
        }
        made
    }

    /// Puts in at some place what a function makes.
    pub fn strew(&mut self, list: &mut Vec<Stmt>, some: fn(&mut Maker) -> Vec<Stmt>) {
        let at = self.rng.below(list.len() + 1);
        match list.get_mut(at).map(|stmt| &mut stmt.kind) {
            Some(Kind::For { body, .. } | Kind::Loop(body) | Kind::While(_, body)) => self.strew(body, some),
            Some(Kind::If(_, then, _)) if self.rng.chance(50) => self.strew(then, some),
            _ => {
                let some = some(self);
                list.splice(at..at, some);
            }
        }
    }

    /// A statement for any place, and sometimes a copy that is waited for before it.
    fn some_stores(&mut self) -> Vec<Stmt> {
        let some = self.some_store();
        if self.rng.chance(50) {
            return vec![some];
        }
        let (array, index) = self.some_place();
        let all = vec![self.fence(), self.reads(array, index), store(Store::Commit), self.over(0)];
        vec![one_lane(all), some]
    }

    pub fn some_place(&mut self) -> (usize, Option<Expr>) {
        let shared: Vec<usize> = (0..self.arrays.len()).filter(|n| is_shared(&self.arrays[*n])).collect();
        let array = *self.rng.pick(&shared);
        let index = self.arrays[array].len.map(|len| match self.rng.below(5) {
            0 => lane() % len as i32,
            1 => own() % len as i32,
            _ => Expr::Int(self.rng.below(len as usize) as i64),
        });
        (array, index)
    }

    /// A statement for any place.
    pub fn some_store(&mut self) -> Stmt {
        let (array, index) = self.some_place();
        match self.rng.below(18) {
            16.. => self.some_fill(),
            0..4 => {
                let does = vec![self.reads(array, index)];
                self.for_lanes(does)
            }
            4 => self.reads(array, index),
            5..7 => {
                let does = vec![self.reads(array, index), store(Store::Commit)];
                self.for_lanes(does)
            }
            7..9 => self.for_lanes(vec![store(Store::Commit)]),
            9..12 => {
                let over = self.rng.range(0, 3).into();
                let does = vec![self.over(over)];
                self.for_lanes(does)
            }
            12 => store(Store::Commit),
            13 => {
                let but = i64::from(self.rng.range(0, 4));
                self.over(but)
            }
            14 if self.rng.chance(20) => {
                one_lane(vec![self.reads(array, index), store(Store::Commit), exit()])
            }
            14 => {
                let does = vec![self.fence()];
                self.for_lanes(does)
            }
            _ => self.fence(),
        }
    }

    /// Few instructions that have nothing to do with each other.
    fn loose_stores(&mut self) -> Bodies {
        let objects = self.rng.chance(30);
        if objects {
            self.objects("b", None, 1);
        }
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
                body.push(match self.rng.below(20) {
                    0..10 => self.some_store(),
                    10..13 => access(Write, array, index),
                    13 => access(Read, array, index),
                    14 => access(Atomic, array, index),
                    15..18 => sync(1, all),
                    18 if objects => self.some_stmt(),
                    _ => maybe(vec![self.some_store()], vec![]),
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

    /// Some copies of 16 bytes are the answers to questions for more work.
    fn cancels(&mut self, list: &mut [Stmt], ctas: usize) {
        for stmt in list {
            match &mut stmt.kind {
                Kind::For { body, .. } | Kind::Loop(body) | Kind::While(_, body) => self.cancels(body, ctas),
                Kind::If(_, then, other) => {
                    self.cancels(then, ctas);
                    self.cancels(other, ctas);
                }
                Kind::Instr(Instr::Mbarrier(on)) if on.cta.is_none() => {
                    let (bytes, to, everywhere) = match &on.act {
                        Act::Copy(bytes, Some(to)) => (bytes, to, false),
                        Act::Multicast(bytes, Some(to), mask) if *mask == (1 << ctas) - 1 => {
                            (bytes, to, true)
                        }
                        _ => continue,
                    };
                    if *bytes == Expr::Int(16) && self.rng.chance(10) {
                        on.act = Act::Cancel { to: to.clone(), everywhere };
                    }
                }
                _ => {}
            }
        }
    }
}
