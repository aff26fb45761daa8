//! `barrier.cluster` of the PTX ISA: one barrier for all warps of all CTAs of a cluster.
//!
//! Source: PTX ISA, section `barrier.cluster`. Arrive and wait alternate, and a relaxed arrival is like any
//! other here: threads cannot show what it does not order.
//!
//! A warp is one thread here. Its lanes may separate, but come to the barrier together or not at all.

use super::group::{Group, Report, Step, Turn};
use super::observer::{Observer, Stop, Violation};
use super::runtime::Runtime;
use barcheck_model::rule::Rule;
use std::cell;
use std::fmt;
use std::sync::Arc;

/// The number under which the observer knows the barrier.
const BARRIER: u32 = 0;

/// The barrier of a cluster. Clones are the same barrier.
pub struct Cluster<R: Runtime> {
    shared: Arc<Shared<R>>,
}

struct Shared<R: Runtime> {
    group: Group<R, (), Barrier, ()>,
    warps: usize,
}

/// The hand that one warp has on it.
pub struct Warp<R: Runtime> {
    of: Cluster<R>,
    number: usize,
    /// It has arrived and has yet to wait.
    owes: cell::Cell<bool>,
    /// Some of the live lanes are elsewhere.
    is_apart: cell::Cell<bool>,
}

/// What the instructions must not be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// An arrival by a warp that has arrived before and has not waited.
    RepeatedArrival,
    /// A wait by a warp that has no arrival outstanding.
    WaitWithoutArrive,
    /// Only some of the warp's live lanes execute an aligned instruction.
    PartialWarp,
    /// Lanes of a warp come apart from one another, which is not covered.
    Apart,
}

/// Why an instruction did not go through.
pub type Error = Stop<Misuse>;

/// The barrier: who has arrived has to wait before it arrives again, so that a generation may gather while
/// some have yet to wait for the one before, but not for an earlier one.
struct Barrier {
    exited: Vec<bool>,
    arrived: Vec<bool>,
    waiting: Vec<usize>,
    /// Those who have yet to wait for the generation before.
    late: Vec<usize>,
}

impl<R: Runtime> Cluster<R> {
    /// The barrier of so many warps, those of all CTAs.
    #[must_use]
    pub fn new(warps: usize) -> Self {
        Self::observed(warps, ())
    }

    /// The same, with somebody who is told of every step.
    #[must_use]
    pub fn observed(warps: usize, observer: impl Observer + 'static) -> Self {
        let nobody = vec![false; warps];
        let (exited, arrived) = (nobody.clone(), nobody);
        let barrier = Barrier { exited, arrived, waiting: Vec::new(), late: Vec::new() };
        Self { shared: Arc::new(Shared { group: Group::new(warps, (), [barrier], observer), warps }) }
    }

    /// The hand of one warp, by its number among those of all CTAs. It is to be taken once.
    ///
    /// # Panics
    ///
    /// If there is no such warp.
    #[must_use]
    pub fn warp(&self, number: usize) -> Warp<R> {
        assert!(number < self.shared.warps, "warp {number} of {}", self.shared.warps);
        Warp { of: self.clone(), number, owes: cell::Cell::new(false), is_apart: cell::Cell::new(false) }
    }

    /// Gives the cluster up: every blocked and every later instruction ends with [`Stop::Aborted`].
    pub fn abort(&self) {
        self.shared.group.abort();
    }
}

impl<R: Runtime> Clone for Cluster<R> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<R: Runtime> Warp<R> {
    /// The warp's number among those of all CTAs.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// Says whether the lanes have separated, so that only some of the live ones execute what comes next.
    pub fn set_apart(&self, is_apart: bool) {
        self.is_apart.set(is_apart);
    }

    /// `barrier.cluster.arrive`: arrives and goes on.
    ///
    /// # Errors
    ///
    /// Misuse, or the cluster given up.
    // clause: ptx.cluster-arrive, ptx.cluster-once
    pub fn arrive(&self, aligned: bool) -> Result<(), Error> {
        let twice = if self.owes.get() { Err(Misuse::RepeatedArrival) } else { Ok(()) };
        self.execute("barrier.cluster.arrive", self.together(aligned).and(twice), |barrier, report| {
            barrier.arrived[self.number] = true;
            barrier.complete_if_full(report);
            Turn::Done(())
        })?;
        self.owes.set(true);
        Ok(())
    }

