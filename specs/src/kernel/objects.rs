//! mbarrier objects: which there are, by the addresses that are initialised, and which one an address means.
//!
//! An address is a base, the same for the whole group, a known number, and perhaps something computed:
//! `base + 8 * stage + 64`. Objects side by side are an array.
//!
//! # Pairs of groups
//!
//! Two groups of a cluster whose ranks differ in the lowest bit alone are a pair. Compiled code reaches the
//! object of the even one by clearing a bit of an address in its own memory: [`OF_PAIR`], which is the
//! lowest of the rank there. No specification says so, though libraries rest on it: it is assumed, and said.
//! With it goes an alignment to the bytes of an object at times. That changes nothing, since what is aligned
//! is the address of an object: others are not found. A compiler clears further bits with it that it knows to
//! be clear: the object that is counted from has none of them.

use std::collections::{BTreeMap, BTreeSet};

use super::alignment::zeros;
use super::arithmetic::signed;
use super::code::{Action, Code, ObjectKind, Operation};
use super::evaluate::{Evaluation, Object};
use super::lanes::{Lanes, WIDTH};
use super::slice::Slice;
use super::structure::{Help, Stop};
use super::terms::{differs, is_invariant};
use super::value::{Term, ValueId, Values};
use super::warp::Warp;
use crate::common::span::Span;

/// The bytes of an object.
const BYTES: i64 = 8;

/// Objects side by side.
#[derive(Clone, Debug)]
struct Array {
    name: String,
    start: i64,
    count: i64,
}

/// The bit of an address in the memory of a group that is the lowest of the group's rank.
const OF_PAIR: u64 = 1 << 24;

/// Bits below this are clear where shared memory begins, wherever a compiler makes use of that.
const CLEAR: u64 = 1024;

/// Where objects are initialised, in bytes from what their addresses are counted from, and by what.
type Places = BTreeMap<i64, Span>;

/// What an address is counted from.
type Base = Vec<(ValueId, Lanes)>;

/// An address, taken apart.
#[derive(Clone, Debug)]
struct Address {
    bits: u8,
    base: Base,
    computed: Base,
    known: i64,
    /// The rank of the group in whose memory it is, where that need not be one's own.
    rank: Option<ValueId>,
    /// It is in the memory of the even one of the pair of groups.
    is_even: bool,
    /// Bits that are cleared with that.
    cleared: u64,
}

/// All objects of a kernel.
#[derive(Debug, Default)]
pub(super) struct Objects {
    arrays: BTreeMap<Base, Vec<Array>>,
    /// What addresses in the memory of another group have more, by its rank: the name of the function.
    elsewhere: Option<u32>,
    /// Steps on objects of the even one of a pair of groups, which is told by a bit of their address.
    pub(super) of_pairs: BTreeSet<Span>,
}

/// Where objects begin that lie side by side.
///
/// # Errors
///
/// Some lie across one another, or not at a multiple of their bytes as the others do: PTX ISA, 9.7.13.15.1,
/// Size and alignment of mbarrier object.
fn apart(places: Places) -> Result<BTreeSet<i64>, Stop> {
    let mut pairs = places.keys().zip(places.iter().skip(1));
    if let Some((start, (other, span))) = pairs.find(|(start, (other, _))| (*other - *start) % BYTES != 0) {
        let what = format!(
            "this mbarrier object begins {} bytes behind another one, and objects are 8 bytes at a multiple of 8",
            other - start
        );
        return Err(Stop { what, span: *span, help: None });
    }
    Ok(places.into_keys().collect())
}

