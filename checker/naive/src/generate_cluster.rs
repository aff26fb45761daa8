//! Random protocols of clusters: CTAs that meet at the barrier of the cluster, arrive on each other's
//! objects, and send each other copies and commits. Then little is damaged.

use super::build::*;
use super::build_mbarrier::*;
use super::damage_cluster::damaged;
use super::generate::Rng;
use super::generate_mbarrier::{Bodies, Maker, Turn};
use super::generate_warps::beside;
use super::protocol::*;
use super::wellformed::well_formed;
use AccessKind::{Read, Write};

/// The protocol of a seed.
pub fn generate_cluster(seed: u64) -> Protocol {
    let mut maker = Maker::new(Rng::new(seed ^ 0x636c_7573_7465_7273), &[1, 1, 1, 2, 2]);
    let ctas = if maker.warps == 1 { *maker.rng.pick(&[2, 2, 2, 3]) } else { 2 };
    let mut bodies = match maker.rng.below(38) {
        0..4 => maker.exchange(ctas),
        4..8 => maker.remote_ring(ctas),
        8..11 => maker.multicast_ring(ctas),
        11..13 => maker.committed_to_all(ctas),
        13..15 => maker.entry(ctas),
        15..17 => maker.signalled(ctas),
        17..20 => maker.own(),
        20 => maker.leaves(ctas),
        21..23 => maker.neighbours(ctas),
        27..31 => maker.fenced_cluster(ctas),
        31.. => maker.flown_cluster(ctas),
        _ => maker.loose_cluster(ctas),
    };
    if maker.rng.chance(25) {
        maker.relaxed(ctas as usize, bodies.iter_mut());
    }
    if maker.rng.chance(20) {
        maker.reworded(&mut bodies.iter_mut().collect::<Vec<_>>());
    }
    if maker.rng.chance(25) {
        bodies.iter_mut().for_each(|body| maker.asked(body));
    }
    let mut protocol = maker.assemble(bodies).with_ctas(ctas as usize);
    let damages = *maker.rng.pick(&[0, 0, 0, 1, 1, 1, 2]);
    for _ in 0..damages {
        protocol = damaged(&mut maker, &protocol);
    }
    beside(seed, &mut protocol);
    protocol.number();
    assert!(well_formed(&protocol), "seed {seed}:\n{}", protocol.text());
    protocol
}

fn next(ctas: i32) -> Expr {
    (Expr::Rank + 1) % ctas
}

fn only_in(cta: i32, body: Vec<Stmt>) -> Stmt {
    if_(eq(Expr::Rank, cta), body, vec![])
}

/// The mask of all CTAs.
fn all(ctas: i32) -> i64 {
    (1 << ctas) - 1
}

impl Maker {
    /// All meet at the barrier of the cluster.
    fn meet(&mut self) -> Vec<Stmt> {
        match self.rng.below(10) {
            0 => {
                let (relaxed, aligned) = (false, true);
                vec![instr(Instr::ClusterArrive { relaxed, aligned }), instr(Instr::ClusterWait { aligned })]
            }
            1 => vec![cluster_arrive(), assert_(1), cluster_wait()],
            _ => vec![cluster_arrive(), cluster_wait()],
        }
    }

    /// Each warp does something, and mostly all meet before they leave.
    pub fn and_meet(&mut self, mut bodies: Bodies) -> Bodies {
        if self.rng.chance(90) {
            for body in &mut bodies {
                body.extend(self.meet());
            }
        }
        bodies
    }

    /// A remote arrival by one lane, with some scope that is enough.
    fn signal(&mut self, on: &Object, cta: impl Into<Expr>) -> Stmt {
        let scope = *self.rng.pick(&[None, Some(Reach::Cluster), Some(Reach::Cluster)]);
        one_lane(vec![on.at(cta, arrival(scope))])
    }

    /// One lane arrives in every CTA.
    fn signal_all(&mut self, on: &Object, ctas: i32) -> Stmt {
        let k = self.fresh("k");
        let signal = self.signal(on, v(&k));
        for_(&k, 0, ctas, vec![signal])
    }

    /// Each writes its own, all meet, each reads that of its neighbour, all meet.
    fn exchange(&mut self, ctas: i32) -> Bodies {
        let x = self.array("x", None);
        let g = self.array("g", None);
        self.arrays[g].space = Space::Global;
        let worldwide = self.rng.chance(15);
        (0..self.warps)
            .map(|warp| {
                self.framed(1, |maker, _| {
                    let mut does = Vec::new();
                    if warp == 0 {
                        does.push(access(Write, x, None));
                    }
                    if worldwide && warp == 0 {
                        does.push(only_in(0, vec![access(Write, g, None)]));
                    }
                    does.extend(maker.meet());
                    does.push(access_at(Read, x, None, next(ctas)));
                    if worldwide {
                        does.push(access(Read, g, None));
                    }
                    does.extend(maker.meet());
                    does
                })
            })
            .collect()
    }

