//! Steps on mbarrier objects as statements.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Action, ObjectKind};
use super::evaluate::Object;
use super::lanes::Lanes;
use super::residual::Residual;
use super::structure::{Help, Stop};
use super::touched::unfollowed;
use super::tree::{Assumption, Condition, Decided, Statement, Statements};
use super::value::ValueId;
use crate::common::span::Span;

/// What follows an object of another group of the cluster, before its rank.
pub(super) const ELSEWHERE: &str = " @ cta ";

/// What stands between a variable and the arrival that sets it.
pub(super) const KEEPS: &str = " = ";

/// What the variables are called that keep tokens.
const TOKEN: &str = "token";

/// The variable that keeps a token.
fn token(number: u32) -> String {
    format!("{TOKEN}{number}")
}

/// The variable that an arrival sets, as it is written.
pub(super) fn kept_in(text: &str) -> Option<&str> {
    text.split_once(KEEPS).map(|(token, _)| token).filter(|token| token.starts_with(TOKEN))
}

/// Whether a step is about an mbarrier object, as it is written.
pub(super) fn of_object(text: &str) -> bool {
    let text =
        text.split_once(KEEPS).filter(|(token, _)| token.starts_with(TOKEN)).map_or(text, |(_, text)| text);
    ["mbarrier.", "cp.async.", "tcgen05.commit"].iter().any(|of| text.starts_with(of))
}

/// Whether a step waits at an mbarrier object, as it is written.
pub(super) fn waits_at_object(text: &str) -> bool {
    text.starts_with("mbarrier.wait")
}

/// The groups with even ranks, as bits.
const EVEN: u64 = 0x5555_5555_5555_5555;

