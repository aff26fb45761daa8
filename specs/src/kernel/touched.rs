//! What accesses of a warp touch, and programs in which accesses stand in the place of what only decides
//! about them.

use std::collections::{BTreeMap, BTreeSet};

use super::access::{Access, By, Bytes, Touch};
use super::arithmetic::signed;
use super::code::Operation;
use super::evaluate::Evaluation;
use super::flat::perhaps;
use super::landed::{self, ASSERT};
use super::lanes::{Lanes, WIDTH};
use super::may_touch;
use super::objects::whole_symbol;
use super::possible::possible;
use super::residual::Residual;
use super::spread::{Place, ROUNDS, add, truths};
use super::terms::{differs, is_invariant};
use super::together::{Index, Round};
use super::tree::{Accessed, Condition, Decided, Extent, Footprint, Statement, Statements};
use super::value::{Term, ValueId, Values};

impl Residual<'_> {
    /// An access, unless no lane executes it. Where its address changes with what variables hold, or which
    /// lanes execute it, there is one for each value, and it is asserted that there are no others.
    pub(super) fn accessed(&mut self, (node, at): (usize, usize), access: &Access) -> Statements {
        let any = Executing { mask: u32::MAX, is_known: false, exact: BTreeSet::new() };
        let Some(statement) = self.access((node, at), access, &any, None) else { return Vec::new() };
        let Some(index) = self.evaluation.indices.get(&at).copied() else { return vec![statement] };
        let span = self.code.instructions[at].span;
        let Some((text, decided, values)) = self.values_of((node, at), index.value) else {
            if !index.is_added {
                return vec![statement];
            }
            return self.access((node, at), access, &any, Some(index.value)).into_iter().collect();
        };
        let (mut statements, mut any) = (Vec::new(), Vec::new());
        for (value, lanes) in values {
            let is = format!("{text} == {value}");
            any.push(is.clone());
            let Some(mut then) = self.access((node, at), access, &lanes, None) else { continue };
            if index.is_added && !shift(&mut then, value) {
                return vec![unfollowed(statement)];
            }
            let condition = Condition::Value { text: is, compares: None, decided: decided.clone() };
            statements.push(Statement::If { condition, then: vec![then], otherwise: Vec::new(), span });
        }
        // Nobody comes there in any round.
        if statements.is_empty() {
            return Vec::new();
        }
        let text = format!("{ASSERT}{}", any.join(" || "));
        let (touch, bytes, known, exact) = (access.touch, None, BTreeSet::new(), BTreeSet::new());
        let asserted = Accessed { touch, bytes, is_partial: false, known, exact, text, span };
        statements.push(Statement::Access(Box::new(asserted)));
        statements
    }

    /// An expression for what changes in the rounds of a loop, what it rests on, and its first values with
    /// the lanes that come to an access then.
    fn values_of(
        &mut self,
        (node, at): (usize, usize),
        index: ValueId,
    ) -> Option<(String, Decided, BTreeMap<i64, Executing>)> {
        let written = self.operand_written(node, index)?;
        let values = self.values_by_round((node, at), index).or_else(|| {
            let any = Executing { mask: u32::MAX, is_known: false, exact: BTreeSet::new() };
            let values = possible(self.values, self.evaluation, index)?.into_iter();
            Some(values.map(|value| (value, any.clone())).collect())
        })?;
        Some((written.text, written.decided, values))
    }

    /// The first values of what changes in the rounds of a loop with the lanes that come to an access then.
    fn values_by_round(
        &self,
        (node, at): (usize, usize),
        index: ValueId,
    ) -> Option<BTreeMap<i64, Executing>> {
        // One in which all variables in it change.
        let is_of = |header: usize| {
            let other = |term: &Term| matches!(term, Term::Meet { block, .. } if *block != header);
            !super::terms::any(self.values, index, other)
        };
        let number = self.flow.loops.iter().position(|of| is_of(of.header))?;
        let guard = self.evaluation.accesses.get(&at).and_then(|found| found.condition);
        let place = Place { evaluation: self.evaluation, flow: self.flow, node, guard };
        let coming = place.coming(self.values, number, ROUNDS);
        let mut rounds = place.rounds(self.values, number, index)?;
        let is_guard_known = coming.as_ref().is_some_and(|coming| coming.is_guard_known);
        let lanes = coming.as_ref().map(|coming| &coming.lanes[..]);
        let (mut values, bits) = (BTreeMap::new(), self.values.width(index));
        for round in 0..lanes.map_or(ROUNDS, <[u32]>::len) {
            let [value] = rounds.next(&[index])?[..] else { return None };
            // A number of fewer bits has no sign.
            let value = if bits < 32 { value as i64 } else { signed(value, bits) };
            let mask = lanes.map_or(u32::MAX, |lanes| lanes[round]);
            let exact = || coming.as_ref().map(|coming| coming.known.clone()).unwrap_or_default();
            let first = || Executing { mask, is_known: is_guard_known, exact: exact() };
            let known = values.entry(value).or_insert_with(first);
            if known.mask != mask {
                (known.mask, known.is_known) = (known.mask | mask, false);
                known.exact.clear();
            }
        }
        (lanes.is_some() || values.len() <= STAGES).then_some(values)
    }

    /// An access by some lanes. Of what changes about its address, if that is given, nothing is known.
    fn access(
        &self,
        (node, at): (usize, usize),
        access: &Access,
        of: &Executing,
        changing: Option<ValueId>,
    ) -> Option<Statement> {
        let span = self.code.instructions[at].span;
        let found = self.evaluation.accesses.get(&at);
        let holds = found.and_then(|found| found.condition);
        let guard = holds.map(|holds| self.values.as_known(holds));
        let mut lanes = self.evaluation.lanes[node] & access.lanes & of.mask;
        if let Some(Some(known)) = guard {
            lanes &= truths(known, true);
        }
        let together = self.evaluation.together.get(&at);
        let once = [(u32::MAX, [0; WIDTH])];
        let rounds = together.map_or(&once[..], |together| &together.rounds);
        if rounds.iter().all(|(mask, _)| lanes & mask == 0) {
            return None;
        }
        // What is counted from a symbol may be memory of the thread alone.
        let bytes = found.filter(|_| !access.is_generic).and_then(|found| {
            let value = found.values.first().copied();
            let value =
                value.filter(|value| !differs(self.values, *value) && is_invariant(self.values, *value));
            let value = value.zip(access.value.map(|(_, bytes)| bytes));
            let bytes = match access.bytes {
                Bytes::These(bytes) | Bytes::AtLeast(bytes) => bytes,
                Bytes::Said(_) => self.values.as_known(*found.values.last()?)?.all()?.try_into().ok()?,
            };
            let exact = || footprint(self.values, (found.address, rounds), (lanes, bytes), value);
            changing.is_none().then(exact).flatten().or_else(|| {
                let is_whole = changing.is_some() || !self.evaluation.indices.contains_key(&at);
                let parts: Vec<ValueId> = std::iter::once(found.address).chain(changing).collect();
                let is_asked = is_whole && access.touch.by() == By::Threads;
                let of = (self.values, self.code);
                is_asked.then(|| may_touch::footprint(of, (parts, rounds), (lanes, bytes))).flatten()
            })
        });
        let is_possible = bytes.as_ref().is_some_and(|bytes| bytes.extent != Extent::All);
        let known = together.into_iter().flat_map(|together| &together.known);
        let known = known.map(|node| self.branch(*node)).collect();
        let exact = together.into_iter().flat_map(|together| &together.exact).chain(&of.exact);
        let exact = exact.map(|node| self.branch(*node)).collect();
        let (touch, is_partial) = (access.touch, matches!(access.bytes, Bytes::AtLeast(_)));
        let touched = Accessed { touch, bytes, is_partial, known, exact, text: String::new(), span };
        let is_elsewhere = || found.is_some_and(|found| is_elsewhere(self, found.address));
        if access.is_generic && touched.bytes.is_none() && is_elsewhere() {
            return None;
        }
        let statement = Statement::Access(Box::new(touched));
        let is_guard_known = of.is_known || together.is_some_and(|together| together.is_guard_known);
        Some(if is_possible || guard.is_some_and(|guard| guard.is_none()) && !is_guard_known {
            perhaps(vec![statement])
        } else {
            statement
        })
    }
}

