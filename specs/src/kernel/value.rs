//! Abstract values: what is known of a register in one warp, as terms in a normal form. Equal terms have
//! equal values; each term stands once, under a number of its own.

use std::collections::{BTreeSet, HashMap};

use super::arithmetic::{apply, cut};
use super::code::{Code, Comparison, HALF, Operation, Register, Type, bits_in_grid, own};
use super::lanes::{Lanes, WIDTH};

/// A term.
pub(super) type ValueId = u32;

/// The forms of terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Term {
    /// Known for each lane.
    Known(Lanes),
    /// Unknown, and the same for the whole group: a position among the names of the code.
    Same(u32),
    /// Loaded by this instruction, and the same for all who load at this address. `varies` says that another
    /// execution of the instruction may load something else.
    Loaded { at: usize, address: ValueId, varies: bool },
    /// What a barrier gave to all who took part, at this instruction.
    Given { at: usize },
    /// The sum of terms, each with a factor, and a known number.
    Sum { bits: u8, terms: Vec<(ValueId, Lanes)>, known: Lanes },
    /// An operation on terms.
    Apply { operation: Operation, ty: Type, terms: Vec<ValueId> },
    /// A function that is not followed further: a position among the names of the code.
    Pure { name: u32, terms: Vec<ValueId> },
    /// What a register holds where several paths meet.
    Meet { block: usize, register: Register },
    /// What a register has gained since a loop was entered: the header of the loop, and what is added in
    /// each iteration.
    Gained { header: usize, step: ValueId },
    /// Written by this instruction, and unknown.
    Unknown { at: usize, of_warp: bool },
    /// Never written.
    Unset,
}

/// The most terms inside one another. What is deeper is unknown: whoever walks through a term may recurse.
const DEPTH: u8 = 120;

/// All terms of an extraction.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    terms: Vec<Term>,
    widths: Vec<u8>,
    /// How deep terms are inside one another.
    depths: Vec<u8>,
    numbers: HashMap<Term, ValueId>,
    /// The bits of registers, where they are less than 64.
    bits: Vec<u8>,
    /// The names of what says which cluster of the grid it is, or how many there are.
    pub(super) clusters: BTreeSet<u32>,
    /// The bits of what says where in the grid a group is, or how large the grid is.
    of_grid: HashMap<u32, u8>,
    /// Numbers in terms that are known for each of many lanes.
    many: usize,
}

/// The most numbers in terms that are known for each of more lanes than a warp has. What is more is unknown.
const MANY: usize = 32_000_000;

impl Values {
    pub(super) fn of(code: &Code) -> Self {
        let is_cluster = |name: &&String| name.starts_with("%clusterid") || name.starts_with("%nclusterid");
        let clusters = (0..).zip(&code.names).filter(|(_, name)| is_cluster(name)).map(|(at, _)| at);
        let of_grid = (0..).zip(&code.names).filter_map(|(at, name)| Some((at, bits_in_grid(name)?)));
        let (clusters, of_grid) = (clusters.collect(), of_grid.collect());
        Self { bits: code.bits.clone(), clusters, of_grid, ..Self::default() }
    }

    pub(super) fn count(&self) -> usize {
        self.terms.len()
    }

    pub(super) fn term(&self, value: ValueId) -> &Term {
        &self.terms[value as usize]
    }

    /// The number of bits that a term has at most.
    pub(super) fn width(&self, value: ValueId) -> u8 {
        self.widths[value as usize]
    }

    /// The number of a term, if it stands anywhere.
    pub(super) fn find(&self, term: &Term) -> Option<ValueId> {
        self.numbers.get(term).copied()
    }

    /// The number of a term whose bits are known.
    fn add(&mut self, term: Term, bits: u8) -> ValueId {
        if let Some(known) = self.numbers.get(&term) {
            return *known;
        }
        let number = self.terms.len() as ValueId;
        let depth = self.depth(&term);
        if depth > DEPTH {
            let term = Term::Unknown { at: usize::MAX - self.terms.len(), of_warp: false };
            return self.add(term, bits);
        }
        self.terms.push(term.clone());
        self.depths.push(depth);
        self.widths.push(bits);
        self.numbers.insert(term, number);
        number
    }

    /// A term that is no operation.
    pub(super) fn leaf(&mut self, term: Term) -> ValueId {
        let bits = match &term {
            Term::Same(name) => self.of_grid.get(name).copied().unwrap_or(64),
            Term::Meet { register, .. } if register & HALF == HALF => 32,
            Term::Meet { register, .. } => self.bits.get(own(*register) as usize).copied().unwrap_or(64),
            _ => 64,
        };
        self.add(term, bits)
    }

