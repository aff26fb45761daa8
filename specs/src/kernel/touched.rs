//! What accesses of a warp touch, and programs in which accesses stand in the place of what only decides
//! about them.

use std::collections::BTreeSet;

use super::arithmetic::signed;
use super::code::{Access, Operation, Touch};
use super::evaluate::Evaluation;
use super::lanes::{Lanes, WIDTH};
use super::mentions::{changed, occurrences, words_of};
use super::objects::whole_symbol;
use super::residual::Residual;
use super::terms::{differs, is_invariant};
use super::tree::{Accessed, Condition, Decided, Footprint, Statement, Statements, breaks};
use super::trips::Rounds;
use super::value::{Term, ValueId, Values};

impl Residual<'_> {
    /// An access, unless no lane executes it. Where its address changes with what variables hold, there is
    /// one for each of its values, and it is asserted that there are no others.
    pub(super) fn accessed(&mut self, (node, at): (usize, usize), access: &Access) -> Statements {
        let Some(statement) = self.access((node, at), access) else { return Vec::new() };
        let Some(index) = self.evaluation.indices.get(&at).copied() else { return vec![statement] };
        let span = self.code.instructions[at].span;
        let Some((text, decided, values)) = self.values_of(node, index) else {
            return vec![unfollowed(statement)];
        };
        let mut statements = Vec::new();
        for value in &values {
            let mut then = statement.clone();
            if !shift(&mut then, *value) {
                return vec![unfollowed(statement)];
            }
            let text = format!("{text} == {value}");
            let condition = Condition::Value { text, compares: None, decided: decided.clone() };
            statements.push(Statement::If { condition, then: vec![then], otherwise: Vec::new(), span });
        }
        let any: Vec<String> = values.iter().map(|value| format!("{text} == {value}")).collect();
        let text = format!("{ASSERT}{}", any.join(" || "));
        let (touch, bytes) = (access.touch, None);
        statements.push(Statement::Access(Box::new(Accessed { touch, bytes, text, span })));
        statements
    }

    /// An expression for what changes in the rounds of a loop, what it rests on, and its first values.
    fn values_of(&mut self, node: usize, index: ValueId) -> Option<(String, Decided, BTreeSet<i64>)> {
        let written = self.operand_written(node, index)?;
        // One in which all variables in it change.
        let is_of = |header: usize| {
            let other = |term: &Term| matches!(term, Term::Meet { block, .. } if *block != header);
            !super::terms::any(self.values, index, other)
        };
        let number = self.flow.loops.iter().position(|of| is_of(of.header))?;
        let symbols = BTreeSet::new();
        let mut rounds = Rounds::of((self.values, &symbols), (self.evaluation, self.flow), number, &[index])?;
        let times = self.trips[number].map(|trip| trip.times);
        let (mut values, bits) = (BTreeSet::new(), self.values.width(index));
        for _ in 0..times.unwrap_or(ROUNDS).min(ROUNDS) {
            let [value] = rounds.next(&[index])?[..] else { return None };
            // A number of fewer bits has no sign.
            values.insert(if bits < 32 { value as i64 } else { signed(value, bits) });
        }
        let is_few = times.is_some_and(|times| times <= ROUNDS) || values.len() <= STAGES;
        is_few.then_some((written.text, written.decided, values))
    }

    fn access(&self, (node, at): (usize, usize), access: &Access) -> Option<Statement> {
        let span = self.code.instructions[at].span;
        let found = self.evaluation.accesses.get(&at);
        let holds = found.and_then(|found| found.condition);
        let known = holds.map(|holds| self.values.as_known(holds));
        let mut lanes = self.evaluation.lanes[node] & access.lanes;
        if let Some(Some(known)) = known {
            lanes &= (0..WIDTH).fold(0, |mask, lane| mask | u32::from(known.get(lane) != 0) << lane);
        }
        if lanes == 0 {
            return None;
        }
        // What is counted from a symbol may be memory of the thread alone.
        let bytes = found.filter(|_| !access.is_generic).and_then(|found| {
            let value = found.values.first().copied();
            let value =
                value.filter(|value| !differs(self.values, *value) && is_invariant(self.values, *value));
            let value = value.zip(access.value.map(|(_, bytes)| bytes));
            footprint(self.values, found.address, (lanes, access.bytes), value)
        });
        let touched = Accessed { touch: access.touch, bytes, text: String::new(), span };
        let is_elsewhere = || found.is_some_and(|found| is_elsewhere(self, found.address));
        if access.is_generic && touched.bytes.is_none() && is_elsewhere() {
            return None;
        }
        let statement = Statement::Access(Box::new(touched));
        Some(match known {
            Some(None) => perhaps(vec![statement]),
            _ => statement,
        })
    }
}

