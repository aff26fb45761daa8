//! What an mbarrier object holds, and what becomes of it.

use super::misuse::Misuse;

/// The most arrivals, and the most bytes, that an object counts.
// clause: ptx.mbarrier-count-range, ptx.mbarrier-tx-range
const MOST: i64 = (1 << 20) - 1;

/// An object in shared memory, which lives several times, one after the other.
#[derive(Default)]
pub(super) struct Object {
    lives: u64,
    life: Option<Life>,
    /// Operations that have yet to land.
    in_flight: usize,
}

/// An object in use.
// clause: ptx.mbarrier-contents
pub(super) struct Life {
    /// Its number, so that what is left of an earlier life is known as such.
    number: u64,
    phase: u64,
    /// Arrivals that the next phase expects.
    expected: u32,
    /// Arrivals that this phase still waits for.
    pending: u32,
    /// Bytes that this phase still waits for: fewer than none where they came before they were announced.
    bytes: i64,
    /// Whether some wait has seen the phase before complete.
    observed: bool,
    /// The warps that wait for this phase.
    waiting: Vec<usize>,
}

/// A phase of an object in one of its lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Moment {
    life: u64,
    phase: u64,
}

/// Arrivals, operands checked.
#[derive(Clone, Copy)]
pub(super) struct Arrivals {
    pub(super) count: u32,
    pub(super) bytes: i64,
    pub(super) drops: bool,
    /// The phase must not be complete by them.
    pub(super) no_complete: bool,
}

/// What a landing does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cargo {
    /// Completes bytes.
    Bytes(i64),
    /// Makes arrivals.
    Arrivals(u32),
}

/// The phase that a wait is for.
#[derive(Clone, Copy)]
pub(super) enum Awaited {
    Parity(u64),
    /// `None` for a token of another object.
    Token(Option<Moment>),
}

/// Those whom a completion lets go, if there is one.
pub(super) type Completed = Option<Vec<usize>>;

/// A count of arrivals: of an initialisation, or of one arriving lane.
pub(super) fn count(given: i64) -> Result<u32, Misuse> {
    let sensible = (1..=MOST).contains(&given);
    u32::try_from(given).ok().filter(|_| sensible).ok_or(Misuse::CountRange { given })
}

/// Bytes of so many lanes, each of which brings as many.
pub(super) fn bytes(given: i64, lanes: u32) -> Result<i64, Misuse> {
    let all = given.saturating_mul(i64::from(lanes));
    let sensible = (0..=MOST).contains(&given) && all <= MOST;
    if sensible { Ok(all) } else { Err(Misuse::BytesRange { given: all, awaited: 0 }) }
}

// clause: ptx.mbarrier-parity
pub(super) fn parity(given: i64) -> Result<u64, Misuse> {
    u64::try_from(given).ok().filter(|parity| *parity < 2).ok_or(Misuse::ParityRange { given })
}

impl Object {
    // clause: ptx.mbarrier-init, ptx.mbarrier-init-once
    pub(super) fn init(&mut self, count: u32) -> Result<(), Misuse> {
        if self.life.is_some() {
            return Err(Misuse::InitialisedTwice);
        }
        self.lives += 1;
        self.life = Some(Life {
            number: self.lives,
            phase: 0,
            expected: count,
            pending: count,
            bytes: 0,
            observed: true,
            waiting: Vec::new(),
        });
        Ok(())
    }

    // clause: ptx.mbarrier-inval
    pub(super) fn inval(&mut self) -> Result<(), Misuse> {
        let is_awaited = !self.live()?.waiting.is_empty();
        if is_awaited || self.in_flight > 0 {
            return Err(Misuse::Awaited);
        }
        self.life = None;
        Ok(())
    }

    // clause: ptx.mbarrier-live
    pub(super) fn live(&mut self) -> Result<&mut Life, Misuse> {
        self.life.as_mut().ok_or(Misuse::NotLive)
    }

    /// An operation begins, at this moment.
    pub(super) fn leave(&mut self) -> Result<Moment, Misuse> {
        let begun = self.live()?.now();
        self.in_flight += 1;
        Ok(begun)
    }

    /// What was begun at some moment is done.
    // clause: barcheck.stale-completion, ptx.bulk-copy-completes, ptx.commit-arrives
    pub(super) fn land(&mut self, begun: Moment, cargo: Cargo) -> Result<Completed, Misuse> {
        let life = self.life.as_mut().filter(|life| life.now() == begun).ok_or(Misuse::StaleCompletion)?;
        let completed = match cargo {
            Cargo::Bytes(bytes) => life.count_bytes(-bytes)?,
            Cargo::Arrivals(count) => {
                life.arrive(Arrivals { count, bytes: 0, drops: false, no_complete: false })?
            }
        };
        // What may not land stays in flight.
        self.in_flight -= 1;
        Ok(completed)
    }

