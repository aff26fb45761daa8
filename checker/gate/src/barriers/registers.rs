//! `setmaxnreg` of the PTX ISA: a pool of registers, to which some warps of a CTA give and from which others
//! take.
//!
//! Source: PTX ISA, section `setmaxnreg`. Each warp gives and takes by itself here: that all warps of a warp
//! group do it together is not checked. Registers are counted for each thread of a warp.

use super::group::{Group, Report, Step, Turn};
use super::observer::{Observer, Stop, Violation};
use super::runtime::Runtime;
use barcheck_model::rule::Rule;
use std::cell;
use std::fmt;
use std::sync::Arc;

/// The number under which the observer knows the pool.
const POOL: u32 = 0;

/// The pool of a CTA, empty in the beginning. Clones are the same pool.
pub struct Cta<R: Runtime> {
    shared: Arc<Shared<R>>,
}

struct Shared<R: Runtime> {
    group: Group<R, (), Pool, ()>,
    warps: usize,
    registers: u32,
}

struct Pool {
    free: u32,
    /// Warps, and how many registers each of them needs.
    waiting: Vec<(usize, u32)>,
}

/// The hand that one warp has on it.
pub struct Warp<R: Runtime> {
    of: Cta<R>,
    number: usize,
    has: cell::Cell<u32>,
    /// Some of the live lanes are elsewhere.
    is_apart: cell::Cell<bool>,
}

/// What the instruction must not be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// Only some of the warp's live lanes execute it.
    PartialWarp,
    /// The number is not from 24 to 256 in steps of 8, or a decrease would be an increase, or the other way
    /// round.
    CountRange {
        /// The number given.
        given: i64,
        /// The registers that the warp has.
        has: u32,
    },
}

/// Why an instruction did not go through.
pub type Error = Stop<Misuse>;

impl<R: Runtime> Cta<R> {
    /// A CTA of so many warps, each with so many registers.
    #[must_use]
    pub fn new(warps: usize, registers: u32) -> Self {
        Self::observed(warps, registers, ())
    }

    /// The same, with somebody who is told of every step.
    #[must_use]
    pub fn observed(warps: usize, registers: u32, observer: impl Observer + 'static) -> Self {
        let pool = Pool { free: 0, waiting: Vec::new() };
        Self { shared: Arc::new(Shared { group: Group::new(warps, (), [pool], observer), warps, registers }) }
    }

    /// The hand of one warp. It is to be taken once.
    ///
    /// # Panics
    ///
    /// If the CTA has no such warp.
    #[must_use]
    pub fn warp(&self, number: usize) -> Warp<R> {
        let Shared { warps, registers, .. } = &*self.shared;
        assert!(number < *warps, "warp {number} of {warps}");
        Warp { of: self.clone(), number, has: cell::Cell::new(*registers), is_apart: cell::Cell::new(false) }
    }

    /// Gives the CTA up: every blocked and every later instruction ends with [`Stop::Aborted`].
    pub fn abort(&self) {
        self.shared.group.abort();
    }
}

impl<R: Runtime> Clone for Cta<R> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<R: Runtime> Warp<R> {
    /// Says whether the lanes have separated, so that only some of the live ones execute what comes next.
    pub fn set_apart(&self, is_apart: bool) {
        self.is_apart.set(is_apart);
    }

    /// `setmaxnreg.dec`: gives registers to the pool, so that as many are left.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    // clause: ptx.registers-dec
    pub fn dec(&self, count: i64) -> Result<(), Error> {
        let has = self.has.get();
        let left = self.checked(count, |left| left <= has);
        self.execute("setmaxnreg.dec", left, |pool, left, report| {
            pool.free += has - left;
            // Each of those for whom it is enough tries again; who is first takes.
            let enough = pool.waiting.extract_if(.., |(_, needs)| *needs <= pool.free);
            report.complete(POOL, enough.map(|(warp, _)| (warp, ())).collect());
            Turn::Done(())
        })?;
        self.has.set(count as u32);
        Ok(())
    }

    /// `setmaxnreg.inc`: takes registers from the pool, and waits until there are enough.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    pub fn inc(&self, count: i64) -> Result<(), Error> {
        while !self.try_inc(count)? {}
        Ok(())
    }

    /// One attempt at it: `false` after a wait until there were enough, which somebody else may have taken
    /// since.
    ///
    /// # Errors
    ///
    /// Misuse, or the CTA given up.
    // clause: ptx.registers-inc
    pub fn try_inc(&self, count: i64) -> Result<bool, Error> {
        let has = self.has.get();
        let (wanted, mut taken) = (self.checked(count, |wanted| wanted >= has), false);
        self.execute("setmaxnreg.inc", wanted, |pool, wanted, _| {
            match pool.free.checked_sub(wanted - has) {
                Some(left) => {
                    (pool.free, taken) = (left, true);
                    Turn::Done(())
                }
                None => {
                    pool.waiting.push((self.number, wanted - has));
                    Turn::Blocked
                }
            }
        })?;
        if taken {
            self.has.set(count as u32);
        }
        Ok(taken)
    }

    // clause: ptx.registers-aligned, ptx.registers-range
    fn checked(&self, given: i64, fits: impl Fn(u32) -> bool) -> Result<u32, Misuse> {
        let sensible = |count: &u32| (24..=256).contains(count) && count.is_multiple_of(8) && fits(*count);
        let misuse = Misuse::CountRange { given, has: self.has.get() };
        let count = u32::try_from(given).ok().filter(sensible).ok_or(misuse)?;
        if self.is_apart.get() { Err(Misuse::PartialWarp) } else { Ok(count) }
    }

    fn execute(
        &self,
        name: &'static str,
        count: Result<u32, Misuse>,
        act: impl FnOnce(&mut Pool, u32, &mut Report<()>) -> Turn<()>,
    ) -> Result<(), Error> {
        let (group, step) = (&self.of.shared.group, Step::of(self.number, name, Some(POOL)));
        match count {
            Ok(count) => group.execute(step, false, |_, pool, report| Ok(act(pool, count, report))),
            Err(misuse) => group.alone(step, Err(misuse), None),
        }
    }
}

impl Violation for Misuse {
    fn rule(&self) -> Option<Rule> {
        Some(match self {
            Self::PartialWarp => Rule::PartialWarp,
            Self::CountRange { .. } => Rule::CountRange,
        })
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PartialWarp => f.write_str("a part of the warp at an instruction for all of it"),
            Self::CountRange { given, has } => {
                write!(f, "{given} registers, where the warp has {has}, and can have 24 to 256 in steps of 8")
            }
        }
    }
}

impl std::error::Error for Misuse {}
