//! What warps share, and what becomes of each: its evaluation, and its residual program.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use barcheck_model::Patience;

use super::again;
use super::code::Code;
use super::evaluate::{Evaluation, Evaluator};
use super::extremes::Leaves;
use super::flow::Flow;
use super::implied;
use super::numbers::Number;
use super::origins::{Collected, Origins};
use super::reach::{self, reaching};
use super::recurrences::told;
use super::residual::Residual;
use super::slice::{Slice, Then};
use super::structure::{Stop, Structurer};
use super::tellers::{Branch, Tellings};
use super::traits::Knowledge;
use super::tree::{Assumption, Decision, Statements};
use super::trips::{most, trips};
use super::value::{ValueId, Values};
use super::warp::Warp;
use crate::common::span::Span;

/// Why there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    Stop(Stop),
    /// Patience was over.
    Late,
}

/// What warps share.
pub(super) struct Shared {
    pub(super) values: Values,
    pub(super) loads: HashMap<(u32, u32), usize>,
    pub(super) decisions: HashMap<String, String>,
    pub(super) unknown: BTreeSet<String>,
    pub(super) has_own_name: Vec<bool>,
    pub(super) origins: Origins,
    /// What is taken for true of branches that go one way only: that sums do not overflow.
    pub(super) assumes: BTreeSet<Assumption>,
    /// Unknown numbers that loops count up to.
    pub(super) counted: BTreeSet<ValueId>,
    /// Those of them of which nothing can be computed.
    pub(super) lacking: BTreeSet<ValueId>,
    /// Those of which something is.
    pub(super) numbers: Vec<Number>,
    /// Branches that tell others, and what the branches of these ask, with the header of their loop.
    pub(super) tellings: Tellings,
    pub(super) answers: BTreeMap<Branch, (Decision, bool, usize)>,
    /// Of counters that begin with multiples of 2 the low bits are taken: see [`low_bits`](super::low_bits).
    pub(super) takes_multiples: bool,
}

impl Shared {
    pub(super) fn new(code: &Code, values: Values) -> Self {
        Self {
            values,
            loads: HashMap::new(),
            decisions: HashMap::new(),
            unknown: BTreeSet::new(),
            has_own_name: own_names(code),
            origins: Origins::default(),
            assumes: BTreeSet::new(),
            counted: BTreeSet::new(),
            lacking: BTreeSet::new(),
            numbers: Vec::new(),
            tellings: Tellings::new(),
            answers: BTreeMap::new(),
            takes_multiples: false,
        }
    }

    /// What is known of a warp.
    pub(super) fn evaluate(
        &mut self,
        code: &Code,
        slice: &Slice,
        warp: Warp,
        patience: &Patience,
    ) -> Result<Evaluation, Failure> {
        // Among lanes that have gone another way than others a branch may go one way only.
        let (mut one_way, mut extremes) = (HashMap::new(), HashMap::new());
        loop {
            let (values, loads) = (&mut self.values, &mut self.loads);
            let (one_way_only, chosen) = (one_way.clone(), extremes.clone());
            let mut evaluator = Evaluator {
                code,
                slice,
                values,
                loads,
                warp,
                one_way: one_way_only,
                extremes: chosen,
                at_lanes: HashMap::new(),
            };
            let Some(mut evaluation) = evaluator.run(patience) else {
                if patience.has_run_out() {
                    return Err(Failure::Late);
                }
                let what = "its values are too many to be followed".to_owned();
                return Err(Failure::Stop(Stop { what, span: Span::default(), help: None }));
            };
            evaluation.lanes = reaching(&self.values, &evaluation.then, warp.live());
            let mut found =
                if warp.is_all() { Vec::new() } else { reach::one_way(&self.values, &evaluation) };
            let (implied, unwrapped) = implied::one_way(&self.values, (code, slice), &evaluation, patience);
            found.extend(implied);
            let (chosen, sums) = implied::extremes(&mut self.values, code, &evaluation, patience);
            let is_new = |(at, _): &(usize, Leaves)| !extremes.contains_key(at);
            let chosen: Vec<_> = chosen.into_iter().filter(is_new).collect();
            let unwrapped = unwrapped.into_iter().chain(sums);
            self.assumes.extend(unwrapped.map(Assumption::Unwrapped));
            if found.is_empty() && chosen.is_empty() {
                return Ok(evaluation);
            }
            one_way.extend(found);
            extremes.extend(chosen);
        }
    }

