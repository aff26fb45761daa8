//! Random protocols that are mostly right and go round for long: rings of producers and consumers, tokens
//! handed on, rounds of all. In between agents decide, by themselves or alike. Then little or nothing is
//! damaged.

use super::build::*;
use super::generate::{Gen, Rng};
use super::mutate::operand;
use super::protocol::*;
use super::wellformed::well_formed;
use AccessKind::{Atomic, Read, Write};

/// The location that agents hand to one another, and the array of which each agent has its own element.
const HANDED: usize = 0;
const OWN: usize = 1;

/// A part of a round.
enum Part {
    /// What each agent does.
    Each(Vec<Vec<Stmt>>),
    /// The same statements for all.
    All(Vec<Stmt>),
}

/// What an agent does at a meeting of those who have something with those who want it.
#[derive(Clone, Copy)]
enum Side {
    Gives,
    Takes,
    Both,
}

/// The protocol of a seed.
pub fn generate_rounds(seed: u64) -> Protocol {
    let target = Target::ALL[(seed % 5) as usize];
    let mut rng = Rng::new(seed ^ 0x726f_756e_6473);
    let agents = *rng.pick(&[2, 2, 2, 2, 2, 3, 3, 4]);
    let mut g = Gen::new(rng, target, agents);
    let space = *g.rng.pick(&[Space::Shared, Space::Global]);
    g.arrays.push(Array { name: "x".into(), len: None, space });
    g.arrays.push(Array { name: "own".into(), len: Some(i64::from(agents)), space: Space::Shared });
    let mut protocol = g.rounds();
    let damages = *g.rng.pick(&[0, 0, 1, 1, 1, 2]);
    for _ in 0..damages {
        protocol = damaged(&mut g, &protocol);
    }
    protocol.number();
    assert!(well_formed(&protocol), "seed {seed}:\n{}", protocol.text());
    protocol
}

impl Gen {
    fn rounds(&mut self) -> Protocol {
        let agents = self.agents as usize;
        let (before, mut parts) = match (self.target, self.rng.below(3)) {
            (Target::Split, _) | (_, 0) => (Vec::new(), self.all_in_turn()),
            (Target::Ptx | Target::Bcu | Target::Nbarrier, 1) => self.ring(),
            _ => (Vec::new(), self.token()),
        };
        let early = if self.rng.chance(40) { self.decides_early(&mut parts) } else { Vec::new() };
        // Instances have to match: there it is wrong to do the same in two places.
        if self.rng.chance(if self.target == Target::Split { 8 } else { 35 }) {
            parts = parts.into_iter().map(|part| self.in_two_places(part)).collect();
        }
        // The same statement is asked for only where instances have to match.
        let together = self.target == Target::Split;
        let blocks = if together { 1 } else { agents };
        let frame = self.rng.below(100);
        let rounds = self.rng.range(2, 4);
        let mut all = Vec::new();
        for block in 0..blocks {
            let mut round = Vec::new();
            for part in &parts {
                match part {
                    Part::All(same) => round.extend(same.clone()),
                    Part::Each(each) if together => {
                        let own_part = |(agent, does): (usize, &Vec<Stmt>)| {
                            (!does.is_empty()).then(|| if_(eq(own(), agent as i32), does.clone(), vec![]))
                        };
                        round.extend(each.iter().enumerate().filter_map(own_part));
                    }
                    Part::Each(each) => round.extend(each[block].clone()),
                }
            }
            let mut body = self.front();
            body.extend(early.clone());
            body.extend(before.get(block).cloned().unwrap_or_default());
            body.push(match frame {
                0..40 => loop_(round),
                40..65 => while_(Cond::Uniform(Some("ROUND".into())), round),
                65..80 => {
                    let last = Cond::Uniform(Some("ROUND".into()));
                    round.push(stmt(Kind::If(last, vec![stmt(Kind::Break)], vec![])));
                    loop_(round)
                }
                _ => for_("round", 0, rounds, round),
            });
            if self.rng.chance(15) {
                body.push(maybe(vec![exit()], vec![self.own_access()]));
            }
            let agents = if together { 0..agents } else { block..block + 1 };
            all.push(Block { agents, role: None, body });
        }
        let size = i64::from(self.agents) * if self.target.has_lanes() { 32 } else { 1 };
        let subgroup_size = (together && self.rng.chance(50)).then_some(2);
        let arrays = self.arrays.clone();
        let empty = Protocol::empty(self.target, size);
        let mut protocol = Protocol { subgroup_size, arrays, blocks: all, ..empty };
        protocol.number();
        protocol
    }

