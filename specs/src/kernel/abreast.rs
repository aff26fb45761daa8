//! Counters that go abreast: `i` and `ahead = i + 2`, which a compiler keeps in two registers.
//!
//! That two registers that meet in one place differ by a known number is supposed where it is so of some of
//! what comes to them. Suppositions that do not follow, for all that comes, from each other are given up
//! until none is left; the others hold by induction over the steps of an agent. In operands of barriers,
//! one of the registers then stands for both.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::arithmetic::{cut, signed};
use super::code::Register;
use super::evaluate::{Evaluation, OUTSIDE};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

/// Registers in one place, and places, of which more are not held against one another.
const MOST: usize = 64;
/// How often more is supposed because of what is.
const ROUNDS: usize = 8;

/// A register where paths meet.
type Meet = (usize, Register);

/// Puts one counter in the place of those that go abreast with it.
pub(super) fn take(values: &mut Values, evaluation: &mut Evaluation) {
    let mut operands = evaluation.operands();
    let mut abreast = Abreast { values, evaluation, of: BTreeMap::new(), written: HashMap::new() };
    let reached = abreast.reached(&operands);
    let places = places(&reached);
    for _ in 0..ROUNDS {
        if !abreast.suppose(&places) {
            break;
        }
    }
    abreast.settle();
    if abreast.of.is_empty() {
        return;
    }
    abreast.count_from_the_least();
    for (_, operand) in &mut operands {
        *operand = abreast.rewritten(*operand);
    }
    let mut meets = Vec::new();
    for meet in reached {
        if abreast.of.contains_key(&meet) {
            continue;
        }
        let incoming = abreast.evaluation.meets.get(&meet).cloned().unwrap_or_default();
        let incoming = incoming.into_iter().map(|(from, value)| (from, abreast.rewritten(value)));
        meets.push((meet, incoming.collect()));
    }
    evaluation.meets.extend(meets);
    evaluation.put(operands);
}

/// Registers by where they meet, several in each place.
fn places(reached: &BTreeSet<Meet>) -> Vec<Vec<Meet>> {
    let mut places = BTreeMap::<usize, Vec<Meet>>::new();
    for meet in reached {
        places.entry(meet.0).or_default().push(*meet);
    }
    places.retain(|_, registers| (2..=MOST).contains(&registers.len()));
    places.into_values().take(MOST).collect()
}

struct Abreast<'a> {
    values: &'a mut Values,
    evaluation: &'a Evaluation,
    /// For a register that meets, another in its place and how much more it holds.
    of: BTreeMap<Meet, (Meet, u64)>,
    written: HashMap<ValueId, ValueId>,
}

