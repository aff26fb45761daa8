//! Threads that work on something together, in steps for which they wait for one another.

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::OnceLock;
use std::thread;

/// Looks for what another thread is about to bring, before it is slept until then. Steps take some microseconds, and waking a
/// thread takes as long.
const LOOKS: u32 = 1 << 14;

/// The calling thread and some others.
#[derive(Debug)]
pub(crate) struct Team {
    /// All but the calling one.
    others: ThreadPool,
}

impl Team {
    /// A team of so many threads, two or more.
    pub(crate) fn new(threads: usize) -> Result<Self, ThreadPoolBuildError> {
        let others = ThreadPoolBuilder::new().num_threads(threads - 1);
        Ok(Self { others: others.thread_name(|number| format!("search {}", number + 1)).build()? })
    }

    /// Threads of the team.
    pub(crate) fn len(&self) -> usize {
        self.others.current_num_threads() + 1
    }

    /// Does the work in every thread at the same time, each with its number and a thing of its own. There are as many
    /// things as threads, so that those who wait for one another all come.
    pub(crate) fn work<T: Send>(&self, things: Vec<T>, work: impl Fn(usize, T) + Sync) {
        debug_assert_eq!(things.len(), self.len());
        let end = Meeting::new(things.len());
        let (work, end) = (&work, &end);
        self.others.in_place_scope(|scope| {
            let mut things = things.into_iter().enumerate();
            let mine = things.next();
            for (number, thing) in things {
                scope.spawn(move |_| {
                    end.bring(number, || work(number, thing));
                });
            }
            mine.into_iter().for_each(|(number, thing)| {
                end.bring(number, || work(number, thing));
            });
        });
    }
}

/// Where each thread brings something, and sees what all of them have brought.
#[derive(Debug)]
pub(crate) struct Meeting<T>(Vec<OnceLock<Option<T>>>);

impl<T> Meeting<T> {
    /// A meeting of so many threads.
    pub(crate) fn new(threads: usize) -> Self {
        Self((0..threads).map(|_| OnceLock::new()).collect())
    }

    /// Brings what one thread makes, and waits for what the others do; `None` if one of them has panicked.
    pub(crate) fn bring(&self, number: usize, make: impl FnOnce() -> T) -> Option<Vec<&T>> {
        let made = catch_unwind(AssertUnwindSafe(make));
        let (brought, panic) = match made {
            Ok(made) => (Some(made), None),
            Err(panic) => (None, Some(panic)),
        };
        // The number is this thread's alone.
        let _ = self.0[number].set(brought);
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
        self.0.iter().map(|one| wait(one).as_ref()).collect()
    }

    /// What has been brought, as far as it was.
    pub(crate) fn into_all(self) -> impl Iterator<Item = T> {
        self.0.into_iter().filter_map(|one| one.into_inner().flatten())
    }
}

fn wait<T>(one: &OnceLock<T>) -> &T {
    for look in 0..LOOKS {
        if let Some(brought) = one.get() {
            return brought;
        }
        // There may be fewer cores than threads.
        if look % 256 == 255 { thread::yield_now() } else { std::hint::spin_loop() }
    }
    one.wait()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn all_threads_see_what_each_has_brought_step_by_step() {
        for threads in 2..6 {
            let team = Team::new(threads).expect("threads");
            for _ in 0..100 {
                let (first, second) = (Meeting::new(threads), Meeting::new(threads));
                let seen = Mutex::new(0);
                team.work((0..threads).collect(), |number, thing| {
                    assert_eq!(number, thing);
                    let sum: usize = first.bring(number, || thing + 1).expect("no panic").into_iter().sum();
                    let product: usize =
                        second.bring(number, || sum).expect("no panic").into_iter().product();
                    *seen.lock().expect("no panic") += product;
                });
                let sum: usize = (1..=threads).sum();
                assert_eq!(seen.into_inner().expect("no panic"), threads * sum.pow(threads as u32));
                assert_eq!(first.into_all().sum::<usize>(), sum);
            }
        }
    }

    #[test]
    fn a_thread_that_panics_leaves_nobody_waiting() {
        let team = Team::new(3).expect("threads");
        let meeting = Meeting::new(3);
        let all = catch_unwind(AssertUnwindSafe(|| {
            team.work(vec![(); 3], |number, ()| {
                assert!(meeting.bring(number, || assert_ne!(number, 1, "as wanted")).is_none());
            });
        }));
        assert!(all.is_err());
        assert_eq!(meeting.into_all().count(), 2);
    }
}
