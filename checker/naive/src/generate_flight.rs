//! Random protocols of what is in flight beside bulk copies, and of what has to be known before it and after
//! it: `red.async` and `st.async`, copies from one shared memory into another, copies into what threads have
//! written, waits that are relaxed, and objects of which relaxed arrivals tell that they are initialised.

use super::build::*;
use super::build_mbarrier::*;
use super::fences::{Extent, Word};
use super::generate_mbarrier::{Bodies, Maker, Turn};
use super::generate_stores::{is_shared, store};
use super::protocol::*;
use super::stores::Window;
use super::wellformed::named_by_rank;
use AccessKind::{Atomic, Read, Write};
use std::collections::BTreeSet;

/// What is sent by one lane of each of some agents.
#[derive(Clone, Copy)]
struct Sum {
    done: usize,
    sum: usize,
    sent: Sent,
    kind: AccessKind,
    ctas: i32,
}

impl Maker {
    /// In one CTA.
    pub fn flown(&mut self) -> Bodies {
        match self.rng.below(14) {
            0..3 => self.reduced(1),
            3..6 => self.refilled(),
            6..8 => self.moved(1),
            8..10 => self.told_of_objects(),
            _ => self.arriving(),
        }
    }

    /// In several.
    pub fn flown_cluster(&mut self, ctas: i32) -> Bodies {
        let bodies = match self.rng.below(9) {
            0..3 => self.reduced(ctas),
            3..6 => self.moved(ctas),
            _ => self.quiet_entry(ctas),
        };
        self.and_meet(bodies)
    }

    /// Some add to one location, and one waits for all of it.
    fn reduced(&mut self, ctas: i32) -> Bodies {
        self.warps = if ctas > 1 { 1 } else { self.warps.clamp(1, 3) };
        let senders = if ctas > 1 { ctas } else { self.warps as i32 };
        let done = self.objects("done", None, 1);
        let again = self.objects("again", None, senders);
        let sum = self.array("sum", None);
        let sent = *self.rng.pick(&[Sent::Reduction, Sent::Reduction, Sent::Reduction, Sent::Value]);
        let kind = *self.rng.pick(&[Write, Atomic, Atomic, Read]);
        let it = Sum { done, sum, sent, kind, ctas };
        let collector = if ctas > 1 { 0 } else { self.rng.below(self.warps) };
        let (zeroes, frees) = (self.rng.chance(60), self.rng.chance(80));
        let bodies = (0..self.warps).map(|warp| {
            self.framed(1, |maker, turn| {
                let sends = maker.sends(it, warp == 1);
                let back =
                    |of: usize| if ctas > 1 { object(of).at(0, arrival(None)) } else { object(of).arrive() };
                let mut collects = vec![object(done).wait(turn.parity.clone())];
                collects.push(access(if zeroes { Write } else { Read }, sum, None));
                let mut does = Vec::new();
                if frees {
                    does.push(one_lane(vec![back(again)]));
                }
                let opens = vec![
                    object(again).wait(turn.parity.clone()),
                    one_lane(vec![object(done).arrive_expect(16 * senders)]),
                ];
                let is_collector = |body: Vec<Stmt>| match (ctas > 1, warp == collector) {
                    (true, _) => vec![if_(eq(Expr::Rank, 0), body, vec![])],
                    (false, true) => body,
                    (false, false) => vec![],
                };
                let mut first = is_collector(vec![one_lane(vec![object(done).arrive_expect(16 * senders)])]);
                if frees {
                    first = is_collector(opens);
                }
                if maker.rng.chance(50) {
                    does.extend(sends);
                    does.extend(first);
                } else {
                    does.extend(first);
                    does.extend(sends);
                }
                does.extend(is_collector(collects));
                does
            })
        });
        bodies.collect()
    }

