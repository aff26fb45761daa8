//! How a state is packed into machine words: one field for each agent, for each barrier in use, for each
//! location class of memory, and one for the residual.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// A state, packed.
pub(crate) type Packed<const W: usize> = [u64; W];

/// A hash of the words: of each product both halves are used, so that high and low bits are good.
#[inline]
pub(crate) fn hash<const W: usize>(words: &Packed<W>) -> u64 {
    let mut h = 0x243f_6a88_85a3_08d3_u64;
    for word in words {
        let product = u128::from(h.rotate_left(23) ^ word) * 0x9e37_79b9_7f4a_7c15_u128;
        #[expect(clippy::cast_possible_truncation, reason = "both halves are used")]
        let folded = product as u64 ^ (product >> 64) as u64;
        h = folded;
    }
    h
}

/// Where a field lies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    mask: u32,
    word: u16,
    shift: u8,
}

impl Field {
    #[inline]
    pub(crate) fn get<const W: usize>(self, words: &Packed<W>) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "fields have at most 32 bits")]
        let value = (words[self.word::<W>()] >> self.shift) as u32 & self.mask;
        value
    }

    /// The word in which the field lies. Where there is one word only, that need not be looked up.
    #[inline]
    fn word<const W: usize>(self) -> usize {
        if W == 1 { 0 } else { self.word as usize }
    }

    /// Whether a number fits.
    pub(crate) fn has_room_for(self, number: u32) -> bool {
        number <= self.mask
    }

    /// What has to be added to the field's word to change its value, if the field has room for the new one.
    pub(crate) fn difference(self, from: u32, to: u32) -> Option<u64> {
        self.has_room_for(to).then(|| u64::from(to).wrapping_sub(u64::from(from)) << self.shift)
    }

    /// Whether the field lies in the first word.
    pub(crate) fn is_in_first_word(self) -> bool {
        self.word == 0
    }

    /// Adds a difference.
    #[inline]
    pub(crate) fn add<const W: usize>(self, words: &mut Packed<W>, difference: u64) {
        let word = &mut words[self.word::<W>()];
        *word = word.wrapping_add(difference);
    }

    /// Sets the field, given what it holds.
    #[inline]
    pub(crate) fn change<const W: usize>(self, words: &mut Packed<W>, from: u32, to: u32) {
        // More would be carried into another field.
        debug_assert!(self.has_room_for(to), "{to} in {self:?}");
        let word = &mut words[self.word::<W>()];
        *word = word.wrapping_add(u64::from(to).wrapping_sub(u64::from(from)) << self.shift);
    }

    #[inline]
    pub(crate) fn set<const W: usize>(self, words: &mut Packed<W>, value: u32) {
        let word = &mut words[self.word::<W>()];
        *word = *word & !(u64::from(self.mask) << self.shift) | u64::from(value) << self.shift;
    }
}

/// A barrier's field, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BarrierField(u32);

impl BarrierField {
    /// A step that touches no barrier; its number is always 0.
    pub(crate) const NONE: Self = Self(0);

    pub(crate) fn of(field: usize) -> Self {
        Self(crate::packed::numbering::to_u32(field + 1))
    }

    /// The field, if there is one.
    pub(crate) fn field(self) -> Option<usize> {
        (self.0 as usize).checked_sub(1)
    }
}

/// The bits that several fields have in each word.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    fn of(fields: &[Field]) -> Self {
        let mut bits = Self::default();
        for field in fields {
            let word = field.word as usize;
            bits.0.resize(bits.0.len().max(word + 1), 0);
            bits.0[word] |= u64::from(field.mask) << field.shift;
        }
        bits
    }

    /// Whether some field is not 0.
    #[inline]
    pub(crate) fn are_set<const W: usize>(&self, words: &Packed<W>) -> bool {
        words.iter().zip(&self.0).any(|(word, bits)| word & bits != 0)
    }
}

/// How many numbers of each kind there are: what a layout depends on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Sizes {
    /// For each agent, the slots of its class.
    pub(crate) agents: Vec<usize>,
    /// For each barrier, its states.
    pub(crate) barriers: Vec<usize>,
    /// For each location class, its abstract values.
    pub(crate) location_classes: Vec<usize>,
    pub(crate) residuals: usize,
}

impl Sizes {
    /// The layout with room for such numbers.
    pub(crate) fn layout(&self) -> Layout {
        Layout::of(&self.agents, &self.barriers, &self.location_classes, self.residuals)
    }

