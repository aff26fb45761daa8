//! Values that can be computed, as expressions of protocols.
//!
//! Protocols compute with signed integers of 64 bits. A value of at most one bit is written as 0 or 1, one of
//! at most 32 bits as the signed number of these bits, others as signed numbers of 64 bits.

use std::collections::BTreeMap;

use super::arithmetic::{cut, signed};
use super::code::{Comparison, Operation, Register, Type};
use super::lanes::Lanes;
use super::value::{Term, ValueId, Values};

/// Names of what has to be known to write a value.
pub(super) trait Names {
    /// The variable for what a register holds where paths meet, and its width.
    fn meet(&mut self, block: usize, register: Register) -> Option<(String, u8)>;
    /// The variable that holds a decision, if the term is one that is made once.
    fn decision(&mut self, values: &Values, value: ValueId) -> Option<String>;
    /// The variable for the iterations of a loop, which is known by its header.
    fn iterations(&mut self, header: usize) -> Option<String>;
    /// The variable for an unknown number, if what is written may be computed of such.
    fn number(&mut self, values: &Values, value: ValueId) -> Option<String>;
    /// The variable for an unknown number that is part of a sum, and the other terms.
    fn number_in(&mut self, values: &Values, sum: (u8, &[(ValueId, Lanes)])) -> Option<InSum>;
    /// From which number on what a register holds where paths meet counts up, if that is not negative.
    fn counts_up(&self, block: usize, register: Register) -> Option<u64>;
    /// Something is written that differs between lanes.
    fn by_lane(&mut self);
}

/// The variable for a part of a sum, and the other terms with their factors.
pub(super) type InSum = (String, Vec<(ValueId, Lanes)>);

/// A value in words, with its width.
#[derive(Clone, Debug)]
struct Written {
    text: String,
    bits: u8,
}

pub(super) struct Writer<'v, N> {
    pub(super) values: &'v Values,
    pub(super) live: usize,
    pub(super) names: N,
    /// Values written so far, for terms that stand in several places.
    known: BTreeMap<ValueId, Option<Written>>,
    /// Terms written so far: an expression is for people.
    size: usize,
}

/// The most terms of an expression.
const SIZE: usize = 200;

impl<'v, N: Names> Writer<'v, N> {
    pub(super) fn new(values: &'v Values, live: usize, names: N) -> Self {
        Self { values, live, names, known: BTreeMap::new(), size: 0 }
    }

    /// The value as an expression.
    pub(super) fn write(&mut self, value: ValueId) -> Option<String> {
        self.value(value).map(|written| unwrapped(&written.text).to_owned())
    }

    /// The value as an expression of this width.
    pub(super) fn write_as(&mut self, value: ValueId, bits: u8) -> Option<String> {
        let text = if bits == 1 { self.value(value)?.text } else { self.as_signed(value, bits)? };
        Some(unwrapped(&text).to_owned())
    }

    fn value(&mut self, value: ValueId) -> Option<Written> {
        self.size += 1;
        if self.size > SIZE {
            return None;
        }
        if let Some(known) = self.known.get(&value) {
            return known.clone();
        }
        let written = self.fresh(value);
        self.known.insert(value, written.clone());
        written
    }

    fn fresh(&mut self, value: ValueId) -> Option<Written> {
        if let Some(text) = self.names.number(self.values, value) {
            return Some(Written { text, bits: class(self.values.width(value)) });
        }
        if let Some(name) = self.names.decision(self.values, value) {
            return Some(Written { text: name, bits: 1 });
        }
        match self.values.term(value).clone() {
            Term::Known(lanes) => {
                let bits = class(self.values.width(value));
                if lanes.all().is_none() {
                    self.names.by_lane();
                }
                Some(Written { text: self.lanes(&lanes, bits)?, bits })
            }
            Term::Meet { block, register } => {
                let (text, bits) = self.names.meet(block, register)?;
                Some(Written { text, bits })
            }
            Term::Gained { header, step } => {
                // Of 32 bits or 64, a number between says whether it is negative or not.
                let step = self.values.as_known(step)?.all().filter(|step| *step < 1 << 31)?;
                let name = self.names.iterations(header)?;
                let text = if step == 1 { name } else { format!("({name} * {step})") };
                Some(Written { text, bits: 64 })
            }
            Term::Sum { bits, terms, known } => self.sum(bits, &terms, &known),
            Term::Apply { operation, ty, terms } => self.operation(operation, ty, &terms),
            _ => None,
        }
    }

