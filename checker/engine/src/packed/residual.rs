//! What of a state is neither an agent nor a barrier nor memory.

use barcheck_model::machine::{Sequence, State};
use serde::{Deserialize, Serialize};

/// The residual of a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Residual {
    pub(crate) sequences: Vec<Sequence>,
    pub(crate) allocated: Option<u32>,
}

impl Residual {
    /// Bytes in use, roughly.
    pub(crate) fn bytes(&self) -> usize {
        let sequences = self.sequences.iter().map(|sequence| {
            size_of_val(sequence)
                + sequence.ahead.capacity()
                + sequence.position.capacity() * size_of::<u32>()
        });
        size_of::<Self>() + sequences.sum::<usize>()
    }
}

/// The same, as a state has it. It is hashed as a [`Residual`] is, so that one can be looked for that is not
/// there yet.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct ResidualOf<'s> {
    sequences: &'s [Sequence],
    allocated: Option<u32>,
}

impl<'s> ResidualOf<'s> {
    pub(crate) fn of<K>(state: &'s State<K>) -> Self {
        Self { sequences: &state.sequences, allocated: state.allocated }
    }

    pub(crate) fn to_residual(&self) -> Residual {
        Residual { sequences: self.sequences.to_vec(), allocated: self.allocated }
    }
}

impl PartialEq<Residual> for ResidualOf<'_> {
    fn eq(&self, residual: &Residual) -> bool {
        let Residual { sequences, allocated } = residual;
        self.allocated == *allocated && self.sequences == sequences
    }
}

/// Decisions after agents have been renamed: agent `i` becomes `to[i]`.
pub(crate) fn renamed(sequences: &[Sequence], to: &[u32]) -> Vec<Sequence> {
    let renamed = |sequence: &Sequence| {
        let mut position = sequence.position.clone();
        for (agent, to) in to.iter().enumerate() {
            position[*to as usize] = sequence.position[agent];
        }
        Sequence { ahead: sequence.ahead.clone(), position }
    };
    sequences.iter().map(renamed).collect()
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
            let residual = ResidualOf { sequences, allocated };
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
