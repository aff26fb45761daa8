//! What of a state is neither an agent nor a barrier nor memory.

use barcheck_model::machine::{Sequence, State};
use indexmap::Equivalent;
use serde::{Deserialize, Serialize};

/// The rest of a state.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Rest {
    pub(crate) sequences: Vec<Sequence>,
    pub(crate) allocated: Option<u32>,
}

impl Rest {
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

/// The same, as a state has it. It is hashed as a [`Rest`] is, so that one can be looked for that is not there yet.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct RestOf<'s> {
    sequences: &'s [Sequence],
    allocated: Option<u32>,
}

impl<'s> RestOf<'s> {
    pub(crate) fn of<K>(state: &'s State<K>) -> Self {
        Self { sequences: &state.sequences, allocated: state.allocated }
    }

    pub(crate) fn to_rest(&self) -> Rest {
        Rest { sequences: self.sequences.to_vec(), allocated: self.allocated }
    }
}

impl Equivalent<Rest> for RestOf<'_> {
    fn equivalent(&self, rest: &Rest) -> bool {
        let Rest { sequences, allocated } = rest;
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
        let mut rests = Numbered::default();
        let decided =
            |ahead: &[bool]| Sequence { ahead: ahead.iter().copied().collect(), position: vec![0, 1] };
        let (one, other) = ([decided(&[true])], [decided(&[true, false])]);
        for (number, sequences, allocated) in [(0, &one[..], Some(3)), (1, &other, Some(3)), (2, &one, None)]
        {
            let rest = RestOf { sequences, allocated };
            assert_eq!(rests.number(&rest, RestOf::to_rest), number);
            assert_eq!(rests.number(&rest, |_| unreachable!("it is there")), number);
            assert_eq!(rests.number(&rest.to_rest(), |_| unreachable!("it is there")), number);
        }
        assert_eq!(rests.from(1).count(), 2);
    }

    #[test]
    fn decisions_go_with_the_agents_that_are_renamed() {
        let before = [Sequence { ahead: [true].into(), position: vec![0, 1, 2] }];
        let after = renamed(&before, &[2, 0, 1]);
        assert_eq!(after, [Sequence { ahead: [true].into(), position: vec![1, 2, 0] }]);
    }
}
