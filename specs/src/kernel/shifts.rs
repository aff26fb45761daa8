//! Sums that are shifted one way and back, and the position of a group by its cluster.

use super::arithmetic::cut;
use super::code::{Operation, Type};
use super::lanes::{Lanes, WIDTH};
use super::value::{Term, ValueId, Values};

impl Values {
    /// `x << n >> n`: the lowest bits of a sum that is a multiple of what it is divided by. So are the bits
    /// that `x << 30 >> 31` leaves, if they are few.
    pub(super) fn back_and_forth(&mut self, ty: Type, a: ValueId, by: ValueId) -> Option<ValueId> {
        let by = self.as_known(by)?.all().filter(|by| (1..u64::from(ty.bits)).contains(by))?;
        let Term::Sum { bits, terms, known } = self.term(a).clone() else { return None };
        let zeros = |lanes: &Lanes| {
            let zeros = Lanes::map(&[lanes], |n| Some(u64::from(n[0].trailing_zeros()).min(by)));
            zeros.and_then(|zeros| (0..WIDTH).map(|lane| zeros.get(lane)).min())
        };
        let mut back = zeros(&known)?;
        for (_, factor) in &terms {
            back = back.min(zeros(factor)?);
        }
        if back == 0 || back < by && u64::from(ty.bits) - by > FEW {
            return None;
        }
        let is_multiple = |number: u64| number == 0 || u64::from(number.trailing_zeros()) >= back;
        let shrink = |lanes: &Lanes| Lanes::map(&[lanes], |n| is_multiple(n[0]).then(|| n[0] >> back));
        let parts = terms.iter().map(|(term, factor)| Some((*term, shrink(factor)?)));
        let mut parts: Vec<(ValueId, Lanes)> = parts.collect::<Option<_>>()?;
        let known = self.known(shrink(&known)?);
        parts.push((known, Lanes::All(1)));
        let mut sum = self.sum(bits, &parts).filter(|_| bits == ty.bits)?;
        if back < by {
            let rest = self.number(by - back);
            sum = self.apply(Operation::ShiftRight, ty, &[sum, rest]);
        }
        let mask = self.number(cut(u64::MAX, ty.bits) >> by);
        Some(self.apply(Operation::And, ty, &[sum, mask]))
    }
}

/// The bits that are looked for in what is shifted further than back.
const FEW: u64 = 8;

impl Values {
    /// `(n * cluster + rank) / n` is the cluster, and what that leaves the rank: positions in the grid have
    /// no sign and do not overflow (CUDA C++ Programming Guide, technical specifications).
    pub(super) fn of_cluster(
        &mut self,
        operation: Operation,
        ty: Type,
        (a, by): (ValueId, ValueId),
    ) -> Option<ValueId> {
        let Term::Sum { bits: 32, terms, known } = self.term(a) else { return None };
        let ([(cluster, Lanes::All(groups))], true) = (terms.as_slice(), ty.bits == 32) else { return None };
        let Term::Same(name) = *self.term(*cluster) else { return None };
        let (cluster, groups, rank) = (*cluster, *groups, known.all()?);
        let by = self.as_known(by)?.all()?;
        let low = cut(!by, 32);
        if operation == Operation::And && low > 0 && (low + 1).is_power_of_two() {
            let unit = self.number(low + 1);
            let whole = self.of_cluster(Operation::Divide, ty, (a, unit))?;
            return self.sum(32, &[(whole, Lanes::All(low + 1))]);
        }
        let (divides, by) = match operation {
            Operation::ShiftRight if by < 31 => (true, 1 << by),
            // The sign.
            Operation::ShiftRight => (true, 1 << 40),
            Operation::Divide => (true, by),
            Operation::Remainder => (false, by),
            Operation::And => (false, (by < 1 << 31).then(|| by + 1).filter(|by| by.is_power_of_two())?),
            _ => return None,
        };
        if !self.clusters.contains(&name) || !(2..=MOST_GROUPS).contains(&groups) || rank >= groups || by == 0
        {
            return None;
        }
        if by > 1 << 31 {
            return Some(self.number(0));
        }
        let word = Type { bits: 32, signed: false };
        let cluster = self.apply(Operation::Convert(word), word, &[cluster]);
        let (part, times, more) = if by == groups {
            if divides { (cluster, 1, 0) } else { (cluster, 0, rank) }
        } else if by.is_multiple_of(groups) {
            let clusters = self.number(by / groups);
            let operation = if divides { Operation::Divide } else { Operation::Remainder };
            let part = self.apply(operation, word, &[cluster, clusters]);
            if divides { (part, 1, 0) } else { (part, groups, rank) }
        } else if groups.is_multiple_of(by) {
            if divides { (cluster, groups / by, rank / by) } else { (cluster, 0, rank % by) }
        } else {
            return None;
        };
        let more = self.number(more);
        self.sum(32, &[(part, Lanes::All(times)), (more, Lanes::All(1))])
    }
}

