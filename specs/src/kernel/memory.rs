//! Accesses to memory of the group as protocols write them: by locations.
//!
//! Accesses carry no values, and whether two of them race depends on these two alone. So locations are
//! chosen in which each pair of accesses of different warps meets that would race in some byte, and no
//! pair that would not: what one warp writes and many read, each a part of it, is one location.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::access::Touch;
use super::code::Code;
use super::confined::confine;
use super::flat::without_repeated;
use super::graph::Graph;
use super::group::Group;
use super::groups::{DRAIN, FILL, without_groups};
use super::landed;
use super::may_touch;
use super::seen;
use super::structure::Stop;
use super::touched::{conflict, without_rest};
use super::tree::{Accessed, Extent, Statement, Statements};
use super::value::{Term, ValueId, Values};
use super::warp::Warp;
use crate::common::span::Span;

/// Parts of memory that accesses touch, at most.
const PARTS: usize = 2_000_000;
/// What is gone through to tell parts apart, at most.
const STEPS: usize = 40_000_000;
/// Accesses that are written, at most.
const WRITTEN: usize = 20_000;

/// The accesses of a kernel, as far as they are followed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    /// Accesses that are followed.
    pub(crate) followed: BTreeSet<Span>,
    /// Those that are not.
    pub(crate) others: BTreeSet<Span>,
}

/// Nothing yet, if accesses are followed in this code.
///
/// # Errors
///
/// Warps may tell one another through memory in a way that is not followed.
pub(super) fn followed(code: &Code, graph: &Graph, group: &Group) -> Result<Option<Memory>, Stop> {
    if !code.follows_memory || group.is_one() || Warp::threads(group.cluster) > 1 {
        return Ok(None);
    }
    match seen::decides(code, graph) {
        Some(span) => {
            let what = "what is asked here depends on what others do meanwhile in memory: they may be ordered by that";
            Err(Stop { what: what.to_owned(), span, help: None })
        }
        None => Ok(Some(Memory::default())),
    }
}

/// What a warp does to a location between two barriers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Done {
    Reads,
    Writes,
    Fills,
    Lands,
    Drains,
}

impl Done {
    fn of(touch: Touch) -> Self {
        match touch {
            Touch::Read | Touch::StrongRead => Self::Reads,
            Touch::Write | Touch::StrongWrite => Self::Writes,
            Touch::Fill => Self::Fills,
            Touch::Land => Self::Lands,
            Touch::Drain => Self::Drains,
        }
    }

    /// As protocols write it.
    fn verb(self) -> &'static str {
        match self {
            Self::Reads => "read",
            Self::Writes => "write",
            Self::Fills => FILL,
            // The copy says it.
            Self::Lands => "",
            Self::Drains => DRAIN,
        }
    }
}

/// An access of one warp between two barriers, or before it goes on to copies or from them.
struct Item {
    program: usize,
    run: usize,
    touch: Touch,
    value: Option<Value>,
    /// It touches some of its bytes, and nobody knows which.
    is_possible: bool,
    span: Span,
}

impl Item {
    fn conflicts(&self, other: &Self) -> bool {
        let is_same = self.value.is_some() && self.value == other.value;
        let may_meet = !(self.is_possible && other.is_possible);
        may_meet && self.is_apart(other) && conflict((self.touch, other.touch), is_same)
    }

    /// A copy races with its own warp, too, and those that complete on objects with one another.
    fn is_apart(&self, other: &Self) -> bool {
        self.program != other.program || self.touch.by() != other.touch.by() || self.touch == Touch::Land
    }

    /// Whether they race nowhere.
    fn agrees(&self, other: &Self) -> bool {
        !(self.touch.writes() || other.touch.writes()) || !self.is_apart(other)
    }
}

/// Writes the accesses of programs, each of one warp, by locations; the declarations of these.
///
/// # Errors
///
/// They are too many.
pub(super) fn locate(
    programs: &mut [Statements],
    values: &Values,
    code: &Code,
    followed: &mut Memory,
) -> Result<Vec<String>, Stop> {
    programs.iter_mut().for_each(|statements| confine(statements, false, values, code));
    if may_touch::keep_common(programs) {
        let mut all = programs.to_vec();
        if let Ok(locations) = by_location(&mut all, values, code, followed) {
            programs.clone_from_slice(&all);
            return Ok(locations);
        }
        may_touch::forget(programs);
    }
    by_location(programs, values, code, followed)
}

