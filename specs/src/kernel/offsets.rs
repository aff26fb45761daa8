//! Addresses that change where paths meet: `full = base; loop { wait(full + 16); full += 8; }`.
//!
//! Where all that meets is counted from one base, the base is taken out, and what meets are the offsets:
//! numbers that can be computed. A register of its own stands for them, so that nothing else changes. By
//! induction over the steps of an agent the register and `base + offset` are equal, modulo the bits of an
//! address: whatever comes to the meeting was, where it comes from, the base and what is said to come there.
//!
//! An offset that goes along with a counter, `full = base + 8 * n` for an `n` of the same loop, is written
//! with the counter instead: if that is so of all that comes from outside, and what comes round keeps it so.
//! Then `full - 48 * (n / 6)` is `base + 8 * (n % 6)`.

use std::collections::{BTreeMap, BTreeSet};

use super::arithmetic::{cut, signed};
use super::code::{Operation, Register};
use super::dominators::dominates;
use super::evaluate::{Evaluation, OUTSIDE};
use super::flow::Flow;
use super::lanes::Lanes;
use super::terms::{any, differs, is_invariant};
use super::value::{Term, ValueId, Values};

/// Added to a register, this is that of its offsets.
const OFFSETS: Register = 1 << 30;
/// Meetings and selections inside one another.
const DEPTH: u32 = 12;

/// The register whose offsets a register stands for.
pub(super) fn whose(register: Register) -> Option<Register> {
    (register & OFFSETS != 0).then_some(register & !OFFSETS)
}

/// A register where paths meet.
type Meet = (usize, Register);
/// What meets, and what comes to it from where.
type Incoming = (Meet, Vec<(usize, ValueId)>);

/// Takes the bases out of what meets, in the addresses of objects.
pub(super) fn take_out(values: &mut Values, evaluation: &mut Evaluation) {
    let mut addresses: Vec<(usize, ValueId)> =
        evaluation.barriers.iter().map(|(at, (address, _))| (*at, *address)).collect();
    addresses.sort_unstable();
    addresses.retain(|(_, address)| is_hidden(values, *address));
    if addresses.is_empty() {
        return;
    }
    let mut offsets =
        Offsets { values, evaluation, bases: BTreeMap::new(), asked: BTreeSet::new(), dominator: None };
    for (_, address) in &addresses {
        offsets.base(*address, DEPTH);
    }
    offsets.settle();
    let counters = offsets.counters(addresses.iter().map(|(_, address)| *address));
    let mut found = Vec::new();
    let meets: Vec<Meet> = offsets.bases.keys().copied().collect();
    for meet in meets {
        let incoming = offsets.evaluation.meets[&meet].clone();
        let parts: Option<Vec<(usize, ValueId)>> =
            incoming.into_iter().map(|(from, value)| Some((from, offsets.split(value, DEPTH)?.1))).collect();
        found.extend(parts.map(|parts| ((meet.0, meet.1 | OFFSETS), parts)));
    }
    // Those that are counted from a symbol have been taken apart before.
    // Others are counted from a symbol, or have nothing of an address.
    let others = evaluation.meets.iter().map(|(meet, incoming)| (*meet, incoming.clone()));
    let all: Vec<Incoming> = found.iter().cloned().chain(others).collect();
    let mut written = Vec::new();
    for (at, address) in addresses {
        let Some((base, offset)) = offsets.split(address, DEPTH) else { continue };
        let Some(offset) = offsets.with_counters(offset, &counters, &all) else { continue };
        let bits = offsets.bits(address);
        let whole = offsets.values.sum(bits, &[(base, Lanes::All(1)), (offset, Lanes::All(1))]);
        written.extend(whole.map(|whole| (at, whole)));
    }
    for (at, whole) in written {
        if let Some((address, _)) = evaluation.barriers.get_mut(&at) {
            *address = whole;
        }
    }
    evaluation.meets.extend(found);
}