impl Objects {
    /// Collects the objects that any warp initialises.
    pub(super) fn of(
        code: &Code,
        slice: &Slice,
        values: &Values,
        warps: &[Evaluation],
    ) -> Result<Self, Stop> {
        let mut objects = Self { elsewhere: code.elsewhere, ..Self::default() };
        let places = objects.places(code, slice, values, warps)?;
        let mut starts: BTreeMap<Base, BTreeSet<i64>> = BTreeMap::new();
        let mut strided: BTreeSet<Base> = BTreeSet::new();
        for warp in warps {
            for (at, kind, value, lanes) in steps(code, slice, warp) {
                if kind == ObjectKind::Init || objects.lane_by_lane(values, value, lanes).is_some() {
                    continue;
                }
                let span = code.instructions[at].span;
                let address = objects.taken_apart(values, value).ok_or_else(|| unknown(span))?;
                let address = counted_from(address, &places);
                objects.of_pairs.extend(address.is_even.then_some(span));
                if !address.computed.is_empty() {
                    let factors = address.computed.iter().map(|(_, factor)| factor.all());
                    let is_ring = factors.into_iter().any(|factor| factor == Some(BYTES as u64));
                    // Where something is taken away again, nothing need begin at what is known.
                    if !is_ring || is_taken_from(&address) {
                        strided.insert(address.base.clone());
                    }
                    starts.entry(address.base).or_default().insert(address.known);
                }
            }
        }
        let mut taken = BTreeSet::new();
        for (base, offsets) in places {
            let offsets = apart(offsets)?;
            let splits = starts.get(&base).filter(|_| !strided.contains(&base));
            let mut arrays: Vec<Array> = Vec::new();
            for start in offsets {
                match arrays.last_mut() {
                    Some(last)
                        if last.start + last.count * BYTES == start
                            && !splits.is_some_and(|splits| splits.contains(&start)) =>
                    {
                        last.count += 1;
                    }
                    _ => arrays.push(Array { name: String::new(), start, count: 1 }),
                }
            }
            let symbol = symbol(code, values, &base);
            let is_alone = arrays.len() == 1;
            for array in &mut arrays {
                array.name = name(&symbol, (!is_alone).then_some(array.start), &mut taken);
            }
            objects.arrays.insert(base, arrays);
        }
        Ok(objects)
    }

    /// Where objects are initialised, by what their addresses are counted from.
    fn places(
        &self,
        code: &Code,
        slice: &Slice,
        values: &Values,
        warps: &[Evaluation],
    ) -> Result<BTreeMap<Base, Places>, Stop> {
        let mut places: BTreeMap<Base, Places> = BTreeMap::new();
        let all = warps.iter().flat_map(|warp| steps(code, slice, warp));
        for (at, _, value, lanes) in all.filter(|(_, kind, ..)| *kind == ObjectKind::Init) {
            let span = code.instructions[at].span;
            if let Some(each) = self.lane_by_lane(values, value, lanes) {
                for (_, address) in each {
                    places.entry(address.base).or_default().insert(address.known, span);
                }
                continue;
            }
            let address = self.taken_apart(values, value);
            let address = address.filter(|address| address.computed.is_empty() && !address.is_even);
            let address = address.ok_or_else(|| unknown(span))?;
            places.entry(address.base).or_default().insert(address.known, span);
        }
        Ok(places)
    }

    /// The declarations, in the order of addresses.
    pub(super) fn declarations(&self) -> Vec<String> {
        let arrays = self.arrays.values().flatten();
        arrays
            .map(|array| match array.count {
                1 => format!("mbarrier {};", array.name),
                count => format!("mbarrier {}[{count}];", array.name),
            })
            .collect()
    }

