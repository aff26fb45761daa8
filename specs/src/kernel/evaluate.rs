//! Abstract interpretation of a slice for one warp: which branches it may take, and what its registers hold
//! there (conditional constant propagation, Wegman and Zadeck 1991, over terms).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use barcheck_model::Patience;

use super::access::Access;
use super::code::{
    Action, Argument, Code, Function, Guard, Memory, ObjectStep, Operation, Register, Type, Written,
};
use super::dominators::reverse_postorder;
use super::extremes::Leaves;
use super::lanes::Lanes;
use super::slice::{Slice, Then};
use super::terms::{is_of_warp, raised};
use super::together::{Index, Together};
use super::value::{Term, ValueId, Values};
use super::warp::Warp;

/// Which object an instruction is about.
#[derive(Clone, Debug)]
pub(super) struct Object {
    /// The name of the array, or of the object if it is alone.
    pub(super) name: String,
    /// Its index in the array: what is computed, in parts of so many bytes, and a number.
    pub(super) index: Option<(ValueId, i64, i64)>,
    /// Where lanes mean different ones: which lanes, the name, and the index in the array if it is one.
    pub(super) each: Vec<(u32, String, Option<i64>)>,
    /// The rank of the group to which it belongs, where that is not the own one.
    pub(super) rank: Option<ValueId>,
}

/// What a store does.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) address: ValueId,
    pub(super) values: Vec<ValueId>,
    /// Whether a lane stores, if not all do.
    pub(super) condition: Option<ValueId>,
}

/// What is known of a warp.
#[derive(Debug, Default)]
pub(super) struct Evaluation {
    /// For each node, how control goes on; `None` where it is not reached.
    pub(super) then: Vec<Option<Way>>,
    /// For each node the lanes that may reach it.
    pub(super) lanes: Vec<u32>,
    /// Operands of barriers of the group, by the position of the instruction.
    pub(super) synchronisations: HashMap<usize, Vec<ValueId>>,
    /// Operands of steps on mbarrier objects, likewise: address and amount.
    pub(super) barriers: HashMap<usize, (ValueId, Option<ValueId>)>,
    /// The addresses of loads from shared memory, likewise.
    pub(super) loaded: HashMap<usize, ValueId>,
    /// The stores that are kept, likewise.
    pub(super) stores: HashMap<usize, Stored>,
    /// The accesses that are followed, likewise.
    pub(super) accesses: BTreeMap<usize, Stored>,
    /// What they touch, likewise, in all rounds of the loops directly around them together, where these are
    /// known.
    pub(super) together: BTreeMap<usize, Together>,
    /// What else changes about them, likewise, where something does.
    pub(super) indices: BTreeMap<usize, Index>,
    /// The groups to which a step goes, likewise, if it goes to several.
    pub(super) masks: HashMap<usize, ValueId>,
    /// Where the lesser or the greater of two numbers is computed, or one is cut by a mask: the node, the
    /// instruction, the numbers.
    pub(super) extremes: Vec<(usize, usize, [ValueId; 2])>,
    /// What is taken to be the same for the lanes of a warp, by the position of the instruction.
    pub(super) votes: BTreeMap<usize, ValueId>,
    /// Nodes whose branch goes by what others are told.
    pub(super) telling: BTreeSet<usize>,
    /// Instructions that ask lanes of which each is known to have its own answer.
    pub(super) asked: BTreeSet<usize>,
    /// The mbarrier objects of instructions, by the position of the instruction.
    pub(super) objects: HashMap<usize, Object>,
    /// For each node and register where several values meet, the value from each node that leads there; from
    /// outside the code for the entry (`usize::MAX`).
    pub(super) meets: BTreeMap<(usize, Register), Vec<(usize, ValueId)>>,
}

/// How control goes on from a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    To(usize),
    /// The condition, and where its being true and false lead.
    Branch(ValueId, usize, usize),
}

impl Way {
    pub(super) fn nodes(self) -> impl Iterator<Item = usize> {
        let (one, other) = match self {
            Self::To(to) => (to, None),
            Self::Branch(_, taken, other) => (taken, Some(other)),
        };
        std::iter::once(one).chain(other)
    }
}

