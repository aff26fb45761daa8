//! Random small protocols. Most begin as one that works and are then damaged a little, because
//! protocols made of unrelated instructions all fail at once and in the same few ways.

use super::build::*;
use super::generate_warps::beside;
use super::mutate;
use super::protocol::*;
use super::wellformed::well_formed;
use std::ops::Range;

/// A small deterministic random number generator (splitmix64).
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.number() % n as u64) as usize
    }

    /// A number of a half-open range.
    pub fn range(&mut self, from: i32, to: i32) -> i32 {
        from + self.below((to - from) as usize) as i32
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// What the generation of one protocol needs to remember.
pub struct Gen {
    pub rng: Rng,
    pub target: Target,
    pub agents: i32,
    /// The agents of each block.
    pub blocks: Vec<Range<usize>>,
    pub arrays: Vec<Array>,
    /// A local that changes between 0 and 1 with every round, and whether the ids of the present
    /// phase depend on it.
    toggle: Option<Name>,
    toggled: bool,
    serial: usize,
}

/// One list of statements for each block.
pub type Bodies = Vec<Vec<Stmt>>;

/// The protocol of a seed.
pub fn generate(seed: u64) -> Protocol {
    let target = Target::ALL[(seed % 5) as usize];
    generate_for(target, seed)
}

/// The protocol of a seed for a given target.
pub fn generate_for(target: Target, seed: u64) -> Protocol {
    let mut rng = Rng::new(seed);
    let agents = if target.has_lanes() {
        *rng.pick(&[1, 2, 2, 2, 2, 3, 3, 3, 4])
    } else {
        *rng.pick(&[1, 2, 2, 2, 3, 3, 3, 4])
    };
    let mut g = Gen::new(rng, target, agents);
    g.arrange();
    let bodies = g.bodies();
    let mut protocol = g.assemble(bodies);
    let rounds = *g.rng.pick(&[0, 0, 1, 1, 2, 3]);
    for _ in 0..rounds {
        protocol = mutate::mutated(&mut g, &protocol);
    }
    beside(seed, &mut protocol);
    protocol.number();
    assert!(well_formed(&protocol), "seed {seed}:\n{}", protocol.text());
    protocol
}

impl Gen {
    /// Nothing is generated yet.
    pub fn new(rng: Rng, target: Target, agents: i32) -> Self {
        Gen {
            rng,
            target,
            agents,
            blocks: Vec::new(),
            arrays: Vec::new(),
            toggle: None,
            toggled: false,
            serial: 0,
        }
    }

    /// Divides the agents among blocks and invents locations.
    fn arrange(&mut self) {
        // Agents meet in one block, or not at all, where the same statement is asked for.
        let together = if self.target == Target::Split { 88 } else { 25 };
        let mut start = 0;
        while start < self.agents as usize {
            let mut end = self.agents as usize;
            if !self.rng.chance(together) {
                end = start + 1 + self.rng.below(end - start);
            }
            self.blocks.push(start..end);
            start = end;
        }
        if self.rng.chance(60) {
            let both = self.rng.chance(30);
            for (n, name) in ["x", "buf"].iter().enumerate().take(1 + usize::from(both)) {
                let space = *self.rng.pick(&[Space::Shared, Space::Global]);
                let len = (n == 1 || self.rng.chance(25)).then_some(2);
                self.arrays.push(Array { name: (*name).into(), len, space });
            }
        }
    }

    fn bodies(&mut self) -> Bodies {
        let mut bodies = vec![Vec::new(); self.blocks.len()];
        let phases = self.rng.range(1, 4);
        if self.rng.chance(15) {
            self.toggle = Some("turn".into());
        }
        for _ in 0..phases {
            self.toggled = self.toggle.is_some() && self.rng.chance(70);
            self.sprinkle(&mut bodies);
            let handed = !self.arrays.is_empty() && self.rng.chance(30);
            let array = handed.then(|| self.hand_over(&mut bodies));
            match self.target {
                Target::Ptx | Target::Bcu => self.lanes_phase(&mut bodies),
                Target::Nbarrier | Target::Split | Target::Xegpu => self.thread_phase(&mut bodies),
            }
            if let Some(array) = array {
                self.take_over(&mut bodies, array);
            }
        }
        self.sprinkle(&mut bodies);
        match self.toggle.clone() {
            Some(turn) => self.take_turns(&mut bodies, &turn),
            None => self.repeat(&mut bodies),
        }
        for (block, body) in bodies.iter_mut().enumerate() {
            if self.target == Target::Xegpu {
                self.handles(body);
            }
            match self.rng.below(100) {
                0..5 if self.target != Target::Split || block > 0 => body.clear(),
                5..8 => *body = vec![loop_(vec![])],
                8..11 if !self.arrays.is_empty() => {
                    *body = vec![loop_(vec![self.some_access()])];
                }
                11..14 if !self.arrays.is_empty() => *body = vec![self.some_access()],
                _ => {}
            }
        }
        bodies
    }

    fn assemble(&mut self, bodies: Bodies) -> Protocol {
        let mut size = i64::from(self.agents);
        if self.target.has_lanes() {
            size *= 32;
            if self.rng.chance(20) {
                size -= *self.rng.pick(&[1, 16, 30, 31]);
            }
        }
        let subgroup_size = (self.target == Target::Split && self.rng.chance(70))
            .then(|| i64::from(self.rng.range(1, self.agents + 1)));
        let roles = ["first", "second", "third", "fourth"];
        let empty = Protocol::empty(self.target, size);
        let mut protocol = Protocol { subgroup_size, arrays: self.arrays.clone(), ..empty };
        for (n, body) in bodies.into_iter().enumerate() {
            protocol.blocks.push(Block {
                agents: self.blocks[n].clone(),
                role: self.rng.chance(30).then(|| roles[n].into()),
                body,
            });
        }
        protocol.number();
        protocol
    }

    /// A name that is not in use yet.
    pub fn fresh(&mut self, stem: &str) -> Name {
        self.serial += 1;
        format!("{stem}{}", self.serial).into()
    }

    /// A new loop counter, sometimes under the printed name of another one.
    fn counter(&mut self) -> Name {
        self.serial += 1;
        if self.rng.chance(40) {
            format!("i#{}", self.serial).into()
        } else {
            format!("i{}", self.serial).into()
        }
    }

    /// Puts the whole of every agent's work into a loop, the same for all or nearly so.
    fn repeat(&mut self, bodies: &mut Bodies) {
        let name = self.rng.chance(70).then(|| "TILE".into());
        let rounds = self.rng.range(2, 4);
        let how = self.rng.below(100);
        for body in bodies {
            let inside = std::mem::take(body);
            let off = self.rng.chance(6);
            *body = match how {
                0..18 => {
                    let counter = self.counter();
                    vec![for_(&counter, 0, rounds + i32::from(off), inside)]
                }
                18..32 => vec![loop_(inside)],
                32..40 => vec![while_(Cond::Uniform(name.clone()), inside)],
                40..44 => vec![while_(Cond::Choice, inside)],
                44..48 => {
                    let mut all = inside;
                    let leave = vec![stmt(Kind::Break)];
                    all.push(stmt(Kind::If(Cond::Uniform(name.clone()), leave, vec![])));
                    vec![loop_(all)]
                }
                _ => inside,
            };
        }
    }

    /// Puts the whole of every agent's work into a loop of alternating rounds.
    fn take_turns(&mut self, bodies: &mut Bodies, turn: &Name) {
        let endless = self.rng.chance(50);
        for body in bodies {
            let mut inside = std::mem::take(body);
            let flip = Expr::Int(1) - Expr::Var(turn.clone());
            inside.push(stmt(Kind::Assign(turn.clone(), Rhs::Expr(flip))));
            body.push(stmt(Kind::Let(turn.clone(), Rhs::Expr(0.into()))));
            body.push(if endless { loop_(inside) } else { for_(&self.counter(), 0, 2, inside) });
        }
    }

    /// The id operand of the present phase.
    pub fn id_operand(&self, id: i32) -> Expr {
        match &self.toggle {
            Some(turn) if self.toggled => Expr::Var(turn.clone()) + id,
            _ => id.into(),
        }
    }

    /// An index expression with values mostly inside an array of two.
    pub fn index(&mut self) -> Expr {
        match self.rng.below(10) {
            0..4 => Expr::Int(self.rng.below(2) as i64),
            4..7 => own() % 2,
            7 if self.target.has_lanes() => lane() % 2,
            8 => Expr::Int(0),
            9 if self.rng.chance(25) => own() + 1,
            _ => Expr::Int(1),
        }
    }

    pub fn some_access(&mut self) -> Stmt {
        use AccessKind::{Atomic, Read, Write};
        let kind = *self.rng.pick(&[Read, Read, Read, Write, Write, Atomic]);
        self.access_of(kind)
    }

    fn access_of(&mut self, kind: AccessKind) -> Stmt {
        let array = self.rng.below(self.arrays.len());
        let index = self.arrays[array].len.map(|_| self.index());
        access(kind, array, index)
    }

    /// Accesses between phases: by one agent, or by all agents of a block.
    fn sprinkle(&mut self, bodies: &mut Bodies) {
        if self.arrays.is_empty() {
            return;
        }
        for body in bodies {
            if !self.rng.chance(45) {
                continue;
            }
            let mut what = vec![self.some_access()];
            if self.rng.chance(50) {
                what.extend(self.fence());
            }
            if self.rng.chance(50) {
                let agent = self.rng.range(0, self.agents);
                body.push(if_(eq(own(), agent), what, vec![]));
            } else {
                body.extend(what);
            }
        }
    }

    /// One agent writes what others are to read after the coming phase; the array's number.
    fn hand_over(&mut self, bodies: &mut Bodies) -> usize {
        let array = self.rng.below(self.arrays.len());
        let writer = self.rng.below(self.agents as usize);
        let block = self.block_with(writer);
        let kind = if self.rng.chance(80) { AccessKind::Write } else { AccessKind::Atomic };
        let index = self.arrays[array].len.map(|_| Expr::Int(0));
        let mut what = vec![access(kind, array, index)];
        if self.rng.chance(60) {
            what.extend(self.fence());
        }
        // Now and then that is all the writer does.
        if self.rng.chance(12) {
            what.push(exit());
        }
        if self.blocks[block].len() > 1 {
            what = vec![if_(eq(own(), writer as i32), what, vec![])];
        }
        bodies[block].extend(what);
        array
    }

    fn take_over(&mut self, bodies: &mut Bodies, array: usize) {
        let index = self.arrays[array].len.map(|_| Expr::Int(0));
        for body in bodies {
            if self.rng.chance(80) {
                body.push(access(AccessKind::Read, array, index.clone()));
            }
        }
    }

    fn block_with(&self, agent: usize) -> usize {
        let block = self.blocks.iter().position(|b| b.contains(&agent));
        block.expect("every agent is in a block")
    }

    /// A fence of the target, if it has one that stands alone.
    pub fn fence(&mut self) -> Option<Stmt> {
        let space = *self.rng.pick(&[None, None, Some(Space::Shared), Some(Space::Global)]);
        match self.target {
            Target::Ptx => Some(instr(Instr::PtxFence(*self.rng.pick(&Fence::ALL)))),
            Target::Bcu => None,
            Target::Nbarrier => Some(instr(Instr::Fence(space))),
            Target::Xegpu => Some(instr(Instr::Mfence(space))),
            Target::Split => {
                Some(instr(Instr::MemoryBarrier { memory: self.memory_scope(), semantics: self.semantics() }))
            }
        }
    }

    /// A number near the right one: mostly itself.
    pub fn about(&mut self, right: i32, unit: i32) -> i32 {
        match self.rng.below(100) {
            0..2 => right - unit,
            2..4 => right + unit,
            4 => *self.rng.pick(&[0, -1, 1, 48, 5000]),
            _ => right,
        }
    }

    /// The id of a barrier: one of few.
    pub fn id(&mut self) -> i32 {
        match self.rng.below(100) {
            0..55 => 1,
            55..75 => 2,
            75..94 => 0,
            94..97 => *self.rng.pick(&[3, 15]),
            97..99 => *self.rng.pick(&[16, 32]),
            _ => -1,
        }
    }

    /// Which blocks take part in a phase, at least one, mostly all.
    pub fn participants(&mut self) -> Vec<bool> {
        let all = self.rng.chance(75);
        let mut chosen: Vec<bool> = self.blocks.iter().map(|_| all || self.rng.chance(60)).collect();
        if !chosen.contains(&true) {
            chosen[0] = true;
        }
        chosen
    }

    /// The number of agents in the chosen blocks.
    pub fn population(&self, chosen: &[bool]) -> i32 {
        let blocks = self.blocks.iter().zip(chosen);
        blocks.filter(|(_, c)| **c).map(|(b, _)| b.len() as i32).sum()
    }

    /// A condition on the agent, on its lanes, or on nothing.
    pub fn condition(&mut self) -> Cond {
        let agent = self.rng.range(0, self.agents);
        match self.rng.below(12) {
            0..3 => Cond::Expr(eq(own(), agent)),
            3 => Cond::Expr(lt(own(), agent)),
            4..6 => Cond::Choice,
            6 => Cond::Uniform(None),
            7 => Cond::Uniform(Some("TILE".into())),
            8..11 if self.target.has_lanes() => {
                let bound = *self.rng.pick(&[1, 2, 16]);
                Cond::Expr(lt(lane(), bound))
            }
            11 if self.target.has_lanes() => Cond::Expr(eq(lane() % 2, own() % 2)),
            _ => Cond::Expr(bin(Op::Ne, own() & 1, 0)),
        }
    }

    /// A local and something that depends on it.
    fn local(&mut self) -> Stmt {
        let name = self.fresh("v");
        let value = match self.rng.below(8) {
            0 => Expr::Int(2) / (own() - self.rng.range(0, 3)),
            1..5 if self.target.has_lanes() => lane() % 2 + own(),
            _ => own() % 2,
        };
        let test = bin(Op::Gt, Expr::Var(name.clone()), self.rng.range(0, 2));
        let what = self.some_stmt();
        let is_instr = matches!(what.kind, Kind::Instr(_));
        let guarded = if self.target.has_lanes() && is_instr && self.rng.chance(40) {
            stmt(Kind::Guard { negated: self.rng.chance(40), name: name.clone(), instr: Box::new(what) })
        } else {
            if_(test, vec![what], vec![])
        };
        let inside = vec![stmt(Kind::Let(name, Rhs::Expr(value))), guarded];
        if_(1, inside, vec![])
    }

    /// A statement for any place, of no particular use.
    pub fn some_stmt(&mut self) -> Stmt {
        match self.rng.below(14) {
            0..3 if !self.arrays.is_empty() => self.some_access(),
            3 => exit(),
            4 => stmt(Kind::If(self.condition(), vec![exit()], vec![])),
            5 => {
                let bound = self.rng.range(0, self.agents);
                assert_(bin(Op::Le, own(), bound))
            }
            6 => self.local(),
            7 => {
                let name = self.fresh("a");
                let top = self.rng.range(1, 3);
                let rhs = Rhs::Any(0.into(), own() % 2 + top);
                stmt(Kind::Let(name, rhs))
            }
            8 if self.rng.chance(35) => loop_(vec![]),
            9 => self.fence().unwrap_or_else(|| assert_(1)),
            _ => match self.target {
                Target::Ptx | Target::Bcu => self.lanes_instr(),
                _ => self.thread_instr(),
            },
        }
    }
}

impl std::ops::BitAnd<i32> for Expr {
    type Output = Expr;
    fn bitand(self, other: i32) -> Expr {
        bin(Op::BitAnd, self, other)
    }
}
