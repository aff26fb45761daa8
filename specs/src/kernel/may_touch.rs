//! Accesses at addresses that depend on data: `bins[key & 255]`, `table[index]`.
//!
//! Which bytes they touch is not known, but within which they lie. What is known to touch one of those, and
//! nothing orders before or after it, races with some values. Two accesses of this kind may be told apart by
//! what they depend on, so nothing is said of those.

use std::collections::{BTreeMap, BTreeSet};

use super::code::{Code, Operation};
use super::lanes::WIDTH;
use super::objects::whole_symbol;
use super::spread::add;
use super::together::Round;
use super::tree::{Accessed, Extent, Footprint, Statement, Statements};
use super::value::{Term, ValueId, Values};
use crate::common::span::Span;

/// Pieces of memory of one access, at most.
const PIECES: usize = 4096;

/// The greatest value that is gone through one by one, where an access does not reach from one to the next.
const MOST: i64 = 255;

/// From where to where.
type Piece = (i64, i64);

/// Within which bytes lanes touch some that access so many from an address on, a sum of these, in rounds;
/// `None` if that is not known, or the address does not depend on data.
pub(super) fn footprint(
    (values, code): (&Values, &Code),
    (parts, rounds): (Vec<ValueId>, &[Round]),
    (lanes, bytes): (u32, u32),
) -> Option<Footprint> {
    let address = Address::of(values, parts)?;
    let length = match values.term(address.symbol) {
        Term::Same(name) if code.symbols.contains(name) => i64::try_from(*code.lengths.get(name)?).ok()?,
        _ => return None,
    };
    let mut pieces = BTreeSet::new();
    for (mask, offsets) in rounds {
        for lane in (0..WIDTH).filter(|lane| (lanes & mask) >> lane & 1 == 1) {
            let from = address.known[lane].checked_add(offsets[lane])?;
            pieces.insert((from, from.checked_add(i64::from(bytes))?));
        }
    }
    let (known, unknown): (Vec<_>, Vec<_>) =
        address.parts.iter().copied().partition(|(value, _)| greatest(values, *value).is_some());
    for (value, factor) in known {
        pieces = moved(&pieces, (greatest(values, value)?, factor))?;
    }
    let extent = match unknown[..] {
        [] => Extent::Some,
        // Lanes that begin at bytes of their own may keep to some.
        [(_, factor)] if pieces.len() == 1 && factor > 0 => {
            pieces = moved(&pieces, ((length - 1) / factor, factor))?;
            Extent::Rest
        }
        _ => return None,
    };
    let within = pieces.into_iter().map(|(from, to)| (from.max(0), to.min(length)));
    let mut parts: Vec<Piece> = Vec::new();
    for (from, to) in within.filter(|(from, to)| from < to) {
        match parts.last_mut() {
            Some((_, end)) if *end >= from => *end = to.max(*end),
            _ => parts.push((from, to)),
        }
    }
    Some(Footprint { base: vec![address.symbol], parts, extent, value: None })
}

/// Forgets accesses of this kind that begin at other bytes in other warps, which may keep to memory of their
/// own; whether some are left.
pub(super) fn keep_common(programs: &mut [Statements]) -> bool {
    let mut begins: BTreeMap<Span, BTreeSet<Option<i64>>> = BTreeMap::new();
    for statements in programs.iter_mut() {
        for_each(statements, &mut |access| {
            if let Some(bytes) = access.bytes.as_ref().filter(|bytes| bytes.extent == Extent::Rest) {
                let first = bytes.parts.first().map(|(from, _)| *from);
                begins.entry(access.span).or_default().insert(first);
            }
        });
    }
    let mut is_any = false;
    for statements in programs {
        for_each(statements, &mut |access| {
            let is_own = begins.get(&access.span).is_some_and(|begins| begins.len() > 1);
            access.bytes = access.bytes.take().filter(|bytes| bytes.extent != Extent::Rest || !is_own);
            is_any |= access.bytes.as_ref().is_some_and(|bytes| bytes.extent != Extent::All);
        });
    }
    is_any
}

