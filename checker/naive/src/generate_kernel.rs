//! Random protocols of the shape that kernels have: some warps load what others work on, stage by stage; each
//! has memory of its own, decides by its own data, and uses several barriers that have little to do with one
//! another. Most are right; some are damaged in one place.

use super::build::*;
use super::generate::{Gen, Rng};
use super::generate_rounds::damaged;
use super::protocol::*;
use super::wellformed::well_formed;
use AccessKind::{Atomic, Read, Write};

/// The stages, and the array of which each agent has its own element.
const STAGE: usize = 0;
const OWN: usize = 1;

/// Who does what, how often.
#[derive(Clone, Copy)]
struct Shape {
    loaders: i32,
    workers: i32,
    stages: i32,
    rounds: i32,
}

/// The protocol of a seed, with so many agents, which go round so often at most.
pub fn generate_kernel(seed: u64, agents: i32, rounds: i32) -> Protocol {
    let target = Target::ALL[(seed % 5) as usize];
    let mut rng = Rng::new(seed ^ 0x6b65_726e_656c);
    let loaders = if agents > 4 && rng.chance(30) { 2 } else { 1 };
    let stages = if matches!(target, Target::Ptx | Target::Nbarrier) { rng.range(1, 3) } else { 1 };
    let rounds = rng.range(1, rounds + 1);
    let mut g = Gen::new(rng, target, agents);
    let space = *g.rng.pick(&[Space::Shared, Space::Global]);
    g.arrays.push(Array { name: "stage".into(), len: Some(2), space });
    g.arrays.push(Array { name: "own".into(), len: Some(i64::from(agents)), space: Space::Shared });
    let shape = Shape { loaders, workers: agents - loaders, stages, rounds };
    let mut protocol = g.kernel(shape);
    let damages = *g.rng.pick(&[0, 0, 0, 1, 1]);
    for _ in 0..damages {
        protocol = damaged(&mut g, &protocol);
    }
    protocol.number();
    assert!(well_formed(&protocol), "seed {seed}:\n{}", protocol.text());
    protocol
}

impl Gen {
    fn kernel(&mut self, shape: Shape) -> Protocol {
        let (split, loaders) = (self.target == Target::Split, shape.loaders as usize);
        let agents = self.agents as usize;
        let rings = matches!(self.target, Target::Ptx | Target::Nbarrier);
        let blocks = if rings {
            let mut load = self.locals();
            load.push(for_("i", 0, shape.rounds, self.load(shape)));
            load.extend(self.at_the_end(shape, false));
            let mut work = self.locals();
            work.push(for_("i", 0, shape.rounds, self.work_on(shape)));
            work.extend(self.at_the_end(shape, true));
            vec![(0..loaders, load), (loaders..agents, work)]
        } else {
            // All meet, since not every system has barriers for some.
            let (load, work) = (self.loads(shape), self.works(shape));
            let mut round = vec![if_(lt(own(), shape.loaders), load, work)];
            round.extend(self.meet(4));
            round.extend(self.works(shape));
            round.extend(self.meet(5));
            let mut all = self.locals();
            all.push(for_("i", 0, shape.rounds, round));
            vec![(0..agents, all)]
        };
        let size = i64::from(self.agents) * if self.target.has_lanes() { 32 } else { 1 };
        let subgroup_size = (split && self.rng.chance(30)).then_some(2);
        let blocks = blocks.into_iter();
        let blocks = blocks.map(|(agents, body)| Block { agents, role: None, body }).collect();
        let arrays = self.arrays.clone();
        Protocol { subgroup_size, arrays, blocks, ..Protocol::empty(self.target, size) }
    }

    fn locals(&mut self) -> Vec<Stmt> {
        let mut locals = self.front();
        locals.extend([let_("dead", 0), let_("peer", (own() + 1) % self.agents)]);
        if self.rng.chance(10) {
            locals.push(maybe(vec![exit()], vec![]));
        }
        locals
    }

    /// A round of those who load.
    fn load(&mut self, shape: Shape) -> Vec<Stmt> {
        let Shape { loaders, workers, stages, .. } = shape;
        let mut does = vec![if_(ge(v("i"), stages), self.takes(empty(stages), workers, loaders), vec![])];
        does.extend(self.loads(shape));
        does.extend(self.gives(full(stages), loaders, workers));
        does
    }

    fn loads(&mut self, shape: Shape) -> Vec<Stmt> {
        let writes = vec![access(Write, STAGE, Some(v("i") % shape.stages))];
        let writes = if shape.loaders > 1 { vec![if_(eq(own(), 0), writes, vec![])] } else { writes };
        let mut does = if self.rng.chance(30) { vec![maybe(writes, vec![])] } else { writes };
        if self.rng.chance(20) {
            does.push(self.own_access());
        }
        does
    }

