//! Who tells others through shared memory what it goes by itself: the warp that takes the next tile from a
//! counter, puts it into a ring, and ends with the tile that is none.
//!
//! What is loaded behind a wait is known to those who load it by that wait alone ([`recurrences`]). For the
//! one who stored it, it is a number like any other. The two are one where, round for round, the load finds
//! the place of the store, and the phase that is waited for is the one that the teller completes behind it.
//! Then a branch of the teller that asks of its number what a branch of a reader asks of what is loaded has
//! the reader's answer.
//!
//! That is found by running the two loops beside each other, on known numbers, for so many rounds that what
//! they go by has come round: the place that is stored to, the object that is arrived on, and which of its
//! phases that is; the place that is loaded from, the object, and the parity that is waited for. The phases
//! are the teller's own as long as nobody else arrives on these objects, no more arrivals are expected than
//! it makes, and each loop is entered once. That nobody else stores there is taken for true of what is loaded
//! so anyway, and said. That the teller itself does not store there again before all have looked is found
//! likewise: by what it waits for ([`given_back`]).
//!
//! [`recurrences`]: super::recurrences
//! [`given_back`]: super::given_back

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::code::{
    Action, Argument, Code, Comparison, Function, Memory, ObjectKind, Operation, Type, Written,
};
use super::counts::{Asker, MOST};
use super::dominators::dominates;
use super::evaluate::{Evaluation, Object, Way};
use super::flow::Flow;
use super::handed_over::{One, Round, Running, number_of, rounds};
use super::held::held;
use super::keys::Keys;
use super::lanes::Lanes;
use super::origins::{self, Collected, Origins};
use super::recurrences::told;
use super::slice::{Slice, Then};
use super::terms::{differs, is_truth};
use super::traits::{Knowledge, Spread};
use super::trips::{Rounds, most};
use super::value::{Term, ValueId, Values};
use crate::common::span::Span;

/// Rounds that are run.
pub(super) const ROUNDS: usize = 256;
/// Terms that are looked at for one condition.
const TERMS: usize = 256;

/// An agent: its number in its group, and the rank of the group in the cluster.
type Agent = (u32, u32);

/// A branch of an agent, by its place.
pub(super) type Branch = (Agent, Span);

/// Branches of agents that tell others.
pub(super) type Tellings = BTreeMap<Branch, Telling>;

/// What a branch of a teller asks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Telling {
    /// The branch of a reader that has the same answer, or, if so, the opposite.
    pub(super) reader: Branch,
    pub(super) negated: bool,
    /// It is the same if no sum overflows.
    pub(super) unwrapped: bool,
}

/// All agents of a group that is alone in its cluster, with the stores kept in the slice, and the objects of
/// their steps.
pub(super) struct Tellers<'t> {
    pub(super) code: &'t Code,
    pub(super) slice: &'t Slice,
    pub(super) values: &'t mut Values,
    pub(super) agents: Vec<(Agent, &'t Evaluation)>,
}

/// A branch of an agent by what has been loaded, once in each round of a loop.
pub(super) struct Reader {
    of: Branch,
    condition: ValueId,
    load: ValueId,
    pub(super) bytes: u8,
    rounds: Vec<Round>,
    /// On which objects it arrives in each round, once it has looked.
    pub(super) frees: Vec<Vec<One>>,
}

/// A branch of a teller behind the store of a value, and a reader of that.
struct Candidate {
    node: usize,
    span: Span,
    condition: ValueId,
    storing: usize,
    value: ValueId,
    reader: usize,
}