    /// Whether the phase has arrivals or bytes, announced or brought, and is not complete. Who has dropped
    /// its arrival has taken its leave, and has left none here.
    pub(super) fn holds_arrivals(&self) -> bool {
        self.life.as_ref().is_some_and(|life| life.pending < life.expected || life.bytes != 0)
    }
}

impl Life {
    /// The present phase.
    pub(super) fn now(&self) -> Moment {
        Moment { life: self.number, phase: self.phase }
    }

    // clause: ptx.mbarrier-observed, ptx.mbarrier-pending-range
    // clause: ptx.mbarrier-arrive, ptx.mbarrier-arrive-expect, ptx.mbarrier-arrive-drop
    pub(super) fn arrive(&mut self, arrivals: Arrivals) -> Result<Completed, Misuse> {
        let Arrivals { count: given, bytes, drops, no_complete } = arrivals;
        // Dropping comes before arriving.
        let dropped = if drops { given } else { 0 };
        let expected = self.expected.checked_sub(dropped).filter(|expected| *expected > 0);
        let expected = expected.ok_or(Misuse::DropsAll)?;
        if !self.observed {
            return Err(Misuse::UnobservedPhase);
        }
        let pending = self.pending.checked_sub(given);
        let pending = pending.ok_or(Misuse::OverArrival { pending: self.pending, given })?;
        let bytes = self.with_bytes(bytes)?;
        over_delivery(pending, bytes)?;
        // clause: ptx.mbarrier-no-complete
        if no_complete && pending == 0 && bytes == 0 {
            return Err(Misuse::NoComplete);
        }
        (self.pending, self.expected, self.bytes) = (pending, expected, bytes);
        Ok(self.complete_if_full())
    }

    /// More bytes to wait for, or fewer.
    // clause: ptx.mbarrier-expect-tx, ptx.mbarrier-complete-tx
    pub(super) fn count_bytes(&mut self, more: i64) -> Result<Completed, Misuse> {
        let bytes = self.with_bytes(more)?;
        over_delivery(self.pending, bytes)?;
        self.bytes = bytes;
        Ok(self.complete_if_full())
    }

    // clause: ptx.mbarrier-tx-range
    fn with_bytes(&self, more: i64) -> Result<i64, Misuse> {
        let bytes = self.bytes + more;
        let misuse = Misuse::BytesRange { given: more, awaited: self.bytes };
        if bytes.abs() <= MOST { Ok(bytes) } else { Err(misuse) }
    }

    // clause: ptx.mbarrier-phase-complete
    fn complete_if_full(&mut self) -> Completed {
        if self.pending > 0 || self.bytes != 0 {
            return None;
        }
        let released = std::mem::take(&mut self.waiting);
        self.phase += 1;
        self.pending = self.expected;
        self.observed = !released.is_empty();
        Some(released)
    }

    /// Whether the phase is complete. Whoever is told so has seen it.
    // clause: ptx.mbarrier-parity-wait, ptx.mbarrier-token-wait
    fn is_complete(&self, awaited: Awaited) -> Result<bool, Misuse> {
        match awaited {
            Awaited::Parity(parity) => Ok(self.phase % 2 != parity),
            Awaited::Token(Some(token)) if token == self.now() => Ok(false),
            Awaited::Token(Some(token)) if self.phase > 0 && token == self.before() => Ok(true),
            Awaited::Token(_) => Err(Misuse::StaleToken),
        }
    }

    fn before(&self) -> Moment {
        Moment { life: self.number, phase: self.phase - 1 }
    }

    /// The same for somebody who waits if it is not.
    pub(super) fn wait(&mut self, warp: usize, awaited: Awaited) -> Result<bool, Misuse> {
        let complete = self.is_complete(awaited)?;
        self.observed |= complete;
        if !complete {
            self.waiting.push(warp);
        }
        Ok(complete)
    }

    /// The same for somebody who goes on; whoever gives up learns nothing.
    // clause: ptx.mbarrier-test-wait, ptx.mbarrier-try-wait
    pub(super) fn test(&mut self, awaited: Awaited, gives_up: bool) -> Result<bool, Misuse> {
        let seen = self.is_complete(awaited)? && !gives_up;
        self.observed |= seen;
        Ok(seen)
    }
}

/// A phase with all its arrivals and more bytes than announced never completes.
// clause: barcheck.over-delivery
fn over_delivery(pending: u32, bytes: i64) -> Result<(), Misuse> {
    if pending == 0 && bytes < 0 { Err(Misuse::OverDelivery { surplus: -bytes }) } else { Ok(()) }
}