/// Writes the addresses of accesses with the counters of their loops: a pointer that is moved on along with a
/// counter, `at - 3072 * (n / 3)`, is `first + 1024 * n - 3072 * (n / 3)`. Lanes may begin at bytes of their
/// own.
pub(super) fn of_accesses(values: &mut Values, evaluation: &mut Evaluation) {
    let addresses: Vec<(usize, ValueId)> =
        evaluation.accesses.iter().map(|(at, found)| (*at, found.address)).collect();
    if addresses.is_empty() {
        return;
    }
    let all: Vec<Incoming> =
        evaluation.meets.iter().map(|(meet, incoming)| (*meet, incoming.clone())).collect();
    let mut offsets =
        Offsets { values, evaluation, bases: BTreeMap::new(), asked: BTreeSet::new(), dominator: None };
    let mut written = Vec::new();
    for (at, address) in addresses {
        let counters = offsets.counters(std::iter::once(address));
        if counters.len() > 1 {
            written
                .extend(offsets.sums_with_counters(address, (&counters, &all), DEPTH).map(|sum| (at, sum)));
        }
    }
    for (at, sum) in written {
        evaluation.accesses.get_mut(&at).into_iter().for_each(|found| found.address = sum);
    }
}

/// Whether an address shows no base, or what meets beside it.
fn is_hidden(values: &Values, address: ValueId) -> bool {
    let parts: Vec<ValueId> = match values.term(address) {
        Term::Sum { terms, .. } => terms.iter().map(|(term, _)| *term).collect(),
        _ => vec![address],
    };
    let mut of_base = parts.iter().filter(|part| is_invariant(values, **part));
    let meets = |part: &ValueId| matches!(values.term(*part), Term::Meet { .. });
    (of_base.next().is_none() || parts.iter().any(meets)) && !differs(values, address)
}

struct Offsets<'o> {
    values: &'o mut Values,
    evaluation: &'o Evaluation,
    /// For each meeting of addresses what they are counted from.
    bases: BTreeMap<Meet, ValueId>,
    asked: BTreeSet<Meet>,
    /// Of each node the one through which all ways to it lead, once that is asked for.
    dominator: Option<Vec<Option<usize>>>,
}

