//! Counters that only go up have no sign: `it % 4` of a signed `it` is written with `it >> 31`, which is 0
//! where `it` begins with a number that is not negative and nothing but such numbers is added.
//!
//! That is found by induction over the steps of an agent: all that comes to where paths meet is not
//! negative, if what meets there is not. A counter of known steps is taken not to leave its bits, as
//! everywhere. What is added and not known is *assumed* not to be negative.

use std::collections::{BTreeMap, BTreeSet};

use super::arithmetic::signed;
use super::code::{Code, Operation, Register};
use super::evaluate::Evaluation;
use super::lanes::Lanes;
use super::terms::is_invariant;
use super::tree::Assumption;
use super::value::{Term, ValueId, Values};

/// Terms that are looked at for one sign.
const MOST: u32 = 200;

/// What is added to a counter, and how often it is taken, at most: more would soon come to the sign, and
/// `it << 30 >> 31` is a bit of `it`.
const SMALL: [u64; 2] = [1 << 16, 16];

/// Leaves out such signs in operands of barriers; what is assumed.
pub(super) fn take(code: &Code, values: &mut Values, evaluation: &mut Evaluation) -> BTreeSet<Assumption> {
    let mut signs = Signs { values, evaluation, written: BTreeMap::new(), assumes: false };
    let mut assumed = BTreeSet::new();
    let mut operands = signs.evaluation.operands();
    for ((at, _), operand) in &mut operands {
        signs.assumes = false;
        signs.written.clear();
        *operand = signs.rewritten(*operand);
        let span = code.instructions[*at].span;
        if signs.assumes {
            assumed.extend([Assumption::Natural(span), Assumption::Unwrapped(span)]);
        }
    }
    evaluation.put(operands);
    assumed
}

struct Signs<'s> {
    values: &'s mut Values,
    evaluation: &'s Evaluation,
    written: BTreeMap<ValueId, ValueId>,
    /// Whether something that is not known was taken not to be negative.
    assumes: bool,
}

impl Signs<'_> {
    fn rewritten(&mut self, value: ValueId) -> ValueId {
        if let Some(written) = self.written.get(&value) {
            return *written;
        }
        let inside = self.values.inside(value);
        let parts: Vec<ValueId> = inside.iter().map(|part| self.rewritten(*part)).collect();
        let same = if parts == inside { Some(value) } else { self.values.with(value, &parts) };
        let mut written = same.unwrap_or(value);
        if let Some(of) = self.sign_of(written)
            && let Some(assumes) = self.is_natural(of)
        {
            self.assumes |= assumes;
            written = self.values.number(0);
        }
        self.written.insert(value, written);
        written
    }

    /// Of what a value is the sign.
    fn sign_of(&self, value: ValueId) -> Option<ValueId> {
        let Term::Apply { operation: Operation::ShiftRight, ty, terms } = self.values.term(value) else {
            return None;
        };
        let by = self.values.as_known(terms[1])?.all()?;
        (by + 1 == u64::from(ty.bits) && ty.bits >= 32).then_some(terms[0])
    }

    /// Whether a counter that meets itself is not negative, and whether that takes an assumption.
    fn is_natural(&self, value: ValueId) -> Option<bool> {
        let mut looked = Looked { met: BTreeSet::new(), assumes: false, left: MOST };
        let is_one = self.looks_natural(value, &mut looked).is_some() && !looked.met.is_empty();
        is_one.then_some(looked.assumes)
    }

    fn looks_natural(&self, value: ValueId, looked: &mut Looked) -> Option<()> {
        looked.left = looked.left.checked_sub(1)?;
        let bits = self.values.width(value);
        let is_natural = |lanes: &Lanes| {
            let signs = Lanes::map(&[lanes], |n| Some(u64::from(signed(n[0], bits.max(32)) < 0)));
            signs.filter(Lanes::is_zero).map(|_| ())
        };
        let is_below = |lanes: &Lanes, most: u64| {
            let above = Lanes::map(&[lanes], |n| Some(u64::from(n[0] > most)));
            above.filter(Lanes::is_zero).map(|_| ())
        };
        match self.values.term(value) {
            Term::Known(lanes) => is_natural(lanes),
            Term::Sum { terms, known, .. } => {
                is_below(known, SMALL[0])?;
                terms.iter().try_for_each(|(term, factor)| {
                    is_below(factor, SMALL[1])?;
                    self.looks_natural(*term, looked)
                })
            }
            Term::Meet { block, register } => {
                let incoming = self.evaluation.meets.get(&(*block, *register))?;
                if !looked.met.insert((*block, *register)) {
                    return Some(());
                }
                incoming.iter().try_for_each(|(_, value)| self.looks_natural(*value, looked))
            }
            _ if bits < 32 => Some(()),
            _ if is_invariant(self.values, value) => {
                looked.assumes = true;
                Some(())
            }
            _ => None,
        }
    }
}

/// What was looked at for one sign.
struct Looked {
    met: BTreeSet<(usize, Register)>,
    assumes: bool,
    left: u32,
}
