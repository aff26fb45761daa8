//! Accesses in loops that do nothing but access memory and compute, and whose rounds are known: what they
//! touch in all of these together is one access, and no barrier lies between its parts. What is left of
//! their addresses changes with loops further out alone.
//!
//! In each round those lanes access that have not left the loop before and for which the branches on the way
//! go there. Where all of these are known, so is what is touched: those branches need not be asked any more.

use std::collections::BTreeSet;

use super::arithmetic::signed;
use super::code::{Code, Register};
use super::dominators::dominates;
use super::evaluate::{Evaluation, OUTSIDE, Way};
use super::flow::Flow;
use super::lanes::{Lanes, WIDTH};
use super::slice::Slice;
use super::together::{Index, Together};
use super::trips::{Rounds, exit};
use super::value::{Term, ValueId, Values};

/// Rounds of a loop that are gone through for the values of an address.
pub(super) const ROUNDS: usize = 64;

/// Rounds of all loops around an access together, at most.
const MOST: usize = 1 << 12;

/// Sets down for each access what it touches in the rounds of the loops directly around it.
pub(super) fn over_rounds(code: &Code, slice: &Slice, values: &mut Values, evaluation: &mut Evaluation) {
    if evaluation.accesses.is_empty() {
        return;
    }
    let Ok(flow) = Flow::of(evaluation) else { return };
    let is_quiet: Vec<bool> = (0..flow.loops.len()).map(|number| quiet(code, slice, &flow, number)).collect();
    for node in &flow.order {
        for at in &slice.nodes[*node].instructions {
            let Some(found) = evaluation.accesses.get(at) else { continue };
            let (address, guard) = (found.address, found.condition);
            let mut place = Place { evaluation: &*evaluation, flow: &flow, node: *node, guard };
            let rounds = vec![(u32::MAX, [0; WIDTH])];
            let (known, exact) = (BTreeSet::new(), BTreeSet::new());
            let mut together = Together { rounds, known, exact, is_guard_known: false };
            let (mut rest, mut is_any) = (address, false);
            for number in flow.around(*node).take_while(|number| is_quiet[*number]) {
                match place.over(values, number, (rest, &mut together)) {
                    Some(less) => rest = less,
                    None => break,
                }
                place.node = flow.loops[number].header;
                is_any = true;
            }
            place.node = *node;
            let outer = flow.around(*node).find(|number| !is_quiet[*number]);
            let which = outer.and_then(|number| place.which(values, number, evaluation.lanes[*node]));
            match which {
                Some(Which::Lanes(lanes, exact)) => {
                    together.rounds.iter_mut().for_each(|(mask, _)| *mask &= lanes);
                    together.exact = exact;
                    is_any = true;
                }
                Some(Which::By(value)) => {
                    evaluation.indices.insert(*at, Index { value, is_added: false });
                }
                None => {}
            }
            if let Some(found) = evaluation.accesses.get_mut(at).filter(|_| is_any) {
                found.address = rest;
                evaluation.together.insert(*at, together);
            }
        }
    }
}

/// Whether nothing in a loop is about barriers.
fn quiet(code: &Code, slice: &Slice, flow: &Flow, number: usize) -> bool {
    let nodes = flow.loops[number].nodes.iter().flat_map(|node| &slice.nodes[*node].instructions);
    nodes.into_iter().all(|at| !code.instructions[*at].action.is_about_barriers())
}

/// Where an access stands, or a loop around it.
pub(super) struct Place<'s> {
    pub(super) evaluation: &'s Evaluation,
    pub(super) flow: &'s Flow,
    pub(super) node: usize,
    /// The lanes that it is for.
    pub(super) guard: Option<ValueId>,
}

/// Which lanes come to an access in the rounds of a loop.
pub(super) struct Coming {
    /// In each round.
    pub(super) lanes: Vec<u32>,
    /// The nodes that decide about it, if all their branches are known; else some of these lanes may not
    /// come.
    pub(super) known: BTreeSet<usize>,
    pub(super) is_guard_known: bool,
}

