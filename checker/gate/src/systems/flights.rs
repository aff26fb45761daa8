//! What is in flight: copies and commits, which land on a thread of their own.
//!
//! One thread lands them all, the main one, which has nothing else to do: loom runs few threads. Which one
//! lands next is a decision like those of the protocol, so that every order is tried.

use crate::barriers::Runtime;
use crate::barriers::mbarrier::Flight;
use crate::record::Record;
use barcheck_model::program::LocationId;
use barcheck_model::rule::Rule;

/// What the agents of an execution have left in flight.
pub(super) struct Flights<R: Runtime> {
    queue: R::Mutex<Queue<R>>,
}

struct Queue<R: Runtime> {
    /// In the order in which they were left.
    pending: Vec<InFlight<R>>,
    /// Agents of each CTA that have yet to exit.
    live: Vec<usize>,
    /// Agents whose threads have yet to end.
    threads: usize,
    /// The thread that lands, while it has nothing to do.
    waiter: Option<R::Thread>,
}

/// A copy or a commit, and where it writes.
pub(super) struct InFlight<R: Runtime> {
    pub(super) flight: Flight<R>,
    pub(super) location: Option<LocationId>,
}

impl<R: Runtime> InFlight<R> {
    fn is_like(&self, other: &Self) -> bool {
        self.location == other.location && self.flight.is_like(&other.flight)
    }
}

impl<R: Runtime> Flights<R> {
    /// Of CTAs with so many agents each.
    pub(super) fn new(ctas: usize, agents: usize) -> Self {
        let live = vec![agents; ctas];
        let queue = Queue { pending: Vec::new(), live, threads: ctas * agents, waiter: None };
        Self { queue: R::mutex(queue) }
    }

    /// One more.
    pub(super) fn add(&self, left: InFlight<R>) {
        let mut queue = R::lock(&self.queue);
        queue.pending.push(left);
        wake::<R>(queue.waiter.take(), || drop(queue));
    }

    /// An agent of a CTA exits, which `step` tells. What is in flight to its own CTA once all have exited is
    /// noted.
    // clause: barcheck.in-flight-at-exit, barcheck.commit-at-exit
    pub(super) fn at_exit<T>(&self, cta: usize, record: &Record, step: impl FnOnce() -> T) -> T {
        let mut queue = R::lock(&self.queue);
        let result = step();
        queue.live[cta] -= 1;
        if queue.live[cta] == 0 {
            let own = |left: &&InFlight<R>| left.flight.cta() == cta && left.flight.home() == cta;
            for left in queue.pending.iter().filter(own) {
                record.note(match left.flight.is_commit() {
                    true => Rule::CommitAtExit,
                    false => Rule::InFlightAtExit,
                });
            }
        }
        self.end(queue);
        result
    }

    /// The thread of an agent ends that has not exited.
    pub(super) fn abandon(&self) {
        self.end(R::lock(&self.queue));
    }

    fn end(&self, mut queue: R::Guard<'_, Queue<R>>) {
        queue.threads -= 1;
        let waiter = if queue.threads == 0 { queue.waiter.take() } else { None };
        wake::<R>(waiter, || drop(queue));
    }

    /// The next to land, as `pick` has it of so many that differ; waits for one. None once nothing is in
    /// flight and nobody can leave anything.
    pub(super) fn next(&self, pick: impl FnOnce(usize) -> usize) -> Option<InFlight<R>> {
        loop {
            let mut queue = R::lock(&self.queue);
            let pending = &queue.pending;
            let is_first = |at: &usize| !pending[..*at].iter().any(|other| other.is_like(&pending[*at]));
            let differ: Vec<usize> = (0..pending.len()).filter(is_first).collect();
            match differ.len() {
                0 if queue.threads == 0 => return None,
                0 => {
                    queue.waiter = Some(R::current());
                    drop(queue);
                    R::park();
                }
                1 => return Some(queue.pending.remove(0)),
                n => return Some(queue.pending.remove(differ[pick(n)])),
            }
        }
    }
}

/// Wakes a thread when the lock is open again.
fn wake<R: Runtime>(waiter: Option<R::Thread>, open: impl FnOnce()) {
    open();
    if let Some(thread) = waiter {
        R::unpark(&thread);
    }
}
