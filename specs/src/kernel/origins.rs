//! Where values that meet come from: what makes those of two agents the same.
//!
//! What a register holds where paths meet is named by its place. That is the same value in two agents, at the
//! same iterations of the loops around it, only if the same values come there, by the same conditions. What
//! these are is collected here: two agents with equal collections, and equal outcomes of what is decided for
//! all of them, have equal values, by induction over the steps that lead there.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use super::code::Register;
use super::evaluate::{Evaluation, OUTSIDE, Way};
use super::flow::{Flow, Turns};
use super::value::{Term, ValueId, Values};

/// One thing that a value depends on: a value that comes to a meeting, a condition, or where ways part.
type Item = [usize; 5];

/// What values of one agent depend on, which is asked for again and again.
#[derive(Debug, Default)]
pub(super) struct Collected {
    items: RefCell<HashMap<Asked, Rc<BTreeSet<Item>>>>,
    /// The numbers of collections.
    numbers: RefCell<HashMap<Asked, usize>>,
}

/// The innermost loop of who asks, and the place.
type Asked = (Option<usize>, Place);

/// What is asked for: the value of a register where paths meet, the iterations of a loop that was left, or
/// all of them in a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Place {
    Meet(usize, Register),
    Iterations(usize),
    Term(ValueId),
}

/// The collections of all agents, for each place in the order in which they were found.
#[derive(Debug, Default)]
pub(super) struct Origins {
    known: RefCell<HashMap<Place, Vec<Rc<BTreeSet<Item>>>>>,
}

impl Origins {
    /// The number of the collection for a place as a node sees it.
    pub(super) fn number(&self, agent: &Agent<'_>, node: usize, place: Place) -> usize {
        let asked = (agent.flow.innermost[node], place);
        if let Some(number) = agent.collected.numbers.borrow().get(&asked) {
            return *number;
        }
        let found = agent.collect(node, place);
        let mut known = self.known.borrow_mut();
        let all = known.entry(place).or_default();
        let number = all.iter().position(|one| *one == found).unwrap_or_else(|| {
            all.push(found);
            all.len() - 1
        });
        agent.collected.numbers.borrow_mut().insert(asked, number);
        number
    }
}

/// What is known of one agent.
#[derive(Clone, Copy)]
pub(super) struct Agent<'a> {
    pub(super) values: &'a Values,
    pub(super) evaluation: &'a Evaluation,
    pub(super) flow: &'a Flow,
    /// What was asked before.
    pub(super) collected: &'a Collected,
}

/// What is still to be looked at: places and terms as a node sees them, and nodes with a branch.
#[derive(Default)]
struct Work {
    places: Vec<(usize, Place)>,
    nodes: Vec<usize>,
    seen: BTreeSet<(usize, usize, usize)>,
}

impl Agent<'_> {
    /// The values that come to where a value meets others, to where these have met others, and the conditions
    /// that decide which of them comes.
    pub(super) fn behind(&self, node: usize, place: Place) -> BTreeSet<ValueId> {
        let of = |item: Item| match item {
            [0, .., value] | [1, _, value, ..] => ValueId::try_from(value).ok(),
            _ => None,
        };
        self.collect(node, place).iter().copied().filter_map(of).collect()
    }

    fn collect(&self, node: usize, place: Place) -> Rc<BTreeSet<Item>> {
        let asked = (self.flow.innermost[node], place);
        if let Some(known) = self.collected.items.borrow().get(&asked) {
            return Rc::clone(known);
        }
        let found = Rc::new(self.depends(node, place));
        self.collected.items.borrow_mut().insert(asked, Rc::clone(&found));
        found
    }

    fn depends(&self, node: usize, place: Place) -> BTreeSet<Item> {
        let mut items = BTreeSet::new();
        let mut work = Work { places: vec![(node, place)], ..Work::default() };
        loop {
            if let Some((node, place)) = work.places.pop() {
                let (block, register) = match place {
                    Place::Meet(block, register) => (block, register as usize),
                    Place::Iterations(header) => (header, usize::MAX),
                    Place::Term(value) => (value as usize, usize::MAX - 1),
                };
                // What lies behind it is the same for all nodes in the same loops.
                let inner = self.flow.innermost[node].map_or(usize::MAX, |inner| inner);
                if work.seen.insert((inner, block, register)) {
                    self.place(node, place, &mut items, &mut work);
                }
            } else if let Some(node) = work.nodes.pop() {
                if work.seen.insert((node, usize::MAX, usize::MAX)) {
                    self.branch(node, &mut items, &mut work);
                }
            } else {
                return items;
            }
        }
    }

    fn place(&self, node: usize, place: Place, items: &mut BTreeSet<Item>, work: &mut Work) {
        let block = match place {
            Place::Meet(block, _) | Place::Iterations(block) => block,
            Place::Term(value) => return self.term(node, value, work),
        };
        // How often loops were gone through that have been left.
        for left in self.flow.around(block).filter(|l| !self.flow.contains(Some(*l), node)) {
            turns([3, self.flow.loops[left].header], self.flow.rounds(left), items, work);
        }
        let Place::Meet(_, register) = place else { return };
        let incoming = self.evaluation.meets.get(&(block, register)).map_or(&[][..], Vec::as_slice);
        for (from, value) in incoming {
            items.insert([0, block, register as usize, *from, *value as usize]);
            if *from != OUTSIDE {
                self.term(*from, *value, work);
            }
        }
        for (back, of) in self.flow.turns(block, incoming) {
            turns([4 + usize::from(back), block], of, items, work);
        }
    }

    /// What is inside a term, as a node sees it.
    fn term(&self, node: usize, value: ValueId, work: &mut Work) {
        let (mut seen, mut terms) = (BTreeSet::new(), vec![value]);
        while let Some(value) = terms.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.values.term(value) {
                Term::Meet { block, register } => work.places.push((node, Place::Meet(*block, *register))),
                Term::Gained { header, .. } => work.places.push((node, Place::Iterations(*header))),
                _ => {}
            }
            terms.extend(self.values.inside(value));
        }
    }

    fn branch(&self, node: usize, items: &mut BTreeSet<Item>, work: &mut Work) {
        if let Some(Way::Branch(condition, taken, other)) = self.evaluation.then[node] {
            items.insert([1, node, condition as usize, taken, other]);
            self.term(node, condition, work);
        }
    }
}

/// Where ways part, and what follows on each of them.
fn turns([kind, at]: [usize; 2], turns: &Turns, items: &mut BTreeSet<Item>, work: &mut Work) {
    items.insert([2, kind, at, turns.first, 0]);
    for (node, next) in &turns.next {
        items.extend(next.iter().enumerate().map(|(way, next)| [kind, at, *node, way, *next]));
        work.nodes.push(*node);
    }
}