    /// CTA 0 fills a stage that all CTAs read.
    fn remote_ring(&mut self, ctas: i32) -> Bodies {
        let x = self.array("x", None);
        let (full, empty) = (self.objects("full", None, 1), self.objects("empty", None, ctas));
        let produce = |maker: &mut Self, turn: &Turn| {
            let parity = turn.parity.clone() ^ 1;
            let fills = vec![turn.on(empty).wait(parity), access(Write, x, None)];
            let tell = maker.signal_all(&turn.on(full), ctas);
            [fills, vec![tell]].concat()
        };
        let consume = |maker: &mut Self, turn: &Turn| {
            let read = access_at(Read, x, None, 0);
            let free = maker.signal(&turn.on(empty), 0);
            vec![turn.on(full).wait(turn.parity.clone()), read, free]
        };
        let bodies = if self.warps == 1 {
            let both = self.framed(1, |maker, turn| {
                let mut does = vec![only_in(0, produce(maker, turn))];
                does.extend(consume(maker, turn));
                does
            });
            vec![both]
        } else {
            let load = self.framed(1, |maker, turn| vec![only_in(0, produce(maker, turn))]);
            vec![load, self.framed(1, consume)]
        };
        self.and_meet(bodies)
    }

    /// Each CTA, or CTA 0, loads for all.
    fn multicast_ring(&mut self, ctas: i32) -> Bodies {
        let buf = self.array("buf", Some(ctas.into()));
        let each = self.rng.chance(50);
        let (full, empty) = (self.objects("full", None, 1), self.objects("empty", None, ctas));
        let parts = if each { ctas } else { 1 };
        let load = move |turn: &Turn| {
            let to = (buf, Some(if each { Expr::Rank } else { 0.into() }));
            let send = turn.on(full).act(Act::Multicast(16.into(), Some(to), all(ctas)));
            let send = if each { send } else { only_in(0, vec![send]) };
            let announce = turn.on(full).arrive_expect(16 * parts);
            vec![turn.on(empty).wait(turn.parity.clone() ^ 1), one_lane(vec![announce, send])]
        };
        let read = move |maker: &mut Self, turn: &Turn| {
            let mut does = vec![turn.on(full).wait(turn.parity.clone())];
            does.extend((0..parts).map(|part| access(Read, buf, Some(part.into()))));
            does.push(maker.signal_all(&turn.on(empty), ctas));
            does
        };
        let bodies = if self.warps == 1 {
            vec![self.framed(1, |maker, turn| [load(turn), read(maker, turn)].concat())]
        } else {
            vec![self.framed(1, |_, turn| load(turn)), self.framed(1, read)]
        };
        self.and_meet(bodies)
    }

    /// A commit of CTA 0 frees a stage in all.
    fn committed_to_all(&mut self, ctas: i32) -> Bodies {
        let (full, empty) = (self.objects("full", None, ctas), self.objects("empty", None, 1));
        let x = self.array("x", None);
        let writes = self.rng.chance(60);
        let fill = move |maker: &mut Self, turn: &Turn| {
            let mut does = vec![turn.on(empty).wait(turn.parity.clone() ^ 1)];
            if writes {
                does.push(access(Write, x, None));
            }
            does.push(maker.signal(&turn.on(full), 0));
            does
        };
        let free = move |turn: &Turn| {
            let mut does = vec![turn.on(full).wait(turn.parity.clone())];
            if writes {
                does.extend((0..ctas).map(|cta| access_at(Read, x, None, cta)));
            }
            does.push(one_lane(vec![turn.on(empty).act(Act::CommitAll(all(ctas)))]));
            only_in(0, does)
        };
        let last = move |turn: &Turn| turn.on(empty).wait(turn.parity.clone());
        let bodies = if self.warps == 1 {
            let all = self.framed(1, |maker, turn| {
                let mut does = fill(maker, turn);
                does.extend([free(turn), last(turn)]);
                does
            });
            vec![all]
        } else {
            let load = self.framed(1, |maker, turn| [fill(maker, turn), vec![last(turn)]].concat());
            vec![load, self.framed(1, |_, turn| vec![free(turn)])]
        };
        self.and_meet(bodies)
    }

