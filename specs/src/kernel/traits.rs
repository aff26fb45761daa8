//! What kind of knowledge there is of a term in one warp: who shares its value, whether it changes while the
//! kernel runs, whether it can be computed.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::alignment::Meets;
use super::code::{Comparison, Operation, Register, Type};
use super::comparisons::{less, one_sided, product_is_0};
use super::evaluate::{Evaluation, OUTSIDE, Way};
use super::exits;
use super::flow::Flow;
use super::joins::Joins;
use super::lanes::Lanes;
use super::numbers::{self, Need};
use super::ranges::Known;
use super::terms::{any, differs, is_invariant};
use super::trips::most;
use super::value::{Term, ValueId, Values};

/// Who has the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Spread {
    /// The whole group, wherever it evaluates an equal term.
    Group,
    /// The lanes of a warp.
    Warp,
    /// Each lane has its own.
    Lane,
}

/// What is known of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Traits {
    pub(super) spread: Spread,
    /// It may have another value when it is evaluated again.
    pub(super) varies: bool,
    /// It follows from known numbers and from the path taken.
    pub(super) is_exact: bool,
}

const KNOWN: Traits = Traits { spread: Spread::Group, varies: false, is_exact: true };

impl Traits {
    fn and(self, other: Self) -> Self {
        Self {
            spread: self.spread.max(other.spread),
            varies: self.varies || other.varies,
            is_exact: self.is_exact && other.is_exact,
        }
    }
}

/// The traits of terms in one warp.
pub(super) struct Knowledge<'e> {
    pub(super) evaluation: &'e Evaluation,
    pub(super) flow: &'e Flow,
    meets: BTreeMap<(usize, Register), Traits>,
    /// For each node with a branch, who shares its condition.
    branches: HashMap<usize, Spread>,
    /// Conditions in their normal form, and those that rest on sums not wrapping around.
    normal: HashMap<usize, ValueId>,
    /// Normal forms with selections in the place of values that meet, by the node that asks.
    selected: HashMap<(usize, ValueId), ValueId>,
    pub(super) unwrapped: BTreeSet<usize>,
    /// Operands of barriers in their normal form.
    operands: HashMap<ValueId, ValueId>,
    /// Each meeting of values whose iterations only add to it: what it began with, what is added.
    inductions: HashMap<(usize, Register), (ValueId, ValueId, u8)>,
    /// Those of at most two iterations, which may hold one number or another.
    of_two: BTreeSet<(usize, Register)>,
    /// What is left of meetings behind loops, in terms that are the same while the kernel runs.
    exits: HashMap<(usize, Register), ValueId>,
    /// Unknown numbers that loops count up to, of which something may be computed.
    pub(super) counted: &'e BTreeSet<ValueId>,
}

impl<'e> Knowledge<'e> {
    pub(super) fn new(
        values: &mut Values,
        evaluation: &'e Evaluation,
        flow: &'e Flow,
        counted: &'e BTreeSet<ValueId>,
    ) -> Self {
        let mut knowledge = Self::of_conditions(values, evaluation, flow, counted);
        let objects = evaluation
            .objects
            .values()
            .flat_map(|object| object.index.map(|(index, ..)| index).into_iter().chain(object.rank));
        let amounts = evaluation.barriers.values().flat_map(|(id, count)| std::iter::once(*id).chain(*count));
        let others = evaluation.synchronisations.values().flatten().copied();
        let masks = evaluation.masks.values().copied();
        for operand in objects.chain(amounts).chain(others).chain(masks) {
            let normal = knowledge.expanded(values, operand, &mut HashMap::new());
            knowledge.operands.insert(operand, normal);
        }
        for key in evaluation.meets.keys() {
            knowledge.meets.insert(*key, Traits { varies: true, ..KNOWN });
        }
        while knowledge.settle(values) {}
        knowledge
    }

    /// The unknown numbers that loops count up to.
    pub(super) fn counted(values: &mut Values, evaluation: &Evaluation, flow: &Flow) -> BTreeSet<ValueId> {
        let none = BTreeSet::new();
        let knowledge = Knowledge::of_conditions(values, evaluation, flow, &none);
        numbers::counted(values, knowledge.normal.values().copied())
    }