    /// What has to stand before everything: a result's local, handles.
    pub(super) fn front(&self) -> Vec<Stmt> {
        match self.target {
            Target::Ptx => vec![let_("p", 0)],
            Target::Xegpu => {
                let mut front = vec![alloc(8)];
                front.extend((0..self.agents).map(|id| init(&handle(id), id, 2.min(self.agents))));
                front.extend((4..8).map(|id| init(&handle(id), id, self.agents)));
                front
            }
            _ => vec![],
        }
    }

    /// One agent writes, all meet, all read, all meet.
    fn all_in_turn(&mut self) -> Vec<Part> {
        let agents = self.agents as usize;
        let writer = self.rng.below(agents);
        let mut parts = vec![self.each(|g, agent| g.work(agent == writer, false))];
        parts.push(self.meeting(4));
        parts.extend(self.perhaps_another_meeting());
        parts.push(self.each(|g, _| g.work(false, true)));
        parts.push(self.meeting(5));
        if self.rng.chance(30) {
            parts.push(self.each(|g, agent| g.work(agent != writer && agent < 2, false)));
            parts.push(self.meeting(4));
        }
        parts
    }

    /// A token goes from each agent to the next. Who has it may do what it likes.
    fn token(&mut self) -> Vec<Part> {
        let n = self.agents;
        let waits = self.rng.chance(40);
        let mut parts = vec![self.each(|g, agent| {
            let agent = agent as i32;
            let (from, to) = ((agent + n - 1) % n, agent);
            let give = if waits { Side::Both } else { Side::Gives };
            let take = if waits { Side::Both } else { Side::Takes };
            let mut does = Vec::new();
            if agent > 0 {
                does.extend(g.side(from, 1, 1, take));
            }
            does.extend(g.work(true, true));
            does.extend(g.side(to, 1, 1, give));
            does.extend(g.work(false, false));
            if agent == 0 {
                does.extend(g.side(from, 1, 1, take));
            }
            does
        })];
        if self.rng.chance(20) {
            parts.push(self.meeting(5));
        }
        parts.extend(self.perhaps_another_meeting());
        parts
    }

    /// Producers fill stages, consumers empty them and say so; before the rounds all stages are empty.
    fn ring(&mut self) -> (Vec<Vec<Stmt>>, Vec<Part>) {
        // A BCU warp may block where it gives: that fills one stage only.
        let stages = if self.target == Target::Bcu { 1 } else { self.rng.range(1, 3) };
        let producers = self.rng.range(1, self.agents);
        let consumers = self.agents - producers;
        let (full, empty) = (|stage: i32| 2 * stage, |stage: i32| 2 * stage + 1);
        let mut before = vec![Vec::new(); self.agents as usize];
        for does in before.iter_mut().skip(producers as usize) {
            for stage in 0..stages {
                does.extend(self.side(empty(stage), consumers, producers, Side::Gives));
            }
        }
        let mut parts = Vec::new();
        for stage in 0..stages {
            parts.push(self.each(|g, agent| {
                let mut does = Vec::new();
                if (agent as i32) < producers {
                    does.extend(g.side(empty(stage), consumers, producers, Side::Takes));
                    does.extend(g.work(agent == 0 && stages == 1, false));
                    does.extend(g.side(full(stage), producers, consumers, Side::Gives));
                } else {
                    does.extend(g.side(full(stage), producers, consumers, Side::Takes));
                    does.extend(g.work(false, stages == 1));
                    does.extend(g.side(empty(stage), consumers, producers, Side::Gives));
                }
                does
            }));
        }
        (before, parts)
    }

    fn each(&mut self, mut does: impl FnMut(&mut Self, usize) -> Vec<Stmt>) -> Part {
        Part::Each((0..self.agents as usize).map(|agent| does(self, agent)).collect())
    }

    /// One side of a meeting of some who give and some who take.
    fn side(&mut self, id: i32, give: i32, take: i32, side: Side) -> Vec<Stmt> {
        let threads = 32 * (give + take);
        match self.target {
            Target::Ptx => match side {
                Side::Gives => vec![arrive(id, threads)],
                _ if self.rng.chance(20) => vec![barrier_sync(id, threads)],
                _ => vec![sync(id, threads)],
            },
            Target::Bcu => match side {
                Side::Gives if self.rng.chance(20) => vec![bar_arv(id, threads)],
                _ => vec![bar_sync(id, threads)],
            },
            Target::Nbarrier => match side {
                Side::Gives => vec![fence(), signal(id, 1, give, take)],
                Side::Takes => vec![signal(id, 2, give, take), wait(id)],
                Side::Both => vec![fence(), signal_all(id, give + take), wait(id)],
            },
            _ => vec![mfence(), handle_arrive(&handle(id)), handle_wait(&handle(id))],
        }
    }