    /// The terms of a sum, which may be wider than it.
    fn sum_of(&mut self, bits: u8, terms: &[(ValueId, Lanes)], known: &Lanes) -> Option<String> {
        let mut text = String::new();
        let mut terms = terms.to_vec();
        while let Some((number, rest)) = self.names.number_in(self.values, (bits, &terms)) {
            text = if text.is_empty() { number } else { format!("{text} + {number}") };
            terms = rest;
        }
        for (term, factor) in &terms {
            let of = self.as_signed(*term, bits)?;
            if factor.all().is_none() {
                self.names.by_lane();
            }
            let part = match factor.all().map(|factor| signed(factor, bits)) {
                Some(1) => of,
                Some(-1) if text.is_empty() => format!("-{of}"),
                Some(factor) => format!("{of} * {factor}"),
                None => format!("{of} * {}", self.lanes(factor, bits)?),
            };
            text = if text.is_empty() { part } else { format!("{text} + {part}") };
        }
        if known.all().is_none() {
            self.names.by_lane();
        }
        match known.all().map(|known| signed(known, bits)) {
            Some(0) if !text.is_empty() => {}
            Some(known) if known < 0 => text = format!("{text} - {}", known.unsigned_abs()),
            _ => text = format!("{text} + {}", self.lanes(known, bits)?),
        }
        Some(text)
    }

    fn sum(&mut self, bits: u8, terms: &[(ValueId, Lanes)], known: &Lanes) -> Option<Written> {
        let text = self.sum_of(bits, terms, known)?;
        let is_counter = |term: ValueId| {
            matches!(self.values.term(term), Term::Meet { .. }) || self.values.width(term) <= 24
        };
        let small = terms.len() == 1
            && terms[0].1 == Lanes::All(1)
            && is_small(known, bits)
            && is_counter(terms[0].0);
        let text = if bits > 32 || small {
            format!("({text})")
        } else {
            format!("(({text} + 0x80000000 & 0xffffffff) - 0x80000000)")
        };
        Some(Written { text, bits: class(bits) })
    }

    /// An operand as a signed number of this width.
    fn as_signed(&mut self, value: ValueId, bits: u8) -> Option<String> {
        if let Some(number) = self.values.as_known(value).and_then(Lanes::all) {
            return Some(signed(cut(number, bits), bits).to_string());
        }
        let written = self.value(value)?;
        match (written.bits, bits) {
            (1, _) | (32, 32) | (64, 64) => Some(written.text),
            (32, 64) => Some(format!("({} & 0xffffffff)", written.text)),
            (64, 32) => Some(format!("(({} + 0x80000000 & 0xffffffff) - 0x80000000)", written.text)),
            _ => None,
        }
    }

    /// Whether an operation with this operand keeps the lowest bits of the other alone.
    fn masks(&self, operation: Operation, by: ValueId) -> bool {
        let number = self.values.as_known(by).and_then(Lanes::all);
        operation == Operation::And && number.is_some_and(|number| number < 1 << 31)
    }

    /// A number whose lowest 32 bits are those of an operand; what is above them does not matter.
    fn lowest_bits(&mut self, value: ValueId) -> Option<String> {
        if let Term::Sum { terms, known, .. } = self.values.term(value).clone()
            && known.all().is_some()
            && terms
                .iter()
                .all(|(_, factor)| factor.all().is_some_and(|f| signed(f, 32).unsigned_abs() < 1 << 16))
        {
            let wraps = self.sum_of(32, &terms, &known)?;
            return Some(format!("({wraps})"));
        }
        self.value(value).map(|written| written.text)
    }

    /// An operand as an unsigned number of this width, 32 bits at most.
    fn as_unsigned(&mut self, value: ValueId, bits: u8) -> Option<String> {
        if let Some(number) = self.values.as_known(value).and_then(Lanes::all) {
            return Some(cut(number, bits).to_string());
        }
        let written = self.value(value)?;
        match (written.bits, bits) {
            (1, _) => Some(written.text),
            (32, 32) if self.is_counter(value) => Some(written.text),
            // Numbers of fewer bits have no sign.
            (32, 2..32) if self.values.width(value) <= bits => Some(written.text),
            (_, bits) if bits <= 32 => Some(format!("({} & {:#x})", written.text, cut(u64::MAX, bits))),
            _ => None,
        }
    }

