//! From the flow of control of a warp to structured statements: branches join where their paths do, loops
//! are left by `break`.

use super::evaluate::{Evaluation, Way};
use super::flow::{Flow, Region, Target};
use super::slice::{END, FOREVER};
use super::tree::{Amount, Condition, Decided, Statement, Statements, ends, synchronises};
use crate::common::limits;
use crate::common::span::Span;
use std::collections::BTreeSet;

/// What nodes and edges become.
pub(super) trait Emit {
    /// The statements of a node, to which these lanes come, if that is known.
    fn node(&mut self, node: usize, lanes: Option<u32>) -> Result<Statements, Stop>;
    /// What is assigned where control goes from one node to another.
    fn edge(&mut self, from: usize, to: usize) -> Statements;
    /// The condition of a node's branch, and its place; what is done right before goes to the end of
    /// `before`.
    fn condition(&mut self, node: usize, before: &mut Statements) -> Result<(Condition, Span), Stop>;
    /// Where a node stands.
    fn span(&self, node: usize) -> Span;
    /// The arms of a node's branch meet right behind it, whatever follows.
    fn meets(&self, node: usize) -> bool;
    /// Whether the lanes of a warp may go different ways at a node's branch.
    fn splits(&self, node: usize) -> bool;
    /// The lanes for which the condition of a node's branch holds, if they are known.
    fn lanes(&self, node: usize) -> Option<u32>;
    /// The place in a node where it would matter that only some lanes execute it.
    fn needs_all(&self, node: usize) -> Option<Span>;
    /// The place in a node where lanes are asked what is known of each of them.
    fn asks_all(&self, node: usize) -> Option<Span>;
}

/// Why a warp cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stop {
    pub(crate) what: String,
    pub(crate) span: Span,
    pub(crate) help: Option<Help>,
}

/// What would mend it that a warp cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Help {
    /// In words.
    Words(&'static str),
    /// To say what something is computed from.
    Say(Sources),
}

/// What something unknown is computed from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources {
    /// The names of what is the same for the whole group.
    pub(crate) names: BTreeSet<String>,
    /// The places where it is loaded.
    pub(crate) loads: BTreeSet<Span>,
}

/// Blocks inside one another that are made; some are left for what is made around them.
const DEPTH: u32 = limits::NESTING - 60;
/// Statements of one warp.
const STATEMENTS: usize = 20_000;

pub(super) struct Structurer<'f, E> {
    pub(super) flow: &'f Flow,
    pub(super) evaluation: &'f Evaluation,
    pub(super) emit: E,
    regions: Vec<Option<Region>>,
    depth: u32,
    /// Branches around at which lanes have gone different ways.
    apart: u32,
    /// The lanes that are here, if that is known.
    here: Option<u32>,
    /// Lanes may have left before, and which of them is not known.
    left: bool,
    count: usize,
    /// Variables that say where to go on behind a loop.
    pub(super) ways: usize,
}

impl<'f, E: Emit> Structurer<'f, E> {
    pub(super) fn new(flow: &'f Flow, evaluation: &'f Evaluation, emit: E) -> Self {
        let mut regions: Vec<Option<Region>> = Vec::new();
        regions.resize_with(flow.loops.len() + 1, || None);
        Self {
            flow,
            evaluation,
            emit,
            regions,
            depth: 0,
            apart: 0,
            here: Some(u32::MAX),
            left: false,
            count: 0,
            ways: 0,
        }
    }

    /// The statements of the whole kernel.
    pub(super) fn run(&mut self) -> Result<Statements, Stop> {
        self.sequence(None, 0, None)
    }

    fn join(&mut self, outer: Option<usize>, node: usize) -> Option<usize> {
        let slot = outer.map_or(0, |outer| outer + 1);
        let (flow, evaluation) = (self.flow, self.evaluation);
        self.regions[slot].get_or_insert_with(|| flow.region(evaluation, outer)).join[node]
    }

    fn entangled(&self, node: usize) -> Stop {
        Stop {
            what: "the branches around here are too entangled".to_owned(),
            span: self.emit.span(node),
            help: None,
        }
    }

