//! Random protocols of loops that ask and that are not quite the loops which are waits.

use super::build::*;
use super::build_mbarrier::*;
use super::generate_mbarrier::{Bodies, Maker};
use super::protocol::*;
use AccessKind::{Read, Write};

fn leave() -> Vec<Stmt> {
    vec![stmt(Kind::Break)]
}

impl Maker {
    /// One warp arrives, or not, and others ask in loops.
    pub fn odd_loops(&mut self) -> Bodies {
        self.warps = self.rng.range(1, 4) as usize;
        let (b, c) = (self.rng.range(1, 3), self.rng.range(1, 3));
        self.objects("b", None, b);
        self.objects("c", None, c);
        self.array("x", None);
        (0..self.warps)
            .map(|warp| {
                let mut does = Vec::new();
                for _ in 0..self.rng.range(0, 3) {
                    let on = object(self.rng.below(2));
                    does.push(match self.rng.below(6) {
                        0..4 => one_lane(vec![on.arrive()]),
                        4 => access(Write, 0, None),
                        _ => on.wait(self.rng.range(0, 2)),
                    });
                }
                if warp > 0 || self.rng.chance(50) {
                    does.extend(self.odd_loop());
                    does.push(access(Read, 0, None));
                }
                does
            })
            .collect()
    }

    fn odd_loop(&mut self) -> Vec<Stmt> {
        let on = object(self.rng.below(2));
        let other = object(self.rng.below(2));
        let parity = self.rng.range(0, 2);
        let may_miss = self.rng.chance(40);
        let asks = |on: &Object, parity: Expr| on.on(ask(may_miss, Phase::Parity(parity)));
        let once = asks(&on, parity.into());
        let again = asks(&other, self.rng.range(0, 2).into());
        let (n, r) = (self.fresh("n"), self.fresh("r"));
        let counts = set(&n, v(&n) + 1);
        match self.rng.below(14) {
            0 => vec![
                let_(&n, parity),
                loop_(vec![if_asked(false, asks(&on, v(&n)), leave()), set(&n, v(&n) ^ 1)]),
            ],
            1 => vec![
                let_(&n, 0),
                loop_(vec![if_asked(false, once, leave()), counts, if_(eq(v(&n), 2), leave(), vec![])]),
            ],
            2 => vec![loop_(vec![let_on(&n, once), if_(v(&n), leave(), vec![]), let_on(&r, again)])],
            3 => vec![
                let_(&n, 0),
                while_(Cond::Expr(Expr::Not(Box::new(v(&n)))), vec![set_on(&n, once), access(Read, 0, None)]),
            ],
            4 => vec![loop_(vec![maybe(leave(), vec![]), if_asked(false, once, leave())])],
            5 => vec![loop_(vec![let_on(&n, once), if_(Expr::Not(Box::new(v(&n))), leave(), vec![])])],
            6 => vec![for_(&n, 0, 2, vec![if_asked(false, once, leave())])],
            7 => vec![loop_(vec![if_asked(false, once, vec![if_asked(false, again, leave())])])],
            8 => vec![loop_(vec![if_asked(true, once, vec![stmt(Kind::Continue)]), stmt(Kind::Break)])],
            9 => vec![loop_(vec![if_asked(false, once, vec![access(Read, 0, None), stmt(Kind::Break)])])],
            10 => vec![while_(Cond::Ask { negated: true, on: once }, vec![one_lane(vec![other.arrive()])])],
            11 => vec![while_(Cond::Ask { negated: false, on: once }, vec![])],
            12 => vec![while_(Cond::Ask { negated: true, on: once }, vec![other.wait(parity)])],
            _ => vec![
                let_(&n, 0),
                loop_(vec![
                    set_on(&n, once),
                    if_(v(&n), leave(), vec![]),
                    set_on(&n, again),
                    if_(v(&n), leave(), vec![]),
                ]),
            ],
        }
    }
}