    /// Objects are initialised, all meet, and the neighbour arrives.
    fn entry(&mut self, ctas: i32) -> Bodies {
        let n = self.warps as i32;
        let b = object(self.objects("b", None, n));
        let x = self.array("x", None);
        self.objects[0].count = None;
        let lives = if self.rng.chance(25) { 2 } else { 1 };
        (0..self.warps)
            .map(|warp| {
                let mut life = Vec::new();
                if warp == 0 {
                    life.push(one_lane(vec![b.init(n)]));
                }
                life.extend(self.meet());
                if warp == 0 {
                    life.push(access_at(Write, x, None, next(ctas)));
                }
                life.push(self.signal(&b, next(ctas)));
                life.push(b.wait(0));
                life.push(access(Read, x, None));
                life.extend(self.meet());
                if lives == 1 {
                    return life;
                }
                if warp == 0 {
                    life.push(one_lane(vec![b.inval()]));
                }
                vec![for_("life", 0, lives, life)]
            })
            .collect()
    }

    /// CTA 0 tells all, once or in rounds.
    fn signalled(&mut self, ctas: i32) -> Bodies {
        let done = object(self.objects("done", None, 1));
        let x = self.array("x", None);
        let tell = self.signal_all(&done, ctas);
        let writes = access(Write, x, None);
        let bodies = (0..self.warps)
            .map(|warp| {
                let mut does = Vec::new();
                if warp == 0 {
                    does.push(only_in(0, vec![writes.clone(), tell.clone()]));
                }
                does.extend([done.wait(0), access_at(Read, x, None, 0)]);
                if self.rng.chance(20) {
                    does.insert(0, maybe(vec![exit()], vec![]));
                }
                does
            })
            .collect();
        self.and_meet(bodies)
    }

    /// CTAs that have nothing to do with each other.
    fn own(&mut self) -> Bodies {
        let n = self.warps as i32;
        let b = object(self.objects("b", None, n));
        let x = self.array("x", None);
        let named = self.rng.chance(50);
        let meets = self.rng.chance(30);
        (0..self.warps)
            .map(|warp| {
                let mut does = Vec::new();
                if warp == 0 {
                    does.push(access(Write, x, None));
                }
                match (named, self.rng.below(4)) {
                    (true, 0..3) => does.push(sync_all(0)),
                    (true, _) => does.push(sync(1, 32 * n)),
                    (false, 0) => does.extend([let_on("t", b.on(arrival(None))), b.wait_token("t")]),
                    _ => {
                        let scope = *self.rng.pick(&[None, Some(Reach::Cta), Some(Reach::Cluster)]);
                        does.extend([one_lane(vec![b.act(arrival(scope))]), b.wait(0)]);
                    }
                }
                does.push(access(Read, x, None));
                if meets {
                    does.extend(self.meet());
                }
                does
            })
            .collect()
    }

    /// CTA 0 does little and leaves, while the others go on for ever, or as long as they like.
    fn leaves(&mut self, ctas: i32) -> Bodies {
        let b = self.objects("b", None, 1);
        let on = object(b);
        let x = self.array("x", None);
        let copies = self.rng.chance(60);
        let waits = self.rng.chance(60);
        let mut bodies: Bodies = (0..self.warps)
            .map(|warp| {
                let mut first = Vec::new();
                if warp == 0 && copies {
                    first.push(one_lane(vec![on.arrive_expect(16), on.copy(16, x)]));
                } else if warp == 0 {
                    first.extend([access(Write, x, None), one_lane(vec![on.commit()])]);
                }
                if waits || self.rng.chance(30) {
                    first.extend([on.wait(0), access(Read, x, None)]);
                }
                if self.rng.chance(30) {
                    first.push(sync_all(0));
                }
                let goes_on = match self.rng.below(4) {
                    0 => loop_(vec![sync_all(1)]),
                    1 => loop_(vec![access(Read, x, None)]),
                    2 => while_(Cond::Choice, vec![access(Read, x, None)]),
                    _ => on.wait(self.rng.range(0, 2)),
                };
                vec![if_(eq(Expr::Rank, 0), first, vec![goes_on])]
            })
            .collect();
        if self.rng.chance(30) {
            let stmt = self.loose_cluster_stmt(ctas);
            bodies[0].splice(0..0, stmt);
        }
        bodies
    }

