//! Random protocols of warps that meet on mbarrier objects, most of them shapes of real kernels: rings that
//! copies fill, rounds of all, tokens handed on, objects with several lives. Then little is damaged.

use super::build::*;
use super::build_mbarrier::*;
use super::damage_mbarrier::damaged;
use super::generate::Rng;
use super::protocol::*;
use super::wellformed::well_formed;
use AccessKind::{Atomic, Read, Write};

/// What the generation of one protocol needs to remember.
pub struct Maker {
    pub rng: Rng,
    pub warps: usize,
    pub arrays: Vec<Array>,
    pub objects: Vec<Objects>,
    frame: Frame,
    serial: usize,
}

/// How all go round.
#[derive(Clone, Copy, Debug)]
enum Frame {
    /// One counter for stages and rounds.
    Counted(i32),
    /// Rounds of stages.
    Nested(i32),
    Endless,
    /// As often as all decide.
    Uniform,
}

/// Where in the rounds somebody is.
pub struct Turn {
    /// The stage, if there are several.
    pub stage: Option<Expr>,
    /// The parity of the round.
    pub parity: Expr,
}

impl Turn {
    pub fn on(&self, objects: usize) -> Object {
        Object(objects, self.stage.clone())
    }

    fn copy(&self, on: &Object, bytes: i32, array: usize) -> Stmt {
        on.act(Act::Copy(bytes.into(), Some((array, self.stage.clone()))))
    }

    fn access(&self, kind: AccessKind, array: usize) -> Stmt {
        access(kind, array, self.stage.clone())
    }
}

/// What the warps of a ring share.
#[derive(Clone, Copy)]
struct Ring {
    full: usize,
    buf: usize,
    second: usize,
    bytes: i32,
    how: usize,
    choosy: bool,
}

/// One list of statements for each warp.
pub type Bodies = Vec<Vec<Stmt>>;

/// The protocol of a seed.
pub fn generate_mbarrier(seed: u64) -> Protocol {
    let mut maker = Maker::new(Rng::new(seed ^ 0x6d62_6172_7269_6572), &[2, 2, 2, 2, 2, 2, 3, 3, 3, 4]);
    let mut bodies = match maker.rng.below(36) {
        0..8 => maker.ring(),
        8..11 => maker.rounds(),
        11..13 => maker.token(),
        13..15 => maker.committed(),
        15..17 => maker.once(),
        17..20 => maker.unrelated(),
        26..29 => maker.fenced(),
        29.. => maker.flown(),
        _ => maker.loose(),
    };
    if maker.rng.chance(20) {
        maker.relaxed(1, bodies.iter_mut());
        maker.reworded(&mut bodies.iter_mut().collect::<Vec<_>>());
    }
    if maker.rng.chance(25) {
        maker.initialised(&mut bodies);
    }
    let mut protocol = maker.assemble(bodies);
    let damages = *maker.rng.pick(&[0, 0, 0, 1, 1, 1, 2]);
    for _ in 0..damages {
        protocol = damaged(&mut maker, &protocol);
    }
    super::generate_warps::beside(seed, &mut protocol);
    protocol.number();
    assert!(well_formed(&protocol), "seed {seed}:\n{}", protocol.text());
    protocol
}

impl Maker {
    /// For one of some numbers of warps.
    pub fn new(mut rng: Rng, warps: &[usize]) -> Maker {
        let warps = *rng.pick(warps);
        let rounds = if warps == 2 { rng.range(1, 4) } else { rng.range(1, 3) };
        let frame = match rng.below(10) {
            0..4 => Frame::Counted(rounds),
            4..6 => Frame::Nested(rounds),
            6..8 => Frame::Endless,
            _ => Frame::Uniform,
        };
        Maker { rng, warps, arrays: Vec::new(), objects: Vec::new(), frame, serial: 0 }
    }

    pub fn objects(&mut self, name: &str, len: Option<i64>, count: i32) -> usize {
        self.objects.push(Objects { name: name.into(), len, count: Some(count.into()) });
        self.objects.len() - 1
    }