    /// Finds out which objects the instructions of a warp are about.
    pub(super) fn resolve(
        &self,
        code: &Code,
        slice: &Slice,
        values: &mut Values,
        (warp, launched): (&mut Evaluation, Warp),
    ) -> Result<(), Stop> {
        let is_own = |values: &Values, rank: ValueId| {
            values.as_known(rank).and_then(Lanes::all) == Some(u64::from(launched.rank))
        };
        for (at, _, value, lanes) in steps(code, slice, warp) {
            let span = code.instructions[at].span;
            if let Some(each) = self.lane_by_lane(values, value, lanes) {
                let mut found: Vec<(u32, String, Option<i64>)> = Vec::new();
                let rank = each.first().and_then(|(_, address)| address.rank);
                let rank = rank.filter(|rank| !is_own(values, *rank));
                for (lane, address) in each {
                    let (array, number) = self.array(&address, span)?;
                    let number = (array.count > 1).then_some(number);
                    match found.iter_mut().find(|(_, name, of)| (name, *of) == (&array.name, number)) {
                        Some((lanes, ..)) => *lanes |= 1 << lane,
                        None => found.push((1 << lane, array.name.clone(), number)),
                    }
                }
                let object = Object { name: String::new(), index: None, each: found, rank };
                warp.objects.insert(at, object);
                continue;
            }
            let mut address = self.taken_apart(values, value).ok_or_else(|| unknown(span))?;
            address = counted_from(address, &self.arrays);
            if address.is_even {
                address.rank = Some(values.number(u64::from(launched.rank & !1)));
            }
            let rank = address.rank.filter(|rank| !is_own(values, *rank));
            let number = rank.and_then(|rank| values.as_known(rank).and_then(Lanes::all));
            let groups = u64::from(Warp::threads(launched.cluster));
            if let Some(number) = number.filter(|number| *number >= groups) {
                let what = format!("this is about CTA {number} of the cluster, which has {groups} of them");
                return Err(Stop { what, span, help: Some(Help::Words("say how many it has by --cluster")) });
            }
            let (array, number) = self.array(&address, span)?;
            if address.known as u64 & address.cleared != 0 {
                return Err(unknown(span));
            }
            let is_whole = |(term, factor): &(ValueId, Lanes)| {
                let of_factor = factor.all().map_or(0, u64::trailing_zeros);
                of_factor >= BYTES.trailing_zeros()
                    || of_factor + zeros(values, &warp.meets, *term) >= BYTES.trailing_zeros()
            };
            if !address.computed.iter().all(is_whole) {
                let what = "this need not be the address of an mbarrier object, which is a multiple of 8";
                return Err(Stop { what: what.to_owned(), span, help: None });
            }
            let index = if address.computed.is_empty() {
                let zero = values.number(0);
                (array.count > 1).then_some((zero, 1, number))
            } else if array.count == 1 {
                let what = "which mbarrier object this instruction is about is not known: its address is computed, and \
                            only one object is initialised there";
                return Err(Stop { what: what.to_owned(), span, help: None });
            } else {
                Some(computed(values, &address, number).ok_or_else(|| unknown(span))?)
            };
            warp.objects.insert(at, Object { name: array.name.clone(), index, each: Vec::new(), rank });
        }
        Ok(())
    }

    /// The array in which the object at an address is, and its number there.
    fn array(&self, address: &Address, span: Span) -> Result<(&Array, i64), Stop> {
        let Some(arrays) = self.arrays.get(&address.base) else {
            let what = "the mbarrier object of this instruction is not initialised in this kernel".to_owned();
            return Err(Stop { what, span, help: None });
        };
        let holds = |array: &&Array| {
            (array.start..array.start + array.count * BYTES).contains(&address.known)
                && (address.known - array.start) % BYTES == 0
        };
        // Where something is taken away again, the known part of an address may be behind all objects.
        let only = match arrays.as_slice() {
            [only] if is_taken_from(address) => Some(only),
            _ => None,
        };
        let only = only.filter(|only| (address.known - only.start) % BYTES == 0);
        let array = arrays.iter().find(holds).or(only).ok_or_else(|| unknown(span))?;
        Ok((array, (address.known - array.start) / BYTES))
    }

    /// The address of each lane, where they differ by known numbers.
    fn lane_by_lane(&self, values: &Values, value: ValueId, lanes: u32) -> Option<Vec<(u32, Address)>> {
        let Term::Sum { bits, terms, known: known @ Lanes::Each(_) } = values.term(value) else {
            return None;
        };
        let mut base = terms.clone();
        let rank = self.rank(values, &mut base);
        if base.iter().any(|(term, factor)| {
            factor.all().is_none() || differs(values, *term) || !is_invariant(values, *term)
        }) {
            return None;
        }
        let mut of_base = *bits;
        base.iter_mut().for_each(|(term, _)| *term = whole_symbol(values, *term, &mut of_base));
        base.sort();
        let of = |lane: u32| {
            let known = signed(known.get(lane as usize), *bits);
            let (base, computed) = (base.clone(), Vec::new());
            (lane, Address { bits: *bits, base, computed, known, rank, is_even: false, cleared: 0 })
        };
        Some((0..WIDTH as u32).filter(|lane| lanes >> lane & 1 == 1).map(of).collect())
    }