    /// What comes to where paths meet, where what is loaded in iterations of loops is called as in
    /// conditions: by how many there have been.
    pub(super) fn of_iterations(values: &mut Values, evaluation: &Evaluation, flow: &Flow) -> Meets {
        let none = BTreeSet::new();
        let knowledge = Knowledge::of_conditions(values, evaluation, flow, &none);
        let mut memo = HashMap::new();
        let mut meets = evaluation.meets.clone();
        for (_, value) in meets.values_mut().flatten() {
            *value = knowledge.with_loads(values, *value, &mut memo);
        }
        meets
    }

    fn with_loads(
        &self,
        values: &mut Values,
        value: ValueId,
        memo: &mut HashMap<ValueId, ValueId>,
    ) -> ValueId {
        if let Some(known) = memo.get(&value) {
            return *known;
        }
        let result = if let Term::Loaded { .. } | Term::Pure { .. } = values.term(value) {
            self.expanded(values, value, &mut HashMap::new())
        } else {
            let inside = values.inside(value);
            let parts: Vec<ValueId> =
                inside.iter().map(|part| self.with_loads(values, *part, memo)).collect();
            if parts == inside { value } else { values.with(value, &parts).unwrap_or(value) }
        };
        memo.insert(value, result);
        result
    }

    /// No more than the normal forms of conditions.
    fn of_conditions(
        values: &mut Values,
        evaluation: &'e Evaluation,
        flow: &'e Flow,
        counted: &'e BTreeSet<ValueId>,
    ) -> Self {
        let mut knowledge = Self {
            evaluation,
            flow,
            meets: BTreeMap::new(),
            branches: HashMap::new(),
            normal: HashMap::new(),
            selected: HashMap::new(),
            unwrapped: BTreeSet::new(),
            operands: HashMap::new(),
            inductions: HashMap::new(),
            of_two: BTreeSet::new(),
            exits: HashMap::new(),
            counted,
        };
        knowledge.find_inductions(values);
        knowledge.find_exits(values);
        for (node, way) in evaluation.then.iter().enumerate() {
            if let Some(Way::Branch(condition, ..)) = way {
                let normal = knowledge.normal_form(values, node, *condition);
                knowledge.normal.insert(node, normal);
                knowledge.select(values, node, normal, CONDITIONS);
                knowledge.branches.insert(node, Spread::Group);
            }
        }
        knowledge
    }

    /// What has to be known of unknown numbers for a value that can be computed then. What is decided once
    /// and is no more than a comparison of such a number is no such value, and neither is one with the
    /// iterations of a loop of two: loops of more have thresholds there.
    pub(super) fn need(&self, values: &Values, node: usize, value: ValueId) -> Option<Need> {
        if self.at(values, node, value).is_exact {
            return None;
        }
        let need = numbers::need(values, self, node, value)?;
        let is_of_two = |term: &Term| match term {
            Term::Meet { block, register } => self.of_two.contains(&(*block, *register)),
            _ => false,
        };
        if need.period == 1 && values.width(value) <= 1 && any(values, value, is_of_two) {
            return None;
        }
        (need.mixes || need.period > 1 || values.width(value) > 1).then_some(need)
    }

    /// An operand of a barrier in its normal form.
    pub(super) fn operand(&self, value: ValueId) -> Option<ValueId> {
        self.operands.get(&value).copied()
    }

    /// The condition of a node with a branch, in its normal form.
    pub(super) fn condition(&self, node: usize) -> Option<ValueId> {
        self.normal.get(&node).copied()
    }

    /// A condition, or a part of one, in its normal form with selections in the place of values that meet.
    pub(super) fn selected(&self, node: usize, normal: ValueId) -> ValueId {
        self.selected.get(&(node, normal)).copied().unwrap_or(normal)
    }

