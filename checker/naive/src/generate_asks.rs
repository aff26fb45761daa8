//! Random protocols of warps that ask mbarrier objects whether phases are complete, and that keep tokens
//! of their arrivals.

use super::build::*;
use super::build_mbarrier::*;
use super::damage_cluster::damaged;
use super::generate::Rng;
use super::generate_mbarrier::{Bodies, Maker, generate_mbarrier};
use super::protocol::*;
use super::wellformed::well_formed;
use AccessKind::{Read, Write};

/// The protocol of a seed.
pub fn generate_asks(seed: u64) -> Protocol {
    let mut maker = Maker::new(Rng::new(seed ^ 0x6173_6b73), &[1, 2, 2, 2, 2, 2, 3]);
    let mut protocol = match maker.rng.below(13) {
        0..5 => {
            let made = generate_mbarrier(maker.rng.number());
            maker.warps = made.per_cta();
            maker.arrays = made.arrays.clone();
            maker.objects = made.objects.clone();
            made
        }
        5..8 => {
            let bodies = maker.rounds_of_tokens();
            maker.assemble(bodies)
        }
        8..11 => {
            let bodies = maker.odd_loops();
            return finished(maker, bodies);
        }
        11 => {
            let bodies = maker.kept_tokens();
            maker.assemble(bodies)
        }
        _ => {
            let bodies = maker.looks();
            maker.assemble(bodies)
        }
    };
    if maker.rng.chance(12) {
        maker.relaxed(1, protocol.blocks.iter_mut().map(|block| &mut block.body));
    }
    for block in &mut protocol.blocks {
        maker.asked(&mut block.body);
    }
    protocol.number();
    let damages = *maker.rng.pick(&[0, 0, 0, 1, 1, 2]);
    for _ in 0..damages {
        protocol = damaged(&mut maker, &protocol);
    }
    protocol.number();
    assert!(well_formed(&protocol), "seed {seed}:\n{}", protocol.text());
    protocol
}

/// What has to stay as it is, but for little.
fn finished(mut maker: Maker, bodies: Bodies) -> Protocol {
    let mut protocol = maker.assemble(bodies);
    if maker.rng.chance(30) {
        protocol = damaged(&mut maker, &protocol);
    }
    protocol.number();
    protocol
}

impl Maker {
    pub fn asking(&mut self) -> Asking {
        *self.rng.pick(&[Asking::While, Asking::If, Asking::Kept, Asking::Flag])
    }

    /// Waits as loops that ask, or with a question before them; some only ask.
    pub fn asked(&mut self, list: &mut Vec<Stmt>) {
        let mut at = 0;
        while at < list.len() {
            match &mut list[at].kind {
                Kind::For { body, .. } | Kind::Loop(body) | Kind::While(_, body) => self.asked(body),
                Kind::If(_, then, other) => {
                    self.asked(then);
                    self.asked(other);
                }
                _ => {}
            }
            let Kind::Instr(Instr::Mbarrier(on)) = &list[at].kind else {
                at += 1;
                continue;
            };
            let of = match &on.act {
                Act::Wait(parity) => Phase::Parity(parity.clone()),
                Act::WaitToken(token) => Phase::Token(token.clone()),
                _ => {
                    at += 1;
                    continue;
                }
            };
            let on = on.clone();
            let rest = list.split_off(at + 1);
            let (new, rest) = self.instead(&on, of, &list[at].clone(), rest);
            list.pop();
            list.extend(new);
            at = list.len();
            list.extend(rest);
        }
    }

    /// What stands for a wait, and what comes behind it.
    fn instead(
        &mut self,
        on: &Mbarrier,
        of: Phase,
        wait: &Stmt,
        mut rest: Vec<Stmt>,
    ) -> (Vec<Stmt>, Vec<Stmt>) {
        let asks = |may_miss| Mbarrier { act: ask(may_miss, of.clone()), ..on.clone() };
        let may_miss = self.rng.chance(60);
        match self.rng.below(100) {
            0..25 => {
                let act = Act::AskUntil(self.asking(), of.clone());
                (vec![instr(Instr::Mbarrier(Mbarrier { act, ..on.clone() }))], rest)
            }
            25..35 => {
                let ready = self.fresh("ready");
                let waits = if_(Expr::Not(Box::new(v(&ready))), vec![wait.clone()], vec![]);
                (vec![let_on(&ready, asks(may_miss)), waits], rest)
            }
            35..42 => (vec![if_asked(true, asks(may_miss), vec![wait.clone()])], rest),
            42..45 => (vec![let_on(&self.fresh("ready"), asks(may_miss))], rest),
            45..48 if !rest.is_empty() => {
                let then = vec![rest.remove(0)];
                // A local of the arm would be missed behind it.
                if then[0].any(&|s| matches!(s.kind, Kind::Let(..))) {
                    return (vec![wait.clone(), then[0].clone()], rest);
                }
                (vec![if_asked(false, asks(may_miss), then)], rest)
            }
            48..52 => (vec![wait.clone(), let_on(&self.fresh("again"), asks(may_miss))], rest),
            _ => (vec![wait.clone()], rest),
        }
    }