/// Which lanes come to an access in the rounds of a loop, if it is not left to others to say.
enum Which {
    /// In any round these, or none, if no other branches than those of these nodes decide about it.
    Lanes(u32, BTreeSet<usize>),
    /// That is known by a variable.
    By(ValueId),
}

/// How something changes in the rounds of a loop.
enum Change {
    /// By so much in each round. It has so many bits.
    By(Lanes, u8),
    /// It follows from known numbers.
    Known(ValueId),
}

impl Place<'_> {
    /// Takes what changes with a loop out of an address: what is left.
    fn over(&self, values: &mut Values, number: usize, of: (ValueId, &mut Together)) -> Option<ValueId> {
        let (address, together) = of;
        let header = self.flow.loops[number].header;
        let (mut left, mut known, mut changes) = (Vec::new(), [0_i64; WIDTH], Vec::new());
        let mut work = vec![(address, Lanes::All(1), 64_u8)];
        while let Some((value, factor, bits)) = work.pop() {
            match values.term(value) {
                // It is a number of so many bits as the sum in which it stands.
                Term::Known(lanes) => {
                    let product = Lanes::map(&[lanes, &factor], |n| Some(n[0].wrapping_mul(n[1])))?;
                    add(&mut known, &product, bits)?;
                }
                Term::Sum { bits, terms, known: more } if factor == Lanes::All(1) => {
                    add(&mut known, more, *bits)?;
                    work.extend(terms.iter().map(|(term, factor)| (*term, factor.clone(), *bits)));
                }
                _ if !is_of(values, value, header) => left.push((value, widened(&factor, bits)?)),
                _ => match self.steps(values, value, number) {
                    Some((begin, step)) => {
                        changes.push((Change::By(step, values.width(value)), factor.clone(), bits));
                        work.push((begin, factor, values.width(value)));
                    }
                    None => changes.push((Change::Known(value), factor.clone(), bits)),
                },
            }
        }
        let most = MOST / together.rounds.len().max(1);
        let Some(mut coming) = self.coming(values, number, most) else {
            return changes.is_empty().then_some(address);
        };
        if changes.is_empty() {
            coming.lanes = vec![coming.lanes.iter().fold(0, |all, lanes| all | lanes)];
        }
        let offsets = self.offsets(values, (number, coming.lanes.len()), &changes)?;
        let mut rounds = Vec::new();
        for (lanes, by) in &together.rounds {
            for (more, offsets) in coming.lanes.iter().zip(&offsets) {
                let mut sum = *by;
                for (sum, offset) in sum.iter_mut().zip(offsets) {
                    *sum = sum.checked_add(*offset)?;
                }
                rounds.push((lanes & more, sum));
            }
        }
        let known = values.known(Lanes::each(WIDTH, |lane| known[lane] as u64));
        left.push((known, Lanes::All(1)));
        let rest = if changes.is_empty() { address } else { values.sum(64, &left)? };
        together.rounds = rounds;
        together.known.extend(coming.known);
        together.is_guard_known |= coming.is_guard_known;
        Some(rest)
    }

    /// What a variable begins with, and what it gains in each round, if that is always the same.
    fn steps(&self, values: &Values, value: ValueId, number: usize) -> Option<(ValueId, Lanes)> {
        let Term::Meet { block, register } = values.term(value) else { return None };
        let (begin, next) = self.begin_and_next((number, *block), *register)?;
        let Term::Sum { terms, known, .. } = values.term(next) else { return None };
        let is_itself = matches!(&terms[..], [(term, factor)] if *term == value && *factor == Lanes::All(1));
        is_itself.then(|| (begin, known.clone()))
    }

    /// What a variable begins a loop with, and what it has in the next round, if each is one value.
    fn begin_and_next(
        &self,
        (number, block): (usize, usize),
        register: Register,
    ) -> Option<(ValueId, ValueId)> {
        let incoming = self.evaluation.meets.get(&(block, register))?;
        let is_back = |from: usize| from != OUTSIDE && self.flow.contains(Some(number), from);
        let one = |back: bool| {
            let mut all = incoming.iter().filter(|(from, _)| is_back(*from) == back);
            let (_, first) = *all.next()?;
            all.all(|(_, value)| *value == first).then_some(first)
        };
        (self.flow.loops[number].header == block).then_some(())?;
        Some((one(false)?, one(true)?))
    }

    /// What all changes come to in each round, for each lane.
    fn offsets(
        &self,
        values: &Values,
        (number, times): (usize, usize),
        changes: &[(Change, Lanes, u8)],
    ) -> Option<Vec<[i64; WIDTH]>> {
        let mut offsets = vec![[0_i64; WIDTH]; times];
        for (change, factor, bits) in changes {
            match change {
                Change::By(step, width) => {
                    for (round, offsets) in (0_i64..).zip(&mut offsets) {
                        for (lane, offset) in offsets.iter_mut().enumerate() {
                            let by = signed(step.get(lane), *width).checked_mul(round)?;
                            let more = by.checked_mul(signed(factor.get(lane), *bits))?;
                            *offset = offset.checked_add(more)?;
                        }
                    }
                }
                Change::Known(value) => {
                    let mut rounds = self.rounds(values, number, *value)?;
                    for offsets in &mut offsets {
                        let now = rounds.lanes(&[*value])?.pop()?;
                        for (lane, offset) in offsets.iter_mut().enumerate() {
                            let more = signed(now.get(lane).wrapping_mul(factor.get(lane)), *bits);
                            *offset = offset.checked_add(more)?;
                        }
                    }
                }
            }
        }
        Some(offsets)
    }

    pub(super) fn rounds<'v>(&self, values: &'v Values, number: usize, value: ValueId) -> Option<Rounds<'v>> {
        Rounds::of((values, &NO_SYMBOLS), (self.evaluation, self.flow), number, &[value])
    }

    /// Which lanes come to the access in the rounds of a loop, if it is left in one place, by all lanes
    /// sooner or later, and after so many rounds at most.
    pub(super) fn coming(&self, values: &Values, number: usize, most: usize) -> Option<Coming> {
        let (node, condition, when) = exit(self.evaluation, self.flow, number)?;
        let is_behind = self.node != node && dominates(&self.flow.dominator, node, self.node);
        let mut rounds = self.rounds(values, number, condition)?;
        let (mut inside, mut lanes) = (u32::MAX, Vec::new());
        while inside != 0 {
            if lanes.len() > most {
                return None;
            }
            let stays = truths(rounds.lanes(&[condition])?.first()?, !when);
            lanes.push(if is_behind { inside & stays } else { inside });
            inside &= stays;
        }
        let (decides, is_all) = self.decides(number);
        let mut known = BTreeSet::from([node]);
        let mut is_known = is_all;
        // Who leaves is known.
        for (other, condition, when) in decides.into_iter().filter(|(other, ..)| *other != node) {
            is_known &= self.restrict(values, number, (condition, when), &mut lanes).is_some();
            known.insert(other);
        }
        if !is_known {
            known.clear();
        }
        let is_guard_known = self
            .guard
            .is_some_and(|guard| self.restrict(values, number, (guard, true), &mut lanes).is_some());
        Some(Coming { lanes, known, is_guard_known })
    }

    /// Which lanes come to the access in the rounds of a loop, where some may and others not.
    fn which(&self, values: &Values, number: usize, all: u32) -> Option<Which> {
        let coming = self.coming(values, number, ROUNDS)?;
        let masks: BTreeSet<u32> = coming.lanes.iter().map(|lanes| lanes & all).collect();
        let some: Vec<u32> = masks.into_iter().filter(|mask| *mask != 0).collect();
        if let [lanes] = some[..] {
            return Some(Which::Lanes(lanes, coming.known));
        }
        let (decides, _) = self.decides(number);
        let conditions = decides.iter().map(|(_, condition, _)| *condition).chain(self.guard);
        let header = self.flow.loops[number].header;
        let is_meet = |inside: &ValueId| match values.term(*inside) {
            Term::Meet { block, .. } => *block == header,
            _ => false,
        };
        let inside = conditions.flat_map(|condition| super::terms::all(values, condition));
        let mut found: BTreeSet<ValueId> = inside.filter(is_meet).collect();
        found.pop_first().filter(|_| found.is_empty()).map(Which::By)
    }

    /// Takes those lanes out for which a condition is not so, if it is known in all rounds.
    fn restrict(
        &self,
        values: &Values,
        number: usize,
        (condition, when): (ValueId, bool),
        lanes: &mut [u32],
    ) -> Option<()> {
        let mut rounds = self.rounds(values, number, condition)?;
        let masks = lanes.iter().map(|_| Some(truths(rounds.lanes(&[condition])?.first()?, when)));
        let masks: Vec<u32> = masks.collect::<Option<_>>()?;
        lanes.iter_mut().zip(masks).for_each(|(lanes, mask)| *lanes &= mask);
        Some(())
    }

    /// The branches inside a loop by which it is decided in each round whether the access is come to, and how
    /// they go then; whether nothing else decides about it.
    fn decides(&self, number: usize) -> (Vec<(usize, ValueId, bool)>, bool) {
        let (mut found, mut is_all, mut node) = (Vec::new(), true, self.node);
        while node != self.flow.loops[number].header {
            let Some(before) = self.flow.dominator[node].filter(|before| *before != node) else { break };
            match self.evaluation.then[before] {
                Some(Way::Branch(condition, taken, other))
                    if taken != other && self.flow.before[node] == [before] =>
                {
                    found.push((before, condition, taken == node));
                }
                _ => is_all &= self.is_come_to(number, (before, node)),
            }
            node = before;
        }
        (found, is_all)
    }

    /// Whether all ways from one node of a loop lead to another one, in the same round.
    fn is_come_to(&self, number: usize, (from, to): (usize, usize)) -> bool {
        let (mut seen, mut work) = (BTreeSet::new(), vec![from]);
        while let Some(node) = work.pop() {
            let is_end = node == self.flow.loops[number].header && node != from;
            if is_end || !self.flow.contains(Some(number), node) || self.flow.after[node].is_empty() {
                return false;
            }
            let next = self.flow.after[node].iter().copied();
            work.extend(next.filter(|next| *next != to && seen.insert(*next)));
        }
        true
    }
}

/// A factor of a sum of fewer bits in one of 64.
fn widened(factor: &Lanes, bits: u8) -> Option<Lanes> {
    Lanes::map(&[factor], |n| Some(signed(n[0], bits) as u64))
}

/// Nothing is counted from a symbol in what decides about rounds.
static NO_SYMBOLS: BTreeSet<u32> = BTreeSet::new();

/// Lanes in which something is true, or is not.
pub(super) fn truths(numbers: &Lanes, when: bool) -> u32 {
    (0..WIDTH).fold(0, |mask, lane| mask | u32::from((numbers.get(lane) != 0) == when) << lane)
}

fn is_of(values: &Values, value: ValueId, header: usize) -> bool {
    super::terms::any(values, value, |term| matches!(term, Term::Meet { block, .. } if *block == header))
}

/// Adds a known number for each lane.
pub(super) fn add(known: &mut [i64; WIDTH], more: &Lanes, bits: u8) -> Option<()> {
    for (lane, known) in known.iter_mut().enumerate() {
        *known = known.checked_add(signed(more.get(lane), bits.max(1)))?;
    }
    Some(())
}
