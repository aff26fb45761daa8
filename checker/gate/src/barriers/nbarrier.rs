//! `NBARRIER` of Intel vISA: 32 named barriers for each thread group.
//!
//! Source: Intel vISA, instruction `NBARRIER`, sections Description and Text.
//!
//! A hardware thread is one thread here. The instruction promises nothing about memory, so a fence has no
//! effect on the barriers; it is told to the observer all the same.

use super::group::{Barriers, Group, Report, Step, Turn};
use super::observer::{Observer, Stop, Violation};
use super::runtime::Runtime;
use barcheck_model::rule::Rule;
use std::cell;
use std::fmt;
use std::sync::Arc;

/// Barriers of a thread group.
// clause: nbarrier.id-range
pub(super) const BARRIERS: usize = 32;

/// A thread group: its barriers and its threads. Clones are the same group.
pub struct ThreadGroup<R: Runtime> {
    shared: Arc<Shared<R>>,
}

struct Shared<R: Runtime> {
    group: Group<R, (), Barrier, ()>,
    threads: usize,
}

/// The hand that one thread has on its group's barriers.
pub struct Thread<R: Runtime> {
    of: ThreadGroup<R>,
    number: usize,
    used: cell::Cell<Barriers>,
    owed: Owed,
}

/// What the instructions must not be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// There is no such barrier: they are 0 to 31.
    BarrierIdRange {
        /// The id given.
        id: i64,
    },
    /// A type is 0 (producer and consumer), 1 (producer) or 2 (consumer).
    TypeRange {
        /// The type given.
        given: i64,
    },
    /// The number of producers or of consumers is not from 1 to the size of the group.
    CountRange {
        /// The number given, in threads.
        given: i64,
        /// The size of the group.
        most: usize,
    },
    /// The active barrier was announced with other numbers.
    CountMismatch {
        /// The barrier.
        barrier: u32,
        /// The numbers of producers and of consumers of those who are there.
        announced: (u32, u32),
        /// The numbers given.
        given: (u32, u32),
    },
    /// The thread has arrived in this generation already.
    RepeatedArrival {
        /// The barrier.
        barrier: u32,
    },
    /// A wait by a thread that was only a producer when it last arrived.
    ProducerWaits {
        /// The barrier.
        barrier: u32,
    },
    /// A wait by a thread that has no arrival outstanding.
    WaitWithoutArrive {
        /// The barrier.
        barrier: u32,
    },
    /// One producer or one consumer more than announced.
    TooManyParticipants {
        /// The barrier.
        barrier: u32,
        /// The numbers of producers and of consumers announced.
        announced: (u32, u32),
    },
    /// The generation would complete for a thread that has yet to take the notification of the one before.
    LostNotification {
        /// The barrier.
        barrier: u32,
        /// The thread.
        thread: usize,
    },
}

/// Why an instruction did not go through.
pub type Error = Stop<Misuse>;

/// What a signal says.
#[derive(Clone, Copy)]
pub(super) struct Signal {
    pub(super) producer: bool,
    pub(super) consumer: bool,
    /// The numbers of producers and of consumers.
    pub(super) announced: (u32, u32),
}

/// A named barrier, whether `NBARRIER` or XeGPU speaks of it.
pub(super) struct Barrier {
    active: Option<Generation>,
    /// For each thread, whether it holds the notification of a completed generation.
    notified: Vec<bool>,
    /// For each thread, whether it was only a producer when it last arrived.
    only_produced: Vec<bool>,
}

struct Generation {
    announced: (u32, u32),
    producers: u32,
    consumers: u32,
    /// The threads that have signalled, and whether as consumers.
    signalled: Vec<(usize, bool)>,
    waiting: Vec<usize>,
}

