//! What of a state is neither an agent nor a barrier nor memory.

use barcheck_model::machine::{Pending, Sequence, State};
use barcheck_model::program::AgentId;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// The residual of a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Residual {
    pub(crate) sequences: Vec<Sequence>,
    pub(crate) allocated: Option<u32>,
    pub(crate) pending: Vec<Pending>,
}

impl Residual {
    /// Nothing in it makes a step different from what it is without: no decision is left that agents make
    /// alike, and nothing is pending.
    pub(crate) fn is_quiet(&self) -> bool {
        self.sequences.is_empty() && self.pending.is_empty()
    }

    /// The same after agents have been renamed: agent `i` becomes `to[i]`.
    pub(crate) fn renamed(&self, to: &[u32]) -> Self {
        Self {
            sequences: renamed(&self.sequences, to),
            allocated: self.allocated,
            pending: pending_renamed(&self.pending, to),
        }
    }

    /// Orders agents that are alike by what they have decided, and by what they have left pending.
    pub(crate) fn compare(&self, one: usize, other: usize) -> Ordering {
        let positions = |agent: usize| self.sequences.iter().map(move |sequence| sequence.position[agent]);
        let decided = positions(one).cmp(positions(other));
        decided.then_with(|| left_by(&self.pending, one).cmp(left_by(&self.pending, other)))
    }

    /// Bytes in use, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let sequences = self.sequences.iter().map(|sequence| {
            size_of_val(sequence)
                + sequence.ahead.capacity()
                + sequence.position.capacity() * size_of::<u32>()
        });
        size_of::<Self>() + sequences.sum::<usize>() + size_of_val(&self.pending[..])
    }
}

/// The same, as a state has it. It is hashed as a [`Residual`] is, so that one can be looked for that is not
/// there yet.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct ResidualOf<'s> {
    sequences: &'s [Sequence],
    allocated: Option<u32>,
    pending: &'s [Pending],
}

impl<'s> ResidualOf<'s> {
    pub(crate) fn of<K>(state: &'s State<K>) -> Self {
        Self { sequences: &state.sequences, allocated: state.allocated, pending: &state.pending }
    }

    pub(crate) fn to_residual(&self) -> Residual {
        Residual {
            sequences: self.sequences.to_vec(),
            allocated: self.allocated,
            pending: self.pending.to_vec(),
        }
    }

    /// See [`Residual::renamed`].
    pub(crate) fn renamed(&self, to: &[u32]) -> Residual {
        Residual {
            sequences: renamed(self.sequences, to),
            allocated: self.allocated,
            pending: pending_renamed(self.pending, to),
        }
    }

    /// What tells an agent apart from others that are alike, see [`Residual::compare`].
    pub(crate) fn profile(&self, agent: usize) -> impl Ord + use<> {
        let positions: Vec<u32> = self.sequences.iter().map(|sequence| sequence.position[agent]).collect();
        (positions, left_by(self.pending, agent).collect::<Vec<_>>())
    }
}

impl PartialEq<Residual> for ResidualOf<'_> {
    fn eq(&self, residual: &Residual) -> bool {
        let Residual { sequences, allocated, pending } = residual;
        self.allocated == *allocated && self.sequences == sequences && self.pending == pending
    }
}

/// Decisions after agents have been renamed: agent `i` becomes `to[i]`.
fn renamed(sequences: &[Sequence], to: &[u32]) -> Vec<Sequence> {
    let renamed = |sequence: &Sequence| {
        let mut position = sequence.position.clone();
        for (agent, to) in to.iter().enumerate() {
            position[*to as usize] = sequence.position[agent];
        }
        Sequence { ahead: sequence.ahead.clone(), position }
    };
    sequences.iter().map(renamed).collect()
}

/// What is pending after agents have been renamed.
fn pending_renamed(pending: &[Pending], to: &[u32]) -> Vec<Pending> {
    let renamed = |left: &Pending| Pending { agent: AgentId(to[left.agent.index()]), ..*left };
    let mut pending: Vec<Pending> = pending.iter().map(renamed).collect();
    pending.sort_unstable();
    pending
}

/// What an agent has left pending, its name aside.
fn left_by(pending: &[Pending], agent: usize) -> impl Iterator<Item = impl Ord + use<>> {
    pending.iter().filter(move |left| left.agent.index() == agent).map(|left| (left.pc, left.operation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::numbering::Numbered;

    #[test]
    fn a_rest_that_is_there_is_found_by_what_a_state_has() {
        let mut residuals = Numbered::default();
        let decided =
            |ahead: &[bool]| Sequence { ahead: ahead.iter().copied().collect(), position: vec![0, 1] };
        let (one, other) = ([decided(&[true])], [decided(&[true, false])]);
        for (number, sequences, allocated) in [(0, &one[..], Some(3)), (1, &other, Some(3)), (2, &one, None)]
        {
            let residual = ResidualOf { sequences, allocated, pending: &[] };
            assert_eq!(residuals.number(&residual, ResidualOf::to_residual), number);
            assert_eq!(residuals.number(&residual, |_| unreachable!("it is there")), number);
            assert_eq!(residuals.number(&residual.to_residual(), |_| unreachable!("it is there")), number);
        }
        assert_eq!(residuals.from(1).count(), 2);
    }

    #[test]
    fn decisions_go_with_the_agents_that_are_renamed() {
        let before = [Sequence { ahead: [true].into(), position: vec![0, 1, 2] }];
        let after = renamed(&before, &[2, 0, 1]);
        assert_eq!(after, [Sequence { ahead: [true].into(), position: vec![1, 2, 0] }]);
    }
}
