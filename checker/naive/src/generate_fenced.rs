//! Random protocols in which relaxed arrivals publish what was known at fences before them: arrivals of other
//! shapes that are made relaxed, what is handed on over several agents, and writes on both sides of a fence.

use super::build::*;
use super::build_mbarrier::*;
use super::generate_mbarrier::{Bodies, Maker};
use super::protocol::*;
use AccessKind::{Atomic, Read, Write};

/// How arrivals are made relaxed.
#[derive(Clone, Copy)]
struct Way {
    ctas: usize,
    /// Nearly all get a fence that is enough.
    careful: bool,
    /// How many in a hundred are made relaxed.
    often: usize,
}

fn fence(fence: Fence) -> Stmt {
    instr(Instr::PtxFence(fence))
}

/// An arrival that publishes in memory what was known at fences, if anything.
fn relaxed_arrival(scope: Option<Reach>) -> Act {
    Act::Arrive { count: None, bytes: None, drops: false, no_complete: false, relaxed: true, scope }
}

impl Maker {
    /// A fence for a relaxed arrival, which may have to reach other CTAs. Mostly it is enough.
    fn for_arrival(&mut self, beyond: bool) -> Stmt {
        let wide = self.rng.chance(if beyond { 90 } else { 40 });
        fence(self.fence_as(wide))
    }

    fn fence_as(&mut self, wide: bool) -> Fence {
        self.fence_that(wide, Fence::releases)
    }

    /// A fence that reaches other CTAs or not, and orders as is wanted.
    pub fn fence_that(&mut self, wide: bool, orders: fn(Fence) -> bool) -> Fence {
        let all = Fence::ALL.into_iter().filter(|fence| fence.is_wide() == wide && orders(*fence));
        let all: Vec<Fence> = all.collect();
        *self.rng.pick(&all)
    }

    /// A fence for any place.
    pub fn some_fence(&mut self) -> Stmt {
        fence(*self.rng.pick(&Fence::ALL))
    }