/// Rounds of a loop that are gone through for the values of an address.
const ROUNDS: i64 = 64;
/// Values that an address has in a loop of which it is not known how often it is gone through, at most.
const STAGES: usize = 16;

/// Takes what changes out of the addresses of accesses.
pub(super) fn take_apart(values: &mut Values, evaluation: &mut Evaluation) {
    for (at, found) in &mut evaluation.accesses {
        if let Some((rest, index)) = apart(values, found.address) {
            found.address = rest;
            evaluation.indices.insert(*at, index);
        }
    }
}

/// What of an address does not change, and what does; `None` if nothing does, or lanes differ in it.
fn apart(values: &mut Values, address: ValueId) -> Option<(ValueId, ValueId)> {
    let (mut fixed, mut changing, mut known, mut width) = (Vec::new(), Vec::new(), [0_i64; WIDTH], 32);
    let mut work = vec![(address, 64)];
    while let Some((value, bits)) = work.pop() {
        match values.term(value) {
            Term::Known(lanes) => add(&mut known, lanes, values.width(value))?,
            Term::Sum { bits, terms, known: more } => {
                add(&mut known, more, *bits)?;
                for (term, factor) in terms {
                    factor.all()?;
                    let is_one = *factor == Lanes::All(1);
                    match values.term(*term) {
                        Term::Sum { .. } if is_one => work.push((*term, *bits)),
                        _ if differs(values, *term) => return None,
                        _ if is_invariant(values, *term) => fixed.push((*term, factor.clone())),
                        _ => {
                            width = *bits;
                            changing.push((*term, factor.clone()));
                        }
                    }
                }
            }
            _ if differs(values, value) => return None,
            _ if is_invariant(values, value) => fixed.push((value, Lanes::All(1))),
            _ => {
                width = bits;
                changing.push((value, Lanes::All(1)));
            }
        }
    }
    if changing.is_empty() {
        return None;
    }
    for (term, factor) in &mut changing {
        if let Some((less, zeros)) =
            (1..=BITS).rev().find_map(|zeros| Some((shifted(values, *term, zeros)?, zeros)))
        {
            let more = factor.all()?.checked_shl(zeros)?;
            (*term, *factor) = (less, Lanes::All(more));
        }
    }
    let known = values.known(Lanes::each(WIDTH, |lane| known[lane] as u64));
    fixed.push((known, Lanes::All(1)));
    Some((values.sum(64, &fixed)?, values.sum(width, &changing)?))
}

/// Low bits that are looked for: no stage of a buffer is larger.
const BITS: u32 = 20;