    /// Whether a number of 32 bits or 64 counts up from one that is not negative, which takes a long time to
    /// overflow, or is as much less as it began with: it has no sign then.
    fn is_counter(&self, value: ValueId) -> bool {
        let (of, more) = match self.values.term(value) {
            Term::Sum { bits, terms, known } => match terms.as_slice() {
                [(of, Lanes::All(1))] if is_small(known, *bits) => {
                    (*of, known.all().map(|n| signed(n, *bits)))
                }
                _ => return false,
            },
            _ => (value, Some(0)),
        };
        let Term::Meet { block, register } = *self.values.term(of) else { return false };
        let least = || i64::try_from(self.names.counts_up(block, register)?).ok();
        more.is_some_and(|more| least().is_some_and(|least| more >= -least))
    }

    fn operand(&mut self, value: ValueId, ty: Type) -> Option<String> {
        match (ty.bits, ty.signed) {
            (32 | 64, true) => self.as_signed(value, ty.bits),
            (bits @ 2..32, true) => {
                let sign = 1_u64 << (bits - 1);
                Some(format!("(({} ^ {sign:#x}) - {sign:#x})", self.as_unsigned(value, bits)?))
            }
            (_, true) => None,
            (64, false) => {
                // Numbers of fewer bits have no sign there.
                if self.values.width(value) <= 32 {
                    self.as_unsigned(value, 32)
                } else if self.is_counter(value) {
                    self.as_signed(value, 64)
                } else {
                    None
                }
            }
            (bits, false) => self.as_unsigned(value, bits),
        }
    }

    fn operation(&mut self, operation: Operation, ty: Type, terms: &[ValueId]) -> Option<Written> {
        let bits = class(super::arithmetic::width(operation, ty));
        let text = match (operation, terms) {
            (Operation::Compare(comparison), [a, b]) => self.comparison(comparison, ty, *a, *b)?,
            (Operation::LogicalNot, [a]) => {
                let of = self.value(*a)?.text;
                format!("!{of}")
            }
            (Operation::And | Operation::Or | Operation::Xor, [a, b]) => {
                let sign = match operation {
                    Operation::And => "&",
                    Operation::Or => "|",
                    _ => "^",
                };
                let width = if ty.bits == 64 { 64 } else { 32 };
                let (low_a, low_b) = (self.masks(operation, *b), self.masks(operation, *a));
                let a = if low_a { self.lowest_bits(*a) } else { self.as_signed(*a, width) }?;
                let b = if low_b { self.lowest_bits(*b) } else { self.as_signed(*b, width) }?;
                format!("({a} {sign} {b})")
            }
            (Operation::Add | Operation::Subtract | Operation::Multiply, [a, b])
                if (2..32).contains(&ty.bits) =>
            {
                self.narrow_sum(operation, ty.bits, *a, *b)?
            }
            (Operation::Multiply | Operation::MultiplyWide, [a, b]) => self.product(operation, ty, *a, *b)?,
            (Operation::Not, [a]) if (2..32).contains(&ty.bits) => {
                format!("({} ^ {:#x})", self.as_unsigned(*a, ty.bits)?, cut(u64::MAX, ty.bits))
            }
            (Operation::Not, [a]) if ty.bits >= 32 => format!("({} ^ -1)", self.as_signed(*a, ty.bits)?),
            (Operation::Select, [a, b, condition]) => return self.selected(*a, *b, *condition),
            (Operation::ShiftRight, [a, by]) if self.values.as_known(*by).is_none() => {
                self.shifted_right(*a, *by, ty)?
            }
            (Operation::ShiftRight, [a, by]) => {
                let by = self.values.as_known(*by)?.all().filter(|by| *by < u64::from(ty.bits.min(63)))?;
                Self::narrow(format!("({} >> {by})", self.operand(*a, ty)?), ty)
            }
            (Operation::ShiftLeft, [a, by]) if (2..=32).contains(&ty.bits) => {
                self.shifted_left(*a, *by, ty.bits)?
            }
            (Operation::Divide | Operation::Remainder, [a, by]) => self.quotient(operation, ty, *a, *by)?,
            (Operation::Minimum | Operation::Maximum, [a, b]) if ty.bits >= 32 => {
                let (a, b) = (self.operand(*a, ty)?, self.operand(*b, ty)?);
                let sign = if operation == Operation::Minimum { "<" } else { ">" };
                format!("(({a} {sign} {b}) * {a} + !({a} {sign} {b}) * {b})")
            }
            (Operation::Convert(from), [a]) if from.bits >= 32 && ty.bits >= 32 => {
                let of = if from.signed { self.as_signed(*a, from.bits) } else { self.operand(*a, from) };
                let of = of?;
                if bits == 32 { format!("(({of} + 0x80000000 & 0xffffffff) - 0x80000000)") } else { of }
            }
            (Operation::Convert(from), [a]) if from.bits <= 32 && (from.bits < 32 || ty.bits < 32) => {
                let of = self.operand(*a, from)?;
                if ty.bits < 32 { format!("({of} & {:#x})", cut(u64::MAX, ty.bits)) } else { of }
            }
            (Operation::ExtractBits, [a, from, count]) if !ty.signed => {
                let from = self.values.as_known(*from)?.all()?;
                let count = self.values.as_known(*count)?.all()?;
                let fits = ty.bits == 32 && from + count <= 32 && count < 32;
                let of = fits.then(|| self.as_unsigned(*a, 32)).flatten()?;
                format!("({of} >> {from} & {:#x})", cut(u64::MAX, count as u8))
            }
            _ => return None,
        };
        Some(Written { text, bits })
    }