    pub fn array(&mut self, name: &str, len: Option<i64>) -> usize {
        self.arrays.push(Array { name: name.into(), len, space: Space::Shared });
        self.arrays.len() - 1
    }

    pub fn fresh(&mut self, stem: &str) -> Name {
        self.serial += 1;
        format!("{stem}{}", self.serial).into()
    }

    /// What a warp does in every turn, in the frame that all have.
    pub fn framed(&mut self, stages: i32, mut turn: impl FnMut(&mut Self, &Turn) -> Vec<Stmt>) -> Vec<Stmt> {
        let several = stages > 1;
        let inner = |maker: &mut Self, parity: Expr, turn: &mut dyn FnMut(&mut Self, &Turn) -> Vec<Stmt>| {
            let stage = several.then(|| v("s"));
            let body = turn(maker, &Turn { stage, parity });
            if several { vec![for_("s", 0, stages, body)] } else { body }
        };
        match self.frame {
            Frame::Counted(rounds) => {
                let stage = several.then(|| v("i") % stages);
                let parity = if several { (v("i") / stages) & 1 } else { v("i") & 1 };
                let body = turn(self, &Turn { stage, parity });
                vec![for_("i", 0, rounds * stages, body)]
            }
            Frame::Nested(rounds) => {
                let body = inner(self, v("r") & 1, &mut turn);
                vec![for_("r", 0, rounds, body)]
            }
            Frame::Endless | Frame::Uniform => {
                let mut body = inner(self, v("ph"), &mut turn);
                body.push(set("ph", Expr::from(1) - v("ph")));
                let uniform = Cond::Uniform(Some("ROUND".into()));
                let rounds =
                    if let Frame::Endless = self.frame { loop_(body) } else { while_(uniform, body) };
                vec![let_("ph", 0), rounds]
            }
        }
    }

    /// The blocks of the warps, one for those next to each other that do the same.
    pub fn assemble(&mut self, bodies: Bodies) -> Protocol {
        let together = self.rng.chance(70);
        let mut blocks: Vec<Block> = Vec::new();
        for (warp, body) in bodies.into_iter().enumerate() {
            match blocks.last_mut() {
                Some(block) if together && block.body == body => block.agents.end += 1,
                _ => blocks.push(Block { agents: warp..warp + 1, role: None, body }),
            }
        }
        let (arrays, objects) = (self.arrays.clone(), self.objects.clone());
        let size = 32 * self.warps as i64;
        let mut protocol = Protocol { arrays, objects, blocks, ..Protocol::empty(Target::Ptx, size) };
        protocol.number();
        protocol
    }

    /// Some arrivals of a warp: `n` in all, or more where the whole warp makes them.
    pub fn arrivals(&mut self, on: &Object, n: i32) -> Vec<Stmt> {
        match n {
            1 => vec![one_lane(vec![on.arrive()])],
            _ if self.rng.chance(50) => vec![one_lane(vec![on.arrive_by(n)])],
            _ if self.rng.chance(25) => vec![one_lane(vec![on.arrive_no_complete(n - 1), on.arrive()])],
            _ if self.rng.chance(50) => vec![if_(lt(lane(), n), vec![on.arrive()], vec![])],
            _ => vec![maybe(
                vec![one_lane(vec![on.arrive_by(n)])],
                vec![one_lane(vec![on.arrive(); n as usize])],
            )],
        }
    }