    /// Looks for selections in a condition and its parts.
    fn select(&mut self, values: &mut Values, node: usize, normal: ValueId, left: u32) {
        if let Some(selected) = Joins::of(values, self.evaluation, self.flow).condition(node, normal) {
            let selected = self.normal_form(values, node, selected);
            self.selected.insert((node, normal), selected);
        }
        let Term::Apply { operation, terms, .. } = values.term(normal).clone() else { return };
        if left > 0 && matches!(operation, Operation::And | Operation::Or | Operation::LogicalNot) {
            terms.into_iter().for_each(|part| self.select(values, node, part, left - 1));
        }
    }

    /// Takes back what was assumed too well; whether anything was.
    fn settle(&mut self, values: &Values) -> bool {
        let mut changed = false;
        for node in self.normal.keys().copied().collect::<Vec<_>>() {
            let mut spread = self.at(values, node, self.normal[&node]).spread;
            if self.evaluation.telling.contains(&node) {
                // By what others are told all lanes go. How often they have is no other warp's.
                spread = spread.min(Spread::Warp);
            }
            changed |= self.branches.insert(node, spread) != Some(spread);
        }
        for (key, incoming) in &self.evaluation.meets {
            let mut traits = self.meets[key];
            for (from, value) in incoming {
                let is_unset = *from == OUTSIDE || *values.term(*value) == Term::Unset;
                let mut of = if is_unset { UNWRITTEN } else { self.at(values, *from, *value) };
                of.is_exact |= *from != OUTSIDE && self.need(values, *from, *value).is_some();
                traits = traits.and(of);
            }
            traits.spread = traits.spread.max(self.decided(key.0, incoming));
            traits.varies = true;
            if traits != self.meets[key] {
                self.meets.insert(*key, traits);
                changed = true;
            }
        }
        changed
    }

    /// Who shares the decision from which node a meeting is reached.
    fn decided(&self, node: usize, incoming: &[(usize, ValueId)]) -> Spread {
        let deciding = self.flow.deciding(node, incoming);
        let spreads = deciding.iter().filter_map(|node| self.branches.get(node).copied());
        spreads.max().unwrap_or(Spread::Group)
    }

    /// What is known of a term where it is evaluated in a node.
    pub(super) fn at(&self, values: &Values, node: usize, value: ValueId) -> Traits {
        let mut memo = HashMap::new();
        self.of(values, node, value, &mut memo)
    }

    fn of(
        &self,
        values: &Values,
        node: usize,
        value: ValueId,
        memo: &mut HashMap<ValueId, Traits>,
    ) -> Traits {
        if let Some(known) = memo.get(&value) {
            return *known;
        }
        let mut traits = match values.term(value) {
            Term::Known(Lanes::All(_)) => KNOWN,
            Term::Known(Lanes::Each(_)) => Traits { spread: Spread::Lane, ..KNOWN },
            Term::Same(_) | Term::Pure { .. } => Traits { is_exact: false, ..KNOWN },
            Term::Loaded { varies, .. } => Traits { varies: *varies, is_exact: false, ..KNOWN },
            Term::Given { .. } => Traits { varies: true, is_exact: false, spread: Spread::Group },
            Term::Gained { header, .. } => {
                Traits { varies: true, is_exact: false, spread: self.iterations(node, *header) }
            }
            Term::Sum { terms, known, .. } => {
                let each = |lanes: &Lanes| lanes.all().is_none();
                let differs = each(known) || terms.iter().any(|(_, factor)| each(factor));
                Traits { spread: if differs { Spread::Lane } else { Spread::Group }, ..KNOWN }
            }
            Term::Apply { .. } => KNOWN,
            Term::Meet { block, register } => self.meeting(node, *block, *register),
            Term::Unknown { of_warp: true, .. } => {
                Traits { spread: Spread::Warp, varies: true, is_exact: false }
            }
            Term::Unknown { .. } | Term::Unset => UNKNOWN,
        };
        for inside in values.inside(value) {
            traits = traits.and(self.of(values, node, inside, memo));
        }
        memo.insert(value, traits);
        traits
    }

    /// Whether a node is in all loops with whose iterations a term changes. Behind one it is what it was in
    /// the last iteration, which may be another than that in which it was counted.
    fn is_at_hand(&self, values: &Values, node: usize, value: ValueId) -> bool {
        let is_left = |block: usize| self.flow.around(block).any(|l| !self.flow.contains(Some(l), node));
        !any(values, value, |term| match term {
            Term::Meet { block, .. } => is_left(*block),
            Term::Gained { header, .. } => is_left(*header),
            Term::Loaded { varies: true, .. } | Term::Given { .. } => self.flow.innermost[node].is_none(),
            _ => false,
        })
    }

