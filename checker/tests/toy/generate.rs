//! Random toy protocols. They begin as rounds that work, or nearly, because statements that have nothing to
//! do with each other fail at once and in the same few ways; many are then damaged a little.

use super::damage::damaged;
use super::protocol::{Protocol, Stmt, arrive, atomic, of_roles, read, sync, write};
use std::collections::BTreeSet;

/// A small deterministic random number generator (xorshift).
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        // Neighbouring seeds should not begin alike, and 0 is a state that is never left.
        let mut rng = Self((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        for _ in 0..8 {
            rng.next();
        }
        rng
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        // The low bits are the weakest.
        ((self.next() >> 24) % n as u64) as usize
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

/// What is right to do with a location until all threads meet again.
#[derive(Clone, Copy)]
enum Use {
    /// Nothing: it was handed on.
    Nothing,
    /// Anything, by the one thread of this role.
    Own(usize),
    Reads,
    Atomics,
}

/// What surrounds the rounds of all threads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    Once,
    Repeated(usize),
    Endless,
    AsLongAsChosen,
}

struct Gen {
    rng: Rng,
    /// How many threads each role has.
    sizes: Vec<usize>,
    barriers: Vec<i64>,
    /// Barriers of which somebody may not know whether the last delivery has landed.
    dirty: BTreeSet<i64>,
    uses: Vec<Use>,
    bodies: Vec<Vec<Stmt>>,
}

/// The protocol of a seed.
pub(crate) fn generate(seed: u64) -> Protocol {
    let mut rng = Rng::new(seed);
    let mut sizes = Vec::new();
    let mut threads = rng.pick(&[1, 2, 2, 2, 3, 3, 3, 4]);
    while threads > 0 {
        let size = 1 + rng.below(threads);
        let size = if rng.chance(50) { 1 } else { size };
        sizes.push(size);
        threads -= size;
    }
    let mut barriers = vec![0, 1, 2, 3];
    let kept = rng.pick(&[1, 2, 2, 3, 3]);
    while barriers.len() > kept {
        let at = rng.below(barriers.len());
        barriers.remove(at);
    }
    let locations = rng.pick(&[0, 1, 1, 1, 2, 2]);
    let bodies = vec![Vec::new(); sizes.len()];
    let mut g =
        Gen { rng, sizes, barriers, dirty: BTreeSet::new(), uses: vec![Use::Nothing; locations], bodies };
    g.rounds();
    let bodies = std::mem::take(&mut g.bodies);
    let mut protocol = of_roles(locations, g.sizes.iter().copied().zip(bodies).collect());
    for _ in 0..g.rng.pick(&[0, 0, 0, 0, 1, 1, 1, 1, 2, 2]) {
        protocol = damaged(&mut g.rng, &protocol);
    }
    assert!(protocol.well_formed(), "seed {seed}:\n{}", protocol.text());
    protocol
}

impl Gen {
    fn threads(&self) -> i64 {
        self.count(|_| true)
    }

    /// How many threads the roles have for which this holds.
    fn count(&self, holds: impl Fn(usize) -> bool) -> i64 {
        (0..self.sizes.len()).filter(|&role| holds(role)).map(|role| self.sizes[role] as i64).sum()
    }

    fn rounds(&mut self) {
        let frame = match self.rng.below(100) {
            0..40 => Frame::Once,
            40..60 => Frame::Repeated(2 + self.rng.below(2)),
            60..94 => Frame::Endless,
            _ => Frame::AsLongAsChosen,
        };
        let most = if self.threads() > 3 { 2 } else { 3 };
        self.uses_anew();
        for _ in 0..1 + self.rng.below(most) {
            self.accesses(35);
            self.phase();
        }
        let is_repeated = frame != Frame::Once;
        // The next round begins with the first phase again.
        if is_repeated && self.rng.chance(85) {
            self.meeting_of_all();
        } else {
            self.accesses(40);
        }
        for body in &mut self.bodies {
            let round = std::mem::take(body);
            *body = match frame {
                Frame::Repeated(times) if !round.is_empty() => vec![Stmt::For(times, round)],
                Frame::Endless if !round.is_empty() => vec![Stmt::Loop(round)],
                Frame::AsLongAsChosen => vec![Stmt::While(round)],
                _ => round,
            };
        }
        if frame != Frame::Endless && self.rng.chance(20) {
            self.goes_on_for_ever();
        }
    }

    fn phase(&mut self) {
        match self.rng.below(100) {
            0..20 => self.meeting_of_all(),
            20..30 => self.meeting_of_some(),
            30..60 => self.signal(),
            60..85 => self.handshake(),
            85..95 => self.nobody_waits(),
            _ => self.alone(),
        }
    }

    /// A barrier of whose state everybody knows, where there is one.
    fn barrier(&mut self) -> i64 {
        let clean: Vec<i64> = self.barriers.iter().copied().filter(|b| !self.dirty.contains(b)).collect();
        let among = if clean.is_empty() || self.rng.chance(4) { &self.barriers } else { &clean };
        self.rng.pick(among)
    }

    /// Roles that take part: most of them, and at least one.
    fn some_roles(&mut self) -> Vec<usize> {
        let all: Vec<usize> = (0..self.sizes.len()).collect();
        let some: Vec<usize> = all.iter().copied().filter(|_| self.rng.chance(65)).collect();
        if some.is_empty() { vec![self.rng.pick(&all)] } else { some }
    }

    /// An arrival, perhaps with a choice that makes no difference.
    fn put(&mut self, role: usize, arrival: Stmt) {
        let stmt = match self.rng.below(100) {
            0..6 => Stmt::If(vec![arrival.clone()], vec![arrival]),
            6..9 => {
                let access = self.access(role);
                Stmt::If(access.into_iter().chain([arrival.clone()]).collect(), vec![arrival])
            }
            _ => arrival,
        };
        self.bodies[role].push(stmt);
    }

    /// Whoever comes back from it knows that the barrier is idle again, and what all others have done.
    fn meeting_of_all(&mut self) {
        let (barrier, threads) = (self.barrier(), self.threads());
        for role in 0..self.sizes.len() {
            self.put(role, sync(barrier, threads));
        }
        self.dirty.clear();
        self.uses_anew();
    }

    fn meeting_of_some(&mut self) {
        let (barrier, roles) = (self.barrier(), self.some_roles());
        let count = self.count(|role| roles.contains(&role));
        for role in roles {
            self.put(role, sync(barrier, count));
        }
        self.dirty.insert(barrier);
    }

    /// Some arrive, others wait for them.
    fn signal(&mut self) {
        let (barrier, roles) = (self.barrier(), self.some_roles());
        let count = self.count(|role| roles.contains(&role));
        let waits = self.rng.pick(&roles);
        let handed = self.handed_on(|role| role != waits && roles.contains(&role));
        for &role in &roles {
            let blocks = role == waits || self.rng.chance(15);
            if let Some((owner, location)) = handed
                && owner == role
            {
                self.bodies[role].push(write(location));
            }
            let either = [arrive(barrier, count), sync(barrier, count)];
            if role != waits && self.rng.chance(8) {
                let [then, other] = either;
                self.bodies[role].push(Stmt::If(vec![then], vec![other]));
            } else {
                let [first, second] = either;
                self.put(role, if blocks { second } else { first });
            }
        }
        if let Some((_, location)) = handed {
            self.bodies[waits].push(read(location));
        }
        self.dirty.insert(barrier);
    }

    /// A location that only one thread uses so far, if it belongs to one of these roles.
    fn handed_on(&mut self, belongs_to: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        let owned = self.uses.iter().enumerate().find_map(|(location, it)| match it {
            Use::Own(owner) if belongs_to(*owner) => Some((*owner, location)),
            _ => None,
        });
        let handed = owned.filter(|_| self.rng.chance(70))?;
        self.uses[handed.1] = Use::Nothing;
        Some(handed)
    }

    /// One role hands something on and waits for the answer: both know then that both barriers are idle.
    fn handshake(&mut self) {
        let roles = self.sizes.len();
        let full = self.barrier();
        let others: Vec<i64> = self.barriers.iter().copied().filter(|&barrier| barrier != full).collect();
        let (from, to) = (self.rng.below(roles), self.rng.below(roles));
        if others.is_empty() || from == to {
            return self.meeting_of_all();
        }
        let clean: Vec<i64> = others.iter().copied().filter(|b| !self.dirty.contains(b)).collect();
        let empty = self.rng.pick(if clean.is_empty() { &others } else { &clean });
        let count = self.count(|role| role == from || role == to);
        let handed = self.handed_on(|role| role == from);
        self.bodies[from].extend(handed.map(|(_, location)| write(location)));
        self.bodies[from].extend([arrive(full, count), sync(empty, count)]);
        self.put(to, sync(full, count));
        self.bodies[to].extend(handed.map(|(_, location)| read(location)));
        self.put(to, arrive(empty, count));
        if count < self.threads() {
            self.dirty.extend([full, empty]);
        }
    }

    /// A generation that is complete without anybody's notice, or lacks somebody.
    fn nobody_waits(&mut self) {
        let (barrier, roles) = (self.barrier(), self.some_roles());
        let come = self.count(|role| roles.contains(&role));
        let count = if self.rng.chance(25) { (come + 1).min(self.threads()) } else { come };
        for role in roles {
            self.put(role, arrive(barrier, count));
        }
        self.dirty.insert(barrier);
    }

    /// One thread meets itself.
    fn alone(&mut self) {
        let role = self.rng.below(self.sizes.len());
        let barrier = self.barrier();
        let count = self.sizes[role] as i64;
        self.put(role, sync(barrier, count));
        self.dirty.insert(barrier);
    }

    /// One role never exits, and nobody needs it any more if all is well.
    fn goes_on_for_ever(&mut self) {
        let role = self.rng.below(self.sizes.len());
        let barrier = self.barrier();
        let stmt = match self.access(role) {
            Some(access) if self.rng.chance(60) => access,
            _ if self.sizes[role] == 1 && self.rng.chance(40) => sync(barrier, 1),
            _ => Stmt::If(Vec::new(), Vec::new()),
        };
        self.bodies[role].push(Stmt::Loop(vec![stmt]));
    }

    /// After a meeting of all, anybody may use any location, if the others know.
    fn uses_anew(&mut self) {
        let alone: Vec<usize> = (0..self.sizes.len()).filter(|&role| self.sizes[role] == 1).collect();
        for location in 0..self.uses.len() {
            self.uses[location] = match self.rng.below(10) {
                0..6 if !alone.is_empty() => Use::Own(self.rng.pick(&alone)),
                6 => Use::Atomics,
                _ => Use::Reads,
            };
        }
    }

    /// An access that a role may make, if there is one.
    fn access(&mut self, role: usize) -> Option<Stmt> {
        if self.uses.is_empty() {
            return None;
        }
        let location = self.rng.below(self.uses.len());
        match self.uses[location] {
            Use::Own(owner) if owner == role => {
                let own = [read(location), write(location), write(location), atomic(location)];
                Some(own[self.rng.below(own.len())].clone())
            }
            Use::Reads => Some(read(location)),
            Use::Atomics => Some(atomic(location)),
            Use::Own(_) | Use::Nothing => None,
        }
    }

    fn accesses(&mut self, percent: usize) {
        for role in 0..self.sizes.len() {
            if !self.rng.chance(percent) {
                continue;
            }
            let Some(access) = self.access(role) else { continue };
            let stmt = match self.rng.below(100) {
                0..15 => Stmt::If(vec![access], Vec::new()),
                15..25 => Stmt::While(vec![access]),
                _ => access,
            };
            self.bodies[role].push(stmt);
        }
    }
}
