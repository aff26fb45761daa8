//! What flows do to cells of memory, in flat tables; see [`crate::packed::locations`].

use crate::packed::layout::{Field, Packed};
use crate::packed::rows::Rows;

/// The flow that does nothing.
pub(crate) const NO_FLOW: u32 = 0;

/// Which flows steps are, and what they do to the contents of cells, as far as known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flows {
    cells: usize,
    /// For each course, by who has exited, the flow.
    of_courses: Rows,
    /// For each flow and cell, by the content before, that after it.
    after: Rows,
    /// For each flow, the cells that it accesses.
    accesses: Vec<u64>,
}

impl Flows {
    /// Nothing is known yet.
    pub(crate) fn new(cells: usize) -> Self {
        Self { cells, ..Self::default() }
    }

    /// The flow of a course that completes no generation.
    #[inline]
    pub(crate) fn of_course(&self, course: u32, exits: u32) -> Option<u32> {
        self.of_courses.get(course as usize, exits)
    }

    /// Remembers the flow of a course.
    pub(crate) fn learn_course(&mut self, course: u32, exits: u32, flow: u32) {
        self.of_courses.set(course as usize, exits, flow);
    }

    /// Remembers the cells that a flow accesses.
    pub(crate) fn learn_accesses(&mut self, flow: u32, accesses: u64) {
        let flow = flow as usize;
        self.accesses.resize(self.accesses.len().max(flow + 1), 0);
        self.accesses[flow] = accesses;
    }

    /// The cells that a flow, known here, accesses.
    #[inline]
    pub(crate) fn accesses(&self, flow: u32) -> u64 {
        self.accesses[flow as usize]
    }

    /// A cell's content after a flow.
    #[inline]
    pub(crate) fn after(&self, flow: u32, cell: usize, content: u32) -> Option<u32> {
        self.after.get(flow as usize * self.cells + cell, content)
    }

    /// Remembers a cell's content after a flow.
    pub(crate) fn learn_after(&mut self, flow: u32, cell: usize, content: u32, after: u32) {
        self.after.set(flow as usize * self.cells + cell, content, after);
    }

    /// Changes a state as a flow does, given the cells that hold anything, if that is known.
    #[inline]
    pub(crate) fn flow<const W: usize>(
        &self,
        fields: &[Field],
        held: u64,
        flow: u32,
        words: &mut Packed<W>,
    ) -> Option<()> {
        if flow == NO_FLOW {
            return Some(());
        }
        for cell in bits(held | self.accesses(flow)) {
            let before = fields[cell].get(words);
            fields[cell].change(words, before, self.after(flow, cell, before)?);
        }
        Some(())
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.of_courses.bytes() + self.after.bytes() + self.accesses.capacity() * size_of::<u64>()
    }
}

/// The bits that are set, as numbers.
#[inline]
pub(crate) fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            bit
        })
    })
}

/// The cells that hold anything.
#[inline]
pub(crate) fn held<const W: usize>(fields: &[Field], words: &Packed<W>) -> u64 {
    let cells = fields.iter().enumerate();
    cells.fold(0, |held, (cell, field)| held | u64::from(field.get(words) != 0) << cell)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::layout::Layout;

    #[test]
    fn a_flow_changes_the_cells_that_hold_something_and_those_that_it_accesses() {
        let fields = Layout::of(&[1], &[], &[5, 5, 5, 5], 1).cells;
        let mut flows = Flows::new(4);
        flows.learn_accesses(NO_FLOW, 0);
        flows.learn_accesses(1, 0b0010);
        for (cell, before, after) in [(0, 3, 4), (1, 0, 2), (1, 2, 0)] {
            flows.learn_after(1, cell, before, after);
        }
        let mut words = [0; 1];
        let contents = |words: &[u64; 1]| fields.iter().map(|field| field.get(words)).collect::<Vec<_>>();
        let mut flow =
            |flow| flows.flow(&fields, held(&fields, &words), flow, &mut words).map(|()| contents(&words));
        assert_eq!(flow(1), Some(vec![0, 2, 0, 0]));
        assert_eq!(flow(NO_FLOW), Some(vec![0, 2, 0, 0]));
        assert_eq!(flow(1), Some(vec![0; 4]));
        fields[0].set(&mut words, 3);
        assert_eq!(flows.flow(&fields, held(&fields, &words), 1, &mut words), Some(()));
        assert_eq!(contents(&words), [4, 2, 0, 0]);
        // What becomes of the content 4 of the first cell is not known.
        assert_eq!(flows.flow(&fields, held(&fields, &words), 1, &mut words), None);
    }

    #[test]
    fn bits_are_counted_from_the_lowest() {
        assert_eq!(bits(1 << 63 | 0b101).collect::<Vec<_>>(), [0, 2, 63]);
        assert_eq!(bits(0).next(), None);
    }
}