    pub(super) fn known(&mut self, lanes: Lanes) -> ValueId {
        if let Lanes::Each(numbers) = &lanes
            && numbers.len() > WIDTH
            && self.find(&Term::Known(lanes.clone())).is_none()
        {
            self.many += numbers.len();
            if self.many > MANY {
                let at = usize::MAX - self.terms.len();
                return self.leaf(Term::Unknown { at, of_warp: false });
            }
        }
        let bits = match &lanes {
            Lanes::All(number) => 64 - number.leading_zeros() as u8,
            Lanes::Each(numbers) => 64 - numbers.iter().fold(0, |all, n| all | n).leading_zeros() as u8,
        };
        self.add(Term::Known(lanes), bits)
    }

    pub(super) fn number(&mut self, number: u64) -> ValueId {
        self.known(Lanes::All(number))
    }

    pub(super) fn as_known(&self, value: ValueId) -> Option<&Lanes> {
        match self.term(value) {
            Term::Known(lanes) => Some(lanes),
            _ => None,
        }
    }

    /// The result of an operation.
    pub(super) fn apply(&mut self, operation: Operation, ty: Type, terms: &[ValueId]) -> ValueId {
        let known: Option<Vec<&Lanes>> = terms.iter().map(|term| self.as_known(*term)).collect();
        if let Some(result) =
            known.and_then(|known| Lanes::map(&known, |numbers| apply(operation, ty, numbers)))
        {
            return self.known(result);
        }
        if let Some(simple) =
            self.linear(operation, ty, terms).or_else(|| self.simplified(operation, ty, terms))
        {
            return simple;
        }
        let bits = self.bits(operation, ty, terms);
        let mut terms: Vec<ValueId> = terms.iter().map(|term| self.narrowed(operation, ty, *term)).collect();
        let mut ty = ty;
        if operation == Operation::Multiply && ty.bits >= 32 {
            // The low half of a product asks neither for the order nor for signs.
            terms.sort_unstable();
            ty.signed = true;
        }
        self.add(Term::Apply { operation, ty, terms }, bits)
    }

    /// A known operand with as many bits as count.
    fn narrowed(&mut self, operation: Operation, ty: Type, term: ValueId) -> ValueId {
        let counts = !matches!(operation, Operation::Convert(_) | Operation::Select | Operation::LogicalNot);
        match self.as_known(term) {
            Some(known) if counts => {
                Lanes::map(&[known], |n| Some(cut(n[0], ty.bits))).map_or(term, |known| self.known(known))
            }
            _ => term,
        }
    }

    /// What was widened from 32 bits to 64 and cut again, as it was before.
    fn to_and_fro(&self, value: ValueId) -> ValueId {
        if let Term::Apply { operation: Operation::Convert(from), ty, terms } = self.term(value)
            && (from.bits, ty.bits) == (64, 32)
            && let Term::Apply { operation: Operation::Convert(from), ty, terms } = self.term(terms[0])
            && (from.bits, ty.bits) == (32, 64)
        {
            return terms[0];
        }
        value
    }

    /// A term for a sum of 32 bits, in which terms count with their low bits alone.
    fn low(&mut self, value: ValueId) -> ValueId {
        if let Term::Apply { operation: Operation::Convert(from), ty, terms } = self.term(value)
            && from.bits == 32
            && ty.bits == 64
        {
            return terms[0];
        }
        let (whole, low) = (Type { bits: 64, signed: false }, Type { bits: 32, signed: false });
        self.apply(Operation::Convert(whole), low, &[value])
    }