fn by_location(
    programs: &mut [Statements],
    values: &Values,
    code: &Code,
    followed: &mut Memory,
) -> Result<Vec<String>, Stop> {
    let bases = chosen(programs, (values, &code.symbols), followed);
    let mut collected =
        Collected { bases: &bases, items: Vec::new(), parts: BTreeMap::new(), known: HashMap::new() };
    for (program, statements) in programs.iter().enumerate() {
        collected.program((program, &mut 0), statements);
    }
    let mut located = Located::default();
    let mut left = STEPS;
    for (base, parts) in &collected.parts {
        let signatures = signatures(parts, &collected.items, &mut left)?;
        let name = symbol(base, values, &code.symbols).and_then(|symbol| code.names.get(symbol as usize));
        located.cover(array(name.map_or("", String::as_str)), signatures, &collected.items, &mut left)?;
    }
    for (program, statements) in programs.iter_mut().enumerate() {
        let whole = std::mem::take(statements);
        *statements = without_repeated(without_rest(located.written((program, &mut 0), whole)));
    }
    if located.is_short {
        return Err(too_many());
    }
    without_groups(programs);
    Ok(located.declarations())
}

fn too_many() -> Stop {
    let what = "accesses to memory of the group are too many to be followed".to_owned();
    Stop { what, span: Span::default(), help: None }
}

/// Of each symbol what most of its accesses are counted from; how they lie to others is not known.
fn chosen(
    programs: &[Statements],
    (values, symbols): (&Values, &BTreeSet<u32>),
    followed: &mut Memory,
) -> BTreeSet<Vec<ValueId>> {
    let mut counts: BTreeMap<Vec<ValueId>, usize> = BTreeMap::new();
    for_each_of(programs, &mut |access| {
        if let Some(bytes) = access.bytes.as_ref().filter(|bytes| bytes.extent == Extent::All) {
            *counts.entry(bytes.base.clone()).or_default() += 1;
        }
    });
    let mut best: BTreeMap<u32, (usize, Vec<ValueId>)> = BTreeMap::new();
    for (base, count) in counts {
        let Some(symbol) = symbol(&base, values, symbols) else { continue };
        let known = best.entry(symbol).or_insert_with(|| (count, base.clone()));
        if known.0 < count {
            *known = (count, base);
        }
    }
    let bases: BTreeSet<Vec<ValueId>> = best.into_values().map(|(_, base)| base).collect();
    let (mut all, mut others) = (BTreeSet::new(), BTreeSet::new());
    for_each_of(programs, &mut |access| {
        all.insert(access.span);
        let is_known = access
            .bytes
            .as_ref()
            .is_some_and(|bytes| bytes.extent == Extent::All && bases.contains(&bytes.base));
        if !is_known || access.is_partial {
            others.insert(access.span);
        }
    });
    followed.others.extend(others);
    followed.followed.extend(all.difference(&followed.others).copied());
    bases
}

fn for_each_of(programs: &[Statements], visit: &mut impl FnMut(&Accessed)) {
    programs.iter().for_each(|statements| for_each(statements, visit));
}

fn for_each(statements: &[Statement], visit: &mut impl FnMut(&Accessed)) {
    for statement in statements {
        match statement {
            Statement::Access(access) if access.text.is_empty() => visit(access),
            Statement::If { then, otherwise, .. } => {
                for_each(then, visit);
                for_each(otherwise, visit);
            }
            Statement::Copy { to: body, .. } | Statement::Loop { body, .. } | Statement::For { body, .. } => {
                for_each(body, visit);
            }
            _ => {}
        }
    }
}

/// A part of memory, and the item that touches it.
type Part = (i64, i64, u32);
/// One value that is written: which, its bytes, and how far it is from a multiple of these.
type Value = (ValueId, u32, i64);
/// An item by program, run, touch, value, and whether it is not known which of its bytes it touches.
type Key = (usize, usize, Touch, Option<Value>, bool);
/// A location: its array, and its number there.
type Location = (String, usize);

struct Collected<'b> {
    bases: &'b BTreeSet<Vec<ValueId>>,
    items: Vec<Item>,
    parts: BTreeMap<Vec<ValueId>, Vec<Part>>,
    known: HashMap<Key, u32>,
}

