//! What transformers do to location classes, in flat tables; see [`crate::packed::locations`].

use crate::packed::layout::{Field, Packed};
use crate::packed::rows::Rows;

/// The transformer that does nothing.
pub(crate) const IDENTITY: u32 = 0;

/// Which transformers steps are, and what they do to the abstract values of location classes, as far as
/// known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transformers {
    location_classes: usize,
    /// For each memory step, by who has exited, the transformer.
    of_steps: Rows,
    /// For each transformer and location class, by the abstract value before, that after it.
    after: Rows,
    /// For each transformer, the location classes that it accesses.
    accesses: Vec<u64>,
}

impl Transformers {
    /// Nothing is known yet.
    pub(crate) fn new(location_classes: usize) -> Self {
        Self { location_classes, ..Self::default() }
    }

    /// The transformer of a memory step that completes no generation.
    #[inline]
    pub(crate) fn of_step(&self, memory_step: u32, exits: u32) -> Option<u32> {
        self.of_steps.get(memory_step as usize, exits)
    }

    /// Remembers the transformer of a memory step.
    pub(crate) fn learn_step(&mut self, memory_step: u32, exits: u32, transformer: u32) {
        self.of_steps.set(memory_step as usize, exits, transformer);
    }

    /// Remembers the location classes that a transformer accesses.
    pub(crate) fn learn_accesses(&mut self, transformer: u32, accesses: u64) {
        let transformer = transformer as usize;
        self.accesses.resize(self.accesses.len().max(transformer + 1), 0);
        self.accesses[transformer] = accesses;
    }

    /// The location classes that a transformer, known here, accesses.
    #[inline]
    pub(crate) fn accesses(&self, transformer: u32) -> u64 {
        self.accesses[transformer as usize]
    }

    /// An abstract value of a location class after a transformer.
    #[inline]
    pub(crate) fn after(&self, transformer: u32, location_class: usize, value: u32) -> Option<u32> {
        self.after.get(transformer as usize * self.location_classes + location_class, value)
    }

    /// Remembers an abstract value of a location class after a transformer.
    pub(crate) fn learn_after(&mut self, transformer: u32, location_class: usize, value: u32, after: u32) {
        self.after.set(transformer as usize * self.location_classes + location_class, value, after);
    }

    /// Changes a state as a transformer does, given the location classes that hold anything, if that is
    /// known.
    #[inline]
    pub(crate) fn apply<const W: usize>(
        &self,
        fields: &[Field],
        held: u64,
        transformer: u32,
        words: &mut Packed<W>,
    ) -> Option<()> {
        if transformer == IDENTITY {
            return Some(());
        }
        for location_class in bits(held | self.accesses(transformer)) {
            let before = fields[location_class].get(words);
            fields[location_class].change(words, before, self.after(transformer, location_class, before)?);
        }
        Some(())
    }

    /// Bytes in use.
    pub(crate) fn bytes(&self) -> usize {
        self.of_steps.bytes() + self.after.bytes() + self.accesses.capacity() * size_of::<u64>()
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

/// The location classes that hold anything.
#[inline]
pub(crate) fn held<const W: usize>(fields: &[Field], words: &Packed<W>) -> u64 {
    let location_classes = fields.iter().enumerate();
    location_classes
        .fold(0, |held, (location_class, field)| held | u64::from(field.get(words) != 0) << location_class)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packed::layout::Layout;

    #[test]
    fn a_flow_changes_the_cells_that_hold_something_and_those_that_it_accesses() {
        let fields = Layout::of(&[1], &[], &[5, 5, 5, 5], 1).location_classes;
        let mut transformers = Transformers::new(4);
        transformers.learn_accesses(IDENTITY, 0);
        transformers.learn_accesses(1, 0b0010);
        for (location_class, before, after) in [(0, 3, 4), (1, 0, 2), (1, 2, 0)] {
            transformers.learn_after(1, location_class, before, after);
        }
        let mut words = [0; 1];
        let values = |words: &[u64; 1]| fields.iter().map(|field| field.get(words)).collect::<Vec<_>>();
        let mut transformer = |transformer| {
            transformers
                .apply(&fields, held(&fields, &words), transformer, &mut words)
                .map(|()| values(&words))
        };
        assert_eq!(transformer(1), Some(vec![0, 2, 0, 0]));
        assert_eq!(transformer(IDENTITY), Some(vec![0, 2, 0, 0]));
        assert_eq!(transformer(1), Some(vec![0; 4]));
        fields[0].set(&mut words, 3);
        assert_eq!(transformers.apply(&fields, held(&fields, &words), 1, &mut words), Some(()));
        assert_eq!(values(&words), [4, 2, 0, 0]);
        // What becomes of the abstract value 4 of the first location class is not known.
        assert_eq!(transformers.apply(&fields, held(&fields, &words), 1, &mut words), None);
    }

    #[test]
    fn bits_are_counted_from_the_lowest() {
        assert_eq!(bits(1 << 63 | 0b101).collect::<Vec<_>>(), [0, 2, 63]);
        assert_eq!(bits(0).next(), None);
    }
}