/// Forgets all accesses of this kind.
pub(super) fn forget(programs: &mut [Statements]) {
    for statements in programs {
        for_each(statements, &mut |access| {
            access.bytes = access.bytes.take().filter(|bytes| bytes.extent == Extent::All);
        });
    }
}

fn for_each(statements: &mut [Statement], visit: &mut impl FnMut(&mut Accessed)) {
    for statement in statements {
        match statement {
            Statement::Access(access) if access.text.is_empty() => visit(access),
            Statement::If { then, otherwise, .. } => {
                for_each(then, visit);
                for_each(otherwise, visit);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => for_each(body, visit),
            _ => {}
        }
    }
}

/// What an address is made of.
struct Address {
    symbol: ValueId,
    known: [i64; WIDTH],
    /// What depends on data, and how often it counts.
    parts: Vec<(ValueId, i64)>,
}

impl Address {
    fn of(values: &Values, summands: Vec<ValueId>) -> Option<Self> {
        let (mut symbols, mut known, mut parts) = (Vec::new(), [0_i64; WIDTH], Vec::new());
        let (mut bits, mut work) = (64, summands);
        while let Some(term) = work.pop() {
            let term = whole_symbol(values, term, &mut bits);
            match values.term(term) {
                Term::Known(lanes) => add(&mut known, lanes, values.width(term))?,
                Term::Sum { bits, terms, known: more } => {
                    add(&mut known, more, *bits)?;
                    for (term, factor) in terms {
                        match factor.all()? {
                            1 => work.push(*term),
                            factor => parts.push((*term, super::arithmetic::signed(factor, *bits))),
                        }
                    }
                }
                Term::Same(_) => symbols.push(term),
                _ => parts.push((term, 1)),
            }
        }
        if parts.is_empty() || !parts.iter().all(|(part, _)| is_data(values, *part)) {
            return None;
        }
        let [symbol] = symbols[..] else { return None };
        Some(Self { symbol, known, parts })
    }
}

/// Whether a value depends on data, and on nothing that loops count but by that.
fn is_data(values: &Values, value: ValueId) -> bool {
    let (mut work, mut is_any) = (vec![value], false);
    while let Some(value) = work.pop() {
        match values.term(value) {
            Term::Loaded { .. } | Term::Unknown { .. } => is_any = true,
            Term::Meet { .. } | Term::Gained { .. } | Term::Unset => return false,
            _ => work.extend(values.inside(value)),
        }
    }
    is_any
}

/// The greatest that a value may be that is 0 or more, if that is small.
fn greatest(values: &Values, value: ValueId) -> Option<i64> {
    let bits = values.width(value);
    let by_bits = (bits < 32).then(|| (1_i64 << bits) - 1);
    let Term::Apply { operation, ty, terms } = values.term(value) else { return by_bits };
    let number = |at: usize| {
        let number = values.as_known(*terms.get(at)?)?.all()?;
        i64::try_from(number).ok().filter(|number| *number < 1 << 20)
    };
    let within = match operation {
        Operation::And => number(1).or_else(|| number(0)),
        Operation::Remainder if !ty.signed => number(1).and_then(|by| by.checked_sub(1)),
        Operation::ShiftRight if !ty.signed && ty.bits == 32 => {
            number(1).filter(|by| (12..32).contains(by)).map(|by| (1 << (32 - by)) - 1)
        }
        Operation::Convert(_) => greatest(values, *terms.first()?),
        _ => None,
    };
    within.or(by_bits)
}

/// Pieces that lie further on by 0 to so many times so many bytes.
fn moved(pieces: &BTreeSet<Piece>, (most, by): (i64, i64)) -> Option<BTreeSet<Piece>> {
    let mut found = BTreeSet::new();
    for (from, to) in pieces {
        if by.abs() <= to - from {
            let far = most.checked_mul(by)?;
            found.insert((from.checked_add(far.min(0))?, to.checked_add(far.max(0))?));
            continue;
        }
        if most > MOST {
            return None;
        }
        found.extend((0..=most).map(|times| (from + times * by, to + times * by)));
        if found.len() > PIECES {
            return None;
        }
    }
    Some(found)
}