impl Abreast<'_> {
    /// The registers on which operands depend.
    fn reached(&self, operands: &[((usize, usize), ValueId)]) -> BTreeSet<Meet> {
        let mut work: Vec<ValueId> = operands.iter().map(|(_, operand)| *operand).collect();
        let (mut seen, mut reached) = (BTreeSet::new(), BTreeSet::new());
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            work.extend(self.values.inside(value));
            if let Term::Meet { block, register } = *self.values.term(value)
                && self.values.width(value) >= 32
            {
                let incoming = self.evaluation.meets.get(&(block, register)).into_iter().flatten();
                work.extend(incoming.map(|(_, value)| *value));
                reached.insert((block, register));
            }
        }
        reached
    }

    /// What comes to two registers, from the same node each time.
    fn pairs(&self, one: Meet, other: Meet) -> Option<Vec<[ValueId; 2]>> {
        let (of_one, of_other) = (self.evaluation.meets.get(&one)?, self.evaluation.meets.get(&other)?);
        if of_one.is_empty() || of_one.len() != of_other.len() {
            return None;
        }
        let pair = |(from, value): &(usize, ValueId)| {
            let (_, other) = of_other.iter().find(|(source, _)| source == from && *from != OUTSIDE)?;
            Some([*value, *other])
        };
        of_one.iter().map(pair).collect()
    }

    /// By how much the first of two values is more, as far as is supposed.
    fn more(&mut self, [one, other]: [ValueId; 2], bits: u8) -> Option<u64> {
        let minus = Lanes::All(cut(u64::MAX, bits));
        let (one, other) = (self.rewritten(one), self.rewritten(other));
        let more = self.values.sum(bits, &[(one, Lanes::All(1)), (other, minus)])?;
        self.values.as_known(more)?.all()
    }

    fn bits(&self, (block, register): Meet) -> Option<u8> {
        self.values.find(&Term::Meet { block, register }).map(|meet| self.values.width(meet))
    }

    /// Supposes more of registers; whether there was anything to suppose.
    fn suppose(&mut self, places: &[Vec<Meet>]) -> bool {
        let before = self.of.len();
        for registers in places {
            for (at, one) in registers.iter().enumerate() {
                for other in &registers[..at] {
                    let Some(bits) = self.bits(*one).filter(|bits| Some(*bits) == self.bits(*other)) else {
                        continue;
                    };
                    if self.of.contains_key(one) || self.of.contains_key(other) {
                        continue;
                    }
                    let pairs = self.pairs(*one, *other).unwrap_or_default();
                    if let Some(more) = pairs.into_iter().find_map(|pair| self.more(pair, bits)) {
                        self.of.insert(*one, (*other, more));
                        self.written.clear();
                    }
                }
            }
        }
        self.of.len() > before
    }

    /// Gives up what does not follow.
    fn settle(&mut self) {
        loop {
            let mut wrong = Vec::new();
            for (one, (other, more)) in self.of.clone() {
                let bits = self.bits(one).unwrap_or(64);
                let pairs = self.pairs(one, other);
                if pairs.is_none_or(|pairs| pairs.into_iter().any(|pair| self.more(pair, bits) != Some(more)))
                {
                    wrong.push(one);
                }
            }
            if wrong.is_empty() {
                return;
            }
            self.of.retain(|one, _| !wrong.contains(one));
            self.written.clear();
        }
    }

    /// Lets the register that holds the least stand for the others.
    fn count_from_the_least(&mut self) {
        let mut abreast: BTreeMap<Meet, Vec<(Meet, u64)>> = BTreeMap::new();
        for (one, (other, more)) in &self.of {
            abreast.entry(*other).or_insert_with(|| vec![(*other, 0)]).push((*one, *more));
        }
        self.of.clear();
        self.written.clear();
        for registers in abreast.into_values() {
            let bits = self.bits(registers[0].0).unwrap_or(64);
            let least = registers.iter().min_by_key(|(meet, more)| (signed(*more, bits), *meet));
            let Some((least, of_least)) = least.copied() else { continue };
            let others = registers.into_iter().filter(|(meet, _)| *meet != least);
            let more = |more: u64| cut(more.wrapping_sub(of_least), bits);
            self.of.extend(others.map(|(meet, of_meet)| (meet, (least, more(of_meet)))));
        }
    }

    fn rewritten(&mut self, value: ValueId) -> ValueId {
        if let Some(written) = self.written.get(&value) {
            return *written;
        }
        let new = match *self.values.term(value) {
            Term::Meet { block, register } => {
                self.of.get(&(block, register)).copied().and_then(|(other, more)| {
                    let bits = self.values.width(value);
                    let other = self.values.leaf(Term::Meet { block: other.0, register: other.1 });
                    let more = self.values.number(more);
                    self.values.sum(bits, &[(other, Lanes::All(1)), (more, Lanes::All(1))])
                })
            }
            _ => {
                let inside = self.values.inside(value);
                let parts: Vec<ValueId> = inside.iter().map(|part| self.rewritten(*part)).collect();
                if parts == inside { None } else { self.values.with(value, &parts) }
            }
        };
        let new = new.unwrap_or(value);
        self.written.insert(value, new);
        new
    }
}
