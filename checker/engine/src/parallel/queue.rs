//! What the threads of a pipeline share, and what each of them does.

use crate::packed::layout::{Layout, Packed};
use crate::packed::numbering::to_u32;
use crate::parallel::block::Output;
use crate::parallel::worker::{Expander, Worker};
use crate::successors::canonical::Symmetry;
use crate::successors::swift::Swift;
use crate::successors::tables::Tables;
use crate::visited::{SpareStates, StateId};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, TryLockError};
use std::thread;

/// Looks for what another thread is about to bring, before it is slept until then. Blocks take some
/// microseconds, and waking a thread takes as long.
const LOOKS: u32 = 1 << 14;

/// States to explore, in a row, and what has been made of them.
#[derive(Debug, Default)]
pub(crate) struct Block<const W: usize> {
    pub(crate) number: usize,
    pub(crate) first: StateId,
    pub(crate) states: Vec<Packed<W>>,
    /// So many have been explored.
    pub(crate) explored: usize,
    pub(crate) output: Output<W>,
}

/// What is under way.
#[derive(Debug, Default)]
pub(crate) struct Queue<const W: usize> {
    /// Blocks that nobody has taken.
    pub(crate) open: VecDeque<Box<Block<W>>>,
    /// From the first block that has not been taken back on, those that are made.
    pub(crate) made: VecDeque<Option<Box<Block<W>>>>,
    /// The number of the first of these.
    first: usize,
    /// Memory for states is to be prepared, and is.
    pub(crate) wants_memory: bool,
    pub(crate) memory: Option<SpareStates<W>>,
    pub(crate) is_over: bool,
}

/// What the threads share.
pub(crate) struct Shared<'s, const W: usize> {
    queue: Mutex<Queue<W>>,
    /// Counts changes of the queue.
    changes: AtomicU32,
    changed: Condvar,
    sleepers: AtomicU32,
    known: RwLock<Swift>,
    /// Something is about to be added to what is known.
    is_wanted: AtomicBool,
    /// States of the largest level.
    level: AtomicU32,
    symmetry: &'s Symmetry,
    layout: &'s Layout,
}

/// Ends the work of all when it goes, also where a thread panics.
pub(crate) struct End<'e, 's, const W: usize>(pub(crate) &'e Shared<'s, W>);

impl<const W: usize> Drop for End<'_, '_, W> {
    fn drop(&mut self) {
        self.0.lock().is_over = true;
        self.0.tell();
    }
}

/// Waits for a moment, and leaves the core to others now and then: there may be fewer cores than threads.
fn spin(look: u32) {
    if look % 256 == 255 { thread::yield_now() } else { std::hint::spin_loop() }
}

/// Tries until a lock is free: nobody holds one for long.
fn locked<G>(try_lock: impl Fn() -> Result<G, TryLockError<G>>) -> Result<G, PoisonError<G>> {
    let mut look = 0_u32;
    loop {
        match try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Err(poisoned),
            Err(TryLockError::WouldBlock) => spin(look),
        }
        look = look.wrapping_add(1);
    }
}

impl<'s, const W: usize> Shared<'s, W> {
    /// Nothing is under way. Levels have so many states, until more are expected.
    pub(crate) fn new(known: Swift, symmetry: &'s Symmetry, layout: &'s Layout, level: StateId) -> Self {
        Self {
            queue: Mutex::new(Queue::default()),
            changes: AtomicU32::new(0),
            changed: Condvar::new(),
            sleepers: AtomicU32::new(0),
            known: RwLock::new(known),
            is_wanted: AtomicBool::new(false),
            level: AtomicU32::new(level),
            symmetry,
            layout,
        }
    }

    /// A level has so many states.
    pub(crate) fn expect(&self, states: StateId) {
        self.level.fetch_max(states, Ordering::Relaxed);
    }