    /// All meet.
    fn meeting(&mut self, id: i32) -> Part {
        Part::All(self.meet(id))
    }

    pub(super) fn meet(&mut self, id: i32) -> Vec<Stmt> {
        let n = self.agents;
        match self.target {
            Target::Ptx => match self.rng.below(3) {
                0 => vec![sync_all(id)],
                1 => vec![sync(id, 32 * n)],
                _ => vec![barrier_sync(id, 32 * n)],
            },
            Target::Bcu => vec![bar_sync(id, *self.rng.pick(&[0, 32 * n]))],
            Target::Nbarrier => {
                let mut does = vec![fence(), signal_all(id, n)];
                does.extend(self.quiet_work());
                does.push(wait(id));
                does
            }
            Target::Xegpu => {
                let mut does = vec![mfence(), handle_arrive(&handle(id))];
                does.extend(self.quiet_work());
                does.push(handle_wait(&handle(id)));
                does
            }
            Target::Split => {
                let flags = || order(Some(Order::AcquireRelease));
                if self.rng.chance(40) {
                    return vec![control_barrier(Scope::Workgroup, flags())];
                }
                let mut does = vec![split_arrive(Scope::Workgroup, flags())];
                does.extend(self.quiet_work());
                does.push(split_wait(Scope::Workgroup, flags()));
                does
            }
        }
    }

    /// All meet once more if all decide so, or if one of them says so.
    fn perhaps_another_meeting(&mut self) -> Option<Part> {
        let again = self.meet(6);
        let all = 32 * self.agents;
        match (self.target, self.rng.below(8)) {
            (_, 0) => {
                Some(Part::All(vec![stmt(Kind::If(Cond::Uniform(Some("MORE".into())), again, vec![]))]))
            }
            (Target::Ptx, 2..4) => {
                let op = *self.rng.pick(&[RedOp::Or, RedOp::And]);
                Some(Part::All(vec![red(op, Some("p"), 7, all, Pred::Any), if_(v("p"), again, vec![])]))
            }
            (Target::Bcu, 2..4) => {
                let vote = bar_red(RedOp::Or, 7, all, Pred::Any);
                Some(Part::All(vec![vote, b2r_result("RZ", Some("P1")), if_(v("P1"), again, vec![])]))
            }
            (Target::Split, 2) => {
                let flags = order(Some(Order::AcquireRelease));
                Some(Part::All(vec![control_barrier(Scope::Subgroup, flags)]))
            }
            _ => None,
        }
    }

    /// What an agent does with what it has, sometimes as it decides.
    fn work(&mut self, writes: bool, reads: bool) -> Vec<Stmt> {
        let mut does = Vec::new();
        if writes {
            let kind = if self.rng.chance(85) { Write } else { Atomic };
            does.push(access(kind, HANDED, None));
        }
        if reads {
            does.push(access(Read, HANDED, None));
        }
        if self.rng.chance(70) {
            return does;
        }
        let what = does.pop().unwrap_or_else(|| self.own_access());
        let other = self.own_access();
        let local = self.fresh("v");
        let value = || Expr::Var(local.clone());
        match self.rng.below(8) {
            0..3 => does.push(maybe(vec![what], vec![])),
            3 => does.push(maybe(vec![what], vec![other])),
            4 => {
                does.push(stmt(Kind::Let(local.clone(), Rhs::Any(0.into(), 2.into()))));
                does.push(if_(eq(value(), 1), vec![what], vec![]));
            }
            5 => {
                does.push(let_(&local, 0));
                does.push(maybe(vec![set(&local, 1)], vec![]));
                does.push(what);
                does.push(if_(eq(value(), 1), vec![other], vec![]));
            }
            6 => does.push(stmt(Kind::While(Cond::Choice, vec![what]))),
            _ => does.push(maybe(vec![maybe(vec![what], vec![])], vec![other])),
        }
        does
    }

    /// All decide early, before the rounds or somewhere in them, what shows later.
    fn decides_early(&mut self, parts: &mut Vec<Part>) -> Vec<Stmt> {
        let values = self.rng.range(2, 4);
        let any = || Rhs::Any(0.into(), values.into());
        let mut add = |g: &mut Self, does: &dyn Fn(&mut Self) -> Vec<Stmt>| {
            let at = g.rng.below(parts.len() + 1);
            parts.insert(at, g.each(|g, _| does(g)));
        };
        for _ in 0..self.rng.range(1, 4) {
            add(self, &|g| if g.rng.chance(60) { g.shows(values) } else { Vec::new() });
        }
        if self.rng.chance(60) {
            let again = stmt(Kind::Assign("early".into(), any()));
            add(self, &|g| if g.rng.chance(70) { vec![again.clone()] } else { Vec::new() });
        }
        if self.rng.chance(15) {
            // From then on nobody needs anybody: what happens to one is not seen by the others.
            let alone = self.each(|g, _| {
                let mut does = if g.rng.chance(50) { g.shows(values) } else { Vec::new() };
                does.push(loop_(vec![g.own_access()]));
                does
            });
            parts.push(alone);
        }
        vec![stmt(Kind::Let("early".into(), any()))]
    }