    fn meeting(&self, node: usize, block: usize, register: Register) -> Traits {
        let Some(traits) = self.meets.get(&(block, register)) else { return UNKNOWN };
        Traits { spread: traits.spread.max(self.iterations(node, block)), ..*traits }
    }

    /// Who shares the number of iterations of the loops around `block` that have been left on the way to
    /// `node`.
    fn iterations(&self, node: usize, block: usize) -> Spread {
        let mut spread = Spread::Group;
        for left in self.flow.around(block).filter(|l| !self.flow.contains(Some(*l), node)) {
            for exit in &self.flow.loops[left].nodes {
                if self.flow.after[*exit].iter().any(|to| !self.flow.contains(Some(left), *to)) {
                    spread = spread.max(self.branches.get(exit).copied().unwrap_or(Spread::Group));
                }
            }
        }
        spread
    }

    /// Finds what only grows by the same amount in each iteration of a loop.
    fn find_inductions(&mut self, values: &mut Values) {
        let mut few = None;
        for ((node, register), incoming) in &self.evaluation.meets {
            let Some(inner) = self.flow.innermost[*node].filter(|_| self.flow.is_header(*node)) else {
                continue;
            };
            let is_back = |from: usize| from != OUTSIDE && self.flow.contains(Some(inner), from);
            let one = |back: bool| {
                let mut all =
                    incoming.iter().filter(|(from, _)| is_back(*from) == back).map(|(_, value)| *value);
                let first = all.next()?;
                all.all(|value| value == first).then_some(first)
            };
            let (Some(begin), Some(next)) = (one(false), one(true)) else { continue };
            // Of two iterations at most the second has so much more than the first.
            if let [Some(first), Some(second)] =
                [begin, next].map(|value| values.as_known(value).and_then(Lanes::all))
            {
                let few = few.get_or_insert_with(|| most(values, self.evaluation, self.flow, 2));
                let meet = values.leaf(Term::Meet { block: *node, register: *register });
                let bits = values.width(meet);
                if few[inner].is_some() && bits >= 32 {
                    let step = values.number(super::arithmetic::cut(second.wrapping_sub(first), bits));
                    self.inductions.insert((*node, *register), (begin, step, bits));
                    self.of_two.insert((*node, *register));
                }
                continue;
            }
            let meet = values.leaf(Term::Meet { block: *node, register: *register });
            let Term::Sum { bits, terms, .. } = values.term(next).clone() else { continue };
            if !terms.contains(&(meet, Lanes::All(1))) {
                continue;
            }
            let minus = Lanes::All(super::arithmetic::cut(u64::MAX, bits));
            let step = values.sum(bits, &[(next, Lanes::All(1)), (meet, minus)]);
            let Some(step) = step.filter(|step| is_invariant(values, *step)) else { continue };
            self.inductions.insert((*node, *register), (begin, step, bits));
        }
    }

    /// Finds what registers hold behind loops that end when something else has come to its end.
    fn find_exits(&mut self, values: &mut Values) {
        let expanded = |values: &mut Values, value| self.expanded(values, value, &mut HashMap::new());
        let of = (self.evaluation, self.flow);
        let meets = self.evaluation.meets.keys();
        let exits = meets.filter_map(|meet| Some((*meet, exits::exit(values, of, *meet, &expanded)?)));
        self.exits = exits.collect();
    }

    /// A condition in which what grows in loops is split into what it began with and what it has gained, and
    /// in which what differs between lanes is taken off on both sides.
    pub(super) fn normal_form(&mut self, values: &mut Values, node: usize, condition: ValueId) -> ValueId {
        let mut memo = HashMap::new();
        let expanded = self.expanded(values, condition, &mut memo);
        let is_behind = memo.keys().any(|part| match values.term(*part) {
            Term::Meet { block, register } => self.exits.contains_key(&(*block, *register)),
            _ => false,
        });
        let less = if is_behind { less(values, expanded, CONDITIONS) } else { expanded };
        if less != expanded {
            self.unwrapped.insert(node);
        }
        self.normalised(values, node, less, CONDITIONS)
    }

