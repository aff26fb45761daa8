//! Memory for what a search has most of: states, and where they are found again.
//!
//! It comes from the system directly, and with large pages where there are such and it is wanted: a search
//! touches every page of it in no order, and spends a tenth of its time, or more, on pages that are touched
//! for the first time and on finding out where they are.

use bytemuck::Pod;
use memmap2::MmapMut;
use std::alloc::{Layout, handle_alloc_error};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// Bytes of a large page, at most, on systems whose usual ones have 4 KiB.
pub(crate) const LARGE_PAGE: usize = 1 << 21;

/// So many things, all bits of which are 0 at first. What is not touched takes no memory.
pub(crate) struct Pages<T> {
    map: MmapMut,
    things: PhantomData<T>,
}

impl<T: Pod> Pages<T> {
    /// Ends the process if there is no memory, as every collection does.
    pub(crate) fn new(things: usize) -> Self {
        let bytes = things.saturating_mul(size_of::<T>());
        let Ok(map) = MmapMut::map_anon(bytes) else {
            handle_alloc_error(Layout::array::<T>(things).unwrap_or(Layout::new::<T>()))
        };
        Self { map, things: PhantomData }
    }

    /// Wants large pages, if it is large enough for one: all of a page is taken as soon as any of it is
    /// touched.
    pub(crate) fn with_large_pages(self) -> Self {
        #[cfg(target_os = "linux")]
        if self.map.len() >= LARGE_PAGE {
            // Without them it is as good, but slower.
            let _ = self.map.advise(memmap2::Advice::HugePage);
        }
        self
    }
}

impl<T: Pod> Deref for Pages<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.map)
    }
}

impl<T: Pod> DerefMut for Pages<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.map)
    }
}

impl<T: Pod> AsRef<[T]> for Pages<T> {
    #[inline(always)]
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T: Pod> AsMut<[T]> for Pages<T> {
    #[inline(always)]
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T: Pod> fmt::Debug for Pages<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block").field("len", &self.len()).finish_non_exhaustive()
    }
}
