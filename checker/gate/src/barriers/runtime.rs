//! What threads are made of, so that one implementation of a barrier runs on the standard library, under loom
//! and under shuttle.
//!
//! The three are values of one type parameter instead of conditional compilation: a program can hold all
//! three, and compare them.

use std::ops::DerefMut;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// Threads, locks and memory of one runtime.
///
/// A panic of one thread does not become a panic of another: a lock whose holder panicked is handed over as
/// it is.
pub trait Runtime: Sized + Send + Sync + 'static {
    /// The name in reports.
    const NAME: &'static str;
    /// A lock around a value.
    type Mutex<T: Send + 'static>: Send + Sync + 'static;
    /// The lock held: unlocks when dropped.
    type Guard<'a, T: Send + 'static>: DerefMut<Target = T>;
    /// Where threads wait for a change of what a lock protects.
    type Condvar: Send + Sync + 'static;
    /// A running thread.
    type JoinHandle<T: Send + 'static>: 'static;
    /// The name of a thread, for waking it.
    type Thread: Clone + Send + 'static;
    /// A number shared without a lock.
    type Atomic: Atomic;
    /// A memory location whose accesses are judged for races, where the runtime can.
    type Cell: Cell;

    /// A lock, open.
    fn mutex<T: Send + 'static>(value: T) -> Self::Mutex<T>;

    /// Waits for the lock and takes it.
    fn lock<T: Send + 'static>(mutex: &Self::Mutex<T>) -> Self::Guard<'_, T>;

    /// A condition variable without waiters.
    fn condvar() -> Self::Condvar;

    /// Opens the lock, waits for a notification and takes the lock again. May return without a notification.
    fn wait<'a, T: Send + 'static>(condvar: &Self::Condvar, guard: Self::Guard<'a, T>) -> Self::Guard<'a, T>;

    /// Wakes every thread that waits.
    fn notify_all(condvar: &Self::Condvar);

    /// Starts a thread.
    fn spawn<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> Self::JoinHandle<T>;

    /// Waits for the end of a thread. The error is what the thread panicked with.
    fn join<T: Send + 'static>(handle: Self::JoinHandle<T>) -> std::thread::Result<T>;

    /// The calling thread.
    fn current() -> Self::Thread;

    /// Waits until somebody unparks the calling thread, or has done so since it last parked. May return
    /// without.
    fn park();

    /// Lets a thread go that parks, or its next attempt to.
    fn unpark(thread: &Self::Thread);

    /// Lets others go first.
    fn yield_now();
}

/// A number shared without a lock: loads acquire, stores release.
pub trait Atomic: Send + Sync + 'static {
    /// A number.
    fn new(value: usize) -> Self;
    /// The number now.
    fn load(&self) -> usize;
    /// Replaces the number.
    fn store(&self, value: usize);
    /// Adds, and gives what was there before.
    fn fetch_add(&self, value: usize) -> usize;
}

/// A memory location without a value, of which only the order of its accesses matters.
///
/// Two accesses of different threads race if one of them writes, not both are atomic, and nothing orders
/// them. Under [`Loom`] an access that races with an earlier one panics; the other runtimes do not look.
pub trait Cell: Send + Sync + 'static {
    /// A location that its creator has written.
    fn new() -> Self;
    /// A plain read.
    fn read(&self);
    /// A plain write.
    fn write(&self);
    /// An atomic read-modify-write, which orders nothing by itself.
    fn atomic(&self);
}

/// The standard library's threads.
#[derive(Clone, Copy, Debug)]
pub struct Std;

/// loom: every interleaving that can make a difference. Its objects exist only inside `loom::model`.
#[derive(Clone, Copy, Debug)]
pub struct Loom;

/// shuttle: interleavings drawn by a scheduler. Its objects exist only inside `shuttle::check_random` and the
/// like.
#[derive(Clone, Copy, Debug)]
pub struct Shuttle;

