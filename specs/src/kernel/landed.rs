//! What copies write that complete bytes on mbarrier objects: how far they reach, and how they are written
//! by locations.
//!
//! A copy of n bytes is written as several of n bytes in all, one for each location that it writes. Each
//! lands by itself, as the bytes of a copy do; a phase waits for all of them. Memory is looked at where
//! barriers are in order: then as many bytes are announced as there are, and no phase is complete before
//! the last of them.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Accessed, Footprint, Statement, Statements};
use super::value::ValueId;
use crate::common::span::Span;

/// Begins an assertion.
pub(super) const ASSERT: &str = "assert ";

/// Does something to each copy.
fn for_each(statements: &mut [Statement], visit: &mut impl FnMut(Option<i64>, &mut Statements)) {
    for statement in statements {
        match statement {
            Statement::Copy { bytes, to, .. } => visit(*bytes, to),
            Statement::If { then, otherwise, .. } => {
                for_each(then, visit);
                for_each(otherwise, visit);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => for_each(body, visit),
            _ => {}
        }
    }
}

/// Does something to each access of a copy.
pub(super) fn accesses(to: &mut [Statement], visit: &mut impl FnMut(&mut Accessed)) {
    for statement in to {
        match statement {
            Statement::Access(access) if access.text.is_empty() => visit(access),
            Statement::If { then, .. } => accesses(then, visit),
            _ => {}
        }
    }
}

/// Forgets what copies write.
pub(super) fn forget(statements: &mut [Statement]) {
    for_each(statements, &mut |_, to| to.clear());
}

/// Lets copies that say how long they are reach so far.
pub(super) fn reach(programs: &mut [Statements]) {
    let said = |bytes: Option<i64>, to: &mut Statements| {
        let Some(bytes) = bytes else { return };
        accesses(to, &mut |access| {
            let reached = access.bytes.take().and_then(|touched| reaching(touched, bytes));
            access.bytes = reached;
        });
    };
    programs.iter_mut().for_each(|statements| for_each(statements, &mut { said }));
}

/// Lets the other copies reach as far, once it is known how much they complete. Where that is only known
/// of the copies of a phase together, they reach to where others begin, if that makes as many bytes; else
/// it is known of the first bytes alone that they are written.
pub(super) fn reach_others(programs: &mut [Statements], certain: &BTreeSet<Span>) {
    let mut begins = Begins::new();
    for statements in programs.iter_mut() {
        for_each(statements, &mut |_, to| {
            accesses(to, &mut |access| {
                if let Some(touched) = &access.bytes {
                    let first = touched.parts.first().map(|part| part.0);
                    begins.entry(touched.base.clone()).or_default().extend(first);
                }
            });
        });
    }
    programs.iter_mut().for_each(|statements| reach_in(statements, certain, &begins));
}

/// Where copies begin, by what their addresses are counted from.
type Begins = BTreeMap<Vec<ValueId>, BTreeSet<i64>>;

fn reach_in(statements: &mut [Statement], certain: &BTreeSet<Span>, begins: &Begins) {
    let mut together: BTreeMap<String, Together> = BTreeMap::new();
    for statement in statements.iter_mut() {
        if let Statement::Copy { object, bytes: Some(bytes), to, .. } = statement
            && let Some(room) = room(to, begins)
        {
            together.entry(object.clone()).or_default().add(*bytes, room);
        }
    }
    for statement in statements {
        match statement {
            Statement::Copy { object, bytes: Some(bytes), to, span, .. } => {
                let Some(room) = room(to, begins) else { continue };
                let (bytes, is_partial) = match together.get(object).and_then(|all| all.bytes_of(room)) {
                    Some(bytes) => (bytes, false),
                    None if certain.contains(span) => (*bytes, false),
                    None => (LEAST.min(*bytes), true),
                };
                accesses(to, &mut |access| {
                    access.is_partial = is_partial;
                    access.bytes = access.bytes.take().and_then(|touched| reaching(touched, bytes));
                });
            }
            Statement::If { then, otherwise, .. } => {
                reach_in(then, certain, begins);
                reach_in(otherwise, certain, begins);
            }
            Statement::Loop { body, .. } | Statement::For { body, .. } => reach_in(body, certain, begins),
            _ => {}
        }
    }
}

/// How much there is from where a copy begins.
#[derive(Clone, Copy, Debug)]
enum Room {
    /// To where another begins.
    To(i64),
    /// Nothing begins behind it; from the one before it is so far.
    Last(i64),
}

/// What the copies of an object in one place complete, and how much there is to where others begin.
#[derive(Debug, Default)]
struct Together {
    bytes: i64,
    room: i64,
    last: Vec<i64>,
}

impl Together {
    fn add(&mut self, bytes: i64, room: Room) {
        self.bytes = self.bytes.saturating_add(bytes);
        match room {
            Room::To(room) => self.room = self.room.saturating_add(room),
            Room::Last(before) => self.last.push(before),
        }
    }

    /// How much one of them completes, if all that there is makes as many bytes as they complete: what is
    /// last of several stages has as much as those before.
    fn bytes_of(&self, room: Room) -> Option<i64> {
        let left = self.bytes.saturating_sub(self.room);
        let fits = if self.last.is_empty() { left == 0 } else { self.last == [left] };
        fits.then_some(match room {
            Room::To(room) => room,
            Room::Last(_) => left,
        })
    }
}

/// Bytes of the smallest copy in bulk (PTX ISA, cp.async.bulk: sizes are multiples of 16).
const LEAST: i64 = 16;

/// How much there is from where a copy begins; `None` if it is known how far it reaches, or not known
/// where it begins.
fn room(to: &mut [Statement], begins: &Begins) -> Option<Room> {
    let (mut least, mut last): (Option<i64>, Option<i64>) = (None, None);
    accesses(to, &mut |access| {
        let Some(touched) = access.bytes.as_ref().filter(|touched| !is_reached(touched)) else { return };
        let (Some((from, _)), Some(begins)) = (touched.parts.first(), begins.get(&touched.base)) else {
            return;
        };
        // The last of several stages has as much as the others.
        match (begins.range(from + 1..).next(), begins.range(..from).next_back()) {
            (Some(next), _) => least = Some(least.map_or(next - from, |least| least.min(next - from))),
            (None, before) => last = Some(before.map_or(0, |before| from - before)),
        }
    });
    least.map(Room::To).or(last.map(Room::Last))
}

/// Whether it is known how far a copy reaches.
fn is_reached(touched: &Footprint) -> bool {
    touched.parts.first().is_some_and(|(from, to)| to - from > 1)
}

/// What a copy of so many bytes writes that begins in one place.
fn reaching(mut touched: Footprint, bytes: i64) -> Option<Footprint> {
    match &mut touched.parts[..] {
        [(from, to)] if *to - *from == 1 => *to = from.checked_add(bytes.max(1))?,
        _ => return None,
    }
    Some(touched)
}

/// A copy, with the locations that it writes among `to`; whether it has as many bytes as these are.
pub(super) fn pieces(copy: Statement, to: Statements) -> (Statements, bool) {
    let Statement::Copy { object, bytes: Some(bytes), mask, span, .. } = copy else {
        return (vec![copy], true);
    };
    let one = |bytes: i64, to: Statements| Statement::Copy {
        object: object.clone(),
        bytes: Some(bytes),
        mask: mask.clone(),
        to,
        span,
    };
    let mut is_enough = true;
    let mut all = |locations: Statements| -> Statements {
        let count = locations.len() as i64;
        if count == 0 || count > bytes {
            is_enough &= count == 0;
            return vec![one(bytes, Vec::new())];
        }
        let each = bytes / count;
        let numbered = locations.into_iter().zip(1..);
        let of = |number: i64| if number == count { bytes - each * (count - 1) } else { each };
        numbered.map(|(location, number)| one(of(number), vec![location])).collect()
    };
    let (mut plain, mut arms, mut asserted) = (Vec::new(), Vec::new(), None);
    for statement in to {
        match statement {
            Statement::Access(access) if access.text.starts_with(ASSERT) => asserted = Some(access),
            Statement::If { condition, then, span, .. } => arms.push((condition, then, span)),
            other => plain.push(other),
        }
    }
    if arms.is_empty() {
        return (all(plain), is_enough);
    }
    let mut statements = all(Vec::new());
    for (condition, then, span) in arms.into_iter().rev() {
        statements = vec![Statement::If { condition, then: all(then), otherwise: statements, span }];
    }
    // Before the copy: a phase that lacks its bytes is not to be met first.
    if let Some(asserted) = asserted {
        statements.insert(0, Statement::Barrier { text: asserted.text, span });
    }
    (statements, is_enough)
}
