//! What warps do with each other: one phase of a `ptx` or `bcu` protocol, and odd instructions.

use super::build::*;
use super::generate::{Bodies, Gen};
use super::protocol::*;

const OPS: [RedOp; 3] = [RedOp::And, RedOp::Or, RedOp::Popc];

impl Gen {
    /// Some blocks meet on a barrier.
    pub fn lanes_phase(&mut self, bodies: &mut Bodies) {
        let chosen = self.participants();
        let count = 32 * self.population(&chosen);
        let id = self.id();
        let how = self.rng.below(100);
        let arriver = self.rng.below(bodies.len());
        let op = *self.rng.pick(&OPS);
        for (block, body) in bodies.iter_mut().enumerate() {
            if !chosen[block] {
                continue;
            }
            let count = self.about(count, 32);
            if self.target == Target::Ptx {
                match how {
                    0..30 => body.push(self.ptx_meeting(id, Some(count), false)),
                    30..42 => body.push(self.ptx_meeting(id, None, false)),
                    42..65 => {
                        let arrives = block == arriver && chosen.len() > 1;
                        body.push(self.ptx_meeting(id, Some(count), arrives));
                    }
                    65..72 => {
                        let agent = self.rng.range(0, self.agents);
                        let first = self.ptx_meeting(id, Some(count), true);
                        let second = self.ptx_meeting(id, Some(count), false);
                        body.push(if_(eq(own(), agent), vec![first], vec![second]));
                    }
                    _ => self.ptx_reduction(body, op, id, count),
                }
            } else {
                match how {
                    0..25 => self.bcu_meeting(body, id, count, false),
                    25..37 => self.bcu_meeting(body, id, 0, false),
                    37..55 => {
                        let arrives = block == arriver && chosen.len() > 1;
                        self.bcu_meeting(body, id, count, arrives);
                    }
                    55..60 => {
                        let agent = self.rng.range(0, self.agents);
                        let (mut first, mut second) = (vec![], vec![]);
                        self.bcu_meeting(&mut first, id, count, true);
                        self.bcu_meeting(&mut second, id, count, false);
                        body.push(if_(eq(own(), agent), first, second));
                    }
                    60..68 => self.saved_state(body, id, count),
                    _ => {
                        // Reductions have ids of their own.
                        let id = if self.rng.chance(88) { id + 4 } else { id };
                        self.bcu_reduction(body, op, id, count);
                    }
                }
            }
        }
    }

    /// A barrier instruction of ptx that does not reduce, by whole warps or by parts of them.
    fn ptx_meeting(&mut self, id: i32, count: Option<i32>, arrives: bool) -> Stmt {
        let aligned = self.rng.chance(55);
        let simple = |aligned: bool, id: Expr| {
            let count = count.map(Expr::from);
            instr(if arrives {
                Instr::Arrive { id, count, aligned }
            } else {
                Instr::Sync { id, count, aligned }
            })
        };
        match self.rng.below(100) {
            0..12 => {
                let bound = *self.rng.pick(&[1, 2, 16]);
                let aligned = aligned && self.rng.chance(20);
                let then = vec![simple(aligned, self.id_operand(id))];
                let mut other = vec![simple(aligned, self.id_operand(id))];
                if self.rng.chance(30) {
                    other.clear();
                }
                if self.rng.chance(25) {
                    other.insert(0, self.some_stmt());
                }
                if_(lt(lane(), bound), then, other)
            }
            12..15 => simple(aligned, lane() % 2 + id),
            15..18 => simple(aligned, own() % 2 + id),
            _ => simple(aligned, self.id_operand(id)),
        }
    }

    fn predicate(&mut self) -> Pred {
        if self.rng.chance(25) {
            return Pred::Any;
        }
        let expr = match self.rng.below(4) {
            0 => lt(lane(), own() + 1),
            1 => eq(own(), 0),
            2 => Expr::Int(1),
            _ => bin(Op::Ne, own() & 1, 0),
        };
        Pred::Expr { negated: self.rng.chance(20), expr }
    }

    fn ptx_reduction(&mut self, body: &mut Vec<Stmt>, op: RedOp, id: i32, count: i32) {
        let op = if self.rng.chance(9) { *self.rng.pick(&OPS) } else { op };
        let dest = self.rng.chance(75).then(|| self.fresh("d"));
        if let Some(dest) = &dest {
            body.push(stmt(Kind::Let(dest.clone(), Rhs::Expr(0.into()))));
        }
        body.push(instr(Instr::Red {
            op,
            dest: dest.clone(),
            id: self.id_operand(id),
            count: self.rng.chance(75).then(|| count.into()),
            pred: self.predicate(),
            aligned: self.rng.chance(60),
        }));
        if let Some(dest) = dest {
            self.use_result(body, &dest, op);
        }
    }

    /// Something that depends on what a reduction yielded.
    fn use_result(&mut self, body: &mut Vec<Stmt>, dest: &Name, op: RedOp) {
        let value = Expr::Var(dest.clone());
        let test = if op == RedOp::Popc { bin(Op::Gt, value, self.rng.range(0, 34)) } else { value };
        match self.rng.below(4) {
            0 => {
                let what = self.some_stmt();
                body.push(if_(test, vec![what], vec![]));
            }
            1 => body.push(assert_(test)),
            2 if !self.arrays.is_empty() => {
                let what = self.some_access();
                body.push(if_(test, vec![what], vec![]));
            }
            _ => {}
        }
    }

