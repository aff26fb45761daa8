//! `OpControlBarrierArriveINTEL`, `OpControlBarrierWaitINTEL` and `OpControlBarrier`: one barrier for each
//! instance of an execution scope.
//!
//! Source: `SPV_INTEL_split_barrier`, section Barrier Instructions. That arrives and waits alternate is spelt
//! out by the OpenCL extension and by the Vulkan rules.
//!
//! An invocation is one thread here. Which dynamic instance of its instruction it executes is for the caller
//! to say: any value that is equal for those, and only those, that the client API takes for the same. The
//! instance of an arrive and that of an unsplit barrier are never the same, nor are those of a wait and of an
//! unsplit barrier.

use super::group::{Group, Report, Step, Turn};
use super::observer::{Observer, Stop, Violation};
use super::runtime::Runtime;
use barcheck_model::rule::Rule;
use std::cell;
use std::fmt;
use std::sync::Arc;

/// A workgroup: its invocations, and what they synchronise with. Clones are the same workgroup.
///
/// The observer knows the barrier of the workgroup as 0, that of subgroup `s` as `s + 1`, and none of an
/// invocation.
pub struct Workgroup<R: Runtime, I: Instance> {
    shared: Arc<Shared<R, I>>,
}

struct Shared<R: Runtime, I: Instance> {
    group: Group<R, (), Barrier<I>, ()>,
    invocations: usize,
    subgroup_size: usize,
}

/// The hand that one invocation has on the barriers of its scopes.
pub struct Invocation<R: Runtime, I: Instance> {
    of: Workgroup<R, I>,
    number: usize,
    /// For each scope, whether the invocation has arrived and has yet to wait.
    owed: cell::Cell<[bool; 3]>,
}

/// What tells dynamic instances of an instruction apart.
pub trait Instance: Clone + Eq + Send + 'static {}

impl<I: Clone + Eq + Send + 'static> Instance for I {}

/// Whose arrivals are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Those of all invocations.
    Workgroup,
    /// Those of the invocation's subgroup.
    Subgroup,
    /// Its own.
    Invocation,
}

/// What the instructions must not be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// An arrival by an invocation that has arrived before and has not waited.
    RepeatedArrival {
        /// The scope.
        scope: Scope,
    },
    /// A wait by an invocation that has no arrival outstanding.
    WaitWithoutArrive {
        /// The scope.
        scope: Scope,
    },
    /// Invocations meet from different dynamic instances. Below the workgroup the client API says what that
    /// means, and no rule does.
    Nonuniform {
        /// The scope.
        scope: Scope,
    },
}

/// Why an instruction did not go through.
pub type Error = Stop<Misuse>;

/// The barrier of a workgroup or of a subgroup.
///
/// Who has arrived must wait before it arrives again. Hence a generation can gather while some have yet to
/// wait for the one before, but not for any earlier one.
struct Barrier<I> {
    /// The number of invocations of the scope.
    size: usize,
    gathering: Generation<I>,
    /// Where the waits for the generation before come from.
    waits_before: Option<Dynamic<I>>,
    /// Those who have yet to wait for the generation before.
    late: Vec<usize>,
}

struct Generation<I> {
    arrived: Vec<usize>,
    /// Where the arrivals come from.
    arrivals: Option<Dynamic<I>>,
    /// Where the waits come from.
    waits: Option<Dynamic<I>>,
    waiting: Vec<usize>,
}

/// A dynamic instance.
#[derive(Clone, PartialEq, Eq)]
enum Dynamic<I> {
    /// Of an arrive or of a wait.
    Split(I),
    /// Of an unsplit barrier.
    Whole(I),
}

impl<R: Runtime, I: Instance> Workgroup<R, I> {
    /// A workgroup of so many invocations in subgroups of this size, the last of which may be smaller.
    ///
    /// # Panics
    ///
    /// If subgroups have no size.
    #[must_use]
    pub fn new(invocations: usize, subgroup_size: usize) -> Self {
        Self::observed(invocations, subgroup_size, ())
    }

    /// The same, with somebody who is told of every step.
    ///
    /// # Panics
    ///
    /// If subgroups have no size.
    #[must_use]
    pub fn observed(invocations: usize, subgroup_size: usize, observer: impl Observer + 'static) -> Self {
        let starts = (0..invocations).step_by(subgroup_size);
        let subgroups = starts.map(|start| subgroup_size.min(invocations - start));
        let barriers = std::iter::once(invocations).chain(subgroups).map(Barrier::new);
        let group = Group::new(invocations, (), barriers, observer);
        Self { shared: Arc::new(Shared { group, invocations, subgroup_size }) }
    }

