//! Loads from shared memory that find what was stored there before (store-to-load forwarding): a number, or
//! something that is the same for the whole group.
//!
//! Warps that work for others are told what to do through shared memory, between two barriers of all threads.
//! Such a barrier orders: who has come to it `n` times has everything before him that any thread did
//! before it came there the `n`-th time. So a load after `n` arrivals finds what was last stored after fewer,
//! if some warp surely stores it then, if all that is stored then is the same, and if nothing is stored there
//! after just as many. Behind a wait at an mbarrier object it may find what a copy has brought. The arrivals
//! are counted, up to [`MOST`]. Where a load in a loop has different numbers of them before it, they have to
//! follow one another; then the code is laid out once for each.
//!
//! A store whose address is not known loses what is counted from the same symbol. That copies go elsewhere,
//! and stores by pointers of which nothing is known, is taken for true, and said.

use std::collections::{BTreeMap, BTreeSet};

use super::arrivals::{Arriving, MOST, NUMBER};
use super::code::{Action, Argument, Awaited, Code, Function, Instruction, Memory, Operation, Type, Written};
use super::evaluate::Evaluation;
use super::lanes::Lanes;
use super::slice::Slice;
use super::straight::Straight;
use super::value::{Term, ValueId, Values};
use super::writes::{Roots, definitions, place};

/// The bytes that a lane writes at most with one instruction.
const WIDEST: i64 = 16;

/// The loads from shared memory, by their positions.
pub(super) fn loads(code: &Code) -> Loads {
    let all = code.instructions.iter().enumerate();
    let loads = all.filter(|(_, instruction)| {
        matches!(instruction.action, Action::Compute { function: Function::Load(Memory::Shared), .. })
    });
    loads.map(|(at, instruction)| (at, instruction.action.clone())).collect()
}

/// Stores of values at places that the code names: what may be forwarded, by position.
pub(super) fn plain_stores(code: &Code) -> BTreeSet<usize> {
    let goes_anywhere = |instruction: &Instruction| {
        matches!(instruction.action, Action::Store { address: None, memory: Memory::Shared, .. })
    };
    if code.is_written_from_elsewhere || code.instructions.iter().any(goes_anywhere) {
        return BTreeSet::new();
    }
    let definitions = definitions(code);
    let stores = code.instructions.iter().enumerate().filter(|(_, instruction)| match &instruction.action {
        Action::Store {
            address: Some((base, offset)),
            memory: Memory::Shared,
            written: Written::Values(_),
        } => place(code, &definitions, *base, *offset).is_some(),
        _ => false,
    });
    stores.map(|(at, _)| at).collect()
}

/// All stores of which it is known what their addresses are computed from: shared memory may be written by
/// way of any address.
pub(super) fn all_stores(code: &Code) -> BTreeSet<usize> {
    let is_store = |action: &Action| matches!(action, Action::Store { address: Some(_), .. });
    let all = code.instructions.iter().enumerate();
    all.filter(|(_, instruction)| is_store(&instruction.action)).map(|(at, _)| at).collect()
}

/// An agent and what is known of it.
pub(super) struct Agent {
    pub(super) number: u32,
    pub(super) rank: u32,
    /// The lanes that it has, as bits.
    pub(super) lanes: u32,
    pub(super) evaluation: Evaluation,
}

/// All agents of a kernel, with the stores kept in its slice.
pub(super) struct Forwards<'a> {
    pub(super) code: &'a Code,
    pub(super) slice: &'a Slice,
    pub(super) values: &'a mut Values,
    pub(super) agents: &'a [Agent],
    /// The threads of a group.
    pub(super) threads: u32,
    /// The loads that are looked at.
    pub(super) loads: &'a Loads,
}

/// A place in the shared memory of a group: what it is counted from, and the first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    base: Option<u32>,
    offset: i64,
}

/// What is loaded: from where in which group, how many bytes, and whether it has a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Wanted {
    rank: u32,
    place: Place,
    bytes: i64,
    signed: bool,
}

/// What is stored after so many arrivals.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// What all store, if that is known.
    value: Option<ValueId>,
    /// Some agent stores it before it arrives again.
    is_sure: bool,
}

/// What is stored in a place, by the number of arrivals before.
type Entries = BTreeMap<u32, Entry>;

/// The loads that are looked for, by their positions, as they were read.
pub(super) type Loads = BTreeMap<usize, Action>;

/// What a load finds, the first time and each time after that; from the last on always the same.
type Found = Vec<ValueId>;

/// What loads find, by their positions and by agents: the number, and the rank of the group.
pub(super) type Chosen = BTreeMap<usize, BTreeMap<(u32, u32), Found>>;