/// From outside the code.
pub(super) const OUTSIDE: usize = usize::MAX;

/// Terms beyond which a kernel is not followed.
const TERMS: usize = 2_000_000;
/// Values of registers at nodes beyond which it is not.
const HELD: usize = 50_000_000;
/// Evaluations of one warp.
const ROUNDS: usize = 12;

pub(super) struct Evaluator<'c> {
    pub(super) code: &'c Code,
    pub(super) slice: &'c Slice,
    pub(super) values: &'c mut Values,
    /// The first load at each address, by address and type.
    pub(super) loads: &'c mut HashMap<(ValueId, ValueId), usize>,
    pub(super) warp: Warp,
    /// Where branches lead whose outcome is the same for all lanes that come there, though not for all.
    pub(super) one_way: HashMap<usize, usize>,
    /// Which of two numbers the lesser or greater of them, or what a mask leaves, is known to be, by the
    /// position of the instruction.
    pub(super) extremes: HashMap<usize, Leaves>,
    /// What values are in single lanes, as far as that was asked for.
    pub(super) at_lanes: HashMap<(ValueId, usize), Option<ValueId>>,
}

/// A fixed point on its way.
pub(super) struct State {
    /// What registers hold where a node begins, and ends.
    pub(super) before: Vec<Option<Vec<ValueId>>>,
    pub(super) behind: Vec<Option<Vec<ValueId>>>,
    pub(super) then: Vec<Option<Way>>,
    /// The nodes that lead to each, those before a loop before those in it.
    pub(super) leads: Vec<Vec<usize>>,
}

impl State {
    /// The nodes that lead to one, as far as is known.
    pub(super) fn leading(&self, node: usize) -> impl Iterator<Item = usize> {
        let leads =
            move |from: &&usize| self.then[**from].is_some_and(|way| way.nodes().any(|to| to == node));
        self.leads[node].iter().filter(leads).copied()
    }
}

