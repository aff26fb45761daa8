//! How often an agent may have arrived at a barrier where it is in its code.
//!
//! A set of numbers for each node (a forward data-flow problem): bits, the last for as often or more.

use super::code::{Action, Code, ObjectKind};
use super::evaluate::{Evaluation, Way};
use super::lanes::Lanes;
use super::slice::{END, Slice};
use super::value::Values;

/// Arrivals that are counted. So many are as many as there may be.
pub(super) const MOST: u32 = 63;

/// A place in the code of an agent: in a node before an instruction, or where it ends.
pub(super) type Point = (usize, Option<usize>);

/// An agent, and the barrier by its number.
#[derive(Clone, Copy)]
pub(super) struct Arriving<'a> {
    pub(super) code: &'a Code,
    pub(super) slice: &'a Slice,
    pub(super) values: &'a Values,
    pub(super) evaluation: &'a Evaluation,
    pub(super) id: u64,
}

/// How often it may have arrived.
pub(super) struct Arrivals<'a> {
    of: Arriving<'a>,
    /// Where nodes begin.
    nodes: Vec<u64>,
    /// Before some arrival.
    pub(super) at_arrivals: u64,
    pub(super) at_end: u64,
}

impl<'a> Arriving<'a> {
    /// From the entry, or from behind an instruction where it has arrived so often; on all ways, or on those
    /// that do not come to a point after so many arrivals.
    pub(super) fn arrivals(
        self,
        from: Option<((usize, usize), u64)>,
        avoided: Option<(Point, u64)>,
    ) -> Arrivals<'a> {
        let mut found =
            Arrivals { of: self, nodes: vec![0; self.slice.nodes.len()], at_arrivals: 0, at_end: 0 };
        let mut work = vec![(0, 1)];
        if let Some(((node, at), mask)) = from {
            work = found.behind(node, Some(at), mask, avoided);
        }
        while let Some((node, more)) = work.pop() {
            if node == END {
                found.at_end |= more;
                continue;
            }
            let Some(known) = found.nodes.get_mut(node) else { continue };
            if more & !*known == 0 {
                continue;
            }
            *known |= more;
            let mask = *known;
            work.extend(found.behind(node, None, mask, avoided));
        }
        found
    }

    /// Whether it may have waited at an mbarrier object before an instruction, and not arrived since.
    pub(super) fn has_waited(self, (node, at): (usize, usize)) -> bool {
        let mut before: Vec<Option<bool>> = vec![None; self.slice.nodes.len()];
        let mut work = vec![(0, false)];
        while let Some((node, waited)) = work.pop() {
            let Some(known) = before.get_mut(node) else { continue };
            if known.is_some_and(|known| known >= waited) {
                continue;
            }
            *known = Some(waited);
            let waited = self.waited(waited, self.slice.nodes[node].instructions.iter());
            let ways = self.evaluation.then[node].into_iter().flat_map(Way::nodes);
            work.extend(ways.map(|to| (to, waited)));
        }
        let earlier = self.slice.nodes[node].instructions.iter().take_while(|earlier| **earlier != at);
        self.waited(before[node].unwrap_or(false), earlier)
    }

    fn waited<'i>(&self, before: bool, instructions: impl Iterator<Item = &'i usize>) -> bool {
        instructions.fold(before, |waited, at| match &self.code.instructions[*at].action {
            Action::Object(step) => waited || step.kind == ObjectKind::Wait,
            Action::Test { .. } => true,
            _ => waited && !self.arrives(*at),
        })
    }

    /// Whether an instruction is an arrival at the barrier.
    fn arrives(&self, at: usize) -> bool {
        let Action::Synchronise(barrier) = &self.code.instructions[at].action else { return false };
        let number = self.evaluation.synchronisations.get(&at).and_then(|operands| operands.first());
        barrier.operands.first().is_some_and(|(_, what)| *what == NUMBER)
            && number
                .is_some_and(|number| self.values.as_known(*number).and_then(Lanes::all) == Some(self.id))
    }
}

impl Arrivals<'_> {
    /// Goes through a node, or what stands in it behind an instruction, and on.
    fn behind(
        &mut self,
        node: usize,
        from: Option<usize>,
        mut mask: u64,
        avoided: Option<(Point, u64)>,
    ) -> Vec<(usize, u64)> {
        let left = |at: Option<usize>| match avoided {
            Some((point, without)) if point == (node, at) => !without,
            _ => u64::MAX,
        };
        let instructions = &self.of.slice.nodes[node].instructions;
        for at in instructions.iter().filter(|at| from.is_none_or(|from| **at > from)) {
            mask &= left(Some(*at));
            if self.of.arrives(*at) {
                self.at_arrivals |= mask;
                mask = arrived(mask);
            }
        }
        mask &= left(None);
        let ways = self.of.evaluation.then[node].into_iter().flat_map(Way::nodes);
        ways.map(|to| (to, mask)).collect()
    }

    /// How often before an instruction, on the ways to its node.
    pub(super) fn before(&self, (node, at): (usize, usize)) -> u64 {
        let earlier = self.of.slice.nodes[node].instructions.iter().take_while(|earlier| **earlier != at);
        let arrivals = earlier.filter(|earlier| self.of.arrives(**earlier)).count();
        (0..arrivals).fold(self.nodes[node], |mask, _| arrived(mask))
    }
}

/// What messages call the number of a barrier.
pub(super) const NUMBER: &str = "number";

/// One arrival more.
fn arrived(mask: u64) -> u64 {
    mask << 1 | mask & (1 << MOST)
}
