//! Loops whose number of iterations is known: they are run on known numbers until they are left.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::arithmetic::apply;
use super::code::{Operation, Register};
use super::dominators::dominates;
use super::evaluate::{Evaluation, OUTSIDE, Way};
use super::flow::Flow;
use super::lanes::Lanes;
use super::terms::is_truth;
use super::value::{Term, ValueId, Values};

/// How a loop is left whose iterations are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trip {
    /// The node that decides.
    pub(super) node: usize,
    /// At which time that it is asked the loop is left, from 1.
    pub(super) times: i64,
    /// Whether it is left where the condition is true.
    pub(super) when: bool,
}

/// Iterations that are run at most, of one loop and of all together.
const MOST: i64 = 1 << 16;

/// Terms that one round may be computed of.
const TERMS: usize = 4096;

/// Parts of a condition that are looked at.
const PARTS: usize = 8;

/// The bits of places counted from one symbol: shared memory is smaller.
const SYMBOL_BITS: u32 = 20;

/// What meets at the header of a loop.
type Meets = BTreeMap<Register, (Lanes, ValueId)>;

/// For each loop how it is left, if that is known.
pub(super) fn trips(values: &Values, evaluation: &Evaluation, flow: &Flow) -> Vec<Option<Trip>> {
    let mut left = MOST;
    (0..flow.loops.len()).map(|number| trip(values, evaluation, flow, number, &mut left)).collect()
}

/// For each loop how many iterations it has at most, if they are known to be few: however else it may be
/// left, by `i < 4` of `i < 4 && i < n`.
pub(super) fn most(values: &Values, evaluation: &Evaluation, flow: &Flow, few: i64) -> Vec<Option<i64>> {
    let bound = |number: usize| {
        let exits =
            flow.loops[number].nodes.iter().filter_map(|node| way_out(evaluation, flow, number, *node));
        let parts = exits.flat_map(|(condition, when)| parts(values, condition, when));
        let times = parts.filter_map(|(condition, when)| {
            times(values, evaluation, (flow, number), (condition, when), &mut few.clone())
        });
        times.min()
    };
    (0..flow.loops.len()).map(bound).collect()
}

fn trip(
    values: &Values,
    evaluation: &Evaluation,
    flow: &Flow,
    number: usize,
    left: &mut i64,
) -> Option<Trip> {
    let (node, condition, when) = exit(evaluation, flow, number)?;
    let times = times(values, evaluation, (flow, number), (condition, when), left)?;
    Some(Trip { node, times, when })
}

/// At which time that a condition is asked it is what a loop is left by, from 1.
fn times(
    values: &Values,
    evaluation: &Evaluation,
    (flow, number): (&Flow, usize),
    (condition, when): (ValueId, bool),
    left: &mut i64,
) -> Option<i64> {
    let symbols = BTreeSet::new();
    let mut rounds = Rounds::of((values, &symbols), (evaluation, flow), number, &[condition])?;
    for times in 1.. {
        *left -= 1;
        if *left < 0 {
            return None;
        }
        let [outcome] = rounds.next(&[condition])?[..] else { return None };
        if (outcome != 0) == when {
            return Some(times);
        }
    }
    None
}

/// The rounds of a loop on known numbers, one after the other.
pub(super) struct Rounds<'r> {
    values: &'r Values,
    /// Where memory begins. Each symbol is a number of its own.
    symbols: &'r BTreeSet<u32>,
    header: usize,
    meets: Meets,
}

impl<'r> Rounds<'r> {
    /// Of a loop, by its number; `None` if what some terms need in a round does not follow from known numbers
    /// and the round before.
    pub(super) fn of(
        (values, symbols): (&'r Values, &'r BTreeSet<u32>),
        (evaluation, flow): (&Evaluation, &Flow),
        number: usize,
        terms: &[ValueId],
    ) -> Option<Self> {
        let mut meets = Meets::new();
        for term in terms {
            needed((values, symbols), evaluation, (flow, number), *term, &mut meets)?;
        }
        Some(Self { values, symbols, header: flow.loops[number].header, meets })
    }

    /// What some terms are in the next round, the same for all lanes.
    pub(super) fn next(&mut self, terms: &[ValueId]) -> Option<Vec<u64>> {
        self.lanes(terms)?.iter().map(Lanes::all).collect()
    }

    /// What some terms are in the next round.
    pub(super) fn lanes(&mut self, terms: &[ValueId]) -> Option<Vec<Lanes>> {
        let meets = &self.meets;
        let (values, symbols, header) = (self.values, self.symbols, self.header);
        let known = |(block, register): (usize, Register)| {
            meets.get(&register).filter(|_| block == header).map(|(value, _)| value.clone())
        };
        let mut run = Run { values, symbols, known: &known, memo: HashMap::new() };
        let numbers: Option<Vec<Lanes>> = terms.iter().map(|term| run.value(*term)).collect();
        let next: Option<Vec<(Register, Lanes)>> =
            meets.iter().map(|(register, (_, next))| Some((*register, run.value(*next)?))).collect();
        // What cannot be computed any more ends the rounds behind this one.
        let next = next.unwrap_or_default();
        if next.len() < self.meets.len() {
            self.meets.clear();
        }
        for (register, value) in next {
            if let Some(meet) = self.meets.get_mut(&register) {
                meet.0 = value;
            }
        }
        numbers
    }
}