/// Something whose lowest bits are 0, without these: of `(i * 1024) & 1024` the parity `i & 1`.
fn shifted(values: &mut Values, value: ValueId, zeros: u32) -> Option<ValueId> {
    let is_whole = |number: u64| number & ((1 << zeros) - 1) == 0;
    let Term::Apply { operation, ty, terms } = values.term(value).clone() else {
        let number = values.as_known(value)?.all().filter(|number| is_whole(*number))?;
        return Some(values.number(number >> zeros));
    };
    let [a, b] = terms[..] else { return None };
    match operation {
        Operation::Xor => {
            let terms = [shifted(values, a, zeros)?, shifted(values, b, zeros)?];
            Some(values.apply(operation, ty, &terms))
        }
        Operation::And => {
            let mask = shifted(values, b, zeros)?;
            let Term::Sum { bits, terms, known } = values.term(a).clone() else { return None };
            values.as_known(mask)?;
            let less =
                |number: &Lanes| Some(Lanes::All(number.all().filter(|number| is_whole(*number))? >> zeros));
            let mut parts: Vec<(ValueId, Lanes)> =
                terms.iter().map(|(term, factor)| Some((*term, less(factor)?))).collect::<Option<_>>()?;
            parts.push((values.known(less(&known)?), Lanes::All(1)));
            // What is cut off above is not asked for.
            let sum = values.sum(bits, &parts)?;
            Some(values.apply(operation, ty, &[sum, mask]))
        }
        _ => None,
    }
}

/// The same access further on; whether that can be.
fn shift(statement: &mut Statement, by: i64) -> bool {
    let one = match statement {
        Statement::If { then, .. } => then.first_mut(),
        one => Some(one),
    };
    let Some(Statement::Access(access)) = one else { return false };
    let Some(bytes) = &mut access.bytes else { return false };
    bytes.parts.iter_mut().all(|(from, to)| {
        let moved = from.checked_add(by).zip(to.checked_add(by));
        (*from, *to) = moved.unwrap_or((*from, *to));
        moved.is_some()
    })
}

/// The same access, of which it is not known what it touches.
fn unfollowed(statement: Statement) -> Statement {
    match statement {
        Statement::Access(mut access) => {
            access.bytes = None;
            Statement::Access(access)
        }
        Statement::If { condition, then, otherwise, span } => {
            let then = then.into_iter().map(unfollowed).collect();
            let otherwise = otherwise.into_iter().map(unfollowed).collect();
            Statement::If { condition, then, otherwise, span }
        }
        other => other,
    }
}

/// Whether an address is counted from what a parameter says alone: threads do not get the addresses of memory
/// of their group from there.
fn is_elsewhere(residual: &Residual<'_>, address: ValueId) -> bool {
    let symbols = &residual.code.symbols;
    let is_symbol = |term: &Term| matches!(term, Term::Same(name) if symbols.contains(name));
    let is_param = |term: &Term| matches!(term, Term::Same(_));
    let values = residual.values;
    !super::terms::any(values, address, is_symbol) && super::terms::any(values, address, is_param)
}

/// What lanes touch that access so many bytes from an address on; `None` if that is not known.
fn footprint(
    values: &Values,
    address: ValueId,
    (lanes, bytes): (u32, u32),
    value: Option<(ValueId, u32)>,
) -> Option<Footprint> {
    let (mut base, mut known, mut bits) = (Vec::new(), [0_i64; WIDTH], 64);
    let mut work = vec![address];
    while let Some(term) = work.pop() {
        let term = whole_symbol(values, term, &mut bits);
        match values.term(term) {
            Term::Known(lanes) => add(&mut known, lanes, values.width(term))?,
            // A narrower sum to which an offset is added.
            Term::Sum { bits, terms, known: more } => {
                add(&mut known, more, *bits)?;
                for (term, factor) in terms {
                    (factor.all() == Some(1)).then_some(())?;
                    work.push(*term);
                }
            }
            _ if differs(values, term) || !is_invariant(values, term) => return None,
            _ => base.push(term),
        }
    }
    if base.is_empty() {
        return None;
    }
    base.sort_unstable();
    let lanes = (0..WIDTH).filter(|lane| lanes >> lane & 1 == 1);
    let mut starts: Vec<i64> = lanes.map(|lane| known[lane]).collect();
    starts.sort_unstable();
    let mut parts: Vec<(i64, i64)> = Vec::new();
    for from in starts {
        let to = from.checked_add(i64::from(bytes))?;
        match parts.last_mut() {
            Some((_, end)) if *end >= from => *end = to.max(*end),
            _ => parts.push((from, to)),
        }
    }
    let value = value.zip(parts.first()).map(|((value, bytes), first)| {
        // Of a vector of one value, too.
        (value, bytes, first.0.rem_euclid(i64::from(bytes.max(1))))
    });
    Some(Footprint { base, parts, value })
}