impl Forwards<'_> {
    /// What is forwarded, counted at the barrier with which that is most.
    pub(super) fn choose(&mut self) -> Chosen {
        let wanted = self.wanted();
        let mut best = Chosen::default();
        if wanted.is_empty() {
            return best;
        }
        let count = |chosen: &Chosen| chosen.values().map(BTreeMap::len).sum::<usize>();
        for id in self.barriers() {
            let entries = self.entries(id, &wanted);
            let chosen = self.found(id, &wanted, &entries);
            if count(&chosen) > count(&best) {
                best = chosen;
            }
        }
        best
    }

    /// What each agent loads, by the position of the agent and of the load.
    fn wanted(&self) -> BTreeMap<(usize, usize), Wanted> {
        let mut wanted = BTreeMap::new();
        for (index, agent) in self.agents.iter().enumerate() {
            for (at, address) in &agent.evaluation.loaded {
                let Some(Action::Compute { arguments, .. }) = self.loads.get(at) else { continue };
                let Some(Argument::Same(ty)) = arguments.get(1) else { continue };
                let ty = self.code.names.get(*ty as usize).map_or("", String::as_str);
                let Some((bytes, signed)) = loaded(ty) else { continue };
                if let Some((base, Lanes::All(offset))) = self.place_of(*address) {
                    let place = Place { base, offset: offset as i64 };
                    wanted.insert((index, *at), Wanted { rank: agent.rank, place, bytes, signed });
                }
            }
        }
        wanted
    }

    /// What an address is counted from, and how far.
    fn place_of(&self, address: ValueId) -> Option<(Option<u32>, Lanes)> {
        match self.values.term(address) {
            Term::Known(lanes) => Some((None, lanes.clone())),
            Term::Same(name) => Some((Some(*name), Lanes::All(0))),
            Term::Sum { bits, terms, known } => {
                let [(term, Lanes::All(1))] = terms.as_slice() else { return None };
                let (base, offset) = self.place_of(*term)?;
                let sign = u32::from(64 - bits);
                let known = Lanes::map(&[known], |n| Some((((n[0] << sign) as i64) >> sign) as u64))?;
                Some((base, Lanes::map(&[&offset, &known], |n| Some(n[0].wrapping_add(n[1])))?))
            }
            Term::Apply { operation: Operation::Convert(_), terms, .. } => self.place_of(terms[0]),
            _ => None,
        }
    }

    /// The numbers of barriers for which all threads come together each time.
    fn barriers(&self) -> BTreeSet<u64> {
        let mut all: BTreeMap<u64, bool> = BTreeMap::new();
        for agent in self.agents {
            for (node, at) in reached(self.slice, &agent.evaluation) {
                let Action::Synchronise(barrier) = &self.code.instructions[at].action else { continue };
                if barrier.operands.first().is_none_or(|(_, what)| *what != NUMBER) {
                    continue;
                }
                let known = |index: usize| {
                    let value = agent.evaluation.synchronisations.get(&at)?.get(index)?;
                    self.values.as_known(*value).and_then(Lanes::all)
                };
                // It may be any.
                let Some(id) = known(0) else { return BTreeSet::new() };
                let is_whole = match barrier.awaited {
                    Awaited::Group => true,
                    Awaited::Threads(_) => known(1).is_some_and(|count| count >= u64::from(self.threads)),
                    Awaited::Nobody => false,
                };
                let comes_whole =
                    agent.evaluation.lanes[node] == agent.lanes && self.code.instructions[at].guard.is_none();
                *all.entry(id).or_insert(true) &= is_whole && comes_whole;
            }
        }
        all.into_iter().filter_map(|(id, is_whole)| is_whole.then_some(id)).collect()
    }

    /// How often an agent arrives at a barrier.
    fn arriving<'a>(&'a self, agent: &'a Agent, id: u64) -> Arriving<'a> {
        let (code, slice, values) = (self.code, self.slice, &*self.values);
        Arriving { code, slice, values, evaluation: &agent.evaluation, id }
    }

    /// What is stored in each place that is loaded.
    fn entries(&mut self, id: u64, wanted: &BTreeMap<(usize, usize), Wanted>) -> BTreeMap<Wanted, Entries> {
        let roots = Roots::of(self.code);
        let mut entries: BTreeMap<Wanted, Entries> =
            wanted.values().map(|wanted| (*wanted, Entries::new())).collect();
        let mut lost = BTreeSet::new();
        for agent in self.agents {
            let masks: BTreeMap<usize, u64> = {
                let arrivals = self.arriving(agent, id).arrivals(None, None);
                let reached = reached(self.slice, &agent.evaluation);
                let stores = reached.filter(|(_, at)| agent.evaluation.stores.contains_key(at));
                stores.map(|(node, at)| (at, arrivals.before((node, at)))).collect()
            };
            for (node, at) in reached(self.slice, &agent.evaluation) {
                let Action::Store { address: Some((base, _)), memory, written } =
                    &self.code.instructions[at].action
                else {
                    continue;
                };
                let Some(store) = agent.evaluation.stores.get(&at) else { continue };
                let Some((from, offsets)) = self.place_of(store.address) else {
                    let roots = roots.argument(*base);
                    lost.extend(entries.keys().copied().filter(|wanted| {
                        let is_there = |name| roots.iter().any(|(root, _)| *root == name);
                        let is_named = !roots.is_empty();
                        wanted.place.base.filter(|_| is_named).map_or(*memory == Memory::Shared, is_there)
                    }));
                    continue;
                };
                // An address that is a number may be one that is counted from a symbol elsewhere.
                lost.extend(entries.keys().filter(|wanted| wanted.place.base.is_some() != from.is_some()));
                let mask = masks.get(&at).copied().unwrap_or(0);
                for wanted in entries.keys().copied().collect::<Vec<_>>() {
                    if wanted.rank != agent.rank || wanted.place.base != from {
                        continue;
                    }
                    let Some(value) = self.stored(&wanted, (written, &store.values), &offsets) else {
                        continue;
                    };
                    if self.is_overwritten(agent, (node, at), &wanted) {
                        continue;
                    }
                    let is_one = mask.count_ones() == 1 && mask >> MOST == 0;
                    let value = value.filter(|value| is_one && is_of_group(self.values, *value));
                    let is_sure = is_one && value.is_some() && self.is_sure(agent, (node, at), id, mask);
                    for count in (0..=MOST).filter(|count| mask >> count & 1 == 1) {
                        let known = entries.entry(wanted).or_default();
                        let entry = known.entry(count).or_insert(Entry { value, is_sure });
                        entry.value = entry.value.filter(|known| value == Some(*known));
                        entry.is_sure |= is_sure;
                    }
                }
            }
        }
        entries.retain(|wanted, _| !lost.contains(wanted));
        entries
    }

    /// Whether one lane makes a store, and puts something else there before it comes to any barrier.
    fn is_overwritten(&mut self, agent: &Agent, here: (usize, usize), wanted: &Wanted) -> bool {
        let evaluation = &agent.evaluation;
        Straight { code: self.code, slice: self.slice, evaluation }.behind(here).into_iter().any(|at| {
            let Action::Store { written: written @ Written::Values(_), .. } =
                &self.code.instructions[at].action
            else {
                return false;
            };
            let Some(store) = evaluation.stores.get(&at).filter(|store| store.condition.is_none()) else {
                return false;
            };
            let Some((from, offsets)) = self.place_of(store.address) else { return false };
            let is_there = from == wanted.place.base;
            is_there && matches!(self.stored(wanted, (written, &store.values), &offsets), Some(Some(_)))
        })
    }

    /// What a store puts where something is loaded: `None` if nothing, and nothing inside if it is not known.
    fn stored(
        &mut self,
        wanted: &Wanted,
        (written, values): (&Written, &[ValueId]),
        offsets: &Lanes,
    ) -> Option<Option<ValueId>> {
        let parts: Vec<(i64, i64, Option<ValueId>)> = match written {
            Written::Values(parts) => {
                let mut behind = 0;
                let parts = parts.iter().zip(values).map(|((_, bytes), value)| {
                    let first = behind;
                    behind += i64::from(*bytes);
                    (first, i64::from(*bytes), Some(*value))
                });
                parts.collect()
            }
            Written::Data | Written::Exchange => vec![(0, WIDEST, None)],
        };
        let (first, last) = (wanted.place.offset, wanted.place.offset + wanted.bytes);
        let each = match offsets {
            Lanes::All(offset) => vec![*offset as i64],
            Lanes::Each(offsets) => offsets.iter().map(|offset| *offset as i64).collect(),
        };
        let mut found = None;
        for (offset, bytes, value) in parts {
            for from in &each {
                let (from, to) = (from + offset, from + offset + bytes);
                if to <= first || last <= from {
                    continue;
                }
                let is_whole = from <= first && last <= to && each.len() == 1 && found.is_none();
                found = Some(
                    value
                        .filter(|_| is_whole)
                        .and_then(|value| self.part(value, u64::try_from(first - from).ok()?, wanted)),
                );
            }
        }
        found
    }

    /// The bytes of a value that are loaded, behind some others.
    fn part(&mut self, value: ValueId, behind: u64, wanted: &Wanted) -> Option<ValueId> {
        let long = Type { bits: 64, signed: false };
        let bits = u8::try_from(8 * wanted.bytes).ok()?;
        let mut value = value;
        if behind > 0 {
            let by = self.values.number(8 * behind);
            value = self.values.apply(Operation::ShiftRight, long, &[value, by]);
        }
        let from = Type { bits, signed: wanted.signed };
        let to = Type { bits: bits.max(32), signed: false };
        Some(self.values.apply(Operation::Convert(from), to, &[value]))
    }

    /// Whether an agent that has arrived so often stores before it arrives again, or ends.
    fn is_sure(&self, agent: &Agent, (node, at): (usize, usize), id: u64, mask: u64) -> bool {
        let Some(store) = agent.evaluation.stores.get(&at) else { return false };
        let holds = store.condition.map(|condition| self.values.as_known(condition));
        match holds {
            None => {}
            Some(Some(lanes)) if (0..32).any(|lane| agent.lanes >> lane & 1 == 1 && lanes.get(lane) != 0) => {
            }
            Some(_) => return false,
        }
        let whole = |node: usize| agent.evaluation.lanes[node] == agent.lanes;
        let point = if whole(node) {
            (node, Some(at))
        } else {
            // Some lanes make it, while the others go on to where they meet.
            let straight = Straight { code: self.code, slice: self.slice, evaluation: &agent.evaluation };
            match straight.apart(node) {
                Some((from, condition)) if whole(from) && self.values.as_known(condition).is_some() => {
                    (from, None)
                }
                _ => return false,
            }
        };
        let avoiding = self.arriving(agent, id).arrivals(None, Some((point, mask)));
        (avoiding.at_arrivals | avoiding.at_end) & mask == 0
    }

    /// What loads find.
    fn found(
        &self,
        id: u64,
        wanted: &BTreeMap<(usize, usize), Wanted>,
        entries: &BTreeMap<Wanted, Entries>,
    ) -> Chosen {
        let mut chosen = Chosen::new();
        for (index, agent) in self.agents.iter().enumerate() {
            for (node, at) in reached(self.slice, &agent.evaluation) {
                let Some(entries) = wanted.get(&(index, at)).and_then(|wanted| entries.get(wanted)) else {
                    continue;
                };
                if let Some(found) = self.sequence((agent, id), (node, at), entries) {
                    chosen.entry(at).or_default().insert((agent.number, agent.rank), found);
                }
            }
        }
        chosen
    }

    /// What a load finds each time, where the numbers of arrivals before it follow one another.
    fn sequence(
        &self,
        (agent, id): (&Agent, u64),
        (node, at): (usize, usize),
        entries: &Entries,
    ) -> Option<Found> {
        let last = entries.keys().next_back().map_or(0, |last| last + 1);
        let point = (node, Some(at));
        let arriving = self.arriving(agent, id);
        // A copy may have written there what is waited for.
        if arriving.has_waited((node, at)) {
            return None;
        }
        let mut from = None;
        let mut found = Found::new();
        loop {
            let arrivals = arriving.arrivals(from, Some((point, u64::MAX)));
            let mask = arrivals.before((node, at));
            // It is not executed again.
            if mask == 0 {
                return (!found.is_empty()).then_some(found);
            }
            let count = mask.trailing_zeros();
            if mask.count_ones() != 1 && count < last {
                return None;
            }
            let before = entries.range(..count).next_back().filter(|_| !entries.contains_key(&count));
            found.push(before.and_then(|(_, entry)| entry.value.filter(|_| entry.is_sure))?);
            if count >= last {
                return Some(found);
            }
            from = Some(((node, at), mask));
        }
    }
}