    /// Makes arrivals relaxed in some of a protocol's lists, mostly with a fence that is enough.
    pub fn relaxed<'a>(&mut self, ctas: usize, bodies: impl Iterator<Item = &'a mut Vec<Stmt>>) {
        let way = Way { ctas, careful: self.rng.chance(50), often: *self.rng.pick(&[40, 80, 100]) };
        for body in bodies {
            self.relax(way, body, false);
        }
    }

    /// Whether a fence is wanted before the list, and whether it has to reach other CTAs.
    fn relax(&mut self, way: Way, list: &mut Vec<Stmt>, asks_outside: bool) -> Option<bool> {
        let mut outside = None;
        let mut at = 0;
        while at < list.len() {
            let wanted = match &mut list[at].kind {
                Kind::For { body, .. } | Kind::Loop(body) | Kind::While(_, body) => {
                    self.relax(way, body, false)
                }
                Kind::If(_, then, other) => {
                    let asks_outside = other.is_empty() && then.len() < 3;
                    self.relax(way, other, false);
                    self.relax(way, then, asks_outside)
                }
                _ => self.relax_one(way, &mut list[at]),
            };
            match wanted {
                Some(_) if asks_outside && self.rng.chance(50) => outside = wanted,
                Some(beyond) => at += self.put_fence(way, list, at, beyond),
                None => {}
            }
            at += 1;
        }
        outside
    }

    /// Makes a statement relaxed, if it is an arrival: whether a fence has to reach other CTAs.
    fn relax_one(&mut self, way: Way, stmt: &mut Stmt) -> Option<bool> {
        let narrows = self.rng.chance(if way.careful { 2 } else { 12 });
        match &mut stmt.kind {
            Kind::Instr(Instr::Mbarrier(on)) | Kind::Let(_, Rhs::On(on)) | Kind::Assign(_, Rhs::On(on)) => {
                let Act::Arrive { relaxed, scope, no_complete: false, .. } = &mut on.act else {
                    return None;
                };
                if !self.rng.chance(way.often) {
                    return None;
                }
                let elsewhere = on.cta.is_some();
                // The scope of a CTA is too small for others.
                let small = if elsewhere && !narrows { None } else { Some(Reach::Cta) };
                *scope = *self.rng.pick(&[None, Some(Reach::Cluster), small]);
                *relaxed = true;
                Some(elsewhere)
            }
            Kind::Instr(Instr::ClusterArrive { relaxed, .. }) if self.rng.chance(way.often) => {
                *relaxed = true;
                Some(way.ctas > 1)
            }
            _ => None,
        }
    }

    /// Puts a fence somewhere about an arrival; how many statements now stand before it that did not.
    fn put_fence(&mut self, way: Way, list: &mut Vec<Stmt>, at: usize, beyond: bool) -> usize {
        let good = self.for_arrival(beyond);
        let to = self.rng.below(at + 1);
        let place = if way.careful { self.rng.below(64) } else { self.rng.below(100) };
        let (to, put) = match place {
            0..58 => (at, vec![good]),
            58..61 => (at, vec![maybe(vec![self.for_arrival(beyond)], vec![good])]),
            61..64 => (at, vec![if_(eq(lane(), self.rng.range(0, 2)), vec![good], vec![])]),
            64..71 => (to, vec![good]),
            71..78 => (at + 1, vec![good]),
            78..84 => (at, vec![fence(self.fence_as(false))]),
            84..90 => (at, vec![maybe(vec![good], vec![])]),
            90..94 => {
                let far = self.fence_as(true);
                list.insert(at, fence(self.fence_as(false)));
                list.insert(to, fence(far));
                return 2;
            }
            _ => return 0,
        };
        list.splice(to..to, put);
        usize::from(to <= at)
    }

    /// Relaxed arrivals of few warps of one CTA.
    pub fn fenced(&mut self) -> Bodies {
        match self.rng.below(8) {
            0..3 => self.relayed(),
            3..6 => self.about_a_fence(),
            _ => {
                self.warps = self.rng.range(2, 4) as usize;
                self.quiet_meetings(1)
            }
        }
    }

    /// Relaxed arrivals that tell other CTAs.
    pub fn fenced_cluster(&mut self, ctas: i32) -> Bodies {
        if self.rng.chance(70) {
            self.warps = 1;
        }
        if self.rng.chance(50) { self.quiet_meetings(ctas) } else { self.across_ctas(ctas) }
    }

    /// An arrival by one lane that is not relaxed, or has a fence before it, or not.
    fn tells(&mut self, on: &Object) -> Vec<Stmt> {
        let quiet = self.quiet(on);
        match self.rng.below(10) {
            0..6 => vec![one_lane(vec![on.arrive()])],
            6..9 => vec![self.for_arrival(false), quiet],
            _ => vec![quiet],
        }
    }

    /// A relaxed arrival by one lane.
    fn quiet(&mut self, on: &Object) -> Stmt {
        let scope = *self.rng.pick(&[None, Some(Reach::Cta), Some(Reach::Cta), Some(Reach::Cluster)]);
        one_lane(vec![on.act(relaxed_arrival(scope))])
    }

    /// One warp writes and tells another, which tells a third by a relaxed arrival, or the first.
    fn relayed(&mut self) -> Bodies {
        self.warps = self.rng.range(2, 4) as usize;
        let told = object(self.objects("told", None, 1));
        let passed = object(self.objects("passed", None, 1));
        let (x, y) = (self.array("x", None), self.array("y", None));
        let mut first = vec![access(*self.rng.pick(&[Write, Write, Write, Atomic, Read]), x, None)];
        first.extend(self.tells(&told));
        let wait = told.wait(0);
        let own = access(*self.rng.pick(&[Write, Write, Read]), y, None);
        let fence = self.for_arrival(false);
        let mut second = match self.rng.below(12) {
            0..6 => vec![wait, own, fence],
            6..8 => vec![wait, fence, own],
            8 => vec![own, fence, wait],
            9 => vec![own, wait, maybe(vec![fence.clone()], vec![fence])],
            10 => vec![own, wait, maybe(vec![fence], vec![])],
            _ => vec![wait, own],
        };
        second.push(self.quiet(&passed));
        let kind = *self.rng.pick(&[Read, Read, Read, Write]);
        let mut third = vec![passed.wait(0), access(kind, x, None)];
        if self.rng.chance(70) {
            third.push(access(*self.rng.pick(&[Read, Write]), y, None));
        }
        if self.warps == 2 {
            first.append(&mut third);
            return vec![first, second];
        }
        vec![first, second, third]
    }

    /// Accesses on both sides of a fence, of which others are told by relaxed arrivals.
    fn about_a_fence(&mut self) -> Bodies {
        self.warps = self.rng.range(2, 4) as usize;
        let done = object(self.objects("done", None, 1));
        let arrays = [self.array("x", None), self.array("y", None)];
        let mut does = Vec::new();
        for _ in 0..self.rng.range(1, 5) {
            let kind = *self.rng.pick(&[Write, Write, Write, Read, Atomic]);
            does.push(access(kind, *self.rng.pick(&arrays), None));
        }
        for chance in [90, 20] {
            if self.rng.chance(chance) {
                let at = if self.rng.chance(50) { does.len() } else { self.rng.below(does.len() + 1) };
                let fence = self.for_arrival(false);
                does.insert(at, fence);
            }
        }
        does.push(self.quiet(&done));
        let mut others = vec![done.wait(0)];
        others.extend(arrays.map(|array| access(*self.rng.pick(&[Read, Read, Read, Write]), array, None)));
        // A later arrival publishes the same, and no more if no fence is new.
        if self.rng.chance(35) {
            let (again, z) = (object(self.objects("again", None, 1)), self.array("z", None));
            does.push(access(Write, z, None));
            if self.rng.chance(50) {
                does.push(self.for_arrival(false));
            }
            does.push(self.quiet(&again));
            let at = self.rng.below(2);
            others.splice(at..1, [again.wait(0), access(Read, z, None)]);
        }
        let mut bodies = vec![does];
        bodies.resize(self.warps, others);
        if self.warps == 3 && self.rng.chance(50) {
            bodies[2].truncate(2);
        }
        bodies
    }

    /// All meet at the barrier of the cluster, by relaxed arrivals. Sometimes a warp has told another before
    /// what it has written, so that two of them pass it on.
    fn quiet_meetings(&mut self, ctas: i32) -> Bodies {
        let (x, y) = (self.array("x", None), self.array("y", None));
        let told = object(self.objects("told", None, 1));
        let tells = self.warps > 1 && self.rng.chance(50);
        let last = self.rng.chance(80);
        let read = |array: usize| {
            let next = (Expr::Rank + 1) % ctas;
            if ctas == 1 { access(Read, array, None) } else { access_at(Read, array, None, next) }
        };
        (0..self.warps)
            .map(|warp| {
                self.framed(1, |maker, turn| {
                    let mut does = Vec::new();
                    if tells && warp == 1 {
                        does.push(access(Write, y, None));
                        does.extend(maker.tells(&told));
                    }
                    if warp == 0 {
                        does.extend(tells.then(|| told.wait(turn.parity.clone())));
                        does.push(access(Write, x, None));
                    }
                    does.extend(maker.quiet_meeting(ctas > 1));
                    does.push(read(x));
                    does.extend(tells.then(|| read(y)));
                    if last {
                        does.extend(maker.quiet_meeting(ctas > 1));
                    }
                    does
                })
            })
            .collect()
    }

    fn quiet_meeting(&mut self, beyond: bool) -> Vec<Stmt> {
        let mut does = vec![instr(Instr::ClusterArrive { relaxed: true, aligned: false }), cluster_wait()];
        let fence = self.for_arrival(beyond);
        match self.rng.below(24) {
            0 => {}
            1 => does.insert(1, fence),
            2 => does.insert(0, maybe(vec![fence], vec![])),
            3..6 => does[0] = cluster_arrive(),
            _ => does.insert(0, fence),
        }
        does
    }

    /// CTA 0 writes, and each CTA tells the next one by a relaxed arrival.
    fn across_ctas(&mut self, ctas: i32) -> Bodies {
        let told = object(self.objects("told", None, 1));
        let near = object(self.objects("near", None, 1));
        let x = self.array("x", None);
        let is_global = self.rng.chance(30);
        if is_global {
            self.arrays[x].space = Space::Global;
        }
        let kind = *self.rng.pick(&[Read, Read, Write]);
        let reads = if is_global { access(kind, x, None) } else { access_at(kind, x, None, 0) };
        let mut first = vec![access(Write, x, None)];
        let mut later = vec![told.wait(0)];
        let fence = self.for_arrival(true);
        let mut does = Vec::new();
        match self.rng.below(10) {
            0..7 => does.push(fence),
            7 => first.push(fence),
            8 => later.push(fence),
            _ => later.insert(0, fence),
        }
        does.insert(0, if_(eq(Expr::Rank, 0), first, later));
        let scope = *self.rng.pick(&[None, Some(Reach::Cluster), Some(Reach::Cluster), Some(Reach::Cta)]);
        let tell = told.at(Expr::Rank + 1, relaxed_arrival(scope));
        does.push(if_(lt(Expr::Rank, ctas - 1), vec![one_lane(vec![tell])], vec![]));
        if kind == Read && self.rng.chance(70) {
            does.push(reads.clone());
        }
        does.push(self.quiet(&near));
        // With one warp the last CTA waits for itself, and it is the only one that accesses.
        let is_last = eq(Expr::Rank, ctas - 1);
        let ends = vec![near.wait(0), if kind == Read { reads } else { if_(is_last, vec![reads], vec![]) }];
        let bodies = if self.warps == 1 { vec![[does, ends].concat()] } else { vec![does, ends] };
        self.and_meet(bodies)
    }
}