    /// What an agent does it does in one of two places, as it decides.
    fn in_two_places(&mut self, part: Part) -> Part {
        let mut decide = |does: Vec<Stmt>| {
            if does.is_empty() || self.rng.chance(60) {
                return does;
            }
            let mut one = does.clone();
            match self.rng.below(4) {
                0 => one.insert(0, self.own_access()),
                1 => one.push(self.own_access()),
                2 => one.insert(0, stmt(Kind::While(Cond::Choice, vec![self.own_access()]))),
                _ => {}
            }
            vec![maybe(one, does)]
        };
        match part {
            Part::Each(each) => Part::Each(each.into_iter().map(decide).collect()),
            Part::All(does) => Part::All(decide(does)),
        }
    }

    /// How it shows.
    fn shows(&mut self, values: i32) -> Vec<Stmt> {
        let early = || v("early");
        let is_it = eq(early(), self.rng.range(0, values));
        match self.rng.below(20) {
            0..8 => vec![if_(is_it, vec![self.own_access()], vec![])],
            8..10 => vec![if_(is_it, vec![access(Read, HANDED, None)], vec![])],
            10..12 => vec![access(Read, OWN, Some(early() % self.agents))],
            12..14 => vec![if_(is_it, vec![maybe(vec![self.own_access()], vec![])], vec![self.own_access()])],
            14..16 => vec![if_(is_it, vec![set("early", early() + 1)], vec![])],
            16 => vec![if_(is_it, vec![stmt(Kind::Break)], vec![])],
            17 => vec![if_(is_it, vec![stmt(Kind::While(Cond::Choice, vec![self.own_access()]))], vec![])],
            18 => vec![assert_(lt(early(), values + 1))],
            _ => {
                let not = self.rng.range(0, values + 1);
                vec![set("early", bin(Op::Div, 3, early() - not))]
            }
        }
    }

    /// Work that touches nobody else.
    fn quiet_work(&mut self) -> Vec<Stmt> {
        match self.rng.below(10) {
            0 => vec![self.own_access()],
            1 => vec![maybe(vec![self.own_access()], vec![])],
            _ => vec![],
        }
    }

    pub(super) fn own_access(&mut self) -> Stmt {
        let kind = *self.rng.pick(&[Read, Write, Atomic]);
        access(kind, OWN, Some(own()))
    }
}

fn handle(id: i32) -> String {
    format!("h{id}")
}

/// The protocol with one small change that leaves it well formed; after some tries, unchanged.
pub(super) fn damaged(g: &mut Gen, protocol: &Protocol) -> Protocol {
    for _ in 0..20 {
        let mut changed = protocol.clone();
        let block = g.rng.below(changed.blocks.len());
        damage(g, &mut changed.blocks[block].body);
        if well_formed(&changed) {
            return changed;
        }
    }
    protocol.clone()
}

/// Changes something in this list or, mostly, further inside.
fn damage(g: &mut Gen, list: &mut Vec<Stmt>) {
    if list.is_empty() {
        return;
    }
    let at = g.rng.below(list.len());
    let inner = match &mut list[at].kind {
        Kind::For { body, .. } | Kind::Loop(body) | Kind::While(_, body) => Some(body),
        Kind::If(_, then, _) => Some(then),
        _ => None,
    };
    if let Some(inner) = inner
        && g.rng.chance(90)
    {
        return damage(g, inner);
    }
    let to = g.rng.below(list.len());
    match g.rng.below(12) {
        0..2 => drop(list.remove(at)),
        2 => {
            let copy = list[at].clone();
            list.insert(to, copy);
        }
        3 => list.swap(at, to),
        4..6 => {
            let moved = list.remove(at);
            list.insert(to, moved);
        }
        6 => list.insert(at, maybe(vec![exit()], vec![])),
        7 => list.insert(at, exit()),
        8 => {
            let inside = list[at].clone();
            list[at].kind = Kind::If(Cond::Choice, vec![inside], vec![]);
        }
        _ => operand(g, &mut list[at]),
    }
}