    /// What a lane sends to where the sum is, and sometimes what its warp does there besides.
    fn sends(&mut self, it: Sum, second: bool) -> Vec<Stmt> {
        let act = Act::Send(it.sent, 16.into(), (it.sum, None));
        let on = object(it.done);
        let send = if it.ctas > 1 { on.at(0, act) } else { on.act(act) };
        let mut does = vec![one_lane(vec![send])];
        if self.rng.chance(if second { 40 } else { 20 }) {
            let stmt =
                if it.ctas > 1 { access_at(it.kind, it.sum, None, 0) } else { access(it.kind, it.sum, None) };
            let at = self.rng.below(2);
            does.insert(at, stmt);
        }
        does
    }

    /// Stages of a ring that threads have written, or read, are filled by copies again.
    fn refilled(&mut self) -> Bodies {
        self.warps = 2;
        let stages = *self.rng.pick(&[1, 1, 2]);
        let len = (stages > 1).then_some(i64::from(stages));
        let (full, empty) = (self.objects("full", len, 1), self.objects("empty", len, 1));
        let buf = self.array("buf", len);
        let fences = self.fences();
        let changes = *self.rng.pick(&[Write, Write, Atomic, Read]);
        let first = self.rng.chance(40);
        let sends = *self.rng.pick(&[None, None, None, None, Some(Sent::Value), Some(Sent::Reduction)]);
        let mut clears: Vec<Stmt> = Vec::new();
        if first {
            let places = (0..stages).map(|stage| (stages > 1).then(|| stage.into()));
            clears.extend(places.map(|place| access(Write, buf, place)));
            if self.rng.chance(85) {
                clears.push(self.fence());
            }
        }
        clears.extend(self.framed(stages, |_, turn| {
            let on = turn.on(full);
            let to = (buf, turn.stage.clone());
            let copy = match sends {
                None => Act::Copy(16.into(), Some(to)),
                Some(sent) => Act::Send(sent, 16.into(), to),
            };
            let mut does = vec![turn.on(empty).wait(turn.parity.clone() ^ 1)];
            does.extend(fences.1.clone());
            does.push(one_lane(vec![on.arrive_expect(16), on.act(copy)]));
            does
        }));
        let takes = self.framed(stages, |maker, turn| {
            let mut does = vec![turn.on(full).wait(turn.parity.clone())];
            does.push(access(Read, buf, turn.stage.clone()));
            does.push(access(changes, buf, turn.stage.clone()));
            does.extend(fences.0.clone());
            does.extend(maker.arrivals(&turn.on(empty), 1));
            does
        });
        vec![clears, takes]
    }

    /// Each CTA writes what is copied into the memory of the next one, or into its own.
    fn moved(&mut self, ctas: i32) -> Bodies {
        self.warps = if ctas > 1 && self.rng.chance(80) { 1 } else { self.warps.clamp(1, 2) };
        let (full, free) = (self.objects("full", None, 1), self.objects("free", None, 1));
        let (from, to) = (self.array("from", None), self.array("to", None));
        let next = (Expr::Rank + 1) % ctas;
        let back = (Expr::Rank + (ctas - 1)) % ctas;
        let fences = self.fences();
        let (frees, spelled, mistake) = (self.rng.chance(85), self.rng.chance(30), self.rng.below(12));
        let window = *self.rng.pick(&[None, Some(Window::Own), Some(Window::Cluster)]);
        let give = move |maker: &mut Self, turn: &Turn| {
            let mut does = Vec::new();
            if frees {
                does.push(turn.on(free).wait(turn.parity.clone() ^ 1));
            }
            does.push(access(*maker.rng.pick(&[Write, Write, Write, Atomic]), from, None));
            does.extend(fences.0.clone());
            let act = Act::Between { bytes: 16.into(), to: (to, None), from: (from, None), spelled };
            let on = turn.on(full);
            let copy = if ctas > 1 { on.at(next.clone(), act) } else { on.act(act) };
            let mut all = vec![on.arrive_expect(16), copy];
            if mistake == 0 {
                all.swap(0, 1);
            }
            does.push(one_lane(all));
            if mistake == 1 {
                does.push(access(Write, from, None));
            }
            does
        };
        let take = move |maker: &mut Self, turn: &Turn| {
            let mut does = vec![turn.on(full).wait(turn.parity.clone())];
            does.push(access(*maker.rng.pick(&[Read, Read, Read, Write]), to, None));
            does.push(store(Store::Fence(window)));
            if mistake == 2 {
                does.pop();
            }
            if frees && ctas > 1 {
                let scope = *maker.rng.pick(&[None, Some(Reach::Cluster)]);
                does.push(one_lane(vec![turn.on(free).at(back.clone(), arrival(scope))]));
            } else if frees {
                does.push(one_lane(vec![turn.on(free).arrive()]));
            }
            does
        };
        if self.warps == 1 {
            return vec![self.framed(1, |maker, turn| [give(maker, turn), take(maker, turn)].concat())];
        }
        vec![self.framed(1, give), self.framed(1, take)]
    }