impl Collected<'_> {
    fn program(&mut self, (program, run): (usize, &mut usize), statements: &[Statement]) {
        let mut in_run = None;
        for statement in statements {
            match statement {
                Statement::Access(access) if access.text.is_empty() => {
                    let is_of = Some(access.touch.by());
                    *run += usize::from(in_run != is_of);
                    in_run = is_of;
                    self.access((program, *run), access);
                    continue;
                }
                Statement::If { then, otherwise, .. } => {
                    self.program((program, run), then);
                    self.program((program, run), otherwise);
                }
                Statement::Copy { to: body, .. }
                | Statement::Loop { body, .. }
                | Statement::For { body, .. } => self.program((program, run), body),
                _ => {}
            }
            in_run = None;
        }
    }

    fn access(&mut self, (program, run): (usize, usize), access: &Accessed) {
        let Some(bytes) = access.bytes.as_ref().filter(|bytes| self.bases.contains(&bytes.base)) else {
            return;
        };
        let value = bytes.value.filter(|_| access.touch.writes());
        let (touch, items, is_possible) = (access.touch, &mut self.items, bytes.extent != Extent::All);
        let item = *self.known.entry((program, run, touch, value, is_possible)).or_insert_with(|| {
            items.push(Item { program, run, touch, value, is_possible, span: access.span });
            items.len() as u32 - 1
        });
        let parts = self.parts.entry(bytes.base.clone()).or_default();
        parts.extend(bytes.parts.iter().map(|(from, to)| (*from, *to, item)));
    }
}

/// Which items touch bytes together, where some of them conflict.
fn signatures(parts: &[Part], items: &[Item], left: &mut usize) -> Result<BTreeSet<Vec<u32>>, Stop> {
    if parts.len() > PARTS {
        return Err(too_many());
    }
    let begins = parts.iter().map(|(from, _, item)| (*from, *item, true));
    let ends = parts.iter().map(|(_, to, item)| (*to, *item, false));
    let mut events: Vec<(i64, u32, bool)> = begins.chain(ends).collect();
    events.sort_unstable();
    let (mut active, mut found, mut seen) = (BTreeMap::<u32, usize>::new(), BTreeSet::new(), HashSet::new());
    let mut at = 0;
    while let Some((place, ..)) = events.get(at).copied() {
        while let Some((_, item, begins)) = events.get(at).copied().filter(|event| event.0 == place) {
            let count = active.entry(item).or_default();
            // What ends and begins at one place is counted once for each.
            *count = if begins { *count + 1 } else { count.wrapping_sub(1) };
            if *count == 0 {
                active.remove(&item);
            }
            at += 1;
        }
        *left = left.checked_sub(active.len() + 1).ok_or_else(too_many)?;
        let signature: Vec<u32> = active.keys().copied().collect();
        // What copies write and nobody reads makes no difference.
        let is_used = |item: &u32| items[*item as usize].touch != Touch::Land;
        if signature.len() > 1 && signature.iter().any(is_used) && seen.insert(signature.clone()) {
            *left = left.checked_sub(signature.len() * signature.len()).ok_or_else(too_many)?;
            let pairs = signature.iter().flat_map(|a| signature.iter().map(move |b| (*a, *b)));
            if pairs.into_iter().any(|(a, b)| items[a as usize].conflicts(&items[b as usize])) {
                found.insert(signature);
            }
        }
    }
    Ok(found)
}

/// The locations, and where they are accessed.
#[derive(Default)]
struct Located {
    /// For each array its locations.
    arrays: BTreeMap<String, usize>,
    /// By program and run: the location, what is done to it, and where.
    touched: HashMap<(usize, usize), BTreeMap<Location, (Done, Span)>>,
    written: usize,
    /// A copy has fewer bytes than locations.
    is_short: bool,
}

impl Located {
    /// Chooses locations in which all that conflicts meets.
    fn cover(
        &mut self,
        array: String,
        signatures: BTreeSet<Vec<u32>>,
        items: &[Item],
        left: &mut usize,
    ) -> Result<(), Stop> {
        let item = |number: u32| &items[number as usize];
        let mut pairs: BTreeSet<(u32, u32)> = BTreeSet::new();
        for signature in signatures {
            for (at, a) in signature.iter().enumerate() {
                let others = signature[at + 1..].iter().filter(|b| item(*a).conflicts(item(**b)));
                others.for_each(|b| pairs.extend([(*a, *b), (*b, *a)]));
            }
        }
        let beside = |a: u32| pairs.range((a, 0)..=(a, u32::MAX)).map(|(_, b)| *b);
        let fits = |a: u32, b: u32| item(a).agrees(item(b)) || pairs.contains(&(a, b));
        let mut met: HashSet<(u32, u32)> = HashSet::new();
        for (a, b) in pairs.iter().copied().filter(|(a, b)| a < b) {
            if met.contains(&(a, b)) {
                continue;
            }
            // What races in one location races somewhere, and the location need not be one byte.
            let mut members = vec![a, b];
            let others: BTreeSet<u32> = beside(a).chain(beside(b)).filter(|c| *c != a && *c != b).collect();
            for c in others {
                *left = left.checked_sub(members.len()).ok_or_else(too_many)?;
                if members.iter().all(|member| fits(*member, c)) {
                    members.push(c);
                }
            }
            members.sort_unstable();
            *left = left.checked_sub(members.len() * members.len()).ok_or_else(too_many)?;
            for (at, a) in members.iter().enumerate() {
                met.extend(members[at + 1..].iter().map(|b| (*a, *b)));
            }
            self.add(&array, members.into_iter().map(item))?;
        }
        Ok(())
    }