/// Adds a known number for each lane.
fn add(known: &mut [i64; WIDTH], more: &Lanes, bits: u8) -> Option<()> {
    for (lane, known) in known.iter_mut().enumerate() {
        *known = known.checked_add(signed(more.get(lane), bits.max(1)))?;
    }
    Some(())
}

/// What need not be done.
fn perhaps(then: Statements) -> Statement {
    let span = match then.first() {
        Some(Statement::Access(access)) => access.span,
        _ => crate::common::span::Span::default(),
    };
    Statement::If { condition: Condition::OfWarp, then, otherwise: Vec::new(), span }
}

/// The same program without branches and loops that only decide about accesses: which lanes access what is
/// known of each access.
pub(super) fn flat(statements: Statements) -> Statements {
    let all = occurrences(&statements);
    list(statements, &|body| {
        let inside = occurrences(body);
        changed(body).iter().all(|local| all.get(local) == inside.get(local))
    })
}

fn list(statements: Statements, is_own: &impl Fn(&[Statement]) -> bool) -> Statements {
    let mut flat = Vec::with_capacity(statements.len());
    for statement in statements {
        match statement {
            Statement::If { condition, then, otherwise, span } => {
                let (then, otherwise) = (list(then, is_own), list(otherwise, is_own));
                let decides =
                    (is_free(&then) && is_free(&otherwise)) && !(then.is_empty() && otherwise.is_empty());
                match (&condition, decides) {
                    (Condition::Uniform { .. }, _) | (_, false) => {
                        flat.push(Statement::If { condition, then, otherwise, span });
                    }
                    (Condition::Value { decided, .. }, _) if !decided.is_private => {
                        flat.push(Statement::If { condition, then, otherwise, span });
                    }
                    // Each lane waits for its own copies.
                    (Condition::Value { text, .. }, _)
                        if is_of_lanes(text) && (has_fill(&then) || has_fill(&otherwise)) =>
                    {
                        flat.push(Statement::If { condition, then, otherwise, span });
                    }
                    (Condition::Value { text, .. }, _) if is_of_lanes(text) => {
                        flat.extend([then, otherwise].concat());
                    }
                    _ => flat.extend([then, otherwise].concat().into_iter().map(made_doubtful)),
                }
            }
            Statement::Loop { body, header, span } => {
                let body = list(body, is_own);
                // What stands behind a loop without an end is not come to.
                if breaks(&body) && has_access(&body) && is_only_about(&body) && is_own(&body) {
                    gather(body, false, &mut flat);
                } else {
                    flat.push(Statement::Loop { body, header, span });
                }
            }
            Statement::For { variable, from, to, body, span } => {
                let body = list(body, is_own);
                if has_access(&body) && is_only_about(&body) && is_own(&body) {
                    gather(body, from >= to, &mut flat);
                } else {
                    flat.push(Statement::For { variable, from, to, body, span });
                }
            }
            other => flat.push(other),
        }
    }
    flat
}

/// Whether these are accesses, and what need not be accessed.
fn is_free(statements: &[Statement]) -> bool {
    statements.iter().all(|statement| match statement {
        Statement::Access(access) => access.text.is_empty(),
        Statement::If { condition: Condition::OfWarp, then, otherwise, .. } => {
            otherwise.is_empty() && then.iter().all(|inside| matches!(inside, Statement::Access(_)))
        }
        _ => false,
    })
}

fn made_doubtful(statement: Statement) -> Statement {
    match statement {
        Statement::Access(_) => perhaps(vec![statement]),
        other => other,
    }
}

fn has_fill(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Access(access) => access.touch.is_fill(),
        Statement::If { then, otherwise, .. } => has_fill(then) || has_fill(otherwise),
        _ => false,
    })
}