    /// All arrive and wait with the token that they got.
    fn rounds_of_tokens(&mut self) -> Bodies {
        let n = self.warps as i32;
        let whole = self.rng.chance(50);
        let count = if whole { 32 * n } else { n };
        let both = self.rng.chance(60);
        let (filled, seen) = (self.objects("filled", None, count), self.objects("seen", None, count));
        let x = self.array("x", None);
        let writer = self.rng.below(self.warps);
        let brings = self.rng.chance(25);
        let between = self.rng.chance(40);
        let meet = |maker: &mut Self, objects: usize, token: &str, parity: Expr| {
            let on = object(objects);
            if !both && objects == seen {
                let arrive = if whole { on.arrive() } else { one_lane(vec![on.arrive()]) };
                return vec![arrive, on.wait(parity)];
            }
            let mut does = vec![let_on(token, on.on(arrival(None)))];
            if between {
                does.extend(maker.sometimes(assert_(1)));
            }
            does.push(on.wait_token(token));
            if whole { does } else { vec![one_lane(does)] }
        };
        (0..self.warps)
            .map(|warp| {
                self.framed(1, |maker, turn| {
                    let mut does = Vec::new();
                    if warp == writer && brings {
                        let on = object(filled);
                        does.push(one_lane(vec![on.expect(16), on.copy(16, x)]));
                    } else if warp == writer {
                        does.push(access(Write, x, None));
                    }
                    does.extend(meet(maker, filled, "t", turn.parity.clone()));
                    does.push(access(Read, x, None));
                    does.extend(meet(maker, seen, "u", turn.parity.clone()));
                    does
                })
            })
            .collect()
    }

    /// A token is kept from one round to the next.
    fn kept_tokens(&mut self) -> Bodies {
        let n = self.warps as i32;
        let b = object(self.objects("b", None, 32 * n));
        let x = self.array("x", None);
        let rounds = self.rng.range(1, 4);
        let late = self.rng.chance(15);
        (0..self.warps)
            .map(|warp| {
                let first = let_on("t", b.on(arrival(None)));
                let mut body = vec![b.wait_token("t"), set_on("t", b.on(arrival(None)))];
                if self.rng.chance(50) {
                    body.insert(1, access(Read, x, None));
                }
                if self.rng.chance(20) {
                    body.push(maybe(vec![b.wait_token("t")], vec![]));
                }
                let mut does = vec![first, for_("i", 0, rounds, body)];
                if warp == 0 && self.rng.chance(50) {
                    does.insert(0, access(Write, x, None));
                }
                if late {
                    does.extend([b.wait_token("t"), let_on("u", b.on(ask(false, Phase::Token("t".into()))))]);
                } else {
                    does.push(b.wait_token("t"));
                }
                does
            })
            .collect()
    }

    /// Somebody looks at a phase now and then, and does something else meanwhile.
    fn looks(&mut self) -> Bodies {
        let count = self.warps as i32;
        let b = object(self.objects("b", None, count));
        let (x, y) = (self.array("x", None), self.array("y", None));
        let times = self.rng.range(1, 4);
        (0..self.warps)
            .map(|warp| {
                let parity = self.rng.range(0, 2);
                let may_miss = self.rng.chance(50);
                let asks = b.on(ask(may_miss, Phase::Parity(parity.into())));
                let look = match self.rng.below(4) {
                    0 => vec![if_asked(false, asks, vec![access(Read, x, None)])],
                    1 => vec![
                        let_("seen", 0),
                        set_on("seen", asks),
                        if_(v("seen"), vec![access(Read, x, None)], vec![]),
                    ],
                    2 => vec![
                        if_asked(true, asks, vec![access(Read, y, None), stmt(Kind::Continue)]),
                        access(Read, x, None),
                    ],
                    _ => vec![if_asked(false, asks, vec![access(Read, x, None), stmt(Kind::Break)])],
                };
                let looks = match self.rng.below(6) {
                    0..4 => for_("i", 0, times, look),
                    4 => while_(Cond::Choice, look),
                    _ => loop_(look),
                };
                let mut does = vec![one_lane(vec![b.arrive()]), looks];
                if warp == 0 {
                    does.insert(0, access(Write, x, None));
                }
                if self.rng.chance(50) {
                    does.push(b.wait(0));
                }
                does
            })
            .collect()
    }
}