    /// An id or count operand, sometimes through a register.
    fn through_register(&mut self, body: &mut Vec<Stmt>, value: i32, bits: u32) -> Expr {
        if value < 0 || !self.rng.chance(25) {
            return value.into();
        }
        let register = *self.rng.pick(&["R4", "R5"]);
        let surplus = if self.rng.chance(20) { 1 << bits } else { 0 };
        body.push(set(register, value + surplus));
        v(register)
    }

    fn bcu_meeting(&mut self, body: &mut Vec<Stmt>, id: i32, count: i32, arrives: bool) {
        let id = match self.id_operand(id) {
            Expr::Int(_) => self.through_register(body, id, 4),
            computed => computed,
        };
        // One register cannot hold both operands.
        let direct = matches!(id, Expr::Var(_));
        let count_operand = if direct { count.into() } else { self.through_register(body, count, 12) };
        let what = instr(if arrives {
            Instr::BarArv { id, count: count_operand }
        } else {
            let omitted = count == 0 && self.rng.chance(70);
            Instr::BarSync { id, count: (!omitted).then_some(count_operand) }
        });
        let divided = match self.rng.below(100) {
            0..6 => {
                let bound = *self.rng.pick(&[1, 16]);
                if_(lt(lane(), bound), vec![what.clone()], vec![what])
            }
            6..10 => if_(lt(lane(), 16), vec![what], vec![]),
            10..14 => {
                let agent = self.rng.range(0, self.agents);
                body.push(set("P2", eq(own(), agent)));
                stmt(Kind::Guard { negated: self.rng.chance(60), name: "P2".into(), instr: Box::new(what) })
            }
            _ => what,
        };
        body.push(divided);
    }

    fn bcu_reduction(&mut self, body: &mut Vec<Stmt>, op: RedOp, id: i32, count: i32) {
        let op = if self.rng.chance(9) { *self.rng.pick(&OPS) } else { op };
        let pred = self.predicate();
        if self.rng.chance(25) && id >= 0 && count >= 0 {
            let surplus = if self.rng.chance(15) { 1 << 16 } else { 0 };
            body.push(set("R6", (id | (count << 4)) + surplus));
            body.push(instr(Instr::BarRedPacked { op, packed: "R6".into(), pred }));
        } else {
            body.push(instr(Instr::BarRed {
                op,
                id: id.into(),
                count: self.rng.chance(80).then(|| count.into()),
                pred,
            }));
        }
        let popc = (op == RedOp::Popc) != self.rng.chance(5);
        match self.rng.below(10) {
            0..3 if popc => {
                let keeps = if self.rng.chance(30) { Some("PT") } else { None };
                body.push(b2r_result("R7", keeps));
                self.use_result(body, &"R7".into(), RedOp::Popc);
            }
            0..3 => {
                body.push(b2r_result("RZ", Some("P1")));
                self.use_result(body, &"P1".into(), RedOp::And);
            }
            3..5 => body.push(b2r_result("RZ", None)),
            5 => {
                let id = self.rng.chance(30).then_some(Expr::Int(4));
                body.push(instr(Instr::B2rWarp { rd: "R9".into(), id }));
                if self.rng.chance(60) {
                    body.push(instr(Instr::R2bWarp { id: None, ra: "R9".into() }));
                    body.push(b2r_result(if popc { "R7" } else { "RZ" }, None));
                }
            }
            _ => {}
        }
    }

    /// A barrier's state is saved, used, and put back.
    fn saved_state(&mut self, body: &mut Vec<Stmt>, id: i32, count: i32) {
        let (mut register, other) = if self.rng.chance(60) { ("R8", "R10") } else { ("R10", "R8") };
        body.push(b2r_bar(register, id));
        if self.rng.chance(15) {
            // Half of the lanes read it apart from the others.
            body.push(if_(lt(lane(), 16), vec![b2r_bar(register, id)], vec![]));
        }
        if self.rng.chance(80) {
            let arrives = self.rng.chance(40);
            self.bcu_meeting(body, id, count, arrives);
        }
        if self.rng.chance(20) {
            let read = self.id();
            body.push(b2r_bar(other, read));
        }
        match self.rng.below(100) {
            0..5 => register = "R4",
            5..15 => register = other,
            _ => {}
        }
        let onto = if self.rng.chance(15) { self.id() } else { id };
        let back = r2b_bar(onto, register);
        if self.rng.chance(50) {
            let agent = self.rng.range(0, self.agents);
            body.push(if_(eq(own(), agent), vec![back], vec![]));
        } else {
            body.push(back);
        }
    }

    /// An instruction that belongs to nothing else.
    pub fn lanes_instr(&mut self) -> Stmt {
        let id = self.id();
        let right = 32 * self.rng.range(1, self.agents + 1);
        let count = self.about(right, 32);
        let op = *self.rng.pick(&OPS);
        if self.target == Target::Ptx {
            return match self.rng.below(8) {
                0 => instr(Instr::Arrive { id: id.into(), count: None, aligned: true }),
                1 => red(op, None, id, count, self.predicate()),
                2..4 => self.ptx_meeting(id, Some(count), true),
                4 => self.ptx_meeting(id, None, false),
                _ => self.ptx_meeting(id, Some(count), false),
            };
        }
        match self.rng.below(12) {
            0..2 => bar_arv(id, count),
            2..4 => bar_sync(id, count),
            4 => bar_sync(id, 0),
            5 => bar_red(op, id, count, self.predicate()),
            6 => b2r_result("R7", None),
            7 => b2r_result("RZ", Some("P1")),
            8 => b2r_bar("R8", id),
            9 => r2b_bar(id, "R8"),
            10 => instr(Instr::B2rWarp { rd: "R9".into(), id: None }),
            _ => b2r_result("RZ", None),
        }
    }
}