    /// A producer fills stages, the others empty them.
    fn ring(&mut self) -> Bodies {
        let stages = if self.warps == 2 { *self.rng.pick(&[1, 1, 2]) } else { 1 };
        let len = (stages > 1).then_some(i64::from(stages));
        let consumers = self.warps as i32 - 1;
        let many = if self.rng.chance(15) { 2 } else { 1 };
        let full = self.objects("full", len, 1);
        let empty = self.objects("empty", len, consumers * many);
        let (buf, second) = (self.array("buf", len), self.array("more", len));
        let bytes = *self.rng.pick(&[16, 16, 32]);
        let how = self.rng.below(10);
        let choosy = self.rng.chance(30);
        let meets = self.rng.chance(15);
        let ring = Ring { full, buf, second, bytes, how, choosy };
        let mut bodies = Vec::new();
        bodies.push(self.framed(stages, |maker, turn| {
            let mut does = maker.perhaps_meeting(meets);
            does.push(turn.on(empty).wait(turn.parity.clone() ^ 1));
            does.extend(maker.fill(ring, turn));
            does
        }));
        let consumer = self.framed(stages, |maker, turn| {
            let mut does = maker.perhaps_meeting(meets);
            does.push(turn.on(full).wait(turn.parity.clone()));
            let read = turn.access(Read, buf);
            if choosy {
                does.extend(maker.sometimes(read));
            } else {
                does.push(read);
            }
            if how == 4 {
                does.push(turn.access(Read, second));
            }
            does.extend(maker.arrivals(&turn.on(empty), many));
            does
        });
        bodies.extend((0..consumers).map(|_| consumer.clone()));
        bodies
    }

    /// How a producer fills a stage.
    fn fill(&mut self, ring: Ring, turn: &Turn) -> Vec<Stmt> {
        let Ring { full, buf, second, bytes, how, choosy } = ring;
        let on = turn.on(full);
        let copy = |bytes, array| turn.copy(&on, bytes, array);
        match how {
            0..3 => vec![one_lane(vec![on.arrive_expect(bytes), copy(bytes, buf)])],
            3 => vec![one_lane(vec![copy(bytes, buf), on.arrive_expect(bytes)])],
            4 => vec![one_lane(vec![on.arrive_expect(2 * bytes), copy(bytes, buf), copy(bytes, second)])],
            5 => vec![one_lane(vec![on.expect(bytes), copy(bytes, buf), on.arrive()])],
            6 => {
                let to = Some((buf, turn.stage.clone()));
                let copy = on.act(Act::Copy(v("n") * 16, to));
                vec![
                    stmt(Kind::Let("n".into(), Rhs::Any(1.into(), 3.into()))),
                    one_lane(vec![on.arrive_expect(v("n") * 16), copy]),
                ]
            }
            7 => vec![turn.access(Write, buf), one_lane(vec![on.arrive_expect(bytes), on.complete(bytes)])],
            _ => {
                let mut does = vec![turn.access(Write, buf)];
                if choosy {
                    does.extend(self.sometimes(turn.access(Write, buf)));
                }
                does.push(one_lane(vec![on.arrive()]));
                does
            }
        }
    }

    pub fn sometimes(&mut self, what: Stmt) -> Vec<Stmt> {
        match self.rng.below(3) {
            0 => vec![maybe(vec![what], vec![])],
            1 => vec![maybe(vec![what.clone()], vec![what])],
            _ => {
                let local = self.fresh("v");
                let any = stmt(Kind::Let(local.clone(), Rhs::Any(0.into(), 2.into())));
                vec![any, if_(Expr::Var(local), vec![what], vec![])]
            }
        }
    }

    fn perhaps_meeting(&mut self, meets: bool) -> Vec<Stmt> {
        if meets { vec![sync(1, 32 * self.warps as i32)] } else { vec![] }
    }

    /// All arrive and wait, once after writing and once after reading.
    fn rounds(&mut self) -> Bodies {
        let n = self.warps as i32;
        let whole = self.rng.chance(25);
        let count = if whole { 32 * n } else { n };
        let (filled, seen) = (self.objects("filled", None, count), self.objects("seen", None, count));
        let x = self.array("x", None);
        let writer = self.rng.below(self.warps);
        let named = self.rng.chance(25);
        let brings = self.rng.chance(25);
        let relaxed = self.rng.chance(10);
        let quiet = self.rng.chance(25);
        let meet = |maker: &mut Self, turn: &Turn, objects: usize| {
            let on = object(objects);
            if named && objects == seen {
                return vec![sync(2, 32 * n)];
            }
            let arrive = if relaxed && objects == filled { on.arrive_relaxed() } else { on.arrive() };
            let mut does = vec![if whole { arrive } else { one_lane(vec![arrive]) }];
            if quiet {
                does.extend(maker.sometimes(assert_(1)));
            }
            does.push(on.wait(turn.parity.clone()));
            does
        };
        (0..self.warps)
            .map(|warp| {
                self.framed(1, |maker, turn| {
                    let mut does = Vec::new();
                    if warp == writer && brings {
                        let on = object(filled);
                        does.push(one_lane(vec![on.expect(16), on.copy(16, x)]));
                    } else if warp == writer {
                        let kind = if maker.rng.chance(80) { Write } else { Atomic };
                        does.push(access(kind, x, None));
                    }
                    does.extend(meet(maker, turn, filled));
                    if maker.rng.chance(80) {
                        does.push(access(Read, x, None));
                    }
                    does.extend(meet(maker, turn, seen));
                    does
                })
            })
            .collect()
    }

