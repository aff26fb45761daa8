//! Small damage to a toy protocol.

use super::generate::Rng;
use super::protocol::{AccessKind, Protocol, Stmt, arrive, sync};

/// The protocol with one random change; after some tries, unchanged.
pub(crate) fn damaged(rng: &mut Rng, protocol: &Protocol) -> Protocol {
    let scene = Scene { threads: protocol.threads() as i64, locations: protocol.locations };
    for _ in 0..20 {
        let mut changed = protocol.clone();
        let role = rng.below(changed.roles.len());
        scene.change(rng, &mut changed.roles[role].body);
        if changed.well_formed() && changed != *protocol {
            return changed;
        }
    }
    protocol.clone()
}

/// What statements can refer to.
struct Scene {
    threads: i64,
    locations: usize,
}

impl Scene {
    /// Changes something in this list or, more often, further inside.
    fn change(&self, rng: &mut Rng, list: &mut Vec<Stmt>) {
        if list.is_empty() {
            list.push(self.some_stmt(rng));
            return;
        }
        let at = rng.below(list.len());
        let mut arms = list[at].arms_mut();
        if !arms.is_empty() && rng.chance(80) {
            let arm = rng.below(arms.len());
            self.change(rng, arms[arm]);
            return;
        }
        match rng.below(16) {
            0..3 => {
                list.remove(at);
            }
            3 => {
                let copy = list[at].clone();
                list.insert(at, copy);
            }
            4 => {
                let other = (at + 1) % list.len();
                list.swap(at, other);
            }
            5..8 => {
                let new = self.some_stmt(rng);
                list.insert(at, new);
            }
            8 => Self::wrap(rng, &mut list[at]),
            _ => self.operand(rng, &mut list[at]),
        }
    }

    fn wrap(rng: &mut Rng, stmt: &mut Stmt) {
        let inside = vec![stmt.clone()];
        *stmt = match rng.below(6) {
            0..3 => Stmt::If(inside, Vec::new()),
            3 => Stmt::Loop(inside),
            4 => Stmt::For(2, inside),
            _ => Stmt::While(inside),
        };
    }

    /// Another barrier, another count, another instruction; others are left as they are.
    fn operand(&self, rng: &mut Rng, stmt: &mut Stmt) {
        match stmt {
            Stmt::Arrive { barrier, count, blocks } => match rng.below(10) {
                0..3 => *barrier = if rng.chance(35) { rng.pick(&[-1, 4, 5]) } else { rng.below(4) as i64 },
                3..5 => *count += rng.pick(&[-1, 1]),
                5 => *count = rng.pick(&[0, self.threads, self.threads + 1]),
                _ => *blocks = !*blocks,
            },
            Stmt::Access(kind, location) => {
                *kind = rng.pick(&[AccessKind::Read, AccessKind::Write, AccessKind::Atomic]);
                *location = rng.below(self.locations);
            }
            _ => {}
        }
    }

    fn some_stmt(&self, rng: &mut Rng) -> Stmt {
        if self.locations > 0 && rng.chance(60) {
            let kind =
                rng.pick(&[AccessKind::Read, AccessKind::Write, AccessKind::Write, AccessKind::Atomic]);
            return Stmt::Access(kind, rng.below(self.locations));
        }
        let (barrier, count) = (rng.below(4) as i64, 1 + rng.below(self.threads as usize) as i64);
        if rng.chance(50) { arrive(barrier, count) } else { sync(barrier, count) }
    }
}