impl Residual<'_> {
    pub(super) fn object_step(
        &mut self,
        node: usize,
        at: usize,
        kind: ObjectKind,
        statements: &mut Statements,
    ) -> Result<(), Stop> {
        let span = self.code.instructions[at].span;
        let Some((_, amount)) = self.evaluation.barriers.get(&at).copied() else { return Ok(()) };
        let Some(object) = self.evaluation.objects.get(&at).cloned() else { return Ok(()) };
        let all = match object.each.is_empty() {
            true => vec![(u32::MAX, self.object(node, &object, span)?)],
            false => object.each.iter().map(|(lanes, name, index)| (*lanes, indexed(name, *index))).collect(),
        };
        let ranks = self.ranks(node, object.rank, span)?;
        let pairs = all.iter().flat_map(|one| ranks.iter().map(move |rank| (one, rank)));
        for ((some, object), (others, rank)) in pairs.filter(|((some, _), (others, _))| some & others != 0) {
            let object = match rank {
                Some(rank) => format!("{object}{ELSEWHERE}{rank}"),
                None => object.clone(),
            };
            let mut statement = self.object_statement((node, at), (object, amount), kind)?;
            let lanes = some & others;
            match &mut statement {
                // Each of them writes something of its own.
                Statement::Copy { to, .. } if lanes != u32::MAX => {
                    *to = std::mem::take(to).into_iter().map(unfollowed).collect();
                }
                Statement::Barrier { .. } => {
                    statements.extend(self.written_by_copy((node, at), true).into_iter().map(unfollowed));
                }
                _ => {}
            }
            if lanes == u32::MAX {
                statements.push(statement);
                continue;
            }
            let text = match lanes.count_ones() {
                1 => format!("lane == {}", lanes.trailing_zeros()),
                _ => format!("({lanes} >> lane) & 1"),
            };
            // Of several lanes each does it by itself.
            let assumes = BTreeSet::from([Assumption::InOrder(span)]);
            let decided = Decided { is_private: true, assumes, ..Decided::default() };
            let condition = Condition::Value { text, compares: None, decided };
            statements.push(Statement::If { condition, then: vec![statement], otherwise: Vec::new(), span });
        }
        Ok(())
    }

    /// A step that a warp does once, whichever of its lanes come there: the first of them.
    pub(super) fn once(
        &mut self,
        (node, at): (usize, usize),
        lanes: Option<u32>,
        statements: &mut Statements,
    ) -> Result<(), Stop> {
        let span = self.code.instructions[at].span;
        let Some(lanes) = lanes.or((self.live == 1).then_some(1)) else {
            let what = "which lanes come here, where a warp acts once, is not known".to_owned();
            return Err(Stop { what, span, help: None });
        };
        let mut step = Vec::new();
        self.barrier(node, at, &mut step)?;
        if lanes.count_ones() <= 1 {
            statements.extend(step);
            return Ok(());
        }
        let text = format!("lane == {}", lanes.trailing_zeros());
        if let Some(Statement::If {
            condition: Condition::Value { text: before, .. }, then, otherwise, ..
        }) = statements.last_mut()
            && (before.as_str(), otherwise.is_empty()) == (text.as_str(), true)
        {
            then.extend(step);
            return Ok(());
        }
        let decided = Decided { is_private: true, ..Decided::default() };
        let condition = Condition::Value { text, compares: None, decided };
        statements.push(Statement::If { condition, then: step, otherwise: Vec::new(), span });
        Ok(())
    }

    /// Which lanes mean the memory of which groups of the cluster; `None` is the own one.
    fn ranks(
        &mut self,
        node: usize,
        rank: Option<ValueId>,
        span: Span,
    ) -> Result<Vec<(u32, Option<String>)>, Stop> {
        let Some(rank) = rank else { return Ok(vec![(u32::MAX, None)]) };
        let Some(Lanes::Each(each)) = self.values.as_known(rank).cloned() else {
            return Ok(vec![(u32::MAX, Some(self.operand(node, rank, span, "rank of the CTA")?))]);
        };
        let mut ranks: BTreeMap<u64, u32> = BTreeMap::new();
        let come = self.evaluation.lanes[node];
        for (lane, rank) in each.iter().take(self.live).enumerate().filter(|(lane, _)| come >> lane & 1 == 1)
        {
            *ranks.entry(*rank).or_default() |= 1 << lane;
        }
        let is_own = |rank: u64| self.rank.map(u64::from) == Some(rank);
        let of = |(rank, lanes): (u64, u32)| (lanes, (!is_own(rank)).then(|| rank.to_string()));
        Ok(ranks.into_iter().map(of).collect())
    }

    fn object_statement(
        &mut self,
        (node, at): (usize, usize),
        (object, amount): (String, Option<ValueId>),
        kind: ObjectKind,
    ) -> Result<Statement, Stop> {
        let span = self.code.instructions[at].span;
        let announces = matches!(kind, ObjectKind::ExpectTx | ObjectKind::ArriveExpectTx { .. });
        let mut is_said = true;
        let amount = match amount.map(|amount| self.object_amount(node, amount, span, kind)).transpose() {
            Err(_) if let Some(bytes) = self.announced_alike(node, at) => {
                is_said = false;
                Some(bytes.to_string())
            }
            // It may come out which copies fill it.
            Err(_) if announces => None,
            amount => amount?,
        };
        let number = amount.as_ref().and_then(|amount| amount.parse::<i64>().ok());
        let arrives = match kind {
            ObjectKind::ArriveExpectTx { relaxed } => Some(relaxed),
            _ => None,
        };
        let mask = match self.evaluation.masks.get(&at).copied() {
            Some(mask) => {
                let mask = self.operand(node, mask, span, "mask of CTAs")?;
                let mask = self.others_in(mask, span)?;
                let by_pairs = self.code.by_pairs.contains(&at);
                mask.map(|mask| if by_pairs { self.one_of_each_pair(&mask, &object, span) } else { Ok(mask) })
                    .transpose()?
            }
            None => None,
        };
        let token = self.code.tokens.get(&at).map(|number| token(*number));
        Ok(match (kind, number) {
            _ if announces && (number.is_some() || amount.is_none()) => {
                Statement::Announce { object, bytes: number, arrives, token, span }
            }
            (ObjectKind::Wait, None) if amount.is_none() => {
                let token = token.unwrap_or_default();
                Statement::Barrier { text: format!("mbarrier.wait {object}, {token}"), span }
            }
            (ObjectKind::Copy, _) if amount.is_none() || number.is_some() => {
                let to = self.written_by_copy((node, at), is_said);
                Statement::Copy { object, bytes: number, mask, to, span }
            }
            // Its operands stand in another order.
            (ObjectKind::Copy, _) => {
                let amount = amount.unwrap_or_default();
                let text = match mask {
                    None => format!("cp.async.bulk _, {amount}, {object}"),
                    Some(mask) => format!("cp.async.bulk.multicast::cluster _, {amount}, {object}, {mask}"),
                };
                Statement::Barrier { text, span }
            }
            _ if let Some(mask) = mask => Statement::Barrier {
                text: format!("{}.multicast::cluster {object}, {mask}", word(kind)),
                span,
            },
            _ => {
                let amount = amount.map(|amount| format!(", {amount}")).unwrap_or_default();
                let keeps = token.map(|token| format!("{token}{KEEPS}")).unwrap_or_default();
                Statement::Barrier { text: format!("{keeps}{} {object}{amount}", word(kind)), span }
            }
        })
    }

    /// What a copy writes, as accesses, where memory is followed; whether the code says how much that is.
    fn written_by_copy(&mut self, (node, at): (usize, usize), is_said: bool) -> Statements {
        let Action::Object(step) = &self.code.instructions[at].action else { return Vec::new() };
        let mut to = step.to.as_ref().map(|to| self.accessed((node, at), to)).unwrap_or_default();
        super::landed::accesses(&mut to, &mut |access| access.is_partial = !is_said);
        to
    }

    /// A mask of groups of the cluster; `None` where it is the only one.
    fn others_in(&self, mask: String, span: Span) -> Result<Option<String>, Stop> {
        let groups = self.groups;
        match mask.parse::<u64>() {
            Ok(number) if number >> groups != 0 => {
                let what = format!("this goes to other CTAs than the {groups} of the cluster");
                Err(Stop { what, span, help: Some(Help::Words("say how many it has by --cluster")) })
            }
            _ if groups == 1 => Ok(None),
            _ => Ok(Some(mask)),
        }
    }

    /// The groups to which a copy for some groups goes, where one of each pair is told: that of which the
    /// rank is even or odd as that of the object's group is (PTX ISA, `cp.async.bulk.tensor` with
    /// `.cta_group::2` and `.multicast::cluster`).
    fn one_of_each_pair(&self, mask: &str, object: &str, span: Span) -> Result<String, Stop> {
        let stop = |what: &str| Stop { what: what.to_owned(), span, help: None };
        let rank = match object.split_once(ELSEWHERE) {
            Some((_, rank)) => rank.parse().ok(),
            None => self.rank,
        };
        let (Ok(mask), Some(rank)) = (mask.parse::<u64>(), rank) else {
            return Err(stop("to which CTAs of pairs this goes is not known"));
        };
        let (even, odd) = (mask & EVEN, mask >> 1 & EVEN);
        if even & odd != 0 {
            return Err(stop("not followed: a copy that is for both CTAs of a pair"));
        }
        Ok(((even | odd) << (rank & 1)).to_string())
    }

    /// The object as programs write it.
    fn object(&mut self, node: usize, object: &Object, span: Span) -> Result<String, Stop> {
        let Some((index, size, number)) = object.index else { return Ok(object.name.clone()) };
        let text = self.operand(node, index, span, "mbarrier object")?;
        let text = if size == 1 { text } else { format!("({text}) / {size}") };
        let index = match (text.as_str(), number) {
            ("0", number) => number.to_string(),
            (text, 0) => text.to_owned(),
            (text, number) if is_word(text) => format!("{text} + {number}"),
            (text, number) => format!("({text}) + {number}"),
        };
        Ok(format!("{}[{index}]", object.name))
    }

    fn object_amount(
        &mut self,
        node: usize,
        amount: ValueId,
        span: Span,
        kind: ObjectKind,
    ) -> Result<String, Stop> {
        let what = match kind {
            ObjectKind::Wait => "parity",
            ObjectKind::Init
            | ObjectKind::Arrive { .. }
            | ObjectKind::ArriveDrop { .. }
            | ObjectKind::ArriveNoComplete
            | ObjectKind::ArriveDropNoComplete => "count",
            _ => "number of bytes",
        };
        self.operand(node, amount, span, what)
    }
}