impl Evaluator<'_> {
    /// Evaluates the slice; `None` if that takes too long.
    ///
    /// On the way to the fixed point paths may bring different values that are the same in the end. What
    /// meets there only itself and one value is that value: it is evaluated again without such meetings.
    pub(super) fn run(&mut self, patience: &Patience) -> Option<Evaluation> {
        let mut single: BTreeSet<(usize, Register)> = BTreeSet::new();
        let mut refuted = BTreeSet::new();
        for _ in 0..ROUNDS {
            let (evaluation, wrong) = self.fixed_point(&single, patience)?;
            let is_new = |meet: &(usize, Register)| !single.contains(meet) && !refuted.contains(meet);
            let found: Vec<(usize, Register)> =
                self.trivial(&evaluation).into_iter().filter(is_new).collect();
            if wrong.is_empty() && found.is_empty() {
                return Some(evaluation);
            }
            single.retain(|meet| !wrong.contains(meet));
            refuted.extend(wrong);
            single.extend(found);
        }
        self.fixed_point(&BTreeSet::new(), patience).map(|(evaluation, _)| evaluation)
    }

    /// Evaluates the slice with meetings that are taken to bring one value only; those of them that do not.
    fn fixed_point(
        &mut self,
        single: &BTreeSet<(usize, Register)>,
        patience: &Patience,
    ) -> Option<(Evaluation, Vec<(usize, Register)>)> {
        let count = self.slice.nodes.len();
        if count.saturating_mul(self.slice.registers.len()) > HELD {
            return None;
        }
        let after: Vec<Vec<usize>> = self
            .slice
            .nodes
            .iter()
            .map(|node| node.then.nodes().filter(|to| *to < count).collect())
            .collect();
        let order = reverse_postorder(0, &after);
        let mut position = vec![usize::MAX; count];
        order.iter().enumerate().for_each(|(index, node)| position[*node] = index);
        let mut leads: Vec<Vec<usize>> = vec![Vec::new(); count];
        for (from, to) in after.iter().enumerate().flat_map(|(from, to)| to.iter().map(move |to| (from, *to)))
        {
            if !leads[to].contains(&from) {
                leads[to].push(from);
            }
        }
        leads.iter_mut().for_each(|leads| leads.sort_by_key(|from| position[*from]));
        let [before, behind] = [vec![None; count], vec![None; count]];
        let mut state = State { before, behind, then: vec![None; count], leads };
        let mut dirty = vec![false; count];
        dirty[0] = true;
        while dirty.contains(&true) {
            if patience.is_over() || self.values.count() > TERMS {
                return None;
            }
            for node in &order {
                if std::mem::take(&mut dirty[*node]) && self.visit(*node, (&mut state, single)) {
                    state.then[*node].into_iter().flat_map(Way::nodes).for_each(|to| {
                        if to < count {
                            dirty[to] = true;
                        }
                    });
                }
            }
            if !dirty.contains(&true) {
                // What comes over a branch may depend on nodes further away.
                for node in &order {
                    let merged = self.merged(*node, &state, single);
                    dirty[*node] = state.before[*node].as_ref().is_some_and(|before| *before != merged);
                }
            }
        }
        let wrong = single.iter().filter(|meet| self.differs(&state, **meet)).copied().collect();
        Some((self.collect(state), wrong))
    }

    /// Evaluates a node anew; whether anything has changed behind it.
    fn visit(&mut self, node: usize, (state, single): (&mut State, &BTreeSet<(usize, Register)>)) -> bool {
        let merged = self.merged(node, state, single);
        if state.before[node].as_ref() == Some(&merged) && state.behind[node].is_some() {
            return false;
        }
        let mut registers = merged.clone();
        state.before[node] = Some(merged);
        let way = self.execute(node, &mut registers, &mut Evaluation::default());
        let changed = state.behind[node].as_ref() != Some(&registers) || state.then[node] != Some(way);
        state.behind[node] = Some(registers);
        state.then[node] = Some(way);
        changed
    }

    /// Executes the instructions of a node, and says how control goes on.
    pub(super) fn execute(
        &mut self,
        number: usize,
        registers: &mut [ValueId],
        found: &mut Evaluation,
    ) -> Way {
        let node = &self.slice.nodes[number];
        for at in &node.instructions {
            let instruction = &self.code.instructions[*at];
            match &instruction.action {
                Action::Compute { to, function, arguments } => {
                    let Some(index) = self.slice.registers.get(to).copied() else { continue };
                    let arguments: Vec<ValueId> =
                        arguments.iter().map(|argument| self.argument(*argument, registers)).collect();
                    let bits = self.code.bits.get(*to as usize).copied().unwrap_or(64);
                    let asked = self.asked_of_lanes((*at, *function), &arguments, found);
                    let value = match asked {
                        Some(value) => value,
                        None => self.value((*at, bits), *function, &arguments),
                    };
                    self.note((number, *at), (*function, value), &arguments, found);
                    registers[index] = match instruction.guard {
                        None => value,
                        Some(guard) => self.guarded(guard, value, registers[index], registers),
                    };
                }
                Action::Synchronise(barrier) => {
                    let operands = barrier.operands.iter();
                    let mut operands: Vec<ValueId> =
                        operands.map(|(operand, _)| self.argument(*operand, registers)).collect();
                    if let Some(guard) = instruction.guard {
                        let holds = self.condition(guard, registers);
                        operands.iter_mut().for_each(|value| *value = self.values.given(*value, holds));
                    }
                    found.synchronisations.insert(*at, operands);
                }
                Action::Test { address, parity, .. } => {
                    let address = self.argument(*address, registers);
                    let parity = self.argument(*parity, registers);
                    found.barriers.insert(*at, (address, Some(parity)));
                }
                Action::Store { address: Some(address), written, .. } => {
                    let stored = self.stored((*address, written), instruction.guard, registers);
                    found.stores.insert(*at, stored);
                }
                Action::Access(access) => {
                    let accessed = self.accessed(access, instruction.guard, registers);
                    found.accesses.extend(accessed.map(|accessed| (*at, accessed)));
                }
                Action::Object(step) => self.step((*at, step), instruction.guard, registers, found),
                _ => {}
            }
        }
        if let Some(to) = self.one_way.get(&number) {
            return Way::To(*to);
        }
        match node.then {
            Then::To(to) => Way::To(to),
            Then::Branch { guard, taken, other, .. } => {
                let condition = self.condition(guard, registers);
                match self.values.as_known(condition).and_then(Lanes::all) {
                    Some(0) => Way::To(other),
                    Some(_) => Way::To(taken),
                    None if taken == other => Way::To(taken),
                    None => Way::Branch(condition, taken, other),
                }
            }
        }
    }

    /// Where an access goes, and what it stores, or how many bytes it touches.
    fn accessed(&mut self, access: &Access, guard: Option<Guard>, registers: &[ValueId]) -> Option<Stored> {
        let address = self.argument(access.address?, registers);
        let values = access.operands().skip(1).map(|value| self.argument(value, registers)).collect();
        Some(Stored { address, values, condition: guard.map(|guard| self.condition(guard, registers)) })
    }

    /// What a store does.
    fn stored(
        &mut self,
        ((base, offset), written): ((Argument, i64), &Written),
        guard: Option<Guard>,
        registers: &[ValueId],
    ) -> Stored {
        let from = [self.argument(base, registers), self.values.number(offset as u64)];
        let address = self.values.apply(Operation::Add, Type { bits: 64, signed: false }, &from);
        let condition = guard.map(|guard| self.condition(guard, registers));
        let values: &[(Argument, u8)] = if let Written::Values(values) = written { values } else { &[] };
        let values = values.iter().map(|(value, _)| self.argument(*value, registers)).collect();
        Stored { address, values, condition }
    }

    /// What a load finds that was stored before.
    fn forwarded(&mut self, at: usize, address: ValueId) -> ValueId {
        let agent = (self.warp.number, self.warp.rank);
        match self.code.forwarded.get(&at).map(|found| (found.of.get(&agent), found.is_forgotten)) {
            Some((Some(found), _)) => *found,
            // All lanes of a warp find the same at one address.
            Some((None, true)) => self.unknown(at, is_of_warp(self.values, address)),
            _ => self.values.leaf(Term::Loaded { at, address, varies: true }),
        }
    }

    /// What a step on an mbarrier object is about.
    fn step(
        &mut self,
        (at, step): (usize, &ObjectStep),
        guard: Option<Guard>,
        registers: &[ValueId],
        found: &mut Evaluation,
    ) {
        let mut address = self.argument(step.address, registers);
        let mut amount = step.amount.map(|amount| self.argument(amount, registers));
        if let Some(guard) = guard {
            let holds = self.condition(guard, registers);
            address = self.values.given(address, holds);
            amount = amount.map(|amount| self.values.given(amount, holds));
        }
        found.barriers.insert(at, (address, amount));
        if let Some(mask) = step.mask {
            let mask = self.argument(mask, registers);
            found.masks.insert(at, mask);
        }
        // Its guard is a branch before it.
        let accessed = step.to.as_ref().and_then(|to| self.accessed(to, None, registers));
        found.accesses.extend(accessed.map(|accessed| (at, accessed)));
    }

    fn register(&self, register: Register, registers: &[ValueId]) -> Option<ValueId> {
        self.slice.registers.get(&register).map(|index| registers[*index])
    }

    fn argument(&mut self, argument: Argument, registers: &[ValueId]) -> ValueId {
        match argument {
            Argument::Register(register) => {
                self.register(register, registers).unwrap_or_else(|| self.values.leaf(Term::Unset))
            }
            Argument::Number(number) => self.values.number(number),
            Argument::Index(index) => self.values.known(self.warp.index(index)),
            Argument::Same(name) => self.same(name),
        }
    }

    /// What is the same for the whole group: the greater of it and what it is at least. A multiple is so many
    /// times something that is the same for all.
    fn same(&mut self, name: u32) -> ValueId {
        let value = self.values.leaf(Term::Same(name));
        let said = self.code.said.get(&name).copied().filter(|(_, bits)| *bits > 0);
        let Some((said, bits)) = said else { return value };
        let (ty, signed) = (Type { bits, signed: false }, Type { bits, signed: true });
        let mut value = self.values.apply(Operation::Convert(ty), ty, &[value]);
        if let Some(least) = said.least_times() {
            let least = self.values.number(least as u64);
            value = self.values.apply(Operation::Maximum, signed, &[value, least]);
        }
        if said.multiple > 1 {
            let multiple = self.values.number(said.multiple as u64);
            value = self.values.apply(Operation::Multiply, ty, &[value, multiple]);
        }
        value
    }

    /// Whether a guard lets an instruction be executed.
    fn condition(&mut self, guard: Guard, registers: &[ValueId]) -> ValueId {
        let value = self.argument(Argument::Register(guard.register), registers);
        self.values.truth(value, !guard.negated).unwrap_or(value)
    }

    fn guarded(&mut self, guard: Guard, new: ValueId, old: ValueId, registers: &[ValueId]) -> ValueId {
        let condition = self.condition(guard, registers);
        let ty = Type { bits: 64, signed: false };
        self.values.apply(Operation::Select, ty, &[new, old, condition])
    }

    /// Notes what is asked later of what an instruction computes.
    fn note(
        &self,
        (node, at): (usize, usize),
        (function, value): (Function, ValueId),
        arguments: &[ValueId],
        found: &mut Evaluation,
    ) {
        match (function, arguments) {
            (Function::Integer(Operation::Minimum | Operation::Maximum, _), [a, b]) => {
                found.extremes.push((node, at, [*a, *b]));
            }
            (Function::Integer(Operation::And, Type { bits: 32, .. }), [a, b])
                if self.values.as_known(*a).is_some() != self.values.as_known(*b).is_some() =>
            {
                found.extremes.push((node, at, [*a, *b]));
            }
            (Function::Load(Memory::Shared), [address, ..]) => {
                found.loaded.insert(at, *address);
            }
            (Function::Vote, _) if self.values.may_be_shared(value) => {
                found.votes.insert(at, value);
            }
            _ => {}
        }
    }

    fn value(&mut self, (at, bits): (usize, u8), function: Function, arguments: &[ValueId]) -> ValueId {
        match (function, arguments) {
            (Function::Integer(Operation::Compare(comparison), ty), [a, b])
                if let Some(holds) = raised(self.values, comparison, ty, [*a, *b]) =>
            {
                self.values.number(u64::from(holds))
            }
            (Function::Integer(operation, ty), _) if let Some(leaves) = self.extremes.get(&at) => {
                match *leaves {
                    Leaves::Operand(which) => {
                        self.values.apply(Operation::Convert(ty), ty, &[arguments[which]])
                    }
                    Leaves::Rounded(which) => self.values.without_low_bits(operation, ty, (arguments, which)),
                }
            }
            (Function::Integer(operation, ty), _) => self.values.apply(operation, ty, arguments),
            // A predicate is 0 or 1.
            (Function::Pure(name), _) => self.values.pure(name, arguments, if bits == 1 { 1 } else { 64 }),
            (Function::Load(Memory::Constant), [address, ty]) => match self.values.term(*ty) {
                Term::Same(name) => self.values.pure(*name, &[*address], 64),
                _ => self.unknown(at, false),
            },
            (Function::Load(Memory::Global), [address, ty]) => {
                let at = *self.loads.entry((*address, *ty)).or_insert(at);
                self.values.leaf(Term::Loaded { at, address: *address, varies: false })
            }
            (Function::Load(Memory::Shared), [address, _]) => {
                self.values.leaf(Term::Loaded { at, address: *address, varies: true })
            }
            (Function::Forwarded, [address, _]) => self.forwarded(at, *address),
            (Function::Broadcast, [value, lane, clamp]) => self.broadcast(at, *value, *lane, *clamp),
            (Function::Vote, [value]) if self.values.may_be_shared(*value) => *value,
            (Function::Vote, [value]) => self.vote(at, *value),
            (Function::All | Function::Any, [value]) => self.vote(at, *value),
            (Function::Elect, [mask]) => self.elect(at, *mask),
            (Function::Shared, _) => self.values.leaf(Term::Given { at }),
            (Function::OfWarp, _) => self.unknown(at, true),
            _ => self.unknown(at, false),
        }
    }

    pub(super) fn unknown(&mut self, at: usize, of_warp: bool) -> ValueId {
        // What is alone in its warp shares its value with the lanes of it.
        let of_warp = of_warp || self.warp.live() == 1;
        self.values.leaf(Term::Unknown { at, of_warp })
    }
}
