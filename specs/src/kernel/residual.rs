//! What a warp's nodes and edges become: barriers with their operands, conditions by what is known of them,
//! assignments where values meet.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use barcheck_model::Patience;

use super::assignments::in_order;
use super::code::{Action, Code, Comparison, Function, Operation, Register, SINCE, own};
use super::evaluate::{Evaluation, OUTSIDE};
use super::expression::class;
use super::flow::Flow;
use super::lanes::Lanes;
use super::numbers::{Need, Number};
use super::origins::{Collected, Origins};
use super::slice::{Slice, Then};
use super::structure::{Emit, Stop};
use super::terms::any;
use super::traits::{Knowledge, Spread};
use super::tree::{Amount, Condition, Decided, Decision, Statement, Statements};
use super::trips::Trip;
use super::value::{Term, ValueId, Values};
use crate::common::span::Span;

/// A register where paths meet.
pub(super) type Meet = (usize, Register);

/// What a warp is made of.
pub(super) struct Residual<'r> {
    pub(super) code: &'r Code,
    pub(super) slice: &'r Slice,
    pub(super) values: &'r Values,
    pub(super) evaluation: &'r Evaluation,
    pub(super) flow: &'r Flow,
    pub(super) knowledge: &'r Knowledge<'r>,
    pub(super) origins: &'r Origins,
    pub(super) collected: &'r Collected,
    pub(super) patience: &'r Patience,
    /// For loads from shared memory, the waits behind which they stand.
    pub(super) told: &'r BTreeMap<usize, usize>,
    pub(super) live: usize,
    /// The groups of the cluster, and the rank of this one, if there are others.
    pub(super) groups: u32,
    pub(super) rank: Option<u32>,
    /// The lanes are agents of their own.
    pub(super) is_all: bool,
    /// For each loop how it is left, where that is known.
    pub(super) trips: &'r [Option<Trip>],
    /// How many iterations each loop has at most, if they are few.
    pub(super) most: &'r [Option<i64>],
    /// Whether a register's name is that of no other.
    pub(super) has_own_name: &'r [bool],
    /// Variables that are needed, by register and the node where paths meet.
    pub(super) needed: BTreeSet<Meet>,
    /// Decisions of the whole extraction and their names.
    pub(super) decisions: &'r mut HashMap<String, String>,
    /// Loops whose iterations are counted since an operand needs them, by their headers.
    pub(super) rounds: BTreeSet<usize>,
    /// What is not known of a lane may be asked beside what is.
    pub(super) asks_lanes: bool,
    /// What conditions are about that warps or lanes decide by themselves.
    pub(super) unknown: &'r mut BTreeSet<String>,
    /// Unknown numbers of which something is computed.
    pub(super) numbers: &'r mut Vec<Number>,
    /// What branches that tell others ask, by their nodes.
    pub(super) telling: &'r BTreeMap<usize, (Decision, bool)>,
    /// What other branches ask, by their nodes, where all have the same answer.
    pub(super) answered: BTreeMap<usize, (Decision, bool)>,
}

/// An expression, the variables in it, and what it rests on.
pub(super) struct Expression {
    pub(super) text: String,
    pub(super) used: BTreeSet<Meet>,
    /// The headers of loops whose iterations it counts.
    pub(super) rounds: BTreeSet<usize>,
    pub(super) decided: Decided,
}

impl<'r> Residual<'r> {
    /// The variable for what a register holds where paths meet.
    pub(super) fn local(&self, (node, register): Meet) -> String {
        if let Some(whole) = super::offsets::whose(register) {
            return format!("{}_offset", self.local((node, whole)));
        }
        if let Some((whole, bits)) = super::low_bits::whose(register) {
            return format!("{}_low{bits}", self.local((node, whole)));
        }
        if register & SINCE != 0 {
            return format!("{}_since", self.local((node, register & !SINCE)));
        }
        let rest = if register == own(register) { "" } else { "_from" };
        let register = own(register);
        let name = self.code.registers.get(register as usize).map_or("", String::as_str);
        let plain: String =
            name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(24).collect();
        let first = if plain.starts_with(|c: char| c.is_ascii_alphabetic()) { "" } else { "v" };
        if self.has_own_name.get(register as usize) == Some(&true) && name.len() <= 24 {
            format!("{first}{plain}{rest}_{node}")
        } else {
            format!("{first}{plain}{rest}_{register}_{node}")
        }
    }