    /// A warp initialises what another one uses that knows it by a relaxed arrival.
    fn told_of_objects(&mut self) -> Bodies {
        self.warps = 2;
        let b = object(self.objects("b", None, 1));
        let ready = object(self.objects("ready", None, 1));
        let x = self.array("x", None);
        if self.rng.chance(85) {
            self.objects[0].count = None;
        }
        let begins = vec![b.init(1)];
        let mut first = vec![one_lane(begins)];
        let quiet = [ready.arrive_relaxed(), ready.arrive(), ready.commit(), ready.fill_arrive(true, false)];
        let tells = self.rng.pick(&quiet).clone();
        let by_copy = self.rng.chance(25);
        match self.rng.below(6) {
            0..2 => {}
            2..4 => first.push(instr(Instr::PtxFence(Fence::INIT))),
            _ => first.push(self.some_fence()),
        }
        if by_copy {
            first.push(one_lane(vec![ready.arrive_expect(16), ready.copy(16, x)]));
        } else {
            first.push(one_lane(vec![tells]));
        }
        first.extend([b.wait(0), access(Read, x, None)]);
        let mut second = vec![ready.wait(0)];
        if self.rng.chance(60) {
            second.push(access(*self.rng.pick(&[Write, Atomic]), x, None));
        }
        second.push(one_lane(vec![
            self.rng.pick(&[b.arrive(), b.arrive(), b.commit(), b.arrive_relaxed()]).clone(),
        ]));
        if self.rng.chance(30) {
            second.push(b.wait(0));
        }
        if self.rng.chance(15) {
            second.push(one_lane(vec![b.inval()]));
        }
        vec![first, second]
    }

    /// Objects are initialised, all meet by relaxed arrivals, and the neighbour arrives, or sends something.
    fn quiet_entry(&mut self, ctas: i32) -> Bodies {
        self.warps = if self.rng.chance(80) { 1 } else { 2 };
        let b = object(self.objects("b", None, 1));
        let x = self.array("x", None);
        self.objects[0].count = None;
        let next = (Expr::Rank + 1) % ctas;
        let relaxed = self.rng.chance(80);
        let meet = || vec![instr(Instr::ClusterArrive { relaxed, aligned: false }), cluster_wait()];
        let fence = match self.rng.below(8) {
            0 => vec![],
            1 => vec![self.some_fence()],
            2 => vec![instr(Instr::PtxFence(Fence::new(Word::Release, Extent::Cluster)))],
            _ => vec![instr(Instr::PtxFence(Fence::INIT))],
        };
        let how = self.rng.below(4);
        let bodies = (0..self.warps).map(|warp| {
            let mut does = Vec::new();
            if warp == 0 {
                does.push(one_lane(vec![b.init(1)]));
                does.extend(fence.clone());
            }
            does.extend(meet());
            if warp > 0 {
                does.push(b.wait(0));
                return does;
            }
            let sent = *self.rng.pick(&[Sent::Value, Sent::Value, Sent::Reduction]);
            does.extend(match how {
                0 => vec![one_lane(vec![b.at(next.clone(), arrival(None))]), b.wait(0)],
                1 => vec![
                    one_lane(vec![
                        b.arrive_expect(16),
                        b.at(next.clone(), Act::Send(sent, 16.into(), (x, None))),
                    ]),
                    b.wait(0),
                    access(Read, x, None),
                ],
                2 => vec![one_lane(vec![b.at(next.clone(), Act::Commit)]), b.wait(0)],
                _ => vec![
                    access_at(Write, x, None, next.clone()),
                    one_lane(vec![b.at(next.clone(), arrival(None))]),
                    b.wait(0),
                    access(Read, x, None),
                ],
            });
            does
        });
        bodies.collect()
    }