    fn add<'i>(&mut self, array: &str, members: impl Iterator<Item = &'i Item>) -> Result<(), Stop> {
        let count = self.arrays.entry(array.to_owned()).or_default();
        let place = (array.to_owned(), *count);
        *count += 1;
        for item in members {
            let touched = self.touched.entry((item.program, item.run)).or_default();
            let does = Done::of(item.touch);
            let known = touched.entry(place.clone()).or_insert((does, item.span));
            if does > known.0 {
                *known = (does, item.span);
            }
            self.written += 1;
        }
        if self.written > WRITTEN { Err(too_many()) } else { Ok(()) }
    }

    /// A program with its accesses, in the order of locations.
    fn written(&mut self, (program, run): (usize, &mut usize), statements: Statements) -> Statements {
        let mut written = Vec::with_capacity(statements.len());
        let mut in_run = None;
        for statement in statements {
            let statement = match statement {
                Statement::Access(access) if access.text.is_empty() => {
                    let is_of = Some(access.touch.by());
                    if in_run != is_of {
                        *run += 1;
                        let touched = self.touched.get(&(program, *run)).into_iter().flatten();
                        written.extend(touched.map(|((array, number), (does, span))| {
                            let text = format!("{} {array}[{number}]", does.verb()).trim_start().to_owned();
                            Statement::Access(Box::new(Accessed {
                                touch: access.touch,
                                bytes: None,
                                is_partial: false,
                                known: BTreeSet::new(),
                                exact: BTreeSet::new(),
                                text,
                                span: *span,
                            }))
                        }));
                    }
                    in_run = is_of;
                    continue;
                }
                Statement::Copy { object, bytes, mask, to, span } => {
                    in_run = None;
                    let to = self.written((program, run), to);
                    let copy = Statement::Copy { object, bytes, mask, to: Vec::new(), span };
                    let (pieces, is_enough) = landed::pieces(copy, to);
                    self.is_short |= !is_enough;
                    written.extend(pieces);
                    continue;
                }
                Statement::If { condition, then, otherwise, span } => {
                    in_run = None;
                    let was_empty = then.is_empty() && otherwise.is_empty();
                    let then = self.written((program, run), then);
                    let otherwise = self.written((program, run), otherwise);
                    // Nobody else accesses what it decides about.
                    if then.is_empty() && otherwise.is_empty() && !was_empty {
                        continue;
                    }
                    Statement::If { condition, then, otherwise, span }
                }
                Statement::Loop { body, header, span } => {
                    Statement::Loop { body: self.written((program, run), body), header, span }
                }
                Statement::For { variable, from, to, body, span } => {
                    let body = self.written((program, run), body);
                    Statement::For { variable, from, to, body, span }
                }
                other => other,
            };
            in_run = None;
            written.push(statement);
        }
        written
    }

    fn declarations(&self) -> Vec<String> {
        self.arrays.iter().map(|(array, count)| format!("shared {array}[{count}];")).collect()
    }
}

/// The symbol from which addresses are counted: the only one in their base, however deep.
fn symbol(base: &[ValueId], values: &Values, symbols: &BTreeSet<u32>) -> Option<u32> {
    let (mut found, mut seen, mut work) = (BTreeSet::new(), BTreeSet::new(), base.to_vec());
    while let Some(value) = work.pop() {
        if !seen.insert(value) {
            continue;
        }
        match values.term(value) {
            Term::Same(name) if symbols.contains(name) => _ = found.insert(*name),
            _ => work.extend(values.inside(value)),
        }
    }
    found.pop_first().filter(|_| found.is_empty())
}

/// What the locations of memory that begins at a symbol are called.
fn array(name: &str) -> String {
    // `_ZZ6kernelvE4tile` is `tile` in `kernel`.
    let start = name.rfind(|c: char| c.is_ascii_digit()).map_or(0, |at| at + 1);
    let short = if name.starts_with("_Z") { &name[start..] } else { name };
    let plain: String = short.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').take(24).collect();
    if plain.starts_with(|c: char| c.is_ascii_alphabetic()) {
        format!("{plain}_bytes")
    } else {
        "bytes".to_owned()
    }
}