    /// How wide what meets is: as wide as the widest that comes.
    pub(super) fn width(&self, meet: Meet) -> u8 {
        let mut seen = BTreeSet::new();
        let mut work = vec![meet];
        let mut widest = 1;
        while let Some(meet) = work.pop() {
            if !seen.insert(meet) {
                continue;
            }
            for (_, value) in self.evaluation.meets.get(&meet).into_iter().flatten() {
                match self.values.term(*value) {
                    Term::Meet { block, register } => work.push((*block, *register)),
                    Term::Known(lanes) if lanes.all() == Some(0) => {}
                    _ => widest = widest.max(class(self.values.width(*value))),
                }
            }
        }
        widest
    }

    pub(super) fn expression(&mut self, node: usize, value: ValueId) -> Option<Expression> {
        self.expression_as(node, value, None)
    }

    /// The same, of this width if one is given.
    pub(super) fn expression_as(
        &mut self,
        node: usize,
        value: ValueId,
        bits: Option<u8>,
    ) -> Option<Expression> {
        let need = self.knowledge.need(self.values, node, value);
        let written = self.written(node, value, bits, need.is_some())?;
        if let Some(need) = need {
            self.needs(&written.text, &need);
        }
        Some(written)
    }

    /// The name of a decision.
    pub(super) fn name(&mut self, key: &str) -> String {
        name_of(self.decisions, key)
    }

    pub(super) fn branch(&self, node: usize) -> Span {
        match self.slice.nodes[node].then {
            Then::Branch { span, .. } => span,
            Then::To(_) => self.span(node),
        }
    }

    /// The variables that conditions and operands need, and those that these need.
    pub(super) fn collect(&mut self) -> Result<(), Stop> {
        let mut work: Vec<Meet> = Vec::new();
        for node in self.flow.order.clone() {
            for at in self.slice.nodes[node].instructions.clone() {
                let operands = self.evaluation.synchronisations.get(&at).cloned().unwrap_or_default();
                for value in
                    operands.into_iter().chain(self.evaluation.indices.get(&at).map(|index| index.value))
                {
                    if let Some(written) = self.operand_written(node, value) {
                        work.extend(written.used);
                        self.rounds.extend(written.rounds);
                    }
                }
                if let Some((id, count)) = self.evaluation.barriers.get(&at).copied() {
                    let (place, rank) = match self.evaluation.objects.get(&at) {
                        Some(object) => (object.index.map(|(index, ..)| index), object.rank),
                        None => (Some(id), None),
                    };
                    let mask = self.evaluation.masks.get(&at).copied();
                    for value in place.into_iter().chain(rank).chain(count).chain(mask) {
                        if let Some(written) = self.operand_written(node, value) {
                            work.extend(written.used);
                            self.rounds.extend(written.rounds);
                        }
                    }
                }
            }
            if let Some(written) = self.any_condition(node) {
                work.extend(written.used);
                self.rounds.extend(written.rounds);
            } else if let Some((written, _)) = self.either_computed(node) {
                work.extend(written.used);
            }
        }
        while let Some(meet) = work.pop() {
            if !self.needed.insert(meet) {
                continue;
            }
            for (from, value) in self.evaluation.meets.get(&meet).cloned().unwrap_or_default() {
                let written = if from == OUTSIDE { None } else { self.expression(from, value) };
                let Some(written) = written else {
                    let name = self.code.registers.get(own(meet.1) as usize).cloned().unwrap_or_default();
                    return Err(Stop {
                        what: format!("what `{name}` holds here is computed in a way that is not followed"),
                        span: self.span(meet.0),
                        help: None,
                    });
                };
                work.extend(written.used);
            }
        }
        Ok(())
    }