    /// Sums, differences and products with known numbers, of 32 and 64 bits, as sums.
    fn linear(&mut self, operation: Operation, ty: Type, terms: &[ValueId]) -> Option<ValueId> {
        if ty.bits < 32 && (operation, ty.bits) != (Operation::MultiplyWide, 16) {
            return None;
        }
        let (bits, minus) = (ty.bits, Lanes::All(cut(u64::MAX, ty.bits)));
        match (self.as_sum(operation, terms), terms) {
            (Operation::Add, [a, b]) => self.sum(bits, &[(*a, Lanes::All(1)), (*b, Lanes::All(1))]),
            (Operation::Subtract, [a, b]) => self.sum(bits, &[(*a, Lanes::All(1)), (*b, minus)]),
            (Operation::Negate, [a]) => self.sum(bits, &[(*a, minus)]),
            (Operation::Multiply, [a, b]) => {
                let (of, by) = match (self.as_known(*a), self.as_known(*b)) {
                    (_, Some(by)) => (*a, by.clone()),
                    (Some(by), _) => (*b, by.clone()),
                    _ => return self.product(bits, [*a, *b]),
                };
                self.sum(bits, &[(of, by)])
            }
            (Operation::Convert(from), [a]) if bits == 32 && from.bits == 64 => {
                let Term::Sum { bits: 64, terms, known } = self.term(*a).clone() else { return None };
                let mut parts = Vec::new();
                for (term, factor) in terms {
                    parts.push((self.low(term), Lanes::map(&[&factor], |n| Some(cut(n[0], 32)))?));
                }
                let known = self.known(Lanes::map(&[&known], |n| Some(cut(n[0], 32)))?);
                parts.push((known, Lanes::All(1)));
                self.sum(32, &parts)
            }
            // A wide product with a number is that of the wide factor.
            (Operation::MultiplyWide, [a, b]) if bits <= 32 => {
                let (of, by) = match (self.as_known(*a), self.as_known(*b)) {
                    (_, Some(by)) => (*a, by.clone()),
                    (Some(by), _) => (*b, by.clone()),
                    _ => return None,
                };
                let wide = Type { bits: 2 * bits, signed: ty.signed };
                let widened = |n: &[u64]| apply(Operation::Convert(ty), wide, n);
                let by = Lanes::map(&[&by], widened)?;
                let of = self.apply(Operation::Convert(ty), wide, &[of]);
                self.sum(wide.bits, &[(of, by)])
            }
            (Operation::ShiftLeft, [a, by]) => {
                let by = Lanes::map(&[self.as_known(*by)?], |by| {
                    Some(if cut(by[0], 32) < u64::from(bits) { 1 << cut(by[0], 32) } else { 0 })
                })?;
                self.sum(bits, &[(*a, by)])
            }
            _ => None,
        }
    }

    /// The sum of terms with factors.
    pub(super) fn sum(&mut self, bits: u8, parts: &[(ValueId, Lanes)]) -> Option<ValueId> {
        let ty = Type { bits, signed: false };
        let times = |a: &Lanes, b: &Lanes| Lanes::map(&[a, b], |n| apply(Operation::Multiply, ty, n));
        let plus = |a: &Lanes, b: &Lanes| Lanes::map(&[a, b], |n| apply(Operation::Add, ty, n));
        let mut factors: HashMap<ValueId, Lanes> = HashMap::new();
        let (parts, mut known) = self.without_complements(bits, parts)?;
        for (value, factor) in &parts {
            let single;
            let value = &if bits == 32 { self.to_and_fro(*value) } else { *value };
            let (terms, constant): (&[(ValueId, Lanes)], Lanes) = match self.term(*value) {
                Term::Known(lanes) => (&[], lanes.clone()),
                Term::Sum { bits: of, terms, known } if *of == bits => (terms, known.clone()),
                // A wider term counts with its lowest bits alone.
                _ => {
                    single = [(*value, Lanes::All(1))];
                    (&single, Lanes::All(0))
                }
            };
            known = plus(&known, &times(&constant, factor)?)?;
            for (term, times_term) in terms {
                let more = times(times_term, factor)?;
                let so_far = factors.get(term).cloned().unwrap_or(Lanes::All(0));
                factors.insert(*term, plus(&so_far, &more)?);
            }
        }
        let mut terms: Vec<(ValueId, Lanes)> =
            factors.into_iter().filter(|(_, factor)| !factor.is_zero()).collect();
        terms.sort_by_key(|(term, _)| *term);
        let simpler = self.with_quotients(bits, &terms, &known);
        if let Some(simpler) = simpler.or_else(|| self.with_extremes(bits, &terms, &known)) {
            return Some(simpler);
        }
        match terms.as_slice() {
            [] => Some(self.known(known)),
            [(term, Lanes::All(1))] if known.is_zero() && self.width(*term) <= bits => Some(*term),
            _ => Some(self.add(Term::Sum { bits, terms, known }, bits)),
        }
    }