    /// Takes an address apart; `None` if it is not the same for the lanes of a warp.
    fn taken_apart(&self, values: &Values, value: ValueId) -> Option<Address> {
        let (base, computed) = (Vec::new(), Vec::new());
        let mut address =
            Address { bits: 64, base, computed, known: 0, rank: None, is_even: false, cleared: 0 };
        let parts = match values.term(value) {
            Term::Known(lanes) => {
                address.known = lanes.all()? as i64;
                Vec::new()
            }
            Term::Sum { bits, terms, known } => {
                address.bits = *bits;
                address.known = signed(known.all()?, *bits);
                terms.clone()
            }
            _ => vec![(value, Lanes::All(1))],
        };
        let mut parts = parts;
        address.rank = self.rank(values, &mut parts);
        while let Some((term, factor)) = parts.pop() {
            factor.all()?;
            let term = whole_symbol(values, term, &mut address.bits);
            // What is masked is an address only if it is counted from where addresses are.
            let masked = masked(values, term).filter(|_| factor == Lanes::All(1));
            let whole = masked.and_then(|masked| Some((self.taken_apart(values, masked.of)?, masked)));
            if let Some((whole, masked)) = whole {
                address.is_even |= masked.is_even || whole.is_even;
                address.cleared |= masked.cleared | whole.cleared;
                address.rank = address.rank.or(whole.rank);
                address.known += whole.known;
                address.base.extend(whole.base);
                address.computed.extend(whole.computed);
                address.bits = whole.bits;
                continue;
            }
            // A narrower sum to which an offset is added.
            if let (Term::Sum { bits, terms, known }, Lanes::All(1)) = (values.term(term), &factor) {
                address.bits = *bits;
                address.known += signed(known.all()?, *bits);
                parts.extend(terms.iter().cloned());
                address.rank = address.rank.or(self.rank(values, &mut parts));
                continue;
            }
            if differs(values, term) {
                return None;
            }
            if is_invariant(values, term) {
                address.base.push((term, factor));
            } else {
                address.computed.push((term, factor));
            }
        }
        if address.bits == 64
            && !address.base.is_empty()
            && address.base.iter().all(|(term, _)| values.width(*term) <= 32)
        {
            address.bits = 32;
        }
        address.base.sort();
        let is_clear = !address.is_even || address.rank.is_none();
        (is_clear && !address.base.is_empty()).then_some(address)
    }

    /// The rank of the group in whose memory an address is, taken out of the parts of the address.
    fn rank(&self, values: &Values, parts: &mut Base) -> Option<ValueId> {
        let of = |(term, factor): &(ValueId, Lanes)| match values.term(*term) {
            Term::Pure { name, terms } if Some(*name) == self.elsewhere && *factor == Lanes::All(1) => {
                terms.first().copied()
            }
            _ => None,
        };
        let at = parts.iter().position(|part| of(part).is_some())?;
        of(&parts.remove(at))
    }
}

/// An address with what does not change, but is not what objects are counted from, as a part that is
/// computed: `base + 8 * (n & 1)` for a parameter n.
fn counted_from<T>(mut address: Address, bases: &BTreeMap<Base, T>) -> Address {
    let holds = |base: &&Base| !base.is_empty() && base.iter().all(|part| address.base.contains(part));
    let mut inside = bases.keys().filter(holds);
    if bases.contains_key(&address.base) {
        return address;
    }
    // One of several is not chosen.
    if let (Some(base), None) = (inside.next().cloned(), inside.next()) {
        let (base, computed): (Base, Base) = address.base.into_iter().partition(|part| base.contains(part));
        address.base = base;
        address.computed.extend(computed);
    }
    address
}

/// What is left of an address.
pub(super) struct Masked {
    pub(super) of: ValueId,
    /// The bit of a pair is cleared.
    pub(super) is_even: bool,
    /// Bits that are cleared with it, but for those that no address of an object has.
    pub(super) cleared: u64,
}

/// A symbol whose address was cut to 32 bits, as addresses in a window are; other terms as they are.
pub(super) fn whole_symbol(values: &Values, value: ValueId, bits: &mut u8) -> ValueId {
    match values.term(value) {
        Term::Apply { operation: Operation::Convert(_), ty, terms }
            if ty.bits == 32 && matches!(values.term(terms[0]), Term::Same(_)) =>
        {
            *bits = 32;
            terms[0]
        }
        _ => value,
    }
}

