//! The named barriers of the XeGPU dialect, which are lowered to `NBARRIER`.
//!
//! Source: RFC for the XeGPU dialect, operations `alloc_nbarrier` to `mfence`; what it leaves open follows
//! from the lowering.
//!
//! A subgroup is one thread here: barriers and fences are uniform, and it executes them as one.

use super::group::{Barriers, Group, Step};
use super::nbarrier::{self, BARRIERS, Barrier, Signal};
use super::observer::{Observer, Stop, Violation};
use super::runtime::Runtime;
use barcheck_model::rule::Rule;
use std::cell;
use std::fmt;
use std::sync::Arc;

/// A workgroup: its barriers and its subgroups. Clones are the same workgroup.
pub struct Workgroup<R: Runtime> {
    shared: Arc<Shared<R>>,
}

struct Shared<R: Runtime> {
    group: Group<R, Option<u32>, Barrier, ()>,
    subgroups: usize,
}

/// The hand that one subgroup has on its workgroup's barriers.
pub struct Subgroup<R: Runtime> {
    of: Workgroup<R>,
    number: usize,
    allocated: cell::Cell<Option<u32>>,
    used: cell::Cell<Barriers>,
    owed: nbarrier::Owed,
}

/// What `init_nbarrier` gives: a barrier and its number of participants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    barrier: u32,
    participants: u32,
}

/// Which memory a fence is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Global memory.
    Ugm,
    /// Shared local memory.
    Slm,
}

/// What the operations must not be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// There are 1 to 32 barriers to allocate.
    AllocationRange {
        /// The number given.
        given: i64,
    },
    /// Somebody has allocated another number.
    AllocationMismatch {
        /// The number allocated.
        announced: u32,
        /// The number given.
        given: u32,
    },
    /// The subgroup has not allocated this barrier.
    BarrierNotAllocated {
        /// The barrier.
        barrier: u32,
        /// How many it has allocated.
        allocated: Option<u32>,
    },
    /// What `NBARRIER` does not allow.
    Barrier(nbarrier::Misuse),
}

/// Why an operation did not go through.
pub type Error = Stop<Misuse>;

impl<R: Runtime> Workgroup<R> {
    /// A workgroup of so many subgroups.
    #[must_use]
    pub fn new(subgroups: usize) -> Self {
        Self::observed(subgroups, ())
    }

    /// The same, with somebody who is told of every step.
    #[must_use]
    pub fn observed(subgroups: usize, observer: impl Observer + 'static) -> Self {
        let group = Group::new(subgroups, None, nbarrier::barriers(subgroups), observer);
        Self { shared: Arc::new(Shared { group, subgroups }) }
    }

    /// The number of subgroups.
    #[must_use]
    pub fn subgroups(&self) -> usize {
        self.shared.subgroups
    }

    /// The hand of one subgroup. It is to be taken once.
    ///
    /// # Panics
    ///
    /// If the workgroup has no such subgroup.
    #[must_use]
    pub fn subgroup(&self, number: usize) -> Subgroup<R> {
        assert!(number < self.subgroups(), "subgroup {number} of {}", self.subgroups());
        let (allocated, used) = (cell::Cell::new(None), cell::Cell::new(0));
        Subgroup { of: self.clone(), number, allocated, used, owed: nbarrier::Owed::default() }
    }

    /// Gives the workgroup up: every blocked and every later operation ends with [`Stop::Aborted`].
    pub fn abort(&self) {
        self.shared.group.abort();
    }
}

impl<R: Runtime> Clone for Workgroup<R> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<R: Runtime> Subgroup<R> {
    /// The subgroup's number in its workgroup.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// `alloc_nbarrier`: makes the barriers below `number` usable. The same number again does nothing.
    ///
    /// # Errors
    ///
    /// Misuse, or the workgroup given up.
    pub fn alloc(&self, number: i64) -> Result<(), Error> {
        let step = self.step("alloc_nbarrier", None);
        // clause: barcheck.xegpu-id-range
        let sensible = |number: &u32| (1..=BARRIERS).contains(&(*number as usize));
        let Some(given) = u32::try_from(number).ok().filter(sensible) else {
            return self.group().alone(step, Err(Misuse::AllocationRange { given: number }), None);
        };
        self.group().in_common(step, |allocated| match *allocated {
            // clause: barcheck.alloc-agrees
            Some(announced) if announced != given => Err(Misuse::AllocationMismatch { announced, given }),
            _ => {
                *allocated = Some(given);
                Ok(())
            }
        })?;
        self.allocated.set(Some(given));
        Ok(())
    }