    /// A token goes from each warp to the next.
    fn token(&mut self) -> Bodies {
        let n = self.warps;
        let given: Vec<usize> = (0..n).map(|warp| self.objects(&format!("given{warp}"), None, 1)).collect();
        let x = self.array("x", None);
        (0..n)
            .map(|warp| {
                let from = object(given[(warp + n - 1) % n]);
                let to = object(given[warp]);
                self.framed(1, |maker, turn| {
                    let parity = if warp == 0 { turn.parity.clone() ^ 1 } else { turn.parity.clone() };
                    let mut does = vec![from.wait(parity)];
                    let work = access(*maker.rng.pick(&[Write, Write, Atomic]), x, None);
                    does.extend(if maker.rng.chance(30) { maker.sometimes(work) } else { vec![work] });
                    does.extend(maker.arrivals(&to, 1));
                    does
                })
            })
            .collect()
    }

    /// Copies are read by what a commit tells the end of.
    fn committed(&mut self) -> Bodies {
        let (full, empty) = (self.objects("full", None, 1), self.objects("empty", None, 1));
        let done = self.objects("done", None, 1);
        let (buf, acc) = (self.array("buf", None), self.array("acc", None));
        let copies = self.rng.chance(60);
        let frees = self.rng.chance(70);
        self.warps = 2;
        let producer = self.framed(1, |_, turn| {
            let on = object(full);
            let mut does = vec![object(empty).wait(turn.parity.clone() ^ 1)];
            if copies {
                does.push(one_lane(vec![on.arrive_expect(16), on.copy(16, buf)]));
            } else {
                does.extend([access(Write, buf, None), one_lane(vec![on.arrive()])]);
            }
            if frees {
                does.extend([object(done).wait(turn.parity.clone()), access(Read, acc, None)]);
            }
            does
        });
        let consumer = self.framed(1, |_, turn| {
            let mut does = vec![object(full).wait(turn.parity.clone()), access(Read, buf, None)];
            if frees {
                does.extend([access(Write, acc, None), one_lane(vec![object(done).commit()])]);
                does.push(object(done).wait(turn.parity.clone()));
            }
            does.push(one_lane(vec![object(empty).commit()]));
            if !frees {
                does.push(object(empty).wait(turn.parity.clone()));
            }
            does
        });
        vec![producer, consumer]
    }

    /// Everybody uses objects for one phase, in some order.
    fn once(&mut self) -> Bodies {
        let n = self.rng.range(1, 3);
        let count = self.rng.range(1, 4);
        let objects: Vec<usize> = (0..n).map(|o| self.objects(&format!("b{o}"), None, count)).collect();
        let x = self.array("x", None);
        let mut bodies: Bodies = vec![Vec::new(); self.warps];
        for &b in &objects {
            let on = object(b);
            let writer = self.rng.below(self.warps);
            let copies = self.rng.chance(40);
            if copies {
                bodies[writer].push(one_lane(vec![on.expect(32), on.copy(16, x), on.copy_nowhere(16)]));
            } else {
                bodies[writer].push(access(Write, x, None));
            }
            for _ in 0..count {
                let warp = if self.rng.chance(50) { writer } else { self.rng.below(self.warps) };
                let act = match self.rng.below(10) {
                    0 => on.arrive_relaxed(),
                    1 => on.commit(),
                    2 if count > 1 => on.arrive_drop(),
                    3 if count > 1 => on.arrive_no_complete(1),
                    _ => on.arrive(),
                };
                bodies[warp].push(one_lane(vec![act]));
            }
            for (warp, body) in bodies.iter_mut().enumerate() {
                if warp == writer || self.rng.chance(70) {
                    body.push(on.wait(0));
                    if self.rng.chance(70) {
                        body.push(access(Read, x, None));
                    }
                }
            }
        }
        bodies
    }