impl<R: Runtime> ThreadGroup<R> {
    /// A group of so many threads.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self::observed(threads, ())
    }

    /// The same, with somebody who is told of every step.
    #[must_use]
    pub fn observed(threads: usize, observer: impl Observer + 'static) -> Self {
        let group = Group::new(threads, (), barriers(threads), observer);
        Self { shared: Arc::new(Shared { group, threads }) }
    }

    /// The number of threads.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.shared.threads
    }

    /// The hand of one thread. It is to be taken once.
    ///
    /// # Panics
    ///
    /// If the group has no such thread.
    #[must_use]
    pub fn thread(&self, number: usize) -> Thread<R> {
        assert!(number < self.threads(), "thread {number} of {}", self.threads());
        Thread { of: self.clone(), number, used: cell::Cell::new(0), owed: Owed::default() }
    }

    /// Gives the group up: every blocked and every later instruction ends with [`Stop::Aborted`].
    pub fn abort(&self) {
        self.shared.group.abort();
    }
}

impl<R: Runtime> Clone for ThreadGroup<R> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

impl<R: Runtime> Thread<R> {
    /// The thread's number in its group.
    #[must_use]
    pub fn number(&self) -> usize {
        self.number
    }

    /// `NBARRIER.signal` with type and numbers of threads: arrives and goes on.
    ///
    /// # Errors
    ///
    /// Misuse, or the group given up.
    pub fn signal(&self, id: i64, kind: i64, producers: i64, consumers: i64) -> Result<(), Error> {
        let most = self.of.threads();
        let operands = barrier(id).and_then(|barrier| {
            let (producer, consumer) = match kind {
                // clause: nbarrier.type-roles, nbarrier.type-range, barcheck.type-0-counts-twice
                0 => (true, true),
                1 => (true, false),
                2 => (false, true),
                given => return Err(Misuse::TypeRange { given }),
            };
            let announced = (threads(producers, most)?, threads(consumers, most)?);
            Ok((barrier, Signal { producer, consumer, announced }))
        });
        let (barrier, signal) = match operands {
            Ok(operands) => operands,
            Err(misuse) => {
                return self.group().alone(self.step("signal", barrier(id).ok()), Err(misuse), None);
            }
        };
        self.used.set(self.used.get() | 1 << barrier);
        self.group().execute(self.step("signal", Some(barrier)), false, |_, slot, report| {
            slot.signal(barrier, self.number, signal, report)
        })?;
        if signal.consumer {
            self.owed.arrived(barrier);
        }
        Ok(())
    }

    /// `NBARRIER.signal` with one number of threads, all of whom are producers and consumers.
    ///
    /// # Errors
    ///
    /// Misuse, or the group given up.
    pub fn signal_all(&self, id: i64, threads: i64) -> Result<(), Error> {
        self.signal(id, 0, threads, threads)
    }

    /// `NBARRIER.wait`: waits for the others of the generation in which the thread arrived as a consumer.
    ///
    /// # Errors
    ///
    /// Misuse, or the group given up.
    pub fn wait(&self, id: i64) -> Result<(), Error> {
        let barrier = match barrier(id) {
            Ok(barrier) => barrier,
            Err(misuse) => return self.group().alone(self.step("wait", None), Err(misuse), None),
        };
        let step = self.step("wait", Some(barrier));
        self.group().execute(step, false, |_, slot, _| slot.wait(barrier, self.number))?;
        self.owed.waited(barrier);
        Ok(())
    }

    /// A memory fence, which the barriers have nothing to do with.
    ///
    /// # Errors
    ///
    /// The group given up.
    pub fn fence(&self) -> Result<(), Error> {
        self.group().alone(self.step("fence", None), Ok(()), None)
    }

    /// The end of the thread's program, which releases nobody.
    ///
    /// # Errors
    ///
    /// The group given up.
    pub fn exit(self) -> Result<(), Error> {
        self.group().alone(self.step("exit", None), Ok(()), self.owed.missing())?;
        self.group().leave(self.number, self.used.get(), Barrier::holds_arrivals);
        Ok(())
    }

    fn group(&self) -> &Group<R, (), Barrier, ()> {
        &self.of.shared.group
    }

    fn step(&self, name: &'static str, barrier: Option<u32>) -> Step {
        Step::of(self.number, name, barrier)
    }
}