macro_rules! runtime {
    ($runtime:ident, $name:literal, $cell:ty, $stack:expr, $($root:ident)::+) => {
        impl Runtime for $runtime {
            const NAME: &'static str = $name;
            type Mutex<T: Send + 'static> = $($root)::+::sync::Mutex<T>;
            type Guard<'a, T: Send + 'static> = $($root)::+::sync::MutexGuard<'a, T>;
            type Condvar = $($root)::+::sync::Condvar;
            type JoinHandle<T: Send + 'static> = $($root)::+::thread::JoinHandle<T>;
            type Thread = $($root)::+::thread::Thread;
            type Atomic = $($root)::+::sync::atomic::AtomicUsize;
            type Cell = $cell;

            fn mutex<T: Send + 'static>(value: T) -> Self::Mutex<T> {
                $($root)::+::sync::Mutex::new(value)
            }

            fn lock<T: Send + 'static>(mutex: &Self::Mutex<T>) -> Self::Guard<'_, T> {
                mutex.lock().unwrap_or_else(PoisonError::into_inner)
            }

            fn condvar() -> Self::Condvar {
                $($root)::+::sync::Condvar::new()
            }

            fn wait<'a, T: Send + 'static>(
                condvar: &Self::Condvar,
                guard: Self::Guard<'a, T>,
            ) -> Self::Guard<'a, T> {
                condvar.wait(guard).unwrap_or_else(PoisonError::into_inner)
            }

            fn notify_all(condvar: &Self::Condvar) {
                condvar.notify_all();
            }

            fn spawn<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> Self::JoinHandle<T> {
                let thread = $($root)::+::thread::Builder::new().stack_size($stack);
                thread.spawn(run).expect("a thread can be started")
            }

            fn join<T: Send + 'static>(handle: Self::JoinHandle<T>) -> std::thread::Result<T> {
                handle.join()
            }

            fn current() -> Self::Thread {
                $($root)::+::thread::current()
            }

            fn park() {
                $($root)::+::thread::park();
            }

            fn unpark(thread: &Self::Thread) {
                thread.unpark();
            }

            fn yield_now() {
                $($root)::+::thread::yield_now();
            }
        }

        impl Atomic for $($root)::+::sync::atomic::AtomicUsize {
            fn new(value: usize) -> Self {
                Self::new(value)
            }

            fn load(&self) -> usize {
                self.load(Ordering::Acquire)
            }

            fn store(&self, value: usize) {
                self.store(value, Ordering::Release);
            }

            fn fetch_add(&self, value: usize) -> usize {
                self.fetch_add(value, Ordering::AcqRel)
            }
        }
    };
}

/// Bytes of stack for each thread: what an agent evaluates may be nested deeply.
const STACK: usize = 1 << 18;

runtime!(Std, "std", Unwatched, STACK, std);
// loom counts words, and has 32 KiB unless told otherwise.
runtime!(Loom, "loom", LoomCell, STACK / size_of::<usize>(), loom);
runtime!(Shuttle, "shuttle", Unwatched, STACK, shuttle);

/// A location that nobody watches.
#[derive(Debug)]
pub struct Unwatched;

impl Cell for Unwatched {
    fn new() -> Self {
        Self
    }

    fn read(&self) {}

    fn write(&self) {}

    fn atomic(&self) {}
}

/// A location that loom watches.
///
/// loom knows reads and writes. Atomic accesses, which agree among themselves and with nobody else, are
/// written to a cell of the executing thread, and every plain access reads the cells of all threads: two
/// atomic accesses then never touch the same cell, while an atomic and a plain one do, and are judged by the
/// order of the two alone. A real atomic of loom would add interleavings without adding to this.
pub struct LoomCell {
    // loom's cells are not `Sync`. This lock is never contended: no access of a cell gives way to another
    // thread.
    tracked: std::sync::Mutex<Tracked>,
}

struct Tracked {
    plain: loom::cell::UnsafeCell<()>,
    atomic: [loom::cell::UnsafeCell<()>; loom::MAX_THREADS],
    /// The thread of each atomic cell, in the order of their first atomic access.
    threads: Vec<loom::thread::ThreadId>,
}

impl Tracked {
    fn check_atomics(&self) {
        self.atomic.iter().for_each(|cell| cell.with(|_| ()));
    }
}

impl LoomCell {
    fn tracked(&self) -> std::sync::MutexGuard<'_, Tracked> {
        self.tracked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cell for LoomCell {
    fn new() -> Self {
        let cell = || loom::cell::UnsafeCell::new(());
        let atomic = std::array::from_fn(|_| cell());
        Self { tracked: std::sync::Mutex::new(Tracked { plain: cell(), atomic, threads: Vec::new() }) }
    }

    fn read(&self) {
        let tracked = self.tracked();
        tracked.plain.with(|_| ());
        tracked.check_atomics();
    }

    fn write(&self) {
        let tracked = self.tracked();
        tracked.plain.with_mut(|_| ());
        tracked.check_atomics();
    }

    fn atomic(&self) {
        let mut tracked = self.tracked();
        let me = loom::thread::current().id();
        let known = tracked.threads.iter().position(|thread| *thread == me);
        let cell = known.unwrap_or_else(|| {
            tracked.threads.push(me);
            tracked.threads.len() - 1
        });
        tracked.plain.with(|_| ());
        tracked.atomic[cell].with_mut(|_| ());
    }
}