    /// Collects the unknown numbers that loops of an agent count up to.
    pub(super) fn counts(&mut self, evaluation: &mut Evaluation) {
        if let Ok(flow) = Flow::of(evaluation) {
            evaluation.meets = Knowledge::of_iterations(&mut self.values, evaluation, &flow);
            let counted = Knowledge::counted(&mut self.values, evaluation, &flow);
            self.counted.extend(counted.difference(&self.lacking));
        }
    }

    /// What the branches of an agent ask that tell others, by their nodes.
    fn telling(&self, slice: &Slice, agent: (u32, u32), flow: &Flow) -> BTreeMap<usize, (Decision, bool)> {
        let nodes = slice.nodes.iter().enumerate();
        let asked = nodes.filter_map(|(node, of)| {
            let Then::Branch { span, .. } = of.then else { return None };
            let telling = self.tellings.get(&(agent, span))?;
            let (decision, negated, of_reader) = self.answers.get(&telling.reader)?;
            let header = flow.loops[flow.innermost[node]?].header;
            let mut decision = Decision { computed: None, asked: None, ..decision.clone() };
            decision.formula = decision.formula.and_then(|formula| formula.elsewhere([*of_reader, header]));
            decision.assumes.extend(telling.unwrapped.then_some(Assumption::Unwrapped(span)));
            Some((node, (decision, *negated != telling.negated)))
        });
        asked.collect()
    }

    /// The residual program of a warp.
    pub(super) fn warp(
        &mut self,
        code: &Code,
        slice: &Slice,
        (warp, mut evaluation): (Warp, Evaluation),
        patience: &Patience,
    ) -> Result<Statements, Failure> {
        let agent = (warp.number, warp.rank);
        let flow = Flow::of(&evaluation).map_err(|node| {
            let what = "a loop that is entered in two places is not followed".to_owned();
            let at = slice.nodes[node].instructions.last();
            let span = match (slice.nodes[node].then, at) {
                (super::slice::Then::Branch { span, .. }, _) => span,
                (_, Some(at)) => code.instructions[*at].span,
                _ => Span::default(),
            };
            Failure::Stop(Stop { what, span, help: None })
        })?;
        let telling = self.telling(slice, agent, &flow);
        evaluation.telling.extend(telling.keys());
        let evaluation = &evaluation;
        self.counted.retain(|number| !self.lacking.contains(number));
        let knowledge = Knowledge::new(&mut self.values, evaluation, &flow, &self.counted);
        let trips = trips(&self.values, evaluation, &flow);
        let most = most(&self.values, evaluation, &flow, super::counts::MOST);
        let told = told(code, slice, &flow);
        let mut residual = Residual {
            told: &told,
            code,
            slice,
            values: &self.values,
            evaluation,
            flow: &flow,
            knowledge: &knowledge,
            origins: &self.origins,
            collected: &Collected::default(),
            patience,
            live: warp.live(),
            groups: Warp::threads(warp.cluster),
            rank: (Warp::threads(warp.cluster) > 1).then_some(warp.rank),
            is_all: warp.is_all(),
            trips: &trips,
            most: &most,
            has_own_name: &self.has_own_name,
            needed: BTreeSet::new(),
            rounds: BTreeSet::new(),
            asks_lanes: false,
            decisions: &mut self.decisions,
            unknown: &mut self.unknown,
            numbers: &mut self.numbers,
            telling: &telling,
            answered: BTreeMap::new(),
        };
        let stopped = |stop| if patience.has_run_out() { Failure::Late } else { Failure::Stop(stop) };
        residual.collect().map_err(stopped)?;
        let mut structurer = Structurer::new(&flow, evaluation, residual);
        let mut statements = structurer.run().map_err(stopped)?;
        let answered = structurer.emit.answered.into_iter();
        let answers = answered.filter_map(|(node, (decision, negated))| {
            let Then::Branch { span, .. } = slice.nodes[node].then else { return None };
            let header = flow.loops[flow.innermost[node]?].header;
            Some(((agent, span), (decision, negated, header)))
        });
        let asked: BTreeSet<Branch> = self.tellings.values().map(|telling| telling.reader).collect();
        self.answers.extend(answers.filter(|(branch, _)| asked.contains(branch)));
        again::keep_told(&mut statements, &flow.dominator);
        Ok(statements)
    }
}

/// For each register whether no other has its name.
fn own_names(code: &Code) -> Vec<bool> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for name in &code.registers {
        *counts.entry(name).or_default() += 1;
    }
    code.registers.iter().map(|name| counts[name.as_str()] == 1).collect()
}