    /// Whether all numbers of a state are among these.
    pub(crate) fn hold<const W: usize>(&self, layout: &Layout, words: &Packed<W>) -> bool {
        let among = |field: &Field, size: usize| (field.get(words) as usize) < size.max(1);
        layout.agents.iter().zip(&self.agents).all(|(field, size)| among(field, *size))
            && layout.barriers.iter().zip(&self.barriers).all(|(field, size)| among(field, *size))
            && layout
                .location_classes
                .iter()
                .zip(&self.location_classes)
                .all(|(field, size)| among(field, *size))
            && among(&layout.residual, self.residuals)
    }
}

/// The fields of a packed state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) agents: Vec<Field>,
    pub(crate) barriers: Vec<Field>,
    /// A field without bits, and the barriers.
    with_none: Vec<Field>,
    pub(crate) location_classes: Vec<Field>,
    /// The bits of location classes.
    pub(crate) memory: Bits,
    pub(crate) residual: Field,
    /// Words that the fields need.
    pub(crate) words: usize,
}

impl Layout {
    /// A barrier's number. A barrier that became known only now has no field yet, and has never been used.
    #[inline]
    pub(crate) fn barrier<const W: usize>(&self, barrier: BarrierField, words: &Packed<W>) -> u32 {
        self.with_none.get(barrier.0 as usize).map_or(0, |field| field.get(words))
    }

    /// A barrier's field, if it has one already; without bits if there is no barrier.
    pub(crate) fn barrier_field(&self, barrier: BarrierField) -> Option<Field> {
        self.with_none.get(barrier.0 as usize).copied()
    }

    /// Changes a barrier's number, if it is one.
    #[inline]
    pub(crate) fn set_barrier<const W: usize>(
        &self,
        barrier: BarrierField,
        words: &mut Packed<W>,
        number: u32,
    ) {
        self.with_none[barrier.0 as usize].set(words, number);
    }

    /// Whether memory holds anything.
    #[inline]
    pub(crate) fn remembers<const W: usize>(&self, words: &Packed<W>) -> bool {
        self.memory.are_set(words)
    }

    /// All fields, the barriers' last: with time there are more of these.
    pub(crate) fn fields(&self) -> impl Iterator<Item = Field> {
        let fields = self.location_classes.iter().chain(&self.agents).chain(&self.barriers);
        std::iter::once(self.residual).chain(fields.copied())
    }

    /// Lays out fields that hold numbers below these sizes. Fields do not cross words. Bits that are left
    /// over in the words needed are given to the fields, so that they need not be moved soon. Agents with as
    /// many slots have fields of one width: slots of a class have room with all of its agents, or with none.
    pub(crate) fn of(
        agents: &[usize],
        barriers: &[usize],
        location_classes: &[usize],
        residual: usize,
    ) -> Self {
        // Abstract values of memory keep turning up, and all states are moved whenever one has no room.
        let spacious: Vec<usize> = location_classes.iter().map(|size| size + size / 2).collect();
        let sizes = [agents, barriers, &spacious, &[residual]].concat();
        let alike = |field: &usize| agents.get(*field).map_or((true, *field), |size| (false, *size));
        let (mut fields, words) = place(&sizes.into_iter().map(bits).collect::<Vec<_>>(), alike);
        let residual = fields.pop().unwrap_or_default();
        let location_classes = fields.split_off(agents.len() + barriers.len());
        let barriers = fields.split_off(agents.len());
        let with_none = [Field::default()].iter().chain(&barriers).copied().collect();
        let memory = Bits::of(&location_classes);
        Self { agents: fields, barriers, with_none, location_classes, memory, residual, words }
    }
}

/// Places fields of at least these widths in as few words as it can. Fields that are alike have equal widths
/// then, as before.
fn place<K: Ord>(least: &[u32], alike: impl Fn(&usize) -> K) -> (Vec<Field>, usize) {
    let mut order: Vec<usize> = (0..least.len()).collect();
    order.sort_by_key(|field| Reverse(least[*field]));
    let placed = into_first(&order, least);
    let placed = into_emptiest(&order, least, placed.spare.len()).unwrap_or(placed);
    let widths = placed.widened(&order, least, alike);
    let (mut fields, mut used) = (vec![Field::default(); least.len()], vec![0; placed.spare.len()]);
    for field in order {
        let (word, bits) = (placed.word_of[field], widths[field]);
        // A field without bits reads as zero wherever it lies; keep the shift legal.
        let shift = if bits == 0 { 0 } else { used[word] };
        used[word] += bits;
        // More words than that are more than any search has room for.
        let (word, shift) = (u16::try_from(word).unwrap_or(u16::MAX), u8::try_from(shift).unwrap_or(0));
        fields[field] = Field { word, shift, mask: u32::MAX.checked_shr(32 - bits).unwrap_or(0) };
    }
    (fields, used.len())
}

/// Fields in words.
struct Placed {
    /// The word of each field.
    word_of: Vec<usize>,
    /// The bits that are left over in each word.
    spare: Vec<u32>,
}

