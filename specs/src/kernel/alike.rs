//! Bytes of a launch that are announced and copied alike: `expect(n); copy(n);`.
//!
//! How many they are is not known, and need not be: what is announced is what the copies for the same object
//! complete, by the same lanes and in one stretch of code, whatever it comes to. Each copy stands for as many
//! bytes as the smallest has.

use std::collections::BTreeMap;

use super::code::{Action, ObjectKind};
use super::lanes::Lanes;
use super::residual::Residual;
use super::value::{Term, ValueId, Values};

/// The bytes that a copy stands for.
const EACH: i64 = 16;

/// A sum of 32 bits: its terms with their factors, and the number that is added.
#[derive(Default, PartialEq)]
struct Sum {
    terms: BTreeMap<ValueId, u32>,
    known: u32,
}

impl Sum {
    /// Adds a value; `None` if it differs between lanes.
    fn add(&mut self, values: &Values, value: ValueId) -> Option<()> {
        let number = |lanes: &Lanes| lanes.all().map(|number| number as u32);
        match values.term(value) {
            Term::Known(lanes) => self.known = self.known.wrapping_add(number(lanes)?),
            Term::Sum { terms, known, .. } => {
                self.known = self.known.wrapping_add(number(known)?);
                for (term, factor) in terms {
                    let of = self.terms.entry(*term).or_default();
                    *of = of.wrapping_add(number(factor)?);
                }
            }
            _ => {
                let of = self.terms.entry(value).or_default();
                *of = of.wrapping_add(1);
            }
        }
        Some(())
    }
}

impl Residual<'_> {
    /// The bytes that a copy, or the announcement of some, stands for, if what is announced for an object in
    /// a node is the sum of what is copied for it there.
    pub(super) fn announced_alike(&self, node: usize, at: usize) -> Option<i64> {
        let object = self.evaluation.barriers.get(&at)?.0;
        let (mut announced, mut copied, mut copies) = (None, Sum::default(), 0);
        for other in &self.slice.nodes[node].instructions {
            let Action::Object(step) = &self.code.instructions[*other].action else { continue };
            let of = self.evaluation.barriers.get(other).filter(|(of, _)| *of == object);
            let Some((_, amount)) = of else { continue };
            match step.kind {
                ObjectKind::ExpectTx | ObjectKind::ArriveExpectTx { .. } if announced.is_none() => {
                    let mut sum = Sum::default();
                    sum.add(self.values, (*amount)?)?;
                    announced = Some(sum);
                }
                // Copies of a known number of bytes say it.
                ObjectKind::Copy if step.mask.is_none() && self.values.as_known((*amount)?).is_none() => {
                    copied.add(self.values, (*amount)?)?;
                    copies += 1;
                }
                ObjectKind::ExpectTx | ObjectKind::ArriveExpectTx { .. } | ObjectKind::Copy => return None,
                _ => {}
            }
        }
        let Action::Object(own) = &self.code.instructions[at].action else { return None };
        // Of several copies the sum may be beyond 32 bits: that it is not is assumed where they are measured.
        let is_said = own.kind == ObjectKind::Copy || copies == 1;
        (announced? == copied && is_said).then_some(EACH)
    }
}
