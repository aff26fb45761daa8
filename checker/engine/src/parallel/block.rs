//! States to explore in a row, and what a worker has made of them.

use crate::packed::batch::Batch;
use crate::packed::layout::Packed;
use crate::packed::numbering::to_u32;
use crate::visited::StateId;

/// The states that a thread makes, in order.
#[derive(Debug, Default)]
pub(crate) struct Share<const W: usize> {
    pub(crate) made: Batch<W>,
    /// Where each run of them begins, and a state from which on its parents are to be looked for.
    runs: Vec<(u32, StateId)>,
    /// The states whose successors are missing, in order.
    pub(crate) holes: Vec<Hole>,
    /// Transitions from its states, from those with holes aside.
    pub(crate) transitions: u64,
}

/// A part of a share.
pub(crate) enum Made<'s, const W: usize> {
    /// States, and one from which on their parents are to be looked for.
    Run(&'s [Packed<W>], StateId),
    Hole(&'s Hole),
}

/// A state whose successors are missing in a share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hole {
    pub(crate) state: StateId,
    /// The runs that come before.
    runs: usize,
    /// The transitions that come before.
    pub(crate) transitions: u64,
}

impl<const W: usize> Share<W> {
    /// Empties it.
    pub(crate) fn clear(&mut self) {
        self.made.clear();
        self.runs.clear();
        self.holes.clear();
        self.transitions = 0;
    }

    /// All runs and holes in order, until something is returned.
    pub(crate) fn each<T>(&self, mut act: impl FnMut(Made<'_, W>) -> Option<T>) -> Option<T> {
        let mut holes = self.holes.iter().peekable();
        for (number, (from, end, parent)) in self.each_run().enumerate() {
            while let Some(hole) = holes.next_if(|hole| hole.runs <= number) {
                if let Some(end) = act(Made::Hole(hole)) {
                    return Some(end);
                }
            }
            if let Some(end) = act(Made::Run(&self.made.states()[from..end], parent)) {
                return Some(end);
            }
        }
        holes.find_map(|hole| act(Made::Hole(hole)))
    }

    /// What has been made from some place on is a run whose parents are no earlier than a state.
    pub(crate) fn end_run(&mut self, from: usize, parent: StateId) {
        if self.made.len() > from {
            self.runs.push((to_u32(from), parent));
        }
    }

    /// The successors of a state are missing, behind the last run.
    pub(crate) fn leave_hole(&mut self, state: StateId) {
        self.holes.push(Hole { state, runs: self.runs.len(), transitions: self.transitions });
    }

    /// The runs, each with the first of its states and what lies behind it.
    fn each_run(&self) -> impl Iterator<Item = (usize, usize, StateId)> {
        let ends = self.runs.iter().skip(1).map(|(from, _)| *from as usize).chain([self.made.len()]);
        self.runs.iter().zip(ends).map(|((from, parent), end)| (*from as usize, end, *parent))
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.made.bytes() + self.runs.capacity() * size_of::<(u32, StateId)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is made of a share, in order: the states of a run with its parent, or the state of a hole.
    fn all(share: &Share<1>, until: Option<StateId>) -> (Vec<(Vec<u64>, StateId)>, Option<StateId>) {
        let mut all = Vec::new();
        let end = share.each(|made| match made {
            Made::Run(states, parent) => {
                all.push((states.iter().map(|words| words[0]).collect(), parent));
                None
            }
            Made::Hole(hole) => {
                all.push((Vec::new(), hole.state));
                (until == Some(hole.state)).then_some(hole.state)
            }
        });
        (all, end)
    }

    #[test]
    fn runs_and_holes_come_in_order_until_something_is_returned() {
        let mut share = Share::<1>::default();
        share.leave_hole(1);
        for n in 0..3 {
            let from = share.made.len();
            (0..2).for_each(|m| share.made.push([10 * n + m]));
            share.end_run(from, n as StateId);
            share.leave_hole(5 + n as StateId);
        }
        // A run without states is none.
        share.end_run(share.made.len(), 3);
        let (run, hole) = (|n: u64| (vec![10 * n, 10 * n + 1], n as StateId), |state| (Vec::new(), state));
        let expected = [hole(1), run(0), hole(5), run(1), hole(6), run(2), hole(7)];
        assert_eq!(all(&share, None), (expected.to_vec(), None));
        assert_eq!(all(&share, Some(6)), (expected[..5].to_vec(), Some(6)));
        share.clear();
        assert_eq!(all(&share, None), (Vec::new(), None));
    }
}