    /// A number of 32 bits or fewer, shifted to the left.
    fn shifted_left(&mut self, a: ValueId, by: ValueId, bits: u8) -> Option<String> {
        let is_bounded = self.fits(by, 32);
        let (of, by) = (self.as_unsigned(a, bits)?, self.shift(by)?);
        let shifted = match is_bounded {
            true => format!("({of} << {by})"),
            false => format!("({of} << ({by} & 31)) * ({by} < 32)"),
        };
        Some(match bits {
            32 => format!("(({shifted} + 0x80000000 & 0xffffffff) - 0x80000000)"),
            _ => format!("({shifted} & {:#x})", cut(u64::MAX, bits)),
        })
    }

    /// A number shifted to the right by an unknown number of bits: more than it has leave nothing of one
    /// without a sign.
    fn shifted_right(&mut self, a: ValueId, by: ValueId, ty: Type) -> Option<String> {
        let is_bounded = self.fits(by, u64::from(ty.bits.min(63)));
        let (of, by) = (self.operand(a, ty)?, self.shift(by)?);
        match is_bounded {
            true => Some(Self::narrow(format!("({of} >> {by})"), ty)),
            false if ty.signed => None,
            false => Some(format!("(({of} >> ({by} & 63)) * ({by} < 64))")),
        }
    }

    /// By how many bits something is shifted, as a number without a sign.
    fn shift(&mut self, by: ValueId) -> Option<String> {
        self.as_unsigned(by, 32)
    }

    /// Whether a number is certainly less than another.
    fn fits(&self, value: ValueId, less_than: u64) -> bool {
        let known = |value: ValueId| self.values.as_known(value).and_then(Lanes::all);
        match self.values.term(value) {
            Term::Known(_) => known(value).is_some_and(|value| value < less_than),
            Term::Apply { operation: Operation::Remainder, ty, terms } if !ty.signed => {
                known(terms[1]).is_some_and(|by| (1..=less_than).contains(&by))
            }
            Term::Apply { operation: Operation::And, terms, .. } => {
                terms.iter().any(|term| known(*term).is_some_and(|mask| mask < less_than))
            }
            _ => false,
        }
    }

    fn selected(&mut self, a: ValueId, b: ValueId, condition: ValueId) -> Option<Written> {
        let width = if self.values.width(a).max(self.values.width(b)) > 32 { 64 } else { 32 };
        let (a, b) = (self.as_signed(a, width)?, self.as_signed(b, width)?);
        let condition = self.value(condition)?.text;
        let text = match (a.as_str(), b.as_str()) {
            ("1", "0") => format!("({condition} != 0)"),
            ("0", "1") => format!("!{condition}"),
            (a, "0") => format!("(({condition} != 0) * {a})"),
            ("0", b) => format!("(({condition} == 0) * {b})"),
            (a, b) => format!("(({condition} != 0) * {a} + ({condition} == 0) * {b})"),
        };
        Some(Written { text, bits: width })
    }