    /// Operations whose results have a simpler form.
    fn simplified(&mut self, operation: Operation, ty: Type, terms: &[ValueId]) -> Option<ValueId> {
        if let [a, by] = terms
            && let Some(simple) = self.of_cluster(operation, ty, (*a, *by))
        {
            return Some(simple);
        }
        match (operation, terms) {
            (Operation::Convert(from), [a]) => {
                let bits = self.width(*a);
                // A number that does not reach the sign keeps its value.
                let keeps = bits < from.bits || bits == from.bits && (!from.signed || ty.bits <= from.bits);
                (keeps && bits <= ty.bits).then_some(*a)
            }
            (Operation::Not, [a]) => self.complement(ty, *a),
            (Operation::LogicalNot, [a]) => match self.term(*a).clone() {
                Term::Apply { operation: Operation::Compare(comparison), ty, terms } => {
                    Some(self.apply(Operation::Compare(comparison.negated()), ty, &terms))
                }
                Term::Apply { operation: Operation::LogicalNot, terms, .. } if self.width(terms[0]) <= 1 => {
                    Some(terms[0])
                }
                _ => None,
            },
            (Operation::And | Operation::Or, [a, b]) => self.absorbed(operation, ty, *a, *b),
            // Of numbers without a sign the rest is what the lowest bits are.
            (Operation::Remainder, [a, b]) if !ty.signed => {
                let number = self.as_known(*b)?.all().filter(|number| number.is_power_of_two())?;
                let mask = self.number(number - 1);
                Some(self.apply(Operation::And, ty, &[*a, mask]))
            }
            (Operation::ShiftRight, [a, by]) if !ty.signed => {
                let number = self.as_known(*by)?.all()?;
                let shifted = self.shifted(ty, *a, number).or_else(|| self.back_and_forth(ty, *a, *by));
                shifted.or_else(|| self.shifted_by_blocks(ty, *a, *by))
            }
            (Operation::ExtractBits, [a, from, count]) if !ty.signed && ty.bits == 32 => {
                self.bits_of_quotient(ty, *a, (*from, *count))
            }
            (Operation::Xor, [a, b]) if a == b => Some(self.number(0)),
            (Operation::Xor, [a, b]) => {
                let is_0 = |value: &ValueId| self.as_known(*value).is_some_and(Lanes::is_zero);
                let other = if is_0(b) { Some(*a) } else { is_0(a).then_some(*b) };
                other.filter(|other| self.width(*other) <= ty.bits)
            }
            (Operation::Select, [a, b, _]) if a == b => Some(*a),
            (Operation::Select, [a, b, _]) if let Some(more) = self.more_outside(*a, *b) => {
                self.selected_less(ty, terms, more)
            }
            (Operation::Select, [a, b, condition]) => match self.as_known(*condition) {
                Some(known) => known.all().map(|all| if all != 0 { *a } else { *b }),
                None => self.of_selection(ty, [*a, *b, *condition]),
            },
            (Operation::Minimum | Operation::Maximum, [a, b]) if a == b => Some(*a),
            (Operation::Minimum | Operation::Maximum, [a, b]) => self.turned(operation, ty, [*a, *b]),
            (Operation::Compare(comparison), [a, b]) => {
                self.comparison(comparison, ty, *a, *b).or_else(|| self.of_lesser(comparison, ty, [*a, *b]))
            }
            _ => None,
        }
    }

    /// `x & 0`, `x & all`, `x | 0`, `x | all`, `x & x`.
    fn absorbed(&mut self, operation: Operation, ty: Type, a: ValueId, b: ValueId) -> Option<ValueId> {
        if a == b {
            return Some(a);
        }
        for (one, other) in [(a, b), (b, a)] {
            let Some(number) = self.as_known(one).and_then(Lanes::all) else { continue };
            let all = cut(u64::MAX, self.width(other).min(ty.bits));
            match operation {
                Operation::And if number == 0 => return Some(one),
                Operation::And if number & all == all && self.width(other) <= ty.bits => return Some(other),
                Operation::And if let Some(less) = self.lowest(other, number) => {
                    return Some(self.apply(operation, ty, &[less, one]));
                }
                Operation::Or if number == 0 && self.width(other) <= ty.bits => return Some(other),
                Operation::Or if number == cut(u64::MAX, ty.bits) => return Some(one),
                _ => {}
            }
        }
        None
    }

    /// A sum of which only some of the lowest bits count: without what is above them. `None` if nothing is.
    fn lowest(&mut self, sum: ValueId, mask: u64) -> Option<ValueId> {
        let Term::Sum { bits, terms, known } = self.term(sum).clone() else { return None };
        if !mask.wrapping_add(1).is_power_of_two() || mask >= cut(u64::MAX, bits) {
            return None;
        }
        // As compilers write differences: -1, not 3.
        let nearest = |number: u64| {
            let low = number & mask;
            if low > mask / 2 + 1 { cut(low.wrapping_sub(mask + 1), bits) } else { low }
        };
        let mut parts = Vec::new();
        for (term, factor) in &terms {
            parts.push((*term, Lanes::map(&[factor], |factor| Some(nearest(factor[0])))?));
        }
        let rest = Lanes::map(&[&known], |known| Some(known[0] & mask))?;
        if rest == known && parts == terms {
            return None;
        }
        let rest = self.known(rest);
        parts.push((rest, Lanes::All(1)));
        self.sum(bits, &parts)
    }