    fn normalised(&mut self, values: &mut Values, node: usize, normal: ValueId, left: u32) -> ValueId {
        let Term::Apply { operation, ty, terms } = values.term(normal).clone() else { return normal };
        let Operation::Compare(comparison) = operation else {
            let joins = matches!(operation, Operation::And | Operation::Or | Operation::LogicalNot);
            if !joins || left == 0 || terms.iter().any(|term| values.width(*term) > 1) {
                return normal;
            }
            let parts: Vec<ValueId> =
                terms.into_iter().map(|term| self.normalised(values, node, term, left - 1)).collect();
            if let Some(is_0) = product_is_0(values, operation, &parts) {
                self.unwrapped.insert(node);
                return is_0;
            }
            return values.apply(operation, ty, &parts);
        };
        let [a, b] = terms[..] else { return normal };
        let wraps = !matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        if ty.bits < 32 || !(differs(values, a) || differs(values, b)) {
            let counts = |value| any(values, value, |term| matches!(term, Term::Gained { .. }));
            if ty.bits >= 32 && !wraps && (counts(a) || counts(b)) {
                return one_sided(values, comparison, ty, (a, b)).unwrap_or(normal);
            }
            return normal;
        }
        let minus = Lanes::All(super::arithmetic::cut(u64::MAX, ty.bits));
        let Some(difference) = values.sum(ty.bits, &[(a, Lanes::All(1)), (b, minus)]) else { return normal };
        if differs(values, difference) {
            return normal;
        }
        if wraps {
            self.unwrapped.insert(node);
        }
        let zero = values.number(0);
        let ty = Type { signed: true, ..ty };
        values.apply(Operation::Compare(comparison), ty, &[difference, zero])
    }

    fn expanded(&self, values: &mut Values, value: ValueId, memo: &mut HashMap<ValueId, ValueId>) -> ValueId {
        if let Some(known) = memo.get(&value) {
            return *known;
        }
        memo.insert(value, value);
        let result = match values.term(value).clone() {
            Term::Meet { block, register } if self.exits.contains_key(&(block, register)) => {
                self.exits[&(block, register)]
            }
            Term::Meet { block, register } => match self.inductions.get(&(block, register)).copied() {
                Some((begin, step, bits)) => {
                    let begin = self.expanded(values, begin, memo);
                    let gained = values.leaf(Term::Gained { header: block, step });
                    values.sum(bits, &[(begin, Lanes::All(1)), (gained, Lanes::All(1))]).unwrap_or(value)
                }
                None => value,
            },
            _ => {
                let inside = values.inside(value).into_iter();
                let inside: Vec<ValueId> = inside.map(|part| self.expanded(values, part, memo)).collect();
                values.with(value, &inside).unwrap_or(value)
            }
        };
        memo.insert(value, result);
        result
    }
}

/// Conditions inside one another whose parts are brought into their normal form.
const CONDITIONS: u32 = 8;

const UNKNOWN: Traits = Traits { spread: Spread::Lane, varies: true, is_exact: false };
/// What nothing was written to, where it meets what was, is taken to be read by nobody.
const UNWRITTEN: Traits = Traits { spread: Spread::Group, varies: true, is_exact: false };

impl Known for Knowledge<'_> {
    fn is_exact(&self, values: &Values, node: usize, value: ValueId) -> bool {
        self.at(values, node, value).is_exact
    }

    fn is_number(&self, values: &Values, node: usize, value: ValueId) -> bool {
        let traits = || self.at(values, node, value);
        self.counted.contains(&value)
            && !traits().is_exact
            && traits().spread == Spread::Group
            && self.is_at_hand(values, node, value)
    }

    fn numbers(&self) -> &BTreeSet<ValueId> {
        self.counted
    }

    fn incoming(&self, meet: (usize, Register)) -> &[(usize, ValueId)] {
        self.evaluation.meets.get(&meet).map_or(&[], Vec::as_slice)
    }
}
