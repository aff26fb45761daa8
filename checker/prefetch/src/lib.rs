//! Memory that will be looked at soon, fetched while something else is done.
//!
//! A search looks for each state it makes at a place as good as random, most often far outside the caches. To
//! read the places of many states before any of them is needed overlaps these misses, but each read keeps its
//! place among the instructions under way until it has ended, and these places are few. A prefetch gives its
//! place up at once.
//!
//! This is the only unsafe block of the project, and in a crate of its own so that the compiler forbids any
//! in the others.

/// Has a word fetched into the caches. Nothing that can be observed changes, but for the time that it takes
/// to read it later.
///
/// On processors for which this knows no instruction it reads the word.
#[inline(always)]
pub fn prefetch<T: Copy>(word: &T) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse"))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        // SAFETY: the function asks for nothing but a processor that has SSE, and this is compiled for none
        // that has not. The instruction reads and writes nothing, and no address makes it fail; this one is
        // that of a reference, so that not even the pointer is out of the ordinary.
        #[expect(unsafe_code, reason = "the instruction has no other form")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(word).cast());
        }
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse")))]
    {
        std::hint::black_box(*word);
    }
}

#[cfg(test)]
mod tests {
    use super::prefetch;

    #[test]
    fn what_is_fetched_stays_as_it_is_wherever_it_lies() {
        let mut words: Vec<u32> = (0..5000).collect();
        words.iter().for_each(prefetch);
        assert!(words.iter().copied().eq(0..5000));
        // The last word of what has been allocated, and one whose line of the cache begins with another one.
        words.shrink_to_fit();
        words.last().into_iter().for_each(prefetch);
        let pair = Box::new((1_u8, 2_u64));
        prefetch(&pair.1);
        assert_eq!(*pair, (1, 2));
        // Nothing is there to be fetched.
        prefetch(&());
        prefetch(&NOTHING);
        assert_eq!(NOTHING.len(), 0);
    }

    const NOTHING: [u64; 0] = [];
}