/// The barriers of a group of so many threads, all idle.
pub(super) fn barriers(threads: usize) -> impl Iterator<Item = Barrier> {
    let nobody = move || vec![false; threads];
    let idle = move || Barrier { active: None, notified: nobody(), only_produced: nobody() };
    std::iter::repeat_with(idle).take(BARRIERS)
}

/// The barrier with this id.
pub(super) fn barrier(id: i64) -> Result<u32, Misuse> {
    u32::try_from(id).ok().filter(|id| (*id as usize) < BARRIERS).ok_or(Misuse::BarrierIdRange { id })
}

// clause: nbarrier.producers-range, nbarrier.consumers-range
/// A number of participants in a group of `most` threads.
pub(super) fn threads(given: i64, most: usize) -> Result<u32, Misuse> {
    let sensible = |number: &u32| (1..=most).contains(&(*number as usize));
    u32::try_from(given).ok().filter(sensible).ok_or(Misuse::CountRange { given, most })
}

/// For each barrier, how many waits an agent owes it for its arrivals as a consumer: one for a notification
/// that it has not used, and one more if it has arrived again since.
#[derive(Default)]
pub(super) struct Owed(cell::Cell<[u8; BARRIERS]>);

impl Owed {
    pub(super) fn arrived(&self, barrier: u32) {
        self.change(barrier, |owed| owed.saturating_add(1));
    }

    pub(super) fn waited(&self, barrier: u32) {
        self.change(barrier, |owed| owed.saturating_sub(1));
    }

    /// What an exit leaves undone.
    // clause: barcheck.missing-wait
    pub(super) fn missing(&self) -> impl Iterator<Item = (Rule, Option<u32>)> + use<> {
        let owed = self.0.get().into_iter().zip(0_u32..).filter(|(owed, _)| *owed > 0);
        owed.map(|(_, barrier)| (Rule::MissingWait, Some(barrier)))
    }

    fn change(&self, barrier: u32, change: impl FnOnce(u8) -> u8) {
        let mut owed = self.0.get();
        owed[barrier as usize] = change(owed[barrier as usize]);
        self.0.set(owed);
    }
}

impl Barrier {
    pub(super) fn holds_arrivals(&self) -> bool {
        self.active.is_some()
    }

    /// A signal of `thread`.
    pub(super) fn signal(
        &mut self,
        barrier: u32,
        thread: usize,
        signal: Signal,
        report: &mut Report<()>,
    ) -> Result<Turn<()>, Misuse> {
        let (producers, consumers) = self.counted(barrier, thread, signal)?;
        let complete = (producers, consumers) == signal.announced;
        if complete && let Some(thread) = self.would_lose(thread, signal) {
            return Err(Misuse::LostNotification { barrier, thread });
        }
        // clause: nbarrier.free-after-waits
        if self.notified.contains(&true) {
            report.note(thread, Rule::ReuseBeforeFree, barrier);
        }
        self.only_produced[thread] = !signal.consumer;
        let generation = self.active.get_or_insert_with(|| Generation::new(signal.announced));
        (generation.producers, generation.consumers) = (producers, consumers);
        generation.signalled.push((thread, signal.consumer));
        if complete {
            self.complete(barrier, report);
        }
        Ok(Turn::Done(()))
    }

    // clause: nbarrier.only-consumers-wait, nbarrier.wait-blocks
    /// A wait of `thread`.
    pub(super) fn wait(&mut self, barrier: u32, thread: usize) -> Result<Turn<()>, Misuse> {
        if std::mem::take(&mut self.notified[thread]) {
            return Ok(Turn::Done(()));
        }
        match &mut self.active {
            Some(generation) if generation.signalled.contains(&(thread, true)) => {
                generation.waiting.push(thread);
                Ok(Turn::Blocked)
            }
            _ if self.only_produced[thread] => Err(Misuse::ProducerWaits { barrier }),
            _ => Err(Misuse::WaitWithoutArrive { barrier }),
        }
    }

