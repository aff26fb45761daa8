//! Values where a condition is known to hold: of what is selected by it, only one is left.
//!
//! An operand that is computed under the guard of a barrier is, at that barrier, what was computed.

use std::collections::HashMap;

use super::code::Operation;
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

impl Values {
    /// A term in code in which instructions stand elsewhere now.
    pub(super) fn moved(&mut self, value: ValueId, to: &impl Fn(usize) -> usize) -> ValueId {
        let inside = self.inside(value).into_iter();
        let inside: Vec<ValueId> = inside.map(|part| self.moved(part, to)).collect();
        if let (Term::Loaded { at, varies, .. }, [address]) = (self.term(value).clone(), inside.as_slice()) {
            return self.leaf(Term::Loaded { at: to(at), address: *address, varies });
        }
        self.with(value, &inside).unwrap_or(value)
    }

    /// A value where a condition is not 0.
    pub(super) fn given(&mut self, value: ValueId, condition: ValueId) -> ValueId {
        let contrary = self.truth(condition, false);
        let mut memo = HashMap::new();
        self.selected(value, (condition, contrary), &mut memo)
    }

    /// The number that all lanes have for which a known condition holds, if it is one.
    fn where_it_holds(&self, lanes: &Lanes, condition: ValueId) -> Option<u64> {
        let (Lanes::Each(numbers), Lanes::Each(holds)) = (lanes, self.as_known(condition)?) else {
            return None;
        };
        let all = 0..numbers.len().max(holds.len());
        let mut left = all.filter(|lane| holds[lane % holds.len()] != 0).map(|lane| lanes.get(lane));
        let first = left.next()?;
        left.all(|number| number == first).then_some(first)
    }

    fn selected(
        &mut self,
        value: ValueId,
        (holds, fails): (ValueId, Option<ValueId>),
        memo: &mut HashMap<ValueId, ValueId>,
    ) -> ValueId {
        if let Some(known) = memo.get(&value) {
            return *known;
        }
        let result = match self.term(value).clone() {
            Term::Apply { operation: Operation::Select, terms, .. } if terms[2] == holds => {
                self.selected(terms[0], (holds, fails), memo)
            }
            Term::Apply { operation: Operation::Select, terms, .. } if Some(terms[2]) == fails => {
                self.selected(terms[1], (holds, fails), memo)
            }
            Term::Apply { operation, ty, terms } => {
                let inside = terms.iter().map(|term| self.selected(*term, (holds, fails), memo)).collect();
                let inside: Vec<ValueId> = inside;
                if inside == terms { value } else { self.apply(operation, ty, &inside) }
            }
            Term::Known(lanes) => match self.where_it_holds(&lanes, holds) {
                Some(number) => self.number(number),
                None => value,
            },
            Term::Pure { terms, .. } => {
                let inside = terms.iter().map(|term| self.selected(*term, (holds, fails), memo)).collect();
                let inside: Vec<ValueId> = inside;
                if inside == terms { value } else { self.with(value, &inside).unwrap_or(value) }
            }
            Term::Sum { bits, terms, known } => {
                let inside: Vec<_> = terms
                    .iter()
                    .map(|(term, factor)| (self.selected(*term, (holds, fails), memo), factor.clone()))
                    .collect();
                if inside == terms {
                    value
                } else {
                    let known = self.known(known);
                    let one = Lanes::All(1);
                    let parts: Vec<_> = inside.into_iter().chain([(known, one)]).collect();
                    self.sum(bits, &parts).unwrap_or(value)
                }
            }
            _ => value,
        };
        memo.insert(value, result);
        result
    }
}