    fn comparison(&mut self, comparison: Comparison, ty: Type, a: ValueId, b: ValueId) -> Option<ValueId> {
        use Comparison::{Equal, GreaterOrEqual, LessOrEqual, NotEqual};
        if a == b {
            return Some(self.number(u64::from(matches!(comparison, Equal | LessOrEqual | GreaterOrEqual))));
        }
        if !matches!(comparison, Equal | NotEqual) {
            return self.against_nothing(comparison, ty, [a, b]);
        }
        // Equality holds if the difference is 0, whatever wraps.
        if ty.bits >= 32 {
            let minus = Lanes::All(cut(u64::MAX, ty.bits));
            let difference = self.sum(ty.bits, &[(a, Lanes::All(1)), (b, minus)])?;
            if let Some(known) = self.as_known(difference) {
                let equal = Lanes::map(&[known], |n| Some(u64::from((n[0] == 0) == (comparison == Equal))))?;
                return Some(self.known(equal));
            }
            if let Some([a, b]) = self.without_common(ty.bits, [a, b]) {
                return Some(self.apply(Operation::Compare(comparison), ty, &[a, b]));
            }
        }
        let (value, number) = match (self.as_known(a), self.as_known(b)) {
            (_, Some(number)) => (a, number.all()?),
            (Some(number), _) => (b, number.all()?),
            _ => return None,
        };
        self.equals(value, number, ty.bits, comparison == NotEqual)
    }

    /// Whether a predicate is not 0, or is.
    pub(super) fn truth(&mut self, predicate: ValueId, wanted: bool) -> Option<ValueId> {
        if let Some(known) = self.as_known(predicate) {
            let truth = Lanes::map(&[known], |n| Some(u64::from((n[0] != 0) == wanted)))?;
            return Some(self.known(truth));
        }
        if wanted && self.width(predicate) <= 1 {
            return Some(predicate);
        }
        let ty = Type { bits: 64, signed: false };
        let zero = self.number(0);
        if self.width(predicate) <= 1 {
            return Some(self.apply(Operation::LogicalNot, Type { bits: 1, signed: false }, &[predicate]));
        }
        let comparison = if wanted { Comparison::NotEqual } else { Comparison::Equal };
        Some(self.apply(Operation::Compare(comparison), ty, &[predicate, zero]))
    }

    /// The result of a function that is not followed: it has so many bits at most.
    pub(super) fn pure(&mut self, name: u32, terms: &[ValueId], bits: u8) -> ValueId {
        self.add(Term::Pure { name, terms: terms.to_vec() }, bits)
    }

    fn depth(&self, term: &Term) -> u8 {
        let inside = Self::parts(term).into_iter().map(|value| self.depths[value as usize]);
        inside.max().map_or(0, |deepest| deepest + 1)
    }

    /// The terms directly inside a term.
    pub(super) fn inside(&self, value: ValueId) -> Vec<ValueId> {
        Self::parts(self.term(value))
    }

    /// A term with others inside, in the order of [`Self::inside`]; `None` if a sum of these is none.
    pub(super) fn with(&mut self, value: ValueId, inside: &[ValueId]) -> Option<ValueId> {
        Some(match (self.term(value).clone(), inside) {
            (Term::Sum { bits, terms, known }, inside) => {
                let known = self.known(known);
                let factors = terms.into_iter().map(|(_, factor)| factor);
                let mut parts = vec![(known, Lanes::All(1))];
                parts.extend(inside.iter().copied().zip(factors));
                self.sum(bits, &parts)?
            }
            (Term::Apply { operation, ty, .. }, inside) => self.apply(operation, ty, inside),
            (Term::Pure { name, .. }, inside) => self.pure(name, inside, self.width(value)),
            (Term::Loaded { at, varies, .. }, [address]) => {
                self.leaf(Term::Loaded { at, address: *address, varies })
            }
            (Term::Gained { header, .. }, [step]) => self.leaf(Term::Gained { header, step: *step }),
            _ => value,
        })
    }

    fn parts(term: &Term) -> Vec<ValueId> {
        match term {
            Term::Sum { terms, .. } => terms.iter().map(|(term, _)| *term).collect(),
            Term::Apply { terms, .. } | Term::Pure { terms, .. } => terms.clone(),
            Term::Loaded { address, .. } => vec![*address],
            Term::Gained { step, .. } => vec![*step],
            _ => Vec::new(),
        }
    }
}
