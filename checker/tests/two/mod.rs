//! Work for two threads, as many as a small machine has cores: a long test by itself would leave one idle.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::sync::atomic::{AtomicUsize, Ordering};

/// What a function makes of each of some seeds, in their order.
pub(crate) fn of_seeds<R: Send>(seeds: std::ops::Range<u64>, f: impl Fn(u64) -> R + Sync) -> Vec<R> {
    in_two_threads(&seeds.collect::<Vec<_>>(), |seed| f(*seed))
}

/// What a function makes of each of some things, in their order.
pub(crate) fn in_two_threads<T: Sync, R: Send>(all: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(one) = all.get(index) else { return done };
            done.push((index, f(one)));
        }
    };
    let mut done = std::thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