    /// The number of invocations.
    #[must_use]
    pub fn invocations(&self) -> usize {
        self.shared.invocations
    }

    /// The hand of one invocation. It is to be taken once.
    ///
    /// # Panics
    ///
    /// If the workgroup has no such invocation.
    #[must_use]
    pub fn invocation(&self, number: usize) -> Invocation<R, I> {
        assert!(number < self.invocations(), "invocation {number} of {}", self.invocations());
        Invocation { of: self.clone(), number, owed: cell::Cell::new([false; 3]) }
    }

    /// Gives the workgroup up: every blocked and every later instruction ends with [`Stop::Aborted`].
    pub fn abort(&self) {
        self.shared.group.abort();
    }
}

impl<R: Runtime, I: Instance> Clone for Workgroup<R, I> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<R: Runtime, I: Instance> Invocation<R, I> {
    /// The invocation's number in its workgroup.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// `OpControlBarrierArriveINTEL`: arrives and goes on.
    ///
    /// # Errors
    ///
    /// Misuse, or the workgroup given up.
    pub fn arrive(&self, scope: Scope, instance: I) -> Result<(), Error> {
        let may = if self.owes(scope) { Err(Misuse::RepeatedArrival { scope }) } else { Ok(()) };
        let arrival = Dynamic::Split(instance);
        self.execute("arrive", scope, may, |slot, barrier, report| {
            slot.gathering.meets_arrivals(scope, &arrival)?;
            slot.arrive(self.number, arrival);
            slot.complete_if_full(barrier, self.number, report);
            Ok(Turn::Done(()))
        })?;
        self.owe(scope, true);
        Ok(())
    }

    /// `OpControlBarrierWaitINTEL`: waits for the others to arrive.
    ///
    /// # Errors
    ///
    /// Misuse, or the workgroup given up.
    pub fn wait(&self, scope: Scope, instance: I) -> Result<(), Error> {
        let may = if self.owes(scope) { Ok(()) } else { Err(Misuse::WaitWithoutArrive { scope }) };
        self.execute("wait", scope, may, |slot, _, _| {
            slot.wait(scope, self.number, Dynamic::Split(instance))
        })?;
        self.owe(scope, false);
        Ok(())
    }

    // clause: split_barrier.control-barrier, barcheck.whole-barrier-counts
    /// `OpControlBarrier`: arrives and waits at once.
    ///
    /// # Errors
    ///
    /// Misuse, or the workgroup given up.
    pub fn control_barrier(&self, scope: Scope, instance: I) -> Result<(), Error> {
        let may = if self.owes(scope) { Err(Misuse::RepeatedArrival { scope }) } else { Ok(()) };
        let whole = Dynamic::Whole(instance);
        self.execute("control_barrier", scope, may, |slot, barrier, report| {
            slot.gathering.meets_arrivals(scope, &whole)?;
            slot.gathering.meets_waits(scope, &whole)?;
            slot.arrive(self.number, whole.clone());
            let turn = slot.wait(scope, self.number, whole)?;
            let last = slot.complete_if_full(barrier, self.number, report);
            Ok(if last { Turn::Done(()) } else { turn })
        })
    }

    /// `OpMemoryBarrier`, which the barriers have nothing to do with.
    ///
    /// # Errors
    ///
    /// The workgroup given up.
    pub fn memory_barrier(&self) -> Result<(), Error> {
        self.of.shared.group.alone(self.step("memory_barrier", None), Ok(()), None)
    }

    /// The end of the invocation's program, which releases nobody.
    ///
    /// # Errors
    ///
    /// The workgroup given up.
    pub fn exit(self) -> Result<(), Error> {
        let scopes = [Scope::Workgroup, Scope::Subgroup, Scope::Invocation];
        let owed = scopes.into_iter().filter(|scope| self.owes(*scope));
        let missing = owed.map(|scope| (Rule::MissingWait, self.barrier(scope)));
        self.of.shared.group.alone(self.step("exit", None), Ok(()), missing)
    }
}

impl<R: Runtime, I: Instance> Invocation<R, I> {
    /// An instruction that `may` be executed as far as the invocation itself can tell.
    fn execute(
        &self,
        name: &'static str,
        scope: Scope,
        may: Result<(), Misuse>,
        act: impl FnOnce(&mut Barrier<I>, u32, &mut Report<()>) -> Result<Turn<()>, Misuse>,
    ) -> Result<(), Error> {
        let group = &self.of.shared.group;
        let step = self.step(name, self.barrier(scope));
        match (step.barrier, may) {
            (Some(barrier), Ok(())) => {
                group.execute(step, false, |_, slot, report| act(slot, barrier, report))
            }
            // An invocation never waits for itself.
            (_, may) => group.alone(step, may, None),
        }
    }