    /// How often the queue has changed.
    pub(crate) fn changes(&self) -> u32 {
        self.changes.load(Ordering::Acquire)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Queue<W>> {
        locked(|| self.queue.try_lock()).unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that the queue has changed.
    pub(crate) fn tell(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            let _queue = self.lock();
            self.changed.notify_all();
        }
    }

    /// Waits until the queue is another than it was.
    pub(crate) fn wait(&self, seen: u32) {
        for look in 0..LOOKS {
            if self.changes() != seen {
                return;
            }
            spin(look);
        }
        let mut queue = self.lock();
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        while self.changes.load(Ordering::SeqCst) == seen {
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// What is known; nothing if a thread has panicked.
    fn read(&self) -> Option<RwLockReadGuard<'_, Swift>> {
        let mut look = 0_u32;
        while self.is_wanted.load(Ordering::Acquire) {
            spin(look);
            look = look.wrapping_add(1);
        }
        locked(|| self.known.try_read()).ok()
    }

    /// Lets the other threads know what has been learnt at some states.
    pub(crate) fn publish(&self, tables: &Tables, learnt: &mut Vec<Packed<W>>) {
        if learnt.is_empty() {
            return;
        }
        self.is_wanted.store(true, Ordering::Release);
        let mut known = locked(|| self.known.try_write()).unwrap_or_else(PoisonError::into_inner);
        learnt.drain(..).for_each(|words| known.learn(tables, self.layout, &words));
        drop(known);
        self.is_wanted.store(false, Ordering::Release);
    }

    /// Makes the successors of some more states of a block, as far as they are known, until all are made or
    /// it ends.
    pub(crate) fn explore(
        &self,
        swift: &Swift,
        worker: &mut Worker<W>,
        block: &mut Block<W>,
        ends: impl FnMut() -> bool,
    ) {
        let known = Expander { swift, symmetry: self.symmetry, layout: self.layout };
        let Block { first, states, explored, output, .. } = block;
        worker.filter.fit(self.level.load(Ordering::Relaxed) as usize, || states[0]);
        let bounds = (*first + to_u32(*explored), *first + to_u32(states.len()));
        let next = known.explore(worker, output, bounds, |id| states[(id - *first) as usize], ends);
        *explored = (next - *first) as usize;
    }

    /// What every thread does but the calling one. `None` in the end.
    pub(crate) fn help(&self) -> Option<()> {
        let (_end, mut worker) = (End(self), Worker::default());
        loop {
            let seen = self.changes();
            let mut queue = self.lock();
            if queue.is_over {
                return None;
            }
            if std::mem::take(&mut queue.wants_memory) {
                drop(queue);
                let memory = SpareStates::new();
                self.lock().memory = Some(memory);
                continue;
            }
            let Some(mut block) = queue.open.pop_front() else {
                drop(queue);
                self.wait(seen);
                continue;
            };
            drop(queue);
            while block.explored < block.states.len() {
                let known = self.read()?;
                self.explore(&known, &mut worker, &mut block, || self.is_wanted.load(Ordering::Relaxed));
            }
            self.lock().put(block);
            self.tell();
        }
    }
}

impl<const W: usize> Queue<W> {
    /// A block is made.
    pub(crate) fn put(&mut self, block: Box<Block<W>>) {
        let at = block.number - self.first;
        self.made[at] = Some(block);
    }

    /// The first block that has not been taken back, if it is made.
    pub(crate) fn take(&mut self) -> Option<Box<Block<W>>> {
        self.made.front_mut()?.take().inspect(|_| {
            self.made.pop_front();
            self.first += 1;
        })
    }
}

impl<const W: usize> Block<W> {
    pub(crate) fn bytes(&self) -> usize {
        self.states.capacity() * size_of::<Packed<W>>() + self.output.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Threads that know nothing, and a block of some states for them.
    fn with_help<T>(act: impl FnOnce(&Shared<'_, 1>) -> T) -> T {
        let (symmetry, layout) = (Symmetry::default(), Layout::default());
        let shared = Shared::new(Swift::new(&layout), &symmetry, &layout, 1);
        thread::scope(|scope| {
            let _end = End(&shared);
            let help = scope.spawn(|| shared.help());
            let done = act(&shared);
            drop(End(&shared));
            // Its panic is not one of the test.
            let _ = help.join();
            done
        })
    }

    fn hand_out(shared: &Shared<'_, 1>, number: usize) {
        let block = Block { number, states: vec![[7], [8]], ..Block::default() };
        let mut queue = shared.lock();
        queue.open.push_back(Box::new(block));
        queue.made.push_back(None);
        drop(queue);
        shared.tell();
    }

    fn taken(shared: &Shared<'_, 1>) -> Option<Box<Block<1>>> {
        loop {
            let seen = shared.changes();
            let mut queue = shared.lock();
            if let Some(block) = queue.take() {
                return Some(block);
            }
            if queue.is_over {
                return None;
            }
            drop(queue);
            shared.wait(seen);
        }
    }

    #[test]
    fn a_thread_that_sleeps_wakes_for_a_stretch_and_so_does_who_waits_for_it() {
        with_help(|shared| {
            for number in 0..3 {
                while shared.sleepers.load(Ordering::SeqCst) == 0 {
                    thread::sleep(Duration::from_millis(1));
                }
                hand_out(shared, number);
                let block = taken(shared).expect("a block");
                assert_eq!((block.number, block.explored), (number, 2));
                // Nothing is known: each state is deferred.
                assert_eq!(
                    block
                        .output
                        .deferred
                        .iter()
                        .map(|deferred_state| deferred_state.state)
                        .collect::<Vec<_>>(),
                    [0, 1]
                );
            }
        });
    }

    #[test]
    fn stretches_are_taken_back_in_order() {
        with_help(|shared| {
            shared.lock().made.push_back(None);
            hand_out(shared, 1);
            while shared.lock().made[1].is_none() {
                thread::yield_now();
            }
            assert!(shared.lock().take().is_none());
            shared.lock().put(Box::default());
            assert_eq!([taken(shared), taken(shared)].map(|made| made.map(|m| m.number)), [Some(0), Some(1)]);
        });
    }

    #[test]
    fn a_thread_that_panics_leaves_nobody_waiting() {
        with_help(|shared| {
            // There is no place for this one.
            hand_out(shared, 5);
            assert!(taken(shared).is_none());
        });
    }
}