    // clause: nbarrier.participants-agree, nbarrier.participant-total
    /// How many producers and consumers there are with this one.
    fn counted(&self, barrier: u32, thread: usize, signal: Signal) -> Result<(u32, u32), Misuse> {
        let Signal { announced, producer, consumer } = signal;
        let (mut producers, mut consumers) = (u32::from(producer), u32::from(consumer));
        if let Some(active) = &self.active {
            if active.announced != announced {
                let (announced, given) = (active.announced, announced);
                return Err(Misuse::CountMismatch { barrier, announced, given });
            }
            if active.signalled.iter().any(|(signalled, _)| *signalled == thread) {
                return Err(Misuse::RepeatedArrival { barrier });
            }
            producers += active.producers;
            consumers += active.consumers;
        }
        let too_many = producers > announced.0 || consumers > announced.1;
        if too_many {
            Err(Misuse::TooManyParticipants { barrier, announced })
        } else {
            Ok((producers, consumers))
        }
    }

    // clause: barcheck.lost-notification
    /// A consumer that a completion by this signal of `thread` would notify a second time.
    fn would_lose(&self, thread: usize, signal: Signal) -> Option<usize> {
        let others = self.active.iter().flat_map(|active| &active.signalled).copied();
        let consumers = others.chain([(thread, signal.consumer)]).filter(|(_, consumer)| *consumer);
        consumers.map(|(thread, _)| thread).find(|thread| self.notified[*thread])
    }

    /// Notifies the consumers, of whom those who wait have used their notification up.
    fn complete(&mut self, barrier: u32, report: &mut Report<()>) {
        let Some(generation) = self.active.take() else { return };
        for (thread, consumer) in generation.signalled {
            self.notified[thread] |= consumer && !generation.waiting.contains(&thread);
        }
        report.complete(barrier, generation.waiting.into_iter().map(|thread| (thread, ())).collect());
    }
}

impl Generation {
    fn new(announced: (u32, u32)) -> Self {
        Self { announced, producers: 0, consumers: 0, signalled: Vec::new(), waiting: Vec::new() }
    }
}

impl Violation for Misuse {
    fn rule(&self) -> Option<Rule> {
        Some(match self {
            Self::BarrierIdRange { .. } => Rule::BarrierIdRange,
            Self::TypeRange { .. } => Rule::TypeRange,
            Self::CountRange { .. } => Rule::CountRange,
            Self::CountMismatch { .. } => Rule::CountMismatch,
            Self::RepeatedArrival { .. } => Rule::RepeatedArrival,
            Self::ProducerWaits { .. } => Rule::ProducerWaits,
            Self::WaitWithoutArrive { .. } => Rule::WaitWithoutArrive,
            Self::TooManyParticipants { .. } => Rule::TooManyParticipants,
            Self::LostNotification { .. } => Rule::LostNotification,
        })
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BarrierIdRange { id } => write!(f, "barrier {id} of 0 to 31"),
            Self::TypeRange { given } => write!(f, "type {given} of 0 to 2"),
            Self::CountRange { given, most } => write!(f, "{given} threads in a group of {most}"),
            Self::CountMismatch { barrier, announced, given } => {
                let ((p, c), (producers, consumers)) = (announced, given);
                write!(f, "{producers} producers and {consumers} consumers at barrier {barrier}, ")?;
                write!(f, "which was announced with {p} and {c}")
            }
            Self::RepeatedArrival { barrier } => {
                write!(f, "the thread has arrived in this generation of barrier {barrier} already")
            }
            Self::ProducerWaits { barrier } => {
                write!(f, "a wait at barrier {barrier} by a thread that was only a producer there")
            }
            Self::WaitWithoutArrive { barrier } => {
                write!(f, "a wait at barrier {barrier} without an arrival outstanding")
            }
            Self::TooManyParticipants { barrier, announced: (producers, consumers) } => {
                write!(f, "more than {producers} producers or {consumers} consumers at barrier {barrier}")
            }
            Self::LostNotification { barrier, thread } => {
                write!(f, "thread {thread} has yet to wait for the last generation of barrier {barrier}")
            }
        }
    }
}

impl std::error::Error for Misuse {}