/// What is aligned to the bytes of an object, or has the bit of a pair cleared.
pub(super) fn masked(values: &Values, value: ValueId) -> Option<Masked> {
    let Term::Apply { operation: Operation::And, ty, terms } = values.term(value) else { return None };
    let [a, b] = terms[..] else { return None };
    let number = |value| values.as_known(value).and_then(Lanes::all);
    let (of, mask) = number(b).map(|mask| (a, mask)).or_else(|| number(a).map(|mask| (b, mask)))?;
    let is_even = mask & OF_PAIR == 0;
    let cleared = u64::from(u32::MAX) & !(mask | OF_PAIR | (BYTES as u64 - 1));
    let is_known =
        ty.bits == 32 && mask <= u64::from(u32::MAX) && (cleared == 0 || is_even && cleared < CLEAR);
    is_known.then_some(Masked { of, is_even, cleared })
}

/// Whether something computed is taken away from an address.
fn is_taken_from(address: &Address) -> bool {
    let is_less = |factor: &Lanes| factor.all().is_some_and(|factor| signed(factor, address.bits) < 0);
    address.computed.iter().any(|(_, factor)| is_less(factor))
}

fn unknown(span: Span) -> Stop {
    Stop { what: "which mbarrier object this instruction is about is not known".to_owned(), span, help: None }
}

/// The steps on objects that a warp may reach: where, of which kind, at which address, by which lanes.
fn steps(code: &Code, slice: &Slice, warp: &Evaluation) -> Vec<(usize, ObjectKind, ValueId, u32)> {
    let nodes = slice.nodes.iter().zip(&warp.then).zip(&warp.lanes);
    let reached = nodes.filter(|((_, then), _)| then.is_some());
    let instructions = reached.flat_map(|((node, _), lanes)| node.instructions.iter().map(|at| (at, *lanes)));
    let steps = instructions.filter_map(|(at, lanes)| match &code.instructions[*at].action {
        Action::Object(step) => Some((*at, step.kind, warp.barriers.get(at)?.0, lanes)),
        _ => None,
    });
    steps.collect()
}

/// What is computed of an address, in parts that are as large as possible.
fn computed(values: &mut Values, address: &Address, number: i64) -> Option<(ValueId, i64, i64)> {
    let divides = |(_, factor): &(ValueId, Lanes)| factor.all().is_some_and(|f| f % BYTES as u64 == 0);
    let (parts, size): (Base, i64) = if address.computed.iter().all(divides) {
        let shrink = |(term, factor): &(ValueId, Lanes)| {
            Some((*term, Lanes::All((signed(factor.all()?, address.bits) / BYTES) as u64)))
        };
        (address.computed.iter().map(shrink).collect::<Option<_>>()?, 1)
    } else {
        (address.computed.clone(), BYTES)
    };
    Some((values.sum(address.bits, &parts)?, size, number))
}

/// What a base is called in the kernel, if it is a symbol.
fn symbol(code: &Code, values: &Values, base: &Base) -> Option<String> {
    let [(term, Lanes::All(1))] = base.as_slice() else { return None };
    let Term::Same(name) = values.term(*term) else { return None };
    let name = code.names.get(*name as usize)?;
    // `_ZZ4kernelvE4full` is `full` in `kernel`.
    let start = name.rfind(|c: char| c.is_ascii_digit()).map_or(0, |at| at + 1);
    let short = if name.starts_with("_Z") { &name[start..] } else { name.as_str() };
    let plain = short.len() <= 24 && short.starts_with(|c: char| c.is_ascii_alphabetic());
    (plain && short.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')).then(|| short.to_owned())
}

/// A name that is not taken.
fn name(symbol: &Option<String>, offset: Option<i64>, taken: &mut BTreeSet<String>) -> String {
    let first = match (symbol, offset) {
        (Some(symbol), None) if symbol.ends_with("bar") => symbol.clone(),
        (Some(symbol), None) => format!("{symbol}_bar"),
        (Some(symbol), Some(offset)) if offset >= 0 => format!("{symbol}_{offset}"),
        (None, Some(offset)) if offset >= 0 => format!("mbar_{offset}"),
        _ => "mbar".to_owned(),
    };
    let mut name = first.clone();
    let mut number = 2;
    while !taken.insert(name.clone()) {
        name = format!("{first}_{number}");
        number += 1;
    }
    name
}