/// Puts each field into the first word that has room. With the largest first, little is lost at the ends of
/// words.
fn into_first(order: &[usize], widths: &[u32]) -> Placed {
    let mut placed = Placed { word_of: vec![0; widths.len()], spare: vec![u64::BITS] };
    for field in order {
        let Placed { word_of, spare } = &mut placed;
        word_of[*field] = spare.iter().position(|bits| *bits >= widths[*field]).unwrap_or_else(|| {
            spare.push(u64::BITS);
            spare.len() - 1
        });
        spare[word_of[*field]] -= widths[*field];
    }
    placed
}

/// Puts each field into the word that has most room, of so many, if that does: so what is left over is
/// spread.
fn into_emptiest(order: &[usize], widths: &[u32], words: usize) -> Option<Placed> {
    let mut placed = Placed { word_of: vec![0; widths.len()], spare: vec![u64::BITS; words] };
    for field in order {
        let (word, bits) = placed.spare.iter_mut().enumerate().min_by_key(|(_, bits)| Reverse(**bits))?;
        *bits = bits.checked_sub(widths[*field])?;
        placed.word_of[*field] = word;
    }
    Some(placed)
}

impl Placed {
    /// The widths of fields, once the bits that are left over are given to them in turn, the widest first,
    /// and to those that are alike together.
    fn widened<K: Ord>(&self, order: &[usize], widths: &[u32], alike: impl Fn(&usize) -> K) -> Vec<u32> {
        let (mut widths, mut spare) = (widths.to_vec(), self.spare.clone());
        let mut groups: BTreeMap<K, Vec<usize>> = BTreeMap::new();
        order.iter().for_each(|field| groups.entry(alike(field)).or_default().push(*field));
        let mut groups: Vec<_> = groups.into_values().collect();
        groups.sort_by_key(|group| Reverse(widths[group[0]]));
        while !groups.is_empty() {
            // Who finds no room now will not find any later.
            groups.retain(|group| {
                let mut left = spare.clone();
                let mut takes = |word: usize| left[word].checked_sub(1).map(|bits| left[word] = bits);
                let have_room = widths[group[0]] < u32::BITS
                    && group.iter().all(|field| takes(self.word_of[*field]).is_some());
                if have_room {
                    group.iter().for_each(|field| widths[*field] += 1);
                    spare = left;
                }
                have_room
            });
        }
        widths
    }
}

/// Bits that tell `size` numbers apart.
pub(crate) fn bits(size: usize) -> u32 {
    usize::BITS - size.saturating_sub(1).leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_values_apart() {
        let layout = Layout::of(&[5, 1, 1 << 31], &[2, 300], &[7, 1], 1 << 30);
        let fields: Vec<_> = layout.fields().collect();
        let values = [(1 << 30) - 1, 6, 0, 4, 0, (1 << 31) - 1, 1, 299];
        let mut words = [0; 2];
        assert_eq!(layout.words, 2);
        for (field, value) in fields.iter().zip(values) {
            field.set(&mut words, value);
            assert_eq!(layout.remembers(&words), *field != layout.residual);
        }
        let mut words = [0; 2];
        for (field, value) in fields.iter().zip(values) {
            field.set(&mut words, value);
        }
        let read: Vec<_> = fields.iter().map(|f| f.get(&words)).collect();
        assert_eq!(read, values);
        fields[7].set(&mut words, 0);
        assert_eq!(fields[7].get(&words), 0);
        assert_eq!(fields[5].get(&words), (1 << 31) - 1);
        fields[1].set(&mut words, 0);
        assert!(!layout.remembers(&words));
    }

    #[test]
    fn agents_with_as_many_slots_have_fields_of_one_width_and_spare_bits_are_used() {
        let layout = Layout::of(&[391, 391, 391, 391, 365, 365, 365, 365], &[24; 8], &[], 1);
        let widths =
            |fields: &[Field]| fields.iter().map(|field| field.mask.count_ones()).collect::<Vec<_>>();
        assert_eq!((layout.words, widths(&layout.agents)), (2, vec![10; 8]));
        assert!(widths(&layout.barriers).iter().all(|bits| [5, 6].contains(bits)));
        // Nine bits each, of which seven fit a word.
        let layout = Layout::of(&[300; 8], &[], &[], 1);
        assert_eq!((layout.words, widths(&layout.agents)), (2, vec![14; 8]));
        let layout = Layout::of(&[300; 7], &[], &[], 1);
        assert_eq!((layout.words, widths(&layout.agents)), (1, vec![9; 7]));
    }

    #[test]
    fn bits_are_just_enough() {
        assert_eq!([0, 1, 2, 3, 4, 5, 256, 257].map(bits), [0, 0, 1, 2, 2, 3, 8, 9]);
    }
}