    /// Mostly makes waits relaxed, nearly all with a fence behind them that is enough, or writes some copies
    /// and commits as something like them.
    pub fn reworded(&mut self, bodies: &mut [&mut Vec<Stmt>]) {
        let named: BTreeSet<usize> = bodies.iter().flat_map(|body| named_by_rank(body)).collect();
        if self.rng.chance(30) {
            return;
        }
        let eases = self.rng.chance(60);
        let often = *self.rng.pick(&[30, 60, 100]);
        for body in bodies {
            if eases {
                self.ease(&named, often, body);
            } else {
                self.rewrite(body);
            }
        }
    }

    fn ease(&mut self, named: &BTreeSet<usize>, often: usize, list: &mut Vec<Stmt>) {
        let mut at = 0;
        while at < list.len() {
            match &mut list[at].kind {
                Kind::For { body, .. } | Kind::Loop(body) | Kind::While(_, body) => {
                    self.ease(named, often, body);
                }
                Kind::If(_, then, other) => {
                    self.ease(named, often, then);
                    self.ease(named, often, other);
                }
                _ => {}
            }
            if let Some(on) = list[at].on_mut()
                && on.act.is_for_a_phase()
                && self.rng.chance(often)
            {
                let is_named = named.contains(&on.objects);
                let near = if is_named { None } else { Some(Reach::Cta) };
                on.gains = Gains::AtFence(*self.rng.pick(&[None, near, Some(Reach::Cluster)]));
                let wide = self.rng.chance(if is_named { 90 } else { 40 });
                let fence = instr(Instr::PtxFence(self.fence_that(wide, Fence::acquires)));
                match self.rng.below(12) {
                    0 => {}
                    1 => list.insert(at, fence),
                    2 => list.insert(at + 1, maybe(vec![fence], vec![])),
                    3 => {
                        let any = self.some_fence();
                        list.insert(at + 1, any);
                    }
                    _ => list.insert(at + 1, fence),
                }
                at += 1;
            }
            at += 1;
        }
    }

    fn rewrite(&mut self, list: &mut [Stmt]) {
        for stmt in list {
            match &mut stmt.kind {
                Kind::For { body, .. } | Kind::Loop(body) | Kind::While(_, body) => self.rewrite(body),
                Kind::If(_, then, other) => {
                    self.rewrite(then);
                    self.rewrite(other);
                }
                Kind::Instr(Instr::Mbarrier(on)) if self.rng.chance(60) => self.reword(on),
                _ => {}
            }
        }
    }

    /// Writes something that is to land as something else that lands.
    pub fn reword(&mut self, on: &mut Mbarrier) {
        let spelled = self.rng.chance(30);
        match on.act.clone() {
            Act::Commit if on.cta.is_none() => {
                on.act = Act::FillArrive { counted: self.rng.chance(85), spelled };
            }
            Act::FillArrive { .. } => on.act = Act::Commit,
            Act::Copy(bytes, Some(to)) if is_shared(&self.arrays[to.0]) => {
                let array = self.rng.below(self.arrays.len());
                let from = &self.arrays[array];
                let index = from.len.map(|len| Expr::Int(self.rng.below(len as usize) as i64));
                on.act = match self.rng.below(5) {
                    0..2 => Act::Send(Sent::Value, bytes, to),
                    2 if is_shared(from) => Act::Between { bytes, to, from: (array, index), spelled },
                    _ => Act::Send(Sent::Reduction, bytes, to),
                };
            }
            Act::Send(_, bytes, to) | Act::Between { bytes, to, .. } => on.act = Act::Copy(bytes, Some(to)),
            _ => {}
        }
    }
}