    fn step(&self, name: &'static str, barrier: Option<u32>) -> Step {
        Step::of(self.number, name, barrier)
    }

    // clause: split_barrier.execution-scope
    fn barrier(&self, scope: Scope) -> Option<u32> {
        match scope {
            Scope::Workgroup => Some(0),
            Scope::Subgroup => Some((1 + self.number / self.of.shared.subgroup_size) as u32),
            Scope::Invocation => None,
        }
    }

    fn owes(&self, scope: Scope) -> bool {
        self.owed.get()[scope as usize]
    }

    fn owe(&self, scope: Scope, owes: bool) {
        let mut owed = self.owed.get();
        owed[scope as usize] = owes;
        self.owed.set(owed);
    }
}

impl<I: Instance> Barrier<I> {
    fn new(size: usize) -> Self {
        Self { size, gathering: Generation::new(), waits_before: None, late: Vec::new() }
    }

    fn arrive(&mut self, invocation: usize, arrival: Dynamic<I>) {
        self.gathering.arrivals = Some(arrival);
        self.gathering.arrived.push(invocation);
    }

    /// A wait of an invocation that has arrived.
    fn wait(&mut self, scope: Scope, invocation: usize, wait: Dynamic<I>) -> Result<Turn<()>, Misuse> {
        let Some(index) = self.late.iter().position(|late| *late == invocation) else {
            self.gathering.meets_waits(scope, &wait)?;
            self.gathering.waits = Some(wait);
            self.gathering.waiting.push(invocation);
            return Ok(Turn::Blocked);
        };
        meets(scope, self.waits_before.as_ref(), &wait)?;
        self.waits_before = Some(wait);
        self.late.swap_remove(index);
        Ok(Turn::Done(()))
    }

    /// Completes the generation if `invocation` was the last to arrive, and says whether it did.
    fn complete_if_full(&mut self, barrier: u32, invocation: usize, report: &mut Report<()>) -> bool {
        let full = self.gathering.arrived.len() == self.size;
        if full {
            let Generation { arrived, waits, waiting, .. } =
                std::mem::replace(&mut self.gathering, Generation::new());
            self.late = arrived.into_iter().filter(|arrived| !waiting.contains(arrived)).collect();
            self.waits_before = waits;
            // Whoever arrives and waits at once as the last one does not block.
            let released = waiting.into_iter().filter(|waiting| *waiting != invocation);
            report.complete(barrier, released.map(|waiting| (waiting, ())).collect());
        }
        full
    }
}

impl<I: Instance> Generation<I> {
    fn new() -> Self {
        Self { arrived: Vec::new(), arrivals: None, waits: None, waiting: Vec::new() }
    }

    fn meets_arrivals(&self, scope: Scope, arrival: &Dynamic<I>) -> Result<(), Misuse> {
        meets(scope, self.arrivals.as_ref(), arrival)
    }

    fn meets_waits(&self, scope: Scope, wait: &Dynamic<I>) -> Result<(), Misuse> {
        meets(scope, self.waits.as_ref(), wait)
    }
}

// clause: split_barrier.arrive-uniform, split_barrier.wait-uniform, split_barrier.subgroup-client
fn meets<I: Eq>(scope: Scope, others: Option<&I>, own: &I) -> Result<(), Misuse> {
    if others.is_none_or(|others| others == own) { Ok(()) } else { Err(Misuse::Nonuniform { scope }) }
}

impl Violation for Misuse {
    fn rule(&self) -> Option<Rule> {
        match self {
            Self::RepeatedArrival { .. } => Some(Rule::RepeatedArrival),
            Self::WaitWithoutArrive { .. } => Some(Rule::WaitWithoutArrive),
            Self::Nonuniform { scope: Scope::Workgroup } => Some(Rule::NonuniformBarrier),
            Self::Nonuniform { .. } => None,
        }
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepeatedArrival { scope } => {
                write!(f, "the invocation has arrived at {scope:?} scope and has yet to wait")
            }
            Self::WaitWithoutArrive { scope } => {
                write!(f, "a wait at {scope:?} scope without an arrival outstanding")
            }
            Self::Nonuniform { scope } => {
                write!(f, "invocations meet at {scope:?} scope from different dynamic instances")
            }
        }
    }
}

impl std::error::Error for Misuse {}