/// The only way out of a loop: the node, its condition, and whether it is left where that is true.
pub(super) fn exit(evaluation: &Evaluation, flow: &Flow, number: usize) -> Option<(usize, ValueId, bool)> {
    let is_inside = |to: usize| to < flow.after.len() && flow.contains(Some(number), to);
    let leaves =
        |node: &&usize| evaluation.then[**node].into_iter().flat_map(Way::nodes).any(|to| !is_inside(to));
    let mut exits = flow.loops[number].nodes.iter().filter(leaves);
    let (Some(node), None) = (exits.next(), exits.next()) else { return None };
    let (condition, when) = way_out(evaluation, flow, number, *node)?;
    Some((*node, condition, when))
}

/// By which condition a node leaves a loop, and whether it does so where that is true. It is asked once in
/// every iteration.
fn way_out(evaluation: &Evaluation, flow: &Flow, number: usize, node: usize) -> Option<(ValueId, bool)> {
    let is_inside = |to: usize| to < flow.after.len() && flow.contains(Some(number), to);
    let Some(Way::Branch(condition, taken, other)) = evaluation.then[node] else { return None };
    let when = match (is_inside(taken), is_inside(other)) {
        (false, true) => true,
        (true, false) => false,
        _ => return None,
    };
    let header = flow.loops[number].header;
    let mut backs = flow.before[header].iter().filter(|from| flow.contains(Some(number), **from));
    let is_asked =
        flow.innermost[node] == Some(number) && backs.all(|back| dominates(&flow.dominator, node, *back));
    is_asked.then_some((condition, when))
}

/// The conditions of which each makes another one true or not by itself, and what they have to be for that.
fn parts(values: &Values, condition: ValueId, when: bool) -> Vec<(ValueId, bool)> {
    let (mut parts, mut work) = (Vec::new(), vec![(condition, when)]);
    while let Some((condition, when)) = work.pop().filter(|_| parts.len() < PARTS) {
        match values.term(condition) {
            Term::Apply { operation: Operation::LogicalNot, terms, .. } => {
                work.extend(terms.iter().map(|term| (*term, !when)));
            }
            Term::Apply { operation: Operation::And | Operation::Or, terms, .. }
                if terms.iter().all(|term| is_truth(values, *term)) =>
            {
                let is_or = matches!(values.term(condition), Term::Apply { operation: Operation::Or, .. });
                if is_or == when {
                    work.extend(terms.iter().map(|term| (*term, when)));
                }
            }
            _ => parts.push((condition, when)),
        }
    }
    parts
}

/// Collects what meets at the header that a term needs: known where the loop is entered, and one value for
/// each further iteration.
fn needed(
    (values, symbols): (&Values, &BTreeSet<u32>),
    evaluation: &Evaluation,
    (flow, number): (&Flow, usize),
    term: ValueId,
    meets: &mut Meets,
) -> Option<()> {
    let header = flow.loops[number].header;
    let mut seen = BTreeSet::new();
    let mut work = vec![term];
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        if seen.len() > TERMS {
            return None;
        }
        match values.term(value) {
            Term::Known(_) | Term::Sum { .. } | Term::Apply { .. } => work.extend(values.inside(value)),
            Term::Same(name) if symbols.contains(name) => {}
            Term::Meet { block, register } if *block == header => {
                let incoming = evaluation.meets.get(&(*block, *register))?;
                let is_back = |from: usize| from != OUTSIDE && flow.contains(Some(number), from);
                let one = |back: bool| {
                    let mut all = incoming.iter().filter(|(from, _)| is_back(*from) == back);
                    let (_, first) = *all.next()?;
                    all.all(|(_, value)| *value == first).then_some(first)
                };
                let (begin, next) = (one(false)?, one(true)?);
                meets.insert(*register, (values.as_known(begin)?.clone(), next));
                work.push(next);
            }
            _ => return None,
        }
    }
    Some(())
}

/// What a term is where it is known what meets in it.
pub(super) fn known_of(
    values: &Values,
    value: ValueId,
    known: &dyn Fn((usize, Register)) -> Option<Lanes>,
) -> Option<Lanes> {
    let symbols = BTreeSet::new();
    Run { values, symbols: &symbols, known, memo: HashMap::new() }.value(value)
}

/// One iteration on known numbers.
struct Run<'r> {
    values: &'r Values,
    symbols: &'r BTreeSet<u32>,
    known: &'r dyn Fn((usize, Register)) -> Option<Lanes>,
    memo: HashMap<ValueId, Lanes>,
}

impl Run<'_> {
    fn value(&mut self, value: ValueId) -> Option<Lanes> {
        if let Some(known) = self.memo.get(&value) {
            return Some(known.clone());
        }
        let result = match self.values.term(value) {
            Term::Known(lanes) => lanes.clone(),
            Term::Same(name) => {
                let place = self.symbols.iter().position(|symbol| symbol == name)?;
                Lanes::All((place as u64 + 1) << SYMBOL_BITS)
            }
            Term::Meet { block, register } => (self.known)((*block, *register))?,
            Term::Sum { bits, terms, known } => {
                let ty = super::code::Type { bits: *bits, signed: false };
                let mut sum = known.clone();
                for (term, factor) in terms {
                    let of = self.value(*term)?;
                    let product = Lanes::map(&[&of, factor], |n| apply(Operation::Multiply, ty, n))?;
                    sum = Lanes::map(&[&sum, &product], |n| apply(Operation::Add, ty, n))?;
                }
                sum
            }
            Term::Apply { operation, ty, terms } => {
                let mut operands = Vec::new();
                for term in terms {
                    operands.push(self.value(*term)?);
                }
                let operands: Vec<&Lanes> = operands.iter().collect();
                Lanes::map(&operands, |numbers| apply(*operation, *ty, numbers))?
            }
            _ => return None,
        };
        self.memo.insert(value, result.clone());
        Some(result)
    }
}