fn has_access(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Access(_) => true,
        Statement::If { then, otherwise, .. } => has_access(then) || has_access(otherwise),
        Statement::Loop { body, .. } | Statement::For { body, .. } => has_access(body),
        _ => false,
    })
}

/// Whether the body of a loop only accesses memory, computes, and leaves the loop.
fn is_only_about(statements: &[Statement]) -> bool {
    statements.iter().all(|statement| match statement {
        Statement::Access(_) | Statement::Set { .. } | Statement::Break | Statement::Continue => true,
        // Which address it is.
        Statement::If { condition: Condition::Value { decided, .. }, then, .. }
            if !decided.is_private && has_access(then) =>
        {
            false
        }
        Statement::If { then, otherwise, .. } => is_only_about(then) && is_only_about(otherwise),
        Statement::Loop { body, .. } | Statement::For { body, .. } => is_only_about(body),
        _ => false,
    })
}

/// The accesses of a loop. What stands behind a place where it may be left need not be done.
fn gather(statements: Statements, mut is_doubtful: bool, flat: &mut Statements) {
    for statement in statements {
        match statement {
            Statement::Access(_) if is_doubtful => flat.push(made_doubtful(statement)),
            Statement::Access(_) => flat.push(statement),
            Statement::If { then, otherwise, .. } => {
                let leaves = leaves(&then) || leaves(&otherwise);
                gather(then, true, flat);
                gather(otherwise, true, flat);
                is_doubtful |= leaves;
            }
            Statement::Loop { body, .. } => gather(body, is_doubtful, flat),
            Statement::For { from, to, body, .. } => gather(body, is_doubtful || from >= to, flat),
            Statement::Break | Statement::Continue => is_doubtful = true,
            _ => {}
        }
    }
}

fn leaves(statements: &[Statement]) -> bool {
    statements.iter().any(|statement| match statement {
        Statement::Break | Statement::Continue | Statement::Exit { .. } => true,
        Statement::If { then, otherwise, .. } => leaves(then) || leaves(otherwise),
        _ => false,
    })
}

/// Whether a condition asks nothing but which lane it is.
fn is_of_lanes(text: &str) -> bool {
    words_of(text).iter().eq(BTreeSet::from(["lane".to_owned()]).iter())
}

/// How an access is written of which it is not known what it touches, or that concerns nobody else.
pub(super) fn without_rest(statements: Statements) -> Statements {
    let kept = |statement: Statement| match statement {
        Statement::Access(access) if access.text.is_empty() => None,
        Statement::If { condition, then, otherwise, span } => {
            let was_empty = then.is_empty() && otherwise.is_empty();
            let (then, otherwise) = (without_rest(then), without_rest(otherwise));
            let is_empty = then.is_empty() && otherwise.is_empty() && !was_empty;
            (!is_empty).then_some(Statement::If { condition, then, otherwise, span })
        }
        Statement::Loop { body, header, span } => {
            Some(Statement::Loop { body: without_rest(body), header, span })
        }
        Statement::For { variable, from, to, body, span } => {
            Some(Statement::For { variable, from, to, body: without_rest(body), span })
        }
        other => Some(other),
    };
    let mut left: Statements = Vec::with_capacity(statements.len());
    for statement in statements.into_iter().filter_map(kept) {
        // What was asserted of what is not there any more.
        let is_idle = matches!(&statement, Statement::Access(access) if access.text.starts_with(ASSERT))
            && !matches!(left.last(), Some(Statement::If { .. }));
        if !is_idle {
            left.push(statement);
        }
    }
    left
}

/// Begins an assertion.
const ASSERT: &str = "assert ";

/// Whether two accesses of different warps race unless something orders them. That both store the same value
/// changes nothing, in whichever order they do (so the compilers of CUDA and Triton take it).
pub(super) fn conflict((a, b): (Touch, Touch), is_same_value: bool) -> bool {
    (a.writes() || b.writes())
        && !(a.is_strong() && b.is_strong())
        && !(is_same_value && a.writes() && b.writes())
}