    /// `init_nbarrier`: a handle on a barrier for so many participants.
    ///
    /// # Errors
    ///
    /// Misuse, or the workgroup given up.
    pub fn init(&self, id: i64, participants: i64) -> Result<Handle, Error> {
        let barrier = nbarrier::barrier(id);
        let handle = barrier.map_err(Misuse::Barrier).and_then(|barrier| {
            let allocated = self.allocated.get();
            if allocated.is_none_or(|allocated| barrier >= allocated) {
                return Err(Misuse::BarrierNotAllocated { barrier, allocated });
            }
            let participants = nbarrier::threads(participants, self.of.subgroups());
            Ok(Handle { barrier, participants: participants.map_err(Misuse::Barrier)? })
        });
        self.group().alone(self.step("init_nbarrier", barrier.ok()), handle, None)
    }

    /// `nbarrier_arrive`: arrives and goes on.
    ///
    /// # Errors
    ///
    /// Misuse, or the workgroup given up.
    pub fn arrive(&self, handle: Handle) -> Result<(), Error> {
        let Handle { barrier, participants } = handle;
        // clause: xegpu.participants, barcheck.xegpu-lowering
        let signal = Signal { producer: true, consumer: true, announced: (participants, participants) };
        self.used.set(self.used.get() | 1 << barrier);
        self.group().execute(self.step("nbarrier_arrive", Some(barrier)), false, |_, slot, report| {
            slot.signal(barrier, self.number, signal, report).map_err(Misuse::Barrier)
        })?;
        self.owed.arrived(barrier);
        Ok(())
    }

    /// `nbarrier_wait`: waits for the others of the generation in which the subgroup arrived.
    ///
    /// # Errors
    ///
    /// Misuse, or the workgroup given up.
    pub fn wait(&self, handle: Handle) -> Result<(), Error> {
        let barrier = handle.barrier;
        self.group().execute(self.step("nbarrier_wait", Some(barrier)), false, |_, slot, _| {
            slot.wait(barrier, self.number).map_err(Misuse::Barrier)
        })?;
        self.owed.waited(barrier);
        Ok(())
    }

    /// `mfence`, which the barriers have nothing to do with.
    ///
    /// # Errors
    ///
    /// The workgroup given up.
    pub fn mfence(&self, kind: MemoryKind) -> Result<(), Error> {
        let name = match kind {
            MemoryKind::Ugm => "mfence ugm",
            MemoryKind::Slm => "mfence slm",
        };
        self.group().alone(self.step(name, None), Ok(()), None)
    }

    /// The end of the subgroup's program, which releases nobody.
    ///
    /// # Errors
    ///
    /// The workgroup given up.
    pub fn exit(self) -> Result<(), Error> {
        let missing = self.owed.missing();
        self.group().alone(self.step("exit", None), Ok(()), missing)?;
        self.group().leave(self.number, self.used.get(), Barrier::holds_arrivals);
        Ok(())
    }

    fn group(&self) -> &Group<R, Option<u32>, Barrier, ()> {
        &self.of.shared.group
    }

    fn step(&self, name: &'static str, barrier: Option<u32>) -> Step {
        Step::of(self.number, name, barrier)
    }
}

impl Handle {
    /// The barrier.
    #[must_use]
    pub fn barrier(self) -> u32 {
        self.barrier
    }

    /// The number of subgroups that take part.
    #[must_use]
    pub fn participants(self) -> u32 {
        self.participants
    }
}

impl Violation for Misuse {
    fn rule(&self) -> Option<Rule> {
        match self {
            Self::AllocationRange { .. } => Some(Rule::BarrierIdRange),
            Self::AllocationMismatch { .. } => Some(Rule::CountMismatch),
            Self::BarrierNotAllocated { .. } => Some(Rule::BarrierNotAllocated),
            Self::Barrier(misuse) => misuse.rule(),
        }
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AllocationRange { given } => write!(f, "{given} barriers of 1 to 32"),
            Self::AllocationMismatch { announced, given } => {
                write!(f, "{given} barriers, where {announced} have been allocated")
            }
            Self::BarrierNotAllocated { barrier, allocated: Some(allocated) } => {
                write!(f, "barrier {barrier} of {allocated} that the subgroup has allocated")
            }
            Self::BarrierNotAllocated { barrier, allocated: None } => {
                write!(f, "barrier {barrier}, where the subgroup has allocated none")
            }
            Self::Barrier(misuse) => misuse.fmt(f),
        }
    }
}

impl std::error::Error for Misuse {}