    /// The statements from a node of a region up to another, left out, or to where control leaves the
    /// region.
    fn sequence(
        &mut self,
        outer: Option<usize>,
        start: usize,
        stop: Option<usize>,
    ) -> Result<Statements, Stop> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.entangled(start));
        }
        let mut statements = Vec::new();
        let mut at = Some(start);
        while let Some(node) = at.filter(|node| Some(*node) != stop) {
            self.count += 1;
            if self.count > STATEMENTS {
                return Err(self.entangled(node));
            }
            at = match self.flow.child(outer, node) {
                Some(inner) => self.whole_loop(outer, inner, &mut statements)?,
                None => self.plain(outer, node, &mut statements)?,
            };
        }
        self.depth -= 1;
        Ok(statements)
    }

    /// The lanes that come to a node, if that is known; why not, if it would have to be.
    fn lanes_at(&self, node: usize) -> Result<Option<u32>, Stop> {
        // The lane that is taken to be elected is the first: it has to be here.
        let is_here = self.here.is_some_and(|lanes| lanes & 1 == 1) || self.apart == 0;
        let is_here = is_here && self.evaluation.lanes[node] & 1 == 1;
        if let Some(span) = self.emit.needs_all(node).filter(|_| !is_here) {
            let what = "which lane is elected is not followed where others have gone another way".to_owned();
            return Err(Stop { what, span, help: None });
        }
        let lanes = self.here.filter(|_| !self.left).map(|lanes| lanes & self.evaluation.lanes[node]);
        if let Some(span) = self.emit.asks_all(node).filter(|_| lanes != Some(self.evaluation.lanes[0])) {
            let what = "lanes that are asked where others have gone another way".to_owned();
            return Err(Stop { what, span, help: None });
        }
        Ok(lanes)
    }

    /// A node, and what follows it: the next node of the region, if control goes on there.
    fn plain(
        &mut self,
        outer: Option<usize>,
        node: usize,
        statements: &mut Statements,
    ) -> Result<Option<usize>, Stop> {
        let lanes = self.lanes_at(node)?;
        statements.extend(self.emit.node(node, lanes)?);
        let (taken, other) = match self.evaluation.then[node] {
            Some(Way::To(to)) => return Ok(self.go(outer, node, to, statements)),
            Some(Way::Branch(_, taken, other)) => (taken, other),
            None => return Ok(None),
        };
        let (condition, span) = self.emit.condition(node, statements)?;
        let join = self.join(outer, node);
        let flow = self.flow;
        let leaves = |to: usize| !matches!(flow.target(outer, to), Target::Inside(_));
        let apart = u32::from(self.emit.splits(node));
        if self.emit.meets(node) && (join.is_none() || leaves(other)) {
            self.apart += apart;
            let mut then = self.split_arm(outer, (node, taken), None, true)?;
            let mut otherwise = self.split_arm(outer, (node, other), None, false)?;
            self.apart -= apart;
            let end = shared_end(&mut then, &mut otherwise);
            statements.push(Statement::If { condition, then, otherwise, span });
            statements.extend(end);
            return Ok(None);
        }
        if join.is_some() {
            self.apart += apart;
            let then = self.split_arm(outer, (node, taken), join, true)?;
            let otherwise = self.split_arm(outer, (node, other), join, false)?;
            self.apart -= apart;
            let parts = apart > 0 && self.emit.lanes(node).is_none();
            self.left |= parts && (may_leave(&then) || may_leave(&otherwise));
            statements.push(Statement::If { condition, then, otherwise, span });
            return Ok(join);
        }
        // Both arms leave: one inside the `if`, the other behind it.
        let (inside, behind, condition) = match (leaves(taken), leaves(other), condition.clone().negated()) {
            (false, true, Some(negated)) => (other, taken, negated),
            _ => (taken, other, condition),
        };
        self.apart += apart;
        let then = self.split_arm(outer, (node, inside), None, inside == taken)?;
        self.apart -= apart;
        if !ends(&then) {
            // A path without an end, which has no statement that says so.
            return Err(self.entangled(node));
        }
        // Behind an `if` lanes wait for those inside. Here they go on meanwhile, and may have to: those
        // inside may wait for them at a barrier.
        if apart > 0 && synchronises(&then) {
            self.apart += apart;
            let otherwise = self.split_arm(outer, (node, behind), None, behind == taken)?;
            self.apart -= apart;
            statements.push(Statement::If { condition, then, otherwise, span });
            return Ok(None);
        }
        self.left |= apart > 0 && self.emit.lanes(node).is_none();
        statements.push(Statement::If { condition, then, otherwise: Vec::new(), span });
        Ok(self.go(outer, node, behind, statements))
    }

    /// An arm of a branch, for the lanes that take it.
    fn split_arm(
        &mut self,
        outer: Option<usize>,
        (from, to): (usize, usize),
        join: Option<usize>,
        is_taken: bool,
    ) -> Result<Statements, Stop> {
        let before = self.here;
        if self.emit.splits(from) {
            let holds = self.emit.lanes(from).map(|lanes| if is_taken { lanes } else { !lanes });
            // One lane that goes no other way with others is alone in either arm.
            let alone = before.filter(|here| here.count_ones() == 1 && holds.is_none());
            self.here = alone.or(before.zip(holds).map(|(here, lanes)| here & lanes));
        }
        let statements = self.arm(outer, (from, to), join);
        self.here = before;
        statements
    }

    /// What happens on an edge and behind it, up to where the arms of a branch join.
    fn arm(
        &mut self,
        outer: Option<usize>,
        (from, to): (usize, usize),
        join: Option<usize>,
    ) -> Result<Statements, Stop> {
        let mut statements = Vec::new();
        if let Some(next) = self.go(outer, from, to, &mut statements) {
            statements.extend(self.sequence(outer, next, join)?);
        }
        Ok(statements)
    }

    /// Goes along an edge: the node of the region where control goes on, unless it leaves.
    fn go(
        &mut self,
        outer: Option<usize>,
        from: usize,
        to: usize,
        statements: &mut Statements,
    ) -> Option<usize> {
        if to < self.flow.after.len() {
            statements.extend(self.emit.edge(from, to));
        }
        self.leave(outer, from, to, statements)
    }

    fn leave(
        &mut self,
        outer: Option<usize>,
        from: usize,
        to: usize,
        statements: &mut Statements,
    ) -> Option<usize> {
        let span = self.emit.span(from);
        match (to, outer) {
            (END, _) => statements.push(Statement::Exit { span }),
            (FOREVER, _) => statements.push(Statement::Loop { body: Vec::new(), header: 0, span }),
            (_, Some(inner)) if self.flow.loops[inner].header == to => statements.push(Statement::Continue),
            (_, Some(inner)) if !self.flow.contains(outer, to) => {
                let targets = self.exits(inner);
                if targets.len() > 1 {
                    let number = targets.iter().position(|target| *target == to).unwrap_or(0);
                    statements.push(set(inner, number, span));
                }
                statements.push(Statement::Break);
            }
            _ => return Some(to),
        }
        None
    }

    /// Where a loop leads that is left by `break`.
    fn exits(&self, inner: usize) -> Vec<usize> {
        let mut targets = Vec::new();
        for node in &self.flow.loops[inner].nodes {
            for to in &self.flow.after[*node] {
                if !self.flow.contains(Some(inner), *to) && !targets.contains(to) {
                    targets.push(*to);
                }
            }
        }
        targets.sort_unstable();
        targets
    }

    /// A loop, and what follows it.
    fn whole_loop(
        &mut self,
        outer: Option<usize>,
        inner: usize,
        statements: &mut Statements,
    ) -> Result<Option<usize>, Stop> {
        let header = self.flow.loops[inner].header;
        // Who has left the loop is not there any more.
        let leaves =
            |node: &&usize| self.flow.after[**node].iter().any(|to| !self.flow.contains(Some(inner), *to));
        let left = self.flow.loops[inner].nodes.iter().filter(leaves).any(|node| self.emit.splits(*node));
        self.apart += u32::from(left);
        let before = self.here;
        if left {
            self.here = None;
        }
        let body = self.sequence(Some(inner), header, None)?;
        self.here = before;
        self.apart -= u32::from(left);
        let span = self.emit.span(header);
        statements.push(Statement::Loop { body, header, span });
        let targets = self.exits(inner);
        let Some((last, others)) = targets.split_last() else { return Ok(None) };
        if others.is_empty() {
            return Ok(self.leave(outer, header, *last, statements));
        }
        self.ways += 1;
        let join = self.join(outer, header);
        let mut rest = Vec::new();
        if let Some(next) = self.leave(outer, header, *last, &mut rest) {
            rest.extend(self.sequence(outer, next, join)?);
        }
        for (number, to) in others.iter().enumerate().rev() {
            let mut then = Vec::new();
            if let Some(next) = self.leave(outer, header, *to, &mut then) {
                then.extend(self.sequence(outer, next, join)?);
            }
            let compares = Some((way(inner), super::code::Comparison::Equal, number as i64));
            let text = format!("{} == {number}", way(inner));
            let decided = Decided { is_private: true, ..Decided::default() };
            let condition = Condition::Value { text, compares, decided };
            rest = vec![Statement::If { condition, then, otherwise: rest, span }];
        }
        statements.extend(rest);
        Ok(join)
    }
}

/// Takes off what both arms end with: the place where they meet.
fn shared_end(then: &mut Statements, otherwise: &mut Statements) -> Statements {
    let is_exit = |statement: &Statement| matches!(statement, Statement::Exit { .. });
    let mut end = Vec::new();
    while let (Some(a), Some(b)) = (then.last(), otherwise.last()) {
        if a != b && !(is_exit(a) && is_exit(b)) {
            break;
        }
        end.extend(then.pop());
        otherwise.pop();
    }
    end.reverse();
    end
}

/// The variable that says where to go on behind a loop.
fn way(inner: usize) -> String {
    format!("way{inner}")
}

fn set(inner: usize, number: usize, span: Span) -> Statement {
    let value = Amount { text: number.to_string(), number: Some(number as i64), step: None };
    Statement::Set { local: way(inner), value, span }
}

/// Whether statements may lead elsewhere than behind them.
fn may_leave(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Exit { .. } | Statement::Break | Statement::Continue => true,
        Statement::If { then, otherwise, .. } => may_leave(then) || may_leave(otherwise),
        Statement::Loop { body, .. } | Statement::For { body, .. } => may_leave(body),
        _ => false,
    })
}