    /// Each CTA hands something to the next, round after round.
    fn neighbours(&mut self, ctas: i32) -> Bodies {
        let (given, taken) = (self.objects("given", None, 1), self.objects("taken", None, 1));
        let x = self.array("x", None);
        let copies = self.rng.chance(40);
        let give = move |maker: &mut Self, turn: &Turn| {
            let mut does = vec![turn.on(taken).wait(turn.parity.clone() ^ 1)];
            if copies {
                let there = turn.on(given);
                let expect = Act::Arrive {
                    count: None,
                    bytes: Some(16.into()),
                    drops: false,
                    no_complete: false,
                    relaxed: false,
                    scope: Some(Reach::Cluster),
                };
                let send = Act::Copy(16.into(), Some((x, None)));
                does.push(one_lane(vec![there.at(next(ctas), expect), there.at(next(ctas), send)]));
            } else {
                does.push(access_at(Write, x, None, next(ctas)));
                does.push(maker.signal(&turn.on(given), next(ctas)));
            }
            does
        };
        let take = move |maker: &mut Self, turn: &Turn| {
            let back = (Expr::Rank + (ctas - 1)) % ctas;
            let free = maker.signal(&turn.on(taken), back);
            vec![turn.on(given).wait(turn.parity.clone()), access(Read, x, None), free]
        };
        let bodies = if self.warps == 1 {
            vec![self.framed(1, |maker, turn| [give(maker, turn), take(maker, turn)].concat())]
        } else {
            vec![self.framed(1, give), self.framed(1, take)]
        };
        self.and_meet(bodies)
    }

    /// Few instructions that have nothing to do with each other.
    fn loose_cluster(&mut self, ctas: i32) -> Bodies {
        for name in ["a", "b"].iter().take(self.rng.range(1, 3) as usize) {
            let count = self.rng.range(1, 3);
            self.objects(name, None, count);
        }
        self.array("x", None);
        let alike = self.rng.chance(30);
        let mut bodies: Bodies = (0..self.warps)
            .map(|_| {
                let n = self.rng.range(1, 4);
                (0..n).flat_map(|_| self.loose_cluster_stmt(ctas)).collect()
            })
            .collect();
        if alike {
            let body = bodies[0].clone();
            bodies.fill(body);
        }
        if self.rng.chance(50) { self.and_meet(bodies) } else { bodies }
    }

    fn loose_cluster_stmt(&mut self, ctas: i32) -> Vec<Stmt> {
        let on = Object(self.rng.below(self.objects.len()), None);
        let bytes = *self.rng.pick(&[0, 8, 8, 16]);
        let cta: Expr = match self.rng.below(3) {
            0 => self.rng.range(0, ctas).into(),
            _ => next(ctas),
        };
        let mask = self.rng.range(1, 1 << ctas).into();
        let stmt = match self.rng.below(26) {
            0..3 => on.wait(self.rng.range(0, 2)),
            3..6 => self.signal(&on, cta),
            6 => one_lane(vec![on.at(cta, Act::ExpectTx(bytes.into()))]),
            7 => one_lane(vec![on.at(cta, Act::CompleteTx(bytes.into()))]),
            8..10 => one_lane(vec![on.at(cta, Act::Copy(bytes.into(), Some((0, None))))]),
            10 => one_lane(vec![on.act(Act::Multicast(bytes.into(), Some((0, None)), mask))]),
            11 => one_lane(vec![on.act(Act::CommitAll(mask))]),
            12 => one_lane(vec![on.arrive_expect(bytes)]),
            13 => return self.meet(),
            14 => if_(eq(Expr::Rank, self.rng.range(0, ctas)), self.loose_cluster_stmt(ctas), vec![]),
            15 => cluster_arrive(),
            16 => cluster_wait(),
            18 => sync_all(0),
            19 => one_lane(vec![on.arrive()]),
            20 if self.rng.chance(50) => one_lane(vec![on.at(cta, Act::Commit)]),
            20 => one_lane(vec![on.commit()]),
            21 => one_lane(vec![self.rng.pick(&[on.inval(), on.init(1), on.arrive_drop()]).clone()]),
            22 => {
                let (relaxed, aligned) = (self.rng.chance(50), self.rng.chance(70));
                let arrive = instr(Instr::ClusterArrive { relaxed, aligned });
                if self.rng.chance(50) { arrive } else { one_lane(vec![arrive]) }
            }
            23 => {
                let token = self.fresh("t");
                return vec![let_on(&token, on.on(arrival(None))), on.wait_token(&token)];
            }
            17 => {
                let asks = on.on(ask(self.rng.chance(50), Phase::Parity(self.rng.range(0, 2).into())));
                if_asked(false, asks, vec![access_at(Read, 0, None, cta)])
            }
            _ => access_at(*self.rng.pick(&[Read, Write]), 0, None, cta),
        };
        vec![stmt]
    }
}
