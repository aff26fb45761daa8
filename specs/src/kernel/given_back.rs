//! Whether a place through which others are told has been given back before it is stored to again.
//!
//! Whoever looks at the place arrives on an object once it has; the teller waits, before it stores there
//! again, for the phase of that object that these arrivals complete. That is found by running the loops, as
//! in [`tellers`](super::tellers): for each round with an earlier one of the same place, the object on which
//! the reader arrives in that one, and which of its phases that is, by how often the reader has arrived there
//! before. The phase is complete only when every reader has arrived, as long as the object expects as many
//! arrivals as all of them together make.

use std::collections::BTreeSet;

use super::code::{Action, ObjectKind};
use super::dominators::dominates;
use super::evaluate::Evaluation;
use super::flow::Flow;
use super::handed_over::{One, Running};
use super::lanes::Lanes;
use super::tellers::{ROUNDS, Reader, Tellers};

/// A wait of a loop: the object and the parity in each round, and whether it comes before the store.
struct Wait {
    rounds: Vec<(One, u64)>,
    is_before: bool,
}

impl Tellers<'_> {
    /// The steps on objects in the rounds of a loop: the node and the instruction of each that every round
    /// comes to.
    fn steps<'s>(
        &'s self,
        of: (&'s Evaluation, &'s Flow),
        inner: usize,
    ) -> impl Iterator<Item = (usize, usize, ObjectKind)> + 's {
        let nodes = (0..self.slice.nodes.len()).filter(move |node| of.0.then[*node].is_some());
        let all =
            nodes.flat_map(|node| self.slice.nodes[node].instructions.iter().map(move |at| (node, *at)));
        all.filter_map(move |(node, at)| {
            let instruction = &self.code.instructions[at];
            let Action::Object(step) = &instruction.action else { return None };
            let is_plain = instruction.guard.is_none() && step.mask.is_none();
            let is_its = is_plain && self.passes(of, node).is_some_and(|(of_node, _)| of_node == inner);
            is_its.then_some((node, at, step.kind))
        })
    }

    /// On which objects an agent arrives in each round of a loop, behind a load.
    pub(super) fn frees(
        &self,
        of: (&Evaluation, &Flow),
        inner: usize,
        (node, load): (usize, usize),
    ) -> Vec<Vec<One>> {
        let is_behind = |step: &(usize, usize, ObjectKind)| {
            let (arriving, at, kind) = *step;
            let is_behind =
                if arriving == node { load < at } else { dominates(&of.1.dominator, node, arriving) };
            is_behind && matches!(kind, ObjectKind::Arrive { relaxed: false })
        };
        let all = self.steps(of, inner).filter(is_behind);
        let objects = all.filter_map(|(_, at, _)| {
            let object = of.0.objects.get(&at)?;
            let mut run = Running::of(self.known(), of, inner, (&[], object))?;
            (0..ROUNDS).map(|_| Some(run.next::<0>(object)?.1)).collect()
        });
        objects.collect()
    }

    /// What is waited for in each round of a loop.
    fn waits(&self, of: (&Evaluation, &Flow), inner: usize, (storing, store): (usize, usize)) -> Vec<Wait> {
        let all = self.steps(of, inner).filter(|(.., kind)| *kind == ObjectKind::Wait);
        let waits = all.filter_map(|(node, at, _)| {
            let (object, parity) = (of.0.objects.get(&at)?, of.0.barriers.get(&at)?.1?);
            let mut run = Running::of(self.known(), of, inner, (&[parity], object))?;
            let rounds = (0..ROUNDS).map(|_| {
                let ([parity], object) = run.next(object)?;
                Some((object, parity & 1))
            });
            let is_before =
                if node == storing { at < store } else { dominates(&of.1.dominator, node, storing) };
            Some(Wait { rounds: rounds.collect::<Option<_>>()?, is_before })
        });
        waits.collect()
    }

    /// Whether the places of a store have been given back by a reader in each round in which they are stored
    /// to again.
    pub(super) fn is_given_back(
        &self,
        (index, flow, inner): (usize, &Flow, usize),
        store: (usize, usize),
        places: &[u64],
        reader: &Reader,
    ) -> bool {
        let (_, evaluation) = self.agents[index];
        let again: Vec<(usize, usize)> = (0..places.len())
            .filter_map(|round| {
                let is_there =
                    |earlier: &usize| places[*earlier].abs_diff(places[round]) < u64::from(reader.bytes);
                Some(((0..round).rev().find(is_there)?, round))
            })
            .collect();
        if again.is_empty() {
            return true;
        }
        let waits = self.waits((evaluation, flow), inner, store);
        let waits_in_time = |frees: &Vec<One>| {
            again.iter().all(|(earlier, round)| {
                let object = &frees[*earlier];
                let phase = frees[..*earlier].iter().filter(|one| *one == object).count() as u64;
                let since = *earlier..=*round;
                waits.iter().any(|wait| {
                    since.clone().any(|at| {
                        let is_since = at > *earlier || !wait.is_before;
                        let is_by_then = at < *round || wait.is_before;
                        is_since && is_by_then && wait.rounds[at] == (object.clone(), phase & 1)
                    })
                })
            })
        };
        reader.frees.iter().any(|frees| self.expects_all(frees) && waits_in_time(frees))
    }

    /// Whether objects expect as many arrivals as all agents together make on them, and nothing else is done
    /// there.
    fn expects_all(&self, frees: &[One]) -> bool {
        let all: BTreeSet<&One> = frees.iter().collect();
        let (mut expected, mut made) = (BTreeSet::new(), 0_u64);
        for (_, evaluation) in &self.agents {
            for (at, object) in &evaluation.objects {
                let Action::Object(step) = &self.code.instructions[*at].action else { return false };
                if step.kind == ObjectKind::Wait || !self.may_be(evaluation, object, &all) {
                    continue;
                }
                let amount = match evaluation.barriers.get(at).and_then(|(_, amount)| *amount) {
                    Some(amount) => self.values.as_known(amount).and_then(Lanes::all),
                    None => Some(1),
                };
                let node = self.slice.nodes.iter().position(|node| node.instructions.contains(at));
                let (Some(amount), Some(node)) = (amount, node) else { return false };
                match step.kind {
                    ObjectKind::Init => {
                        expected.insert(amount);
                    }
                    ObjectKind::Arrive { .. } => {
                        let lanes = u64::from(evaluation.lanes[node].count_ones());
                        made = made.saturating_add(amount.saturating_mul(lanes));
                    }
                    _ => return false,
                }
            }
        }
        expected.len() == 1 && expected.contains(&made)
    }
}