    /// What is decided in a node, as it is computed of unknown numbers: as it is, or in its normal form.
    fn either_computed(&mut self, node: usize) -> Option<(Expression, Need)> {
        let (original, normal) = (self.original(node)?, self.knowledge.condition(node)?);
        self.computed(node, original).or_else(|| self.computed(node, normal))
    }

    /// The condition of a node's branch as an expression, with decisions of the group in it or without.
    fn any_condition(&mut self, node: usize) -> Option<Expression> {
        let (original, normal) = (self.original(node)?, self.knowledge.condition(node)?);
        if let Some(counted) = self.counted_condition(node) {
            return Some(counted);
        }
        if self.trip(node).is_some() || self.is_decided(node, original, normal) {
            return None;
        }
        self.value_condition(node).or_else(|| self.mixed(node, &mut Vec::new()))
    }

    /// The condition of a node's branch as an expression, if it is one.
    fn value_condition(&mut self, node: usize) -> Option<Expression> {
        if self.trip(node).is_some() {
            return None;
        }
        let original = self.original(node)?;
        let normal = self.knowledge.condition(node)?;
        if self.is_decided(node, original, normal) {
            return None;
        }
        self.expression(node, original)
    }

    /// Whether a condition is a decision that all agents share: it is the same for all, and cannot be
    /// computed.
    fn is_decided(&self, node: usize, original: ValueId, normal: ValueId) -> bool {
        let spread = self.knowledge.at(self.values, node, normal).spread;
        spread == Spread::Group
            && !self.knowledge.at(self.values, node, original).is_exact
            && !self.is_partly_exact(node, original, normal)
    }

    /// The condition of a node's branch that cannot be computed as it is, but asks no more than how
    /// often loops have been gone through.
    fn counted_condition(&mut self, node: usize) -> Option<Expression> {
        let (original, normal) = (self.original(node)?, self.knowledge.condition(node)?);
        let is_exact = self.knowledge.at(self.values, node, original).is_exact;
        if is_exact || self.trip(node).is_some() || !self.is_counted(normal) {
            return None;
        }
        self.expression(node, normal)
    }

    /// Whether no more is asked than how often a loop has been gone through: `begin + i == begin + 4` of a
    /// begin that nobody knows.
    fn is_counted(&self, normal: ValueId) -> bool {
        !any(self.values, normal, |term| match term {
            Term::Known(lanes) => lanes.all().is_none(),
            Term::Gained { step, .. } => self.values.as_known(*step).and_then(Lanes::all).is_none(),
            term => !matches!(term, Term::Sum { .. } | Term::Apply { .. }),
        })
    }

    /// The loop that a node decides about whose iterations are counted, and how it is left.
    fn trip(&self, node: usize) -> Option<(usize, Trip)> {
        let inner = self.flow.innermost[node]?;
        let trip = self.trips[inner].filter(|trip| trip.node == node)?;
        Some((inner, trip))
    }

    pub(super) fn original(&self, node: usize) -> Option<ValueId> {
        match self.evaluation.then[node]? {
            super::evaluate::Way::Branch(condition, ..) => Some(condition),
            super::evaluate::Way::To(_) => None,
        }
    }

    /// The variable, comparison and number of a condition that compares so.
    fn compares(&self, value: ValueId) -> Option<(String, Comparison, i64)> {
        let Term::Apply { operation: Operation::Compare(comparison), ty, terms } = self.values.term(value)
        else {
            return None;
        };
        let Term::Meet { block, register } = *self.values.term(terms[0]) else { return None };
        let width = self.width((block, register));
        if width != 1 && width != class(ty.bits) {
            return None;
        }
        let number = self.values.as_known(terms[1])?.all()?;
        let any = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        let number = super::arithmetic::signed(number, ty.bits);
        (ty.signed || any).then(|| (self.local((block, register)), *comparison, number))
    }
}