    /// A round of those who work.
    fn work_on(&mut self, shape: Shape) -> Vec<Stmt> {
        let Shape { loaders, workers, stages, rounds } = shape;
        let mut does = self.takes(full(stages), loaders, workers);
        does.extend(self.works(shape));
        let gives = self.gives(empty(stages), workers, loaders);
        does.push(if_(lt(v("i") + stages, rounds), gives, vec![]));
        if self.rng.chance(5) {
            does.extend(self.works(shape));
        }
        does
    }

    fn works(&mut self, shape: Shape) -> Vec<Stmt> {
        let parts = self.rng.range(1, 4);
        (0..parts).flat_map(|_| self.part_of_work(shape)).collect()
    }

    fn part_of_work(&mut self, shape: Shape) -> Vec<Stmt> {
        let read = || access(Read, STAGE, Some(v("i") % shape.stages));
        let alive = |does| if_(eq(v("dead"), 0), does, vec![]);
        let rings = matches!(self.target, Target::Ptx | Target::Nbarrier);
        match self.rng.below(16) {
            0..2 => vec![self.own_access()],
            2..4 => vec![maybe(vec![self.own_access()], vec![])],
            4 => vec![maybe(vec![self.own_access()], vec![self.own_access()])],
            5..7 => vec![alive(vec![read(), maybe(vec![set("dead", 1)], vec![])])],
            7..9 => vec![read()],
            9 => vec![maybe(vec![read()], vec![])],
            10..13 if rings => self.with_neighbours(shape.workers),
            13 if self.target == Target::Ptx => {
                let all = 32 * shape.workers;
                let sync = maybe(vec![sync(10, all), self.own_access()], vec![arrive(10, all)]);
                let mut does = vec![sync];
                does.extend(self.meeting_of(11, shape.workers));
                does
            }
            14 if self.target == Target::Ptx => {
                let vote = red(RedOp::Or, Some("p"), 12, 32 * shape.workers, pred(v("dead")));
                vec![vote, if_(v("p"), vec![self.own_access()], vec![])]
            }
            15 if self.rng.chance(30) => vec![maybe(vec![exit()], vec![])],
            _ => vec![alive(vec![self.own_access()])],
        }
    }

    /// Each writes its own element, all meet, each reads another's, all meet.
    fn with_neighbours(&mut self, workers: i32) -> Vec<Stmt> {
        let mut does = vec![access(Write, OWN, Some(own()))];
        if self.rng.chance(40) {
            does = vec![maybe(does, vec![])];
        }
        does.extend(self.meeting_of(8, workers));
        let by_name = self.rng.chance(50);
        let of = if by_name { v("peer") } else { (own() + 1) % self.agents };
        let kind = *self.rng.pick(&[Read, Read, Read, Atomic]);
        let other = access(kind, OWN, Some(of));
        does.push(if self.rng.chance(40) { maybe(vec![other], vec![]) } else { other });
        if !self.rng.chance(10) {
            does.extend(self.meeting_of(9, workers));
        }
        does
    }

    /// What comes after the rounds.
    fn at_the_end(&mut self, shape: Shape, works: bool) -> Vec<Stmt> {
        match self.rng.below(4) {
            0 if works && self.target == Target::Ptx => {
                let all = 32 * shape.workers;
                vec![if_(eq(v("dead"), 0), vec![sync(13, all)], vec![arrive(13, all)])]
            }
            1 if works => self.meeting_of(13, shape.workers),
            2 => vec![self.own_access()],
            _ => vec![],
        }
    }

    /// So many meet.
    fn meeting_of(&mut self, id: i32, agents: i32) -> Vec<Stmt> {
        match self.target {
            Target::Ptx => vec![sync(id, 32 * agents)],
            Target::Nbarrier => vec![fence(), signal_all(id, agents), wait(id)],
            _ => vec![],
        }
    }

    fn gives(&mut self, id: Expr, give: i32, take: i32) -> Vec<Stmt> {
        match self.target {
            Target::Ptx => vec![arrive(id, 32 * (give + take))],
            _ => vec![fence(), signal(id, 1, give, take)],
        }
    }

    fn takes(&mut self, id: Expr, give: i32, take: i32) -> Vec<Stmt> {
        match self.target {
            Target::Ptx => vec![sync(id, 32 * (give + take))],
            _ => vec![signal(id.clone(), 2, give, take), wait(id)],
        }
    }
}

fn full(stages: i32) -> Expr {
    bin(Op::Mul, 2, v("i") % stages)
}

fn empty(stages: i32) -> Expr {
    full(stages) + 1
}