/// The instructions of a slice that an agent may reach, with their nodes.
fn reached<'s>(
    slice: &'s Slice,
    evaluation: &'s Evaluation,
) -> impl Iterator<Item = (usize, usize)> + use<'s> {
    let nodes = slice.nodes.iter().enumerate().filter(|(node, _)| evaluation.then[*node].is_some());
    nodes.flat_map(|(node, of)| of.instructions.iter().map(move |at| (node, *at)))
}

/// The bytes of what is loaded, and whether it has a sign.
fn loaded(ty: &str) -> Option<(i64, bool)> {
    let bits: i64 = ty.strip_prefix(['b', 'u', 's', 'f'])?.parse().ok()?;
    matches!(bits, 8 | 16 | 32 | 64).then_some((bits / 8, ty.starts_with('s')))
}

/// Whether a value is the same for the whole group, whenever it is asked for.
fn is_of_group(values: &Values, value: ValueId) -> bool {
    let all = |lanes: &Lanes| lanes.all().is_some();
    let here = match values.term(value) {
        Term::Known(lanes) => all(lanes),
        Term::Same(_) => true,
        Term::Loaded { varies, .. } => !varies,
        Term::Sum { terms, known, .. } => all(known) && terms.iter().all(|(_, factor)| all(factor)),
        Term::Apply { .. } | Term::Pure { .. } => true,
        Term::Given { .. } | Term::Meet { .. } | Term::Gained { .. } => false,
        Term::Unknown { .. } | Term::Unset => false,
    };
    here && values.inside(value).into_iter().all(|inside| is_of_group(values, inside))
}