    /// `barrier.cluster.wait`: waits until all warps that have not exited have arrived.
    ///
    /// # Errors
    ///
    /// Misuse, or the cluster given up.
    // clause: ptx.cluster-wait, ptx.cluster-wait-after-arrive
    pub fn wait(&self, aligned: bool) -> Result<(), Error> {
        let may = if self.owes.get() { Ok(()) } else { Err(Misuse::WaitWithoutArrive) };
        self.execute("barrier.cluster.wait", self.together(aligned).and(may), |barrier, _| {
            match barrier.late.iter().position(|late| *late == self.number) {
                Some(index) => {
                    barrier.late.swap_remove(index);
                    Turn::Done(())
                }
                None => {
                    barrier.waiting.push(self.number);
                    Turn::Blocked
                }
            }
        })?;
        self.owes.set(false);
        Ok(())
    }

    /// The end of the warp's program, after which nobody waits for it.
    ///
    /// # Errors
    ///
    /// The cluster given up.
    pub fn exit(self) -> Result<(), Error> {
        let step = Step::of(self.number, "exit", None);
        let act = |(): &mut (), _, barrier: &mut Barrier, report: &mut Report<()>| {
            barrier.exit(self.number, report);
        };
        self.of.shared.group.across(step, |()| 1 << BARRIER, act)
    }

    /// The same, where `rest` tells the step: what else belongs to it.
    pub(crate) fn exit_with<T>(self, rest: impl FnOnce() -> T) -> T {
        self.of.shared.group.within(BARRIER, |barrier, report| {
            let result = rest();
            barrier.exit(self.number, report);
            result
        })
    }

    // clause: ptx.cluster-aligned
    fn together(&self, aligned: bool) -> Result<(), Misuse> {
        match (self.is_apart.get(), aligned) {
            (false, _) => Ok(()),
            (true, true) => Err(Misuse::PartialWarp),
            (true, false) => Err(Misuse::Apart),
        }
    }

    fn execute(
        &self,
        name: &'static str,
        may: Result<(), Misuse>,
        act: impl FnOnce(&mut Barrier, &mut Report<()>) -> Turn<()>,
    ) -> Result<(), Error> {
        let (group, step) = (&self.of.shared.group, Step::of(self.number, name, Some(BARRIER)));
        match may {
            Ok(()) => group.execute(step, false, |_, barrier, report| Ok(act(barrier, report))),
            Err(misuse) => group.alone(step, Err(misuse), None),
        }
    }
}

impl Barrier {
    // clause: ptx.cluster-exited
    fn exit(&mut self, warp: usize, report: &mut Report<()>) {
        self.exited[warp] = true;
        self.complete_if_full(report);
    }

    /// Lets those go who wait, if somebody has come and nobody is missing.
    fn complete_if_full(&mut self, report: &mut Report<()>) {
        let mut all = self.arrived.iter().zip(&self.exited);
        let is_full = self.arrived.contains(&true) && all.all(|(arrived, exited)| *arrived || *exited);
        if !is_full {
            return;
        }
        let waiting = std::mem::take(&mut self.waiting);
        let arrived = self.arrived.iter().enumerate().filter(|(_, arrived)| **arrived);
        self.late = arrived.map(|(warp, _)| warp).filter(|warp| !waiting.contains(warp)).collect();
        self.arrived.fill(false);
        report.complete(BARRIER, waiting.into_iter().map(|warp| (warp, ())).collect());
    }
}

impl Violation for Misuse {
    fn rule(&self) -> Option<Rule> {
        match self {
            Self::RepeatedArrival => Some(Rule::RepeatedArrival),
            Self::WaitWithoutArrive => Some(Rule::WaitWithoutArrive),
            Self::PartialWarp => Some(Rule::PartialWarp),
            Self::Apart => None,
        }
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::RepeatedArrival => "the warp has arrived at the barrier of the cluster and has yet to wait",
            Self::WaitWithoutArrive => "a wait at the barrier of the cluster without an arrival outstanding",
            Self::PartialWarp => "a part of the warp at an instruction for all of it",
            Self::Apart => "lanes of one warp come to the barrier of the cluster apart",
        })
    }
}

impl std::error::Error for Misuse {}
