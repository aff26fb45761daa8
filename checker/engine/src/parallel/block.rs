//! States to explore in a row, and what a worker has made of them.

use crate::packed::batch::Batch;
use crate::packed::layout::Packed;
use crate::packed::numbering::to_u32;
use crate::visited::StateId;

/// The states that a thread makes, in order.
#[derive(Debug, Default)]
pub(crate) struct Output<const W: usize> {
    pub(crate) made: Batch<W>,
    /// Where each run of them begins, and a state from which on its parents are to be looked for.
    runs: Vec<(u32, StateId)>,
    /// The states whose successors are missing, in order.
    pub(crate) deferred: Vec<Deferred>,
    /// Transitions from its states, from those with deferred states aside.
    pub(crate) transitions: u64,
}

/// A part of an output.
pub(crate) enum Made<'s, const W: usize> {
    /// States, and one from which on their parents are to be looked for.
    Run(&'s [Packed<W>], StateId),
    Deferred(&'s Deferred),
}

/// A state whose successors are missing in an output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deferred {
    pub(crate) state: StateId,
    /// The runs that come before.
    runs: usize,
    /// The transitions that come before.
    pub(crate) transitions: u64,
}

impl<const W: usize> Output<W> {
    /// Empties it.
    pub(crate) fn clear(&mut self) {
        self.made.clear();
        self.runs.clear();
        self.deferred.clear();
        self.transitions = 0;
    }

    /// All runs and deferred states in order, until something is returned.
    pub(crate) fn each<T>(&self, mut act: impl FnMut(Made<'_, W>) -> Option<T>) -> Option<T> {
        let mut deferred = self.deferred.iter().peekable();
        for (number, (from, end, parent)) in self.each_run().enumerate() {
            while let Some(deferred_state) = deferred.next_if(|deferred_state| deferred_state.runs <= number)
            {
                if let Some(end) = act(Made::Deferred(deferred_state)) {
                    return Some(end);
                }
            }
            if let Some(end) = act(Made::Run(&self.made.states()[from..end], parent)) {
                return Some(end);
            }
        }
        deferred.find_map(|deferred_state| act(Made::Deferred(deferred_state)))
    }

    /// What has been made from some place on is a run whose parents are no earlier than a state.
    pub(crate) fn end_run(&mut self, from: usize, parent: StateId) {
        if self.made.len() > from {
            self.runs.push((to_u32(from), parent));
        }
    }

    /// The successors of a state are missing, behind the last run.
    pub(crate) fn defer(&mut self, state: StateId) {
        self.deferred.push(Deferred { state, runs: self.runs.len(), transitions: self.transitions });
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

    /// What is in an output, in order: the states of a run with its parent, or a deferred state.
    fn all(output: &Output<1>, until: Option<StateId>) -> (Vec<(Vec<u64>, StateId)>, Option<StateId>) {
        let mut all = Vec::new();
        let end = output.each(|made| match made {
            Made::Run(states, parent) => {
                all.push((states.iter().map(|words| words[0]).collect(), parent));
                None
            }
            Made::Deferred(deferred_state) => {
                all.push((Vec::new(), deferred_state.state));
                (until == Some(deferred_state.state)).then_some(deferred_state.state)
            }
        });
        (all, end)
    }

    #[test]
    fn runs_and_holes_come_in_order_until_something_is_returned() {
        let mut output = Output::<1>::default();
        output.defer(1);
        for n in 0..3 {
            let from = output.made.len();
            (0..2).for_each(|m| output.made.push([10 * n + m]));
            output.end_run(from, n as StateId);
            output.defer(5 + n as StateId);
        }
        // A run without states is none.
        output.end_run(output.made.len(), 3);
        let (run, deferred_state) =
            (|n: u64| (vec![10 * n, 10 * n + 1], n as StateId), |state| (Vec::new(), state));
        let expected = [
            deferred_state(1),
            run(0),
            deferred_state(5),
            run(1),
            deferred_state(6),
            run(2),
            deferred_state(7),
        ];
        assert_eq!(all(&output, None), (expected.to_vec(), None));
        assert_eq!(all(&output, Some(6)), (expected[..5].to_vec(), Some(6)));
        output.clear();
        assert_eq!(all(&output, None), (Vec::new(), None));
    }
}
