//! Instructions with their operands' values, for people.
//!
//! The model evaluates operands to act on them; here they are evaluated once more, only to be shown.

use crate::trace::{COPY, FILL, INITIALISATION, REDUCTION, SENT, SOURCE, STORE, USE};
use barcheck_model::agent::{Action, Fragment, LaneValues, Move, Value};
use barcheck_model::program::{
    AccessKind, AgentId, Code, Condition, Expr, LocalId, Op, Pc, Predicate, Program, ReductionOp,
};

use super::expressions::{Lanes, evaluate};
use super::instruction;
use super::values::{show_lanes, show_value};

/// Lanes that execute an instruction, and what they know.
pub(crate) struct Reader<'a> {
    pub(crate) program: &'a Program,
    pub(crate) agent: AgentId,
    pub(crate) fragment: &'a Fragment,
}

impl Reader<'_> {
    fn code(&self) -> &Code {
        self.program.code(self.agent)
    }

    fn lanes(&self) -> impl Iterator<Item = u32> + use<> {
        let mask = self.fragment.lanes;
        (0..32).filter(move |lane| mask >> lane & 1 == 1)
    }

    /// A number in one lane, `None` where it cannot be evaluated.
    fn number(&self, expr: &Expr, lane: u32) -> Option<i64> {
        let local = |local: &LocalId| match self.fragment.locals.get(local.index())?.get(lane) {
            Value::Int(n) => Some(*n),
            Value::Unset | Value::Opaque(_) | Value::Handle(_) | Value::Token(_) => None,
        };
        evaluate(expr, &|leaf| match leaf {
            Expr::Agent => Some(i64::from(self.program.index_in_cta(self.agent))),
            Expr::Cta => Some(i64::from(self.program.cta_of(self.agent))),
            Expr::Lane => Some(i64::from(lane)),
            Expr::Elect => Some(i64::from(lane == self.fragment.lanes.trailing_zeros())),
            Expr::Local(id) => local(id),
            _ => None,
        })
    }

    /// A number in the first of the lanes.
    pub(crate) fn first_lane(&self, expr: &Expr) -> Option<i64> {
        self.number(expr, self.fragment.lanes.trailing_zeros())
    }

    /// The instruction at `pc` with its operands' values.
    pub(crate) fn resolved(&self, pc: Pc, made: &Move, pick: u32) -> String {
        let written = self.code().texts.get(pc.index()).map_or("", String::as_str);
        let Some(op) = self.code().ops.get(pc.index()) else {
            return written.to_owned();
        };
        match op {
            Op::Branch { condition, .. } | Op::Test { condition, .. } => match condition {
                Condition::Private => format!("? = {}", pick != 0),
                // One bit of a number that all share.
                Condition::Uniform(_) if written.ends_with(" more ?") => {
                    format!("{} = {}", written.trim_end_matches(" ?"), pick != 0)
                }
                Condition::Uniform(sequence) => {
                    let name = self.program.sequences.get(sequence.index()).and_then(Option::as_deref);
                    format!("uniform {}? = {}", name.map(|n| format!("{n} ")).unwrap_or_default(), pick != 0)
                }
                Condition::Value(_) => "local loop".to_owned(),
            },
            Op::Any(local, low, _) => {
                let value = self.first_lane(low).and_then(|n| n.checked_add(i64::from(pick)));
                format!("{} = {}", self.local_name(*local), show_lanes(&[value]))
            }
            Op::Exit => "exit".to_owned(),
            Op::Assert(condition) => format!("assert {}", self.show(condition)),
            Op::Access(kind, array, index, _) => self.access(*kind, array.index(), index.as_ref(), made),
            Op::Fence(_) => written.to_owned(),
            Op::Proxy(_) => self.proxy(written, made),
            op => {
                instruction(self.program, op, self, written, pick).unwrap_or_else(|| "local loop".to_owned())
            }
        }
    }

    /// The location of a copy, as it is evaluated, behind the instruction's own name.
    fn proxy(&self, written: &str, made: &Move) -> String {
        let Action::Proxy(action) = &made.action else { return written.to_owned() };
        let name = written.split_whitespace().next().unwrap_or_default();
        match &action.locations()[..] {
            [location] => format!("{name} {}", self.program.location_name(*location)),
            _ => written.to_owned(),
        }
    }

    fn access(&self, kind: AccessKind, array: usize, index: Option<&Expr>, made: &Move) -> String {
        let name = self.program.arrays.get(array).map_or("", |a| a.name.as_str());
        match (&made.action, index) {
            (Action::Access(_, locations), _) if locations.len() == 1 => {
                format!("{} {}", access_name(kind), self.program.location_name(locations[0]))
            }
            (_, Some(index)) => format!("{} {name}[{}]", access_name(kind), self.show(index)),
            (_, None) => format!("{} {name}", access_name(kind)),
        }
    }
}

impl Lanes for Reader<'_> {
    fn first(&self, expr: &Expr) -> Option<i64> {
        self.first_lane(expr)
    }

    fn show(&self, expr: &Expr) -> String {
        if let Expr::Local(local) = expr
            && let Some(LaneValues::Same(value @ (Value::Opaque(_) | Value::Handle(_)))) =
                self.fragment.locals.get(local.index())
        {
            return show_value(value);
        }
        let values: Vec<Option<i64>> = self.lanes().map(|lane| self.number(expr, lane)).collect();
        show_lanes(&values)
    }

    fn truths(&self, op: ReductionOp, predicate: &Predicate, pick: u32) -> String {
        let lanes = self.fragment.lanes.count_ones();
        let Some(value) = &predicate.value else {
            let truths = match op {
                ReductionOp::Popc => pick,
                ReductionOp::And | ReductionOp::Or => pick.saturating_mul(lanes),
            };
            return format!("? = {truths}/{lanes} true");
        };
        let is_true = |lane| self.number(value, lane).map(|n| (n != 0) != predicate.negated);
        let all: Option<Vec<bool>> = self.lanes().map(is_true).collect();
        all.map_or("?".to_owned(), |all| format!("{}/{lanes} true", all.iter().filter(|t| **t).count()))
    }

    fn local_name(&self, local: LocalId) -> &str {
        self.code().locals.get(local.index()).map_or("_", |l| l.name.as_str())
    }
}

/// How an access is called.
pub(crate) fn access_name(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Atomic => "atomic",
        AccessKind::Copy => COPY,
        AccessKind::Sent => SENT,
        AccessKind::Reduction => REDUCTION,
        AccessKind::Source => SOURCE,
        AccessKind::Initialisation => INITIALISATION,
        AccessKind::Use => USE,
        AccessKind::Store => STORE,
        AccessKind::Fill => FILL,
    }
}