impl Offsets<'_> {
    fn bits(&self, value: ValueId) -> u8 {
        match self.values.term(value) {
            Term::Sum { bits, .. } => *bits,
            _ => 32,
        }
    }

    /// The summands of a value that may be counted from a base, by themselves.
    fn summands(&self, value: ValueId) -> Vec<ValueId> {
        match self.values.term(value) {
            Term::Sum { terms, .. } => {
                let whole = |(term, factor): &(ValueId, Lanes)| (*factor == Lanes::All(1)).then_some(*term);
                terms.iter().filter_map(whole).collect()
            }
            _ => vec![value],
        }
    }

    /// What a value is counted from, as far as that is said by what does not come round; collects the
    /// meetings on the way.
    fn base(&mut self, value: ValueId, left: u32) -> Option<ValueId> {
        let left = left.checked_sub(1)?;
        let mut found: Option<ValueId> = None;
        for part in self.summands(value) {
            let base = match self.values.term(part).clone() {
                Term::Known(_) => None,
                _ if is_invariant(self.values, part) => Some(part),
                Term::Meet { block, register } => self.base_of((block, register), left),
                Term::Apply { operation: Operation::Select, terms, .. } => {
                    self.base(terms[0], left).filter(|base| self.base(terms[1], left) == Some(*base))
                }
                _ => None,
            };
            if base.is_some() && found.is_some() {
                return None;
            }
            found = found.or(base);
        }
        found
    }

    fn base_of(&mut self, meet: Meet, left: u32) -> Option<ValueId> {
        if self.asked.insert(meet) {
            for (from, value) in self.evaluation.meets.get(&meet).cloned().unwrap_or_default() {
                if from == OUTSIDE {
                    return None;
                }
                if let Some(base) = self.base(value, left) {
                    self.bases.insert(meet, base);
                    break;
                }
            }
        }
        self.bases.get(&meet).copied()
    }

    /// Gives up the meetings of which something comes that is counted from elsewhere.
    fn settle(&mut self) {
        loop {
            let is_wrong = |offsets: &mut Self, (meet, base): (&Meet, &ValueId)| {
                let incoming = offsets.evaluation.meets.get(meet).cloned().unwrap_or_default();
                incoming.is_empty()
                    || incoming.into_iter().any(|(from, value)| {
                        from == OUTSIDE || offsets.split(value, DEPTH).is_none_or(|(other, _)| other != *base)
                    })
            };
            let all: Vec<(Meet, ValueId)> = self.bases.iter().map(|(meet, base)| (*meet, *base)).collect();
            let wrong: Vec<Meet> = all
                .iter()
                .filter(|(meet, base)| is_wrong(self, (meet, base)))
                .map(|(meet, _)| *meet)
                .collect();
            if wrong.is_empty() {
                return;
            }
            self.bases.retain(|meet, _| !wrong.contains(meet));
        }
    }

    /// A value as a base and an offset.
    fn split(&mut self, value: ValueId, left: u32) -> Option<(ValueId, ValueId)> {
        let left = left.checked_sub(1)?;
        let bits = self.bits(value);
        let minus = Lanes::All(cut(u64::MAX, bits));
        let mut found: Option<(ValueId, ValueId)> = None;
        for part in self.summands(value) {
            let split = match self.values.term(part).clone() {
                Term::Known(_) => None,
                _ if is_invariant(self.values, part) => Some((part, self.values.number(0))),
                Term::Meet { block, register } => {
                    let base = self.bases.get(&(block, register)).copied();
                    let offset = Term::Meet { block, register: register | OFFSETS };
                    base.map(|base| (base, self.values.leaf(offset)))
                }
                Term::Apply { operation: operation @ Operation::Select, ty, terms } => {
                    let (a, b) = (self.split(terms[0], left), self.split(terms[1], left));
                    a.zip(b).filter(|(a, b)| a.0 == b.0).map(|((base, a), (_, b))| {
                        (base, self.values.apply(operation, ty, &[a, b, terms[2]]))
                    })
                }
                _ => None,
            };
            let Some((base, offset)) = split else { continue };
            if found.is_some() {
                return None;
            }
            let one = Lanes::All(1);
            let parts = [(value, one.clone()), (part, minus.clone()), (offset, one)];
            found = Some((base, self.values.sum(bits, &parts)?));
        }
        found
    }

    /// What else meets in the same places, inside addresses.
    fn counters(&self, addresses: impl Iterator<Item = ValueId>) -> BTreeSet<Meet> {
        let (mut found, mut seen) = (BTreeSet::new(), BTreeSet::new());
        let mut work: Vec<ValueId> = addresses.collect();
        while let Some(value) = work.pop() {
            if let Term::Meet { block, register } = self.values.term(value) {
                found.insert((*block, *register));
            }
            if seen.insert(value) {
                work.extend(self.values.inside(value));
            }
        }
        found.retain(|meet| !self.bases.contains_key(meet));
        found
    }

    /// An offset with counters in the place of those that go along with them.
    fn with_counters(
        &mut self,
        offset: ValueId,
        counters: &BTreeSet<Meet>,
        meets: &[Incoming],
    ) -> Option<ValueId> {
        let bits = self.bits(offset);
        let minus = Lanes::All(cut(u64::MAX, bits));
        let beside = self.counters(std::iter::once(offset));
        let mut result = offset;
        for part in self.summands(offset) {
            let Term::Meet { block, register } = *self.values.term(part) else { continue };
            let Some((_, incoming)) = meets.iter().find(|(meet, _)| *meet == (block, register)) else {
                continue;
            };
            let others = counters.iter().filter(|of| of.0 == block && of.1 != register).copied();
            // What the address is computed from besides comes first.
            let (own, others): (Vec<Meet>, Vec<Meet>) = others.partition(|counter| beside.contains(counter));
            let mut ways = own.into_iter().chain(others);
            let along = ways.find_map(|counter| self.along(part, incoming, counter, bits));
            if let Some(along) = along {
                let one = Lanes::All(1);
                result =
                    self.values.sum(bits, &[(result, one.clone()), (part, minus.clone()), (along, one)])?;
            }
        }
        Some(result)
    }

    /// The same for an address with a narrower sum in it, to which an instruction adds an offset.
    fn sums_with_counters(
        &mut self,
        value: ValueId,
        (counters, meets): (&BTreeSet<Meet>, &[Incoming]),
        left: u32,
    ) -> Option<ValueId> {
        let left = left.checked_sub(1)?;
        let bits = self.bits(value);
        let minus = Lanes::All(cut(u64::MAX, bits));
        let mut result = self.with_counters(value, counters, meets)?;
        for part in self.summands(value) {
            if part != value && matches!(self.values.term(part), Term::Sum { .. }) {
                let inner = self.sums_with_counters(part, (counters, meets), left)?;
                let one = Lanes::All(1);
                result =
                    self.values.sum(bits, &[(result, one.clone()), (part, minus.clone()), (inner, one)])?;
            }
        }
        Some(result)
    }

    /// Whether a value stays what it is while a loop goes on: all that meets in it does so before.
    fn is_settled(&mut self, header: usize, value: ValueId) -> bool {
        let dominator = self.dominator.get_or_insert_with(|| {
            Flow::of(self.evaluation).map_or_else(|_| Vec::new(), |flow| flow.dominator)
        });
        !any(self.values, value, |term| match term {
            Term::Known(_) | Term::Same(_) | Term::Sum { .. } | Term::Apply { .. } => false,
            Term::Meet { block, .. } => {
                *block == header || dominator.is_empty() || !dominates(dominator, *block, header)
            }
            _ => true,
        })
    }

    /// An offset as a multiple of a counter, and what both begin with, if it is one whatever comes to them.
    fn along(
        &mut self,
        offset: ValueId,
        incoming: &[(usize, ValueId)],
        counter: Meet,
        bits: u8,
    ) -> Option<ValueId> {
        let of_counter = self.evaluation.meets.get(&counter)?.clone();
        let header = counter.0;
        let counter = self.values.leaf(Term::Meet { block: counter.0, register: counter.1 });
        let one = Lanes::All(1);
        let minus = Lanes::All(cut(u64::MAX, bits));
        let number = |values: &Values, value| values.as_known(value)?.all().map(|n| signed(n, bits));
        let (mut begin, mut step) = (None, None);
        for (from, value) in incoming {
            let (_, other) = of_counter.iter().find(|(source, _)| source == from)?;
            if self.is_settled(header, *value) && self.is_settled(header, *other) {
                begin = begin.or(Some((*value, *other)));
                continue;
            }
            let more = self.values.sum(bits, &[(*value, one.clone()), (offset, minus.clone())])?;
            let other = self.values.sum(bits, &[(*other, one.clone()), (counter, minus.clone())])?;
            step = step.or(number(self.values, more).zip(number(self.values, other)));
        }
        let ((first, of_first), (more, by)) = (begin?, step?);
        let times = more.checked_div(by).filter(|times| times * by == more && *times != 0)?;
        let times = Lanes::All(cut(times as u64, bits));
        let less = Lanes::All(cut(signed(times.all()?, bits).checked_neg()? as u64, bits));
        let known = self.values.sum(bits, &[(first, one.clone()), (of_first, less)])?;
        let along = |values: &mut Values, of: ValueId| {
            values.sum(bits, &[(of, times.clone()), (known, Lanes::All(1))])
        };
        let whole = along(self.values, counter)?;
        for (from, value) in incoming {
            let (_, other) = *of_counter.iter().find(|(source, _)| source == from)?;
            let expected = along(self.values, other)?;
            let has_offset = [(*value, one.clone()), (offset, minus.clone()), (whole, one.clone())];
            let begins = self.is_settled(header, *value);
            let found = if begins { *value } else { self.values.sum(bits, &has_offset)? };
            if found != expected {
                return None;
            }
        }
        Some(whole)
    }
}