/// Some lanes of a warp.
#[derive(Clone)]
struct Executing {
    mask: u32,
    /// It is known that the guard of an access is for these.
    is_known: bool,
    /// Nodes whose branches bring all of them to an access, or none.
    exact: BTreeSet<usize>,
}

/// Values that an address has in a loop of which it is not known how often it is gone through, at most.
const STAGES: usize = 16;

/// Takes what changes out of the addresses of accesses.
pub(super) fn take_apart(values: &mut Values, evaluation: &mut Evaluation) {
    for (at, found) in &mut evaluation.accesses {
        if let Some((rest, index)) = apart(values, found.address) {
            found.address = rest;
            evaluation.indices.insert(*at, Index { value: index, is_added: true });
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
pub(super) fn unfollowed(statement: Statement) -> Statement {
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

/// What lanes touch that access so many bytes from an address on, in rounds; `None` if that is not known.
fn footprint(
    values: &Values,
    (address, rounds): (ValueId, &[Round]),
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
    let mut starts = Vec::new();
    for (mask, offsets) in rounds {
        for lane in (0..WIDTH).filter(|lane| (lanes & mask) >> lane & 1 == 1) {
            starts.push(known[lane].checked_add(offsets[lane])?);
        }
    }
    starts.sort_unstable();
    starts.dedup();
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
    Some(Footprint { base, parts, extent: Extent::All, value })
}

/// A program without accesses: what is left of it where memory is not followed.
pub(super) fn without_accesses(mut statements: Statements) -> Statements {
    landed::forget(&mut statements);
    without_rest(statements)
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
            let body = without_rest(body);
            (!body.is_empty()).then_some(Statement::For { variable, from, to, body, span })
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

/// Whether two accesses of different warps race unless something orders them. That both store the same value
/// changes nothing, in whichever order they do (so the compilers of CUDA and Triton take it).
pub(super) fn conflict((a, b): (Touch, Touch), is_same_value: bool) -> bool {
    (a.writes() || b.writes())
        && !(a.is_strong() && b.is_strong())
        && !(is_same_value && a.writes() && b.writes())
}