fn indexed(name: &str, index: Option<i64>) -> String {
    index.map_or_else(|| name.to_owned(), |index| format!("{name}[{index}]"))
}

fn is_word(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// The instruction of the protocol language.
fn word(kind: ObjectKind) -> &'static str {
    match kind {
        ObjectKind::Init => "mbarrier.init",
        ObjectKind::Inval => "mbarrier.inval",
        ObjectKind::Arrive { relaxed: false } => "mbarrier.arrive",
        ObjectKind::Arrive { relaxed: true } => "mbarrier.arrive.relaxed",
        ObjectKind::ArriveDrop { relaxed: false } => "mbarrier.arrive_drop",
        ObjectKind::ArriveDrop { relaxed: true } => "mbarrier.arrive_drop.relaxed",
        ObjectKind::ArriveNoComplete => "mbarrier.arrive.noComplete",
        ObjectKind::ArriveDropNoComplete => "mbarrier.arrive_drop.noComplete",
        ObjectKind::ArriveExpectTx { relaxed: false } => "mbarrier.arrive.expect_tx",
        ObjectKind::ArriveExpectTx { relaxed: true } => "mbarrier.arrive.expect_tx.relaxed",
        ObjectKind::ExpectTx => "mbarrier.expect_tx",
        ObjectKind::CompleteTx => "mbarrier.complete_tx",
        ObjectKind::Wait => "mbarrier.wait.parity",
        ObjectKind::Copy => "cp.async.bulk",
        ObjectKind::Commit => "tcgen05.commit",
        ObjectKind::CopiesArrive => "cp.async.mbarrier.arrive.noinc",
    }
}
