//! What registers hold where paths meet.
//!
//! Where an address meets others that are counted from the same symbol, what meets is no more than how far
//! from there each is: the register is `symbol + n + rest`, `rest` being what comes less `symbol + n`, where
//! `n` is what the first to come has more than the symbol. The same is taken off all that comes and added
//! again, in the arithmetic of the register's width, so that nothing is lost whatever wraps around. So it is
//! known in which array an object is where a compiler carries its address around a loop.
//!
//! Where lanes part by what is known of each, and known numbers meet, each lane has the number that its way
//! brought.
//!
//! On the way to the fixed point a register may turn out to be counted from something else: from then on it
//! is a meeting like any other. Never the other way around, so that this comes to an end.

use std::collections::BTreeSet;

use super::arithmetic::cut;
use super::code::{REST, Register, own};
use super::evaluate::{Evaluation, Evaluator, OUTSIDE, State};
use super::lanes::Lanes;
use super::terms::{any, differs, is_invariant};
use super::value::{Term, ValueId};

/// What an address is counted from, where it meets others: bits, the symbol, and a number.
type From = (u8, ValueId, u64);

impl Evaluator<'_> {
    /// Meetings of one value with itself.
    pub(super) fn trivial(&self, evaluation: &Evaluation) -> Vec<(usize, Register)> {
        let is_trivial = |((block, register), incoming): &(&(usize, Register), &Vec<(usize, ValueId)>)| {
            let itself = self.values.find(&Term::Meet { block: *block, register: *register });
            let mut others = incoming.iter().map(|(_, value)| *value).filter(|value| Some(*value) != itself);
            let first = others.next();
            first.is_some() && others.all(|value| Some(value) == first)
        };
        let trivial = evaluation.meets.iter().filter(|meet| is_trivial(&(meet.0, meet.1)));
        trivial.map(|((node, register), _)| (*node, own(*register))).collect()
    }

    /// Whether something else comes to a node than what is taken to be there.
    pub(super) fn differs(&mut self, state: &State, (node, register): (usize, Register)) -> bool {
        let Some(index) = self.slice.registers.get(&register).copied() else { return false };
        let Some(before) = state.before[node].as_ref().map(|before| before[index]) else { return false };
        let mut from = state.leading(node).collect::<Vec<_>>().into_iter();
        from.any(|from| self.coming(state, (from, node), index).is_some_and(|value| value != before))
    }

    /// What registers hold where a node begins.
    pub(super) fn merged(
        &mut self,
        node: usize,
        state: &State,
        single: &BTreeSet<(usize, Register)>,
    ) -> Vec<ValueId> {
        let unset = self.values.leaf(Term::Unset);
        let count = self.slice.registers.len();
        let from: Vec<usize> = state.leading(node).collect();
        let mut all: Vec<Vec<ValueId>> =
            from.into_iter().filter_map(|from| self.all_coming(state, (from, node))).collect();
        if node == 0 {
            all.insert(0, vec![unset; count]);
        }
        let by_lane = if node == 0 { None } else { self.by_lane(state, node) };
        let mut merged = all.first().cloned().unwrap_or_else(|| vec![unset; count]);
        for (register, index) in &self.slice.registers {
            let was = state.before[node].as_ref().map(|before| before[*index]);
            let was = was.filter(|was| self.meets_here(*was, (node, *register)));
            let is_one = all.iter().all(|values| values[*index] == merged[*index]);
            if (!is_one || was.is_some()) && !single.contains(&(node, *register)) {
                let coming: Vec<ValueId> = all.iter().map(|values| values[*index]).collect();
                let of_lanes = by_lane.filter(|_| was.is_none()).and_then(|by| self.of_lanes(by, &coming));
                merged[*index] = of_lanes.unwrap_or_else(|| self.meeting((node, *register), was, &coming));
            }
        }
        merged
    }

    /// The condition, known of each lane, by which lanes have come to a node over one of two ways, and
    /// whether it holds over the first.
    fn by_lane(&self, state: &State, node: usize) -> Option<(ValueId, bool)> {
        let first = state.leading(node).next()?;
        let (condition, sides) = self.gate(state, node)?;
        self.values.as_known(condition).filter(|lanes| lanes.all().is_none())?;
        Some((condition, sides[0] == first))
    }

    /// Of known numbers that come over two ways, that of each lane.
    fn of_lanes(&mut self, (condition, is_first): (ValueId, bool), coming: &[ValueId]) -> Option<ValueId> {
        let [a, b] = *coming else { return None };
        let (a, b) = if is_first { (a, b) } else { (b, a) };
        let all = [self.values.as_known(a)?, self.values.as_known(b)?, self.values.as_known(condition)?];
        let lanes = Lanes::map(&all, |n| Some(if n[2] != 0 { n[0] } else { n[1] }))?;
        Some(self.values.known(lanes))
    }

    /// Whether a value is what meets at a node in a register, or is counted from there.
    fn meets_here(&self, value: ValueId, (block, register): (usize, Register)) -> bool {
        *self.values.term(value) == (Term::Meet { block, register })
            || self.counted_from(value, (block, register)).is_some()
    }

    /// From where a value is counted that is what meets at a node in a register, if it is.
    fn counted_from(&self, value: ValueId, (block, register): (usize, Register)) -> Option<From> {
        let rest = self.values.find(&Term::Meet { block, register: register | REST })?;
        let Term::Sum { terms, .. } = self.values.term(value) else { return None };
        if terms.len() != 2 || !terms.contains(&(rest, Lanes::All(1))) {
            return None;
        }
        self.symbol_of(value)
    }

    /// The symbol from which a sum is counted, and the number in it.
    fn symbol_of(&self, value: ValueId) -> Option<From> {
        let begins = |term: &Term| matches!(term, Term::Same(name) if self.code.symbols.contains(name));
        let is_symbol = |term: ValueId| {
            any(self.values, term, begins) && is_invariant(self.values, term) && !differs(self.values, term)
        };
        let Term::Sum { bits, terms, known } = self.values.term(value) else { return None };
        let mut symbols = terms.iter().filter(|(term, factor)| *factor == Lanes::All(1) && is_symbol(*term));
        let (symbol, _) = symbols.next()?;
        symbols.next().is_none().then_some((*bits, *symbol, known.all()?))
    }

    /// What a register holds where all this comes, and what it held here before.
    fn meeting(
        &mut self,
        (block, register): (usize, Register),
        was: Option<ValueId>,
        coming: &[ValueId],
    ) -> ValueId {
        let plain = Term::Meet { block, register };
        let from = match was {
            Some(was) => self.counted_from(was, (block, register)),
            None => coming.iter().find_map(|value| self.symbol_of(*value)),
        };
        let bits = self.code.bits.get(register as usize).copied().unwrap_or(64);
        let from = from.filter(|(of, symbol, _)| {
            let same = |value: &ValueId| {
                value == symbol || self.symbol_of(*value).is_some_and(|(o, s, _)| (o, s) == (*of, *symbol))
            };
            *of == bits && coming.iter().all(same)
        });
        let Some((bits, symbol, known)) = from else { return self.values.leaf(plain) };
        let rest = self.values.leaf(Term::Meet { block, register: register | REST });
        let known = self.values.number(known);
        let one = Lanes::All(1);
        let sum = self.values.sum(bits, &[(symbol, one.clone()), (rest, one.clone()), (known, one)]);
        sum.unwrap_or_else(|| self.values.leaf(plain))
    }

    /// What is left of a value without that from which it is counted.
    fn rest(&mut self, value: ValueId, (bits, symbol, known): From) -> Option<ValueId> {
        let known = self.values.number(known);
        let minus = Lanes::All(cut(u64::MAX, bits));
        self.values.sum(bits, &[(value, Lanes::All(1)), (symbol, minus.clone()), (known, minus)])
    }

    /// What each register holds where paths meet, and the operands of barriers, once nothing changes.
    pub(super) fn collect(&mut self, state: State) -> Evaluation {
        let mut evaluation = Evaluation::default();
        let unset = self.values.leaf(Term::Unset);
        for node in 0..state.before.len() {
            let Some(before) = &state.before[node] else { continue };
            self.execute(node, &mut before.clone(), &mut evaluation);
            for (register, index) in &self.slice.registers {
                if !self.meets_here(before[*index], (node, *register)) {
                    continue;
                }
                let from = self.counted_from(before[*index], (node, *register));
                let leading: Vec<usize> = state.leading(node).collect();
                let mut comes: Vec<(usize, ValueId)> =
                    (node == 0).then_some((OUTSIDE, unset)).into_iter().collect();
                for leads in leading {
                    let Some(value) = self.coming(&state, (leads, node), *index) else { continue };
                    let value = match from {
                        None => value,
                        Some(from) => self.rest(value, from).unwrap_or(unset),
                    };
                    comes.push((leads, value));
                }
                let register = if from.is_some() { register | REST } else { *register };
                evaluation.meets.insert((node, register), comes);
            }
        }
        evaluation.then = state.then;
        evaluation
    }
}
