//! Rows of numbers in one vector, each as long as it has to be.

use crate::packed::numbering::{UNKNOWN, to_u32};

/// Numbers in rows of one vector: where each row begins, and how long it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    rows: Vec<(u32, u32)>,
    numbers: Vec<u32>,
}

impl Rows {
    #[inline]
    pub(crate) fn get(&self, row: usize, at: u32) -> Option<u32> {
        let (first, count) = *self.rows.get(row)?;
        if at >= count {
            return None;
        }
        Some(self.numbers[(first + at) as usize]).filter(|number| *number != UNKNOWN)
    }

    pub(crate) fn set(&mut self, row: usize, at: u32, number: u32) {
        if self.rows.len() <= row {
            self.rows.resize(row + 1, (0, 0));
        }
        let (first, count) = &mut self.rows[row];
        put(&mut self.numbers, (first, count), at, number, UNKNOWN);
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<(u32, u32)>() + self.numbers.capacity() * size_of::<u32>()
    }
}

/// Puts something into a row of things, which moves to the end of all rows if it is too short. Doubling keeps
/// the places left behind fewer than those in use.
pub(crate) fn put<T: Copy>(
    all: &mut Vec<T>,
    (first, count): (&mut u32, &mut u32),
    at: u32,
    thing: T,
    none: T,
) {
    if at >= *count {
        let old = *first as usize..(*first + *count) as usize;
        let (moved, most) = (all.len(), (at + 1).next_power_of_two());
        all.extend_from_within(old);
        all.resize(moved + most as usize, none);
        (*first, *count) = (to_u32(moved), most);
    }
    all[(*first + at) as usize] = thing;
}