    /// A sum, a difference or a product of numbers of fewer than 32 bits.
    fn narrow_sum(&mut self, operation: Operation, bits: u8, a: ValueId, b: ValueId) -> Option<String> {
        let sign = match operation {
            Operation::Add => "+",
            Operation::Subtract => "-",
            _ => "*",
        };
        let (a, b) = (self.value(a)?.text, self.value(b)?.text);
        Some(format!("({a} {sign} {b} & {:#x})", cut(u64::MAX, bits)))
    }

    /// What is divided by a known number, or what that leaves.
    fn quotient(&mut self, operation: Operation, ty: Type, a: ValueId, by: ValueId) -> Option<String> {
        let by = self.values.as_known(by)?.all().filter(|by| (1..1 << 31).contains(by))?;
        let sign = if operation == Operation::Divide { "/" } else { "%" };
        Some(Self::narrow(format!("({} {sign} {by})", self.operand(a, ty)?), ty))
    }

    /// A product of numbers of 32 bits, which has 64 bits at most.
    fn product(&mut self, operation: Operation, ty: Type, a: ValueId, b: ValueId) -> Option<String> {
        let is_wide = operation == Operation::MultiplyWide;
        // Of 32 bits the lowest half is the same with signs and without them.
        let ty = Type { signed: ty.signed || !is_wide, ..ty };
        let fits = match ty.bits {
            32 => ty.signed || self.values.width(a).min(self.values.width(b)) < 32,
            _ => self.values.width(a) + self.values.width(b) < 64,
        };
        if !fits || ty.bits < 32 || (is_wide && ty.bits > 32) {
            return None;
        }
        let (a, b) = (self.operand(a, ty)?, self.operand(b, ty)?);
        Some(match (ty.bits, is_wide) {
            (32, false) => format!("(({a} * {b} + 0x80000000 & 0xffffffff) - 0x80000000)"),
            _ => format!("({a} * {b})"),
        })
    }

    /// What may be negative, as a number of fewer than 32 bits, which has no sign.
    fn narrow(text: String, ty: Type) -> String {
        if ty.signed && ty.bits < 32 { format!("({text} & {:#x})", cut(u64::MAX, ty.bits)) } else { text }
    }

    fn comparison(&mut self, comparison: Comparison, ty: Type, a: ValueId, b: ValueId) -> Option<String> {
        let any = matches!(comparison, Comparison::Equal | Comparison::NotEqual);
        // Whether bits are equal does not depend on their sign.
        let ty = if any { Type { signed: ty.bits >= 32, ..ty } } else { ty };
        let (left, right) = (self.operand(a, ty)?, self.operand(b, ty)?);
        Some(format!("({left} {} {right})", comparison.text()))
    }

    /// Numbers that are known for each lane.
    fn lanes(&self, lanes: &Lanes, bits: u8) -> Option<String> {
        let number =
            |lane: usize| if bits == 1 { lanes.get(lane) as i64 } else { signed(lanes.get(lane), bits) };
        if lanes.all().is_some() {
            return Some(number(0).to_string());
        }
        super::of_lanes::text(self.live, number)
    }
}

/// How wide a value is written: 1, 32 or 64.
pub(super) fn class(bits: u8) -> u8 {
    match bits {
        0 | 1 => 1,
        2..=32 => 32,
        _ => 64,
    }
}

/// Whether adding this takes a long time to overflow.
pub(super) fn is_small(known: &Lanes, bits: u8) -> bool {
    known.all().is_some_and(|known| signed(known, bits).unsigned_abs() < 1 << 16)
}

/// Text without the parentheses around all of it.
pub(super) fn unwrapped(text: &str) -> &str {
    let Some(inner) = text.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) else { return text };
    let mut depth = 0_i32;
    let whole = inner.bytes().all(|byte| {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        depth >= 0
    });
    if whole { inner } else { text }
}