/// The name of a decision, one for each key.
pub(super) fn name_of(names: &mut HashMap<String, String>, key: &str) -> String {
    if let Some(name) = names.get(key) {
        return name.clone();
    }
    let plain = super::slugs::slug(key);
    let taken = |name: &str| names.values().any(|known| known == name);
    let mut name = plain.clone();
    let mut number = 2;
    while taken(&name) {
        name = format!("{plain}_{number}");
        number += 1;
    }
    names.insert(key.to_owned(), name.clone());
    name
}

impl Emit for Residual<'_> {
    fn node(&mut self, node: usize, lanes: Option<u32>) -> Result<Statements, Stop> {
        let mut statements = Vec::new();
        for at in self.slice.nodes[node].instructions.clone() {
            let voted =
                self.evaluation.votes.get(&at).map(|value| self.knowledge.at(self.values, node, *value));
            // Of what each lane is asked it matters even where nothing else is known of it.
            let is_asked = self.evaluation.asked.contains(&at);
            if voted.is_some_and(|voted| (voted.is_exact || is_asked) && voted.spread == Spread::Lane) {
                let what = "which of its lanes a warp takes this from is not known".to_owned();
                return Err(Stop { what, span: self.code.instructions[at].span, help: None });
            }
            if self.code.once.contains(&at) {
                self.once((node, at), lanes, &mut statements)?;
                continue;
            }
            if let Action::Access(access) = &self.code.instructions[at].action {
                statements.extend(self.accessed((node, at), access));
                continue;
            }
            self.barrier(node, at, &mut statements)?;
        }
        if let Some((inner, _)) = self.trip(node) {
            let local = counter(inner);
            let value = Amount { text: format!("{local} + 1"), number: None, step: Some(1) };
            statements.push(Statement::Set { local, value, span: self.span(node) });
        }
        Ok(statements)
    }

    fn edge(&mut self, from: usize, to: usize) -> Statements {
        let span = self.span(from);
        let mut assigned: BTreeMap<String, (Amount, BTreeSet<String>)> = BTreeMap::new();
        for meet in self.needed.range((to, 0)..=(to, Register::MAX)).copied().collect::<Vec<_>>() {
            let incoming = self.evaluation.meets.get(&meet).into_iter().flatten();
            let Some((_, value)) = incoming.copied().find(|(source, _)| *source == from) else { continue };
            let itself = self.values.find(&Term::Meet { block: meet.0, register: meet.1 });
            if Some(value) == itself {
                continue;
            }
            let Some(amount) = self.amount(from, meet, value) else { continue };
            let used = self.expression(from, value).map(|written| written.used).unwrap_or_default();
            let used = used.into_iter().map(|meet| self.local(meet)).collect();
            assigned.insert(self.local(meet), (amount, used));
        }
        let mut statements = in_order(assigned, span);
        let entered = self.flow.innermost[to]
            .filter(|inner| self.flow.loops[*inner].header == to && !self.flow.contains(Some(*inner), from));
        if let Some(inner) = entered.filter(|inner| self.trips[*inner].is_some()) {
            let value = Amount { text: "0".to_owned(), number: Some(0), step: None };
            statements.push(Statement::Set { local: counter(inner), value, span });
        }
        if self.rounds.contains(&to) {
            let local = round(to);
            let value = match entered {
                Some(_) => Amount { text: "0".to_owned(), number: Some(0), step: None },
                None => Amount { text: format!("{local} + 1"), number: None, step: Some(1) },
            };
            statements.push(Statement::Set { local, value, span });
        }
        statements
    }

    fn condition(&mut self, node: usize, before: &mut Statements) -> Result<(Condition, Span), Stop> {
        let span = self.branch(node);
        if self.patience.is_over() {
            return Err(Stop { what: "it takes too long".to_owned(), span, help: None });
        }
        if let Some((decision, negated)) = self.telling.get(&node).cloned() {
            self.name(&decision.key);
            return Ok((Condition::Uniform { decision, negated }, span));
        }
        if let Some((inner, trip)) = self.trip(node) {
            let local = counter(inner);
            let comparison = if trip.when { Comparison::GreaterOrEqual } else { Comparison::Less };
            let text = format!("{local} {} {}", comparison.text(), trip.times);
            let compares = Some((local, comparison, trip.times));
            return Ok((Condition::Value { text, compares, decided: Decided::default() }, span));
        }
        let (Some(original), Some(normal)) = (self.original(node), self.knowledge.condition(node)) else {
            return Ok((if self.is_all { Condition::OfWarp } else { Condition::OfLane }, span));
        };
        if let Some(Expression { text, decided, .. }) = self.counted_condition(node) {
            return Ok((Condition::Value { text, compares: None, decided }, span));
        }
        let traits = self.knowledge.at(self.values, node, normal);
        if self.is_decided(node, original, normal) {
            if let Some((text, decided)) = self.parts(node, normal, before) {
                return Ok((Condition::Value { text, compares: None, decided }, span));
            }
            let (decision, negated) = self.decision(node, normal, original);
            self.name(&decision.key);
            self.answered.insert(node, (decision.clone(), negated));
            return Ok((Condition::Uniform { decision, negated }, span));
        }
        if let Some(written) = self.value_condition(node) {
            let compares = self.compares(original);
            let text = match &compares {
                Some((local, comparison, number)) => format!("{local} {} {number}", comparison.text()),
                None => written.text,
            };
            return Ok((Condition::Value { text, compares, decided: written.decided }, span));
        }
        if let Some(written) = self.mixed(node, before) {
            let Expression { text, decided, .. } = written;
            return Ok((Condition::Value { text, compares: None, decided }, span));
        }
        let keys = self.keys(node);
        let about = keys.about(normal);
        self.unknown.extend(about);
        let condition = match traits.spread {
            Spread::Lane if self.live > 1 && !self.is_all => Condition::OfLane,
            _ => Condition::OfWarp,
        };
        Ok((condition, span))
    }

    fn splits(&self, node: usize) -> bool {
        let Some(condition) = self.knowledge.condition(node) else { return false };
        !self.telling.contains_key(&node)
            && self.live > 1
            && !self.is_all
            && self.knowledge.at(self.values, node, condition).spread == Spread::Lane
    }

    fn lanes(&self, node: usize) -> Option<u32> {
        let known =
            self.values.as_known(self.original(node)?).filter(|_| self.live <= super::lanes::WIDTH)?;
        let holds = |lane: usize| u32::from(known.get(lane) != 0) << lane;
        Some((0..self.live).fold(0, |lanes, lane| lanes | holds(lane)))
    }

    fn needs_all(&self, node: usize) -> Option<Span> {
        let elects = |at: &&usize| {
            let action = &self.code.instructions[**at].action;
            matches!(action, Action::Compute { function: Function::Elect, .. })
        };
        let at = self.slice.nodes[node].instructions.iter().find(elects)?;
        Some(self.code.instructions[*at].span)
    }

    fn asks_all(&self, node: usize) -> Option<Span> {
        let instructions = self.slice.nodes[node].instructions.iter();
        let mut asked = instructions.filter(|at| self.evaluation.asked.contains(at));
        asked.next().map(|at| self.code.instructions[*at].span)
    }

    fn meets(&self, node: usize) -> bool {
        matches!(self.slice.nodes[node].then, Then::Branch { meets: true, .. })
    }

    fn span(&self, node: usize) -> Span {
        let node = &self.slice.nodes[node];
        match (node.instructions.last(), node.then) {
            (_, Then::Branch { span, .. }) => span,
            (Some(at), _) => self.code.instructions[*at].span,
            _ => Span::default(),
        }
    }
}

/// The variable for the iterations of a loop, which is known by its header.
pub(super) fn round(header: usize) -> String {
    format!("round_{header}")
}

/// The variable that counts the iterations of a loop.
fn counter(inner: usize) -> String {
    format!("n{inner}")
}
