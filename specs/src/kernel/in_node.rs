//! What names there are for values as a node of a warp sees them.

use std::collections::BTreeSet;

use super::alignment::Meets;
use super::code::Register;
use super::expression::{InSum, Names, Writer, is_small};
use super::lanes::Lanes;
use super::numbers::placeholder;
use super::residual::{Expression, Meet, Residual, round};
use super::terms::part_of;
use super::traits::Spread;
use super::tree::Decided;
use super::value::{Term, ValueId, Values};

/// Names for one expression.
pub(super) struct InNode<'n, 'r> {
    pub(super) residual: &'n mut Residual<'r>,
    pub(super) node: usize,
    pub(super) used: BTreeSet<Meet>,
    pub(super) rounds: BTreeSet<usize>,
    pub(super) decided: Decided,
    pub(super) by_lane: bool,
    /// What is written is computed of unknown numbers.
    pub(super) of_numbers: bool,
}

impl Names for InNode<'_, '_> {
    fn meet(&mut self, block: usize, register: Register) -> Option<(String, u8)> {
        let residual = &self.residual;
        let meet = residual.values.find(&Term::Meet { block, register })?;
        if !residual.knowledge.at(residual.values, self.node, meet).is_exact {
            return None;
        }
        self.used.insert((block, register));
        Some((residual.local((block, register)), residual.width((block, register))))
    }

    fn decision(&mut self, values: &Values, value: ValueId) -> Option<String> {
        let traits = self.residual.knowledge.at(values, self.node, value);
        let once = !traits.is_exact && !traits.varies && traits.spread == Spread::Group;
        if !once || values.width(value) > 1 || self.of_numbers {
            return None;
        }
        let (mut decision, negated) = self.residual.decision(self.node, value, value);
        let name = self.residual.name(&decision.key);
        decision.name = Some(name.clone());
        if !self.decided.decisions.contains(&decision) {
            self.decided.decisions.push(decision);
        }
        Some(if negated { format!("!{name}") } else { name })
    }

    fn iterations(&mut self, header: usize) -> Option<String> {
        self.rounds.insert(header);
        Some(round(header))
    }

    fn number(&mut self, _: &Values, value: ValueId) -> Option<String> {
        let is_one = self.of_numbers && self.residual.knowledge.counted.contains(&value);
        is_one.then(|| self.residual.number(self.node, value)).flatten().map(placeholder)
    }

    fn number_in(&mut self, values: &Values, (bits, terms): (u8, &[(ValueId, Lanes)])) -> Option<InSum> {
        let counted = self.residual.knowledge.counted;
        let (number, rest) = part_of(values, counted, (bits, terms)).filter(|_| self.of_numbers)?;
        Some((self.number(values, number)?, rest))
    }

    fn counts_up(&self, block: usize, register: Register) -> Option<u64> {
        counts_up(self.residual.values, &self.residual.evaluation.meets, (block, register))
    }

    fn by_lane(&mut self) {
        self.by_lane = true;
    }
}

impl Residual<'_> {
    /// An expression for a value; `of_numbers` says that it may be computed of unknown numbers.
    pub(super) fn written(
        &mut self,
        node: usize,
        value: ValueId,
        bits: Option<u8>,
        of_numbers: bool,
    ) -> Option<Expression> {
        let (values, live) = (self.values, self.live);
        let names = InNode {
            residual: self,
            node,
            used: BTreeSet::new(),
            rounds: BTreeSet::new(),
            decided: Decided::default(),
            by_lane: false,
            of_numbers,
        };
        let mut writer = Writer::new(values, live, names);
        let text = match bits {
            Some(bits) => writer.write_as(value, bits)?,
            None => writer.write(value)?,
        };
        let InNode { used, rounds, mut decided, by_lane, .. } = writer.names;
        let spread = used.iter().filter_map(|(block, register)| {
            let meet = self.values.find(&Term::Meet { block: *block, register: *register })?;
            Some(self.knowledge.at(self.values, node, meet).spread)
        });
        decided.is_private = by_lane || spread.max().is_some_and(|spread| spread > Spread::Group);
        Some(Expression { text, used, rounds, decided })
    }
}

/// From which number on what a register holds where paths meet has counted up, if it is a known number that
/// is not negative, has counted up from one, by small numbers only, which takes a long time to overflow, or
/// is what is left of such numbers.
fn counts_up(values: &Values, meets: &Meets, meet: Meet) -> Option<u64> {
    let mut least: Option<u64> = None;
    let (mut seen, mut work) = (BTreeSet::new(), vec![meet]);
    while let Some(meet) = work.pop() {
        if !seen.insert(meet) {
            continue;
        }
        for (_, value) in meets.get(&meet)? {
            let from = match values.term(*value) {
                Term::Known(Lanes::All(number)) if *number < 1 << 31 => {
                    least = Some(least.map_or(*number, |least| least.min(*number)));
                    continue;
                }
                _ if values.width(*value) < 32 => {
                    least = Some(0);
                    continue;
                }
                Term::Meet { .. } => *value,
                Term::Sum { bits, terms, known: known @ Lanes::All(more) } => match terms.as_slice() {
                    [(from, Lanes::All(1))] if is_small(known, *bits) && *more < 1 << 31 => *from,
                    _ => return None,
                },
                _ => return None,
            };
            let Term::Meet { block, register } = *values.term(from) else { return None };
            work.push((block, register));
        }
    }
    least
}