impl Tellers<'_> {
    /// The branches of tellers.
    pub(super) fn tellings(mut self) -> Tellings {
        let flows: Option<Vec<Flow>> = self.agents.iter().map(|(_, of)| Flow::of(of).ok()).collect();
        let Some(flows) = flows else { return Tellings::new() };
        let mut readers = Vec::new();
        for (index, flow) in flows.iter().enumerate() {
            self.readers(index, flow, &mut readers);
        }
        let mut tellings = Tellings::new();
        for (index, flow) in flows.iter().enumerate() {
            self.tells((index, flow), &readers, &mut tellings);
        }
        // Nobody goes by the answers of one who goes by those of another.
        let tell: BTreeSet<Branch> = tellings.keys().copied().collect();
        tellings.retain(|_, telling| !tell.contains(&telling.reader));
        tellings
    }

    /// The loop of a node, if it is in no other and each round comes to the node: all lanes of those that go
    /// round, or some that are known. And the node at which these leave the others, or itself.
    pub(super) fn passes(
        &self,
        (evaluation, flow): (&Evaluation, &Flow),
        node: usize,
    ) -> Option<(usize, usize)> {
        let inner = flow.innermost[node]?;
        if flow.loops[inner].around.is_some() {
            return None;
        }
        let header = flow.loops[inner].header;
        let (mut node, mut steps) = (node, flow.after.len());
        loop {
            let mut backs = flow.before[header].iter().filter(|from| flow.contains(Some(inner), **from));
            if backs.all(|back| dominates(&flow.dominator, node, *back)) {
                return Some((inner, node));
            }
            let [before] = flow.before[node][..] else { return None };
            steps = steps.checked_sub(1)?;
            if let Some(Way::Branch(condition, ..)) = evaluation.then[before] {
                self.values.as_known(condition)?;
            }
            node = before;
        }
    }

    /// The node of a branch's place, if there is one only.
    fn branches(&self, evaluation: &Evaluation) -> Vec<(usize, Span, ValueId)> {
        let mut spans: BTreeMap<Span, usize> = BTreeMap::new();
        let of = |node: usize| match self.slice.nodes[node].then {
            Then::Branch { span, .. } => Some(span),
            Then::To(_) => None,
        };
        let nodes = 0..self.slice.nodes.len();
        nodes.clone().filter_map(of).for_each(|span| *spans.entry(span).or_default() += 1);
        let only = nodes.filter_map(|node| {
            let Some(Way::Branch(condition, ..)) = evaluation.then[node] else { return None };
            let span = of(node).filter(|span| spans[span] == 1)?;
            Some((node, span, condition))
        });
        only.collect()
    }

    /// The branches of an agent by what it is told.
    fn readers(&self, index: usize, flow: &Flow, readers: &mut Vec<Reader>) {
        let (agent, evaluation) = self.agents[index];
        let told = told(self.code, self.slice, flow);
        for (node, span, condition) in self.branches(evaluation) {
            let Some((at, load, address)) = self.loaded(condition) else { continue };
            let Some(wait) = told.get(&at).copied() else { continue };
            let node_of = |at: usize| self.slice.nodes.iter().position(|of| of.instructions.contains(&at));
            let (Some(of_load), Some(of_wait)) = (node_of(at), node_of(wait)) else { continue };
            let passes = |node| self.passes((evaluation, flow), node).map(|(inner, _)| inner);
            let Some(inner) = passes(node) else { continue };
            let is_before = dominates(&flow.dominator, of_load, node);
            if !is_before || passes(of_load) != Some(inner) || passes(of_wait) != Some(inner) {
                continue;
            }
            let parity = evaluation.barriers.get(&wait).and_then(|(_, parity)| *parity);
            let object = evaluation.objects.get(&wait);
            let (Some(parity), Some(object)) = (parity, object) else { continue };
            let Some(bytes) = self.bytes(at) else { continue };
            let Some(mut run) =
                Running::of(self.known(), (evaluation, flow), inner, (&[address, parity], object))
            else {
                continue;
            };
            let mut rounds = Vec::new();
            while rounds.len() < ROUNDS {
                let Some(([place, parity], object)) = run.next(object) else { break };
                rounds.push(Round { place, object, parity });
            }
            if rounds.len() == ROUNDS {
                let frees = self.frees((evaluation, flow), inner, (of_load, at));
                readers.push(Reader { of: (agent, span), condition, load, bytes, rounds, frees });
            }
        }
    }

    /// What a condition asks, if it is of one load from shared memory and else of what never changes: where
    /// it is loaded, the term, and the address.
    fn loaded(&self, condition: ValueId) -> Option<(usize, ValueId, ValueId)> {
        let (mut found, mut work, mut seen) = (None, vec![condition], BTreeSet::new());
        while let Some(value) = work.pop() {
            if !seen.insert(value) {
                continue;
            }
            if seen.len() > TERMS {
                return None;
            }
            match self.values.term(value) {
                Term::Loaded { at, address, varies: true } => {
                    if found.replace((*at, value, *address)).is_some() {
                        return None;
                    }
                }
                Term::Meet { .. } | Term::Gained { .. } | Term::Given { .. } => return None,
                Term::Unknown { .. } | Term::Unset => return None,
                _ => work.extend(self.values.inside(value)),
            }
        }
        let (at, ..) = found?;
        let instruction = &self.code.instructions[at];
        let is_load =
            matches!(instruction.action, Action::Compute { function: Function::Load(Memory::Shared), .. });
        found.filter(|_| is_load && instruction.guard.is_none() && !differs(self.values, condition))
    }

    /// The bytes of what is loaded, if it is a whole register.
    fn bytes(&self, at: usize) -> Option<u8> {
        let Action::Compute { arguments, .. } = &self.code.instructions[at].action else { return None };
        let Some(Argument::Same(ty)) = arguments.get(1) else { return None };
        match self.code.names.get(*ty as usize)?.strip_prefix(['b', 'u', 's'])? {
            "32" => Some(4),
            "64" => Some(8),
            _ => None,
        }
    }

    /// What loops are run with: terms, and where memory begins.
    pub(super) fn known(&self) -> (&Values, &BTreeSet<u32>) {
        (self.values, &self.code.symbols)
    }

    /// Finds the branches of a teller.
    fn tells(&mut self, (index, flow): (usize, &Flow), readers: &[Reader], tellings: &mut Tellings) {
        let (agent, evaluation) = self.agents[index];
        let found = self.candidates((index, flow), readers);
        if found.is_empty() {
            return;
        }
        let none = BTreeSet::new();
        let mut knowledge = Knowledge::new(self.values, evaluation, flow, &none);
        let most = most(self.values, evaluation, flow, MOST);
        for Candidate { node, span, condition, storing, value, reader } in found {
            let spread = |node, value| knowledge.at(self.values, node, value).spread;
            let is_of_warp =
                spread(storing, value) != Spread::Lane && spread(node, condition) != Spread::Lane;
            if !is_of_warp && evaluation.lanes[node].count_ones() != 1 {
                continue;
            }
            let reader = &readers[reader];
            let told = self.truth(value);
            let asked = replaced(self.values, reader.condition, &mut HashMap::from([(reader.load, told)]));
            let asked = self.is_any(asked);
            let asked = [asked, condition].map(|one| (one, knowledge.normal_form(self.values, node, one)));
            if let Some((negated, unwrapped)) = self.is_same((evaluation, flow, &most), node, asked) {
                tellings.insert((agent, span), Telling { reader: reader.of, negated, unwrapped });
            }
        }
    }

    /// A truth instead of the number 1 or 0 that it selects.
    fn truth(&mut self, value: ValueId) -> ValueId {
        let Term::Apply { operation: Operation::Select, terms, .. } = self.values.term(value).clone() else {
            return value;
        };
        let [one, other] = [0, 1].map(|part| self.values.as_known(terms[part]).and_then(Lanes::all));
        let truth = match (one, other) {
            (Some(1), Some(0)) => self.values.truth(terms[2], true),
            (Some(0), Some(1)) => self.values.truth(terms[2], false),
            _ => None,
        };
        truth.filter(|truth| is_truth(self.values, *truth)).unwrap_or(value)
    }

    /// That a value is not 0.
    fn is_any(&mut self, value: ValueId) -> ValueId {
        let (bits, nothing) = (self.values.width(value), self.values.number(0));
        let ty = Type { bits, signed: false };
        match bits {
            0..=1 => value,
            _ => self.values.apply(Operation::Compare(Comparison::NotEqual), ty, &[value, nothing]),
        }
    }

    /// The branches of an agent that come behind the store of what readers load.
    fn candidates(&self, (index, flow): (usize, &Flow), readers: &[Reader]) -> Vec<Candidate> {
        let (agent, evaluation) = self.agents[index];
        let nodes = || (0..self.slice.nodes.len()).filter(|node| evaluation.then[*node].is_some());
        let all =
            || nodes().flat_map(|node| self.slice.nodes[node].instructions.iter().map(move |at| (node, *at)));
        let branches = self.branches(evaluation);
        let mut found = Vec::new();
        for (arriving, arrival) in all() {
            let Some((inner, objects)) = self.completes((index, flow), (arriving, arrival)) else { continue };
            for (storing, store) in all() {
                let Some((of_store, parting)) = self.passes((evaluation, flow), storing) else { continue };
                let comes_before = match storing == arriving {
                    true => store < arrival,
                    false => dominates(&flow.dominator, storing, arriving),
                };
                if !comes_before || of_store != inner {
                    continue;
                }
                for (places, value, bytes) in self.stores((index, flow), (inner, store)) {
                    let rounds = rounds(&objects, &places);
                    let hears = |(_, reader): &(usize, &Reader)| {
                        reader.of.0 != agent && reader.bytes == bytes && reader.rounds == rounds
                    };
                    let hearing = || readers.iter().enumerate().filter(hears);
                    let of = (index, flow, inner);
                    if !hearing().all(|(_, reader)| self.is_given_back(of, (storing, store), &places, reader))
                    {
                        continue;
                    }
                    for (reader, _) in hearing() {
                        for (node, span, condition) in branches.iter().copied() {
                            let Some((of_branch, itself)) = self.passes((evaluation, flow), node) else {
                                continue;
                            };
                            // Lanes that store meet the others before they ask.
                            let meets = itself == node
                                && parting != node
                                && dominates(&flow.dominator, parting, node);
                            if of_branch == inner && (meets || dominates(&flow.dominator, storing, node)) {
                                found.push(Candidate { node, span, condition, storing, value, reader });
                            }
                        }
                    }
                }
            }
        }
        found
    }

    /// Whether two conditions, each with its normal form, ask the opposite in a node instead of the same, and
    /// whether that rests on sums not overflowing. By the second a loop may be left where it is just reached.
    fn is_same(
        &self,
        (evaluation, flow, most): (&Evaluation, &Flow, &[Option<i64>]),
        node: usize,
        conditions: [(ValueId, ValueId); 2],
    ) -> Option<(bool, bool)> {
        let (origins, none) = (Origins::default(), BTreeMap::new());
        let collected = &Collected::default();
        let agent = origins::Agent { values: self.values, evaluation, flow, collected };
        let keys = Keys { code: self.code, agent, origins: &origins, rank: None, node, told: &none };
        let [one, other] = conditions.map(|(condition, _)| keys.decided(condition));
        if one.0 == other.0 {
            return Some((one.1 != other.1, false));
        }
        let asker = Asker { slice: self.slice, keys, most };
        let Some(Way::Branch(_, taken, _)) = evaluation.then[node] else { return None };
        let is_left = flow.innermost[node]
            .is_some_and(|inner| taken >= flow.after.len() || !flow.contains(Some(inner), taken));
        let [one, other] = [(conditions[0], false), (conditions[1], is_left)]
            .map(|((_, normal), is_left)| asker.formula(normal)?.last(is_left));
        let (one, other) = (one?, other?);
        one.0.is(&other.0).then_some((one.1 != other.1, true))
    }

    /// The loop of an arrival that completes a phase in each round, all by itself, and on which object it
    /// does.
    fn completes(
        &self,
        (index, flow): (usize, &Flow),
        (node, at): (usize, usize),
    ) -> Option<(usize, Vec<One>)> {
        let (_, evaluation) = self.agents[index];
        let Action::Object(step) = &self.code.instructions[at].action else { return None };
        // What comes before an arrival that is relaxed need not be seen by those who wait.
        let is_arrival = matches!(step.kind, ObjectKind::Arrive { relaxed: false });
        if !is_arrival || self.code.instructions[at].guard.is_some() || step.mask.is_some() {
            return None;
        }
        let (inner, _) = self.passes((evaluation, flow), node)?;
        let object = evaluation.objects.get(&at)?;
        let mut run = Running::of(self.known(), (evaluation, flow), inner, (&[], object))?;
        let mut objects = Vec::new();
        while objects.len() < ROUNDS {
            objects.push(run.next::<0>(object)?.1);
        }
        let count = match evaluation.barriers.get(&at)?.1 {
            Some(count) => self.values.as_known(count)?.all()?,
            None => 1,
        };
        let arrivals = count.checked_mul(u64::from(evaluation.lanes[node].count_ones()))?;
        let all: BTreeSet<&One> = objects.iter().collect();
        for (_, other) in &self.agents {
            for (step, object) in &other.objects {
                let Action::Object(kind) = &self.code.instructions[*step].action else { continue };
                let is_itself = std::ptr::eq(*other, evaluation) && *step == at;
                match kind.kind {
                    ObjectKind::Wait => {}
                    _ if is_itself => {}
                    ObjectKind::Init => {
                        let expected = other.barriers.get(step)?.1.map(|count| self.values.as_known(count));
                        let may_be = self.may_be(other, object, &all);
                        if may_be && expected.flatten().and_then(Lanes::all) != Some(arrivals) {
                            return None;
                        }
                    }
                    _ if self.may_be(other, object, &all) => return None,
                    _ => {}
                }
            }
        }
        Some((inner, objects))
    }

    /// Whether an object of an agent may be one of some.
    pub(super) fn may_be(&self, evaluation: &Evaluation, object: &Object, all: &BTreeSet<&One>) -> bool {
        let is_in = |name: &String, number: i64| all.contains(&(name.clone(), number));
        if !object.each.is_empty() || object.name.is_empty() {
            return object.each.iter().any(|(_, name, number)| is_in(name, number.unwrap_or(0)));
        }
        let Some(index) = object.index else { return is_in(&object.name, 0) };
        if all.iter().all(|(name, _)| *name != object.name) {
            return false;
        }
        let numbers = held(self.values, evaluation, index.0);
        numbers.is_none_or(|all| all.into_iter().any(|known| is_in(&object.name, number_of(index, known))))
    }

    /// What a store of a loop puts where in each round, part by part, if nothing else is put there in any.
    fn stores(
        &self,
        (index, flow): (usize, &Flow),
        (inner, at): (usize, usize),
    ) -> Vec<(Vec<u64>, ValueId, u8)> {
        let (_, evaluation) = self.agents[index];
        let all = evaluation.stores.iter().filter(|(at, _)| {
            let node = self.slice.nodes.iter().position(|node| node.instructions.contains(at));
            node.is_some_and(|node| flow.contains(Some(inner), node))
        });
        let mut found = Vec::new();
        let mut others: BTreeSet<u64> = BTreeSet::new();
        for (one, store) in all {
            let Action::Store { memory: Memory::Shared, written, .. } = &self.code.instructions[*one].action
            else {
                continue;
            };
            let Some(places) = self.places((evaluation, flow), inner, store.address) else {
                return Vec::new();
            };
            let Written::Values(parts) = written else { return Vec::new() };
            let mut behind = 0;
            for ((_, bytes), value) in parts.iter().zip(&store.values) {
                let part: Vec<u64> = places.iter().map(|place| place + behind).collect();
                behind += u64::from(*bytes);
                if *one == at && store.condition.is_none() && self.code.instructions[at].guard.is_none() {
                    found.push((part, *value, *bytes));
                } else {
                    others.extend(part.into_iter().flat_map(|place| place..place + u64::from(*bytes)));
                }
            }
        }
        let is_alone = |(places, _, bytes): &(Vec<u64>, ValueId, u8)| {
            places.iter().all(|place| others.range(*place..place + u64::from(*bytes)).next().is_none())
        };
        found.retain(is_alone);
        found
    }

    /// The place of an address in each round.
    fn places(&self, of: (&Evaluation, &Flow), inner: usize, address: ValueId) -> Option<Vec<u64>> {
        let mut rounds = Rounds::of(self.known(), of, inner, &[address])?;
        (0..ROUNDS).map(|_| Some(rounds.next(&[address])?[0])).collect()
    }
}

/// A term with values in the places of others: of one that is loaded at first.
fn replaced(values: &mut Values, term: ValueId, by: &mut HashMap<ValueId, ValueId>) -> ValueId {
    if let Some(known) = by.get(&term) {
        return *known;
    }
    let inside = values.inside(term);
    let parts: Vec<ValueId> = inside.iter().map(|part| replaced(values, *part, by)).collect();
    let new = if parts == inside { term } else { values.with(term, &parts).unwrap_or(term) };
    by.insert(term, new);
    new
}