    /// Instructions that have nothing to do with each other.
    fn unrelated(&mut self) -> Bodies {
        self.warps = self.warps.min(3);
        for name in ["a", "b"].iter().take(self.rng.range(1, 3) as usize) {
            let count = self.rng.range(1, 4);
            self.objects(name, None, count);
        }
        self.array("x", None);
        (0..self.warps)
            .map(|_| {
                let n = self.rng.range(1, 5);
                (0..n).map(|_| self.some_stmt()).collect()
            })
            .collect()
    }

    /// A statement for any place.
    pub fn some_stmt(&mut self) -> Stmt {
        let objects = self.rng.below(self.objects.len());
        let index = self.objects[objects].len.map(|len| Expr::Int(self.rng.below(len as usize) as i64));
        let on = Object(objects, index);
        let bytes = *self.rng.pick(&[16, 16, 32]);
        let array = self.rng.below(self.arrays.len());
        let place = self.arrays[array].len.map(|len| Expr::Int(self.rng.below(len as usize) as i64));
        match self.rng.below(26) {
            0..4 => one_lane(vec![on.arrive()]),
            4 => one_lane(vec![on.arrive_by(2)]),
            5..10 => on.wait(self.rng.range(0, 2)),
            10 => one_lane(vec![on.expect(bytes)]),
            11 => one_lane(vec![on.arrive_expect(bytes)]),
            12 => one_lane(vec![on.complete(bytes)]),
            13..16 => one_lane(vec![on.act(Act::Copy(bytes.into(), Some((array, place))))]),
            16 => one_lane(vec![on.commit()]),
            17 => sync(1, 32 * self.warps as i32),
            18 => one_lane(vec![self.rng.pick(&[on.inval(), on.init(1), on.arrive_drop()]).clone()]),
            19 => maybe(vec![one_lane(vec![on.arrive()])], vec![on.wait(self.rng.range(0, 2))]),
            20 => one_lane(vec![if self.rng.chance(50) {
                on.arrive_relaxed()
            } else {
                on.arrive_no_complete(1)
            }]),
            24.. => self.some_fence(),
            _ => access(*self.rng.pick(&[Read, Write]), array, place),
        }
    }

    /// The objects are initialised by a warp, before all meet, instead of before the first step; sometimes
    /// their lives end, and begin once more.
    fn initialised(&mut self, bodies: &mut Bodies) {
        let all = 32 * self.warps as i32;
        let mut every = Vec::new();
        for (number, objects) in self.objects.iter_mut().enumerate() {
            let Some(count) = objects.count.take() else { continue };
            let len = objects.len;
            every.extend((0..len.unwrap_or(1)).map(|n| {
                let index = len.map(|_| Expr::Int(n));
                (Object(number, index), count as i32)
            }));
        }
        let begin = one_lane(every.iter().map(|(on, count)| on.init(*count)).collect());
        let end = one_lane(every.iter().map(|(on, _)| on.inval()).collect());
        let lives = if self.rng.chance(40) && every.len() < 3 { 2 } else { 1 };
        let meet = sync(3, all);
        for (warp, body) in bodies.iter_mut().enumerate() {
            let mut life = Vec::new();
            if warp == 0 {
                life.push(begin.clone());
            }
            life.push(meet.clone());
            life.append(body);
            if lives > 1 {
                life.push(meet.clone());
                if warp == 0 {
                    life.push(end.clone());
                }
            }
            *body = if lives > 1 { vec![for_("life", 0, lives, life)] } else { life };
        }
    }
}