/// The most groups of a cluster.
const MOST_GROUPS: u64 = 16;

#[cfg(test)]
mod tests {
    use super::super::code::Code;
    use super::*;

    /// The position of the group of rank 1 in clusters of so many, and the cluster.
    fn position(values: &mut Values, groups: u64) -> [ValueId; 2] {
        let word = Type { bits: 32, signed: false };
        let same = values.leaf(Term::Same(0));
        let cluster = values.apply(Operation::Convert(word), word, &[same]);
        let [groups, rank] = [groups, 1].map(|number| values.number(number));
        let first = values.apply(Operation::Multiply, word, &[same, groups]);
        [values.apply(Operation::Add, word, &[first, rank]), cluster]
    }

    #[test]
    fn positions_in_the_grid_are_those_of_clusters_and_ranks() {
        let mut code = Code::default();
        code.names.push("%clusterid.x".to_owned());
        let mut values = Values::of(&code);
        let word = Type { bits: 32, signed: false };
        let [at, cluster] = position(&mut values, 2);
        let [one, two, three, four, even] = [1, 2, 3, 4, 0xffff_fffe].map(|number| values.number(number));
        let mut of = |operation, by| values.apply(operation, word, &[at, by]);
        assert_eq!(of(Operation::ShiftRight, one), cluster);
        assert_eq!(of(Operation::Divide, two), cluster);
        assert_eq!(of(Operation::And, one), one);
        // Of two clusters the first has the ranks 0 and 1, the other 2 and 3.
        let [rest, part] = [of(Operation::And, three), of(Operation::Divide, four)];
        let begins = of(Operation::And, even);
        // No whole number of clusters, nor of groups.
        let thirds = of(Operation::Divide, three);
        let parity = values.apply(Operation::And, word, &[cluster, one]);
        assert_eq!(rest, values.sum(32, &[(parity, Lanes::All(2)), (one, Lanes::All(1))]).unwrap());
        assert_eq!(part, values.apply(Operation::Divide, word, &[cluster, two]));
        assert_eq!(begins, values.sum(32, &[(cluster, Lanes::All(2))]).unwrap());
        let Term::Apply { operation: Operation::Divide, terms, .. } = values.term(thirds) else { panic!() };
        assert_eq!(terms[0], at);
    }

    #[test]
    fn what_is_no_position_in_the_grid_is_not_taken_apart() {
        let mut code = Code::default();
        code.names.push("n".to_owned());
        let mut values = Values::of(&code);
        let word = Type { bits: 32, signed: false };
        let [at, number] = position(&mut values, 2);
        let two = values.number(2);
        assert_ne!(values.apply(Operation::Divide, word, &[at, two]), number);
    }

    #[test]
    fn what_is_shifted_to_the_highest_bit_and_back_is_the_lowest() {
        let mut code = Code::default();
        code.names.push("x".to_owned());
        let mut values = Values::of(&code);
        let word = Type { bits: 32, signed: false };
        let same = values.leaf(Term::Same(0));
        let [by, one, byte] = [31, 1, 255].map(|number| values.number(number));
        let x = values.apply(Operation::And, word, &[same, byte]);
        let up = values.apply(Operation::ShiftLeft, word, &[x, by]);
        let back = values.apply(Operation::ShiftRight, word, &[up, by]);
        assert_eq!(back, values.apply(Operation::And, word, &[x, one]));
        // Bit 1, by shifts to the sign and back.
        let thirty = values.number(30);
        let up_to = values.apply(Operation::ShiftLeft, word, &[x, thirty]);
        let bit = values.apply(Operation::ShiftRight, word, &[up_to, by]);
        let second = values.apply(Operation::ShiftRight, word, &[x, one]);
        assert_eq!(bit, values.apply(Operation::And, word, &[second, one]));
        // What is no multiple stays as it is.
        let more = values.apply(Operation::Add, word, &[up, one]);
        let shifted = values.apply(Operation::ShiftRight, word, &[more, by]);
        assert!(matches!(values.term(shifted), Term::Apply { operation: Operation::ShiftRight, .. }));
    }
}
